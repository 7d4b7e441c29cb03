//! Reports on hand-made books: what they refuse, what they prove, and what does not change them.

use serde_json::{Value, json};

use crate::world::ledger::{Bookkeeper, Ledger, Line, day};
use crate::world::oracle::{assert_controls, cents, explained};
use crate::world::{Client, World};

on_both! {
    a_mandate_without_books_says_so_and_one_out_of_reach_is_not_found,
    the_fiscal_year_is_the_one_that_contains_the_day,
    a_trial_balance_carries_over_what_stays_and_restarts_what_does_not,
    a_period_is_compared_with_one_of_its_length,
    accounts_are_grouped_by_their_first_digits,
    a_year_that_was_closed_leaves_nothing_to_carry_forward,
    labels_speak_the_language_of_the_member,
    every_figure_of_every_report_is_the_sum_of_its_lines,
    a_handle_that_is_not_ones_own_reads_like_an_unknown_one,
    the_identity_that_fails_is_named_with_its_difference,
}

/// Where accounts of [`books`] stand in it.
pub(crate) const BANK: usize = 0;
const EURO: usize = 1;
pub(crate) const DEBTORS: usize = 2;
const CAPITAL: usize = 3;
pub(crate) const REVENUE: usize = 4;
pub(crate) const RENT: usize = 5;
const CLOSING: usize = 6;
const RETAINED: usize = 7;

/// Books from July to June over three years, the first of which was never closed.
pub(crate) fn books(bookkeeper: &mut Bookkeeper<'_>) -> Ledger {
    let mut ledger = bookkeeper.ledger("CHF");
    for (number, kind, currency) in [
        ("1020", "asset", None),
        ("1021", "asset", Some("EUR")),
        ("1100", "asset", None),
        ("2800", "equity", None),
        ("3400", "income", None),
        ("6000", "expense", None),
        ("9200", "closing", None),
        ("2979", "equity", None),
    ] {
        bookkeeper.account(&mut ledger, number, kind, currency);
    }
    for year in [2024, 2025, 2026] {
        let (from, to) = (format!("{year}-07-01"), format!("{}-06-30", year + 1));
        bookkeeper.year(&mut ledger, &from, &to);
    }
    for (on, lines) in [
        ("2024-07-01", [(BANK, 1_000_000), (CAPITAL, -1_000_000)]),
        ("2024-11-15", [(DEBTORS, 108_100), (REVENUE, -108_100)]),
        ("2024-12-20", [(BANK, 108_100), (DEBTORS, -108_100)]),
        ("2025-06-30", [(RENT, 40_000), (BANK, -40_000)]),
        ("2025-07-01", [(RENT, 50_000), (BANK, -50_000)]),
        ("2025-10-10", [(DEBTORS, 200_005), (REVENUE, -200_005)]),
        ("2026-07-31", [(RENT, 60_000), (BANK, -60_000)]),
        ("2026-11-11", [(DEBTORS, 300_010), (REVENUE, -300_010)]),
    ] {
        bookkeeper.booked(&mut ledger, "OD", on, &lines);
    }
    let euros = vec![
        Line { account: EURO, amount: 95_000, currency: "EUR", foreign: 100_000 },
        Line { account: REVENUE, amount: -95_000, currency: "EUR", foreign: -100_000 },
    ];
    let entry = bookkeeper.draft(&mut ledger, 2, "BNQ", day("2026-09-09"), euros, None);
    let commit = bookkeeper.commit("2026-11-30T07:00:00");
    bookkeeper.post(&mut ledger, entry, commit);
    let draft = vec![crate::world::ledger::line(BANK, 700)];
    bookkeeper.draft(&mut ledger, 2, "OD", day("2026-10-10"), draft, None);
    bookkeeper.write();
    ledger
}

/// Asks for a report on the books.
pub(crate) fn report(client: &Client, tool: &str, ledger: &Ledger, mut arguments: Value) -> Value {
    arguments["mandate_id"] = json!(ledger.mandate);
    client.ask(tool, arguments)
}

fn trial_balance(client: &Client, ledger: &Ledger, arguments: Value) -> Value {
    report(client, "get_trial_balance", ledger, arguments)
}

/// Number, opening, debit, credit and closing of the rows, in centimes.
fn rows(report: &Value) -> Vec<(String, [i64; 4])> {
    let row = |row: &Value| {
        let number = row.get("account").map_or("", |number| number.as_str().unwrap());
        (number.to_owned(), ["opening", "debit", "credit", "closing"].map(|name| cents(&row[name])))
    };
    report["rows"].as_array().unwrap().iter().map(row).collect()
}

const TOOLS: &[&str] = &[
    "search_accounts",
    "search_journal_entries",
    "get_trial_balance",
    "get_profit_and_loss",
    "get_balance_sheet",
];

fn a_mandate_without_books_says_so_and_one_out_of_reach_is_not_found(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let ledger = books(&mut bookkeeper);
    let (owner, accountant) = (world.owner(), world.client("leman", "accountant"));
    let bare = world.query(&format!(
        "SELECT {} FROM mandates m WHERE m.tenant_id = {} AND NOT EXISTS (SELECT 1 FROM ledgers l WHERE l.tenant_id = m.tenant_id \
         AND l.mandate_id = m.id) LIMIT 1",
        if world.database.is_postgres() { "m.id::text" } else { "hex(m.id)" },
        bookkeeper.tenant(),
    ));
    let bare = bare[0][0].parse::<uuid::Uuid>().unwrap();
    for tool in TOOLS {
        let refusal = owner.call(tool, json!({ "mandate_id": bare })).refusal();
        let message = refusal["message"].as_str().unwrap();
        assert!(message.contains("keeps no books here"), "{tool}: {message}");
        let unknown = json!({ "mandate_id": "01912345-0000-7000-8000-123456789abc" });
        let unknown = accountant.call(tool, unknown);
        assert_eq!(unknown.refusal()["message"], "mandate not found");
        let hidden = accountant.call(tool, json!({ "mandate_id": ledger.mandate }));
        assert_eq!(hidden.text(), unknown.text(), "{tool}");
        let foreign = world.client("saentis", "owner");
        let foreign = foreign.call(tool, json!({ "mandate_id": ledger.mandate }));
        assert_eq!(foreign.text(), unknown.text(), "{tool}");
    }
}

fn the_fiscal_year_is_the_one_that_contains_the_day(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let (ledger, other) = (books(&mut bookkeeper), books(&mut bookkeeper));
    let owner = world.owner();
    let days = |arguments: Value| {
        let report = trial_balance(&owner, &ledger, arguments);
        (report["from"].clone(), report["to"].clone())
    };
    assert_eq!(days(json!({})), (json!("2026-07-01"), json!("2026-11-30")));
    assert_eq!(days(json!({ "to": "2025-06-30" })), (json!("2024-07-01"), json!("2025-06-30")));
    let first = json!({ "fiscal_year_id": ledger.years[0].id });
    assert_eq!(days(first), (json!("2024-07-01"), json!("2025-06-30")));
    for tool in ["get_trial_balance", "get_profit_and_loss"] {
        let refuse = |mut arguments: Value| {
            arguments["mandate_id"] = json!(ledger.mandate);
            owner.call(tool, arguments).refusal()
        };
        let foreign = refuse(json!({ "fiscal_year_id": other.years[0].id }));
        assert_eq!(foreign["message"], "fiscal year not found");
        assert_eq!(refuse(json!({ "to": "2020-01-01" }))["field"], "to");
        let outside = json!({ "fiscal_year_id": ledger.years[0].id, "to": "2025-07-01" });
        assert_eq!(refuse(outside)["field"], "to");
        assert_eq!(refuse(json!({ "as_known_on": "2026-12-01" }))["field"], "as_known_on");
        assert_eq!(refuse(json!({ "as_known_on": "#99999999" }))["field"], "as_known_on");
    }
}

fn a_trial_balance_carries_over_what_stays_and_restarts_what_does_not(world: &World) {
    let ledger = books(&mut Bookkeeper::of(world, "leman"));
    let report = trial_balance(&world.owner(), &ledger, json!({}));
    let expected = [
        ("1020", [1_018_100, 0, 60_000, 958_100]),
        ("1021", [0, 95_000, 0, 95_000]),
        ("1100", [200_005, 300_010, 0, 500_015]),
        ("2800", [-1_000_000, 0, 0, -1_000_000]),
        ("3400", [0, 0, 395_010, -395_010]),
        ("6000", [0, 60_000, 0, 60_000]),
        ("", [-218_105, 0, 0, -218_105]),
    ];
    let expected = expected.map(|(number, sums)| (number.to_owned(), sums));
    assert_eq!(rows(&report), expected);
    let foreign = &report["rows"][1]["foreign"][0];
    assert_eq!(foreign["currency"], "EUR");
    assert_eq!(cents(&foreign["closing"]), 100_000);
    assert_eq!(cents(&report["result"]), 335_010);
    assert_eq!(report["now"], json!({ "drafts": 1, "fiscal_year_state": "open" }));
    assert_eq!(cents(&report["totals"]["closing"]), 0);
    assert_eq!(report["controls"].as_array().unwrap().len(), 6);
    assert_controls(&report);
    let sheet = self::report(&world.owner(), "get_balance_sheet", &ledger, json!({}));
    assert_eq!(cents(&sheet["totals"]["assets"]["amount"]), 1_553_115);
    assert_eq!(cents(&sheet["totals"]["equity"]["amount"]), 1_553_115);
    let results: Vec<i64> =
        sheet["results"].as_array().unwrap().iter().map(|line| cents(&line["amount"])).collect();
    assert_eq!(results, [335_010, 218_105]);
    let income =
        self::report(&world.owner(), "get_profit_and_loss", &ledger, json!({ "compare": true }));
    assert_eq!(cents(&income["result"]["amount"]), 335_010);
    assert_eq!(income["compared_with"], json!({ "from": "2025-07-01", "to": "2025-11-30" }));
    assert_eq!(cents(&income["result"]["previous"]), 150_005);
}

fn a_period_is_compared_with_one_of_its_length(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = bookkeeper.ledger("CHF");
    bookkeeper.account(&mut ledger, "1020", "asset", None);
    bookkeeper.account(&mut ledger, "3400", "income", None);
    bookkeeper.year(&mut ledger, "2023-02-01", "2024-12-31");
    bookkeeper.year(&mut ledger, "2025-01-01", "2025-12-31");
    for (on, amount) in
        [("2023-06-30", 100), ("2024-02-29", 20), ("2024-03-01", 3), ("2025-02-28", 7)]
    {
        bookkeeper.booked(&mut ledger, "OD", on, &[(0, amount), (1, -amount)]);
    }
    bookkeeper.write();
    for (from, to, before, previous) in [
        ("2025-01-01", "2025-02-28", ("2024-01-01", "2024-02-29"), 20),
        ("2025-01-01", "2025-11-30", ("2024-01-01", "2024-11-30"), 23),
        ("2025-02-01", "2025-02-28", ("2024-02-01", "2024-02-29"), 20),
        ("2025-01-01", "2025-12-31", ("2023-02-01", "2024-12-31"), 123),
        ("2023-02-01", "2024-12-31", ("2022-02-01", "2023-01-31"), 0),
    ] {
        let asked = json!({ "from": from, "to": to, "compare": true });
        let report = report(&world.owner(), "get_profit_and_loss", &ledger, asked);
        assert_eq!(report["compared_with"], json!({ "from": before.0, "to": before.1 }));
        assert_eq!(cents(&report["result"]["previous"]), previous, "{from} to {to}");
    }
    for tool in ["get_trial_balance", "get_profit_and_loss"] {
        let asked = json!({ "mandate_id": ledger.mandate, "to": "2027-06-30" });
        let refusal = world.owner().call(tool, asked).refusal();
        let said =
            "2027-06-30 is not in fiscal year 2025-01-01/2025-12-31 (2025-01-01 to 2025-12-31)";
        assert_eq!(refusal["message"], said);
    }
}

fn accounts_are_grouped_by_their_first_digits(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let report = trial_balance(&world.owner(), &ledger, json!({ "level": 2 }));
    assert_eq!(rows(&report)[0], ("10".to_owned(), [1_018_100, 95_000, 60_000, 1_053_100]));
    assert_eq!(report["rows"][0]["accounts"], 2);
    for level in [0, 7] {
        let arguments = json!({ "mandate_id": ledger.mandate, "level": level });
        let refusal = world.owner().call("get_trial_balance", arguments).refusal();
        assert_eq!(refusal["field"], "level");
    }
    for at in 0..400 {
        let account = bookkeeper.account(&mut ledger, &format!("4{at:05}"), "expense", None);
        let lines = [(account, 100 + i64::from(at)), (BANK, -100 - i64::from(at))];
        bookkeeper.booked(&mut ledger, "OD", "2026-08-08", &lines);
    }
    bookkeeper.write();
    for tool in ["get_trial_balance", "get_profit_and_loss"] {
        let answer = world.owner().call(tool, json!({ "mandate_id": ledger.mandate }));
        assert!(answer.bytes.len() < 100_000, "{tool}: {}", answer.bytes.len());
        let report = answer.content();
        assert!(report["notes"][0].as_str().unwrap().contains("grouped"), "{}", report["notes"]);
        assert_controls(&report);
    }
}

fn a_year_that_was_closed_leaves_nothing_to_carry_forward(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let owner = world.owner();
    let year = json!({ "fiscal_year_id": ledger.years[0].id });
    let before = report(&owner, "get_profit_and_loss", &ledger, year.clone());
    assert_eq!(cents(&before["result"]["amount"]), 68_100);
    bookkeeper.booked(&mut ledger, "CLO", "2025-06-30", &[(CLOSING, 68_100), (RETAINED, -68_100)]);
    let second = [(REVENUE, 200_005), (RENT, -50_000), (RETAINED, -150_005)];
    bookkeeper.booked(&mut ledger, "CLO", "2026-06-30", &second);
    bookkeeper.write();
    let after = report(&owner, "get_profit_and_loss", &ledger, year);
    assert_eq!(after["result"]["amount"], before["result"]["amount"]);
    assert_controls(&after);
    let second = json!({ "fiscal_year_id": ledger.years[1].id, "to": "2026-06-30" });
    let second = report(&owner, "get_profit_and_loss", &ledger, second);
    assert_eq!(cents(&second["result"]["amount"]), 150_005);
    assert_controls(&second);
    let sheet = report(&owner, "get_balance_sheet", &ledger, json!({ "as_of": "2026-06-30" }));
    assert_eq!(sheet["results"], json!([]));
    assert_eq!(cents(&sheet["result"]), 150_005);
    assert_controls(&sheet);
    let balance = trial_balance(&owner, &ledger, json!({}));
    assert!(rows(&balance).iter().all(|(number, _)| !number.is_empty()), "{balance}");
    assert_controls(&balance);
}

fn labels_speak_the_language_of_the_member(world: &World) {
    let ledger = books(&mut Bookkeeper::of(world, "leman"));
    for (language, label, line) in [
        ("fr", "Compte 1020", "Résultat d'exercices antérieurs non reporté"),
        ("de", "Konto 1020", "Nicht vorgetragenes Ergebnis früherer Jahre"),
        ("en", "Account 1020", "Result of earlier years not carried forward"),
    ] {
        world.sql(&format!("UPDATE memberships SET language = '{language}'"));
        let report = trial_balance(&world.owner(), &ledger, json!({}));
        assert_eq!(report["rows"][0]["label"], label);
        assert_eq!(report["rows"][6]["label"], line);
    }
}

/// Every object of an answer that has a handle.
fn handled<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("figure") {
                found.push(value);
            }
            fields.values().for_each(|field| handled(field, found));
        }
        Value::Array(values) => values.iter().for_each(|value| handled(value, found)),
        _ => {}
    }
}

fn every_figure_of_every_report_is_the_sum_of_its_lines(world: &World) {
    let ledger = books(&mut Bookkeeper::of(world, "leman"));
    let owner = world.owner();
    let mut checked = 0;
    for known_on in [json!(null), json!("2026-11-29")] {
        for (tool, arguments) in [
            ("get_trial_balance", json!({})),
            ("get_trial_balance", json!({ "level": 1 })),
            ("get_profit_and_loss", json!({ "compare": true })),
            ("get_balance_sheet", json!({ "compare": true })),
            ("get_account_statement", json!({ "account": "1021", "from": "2026-08-15" })),
            ("get_account_statement", json!({ "account": "3400", "from": "2026-08-15" })),
            ("search_accounts", json!({})),
        ] {
            let mut arguments = arguments;
            if tool != "search_accounts" {
                arguments["as_known_on"] = known_on.clone();
            }
            let report = report(&owner, tool, &ledger, arguments);
            let mut figures = vec![];
            handled(&report, &mut figures);
            assert!(!figures.is_empty(), "{tool}");
            for figure in figures {
                let parts = explained(&owner, &figure["figure"], 3);
                let sum = |name: &str| parts.get(name).copied().unwrap_or_default().0;
                let all: i64 = parts.values().map(|(sum, _)| sum).sum();
                if figure.get("opening").is_some() {
                    assert_eq!(
                        sum("opening") + sum("balance"),
                        cents(&figure["opening"]),
                        "{figure}"
                    );
                    assert_eq!(sum("debit"), cents(&figure["debit"]), "{figure}");
                    assert_eq!(sum("credit"), cents(&figure["credit"]), "{figure}");
                } else {
                    let shown = figure.get("amount").or(figure.get("balance")).unwrap();
                    assert_eq!(all, cents(shown), "{figure}");
                }
                if let Some(previous) = figure.get("previous_figure") {
                    let parts = explained(&owner, previous, 3);
                    let all: i64 = parts.values().map(|(sum, _)| sum).sum();
                    assert_eq!(all, cents(&figure["previous"]), "{figure}");
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 60, "{checked}");
}

fn a_handle_that_is_not_ones_own_reads_like_an_unknown_one(world: &World) {
    let ledger = books(&mut Bookkeeper::of(world, "leman"));
    let owner = world.owner();
    let balance = trial_balance(&owner, &ledger, json!({ "level": 1 }));
    let income = report(&owner, "get_profit_and_loss", &ledger, json!({}));
    let lines = trial_balance(&owner, &ledger, json!({}));
    for figure in [&balance["rows"][0], &income["result"], &lines["rows"][0]] {
        let figure = figure["figure"].as_str().unwrap();
        let ask = |client: &Client, figure: &str| {
            client.call("explain_figure", json!({ "figure": figure }))
        };
        let unknown = ask(&owner, "made-up");
        assert_eq!(unknown.refusal()["message"], "figure not found");
        for (firm, role) in [
            ("saentis", "owner"),
            ("leman", "accountant"),
            ("leman", "auditor"),
            ("leman", "client_user"),
            ("leman", "payroll_officer"),
        ] {
            let answer = ask(&world.client(firm, role), figure);
            assert_eq!(answer.text(), unknown.text(), "{firm} {role}");
        }
        for at in 0..figure.len() {
            let mut edited = figure.to_owned().into_bytes();
            edited[at] = if edited[at] == b'A' { b'B' } else { b'A' };
            let answer = ask(&owner, &String::from_utf8(edited).unwrap());
            assert_eq!(answer.text(), unknown.text(), "at {at}");
        }
        assert_eq!(ask(&owner, &figure[1..]).text(), unknown.text());
        assert_eq!(ask(&owner, "").text(), unknown.text());
    }
}

/// The names of the controls that do not hold, with their differences.
fn failing(report: &Value) -> Vec<(String, i64)> {
    let failing = report["controls"].as_array().unwrap().iter().filter(|one| one["holds"] == false);
    failing
        .map(|one| (one["name"].as_str().unwrap().to_owned(), cents(&one["difference"])))
        .collect()
}

fn the_identity_that_fails_is_named_with_its_difference(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let ledger = books(&mut bookkeeper);
    let owner = world.owner();
    let ask = |tool: &str, arguments: Value| failing(&report(&owner, tool, &ledger, arguments));
    let bank = bookkeeper.literal(ledger.accounts[BANK].id);
    let rent = bookkeeper.literal(ledger.entries[6].id);
    let more = |by: i64| bookkeeper.money(by);
    let kept = "deviation of the period balances from the sum of their lines = 0".to_owned();
    if world.database.is_postgres() {
        world.sql("ALTER TABLE entry_lines DISABLE TRIGGER USER");
    } else {
        world.sql("DROP TRIGGER entry_lines_keep");
    }
    world.sql(&format!(
        "UPDATE entry_lines SET debit = debit + {} WHERE entry_id = {rent} AND debit > 0",
        more(250)
    ));
    assert_eq!(ask("get_trial_balance", json!({})), [(kept.clone(), 250)]);
    assert_eq!(ask("get_balance_sheet", json!({})), [(kept.clone(), 250)]);
    assert_eq!(ask("get_profit_and_loss", json!({})), [(kept.clone(), 250)]);
    world.sql(&format!(
        "UPDATE entry_lines SET debit = debit - {} WHERE entry_id = {rent} AND debit > 0",
        more(250)
    ));
    assert_eq!(ask("get_trial_balance", json!({})), []);

    let month = format!("account_id = {bank} AND month = '2026-07-01'");
    world
        .sql(&format!("UPDATE account_balances SET credit = credit + {} WHERE {month}", more(125)));
    let balance = ask("get_trial_balance", json!({}));
    assert!(balance.contains(&("sum of debit = sum of credit".to_owned(), -125)), "{balance:?}");
    assert!(balance.contains(&("sum of closing = 0".to_owned(), -125)), "{balance:?}");
    assert!(balance.contains(&(kept.clone(), 125)), "{balance:?}");
    let sheet = ask("get_balance_sheet", json!({}));
    assert!(
        sheet.contains(&("assets = liabilities + equity with results".to_owned(), -125)),
        "{sheet:?}"
    );
    assert!(
        sheet.contains(&(
            "result of the balance sheet = result of the profit and loss".to_owned(),
            -125
        )),
        "{sheet:?}"
    );
    let statement = ask("get_account_statement", json!({ "account": "1020" }));
    assert!(statement.contains(&(kept.clone(), 125)), "{statement:?}");
    let income = ask("get_profit_and_loss", json!({}));
    assert!(
        income.iter().any(|(name, by)| name.starts_with("result = change") && *by == 125),
        "{income:?}"
    );
    world
        .sql(&format!("UPDATE account_balances SET credit = credit - {} WHERE {month}", more(125)));

    // Two errors that cancel each other do not hide: the deviation is summed account by account.
    for (account, sign) in [(RENT, "-"), (BANK, "+")] {
        let account = bookkeeper.literal(ledger.accounts[account].id);
        world.sql(&format!(
            "UPDATE account_balances SET debit = debit {sign} {} WHERE account_id = {account} AND month = '2026-07-01'",
            more(100)
        ));
    }
    assert_eq!(ask("get_trial_balance", json!({})), [(kept, 200)]);
}
