//! One JSON-RPC message of either era, and whether its headers and body agree.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::answer::{Reply, RpcCode};
use super::arguments::Object;
use super::json;

/// The newest revision, and those of the handshake, newest first.
pub(super) const MODERN: &str = "2026-07-28";
pub(super) const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// Which family of revisions a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// With an `initialize` handshake, before 2026.
    Legacy,
    /// Stateless, each request saying its version.
    Modern,
}

/// The headers of MCP.
#[derive(Debug, Default)]
pub(super) struct McpHeaders {
    pub(super) version: Option<String>,
    pub(super) method: Option<String>,
    pub(super) name: Option<String>,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// Whatever stands there, `null` too, which is not the same as nothing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The parameters that any method of ours reads, each unread.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) uri: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) cursor: Option<&'a RawValue>,
    #[serde(borrow, rename = "protocolVersion")]
    pub(super) protocol_version: Option<&'a RawValue>,
    #[serde(borrow, rename = "ref")]
    pub(super) reference: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) argument: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) context: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
}

/// A message of the right form.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) era: Era,
    /// Absent in a notification.
    pub(super) id: Option<&'a RawValue>,
    pub(super) method: String,
    pub(super) params: Params<'a>,
    /// All of the parameters.
    #[cfg(feature = "conformance")]
    pub(super) whole: Option<&'a RawValue>,
}

/// A JSON string, or nothing for any other value.
pub(super) fn text(value: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(value?.get()).ok()
}

fn refuse(era: Era, id: Option<&RawValue>, code: RpcCode, message: &str) -> Reply {
    Reply::rpc_error(era, id, code, message, None)
}

impl<'a> Message<'a> {
    /// Reads a request's body and checks it against its headers.
    pub(super) fn parse(body: &'a [u8], headers: &McpHeaders) -> Result<Self, Reply> {
        let era = if headers.names_modern() { Era::Modern } else { Era::Legacy };
        let parse =
            |said: &str| refuse(era, None, RpcCode::Parse, &format!("invalid JSON: {said}"));
        let invalid = |said: &str| refuse(era, None, RpcCode::InvalidRequest, said);
        let body = std::str::from_utf8(body).map_err(|_| parse("not UTF-8"))?;
        json::check(body).map_err(|said| parse(&said))?;
        if body.trim_start().starts_with('[') {
            return Err(invalid("batches are not supported; send one message per request"));
        }
        let Object(raw) = serde_json::from_str::<Object<Raw<'_>>>(body)
            .map_err(|_| invalid("expected one JSON-RPC message"))?;
        let id = raw.id;
        if id.is_some_and(|id| !is_id(id.get())) {
            return Err(invalid("the id must be a string or an integer"));
        }
        if raw.jsonrpc.as_deref() != Some("2.0") {
            return Err(refuse(era, id, RpcCode::InvalidRequest, "jsonrpc must be \"2.0\""));
        }
        let method = text(raw.method)
            .ok_or_else(|| refuse(era, id, RpcCode::InvalidRequest, "method must be a string"))?;
        let params = match raw.params {
            None => Params::default(),
            Some(params) => {
                let read = serde_json::from_str::<Object<Params<'_>>>(params.get());
                let said = "params must be an object";
                read.map_err(|_| refuse(era, id, RpcCode::MalformedParams, said))?.0
            }
        };
        let mut message = Self {
            era,
            id,
            method,
            params,
            #[cfg(feature = "conformance")]
            whole: raw.params,
        };
        message.settle_era(headers)?;
        Ok(message)
    }

    /// Decides the era and, for a modern request, checks what each must carry. Notifications have no such rules.
    fn settle_era(&mut self, headers: &McpHeaders) -> Result<(), Reply> {
        let (id, era) = (self.id, Era::Modern);
        let meta: Option<Meta<'_>> = match self.params.meta {
            None => None,
            Some(meta) => {
                let read = serde_json::from_str::<Object<Meta<'_>>>(meta.get());
                let said = "_meta must be an object";
                Some(read.map_err(|_| refuse(self.era, id, RpcCode::MalformedParams, said))?.0)
            }
        };
        let claimed = meta.as_ref().and_then(|meta| meta.version);
        let is_modern = claimed.is_some()
            || (headers.names_modern() && self.method != "initialize")
            || self.method == "server/discover";
        self.era = if is_modern { Era::Modern } else { Era::Legacy };
        if self.era == Era::Legacy || id.is_none() {
            return Ok(());
        }
        let malformed = |said: &str| refuse(era, id, RpcCode::MalformedParams, said);
        let mismatch = |said: &str| refuse(era, id, RpcCode::HeaderMismatch, said);
        let version = text(claimed).ok_or_else(|| {
            malformed("_meta[\"io.modelcontextprotocol/protocolVersion\"] must name the version")
        })?;
        if headers.version.as_deref() != Some(&version) {
            return Err(mismatch(
                "the MCP-Protocol-Version header and the version in _meta differ",
            ));
        }
        if version != MODERN {
            return Err(unsupported(id, &version));
        }
        let capabilities = meta.as_ref().and_then(|meta| meta.capabilities);
        if !capabilities.is_some_and(|declared| declared.get().trim_start().starts_with('{')) {
            let said = "_meta[\"io.modelcontextprotocol/clientCapabilities\"] must be an object";
            return Err(malformed(said));
        }
        if headers.method.as_deref() != Some(&self.method) {
            return Err(mismatch("the Mcp-Method header and the method differ"));
        }
        self.check_name(headers)
    }

    /// `Mcp-Name` repeats what the request is about, so that a proxy can route it; the body decides.
    fn check_name(&self, headers: &McpHeaders) -> Result<(), Reply> {
        let named = match self.method.as_str() {
            "tools/call" | "prompts/get" => self.params.name,
            "resources/read" => self.params.uri,
            _ => return Ok(()),
        };
        let header = headers.name.as_deref().and_then(decoded);
        if header.is_some() && header == text(named) {
            return Ok(());
        }
        let said = "the Mcp-Name header and the request differ";
        Err(refuse(self.era, self.id, RpcCode::HeaderMismatch, said))
    }
}

impl McpHeaders {
    /// Whether the version header speaks for the modern era: it names it, or a version nobody knows.
    fn names_modern(&self) -> bool {
        self.version.as_deref().is_some_and(|version| !LEGACY.contains(&version))
    }
}

/// The refusal of a version that is not served, naming those that are.
fn unsupported(id: Option<&RawValue>, requested: &str) -> Reply {
    let data = serde_json::json!({ "supported": [MODERN], "requested": requested }).to_string();
    let said = "unsupported protocol version";
    Reply::rpc_error(Era::Modern, id, RpcCode::UnsupportedVersion, said, Some(&data))
}

/// A header's value, which may be wrapped as `=?base64?…?=`.
fn decoded(value: &str) -> Option<String> {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let Some(inner) = inner else { return Some(value.to_owned()) };
    String::from_utf8(BASE64.decode(inner).ok()?).ok()
}

fn is_id(id: &str) -> bool {
    id.starts_with('"') || id.parse::<i64>().is_ok()
}

#[cfg(test)]
mod tests {
    use actix_web::http::StatusCode;
    use serde_json::{Value, json};

    use super::{Era, MODERN, McpHeaders, Message};

    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

    fn headers(version: &str, method: &str, name: Option<&str>) -> McpHeaders {
        let [version, method] = [version, method].map(|text| Some(text.to_owned()));
        McpHeaders { version, method, name: name.map(str::to_owned) }
    }

    /// The status and the code of the refusal, and the id that it repeats.
    fn refusal(body: &Value, headers: &McpHeaders) -> (u16, i64, Value) {
        let body = body.to_string();
        let reply = Message::parse(body.as_bytes(), headers).unwrap_err();
        let said: Value = serde_json::from_slice(&reply.body).unwrap();
        (reply.status.as_u16(), said["error"]["code"].as_i64().unwrap(), said["id"].clone())
    }

    fn call(meta: &Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "é", "_meta": meta } })
    }

    #[test]
    fn an_id_is_a_string_or_an_integer_and_never_null() {
        for id in [json!("a"), json!(0), json!(-7)] {
            let body = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
            let message = Message::parse(body.as_bytes(), &McpHeaders::default()).unwrap();
            assert_eq!(message.id.map(|id| id.get().to_owned()), Some(id.to_string()));
        }
        for id in [json!(null), json!(1.5), json!([]), json!({}), json!(true)] {
            let body = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
            assert_eq!(refusal(&body, &McpHeaders::default()), (400, -32_600, Value::Null));
        }
        let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert!(Message::parse(body.as_bytes(), &McpHeaders::default()).unwrap().id.is_none());
    }

    #[test]
    fn a_modern_request_is_refused_for_its_meta_then_its_version_then_its_headers() {
        let good = json!({ VERSION: MODERN, CAPABILITIES: {} });
        let fitting = headers(MODERN, "tools/call", Some("=?base64?w6k=?="));
        let text = call(&good).to_string();
        let message = Message::parse(text.as_bytes(), &fitting).unwrap();
        assert_eq!((message.era, message.method.as_str()), (Era::Modern, "tools/call"));

        for meta in [json!({}), json!({ CAPABILITIES: {} }), json!({ VERSION: MODERN }), json!(7)] {
            assert_eq!(refusal(&call(&meta), &fitting), (400, -32_602, json!(1)), "{meta}");
        }
        let unknown = json!({ VERSION: "2099-01-01" });
        let of_unknown = headers("2099-01-01", "x", None);
        assert_eq!(refusal(&call(&unknown), &of_unknown), (400, -32_022, json!(1)));
        assert_eq!(refusal(&call(&unknown), &fitting), (400, -32_020, json!(1)));
        for wrong in [
            McpHeaders::default(),
            headers("2025-11-25", "tools/call", Some("é")),
            headers(MODERN, "Tools/call", Some("é")),
            headers(MODERN, "tools/call", Some("e")),
            headers(MODERN, "tools/call", Some("=?base64?%?=")),
            headers(MODERN, "tools/call", None),
        ] {
            assert_eq!(refusal(&call(&good), &wrong), (400, -32_020, json!(1)), "{wrong:?}");
        }
    }

    #[test]
    fn a_legacy_request_needs_no_headers_and_is_told_with_status_200() {
        let listing = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#;
        let reply = Message::parse(listing.as_bytes(), &McpHeaders::default()).unwrap_err();
        assert_eq!(reply.status, StatusCode::OK);
        let asking = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": MODERN } })
        .to_string();
        let message = Message::parse(asking.as_bytes(), &headers(MODERN, "initialize", None));
        assert_eq!(message.unwrap().era, Era::Legacy);
    }
}
