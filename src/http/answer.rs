//! Answers, written once into one buffer: the only place that knows the shapes of JSON-RPC and MCP results.

use actix_web::http::StatusCode;
use serde_json::value::RawValue;

use super::envelope::Era;
use crate::error::{Code, Error, Result};

/// The name and version that the server gives for itself.
pub(super) const SERVER_INFO: &str = concat!(
    r#"{"name":"guichet","title":"Guichet","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
);

const JSON: &str = "application/json";

/// A reason of JSON-RPC or MCP for which there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RpcCode {
    Parse,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    /// Parameters that make the request itself malformed: a 400 where the era has one.
    MalformedParams,
    /// Only for clients of the older revisions; newer ones get [`RpcCode::InvalidParams`].
    ResourceNotFound,
    HeaderMismatch,
    UnsupportedVersion,
    Unavailable,
    RateLimited,
    Internal,
}

impl RpcCode {
    const fn number(self) -> i32 {
        match self {
            Self::Parse => -32_700,
            Self::InvalidRequest => -32_600,
            Self::MethodNotFound => -32_601,
            Self::InvalidParams | Self::MalformedParams => -32_602,
            Self::Internal => -32_603,
            Self::ResourceNotFound => -32_002,
            Self::HeaderMismatch => -32_020,
            Self::UnsupportedVersion => -32_022,
            Self::Unavailable => -31_001,
            Self::RateLimited => -31_002,
        }
    }

    const fn status(self, era: Era) -> StatusCode {
        match (self, era) {
            (Self::Unavailable, _) => StatusCode::SERVICE_UNAVAILABLE,
            (Self::RateLimited, _) => StatusCode::TOO_MANY_REQUESTS,
            (
                Self::Parse
                | Self::InvalidRequest
                | Self::HeaderMismatch
                | Self::UnsupportedVersion,
                _,
            )
            | (Self::MalformedParams, Era::Modern) => StatusCode::BAD_REQUEST,
            (Self::MethodNotFound, Era::Modern) => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        }
    }
}

/// A finished answer, and what the log says of it.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
    pub(super) content_type: &'static str,
    /// `ok`, or the code of the refusal.
    pub(super) outcome: &'static str,
    /// Seconds after which to try again.
    pub(super) retry_after: Option<u64>,
}

impl Reply {
    fn ok(body: Vec<u8>) -> Self {
        let (status, content_type) = (StatusCode::OK, JSON);
        Self { status, body, content_type, outcome: "ok", retry_after: None }
    }

    /// A notification was taken.
    pub(super) fn accepted() -> Self {
        Self { status: StatusCode::ACCEPTED, ..Self::ok(vec![]) }
    }

    /// A JSON-RPC error; `data` is JSON.
    pub(super) fn rpc_error(
        era: Era,
        id: Option<&RawValue>,
        code: RpcCode,
        message: &str,
        data: Option<&str>,
    ) -> Self {
        let mut body = br#"{"jsonrpc":"2.0","#.to_vec();
        if let Some(id) = id {
            body.extend_from_slice(br#""id":"#);
            body.extend_from_slice(id.get().as_bytes());
            body.push(b',');
        }
        let message = serde_json::Value::from(message);
        body.extend_from_slice(
            format!(r#""error":{{"code":{},"message":{message}"#, code.number()).as_bytes(),
        );
        if let Some(data) = data {
            body.extend_from_slice(br#","data":"#);
            body.extend_from_slice(data.as_bytes());
        }
        body.extend_from_slice(b"}}");
        let retry_after = match code {
            RpcCode::Unavailable => Some(2),
            _ => None,
        };
        let status = code.status(era);
        Self { status, outcome: "rpc_error", retry_after, ..Self::ok(body) }
    }

    /// The answer to a request that failed before its method could run. The fault, if it is one, is logged here.
    pub(super) fn failed(era: Era, id: Option<&RawValue>, error: &Error) -> Self {
        Self::failed_with(era, id, error, None)
    }

    /// The same; `data` is JSON.
    fn failed_with(era: Era, id: Option<&RawValue>, error: &Error, data: Option<&str>) -> Self {
        let code = match error.code() {
            Code::Unavailable => RpcCode::Unavailable,
            Code::RateLimited => RpcCode::RateLimited,
            Code::Internal => RpcCode::Internal,
            Code::NotFound if era == Era::Legacy => RpcCode::ResourceNotFound,
            _ => RpcCode::InvalidParams,
        };
        log_fault(error);
        let reply = Self::rpc_error(era, id, code, &error.to_string(), data);
        Self { outcome: error.code().as_str(), ..reply }
    }
}

fn log_fault(error: &Error) {
    if let Error::Failed(fault) = error {
        log::error!(target: "guichet::fault", "{}", fault.log_text());
    }
}

/// Opens a result; its members follow.
fn open(era: Era, id: &RawValue) -> Vec<u8> {
    let mut out = Vec::with_capacity(4_096);
    for part in [r#"{"jsonrpc":"2.0","id":"#, id.get(), r#","result":{"#] {
        out.extend_from_slice(part.as_bytes());
    }
    if era == Era::Modern {
        for part in [
            r#""resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":"#,
            SERVER_INFO,
            "},",
        ] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    out
}

/// A result with the given members; those that a client may keep say for how long and that they are its own.
pub(super) fn result(era: Era, id: &RawValue, members: &str, ttl_ms: Option<u32>) -> Reply {
    let mut out = open(era, id);
    if let (Era::Modern, Some(ttl_ms)) = (era, ttl_ms) {
        out.extend_from_slice(format!(r#""ttlMs":{ttl_ms},"cacheScope":"private","#).as_bytes());
    }
    out.extend_from_slice(members.as_bytes());
    if members.is_empty() && out.last() == Some(&b',') {
        out.pop();
    }
    out.extend_from_slice(b"}}");
    Reply::ok(out)
}

/// The result of a tool: what `write` appends stands as `structuredContent`, and escaped as the text block. A refusal is
/// a result too, so that a model can correct itself.
pub(super) fn tool_result(
    era: Era,
    id: &RawValue,
    write: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Reply {
    let mut out = open(era, id);
    let start = out.len();
    out.extend_from_slice(br#""structuredContent":"#);
    let answer = out.len();
    match write(&mut out) {
        Ok(()) => {
            out.extend_from_slice(br#","content":[{"type":"text","text":""#);
            let end = out.len() - br#","content":[{"type":"text","text":""#.len();
            append_escaped(&mut out, answer, end);
            out.extend_from_slice(br#""}]}}"#);
            Reply::ok(out)
        }
        Err(error) => {
            log_fault(&error);
            out.truncate(start);
            out.extend_from_slice(br#""content":[{"type":"text","text":"#);
            let said = serde_json::Value::from(refusal_text(&error)).to_string();
            out.extend_from_slice(said.as_bytes());
            out.extend_from_slice(br#"}],"isError":true}}"#);
            Reply { outcome: error.code().as_str(), ..Reply::ok(out) }
        }
    }
}

/// A refusal as JSON: `code`, `message` and, where one is at fault, `field`.
fn refusal_text(error: &Error) -> String {
    let mut said = serde_json::json!({ "code": error.code(), "message": error.to_string() });
    if let (Some(field), Some(object)) = (error.field(), said.as_object_mut()) {
        object.insert("field".to_owned(), field.into());
    }
    said.to_string()
}

/// A resource's contents: what `write` appends, as text. Where there is none, the error repeats the address.
pub(super) fn resource_result(
    era: Era,
    id: &RawValue,
    uri: &str,
    write: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Reply {
    let mut text = Vec::with_capacity(2_048);
    match write(&mut text) {
        Ok(()) => {
            let mut members = Vec::with_capacity(text.len() * 5 / 4 + 128);
            let uri = serde_json::Value::from(uri);
            members.extend_from_slice(
                format!(r#""contents":[{{"uri":{uri},"mimeType":"application/json","text":""#)
                    .as_bytes(),
            );
            let start = members.len();
            members.extend_from_slice(&text);
            let end = members.len();
            append_escaped(&mut members, start, end);
            members.drain(start..end);
            members.extend_from_slice(br#""}]"#);
            result(era, id, &String::from_utf8_lossy(&members), Some(0))
        }
        Err(error) => {
            let is_absent = error.code() == Code::NotFound;
            let data = is_absent.then(|| serde_json::json!({ "uri": uri }).to_string());
            Reply::failed_with(era, Some(id), &error, data.as_deref())
        }
    }
}

/// Copies the JSON between `start` and `end` to the end, as the inside of a JSON string. In compact JSON only `"` and `\`
/// need an escape: `serde_json` has already escaped control characters.
fn append_escaped(out: &mut Vec<u8>, start: usize, end: usize) {
    out.reserve((end - start) * 5 / 4);
    let mut copied = start;
    for at in start..end {
        if matches!(out.get(at), Some(b'"' | b'\\')) {
            out.extend_from_within(copied..at);
            out.push(b'\\');
            copied = at;
        }
    }
    out.extend_from_within(copied..end);
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::{Era, Error, resource_result};

    #[test]
    fn a_resource_that_is_not_there_is_named_in_the_error() {
        let id = RawValue::from_string("7".to_owned()).unwrap();
        for (era, code) in [(Era::Modern, -32_602), (Era::Legacy, -32_002)] {
            let reply = resource_result(era, &id, "x://\"y", |_| Err(Error::not_found("resource")));
            let body: Value = serde_json::from_slice(&reply.body).unwrap();
            let error = json!({ "code": code, "message": "resource not found", "data": { "uri": "x://\"y" } });
            assert_eq!(body, json!({ "jsonrpc": "2.0", "id": 7, "error": error }));
        }
    }
}
