//! Tasks: what people have to do, for a mandate or within the firm.

mod list_tasks;
mod open_tasks;

pub(crate) use open_tasks::{OpenTasks, open_tasks_in_charge, open_tasks_of};

use crate::language::Language;
use crate::registry::Tool;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[Tool::read::<list_tasks::ListTasks>()];

text_enum! {
    /// Where a task stands.
    TaskStatus {
        /// Not begun.
        Open = "open",
        /// Begun.
        InProgress = "in_progress",
        /// Waiting for somebody else.
        Waiting = "waiting",
        /// Done.
        Done = "done",
        /// Dropped.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// What people call it.
    pub(crate) const fn label(self, language: Language) -> &'static str {
        language.choose(match self {
            Self::Open => ["à faire", "offen", "to do"],
            Self::InProgress => ["en cours", "in Arbeit", "in progress"],
            Self::Waiting => ["en attente", "wartend", "waiting"],
            Self::Done => ["terminée", "erledigt", "done"],
            Self::Cancelled => ["annulée", "abgebrochen", "cancelled"],
        })
    }

    /// Whether nothing is left to do.
    pub(crate) const fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }
}

text_enum! {
    /// How much a task presses.
    TaskPriority {
        /// When there is time.
        Low = "low",
        /// As usual.
        Normal = "normal",
        /// Before others.
        High = "high",
        /// Now.
        Urgent = "urgent",
    }
}

impl TaskPriority {
    /// What people call it.
    pub(crate) const fn label(self, language: Language) -> &'static str {
        language.choose(match self {
            Self::Low => ["basse", "niedrig", "low"],
            Self::Normal => ["normale", "normal", "normal"],
            Self::High => ["haute", "hoch", "high"],
            Self::Urgent => ["urgente", "dringend", "urgent"],
        })
    }
}
