//! Short-lived JSON Web Tokens: signed and read by this server alone, for its own audience.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::dates::Instant;
use crate::error::{Error, Result};
use crate::ids::{TenantId, UserId};

/// How long a token is good for, in seconds.
pub const LIFETIME_S: i64 = 600;
/// How far the clocks of two servers may be apart, in seconds.
const LEEWAY_S: i64 = 5;
const TYPE: &str = "at+jwt";
/// Longer is not ours; ours have under 600 characters.
const LONGEST: usize = 2_048;

/// What a token says: who, where, until when. Never what the person may do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claims {
    iss: String,
    aud: String,
    /// The person.
    pub(crate) sub: Uuid,
    /// The firm.
    pub(crate) tid: Uuid,
    /// Raised when the person's password changes: older tokens end.
    pub(crate) ver: i32,
    iat: i64,
    nbf: i64,
    exp: i64,
    jti: Uuid,
}

struct Key {
    id: String,
    signing: EncodingKey,
    verifying: DecodingKey,
}

/// The keys of this server: one to sign with, and before it the one that is being replaced.
pub struct Keys {
    issuer: String,
    audience: String,
    /// The first signs.
    ring: Vec<Key>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// The name of a key in a token's header: a part of its digest.
fn key_id(secret: &[u8; 32]) -> String {
    let digest = Sha256::digest(secret);
    digest
        .first_chunk::<8>()
        .map_or_else(String::new, |part| format!("{:016x}", u64::from_be_bytes(*part)))
}

impl Keys {
    /// Keys for tokens issued by `public_url` for its `/mcp`; the first secret signs, all of them verify.
    ///
    /// # Errors
    /// A secret cannot be a key.
    pub fn new(public_url: &str, secrets: &[[u8; 32]]) -> Result<Self> {
        let issuer = public_url.trim_end_matches('/').to_owned();
        let key = |secret: &[u8; 32]| -> Result<Key> {
            Ok(Key {
                id: key_id(secret),
                signing: EncodingKey::from_secret(secret).map_err(Error::fault)?,
                verifying: DecodingKey::from_secret(secret).map_err(Error::fault)?,
            })
        };
        let audience = format!("{issuer}/mcp");
        Ok(Self { issuer, audience, ring: secrets.iter().map(key).collect::<Result<_>>()? })
    }

    /// A token for a person in a firm.
    ///
    /// # Errors
    /// There is no key to sign with.
    pub fn issue(
        &self,
        tenant: TenantId,
        user: UserId,
        version: i32,
        now: Instant,
    ) -> Result<String> {
        let key = self.ring.first().ok_or_else(|| Error::fault("no key to sign with"))?;
        let mut header = Header::new(Algorithm::HS256);
        header.typ = Some(TYPE.to_owned());
        header.kid = Some(key.id.clone());
        let issued_at = now.unix_seconds();
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            sub: user.into(),
            tid: tenant.into(),
            ver: version,
            iat: issued_at,
            nbf: issued_at,
            exp: issued_at + LIFETIME_S,
            jti: Uuid::now_v7(),
        };
        encode(&header, &claims, &key.signing).map_err(Error::fault)
    }

    /// Reads a token that is ours, for us and of this moment. Issuer, audience, type and times are compared here: the
    /// library would take a list that contains ours, and any type.
    pub(crate) fn verify(&self, token: &str, now: Instant) -> Option<Claims> {
        if token.len() > LONGEST {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok()?;
        let key = self.ring.iter().find(|key| Some(&key.id) == header.kid.as_ref())?;
        let mut validation = Validation::new(Algorithm::HS256);
        validation.validate_aud = false;
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let claims = decode::<Claims>(token, &key.verifying, &validation).ok()?.claims;
        let now = now.unix_seconds();
        let is_ours = header.typ.as_deref() == Some(TYPE)
            && claims.iss == self.issuer
            && claims.aud == self.audience
            && claims.iat <= now.saturating_add(LEEWAY_S)
            && claims.nbf <= now.saturating_add(LEEWAY_S)
            && claims.exp > now.saturating_sub(LEEWAY_S)
            && claims.exp <= claims.iat.saturating_add(LIFETIME_S);
        is_ours.then_some(claims)
    }
}
