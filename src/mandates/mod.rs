//! Mandates: engagements for clients, who works on them, how they are billed, how they file VAT.

mod completion;
mod get_mandate;
mod search_mandates;

pub use completion::COMPLETION;

use crate::registry::{Resource, Tool};

/// The tools of this slice.
pub const TOOLS: &[Tool] =
    &[Tool::read::<search_mandates::SearchMandates>(), Tool::read::<get_mandate::GetMandate>()];

/// The resources of this slice.
pub const RESOURCES: &[Resource] = &[Resource::template::<get_mandate::GetMandate>(
    "guichet://mandates/{id}",
    "A mandate",
    "mandate_id",
)];

text_enum! {
    /// What a mandate is about.
    MandateKind {
        /// Bookkeeping and annual accounts.
        Accounting = "accounting",
        /// Wages.
        Payroll = "payroll",
        /// VAT returns.
        Vat = "vat",
        /// Tax returns.
        Tax = "tax",
        /// Audit.
        Audit = "audit",
        /// Advice.
        Advisory = "advisory",
    }
}

text_enum! {
    /// Where a mandate stands.
    MandateStatus {
        /// Offered, not yet agreed.
        Prospective = "prospective",
        /// Under way.
        Active = "active",
        /// Interrupted.
        Suspended = "suspended",
        /// Over.
        Ended = "ended",
    }
}

text_enum! {
    /// How a mandate is billed.
    Billing {
        /// By the hour.
        Hourly = "hourly",
        /// A flat fee.
        FlatFee = "flat_fee",
        /// Not at all.
        NotBilled = "not_billed",
    }
}

text_enum! {
    /// How VAT is computed.
    VatMethod {
        /// Not liable to VAT.
        NotLiable = "not_liable",
        /// VAT on supplies less input VAT.
        Effective = "effective",
        /// A net rate of turnover (TDFN, Saldosteuersatz).
        NetRate = "net_rate",
    }
}

text_enum! {
    /// How often VAT is filed.
    VatPeriod {
        /// Every month.
        Month = "month",
        /// Every quarter.
        Quarter = "quarter",
        /// Every half-year.
        Half = "half",
        /// Every year.
        Year = "year",
    }
}

text_enum! {
    /// What a person does in a mandate.
    Duty {
        /// Leads it.
        Lead = "lead",
        /// Keeps the books.
        Accountant = "accountant",
        /// Runs payroll.
        Payroll = "payroll",
        /// Assists.
        Assistant = "assistant",
        /// Reviews.
        Reviewer = "reviewer",
    }
}
