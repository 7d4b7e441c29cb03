//! A server on demo data, for measurements over real HTTP.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A server on a fresh copy of the demo data.
pub(crate) struct Server {
    pub(crate) child: Child,
    address: String,
    token: String,
    pub(crate) first_answer: Duration,
}

impl Server {
    /// Seeds a database with the demo at a scale, then serves from it without rate limits.
    pub(crate) fn start(scale: &str, database_url: &str, directory: &Path) -> Self {
        let mut seeding = guichet(&[
            "demo",
            "--json",
            "--port",
            "0",
            "--reset",
            "--scale",
            scale,
            "--database-url",
            database_url,
        ]);
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

    pub(crate) fn connection(&self) -> Connection {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream, buffer: vec![0; 1 << 20] }
    }

    pub(crate) fn request(&self, method: &str, params: &Value) -> Vec<u8> {
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
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Sends a request and reads its whole answer.
    pub(crate) fn ask(&mut self, request: &[u8]) {
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
