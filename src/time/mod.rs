//! Time: what people worked, for whom, and what it is worth.

mod chosen;
mod figure;
mod list_time_entries;
mod rating;
mod totals;
mod worked;

pub(crate) use totals::{TimeToDate, time_to_date};
pub(crate) use worked::{Worked, worked_on};

use crate::registry::Tool;
use crate::reports::FigureKind;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[Tool::read::<list_time_entries::ListTimeEntries>()];

/// The figures of this slice.
pub const FIGURES: &[FigureKind] = &[FigureKind::of::<figure::TimeFigure>()];

text_enum! {
    /// For whom time was worked.
    TimeKind {
        /// For a mandate.
        Mandate = "mandate",
        /// For the firm itself: no mandate, never billable.
        Internal = "internal",
    }
}

text_enum! {
    /// Where the hourly rate of worked time comes from.
    TimeRateSource {
        /// Agreed for the mandate, in force on the day of work.
        Mandate = "mandate",
        /// The service's own.
        Service = "service",
        /// There is none: no service, or one that is not sold by the hour.
        None = "none",
    }
}
