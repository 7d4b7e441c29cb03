//! Fixture prompts.

use serde_json::{Value, json};

use super::input::{self, elicit};
use super::{Answer, Asked, Instead, PNG};

/// Name and required arguments of each.
const PROMPTS: &[(&str, &[&str])] = &[
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
    ("test_input_required_result_prompt", &[]),
];

/// The fixtures as `prompts/list` shows them.
pub(super) fn listed() -> Vec<Value> {
    let argument = |name: &&str| json!({ "name": name, "description": format!("Fixture: {name}."), "required": true });
    let one = |(name, arguments): &(&str, &[&str])| {
        let arguments: Vec<_> = arguments.iter().map(argument).collect();
        json!({ "name": name, "description": format!("Fixture: {name}."), "arguments": arguments })
    };
    PROMPTS.iter().map(one).collect()
}

/// The messages of a prompt, if it is a fixture.
pub(super) fn get(asked: &Asked<'_>) -> Option<Answer> {
    let is_fixture = PROMPTS.iter().any(|(name, _)| *name == asked.subject());
    is_fixture.then(|| filled(asked))
}

fn filled(asked: &Asked<'_>) -> Answer {
    let text = |said: &str| json!({ "type": "text", "text": said });
    let contents = match asked.subject() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (asked.argument("arg1")?, asked.argument("arg2")?);
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let said = "Embedded resource content for testing.";
            let uri = asked.argument("resourceUri")?;
            let resource = json!({ "uri": uri, "mimeType": "text/plain", "text": said });
            vec![
                json!({ "type": "resource", "resource": resource }),
                text("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => vec![
            json!({ "type": "image", "data": PNG, "mimeType": "image/png" }),
            text("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => {
            let message = "What context should the prompt use?";
            let question = elicit("user_context", message, "context", "string");
            let answers = input::answers(asked, &[question], None)?;
            vec![text(&format!("Context: {}", input::content(&answers, "user_context", "context")))]
        }
        _ => return Err(Instead::refused("name", "unknown prompt")),
    };
    let message = |content: Value| json!({ "role": "user", "content": content });
    Ok(json!({ "messages": contents.into_iter().map(message).collect::<Vec<_>>() }))
}
