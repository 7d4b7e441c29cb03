//! A server on a fresh copy of the demo data, and clients to ask it.

pub(crate) mod bare;
mod client;
mod databases;
pub(crate) mod ledger;
pub(crate) mod oracle;
pub(crate) mod process;
pub(crate) mod random_books;
pub(crate) mod sales;

use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU32;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use actix_web::dev::ServerHandle;
use guichet::auth::jwt;
use guichet::dates::{Clock, Instant};
use guichet::db::Db;
use guichet::demo::{self, DemoPerson};
use guichet::http::{self, Access, Handshake, Parts, RateSettings};
use guichet::meaning::Model;
use url::Url;

pub(crate) use client::{Answer, Client, body_of, modern};
pub(crate) use databases::{Database, Owner};

/// The instant at which every test takes place.
pub(crate) const NOW: &str = "2026-11-30T10:00:00Z";
/// The secrets of the test server: the one that signs, and the one before it.
pub(crate) const SECRETS: [[u8; 32]; 2] = [[7; 32], [8; 32]];

/// Runs each test on both databases.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite { $(#[test] fn $name() { super::$name(&$crate::world::World::new($crate::world::Database::sqlite())); })+ }
        mod postgres { $(#[test] fn $name() { super::$name(&$crate::world::World::new($crate::world::Database::postgres())); })+ }
    };
}

/// How a test's server differs from the others.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) handshake: Handshake,
    pub(crate) rate: u32,
    pub(crate) clock: Clock,
    pub(crate) model: Option<Arc<Model>>,
}

impl Default for Options {
    fn default() -> Self {
        let now = NOW.parse::<chrono::DateTime<chrono::Utc>>().unwrap();
        let clock = Clock::Fixed(now.into());
        Self { handshake: Handshake::Public, rate: 100_000_000, clock, model: None }
    }
}

/// A running server and the database under it.
pub(crate) struct World {
    pub(crate) database: Database,
    pub(crate) address: SocketAddr,
    pub(crate) now: Instant,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl World {
    pub(crate) fn new(database: Database) -> Self {
        Self::with(database, &Options::default())
    }

    pub(crate) fn with(database: Database, options: &Options) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let public_url = Url::parse(&format!("http://{address}")).unwrap();
        let rate = NonZeroU32::new(options.rate).unwrap();
        let parts = Parts {
            db: Db::open(&database.server_url, 4, [9; 32])
                .unwrap()
                .with_model(options.model.clone()),
            keys: jwt::Keys::new(public_url.as_str(), &SECRETS).unwrap(),
            clock: options.clock,
            access: Access::new(&public_url, &[], &[], options.handshake),
            rates: RateSettings { per_credential: rate, per_firm: rate, per_address: rate },
            at_once: 4,
            workers: 2,
        };
        let (send, receive) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = http::server(parts, listener).unwrap();
                send.send(server.handle()).unwrap();
                server.await.unwrap();
            });
        });
        let handle = receive.recv().unwrap();
        let now = options.clock.now();
        Self { database, address, now, handle, thread: Some(thread) }
    }

    /// The demo person of a firm ("leman" or "saentis") with this role who is active and has a good token.
    #[expect(clippy::unused_self, reason = "people belong to a world, like all else")]
    pub(crate) fn person(&self, firm: &str, role: &str) -> DemoPerson {
        demo::people()
            .into_iter()
            .find(|person| person.tenant == firm && person.role == role)
            .unwrap_or_else(|| panic!("no {role} in {firm}"))
    }

    /// A client with the API token of a firm's role.
    pub(crate) fn client(&self, firm: &str, role: &str) -> Client {
        self.bearer(&self.person(firm, role).token)
    }

    /// A client with any bearer token.
    pub(crate) fn bearer(&self, token: &str) -> Client {
        Client::new(self.address, Some(format!("Bearer {token}")))
    }

    /// A client without a credential.
    pub(crate) fn anonymous(&self) -> Client {
        Client::new(self.address, None)
    }

    /// The owner of the first firm.
    pub(crate) fn owner(&self) -> Client {
        self.client("leman", "owner")
    }

    /// Runs SQL as the owner of the tables.
    pub(crate) fn sql(&self, sql: &str) {
        self.database.owner().batch_execute(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    }

    /// The cells of a query that yields text columns only, as the owner of the tables.
    pub(crate) fn query(&self, sql: &str) -> Vec<Vec<String>> {
        self.database.rows(sql)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let stop = self.handle.stop(false);
        actix_web::rt::System::new().block_on(stop);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
