//! The registry: every tool, resource and prompt the server offers, and the one way to run any of them.

mod completion;
mod enumerations;
mod narrowing;
mod prompt;
mod resource;

pub use completion::{Completion, MOST_SUGGESTIONS, Suggestions, Typed};
pub use enumerations::{EnumeratedValue, Enumeration, enumerations};
pub use narrowing::{Narrowing, View};
pub use prompt::{Instructions, Prompt};
pub use resource::Resource;

use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::auth::{Caller, Permission};
use crate::dates::Instant;
use crate::db::{Read, Session};
use crate::error::{Code, Error, Result};
pub use crate::http::arguments::Object;
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
    is_reading: bool,
    is_in_every_toolset: bool,
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
            is_reading: true,
            is_in_every_toolset: false,
            input: T::json_schema,
            output: <T::Output as JsonSchema>::json_schema,
            example: || Ok(serde_json::to_string(&T::example())?),
            run: run::<T>,
        }
    }

    /// The same tool, whatever toolsets a request narrows itself to.
    #[must_use]
    pub const fn in_every_toolset(self) -> Self {
        Self { is_in_every_toolset: true, ..self }
    }

    /// Whether every toolset has it.
    #[must_use]
    pub const fn is_in_every_toolset(&self) -> bool {
        self.is_in_every_toolset
    }

    /// The name clients call.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The name people read: `Search clients`.
    #[must_use]
    pub fn title(&self) -> String {
        title(self.name)
    }

    /// What a caller's role must grant.
    #[must_use]
    pub const fn permission(&self) -> Permission {
        self.permission
    }

    /// The permissions of which any one opens the tool.
    pub fn opened_by(&self) -> impl Iterator<Item = Permission> {
        std::iter::once(self.permission).chain(self.or.iter().copied())
    }

    /// Whether the caller holds a permission that opens the tool.
    #[must_use]
    pub fn is_open_to(&self, caller: &Caller) -> bool {
        self.opened_by().any(|permission| caller.may(permission))
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

    /// The whole schema of its answer, with what each field means.
    #[must_use]
    pub fn answer_schema(&self) -> Schema {
        output_schema(self.output)
    }

    /// The tool as `tools/list` shows it.
    #[must_use]
    pub fn describe(&self) -> Value {
        let (description, input) = input_schema(self.input);
        json!({
            "name": self.name,
            "description": description,
            "inputSchema": input,
            "outputSchema": outline(),
            "annotations": {
                "title": self.title(),
                "readOnlyHint": self.is_reading,
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
        let held = self.opened_by().find(|permission| caller.may(*permission));
        let grant = caller.authorize(held.unwrap_or(self.permission))?;
        session.read(&grant, now, |scope| (self.run)(scope, arguments, out))
    }
}

/// A name as people read it: `search_clients`, Search clients.
fn title(name: &str) -> String {
    let words: Vec<_> = name.split('_').map(|word| if word == "i" { "I" } else { word }).collect();
    let words = words.join(" ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Every tool, under the toolset that a request may narrow itself to: `?toolsets=billing,payroll`.
const TOOLSETS: &[(&str, &[Tool])] = &[
    ("firm", crate::firm::TOOLS),
    ("clients", crate::clients::TOOLS),
    ("mandates", crate::mandates::TOOLS),
    ("billing", crate::invoicing::TOOLS),
    ("billing", crate::banking::TOOLS),
    ("vat", crate::vat::TOOLS),
    ("payroll", crate::payroll::TOOLS),
    ("ledger", crate::ledger::TOOLS),
    ("ledger", crate::reports::TOOLS),
    ("audit", crate::proposals::TOOLS),
    ("audit", crate::audit::TOOLS),
    ("work", crate::tasks::TOOLS),
    ("work", crate::time::TOOLS),
    ("work", crate::projects::TOOLS),
    ("documents", crate::documents::TOOLS),
    ("knowledge", crate::knowledge::TOOLS),
];
/// Every resource and template, under the toolset of what it shows.
const RESOURCES: &[(&str, &[Resource])] = &[
    ("firm", crate::firm::RESOURCES),
    ("clients", crate::clients::RESOURCES),
    ("mandates", crate::mandates::RESOURCES),
    ("payroll", crate::payroll::RESOURCES),
    ("knowledge", crate::knowledge::RESOURCES),
];
/// What the figures of reports are made of: each kind once.
const FIGURES: &[&[FigureKind]] =
    &[crate::invoicing::FIGURES, crate::ledger::FIGURES, crate::vat::FIGURES, crate::time::FIGURES];
/// How arguments of prompts and templates are completed.
const COMPLETIONS: &[Completion] = &[
    crate::clients::COMPLETION,
    crate::mandates::COMPLETION,
    crate::payroll::COMPLETION,
    crate::ledger::COMPLETION,
];

/// Entries, each with its toolset.
fn with_toolset<T>(
    parts: &'static [(&'static str, &'static [T])],
) -> impl Iterator<Item = (&'static str, &'static T)> {
    parts.iter().flat_map(|(toolset, entries)| entries.iter().map(|entry| (*toolset, entry)))
}

/// Every tool, in the order in which they are listed.
pub fn tools() -> impl Iterator<Item = &'static Tool> {
    with_toolset(TOOLSETS).map(|(_, tool)| tool)
}

/// Every resource and template.
pub fn resources() -> impl Iterator<Item = &'static Resource> {
    with_toolset(RESOURCES).map(|(_, resource)| resource)
}

/// Every prompt.
pub fn prompts() -> impl Iterator<Item = &'static Prompt> {
    crate::prompts::PROMPTS.iter()
}

/// The names that a request may narrow itself to.
#[must_use]
pub fn toolset_names() -> Vec<&'static str> {
    let mut names = vec![];
    for (name, _) in TOOLSETS {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

/// The tools of a toolset.
pub fn tools_in(toolset: &str) -> impl Iterator<Item = &'static Tool> {
    with_toolset(TOOLSETS).filter(move |(name, _)| *name == toolset).map(|(_, tool)| tool)
}

/// The tools that a request sees.
fn tools_of(view: View<'_>) -> impl Iterator<Item = &'static Tool> {
    with_toolset(TOOLSETS).filter(move |(toolset, tool)| view.shows(toolset, tool)).map(|(_, t)| t)
}

/// The resources and templates that a request sees.
fn resources_of(view: View<'_>) -> impl Iterator<Item = &'static Resource> {
    let all = with_toolset(RESOURCES);
    all.filter(move |(toolset, one)| view.shows(toolset, one.reading())).map(|(_, one)| one)
}

/// The prompts that a request sees: those whose tools it sees, all of them.
fn prompts_of(view: View<'_>) -> impl Iterator<Item = &'static Prompt> {
    let has = move |name: &&str| tools_of(view).any(|tool| tool.name == *name);
    prompts().filter(move |prompt| prompt.tools().iter().all(has))
}

/// The tool called `name`, if the request sees it.
///
/// # Errors
/// There is none, or none for this request: both read the same.
pub fn tool_for(view: View<'_>, name: &str) -> Result<&'static Tool> {
    tools_of(view)
        .find(|tool| tool.name == name)
        .ok_or_else(|| Error::refuse(Code::UnknownTool, "unknown tool"))
}

/// The kind of figure that a handle names.
#[must_use]
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
/// There is none, none for this request, or no such record: all read the same.
pub fn read_resource(
    session: &mut Session,
    view: View<'_>,
    now: Instant,
    uri: &str,
    out: &mut Vec<u8>,
) -> Result<()> {
    let not_found = || Error::not_found("resource");
    let mut matching = resources_of(view).filter_map(|one| Some((one, one.arguments(uri)?)));
    let (resource, arguments) = matching.next().ok_or_else(not_found)?;
    match resource.reading().call(session, view.caller(), now, &arguments, out) {
        Err(Error::Refused(_)) => Err(not_found()),
        outcome => outcome,
    }
}

/// The members of the prompt called `name`, filled in with `arguments`.
///
/// # Errors
/// There is none, or none for this request: both read the same. An argument does not fit.
pub fn prompt(view: View<'_>, name: &str, arguments: &str) -> Result<Value> {
    let mut open = prompts_of(view);
    let found = open.find(|prompt| prompt.name() == name);
    found.ok_or_else(|| Error::argument("name", "unknown prompt"))?.fill(arguments)
}

/// What an argument is completed for.
#[derive(Debug, Clone, Copy)]
pub enum Completing<'a> {
    /// The prompt of this name.
    Prompt(&'a str),
    /// The template of this address.
    Template(&'a str),
}

/// Completes the argument `name` of a prompt or template for what a person has typed. Whoever may not use it, and whoever
/// asks for one or an argument that is not there, gets an empty list.
///
/// # Errors
/// What was typed is too long; the database is away.
pub fn complete(
    session: &mut Session,
    view: View<'_>,
    now: Instant,
    (of, name): (Completing<'_>, &str),
    typed: &Typed<'_>,
) -> Result<Suggestions> {
    let argument = match of {
        Completing::Template(uri) => resources_of(view).find_map(|one| one.argument_of(uri, name)),
        Completing::Prompt(prompt) => prompts_of(view)
            .any(|one| one.name() == prompt && one.has_argument(name))
            .then_some(name),
    };
    let open = COMPLETIONS.iter().filter(|one| view.caller().may(one.permission));
    match open.into_iter().find(|one| Some(one.argument) == argument) {
        Some(Completion { permission, find, .. }) => {
            session.read(&view.caller().authorize(*permission)?, now, |scope| find(scope, typed))
        }
        None => Ok((vec![], 0)),
    }
}

/// The entries that `is_open` lets through, each written once for all callers, as a JSON list.
fn listed<T>(texts: &[(&'static str, &T, String)], is_open: impl Fn(&str, &T) -> bool) -> String {
    let open = texts.iter().filter(|(toolset, entry, _)| is_open(toolset, entry));
    format!("[{}]", open.map(|(_, _, text)| text.as_str()).collect::<Vec<_>>().join(","))
}

/// The tools of `tools/list`, as a JSON list.
#[must_use]
pub fn list_tools(view: View<'_>) -> String {
    static TEXTS: LazyLock<Vec<(&str, &Tool, String)>> = LazyLock::new(|| {
        let all = with_toolset(TOOLSETS);
        all.map(|(toolset, tool)| (toolset, tool, tool.describe().to_string())).collect()
    });
    listed(&TEXTS, |toolset, tool| view.shows(toolset, tool))
}

static RESOURCE_TEXTS: LazyLock<Vec<(&str, &Resource, String)>> = LazyLock::new(|| {
    let all = with_toolset(RESOURCES);
    all.map(|(toolset, one)| (toolset, one, one.describe().to_string())).collect()
});

/// The resources of `resources/list`, as a JSON list.
#[must_use]
pub fn list_resources(view: View<'_>) -> String {
    let is_open = |toolset: &str, one: &Resource| view.shows(toolset, one.reading());
    listed(&RESOURCE_TEXTS, |toolset, one| !one.is_template() && is_open(toolset, one))
}

/// The templates of `resources/templates/list`, as a JSON list.
#[must_use]
pub fn list_templates(view: View<'_>) -> String {
    let is_open = |toolset: &str, one: &Resource| view.shows(toolset, one.reading());
    listed(&RESOURCE_TEXTS, |toolset, one| one.is_template() && is_open(toolset, one))
}

/// The prompts of `prompts/list`, as a JSON list.
#[must_use]
pub fn list_prompts(view: View<'_>) -> String {
    Value::Array(prompts_of(view).map(Prompt::describe).collect()).to_string()
}
