//! Firms, people and tokens as their administrator sets them up.
//!
//! Everything here runs on the owner's connection (`db::Administration`), across firms and beside the chain of scopes:
//! the command line calls it, a tool never does.

mod firms;
mod knowledge;
mod people;
mod reach;
mod roles;
mod tokens;
mod words;

pub(crate) use firms::{Firm, FirmRow, NewFirm};
pub(crate) use people::{MemberRow, NewMember, NewPassword, Place};
pub(crate) use reach::NewReach;
pub(crate) use roles::{FirmRole, seed_roles, seeded_roles};
pub(crate) use tokens::{NewToken, TokenRow};
pub(crate) use words::{Email, Line, Slug};

pub(crate) use firms::{create_firm, list_firms, set_firm_standing};
pub(crate) use knowledge::prepare_for_meaning;
pub(crate) use people::{
    add_member, list_members, set_language, set_password, set_role, set_standing,
};
pub(crate) use reach::set_reach;
pub(crate) use roles::roles_of;
pub(crate) use tokens::{create_token, list_tokens, revoke_token};

text_enum! {
    /// Whether a firm, a person or a membership counts.
    Standing {
        /// It does.
        Active = "active",
        /// It does not, until it is activated again.
        Inactive = "inactive",
    }
}

impl Standing {
    /// As its column holds it.
    const fn is_active(self) -> bool {
        matches!(self, Self::Active)
    }
}

impl From<bool> for Standing {
    fn from(is_active: bool) -> Self {
        if is_active { Self::Active } else { Self::Inactive }
    }
}

fn refuse(message: impl Into<String>) -> crate::error::Error {
    crate::error::Error::refuse(crate::error::Code::Conflict, message)
}

#[cfg(test)]
mod tests;
