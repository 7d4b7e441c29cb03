//! Breadth first through the graph: one query a level, from what was reached to what is next to it.

use diesel::prelude::*;
use diesel::sql_types::{Date, Nullable, Text};

use super::{COLUMNS, Columns, EntityRow, Named, padded};
use crate::dates::Day;
use crate::db::schema::{knowledge_entities, knowledge_relations};
use crate::db::types::Id;
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::ids::{EntityId, TenantId};
use crate::text::FreeText;

/// Which relations are followed.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    /// Those that hold on this day.
    pub(super) valid_on: Day,
    /// Those of this type, or of any.
    pub(super) relation: Option<String>,
}

impl Followed {
    /// Writes the condition on the relation `r`.
    fn write<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text(" AND r.valid_from <= ");
        sql.bind::<Date, _>(&self.valid_on)?;
        sql.text(" AND (r.valid_to IS NULL OR r.valid_to >= ");
        sql.bind::<Date, _>(&self.valid_on)?;
        sql.text(")");
        if let Some(code) = &self.relation {
            sql.text(" AND r.type_code = ");
            sql.bind::<Text, _>(code)?;
        }
        Ok(())
    }
}

/// The reached entities next to those of a level and not visited yet, by name: one more than any answer shows.
struct Next {
    tenant: TenantId,
    level: Vec<EntityId>,
    visited: Vec<EntityId>,
    followed: Followed,
}

impl HandWritten for Next {
    type Table = knowledge_entities::table;
    type SqlType = Columns;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT ");
        sql.text(COLUMNS);
        // From the few neighbours to their entities, whatever the planner of SQLite thinks of the order.
        sql.text(" FROM (SELECT r.to_id AS id FROM knowledge_relations r WHERE r.tenant_id = ");
        sql.bind::<Id, _>(&self.tenant)?;
        sql.text(" AND r.from_id IN ");
        sql.among::<Id, _>(&self.level)?;
        self.followed.write(sql)?;
        sql.text(" UNION SELECT r.from_id FROM knowledge_relations r WHERE r.tenant_id = ");
        sql.bind::<Id, _>(&self.tenant)?;
        sql.text(" AND r.to_id IN ");
        sql.among::<Id, _>(&self.level)?;
        self.followed.write(sql)?;
        sql.text(") AS n CROSS JOIN ");
        sql.rows()?;
        sql.text(" AS k WHERE k.id = n.id AND n.id NOT IN ");
        sql.among::<Id, _>(&self.visited)?;
        sql.text(" ORDER BY k.sort_name, k.id LIMIT 101");
        Ok(())
    }
}

/// The reached relations between some entities, oldest first: one more than any answer shows.
struct Between {
    entities: Vec<EntityId>,
    followed: Followed,
}

/// A relation.
#[derive(Debug, Queryable)]
pub(super) struct RelationRow {
    pub(super) type_code: String,
    pub(super) from_id: EntityId,
    pub(super) to_id: EntityId,
    pub(super) valid_from: Day,
    pub(super) valid_to: Option<Day>,
    pub(super) note: Option<FreeText>,
}

impl HandWritten for Between {
    type Table = knowledge_relations::table;
    type SqlType = (Text, Id, Id, Date, Nullable<Date>, Nullable<Text>);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT r.type_code, r.from_id, r.to_id, r.valid_from, r.valid_to, r.note FROM ");
        sql.rows()?;
        sql.text(" AS r WHERE r.from_id IN ");
        sql.among::<Id, _>(&self.entities)?;
        sql.text(" AND r.to_id IN ");
        sql.among::<Id, _>(&self.entities)?;
        self.followed.write(sql)?;
        sql.text(" ORDER BY r.valid_from, r.id LIMIT 201");
        Ok(())
    }
}

/// The entities that were reached, each with its distance, nearest first and by name; whether there are more.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) entities: Vec<(u8, EntityRow)>,
    pub(super) is_cut: bool,
}

/// Walks from an entity, at most so many steps and to at most so many entities, itself included.
///
/// # Errors
/// There is no such entity within reach.
pub(super) fn walk(
    scope: &mut Read<'_>,
    from: EntityId,
    steps: u8,
    most: usize,
    followed: &Followed,
) -> Result<Walk> {
    let start = scope.by_hand(knowledge_entities::table, Named(vec![from]));
    let (start, _): (EntityRow, FreeText) = scope.one("entity", start)?;
    let mut entities = vec![(0, start)];
    let mut level = vec![from];
    for distance in 1..=steps {
        let next = Next {
            tenant: scope.tenant(),
            level: padded(level),
            visited: padded(ids(&entities)),
            followed: followed.clone(),
        };
        let mut found: Vec<EntityRow> =
            scope.load(scope.by_hand(knowledge_entities::table, next))?;
        let room = most.saturating_sub(entities.len());
        let is_cut = found.len() > room;
        found.truncate(room);
        level = found.iter().map(|row| row.id).collect();
        entities.extend(found.into_iter().map(|row| (distance, row)));
        if is_cut || level.is_empty() {
            return Ok(Walk { entities, is_cut });
        }
    }
    Ok(Walk { entities, is_cut: false })
}

/// The relations between the entities, oldest first.
pub(super) fn between(
    scope: &mut Read<'_>,
    entities: &[(u8, EntityRow)],
    followed: &Followed,
) -> Result<Vec<RelationRow>> {
    let between = Between { entities: padded(ids(entities)), followed: followed.clone() };
    scope.load(scope.by_hand(knowledge_relations::table, between))
}

fn ids(entities: &[(u8, EntityRow)]) -> Vec<EntityId> {
    entities.iter().map(|(_, row)| row.id).collect()
}
