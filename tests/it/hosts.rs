//! What is refused before anybody is asked who they are.

use serde_json::json;

use crate::world::{Database, Options, World, body_of};
use guichet::http::Handshake;

#[test]
fn with_a_challenge_nothing_answers_without_a_credential() {
    let options = Options { handshake: Handshake::Challenge, ..Options::default() };
    let world = World::with(Database::sqlite(), &options);
    let body = body_of("initialize", json!({ "protocolVersion": "2025-11-25" })).to_string();
    let answer = world.anonymous().send("/mcp", &[], &body);
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, "Bearer"));
    assert_eq!(world.anonymous().send("/mcp", &[], "not JSON").status, 401, "the body is not read");
    assert_eq!(world.anonymous().rpc_modern("server/discover", json!({})).status, 401);
    assert_eq!(world.owner().send("/mcp", &[], &body).status, 200);
    assert_eq!(world.anonymous().get("/mcp").status, 405);
}

/// A raw exchange: what no HTTP library would send.
fn raw(world: &World, request: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(world.address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        answer += &String::from_utf8_lossy(&buffer[..read]);
        if answer.contains("\r\n\r\n") {
            break;
        }
    }
    answer
}

#[test]
fn a_foreign_host_is_refused_before_anything_else() {
    let world = World::new(Database::sqlite());
    let request = |head: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\n{head}content-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
        )
    };
    for (head, status) in [
        ("host: evil.example\r\n", "403"),
        ("host: localhost.evil.example\r\n", "403"),
        ("host: 127.0.0.1@evil.example\r\n", "403"),
        ("host: 127.0.0.1\r\nhost: evil.example\r\n", "40"),
        ("host: 127.0.0.1:1\r\n", "400"),
        ("host: localhost\r\n", "400"),
        ("host: 127.0.0.1\r\ncontent-length: 3\r\n", "400"),
        ("host: 127.0.0.1\r\ntransfer-encoding: chunked\r\n", "400"),
    ] {
        let answer = raw(&world, &request(head));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{head:?}: {answer}");
    }
    let options = raw(
        &world,
        "OPTIONS /mcp HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost:3000\r\n\r\n",
    );
    assert!(options.starts_with("HTTP/1.1 204"), "{options}");
    let options = options.to_lowercase();
    for header in [
        "access-control-allow-origin: http://localhost:3000",
        "mcp-protocol-version",
        "mcp-method",
        "authorization",
    ] {
        assert!(options.contains(header), "{header}: {options}");
    }
    let evil = raw(
        &world,
        "OPTIONS /mcp HTTP/1.1\r\nhost: localhost\r\norigin: http://evil.example\r\n\r\n",
    );
    assert!(evil.starts_with("HTTP/1.1 403"), "{evil}");
    let health = raw(&world, "GET /health HTTP/1.1\r\nhost: 10.0.0.7\r\n\r\n");
    assert!(
        health.starts_with("HTTP/1.1 200") && health.ends_with(r#"{"status":"ok"}"#),
        "{health}"
    );
    assert!(
        raw(&world, "TRACE /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n").starts_with("HTTP/1.1 405")
    );
}
