//! What a call costs: requests per second, latency, the server's processor time per call and its memory, over real HTTP on
//! the demo data.
//!
//! `cargo bench` measures on SQLite; with `GUICHET_TEST_POSTGRES` naming a superuser of a throwaway PostgreSQL (as
//! `tests/run` sets it) on PostgreSQL too. Machines differ: compare figures of one run only.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "a measurement that meets what it did not expect stops"
)]

mod served;

use std::time::Instant;

use serde_json::{Value, json};

use served::Server;

/// Requests under way at once, each on a connection of its own.
const AT_ONCE: usize = 32;
/// Requests of one measurement.
const REQUESTS: usize = 8_000;
/// Clock ticks in a second of processor time, as Linux counts them.
const TICKS: f64 = 100.0;

/// Seconds of processor time so far.
fn processor_time(server: &Server) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / TICKS
}

/// Resident memory in MB.
fn memory(server: &Server) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1_024.0
}

/// Measures one request, many times, and prints a line of the table.
fn measure(server: &Server, name: &str, request: &[u8]) {
    let run = |requests: usize| {
        std::thread::scope(|threads| {
            let asking: Vec<_> = (0..AT_ONCE)
                .map(|_| {
                    threads.spawn(|| {
                        let mut connection = server.connection();
                        let one = |_| {
                            let started = Instant::now();
                            connection.ask(request);
                            started.elapsed()
                        };
                        (0..requests / AT_ONCE).map(one).collect::<Vec<_>>()
                    })
                })
                .collect();
            asking.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        })
    };
    run(REQUESTS / 8);
    let (started, before) = (Instant::now(), processor_time(server));
    let mut latencies = run(REQUESTS);
    let (seconds, used) = (started.elapsed().as_secs_f64(), processor_time(server) - before);
    latencies.sort_unstable();
    let at = |percent: usize| latencies[latencies.len() * percent / 100].as_secs_f64() * 1e3;
    println!(
        "  {name:<16} {:>7.0} requests/s   p50 {:>6.2} ms   p99 {:>6.2} ms   server {:>6.3} ms CPU a call   RSS {:>5.1} MB",
        latencies.len() as f64 / seconds,
        at(50),
        at(99),
        used * 1e3 / latencies.len() as f64,
        memory(server),
    );
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let mut databases = vec![("SQLite", format!("sqlite:{}/bench.db", directory.path().display()))];
    databases.extend(std::env::var("GUICHET_TEST_POSTGRES").ok().map(|url| ("PostgreSQL", url)));
    for (name, database_url) in databases {
        let server = Server::start("S", &database_url, directory.path());
        println!(
            "{name}: first answer {:.0} ms after start, {AT_ONCE} connections",
            server.first_answer.as_secs_f64() * 1e3
        );
        let call = |tool: &str, arguments: Value| {
            server.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
        };
        measure(&server, "tools/list", &server.request("tools/list", &json!({})));
        measure(&server, "search_clients", &call("search_clients", json!({ "query": "lem" })));
        measure(&server, "list_open_items", &call("list_open_items", json!({})));
    }
}
