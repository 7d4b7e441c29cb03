//! Preparing a database for a try-out or a test: what an administrator does by hand for a real one.

use diesel::connection::SimpleConnection;
use url::Url;

use super::connection::{AnyConnection, open};
use crate::error::{Error, Result};

/// The two ways into a database: to own its tables, and to serve from them.
#[derive(Debug, Clone)]
pub struct Urls {
    /// For migrations and administration.
    pub owner: String,
    /// For serving.
    pub server: String,
}

/// Makes both roles of a `PostgreSQL` database, named with a superuser, with new random passwords; an `SQLite` file
/// needs none.
///
/// # Errors
/// The database cannot be reached, or the URL's role may not create roles.
pub fn prepare_roles(url: &str, owner: &str, server: &str) -> Result<Urls> {
    let connection = open(url).map_err(Error::unavailable)?;
    let AnyConnection::Postgres(mut postgres) = connection else {
        return Ok(Urls { owner: url.to_owned(), server: url.to_owned() });
    };
    let (owner_password, server_password) = (password()?, password()?);
    postgres.batch_execute(&format!(
        "DO $$ BEGIN
            IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{owner}') THEN CREATE ROLE {owner}; END IF;
            IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{server}') THEN CREATE ROLE {server}; END IF;
        END $$;
        ALTER ROLE {owner} LOGIN BYPASSRLS PASSWORD '{owner_password}';
        ALTER ROLE {server} LOGIN NOBYPASSRLS PASSWORD '{server_password}';
        GRANT USAGE, CREATE ON SCHEMA public TO {owner};
        GRANT USAGE ON SCHEMA public TO {server}"
    ))?;
    let with = |role: &str, password: &str| -> Result<String> {
        let mut url = Url::parse(url).map_err(Error::fault)?;
        let set = url.set_username(role).and_then(|()| url.set_password(Some(password)));
        set.map_err(|()| Error::fault("the database URL names no host"))?;
        Ok(url.into())
    };
    Ok(Urls { owner: with(owner, &owner_password)?, server: with(server, &server_password)? })
}

fn password() -> Result<String> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random).map_err(|error| Error::fault(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_be_bytes(random)))
}

/// Throws everything in a database away.
///
/// # Errors
/// The file cannot be removed, or the URL's role may not drop the tables.
pub fn reset(url: &str) -> Result<()> {
    if let Some(path) = url.strip_prefix("sqlite:") {
        for suffix in ["", "-wal", "-shm"] {
            match std::fs::remove_file(format!("{path}{suffix}")) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::fault(format!("{path}{suffix} cannot be removed: {error}")));
                }
                _ => {}
            }
        }
        return Ok(());
    }
    match open(url).map_err(Error::unavailable)? {
        AnyConnection::Postgres(mut postgres) => {
            Ok(postgres.batch_execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")?)
        }
        AnyConnection::Sqlite(_) => Ok(()),
    }
}
