//! The command line.

mod logging;
mod migrate;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{Error, Result};

/// Guichet: the service window of a fiduciary's books for AI assistants
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve MCP from a database, until SIGTERM
    Serve(Box<crate::config::ServeArgs>),
    /// Create or update the tables of a database
    Migrate(crate::config::DatabaseArgs),
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("guichet: {}", sentence(&error));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Serve(args) => serve::run(&args),
        Command::Migrate(args) => migrate::run(&args),
    }
}

/// What is wrong, for whoever runs the program: here a fault shows its causes.
fn sentence(error: &Error) -> String {
    match error {
        Error::Refused(refusal) => refusal.message.clone(),
        Error::Failed(fault) => fault.cause_text(),
    }
}
