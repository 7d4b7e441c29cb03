//! Lines of a bank statement and the invoices they may pay.

use serde_json::{Value, json};

use crate::world::World;
use crate::world::sales::{cents, every_page};

on_both! {
    lines_are_matched_in_the_order_of_the_rules,
    a_page_says_what_the_whole_says_and_nothing_is_booked,
    the_balances_are_checked,
    a_wrong_account_is_never_certain,
    nothing_out_of_reach_is_suggested,
}

const TENANT: &str = "(SELECT id FROM tenants WHERE slug = 'leman')";
const STATEMENT: &str = "01990000-0000-7000-8000-0000000000aa";

/// A line to be: amount in hundredths, reference, end-to-end id, payer, text, reference of the bank, reversal or not.
#[derive(Default, Clone)]
struct NewLine<'a> {
    amount: i64,
    reference: Option<&'a str>,
    end_to_end: Option<&'a str>,
    debtor: Option<&'a str>,
    text: Option<&'a str>,
    servicer: Option<&'a str>,
    is_reversal: bool,
}

fn literal(world: &World, id: &str) -> String {
    if world.database.is_postgres() {
        format!("'{id}'::uuid")
    } else {
        format!("X'{}'", id.replace('-', ""))
    }
}

fn line_id(n: usize) -> String {
    format!("01990000-0000-7000-8000-00000000b{n:03}")
}

/// Writes a statement of an account for the first mandate, with lines that bring `opening` to `closing`.
fn write(world: &World, iban: &str, opening: i64, closing: i64, lines: &[NewLine<'_>]) {
    let is_postgres = world.database.is_postgres();
    let money =
        |minor: i64| if is_postgres { format!("{minor} / 100.0") } else { minor.to_string() };
    let bool = |is: bool| match (is_postgres, is) {
        (true, is) => is.to_string(),
        (false, is) => i32::from(is).to_string(),
    };
    let at = if is_postgres { "2026-11-28T09:00:00Z" } else { "2026-11-28T09:00:00.000000Z" };
    let mandate =
        format!("(SELECT id FROM mandates WHERE tenant_id = {TENANT} AND number = 'LEM-M001')");
    let id = literal(world, STATEMENT);
    world.sql(&format!(
        "INSERT INTO bank_statements VALUES ({TENANT}, {id}, {mandate}, '{iban}', '2026-47', '2026-11-20', '2026-11-27', 'CHF', {}, {}, '{at}')",
        money(opening), money(closing)
    ));
    for (n, line) in (1..).zip(lines) {
        let text = |text: Option<&str>| {
            text.map_or("NULL".to_owned(), |text| format!("'{}'", text.replace('\'', "''")))
        };
        world.sql(&format!(
            "INSERT INTO bank_lines VALUES ({TENANT}, {}, {id}, {n}, '2026-11-25', '2026-11-25', {}, 'CHF', {}, {}, {}, NULL, {}, {}, {})",
            literal(world, &line_id(n)), money(line.amount), text(line.reference), text(line.end_to_end), text(line.debtor),
            text(line.text), text(line.servicer), bool(line.is_reversal)
        ));
    }
}

/// Open invoices in francs with a QR reference, as `get_invoice` shows them.
fn open_invoices(world: &World) -> Vec<Value> {
    let owner = world.owner();
    let (items, _) = every_page(&owner, "list_open_items", json!({ "currency": "CHF" }));
    let page = |item: &Value| owner.ask("get_invoice", json!({ "invoice_id": item["invoice_id"] }));
    let pages = items.iter().take(12).map(page);
    pages.filter(|page| page["qr_reference"].is_string()).collect()
}

fn reference(invoice: &Value) -> &str {
    invoice["qr_reference"].as_str().unwrap()
}

fn ask(world: &World, role: &str, arguments: &Value) -> Value {
    let mut all = json!({ "statement_id": STATEMENT, "limit": 100 });
    for (name, value) in arguments.as_object().unwrap() {
        all[name] = value.clone();
    }
    world.client("leman", role).ask("match_bank_statement", all)
}

const OWN: &str = "CH9300762011623852957";
/// A reference whose check digit is wrong.
const WRONG: &str = "210000000003456789012345675";

/// Writes a statement with a line for every rule, and returns the invoices that they are about, a Euro one last; the tenth line is paid.
fn every_rule(world: &World) -> (Vec<Value>, Value) {
    let open = open_invoices(world);
    let [exact, part, over, number, name, paid] = [0, 1, 2, 3, 4, 5].map(|at| &open[at]);
    let in_text = format!("Merci, facture {}", number["number"].as_str().unwrap().to_lowercase());
    let client = name["client"].as_str().unwrap().to_uppercase();
    let of = |invoice: &Value| cents(&invoice["open"]);
    let compact = reference(part).replace(' ', "");
    let euro =
        world.owner().ask("list_open_items", json!({ "currency": "EUR" }))["items"][0].clone();
    let euro = world.owner().ask("get_invoice", json!({ "invoice_id": euro["invoice_id"] }));
    let base = NewLine::default();
    let lines = [
        NewLine { amount: of(exact), reference: Some(reference(exact)), ..base.clone() },
        NewLine { amount: of(part) - 100, reference: Some(&compact), ..base.clone() },
        NewLine { amount: of(over) + 100, reference: Some(reference(over)), ..base.clone() },
        NewLine { amount: of(number), text: Some(&in_text), ..base.clone() },
        NewLine { amount: of(name), debtor: Some(&client), text: Some("divers"), ..base.clone() },
        NewLine { amount: of(name), debtor: Some("Personne Inconnue"), ..base.clone() },
        NewLine { amount: 12_345, reference: Some(WRONG), ..base.clone() },
        NewLine { amount: of(exact), reference: Some(reference(exact)), ..base.clone() },
        NewLine { amount: -9_900, text: Some("frais"), ..base.clone() },
        NewLine {
            amount: of(paid),
            reference: Some(reference(paid)),
            servicer: Some("77001"),
            ..base.clone()
        },
        NewLine { amount: -of(paid), servicer: Some("77001"), is_reversal: true, ..base.clone() },
        NewLine { amount: of(&euro), reference: Some(reference(&euro)), ..base.clone() },
        NewLine {
            amount: of(number) - 5,
            end_to_end: Some(number["number"].as_str().unwrap()),
            ..base
        },
    ];
    let sum: i64 = lines.iter().map(|line| line.amount).sum();
    write(world, OWN, 1_000_000, 1_000_000 + sum, &lines);
    let is_postgres = world.database.is_postgres();
    let payment = literal(world, "01990000-0000-7000-8000-0000000000bb");
    let amount = if is_postgres { format!("{} / 100.0", of(paid)) } else { of(paid).to_string() };
    world.sql(&format!("INSERT INTO payments SELECT i.tenant_id, {payment}, i.id, '2026-11-25', {amount}, 'bank', NULL, NULL, 1 FROM invoices i WHERE i.number = '{}'", paid["number"].as_str().unwrap()));
    world.sql(&format!(
        "INSERT INTO bank_line_payments VALUES ({TENANT}, {}, {payment})",
        literal(world, &line_id(10))
    ));
    (open, euro)
}

fn lines_are_matched_in_the_order_of_the_rules(world: &World) {
    let (open, euro) = every_rule(world);
    let [exact, part, over, number, name, paid] = [0, 1, 2, 3, 4, 5].map(|at| &open[at]);
    let answer = ask(world, "owner", &json!({}));
    let items = answer["items"].as_array().unwrap();
    let best = |n: usize| {
        let (line, suggestion) = (&items[n - 1], &items[n - 1]["suggestions"][0]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        [
            text(&line["state"]),
            text(&suggestion["invoice_id"]),
            text(&suggestion["rule"]),
            text(&suggestion["fit"]),
            text(&suggestion["certainty"]),
        ]
    };
    let is = |state: &str, invoice: &Value, rule: &str, fit: &str, certainty: &str| {
        [state, invoice["id"].as_str().unwrap(), rule, fit, certainty].map(str::to_owned)
    };
    let none = |state: &str| [state, "", "", "", ""].map(str::to_owned);
    assert_eq!(best(1), is("certain", exact, "reference", "exact", "certain"));
    assert_eq!(best(2), is("suggested", part, "reference", "part", "likely"));
    assert_eq!(best(3), is("suggested", over, "reference", "over", "likely"));
    assert_eq!(best(4), is("suggested", number, "number", "exact", "likely"));
    assert_eq!(best(5), is("suggested", name, "amount_and_name", "exact", "possible"));
    assert_eq!(best(6), none("unmatched"), "an amount alone says nothing");
    assert_eq!(best(7), none("unmatched"));
    assert_eq!(
        (&items[6]["reference"], &items[6]["is_reference_valid"]),
        (&json!(WRONG), &json!(false))
    );
    assert_eq!(
        best(8),
        is("suggested", exact, "reference", "over", "likely"),
        "paid by an earlier line"
    );
    assert_eq!(cents(&items[7]["suggestions"][0]["open"]), 0);
    assert_eq!(best(9), none("outgoing"));
    assert_eq!(items[9]["state"], "matched");
    assert_eq!(items[9]["payments"][0]["invoice_id"], paid["id"]);
    assert_eq!(cents(&items[9]["payments"][0]["amount"]), cents(&paid["open"]));
    assert_eq!(best(11), is("suggested", paid, "reversal", "reopens", "likely"));
    assert_eq!(items[10]["suggestions"][0]["payment_id"], items[9]["payments"][0]["payment_id"]);
    assert_eq!(best(12), is("suggested", &euro, "reference", "other_currency", "possible"));
    assert_eq!(best(13), is("suggested", number, "number", "part", "possible"));
    assert_eq!((&answer["total"], &answer["unmatched"]), (&json!(13), &json!(12)));
    assert_eq!(answer["controls"][0]["holds"], true);
}

fn a_page_says_what_the_whole_says_and_nothing_is_booked(world: &World) {
    every_rule(world);
    let before = world.query("SELECT CAST(count(*) AS TEXT) FROM payments");
    let answer = ask(world, "owner", &json!({}));
    let items = answer["items"].as_array().unwrap();
    let open = ask(world, "owner", &json!({ "only_unmatched": true }));
    assert_eq!(open["total"], 12);
    let left: Vec<&Value> = items.iter().filter(|line| line["state"] != "matched").collect();
    assert_eq!(open["items"].as_array().unwrap().iter().collect::<Vec<_>>(), left);
    let (paged, _) =
        every_page(&world.owner(), "match_bank_statement", json!({ "statement_id": STATEMENT }));
    assert_eq!(&paged, items);
    let mut small = json!({ "statement_id": STATEMENT, "limit": 2 });
    for two in items.chunks(2) {
        let page = world.owner().ask("match_bank_statement", small.clone());
        assert_eq!(page["items"].as_array().unwrap(), two, "a page says what the whole says");
        small["cursor"] = page.get("next_cursor").cloned().unwrap_or_default();
    }
    assert_eq!(
        world.query("SELECT CAST(count(*) AS TEXT) FROM payments"),
        before,
        "nothing is booked"
    );
}

fn the_balances_are_checked(world: &World) {
    let line = NewLine { amount: 500, ..NewLine::default() };
    write(world, OWN, 1_000, 1_600, &[line.clone(), line]);
    let control = ask(world, "owner", &json!({}))["controls"][0].clone();
    assert_eq!(control["holds"], false);
    assert_eq!(
        (cents(&control["left"]), cents(&control["right"]), cents(&control["difference"])),
        (2_000, 1_600, 400)
    );
}

fn a_wrong_account_is_never_certain(world: &World) {
    let invoice = &open_invoices(world)[0];
    let amount = cents(&invoice["open"]);
    let line = NewLine { amount, reference: Some(reference(invoice)), ..NewLine::default() };
    write(world, "CH5604835012345678009", 0, amount, &[line]);
    let answer = ask(world, "owner", &json!({}));
    assert_eq!(answer["items"][0]["state"], "suggested");
    assert_eq!(answer["items"][0]["suggestions"][0]["certainty"], "likely");
}

fn nothing_out_of_reach_is_suggested(world: &World) {
    let accountant = world.client("leman", "accountant");
    let reached = |invoice: &Value| {
        let asked = accountant.call("get_invoice", json!({ "invoice_id": invoice["id"] }));
        asked.json()["result"].get("isError").is_none()
    };
    let open = open_invoices(world);
    let hidden = open.iter().find(|invoice| !reached(invoice)).unwrap();
    let seen = open.iter().find(|invoice| reached(invoice)).unwrap();
    let of = |invoice: &Value| cents(&invoice["open"]);
    let texts = hidden["number"].as_str().unwrap();
    let client = hidden["client"].as_str().unwrap();
    let lines = [
        NewLine { amount: of(hidden), reference: Some(reference(hidden)), ..NewLine::default() },
        NewLine { amount: of(hidden), text: Some(texts), ..NewLine::default() },
        NewLine { amount: of(hidden), debtor: Some(client), ..NewLine::default() },
        NewLine { amount: of(seen), reference: Some(reference(seen)), ..NewLine::default() },
    ];
    write(world, OWN, 0, lines.iter().map(|line| line.amount).sum(), &lines);
    let answer = ask(world, "accountant", &json!({}));
    for line in &answer["items"].as_array().unwrap()[..3] {
        let id = hidden["id"].as_str().unwrap();
        assert!(!line["suggestions"].to_string().contains(id), "{line}");
    }
    assert_eq!(answer["items"][3]["state"], "certain");
    assert_eq!(ask(world, "owner", &json!({}))["items"][0]["state"], "certain");
    let refused = |firm: &str, role: &str| {
        world.client(firm, role).call("match_bank_statement", json!({ "statement_id": STATEMENT }))
    };
    assert_eq!(refused("saentis", "owner").refusal()["message"], "bank statement not found");
    let unreached =
        "DELETE FROM reach WHERE mandate_id = (SELECT id FROM mandates WHERE number = 'LEM-M001')";
    world.sql(unreached);
    assert_eq!(refused("leman", "accountant").refusal()["message"], "bank statement not found");
    assert_ne!(refused("leman", "assistant").status, 500);
    assert!(
        refused("leman", "assistant").json()["error"].is_object(),
        "no such tool for an assistant"
    );
}
