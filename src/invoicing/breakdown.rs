//! Revenue broken down into groups, the largest first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::figures::total;
use super::revenue::RevenueSum;
use crate::dates::Day;
use crate::error::Result;
use crate::ids::RecordId;
use crate::money::{Currency, Money};

/// Place of the period that is asked for.
pub(super) const THIS: i32 = 0;

/// The revenue of a client, mandate, service or month in one currency.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) key: Option<RecordId>,
    pub(super) month: Option<Day>,
    pub(super) number: Option<String>,
    pub(super) name: Option<String>,
    pub(super) currency: Currency,
    pub(super) revenue: Money,
    pub(super) previous: Money,
    pub(super) count: i64,
}

/// Brings the sums of both periods together: by month in the order of the calendar, else the largest first. A day of the
/// previous period counts for the month a year later.
pub(super) fn groups(sums: Vec<RevenueSum>) -> Result<Vec<Group>> {
    let mut found: BTreeMap<(Option<Day>, Option<RecordId>, Currency), Group> = BTreeMap::new();
    for sum in sums {
        let is_this = sum.part == THIS;
        let months = if is_this { 0 } else { 12 };
        let month = sum.day.map(|day| day.month_start().plus_months(months));
        let none = Group {
            key: sum.key,
            month,
            number: sum.number,
            name: sum.name,
            currency: sum.currency,
            revenue: Money::ZERO,
            previous: Money::ZERO,
            count: 0,
        };
        let group = found.entry((month, sum.key, sum.currency)).or_insert(none);
        if is_this {
            group.revenue = total([group.revenue, sum.net])?;
            group.count += sum.count;
        } else {
            group.previous = total([group.previous, sum.net])?;
        }
    }
    let mut groups: Vec<Group> = found.into_values().collect();
    groups.sort_by_key(|group| match group.month {
        Some(month) => (Some(month), Reverse((Money::ZERO, Money::ZERO)), group.currency),
        None => (None, Reverse((group.revenue, group.previous)), group.currency),
    });
    Ok(groups)
}
