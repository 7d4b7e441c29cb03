//! One sales document with all that happened to it.

use diesel::dsl::sum;
use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::states::{OPEN, PAYMENT, STATE};
use super::{Channel, Document, DocumentState, PaymentMethod, PaymentState};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::{
    clients, dispatches, invoice_lines, invoices, mandates, payments, reminders,
};
use crate::error::Result;
use crate::firm::Unit;
use crate::ids::{ClientId, InvoiceId, MandateId, PaymentId};
use crate::money::{Currency, Money, Quantity, Rate};
use crate::registry::ReadTool;
use crate::text::FreeText;

/// Get one sales document: its lines, VAT by rate, payments, credit notes, reminders, dispatches and QR reference, with
/// what is still open. Find the id with search_invoices or list_open_items. (détail d'une facture / Rechnung im Detail,
/// bezahlt, gemahnt)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetInvoice {
    /// The document.
    invoice_id: InvoiceId,
}

/// One sales document.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InvoicePage {
    /// The document.
    #[serde(flatten)]
    head: Head,
    /// Its lines.
    lines: Vec<Line>,
    /// VAT by rate, as the lines have it.
    vat_by_rate: Vec<VatOfRate>,
    /// Money received, and reversals of it.
    payments: Vec<Payment>,
    /// Credit notes issued for it.
    credit_notes: Vec<CreditNote>,
    /// Reminders sent.
    reminders: Vec<Reminder>,
    /// When and how it was sent.
    dispatches: Vec<Dispatch>,
    /// Whether one of these lists is cut; net, VAT, VAT by rate, total and open cover all of it even then.
    truncated: bool,
}

/// What stands at the top and the bottom of a document.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct Head {
    /// The document.
    id: InvoiceId,
    /// What it is.
    document: Document,
    /// Its number; absent for a draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<FreeText>,
    /// Where it stands.
    state: DocumentState,
    /// Where its payment stands; absent for what is not owed.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<PaymentState>,
    /// What it is for.
    title: FreeText,
    /// The client.
    client_id: ClientId,
    /// The client's name.
    client: FreeText,
    /// The mandate.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate_id: Option<MandateId>,
    /// The mandate's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate: Option<FreeText>,
    /// The invoice that a credit note is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_invoice_id: Option<InvoiceId>,
    /// The currency of all amounts.
    currency: Currency,
    /// The day of issue; absent for a draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_on: Option<Day>,
    /// The day it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    due_on: Option<Day>,
    /// The first day of what was supplied.
    supply_from: Day,
    /// The last day of what was supplied.
    supply_to: Day,
    /// The sum of the lines, without VAT.
    net: Money,
    /// The VAT of the lines.
    vat: Money,
    /// What rounding to 5 centimes added.
    rounding: Money,
    /// What is to be paid: net, VAT and rounding.
    total: Money,
    /// What is still open, negative when overpaid; absent for what is not owed.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<Money>,
    /// The reference of the QR-bill, in groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    qr_reference: Option<String>,
}

/// A line.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct Line {
    /// Its place, from 1.
    position: i32,
    /// What was supplied.
    description: FreeText,
    /// How much of it.
    quantity: Quantity,
    /// What one is.
    unit: Unit,
    /// The price of one, without VAT.
    unit_price: Money,
    /// The amount, without VAT.
    net: Money,
    /// The VAT rate in per cent.
    vat_rate_percent: Rate,
    /// The VAT, rounded half up to the centime.
    vat: Money,
}

/// VAT of one rate.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct VatOfRate {
    /// The rate in per cent.
    vat_rate_percent: Rate,
    /// What it is computed on.
    net: Option<Money>,
    /// The VAT.
    vat: Option<Money>,
}

/// Money received.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct Payment {
    /// The payment.
    id: PaymentId,
    /// The day it came in.
    received_on: Day,
    /// The amount; negative when it reverses another.
    amount: Money,
    /// How it came in.
    method: PaymentMethod,
    /// What the payer wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<FreeText>,
    /// The payment that it reverses.
    #[serde(skip_serializing_if = "Option::is_none")]
    reverses_id: Option<PaymentId>,
}

/// A credit note.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct CreditNote {
    /// The credit note.
    id: InvoiceId,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<FreeText>,
    /// The day of issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_on: Option<Day>,
    /// What it credits.
    total: Money,
}

/// A reminder.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct Reminder {
    /// Its level, 0 to 4.
    level: i32,
    /// The day it was sent.
    sent_on: Day,
    /// The new day by which to pay.
    due_on: Day,
    /// What it costs.
    fee: Money,
}

/// A document that was sent.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct Dispatch {
    /// The day it was sent.
    sent_on: Day,
    /// How it was sent.
    channel: Channel,
}

/// Rows of each kind that the page shows at most.
const SHOWN: i64 = 100;

impl ReadTool for GetInvoice {
    const NAME: &'static str = "get_invoice";
    const PERMISSION: Permission = Permission::InvoiceRead;
    const WEIGHT: u32 = 2;
    type Output = InvoicePage;

    fn example() -> Self {
        Self { invoice_id: crate::demo::ids::example_invoice() }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<InvoicePage> {
        let id = self.invoice_id;
        let mut head = head(scope, id)?;
        head.qr_reference = head.qr_reference.as_deref().map(in_groups);
        let mut lines = lines(scope, id)?;
        let mut truncated = cut(&mut lines);
        // What the state rules out is not looked for.
        let is_owed = head.payment.is_some();
        let is_reminded = head.state == DocumentState::Reminded;
        let may_be_sent = is_reminded || head.state == DocumentState::Sent;
        let mut payments = if is_owed { payments_of(scope, id)? } else { vec![] };
        let mut credit_notes = if is_owed { credit_notes(scope, id)? } else { vec![] };
        truncated = cut(&mut payments) || cut(&mut credit_notes) || truncated;
        Ok(InvoicePage {
            vat_by_rate: vat_by_rate(scope, id)?,
            lines,
            payments,
            credit_notes,
            reminders: if is_reminded { reminders_of(scope, id)? } else { vec![] },
            dispatches: if may_be_sent { dispatches_of(scope, id)? } else { vec![] },
            truncated,
            head,
        })
    }
}

/// Leaves the rows that the page shows; whether there were more.
fn cut<T>(rows: &mut Vec<T>) -> bool {
    let shown = usize::try_from(SHOWN).unwrap_or(usize::MAX);
    let is_longer = rows.len() > shown;
    rows.truncate(shown);
    is_longer
}

fn head(scope: &mut Read<'_>, id: InvoiceId) -> Result<Head> {
    let today = scope.today();
    let columns = (
        invoices::id,
        invoices::document,
        invoices::number,
        STATE,
        PAYMENT.as_of(today),
        invoices::title,
        invoices::client_id,
        clients::name,
        invoices::mandate_id,
        mandates::number.nullable(),
        invoices::origin_invoice_id,
        invoices::currency,
        invoices::issued_on,
        invoices::due_on,
        invoices::supply_from,
        invoices::supply_to,
        invoices::net,
        invoices::vat,
        invoices::rounding,
        invoices::total,
        OPEN.as_of(today),
        invoices::qr_reference,
    );
    let this = scope.rows(invoices::table).inner_join(clients::table).left_join(mandates::table);
    scope.one("invoice", this.filter(invoices::id.eq(id)).select(columns))
}

fn lines(scope: &mut Read<'_>, id: InvoiceId) -> Result<Vec<Line>> {
    let columns = (
        invoice_lines::position,
        invoice_lines::description,
        invoice_lines::quantity,
        invoice_lines::unit,
        invoice_lines::unit_price,
        invoice_lines::net,
        invoice_lines::vat_rate_percent,
        invoice_lines::vat,
    );
    let all = scope.rows(invoice_lines::table).filter(invoice_lines::invoice_id.eq(id));
    scope.load(all.order(invoice_lines::position).select(columns).at_most(SHOWN + 1))
}

fn vat_by_rate(scope: &mut Read<'_>, id: InvoiceId) -> Result<Vec<VatOfRate>> {
    let all = scope.rows(invoice_lines::table).filter(invoice_lines::invoice_id.eq(id));
    let rates = all.group_by(invoice_lines::vat_rate_percent);
    let rates = rates.order(invoice_lines::vat_rate_percent.desc());
    let sums = (invoice_lines::vat_rate_percent, sum(invoice_lines::net), sum(invoice_lines::vat));
    scope.load(rates.select(sums).at_most(SHOWN + 1))
}

fn payments_of(scope: &mut Read<'_>, id: InvoiceId) -> Result<Vec<Payment>> {
    let columns = (
        payments::id,
        payments::received_on,
        payments::amount,
        payments::method,
        payments::reference,
        payments::reverses_id,
    );
    let all = scope.rows(payments::table).filter(payments::invoice_id.eq(id));
    scope.load(all.order((payments::received_on, payments::id)).select(columns).at_most(SHOWN + 1))
}

fn credit_notes(scope: &mut Read<'_>, id: InvoiceId) -> Result<Vec<CreditNote>> {
    let all = scope.rows(invoices::table).filter(invoices::origin_invoice_id.eq(id));
    let issued =
        all.filter(invoices::state.eq("issued")).order((invoices::issued_on, invoices::id));
    let columns = (invoices::id, invoices::number, invoices::issued_on, invoices::total);
    scope.load(issued.select(columns).at_most(SHOWN + 1))
}

fn reminders_of(scope: &mut Read<'_>, id: InvoiceId) -> Result<Vec<Reminder>> {
    let columns = (reminders::level, reminders::sent_on, reminders::due_on, reminders::fee);
    let all = scope.rows(reminders::table).filter(reminders::invoice_id.eq(id));
    scope.load(all.order(reminders::level).select(columns).at_most(SHOWN + 1))
}

fn dispatches_of(scope: &mut Read<'_>, id: InvoiceId) -> Result<Vec<Dispatch>> {
    let all = scope.rows(dispatches::table).filter(dispatches::invoice_id.eq(id));
    let columns = (dispatches::sent_on, dispatches::channel);
    scope.load(all.order((dispatches::sent_on, dispatches::id)).select(columns).at_most(SHOWN + 1))
}

/// A QR reference as it is printed: two digits, then groups of five.
fn in_groups(reference: &str) -> String {
    let (first, rest) = reference.split_at_checked(2).unwrap_or((reference, ""));
    let groups = rest.as_bytes().chunks(5).map(String::from_utf8_lossy);
    std::iter::once(first.into()).chain(groups).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::in_groups;

    #[test]
    fn a_qr_reference_is_printed_in_groups() {
        let printed = in_groups("210000000003139471430009017");
        assert_eq!(printed, "21 00000 00003 13947 14300 09017");
    }
}
