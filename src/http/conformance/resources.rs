//! Fixture resources.

use serde_json::{Value, json};

use super::{Answer, PNG};

/// The fixtures as `resources/list` shows them.
pub(super) fn listed() -> Vec<Value> {
    let one = |(uri, name, kind): (&str, &str, &str)| json!({ "uri": uri, "name": name, "description": format!("Fixture: {name}."), "mimeType": kind });
    [
        ("test://static-text", "static_text", "text/plain"),
        ("test://static-binary", "static_binary", "image/png"),
        ("test://watched-resource", "watched_resource", "text/plain"),
    ]
    .map(one)
    .to_vec()
}

/// The fixtures as `resources/templates/list` shows them.
pub(super) fn templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "Fixture: what the address says.",
        "mimeType": "application/json",
    })]
}

/// Reads a fixture, if the address is one's.
pub(super) fn read(uri: &str) -> Option<Answer> {
    let text = |said: &str| json!({ "uri": uri, "mimeType": "text/plain", "text": said });
    let content = match uri {
        "test://static-text" => text("This is the content of the static text resource."),
        "test://static-binary" => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        "test://watched-resource" => text("Nothing happens here."),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let said =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            json!({ "uri": uri, "mimeType": "application/json", "text": said.to_string() })
        }
    };
    Some(Ok(json!({ "contents": [content] })))
}
