//! One connection, to either database.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use diesel::connection::{
    Instrumentation, InstrumentationEvent, SimpleConnection, get_default_instrumentation,
};
use diesel::prelude::*;
use diesel::r2d2::{self, ManageConnection, R2D2Connection};

use super::search;
use super::walls::{self, Current};
use crate::error::{Code, Error, Result};

pub(crate) use any::{AnyConnection, MultiBackend, MultiRawValue};

#[expect(
    clippy::disallowed_methods,
    reason = "the derive generates an `establish` that nothing uses"
)]
mod any {
    use diesel::prelude::*;

    /// A connection to either database.
    #[derive(diesel::MultiConnection)]
    pub enum AnyConnection {
        /// Chosen by a `sqlite:` URL.
        Sqlite(SqliteConnection),
        /// Chosen by a `postgres:` URL.
        Postgres(PgConnection),
    }

    #[diesel::declare_sql_function]
    extern "SQL" {
        fn current_tenant() -> diesel::sql_types::Nullable<diesel::sql_types::Binary>;
        fn sought(word: diesel::sql_types::Text) -> diesel::sql_types::Text;
    }
}
pub(super) use any::{current_tenant_utils, sought_utils};
pub(crate) type Transactions = <AnyConnection as Connection>::TransactionManager;

/// How long one statement may take before the database gives up, in milliseconds.
pub(super) const STATEMENT_DEADLINE_MS: u32 = 5_000;

/// A pooled connection and the tenant it currently serves.
pub(super) struct Link {
    pub(super) connection: AnyConnection,
    pub(super) current: Current,
    pub(super) is_dead: bool,
    /// How many statements it has prepared and keeps.
    prepared: Arc<AtomicUsize>,
}

/// Statements that a connection keeps prepared at most: then it is replaced. Filters and pages make many texts, and each
/// costs memory on both sides.
const MOST_PREPARED: usize = 256;

/// What a connection is for; on `PostgreSQL` there is no difference until a transaction begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// Read-only transactions.
    Read,
    /// Read-write transactions; one connection on `SQLite`, so that writers queue fairly.
    Write,
}

/// Makes and checks the connections of a pool.
#[derive(Debug)]
pub(super) struct Manager {
    pub(super) url: String,
    pub(super) door: Door,
}

impl ManageConnection for Manager {
    type Connection = Link;
    type Error = r2d2::Error;

    fn connect(&self) -> Result<Link, r2d2::Error> {
        let mut connection = open(&self.url).map_err(r2d2::Error::ConnectionError)?;
        let current = Current::default();
        if let AnyConnection::Sqlite(sqlite) = &mut connection {
            let ready = walls::guard_sqlite(sqlite, self.door, &current);
            ready.and_then(|()| search::teach_sqlite(sqlite)).map_err(r2d2::Error::QueryError)?;
        }
        let prepared = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&prepared);
        let mut listener = get_default_instrumentation();
        connection.set_instrumentation(move |event: InstrumentationEvent<'_>| {
            if let InstrumentationEvent::CacheQuery { .. } = event {
                count.fetch_add(1, Ordering::Relaxed);
            }
            listener.on_connection_event(event);
        });
        Ok(Link { connection, current, is_dead: false, prepared })
    }

    fn is_valid(&self, link: &mut Link) -> Result<(), r2d2::Error> {
        link.connection.ping().map_err(r2d2::Error::QueryError)
    }

    fn has_broken(&self, link: &mut Link) -> bool {
        let is_full = link.prepared.load(Ordering::Relaxed) > MOST_PREPARED;
        std::thread::panicking() || link.is_dead || is_full || link.connection.is_broken()
    }
}

/// Whether `url` names an `SQLite` file.
pub(super) fn is_sqlite(url: &str) -> bool {
    url.starts_with("sqlite:")
}

/// Opens a connection to the database that `url` names: `sqlite:PATH` or `postgres://…`, nothing else.
#[expect(clippy::disallowed_methods, reason = "the one place that opens connections")]
pub(crate) fn open(url: &str) -> ConnectionResult<AnyConnection> {
    let setup = ConnectionError::CouldntSetupConfiguration;
    if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        let mut postgres = PgConnection::establish(&with_connect_timeout(url))?;
        let settings = format!(
            "SET statement_timeout = {STATEMENT_DEADLINE_MS}; SET lock_timeout = {STATEMENT_DEADLINE_MS}; \
             SET idle_in_transaction_session_timeout = 30000; SET jit = off; SET client_min_messages = warning"
        );
        postgres.batch_execute(&settings).map_err(setup)?;
        return Ok(AnyConnection::Postgres(postgres));
    }
    let Some(path) = url.strip_prefix("sqlite:").filter(|path| !path.is_empty()) else {
        let expected =
            "the database URL must be sqlite:PATH or postgres://ROLE:PASSWORD@HOST/DATABASE";
        return Err(ConnectionError::InvalidConnectionUrl(expected.into()));
    };
    let mut sqlite = SqliteConnection::establish(path)?;
    let settings = format!(
        "PRAGMA busy_timeout = {STATEMENT_DEADLINE_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA recursive_triggers = ON; PRAGMA trusted_schema = ON"
    );
    sqlite.batch_execute(&settings).map_err(setup)?;
    Ok(AnyConnection::Sqlite(sqlite))
}

/// A host that does not answer fails after three seconds instead of minutes.
fn with_connect_timeout(url: &str) -> String {
    match url {
        url if url.contains("connect_timeout=") => url.to_owned(),
        url if url.contains('?') => format!("{url}&connect_timeout=3"),
        url => format!("{url}?connect_timeout=3"),
    }
}

/// Refuses an `SQLite` URL whose file is not there, so that a typing error does not make an empty database.
///
/// # Errors
/// The file is not there.
pub(crate) fn check_exists(url: &str) -> Result<()> {
    if url.strip_prefix("sqlite:").is_none_or(|path| Path::new(path).exists()) {
        return Ok(());
    }
    let message = format!("{url} does not exist; run `guichet migrate` first");
    Err(Error::refuse(Code::NotFound, message))
}
