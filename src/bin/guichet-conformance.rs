//! The server with the fixtures of the official conformance suite: `guichet-conformance [PORT]`.

use std::process::ExitCode;

use guichet::error::Error;
use guichet::http::conformance;

fn main() -> ExitCode {
    env_logger::init();
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse());
    let Ok(port) = port else {
        eprintln!("guichet-conformance: the one argument is a port");
        return ExitCode::FAILURE;
    };
    match conformance::serve(port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Failed(fault)) => {
            eprintln!("guichet-conformance: {}", fault.cause_text());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("guichet-conformance: {error}");
            ExitCode::FAILURE
        }
    }
}
