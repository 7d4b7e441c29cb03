//! The `guichet` program: parse the command line, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    guichet::cli::main()
}
