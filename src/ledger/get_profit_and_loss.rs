//! The income statement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AccountKind;
use super::balances::{Of, Turnovers, added, movements, total};
use super::books::{Account, FiscalYear, Ledger, chart};
use super::figures::{Fitting, Handles, Shape};
use super::present::Now;
use super::proof::{at_level, kept, said_of_level};
use super::report_lines::{Compared, Item, ReportSection, Results, Terms};
use crate::auth::Permission;
use crate::dates::{Day, a_year_earlier};
use crate::db::Read;
use crate::error::{Error, Result};
use crate::ids::{FiscalYearId, MandateId};
use crate::money::{Currency, Money};
use crate::registry::ReadTool;
use crate::reports::{Clocks, Control, KnownOn};

/// Get the profit and loss of a mandate: income less expense by section and account, and the result, which equals that on
/// the balance sheet (get_balance_sheet). For what the firm invoiced use get_revenue.
/// (compte de résultat, pertes et profits / Erfolgsrechnung)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetProfitAndLoss {
    /// The mandate.
    mandate_id: MandateId,
    /// The fiscal year; by default the one that contains `to`, or today.
    fiscal_year_id: Option<FiscalYearId>,
    /// The first day; that of the fiscal year by default.
    from: Option<Day>,
    /// The last day; by default today, or the end of a year that is over.
    to: Option<Day>,
    /// Compares with the year before; not by default.
    compare: Option<bool>,
    /// What the books said on this day, or at a posting such as #812; what they say now by default.
    as_known_on: Option<KnownOn>,
}

/// A profit and loss. Amounts are what they add to the result: income is positive, expense negative.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProfitAndLoss {
    /// The mandate.
    mandate_id: MandateId,
    /// The fiscal year.
    fiscal_year: FiscalYear,
    /// The first day.
    from: Day,
    /// The last day.
    to: Day,
    /// The days it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared_with: Option<Days>,
    /// The last posting that counts.
    as_known_on: KnownOn,
    /// The same for the same arguments at the same clocks, as is the answer but for `now` and names.
    report_id: String,
    /// The currency of every amount.
    currency: Currency,
    /// What differs from what was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The sections that have an amount.
    sections: Vec<ResultSection>,
    /// Income less expense, entries that close the year left out.
    result: Compared,
    /// Identities, and whether each holds.
    controls: Vec<Control>,
    /// What is true at this moment, not at the clocks: no part of what `report_id` promises.
    now: Now,
}

/// The days of a period.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
struct Days {
    /// The first.
    from: Day,
    /// The last.
    to: Day,
}

/// A section and the result down to it.
#[derive(Debug, Serialize, JsonSchema)]
struct ResultSection {
    /// Its lines and their sum.
    #[serde(flatten)]
    section: ReportSection,
    /// The sum of this section and those above.
    result_so_far: Money,
}

impl ReadTool for GetProfitAndLoss {
    const NAME: &'static str = "get_profit_and_loss";
    const PERMISSION: Permission = Permission::LedgerRead;
    const WEIGHT: u32 = 3;
    type Output = ProfitAndLoss;

    fn example() -> Self {
        Self {
            mandate_id: crate::demo::ids::example_ledger_mandate(),
            fiscal_year_id: None,
            from: None,
            to: None,
            compare: Some(true),
            as_known_on: None,
        }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<ProfitAndLoss> {
        let ledger = Ledger::of(scope, self.mandate_id)?;
        let today = scope.today();
        let year =
            FiscalYear::chosen(scope, &ledger, self.fiscal_year_id, self.to.unwrap_or(today))?;
        let to = year.until(self.to, today)?;
        let days = Days { from: self.from.unwrap_or(year.starts_on), to };
        if days.from > days.to {
            let said = format!("from ({}) is after the last day ({to})", days.from);
            return Err(Error::argument("from", said));
        }
        let clocks = Clocks::of(scope, Some(to), self.as_known_on)?;
        let before = match self.compare {
            Some(true) => Some(previous(scope, &ledger, &year, days)?),
            _ => None,
        };
        let of = Of { ledger: &ledger, account: None, known: clocks.known };
        let chart = chart(scope, ledger.mandate)?;
        let now = Statement::of(scope, of, &chart, days)?;
        let past = before.map(|days| Statement::of(scope, of, &chart, days)).transpose()?;
        Report { asked: self, of, clocks, year, chart: &chart, now, past }.answer(scope)
    }
}

/// The days to compare with: the whole fiscal year before for a whole one, else the same days a year earlier, as far as they lie
/// before the year.
fn previous(scope: &mut Read<'_>, ledger: &Ledger, year: &FiscalYear, days: Days) -> Result<Days> {
    let (from, to) = a_year_earlier(days.from, days.to);
    if days.from != year.starts_on {
        return Ok(Days { from, to });
    }
    let eve = year.starts_on.minus_days(1);
    let before = FiscalYear::begun_by(scope, ledger, eve)?;
    Ok(match before {
        Some(starts_on) if days.to == year.ends_on => Days { from: starts_on, to: eve },
        _ => Days { from, to: to.min(eve) },
    })
}

/// The result of a period and what it was computed from.
struct Statement {
    days: Days,
    results: Results,
    until: Turnovers,
    debit: Money,
    credit: Money,
}

impl Statement {
    fn of(scope: &mut Read<'_>, of: Of<'_>, chart: &[Account], days: Days) -> Result<Self> {
        let before = of.until(scope, days.from.minus_days(1))?;
        let until = of.until(scope, days.to)?;
        let moved = movements(&before, &until);
        let results = Results::of(scope, of, chart, (days.from, days.to), &moved)?;
        let (mut debit, mut credit) = (Money::ZERO, Money::ZERO);
        for movement in moved.values().flatten() {
            let within = movement.within()?;
            debit = added(debit, within.debit)?;
            credit = added(credit, within.credit)?;
        }
        Ok(Self { days, results, until, debit, credit })
    }

    fn terms(&self) -> (Shape, Day) {
        (Shape::Result { from: self.days.from.into() }, self.days.to)
    }
}

/// A report on its way.
struct Report<'l> {
    asked: GetProfitAndLoss,
    of: Of<'l>,
    clocks: Clocks,
    year: FiscalYear,
    chart: &'l [Account],
    now: Statement,
    past: Option<Statement>,
}

impl Report<'_> {
    /// The accounts that have an amount, now or before.
    fn items(&self) -> Vec<Item<'_>> {
        let of = |results: &Results, account: &Account| {
            results.by_account.get(&account.id).copied().unwrap_or_default()
        };
        let item = |account| Item {
            account,
            amount: of(&self.now.results, account),
            previous: self.past.as_ref().map_or(Money::ZERO, |past| of(&past.results, account)),
        };
        let mut items: Vec<_> = self.chart.iter().map(item).collect();
        items.retain(|item| item.amount != Money::ZERO || item.previous != Money::ZERO);
        items
    }

    fn controls(&self, sections: &[ReportSection]) -> Result<Vec<Control>> {
        let Statement { results, debit, credit, .. } = &self.now;
        let currency = self.of.ledger.currency;
        let summed = total(sections.iter().map(|section| section.total.amount))?;
        let name = "result = change of assets less liabilities and equity, without closing entries";
        Ok(vec![
            Control::equal("sum of debit = sum of credit", currency, *debit, *credit),
            Control::equal("sum of the sections = result", currency, summed, results.result),
            Control::equal(name, currency, results.result, results.change),
        ])
    }

    fn answer(self, scope: &mut Read<'_>) -> Result<ProfitAndLoss> {
        let handles = Handles { mandate: self.of.ledger.mandate, known: self.clocks.known.commit };
        let before = self.past.as_ref().map(Statement::terms);
        let terms = Terms { handles, now: self.now.terms(), before };
        let items = self.items();
        let (level, sections) = at_level(None, |level| terms.sections(scope, &items, level))?;
        let mut controls = self.controls(&sections)?;
        let mut notes: Vec<String> = said_of_level(None, level).into_iter().collect();
        let Days { from, to } = self.now.days;
        notes.extend(kept(scope, self.of, &self.now.until, to, &mut controls)?);
        let now = Now::of(scope, self.of.ledger, (from, to), Some(&self.year))?;
        let past = self.past.as_ref().map_or(Money::ZERO, |past| past.results.result);
        let of = Fitting::of_kinds(&AccountKind::OF_RESULT);
        let mut so_far = Money::ZERO;
        let mut with_result = |section: ReportSection| {
            so_far = added(so_far, section.total.amount)?;
            Ok(ResultSection { section, result_so_far: so_far })
        };
        Ok(ProfitAndLoss {
            mandate_id: self.of.ledger.mandate,
            from,
            to,
            compared_with: self.past.as_ref().map(|past| past.days),
            as_known_on: self.clocks.known.written(),
            report_id: scope.report_id(&self.asked, self.clocks)?,
            currency: self.of.ledger.currency,
            notes,
            sections: sections.into_iter().map(&mut with_result).collect::<Result<_>>()?,
            result: terms.fitting(scope, &of, (self.now.results.result, past))?,
            controls,
            now,
            fiscal_year: self.year,
        })
    }
}
