//! The checked-in reference is what the registry says.

use std::process::Command;

#[test]
fn the_checked_in_reference_is_what_the_registry_generates() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_guichet")).args(["tools", "--markdown"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let generated = String::from_utf8(output.stdout).unwrap();
    let checked_in = include_str!("../../docs/tools.md");
    let differs = generated.lines().zip(checked_in.lines()).find(|(new, old)| new != old);
    assert!(
        generated == checked_in,
        "docs/tools.md is stale; renew it with `cargo run -- tools --markdown > docs/tools.md`: {differs:?}"
    );
}
