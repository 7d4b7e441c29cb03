//! `guichet token`.

use std::io::Write as _;

use clap::{Args, Subcommand};

use super::administer;
use super::table::{ListArgs, Row};
use crate::admin::{self, Email, Firm, Line, NewToken, Slug, TokenRow};
use crate::config::DatabaseArgs;
use crate::dates::{Clock, Instant};
use crate::error::{Code, Error, Result};

const DAY_S: i64 = 86_400;

/// What is done with API tokens.
#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Make a token for a person and print it, once
    Create(CreateArgs),
    /// List the tokens of a firm; never the tokens themselves
    List(ListTokensArgs),
    /// End a token, from the next request on
    Revoke(RevokeArgs),
}

/// The token to make.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet token create --tenant leman --email anna@leman.example --name 'Laptop'\n  \
    guichet token create --tenant leman --email anna@leman.example --name 'Month-end agent' \\\n    \
    --scopes client.read,invoice.read --expires-in-days 365 > token.txt\n\n\
    The token alone goes to standard output. `read` and `propose` stand for what the role grants of them now;\n\
    unmasked identifiers and confidential documents are named. No token ever approves or administers.")]
pub(super) struct CreateArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    #[arg(long, value_name = "SLUG")]
    tenant: Slug,
    /// E-mail address of the person for whom the token acts
    #[arg(long)]
    email: Email,
    /// Name by which the person recognises the token
    #[arg(long)]
    name: Line,
    /// What the token may do: read, propose or permissions, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "read")]
    scopes: Vec<String>,
    /// Days until the token ends
    #[arg(long, value_name = "DAYS", default_value = "90", value_parser = clap::value_parser!(i64).range(1..=365))]
    expires_in_days: i64,
    /// The token ends only when it is revoked
    #[arg(long, conflicts_with = "expires_in_days")]
    never_expires: bool,
}

/// How tokens are listed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet token list --tenant leman\n  \
    guichet token list --tenant leman --email anna@leman.example --json")]
pub(super) struct ListTokensArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    #[arg(long, value_name = "SLUG")]
    tenant: Slug,
    /// E-mail address of the person [default: everybody]
    #[arg(long)]
    email: Option<Email>,
    #[command(flatten)]
    list: ListArgs,
}

/// The token to end.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet token revoke --tenant leman x7Qz\n  \
    guichet token revoke --tenant leman 01900000-0000-7000-8000-000000000000")]
pub(super) struct RevokeArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    #[arg(long, value_name = "SLUG")]
    tenant: Slug,
    /// Id of the token, or its last four characters
    #[arg(value_name = "ID|SUFFIX")]
    token: String,
}

impl Row for TokenRow {
    const HEADINGS: &[&str] =
        &["TOKEN", "NAME", "PERSON", "STATE", "CREATED", "EXPIRES", "LAST USED", "ID", "SCOPES"];

    fn cells(&self) -> Vec<String> {
        let or_never = |at: Option<Instant>| at.map_or("never".to_owned(), |at| at.to_string());
        vec![
            self.token.clone(),
            self.name.clone(),
            format!("{} <{}>", self.person, self.email),
            self.state.to_string(),
            self.created_at.to_string(),
            or_never(self.expires_at),
            or_never(self.last_used_at),
            self.id.to_string(),
            self.scopes.clone(),
        ]
    }
}

pub(super) fn run(command: &TokenCommand) -> Result<()> {
    let now = Clock::System.now();
    match command {
        TokenCommand::Create(args) => create(args, now),
        TokenCommand::List(args) => {
            let rows = administer(&args.database, |connection| {
                let firm = Firm::find(connection, &args.tenant)?;
                admin::list_tokens(connection, &firm, args.email.as_ref(), now)
            })?;
            args.list.print(&rows)
        }
        TokenCommand::Revoke(args) => {
            let token = administer(&args.database, |connection| {
                let firm = Firm::find(connection, &args.tenant)?;
                admin::revoke_token(connection, &firm, &args.token, now)
            })?;
            println!("Revoked {} ({}) of {}.", token.token, token.name, token.person);
            Ok(())
        }
    }
}

fn create(args: &CreateArgs, now: Instant) -> Result<()> {
    let ends = now.plus_seconds(args.expires_in_days.saturating_mul(DAY_S));
    let expires_at = (!args.never_expires).then_some(ends);
    let new = NewToken { name: &args.name, scopes: &args.scopes, expires_at };
    let (token, scopes) = administer(&args.database, |connection| {
        let firm = Firm::find(connection, &args.tenant)?;
        admin::create_token(connection, &firm, &args.email, &new, now)
    })?;
    writeln!(std::io::stdout(), "{}", token.reveal()).map_err(|error| {
        let (suffix, slug) = (token.suffix(), &args.tenant);
        let message = format!(
            "the token could not be written: {error}; end it with `guichet token revoke --tenant {slug} {suffix}`"
        );
        Error::refuse(Code::Unavailable, message)
    })?;
    let until = expires_at.map_or("it is revoked".to_owned(), |at| at.to_string());
    eprintln!("This token of {} is good until {until} and is not shown again.", args.email);
    eprintln!("It may: {scopes}");
    Ok(())
}
