//! What must hold of a return, and what to do where it does not.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::effective::Effective;
use super::form::{ACQUISITION_TAXES, FormFigure, NET_RATE_TAXES, SUPPLY_TAXES};
use super::kinds::Direction;
use super::net_rate::NetRate;
use super::queries::{Group, Moved, Span, Which, movements};
use super::rules::{Sums, less, plus, range};
use super::setup::{CodeBook, Filer};
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::fiscal_years;
use crate::error::Result;
use crate::ledger::{AccountKind, FiscalYearState, VatPart};
use crate::money::{Currency, Money};
use crate::text::FreeText;

use FormFigure as F;

/// By how much tax may differ from base × rate: each line is rounded for itself, and cash totals to five centimes.
const ROUNDING: Money = Money::from_minor(100);
/// Accounts that a check names at most.
const MOST_ACCOUNTS: usize = 10;
/// Fiscal years that can overlap a calendar year, and more.
const MOST_YEARS: i64 = 20;

/// Something that must hold of the return.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Check {
    /// What must hold, in words.
    name: &'static str,
    /// The figure of the form that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<FormFigure>,
    /// Whether it holds.
    holds: bool,
    /// The currency of the amounts.
    currency: Currency,
    /// The first side.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<Money>,
    /// The second side.
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<Money>,
    /// The first less the second, or the amount in question.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Money>,
    /// The difference that is allowed, since lines are rounded one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<Money>,
    /// How many lines are in question.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<i64>,
    /// Accounts in question, the first ten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accounts: Vec<FreeText>,
    /// What to do, where it does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    what_to_do: Option<&'static str>,
}

/// The checks of a return, as they are gathered.
#[derive(Debug)]
pub(super) struct Checks {
    currency: Currency,
    pub(super) list: Vec<Check>,
}

impl Checks {
    fn check(&self, name: &'static str, holds: bool, what_to_do: &'static str) -> Check {
        Check {
            name,
            number: None,
            holds,
            currency: self.currency,
            left: None,
            right: None,
            difference: None,
            tolerance: None,
            lines: None,
            accounts: vec![],
            what_to_do: (!holds).then_some(what_to_do),
        }
    }

    /// Compares two amounts, which may differ by no more than `tolerance`.
    fn within(
        &self,
        name: &'static str,
        (left, right): (Money, Money),
        tolerance: Money,
        what_to_do: &'static str,
    ) -> Result<Check> {
        let difference = less(left, right)?;
        let holds = difference.minor().abs() <= tolerance.minor();
        Ok(Check {
            left: Some(left),
            right: Some(right),
            difference: Some(difference),
            tolerance: (tolerance > Money::ZERO).then_some(tolerance),
            ..self.check(name, holds, what_to_do)
        })
    }

    /// Finds accounts whose lines lack something.
    fn nothing_moved(
        &self,
        name: &'static str,
        moved: &[Moved],
        what_to_do: &'static str,
    ) -> Result<Check> {
        let lines = moved.iter().map(|account| account.lines).sum();
        Ok(Check {
            lines: Some(lines),
            difference: Some(total(moved)?),
            accounts: numbers(moved),
            ..self.check(name, lines == 0, what_to_do)
        })
    }

    /// The days of the period take no more postings, as the locks are now.
    pub(super) fn is_closed(&self, scope: &mut Read<'_>, span: Span) -> Result<Check> {
        let columns = (
            fiscal_years::starts_on,
            fiscal_years::ends_on,
            fiscal_years::state,
            fiscal_years::locked_through,
        );
        let years = scope
            .rows(fiscal_years::table)
            .filter(fiscal_years::mandate_id.eq(span.mandate()))
            .filter(fiscal_years::ends_on.ge(span.from))
            .filter(fiscal_years::starts_on.le(span.to))
            .order(fiscal_years::starts_on);
        let years: Vec<(Day, Day, FiscalYearState, Option<Day>)> =
            scope.load(years.select(columns).at_most(MOST_YEARS))?;
        let mut closed_until = span.from.minus_days(1);
        for (starts_on, ends_on, state, locked_through) in years {
            let shut =
                if state == FiscalYearState::Closed { Some(ends_on) } else { locked_through };
            if starts_on <= closed_until.plus_days(1) {
                closed_until = shut.map_or(closed_until, |shut| shut.max(closed_until));
            }
        }
        Ok(self.check(
            "the period is closed, so that nothing can be posted to it any more",
            closed_until >= span.to,
            "lock the fiscal year through the end of the period before filing",
        ))
    }
}

fn numbers(moved: &[Moved]) -> Vec<FreeText> {
    moved.iter().take(MOST_ACCOUNTS).map(|account| account.account.as_str().into()).collect()
}

fn total(moved: &[Moved]) -> Result<Money> {
    moved.iter().try_fold(Money::ZERO, |sum, account| plus(sum, account.amount))
}

/// The checks of a return by the effective method.
pub(super) fn of_effective(
    scope: &mut Read<'_>,
    filer: &Filer,
    span: Span,
    codes: &CodeBook,
    found: &Effective,
) -> Result<Checks> {
    let mut checks = Checks { currency: filer.currency, list: vec![] };
    taxed_turnover(&mut checks, &found.sums, &SUPPLY_TAXES)?;
    for figure in SUPPLY_TAXES.into_iter().chain(ACQUISITION_TAXES) {
        follows_from_base(&mut checks, codes, &found.sums, figure)?;
    }
    let is_supply = |group: &&Group| {
        let code = codes.code(&group.code).map(|code| code.rule.direction);
        matches!(code, Some(Direction::Output | Direction::Acquisition))
    };
    let off_rate = found.groups.iter().filter(is_supply).map(|group| group.off_rate).sum();
    checks.list.push(Check {
        lines: Some(off_rate),
        ..checks.check(
            "lines of supplies bear the rate of their day of supply",
            off_rate == 0,
            "list the lines of the figures concerned with explain_figure and correct rate or day of supply",
        )
    });
    let uncoded = movements(scope, span, Which::UncodedRevenue)?;
    let uncoded = checks.nothing_moved(
        "lines on revenue accounts have a VAT code",
        &uncoded,
        "reverse them and post them again with a VAT code; OO is the code of what lies outside VAT",
    )?;
    checks.list.push(uncoded);
    let form = less(found.sums.amount(F::TaxDue)?, found.sums.amount(F::InputTax)?)?;
    ledger(scope, &mut checks, span, form)?;
    Ok(checks)
}

/// The checks of a return by the net-rate method.
pub(super) fn of_net_rate(
    scope: &mut Read<'_>,
    filer: &Filer,
    span: Span,
    codes: &CodeBook,
    found: &NetRate,
) -> Result<Checks> {
    let mut checks = Checks { currency: filer.currency, list: vec![] };
    taxed_turnover(&mut checks, &found.sums, &NET_RATE_TAXES)?;
    for figure in ACQUISITION_TAXES {
        follows_from_base(&mut checks, codes, &found.sums, figure)?;
    }
    let unassigned = movements(scope, span, Which::UnassignedRevenue)?;
    let unassigned = checks.nothing_moved(
        "lines on revenue accounts have a VAT code or belong to an activity",
        &unassigned,
        "give the account its activity, or post the lines again with a VAT code; OO is the code of what lies outside VAT",
    )?;
    checks.list.push(unassigned);
    ledger(scope, &mut checks, span, found.tax_moved)?;
    Ok(checks)
}

/// 299 = Σ bases.
fn taxed_turnover(checks: &mut Checks, sums: &Sums, figures: &[FormFigure]) -> Result<()> {
    let bases = figures.iter().try_fold(Money::ZERO, |sum, one| plus(sum, sums.base(*one)))?;
    let check = checks.within(
        "299 equals the sum of the taxed amounts of all rates",
        (sums.amount(F::Taxable)?, bases),
        Money::ZERO,
        "look for supplies without a rate on their day of supply, or of no activity, among the lines of 200 and 289",
    )?;
    checks.list.push(Check { number: Some(F::Taxable), ..check });
    Ok(())
}

/// Tax ≈ base × rate.
fn follows_from_base(
    checks: &mut Checks,
    codes: &CodeBook,
    sums: &Sums,
    figure: FormFigure,
) -> Result<()> {
    let (base, tax) = (sums.base(figure), sums.leaf((figure, VatPart::Tax)));
    let Some(rate) = codes.percent_of(figure) else { return Ok(()) };
    if base == Money::ZERO && tax == Money::ZERO {
        return Ok(());
    }
    let expected = base.percent(rate).ok_or_else(range)?;
    let check = checks.within(
        "tax is the taxed amount times the rate",
        (tax, expected),
        ROUNDING,
        "compare the tax of its lines with their taxed amounts: explain_figure lists both",
    )?;
    checks.list.push(Check { number: Some(figure), ..check });
    Ok(())
}

/// What accounts 1170, 1171 and 2200 moved, without the settlements against 2201, is what the form asks for.
fn ledger(scope: &mut Read<'_>, checks: &mut Checks, span: Span, form: Money) -> Result<()> {
    let moved = movements(scope, span, Which::Vat)?;
    let check = checks.within(
        "the return agrees with what accounts 1170, 1171 and 2200 moved, settlements to 2201 apart",
        (form, total(&moved)?),
        Money::ZERO,
        "look for lines on these accounts without a VAT code, or for tax posted to other accounts",
    )?;
    checks.list.push(Check { accounts: numbers(&moved), ..check });
    Ok(())
}

/// The periods of a year give its figures, and revenue in the accounts is what the returns declared.
pub(super) fn of_year(
    scope: &mut Read<'_>,
    checks: &mut Checks,
    span: Span,
    (whole, parts): (&Sums, &[Sums]),
    coded_revenue: Option<Money>,
) -> Result<()> {
    for figure in [F::Turnover, F::Deductions, F::Taxable, F::TaxDue, F::InputTax] {
        let sum =
            parts.iter().try_fold(Money::ZERO, |sum, part| plus(sum, part.amount(figure)?))?;
        let check = checks.within(
            "the figure of the year is the sum of its periods",
            (whole.amount(figure)?, sum),
            ROUNDING,
            "file a correction with the reconciliation of the year",
        )?;
        checks.list.push(Check { number: Some(figure), ..check });
    }
    if let Some(coded) = coded_revenue {
        let revenue = total(&movements(scope, span, Which::Revenue)?)?;
        let check = checks.within(
            "revenue in the annual accounts is what lines with a VAT code declare",
            (revenue, coded),
            Money::ZERO,
            "look for revenue without a VAT code",
        )?;
        checks.list.push(check);
    }
    Ok(())
}

/// What lines with a VAT code moved on revenue accounts, credit less debit.
pub(super) fn coded_revenue(found: &Effective) -> Result<Money> {
    let revenue = found.groups.iter().filter(|group| group.kind == AccountKind::Income);
    revenue
        .into_iter()
        .try_fold(Money::ZERO, |sum, group| plus(sum, less(group.credit, group.debit)?))
}
