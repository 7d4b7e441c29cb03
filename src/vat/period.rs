//! The periods for which VAT is filed, and when a return is due.

use crate::dates::Day;
use crate::error::{Error, Result};
use crate::mandates::VatPeriod;

/// Years that can be asked for: those for which the rates are known.
const YEARS: std::ops::RangeInclusive<i32> = 2018..=2199;
/// Days after the end of the year in which it is reconciled with the annual accounts (source: VAT act, article 72).
const DAYS_TO_RECONCILE: i64 = 180;

/// A period of the calendar: a month, a quarter, a half-year or a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) kind: VatPeriod,
    pub(super) year: i32,
    /// From 1 within its year.
    pub(super) number: u32,
    pub(super) from: Day,
    pub(super) to: Day,
}

/// How many of a kind a year has.
pub(super) const fn per_year(kind: VatPeriod) -> u32 {
    match kind {
        VatPeriod::Month => 12,
        VatPeriod::Quarter => 4,
        VatPeriod::Half => 2,
        VatPeriod::Year => 1,
    }
}

/// The argument that chooses one of a kind, as a refusal names it.
const fn argument(kind: VatPeriod) -> &'static str {
    match kind {
        VatPeriod::Month => "month",
        VatPeriod::Quarter => "quarter",
        VatPeriod::Half => "half",
        VatPeriod::Year => "year",
    }
}

impl Period {
    /// The `number`th period of its kind in a year.
    ///
    /// # Errors
    /// The year or the number is out of range.
    pub(super) fn of(kind: VatPeriod, year: i32, number: u32) -> Result<Self> {
        if !YEARS.contains(&year) {
            let (first, last) = YEARS.into_inner();
            let said = format!("year must be from {first} to {last}");
            return Err(Error::argument("year", said));
        }
        let count = per_year(kind);
        let months = 12 / count;
        let out_of_range = || {
            let name = argument(kind);
            Error::argument(name, format!("{name} must be from 1 to {count}"))
        };
        if !(1..=count).contains(&number) {
            return Err(out_of_range());
        }
        let from = Day::from_ymd(year, (number - 1) * months + 1, 1).ok_or_else(out_of_range)?;
        let length = i32::try_from(months).map_err(Error::fault)?;
        Ok(Self { kind, year, number, from, to: from.plus_months(length).minus_days(1) })
    }

    /// Every period of a kind in a year.
    pub(super) fn all(kind: VatPeriod, year: i32) -> Result<Vec<Self>> {
        (1..=per_year(kind)).map(|number| Self::of(kind, year, number)).collect()
    }

    /// `2026`, `2026-H1`, `2026-Q2`, `2026-05`.
    pub(super) fn label(&self) -> String {
        let Self { year, number, .. } = self;
        match self.kind {
            VatPeriod::Month => format!("{year}-{number:02}"),
            VatPeriod::Quarter => format!("{year}-Q{number}"),
            VatPeriod::Half => format!("{year}-H{number}"),
            VatPeriod::Year => year.to_string(),
        }
    }

    /// The last day to file and to pay: sixty days after the end of the period, which is the end of the second month after
    /// it (source: VAT act, article 71).
    pub(super) fn due_on(&self) -> Day {
        self.to.plus_days(1).plus_months(2).minus_days(1)
    }

    /// The last day to correct what the annual accounts show to be wrong.
    pub(super) fn reconciled_by(&self) -> Day {
        self.to.plus_days(DAYS_TO_RECONCILE)
    }
}

/// What a return is asked for: the periods a person named, at most one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) year: i32,
    pub(super) quarter: Option<u32>,
    pub(super) half: Option<u32>,
    pub(super) month: Option<u32>,
}

/// A period, or the year in which all periods of a kind are reconciled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// One period.
    One(Period),
    /// The year, whose periods are of a kind.
    Year(Period, VatPeriod),
}

impl Asked {
    /// The period meant, for a mandate that files by `kind`.
    ///
    /// # Errors
    /// It names a period of another kind, more than one, or one out of range.
    pub(super) fn choose(&self, kind: VatPeriod) -> Result<Choice> {
        let named = [
            (VatPeriod::Quarter, self.quarter),
            (VatPeriod::Half, self.half),
            (VatPeriod::Month, self.month),
        ];
        let mut given = named.into_iter().filter_map(|(kind, number)| Some((kind, number?)));
        match (given.next(), given.next()) {
            (None, _) => {
                let year = Period::of(VatPeriod::Year, self.year, 1)?;
                Ok(if kind == VatPeriod::Year {
                    Choice::One(year)
                } else {
                    Choice::Year(year, kind)
                })
            }
            (Some((given, number)), None) if given == kind => {
                Period::of(kind, self.year, number).map(Choice::One)
            }
            (Some((_, _)), Some((second, _))) => {
                let said = "give one of quarter, half and month, not several";
                Err(Error::argument(argument(second), said))
            }
            (Some((given, _)), None) => Err(wrong_kind(given, kind)),
        }
    }
}

fn wrong_kind(given: VatPeriod, kind: VatPeriod) -> Error {
    let way_out = match kind {
        VatPeriod::Year => "give year alone".to_owned(),
        kind => {
            let (name, count) = (argument(kind), per_year(kind));
            format!("give {name} from 1 to {count}, or year alone for the year's reconciliation")
        }
    };
    let (given, kind) = (argument(given), argument(kind));
    Error::argument(given, format!("this mandate files by {kind}, not by {given}; {way_out}"))
}

#[cfg(test)]
mod tests {
    use super::{Asked, Choice, Period, VatPeriod};

    #[test]
    fn a_return_is_due_at_the_end_of_the_second_month_after_its_period() {
        for (kind, year, number, label, due_on) in [
            (VatPeriod::Quarter, 2026, 1, "2026-Q1", "2026-05-31"),
            (VatPeriod::Quarter, 2026, 2, "2026-Q2", "2026-08-31"),
            (VatPeriod::Quarter, 2026, 3, "2026-Q3", "2026-11-30"),
            (VatPeriod::Quarter, 2026, 4, "2026-Q4", "2027-02-28"),
            (VatPeriod::Half, 2027, 2, "2027-H2", "2028-02-29"),
            (VatPeriod::Month, 2026, 12, "2026-12", "2027-02-28"),
            (VatPeriod::Month, 2026, 6, "2026-06", "2026-08-31"),
            (VatPeriod::Year, 2026, 1, "2026", "2027-02-28"),
        ] {
            let period = Period::of(kind, year, number).unwrap();
            assert_eq!(
                (period.label(), period.due_on().to_string()),
                (label.into(), due_on.into())
            );
        }
    }

    #[test]
    fn the_periods_of_a_year_follow_one_another_without_a_gap() {
        for kind in [VatPeriod::Month, VatPeriod::Quarter, VatPeriod::Half, VatPeriod::Year] {
            let all = Period::all(kind, 2024).unwrap();
            assert_eq!(all.first().unwrap().from.to_string(), "2024-01-01");
            assert_eq!(all.last().unwrap().to.to_string(), "2024-12-31");
            assert!(all.windows(2).all(|pair| pair[0].to.plus_days(1) == pair[1].from));
        }
    }

    #[test]
    fn a_period_of_another_kind_is_refused_with_the_way_out() {
        let year = Asked { year: 2026, quarter: None, half: None, month: None };
        let quarter = Asked { quarter: Some(2), ..year };
        assert!(
            matches!(quarter.choose(VatPeriod::Quarter), Ok(Choice::One(period)) if period.number == 2)
        );
        assert!(matches!(year.choose(VatPeriod::Quarter), Ok(Choice::Year(_, VatPeriod::Quarter))));
        assert!(matches!(year.choose(VatPeriod::Year), Ok(Choice::One(_))));
        let said = |asked: &Asked, kind| asked.choose(kind).unwrap_err().to_string();
        assert!(said(&quarter, VatPeriod::Half).contains("files by half"));
        assert!(said(&quarter, VatPeriod::Year).contains("give year alone"));
        assert!(said(&Asked { month: Some(3), ..quarter }, VatPeriod::Quarter).contains("several"));
        assert!(said(&Asked { quarter: Some(5), ..year }, VatPeriod::Quarter).contains("1 to 4"));
        assert!(said(&Asked { year: 1999, ..quarter }, VatPeriod::Quarter).contains("2018"));
    }
}
