//! Posted lines one by one: what a figure is the sum of, and what a statement lists.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Integer, Nullable, Text};

use crate::dates::Day;
use crate::db::schema::entry_lines;
use crate::db::types::{Amount, Exchange, Id};
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::{AccountId, EntryId};
use crate::money::{Currency, ExchangeRate, Money};

/// The journal of the entries that close a year.
pub(super) const CLOSING_JOURNAL: &str = "CLO";

/// Which posted lines are meant.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    /// Of these accounts, at least one.
    accounts: Vec<AccountId>,
    /// From this day.
    pub(super) from: Day,
    /// Until the end of this day.
    pub(super) to: Day,
    /// Only these accounts before that day: the others restarted on it.
    carried: Option<(Day, Vec<AccountId>)>,
    /// Of entries up to this posting.
    pub(super) known: i64,
    /// Only in this currency.
    pub(super) currency: Option<Currency>,
    /// Without the entries that close a year.
    pub(super) closing: Closing,
}

/// Whether the entries that close a year count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// They do, like any other.
    Counted,
    /// They do not: they carry a result elsewhere, and are no part of it.
    LeftOut,
}

/// Repeats the last id up to the next of few lengths: each length makes a statement of its own.
fn padded(mut ids: Vec<AccountId>) -> Vec<AccountId> {
    let length = [1, 8, 32, 128, 512].into_iter().find(|length| *length >= ids.len());
    if let Some(last) = ids.last().copied() {
        ids.resize(length.unwrap_or(ids.len()), last);
    }
    ids
}

impl Lines {
    /// The lines of `accounts`, all in the currency of the books, in any journal.
    pub(super) fn of(accounts: Vec<AccountId>, from: Day, to: Day, known: i64) -> Self {
        let accounts = padded(accounts);
        let (carried, currency, closing) = (None, None, Closing::Counted);
        Self { accounts, from, to, carried, known, currency, closing }
    }

    /// The same, but before `since` only lines of the accounts in `carried`.
    pub(super) fn restarting(mut self, since: Day, carried: Vec<AccountId>) -> Self {
        let is_mixed = !carried.is_empty() && self.accounts.iter().any(|id| !carried.contains(id));
        if is_mixed {
            self.carried = Some((since, padded(carried)));
        } else if carried.is_empty() {
            self.from = self.from.max(since);
        }
        self
    }

    /// Writes from FROM on, without what may follow WHERE.
    fn write<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text(" FROM ");
        sql.rows()?;
        // Each line looks up its entry, and never the other way round.
        sql.text(" AS l CROSS JOIN entries e WHERE e.tenant_id = l.tenant_id AND e.id = l.entry_id AND l.account_id IN ");
        bind_all(sql, &self.accounts)?;
        sql.text(" AND l.booked_on >= ");
        sql.bind::<Date, _>(&self.from)?;
        sql.text(" AND l.booked_on <= ");
        sql.bind::<Date, _>(&self.to)?;
        if let Some((since, carried)) = &self.carried {
            sql.text(" AND (l.booked_on >= ");
            sql.bind::<Date, _>(since)?;
            sql.text(" OR l.account_id IN ");
            bind_all(sql, carried)?;
            sql.text(")");
        }
        if let Some(currency) = &self.currency {
            sql.text(" AND l.currency = ");
            sql.bind::<Text, _>(currency)?;
        }
        if self.closing == Closing::LeftOut {
            sql.text(" AND e.journal <> ");
            sql.bind::<Text, _>(&CLOSING_JOURNAL)?;
        }
        sql.text(" AND e.commit_number <= ");
        sql.bind::<BigInt, _>(&self.known)
    }
}

/// Writes `(?, ?, …)`.
pub(super) fn bind_all<'b, V>(sql: &mut HandWrittenSql<'_, 'b>, ids: &'b [V]) -> QueryResult<()>
where
    V: diesel::serialize::ToSql<Id, crate::db::connection::MultiBackend>,
{
    for (at, id) in ids.iter().enumerate() {
        sql.text(if at == 0 { "(" } else { ", " });
        sql.bind::<Id, _>(id)?;
    }
    sql.text(")");
    Ok(())
}

/// The sums of lines by part: those before a day apart from those since, and of the latter debits from credits.
struct Parts {
    lines: Lines,
    since: Day,
}

impl HandWritten for Parts {
    type Table = entry_lines::table;
    type SqlType = (Integer, Amount, Amount, Amount, Amount, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT CASE WHEN l.booked_on < ");
        sql.bind::<Date, _>(&self.since)?;
        sql.text(" THEN 0 WHEN l.debit > 0 THEN 1 ELSE 2 END, sum(l.debit), sum(l.credit), sum(l.currency_debit), sum(l.currency_credit), count(*)");
        self.lines.write(sql)?;
        sql.text(" GROUP BY 1");
        Ok(())
    }
}

/// The sums of lines of one part.
#[derive(Debug, Clone, Copy, Queryable)]
pub(super) struct PartSums {
    /// 0 before the day, 1 debits since, 2 credits since.
    pub(super) part: i32,
    pub(super) debit: Money,
    pub(super) credit: Money,
    pub(super) currency_debit: Money,
    pub(super) currency_credit: Money,
    pub(super) count: i64,
}

/// The sums of the lines by part.
///
/// # Errors
/// The database is away.
pub(super) fn parts(scope: &mut Read<'_>, lines: Lines, since: Day) -> Result<Vec<PartSums>> {
    scope.load(scope.by_hand(entry_lines::table, Parts { lines, since }))
}

/// Where a line stands in the order of a list.
pub(super) type Place = (Day, EntryId, i32);

/// Lines in the order of their days, after a place.
struct Listed {
    lines: Lines,
    after: Option<Place>,
    at_most: i64,
}

impl HandWritten for Listed {
    type Table = entry_lines::table;
    type SqlType = (
        Date,
        Id,
        Integer,
        Id,
        (Text, BigInt, Text, Text),
        Nullable<Text>,
        (Amount, Amount, Text, Amount, Amount, Nullable<Exchange>),
        Nullable<Text>,
        Nullable<Text>,
    );

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT l.booked_on, l.entry_id, l.position, l.account_id, e.journal, e.number, e.text, e.voucher, l.text, l.debit, l.credit, l.currency, l.currency_debit, l.currency_credit, l.exchange_rate, l.party_name, l.vat_code");
        self.lines.write(sql)?;
        if let Some((day, entry, position)) = &self.after {
            sql.text(" AND (l.booked_on, l.entry_id, l.position) > (");
            sql.bind::<Date, _>(day)?;
            sql.text(", ");
            sql.bind::<Id, _>(entry)?;
            sql.text(", ");
            sql.bind::<Integer, _>(position)?;
            sql.text(")");
        }
        sql.text(" ORDER BY l.booked_on, l.entry_id, l.position LIMIT ");
        sql.number(self.at_most);
        Ok(())
    }
}

/// A posted line and its entry.
#[derive(Debug, Clone, Queryable)]
pub(super) struct PostedLine {
    pub(super) booked_on: Day,
    pub(super) entry_id: EntryId,
    pub(super) position: i32,
    pub(super) account_id: AccountId,
    pub(super) entry: OfEntry,
    pub(super) text: Option<String>,
    pub(super) amounts: Amounts,
    pub(super) party: Option<String>,
    pub(super) vat_code: Option<String>,
}

/// The entry of a line.
#[derive(Debug, Clone, Queryable)]
pub(super) struct OfEntry {
    pub(super) journal: String,
    pub(super) number: i64,
    pub(super) text: String,
    pub(super) voucher: String,
}

/// What a line posts.
#[derive(Debug, Clone, Copy, Queryable)]
pub(super) struct Amounts {
    pub(super) debit: Money,
    pub(super) credit: Money,
    pub(super) currency: Currency,
    pub(super) currency_debit: Money,
    pub(super) currency_credit: Money,
    pub(super) exchange_rate: Option<ExchangeRate>,
}

impl PostedLine {
    /// Where it stands.
    pub(super) fn place(&self) -> Place {
        (self.booked_on, self.entry_id, self.position)
    }

    /// The number of its entry with the journal: `BNQ 12`.
    pub(super) fn number(&self) -> String {
        format!("{} {}", self.entry.journal, self.entry.number)
    }

    /// Its own text, or else that of its entry.
    pub(super) fn said(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.entry.text)
    }
}

/// At most so many of the lines, in the order of their days, after a place.
///
/// # Errors
/// The database is away.
pub(super) fn listed(
    scope: &mut Read<'_>,
    lines: Lines,
    after: Option<Place>,
    at_most: i64,
) -> Result<Vec<PostedLine>> {
    scope.load(scope.by_hand(entry_lines::table, Listed { lines, after, at_most }))
}
