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

#[cfg(test)]
mod tests {
    use super::Month;

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
