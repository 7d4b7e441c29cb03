//! Invoiced revenue: the one definition that every figure about it uses.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Integer, Nullable, Text};

use crate::dates::Day;
use crate::db::schema::invoices;
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::{ClientId, MandateId, RecordId, UserId};
use crate::money::{Currency, Money};

/// What revenue is, in words.
pub(crate) const DEFINITION: &str = "net amounts, without VAT and without rounding to five centimes, of the invoices issued in \
     the period, less those of the credit notes issued in it, by day of issue, per currency; no drafts, quotes or pro formas";

text_enum! {
    /// What revenue is broken down by.
    GroupBy {
        /// The month of issue.
        Month = "month",
        /// The client.
        Client = "client",
        /// The mandate.
        Mandate = "mandate",
        /// The service of each line.
        Service = "service",
    }
}

/// Which documents are counted.
#[derive(Debug, Clone)]
pub(crate) struct Billed {
    /// First and last day of each period: its place tells them apart.
    pub(crate) periods: Vec<(Day, Day)>,
    /// The last posting that counts.
    pub(crate) commit: i64,
    pub(crate) client: Option<ClientId>,
    pub(crate) mandate: Option<MandateId>,
    /// Only what is invoiced under mandates of which this person is in charge.
    pub(crate) responsible: Option<UserId>,
    pub(crate) currency: Option<Currency>,
}

impl Billed {
    /// Every document of some periods.
    pub(crate) const fn in_periods(periods: Vec<(Day, Day)>, commit: i64) -> Self {
        Self { periods, commit, client: None, mandate: None, responsible: None, currency: None }
    }

    /// Whether whole ledger accounts can be compared: no client, mandate or person is singled out.
    pub(super) const fn is_whole(&self) -> bool {
        self.client.is_none() && self.mandate.is_none() && self.responsible.is_none()
    }

    /// Writes the documents as a common table `r`, with the place of their period as `part`; `sign` is that of their amounts.
    pub(super) fn write<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("WITH r AS MATERIALIZED (");
        for (part, period) in (0_i64..).zip(&self.periods) {
            sql.text(if part == 0 { "SELECT " } else { " UNION ALL SELECT " });
            sql.number(part);
            sql.text(" AS part, d.* FROM (SELECT i.tenant_id, i.id, i.client_id, i.mandate_id, i.document, i.number, i.title, i.currency, i.issued_on, CASE WHEN i.document = 'credit_note' THEN -1 ELSE 1 END AS sign, CASE WHEN i.document = 'credit_note' THEN -i.net ELSE i.net END AS net, CASE WHEN i.document = 'credit_note' THEN -i.rounding ELSE i.rounding END AS rounding FROM ");
            sql.rows()?;
            sql.text(" AS i WHERE ");
            self.write_conditions(sql, period)?;
            sql.text(") AS d");
        }
        sql.text(")");
        Ok(())
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "a statement borrows what it binds")]
    fn write_conditions<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
        (from, to): &'b (Day, Day),
    ) -> QueryResult<()> {
        sql.text(
            "i.state = 'issued' AND i.document IN ('invoice', 'credit_note') AND i.issued_on >= ",
        );
        sql.bind::<Date, _>(from)?;
        sql.text(" AND i.issued_on <= ");
        sql.bind::<Date, _>(to)?;
        sql.text(" AND i.commit_number <= ");
        sql.bind::<BigInt, _>(&self.commit)?;
        if let Some(client) = &self.client {
            sql.text(" AND i.client_id = ");
            sql.bind::<Id, _>(client)?;
        }
        if let Some(mandate) = &self.mandate {
            sql.text(" AND i.mandate_id = ");
            sql.bind::<Id, _>(mandate)?;
        }
        if let Some(person) = &self.responsible {
            sql.text(" AND i.mandate_id IN (SELECT m.id FROM mandates m WHERE m.tenant_id = i.tenant_id AND m.responsible_id = ");
            sql.bind::<Id, _>(person)?;
            sql.text(")");
        }
        if let Some(currency) = &self.currency {
            sql.text(" AND i.currency = ");
            sql.bind::<Text, _>(currency)?;
        }
        Ok(())
    }
}

/// The sums of a breakdown and those of all documents, in one statement.
struct Sums {
    billed: Billed,
    by: Option<GroupBy>,
}

/// Groups by client, mandate or service, with number and name.
const GROUPS: [&str; 3] = [
    " SELECT g.part, 0, g.k, NULL, c.number, c.name, g.currency, g.net, g.rounding, g.n FROM (SELECT r.tenant_id, r.part, r.client_id AS k, r.currency, sum(r.net) AS net, sum(r.rounding) AS rounding, count(*) AS n FROM r GROUP BY r.tenant_id, r.part, r.client_id, r.currency) AS g LEFT JOIN clients c ON c.tenant_id = g.tenant_id AND c.id = g.k UNION ALL",
    " SELECT g.part, 0, g.k, NULL, m.number, m.title, g.currency, g.net, g.rounding, g.n FROM (SELECT r.tenant_id, r.part, r.mandate_id AS k, r.currency, sum(r.net) AS net, sum(r.rounding) AS rounding, count(*) AS n FROM r GROUP BY r.tenant_id, r.part, r.mandate_id, r.currency) AS g LEFT JOIN mandates m ON m.tenant_id = g.tenant_id AND m.id = g.k UNION ALL",
    " SELECT g.part, 0, g.k, NULL, s.code, s.name, g.currency, g.net, 0, g.n FROM (SELECT r.tenant_id, r.part, l.service_id AS k, r.currency, sum(r.sign * l.net) AS net, count(*) AS n FROM r JOIN invoice_lines l ON l.tenant_id = r.tenant_id AND l.invoice_id = r.id GROUP BY r.tenant_id, r.part, l.service_id, r.currency) AS g LEFT JOIN services s ON s.tenant_id = g.tenant_id AND s.id = g.k UNION ALL",
];

impl HandWritten for Sums {
    type Table = invoices::table;
    type SqlType = (
        Integer,
        Integer,
        Nullable<Id>,
        Nullable<Date>,
        Nullable<Text>,
        Nullable<Text>,
        Text,
        Amount,
        Amount,
        BigInt,
    );

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        let [clients, mandates, services] = GROUPS;
        self.billed.write(sql)?;
        sql.text(match self.by {
            None => "",
            Some(GroupBy::Month) => " SELECT r.part, 0, NULL, r.issued_on, NULL, NULL, r.currency, sum(r.net), sum(r.rounding), count(*) FROM r GROUP BY r.part, r.issued_on, r.currency UNION ALL",
            Some(GroupBy::Client) => clients,
            Some(GroupBy::Mandate) => mandates,
            Some(GroupBy::Service) => services,
        });
        sql.text(" SELECT r.part, 1, NULL, NULL, NULL, NULL, r.currency, sum(r.net), sum(r.rounding), count(*) FROM r GROUP BY r.part, r.currency");
        Ok(())
    }
}

/// A sum of revenue: of a group, or of all documents.
#[derive(Debug, Clone, Queryable)]
pub(crate) struct RevenueSum {
    /// The place of its period.
    pub(crate) part: i32,
    is_total: i32,
    /// What it is of: a client, a mandate, a service.
    pub(super) key: Option<RecordId>,
    /// The day of issue, by month.
    pub(super) day: Option<Day>,
    pub(super) number: Option<String>,
    pub(super) name: Option<String>,
    pub(crate) currency: Currency,
    pub(crate) net: Money,
    pub(super) rounding: Money,
    /// How many documents, or lines by service.
    pub(crate) count: i64,
}

/// The sums of a breakdown, and those of all documents of each period.
///
/// # Errors
/// The database is away.
pub(crate) fn sums(
    scope: &mut Read<'_>,
    billed: Billed,
    by: Option<GroupBy>,
) -> Result<(Vec<RevenueSum>, Vec<RevenueSum>)> {
    let rows: Vec<RevenueSum> = scope.load(scope.by_hand(invoices::table, Sums { billed, by }))?;
    Ok(rows.into_iter().partition(|row| row.is_total == 0))
}
