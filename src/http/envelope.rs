//! One JSON-RPC message of either era, and whether its headers and body agree.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
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
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
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
