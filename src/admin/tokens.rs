//! API tokens of members.

use diesel::prelude::*;
use serde::Serialize;

use super::people::Member;
use super::{Email, Firm, Line, Standing, refuse, roles};
use crate::auth::Permissions;
use crate::auth::api_token::{self, ApiToken};
use crate::dates::Instant;
use crate::db::connection::AnyConnection;
use crate::db::schema::people::users;
use crate::db::schema::{api_tokens, memberships};
use crate::error::Result;
use crate::ids::TokenId;

/// What a token is made with.
#[derive(Debug)]
pub(crate) struct NewToken<'a> {
    pub(crate) name: &'a Line,
    /// Permissions, `read` and `propose`.
    pub(crate) scopes: &'a [String],
    pub(crate) expires_at: Option<Instant>,
}

/// Makes a token for a member; answers it and what it may do. It is kept as a digest and never shown again.
///
/// # Errors
/// There is no such member, or they are not active; a scope is none, or the member's role does not grant it.
pub(crate) fn create_token(
    connection: &mut AnyConnection,
    firm: &Firm,
    email: &Email,
    new: &NewToken<'_>,
    now: Instant,
) -> Result<(ApiToken, Permissions)> {
    let member = Member::find(connection, firm, email)?;
    let slug = &firm.slug;
    if firm.standing == Standing::Inactive {
        return Err(refuse(format!("{slug} is deactivated; run `guichet tenant activate {slug}`")));
    }
    if member.standing == Standing::Inactive || !member.is_person_active {
        return Err(refuse(format!("{email} is deactivated; run `guichet user activate` first")));
    }
    let role = roles::role(connection, firm, &member.role)?;
    let scopes = granted_scopes(new.scopes, &role)?;
    let token = ApiToken::generate()?;
    let row = (
        api_tokens::tenant_id.eq(firm.id),
        api_tokens::id.eq(TokenId::at(now)),
        api_tokens::user_id.eq(member.user),
        api_tokens::name.eq(new.name.as_str()),
        api_tokens::digest.eq(token.digest().to_vec()),
        api_tokens::suffix.eq(token.suffix().to_owned()),
        api_tokens::scopes.eq(scopes.to_string()),
        api_tokens::created_at.eq(now),
        api_tokens::expires_at.eq(new.expires_at),
    );
    diesel::insert_into(api_tokens::table).values(row).execute(connection)?;
    Ok((token, scopes))
}

/// The scopes that `words` ask for: `read` and `propose` as far as the role grants them, permissions by name in full.
fn granted_scopes(words: &[String], role: &roles::FirmRole) -> Result<Permissions> {
    let mut scopes = Permissions::NONE;
    for word in words.iter().flat_map(|word| word.split(' ')) {
        let parsed =
            Permissions::parse_scopes(word).ok().filter(|asked| *asked != Permissions::NONE);
        let asked = parsed.ok_or_else(|| {
            refuse(format!(
                "{word:?} is no scope that a token may hold; use read, propose or permissions such as client.read"
            ))
        })?;
        let granted = asked.intersection(role.permissions);
        if !matches!(word, "read" | "propose") && granted != asked {
            return Err(refuse(format!(
                "the role {} does not grant {}; leave the scope out, or change the role first",
                role.name,
                asked.without(granted)
            )));
        }
        scopes = scopes.union(granted);
    }
    if scopes == Permissions::NONE {
        let (name, words) = (&role.name, words.join(","));
        return Err(refuse(format!(
            "the role {name} grants nothing of {words}; ask for other scopes"
        )));
    }
    Ok(scopes)
}

text_enum! {
    /// Whether a token is good.
    TokenState {
        /// It is.
        Active = "active",
        /// Its time is over.
        Expired = "expired",
        /// Somebody ended it.
        Revoked = "revoked",
    }
}

/// A token as the list shows it; never the token itself.
#[derive(Debug, Serialize)]
pub(crate) struct TokenRow {
    pub(crate) id: TokenId,
    pub(crate) token: String,
    pub(crate) name: String,
    pub(crate) person: String,
    pub(crate) email: String,
    pub(crate) state: TokenState,
    pub(crate) created_at: Instant,
    pub(crate) expires_at: Option<Instant>,
    pub(crate) last_used_at: Option<Instant>,
    pub(crate) scopes: String,
}

type Listed = (
    (TokenId, String, String, String),
    (String, String),
    (Instant, Option<Instant>, Option<Instant>, Option<Instant>),
);

impl TokenRow {
    fn new(row: Listed, now: Instant) -> Self {
        let ((id, suffix, name, scopes), (person, email), instants) = row;
        let (created_at, expires_at, last_used_at, revoked_at) = instants;
        let state = match (revoked_at, expires_at) {
            (Some(_), _) => TokenState::Revoked,
            (None, Some(at)) if at <= now => TokenState::Expired,
            (None, _) => TokenState::Active,
        };
        let token = format!("{}…{suffix}", api_token::PREFIX);
        Self { id, token, name, person, email, state, created_at, expires_at, last_used_at, scopes }
    }
}

/// The tokens of a firm or of one of its members, oldest first.
///
/// # Errors
/// There is no such member.
pub(crate) fn list_tokens(
    connection: &mut AnyConnection,
    firm: &Firm,
    email: Option<&Email>,
    now: Instant,
) -> Result<Vec<TokenRow>> {
    if let Some(email) = email {
        Member::find(connection, firm, email)?;
    }
    let of_member = api_tokens::tenant_id
        .eq(memberships::tenant_id)
        .and(api_tokens::user_id.eq(memberships::user_id));
    let rows: Vec<Listed> = api_tokens::table
        .inner_join(memberships::table.on(of_member))
        .inner_join(users::table.on(users::id.eq(memberships::user_id)))
        .filter(api_tokens::tenant_id.eq(firm.id))
        .order((api_tokens::created_at, api_tokens::id))
        .select((
            (api_tokens::id, api_tokens::suffix, api_tokens::name, api_tokens::scopes),
            (memberships::display_name, users::email),
            (
                api_tokens::created_at,
                api_tokens::expires_at,
                api_tokens::last_used_at,
                api_tokens::revoked_at,
            ),
        ))
        .load(connection)?;
    let shown = rows.into_iter().map(|row| TokenRow::new(row, now));
    Ok(shown.filter(|row| email.is_none_or(|email| row.email == email.as_str())).collect())
}

/// Ends a token, named by its id or its last four characters; answers which it was.
///
/// # Errors
/// There is none, several, or it is revoked already.
pub(crate) fn revoke_token(
    connection: &mut AnyConnection,
    firm: &Firm,
    named: &str,
    now: Instant,
) -> Result<TokenRow> {
    let slug = &firm.slug;
    if ApiToken::parse(named).is_some() {
        return Err(refuse("name the token by its id or its last four characters, never in full"));
    }
    let suffix = named.rsplit('…').next().unwrap_or(named);
    let (ended, living): (Vec<_>, Vec<_>) = list_tokens(connection, firm, None, now)?
        .into_iter()
        .filter(|row| row.id.to_string() == named || row.token.ends_with(&format!("…{suffix}")))
        .partition(|row| row.state == TokenState::Revoked);
    let is_ambiguous = living.len() > 1;
    let said = match (ended.first(), &living[..]) {
        (_, [_, _, ..]) => {
            let those: Vec<_> =
                living.iter().map(|row| format!("{} ({})", row.id, row.name)).collect();
            format!("{named} names several tokens; give the id of one: {}", those.join(", "))
        }
        (Some(_), _) => format!("the token {named} is revoked already"),
        (None, _) => format!(
            "{slug} has no token {named}; `guichet token list --tenant {slug}` shows those there are"
        ),
    };
    let token = living.into_iter().next().filter(|_| !is_ambiguous).ok_or_else(|| refuse(said))?;
    let this = api_tokens::table
        .filter(api_tokens::tenant_id.eq(firm.id))
        .filter(api_tokens::id.eq(token.id));
    diesel::update(this).set(api_tokens::revoked_at.eq(now)).execute(connection)?;
    Ok(token)
}
