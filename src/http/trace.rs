//! One line in the log for each request: who, which firm, which tool, how it ended, how long it took. Never a secret, never
//! text that a caller made up.

use std::time::Instant as Stopwatch;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use uuid::Uuid;

use super::mcp::Noted;
use crate::auth::Caller;

/// What the line will say.
#[derive(Debug)]
pub(super) struct Trace {
    id: String,
    started: Stopwatch,
    pub(super) noted: Noted,
    pub(super) outcome: &'static str,
    firm: String,
    person: Option<Uuid>,
    token: Option<Uuid>,
}

impl Trace {
    pub(super) fn begin(request: &HttpRequest) -> Self {
        let given = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
        let id = given
            .and_then(trace_id)
            .map_or_else(|| Uuid::now_v7().simple().to_string(), str::to_owned);
        Self {
            id,
            started: Stopwatch::now(),
            noted: Noted::default(),
            outcome: "ok",
            firm: String::new(),
            person: None,
            token: None,
        }
    }

    pub(super) fn caller(&mut self, caller: &Caller) {
        caller.firm_slug().clone_into(&mut self.firm);
        self.person = Some(caller.user().into());
        self.token = caller.token().map(|token| token.id.into());
    }

    pub(super) fn end(self, status: StatusCode) {
        if !log::log_enabled!(target: "guichet::request", log::Level::Info) {
            return;
        }
        let id = |id: Option<Uuid>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        log::info!(
            target: "guichet::request",
            trace = self.id.as_str(),
            firm = or_dash(&self.firm).as_str(),
            person = id(self.person).as_str(),
            token = id(self.token).as_str(),
            method = or_dash(self.noted.method).as_str(),
            tool = or_dash(self.noted.tool).as_str(),
            outcome = self.outcome,
            status = status.as_u16(),
            duration_ms = ms;
            "request"
        );
    }
}

/// The trace id of a `traceparent` header, `00-<32 hex>-<16 hex>-<2 hex>`.
fn trace_id(value: &str) -> Option<&str> {
    let mut parts = value.split('-');
    let (version, id, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |text: &str, length| {
        text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_valid = parts.next().is_none()
        && is_hex(version, 2)
        && is_hex(id, 32)
        && is_hex(parent, 16)
        && is_hex(flags, 2)
        && id.bytes().any(|byte| byte != b'0');
    is_valid.then_some(id)
}

#[cfg(test)]
mod tests {
    use super::trace_id;

    #[test]
    fn a_trace_id_is_taken_from_a_well_formed_header_only() {
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(trace_id(&format!("00-{id}-00f067aa0ba902b7-01")), Some(id));
        for bad in ["", "00-x", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"] {
            assert_eq!(trace_id(bad), None);
        }
    }
}
