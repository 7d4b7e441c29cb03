//! Results that ask the client for something first, and the sealed state that it brings back.

use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;
use uuid::Uuid;

use super::{Asked, Instead};
use crate::http::envelope::Era;

/// How long a state may be brought back, in seconds.
const LIFETIME_S: i64 = 600;

/// The key that seals states, of this process.
pub(super) static KEY: OnceLock<[u8; 32]> = OnceLock::new();

/// One question to the client.
pub(super) struct Question {
    key: &'static str,
    method: &'static str,
    params: Value,
    /// What the client must have declared.
    pub(super) capability: &'static str,
    /// What an answer has.
    has: &'static str,
}

/// A form with one required field.
pub(super) fn elicit(key: &'static str, message: &str, field: &str, kind: &str) -> Question {
    let schema = json!({
        "type": "object",
        "properties": { field: { "type": kind } },
        "required": [field],
    });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    Question { key, method: "elicitation/create", params, capability: "elicitation", has: "action" }
}

/// A sentence for the client's model.
pub(super) fn sample(key: &'static str, said: &str) -> Question {
    let content = json!({ "type": "text", "text": said });
    let params = json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 100 });
    let method = "sampling/createMessage";
    Question { key, method, params, capability: "sampling", has: "content" }
}

/// The client's roots.
pub(super) fn roots(key: &'static str) -> Question {
    Question { key, method: "roots/list", params: json!({}), capability: "roots", has: "roots" }
}

/// The result that asks. Before 2026 a question is a request of the server, for which there is no stream here.
pub(super) fn ask(asked: &Asked<'_>, questions: &[Question], state: Option<String>) -> Instead {
    if asked.era == Era::Legacy {
        return Instead::refused("name", "this tool is for clients of 2026-07-28");
    }
    if let Some(undeclared) = questions.iter().find(|one| !asked.has_declared(one.capability)) {
        return Instead::Lacking(undeclared.capability);
    }
    let request = |one: &Question| {
        (one.key.to_owned(), json!({ "method": one.method, "params": one.params }))
    };
    Instead::Input(questions.iter().map(request).collect(), state)
}

/// What the client answered to all questions; they are asked again when an answer is missing or has the wrong form.
/// Answers to other questions are ignored.
pub(super) fn answers(
    asked: &Asked<'_>,
    questions: &[Question],
    state: Option<String>,
) -> Result<Map<String, Value>, Instead> {
    let given = match asked.params.get("inputResponses") {
        None => return Err(ask(asked, questions, state)),
        Some(Value::Object(given)) => given,
        Some(_) => return Err(Instead::refused("inputResponses", "an object is required")),
    };
    let good = |one: &Question| {
        let answer = given.get(one.key)?;
        answer.get(one.has).is_some().then(|| (one.key.to_owned(), answer.clone()))
    };
    let found: Option<Map<String, Value>> = questions.iter().map(good).collect();
    found.ok_or_else(|| ask(asked, questions, state))
}

/// A text in the content of an answer.
pub(super) fn content<'a>(answers: &'a Map<String, Value>, key: &str, field: &str) -> &'a str {
    let content = answers.get(key).and_then(|answer| answer.get("content"));
    content.and_then(|content| content.get(field)).and_then(Value::as_str).unwrap_or_default()
}

/// Seals a state for the same caller and the same request, for a while.
pub(super) fn sealed(asked: &Asked<'_>, state: &Value) -> Result<String, Instead> {
    let until = asked.now.plus_seconds(LIFETIME_S).unix_seconds();
    let body = BASE64.encode(json!({ "until": until, "state": state }).to_string());
    let seal = BASE64.encode(mac(asked, &body)?.finalize().into_bytes());
    Ok(format!("{body}.{seal}"))
}

/// The state that the client brought, if it brought one.
///
/// # Errors
/// It is not one of ours, not of this caller and request, or too old: all read the same.
pub(super) fn opened(asked: &Asked<'_>) -> Result<Option<Value>, Instead> {
    let Some(brought) = asked.params.get("requestState") else { return Ok(None) };
    let invalid = || Instead::refused("requestState", "not valid; send the request without it");
    let (body, seal) =
        brought.as_str().and_then(|text| text.split_once('.')).ok_or_else(invalid)?;
    let seal = BASE64.decode(seal).map_err(|_| invalid())?;
    mac(asked, body)?.verify_slice(&seal).map_err(|_| invalid())?;
    let json = BASE64.decode(body).map_err(|_| invalid())?;
    let mut content: Value = serde_json::from_slice(&json).map_err(|_| invalid())?;
    let until = content.get("until").and_then(Value::as_i64).ok_or_else(invalid)?;
    if until < asked.now.unix_seconds() {
        return Err(invalid());
    }
    Ok(content.get_mut("state").map(Value::take))
}

fn mac(asked: &Asked<'_>, body: &str) -> Result<Hmac<Sha256>, Instead> {
    let key = KEY.get().map(<[u8; 32]>::as_slice).unwrap_or_default();
    let of = json!([
        Uuid::from(asked.caller.tenant()),
        Uuid::from(asked.caller.user()),
        asked.method,
        asked.subject(),
        asked.params.get("arguments"),
        body,
    ]);
    let refused = |_| Instead::refused("requestState", "states cannot be sealed");
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(refused)?;
    mac.update(of.to_string().as_bytes());
    Ok(mac)
}
