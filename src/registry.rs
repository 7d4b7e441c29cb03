//! The registry: every tool and resource the server offers, and the one way to run any of them.

use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::auth::{Caller, Permission};
use crate::dates::Instant;
use crate::db::{Read, Session};
use crate::error::{Code, Error, Result};
use crate::http::arguments::parse;
use crate::http::describe::{input_schema, outline, output_schema};
use crate::reports::FigureKind;

/// A tool that only reads. The implementing type is its input; its doc comment is its description.
pub trait ReadTool: DeserializeOwned + JsonSchema + Serialize {
    /// The name clients call.
    const NAME: &'static str;
    /// What a caller's role must grant.
    const PERMISSION: Permission;
    /// Permissions of which any one opens the tool as well, where what it shows depends on which are held.
    const OR: &'static [Permission] = &[];
    /// How many ordinary calls it counts as for the rate limits.
    const WEIGHT: u32 = 1;
    /// What the tool answers.
    type Output: Serialize + JsonSchema;

    /// A call that the demo data can answer: shown in the docs, replayed by the tests.
    fn example() -> Self;

    /// Answers the call.
    ///
    /// # Errors
    /// An argument that cannot be met, a record that is not there, or a fault of ours.
    fn run(self, scope: &mut Read<'_>) -> Result<Self::Output>;
}

type Run = fn(&mut Read<'_>, &str, &mut Vec<u8>) -> Result<()>;
type Example = fn() -> Result<String>;

/// One registered tool.
#[derive(Debug)]
pub struct Tool {
    name: &'static str,
    permission: Permission,
    or: &'static [Permission],
    weight: u32,
    input: fn(&mut SchemaGenerator) -> Schema,
    output: fn(&mut SchemaGenerator) -> Schema,
    example: Example,
    run: Run,
}

impl Tool {
    /// Registers a reading tool.
    #[must_use]
    pub const fn read<T: ReadTool>() -> Self {
        fn run<T: ReadTool>(
            scope: &mut Read<'_>,
            arguments: &str,
            out: &mut Vec<u8>,
        ) -> Result<()> {
            Ok(serde_json::to_writer(out, &parse::<T>(arguments)?.run(scope)?)?)
        }
        Self {
            name: T::NAME,
            permission: T::PERMISSION,
            or: T::OR,
            weight: T::WEIGHT,
            input: T::json_schema,
            output: <T::Output as JsonSchema>::json_schema,
            example: || Ok(serde_json::to_string(&T::example())?),
            run: run::<T>,
        }
    }

    /// The name clients call.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The name people read: `Search clients`.
    #[must_use]
    pub fn title(&self) -> String {
        let words: Vec<_> =
            self.name.split('_').map(|word| if word == "i" { "I" } else { word }).collect();
        let words = words.join(" ");
        let mut letters = words.chars();
        letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// What a caller's role must grant.
    #[must_use]
    pub const fn permission(&self) -> Permission {
        self.permission
    }

    /// What opens it as well.
    #[must_use]
    pub const fn or(&self) -> &'static [Permission] {
        self.or
    }

    /// How many ordinary calls it counts as for the rate limits.
    #[must_use]
    pub const fn weight(&self) -> u32 {
        self.weight
    }

    /// The arguments of the example, as JSON.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn example(&self) -> Result<String> {
        (self.example)()
    }

    /// The one predicate: what it allows is listed and can be called; what it does not, does not exist.
    #[must_use]
    pub fn is_open_to(&self, caller: &Caller) -> bool {
        self.opening(caller).is_some()
    }

    /// The permission by which the caller may use the tool.
    fn opening(&self, caller: &Caller) -> Option<Permission> {
        let any = std::iter::once(self.permission).chain(self.or.iter().copied());
        any.into_iter().find(|permission| caller.may(*permission))
    }

    /// The whole schema of its answer, with what each field means.
    #[must_use]
    pub fn answer_schema(&self) -> Schema {
        output_schema(self.output)
    }

    /// The tool as `tools/list` shows it.
    #[must_use]
    pub fn describe(&self) -> serde_json::Value {
        let (description, input) = input_schema(self.input);
        json!({
            "name": self.name,
            "title": self.title(),
            "description": description,
            "inputSchema": input,
            "outputSchema": outline(&self.answer_schema()),
            "annotations": {
                "title": self.title(),
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            },
        })
    }

    /// Runs the tool in one read-only transaction and appends its answer, as JSON, to `out`.
    fn call(
        &self,
        session: &mut Session,
        caller: &Caller,
        now: Instant,
        arguments: &str,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let grant = caller.authorize(self.opening(caller).unwrap_or(self.permission))?;
        session.read(&grant, now, |scope| (self.run)(scope, arguments, out))
    }
}

/// Finds the values of a template's argument for what a person has typed, and how many there are.
type Complete = fn(&mut Read<'_>, &str) -> Result<(Vec<String>, i64)>;

/// A reading offered under an address, for clients that attach context instead of calling tools.
#[derive(Debug)]
pub struct Resource {
    uri: &'static str,
    title: &'static str,
    reading: Tool,
    /// The argument of the reading that a template's variable stands for.
    argument: Option<&'static str>,
    complete: Option<Complete>,
}

impl Resource {
    /// What `T` answers without arguments, under `uri`.
    #[must_use]
    pub const fn of<T: ReadTool>(uri: &'static str, title: &'static str) -> Self {
        Self { uri, title, reading: Tool::read::<T>(), argument: None, complete: None }
    }

    /// What `T` answers for the `argument` that the variable of the template `uri` stands for; `complete` finds values of it.
    #[must_use]
    pub const fn template<T: ReadTool>(
        uri: &'static str,
        title: &'static str,
        argument: &'static str,
        complete: Complete,
    ) -> Self {
        Self { argument: Some(argument), complete: Some(complete), ..Self::of::<T>(uri, title) }
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

    /// The name of the variable in a template.
    fn variable(&self) -> Option<&'static str> {
        let (_, rest) = self.uri.split_once('{')?;
        rest.split_once('}').map(|(name, _)| name)
    }

    /// The arguments of the reading that `uri` asks for, if it is one of these addresses.
    fn arguments(&self, uri: &str) -> Option<String> {
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

const TOOLS: &[&[Tool]] = &[
    crate::firm::TOOLS,
    crate::clients::TOOLS,
    crate::mandates::TOOLS,
    crate::invoicing::TOOLS,
    crate::payroll::TOOLS,
    crate::knowledge::TOOLS,
];
/// What the figures of reports are made of: each kind once.
const FIGURES: &[&[FigureKind]] = &[];
const RESOURCES: &[&[Resource]] =
    &[crate::firm::RESOURCES, crate::clients::RESOURCES, crate::knowledge::RESOURCES];

/// Every tool, in the order in which they are listed.
pub fn tools() -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().copied().flatten()
}

/// Every resource and template.
pub fn resources() -> impl Iterator<Item = &'static Resource> {
    RESOURCES.iter().copied().flatten()
}

/// The tool called `name`, if the caller may use it.
///
/// # Errors
/// There is none, or none for this caller: both read the same.
pub fn tool_for(caller: &Caller, name: &str) -> Result<&'static Tool> {
    tools()
        .find(|tool| tool.name == name && tool.is_open_to(caller))
        .ok_or_else(|| Error::refuse(Code::UnknownTool, "unknown tool"))
}

/// The kind of figure that a handle names.
pub fn figure_kind(tag: u8) -> Option<&'static FigureKind> {
    FIGURES.iter().copied().flatten().find(|kind| kind.tag() == tag)
}

/// Runs a tool for its caller and appends its answer to `out`.
///
/// # Errors
/// Those of the tool.
pub fn call(
    tool: &Tool,
    session: &mut Session,
    caller: &Caller,
    now: Instant,
    arguments: &str,
    out: &mut Vec<u8>,
) -> Result<()> {
    tool.call(session, caller, now, arguments, out)
}

/// Reads the resource under `uri` and appends it to `out`.
///
/// # Errors
/// There is none, none for this caller, or no such record: all read the same.
pub fn read_resource(
    session: &mut Session,
    caller: &Caller,
    now: Instant,
    uri: &str,
    out: &mut Vec<u8>,
) -> Result<()> {
    let not_found = || Error::not_found("resource");
    let open = resources().filter(|resource| resource.reading.is_open_to(caller));
    let mut matching = open.filter_map(|resource| Some((resource, resource.arguments(uri)?)));
    let (resource, arguments) = matching.next().ok_or_else(not_found)?;
    match resource.reading.call(session, caller, now, &arguments, out) {
        Err(Error::Refused(_)) => Err(not_found()),
        outcome => outcome,
    }
}

/// Completes the argument `name` of the template `uri` for what a person has typed. Whoever may not read it, and whoever
/// asks for a template or an argument that is not there, gets an empty list.
///
/// # Errors
/// What was typed is too long; the database is away.
pub fn complete(
    session: &mut Session,
    caller: &Caller,
    now: Instant,
    (uri, name): (&str, &str),
    typed: &str,
) -> Result<(Vec<String>, i64)> {
    let mut named = resources().filter(|one| one.uri == uri && one.variable() == Some(name));
    let open = named.find(|one| one.reading.is_open_to(caller));
    match open.and_then(|one| Some((one.reading.opening(caller)?, one.complete?))) {
        Some((permission, complete)) => {
            session.read(&caller.authorize(permission)?, now, |scope| complete(scope, typed))
        }
        None => Ok((vec![], 0)),
    }
}

/// The entries of `of` that the caller may use, each written once for all callers, as a JSON list.
fn listed<T: 'static>(texts: &[(&'static T, String)], is_open: impl Fn(&T) -> bool) -> String {
    let open = texts.iter().filter(|(entry, _)| is_open(entry));
    format!("[{}]", open.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(","))
}

/// The tools of `tools/list` for `caller`, as a JSON list.
#[must_use]
pub fn list_tools(caller: &Caller) -> String {
    static TEXTS: LazyLock<Vec<(&Tool, String)>> =
        LazyLock::new(|| tools().map(|tool| (tool, tool.describe().to_string())).collect());
    listed(&TEXTS, |tool| tool.is_open_to(caller))
}

static RESOURCE_TEXTS: LazyLock<Vec<(&Resource, String)>> =
    LazyLock::new(|| resources().map(|one| (one, one.describe().to_string())).collect());

/// The resources of `resources/list` for `caller`, as a JSON list.
#[must_use]
pub fn list_resources(caller: &Caller) -> String {
    listed(&RESOURCE_TEXTS, |one| !one.is_template() && one.reading.is_open_to(caller))
}

/// The templates of `resources/templates/list` for `caller`, as a JSON list.
#[must_use]
pub fn list_templates(caller: &Caller) -> String {
    listed(&RESOURCE_TEXTS, |one| one.is_template() && one.reading.is_open_to(caller))
}
