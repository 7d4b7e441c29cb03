//! One account, line by line.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_types::{Integer, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AccountKind;
use super::balances::{Movement, Of, Turnovers, added, less, movements};
use super::books::{Account, FiscalYear, Ledger, account_numbered};
use super::entry_query::padded_ids;
use super::figures::{Handles, Shape};
use super::lines::{Lines, Place, PostedLine, bind_all, listed};
use super::proof::kept;
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::entry_lines;
use crate::db::types::Id;
use crate::db::{HandWritten, HandWrittenSql, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{EntryId, MandateId};
use crate::money::{Currency, ExchangeRate, Money};
use crate::registry::ReadTool;
use crate::reports::{Clocks, Control, Figure, Known, KnownOn};
use crate::text::FreeText;

/// Counter-accounts that a line names at most.
const COUNTER_ACCOUNTS: usize = 5;

/// Get the statement of one account of a mandate: opening balance, every movement with its counter-accounts and the running
/// balance, closing balance. Find the number with search_accounts; for whole entries use search_journal_entries.
/// (extrait de compte, grand livre, solde / Kontoblatt, Kontoauszug, Saldo)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetAccountStatement {
    /// The mandate.
    mandate_id: MandateId,
    /// The number of the account, such as 1020.
    account: String,
    /// The first day; that of the fiscal year of `to` by default.
    from: Option<Day>,
    /// The last day; today by default.
    to: Option<Day>,
    /// What the books said on this day, or at a posting such as #812; what they say now by default.
    as_known_on: Option<KnownOn>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(GetAccountStatement);

/// A page of an account's movements. Balances are debit less credit.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AccountStatement {
    /// The mandate.
    mandate_id: MandateId,
    /// The number of the account.
    account: String,
    /// Its name.
    label: FreeText,
    /// What it is.
    kind: AccountKind,
    /// The first day.
    from: Day,
    /// The last day.
    to: Day,
    /// The last posting that counts, on every page.
    as_known_on: KnownOn,
    /// The same for the same arguments at the same clocks, as is the answer but for names.
    report_id: String,
    /// The currency of the books, and of every amount without one of its own.
    currency: Currency,
    /// What to know about the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The balance before the first day; accounts of a year's result begin at nought with the fiscal year.
    opening: Money,
    /// Debits of the whole period.
    debit: Money,
    /// Credits of the whole period.
    credit: Money,
    /// The balance at the end of the last day.
    closing: Money,
    /// The handle of these four for explain_figure.
    figure: Figure,
    /// The same four in other currencies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<Foreign>,
    /// The movements, by day and entry.
    #[serde(flatten)]
    page: Page<Movements>,
    /// Identities, and whether each holds.
    controls: Vec<Control>,
}

/// The figures of an account in another currency.
#[derive(Debug, Serialize, JsonSchema)]
struct Foreign {
    /// The currency.
    currency: Currency,
    /// The balance before the first day.
    opening: Money,
    /// Debits of the whole period.
    debit: Money,
    /// Credits of the whole period.
    credit: Money,
    /// The balance at the end of the last day.
    closing: Money,
    /// The handle of these four for explain_figure.
    figure: Figure,
}

/// A line on the account.
#[derive(Debug, Serialize, JsonSchema)]
struct Movements {
    /// The day in the books.
    on: Day,
    /// The entry.
    entry_id: EntryId,
    /// Its place in the entry.
    position: i32,
    /// Journal and number of the entry.
    number: String,
    /// The voucher.
    voucher: FreeText,
    /// The text.
    text: FreeText,
    /// The accounts on the other side of the entry.
    counter_accounts: Vec<String>,
    /// How many more there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_counter_accounts: Option<usize>,
    /// The debit; nought for a credit.
    debit: Money,
    /// The credit; nought for a debit.
    credit: Money,
    /// The balance after the line.
    balance: Money,
    /// The amount in the currency of the line, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    foreign: Option<ForeignAmount>,
    /// Who owes or is owed.
    #[serde(skip_serializing_if = "Option::is_none")]
    party: Option<FreeText>,
    /// The VAT code.
    #[serde(skip_serializing_if = "Option::is_none")]
    vat_code: Option<String>,
}

/// A line's amount in its own currency.
#[derive(Debug, Serialize, JsonSchema)]
struct ForeignAmount {
    /// The currency.
    currency: Currency,
    /// Debit less credit.
    amount: Money,
    /// The account's balance in this currency after the line.
    balance: Money,
    /// The rate, in the currency of the books per unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange_rate: Option<ExchangeRate>,
}

/// Where a page begins: after which line, with which balances, and at which posting the first page stood.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Resumed {
    after: Place,
    balance: i64,
    foreign: Vec<(Currency, i64)>,
    known: i64,
}

impl ReadTool for GetAccountStatement {
    const NAME: &'static str = "get_account_statement";
    const PERMISSION: Permission = Permission::LedgerRead;
    const WEIGHT: u32 = 2;
    type Output = AccountStatement;

    fn example() -> Self {
        Self {
            mandate_id: crate::demo::ids::example_ledger_mandate(),
            account: "1020".to_owned(),
            from: None,
            to: None,
            as_known_on: None,
            limit: Some(5),
            cursor: None,
        }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<AccountStatement> {
        let paging = Paging::of(&mut self)?;
        let ledger = Ledger::of(scope, self.mandate_id)?;
        let account = account_numbered(scope, ledger.mandate, &self.account)?;
        let to = self.to.unwrap_or_else(|| scope.today());
        let year_from = FiscalYear::start_at(scope, &ledger, to)?;
        let from = self.from.unwrap_or(year_from);
        if from > to {
            return Err(Error::argument("from", format!("from ({from}) is after to ({to})")));
        }
        let since =
            if from < year_from { FiscalYear::start_at(scope, &ledger, from)? } else { year_from };
        let resumed: Option<Resumed> = scope.position(&paging)?;
        let mut clocks = Clocks::of(scope, Some(to), self.as_known_on)?;
        if let Some(resumed) = &resumed
            && resumed.known != clocks.known.commit
        {
            clocks.known = Known { commit: resumed.known, is_present: false };
        }
        let of = Of { ledger: &ledger, account: Some(account.id), known: clocks.known };
        let report = Report { asked: self, of, account, from, since, clocks };
        report.answer(scope, &paging, resumed)
    }
}

/// A report on its way.
struct Report<'l> {
    asked: GetAccountStatement,
    of: Of<'l>,
    account: Account,
    from: Day,
    /// The day on which accounts of a year's result began at nought.
    since: Day,
    clocks: Clocks,
}

impl Report<'_> {
    /// What was posted before the period and until its end; of accounts of a year's result since the year began.
    fn moved(&self, scope: &mut Read<'_>) -> Result<(Vec<Movement>, Turnovers)> {
        let mut before = self.of.until(scope, self.from.minus_days(1))?;
        let mut until = self.of.until(scope, self.clocks.as_of)?;
        let all = until.clone();
        if self.account.kind.is_anew() {
            for (key, sums) in self.of.until(scope, self.since.minus_days(1))? {
                for side in [&mut before, &mut until] {
                    let one = side.entry(key).or_default();
                    *one = one.minus(sums)?;
                }
            }
        }
        let mut moved = movements(&before, &until);
        Ok((moved.remove(&self.account.id).unwrap_or_default(), all))
    }

    fn figure(&self, scope: &Read<'_>, currency: Option<Currency>) -> Result<Figure> {
        let Clocks { as_of, known } = self.clocks;
        let handles = Handles { mandate: self.of.ledger.mandate, known: known.commit };
        let shape = Shape::Turnover { from: self.from.into(), since: self.since.into() };
        handles.of_account(scope, self.account.id, shape, as_of, currency)
    }

    /// The figures in currencies other than that of the books.
    fn foreign(&self, scope: &Read<'_>, moved: &[Movement]) -> Result<Vec<Foreign>> {
        let others = moved.iter().filter(|one| one.currency != self.of.ledger.currency);
        let one = |movement: &Movement| {
            let within = movement.within()?;
            Ok(Foreign {
                currency: movement.currency,
                opening: movement.before.currency_balance()?,
                debit: within.currency_debit,
                credit: within.currency_credit,
                closing: movement.until.currency_balance()?,
                figure: self.figure(scope, Some(movement.currency))?,
            })
        };
        others.map(one).collect()
    }

    /// Lists a page of lines, with the balances that continue from the page before.
    fn page(
        &self,
        scope: &mut Read<'_>,
        paging: &Paging,
        mut resumed: Resumed,
        after: Option<Place>,
        total: i64,
    ) -> Result<Page<Movements>> {
        let Clocks { as_of, known } = self.clocks;
        let lines = Lines::of(vec![self.account.id], self.from, as_of, known.commit);
        let lines = listed(scope, lines, after, paging.fetch())?;
        let counters = counter_accounts(scope, &lines)?;
        let mut rows = vec![];
        let mut places = vec![];
        for line in &lines {
            rows.push(self.row(line, &counters, &mut resumed)?);
            resumed.after = line.place();
            places.push(resumed.clone());
        }
        let place = |row: &Movements| {
            let at = places.iter().find(|at| at.after == (row.on, row.entry_id, row.position));
            at.cloned()
        };
        scope.cut(rows, total, paging, place)
    }

    fn row(
        &self,
        line: &PostedLine,
        counters: &Counters,
        resumed: &mut Resumed,
    ) -> Result<Movements> {
        let amounts = &line.amounts;
        let amount = less(amounts.debit, amounts.credit)?;
        let balance = added(Money::from_minor(resumed.balance), amount)?;
        resumed.balance = balance.minor();
        let foreign = if amounts.currency == self.of.ledger.currency {
            None
        } else {
            let amount = less(amounts.currency_debit, amounts.currency_credit)?;
            let of = |(currency, _): &&mut (Currency, i64)| *currency == amounts.currency;
            let mut balance = amount;
            if let Some((_, running)) = resumed.foreign.iter_mut().find(of) {
                balance = added(Money::from_minor(*running), amount)?;
                *running = balance.minor();
            }
            let (currency, exchange_rate) = (amounts.currency, amounts.exchange_rate);
            Some(ForeignAmount { currency, amount, balance, exchange_rate })
        };
        let is_debit = amounts.debit > Money::ZERO;
        let mut others = counters.get(&(line.entry_id, !is_debit)).cloned().unwrap_or_default();
        let more = others.len().checked_sub(COUNTER_ACCOUNTS).filter(|more| *more > 0);
        others.truncate(COUNTER_ACCOUNTS);
        Ok(Movements {
            on: line.booked_on,
            entry_id: line.entry_id,
            position: line.position,
            number: line.number(),
            voucher: line.entry.voucher.clone().into(),
            text: line.said().into(),
            counter_accounts: others,
            more_counter_accounts: more,
            debit: amounts.debit,
            credit: amounts.credit,
            balance,
            foreign,
            party: line.party.clone().map(FreeText::from),
            vat_code: line.vat_code.clone(),
        })
    }

    fn answer(
        self,
        scope: &mut Read<'_>,
        paging: &Paging,
        resumed: Option<Resumed>,
    ) -> Result<AccountStatement> {
        let (moved, until) = self.moved(scope)?;
        let (mut opening, mut closing, mut total) = (Money::ZERO, Money::ZERO, 0);
        let (mut debit, mut credit) = (Money::ZERO, Money::ZERO);
        for movement in &moved {
            let within = movement.within()?;
            opening = added(opening, movement.before.balance()?)?;
            closing = added(closing, movement.until.balance()?)?;
            debit = added(debit, within.debit)?;
            credit = added(credit, within.credit)?;
            total += within.lines;
        }
        let foreign = self.foreign(scope, &moved)?;
        let after = resumed.as_ref().map(|resumed| resumed.after);
        let start = resumed.unwrap_or_else(|| Resumed {
            after: (self.from, EntryId::from(uuid::Uuid::nil()), 0),
            balance: opening.minor(),
            foreign: foreign.iter().map(|one| (one.currency, one.opening.minor())).collect(),
            known: self.clocks.known.commit,
        });
        let page = self.page(scope, paging, start, after, total)?;
        let moved = less(added(opening, debit)?, credit)?;
        let currency = self.of.ledger.currency;
        let mut controls =
            vec![Control::equal("opening + debit - credit = closing", currency, moved, closing)];
        let mut notes: Vec<String> = self.note().into_iter().collect();
        notes.extend(kept(scope, self.of, &until, self.clocks.as_of, &mut controls)?);
        if !page.truncated
            && let Some(last) = page.items.last()
        {
            let name = "balance after the last line = closing";
            controls.push(Control::equal(name, currency, last.balance, closing));
        }
        Ok(AccountStatement {
            mandate_id: self.of.ledger.mandate,
            account: self.account.number.clone(),
            label: self.account.label.clone().into(),
            kind: self.account.kind,
            from: self.from,
            to: self.clocks.as_of,
            as_known_on: self.clocks.known.written(),
            report_id: scope.report_id(&self.asked, self.clocks)?,
            currency,
            notes,
            opening,
            debit,
            credit,
            closing,
            figure: self.figure(scope, None)?,
            foreign,
            page,
            controls,
        })
    }

    /// What to know when a period covers more than one fiscal year.
    fn note(&self) -> Option<String> {
        let is_long = self.asked.from.is_some_and(|from| from == self.from);
        (self.account.kind.is_anew() && is_long).then(|| {
            let since = self.since;
            format!("the balance counts from {since}, the first day of the fiscal year of `from`")
        })
    }
}

/// The accounts on each side of entries: `true` for those with a debit.
type Counters = BTreeMap<(EntryId, bool), Vec<String>>;

/// The accounts of some entries.
struct Sides(Vec<EntryId>);

impl HandWritten for Sides {
    type Table = entry_lines::table;
    type SqlType = (Id, Integer, Text);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT l.entry_id, CASE WHEN l.debit > 0 THEN 1 ELSE 0 END, a.number FROM ");
        sql.rows()?;
        sql.text(" AS l CROSS JOIN accounts a WHERE a.tenant_id = l.tenant_id AND a.id = l.account_id AND l.entry_id IN ");
        bind_all(sql, &self.0)?;
        sql.text(" GROUP BY 1, 2, 3 ORDER BY 1, 2, 3");
        Ok(())
    }
}

fn counter_accounts(scope: &mut Read<'_>, lines: &[PostedLine]) -> Result<Counters> {
    if lines.is_empty() {
        return Ok(Counters::new());
    }
    let entries = padded_ids(lines.iter().map(|line| line.entry_id).collect());
    let rows: Vec<(EntryId, i32, String)> =
        scope.load(scope.by_hand(entry_lines::table, Sides(entries)))?;
    let mut counters = Counters::new();
    for (entry, side, number) in rows {
        counters.entry((entry, side == 1)).or_default().push(number);
    }
    Ok(counters)
}
