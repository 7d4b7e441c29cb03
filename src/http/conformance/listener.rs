//! The listener that the suite talks to. The suite cannot send a header, so the listener sends one for it: the token of
//! the one principal, in a database that exists only as long as the listener. From there on it is the product's server.

use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::Path;

use actix_web::dev::Service;
use actix_web::http::header::{AUTHORIZATION, HeaderValue};
use actix_web::{App, HttpServer};
use diesel::connection::SimpleConnection;
use url::Url;
use uuid::Uuid;

use super::{PRINCIPAL, input};
use crate::auth::api_token::ApiToken;
use crate::auth::jwt;
use crate::dates::Clock;
use crate::db::{Db, migrate};
use crate::error::{Error, Result};
use crate::http::{Access, Handshake, Parts, RateSettings, bind, routes, window};

const FIRM: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_c04f_0002);
const TOKEN: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_c04f_0003);

/// Serves the catalogue with the fixtures on a loopback port (0: any free one) until SIGTERM or SIGINT, and prints the
/// address of the endpoint.
///
/// # Errors
/// The port is taken, or there is no room for temporary files.
pub fn serve(port: u16) -> Result<()> {
    let place = std::env::temp_dir().join(format!("guichet-{}", Uuid::now_v7().simple()));
    fs::create_dir(&place).map_err(Error::fault)?;
    let served = serve_in(&place, port);
    fs::remove_dir_all(&place).map_err(Error::fault)?;
    served
}

fn serve_in(place: &Path, port: u16) -> Result<()> {
    let database = format!("sqlite:{}", place.join("books.db").display());
    migrate(&database, &database)?;
    let token = ApiToken::generate()?;
    seed(&database, &token)?;
    let listener = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let address = listener.local_addr().map_err(Error::fault)?;
    let url = Url::parse(&format!("http://{address}")).map_err(Error::fault)?;
    input::KEY.get_or_init(|| token.digest());
    let window = window(Parts {
        db: Db::open(&database, 4, token.digest())?,
        keys: jwt::Keys::new(url.as_str(), &[token.digest()])?,
        clock: Clock::System,
        access: Access::new(&url, &[], &[], Handshake::Public),
        rates: RateSettings {
            per_credential: NonZeroU32::MAX,
            per_firm: NonZeroU32::MAX,
            per_address: NonZeroU32::MAX,
        },
        at_once: 4,
        workers: 1,
    });
    let header = HeaderValue::from_str(&format!("Token {}", token.reveal()));
    let header = header.map_err(Error::fault)?;
    let app = move || {
        let header = header.clone();
        App::new().app_data(window.clone()).configure(routes).wrap_fn(move |mut request, next| {
            if !request.headers().contains_key(AUTHORIZATION) {
                request.headers_mut().insert(AUTHORIZATION, header.clone());
            }
            next.call(request)
        })
    };
    println!("{url}mcp");
    let serving = async move {
        let server = HttpServer::new(app).workers(1).tcp_nodelay(true).listen(listener);
        server.map_err(Error::fault)?.run().await.map_err(Error::fault)
    };
    actix_web::rt::System::new().block_on(serving)
}

/// One firm without clients, one member whose role grants nothing, one token.
fn seed(database: &str, token: &ApiToken) -> Result<()> {
    let id = |id: Uuid| format!("X'{}'", id.simple());
    let (firm, person, token_id) = (id(FIRM), id(PRINCIPAL), id(TOKEN));
    let mut digest = String::new();
    for byte in token.digest() {
        write!(digest, "{byte:02x}").map_err(Error::fault)?;
    }
    let sql = format!(
        "INSERT INTO tenants (id, slug, is_active, created_at) VALUES ({firm}, 'conformance', 1, '2026-01-01');
         INSERT INTO users (id, email, full_name, token_version, is_active, created_at)
         VALUES ({person}, 'suite@example.test', 'Suite', 0, 1, '2026-01-01');
         INSERT INTO firms (tenant_id, name, email, phone, street, house_number, postal_code, town, country, iban,
                            qr_iban, time_zone, currency, payment_term_days)
         VALUES ({firm}, 'Conformance', '', '', '', '', '', '', 'CH', '', '', 'Europe/Zurich', 'CHF', 30);
         INSERT INTO roles (tenant_id, name) VALUES ({firm}, 'none');
         INSERT INTO memberships (tenant_id, user_id, display_name, role, reach, is_active, created_at)
         VALUES ({firm}, {person}, 'Suite', 'none', 'listed', 1, '2026-01-01');
         INSERT INTO api_tokens (tenant_id, id, user_id, name, digest, suffix, scopes, created_at)
         VALUES ({firm}, {token_id}, {person}, 'suite', X'{digest}', '', '', '2026-01-01');"
    );
    let mut connection = crate::db::connection::open(database).map_err(Error::unavailable)?;
    Ok(connection.batch_execute(&sql)?)
}
