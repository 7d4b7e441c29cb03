//! `guichet tenant`.

use chrono_tz::Tz;
use clap::{Args, Subcommand};

use super::administer;
use super::table::{ListArgs, Row};
use crate::admin::{self, Firm, FirmRow, Line, NewFirm, Slug, Standing};
use crate::auth::ROLES;
use crate::config::DatabaseArgs;
use crate::dates::Clock;
use crate::error::Result;
use crate::identifiers::{Iban, Uid};
use crate::money::Currency;

/// What is done with firms.
#[derive(Debug, Subcommand)]
pub(super) enum TenantCommand {
    /// Create a firm with the seven roles and nobody in it
    Create(Box<CreateArgs>),
    /// List the firms
    List(ListFirmsArgs),
    /// Shut a firm out, with everybody in it, from the next request on
    Deactivate(StandingArgs),
    /// Let a firm in again
    Activate(StandingArgs),
}

/// The firm to create.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet tenant create --slug leman --name 'Fiduciaire du Léman SA'\n  \
    guichet tenant create --slug leman --name 'Fiduciaire du Léman SA' --uid CHE-100.155.212 \\\n    \
    --street 'Rue du Port' --house-number 4 --postal-code 1003 --town Lausanne \\\n    \
    --iban 'CH93 0076 2011 6238 5295 7' --qr-iban CH4431999123000889012")]
pub(super) struct CreateArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name, by which people and commands name the firm: 2 to 40 of a-z, 0-9 and -
    #[arg(long)]
    slug: Slug,
    /// Legal name
    #[arg(long)]
    name: Line,
    /// Swiss enterprise number, such as CHE-100.155.212
    #[arg(long)]
    uid: Option<Uid>,
    /// E-mail address
    #[arg(long)]
    email: Option<Line>,
    /// Telephone number
    #[arg(long)]
    phone: Option<Line>,
    /// Street
    #[arg(long)]
    street: Option<Line>,
    /// Number in the street
    #[arg(long)]
    house_number: Option<Line>,
    /// Postal code
    #[arg(long)]
    postal_code: Option<Line>,
    /// Town
    #[arg(long)]
    town: Option<Line>,
    /// Country (ISO 3166, two letters)
    #[arg(long, default_value = "CH", value_parser = country)]
    country: String,
    /// Account that receives payments
    #[arg(long)]
    iban: Option<Iban>,
    /// Account that receives payments with a QR reference
    #[arg(long)]
    qr_iban: Option<Iban>,
    /// Time zone in which the firm's day begins
    #[arg(long, default_value = "Europe/Zurich", value_parser = time_zone)]
    time_zone: Tz,
    /// Currency of the books: CHF, EUR, USD or GBP
    #[arg(long, default_value = "CHF", value_parser = currency)]
    currency: Currency,
    /// Days in which an invoice is due, unless it says otherwise
    #[arg(long, value_name = "DAYS", default_value = "30", value_parser = clap::value_parser!(i32).range(0..=365))]
    payment_term_days: i32,
}

/// How the firms are listed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  guichet tenant list\n  guichet tenant list --json")]
pub(super) struct ListFirmsArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    list: ListArgs,
}

/// The firm to let in or shut out.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  guichet tenant deactivate leman\n  guichet tenant activate leman"
)]
pub(super) struct StandingArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    slug: Slug,
}

fn country(text: &str) -> Result<String, String> {
    let is_code = text.len() == 2 && text.chars().all(|c| c.is_ascii_uppercase());
    is_code.then(|| text.to_owned()).ok_or_else(|| "use two capital letters, such as CH".to_owned())
}

fn time_zone(text: &str) -> Result<Tz, String> {
    text.parse().map_err(|_| "there is no such time zone; use one such as Europe/Zurich".to_owned())
}

fn currency(text: &str) -> Result<Currency, String> {
    Currency::parse(text).ok_or_else(|| "use CHF, EUR, USD or GBP".to_owned())
}

impl Row for FirmRow {
    const HEADINGS: &[&str] = &["SLUG", "NAME", "STATE", "ACTIVE PEOPLE", "CREATED"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.slug.clone(),
            self.name.clone(),
            self.state.to_string(),
            self.active_people.to_string(),
            self.created_at.to_string(),
        ]
    }
}

pub(super) fn run(command: &TenantCommand) -> Result<()> {
    match command {
        TenantCommand::Create(args) => create(args),
        TenantCommand::List(args) => {
            args.list.print(&administer(&args.database, admin::list_firms)?)
        }
        TenantCommand::Deactivate(args) => {
            set_standing(args, Standing::Inactive)?;
            println!("{} is deactivated: nobody in it is let in.", args.slug);
            Ok(())
        }
        TenantCommand::Activate(args) => {
            set_standing(args, Standing::Active)?;
            println!("{} is active.", args.slug);
            Ok(())
        }
    }
}

fn create(args: &CreateArgs) -> Result<()> {
    let text = |line: &Option<Line>| line.as_ref().map_or_else(String::new, Line::to_string);
    let new = NewFirm {
        slug: &args.slug,
        name: args.name.as_str(),
        uid: args.uid.as_ref(),
        email: &text(&args.email),
        phone: &text(&args.phone),
        street: &text(&args.street),
        house_number: &text(&args.house_number),
        postal_code: &text(&args.postal_code),
        town: &text(&args.town),
        country: &args.country,
        iban: args.iban.as_ref(),
        qr_iban: args.qr_iban.as_ref(),
        time_zone: args.time_zone,
        currency: args.currency,
        payment_term_days: args.payment_term_days,
    };
    let now = Clock::System.now();
    administer(&args.database, |connection| admin::create_firm(connection, &new, now))?;
    let roles: Vec<_> = ROLES.iter().map(|role| role.name).collect();
    let (slug, name) = (&args.slug, &args.name);
    println!("Created {slug} ({name}) with the roles {}.", roles.join(", "));
    println!(
        "Next, its owner: guichet user add --tenant {slug} --role owner --reach all --email … --name … --password-file …"
    );
    Ok(())
}

fn set_standing(args: &StandingArgs, standing: Standing) -> Result<()> {
    administer(&args.database, |connection| {
        let firm = Firm::find(connection, &args.slug)?;
        admin::set_firm_standing(connection, &firm, standing)
    })
}
