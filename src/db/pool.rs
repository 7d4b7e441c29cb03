//! The pools, and the transaction that belongs to one tenant.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::prelude::*;
use diesel::r2d2::{Pool, PooledConnection};

use super::connection::{
    AnyConnection, Door, Link, Manager, Transactions, check_exists, is_sqlite,
};
use super::scope::{Read, Write};
use super::{migrate, search, walls};
use crate::auth::Grant;
use crate::dates::Instant;
use crate::error::{Error, Result};
use crate::ids::TenantId;
use crate::meaning::Model;

/// How long a request waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);

/// The key that seals cursors; the same on every server process.
pub type Seal = [u8; 32];

/// The database: pools that nothing outside can reach around the scopes.
#[derive(Clone)]
pub struct Db {
    readers: Pool<Manager>,
    writers: Pool<Manager>,
    seal: Seal,
    model: Option<Arc<Model>>,
}

impl std::fmt::Debug for Db {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Db").field("readers", &self.readers.state()).finish_non_exhaustive()
    }
}

impl Db {
    /// Opens the pools on a migrated database and checks its walls.
    ///
    /// # Errors
    /// The database cannot be reached, is not migrated, or a tenant table is open to the serving role.
    pub fn open(url: &str, size: u32, seal: Seal) -> Result<Self> {
        check_exists(url)?;
        let pool = |door, size| {
            Pool::builder()
                .max_size(size)
                .connection_timeout(ACQUIRE_TIMEOUT)
                .max_lifetime(None)
                .idle_timeout(None)
                .test_on_check_out(false)
                .build(Manager { url: url.to_owned(), door })
        };
        check(url)?;
        let readers = pool(Door::Read, size)?;
        let writers = if is_sqlite(url) { pool(Door::Write, 1)? } else { readers.clone() };
        Ok(Self { readers, writers, seal, model: None })
    }

    /// The same with a model that says what texts mean.
    #[must_use]
    pub fn with_model(self, model: Option<Arc<Model>>) -> Self {
        Self { model, ..self }
    }

    /// Whether the database answers at all.
    ///
    /// # Errors
    /// It does not.
    pub fn ping(&self) -> Result<()> {
        self.session()?.attempt(|link| Ok(link.connection.batch_execute("SELECT 1")?))
    }

    /// Takes a connection for one request.
    pub(super) fn session(&self) -> Result<Session> {
        Ok(Session { link: self.readers.get()?, db: self.clone() })
    }

    /// What scopes have besides the connection: the key that seals cursors, and the model.
    fn tools(&self) -> (&Seal, Option<&Model>) {
        (&self.seal, self.model.as_deref())
    }
}

/// Refuses a database that is behind this program, or whose tenant tables are open to this role.
fn check(url: &str) -> Result<()> {
    let mut connection = super::connection::open(url).map_err(Error::unavailable)?;
    migrate::check(&mut connection)?;
    match &mut connection {
        AnyConnection::Postgres(postgres) => {
            walls::check_postgres(postgres)?;
            search::check_postgres(postgres)
        }
        AnyConnection::Sqlite(sqlite) => {
            search::check_sqlite(sqlite)?;
            // Without statistics SQLite may take the key of a whole firm where an index of one record is at hand.
            Ok(sqlite.batch_execute("PRAGMA optimize = 0x10002")?)
        }
    }
}

/// One connection, held for one request.
pub struct Session {
    link: PooledConnection<Manager>,
    db: Db,
}

impl Session {
    /// Runs `work`; a connection that turns out dead is replaced and `work` tried again, as often as the pool is large.
    /// Only for work that runs before anything else on the connection.
    pub(super) fn attempt<T>(&mut self, work: impl Fn(&mut Link) -> Result<T>) -> Result<T> {
        let mut outcome = work(&mut self.link);
        for _ in 0..self.db.readers.max_size() {
            if !matches!(&outcome, Err(error) if error.code() == crate::error::Code::Unavailable)
                || !self.is_dead()
            {
                break;
            }
            self.link.is_dead = true;
            self.link = self.db.readers.get()?;
            outcome = work(&mut self.link);
        }
        outcome
    }

    fn is_dead(&mut self) -> bool {
        self.link.connection.batch_execute("SELECT 1").is_err()
    }

    /// Runs `work` in one read-only transaction of the grant's tenant.
    ///
    /// # Errors
    /// Those of `work`, and a database that is away or too slow.
    pub fn read<T>(
        &mut self,
        grant: &Grant<'_>,
        now: Instant,
        work: impl FnOnce(&mut Read<'_>) -> Result<T>,
    ) -> Result<T> {
        let caller = grant.caller();
        let Self { link, db } = self;
        transaction(link, caller.tenant(), Door::Read, |connection| {
            work(&mut Read::new(connection, caller, now, db.tools()))
        })
    }

    /// Runs `work` in one transaction of the grant's tenant, on `SQLite` after those that came before.
    ///
    /// # Errors
    /// Those of `work`, and a database that is away or too slow.
    pub fn write<T>(
        self,
        grant: &Grant<'_>,
        now: Instant,
        work: impl FnOnce(&mut Write<'_>) -> Result<T>,
    ) -> Result<T> {
        let Self { link, db } = self;
        let mut link = match link.connection {
            AnyConnection::Postgres(_) => link,
            AnyConnection::Sqlite(_) => {
                drop(link);
                db.writers.get()?
            }
        };
        let caller = grant.caller();
        transaction(&mut link, caller.tenant(), Door::Write, |connection| {
            work(&mut Write::new(Read::new(connection, caller, now, db.tools())))
        })
    }
}

fn transaction<T>(
    link: &mut Link,
    tenant: TenantId,
    door: Door,
    work: impl FnOnce(&mut AnyConnection) -> Result<T>,
) -> Result<T> {
    let Link { connection, current, is_dead, .. } = link;
    let set = |tenant| *current.lock().unwrap_or_else(PoisonError::into_inner) = tenant;
    set(Some(tenant));
    let outcome =
        begin(connection, tenant, door).map_err(Error::from).and_then(|()| work(connection));
    let ended = match outcome {
        Ok(_) => Transactions::commit_transaction(connection),
        Err(_) => Transactions::rollback_transaction(connection),
    };
    set(None);
    *is_dead = ended.is_err();
    outcome.and_then(|value| Ok(ended.map(|()| value)?))
}

/// One round trip opens the transaction and sets the tenant, which ends with it. A UUID prints as hex and `-`: nothing
/// to inject.
fn begin(connection: &mut AnyConnection, tenant: TenantId, door: Door) -> QueryResult<()> {
    match connection {
        AnyConnection::Postgres(postgres) => {
            // One snapshot for all queries of an answer, so that its figures agree.
            let mode =
                if door == Door::Read { " ISOLATION LEVEL REPEATABLE READ READ ONLY" } else { "" };
            AnsiTransactionManager::begin_transaction_sql(
                postgres,
                &format!("BEGIN{mode}; SET LOCAL app.tenant_id = '{tenant}'"),
            )
        }
        AnyConnection::Sqlite(sqlite) => AnsiTransactionManager::begin_transaction_sql(
            sqlite,
            if door == Door::Read { "BEGIN" } else { "BEGIN IMMEDIATE" },
        ),
    }
}
