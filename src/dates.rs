//! Days, instants and the clock, within a range that both databases store and sort alike.

use std::fmt;

use chrono::{DateTime, Datelike, NaiveDate, SubsecRound, TimeDelta, Utc};
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql};
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::{self, Date};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::db::types::{Moment, Stored, stored};

/// A day of the years 1900 to 2199: beyond, `PostgreSQL` refuses it and `SQLite` sorts it wrongly.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    diesel::AsExpression,
    diesel::FromSqlRow,
)]
#[diesel(sql_type = Date)]
#[serde(transparent)]
pub struct Day(NaiveDate);

/// The same days a year earlier; the last day of a month stays one.
#[must_use]
pub fn a_year_earlier(from: Day, to: Day) -> (Day, Day) {
    let last = to.plus_days(1).plus_months(-12).minus_days(1);
    let is_month_end = to.plus_days(1).day_of_month() == 1;
    (from.plus_months(-12), if is_month_end { last } else { to.plus_months(-12) })
}

impl Day {
    /// The first day that is a day here.
    pub const FIRST: Self = match NaiveDate::from_ymd_opt(1900, 1, 1) {
        Some(date) => Self(date),
        None => Self(NaiveDate::MIN),
    };

    /// Reads `2026-01-31`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let date = text.parse::<NaiveDate>().ok()?;
        ((1900..2200).contains(&date.year()) && date.to_string() == text).then_some(Self(date))
    }

    /// So many days earlier.
    #[must_use]
    pub fn minus_days(self, days: i64) -> Self {
        Self(self.0.checked_sub_signed(TimeDelta::days(days)).unwrap_or(NaiveDate::MIN))
    }

    /// So many days later.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Self {
        Self(self.0.checked_add_signed(TimeDelta::days(days)).unwrap_or(NaiveDate::MAX))
    }

    /// The instant at which the day begins in `zone`.
    #[must_use]
    pub fn begins_in(self, zone: chrono_tz::Tz) -> Instant {
        let midnight = self.0.and_time(chrono::NaiveTime::MIN);
        let begins = midnight.and_local_timezone(zone).earliest();
        // Where the clock skips midnight, the day begins an hour later by the same clock.
        begins.map_or_else(|| midnight.and_utc().into(), |at| at.with_timezone(&Utc).into())
    }

    /// The first day of its month.
    #[must_use]
    pub fn month_start(self) -> Self {
        Self(self.0.with_day(1).unwrap_or(self.0))
    }

    /// The first of January of its year.
    #[must_use]
    pub fn year_start(self) -> Self {
        Self(self.0.with_ordinal(1).unwrap_or(self.0))
    }

    /// The year of the calendar.
    #[must_use]
    pub fn year(self) -> i32 {
        self.0.year()
    }

    /// The month of the calendar, from 1.
    #[must_use]
    pub fn month(self) -> u32 {
        self.0.month()
    }

    /// The day of the month, from 1.
    #[must_use]
    pub fn day_of_month(self) -> u32 {
        self.0.day()
    }

    /// The day `year`-`month`-`day`, if there is one in range.
    #[must_use]
    pub fn from_ymd(year: i32, month: u32, day: u32) -> Option<Self> {
        let date = NaiveDate::from_ymd_opt(year, month, day)?;
        (1900..2200).contains(&year).then_some(Self(date))
    }

    /// So many months later, or earlier, on the same day of the month or its last.
    #[must_use]
    pub fn plus_months(self, months: i32) -> Self {
        let by = chrono::Months::new(months.unsigned_abs());
        let moved =
            if months < 0 { self.0.checked_sub_months(by) } else { self.0.checked_add_months(by) };
        Self(moved.unwrap_or(self.0))
    }

    /// How many days it lies after `other`; negative when before.
    #[must_use]
    pub fn days_since(self, other: Self) -> i64 {
        self.0.signed_duration_since(other.0).num_days()
    }
}

impl From<NaiveDate> for Day {
    /// For days that come from the clock or the database.
    fn from(date: NaiveDate) -> Self {
        Self(date)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let refuse = || "invalid day, expected YYYY-MM-DD from 1900 to 2199";
        Self::parse(&text).ok_or_else(|| de::Error::custom(refuse()))
    }
}

impl schemars::JsonSchema for Day {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Day".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date" })
    }
}

impl<DB: Backend> ToSql<Date, DB> for Day
where
    NaiveDate: ToSql<Date, DB>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
        self.0.to_sql(out)
    }
}

impl<DB: Backend> FromSql<Date, DB> for Day
where
    NaiveDate: FromSql<Date, DB>,
{
    fn from_sql(bytes: DB::RawValue<'_>) -> deserialize::Result<Self> {
        NaiveDate::from_sql(bytes).map(Self)
    }
}

/// An instant in UTC, to the microsecond.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    diesel::AsExpression,
    diesel::FromSqlRow,
    schemars::JsonSchema,
)]
#[diesel(sql_type = Moment)]
#[schemars(inline)]
pub struct Instant(#[schemars(with = "String")] DateTime<Utc>);

impl Instant {
    const TEXT: &str = "%Y-%m-%dT%H:%M:%S%.6fZ";

    /// So many seconds later, or earlier.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        let moved = TimeDelta::try_seconds(seconds).and_then(|by| self.0.checked_add_signed(by));
        Self(moved.unwrap_or(self.0))
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn unix_seconds(self) -> i64 {
        self.0.timestamp()
    }

    /// The day it falls on in `zone`.
    #[must_use]
    pub fn day_in(self, zone: chrono_tz::Tz) -> Day {
        Day(self.0.with_timezone(&zone).date_naive())
    }
}

impl From<DateTime<Utc>> for Instant {
    fn from(at: DateTime<Utc>) -> Self {
        Self(at.trunc_subsecs(6))
    }
}

impl From<Instant> for uuid::Timestamp {
    fn from(at: Instant) -> Self {
        let seconds = u64::try_from(at.0.timestamp()).unwrap_or_default();
        Self::from_unix(uuid::NoContext, seconds, at.0.timestamp_subsec_nanos())
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.format("%Y-%m-%dT%H:%M:%SZ").fmt(f)
    }
}

impl Stored for Instant {
    type Postgres = DateTime<Utc>;
    type Sqlite = String;
    fn to_postgres(&self) -> DateTime<Utc> {
        self.0
    }
    fn from_postgres(at: DateTime<Utc>) -> deserialize::Result<Self> {
        Ok(Self(at))
    }
    fn to_sqlite(&self) -> String {
        self.0.format(Self::TEXT).to_string()
    }
    fn from_sqlite(text: String) -> deserialize::Result<Self> {
        Ok(Self(chrono::NaiveDateTime::parse_from_str(&text, Self::TEXT)?.and_utc()))
    }
}
stored!(Instant: Moment = postgres sql_types::Timestamptz, sqlite sql_types::Text);

/// Where the time comes from: the system, or a fixed instant in tests and figures that must repeat.
#[derive(Debug, Clone, Copy, Default)]
pub enum Clock {
    /// The system's clock.
    #[default]
    System,
    /// Always this instant.
    Fixed(Instant),
}

impl Clock {
    /// The present instant.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system's clock")]
    pub fn now(self) -> Instant {
        match self {
            Self::System => Utc::now().into(),
            Self::Fixed(at) => at,
        }
    }
}
