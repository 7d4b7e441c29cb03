//! Completion: employees by words of their name or number, for programs that ask while a person types.

use diesel::dsl::count_star;
use diesel::prelude::*;

use crate::auth::Permission;
use crate::db::schema::employees;
use crate::db::{ContainsAll, Filters, Read};
use crate::error::Result;
use crate::ids::EmployeeId;
use crate::registry::{Completion, MOST_SUGGESTIONS, Suggestions, Typed};
use crate::text::search_words;

/// An employee for what a person types.
pub const COMPLETION: Completion =
    Completion { argument: "employee_id", permission: Permission::PayrollRead, find: by_name };

/// The ids of the employees whose name or number contains the words, in alphabetical order: those of the mandate chosen
/// before, if one was.
fn by_name(scope: &mut Read<'_>, typed: &Typed<'_>) -> Result<Suggestions> {
    let words = search_words(typed.text)?;
    let chosen = Filters::on(employees::table)
        .and(ContainsAll(employees::search_text, words))
        .and_some(typed.mandate, |mandate| employees::mandate_id.eq(mandate));
    let found = scope.rows(employees::table).filter(chosen);
    let total = scope.one("count", found.clone().select(count_star()))?;
    let first = found.order((employees::sort_name, employees::id)).select(employees::id);
    let ids: Vec<EmployeeId> = scope.load(first.at_most(MOST_SUGGESTIONS))?;
    Ok((ids.iter().map(EmployeeId::to_string).collect(), total))
}
