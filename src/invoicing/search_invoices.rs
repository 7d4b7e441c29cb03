//! Sales documents by number, title or client.

use diesel::dsl::{count_star, sum};
use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::states::{OPEN, PAYMENT, STATE};
use super::{Document, DocumentState, PaymentState};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{clients, invoices, mandates};
use crate::db::{ContainsAll, Filters, Newest, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{ClientId, InvoiceId, MandateId};
use crate::money::{Currency, Money};
use crate::registry::ReadTool;
use crate::text::{FreeText, search_words};

/// Search the firm's sales documents, drafts too: invoices, quotes, pro formas and credit notes, newest first, with
/// totals per document and currency over the whole set. For who owes what, use list_open_items; for lines, VAT and
/// payments of one, get_invoice. (factures, devis, avoirs / Rechnung suchen, Offerten, Gutschriften)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchInvoices {
    /// Words of the number, title, QR reference or client name; all by default.
    query: Option<String>,
    /// Any by default.
    document: Option<Document>,
    /// Any by default.
    state: Option<DocumentState>,
    /// Of issued invoices; any by default.
    payment: Option<PaymentState>,
    /// All by default.
    client_id: Option<ClientId>,
    /// All by default.
    mandate_id: Option<MandateId>,
    /// The first day of issue; any by default.
    from: Option<Day>,
    /// The last day of issue; any by default.
    to: Option<Day>,
    /// With VAT; none by default.
    amount_min: Option<Money>,
    /// With VAT; none by default.
    amount_max: Option<Money>,
    /// All by default.
    currency: Option<Currency>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(SearchInvoices);

/// A page of documents, and the totals of all that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundInvoices {
    /// The documents.
    #[serde(flatten)]
    page: Page<FoundInvoice>,
    /// Sums over the whole set. Different documents are not added together, and different currencies never.
    totals: Vec<DocumentTotal>,
}

/// The sum of one kind of document in one currency.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct DocumentTotal {
    /// The kind of document.
    document: Document,
    /// The currency.
    currency: Currency,
    /// How many there are.
    count: i64,
    /// The sum of their totals, VAT included.
    total: Option<Money>,
}

/// A sales document.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct FoundInvoice {
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
    /// The currency.
    currency: Currency,
    /// The day of issue; absent for a draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_on: Option<Day>,
    /// The day it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    due_on: Option<Day>,
    /// The total, VAT included.
    total: Money,
    /// What is still open, negative when overpaid; absent for what is not owed.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<Money>,
}

impl ReadTool for SearchInvoices {
    const NAME: &'static str = "search_invoices";
    const PERMISSION: Permission = Permission::InvoiceRead;
    const WEIGHT: u32 = 2;
    type Output = FoundInvoices;

    fn example() -> Self {
        Self { payment: Some(PaymentState::Partial), limit: Some(5), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundInvoices> {
        let paging = Paging::of(&mut self)?;
        let today = scope.today();
        let found = scope.rows(invoices::table).filter(self.chosen(today)?);
        let totals = found.clone().group_by((invoices::document, invoices::currency));
        let totals = totals.order((invoices::document, invoices::currency));
        let sums = (invoices::document, invoices::currency, count_star(), sum(invoices::total));
        let totals = scope.load(totals.select(sums))?;
        let named = found.clone().inner_join(clients::table).left_join(mandates::table);
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
            invoices::currency,
            invoices::issued_on,
            invoices::due_on,
            invoices::total,
            OPEN.as_of(today),
        );
        let position = |row: &FoundInvoice| row.id;
        let page = scope.page(found, named, columns, Newest(invoices::id), &paging, position)?;
        Ok(FoundInvoices { page, totals })
    }
}

impl SearchInvoices {
    fn chosen(&self, today: Day) -> Result<Filters<invoices::table>> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from > to
        {
            return Err(Error::argument("to", format!("to ({to}) is before from ({from})")));
        }
        if let (Some(min), Some(max)) = (self.amount_min, self.amount_max)
            && min > max
        {
            let said = format!("amount_max ({max}) is below amount_min ({min})");
            return Err(Error::argument("amount_max", said));
        }
        let words = self.query.as_deref().map(search_words).transpose()?;
        Ok(Filters::on(invoices::table)
            .and_some(words, |words| ContainsAll(invoices::search_text, words))
            .and_some(self.document, |document| invoices::document.eq(document))
            .and_some(self.state, |state| STATE.eq(state))
            .and_some(self.payment, |payment| PAYMENT.as_of(today).eq(payment))
            .and_some(self.client_id, |client| invoices::client_id.eq(client))
            .and_some(self.mandate_id, |mandate| invoices::mandate_id.eq(mandate))
            .and_some(self.from, |from| invoices::issued_on.ge(from))
            .and_some(self.to, |to| invoices::issued_on.le(to))
            .and_some(self.amount_min, |amount| invoices::total.ge(amount))
            .and_some(self.amount_max, |amount| invoices::total.le(amount))
            .and_some(self.currency, |currency| invoices::currency.eq(currency)))
    }
}
