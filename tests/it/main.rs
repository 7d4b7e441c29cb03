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

mod audit;
mod bank;
mod books;
mod cli;
mod credentials;
mod documents;
mod double_entry;
mod figures;
mod golden;
mod hosts;
mod importing;
mod knowledge;
mod ledger;
mod ledger_clocks;
mod ledger_demo;
mod ledger_random;
mod ledger_search;
mod limits;
#[cfg(feature = "meaning")]
mod meaning;
mod open_items;
mod outage;
mod overview;
mod payslips;
mod plans;
mod prompts;
mod proposals;
mod protocol;
mod races;
mod reference;
mod registry;
mod revenue;
mod robustness;
mod routing;
mod scaling;
mod schemas;
mod sdk;
mod searching;
mod serving;
mod settling;
mod signing_in;
mod tidy;
mod time;
mod toolsets;
mod vat;
mod walls;
mod work;
