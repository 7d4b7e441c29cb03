//! The demo data: two firms alike, so that a leak from one to the other shows.
//!
//! Master data are written by hand in `fixtures/demo`; documents, payslips and postings follow from them by fixed rules,
//! the same in both firms. Every text of a firm carries a word that the other never uses.

mod books;
mod check_digits;
mod engagements;
mod exchange;
mod fixtures;
pub mod ids;
mod knowledge;
mod payroll;
mod plan;
mod rows;
mod sales;
mod scale;
mod wages;
mod work;

use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::prelude::*;
use sha2::{Digest, Sha256};

use crate::auth::api_token::ApiToken;
use crate::db::Mandates;
use crate::db::connection::{AnyConnection, Transactions, open};
use crate::db::schema::people::tenants;
use crate::error::{Code, Error, Result};
use fixtures::{Firm, MASTER, Person};
use plan::Plan;
pub use scale::{Extent, Scale};

/// The tables that are large enough for their statistics to matter; the catalogue is not the owner's to analyse.
const ANALYZE_POSTGRES: &str = "ANALYZE clients, contacts, addresses, mandates, reach, commits, invoices, invoice_lines, \
     dispatches, payments, reminders, employees, payslips, payslip_lines, \
     exchange_rates, accounts, entries, entry_lines, reconciliations, account_balances, project_positions, project_operations, \
     tasks, time_entries, documents, bank_lines, proposals, commit_records, knowledge_entities, knowledge_relations";

text_enum! {
    /// Whether a person of the demo gets in.
    DemoState {
        /// Password and token are good.
        Active = "active",
        /// The membership in the firm has been ended.
        Deactivated = "deactivated",
        /// The token is past its end; the password is good.
        ExpiredToken = "expired_token",
    }
}

/// A person of the demo, in one firm.
#[derive(Debug, Clone)]
pub struct DemoPerson {
    /// The firm's short name.
    pub tenant: String,
    /// The firm's name.
    pub firm: String,
    /// The e-mail address to sign in with.
    pub email: String,
    /// The person's name in this firm.
    pub full_name: String,
    /// The person's role in this firm.
    pub role: String,
    /// The mandates within reach, in words: `all`, `listed: 12 mandates`, `own client`, `no mandates`.
    pub reach: String,
    /// Whether the person gets in.
    pub state: DemoState,
    /// The API token in the clear.
    pub token: String,
    /// The password in the clear.
    pub password: String,
}

/// Everybody in the demo, firm after firm; who works for both firms is listed in each.
#[must_use]
pub fn people() -> Vec<DemoPerson> {
    let of_firm = |firm| MASTER.people.iter().map(move |person| described(firm, person));
    MASTER.firms.iter().flat_map(of_firm).collect()
}

/// The folded words that mark every text of firm 0 and of firm 1.
#[must_use]
pub fn canaries() -> Vec<String> {
    MASTER.firms.iter().map(|firm| firm.canary.clone()).collect()
}

/// Whether the firms of the demo, or one of them, are in the database.
///
/// # Errors
/// The database is away, or has no tables.
pub fn is_seeded(owner_url: &str) -> Result<bool> {
    is_there(&mut open(owner_url).map_err(Error::unavailable)?)
}

/// Writes the two firms of the demo into a migrated database, all or nothing. `owner_url` names the `SQLite` file, or on
/// `PostgreSQL` the role that owns the tables and bypasses row security.
///
/// # Errors
/// The firms are there already; the database is away, or has no tables.
pub fn seed(owner_url: &str) -> Result<()> {
    seed_to(owner_url, Scale::S.extent())
}

/// The same, brought to an extent.
///
/// # Errors
/// The firms are there already; the database is away, or has no tables.
pub fn seed_to(owner_url: &str, extent: Extent) -> Result<()> {
    let plan = Plan::make()?;
    let hashes = rows::Hashes::make()?;
    let mut connection = open(owner_url).map_err(Error::unavailable)?;
    begin(&mut connection)?;
    let written =
        write(&mut connection, &plan, &hashes).and_then(|()| scale::grow(&mut connection, extent));
    match written {
        Ok(()) => Ok(Transactions::commit_transaction(&mut connection)?),
        Err(error) => {
            Transactions::rollback_transaction(&mut connection)?;
            Err(error)
        }
    }
}

fn write(connection: &mut AnyConnection, plan: &Plan, hashes: &rows::Hashes) -> Result<()> {
    if is_there(connection)? {
        let message = "the firms of the demo are already in this database";
        return Err(Error::refuse(Code::Conflict, message));
    }
    rows::write(connection, plan, hashes)?;
    Ok(connection.batch_execute(match connection {
        AnyConnection::Sqlite(_) => "ANALYZE",
        AnyConnection::Postgres(_) => ANALYZE_POSTGRES,
    })?)
}

/// Opens the transaction; on `SQLite` it holds the lock for writing from the beginning.
fn begin(connection: &mut AnyConnection) -> QueryResult<()> {
    match connection {
        AnyConnection::Sqlite(sqlite) => {
            AnsiTransactionManager::begin_transaction_sql(sqlite, "BEGIN IMMEDIATE")
        }
        AnyConnection::Postgres(postgres) => {
            AnsiTransactionManager::begin_transaction_sql(postgres, "BEGIN")
        }
    }
}

fn is_there(connection: &mut AnyConnection) -> Result<bool> {
    let slugs = MASTER.firms.iter().map(|firm| firm.slug.as_str());
    let firms = tenants::table.filter(tenants::slug.eq_any(slugs));
    Ok(firms.count().get_result::<i64>(connection)? > 0)
}

fn described(firm: &Firm, person: &Person) -> DemoPerson {
    let reach = match (person.reach, person.mandates) {
        (Mandates::All, _) => "all".to_owned(),
        (Mandates::Client, _) => "own client".to_owned(),
        (Mandates::Listed, None) => "no mandates".to_owned(),
        (Mandates::Listed, Some(listed)) if listed.count == 1 => "listed: 1 mandate".to_owned(),
        (Mandates::Listed, Some(listed)) => format!("listed: {} mandates", listed.count),
    };
    DemoPerson {
        tenant: firm.slug.clone(),
        firm: firm.name.clone(),
        email: person.email.owned(firm),
        full_name: person.name.owned(firm),
        role: person.role.owned(firm),
        reach,
        state: person.state,
        token: token(firm, person).reveal().to_owned(),
        password: password_firm(firm, person).password.clone(),
    }
}

/// The token of a person in a firm: the same every time, known to everybody, and good for the demo only.
fn token(firm: &Firm, person: &Person) -> ApiToken {
    let text = format!("guichet demo token {} {}", firm.slug, person.email.of(firm));
    ApiToken::from_secret(&Sha256::digest(text).into())
}

/// The firm whose password a person has: one's own, or the first for who works for both.
fn password_firm<'a>(firm: &'a Firm, person: &Person) -> &'a Firm {
    if person.shared_name.is_some() { MASTER.firms.first().unwrap_or(firm) } else { firm }
}

#[cfg(test)]
mod tests;
