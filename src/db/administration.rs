//! The administrator's door: the one named way to the tables of people and across firms, for the command line alone.
//!
//! It stands beside the scopes and not behind them: no tool, no request and no credential leads here, only a person at
//! the server who holds the owner's connection.

use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::result::Error as DbError;
use diesel::sql_types::Bool;

use super::connection::{AnyConnection, Transactions, check_exists, open};
use super::migrate;
use crate::error::{Code, Error, Result};

/// Serialises the administrators of one `PostgreSQL` (a random constant); `SQLite` has one writer anyhow.
const LOCK: i64 = 4_193_027_558_610_243;

/// The owner's connection.
pub(crate) struct Administration(AnyConnection);

impl Administration {
    /// Opens the connection of the role that owns the tables.
    ///
    /// # Errors
    /// The database cannot be reached or is not migrated, or row security hides the firms from this role.
    pub(crate) fn open(owner_url: &str) -> Result<Self> {
        check_exists(owner_url)?;
        let mut connection = open(owner_url).map_err(Error::unavailable)?;
        migrate::check(&mut connection)?;
        if let AnyConnection::Postgres(postgres) = &mut connection {
            check_role(postgres)?;
        }
        Ok(Self(connection))
    }

    /// Runs `work` in one transaction, after those of other administrators; when it fails, nothing is done.
    ///
    /// # Errors
    /// Those of `work`, and a database that is away or too slow.
    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut AnyConnection) -> Result<T>,
    ) -> Result<T> {
        let connection = &mut self.0;
        begin(connection)?;
        let outcome = work(connection);
        let ended = match outcome {
            Ok(_) => Transactions::commit_transaction(connection),
            Err(_) => Transactions::rollback_transaction(connection),
        };
        outcome.and_then(|value| Ok(ended.map(|()| value)?))
    }
}

fn begin(connection: &mut AnyConnection) -> Result<()> {
    match connection {
        AnyConnection::Postgres(postgres) => {
            AnsiTransactionManager::begin_transaction_sql(postgres, "BEGIN")?;
            let locked = postgres.batch_execute(&format!("SELECT pg_advisory_xact_lock({LOCK})"));
            locked.map_err(|error| waited(error, "canceling statement due to"))
        }
        AnyConnection::Sqlite(sqlite) => {
            AnsiTransactionManager::begin_transaction_sql(sqlite, "BEGIN IMMEDIATE")
                .map_err(|error| waited(error, "database is locked"))
        }
    }
}

/// A turn that did not come in time, which the database says with `sign`.
fn waited(error: DbError, sign: &str) -> Error {
    match &error {
        DbError::DatabaseError(_, information) if information.message().contains(sign) => {
            let message =
                "another import or administrative command is running; try again when it has ended";
            Error::refuse(Code::Unavailable, message)
        }
        _ => error.into(),
    }
}

/// Refuses a role from which row security hides every firm.
fn check_role(postgres: &mut PgConnection) -> Result<()> {
    let bypasses = "EXISTS (SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolbypassrls OR rolsuper))";
    if diesel::select(sql::<Bool>(bypasses)).get_result(postgres)? {
        return Ok(());
    }
    let message = "the role of GUICHET_OWNER_URL may not administer: give it to the role that owns the tables, with BYPASSRLS";
    Err(Error::refuse(Code::InvalidArgument, message))
}
