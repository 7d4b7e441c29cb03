//! What the books say about VAT in a span of days, as known at a posting.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Integer, Nullable, Text};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::dates::Day;
use crate::db::schema::entry_lines;
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::{EntryId, MandateId};
use crate::ledger::{AccountKind, VatPart};
use crate::money::Money;

/// The postings of a mandate that count: booked on these days, both included, and known up to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    mandate: Uuid,
    pub(super) from: Day,
    pub(super) to: Day,
    pub(super) commit: i64,
}

impl Span {
    /// The postings of a mandate on these days.
    pub(super) fn new(mandate: MandateId, from: Day, to: Day, commit: i64) -> Self {
        Self { mandate: mandate.into(), from, to, commit }
    }

    /// The mandate.
    pub(super) fn mandate(&self) -> MandateId {
        self.mandate.into()
    }
}

/// A [`Span`] with its mandate as a value to bind.
#[derive(Debug, Clone, Copy)]
struct Bound {
    mandate: MandateId,
    span: Span,
}

impl From<Span> for Bound {
    fn from(span: Span) -> Self {
        Self { mandate: span.mandate(), span }
    }
}

impl Bound {
    /// Writes the posted lines `l` with their entries `e`, accounts `a` and rates `r` of the day of supply, to be narrowed by
    /// further conditions.
    fn write<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
        from: &'static str,
    ) -> QueryResult<()> {
        sql.text(from);
        sql.rows()?;
        sql.text(
            " AS l JOIN entries e ON e.tenant_id = l.tenant_id AND e.id = l.entry_id AND e.commit_number <= ",
        );
        sql.bind::<BigInt, _>(&self.span.commit)?;
        sql.text(
            " JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id \
             LEFT JOIN vat_code_rates r ON r.tenant_id = l.tenant_id AND r.code = l.vat_code \
             AND r.valid_from <= coalesce(l.supplied_on, l.booked_on) \
             AND (r.valid_to IS NULL OR r.valid_to >= coalesce(l.supplied_on, l.booked_on))",
        );
        self.write_days(sql, " WHERE l.mandate_id = ", " AND l.booked_on BETWEEN ")
    }

    fn write_days<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
        mandate: &'static str,
        days: &'static str,
    ) -> QueryResult<()> {
        sql.text(mandate);
        sql.bind::<Id, _>(&self.mandate)?;
        sql.text(days);
        sql.bind::<Date, _>(&self.span.from)?;
        sql.text(" AND ");
        sql.bind::<Date, _>(&self.span.to)
    }
}

/// Where the lines come from.
const FROM: &str = " FROM ";
/// Carrying over and closing are no supplies, nor is what settles a return against 2201.
const NO_SETTLEMENT: &str = " AND e.journal NOT IN ('ANO', 'CLO') AND l.entry_id NOT IN \
     (SELECT s.entry_id FROM entry_lines s JOIN accounts t ON t.tenant_id = s.tenant_id AND t.id = s.account_id \
     WHERE substr(t.number, 1, 4) = '2201'";

/// Posted lines with the same code, part, account and rate, summed.
#[derive(Debug, Clone, Queryable)]
pub(super) struct Group {
    pub(super) code: String,
    pub(super) part: VatPart,
    pub(super) kind: AccountKind,
    pub(super) account: String,
    /// The first day of the rate of the day of supply; none if no rate was in force.
    pub(super) rate_from: Option<Day>,
    pub(super) debit: Money,
    pub(super) credit: Money,
    pub(super) lines: i64,
    /// Lines at another rate than that of their day of supply.
    pub(super) off_rate: i64,
}

struct Groups(Bound);

impl HandWritten for Groups {
    type Table = entry_lines::table;
    type SqlType = (Text, Text, Text, Text, Nullable<Date>, Amount, Amount, BigInt, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text(
            "SELECT l.vat_code, l.vat_part, a.kind, a.number, r.valid_from, sum(l.debit), sum(l.credit), count(*), \
             sum(CASE WHEN l.vat_rate_percent = r.rate_percent THEN 0 ELSE 1 END)",
        );
        self.0.write(sql, FROM)?;
        sql.text(
            " AND l.vat_code IS NOT NULL GROUP BY l.vat_code, l.vat_part, a.kind, a.number, r.valid_from \
             ORDER BY l.vat_code, a.number, l.vat_part, r.valid_from",
        );
        Ok(())
    }
}

/// The lines with a VAT code, summed.
pub(super) fn groups(scope: &mut Read<'_>, span: Span) -> Result<Vec<Group>> {
    scope.load(scope.by_hand(entry_lines::table, Groups(span.into())))
}

/// What an account moved: number, credit less debit, lines.
#[derive(Debug, Clone, Queryable)]
pub(super) struct Moved {
    pub(super) account: String,
    pub(super) amount: Money,
    pub(super) lines: i64,
}

/// Which accounts' movements are meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which {
    /// Those that take VAT, without what was settled.
    Vat,
    /// Those of revenue.
    Revenue,
    /// Those of revenue, only lines without a VAT code.
    UncodedRevenue,
    /// Those of revenue that belong to no activity, only lines without a VAT code.
    UnassignedRevenue,
}

struct Movements {
    bound: Bound,
    which: Which,
}

impl HandWritten for Movements {
    type Table = entry_lines::table;
    type SqlType = (Text, Amount, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT a.number, sum(l.credit - l.debit), count(*)");
        self.bound.write(sql, FROM)?;
        sql.text(NO_SETTLEMENT);
        let days = " AND s.booked_on BETWEEN ";
        self.bound.write_days(sql, " AND s.mandate_id = ", days)?;
        sql.text(")");
        match self.which {
            Which::Vat => sql.text(" AND substr(a.number, 1, 4) IN ('1170', '1171', '2200')"),
            Which::Revenue => sql.text(" AND a.kind = 'income'"),
            Which::UncodedRevenue => sql.text(" AND a.kind = 'income' AND l.vat_code IS NULL"),
            Which::UnassignedRevenue => {
                sql.text(
                    " AND a.kind = 'income' AND l.vat_code IS NULL AND a.vat_activity IS NULL",
                );
            }
        }
        sql.text(" GROUP BY a.number ORDER BY a.number");
        Ok(())
    }
}

/// What accounts moved, by number.
pub(super) fn movements(scope: &mut Read<'_>, span: Span, which: Which) -> Result<Vec<Moved>> {
    let bound = span.into();
    scope.load(scope.by_hand(entry_lines::table, Movements { bound, which }))
}

/// A line, as a figure's proof lists it.
#[derive(Debug, Clone, Queryable)]
pub(super) struct Line {
    pub(super) entry: EntryId,
    pub(super) position: i32,
    pub(super) on: Day,
    pub(super) supplied_on: Day,
    pub(super) number: String,
    pub(super) text: String,
    pub(super) account: String,
    pub(super) kind: AccountKind,
    pub(super) activity: Option<String>,
    pub(super) code: Option<String>,
    pub(super) part: Option<VatPart>,
    /// Credit less debit.
    pub(super) amount: Money,
    pub(super) rate_from: Option<Day>,
}

/// Columns of a [`Line`]; a line without a text of its own has that of its entry.
const LINE: &str = "l.entry_id, l.position, l.booked_on, coalesce(l.supplied_on, l.booked_on), \
     e.journal || ' ' || CAST(e.number AS TEXT), coalesce(l.text, e.text), a.number, a.kind, a.vat_activity, \
     l.vat_code, l.vat_part, l.credit - l.debit, r.valid_from";
type LineSql = (
    Id,
    Integer,
    Date,
    Date,
    Text,
    Text,
    Text,
    Text,
    Nullable<Text>,
    Nullable<Text>,
    Nullable<Text>,
    Amount,
    Nullable<Date>,
);

struct NetRateLines(Bound);

impl HandWritten for NetRateLines {
    type Table = entry_lines::table;
    type SqlType = LineSql;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT ");
        sql.text(LINE);
        self.0.write(sql, FROM)?;
        sql.text(
            " AND (l.vat_code IS NOT NULL OR (a.kind = 'income' AND a.vat_activity IS NOT NULL \
             AND e.journal NOT IN ('ANO', 'CLO'))) ORDER BY l.booked_on, l.entry_id, l.position",
        );
        Ok(())
    }
}

/// Every line that the net-rate method looks at, entry after entry: those with a VAT code, and revenue of an activity. The
/// method is open only to turnovers below some five million, so that they fit in memory.
pub(super) fn net_rate_lines(scope: &mut Read<'_>, span: Span) -> Result<Vec<Line>> {
    scope.load(scope.by_hand(entry_lines::table, NetRateLines(span.into())))
}

/// The lines of one group that enter a figure, through which term and with which sign.
#[derive(Debug, Clone)]
pub(super) struct Selector {
    pub(super) term: i32,
    pub(super) sign: i32,
    pub(super) code: String,
    pub(super) part: VatPart,
    pub(super) kind: AccountKind,
    /// The first day of the rate, or [`Day::FIRST`] if none was in force.
    pub(super) rate_from: Day,
}

/// Where a row of a proof stands: day, entry, line, term.
pub(super) type Place = (Day, EntryId, i32, i32);

struct Selected {
    bound: Bound,
    selectors: Vec<Selector>,
    after: Option<Place>,
    at_most: i64,
}

/// A line that enters a figure.
#[derive(Debug, Queryable)]
pub(super) struct SelectedLine {
    pub(super) term: i32,
    pub(super) on: Day,
    pub(super) entry: EntryId,
    pub(super) position: i32,
    pub(super) number: String,
    pub(super) text: String,
    pub(super) amount: Money,
}

impl HandWritten for Selected {
    type Table = entry_lines::table;
    type SqlType = (Integer, Date, Id, Integer, Text, Text, Amount);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("WITH s (term, sign, code, part, kind, rate_from) AS (VALUES ");
        for (at, one) in self.selectors.iter().enumerate() {
            sql.text(if at == 0 { "(" } else { ", (" });
            sql.number(one.term.into());
            sql.text(", ");
            sql.number(one.sign.into());
            sql.text(", ");
            sql.bind::<Text, _>(&one.code)?;
            sql.text(", ");
            sql.bind::<Text, _>(&one.part)?;
            sql.text(", ");
            sql.bind::<Text, _>(&one.kind)?;
            sql.text(", ");
            sql.bind::<Date, _>(&one.rate_from)?;
            sql.text(")");
        }
        sql.text(
            ") SELECT s.term, l.booked_on, l.entry_id, l.position, e.journal || ' ' || CAST(e.number AS TEXT), \
             coalesce(l.text, e.text), s.sign * (l.credit - l.debit)",
        );
        self.bound.write(sql, " FROM s, ")?;
        sql.text(
            " AND s.code = l.vat_code AND s.part = l.vat_part AND s.kind = a.kind AND s.rate_from = coalesce(r.valid_from, ",
        );
        sql.bind::<Date, _>(&Day::FIRST)?;
        sql.text(")");
        if let Some((on, entry, position, term)) = &self.after {
            sql.text(" AND (l.booked_on, l.entry_id, l.position, s.term) > (");
            sql.bind::<Date, _>(on)?;
            sql.text(", ");
            sql.bind::<Id, _>(entry)?;
            sql.text(", ");
            sql.bind::<Integer, _>(position)?;
            sql.text(", ");
            sql.bind::<Integer, _>(term)?;
            sql.text(")");
        }
        sql.text(" ORDER BY l.booked_on, l.entry_id, l.position, s.term LIMIT ");
        sql.number(self.at_most);
        Ok(())
    }
}

/// The lines that enter a figure, in the order of their days, at most so many after a place.
pub(super) fn selected(
    scope: &mut Read<'_>,
    span: Span,
    selectors: Vec<Selector>,
    after: Option<Place>,
    at_most: i64,
) -> Result<Vec<SelectedLine>> {
    if selectors.is_empty() {
        return Ok(vec![]);
    }
    let query = Selected { bound: span.into(), selectors, after, at_most };
    scope.load(scope.by_hand(entry_lines::table, query))
}
