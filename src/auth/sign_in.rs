//! Signing in with e-mail and password: bounded work, the same for every outcome, slower after failures.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::{jwt, password};
use crate::dates::{Clock, Instant};
use crate::db::{Db, SignIn};
use crate::error::{Error, Result};
use crate::text::fold;

/// Passwords hashed at the same time.
const HASHING_AT_ONCE: usize = 2;
/// Sign-ins that may wait for their turn; more are turned away.
const QUEUE: usize = 32;
/// The longest delay after failures, in seconds.
const LONGEST_DELAY_S: i64 = 60;
/// Accounts whose failures are remembered at most.
const REMEMBERED: usize = 10_000;

/// A token for a signed-in person.
#[derive(Debug)]
pub struct Signed {
    /// The JSON Web Token.
    pub token: String,
    /// The firm it is for.
    pub tenant: String,
}

/// Why there is no token.
#[derive(Debug)]
pub enum SignInRefusal {
    /// E-mail address, password or firm are not right; which is not said.
    Wrong,
    /// The person belongs to several firms and names none of them: slug and name of each.
    ChooseTenant(Vec<(String, String)>),
    /// Too soon after a failure, or too many at once: try again in so many seconds.
    Later(i64),
    /// We failed.
    Failed(Error),
}

impl From<Error> for SignInRefusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

struct Failures {
    count: u32,
    not_before: Instant,
}

/// Where people sign in.
pub struct SignInDesk {
    db: Db,
    keys: Arc<jwt::Keys>,
    clock: Clock,
    hashing: Semaphore,
    waiting: AtomicUsize,
    failures: Mutex<HashMap<[u8; 32], Failures>>,
}

impl std::fmt::Debug for SignInDesk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignInDesk").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl SignInDesk {
    /// A desk that issues tokens with `keys`.
    #[must_use]
    pub fn new(db: Db, keys: Arc<jwt::Keys>, clock: Clock) -> Self {
        let hashing = Semaphore::new(HASHING_AT_ONCE);
        Self { db, keys, clock, hashing, waiting: AtomicUsize::new(0), failures: Mutex::default() }
    }

    /// Checks a password, always with one hash, and issues a token for the firm named `tenant`, or for the only one.
    ///
    /// # Errors
    /// See [`SignInRefusal`].
    pub async fn sign_in(
        &self,
        email: &str,
        password: String,
        tenant: Option<&str>,
    ) -> Result<Signed, SignInRefusal> {
        let email = fold(email);
        if !password::is_possible(&password) || email.is_empty() || email.len() > 320 {
            return Err(SignInRefusal::Wrong);
        }
        let account: [u8; 32] = Sha256::digest(&email).into();
        self.check_delay(&account)?;
        let firms = self.check(email, password).await?;
        if firms.is_empty() {
            self.note_failure(account);
            return Err(SignInRefusal::Wrong);
        }
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(&account);
        let chosen = match (tenant, &firms[..]) {
            (Some(slug), firms) => firms.iter().find(|firm| firm.slug == slug),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let Some(firm) = chosen else {
            let own = firms.into_iter().map(|firm| (firm.slug, firm.firm_name)).collect();
            return Err(SignInRefusal::ChooseTenant(own));
        };
        let now = self.clock.now();
        let token = self.keys.issue(firm.tenant_id, firm.user_id, firm.token_version, now)?;
        Ok(Signed { token, tenant: firm.slug.clone() })
    }

    /// The firms where the person is active, if the password is right.
    async fn check(&self, email: String, password: String) -> Result<Vec<SignIn>, SignInRefusal> {
        let _place = Place::take(&self.waiting).ok_or(SignInRefusal::Later(1))?;
        let _turn = self.hashing.acquire().await.map_err(Error::fault)?;
        let db = self.db.clone();
        let work = move || {
            let firms = db.sign_ins(&email)?;
            let stored = firms.first().map(|firm| firm.password_hash.as_str());
            let is_right = password::verify(&password, stored);
            Ok::<_, Error>(if is_right { firms } else { vec![] })
        };
        let outcome = tokio::task::spawn_blocking(work).await;
        Ok(outcome.map_err(Error::fault)??)
    }

    fn check_delay(&self, account: &[u8; 32]) -> Result<(), SignInRefusal> {
        let now = self.clock.now();
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        match failures.get(account) {
            Some(failed) if failed.not_before > now => {
                let left = failed.not_before.unix_seconds() - now.unix_seconds();
                Err(SignInRefusal::Later(left.max(1)))
            }
            _ => Ok(()),
        }
    }

    /// Doubles the delay of an account; the first failure costs a second, none more than a minute.
    fn note_failure(&self, account: [u8; 32]) {
        let now = self.clock.now();
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= REMEMBERED {
            failures.retain(|_, failed| failed.not_before > now);
        }
        if failures.len() >= REMEMBERED && !failures.contains_key(&account) {
            return;
        }
        let failed = failures.entry(account).or_insert(Failures { count: 0, not_before: now });
        let delay = (1_i64 << failed.count.min(6)).min(LONGEST_DELAY_S);
        failed.count = failed.count.saturating_add(1);
        failed.not_before = now.plus_seconds(delay);
    }
}

/// A place in the queue, given back when dropped.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(waiting: &'a AtomicUsize) -> Option<Self> {
        let before = waiting.fetch_add(1, Ordering::AcqRel);
        let place = Self(waiting);
        (before < QUEUE + HASHING_AT_ONCE).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
