//! Entities by words, the best match first.

use diesel::dsl::count_star;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::{COLUMNS, Columns, EntityRow};
use crate::db::schema::knowledge_entities;
use crate::db::types::Id;
use crate::db::{Contains, ContainsAll, Filters, HandWritten, HandWrittenSql, Read};
use crate::error::{Error, Result};
use crate::ids::EntityId;
use crate::meaning::Score;
use crate::text::{FreeText, fold, search_words};

/// Where a found entity stands: score in ten-thousandths, name, id.
pub(super) type Position = (i64, String, EntityId);

/// A found entity: itself, its description, how well it matches.
pub(super) type Found = (EntityRow, FreeText, Score);

/// A word, as it is looked for: anywhere, at the beginning of a word, as a whole word.
struct Word {
    anywhere: String,
    beginning: String,
    whole: String,
}

/// Entities that contain every word, by how they do: each word counts most as a whole word of the name, less where a word of
/// the name begins with it or contains it, least in the description; a name that is what was asked for is the best of all.
struct Ranked {
    query: String,
    words: Vec<Word>,
    all: Contains,
    type_code: Option<String>,
    after: Option<Position>,
    at_most: i64,
}

/// What a word counts for, by where it is; the name and the whole text with apostrophes and hyphens as spaces.
const PLACES: [(&str, Part, i64); 5] = [
    ("' ' || replace(replace(k.sort_name, '''', ' '), '-', ' ') || ' '", Part::Whole, 10),
    ("' ' || replace(replace(k.sort_name, '''', ' '), '-', ' ')", Part::Beginning, 8),
    ("k.sort_name", Part::Anywhere, 6),
    ("' ' || replace(replace(k.search_text, '''', ' '), '-', ' ') || ' '", Part::Whole, 4),
    ("' ' || replace(replace(k.search_text, '''', ' '), '-', ' ')", Part::Beginning, 3),
];
/// What a word counts for anywhere else.
const ELSEWHERE: i64 = 2;

/// How a word is looked for.
#[derive(Clone, Copy)]
enum Part {
    Anywhere,
    Beginning,
    Whole,
}

impl Word {
    fn new(word: String) -> Self {
        let spaced = word.replace(['\'', '-'], " ");
        Self { anywhere: word, beginning: format!(" {spaced}"), whole: format!(" {spaced} ") }
    }

    const fn part(&self, part: Part) -> &String {
        match part {
            Part::Anywhere => &self.anywhere,
            Part::Beginning => &self.beginning,
            Part::Whole => &self.whole,
        }
    }
}

impl HandWritten for Ranked {
    type Table = knowledge_entities::table;
    type SqlType = (Columns, Text, BigInt, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("WITH k AS MATERIALIZED (SELECT ");
        sql.text(COLUMNS);
        sql.text(", k.description, CAST(CASE WHEN k.sort_name = ");
        sql.bind::<Text, _>(&self.query)?;
        sql.text(" THEN 10000 ELSE (0");
        for word in &self.words {
            sql.text(" + CASE");
            for (text, part, points) in PLACES {
                sql.text(" WHEN ");
                sql.contains(text, word.part(part))?;
                sql.text(" THEN ");
                sql.number(points);
            }
            sql.text(" ELSE ");
            sql.number(ELSEWHERE);
            sql.text(" END");
        }
        sql.text(") * 950 / ");
        sql.number(i64::try_from(self.words.len()).unwrap_or(1));
        sql.text(" END AS BIGINT) AS score FROM ");
        sql.rows()?;
        sql.text(" AS k WHERE TRUE");
        sql.contains_all(&self.all)?;
        if let Some(code) = &self.type_code {
            sql.text(" AND k.type_code = ");
            sql.bind::<Text, _>(code)?;
        }
        sql.text(") SELECT ");
        sql.text(COLUMNS);
        sql.text(", k.description, k.score, (SELECT count(*) FROM k) FROM k");
        if let Some((score, name, id)) = &self.after {
            sql.text(" WHERE (-k.score, k.sort_name, k.id) > (-");
            sql.bind::<BigInt, _>(score)?;
            sql.text(", ");
            sql.bind::<Text, _>(name)?;
            sql.text(", ");
            sql.bind::<Id, _>(id)?;
            sql.text(")");
        }
        sql.text(" ORDER BY -k.score, k.sort_name, k.id LIMIT ");
        sql.number(self.at_most);
        Ok(())
    }
}

/// The entities of a type, or of any, that contain every word of `query`, at most so many after a position, and how many
/// there are in all.
pub(super) fn find(
    scope: &mut Read<'_>,
    query: &str,
    type_code: Option<String>,
    after: Option<Position>,
    at_most: i64,
) -> Result<(Vec<Found>, i64)> {
    let words = search_words(query)?;
    if words.is_empty() {
        return Err(Error::argument("query", "query must have at least one word"));
    }
    let is_first = after.is_none();
    let ranked = Ranked {
        query: fold(query),
        words: words.iter().cloned().map(Word::new).collect(),
        all: Contains::all(knowledge_entities::table, "k", words.clone()),
        type_code: type_code.clone(),
        after,
        at_most,
    };
    let rows: Vec<(EntityRow, FreeText, i64, i64)> =
        scope.load(scope.by_hand(knowledge_entities::table, ranked))?;
    let total = match rows.first() {
        Some((.., total)) => *total,
        None if is_first => 0,
        None => {
            let chosen = Filters::on(knowledge_entities::table)
                .and(ContainsAll(knowledge_entities::search_text, words))
                .and_some(type_code, |code| knowledge_entities::type_code.eq(code));
            let all = scope.rows(knowledge_entities::table).filter(chosen);
            scope.one("count", all.select(count_star()))?
        }
    };
    let found = |(row, description, score, _)| (row, description, Score::of_ten_thousandths(score));
    Ok((rows.into_iter().map(found).collect(), total))
}
