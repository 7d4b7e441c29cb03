//! The database: either kind, reached only through a scope.
//!
//! [`Db`] holds the pools, `identity` the doors through which a credential becomes a person, [`Read`] and [`Write`] the
//! scopes in which tools run, [`Scoped`] the queries that cannot leave a caller's reach, `walls` what holds when all of
//! that is forgotten; `administration` is the owner's connection, for the command line.

#[macro_use]
mod reachable;
mod administration;
pub(crate) mod connection;
mod identity;
pub(crate) mod insert;
mod migrate;
#[macro_use]
mod page;
mod pool;
mod query;
pub mod schema;
mod scope;
mod search;
mod setup;
pub mod types;
mod walls;

pub(crate) use administration::Administration;
pub(crate) use connection::check_exists;
pub(crate) use identity::{Identity, SignIn, TokenRow};
pub use migrate::migrate;
pub use page::{Ascending, AtClock, Descending, Newest, Page, PagedTool, Paging};
pub use pool::{Db, Seal, Session};
pub use query::{Derived, Filters, HandWritten, HandWrittenSql};
pub use reachable::{Mandates, Reach, Reachable};
pub use scope::{Read, Scoped, Write};
pub use search::{Contains, ContainsAll, Searched};
pub(crate) use search::{build as build_search, is_looked_up};
pub use setup::{Urls, prepare_roles, reset};

use crate::ids::TenantId;
