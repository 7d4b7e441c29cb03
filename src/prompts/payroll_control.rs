//! Whether a month's payroll is complete and plausible.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::period::Month;
use super::{given, instructions};
use crate::ids::{EmployeeId, MandateId};
use crate::registry::Instructions;

/// Control a month's payroll of a mandate: everybody has one payslip, changes against the month before have a reason, lines
/// add up. (contrôle des salaires / Lohnkontrolle)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PayrollControl {
    /// The mandate whose payroll it is.
    mandate_id: MandateId,
    /// The month, as YYYY-MM.
    month: Month,
    /// Only this employee; everybody by default.
    employee_id: Option<EmployeeId>,
}

impl Instructions for PayrollControl {
    const NAME: &'static str = "payroll_control";
    const TOOLS: &'static [&'static str] =
        &["list_employees", "get_employee", "list_payslips", "get_payslip"];

    fn example() -> Self {
        let mandate_id = crate::demo::ids::example_payroll_mandate();
        Self { mandate_id, month: Month { year: 2026, month: 3 }, employee_id: None }
    }

    fn text(&self) -> String {
        let Self { mandate_id, month, employee_id } = self;
        let (first, last) = month.days();
        let before = month.before();
        let whom = given("employee_id", *employee_id);
        instructions(
            &format!("Control the payroll of mandate {mandate_id} for {month}."),
            &[
                format!(
                    "Call list_employees with mandate_id {mandate_id} and limit 100, and read all pages. A payslip is due for who was \
                     employed in the month: hired_on up to {last}, and left_on absent or from {first} on."
                ),
                format!(
                    "Call list_payslips with mandate_id {mandate_id}, year {}, month {}{whom} and limit 100, and read all pages. \
                     Everybody due must have exactly one final payslip that is not reversed (reverses_id names the reversed \
                     one; the two cancel each other). Name who has none, who has two, who has only a draft, and who has one \
                     without being due.",
                    month.year, month.month
                ),
                format!(
                    "Call list_payslips the same way for year {}, month {}. Compare gross and net of each person with the month before. \
                     Where gross differs by more than 5 per cent, call get_payslip for both months and get_employee for the \
                     contracts (salary, activity_percent, valid_from), and say which line or which contract explains it. A \
                     13th salary, a bonus or an entry or exit during the month are explanations; none found is a finding.",
                    before.year, before.month
                ),
                "Call get_payslip for every payslip that stood out, and for at least three others. Per payslip: earnings less \
                 deductions plus allowances is net; where base and rate_percent stand on a line, base times rate is the \
                 amount, to the rounding of 0.05; the same deduction has the same rate for everybody, except pension funds \
                 and withholding tax. Say so when withholding tax is due by the contract and no line deducts it."
                    .to_owned(),
                "Answer with the totals of the month per state and currency as list_payslips gives them, then a list of findings, \
                 one line each: person, what is wrong or unexplained, by how much, where to look. Do not ask get_employee \
                 for sensitive identifiers: this control needs none."
                    .to_owned(),
            ],
        )
    }
}
