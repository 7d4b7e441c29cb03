//! The VAT codes and rates of a firm, for who wants to read the rules.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;

use super::form::FormFigure;
use super::kinds::Direction;
use super::setup::{CodeBook, CodeRate, LabelledCode};
use crate::dates::Day;
use crate::db::Read;
use crate::error::Result;
use crate::money::Rate;
use crate::text::FreeText;

/// Value added tax.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VatRules {
    /// The firm's codes.
    codes: Vec<KnownCode>,
    /// The net rates, in per cent, that may be granted for an activity.
    net_rates_percent: Vec<Rate>,
}

/// A VAT code.
#[derive(Debug, Serialize, JsonSchema)]
struct KnownCode {
    /// The code.
    code: FreeText,
    /// Its label.
    label: FreeText,
    /// What it does.
    direction: Direction,
    /// The figures of the return form that its amounts go to, beside that of the tax.
    figures: Vec<FormFigure>,
    /// Its rates, by day of supply.
    rates: Vec<KnownRate>,
}

/// A rate of a VAT code.
#[derive(Debug, Serialize, JsonSchema)]
struct KnownRate {
    /// The first day of supply.
    valid_from: Day,
    /// The last day of supply; none as long as it is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<Day>,
    /// The rate in per cent.
    rate_percent: Rate,
    /// The figure of the return form that the tax goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    tax_figure: Option<FormFigure>,
}

static NET_RATES: LazyLock<Vec<Rate>> = LazyLock::new(|| {
    let text = include_str!("../../fixtures/rules/net_rates.json");
    serde_json::from_str(text).unwrap_or_else(|error| {
        unreachable!(
            "fixtures/rules/net_rates.json is part of the program and tested with it: {error}"
        )
    })
});

impl VatRules {
    /// Reads them, labelled in the language of the caller.
    ///
    /// # Errors
    /// The database is away.
    pub(crate) fn of(scope: &mut Read<'_>) -> Result<Self> {
        let codes = CodeBook::of(scope)?;
        let codes = codes.codes.iter().map(|code| known(code, &codes.rates)).collect();
        Ok(Self { codes, net_rates_percent: NET_RATES.clone() })
    }
}

fn known(code: &LabelledCode, rates: &[CodeRate]) -> KnownCode {
    let LabelledCode { rule, label } = code;
    let figures =
        [rule.turnover_figure, rule.opted_figure, rule.deduction_figure, rule.input_figure];
    let rates = rates.iter().filter(|rate| rate.code == rule.code).map(|rate| KnownRate {
        valid_from: rate.valid_from,
        valid_to: rate.valid_to,
        rate_percent: rate.percent,
        tax_figure: rate.figure,
    });
    KnownCode {
        code: rule.code.as_str().into(),
        label: label.as_str().into(),
        direction: rule.direction,
        figures: figures.into_iter().flatten().collect(),
        rates: rates.collect(),
    }
}
