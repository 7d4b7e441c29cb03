//! Finding the id of a record by its name, while a person types.

use crate::auth::Permission;
use crate::db::Read;
use crate::error::Result;
use crate::ids::MandateId;

/// Suggestions at most.
pub const MOST_SUGGESTIONS: i64 = 20;

/// What a person has typed so far, and what stands beside it.
#[derive(Debug, Clone, Copy)]
pub struct Typed<'a> {
    /// The text.
    pub text: &'a str,
    /// The mandate that the person has chosen before, under `mandate_id`.
    pub mandate: Option<MandateId>,
}

/// Values for what was typed, and how many there are.
pub type Suggestions = (Vec<String>, i64);

/// How the values of an argument are found. Prompts and templates that have an argument of this name complete it so.
#[derive(Debug)]
pub struct Completion {
    /// The argument's name: `client_id`.
    pub argument: &'static str,
    /// What a caller's role must grant, whatever the prompt or template grants.
    pub permission: Permission,
    /// Finds the values within reach.
    pub find: fn(&mut Read<'_>, &Typed<'_>) -> Result<Suggestions>,
}
