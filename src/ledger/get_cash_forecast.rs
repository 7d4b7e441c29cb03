//! Expected cash.

use std::collections::BTreeMap;

use diesel::dsl::{count_star, sum};
use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::balances::{Of, added, less, total};
use super::books::{Account, Ledger, chart};
use super::expected::{Due, Owed, TERM_DAYS, open_on, used_for};
use super::figures::{Handles, Shape};
use super::kinds::{AccountKind, Purpose};
use super::left_out::{LeftOut, Uncounted, debts};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::payslips;
use crate::error::{Error, Result};
use crate::ids::{AccountId, MandateId};
use crate::invoicing::expected;
use crate::money::{Currency, Money, Rate};
use crate::registry::ReadTool;
use crate::reports::{Clocks, Figure, KnownOn};
use crate::text::FreeText;

/// Weeks when nothing else is asked for, and at most.
const WEEKS: u8 = 13;
const MOST_WEEKS: u8 = 52;
/// What comes in later, and how much of it, in the cautious scenario.
const CAUTIOUS_DAYS: i64 = 30;
const CAUTIOUS_PERCENT: Rate = Rate::from_minor(90 * 10_000);
/// The day of the month on which wages are taken to be paid.
const PAY_DAY: u32 = 25;

/// Get the expected cash of a mandate week by week: liquid funds today, then what open claims, debts and recurring wages bring
/// and take, with every assumption stated. For who owes what use list_open_items, for balances get_balance_sheet.
/// (trésorerie, liquidités / Liquidität, Liquiditätsplanung)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetCashForecast {
    /// The mandate.
    mandate_id: MandateId,
    /// How many weeks, 1 to 52; 13 by default.
    weeks: Option<u8>,
    /// How sure what comes in is; expected by default.
    scenario: Option<Scenario>,
}

text_enum! {
    /// How sure what comes in is.
    Scenario {
        /// All of it comes in when due.
        Expected = "expected",
        /// It comes in 30 days later, and a tenth of it never.
        Cautious = "cautious",
    }
}

text_enum! {
    /// What cash comes from or goes to.
    Source {
        /// Open invoices of the firm, by due day.
        Invoices = "open_invoices",
        /// Open lines on accounts of customers.
        Receivables = "open_receivables",
        /// Open lines on accounts of suppliers.
        Payables = "open_payables",
        /// Wages like those of the last month.
        Wages = "wages",
    }
}

/// Expected cash.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CashForecast {
    /// The mandate.
    mandate_id: MandateId,
    /// The day on which the first week begins: today.
    as_of: Day,
    /// The last posting that counts.
    as_known_on: KnownOn,
    /// The same for the same arguments at the same clocks.
    report_id: String,
    /// The currency of every amount without one of its own.
    currency: Currency,
    /// The scenario.
    scenario: Scenario,
    /// What the forecast takes for granted.
    assumptions: Vec<String>,
    /// Liquid funds today.
    start: Money,
    /// The accounts that hold them.
    liquid_accounts: Vec<LiquidAccount>,
    /// The weeks.
    weeks: Vec<Week>,
    /// What is expected after the last week.
    later: Vec<Flow>,
    /// What no week counts: what is in other currencies, and debts without a due day.
    left_out: Vec<LeftOut>,
}

/// An account of liquid funds.
#[derive(Debug, Serialize, JsonSchema)]
struct LiquidAccount {
    /// Its number.
    account: String,
    /// Its name.
    label: FreeText,
    /// Its balance today, in the currency of the books.
    balance: Money,
    /// The handle for explain_figure.
    figure: Figure,
}

/// A week of seven days.
#[derive(Debug, Serialize, JsonSchema)]
struct Week {
    /// Its first day.
    from: Day,
    /// Its last day.
    to: Day,
    /// What comes in.
    inflow: Money,
    /// What goes out, as a positive amount.
    outflow: Money,
    /// Liquid funds at its end.
    closing: Money,
    /// What both are made of.
    flows: Vec<Flow>,
}

/// Cash from one source.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
struct Flow {
    /// The source.
    source: Source,
    /// What it brings; negative when it takes.
    amount: Money,
    /// How many invoices, lines or payslips it comes from; nought for what is older than a year.
    count: i64,
}

impl ReadTool for GetCashForecast {
    const NAME: &'static str = "get_cash_forecast";
    const PERMISSION: Permission = Permission::LedgerRead;
    const WEIGHT: u32 = 3;
    type Output = CashForecast;

    fn example() -> Self {
        let mandate_id = crate::demo::ids::example_ledger_mandate();
        Self { mandate_id, weeks: Some(4), scenario: None }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<CashForecast> {
        let weeks = self.weeks.unwrap_or(WEEKS);
        if !(1..=MOST_WEEKS).contains(&weeks) {
            return Err(Error::argument("weeks", "weeks must be from 1 to 52"));
        }
        let ledger = Ledger::of(scope, self.mandate_id)?;
        let clocks = Clocks::of(scope, None, None)?;
        let mut plan =
            Plan::of(scope, &ledger, clocks, self.scenario.unwrap_or(Scenario::Expected))?;
        plan.add_claims(scope)?;
        plan.add_debts(scope)?;
        plan.add_wages(scope, i64::from(weeks))?;
        let report_id = scope.report_id(&self, clocks)?;
        plan.answer(report_id, i64::from(weeks))
    }
}

/// A forecast on its way.
struct Plan<'l> {
    ledger: &'l Ledger,
    clocks: Clocks,
    scenario: Scenario,
    chart: Vec<Account>,
    balances: Vec<(Account, Money)>,
    liquid: Vec<LiquidAccount>,
    /// Week from 0, and what happens in it.
    flows: Vec<(i64, Flow)>,
    assumptions: Vec<String>,
    left_out: Vec<LeftOut>,
}

impl<'l> Plan<'l> {
    fn of(
        scope: &mut Read<'_>,
        ledger: &'l Ledger,
        clocks: Clocks,
        scenario: Scenario,
    ) -> Result<Self> {
        let of = Of { ledger, account: None, known: clocks.known };
        let until = of.until(scope, clocks.as_of)?;
        let chart = chart(scope, ledger.mandate)?;
        let mut balances = vec![];
        for account in &chart {
            let sums =
                Currency::ALL.iter().filter_map(|currency| until.get(&(account.id, *currency)));
            let balance = total(sums.map(|sums| sums.balance()).collect::<Result<Vec<_>>>()?)?;
            if balance != Money::ZERO {
                balances.push((account.clone(), balance));
            }
        }
        let handles = Handles { mandate: ledger.mandate, known: clocks.known.commit };
        let mut liquid = vec![];
        for (account, balance) in balances.iter().filter(|(account, _)| is_liquid(account)) {
            let to = clocks.as_of;
            liquid.push(LiquidAccount {
                account: account.number.clone(),
                label: account.label.clone().into(),
                balance: *balance,
                figure: handles.of_account(scope, account.id, Shape::balance(), to, None)?,
            });
        }
        let assumptions = vec![
            "liquid funds are the asset accounts 1000 to 1029, foreign ones at their value in the books".to_owned(),
            "only what is posted or issued today counts: no new business, no taxes, no investments".to_owned(),
        ];
        let (flows, left_out) = (vec![], vec![]);
        Ok(Self { ledger, clocks, scenario, chart, balances, liquid, flows, assumptions, left_out })
    }

    /// Adds what comes in on a day it is due; what is overdue comes in at once.
    fn add_inflow(&mut self, source: Source, (due_on, amount, count): Due) -> Result<()> {
        let today = self.clocks.as_of;
        let due_on = due_on.max(today);
        let (due_on, amount) = match self.scenario {
            Scenario::Expected => (due_on, amount),
            Scenario::Cautious => {
                let part = amount.percent(CAUTIOUS_PERCENT);
                let part = part.ok_or_else(|| Error::fault("a claim is out of range"))?;
                (due_on.plus_days(CAUTIOUS_DAYS), part)
            }
        };
        self.flows.push((due_on.days_since(today) / 7, Flow { source, amount, count }));
        Ok(())
    }

    fn add_outflow(&mut self, source: Source, (due_on, amount, count): Due) -> Result<()> {
        let today = self.clocks.as_of;
        let amount = less(Money::ZERO, amount)?;
        let week = due_on.max(today).days_since(today) / 7;
        self.flows.push((week, Flow { source, amount, count }));
        Ok(())
    }

    fn add_claims(&mut self, scope: &mut Read<'_>) -> Result<()> {
        if self.scenario == Scenario::Cautious {
            let said = "what comes in does so 30 days later, and a tenth of it never";
            self.assumptions.push(said.to_owned());
        }
        if !self.ledger.is_of_firm || !scope.caller().may(Permission::InvoiceRead) {
            return self.add_open(scope, Purpose::Receivables).map(drop);
        }
        let mut others: BTreeMap<Currency, (Money, i64)> = BTreeMap::new();
        for (currency, due_on, amount, count) in expected::due(scope, self.clocks.as_of)? {
            if currency == self.ledger.currency {
                self.add_inflow(Source::Invoices, (due_on, amount, count))?;
                continue;
            }
            let other = others.entry(currency).or_default();
            *other = (added(other.0, amount)?, other.1 + count);
        }
        for (currency, (amount, count)) in others {
            self.left_out.push(LeftOut::of(Uncounted::Invoices, currency, amount, count));
        }
        self.assumptions.push(
            "open invoices within your reach come in on their due day, overdue ones in the first week; \
             those in other currencies are left out"
                .to_owned(),
        );
        Ok(())
    }

    fn add_debts(&mut self, scope: &mut Read<'_>) -> Result<()> {
        let scheduled = self.add_open(scope, Purpose::Payables)?;
        let handles = Handles { mandate: self.ledger.mandate, known: self.clocks.known.commit };
        let clocks = (handles, self.clocks.as_of);
        let currency = self.ledger.currency;
        self.left_out.extend(debts(scope, clocks, currency, &self.balances, &scheduled)?);
        self.assumptions.push(
            "other short-term liabilities, such as VAT, withholding tax and social insurances, have no due day in the books: \
             left_out has their balances, and no week counts them; nor does any count other assets, such as input tax and stocks"
                .to_owned(),
        );
        Ok(())
    }

    /// Adds what is open on the accounts of customers or suppliers, and tells which these are.
    fn add_open(&mut self, scope: &mut Read<'_>, purpose: Purpose) -> Result<Vec<AccountId>> {
        let (side, source, of) = match purpose {
            Purpose::Receivables => (Owed::ToUs, Source::Receivables, "customers"),
            _ => (Owed::ByUs, Source::Payables, "suppliers"),
        };
        let used = used_for(scope, self.ledger, purpose)?;
        let open: Vec<(Account, Money)> = self
            .balances
            .iter()
            .filter(|(account, _)| used.contains(&account.id))
            .cloned()
            .collect();
        for (account, balance) in open {
            for due in open_on(scope, account.id, balance, side, self.clocks.as_of)? {
                match side {
                    Owed::ToUs => self.add_inflow(source, due)?,
                    Owed::ByUs => self.add_outflow(source, due)?,
                }
            }
        }
        let numbers: Vec<&str> = self
            .chart
            .iter()
            .filter(|account| used.contains(&account.id))
            .map(|account| account.number.as_str())
            .collect();
        self.assumptions.push(format!(
            "lines of {of} that are not settled (accounts {}) fall due {TERM_DAYS} days after their booking, overdue ones in the \
             first week; payments that settle none in particular settle the oldest",
            if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") }
        ));
        Ok(used)
    }

    /// Adds the wages of the last month with payslips, for each month to come; those in other currencies are left out.
    fn add_wages(&mut self, scope: &mut Read<'_>, weeks: i64) -> Result<()> {
        if !scope.caller().may(Permission::PayrollRead) {
            self.assumptions.push("wages are not counted".to_owned());
            return Ok(());
        }
        let (today, own) = (self.clocks.as_of, self.ledger.currency);
        let wages = last_wages(scope, self.ledger, today.month_start().plus_months(-2))?;
        for wage in wages.iter().filter(|wage| wage.currency != own) {
            let Wages { currency, year, month, net, count } = *wage;
            let amount = less(Money::ZERO, net)?;
            self.left_out.push(LeftOut::of(Uncounted::Wages, currency, amount, count));
            self.assumptions.push(format!(
                "net wages in {currency} as in {year}-{month:02} are left out, each month"
            ));
        }
        let Some(Wages { year, month, net, count, .. }) =
            wages.into_iter().find(|wage| wage.currency == own)
        else {
            let said = format!("no wages in {own}: there are no such payslips of the last months");
            self.assumptions.push(said);
            return Ok(());
        };
        let pay_day = i64::from(PAY_DAY) - 1;
        let days = (0..14).map(|later| today.month_start().plus_months(later).plus_days(pay_day));
        for day in days.filter(|day| *day > today && *day < today.plus_days(weeks * 7)) {
            self.add_outflow(Source::Wages, (day, net, count))?;
        }
        self.assumptions.push(format!(
            "net wages as in {year}-{month:02} are paid on the {PAY_DAY}th of each month, without a 13th salary"
        ));
        Ok(())
    }

    fn answer(self, report_id: String, weeks: i64) -> Result<CashForecast> {
        let start = total(self.liquid.iter().map(|account| account.balance))?;
        let (mut closing, mut shown) = (start, vec![]);
        for week in 0..weeks {
            let flows = summed(self.flows.iter().filter(|(at, _)| *at == week))?;
            let signed = |is_in: bool| {
                let side = flows.iter().filter(|flow| (flow.amount > Money::ZERO) == is_in);
                total(side.map(|flow| flow.amount))
            };
            let (inflow, outflow) = (signed(true)?, less(Money::ZERO, signed(false)?)?);
            closing = less(added(closing, inflow)?, outflow)?;
            let from = self.clocks.as_of.plus_days(7 * week);
            shown.push(Week { from, to: from.plus_days(6), inflow, outflow, closing, flows });
        }
        Ok(CashForecast {
            mandate_id: self.ledger.mandate,
            as_of: self.clocks.as_of,
            as_known_on: self.clocks.known.written(),
            report_id,
            currency: self.ledger.currency,
            scenario: self.scenario,
            assumptions: self.assumptions,
            start,
            liquid_accounts: self.liquid,
            weeks: shown,
            later: summed(self.flows.iter().filter(|(at, _)| *at >= weeks))?,
            left_out: self.left_out,
        })
    }
}

/// A row of wages: currency, year and month; their sum and number.
type PaidMonth = ((Currency, i32, i32), (Option<Money>, i64));

/// The payslips of a month in one currency.
struct Wages {
    currency: Currency,
    year: i32,
    month: i32,
    net: Money,
    count: i64,
}

/// The wages of the last month with payslips in each currency, if that is `since` or later.
fn last_wages(scope: &mut Read<'_>, ledger: &Ledger, since: Day) -> Result<Vec<Wages>> {
    let month = i32::try_from(since.month()).map_err(Error::fault)?;
    let is_recent = payslips::year
        .gt(since.year())
        .or(payslips::year.eq(since.year()).and(payslips::month.ge(month)));
    let months = scope
        .rows(payslips::table)
        .filter(payslips::mandate_id.eq(ledger.mandate))
        .filter(payslips::state.eq("final"))
        .filter(is_recent)
        .group_by((payslips::currency, payslips::year, payslips::month))
        .order((payslips::currency, payslips::year.desc(), payslips::month.desc()))
        .select((
            (payslips::currency, payslips::year, payslips::month),
            (sum(payslips::net), count_star()),
        ));
    let months: Vec<PaidMonth> = scope.load(months)?;
    let mut wages: Vec<Wages> = vec![];
    for ((currency, year, month), (net, count)) in months {
        if wages.last().is_none_or(|last| last.currency != currency) {
            wages.push(Wages { currency, year, month, net: net.unwrap_or_default(), count });
        }
    }
    Ok(wages)
}

/// Whether an account holds liquid funds.
fn is_liquid(account: &Account) -> bool {
    account.kind == AccountKind::Asset
        && ["100", "101", "102"].iter().any(|start| account.number.starts_with(start))
}

/// One flow for each source.
fn summed<'a>(flows: impl Iterator<Item = &'a (i64, Flow)>) -> Result<Vec<Flow>> {
    let mut sums: Vec<Flow> = vec![];
    for (_, flow) in flows {
        match sums.iter_mut().find(|sum| sum.source == flow.source) {
            Some(sum) => {
                sum.amount = added(sum.amount, flow.amount)?;
                sum.count += flow.count;
            }
            None => sums.push(*flow),
        }
    }
    sums.sort_unstable_by_key(|flow| flow.source);
    Ok(sums)
}
