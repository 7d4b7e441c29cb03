//! The reference of tools, resources and prompts, written from the registry.

use std::fmt::Write as _;

use serde_json::Value;

use crate::auth::{Permission, ROLES, Role};
use crate::error::Result;
use crate::registry::{Prompt, Resource, Tool, prompts, resources, tools, tools_in, toolset_names};

const HEAD: &str = "\
# Tools, resources and prompts

Written by `guichet tools --markdown` from the types that answer; a test fails when this page says something else.

Every tool here reads. It answers a JSON object as structured content, and the same as text. What a list of fields does
not call optional is always there; what is optional is left out, never null. Amounts are numbers with two decimals in
the currency beside them, and amounts of different currencies are never added together. Days are `YYYY-MM-DD`, instants
are UTC. Arguments are strict: one that is unknown or of another type is refused by name.

The roles are those that a new firm starts with; `guichet tools --tenant SLUG` shows a firm's as they are. Whatever the
role, an answer holds only what lies within the caller's reach.
";

/// The page: the matrix of roles, the toolsets, then every tool, resource, template and prompt.
pub(super) fn markdown() -> Result<String> {
    let mut page = format!("{HEAD}\n{}{}", matrix(), toolsets());
    for tool in tools() {
        page += &section(tool)?;
    }
    page += "\n## Resources\n\nThe same readings under an address, for clients that attach context instead of calling tools.\n";
    for resource in resources() {
        page += &resource_section(resource);
    }
    page += "\n## Prompts\n\nInstructions for recurring work. Each is there for who may use all of its tools.\n";
    for prompt in prompts() {
        page += &prompt_section(prompt);
    }
    Ok(page)
}

fn matrix() -> String {
    let names: Vec<_> = ROLES.iter().map(|role| role.name).collect();
    let mut table =
        format!("| Tool | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for tool in tools() {
        let marks = ROLES.iter().map(|role| {
            if tool.opened_by().any(|one| role.permissions().of_member().contains(one)) {
                "yes"
            } else {
                "–"
            }
        });
        let name = tool.name();
        let _ =
            writeln!(table, "| [`{name}`](#{name}) | {} |", marks.collect::<Vec<_>>().join(" | "));
    }
    table
}

fn toolsets() -> String {
    let everywhere = linked(tools().filter(|tool| tool.is_in_every_toolset()).map(Tool::name));
    let mut text = format!(
        "\nThe address may narrow a request: `/mcp?toolsets=billing,payroll` to these toolsets, `/mcp?read_only=true` to the tools \
         that read. In every toolset: {everywhere}.\n\n"
    );
    for name in toolset_names() {
        let _ = writeln!(text, "- `{name}`: {}", linked(tools_in(name).map(Tool::name)));
    }
    text
}

fn linked(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("[`{name}`](#{name})")).collect::<Vec<_>>().join(", ")
}

fn section(tool: &Tool) -> Result<String> {
    let described = tool.describe();
    let mut text = format!("\n## {}\n\n**{}.** ", tool.name(), tool.title());
    let _ = writeln!(text, "{}\n", at(&described, "description").as_str().unwrap_or_default());
    let _ = writeln!(text, "{}\n", permission(tool));
    text += "Arguments:\n\n";
    text += &listed(at(&described, "inputSchema"), "required", "");
    let mut arguments: Value = serde_json::from_str(&tool.example()?)?;
    if let Some(object) = arguments.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    let name = tool.name();
    let _ = write!(
        text,
        "\nExample of a call:\n\n```json\n{{\"name\":\"{name}\",\"arguments\":{arguments}}}\n```\n\nAnswer:\n\n"
    );
    text += &answer(tool);
    Ok(text)
}

fn resource_section(resource: &Resource) -> String {
    let reading = resource.reading();
    let described = resource.describe();
    let of = |name: &str| at(&described, name).as_str().unwrap_or_default().to_owned();
    let mut text = format!("\n### `{}`\n\n**{}.** ", resource.uri(), of("title"));
    if let Some(tool) = tools().find(|tool| tool.name() == reading.name()) {
        let name = tool.name();
        let kind = if resource.is_template() { "Template: what" } else { "What" };
        let _ = writeln!(text, "{kind} [`{name}`](#{name}) answers.\n\n{}", permission(reading));
    } else {
        let _ = writeln!(text, "{}\n\n{}\n", of("description"), permission(reading));
        text += &answer(reading);
    }
    text
}

fn prompt_section(prompt: &Prompt) -> String {
    let described = prompt.describe();
    let of = |object: &Value, name: &str| at(object, name).as_str().unwrap_or_default().to_owned();
    let (title, description) = (of(&described, "title"), of(&described, "description"));
    let tools = linked(prompt.tools().iter().copied());
    let mut text = format!(
        "\n### {}\n\n**{title}.** {description}\n\nTools: {tools}.\n\nArguments:\n\n",
        prompt.name()
    );
    for argument in at(&described, "arguments").as_array().into_iter().flatten() {
        let is_required = at(argument, "required").as_bool().unwrap_or_default();
        let word = if is_required { " (required)" } else { "" };
        let (name, meaning) = (of(argument, "name"), of(argument, "description"));
        let _ = writeln!(text, "- `{name}`{word}: {meaning}");
    }
    text
}

/// The value under `name`, null if there is none.
fn at<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&Value::Null)
}

fn permission(tool: &Tool) -> String {
    if tool.permission() == Permission::Present {
        return "Permission: none; every active member of the firm.".to_owned();
    }
    let opens = |role: &&Role| tool.opened_by().any(|one| role.permissions().contains(one));
    let granting = ROLES.iter().filter(opens);
    let names: Vec<_> = granting.map(|role| role.name).collect();
    let permissions: Vec<_> = tool.opened_by().map(|one| format!("`{one}`")).collect();
    format!("Permission: {} ({}).", permissions.join(" or "), names.join(", "))
}

fn answer(tool: &Tool) -> String {
    listed(tool.answer_schema().as_value(), "", "optional")
}

/// The properties of an object, and of the objects within, as a list; `always` and `sometimes` are said of a property that
/// its object requires and of one that may be absent.
fn listed(schema: &Value, always: &str, sometimes: &str) -> String {
    let mut list = String::new();
    properties(schema, (always, sometimes), 0, &mut list);
    if list.is_empty() { "None.\n".to_owned() } else { list }
}

fn properties(schema: &Value, words: (&str, &str), depth: usize, list: &mut String) {
    let required = at(schema, "required").as_array().map_or(&[][..], Vec::as_slice);
    for (name, property) in at(schema, "properties").as_object().into_iter().flatten() {
        let is_required = required.iter().any(|one| one == name.as_str());
        let word = if is_required { words.0 } else { words.1 };
        let comma = if word.is_empty() { "" } else { ", " };
        let description = at(property, "description").as_str().unwrap_or_default();
        let indent = "  ".repeat(depth);
        let _ = writeln!(
            list,
            "{indent}- `{name}` ({}{comma}{word}): {description}{}",
            kind(property),
            values(property)
        );
        let inner = property.get("items").unwrap_or(property);
        properties(inner, words, depth + 1, list);
    }
}

/// The type of a value: `string`, `date`, `list of objects`.
fn kind(schema: &Value) -> String {
    match (at(schema, "type").as_str().unwrap_or_default(), at(schema, "format").as_str()) {
        ("array", _) => format!("list of {}s", kind(at(schema, "items"))),
        ("string", Some("date-time")) => "instant".to_owned(),
        ("string", Some("uuid")) => "id".to_owned(),
        ("string", Some(format)) => format.to_owned(),
        (name, _) => name.to_owned(),
    }
}

fn values(schema: &Value) -> String {
    let of = schema.get("items").unwrap_or(schema);
    let words = at(of, "enum").as_array().into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<_> = words.map(|word| format!("`{word}`")).collect();
    if words.is_empty() { String::new() } else { format!(" One of {}.", words.join(", ")) }
}
