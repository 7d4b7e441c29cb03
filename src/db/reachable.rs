//! What a caller may touch, and how a table is restricted to it.

use diesel::backend::Backend;
use diesel::expression::{
    AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate,
};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{Bool, HasSqlType};

use super::types::Id;
use crate::ids::{TenantId, UserId};

text_enum! {
    /// Which mandates of the tenant a membership opens.
    Mandates {
        /// All of them.
        All = "all",
        /// Those in the table `reach`.
        Listed = "listed",
        /// Those of the membership's own client.
        Client = "client",
    }
}

/// The rows an authorised caller may touch: one tenant, and in it all mandates, those listed for the user, or those of
/// the user's own client.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    pub(crate) tenant: TenantId,
    pub(crate) user: UserId,
    pub(crate) mandates: Mandates,
    /// Whether people employed under the mandates are shown: to those who may read payroll.
    pub(crate) employees: bool,
}

/// A table that can be restricted to a caller's [`Reach`].
pub trait Reachable: Sized {
    /// The table, restricted.
    type Rows;
    /// Restricts the table to `reach`.
    fn within(self, reach: Reach) -> Self::Rows;
}

/// The way from a column to the mandates of a caller, for each kind of reach; who reaches all and sees employees reaches
/// everything.
///
/// In the texts `{c}` is the column, `{t}` the tenant, `{u}` the user, and `{e}` whether employees are shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    all: &'static str,
    listed: &'static str,
    client: &'static str,
}

/// The mandates in the reach of `{u}`, as a subquery.
macro_rules! mandates {
    (listed) => {
        "(SELECT r.mandate_id FROM reach r WHERE r.tenant_id = {t} AND r.user_id = {u})"
    };
    (client) => {
        "(SELECT m.id FROM memberships s JOIN mandates m ON m.tenant_id = s.tenant_id AND m.client_id = s.client_id \
         WHERE s.tenant_id = {t} AND s.user_id = {u})"
    };
}
/// The clients in the reach of `{u}`: those with a reached mandate, or the user's own.
macro_rules! clients {
    (listed) => {
        "(SELECT m.client_id FROM reach r JOIN mandates m ON m.tenant_id = r.tenant_id AND m.id = r.mandate_id \
         WHERE r.tenant_id = {t} AND r.user_id = {u})"
    };
    (client) => {
        "(SELECT s.client_id FROM memberships s WHERE s.tenant_id = {t} AND s.user_id = {u})"
    };
}
/// Whether the invoice `$i` belongs to a reached mandate or, without one, to a reached client.
macro_rules! invoice {
    ($i:literal, $kind:ident) => {
        concat!(
            "(",
            $i,
            ".mandate_id IN ",
            mandates!($kind),
            " OR (",
            $i,
            ".mandate_id IS NULL AND ",
            $i,
            ".client_id IN ",
            clients!($kind),
            "))",
            issued!($i, $kind)
        )
    };
}
/// What a client may see of the invoice `$i` besides: what was issued, not what is being written.
macro_rules! issued {
    ($i:literal, listed) => {
        ""
    };
    ($i:literal, client) => {
        concat!(" AND ", $i, ".state = 'issued'")
    };
}
/// A path for both kinds of reach that have limits, the text before and after the subquery being the same.
macro_rules! path {
    ($before:literal, $among:ident $(($i:literal))?, $after:literal) => {
        Path {
            all: "TRUE",
            listed: concat!($before, $among!($($i,)? listed), $after),
            client: concat!($before, $among!($($i,)? client), $after),
        }
    };
}

pub(super) const MANDATES: Path = path!("{c} IN ", mandates, "");
pub(super) const CLIENTS: Path = path!("{c} IN ", clients, "");
pub(super) const INVOICES: Path = path!("", invoice("invoices"), "");
pub(super) const OF_INVOICES: Path =
    path!("{c} IN (SELECT i.id FROM invoices i WHERE i.tenant_id = {t} AND ", invoice("i"), ")");
pub(super) const OF_EMPLOYEES: Path = path!(
    "{c} IN (SELECT e.id FROM employees e WHERE e.tenant_id = {t} AND e.mandate_id IN ",
    mandates,
    ")"
);
pub(super) const OF_PAYSLIPS: Path = path!(
    "{c} IN (SELECT p.id FROM payslips p WHERE p.tenant_id = {t} AND p.mandate_id IN ",
    mandates,
    ")"
);

pub(super) const OF_ENTRIES: Path = path!(
    "{c} IN (SELECT e.id FROM entries e WHERE e.tenant_id = {t} AND e.mandate_id IN ",
    mandates,
    ")"
);

/// What is worked on for a reached mandate or, without one, what `$own` says of the person: a client's own user has no
/// internal work.
macro_rules! work {
    ($table:literal, $own:literal, listed) => {
        concat!(
            "(",
            $table,
            ".mandate_id IN ",
            mandates!(listed),
            " OR (",
            $table,
            ".mandate_id IS NULL AND ",
            $own,
            "))"
        )
    };
    ($table:literal, $own:literal, client) => {
        concat!($table, ".mandate_id IN ", mandates!(client))
    };
}
pub(super) const TASKS: Path = Path {
    all: "TRUE",
    listed: work!("tasks", "(tasks.assignee_id = {u} OR tasks.created_by = {u})", listed),
    client: work!("tasks", "", client),
};
pub(super) const TIME: Path = Path {
    all: "TRUE",
    listed: work!("time_entries", "time_entries.person_id = {u}", listed),
    client: work!("time_entries", "", client),
};
/// A document without a mandate is filed with a client: whoever reaches the client reaches it, but for the client.
pub(super) const DOCUMENTS: Path = Path {
    all: "TRUE",
    listed: concat!(
        "(documents.mandate_id IN ",
        mandates!(listed),
        " OR (documents.mandate_id IS NULL AND documents.client_id IN ",
        clients!(listed),
        "))"
    ),
    client: concat!("documents.mandate_id IN ", mandates!(client)),
};
pub(super) const OF_STATEMENTS: Path = path!(
    "{c} IN (SELECT b.id FROM bank_statements b WHERE b.tenant_id = {t} AND b.mandate_id IN ",
    mandates,
    ")"
);
pub(super) const OF_PAYMENTS: Path = path!(
    "{c} IN (SELECT p.id FROM payments p JOIN invoices i ON i.tenant_id = p.tenant_id AND i.id = p.invoice_id \
     WHERE p.tenant_id = {t} AND ",
    invoice("i"),
    ")"
);
/// What somebody proposed is theirs to see; besides, whoever reaches what it is about.
pub(super) const PROPOSALS: Path = Path {
    all: "TRUE",
    listed: concat!(
        "(proposals.user_id = {u} OR proposals.mandate_id IN ",
        mandates!(listed),
        " OR (proposals.mandate_id IS NULL AND proposals.client_id IN ",
        clients!(listed),
        "))"
    ),
    client: "proposals.user_id = {u}",
};
/// A record of no mandate is reached through its client; one of neither, by whoever reaches every mandate.
pub(super) const COMMIT_RECORDS: Path = Path {
    all: "TRUE",
    listed: concat!(
        "({c} IN ",
        mandates!(listed),
        " OR ({c} IS NULL AND commit_records.client_id IN ",
        clients!(listed),
        "))"
    ),
    client: concat!(
        "({c} IN ",
        mandates!(client),
        " OR ({c} IS NULL AND commit_records.client_id IN ",
        clients!(client),
        "))"
    ),
};
/// Whether the entity `$e` of the graph is known through a reached mandate, through a reached client or, without either, to
/// the whole firm, of which a client is no part; an employee only to those who are shown employees.
macro_rules! entity {
    ($e:literal, all) => {
        concat!("(", $e, ".employee_id IS NULL OR {e})")
    };
    ($e:literal, listed) => {
        concat!(
            "((",
            entity!($e, among listed),
            " OR (",
            $e,
            ".mandate_id IS NULL AND ",
            $e,
            ".client_id IS NULL)) AND ",
            entity!($e, all),
            ")"
        )
    };
    ($e:literal, client) => {
        concat!("((", entity!($e, among client), ") AND ", entity!($e, all), ")")
    };
    ($e:literal, among $kind:ident) => {
        concat!($e, ".mandate_id IN ", mandates!($kind), " OR ", $e, ".client_id IN ", clients!($kind))
    };
}
/// Whether `$id` is a reached entity of the graph: looked up by its key, since a firm knows more entities than any query
/// asks about.
macro_rules! of_entity {
    ($id:literal, $kind:ident) => {
        concat!(
            "EXISTS (SELECT 1 FROM knowledge_entities e WHERE e.tenant_id = {t} AND e.id = ",
            $id,
            " AND ",
            entity!("e", $kind),
            ")"
        )
    };
}
/// Whether both ends of a relation are reached.
macro_rules! relation {
    ($from:literal, $to:literal, $kind:ident) => {
        concat!(of_entity!($from, $kind), " AND ", of_entity!($to, $kind))
    };
}
/// Whether what the anomaly is about is reached: an entity, or a relation.
macro_rules! anomaly {
    ($kind:ident) => {
        concat!(
            "(",
            of_entity!("knowledge_anomalies.entity_id", $kind),
            " OR EXISTS (SELECT 1 FROM knowledge_relations r WHERE r.tenant_id = {t} AND r.id = \
             knowledge_anomalies.relation_id AND ",
            relation!("r.from_id", "r.to_id", $kind),
            "))"
        )
    };
}

/// A path for every kind of reach.
macro_rules! graph {
    ($among:ident $(($($i:literal),+))?) => {
        Path {
            all: $among!($($($i,)+)? all),
            listed: $among!($($($i,)+)? listed),
            client: $among!($($($i,)+)? client),
        }
    };
}

pub(super) const KNOWLEDGE_ENTITIES: Path = graph!(entity("knowledge_entities"));
pub(super) const KNOWLEDGE_RELATIONS: Path =
    graph!(relation("knowledge_relations.from_id", "knowledge_relations.to_id"));
pub(super) const KNOWLEDGE_ANOMALIES: Path = graph!(anomaly);
pub(super) const OF_KNOWLEDGE_ENTITIES: Path = graph!(of_entity("{c}"));

/// A column restricted along its [`Path`], or `TRUE` for a caller who reaches everything.
///
/// The list stays in the database: no bind per mandate, a few SQL texts in all, each cacheable.
#[derive(Debug, Clone, Copy)]
pub struct Within<C> {
    pub(super) column: C,
    pub(super) path: Path,
    pub(super) reach: Reach,
}

impl<C> Expression for Within<C> {
    type SqlType = Bool;
}
impl<C: AppearsOnTable<QS>, QS> AppearsOnTable<QS> for Within<C> {}
impl<C: SelectableExpression<QS>, QS> SelectableExpression<QS> for Within<C> {}
impl<C> ValidGrouping<()> for Within<C> {
    type IsAggregate = is_aggregate::No;
}
impl<C> QueryId for Within<C> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
// For every backend, not for `MultiBackend` alone: inside EXISTS the derive asks for both.
impl<DB, C: QueryFragment<DB>> QueryFragment<DB> for Within<C>
where
    DB: Backend + HasSqlType<Id>,
    TenantId: ToSql<Id, DB>,
    UserId: ToSql<Id, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let text = match self.reach.mandates {
            Mandates::All if self.reach.employees => "TRUE",
            Mandates::All => self.path.all,
            Mandates::Listed => self.path.listed,
            Mandates::Client => self.path.client,
        };
        let mut parts = text.split('{');
        out.push_sql(parts.next().unwrap_or_default());
        for part in parts {
            let (name, rest) = part.split_once('}').unwrap_or_default();
            match name {
                "c" => self.column.walk_ast(out.reborrow())?,
                "e" => out.push_sql(if self.reach.employees { "TRUE" } else { "FALSE" }),
                "t" => out.push_bind_param::<Id, _>(&self.reach.tenant)?,
                _ => out.push_bind_param::<Id, _>(&self.reach.user)?,
            }
            out.push_sql(rest);
        }
        Ok(())
    }
}

/// Declares how tables are reached: by tenant alone, or by tenant and along a path from a column to the mandates; a
/// table with a `deleted_at` column may leave its deleted rows out.
macro_rules! reachable {
    (tenant: $($table:ident),+; living: $($living:ident.$living_column:ident through $living_path:ident),+;
     $($narrow:ident.$column:ident through $path:ident),+ $(,)?) => {
        $(impl $crate::db::Reachable for $table::table {
            type Rows = diesel::dsl::Filter<$table::table, diesel::dsl::Eq<$table::tenant_id, $crate::ids::TenantId>>;
            fn within(self, reach: $crate::db::Reach) -> Self::Rows {
                diesel::QueryDsl::filter(self, diesel::ExpressionMethods::eq($table::tenant_id, reach.tenant))
            }
        })+
        $(impl $crate::db::Reachable for $living::table {
            type Rows = diesel::dsl::Filter<
                diesel::dsl::Filter<
                    diesel::dsl::Filter<$living::table, diesel::dsl::Eq<$living::tenant_id, $crate::ids::TenantId>>,
                    $crate::db::reachable::Within<$living::$living_column>,
                >,
                diesel::dsl::IsNull<$living::deleted_at>,
            >;
            fn within(self, reach: $crate::db::Reach) -> Self::Rows {
                let own = diesel::QueryDsl::filter(self, diesel::ExpressionMethods::eq($living::tenant_id, reach.tenant));
                let path = $crate::db::reachable::$living_path;
                let reached = diesel::QueryDsl::filter(
                    own,
                    $crate::db::reachable::Within { column: $living::$living_column, path, reach },
                );
                diesel::QueryDsl::filter(reached, diesel::ExpressionMethods::is_null($living::deleted_at))
            }
        })+
        $(impl $crate::db::Reachable for $narrow::table {
            type Rows = diesel::dsl::Filter<
                diesel::dsl::Filter<$narrow::table, diesel::dsl::Eq<$narrow::tenant_id, $crate::ids::TenantId>>,
                $crate::db::reachable::Within<$narrow::$column>,
            >;
            fn within(self, reach: $crate::db::Reach) -> Self::Rows {
                let own = diesel::QueryDsl::filter(self, diesel::ExpressionMethods::eq($narrow::tenant_id, reach.tenant));
                let path = $crate::db::reachable::$path;
                diesel::QueryDsl::filter(own, $crate::db::reachable::Within { column: $narrow::$column, path, reach })
            }
        })+
    };
}

/// Declares tables of which a caller reaches only their own rows: those that name them as the user.
macro_rules! own {
    ($($table:ident.$user:ident),+) => {
        $(impl $crate::db::Reachable for $table::table {
            type Rows = diesel::dsl::Filter<
                diesel::dsl::Filter<$table::table, diesel::dsl::Eq<$table::tenant_id, $crate::ids::TenantId>>,
                diesel::dsl::Eq<$table::$user, $crate::ids::UserId>,
            >;
            fn within(self, reach: $crate::db::Reach) -> Self::Rows {
                let firm = diesel::QueryDsl::filter(self, diesel::ExpressionMethods::eq($table::tenant_id, reach.tenant));
                diesel::QueryDsl::filter(firm, diesel::ExpressionMethods::eq($table::$user, reach.user))
            }
        })+
    };
}

/// `joinable!` for composite keys, from child `(tenant_id, fk)` to parent `(tenant_id, key)` and not back: a scope starts
/// at the narrowest table, and a join to the children could leave the reach.
macro_rules! tenant_joinable {
    ($($child:ident ($fk:ident) -> $parent:ident ($key:ident)),+ $(,)?) => {$(
        impl diesel::JoinTo<$parent::table> for $child::table {
            type FromClause = $parent::table;
            type OnClause = diesel::dsl::And<
                diesel::dsl::Eq<diesel::dsl::Nullable<$child::tenant_id>, diesel::dsl::Nullable<$parent::tenant_id>>,
                diesel::dsl::Eq<diesel::dsl::Nullable<$child::$fk>, diesel::dsl::Nullable<$parent::$key>>,
                diesel::sql_types::Nullable<diesel::sql_types::Bool>,
            >;
            fn join_target(parent: $parent::table) -> (Self::FromClause, Self::OnClause) {
                use diesel::prelude::*;
                let tenant = $child::tenant_id.nullable().eq($parent::tenant_id.nullable());
                (parent, tenant.and($child::$fk.nullable().eq($parent::$key.nullable())))
            }
        }
    )+};
}
