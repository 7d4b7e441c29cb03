//! Schemas that every client understands, within the room that clients give them.

use guichet::registry::tools;
use serde_json::Value;

/// Walks a schema and checks every subschema.
fn check(path: &str, schema: &Value, is_described: bool) {
    if schema.is_boolean() {
        return;
    }
    let object = schema.as_object().unwrap_or_else(|| panic!("{path}: {schema}"));
    for unknown in ["$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "if", "prefixItems"] {
        assert!(!object.contains_key(unknown), "{path} has {unknown}");
    }
    assert!(object["type"].is_string(), "{path} has no single type: {schema}");
    if let Some(text) = object.get("description").and_then(Value::as_str) {
        assert!(text.len() < 1_000 && !text.contains('\n'), "{path}: {text}");
    }
    for (name, inner) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let described = inner.get("description").and_then(Value::as_str).unwrap_or_default();
        assert!(!described.is_empty() || !is_described, "{path}.{name} is not described");
        check(&format!("{path}.{name}"), inner, is_described);
    }
    if let Some(items) = object.get("items") {
        check(&format!("{path}[]"), items, is_described);
    }
}

#[test]
fn every_schema_is_plain_and_every_argument_described() {
    for tool in tools() {
        let described = tool.describe();
        let name = described["name"].as_str().unwrap();
        assert!(name.len() <= 64 && name.bytes().all(|b| b == b'_' || b.is_ascii_lowercase()));
        let text = described["description"].as_str().unwrap();
        assert!((80..1_000).contains(&text.len()), "{name}: {} characters", text.len());
        assert!(text.contains('('), "{name} glosses no French and German terms");
        let input = &described["inputSchema"];
        assert_eq!(input["type"], "object", "{name}");
        assert_eq!(input["additionalProperties"], false, "{name}");
        assert!(input["properties"].is_object(), "{name}");
        check(name, input, true);
        check(name, &described["outputSchema"], false);
        check(name, tool.answer_schema().as_value(), true);
        let hints = &described["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{name} {hint}");
        }
        assert!(hints["title"].is_string());
    }
}

#[test]
fn every_optional_argument_says_what_its_absence_means() {
    for tool in tools() {
        let described = tool.describe();
        let input = &described["inputSchema"];
        let required: Vec<&str> =
            input["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, schema) in input["properties"].as_object().unwrap() {
            let text = schema["description"].as_str().unwrap();
            let is_said = text.contains("by default");
            assert!(required.contains(&name.as_str()) || is_said, "{} {name}: {text}", tool.name());
        }
    }
}
