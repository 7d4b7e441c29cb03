//! Which invoices may be meant by the lines of a statement: found in the database, within reach.

use diesel::prelude::*;
use diesel::sql_types::{Date, Integer, Nullable, Text};

use crate::dates::Day;
use crate::db::schema::{bank_line_payments, invoices, payments};
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::{BankStatementId, ClientId, InvoiceId, PaymentId};
use crate::invoicing::Chosen;
use crate::money::{Currency, Money};

/// Some lines of a statement: from one position to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    pub(super) statement: BankStatementId,
    pub(super) first: i32,
    pub(super) last: i32,
}

impl Lines {
    /// Writes the condition for the rows `l`.
    fn write<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("l.statement_id = ");
        sql.bind::<Id, _>(&self.statement)?;
        sql.text(" AND l.position >= ");
        sql.bind::<Integer, _>(&self.first)?;
        sql.text(" AND l.position <= ");
        sql.bind::<Integer, _>(&self.last)
    }

    /// Writes the condition for those of them that were not recorded as payments.
    fn write_unmatched<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        self.write(sql)?;
        sql.text(" AND ");
        sql.text(IS_UNMATCHED);
        Ok(())
    }
}

/// Whether no payment was recorded for the row `l`.
pub(super) const IS_UNMATCHED: &str = "NOT EXISTS (SELECT 1 FROM bank_line_payments b WHERE b.tenant_id = l.tenant_id AND b.bank_line_id = l.id)";

/// An invoice that may be meant.
#[derive(Debug, Clone, Queryable)]
pub(super) struct Candidate {
    /// The position of the line; none where it was looked for by number.
    pub(super) line: Option<i32>,
    pub(super) invoice: InvoiceId,
    pub(super) number: String,
    pub(super) client_id: ClientId,
    pub(super) client: String,
    pub(super) currency: Currency,
    /// What is open, less what earlier lines of the statement pay by the same reference.
    pub(super) open: Money,
    /// The payment that is taken back.
    pub(super) payment: Option<PaymentId>,
}

/// The SQL types of a [`Candidate`].
type CandidateSql = (Nullable<Integer>, Id, Text, Id, Text, Text, Amount, Nullable<Id>);

/// Writes what is open on the row `i` on a day.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "a statement borrows what it binds")]
fn write_open<'b>(sql: &mut HandWrittenSql<'_, 'b>, day: &'b Day) -> QueryResult<()> {
    sql.text("i.total - coalesce((SELECT sum(p.amount) FROM payments p WHERE p.tenant_id = i.tenant_id AND p.invoice_id = i.id AND p.received_on <= ");
    sql.bind::<Date, _>(day)?;
    sql.text("), 0) - coalesce((SELECT sum(n.total) FROM invoices n WHERE n.tenant_id = i.tenant_id AND n.origin_invoice_id = i.id AND n.state = 'issued' AND n.issued_on <= ");
    sql.bind::<Date, _>(day)?;
    sql.text("), 0)");
    Ok(())
}

/// Invoices by the reference of the lines.
struct ByReference(Lines, Day);

impl HandWritten for ByReference {
    type Table = invoices::table;
    type SqlType = CandidateSql;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT l.position, i.id, i.number, i.client_id, c.name, i.currency, ");
        write_open(sql, &self.1)?;
        sql.text(" - coalesce((SELECT sum(x.amount) FROM bank_lines x WHERE x.tenant_id = l.tenant_id AND x.statement_id = l.statement_id AND x.position < l.position AND x.amount > 0 AND x.currency = i.currency AND upper(replace(x.reference, ' ', '')) = i.qr_reference AND NOT EXISTS (SELECT 1 FROM bank_line_payments b WHERE b.tenant_id = x.tenant_id AND b.bank_line_id = x.id)), 0), NULL FROM bank_lines l JOIN ");
        sql.rows()?;
        sql.text(" AS i ON i.tenant_id = l.tenant_id AND i.qr_reference = upper(replace(l.reference, ' ', '')) JOIN clients c ON c.tenant_id = i.tenant_id AND c.id = i.client_id WHERE i.document = 'invoice' AND i.state = 'issued' AND l.amount > 0 AND ");
        self.0.write_unmatched(sql)?;
        sql.text(" ORDER BY l.position, i.id LIMIT 400");
        Ok(())
    }
}

/// Invoices by their number.
struct ByNumber<'n>(&'n [String], Day);

/// How many numbers one statement looks for.
const NUMBERS: usize = 50;

impl HandWritten for ByNumber<'_> {
    type Table = invoices::table;
    type SqlType = CandidateSql;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT NULL, i.id, i.number, i.client_id, c.name, i.currency, ");
        write_open(sql, &self.1)?;
        sql.text(", NULL FROM ");
        sql.rows()?;
        sql.text(" AS i JOIN clients c ON c.tenant_id = i.tenant_id AND c.id = i.client_id WHERE i.document = 'invoice' AND i.state = 'issued' AND i.number IN (''");
        // The same text however many there are: the last one fills the rest.
        let last = self.0.last().into_iter().cycle();
        for number in self.0.iter().chain(last).take(NUMBERS) {
            sql.text(", ");
            sql.bind::<Text, _>(number)?;
        }
        sql.text(") ORDER BY i.id");
        Ok(())
    }
}

/// Open invoices by the amount of the lines.
struct ByAmount(Lines, Chosen);

impl HandWritten for ByAmount {
    type Table = invoices::table;
    type SqlType = CandidateSql;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        self.1.write(sql)?;
        sql.text(" SELECT l.position, o.id, o.number, o.client_id, c.name, o.currency, o.open, NULL FROM bank_lines l JOIN o ON o.tenant_id = l.tenant_id AND o.currency = l.currency AND o.open = l.amount JOIN clients c ON c.tenant_id = o.tenant_id AND c.id = o.client_id WHERE l.amount > 0 AND l.debtor_name IS NOT NULL AND ");
        self.0.write_unmatched(sql)?;
        sql.text(" ORDER BY l.position, o.due_on, o.id LIMIT 2000");
        Ok(())
    }
}

/// Payments that the reversals among the lines take back: found by the reference of the invoice, or by that of the bank.
struct Reversed(Lines);

impl HandWritten for Reversed {
    type Table = payments::table;
    type SqlType = CandidateSql;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        for (before, after) in [
            (
                " FROM bank_lines l JOIN invoices i ON i.tenant_id = l.tenant_id AND i.qr_reference = upper(replace(l.reference, ' ', '')) JOIN ",
                " AS p ON p.tenant_id = i.tenant_id AND p.invoice_id = i.id",
            ),
            (
                " UNION SELECT l.position, i.id, i.number, i.client_id, c.name, i.currency, p.amount, p.id FROM bank_lines l JOIN bank_lines x ON x.tenant_id = l.tenant_id AND x.servicer_reference = l.servicer_reference JOIN bank_line_payments b ON b.tenant_id = x.tenant_id AND b.bank_line_id = x.id JOIN ",
                " AS p ON p.tenant_id = b.tenant_id AND p.id = b.payment_id JOIN invoices i ON i.tenant_id = p.tenant_id AND i.id = p.invoice_id",
            ),
        ] {
            if before.starts_with(" FROM") {
                sql.text("SELECT l.position, i.id, i.number, i.client_id, c.name, i.currency, p.amount, p.id");
            }
            sql.text(before);
            sql.rows()?;
            sql.text(after);
            sql.text(" JOIN clients c ON c.tenant_id = i.tenant_id AND c.id = i.client_id WHERE l.is_reversal AND p.amount = -l.amount AND i.currency = l.currency AND NOT EXISTS (SELECT 1 FROM payments r WHERE r.tenant_id = p.tenant_id AND r.reverses_id = p.id) AND ");
            self.0.write_unmatched(sql)?;
        }
        sql.text(" LIMIT 400");
        Ok(())
    }
}

/// A payment that a line became.
#[derive(Debug, Queryable)]
pub(super) struct Recorded {
    pub(super) line: i32,
    pub(super) payment: PaymentId,
    pub(super) invoice: InvoiceId,
    pub(super) number: String,
    pub(super) amount: Money,
}

/// The payments that lines became.
struct BecamePayments(Lines);

impl HandWritten for BecamePayments {
    type Table = bank_line_payments::table;
    type SqlType = (Integer, Id, Id, Text, Amount);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT l.position, p.id, i.id, i.number, p.amount FROM bank_lines l JOIN ");
        sql.rows()?;
        sql.text(" AS b ON b.tenant_id = l.tenant_id AND b.bank_line_id = l.id JOIN payments p ON p.tenant_id = b.tenant_id AND p.id = b.payment_id JOIN invoices i ON i.tenant_id = p.tenant_id AND i.id = p.invoice_id WHERE ");
        self.0.write(sql)?;
        sql.text(" ORDER BY l.position, p.id LIMIT 400");
        Ok(())
    }
}

pub(super) fn by_reference(scope: &mut Read<'_>, lines: Lines) -> Result<Vec<Candidate>> {
    let query = ByReference(lines, scope.today());
    scope.load(scope.by_hand(invoices::table, query))
}

/// The invoices with these numbers, in capitals.
pub(super) fn by_number(scope: &mut Read<'_>, numbers: &[String]) -> Result<Vec<Candidate>> {
    let mut found: Vec<Candidate> = vec![];
    for numbers in numbers.chunks(NUMBERS) {
        let query = ByNumber(numbers, scope.today());
        let rows: Vec<Candidate> = scope.load(scope.by_hand(invoices::table, query))?;
        found.extend(rows);
    }
    Ok(found)
}

pub(super) fn by_amount(scope: &mut Read<'_>, lines: Lines) -> Result<Vec<Candidate>> {
    let query = ByAmount(lines, Chosen::on(scope.today()));
    scope.load(scope.by_hand(invoices::table, query))
}

pub(super) fn reversed(scope: &mut Read<'_>, lines: Lines) -> Result<Vec<Candidate>> {
    scope.load(scope.by_hand(payments::table, Reversed(lines)))
}

pub(super) fn recorded(scope: &mut Read<'_>, lines: Lines) -> Result<Vec<Recorded>> {
    scope.load(scope.by_hand(bank_line_payments::table, BecamePayments(lines)))
}
