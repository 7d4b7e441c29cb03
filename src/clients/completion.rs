//! Completion: clients by words of their name, for clients that ask while a person types.

use diesel::dsl::count_star;
use diesel::prelude::*;

use crate::auth::{Caller, Permission};
use crate::dates::Instant;
use crate::db::schema::clients;
use crate::db::{ContainsAll, Session};
use crate::error::Result;
use crate::ids::ClientId;
use crate::text::search_words;

/// Suggestions at most.
const MOST: i64 = 20;

/// The ids of the clients whose name contains the words of `typed`, in alphabetical order, and how many there are.
///
/// # Errors
/// The caller may not read clients.
pub fn complete(
    session: &mut Session,
    caller: &Caller,
    now: Instant,
    typed: &str,
) -> Result<(Vec<ClientId>, i64)> {
    let words = search_words(typed)?;
    session.read(&caller.authorize(Permission::ClientRead)?, now, |scope| {
        let found = scope.rows(clients::table).filter(ContainsAll(clients::sort_name, words));
        let total = scope.one("count", found.clone().select(count_star()))?;
        let first = found.order((clients::sort_name, clients::id)).select(clients::id);
        Ok((scope.load(first.at_most(MOST))?, total))
    })
}
