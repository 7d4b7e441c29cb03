//! Signing in with e-mail and password: bounded work, the same for every outcome, slower after failures.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::{jwt, password};
use crate::dates::{Clock, Instant};
use crate::db::{Db, SignIn};
use crate::error::{Error, Result};

/// Passwords hashed at the same time.
const HASHING_AT_ONCE: usize = 2;
/// Sign-ins that may wait for their turn; more are turned away.
const QUEUE: usize = 32;
/// The longest delay after failures, in seconds.
const LONGEST_DELAY_S: i64 = 60;
/// How long a sign-in waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an attempt that failed is remembered, in seconds.
const FORGOTTEN_S: i64 = 900;
/// Accounts and places whose attempts are remembered at most.
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

/// Attempts on one account from one place that have not succeeded.
struct Attempts {
    count: u32,
    not_before: Instant,
}

/// Where people sign in.
pub struct SignInDesk {
    db: Db,
    keys: Arc<jwt::Keys>,
    clock: Clock,
    hashing: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    attempts: Mutex<HashMap<[u8; 32], Attempts>>,
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
        let hashing = Arc::new(Semaphore::new(HASHING_AT_ONCE));
        Self { db, keys, clock, hashing, waiting: Arc::default(), attempts: Mutex::default() }
    }

    /// Checks a password, always with one hash, and issues a token for the firm named `tenant`, or for the only one.
    /// `place` is where the attempt comes from: failures from one place slow down that place, not the person elsewhere.
    ///
    /// # Errors
    /// See [`SignInRefusal`].
    pub async fn sign_in(
        &self,
        email: &str,
        password: String,
        tenant: Option<&str>,
        place: u128,
    ) -> Result<Signed, SignInRefusal> {
        let email = email_key(email);
        if !password::is_possible(&password) || email.is_empty() || email.len() > 320 {
            return Err(SignInRefusal::Wrong);
        }
        let digest = Sha256::new().chain_update(&email).chain_update([0]);
        let account: [u8; 32] = digest.chain_update(place.to_be_bytes()).finalize().into();
        self.begin_attempt(account)?;
        let firms = self.check(email, password).await?;
        if firms.is_empty() {
            return Err(SignInRefusal::Wrong);
        }
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).remove(&account);
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

    /// The firms where the person is active, if the password is right. Place and turn go with the work: a client that
    /// goes away does not make room for another hash before this one is done.
    async fn check(&self, email: String, password: String) -> Result<Vec<SignIn>, SignInRefusal> {
        let place = Place::take(&self.waiting).ok_or(SignInRefusal::Later(1))?;
        let turn = timeout(TURN_TIMEOUT, Arc::clone(&self.hashing).acquire_owned()).await;
        let turn = turn.map_err(|_| SignInRefusal::Later(2))?.map_err(Error::fault)?;
        let db = self.db.clone();
        let work = move || {
            let _held = (place, turn);
            let firms = db.sign_ins(&email)?;
            let stored = firms.first().map(|firm| firm.password_hash.as_str());
            let is_right = password::verify(&password, stored);
            Ok::<_, Error>(if is_right { firms } else { vec![] })
        };
        let outcome = tokio::task::spawn_blocking(work).await;
        Ok(outcome.map_err(Error::fault)??)
    }

    /// Counts an attempt before its outcome is known, so that many at once count too, and refuses it when it comes too
    /// soon. The first costs a second, each further one twice as much up to a minute; what succeeds is forgotten, and so
    /// is what lies a quarter of an hour back.
    fn begin_attempt(&self, account: [u8; 32]) -> Result<(), SignInRefusal> {
        let now = self.clock.now();
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        if attempts.len() >= REMEMBERED {
            attempts.retain(|_, attempt| attempt.not_before.plus_seconds(FORGOTTEN_S) > now);
        }
        if attempts.len() >= REMEMBERED && !attempts.contains_key(&account) {
            return Err(SignInRefusal::Later(LONGEST_DELAY_S));
        }
        let attempt = attempts.entry(account).or_insert(Attempts { count: 0, not_before: now });
        if attempt.not_before > now {
            let left = attempt.not_before.unix_seconds() - now.unix_seconds();
            return Err(SignInRefusal::Later(left.max(1)));
        }
        if attempt.not_before.plus_seconds(FORGOTTEN_S) <= now {
            attempt.count = 0;
        }
        let delay = (1_i64 << attempt.count.min(6)).min(LONGEST_DELAY_S);
        attempt.count = attempt.count.saturating_add(1);
        attempt.not_before = now.plus_seconds(delay);
        Ok(())
    }
}

/// The form in which e-mail addresses are stored and compared: without regard to case, accents kept.
pub(crate) fn email_key(email: &str) -> String {
    email.trim().to_lowercase()
}

/// A place in the queue, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(waiting: &Arc<AtomicUsize>) -> Option<Self> {
        let before = waiting.fetch_add(1, Ordering::AcqRel);
        let place = Self(Arc::clone(waiting));
        (before < QUEUE + HASHING_AT_ONCE).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
