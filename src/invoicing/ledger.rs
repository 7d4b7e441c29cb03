//! What the firm's own ledger says of its sales documents, to compare with.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Text};

use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::ledgers;
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Mandates, Read};
use crate::error::Result;
use crate::ids::TenantId;
use crate::ledger::Purpose;
use crate::money::{Currency, CurrencyAmount, Money};

/// The sum of the postings in each currency, debit less credit: on the account of receivables, or on those of revenue.
#[derive(Debug)]
pub(super) struct LedgerSum {
    tenant: TenantId,
    purpose: Purpose,
    from: Option<Day>,
    until: Day,
    /// The first day of the month of `until`: the months before it are summed already.
    month: Day,
    known: Option<i64>,
}

impl LedgerSum {
    /// The sum over some days, for whoever may read the firm's ledger and reaches all that is posted in it.
    pub(super) fn of(
        scope: &Read<'_>,
        purpose: Purpose,
        (from, until): (Option<Day>, Day),
        known: Option<i64>,
    ) -> Option<Self> {
        let caller = scope.caller();
        let sees_all = caller.may(Permission::LedgerRead) && caller.mandates() == Mandates::All;
        let (tenant, month) = (scope.tenant(), until.month_start());
        sees_all.then_some(Self { tenant, purpose, from, until, month, known })
    }

    /// Writes the sum for the row `u`, which names a mandate, a currency and an account.
    pub(super) fn write_balance<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        let is_one_account = self.purpose == Purpose::Receivables;
        let are_months_summed = is_one_account && self.from.is_none() && self.known.is_none();
        if are_months_summed {
            sql.text("coalesce((SELECT sum(b.currency_debit - b.currency_credit) FROM account_balances b WHERE b.tenant_id = u.tenant_id AND b.mandate_id = u.mandate_id AND b.account_id = u.account_id AND b.currency = u.currency AND b.month < ");
            sql.bind::<Date, _>(&self.month)?;
            sql.text("), 0) + ");
        }
        sql.text("coalesce((SELECT sum(l.currency_debit - l.currency_credit) FROM entry_lines l JOIN entries e ON e.tenant_id = l.tenant_id AND e.id = l.entry_id JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id WHERE l.tenant_id = u.tenant_id AND l.mandate_id = u.mandate_id AND l.currency = u.currency AND e.state = 'posted' AND ");
        // From 3800 on, the plan has what lessens revenue: discounts, losses, rounding.
        sql.text(if is_one_account {
            "l.account_id = u.account_id"
        } else {
            "a.kind = 'income' AND a.number < '3800'"
        });
        sql.text(" AND l.booked_on <= ");
        sql.bind::<Date, _>(&self.until)?;
        if let Some(from) = self.from.as_ref().or(are_months_summed.then_some(&self.month)) {
            sql.text(" AND l.booked_on >= ");
            sql.bind::<Date, _>(from)?;
        }
        if let Some(commit) = &self.known {
            sql.text(" AND e.commit_number <= ");
            sql.bind::<BigInt, _>(commit)?;
        }
        sql.text("), 0)");
        Ok(())
    }

    /// Writes which rows `u` are meant, to follow a FROM: the accounts of the purpose in the firm's own ledger.
    pub(super) fn write_accounts<'b>(
        &'b self,
        sql: &mut HandWrittenSql<'_, 'b>,
    ) -> QueryResult<()> {
        sql.text("ledgers g JOIN account_uses u ON u.tenant_id = g.tenant_id AND u.mandate_id = g.mandate_id WHERE g.is_of_firm AND g.tenant_id = ");
        sql.bind::<Id, _>(&self.tenant)?;
        sql.text(" AND u.purpose = ");
        sql.bind::<Text, _>(&self.purpose)
    }
}

impl HandWritten for LedgerSum {
    type Table = ledgers::table;
    type SqlType = (Text, Amount);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT u.currency, ");
        self.write_balance(sql)?;
        sql.text(" FROM ");
        sql.rows()?;
        sql.text(" AS g JOIN account_uses u ON u.tenant_id = g.tenant_id AND u.mandate_id = g.mandate_id WHERE g.is_of_firm AND u.purpose = ");
        sql.bind::<Text, _>(&self.purpose)
    }
}

/// The sums of the accounts of a purpose, by currency; none where there is no such ledger, or none to be compared with.
pub(super) fn sums(scope: &mut Read<'_>, asked: Option<LedgerSum>) -> Result<Vec<CurrencyAmount>> {
    let Some(asked) = asked else { return Ok(vec![]) };
    let mut rows: Vec<(Currency, Money)> = scope.load(scope.by_hand(ledgers::table, asked))?;
    rows.sort_unstable_by_key(|(currency, _)| *currency);
    Ok(rows.into_iter().map(|(currency, amount)| CurrencyAmount { currency, amount }).collect())
}
