//! The lines of the profit and loss and of the balance sheet: accounts, or groups of them, in their sections.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Text};
use schemars::JsonSchema;
use serde::Serialize;

use super::AccountKind;
use super::balances::{Of, less, total};
use super::books::Account;
use super::figures::{Fitting, Group, Handles, Shape};
use super::lines::CLOSING_JOURNAL;
use super::proof::prefix;
use super::sections::Section;
use crate::dates::Day;
use crate::db::schema::entries;
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::{AccountId, MandateId, TenantId};
use crate::money::Money;
use crate::reports::Figure;
use crate::text::FreeText;

/// An account, a group of accounts, or a line without an account of its own.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReportLine {
    /// Its number, or the digits that the numbers of a group begin with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) account: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<FreeText>,
    /// How many accounts are in the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accounts: Option<usize>,
    /// The figures.
    #[serde(flatten)]
    pub(super) amounts: Compared,
}

/// A figure and, where asked for, the one it is compared with.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Compared {
    /// The amount.
    pub(super) amount: Money,
    /// The handle for explain_figure.
    pub(super) figure: Figure,
    /// The amount a year before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<Money>,
    /// The handle of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) previous_figure: Option<Figure>,
}

/// The accounts of a section.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReportSection {
    /// Which one.
    pub(super) section: Section,
    /// Its name.
    pub(super) label: &'static str,
    /// Its lines.
    pub(super) lines: Vec<ReportLine>,
    /// The sum of its lines.
    pub(super) total: Compared,
}

/// An account and its amounts, now and before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) account: &'a Account,
    pub(super) amount: Money,
    pub(super) previous: Money,
}

/// How the amounts of a report follow from lines: over which days, now and before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub(super) handles: Handles,
    pub(super) now: (Shape, Day),
    pub(super) before: Option<(Shape, Day)>,
}

impl Terms {
    /// Both amounts of all accounts that fit.
    pub(super) fn fitting(
        &self,
        scope: &Read<'_>,
        of: &Fitting,
        amounts: (Money, Money),
    ) -> Result<Compared> {
        self.compared(amounts, |(shape, to)| {
            self.handles.of_fitting(scope, of.clone(), shape, to, None)
        })
    }

    fn compared(
        &self,
        (amount, previous): (Money, Money),
        handle: impl Fn((Shape, Day)) -> Result<Figure>,
    ) -> Result<Compared> {
        let figure = handle(self.now)?;
        let previous_figure = self.before.map(&handle).transpose()?;
        let previous = self.before.map(|_| previous);
        Ok(Compared { amount, figure, previous, previous_figure })
    }

    /// The lines of `items`, which are all of one section.
    fn lines(
        &self,
        scope: &Read<'_>,
        section: Option<Section>,
        items: &[Item<'_>],
        level: Option<u8>,
    ) -> Result<Vec<ReportLine>> {
        let alike = |a: &Item<'_>, b: &Item<'_>| {
            prefix(&a.account.number, level) == prefix(&b.account.number, level)
        };
        let line = |group: &[Item<'_>]| {
            let first = group.first().map(|item| item.account);
            let number = first.map_or("", |account| account.number.as_str());
            let (name, of) = match (level, first) {
                (None, Some(account)) => (Some(account.label.clone()), None),
                _ => (None, Some(Group::of(number, level))),
            };
            let amounts = sums(group)?;
            let amounts = if let (None, Some(account)) = (&of, first) {
                self.compared(amounts, |(shape, to)| {
                    self.handles.of_account(scope, account.id, shape, to, None)
                })?
            } else {
                let fitting = Fitting { section, group: of, ..Fitting::default() };
                self.fitting(scope, &fitting, amounts)?
            };
            let header = group.iter().find(|item| item.account.number == prefix(number, level));
            let label = name.or_else(|| header.map(|item| item.account.label.clone()));
            Ok(ReportLine {
                account: Some(prefix(number, level).to_owned()),
                label: label.map(FreeText::from),
                accounts: level.map(|_| group.len()),
                amounts,
            })
        };
        items.chunk_by(alike).map(line).collect()
    }

    /// The lines in their sections, in order; what has no section is left out.
    pub(super) fn sections(
        &self,
        scope: &Read<'_>,
        items: &[Item<'_>],
        level: Option<u8>,
    ) -> Result<Vec<ReportSection>> {
        let mut by_section: BTreeMap<Section, Vec<Item<'_>>> = BTreeMap::new();
        for item in items {
            if let Some(section) = Section::of(item.account.kind, &item.account.number) {
                by_section.entry(section).or_default().push(*item);
            }
        }
        let language = scope.caller().language();
        let section = |(section, items): (Section, Vec<Item<'_>>)| {
            let of = Fitting { section: Some(section), ..Fitting::default() };
            Ok(ReportSection {
                section,
                label: section.label(language),
                lines: self.lines(scope, Some(section), &items, level)?,
                total: self.fitting(scope, &of, sums(&items)?)?,
            })
        };
        by_section.into_iter().map(section).collect()
    }
}

/// The sums of the amounts, now and before.
pub(super) fn sums(items: &[Item<'_>]) -> Result<(Money, Money)> {
    let now = total(items.iter().map(|item| item.amount))?;
    Ok((now, total(items.iter().map(|item| item.previous))?))
}

/// What the entries that close a year have posted in a period, by account.
struct ClosingEntries {
    tenant: TenantId,
    mandate: MandateId,
    from: Day,
    to: Day,
    known: i64,
}

impl HandWritten for ClosingEntries {
    type Table = entries::table;
    type SqlType = (Id, Amount, Amount);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT l.account_id, sum(l.debit), sum(l.credit) FROM ");
        sql.rows()?;
        sql.text(" AS e JOIN entry_lines l ON l.tenant_id = e.tenant_id AND l.entry_id = e.id WHERE e.mandate_id = ");
        sql.bind::<Id, _>(&self.mandate)?;
        sql.text(" AND e.fiscal_year_id IN (SELECT y.id FROM fiscal_years y WHERE y.tenant_id = ");
        sql.bind::<Id, _>(&self.tenant)?;
        sql.text(" AND y.mandate_id = ");
        sql.bind::<Id, _>(&self.mandate)?;
        sql.text(" AND y.starts_on <= ");
        sql.bind::<Date, _>(&self.to)?;
        sql.text(" AND y.ends_on >= ");
        sql.bind::<Date, _>(&self.from)?;
        sql.text(") AND e.journal = ");
        sql.bind::<Text, _>(&CLOSING_JOURNAL)?;
        // The few entries of one journal are found by it: days and postings, which have indexes of their own, are not.
        sql.text(" AND e.commit_number + 0 <= ");
        sql.bind::<BigInt, _>(&self.known)?;
        sql.text(" AND l.booked_on >= ");
        sql.bind::<Date, _>(&self.from)?;
        sql.text(" AND l.booked_on <= ");
        sql.bind::<Date, _>(&self.to)?;
        sql.text(" GROUP BY l.account_id");
        Ok(())
    }
}

/// Debit less credit of the entries that close a year, by account.
///
/// # Errors
/// The database is away; a sum is out of range.
pub(super) fn closed(
    scope: &mut Read<'_>,
    of: Of<'_>,
    from: Day,
    to: Day,
) -> Result<BTreeMap<AccountId, Money>> {
    let (tenant, mandate, known) = (scope.tenant(), of.ledger.mandate, of.known.commit);
    let query = ClosingEntries { tenant, mandate, from, to, known };
    let rows: Vec<(AccountId, Money, Money)> = scope.load(scope.by_hand(entries::table, query))?;
    rows.into_iter().map(|(account, debit, credit)| Ok((account, less(debit, credit)?))).collect()
}

/// The income statement of some days: what each account adds to the result, and the same result told by the others.
#[derive(Debug)]
pub(super) struct Results {
    /// Credit less debit by account of the result, without the entries that close a year.
    pub(super) by_account: BTreeMap<AccountId, Money>,
    /// Their sum.
    pub(super) result: Money,
    /// By how much assets less liabilities and equity have changed, without those entries.
    pub(super) change: Money,
}

impl Results {
    /// Computes the result of the days from `from` to `to` twice, from balances until the day before and until the last.
    ///
    /// # Errors
    /// The database is away; a sum is out of range.
    pub(super) fn of(
        scope: &mut Read<'_>,
        of: Of<'_>,
        chart: &[Account],
        (from, to): (Day, Day),
        moved: &BTreeMap<AccountId, Vec<super::balances::Movement>>,
    ) -> Result<Self> {
        let closed = closed(scope, of, from, to)?;
        let (mut by_account, mut result, mut change) = (BTreeMap::new(), Money::ZERO, Money::ZERO);
        for Account { id, kind, .. } in chart {
            let within = moved.get(id).into_iter().flatten().map(|one| one.within()?.balance());
            let balance = total(within.collect::<Result<Vec<_>>>()?)?;
            let balance = less(balance, closed.get(id).copied().unwrap_or_default())?;
            if kind.is_of_result() {
                let amount = less(Money::ZERO, balance)?;
                result = super::balances::added(result, amount)?;
                by_account.insert(*id, amount);
            } else {
                change = super::balances::added(change, balance)?;
            }
        }
        Ok(Self { by_account, result, change })
    }
}

/// The kinds of the accounts on the side of liabilities and equity, with the results that equity has earned.
pub(super) const OWN: [AccountKind; 4] =
    [AccountKind::Equity, AccountKind::Income, AccountKind::Expense, AccountKind::Closing];
