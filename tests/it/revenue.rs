//! Invoiced revenue, recomputed from the bare rows.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::world::World;
use crate::world::sales::{Document, Sales, all_hold, cents, explained, last_commit, sign};

on_both! {
    revenue_is_that_of_invoices_and_credit_notes_issued_in_the_period,
    groups_add_up_to_the_total_and_the_smaller_ones_are_added_up,
    the_lines_of_services_add_up_to_the_documents,
    the_previous_period_is_the_same_days_a_year_earlier,
    what_was_posted_later_does_not_change_a_report,
    revenue_is_counted_within_reach,
    a_figure_is_explained_to_whoever_could_compute_it,
    a_period_is_bounded,
    one_definition_is_used_by_every_report_on_revenue,
}

const PERIODS: [(&str, &str); 4] = [
    ("2026-01-01", "2026-06-30"),
    ("2025-03-12", "2025-03-12"),
    ("2024-01-01", "2026-11-30"),
    ("2030-01-01", "2030-12-31"),
];

/// The groups or totals of an answer by currency and `key`.
fn by(rows: &Value, key: &str) -> BTreeMap<(String, String), (i64, i64)> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| {
        let sums = (cents(&row["revenue"]), row["count"].as_i64().unwrap());
        ((text(row, "currency"), text(row, key)), sums)
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

fn expected(
    sales: &Sales,
    period: (&str, &str),
    known: i64,
    key: impl Fn(&Document) -> String,
) -> BTreeMap<(String, String), (i64, i64)> {
    let sums = sales.revenue(period, known, key).into_iter();
    sums.map(|(key, (net, _, count))| (key, (net, count))).collect()
}

fn revenue_is_that_of_invoices_and_credit_notes_issued_in_the_period(world: &World) {
    for firm in ["leman", "saentis"] {
        let (sales, owner) = (Sales::of(world, firm, None), world.client(firm, "owner"));
        let last = last_commit(world, firm);
        for (from, to) in PERIODS {
            let answer = owner.ask("get_revenue", json!({ "from": from, "to": to }));
            let whole = expected(&sales, (from, to), last, |_| String::new());
            assert_eq!(by(&answer["totals"], "none"), whole, "{firm} {from}");
            let rounding = sales.revenue((from, to), last, |_| String::new());
            for total in answer["totals"].as_array().unwrap() {
                let key = (total["currency"].as_str().unwrap().to_owned(), String::new());
                assert_eq!(cents(&total["rounding"]), rounding[&key].1);
                assert!(total.get("previous").is_none());
            }
            assert!(answer.get("groups").is_none());
            let with_ledger = "the total equals the revenue accounts of the firm's ledger";
            assert!(answer["controls"].to_string().contains(with_ledger));
            assert_eq!(answer["as_known_on"], format!("#{last}"));
            all_hold(&answer);
        }
        let all = expected(&sales, ("2024-01-01", "2026-11-30"), last, |one| one.kind.clone());
        assert!(all.keys().any(|(_, document)| document == "credit_note"));
        assert!(all.iter().all(|((_, document), (net, _))| (document == "invoice") == (*net > 0)));
    }
}

fn groups_add_up_to_the_total_and_the_smaller_ones_are_added_up(world: &World) {
    let (sales, owner) = (Sales::of(world, "leman", None), world.owner());
    let (from, to) = ("2024-01-01", "2026-11-30");
    let last = last_commit(world, "leman");
    let ask = |group: &str| {
        owner.ask("get_revenue", json!({ "from": from, "to": to, "group_by": group }))
    };
    let months = ask("month");
    let month = |one: &Document| one.issued_on[..7].to_owned();
    assert_eq!(by(&months["groups"], "number"), expected(&sales, (from, to), last, month));
    let clients = ask("client");
    let client = |one: &Document| one.client.clone();
    assert_eq!(by(&clients["groups"], "id"), expected(&sales, (from, to), last, client));
    let mandates = ask("mandate");
    let mandate = |one: &Document| one.mandate.clone();
    let all = expected(&sales, (from, to), last, mandate);
    let mut shown = by(&mandates["groups"], "id");
    let rows = mandates["groups"].as_array().unwrap();
    let others: Vec<&Value> = rows.iter().filter(|row| row["others"].is_u64()).collect();
    if all.len() > 100 {
        assert!(!others.is_empty());
        assert!(mandates["note"].as_str().unwrap().contains("100 largest"));
    }
    for row in &others {
        let currency = row["currency"].as_str().unwrap().to_owned();
        let of_others = |((of, _), _): &(&(String, String), &(i64, i64))| *of == currency;
        let left: Vec<_> = all
            .iter()
            .filter(of_others)
            .filter(|(key, _)| {
                !rows.iter().any(|row| {
                    row.get("others").is_none()
                        && row["currency"] == key.0.as_str()
                        && row["id"].as_str().unwrap_or_default() == key.1
                })
            })
            .collect();
        assert_eq!(row["others"], left.len());
        let sum: i64 = left.iter().map(|(_, (net, _))| net).sum();
        assert_eq!(cents(&row["revenue"]), sum, "{row}");
        assert_eq!(explained(&owner, &row["figure"])["revenue"], sum);
    }
    if others.is_empty() {
        assert_eq!(std::mem::take(&mut shown), all);
    }
    for answer in [&months, &clients, &mandates] {
        all_hold(answer);
        assert!(answer.to_string().len() < 48_000, "{}", answer.to_string().len());
        for row in answer["groups"].as_array().unwrap().iter().step_by(7) {
            let parts = explained(&owner, &row["figure"]);
            assert_eq!(parts["revenue"], cents(&row["revenue"]), "{row}");
        }
    }
}

fn the_lines_of_services_add_up_to_the_documents(world: &World) {
    let (sales, owner) = (Sales::of(world, "leman", None), world.owner());
    let period = ("2026-01-01", "2026-11-30");
    let last = last_commit(world, "leman");
    let mut sums: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
    for one in sales.counted(period, last) {
        for (_, service, net) in sales.lines.iter().filter(|(document, ..)| *document == one.id) {
            let sum = sums.entry((one.currency.clone(), service.clone())).or_default();
            *sum = (sum.0 + sign(one) * net, sum.1 + 1);
        }
    }
    let arguments = json!({ "from": period.0, "to": period.1, "group_by": "service" });
    let answer = owner.ask("get_revenue", arguments.clone());
    assert_eq!(by(&answer["groups"], "id"), sums);
    all_hold(&answer);
    for row in answer["groups"].as_array().unwrap() {
        assert_eq!(explained(&owner, &row["figure"])["revenue"], cents(&row["revenue"]));
    }
    let broken = "UPDATE invoice_lines SET net = net + 7 WHERE id = (SELECT l.id FROM invoice_lines l JOIN invoices i ON i.id = l.invoice_id \
        WHERE i.currency = 'CHF' AND i.document = 'invoice' AND i.state = 'issued' AND i.issued_on = (SELECT max(c.issued_on) FROM invoices c WHERE c.currency = 'CHF' AND c.document = 'invoice' AND c.state = 'issued') \
        AND l.tenant_id = (SELECT id FROM tenants WHERE slug = 'leman') ORDER BY l.id LIMIT 1)";
    unguarded(world, "invoice_lines", &["append_only"], &["keep"], broken);
    let answer = owner.ask("get_revenue", arguments);
    let failed =
        answer["controls"].as_array().unwrap().iter().find(|control| control["holds"] == false);
    let failed = failed.unwrap();
    assert!(failed["name"].as_str().unwrap().contains("lines of all services"), "{failed}");
    let difference = if world.database.is_postgres() { 700 } else { 7 };
    assert_eq!(
        (failed["currency"].as_str(), cents(&failed["difference"])),
        (Some("CHF"), difference)
    );
}

/// Runs SQL that the triggers of a table would refuse.
fn unguarded(world: &World, table: &str, postgres: &[&str], sqlite: &[&str], sql: &str) {
    if world.database.is_postgres() {
        for name in postgres {
            world.sql(&format!("ALTER TABLE {table} DISABLE TRIGGER {table}_{name}"));
        }
    } else {
        for name in sqlite {
            world.sql(&format!("DROP TRIGGER {table}_{name}"));
        }
    }
    world.sql(sql);
}

fn the_previous_period_is_the_same_days_a_year_earlier(world: &World) {
    let (sales, owner) = (Sales::of(world, "saentis", None), world.client("saentis", "owner"));
    let last = last_commit(world, "saentis");
    for (period, previous) in [
        (("2026-01-01", "2026-06-30"), ("2025-01-01", "2025-06-30")),
        (("2025-02-01", "2025-02-28"), ("2024-02-01", "2024-02-29")),
        (("2025-02-10", "2025-02-27"), ("2024-02-10", "2024-02-27")),
        (("2025-01-01", "2026-11-30"), ("2024-01-01", "2025-11-30")),
    ] {
        for group in [None, Some("month"), Some("client"), Some("service")] {
            let mut arguments =
                json!({ "from": period.0, "to": period.1, "compare_previous": true });
            if let Some(group) = group {
                arguments["group_by"] = group.into();
            }
            let answer = owner.ask("get_revenue", arguments);
            assert_eq!(
                (&answer["previous_from"], &answer["previous_to"]),
                (&json!(previous.0), &json!(previous.1))
            );
            let before = expected(&sales, previous, last, |_| String::new());
            let mut in_groups: BTreeMap<&str, i64> = BTreeMap::new();
            for row in answer["groups"].as_array().into_iter().flatten() {
                *in_groups.entry(row["currency"].as_str().unwrap()).or_default() +=
                    cents(&row["previous"]);
            }
            for total in answer["totals"].as_array().unwrap() {
                let currency = total["currency"].as_str().unwrap();
                let sum =
                    before.get(&(currency.to_owned(), String::new())).map_or(0, |(net, _)| *net);
                assert_eq!(cents(&total["previous"]), sum);
                assert!(group.is_none() || in_groups[currency] == sum, "{group:?} {currency}");
                let parts = explained(&owner, &total["figure"]);
                assert_eq!(
                    (parts["revenue"], parts["previous"], parts["rounding"]),
                    (cents(&total["revenue"]), sum, cents(&total["rounding"]))
                );
            }
            if let Some(row) = answer["groups"].as_array().and_then(|rows| rows.last()) {
                let parts = explained(&owner, &row["figure"]);
                assert_eq!(
                    (parts["revenue"], parts["previous"]),
                    (cents(&row["revenue"]), cents(&row["previous"]))
                );
            }
        }
    }
}

fn what_was_posted_later_does_not_change_a_report(world: &World) {
    let (sales, owner) = (Sales::of(world, "leman", None), world.owner());
    let period = ("2025-01-01", "2026-11-30");
    for known in [0, 1, 400, 900, last_commit(world, "leman")] {
        let arguments =
            json!({ "from": period.0, "to": period.1, "as_known_on": format!("#{known}") });
        let answer = owner.ask("get_revenue", arguments.clone());
        assert_eq!(
            by(&answer["totals"], "none"),
            expected(&sales, period, known, |_| String::new())
        );
    }
    let now = owner
        .call("get_revenue", json!({ "from": period.0, "to": period.1, "group_by": "client" }));
    let told = now.content();
    world.sql("UPDATE invoices SET state = 'issued', number = 'LATE-1', issued_on = '2026-06-01', due_on = '2026-07-01', commit_number = (SELECT max(number) FROM commits c WHERE c.tenant_id = invoices.tenant_id) \
        WHERE id = (SELECT id FROM invoices WHERE state = 'draft' AND document = 'invoice' AND tenant_id = (SELECT id FROM tenants WHERE slug = 'leman') ORDER BY id LIMIT 1)");
    let again =
        owner.ask("get_revenue", json!({ "from": period.0, "to": period.1, "group_by": "client" }));
    assert_ne!(again["totals"], told["totals"]);
    let instant = if world.database.is_postgres() {
        "'2026-11-30T09:00:00Z'"
    } else {
        "'2026-11-30T09:00:00.000000Z'"
    };
    world.sql(&format!("INSERT INTO commits SELECT tenant_id, max(number) + 1, {instant}, (SELECT user_id FROM memberships m WHERE m.tenant_id = commits.tenant_id ORDER BY user_id LIMIT 1) \
        FROM commits WHERE tenant_id = (SELECT id FROM tenants WHERE slug = 'leman') GROUP BY tenant_id"));
    let mut arguments = json!({ "from": period.0, "to": period.1, "group_by": "client" });
    let later = owner.ask("get_revenue", arguments.clone());
    assert_ne!(later["report_id"], again["report_id"]);
    arguments["as_known_on"] = again["as_known_on"].clone();
    let repeated = owner.call("get_revenue", arguments).content();
    assert_eq!(repeated, again, "the same clocks give the same report");
}

fn revenue_is_counted_within_reach(world: &World) {
    let period = ("2024-01-01", "2026-11-30");
    for role in ["manager", "auditor"] {
        let person = world.person("leman", role);
        let sales = Sales::of(world, "leman", Some(&person.email));
        let last = last_commit(world, "leman");
        let answer = world
            .bearer(&person.token)
            .ask("get_revenue", json!({ "from": period.0, "to": period.1 }));
        let own = expected(&sales, period, last, |_| String::new());
        assert_eq!(by(&answer["totals"], "none"), own, "{role}");
        let all = expected(&Sales::of(world, "leman", None), period, last, |_| String::new());
        assert_ne!(own, all);
        assert!(
            !answer.to_string().contains("ledger"),
            "whoever reaches a part compares with no whole account"
        );
    }
    let id = &Sales::of(world, "leman", None).documents.values().next().unwrap().client.clone();
    let mut sums = BTreeMap::new();
    for (key, sum) in
        expected(&Sales::of(world, "leman", None), period, i64::MAX, |one| one.client.clone())
    {
        if key.1 == *id {
            sums.insert((key.0, String::new()), sum);
        }
    }
    let answer = world
        .owner()
        .ask("get_revenue", json!({ "from": period.0, "to": period.1, "client_id": id }));
    assert_eq!(by(&answer["totals"], "none"), sums);
}

fn a_figure_is_explained_to_whoever_could_compute_it(world: &World) {
    let owner = world.owner();
    let period = json!({ "from": "2026-01-01", "to": "2026-06-30" });
    let figure = owner.ask("get_revenue", period.clone())["totals"][0]["figure"].clone();
    explained(&owner, &figure);
    let refused = |client: &crate::world::Client, figure: &Value| {
        client.call("explain_figure", json!({ "figure": figure })).refusal()
    };
    let unknown = refused(&owner, &json!("AAAA"));
    assert_eq!(unknown["code"], "not_found");
    for role in ["manager", "accountant", "auditor", "client_user"] {
        assert_eq!(refused(&world.client("leman", role), &figure), unknown, "{role}");
    }
    assert_eq!(refused(&world.client("saentis", "owner"), &figure), unknown);
    let text = figure.as_str().unwrap();
    for at in (0..text.len()).step_by(3) {
        let other = if &text[at..=at] == "A" { "B" } else { "A" };
        let edited = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        assert_eq!(refused(&owner, &json!(edited)), unknown);
    }
    let auditor = world.client("leman", "auditor");
    let own = auditor.ask("get_revenue", period)["totals"][0]["figure"].clone();
    explained(&auditor, &own);
    assert_eq!(refused(&owner, &own), unknown, "who reaches more would compute another figure");
}

fn a_period_is_bounded(world: &World) {
    let owner = world.owner();
    for (from, to) in [("2026-01-02", "2026-01-01"), ("2016-01-01", "2026-01-01")] {
        let refusal = owner.call("get_revenue", json!({ "from": from, "to": to })).refusal();
        assert_eq!(
            (&refusal["code"], &refusal["field"]),
            (&json!("invalid_argument"), &json!("to"))
        );
    }
    owner.ask(
        "get_revenue",
        json!({ "from": "2016-01-01", "to": "2025-12-31", "group_by": "client" }),
    );
    let later = owner.call(
        "get_revenue",
        json!({ "from": "2026-01-01", "to": "2026-01-31", "as_known_on": "2026-12-01" }),
    );
    assert_eq!(later.refusal()["field"], "as_known_on");
}

fn one_definition_is_used_by_every_report_on_revenue(world: &World) {
    let owner = world.owner();
    let overview = owner.ask("get_firm_overview", json!({ "as_of": "2026-06-15" }));
    let month = owner.ask(
        "get_revenue",
        json!({ "from": "2026-06-01", "to": "2026-06-15", "compare_previous": true }),
    );
    let year = owner.ask(
        "get_revenue",
        json!({ "from": "2026-01-01", "to": "2026-06-15", "compare_previous": true }),
    );
    assert_eq!(overview["revenue_definition"], month["definition"]);
    for row in overview["revenue"].as_array().unwrap() {
        let of = |report: &Value, name: &str| {
            let totals = report["totals"].as_array().unwrap();
            let total = totals.iter().find(|total| total["currency"] == row["currency"]);
            total.map_or(0, |total| cents(&total[name]))
        };
        assert_eq!(cents(&row["month"]), of(&month, "revenue"));
        assert_eq!(cents(&row["month_of_previous_year"]), of(&month, "previous"));
        assert_eq!(cents(&row["year"]), of(&year, "revenue"));
        assert_eq!(cents(&row["year_of_previous_year"]), of(&year, "previous"));
    }
}
