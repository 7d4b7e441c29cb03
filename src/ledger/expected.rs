//! What is expected to come in and go out: open lines of customers and suppliers, and the days they fall due.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date};

use super::balances::{added, less};
use super::books::Ledger;
use super::kinds::Purpose;
use super::lines::bind_all;
use crate::dates::Day;
use crate::db::schema::{account_uses, entry_lines};
use crate::db::types::Amount;
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::AccountId;
use crate::money::Money;

/// Days of lines that are looked at one by one; what is older and open is due at once.
const RECENT_DAYS: i64 = 365;
/// Days after which a line is taken to fall due.
pub(super) const TERM_DAYS: i64 = 30;

/// The accounts of a mandate that serve a purpose, whatever the currency.
///
/// # Errors
/// The database is away.
pub(super) fn used_for(
    scope: &mut Read<'_>,
    ledger: &Ledger,
    purpose: Purpose,
) -> Result<Vec<AccountId>> {
    let uses = scope
        .rows(account_uses::table)
        .filter(account_uses::mandate_id.eq(ledger.mandate))
        .filter(account_uses::purpose.eq(purpose))
        .order(account_uses::account_id)
        .select(account_uses::account_id);
    let mut ids: Vec<AccountId> = scope.load(uses)?;
    ids.dedup();
    Ok(ids)
}

/// The lines of an account that settle no other yet, by day.
struct OpenLines {
    account: [AccountId; 1],
    after: Day,
    to: Day,
}

impl HandWritten for OpenLines {
    type Table = entry_lines::table;
    type SqlType = (Date, Amount, Amount, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT l.booked_on, sum(l.debit), sum(l.credit), count(*) FROM ");
        sql.rows()?;
        sql.text(" AS l CROSS JOIN entries e WHERE e.tenant_id = l.tenant_id AND e.id = l.entry_id AND e.state = 'posted' AND l.account_id IN ");
        bind_all(sql, &self.account)?;
        sql.text(" AND l.booked_on > ");
        sql.bind::<Date, _>(&self.after)?;
        sql.text(" AND l.booked_on <= ");
        sql.bind::<Date, _>(&self.to)?;
        sql.text(" AND NOT EXISTS (SELECT 1 FROM reconciliations r WHERE r.tenant_id = l.tenant_id AND r.entry_id = l.entry_id AND r.position = l.position) GROUP BY l.booked_on ORDER BY l.booked_on");
        Ok(())
    }
}

/// Which side of an account is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owed {
    /// Debits: customers owe.
    ToUs,
    /// Credits: suppliers are owed.
    ByUs,
}

/// An amount that is due on a day, and how many lines it comes from.
pub(super) type Due = (Day, Money, i64);

/// What is open on an account whose balance is `balance`, debit less credit: the sums are the balance, as far as it is owed.
/// Payments that settle nothing in particular settle the oldest first.
///
/// # Errors
/// The database is away; a sum is out of range.
pub(super) fn open_on(
    scope: &mut Read<'_>,
    account: AccountId,
    balance: Money,
    side: Owed,
    today: Day,
) -> Result<Vec<Due>> {
    let after = today.minus_days(RECENT_DAYS);
    let lines = OpenLines { account: [account], after, to: today };
    let lines: Vec<(Day, Money, Money, i64)> =
        scope.load(scope.by_hand(entry_lines::table, lines))?;
    let turned = |debit: Money, credit: Money| match side {
        Owed::ToUs => (debit, credit),
        Owed::ByUs => (credit, debit),
    };
    let (more, fewer) = turned(balance, Money::ZERO);
    let mut older = less(more, fewer)?;
    let (mut due, mut settled) = (vec![], Money::ZERO);
    for (day, debit, credit, count) in lines {
        let (owed, paid) = turned(debit, credit);
        older = less(older, less(owed, paid)?)?;
        settled = added(settled, paid)?;
        if owed > Money::ZERO {
            due.push((day.plus_days(TERM_DAYS), owed, count));
        }
    }
    if older > Money::ZERO {
        due.insert(0, (after, older, 0));
    } else {
        settled = less(settled, older)?;
    }
    for (_, owed, _) in &mut due {
        let paid = settled.min(*owed);
        *owed = less(*owed, paid)?;
        settled = less(settled, paid)?;
    }
    due.retain(|(_, owed, _)| *owed > Money::ZERO);
    Ok(due)
}
