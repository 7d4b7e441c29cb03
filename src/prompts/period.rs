//! Periods, as a person types them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dates::Day;

/// A month of the years 1900 to 2199, written `2026-06`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub(super) struct Month {
    pub(super) year: i32,
    /// 1 to 12.
    pub(super) month: i32,
}

impl Month {
    /// Reads `2026-06`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Day::parse(&format!("{text}-01"))?;
        let (year, month) = text.split_once('-')?;
        Some(Self { year: year.parse().ok()?, month: month.parse().ok()? })
    }

    /// The month before.
    pub(super) const fn before(self) -> Self {
        match self.month {
            1 => Self { year: self.year - 1, month: 12 },
            month => Self { month: month - 1, ..self },
        }
    }

    /// Its first and its last day.
    pub(super) fn days(self) -> (Day, Day) {
        let after = match self.month {
            12 => Self { year: self.year + 1, month: 1 },
            month => Self { month: month + 1, ..self },
        };
        let first = |month: Self| Day::parse(&format!("{month}-01"));
        let begins = first(self).unwrap_or(Day::FIRST);
        let ends = first(after).map_or_else(|| begins.plus_days(30), |next| next.minus_days(1));
        (begins, ends)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl From<Month> for String {
    fn from(month: Month) -> Self {
        month.to_string()
    }
}

impl TryFrom<String> for Month {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("invalid month, expected YYYY-MM such as 2026-06")
    }
}

/// What a VAT return is for, written `2026-Q2`, `2026-H1`, `2026-06` or `2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub(super) enum VatPeriod {
    Year(i32),
    /// 1 or 2.
    Half(i32, i32),
    /// 1 to 4.
    Quarter(i32, i32),
    Month(Month),
}

impl VatPeriod {
    /// Reads `2026-Q2`, `2026-H1`, `2026-06` or `2026`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (year, part) = text.split_once('-').unwrap_or((text, ""));
        let year = Month::parse(&format!("{year}-01"))?.year;
        match part {
            "" => (!text.contains('-')).then_some(Self::Year(year)),
            "H1" => Some(Self::Half(year, 1)),
            "H2" => Some(Self::Half(year, 2)),
            "Q1" => Some(Self::Quarter(year, 1)),
            "Q2" => Some(Self::Quarter(year, 2)),
            "Q3" => Some(Self::Quarter(year, 3)),
            "Q4" => Some(Self::Quarter(year, 4)),
            _ => Month::parse(text).map(Self::Month),
        }
    }

    /// Its first and its last day.
    pub(super) fn days(self) -> (Day, Day) {
        let (year, first, last) = match self {
            Self::Year(year) => (year, 1, 12),
            Self::Half(year, half) => (year, half * 6 - 5, half * 6),
            Self::Quarter(year, quarter) => (year, quarter * 3 - 2, quarter * 3),
            Self::Month(Month { year, month }) => (year, month, month),
        };
        let of = |month| Month { year, month }.days();
        (of(first).0, of(last).1)
    }

    /// The arguments of get_vat_return that stand for it.
    pub(super) fn arguments(self) -> String {
        match self {
            Self::Year(year) => format!("year {year}"),
            Self::Half(year, half) => format!("year {year}, half {half}"),
            Self::Quarter(year, quarter) => format!("year {year}, quarter {quarter}"),
            Self::Month(Month { year, month }) => format!("year {year}, month {month}"),
        }
    }
}

impl fmt::Display for VatPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Year(year) => write!(f, "{year}"),
            Self::Half(year, half) => write!(f, "{year}-H{half}"),
            Self::Quarter(year, quarter) => write!(f, "{year}-Q{quarter}"),
            Self::Month(month) => month.fmt(f),
        }
    }
}

impl From<VatPeriod> for String {
    fn from(period: VatPeriod) -> Self {
        period.to_string()
    }
}

impl TryFrom<String> for VatPeriod {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("invalid period, expected 2026-Q2, 2026-H1, 2026-06 or 2026")
    }
}

#[cfg(test)]
mod tests {
    use super::{Month, VatPeriod};

    #[test]
    fn a_period_of_vat_is_a_year_or_a_part_of_one() {
        for (text, days, arguments) in [
            ("2026", "2026-01-01 2026-12-31", "year 2026"),
            ("2026-H2", "2026-07-01 2026-12-31", "year 2026, half 2"),
            ("2026-Q1", "2026-01-01 2026-03-31", "year 2026, quarter 1"),
            ("2024-02", "2024-02-01 2024-02-29", "year 2024, month 2"),
        ] {
            let period = VatPeriod::parse(text).unwrap();
            let (first, last) = period.days();
            let said = (format!("{first} {last}"), period.arguments(), period.to_string());
            assert_eq!(said, (days.into(), arguments.into(), text.into()));
        }
        for wrong in
            ["2026-Q5", "2026-H0", "2026-q1", "2026-", "Q1-2026", "26", "2026-13", "2026-Q1-"]
        {
            assert_eq!(VatPeriod::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_month_has_a_first_and_a_last_day_and_one_before() {
        for (text, days, before) in [
            ("2026-01", "2026-01-01 2026-01-31", "2025-12"),
            ("2024-02", "2024-02-01 2024-02-29", "2024-01"),
            ("2199-12", "2199-12-01 2199-12-31", "2199-11"),
        ] {
            let month = Month::parse(text).unwrap();
            let (first, last) = month.days();
            assert_eq!(
                (format!("{first} {last}").as_str(), month.to_string().as_str()),
                (days, text)
            );
            assert_eq!(month.before().to_string(), before);
        }
        for wrong in
            ["2026-13", "2026-00", "2026-6", "2026", "26-06", "2026-06-01", "1899-12", "+026-06"]
        {
            assert_eq!(Month::parse(wrong), None, "{wrong}");
        }
    }
}
