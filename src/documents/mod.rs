//! Documents: what was filed for clients and mandates, and what it says.

mod search_documents;
mod snippet;

use crate::language::Language;
use crate::registry::Tool;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[Tool::read::<search_documents::SearchDocuments>()];

text_enum! {
    /// What a document is.
    DocumentKind {
        /// A contract, or a letter of engagement.
        Contract = "contract",
        /// An invoice received or sent.
        Invoice = "invoice",
        /// A receipt.
        Receipt = "receipt",
        /// A bank statement.
        BankStatement = "bank_statement",
        /// Wages: payslips, certificates, notices of insurance.
        Payroll = "payroll",
        /// VAT: returns, notices.
        Vat = "vat",
        /// Taxes: returns, assessments.
        Tax = "tax",
        /// Annual accounts and reports on them.
        Accounts = "accounts",
        /// Letters and e-mails.
        Correspondence = "correspondence",
        /// Papers that prove who somebody is.
        Identity = "identity",
        /// Anything else.
        Other = "other",
    }
}

impl DocumentKind {
    /// What people call it.
    const fn label(self, language: Language) -> &'static str {
        language.choose(match self {
            Self::Contract => ["contrat", "Vertrag", "contract"],
            Self::Invoice => ["facture", "Rechnung", "invoice"],
            Self::Receipt => ["quittance", "Quittung", "receipt"],
            Self::BankStatement => ["extrait bancaire", "Bankauszug", "bank statement"],
            Self::Payroll => ["salaires", "Löhne", "payroll"],
            Self::Vat => ["TVA", "MWST", "VAT"],
            Self::Tax => ["impôts", "Steuern", "tax"],
            Self::Accounts => ["comptes annuels", "Jahresrechnung", "annual accounts"],
            Self::Correspondence => ["correspondance", "Korrespondenz", "correspondence"],
            Self::Identity => ["pièce d'identité", "Ausweis", "identity"],
            Self::Other => ["autre", "anderes", "other"],
        })
    }
}
