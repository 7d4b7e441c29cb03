//! Sales documents: invoices, quotes, pro formas and credit notes, what was paid on them, and who owes what.
//!
//! What can be derived is not stored: an invoice is sent when a dispatch says so, reminded when a reminder does, and its
//! payment state follows from payments and credit notes.

pub(crate) mod expected;
mod get_invoice;
mod list_open_items;
mod open_items;
mod search_invoices;
mod states;

pub(crate) use open_items::open_balance;

use crate::registry::Tool;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[
    Tool::read::<search_invoices::SearchInvoices>(),
    Tool::read::<get_invoice::GetInvoice>(),
    Tool::read::<list_open_items::ListOpenItems>(),
];

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
