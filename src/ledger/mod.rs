//! Ledgers: the chart of a mandate's accounts, the one way to post to them, and the reports that follow from what was posted.
//!
//! Every figure of a report is a sum of posted lines at two clocks, computed in `balances` and taken apart again in
//! `figures`. Balances are debit less credit; whether an account begins anew with each fiscal year follows from its kind,
//! never from its number.

mod balances;
mod books;
pub(crate) mod chart;
mod completion;
mod entry_query;
mod expected;
mod figures;
mod get_account_statement;
mod get_balance_sheet;
mod get_cash_forecast;
mod get_profit_and_loss;
mod get_trial_balance;
pub(crate) mod import;
mod imported;
mod kinds;
mod left_out;
mod lines;
pub(crate) mod posting;
mod present;
mod proof;
mod report_lines;
mod search_accounts;
mod search_journal_entries;
mod sections;
pub(crate) mod years;

pub use completion::COMPLETION;
pub use kinds::{
    AccountKind, EntrySource, EntryState, FiscalYearState, JournalCode, Purpose, VatPart,
};

use crate::registry::Tool;
use crate::reports::FigureKind;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[
    Tool::read::<search_accounts::SearchAccounts>(),
    Tool::read::<search_journal_entries::SearchJournalEntries>(),
    Tool::read::<get_account_statement::GetAccountStatement>(),
    Tool::read::<get_trial_balance::GetTrialBalance>(),
    Tool::read::<get_profit_and_loss::GetProfitAndLoss>(),
    Tool::read::<get_balance_sheet::GetBalanceSheet>(),
    Tool::read::<get_cash_forecast::GetCashForecast>(),
];

/// What the figures of this slice are made of.
pub const FIGURES: &[FigureKind] = &[FigureKind::of::<figures::LedgerFigure>()];

impl AccountKind {
    /// The kinds whose accounts earn or spend a year's result.
    const OF_RESULT: [Self; 2] = [Self::Income, Self::Expense];
    /// The kinds whose accounts begin anew with each fiscal year.
    const ANEW: [Self; 3] = [Self::Income, Self::Expense, Self::Closing];

    /// Whether its accounts earn or spend a year's result.
    fn is_of_result(self) -> bool {
        Self::OF_RESULT.contains(&self)
    }

    /// Whether its accounts begin anew with each fiscal year, rather than being carried over.
    fn is_anew(self) -> bool {
        Self::ANEW.contains(&self)
    }
}
