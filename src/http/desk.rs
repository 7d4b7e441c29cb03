//! `POST /auth/token` and `POST /auth/revoke`.

use actix_web::http::{StatusCode, header};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;
use serde_json::json;

use super::arguments;
use super::guard::{self, Presented, Refused};
use super::json;
use super::limits::place;
use super::trace::Trace;
use super::window::{Window, read};
use crate::auth::{Credential, SignInRefusal, authenticate, jwt, revoke_own};
use crate::error::{Code, Error};

const LARGEST: usize = 8 * 1_024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignIn {
    email: String,
    password: String,
    tenant: Option<String>,
}

/// `POST /auth/token` with `{"email", "password", "tenant"?}`: a token for ten minutes.
pub(super) async fn token(
    window: Data<Window>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let mut trace = Trace::begin(&request);
    trace.noted.method = "auth/token";
    let answer = match sign_in(&window, &request, payload).await {
        Ok(answer) => answer,
        Err(refused) => guard::refuse(&refused),
    };
    trace.outcome = if answer.status().is_success() { "ok" } else { "refused" };
    trace.end(answer.status());
    answer
}

async fn sign_in(
    window: &Window,
    request: &HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Refused> {
    window.access.check(request)?;
    guard::check_content(request.headers())?;
    if let Err(seconds) = window.limits.take_anonymous(window.access.address(request)) {
        return Ok(later(seconds));
    }
    let body = read(payload, LARGEST).await?;
    let body = std::str::from_utf8(&body).map_err(|_| bad_request())?;
    json::check(body).map_err(|_| bad_request())?;
    let SignIn { email, password, tenant } = arguments::parse(body).map_err(|_| bad_request())?;
    let place = place(window.access.address(request));
    Ok(match window.desk.sign_in(&email, password, tenant.as_deref(), place).await {
        Ok(signed) => no_store(HttpResponse::Ok()).body(
            json!({
                "access_token": signed.token,
                "token_type": "Bearer",
                "expires_in": jwt::LIFETIME_S,
                "tenant": signed.tenant,
            })
            .to_string(),
        ),
        Err(SignInRefusal::Wrong) => no_store(HttpResponse::Unauthorized()).body(
            json!({ "error": "invalid_grant", "message": "e-mail address or password is wrong" })
                .to_string(),
        ),
        Err(SignInRefusal::ChooseTenant(firms)) => {
            let firms: Vec<_> =
                firms.iter().map(|(slug, name)| json!({ "tenant": slug, "name": name })).collect();
            let message = "you belong to several firms: name one of them as tenant";
            no_store(HttpResponse::BadRequest()).body(
                json!({ "error": "tenant_required", "message": message, "tenants": firms })
                    .to_string(),
            )
        }
        Err(SignInRefusal::Later(seconds)) => later(u64::try_from(seconds).unwrap_or(1)),
        Err(SignInRefusal::Failed(error)) => failed(&error),
    })
}

/// `POST /auth/revoke` under the API token that is to end: whoever holds a token may end it.
pub(super) async fn revoke(window: Data<Window>, request: HttpRequest) -> HttpResponse {
    let mut trace = Trace::begin(&request);
    trace.noted.method = "auth/revoke";
    let answer =
        end_token(&window, &request, &mut trace).await.unwrap_or_else(|r| guard::refuse(&r));
    trace.end(answer.status());
    answer
}

async fn end_token(
    window: &Data<Window>,
    request: &HttpRequest,
    trace: &mut Trace,
) -> Result<HttpResponse, Refused> {
    window.access.check(request)?;
    if let Err(seconds) = window.limits.take_anonymous(window.access.address(request)) {
        return Ok(later(seconds));
    }
    let credential = match guard::credential(request)? {
        Presented::One(credential) => credential,
        Presented::Nothing => return Ok(guard::challenge(false)),
        Presented::Malformed => return Ok(guard::challenge(true)),
    };
    let shared = window.clone();
    let ended = actix_web::web::block(move || end(&shared, &credential)).await;
    Ok(match ended.map_err(Error::fault).and_then(|ended| ended) {
        Ok(()) => {
            trace.outcome = "ok";
            no_store(HttpResponse::Ok()).body(r#"{"revoked":true}"#)
        }
        Err(error) => {
            trace.outcome = error.code().as_str();
            failed(&error)
        }
    })
}

fn end(window: &Window, credential: &Credential) -> Result<(), Error> {
    let now = window.clock.now();
    let (session, caller) = authenticate(&window.db, &window.keys, credential, now)?;
    revoke_own(session, &caller, now)
}

fn failed(error: &Error) -> HttpResponse {
    if let Error::Failed(fault) = error {
        log::error!(target: "guichet::fault", "{}", fault.log_text());
    }
    let status = match error.code() {
        Code::Unauthenticated => return guard::challenge(true),
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    };
    let mut answer = no_store(HttpResponse::build(status));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        answer.insert_header((header::RETRY_AFTER, "2"));
    }
    answer.body(json!({ "error": error.code(), "message": error.to_string() }).to_string())
}

fn later(seconds: u64) -> HttpResponse {
    let mut answer = no_store(HttpResponse::TooManyRequests());
    answer.insert_header((header::RETRY_AFTER, seconds));
    let message = format!("too many attempts; try again in {seconds} seconds");
    answer.body(json!({ "error": Code::RateLimited, "message": message }).to_string())
}

fn no_store(mut answer: actix_web::HttpResponseBuilder) -> actix_web::HttpResponseBuilder {
    answer.insert_header((header::CACHE_CONTROL, "no-store")).content_type("application/json");
    answer
}

const fn bad_request() -> Refused {
    Refused(
        StatusCode::BAD_REQUEST,
        "expected a JSON object with email, password and, for a person of several firms, tenant",
    )
}
