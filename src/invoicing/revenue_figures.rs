//! What a figure of revenue is the sum of: documents, or lines by service.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Integer, Text};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Document;
use super::breakdown::groups;
use super::figures::{Reached, ShortDay, total};
use super::revenue::{Billed, GroupBy, sums};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::invoices;
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{Currency, Money};
use crate::reports::{ExplainedRow, Explanation, Figure, FigureSource, KnownOn, Part};

/// Which report a figure stands in, and so what its parts are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Names {
    /// A group of `get_revenue`.
    Group,
    /// A total of `get_revenue`, with what rounding added.
    Total,
    /// The revenue of `get_firm_overview`.
    Overview,
}

/// Place of the part that is rounding and not revenue.
const ROUNDING: i32 = 2;

impl Names {
    const fn parts(self) -> &'static [&'static str] {
        match self {
            Self::Group => &["revenue", "previous"],
            Self::Total => &["revenue", "previous", "rounding"],
            Self::Overview => &["month", "month_of_previous_year", "year", "year_of_previous_year"],
        }
    }
}

/// Which documents or lines among those of its report a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Among {
    /// All documents.
    All,
    /// Those of no mandate.
    OfNoMandate,
    /// The lines of a service, or of none.
    OfService(Option<Uuid>),
    /// What is left after so many groups.
    Others(GroupBy, u8),
}

/// A figure, or the figures of a row.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RevenueFigure {
    names: Names,
    periods: Vec<(ShortDay, ShortDay)>,
    commit: i64,
    client: Option<Uuid>,
    mandate: Option<Uuid>,
    responsible: Option<Uuid>,
    currency: Currency,
    among: Among,
    reached: Reached,
    /// All parts together, in hundredths.
    sum: i64,
}

impl RevenueFigure {
    /// The handle of the figures in `currency` whose parts add up to `sum`.
    pub(crate) fn handle(
        scope: &Read<'_>,
        (names, among): (Names, Among),
        billed: &Billed,
        currency: Currency,
        sum: Money,
    ) -> Result<Figure> {
        let short = |(from, to): &(Day, Day)| (ShortDay::from(*from), ShortDay::from(*to));
        scope.figure(&Self {
            names,
            periods: billed.periods.iter().map(short).collect(),
            commit: billed.commit,
            client: billed.client.map(Uuid::from),
            mandate: billed.mandate.map(Uuid::from),
            responsible: billed.responsible.map(Uuid::from),
            currency,
            among,
            reached: Reached::of(scope),
            sum: sum.minor(),
        })
    }

    fn billed(&self) -> Billed {
        let periods = self.periods.iter().map(|(from, to)| (Day::from(*from), Day::from(*to)));
        Billed {
            periods: periods.collect(),
            commit: self.commit,
            client: self.client.map(Into::into),
            mandate: self.mandate.map(Into::into),
            responsible: self.responsible.map(Into::into),
            currency: None,
        }
    }

    /// The condition for its documents and lines.
    fn only(&self, scope: &mut Read<'_>) -> Result<Only> {
        Ok(match self.among {
            Among::All => Only::All,
            Among::OfNoMandate => Only::Among(GroupBy::Mandate, vec![], IsNull::Only),
            Among::OfService(None) => Only::Among(GroupBy::Service, vec![], IsNull::Only),
            Among::OfService(Some(id)) => {
                Only::Among(GroupBy::Service, vec![id.into()], IsNull::Out)
            }
            Among::Others(by, shown) => {
                let (rows, _) = sums(scope, self.billed(), Some(by))?;
                let shown = groups(rows)?.into_iter().take(usize::from(shown));
                let keys = shown.filter(|group| group.currency == self.currency);
                let keys: Vec<Option<RecordId>> = keys.map(|group| group.key).collect();
                let null = if keys.contains(&None) { IsNull::Out } else { IsNull::In };
                Only::Outside(by, keys.into_iter().flatten().collect(), null)
            }
        })
    }
}

/// What becomes of documents without a mandate, and of lines without a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsNull {
    Only,
    In,
    Out,
}

/// A condition on documents, or on lines by service.
#[derive(Debug, Clone)]
enum Only {
    All,
    Among(GroupBy, Vec<RecordId>, IsNull),
    Outside(GroupBy, Vec<RecordId>, IsNull),
}

impl Only {
    const fn of_lines(&self) -> bool {
        matches!(self, Self::Among(GroupBy::Service, ..) | Self::Outside(GroupBy::Service, ..))
    }

    fn write<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        let (by, keys, null, is_outside) = match self {
            Self::All => {
                sql.text(" WHERE TRUE");
                return Ok(());
            }
            Self::Among(by, keys, null) => (by, keys, *null, false),
            Self::Outside(by, keys, null) => (by, keys, *null, true),
        };
        let (is_null, is_in, is_not_in) = match by {
            GroupBy::Service => {
                ("l.service_id IS NULL", "l.service_id IN (", "l.service_id NOT IN (")
            }
            GroupBy::Mandate => {
                ("r.mandate_id IS NULL", "r.mandate_id IN (", "r.mandate_id NOT IN (")
            }
            GroupBy::Client | GroupBy::Month => {
                ("r.client_id IS NULL", "r.client_id IN (", "r.client_id NOT IN (")
            }
        };
        sql.text(" WHERE (");
        if null == IsNull::Only || keys.is_empty() {
            sql.text(if null == IsNull::Out { "NOT " } else { "" });
            sql.text(if null == IsNull::In { "TRUE" } else { is_null });
        } else {
            if null == IsNull::In {
                sql.text(is_null);
                sql.text(" OR ");
            }
            sql.text(if is_outside { is_not_in } else { is_in });
            for (at, key) in keys.iter().enumerate() {
                sql.text(if at == 0 { "" } else { ", " });
                sql.bind::<Id, _>(key)?;
            }
            sql.text(")");
        }
        sql.text(")");
        Ok(())
    }
}

/// The records of a figure as rows `x`.
struct Counted {
    billed: Billed,
    only: Only,
    names: Names,
}

impl Counted {
    fn write<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
        columns: &'static str,
    ) -> QueryResult<()> {
        self.billed.write(sql)?;
        sql.text(columns);
        sql.text(if self.only.of_lines() {
            " FROM (SELECT r.part, r.issued_on, r.id, l.position, r.document, r.number, l.description AS text, r.sign * l.net AS amount FROM r JOIN invoice_lines l ON l.tenant_id = r.tenant_id AND l.invoice_id = r.id"
        } else {
            " FROM (SELECT r.part, r.issued_on, r.id, 0 AS position, r.document, r.number, r.title AS text, r.net AS amount FROM r"
        });
        self.only.write(sql)?;
        if self.names == Names::Total {
            sql.text(" UNION ALL SELECT 2, r.issued_on, r.id, 0, r.document, r.number, r.title, r.rounding FROM r WHERE r.part = 0 AND r.rounding <> 0");
        }
        sql.text(") AS x");
        Ok(())
    }
}

/// The sums of the parts.
struct Parts(Counted);

impl HandWritten for Parts {
    type Table = invoices::table;
    type SqlType = (Integer, Amount, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        self.0.write(sql, " SELECT x.part, sum(x.amount), count(*)")?;
        sql.text(" GROUP BY x.part");
        Ok(())
    }
}

/// Where a record stands: part, day, document, line.
type Place = (i32, Day, RecordId, i32);

/// A page of the records.
struct Rows {
    counted: Counted,
    after: Option<Place>,
    at_most: i64,
}

impl HandWritten for Rows {
    type Table = invoices::table;
    type SqlType = (Integer, Date, Id, Integer, Text, Text, Text, Amount);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        let columns =
            " SELECT x.part, x.issued_on, x.id, x.position, x.document, x.number, x.text, x.amount";
        self.counted.write(sql, columns)?;
        if let Some((part, day, id, position)) = &self.after {
            sql.text(" WHERE (x.part, x.issued_on, x.id, x.position) > (");
            sql.bind::<Integer, _>(part)?;
            sql.text(", ");
            sql.bind::<Date, _>(day)?;
            sql.text(", ");
            sql.bind::<Id, _>(id)?;
            sql.text(", ");
            sql.bind::<Integer, _>(position)?;
            sql.text(")");
        }
        sql.text(" ORDER BY x.part, x.issued_on, x.id, x.position LIMIT ");
        sql.number(self.at_most);
        Ok(())
    }
}

/// A record.
#[derive(Debug, Serialize, Queryable)]
struct Row {
    part: i32,
    on: Day,
    id: RecordId,
    position: i32,
    document: Document,
    number: String,
    text: String,
    amount: Money,
}

impl FigureSource for RevenueFigure {
    const TAG: u8 = 31;
    const PERMISSION: Permission = Permission::RevenueRead;

    fn explain(&self, scope: &mut Read<'_>, paging: &Paging) -> Result<Explanation> {
        self.reached.check(scope)?;
        let only = self.only(scope)?;
        let billed = Billed { currency: Some(self.currency), ..self.billed() };
        let counted = || Counted { billed: billed.clone(), only: only.clone(), names: self.names };
        let found: Vec<(i32, Money, i64)> =
            scope.load(scope.by_hand(invoices::table, Parts(counted())))?;
        if total(found.iter().map(|(_, amount, _)| *amount))?.minor() != self.sum {
            return Err(Error::not_found("figure"));
        }
        let shown = self.periods.len();
        let is_there = |at: i32| usize::try_from(at).is_ok_and(|at| at < shown) || at == ROUNDING;
        let parts = (0_i32..).zip(self.names.parts()).filter(|(at, _)| is_there(*at));
        let part = |(at, part): (i32, &&'static str)| {
            let sum = found.iter().find(|(found, ..)| *found == at);
            let (amount, rows) = sum.map_or((Money::ZERO, 0), |(_, amount, rows)| (*amount, *rows));
            Part { part, currency: self.currency, amount, rows }
        };
        let after = scope.position(paging)?;
        let rows = Rows { counted: counted(), after, at_most: paging.fetch() };
        let rows: Vec<Row> = scope.load(scope.by_hand(invoices::table, rows))?;
        let total = found.iter().map(|(.., rows)| rows).sum();
        let place = |row: &Row| (row.part, row.on, row.id, row.position);
        let page = scope.cut(rows, total, paging, place)?;
        let as_of = billed.periods.first().map_or_else(|| scope.today(), |(_, to)| *to);
        Ok(Explanation {
            figure: format!(
                "invoiced revenue in {}: {}",
                self.currency,
                super::revenue::DEFINITION
            ),
            as_of,
            as_known_on: KnownOn::Commit(self.commit),
            parts: parts.map(part).collect(),
            rule: None,
            rows: page.map(|row| self.explained(row)),
        })
    }
}

impl RevenueFigure {
    fn explained(&self, row: Row) -> ExplainedRow {
        let at = usize::try_from(row.part).unwrap_or_default();
        ExplainedRow {
            part: self.names.parts().get(at).copied().unwrap_or_default(),
            on: row.on,
            record: row.document.as_str(),
            record_id: Some(row.id),
            position: (row.position > 0).then_some(row.position),
            number: Some(row.number),
            text: row.text.into(),
            currency: self.currency,
            amount: row.amount,
            taxed: None,
        }
    }
}
