//! The demo, larger: firms grow by copies of their own records, and further firms are copies of the first.
//!
//! What is copied follows from the catalogue, so that a new table grows with the others. Records are copied as they stand:
//! the triggers that check and keep them are off meanwhile, and tests hold what comes out to what they would have said.

mod catalogue;
mod copies;
mod ledger;

use std::collections::BTreeSet;

use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Text;
use indicatif::{ProgressBar, ProgressStyle};

use super::fixtures::MASTER;
use super::ids::{self, Kind};
use crate::db::build_search;
use crate::db::connection::AnyConnection;
use crate::db::schema::commits;
use crate::error::{Error, Result};
use crate::ids::TenantId;
use catalogue::Catalogue;
use copies::Grown;

/// How much there is of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
#[value(rename_all = "UPPER")]
pub enum Scale {
    /// The two firms as they are written.
    #[default]
    S,
    /// 20 firms with 2,000 clients, 20,000 invoices and a ledger of 200,000 lines each.
    M,
    /// One firm with 20,000 clients, 200,000 invoices and ledgers of 20,000 and of 2,000,000 lines.
    L,
}

/// What there is of the demo.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// How often the records of each of the two firms are copied within it.
    pub copies: [u32; 2],
    /// Copies in one statement, few enough for progress to show.
    pub at_once: u32,
    /// Lines of the ledgers that the first firm gets besides.
    pub ledgers: &'static [u32],
    /// How many firms there are; the third and further ones are copies of the first.
    pub firms: u32,
}

impl Scale {
    /// What there is at this scale.
    #[must_use]
    pub const fn extent(self) -> Extent {
        match self {
            Self::S => Extent { copies: [0, 0], at_once: 20, ledgers: &[], firms: 2 },
            Self::M => Extent { copies: [33, 33], at_once: 20, ledgers: &[200_000], firms: 20 },
            Self::L => {
                Extent { copies: [333, 0], at_once: 20, ledgers: &[20_000, 2_000_000], firms: 2 }
            }
        }
    }
}

/// A statement, and what it is about.
struct Step {
    about: String,
    /// The table that becomes many times larger.
    fills: Option<String>,
    sql: String,
}

impl Step {
    /// Fills a table with rows of something.
    fn fill(table: &str, of: &str, sql: String) -> Self {
        Self { about: format!("{table} of {of}"), fills: Some(table.to_owned()), sql }
    }
}

/// Brings the two firms, just written, to an extent.
pub(super) fn grow(connection: &mut AnyConnection, extent: Extent) -> Result<()> {
    let catalogue = Catalogue::read(connection)?;
    let mut steps = vec![];
    for (firm, copies) in MASTER.firms.iter().zip(extent.copies) {
        let tenant = TenantId::from(ids::id(firm.index, Kind::Tenant, 1));
        let posted = commits::table.filter(commits::tenant_id.eq(tenant));
        let grown = Grown::new(&catalogue, firm.index, posted.count().get_result(connection)?);
        for from in (1..=copies).step_by(extent.at_once as usize) {
            steps.extend(grown.copy(&(from..=copies.min(from + extent.at_once - 1))));
        }
    }
    for (n, lines) in (1..).zip(extent.ledgers) {
        steps.extend(ledger::of_first_firm(catalogue.dialect, n, *lines));
    }
    for firm in 2..extent.firms {
        steps.extend(copies::of_firm(&catalogue, firm));
    }
    if steps.is_empty() { Ok(()) } else { run(connection, &catalogue, &steps) }
}

fn run(connection: &mut AnyConnection, catalogue: &Catalogue, steps: &[Step]) -> Result<()> {
    let bar = ProgressBar::new(u64::try_from(steps.len()).map_err(Error::fault)? + 1);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}");
    bar.set_style(style.map_err(Error::fault)?);
    let triggers = lift(connection, catalogue)?;
    let mut analyzed = BTreeSet::new();
    for Step { about, fills, sql } in steps {
        bar.set_message(about.clone());
        connection.batch_execute(sql)?;
        if let (AnyConnection::Postgres(postgres), Some(table)) = (&mut *connection, fills)
            && analyzed.insert(about)
        {
            // Else the checks of foreign keys keep the plans that they made when the table was small.
            postgres.batch_execute(&format!("ANALYZE {table}"))?;
        }
        bar.inc(1);
    }
    bar.set_message("indices and statistics");
    restore(connection, catalogue, &triggers)?;
    bar.finish_and_clear();
    Ok(())
}

/// Takes away what would look at every copied row: triggers, and the index of words.
fn lift(connection: &mut AnyConnection, catalogue: &Catalogue) -> Result<Vec<String>> {
    match connection {
        AnyConnection::Postgres(postgres) => {
            postgres
                .batch_execute("SET LOCAL statement_timeout = 0; SET LOCAL work_mem = '256MB'")?;
            for table in catalogue.names() {
                postgres.batch_execute(&format!(
                    "ALTER TABLE {table} DISABLE TRIGGER USER; DROP INDEX IF EXISTS {table}_grams"
                ))?;
            }
            Ok(vec![])
        }
        AnyConnection::Sqlite(sqlite) => {
            let named = |what: &str| {
                sql::<Text>(&format!("{what} FROM sqlite_master WHERE type = 'trigger'"))
            };
            let written: Vec<String> = diesel::select(named("sql")).load(sqlite)?;
            for trigger in diesel::select(named("name")).load::<String>(sqlite)? {
                sqlite.batch_execute(&format!("DROP TRIGGER {trigger}"))?;
            }
            sqlite.batch_execute(
                "INSERT INTO search_index (search_index) VALUES ('delete-all'); DELETE FROM search_rows; DELETE FROM search_slots",
            )?;
            Ok(written)
        }
    }
}

/// Puts back what [`lift`] took away, and the statistics.
fn restore(
    connection: &mut AnyConnection,
    catalogue: &Catalogue,
    triggers: &[String],
) -> Result<()> {
    build_search(connection)?;
    match connection {
        AnyConnection::Postgres(postgres) => {
            for table in catalogue.names() {
                postgres.batch_execute(&format!(
                    "ALTER TABLE {table} ENABLE TRIGGER USER; ANALYZE {table}"
                ))?;
            }
        }
        AnyConnection::Sqlite(sqlite) => {
            for trigger in triggers.iter().filter(|sql| !sql.contains("search_index")) {
                sqlite.batch_execute(trigger)?;
            }
            sqlite.batch_execute("ANALYZE")?;
        }
    }
    Ok(())
}
