//! Ledgers: the chart of a mandate's accounts, and the one way to post to them.

pub(crate) mod chart;
pub(crate) mod import;
mod kinds;
pub(crate) mod posting;
pub(crate) mod years;

pub use kinds::{AccountKind, EntrySource, EntryState, JournalCode, Purpose, VatPart, YearState};
