//! Value added tax: the codes of a firm, the rules of the return, and the return itself.

mod checks;
mod effective;
mod explain;
mod form;
mod get_vat_return;
mod kinds;
mod net_rate;
mod period;
mod queries;
mod rules;
mod seed;
mod setup;
mod vat_rules;

pub(crate) use seed::seed_vat_codes;
pub(crate) use vat_rules::VatRules;

use crate::registry::Tool;
use crate::reports::FigureKind;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[Tool::read::<get_vat_return::GetVatReturn>()];

/// The figures of this slice.
pub const FIGURES: &[FigureKind] = &[FigureKind::of::<explain::VatFigure>()];
