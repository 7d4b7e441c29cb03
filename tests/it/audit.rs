//! The log of who did what, against the records themselves.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::world::World;
use crate::world::sales::{columns, every_page, id_text, last_commit, text, uuid};

on_both! {
    everything_posted_is_in_the_log_once,
    the_log_is_narrowed_by_day_person_mandate_action_and_record,
    the_log_is_read_within_reach,
    the_log_is_append_only,
}

/// Record, action, posting of everything that was posted in a firm, read from the records.
fn posted(world: &World, firm: &str) -> BTreeSet<(String, i64)> {
    let of = format!(
        "x.tenant_id = (SELECT id FROM tenants WHERE slug = '{firm}') AND x.commit_number IS NOT NULL"
    );
    let mut all = BTreeSet::new();
    for table in ["invoices", "payments", "reminders", "payslips", "entries"] {
        let cells = columns(&[id_text(world, "x.id"), text("x.commit_number")]);
        let state = match table {
            "invoices" => " AND x.state = 'issued'",
            _ => "",
        };
        for row in world.query(&format!("SELECT {cells} FROM {table} x WHERE {of}{state}")) {
            all.insert((uuid(&row[0]), row[1].parse().unwrap()));
        }
    }
    all
}

fn places(items: &[Value]) -> Vec<(String, i64)> {
    let number = |item: &Value| item["posting"].as_str().unwrap()[1..].parse().unwrap();
    items
        .iter()
        .map(|item| (item["record_id"].as_str().unwrap().to_owned(), number(item)))
        .collect()
}

fn everything_posted_is_in_the_log_once(world: &World) {
    let owner = world.owner();
    let (items, page) = every_page(&owner, "search_audit_log", json!({}));
    let found = places(&items);
    assert!(found.windows(2).all(|two| two[0].1 >= two[1].1), "newest first");
    let found: BTreeSet<_> = found.into_iter().collect();
    assert_eq!(found.len(), items.len(), "each once");
    assert_eq!(found, posted(world, "leman"));
    assert_eq!(found.iter().map(|(_, number)| *number).max(), Some(last_commit(world, "leman")));
    assert!(page["recorded"].as_str().unwrap().contains("since 2024-01-"), "{}", page["recorded"]);
    assert!(items.iter().all(|item| item["outcome"] == "done"));
    for action in [
        "invoice_issue",
        "payment_receipt",
        "payment_reversal",
        "reminder",
        "payslip",
        "payslip_reversal",
    ] {
        assert!(items.iter().any(|item| item["tool"] == action), "{action}");
    }
}

fn the_log_is_narrowed_by_day_person_mandate_action_and_record(world: &World) {
    let owner = world.owner();
    let (all, _) = every_page(&owner, "search_audit_log", json!({}));
    let some = &all[all.len() / 2];
    let day = &some["at"].as_str().unwrap()[..10];
    for argument in ["actor_id", "mandate_id", "tool", "record_id"] {
        let (found, _) =
            every_page(&owner, "search_audit_log", json!({ argument: some[argument] }));
        let expected: Vec<&Value> =
            all.iter().filter(|item| item[argument] == some[argument]).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{argument}");
    }
    let (found, _) = every_page(&owner, "search_audit_log", json!({ "from": day, "to": day }));
    let on_day = |item: &&Value| item["at"].as_str().unwrap().starts_with(day);
    assert_eq!(found, all.iter().filter(on_day).cloned().collect::<Vec<_>>());
    assert_eq!(owner.ask("search_audit_log", json!({ "outcome": "refused" }))["total"], 0);
    assert_eq!(owner.ask("search_audit_log", json!({ "outcome": "done" }))["total"], all.len());
    let refusal = owner
        .call("search_audit_log", json!({ "from": "2026-02-01", "to": "2026-01-01" }))
        .refusal();
    assert_eq!(refusal["field"], "to");
}

fn the_log_is_read_within_reach(world: &World) {
    let auditor = world.client("leman", "auditor");
    let (all, _) = every_page(&world.owner(), "search_audit_log", json!({}));
    let (own, _) = every_page(&auditor, "search_audit_log", json!({}));
    let mandates = auditor.ask("search_mandates", json!({ "limit": 100 }));
    let field = |name: &str| -> BTreeSet<String> {
        mandates["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row[name].as_str().unwrap().to_owned())
            .collect()
    };
    let (reached, clients) = (field("id"), field("client_id"));
    let is_reached = |item: &&Value| match item["mandate_id"].as_str() {
        Some(mandate) => reached.contains(mandate),
        None => clients.contains(item["client_id"].as_str().unwrap()),
    };
    assert_eq!(own, all.iter().filter(is_reached).cloned().collect::<Vec<_>>());
    assert!(own.len() < all.len() && !own.is_empty());
}

fn the_log_is_append_only(world: &World) {
    for sql in [
        "UPDATE commit_records SET action = 'x'",
        "DELETE FROM commit_records",
        "DELETE FROM bank_line_payments",
    ] {
        let result = world.database.owner().batch_execute(sql);
        let is_empty = sql.contains("bank");
        assert!(is_empty || result.unwrap_err().to_string().contains("append-only"), "{sql}");
    }
}
