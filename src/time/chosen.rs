//! Which time entries are meant, and what they sum to.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
use serde::{Deserialize, Serialize};

use super::TimeKind;
use super::rating::{RATE, SERVICES, add, worth};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::time_entries;
use crate::db::types::{Amount, Id};
use crate::db::{
    ContainsAll, Derived, Filters, HandWritten, HandWrittenSql, Reachable, Read, Scoped,
};
use crate::error::Result;
use crate::ids::{MandateId, UserId};
use crate::money::{Currency, Money};
use crate::text::search_words;

/// Which time entries are meant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Chosen {
    pub(super) from: Option<Day>,
    pub(super) to: Option<Day>,
    pub(super) person: Option<UserId>,
    pub(super) mandate: Option<MandateId>,
    pub(super) kind: Option<TimeKind>,
    pub(super) billable: Option<bool>,
    pub(super) invoiced: Option<bool>,
    pub(super) query: Option<String>,
    /// Only for mandates of which this person is in charge.
    pub(super) responsible: Option<UserId>,
}

/// Who is in charge of the mandate that was worked for.
const IN_CHARGE: Derived<Nullable<Id>> = Derived::new(
    "(SELECT m.responsible_id FROM mandates m WHERE m.tenant_id = time_entries.tenant_id AND m.id = time_entries.mandate_id)",
);

/// The rows of `time_entries` that were chosen.
pub(super) type Rows = diesel::dsl::Filter<
    diesel::dsl::Filter<
        <<ByRate as HandWritten>::Table as Reachable>::Rows,
        Filters<time_entries::table>,
    >,
    Filters<time_entries::table>,
>;

impl Chosen {
    /// The entries within reach: one's own alone, unless the caller may read everybody's.
    ///
    /// # Errors
    /// The search is too long.
    pub(super) fn rows(&self, scope: &Read<'_>) -> Result<Scoped<Rows>> {
        let own = (!scope.caller().may(Permission::TimeReadAll)).then(|| scope.user());
        let seen = Filters::on(time_entries::table)
            .and_some(own, |person| time_entries::person_id.eq(person));
        let words = self.query.as_deref().map(search_words).transpose()?;
        let is = |wanted: bool| move |kind: Option<bool>| kind.filter(|is| *is == wanted);
        let (of_mandate, internal) = match self.kind {
            Some(TimeKind::Mandate) => (Some(()), None),
            Some(TimeKind::Internal) => (None, Some(())),
            None => (None, None),
        };
        let chosen = Filters::on(time_entries::table)
            .and_some(self.from, |from| time_entries::worked_on.ge(from))
            .and_some(self.to, |to| time_entries::worked_on.le(to))
            .and_some(self.person, |person| time_entries::person_id.eq(person))
            .and_some(self.mandate, |mandate| time_entries::mandate_id.eq(mandate))
            .and_some(of_mandate, |()| time_entries::mandate_id.is_not_null())
            .and_some(internal, |()| time_entries::mandate_id.is_null())
            .and_some(is(true)(self.billable), |_| time_entries::is_billable)
            .and_some(is(false)(self.billable), |_| diesel::dsl::not(time_entries::is_billable))
            .and_some(is(true)(self.invoiced), |_| time_entries::invoice_id.is_not_null())
            .and_some(is(false)(self.invoiced), |_| time_entries::invoice_id.is_null())
            .and_some(self.responsible, |person| IN_CHARGE.eq(person))
            .and_some(words, |words| ContainsAll(time_entries::search_text, words));
        Ok(scope.rows(time_entries::table).filter(seen).filter(chosen))
    }
}

/// Entries of one currency, rate, length and standing.
pub(super) struct ByRate;

impl HandWritten for ByRate {
    type Table = time_entries::table;
    type SqlType = (Nullable<Text>, Nullable<Amount>, Integer, Bool, Bool, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT t.currency, t.rate, t.minutes, t.is_billable, t.is_invoiced, count(*) FROM (SELECT services.currency, time_entries.minutes, time_entries.is_billable, time_entries.invoice_id IS NOT NULL AS is_invoiced, ");
        sql.text(RATE);
        sql.text(" AS rate FROM ");
        sql.rows()?;
        sql.text(SERVICES);
        sql.text(") AS t GROUP BY t.currency, t.rate, t.minutes, t.is_billable, t.is_invoiced");
        Ok(())
    }
}

/// Where worked time stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// On a sales document.
    Invoiced,
    /// Billable, on no sales document yet.
    Unbilled,
    /// Not billable.
    NotBillable,
}

impl Standing {
    pub(super) const fn of(is_billable: bool, is_invoiced: bool) -> Self {
        match (is_billable, is_invoiced) {
            (_, true) => Self::Invoiced,
            (true, false) => Self::Unbilled,
            (false, false) => Self::NotBillable,
        }
    }

    pub(super) const fn part(self) -> &'static str {
        match self {
            Self::Invoiced => "invoiced",
            Self::Unbilled => "unbilled",
            Self::NotBillable => "not_billable",
        }
    }
}

/// Entries of one standing and currency, summed.
#[derive(Debug)]
pub(super) struct Sum {
    /// None for entries without a rate.
    pub(super) currency: Option<Currency>,
    pub(super) standing: Standing,
    pub(super) entries: i64,
    pub(super) minutes: i64,
    pub(super) value: Money,
}

/// The chosen entries summed by currency and standing.
///
/// # Errors
/// A sum is out of range.
pub(super) fn sums(scope: &mut Read<'_>, rows: Scoped<Rows>) -> Result<Vec<Sum>> {
    type Group = (Option<Currency>, Option<Money>, i32, bool, bool, i64);
    let groups: Vec<Group> = scope.load(scope.by_hand_over(rows, ByRate))?;
    let mut sums: Vec<Sum> = vec![];
    for (currency, rate, minutes, is_billable, is_invoiced, count) in groups {
        let standing = Standing::of(is_billable, is_invoiced);
        let currency = currency.filter(|_| rate.is_some());
        let known = |sum: &Sum| sum.currency == currency && sum.standing == standing;
        let at = sums.iter().position(known).unwrap_or(sums.len());
        if at == sums.len() {
            sums.push(Sum { currency, standing, entries: 0, minutes: 0, value: Money::ZERO });
        }
        let Some(sum) = sums.get_mut(at) else { continue };
        sum.entries += count;
        sum.minutes += i64::from(minutes) * count;
        if let Some(rate) = rate {
            add(&mut sum.value, worth(rate, minutes)?, count)?;
        }
    }
    sums.sort_unstable_by_key(|sum| (sum.currency, sum.standing));
    Ok(sums)
}
