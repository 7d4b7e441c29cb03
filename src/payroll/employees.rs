//! The people employed under a mandate.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EmployeeStatus;
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{employees, mandates};
use crate::db::{Ascending, ContainsAll, Filters, Page, Paging, Read};
use crate::error::Result;
use crate::ids::{EmployeeId, MandateId};
use crate::registry::ReadTool;
use crate::text::{FreeText, search_words};

/// List the people employed under a mandate, in alphabetical order, without figures. For contract and pay of one, use
/// get_employee; for payslips, list_payslips. (employés / Mitarbeitende)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListEmployees {
    /// The mandate whose payroll it is.
    mandate_id: MandateId,
    /// Status today; any by default.
    status: Option<EmployeeStatus>,
    /// Words of the name or number; all by default.
    query: Option<String>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ListEmployees);

/// A person employed under a mandate.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListedEmployee {
    /// The employee.
    id: EmployeeId,
    /// The employee's number.
    number: FreeText,
    /// The first name.
    first_name: FreeText,
    /// The last name.
    last_name: FreeText,
    /// Whether the person is employed today.
    status: EmployeeStatus,
    /// The first day of employment.
    hired_on: Day,
    /// The last day of employment.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_on: Option<Day>,
}

#[derive(Debug, Serialize, Queryable, Selectable)]
#[diesel(table_name = employees)]
struct Row {
    id: EmployeeId,
    number: FreeText,
    first_name: FreeText,
    last_name: FreeText,
    hired_on: Day,
    left_on: Option<Day>,
    sort_name: String,
}

impl ReadTool for ListEmployees {
    const NAME: &'static str = "list_employees";
    const PERMISSION: Permission = Permission::PayrollRead;
    const WEIGHT: u32 = 2;
    type Output = Page<ListedEmployee>;

    fn example() -> Self {
        let mandate_id = crate::demo::ids::example_payroll_mandate();
        Self { mandate_id, status: None, query: None, limit: Some(5), cursor: None }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<Page<ListedEmployee>> {
        let paging = Paging::of(&mut self)?.of_bare_rows();
        mandate(scope, self.mandate_id)?;
        let today = scope.today();
        let words = self.query.as_deref().map(search_words).transpose()?;
        let (employed, left) = match self.status {
            None => (None, None),
            Some(EmployeeStatus::Active) => (Some(today), None),
            Some(EmployeeStatus::Left) => (None, Some(today)),
        };
        let chosen = Filters::on(employees::table)
            .and(employees::mandate_id.eq(self.mandate_id))
            .and_some(employed, |day| employees::left_on.is_null().or(employees::left_on.ge(day)))
            .and_some(left, |day| employees::left_on.lt(day))
            .and_some(words, |words| ContainsAll(employees::search_text, words));
        let found = scope.rows(employees::table).filter(chosen);
        let by = Ascending(employees::sort_name, employees::id);
        let position = |row: &Row| (row.sort_name.clone(), row.id);
        let page = scope.page(found.clone(), found, Row::as_select(), by, &paging, position)?;
        Ok(page.map(|row| {
            let Row { id, number, first_name, last_name, hired_on, left_on, .. } = row;
            let status = status(left_on, today);
            ListedEmployee { id, number, first_name, last_name, status, hired_on, left_on }
        }))
    }
}

/// Whether a person with this last day is employed on `today`.
pub(super) fn status(left_on: Option<Day>, today: Day) -> EmployeeStatus {
    match left_on {
        Some(day) if day < today => EmployeeStatus::Left,
        _ => EmployeeStatus::Active,
    }
}

/// Refuses a mandate that is not within reach: its list would be empty, not absent.
pub(super) fn mandate(scope: &mut Read<'_>, id: MandateId) -> Result<()> {
    let this = scope.rows(mandates::table).filter(mandates::id.eq(id)).select(mandates::id);
    scope.one::<_, MandateId>("mandate", this).map(drop)
}
