//! Completion: clients by words of their name, for programs that ask while a person types.

use diesel::dsl::count_star;
use diesel::prelude::*;

use crate::auth::Permission;
use crate::db::schema::clients;
use crate::db::{ContainsAll, Read};
use crate::error::Result;
use crate::ids::ClientId;
use crate::registry::{Completion, MOST_SUGGESTIONS, Suggestions, Typed};
use crate::text::search_words;

/// A client for what a person types.
pub const COMPLETION: Completion =
    Completion { argument: "client_id", permission: Permission::ClientRead, find: by_name };

/// The ids of the clients whose name contains the words, in alphabetical order.
fn by_name(scope: &mut Read<'_>, typed: &Typed<'_>) -> Result<Suggestions> {
    let words = search_words(typed.text)?;
    let found = scope.rows(clients::table).filter(ContainsAll(clients::sort_name, words));
    let total = scope.one("count", found.clone().select(count_star()))?;
    let first = found.order((clients::sort_name, clients::id)).select(clients::id);
    let ids: Vec<ClientId> = scope.load(first.at_most(MOST_SUGGESTIONS))?;
    Ok((ids.iter().map(ClientId::to_string).collect(), total))
}
