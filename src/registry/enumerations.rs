//! Every enumeration that tools speak in, read from their schemas.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Tool, tools};
use crate::auth::Caller;
use crate::http::describe::raw_schemas;

/// A word of the API that stands for one of a few values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Enumeration {
    /// Its name: `document_state`.
    name: String,
    /// What it says.
    meaning: String,
    /// Its values, in their order.
    values: Vec<EnumeratedValue>,
    /// The arguments that take it, as tool.argument; none if only answers hold it.
    arguments: Vec<String>,
}

/// A value of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EnumeratedValue {
    /// How it is written.
    value: String,
    /// What it means.
    meaning: String,
}

/// The enumerations of the tools that the caller may use, by name.
#[must_use]
pub fn enumerations(caller: &Caller) -> Vec<Enumeration> {
    static OF_TOOLS: LazyLock<Vec<(&Tool, Vec<Enumeration>)>> =
        LazyLock::new(|| tools().map(|tool| (tool, of_tool(tool))).collect());
    let mut all: Vec<Enumeration> = vec![];
    let open = OF_TOOLS.iter().filter(|(tool, _)| tool.is_open_to(caller));
    for one in open.flat_map(|(_, enumerations)| enumerations) {
        match all.iter_mut().find(|known| known.name == one.name) {
            Some(known) => known.arguments.extend_from_slice(&one.arguments),
            None => all.push(one.clone()),
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// The enumerations of one tool, once for each place where one stands.
fn of_tool(tool: &Tool) -> Vec<Enumeration> {
    let (input, output) = raw_schemas(tool.input, tool.output);
    let mut found = vec![];
    let arguments = input.get("properties").and_then(Value::as_object);
    for (argument, schema) in arguments.into_iter().flatten() {
        let path = format!("{}.{argument}", tool.name());
        collect(schema, &[path], &mut found);
    }
    collect(output.as_value(), &[], &mut found);
    found
}

fn collect(schema: &Value, arguments: &[String], found: &mut Vec<Enumeration>) {
    found.extend(enumeration(schema, arguments));
    let inner: Vec<&Value> = match schema {
        Value::Object(members) => members.values().collect(),
        Value::Array(entries) => entries.iter().collect(),
        _ => vec![],
    };
    for schema in inner {
        collect(schema, arguments, found);
    }
}

/// The enumeration that a schema is of, if it is.
fn enumeration(schema: &Value, arguments: &[String]) -> Option<Enumeration> {
    let about = schema.get("x-enumeration")?;
    let of = |name: &str| about.get(name)?.as_str().map(str::to_owned);
    let values = schema.get("enum")?.as_array()?.iter().filter_map(Value::as_str);
    let meanings = about.get("meanings")?.as_array()?.iter().filter_map(Value::as_str);
    let value = |(value, meaning): (&str, &str)| {
        let [value, meaning] = [value, meaning].map(str::to_owned);
        EnumeratedValue { value, meaning }
    };
    Some(Enumeration {
        name: snake_case(&of("name")?),
        meaning: of("about")?,
        values: values.zip(meanings).map(value).collect(),
        arguments: arguments.to_vec(),
    })
}

/// `DocumentState` as `document_state`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
