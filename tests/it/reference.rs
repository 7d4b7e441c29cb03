//! What the documents show is what the program says.

use std::process::Command;

use serde_json::{Value, json};

use crate::world::World;

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

on_both! { the_session_in_the_readme_shows_the_figures_of_the_demo }

fn the_session_in_the_readme_shows_the_figures_of_the_demo(world: &World) {
    let picture = include_str!("../../docs/session.svg");
    for role in ["owner", "accountant"] {
        let arguments = json!({ "as_of": "2026-06-30", "currency": "CHF", "overdue_only": true });
        let total = &world.client("leman", role).ask("list_open_items", arguments)["totals"][0];
        let written = format!("{} invoices, {} CHF", total["count"], grouped(&total["open"]));
        assert!(picture.contains(&written), "{role}: {written}");
    }
    let arguments = json!({ "as_of": "2026-06-30", "currency": "CHF", "overdue_only": true });
    let answer = world.owner().ask("list_open_items", arguments);
    for bucket in answer["totals"][0]["buckets"].as_array().unwrap().iter().skip(1) {
        let row = format!(
            "{} CHF {:>5} invoices",
            grouped(&bucket["open"]),
            bucket["count"].as_i64().unwrap()
        );
        assert!(picture.contains(&row), "{row}");
    }
    let oldest = &answer["items"][0];
    for figure in [oldest["number"].as_str().unwrap(), &grouped(&oldest["open"])] {
        assert!(picture.contains(figure), "{figure}");
    }
    assert!(picture.contains(&format!("{} days overdue", oldest["days_overdue"])));
}

/// An amount below a million as the picture writes it: `92,337.69`.
fn grouped(amount: &Value) -> String {
    let digits = format!("{:.2}", amount.as_f64().unwrap());
    let (thousands, rest) = digits.split_at(digits.len().saturating_sub(6));
    if thousands.is_empty() { rest.to_owned() } else { format!("{thousands},{rest}") }
}
