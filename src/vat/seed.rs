//! The VAT codes that every firm starts with, and the rates that each of them has had.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diesel::prelude::*;
use serde::Deserialize;

use super::form::FormFigure;
use super::kinds::Direction;
use crate::dates::Day;
use crate::db::connection::AnyConnection;
use crate::db::schema::{vat_code_rates, vat_codes};
use crate::error::{Error, Result};
use crate::ids::TenantId;
use crate::money::Rate;

/// The codes and rates as they are written down.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    rates: BTreeMap<String, Vec<Period>>,
    codes: Vec<SeededCode>,
}

/// A rate and the days of supply for which it is the one, both included.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Period {
    from: Day,
    #[serde(default)]
    to: Option<Day>,
    percent: Rate,
    #[serde(default)]
    figure: Option<FormFigure>,
}

/// A code: where its amounts go on the form, and the name of its rate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeededCode {
    code: String,
    direction: Direction,
    rate: String,
    #[serde(default)]
    turnover: Option<FormFigure>,
    #[serde(default)]
    opted: Option<FormFigure>,
    #[serde(default)]
    deduction: Option<FormFigure>,
    #[serde(default)]
    input: Option<FormFigure>,
    fr: String,
    de: String,
    en: String,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let text = include_str!("../../fixtures/rules/vat_codes.json");
    serde_json::from_str(text).unwrap_or_else(|error| {
        unreachable!(
            "fixtures/rules/vat_codes.json is part of the program and tested with it: {error}"
        )
    })
});

/// Gives a new firm its VAT codes with their rates.
pub(crate) fn seed_vat_codes(connection: &mut AnyConnection, tenant: TenantId) -> Result<()> {
    for code in &RULES.codes {
        let row = (
            vat_codes::tenant_id.eq(tenant),
            vat_codes::code.eq(&code.code),
            vat_codes::label_fr.eq(&code.fr),
            vat_codes::label_de.eq(&code.de),
            vat_codes::label_en.eq(&code.en),
            vat_codes::direction.eq(code.direction),
            vat_codes::turnover_figure.eq(code.turnover),
            vat_codes::opted_figure.eq(code.opted),
            vat_codes::deduction_figure.eq(code.deduction),
            vat_codes::input_figure.eq(code.input),
        );
        diesel::insert_into(vat_codes::table).values(row).execute(connection)?;
        seed_rates(connection, tenant, code)?;
    }
    Ok(())
}

fn seed_rates(connection: &mut AnyConnection, tenant: TenantId, code: &SeededCode) -> Result<()> {
    let missing = || Error::fault(format!("VAT code {} has no rate {}", code.code, code.rate));
    let is_due = code.direction != Direction::Input;
    for period in RULES.rates.get(&code.rate).ok_or_else(missing)? {
        let row = (
            vat_code_rates::tenant_id.eq(tenant),
            vat_code_rates::code.eq(&code.code),
            vat_code_rates::valid_from.eq(period.from),
            vat_code_rates::valid_to.eq(period.to),
            vat_code_rates::rate_percent.eq(period.percent),
            vat_code_rates::tax_figure.eq(period.figure.filter(|_| is_due)),
        );
        diesel::insert_into(vat_code_rates::table).values(row).execute(connection)?;
    }
    Ok(())
}

/// The codes as rules, without a database.
#[cfg(test)]
pub(super) fn code_rules() -> Vec<super::rules::CodeRule> {
    let rule = |code: &SeededCode| super::rules::CodeRule {
        code: code.code.clone(),
        direction: code.direction,
        turnover_figure: code.turnover,
        opted_figure: code.opted,
        deduction_figure: code.deduction,
        input_figure: code.input,
    };
    RULES.codes.iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::{Direction, RULES};

    #[test]
    fn every_code_has_a_rate_and_rates_follow_one_another_without_a_gap() {
        for code in &RULES.codes {
            let rates = &RULES.rates[&code.rate];
            assert!(rates.last().is_some_and(|last| last.to.is_none()), "{}", code.code);
            for pair in rates.windows(2) {
                assert_eq!(pair[0].to.map(|to| to.plus_days(1)), Some(pair[1].from));
            }
            let is_taxed = rates.iter().all(|rate| rate.figure.is_some());
            assert_eq!(is_taxed, rates.iter().all(|rate| rate.percent > crate::money::Rate::ZERO));
            assert_eq!(
                code.input.is_some(),
                matches!(code.direction, Direction::Input | Direction::Acquisition)
            );
        }
    }
}
