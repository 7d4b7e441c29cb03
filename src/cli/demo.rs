//! `guichet demo`: two firms to try, served at once.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use clap::Args;
use serde_json::json;

use super::{logging, serve};
use crate::admin::prepare_for_meaning;
use crate::config::{DatabaseArgs, LimitArgs, LogFormat, ModelArgs, ServeArgs};
use crate::db::{Administration, migrate, prepare_roles, reset};
use crate::demo::{self, DemoPerson, DemoState, Scale};
use crate::error::{Error, Result};
use crate::http::{self, Handshake};

/// How `guichet demo` runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  guichet demo
  guichet demo --reset --port 9000
  guichet demo --scale M --database-url sqlite:guichet-demo-m.db
  guichet demo --json | head -n 1
  guichet demo --database-url postgres://postgres@127.0.0.1/guichet_demo   (as a superuser: it makes both roles)")]
pub(super) struct DemoArgs {
    /// Port to listen on, on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value = "8420")]
    port: u16,
    /// Database for the two firms; on PostgreSQL an empty one, named with a superuser
    #[arg(long, value_name = "URL", default_value = "sqlite:guichet-demo.db")]
    database_url: String,
    /// How much of everything, when the data is written: the demo as it is (S), 20 firms with 2,000 clients and 20,000
    /// invoices each (M), or one firm with a ledger of 2,000,000 lines (L)
    #[arg(long, value_name = "SIZE", default_value = "S")]
    scale: Scale,
    /// Throw the demo data away first
    #[arg(long)]
    reset: bool,
    #[command(flatten)]
    model: ModelArgs,
    /// Print the people as one JSON line instead
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &DemoArgs) -> Result<()> {
    logging::start(LogFormat::Text);
    if args.reset {
        reset(&args.database_url)?;
    }
    let database = prepare_roles(&args.database_url, "guichet_demo_owner", "guichet_demo_server")?;
    migrate(&database.owner, &database.server)?;
    if !demo::is_seeded(&database.owner)? {
        demo::seed_to(&database.owner, args.scale.extent())?;
    }
    if let Some(model) = args.model.load()? {
        prepare_for_meaning(&mut Administration::open(&database.owner)?, &model, None)?;
    }
    let listener = http::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, args.port)))?;
    let listen = listener.local_addr().map_err(Error::fault)?;
    let people = demo::people();
    let shown = if args.json { as_json(listen, &people) } else { as_text(listen, &people) };
    let mut out = std::io::stdout();
    writeln!(out, "{shown}").and_then(|()| out.flush()).map_err(Error::fault)?;
    serve_demo(database.server, &args.model, listen, listener)
}

fn serve_demo(
    database_url: String,
    model: &ModelArgs,
    listen: SocketAddr,
    listener: TcpListener,
) -> Result<()> {
    let secret = crate::auth::api_token::ApiToken::generate()?;
    let limits = LimitArgs::defaults();
    let database = DatabaseArgs { database_url, owner_url: None };
    let args = ServeArgs {
        database,
        listen,
        public_url: None,
        secret_file: None,
        previous_secret_file: None,
        hosts: vec![],
        origins: vec![],
        trusted_proxies: vec![],
        handshake: Handshake::Public,
        model: model.clone(),
        limits,
        log_format: LogFormat::Text,
    };
    let checked = args.check_with(&[secret.reveal().to_owned()])?;
    serve::serve(&args, checked, listener)
}

fn as_json(listen: SocketAddr, people: &[DemoPerson]) -> String {
    let person = |person: &DemoPerson| {
        json!({
            "tenant": person.tenant,
            "email": person.email,
            "name": person.full_name,
            "role": person.role,
            "reach": person.reach,
            "state": person.state,
            "token": person.token,
            "password": person.password,
        })
    };
    let people: Vec<_> = people.iter().map(person).collect();
    json!({ "url": format!("http://{listen}/mcp"), "people": people }).to_string()
}

fn as_text(listen: SocketAddr, people: &[DemoPerson]) -> String {
    let url = format!("http://{listen}/mcp");
    let mut text = format!("Guichet demo: two firms, served at {url}\n");
    let mut firm = "";
    for person in people {
        if person.firm != firm {
            firm = &person.firm;
            let _ = write!(text, "\n{firm} ({})\n", person.tenant);
        }
        let note = if person.state == DemoState::Active {
            String::new()
        } else {
            format!("  [{}]", person.state)
        };
        let _ = write!(
            text,
            "  {:<16} {:<20} {:<36} password {}{note}\n  {:<16} {}\n",
            person.role, person.reach, person.email, person.password, "", person.token
        );
    }
    let Some(first) = people.iter().find(|person| person.state == DemoState::Active) else {
        return text;
    };
    let token = &first.token;
    let _ = write!(
        text,
        r#"
Connect as {name} ({role}):

  Claude Code     claude mcp add --transport http guichet {url} --header "Authorization: Bearer {token}"

  Claude Desktop  claude_desktop_config.json:
                  {desktop}

  VS Code         .vscode/mcp.json:
                  {vscode}

  Cursor          .cursor/mcp.json:
                  {cursor}

  curl            curl -s {url} -H 'Authorization: Token {token}' -H 'Content-Type: application/json' -d '{call}'

Hosted assistants (claude.ai, ChatGPT) cannot reach localhost: put an HTTPS tunnel or reverse proxy in front and run `guichet serve` with its URL.
Stop with Ctrl-C; `guichet demo --reset` starts afresh."#,
        name = first.full_name,
        role = first.role,
        desktop = desktop(&url, token),
        vscode = json!({ "servers": { "guichet": { "type": "http", "url": url, "headers": bearer(token) } } }),
        cursor = json!({ "mcpServers": { "guichet": { "url": url, "headers": bearer(token) } } }),
        call = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": { "name": "list_open_items", "arguments": { "overdue_only": true, "limit": 3 } },
        }),
    );
    text
}

fn bearer(token: &str) -> serde_json::Value {
    json!({ "Authorization": format!("Bearer {token}") })
}

/// Claude Desktop starts programs: a bridge from its standard input to the endpoint.
fn desktop(url: &str, token: &str) -> serde_json::Value {
    let arguments =
        ["-y", "mcp-remote", url, "--allow-http", "--header", "Authorization:${GUICHET}"];
    json!({ "mcpServers": { "guichet": {
        "command": "npx",
        "args": arguments,
        "env": { "GUICHET": format!("Bearer {token}") },
    } } })
}
