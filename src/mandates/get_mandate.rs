//! One mandate.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Billing, Duty, MandateKind, MandateStatus, VatMethod, VatPeriod};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::{clients, fiscal_years, mandate_members, mandates, memberships};
use crate::error::Result;
use crate::ids::{ClientId, FiscalYearId, MandateId, UserId};
use crate::ledger::FiscalYearState;
use crate::money::{Currency, Money, Quantity, Rate};
use crate::registry::ReadTool;
use crate::text::FreeText;

/// Get one mandate: client, team, budget, billing, fiscal years with their states, and VAT method. Find the id with
/// search_mandates; for its phases, use list_project_positions. (fiche mandat, équipe, exercices / Mandatsblatt,
/// Geschäftsjahre, MWST-Methode)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetMandate {
    /// The mandate.
    mandate_id: MandateId,
}

/// One mandate.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MandatePage {
    /// The mandate.
    id: MandateId,
    /// Its number.
    number: FreeText,
    /// Its title.
    title: FreeText,
    /// What it is about.
    r#type: MandateKind,
    /// Where it stands.
    status: MandateStatus,
    /// The client.
    client_id: ClientId,
    /// The client's name.
    client: FreeText,
    /// Who is responsible.
    #[serde(skip_serializing_if = "Option::is_none")]
    responsible: Option<FreeText>,
    /// Its first day.
    starts_on: Day,
    /// Its last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_on: Option<Day>,
    /// Who works on it.
    team: Vec<Member>,
    /// How it is billed.
    billing: BillingSetup,
    /// What it may cost.
    budget: Budget,
    /// The month in which its fiscal year ends, 1 to 12.
    fiscal_year_end_month: i32,
    /// Its fiscal years, latest first; none for a mandate without books.
    fiscal_years: Vec<FiscalYear>,
    /// How it files VAT.
    vat: VatSetup,
    /// Which of the lists above show only their first 100 rows; none when all are whole.
    truncated: Vec<&'static str>,
}

/// A fiscal year of a mandate.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct FiscalYear {
    /// The fiscal year.
    id: FiscalYearId,
    /// What it is called.
    label: FreeText,
    /// Its first day.
    starts_on: Day,
    /// Its last day.
    ends_on: Day,
    /// What may still be posted in it.
    state: FiscalYearState,
    /// The day until which nothing may be posted any more, itself included.
    #[serde(skip_serializing_if = "Option::is_none")]
    locked_through: Option<Day>,
}

/// A person who works on a mandate.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct Member {
    /// The person.
    user_id: UserId,
    /// The person's name.
    name: FreeText,
    /// What the person does.
    duty: Duty,
}

/// How a mandate is billed.
#[derive(Debug, Serialize, JsonSchema)]
struct BillingSetup {
    /// By the hour, a flat fee, or not at all.
    mode: Billing,
    /// The currency.
    currency: Currency,
    /// The flat fee for a year.
    #[serde(skip_serializing_if = "Option::is_none")]
    flat_fee: Option<Money>,
}

/// What a mandate may cost in a year.
#[derive(Debug, Serialize, JsonSchema)]
struct Budget {
    /// The amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<Money>,
    /// The hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    hours: Option<Quantity>,
}

/// How a mandate files VAT.
#[derive(Debug, Serialize, JsonSchema)]
struct VatSetup {
    /// The method.
    method: VatMethod,
    /// The period.
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<VatPeriod>,
    /// The net rate in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    net_rate_percent: Option<Rate>,
}

#[derive(Debug, Queryable)]
struct Row {
    head: (FreeText, FreeText, MandateKind, MandateStatus, ClientId, FreeText, Option<FreeText>),
    days: (Day, Option<Day>, i32),
    billing: (Billing, Currency, Option<Money>, Option<Money>, Option<Quantity>),
    vat: (VatMethod, Option<VatPeriod>, Option<Rate>),
}

/// Rows of each list that the page shows at most; one more is looked for, to know whether there are more.
const SHOWN: usize = 100;
const LOOKED_FOR: i64 = 101;

impl ReadTool for GetMandate {
    const NAME: &'static str = "get_mandate";
    const PERMISSION: Permission = Permission::MandateRead;
    type Output = MandatePage;

    fn example() -> Self {
        Self { mandate_id: crate::demo::ids::example_mandate() }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<MandatePage> {
        let id = self.mandate_id;
        let Row { head, days, billing, vat } = row(scope, id)?;
        let (number, title, kind, status, client_id, client, responsible) = head;
        let (starts_on, ends_on, fiscal_year_end_month) = days;
        let (mode, currency, flat_fee, amount, hours) = billing;
        let (method, period, net_rate_percent) = vat;
        let (mut team, mut fiscal_years) = (team(scope, id)?, fiscal_years(scope, id)?);
        let mut truncated = vec![];
        if team.len() > SHOWN {
            truncated.push("team");
        }
        if fiscal_years.len() > SHOWN {
            truncated.push("fiscal_years");
        }
        team.truncate(SHOWN);
        fiscal_years.truncate(SHOWN);
        Ok(MandatePage {
            id,
            number,
            title,
            r#type: kind,
            status,
            client_id,
            client,
            responsible,
            starts_on,
            ends_on,
            team,
            billing: BillingSetup { mode, currency, flat_fee },
            budget: Budget { amount, hours },
            fiscal_year_end_month,
            fiscal_years,
            vat: VatSetup { method, period, net_rate_percent },
            truncated,
        })
    }
}

fn row(scope: &mut Read<'_>, id: MandateId) -> Result<Row> {
    let columns = (
        (
            mandates::number,
            mandates::title,
            mandates::kind,
            mandates::status,
            mandates::client_id,
            clients::name,
            memberships::display_name.nullable(),
        ),
        (mandates::starts_on, mandates::ends_on, mandates::fiscal_year_end_month),
        (
            mandates::billing,
            mandates::currency,
            mandates::flat_fee,
            mandates::budget_amount,
            mandates::budget_hours,
        ),
        (mandates::vat_method, mandates::vat_period, mandates::vat_net_rate),
    );
    let this = scope.rows(mandates::table).inner_join(clients::table).left_join(memberships::table);
    scope.one("mandate", this.filter(mandates::id.eq(id)).select(columns))
}

fn team(scope: &mut Read<'_>, id: MandateId) -> Result<Vec<Member>> {
    let all = scope.rows(mandate_members::table).inner_join(memberships::table);
    let all = all.filter(mandate_members::mandate_id.eq(id));
    let all = all.order((memberships::display_name, mandate_members::user_id));
    let columns = (mandate_members::user_id, memberships::display_name, mandate_members::duty);
    scope.load(all.select(columns).at_most(LOOKED_FOR))
}

fn fiscal_years(scope: &mut Read<'_>, id: MandateId) -> Result<Vec<FiscalYear>> {
    let all = scope.rows(fiscal_years::table).filter(fiscal_years::mandate_id.eq(id));
    let all = all.order((fiscal_years::starts_on.desc(), fiscal_years::id));
    let columns = (
        fiscal_years::id,
        fiscal_years::label,
        fiscal_years::starts_on,
        fiscal_years::ends_on,
        fiscal_years::state,
        fiscal_years::locked_through,
    );
    scope.load(all.select(columns).at_most(LOOKED_FOR))
}
