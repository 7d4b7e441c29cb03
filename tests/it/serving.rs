//! `guichet serve` as a process: how it ends, what it logs, and whom it does not wait for.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::process::{Server, guichet, secret_file};
use crate::world::{Client, Database, Owner, World};

/// Serves a database; the directory holds the secret.
fn serve(database: &Database, directory: &TempDir, more: &[&str]) -> Server {
    let secret = secret_file(directory.path()).display().to_string();
    let mut command = guichet(&["serve", "--listen", "127.0.0.1:0", "--secret-file", &secret]);
    Server::serve(command.args(["--database-url", &database.server_url]).args(more))
}

fn owner_token() -> String {
    let people = guichet::demo::people();
    people.into_iter().find(|person| person.role == "owner").unwrap().token
}

#[test]
fn sigterm_finishes_what_is_in_flight() {
    let (database, directory) = (Database::postgres(), tempfile::tempdir().unwrap());
    let mut server = serve(&database, &directory, &[]);
    let Owner::Postgres(mut owner) = database.owner() else { unreachable!() };
    owner.batch_execute("BEGIN; LOCK TABLE clients IN ACCESS EXCLUSIVE MODE").unwrap();
    let client = server.bearer(&owner_token());
    let asked = std::thread::spawn(move || client.call("search_clients", json!({ "limit": 1 })));
    let waiting =
        "SELECT count(*)::text FROM pg_locks WHERE relation = 'clients'::regclass AND NOT granted";
    let started = Instant::now();
    while database.rows(waiting)[0][0] != "1" {
        assert!(started.elapsed() < Duration::from_secs(5), "{}", server.log());
    }
    server.signal("TERM");
    server.await_log(|log| log.contains("SIGTERM received").then_some(()));
    owner.batch_execute("ROLLBACK").unwrap();
    let answer = asked.join().unwrap();
    assert_eq!(answer.content()["items"].as_array().unwrap().len(), 1);
    let (status, log) = server.end();
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_killed_server_leaves_a_sound_file() {
    let (database, directory) = (Database::sqlite(), tempfile::tempdir().unwrap());
    let server = serve(&database, &directory, &[]);
    let people = guichet::demo::people();
    let revoked = people.iter().find(|person| person.role == "assistant").unwrap();
    let ended = server.bearer(&revoked.token).send("/auth/revoke", &[], "");
    assert_eq!(ended.status, 200);
    let others = people.iter().filter(|person| person.role != "owner");
    let in_flight: Vec<_> = others
        .map(|person| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            let head = format!(
                "POST /auth/revoke HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\n\r\n",
                server.address, person.token
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    server.signal("KILL");
    assert_eq!(server.end().0.code(), None);
    drop(in_flight);
    let server = serve(&database, &directory, &[]);
    assert_eq!(database.rows("SELECT integrity_check FROM pragma_integrity_check"), [["ok"]]);
    server.bearer(&owner_token()).ask("list_open_items", json!({}));
    assert_eq!(server.bearer(&revoked.token).rpc("ping", json!({})).status, 401);
    server.stop();
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Sends raw bytes; answers the status.
fn send_raw(address: SocketAddr, request: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default()
}

/// Requests with a marked word and a token wherever a caller can write; answers how many there were.
fn send_hostile(server: &Server) -> usize {
    let token = owner_token();
    let owner = server.bearer(&token);
    let hostile = "CANARY\r\n{\"level\":\"ERROR\"}\n2026-01-01T00:00:00Z ERROR \" \\ gct_CANARY \u{2028}\u{1b}[31m";
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "search_clients", "arguments": { "query": hostile } } });
    let ok = owner.send("/mcp", &[("traceparent", &parent)], &body.to_string());
    assert_eq!(ok.status, 200);
    owner.call("search_clients", json!({ hostile: hostile, "limit": hostile }));
    owner.call(hostile, json!({}));
    owner.rpc(hostile, json!({ hostile: hostile }));
    owner.rpc("resources/read", json!({ "uri": hostile }));
    owner.post(hostile);
    owner.send("/mcp?note=%0d%0aCANARY%22", &[], &body.to_string());
    assert_eq!(owner.send("/mcp?token=gct_CANARY", &[], &body.to_string()).status, 400);
    server.bearer("gct_CANARY").rpc("ping", json!({}));
    server.bearer("eyJCANARY.CANARY.CANARY").rpc("ping", json!({}));
    let sign_in = json!({ "email": "CANARY\r\n@leman.example", "password": "gct_CANARY-CANARY" });
    Client::new(server.address, None).send("/auth/token", &[], &sign_in.to_string());
    let body = body.to_string();
    let raw = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         traceparent: 00-CANARY\" gct_CANARY\r\nUser-Agent: CANARY\" level=ERROR\r\nMcp-Method: CANARY\r\nX-Forwarded-For: CANARY\r\n\
         Content-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    assert_eq!(send_raw(server.address, &raw), 200);
    12
}

#[test]
fn the_log_has_one_line_a_request_and_no_word_of_the_caller() {
    let (database, directory) = (Database::sqlite(), tempfile::tempdir().unwrap());
    let server = serve(&database, &directory, &["--log-format", "json"]);
    let sent = send_hostile(&server);
    let log = server.stop();
    holds_no_secret(&log);
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests: Vec<_> =
        lines.iter().filter(|line| line["target"] == "guichet::request").collect();
    assert_eq!(requests.len(), sent, "{log}");
    let first = requests[0];
    assert_eq!(first["trace"], TRACE);
    assert_eq!((&first["firm"], &first["tool"]), (&json!("leman"), &json!("search_clients")));
    assert_eq!((&first["outcome"], &first["status"]), (&json!("ok"), &json!(200)));
    for request in requests {
        assert!(request["duration_ms"].is_u64(), "{request}");
        assert_eq!(request["trace"].as_str().unwrap().len(), 32, "{request}");
        for field in ["time", "level", "person", "token", "method", "outcome"] {
            assert!(!request[field].as_str().unwrap().is_empty(), "{field}: {request}");
        }
    }
    assert!(first["person"].as_str().unwrap().parse::<uuid::Uuid>().is_ok(), "{first}");
}

#[test]
fn the_log_for_people_keeps_to_its_lines_too() {
    let (database, directory) = (Database::sqlite(), tempfile::tempdir().unwrap());
    let server = serve(&database, &directory, &[]);
    let sent = send_hostile(&server);
    let purpose = "check\r\n2026-01-01T00:00:00Z ERROR of \"numbers\" \u{1b}[31m";
    let owner = server.bearer(&owner_token());
    let employee = "SELECT hex(id) FROM employees WHERE tenant_id = (SELECT id FROM tenants WHERE slug = 'leman') LIMIT 1";
    let employee = database.rows(employee)[0][0].parse::<uuid::Uuid>().unwrap().to_string();
    let shown = json!({ "employee_id": employee, "include_sensitive": true, "purpose": purpose });
    owner.ask("get_employee", shown);
    let log = server.stop();
    holds_no_secret(&log);
    assert_eq!(
        log.lines().filter(|line| line.contains(" duration_ms=")).count(),
        sent + 1,
        "{log}"
    );
    for line in log.lines() {
        let level = line.split_whitespace().nth(1).unwrap();
        assert!(["INFO", "WARN"].contains(&level), "{line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

fn holds_no_secret(log: &str) {
    let folded = log.to_lowercase();
    let token = owner_token();
    for secret in ["canary", "gct_", "eyj", "bearer", &token[4..20].to_lowercase()] {
        assert!(!folded.contains(secret), "{secret}: {log}");
    }
}

/// Sends `start`, then a byte a second; answers what came back before the end, and when.
fn dribble(address: SocketAddr, start: &str) -> (String, Duration) {
    let started = Instant::now();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    stream.write_all(start.as_bytes()).unwrap();
    let mut answer = vec![];
    let mut buffer = [0; 4_096];
    while started.elapsed() < Duration::from_secs(25) {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if stream.write_all(b"x").is_err() {
                    break;
                }
            }
            Err(_) => break,
        }
    }
    (String::from_utf8_lossy(&answer).into_owned(), started.elapsed())
}

#[test]
fn a_slow_client_is_cut_off() {
    let world = World::new(Database::sqlite());
    let head = |authorization: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n{authorization}\r\n",
            world.address
        )
    };
    let bearer = format!("Authorization: Bearer {}\r\n", owner_token());
    let slow_head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nX-Slow: ", world.address);
    std::thread::scope(|threads| {
        for start in [head(""), head(&bearer)] {
            threads.spawn(move || {
                let (answer, after) = dribble(world.address, &start);
                assert!(answer.starts_with("HTTP/1.1 408"), "{answer:?} after {after:?}");
                assert!((9..=13).contains(&after.as_secs()), "{after:?}");
            });
        }
        threads.spawn(move || {
            let (answer, after) = dribble(world.address, &slow_head);
            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer:?}");
            assert!((4..=8).contains(&after.as_secs()), "{after:?}");
        });
    });
}
