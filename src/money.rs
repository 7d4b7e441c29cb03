//! Exact decimals: amounts, rates and quantities as whole smallest units in Rust, a decimal in the database and on
//! the wire, never a float.

use std::fmt;

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

use crate::db::types::{Amount, Exchange, Measure, Percentage, Stored, stored};

/// Declares a decimal with a fixed number of decimals; `trim` decides whether trailing zeros are written.
macro_rules! fixed_point {
    ($(#[$doc:meta])* $name:ident: $sql:ident, $decimals:literal decimals, trim $trim:literal, $noun:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
        #[derive(diesel::AsExpression, diesel::FromSqlRow)]
        #[diesel(sql_type = $sql)]
        pub struct $name(i64);

        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);
            const SCALE: i64 = 10_i64.pow($decimals);

            /// The value of so many smallest units.
            #[must_use]
            pub const fn from_minor(minor: i64) -> Self {
                Self(minor)
            }

            /// How many smallest units it is.
            #[must_use]
            pub const fn minor(self) -> i64 {
                self.0
            }

            /// The sum, unless it leaves the range.
            #[must_use]
            pub fn plus(self, other: Self) -> Option<Self> {
                self.0.checked_add(other.0).map(Self)
            }

            /// The difference, unless it leaves the range.
            #[must_use]
            pub fn minus(self, other: Self) -> Option<Self> {
                self.0.checked_sub(other.0).map(Self)
            }

            /// Reads a number as JSON writes it: digits, no more decimals than it has, no exponent, no sign but `-`.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                parse(text, $decimals).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (sign, minor) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
                let scale = Self::SCALE.unsigned_abs();
                let text = format!("{sign}{}.{:0width$}", minor / scale, minor % scale, width = $decimals);
                f.write_str(if $trim { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
            }
        }

        impl Serialize for $name {
            /// Writes the digits themselves; `serde_json` copies them into the answer.
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text = self.to_string();
                let raw: &RawValue = serde_json::from_str(&text).map_err(ser::Error::custom)?;
                raw.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = <&'de RawValue>::deserialize(deserializer)?;
                Self::parse(raw.get()).ok_or_else(|| {
                    de::Error::custom(concat!("invalid ", $noun, ", expected a number with at most ",
                        stringify!($decimals), " decimals"))
                })
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool { true }
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($name).into() }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "number" })
            }
        }

        impl Stored for $name {
            type Postgres = Decimal;
            type Sqlite = i64;
            fn to_postgres(&self) -> Decimal {
                Decimal::new(self.0, $decimals)
            }
            fn from_postgres(decimal: Decimal) -> diesel::deserialize::Result<Self> {
                Ok(Self(minor(decimal, $decimals)?))
            }
            fn to_sqlite(&self) -> i64 {
                self.0
            }
            fn from_sqlite(minor: i64) -> diesel::deserialize::Result<Self> {
                Ok(Self(minor))
            }
        }
        stored!($name: $sql = postgres diesel::sql_types::Numeric, sqlite diesel::sql_types::BigInt);
    };
}

fixed_point! {
    /// An amount in hundredths of its currency's unit, written with exactly two decimals.
    Money: Amount, 2 decimals, trim false, "amount"
}
fixed_point! {
    /// A rate in per cent, with at most four decimals.
    Rate: Percentage, 4 decimals, trim true, "rate"
}
fixed_point! {
    /// Hours, pieces or months, with at most three decimals.
    Quantity: Measure, 3 decimals, trim true, "quantity"
}
fixed_point! {
    /// What one unit of a foreign currency is worth in another, with at most six decimals.
    ExchangeRate: Exchange, 6 decimals, trim true, "exchange rate"
}

text_enum! {
    /// A currency (ISO 4217).
    Currency {
        /// Swiss franc.
        Chf = "CHF",
        /// Euro.
        Eur = "EUR",
        /// US dollar.
        Usd = "USD",
        /// Pound sterling.
        Gbp = "GBP",
    }
}

/// An amount and its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CurrencyAmount {
    /// The currency.
    pub currency: Currency,
    /// The amount.
    pub amount: Money,
}

impl Money {
    /// `rate` per cent of the amount, rounded half up, away from zero, to the hundredth.
    #[must_use]
    pub fn percent(self, rate: Rate) -> Option<Self> {
        product(self.0, rate.0, 100 * Rate::SCALE).map(Self)
    }

    /// The price of `quantity` units at this price each, rounded half up, away from zero, to the hundredth.
    #[must_use]
    pub fn times(self, quantity: Quantity) -> Option<Self> {
        product(self.0, quantity.0, Quantity::SCALE).map(Self)
    }

    /// The price of so many minutes at this price an hour, rounded half up, away from zero, to the hundredth.
    #[must_use]
    pub fn for_minutes(self, minutes: i64) -> Option<Self> {
        product(self.0, minutes, 60).map(Self)
    }
}

impl Quantity {
    /// So many minutes in hours, rounded half up, away from zero, to the thousandth.
    #[must_use]
    pub fn of_minutes(minutes: i64) -> Option<Self> {
        product(minutes, Self::SCALE, 60).map(Self)
    }
}

impl Money {
    /// The payable amount in francs, as coins can pay it: to the nearest five centimes, ties away from zero.
    #[must_use]
    pub fn to_five_centimes(self) -> Option<Self> {
        five_centimes(self.0, 5).map(Self)
    }

    /// The tax inside a gross amount, `gross × rate ÷ (100 + rate)`, rounded half up, away from zero, to the hundredth.
    #[must_use]
    pub fn tax_within(self, rate: Rate) -> Option<Self> {
        product(self.0, rate.0, (100 * Rate::SCALE).checked_add(rate.0)?).map(Self)
    }

    /// The share of the amount that `part` has of `whole`, rounded half up, away from zero, to the hundredth; none of nothing.
    #[must_use]
    pub fn share(self, part: Self, whole: Self) -> Option<Self> {
        let sign = whole.0.signum();
        if sign == 0 {
            return None;
        }
        product(self.0, part.0.checked_mul(sign)?, whole.0.checked_mul(sign)?).map(Self)
    }

    /// The amount in another currency at `rate`, rounded half up, away from zero, to the hundredth.
    #[must_use]
    pub fn converted(self, rate: ExchangeRate) -> Option<Self> {
        product(self.0, rate.0, ExchangeRate::SCALE).map(Self)
    }
}

/// `a × b ÷ by`, rounded half up, away from zero.
fn product(a: i64, b: i64, by: i64) -> Option<i64> {
    let (exact, by) = (i128::from(a) * i128::from(b), i128::from(by));
    let rounded = (exact.abs() + by / 2) / by;
    i64::try_from(if exact < 0 { -rounded } else { rounded }).ok()
}

/// The nearest multiple of five hundredths, ties away from zero, of a value in units of which `by` make five hundredths.
fn five_centimes(value: i64, by: i64) -> Option<i64> {
    product(value, 1, by)?.checked_mul(5)
}

fn parse(text: &str, decimals: usize) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let unsigned = whole.strip_prefix('-').unwrap_or(whole);
    if !digits(unsigned) || !digits(fraction) || fraction.len() > decimals {
        return None;
    }
    format!("{whole}{fraction:0<decimals$}").parse().ok()
}

fn minor(decimal: Decimal, decimals: u32) -> diesel::deserialize::Result<i64> {
    let mut scaled = decimal;
    scaled.rescale(decimals);
    if scaled != decimal || scaled.scale() != decimals {
        return Err(format!("{decimal} has more than {decimals} decimals").into());
    }
    Ok(scaled.mantissa().try_into()?)
}

#[cfg(test)]
mod tests {
    use super::{Money, Quantity, Rate, five_centimes};

    #[test]
    fn an_amount_is_read_and_written_exactly_or_not_at_all() {
        for (text, minor, written) in [
            ("0.1", 10, "0.10"),
            ("-0.05", -5, "-0.05"),
            ("1234.5", 123_450, "1234.50"),
            ("999999999999.99", 99_999_999_999_999, "999999999999.99"),
            ("0", 0, "0.00"),
        ] {
            assert_eq!(Money::parse(text), Some(Money::from_minor(minor)));
            assert_eq!(serde_json::to_string(&Money::from_minor(minor)).unwrap(), written);
        }
        for text in ["1e3", "1.005", "+1", "1.", ".5", "", "-", "92233720368547758.08", "1 000"] {
            assert_eq!(Money::parse(text), None, "{text}");
        }
    }

    #[test]
    fn rates_and_quantities_leave_trailing_zeros_out() {
        assert_eq!(Rate::parse("8.1").unwrap().to_string(), "8.1");
        assert_eq!(Rate::from_minor(1_000_000).to_string(), "100");
        assert_eq!(Quantity::parse("7.25").unwrap().to_string(), "7.25");
    }

    #[test]
    fn products_round_half_up_away_from_zero() {
        let rate = Rate::parse("8.1").unwrap();
        for (amount, vat) in
            [("5.00", "0.41"), ("-5.00", "-0.41"), ("1.05", "0.09"), ("10.50", "0.85")]
        {
            let amount = Money::parse(amount).unwrap();
            assert_eq!(amount.percent(rate).unwrap().to_string(), vat);
        }
        let price = Money::parse("180.00").unwrap();
        assert_eq!(price.times(Quantity::parse("0.333").unwrap()).unwrap().to_string(), "59.94");
        assert_eq!(Money::from_minor(i64::MAX).times(Quantity::parse("2").unwrap()), None);
        for (minutes, worth, hours) in
            [(1, "2.01", "0.017"), (20, "40.20", "0.333"), (95, "190.95", "1.583")]
        {
            assert_eq!(Money::from_minor(12_060).for_minutes(minutes).unwrap().to_string(), worth);
            assert_eq!(Quantity::of_minutes(minutes).unwrap().to_string(), hours);
        }
        assert_eq!(Money::from_minor(30).for_minutes(1), Some(Money::from_minor(1)), "half a cent");
    }

    #[test]
    fn a_payable_amount_in_francs_is_rounded_to_five_centimes() {
        for (exact, rounded) in [
            ("10.02", "10.00"),
            ("10.024", "10.00"),
            ("10.025", "10.05"),
            ("10.03", "10.05"),
            ("10.074", "10.05"),
            ("10.075", "10.10"),
            ("1057.68", "1057.70"),
            ("615.54", "615.55"),
            ("431.53", "431.55"),
            ("-0.02", "0.00"),
            ("-0.03", "-0.05"),
        ] {
            let thousandths = Quantity::parse(exact).unwrap().minor();
            let by_thousandths = five_centimes(thousandths, 50).map(Money::from_minor).unwrap();
            assert_eq!(by_thousandths.to_string(), rounded, "{exact}");
            if let Some(amount) = Money::parse(exact) {
                assert_eq!(amount.to_five_centimes(), Some(by_thousandths), "{exact}");
            }
        }
    }

    #[test]
    fn tax_is_rounded_per_line_or_in_total_and_taken_out_of_a_gross() {
        let rate = Rate::parse("8.1").unwrap();
        let money = |text: &str| Money::parse(text).unwrap();
        let line = money("1.05").percent(rate).unwrap();
        assert_eq!(line.minor() * 10, 90, "ten lines");
        assert_eq!(money("10.50").percent(rate), Some(money("0.85")), "their total");
        assert_eq!(money("108.10").tax_within(rate), Some(money("8.10")));
        assert_eq!(money("100.00").tax_within(rate), Some(money("7.49")));
    }

    #[test]
    fn a_share_is_rounded_and_nothing_has_none() {
        let money = |text: &str| Money::parse(text).unwrap();
        assert_eq!(money("8.10").share(money("1.00"), money("3.00")), Some(money("2.70")));
        assert_eq!(money("0.01").share(money("-1.00"), money("-2.00")), Some(money("0.01")));
        assert_eq!(money("8.10").share(money("1.00"), Money::ZERO), None);
    }
}
