//! Projects: the phases of a mandate, their work packages, and how much of their budgets is used.

mod list_project_operations;
mod list_project_positions;

use crate::error::{Error, Result};
use crate::language::Language;
use crate::money::Quantity;
use crate::registry::Tool;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[
    Tool::read::<list_project_positions::ListProjectPositions>(),
    Tool::read::<list_project_operations::ListProjectOperations>(),
];

text_enum! {
    /// Where a phase or a work package stands.
    ProjectStatus {
        /// Not begun.
        Planned = "planned",
        /// Under way.
        Active = "active",
        /// Done.
        Done = "done",
        /// Dropped.
        Cancelled = "cancelled",
    }
}

impl ProjectStatus {
    /// What people call it.
    const fn label(self, language: Language) -> &'static str {
        language.choose(match self {
            Self::Planned => ["prévue", "geplant", "planned"],
            Self::Active => ["en cours", "laufend", "under way"],
            Self::Done => ["terminée", "abgeschlossen", "done"],
            Self::Cancelled => ["annulée", "abgebrochen", "cancelled"],
        })
    }
}

/// Minutes in hours, to the thousandth.
fn hours(minutes: i64) -> Result<Quantity> {
    Quantity::of_minutes(minutes).ok_or_else(|| Error::fault("hours are out of range"))
}

/// What is left of a budget of hours, negative when it is exceeded; nothing without a budget.
fn hours_left(budget: Option<Quantity>, minutes: i64) -> Result<Option<Quantity>> {
    let worked = hours(minutes)?;
    Ok(budget.and_then(|budget| budget.minus(worked)))
}
