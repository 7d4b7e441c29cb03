//! The program itself, as a process: run to its end, or started and asked over HTTP.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Client;

/// How long a program may take to start or to end before the test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// The program with arguments and without the settings of whoever runs the tests.
pub(crate) fn guichet(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_guichet"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// What a program that has ended said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the program to its end.
pub(crate) fn run(command: &mut Command) -> Said {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().ok();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs the program to an end that must be good; answers what it printed.
pub(crate) fn run_well(command: &mut Command) -> String {
    let said = run(command);
    assert_eq!(said.code, Some(0), "{said:?}");
    said.out
}

/// A running server; killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    out: BufReader<ChildStdout>,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts `guichet serve` on a free port and waits until it says where.
    pub(crate) fn serve(command: &mut Command) -> Self {
        let mut server = Self::start(command);
        server.address = server.await_log(|log| {
            let (_, rest) = log.split_once("serving http://")?;
            rest.split_once("/mcp").and_then(|(address, _)| address.parse().ok())
        });
        server
    }

    /// Starts `guichet demo`; answers the first line that it prints too.
    pub(crate) fn demo(command: &mut Command) -> (Self, String) {
        let mut server = Self::start(command);
        let mut line = String::new();
        server.out.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{}", server.log());
        let url = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        server.address = url.split("/mcp").next().unwrap().parse().unwrap();
        (server, line)
    }

    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let log = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&log);
        let reader = std::thread::spawn(move || {
            let mut line = vec![];
            while err.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                shared.lock().unwrap().push_str(&String::from_utf8_lossy(&line));
                line.clear();
            }
        });
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        Self { child, address, out, log, reader: Some(reader) }
    }

    /// A client with a bearer token.
    pub(crate) fn bearer(&self, token: &str) -> Client {
        Client::new(self.address, Some(format!("Bearer {token}")))
    }

    /// What the server has logged so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log holds what `find` looks for.
    pub(crate) fn await_log<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(found) = find(&self.log()) {
                return found;
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() && started.elapsed() < PATIENCE, "{ended:?} {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Reads what the server prints, up to the line that holds `last`.
    pub(crate) fn print_until(&mut self, last: &str) -> String {
        let mut printed = String::new();
        while !printed.contains(last) {
            let read = self.out.read_line(&mut printed).unwrap();
            assert!(read > 0, "{printed}");
        }
        printed
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the end; answers how it ended and the whole log.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let started = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if started.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                None => panic!("the server does not end: {}", self.log()),
            }
        };
        self.reader.take().unwrap().join().unwrap();
        (status, self.log())
    }

    /// Asks the server to stop and waits until it has.
    pub(crate) fn stop(self) -> String {
        self.signal("TERM");
        let (status, log) = self.end();
        assert_eq!(status.code(), Some(0), "{log}");
        log
    }

    /// What is printed after the last line that was read, once the server has ended.
    pub(crate) fn rest_of_output(&mut self) -> String {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        rest
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Writes a secret that only its owner can read.
pub(crate) fn secret_file(directory: &Path) -> PathBuf {
    file(directory, "secret", "kX3vQ9mTz7Lw2RfYb8HsNc4JpUd6GaEo", 0o600)
}

/// Writes a file with a mode.
pub(crate) fn file(directory: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}
