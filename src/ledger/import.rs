//! Entries that come from another program, one JSON object a line: all of them, or none.

use diesel::prelude::*;
use serde::Deserialize;

use super::chart::{self, NewLedger, PlannedAccount};
use super::kinds::{JournalCode, VatPart};
use super::posting::{Book, Commit, Foreign, Latitude, NewEntry, NewLine, Party, Vat};
use super::years::{self, NewYear};
use crate::dates::{Day, Instant};
use crate::db::connection::AnyConnection;
use crate::db::schema::people::users;
use crate::db::schema::{ledgers, mandates, memberships};
use crate::error::{Code, Error, Result};
use crate::ids::{AccountId, EntryId, FiscalYearId, MandateId, TenantId, UserId};
use crate::money::{Currency, ExchangeRate, Money, Rate};

/// Bad lines that are named at most.
const MOST_NAMED: usize = 20;

/// An entry as a line of the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportedEntry {
    date: Day,
    #[serde(default)]
    journal: Option<JournalCode>,
    text: String,
    voucher: String,
    #[serde(default)]
    key: Option<String>,
    lines: Vec<ImportedLine>,
}

/// A line of an entry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportedLine {
    account: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    debit: Option<Money>,
    #[serde(default)]
    credit: Option<Money>,
    #[serde(default)]
    currency: Option<Currency>,
    #[serde(default)]
    currency_amount: Option<Money>,
    #[serde(default)]
    rate: Option<ExchangeRate>,
    #[serde(default)]
    party: Option<String>,
    #[serde(default)]
    vat_code: Option<String>,
    #[serde(default)]
    vat_part: Option<VatPart>,
    #[serde(default)]
    vat_rate: Option<Rate>,
    #[serde(default)]
    supplied_on: Option<Day>,
}

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
    let mut years = 0;
    if import.missing_years == MissingYears::Create {
        let mut known = years::spans(connection, (tenant, mandate))?;
        for (_, entry) in &entries {
            if known.iter().any(|(first, last)| *first <= entry.date && entry.date <= *last) {
                continue;
            }
            let (starts_on, ends_on) = years::around(entry.date, last_month, &known)?;
            let year = NewYear { id: FiscalYearId::at(now), starts_on, ends_on };
            years::open(connection, (tenant, mandate), year)?;
            known.push((starts_on, ends_on));
            years += 1;
        }
    }
    let mut book = Book::open(connection, tenant, mandate, import.latitude)?;
    let (mut lines, count, mut wrong) = (0, entries.len(), vec![]);
    for (at, entry) in entries {
        lines += entry.lines.len();
        let entry = entry.into_new(&book, EntryId::at(now));
        if let Err(breach) = book.try_post(connection, commit, entry)? {
            wrong.push((at, format!("{} [{}]", breach.message, breach.rule)));
        }
    }
    refuse_all(wrong, "entry")?;
    book.write(connection)?;
    Ok(Imported { accounts, years, entries: count, lines })
}

impl ImportedEntry {
    /// The entry with what the file leaves out filled in: a VAT rate is that of the code on the day of supply.
    fn into_new(self, book: &Book, id: EntryId) -> NewEntry {
        let journal = self.journal.unwrap_or(JournalCode::General);
        let mut entry = NewEntry::new(id, journal, self.date, self.text, self.voucher);
        entry.idempotency_key = self.key;
        let line = |line: ImportedLine| {
            let debit = line.debit.unwrap_or_default();
            let mut new = NewLine::new(line.account, debit, line.credit.unwrap_or_default());
            let currency = line.currency.filter(|currency| *currency != book.currency());
            new.foreign = currency.map(|currency| {
                let amount = line.currency_amount.unwrap_or_default();
                Foreign { currency, amount, rate: line.rate }
            });
            new.vat = line.vat_code.map(|code| {
                let supplied_on = line.supplied_on.unwrap_or(self.date);
                let known = || book.vat_rate(&code, supplied_on).unwrap_or_default();
                let (part, rate) =
                    (line.vat_part.unwrap_or(VatPart::Base), line.vat_rate.unwrap_or_else(known));
                Vat { code, part, rate }
            });
            new.text = line.text;
            new.party = line.party.map(Party::Named);
            new.supplied_on = line.supplied_on;
            new
        };
        entry.lines = self.lines.into_iter().map(line).collect();
        entry
    }
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
    let wanted: Vec<_> = wanted.into_iter().map(|(_, account)| account).collect();
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
    chart::add(connection, ledger, &wanted, |_| AccountId::at(now))
}

/// The lines of a file that are not empty, with their numbers from 1.
fn read_lines<T: for<'de> Deserialize<'de>>(text: &str, what: &str) -> Result<Vec<(usize, T)>> {
    let (mut read, mut wrong) = (vec![], vec![]);
    for (at, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(value) => read.push((at, value)),
            Err(error) => wrong.push((at, format!("{error} [json]"))),
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
