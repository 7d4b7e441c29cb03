//! Sales documents: invoices, quotes, pro formas and credit notes, what was paid on them, and who owes what.
//!
//! What can be derived is not stored: an invoice is sent when a dispatch says so, reminded when a reminder does, and its
//! payment state follows from payments and credit notes.

mod breakdown;
pub(crate) mod expected;
mod figures;
mod get_invoice;
mod get_revenue;
mod ledger;
mod list_open_items;
mod open_figures;
mod open_items;
mod overview;
mod revenue;
mod revenue_figures;
mod search_invoices;
mod states;

pub(crate) use list_open_items::OpenTotal;
pub(crate) use open_items::{Chosen, open_balance};
pub(crate) use overview::{Overdue, RevenueToDate, receivables, revenue_to_date};

use diesel::prelude::*;

use crate::db::Read;
use crate::db::schema::{clients, mandates};
use crate::error::Result;
use crate::ids::{ClientId, MandateId};
use crate::registry::Tool;
use crate::reports::FigureKind;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[
    Tool::read::<search_invoices::SearchInvoices>(),
    Tool::read::<get_invoice::GetInvoice>(),
    Tool::read::<list_open_items::ListOpenItems>(),
    Tool::read::<get_revenue::GetRevenue>(),
];

/// The figures of this slice.
pub const FIGURES: &[FigureKind] = &[
    FigureKind::of::<open_figures::OpenFigure>(),
    FigureKind::of::<revenue_figures::RevenueFigure>(),
];

/// Refuses a report on a client or a mandate that the caller does not reach.
fn check_reached(
    scope: &mut Read<'_>,
    client: Option<ClientId>,
    mandate: Option<MandateId>,
) -> Result<()> {
    if let Some(id) = client {
        let this = scope.rows(clients::table).filter(clients::id.eq(id)).select(clients::id);
        scope.one::<_, ClientId>("client", this)?;
    }
    if let Some(id) = mandate {
        let this = scope.rows(mandates::table).filter(mandates::id.eq(id)).select(mandates::id);
        scope.one::<_, MandateId>("mandate", this)?;
    }
    Ok(())
}

text_enum! {
    /// What kind of sales document it is.
    Document {
        /// An invoice.
        Invoice = "invoice",
        /// A quote (offre, devis / Offerte); never owed.
        Quote = "quote",
        /// A pro forma; never owed.
        ProForma = "pro_forma",
        /// A credit note (avoir / Gutschrift) to an invoice; lowers what is owed.
        CreditNote = "credit_note",
    }
}

text_enum! {
    /// Where a sales document stands.
    DocumentState {
        /// Being written; not owed.
        Draft = "draft",
        /// Issued, not yet sent.
        Issued = "issued",
        /// Issued and sent.
        Sent = "sent",
        /// Issued and reminded at least once.
        Reminded = "reminded",
    }
}

text_enum! {
    /// Where the payment of an issued invoice stands.
    PaymentState {
        /// Nothing paid or credited.
        Open = "open",
        /// Part of it paid or credited.
        Partial = "partial",
        /// Paid or credited in full.
        Paid = "paid",
        /// More paid and credited than owed.
        Overpaid = "overpaid",
    }
}

text_enum! {
    /// How money came in.
    PaymentMethod {
        /// By bank transfer.
        Bank = "bank",
        /// In cash.
        Cash = "cash",
        /// By card.
        Card = "card",
        /// By TWINT.
        Twint = "twint",
        /// In another way.
        Other = "other",
    }
}

text_enum! {
    /// How a document was sent.
    Channel {
        /// By e-mail.
        Email = "email",
        /// By post.
        Post = "post",
        /// By eBill.
        Ebill = "ebill",
    }
}
