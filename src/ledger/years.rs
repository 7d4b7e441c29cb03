//! Fiscal years of a mandate.

use diesel::prelude::*;

use super::kinds::FiscalYearState;
use crate::dates::Day;
use crate::db::connection::AnyConnection;
use crate::db::schema::fiscal_years;
use crate::error::{Code, Error, Result};
use crate::ids::{FiscalYearId, MandateId, TenantId};

/// A fiscal year to open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewYear {
    pub(crate) id: FiscalYearId,
    pub(crate) starts_on: Day,
    pub(crate) ends_on: Day,
}

impl NewYear {
    /// What it is called: `2026`, or `2025/26` when it lies in two calendar years.
    fn label(&self) -> String {
        let (first, last) = (self.starts_on.year(), self.ends_on.year());
        if first == last { first.to_string() } else { format!("{first}/{:02}", last % 100) }
    }
}

/// Opens a fiscal year.
///
/// # Errors
/// It overlaps another, or a later one is closed or locked, whose opening must not change.
pub(crate) fn open(
    connection: &mut AnyConnection,
    (tenant, mandate): (TenantId, MandateId),
    year: NewYear,
) -> Result<()> {
    let later: Option<(String, FiscalYearState)> = fiscal_years::table
        .filter(fiscal_years::tenant_id.eq(tenant))
        .filter(fiscal_years::mandate_id.eq(mandate))
        .filter(fiscal_years::starts_on.gt(year.starts_on))
        .filter(
            fiscal_years::state
                .eq(FiscalYearState::Closed)
                .or(fiscal_years::locked_through.is_not_null()),
        )
        .order(fiscal_years::starts_on)
        .select((fiscal_years::label, fiscal_years::state))
        .load(connection)?
        .into_iter()
        .next();
    if let Some((label, state)) = later {
        let is = if state == FiscalYearState::Closed { "closed" } else { "locked in part" };
        let message = format!(
            "fiscal year {label} is {is}, and a year before it would change its opening; open a later one"
        );
        return Err(Error::refuse(Code::PeriodClosed, message));
    }
    diesel::insert_into(fiscal_years::table)
        .values((
            fiscal_years::tenant_id.eq(tenant),
            fiscal_years::id.eq(year.id),
            fiscal_years::mandate_id.eq(mandate),
            fiscal_years::label.eq(year.label()),
            fiscal_years::starts_on.eq(year.starts_on),
            fiscal_years::ends_on.eq(year.ends_on),
            fiscal_years::state.eq(FiscalYearState::Open),
            fiscal_years::locked_through.eq(None::<Day>),
        ))
        .execute(connection)?;
    Ok(())
}

/// The twelve months around `day` that end with `end_month`, shortened so that they overlap none of `known`.
///
/// # Errors
/// The day is out of range.
pub(crate) fn around(day: Day, end_month: u32, known: &[(Day, Day)]) -> Result<(Day, Day)> {
    let range = || Error::fault(format!("no fiscal year around {day}"));
    let year = if day.month() > end_month { day.year() + 1 } else { day.year() };
    let next = Day::from_ymd(year, end_month, 1).ok_or_else(range)?.plus_months(1);
    let mut first = next.plus_months(-12);
    let mut last = next.minus_days(1);
    for (starts_on, ends_on) in known {
        if *ends_on < day {
            first = first.max(ends_on.plus_days(1));
        }
        if day < *starts_on {
            last = last.min(starts_on.minus_days(1));
        }
    }
    Ok((first, last))
}

/// The first and last days of the years of a mandate.
pub(crate) fn spans(
    connection: &mut AnyConnection,
    (tenant, mandate): (TenantId, MandateId),
) -> Result<Vec<(Day, Day)>> {
    Ok(fiscal_years::table
        .filter(fiscal_years::tenant_id.eq(tenant))
        .filter(fiscal_years::mandate_id.eq(mandate))
        .select((fiscal_years::starts_on, fiscal_years::ends_on))
        .load(connection)?)
}

#[cfg(test)]
mod tests {
    use super::around;
    use crate::dates::Day;

    #[test]
    fn a_missing_year_fills_the_gap_between_those_there_are() {
        let day = |text: &str| Day::parse(text).unwrap();
        let span = |text: &str, end, known: &[(&str, &str)]| {
            let known: Vec<_> = known.iter().map(|(a, b)| (day(a), day(b))).collect();
            let (first, last) = around(day(text), end, &known).unwrap();
            format!("{first} {last}")
        };
        assert_eq!(span("2026-03-01", 12, &[]), "2026-01-01 2026-12-31");
        assert_eq!(span("2026-03-01", 6, &[]), "2025-07-01 2026-06-30");
        assert_eq!(span("2026-07-01", 6, &[]), "2026-07-01 2027-06-30");
        let long = [("2024-02-01", "2026-01-31")];
        assert_eq!(span("2026-03-01", 12, &long), "2026-02-01 2026-12-31");
        assert_eq!(span("2024-01-15", 12, &long), "2024-01-01 2024-01-31");
    }
}
