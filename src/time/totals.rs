//! The sums of worked time, and what they are from the beginning of a month and of a year.

use schemars::JsonSchema;
use serde::Serialize;

use super::chosen::{Chosen, Standing, Sum, sums};
use super::figure::TimeFigure;
use super::rating::add;
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::error::Result;
use crate::ids::UserId;
use crate::money::{Currency, Money};
use crate::reports::Figure;

/// The sums of worked time.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct TimeTotals {
    /// Minutes worked.
    minutes: i64,
    /// Those of them that are billable, invoiced or not.
    billable_minutes: i64,
    /// Those of them that stand on a sales document.
    invoiced_minutes: i64,
    /// Those of them that have no rate, and are worth nothing here.
    unrated_minutes: i64,
    /// What the time is worth, per currency; currencies are never added together.
    values: Vec<TimeValue>,
}

/// What time is worth in one currency: the sum of the worth of each entry.
#[derive(Debug, Serialize, JsonSchema)]
struct TimeValue {
    /// The currency.
    currency: Currency,
    /// All of it.
    value: Money,
    /// What is billable, invoiced or not.
    billable_value: Money,
    /// What stands on a sales document.
    invoiced_value: Money,
    /// The handle of value for explain_figure: it lists the entries.
    figure: Figure,
}

/// Time worked up to a day.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TimeToDate {
    /// From the first of the month to the day.
    month: TimeTotals,
    /// From the first of January to the day.
    year: TimeTotals,
}

/// Time worked up to a day: all that the caller may see, or what was worked for mandates of which a person is in charge.
///
/// # Errors
/// The database is away; a sum is out of range.
pub(crate) fn time_to_date(
    scope: &mut Read<'_>,
    as_of: Day,
    responsible: Option<UserId>,
) -> Result<TimeToDate> {
    let mut since = |from: Day| {
        let chosen = Chosen { from: Some(from), to: Some(as_of), responsible, ..Chosen::default() };
        let rows = chosen.rows(scope)?;
        let sums = sums(scope, rows)?;
        TimeTotals::of(scope, &chosen, &sums)
    };
    Ok(TimeToDate { month: since(as_of.month_start())?, year: since(as_of.year_start())? })
}

impl TimeTotals {
    /// The totals of the chosen entries, each worth with its handle.
    ///
    /// # Errors
    /// A sum is out of range.
    pub(super) fn of(scope: &Read<'_>, chosen: &Chosen, sums: &[Sum]) -> Result<Self> {
        let mut totals = Self::default();
        for sum in sums {
            totals.minutes += sum.minutes;
            let (is_billable, is_invoiced) =
                (sum.standing != Standing::NotBillable, sum.standing == Standing::Invoiced);
            totals.billable_minutes += if is_billable { sum.minutes } else { 0 };
            totals.invoiced_minutes += if is_invoiced { sum.minutes } else { 0 };
            let Some(currency) = sum.currency else {
                totals.unrated_minutes += sum.minutes;
                continue;
            };
            if totals.values.last().is_none_or(|last| last.currency != currency) {
                totals.values.push(TimeValue::none(scope, chosen, currency)?);
            }
            let Some(total) = totals.values.last_mut() else { continue };
            add(&mut total.value, sum.value, 1)?;
            add(&mut total.billable_value, sum.value, i64::from(is_billable))?;
            add(&mut total.invoiced_value, sum.value, i64::from(is_invoiced))?;
        }
        Ok(totals)
    }
}

impl TimeValue {
    fn none(scope: &Read<'_>, chosen: &Chosen, currency: Currency) -> Result<Self> {
        let of_everybody = scope.caller().may(Permission::TimeReadAll);
        let figure =
            TimeFigure { chosen: chosen.clone(), currency, seen_by: scope.user(), of_everybody };
        Ok(Self {
            currency,
            value: Money::ZERO,
            billable_value: Money::ZERO,
            invoiced_value: Money::ZERO,
            figure: scope.figure(&figure)?,
        })
    }
}
