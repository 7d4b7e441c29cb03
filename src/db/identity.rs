//! The identity doors: what may be read before a tenant is known, one statement each.

use diesel::prelude::*;

use super::pool::{Db, Session};
use super::schema::doors::{credentials, identities, sign_ins};
use super::{Mandates, TenantId};
use crate::dates::Instant;
use crate::error::Result;
use crate::ids::{TokenId, UserId};
use crate::language::Language;

/// A person in a firm, both active, with the role and all that it grants.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = identities)]
pub(crate) struct Identity {
    pub(crate) tenant_id: TenantId,
    pub(crate) user_id: UserId,
    pub(crate) slug: String,
    pub(crate) firm_name: String,
    pub(crate) time_zone: String,
    pub(crate) email: String,
    pub(crate) display_name: String,
    pub(crate) token_version: i32,
    pub(crate) role: String,
    pub(crate) reach: Mandates,
    pub(crate) language: Language,
    pub(crate) permissions: Option<String>,
}

/// An API token that is neither revoked nor expired, and the person it acts for.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = credentials)]
pub(crate) struct TokenRow {
    pub(crate) token_id: TokenId,
    pub(crate) token_name: String,
    pub(crate) scopes: String,
    pub(crate) expires_at: Option<Instant>,
    pub(crate) last_used_at: Option<Instant>,
    #[diesel(embed)]
    pub(crate) identity: TokenIdentity,
}

/// The columns of [`Identity`], read through the door for tokens.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = credentials)]
pub(crate) struct TokenIdentity {
    tenant_id: TenantId,
    user_id: UserId,
    slug: String,
    firm_name: String,
    time_zone: String,
    email: String,
    display_name: String,
    token_version: i32,
    role: String,
    reach: Mandates,
    language: Language,
    permissions: Option<String>,
}

impl From<TokenIdentity> for Identity {
    fn from(row: TokenIdentity) -> Self {
        let TokenIdentity { tenant_id, user_id, slug, firm_name, time_zone, email, .. } = row;
        let TokenIdentity { display_name, token_version, role, reach, .. } = row;
        let TokenIdentity { language, permissions, .. } = row;
        Self {
            tenant_id,
            user_id,
            slug,
            firm_name,
            time_zone,
            email,
            display_name,
            token_version,
            role,
            reach,
            language,
            permissions,
        }
    }
}

/// What is known of a person who signs in: one row per firm where they are active.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = sign_ins)]
pub(crate) struct SignIn {
    pub(crate) password_hash: String,
    pub(crate) tenant_id: TenantId,
    pub(crate) user_id: UserId,
    pub(crate) slug: String,
    pub(crate) firm_name: String,
    pub(crate) token_version: i32,
}

impl Db {
    /// Takes a connection and looks up the API token with this digest, active at `now`.
    pub(crate) fn identify_token(
        &self,
        digest: &[u8; 32],
        now: Instant,
    ) -> Result<(Session, Option<TokenRow>)> {
        let mut session = self.session()?;
        let row = session.attempt(|link| {
            let living = credentials::expires_at.is_null().or(credentials::expires_at.gt(now));
            let query = credentials::table
                .filter(credentials::digest.eq(&digest[..]))
                .filter(living)
                .select(TokenRow::as_select());
            Ok(query.load(&mut link.connection)?.pop())
        })?;
        Ok((session, row))
    }

    /// Takes a connection and looks up a person in a firm.
    pub(crate) fn identify_person(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<(Session, Option<Identity>)> {
        let mut session = self.session()?;
        let row = session.attempt(|link| {
            let query = identities::table
                .filter(identities::tenant_id.eq(tenant))
                .filter(identities::user_id.eq(user))
                .select(Identity::as_select());
            Ok(query.load(&mut link.connection)?.pop())
        })?;
        Ok((session, row))
    }

    /// Looks up where a person may sign in, by folded e-mail address.
    pub(crate) fn sign_ins(&self, email: &str) -> Result<Vec<SignIn>> {
        self.session()?.attempt(|link| {
            let query = sign_ins::table
                .filter(sign_ins::email.eq(email))
                .order(sign_ins::slug)
                .select(SignIn::as_select());
            Ok(query.load(&mut link.connection)?)
        })
    }
}
