//! Whether an account of a mandate's books is in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::instructions;
use super::period::Month;
use crate::ids::MandateId;
use crate::registry::Instructions;

/// Review one account of a mandate for a month: does it carry on, what is unusual, what is left open.
/// (révision d'un compte / Kontoprüfung)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountReview {
    /// The mandate whose books they are.
    mandate_id: MandateId,
    /// The number of the account, such as 1020.
    account: String,
    /// The month, as YYYY-MM.
    month: Month,
}

impl Instructions for AccountReview {
    const NAME: &'static str = "account_review";
    const TOOLS: &'static [&'static str] =
        &["get_account_statement", "get_trial_balance", "search_journal_entries", "explain_figure"];

    fn example() -> Self {
        let mandate_id = crate::demo::ids::example_ledger_mandate();
        let month = Month { year: 2026, month: 3 };
        Self { mandate_id, account: "1020".to_owned(), month }
    }

    fn text(&self) -> String {
        let Self { mandate_id, account, month } = self;
        let (first, last) = month.days();
        instructions(
            &format!("Review one account of mandate {mandate_id} for {month}. Its number is given as {account:?}."),
            &[
                format!(
                    "Call get_account_statement with mandate_id {mandate_id}, that account, from {first}, to {last} and limit 100, \
                     and read all pages. Say opening, debits, credits and closing, and name each control that does not hold \
                     with its difference."
                ),
                format!(
                    "Call get_trial_balance with mandate_id {mandate_id} and to {last}. The closing of the account there is the closing \
                     of the statement; say so if not. Name drafts, which count in neither."
                ),
                "For each movement that stands out by amount, text or counter-account, and for each that has no \
                 counter-movement where one is due, call search_journal_entries with its day and amount, and say from the \
                 whole entry what it books."
                    .to_owned(),
                "Where a balance needs to be proven, call explain_figure with the figure of the statement, and say which \
                 lines make it up."
                    .to_owned(),
            ],
        )
    }
}
