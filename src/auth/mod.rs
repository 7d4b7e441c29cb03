//! Who is calling, and what they may do: credentials → [`Caller`] → [`Grant`].

pub mod api_token;
pub mod jwt;
pub mod password;
mod permission;
mod roles;
mod sign_in;

pub use permission::{Permission, Permissions};
pub use roles::{ROLES, Role};
pub(crate) use sign_in::email_key;
pub use sign_in::{SignInDesk, SignInRefusal, Signed};

use api_token::ApiToken;
use chrono_tz::Tz;
use diesel::prelude::*;

use crate::dates::Instant;
use crate::db::schema::api_tokens;
use crate::db::{Db, Identity, Mandates, Reach, Session, TokenRow};
use crate::error::{Code, Error, Result};
use crate::ids::{TenantId, TokenId, UserId};
use crate::language::Language;

/// How often a token's last use is written down, in seconds.
const LAST_USED_EVERY_S: i64 = 60;

/// A credential as it arrived, of the right form; whether it is good is not known yet.
#[derive(Debug)]
pub enum Credential {
    /// A JSON Web Token of a signed-in person.
    Jwt(Jwt),
    /// A persistent token of an assistant or agent.
    ApiToken(ApiToken),
}

/// A JSON Web Token as it arrived.
pub struct Jwt(String);

impl std::fmt::Debug for Jwt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Jwt(…)")
    }
}

impl Credential {
    /// Reads the value of an `Authorization` header: `Bearer <jwt>`, `Bearer <api_token>` or `Token <api_token>`.
    #[must_use]
    pub fn parse(header: &str) -> Option<Self> {
        let (scheme, value) = header.trim_matches(' ').split_once(' ')?;
        let value = value.trim_matches(' ');
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        if value.contains([' ', ',', '\t']) || !(is_bearer || scheme.eq_ignore_ascii_case("token"))
        {
            return None;
        }
        if value.starts_with(api_token::PREFIX) {
            return ApiToken::parse(value).map(Self::ApiToken);
        }
        is_bearer.then(|| Self::Jwt(Jwt(value.to_owned())))
    }
}

/// The API token a caller came with.
#[derive(Debug, Clone)]
pub struct TokenUse {
    /// Its id.
    pub id: TokenId,
    /// The name its owner gave it.
    pub name: String,
    /// When it ends, if it does.
    pub expires_at: Option<Instant>,
    scopes: Permissions,
    last_used_at: Option<Instant>,
}

/// An authenticated caller, active at this moment. Only [`authenticate`] makes one.
#[derive(Debug, Clone)]
pub struct Caller {
    identity: Identity,
    zone: Tz,
    permissions: Permissions,
    token: Option<TokenUse>,
}

/// Proof that a [`Caller`] holds a permission; the key to a database scope.
#[derive(Debug)]
pub struct Grant<'a>(&'a Caller);

impl Caller {
    fn new(identity: Identity, token: Option<TokenUse>) -> Self {
        let role = Permissions::stored(identity.permissions.as_deref().unwrap_or_default());
        let scoped = token.as_ref().map_or(role, |token| role.intersection(token.scopes));
        let permissions = scoped.of_member();
        let zone = identity.time_zone.parse().unwrap_or(Tz::Europe__Zurich);
        Self { identity, zone, permissions, token }
    }

    /// Whether the caller's role, within the scopes of the token, grants `permission`; what is not granted is denied.
    #[must_use]
    pub const fn may(&self, permission: Permission) -> bool {
        self.permissions.contains(permission)
    }

    /// Checks `permission`. A tool that the caller may not use answers like one that does not exist.
    ///
    /// # Errors
    /// It is not granted.
    pub fn authorize(&self, permission: Permission) -> Result<Grant<'_>> {
        if self.may(permission) {
            Ok(Grant(self))
        } else {
            Err(Error::refuse(Code::UnknownTool, "unknown tool"))
        }
    }

    pub(crate) fn reach(&self) -> Reach {
        let Identity { tenant_id, user_id, reach, .. } = self.identity;
        let employees = self.may(Permission::PayrollRead);
        Reach { tenant: tenant_id, user: user_id, mandates: reach, employees }
    }

    /// The firm.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.identity.tenant_id
    }

    /// The person.
    #[must_use]
    pub const fn user(&self) -> UserId {
        self.identity.user_id
    }

    /// The firm's short name in addresses.
    #[must_use]
    pub fn firm_slug(&self) -> &str {
        &self.identity.slug
    }

    /// The firm's name.
    #[must_use]
    pub fn firm_name(&self) -> &str {
        &self.identity.firm_name
    }

    /// The firm's time zone.
    #[must_use]
    pub const fn time_zone(&self) -> Tz {
        self.zone
    }

    /// The language in which the person is answered.
    #[must_use]
    pub const fn language(&self) -> Language {
        self.identity.language
    }

    /// The person's name in this firm.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.identity.display_name
    }

    /// The person's e-mail address.
    #[must_use]
    pub fn email(&self) -> &str {
        &self.identity.email
    }

    /// The person's role in this firm.
    #[must_use]
    pub fn role(&self) -> &str {
        &self.identity.role
    }

    /// Which mandates the person reaches.
    #[must_use]
    pub const fn mandates(&self) -> Mandates {
        self.identity.reach
    }

    /// What the caller may do: the role's permissions within the token's scopes.
    #[must_use]
    pub const fn permissions(&self) -> Permissions {
        self.permissions
    }

    /// The API token, unless the caller came with a JWT.
    #[must_use]
    pub const fn token(&self) -> Option<&TokenUse> {
        self.token.as_ref()
    }

    /// Whether the use of the token is due to be written down.
    #[must_use]
    pub fn is_use_due(&self, now: Instant) -> bool {
        let due = |token: &TokenUse| {
            token.last_used_at.is_none_or(|at| at.plus_seconds(LAST_USED_EVERY_S) <= now)
        };
        self.token.as_ref().is_some_and(due)
    }
}

impl<'a> Grant<'a> {
    pub(crate) const fn caller(&self) -> &'a Caller {
        self.0
    }
}

/// The one answer to every bad credential.
#[must_use]
pub fn bad_credential() -> Error {
    Error::refuse(Code::Unauthenticated, "invalid credentials")
}

/// Takes a connection and finds who presents `credential`: person, membership, firm and token, all active at `now`, in
/// one statement.
///
/// # Errors
/// [`Code::Unauthenticated`] for every credential that is not good now; the database is away.
pub fn authenticate(
    db: &Db,
    keys: &jwt::Keys,
    credential: &Credential,
    now: Instant,
) -> Result<(Session, Caller)> {
    match credential {
        Credential::ApiToken(token) => {
            let (session, row) = db.identify_token(&token.digest(), now)?;
            let TokenRow { token_id, token_name, scopes, expires_at, last_used_at, identity } =
                row.ok_or_else(bad_credential)?;
            let scopes = Permissions::stored(&scopes);
            let token =
                TokenUse { id: token_id, name: token_name, expires_at, scopes, last_used_at };
            Ok((session, Caller::new(identity.into(), Some(token))))
        }
        Credential::Jwt(Jwt(text)) => {
            let claims = keys.verify(text, now).ok_or_else(bad_credential)?;
            let (session, identity) = db.identify_person(claims.tid.into(), claims.sub.into())?;
            let identity = identity.filter(|identity| identity.token_version == claims.ver);
            Ok((session, Caller::new(identity.ok_or_else(bad_credential)?, None)))
        }
    }
}

/// Writes down that the caller's token was used, and from which address.
///
/// # Errors
/// The database is away.
pub fn note_use(session: Session, caller: &Caller, from: &str, now: Instant) -> Result<()> {
    let Some(token) = caller.token() else { return Ok(()) };
    session.write(&caller.authorize(Permission::Present)?, now, |scope| {
        let this = scope.rows(api_tokens::table).filter(api_tokens::id.eq(token.id));
        let used = (api_tokens::last_used_at.eq(now), api_tokens::last_used_from.eq(from));
        scope.update(this, used).map(drop)
    })
}

/// Revokes the token that the caller came with: whoever holds a token may end it.
///
/// # Errors
/// The caller came with a JWT, which ends by itself; the database is away.
pub fn revoke_own(session: Session, caller: &Caller, now: Instant) -> Result<()> {
    let token = caller.token().ok_or_else(|| {
        Error::refuse(
            Code::InvalidArgument,
            "only an API token can be revoked; a JWT ends by itself",
        )
    })?;
    session.write(&caller.authorize(Permission::Present)?, now, |scope| {
        let this = scope.rows(api_tokens::table).filter(api_tokens::id.eq(token.id));
        scope.update(this, api_tokens::revoked_at.eq(now)).map(drop)
    })
}
