//! What Guichet promises, over real HTTP, on both databases: one server a test, each on a fresh copy of the demo data.
//!
//! `tests/run` starts a throwaway PostgreSQL and sets `GUICHET_TEST_POSTGRES` to its superuser's URL.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::float_arithmetic,
    reason = "a test that meets what it did not expect fails"
)]

#[macro_use]
mod world;

mod cli;
mod credentials;
mod figures;
mod hosts;
mod knowledge;
mod limits;
#[cfg(feature = "meaning")]
mod meaning;
mod outage;
mod payslips;
mod prompts;
mod protocol;
mod reference;
mod registry;
mod robustness;
mod routing;
mod schemas;
mod sdk;
mod serving;
mod settling;
mod signing_in;
mod tidy;
mod toolsets;
mod walls;
