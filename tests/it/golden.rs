//! Figures of the demo's books against those that another program computed from the same journal, see fixtures/README.md.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::world::{Client, World};

on_both! {
    the_journal_is_the_one_that_the_golden_figures_were_computed_from,
    trial_balances_are_those_of_another_program,
    results_and_balance_sheets_are_those_of_another_program,
    vat_returns_are_those_of_another_program,
    receivables_are_those_of_another_program,
}

/// The books of which there are golden figures.
const MANDATES: [&str; 5] = ["LEM-M001", "LEM-M002", "LEM-M013", "LEM-M019", "LEM-M091"];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden").join(name)
}

fn golden(part: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path("figures.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let found = all[part].as_array().unwrap().clone();
    assert!(!found.is_empty(), "{part}");
    found
}

/// `1234.50` of PostgreSQL or `123450` of SQLite, as a decimal.
fn stored(world: &World, text: &str) -> String {
    if world.database.is_postgres() {
        return text.to_owned();
    }
    let minor: i64 = text.parse().unwrap();
    let sign = if minor < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", minor.abs() / 100, minor.abs() % 100)
}

/// The journal as it is exported.
fn journal(world: &World) -> String {
    let listed = MANDATES.map(|number| format!("'{number}'")).join(", ");
    let rows = world.query(&format!(
        "SELECT m.number || '|' || CAST(e.booked_on AS TEXT) || '|' || e.journal || '-' || replace(y.label, '/', '') \
         || '-' || CAST(e.number AS TEXT) || '|' || a.number || '|' || a.kind || '|' \
         || CAST(l.debit - l.credit AS TEXT) || '|' || l.currency || '|' || CAST(l.currency_debit - l.currency_credit AS TEXT) \
         || '|' || coalesce(l.vat_code, '') || '|' || coalesce(l.vat_part, '') || '|' || coalesce(CAST(l.supplied_on AS TEXT), '') \
         FROM entries e JOIN mandates m ON m.tenant_id = e.tenant_id AND m.id = e.mandate_id \
         JOIN fiscal_years y ON y.tenant_id = e.tenant_id AND y.id = e.fiscal_year_id \
         JOIN entry_lines l ON l.tenant_id = e.tenant_id AND l.entry_id = e.id \
         JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id \
         WHERE e.state = 'posted' AND m.number IN ({listed}) \
         ORDER BY m.number, y.starts_on, e.journal, e.number, l.position"
    ));
    let mut text = "mandate;date;entry;account;kind;amount;currency;currency_amount;vat_code;vat_part;supplied_on\n".to_owned();
    for mut row in rows {
        row[5] = stored(world, &row[5]);
        row[7] = stored(world, &row[7]);
        let _ = writeln!(text, "{}", row.join(";"));
    }
    text
}

fn the_journal_is_the_one_that_the_golden_figures_were_computed_from(world: &World) {
    let exported = journal(world);
    if std::env::var("GUICHET_RENEW_GOLDEN").is_ok() {
        std::fs::write(path("journal.csv"), &exported).unwrap();
    }
    let kept = std::fs::read_to_string(path("journal.csv")).unwrap();
    let differs = exported.lines().zip(kept.lines()).find(|(now, then)| now != then);
    assert_eq!(differs, None, "see fixtures/README.md for how to renew the golden figures");
    assert_eq!(exported.lines().count(), kept.lines().count());
}

fn mandate(world: &World, number: &str) -> String {
    let id = if world.database.is_postgres() { "id::text" } else { "lower(hex(id))" };
    let rows = world.query(&format!("SELECT {id} FROM mandates WHERE number = '{number}'"));
    rows[0][0].parse::<uuid::Uuid>().unwrap().to_string()
}

/// An amount of an answer as golden figures are written.
fn amount(value: &Value) -> String {
    let amount = value.as_f64().unwrap_or_else(|| panic!("{value} is no amount"));
    let text = format!("{amount:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

fn ask(client: &Client, world: &World, tool: &str, of: &Value, more: &Value) -> Value {
    let mut arguments = json!({ "mandate_id": mandate(world, of["mandate"].as_str().unwrap()) });
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    client.ask(tool, arguments)
}

fn trial_balances_are_those_of_another_program(world: &World) {
    let owner = world.owner();
    for expected in golden("trial_balances") {
        let answer =
            ask(&owner, world, "get_trial_balance", &expected, &json!({ "to": expected["to"] }));
        assert_eq!(answer["from"], expected["from"]);
        let rows =
            answer["rows"].as_array().unwrap().iter().filter(|row| !row["account"].is_null());
        let sums = |row: &Value| {
            ["opening", "debit", "credit", "closing"].map(|name| Value::from(amount(&row[name])))
        };
        let said: serde_json::Map<String, Value> = rows
            .clone()
            .map(|row| {
                (row["account"].as_str().unwrap().to_owned(), Value::from(sums(row).to_vec()))
            })
            .collect();
        assert_eq!(
            Value::from(said),
            expected["rows"],
            "{} {}",
            expected["mandate"],
            expected["to"]
        );
        for (currency, accounts) in expected["foreign"].as_object().unwrap() {
            for (number, closing) in accounts.as_object().unwrap() {
                let row = rows.clone().find(|row| row["account"] == number.as_str()).unwrap();
                let foreign = row["foreign"].as_array().unwrap().iter();
                let found = foreign.clone().find(|one| one["currency"] == currency.as_str());
                assert_eq!(amount(&found.unwrap()["closing"]), *closing, "{number} {currency}");
            }
        }
    }
}

fn results_and_balance_sheets_are_those_of_another_program(world: &World) {
    let owner = world.owner();
    for expected in golden("results") {
        let days = json!({ "from": expected["from"], "to": expected["to"] });
        let answer = ask(&owner, world, "get_profit_and_loss", &expected, &days);
        assert_eq!(amount(&answer["result"]["amount"]), expected["result"], "{expected}");
    }
    for expected in golden("balance_sheets") {
        let answer =
            ask(&owner, world, "get_balance_sheet", &expected, &json!({ "as_of": expected["to"] }));
        let totals = &answer["totals"];
        assert_eq!(amount(&totals["assets"]["amount"]), expected["assets"], "{expected}");
        assert_eq!(amount(&totals["liabilities"]["amount"]), expected["liabilities"], "{expected}");
        assert_eq!(amount(&answer["result"]), expected["result"], "{expected}");
    }
}

fn vat_returns_are_those_of_another_program(world: &World) {
    let owner = world.owner();
    for expected in golden("vat") {
        let mut period = json!({ "year": expected["year"] });
        for name in ["quarter", "half"] {
            if !expected[name].is_null() {
                period[name] = expected[name].clone();
            }
        }
        let answer = ask(&owner, world, "get_vat_return", &expected, &period);
        let figures = answer["figures"].as_array().unwrap();
        for (number, tax) in expected["figures"].as_object().unwrap() {
            let row = figures.iter().find(|row| row["number"] == number.as_str());
            let row = row.unwrap_or_else(|| panic!("no {number}: {expected}"));
            assert_eq!(amount(&row["amount"]), *tax, "{number} of {expected}");
        }
        let is_computed = |row: &&Value| expected["half"].is_null() && row["amount"] != 0.0;
        for row in figures.iter().filter(is_computed) {
            let number = row["number"].as_str().unwrap();
            assert!(!expected["figures"][number].is_null(), "{number} of {expected}");
        }
    }
}

fn receivables_are_those_of_another_program(world: &World) {
    let owner = world.owner();
    for expected in golden("receivables") {
        let answer =
            owner.ask("list_open_items", json!({ "as_of": expected["as_of"], "limit": 1 }));
        for (currency, open) in expected["open"].as_object().unwrap() {
            let totals = answer["totals"].as_array().unwrap().iter();
            let total = totals.clone().find(|total| total["currency"] == currency.as_str());
            let sum = total.map_or(0.0, |total| {
                total["open"].as_f64().unwrap() + total["credit_balance"].as_f64().unwrap()
            });
            assert_eq!(amount(&sum.into()), *open, "{currency} {expected}");
        }
    }
}
