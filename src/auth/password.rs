//! Passwords: argon2id with the parameters that OWASP asks for at least (19 MiB, two passes, one lane).

use std::sync::LazyLock;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};

use crate::error::{Code, Error, Result};

/// Characters at most, counted before anything is hashed.
pub const LONGEST: usize = 128;
/// Characters at least in a password that is set.
pub const SHORTEST: usize = 12;
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Verified when there is no account, so that the work is the same.
static NOBODY: LazyLock<String> =
    LazyLock::new(|| hash("nobody has this password").unwrap_or_default());

/// Whether a password can be one at all; what cannot is refused before any work.
#[must_use]
pub fn is_possible(password: &str) -> bool {
    let length = password.chars().take(LONGEST + 1).count();
    (1..=LONGEST).contains(&length) && !password.contains('\0')
}

/// The PHC string of a new password.
///
/// # Errors
/// The password is too short or too long.
pub fn set(password: &str) -> Result<String> {
    if !is_possible(password) || password.chars().count() < SHORTEST {
        let message = format!("a password has {SHORTEST} to {LONGEST} characters");
        return Err(Error::refuse(Code::InvalidArgument, message));
    }
    hash(password)
}

fn hash(password: &str) -> Result<String> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|error| Error::fault(error.to_string()))?;
    let hash: PasswordHash = hasher()?
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map_err(|error| Error::fault(error.to_string()))?;
    Ok(hash.to_string())
}

/// Whether `password` is that of the PHC string `stored`; without one, the same work for the answer no.
#[must_use]
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    let Ok(hash) = PasswordHash::new(stored.unwrap_or(&NOBODY)) else { return false };
    let Ok(hasher) = hasher() else { return false };
    hasher.verify_password(password.as_bytes(), &hash).is_ok() && stored.is_some()
}

fn hasher() -> Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None)
        .map_err(|error| Error::fault(error.to_string()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

#[cfg(test)]
mod tests {
    use super::{set, verify};

    #[test]
    fn a_password_verifies_against_its_own_hash_only() {
        let stored = set("correct horse battery").unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(verify("correct horse battery", Some(&stored)));
        assert!(!verify("correct horse batterz", Some(&stored)));
        assert!(!verify("nobody has this password", None));
        assert!(set("short").is_err());
        assert!(set(&"x".repeat(129)).is_err());
    }
}
