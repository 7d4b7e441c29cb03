//! What there is to do and what was done, the same in both firms: phases of mandates, tasks, worked time, documents. The
//! cases that are there on purpose are written by hand in `fixtures/demo`; the ordinary ones follow by rule.

use std::sync::LazyLock;

use serde::Deserialize;

use super::engagements::{self, mandate};
use super::fixtures::{MASTER, Pair, embedded, nth};
use super::plan::{Chance, day};
use super::sales::Sale;
use crate::dates::Day;
use crate::documents::DocumentKind;
use crate::error::{Error, Result};
use crate::invoicing::Document;
use crate::tasks::{TaskPriority, TaskStatus};

/// The mandates that are divided into phases.
pub(super) const PROJECTS: [u32; 10] = [1, 3, 4, 6, 7, 8, 11, 16, 21, 60];
/// Who records time: their places in the list of people, from 1.
const WORKERS: [u32; 7] = [1, 2, 3, 4, 5, 8, 12];
/// Entries a month and person.
const A_MONTH: u32 = 5;
/// Tasks that follow by rule.
const TASKS: u32 = 80;
/// Documents that follow by rule.
const DOCUMENTS: u32 = 132;
/// The day of the demo's tests, around which tasks fall due.
const TODAY: (i32, u32, u32) = (2026, 11, 30);

/// A phase, and its work packages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phase {
    pub(super) title: Pair,
    pub(super) operations: Vec<Pair>,
}

/// Worked time that is there on purpose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeCase {
    case: String,
    person: u32,
    #[serde(default)]
    mandate: Option<u32>,
    #[serde(default)]
    service: Option<u32>,
    on: Day,
    minutes: i32,
    billable: bool,
    #[serde(default)]
    invoiced: bool,
    text: Pair,
}

/// A task that is there on purpose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskCase {
    case: String,
    title: Pair,
    #[serde(default)]
    description: Option<Pair>,
    status: TaskStatus,
    priority: TaskPriority,
    #[serde(default)]
    due_on: Option<Day>,
    #[serde(default)]
    assignee: Option<u32>,
    #[serde(default)]
    mandate: Option<u32>,
    created_by: u32,
    created_on: Day,
    #[serde(default)]
    done_on: Option<Day>,
}

/// What ordinary documents of a kind are called, and what they say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentType {
    kind: DocumentKind,
    name: Pair,
    text: Pair,
}

/// A document that is there on purpose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentCase {
    case: String,
    kind: DocumentKind,
    name: Pair,
    #[serde(default)]
    client: Option<u32>,
    #[serde(default)]
    mandate: Option<u32>,
    on: Day,
    #[serde(default)]
    confidential: bool,
    text: Pair,
    /// How many times the text is repeated.
    #[serde(default)]
    repeat: Option<u32>,
    /// What follows then.
    #[serde(default)]
    last: Option<Pair>,
}

struct Written {
    activities: Vec<Pair>,
    internal_activities: Vec<Pair>,
    time_cases: Vec<TimeCase>,
    phases: Vec<Phase>,
    task_titles: Vec<Pair>,
    task_cases: Vec<TaskCase>,
    document_types: Vec<DocumentType>,
    document_cases: Vec<DocumentCase>,
}

static WRITTEN: LazyLock<Written> = LazyLock::new(|| Written {
    activities: embedded!("activities"),
    internal_activities: embedded!("internal_activities"),
    time_cases: embedded!("time_cases"),
    phases: embedded!("phases"),
    task_titles: embedded!("task_titles"),
    task_cases: embedded!("task_cases"),
    document_types: embedded!("document_types"),
    document_cases: embedded!("document_cases"),
});

/// The phases of the mandate at this place among the projects, in order.
pub(super) fn phases(project: u32) -> impl Iterator<Item = &'static Phase> {
    let count = if project == 0 { 5 } else { 2 + project % 3 };
    WRITTEN.phases.iter().take(usize::try_from(count).unwrap_or_default())
}

/// The number of a phase in creation order, from 1: its project's place and its own, both from 0.
pub(super) const fn position(project: u32, phase: u32) -> u32 {
    project * 10 + phase + 1
}

/// The number of a work package in creation order: its phase's, and its place in it from 0.
pub(super) const fn operation(position: u32, place: u32) -> u32 {
    position * 10 + place + 1
}

/// Time that somebody worked.
#[derive(Debug)]
pub(super) struct Time {
    pub(super) person: u32,
    pub(super) mandate: Option<u32>,
    pub(super) service: Option<u32>,
    pub(super) operation: Option<u32>,
    pub(super) on: Day,
    pub(super) minutes: i32,
    pub(super) is_billable: bool,
    /// The sales document on which it stands.
    pub(super) invoice: Option<u32>,
    pub(super) text: &'static Pair,
}

/// All the time that was worked.
pub(super) fn time(sales: &[Sale]) -> Result<Vec<Time>> {
    let mut all = vec![];
    for case in &WRITTEN.time_cases {
        let invoice = match case.mandate.filter(|_| case.invoiced) {
            None => None,
            Some(mandate) => Some(
                billed(sales, mandate, case.on)
                    .ok_or_else(|| Error::fault(format!("{}: nothing bills it", case.case)))?,
            ),
        };
        all.push(Time {
            person: case.person,
            mandate: case.mandate,
            service: case.service,
            operation: None,
            on: case.on,
            minutes: case.minutes,
            is_billable: case.billable,
            invoice,
            text: &case.text,
        });
    }
    let mut chance = Chance::of(2026);
    for month in 1..=11 {
        for person in WORKERS {
            for _ in 0..A_MONTH {
                let on = day(2026, month, 1 + chance.below(28))?;
                all.push(worked(&mut chance, sales, person, on)?);
            }
        }
    }
    Ok(all)
}

/// The first invoice of a mandate that was issued after a day.
fn billed(sales: &[Sale], mandate: u32, after: Day) -> Option<u32> {
    let bills = |sale: &&Sale| {
        sale.mandate == Some(mandate)
            && sale.is_issued
            && sale.document == Document::Invoice
            && sale.on > after
    };
    sales.iter().find(bills).map(|sale| sale.n)
}

/// An ordinary entry: now and then internal, mostly for a mandate of the person, of a phase where it has some.
fn worked(chance: &mut Chance, sales: &[Sale], person: u32, on: Day) -> Result<Time> {
    let minutes = match chance.below(10) {
        0 => 5 + chance.below(175),
        _ => 15 * (1 + chance.below(20)),
    };
    let minutes = i32::try_from(minutes).map_err(Error::fault)?;
    let internal = chance.below(100);
    if internal < 14 {
        return Ok(Time {
            person,
            mandate: None,
            service: (internal < 4).then_some(6),
            operation: None,
            on,
            minutes,
            is_billable: false,
            invoice: None,
            text: nth(&WRITTEN.internal_activities, chance.below(4))?,
        });
    }
    let mandate = mandate_of(chance, person)?;
    let project = PROJECTS.iter().position(|project| *project == mandate);
    let operation = match project {
        Some(project) => operation_of(chance, u32::try_from(project).map_err(Error::fault)?)?,
        None => None,
    };
    let is_billable = chance.below(100) < 82;
    let is_invoiced = is_billable && chance.below(100) < 60;
    Ok(Time {
        person,
        mandate: Some(mandate),
        service: Some(service_of(chance, mandate)?),
        operation,
        on,
        minutes,
        is_billable,
        invoice: if is_invoiced { billed(sales, mandate, on) } else { None },
        text: nth(&WRITTEN.activities, chance.below(12))?,
    })
}

fn mandate_of(chance: &mut Chance, person: u32) -> Result<u32> {
    let listed = nth(&MASTER.people, person - 1)?.mandates;
    let reached: Vec<u32> =
        listed.map_or_else(|| (1..=engagements::MANDATES).collect(), |s| s.mandates().collect());
    let projects: Vec<u32> =
        PROJECTS.iter().copied().filter(|project| reached.contains(project)).collect();
    let chosen = if chance.below(100) < 40 && !projects.is_empty() { projects } else { reached };
    nth(&chosen, chance.below(90)).copied()
}

fn operation_of(chance: &mut Chance, project: u32) -> Result<Option<u32>> {
    let mut all = vec![];
    for (place, phase) in (0..).zip(phases(project)) {
        let position = position(project, place);
        all.extend((0..).zip(&phase.operations).map(|(at, _)| operation(position, at)));
    }
    let pick = chance.below(100);
    if pick < 70 { nth(&all, pick).copied().map(Some) } else { Ok(None) }
}

/// The service with the agreed rate as often as any other, so that agreed rates matter.
fn service_of(chance: &mut Chance, mandate: u32) -> Result<u32> {
    let agreed = 1 + mandate % 6;
    if mandate <= 30 && mandate % 3 == 1 && chance.below(2) == 0 {
        return Ok(agreed);
    }
    nth(&[1, 1, 1, 2, 2, 2, 6, 6, 7, 3], chance.below(10)).copied()
}

/// A task.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) title: &'static Pair,
    pub(super) description: Option<&'static Pair>,
    pub(super) status: TaskStatus,
    pub(super) priority: TaskPriority,
    pub(super) due_on: Option<Day>,
    pub(super) assignee: Option<u32>,
    pub(super) mandate: Option<u32>,
    pub(super) created_by: u32,
    pub(super) created_on: Day,
    pub(super) done_on: Option<Day>,
}

/// All tasks.
pub(super) fn tasks() -> Result<Vec<Task>> {
    let mut all = vec![];
    for case in &WRITTEN.task_cases {
        if (case.status == TaskStatus::Done) != case.done_on.is_some() {
            return Err(Error::fault(format!("{}: done without a day, or not", case.case)));
        }
        all.push(Task {
            title: &case.title,
            description: case.description.as_ref(),
            status: case.status,
            priority: case.priority,
            due_on: case.due_on,
            assignee: case.assignee,
            mandate: case.mandate,
            created_by: case.created_by,
            created_on: case.created_on,
            done_on: case.done_on,
        });
    }
    let (mut chance, (year, month, date)) = (Chance::of(1130), TODAY);
    let today = day(year, month, date)?;
    for n in 1..=TASKS {
        let status = *nth(TaskStatus::ALL, n)?;
        let assignee = *nth(&WORKERS, chance.below(7))?;
        let due_on = today.plus_days(i64::from(chance.below(120)) - 60);
        let internal = n.is_multiple_of(5);
        let mandate = mandate_of(&mut chance, assignee)?;
        all.push(Task {
            title: nth(&WRITTEN.task_titles, n)?,
            description: None,
            status,
            priority: *nth(TaskPriority::ALL, n / 2)?,
            due_on: (!n.is_multiple_of(7)).then_some(due_on),
            assignee: (!n.is_multiple_of(9)).then_some(assignee),
            mandate: (!internal).then_some(mandate),
            created_by: *nth(&WORKERS, n)?,
            created_on: today.minus_days(i64::from(61 + n)),
            done_on: (status == TaskStatus::Done).then(|| today.minus_days(i64::from(n % 40))),
        });
    }
    Ok(all)
}

/// A filed document.
#[derive(Debug)]
pub(super) struct Filed {
    pub(super) kind: DocumentKind,
    pub(super) name: &'static Pair,
    pub(super) client: u32,
    pub(super) mandate: Option<u32>,
    pub(super) on: Day,
    pub(super) is_confidential: bool,
    pub(super) text: &'static Pair,
    pub(super) repeat: u32,
    pub(super) last: Option<&'static Pair>,
}

/// All documents.
pub(super) fn documents() -> Result<Vec<Filed>> {
    let mut all = vec![];
    for case in &WRITTEN.document_cases {
        let of_mandate = case.mandate.map(|n| mandate(n).map(|one| one.client)).transpose()?;
        let nobody = || Error::fault(format!("{}: neither mandate nor client", case.case));
        all.push(Filed {
            kind: case.kind,
            name: &case.name,
            client: of_mandate.or(case.client).ok_or_else(nobody)?,
            mandate: case.mandate,
            on: case.on,
            is_confidential: case.confidential,
            text: &case.text,
            repeat: case.repeat.unwrap_or(1),
            last: case.last.as_ref(),
        });
    }
    let mut chance = Chance::of(1776);
    for n in 0..DOCUMENTS {
        let kind = nth(&WRITTEN.document_types, n)?;
        let of = 1 + (n * 7) % engagements::MANDATES;
        let is_private = matches!(kind.kind, DocumentKind::Payroll | DocumentKind::Identity);
        all.push(Filed {
            kind: kind.kind,
            name: &kind.name,
            client: mandate(of)?.client,
            mandate: (!n.is_multiple_of(9)).then_some(of),
            on: day(
                2024 + i32::try_from(n % 3).map_err(Error::fault)?,
                1 + n % 11,
                1 + chance.below(28),
            )?,
            is_confidential: is_private && n.is_multiple_of(2) || n.is_multiple_of(13),
            text: &kind.text,
            repeat: 1,
            last: None,
        });
    }
    Ok(all)
}
