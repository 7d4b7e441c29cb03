//! One payslip, line by line.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PayslipLineKind;
use super::payslips::FoundPayslip;
use super::taxes::{WithholdingTax, withholding};
use super::year_to_date::{Pension, YearToDate, pension, year_to_date};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::{employees, payslip_lines, payslips};
use crate::error::{Error, Result};
use crate::ids::{MandateId, PayslipId};
use crate::money::{Money, Rate};
use crate::registry::ReadTool;
use crate::text::FreeText;

/// Lines of a payslip that are shown.
const MOST_LINES: i64 = 200;

/// Get one payslip line by line, each with its base and rate, what was earned and insured since January against the annual
/// ceiling, the pension and the withholding tax. Find the id with list_payslips. (détail d'une fiche de salaire, salaire
/// net / Lohnabrechnung im Detail, Abzüge)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetPayslip {
    /// The payslip.
    payslip_id: PayslipId,
}

/// One payslip.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PayslipPage {
    /// The payslip.
    #[serde(flatten)]
    head: FoundPayslip,
    /// The mandate whose payroll it is.
    mandate_id: MandateId,
    /// Its lines.
    lines: Vec<Line>,
    /// Whether it has more lines than are shown.
    truncated: bool,
    /// What was earned, insured and paid since January, this payslip included.
    year_to_date: YearToDate,
    /// How the occupational pension follows from the contract; absent where none is due by law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pension: Option<Pension>,
    /// The withholding tax; absent for who is not taxed at the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    withholding_tax: Option<WithholdingTax>,
}

/// A line.
#[derive(Debug, Serialize, Queryable, Selectable, JsonSchema)]
#[diesel(table_name = payslip_lines)]
struct Line {
    /// Its place, from 1.
    position: i32,
    /// What it does.
    kind: PayslipLineKind,
    /// Its code.
    code: FreeText,
    /// What it is.
    label: FreeText,
    /// What the rate is applied to; of the pension, the coordinated salary of the year.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<Money>,
    /// The rate in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_percent: Option<Rate>,
    /// The amount, positive; a deduction is subtracted.
    amount: Money,
}

impl ReadTool for GetPayslip {
    const NAME: &'static str = "get_payslip";
    const PERMISSION: Permission = Permission::PayrollRead;
    const WEIGHT: u32 = 2;
    type Output = PayslipPage;

    fn example() -> Self {
        Self { payslip_id: crate::demo::ids::example_payslip() }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<PayslipPage> {
        let id = self.payslip_id;
        let this = scope.rows(payslips::table).inner_join(employees::table);
        let columns = (payslips::mandate_id, employees::birth_date, FoundPayslip::as_select());
        let this = this.filter(payslips::id.eq(id)).select(columns);
        let row: (MandateId, Day, FoundPayslip) = scope.one("payslip", this)?;
        let (mandate_id, born_on, head) = row;
        let lines = scope.rows(payslip_lines::table).filter(payslip_lines::payslip_id.eq(id));
        let lines = lines.order(payslip_lines::position).select(Line::as_select());
        let mut lines: Vec<Line> = scope.load(lines.at_most(MOST_LINES + 1))?;
        let truncated = i64::try_from(lines.len()).unwrap_or(i64::MAX) > MOST_LINES;
        lines.truncate(usize::try_from(MOST_LINES).unwrap_or_default());
        let last = last_day(head.head.year, head.head.month)?;
        let income = head.head.gross;
        let employee = head.head.employee_id;
        let year_to_date = year_to_date(scope, &head.head, last)?;
        let pension = pension(scope, employee, born_on, last)?;
        let withholding_tax = withholding(scope, employee, last, income)?;
        Ok(PayslipPage {
            head,
            mandate_id,
            lines,
            truncated,
            year_to_date,
            pension,
            withholding_tax,
        })
    }
}

/// The last day of a month.
fn last_day(year: i32, month: i32) -> Result<Day> {
    let first = u32::try_from(month).ok().and_then(|month| Day::from_ymd(year, month, 1));
    let first = first.ok_or_else(|| Error::fault("a payslip is of no month"))?;
    Ok(first.plus_months(1).minus_days(1))
}
