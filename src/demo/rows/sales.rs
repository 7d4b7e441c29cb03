//! Sales documents, what was paid on them, and the postings of the firm.

use std::collections::BTreeMap;

use diesel::prelude::*;

use super::super::check_digits::qr_reference;
use super::super::fixtures::{Firm, MASTER, nth};
use super::super::ids::Kind;
use super::super::plan::{Plan, Poster, moment};
use super::super::sales::{Sale, reminder_fee};
use super::people::holder;
use super::{Writing, insert_all};
use crate::dates::{Day, Instant};
use crate::db::connection::AnyConnection;
use crate::db::schema::{commits, dispatches, invoice_lines, invoices, payments, reminders};
use crate::error::{Error, Result};
use crate::firm::Unit;
use crate::ids::{
    ClientId, DispatchId, InvoiceId, InvoiceLineId, MandateId, PaymentId, ReminderId, ServiceId,
    TenantId, UserId,
};
use crate::invoicing::{Channel, Document, PaymentMethod};
use crate::money::{Currency, Money, Quantity, Rate};
use crate::text::searchable;

#[derive(Insertable)]
#[diesel(table_name = commits, treat_none_as_default_value = false)]
struct NewCommit {
    tenant_id: TenantId,
    number: i64,
    committed_at: Instant,
    user_id: UserId,
}

#[derive(Insertable)]
#[diesel(table_name = invoices, treat_none_as_default_value = false)]
struct NewInvoice<'a> {
    tenant_id: TenantId,
    id: InvoiceId,
    client_id: ClientId,
    mandate_id: Option<MandateId>,
    document: Document,
    state: &'static str,
    number: Option<String>,
    title: &'a str,
    currency: Currency,
    issued_on: Option<Day>,
    due_on: Option<Day>,
    supply_from: Day,
    supply_to: Day,
    net: Money,
    vat: Money,
    rounding: Money,
    total: Money,
    origin_invoice_id: Option<InvoiceId>,
    qr_reference: Option<String>,
    commit_number: Option<i64>,
    search_text: String,
    created_at: Instant,
}

#[derive(Insertable)]
#[diesel(table_name = invoice_lines, treat_none_as_default_value = false)]
struct NewLine<'a> {
    tenant_id: TenantId,
    id: InvoiceLineId,
    invoice_id: InvoiceId,
    position: i32,
    service_id: Option<ServiceId>,
    description: &'a str,
    quantity: Quantity,
    unit: Unit,
    unit_price: Money,
    net: Money,
    vat_rate_percent: Rate,
    vat: Money,
}

#[derive(Insertable)]
#[diesel(table_name = dispatches, treat_none_as_default_value = false)]
struct NewDispatch {
    tenant_id: TenantId,
    id: DispatchId,
    invoice_id: InvoiceId,
    channel: Channel,
    sent_on: Day,
}

#[derive(Insertable)]
#[diesel(table_name = payments, treat_none_as_default_value = false)]
struct NewPayment {
    tenant_id: TenantId,
    id: PaymentId,
    invoice_id: InvoiceId,
    received_on: Day,
    amount: Money,
    method: PaymentMethod,
    reference: Option<String>,
    reverses_id: Option<PaymentId>,
    commit_number: i64,
}

#[derive(Insertable)]
#[diesel(table_name = reminders, treat_none_as_default_value = false)]
struct NewReminder {
    tenant_id: TenantId,
    id: ReminderId,
    invoice_id: InvoiceId,
    level: i32,
    sent_on: Day,
    due_on: Day,
    fee: Money,
    commit_number: i64,
}

/// The rows of one firm.
#[derive(Default)]
struct Rows<'a> {
    invoices: Vec<NewInvoice<'a>>,
    lines: Vec<NewLine<'a>>,
    dispatches: Vec<NewDispatch>,
    payments: Vec<NewPayment>,
    reminders: Vec<NewReminder>,
}

pub(super) fn write(
    connection: &mut AnyConnection,
    writing: Writing<'_>,
    plan: &Plan,
) -> Result<()> {
    let Writing { firm, tenant: tenant_id } = writing;
    let (accountant, officer) = (holder(firm, "accountant")?, holder(firm, "payroll_officer")?);
    let posted = plan.commits.iter().map(|commit| NewCommit {
        tenant_id,
        number: commit.number,
        committed_at: commit.at,
        user_id: if commit.by == Poster::Accountant { accountant } else { officer },
    });
    insert_all!(connection, commits::table, posted.collect::<Vec<_>>());
    let mut rows = Rows::default();
    let mut series = BTreeMap::new();
    for sale in &plan.sales {
        add(&mut rows, writing, sale, &mut series)?;
    }
    insert_all!(connection, invoices::table, rows.invoices);
    insert_all!(connection, invoice_lines::table, rows.lines);
    // A credit note is issued after the invoice that it credits.
    for is_credit_note in [false, true] {
        let written = invoices::table
            .filter(invoices::tenant_id.eq(tenant_id))
            .filter(invoices::commit_number.is_not_null())
            .filter(invoices::origin_invoice_id.is_not_null().eq(is_credit_note));
        diesel::update(written).set(invoices::state.eq("issued")).execute(connection)?;
    }
    insert_all!(connection, dispatches::table, rows.dispatches);
    insert_all!(connection, payments::table, rows.payments);
    insert_all!(connection, reminders::table, rows.reminders);
    Ok(())
}

/// The number of an issued document, gap-free within firm, kind and year.
fn number(
    firm: &Firm,
    sale: &Sale,
    series: &mut BTreeMap<(&'static str, String), u32>,
) -> Option<String> {
    let year = sale.on.to_string().get(..4)?.to_owned();
    let last = series.entry((sale.document.as_str(), year.clone())).or_default();
    *last += 1;
    let letter = firm.series.letter(sale.document);
    Some(format!("{}-{letter}{year}-{last:04}", firm.prefix))
}

fn add<'a>(
    rows: &mut Rows<'a>,
    writing: Writing<'a>,
    sale: &Sale,
    series: &mut BTreeMap<(&'static str, String), u32>,
) -> Result<()> {
    let Writing { firm, tenant: tenant_id } = writing;
    let id: InvoiceId = writing.id(Kind::Invoice, sale.n);
    let number = if sale.is_issued { number(firm, sale, series) } else { None };
    let title = sale.title.of(firm);
    let client = nth(&MASTER.clients, sale.client - 1)?.name.of(firm);
    let has_slip = sale.is_issued && sale.document == Document::Invoice;
    let has_slip = has_slip && matches!(sale.currency, Currency::Chf | Currency::Eur);
    let qr = has_slip.then(|| qr_reference(&firm.qr_participant, u64::from(sale.n) * 1_000 + 26));
    let words = [number.as_deref().unwrap_or_default(), title, client];
    let search_text = searchable(words.into_iter().chain([qr.as_deref().unwrap_or_default()]));
    add_lines(rows, writing, sale, id)?;
    add_events(rows, writing, sale, id, qr.as_deref())?;
    rows.invoices.push(NewInvoice {
        tenant_id,
        id,
        client_id: writing.id(Kind::Client, sale.client),
        mandate_id: sale.mandate.map(|n| writing.id(Kind::Mandate, n)),
        document: sale.document,
        state: "draft",
        number,
        title,
        currency: sale.currency,
        issued_on: sale.is_issued.then_some(sale.on),
        due_on: sale.due_on,
        supply_from: sale.supplied()?.0,
        supply_to: sale.supplied()?.1,
        net: sale.sums.net,
        vat: sale.sums.vat,
        rounding: sale.sums.rounding,
        total: sale.sums.total,
        origin_invoice_id: sale.origin.map(|n| writing.id(Kind::Invoice, n)),
        qr_reference: qr,
        commit_number: sale.commit,
        search_text,
        created_at: moment(sale.on, i64::from(sale.n))?,
    });
    Ok(())
}

fn add_lines<'a>(
    rows: &mut Rows<'a>,
    writing: Writing<'a>,
    sale: &Sale,
    invoice_id: InvoiceId,
) -> Result<()> {
    for (position, line) in (1..).zip(&sale.lines) {
        let n = sale.n * 10 + u32::try_from(position).map_err(Error::fault)?;
        rows.lines.push(NewLine {
            tenant_id: writing.tenant,
            id: writing.id(Kind::InvoiceLine, n),
            invoice_id,
            position,
            service_id: Some(writing.id(Kind::Service, line.service)),
            description: line.description.of(writing.firm),
            quantity: line.quantity,
            unit: line.unit,
            unit_price: line.unit_price,
            net: line.net,
            vat_rate_percent: line.vat_rate,
            vat: line.vat,
        });
    }
    Ok(())
}

fn add_events(
    rows: &mut Rows<'_>,
    writing: Writing<'_>,
    sale: &Sale,
    invoice_id: InvoiceId,
    qr: Option<&str>,
) -> Result<()> {
    let Writing { firm, tenant: tenant_id } = writing;
    let unposted = || Error::fault("something on a document was not posted");
    if let Some((channel, sent_on)) = sale.sent {
        let id = writing.id(Kind::Dispatch, sale.n);
        rows.dispatches.push(NewDispatch { tenant_id, id, invoice_id, channel, sent_on });
    }
    for (n, payment) in (sale.n * 10..).zip(&sale.payments) {
        let by_bank = payment.method == PaymentMethod::Bank;
        rows.payments.push(NewPayment {
            tenant_id,
            id: writing.id(Kind::Payment, n),
            invoice_id,
            received_on: payment.received_on,
            amount: payment.amount,
            method: payment.method,
            reference: if by_bank { qr.map(str::to_owned) } else { Some(firm.payment.clone()) },
            reverses_id: payment.reverses_last.then(|| writing.id(Kind::Payment, n - 1)),
            commit_number: payment.commit.ok_or_else(unposted)?,
        });
    }
    for (n, reminder) in (sale.n * 10..).zip(&sale.reminders) {
        rows.reminders.push(NewReminder {
            tenant_id,
            id: writing.id(Kind::Reminder, n),
            invoice_id,
            level: reminder.level,
            sent_on: reminder.on,
            due_on: reminder.on.plus_days(10),
            fee: reminder_fee(reminder.level),
            commit_number: reminder.commit.ok_or_else(unposted)?,
        });
    }
    Ok(())
}
