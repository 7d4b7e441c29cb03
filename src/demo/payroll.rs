//! Which payslips there are, the same in both firms: month after month for every employee, with Swiss social insurance
//! as of 2024 to 2026.

use super::fixtures::{Employee, MASTER, WageType, nth};
use super::plan::{Chance, LAST_MONTH, day, months};
use super::wages;
use crate::dates::Day;
use crate::error::{Error, Result};
use crate::money::Money;
use crate::payroll::Wage;
use crate::payroll::compute::{PayLine, YearToDate};

/// Whose payslip is reversed and made anew: the employee, the month, and the day on which it is noticed.
const REVERSED: (u32, (i32, u32), (i32, u32, u32)) = (3, (2026, 8), (2026, 9, 7));
/// The bonus that the reversed payslip had left out.
const FORGOTTEN_BONUS: Money = Money::from_minor(20_000);
/// The bonus of the first employee in March.
const BONUS: Money = Money::from_minor(80_000);

/// Payslips that are made final together.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) mandate: u32,
    pub(super) year: i32,
    pub(super) month: u32,
    /// The day of the posting and of the payment.
    pub(super) on: Day,
    pub(super) is_final: bool,
    pub(super) slips: Vec<Slip>,
    pub(super) commit: Option<i64>,
}

/// A payslip.
#[derive(Debug)]
pub(super) struct Slip {
    /// Its place in creation order, from 1, which is also that of its id.
    pub(super) n: u32,
    /// The employee's place in the list, from 1.
    pub(super) employee: u32,
    /// The payslip that it reverses.
    pub(super) reverses: Option<u32>,
    pub(super) lines: Vec<PayLine>,
}

/// A month in which an employee is paid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Period {
    pub(super) year: i32,
    pub(super) month: u32,
    pub(super) last: Day,
}

/// Every payslip, in order of creation.
pub(super) fn plan() -> Result<Vec<Batch>> {
    let mut batches: Vec<Batch> = vec![];
    let mut so_far = vec![YearToDate::default(); MASTER.employees.len()];
    let mut mandates: Vec<u32> = MASTER.employees.iter().map(|e| e.mandate).collect();
    mandates.dedup();
    let mut n = 0;
    for (year, month) in months() {
        if month == 1 {
            so_far.fill(YearToDate::default());
        }
        let (_, _, noticed) = REVERSED;
        if (year, month) == (noticed.0, noticed.1) {
            correct(&mut batches, &mut n)?;
        }
        for mandate in &mandates {
            let (on, is_final) = (day(year, month, 25)?, (year, month) < LAST_MONTH);
            let mut slips = vec![];
            let all = (1..).zip(&MASTER.employees).zip(&mut so_far);
            for ((employee, person), so_far) in all.filter(|((_, e), _)| e.mandate == *mandate) {
                let this = Period { year, month, last: last_of(year, month)? };
                if !is_employed(person, this) {
                    continue;
                }
                let bonus = (employee == 1 && month == 3).then_some(BONUS);
                let lines = wages::of_month(person, this, so_far, hours(employee, this)?, bonus)?;
                n += 1;
                slips.push(Slip { n, employee, reverses: None, lines });
            }
            batches.push(Batch {
                mandate: *mandate,
                year,
                month,
                on,
                is_final,
                slips,
                commit: None,
            });
        }
    }
    batches.retain(|batch| !batch.slips.is_empty());
    Ok(batches)
}

/// Reverses the payslip that was wrong and makes the right one.
fn correct(batches: &mut Vec<Batch>, n: &mut u32) -> Result<()> {
    let (employee, (year, month), (y, m, d)) = REVERSED;
    let on = day(y, m, d)?;
    let of_month = batches.iter().filter(|batch| (batch.year, batch.month) == (year, month));
    let wrong = of_month.flat_map(|batch| &batch.slips).find(|slip| slip.employee == employee);
    let wrong = wrong.ok_or_else(|| Error::fault("there is no payslip to reverse"))?;
    let lines = wrong.lines.iter().map(|line| line.reversed()).collect();
    let reversal = Slip { n: *n + 1, employee, reverses: Some(wrong.n), lines };
    let person = nth(&MASTER.employees, employee - 1)?;
    let this = Period { year, month, last: last_of(year, month)? };
    let mut alone = YearToDate::default();
    let lines = wages::of_month(person, this, &mut alone, 0, Some(FORGOTTEN_BONUS))?;
    let right = Slip { n: *n + 2, employee, reverses: None, lines };
    *n += 2;
    for slip in [reversal, right] {
        let (mandate, slips) = (person.mandate, vec![slip]);
        batches.push(Batch { mandate, year, month, on, is_final: true, slips, commit: None });
    }
    Ok(())
}

fn last_of(year: i32, month: u32) -> Result<Day> {
    let next = if month == 12 { day(year + 1, 1, 1)? } else { day(year, month + 1, 1)? };
    Ok(next.minus_days(1))
}

fn is_employed(person: &Employee, this: Period) -> bool {
    person.hired_on <= this.last && person.left_on.is_none_or(|left| left >= this.last)
}

/// Quarters of an hour that somebody paid by the hour worked in a month.
fn hours(employee: u32, this: Period) -> Result<u32> {
    let year = u32::try_from(this.year).map_err(Error::fault)?;
    let seed = u64::from(employee * 100_000 + year * 12 + this.month);
    Ok(240 + Chance::of(seed).below(160))
}

/// How the firms of the demo call a wage.
pub(super) fn wage_type(key: Wage) -> Result<&'static WageType> {
    let found = MASTER.wage_types.iter().find(|wage| wage.key == key);
    found.ok_or_else(|| Error::fault(format!("there is no wage type {key}")))
}

#[cfg(test)]
mod tests {
    use super::plan;
    use crate::demo::ids;
    use crate::payroll::Wage;

    #[test]
    fn the_payslip_of_the_examples_has_a_thirteenth_salary_and_children() {
        let batches = plan().unwrap();
        let mut slips = batches.iter().flat_map(|batch| &batch.slips);
        let slip = slips.find(|slip| slip.n == ids::EXAMPLE_PAYSLIP).unwrap();
        assert_eq!(slip.employee, 1);
        let wages: Vec<_> = slip.lines.iter().map(|line| line.wage).collect();
        assert!(wages.contains(&Wage::Thirteenth) && wages.contains(&Wage::Children), "{wages:?}");
    }
}
