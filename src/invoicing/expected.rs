//! What open invoices will bring, by the day they are due.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Text};

use super::open_items::Chosen;
use crate::dates::Day;
use crate::db::schema::invoices;
use crate::db::types::Amount;
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::money::{Currency, Money};

/// Open items summed by currency and day.
struct Due(Chosen);

impl HandWritten for Due {
    type Table = invoices::table;
    type SqlType = (Text, Date, Amount, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        self.0.write(sql)?;
        sql.text(" SELECT o.currency, o.due_on, sum(o.open), count(*) FROM o WHERE o.open > 0 GROUP BY o.currency, o.due_on ORDER BY o.currency, o.due_on");
        Ok(())
    }
}

/// What is owed on a day, by currency and the day it is due: the amount and the number of invoices.
///
/// # Errors
/// The database is away.
pub(crate) fn due(scope: &mut Read<'_>, as_of: Day) -> Result<Vec<(Currency, Day, Money, i64)>> {
    scope.load(scope.by_hand(invoices::table, Due(Chosen::on(as_of))))
}
