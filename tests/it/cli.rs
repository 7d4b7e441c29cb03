//! The command line, as whoever types it sees it: what it prints, what it does, what it refuses.

use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};

use crate::world::process::{Said, Server, file, guichet, run, run_well, secret_file};
use crate::world::{Client, Database, World};

on_both! {
    an_administrator_makes_a_firm_and_rules_who_gets_in,
    a_mistake_of_an_administrator_is_named,
}

fn demo(url: &str, more: &[&str]) -> Command {
    let mut command = guichet(&["demo", "--port", "0", "--database-url", url]);
    command.args(more);
    command
}

fn demo_json(url: &str, more: &[&str]) -> (Server, Value) {
    let (server, line) = Server::demo(demo(url, &["--json"]).args(more));
    let said = serde_json::from_str(&line).unwrap();
    (server, said)
}

/// A person of the demo who gets in, of the first firm and a role.
fn token_of(said: &Value, role: &str) -> String {
    let people = said["people"].as_array().unwrap();
    let person = people.iter().find(|person| person["role"] == role && person["state"] == "active");
    person.unwrap()["token"].as_str().unwrap().to_owned()
}

/// Starts the demo three times on one database: as it comes, on what the first left, and afresh.
fn is_reused_and_reset(url: &str) {
    let (mut server, said) = demo_json(url, &[]);
    assert_eq!(said["url"], format!("http://{}/mcp", server.address));
    for person in said["people"].as_array().unwrap() {
        let token = person["token"].as_str().unwrap();
        let asked = Client::new(server.address, Some(format!("Token {token}")));
        let status = asked.call("who_am_i", json!({})).status;
        assert_eq!(status, if person["state"] == "active" { 200 } else { 401 }, "{person}");
        assert!(person["password"].as_str().unwrap().len() >= 12, "{person}");
    }
    let accountant = token_of(&said, "accountant");
    let people = said["people"].as_array().unwrap();
    let person = people.iter().find(|person| person["token"] == accountant.as_str()).unwrap();
    let (tenant, email) = (person["tenant"].as_str().unwrap(), person["email"].as_str().unwrap());
    let deactivate = ["user", "deactivate", "--tenant", tenant, "--email", email];
    run_well(guichet(&deactivate).args(["--database-url", url, "--owner-url", url]));
    assert_eq!(server.bearer(&accountant).call("who_am_i", json!({})).status, 401);
    server.signal("TERM");
    assert_eq!(server.rest_of_output(), "");
    assert_eq!(server.end().0.code(), Some(0));

    let (server, again) = demo_json(url, &[]);
    assert_eq!(again["people"], said["people"]);
    assert_eq!(server.bearer(&accountant).call("who_am_i", json!({})).status, 401);
    server.bearer(&token_of(&again, "owner")).ask("who_am_i", json!({}));
    server.stop();

    let (server, afresh) = demo_json(url, &["--reset"]);
    assert_eq!(afresh["people"], said["people"]);
    server.bearer(&accountant).ask("list_open_items", json!({}));
    server.stop();
}

#[test]
fn a_demo_on_sqlite_is_reused_and_reset() {
    let directory = tempfile::tempdir().unwrap();
    is_reused_and_reset(&format!("sqlite:{}", directory.path().join("demo.db").display()));
}

#[test]
fn a_demo_on_postgres_makes_its_roles_and_is_reused_and_reset() {
    let database = Database::empty_postgres();
    is_reused_and_reset(&database.owner_url);
    let roles = "SELECT rolname || '|' || rolsuper || '|' || rolbypassrls FROM pg_roles WHERE rolname LIKE 'guichet_demo%' ORDER BY rolname";
    let roles: Vec<_> = database.rows(roles).into_iter().map(|row| row.join(" ")).collect();
    assert_eq!(roles, ["guichet_demo_owner false true", "guichet_demo_server false false"]);
}

/// The text after `mark` to the end of the line, or else the line that follows.
fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    let (_, rest) = text.split_once(mark).unwrap_or_else(|| panic!("no {mark} in {text}"));
    rest.trim_start().lines().next().unwrap()
}

#[test]
fn what_the_demo_prints_works_as_pasted() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("demo.db").display());
    let (mut server, mut printed) = Server::demo(&mut demo(&url, &[]));
    printed += &server.print_until("starts afresh");
    let endpoint = format!("http://{}/mcp", server.address);
    let parsed = |mark| serde_json::from_str::<Value>(after(&printed, mark)).unwrap();
    let desktop = parsed("claude_desktop_config.json:")["mcpServers"]["guichet"].clone();
    assert_eq!((&desktop["command"], &desktop["args"][2]), (&json!("npx"), &json!(endpoint)));
    let bearer = desktop["env"]["GUICHET"].as_str().unwrap();
    assert!(bearer.starts_with("Bearer gct_"));
    let headers = json!({ "Authorization": bearer });
    let expected = json!({ "type": "http", "url": endpoint, "headers": headers });
    assert_eq!(parsed(".vscode/mcp.json:")["servers"]["guichet"], expected);
    let expected = json!({ "url": endpoint, "headers": headers });
    assert_eq!(parsed(".cursor/mcp.json:")["mcpServers"]["guichet"], expected);

    let shell = |script: &str| Command::new("sh").args(["-c", script]).output().unwrap();
    let claude = format!(
        r#"claude() {{ printf '%s\n' "$@"; }}; {}"#,
        after(&printed, "Claude Code").replace("  ", " ")
    );
    let arguments = String::from_utf8(shell(&claude).stdout).unwrap();
    let header = format!("Authorization: {bearer}");
    let expected = ["mcp", "add", "--transport", "http", "guichet", &endpoint, "--header", &header];
    assert_eq!(arguments.lines().collect::<Vec<_>>(), expected);

    let hosted = printed.lines().filter(|line| line.contains("cannot reach localhost")).count();
    assert_eq!(hosted, 1);
    if shell("command -v curl").status.success() {
        let answer = shell(&format!("curl {}", after(&printed, "curl            curl ")));
        let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
        let items = answer["result"]["structuredContent"]["items"].as_array();
        assert_eq!(items.map(Vec::len), Some(3), "{answer}");
    }
    server.stop();
}

/// Whether the program ended with a sentence that holds `expected`, and nothing else.
fn is_one_line(said: &Said, expected: &str) {
    assert_eq!(
        (said.code, said.out.as_str(), said.err.lines().count()),
        (Some(1), "", 1),
        "{said:?}"
    );
    assert!(said.err.starts_with("guichet: ") && said.err.contains(expected), "{said:?}");
}

#[test]
fn serve_refuses_to_start_in_one_clear_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str, mode| {
        file(directory.path(), name, text, mode).display().to_string()
    };
    let good = secret_file(directory.path()).display().to_string();
    let absent = directory.path().join("absent").display().to_string();
    let short = path("short", "kX3vQ9mTz7", 0o600);
    let weak = path("weak", &"ab".repeat(40), 0o600);
    let open = path("open", &std::fs::read_to_string(&good).unwrap(), 0o644);
    let no_file = format!("sqlite:{absent}.db");
    let (empty, seeded) = (Database::empty_postgres(), Database::postgres());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().map(|address| (taken, address.to_string())).unwrap();
    for (arguments, expected) in [
        (vec![], "set GUICHET_SECRET_FILE"),
        (vec!["--secret-file", &absent], "cannot be read"),
        (vec!["--secret-file", &short], "is weak"),
        (vec!["--secret-file", &weak], "is weak"),
        (vec!["--secret-file", &open], "can be read by others; run `chmod 600"),
        (vec!["--secret-file", &good, "--public-url", "http://books.example"], "must be https"),
        (vec!["--secret-file", &good, "--listen", "0.0.0.0:0"], "must be https"),
        (vec!["--secret-file", &good, "--database-url", "mysql://x"], "must be sqlite:PATH or"),
        (vec!["--secret-file", &good, "--database-url", &no_file], "run `guichet migrate` first"),
        (
            vec!["--secret-file", &good, "--database-url", &empty.server_url],
            "migration(s) behind; run `guichet migrate` first",
        ),
        (vec!["--secret-file", &good, "--database-url", &seeded.owner_url], "guichet_owner"),
        (
            vec!["--secret-file", &good, "--database-url", "postgres://x@127.0.0.1:1/x"],
            "Connection refused",
        ),
        (vec!["--secret-file", &good, "--listen", &taken.1], "cannot listen on 127.0.0.1:"),
    ] {
        let mut command = guichet(&["serve"]);
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        is_one_line(&run(command.args(&arguments).current_dir(directory.path())), expected);
    }
    assert!(!directory.path().join("absent.db").exists());
}

#[test]
fn the_matrix_of_roles_is_printed_as_it_was_promised() {
    let promised: Vec<_> =
        include_str!("matrix.txt").lines().filter(|line| !line.starts_with('#')).collect();
    let words = |line: &str| line.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
    let printed = run_well(&mut guichet(&["tools"])).replace(" -", " no");
    let sorted = |lines: Vec<&str>| {
        let mut all: Vec<_> = lines.into_iter().map(words).collect();
        all.sort();
        all
    };
    assert_eq!(sorted(printed.lines().collect()), sorted(promised.clone()));
    let at = words(promised[0]).iter().position(|role| role == "assistant").unwrap();
    let mut expected: Vec<_> = promised[1..].iter().map(|line| words(line)).collect();
    expected.retain(|line| line[at] == "yes");
    let printed = run_well(&mut guichet(&["tools", "--role", "assistant"]));
    let mut tools: Vec<_> = printed.lines().skip(1).map(|line| words(line)[0].clone()).collect();
    let mut expected: Vec<_> = expected.iter().map(|line| line[0].clone()).collect();
    tools.sort();
    expected.sort();
    assert_eq!(tools, expected);
    is_one_line(&run(&mut guichet(&["tools", "--role", "cook"])), "there is no role \"cook\"");
}

fn an_administrator_makes_a_firm_and_rules_who_gets_in(world: &World) {
    let directory = tempfile::tempdir().unwrap();
    let password = file(directory.path(), "password", "Sapin-Doubs-1847-x\n", 0o600);
    let password = password.display().to_string();
    let Database { owner_url, server_url, .. } = &world.database;
    let urls = ["--database-url", server_url, "--owner-url", owner_url];
    let command = |line: &str, more: &[&str]| {
        let mut command = guichet(&line.split(' ').collect::<Vec<_>>());
        command.args(more).args(urls);
        command
    };
    let done = |line: &str, more: &[&str]| run_well(&mut command(line, more));
    done("tenant create --slug jura --name", &["Fiduciaire du Jura SA"]);
    let add = "user add --tenant jura --email anna@jura.example --role owner --reach all --language en --name";
    done(add, &["Anna Rochat", "--password-file", &password]);
    done(
        "user add --tenant jura --email luc@jura.example --role accountant --no-password --name",
        &["Luc Favre"],
    );
    let token = |who: &str| {
        let printed = done("token create --tenant jura --name Laptop --email", &[who]);
        printed.strip_suffix('\n').unwrap().to_owned()
    };
    let (anna, luc) = (token("anna@jura.example"), token("luc@jura.example"));
    let secret = secret_file(directory.path()).display().to_string();
    let server =
        Server::serve(&mut command("serve --listen 127.0.0.1:0 --secret-file", &[&secret]));

    let me = server.bearer(&anna).ask("who_am_i", json!({})).to_string();
    assert!(me.contains("Anna Rochat") && me.contains("Fiduciaire du Jura SA"), "{me}");
    assert_eq!(server.bearer(&anna).ask("search_clients", json!({}))["items"], json!([]));
    let language = || {
        let me = server.bearer(&anna).ask("who_am_i", json!({}));
        me["person"]["language"].as_str().unwrap().to_owned()
    };
    assert_eq!(language(), "en");
    done("user set-language --tenant jura --email anna@jura.example --language de", &[]);
    assert_eq!(language(), "de");
    let sign_in = || {
        let body = json!({ "email": "anna@jura.example", "password": "Sapin-Doubs-1847-x" });
        Client::new(server.address, None).send("/auth/token", &[], &body.to_string())
    };
    let signed = sign_in().json()["access_token"].as_str().unwrap().to_owned();
    let status = |token: &str| server.bearer(token).call("who_am_i", json!({})).status;
    assert_eq!((status(&anna), status(&luc), status(&signed)), (200, 200, 200));

    let luc_is = "--tenant jura --email luc@jura.example";
    done(&format!("user deactivate {luc_is}"), &[]);
    assert_eq!((status(&anna), status(&luc)), (200, 401));
    done(&format!("user activate {luc_is}"), &[]);
    assert!(server.bearer(&luc).listed().contains(&"search_invoices".to_owned()));
    done(&format!("user set-role {luc_is} --role payroll_officer"), &[]);
    assert!(!server.bearer(&luc).listed().contains(&"search_invoices".to_owned()));
    done("token revoke --tenant jura", &[&luc[luc.len() - 4..]]);
    assert_eq!((status(&anna), status(&luc)), (200, 401));
    let tokens = done("token list --tenant jura --json", &[]);
    let rows = tokens.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut kept: Vec<_> = rows.map(|row| row["state"].as_str().unwrap().to_owned()).collect();
    kept.sort();
    assert_eq!(kept, ["active", "revoked"]);
    assert!(!tokens.contains(&anna) && !tokens.contains(&luc));

    let other = file(directory.path(), "other", "Mélèze-Chasseral-93\n", 0o600);
    let other = other.display().to_string();
    done("user set-password --email anna@jura.example --password-file", &[&other]);
    assert_eq!((status(&signed), sign_in().status, status(&anna)), (401, 401, 200));
    done("tenant deactivate jura", &[]);
    assert_eq!(status(&anna), 401);
    done("tenant activate jura", &[]);
    assert_eq!(status(&anna), 200);
    server.stop();
}

fn a_mistake_of_an_administrator_is_named(world: &World) {
    let Database { owner_url, server_url, .. } = &world.database;
    let command = |line: &str| {
        let mut command = guichet(&line.split(' ').collect::<Vec<_>>());
        command.args(["--database-url", server_url, "--owner-url", owner_url]);
        command
    };
    let cook = "user set-role --tenant leman --email chloe.dubuis@lemanique.example --role cook";
    is_one_line(&run(&mut command(cook)), "cook");
    is_one_line(&run(&mut command("token list --tenant nowhere")), "nowhere");
    let unknown = "user deactivate --tenant leman --email nobody@jura.example";
    is_one_line(&run(&mut command(unknown)), "nobody@jura.example");
}
