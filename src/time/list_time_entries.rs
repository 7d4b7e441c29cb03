//! Worked time, with totals.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chosen::{Chosen, sums};
use super::rating::{AGREED, Sold, rated, worth};
use super::totals::TimeTotals;
use super::{TimeKind, TimeRateSource};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{mandates, memberships, services, time_entries};
use crate::db::{Descending, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{InvoiceId, MandateId, OperationId, ServiceId, TimeEntryId, UserId};
use crate::money::{Currency, Money};
use crate::registry::ReadTool;
use crate::text::FreeText;

/// List worked time, newest first, with minutes and worth per currency totalled over the whole set; each entry says its
/// hourly rate and where that comes from. You see your own time, or everybody's within reach if your role may. For budgets
/// by phase, use list_project_positions. (heures, temps passé / Stunden, Arbeitszeit, Leistungserfassung)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTimeEntries {
    /// Only time worked on this day or later; from the beginning by default.
    from: Option<Day>,
    /// Only time worked on this day or earlier; until the latest by default.
    to: Option<Day>,
    /// Only this person's time; of everybody whose time you may see by default.
    person_id: Option<UserId>,
    /// Only time worked for this mandate; for all mandates you may see, and internal time, by default.
    mandate_id: Option<MandateId>,
    /// Only time worked for mandates, or only internal time; both by default.
    kind: Option<TimeKind>,
    /// Only time that is billable (true) or that is not (false); both by default.
    billable: Option<bool>,
    /// Only time that stands on a sales document (true) or on none (false); both by default.
    invoiced: Option<bool>,
    /// Words of the description, in any order, without regard to case and accents; whatever it says by default.
    query: Option<String>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ListTimeEntries);

/// A page of worked time, and the totals of all that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundTime {
    /// The entries.
    #[serde(flatten)]
    page: Page<TimeEntry>,
    /// Sums over the whole set.
    totals: TimeTotals,
}

/// Time that a person worked.
#[derive(Debug, Serialize, JsonSchema)]
struct TimeEntry {
    /// The entry.
    id: TimeEntryId,
    /// The day.
    worked_on: Day,
    /// The minutes.
    minutes: i32,
    /// What was done.
    description: FreeText,
    /// Who worked.
    person_id: UserId,
    /// The name of who worked.
    person: FreeText,
    /// For a mandate, or internal.
    kind: TimeKind,
    /// The mandate.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate_id: Option<MandateId>,
    /// The mandate's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate: Option<FreeText>,
    /// The service.
    #[serde(skip_serializing_if = "Option::is_none")]
    service_id: Option<ServiceId>,
    /// The service's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<FreeText>,
    /// The work package of a project.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<OperationId>,
    /// Whether it can be invoiced.
    is_billable: bool,
    /// Whether it stands on a sales document.
    is_invoiced: bool,
    /// That sales document; absent for who may not read invoices.
    #[serde(skip_serializing_if = "Option::is_none")]
    invoice_id: Option<InvoiceId>,
    /// The rate of an hour, without VAT.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<Money>,
    /// Where the rate comes from.
    rate_source: TimeRateSource,
    /// The currency of rate and value.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<Currency>,
    /// What it is worth: hours times rate, rounded half up to the cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Money>,
}

/// An entry as its columns.
#[derive(Debug, Serialize, Queryable)]
struct Row {
    id: TimeEntryId,
    worked_on: Day,
    minutes: i32,
    description: FreeText,
    person: (UserId, FreeText),
    mandate: (Option<MandateId>, Option<FreeText>),
    service: (Option<ServiceId>, Option<FreeText>),
    operation_id: Option<OperationId>,
    is_billable: bool,
    invoice_id: Option<InvoiceId>,
    agreed: Option<Money>,
    sold: Sold,
}

impl ReadTool for ListTimeEntries {
    const NAME: &'static str = "list_time_entries";
    const PERMISSION: Permission = Permission::TimeRead;
    const OR: &'static [Permission] = &[Permission::TimeReadAll];
    const WEIGHT: u32 = 3;
    type Output = FoundTime;

    fn example() -> Self {
        let (from, to) = (Day::parse("2026-03-01"), Day::parse("2026-03-31"));
        Self { from, to, kind: Some(TimeKind::Mandate), limit: Some(5), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundTime> {
        let paging = Paging::of(&mut self)?;
        let chosen = self.chosen()?;
        let found = chosen.rows(scope)?;
        let sums = sums(scope, found.clone())?;
        let totals = TimeTotals::of(scope, &chosen, &sums)?;
        let named = found
            .clone()
            .inner_join(memberships::table)
            .left_join(mandates::table)
            .left_join(services::table);
        let sold =
            (services::unit.nullable(), services::rate.nullable(), services::currency.nullable());
        let columns = (
            time_entries::id,
            time_entries::worked_on,
            time_entries::minutes,
            time_entries::description,
            (time_entries::person_id, memberships::display_name),
            (time_entries::mandate_id, mandates::number.nullable()),
            (time_entries::service_id, services::name.nullable()),
            time_entries::operation_id,
            time_entries::is_billable,
            time_entries::invoice_id,
            AGREED,
            sold,
        );
        let by = Descending(time_entries::worked_on, time_entries::id);
        let position = |row: &Row| (row.worked_on, row.id);
        let page = scope.page(found, named, columns, by, &paging, position)?;
        let reads_invoices = scope.caller().may(Permission::InvoiceRead);
        let page = page.try_map(|row| {
            let mut entry = row.valued()?;
            entry.invoice_id = entry.invoice_id.filter(|_| reads_invoices);
            Ok(entry)
        })?;
        Ok(FoundTime { page, totals })
    }
}

impl ListTimeEntries {
    fn chosen(self) -> Result<Chosen> {
        let Self { from, to, kind, billable, invoiced, query, .. } = self;
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            return Err(Error::argument("to", format!("to ({to}) is before from ({from})")));
        }
        let (person, mandate) = (self.person_id, self.mandate_id);
        Ok(Chosen { from, to, person, mandate, kind, billable, invoiced, query, responsible: None })
    }
}

impl Row {
    /// The entry with its rate and worth.
    fn valued(self) -> Result<TimeEntry> {
        let rated = rated(self.agreed, self.sold);
        let (person_id, person) = self.person;
        let (mandate_id, mandate) = self.mandate;
        let (service_id, service) = self.service;
        Ok(TimeEntry {
            id: self.id,
            worked_on: self.worked_on,
            minutes: self.minutes,
            description: self.description,
            person_id,
            person,
            kind: if mandate_id.is_some() { TimeKind::Mandate } else { TimeKind::Internal },
            mandate_id,
            mandate,
            service_id,
            service,
            operation_id: self.operation_id,
            is_billable: self.is_billable,
            is_invoiced: self.invoice_id.is_some(),
            invoice_id: self.invoice_id,
            rate: rated.map(|rated| rated.rate),
            rate_source: rated.map_or(TimeRateSource::None, |rated| rated.source),
            currency: rated.map(|rated| rated.currency),
            value: rated.map(|rated| worth(rated.rate, self.minutes)).transpose()?,
        })
    }
}
