//! What does not compile: each pair differs in one line, the first builds and the second does not.
//!
//! # A grant cannot be forged
//! ```
//! # use guichet::{auth::*, dates::Instant, db::*, error::Result};
//! fn open(caller: &Caller, session: &mut Session, now: Instant) -> Result<()> {
//!     let grant = caller.authorize(Permission::InvoiceRead)?;
//!     session.read(&grant, now, |_| Ok(()))
//! }
//! ```
//! ```compile_fail,E0423
//! # use guichet::{auth::*, dates::Instant, db::*, error::Result};
//! fn open(caller: &Caller, session: &mut Session, now: Instant) -> Result<()> {
//!     let grant = Grant(caller);
//!     session.read(&grant, now, |_| Ok(()))
//! }
//! ```
//! Nor can the caller behind it, even by somebody who has one:
//! ```compile_fail,E0451
//! # use guichet::auth::*;
//! fn widen(caller: Caller) -> Caller {
//!     Caller { permissions: Permission::ALL.iter().copied().collect(), ..caller }
//! }
//! ```
//!
//! # A tool without a permission is none
//! ```
//! # use guichet::{auth::Permission, db::Read, error::Result, registry::ReadTool};
//! # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)] struct Greet {}
//! impl ReadTool for Greet {
//!     const NAME: &'static str = "greet";
//!     const PERMISSION: Permission = Permission::ClientRead;
//! #    type Output = String;
//! #    fn example() -> Self { Self {} }
//!     fn run(self, _: &mut Read<'_>) -> Result<String> { Ok("hello".into()) }
//! }
//! ```
//! ```compile_fail,E0046
//! # use guichet::{auth::Permission, db::Read, error::Result, registry::ReadTool};
//! # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)] struct Greet {}
//! impl ReadTool for Greet {
//!     const NAME: &'static str = "greet";
//! #    type Output = String;
//! #    fn example() -> Self { Self {} }
//!     fn run(self, _: &mut Read<'_>) -> Result<String> { Ok("hello".into()) }
//! }
//! ```
//!
//! # A reading tool cannot write
//! ```
//! # use guichet::{db::{Write, schema::services}, error::Result};
//! # use diesel::prelude::*;
//! fn rename(scope: &mut Write<'_>) -> Result<usize> {
//!     let all = scope.rows(services::table).filter(services::code.eq("A"));
//!     scope.update(all, services::name.eq("Audit"))
//! }
//! ```
//! ```compile_fail,E0599
//! # use guichet::{db::{Read, schema::services}, error::Result};
//! # use diesel::prelude::*;
//! fn rename(scope: &mut Read<'_>) -> Result<usize> {
//!     let all = scope.rows(services::table).filter(services::code.eq("A"));
//!     scope.update(all, services::name.eq("Audit"))
//! }
//! ```
//!
//! # Only scoped queries run
//! ```
//! # use guichet::{db::{Read, schema::services}, error::Result};
//! # use diesel::prelude::*;
//! fn names(scope: &mut Read<'_>) -> Result<Vec<String>> {
//!     scope.load(scope.rows(services::table).select(services::name))
//! }
//! ```
//! ```compile_fail,E0308
//! # use guichet::{db::{Read, schema::services}, error::Result};
//! # use diesel::prelude::*;
//! fn names(scope: &mut Read<'_>) -> Result<Vec<String>> {
//!     scope.load(services::table.select(services::name))
//! }
//! ```
//! What is no slice's table has no rows in a scope; who signs in is nobody's to list:
//! ```compile_fail,E0277
//! # use guichet::db::{Read, schema::reach};
//! fn all(scope: &Read<'_>) {
//!     let _ = scope.rows(reach::table);
//! }
//! ```
//! ```compile_fail,E0603
//! use guichet::db::schema::people::users;
//! ```
//!
//! # A scoped query stays within its rows
//! ```
//! # use guichet::{db::{Read, schema::{clients, invoices}}, error::Result};
//! # use diesel::prelude::*;
//! fn names(scope: &mut Read<'_>) -> Result<Vec<String>> {
//!     let of = scope.rows(invoices::table).inner_join(clients::table);
//!     scope.load(of.filter(invoices::title.eq("1").or(invoices::title.eq("2"))).select(clients::name))
//! }
//! ```
//! A condition cannot widen it:
//! ```compile_fail,E0275
//! # use guichet::db::{Read, schema::invoices};
//! # use diesel::prelude::*;
//! fn widen(scope: &Read<'_>) {
//!     let _ = scope.rows(invoices::table).filter(invoices::title.eq("1")).or_filter(invoices::title.eq("2"));
//! }
//! ```
//! A join leads to the parent, not to the children, who may lie out of reach:
//! ```compile_fail,E0277
//! # use guichet::db::{Read, schema::{clients, invoices}};
//! # use diesel::prelude::*;
//! fn children(scope: &Read<'_>) {
//!     let _ = scope.rows(clients::table).inner_join(invoices::table);
//! }
//! ```
//! Nor along a condition of one's own:
//! ```compile_fail,E0277
//! # use guichet::db::{Read, schema::{clients, invoices}};
//! # use diesel::prelude::*;
//! fn anywhere(scope: &Read<'_>) {
//!     let _ = scope.rows(invoices::table).inner_join(clients::table.on(clients::name.eq(invoices::title)));
//! }
//! ```
