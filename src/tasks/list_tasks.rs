//! What people have to do.

use diesel::dsl::count_star;
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::open_tasks::overdue;
use super::{TaskPriority, TaskStatus};
use crate::auth::Permission;
use crate::dates::{Day, Instant};
use crate::db::schema::{mandates, memberships, tasks};
use crate::db::{Ascending, Derived, Filters, Page, Paging, Read};
use crate::error::Result;
use crate::ids::{MandateId, TaskId, UserId};
use crate::language::Language;
use crate::registry::ReadTool;
use crate::text::FreeText;

/// List people's tasks (to-dos), earliest due date first and undated ones last, with counts by status over the whole set. A
/// task without a mandate is internal: only its assignee, its author and who reaches all mandates see it. For work
/// packages and budgets of a mandate, use list_project_operations. (tâches, choses à faire / Aufgaben, Pendenzen)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTasks {
    /// Only tasks with this status; whatever their status by default.
    status: Option<TaskStatus>,
    /// Only tasks of this person; everybody's by default.
    assignee_id: Option<UserId>,
    /// Only tasks of this mandate; of all mandates you may see, and internal ones, by default.
    mandate_id: Option<MandateId>,
    /// Only tasks due before this day; whenever they are due by default.
    due_before: Option<Day>,
    /// Only tasks that were due before today and are neither done nor cancelled; overdue or not by default.
    overdue_only: Option<bool>,
    /// Only tasks with this priority; whatever their priority by default.
    priority: Option<TaskPriority>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ListTasks);

/// A page of tasks, and how many were found in all.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundTasks {
    /// The tasks.
    #[serde(flatten)]
    page: Page<Task>,
    /// How many there are with each status, over the whole set.
    totals: Vec<StatusTotal>,
    /// How many of them all are overdue today.
    overdue: i64,
}

/// How many tasks have a status.
#[derive(Debug, Serialize, JsonSchema)]
struct StatusTotal {
    /// The status.
    status: TaskStatus,
    /// The status in your language.
    status_label: &'static str,
    /// How many there are.
    count: i64,
}

/// A task.
#[derive(Debug, Serialize, JsonSchema)]
struct Task {
    /// The task.
    id: TaskId,
    /// What is to be done.
    title: FreeText,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<FreeText>,
    /// Where it stands.
    status: TaskStatus,
    /// The status in your language.
    status_label: &'static str,
    /// How much it presses.
    priority: TaskPriority,
    /// The priority in your language.
    priority_label: &'static str,
    /// The day it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    due_on: Option<Day>,
    /// Whether it was due before today and is neither done nor cancelled.
    is_overdue: bool,
    /// Who is to do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee_id: Option<UserId>,
    /// The name of who is to do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee: Option<FreeText>,
    /// The mandate; absent for an internal task.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate_id: Option<MandateId>,
    /// The mandate's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate: Option<FreeText>,
    /// The client's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<FreeText>,
    /// The name of who wrote it down.
    created_by: FreeText,
    /// When it was written down.
    created_at: Instant,
    /// When it was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    done_at: Option<Instant>,
}

/// A task as its columns, with the day it sorts by.
#[derive(Debug, Serialize, Queryable)]
struct Row {
    id: TaskId,
    due_by: Day,
    text: (FreeText, Option<FreeText>),
    status: TaskStatus,
    priority: TaskPriority,
    due_on: Option<Day>,
    assignee: (Option<UserId>, Option<FreeText>),
    mandate: (Option<MandateId>, Option<FreeText>, Option<FreeText>),
    created: (FreeText, Instant),
    done_at: Option<Instant>,
}

/// The name of the client of a task's mandate.
const CLIENT: Derived<Nullable<Text>> = Derived::new(
    "(SELECT c.name FROM mandates m JOIN clients c ON c.tenant_id = m.tenant_id AND c.id = m.client_id \
     WHERE m.tenant_id = tasks.tenant_id AND m.id = tasks.mandate_id)",
);
/// The name of a task's author.
const AUTHOR: Derived<Text> = Derived::new(
    "(SELECT a.display_name FROM memberships a WHERE a.tenant_id = tasks.tenant_id AND a.user_id = tasks.created_by)",
);

impl ReadTool for ListTasks {
    const NAME: &'static str = "list_tasks";
    const PERMISSION: Permission = Permission::TaskRead;
    const WEIGHT: u32 = 2;
    type Output = FoundTasks;

    fn example() -> Self {
        Self { overdue_only: Some(true), limit: Some(5), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundTasks> {
        let paging = Paging::of(&mut self)?;
        let (today, language) = (scope.today(), scope.caller().language());
        let found = scope.rows(tasks::table).filter(self.chosen(today));
        let totals = found.clone().group_by(tasks::status).select((tasks::status, count_star()));
        let mut totals: Vec<(TaskStatus, i64)> = scope.load(totals)?;
        totals.sort_unstable();
        let late = found.clone().filter(overdue(Filters::on(tasks::table), today));
        let late = late.select(count_star());
        let overdue = scope.one("count", late)?;
        let named = found.clone().left_join(mandates::table).left_join(memberships::table);
        let columns = (
            tasks::id,
            tasks::due_by,
            (tasks::title, tasks::description),
            tasks::status,
            tasks::priority,
            tasks::due_on,
            (tasks::assignee_id, memberships::display_name.nullable()),
            (tasks::mandate_id, mandates::number.nullable(), CLIENT),
            (AUTHOR, tasks::created_at),
            tasks::done_at,
        );
        let by = Ascending(tasks::due_by, tasks::id);
        let page =
            scope.page(found, named, columns, by, &paging, |row: &Row| (row.due_by, row.id))?;
        let total = |(status, count): (TaskStatus, i64)| StatusTotal {
            status,
            status_label: status.label(language),
            count,
        };
        let totals = totals.into_iter().map(total).collect();
        Ok(FoundTasks { page: page.map(|row| row.shown(today, language)), totals, overdue })
    }
}

impl ListTasks {
    fn chosen(&self, today: Day) -> Filters<tasks::table> {
        let chosen = Filters::on(tasks::table)
            .and_some(self.status, |status| tasks::status.eq(status))
            .and_some(self.assignee_id, |person| tasks::assignee_id.eq(person))
            .and_some(self.mandate_id, |mandate| tasks::mandate_id.eq(mandate))
            .and_some(self.due_before, |day| tasks::due_on.lt(day))
            .and_some(self.priority, |priority| tasks::priority.eq(priority));
        match self.overdue_only {
            Some(true) => overdue(chosen, today),
            _ => chosen,
        }
    }
}

impl Row {
    fn shown(self, today: Day, language: Language) -> Task {
        let (title, description) = self.text;
        let (assignee_id, assignee) = self.assignee;
        let (mandate_id, mandate, client) = self.mandate;
        let (created_by, created_at) = self.created;
        let is_late = self.due_on.is_some_and(|day| day < today);
        Task {
            id: self.id,
            title,
            description,
            status: self.status,
            status_label: self.status.label(language),
            priority: self.priority,
            priority_label: self.priority.label(language),
            due_on: self.due_on,
            is_overdue: is_late && !self.status.is_settled(),
            assignee_id,
            assignee,
            mandate_id,
            mandate,
            client,
            created_by,
            created_at,
            done_at: self.done_at,
        }
    }
}
