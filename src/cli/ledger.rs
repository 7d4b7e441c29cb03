//! `guichet ledger`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::administer;
use crate::admin::{Email, Firm, Slug};
use crate::config::DatabaseArgs;
use crate::dates::Clock;
use crate::error::{Code, Error, Result};
use crate::ledger::import::{Import, MissingYears, import};
use crate::ledger::posting::Latitude;

/// What is done with books.
#[derive(Debug, Subcommand)]
pub(super) enum LedgerCommand {
    /// Post the entries of a file to a mandate's books, all of them or none
    Import(ImportArgs),
}

/// The file, and where it goes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet ledger import --tenant leman --mandate LEM-M001 entries.jsonl\n  \
    guichet ledger import --tenant leman --mandate LEM-M001 --chart accounts.jsonl \\\n    \
    --create-years entries.jsonl\n\n\
    One JSON object a line; docs/operations.md describes the fields.")]
pub(super) struct ImportArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    #[arg(long, value_name = "SLUG")]
    tenant: Slug,
    /// Number of the mandate whose books they are; it begins them, if it has none
    #[arg(long, value_name = "NUMBER")]
    mandate: String,
    /// File of accounts to add to the chart, one JSON object a line
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Make the fiscal years that are missing, as the mandate's years end
    #[arg(long)]
    create_years: bool,
    /// Post to provisionally closed years too, as adjustments
    #[arg(long)]
    adjust: bool,
    /// E-mail address of the person in whose name to post [default: the firm's first owner]
    #[arg(long, value_name = "EMAIL")]
    by: Option<Email>,
    /// File of entries, one JSON object a line
    file: PathBuf,
}

pub(super) fn run(command: &LedgerCommand) -> Result<()> {
    let LedgerCommand::Import(args) = command;
    let entries = read(&args.file)?;
    let accounts = args.chart.as_deref().map_or_else(|| Ok(String::new()), read)?;
    let by = args.by.as_ref().map(ToString::to_string);
    let missing_years = if args.create_years { MissingYears::Create } else { MissingYears::Refuse };
    let latitude = if args.adjust { Latitude::Adjusting } else { Latitude::Ordinary };
    let now = Clock::System.now();
    let done = administer(&args.database, |connection| {
        let wanted = Import {
            tenant: Firm::find(connection, &args.tenant)?.id,
            mandate: &args.mandate,
            accounts: &accounts,
            entries: &entries,
            by: by.as_deref(),
            missing_years,
            latitude,
        };
        import(connection, wanted, now)
    })?;
    println!(
        "Posted {} with {} to {}; new: {} and {}.",
        counted(done.entries, "entry", "entries"),
        counted(done.lines, "line", "lines"),
        args.mandate,
        counted(done.accounts, "account", "accounts"),
        counted(done.years, "fiscal year", "fiscal years"),
    );
    Ok(())
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        let message = format!("{} cannot be read: {error}", path.display());
        Error::refuse(Code::InvalidArgument, message)
    })
}
