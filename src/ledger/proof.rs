//! What the reports of the books have in common: how much fits in an answer, and the identity of kept sums and lines.

use serde::Serialize;

use super::balances::{Of, Turnovers};
use crate::dates::Day;
use crate::db::Read;
use crate::error::Result;
use crate::money::Money;
use crate::reports::Control;

/// Bytes of the rows of a report at most; an answer repeats them as text, and stays under 100 kB.
const LARGEST: usize = 42_000;

/// Whether rows fit in one answer.
///
/// # Errors
/// They cannot be written.
pub(super) fn fits<R: Serialize>(rows: &[R]) -> Result<bool> {
    Ok(serde_json::to_vec(rows)?.len() <= LARGEST)
}

/// The rows of `at` the level asked for, or of the finest level at which they fit, and that level.
///
/// # Errors
/// Those of `at`.
pub(super) fn at_level<R: Serialize>(
    asked: Option<u8>,
    mut at: impl FnMut(Option<u8>) -> Result<Vec<R>>,
) -> Result<(Option<u8>, Vec<R>)> {
    let mut level = asked;
    let mut rows = at(level)?;
    while !fits(&rows)? && level != Some(1) {
        level = Some(level.map_or(6, |level| level - 1));
        rows = at(level)?;
    }
    Ok((level, rows))
}

/// What to say when accounts were grouped though nobody asked for it.
pub(super) fn said_of_level(asked: Option<u8>, level: Option<u8>) -> Option<String> {
    let level = level.filter(|_| level != asked)?;
    Some(format!(
        "too many accounts for one answer: grouped by their first {level} digits; \
         use get_account_statement or search_accounts for single accounts"
    ))
}

/// The first digits of an account number by which it is grouped.
pub(super) fn prefix(number: &str, level: Option<u8>) -> &str {
    match level.and_then(|level| number.char_indices().nth(usize::from(level))) {
        Some((end, _)) => number.get(..end).unwrap_or(number),
        None => number,
    }
}

/// The identity of the sums kept with the postings and their lines, or a note that it was not recomputed.
///
/// # Errors
/// The database is away; a sum is out of range.
pub(super) fn kept(
    scope: &mut Read<'_>,
    of: Of<'_>,
    until: &Turnovers,
    day: Day,
    controls: &mut Vec<Control>,
) -> Result<Option<String>> {
    if let Some(deviation) = of.deviation(scope, until, day)? {
        let name = "deviation of the period balances from the sum of their lines = 0";
        controls.push(Control::equal(name, of.ledger.currency, deviation, Money::ZERO));
        return Ok(None);
    }
    let lines: i64 = until.values().map(|one| one.lines).sum();
    Ok(Some(format!("the period balances were not compared here with their {lines} lines")))
}
