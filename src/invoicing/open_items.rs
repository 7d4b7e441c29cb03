//! What is open on each invoice as of a day: the one definition that every figure about debts uses.
//!
//! Open is the total of an issued invoice, less the payments received and the credit notes issued up to that day. Drafts,
//! quotes and pro formas are never owed. As known on an earlier posting, later ones do not count; as known now,
//! `open_until` leaves out early what was settled by that day, and `settled` has the sum if nothing came after it.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Integer, Nullable, Text};

use super::figures::total;
use super::ledger::LedgerSum;
use crate::dates::Day;
use crate::db::schema::invoices;
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::{Error, Result};
use crate::ids::{ClientId, InvoiceId, MandateId, TenantId, UserId};
use crate::ledger::Purpose;
use crate::money::{Currency, CurrencyAmount, Money};

/// Which open items are meant.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) as_of: Day,
    /// The last posting that counts; every posting without one.
    pub(crate) known: Option<i64>,
    pub(crate) client: Option<ClientId>,
    pub(crate) mandate: Option<MandateId>,
    /// Only what is invoiced under mandates of which this person is in charge.
    pub(crate) responsible: Option<UserId>,
    pub(crate) currency: Option<Currency>,
    /// Only what was due on this day or earlier.
    pub(crate) due_until: Option<Day>,
}

impl Chosen {
    /// Everything that is open on a day by all that was posted so far.
    pub(crate) const fn on(as_of: Day) -> Self {
        Self {
            as_of,
            known: None,
            client: None,
            mandate: None,
            responsible: None,
            currency: None,
            due_until: None,
        }
    }

    /// Whether whole ledger accounts can be compared: no client, mandate or person is singled out.
    const fn is_whole(&self) -> bool {
        self.client.is_none()
            && self.mandate.is_none()
            && self.responsible.is_none()
            && self.due_until.is_none()
    }

    /// Leaves out of the postings what came after the last one that counts.
    pub(super) fn write_known<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
        condition: &'static str,
    ) -> QueryResult<()> {
        if let Some(commit) = &self.known {
            sql.text(condition);
            sql.bind::<BigInt, _>(commit)?;
        }
        Ok(())
    }

    /// Writes the open items as a common table `o`, computed once: positive is owed, negative is a credit balance.
    ///
    /// `open_until` follows from every posting there is, so that it leaves out early only what all of them settle.
    pub(crate) fn write<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("WITH o AS MATERIALIZED (SELECT i.tenant_id, i.id, i.client_id, i.mandate_id, i.number, i.title, i.currency, i.issued_on, i.due_on, i.total, i.total - ");
        if self.known.is_none() {
            // What all postings settled is kept with the invoice; some may be for later days.
            sql.text("CASE WHEN i.settled_on <= ");
            sql.bind::<Date, _>(&self.as_of)?;
            sql.text(" THEN i.settled ELSE ");
        }
        sql.text("coalesce((SELECT sum(p.amount) FROM payments p WHERE p.tenant_id = i.tenant_id AND p.invoice_id = i.id AND p.received_on <= ");
        sql.bind::<Date, _>(&self.as_of)?;
        self.write_known(sql, " AND p.commit_number <= ")?;
        sql.text("), 0)");
        sql.text(if self.known.is_none() { " + " } else { " - " });
        sql.text("coalesce((SELECT sum(n.total) FROM invoices n WHERE n.tenant_id = i.tenant_id AND n.origin_invoice_id = i.id AND n.state = 'issued' AND n.issued_on <= ");
        sql.bind::<Date, _>(&self.as_of)?;
        self.write_known(sql, " AND n.commit_number <= ")?;
        sql.text("), 0)");
        if self.known.is_none() {
            sql.text(" END");
        }
        sql.text(" AS open FROM ");
        sql.rows()?;
        sql.text(" AS i WHERE i.document = 'invoice' AND i.state = 'issued' AND i.issued_on <= ");
        sql.bind::<Date, _>(&self.as_of)?;
        if self.known.is_none() {
            sql.text(" AND i.open_until > ");
            sql.bind::<Date, _>(&self.as_of)?;
        }
        self.write_known(sql, " AND i.commit_number <= ")?;
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
        if let Some(day) = &self.due_until {
            sql.text(" AND i.due_on <= ");
            sql.bind::<Date, _>(day)?;
        }
        sql.text(")");
        Ok(())
    }
}

/// Days past due at which the next bucket begins.
const BUCKETS: [i64; 4] = [1, 31, 61, 91];
/// Stands for the credit balances.
pub(super) const CREDIT: i32 = -1;
/// Stands for all that is owed, whatever its age.
const OWED: i32 = 5;
/// Stands for the last posting there is.
const LAST_POSTING: i32 = -2;
/// Stands for the balance of the receivables in the firm's ledger.
const IN_LEDGER: i32 = -3;

/// Writes which bucket a row of `o` belongs to; `until` holds the last due day of each bucket after the first.
pub(super) fn write_bucket<'b>(
    sql: &mut HandWrittenSql<'_, 'b>,
    until: &'b [Day; 4],
) -> QueryResult<()> {
    let [late, over_30, over_60, over_90] = until;
    sql.text("CASE WHEN o.open < 0 THEN -1");
    for (bucket, day) in
        [(" THEN 4", over_90), (" THEN 3", over_60), (" THEN 2", over_30), (" THEN 1", late)]
    {
        sql.text(" WHEN o.due_on <= ");
        sql.bind::<Date, _>(day)?;
        sql.text(bucket);
    }
    sql.text(" ELSE 0 END");
    Ok(())
}

/// Writes the sums of the open items by currency and bucket, to follow the common table `o`.
fn write_sums<'b>(
    sql: &mut HandWrittenSql<'_, 'b>,
    columns: &'static str,
    until: &'b [Day; 4],
) -> QueryResult<()> {
    sql.text(" SELECT ");
    sql.text(columns);
    sql.text(" FROM (SELECT o.currency, o.open, ");
    write_bucket(sql, until)?;
    sql.text(" AS bucket FROM o WHERE o.open <> 0) AS b GROUP BY b.currency, b.bucket");
    Ok(())
}

pub(super) fn bucket_ends(as_of: Day) -> [Day; 4] {
    BUCKETS.map(|days| as_of.minus_days(days))
}

/// Open items summed by currency and bucket.
struct Sums {
    chosen: Chosen,
    until: [Day; 4],
}

impl HandWritten for Sums {
    type Table = invoices::table;
    type SqlType = (Text, Integer, Amount, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        self.chosen.write(sql)?;
        write_sums(sql, "b.currency, b.bucket, sum(b.open), count(*)", &self.until)
    }
}

/// A page of what is owed, oldest due day first, and the sums of all of it, in one statement.
struct Report {
    chosen: Chosen,
    until: [Day; 4],
    after: Option<(Day, InvoiceId)>,
    at_most: i64,
    tenant: TenantId,
    ledger: Option<LedgerSum>,
}

/// A row of a [`Report`]: an open item, or without an id a sum with its bucket and count.
#[derive(Debug, Queryable)]
struct ReportRow {
    id: Option<InvoiceId>,
    number: Option<String>,
    title: Option<String>,
    client_id: Option<ClientId>,
    client: Option<String>,
    mandate_id: Option<MandateId>,
    currency: Currency,
    issued_on: Option<Day>,
    due_on: Option<Day>,
    total: Option<Money>,
    open: Money,
    reminder_level: Option<i32>,
    bucket: Option<i32>,
    count: Option<i64>,
}

impl HandWritten for Report {
    type Table = invoices::table;
    type SqlType = (
        Nullable<Id>,
        Nullable<Text>,
        Nullable<Text>,
        Nullable<Id>,
        Nullable<Text>,
        Nullable<Id>,
        Text,
        Nullable<Date>,
        Nullable<Date>,
        Nullable<Amount>,
        Amount,
        Nullable<Integer>,
        Nullable<Integer>,
        Nullable<BigInt>,
    );

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        self.chosen.write(sql)?;
        sql.text(" SELECT l.id, l.number, l.title, l.client_id, c.name, l.mandate_id, l.currency, l.issued_on, l.due_on, l.total, l.open, (SELECT max(r.level) FROM reminders r WHERE r.tenant_id = l.tenant_id AND r.invoice_id = l.id AND r.sent_on <= ");
        sql.bind::<Date, _>(&self.chosen.as_of)?;
        self.chosen.write_known(sql, " AND r.commit_number <= ")?;
        sql.text("), NULL, NULL FROM (SELECT o.* FROM o WHERE o.open > 0");
        if let Some((day, id)) = &self.after {
            sql.text(" AND (o.due_on, o.id) > (");
            sql.bind::<Date, _>(day)?;
            sql.text(", ");
            sql.bind::<Id, _>(id)?;
            sql.text(")");
        }
        sql.text(" ORDER BY o.due_on, o.id LIMIT ");
        sql.number(self.at_most);
        sql.text(
            ") AS l JOIN clients c ON c.tenant_id = l.tenant_id AND c.id = l.client_id UNION ALL",
        );
        let columns = "NULL, NULL, NULL, NULL, NULL, NULL, b.currency, NULL, NULL, NULL, sum(b.open), NULL, b.bucket, count(*)";
        write_sums(sql, columns, &self.until)?;
        sql.text(" UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, o.currency, NULL, NULL, NULL, sum(o.open), NULL, 5, count(*) FROM o WHERE o.open > 0 GROUP BY o.currency");
        if self.chosen.known.is_none() {
            sql.text(" UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, 'CHF', NULL, NULL, NULL, 0, NULL, -2, coalesce(max(k.number), 0) FROM commits k WHERE k.tenant_id = ");
            sql.bind::<Id, _>(&self.tenant)?;
        }
        if let Some(ledger) = &self.ledger {
            sql.text(" UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, u.currency, NULL, NULL, NULL, ");
            ledger.write_balance(sql)?;
            sql.text(", NULL, -3, 0 FROM ");
            ledger.write_accounts(sql)?;
        }
        Ok(())
    }
}

/// Currency, bucket, sum, count.
pub(super) type Sum = (Currency, i32, Money, i64);

/// An invoice that is owed.
#[derive(Debug)]
pub(super) struct OpenInvoice {
    pub(super) id: InvoiceId,
    pub(super) number: String,
    pub(super) title: String,
    pub(super) client_id: ClientId,
    pub(super) client: String,
    pub(super) mandate_id: Option<MandateId>,
    pub(super) currency: Currency,
    pub(super) issued_on: Day,
    pub(super) due_on: Day,
    pub(super) total: Money,
    pub(super) open: Money,
    pub(super) reminder_level: Option<i32>,
}

/// What is owed, and what it is compared with.
#[derive(Debug, Default)]
pub(crate) struct OpenReport {
    /// A page of what is owed, oldest due day first.
    pub(super) items: Vec<OpenInvoice>,
    /// By currency and bucket.
    pub(super) sums: Vec<Sum>,
    /// What is owed in each currency, and how many invoices that is.
    pub(super) owed: Vec<(Currency, Money, i64)>,
    /// The last posting there is, where it was looked for.
    pub(super) last_posting: Option<i64>,
    /// The balances of the receivables in the firm's ledger, where they can be compared.
    pub(super) in_ledger: Vec<CurrencyAmount>,
}

/// What is owed, at most so many invoices after a position, and the sums of all of it.
pub(super) fn report(
    scope: &mut Read<'_>,
    chosen: Chosen,
    after: Option<(Day, InvoiceId)>,
    at_most: i64,
) -> Result<OpenReport> {
    let until = bucket_ends(chosen.as_of);
    let ledger = LedgerSum::of(scope, Purpose::Receivables, (None, chosen.as_of), chosen.known);
    let ledger = ledger.filter(|_| chosen.is_whole());
    let query = Report { chosen, until, after, at_most, tenant: scope.tenant(), ledger };
    let rows: Vec<ReportRow> = scope.load(scope.by_hand(invoices::table, query))?;
    let mut report = OpenReport::default();
    for row in rows {
        let (currency, amount) = (row.currency, row.open);
        match (row.bucket, row.count) {
            (Some(LAST_POSTING), number) => report.last_posting = number,
            (Some(IN_LEDGER), _) => report.in_ledger.push(CurrencyAmount { currency, amount }),
            (Some(OWED), Some(count)) => report.owed.push((currency, amount, count)),
            (Some(bucket), Some(count)) => report.sums.push((currency, bucket, amount, count)),
            _ => report.items.push(
                open_invoice(row)
                    .ok_or_else(|| Error::fault("an issued invoice lacks number or dates"))?,
            ),
        }
    }
    report.sums.sort_unstable_by_key(|(currency, bucket, ..)| (*currency, *bucket));
    report.owed.sort_unstable_by_key(|(currency, ..)| *currency);
    report.in_ledger.sort_unstable_by_key(|balance| balance.currency);
    report.items.sort_unstable_by_key(|item: &OpenInvoice| (item.due_on, item.id));
    Ok(report)
}

fn open_invoice(row: ReportRow) -> Option<OpenInvoice> {
    Some(OpenInvoice {
        id: row.id?,
        number: row.number?,
        title: row.title?,
        client_id: row.client_id?,
        client: row.client?,
        mandate_id: row.mandate_id,
        currency: row.currency,
        issued_on: row.issued_on?,
        due_on: row.due_on?,
        total: row.total?,
        open: row.open,
        reminder_level: row.reminder_level,
    })
}

/// What a client owes today, per currency, credit balances deducted.
///
/// # Errors
/// The database is away; a sum is out of range.
pub(crate) fn open_balance(scope: &mut Read<'_>, client: ClientId) -> Result<Vec<CurrencyAmount>> {
    let chosen = Chosen { client: Some(client), ..Chosen::on(scope.today()) };
    let until = bucket_ends(chosen.as_of);
    let mut sums: Vec<Sum> = scope.load(scope.by_hand(invoices::table, Sums { chosen, until }))?;
    sums.sort_unstable_by_key(|(currency, bucket, ..)| (*currency, *bucket));
    let mut balances: Vec<CurrencyAmount> = vec![];
    for (currency, _, sum, _) in sums {
        match balances.last_mut().filter(|last| last.currency == currency) {
            Some(last) => last.amount = total([last.amount, sum])?,
            None => balances.push(CurrencyAmount { currency, amount: sum }),
        }
    }
    Ok(balances)
}
