//! Books that come from another program: posted whole, or refused with the line and the rule.

use serde_json::{Value, json};

use crate::world::World;
use crate::world::process::{Said, file, guichet, run};

on_both! {
    a_file_of_entries_becomes_posted_books,
    a_second_file_goes_on_where_the_first_ended,
    whatever_breaks_a_rule_is_named_with_its_line_and_nothing_is_imported,
}

/// A mandate that keeps no books in the demo.
const MANDATE: &str = "LEM-M009";

fn import(world: &World, entries: &[Value], accounts: &[Value], more: &[&str]) -> Said {
    let directory = tempfile::tempdir().unwrap();
    let lines =
        |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let entries = file(directory.path(), "entries.jsonl", &lines(entries), 0o600);
    let chart = file(directory.path(), "accounts.jsonl", &lines(accounts), 0o600);
    let mut command = guichet(&["ledger", "import", "--tenant", "leman", "--mandate", MANDATE]);
    command.args(["--database-url", &world.database.server_url]);
    command.args(["--owner-url", &world.database.owner_url]);
    command.arg("--chart").arg(chart).args(more).arg(entries);
    run(&mut command)
}

fn two_lines(day: &str, debit: &str, credit: &str, amount: f64) -> Value {
    json!({ "date": day, "text": "Import", "voucher": "V-1", "lines": [
        { "account": debit, "debit": amount }, { "account": credit, "credit": amount } ] })
}

fn opening() -> Vec<Value> {
    vec![
        json!({ "date": "2025-01-01", "journal": "ANO", "text": "Opening", "voucher": "O-1", "lines": [
            { "account": "1020", "debit": 5000 }, { "account": "2800", "credit": 5000 } ] }),
        json!({ "date": "2026-02-03", "journal": "ACH", "text": "Paper", "voucher": "F-88", "key": "old-1", "lines": [
            { "account": "6501", "debit": 100, "vat_code": "VI" },
            { "account": "1171", "debit": 8.1, "vat_code": "VI", "vat_part": "tax" },
            { "account": "2000", "credit": 108.1, "party": "Papeterie" } ] }),
        json!({ "date": "2026-02-04", "journal": "VTE", "text": "Sale in euro", "voucher": "R-1", "lines": [
            { "account": "1101", "debit": 95.25, "currency": "EUR", "currency_amount": 100, "rate": 0.9525 },
            { "account": "3400", "credit": 95.25, "currency": "EUR", "currency_amount": 100, "rate": 0.9525 } ] }),
    ]
}

fn paper() -> Vec<Value> {
    vec![
        json!({ "number": "6501", "kind": "expense", "fr": "Papier", "de": "Papier", "en": "Paper" }),
    ]
}

/// Number, state and commit of the mandate's entries, then its lines.
fn books(world: &World) -> Vec<Vec<String>> {
    let of = format!("(SELECT id FROM mandates WHERE number = '{MANDATE}')");
    world.query(&format!(
        "SELECT y.label || '|' || e.journal || '|' || e.number || '|' || e.state || '|' || e.voucher FROM entries e \
         JOIN fiscal_years y ON y.tenant_id = e.tenant_id AND y.id = e.fiscal_year_id \
         WHERE e.mandate_id = {of} ORDER BY y.label, e.journal, e.number"
    ))
}

fn a_file_of_entries_becomes_posted_books(world: &World) {
    let said = import(world, &opening(), &paper(), &["--create-years"]);
    let done =
        "Posted 3 entries with 7 lines to LEM-M009; 1 accounts and 2 fiscal years are new.\n";
    assert_eq!((said.code, said.out.as_str()), (Some(0), done), "{said:?}");
    let rows: Vec<_> = books(world).into_iter().map(|row| row.join(" ")).collect();
    assert_eq!(rows, ["2025 ANO 1 posted O-1", "2026 ACH 1 posted F-88", "2026 VTE 1 posted R-1"],);
    let scale = if world.database.is_postgres() { 100 } else { 1 };
    let line = format!(
        "SELECT CAST(CAST(l.debit * {scale} AS BIGINT) AS TEXT) || '|' || l.currency || '|' || \
         CAST(CAST(l.currency_debit * {scale} AS BIGINT) AS TEXT) \
         FROM entry_lines l JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id \
         WHERE a.number = '1101' AND l.mandate_id = (SELECT id FROM mandates WHERE number = '{MANDATE}')"
    );
    assert_eq!(world.query(&line), [["9525", "EUR", "10000"]]);
    let commits = "SELECT CAST(count(DISTINCT e.commit_number) AS TEXT) FROM entries e \
         WHERE e.mandate_id = (SELECT id FROM mandates WHERE number = 'LEM-M009')";
    assert_eq!(world.query(commits), [["1"]]);
}

fn a_second_file_goes_on_where_the_first_ended(world: &World) {
    assert_eq!(import(world, &opening(), &paper(), &["--create-years"]).code, Some(0));
    let again = import(world, &opening(), &paper(), &[]);
    assert!(
        again.err.contains("entry on line 2: key old-1 was used")
            && again.err.contains("[key_once]"),
        "{again:?}"
    );
    let more = json!({ "date": "2026-03-01", "journal": "ACH", "text": "Ink", "voucher": "F-89", "lines": [
        { "account": "6501", "debit": 20 }, { "account": "2000", "credit": 20 } ] });
    assert_eq!(import(world, &[more], &paper(), &[]).code, Some(0));
    let last = books(world).into_iter().find(|row| row[4] == "F-89").unwrap();
    assert_eq!(last.join(" "), "2026 ACH 2 posted F-89");
}

fn whatever_breaks_a_rule_is_named_with_its_line_and_nothing_is_imported(world: &World) {
    assert_eq!(import(world, &opening(), &paper(), &["--create-years"]).code, Some(0));
    world.sql(&format!(
        "UPDATE fiscal_years SET state = 'closed' WHERE label = '2025' AND mandate_id = (SELECT id FROM mandates WHERE number = '{MANDATE}')"
    ));
    world.sql(&format!(
        "UPDATE fiscal_years SET locked_through = '2026-01-31' WHERE label = '2026' AND mandate_id = (SELECT id FROM mandates WHERE number = '{MANDATE}')"
    ));
    let before = books(world);
    let entry = |lines: Value| json!({ "date": "2026-05-01", "text": "Bad", "voucher": "B-1", "lines": lines });
    let with = |field: &str, value: Value| {
        let mut bad = two_lines("2026-05-01", "6000", "1020", 10.0);
        bad[field] = value;
        bad
    };
    let against = |line: Value| entry(json!([line, { "account": "1020", "credit": 10 }]));
    let cases: Vec<(Value, &str)> = vec![
        (entry(json!([{ "account": "6000", "debit": 10 }])), "[two_lines]"),
        (against(json!({ "account": "6000", "debit": 10, "credit": 10 })), "[one_side]"),
        (against(json!({ "account": "6000", "debit": 0 })), "[one_side]"),
        (against(json!({ "account": "6000", "debit": -10 })), "[one_side]"),
        (against(json!({ "account": "6000", "debit": 9.5 })), "differ by 0.50"),
        (against(json!({ "account": "1101", "debit": 10 })), "[account_currency]"),
        (
            against(
                json!({ "account": "1101", "debit": 10, "currency": "EUR", "currency_amount": 11, "rate": 0.95 }),
            ),
            "[foreign_amount]",
        ),
        (
            against(
                json!({ "account": "1101", "debit": 10, "currency": "EUR", "currency_amount": 11 }),
            ),
            "[foreign_amount]",
        ),
        (against(json!({ "account": "6009", "debit": 10 })), "[known_account]"),
        (against(json!({ "account": "600", "debit": 10 })), "[postable_account]"),
        (against(json!({ "account": "6000", "debit": 10, "vat_code": "ZZ" })), "[known_vat_code]"),
        (
            against(json!({ "account": "6000", "debit": 10, "vat_code": "VI", "vat_rate": 7.7 })),
            "stood at 8.1 %",
        ),
        (two_lines("2031-01-01", "6000", "1020", 10.0), "[fiscal_year]"),
        (two_lines("2025-12-31", "6000", "1020", 10.0), "fiscal year 2025 is closed"),
        (two_lines("2026-01-31", "6000", "1020", 10.0), "locked through 2026-01-31"),
        (with("text", json!(" ")), "[text]"),
        (with("voucher", json!("")), "[voucher]"),
        (with("journal", json!("EXT")), "[reversal_journal]"),
        (with("date", json!("2026-02-30")), "[json]"),
        (with("amount", json!(1)), "[json]"),
        (against(json!({ "account": "6000", "debit": 10.005 })), "[json]"),
    ];
    for (bad, expected) in cases {
        let said =
            import(world, &[two_lines("2026-05-01", "6000", "1020", 1.0), bad.clone()], &[], &[]);
        let is_named = said.err.contains("nothing was imported; entry on line 2: ");
        assert!(said.code == Some(1) && is_named && said.err.contains(expected), "{bad}: {said:?}");
    }
    assert_eq!(books(world), before);
}
