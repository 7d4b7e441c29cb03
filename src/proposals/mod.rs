//! Proposals: changes that somebody prepared and that wait to be carried out, or for a second person.

mod list_proposals;

use crate::auth::Permission;
use crate::registry::Tool;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[Tool::read::<list_proposals::ListProposals>()];

text_enum! {
    /// Where a proposal stands.
    ProposalState {
        /// Prepared; whoever made it may carry it out.
        Pending = "pending",
        /// Carried out.
        Confirmed = "confirmed",
        /// Confirmed, and waiting for a second person.
        AwaitingApproval = "awaiting_approval",
        /// Approved by a second person, and carried out.
        Approved = "approved",
        /// Refused by a second person.
        Rejected = "rejected",
        /// Withdrawn.
        Cancelled = "cancelled",
        /// Not decided in time.
        Expired = "expired",
        /// What it was about has changed meanwhile.
        Stale = "stale",
    }
}

text_enum! {
    /// What a second person is needed for.
    ApprovalArea {
        /// Invoices.
        Invoice = "invoice",
        /// Payments.
        Payment = "payment",
        /// Clients.
        Client = "client",
        /// Ledgers.
        Ledger = "ledger",
        /// VAT returns.
        Vat = "vat",
        /// Payslips.
        Payroll = "payroll",
    }
}

impl ApprovalArea {
    /// What a person's role must grant to approve.
    const fn permission(self) -> Permission {
        match self {
            Self::Invoice => Permission::ApproveInvoice,
            Self::Payment => Permission::ApprovePayment,
            Self::Client => Permission::ApproveClient,
            Self::Ledger => Permission::ApproveLedger,
            Self::Vat => Permission::ApproveVat,
            Self::Payroll => Permission::ApprovePayroll,
        }
    }
}

text_enum! {
    /// What somebody authenticated with.
    CredentialKind {
        /// A session after signing in.
        Jwt = "jwt",
        /// An API token.
        ApiToken = "api_token",
    }
}
