//! Readings under an address.

use serde_json::json;

use super::{ReadTool, Tool};
use crate::http::describe::input_schema;

/// A reading offered under an address, for clients that attach context instead of calling tools.
#[derive(Debug)]
pub struct Resource {
    uri: &'static str,
    title: &'static str,
    reading: Tool,
    /// The argument of the reading that a template's variable stands for.
    argument: Option<&'static str>,
}

impl Resource {
    /// What `T` answers without arguments, under `uri`.
    #[must_use]
    pub const fn of<T: ReadTool>(uri: &'static str, title: &'static str) -> Self {
        Self { uri, title, reading: Tool::read::<T>(), argument: None }
    }

    /// What `T` answers for the `argument` that the variable of the template `uri` stands for.
    #[must_use]
    pub const fn template<T: ReadTool>(
        uri: &'static str,
        title: &'static str,
        argument: &'static str,
    ) -> Self {
        Self { argument: Some(argument), ..Self::of::<T>(uri, title) }
    }

    /// The same, whatever toolsets a request narrows itself to.
    #[must_use]
    pub const fn in_every_toolset(self) -> Self {
        Self { reading: self.reading.in_every_toolset(), ..self }
    }

    /// The address, or the template of addresses.
    #[must_use]
    pub const fn uri(&self) -> &'static str {
        self.uri
    }

    /// The reading behind it.
    #[must_use]
    pub const fn reading(&self) -> &Tool {
        &self.reading
    }

    /// Whether the address is a template.
    #[must_use]
    pub const fn is_template(&self) -> bool {
        self.argument.is_some()
    }

    /// The argument that `variable` stands for, if this is the template `uri` and has it.
    pub(super) fn argument_of(&self, uri: &str, variable: &str) -> Option<&'static str> {
        let (_, rest) = self.uri.split_once('{').filter(|_| self.uri == uri)?;
        self.argument.filter(|_| rest.split_once('}').is_some_and(|(name, _)| name == variable))
    }

    /// The arguments of the reading that `uri` asks for, if it is one of these addresses.
    pub(super) fn arguments(&self, uri: &str) -> Option<String> {
        match self.argument {
            None => (uri == self.uri).then(|| "{}".to_owned()),
            Some(name) => {
                let value = uri.strip_prefix(self.uri.split('{').next()?)?;
                Some(json!({ name: value }).to_string())
            }
        }
    }

    /// The resource as its list shows it.
    #[must_use]
    pub fn describe(&self) -> serde_json::Value {
        let (description, _) = input_schema(self.reading.input);
        let address = if self.is_template() { "uriTemplate" } else { "uri" };
        json!({
            address: self.uri,
            "name": self.reading.name,
            "title": self.title,
            "description": description,
            "mimeType": "application/json",
        })
    }
}
