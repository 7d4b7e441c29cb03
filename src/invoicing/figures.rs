//! What the handles of figures over many mandates have in common.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::dates::Day;
use crate::db::{Mandates, Read};
use crate::error::{Error, Result};
use crate::money::Money;

/// In whose reach a figure was computed: that of everybody who reaches all mandates, or of one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reached(Option<Uuid>);

impl Reached {
    /// That of the caller.
    pub(super) fn of(scope: &Read<'_>) -> Self {
        let is_whole = scope.caller().mandates() == Mandates::All;
        Self((!is_whole).then(|| scope.user().into()))
    }

    /// Refuses a figure that the caller would compute from other records.
    ///
    /// # Errors
    /// It was given to somebody who reaches more or less.
    pub(super) fn check(self, scope: &Read<'_>) -> Result<()> {
        if self == Self::of(scope) { Ok(()) } else { Err(Error::not_found("figure")) }
    }
}

/// A day as a handle keeps it: how many days after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ShortDay(i64);

impl From<Day> for ShortDay {
    fn from(day: Day) -> Self {
        Self(day.days_since(Day::FIRST))
    }
}

impl From<ShortDay> for Day {
    fn from(short: ShortDay) -> Self {
        Self::FIRST.plus_days(short.0)
    }
}

/// The sum of amounts, or a fault.
pub(super) fn total(amounts: impl IntoIterator<Item = Money>) -> Result<Money> {
    let sum = |sum: Money, amount| sum.plus(amount);
    let total = amounts.into_iter().try_fold(Money::ZERO, sum);
    total.ok_or_else(|| Error::fault("the amounts of a report are out of range"))
}
