//! JSON Schema that every client understands: inlined, no `$ref`, no `anyOf`, one type per property.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, transform_subschemas};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// The description of an input type and its schema without it.
#[must_use]
pub fn input_schema(of: fn(&mut SchemaGenerator) -> Schema) -> (String, Schema) {
    let mut schema = plain(of, SchemaSettings::for_deserialize);
    let description = match schema.remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    (description, schema)
}

/// The whole schema of an answer, for the reference. Fields may be added to it later, so it does not close the object.
#[must_use]
pub fn output_schema(of: fn(&mut SchemaGenerator) -> Schema) -> Schema {
    plain(of, SchemaSettings::for_serialize)
}

/// What `tools/list` says of an answer: that it is an object. Lists of tools are read by models, which pay for every
/// word, and an answer explains itself; the reference has the whole schema.
#[must_use]
pub fn outline() -> Value {
    serde_json::json!({ "type": "object" })
}

/// The schemas of an input and an answer as their types give them, with what enumerations say of themselves.
#[must_use]
pub fn raw_schemas(
    input: fn(&mut SchemaGenerator) -> Schema,
    output: fn(&mut SchemaGenerator) -> Schema,
) -> (Schema, Schema) {
    (raw(input, SchemaSettings::for_deserialize), raw(output, SchemaSettings::for_serialize))
}

fn raw(
    of: fn(&mut SchemaGenerator) -> Schema,
    contract: fn(SchemaSettings) -> SchemaSettings,
) -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.meta_schema = None;
        s.inline_subschemas = true;
    });
    of(&mut contract(settings).into_generator())
}

fn plain(
    of: fn(&mut SchemaGenerator) -> Schema,
    contract: fn(SchemaSettings) -> SchemaSettings,
) -> Schema {
    let mut schema = raw(of, contract);
    schema.ensure_object().entry("properties").or_insert_with(|| Value::Object(Map::new()));
    simplify(&mut schema);
    transform_subschemas(&mut RecursiveTransform(simplify), &mut schema);
    schema
}

/// What may be absent has the schema of its value: `required` says so. A null argument is read as absent; an answer
/// leaves the field out.
fn simplify(schema: &mut Schema) {
    if schema.as_bool().is_some() {
        return; // additionalProperties: false
    }
    if let Some(Value::Array(any)) = schema.remove("anyOf") {
        let mut options = any.into_iter().filter(|one| one.get("type").is_none_or(|t| t != "null"));
        if let (Some(Value::Object(value)), None) = (options.next(), options.next()) {
            let outer = schema.ensure_object();
            value.into_iter().for_each(|(key, inner)| join(outer, key, inner));
        }
    }
    let object = schema.ensure_object();
    if let Some(types) = object.get("type").and_then(Value::as_array) {
        let first = types.iter().find(|t| *t != "null").cloned();
        object.insert("type".to_owned(), first.unwrap_or_default());
    }
    if let Some(values) = object.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    for noise in ["title", "default", "x-enumeration"] {
        object.remove(noise);
    }
    if object.get("type").is_some_and(|t| t == "integer" || t == "number") {
        object.remove("format"); // int64, uint32: no client knows them
    }
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

/// The field says what it is for, its type what the values mean: both are the description.
fn join(outer: &mut Map<String, Value>, key: String, inner: Value) {
    match (outer.get_mut(&key), &inner) {
        (Some(Value::String(field)), Value::String(of_type)) if key == "description" => {
            *field = format!("{field} {of_type}");
        }
        _ => {
            outer.insert(key, inner);
        }
    }
}
