//! What both firms have alike: days, chance that repeats, and the numbers of postings.

use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};

use super::books::{self, Planned, Subject};
use super::payroll::{self, Batch};
use super::sales::{self, Sale};
use crate::dates::{Day, Instant};
use crate::error::{Error, Result};

/// The years of the demo.
pub(super) const YEARS: RangeInclusive<i32> = 2024..=2026;
/// The last month of the demo.
pub(super) const LAST_MONTH: (i32, u32) = (2026, 11);

/// The last day on which something happens.
pub(super) fn last_day() -> Result<Day> {
    day(2026, 11, 28)
}

/// The months of the demo, first to last.
pub(super) fn months() -> impl Iterator<Item = (i32, u32)> {
    let all = YEARS.flat_map(|year| (1..=12).map(move |month| (year, month)));
    all.filter(|month| *month <= LAST_MONTH)
}

/// A day that exists.
pub(super) fn day(year: i32, month: u32, day: u32) -> Result<Day> {
    Day::parse(&format!("{year}-{month:02}-{day:02}"))
        .ok_or_else(|| Error::fault(format!("{year}-{month}-{day} is no day")))
}

/// So many seconds after seven o'clock UTC on `day`, within the same day in Switzerland.
pub(super) fn moment(day: Day, seconds: i64) -> Result<Instant> {
    let at = DateTime::parse_from_rfc3339(&format!("{day}T07:00:00Z")).map_err(Error::fault)?;
    Ok(Instant::from(at.with_timezone(&Utc)).plus_seconds(seconds))
}

/// Numbers that look random and are the same every time (splitmix64).
pub(super) struct Chance(u64);

impl Chance {
    /// The numbers that follow from `seed`.
    pub(super) const fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 to `limit`, without the latter.
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let number = (mixed ^ (mixed >> 31)) % u64::from(limit.max(1));
        u32::try_from(number).unwrap_or_default()
    }
}

/// Who enters a posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Poster {
    /// The accountant.
    Accountant,
    /// The payroll officer.
    PayrollOfficer,
}

/// A posting.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) number: i64,
    pub(super) at: Instant,
    pub(super) by: Poster,
}

/// All that happens in three years, the same in both firms but for amounts in the books of clients.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) sales: Vec<Sale>,
    pub(super) payroll: Vec<Batch>,
    /// What is posted to the books of each firm.
    pub(super) books: [Vec<Planned>; 2],
    pub(super) commits: Vec<Commit>,
}

impl Plan {
    /// Plans documents and payslips, then numbers their postings by day without a gap.
    pub(super) fn make() -> Result<Self> {
        let mut sales = sales::plan()?;
        let mut payroll = payroll::plan()?;
        let mut first = books::plan(0, &sales, &payroll)?;
        let mut second = books::plan(1, &sales, &payroll)?;
        let mut postings: Vec<(Day, &mut Option<i64>, Poster)> = vec![];
        for sale in sales.iter_mut().filter(|sale| sale.is_issued) {
            postings.push((sale.on, &mut sale.commit, Poster::Accountant));
            for payment in &mut sale.payments {
                postings.push((payment.entered_on, &mut payment.commit, Poster::Accountant));
            }
            for reminder in &mut sale.reminders {
                postings.push((reminder.on, &mut reminder.commit, Poster::Accountant));
            }
        }
        for batch in payroll.iter_mut().filter(|batch| batch.is_final) {
            postings.push((batch.on, &mut batch.commit, Poster::PayrollOfficer));
        }
        let is_own =
            |entry: &&mut Planned| matches!(entry.subject, Subject::Words(_)) && !entry.is_draft;
        for entry in first.iter_mut().filter(is_own) {
            postings.push((entry.entered_on, &mut entry.commit, Poster::Accountant));
        }
        postings.sort_by_key(|(day, ..)| *day);
        let mut commits = vec![];
        for (number, (day, commit, by)) in (1..).zip(postings) {
            *commit = Some(number);
            commits.push(Commit { number, at: moment(day, number)?, by });
        }
        for (alike, entry) in first.iter().zip(&mut second) {
            entry.commit = alike.commit;
        }
        Ok(Self { sales, payroll, books: [first, second], commits })
    }
}
