//! Who did what: the postings of the firm and the records in them.

mod search_audit_log;

use crate::registry::Tool;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[Tool::read::<search_audit_log::SearchAuditLog>()];

text_enum! {
    /// What was done to a record, by the noun of the tool that proposes it.
    Action {
        /// A sales document was issued.
        InvoiceIssue = "invoice_issue",
        /// Money received was recorded.
        PaymentReceipt = "payment_receipt",
        /// Money received was taken back.
        PaymentReversal = "payment_reversal",
        /// A reminder was sent.
        Reminder = "reminder",
        /// A payslip was made final.
        Payslip = "payslip",
        /// A payslip was taken back.
        PayslipReversal = "payslip_reversal",
        /// An entry was posted.
        JournalEntry = "journal_entry",
        /// A VAT return was frozen.
        VatReturn = "vat_return",
    }
}

text_enum! {
    /// How it ended.
    Outcome {
        /// It was done.
        Done = "done",
        /// It was refused.
        Refused = "refused",
    }
}
