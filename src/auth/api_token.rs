//! API tokens: `gct_`, 256 random bits in base 62, and a checksum; the database keeps only the SHA-256 digest.

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// What tells an API token from a JWT.
pub const PREFIX: &str = "gct_";
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 62^43 exceeds 2^256, 62^6 exceeds 2^32.
const SECRET_LENGTH: usize = 43;
const CHECKSUM_LENGTH: usize = 6;

/// An API token in the clear: shown once, never stored, never printed by accident.
#[derive(Clone)]
pub struct ApiToken(String);

impl std::fmt::Debug for ApiToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiToken(…)")
    }
}

impl ApiToken {
    /// A new token from the system's random numbers.
    ///
    /// # Errors
    /// The system has none to give.
    pub fn generate() -> Result<Self> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| Error::fault(error.to_string()))?;
        Ok(Self::from_secret(&secret))
    }

    /// The token of a given secret.
    #[must_use]
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        let body = base62(secret, SECRET_LENGTH);
        let checksum = checksum(&body);
        Self(format!("{PREFIX}{body}{checksum}"))
    }

    /// Reads a token whose form and checksum are right; anything else costs no query.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        let is_base62 = rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if rest.len() != SECRET_LENGTH + CHECKSUM_LENGTH || !is_base62 {
            return None;
        }
        let (body, sum) = rest.split_at_checked(SECRET_LENGTH)?;
        (checksum(body) == sum).then(|| Self(text.to_owned()))
    }

    /// What the database keeps.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }

    /// The last four characters, by which a person recognises it in a list.
    #[must_use]
    pub fn suffix(&self) -> &str {
        self.0.get(self.0.len() - 4..).unwrap_or_default()
    }

    /// The token itself, to be shown once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

fn checksum(body: &str) -> String {
    base62(&crc32fast::hash(body.as_bytes()).to_be_bytes(), CHECKSUM_LENGTH)
}

/// A big-endian number in base 62, padded with zeros to `length` digits.
fn base62(number: &[u8], length: usize) -> String {
    let mut number = number.to_vec();
    let mut digits = vec![b'0'; length];
    for digit in digits.iter_mut().rev() {
        let mut remainder = 0_u32;
        for byte in &mut number {
            let value = remainder << 8 | u32::from(*byte);
            *byte = u8::try_from(value / 62).unwrap_or_default();
            remainder = value % 62;
        }
        *digit =
            usize::try_from(remainder).ok().and_then(|at| DIGITS.get(at)).copied().unwrap_or(b'0');
    }
    String::from_utf8(digits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::ApiToken;

    #[test]
    fn a_token_reads_back_and_one_wrong_character_does_not() {
        let token = ApiToken::from_secret(&[255; 32]);
        let text = token.reveal();
        assert_eq!(text.len(), 53);
        assert_eq!(ApiToken::parse(text).unwrap().digest(), token.digest());
        for at in 4..text.len() {
            let mut other = text.to_owned().into_bytes();
            other[at] = if other[at] == b'x' { b'y' } else { b'x' };
            let other = String::from_utf8(other).unwrap();
            assert!(ApiToken::parse(&other).is_none() || other == text, "{at}");
        }
        for bad in
            ["", "gct_", "gct_é", &text[..52], &format!("{text}0"), &text.replace("gct_", "GCT_")]
        {
            assert!(ApiToken::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_token_never_prints_by_accident() {
        let token = ApiToken::generate().unwrap();
        assert!(!format!("{token:?}").contains(&token.reveal()[4..20]));
    }
}
