//! What a figure is made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Explanation, Figure};
use crate::auth::Permission;
use crate::db::{Paging, Read};
use crate::error::Result;
use crate::registry::ReadTool;

/// Take a figure of a report apart: the records it is the sum of, page by page, which add up to it exactly. Give the
/// `figure` handle that stands beside the amount. (détail, justification d'un chiffre / Herleitung, Nachweis einer Zahl)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainFigure {
    /// The handle, as a report gave it.
    figure: Figure,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ExplainFigure);

impl ReadTool for ExplainFigure {
    const NAME: &'static str = "explain_figure";
    const PERMISSION: Permission = Permission::LedgerRead;
    const OR: &'static [Permission] = &[
        Permission::VatRead,
        Permission::InvoiceRead,
        Permission::RevenueRead,
        Permission::FirmRead,
        Permission::TimeRead,
        Permission::TimeReadAll,
    ];
    type Output = Explanation;

    fn example() -> Self {
        Self { figure: Figure::example(), limit: None, cursor: None }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<Explanation> {
        let figure = self.figure.clone();
        let paging = Paging::of(&mut self)?;
        scope.explain(&figure, &paging)
    }
}
