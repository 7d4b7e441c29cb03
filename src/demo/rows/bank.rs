//! A statement of the firm's account: payments that were recorded, and lines that wait to be.

use diesel::prelude::*;

use super::super::engagements::FIRM_MANDATE;
use super::super::fixtures::{MASTER, nth};
use super::super::ids::Kind;
use super::super::plan::{Plan, day, moment};
use super::super::sales::Sale;
use super::{Writing, insert_all};
use crate::dates::{Day, Instant};
use crate::db::connection::AnyConnection;
use crate::db::schema::{bank_line_payments, bank_lines, bank_statements, invoices};
use crate::error::{Error, Result};
use crate::ids::{BankLineId, BankStatementId, InvoiceId, MandateId, PaymentId, TenantId};
use crate::invoicing::{Document, PaymentMethod};
use crate::money::{Currency, Money};

#[derive(Insertable)]
#[diesel(table_name = bank_statements, treat_none_as_default_value = false)]
struct NewStatement<'a> {
    tenant_id: TenantId,
    id: BankStatementId,
    mandate_id: MandateId,
    iban: &'a str,
    number: &'a str,
    from_on: Day,
    to_on: Day,
    currency: Currency,
    opening: Money,
    closing: Money,
    imported_at: Instant,
}

#[derive(Insertable)]
#[diesel(table_name = bank_lines, treat_none_as_default_value = false)]
struct NewLine {
    tenant_id: TenantId,
    id: BankLineId,
    statement_id: BankStatementId,
    position: i32,
    booked_on: Day,
    value_on: Day,
    amount: Money,
    currency: Currency,
    reference: Option<String>,
    end_to_end_id: Option<String>,
    debtor_name: Option<String>,
    debtor_iban: Option<String>,
    text: Option<String>,
    servicer_reference: Option<String>,
    is_reversal: bool,
}

#[derive(Insertable)]
#[diesel(table_name = bank_line_payments, treat_none_as_default_value = false)]
#[expect(clippy::struct_field_names, reason = "the fields are the columns")]
struct NewMatch {
    tenant_id: TenantId,
    bank_line_id: BankLineId,
    payment_id: PaymentId,
}

/// The balance before the statement.
const OPENING: i64 = 8_412_560;
/// A reference whose check digit is wrong.
const WRONG_REFERENCE: &str = "210000000003456789012345675";

/// A line while the statement is put together.
#[derive(Debug, Default)]
struct Planned {
    amount: i64,
    reference: Option<String>,
    end_to_end: Option<String>,
    debtor: Option<String>,
    text: Option<String>,
    servicer: Option<String>,
    is_reversal: bool,
    payment: Option<u32>,
}

pub(super) fn write(
    connection: &mut AnyConnection,
    writing: Writing<'_>,
    plan: &Plan,
) -> Result<()> {
    let Writing { firm, tenant: tenant_id } = writing;
    let (from_on, to_on) = (day(2026, 11, 2)?, day(2026, 11, 27)?);
    let mut planned = recorded(writing, plan, from_on, to_on)?;
    planned.extend(waiting(connection, writing, plan, planned.first())?);
    let closing = OPENING + planned.iter().map(|line| line.amount).sum::<i64>();
    let statement = NewStatement {
        tenant_id,
        id: writing.id(Kind::BankStatement, 1),
        mandate_id: writing.id(Kind::Mandate, FIRM_MANDATE),
        iban: &firm.iban,
        number: "2026-11",
        from_on,
        to_on,
        currency: Currency::Chf,
        opening: Money::from_minor(OPENING),
        closing: Money::from_minor(closing),
        imported_at: moment(day(2026, 11, 28)?, 0)?,
    };
    insert_all!(connection, bank_statements::table, [statement]);
    let (mut lines, mut matches) = (vec![], vec![]);
    for (n, line) in (1_u32..).zip(planned) {
        let id = writing.id(Kind::BankLine, n);
        if let Some(payment) = line.payment {
            let payment_id = writing.id(Kind::Payment, payment);
            matches.push(NewMatch { tenant_id, bank_line_id: id, payment_id });
        }
        lines.push(NewLine {
            tenant_id,
            id,
            statement_id: writing.id(Kind::BankStatement, 1),
            position: i32::try_from(n).map_err(Error::fault)?,
            booked_on: to_on,
            value_on: to_on,
            amount: Money::from_minor(line.amount),
            currency: Currency::Chf,
            reference: line.reference,
            end_to_end_id: line.end_to_end,
            debtor_name: line.debtor,
            debtor_iban: None,
            text: line.text,
            servicer_reference: line.servicer,
            is_reversal: line.is_reversal,
        });
    }
    insert_all!(connection, bank_lines::table, lines);
    insert_all!(connection, bank_line_payments::table, matches);
    Ok(())
}

/// The name of a document's client.
fn payer(writing: Writing<'_>, sale: &Sale) -> Result<String> {
    Ok(nth(&MASTER.clients, sale.client - 1)?.name.owned(writing.firm))
}

/// The payments by bank of some days.
fn recorded(writing: Writing<'_>, plan: &Plan, from: Day, to: Day) -> Result<Vec<Planned>> {
    let mut lines = vec![];
    for sale in plan.sales.iter().filter(|sale| sale.currency == Currency::Chf) {
        for (n, payment) in (sale.n * 10..).zip(&sale.payments) {
            let is_here = (from..=to).contains(&payment.received_on);
            if is_here && payment.method == PaymentMethod::Bank && payment.amount > Money::ZERO {
                lines.push(Planned {
                    amount: payment.amount.minor(),
                    debtor: Some(payer(writing, sale)?),
                    servicer: Some(format!("20261127{n:08}")),
                    payment: Some(n),
                    ..Planned::default()
                });
            }
        }
    }
    Ok(lines)
}

/// Lines that wait: what pays open invoices in every way, what cannot be matched, and the reversal of a recorded one.
fn waiting(
    connection: &mut AnyConnection,
    writing: Writing<'_>,
    plan: &Plan,
    recorded: Option<&Planned>,
) -> Result<Vec<Planned>> {
    let is_unpaid = |sale: &&Sale| {
        sale.is_issued
            && sale.document == Document::Invoice
            && sale.currency == Currency::Chf
            && sale.case.is_none()
            && sale.payments.is_empty()
            && !plan.sales.iter().any(|other| other.origin == Some(sale.n))
    };
    let mut unpaid = plan.sales.iter().rev().filter(is_unpaid);
    let mut next =
        || unpaid.next().ok_or_else(|| Error::fault("the demo has too few open invoices"));
    let (exact, part, over, named, paid) = (next()?, next()?, next()?, next()?, next()?);
    let mut slip = |sale: &Sale| -> Result<(Option<String>, Option<String>)> {
        let id: InvoiceId = writing.id(Kind::Invoice, sale.n);
        let this = invoices::table
            .filter(invoices::tenant_id.eq(writing.tenant))
            .filter(invoices::id.eq(id))
            .select((invoices::number, invoices::qr_reference));
        this.load(connection)?.pop().ok_or_else(|| Error::fault("a document is not there"))
    };
    let by_reference = |sale: &Sale, more: i64, slip: (Option<String>, Option<String>)| Planned {
        amount: sale.sums.total.minor() + more,
        reference: slip.1,
        ..Planned::default()
    };
    let word = &writing.firm.word;
    let (number, _) = slip(named)?;
    let (back, servicer) = recorded.map_or((0, None), |line| (-line.amount, line.servicer.clone()));
    let mut lines = vec![
        by_reference(exact, 0, slip(exact)?),
        by_reference(part, -5_000, slip(part)?),
        by_reference(over, 5_000, slip(over)?),
        Planned {
            amount: named.sums.total.minor(),
            text: Some(format!("{word} {}", number.unwrap_or_default())),
            ..Planned::default()
        },
        Planned {
            amount: paid.sums.total.minor(),
            debtor: Some(payer(writing, paid)?),
            ..Planned::default()
        },
        Planned {
            amount: 12_345,
            reference: Some(WRONG_REFERENCE.to_owned()),
            ..Planned::default()
        },
        Planned { amount: -1_250, text: Some(word.clone()), ..Planned::default() },
    ];
    if back != 0 {
        lines.push(Planned { amount: back, servicer, is_reversal: true, ..Planned::default() });
    }
    Ok(lines)
}
