//! HTTP: the endpoint, the order of its checks, and how answers are written.

mod answer;
pub mod arguments;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod describe;
mod desk;
mod envelope;
mod guard;
mod json;
mod limits;
mod mcp;
mod trace;
mod window;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{App, HttpResponse, HttpServer};
use tokio::sync::Semaphore;
use tokio::time::timeout;

pub use guard::{Access, Handshake};
pub use limits::RateSettings;

use crate::auth::{SignInDesk, jwt};
use crate::dates::Clock;
use crate::db::Db;
use crate::error::{Error, Result};
use window::Window;

/// How long a client may take to send the head of a request.
const HEAD_DEADLINE: Duration = Duration::from_secs(5);
/// How long requests in flight may take to finish at shutdown, in seconds.
const SHUTDOWN_S: u64 = 30;
/// Connections per worker at most.
const MOST_CONNECTIONS: usize = 4_096;

/// What the server is made of.
#[derive(Debug)]
pub struct Parts {
    /// The database.
    pub db: Db,
    /// The keys of JSON Web Tokens.
    pub keys: jwt::Keys,
    /// The time.
    pub clock: Clock,
    /// Who may address the server.
    pub access: Access,
    /// How much each may ask.
    pub rates: RateSettings,
    /// Requests that the database answers at the same time.
    pub at_once: usize,
    /// Threads that accept connections and read requests.
    pub workers: usize,
}

/// Serves on a bound listener until SIGTERM or SIGINT, or until its handle stops it.
///
/// # Errors
/// The listener cannot be used.
pub fn server(parts: Parts, listener: TcpListener) -> Result<Server> {
    let workers = parts.workers;
    let window = window(parts);
    let app = move || App::new().app_data(window.clone()).configure(routes);
    Ok(HttpServer::new(app)
        .workers(workers)
        .max_connections(MOST_CONNECTIONS)
        .client_request_timeout(HEAD_DEADLINE)
        .tcp_nodelay(true)
        .shutdown_timeout(SHUTDOWN_S)
        .listen(listener)
        .map_err(Error::fault)?
        .run())
}

/// What the handlers share.
fn window(parts: Parts) -> Data<Window> {
    let Parts { db, keys, clock, access, rates, at_once, workers: _ } = parts;
    let keys = Arc::new(keys);
    let desk = SignInDesk::new(db.clone(), Arc::clone(&keys), clock);
    let limits = limits::Limits::new(rates);
    let gate = Arc::new(Semaphore::new(at_once));
    let bodies = Semaphore::new(window::BODIES_KIB);
    let notes = Arc::new(Semaphore::new(1));
    Data::new(Window { db, keys, desk, clock, limits, access, gate, bodies, notes })
}

/// Every address that the server answers.
fn routes(config: &mut ServiceConfig) {
    config
        .service(
            web::resource(["/mcp", "/mcp/"])
                .route(web::post().to(window::post))
                .route(web::method(actix_web::http::Method::OPTIONS).to(window::options))
                .default_service(web::to(window::other_method)),
        )
        .route("/auth/token", web::post().to(desk::token))
        .route("/auth/revoke", web::post().to(desk::revoke))
        .route("/health", web::get().to(health))
        .route("/ready", web::get().to(ready));
}

/// Binds an address.
///
/// # Errors
/// It is taken, or not one of this machine.
pub fn bind(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address)
        .map_err(|error| Error::fault(format!("cannot listen on {address}: {error}")))
}

/// `GET /health`: the process answers.
async fn health() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(r#"{"status":"ok"}"#)
}

/// `GET /ready`: the database answers too.
async fn ready(window: Data<Window>) -> HttpResponse {
    let db = window.db.clone();
    let ping = timeout(Duration::from_secs(5), web::block(move || db.ping()));
    match ping.await {
        Ok(Ok(Ok(()))) => {
            HttpResponse::Ok().content_type("application/json").body(r#"{"status":"ready"}"#)
        }
        _ => HttpResponse::ServiceUnavailable()
            .insert_header(("Retry-After", "2"))
            .content_type("application/json")
            .body(r#"{"status":"unavailable"}"#),
    }
}
