//! Figures of the books taken apart: which lines each is the sum of.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::AccountKind;
use super::books::{Account, Ledger, account_with_id, chart};
use super::lines::{Closing, Lines, PartSums, Place, PostedLine, listed, parts};
use super::proof::prefix;
use super::sections::Section;
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::{Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{AccountId, MandateId, RecordId};
use crate::money::{Currency, Money};
use crate::reports::{ExplainedRow, Explanation, Figure, FigureSource, KnownOn, Part};
use crate::text::FreeText;

/// A figure, or the figures of a row: lines of some accounts over some days, as known at a posting.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LedgerFigure {
    accounts: Chosen,
    shape: Shape,
    to: Compact,
    known: i64,
    currency: Option<Currency>,
}

/// A day as a number of few bytes: there is a handle on every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Compact(i64);

impl From<Day> for Compact {
    fn from(day: Day) -> Self {
        Self(day.days_since(Day::FIRST))
    }
}

impl From<Compact> for Day {
    fn from(Compact(days): Compact) -> Self {
        Self::FIRST.plus_days(days)
    }
}

/// Whose lines.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Chosen {
    /// Those of one account.
    Account(Uuid),
    /// Those of all accounts of a mandate's chart that fit.
    Fitting { mandate: Uuid, of: Fitting },
}

/// Which accounts of a chart are meant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Fitting {
    /// Only accounts of these kinds; of every kind when empty.
    pub(super) kinds: Vec<AccountKind>,
    /// Only accounts of this section; of every section without.
    pub(super) section: Option<Section>,
    /// Only accounts of this group.
    pub(super) group: Option<Group>,
}

/// Accounts whose numbers have the same first digits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Group {
    /// How many digits.
    pub(super) level: Option<u8>,
    /// The digits.
    pub(super) prefix: String,
}

impl Group {
    /// The group of an account with this number.
    pub(super) fn of(number: &str, level: Option<u8>) -> Self {
        Self { level, prefix: prefix(number, level).to_owned() }
    }

    fn holds(&self, number: &str) -> bool {
        prefix(number, self.level) == self.prefix
    }
}

impl Fitting {
    /// All accounts of these kinds.
    pub(super) fn of_kinds(kinds: &[AccountKind]) -> Self {
        Self { kinds: kinds.to_vec(), ..Self::default() }
    }

    /// Whether an account is meant.
    pub(super) fn holds(&self, account: &Account) -> bool {
        let Account { kind, number, .. } = account;
        (self.kinds.is_empty() || self.kinds.contains(kind))
            && self.section.is_none_or(|section| Section::of(*kind, number) == Some(section))
            && self.group.as_ref().is_none_or(|group| group.holds(number))
    }
}

/// How the figure follows from the lines.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum Shape {
    /// Opening, debit, credit and closing: what was there before `from`, and the debits and credits since. Accounts of a
    /// year's result restarted on `since`.
    Turnover { from: Compact, since: Compact },
    /// Debit less credit since `from`.
    Balance { from: Compact },
    /// Credit less debit since `from`.
    Owed { from: Compact },
    /// Credit less debit since `from`, but for the entries that close a year.
    Result { from: Compact },
}

impl Shape {
    /// Debit less credit, from the first line on.
    pub(super) fn balance() -> Self {
        Self::Balance { from: Day::FIRST.into() }
    }

    /// Credit less debit, from the first line on.
    pub(super) fn owed() -> Self {
        Self::Owed { from: Day::FIRST.into() }
    }
}

/// A report's clocks and books, from which its handles are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handles {
    /// Whose books.
    pub(super) mandate: MandateId,
    /// The last posting that counts.
    pub(super) known: i64,
}

impl Handles {
    /// The handle of figures of one account.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn of_account(
        self,
        scope: &Read<'_>,
        account: AccountId,
        shape: Shape,
        to: Day,
        currency: Option<Currency>,
    ) -> Result<Figure> {
        let accounts = Chosen::Account(account.into());
        scope.figure(&LedgerFigure { accounts, shape, to: to.into(), known: self.known, currency })
    }

    /// The handle of figures of all accounts that fit.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn of_fitting(
        self,
        scope: &Read<'_>,
        of: Fitting,
        shape: Shape,
        to: Day,
        currency: Option<Currency>,
    ) -> Result<Figure> {
        let accounts = Chosen::Fitting { mandate: self.mandate.into(), of };
        scope.figure(&LedgerFigure { accounts, shape, to: to.into(), known: self.known, currency })
    }
}

/// Where a row of an explanation stands.
fn place(row: &ExplainedRow) -> Place {
    (
        row.on,
        row.record_id.map_or_else(Uuid::nil, Uuid::from).into(),
        row.position.unwrap_or_default(),
    )
}

/// What an explanation needs to know of the books.
struct Meant {
    ledger: Ledger,
    accounts: Vec<Account>,
}

impl FigureSource for LedgerFigure {
    const TAG: u8 = 1;
    const PERMISSION: Permission = Permission::LedgerRead;

    fn explain(&self, scope: &mut Read<'_>, paging: &Paging) -> Result<Explanation> {
        let meant = self.meant(scope)?;
        let after = scope.position::<Place>(paging)?;
        let (parts, rows) = if meant.accounts.is_empty() {
            (vec![], vec![])
        } else {
            let lines = self.lines(&meant.accounts);
            let sums = parts(scope, lines.clone(), self.since())?;
            (self.parts(&meant, &sums)?, listed(scope, lines, after, paging.fetch())?)
        };
        let total = parts.iter().map(|part| part.rows).sum();
        let rows = rows.iter().map(|line| self.row(&meant, line)).collect::<Result<Vec<_>>>()?;
        let page = scope.cut(rows, total, paging, place)?;
        Ok(Explanation {
            figure: self.said(&meant),
            as_of: self.to.into(),
            as_known_on: KnownOn::Commit(self.known),
            parts,
            rule: Some(self.rule().to_owned()),
            rows: page,
        })
    }
}

impl LedgerFigure {
    fn meant(&self, scope: &mut Read<'_>) -> Result<Meant> {
        match &self.accounts {
            Chosen::Account(id) => {
                let (mandate, account) = account_with_id(scope, (*id).into())?;
                Ok(Meant { ledger: Ledger::of(scope, mandate)?, accounts: vec![account] })
            }
            Chosen::Fitting { mandate, of } => {
                let ledger = Ledger::of(scope, (*mandate).into())?;
                let mut accounts = chart(scope, ledger.mandate)?;
                accounts.retain(|account| of.holds(account));
                Ok(Meant { ledger, accounts })
            }
        }
    }

    /// The day that tells what was there before from what came since.
    fn since(&self) -> Day {
        match self.shape {
            Shape::Turnover { from, .. } => from.into(),
            Shape::Balance { .. } | Shape::Owed { .. } | Shape::Result { .. } => Day::FIRST,
        }
    }

    fn lines(&self, accounts: &[Account]) -> Lines {
        let ids = accounts.iter().map(|account| account.id).collect();
        let from = match self.shape {
            Shape::Turnover { .. } => Day::FIRST,
            Shape::Balance { from } | Shape::Owed { from } | Shape::Result { from } => from.into(),
        };
        let mut lines = Lines::of(ids, from, self.to.into(), self.known);
        lines.currency = self.currency;
        if let Shape::Result { .. } = self.shape {
            lines.closing = Closing::LeftOut;
        }
        if let Shape::Turnover { since, .. } = self.shape {
            let carried = accounts.iter().filter(|account| !account.kind.is_anew());
            lines = lines.restarting(since.into(), carried.map(|account| account.id).collect());
        }
        lines
    }

    /// The name of the part that an amount belongs to, and its sign.
    fn part(&self, part: i32, (debit, credit): (Money, Money)) -> Result<(&'static str, Money)> {
        let less =
            |a: Money, b: Money| a.minus(b).ok_or_else(|| Error::fault("a figure is out of range"));
        Ok(match (self.shape, part) {
            (Shape::Turnover { .. }, 0) => ("opening", less(debit, credit)?),
            (Shape::Turnover { .. }, 1) => ("debit", debit),
            (Shape::Turnover { .. }, _) => ("credit", credit),
            (Shape::Balance { .. }, _) => ("balance", less(debit, credit)?),
            (Shape::Owed { .. }, _) => ("balance", less(credit, debit)?),
            (Shape::Result { .. }, _) => ("result", less(credit, debit)?),
        })
    }

    /// The sums of the parts, each once and in order; a turnover has all three.
    fn parts(&self, meant: &Meant, sums: &[PartSums]) -> Result<Vec<Part>> {
        let currency = self.currency.unwrap_or(meant.ledger.currency);
        let names: &[&'static str] = match self.shape {
            Shape::Turnover { .. } => &["opening", "debit", "credit"],
            Shape::Balance { .. } | Shape::Owed { .. } => &["balance"],
            Shape::Result { .. } => &["result"],
        };
        let none = |part: &&'static str| Part { part, currency, amount: Money::ZERO, rows: 0 };
        let mut parts: Vec<Part> = names.iter().map(none).collect();
        for one in sums {
            let amounts = match self.currency {
                None => (one.debit, one.credit),
                Some(_) => (one.currency_debit, one.currency_credit),
            };
            let (name, amount) = self.part(one.part, amounts)?;
            if let Some(part) = parts.iter_mut().find(|part| part.part == name) {
                part.amount = super::balances::added(part.amount, amount)?;
                part.rows += one.count;
            }
        }
        Ok(parts)
    }

    fn row(&self, meant: &Meant, line: &PostedLine) -> Result<ExplainedRow> {
        let amounts = &line.amounts;
        let part = match () {
            () if line.booked_on < self.since() => 0,
            () if amounts.debit > Money::ZERO => 1,
            () => 2,
        };
        let (part, amount) = self.part(
            part,
            match self.currency {
                None => (amounts.debit, amounts.credit),
                Some(_) => (amounts.currency_debit, amounts.currency_credit),
            },
        )?;
        Ok(ExplainedRow {
            part,
            on: line.booked_on,
            record: "entry_line",
            record_id: Some(RecordId::from(Uuid::from(line.entry_id))),
            position: Some(line.position),
            number: Some(line.number()),
            text: FreeText::from(line.said()),
            currency: self.currency.unwrap_or(meant.ledger.currency),
            amount,
            taxed: None,
        })
    }

    fn rule(&self) -> &'static str {
        match self.shape {
            Shape::Turnover { .. } => "closing = opening + debit - credit",
            Shape::Balance { .. } => "balance = debit - credit of the lines",
            Shape::Owed { .. } => "balance = credit - debit of the lines",
            Shape::Result { .. } => {
                "result = credit - debit of the lines, without the entries that close a year"
            }
        }
    }

    fn said(&self, meant: &Meant) -> String {
        let of = match (meant.accounts.as_slice(), &self.accounts) {
            ([one], Chosen::Account(_)) => format!("account {} {}", one.number, one.label),
            ([], _) => "no account".to_owned(),
            ([one], _) => format!("1 account, {}", one.number),
            ([first, .., last], _) => {
                format!("{} accounts, {} to {}", meant.accounts.len(), first.number, last.number)
            }
        };
        let currency = self.currency.map_or_else(String::new, |currency| format!(" in {currency}"));
        let to = Day::from(self.to);
        match self.shape {
            Shape::Turnover { from, .. } => {
                format!("turnover of {of}{currency}, {} to {to}", Day::from(from))
            }
            Shape::Result { from } => {
                format!("result of {of}{currency}, {} to {to}", Day::from(from))
            }
            Shape::Balance { from } | Shape::Owed { from } if Day::from(from) > Day::FIRST => {
                format!("balance of {of}{currency}, {} to {to}", Day::from(from))
            }
            Shape::Balance { .. } | Shape::Owed { .. } => {
                format!("balance of {of}{currency} on {to}")
            }
        }
    }
}
