//! Guichet: the service window of a fiduciary's books for AI assistants.
//!
//! ```text
//! credentials ─authenticate→ Caller ─authorize(permission)→ Grant ─open→ Read | Write ─rows(table)→ Scoped<Q> ─load·page·one→ rows
//! ```
//!
//! - [`ids`], [`identifiers`], [`money`], [`dates`], [`text`], [`language`], [`error`]: what every module speaks in.
//! - [`auth`]: a credential becomes a [`auth::Caller`], a caller and a permission become a [`auth::Grant`].
//! - [`db`]: connections, walls between firms, [`db::Scoped`] queries, SQL types.
//! - [`reports`]: the two clocks of a report, its figures and what they are the sum of, its control identities.
//! - [`registry`]: the tools and the one way to run them.
//! - [`http`]: the endpoint, how arguments are read, what a schema looks like, how an answer is written.
//! - [`meaning`]: a sentence-embedding model, and how much two texts mean the same.
//! - [`prompts`]: instructions for recurring work.
//! - [`firm`], [`clients`], [`mandates`], [`invoicing`], [`payroll`], [`ledger`], [`vat`], [`tasks`], [`time`], [`projects`],
//!   [`documents`], [`banking`], [`proposals`], [`audit`], [`knowledge`]: the slices of the domain.
//! - `admin`: firms, people and tokens as their administrator sets them up, beside the chain and across firms.
//! - [`proofs`]: what does not compile, and why.
//! - [`config`], [`cli`]: settings and the command line; [`demo`]: two firms to try it on.

#[macro_use]
mod text_enum;
#[macro_use]
pub mod db;
mod admin;
pub mod audit;
pub mod auth;
pub mod banking;
pub mod cli;
pub mod clients;
pub mod config;
pub mod dates;
pub mod demo;
pub mod documents;
pub mod error;
pub mod firm;
pub mod http;
pub mod identifiers;
pub mod ids;
pub mod invoicing;
pub mod knowledge;
pub mod language;
pub mod ledger;
pub mod mandates;
pub mod meaning;
pub mod money;
pub mod payroll;
pub mod projects;
pub mod prompts;
pub mod proofs;
pub mod proposals;
pub mod registry;
pub mod reports;
pub mod tasks;
pub mod text;
pub mod time;
pub mod vat;
