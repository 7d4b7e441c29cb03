//! Phases and work packages, tasks, worked time, documents.

use diesel::prelude::*;
use sha2::{Digest, Sha256};

use super::super::engagements::mandate;
use super::super::fixtures::{MASTER, nth};
use super::super::ids::Kind;
use super::super::plan::{Chance, Plan, day, moment};
use super::super::work::{self, PROJECTS};
use super::people::user;
use super::{Writing, insert_all};
use crate::dates::{Day, Instant};
use crate::db::connection::AnyConnection;
use crate::db::schema::{documents, project_operations, project_positions, tasks, time_entries};
use crate::documents::DocumentKind;
use crate::error::{Error, Result};
use crate::ids::{
    ClientId, DocumentId, InvoiceId, MandateId, OperationId, PositionId, ServiceId, TaskId,
    TenantId, TimeEntryId, UserId,
};
use crate::money::{Currency, Money, Quantity};
use crate::projects::ProjectStatus;
use crate::tasks::{TaskPriority, TaskStatus};
use crate::text::searchable;

#[derive(Insertable)]
#[diesel(table_name = project_positions, treat_none_as_default_value = false)]
struct NewPosition<'a> {
    tenant_id: TenantId,
    id: PositionId,
    mandate_id: MandateId,
    number: i32,
    title: &'a str,
    status: ProjectStatus,
    budget_hours: Option<Quantity>,
    budget_amount: Option<Money>,
    currency: Currency,
    starts_on: Option<Day>,
    ends_on: Option<Day>,
}

#[derive(Insertable)]
#[diesel(table_name = project_operations, treat_none_as_default_value = false)]
struct NewOperation<'a> {
    tenant_id: TenantId,
    id: OperationId,
    mandate_id: MandateId,
    position_id: PositionId,
    number: i32,
    title: &'a str,
    status: ProjectStatus,
    budget_hours: Option<Quantity>,
    assignee_id: Option<UserId>,
}

#[derive(Insertable)]
#[diesel(table_name = tasks, treat_none_as_default_value = false)]
struct NewTask<'a> {
    tenant_id: TenantId,
    id: TaskId,
    mandate_id: Option<MandateId>,
    title: &'a str,
    description: Option<String>,
    status: TaskStatus,
    priority: TaskPriority,
    due_on: Option<Day>,
    assignee_id: Option<UserId>,
    created_by: UserId,
    created_at: Instant,
    done_at: Option<Instant>,
    search_text: String,
}

#[derive(Insertable)]
#[diesel(table_name = time_entries, treat_none_as_default_value = false)]
struct NewTime<'a> {
    tenant_id: TenantId,
    id: TimeEntryId,
    person_id: UserId,
    mandate_id: Option<MandateId>,
    service_id: Option<ServiceId>,
    operation_id: Option<OperationId>,
    worked_on: Day,
    minutes: i32,
    description: &'a str,
    is_billable: bool,
    invoice_id: Option<InvoiceId>,
    search_text: String,
    created_at: Instant,
}

#[derive(Insertable)]
#[diesel(table_name = documents, treat_none_as_default_value = false)]
struct NewDocument<'a> {
    tenant_id: TenantId,
    id: DocumentId,
    client_id: ClientId,
    mandate_id: Option<MandateId>,
    name: &'a str,
    kind: DocumentKind,
    dated_on: Day,
    filed_on: Day,
    media_type: &'static str,
    bytes: i64,
    sha256: Vec<u8>,
    is_confidential: bool,
    text: String,
    search_text: String,
}

pub(super) fn write(
    connection: &mut AnyConnection,
    writing: Writing<'_>,
    plan: &Plan,
) -> Result<()> {
    let (positions, operations) = projects(writing)?;
    insert_all!(connection, project_positions::table, positions);
    insert_all!(connection, project_operations::table, operations);
    insert_all!(connection, tasks::table, to_do(writing)?);
    insert_all!(connection, time_entries::table, worked(writing, plan)?);
    insert_all!(connection, documents::table, filed(writing)?);
    Ok(())
}

/// The user id of the person at this place in the list, from 1.
fn person(writing: Writing<'_>, n: u32) -> Result<UserId> {
    Ok(user(writing.firm, n, nth(&MASTER.people, n - 1)?))
}

/// Statuses in turn: a project's phases are not all alike.
const STATUSES: [ProjectStatus; 5] = [
    ProjectStatus::Done,
    ProjectStatus::Active,
    ProjectStatus::Active,
    ProjectStatus::Planned,
    ProjectStatus::Cancelled,
];

fn projects(writing: Writing<'_>) -> Result<(Vec<NewPosition<'_>>, Vec<NewOperation<'_>>)> {
    let Writing { firm, tenant: tenant_id } = writing;
    let (mut positions, mut operations) = (vec![], vec![]);
    for (project, of) in (0..).zip(PROJECTS) {
        let mandate_id = writing.id(Kind::Mandate, of);
        for (place, phase) in (0..).zip(work::phases(project)) {
            let n = work::position(project, place);
            let position_id = writing.id(Kind::Position, n);
            let hours = *nth(&[Some(2_000), Some(60_000), Some(12_500), None], project + place)?;
            let amount = *nth(&[Some(150_000), Some(900_000), None], project + place)?;
            positions.push(NewPosition {
                tenant_id,
                id: position_id,
                mandate_id,
                number: ten_times(place + 1)?,
                title: phase.title.of(firm),
                status: *nth(&STATUSES, place)?,
                budget_hours: hours.map(Quantity::from_minor),
                budget_amount: amount.map(Money::from_minor),
                currency: mandate(of)?.currency,
                starts_on: (place < 4).then(|| day(2026, 1 + 2 * place, 1)).transpose()?,
                ends_on: (place < 3).then(|| day(2026, 3 + 3 * place, 28)).transpose()?,
            });
            for (at, title) in (0..).zip(&phase.operations) {
                let hours = *nth(&[Some(1_500), Some(20_000), None], project + at)?;
                let assignee = *nth(&[Some(2), Some(3), None, Some(5)], project + at)?;
                operations.push(NewOperation {
                    tenant_id,
                    id: writing.id(Kind::Operation, work::operation(n, at)),
                    mandate_id,
                    position_id,
                    number: ten_times(at + 1)?,
                    title: title.of(firm),
                    status: *nth(&STATUSES, place + at)?,
                    budget_hours: hours.map(Quantity::from_minor),
                    assignee_id: assignee.map(|n| person(writing, n)).transpose()?,
                });
            }
        }
    }
    Ok((positions, operations))
}

fn ten_times(n: u32) -> Result<i32> {
    i32::try_from(n * 10).map_err(Error::fault)
}

fn to_do(writing: Writing<'_>) -> Result<Vec<NewTask<'_>>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let mut rows = vec![];
    for (n, task) in (1..).zip(work::tasks()?) {
        let title = task.title.of(firm);
        let description = task.description.map(|text| text.owned(firm));
        rows.push(NewTask {
            tenant_id,
            id: writing.id(Kind::Task, n),
            mandate_id: task.mandate.map(|n| writing.id(Kind::Mandate, n)),
            title,
            search_text: searchable([title, description.as_deref().unwrap_or_default()]),
            description,
            status: task.status,
            priority: task.priority,
            due_on: task.due_on,
            assignee_id: task.assignee.map(|n| person(writing, n)).transpose()?,
            created_by: person(writing, task.created_by)?,
            created_at: moment(task.created_on, i64::from(n))?,
            done_at: task.done_on.map(|on| moment(on, i64::from(n))).transpose()?,
        });
    }
    Ok(rows)
}

fn worked<'a>(writing: Writing<'a>, plan: &Plan) -> Result<Vec<NewTime<'a>>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let mut rows = vec![];
    for (n, time) in (1..).zip(work::time(&plan.sales)?) {
        let description = time.text.of(firm);
        rows.push(NewTime {
            tenant_id,
            id: writing.id(Kind::TimeEntry, n),
            person_id: person(writing, time.person)?,
            mandate_id: time.mandate.map(|n| writing.id(Kind::Mandate, n)),
            service_id: time.service.map(|n| writing.id(Kind::Service, n)),
            operation_id: time.operation.map(|n| writing.id(Kind::Operation, n)),
            worked_on: time.on,
            minutes: time.minutes,
            description,
            is_billable: time.is_billable,
            invoice_id: time.invoice.map(|n| writing.id(Kind::Invoice, n)),
            search_text: searchable([description]),
            created_at: moment(time.on, i64::from(n))?,
        });
    }
    Ok(rows)
}

fn filed(writing: Writing<'_>) -> Result<Vec<NewDocument<'_>>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let (mut rows, mut chance) = (vec![], Chance::of(58));
    for (n, document) in (1..).zip(work::documents()?) {
        let name = document.name.of(firm);
        let mut text = String::new();
        for _ in 0..document.repeat {
            text.push_str(document.text.of(firm));
        }
        text.push_str(document.last.map_or("", |last| last.of(firm)));
        let media_type = *nth(&["application/pdf", "application/pdf", "image/jpeg"], n)?;
        rows.push(NewDocument {
            tenant_id,
            id: writing.id(Kind::Document, n),
            client_id: writing.id(Kind::Client, document.client),
            mandate_id: document.mandate.map(|n| writing.id(Kind::Mandate, n)),
            name,
            kind: document.kind,
            dated_on: document.on,
            filed_on: document.on.plus_days(i64::from(chance.below(20))),
            media_type,
            bytes: i64::from(20_000 + chance.below(900_000)),
            sha256: Sha256::digest(format!("{name} {n} {text}")).to_vec(),
            is_confidential: document.is_confidential,
            search_text: searchable([name, &text]),
            text,
        });
    }
    Ok(rows)
}
