//! What worked time is worth: the one definition of its rate.
//!
//! The rate is the one agreed for the service in the mandate that was in force on the day of work, else the service's own;
//! time without a service, or on one that is not sold by the hour, has none. Worth is hours times rate, rounded half up
//! for each entry.

use diesel::sql_types::Nullable;

use super::TimeRateSource;
use crate::db::Derived;
use crate::db::types::Amount;
use crate::error::{Error, Result};
use crate::firm::Unit;
use crate::money::{Currency, Money};

/// The rate agreed for the mandate of a row of `time_entries`; the latest where two overlap.
macro_rules! agreed {
    () => {
        "(SELECT r.rate FROM service_rates r WHERE r.tenant_id = time_entries.tenant_id AND r.mandate_id = time_entries.mandate_id \
         AND r.service_id = time_entries.service_id AND r.valid_from <= time_entries.worked_on \
         AND (r.valid_to IS NULL OR r.valid_to >= time_entries.worked_on) ORDER BY r.valid_from DESC LIMIT 1)"
    };
}

/// The rate agreed for the mandate, if there is one.
pub(super) const AGREED: Derived<Nullable<Amount>> = Derived::new(agreed!());

/// The rate of a row of `time_entries` that was joined with `services`, in a query written by hand.
pub(super) const RATE: &str =
    concat!("CASE WHEN services.unit = 'hour' THEN coalesce(", agreed!(), ", services.rate) END");

/// The join that [`RATE`] needs.
pub(super) const SERVICES: &str = " AS time_entries LEFT JOIN services ON services.tenant_id = time_entries.tenant_id \
     AND services.id = time_entries.service_id";

/// An hourly rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rated {
    pub(super) rate: Money,
    pub(super) currency: Currency,
    pub(super) source: TimeRateSource,
}

/// The service of an entry as a rate needs it: its unit, rate and currency.
pub(super) type Sold = (Option<Unit>, Option<Money>, Option<Currency>);

/// The rate of an entry on a service, if it has one.
pub(super) fn rated(agreed: Option<Money>, sold: Sold) -> Option<Rated> {
    let (Some(Unit::Hour), Some(own), Some(currency)) = sold else { return None };
    let source = if agreed.is_some() { TimeRateSource::Mandate } else { TimeRateSource::Service };
    Some(Rated { rate: agreed.unwrap_or(own), currency, source })
}

/// What minutes are worth at an hourly rate.
///
/// # Errors
/// The amount is out of range.
pub(super) fn worth(rate: Money, minutes: i32) -> Result<Money> {
    rate.for_minutes(i64::from(minutes)).ok_or_else(out_of_range)
}

/// Adds what `count` entries of so much each are worth.
///
/// # Errors
/// The sum is out of range.
pub(super) fn add(sum: &mut Money, each: Money, count: i64) -> Result<()> {
    let all = each.minor().checked_mul(count).map(Money::from_minor);
    *sum = all.and_then(|all| sum.plus(all)).ok_or_else(out_of_range)?;
    Ok(())
}

fn out_of_range() -> Error {
    Error::fault("the worth of worked time is out of range")
}
