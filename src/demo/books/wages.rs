//! The books of payroll mandates: every run with its payment, what goes to the insurances, and the money for it.

use super::ledger::Ledger;
use super::{Line, Planned, Subject};
use crate::demo::exchange::{rate, worth};
use crate::demo::fixtures::{MASTER, nth};
use crate::demo::payroll::Batch;
use crate::error::Result;
use crate::ledger::JournalCode::{Bank, Payroll};
use crate::money::Currency;
use crate::payroll::Wage;

/// Where a line of a payslip goes: the account that is debited, and the one that is credited.
const fn accounts(wage: Wage) -> (&'static str, &'static str) {
    match wage {
        Wage::Monthly | Wage::Hourly | Wage::Holidays | Wage::Bonus | Wage::Thirteenth => {
            ("5000", CLEARING)
        }
        Wage::Children => ("2270", CLEARING),
        Wage::Avs | Wage::Ac => (CLEARING, "2270"),
        Wage::Pension => (CLEARING, "2271"),
        Wage::Accident => (CLEARING, "2273"),
        Wage::Sickness => (CLEARING, "2274"),
        Wage::Withholding => (CLEARING, "2279"),
        Wage::EmployerAvs | Wage::EmployerAc => ("5700", "2270"),
        Wage::EmployerFamily => ("5710", "2270"),
        Wage::EmployerPension => ("5720", "2271"),
        Wage::EmployerAccident => ("5730", "2273"),
        Wage::EmployerSickness => ("5740", "2274"),
    }
}

/// Wages on their way.
const CLEARING: &str = "1091";
/// What insurances and the tax office are owed.
const DUE: [&str; 5] = ["2270", "2271", "2273", "2274", "2279"];

/// Sums of a run: accounts debited and credited, the currency, hundredths of it.
type Sums = Vec<((&'static str, &'static str, Currency), i64)>;

pub(super) fn plan(mandate: u32, payroll: &[Batch]) -> Result<Vec<Planned>> {
    let mut books = Ledger::new(mandate, 0);
    let ours = payroll.iter().enumerate().filter(|(_, batch)| batch.mandate == mandate);
    for (at, batch) in ours.filter(|(_, batch)| batch.is_final) {
        fund(&mut books, batch)?;
        run(&mut books, at, batch)?;
        if batch.month.is_multiple_of(3) && batch.on.day_of_month() == 25 {
            pay_insurances(&mut books, batch)?;
        }
    }
    Ok(books.entries)
}

/// Sums that are booked as one: wages of a run together, so that nobody's salary stands in the ledger.
fn sums(batch: &Batch) -> Result<Sums> {
    let mut sums: Sums = vec![];
    for slip in &batch.slips {
        let currency = nth(&MASTER.employees, slip.employee - 1)?.currency.unwrap_or(Currency::Chf);
        for line in &slip.lines {
            let (debit, credit) = accounts(line.wage);
            let key = (debit, credit, currency);
            match sums.iter_mut().find(|(known, _)| *known == key) {
                Some((_, sum)) => *sum += line.amount.minor(),
                None => sums.push((key, line.amount.minor())),
            }
        }
    }
    Ok(sums)
}

/// A line in francs, or in another currency at the rate of the day.
fn line(account: &str, minor: i64, currency: Currency, batch: &Batch) -> Line {
    if currency == Currency::Chf {
        return Line::new(account, minor);
    }
    let rate = rate(currency, batch.on);
    Line::new(account, worth(minor, rate)).at(currency, minor, rate)
}

/// Posts a run, and the payment that brings the account of wages on their way back to nought, in each currency.
fn run(books: &mut Ledger, at: usize, batch: &Batch) -> Result<()> {
    let (mut lines, mut open): (Vec<Line>, Vec<(Currency, i64, i64)>) = (vec![], vec![]);
    for ((debit, credit, currency), minor) in sums(batch)? {
        for (account, minor) in [(debit, minor), (credit, -minor)] {
            let line = line(account, minor, currency, batch);
            if account == CLEARING {
                match open.iter_mut().find(|(known, ..)| *known == currency) {
                    Some((_, sum, worth)) => {
                        *sum += minor;
                        *worth += line.minor;
                    }
                    None => open.push((currency, minor, line.minor)),
                }
            }
            lines.push(line);
        }
    }
    books.post_as(batch.on, batch.on, Payroll, Subject::Run(at), lines);
    let mut lines = vec![];
    for (currency, minor, booked) in open {
        let (clearing, bank) = (Line::new(CLEARING, -booked), Line::new("1020", booked));
        if currency == Currency::Chf {
            lines.extend([clearing, bank]);
            continue;
        }
        // Lines converted one by one add up to a little more or less than their sum converted.
        let rate = rate(currency, batch.on);
        let paid = worth(minor, rate);
        let rest = booked - paid;
        lines.push(Line::new(CLEARING, -paid).at(currency, -minor, rate));
        lines.push(Line::new(CLEARING, -rest).revalued(currency));
        lines.push(Line::new("1021", paid).at(currency, minor, rate));
        lines.push(super::special::difference(rest));
    }
    books.post_as(batch.on, batch.on, Bank, Subject::Paid(at), lines);
    Ok(())
}

/// The client provides the money of the month.
fn fund(books: &mut Ledger, batch: &Batch) -> Result<()> {
    if batch.on.day_of_month() != 25 {
        return Ok(());
    }
    let on = batch.on.minus_days(2);
    let owed: i64 = DUE.iter().map(|account| books.balance(account)).sum();
    let wages: i64 = sums(batch)?
        .into_iter()
        .map(|((debit, credit, _), minor)| match (debit, credit) {
            (_, CLEARING) => minor,
            (CLEARING, _) => -minor,
            _ => 0,
        })
        .sum();
    let needed = (wages - owed / 3 - books.balance("1020").min(0)) / 10_000 * 10_000 + 20_000;
    let lines = vec![Line::new("1020", needed), Line::new("2850", -needed)];
    let words = ["Provision pour salaires", "Bereitstellung für Löhne"];
    books.post(on, Bank, words, lines)?;
    Ok(())
}

/// Pays what is owed to insurances and the tax office at the end of a quarter.
fn pay_insurances(books: &mut Ledger, batch: &Batch) -> Result<()> {
    let on = batch.on.plus_days(3);
    let mut lines: Vec<_> =
        DUE.iter().map(|account| Line::new(*account, -books.balance(account))).collect();
    let paid = lines.iter().map(|line| line.minor).sum::<i64>();
    lines.push(Line::new("1020", -paid));
    let words = ["Décompte des assurances sociales", "Abrechnung Sozialversicherungen"];
    books.post(on, Bank, words, lines)?;
    Ok(())
}
