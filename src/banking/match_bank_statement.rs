//! Which invoices the lines of a bank statement pay.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Date, Integer, Nullable, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::candidates::{self, Candidate, IS_UNMATCHED, Lines, Recorded};
use super::{Certainty, LineState, MatchRule, PaymentFit, rules};
use crate::auth::Permission;
use crate::dates::{Day, Instant};
use crate::db::schema::{bank_lines, bank_statements, firms};
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{BankLineId, BankStatementId, ClientId, InvoiceId, PaymentId};
use crate::money::{Currency, Money};
use crate::registry::ReadTool;
use crate::reports::Control;
use crate::text::FreeText;

/// Suggest which invoices the lines of an imported bank statement pay: by QR or creditor reference, number in the text, or
/// amount and payer. Books nothing. For what is open, use list_open_items; for one invoice's payments, get_invoice.
/// (pointage, rapprochement bancaire / Bankabgleich, Zahlungszuordnung)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchBankStatement {
    /// The statement.
    statement_id: BankStatementId,
    /// Only lines that were not recorded as payments; all lines by default.
    only_unmatched: Option<bool>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(MatchBankStatement);

/// A statement and, line by line, what it pays.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MatchedStatement {
    /// The statement.
    statement: Statement,
    /// Its lines.
    #[serde(flatten)]
    page: Page<Line>,
    /// How many of its lines were not recorded as payments.
    unmatched: i64,
    /// Identities that must hold, and whether they do.
    controls: Vec<Control>,
}

/// A bank statement.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct Statement {
    /// The statement.
    id: BankStatementId,
    /// The account.
    iban: String,
    /// The bank's number of it.
    number: FreeText,
    /// Its first day.
    from: Day,
    /// Its last day.
    to: Day,
    /// The currency of all amounts.
    currency: Currency,
    /// The balance before.
    opening: Money,
    /// The balance after.
    closing: Money,
    /// When it was imported.
    imported_at: Instant,
}

/// A line of a statement.
#[derive(Debug, Serialize, JsonSchema)]
struct Line {
    /// The line.
    id: BankLineId,
    /// Its place, from 1.
    position: i32,
    /// The day it was booked.
    booked_on: Day,
    /// The day from which it bears interest.
    value_on: Day,
    /// The amount; negative when money went out.
    amount: Money,
    /// The reference, as the bank wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<FreeText>,
    /// Whether the check digits of the reference are right; one that is wrong matches nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_reference_valid: Option<bool>,
    /// Who paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    debtor: Option<FreeText>,
    /// What the bank or the payer wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<FreeText>,
    /// Whether the bank takes an earlier line back.
    is_reversal: bool,
    /// Where it stands.
    state: LineState,
    /// The payments that it became, within your reach.
    payments: Vec<LinePayment>,
    /// What it may pay, best first; nothing is booked.
    suggestions: Vec<Suggestion>,
}

/// A payment that a line became.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct LinePayment {
    /// The payment.
    payment_id: PaymentId,
    /// The invoice it was for.
    invoice_id: InvoiceId,
    /// The invoice's number.
    number: FreeText,
    /// The amount.
    amount: Money,
}

/// What a line may pay.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Suggestion {
    /// The invoice.
    invoice_id: InvoiceId,
    /// Its number.
    number: FreeText,
    /// The client.
    client_id: ClientId,
    /// The client's name.
    client: FreeText,
    /// The currency of the invoice.
    currency: Currency,
    /// What is open on it today, less what earlier lines of the statement pay; of a reversal, what was paid.
    open: Money,
    /// How the amount stands to that.
    fit: PaymentFit,
    /// By what it was found.
    rule: MatchRule,
    /// How sure it is.
    certainty: Certainty,
    /// The payment that would be taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_id: Option<PaymentId>,
}

/// Suggestions for a line at most.
const MOST_SUGGESTIONS: usize = 3;

impl ReadTool for MatchBankStatement {
    const NAME: &'static str = "match_bank_statement";
    const PERMISSION: Permission = Permission::BankRead;
    const WEIGHT: u32 = 4;
    type Output = MatchedStatement;

    fn example() -> Self {
        Self {
            statement_id: crate::demo::ids::example_bank_statement(),
            only_unmatched: None,
            limit: None,
            cursor: None,
        }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<MatchedStatement> {
        let paging = Paging::of(&mut self)?;
        let statement = statement(scope, self.statement_id)?;
        let accounts = scope.rows(firms::table).select((firms::iban, firms::qr_iban));
        let (iban, qr_iban): (String, String) = scope.one("firm", accounts)?;
        let is_own_account = [iban, qr_iban].contains(&statement.iban);
        let sums: (i64, i64, Option<Money>) =
            scope.one("statement", scope.by_hand(bank_lines::table, Sums(statement.id)))?;
        let (count, unmatched, sum) = sums;
        let is_unmatched_only = self.only_unmatched.unwrap_or_default();
        let after = scope.position(&paging)?;
        let wanted =
            Wanted { statement: statement.id, is_unmatched_only, after, at_most: paging.fetch() };
        let rows: Vec<Row> = scope.load(scope.by_hand(bank_lines::table, wanted))?;
        let lines = matched(scope, &statement, is_own_account, rows)?;
        let total = if is_unmatched_only { unmatched } else { count };
        let page = scope.cut(lines, total, &paging, |line| line.position)?;
        let moved = sum.unwrap_or(Money::ZERO);
        let moved = statement.opening.plus(moved);
        let moved = moved.ok_or_else(|| Error::fault("a bank statement is out of range"))?;
        let name = "opening balance and lines add up to the closing balance";
        let controls = vec![Control::equal(name, statement.currency, moved, statement.closing)];
        Ok(MatchedStatement { statement, page, unmatched, controls })
    }
}

fn statement(scope: &mut Read<'_>, id: BankStatementId) -> Result<Statement> {
    let columns = (
        bank_statements::id,
        bank_statements::iban,
        bank_statements::number,
        bank_statements::from_on,
        bank_statements::to_on,
        bank_statements::currency,
        bank_statements::opening,
        bank_statements::closing,
        bank_statements::imported_at,
    );
    let this = scope.rows(bank_statements::table).filter(bank_statements::id.eq(id));
    scope.one("bank statement", this.select(columns))
}

/// How many lines a statement has, how many of them are not recorded, and their sum.
struct Sums(BankStatementId);

impl HandWritten for Sums {
    type Table = bank_lines::table;
    type SqlType = (BigInt, BigInt, Nullable<Amount>);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT count(*), count(CASE WHEN ");
        sql.text(IS_UNMATCHED);
        sql.text(" THEN 1 END), sum(l.amount) FROM ");
        sql.rows()?;
        sql.text(" AS l WHERE l.statement_id = ");
        sql.bind::<Id, _>(&self.0)
    }
}

/// The lines of a page.
struct Wanted {
    statement: BankStatementId,
    is_unmatched_only: bool,
    after: Option<i32>,
    at_most: i64,
}

/// A line as it is stored, and whether payments were recorded for it.
type Row = (
    (BankLineId, i32, Day, Day, Money),
    (Option<String>, Option<String>, Option<String>, Option<String>),
    (bool, bool),
);

impl HandWritten for Wanted {
    type Table = bank_lines::table;
    type SqlType = (
        (Id, Integer, Date, Date, Amount),
        (Nullable<Text>, Nullable<Text>, Nullable<Text>, Nullable<Text>),
        (Bool, Bool),
    );

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT l.id, l.position, l.booked_on, l.value_on, l.amount, l.reference, l.end_to_end_id, l.debtor_name, l.text, l.is_reversal, ");
        sql.text(IS_UNMATCHED);
        sql.text(" FROM ");
        sql.rows()?;
        sql.text(" AS l WHERE l.statement_id = ");
        sql.bind::<Id, _>(&self.statement)?;
        if self.is_unmatched_only {
            sql.text(" AND ");
            sql.text(IS_UNMATCHED);
        }
        if let Some(position) = &self.after {
            sql.text(" AND l.position > ");
            sql.bind::<Integer, _>(position)?;
        }
        sql.text(" ORDER BY l.position LIMIT ");
        sql.number(self.at_most);
        Ok(())
    }
}

/// What was found for the lines of a page.
#[derive(Default)]
struct Found {
    recorded: Vec<Recorded>,
    by_reference: Vec<Candidate>,
    by_number: Vec<Candidate>,
    by_amount: Vec<Candidate>,
    reversed: Vec<Candidate>,
}

/// The lines with what they became or may pay.
fn matched(
    scope: &mut Read<'_>,
    statement: &Statement,
    is_own_account: bool,
    rows: Vec<Row>,
) -> Result<Vec<Line>> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(vec![]) };
    let lines = Lines { statement: statement.id, first: first.0.1, last: last.0.1 };
    let mut numbers: Vec<String> = rows.iter().flat_map(numbers_of).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let has_reversal = rows.iter().any(|(.., (is_reversal, _))| *is_reversal);
    let found = Found {
        recorded: candidates::recorded(scope, lines)?,
        by_reference: candidates::by_reference(scope, lines)?,
        by_number: candidates::by_number(scope, &numbers)?,
        by_amount: candidates::by_amount(scope, lines)?,
        reversed: if has_reversal { candidates::reversed(scope, lines)? } else { vec![] },
    };
    let line = |row| found.line(row, statement.currency, is_own_account);
    Ok(rows.into_iter().map(line).collect())
}

/// What in the texts of a line may be the number of an invoice.
fn numbers_of((_, (reference, end_to_end, _, text), _): &Row) -> Vec<String> {
    rules::numbers(&[reference.as_deref(), end_to_end.as_deref(), text.as_deref()])
}

impl Found {
    fn line(&self, row: Row, currency: Currency, is_own_account: bool) -> Line {
        let numbers = numbers_of(&row);
        let ((id, position, booked_on, value_on, amount), texts, (is_reversal, is_unmatched)) = row;
        let (reference, _, debtor, text) = texts;
        let valid = rules::reference(reference.as_deref());
        let (rule, candidates) = if !is_unmatched {
            (MatchRule::Reference, vec![])
        } else if amount < Money::ZERO {
            (MatchRule::Reversal, of_line(&self.reversed, position))
        } else {
            self.incoming(position, valid.is_some(), &numbers, debtor.as_deref())
        };
        let is_only = candidates.len() == 1;
        let suggest = |candidate: &Candidate| {
            let fit = match rule {
                MatchRule::Reversal => PaymentFit::Reopens,
                _ => rules::fit(amount, currency, candidate),
            };
            let certainty = rules::certainty(rule, fit, is_only, is_own_account);
            suggestion(candidate, rule, fit, certainty)
        };
        let mut suggestions: Vec<Suggestion> = candidates.into_iter().map(suggest).collect();
        suggestions.sort_by_key(|suggestion| (suggestion.certainty, suggestion.fit));
        suggestions.truncate(MOST_SUGGESTIONS);
        let state = match suggestions.first() {
            _ if !is_unmatched => LineState::Matched,
            Some(best) if best.certainty == Certainty::Certain => LineState::Certain,
            Some(_) => LineState::Suggested,
            None if amount < Money::ZERO && !is_reversal => LineState::Outgoing,
            None => LineState::Unmatched,
        };
        let payments = self.recorded.iter().filter(|recorded| recorded.line == position);
        Line {
            id,
            position,
            booked_on,
            value_on,
            amount,
            is_reference_valid: reference.is_some().then_some(valid.is_some()),
            reference: reference.map(Into::into),
            debtor: debtor.map(Into::into),
            text: text.map(Into::into),
            is_reversal,
            state,
            payments: payments.map(payment).collect(),
            suggestions,
        }
    }

    /// By the first rule that finds something.
    fn incoming(
        &self,
        position: i32,
        is_reference_valid: bool,
        numbers: &[String],
        debtor: Option<&str>,
    ) -> (MatchRule, Vec<&Candidate>) {
        let by_reference = of_line(&self.by_reference, position);
        if is_reference_valid && !by_reference.is_empty() {
            return (MatchRule::Reference, by_reference);
        }
        let is_named = |candidate: &&Candidate| numbers.contains(&candidate.number);
        let by_number: Vec<_> = self.by_number.iter().filter(is_named).collect();
        if !by_number.is_empty() {
            return (MatchRule::Number, by_number);
        }
        let mut by_amount = of_line(&self.by_amount, position);
        let payer = debtor.unwrap_or_default();
        by_amount.retain(|candidate| rules::is_same_name(payer, &candidate.client));
        (MatchRule::AmountAndName, by_amount)
    }
}

fn of_line(candidates: &[Candidate], position: i32) -> Vec<&Candidate> {
    candidates.iter().filter(|candidate| candidate.line == Some(position)).collect()
}

fn payment(recorded: &Recorded) -> LinePayment {
    LinePayment {
        payment_id: recorded.payment,
        invoice_id: recorded.invoice,
        number: recorded.number.as_str().into(),
        amount: recorded.amount,
    }
}

fn suggestion(
    candidate: &Candidate,
    rule: MatchRule,
    fit: PaymentFit,
    certainty: Certainty,
) -> Suggestion {
    Suggestion {
        invoice_id: candidate.invoice,
        number: candidate.number.as_str().into(),
        client_id: candidate.client_id,
        client: candidate.client.as_str().into(),
        currency: candidate.currency,
        open: candidate.open,
        fit,
        rule,
        certainty,
        payment_id: candidate.payment,
    }
}
