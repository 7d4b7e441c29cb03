//! What is left to do, counted: the one definition of an open and of an overdue task.

use diesel::dsl::count_star;
use diesel::prelude::*;
use diesel::sql_types::Nullable;
use schemars::JsonSchema;
use serde::Serialize;

use super::TaskStatus;
use crate::dates::Day;
use crate::db::schema::{mandates, tasks};
use crate::db::types::Id;
use crate::db::{Derived, Filters, Read};
use crate::error::Result;
use crate::ids::{ClientId, UserId};

/// What is left to do.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OpenTasks {
    /// Tasks that are open, in progress or waiting.
    open: i64,
    /// Those of them that were due before today.
    overdue: i64,
}

/// Of the chosen tasks those with something left to do.
pub(super) fn open(chosen: Filters<tasks::table>) -> Filters<tasks::table> {
    chosen.and(tasks::status.ne(TaskStatus::Done)).and(tasks::status.ne(TaskStatus::Cancelled))
}

/// Of the chosen tasks those with something left to do that were due before `today`.
pub(super) fn overdue(chosen: Filters<tasks::table>, today: Day) -> Filters<tasks::table> {
    open(chosen).and(tasks::due_on.lt(today))
}

/// Who is in charge of the mandate of a task.
const IN_CHARGE: Derived<Nullable<Id>> = Derived::new(
    "(SELECT m.responsible_id FROM mandates m WHERE m.tenant_id = tasks.tenant_id AND m.id = tasks.mandate_id)",
);

/// What is left to do, within reach: all of it, or for mandates of which a person is in charge.
///
/// # Errors
/// The database is away.
pub(crate) fn open_tasks_in_charge(
    scope: &mut Read<'_>,
    responsible: Option<UserId>,
) -> Result<OpenTasks> {
    let today = scope.today();
    let all = || Filters::on(tasks::table).and_some(responsible, |person| IN_CHARGE.eq(person));
    let mut count = |chosen: Filters<tasks::table>| {
        scope.one("count", scope.rows(tasks::table).filter(chosen).select(count_star()))
    };
    Ok(OpenTasks { open: count(open(all()))?, overdue: count(overdue(all(), today))? })
}

/// What is left to do for a client, within reach.
///
/// # Errors
/// The database is away.
pub(crate) fn open_tasks_of(scope: &mut Read<'_>, client: ClientId) -> Result<OpenTasks> {
    let (today, all) = (scope.today(), || Filters::on(tasks::table));
    let mut count = |chosen: Filters<tasks::table>| {
        let of_client = scope.rows(tasks::table).inner_join(mandates::table);
        let of_client = of_client.filter(mandates::client_id.eq(client)).filter(chosen);
        scope.one("count", of_client.select(count_star()))
    };
    Ok(OpenTasks { open: count(open(all()))?, overdue: count(overdue(all(), today))? })
}
