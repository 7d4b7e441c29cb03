//! Strict reading of arguments: an object, no unknown and no repeated name, a refusal that says where and what instead.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};

use crate::error::{Error, Result};

/// A struct that is read from a JSON object only; serde alone would also take a list of its fields.
#[derive(Debug, Clone, Copy, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

/// Reads a tool's arguments.
///
/// # Errors
/// [`crate::error::Code::InvalidArgument`] with the path of the argument at fault.
pub fn parse<T: DeserializeOwned>(arguments: &str) -> Result<T> {
    let mut json = serde_json::Deserializer::from_str(arguments);
    let Object(input) = serde_path_to_error::deserialize(&mut json).map_err(|e| refusal(&e))?;
    json.end().map_err(|e| Error::argument("arguments", e.to_string()))?;
    Ok(input)
}

/// serde names the parent for unknown, missing and repeated fields: the name is cut from its message.
fn refusal(error: &serde_path_to_error::Error<serde_json::Error>) -> Error {
    let path = error.path().to_string();
    let said = error.inner().to_string();
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(message, _)| message);
    let name = ["unknown field `", "missing field `", "duplicate field `"]
        .iter()
        .find_map(|start| said.strip_prefix(start)?.split('`').next());
    let field = match (path.as_str(), name) {
        (".", Some(name)) => name.to_owned(),
        (".", None) => "arguments".to_owned(),
        (path, Some(name)) if !path.ends_with(name) => format!("{path}.{name}"),
        (path, _) => path.to_owned(),
    };
    let message = reworded(said, name.unwrap_or_default(), &field);
    Error::argument(field, message)
}

/// What serde said, in words for whoever writes JSON; a value that was sent is not repeated.
fn reworded(said: &str, name: &str, field: &str) -> String {
    let expected = said.rsplit_once(", expected ").map_or("", |(_, expected)| expected);
    if said.starts_with("unknown field") {
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        return match nearest(name, &known) {
            Some(known) => format!("unknown argument {name}; did you mean {known}?"),
            None if known.is_empty() => format!("unknown argument {name}; this takes none"),
            None => format!("unknown argument {name}; known are {}", known.join(", ")),
        };
    }
    if said.starts_with("missing field") {
        return format!("argument {field} is required");
    }
    if said.starts_with("duplicate field") {
        return format!("argument {field} is given twice");
    }
    if said.starts_with("unknown variant") {
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        return format!("{field} must be one of {}", known.join(", "));
    }
    for start in ["invalid type: ", "invalid value: "] {
        if let Some(got) = said.strip_prefix(start) {
            let got = got.split([' ', ',']).next().unwrap_or_default();
            let (wanted, got) = (kind(expected), kind(got));
            let got = if wanted == got { "one below 0 or out of range" } else { got };
            return format!("{field} must be {wanted}, not {got}");
        }
    }
    if said == "expected value" {
        return format!("{field} must be one of the words that its schema lists");
    }
    format!("{field}: {said}")
}

/// A type as JSON calls it.
fn kind(word: &str) -> &str {
    match word {
        "i64" | "i32" | "i16" | "u64" | "u32" | "u16" | "u8" | "usize" | "integer" => "an integer",
        "a string" | "a borrowed string" | "string" => "a string",
        "a boolean" | "boolean" => "true or false",
        "floating" => "a number with decimals",
        "sequence" | "a sequence" => "a list",
        "map" => "an object",
        "unit" | "null" => "null",
        other => other,
    }
}

fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(name, known), *known));
    let (distance, best) = near.min()?;
    (distance <= name.len().max(best.len()) / 2).then_some(best)
}
