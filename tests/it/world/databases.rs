//! A fresh database for each test: a copy of one that was seeded once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Text;
use guichet::db::migrate;
use guichet::demo;
use tempfile::TempDir;

/// The connection of the tables' owner.
pub(crate) enum Owner {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Owner {
    pub(crate) fn batch_execute(&mut self, sql: &str) -> QueryResult<()> {
        match self {
            Self::Sqlite(sqlite) => sqlite.batch_execute(sql),
            Self::Postgres(postgres) => postgres.batch_execute(sql),
        }
    }
}

/// A migrated and seeded database, gone when dropped.
pub(crate) struct Database {
    pub(crate) owner_url: String,
    pub(crate) server_url: String,
    name: Option<String>,
    _directory: Option<TempDir>,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

fn superuser_url() -> String {
    std::env::var("GUICHET_TEST_POSTGRES")
        .expect("GUICHET_TEST_POSTGRES names no superuser of a throwaway PostgreSQL; start the tests with tests/run")
}

fn role_url(role: &str, database: &str) -> String {
    let mut url = url::Url::parse(&superuser_url()).unwrap();
    url.set_username(role).unwrap();
    url.set_password(None).unwrap();
    url.set_path(database);
    url.into()
}

#[expect(clippy::disallowed_methods, reason = "the tests look at the tables from outside")]
fn postgres_at(url: &str) -> PgConnection {
    PgConnection::establish(url).unwrap_or_else(|error| panic!("{url}: {error}"))
}

/// The file that was seeded once in this run.
fn sqlite_template() -> &'static PathBuf {
    static TEMPLATE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = TEMPLATE.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("template.db");
        let url = format!("sqlite:{}", path.display());
        migrate(&url, &url).unwrap();
        demo::seed(&url).unwrap();
        let mut database = sqlite_at(&path.display().to_string());
        database.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        (directory, path)
    });
    path
}

#[expect(clippy::disallowed_methods, reason = "the tests look at the tables from outside")]
fn sqlite_at(path: &str) -> SqliteConnection {
    let mut connection = SqliteConnection::establish(path).unwrap();
    connection.batch_execute("PRAGMA busy_timeout = 20000; PRAGMA foreign_keys = ON").unwrap();
    connection
}

/// The database that was seeded once in this run, from which PostgreSQL copies.
fn postgres_template() -> &'static str {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let name = format!("template_{}", std::process::id());
        let mut superuser = postgres_at(&superuser_url());
        let roles = "DO $$ BEGIN
            IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'guichet_owner') THEN
                CREATE ROLE guichet_owner LOGIN BYPASSRLS; CREATE ROLE guichet_server LOGIN;
            END IF; END $$";
        superuser.batch_execute(roles).unwrap();
        let create = format!("CREATE DATABASE {name} OWNER guichet_owner");
        superuser.batch_execute(&create).unwrap();
        let owner = role_url("guichet_owner", &name);
        migrate(&owner, &role_url("guichet_server", &name)).unwrap();
        demo::seed(&owner).unwrap();
        name
    })
}

impl Database {
    pub(crate) fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        std::fs::copy(sqlite_template(), &path).unwrap();
        let url = format!("sqlite:{}", path.display());
        let (owner_url, server_url) = (url.clone(), url);
        Self { owner_url, server_url, name: None, _directory: Some(directory) }
    }

    /// A file without tables.
    pub(crate) fn empty_sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let (owner_url, server_url) = (url.clone(), url);
        Self { owner_url, server_url, name: None, _directory: Some(directory) }
    }

    /// A migrated database without rows.
    pub(crate) fn unseeded_postgres() -> Self {
        postgres_template();
        let name = format!("u{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let create = format!("CREATE DATABASE {name} OWNER guichet_owner");
        postgres_at(&superuser_url()).batch_execute(&create).unwrap();
        let owner_url = role_url("guichet_owner", &name);
        let server_url = role_url("guichet_server", &name);
        migrate(&owner_url, &server_url).unwrap();
        Self { owner_url, server_url, name: Some(name), _directory: None }
    }

    pub(crate) fn postgres() -> Self {
        static COPYING: Mutex<()> = Mutex::new(());
        let template = postgres_template();
        let name = format!("t{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let copying = COPYING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let copy = format!("CREATE DATABASE {name} TEMPLATE {template} OWNER guichet_owner");
        postgres_at(&superuser_url()).batch_execute(&copy).unwrap();
        drop(copying);
        let owner_url = role_url("guichet_owner", &name);
        let server_url = role_url("guichet_server", &name);
        Self { owner_url, server_url, name: Some(name), _directory: None }
    }

    /// A database without tables, that a superuser owns.
    pub(crate) fn empty_postgres() -> Self {
        let name = format!("e{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let superuser = superuser_url();
        postgres_at(&superuser).batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        let mut url = url::Url::parse(&superuser).unwrap();
        url.set_path(&name);
        let (owner_url, server_url) = (url.to_string(), url.into());
        Self { owner_url, server_url, name: Some(name), _directory: None }
    }

    /// The same database, for another server on it; it goes with the first.
    pub(crate) fn again(&self) -> Self {
        let (owner_url, server_url) = (self.owner_url.clone(), self.server_url.clone());
        Self { owner_url, server_url, name: None, _directory: None }
    }

    pub(crate) const fn is_postgres(&self) -> bool {
        self.name.is_some()
    }

    /// A connection that may do everything, the walls included.
    pub(crate) fn owner(&self) -> Owner {
        match self.owner_url.strip_prefix("sqlite:") {
            Some(path) => Owner::Sqlite(sqlite_at(path)),
            None => Owner::Postgres(postgres_at(&self.owner_url)),
        }
    }

    /// Runs SQL as the superuser of the cluster, in this database.
    pub(crate) fn as_superuser(&self, sql: &str) {
        let mut url = url::Url::parse(&superuser_url()).unwrap();
        url.set_path(self.name.as_deref().expect("a PostgreSQL database"));
        postgres_at(url.as_str()).batch_execute(sql).unwrap();
    }

    /// Lets the server's role in, or cuts every connection and keeps it out.
    pub(crate) fn set_reachable(&self, reachable: bool) {
        let name = self.name.as_deref().expect("a PostgreSQL database");
        let mut superuser = postgres_at(&superuser_url());
        superuser
            .batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {reachable}"))
            .unwrap();
        if !reachable {
            let cut = format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            );
            superuser.batch_execute(&cut).unwrap();
        }
    }

    /// The cells of a query of one text column, its parts separated by `|`.
    pub(crate) fn rows(&self, query: &str) -> Vec<Vec<String>> {
        let query = query.trim_start().strip_prefix("SELECT ").expect("a SELECT");
        let rows: QueryResult<Vec<String>> = match &mut self.owner() {
            Owner::Sqlite(sqlite) => diesel::select(sql::<Text>(query)).load(sqlite),
            Owner::Postgres(postgres) => diesel::select(sql::<Text>(query)).load(postgres),
        };
        let rows = rows.unwrap_or_else(|error| panic!("{error}: {query}"));
        rows.iter().map(|row| row.split('|').map(str::to_owned).collect()).collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
            postgres_at(&superuser_url()).batch_execute(&drop).ok();
        }
    }
}
