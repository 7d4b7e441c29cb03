//! The balance sheet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AccountKind;
use super::balances::{Of, Turnovers, added, less, movements};
use super::books::{Account, FiscalYear, Ledger, chart};
use super::figures::{Fitting, Handles, Shape};
use super::present::Now;
use super::proof::{at_level, kept, said_of_level};
use super::report_lines::{Compared, Item, OWN, ReportLine, ReportSection, Results, Terms, sums};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::error::Result;
use crate::ids::MandateId;
use crate::language::Language;
use crate::money::{Currency, Money};
use crate::registry::ReadTool;
use crate::reports::{Clocks, Control, KnownOn};

/// Get the balance sheet of a mandate at a day: assets, liabilities and equity by section and account, with the result of
/// the year, which equals that of get_profit_and_loss. For every account with its turnover use get_trial_balance.
/// (bilan / Bilanz)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetBalanceSheet {
    /// The mandate.
    mandate_id: MandateId,
    /// The day; today by default.
    as_of: Option<Day>,
    /// Compares with the end of the fiscal year before; not by default.
    compare: Option<bool>,
    /// What the books said on this day, or at a posting such as #812; what they say now by default.
    as_known_on: Option<KnownOn>,
}

/// A balance sheet. Assets are debit less credit, liabilities and equity credit less debit.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BalanceSheet {
    /// The mandate.
    mandate_id: MandateId,
    /// The day.
    as_of: Day,
    /// The first day of the fiscal year, since when the result counts.
    year_from: Day,
    /// The day it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared_with: Option<Day>,
    /// The last posting that counts.
    as_known_on: KnownOn,
    /// The same for the same arguments at the same clocks, as is the answer but for `now` and names.
    report_id: String,
    /// The currency of every amount.
    currency: Currency,
    /// What differs from what was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The sections that have an amount; equity shows its accounts, the results in it stand under `results`.
    sections: Vec<ReportSection>,
    /// Results that are not on an account of equity yet: of the year and of earlier years.
    results: Vec<ReportLine>,
    /// Assets; liabilities; equity with the results.
    totals: Totals,
    /// Income less expense of the year so far, as get_profit_and_loss has it.
    result: Money,
    /// Identities, and whether each holds.
    controls: Vec<Control>,
    /// What is true at this moment, not at the clocks: no part of what `report_id` promises.
    now: Now,
}

/// Both sides of a balance sheet.
#[derive(Debug, Serialize, JsonSchema)]
struct Totals {
    /// All assets.
    assets: Compared,
    /// All liabilities.
    liabilities: Compared,
    /// Equity, and the results that belong to it.
    equity: Compared,
}

impl ReadTool for GetBalanceSheet {
    const NAME: &'static str = "get_balance_sheet";
    const PERMISSION: Permission = Permission::LedgerRead;
    const WEIGHT: u32 = 3;
    type Output = BalanceSheet;

    fn example() -> Self {
        let mandate_id = crate::demo::ids::example_ledger_mandate();
        Self { mandate_id, as_of: None, compare: Some(true), as_known_on: None }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<BalanceSheet> {
        let ledger = Ledger::of(scope, self.mandate_id)?;
        let clocks = Clocks::of(scope, self.as_of, self.as_known_on)?;
        let of = Of { ledger: &ledger, account: None, known: clocks.known };
        let chart = chart(scope, ledger.mandate)?;
        let now = Sheet::of(scope, of, &chart, clocks.as_of)?;
        let past = match self.compare {
            Some(true) => Some(Sheet::of(scope, of, &chart, now.year_from.minus_days(1))?),
            _ => None,
        };
        Report { asked: self, of, clocks, chart: &chart, now, past }.answer(scope)
    }
}

/// What stood in the books at the end of a day.
struct Sheet {
    day: Day,
    year_from: Day,
    until: Turnovers,
    /// Credit less debit of the accounts of the result since the first day of the year, and before.
    this_year: Money,
    earlier: Money,
    results: Results,
}

impl Sheet {
    fn of(scope: &mut Read<'_>, of: Of<'_>, chart: &[Account], day: Day) -> Result<Self> {
        let year_from = FiscalYear::start_at(scope, of.ledger, day)?;
        let before = of.until(scope, year_from.minus_days(1))?;
        let until = of.until(scope, day)?;
        let moved = movements(&before, &until);
        let results = Results::of(scope, of, chart, (year_from, day), &moved)?;
        let (mut this_year, mut earlier) = (Money::ZERO, Money::ZERO);
        for account in chart.iter().filter(|account| account.kind.is_anew()) {
            for movement in moved.get(&account.id).into_iter().flatten() {
                this_year = less(this_year, movement.within()?.balance()?)?;
                earlier = less(earlier, movement.before.balance()?)?;
            }
        }
        Ok(Self { day, year_from, until, this_year, earlier, results })
    }

    /// The amount of an account with the sign of its side.
    fn amount(&self, account: &Account) -> Result<Money> {
        let mut balance = Money::ZERO;
        for currency in Currency::ALL {
            if let Some(one) = self.until.get(&(account.id, *currency)) {
                balance = added(balance, one.balance()?)?;
            }
        }
        if account.kind == AccountKind::Asset { Ok(balance) } else { less(Money::ZERO, balance) }
    }
}

/// A report on its way.
struct Report<'l> {
    asked: GetBalanceSheet,
    of: Of<'l>,
    clocks: Clocks,
    chart: &'l [Account],
    now: Sheet,
    past: Option<Sheet>,
}

impl<'l> Report<'l> {
    /// The accounts of the balance sheet that have a balance, now or before.
    fn items(&self) -> Result<Vec<Item<'l>>> {
        let mut items = vec![];
        for account in self.chart.iter().filter(|account| !account.kind.is_anew()) {
            let amount = self.now.amount(account)?;
            let previous = self.past.as_ref().map(|past| past.amount(account)).transpose()?;
            let previous = previous.unwrap_or_default();
            if amount != Money::ZERO || previous != Money::ZERO {
                items.push(Item { account, amount, previous });
            }
        }
        Ok(items)
    }

    fn terms(&self, shape: impl Fn(&Sheet) -> (Shape, Day)) -> Terms {
        let handles = Handles { mandate: self.of.ledger.mandate, known: self.clocks.known.commit };
        Terms { handles, now: shape(&self.now), before: self.past.as_ref().map(shape) }
    }

    /// The results that stand on no account of equity.
    fn results(&self, scope: &Read<'_>) -> Result<Vec<ReportLine>> {
        let [year, earlier] = match scope.caller().language() {
            Language::French => {
                ["Résultat de l'exercice", "Résultat d'exercices antérieurs non reporté"]
            }
            Language::German => {
                ["Ergebnis des Geschäftsjahres", "Nicht vorgetragenes Ergebnis früherer Jahre"]
            }
            Language::English => {
                ["Result of the year", "Result of earlier years not carried forward"]
            }
        };
        let past = |of: fn(&Sheet) -> Money| self.past.as_ref().map_or(Money::ZERO, of);
        let since = |sheet: &Sheet| (Shape::Owed { from: sheet.year_from.into() }, sheet.day);
        let until = |sheet: &Sheet| (Shape::owed(), sheet.year_from.minus_days(1));
        let lines = [
            (year, self.terms(since), (self.now.this_year, past(|sheet| sheet.this_year))),
            (earlier, self.terms(until), (self.now.earlier, past(|sheet| sheet.earlier))),
        ];
        let of = Fitting::of_kinds(&AccountKind::ANEW);
        let mut shown = vec![];
        for (label, terms, amounts) in lines {
            if amounts != (Money::ZERO, Money::ZERO) {
                let amounts = terms.fitting(scope, &of, amounts)?;
                let label = Some(label.into());
                shown.push(ReportLine { account: None, label, accounts: None, amounts });
            }
        }
        Ok(shown)
    }

    fn sections(
        &self,
        scope: &Read<'_>,
        items: &[Item<'_>],
        level: Option<u8>,
    ) -> Result<Vec<ReportSection>> {
        let (assets, own): (Vec<Item<'_>>, Vec<Item<'_>>) =
            items.iter().partition(|item| item.account.kind == AccountKind::Asset);
        let mut sections = self.terms(balance).sections(scope, &assets, level)?;
        sections.extend(self.terms(owed).sections(scope, &own, level)?);
        Ok(sections)
    }

    fn totals(&self, scope: &Read<'_>, items: &[Item<'_>]) -> Result<Totals> {
        let sum = |kind| {
            let of: Vec<Item<'_>> =
                items.iter().filter(|item| item.account.kind == kind).copied().collect();
            sums(&of)
        };
        let (mut equity, mut equity_before) = sum(AccountKind::Equity)?;
        for amount in [self.now.this_year, self.now.earlier] {
            equity = added(equity, amount)?;
        }
        let past = self.past.iter().flat_map(|past| [past.this_year, past.earlier]);
        for amount in past {
            equity_before = added(equity_before, amount)?;
        }
        let fitting = |terms: Terms, kinds: &[AccountKind], amounts| {
            terms.fitting(scope, &Fitting::of_kinds(kinds), amounts)
        };
        let (asset, liability) = (AccountKind::Asset, AccountKind::Liability);
        Ok(Totals {
            assets: fitting(self.terms(balance), &[asset], sum(asset)?)?,
            liabilities: fitting(self.terms(owed), &[liability], sum(liability)?)?,
            equity: fitting(self.terms(owed), &OWN, (equity, equity_before))?,
        })
    }

    fn controls(&self, totals: &Totals) -> Result<Vec<Control>> {
        let equal = |name, left, right| Control::equal(name, self.of.ledger.currency, left, right);
        let own = added(totals.liabilities.amount, totals.equity.amount)?;
        let Results { result, change, .. } = self.now.results;
        let name = "result of the balance sheet = result of the profit and loss";
        let mut controls = vec![
            equal("assets = liabilities + equity with results", totals.assets.amount, own),
            equal(name, change, result),
        ];
        if let (Some(assets), Some(liabilities), Some(equity)) =
            (totals.assets.previous, totals.liabilities.previous, totals.equity.previous)
        {
            let own = added(liabilities, equity)?;
            controls.push(equal("the same on the day compared with", assets, own));
        }
        Ok(controls)
    }

    fn answer(self, scope: &mut Read<'_>) -> Result<BalanceSheet> {
        let items = self.items()?;
        let (level, sections) = at_level(None, |level| self.sections(scope, &items, level))?;
        let totals = self.totals(scope, &items)?;
        let mut controls = self.controls(&totals)?;
        let mut notes: Vec<String> = said_of_level(None, level).into_iter().collect();
        notes.extend(kept(scope, self.of, &self.now.until, self.now.day, &mut controls)?);
        let present = Now::of(scope, self.of.ledger, (Day::FIRST, self.now.day), None)?;
        Ok(BalanceSheet {
            mandate_id: self.of.ledger.mandate,
            as_of: self.now.day,
            year_from: self.now.year_from,
            compared_with: self.past.as_ref().map(|past| past.day),
            as_known_on: self.clocks.known.written(),
            report_id: scope.report_id(&self.asked, self.clocks)?,
            currency: self.of.ledger.currency,
            notes,
            sections,
            results: self.results(scope)?,
            totals,
            result: self.now.results.result,
            controls,
            now: present,
        })
    }
}

/// Debit less credit up to the day.
fn balance(sheet: &Sheet) -> (Shape, Day) {
    (Shape::balance(), sheet.day)
}

/// Credit less debit up to the day.
fn owed(sheet: &Sheet) -> (Shape, Day) {
    (Shape::owed(), sheet.day)
}
