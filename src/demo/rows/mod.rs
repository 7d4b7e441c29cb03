//! The demo data as rows: what the plan leaves open is filled in for each firm.

mod clients;
mod engagements;
mod knowledge;
mod payroll;
mod people;
mod sales;

pub(super) use people::Hashes;

use uuid::Uuid;

use super::fixtures::{Firm, MASTER};
use super::ids::{self, Kind};
use super::plan::Plan;
use crate::db::connection::AnyConnection;
use crate::error::Result;
use crate::ids::TenantId;

/// Rows in one statement: few enough for the 32,766 variables that `SQLite` allows.
const ROWS: usize = 500;

/// Inserts rows, many at a time; the same code is compiled for each database.
macro_rules! insert_all {
    ($connection:expr, $table:expr, $rows:expr) => {
        for chunk in $rows.chunks($crate::demo::rows::ROWS) {
            match &mut *$connection {
                AnyConnection::Sqlite(sqlite) => {
                    diesel::insert_into($table).values(chunk).execute(sqlite)?
                }
                AnyConnection::Postgres(postgres) => {
                    diesel::insert_into($table).values(chunk).execute(postgres)?
                }
            };
        }
    };
}
use insert_all;

/// A firm while its rows are written.
#[derive(Clone, Copy)]
struct Writing<'a> {
    firm: &'a Firm,
    tenant: TenantId,
}

impl Writing<'_> {
    /// The id of the firm's `n`th thing of a kind.
    fn id<I: From<Uuid>>(&self, kind: Kind, n: u32) -> I {
        ids::id(self.firm.index, kind, n).into()
    }
}

/// Writes both firms.
pub(super) fn write(connection: &mut AnyConnection, plan: &Plan, hashes: &Hashes) -> Result<()> {
    people::write_users(connection, hashes)?;
    for firm in &MASTER.firms {
        let tenant = ids::id(firm.index, Kind::Tenant, 1).into();
        let writing = Writing { firm, tenant };
        people::write_firm(connection, writing)?;
        clients::write(connection, writing)?;
        people::write_memberships(connection, writing)?;
        engagements::write(connection, writing)?;
        sales::write(connection, writing, plan)?;
        payroll::write(connection, writing, plan)?;
        knowledge::write(connection, writing)?;
    }
    Ok(())
}
