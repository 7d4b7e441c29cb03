//! Rate limits: token buckets per credential, per firm and, for who has no credential, per address.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use uuid::Uuid;

use crate::auth::Caller;

/// Keys remembered by each limiter at most; beyond, new ones share one bucket until the old ones are full again.
const REMEMBERED: usize = 50_000;

/// Requests per minute, for each kind of key; an ordinary call counts as one.
#[derive(Debug, Clone, Copy)]
pub struct RateSettings {
    /// Of one credential.
    pub per_credential: NonZeroU32,
    /// Of all people of a firm together.
    pub per_firm: NonZeroU32,
    /// Of one address (IPv6: one /64) without a good credential.
    pub per_address: NonZeroU32,
}

type Buckets<K> = RateLimiter<K, DashMapStateStore<K>, DefaultClock>;

struct Keyed<K: Hash + Eq + Clone> {
    buckets: Buckets<K>,
    overflow: K,
    burst: u32,
}

impl<K: Hash + Eq + Clone> Keyed<K> {
    fn new(per_minute: NonZeroU32, overflow: K) -> Self {
        let buckets = RateLimiter::dashmap(Quota::per_minute(per_minute));
        Self { buckets, overflow, burst: per_minute.get() }
    }

    /// Takes `weight` from the bucket of `key`, or says after how many seconds it would be full enough.
    fn take(&self, key: &K, weight: u32) -> Result<(), u64> {
        let mut key = key;
        if self.buckets.len() >= REMEMBERED {
            self.buckets.retain_recent();
            if self.buckets.len() >= REMEMBERED {
                key = &self.overflow;
            }
        }
        let weight = NonZeroU32::new(weight.clamp(1, self.burst)).unwrap_or(NonZeroU32::MIN);
        match self.buckets.check_key_n(key, weight) {
            Ok(Ok(())) | Err(_) => Ok(()),
            Ok(Err(until)) => {
                let wait = until.wait_time_from(DefaultClock::default().now());
                Err(wait.as_secs().saturating_add(1))
            }
        }
    }
}

/// The limiters of one server process.
pub(super) struct Limits {
    credentials: Keyed<Uuid>,
    firms: Keyed<Uuid>,
    addresses: Keyed<u128>,
}

impl std::fmt::Debug for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("credentials", &self.credentials.buckets.len())
            .finish_non_exhaustive()
    }
}

impl Limits {
    pub(super) fn new(settings: RateSettings) -> Self {
        Self {
            credentials: Keyed::new(settings.per_credential, Uuid::nil()),
            firms: Keyed::new(settings.per_firm, Uuid::nil()),
            addresses: Keyed::new(settings.per_address, 0),
        }
    }

    /// Counts a request of an authenticated caller; refused with the seconds to wait.
    pub(super) fn take(&self, caller: &Caller, weight: u32) -> Result<(), u64> {
        let credential =
            caller.token().map_or_else(|| caller.user().into(), |token| token.id.into());
        self.credentials.take(&credential, weight)?;
        self.firms.take(&caller.tenant().into(), weight)
    }

    /// Counts a request without a good credential; refused with the seconds to wait.
    pub(super) fn take_anonymous(&self, address: Option<IpAddr>) -> Result<(), u64> {
        self.addresses.take(&place(address), 1)
    }
}

/// Where an address belongs: itself, or its /64.
pub(super) fn place(address: Option<IpAddr>) -> u128 {
    match address.map(|address| address.to_canonical()) {
        Some(IpAddr::V4(v4)) => u128::from(u32::from(v4)),
        Some(IpAddr::V6(v6)) => u128::from(v6) >> 64 << 64,
        None => 0,
    }
}
