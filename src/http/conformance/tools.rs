//! Fixture tools.

use serde_json::{Value, json};

use super::input::{self, elicit, roots, sample, sealed};
use super::{Answer, Asked, Instead, PNG};
use crate::http::envelope::Era;

/// One fixture tool.
struct Fixture {
    name: &'static str,
    input: fn() -> Value,
    run: fn(&Asked<'_>) -> Answer,
}

impl Fixture {
    const fn plain(name: &'static str, run: fn(&Asked<'_>) -> Answer) -> Self {
        Self { name, input: || json!({ "type": "object", "additionalProperties": false }), run }
    }
}

/// A WAV file without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const FIXTURES: &[Fixture] = &[
    Fixture::plain("test_simple_text", |_| Ok(text("This is a simple text response for testing."))),
    Fixture::plain("test_image_content", |_| Ok(json!({ "content": [image()] }))),
    Fixture::plain("test_audio_content", |_| {
        Ok(json!({ "content": [{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }] }))
    }),
    Fixture::plain("test_embedded_resource", |_| {
        let said = "This is an embedded resource content.";
        let resource =
            json!({ "uri": "test://embedded-resource", "mimeType": "text/plain", "text": said });
        Ok(json!({ "content": [{ "type": "resource", "resource": resource }] }))
    }),
    Fixture::plain("test_multiple_content_types", |_| Ok(mixed())),
    Fixture::plain("test_error_handling", |_| {
        let mut members = text("This tool intentionally returns an error for testing");
        if let Some(object) = members.as_object_mut() {
            object.insert("isError".to_owned(), true.into());
        }
        Ok(members)
    }),
    Fixture::plain("test_tool_with_progress", progress),
    Fixture::plain("test_tool_with_logging", logging),
    Fixture::plain("test_logging_tool", logging),
    Fixture {
        name: "json_schema_2020_12_tool",
        input: schema,
        run: |_| Ok(text("The schema fits.")),
    },
    Fixture::plain("test_missing_capability", |asked| {
        input::answers(asked, &[sample("sampled", "Say something.")], None)?;
        Ok(text("Sampled."))
    }),
    Fixture::plain("test_streaming_elicitation", |asked| {
        input::answers(asked, &[elicit("confirm", "Please confirm", "ok", "boolean")], None)?;
        Ok(text("Confirmed."))
    }),
    Fixture::plain("test_input_required_result_elicitation", |asked| {
        let question = elicit("user_name", "What is your name?", "name", "string");
        let answers = input::answers(asked, &[question], None)?;
        Ok(text(&format!("Hello, {}!", input::content(&answers, "user_name", "name"))))
    }),
    Fixture::plain("test_input_required_result_sampling", |asked| {
        let question = sample("capital_question", "What is the capital of France?");
        let answers = input::answers(asked, &[question], None)?;
        Ok(text(input::content(&answers, "capital_question", "text")))
    }),
    Fixture::plain("test_input_required_result_list_roots", |asked| {
        let answers = input::answers(asked, &[roots("client_roots")], None)?;
        let found = answers.get("client_roots").and_then(|answer| answer.get("roots"));
        Ok(text(&format!("Roots: {}", found.unwrap_or(&Value::Null))))
    }),
    Fixture::plain("test_input_required_result_request_state", with_state),
    Fixture::plain("test_input_required_result_tampered_state", with_state),
    Fixture::plain("test_input_required_result_multiple_inputs", |asked| {
        let questions = [
            elicit("user_name", "What is your name?", "name", "string"),
            sample("greeting", "Generate a greeting"),
            roots("client_roots"),
        ];
        input::opened(asked)?;
        input::answers(asked, &questions, Some(sealed(asked, &json!(1))?))?;
        Ok(text("All three arrived."))
    }),
    Fixture::plain("test_input_required_result_multi_round", rounds),
    Fixture::plain("test_input_required_result_capabilities", |asked| {
        let mut questions = vec![
            elicit("user_name", "What is your name?", "name", "string"),
            sample("greeting", "Generate a greeting"),
            roots("client_roots"),
        ];
        questions.retain(|question| asked.has_declared(question.capability));
        input::answers(asked, &questions, None)?;
        Ok(text("What the client can answer was asked."))
    }),
];

/// The fixtures as `tools/list` shows them.
pub(super) fn listed() -> Vec<Value> {
    let described = |fixture: &Fixture| {
        let description = format!("Fixture of the conformance suite: {}.", fixture.name);
        json!({ "name": fixture.name, "description": description, "inputSchema": (fixture.input)() })
    };
    FIXTURES.iter().map(described).collect()
}

/// Calls a fixture, if the name is one's.
pub(super) fn call(asked: &Asked<'_>) -> Option<Answer> {
    let fixture = FIXTURES.iter().find(|fixture| fixture.name == asked.subject())?;
    Some((fixture.run)(asked))
}

fn text(said: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": said }] })
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn mixed() -> Value {
    let resource = json!({
        "uri": "test://mixed-content-resource",
        "mimeType": "application/json",
        "text": r#"{"test":"data","value":123}"#,
    });
    json!({
        "content": [
            { "type": "text", "text": "Multiple content types test:" },
            image(),
            { "type": "resource", "resource": resource },
        ],
    })
}

/// Progress is reported to whoever gave a token for it.
fn progress(asked: &Asked<'_>) -> Answer {
    let members = text("Three steps were done.");
    let Some(token) = asked.meta("progressToken") else { return Ok(members) };
    let step = |done: u32| {
        let params = json!({ "progressToken": token, "progress": done, "total": 100 });
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
    };
    Err(Instead::Streamed([0, 50, 100].map(step).to_vec(), members))
}

/// The log goes to clients of the handshake, and since 2026 to whoever asks for it in the request.
fn logging(asked: &Asked<'_>) -> Answer {
    let members = text("The tool ran.");
    if asked.era == Era::Modern && asked.meta("io.modelcontextprotocol/logLevel").is_none() {
        return Ok(members);
    }
    let line = |said: &str| {
        let params = json!({ "level": "info", "data": said });
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
    };
    let said = ["Tool execution started", "Tool processing data", "Tool execution completed"];
    Err(Instead::Streamed(said.map(line).to_vec(), members))
}

fn with_state(asked: &Asked<'_>) -> Answer {
    let state = input::opened(asked)?;
    let question = elicit("confirm", "Please confirm", "ok", "boolean");
    if state.is_none() {
        return Err(input::ask(asked, &[question], Some(sealed(asked, &json!(1))?)));
    }
    input::answers(asked, &[question], Some(sealed(asked, &json!(1))?))?;
    Ok(text("state-ok"))
}

/// The state says how far the client is: nothing, the first question, or the first answer and the second question.
fn rounds(asked: &Asked<'_>) -> Answer {
    let first = elicit("step1", "Step 1: What is your name?", "name", "string");
    let second = elicit("step2", "Step 2: What is your favorite color?", "color", "string");
    match input::opened(asked)? {
        None => Err(input::ask(asked, &[first], Some(sealed(asked, &json!({}))?))),
        Some(state) => match state.get("name").and_then(Value::as_str) {
            None => {
                let answers = input::answers(asked, &[first], Some(sealed(asked, &json!({}))?))?;
                let reached = json!({ "name": input::content(&answers, "step1", "name") });
                Err(input::ask(asked, &[second], Some(sealed(asked, &reached)?)))
            }
            Some(name) => {
                let answers = input::answers(asked, &[second], Some(sealed(asked, &state)?))?;
                let color = input::content(&answers, "step2", "color");
                Ok(text(&format!("{name} likes {color}.")))
            }
        },
    }
}

/// A schema with what newer dialects know.
fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
