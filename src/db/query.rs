//! Pieces of a query that Diesel, or its derive for two backends, lacks.

use std::rc::Rc;

use diesel::expression::{
    AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate,
};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::query_source::{AppearsInFromClause, Once};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, Bool, BoolOrNullableBool, Date, HasSqlType};

use super::connection::{AnyConnection, MultiBackend};
use super::search::{Contains, Position};
use super::{Reach, Reachable};
use crate::dates::Day;

/// The filters on table `T` that are present, joined by AND. One value serves the page, with its joins, and the count and
/// totals, which need none.
pub struct Filters<T>(Vec<Filter<T>>);
type Filter<T> = Rc<dyn BoxableExpression<T, MultiBackend, SqlType = Bool>>;

impl<T> Filters<T> {
    /// No filter yet: every row.
    #[must_use]
    pub fn on(_: T) -> Self {
        Self(vec![])
    }

    /// Adds a condition.
    #[must_use]
    pub fn and<C>(mut self, condition: C) -> Self
    where
        Holds<C>: BoxableExpression<T, MultiBackend, SqlType = Bool> + 'static,
    {
        self.0.push(Rc::new(Holds(condition)));
        self
    }

    /// Adds the condition that an argument stands for, if it is there.
    #[must_use]
    pub fn and_some<V, C>(self, argument: Option<V>, condition: impl FnOnce(V) -> C) -> Self
    where
        Holds<C>: BoxableExpression<T, MultiBackend, SqlType = Bool> + 'static,
    {
        match argument {
            Some(value) => self.and(condition(value)),
            None => self,
        }
    }
}

/// A condition of which NULL is as good as false: it stands in a WHERE, after AND.
#[derive(Debug, Clone, Copy)]
pub struct Holds<C>(C);

impl<C: Expression<SqlType: BoolOrNullableBool>> Expression for Holds<C> {
    type SqlType = Bool;
}
impl<C: AppearsOnTable<QS>, QS> AppearsOnTable<QS> for Holds<C> where Self: Expression {}
impl<C: SelectableExpression<QS>, QS> SelectableExpression<QS> for Holds<C> where Self: Expression {}
impl<C: ValidGrouping<()>> ValidGrouping<()> for Holds<C> {
    type IsAggregate = C::IsAggregate;
}
impl<C> QueryId for Holds<C> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<C: QueryFragment<MultiBackend>> QueryFragment<MultiBackend> for Holds<C> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        self.0.walk_ast(out)
    }
}

impl<T> Clone for Filters<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
impl<T> Expression for Filters<T> {
    type SqlType = Bool;
}
impl<T, QS: AppearsInFromClause<T, Count = Once>> AppearsOnTable<QS> for Filters<T> {}
impl<T> QueryFragment<MultiBackend> for Filters<T> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        out.push_sql("TRUE");
        for filter in &self.0 {
            out.push_sql(" AND (");
            filter.walk_ast(out.reborrow())?;
            out.push_sql(")");
        }
        Ok(())
    }
}

/// `(a, b) > (x, y)`, or `<` where the order descends; `TRUE` on the first page.
#[derive(Debug, Clone)]
pub struct After<A, B, V>(
    pub(crate) A,
    pub(crate) B,
    pub(crate) Option<V>,
    pub(crate) &'static str,
);

impl<A, B, V> Expression for After<A, B, V> {
    type SqlType = Bool;
}
impl<A: AppearsOnTable<QS>, B: AppearsOnTable<QS>, V, QS> AppearsOnTable<QS> for After<A, B, V> {}
impl<A, B, X, Y> QueryFragment<MultiBackend> for After<A, B, (X, Y)>
where
    A: QueryFragment<MultiBackend> + Expression,
    B: QueryFragment<MultiBackend> + Expression,
    MultiBackend: HasSqlType<A::SqlType> + HasSqlType<B::SqlType>,
    X: ToSql<A::SqlType, MultiBackend>,
    Y: ToSql<B::SqlType, MultiBackend>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        let Some((x, y)) = &self.2 else {
            out.push_sql("TRUE");
            return Ok(());
        };
        out.push_sql("(");
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(", ");
        self.1.walk_ast(out.reborrow())?;
        out.push_sql(") ");
        out.push_sql(self.3);
        out.push_sql(" (");
        out.push_bind_param::<A::SqlType, _>(x)?;
        out.push_sql(", ");
        out.push_bind_param::<B::SqlType, _>(y)?;
        out.push_sql(")");
        Ok(())
    }
}

/// `a < x`, or `TRUE` on the first page.
#[derive(Debug, Clone)]
pub struct Before<A, V>(pub(crate) A, pub(crate) Option<V>);

impl<A, V> Expression for Before<A, V> {
    type SqlType = Bool;
}
impl<A: AppearsOnTable<QS>, V, QS> AppearsOnTable<QS> for Before<A, V> {}
impl<A, X> QueryFragment<MultiBackend> for Before<A, X>
where
    A: QueryFragment<MultiBackend> + Expression,
    MultiBackend: HasSqlType<A::SqlType>,
    X: ToSql<A::SqlType, MultiBackend>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        let Some(x) = &self.1 else {
            out.push_sql("TRUE");
            return Ok(());
        };
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(" < ");
        out.push_bind_param::<A::SqlType, _>(x)
    }
}

/// What is not one SQL text per type is cached under its text.
macro_rules! cached_by_text {
    ($($name:ident<$($g:ident),+>),+) => {$(
        impl<$($g),+> QueryId for $name<$($g),+> {
            type QueryId = ();
            const HAS_STATIC_QUERY_ID: bool = false;
        }
        impl<$($g),+> ValidGrouping<()> for $name<$($g),+> {
            type IsAggregate = is_aggregate::No;
        }
    )+};
}
cached_by_text!(Filters<T>, After<A, B, V>, Before<A, V>);

/// The number of rows of a query, as a value in the SELECT of another: one round trip instead of two.
#[derive(Debug, Clone, Copy)]
pub enum CountOf<Q> {
    /// Counted by a subquery of its own.
    Apart(Q),
    /// Counted as the rows go by: of a query without condition on its page, and without joins that would be made for
    /// every row.
    Over,
}

impl<Q> Expression for CountOf<Q> {
    type SqlType = BigInt;
}
impl<Q, QS> AppearsOnTable<QS> for CountOf<Q> {}
impl<Q, QS> SelectableExpression<QS> for CountOf<Q> {}
impl<Q, G> ValidGrouping<G> for CountOf<Q> {
    type IsAggregate = is_aggregate::Never;
}
impl<Q> QueryId for CountOf<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<Q: QueryFragment<MultiBackend>> QueryFragment<MultiBackend> for CountOf<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        let Self::Apart(query) = self else {
            out.push_sql("count(*) OVER ()");
            return Ok(());
        };
        out.push_sql("(");
        query.walk_ast(out.reborrow())?;
        out.push_sql(")");
        Ok(())
    }
}

/// A value derived from a reached row and its children by fixed SQL, which names its columns with their table, as of a day
/// that stands for `{d}` in it. Its subqueries compare `tenant_id` with that of the row.
#[derive(Debug)]
pub struct Derived<S> {
    sql: &'static str,
    day: Day,
    of: std::marker::PhantomData<S>,
}

impl<S> Derived<S> {
    /// The value of `sql`.
    #[must_use]
    pub const fn new(sql: &'static str) -> Self {
        Self { sql, day: Day::FIRST, of: std::marker::PhantomData }
    }

    /// The value as of a day.
    #[must_use]
    pub const fn as_of(self, day: Day) -> Self {
        Self { day, ..self }
    }
}
impl<S> Clone for Derived<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Derived<S> {}
impl<S: diesel::expression::TypedExpressionType> Expression for Derived<S> {
    type SqlType = S;
}
impl<S, QS> AppearsOnTable<QS> for Derived<S> where Self: Expression {}
impl<S, QS> SelectableExpression<QS> for Derived<S> where Self: Expression {}
impl<S> ValidGrouping<()> for Derived<S> {
    type IsAggregate = is_aggregate::No;
}
impl<S> QueryId for Derived<S> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<S> QueryFragment<MultiBackend> for Derived<S> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        let mut parts = self.sql.split("{d}");
        out.push_sql(parts.next().unwrap_or_default());
        for part in parts {
            out.push_bind_param::<Date, _>(&self.day)?;
            out.push_sql(part);
        }
        Ok(())
    }
}

/// A LIMIT as a number in the text: bound, it makes `SQLite` prepare the statement anew at each run and `PostgreSQL`
/// plan for a tenth of the rows.
#[derive(Debug, Clone, Copy)]
pub struct AtMost<Q>(pub(crate) Q, pub(crate) i64);

impl<Q: QueryFragment<MultiBackend>> QueryFragment<MultiBackend> for AtMost<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(&format!(" LIMIT {}", self.1));
        Ok(())
    }
}
impl<Q> QueryId for AtMost<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<Q: Query> Query for AtMost<Q> {
    type SqlType = Q::SqlType;
}
impl<Q> RunQueryDsl<AnyConnection> for AtMost<Q> {}

/// A query tuned by hand: its SQL is text, its binds are typed, and its rows come from the scope.
pub trait HandWritten {
    /// The table whose reached rows it starts from.
    type Table: Reachable;
    /// The types of the columns it selects.
    type SqlType;
    /// Writes the SQL; it must call [`HandWrittenSql::rows`] where the table's name would stand.
    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()>;
}

/// The SQL that a [`HandWritten`] query writes.
pub struct HandWrittenSql<'a, 'b> {
    out: AstPass<'a, 'b, MultiBackend>,
    rows: &'b dyn QueryFragment<MultiBackend>,
    started: bool,
}

impl<'b> HandWrittenSql<'_, 'b> {
    /// Fixed text.
    pub fn text(&mut self, sql: &'static str) {
        self.out.push_sql(sql);
    }

    /// A whole number, as text: a LIMIT.
    pub fn number(&mut self, number: i64) {
        self.out.push_sql(&number.to_string());
    }

    /// A value.
    pub fn bind<S, V: ToSql<S, MultiBackend>>(&mut self, value: &'b V) -> QueryResult<()>
    where
        MultiBackend: HasSqlType<S>,
    {
        self.out.push_bind_param(value)
    }

    /// That rows contain every word; to follow another condition.
    pub fn contains_all(&mut self, words: &'b Contains) -> QueryResult<()> {
        self.out.push_sql(" AND ");
        words.walk_ast(self.out.reborrow())
    }

    /// Whether the text that the SQL `of` gives contains a word, literally.
    pub fn contains(&mut self, of: &'static str, word: &'b String) -> QueryResult<()> {
        MultiBackend::walk_variant_ast(&Position, self.out.reborrow())?;
        self.text("(");
        self.text(of);
        self.text(", ");
        self.bind::<diesel::sql_types::Text, _>(word)?;
        self.text(") > 0");
        Ok(())
    }

    /// A list of values, to follow IN.
    pub fn among<S, V: ToSql<S, MultiBackend>>(&mut self, values: &'b [V]) -> QueryResult<()>
    where
        MultiBackend: HasSqlType<S>,
    {
        for (at, value) in values.iter().enumerate() {
            self.text(if at == 0 { "(" } else { ", " });
            self.bind::<S, V>(value)?;
        }
        self.text(")");
        Ok(())
    }

    /// The reached rows of the table, as a derived table to be named with AS.
    pub fn rows(&mut self) -> QueryResult<()> {
        self.started = true;
        self.out.push_sql("(");
        self.rows.walk_ast(self.out.reborrow())?;
        self.out.push_sql(")");
        Ok(())
    }
}

/// A [`HandWritten`] query and the rows it starts from.
#[derive(Debug, Clone)]
pub struct HandQuery<H, R>(pub(crate) H, pub(crate) R);

impl<H: HandWritten, R: QueryFragment<MultiBackend>> QueryFragment<MultiBackend>
    for HandQuery<H, R>
{
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        let mut sql = HandWrittenSql { out, rows: &self.1, started: false };
        self.0.build(&mut sql)?;
        let forgot = "a hand-written query must start from the rows of its scope";
        if sql.started {
            Ok(())
        } else {
            Err(diesel::result::Error::QueryBuilderError(forgot.into()))
        }
    }
}
impl<H, R> QueryId for HandQuery<H, R> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<H: HandWritten, R> Query for HandQuery<H, R> {
    type SqlType = H::SqlType;
}
impl<H, R> RunQueryDsl<AnyConnection> for HandQuery<H, R> {}

/// The rows of `H`'s table within `reach`, queried by hand.
pub(crate) fn hand<H: HandWritten>(
    query: H,
    table: H::Table,
    reach: Reach,
) -> HandQuery<H, <H::Table as Reachable>::Rows> {
    HandQuery(query, table.within(reach))
}
