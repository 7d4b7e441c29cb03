//! What foreign currencies are worth, day by day: invented, and the same every time.

use super::plan::{day, last_day};
use crate::dates::Day;
use crate::error::Result;
use crate::money::{Currency, ExchangeRate, Money};

/// The currencies that have a rate.
pub(super) const FOREIGN: [Currency; 3] = [Currency::Eur, Currency::Usd, Currency::Gbp];

/// What one unit is worth in francs on a day, in millionths.
fn millionths(currency: Currency, on: Day) -> i64 {
    let (level, step) = match currency {
        Currency::Chf => (1_000_000, 0),
        Currency::Eur => (941_000, 41),
        Currency::Usd => (872_500, 67),
        Currency::Gbp => (1_109_000, 59),
    };
    let days = on.days_since(Day::FIRST);
    let wave = (days * 7) % 401 - 200;
    let drift = (days / 30 * 11) % 61 - 30;
    level + wave * step + drift * step * 3
}

/// The rate of a day.
pub(super) fn rate(currency: Currency, on: Day) -> ExchangeRate {
    ExchangeRate::from_minor(millionths(currency, on) / 100 * 100)
}

/// What an amount is worth in francs at a rate.
pub(super) fn worth(minor: i64, rate: ExchangeRate) -> i64 {
    Money::from_minor(minor).converted(rate).map_or(0, Money::minor)
}

/// Every day of the demo.
pub(super) fn days() -> Result<impl Iterator<Item = Day>> {
    let (first, last) = (day(2023, 12, 31)?, last_day()?);
    Ok((0..=last.days_since(first)).map(move |n| first.plus_days(n)))
}
