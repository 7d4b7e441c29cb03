//! One migration history for both databases, embedded in the program and applied under a lock.

use diesel::connection::SimpleConnection;
use diesel::migration::{
    Migration, MigrationMetadata, MigrationName, MigrationSource, MigrationVersion,
};
use diesel::prelude::*;
use diesel_migrations::MigrationHarness;
use url::Url;

use super::connection::{AnyConnection, open};
use super::{search, walls};
use crate::error::{Error, Result};

/// Name and text, oldest first; a released one is never edited.
const MIGRATIONS: &[(&str, &str)] = &[
    (
        "2026-11-30-000001_foundations",
        include_str!("../../migrations/2026-11-30-000001_foundations/up.sql"),
    ),
    ("2026-11-30-000002_books", include_str!("../../migrations/2026-11-30-000002_books/up.sql")),
    ("2026-11-30-000003_search", include_str!("../../migrations/2026-11-30-000003_search/up.sql")),
    (
        "2026-11-30-000004_knowledge",
        include_str!("../../migrations/2026-11-30-000004_knowledge/up.sql"),
    ),
    ("2026-11-30-000005_work", include_str!("../../migrations/2026-11-30-000005_work/up.sql")),
    ("2026-11-30-000006_window", include_str!("../../migrations/2026-11-30-000006_window/up.sql")),
    (
        "2026-11-30-000007_payroll",
        include_str!("../../migrations/2026-11-30-000007_payroll/up.sql"),
    ),
    (
        "2026-11-30-000008_amounts",
        include_str!("../../migrations/2026-11-30-000008_amounts/up.sql"),
    ),
    (
        "2026-11-30-000009_settled",
        include_str!("../../migrations/2026-11-30-000009_settled/up.sql"),
    ),
    ("2026-11-30-000010_races", include_str!("../../migrations/2026-11-30-000010_races/up.sql")),
];

/// How the placeholders of a migration are filled in, on `PostgreSQL` and on `SQLite`.
const TYPES: &[(&str, &str, &str)] = &[
    ("{id}", "uuid", "BLOB"),
    ("{money}", "numeric(19,2)", "INTEGER"),
    ("{most_money}", "999999999999.99", "99999999999999"),
    ("{quantity}", "numeric(13,3)", "INTEGER"),
    ("{rate}", "numeric(9,4)", "INTEGER"),
    ("{exchange}", "numeric(15,6)", "INTEGER"),
    ("{instant}", "timestamptz", "TEXT"),
    ("{date}", "date", "TEXT"),
    ("{bool}", "boolean", "INTEGER"),
    ("{bytes}", "bytea", "BLOB"),
    ("{sorted}", "text COLLATE \"C\"", "TEXT"),
    ("{table}", "", "STRICT, WITHOUT ROWID"),
    ("{words}", "string_agg", "group_concat"),
    ("BIGINT", "bigint", "INTEGER"),
];

/// Serialises the migrations of several processes on one `PostgreSQL` (a random constant).
const LOCK: i64 = 7_205_759_403_792_794;

#[derive(Clone, Copy)]
enum Dialect {
    Postgres,
    Sqlite,
}

impl Dialect {
    /// The migration's text in this dialect: its own sections and those for both, with the types filled in.
    fn render(self, text: &str) -> String {
        let mut is_ours = true;
        let mut sql = String::with_capacity(text.len());
        for line in text.lines() {
            match (line.trim(), self) {
                ("--@both", _) | ("--@postgres", Self::Postgres) | ("--@sqlite", Self::Sqlite) => {
                    is_ours = true;
                }
                ("--@postgres" | "--@sqlite", _) => is_ours = false,
                _ if is_ours => {
                    sql.push_str(line);
                    sql.push('\n');
                }
                _ => {}
            }
        }
        TYPES.iter().fold(sql, |sql, (name, postgres, sqlite)| {
            sql.replace(name, if matches!(self, Self::Postgres) { postgres } else { sqlite })
        })
    }
}

struct Embedded(Dialect);
struct Step {
    name: StepName,
    sql: String,
}
struct StepName(&'static str);
struct InTransaction;

impl std::fmt::Display for StepName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
impl MigrationName for StepName {
    fn version(&self) -> MigrationVersion<'_> {
        let (version, _) = self.0.split_once('_').unwrap_or((self.0, ""));
        MigrationVersion::from(version.replace('-', ""))
    }
}
impl MigrationMetadata for InTransaction {
    fn run_in_transaction(&self) -> bool {
        true
    }
}
impl<DB: diesel::backend::Backend> MigrationSource<DB> for Embedded {
    fn migrations(&self) -> diesel::migration::Result<Vec<Box<dyn Migration<DB>>>> {
        let step = |(name, text): &(&'static str, &str)| -> Box<dyn Migration<DB>> {
            Box::new(Step { name: StepName(name), sql: self.0.render(text) })
        };
        Ok(MIGRATIONS.iter().map(step).collect())
    }
}
impl<DB: diesel::backend::Backend> Migration<DB> for Step {
    fn run(
        &self,
        connection: &mut dyn diesel::connection::BoxableConnection<DB>,
    ) -> diesel::migration::Result<()> {
        Ok(connection.batch_execute(&self.sql)?)
    }
    fn revert(
        &self,
        _: &mut dyn diesel::connection::BoxableConnection<DB>,
    ) -> diesel::migration::Result<()> {
        Err("migrations go forward only; restore a backup instead".into())
    }
    fn metadata(&self) -> &dyn MigrationMetadata {
        &InTransaction
    }
    fn name(&self) -> &dyn MigrationName {
        &self.name
    }
}

/// Brings the tables up to date and rebuilds the walls and what search needs. `owner_url` names the `SQLite` file, or on `PostgreSQL` the role
/// that owns the tables and may bypass row security; `server_url` names the role that serves. Several processes may do
/// it at once: they queue for a lock. Answers how many migrations were applied.
pub fn migrate(owner_url: &str, server_url: &str) -> Result<usize> {
    match open(owner_url).map_err(Error::unavailable)? {
        AnyConnection::Sqlite(mut sqlite) => sqlite.immediate_transaction(|sqlite| {
            let applied = sqlite.run_pending_migrations(Embedded(Dialect::Sqlite));
            let applied = applied.map_err(Error::fault)?.len();
            search::build_sqlite(sqlite)?;
            Ok(applied)
        }),
        AnyConnection::Postgres(mut postgres) => {
            postgres.batch_execute(&format!(
                "SET statement_timeout = 0; SET lock_timeout = 0; SELECT pg_advisory_lock({LOCK})"
            ))?;
            let applied = postgres.run_pending_migrations(Embedded(Dialect::Postgres));
            let applied = applied.map_err(Error::fault)?.len();
            search::build_postgres(&mut postgres)?;
            walls::build_postgres(&mut postgres, &role_of(server_url)?)?;
            postgres.batch_execute(&format!("SELECT pg_advisory_unlock({LOCK})"))?;
            Ok(applied)
        }
    }
}

/// The role in a `PostgreSQL` URL.
fn role_of(url: &str) -> Result<String> {
    let parsed = Url::parse(url).map_err(|_| Error::fault("the database URL cannot be read"))?;
    match parsed.username() {
        "" => Err(Error::fault("the database URL names no role: write postgres://ROLE@HOST/…")),
        role => Ok(role.to_owned()),
    }
}

/// Refuses a database that is behind this program.
pub(super) fn check(connection: &mut AnyConnection) -> Result<()> {
    match pending(connection)? {
        0 => Ok(()),
        behind => Err(Error::fault(format!(
            "the database is {behind} migration(s) behind; run `guichet migrate` first"
        ))),
    }
}

/// How many migrations this program knows that the database does not have yet.
fn pending(connection: &mut AnyConnection) -> Result<usize> {
    let applied: Result<Vec<String>, _> = diesel::select(
        diesel::dsl::sql::<diesel::sql_types::Text>("version FROM __diesel_schema_migrations"),
    )
    .load(connection);
    let applied = match applied {
        Ok(applied) => applied,
        Err(diesel::result::Error::DatabaseError(_, said))
            if said.message().contains("__diesel_schema_migrations") =>
        {
            vec![]
        }
        Err(error) => return Err(error.into()),
    };
    let is_missing = |name: &&'static str| !applied.contains(&StepName(name).version().to_string());
    Ok(MIGRATIONS.iter().map(|(name, _)| *name).filter(|name| is_missing(name)).count())
}
