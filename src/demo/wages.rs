//! The lines of a payslip of the demo: the rules of the payroll slice, with the terms and policies of the fixtures.
//!
//! The rates of accident and sickness insurance and of family funds vary from one policy to the next, and withholding
//! tariffs from canton to canton and year to year: these are examples.

use super::fixtures::{Employee, MASTER, WageType};
use super::payroll::{Period, wage_type};
use crate::dates::Day;
use crate::error::{Error, Result};
use crate::money::{Money, Quantity, Rate};
use crate::payroll::Wage;
use crate::payroll::compute::{Bracket, Month, PayLine, Policy, Terms, YearToDate, payslip};

/// A child's allowance, in centimes a month.
const CHILD: Money = Money::from_minor(31_100);

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
    let tariff = tariff(person, this.year);
    let terms = Terms {
        born_in: person.birth_date.year(),
        pay: person.pay,
        salary: salary_on(person, this.last),
        salaries_per_year: i64::from(person.salaries_per_year),
        children: person.children,
        child_allowance: CHILD,
        tariff: &tariff,
    };
    let month = Month {
        last: this.last,
        settles_thirteenth: this.month == 12 || person.left_on == Some(this.last),
        hours: Quantity::from_minor(i64::from(quarters) * 250),
        bonus,
    };
    payslip(&terms, &policy()?, month, so_far)
}

fn policy() -> Result<Policy> {
    let rate = |wage: Wage| -> Result<Rate> {
        let WageType { rate_percent, .. } = wage_type(wage)?;
        rate_percent.ok_or_else(|| Error::fault(format!("{wage} of the demo has no rate")))
    };
    Ok(Policy {
        accident: rate(Wage::Accident)?,
        employer_accident: rate(Wage::EmployerAccident)?,
        sickness: rate(Wage::Sickness)?,
        employer_sickness: rate(Wage::EmployerSickness)?,
        family_fund: rate(Wage::EmployerFamily)?,
        holidays: rate(Wage::Holidays)?,
    })
}

/// The newest version of the tariff by which a person is taxed at the source; empty where none is loaded.
fn tariff(person: &Employee, year: i32) -> Vec<Bracket> {
    let Some(tax) = &person.tax else { return vec![] };
    let of_it = MASTER.tariffs.iter().filter(|tariff| {
        (&tariff.canton, &tariff.code, tariff.year) == (&tax.canton, &tax.code, year)
    });
    let newest = of_it.max_by_key(|tariff| tariff.version);
    newest.map_or_else(Vec::new, |tariff| tariff.brackets.clone())
}
