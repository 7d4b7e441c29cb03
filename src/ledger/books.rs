//! Whose books they are, their fiscal years and their chart.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::{AccountKind, FiscalYearState};
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::{accounts, fiscal_years, ledgers, mandates};
use crate::error::{Code, Error, Result};
use crate::ids::{AccountId, FiscalYearId, MandateId};
use crate::language::Labels;
use crate::money::Currency;
use crate::text::FreeText;

/// The books of a mandate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ledger {
    /// The mandate.
    pub(super) mandate: MandateId,
    /// The currency of the books.
    pub(super) currency: Currency,
    /// Whether they are the firm's own.
    pub(super) is_of_firm: bool,
}

impl Ledger {
    /// The books of `mandate`.
    ///
    /// # Errors
    /// The mandate is out of reach, or keeps no books here.
    pub(super) fn of(scope: &mut Read<'_>, mandate: MandateId) -> Result<Self> {
        let kept = scope.rows(ledgers::table).filter(ledgers::mandate_id.eq(mandate));
        let kept = kept.select((ledgers::currency, ledgers::is_of_firm));
        if let Some((currency, is_of_firm)) = scope.load(kept)?.pop() {
            return Ok(Self { mandate, currency, is_of_firm });
        }
        let this = scope.rows(mandates::table).filter(mandates::id.eq(mandate));
        let number: String = scope.one("mandate", this.select(mandates::number))?;
        let said = format!("mandate {number} keeps no books here; choose another mandate");
        Err(Error::refuse(Code::NotFound, said))
    }
}

/// A fiscal year of a mandate.
#[derive(Debug, Clone, Serialize, Queryable, JsonSchema)]
pub(super) struct FiscalYear {
    /// The fiscal year.
    pub(super) id: FiscalYearId,
    /// Its name.
    pub(super) label: FreeText,
    /// Its first day.
    pub(super) starts_on: Day,
    /// Its last day.
    pub(super) ends_on: Day,
    /// Whether it takes postings, now and not at a clock: reports say it apart.
    #[serde(skip)]
    pub(super) state: FiscalYearState,
}

/// The columns of a [`FiscalYear`].
const YEAR: (
    fiscal_years::id,
    fiscal_years::label,
    fiscal_years::starts_on,
    fiscal_years::ends_on,
    fiscal_years::state,
) = (
    fiscal_years::id,
    fiscal_years::label,
    fiscal_years::starts_on,
    fiscal_years::ends_on,
    fiscal_years::state,
);

impl FiscalYear {
    /// The year named, or the one that contains `day`, or the latest.
    ///
    /// # Errors
    /// There is no such year in these books, or none at all.
    pub(super) fn chosen(
        scope: &mut Read<'_>,
        ledger: &Ledger,
        id: Option<FiscalYearId>,
        day: Day,
    ) -> Result<Self> {
        let all = scope.rows(fiscal_years::table);
        let years = all.filter(fiscal_years::mandate_id.eq(ledger.mandate));
        if let Some(id) = id {
            return scope.one("fiscal year", years.filter(fiscal_years::id.eq(id)).select(YEAR));
        }
        let mut years: Vec<Self> = scope.load(years.order(fiscal_years::starts_on).select(YEAR))?;
        let containing = years.iter().position(|year| year.contains(day));
        let latest = years.len().checked_sub(1);
        let chosen = containing.or(latest);
        let none = || Error::refuse(Code::NotFound, "these books have no fiscal year yet");
        chosen.map(|at| years.swap_remove(at)).ok_or_else(none)
    }

    /// The first day of the year that contains `day`; without one, that of the last before it, or the day itself.
    pub(super) fn start_at(scope: &mut Read<'_>, ledger: &Ledger, day: Day) -> Result<Day> {
        Ok(Self::begun_by(scope, ledger, day)?.unwrap_or(day))
    }

    /// The first day of the last year that had begun by `day`.
    pub(super) fn begun_by(scope: &mut Read<'_>, ledger: &Ledger, day: Day) -> Result<Option<Day>> {
        let begun = scope
            .rows(fiscal_years::table)
            .filter(fiscal_years::mandate_id.eq(ledger.mandate))
            .filter(fiscal_years::starts_on.le(day))
            .order(fiscal_years::starts_on.desc())
            .select(fiscal_years::starts_on);
        Ok(scope.load(begun.at_most(1))?.pop())
    }

    /// Whether `day` lies in the year.
    pub(super) fn contains(&self, day: Day) -> bool {
        (self.starts_on..=self.ends_on).contains(&day)
    }

    /// The day until which a report of the year counts: `asked`, else today while the year runs, else its last day.
    ///
    /// # Errors
    /// The day asked for does not lie in the year: in that named, or, if none has the day, in the latest.
    pub(super) fn until(&self, asked: Option<Day>, today: Day) -> Result<Day> {
        let Some(day) = asked else {
            return Ok(if self.contains(today) { today } else { self.ends_on });
        };
        let Self { label, starts_on, ends_on, .. } = self;
        let label = label.stored();
        if !self.contains(day) {
            let said = format!("{day} is not in fiscal year {label} ({starts_on} to {ends_on})");
            return Err(Error::argument("to", said));
        }
        Ok(day)
    }
}

/// An account of a chart.
#[derive(Debug, Clone)]
pub(super) struct Account {
    /// The account.
    pub(super) id: AccountId,
    /// Its number.
    pub(super) number: String,
    /// Its label in the caller's language.
    pub(super) label: String,
    /// What it is.
    pub(super) kind: AccountKind,
}

/// The columns of an account, as they are read.
type AccountRow = (AccountId, String, Labels, AccountKind);

fn account(scope: &Read<'_>, (id, number, labels, kind): AccountRow) -> Account {
    Account { id, number, label: scope.caller().language().pick(labels), kind }
}

/// All accounts of a chart, by number.
pub(super) fn chart(scope: &mut Read<'_>, mandate: MandateId) -> Result<Vec<Account>> {
    let all = scope
        .rows(accounts::table)
        .filter(accounts::mandate_id.eq(mandate))
        .order(accounts::number)
        .select((accounts::id, accounts::number, LABELS, accounts::kind));
    let rows: Vec<AccountRow> = scope.load(all)?;
    Ok(rows.into_iter().map(|row| account(scope, row)).collect())
}

/// The account with this number.
///
/// # Errors
/// The chart has none.
pub(super) fn account_numbered(
    scope: &mut Read<'_>,
    mandate: MandateId,
    number: &str,
) -> Result<Account> {
    let this = scope
        .rows(accounts::table)
        .filter(accounts::mandate_id.eq(mandate))
        .filter(accounts::number.eq(number))
        .select((accounts::id, accounts::number, LABELS, accounts::kind));
    let row: Option<AccountRow> = scope.load(this)?.pop();
    let said = "no account of the chart has this number; find it with search_accounts";
    row.map(|row| account(scope, row)).ok_or_else(|| Error::argument("account", said))
}

/// The account with this id, and the mandate whose chart it is of.
///
/// # Errors
/// It is out of reach.
pub(super) fn account_with_id(scope: &mut Read<'_>, id: AccountId) -> Result<(MandateId, Account)> {
    let this = scope
        .rows(accounts::table)
        .filter(accounts::id.eq(id))
        .select((accounts::mandate_id, (accounts::id, accounts::number, LABELS, accounts::kind)));
    let (mandate, row): (MandateId, AccountRow) = scope.one("account", this)?;
    Ok((mandate, account(scope, row)))
}

/// The labels of an account.
pub(super) const LABELS: (accounts::label_fr, accounts::label_de, accounts::label_en) =
    (accounts::label_fr, accounts::label_de, accounts::label_en);
