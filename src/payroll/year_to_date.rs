//! What an employee has earned, insured and paid since January, and how the pension follows from the contract.

use diesel::dsl::{count, sum};
use diesel::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::payslips::Payslip;
use super::rules::{coordinated, federal_on, retirement_credit};
use super::{Pay, PayslipLineKind, PayslipState, Wage};
use crate::dates::Day;
use crate::db::schema::{employment_contracts, payslip_lines, payslips, wage_types};
use crate::db::{Filters, Read};
use crate::error::{Error, Result};
use crate::ids::EmployeeId;
use crate::money::{Money, Rate};

/// Sums since January: of final payslips up to the month, with the reversed ones taken back, and of this one.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct YearToDate {
    /// Months with a payslip.
    months: i64,
    /// Gross salaries.
    gross: Money,
    /// AVS, AI and APG of the employee.
    avs: Money,
    /// Unemployment insurance, which has a ceiling that is cumulated over the year.
    unemployment: Insured,
    /// The occupational pension, of the employee.
    pension: Money,
    /// The occupational pension, of the employer.
    employer_pension: Money,
    /// Tax withheld.
    withheld: Money,
}

/// A contribution with an annual ceiling.
#[derive(Debug, Serialize, JsonSchema)]
struct Insured {
    /// The salary on which it was paid.
    base: Money,
    /// The most on which it is due for these months: as many twelfths of the annual ceiling.
    limit: Money,
    /// The most on which it is due in a year.
    limit_of_year: Money,
    /// Whether more was earned than the limit of these months.
    is_limited: bool,
    /// What the employee paid.
    contribution: Money,
}

/// The occupational pension by the minimum of the law.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Pension {
    /// The salary of the year by the contract.
    annual_salary: Money,
    /// The part of it that is insured.
    coordinated_salary: Money,
    /// The retirement credit of the year in per cent of it, by age.
    credit_percent: Rate,
    /// The credit of the year; the employee pays half of it at most.
    credit_of_year: Money,
}

type Sums = (String, PayslipLineKind, Option<Money>, Option<Money>);

/// The sums since January of the year of `payslip`, whose month ends on `last`.
pub(super) fn year_to_date(
    scope: &mut Read<'_>,
    payslip: &Payslip,
    last: Day,
) -> Result<YearToDate> {
    let counted = Filters::on(payslips::table)
        .and(payslips::employee_id.eq(payslip.employee_id))
        .and(payslips::year.eq(payslip.year))
        .and(payslips::month.le(payslip.month))
        .and(payslips::state.eq(PayslipState::Final).or(payslips::id.eq(payslip.id)));
    let slips = scope.rows(payslips::table).filter(counted.clone());
    let months: i64 =
        scope.one("payslip", slips.select(count(payslips::month).aggregate_distinct()))?;
    let lines = scope.rows(payslip_lines::table).inner_join(payslips::table).filter(counted);
    let by = (payslip_lines::code, payslip_lines::kind);
    let lines = lines.group_by(by).select((
        payslip_lines::code,
        payslip_lines::kind,
        sum(payslip_lines::base),
        sum(payslip_lines::amount),
    ));
    let sums: Vec<Sums> = scope.load(lines)?;
    let known = scope.rows(wage_types::table).select((wage_types::code, wage_types::wage));
    let known: Vec<(String, Wage)> = scope.load(known)?;
    let of = |wage: Wage| {
        let is_it = |code: &str| known.iter().any(|(known, is)| known == code && *is == wage);
        let found = sums.iter().filter(|(code, ..)| is_it(code));
        found.fold((0, 0), |(base, amount), (_, _, b, a)| {
            (base + b.unwrap_or_default().minor(), amount + a.unwrap_or_default().minor())
        })
    };
    let amount = |wage| Money::from_minor(of(wage).1);
    let earned = sums.iter().filter(|(_, kind, ..)| *kind == PayslipLineKind::Earning);
    let gross = earned.map(|(.., amount)| amount.unwrap_or_default().minor()).sum();
    let law = federal_on(last).ok_or_else(|| Error::fault("no federal rates for this month"))?;
    let limit_of_year = law.insured_maximum;
    let limit = limit_of_year.minor() * months / 12;
    let unemployment = Insured {
        base: Money::from_minor(of(Wage::Ac).0),
        limit: Money::from_minor(limit),
        limit_of_year,
        is_limited: gross > limit,
        contribution: amount(Wage::Ac),
    };
    Ok(YearToDate {
        months,
        gross: Money::from_minor(gross),
        avs: amount(Wage::Avs),
        unemployment,
        pension: amount(Wage::Pension),
        employer_pension: amount(Wage::EmployerPension),
        withheld: amount(Wage::Withholding),
    })
}

/// The pension that the law asks for by the contract of the day; none for who earns too little, is too young or too old, or is
/// paid by the hour, whose annual salary is not known.
pub(super) fn pension(
    scope: &mut Read<'_>,
    employee: EmployeeId,
    born_on: Day,
    on: Day,
) -> Result<Option<Pension>> {
    let contract = scope
        .rows(employment_contracts::table)
        .filter(employment_contracts::employee_id.eq(employee))
        .filter(employment_contracts::valid_from.le(on))
        .filter(employment_contracts::pay.eq(Pay::Monthly))
        .order(employment_contracts::valid_from.desc())
        .select((employment_contracts::salary, employment_contracts::salaries_per_year))
        .at_most(1);
    let found: Vec<(Money, i32)> = scope.load(contract)?;
    let Some((salary, salaries)) = found.into_iter().next() else { return Ok(None) };
    let annual_salary = Money::from_minor(salary.minor() * i64::from(salaries));
    let insured = federal_on(on).and_then(|law| coordinated(annual_salary, law));
    let credit = retirement_credit(on.year() - born_on.year());
    let (Some(coordinated_salary), Some(credit_percent)) = (insured, credit) else {
        return Ok(None);
    };
    let credit_of_year = coordinated_salary.percent(credit_percent);
    let credit_of_year = credit_of_year.ok_or_else(|| Error::fault("a credit is out of range"))?;
    Ok(Some(Pension { annual_salary, coordinated_salary, credit_percent, credit_of_year }))
}
