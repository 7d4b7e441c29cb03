//! The lines of a payslip.
//!
//! Rates are those of the fixture; ceilings, coordination deduction and retirement credits are federal law as of 2025
//! (LPP art. 8 and 16; LACI art. 3 and LAA with 148,200 francs a year, cumulated from January). The rates of accident
//! and sickness insurance and of family funds vary from one policy to the next: these are examples.

use super::fixtures::{Employee, WageType};
use super::payroll::{Period, YearToDate, wage_type};
use crate::dates::Day;
use crate::error::{Error, Result};
use crate::money::{Money, Quantity, Rate};
use crate::payroll::{Pay, PayslipLineKind};

/// The ceiling of unemployment and accident insurance, in centimes a month.
const CEILING: i64 = 1_235_000;
/// Pension begins above this annual salary, in centimes.
const ENTRY: i64 = 2_268_000;
const COORDINATION: i64 = 2_646_000;
const UPPER_LIMIT: i64 = 9_072_000;
const LEAST_COORDINATED: i64 = 378_000;
/// A child's allowance, in centimes a month.
const CHILD: i64 = 31_100;

/// A line.
#[derive(Debug)]
pub(super) struct PayLine {
    pub(super) wage: &'static WageType,
    pub(super) base: Option<Money>,
    pub(super) rate: Option<Rate>,
    pub(super) amount: Money,
}

impl PayLine {
    /// The line that takes this one back.
    pub(super) fn reversed(&self) -> Self {
        let negative = |money: Money| Money::from_minor(-money.minor());
        let base = self.base.map(negative);
        Self { wage: self.wage, base, rate: self.rate, amount: negative(self.amount) }
    }
}

/// The sum of the lines of a kind.
pub(super) fn sum(lines: &[PayLine], kind: PayslipLineKind) -> Money {
    let of_kind = lines.iter().filter(|line| line.wage.kind == kind);
    Money::from_minor(of_kind.map(|line| line.amount.minor()).sum())
}

fn range() -> Error {
    Error::fault("a salary of the demo data is out of range")
}

fn plain(key: &str, minor: i64) -> Result<PayLine> {
    let (wage, amount) = (wage_type(key)?, Money::from_minor(minor));
    Ok(PayLine { wage, base: None, rate: None, amount })
}

/// A line of so many per cent of `base`, by default at the rate of the fixture.
fn share(key: &str, base: i64, rate: Option<Rate>) -> Result<PayLine> {
    let (wage, base) = (wage_type(key)?, Money::from_minor(base));
    let rate = rate.or(wage.rate_percent).ok_or_else(range)?;
    let amount = base.percent(rate).ok_or_else(range)?;
    Ok(PayLine { wage, base: Some(base), rate: Some(rate), amount })
}

/// The salary that an employee's contract gives on a day.
pub(super) fn salary_on(person: &Employee, day: Day) -> Money {
    person
        .raise
        .as_ref()
        .filter(|raise| raise.from <= day)
        .map_or(person.salary, |raise| raise.salary)
}

/// The lines of a month's payslip; `quarters` of an hour count for whoever is paid by the hour.
pub(super) fn of_month(
    person: &Employee,
    this: Period,
    so_far: &mut YearToDate,
    quarters: u32,
    bonus: Option<Money>,
) -> Result<Vec<PayLine>> {
    so_far.months += 1;
    let mut lines = earnings(person, this, so_far.months, quarters)?;
    if let Some(bonus) = bonus {
        lines.push(plain("bonus", bonus.minor())?);
    }
    let gross = sum(&lines, PayslipLineKind::Earning).minor();
    so_far.gross += gross;
    let capped = so_far.gross.min(CEILING * so_far.months) - so_far.capped;
    so_far.capped += capped;
    let pension = pension(person, this)?;
    for (key, base) in [("avs", gross), ("ac", capped), ("accident", capped), ("sickness", gross)] {
        lines.push(share(key, base, None)?);
    }
    if let Some((base, rate)) = pension {
        lines.push(share("pension", base, Some(rate))?);
    }
    if person.withholding_tax {
        lines.push(share("withholding", gross, None)?);
    }
    if person.children > 0 {
        let mut children = plain("children", CHILD * person.children)?;
        children.base = Some(Money::from_minor(CHILD));
        lines.push(children);
    }
    for (key, base) in [
        ("employer_avs", gross),
        ("employer_ac", capped),
        ("employer_family", gross),
        ("employer_accident", capped),
        ("employer_sickness", gross),
    ] {
        lines.push(share(key, base, None)?);
    }
    if let Some((base, rate)) = pension {
        lines.push(share("employer_pension", base, Some(rate))?);
    }
    Ok(lines)
}

/// Salary or wages; the thirteenth salary in December or in the last month, in proportion to the months of the year.
fn earnings(person: &Employee, this: Period, months: i64, quarters: u32) -> Result<Vec<PayLine>> {
    let salary = salary_on(person, this.last);
    if person.pay == Pay::Hourly {
        let hours = Quantity::from_minor(i64::from(quarters) * 250);
        let mut wage = plain("hourly", salary.times(hours).ok_or_else(range)?.minor())?;
        wage.base = Some(salary);
        let holidays = share("holidays", wage.amount.minor(), None)?;
        return Ok(vec![wage, holidays]);
    }
    let mut lines = vec![plain("monthly", salary.minor())?];
    let is_last = this.month == 12 || person.left_on == Some(this.last);
    if person.salaries_per_year == 13 && is_last {
        let thirteenth = (salary.minor() * months * 2 + 12) / 24;
        let mut line = plain("thirteenth", thirteenth)?;
        line.base = Some(salary);
        lines.push(line);
    }
    Ok(lines)
}

/// The coordinated salary of a month and the employee's rate, which is half of the retirement credit.
fn pension(person: &Employee, this: Period) -> Result<Option<(i64, Rate)>> {
    let annual = salary_on(person, this.last).minor() * i64::from(person.salaries_per_year);
    let born: i32 =
        person.birth_date.to_string().get(..4).and_then(|y| y.parse().ok()).ok_or_else(range)?;
    let rate = match this.year - born {
        ..25 => return Ok(None),
        25..35 => 35_000,
        35..45 => 50_000,
        45..55 => 75_000,
        55.. => 90_000,
    };
    if person.pay == Pay::Hourly || annual <= ENTRY {
        return Ok(None);
    }
    let coordinated = (annual.min(UPPER_LIMIT) - COORDINATION).max(LEAST_COORDINATED);
    Ok(Some(((coordinated * 2 + 12) / 24, Rate::from_minor(rate))))
}
