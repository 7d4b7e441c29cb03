//! Identities that the figures of a report must satisfy, whoever computes them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::money::{Currency, Money};

/// An identity and whether it holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Control {
    /// What must be equal, in words.
    name: &'static str,
    /// Whether it is.
    holds: bool,
    /// The currency of both sides.
    currency: Currency,
    /// The first side.
    left: Money,
    /// The second side.
    right: Money,
    /// The first less the second.
    difference: Money,
}

impl Control {
    /// Compares both sides of an identity.
    #[must_use]
    pub fn equal(name: &'static str, currency: Currency, left: Money, right: Money) -> Self {
        let difference = left.minus(right).unwrap_or(Money::from_minor(i64::MAX));
        Self { name, holds: left == right, currency, left, right, difference }
    }

    /// Whether the identity holds.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.holds
    }
}
