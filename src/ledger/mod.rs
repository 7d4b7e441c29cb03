//! Ledgers: the chart of a mandate's accounts, and the one way to post to them.

pub(crate) mod chart;
mod kinds;
pub(crate) mod posting;

pub use kinds::{AccountKind, EntrySource, EntryState, JournalCode, Purpose, VatPart, YearState};
