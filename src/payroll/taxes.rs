//! Withholding tax (impôt à la source, Quellensteuer): what the loaded tariffs say, and that one is missing.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::{tax_settings, withholding_tariffs};
use crate::error::Result;
use crate::ids::EmployeeId;
use crate::money::{Money, Rate};

text_enum! {
    /// Whether tax was withheld from a salary.
    TaxStatus {
        /// The rate was read from a loaded tariff.
        Withheld = "withheld",
        /// No tariff of the canton and year is loaded: the tax is not known, which is not the same as nil.
        TariffMissing = "tariff_missing",
    }
}

/// The withholding tax of a payslip.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WithholdingTax {
    /// The canton.
    canton: String,
    /// The tariff: letter, children, church.
    tariff_code: String,
    /// Whether it could be computed.
    status: TaxStatus,
    /// The tariff's rate for this salary in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_percent: Option<Rate>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// The withholding tax of an employee for a month that ends on `last` with this salary; none for who is not taxed at the source.
pub(super) fn withholding(
    scope: &mut Read<'_>,
    employee: EmployeeId,
    last: Day,
    income: Money,
) -> Result<Option<WithholdingTax>> {
    let settings = scope
        .rows(tax_settings::table)
        .filter(tax_settings::employee_id.eq(employee))
        .filter(tax_settings::valid_from.le(last))
        .order(tax_settings::valid_from.desc())
        .select((tax_settings::canton, tax_settings::tariff_code))
        .at_most(1);
    let found: Vec<(String, String)> = scope.load(settings)?;
    let Some((canton, tariff_code)) = found.into_iter().next() else { return Ok(None) };
    let rate = rate(scope, (&canton, &tariff_code), last.year(), income)?;
    let status = if rate.is_some() { TaxStatus::Withheld } else { TaxStatus::TariffMissing };
    let year = last.year();
    let note = rate.is_none().then(|| {
        format!(
            "no tariff {tariff_code} of {canton} for {year} is loaded: the tax of this month is not known, and the net salary is \
             before it; load the canton's tariff file and prepare the payslip again"
        )
    });
    Ok(Some(WithholdingTax { canton, tariff_code, status, rate_percent: rate, note }))
}

/// The rate of the newest version of a tariff for an income.
fn rate(
    scope: &mut Read<'_>,
    (canton, tariff_code): (&str, &str),
    year: i32,
    income: Money,
) -> Result<Option<Rate>> {
    let brackets = scope
        .rows(withholding_tariffs::table)
        .filter(withholding_tariffs::canton.eq(canton.to_owned()))
        .filter(withholding_tariffs::year.eq(year))
        .filter(withholding_tariffs::tariff_code.eq(tariff_code.to_owned()))
        .filter(withholding_tariffs::income_from.le(income))
        .order((withholding_tariffs::version.desc(), withholding_tariffs::income_from.desc()))
        .select(withholding_tariffs::rate_percent)
        .at_most(1);
    Ok(scope.load(brackets)?.into_iter().next())
}
