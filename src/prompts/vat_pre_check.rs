//! Whether a VAT return is ready to be looked at by who files it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::instructions;
use super::period::VatPeriod;
use crate::ids::MandateId;
use crate::registry::Instructions;

/// Check a mandate's VAT return before a person files it: figures against the ledger, rates, codes, input tax, unusual
/// amounts. (contrôle du décompte TVA / Vorprüfung der MWST-Abrechnung)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VatPreCheck {
    /// The mandate that files.
    mandate_id: MandateId,
    /// The period, as 2026-Q2, 2026-H1, 2026-06 or 2026.
    period: VatPeriod,
}

impl Instructions for VatPreCheck {
    const NAME: &'static str = "vat_pre_check";
    const TOOLS: &'static [&'static str] =
        &["get_mandate", "get_vat_return", "get_account_statement", "search_journal_entries"];

    fn example() -> Self {
        let mandate_id = crate::demo::ids::example_mandate();
        Self { mandate_id, period: VatPeriod::Quarter(2026, 2) }
    }

    fn text(&self) -> String {
        let Self { mandate_id: mandate, period } = self;
        let (first, last) = period.days();
        let arguments = period.arguments();
        instructions(
            &format!("Check the VAT return of mandate {mandate} for {period} before a person files it."),
            &[
                format!(
                    "Call get_mandate with mandate_id {mandate}: vat says the method and how often it files. If the mandate is not liable, or \
                     does not file for such a period, say so and stop."
                ),
                format!(
                    "Call get_vat_return with mandate_id {mandate}, {arguments}. Report every check of the answer that does not hold, with its \
                     difference. Figure 299 is 200 less 289, and equals the sum of the bases by rate; each base times its rate is \
                     its tax, within 1; 500 or 510 is 399 less 479. With net rates there is no input tax, and turnover includes VAT."
                ),
                format!(
                    "Call get_account_statement with mandate_id {mandate}, from {first} and to {last}, for the accounts that the return \
                     names as origin: VAT due (2200), input tax (1170, 1171), settlement (2201). The movements of the period equal the \
                     figures; what was corrected from earlier periods stands apart."
                ),
                format!(
                    "Call search_journal_entries with mandate_id {mandate}, from {first} and to {last}, and read all pages. Look at revenue \
                     without a VAT code, a rate that was not in force on the day of supply (not of the invoice), input tax on what gives \
                     none (meals of the owner, private use, exempt turnover), services from abroad without acquisition tax, and drafts, which \
                     the return leaves out."
                ),
                "Compare with the same period of the year before, and with the period just before: call get_vat_return for both. A \
                 figure that appears, vanishes, or differs by more than a fifth needs a reason; look for the entries that give it."
                    .to_owned(),
                "Answer with what is payable or credited, by form figure, then the findings, the costliest first: figure or entry number, amount, \
                 what does not fit, what to ask whom. Freezing and filing the return is for a person: do neither, and propose \
                 neither."
                    .to_owned(),
            ],
        )
    }
}
