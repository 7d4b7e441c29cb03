//! What is true of books at this moment, whatever the clocks of a report are.

use diesel::dsl::count_star;
use diesel::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::FiscalYearState;
use super::books::{FiscalYear, Ledger};
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::entries;
use crate::error::Result;

/// What is true at this moment and not at the clocks: the report's id says nothing about it.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(super) struct Now {
    /// Drafts dated in the period, which do not count.
    drafts: i64,
    /// What may still be posted in the fiscal year.
    #[serde(skip_serializing_if = "Option::is_none")]
    fiscal_year_state: Option<FiscalYearState>,
}

impl Now {
    /// What is true of a period, and of the fiscal year that a report is about.
    ///
    /// # Errors
    /// The database is away.
    pub(super) fn of(
        scope: &mut Read<'_>,
        ledger: &Ledger,
        (from, to): (Day, Day),
        year: Option<&FiscalYear>,
    ) -> Result<Self> {
        let drafts = scope
            .rows(entries::table)
            .filter(entries::mandate_id.eq(ledger.mandate))
            .filter(entries::state.eq("draft"))
            .filter(entries::booked_on.ge(from))
            .filter(entries::booked_on.le(to))
            .select(count_star());
        let drafts = scope.one("count", drafts)?;
        Ok(Self { drafts, fiscal_year_state: year.map(|year| year.state) })
    }
}
