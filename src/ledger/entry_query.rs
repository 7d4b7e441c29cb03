//! Entries that are looked for, and their lines.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Integer, Nullable, Text};

use super::EntrySource;
use super::lines::bind_all;
use crate::dates::Day;
use crate::db::schema::{entries, entry_lines};
use crate::db::types::{Amount, Exchange, Id};
use crate::db::{Contains, HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::{AccountId, EntryId, MandateId, RecordId, TenantId};
use crate::language::Labels;
use crate::money::{Currency, ExchangeRate, Money};

/// Lines of an entry that are shown at most.
pub(super) const MOST_LINES: i32 = 100;

text_enum! {
    /// Where an entry stands.
    EntryStanding {
        /// Not part of the books yet.
        Draft = "draft",
        /// Posted, and nothing more.
        Posted = "posted",
        /// Posted; each of its lines on accounts of customers and suppliers is settled.
        Reconciled = "reconciled",
        /// Posted in a year that is closed.
        Closed = "closed",
    }
}

/// Whether the year of an entry is closed.
const IS_CLOSED: &str = "(SELECT y.state FROM fiscal_years y WHERE y.tenant_id = e.tenant_id AND y.id = e.fiscal_year_id) = 'closed'";

/// Whether lines of an entry are settled.
const IS_LETTERED: &str = "EXISTS (SELECT 1 FROM reconciliations r WHERE r.tenant_id = e.tenant_id AND r.entry_id = e.id)";

/// Whether none of its lines on accounts of customers and suppliers is left to settle.
const NOTHING_LEFT: &str = "NOT EXISTS (SELECT 1 FROM entry_lines l JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id \
     WHERE l.tenant_id = e.tenant_id AND l.entry_id = e.id AND (a.needs_party OR EXISTS (SELECT 1 FROM account_uses u \
     WHERE u.tenant_id = a.tenant_id AND u.mandate_id = a.mandate_id AND u.account_id = a.id \
     AND u.purpose IN ('receivables', 'payables'))) AND NOT EXISTS (SELECT 1 FROM reconciliations r \
     WHERE r.tenant_id = l.tenant_id AND r.entry_id = l.entry_id AND r.position = l.position))";

/// Which entries are looked for.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) tenant: TenantId,
    pub(super) mandate: MandateId,
    pub(super) from: Option<Day>,
    pub(super) to: Option<Day>,
    pub(super) account: Option<AccountId>,
    pub(super) journal: Option<String>,
    pub(super) standing: Option<EntryStanding>,
    /// The amount of one line, on either side, in whole hundredths.
    pub(super) cents: Option<i64>,
    pub(super) words: Option<Contains>,
}

impl Wanted {
    /// Writes from FROM on.
    fn write<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text(" FROM ");
        sql.rows()?;
        sql.text(" AS e WHERE e.mandate_id = ");
        sql.bind::<Id, _>(&self.mandate)?;
        self.write_days(sql, [" AND e.booked_on >= ", " AND e.booked_on <= "])?;
        if let Some(journal) = &self.journal {
            sql.text(" AND e.journal = ");
            sql.bind::<Text, _>(journal)?;
        }
        if let Some(standing) = self.standing {
            let is_draft = standing == EntryStanding::Draft;
            sql.text(if is_draft { " AND e.state = 'draft'" } else { " AND e.state = 'posted'" });
            match standing {
                EntryStanding::Draft => {}
                EntryStanding::Closed => self.write_closed(sql, " AND e.fiscal_year_id IN ")?,
                EntryStanding::Reconciled => {
                    self.write_closed(sql, " AND e.fiscal_year_id NOT IN ")?;
                    self.write_settled(sql, " AND (")?;
                }
                EntryStanding::Posted => {
                    self.write_closed(sql, " AND e.fiscal_year_id NOT IN ")?;
                    self.write_settled(sql, " AND NOT (")?;
                }
            }
        }
        if self.account.is_some() || self.cents.is_some() {
            self.write_lines(sql)?;
        }
        self.words.iter().try_for_each(|words| sql.contains_all(words))
    }

    /// Writes the closed years after a condition on the year.
    fn write_closed<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
        condition: &'static str,
    ) -> QueryResult<()> {
        sql.text(condition);
        sql.text("(SELECT y.id FROM fiscal_years y WHERE y.tenant_id = ");
        sql.bind::<Id, _>(&self.tenant)?;
        sql.text(" AND y.mandate_id = ");
        sql.bind::<Id, _>(&self.mandate)?;
        sql.text(" AND y.state = 'closed')");
        Ok(())
    }

    /// Writes whether all is settled, from the settled lines of the firm, which are looked up once.
    fn write_settled<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
        condition: &'static str,
    ) -> QueryResult<()> {
        sql.text(condition);
        sql.text("e.id IN (SELECT r.entry_id FROM reconciliations r WHERE r.tenant_id = ");
        sql.bind::<Id, _>(&self.tenant)?;
        sql.text(") AND ");
        sql.text(NOTHING_LEFT);
        sql.text(")");
        Ok(())
    }

    fn write_days<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
        [from, to]: [&'static str; 2],
    ) -> QueryResult<()> {
        for (text, day) in [(from, &self.from), (to, &self.to)] {
            if let Some(day) = day {
                sql.text(text);
                sql.bind::<Date, _>(day)?;
            }
        }
        Ok(())
    }

    /// Writes that one line is on the account and has the amount.
    fn write_lines<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text(" AND e.id IN (SELECT l.entry_id FROM entry_lines l WHERE l.tenant_id = ");
        sql.bind::<Id, _>(&self.tenant)?;
        if let Some(amount) = &self.cents {
            sql.text(" AND l.mandate_id = ");
            sql.bind::<Id, _>(&self.mandate)?;
            sql.text(" AND l.cents = ");
            sql.bind::<BigInt, _>(amount)?;
        }
        if let Some(account) = &self.account {
            sql.text(" AND l.account_id = ");
            sql.bind::<Id, _>(account)?;
        }
        if self.cents.is_none() {
            self.write_days(sql, [" AND l.booked_on >= ", " AND l.booked_on <= "])?;
        }
        sql.text(")");
        Ok(())
    }
}

/// How many entries there are.
struct Count(Wanted);

impl HandWritten for Count {
    type Table = entries::table;
    type SqlType = BigInt;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT count(*)");
        self.0.write(sql)
    }
}

/// A page of entries, the latest day first.
struct Found {
    wanted: Wanted,
    before: Option<(Day, EntryId)>,
    at_most: i64,
}

impl HandWritten for Found {
    type Table = entries::table;
    type SqlType = (
        Id,
        Date,
        (Text, Nullable<BigInt>),
        (Text, Text),
        Text,
        Nullable<Id>,
        (Nullable<Text>, Nullable<Id>),
        (BigInt, Nullable<Amount>),
    );

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT e.id, e.booked_on, e.journal, e.number, e.text, e.voucher, ");
        sql.text("CASE WHEN e.state = 'draft' THEN 'draft' WHEN ");
        sql.text(IS_CLOSED);
        sql.text(" THEN 'closed' WHEN ");
        sql.text(IS_LETTERED);
        sql.text(" AND ");
        sql.text(NOTHING_LEFT);
        sql.text(" THEN 'reconciled' ELSE 'posted' END, e.reverses_id, e.source_kind, e.source_id, (SELECT count(*) FROM entry_lines l WHERE l.tenant_id = e.tenant_id AND l.entry_id = e.id), (SELECT sum(l.debit) FROM entry_lines l WHERE l.tenant_id = e.tenant_id AND l.entry_id = e.id)");
        self.wanted.write(sql)?;
        if let Some((day, id)) = &self.before {
            sql.text(" AND (e.booked_on, e.id) < (");
            sql.bind::<Date, _>(day)?;
            sql.text(", ");
            sql.bind::<Id, _>(id)?;
            sql.text(")");
        }
        sql.text(" ORDER BY e.booked_on DESC, e.id DESC LIMIT ");
        sql.number(self.at_most);
        Ok(())
    }
}

/// An entry that was found.
#[derive(Debug, Queryable)]
pub(super) struct FoundEntry {
    pub(super) id: EntryId,
    pub(super) booked_on: Day,
    /// Journal and, once posted, number.
    pub(super) place: (String, Option<i64>),
    /// Text and voucher.
    pub(super) words: (String, String),
    pub(super) standing: EntryStanding,
    pub(super) reverses_id: Option<EntryId>,
    pub(super) source: (Option<EntrySource>, Option<RecordId>),
    /// How many lines it has, and their debits.
    pub(super) lines: (i64, Option<Money>),
}

/// At most so many of the entries, the latest day first, before a place.
///
/// # Errors
/// The database is away.
pub(super) fn found(
    scope: &mut Read<'_>,
    wanted: Wanted,
    before: Option<(Day, EntryId)>,
    at_most: i64,
) -> Result<Vec<FoundEntry>> {
    scope.load(scope.by_hand(entries::table, Found { wanted, before, at_most }))
}

/// How many entries there are.
///
/// # Errors
/// The database is away.
pub(super) fn count(scope: &mut Read<'_>, wanted: Wanted) -> Result<i64> {
    scope.one("count", scope.by_hand(entries::table, Count(wanted)))
}

/// The first lines of some entries.
struct LinesOf(Vec<EntryId>);

impl HandWritten for LinesOf {
    type Table = entry_lines::table;
    type SqlType = (
        Id,
        Integer,
        Text,
        (Text, Text, Text),
        Nullable<Text>,
        (Amount, Amount),
        (Text, Amount, Amount, Nullable<Exchange>),
        Nullable<Text>,
        Nullable<Text>,
        Nullable<Text>,
    );

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT l.entry_id, l.position, a.number, a.label_fr, a.label_de, a.label_en, l.text, l.debit, l.credit, l.currency, l.currency_debit, l.currency_credit, l.exchange_rate, l.party_name, l.vat_code, (SELECT r.letter FROM reconciliations r WHERE r.tenant_id = l.tenant_id AND r.entry_id = l.entry_id AND r.position = l.position) FROM ");
        sql.rows()?;
        sql.text(" AS l CROSS JOIN accounts a WHERE a.tenant_id = l.tenant_id AND a.id = l.account_id AND l.position <= ");
        sql.bind::<Integer, _>(&MOST_LINES)?;
        sql.text(" AND l.entry_id IN ");
        bind_all(sql, &self.0)?;
        sql.text(" ORDER BY l.entry_id, l.position");
        Ok(())
    }
}

/// A line of an entry.
#[derive(Debug, Queryable)]
pub(super) struct LineOfEntry {
    pub(super) entry_id: EntryId,
    pub(super) position: i32,
    pub(super) account: String,
    pub(super) labels: Labels,
    pub(super) text: Option<String>,
    /// Debit and credit in the currency of the books.
    pub(super) books: (Money, Money),
    /// Currency, debit, credit and rate of the line's own currency.
    pub(super) own: (Currency, Money, Money, Option<ExchangeRate>),
    pub(super) party: Option<String>,
    pub(super) vat_code: Option<String>,
    pub(super) letter: Option<String>,
}

/// The ids, the last repeated up to the next of few lengths: each length makes a statement of its own.
pub(super) fn padded_ids(mut ids: Vec<EntryId>) -> Vec<EntryId> {
    let length = [21, 51, 101].into_iter().find(|length| *length >= ids.len());
    if let Some(last) = ids.last().copied() {
        ids.resize(length.unwrap_or(ids.len()), last);
    }
    ids
}

/// The first lines of the entries, entry by entry.
///
/// # Errors
/// The database is away.
pub(super) fn lines_of(scope: &mut Read<'_>, ids: Vec<EntryId>) -> Result<Vec<LineOfEntry>> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    scope.load(scope.by_hand(entry_lines::table, LinesOf(padded_ids(ids))))
}
