//! Instructions for recurring work.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::title;
use crate::error::Result;
use crate::http::arguments::parse;
use crate::http::describe::input_schema;

/// Instructions for a piece of work that comes back. The implementing type is its arguments, each of which is written as
/// text; its doc comment is its description.
pub trait Instructions: DeserializeOwned + JsonSchema + Serialize {
    /// The name clients ask for.
    const NAME: &'static str;
    /// The tools that the text tells to use: who may not use all of them has no such prompt.
    const TOOLS: &'static [&'static str];

    /// Arguments that the demo data has, for the tests.
    fn example() -> Self;

    /// What a model is told.
    fn text(&self) -> String;
}

/// One registered prompt.
#[derive(Debug)]
pub struct Prompt {
    name: &'static str,
    tools: &'static [&'static str],
    input: fn(&mut SchemaGenerator) -> Schema,
    example: fn() -> Result<String>,
    text: fn(&str) -> Result<String>,
}

impl Prompt {
    /// Registers instructions.
    #[must_use]
    pub const fn of<T: Instructions>() -> Self {
        Self {
            name: T::NAME,
            tools: T::TOOLS,
            input: T::json_schema,
            example: || Ok(serde_json::to_string(&T::example())?),
            text: |arguments| Ok(parse::<T>(arguments)?.text()),
        }
    }

    /// The name clients ask for.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The tools that its text tells to use.
    #[must_use]
    pub const fn tools(&self) -> &'static [&'static str] {
        self.tools
    }

    /// Its example arguments, as JSON.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn example(&self) -> Result<String> {
        (self.example)()
    }

    /// The prompt as `prompts/list` shows it.
    #[must_use]
    pub fn describe(&self) -> Value {
        let (description, input) = input_schema(self.input);
        let schema = input.as_value();
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let argument = |(name, property): (&String, &Value)| {
            let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
            json!({ "name": name, "description": property.get("description"), "required": is_required })
        };
        let mut arguments: Vec<_> = properties.into_iter().flatten().map(argument).collect();
        arguments.sort_by_key(|argument| argument.get("required") != Some(&true.into()));
        json!({
            "name": self.name,
            "title": title(self.name),
            "description": description,
            "arguments": arguments,
        })
    }

    /// Whether it has an argument of this name.
    pub(super) fn has_argument(&self, name: &str) -> bool {
        let (_, input) = input_schema(self.input);
        input.get("properties").and_then(|all| all.get(name)).is_some()
    }

    /// The members of the answer to `prompts/get`.
    pub(super) fn fill(&self, arguments: &str) -> Result<Value> {
        let (description, _) = input_schema(self.input);
        let content = json!({ "type": "text", "text": (self.text)(arguments)? });
        let messages = [json!({ "role": "user", "content": content })];
        Ok(json!({ "description": description, "messages": messages }))
    }
}
