//! Completion: mandates by words of their number, title or client, for programs that ask while a person types.

use diesel::dsl::count_star;
use diesel::prelude::*;

use crate::auth::Permission;
use crate::db::schema::mandates;
use crate::db::{ContainsAll, Read};
use crate::error::Result;
use crate::ids::MandateId;
use crate::registry::{Completion, MOST_SUGGESTIONS, Suggestions, Typed};
use crate::text::search_words;

/// A mandate for what a person types.
pub const COMPLETION: Completion =
    Completion { argument: "mandate_id", permission: Permission::MandateRead, find: by_name };

/// The ids of the mandates whose number, title or client contains the words, in the order of their numbers.
fn by_name(scope: &mut Read<'_>, typed: &Typed<'_>) -> Result<Suggestions> {
    let words = search_words(typed.text)?;
    let found = scope.rows(mandates::table).filter(ContainsAll(mandates::search_text, words));
    let total = scope.one("count", found.clone().select(count_star()))?;
    let first = found.order((mandates::number, mandates::id)).select(mandates::id);
    let ids: Vec<MandateId> = scope.load(first.at_most(MOST_SUGGESTIONS))?;
    Ok((ids.iter().map(MandateId::to_string).collect(), total))
}
