//! The one way to post to a ledger: an entry is checked against every rule, numbered, written as a draft with its lines and
//! posted, all in the caller's transaction and under a commit.
//!
//! What is checked here is said in words; the triggers of the tables refuse what would break the books, whoever writes.

mod entry;
mod rows;
mod rules;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;

pub(crate) use entry::{Commit, Foreign, NewEntry, NewLine, Party, Vat};
pub(crate) use rules::{Breach, Latitude, Rule};

use super::kinds::{EntryState, FiscalYearState, JournalCode};
use crate::dates::{Day, Instant};
use crate::db::connection::AnyConnection;
use crate::db::schema::{accounts, commits, entries, fiscal_years, ledgers, vat_code_rates};
use crate::error::{Code, Error, Result};
use crate::ids::{AccountId, EntryId, FiscalYearId, MandateId, TenantId, UserId};
use crate::money::{Currency, Rate};
use rows::Written;
use rules::{Account, RatePeriod, Year};

impl Commit {
    /// Writes the firm's next commit. Until the transaction ends, nobody else of the firm posts.
    ///
    /// # Errors
    /// The database is away.
    pub(crate) fn next(
        connection: &mut AnyConnection,
        tenant: TenantId,
        by: UserId,
        now: Instant,
    ) -> Result<Self> {
        if let AnyConnection::Postgres(postgres) = connection {
            let (high, _) = uuid::Uuid::from(tenant).as_u64_pair();
            let key = i64::from_ne_bytes(high.to_ne_bytes());
            postgres.batch_execute(&format!("SELECT pg_advisory_xact_lock({key})"))?;
        }
        let last: Option<(i64, Instant)> = commits::table
            .filter(commits::tenant_id.eq(tenant))
            .order(commits::number.desc())
            .limit(1)
            .select((commits::number, commits::committed_at))
            .load(connection)?
            .pop();
        let (number, at) = last.map_or((1, now), |(number, at)| (number + 1, now.max(at)));
        diesel::insert_into(commits::table)
            .values((
                commits::tenant_id.eq(tenant),
                commits::number.eq(number),
                commits::committed_at.eq(at),
                commits::user_id.eq(by),
            ))
            .execute(connection)?;
        Ok(Self { number, by, at })
    }

    /// A commit that is written already, in this transaction.
    pub(crate) const fn written(number: i64, by: UserId, at: Instant) -> Self {
        Self { number, by, at }
    }
}

/// The books of a mandate, open for posting: what the rules need to know of them, the next number of each year and
/// journal, and the entries that are checked and not yet written.
///
/// Open it after [`Commit::next`], which keeps others from posting meanwhile.
pub(crate) struct Book {
    tenant: TenantId,
    mandate: MandateId,
    currency: Currency,
    latitude: Latitude,
    accounts: BTreeMap<String, Account>,
    years: Vec<Year>,
    codes: BTreeMap<String, Vec<RatePeriod>>,
    numbers: BTreeMap<(FiscalYearId, JournalCode), i64>,
    pending: Written,
    /// Keys and reversed entries among those that are not yet written.
    keys: BTreeSet<String>,
    reversed: BTreeSet<EntryId>,
}

/// Entries that wait at most before they are written.
const MOST_PENDING: usize = 500;

impl Book {
    /// Opens the books of a mandate.
    ///
    /// # Errors
    /// The mandate keeps no books.
    pub(crate) fn open(
        connection: &mut AnyConnection,
        tenant: TenantId,
        mandate: MandateId,
        latitude: Latitude,
    ) -> Result<Self> {
        let currency: Option<Currency> = ledgers::table
            .filter(ledgers::tenant_id.eq(tenant))
            .filter(ledgers::mandate_id.eq(mandate))
            .select(ledgers::currency)
            .load(connection)?
            .pop();
        let currency = currency
            .ok_or_else(|| Error::refuse(Code::Conflict, "the mandate keeps no books here"))?;
        let last: Vec<(FiscalYearId, JournalCode, Option<i64>)> = entries::table
            .filter(entries::tenant_id.eq(tenant))
            .filter(entries::mandate_id.eq(mandate))
            .filter(entries::number.is_not_null())
            .group_by((entries::fiscal_year_id, entries::journal))
            .select((entries::fiscal_year_id, entries::journal, diesel::dsl::max(entries::number)))
            .load(connection)?;
        let last = last.into_iter().map(|(year, journal, n)| ((year, journal), n.unwrap_or(0)));
        Ok(Self {
            tenant,
            mandate,
            currency,
            latitude,
            accounts: read_accounts(connection, tenant, mandate)?,
            years: read_years(connection, tenant, mandate)?,
            codes: read_codes(connection, tenant)?,
            numbers: last.collect(),
            pending: Written::default(),
            keys: BTreeSet::new(),
            reversed: BTreeSet::new(),
        })
    }

    /// The currency of the books.
    pub(crate) const fn currency(&self) -> Currency {
        self.currency
    }

    /// The rate of a VAT code on a day of supply, if it has one.
    pub(crate) fn vat_rate(&self, code: &str, supplied_on: Day) -> Option<Rate> {
        let period = self.codes.get(code)?.iter().find(|rate| rate.holds_on(supplied_on))?;
        Some(period.rate)
    }

    /// Checks an entry and numbers it; it is posted by [`Book::write`] at the latest.
    ///
    /// # Errors
    /// The entry breaks a rule.
    pub(crate) fn post(
        &mut self,
        connection: &mut AnyConnection,
        commit: Commit,
        entry: NewEntry,
    ) -> Result<Posted> {
        match self.try_post(connection, commit, entry)? {
            Ok(posted) => Ok(posted),
            Err(breach) => Err(breach.into()),
        }
    }

    /// Like [`Book::post`], for who tells breaches from what else goes wrong.
    ///
    /// # Errors
    /// The database is away.
    pub(crate) fn try_post(
        &mut self,
        connection: &mut AnyConnection,
        commit: Commit,
        entry: NewEntry,
    ) -> Result<Result<Posted, Breach>> {
        let (year, lines) = match self.check(&entry) {
            Ok(checked) => checked,
            Err(breach) => return Ok(Err(breach)),
        };
        if let Some(breach) = self.check_once(connection, &entry)? {
            return Ok(Err(breach));
        }
        let number = self.numbers.entry((year, entry.journal)).or_default();
        *number += 1;
        let posted = Posted { number: *number, commit: commit.number };
        self.keys.extend(entry.idempotency_key.clone());
        self.reversed.extend(entry.reverses);
        let place = (self.tenant, self.mandate, year, self.currency);
        self.pending.add(place, commit, Some(posted), entry, &lines);
        if self.pending.len() >= MOST_PENDING {
            self.write(connection)?;
        }
        Ok(Ok(posted))
    }

    /// What [`Book::try_post`] would refuse, without posting anything: for who posts nothing more and tells what else is
    /// wrong.
    ///
    /// # Errors
    /// The database is away.
    pub(crate) fn breach(
        &mut self,
        connection: &mut AnyConnection,
        entry: NewEntry,
    ) -> Result<Option<Breach>> {
        if let Err(breach) = self.check(&entry) {
            return Ok(Some(breach));
        }
        let breach = self.check_once(connection, &entry)?;
        self.keys.extend(entry.idempotency_key);
        self.reversed.extend(entry.reverses);
        Ok(breach)
    }

    /// Writes an entry down as a draft, after the same checks.
    ///
    /// # Errors
    /// The entry breaks a rule.
    pub(crate) fn draft(
        &mut self,
        connection: &mut AnyConnection,
        by: UserId,
        at: Instant,
        entry: NewEntry,
    ) -> Result<()> {
        let (year, lines) = self.check(&entry)?;
        if let Some(breach) = self.check_once(connection, &entry)? {
            return Err(breach.into());
        }
        self.keys.extend(entry.idempotency_key.clone());
        let place = (self.tenant, self.mandate, year, self.currency);
        self.pending.add(place, Commit { number: 0, by, at }, None, entry, &lines);
        Ok(())
    }

    /// Writes and posts what is checked.
    ///
    /// # Errors
    /// The database refuses, or is away.
    pub(crate) fn write(&mut self, connection: &mut AnyConnection) -> Result<()> {
        std::mem::take(&mut self.pending).write(connection, self.tenant)?;
        self.keys.clear();
        self.reversed.clear();
        Ok(())
    }

    /// The entry that reverses a posted one.
    ///
    /// # Errors
    /// There is no such entry, or it is a draft or a reversal itself.
    pub(crate) fn reversal(
        &mut self,
        connection: &mut AnyConnection,
        of: EntryId,
        on: Day,
        id: EntryId,
        voucher: &str,
    ) -> Result<NewEntry> {
        self.write(connection)?;
        let (original, state) = rows::read(connection, self.tenant, self.mandate, of)?;
        if state == EntryState::Draft {
            let message = "the entry is a draft and cannot be reversed; change or discard it";
            return Err(Breach::new(Rule::ReversedOnce, "reverses", message).into());
        }
        if original.reverses.is_some() {
            let message = "the entry is a reversal itself; post the original anew instead";
            return Err(Breach::new(Rule::ReversedOnce, "reverses", message).into());
        }
        Ok(original.reversed(id, on, original.text.clone(), voucher))
    }

    /// The fiscal year of the entry and the account of each line.
    fn check(&self, entry: &NewEntry) -> Result<(FiscalYearId, Vec<AccountId>), Breach> {
        rules::check_whole(entry)?;
        let mut found = vec![];
        for (at, line) in entry.lines.iter().enumerate() {
            let here = |(rule, field, message): (Rule, &str, String)| {
                Breach::new(rule, format!("lines[{at}].{field}"), rules::on_line(at, &message))
            };
            let account = self.accounts.get(&line.account);
            let account = rules::check_account(line, account, self.currency).map_err(here)?;
            if let Some(vat) = &line.vat {
                let supplied_on = line.supplied_on.unwrap_or(entry.booked_on);
                rules::check_vat(vat, supplied_on, &self.codes).map_err(here)?;
            }
            found.push(account.id);
        }
        let year = rules::year_of(&self.years, entry.booked_on, self.latitude)?;
        Ok((year.id, found))
    }

    /// The rule that a second use of a key, or a second reversal, breaks.
    fn check_once(
        &self,
        connection: &mut AnyConnection,
        entry: &NewEntry,
    ) -> Result<Option<Breach>> {
        let ours = entries::table.filter(entries::tenant_id.eq(self.tenant));
        if let Some(key) = &entry.idempotency_key {
            let held = ours.filter(entries::idempotency_key.eq(key)).count();
            if self.keys.contains(key) || held.get_result::<i64>(connection)? > 0 {
                let message = format!(
                    "key {key} was used for another entry; leave out what is posted, or give a key of its own"
                );
                return Ok(Some(Breach::new(Rule::KeyOnce, "key", message)));
            }
        }
        if let Some(original) = entry.reverses {
            let held = ours.filter(entries::reverses_id.eq(original)).count();
            if self.reversed.contains(&original) || held.get_result::<i64>(connection)? > 0 {
                let message = "the entry is reversed already; post what is right as a new entry";
                return Ok(Some(Breach::new(Rule::ReversedOnce, "reverses", message)));
            }
        }
        Ok(None)
    }
}

/// What an entry became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posted {
    /// Its number in its fiscal year and journal.
    pub(crate) number: i64,
    /// The commit that it belongs to.
    pub(crate) commit: i64,
}

fn read_accounts(
    connection: &mut AnyConnection,
    tenant: TenantId,
    mandate: MandateId,
) -> Result<BTreeMap<String, Account>> {
    type Row = (String, AccountId, Option<Currency>, bool, bool, bool);
    let rows: Vec<Row> = accounts::table
        .filter(accounts::tenant_id.eq(tenant))
        .filter(accounts::mandate_id.eq(mandate))
        .select((
            accounts::number,
            accounts::id,
            accounts::currency,
            accounts::is_postable,
            accounts::is_active,
            accounts::needs_party,
        ))
        .load(connection)?;
    let account = |(number, id, currency, is_postable, is_active, needs_party)| {
        (number, Account { id, currency, is_postable, is_active, needs_party })
    };
    Ok(rows.into_iter().map(account).collect())
}

fn read_years(
    connection: &mut AnyConnection,
    tenant: TenantId,
    mandate: MandateId,
) -> Result<Vec<Year>> {
    type Row = (FiscalYearId, String, Day, Day, FiscalYearState, Option<Day>);
    let rows: Vec<Row> = fiscal_years::table
        .filter(fiscal_years::tenant_id.eq(tenant))
        .filter(fiscal_years::mandate_id.eq(mandate))
        .select((
            fiscal_years::id,
            fiscal_years::label,
            fiscal_years::starts_on,
            fiscal_years::ends_on,
            fiscal_years::state,
            fiscal_years::locked_through,
        ))
        .load(connection)?;
    let year = |(id, label, starts_on, ends_on, state, locked_through)| Year {
        id,
        label,
        starts_on,
        ends_on,
        state,
        locked_through,
    };
    Ok(rows.into_iter().map(year).collect())
}

fn read_codes(
    connection: &mut AnyConnection,
    tenant: TenantId,
) -> Result<BTreeMap<String, Vec<RatePeriod>>> {
    let mut codes: BTreeMap<String, Vec<RatePeriod>> = BTreeMap::new();
    let rates: Vec<(String, Day, Option<Day>, Rate)> = vat_code_rates::table
        .filter(vat_code_rates::tenant_id.eq(tenant))
        .select((
            vat_code_rates::code,
            vat_code_rates::valid_from,
            vat_code_rates::valid_to,
            vat_code_rates::rate_percent,
        ))
        .load(connection)?;
    for (code, from, to, rate) in rates {
        codes.entry(code).or_default().push(RatePeriod { from, to, rate });
    }
    Ok(codes)
}
