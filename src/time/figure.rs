//! What a total of worked time is the sum of.

use diesel::prelude::*;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::chosen::{Chosen, Standing, Sum, sums};
use super::rating::{AGREED, worth};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{services, time_entries};
use crate::db::{Descending, Paging, Read};
use crate::error::{Error, Result};
use crate::firm::Unit;
use crate::ids::{TimeEntryId, UserId};
use crate::money::{Currency, Money};
use crate::reports::{ExplainedRow, Explanation, FigureSource, Known, Part};
use crate::text::FreeText;

/// What time is worth in one currency: of whom it was computed for, and for nobody else.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TimeFigure {
    pub(super) chosen: Chosen,
    pub(super) currency: Currency,
    pub(super) seen_by: UserId,
    /// Whether everybody's time was in it, as far as it was in reach.
    pub(super) of_everybody: bool,
}

/// An entry as the explanation needs it.
#[derive(Debug, Serialize, Queryable)]
struct Entry {
    id: TimeEntryId,
    worked_on: Day,
    minutes: i32,
    description: FreeText,
    is_billable: bool,
    is_invoiced: bool,
    agreed: Option<Money>,
    own: Money,
}

impl FigureSource for TimeFigure {
    const TAG: u8 = 50;
    // Either of two permissions opens the list, and it shows less to who has only one: `explain` tells them apart.
    const PERMISSION: Permission = Permission::Present;

    fn explain(&self, scope: &mut Read<'_>, paging: &Paging) -> Result<Explanation> {
        let (caller, unknown) = (scope.caller(), || Error::not_found("figure"));
        let reads_all = caller.may(Permission::TimeReadAll);
        let may_read = reads_all || caller.may(Permission::TimeRead);
        if self.seen_by != scope.user() || self.of_everybody != reads_all || !may_read {
            return Err(unknown());
        }
        let rows = self.chosen.rows(scope)?;
        let sums = sums(scope, rows.clone())?;
        let of_currency = |sum: &&Sum| sum.currency == Some(self.currency);
        let part = |sum: &Sum| Part {
            part: sum.standing.part(),
            currency: self.currency,
            amount: sum.value,
            rows: sum.entries,
        };
        let parts = sums.iter().filter(of_currency).map(part).collect();
        let valued = rows
            .inner_join(services::table)
            .filter(services::unit.eq(Unit::Hour))
            .filter(services::currency.eq(self.currency));
        let columns = (
            time_entries::id,
            time_entries::worked_on,
            time_entries::minutes,
            time_entries::description,
            time_entries::is_billable,
            time_entries::invoice_id.is_not_null(),
            AGREED,
            services::rate,
        );
        let by = Descending(time_entries::worked_on, time_entries::id);
        let position = |row: &Entry| (row.worked_on, row.id);
        let page = scope.page(valued.clone(), valued, columns, by, paging, position)?;
        Ok(Explanation {
            figure: format!("worth of worked time, {}", self.currency),
            as_of: self.chosen.to.unwrap_or_else(|| scope.today()),
            as_known_on: Known::at(scope, None)?.written(),
            parts,
            rule: Some(
                "the sum of the parts; worked time is no posting, it counts as it stands".into(),
            ),
            rows: page.try_map(|entry| self.explained(entry))?,
        })
    }
}

impl TimeFigure {
    fn explained(&self, entry: Entry) -> Result<ExplainedRow> {
        let rate = entry.agreed.unwrap_or(entry.own);
        Ok(ExplainedRow {
            part: Standing::of(entry.is_billable, entry.is_invoiced).part(),
            on: entry.worked_on,
            record: "time_entry",
            record_id: Some(Uuid::from(entry.id).into()),
            position: None,
            number: None,
            text: entry.description,
            currency: self.currency,
            amount: worth(rate, entry.minutes)?,
            taxed: None,
        })
    }
}
