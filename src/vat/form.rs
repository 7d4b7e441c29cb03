//! The figures of the return form, and how those that are computed follow from the others.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::language::Language;
use crate::ledger::VatPart;

text_enum! {
    /// A figure of the form (source: the return form of the Federal Tax Administration).
    FormFigure {
        /// Total consideration.
        Turnover = "200",
        /// Of which taxed by option.
        Opted = "205",
        /// Exports.
        Exports = "220",
        /// Place of supply abroad.
        Abroad = "221",
        /// Notification procedure.
        Notification = "225",
        /// Exempt without option.
        Exempt = "230",
        /// Reductions of consideration.
        Reductions = "235",
        /// Other deductions.
        OtherDeductions = "280",
        /// Total deductions.
        Deductions = "289",
        /// Taxable turnover.
        Taxable = "299",
        /// Normal rate until 2023.
        Normal2023 = "302",
        /// Reduced rate until 2023.
        Reduced2023 = "312",
        /// Accommodation until 2023.
        Accommodation2023 = "342",
        /// Acquisition tax until 2023.
        Acquisition2023 = "382",
        /// Normal rate.
        Normal = "303",
        /// Reduced rate.
        Reduced = "313",
        /// Accommodation.
        Accommodation = "343",
        /// Acquisition tax.
        Acquisition = "383",
        /// Net rate until 2023.
        NetRate2023 = "322",
        /// Second net rate until 2023.
        SecondNetRate2023 = "332",
        /// Net rate.
        NetRate = "323",
        /// Second net rate, for periods up to 2024.
        SecondNetRate = "333",
        /// Tax due.
        TaxDue = "399",
        /// Input tax on material and services.
        InputMaterial = "400",
        /// Input tax on investments and operating cost.
        InputOther = "405",
        /// Subsequent relief.
        Relief = "410",
        /// Corrections of input tax.
        InputCorrection = "415",
        /// Reductions of input tax.
        InputReduction = "420",
        /// Total input tax.
        InputTax = "479",
        /// Payable.
        Payable = "500",
        /// Credit.
        Credit = "510",
        /// Subsidies and tourist taxes.
        Subsidies = "900",
        /// Gifts, dividends, damages.
        Gifts = "910",
    }
}

use FormFigure as F;

text_enum! {
    /// Whether an amount is added or taken away.
    Sign {
        /// Added.
        Plus = "+",
        /// Taken away.
        Minus = "-",
    }
}

impl Sign {
    /// The sign of a sign.
    #[must_use]
    pub(super) fn times(self, other: Self) -> Self {
        if self == other { Self::Plus } else { Self::Minus }
    }

    /// What an amount is multiplied by.
    #[must_use]
    pub(super) const fn factor(self) -> i32 {
        match self {
            Self::Plus => 1,
            Self::Minus => -1,
        }
    }
}

/// One sum that postings make: of the taxed amounts or of the tax, of one figure.
pub(super) type Leaf = (FormFigure, VatPart);

/// Taxes that are due at a rate of their own: tax on supplies, then on acquisitions.
pub(super) const SUPPLY_TAXES: [FormFigure; 6] =
    [F::Normal2023, F::Reduced2023, F::Accommodation2023, F::Normal, F::Reduced, F::Accommodation];
/// Tax on services from abroad.
pub(super) const ACQUISITION_TAXES: [FormFigure; 2] = [F::Acquisition2023, F::Acquisition];
/// Turnover at net rates.
pub(super) const NET_RATE_TAXES: [FormFigure; 4] =
    [F::NetRate2023, F::SecondNetRate2023, F::NetRate, F::SecondNetRate];

impl FormFigure {
    /// The figures that this one is computed from; none for one that postings make.
    #[must_use]
    pub(super) const fn terms(self) -> &'static [(Self, Sign)] {
        use Sign::{Minus, Plus};
        match self {
            F::Deductions => &[
                (F::Exports, Plus),
                (F::Abroad, Plus),
                (F::Notification, Plus),
                (F::Exempt, Plus),
                (F::Reductions, Plus),
                (F::OtherDeductions, Plus),
            ],
            F::Taxable => &[(F::Turnover, Plus), (F::Deductions, Minus)],
            F::TaxDue => &[
                (F::Normal2023, Plus),
                (F::Reduced2023, Plus),
                (F::Accommodation2023, Plus),
                (F::Acquisition2023, Plus),
                (F::Normal, Plus),
                (F::Reduced, Plus),
                (F::Accommodation, Plus),
                (F::Acquisition, Plus),
                (F::NetRate2023, Plus),
                (F::SecondNetRate2023, Plus),
                (F::NetRate, Plus),
                (F::SecondNetRate, Plus),
            ],
            F::InputTax => &[
                (F::InputMaterial, Plus),
                (F::InputOther, Plus),
                (F::Relief, Plus),
                (F::InputCorrection, Minus),
                (F::InputReduction, Minus),
            ],
            F::Payable => &[(F::TaxDue, Plus), (F::InputTax, Minus)],
            F::Credit => &[(F::InputTax, Plus), (F::TaxDue, Minus)],
            _ => &[],
        }
    }

    /// Whether the form has a taxed amount and a tax for it.
    #[must_use]
    pub(super) fn has_base(self) -> bool {
        SUPPLY_TAXES.contains(&self)
            || ACQUISITION_TAXES.contains(&self)
            || NET_RATE_TAXES.contains(&self)
    }

    /// The part whose sum is the amount of the figure.
    #[must_use]
    pub(super) fn part(self) -> VatPart {
        let is_tax = self.has_base() || matches!(self.as_str().as_bytes(), [b'4', ..]);
        if is_tax { VatPart::Tax } else { VatPart::Base }
    }

    /// How it is computed, in figures: `200 - 289`.
    #[must_use]
    pub(super) fn rule(self) -> String {
        let term = |(at, (term, sign)): (usize, &(Self, Sign))| match (at, sign) {
            (0, Sign::Plus) => term.to_string(),
            _ => format!("{sign} {term}"),
        };
        self.terms().iter().enumerate().map(term).collect::<Vec<_>>().join(" ")
    }

    /// Its label.
    #[must_use]
    pub(super) fn label(self, language: Language) -> &'static str {
        let label = LABELS.iter().find(|label| label.figure == self);
        label.map_or("", |label| match language {
            Language::French => &label.fr,
            Language::German => &label.de,
            Language::English => &label.en,
        })
    }
}

/// A label in the three languages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    figure: FormFigure,
    fr: String,
    de: String,
    en: String,
}

static LABELS: LazyLock<Vec<Label>> = LazyLock::new(|| {
    let text = include_str!("../../fixtures/rules/vat_form.json");
    serde_json::from_str(text).unwrap_or_else(|error| {
        unreachable!(
            "fixtures/rules/vat_form.json is part of the program and tested with it: {error}"
        )
    })
});

#[cfg(test)]
mod tests {
    use super::{FormFigure, Language};

    #[test]
    fn every_figure_has_a_label_in_every_language() {
        for figure in FormFigure::ALL {
            for language in Language::ALL {
                assert!(!figure.label(*language).is_empty(), "{figure} {language}");
            }
        }
    }

    #[test]
    fn a_computed_figure_says_how() {
        assert_eq!(FormFigure::Taxable.rule(), "200 - 289");
        assert_eq!(FormFigure::InputTax.rule(), "400 + 405 + 410 - 415 - 420");
        assert_eq!(FormFigure::Credit.rule(), "479 - 399");
    }
}
