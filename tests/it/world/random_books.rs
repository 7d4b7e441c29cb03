//! Random books: back-dating, reversals, foreign currency, drafts, closing entries, several and odd fiscal years.

use chrono::{Days, Months, NaiveDate};

use super::World;
use super::ledger::{Bookkeeper, Chance, Ledger, Line, line};

/// Numbers and kinds to choose from; a class does not tell a kind.
const ACCOUNTS: &[(&str, &str)] = &[
    ("1000", "asset"),
    ("1020", "asset"),
    ("1021", "asset"),
    ("1100", "asset"),
    ("1509", "asset"),
    ("150", "asset"),
    ("2000", "liability"),
    ("2200", "liability"),
    ("2400", "liability"),
    ("2800", "equity"),
    ("2979", "equity"),
    ("3000", "income"),
    ("3400", "income"),
    ("3800", "expense"),
    ("4000", "expense"),
    ("5000", "expense"),
    ("6500", "expense"),
    ("6800", "expense"),
    ("6950", "income"),
    ("7500", "income"),
    ("7501", "expense"),
    ("8500", "expense"),
    ("8510", "income"),
    ("8900", "expense"),
    ("9100", "closing"),
    ("9200", "closing"),
];

/// Consecutive fiscal years, the first sometimes long or short, on any first day.
fn add_years(chance: &mut Chance, books: &mut Bookkeeper<'_>, ledger: &mut Ledger) {
    let month = u32::try_from(chance.below(12)).unwrap() + 1;
    let first = if chance.happens(30) { u32::try_from(chance.below(28)).unwrap() + 1 } else { 1 };
    let mut from = NaiveDate::from_ymd_opt(2022, month, first).unwrap();
    for at in 0..=chance.below(4) {
        let length = if at == 0 { *chance.pick(&[6, 12, 12, 12, 18, 23]) } else { 12 };
        let next = from + Months::new(length);
        let to = next - Days::new(1);
        books.year(ledger, &from.to_string(), &to.to_string());
        from = next;
    }
}

/// Two to five lines that balance; some in euros, some of which have no amount in euros.
fn lines(chance: &mut Chance, ledger: &Ledger) -> Vec<Line> {
    let count = 1 + chance.below(4);
    let (mut lines, mut sum) = (vec![], 0);
    for _ in 0..count {
        let account = usize::try_from(chance.below(ledger.accounts.len() as u64)).unwrap();
        let amount = i64::try_from(1 + chance.below(500_000)).unwrap();
        let amount = if chance.happens(50) { amount } else { -amount };
        let one = match ledger.accounts[account].currency {
            Some("EUR") => Line { account, amount, currency: "EUR", foreign: amount * 10 / 11 },
            _ if chance.happens(15) => {
                Line { account, amount, currency: "EUR", foreign: amount / 2 }
            }
            _ if chance.happens(5) => Line { account, amount, currency: "USD", foreign: 0 },
            _ => line(account, amount),
        };
        lines.push(one);
        sum += amount;
    }
    if sum == 0 {
        lines[0].amount += if lines[0].amount > 0 { 1 } else { -1 };
        sum = lines.iter().map(|line| line.amount).sum();
    }
    let plain = ledger.accounts.iter().position(|account| account.currency.is_none()).unwrap();
    lines.push(line(plain, -sum));
    lines
}

/// A ledger with drafts only; which of them to post, in which order, is answered.
fn begin(chance: &mut Chance, books: &mut Bookkeeper<'_>) -> (Ledger, Vec<usize>) {
    let mut ledger = books.ledger("CHF");
    let of_hundred = 30 + chance.below(70);
    for (number, kind) in ACCOUNTS {
        if *number == "1020" || *number == "3400" || chance.happens(of_hundred) {
            let currency = (*number == "1021").then_some("EUR");
            books.account(&mut ledger, number, kind, currency);
        }
    }
    add_years(chance, books, &mut ledger);
    let mut to_post = vec![];
    for _ in 0..3 + chance.below(22) {
        let year = usize::try_from(chance.below(ledger.years.len() as u64)).unwrap();
        let (from, to) = (ledger.years[year].from, ledger.years[year].to);
        let on = match chance.below(10) {
            0 => from,
            1 => to,
            _ => chance.day((from, to)),
        };
        let journal = if chance.happens(8) { "CLO" } else { *chance.pick(&["OD", "BNQ"]) };
        let lines = lines(chance, &ledger);
        let entry = books.draft(&mut ledger, year, journal, on, lines, None);
        if chance.happens(88) {
            to_post.push(entry);
        }
    }
    for at in (1..to_post.len()).rev() {
        to_post.swap(at, usize::try_from(chance.below(at as u64 + 1)).unwrap());
    }
    (ledger, to_post)
}

/// Posts some entries, and reversals of a few of them on later days of the same year.
fn post(
    chance: &mut Chance,
    books: &mut Bookkeeper<'_>,
    ledger: &mut Ledger,
    entries: &[usize],
    at: &str,
) {
    let mut commit = None;
    for &entry in entries {
        let under = match commit {
            Some(commit) if chance.happens(30) => commit,
            _ => books.commit(at),
        };
        commit = Some(under);
        books.post(ledger, entry, under);
        if chance.happens(12) {
            let original = ledger.entries[entry].clone();
            let on = chance.day((original.day, ledger.years[original.year].to));
            let turned = original.lines.iter().map(|line| Line {
                amount: -line.amount,
                foreign: -line.foreign,
                ..line.clone()
            });
            let turned = turned.collect();
            let reversal = books.draft(ledger, original.year, "EXT", on, turned, Some(original.id));
            let under = books.commit(at);
            books.post(ledger, reversal, under);
        }
    }
}

/// The random ledgers, posted in two rounds on two days, so that what is known on a day cuts through each.
pub(crate) fn write(world: &World, count: usize) -> Vec<Ledger> {
    let mut chance = Chance(2026);
    let mut books = Bookkeeper::of(world, "leman");
    let mut ledgers = vec![];
    for _ in 0..count {
        ledgers.push(begin(&mut chance, &mut books));
    }
    books.write();
    for (round, at) in ["2026-11-29T08:00:00", "2026-11-30T08:00:00"].into_iter().enumerate() {
        for (ledger, to_post) in &mut ledgers {
            let half = to_post.len() / 2;
            let entries = if round == 0 { &to_post[..half] } else { &to_post[half..] };
            post(&mut chance, &mut books, ledger, entries, at);
        }
        books.write();
    }
    for (at, (ledger, _)) in ledgers.iter().enumerate() {
        if at % 3 == 0 {
            let closed = books.literal(ledger.years[0].id);
            let tenant = books.tenant();
            books.add(&format!(
                "UPDATE fiscal_years SET state = 'closed' WHERE tenant_id = {tenant} AND id = {closed}"
            ));
        }
    }
    books.write();
    ledgers.into_iter().map(|(ledger, _)| ledger).collect()
}
