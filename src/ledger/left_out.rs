//! What a forecast of cash does not count, so that it can say so.

use schemars::JsonSchema;
use serde::Serialize;

use super::balances::total;
use super::books::Account;
use super::figures::{Handles, Shape};
use super::sections::Section;
use crate::dates::Day;
use crate::db::Read;
use crate::error::Result;
use crate::ids::AccountId;
use crate::money::{Currency, Money};
use crate::reports::Figure;
use crate::text::FreeText;

/// Accounts that are listed one by one.
const MOST_ACCOUNTS: usize = 40;

text_enum! {
    /// What is left out.
    Uncounted {
        /// Open invoices of the firm in another currency.
        Invoices = "open_invoices",
        /// Wages of one month in another currency.
        Wages = "wages",
        /// Short-term debts other than to suppliers, which have no due day in the books.
        Liabilities = "other_liabilities",
    }
}

/// Cash that no week counts.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LeftOut {
    /// What it is.
    source: Uncounted,
    /// The currency, into which and out of which nothing was converted.
    currency: Currency,
    /// What it would bring; negative when it would take.
    amount: Money,
    /// How many invoices or payslips it comes from, or accounts beyond the forty largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<i64>,
    /// The number of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<FreeText>,
    /// The handle of its balance for explain_figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    figure: Option<Figure>,
}

impl LeftOut {
    /// So many records of a kind in a currency.
    pub(super) const fn of(
        source: Uncounted,
        currency: Currency,
        amount: Money,
        count: i64,
    ) -> Self {
        let (account, label, figure) = (None, None, None);
        Self { source, currency, amount, count: Some(count), account, label, figure }
    }
}

/// The balances of the short-term debts other than those that are `scheduled`.
///
/// # Errors
/// A sum is out of range.
pub(super) fn debts(
    scope: &Read<'_>,
    (handles, to): (Handles, Day),
    currency: Currency,
    balances: &[(Account, Money)],
    scheduled: &[AccountId],
) -> Result<Vec<LeftOut>> {
    let is_meant = |account: &Account| {
        Section::of(account.kind, &account.number) == Some(Section::ShortTerm)
            && !scheduled.contains(&account.id)
    };
    let mut debts: Vec<_> = balances.iter().filter(|(account, _)| is_meant(account)).collect();
    debts.sort_by_key(|(_, balance)| std::cmp::Reverse(balance.minor().abs()));
    let smaller = debts.split_off(debts.len().min(MOST_ACCOUNTS));
    debts.sort_by(|(a, _), (b, _)| a.number.cmp(&b.number));
    let mut left_out = vec![];
    for (account, balance) in debts {
        left_out.push(LeftOut {
            source: Uncounted::Liabilities,
            currency,
            amount: *balance,
            count: None,
            account: Some(account.number.clone()),
            label: Some(account.label.clone().into()),
            figure: Some(handles.of_account(scope, account.id, Shape::balance(), to, None)?),
        });
    }
    if !smaller.is_empty() {
        let amount = total(smaller.iter().map(|(_, balance)| *balance))?;
        let count = i64::try_from(smaller.len()).unwrap_or(i64::MAX);
        left_out.push(LeftOut::of(Uncounted::Liabilities, currency, amount, count));
    }
    Ok(left_out)
}
