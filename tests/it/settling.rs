//! What is open is found whatever was posted, in whatever order: the column that helps to find it follows every posting.

use serde_json::json;

use crate::world::{Database, World};

on_both! {
    the_last_day_of_the_calendar_is_a_day_like_any_other,
    money_is_received_on_issued_invoices_only,
    what_is_settled_and_opened_again_is_listed_again,
    money_to_come_pays_nothing_yet,
    documents_stay_with_their_client,
}

fn the_last_day_of_the_calendar_is_a_day_like_any_other(world: &World) {
    let owner = world.owner();
    let on = |day: &str| {
        let answer = owner.ask("list_open_items", json!({ "as_of": day }));
        (answer["total"].clone(), answer["totals"][0]["open"].clone())
    };
    assert_eq!(on("2199-12-31"), on("2199-12-30"));
    assert_eq!(on("1900-01-01").0, 0);
}

/// The condition that names an issued invoice of the first firm with nothing paid or credited.
const UNPAID: &str = "i.document = 'invoice' AND i.state = 'issued' AND i.tenant_id = (SELECT id FROM tenants WHERE slug = 'leman') \
    AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.invoice_id = i.id) \
    AND NOT EXISTS (SELECT 1 FROM invoices c WHERE c.origin_invoice_id = i.id) AND i.issued_on <= '2026-06-30'";

/// Posts a payment of `amount` on the first unpaid invoice or, with its number, on that one.
fn pay(world: &World, number: &str, amount: &str, day: &str, reverses: &str) -> Result<(), String> {
    let id = if world.database.is_postgres() { "gen_random_uuid()" } else { "randomblob(16)" };
    let sql = format!(
        "INSERT INTO payments SELECT i.tenant_id, {id}, i.id, '{day}', {amount}, 'bank', NULL, {reverses}, 1 FROM invoices i WHERE i.number = '{number}'"
    );
    world.database.owner().batch_execute(&sql).map_err(|error| error.to_string())
}

fn unpaid(world: &World) -> String {
    world
        .query(&format!("SELECT i.number FROM invoices i WHERE {UNPAID} ORDER BY i.number LIMIT 1"))
        [0][0]
        .clone()
}

/// What `list_open_items` and `get_invoice` say is open on an invoice: both or neither.
fn open(world: &World, number: &str, as_of: &str) -> Option<String> {
    let owner = world.owner();
    let mut arguments = json!({ "as_of": as_of, "limit": 100 });
    loop {
        let page = owner.ask("list_open_items", arguments.clone());
        if let Some(item) =
            page["items"].as_array().unwrap().iter().find(|item| item["number"] == number)
        {
            return Some(item["open"].to_string());
        }
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return None,
        }
    }
}

fn money_is_received_on_issued_invoices_only(world: &World) {
    let draft = "UPDATE invoices SET number = 'DRAFT-1' WHERE state = 'draft' AND id = (SELECT id FROM invoices \
        WHERE state = 'draft' AND document = 'invoice' AND tenant_id = (SELECT id FROM tenants WHERE slug = 'leman') ORDER BY id LIMIT 1)";
    world.sql(draft);
    let refused = pay(world, "DRAFT-1", "1", "2026-06-01", "NULL").unwrap_err();
    assert!(refused.contains("needs an issued invoice"), "{refused}");
}

fn what_is_settled_and_opened_again_is_listed_again(world: &World) {
    let number = unpaid(world);
    let today = "2026-11-30";
    let total = open(world, &number, today).unwrap();
    assert!(open(world, &number, "2026-07-01").is_some());
    pay(world, &number, "i.total", "2026-07-10", "NULL").unwrap();
    assert_eq!(open(world, &number, today), None);
    assert_eq!(open(world, &number, "2026-07-09").as_ref(), Some(&total), "before the money came");
    let payment = "(SELECT q.id FROM payments q WHERE q.invoice_id = i.id AND q.amount > 0)";
    pay(world, &number, "-i.total", "2026-08-01", payment).unwrap();
    assert_eq!(open(world, &number, today).as_ref(), Some(&total), "after it was reversed");
    assert_eq!(open(world, &number, "2026-07-31"), None, "in between");
    pay(world, &number, "i.total", "2026-06-30", "NULL").unwrap();
    assert_eq!(open(world, &number, today), None, "paid again, dated back");
}

fn money_to_come_pays_nothing_yet(world: &World) {
    let number = unpaid(world);
    let total = open(world, &number, "2026-11-30");
    pay(world, &number, "i.total", "2026-12-24", "NULL").unwrap();
    assert_eq!(open(world, &number, "2026-11-30"), total);
    assert_eq!(open(world, &number, "2026-12-24"), None);
    let found = world.owner().ask("search_invoices", json!({ "query": number }));
    assert_eq!(found["items"][0]["payment"], "open", "{found}");
    assert_eq!(Some(found["items"][0]["open"].to_string()), total);
}

fn documents_stay_with_their_client(world: &World) {
    for sql in [
        "UPDATE invoices SET client_id = (SELECT c.id FROM clients c WHERE c.tenant_id = invoices.tenant_id AND c.id <> invoices.client_id ORDER BY c.id LIMIT 1) WHERE state = 'draft' AND mandate_id IS NOT NULL",
        "UPDATE payslips SET employee_id = (SELECT e.id FROM employees e WHERE e.tenant_id = payslips.tenant_id AND e.mandate_id <> payslips.mandate_id ORDER BY e.id LIMIT 1) WHERE state = 'draft'",
    ] {
        let refused =
            world.database.owner().batch_execute(sql).unwrap_err().to_string().to_lowercase();
        assert!(refused.contains("foreign key"), "{refused}");
    }
}

/// One posting reverses a payment while another pays: the second waits for the first and counts it.
#[test]
fn postings_on_one_invoice_wait_for_each_other() {
    let world = World::new(Database::postgres());
    let number = unpaid(&world);
    pay(&world, &number, "i.total", "2026-07-10", "NULL").unwrap();
    let mut first = world.database.owner();
    let reverse = format!(
        "BEGIN; INSERT INTO payments SELECT i.tenant_id, gen_random_uuid(), i.id, '2026-08-01', -i.total, 'bank', NULL, \
         (SELECT q.id FROM payments q WHERE q.invoice_id = i.id), 1 FROM invoices i WHERE i.number = '{number}'"
    );
    first.batch_execute(&reverse).unwrap();
    std::thread::scope(|threads| {
        let second = threads.spawn(|| pay(&world, &number, "i.total - 1", "2026-08-02", "NULL"));
        let waiting = "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while world.query(waiting)[0][0] == "0" {
            std::thread::yield_now();
        }
        first.batch_execute("COMMIT").unwrap();
        second.join().unwrap().unwrap();
    });
    assert_eq!(open(&world, &number, "2026-11-30").as_deref(), Some("1.0"));
}
