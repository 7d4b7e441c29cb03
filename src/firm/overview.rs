//! The firm's key figures.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Permission;
use crate::clients::ClientStatus;
use crate::dates::Day;
use crate::db::schema::{clients, invoices, mandates};
use crate::db::types::Id;
use crate::db::{Filters, HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::UserId;
use crate::invoicing::{Document, OpenTotal, Overdue, RevenueToDate, receivables, revenue_to_date};
use crate::mandates::MandateStatus;
use crate::registry::ReadTool;
use crate::reports::{Clocks, Control, Known, KnownOn};
use crate::tasks::{OpenTasks, open_tasks_in_charge};
use crate::time::{TimeToDate, time_to_date};

/// Get the firm's key figures on one page: clients and mandates by status, revenue of month and year beside the year before,
/// receivables with ageing, what is overdue, drafts, tasks left to do, hours worked. For a breakdown of revenue use get_revenue; for who owes what,
/// list_open_items. (tableau de bord, chiffres clés / Dashboard, Kennzahlen)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetFirmOverview {
    /// The day up to which the month and the year are counted, and on which debts are open; today by default.
    as_of: Option<Day>,
    /// Only mandates of which you are in charge; all mandates you may see by default.
    own_portfolio: Option<bool>,
}

/// The key figures.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Overview {
    /// The day.
    as_of: Day,
    /// The last posting that counts.
    as_known_on: KnownOn,
    /// The same arguments at the same clocks give the same figures of revenue and receivables.
    report_id: String,
    /// Whether only mandates count of which the caller is in charge.
    own_portfolio: bool,
    /// Clients by their status now.
    clients: Vec<ClientCount>,
    /// Mandates by their status now.
    mandates: Vec<MandateCount>,
    /// What revenue is here, as in get_revenue.
    revenue_definition: &'static str,
    /// Revenue per currency, up to the day.
    revenue: Vec<RevenueToDate>,
    /// What is owed per currency, by days past due.
    receivables: Vec<OpenTotal>,
    /// What is overdue per currency.
    overdue: Vec<Overdue>,
    /// Sales documents being written now.
    drafts: Vec<DraftCount>,
    /// What is left to do now; absent for who may not read tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<OpenTasks>,
    /// Time worked up to the day, as far as the caller may see it; absent for who may not read time.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<TimeToDate>,
    /// Identities that must hold, and whether they do.
    controls: Vec<Control>,
}

/// How many clients have a status.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct ClientCount {
    /// The status.
    status: ClientStatus,
    /// How many.
    count: i64,
}

/// How many mandates have a status.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct MandateCount {
    /// The status.
    status: MandateStatus,
    /// How many.
    count: i64,
}

/// How many documents of a kind are being written.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct DraftCount {
    /// The kind.
    document: Document,
    /// How many.
    count: i64,
}

impl ReadTool for GetFirmOverview {
    const NAME: &'static str = "get_firm_overview";
    const PERMISSION: Permission = Permission::FirmRead;
    const WEIGHT: u32 = 5;
    type Output = Overview;

    fn example() -> Self {
        Self { as_of: Day::parse("2026-06-30"), own_portfolio: None }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<Overview> {
        let as_of = self.as_of.unwrap_or_else(|| scope.today());
        let own_portfolio = self.own_portfolio.unwrap_or_default();
        let person = own_portfolio.then(|| scope.user());
        let known = Known::at(scope, None)?;
        let (revenue_definition, revenue) = revenue_to_date(scope, as_of, known.commit, person)?;
        let (receivables, overdue, controls) = receivables(scope, as_of, known.commit, person)?;
        let caller = scope.caller();
        let sees_tasks = caller.may(Permission::TaskRead);
        let sees_time = caller.may(Permission::TimeRead) || caller.may(Permission::TimeReadAll);
        let tasks = sees_tasks.then(|| open_tasks_in_charge(scope, person)).transpose()?;
        let time = sees_time.then(|| time_to_date(scope, as_of, person)).transpose()?;
        (self.as_of, self.own_portfolio) = (Some(as_of), Some(own_portfolio));
        let report_id = scope.report_id(&self, Clocks { as_of, known })?;
        Ok(Overview {
            as_of,
            as_known_on: known.written(),
            report_id,
            own_portfolio,
            clients: clients_by_status(scope, person)?,
            mandates: mandates_by_status(scope, person)?,
            revenue_definition,
            revenue,
            receivables,
            overdue,
            drafts: drafts(scope, person)?,
            tasks,
            time,
            controls,
        })
    }
}

/// Clients by status: all, or those of whose mandates a person is in charge.
struct ClientsByStatus(Option<UserId>);

impl HandWritten for ClientsByStatus {
    type Table = clients::table;
    type SqlType = (Text, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT c.status, count(*) FROM ");
        sql.rows()?;
        sql.text(" AS c");
        if let Some(person) = &self.0 {
            sql.text(" WHERE EXISTS (SELECT 1 FROM mandates m WHERE m.tenant_id = c.tenant_id AND m.client_id = c.id AND m.responsible_id = ");
            sql.bind::<Id, _>(person)?;
            sql.text(")");
        }
        sql.text(" GROUP BY c.status ORDER BY c.status");
        Ok(())
    }
}

fn clients_by_status(scope: &mut Read<'_>, person: Option<UserId>) -> Result<Vec<ClientCount>> {
    scope.load(scope.by_hand(clients::table, ClientsByStatus(person)))
}

fn mandates_by_status(scope: &mut Read<'_>, person: Option<UserId>) -> Result<Vec<MandateCount>> {
    let own =
        Filters::on(mandates::table).and_some(person, |person| mandates::responsible_id.eq(person));
    let counted = scope.rows(mandates::table).filter(own).group_by(mandates::status);
    let counted = counted.order(mandates::status);
    scope.load(counted.select((mandates::status, diesel::dsl::count_star())))
}

/// Drafts by kind.
struct Drafts(Option<UserId>);

impl HandWritten for Drafts {
    type Table = invoices::table;
    type SqlType = (Text, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT i.document, count(*) FROM ");
        sql.rows()?;
        sql.text(" AS i WHERE i.state = 'draft'");
        if let Some(person) = &self.0 {
            sql.text(" AND i.mandate_id IN (SELECT m.id FROM mandates m WHERE m.tenant_id = i.tenant_id AND m.responsible_id = ");
            sql.bind::<Id, _>(person)?;
            sql.text(")");
        }
        sql.text(" GROUP BY i.document ORDER BY i.document");
        Ok(())
    }
}

fn drafts(scope: &mut Read<'_>, person: Option<UserId>) -> Result<Vec<DraftCount>> {
    scope.load(scope.by_hand(invoices::table, Drafts(person)))
}
