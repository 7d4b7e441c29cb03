//! `guichet tools`.

use clap::Args;
use serde::Serialize;

use super::table::{ListArgs, Row, print_lines};
use super::{administer, reference};
use crate::admin::{self, Firm, FirmRole, Slug};
use crate::config::DatabaseArgs;
use crate::error::{Code, Error, Result};
use crate::registry::{Tool, tools};

/// Which roles may call which tools.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet tools\n  \
    guichet tools --role accountant\n  \
    guichet tools --tenant leman --json\n  \
    guichet tools --markdown > docs/tools.md")]
pub(super) struct ToolsArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of a firm, for its roles as they are now [default: the roles that a new firm starts with]
    #[arg(long, value_name = "SLUG")]
    tenant: Option<Slug>,
    /// The tools of this role alone, with the permission that opens each
    #[arg(long)]
    role: Option<String>,
    /// The whole reference as Markdown: arguments, answers, examples, resources
    #[arg(long, conflicts_with_all = ["tenant", "role", "json"])]
    markdown: bool,
    #[command(flatten)]
    list: ListArgs,
}

/// A tool that a role may call.
#[derive(Debug, Serialize)]
struct RoleTool {
    tool: &'static str,
    permission: &'static str,
}

/// A tool and the roles that may call it.
#[derive(Debug, Serialize)]
struct ToolRoles<'a> {
    tool: &'static str,
    permission: &'static str,
    roles: Vec<&'a str>,
}

impl Row for RoleTool {
    const HEADINGS: &[&str] = &["TOOL", "PERMISSION"];

    fn cells(&self) -> Vec<String> {
        vec![self.tool.to_owned(), self.permission.to_owned()]
    }
}

pub(super) fn run(args: &ToolsArgs) -> Result<()> {
    if args.markdown {
        return print_lines(&[reference::markdown()?.trim_end().to_owned()]);
    }
    let roles = match &args.tenant {
        None => admin::seeded_roles(),
        Some(slug) => administer(&args.database, |connection| {
            let firm = Firm::find(connection, slug)?;
            admin::roles_of(connection, &firm)
        })?,
    };
    match &args.role {
        None => print_matrix(&roles, &args.list),
        Some(name) => print_role(&roles, name, &args.list),
    }
}

fn may_call(role: &FirmRole, tool: &Tool) -> bool {
    tool.opened_by().any(|one| role.permissions.of_member().contains(one))
}

fn print_role(roles: &[FirmRole], name: &str, list: &ListArgs) -> Result<()> {
    let role = roles.iter().find(|role| role.name == name).ok_or_else(|| {
        let names: Vec<_> = roles.iter().map(|role| role.name.as_str()).collect();
        let message = format!("there is no role {name:?}; choose one of {}", names.join(", "));
        Error::refuse(Code::InvalidArgument, message)
    })?;
    let rows: Vec<_> = tools()
        .filter(|tool| may_call(role, tool))
        .map(|tool| RoleTool { tool: tool.name(), permission: tool.permission().as_str() })
        .collect();
    list.print(&rows)
}

fn print_matrix(roles: &[FirmRole], list: &ListArgs) -> Result<()> {
    let names = roles.iter().map(|role| role.name.clone());
    let headings = std::iter::once("TOOL".to_owned()).chain(names).collect();
    let row = |tool: &'static Tool| {
        let marks = roles.iter().map(|role| if may_call(role, tool) { "yes" } else { "-" });
        let cells = std::iter::once(tool.name()).chain(marks).map(str::to_owned).collect();
        let allowed = roles.iter().filter(|role| may_call(role, tool));
        let roles = allowed.map(|role| role.name.as_str()).collect();
        let permission = tool.permission().as_str();
        (cells, ToolRoles { tool: tool.name(), permission, roles })
    };
    list.print_grid(headings, tools().map(row).collect())
}
