//! Invoiced revenue of a period.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::breakdown::{Group, THIS, groups};
use super::figures::total;
use super::ledger::{self, LedgerSum};
use super::revenue::{Billed, DEFINITION, GroupBy, RevenueSum, sums};
use super::revenue_figures::{Among, Names, RevenueFigure};
use crate::auth::Permission;
use crate::dates::{Day, a_year_earlier};
use crate::db::Read;
use crate::error::{Error, Result};
use crate::ids::{ClientId, MandateId, RecordId};
use crate::ledger::Purpose;
use crate::money::{Currency, CurrencyAmount, Money};
use crate::registry::ReadTool;
use crate::reports::{Clocks, Control, Figure, Known, KnownOn};
use crate::text::FreeText;

/// Get the revenue invoiced in a period, net of VAT, per currency: in all, by month, client, mandate or service, and beside
/// the same days a year earlier. For who still owes what, use list_open_items; for single documents, search_invoices; for the
/// books, get_profit_and_loss. (chiffre d'affaires, facturé / Umsatz, fakturiert)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetRevenue {
    /// First day of issue.
    from: Day,
    /// Last day of issue; at most ten years after the first.
    to: Day,
    /// What it is broken down by; totals alone by default.
    group_by: Option<GroupBy>,
    /// Whether the same days a year earlier stand beside; without them by default.
    compare_previous: Option<bool>,
    /// Only what was invoiced to this client; all clients by default.
    client_id: Option<ClientId>,
    /// Only what was invoiced under this mandate; all mandates you may see by default.
    mandate_id: Option<MandateId>,
    /// What the books said then: a day, or a posting such as #812; now by default.
    as_known_on: Option<KnownOn>,
}

/// The revenue of a period.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Revenue {
    /// First day of issue.
    from: Day,
    /// Last day of issue.
    to: Day,
    /// The last posting that counts.
    as_known_on: KnownOn,
    /// The same arguments at the same clocks give the same report.
    report_id: String,
    /// What revenue is here.
    definition: &'static str,
    /// First day of the previous period.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_from: Option<Day>,
    /// Last day of the previous period.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_to: Option<Day>,
    /// The groups: months in order, else the largest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<RevenueGroup>>,
    /// The revenue in each currency; currencies are never added together.
    totals: Vec<RevenueTotal>,
    /// Identities that must hold, and whether they do.
    controls: Vec<Control>,
    /// What is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// The revenue of a group in one currency.
#[derive(Debug, Serialize, JsonSchema)]
struct RevenueGroup {
    /// The client, mandate or service.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<RecordId>,
    /// Its number or code, or the month.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<FreeText>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<FreeText>,
    /// How many groups the row stands for, where it stands for the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<usize>,
    /// The currency.
    currency: Currency,
    /// The revenue.
    revenue: Money,
    /// The revenue of the previous period.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<Money>,
    /// How many documents that is, or lines by service.
    count: i64,
    /// Its handle for explain_figure.
    figure: Figure,
}

/// The revenue in one currency.
#[derive(Debug, Serialize, JsonSchema)]
struct RevenueTotal {
    /// The currency.
    currency: Currency,
    /// The revenue.
    revenue: Money,
    /// The revenue of the previous period.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<Money>,
    /// What rounding to five centimes added besides, which is no revenue.
    rounding: Money,
    /// How many invoices and credit notes that is.
    count: i64,
    /// Its handle for explain_figure.
    figure: Figure,
}

/// Years that a period may have.
const LONGEST_YEARS: i32 = 10;
/// Groups that an answer shows.
const MOST_GROUPS: usize = 100;
/// Bytes of the names of the groups in an answer: it stays under 100 kB.
const MOST_BYTES: usize = 14_000;

impl ReadTool for GetRevenue {
    const NAME: &'static str = "get_revenue";
    const PERMISSION: Permission = Permission::RevenueRead;
    const WEIGHT: u32 = 3;
    type Output = Revenue;

    fn example() -> Self {
        Self {
            from: Day::from_ymd(2026, 1, 1).unwrap_or(Day::FIRST),
            to: Day::from_ymd(2026, 6, 30).unwrap_or(Day::FIRST),
            group_by: Some(GroupBy::Service),
            compare_previous: Some(true),
            client_id: None,
            mandate_id: None,
            as_known_on: None,
        }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<Revenue> {
        self.check()?;
        super::check_reached(scope, self.client_id, self.mandate_id)?;
        let known = Known::at(scope, self.as_known_on)?;
        self.as_known_on = Some(known.written());
        let billed = self.billed(known);
        let (rows, sums) = sums(scope, billed.clone(), self.group_by)?;
        let mut totals = totals(scope, &billed, &sums)?;
        totals.sort_unstable_by_key(|total| total.currency);
        let mut controls = vec![];
        let (groups, note) = match self.group_by {
            None => (None, None),
            Some(by) => {
                let all = groups(rows)?;
                controls.extend(adding_up(by, &all, &totals)?);
                let (shown, note) = shown(scope, by, &billed, all)?;
                (Some(shown), note)
            }
        };
        controls.extend(with_ledger(scope, &billed, &totals)?);
        let report_id = scope.report_id(&self, Clocks { as_of: self.to, known })?;
        let previous = billed.periods.get(1);
        Ok(Revenue {
            from: self.from,
            to: self.to,
            as_known_on: known.written(),
            report_id,
            definition: DEFINITION,
            previous_from: previous.map(|(from, _)| *from),
            previous_to: previous.map(|(_, to)| *to),
            groups,
            totals,
            controls,
            note,
        })
    }
}

impl GetRevenue {
    fn check(&self) -> Result<()> {
        if self.to < self.from {
            return Err(Error::argument("to", format!("to must be {} or later", self.from)));
        }
        let last = self.from.plus_months(12 * LONGEST_YEARS).minus_days(1);
        if self.to > last {
            let said =
                format!("a period has at most {LONGEST_YEARS} years; give a day up to {last}");
            return Err(Error::argument("to", said));
        }
        Ok(())
    }

    fn billed(&self, known: Known) -> Billed {
        let mut periods = vec![(self.from, self.to)];
        if self.compare_previous.unwrap_or_default() {
            periods.push(a_year_earlier(self.from, self.to));
        }
        Billed {
            client: self.client_id,
            mandate: self.mandate_id,
            ..Billed::in_periods(periods, known.commit)
        }
    }
}

fn totals(scope: &Read<'_>, billed: &Billed, sums: &[RevenueSum]) -> Result<Vec<RevenueTotal>> {
    let mut currencies: Vec<Currency> = sums.iter().map(|sum| sum.currency).collect();
    currencies.sort_unstable();
    currencies.dedup();
    let is_compared = billed.periods.len() > 1;
    let of = |currency: Currency| {
        let in_period = |is_this: bool| {
            sums.iter().find(|sum| sum.currency == currency && (sum.part == THIS) == is_this)
        };
        let (this, before) = (in_period(true), in_period(false));
        let revenue = this.map_or(Money::ZERO, |sum| sum.net);
        let previous = before.map_or(Money::ZERO, |sum| sum.net);
        let rounding = this.map_or(Money::ZERO, |sum| sum.rounding);
        let whole = total([revenue, previous, rounding])?;
        let kind = (Names::Total, Among::All);
        Ok(RevenueTotal {
            currency,
            revenue,
            previous: is_compared.then_some(previous),
            rounding,
            count: this.map_or(0, |sum| sum.count),
            figure: RevenueFigure::handle(scope, kind, billed, currency, whole)?,
        })
    };
    currencies.into_iter().map(of).collect()
}

/// The groups of an answer and, in a row for each currency, the others.
fn shown(
    scope: &Read<'_>,
    by: GroupBy,
    billed: &Billed,
    mut all: Vec<Group>,
) -> Result<(Vec<RevenueGroup>, Option<String>)> {
    let mut bytes = 0;
    let mut fits = |group: &Group| {
        bytes += group.name.as_deref().unwrap_or_default().len();
        bytes <= MOST_BYTES
    };
    let count = all.iter().take(MOST_GROUPS).take_while(|group| fits(group)).count();
    let others = all.split_off(count);
    if by == GroupBy::Month && !others.is_empty() {
        let said =
            "more than 100 months and currencies; shorten the period, or give another group_by";
        return Err(Error::argument("group_by", said));
    }
    let is_compared = billed.periods.len() > 1;
    let mut rows = vec![];
    for group in all {
        rows.push(row(scope, by, billed, group)?);
    }
    for currency in Currency::ALL {
        let left: Vec<&Group> = others.iter().filter(|one| one.currency == *currency).collect();
        if left.is_empty() {
            continue;
        }
        let revenue = total(left.iter().map(|group| group.revenue))?;
        let previous = total(left.iter().map(|group| group.previous))?;
        let kind = (Names::Group, Among::Others(by, u8::try_from(count).unwrap_or(u8::MAX)));
        let sum = total([revenue, previous])?;
        rows.push(RevenueGroup {
            id: None,
            number: None,
            name: None,
            others: Some(left.len()),
            currency: *currency,
            revenue,
            previous: is_compared.then_some(previous),
            count: left.iter().map(|group| group.count).sum(),
            figure: RevenueFigure::handle(scope, kind, billed, *currency, sum)?,
        });
    }
    let note = (!others.is_empty()).then(|| {
        format!("the {count} largest groups are shown; {} smaller ones are added up", others.len())
    });
    Ok((rows, note))
}

fn row(scope: &Read<'_>, by: GroupBy, billed: &Billed, group: Group) -> Result<RevenueGroup> {
    let mut counted = billed.clone();
    let key = group.key.map(Uuid::from);
    let among = match (by, key) {
        (GroupBy::Month, _) => {
            let month = group.month.unwrap_or(Day::FIRST);
            for (at, period) in (0_i32..).zip(&mut counted.periods) {
                let first = month.plus_months(-12 * at);
                let last = first.plus_months(1).minus_days(1);
                *period = (period.0.max(first), period.1.min(last));
            }
            Among::All
        }
        (GroupBy::Client, key) => {
            counted.client = key.map(Into::into);
            Among::All
        }
        (GroupBy::Mandate, Some(id)) => {
            counted.mandate = Some(id.into());
            Among::All
        }
        (GroupBy::Mandate, None) => Among::OfNoMandate,
        (GroupBy::Service, key) => Among::OfService(key),
    };
    let sum = total([group.revenue, group.previous])?;
    let kind = (Names::Group, among);
    let figure = RevenueFigure::handle(scope, kind, &counted, group.currency, sum)?;
    let month = group.month.map(|month| format!("{}-{:02}", month.year(), month.month()));
    Ok(RevenueGroup {
        id: group.key,
        number: group.number.or(month).map(Into::into),
        name: group.name.map(Into::into),
        others: None,
        currency: group.currency,
        revenue: group.revenue,
        previous: (billed.periods.len() > 1).then_some(group.previous),
        count: group.count,
        figure,
    })
}

/// Compares the groups of each currency with its total.
fn adding_up(by: GroupBy, all: &[Group], totals: &[RevenueTotal]) -> Result<Vec<Control>> {
    let name = match by {
        GroupBy::Service => "the lines of all services add up to the invoices and credit notes",
        _ => "the groups add up to the total",
    };
    let control = |whole: &RevenueTotal| {
        let of_currency = all.iter().filter(|group| group.currency == whole.currency);
        let sum = total(of_currency.map(|group| group.revenue))?;
        Ok(Control::equal(name, whole.currency, sum, whole.revenue))
    };
    totals.iter().map(control).collect()
}

/// Compares each total with the revenue accounts of the firm's ledger, where the caller sees all of both.
fn with_ledger(
    scope: &mut Read<'_>,
    billed: &Billed,
    totals: &[RevenueTotal],
) -> Result<Vec<Control>> {
    let Some((from, to)) = billed.periods.first().copied().filter(|_| billed.is_whole()) else {
        return Ok(vec![]);
    };
    let asked = LedgerSum::of(scope, Purpose::Revenue, (Some(from), to), Some(billed.commit));
    let name = "the total equals the revenue accounts of the firm's ledger";
    let control = |CurrencyAmount { currency, amount }: CurrencyAmount| {
        let revenue = totals.iter().find(|total| total.currency == currency);
        let revenue = revenue.map_or(Money::ZERO, |total| total.revenue);
        let booked = Money::ZERO.minus(amount).unwrap_or(amount);
        Control::equal(name, currency, revenue, booked)
    };
    Ok(ledger::sums(scope, asked)?.into_iter().map(control).collect())
}
