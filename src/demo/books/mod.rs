//! What is posted to the books, firm by firm: the firm's own, those of payroll mandates, and the full books of a few clients.
//!
//! Structure and days are the same in both firms. Amounts are too, where they follow from documents and payslips; in the
//! clients' books they differ.

mod association;
mod house;
mod ledger;
mod shop;
mod special;
mod trade;
mod wages;

use super::fixtures::MASTER;
use super::payroll::Batch;
use super::plan::day;
use super::sales::Sale;
use crate::dates::Day;
use crate::error::Result;
use crate::ledger::{JournalCode, VatPart};
use crate::money::{Currency, ExchangeRate};

pub(super) use house::revenue;
pub(super) use shop::ACTIVITIES;

/// A text in French and one in German; the firm's word follows.
pub(super) type Words = [&'static str; 2];

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// Nothing that has a record of its own.
    Words(Words),
    /// A sales document, by its place from 0.
    Sale(usize),
    /// A payment on it, by its place from 0.
    Payment(usize, usize),
    /// A payroll run, by its place from 0.
    Run(usize),
    /// The payment of a payroll run.
    Paid(usize),
}

/// An entry.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) mandate: u32,
    pub(super) journal: JournalCode,
    pub(super) on: Day,
    /// The day on which it is posted.
    pub(super) entered_on: Day,
    /// Its posting, unless it is part of that of a record.
    pub(super) commit: Option<i64>,
    pub(super) subject: Subject,
    pub(super) lines: Vec<Line>,
    pub(super) is_draft: bool,
    /// The entry of the same books that it takes back, by its place from 0.
    pub(super) reverses: Option<usize>,
}

/// A line: hundredths of a franc, debit above nought.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) account: String,
    pub(super) minor: i64,
    /// The amount in another currency, and what one unit is worth.
    pub(super) foreign: Option<(Currency, i64, Option<ExchangeRate>)>,
    pub(super) vat: Option<(&'static str, VatPart)>,
    pub(super) party: Option<Party>,
    pub(super) supplied_on: Option<Day>,
    /// The letter of the lines that settle one another.
    pub(super) letter: Option<u32>,
}

/// With whom a line is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Party {
    /// A client, by its place from 1.
    Client(u32),
    /// Somebody by name.
    Named(Words),
}

impl Line {
    /// A line of an account.
    pub(super) fn new(account: impl Into<String>, minor: i64) -> Self {
        let (foreign, vat, party, supplied_on, letter) = (None, None, None, None, None);
        Self { account: account.into(), minor, foreign, vat, party, supplied_on, letter }
    }

    /// The same, as the taxed amount of a code.
    pub(super) const fn base(mut self, code: &'static str) -> Self {
        self.vat = Some((code, VatPart::Base));
        self
    }

    /// The same, as the tax of a code.
    pub(super) const fn tax(mut self, code: &'static str) -> Self {
        self.vat = Some((code, VatPart::Tax));
        self
    }

    /// The same, about somebody.
    pub(super) const fn about(mut self, party: Party) -> Self {
        self.party = Some(party);
        self
    }

    /// The same, for a supply of another day.
    pub(super) const fn supplied(mut self, on: Day) -> Self {
        self.supplied_on = Some(on);
        self
    }

    /// The same, with its amount in another currency.
    pub(super) const fn at(mut self, currency: Currency, minor: i64, rate: ExchangeRate) -> Self {
        self.foreign = Some((currency, minor, Some(rate)));
        self
    }

    /// The same, changing the worth of an account in another currency and nothing else.
    pub(super) const fn revalued(mut self, currency: Currency) -> Self {
        self.foreign = Some((currency, 0, None));
        self
    }

    /// The same, settled by lines with the same letter.
    pub(super) const fn settled(mut self, letter: u32) -> Self {
        self.letter = Some(letter);
        self
    }
}

/// Books that are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    pub(super) mandate: u32,
    /// Its fiscal years, first to last.
    pub(super) years: &'static [KeptYear],
}

/// A year: first day, last day, whether it is closed, and the last day that is locked.
pub(super) type KeptYear = (Date, Date, Shut, Option<Date>);
/// Year, month, day.
pub(super) type Date = (i32, u32, u32);

/// How far a year is closed in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shut {
    Open,
    Provisionally,
    Closed,
}

const CALENDAR: [KeptYear; 2] = [
    ((2024, 1, 1), (2024, 12, 31), Shut::Closed, None),
    ((2025, 1, 1), (2025, 12, 31), Shut::Closed, None),
];
const THIS_YEAR: (Date, Date) = ((2026, 1, 1), (2026, 12, 31));

/// The calendar years, the last open and locked through a day.
const fn calendar(locked: Date) -> [KeptYear; 3] {
    let [first, second] = CALENDAR;
    [first, second, (THIS_YEAR.0, THIS_YEAR.1, Shut::Open, Some(locked))]
}

const THROUGH_SEPTEMBER: [KeptYear; 3] = calendar((2026, 9, 30));
const THROUGH_OCTOBER: [KeptYear; 3] = calendar((2026, 10, 31));
const THROUGH_JUNE: [KeptYear; 3] = calendar((2026, 6, 30));
const LONG_FIRST: [KeptYear; 2] = [
    ((2024, 2, 1), (2025, 12, 31), Shut::Provisionally, None),
    (THIS_YEAR.0, THIS_YEAR.1, Shut::Open, Some((2026, 6, 30))),
];
const FROM_JULY: [KeptYear; 3] = [
    ((2024, 7, 1), (2025, 6, 30), Shut::Closed, None),
    ((2025, 7, 1), (2026, 6, 30), Shut::Closed, None),
    ((2026, 7, 1), (2027, 6, 30), Shut::Open, None),
];

/// The mandate whose books have every VAT code.
pub(super) const TRADE: u32 = 1;
/// The mandate whose first year is long.
pub(super) const BAKERY: u32 = 7;
/// The mandate that pays VAT at net rates.
pub(super) const SHOP: u32 = 13;
/// The mandate whose years begin in July, without VAT, and whose results are not carried forward.
pub(super) const ASSOCIATION: u32 = 19;

/// All books that are kept.
pub(super) const KEPT: &[Kept] = &[
    Kept { mandate: TRADE, years: &THROUGH_SEPTEMBER },
    Kept { mandate: 2, years: &THROUGH_OCTOBER },
    Kept { mandate: BAKERY, years: &LONG_FIRST },
    Kept { mandate: 8, years: &THROUGH_OCTOBER },
    Kept { mandate: SHOP, years: &THROUGH_JUNE },
    Kept { mandate: 14, years: &THROUGH_OCTOBER },
    Kept { mandate: ASSOCIATION, years: &FROM_JULY },
    Kept { mandate: 20, years: &THROUGH_OCTOBER },
    Kept { mandate: super::engagements::FIRM_MANDATE, years: &THROUGH_SEPTEMBER },
];

/// A date as a day.
pub(super) fn on((year, month, date): Date) -> Result<Day> {
    day(year, month, date)
}

/// Every entry of a firm, book after book, in the order in which they are posted.
pub(super) fn plan(firm: u16, sales: &[Sale], payroll: &[Batch]) -> Result<Vec<Planned>> {
    let mut all = trade::plan(firm)?;
    all.extend(shop::plan(firm)?);
    all.extend(association::plan(firm)?);
    let mut mandates: Vec<u32> = MASTER.employees.iter().map(|employee| employee.mandate).collect();
    mandates.dedup();
    for mandate in mandates {
        all.extend(wages::plan(mandate, payroll)?);
    }
    all.extend(house::plan(sales)?);
    Ok(all)
}
