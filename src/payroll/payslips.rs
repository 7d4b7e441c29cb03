//! Payslips by month.

use diesel::dsl::{count_star, sum};
use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PayslipState;
use super::employees::mandate;
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{employees, payslips};
use crate::db::{Filters, Newest, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{EmployeeId, MandateId, PayslipId};
use crate::money::{Currency, Money};
use crate::registry::ReadTool;
use crate::text::FreeText;

/// List the payslips of a mandate, newest first, with totals per state and currency over the whole set. For the lines
/// of one, with bases and rates, use get_payslip. (fiches de salaire / Lohnabrechnungen, Entwurf)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListPayslips {
    /// The mandate whose payroll it is.
    mandate_id: MandateId,
    /// All by default.
    year: Option<i32>,
    /// 1 to 12; all by default.
    month: Option<i32>,
    /// All by default.
    employee_id: Option<EmployeeId>,
    /// Any by default.
    state: Option<PayslipState>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ListPayslips);

/// A page of payslips, and the totals of all that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundPayslips {
    /// The payslips.
    #[serde(flatten)]
    page: Page<FoundPayslip>,
    /// Sums over the whole set; drafts apart, currencies never added together.
    totals: Vec<PayslipTotal>,
}

/// The sum of payslips in one state and currency.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct PayslipTotal {
    /// The state.
    pub(super) state: PayslipState,
    /// The currency.
    currency: Currency,
    /// How many there are.
    count: i64,
    /// Gross salaries.
    gross: Option<Money>,
    /// Deductions.
    deductions: Option<Money>,
    /// Allowances.
    allowances: Option<Money>,
    /// What is paid out.
    net: Option<Money>,
    /// What the employer pays on top.
    employer_charges: Option<Money>,
}

/// A payslip and whose it is.
#[derive(Debug, Serialize, Queryable, Selectable, JsonSchema)]
#[diesel(table_name = payslips)]
pub(super) struct FoundPayslip {
    /// The payslip.
    #[serde(flatten)]
    #[diesel(embed)]
    pub(super) head: Payslip,
    /// The employee's first name.
    #[diesel(select_expression = employees::first_name)]
    first_name: FreeText,
    /// The employee's last name.
    #[diesel(select_expression = employees::last_name)]
    last_name: FreeText,
}

/// A payslip.
#[derive(Debug, Serialize, Queryable, Selectable, JsonSchema)]
#[diesel(table_name = payslips)]
pub(super) struct Payslip {
    /// The payslip.
    pub(super) id: PayslipId,
    /// The employee.
    pub(super) employee_id: EmployeeId,
    /// The year.
    pub(super) year: i32,
    /// The month, 1 to 12.
    pub(super) month: i32,
    /// Draft or final.
    pub(super) state: PayslipState,
    /// The currency.
    currency: Currency,
    /// The gross salary.
    pub(super) gross: Money,
    /// What is deducted.
    deductions: Money,
    /// What is paid on top.
    allowances: Money,
    /// What is paid out: gross, less deductions, plus allowances.
    net: Money,
    /// What the employer pays on top.
    employer_charges: Money,
    /// The day it was paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    paid_on: Option<Day>,
    /// The payslip that it reverses; its amounts are then negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    reverses_id: Option<PayslipId>,
}

impl ReadTool for ListPayslips {
    const NAME: &'static str = "list_payslips";
    const PERMISSION: Permission = Permission::PayrollRead;
    const WEIGHT: u32 = 3;
    type Output = FoundPayslips;

    fn example() -> Self {
        let mandate_id = crate::demo::ids::example_payroll_mandate();
        let (year, month, limit) = (Some(2026), Some(3), Some(5));
        Self { mandate_id, year, month, employee_id: None, state: None, limit, cursor: None }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundPayslips> {
        let paging = Paging::of(&mut self)?;
        if self.month.is_some_and(|month| !(1..=12).contains(&month)) {
            return Err(Error::argument("month", "month must be from 1 to 12"));
        }
        if self.year.is_some_and(|year| !(1900..=2199).contains(&year)) {
            return Err(Error::argument("year", "year must be from 1900 to 2199"));
        }
        mandate(scope, self.mandate_id)?;
        let chosen = Filters::on(payslips::table)
            .and(payslips::mandate_id.eq(self.mandate_id))
            .and_some(self.year, |year| payslips::year.eq(year))
            .and_some(self.month, |month| payslips::month.eq(month))
            .and_some(self.employee_id, |employee| payslips::employee_id.eq(employee))
            .and_some(self.state, |state| payslips::state.eq(state));
        let found = scope.rows(payslips::table).filter(chosen);
        let sums = (
            payslips::state,
            payslips::currency,
            count_star(),
            sum(payslips::gross),
            sum(payslips::deductions),
            sum(payslips::allowances),
            sum(payslips::net),
            sum(payslips::employer_charges),
        );
        let totals = found.clone().group_by((payslips::state, payslips::currency));
        let totals = totals.order((payslips::state, payslips::currency)).select(sums);
        let totals = scope.load(totals)?;
        let named = found.clone().inner_join(employees::table);
        let position = |row: &FoundPayslip| row.head.id;
        let page = scope.page(
            found,
            named,
            FoundPayslip::as_select(),
            Newest(payslips::id),
            &paging,
            position,
        )?;
        Ok(FoundPayslips { page, totals })
    }
}
