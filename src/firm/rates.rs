//! The rates that figures are computed with, and the days for which they hold.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::{exchange_rates, firms};
use crate::error::Result;
use crate::money::{Currency, ExchangeRate};
use crate::payroll::rules::{SocialInsurance, social_insurance};
use crate::registry::ReadTool;
use crate::vat::VatRules;

/// The rates that figures are computed with: VAT codes and their rates with the days for which they hold, net rates,
/// federal social insurance, and the firm's exchange rates in force today.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rates {}

/// Rates.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct KnownRates {
    /// The day of the exchange rates.
    as_of: Day,
    /// Value added tax.
    vat: VatRules,
    /// Federal social insurance, oldest first; what is agreed with an insurer is not here.
    social_insurance: Vec<SocialInsurance>,
    /// What a unit of a currency is worth in that of the firm's books: the newest rate of each source.
    exchange_rates: Vec<KnownExchangeRate>,
}

text_enum! {
    /// What an exchange rate is good for.
    ExchangeSource {
        /// The rate of a day.
        Daily = "daily",
        /// The average of a month, for VAT.
        MonthlyAverage = "monthly_average",
        /// The rate at which balances are valued.
        Closing = "closing",
    }
}

/// An exchange rate.
#[derive(Debug, Serialize, JsonSchema)]
struct KnownExchangeRate {
    /// The foreign currency.
    currency: Currency,
    /// The currency of the firm's books.
    book_currency: Currency,
    /// What it is good for.
    source: ExchangeSource,
    /// The day from which it holds.
    valid_on: Day,
    /// What one unit is worth.
    rate: ExchangeRate,
}

impl ReadTool for Rates {
    const NAME: &'static str = "rates";
    const PERMISSION: Permission = Permission::Present;
    type Output = KnownRates;

    fn example() -> Self {
        Self {}
    }

    fn run(self, scope: &mut Read<'_>) -> Result<KnownRates> {
        let as_of = scope.today();
        let book_currency = scope.one("firm", scope.rows(firms::table).select(firms::currency))?;
        let mut exchange_rates = vec![];
        for currency in Currency::ALL.iter().filter(|currency| **currency != book_currency) {
            for source in ExchangeSource::ALL {
                let newest = newest(scope, *currency, *source, as_of)?;
                exchange_rates.extend(newest.map(|(valid_on, rate)| KnownExchangeRate {
                    currency: *currency,
                    book_currency,
                    source: *source,
                    valid_on,
                    rate,
                }));
            }
        }
        Ok(KnownRates {
            as_of,
            vat: VatRules::of(scope)?,
            social_insurance: social_insurance(),
            exchange_rates,
        })
    }
}

/// The newest rate of a source up to a day.
fn newest(
    scope: &mut Read<'_>,
    currency: Currency,
    source: ExchangeSource,
    until: Day,
) -> Result<Option<(Day, ExchangeRate)>> {
    let rates = scope
        .rows(exchange_rates::table)
        .filter(exchange_rates::currency.eq(currency))
        .filter(exchange_rates::source.eq(source))
        .filter(exchange_rates::valid_on.le(until))
        .order(exchange_rates::valid_on.desc())
        .select((exchange_rates::valid_on, exchange_rates::rate));
    Ok(scope.load(rates.at_most(1))?.pop())
}
