//! Entries that come from another program, one JSON object a line: all of them, or none.

use diesel::prelude::*;
use serde::Deserialize;

use super::chart::{self, Chart, NewLedger, PlannedAccount};
use super::imported::ImportedEntry;
use super::posting::{Book, Commit, Latitude, Rule};
use super::years::{self, NewYear};
use crate::dates::Instant;
use crate::db::connection::AnyConnection;
use crate::db::schema::people::users;
use crate::db::schema::{ledgers, mandates, memberships};
use crate::error::{Code, Error, Result};
use crate::ids::{AccountId, EntryId, FiscalYearId, MandateId, TenantId, UserId};
use crate::money::Currency;
use crate::registry::Object;

/// Bad lines that are named at most.
const MOST_NAMED: usize = 20;

/// Whether fiscal years that are missing are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingYears {
    /// They are.
    Create,
    /// An entry outside the years is refused.
    Refuse,
}

/// What to import, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Import<'a> {
    pub(crate) tenant: TenantId,
    /// The number of the mandate.
    pub(crate) mandate: &'a str,
    /// Accounts to add, one JSON object a line.
    pub(crate) accounts: &'a str,
    /// Entries, one JSON object a line.
    pub(crate) entries: &'a str,
    /// The e-mail address of the person in whose name it is done; the firm's first owner if absent.
    pub(crate) by: Option<&'a str>,
    pub(crate) missing_years: MissingYears,
    pub(crate) latitude: Latitude,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Imported {
    pub(crate) accounts: usize,
    pub(crate) years: usize,
    pub(crate) entries: usize,
    pub(crate) lines: usize,
}

/// Posts the entries of a file to a mandate's books, under one commit; a mandate without books begins them.
///
/// # Errors
/// Lines are malformed or break a rule: each is named with its rule, up to twenty.
pub(crate) fn import(
    connection: &mut AnyConnection,
    import: Import<'_>,
    now: Instant,
) -> Result<Imported> {
    let tenant = import.tenant;
    let (mandate, last_month, currency) = find_mandate(connection, tenant, import.mandate)?;
    let mut entries: Vec<(usize, ImportedEntry)> = read_lines(import.entries, "entry")?;
    if entries.is_empty() {
        return Err(refuse("the file has no entries; give one JSON object a line"));
    }
    let by = poster(connection, tenant, import.by)?;
    let commit = Commit::next(connection, tenant, by, now)?;
    let accounts = begin(connection, import, mandate, currency, now)?;
    entries.sort_by_key(|(_, entry)| entry.date);
    let years = match import.missing_years {
        MissingYears::Create => {
            make_years(connection, (tenant, mandate), last_month, &entries, now)?
        }
        MissingYears::Refuse => 0,
    };
    let count = entries.len();
    let mut book = Book::open(connection, tenant, mandate, import.latitude)?;
    let lines = post(connection, &mut book, commit, entries, now)?;
    book.write(connection)?;
    Ok(Imported { accounts, years, entries: count, lines })
}

/// Makes the years in which entries lie and that are missing; answers how many. One that may not be made is left to the
/// rules of posting, which name the entry.
fn make_years(
    connection: &mut AnyConnection,
    (tenant, mandate): (TenantId, MandateId),
    last_month: u32,
    entries: &[(usize, ImportedEntry)],
    now: Instant,
) -> Result<usize> {
    let mut known = years::spans(connection, (tenant, mandate))?;
    let mut made = 0;
    for (_, entry) in entries {
        if known.iter().any(|(first, last)| *first <= entry.date && entry.date <= *last) {
            continue;
        }
        let (starts_on, ends_on) = years::around(entry.date, last_month, &known)?;
        let year = NewYear { id: FiscalYearId::at(now), starts_on, ends_on };
        match years::open(connection, (tenant, mandate), year) {
            Ok(()) => made += 1,
            Err(error) if error.code() == Code::PeriodClosed => {}
            Err(error) => return Err(error),
        }
        known.push((starts_on, ends_on));
    }
    Ok(made)
}

/// Posts entries, and answers how many lines they have; after the first that breaks a rule the others are only checked.
fn post(
    connection: &mut AnyConnection,
    book: &mut Book,
    commit: Commit,
    entries: Vec<(usize, ImportedEntry)>,
    now: Instant,
) -> Result<usize> {
    let (mut lines, mut wrong) = (0, vec![]);
    for (at, entry) in entries {
        lines += entry.lines.len();
        let entry = match entry.into_new(book, EntryId::at(now)) {
            Ok(entry) => entry,
            Err(message) => {
                wrong.push((at, format!("{message} [fields]")));
                continue;
            }
        };
        let breach = if wrong.is_empty() {
            book.try_post(connection, commit, entry)?.err()
        } else {
            book.breach(connection, entry)?
        };
        if let Some(breach) = breach {
            let hint = if breach.rule == Rule::FiscalYear { " with --create-years" } else { "" };
            wrong.push((at, format!("{}{hint} [{}]", breach.message, breach.rule)));
        }
    }
    refuse_all(wrong, "entry")?;
    Ok(lines)
}

fn refuse(message: impl Into<String>) -> Error {
    Error::refuse(Code::InvalidArgument, message)
}

/// The mandate's id, the month in which its year ends, its currency.
fn find_mandate(
    connection: &mut AnyConnection,
    tenant: TenantId,
    number: &str,
) -> Result<(MandateId, u32, Currency)> {
    let row: Option<(MandateId, i32, Currency)> = mandates::table
        .filter(mandates::tenant_id.eq(tenant))
        .filter(mandates::number.eq(number))
        .select((mandates::id, mandates::fiscal_year_end_month, mandates::currency))
        .load(connection)?
        .pop();
    let (id, month, currency) =
        row.ok_or_else(|| refuse(format!("the firm has no mandate {number}; give its number")))?;
    Ok((id, u32::try_from(month).map_err(Error::fault)?, currency))
}

/// The person in whose name it is done.
fn poster(connection: &mut AnyConnection, tenant: TenantId, email: Option<&str>) -> Result<UserId> {
    let members = memberships::table
        .inner_join(users::table.on(users::id.eq(memberships::user_id)))
        .filter(memberships::tenant_id.eq(tenant))
        .filter(memberships::is_active.eq(true))
        .order(memberships::created_at)
        .select((memberships::user_id, users::email, memberships::role));
    let members: Vec<(UserId, String, String)> = members.load(connection)?;
    let is_meant = |(_, address, role): &&(UserId, String, String)| {
        email.map_or_else(|| role == "owner", |email| address == email)
    };
    let found = members.iter().find(is_meant).map(|(id, ..)| *id);
    found.ok_or_else(|| {
        refuse(match email {
            Some(email) => {
                format!("{email} is not active in the firm; name somebody who is with --by")
            }
            None => {
                "the firm has no active owner; say with --by in whose name to import".to_owned()
            }
        })
    })
}

/// Begins the books of the mandate unless it keeps them already, and adds accounts; answers how many.
fn begin(
    connection: &mut AnyConnection,
    import: Import<'_>,
    mandate: MandateId,
    currency: Currency,
    now: Instant,
) -> Result<usize> {
    let tenant = import.tenant;
    let wanted: Vec<(usize, PlannedAccount)> = read_lines(import.accounts, "account")?;
    let kept: Option<Currency> = ledgers::table
        .filter(ledgers::tenant_id.eq(tenant))
        .filter(ledgers::mandate_id.eq(mandate))
        .select(ledgers::currency)
        .load(connection)?
        .pop();
    let currency_of_books = kept.unwrap_or(currency);
    let (is_of_firm, word) = (false, None);
    let ledger = NewLedger { tenant, mandate, currency: currency_of_books, is_of_firm, word };
    if kept.is_none() {
        chart::seed(connection, ledger, &[], |_| AccountId::at(now))?;
    }
    let mut chart = Chart::read(connection, ledger)?;
    let mut wrong = vec![];
    for (at, account) in wanted {
        match chart.add(account) {
            Ok(()) => {}
            Err(Error::Refused(refusal)) => {
                wrong.push((at, format!("{} [chart]", refusal.message)));
            }
            Err(error) => return Err(error),
        }
    }
    refuse_all(wrong, "account")?;
    chart.write(connection, ledger, |_| AccountId::at(now))
}

/// The lines of a file that are not empty, with their numbers from 1.
fn read_lines<T: for<'de> Deserialize<'de>>(text: &str, what: &str) -> Result<Vec<(usize, T)>> {
    let (mut read, mut wrong) = (vec![], vec![]);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (at, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(Object(value)) => read.push((at, value)),
            Err(error) => {
                let said = error.to_string().replace(" at line 1 column ", " at column ");
                let said = said.strip_suffix(" at column 0").unwrap_or(&said);
                wrong.push((at, format!("{said} [json]")));
            }
        }
    }
    refuse_all(wrong, what)?;
    Ok(read)
}

fn refuse_all(mut wrong: Vec<(usize, String)>, what: &str) -> Result<()> {
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.sort();
    let count = wrong.len();
    let named: Vec<_> = wrong
        .into_iter()
        .take(MOST_NAMED)
        .map(|(at, message)| format!("{what} on line {at}: {message}"))
        .collect();
    let more = count.saturating_sub(MOST_NAMED);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    Err(refuse(format!("nothing was imported; {}{more}", named.join("; "))))
}
