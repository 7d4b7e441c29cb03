//! The lines of a month's payslip, to the centime, from the terms of a contract.

use serde::Deserialize;

use super::rules::{self, FederalRates, PensionPaid};
use super::{Pay, PayslipLineKind, Wage};
use crate::dates::Day;
use crate::error::{Error, Result};
use crate::money::{Money, Quantity, Rate};

/// What an employer has agreed with insurers and funds.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Accidents outside work, paid by the employee.
    pub accident: Rate,
    /// Accidents at work, paid by the employer.
    pub employer_accident: Rate,
    /// Daily allowance in sickness, of the employee.
    pub sickness: Rate,
    /// The same, of the employer.
    pub employer_sickness: Rate,
    /// The family fund, paid by the employer.
    pub family_fund: Rate,
    /// Holiday pay of who is paid by the hour.
    pub holidays: Rate,
}

/// One step of a withholding tariff.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bracket {
    /// The month's income from which it applies.
    pub income_from: Money,
    /// The rate of the whole income.
    pub rate_percent: Rate,
}

/// What an employee has agreed with the employer, as of the month.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// The year of birth.
    pub born_in: i32,
    /// How the salary is paid.
    pub pay: Pay,
    /// The salary of a month or of an hour.
    pub salary: Money,
    /// Monthly salaries in a year: 12 or 13.
    pub salaries_per_year: i64,
    /// Children with an allowance.
    pub children: i64,
    /// The allowance of a child and month.
    pub child_allowance: Money,
    /// The withholding tariff as it was loaded; without one nothing is withheld, and the payslip says so.
    pub tariff: &'a [Bracket],
}

/// What the month brings.
#[derive(Debug, Clone, Copy)]
pub struct Month {
    /// Its last day.
    pub last: Day,
    /// Whether the 13th salary is paid with it: December, or the month of leaving.
    pub settles_thirteenth: bool,
    /// The hours worked, of who is paid by the hour.
    pub hours: Quantity,
    /// A bonus.
    pub bonus: Option<Money>,
}

/// What an employee has earned and paid since January.
#[derive(Debug, Clone, Copy, Default)]
pub struct YearToDate {
    /// Months with a payslip.
    pub months: i64,
    /// Gross salaries.
    pub gross: Money,
    /// What contributions with a ceiling were paid on.
    pub capped: Money,
    /// The annual pension credit, and what was paid at it since January.
    pension: (Money, PensionPaid),
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayLine {
    /// What it is.
    pub wage: Wage,
    /// What the rate is applied to.
    pub base: Option<Money>,
    /// The rate.
    pub rate: Option<Rate>,
    /// The amount, positive.
    pub amount: Money,
}

impl PayLine {
    /// The line that takes this one back.
    #[must_use]
    pub fn reversed(self) -> Self {
        let negative = |money: Money| Money::from_minor(-money.minor());
        Self { base: self.base.map(negative), amount: negative(self.amount), ..self }
    }

    const fn plain(wage: Wage, base: Option<Money>, amount: Money) -> Self {
        Self { wage, base, rate: None, amount }
    }

    fn share(wage: Wage, base: Money, rate: Rate) -> Result<Self> {
        let amount = base.percent(rate).ok_or_else(range)?;
        Ok(Self { wage, base: Some(base), rate: Some(rate), amount })
    }
}

/// The sum of the lines of a kind.
#[must_use]
pub fn sum(lines: &[PayLine], kind: PayslipLineKind) -> Money {
    let of_kind = lines.iter().filter(|line| line.wage.kind() == kind);
    Money::from_minor(of_kind.map(|line| line.amount.minor()).sum())
}

fn range() -> Error {
    Error::fault("a salary is out of range")
}

/// The lines of a month's payslip; `so_far` is carried to the next month.
///
/// # Errors
/// The month lies before the first year of which the federal rates are known, or an amount is out of range.
pub fn payslip(
    terms: &Terms<'_>,
    policy: &Policy,
    month: Month,
    so_far: &mut YearToDate,
) -> Result<Vec<PayLine>> {
    let law = rules::federal_on(month.last)
        .ok_or_else(|| Error::fault("the federal rates of this month are not known"))?;
    so_far.months += 1;
    let mut lines = earnings(terms, policy, month, so_far.months)?;
    let gross = sum(&lines, PayslipLineKind::Earning);
    so_far.gross = so_far.gross.plus(gross).ok_or_else(range)?;
    let capped = rules::capped(so_far.gross, so_far.months, so_far.capped, law.insured_maximum);
    so_far.capped = so_far.capped.plus(capped).ok_or_else(range)?;
    let pension = pension(terms, law, month, so_far)?;
    lines.push(PayLine::share(Wage::Avs, gross, law.avs)?);
    lines.push(PayLine::share(Wage::Ac, capped, law.unemployment)?);
    lines.push(PayLine::share(Wage::Accident, capped, policy.accident)?);
    lines.push(PayLine::share(Wage::Sickness, gross, policy.sickness)?);
    if let Some((base, paid)) = pension {
        lines.push(PayLine::plain(Wage::Pension, Some(base), paid.employee));
    }
    if let Some(rate) = rate_for(terms.tariff, gross) {
        lines.push(PayLine::share(Wage::Withholding, gross, rate)?);
    }
    if terms.children > 0 {
        let allowance = terms.child_allowance;
        let all = Money::from_minor(allowance.minor() * terms.children);
        lines.push(PayLine::plain(Wage::Children, Some(allowance), all));
    }
    lines.push(PayLine::share(Wage::EmployerAvs, gross, law.avs)?);
    lines.push(PayLine::share(Wage::EmployerAc, capped, law.unemployment)?);
    lines.push(PayLine::share(Wage::EmployerFamily, gross, policy.family_fund)?);
    lines.push(PayLine::share(Wage::EmployerAccident, capped, policy.employer_accident)?);
    lines.push(PayLine::share(Wage::EmployerSickness, gross, policy.employer_sickness)?);
    if let Some((base, paid)) = pension {
        lines.push(PayLine::plain(Wage::EmployerPension, Some(base), paid.employer));
    }
    Ok(lines)
}

/// The rate of the highest step that an income reaches.
fn rate_for(tariff: &[Bracket], income: Money) -> Option<Rate> {
    let reached = tariff.iter().filter(|bracket| bracket.income_from <= income);
    reached.max_by_key(|bracket| bracket.income_from).map(|bracket| bracket.rate_percent)
}

/// Salary or wages, the 13th salary in proportion to the months of the year, and a bonus.
fn earnings(terms: &Terms<'_>, policy: &Policy, month: Month, months: i64) -> Result<Vec<PayLine>> {
    let mut lines = vec![];
    if terms.pay == Pay::Hourly {
        let wage = terms.salary.times(month.hours).ok_or_else(range)?;
        lines.push(PayLine::plain(Wage::Hourly, Some(terms.salary), wage));
        lines.push(PayLine::share(Wage::Holidays, wage, policy.holidays)?);
    } else {
        lines.push(PayLine::plain(Wage::Monthly, None, terms.salary));
        if terms.salaries_per_year == 13 && month.settles_thirteenth {
            let thirteenth = (terms.salary.minor() * months * 2 + 12).div_euclid(24);
            let thirteenth = Money::from_minor(thirteenth);
            lines.push(PayLine::plain(Wage::Thirteenth, Some(terms.salary), thirteenth));
        }
    }
    lines.extend(month.bonus.map(|bonus| PayLine::plain(Wage::Bonus, None, bonus)));
    Ok(lines)
}

/// The coordinated annual salary and both shares of the month.
fn pension(
    terms: &Terms<'_>,
    law: &FederalRates,
    month: Month,
    so_far: &mut YearToDate,
) -> Result<Option<(Money, PensionPaid)>> {
    if terms.pay == Pay::Hourly {
        return Ok(None);
    }
    let annual = Money::from_minor(terms.salary.minor() * terms.salaries_per_year);
    let rate = rules::retirement_credit(month.last.year() - terms.born_in);
    let (Some(base), Some(rate)) = (rules::coordinated(annual, law), rate) else {
        return Ok(None);
    };
    let credit = base.percent(rate).ok_or_else(range)?;
    let (known, before) = so_far.pension;
    let before = if known == credit { before } else { PensionPaid::default() };
    let now = rules::pension_shares(credit, so_far.months, before);
    let sum = |a: Money, b: Money| a.plus(b).ok_or_else(range);
    let paid = PensionPaid {
        months: before.months + 1,
        employee: sum(before.employee, now.employee)?,
        employer: sum(before.employer, now.employer)?,
    };
    so_far.pension = (credit, paid);
    Ok(Some((base, now)))
}

#[cfg(test)]
mod tests {
    use super::{Month, Policy, Terms, YearToDate, payslip, sum};
    use crate::dates::Day;
    use crate::money::{Money, Quantity, Rate};
    use crate::payroll::{Pay, PayslipLineKind, Wage};

    fn money(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    fn rate(text: &str) -> Rate {
        Rate::parse(text).unwrap()
    }

    const ORDINARY: fn() -> (Terms<'static>, Policy) = || {
        let terms = Terms {
            born_in: 1984,
            pay: Pay::Monthly,
            salary: money("6500"),
            salaries_per_year: 13,
            children: 1,
            child_allowance: money("215"),
            tariff: &[],
        };
        let policy = Policy {
            accident: rate("1.2"),
            employer_accident: rate("0.5"),
            sickness: rate("0.8"),
            employer_sickness: rate("0.8"),
            family_fund: rate("2.1"),
            holidays: rate("8.33"),
        };
        (terms, policy)
    };

    fn month(last: &str, settles_thirteenth: bool) -> Month {
        let last = Day::parse(last).unwrap();
        Month { last, settles_thirteenth, hours: Quantity::ZERO, bonus: None }
    }

    #[test]
    fn an_ordinary_payslip_is_right_to_the_centime() {
        let (terms, policy) = ORDINARY();
        let mut so_far = YearToDate::default();
        let lines = payslip(&terms, &policy, month("2026-01-31", false), &mut so_far).unwrap();
        let amount = |wage| lines.iter().find(|line| line.wage == wage).unwrap().amount.to_string();
        for (wage, expected) in [
            (Wage::Avs, "344.50"),
            (Wage::Ac, "71.50"),
            (Wage::Accident, "78.00"),
            (Wage::Sickness, "52.00"),
            (Wage::Pension, "241.83"),
            (Wage::EmployerPension, "241.84"),
            (Wage::EmployerFamily, "136.50"),
            (Wage::EmployerAccident, "32.50"),
            (Wage::Children, "215.00"),
        ] {
            assert_eq!(amount(wage), expected, "{wage}");
        }
        let of = |kind| sum(&lines, kind);
        let gross = of(PayslipLineKind::Earning);
        let deductions = of(PayslipLineKind::Deduction);
        let charges = of(PayslipLineKind::EmployerCharge);
        assert_eq!((gross, deductions, charges), (money("6500"), money("787.83"), money("878.84")));
        let net = gross.minus(deductions).unwrap().plus(of(PayslipLineKind::Allowance)).unwrap();
        assert_eq!(net, money("5927.17"));
        assert_eq!(gross.plus(charges).unwrap(), money("7378.84"));
    }

    #[test]
    fn a_year_pays_the_thirteenth_salary_and_settles_the_pension() {
        let (terms, policy) = ORDINARY();
        let mut so_far = YearToDate::default();
        let mut last = vec![];
        for at in 1..=12 {
            let day = Day::from_ymd(2026, at, 28).unwrap();
            let month = Month { last: day, ..month("2026-12-31", at == 12) };
            last = payslip(&terms, &policy, month, &mut so_far).unwrap();
        }
        let amount = |wage| last.iter().find(|line| line.wage == wage).unwrap().amount;
        assert_eq!(amount(Wage::Thirteenth), money("6500"));
        assert_eq!(amount(Wage::Pension), money("241.87"));
        assert_eq!((so_far.gross, so_far.capped), (money("84500"), money("84500")));
    }
}
