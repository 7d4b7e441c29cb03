//! What the official conformance suite of MCP asks of a server beyond its own catalogue: fixture tools, resources and
//! prompts whose answers the suite knows. Compiled under the `conformance` feature only, and there for one principal
//! only, who passes the same checks, dispatcher and answers as everybody else.

mod input;
mod listener;
mod prompts;
mod resources;
mod tools;

use actix_web::http::StatusCode;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::answer::{Reply, SERVER_INFO, result};
use super::envelope::{Era, Message};
use super::mcp::{Exchange, LIST_TTL_MS, handshake_with};
use crate::auth::Caller;
use crate::dates::Instant;
use crate::error::Error;
use crate::registry;

pub use listener::serve;

/// The one principal who sees the fixtures.
const PRINCIPAL: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_c04f_0001);
const CAPABILITIES: &str =
    r#"{"completions":{},"logging":{},"prompts":{},"resources":{},"tools":{}}"#;
const CAPABILITIES_LEGACY: &str =
    r#"{"completions":{},"logging":{},"prompts":{},"resources":{"subscribe":true},"tools":{}}"#;
/// A PNG of one red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// What a fixture is asked.
struct Asked<'a> {
    caller: &'a Caller,
    now: Instant,
    era: Era,
    id: &'a RawValue,
    method: &'a str,
    params: Value,
}

/// What is answered instead of a plain result.
enum Instead {
    /// Notifications, then the result.
    Streamed(Vec<Value>, Value),
    /// Questions to the client, and the state that it is to bring back.
    Input(Map<String, Value>, Option<String>),
    /// The client did not declare what this needs.
    Lacking(&'static str),
    /// Parameters that do not fit.
    Refused(Error),
}

/// The members of a result.
type Answer = Result<Value, Instead>;

impl Asked<'_> {
    /// The name of the tool or prompt, or the address of the resource.
    fn subject(&self) -> &str {
        let member = if self.method == "resources/read" { "uri" } else { "name" };
        self.params.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    /// An argument that is a string.
    fn argument(&self, name: &str) -> Result<&str, Instead> {
        let arguments = self.params.get("arguments");
        let found = arguments.and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
        found.ok_or_else(|| Instead::refused(name, "a string is required"))
    }

    fn meta(&self, name: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(name)
    }

    /// Whether the client declared a capability.
    fn has_declared(&self, capability: &str) -> bool {
        let declared = self.meta("io.modelcontextprotocol/clientCapabilities");
        declared.is_some_and(|declared| declared.get(capability).is_some())
    }
}

impl Instead {
    fn refused(field: &str, message: &str) -> Self {
        Self::Refused(Error::argument(field, message))
    }
}

/// The answer to a request of the principal that concerns a fixture; lists are the product's own, and the fixtures after
/// it. Nothing for any other request, which the product answers.
pub(super) fn answer(
    exchange: &Exchange<'_>,
    message: &Message<'_>,
    id: &RawValue,
) -> Option<Reply> {
    let (caller, era, view) = (exchange.caller, message.era, exchange.view());
    if Uuid::from(caller.user()) != PRINCIPAL {
        return None;
    }
    let capabilities = if era == Era::Legacy { CAPABILITIES_LEGACY } else { CAPABILITIES };
    if let Some(reply) = handshake_with(message, capabilities) {
        return Some(reply);
    }
    let params = message.whole.map_or(Ok(Value::Null), |raw| serde_json::from_str(raw.get()));
    let (now, method) = (exchange.now, message.method.as_str());
    let asked = Asked { caller, now, era, id, method, params: params.ok()? };
    let is_first = message.params.cursor.is_none();
    let list = |member: &str, own: String, fixtures: &mut Vec<Value>| {
        let mut all: Vec<Value> = serde_json::from_str(&own).unwrap_or_default();
        all.append(fixtures);
        (Ok(json!({ member: all })), Some(LIST_TTL_MS))
    };
    let (answer, ttl_ms) = match (method, era) {
        ("tools/list", _) if is_first => {
            list("tools", registry::list_tools(view), &mut tools::listed())
        }
        ("resources/list", _) if is_first => {
            list("resources", registry::list_resources(view), &mut resources::listed())
        }
        ("resources/templates/list", _) if is_first => {
            let own = registry::list_templates(view);
            list("resourceTemplates", own, &mut resources::templates())
        }
        ("prompts/list", _) if is_first => {
            list("prompts", registry::list_prompts(view), &mut prompts::listed())
        }
        ("tools/call", _) => (tools::call(&asked)?, None),
        ("resources/read", _) => (resources::read(asked.subject())?, Some(0)),
        ("prompts/get", _) => (prompts::get(&asked)?, None),
        ("logging/setLevel" | "resources/subscribe" | "resources/unsubscribe", Era::Legacy) => {
            (Ok(json!({})), None)
        }
        _ => return None,
    };
    Some(written(&asked, answer, ttl_ms))
}

fn written(asked: &Asked<'_>, answer: Answer, ttl_ms: Option<u32>) -> Reply {
    let (era, id) = (asked.era, asked.id);
    let plain = |members: &Value| {
        let object = members.to_string();
        let inside = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        result(era, id, inside.unwrap_or_default(), ttl_ms)
    };
    match answer {
        Ok(members) => plain(&members),
        Err(Instead::Streamed(notifications, members)) => {
            let last = plain(&members);
            let mut body = String::new();
            for notification in notifications {
                body.push_str(&event(&notification.to_string()));
            }
            body.push_str(&event(&String::from_utf8_lossy(&last.body)));
            Reply { body: body.into_bytes(), content_type: "text/event-stream", ..last }
        }
        Err(Instead::Input(requests, state)) => {
            let mut members = json!({ "resultType": "input_required", "inputRequests": requests });
            if let (Some(object), Some(state)) = (members.as_object_mut(), state) {
                object.insert("requestState".to_owned(), state.into());
            }
            let info = serde_json::from_str::<Value>(SERVER_INFO).unwrap_or_default();
            if let Some(object) = members.as_object_mut() {
                let meta = json!({ "io.modelcontextprotocol/serverInfo": info });
                object.insert("_meta".to_owned(), meta);
            }
            raw(id, "result", &members, StatusCode::OK)
        }
        Err(Instead::Lacking(capability)) => {
            let needed = json!({ "requiredCapabilities": { capability: {} } });
            let said = format!("the client did not declare {capability}");
            let error = json!({ "code": -32_021, "message": said, "data": needed });
            raw(id, "error", &error, StatusCode::BAD_REQUEST)
        }
        Err(Instead::Refused(error)) => Reply::failed(era, Some(id), &error),
    }
}

fn event(json: &str) -> String {
    format!("event: message\ndata: {json}\n\n")
}

/// An answer of a shape that the product itself does not give.
fn raw(id: &RawValue, member: &str, value: &Value, status: StatusCode) -> Reply {
    let body = format!(r#"{{"jsonrpc":"2.0","id":{},"{member}":{value}}}"#, id.get());
    Reply { status, body: body.into_bytes(), ..Reply::accepted() }
}
