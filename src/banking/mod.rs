//! Bank statements: what came in, and for which invoices.

mod candidates;
mod match_bank_statement;
mod rules;

use crate::registry::Tool;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[Tool::read::<match_bank_statement::MatchBankStatement>()];

text_enum! {
    /// Where a line of a statement stands.
    LineState {
        /// It was recorded as payments.
        Matched = "matched",
        /// One invoice fits in reference, amount, currency and account.
        Certain = "certain",
        /// Something fits, and a person decides.
        Suggested = "suggested",
        /// Nothing fits.
        Unmatched = "unmatched",
        /// Money that went out, which pays no invoice of the firm.
        Outgoing = "outgoing",
    }
}

text_enum! {
    /// By what an invoice was found; the first that finds something ends the search.
    MatchRule {
        /// Its QR or creditor reference, with right check digits.
        Reference = "reference",
        /// Its number in the text.
        Number = "number",
        /// What is open on it, and the name of the payer.
        AmountAndName = "amount_and_name",
        /// The payment that the bank takes back.
        Reversal = "reversal",
    }
}

text_enum! {
    /// How sure a suggestion is.
    Certainty {
        /// Reference, amount, currency and account fit, and no other invoice does.
        Certain = "certain",
        /// Most fits.
        Likely = "likely",
        /// It may be so.
        Possible = "possible",
    }
}

text_enum! {
    /// How an amount stands to what is open.
    PaymentFit {
        /// It is what is open.
        Exact = "exact",
        /// It is less than what is open.
        Part = "part",
        /// It is more than what is open, which may be nothing.
        Over = "over",
        /// It is in another currency.
        OtherCurrency = "other_currency",
        /// It takes back what was paid, which opens the invoice again.
        Reopens = "reopens",
    }
}
