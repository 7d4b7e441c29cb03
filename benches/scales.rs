//! How the time of every tool grows with the data, over real HTTP: the median of its example at S, M and L, and of searches
//! and reports at the ends of the scale.
//!
//! `cargo bench --bench scales` measures on SQLite; with `GUICHET_TEST_POSTGRES` naming a superuser of a throwaway PostgreSQL
//! (as `tests/run` sets it) on PostgreSQL too. `-- S M` leaves a scale out: L takes minutes to write. Scales take turns, so that
//! the ratios hold on a machine that does other things meanwhile.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::float_arithmetic,
    reason = "a measurement that meets what it did not expect stops"
)]

mod served;

use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use served::Server;

/// Turns, and calls a turn.
const TURNS: (usize, usize) = (5, 20);

/// The ledgers of scale L: 20,000 lines, and 2,000,000.
const LEDGERS: [&str; 2] =
    ["018cc251-f400-7f01-8000-000000010000", "018cc251-f400-7f01-8000-000000020000"];

/// Medians, in milliseconds, of the same question to several.
fn medians(asked: &[(&Server, Vec<u8>)]) -> Vec<f64> {
    let mut connections: Vec<_> = asked.iter().map(|(server, _)| server.connection()).collect();
    let mut times = vec![vec![]; asked.len()];
    for _ in 0..TURNS.0 {
        for (at, (_, request)) in asked.iter().enumerate() {
            for _ in 0..TURNS.1 {
                let started = Instant::now();
                connections[at].ask(request);
                times[at].push(started.elapsed());
            }
        }
    }
    let median = |mut times: Vec<std::time::Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    times.into_iter().map(median).collect()
}

fn line(name: &str, medians: &[f64]) {
    let shown: Vec<_> = medians.iter().map(|ms| format!("{ms:>8.2}")).collect();
    let ratios = medians.iter().skip(1).map(|ms| format!("{:>6.1}x", ms / medians[0]));
    println!("  {name:<44} {} ms {}", shown.join(" "), ratios.collect::<String>());
}

fn call(server: &Server, tool: &str, arguments: &Value) -> Vec<u8> {
    server.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
}

fn measure(servers: &[(String, Server)]) {
    let ask = |tool: &str, arguments: &Value| {
        let asked: Vec<_> = servers.iter().map(|(_, s)| (s, call(s, tool, arguments))).collect();
        medians(&asked)
    };
    for tool in guichet::registry::tools() {
        let example = serde_json::from_str(&tool.example().unwrap()).unwrap();
        line(tool.name(), &ask(tool.name(), &example));
    }
    for query in ["zzzz-nothing", "lem-k007", "lem-k007 lem"] {
        line(
            &format!("search_clients {query}"),
            &ask("search_clients", &json!({ "query": query })),
        );
        line(
            &format!("search_invoices {query}"),
            &ask("search_invoices", &json!({ "query": query })),
        );
    }
    line("search_clients", &ask("search_clients", &json!({})));
    line("search_invoices", &ask("search_invoices", &json!({})));
    line("list_open_items", &ask("list_open_items", &json!({})));
    let Some((_, large)) = servers.iter().find(|(scale, _)| scale == "L") else { return };
    println!("  a ledger of 20,000 lines and one of 2,000,000");
    for (tool, more) in [
        ("get_trial_balance", json!({})),
        ("get_balance_sheet", json!({})),
        ("get_profit_and_loss", json!({})),
        ("get_account_statement", json!({ "account": "1000" })),
    ] {
        let asked = LEDGERS.map(|mandate| {
            let mut arguments = more.clone();
            arguments["mandate_id"] = mandate.into();
            (large, call(large, tool, &arguments))
        });
        line(tool, &medians(&asked));
    }
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let scales =
        if named.is_empty() { vec!["S".to_owned(), "M".into(), "L".into()] } else { named };
    let postgres = std::env::var("GUICHET_TEST_POSTGRES").ok();
    for superuser in std::iter::once(None).chain(postgres.as_deref().map(Some)) {
        let start = |scale: &String| {
            let url = match superuser {
                None => format!("sqlite:{}/{scale}.db", directory.path().display()),
                Some(superuser) => database(superuser, scale),
            };
            (scale.clone(), Server::start(scale, &url, directory.path()))
        };
        let servers: Vec<_> = scales.iter().map(start).collect();
        println!(
            "{}: medians at {}",
            superuser.map_or("SQLite", |_| "PostgreSQL"),
            scales.join(", ")
        );
        measure(&servers);
    }
}

/// A database of its own for a scale.
fn database(superuser: &str, scale: &str) -> String {
    let name = format!("guichet_scale_{}", scale.to_lowercase());
    for sql in
        [format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"), format!("CREATE DATABASE {name}")]
    {
        assert!(Command::new("psql").args([superuser, "-qc", &sql]).status().unwrap().success());
    }
    let mut url = url::Url::parse(superuser).unwrap();
    url.set_path(&name);
    url.into()
}
