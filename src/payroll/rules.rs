//! Swiss social insurance: what federal law fixes, from a day to a day, and what follows from it.
//!
//! Sources: LAVS and its ordinance (contributions to AVS, AI and APG), LACI art. 3 (unemployment, ceiling of the insured
//! salary of accident insurance), LPP art. 7, 8 and 16 with OPP 2 (pension). The rates of accident, sickness and family
//! funds are agreed with an insurer: they are no law.

use schemars::JsonSchema;
use serde::Serialize;

use crate::dates::Day;
use crate::money::{Money, Rate};

/// The values in force from a day on.
#[derive(Debug, Clone, Copy)]
pub struct FederalRates {
    /// The first day, as year, month, day.
    from: (i32, u32, u32),
    /// AVS, AI and APG, of employee and employer each, without a ceiling.
    pub avs: Rate,
    /// Unemployment insurance, of employee and employer each, up to the ceiling.
    pub unemployment: Rate,
    /// The most of a year's salary on which unemployment and accident insurance are due.
    pub insured_maximum: Money,
    /// Occupational pension begins above this annual salary.
    pub pension_entry: Money,
    /// What is taken off the annual salary to find the coordinated one.
    pub coordination: Money,
    /// The most of an annual salary that counts for the pension.
    pub pension_limit: Money,
    /// The least coordinated salary.
    pub least_coordinated: Money,
}

impl FederalRates {
    /// The day from which they are in force.
    #[must_use]
    pub fn valid_from(&self) -> Day {
        let (year, month, day) = self.from;
        Day::from_ymd(year, month, day).unwrap_or(Day::FIRST)
    }
}

/// The federal rates and limits from a day on, in per cent of a salary and in Swiss francs a year.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SocialInsurance {
    /// The first day; the next ones end it.
    valid_from: Day,
    /// AVS, AI and APG, of employee and employer each, without a ceiling.
    avs_percent: Rate,
    /// Unemployment insurance, of employee and employer each, up to the insured maximum.
    unemployment_percent: Rate,
    /// The most of a year's salary on which unemployment and accident insurance are due.
    insured_maximum: Money,
    /// Occupational pension begins above this annual salary.
    pension_entry_threshold: Money,
    /// What is taken off the annual salary to find the coordinated one.
    coordination_deduction: Money,
    /// The most of an annual salary that counts for the pension.
    pension_limit: Money,
    /// The least coordinated salary.
    minimum_coordinated_salary: Money,
    /// The credits of a year for old age, in per cent of the coordinated salary, by age: year less year of birth.
    retirement_credits: Vec<RetirementCredit>,
}

/// A credit for old age.
#[derive(Debug, Serialize, JsonSchema)]
struct RetirementCredit {
    /// From this age on.
    from_age: i32,
    /// Up to this age, itself included.
    to_age: i32,
    /// The credit.
    percent: Rate,
}

/// What federal law fixes, oldest first, for who wants to read the rules.
pub(crate) fn social_insurance() -> Vec<SocialInsurance> {
    let known = |law: &FederalRates| SocialInsurance {
        valid_from: law.valid_from(),
        avs_percent: law.avs,
        unemployment_percent: law.unemployment,
        insured_maximum: law.insured_maximum,
        pension_entry_threshold: law.pension_entry,
        coordination_deduction: law.coordination,
        pension_limit: law.pension_limit,
        minimum_coordinated_salary: law.least_coordinated,
        retirement_credits: CREDITS
            .iter()
            .map(|&(from_age, to_age, percent)| RetirementCredit { from_age, to_age, percent })
            .collect(),
    };
    FEDERAL.iter().map(known).collect()
}

const fn francs(amount: i64) -> Money {
    Money::from_minor(amount * 100)
}

/// Every change since 2023, oldest first.
pub const FEDERAL: &[FederalRates] = &[
    FederalRates {
        from: (2023, 1, 1),
        avs: Rate::from_minor(53_000),
        unemployment: Rate::from_minor(11_000),
        insured_maximum: francs(148_200),
        pension_entry: francs(22_050),
        coordination: francs(25_725),
        pension_limit: francs(88_200),
        least_coordinated: francs(3_675),
    },
    FederalRates {
        from: (2025, 1, 1),
        avs: Rate::from_minor(53_000),
        unemployment: Rate::from_minor(11_000),
        insured_maximum: francs(148_200),
        pension_entry: francs(22_680),
        coordination: francs(26_460),
        pension_limit: francs(90_720),
        least_coordinated: francs(3_780),
    },
];

/// The values in force on a day; none before 2023.
#[must_use]
pub fn federal_on(day: Day) -> Option<&'static FederalRates> {
    FEDERAL.iter().rev().find(|rates| rates.valid_from() <= day)
}

/// The coordinated salary of an annual one (LPP art. 8): none up to the entry threshold, which must be exceeded.
#[must_use]
pub fn coordinated(annual: Money, law: &FederalRates) -> Option<Money> {
    if annual <= law.pension_entry {
        return None;
    }
    let counted = annual.min(law.pension_limit).minus(law.coordination)?;
    Some(counted.max(law.least_coordinated))
}

/// Retirement credits of a year (LPP art. 16): from an age, to an age, per cent of the coordinated salary.
const CREDITS: [(i32, i32, Rate); 4] = [
    (25, 34, Rate::from_minor(70_000)),
    (35, 44, Rate::from_minor(100_000)),
    (45, 54, Rate::from_minor(150_000)),
    (55, 65, Rate::from_minor(180_000)),
];

/// The retirement credit of a year in per cent of the coordinated salary (LPP art. 16), by age as year less year of birth.
#[must_use]
pub fn retirement_credit(age: i32) -> Option<Rate> {
    let found = CREDITS.iter().find(|(from, to, _)| (*from..=*to).contains(&age));
    found.map(|(_, _, percent)| *percent)
}

/// The part of this month's salary on which a contribution with an annual ceiling is due: what was earned since January, up to
/// as many twelfths of the ceiling as there were months, less what was counted before.
#[must_use]
pub fn capped(gross_so_far: Money, months: i64, counted_before: Money, maximum: Money) -> Money {
    let ceiling = maximum.minor() * months / 12;
    Money::from_minor(gross_so_far.minor().min(ceiling) - counted_before.minor())
}

/// What employee and employer pay into the pension in one month, of a credit for the year. The month's credit is a
/// twelfth; the employee pays half of it, rounded down. The last month settles the year to the centime.
#[must_use]
pub fn pension_shares(year_credit: Money, months: i64, before: PensionPaid) -> PensionPaid {
    let (credit, half) = (year_credit.minor(), year_credit.minor() / 2);
    let (both, employee) = if months == 12 && before.months == 11 {
        let paid = before.employee.minor() + before.employer.minor();
        (credit - paid, half - before.employee.minor())
    } else {
        let month = (credit * 2 + 12).div_euclid(24);
        (month, month / 2)
    };
    PensionPaid {
        months: 1,
        employee: Money::from_minor(employee),
        employer: Money::from_minor(both - employee),
    }
}

/// What was paid into the pension at one and the same annual credit, month after month from January.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PensionPaid {
    /// For how many months.
    pub months: i64,
    /// By the employee.
    pub employee: Money,
    /// By the employer.
    pub employer: Money,
}

#[cfg(test)]
mod tests {
    use super::{PensionPaid, capped, coordinated, federal_on, pension_shares, retirement_credit};
    use crate::dates::Day;
    use crate::money::Money;

    fn money(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    #[test]
    fn the_coordinated_salary_begins_above_the_threshold_and_ends_at_the_limit() {
        let law = federal_on(Day::parse("2026-03-31").unwrap()).unwrap();
        for (annual, expected) in [
            ("22680", None),
            ("22681", Some("3780")),
            ("27000", Some("3780")),
            ("30240", Some("3780")),
            ("60000", Some("33540")),
            ("84500", Some("58040")),
            ("90720", Some("64260")),
            ("150000", Some("64260")),
        ] {
            assert_eq!(coordinated(money(annual), law), expected.map(money), "{annual}");
        }
        assert!(federal_on(Day::parse("2022-12-31").unwrap()).is_none());
    }

    #[test]
    fn unemployment_insurance_is_capped_over_the_year_and_not_by_month() {
        let maximum = money("148200");
        for (month, last, each, year) in
            [("10000", "20000", "10000", "130000"), ("14000", "28000", "12350", "148200")]
        {
            let (mut gross, mut counted) = (Money::ZERO, Money::ZERO);
            for at in 1..=12 {
                gross = gross.plus(money(if at == 12 { last } else { month })).unwrap();
                let base = capped(gross, at, counted, maximum);
                let expected = if at == 12 && month == "10000" { last } else { each };
                assert_eq!(base, money(expected), "month {at}");
                counted = counted.plus(base).unwrap();
            }
            assert_eq!(counted, money(year));
        }
    }

    #[test]
    fn december_settles_the_pension_of_the_year() {
        let law = federal_on(Day::parse("2026-01-31").unwrap()).unwrap();
        let salary = coordinated(money("84500"), law).unwrap();
        let credit = salary.percent(retirement_credit(2026 - 1984).unwrap()).unwrap();
        assert_eq!(credit, money("5804"));
        let mut paid = PensionPaid::default();
        for month in 1..=12 {
            let now = pension_shares(credit, month, paid);
            let expected = if month == 12 { "241.87" } else { "241.83" };
            assert_eq!(now.employee, money(expected), "month {month}");
            if month < 12 {
                assert_eq!(now.employer, money("241.84"));
            }
            paid = PensionPaid {
                months: paid.months + 1,
                employee: paid.employee.plus(now.employee).unwrap(),
                employer: paid.employer.plus(now.employer).unwrap(),
            };
        }
        assert_eq!((paid.employee, paid.employer), (money("2902"), money("2902")));
    }
}
