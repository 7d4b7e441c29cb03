//! Services, mandates, their teams and agreed rates, and who reaches them.

use diesel::prelude::*;

use super::super::DemoState;
use super::super::engagements::{FIRM_CLIENT, FIRM_MANDATE, MANDATES, mandate};
use super::super::fixtures::{MASTER, nth};
use super::super::ids::Kind;
use super::super::plan::{day, moment};
use super::people::{holder, user};
use super::{Writing, insert_all};
use crate::dates::{Day, Instant};
use crate::db::connection::AnyConnection;
use crate::db::schema::{mandate_members, mandates, reach, service_rates, services};
use crate::error::{Error, Result};
use crate::firm::Unit;
use crate::ids::{ClientId, MandateId, ServiceId, ServiceRateId, TenantId, UserId};
use crate::mandates::{Billing, Duty, MandateKind, MandateStatus, VatMethod, VatPeriod};
use crate::money::{Currency, Money, Quantity, Rate};
use crate::text::searchable;

#[derive(Insertable)]
#[diesel(table_name = services, treat_none_as_default_value = false)]
struct NewService<'a> {
    tenant_id: TenantId,
    id: ServiceId,
    code: &'a str,
    name: &'a str,
    unit: Unit,
    rate: Money,
    currency: Currency,
    vat_rate_percent: Rate,
    is_active: bool,
    search_text: String,
}

#[derive(Insertable)]
#[diesel(table_name = mandates, treat_none_as_default_value = false)]
struct NewMandate<'a> {
    tenant_id: TenantId,
    id: MandateId,
    client_id: ClientId,
    number: String,
    title: &'a str,
    kind: MandateKind,
    status: MandateStatus,
    responsible_id: Option<UserId>,
    starts_on: Day,
    ends_on: Option<Day>,
    billing: Billing,
    currency: Currency,
    flat_fee: Option<Money>,
    budget_amount: Option<Money>,
    budget_hours: Option<Quantity>,
    fiscal_year_end_month: i32,
    vat_method: VatMethod,
    vat_period: Option<VatPeriod>,
    vat_net_rate: Option<Rate>,
    search_text: String,
    created_at: Instant,
}

#[derive(Insertable)]
#[diesel(table_name = mandate_members, treat_none_as_default_value = false)]
struct NewMember {
    tenant_id: TenantId,
    mandate_id: MandateId,
    user_id: UserId,
    duty: Duty,
}

#[derive(Insertable)]
#[diesel(table_name = reach, treat_none_as_default_value = false)]
#[expect(clippy::struct_field_names, reason = "the fields are the columns")]
struct NewReach {
    tenant_id: TenantId,
    user_id: UserId,
    mandate_id: MandateId,
}

#[derive(Insertable)]
#[diesel(table_name = service_rates, treat_none_as_default_value = false)]
struct NewServiceRate {
    tenant_id: TenantId,
    id: ServiceRateId,
    mandate_id: MandateId,
    service_id: ServiceId,
    rate: Money,
    valid_from: Day,
    valid_to: Option<Day>,
}

pub(super) fn write(connection: &mut AnyConnection, writing: Writing<'_>) -> Result<()> {
    insert_all!(connection, services::table, offered(writing));
    let numbers = (1..=MANDATES).chain([FIRM_MANDATE]);
    let all = numbers.map(|n| engagement(writing, n)).collect::<Result<Vec<_>>>()?;
    insert_all!(connection, mandates::table, all);
    let (members, reached) = teams(writing)?;
    insert_all!(connection, mandate_members::table, members);
    insert_all!(connection, reach::table, reached);
    insert_all!(connection, service_rates::table, agreed(writing)?);
    Ok(())
}

fn offered(writing: Writing<'_>) -> Vec<NewService<'_>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let row = |(n, service): (u32, &'static super::super::fixtures::Service)| {
        let (code, name) = (service.code.of(firm), service.name.of(firm));
        NewService {
            tenant_id,
            id: writing.id(Kind::Service, n),
            code,
            name,
            unit: service.unit,
            rate: service.rate,
            currency: service.currency,
            vat_rate_percent: service.vat_rate_percent,
            is_active: service.is_active,
            search_text: searchable([code, name]),
        }
    };
    (1..).zip(&MASTER.services).map(row).collect()
}

/// The number of the `n`th mandate.
fn number(writing: Writing<'_>, n: u32) -> String {
    format!("{}-M{n:03}", writing.firm.prefix)
}

fn engagement(writing: Writing<'_>, n: u32) -> Result<NewMandate<'_>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let mandate = mandate(n)?;
    let titles = MASTER.mandate_titles.iter();
    let title = titles.clone().find(|title| title.kind == mandate.kind);
    let title = title.ok_or_else(|| Error::fault("a kind of mandate has no title"))?.title.of(firm);
    let client = if mandate.client == FIRM_CLIENT {
        firm.name.as_str()
    } else {
        nth(&MASTER.clients, mandate.client - 1)?.name.of(firm)
    };
    let number = number(writing, n);
    let responsible = if n <= 60 { "manager" } else { "owner" };
    Ok(NewMandate {
        tenant_id,
        id: writing.id(Kind::Mandate, n),
        client_id: writing.id(Kind::Client, mandate.client),
        search_text: searchable([&number, title, client]),
        number,
        title,
        kind: mandate.kind,
        status: mandate.status,
        responsible_id: (!n.is_multiple_of(31)).then(|| holder(firm, responsible)).transpose()?,
        starts_on: mandate.starts_on,
        ends_on: mandate.ends_on,
        billing: mandate.billing,
        currency: mandate.currency,
        flat_fee: mandate.flat_fee,
        budget_amount: mandate.budget_amount,
        budget_hours: mandate.budget_hours,
        fiscal_year_end_month: mandate.fiscal_year_end_month,
        vat_method: mandate.vat_method,
        vat_period: mandate.vat_period,
        vat_net_rate: mandate.vat_net_rate,
        created_at: moment(day(2024, 1, 2)?, i64::from(n))?,
    })
}

/// Who works on which mandate: whoever reaches it by a list and has a duty in the firm.
fn teams(writing: Writing<'_>) -> Result<(Vec<NewMember>, Vec<NewReach>)> {
    let Writing { firm, tenant: tenant_id } = writing;
    let (mut members, mut reached) = (vec![], vec![]);
    for (n, person) in (1..).zip(&MASTER.people) {
        let user_id = user(firm, n, person);
        let duty = match person.role.of(firm) {
            "manager" => Duty::Lead,
            "accountant" => Duty::Accountant,
            "payroll_officer" => Duty::Payroll,
            "assistant" => Duty::Assistant,
            "auditor" => Duty::Reviewer,
            role => {
                if person.mandates.is_some() {
                    return Err(Error::fault(format!("{role} has no duty in mandates")));
                }
                continue;
            }
        };
        for mandate in person.mandates.iter().flat_map(|listed| listed.mandates()) {
            let mandate_id = writing.id(Kind::Mandate, mandate);
            reached.push(NewReach { tenant_id, user_id, mandate_id });
            if person.state == DemoState::Active {
                members.push(NewMember { tenant_id, mandate_id, user_id, duty });
            }
        }
    }
    Ok((members, reached))
}

/// Rates agreed for every third mandate of the first thirty: one that has ended and the one that follows; for the first
/// mandate also one to come.
fn agreed(writing: Writing<'_>) -> Result<Vec<NewServiceRate>> {
    let mut rows = vec![];
    let (mut n, years) = (0, [(2024, Some(2025), 95), (2026, None, 90), (2027, None, 85)]);
    for mandate in (1..=30).step_by(3) {
        let count = if mandate == 1 { 3 } else { 2 };
        for (year, last, percent) in years.iter().take(count) {
            n += 1;
            let last = if mandate == 1 && *year == 2026 { Some(2026) } else { *last };
            let service = 1 + mandate % 6;
            let full = nth(&MASTER.services, service - 1)?.rate;
            let rate = full.percent(Rate::from_minor(percent * 10_000));
            rows.push(NewServiceRate {
                tenant_id: writing.tenant,
                id: writing.id(Kind::ServiceRate, n),
                mandate_id: writing.id(Kind::Mandate, mandate),
                service_id: writing.id(Kind::Service, service),
                rate: rate.ok_or_else(|| Error::fault("a rate is out of range"))?,
                valid_from: day(*year, 1, 1)?,
                valid_to: last.map(|year| day(year, 12, 31)).transpose()?,
            });
        }
    }
    Ok(rows)
}
