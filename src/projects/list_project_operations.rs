//! The work packages of a phase.

use std::collections::BTreeMap;

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ProjectStatus, hours, hours_left};
use crate::auth::Permission;
use crate::db::schema::{memberships, project_operations, project_positions};
use crate::db::{Ascending, Filters, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{MandateId, OperationId, PositionId, UserId};
use crate::language::Language;
use crate::money::{CurrencyAmount, Quantity};
use crate::registry::ReadTool;
use crate::text::FreeText;
use crate::time::{Worked, worked_on};

/// List the work packages (operations) of one phase of a mandate in the order of their numbers: who does them, budget in
/// hours, what everybody worked on them and what is left. Find the phase with list_project_positions; for people's to-dos,
/// use list_tasks. (opérations, étapes / Vorgänge, Arbeitspakete)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListProjectOperations {
    /// The phase.
    position_id: PositionId,
    /// Only work packages with this status; whatever their status by default.
    status: Option<ProjectStatus>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ListProjectOperations);

/// A page of work packages, and the totals of all that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundOperations {
    /// The work packages.
    #[serde(flatten)]
    page: Page<Operation>,
    /// Sums over the whole set.
    totals: OperationTotals,
}

/// The sums of work packages.
#[derive(Debug, Serialize, JsonSchema)]
struct OperationTotals {
    /// The budgets in hours, of the work packages that have one.
    budget_hours: Quantity,
    /// Minutes worked, on work packages with a budget or without.
    worked_minutes: i64,
    /// The same in hours.
    worked_hours: Quantity,
}

/// A work package of a phase.
#[derive(Debug, Serialize, JsonSchema)]
struct Operation {
    /// The work package.
    id: OperationId,
    /// Its number in the phase.
    number: i32,
    /// Its title.
    title: FreeText,
    /// Where it stands.
    status: ProjectStatus,
    /// The status in your language.
    status_label: &'static str,
    /// Who does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee_id: Option<UserId>,
    /// The name of who does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee: Option<FreeText>,
    /// The budget in hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_hours: Option<Quantity>,
    /// Minutes worked on it.
    worked_minutes: i64,
    /// The same in hours, to the thousandth.
    worked_hours: Quantity,
    /// The budget less the hours worked; negative when it is exceeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_hours: Option<Quantity>,
    /// What the work is worth at the rates of its days, per currency; work without a rate is worth nothing.
    worked_values: Vec<CurrencyAmount>,
}

#[derive(Debug, Serialize, Queryable)]
struct Row {
    id: OperationId,
    number: i32,
    title: FreeText,
    status: ProjectStatus,
    assignee: (Option<UserId>, Option<FreeText>),
    budget_hours: Option<Quantity>,
}

impl ReadTool for ListProjectOperations {
    const NAME: &'static str = "list_project_operations";
    const PERMISSION: Permission = Permission::ProjectRead;
    const WEIGHT: u32 = 3;
    type Output = FoundOperations;

    fn example() -> Self {
        let position_id = crate::demo::ids::example_position();
        Self { position_id, status: None, limit: None, cursor: None }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundOperations> {
        let (position, language) = (self.position_id, scope.caller().language());
        let this = scope.rows(project_positions::table).filter(project_positions::id.eq(position));
        let mandate: MandateId =
            scope.one("position", this.select(project_positions::mandate_id))?;
        let paging = Paging::of(&mut self)?;
        let chosen = Filters::on(project_operations::table)
            .and(project_operations::position_id.eq(position))
            .and_some(self.status, |status| project_operations::status.eq(status));
        let found = scope.rows(project_operations::table).filter(chosen);
        let worked = worked_on(scope, mandate)?.into_iter();
        let mut worked: BTreeMap<_, _> = worked.map(|work| (work.operation, work)).collect();
        let budgets = (project_operations::id, project_operations::budget_hours);
        let totals = totals(scope.load(found.clone().select(budgets))?, &worked)?;
        let named = found.clone().left_join(memberships::table);
        let columns = (
            project_operations::id,
            project_operations::number,
            project_operations::title,
            project_operations::status,
            (project_operations::assignee_id, memberships::display_name.nullable()),
            project_operations::budget_hours,
        );
        let by = Ascending(project_operations::number, project_operations::id);
        let place = |row: &Row| (row.number, row.id);
        let page = scope.page(found, named, columns, by, &paging, place)?;
        let page = page.try_map(|row| {
            let work = worked.remove(&row.id);
            row.shown(work, language)
        })?;
        Ok(FoundOperations { page, totals })
    }
}

fn totals(
    rows: Vec<(OperationId, Option<Quantity>)>,
    worked: &BTreeMap<OperationId, Worked>,
) -> Result<OperationTotals> {
    let (mut budget_hours, mut worked_minutes) = (Quantity::ZERO, 0);
    for (id, budget) in rows {
        let sum = budget_hours.plus(budget.unwrap_or_default());
        budget_hours = sum.ok_or_else(|| Error::fault("hours are out of range"))?;
        worked_minutes += worked.get(&id).map_or(0, |work| work.minutes);
    }
    Ok(OperationTotals { budget_hours, worked_minutes, worked_hours: hours(worked_minutes)? })
}

impl Row {
    fn shown(self, work: Option<Worked>, language: Language) -> Result<Operation> {
        let minutes = work.as_ref().map_or(0, |work| work.minutes);
        let values = work.map(|work| work.value).unwrap_or_default().into_iter();
        let (assignee_id, assignee) = self.assignee;
        Ok(Operation {
            id: self.id,
            number: self.number,
            title: self.title,
            status: self.status,
            status_label: self.status.label(language),
            assignee_id,
            assignee,
            budget_hours: self.budget_hours,
            worked_minutes: minutes,
            worked_hours: hours(minutes)?,
            remaining_hours: hours_left(self.budget_hours, minutes)?,
            worked_values: values
                .map(|(currency, amount)| CurrencyAmount { currency, amount })
                .collect(),
        })
    }
}
