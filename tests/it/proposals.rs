//! Proposals: one's own, and those that wait for one's approval.

use serde_json::{Value, json};

use crate::world::{Client, World};

on_both! {
    one_sees_ones_own_proposals_and_where_they_stand,
    what_waits_for_approval_is_shown_to_whoever_may_approve_it,
    pages_of_proposals_are_complete,
}

/// A client of a role with a JSON Web Token: only a person approves.
fn signed_in(world: &World, firm: &str, role: &str) -> Client {
    let person = world.person(firm, role);
    let body = json!({ "email": person.email, "password": person.password, "tenant": firm });
    let answer = world.anonymous().send("/auth/token", &[], &body.to_string()).json();
    world.bearer(answer["access_token"].as_str().unwrap())
}

fn states(answer: &Value) -> Vec<(String, String)> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let items = answer["items"].as_array().unwrap().iter();
    items.map(|row| (text(row, "tool"), text(row, "state"))).collect()
}

fn one_sees_ones_own_proposals_and_where_they_stand(world: &World) {
    let own = |tool: &str, state: &str| (tool.to_owned(), state.to_owned());
    let accountant = world.client("leman", "accountant");
    let all = accountant.ask("list_proposals", json!({}));
    assert_eq!(
        states(&all),
        [
            own("propose_reminder", "pending"),
            own("propose_invoice_issue", "awaiting_approval"),
            own("propose_journal_entry", "expired"),
        ],
        "newest first, and expired when its time is over"
    );
    assert_eq!(all["may_approve"], json!([]));
    for (state, count) in
        [("expired", 1), ("pending", 1), ("awaiting_approval", 1), ("approved", 0)]
    {
        let found = accountant.ask("list_proposals", json!({ "box": "mine", "state": state }));
        assert_eq!(found["total"], count, "{state}");
        assert!(states(&found).iter().all(|(_, is)| is == state));
    }
    let of_manager = world.client("leman", "manager").ask("list_proposals", json!({}));
    let rejected = &of_manager["items"][0];
    assert_eq!((&rejected["state"], &rejected["area"]), (&json!("rejected"), &json!("payment")));
    assert!(rejected["decided_by"].as_str().unwrap().contains("Valérie"), "{rejected}");
    assert_eq!(world.client("leman", "client_user").ask("list_proposals", json!({}))["total"], 0);
}

fn what_waits_for_approval_is_shown_to_whoever_may_approve_it(world: &World) {
    let waiting = |client: &Client| {
        states(&client.ask("list_proposals", json!({ "box": "waiting_for_me" })))
            .into_iter()
            .map(|(tool, _)| tool)
            .collect::<Vec<_>>()
    };
    let manager = signed_in(world, "leman", "manager");
    assert_eq!(waiting(&manager), ["propose_invoice_issue", "propose_journal_entry"]);
    let answer = manager.ask("list_proposals", json!({ "box": "waiting_for_me" }));
    assert_eq!(answer["may_approve"], json!(["invoice", "payment", "client", "ledger", "vat"]));
    let owner = signed_in(world, "leman", "owner");
    assert_eq!(
        waiting(&owner),
        ["propose_invoice_issue", "propose_journal_entry", "propose_payslip"]
    );
    let officer = signed_in(world, "leman", "payroll_officer");
    assert_eq!(waiting(&officer), Vec::<String>::new(), "nobody approves what they proposed");
    assert_eq!(officer.ask("list_proposals", json!({}))["items"][0]["tool"], "propose_payslip");
    assert_eq!(waiting(&signed_in(world, "leman", "accountant")), Vec::<String>::new());
    assert_eq!(waiting(&world.owner()), Vec::<String>::new(), "an API token approves nothing");
    let reach = "DELETE FROM reach WHERE mandate_id = (SELECT m.id FROM mandates m WHERE m.number = 'LEM-M003') AND tenant_id = (SELECT id FROM tenants WHERE slug = 'leman')";
    world.sql(reach);
    assert_eq!(waiting(&manager), ["propose_journal_entry"], "out of reach");
    let saentis = signed_in(world, "saentis", "manager");
    assert_eq!(waiting(&saentis).len(), 2, "each firm has its own");
    assert!(
        !saentis
            .ask("list_proposals", json!({ "box": "waiting_for_me" }))
            .to_string()
            .contains("Lémanique")
    );
}

fn pages_of_proposals_are_complete(world: &World) {
    let accountant = world.client("leman", "accountant");
    let mut arguments = json!({ "limit": 2 });
    let first = accountant.ask("list_proposals", arguments.clone());
    assert_eq!((first["total"].as_i64(), first["truncated"].as_bool()), (Some(3), Some(true)));
    arguments["cursor"] = first["next_cursor"].clone();
    let second = accountant.ask("list_proposals", arguments);
    assert_eq!((second["items"].as_array().unwrap().len(), &second["total"]), (1, &json!(3)));
}
