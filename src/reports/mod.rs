//! What every report has: two clocks, figures that can be taken apart, identities that are checked, an id that repeats.
//!
//! A report computes its figures as of a day in the books and as known on a day; a posting made later does not change
//! it. Each figure, or each row of figures, carries a handle; [`explain_figure`] lists the records behind it.

mod clocks;
mod control;
pub mod explain_figure;
mod figure;

pub use clocks::{Clocks, Known, KnownOn};
pub use control::Control;
pub use figure::{ExplainedRow, Explanation, Figure, FigureKind, FigureSource, Part, Taxed};

use crate::registry::Tool;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[Tool::read::<explain_figure::ExplainFigure>().in_every_toolset()];
