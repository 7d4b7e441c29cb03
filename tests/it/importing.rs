//! Books that come from another program: posted whole, or refused with the line and the rule.

use serde_json::{Value, json};

use crate::world::World;
use crate::world::process::{Said, file, guichet, run};

on_both! {
    a_file_of_entries_becomes_posted_books,
    a_second_file_goes_on_where_the_first_ended,
    whatever_breaks_a_rule_is_named_with_its_line_and_nothing_is_imported,
    nothing_is_posted_before_a_year_that_is_closed_or_locked,
    a_field_that_is_empty_too_long_or_alone_is_refused,
    a_revaluation_says_that_its_amount_is_nought,
    what_is_no_list_of_objects_is_named_with_its_line,
    a_chart_is_refused_with_the_line_of_the_account,
    an_import_beside_another_is_told_to_try_again,
}

/// A mandate that keeps no books in the demo.
const MANDATE: &str = "LEM-M009";

fn import(world: &World, entries: &[Value], accounts: &[Value], more: &[&str]) -> Said {
    let lines =
        |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    import_text(world, &lines(entries), &lines(accounts), more)
}

fn import_text(world: &World, entries: &str, accounts: &str, more: &[&str]) -> Said {
    let directory = tempfile::tempdir().unwrap();
    let entries = file(directory.path(), "entries.jsonl", entries, 0o600);
    let chart = file(directory.path(), "accounts.jsonl", accounts, 0o600);
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

fn set_year(world: &World, label: &str, set: &str) {
    world.sql(&format!(
        "UPDATE fiscal_years SET {set} WHERE label = '{label}' \
         AND mandate_id = (SELECT id FROM mandates WHERE number = '{MANDATE}')"
    ));
}

fn a_file_of_entries_becomes_posted_books(world: &World) {
    let said = import(world, &opening(), &paper(), &["--create-years"]);
    let done = "Posted 3 entries with 7 lines to LEM-M009; new: 1 account and 2 fiscal years.\n";
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
    set_year(world, "2025", "state = 'closed'");
    set_year(world, "2026", "locked_through = '2026-01-31'");
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
        (
            two_lines("2031-01-01", "6000", "1020", 10.0),
            "create the year first with --create-years [fiscal_year]",
        ),
        (two_lines("2025-12-31", "6000", "1020", 10.0), "fiscal year 2025 is closed"),
        (two_lines("2026-01-31", "6000", "1020", 10.0), "locked through 2026-01-31"),
        (with("text", json!(" ")), "[text]"),
        (with("voucher", json!("")), "[voucher]"),
        (with("journal", json!("EXT")), "[reversal_journal]"),
        (
            with("journal", json!("XYZ")),
            "no journal \"XYZ\"; use one of VTE, ACH, BNQ, CAS, SAL, OD, ANO, CLO at column",
        ),
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

fn nothing_is_posted_before_a_year_that_is_closed_or_locked(world: &World) {
    assert_eq!(import(world, &opening(), &paper(), &["--create-years"]).code, Some(0));
    let years = || {
        let of = format!("(SELECT id FROM mandates WHERE number = '{MANDATE}')");
        world.query(&format!(
            "SELECT label FROM fiscal_years WHERE mandate_id = {of} ORDER BY label"
        ))
    };
    let (rows, labels) = (books(world), years());
    let refused = |day: &str, more: &[&str], expected: &str| {
        let said = import(world, &[two_lines(day, "1020", "2800", 10.0)], &[], more);
        assert!(said.code == Some(1) && said.err.contains(expected), "{day} {more:?}: {said:?}");
        assert_eq!((books(world), years()), (rows.clone(), labels.clone()));
    };
    set_year(world, "2026", "locked_through = '2026-01-31'");
    let locked = "the books of 2026 are locked through 2026-01-31, and an entry of 2025-06-01";
    refused("2025-06-01", &[], locked);
    refused("2025-06-01", &["--adjust"], locked);
    let earlier = "2026 are locked through 2026-01-31, and an entry of 2023-06-01 would change";
    refused("2023-06-01", &["--create-years"], earlier);
    set_year(world, "2026", "locked_through = NULL");
    set_year(world, "2025", "state = 'closed'");
    let closed = "entry on line 1: fiscal year 2025 is closed, and an entry of 2023-06-01 would \
                  change its opening; use a later day [open_period]";
    refused("2023-06-01", &["--create-years"], closed);
    refused("2023-06-01", &[], closed);
    let later = [two_lines("2027-06-01", "1020", "2800", 10.0)];
    assert_eq!(import(world, &later, &[], &["--create-years"]).code, Some(0));
}

fn a_field_that_is_empty_too_long_or_alone_is_refused(world: &World) {
    let partied = json!({ "number": "1105", "kind": "asset", "fr": "a", "de": "b", "en": "c", "needs_party": true });
    let begun = import(world, &opening(), &[paper(), vec![partied]].concat(), &["--create-years"]);
    assert_eq!(begun.code, Some(0), "{begun:?}");
    let before = books(world);
    let of_entry = |field: &str, value: Value| {
        let mut bad = two_lines("2026-05-01", "6000", "1020", 10.0);
        bad[field] = value;
        bad
    };
    let of_line = |fields: Value| {
        let mut bad = two_lines("2026-05-01", "6000", "1020", 10.0);
        bad["lines"][0].as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        bad
    };
    let long = |n: usize| Value::from("é".repeat(n));
    let cases: Vec<(Value, &str)> = vec![
        (of_entry("text", json!("a\u{0}b")), "text has the control character U+0000; take it out"),
        (of_entry("voucher", json!("a\u{1b}b")), "voucher has the control character U+001B"),
        (of_entry("key", json!("a\u{0}b")), "key has the control character U+0000"),
        (of_line(json!({ "text": "a\u{0}" })), "line 1 of the entry: text has the control"),
        (of_line(json!({ "party": "a\u{0}" })), "line 1 of the entry: party has the control"),
        (of_line(json!({ "account": "a\u{0}" })), "account has the control"),
        (of_line(json!({ "vat_code": "a\u{0}" })), "vat_code has the control"),
        (of_entry("text", long(501)), "text has 501 characters; use at most 500 [text_form]"),
        (of_entry("voucher", long(501)), "voucher has 501 characters"),
        (of_entry("key", long(201)), "key has 201 characters; use at most 200"),
        (of_line(json!({ "text": long(501) })), "text has 501 characters"),
        (of_line(json!({ "party": long(501) })), "party has 501 characters"),
        (of_entry("key", json!("")), "key is empty; give it a text, or leave it out"),
        (of_entry("key", json!(" ")), "key is empty"),
        (of_line(json!({ "account": "1105", "party": "" })), "party is empty"),
        (of_line(json!({ "account": "1105" })), "[party]"),
        (
            of_line(json!({ "account": "1021", "currency": "EUR" })),
            "line 1 of the entry: currency EUR stands without currency_amount; give the amount in EUR, 0 for",
        ),
        (
            of_line(json!({ "currency_amount": 9 })),
            "currency_amount 9.00 stands without currency; name the currency, or leave currency_amount out [fields]",
        ),
        (of_line(json!({ "rate": 0.95 })), "stands without currency; name the currency"),
        (
            of_line(json!({ "currency": "CHF", "currency_amount": 9 })),
            "currency_amount 9.00 in CHF, the currency of the books, in which the line books 10.00",
        ),
        (of_line(json!({ "currency": "CHF", "rate": 0.95 })), "of CHF, the currency of the books"),
        (of_line(json!({ "vat_part": "tax" })), "vat_part tax stands without vat_code; name the"),
        (of_line(json!({ "vat_rate": 8.1 })), "vat_rate 8.1 stands without vat_code"),
    ];
    for (bad, expected) in cases {
        let said = import(world, std::slice::from_ref(&bad), &[], &[]);
        assert!(said.code == Some(1) && said.err.contains(expected), "{bad}: {said:?}");
    }
    assert_eq!(books(world), before);
    let mut good = of_line(json!({ "text": long(500), "currency": "CHF", "currency_amount": 10 }));
    (good["voucher"], good["key"]) = (long(500), long(200));
    let said = import(world, &[good], &[], &[]);
    assert_eq!(said.code, Some(0), "{said:?}");
}

fn a_revaluation_says_that_its_amount_is_nought(world: &World) {
    let entry = json!({ "date": "2026-05-01", "text": "Revaluation", "voucher": "R", "lines": [
        { "account": "1101", "debit": 10, "currency": "EUR", "currency_amount": 0 },
        { "account": "6000", "credit": 10 } ] });
    let said = import(world, &[entry], &[], &["--create-years"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("1 entry with 2 lines") && said.out.contains("1 fiscal year."));
}

fn what_is_no_list_of_objects_is_named_with_its_line(world: &World) {
    let good = two_lines("2026-05-01", "6000", "1020", 10.0).to_string();
    let line =
        r#"{"date":"2026-05-01","text":"T","voucher":"V","lines":[["6000",null,1],["1020"]]}"#;
    let list = r#"["2026-05-01","OD","T","V",null,[]]"#;
    for bad in [line, list] {
        let said = import_text(world, &format!("{good}\n{bad}"), "", &["--create-years"]);
        let is_named =
            said.err.contains("entry on line 2: invalid type: sequence, expected an object");
        let is_plain = !said.err.contains("at line") && !said.err.contains("column 0");
        assert!(said.code == Some(1) && is_named && is_plain, "{bad}: {said:?}");
    }
    let marked = import_text(world, &format!("\u{feff}{good}"), "", &["--create-years"]);
    assert_eq!(marked.code, Some(0), "{marked:?}");
}

fn a_chart_is_refused_with_the_line_of_the_account(world: &World) {
    let entries = [two_lines("2026-05-01", "6000", "1020", 10.0)];
    let account = |field: &str, value: Value| {
        let mut account = paper().remove(0);
        account["number"] = json!("6502");
        account[field] = value;
        account
    };
    for (bad, expected) in [
        (account("number", json!("1")), "account number \"1\" is none"),
        (account("fr", json!(" ")), "account 6502 has no label in fr"),
        (account("fr", json!("a\u{0}")), "fr has the control character U+0000"),
        (account("de", json!("x".repeat(201))), "de has 201 characters; use at most 200"),
        (account("uses", json!(["bank"])), "account 6502 has uses"),
        (
            account("vat_activity", json!("nonsense")),
            "the mandate has no VAT activity \"nonsense\"",
        ),
        (account("number", json!("6501")), "account 6501 stands there twice"),
        (account("number", json!("1020")), "account 1020 is there already, as asset"),
        (account("colour", json!("red")), "unknown field `colour`"),
        (
            json!(["6502", "expense", "a", "b", "c"]),
            "invalid type: sequence, expected an object [json]",
        ),
    ] {
        let said = import(world, &entries, &[paper().remove(0), bad.clone()], &["--create-years"]);
        let whole = format!("nothing was imported; account on line 2: {expected}");
        assert!(said.code == Some(1) && said.err.contains(&whole), "{bad}: {said:?}");
    }
    assert!(books(world).is_empty());
}

fn an_import_beside_another_is_told_to_try_again(world: &World) {
    let mut other = world.database.owner();
    let turn = if world.database.is_postgres() {
        "BEGIN; SELECT pg_advisory_xact_lock(4193027558610243)"
    } else {
        "BEGIN IMMEDIATE"
    };
    other.batch_execute(turn).unwrap();
    let said = import(world, &opening(), &paper(), &["--create-years"]);
    let expected = "another import or administrative command is running; try again";
    assert!(said.code == Some(1) && said.err.contains(expected), "{said:?}");
    other.batch_execute("ROLLBACK").unwrap();
    assert_eq!(import(world, &opening(), &paper(), &["--create-years"]).code, Some(0));
}
