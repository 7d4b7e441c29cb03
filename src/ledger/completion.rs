//! Completion: accounts by words of their name or number, for programs that ask while a person types.

use diesel::dsl::count_star;
use diesel::prelude::*;

use crate::auth::Permission;
use crate::db::schema::accounts;
use crate::db::{ContainsAll, Filters, Read};
use crate::error::Result;
use crate::registry::{Completion, MOST_SUGGESTIONS, Suggestions, Typed};
use crate::text::search_words;

/// An account of the mandate chosen before, for what a person types.
pub const COMPLETION: Completion =
    Completion { argument: "account", permission: Permission::LedgerRead, find: by_name };

/// The numbers of the accounts whose name or number contains the words. A number means an account only within a mandate:
/// without one there is nothing to suggest.
fn by_name(scope: &mut Read<'_>, typed: &Typed<'_>) -> Result<Suggestions> {
    let Some(mandate) = typed.mandate else { return Ok((vec![], 0)) };
    let words = search_words(typed.text)?;
    let chosen = Filters::on(accounts::table)
        .and(accounts::mandate_id.eq(mandate))
        .and(accounts::is_postable.eq(true))
        .and(ContainsAll(accounts::search_text, words));
    let found = scope.rows(accounts::table).filter(chosen);
    let total = scope.one("count", found.clone().select(count_star()))?;
    let first = found.order(accounts::number).select(accounts::number);
    Ok((scope.load(first.at_most(MOST_SUGGESTIONS))?, total))
}
