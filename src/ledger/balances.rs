//! What was posted until the end of a day, as known at a posting: the one computation behind every balance.
//!
//! Whole months come from the sums kept with the postings, the rest of a month from its lines; what was posted after the
//! known posting is taken off again, found by its number. No query reads all lines of a large ledger.

use std::collections::{BTreeMap, BTreeSet};

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Text};

use super::books::Ledger;
use crate::dates::Day;
use crate::db::schema::{account_balances, entries, entry_lines};
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::{Error, Result};
use crate::ids::{AccountId, MandateId, TenantId};
use crate::money::{Currency, Money};
use crate::reports::Known;

/// Lines at most that a report sums anew to prove the sums kept with the postings.
const RECOMPUTED: i64 = 25_000;

/// What was posted to an account in one currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Turnover {
    /// In the currency of the books.
    pub(super) debit: Money,
    /// In the currency of the books.
    pub(super) credit: Money,
    /// In the currency of the lines.
    pub(super) currency_debit: Money,
    /// In the currency of the lines.
    pub(super) currency_credit: Money,
    /// How many lines that is.
    pub(super) lines: i64,
}

impl Turnover {
    fn with(self, other: Self, by: fn(Money, Money) -> Option<Money>) -> Option<Self> {
        Some(Self {
            debit: by(self.debit, other.debit)?,
            credit: by(self.credit, other.credit)?,
            currency_debit: by(self.currency_debit, other.currency_debit)?,
            currency_credit: by(self.currency_credit, other.currency_credit)?,
            lines: self.lines,
        })
    }

    /// The sum of both.
    pub(super) fn plus(self, other: Self) -> Result<Self> {
        let sum = self.with(other, Money::plus).ok_or_else(out_of_range)?;
        Ok(Self { lines: self.lines + other.lines, ..sum })
    }

    /// What is left without the other.
    pub(super) fn minus(self, other: Self) -> Result<Self> {
        let rest = self.with(other, Money::minus).ok_or_else(out_of_range)?;
        Ok(Self { lines: self.lines - other.lines, ..rest })
    }

    /// Debit less credit, in the currency of the books.
    pub(super) fn balance(self) -> Result<Money> {
        less(self.debit, self.credit)
    }

    /// Debit less credit, in the currency of the lines.
    pub(super) fn currency_balance(self) -> Result<Money> {
        less(self.currency_debit, self.currency_credit)
    }
}

fn out_of_range() -> Error {
    Error::fault("the balances are out of range")
}

/// The sum of two amounts of a report.
pub(super) fn added(a: Money, b: Money) -> Result<Money> {
    a.plus(b).ok_or_else(out_of_range)
}

/// The first amount less the second.
pub(super) fn less(a: Money, b: Money) -> Result<Money> {
    a.minus(b).ok_or_else(out_of_range)
}

/// The sum of amounts.
pub(super) fn total(amounts: impl IntoIterator<Item = Money>) -> Result<Money> {
    amounts.into_iter().try_fold(Money::ZERO, added)
}

/// Turnovers by account and currency.
pub(super) type Turnovers = BTreeMap<(AccountId, Currency), Turnover>;

/// A row of sums.
type Sums = (AccountId, Currency, Money, Money, Money, Money, i64);
type SumsSql = (Id, Text, Amount, Amount, Amount, Amount, BigInt);

fn turnover(
    (account, currency, debit, credit, currency_debit, currency_credit, lines): Sums,
) -> ((AccountId, Currency), Turnover) {
    ((account, currency), Turnover { debit, credit, currency_debit, currency_credit, lines })
}

const SUMS_OF_LINES: &str = "SELECT l.account_id, l.currency, sum(l.debit), sum(l.credit), sum(l.currency_debit), \
     sum(l.currency_credit), count(*) FROM ";

/// The sums kept with the postings, of the months that begin before a day.
struct Months {
    mandate: MandateId,
    account: Option<AccountId>,
    before: Day,
}

impl HandWritten for Months {
    type Table = account_balances::table;
    type SqlType = SumsSql;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT b.account_id, b.currency, sum(b.debit), sum(b.credit), sum(b.currency_debit), sum(b.currency_credit), CAST(sum(b.line_count) AS BIGINT) FROM ");
        sql.rows()?;
        sql.text(" AS b WHERE b.mandate_id = ");
        sql.bind::<Id, _>(&self.mandate)?;
        if let Some(account) = &self.account {
            sql.text(" AND b.account_id = ");
            sql.bind::<Id, _>(account)?;
        }
        sql.text(" AND b.month < ");
        sql.bind::<Date, _>(&self.before)?;
        sql.text(" GROUP BY b.account_id, b.currency");
        Ok(())
    }
}

/// The posted lines of some days of one month; the drafts among them are few, and left out by their own index.
struct PartOfMonth {
    tenant: TenantId,
    mandate: MandateId,
    account: Option<AccountId>,
    from: Day,
    to: Day,
}

impl HandWritten for PartOfMonth {
    type Table = entry_lines::table;
    type SqlType = SumsSql;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text(SUMS_OF_LINES);
        sql.rows()?;
        // One condition or the other, so that the index of its own is taken.
        if let Some(account) = &self.account {
            sql.text(" AS l WHERE l.account_id = ");
            sql.bind::<Id, _>(account)?;
        } else {
            sql.text(" AS l WHERE l.mandate_id = ");
            sql.bind::<Id, _>(&self.mandate)?;
        }
        sql.text(" AND l.booked_on >= ");
        sql.bind::<Date, _>(&self.from)?;
        sql.text(" AND l.booked_on <= ");
        sql.bind::<Date, _>(&self.to)?;
        sql.text(" AND l.entry_id NOT IN (SELECT e.id FROM entries e WHERE e.tenant_id = ");
        sql.bind::<Id, _>(&self.tenant)?;
        sql.text(" AND e.mandate_id = ");
        sql.bind::<Id, _>(&self.mandate)?;
        sql.text(" AND e.state = 'draft') GROUP BY l.account_id, l.currency");
        Ok(())
    }
}

/// Which entries count, by the numbers of their postings.
#[derive(Clone, Copy)]
enum Posted {
    After(i64),
    Until(i64),
}

/// The lines until the end of a day of the entries posted after, or until, a number.
struct ByPosting {
    mandate: MandateId,
    account: Option<AccountId>,
    posted: Posted,
    to: Day,
}

impl HandWritten for ByPosting {
    type Table = entries::table;
    type SqlType = SumsSql;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text(SUMS_OF_LINES);
        sql.rows()?;
        sql.text(" AS e JOIN entry_lines l ON l.tenant_id = e.tenant_id AND l.entry_id = e.id WHERE e.mandate_id = ");
        sql.bind::<Id, _>(&self.mandate)?;
        let (text, number) = match &self.posted {
            Posted::After(number) => (" AND e.commit_number > ", number),
            Posted::Until(number) => (" AND e.commit_number <= ", number),
        };
        sql.text(text);
        sql.bind::<BigInt, _>(number)?;
        sql.text(" AND e.booked_on <= ");
        sql.bind::<Date, _>(&self.to)?;
        sql.text(" AND l.booked_on <= ");
        sql.bind::<Date, _>(&self.to)?;
        if let Some(account) = &self.account {
            sql.text(" AND l.account_id = ");
            sql.bind::<Id, _>(account)?;
        }
        sql.text(" GROUP BY l.account_id, l.currency");
        Ok(())
    }
}

/// Whose balances are meant, and which postings count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of<'l> {
    /// The books.
    pub(super) ledger: &'l Ledger,
    /// One account, or all.
    pub(super) account: Option<AccountId>,
    /// The last posting that counts.
    pub(super) known: Known,
}

impl Of<'_> {
    /// What was posted until the end of `day`.
    ///
    /// # Errors
    /// The database is away; a sum is out of range.
    pub(super) fn until(&self, scope: &mut Read<'_>, day: Day) -> Result<Turnovers> {
        let Self { ledger: &Ledger { mandate, .. }, account, known } = *self;
        let next = day.plus_days(1);
        let before = next.month_start();
        let kept = scope.by_hand(account_balances::table, Months { mandate, account, before });
        let mut all: Turnovers = scope.load::<_, Sums>(kept)?.into_iter().map(turnover).collect();
        if before < next {
            let tenant = scope.tenant();
            let part = PartOfMonth { tenant, mandate, account, from: before, to: day };
            let part = scope.by_hand(entry_lines::table, part);
            for (key, sums) in scope.load::<_, Sums>(part)?.into_iter().map(turnover) {
                let one = all.entry(key).or_default();
                *one = one.plus(sums)?;
            }
        }
        if !known.is_present {
            for (key, sums) in self.by_posting(scope, Posted::After(known.commit), day)? {
                let one = all.entry(key).or_default();
                *one = one.minus(sums)?;
            }
            all.retain(|_, one| *one != Turnover::default());
        }
        Ok(all)
    }

    fn by_posting(&self, scope: &mut Read<'_>, posted: Posted, to: Day) -> Result<Turnovers> {
        let Self { ledger: &Ledger { mandate, .. }, account, .. } = *self;
        let query = scope.by_hand(entries::table, ByPosting { mandate, account, posted, to });
        Ok(scope.load::<_, Sums>(query)?.into_iter().map(turnover).collect())
    }

    /// By how much `kept`, which was posted until the end of `day`, differs from the lines themselves, account by account;
    /// nothing where they are too many to be summed anew.
    ///
    /// # Errors
    /// The database is away; a sum is out of range.
    pub(super) fn deviation(
        &self,
        scope: &mut Read<'_>,
        kept: &Turnovers,
        day: Day,
    ) -> Result<Option<Money>> {
        if kept.values().map(|one| one.lines).sum::<i64>() > RECOMPUTED {
            return Ok(None);
        }
        let mut lines = self.by_posting(scope, Posted::Until(self.known.commit), day)?;
        let mut deviation = Money::ZERO;
        for (key, kept) in kept {
            let summed = lines.remove(key).unwrap_or_default();
            deviation = added(deviation, distance(*kept, summed)?)?;
        }
        for summed in lines.into_values() {
            deviation = added(deviation, distance(Turnover::default(), summed)?)?;
        }
        Ok(Some(deviation))
    }
}

/// How far two turnovers are apart: the amounts, each without its sign; those in the currency of the lines where those in
/// the currency of the books agree.
fn distance(a: Turnover, b: Turnover) -> Result<Money> {
    let apart = a.minus(b)?;
    let size = |amounts: [Money; 2]| {
        total(amounts.map(|amount| Money::from_minor(amount.minor().saturating_abs())))
    };
    match size([apart.debit, apart.credit])? {
        Money::ZERO => size([apart.currency_debit, apart.currency_credit]),
        books => Ok(books),
    }
}

/// What was posted to an account in one currency before a period, and until its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Movement {
    /// The currency of the lines.
    pub(super) currency: Currency,
    /// Before the period.
    pub(super) before: Turnover,
    /// Until its end.
    pub(super) until: Turnover,
}

impl Movement {
    /// What was posted in the period.
    pub(super) fn within(&self) -> Result<Turnover> {
        self.until.minus(self.before)
    }
}

/// Both sides of a period by account.
pub(super) fn movements(
    before: &Turnovers,
    until: &Turnovers,
) -> BTreeMap<AccountId, Vec<Movement>> {
    let mut all: BTreeMap<AccountId, Vec<Movement>> = BTreeMap::new();
    let keys: BTreeSet<_> = before.keys().chain(until.keys()).collect();
    for key in keys {
        let of = |sums: &Turnovers| sums.get(key).copied().unwrap_or_default();
        let (account, currency) = *key;
        let movement = Movement { currency, before: of(before), until: of(until) };
        all.entry(account).or_default().push(movement);
    }
    all
}
