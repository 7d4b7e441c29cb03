//! What a figure of open items is the sum of: invoices, less payments and credit notes.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Integer, Text};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::figures::{Reached, ShortDay, total};
use super::list_open_items::Age;
use super::open_items::{CREDIT, Chosen, bucket_ends, write_bucket};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::invoices;
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{InvoiceId, RecordId};
use crate::money::{Currency, Money};
use crate::reports::{ExplainedRow, Explanation, Figure, FigureSource, KnownOn, Part};

/// The figures of a currency: each bucket and the credit balance.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenFigure {
    as_of: ShortDay,
    commit: i64,
    client: Option<Uuid>,
    mandate: Option<Uuid>,
    responsible: Option<Uuid>,
    currency: Currency,
    due_until: Option<ShortDay>,
    reached: Reached,
    /// All parts together, in hundredths.
    sum: i64,
}

impl OpenFigure {
    /// The handle of the figures in `currency` whose parts add up to `sum`, as known on a posting.
    pub(crate) fn handle(
        scope: &Read<'_>,
        chosen: &Chosen,
        commit: i64,
        currency: Currency,
        sum: Money,
    ) -> Result<Figure> {
        scope.figure(&Self {
            as_of: chosen.as_of.into(),
            commit,
            client: chosen.client.map(Uuid::from),
            mandate: chosen.mandate.map(Uuid::from),
            responsible: chosen.responsible.map(Uuid::from),
            currency,
            due_until: chosen.due_until.map(ShortDay::from),
            reached: Reached::of(scope),
            sum: sum.minor(),
        })
    }

    fn chosen(&self) -> Chosen {
        Chosen {
            as_of: self.as_of.into(),
            known: Some(self.commit),
            client: self.client.map(Into::into),
            mandate: self.mandate.map(Into::into),
            responsible: self.responsible.map(Into::into),
            currency: Some(self.currency),
            due_until: self.due_until.map(Into::into),
        }
    }
}

/// The records behind the open items as rows `x`.
struct Counted {
    chosen: Chosen,
    until: [Day; 4],
}

impl Counted {
    fn write<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
        columns: &'static str,
    ) -> QueryResult<()> {
        self.chosen.write(sql)?;
        sql.text(columns);
        sql.text(" FROM (SELECT ");
        write_bucket(sql, &self.until)?;
        sql.text(" AS bucket, o.due_on, o.id AS invoice_id, 0 AS kind, o.id, o.issued_on AS day, o.number, o.title AS text, o.total AS amount FROM o WHERE o.open <> 0 UNION ALL SELECT ");
        write_bucket(sql, &self.until)?;
        sql.text(", o.due_on, o.id, 1, p.id, p.received_on, o.number, coalesce(p.reference, ''), -p.amount FROM o JOIN payments p ON p.tenant_id = o.tenant_id AND p.invoice_id = o.id WHERE o.open <> 0 AND p.received_on <= ");
        sql.bind::<Date, _>(&self.chosen.as_of)?;
        self.chosen.write_known(sql, " AND p.commit_number <= ")?;
        sql.text(" UNION ALL SELECT ");
        write_bucket(sql, &self.until)?;
        sql.text(", o.due_on, o.id, 2, n.id, n.issued_on, n.number, n.title, -n.total FROM o JOIN invoices n ON n.tenant_id = o.tenant_id AND n.origin_invoice_id = o.id WHERE o.open <> 0 AND n.state = 'issued' AND n.issued_on <= ");
        sql.bind::<Date, _>(&self.chosen.as_of)?;
        self.chosen.write_known(sql, " AND n.commit_number <= ")?;
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
        self.0.write(sql, " SELECT x.bucket, sum(x.amount), count(*)")?;
        sql.text(" GROUP BY x.bucket");
        Ok(())
    }
}

/// Where a record stands: due day, invoice, kind, record.
type Place = (Day, InvoiceId, i32, RecordId);

/// A page of the records.
struct Rows {
    counted: Counted,
    after: Option<Place>,
    at_most: i64,
}

impl HandWritten for Rows {
    type Table = invoices::table;
    type SqlType = (Integer, Date, Id, Integer, Id, Date, Text, Text, Amount);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        let columns = " SELECT x.bucket, x.due_on, x.invoice_id, x.kind, x.id, x.day, x.number, x.text, x.amount";
        self.counted.write(sql, columns)?;
        if let Some((due_on, invoice, kind, id)) = &self.after {
            sql.text(" WHERE (x.due_on, x.invoice_id, x.kind, x.id) > (");
            sql.bind::<Date, _>(due_on)?;
            sql.text(", ");
            sql.bind::<Id, _>(invoice)?;
            sql.text(", ");
            sql.bind::<Integer, _>(kind)?;
            sql.text(", ");
            sql.bind::<Id, _>(id)?;
            sql.text(")");
        }
        sql.text(" ORDER BY x.due_on, x.invoice_id, x.kind, x.id LIMIT ");
        sql.number(self.at_most);
        Ok(())
    }
}

/// A record.
#[derive(Debug, Serialize, Queryable)]
struct Row {
    bucket: i32,
    due_on: Day,
    invoice: InvoiceId,
    kind: i32,
    id: RecordId,
    on: Day,
    number: String,
    text: String,
    amount: Money,
}

/// What a bucket is called as a part.
fn part_of(bucket: i32) -> &'static str {
    let age = usize::try_from(bucket).ok().and_then(|at| Age::ALL.get(at));
    age.map_or("credit_balance", |age| age.as_str())
}

impl FigureSource for OpenFigure {
    const TAG: u8 = 30;
    const PERMISSION: Permission = Permission::InvoiceRead;

    fn explain(&self, scope: &mut Read<'_>, paging: &Paging) -> Result<Explanation> {
        self.reached.check(scope)?;
        let as_of: Day = self.as_of.into();
        let counted = || Counted { chosen: self.chosen(), until: bucket_ends(as_of) };
        let found: Vec<(i32, Money, i64)> =
            scope.load(scope.by_hand(invoices::table, Parts(counted())))?;
        if total(found.iter().map(|(_, amount, _)| *amount))?.minor() != self.sum {
            return Err(Error::not_found("figure"));
        }
        let buckets = (0..).take(Age::ALL.len()).chain([CREDIT]);
        let part = |bucket: i32| {
            let sum = found.iter().find(|(found, ..)| *found == bucket);
            let (amount, rows) = sum.map_or((Money::ZERO, 0), |(_, amount, rows)| (*amount, *rows));
            Part { part: part_of(bucket), currency: self.currency, amount, rows }
        };
        let after = scope.position(paging)?;
        let rows = Rows { counted: counted(), after, at_most: paging.fetch() };
        let rows: Vec<Row> = scope.load(scope.by_hand(invoices::table, rows))?;
        let whole = found.iter().map(|(.., rows)| rows).sum();
        let place = |row: &Row| (row.due_on, row.invoice, row.kind, row.id);
        let page = scope.cut(rows, whole, paging, place)?;
        Ok(Explanation {
            figure: format!("open items in {}, by days past due", self.currency),
            as_of,
            as_known_on: KnownOn::Commit(self.commit),
            parts: buckets.map(part).collect(),
            rule: Some("open is the sum of all parts but credit_balance".into()),
            rows: page.map(|row| self.explained(row)),
        })
    }
}

impl OpenFigure {
    fn explained(&self, row: Row) -> ExplainedRow {
        ExplainedRow {
            part: part_of(row.bucket),
            on: row.on,
            record: match row.kind {
                0 => "invoice",
                1 => "payment",
                _ => "credit_note",
            },
            record_id: Some(row.id),
            position: None,
            number: Some(row.number),
            text: row.text.into(),
            currency: self.currency,
            amount: row.amount,
            taxed: None,
        }
    }
}
