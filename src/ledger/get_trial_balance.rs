//! All accounts of the books with their turnovers.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AccountKind;
use super::balances::{Of, Turnovers, added, less, movements, total};
use super::books::{Account, FiscalYear, Ledger, chart};
use super::figures::{Fitting, Group, Handles, Shape};
use super::present::Now;
use super::proof::{at_level, kept, prefix, said_of_level};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::error::{Error, Result};
use crate::ids::{FiscalYearId, MandateId};
use crate::language::Language;
use crate::money::{Currency, Money};
use crate::registry::ReadTool;
use crate::reports::{Clocks, Control, Figure, KnownOn};
use crate::text::FreeText;

/// Get the trial balance of a mandate for a fiscal year: opening, debit, credit and closing of every account, with control
/// identities. For the lines of one account use get_account_statement, for the result get_profit_and_loss.
/// (balance générale, balance de vérification / Saldenbilanz, Probebilanz)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetTrialBalance {
    /// The mandate.
    mandate_id: MandateId,
    /// The fiscal year; by default the one that contains `to`, or today.
    fiscal_year_id: Option<FiscalYearId>,
    /// The last day; by default today, or the end of a year that is over.
    to: Option<Day>,
    /// What the books said on this day, or at a posting such as #812; what they say now by default.
    as_known_on: Option<KnownOn>,
    /// Groups accounts by so many first digits, 1 to 6; every account by default.
    level: Option<u8>,
}

/// A trial balance. Balances are debit less credit.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TrialBalance {
    /// The mandate.
    mandate_id: MandateId,
    /// The fiscal year.
    fiscal_year: FiscalYear,
    /// The first day.
    from: Day,
    /// The last day.
    to: Day,
    /// The last posting that counts.
    as_known_on: KnownOn,
    /// The same for the same arguments at the same clocks, as is the answer but for `now` and names.
    report_id: String,
    /// The currency of the books, and of every amount without one of its own.
    currency: Currency,
    /// The digits by which accounts are grouped.
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u8>,
    /// What differs from what was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The accounts, or groups of accounts, that have a balance or a turnover.
    rows: Vec<Row>,
    /// The sums over all rows.
    totals: Sums,
    /// Income less expense of the year so far, until it is carried to equity.
    result: Money,
    /// Identities, and whether each holds.
    controls: Vec<Control>,
    /// What is true at this moment, not at the clocks: no part of what `report_id` promises.
    now: Now,
}

/// An account, a group of accounts, or the result of earlier years.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// Its number, or the digits that the numbers of a group begin with; absent for the result of earlier years.
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<FreeText>,
    /// What it is; absent where a group has accounts of several kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<AccountKind>,
    /// How many accounts are in the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    accounts: Option<usize>,
    /// Its figures.
    #[serde(flatten)]
    sums: Sums,
    /// What was posted in other currencies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<ForeignSums>,
    /// The handle for explain_figure.
    figure: Figure,
}

/// The four figures of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct Sums {
    /// The balance before the first day; nought for accounts of the year's result.
    opening: Money,
    /// Debits of the period.
    debit: Money,
    /// Credits of the period.
    credit: Money,
    /// The balance at the end of the last day.
    closing: Money,
}

/// The four figures in another currency.
#[derive(Debug, Serialize, JsonSchema)]
struct ForeignSums {
    /// The currency.
    currency: Currency,
    /// The figures.
    #[serde(flatten)]
    sums: Sums,
    /// The handle for explain_figure.
    figure: Figure,
}

impl Sums {
    fn of(opening: Money, debit: Money, credit: Money) -> Result<Self> {
        let closing = less(added(opening, debit)?, credit)?;
        Ok(Self { opening, debit, credit, closing })
    }

    fn plus(self, other: Self) -> Result<Self> {
        Ok(Self {
            opening: added(self.opening, other.opening)?,
            debit: added(self.debit, other.debit)?,
            credit: added(self.credit, other.credit)?,
            closing: added(self.closing, other.closing)?,
        })
    }
}

/// What is known of an account: its figures in the books, and in other currencies.
#[derive(Debug, Clone, Default)]
struct Line {
    sums: Sums,
    foreign: BTreeMap<Currency, Sums>,
}

impl Line {
    fn plus(mut self, other: &Self) -> Result<Self> {
        self.sums = self.sums.plus(other.sums)?;
        for (currency, sums) in &other.foreign {
            let one = self.foreign.entry(*currency).or_default();
            *one = one.plus(*sums)?;
        }
        Ok(self)
    }

    /// Whether there is nothing to show.
    fn is_nothing(&self) -> bool {
        self.sums == Sums::default() && self.foreign.values().all(|sums| *sums == Sums::default())
    }

    fn foreign(
        &self,
        handle: impl Fn(Option<Currency>) -> Result<Figure>,
    ) -> Result<Vec<ForeignSums>> {
        let shown = self.foreign.iter().filter(|(_, sums)| **sums != Sums::default());
        let one = |(currency, sums): (&Currency, &Sums)| {
            let (currency, sums) = (*currency, *sums);
            Ok(ForeignSums { currency, sums, figure: handle(Some(currency))? })
        };
        shown.map(one).collect()
    }
}

impl ReadTool for GetTrialBalance {
    const NAME: &'static str = "get_trial_balance";
    const PERMISSION: Permission = Permission::LedgerRead;
    const WEIGHT: u32 = 3;
    type Output = TrialBalance;

    fn example() -> Self {
        let mandate_id = crate::demo::ids::example_ledger_mandate();
        Self { mandate_id, fiscal_year_id: None, to: None, as_known_on: None, level: Some(2) }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<TrialBalance> {
        if self.level.is_some_and(|level| !(1..=6).contains(&level)) {
            return Err(Error::argument("level", "level must be from 1 to 6"));
        }
        let ledger = Ledger::of(scope, self.mandate_id)?;
        let today = scope.today();
        let day = self.to.unwrap_or(today);
        let year = FiscalYear::chosen(scope, &ledger, self.fiscal_year_id, day)?;
        let to = year.until(self.to, today)?;
        let clocks = Clocks::of(scope, Some(to), self.as_known_on)?;
        Report::of(scope, &ledger, year, clocks)?.answer(scope, &self)
    }
}

/// What a report is computed from.
struct Report<'l> {
    of: Of<'l>,
    year: FiscalYear,
    clocks: Clocks,
    chart: Vec<Account>,
    /// The figures of each account, in the order of the chart.
    lines: Vec<Line>,
    /// The result of earlier years that was not carried to equity.
    earlier: Money,
    until: Turnovers,
}

impl<'l> Report<'l> {
    fn of(
        scope: &mut Read<'_>,
        ledger: &'l Ledger,
        year: FiscalYear,
        clocks: Clocks,
    ) -> Result<Self> {
        let of = Of { ledger, account: None, known: clocks.known };
        let before = of.until(scope, year.starts_on.minus_days(1))?;
        let until = of.until(scope, clocks.as_of)?;
        let chart = chart(scope, ledger.mandate)?;
        let moved = movements(&before, &until);
        let (mut lines, mut earlier) = (vec![], Money::ZERO);
        for account in &chart {
            let mut line = Line::default();
            for movement in moved.get(&account.id).into_iter().flatten() {
                let within = movement.within()?;
                let opening = movement.before.balance()?;
                let opening = if account.kind.is_anew() {
                    earlier = added(earlier, opening)?;
                    Money::ZERO
                } else {
                    opening
                };
                line.sums = line.sums.plus(Sums::of(opening, within.debit, within.credit)?)?;
                if movement.currency != ledger.currency {
                    let opening = movement.before.currency_balance()?;
                    let opening = if account.kind.is_anew() { Money::ZERO } else { opening };
                    let (debit, credit) = (within.currency_debit, within.currency_credit);
                    line.foreign.insert(movement.currency, Sums::of(opening, debit, credit)?);
                }
            }
            lines.push(line);
        }
        Ok(Self { of, year, clocks, chart, lines, earlier, until })
    }

    fn handles(&self) -> Handles {
        Handles { mandate: self.of.ledger.mandate, known: self.clocks.known.commit }
    }

    fn shape(&self) -> Shape {
        let start = self.year.starts_on.into();
        Shape::Turnover { from: start, since: start }
    }

    /// The row of one account.
    fn account_row(&self, scope: &Read<'_>, account: &Account, line: &Line) -> Result<Row> {
        let handle = |currency| {
            let to = self.clocks.as_of;
            self.handles().of_account(scope, account.id, self.shape(), to, currency)
        };
        Ok(Row {
            account: Some(account.number.clone()),
            label: Some(account.label.clone().into()),
            kind: Some(account.kind),
            accounts: None,
            sums: line.sums,
            foreign: line.foreign(handle)?,
            figure: handle(None)?,
        })
    }

    /// The row of all accounts whose numbers begin alike; the chart names it where an account has just these digits.
    fn group_row(
        &self,
        scope: &Read<'_>,
        named: &Group,
        group: &[(&Account, &Line)],
    ) -> Result<Row> {
        let handle = |currency| {
            let of = Fitting { group: Some(named.clone()), ..Fitting::default() };
            self.handles().of_fitting(scope, of, self.shape(), self.clocks.as_of, currency)
        };
        let line = group.iter().try_fold(Line::default(), |sum, (_, line)| sum.plus(line))?;
        let kinds: BTreeSet<AccountKind> = group.iter().map(|(account, _)| account.kind).collect();
        let header = self.chart.iter().find(|account| account.number == named.prefix);
        Ok(Row {
            account: Some(named.prefix.clone()),
            label: header.map(|account| account.label.clone().into()),
            kind: kinds.first().copied().filter(|_| kinds.len() == 1),
            accounts: Some(group.len()),
            sums: line.sums,
            foreign: line.foreign(handle)?,
            figure: handle(None)?,
        })
    }

    fn rows(&self, scope: &Read<'_>, level: Option<u8>) -> Result<Vec<Row>> {
        let shown = self.chart.iter().zip(&self.lines).filter(|(_, line)| !line.is_nothing());
        let shown: Vec<(&Account, &Line)> = shown.collect();
        let alike = |a: &(&Account, &Line), b: &(&Account, &Line)| {
            prefix(&a.0.number, level) == prefix(&b.0.number, level)
        };
        let mut rows = vec![];
        for group in shown.chunk_by(alike) {
            rows.push(match (level, group) {
                (None, [(account, line)]) => self.account_row(scope, account, line)?,
                (_, [(first, _), ..]) => {
                    self.group_row(scope, &Group::of(&first.number, level), group)?
                }
                (_, []) => continue,
            });
        }
        if self.earlier != Money::ZERO {
            rows.push(self.earlier_row(scope)?);
        }
        Ok(rows)
    }

    /// The line without which the balance would not balance.
    fn earlier_row(&self, scope: &Read<'_>) -> Result<Row> {
        let of = Fitting::of_kinds(&AccountKind::ANEW);
        let to = self.year.starts_on.minus_days(1);
        let label = match scope.caller().language() {
            Language::French => "Résultat d'exercices antérieurs non reporté",
            Language::German => "Nicht vorgetragenes Ergebnis früherer Jahre",
            Language::English => "Result of earlier years not carried forward",
        };
        Ok(Row {
            account: None,
            label: Some(label.into()),
            kind: None,
            accounts: None,
            sums: Sums::of(self.earlier, Money::ZERO, Money::ZERO)?,
            foreign: vec![],
            figure: self.handles().of_fitting(scope, of, Shape::balance(), to, None)?,
        })
    }

    /// The sums over all accounts and the result of earlier years.
    fn totals(&self) -> Result<Sums> {
        let earlier = Sums::of(self.earlier, Money::ZERO, Money::ZERO)?;
        self.lines.iter().try_fold(earlier, |sum, line| sum.plus(line.sums))
    }

    /// Credit less debit of the year, on the accounts of its result or on all others.
    fn credited(&self, is_of_result: impl Fn(AccountKind) -> bool) -> Result<Money> {
        let meant =
            self.chart.iter().zip(&self.lines).filter(|(account, _)| is_of_result(account.kind));
        let sums = meant.map(|(_, line)| less(line.sums.credit, line.sums.debit));
        total(sums.collect::<Result<Vec<_>>>()?)
    }

    fn controls(&self, totals: &Sums, result: Money) -> Result<Vec<Control>> {
        let equal = |name, left, right| Control::equal(name, self.of.ledger.currency, left, right);
        let moved = less(added(totals.opening, totals.debit)?, totals.credit)?;
        let closing = self.until.values().map(|one| one.balance()).collect::<Result<Vec<_>>>()?;
        let others = self.credited(|kind| !kind.is_anew())?;
        Ok(vec![
            equal("sum of debit = sum of credit", totals.debit, totals.credit),
            equal("sum of opening = 0", totals.opening, Money::ZERO),
            equal("sum of closing = 0", totals.closing, Money::ZERO),
            equal(
                "opening + debit - credit = all that was posted until the last day",
                moved,
                total(closing)?,
            ),
            equal(
                "result = change of the accounts of the balance sheet",
                result,
                less(Money::ZERO, others)?,
            ),
        ])
    }

    fn answer(self, scope: &mut Read<'_>, asked: &GetTrialBalance) -> Result<TrialBalance> {
        let Self { of, clocks, .. } = self;
        let (level, rows) = at_level(asked.level, |level| self.rows(scope, level))?;
        let totals = self.totals()?;
        let result = self.credited(AccountKind::is_anew)?;
        let mut controls = self.controls(&totals, result)?;
        let mut notes: Vec<String> = said_of_level(asked.level, level).into_iter().collect();
        notes.extend(kept(scope, of, &self.until, clocks.as_of, &mut controls)?);
        let (from, to) = (self.year.starts_on, clocks.as_of);
        let now = Now::of(scope, of.ledger, (from, to), Some(&self.year))?;
        Ok(TrialBalance {
            mandate_id: of.ledger.mandate,
            from,
            to,
            as_known_on: clocks.known.written(),
            report_id: scope.report_id(asked, clocks)?,
            currency: of.ledger.currency,
            level,
            notes,
            rows,
            totals,
            result,
            controls,
            now,
            fiscal_year: self.year,
        })
    }
}
