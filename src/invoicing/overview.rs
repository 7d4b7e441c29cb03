//! What the firm's overview says of its sales documents.

use schemars::JsonSchema;
use serde::Serialize;

use super::figures::total;
use super::list_open_items::{Age, OpenTotal, controls, totals};
use super::open_items::{Chosen, report};
use super::revenue::{Billed, DEFINITION, sums};
use super::revenue_figures::{Among, Names, RevenueFigure};
use crate::dates::{Day, a_year_earlier};
use crate::db::Read;
use crate::error::Result;
use crate::ids::UserId;
use crate::money::{Currency, Money};
use crate::reports::{Control, Figure};

/// The revenue of a month and a year up to a day, in one currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RevenueToDate {
    /// The currency.
    currency: Currency,
    /// From the first of the month to the day.
    month: Money,
    /// The same days of the year before.
    month_of_previous_year: Money,
    /// From the first of January to the day.
    year: Money,
    /// The same days of the year before.
    year_of_previous_year: Money,
    /// The handle of these figures for explain_figure.
    figure: Figure,
}

/// What is overdue in one currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Overdue {
    /// The currency.
    currency: Currency,
    /// What is owed and was due before the day.
    open: Money,
    /// How many invoices that is.
    count: i64,
}

/// Revenue up to a day, and what it is: of all mandates, or of those of which a person is in charge.
///
/// # Errors
/// The database is away.
pub(crate) fn revenue_to_date(
    scope: &mut Read<'_>,
    as_of: Day,
    commit: i64,
    responsible: Option<UserId>,
) -> Result<(&'static str, Vec<RevenueToDate>)> {
    let month = (as_of.month_start(), as_of);
    let january = i32::try_from(as_of.month()).unwrap_or(1) - 1;
    let year = (as_of.month_start().plus_months(-january), as_of);
    let earlier = |(from, to)| a_year_earlier(from, to);
    let periods = vec![month, earlier(month), year, earlier(year)];
    let billed = Billed { responsible, ..Billed::in_periods(periods, commit) };
    let (_, sums) = sums(scope, billed.clone(), None)?;
    let mut currencies: Vec<Currency> = sums.iter().map(|sum| sum.currency).collect();
    currencies.sort_unstable();
    currencies.dedup();
    let of = |currency: Currency| {
        let part = |part: i32| {
            let found = sums.iter().find(|sum| sum.currency == currency && sum.part == part);
            found.map_or(Money::ZERO, |sum| sum.net)
        };
        let parts = [part(0), part(1), part(2), part(3)];
        let kind = (Names::Overview, Among::All);
        let figure = RevenueFigure::handle(scope, kind, &billed, currency, total(parts)?)?;
        let [month, month_of_previous_year, year, year_of_previous_year] = parts;
        Ok(RevenueToDate {
            currency,
            month,
            month_of_previous_year,
            year,
            year_of_previous_year,
            figure,
        })
    };
    let revenue = currencies.into_iter().map(of).collect::<Result<_>>()?;
    Ok((DEFINITION, revenue))
}

/// What is owed on a day, what of it is overdue, and the identities that must hold: of all mandates, or of those of which a
/// person is in charge.
///
/// # Errors
/// The database is away.
pub(crate) fn receivables(
    scope: &mut Read<'_>,
    as_of: Day,
    commit: i64,
    responsible: Option<UserId>,
) -> Result<(Vec<OpenTotal>, Vec<Overdue>, Vec<Control>)> {
    let chosen = Chosen { responsible, ..Chosen::on(as_of) };
    let report = report(scope, chosen.clone(), None, 0)?;
    let totals = totals(scope, &chosen, commit, &report)?;
    let mut overdue = vec![];
    for owed in &totals {
        let late = || owed.buckets.iter().filter(|bucket| bucket.age != Age::NotDue);
        let open = total(late().map(|bucket| bucket.open))?;
        let count = late().map(|bucket| bucket.count).sum();
        if count > 0 {
            overdue.push(Overdue { currency: owed.currency, open, count });
        }
    }
    let controls = controls(&totals, &report.in_ledger)?;
    Ok((totals, overdue, controls))
}
