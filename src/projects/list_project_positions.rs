//! The phases of a mandate.

use std::collections::BTreeMap;

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ProjectStatus, hours, hours_left};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{mandates, project_positions};
use crate::db::{Ascending, Filters, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{MandateId, PositionId};
use crate::language::Language;
use crate::money::{Currency, CurrencyAmount, Money, Quantity};
use crate::registry::ReadTool;
use crate::text::FreeText;
use crate::time::worked_on;

/// List the phases (project positions) of a mandate in the order of their numbers: budget in hours and money, what everybody
/// worked on them and its worth, and what is left. For the work packages of a phase, use list_project_operations; for the
/// hours themselves, list_time_entries. (positions, lots, phases, budget / Projektpositionen, Phasen)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListProjectPositions {
    /// The mandate.
    mandate_id: MandateId,
    /// Only phases with this status; whatever their status by default.
    status: Option<ProjectStatus>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ListProjectPositions);

/// A page of phases, and the totals of all that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundPositions {
    /// The phases.
    #[serde(flatten)]
    page: Page<Position>,
    /// Sums over the whole set.
    totals: PositionTotals,
}

/// The sums of phases.
#[derive(Debug, Serialize, JsonSchema)]
struct PositionTotals {
    /// The budgets in hours, of the phases that have one.
    budget_hours: Quantity,
    /// Minutes worked, on phases with a budget or without.
    worked_minutes: i64,
    /// The same in hours.
    worked_hours: Quantity,
    /// The budgets in money, per currency.
    budget_amounts: Vec<CurrencyAmount>,
    /// What the work is worth, per currency.
    worked_values: Vec<CurrencyAmount>,
}

/// A phase of a mandate.
#[derive(Debug, Serialize, JsonSchema)]
struct Position {
    /// The phase.
    id: PositionId,
    /// Its number in the mandate.
    number: i32,
    /// Its title.
    title: FreeText,
    /// Where it stands.
    status: ProjectStatus,
    /// The status in your language.
    status_label: &'static str,
    /// Its first day.
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_on: Option<Day>,
    /// Its last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_on: Option<Day>,
    /// The budget in hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_hours: Option<Quantity>,
    /// Minutes worked on its work packages.
    worked_minutes: i64,
    /// The same in hours, to the thousandth.
    worked_hours: Quantity,
    /// The budget less the hours worked; negative when it is exceeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_hours: Option<Quantity>,
    /// The currency of the budget in money.
    currency: Currency,
    /// The budget in money.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_amount: Option<Money>,
    /// What the work is worth at the rates of its days, per currency; work without a rate is worth nothing.
    worked_values: Vec<CurrencyAmount>,
    /// The budget less what the work is worth in its currency; negative when it is exceeded. Absent without a budget, and
    /// when work is worth something in another currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining_amount: Option<Money>,
}

#[derive(Debug, Clone, Serialize, Queryable)]
struct Row {
    id: PositionId,
    number: i32,
    title: FreeText,
    status: ProjectStatus,
    days: (Option<Day>, Option<Day>),
    budget_hours: Option<Quantity>,
    currency: Currency,
    budget_amount: Option<Money>,
}

/// What was worked on a phase.
#[derive(Debug, Clone, Default)]
struct Work {
    minutes: i64,
    value: BTreeMap<Currency, Money>,
}

impl ReadTool for ListProjectPositions {
    const NAME: &'static str = "list_project_positions";
    const PERMISSION: Permission = Permission::ProjectRead;
    const WEIGHT: u32 = 3;
    type Output = FoundPositions;

    fn example() -> Self {
        let mandate_id = crate::demo::ids::example_mandate();
        Self { mandate_id, status: None, limit: None, cursor: None }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundPositions> {
        let (mandate, language) = (self.mandate_id, scope.caller().language());
        let this = scope.rows(mandates::table).filter(mandates::id.eq(mandate));
        scope.one::<_, MandateId>("mandate", this.select(mandates::id))?;
        let paging = Paging::of(&mut self)?.of_bare_rows();
        let chosen = Filters::on(project_positions::table)
            .and(project_positions::mandate_id.eq(mandate))
            .and_some(self.status, |status| project_positions::status.eq(status));
        let found = scope.rows(project_positions::table).filter(chosen);
        let work = work(scope, mandate)?;
        let budgets = found.clone().select((
            project_positions::id,
            project_positions::budget_hours,
            project_positions::currency,
            project_positions::budget_amount,
        ));
        let totals = totals(scope.load(budgets)?, &work)?;
        let columns = (
            project_positions::id,
            project_positions::number,
            project_positions::title,
            project_positions::status,
            (project_positions::starts_on, project_positions::ends_on),
            project_positions::budget_hours,
            project_positions::currency,
            project_positions::budget_amount,
        );
        let by = Ascending(project_positions::number, project_positions::id);
        let position = |row: &Row| (row.number, row.id);
        let page = scope.page(found.clone(), found, columns, by, &paging, position)?;
        let page = page.try_map(|row| {
            let work = work.get(&row.id).cloned().unwrap_or_default();
            row.shown(work, language)
        })?;
        Ok(FoundPositions { page, totals })
    }
}

/// What was worked on each phase of a mandate.
fn work(scope: &mut Read<'_>, mandate: MandateId) -> Result<BTreeMap<PositionId, Work>> {
    let mut all: BTreeMap<PositionId, Work> = BTreeMap::new();
    for worked in worked_on(scope, mandate)? {
        let work = all.entry(worked.position).or_default();
        work.minutes += worked.minutes;
        for (currency, value) in worked.value {
            add(&mut work.value, currency, value)?;
        }
    }
    Ok(all)
}

fn add(to: &mut BTreeMap<Currency, Money>, currency: Currency, amount: Money) -> Result<()> {
    let sum = to.entry(currency).or_insert(Money::ZERO);
    *sum = sum.plus(amount).ok_or_else(|| Error::fault("a budget is out of range"))?;
    Ok(())
}

fn amounts(of: BTreeMap<Currency, Money>) -> Vec<CurrencyAmount> {
    of.into_iter().map(|(currency, amount)| CurrencyAmount { currency, amount }).collect()
}

type BudgetRow = (PositionId, Option<Quantity>, Currency, Option<Money>);

fn totals(rows: Vec<BudgetRow>, work: &BTreeMap<PositionId, Work>) -> Result<PositionTotals> {
    let (mut hours_sum, mut minutes) = (Quantity::ZERO, 0);
    let (mut budgets, mut values) = (BTreeMap::new(), BTreeMap::new());
    for (id, budget_hours, currency, budget_amount) in rows {
        let sum = hours_sum.plus(budget_hours.unwrap_or_default());
        hours_sum = sum.ok_or_else(|| Error::fault("hours are out of range"))?;
        if let Some(budget) = budget_amount {
            add(&mut budgets, currency, budget)?;
        }
        let Some(work) = work.get(&id) else { continue };
        minutes += work.minutes;
        for (currency, value) in &work.value {
            add(&mut values, *currency, *value)?;
        }
    }
    Ok(PositionTotals {
        budget_hours: hours_sum,
        worked_minutes: minutes,
        worked_hours: hours(minutes)?,
        budget_amounts: amounts(budgets),
        worked_values: amounts(values),
    })
}

impl Row {
    fn shown(self, work: Work, language: Language) -> Result<Position> {
        let is_foreign = work.value.keys().any(|currency| *currency != self.currency);
        let used = work.value.get(&self.currency).copied().unwrap_or_default();
        let budget = self.budget_amount.filter(|_| !is_foreign);
        let (starts_on, ends_on) = self.days;
        Ok(Position {
            id: self.id,
            number: self.number,
            title: self.title,
            status: self.status,
            status_label: self.status.label(language),
            starts_on,
            ends_on,
            budget_hours: self.budget_hours,
            worked_minutes: work.minutes,
            worked_hours: hours(work.minutes)?,
            remaining_hours: hours_left(self.budget_hours, work.minutes)?,
            currency: self.currency,
            budget_amount: self.budget_amount,
            worked_values: amounts(work.value),
            remaining_amount: budget.and_then(|budget| budget.minus(used)),
        })
    }
}
