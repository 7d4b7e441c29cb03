//! The demo data as rows: what the plan leaves open is filled in for each firm.

mod bank;
mod books;
mod clients;
mod engagements;
mod knowledge;
mod payroll;
mod people;
mod sales;
mod window;
mod work;

pub(super) use people::Hashes;

use uuid::Uuid;

use super::fixtures::{Firm, MASTER};
use super::ids::{self, Kind};
use super::plan::Plan;
use crate::db::connection::AnyConnection;
use crate::db::insert::insert_all;
use crate::error::Result;
use crate::ids::TenantId;

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
        books::write(connection, writing, plan)?;
        work::write(connection, writing, plan)?;
        bank::write(connection, writing, plan)?;
        window::write_proposals(connection, writing)?;
        knowledge::write(connection, writing)?;
    }
    window::write_log(connection)
}
