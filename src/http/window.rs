//! The handler of `/mcp`: the order of checks, one hop to the blocking pool behind a fair gate, one line in the log.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::web::{Bytes, Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::answer::Reply;
use super::envelope::{McpHeaders, Message};
use super::guard::{self, Access, Handshake, Presented, Refused};
use super::limits::Limits;
use super::mcp::{self, Exchange, Noted};
use super::trace::Trace;
use crate::auth::{Caller, Credential, SignInDesk, authenticate, jwt, note_use};
use crate::dates::Clock;
use crate::db::{Db, Session};
use crate::error::{Code, Error};
use crate::registry::Narrowing;

/// Bytes of a body at most, with and without a credential.
const LARGEST: usize = 256 * 1_024;
const LARGEST_ANONYMOUS: usize = 64 * 1_024;
/// How long a body may take to arrive.
pub(super) const BODY_DEADLINE: Duration = Duration::from_secs(10);
/// How long a request waits for its turn.
const GATE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a request may take once it has its turn; the database gives up before.
const WORK_TIMEOUT: Duration = Duration::from_millis(5_800);

/// All that a request is answered with.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) db: Db,
    pub(super) keys: Arc<jwt::Keys>,
    pub(super) desk: SignInDesk,
    pub(super) clock: Clock,
    pub(super) limits: Limits,
    pub(super) access: Access,
    /// As many requests at once as the database answers best; the others wait in order.
    pub(super) gate: Arc<Semaphore>,
    /// KiB of bodies that may be held at once.
    pub(super) bodies: Semaphore,
    /// The use of one token at a time is written down; what finds it busy waits for the next request.
    pub(super) notes: Arc<Semaphore>,
}

/// KiB of bodies that are held at once at most, over all connections.
pub(super) const BODIES_KIB: usize = 32 * 1_024;

/// `POST /mcp`.
pub(super) async fn post(
    window: Data<Window>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let mut trace = Trace::begin(&request);
    let mut answer = match respond(&window, &request, payload, &mut trace).await {
        Ok(answer) => answer,
        Err(refused) => {
            trace.outcome = "refused";
            guard::refuse(&refused)
        }
    };
    if !matches!(answer.status(), StatusCode::FORBIDDEN) {
        guard::share_with_page(&request, answer.headers_mut());
    }
    trace.end(answer.status());
    answer
}

/// `OPTIONS /mcp`: what a page of an allowed origin may send.
pub(super) async fn options(window: Data<Window>, request: HttpRequest) -> HttpResponse {
    if let Err(refused) = window.access.check(&request) {
        return guard::refuse(&refused);
    }
    let mut answer = HttpResponse::NoContent();
    answer
        .insert_header((header::ALLOW, "POST, OPTIONS"))
        .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, "POST, OPTIONS"))
        .insert_header((
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, \
             Last-Event-ID, Traceparent",
        ))
        .insert_header((header::ACCESS_CONTROL_MAX_AGE, "600"));
    let mut answer = answer.finish();
    guard::share_with_page(&request, answer.headers_mut());
    answer
}

/// Any other method: there is no stream to read and no session to end.
pub(super) async fn other_method(window: Data<Window>, request: HttpRequest) -> HttpResponse {
    match window.access.check(&request) {
        Err(refused) => guard::refuse(&refused),
        Ok(()) => HttpResponse::MethodNotAllowed()
            .insert_header((header::ALLOW, "POST, OPTIONS"))
            .finish(),
    }
}

async fn respond(
    window: &Data<Window>,
    request: &HttpRequest,
    payload: Payload,
    trace: &mut Trace,
) -> Result<HttpResponse, Refused> {
    window.access.check(request)?;
    guard::check_content(request.headers())?;
    let presented = guard::credential(request)?;
    let address = window.access.address(request);
    match presented {
        Presented::One(credential) => {
            let _room = room(window, LARGEST).await?;
            let body = read(payload, LARGEST).await?;
            let asked = Asked {
                headers: mcp_headers(request),
                query: request.query_string().to_owned(),
                body,
            };
            Ok(authenticated(window, credential, asked, address, trace).await)
        }
        Presented::Malformed => {
            let _room = room(window, LARGEST_ANONYMOUS).await?;
            read(payload, LARGEST_ANONYMOUS).await?;
            Ok(unauthorized(window, address, true, trace))
        }
        Presented::Nothing => {
            if window.access.handshake == Handshake::Challenge {
                return Ok(unauthorized(window, address, false, trace));
            }
            if let Err(seconds) = window.limits.take_anonymous(address) {
                return Ok(too_many(seconds, trace));
            }
            let _room = room(window, LARGEST_ANONYMOUS).await?;
            let body = read(payload, LARGEST_ANONYMOUS).await?;
            Ok(anonymous(&body, &mcp_headers(request), trace))
        }
    }
}

/// The handshake, or the challenge.
fn anonymous(body: &Bytes, headers: &McpHeaders, trace: &mut Trace) -> HttpResponse {
    let message = match Message::parse(body, headers) {
        Ok(message) => message,
        Err(reply) => return render(reply, trace),
    };
    trace.noted.method = mcp::known_method(&message.method);
    if let Some(reply) = mcp::handshake(&message) {
        return render(reply, trace);
    }
    trace.outcome = Code::Unauthenticated.as_str();
    guard::challenge(false)
}

/// What the hop to the blocking pool brings back.
enum Done {
    Answered(Reply, Noted, Box<Caller>),
    Unauthorized,
    TooMany(u64, Box<Caller>),
    /// The address asks for what the catalogue does not have.
    Misaddressed(String, Box<Caller>),
}

/// What arrived beside the credential.
struct Asked {
    headers: McpHeaders,
    query: String,
    body: Bytes,
}

async fn authenticated(
    window: &Data<Window>,
    credential: Credential,
    asked: Asked,
    address: Option<IpAddr>,
    trace: &mut Trace,
) -> HttpResponse {
    let Ok(Ok(permit)) = timeout(GATE_TIMEOUT, Arc::clone(&window.gate).acquire_owned()).await
    else {
        return unavailable(&Error::unavailable("every worker is busy"), trace);
    };
    let shared = window.clone();
    let work = actix_web::web::block(move || {
        let done = hop(&shared, &credential, &asked, address);
        drop(permit);
        done
    });
    match timeout(WORK_TIMEOUT, work).await {
        Ok(Ok(Ok(Done::Answered(reply, noted, caller)))) => {
            trace.noted = noted;
            trace.caller(&caller);
            render(reply, trace)
        }
        Ok(Ok(Ok(Done::TooMany(seconds, caller)))) => {
            trace.caller(&caller);
            too_many(seconds, trace)
        }
        Ok(Ok(Ok(Done::Misaddressed(said, caller)))) => {
            trace.caller(&caller);
            trace.outcome = Code::InvalidArgument.as_str();
            guard::refuse_with(StatusCode::BAD_REQUEST, &said)
        }
        Ok(Ok(Ok(Done::Unauthorized))) => unauthorized(window, address, true, trace),
        Ok(Ok(Err(error))) => unavailable(&error, trace),
        Ok(Err(_)) => unavailable(&Error::fault("the worker was cancelled"), trace),
        Err(_) => unavailable(&Error::unavailable("the deadline passed"), trace),
    }
}

/// Authenticate, count, read, authorise and run, on one connection.
fn hop(
    window: &Window,
    credential: &Credential,
    asked: &Asked,
    address: Option<IpAddr>,
) -> Result<Done, Error> {
    let now = window.clock.now();
    let (mut session, caller) = match authenticate(&window.db, &window.keys, credential, now) {
        Ok(found) => found,
        Err(error) if error.code() == Code::Unauthenticated => return Ok(Done::Unauthorized),
        Err(error) => return Err(error),
    };
    let parsed = Message::parse(&asked.body, &asked.headers);
    let noted = parsed.as_ref().map_or_else(|_| Noted::default(), mcp::noted);
    if let Err(seconds) = window.limits.take(&caller, mcp::weight(noted.tool)) {
        return Ok(Done::TooMany(seconds, Box::new(caller)));
    }
    let narrowing = match Narrowing::parse(&asked.query) {
        Ok(narrowing) => narrowing,
        Err(said) => return Ok(Done::Misaddressed(said, Box::new(caller))),
    };
    let reply = match parsed {
        Err(reply) => reply,
        Ok(message) => {
            let (session, caller, narrowing) = (&mut session, &caller, &narrowing);
            Exchange { session, caller, narrowing, now }.answer(&message)
        }
    };
    if caller.is_use_due(now)
        && let Ok(turn) = Arc::clone(&window.notes).try_acquire_owned()
    {
        note_later(turn, session, caller.clone(), address, now);
    }
    Ok(Done::Answered(reply, noted, Box::new(caller)))
}

/// Writes the token's use down after the answer has left.
fn note_later(
    turn: OwnedSemaphorePermit,
    session: Session,
    caller: Caller,
    address: Option<IpAddr>,
    now: crate::dates::Instant,
) {
    let from = address.map_or_else(|| "unknown".to_owned(), |address| address.to_string());
    drop(tokio::task::spawn_blocking(move || {
        if let Err(Error::Failed(fault)) = note_use(session, &caller, &from, now) {
            log::warn!(target: "guichet::fault", "the use of a token was not noted, {}", fault.log_text());
        }
        drop(turn);
    }));
}

/// A header that is repeated counts as absent: who reads the first and who reads the last would not agree.
fn mcp_headers(request: &HttpRequest) -> McpHeaders {
    let one = |name: &str| {
        let mut all = request.headers().get_all(name);
        let first = all.next()?.to_str().ok()?.to_owned();
        all.next().is_none().then_some(first)
    };
    McpHeaders {
        version: one("mcp-protocol-version"),
        method: one("mcp-method"),
        name: one("mcp-name"),
    }
}

/// Waits for room for a body of `largest` bytes.
async fn room(window: &Window, largest: usize) -> Result<SemaphorePermit<'_>, Refused> {
    let kib = u32::try_from(largest / 1_024).unwrap_or(u32::MAX);
    let busy = Refused(StatusCode::SERVICE_UNAVAILABLE, "too many requests at once; try again");
    match timeout(GATE_TIMEOUT, window.bodies.acquire_many(kib)).await {
        Ok(Ok(room)) => Ok(room),
        _ => Err(busy),
    }
}

/// Reads a body of at most `largest` bytes, within the deadline.
pub(super) async fn read(mut payload: Payload, largest: usize) -> Result<Bytes, Refused> {
    let mut body = actix_web::web::BytesMut::new();
    let all = async {
        while let Some(chunk) = payload.next().await {
            let chunk =
                chunk.map_err(|_| Refused(StatusCode::BAD_REQUEST, "the body did not arrive"))?;
            if body.len() + chunk.len() > largest {
                return Err(Refused(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(())
    };
    let late = Refused(StatusCode::REQUEST_TIMEOUT, "the body took too long");
    timeout(BODY_DEADLINE, all).await.map_err(|_| late)??;
    Ok(body.freeze())
}

fn render(reply: Reply, trace: &mut Trace) -> HttpResponse {
    trace.outcome = reply.outcome;
    let mut answer = HttpResponse::build(reply.status);
    if let Some(seconds) = reply.retry_after {
        answer.insert_header((header::RETRY_AFTER, seconds));
    }
    if reply.body.is_empty() {
        return answer.finish();
    }
    answer.insert_header((header::CACHE_CONTROL, "no-store"));
    answer.content_type(reply.content_type).body(reply.body)
}

fn unauthorized(
    window: &Window,
    address: Option<IpAddr>,
    is_bad: bool,
    trace: &mut Trace,
) -> HttpResponse {
    if let Err(seconds) = window.limits.take_anonymous(address) {
        return too_many(seconds, trace);
    }
    trace.outcome = Code::Unauthenticated.as_str();
    guard::challenge(is_bad)
}

fn unavailable(error: &Error, trace: &mut Trace) -> HttpResponse {
    render(Reply::failed(super::envelope::Era::Legacy, None, error), trace)
}

fn too_many(seconds: u64, trace: &mut Trace) -> HttpResponse {
    let error = Error::refuse(
        Code::RateLimited,
        format!("too many requests; try again in {seconds} seconds"),
    );
    let reply = Reply::failed(super::envelope::Era::Legacy, None, &error);
    render(Reply { retry_after: Some(seconds), ..reply }, trace)
}
