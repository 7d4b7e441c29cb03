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

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Requests under way at once, each on a connection of its own.
const AT_ONCE: usize = 32;
/// Requests of one measurement.
const REQUESTS: usize = 8_000;
/// Clock ticks in a second of processor time, as Linux counts them.
const TICKS: f64 = 100.0;

/// A server on a fresh copy of the demo data.
struct Server {
    child: Child,
    address: String,
    token: String,
    first_answer: Duration,
}

impl Server {
    /// Seeds a database with the demo, then serves from it without rate limits.
    fn start(database_url: &str, directory: &Path) -> Self {
        let mut seeding =
            guichet(&["demo", "--json", "--port", "0", "--reset", "--database-url", database_url]);
        let people: Value = serde_json::from_str(&line_of(&mut seeding)).unwrap();
        stop(&mut seeding);
        let token = people["people"][0]["token"].as_str().unwrap().to_owned();
        let secret = directory.join("secret");
        std::fs::write(&secret, "only for a measurement: 0123456789 abcdefghij").unwrap();
        std::fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let unlimited = u32::MAX.to_string();
        let started = Instant::now();
        let child = guichet(&[
            "serve",
            "--database-url",
            &as_server(database_url),
            "--secret-file",
            &secret.display().to_string(),
            "--listen",
            &address,
            "--rate-per-credential",
            &unlimited,
            "--rate-per-firm",
            &unlimited,
        ]);
        let mut server = Self { child, address, token, first_answer: Duration::ZERO };
        while TcpStream::connect(&server.address).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
        server.connection().ask(&server.request("tools/list", &json!({})));
        server.first_answer = started.elapsed();
        server
    }

    fn connection(&self) -> Connection {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream, buffer: vec![0; 1 << 20] }
    }

    fn request(&self, method: &str, params: &Value) -> Vec<u8> {
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )
        .into_bytes()
    }

    /// Seconds of processor time so far.
    fn processor_time(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
        (ticks(11) + ticks(12)) / TICKS
    }

    /// Resident memory in MB.
    fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1_024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

fn guichet(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_guichet"));
    command.args(arguments).env("RUST_LOG", "error").stdout(Stdio::piped()).spawn().unwrap()
}

/// The database as the serving role of the demo reaches it, on a PostgreSQL that trusts its roles.
fn as_server(database_url: &str) -> String {
    if database_url.starts_with("sqlite:") {
        return database_url.to_owned();
    }
    let mut url = url::Url::parse(database_url).unwrap();
    url.set_username("guichet_demo_server").unwrap();
    url.into()
}

fn line_of(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}

fn stop(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A connection that is kept.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Sends a request and reads its whole answer.
    fn ask(&mut self, request: &[u8]) {
        self.stream.write_all(request).unwrap();
        let mut read = 0;
        loop {
            read += self.stream.read(&mut self.buffer[read..]).unwrap();
            let answer = &self.buffer[..read];
            let Some(head) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let text = std::str::from_utf8(&answer[..head]).unwrap();
            assert!(text.starts_with("HTTP/1.1 200"), "{text}");
            let length =
                text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if read == head + 4 + length.parse::<usize>().unwrap() {
                return;
            }
        }
    }
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
    let (started, before) = (Instant::now(), server.processor_time());
    let mut latencies = run(REQUESTS);
    let (seconds, used) = (started.elapsed().as_secs_f64(), server.processor_time() - before);
    latencies.sort_unstable();
    let at = |percent: usize| latencies[latencies.len() * percent / 100].as_secs_f64() * 1e3;
    println!(
        "  {name:<16} {:>7.0} requests/s   p50 {:>6.2} ms   p99 {:>6.2} ms   server {:>6.3} ms CPU a call   RSS {:>5.1} MB",
        latencies.len() as f64 / seconds,
        at(50),
        at(99),
        used * 1e3 / latencies.len() as f64,
        server.memory(),
    );
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let mut databases = vec![("SQLite", format!("sqlite:{}/bench.db", directory.path().display()))];
    databases.extend(std::env::var("GUICHET_TEST_POSTGRES").ok().map(|url| ("PostgreSQL", url)));
    for (name, database_url) in databases {
        let server = Server::start(&database_url, directory.path());
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
