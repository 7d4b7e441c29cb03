//! The sections of the profit and loss and of the balance sheet: by what an account is, then by its number.

use super::AccountKind;
use crate::language::Language;

text_enum! {
    /// A section of a report.
    Section {
        /// Revenue: 3.
        Revenue = "revenue",
        /// Material, goods and services of third parties: 4.
        Material = "material",
        /// Personnel: 5.
        Personnel = "personnel",
        /// Other operating: 60 to 67.
        Operating = "operating",
        /// Depreciation: 68.
        Depreciation = "depreciation",
        /// Financial: 69.
        Financial = "financial",
        /// Ancillary: 7.
        Ancillary = "ancillary",
        /// Non-operating, extraordinary: 80 to 88.
        Extraordinary = "extraordinary",
        /// Direct taxes: 89.
        Taxes = "taxes",
        /// Income and expense under any other number.
        Other = "other",
        /// Assets: 10 to 13.
        CurrentAssets = "current_assets",
        /// Every other asset.
        FixedAssets = "fixed_assets",
        /// Liabilities: 20 to 23.
        ShortTerm = "short_term_liabilities",
        /// Every other liability.
        LongTerm = "long_term_liabilities",
        /// Capital, reserves, results.
        Equity = "equity",
    }
}

impl Section {
    /// The section of an account; closing accounts have none.
    pub(super) fn of(kind: AccountKind, number: &str) -> Option<Self> {
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| number.starts_with(prefix));
        Some(match kind {
            AccountKind::Closing => return None,
            AccountKind::Equity => Self::Equity,
            AccountKind::Asset if starts(&["10", "11", "12", "13"]) => Self::CurrentAssets,
            AccountKind::Asset => Self::FixedAssets,
            AccountKind::Liability if starts(&["20", "21", "22", "23"]) => Self::ShortTerm,
            AccountKind::Liability => Self::LongTerm,
            AccountKind::Income | AccountKind::Expense => match number {
                _ if starts(&["3"]) => Self::Revenue,
                _ if starts(&["4"]) => Self::Material,
                _ if starts(&["5"]) => Self::Personnel,
                _ if starts(&["68"]) => Self::Depreciation,
                _ if starts(&["69"]) => Self::Financial,
                _ if starts(&["6"]) => Self::Operating,
                _ if starts(&["7"]) => Self::Ancillary,
                _ if starts(&["89"]) => Self::Taxes,
                _ if starts(&["8"]) => Self::Extraordinary,
                _ => Self::Other,
            },
        })
    }

    /// Its name in the caller's language.
    pub(super) const fn label(self, language: Language) -> &'static str {
        let [french, german, english] = match self {
            Self::Revenue => ["Produits d'exploitation", "Betriebsertrag", "Operating revenue"],
            Self::Material => [
                "Matières et prestations",
                "Material und Dienstleistungen",
                "Material and services",
            ],
            Self::Personnel => ["Personnel", "Personalaufwand", "Personnel"],
            Self::Operating => [
                "Autres charges d'exploitation",
                "Übriger Betriebsaufwand",
                "Other operating expense",
            ],
            Self::Depreciation => ["Amortissements", "Abschreibungen", "Depreciation"],
            Self::Financial => ["Résultat financier", "Finanzergebnis", "Financial result"],
            Self::Ancillary => ["Activités accessoires", "Nebenbetriebe", "Ancillary activities"],
            Self::Extraordinary => [
                "Hors exploitation, extraordinaire",
                "Betriebsfremd, ausserordentlich",
                "Non-operating, extraordinary",
            ],
            Self::Taxes => ["Impôts directs", "Direkte Steuern", "Direct taxes"],
            Self::Other => ["Autres", "Übriges", "Other"],
            Self::CurrentAssets => ["Actifs circulants", "Umlaufvermögen", "Current assets"],
            Self::FixedAssets => ["Actifs immobilisés", "Anlagevermögen", "Fixed assets"],
            Self::ShortTerm => {
                ["Dettes à court terme", "Kurzfristiges Fremdkapital", "Short-term liabilities"]
            }
            Self::LongTerm => {
                ["Dettes à long terme", "Langfristiges Fremdkapital", "Long-term liabilities"]
            }
            Self::Equity => ["Fonds propres", "Eigenkapital", "Equity"],
        };
        match language {
            Language::French => french,
            Language::German => german,
            Language::English => english,
        }
    }
}
