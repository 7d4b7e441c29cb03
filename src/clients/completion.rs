//! Completion: clients by words of their name, for programs that ask while a person types.

use diesel::dsl::count_star;
use diesel::prelude::*;

use crate::db::schema::clients;
use crate::db::{ContainsAll, Read};
use crate::error::Result;
use crate::ids::ClientId;
use crate::text::search_words;

/// Suggestions at most.
const MOST: i64 = 20;

/// The ids of the clients whose name contains the words of `typed`, in alphabetical order, and how many there are.
pub(super) fn by_name(scope: &mut Read<'_>, typed: &str) -> Result<(Vec<String>, i64)> {
    let words = search_words(typed)?;
    let found = scope.rows(clients::table).filter(ContainsAll(clients::sort_name, words));
    let total = scope.one("count", found.clone().select(count_star()))?;
    let first = found.order((clients::sort_name, clients::id)).select(clients::id);
    let ids: Vec<ClientId> = scope.load(first.at_most(MOST))?;
    Ok((ids.iter().map(ClientId::to_string).collect(), total))
}
