//! The VAT return of a mandate.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checks::{self, Check};
use super::effective::Effective;
use super::explain::VatFigure;
use super::form::FormFigure;
use super::net_rate::NetRate;
use super::period::{Asked, Choice, Period};
use super::queries::Span;
use super::rules::{Sums, plus};
use super::setup::{Activity, CodeBook, Filer, activities};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::error::{Error, Result};
use crate::ids::MandateId;
use crate::ledger::VatPart;
use crate::mandates::VatMethod;
use crate::money::{Currency, Money, Rate};
use crate::registry::ReadTool;
use crate::reports::{Clocks, Figure, KnownOn};
use crate::text::FreeText;

use FormFigure as F;

/// Origins that a figure shows at most, so that an answer stays bounded; `explain_figure` lists all lines.
const MOST_ORIGINS: usize = 8;

/// Get a mandate's VAT return by form figure (200 to 910), effective or at net rates, with the origin of each figure, the
/// due date and the checks before filing; year alone gives the reconciliation of its periods. For the set-up use
/// get_mandate, for the lines of a figure explain_figure. (décompte TVA, impôt préalable / MWST-Abrechnung, Vorsteuer)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetVatReturn {
    /// The mandate.
    mandate_id: MandateId,
    /// The calendar year.
    year: i32,
    /// The quarter, 1 to 4, of a mandate that files by quarter; the whole year by default.
    quarter: Option<u32>,
    /// The half-year, 1 or 2, of a mandate that files by half-year; the whole year by default.
    half: Option<u32>,
    /// The month, 1 to 12, of a mandate that files by month; the whole year by default.
    month: Option<u32>,
    /// What the books said at the end of this day, YYYY-MM-DD, or at a posting, #812; what they say now by default.
    as_known_on: Option<KnownOn>,
}

text_enum! {
    /// What the answer is.
    AnswerKind {
        /// The return of a period.
        Return = "return",
        /// The reconciliation of a year with the returns of its periods.
        Reconciliation = "reconciliation",
    }
}

/// A VAT return.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VatReturn {
    /// The mandate.
    mandate_id: MandateId,
    /// Return or reconciliation.
    kind: AnswerKind,
    /// How VAT is computed.
    method: VatMethod,
    /// The period: `2026`, `2026-H1`, `2026-Q2`, `2026-05`.
    period: String,
    /// Its first day.
    from: Day,
    /// Its last day.
    to: Day,
    /// The last day to file and to pay, or to correct the year.
    due_on: Day,
    /// The last posting that counts; give it as `as_known_on` to get the same return again.
    as_known_on: KnownOn,
    /// The same for the same arguments at the same clock, as is the answer but for `now` and names.
    report_id: String,
    /// The currency of all amounts.
    currency: Currency,
    /// The figures of the form.
    figures: Vec<FormRow>,
    /// The turnover of each activity at its net rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    annex: Vec<AnnexRow>,
    /// The returns of the periods of a reconciled year.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    periods: Vec<PeriodRow>,
    /// What must hold, and whether it does.
    checks: Vec<Check>,
    /// What is true at this moment, not at the clock: no part of what `report_id` promises.
    now: Now,
}

/// What is true at this moment.
#[derive(Debug, Serialize, JsonSchema)]
struct Now {
    /// What must hold before filing, and whether it does.
    checks: Vec<Check>,
}

/// A figure of the form.
#[derive(Debug, Serialize, JsonSchema)]
struct FormRow {
    /// The figure's number on the form.
    number: FormFigure,
    /// Its label.
    label: &'static str,
    /// The taxed amount; at net rates with the tax in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<Money>,
    /// The rate in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_percent: Option<Rate>,
    /// The amount: consideration, or tax where there is a taxed amount and from 399 to 510.
    amount: Money,
    /// How it is computed from other figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// How many entry lines it is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<i64>,
    /// Codes and accounts it comes from, the first eight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    origin: Vec<Origin>,
    /// Give it to explain_figure.
    figure: Figure,
}

/// Where a figure comes from.
#[derive(Debug, Serialize, JsonSchema)]
struct Origin {
    /// The VAT code.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<FreeText>,
    /// Its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    code_label: Option<FreeText>,
    /// The account's number.
    account: FreeText,
    /// Taxed amount or tax.
    part: VatPart,
    /// What it adds to the figure.
    amount: Money,
    /// How many entry lines that is.
    lines: i64,
}

/// Turnover of an activity.
#[derive(Debug, Serialize, JsonSchema)]
struct AnnexRow {
    /// The figure's number on the form.
    number: FormFigure,
    /// The activity's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<FreeText>,
    /// What the activity is.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<FreeText>,
    /// The net rate in per cent.
    rate_percent: Rate,
    /// The turnover with the tax in it.
    base: Money,
    /// The tax: turnover times rate.
    amount: Money,
    /// How many entry lines the turnover is made of.
    lines: i64,
    /// Give it to explain_figure.
    figure: Figure,
}

/// The return of one period of a reconciled year.
#[derive(Debug, Serialize, JsonSchema)]
struct PeriodRow {
    /// The period.
    period: String,
    /// When its return was due.
    due_on: Day,
    /// Figure 200.
    turnover: Money,
    /// Figure 299.
    taxable: Money,
    /// Figure 399.
    tax_due: Money,
    /// Figure 479.
    input_tax: Money,
    /// Figure 500, or 510 as a negative amount.
    payable: Money,
}

/// The figures of the form, in its order.
const FORM: &[FormFigure] = &[
    F::Turnover,
    F::Opted,
    F::Exports,
    F::Abroad,
    F::Notification,
    F::Exempt,
    F::Reductions,
    F::OtherDeductions,
    F::Deductions,
    F::Taxable,
    F::Normal2023,
    F::Normal,
    F::Reduced2023,
    F::Reduced,
    F::Accommodation2023,
    F::Accommodation,
    F::NetRate2023,
    F::NetRate,
    F::SecondNetRate2023,
    F::SecondNetRate,
    F::Acquisition2023,
    F::Acquisition,
    F::TaxDue,
    F::InputMaterial,
    F::InputOther,
    F::Relief,
    F::InputCorrection,
    F::InputReduction,
    F::InputTax,
    F::Payable,
    F::Credit,
    F::Subsidies,
    F::Gifts,
];

/// Whether a return shows a figure whose sums are nought.
fn is_always_shown(figure: FormFigure, method: VatMethod, outcome: FormFigure) -> bool {
    match figure {
        F::Normal2023
        | F::Reduced2023
        | F::Accommodation2023
        | F::Acquisition2023
        | F::NetRate2023
        | F::SecondNetRate2023
        | F::SecondNetRate => false,
        F::Payable | F::Credit => figure == outcome,
        F::NetRate => method == VatMethod::NetRate,
        F::Opted
        | F::Normal
        | F::Reduced
        | F::Accommodation
        | F::InputMaterial
        | F::InputOther
        | F::Relief
        | F::InputCorrection
        | F::InputReduction
        | F::InputTax => method == VatMethod::Effective,
        _ => true,
    }
}

/// What was found in the books, by either method.
enum Found {
    Effective(Effective),
    NetRate(NetRate),
}

impl Found {
    const fn sums(&self) -> &Sums {
        match self {
            Self::Effective(found) => &found.sums,
            Self::NetRate(found) => &found.sums,
        }
    }
}

/// Everything that the figures of one return are computed with.
struct Desk {
    filer: Filer,
    codes: CodeBook,
    activities: Vec<Activity>,
}

impl Desk {
    fn of(scope: &mut Read<'_>, filer: Filer) -> Result<Self> {
        let codes = CodeBook::of(scope)?;
        let activities = match filer.method {
            VatMethod::NetRate => activities(scope, &filer)?,
            _ => vec![],
        };
        Ok(Self { filer, codes, activities })
    }

    fn find(&self, scope: &mut Read<'_>, span: Span) -> Result<Found> {
        Ok(match self.filer.method {
            VatMethod::NetRate => {
                Found::NetRate(NetRate::of(scope, span, &self.codes, &self.activities)?)
            }
            _ => Found::Effective(Effective::of(scope, span, &self.codes)?),
        })
    }

    fn checks(&self, scope: &mut Read<'_>, span: Span, found: &Found) -> Result<checks::Checks> {
        let Self { filer, codes, .. } = self;
        match found {
            Found::Effective(found) => checks::of_effective(scope, filer, span, codes, found),
            Found::NetRate(found) => checks::of_net_rate(scope, filer, span, codes, found),
        }
    }

    fn figures(&self, scope: &Read<'_>, span: Span, found: &Found) -> Result<Vec<FormRow>> {
        let (sums, method) = (found.sums(), self.filer.method);
        let (mut origins, outcome) = (self.origins(found)?, sums.outcome()?);
        let mut rows = vec![];
        for number in FORM.iter().copied() {
            let (amount, base) = (sums.amount(number)?, sums.base(number));
            let of = origins.remove(&number).unwrap_or_default();
            let is_moved = number.terms().is_empty() && !of.is_empty();
            if !is_moved && !is_always_shown(number, method, outcome) {
                continue;
            }
            let is_computed = !number.terms().is_empty();
            let lines = of.iter().map(|origin| origin.lines).sum();
            rows.push(FormRow {
                number,
                label: number.label(scope.caller().language()),
                base: number.has_base().then_some(base),
                rate_percent: self.codes.percent_of(number),
                amount,
                rule: is_computed.then(|| number.rule()),
                lines: (!is_computed).then_some(lines),
                origin: of.into_iter().take(MOST_ORIGINS).collect(),
                figure: scope.figure(&VatFigure { span, method, number, activity: None })?,
            });
        }
        Ok(rows)
    }

    /// Codes and accounts of each figure that postings make.
    fn origins(&self, found: &Found) -> Result<BTreeMap<FormFigure, Vec<Origin>>> {
        type Key = (FormFigure, Option<String>, String, VatPart);
        let mut sums: BTreeMap<Key, (Money, i64)> = BTreeMap::new();
        let mut add = |key, amount, lines| -> Result<()> {
            let sum = sums.entry(key).or_default();
            (sum.0, sum.1) = (plus(sum.0, amount)?, sum.1 + lines);
            Ok(())
        };
        match found {
            Found::Effective(found) => {
                for one in &found.contributions {
                    let (figure, part) = one.leaf;
                    let (code, account) = (one.group.code.clone(), one.group.account.clone());
                    add((figure, Some(code), account, part), one.amount, one.group.lines)?;
                }
            }
            Found::NetRate(found) => {
                for one in &found.contributions {
                    let Some(line) = found.lines.get(one.line) else { continue };
                    let (figure, part) = one.leaf;
                    let (code, account) = (line.code.clone(), line.account.clone());
                    add((figure, code, account, part), one.amount, 1)?;
                }
            }
        }
        let mut origins: BTreeMap<FormFigure, Vec<Origin>> = BTreeMap::new();
        for ((figure, code, account, part), (amount, lines)) in sums {
            let known = code.as_deref().and_then(|code| self.codes.code(code));
            let code_label = known.map(|code| code.label.as_str().into());
            let (code, account) = (code.map(Into::into), account.into());
            let origin = Origin { code, code_label, account, part, amount, lines };
            origins.entry(figure).or_default().push(origin);
        }
        Ok(origins)
    }

    fn annex(&self, scope: &Read<'_>, span: Span, found: &Found) -> Result<Vec<AnnexRow>> {
        let Found::NetRate(found) = found else { return Ok(vec![]) };
        let row = |((number, code, rate), (base, amount, lines)): (&super::net_rate::Row, &_)| {
            let activity = Some((code.clone(), rate.minor()));
            let source = VatFigure { span, method: self.filer.method, number: *number, activity };
            let label = self.activities.iter().find(|one| one.code == *code);
            let text = |text: &str| (!text.is_empty()).then(|| FreeText::from(text));
            Ok(AnnexRow {
                number: *number,
                activity: text(code),
                label: label.and_then(|one| text(&one.label)),
                rate_percent: *rate,
                base: *base,
                amount: *amount,
                lines: *lines,
                figure: scope.figure(&source)?,
            })
        };
        found.rows.iter().map(row).collect()
    }
}

impl ReadTool for GetVatReturn {
    const NAME: &'static str = "get_vat_return";
    const PERMISSION: Permission = Permission::VatRead;
    const WEIGHT: u32 = 3;
    type Output = VatReturn;

    fn example() -> Self {
        Self {
            mandate_id: crate::demo::ids::example_mandate(),
            year: 2026,
            quarter: Some(2),
            half: None,
            month: None,
            as_known_on: None,
        }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<VatReturn> {
        let filer = Filer::of(scope, self.mandate_id)?;
        let Self { year, quarter, half, month, .. } = self;
        let choice = filer.choose(&Asked { year, quarter, half, month })?;
        let (period, kind, parts) = match choice {
            Choice::One(period) => (period, AnswerKind::Return, vec![]),
            Choice::Year(year, kind) => {
                (year, AnswerKind::Reconciliation, Period::all(kind, self.year)?)
            }
        };
        if period.from > scope.today() {
            let label = period.label();
            let said = format!("{label} has not begun; today is {}", scope.today());
            return Err(Error::argument("year", said));
        }
        let clocks = Clocks::of(scope, Some(period.to), self.as_known_on)?;
        let (mandate, commit) = (self.mandate_id, clocks.known.commit);
        let span = Span::new(mandate, period.from, period.to, commit);
        let desk = Desk::of(scope, filer)?;
        let found = desk.find(scope, span)?;
        let mut checks = desk.checks(scope, span, &found)?;
        let mut periods = vec![];
        if !parts.is_empty() {
            let mut sums = vec![];
            for part in &parts {
                let part_span = Span::new(mandate, part.from, part.to, commit);
                let found = desk.find(scope, part_span)?;
                periods.push(period_row(part, found.sums())?);
                sums.push(found.sums().clone());
            }
            let coded = match &found {
                Found::Effective(found) => Some(checks::coded_revenue(found)?),
                Found::NetRate(_) => None,
            };
            checks::of_year(scope, &mut checks, span, (found.sums(), &sums), coded)?;
        }
        let is_year = kind == AnswerKind::Reconciliation;
        Ok(VatReturn {
            mandate_id: mandate,
            kind,
            method: desk.filer.method,
            period: period.label(),
            from: period.from,
            to: period.to,
            due_on: if is_year { period.reconciled_by() } else { period.due_on() },
            as_known_on: clocks.known.written(),
            report_id: scope.report_id(&self, clocks)?,
            currency: desk.filer.currency,
            figures: desk.figures(scope, span, &found)?,
            annex: desk.annex(scope, span, &found)?,
            periods,
            now: Now { checks: vec![checks.is_closed(scope, span)?] },
            checks: checks.list,
        })
    }
}

fn period_row(period: &Period, sums: &Sums) -> Result<PeriodRow> {
    Ok(PeriodRow {
        period: period.label(),
        due_on: period.due_on(),
        turnover: sums.amount(F::Turnover)?,
        taxable: sums.amount(F::Taxable)?,
        tax_due: sums.amount(F::TaxDue)?,
        input_tax: sums.amount(F::InputTax)?,
        payable: sums.amount(F::Payable)?,
    })
}
