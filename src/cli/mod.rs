//! The command line.

mod demo;
mod knowledge;
mod ledger;
mod logging;
mod migrate;
mod reference;
mod serve;
mod table;
mod tenant;
mod token;
mod tools;
mod user;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::DatabaseArgs;
use crate::db::Administration;
use crate::db::connection::AnyConnection;
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
    /// Try it: two demo firms in an embedded database, served at once
    Demo(demo::DemoArgs),
    /// Serve MCP from a database, until SIGTERM
    Serve(Box<crate::config::ServeArgs>),
    /// Create or update the tables of a database
    Migrate(DatabaseArgs),
    /// Create, list, deactivate and activate firms
    #[command(subcommand)]
    Tenant(tenant::TenantCommand),
    /// Add people to firms, and change what they may do and reach
    #[command(subcommand)]
    User(user::UserCommand),
    /// Create, list and revoke API tokens
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Move books in from another program
    #[command(subcommand)]
    Ledger(ledger::LedgerCommand),
    /// Prepare the knowledge graph for search by meaning
    #[command(subcommand)]
    Knowledge(knowledge::KnowledgeCommand),
    /// Show which roles may call which tools
    Tools(tools::ToolsArgs),
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
        Command::Demo(args) => demo::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Migrate(args) => migrate::run(&args),
        Command::Tenant(command) => tenant::run(&command),
        Command::User(command) => user::run(&command),
        Command::Token(command) => token::run(&command),
        Command::Ledger(command) => ledger::run(&command),
        Command::Knowledge(command) => knowledge::run(&command),
        Command::Tools(args) => tools::run(&args),
    }
}

/// Runs one transaction on the owner's connection.
fn administer<T>(
    database: &DatabaseArgs,
    work: impl FnOnce(&mut AnyConnection) -> Result<T>,
) -> Result<T> {
    Administration::open(database.owner()?)?.transaction(work)
}

/// What is wrong, on one line, for whoever runs the program: here a fault shows its causes.
fn sentence(error: &Error) -> String {
    let text = match error {
        Error::Refused(refusal) => refusal.message.clone(),
        Error::Failed(fault) => fault.cause_text(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn every_administrative_command_shows_examples() {
        Cli::command().debug_assert();
        let mut cli = Cli::command();
        let mut leaves: Vec<String> = vec![];
        for command in cli.get_subcommands_mut() {
            for leaf in command.get_subcommands_mut() {
                let help = leaf.render_long_help().to_string();
                assert!(help.contains("Examples:\n  guichet "), "{}", leaf.get_name());
                leaves.push(leaf.get_name().to_owned());
            }
        }
        assert_eq!(leaves.len(), 17, "{leaves:?}");
    }
}
