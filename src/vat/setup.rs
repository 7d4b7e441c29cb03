//! The set-up of VAT: the codes and rates of a firm, and how a mandate files.

use diesel::prelude::*;

use super::form::FormFigure;
use super::period::Asked;
use super::rules::CodeRule;
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::{ledgers, mandates, vat_activities, vat_code_rates, vat_codes};
use crate::error::{Code, Error, Result};
use crate::ids::MandateId;
use crate::language::Labels;
use crate::mandates::{VatMethod, VatPeriod};
use crate::money::{Currency, Rate};

/// Codes and rates at most, more than any firm has.
const MOST_CODES: i64 = 500;

/// A code with its label in the language of the caller.
#[derive(Debug, Clone)]
pub(super) struct LabelledCode {
    pub(super) rule: CodeRule,
    pub(super) label: String,
}

/// A rate of a code, and the days of supply for which it holds.
#[derive(Debug, Clone, Queryable)]
pub(super) struct CodeRate {
    pub(super) code: String,
    pub(super) valid_from: Day,
    pub(super) valid_to: Option<Day>,
    pub(super) percent: Rate,
    pub(super) figure: Option<FormFigure>,
}

/// The codes of a firm and their rates.
#[derive(Debug)]
pub(super) struct CodeBook {
    pub(super) codes: Vec<LabelledCode>,
    pub(super) rates: Vec<CodeRate>,
}

impl CodeBook {
    /// Reads them.
    pub(super) fn of(scope: &mut Read<'_>) -> Result<Self> {
        let language = scope.caller().language();
        let labels = (vat_codes::label_fr, vat_codes::label_de, vat_codes::label_en);
        let codes = scope.rows(vat_codes::table).order(vat_codes::code);
        let codes: Vec<(CodeRule, Labels)> =
            scope.load(codes.select((CodeRule::as_select(), labels)).at_most(MOST_CODES))?;
        let labelled = |(rule, labels)| LabelledCode { rule, label: language.pick(labels) };
        let columns = (
            vat_code_rates::code,
            vat_code_rates::valid_from,
            vat_code_rates::valid_to,
            vat_code_rates::rate_percent,
            vat_code_rates::tax_figure,
        );
        let rates = scope
            .rows(vat_code_rates::table)
            .order((vat_code_rates::code, vat_code_rates::valid_from));
        let rates = scope.load(rates.select(columns).at_most(MOST_CODES))?;
        Ok(Self { codes: codes.into_iter().map(labelled).collect(), rates })
    }

    /// The code of that name.
    pub(super) fn code(&self, code: &str) -> Option<&LabelledCode> {
        self.codes.iter().find(|known| known.rule.code == code)
    }

    /// The figure of the tax of a code at the rate that began on a day.
    pub(super) fn tax_figure(&self, code: &str, rate_from: Option<Day>) -> Option<FormFigure> {
        let mut rates = self.rates.iter().filter(|rate| rate.code == code);
        rates.find(|rate| Some(rate.valid_from) == rate_from)?.figure
    }

    /// The rate whose tax goes to a figure.
    pub(super) fn percent_of(&self, figure: FormFigure) -> Option<Rate> {
        self.rates.iter().find(|rate| rate.figure == Some(figure)).map(|rate| rate.percent)
    }
}

/// How a mandate that is liable to VAT files it.
#[derive(Debug)]
pub(super) struct Filer {
    pub(super) mandate: MandateId,
    pub(super) method: VatMethod,
    pub(super) period: VatPeriod,
    pub(super) net_rate: Option<Rate>,
    pub(super) currency: Currency,
}

impl Filer {
    /// Reads how a mandate files.
    ///
    /// # Errors
    /// There is no such mandate within reach, it is not liable to VAT, or its books are not kept here.
    pub(super) fn of(scope: &mut Read<'_>, mandate: MandateId) -> Result<Self> {
        type Row = (VatMethod, Option<VatPeriod>, Option<Rate>);
        let columns = (mandates::vat_method, mandates::vat_period, mandates::vat_net_rate);
        let this = scope.rows(mandates::table).filter(mandates::id.eq(mandate));
        let (method, period, net_rate): Row = scope.one("mandate", this.select(columns))?;
        let usual = match method {
            VatMethod::NotLiable => {
                let said = "this mandate is not liable to VAT and files no return; get_mandate shows its VAT set-up";
                return Err(Error::refuse(Code::Conflict, said));
            }
            VatMethod::Effective => VatPeriod::Quarter,
            VatMethod::NetRate => VatPeriod::Half,
        };
        let ledger = scope.rows(ledgers::table).filter(ledgers::mandate_id.eq(mandate));
        let currency: Vec<Currency> = scope.load(ledger.select(ledgers::currency).at_most(1))?;
        let currency = currency.first().copied().ok_or_else(|| {
            let said = "the books of this mandate are not kept here, so that its VAT return cannot be computed";
            Error::refuse(Code::Conflict, said)
        })?;
        Ok(Self { mandate, method, period: period.unwrap_or(usual), net_rate, currency })
    }

    /// The period that the arguments ask for.
    pub(super) fn choose(&self, asked: &Asked) -> Result<super::period::Choice> {
        asked.choose(self.period)
    }
}

/// An activity of a mandate and its net rate, on the days of supply for which it was granted.
#[derive(Debug, Clone, Queryable)]
pub(super) struct Activity {
    pub(super) code: String,
    pub(super) label: String,
    pub(super) rate: Rate,
    pub(super) valid_from: Day,
    pub(super) valid_to: Option<Day>,
}

/// The activities of a mandate with net rates; the mandate's own rate stands for the only one of which nothing is written
/// down.
pub(super) fn activities(scope: &mut Read<'_>, filer: &Filer) -> Result<Vec<Activity>> {
    let columns = (
        vat_activities::code,
        vat_activities::label,
        vat_activities::net_rate_percent,
        vat_activities::valid_from,
        vat_activities::valid_to,
    );
    let all = scope.rows(vat_activities::table);
    let all = all.filter(vat_activities::mandate_id.eq(filer.mandate));
    let all = all.order((vat_activities::code, vat_activities::valid_from));
    let found: Vec<Activity> = scope.load(all.select(columns).at_most(MOST_CODES))?;
    Ok(match filer.net_rate {
        Some(rate) if found.is_empty() => vec![Activity {
            code: String::new(),
            label: String::new(),
            rate,
            valid_from: Day::FIRST,
            valid_to: None,
        }],
        _ => found,
    })
}
