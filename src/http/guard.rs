//! What is refused before anybody is asked who they are: wrong host, wrong origin, a credential in the address.

use std::net::IpAddr;

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::{HttpResponse, http::StatusCode};
use url::Url;

use crate::auth::Credential;

/// Whether the first steps of MCP are open to who has no credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Handshake {
    /// `initialize` and `server/discover` answer everybody, with the same static text.
    Public,
    /// Every request without a credential gets the challenge, its body unread.
    Challenge,
}

/// Who may address the server, and from which web pages.
#[derive(Debug, Clone)]
pub struct Access {
    hosts: Vec<String>,
    origins: Vec<String>,
    proxies: Vec<IpAddr>,
    pub(super) handshake: Handshake,
}

/// How a request was refused before authentication.
#[derive(Debug)]
pub(super) struct Refused(pub(super) StatusCode, pub(super) &'static str);

impl Access {
    /// Access to the host of `public_url`, to `hosts`, and to the loopback names if the public URL is one of them; from
    /// pages of `public_url` and of `origins`.
    #[must_use]
    pub fn new(
        public_url: &Url,
        hosts: &[String],
        origins: &[String],
        handshake: Handshake,
    ) -> Self {
        let own = public_url.host_str().unwrap_or_default().to_ascii_lowercase();
        let mut all: Vec<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        if is_loopback(&own) {
            all.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        all.push(own);
        let mut pages: Vec<String> = origins
            .iter()
            .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
            .collect();
        pages.push(public_url.origin().ascii_serialization());
        Self { hosts: all, origins: pages, proxies: vec![], handshake }
    }

    /// The same behind reverse proxies at these addresses, which say in `X-Forwarded-For` whom they ask for.
    #[must_use]
    pub fn behind(self, proxies: &[IpAddr]) -> Self {
        Self { proxies: proxies.iter().map(IpAddr::to_canonical).collect(), ..self }
    }

    /// The address that a request comes from: its peer's or, from a trusted proxy, the last one forwarded that is none.
    pub(super) fn address(&self, request: &HttpRequest) -> Option<IpAddr> {
        let peer = request.peer_addr().map(|peer| peer.ip().to_canonical())?;
        if !self.proxies.contains(&peer) {
            return Some(peer);
        }
        let forwarded = request.headers().get_all("x-forwarded-for");
        let hops: Vec<IpAddr> = forwarded
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .filter_map(|hop| hop.trim().parse::<IpAddr>().ok())
            .map(|hop| hop.to_canonical())
            .collect();
        hops.into_iter().rev().find(|hop| !self.proxies.contains(hop)).or(Some(peer))
    }

    /// Checks `Host` and `Origin`, against web pages that reach a local server under another name.
    pub(super) fn check(&self, request: &HttpRequest) -> Result<(), Refused> {
        let headers = request.headers();
        let mut hosts = headers.get_all(header::HOST);
        let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
        if hosts.next().is_some() || !self.allows_host(host) {
            return Err(Refused(StatusCode::FORBIDDEN, "host not allowed"));
        }
        let mut origins = headers.get_all(header::ORIGIN);
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if self.allows_origin(origin.to_str().unwrap_or_default()) => {
                Ok(())
            }
            _ => Err(Refused(StatusCode::FORBIDDEN, "origin not allowed")),
        }
    }

    fn allows_host(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        self.hosts.iter().any(|allowed| match host.strip_prefix(allowed.as_str()) {
            Some("") => true,
            Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
            None => false,
        })
    }

    fn allows_origin(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        self.origins.contains(&origin)
            || Url::parse(&origin).is_ok_and(|url| {
                let host = url.host_str().unwrap_or_default();
                let is_page = matches!(url.scheme(), "http" | "https")
                    && url.origin().ascii_serialization() == origin;
                is_page && self.hosts.iter().any(|own| is_loopback(own)) && is_loopback(host)
            })
    }
}

/// Adds what a browser needs to let the page that asked, whose origin was allowed, read the answer.
pub(super) fn share_with_page(request: &HttpRequest, headers: &mut HeaderMap) {
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = request.headers().get(header::ORIGIN) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        let exposed = HeaderValue::from_static("WWW-Authenticate, Retry-After");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
}

fn is_loopback(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "[::1]" | "::1")
}

/// What a request carries as credential.
#[derive(Debug)]
pub(super) enum Presented {
    /// None.
    Nothing,
    /// One, of a form that can be right.
    One(Credential),
    /// One that cannot be right: refused without a query.
    Malformed,
}

/// Finds the one credential of a request.
pub(super) fn credential(request: &HttpRequest) -> Result<Presented, Refused> {
    if has_credential_in_query(request.query_string()) {
        let said =
            "credentials belong in the Authorization header, never in the address; revoke this one";
        return Err(Refused(StatusCode::BAD_REQUEST, said));
    }
    let mut values = request.headers().get_all(header::AUTHORIZATION);
    match (values.next(), values.next()) {
        (None, _) => Ok(Presented::Nothing),
        (Some(_), Some(_)) => {
            Err(Refused(StatusCode::BAD_REQUEST, "send exactly one Authorization header"))
        }
        (Some(value), None) => Ok(value
            .to_str()
            .ok()
            .and_then(Credential::parse)
            .map_or(Presented::Malformed, Presented::One)),
    }
}

fn has_credential_in_query(query: &str) -> bool {
    const NAMES: &[&str] =
        &["access_token", "api_key", "apikey", "authorization", "bearer", "jwt", "key", "token"];
    url::form_urlencoded::parse(query.as_bytes()).any(|(name, value)| {
        NAMES.contains(&name.to_ascii_lowercase().as_str())
            || value.contains(crate::auth::api_token::PREFIX)
            || value.starts_with("eyJ")
    })
}

/// The one answer to a missing or bad credential: how to authenticate, which header, which two forms.
pub(super) fn challenge(is_bad: bool) -> HttpResponse {
    let how = r#"{"error":"unauthorized","message":"authenticate with one Authorization header, in one of two forms: \"Authorization: Bearer <jwt>\" with a token from POST /auth/token, or \"Authorization: Token <api_token>\" with an API token (also accepted as Bearer <api_token>)"}"#;
    let challenge = if is_bad { r#"Bearer error="invalid_token""# } else { "Bearer" };
    HttpResponse::Unauthorized()
        .insert_header((header::WWW_AUTHENTICATE, challenge))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("application/json")
        .body(how)
}

/// A refusal in one line.
pub(super) fn refuse(refused: &Refused) -> HttpResponse {
    refuse_with(refused.0, refused.1)
}

/// The same, in words that depend on what was asked.
pub(super) fn refuse_with(status: StatusCode, said: &str) -> HttpResponse {
    HttpResponse::build(status)
        .content_type("application/json")
        .body(serde_json::json!({ "error": said }).to_string())
}

/// Whether the body is JSON, plain and in UTF-8, and the answer may be.
pub(super) fn check_content(headers: &HeaderMap) -> Result<(), Refused> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mut parts = content_type.unwrap_or_default().split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.all(|part| match part.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    if !is_json || !is_utf8 || headers.contains_key(header::CONTENT_ENCODING) {
        let said = "the body must be application/json in UTF-8, not compressed";
        return Err(Refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, said));
    }
    let accepts = |value: &str| {
        ["application/json", "application/*", "*/*"].iter().any(|kind| value.contains(kind))
    };
    match headers.get(header::ACCEPT).map(|value| value.to_str().unwrap_or_default()) {
        Some(value) if !accepts(&value.to_ascii_lowercase()) => {
            Err(Refused(StatusCode::NOT_ACCEPTABLE, "the answer is application/json"))
        }
        _ => Ok(()),
    }
}
