//! The only way to the data: a scope is minted from a grant and sees one tenant.
//!
//! [`Read`] runs queries; [`Write`] also changes rows. Neither hands out the connection, and both run only [`Scoped`]
//! queries. `Scoped` speaks Diesel's own DSL, so a query reads like any other; what it does not implement
//! (`or_filter`, `limit`, joins with a hand-made ON, joins to children) cannot be written.

use diesel::expression::Expression;
use diesel::prelude::*;
use diesel::query_builder::{AsChangeset, IntoUpdateTarget, UpdateStatement};
use diesel::query_dsl::InternalJoinDsl;
use diesel::query_dsl::methods::{
    ExecuteDsl, FilterDsl, GroupByDsl, LoadQuery, OrderDsl, SelectDsl,
};

use super::connection::AnyConnection;
use super::pool::Seal;
use super::query::{AtMost, HandQuery, HandWritten, hand};
use super::{Reach, Reachable};
use crate::auth::Caller;
use crate::dates::{Day, Instant};
use crate::error::{Error, Result};
use crate::ids::{TenantId, UserId};
use crate::meaning::Model;

/// A query that started from the rows of one caller's reach.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Scoped<Q>(pub(super) Q);

impl<Q> Scoped<Q> {
    /// At most so many rows; a LIMIT that is bound costs more than it saves.
    pub fn at_most(self, rows: i64) -> Scoped<AtMost<Q>> {
        Scoped(AtMost(self.0, rows))
    }
}

/// Steps of Diesel's DSL that keep a query within its rows.
macro_rules! steps {
    ($($dsl:ident::$step:ident($($bound:tt)*)),+) => {$(
        impl<Q: $dsl<E>, E: $($bound)*> $dsl<E> for Scoped<Q> {
            type Output = Scoped<Q::Output>;
            fn $step(self, e: E) -> Self::Output {
                Scoped($dsl::$step(self.0, e))
            }
        }
    )+};
}
steps!(
    FilterDsl::filter(),
    SelectDsl::select(Expression),
    OrderDsl::order(Expression),
    GroupByDsl::group_by(Expression)
);
impl<Q> QueryDsl for Scoped<Q> {}
impl<Q: JoinTo<P>, P: Reachable> JoinTo<P> for Scoped<Q> {
    type FromClause = Q::FromClause;
    type OnClause = Q::OnClause;
    fn join_target(parent: P) -> (Self::FromClause, Self::OnClause) {
        Q::join_target(parent)
    }
}
impl<Q: InternalJoinDsl<P, Kind, On>, P, Kind, On> InternalJoinDsl<P, Kind, On> for Scoped<Q> {
    type Output = Scoped<Q::Output>;
    fn join(self, parent: P, kind: Kind, on: On) -> Self::Output {
        Scoped(self.0.join(parent, kind, on))
    }
}

/// Authorised read access to the rows within one caller's reach.
pub struct Read<'c> {
    pub(super) connection: &'c mut AnyConnection,
    pub(super) seal: &'c Seal,
    model: Option<&'c Model>,
    reach: Reach,
    caller: &'c Caller,
    now: Instant,
}

impl std::fmt::Debug for Read<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Read").field("reach", &self.reach).finish_non_exhaustive()
    }
}

impl<'c> Read<'c> {
    pub(super) fn new(
        connection: &'c mut AnyConnection,
        caller: &'c Caller,
        now: Instant,
        (seal, model): (&'c Seal, Option<&'c Model>),
    ) -> Self {
        Self { connection, seal, model, reach: caller.reach(), caller, now }
    }

    /// The instant this operation counts as happening at.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The day it is in the firm's time zone.
    #[must_use]
    pub fn today(&self) -> Day {
        self.now.day_in(self.caller.time_zone())
    }

    /// Who calls.
    #[must_use]
    pub fn caller(&self) -> &'c Caller {
        self.caller
    }

    /// The tenant, for the text of hand-written queries.
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.reach.tenant
    }

    /// The person who calls.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.reach.user
    }

    /// The model that says what texts mean, if the server has one.
    #[must_use]
    pub fn model(&self) -> Option<&'c Model> {
        self.model
    }

    /// The key that seals what callers give back: the same on every server process and after a restart.
    pub(crate) fn seal(&self) -> &Seal {
        self.seal
    }

    /// Starts a query from the reached rows of `table`.
    pub fn rows<T: Reachable>(&self, table: T) -> Scoped<T::Rows> {
        Scoped(table.within(self.reach))
    }

    /// Starts a hand-written query from the reached rows of its table.
    pub fn by_hand<H: HandWritten>(
        &self,
        table: H::Table,
        query: H,
    ) -> Scoped<HandQuery<H, <H::Table as Reachable>::Rows>> {
        Scoped(hand(query, table, self.reach))
    }

    /// Starts a hand-written query from rows that were reached, and chosen among, before.
    pub fn by_hand_over<H: HandWritten, Q>(
        &self,
        rows: Scoped<Q>,
        query: H,
    ) -> Scoped<HandQuery<H, Q>> {
        Scoped(HandQuery(query, rows.0))
    }

    /// Runs a query.
    ///
    /// # Errors
    /// The database is away or too slow, or the query is wrong.
    pub fn load<'q, Q, U>(&mut self, query: Scoped<Q>) -> Result<Vec<U>>
    where
        Q: LoadQuery<'q, AnyConnection, U>,
    {
        Ok(query.0.internal_load(self.connection)?.collect::<QueryResult<_>>()?)
    }

    /// Runs a query for one row; `what` names it in the refusal when there is none.
    ///
    /// # Errors
    /// There is no such row within reach.
    pub fn one<'q, Q, U>(&mut self, what: &str, query: Scoped<Q>) -> Result<U>
    where
        Q: LoadQuery<'q, AnyConnection, U>,
    {
        let row = query.0.internal_load(self.connection)?.next().transpose()?;
        row.ok_or_else(|| Error::not_found(what))
    }
}

/// Authorised write access, inside one transaction.
#[derive(Debug)]
pub struct Write<'c>(Read<'c>);

impl<'c> std::ops::Deref for Write<'c> {
    type Target = Read<'c>;
    fn deref(&self) -> &Read<'c> {
        &self.0
    }
}

impl<'c> Write<'c> {
    pub(super) const fn new(read: Read<'c>) -> Self {
        Self(read)
    }

    /// Changes the selected rows; answers how many there were.
    ///
    /// # Errors
    /// A rule of the database refuses the change.
    pub fn update<Q, C>(&mut self, rows: Scoped<Q>, changes: C) -> Result<usize>
    where
        Q: IntoUpdateTarget,
        C: AsChangeset<Target = Q::Table>,
        UpdateStatement<Q::Table, Q::WhereClause, C::Changeset>:
            ExecuteDsl<AnyConnection> + diesel::query_builder::AsQuery,
    {
        let statement = diesel::update(rows.0).set(changes);
        Ok(ExecuteDsl::execute(statement, self.0.connection)?)
    }
}
