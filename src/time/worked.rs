//! What was worked on the operations of a mandate, whoever did it.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};

use super::rating::{RATE, SERVICES, add, worth};
use crate::db::schema::time_entries;
use crate::db::types::{Amount, Id};
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::{MandateId, OperationId, PositionId};
use crate::money::{Currency, Money};

/// What was worked on one operation.
#[derive(Debug)]
pub(crate) struct Worked {
    /// The phase it belongs to.
    pub(crate) position: PositionId,
    /// The operation.
    pub(crate) operation: OperationId,
    /// The minutes.
    pub(crate) minutes: i64,
    /// What they are worth in each currency; minutes without a rate are worth nothing.
    pub(crate) value: BTreeMap<Currency, Money>,
}

/// Entries of one operation, rate and length.
struct ByOperation;

impl HandWritten for ByOperation {
    type Table = time_entries::table;
    type SqlType = (Id, Id, Nullable<Text>, Nullable<Amount>, Integer, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT t.position_id, t.operation_id, t.currency, t.rate, t.minutes, count(*) FROM (SELECT o.position_id, o.id AS operation_id, services.currency, time_entries.minutes, ");
        sql.text(RATE);
        sql.text(" AS rate FROM ");
        sql.rows()?;
        sql.text(SERVICES);
        sql.text(" JOIN project_operations o ON o.tenant_id = time_entries.tenant_id AND o.id = time_entries.operation_id) AS t GROUP BY t.position_id, t.operation_id, t.currency, t.rate, t.minutes");
        Ok(())
    }
}

type Group = (PositionId, OperationId, Option<Currency>, Option<Money>, i32, i64);

/// What was worked on each operation of a mandate within reach that anything was worked on.
///
/// # Errors
/// The database is away; a sum is out of range.
pub(crate) fn worked_on(scope: &mut Read<'_>, mandate: MandateId) -> Result<Vec<Worked>> {
    let of_mandate = scope
        .rows(time_entries::table)
        .filter(time_entries::mandate_id.eq(mandate))
        .filter(time_entries::operation_id.is_not_null());
    let groups: Vec<Group> = scope.load(scope.by_hand_over(of_mandate, ByOperation))?;
    let mut all: BTreeMap<OperationId, Worked> = BTreeMap::new();
    for (position, operation, currency, rate, minutes, count) in groups {
        let none = || Worked { position, operation, minutes: 0, value: BTreeMap::new() };
        let worked = all.entry(operation).or_insert_with(none);
        worked.minutes += i64::from(minutes) * count;
        if let (Some(currency), Some(rate)) = (currency, rate) {
            let value = worked.value.entry(currency).or_insert(Money::ZERO);
            add(value, worth(rate, minutes)?, count)?;
        }
    }
    Ok(all.into_values().collect())
}
