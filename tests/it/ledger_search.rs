//! Finding accounts and entries in hand-made books.

use serde_json::{Value, json};

use crate::ledger::{BANK, DEBTORS, RENT, REVENUE, books, report};
use crate::world::ledger::{Bookkeeper, Ledger, day, line};
use crate::world::oracle::cents;
use crate::world::{Client, World};

on_both! {
    entries_are_found_by_day_account_amount_state_and_words,
    entries_come_whole_and_each_once_over_all_pages,
    accounts_are_found_with_their_balances,
    a_statement_names_the_other_side,
    accounts_are_completed_by_number_or_name_within_a_mandate_in_reach,
}

fn entries(world: &World, ledger: &Ledger, arguments: Value) -> Value {
    report(&world.owner(), "search_journal_entries", ledger, arguments)
}

/// Adds settled lines and a closed year; the receivables need a party from here on.
fn settle(world: &World, bookkeeper: &mut Bookkeeper<'_>, ledger: &mut Ledger) {
    let (tenant, debtors) = (bookkeeper.tenant(), bookkeeper.literal(ledger.accounts[DEBTORS].id));
    let yes = if world.database.is_postgres() { "true" } else { "1" };
    let paid =
        bookkeeper.booked(ledger, "BNQ", "2026-11-20", &[(BANK, 300_010), (DEBTORS, -300_010)]);
    for (entry, position) in [(7, 1), (paid, 2)] {
        let entry = bookkeeper.literal(ledger.entries[entry].id);
        bookkeeper.add(&format!(
            "INSERT INTO reconciliations (tenant_id, entry_id, position, letter, reconciled_on) \
             VALUES ({tenant}, {entry}, {position}, 'A', '2026-11-20')"
        ));
    }
    bookkeeper.add(&format!(
        "UPDATE accounts SET needs_party = {yes} WHERE tenant_id = {tenant} AND id = {debtors}"
    ));
    let closed = bookkeeper.literal(ledger.years[0].id);
    bookkeeper.add(&format!(
        "UPDATE fiscal_years SET state = 'closed' WHERE tenant_id = {tenant} AND id = {closed}"
    ));
    bookkeeper.write();
}

fn entries_are_found_by_day_account_amount_state_and_words(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    settle(world, &mut bookkeeper, &mut ledger);
    let total = |arguments: Value| entries(world, &ledger, arguments)["total"].as_i64().unwrap();
    assert_eq!(total(json!({})), 11);
    assert_eq!(total(json!({ "state": "draft" })), 1);
    assert_eq!(total(json!({ "state": "closed" })), 4);
    assert_eq!(total(json!({ "state": "reconciled" })), 2);
    assert_eq!(total(json!({ "state": "posted" })), 4);
    assert_eq!(total(json!({ "from": "2025-07-01", "to": "2026-06-30" })), 2);
    assert_eq!(total(json!({ "account": "1100" })), 5);
    assert_eq!(total(json!({ "journal": "BNQ" })), 2);
    assert_eq!(total(json!({ "amount": 1081 })), 2);
    assert_eq!(total(json!({ "amount": 1081, "account": "1020" })), 1);
    assert_eq!(total(json!({ "amount": 1081.01 })), 0);
    assert_eq!(total(json!({ "query": "TEXT ban%" })), 0);
    assert_eq!(total(json!({ "query": "bnq text" })), 2);
    for (field, arguments) in [
        ("amount", json!({ "amount": 0 })),
        ("account", json!({ "account": "4711" })),
        ("journal", json!({ "journal": "XYZ" })),
        ("to", json!({ "from": "2026-01-01", "to": "2025-01-01" })),
        ("state", json!({ "state": "booked" })),
    ] {
        let mut arguments = arguments;
        arguments["mandate_id"] = json!(ledger.mandate);
        let refusal = world.owner().call("search_journal_entries", arguments).refusal();
        assert_eq!(refusal["field"], field);
    }
}

fn entries_come_whole_and_each_once_over_all_pages(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let many: Vec<_> = (0..150).map(|_| line(RENT, 100)).chain([line(BANK, -15_000)]).collect();
    let entry = bookkeeper.draft(&mut ledger, 2, "OD", day("2026-12-01"), many, None);
    let commit = bookkeeper.commit("2026-11-30T08:00:00");
    bookkeeper.post(&mut ledger, entry, commit);
    bookkeeper.write();
    let mut expected: Vec<_> = ledger.entries.iter().map(|entry| (entry.day, entry.id)).collect();
    expected.sort_unstable();
    expected.reverse();
    let (mut arguments, mut seen) = (json!({ "limit": 3 }), 0);
    loop {
        let page = entries(world, &ledger, arguments.clone());
        assert_eq!(page["total"], expected.len());
        for found in page["items"].as_array().unwrap() {
            let (on, id) = expected[seen];
            assert_eq!((&found["on"], &found["id"]), (&json!(on), &json!(id)));
            let entry = ledger.entries.iter().find(|entry| entry.id == id).unwrap();
            assert_eq!(found["line_count"], entry.lines.len());
            let debits = entry.lines.iter().map(|line| line.amount.max(0)).sum::<i64>();
            assert_eq!(cents(&found["amount"]), debits);
            let lines = found["lines"].as_array().unwrap();
            assert_eq!(lines.len(), entry.lines.len().min(100));
            for (shown, line) in lines.iter().zip(&entry.lines) {
                assert_eq!(shown["account"], ledger.accounts[line.account].number);
                assert_eq!(cents(&shown["debit"]) - cents(&shown["credit"]), line.amount);
            }
            seen += 1;
        }
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => break,
        }
    }
    assert_eq!(seen, expected.len());
}

fn accounts_are_found_with_their_balances(world: &World) {
    let ledger = books(&mut Bookkeeper::of(world, "leman"));
    let found = |arguments: Value| {
        let page = report(&world.owner(), "search_accounts", &ledger, arguments);
        let row =
            |row: &Value| (row["number"].as_str().unwrap().to_owned(), cents(&row["balance"]));
        page["items"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let all = [
        ("1020", 958_100),
        ("1021", 95_000),
        ("1100", 500_015),
        ("2800", -1_000_000),
        ("2979", 0),
        ("3400", -395_010),
        ("6000", 60_000),
        ("9200", 0),
    ];
    let all = all.map(|(number, balance)| (number.to_owned(), balance));
    assert_eq!(found(json!({})), all);
    assert_eq!(found(json!({ "class": 9 })), all[7..]);
    assert_eq!(found(json!({ "class": 1 })), all[..3]);
    assert_eq!(found(json!({ "type": "equity" })), all[3..5]);
    assert_eq!(found(json!({ "query": "KONTO 102" })), all[..2]);
    assert_eq!(found(json!({ "class": 7 })), []);
    let arguments = json!({ "mandate_id": ledger.mandate, "class": 0 });
    assert_eq!(world.owner().call("search_accounts", arguments).refusal()["field"], "class");
}

fn a_statement_names_the_other_side(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let lines = [(BANK, -50_000), (RENT, 40_000), (REVENUE, 10_000)];
    bookkeeper.booked(&mut ledger, "OD", "2026-11-30", &lines);
    bookkeeper.write();
    let statement =
        report(&world.owner(), "get_account_statement", &ledger, json!({ "account": "1020" }));
    assert_eq!(statement["items"][0]["counter_accounts"], json!(["6000"]));
    assert_eq!(statement["items"][1]["counter_accounts"], json!(["3400", "6000"]));
    assert_eq!(statement["items"][1]["number"], "OD 3");
    let euros =
        report(&world.owner(), "get_account_statement", &ledger, json!({ "account": "1021" }));
    let foreign = &euros["items"][0]["foreign"];
    assert_eq!((cents(&foreign["amount"]), cents(&foreign["balance"])), (100_000, 100_000));
    assert_eq!(cents(&euros["foreign"][0]["closing"]), 100_000);
    let arguments = json!({ "mandate_id": ledger.mandate, "account": "102" });
    assert_eq!(
        world.owner().call("get_account_statement", arguments).refusal()["field"],
        "account"
    );
}

fn accounts_are_completed_by_number_or_name_within_a_mandate_in_reach(world: &World) {
    let ledger = books(&mut Bookkeeper::of(world, "leman"));
    let complete = |client: &Client, typed: &str, arguments: Value| {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "account_review" },
            "argument": { "name": "account", "value": typed },
            "context": { "arguments": arguments },
        });
        client.rpc("completion/complete", params).json()["result"]["completion"].clone()
    };
    let (owner, mandate) = (world.owner(), json!({ "mandate_id": ledger.mandate }));
    let all = complete(&owner, "", mandate.clone());
    let numbers = ["1020", "1021", "1100", "2800", "2979", "3400", "6000", "9200"];
    assert_eq!((&all["values"], &all["total"]), (&json!(numbers), &json!(8)));
    assert_eq!(complete(&owner, "KONTO 102", mandate.clone())["values"], json!(["1020", "1021"]));
    let none = json!([]);
    assert_eq!(complete(&owner, "1020", json!({}))["values"], none);
    for (firm, role) in
        [("leman", "accountant"), ("leman", "payroll_officer"), ("saentis", "owner")]
    {
        assert_eq!(complete(&world.client(firm, role), "", mandate.clone())["values"], none);
    }
}
