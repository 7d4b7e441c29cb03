//! The books of mandates: charts of accounts, entries, and the reports that follow from what was posted.
//!
//! Every figure of a report is a sum of posted lines at two clocks, computed in [`balances`] and taken apart again in
//! [`figures`]. Balances are debit less credit; whether an account restarts with each fiscal year follows from its kind,
//! never from its number.

mod balances;
mod books;
mod figures;
mod get_account_statement;
mod get_balance_sheet;
mod get_profit_and_loss;
mod get_trial_balance;
mod lines;
mod proof;
mod report_lines;
mod search_accounts;
mod sections;

use crate::registry::Tool;
use crate::reports::FigureKind;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[
    Tool::read::<search_accounts::SearchAccounts>(),
    Tool::read::<get_account_statement::GetAccountStatement>(),
    Tool::read::<get_trial_balance::GetTrialBalance>(),
    Tool::read::<get_profit_and_loss::GetProfitAndLoss>(),
    Tool::read::<get_balance_sheet::GetBalanceSheet>(),
];

/// What the figures of this slice are made of.
pub const FIGURES: &[FigureKind] = &[FigureKind::of::<figures::LedgerFigure>()];

/// The mandate of the examples that keeps books.
fn example_mandate() -> crate::ids::MandateId {
    crate::demo::ids::example_mandate()
}

text_enum! {
    /// What an account is, whatever its number.
    AccountKind {
        /// What is owned or receivable.
        Asset = "asset",
        /// What is owed.
        Liability = "liability",
        /// Capital, reserves, results carried forward.
        Equity = "equity",
        /// Earned in a year.
        Income = "income",
        /// Spent in a year.
        Expense = "expense",
        /// Used to close and open years.
        Closing = "closing",
    }
}

impl AccountKind {
    /// The kinds whose balance is part of a year's result.
    const OF_RESULT: [Self; 2] = [Self::Income, Self::Expense];

    /// Whether its balance is part of a year's result, and begins at nought with each fiscal year.
    #[must_use]
    pub const fn is_of_result(self) -> bool {
        matches!(self, Self::Income | Self::Expense)
    }
}

text_enum! {
    /// Whether a fiscal year takes postings.
    YearState {
        /// It does.
        Open = "open",
        /// Only adjustments.
        ProvisionallyClosed = "provisionally_closed",
        /// None.
        Closed = "closed",
    }
}
