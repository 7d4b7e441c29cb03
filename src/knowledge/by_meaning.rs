//! Entities by meaning, the closest first.

use std::cmp::Reverse;
use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text};

use super::by_words::{Found, Position};
use super::{EntityRow, Named, padded};
use crate::db::schema::knowledge_entities;
use crate::db::types::Id;
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::{Error, Result};
use crate::ids::EntityId;
use crate::meaning::{Score, Vector};
use crate::text::{FreeText, fold};

/// Below this an entity has nothing to do with what was asked for.
const WEAK: Score = Score::of_ten_thousandths(3_000);

/// Entities that are compared at most.
const MOST: usize = 50_000;

/// Characters of a question at most.
const LONGEST: usize = 500;

/// The reached entities of a type, or of any, with the vectors that a model has for them.
struct Vectors {
    model: Vec<u8>,
    type_code: Option<String>,
}

impl HandWritten for Vectors {
    type Table = knowledge_entities::table;
    type SqlType = (Id, Text, Nullable<Binary>);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT k.id, k.sort_name, v.vector FROM ");
        sql.rows()?;
        sql.text(" AS k LEFT JOIN knowledge_embeddings v ON v.tenant_id = k.tenant_id AND v.entity_id = k.id AND v.model = ");
        sql.bind::<Binary, _>(&self.model)?;
        if let Some(code) = &self.type_code {
            sql.text(" WHERE k.type_code = ");
            sql.bind::<Text, _>(code)?;
        }
        Ok(())
    }
}

/// What was found by meaning.
pub(super) struct Closest {
    pub(super) found: Vec<Found>,
    pub(super) total: i64,
    /// Entities that could not be compared.
    pub(super) not_compared: i64,
}

/// The entities of a type, or of any, that mean what `query` means, without weak matches, at most so many after a position.
///
/// # Errors
/// The server has no model; the query is empty or too long; there are too many entities to compare.
pub(super) fn find(
    scope: &mut Read<'_>,
    query: &str,
    type_code: Option<String>,
    after: Option<&Position>,
    at_most: usize,
) -> Result<Closest> {
    let model = scope.model().ok_or_else(|| {
        let said = "search by meaning is not set up on this server; use mode words";
        Error::argument("mode", said)
    })?;
    if fold(query).is_empty() {
        return Err(Error::argument("query", "query must have at least one word"));
    }
    if query.chars().count() > LONGEST {
        let said = format!("query must have at most {LONGEST} characters");
        return Err(Error::argument("query", said));
    }
    let asked = model.vector(query)?;
    let vectors = Vectors { model: model.digest().to_vec(), type_code };
    let rows: Vec<(EntityId, String, Option<Vec<u8>>)> = {
        let all = scope.by_hand(knowledge_entities::table, vectors);
        scope.load(all.at_most(50_001))?
    };
    if rows.len() > MOST {
        let said = format!(
            "more than {MOST} entities would be compared; narrow them by type, or use mode words"
        );
        return Err(Error::argument("mode", said));
    }
    let mut not_compared = 0;
    let mut close: Vec<(Reverse<Score>, String, EntityId)> = vec![];
    for (id, name, vector) in rows {
        let Some(vector) = vector else {
            not_compared += 1;
            continue;
        };
        let likeness = asked.likeness(&Vector::from_bytes(&vector));
        if likeness >= WEAK {
            close.push((Reverse(likeness), name, id));
        }
    }
    close.sort_unstable();
    let total = i64::try_from(close.len()).map_err(Error::fault)?;
    if let Some((score, name, id)) = after {
        let after = (Reverse(Score::of_ten_thousandths(*score)), name.clone(), *id);
        close.retain(|one| *one > after);
    }
    close.truncate(at_most);
    Ok(Closest { found: described(scope, close)?, total, not_compared })
}

/// The entities themselves, in the same order.
fn described(
    scope: &mut Read<'_>,
    close: Vec<(Reverse<Score>, String, EntityId)>,
) -> Result<Vec<Found>> {
    if close.is_empty() {
        return Ok(vec![]);
    }
    let named = Named(padded(close.iter().map(|(.., id)| *id).collect()));
    let rows: Vec<(EntityRow, FreeText)> =
        scope.load(scope.by_hand(knowledge_entities::table, named))?;
    let mut by_id: HashMap<EntityId, (EntityRow, FreeText)> =
        rows.into_iter().map(|row| (row.0.id, row)).collect();
    let found = |(Reverse(score), _, id)| {
        let (row, description) = by_id.remove(&id)?;
        Some((row, description, score))
    };
    Ok(close.into_iter().filter_map(found).collect())
}
