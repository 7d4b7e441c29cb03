//! Reports on the books of the demo data, against sums of their bare rows; and what they let expect of cash.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::ledger::{BANK, DEBTORS, RENT, books, report};
use crate::world::World;
use crate::world::ledger::{Bookkeeper, Ledger};
use crate::world::oracle::{assert_controls, cents, explained};

on_both! {
    reports_on_the_demo_are_the_sums_of_its_rows,
    cash_is_expected_from_open_lines_the_oldest_settled_first,
    the_firms_cash_is_expected_from_its_open_invoices,
    what_a_forecast_does_not_count_is_said,
}

/// A posted line: mandate, account, kind, day, journal, and debit less credit.
struct Row {
    mandate: String,
    account: String,
    kind: String,
    on: String,
    journal: String,
    amount: i64,
}

fn uuid(text: &str) -> String {
    text.parse::<uuid::Uuid>().unwrap().to_string()
}

fn stored(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap()
}

/// Every posted line of a firm.
fn posted(world: &World, firm: &str) -> Vec<Row> {
    let id = if world.database.is_postgres() { "l.mandate_id::text" } else { "hex(l.mandate_id)" };
    let sql = format!(
        "SELECT {id} || '|' || a.number || '|' || a.kind || '|' || CAST(l.booked_on AS TEXT) || '|' || e.journal || '|' || \
         CAST(l.debit AS TEXT) || '|' || CAST(l.credit AS TEXT) FROM entry_lines l JOIN entries e ON e.id = l.entry_id \
         JOIN accounts a ON a.id = l.account_id WHERE e.state = 'posted' AND l.tenant_id = (SELECT id FROM tenants WHERE slug = '{firm}')"
    );
    let row = |row: Vec<String>| Row {
        mandate: uuid(&row[0]),
        account: row[1].clone(),
        kind: row[2].clone(),
        on: row[3].clone(),
        journal: row[4].clone(),
        amount: stored(&row[5]) - stored(&row[6]),
    };
    world.query(&sql).into_iter().map(row).collect()
}

fn is_anew(kind: &str) -> bool {
    matches!(kind, "income" | "expense" | "closing")
}

/// Debit less credit by account, of the rows for which something holds.
fn balances<'a>(rows: &[&'a Row], holds: impl Fn(&Row) -> bool) -> BTreeMap<&'a str, i64> {
    let mut balances = BTreeMap::new();
    for row in rows.iter().filter(|row| holds(row)) {
        *balances.entry(row.account.as_str()).or_insert(0) += row.amount;
    }
    balances.retain(|_, balance| *balance != 0);
    balances
}

/// The amounts of the lines of a report by account.
fn shown(report: &Value) -> BTreeMap<&str, i64> {
    let lines = report["sections"].as_array().unwrap().iter();
    let lines = lines.flat_map(|section| section["lines"].as_array().unwrap());
    lines.map(|line| (line["account"].as_str().unwrap(), cents(&line["amount"]))).collect()
}

fn reports_on_the_demo_are_the_sums_of_its_rows(world: &World) {
    for firm in ["leman", "saentis"] {
        let rows = posted(world, firm);
        let owner = world.client(firm, "owner");
        let id = if world.database.is_postgres() { "id::text" } else { "hex(id)" };
        let mandate =
            if world.database.is_postgres() { "mandate_id::text" } else { "hex(mandate_id)" };
        let years = world.query(&format!(
            "SELECT {mandate} || '|' || {id} || '|' || CAST(starts_on AS TEXT) || '|' || CAST(ends_on AS TEXT) FROM fiscal_years \
             WHERE tenant_id = (SELECT id FROM tenants WHERE slug = '{firm}')"
        ));
        assert!(years.len() > 10, "{}", years.len());
        for year in years {
            let (mandate, id, from, to) = (uuid(&year[0]), uuid(&year[1]), &year[2], &year[3]);
            let rows: Vec<&Row> = rows.iter().filter(|row| row.mandate == mandate).collect();
            let ask = |tool: &str, mut arguments: Value| {
                arguments["mandate_id"] = json!(mandate);
                let report = owner.ask(tool, arguments);
                assert_controls(&report);
                report
            };
            let report = ask("get_trial_balance", json!({ "fiscal_year_id": id, "to": to }));
            let closings =
                balances(&rows, |row| row.on <= *to && (!is_anew(&row.kind) || row.on >= *from));
            let seen: BTreeMap<&str, i64> = report["rows"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|row| row.get("account").is_some() && cents(&row["closing"]) != 0)
                .map(|row| (row["account"].as_str().unwrap(), cents(&row["closing"])))
                .collect();
            assert_eq!(seen, closings, "{firm} {mandate} {to}");
            let income = ask("get_profit_and_loss", json!({ "fiscal_year_id": id, "to": to }));
            let is_of_year = |row: &Row| row.on >= *from && row.on <= *to && row.journal != "CLO";
            let results = balances(&rows, |row| {
                matches!(row.kind.as_str(), "income" | "expense") && is_of_year(row)
            });
            let results: BTreeMap<&str, i64> =
                results.into_iter().map(|(account, amount)| (account, -amount)).collect();
            assert_eq!(shown(&income), results, "{firm} {mandate} {to}");
            assert_eq!(cents(&income["result"]["amount"]), results.values().sum::<i64>());
            let sheet = ask("get_balance_sheet", json!({ "as_of": to }));
            assert_eq!(sheet["result"], income["result"]["amount"]);
            let stands = balances(&rows, |row| row.on <= *to && !is_anew(&row.kind));
            let sizes: BTreeMap<&str, i64> = shown(&sheet);
            assert_eq!(sizes.keys().collect::<Vec<_>>(), stands.keys().collect::<Vec<_>>());
            for (account, balance) in &stands {
                assert_eq!(sizes[account].abs(), balance.abs(), "{account}");
            }
            for row in report["rows"].as_array().unwrap().iter().take(2) {
                let parts = explained(&owner, &row["figure"], 100);
                assert_eq!(parts["debit"].0, cents(&row["debit"]), "{row}");
            }
        }
    }
}

/// Says what an account is used for.
fn use_for(bookkeeper: &mut Bookkeeper<'_>, ledger: &Ledger, account: usize, purpose: &str) {
    let (tenant, mandate) = (bookkeeper.tenant(), bookkeeper.literal(ledger.mandate));
    let account = bookkeeper.literal(ledger.accounts[account].id);
    bookkeeper.add(&format!(
        "INSERT INTO account_uses (tenant_id, mandate_id, purpose, currency, account_id) \
         VALUES ({tenant}, {mandate}, '{purpose}', 'CHF', {account})"
    ));
}

/// Inflow, outflow and closing of each week.
fn weeks(forecast: &Value) -> Vec<[i64; 3]> {
    let weeks = forecast["weeks"].as_array().unwrap().iter();
    weeks.map(|week| ["inflow", "outflow", "closing"].map(|name| cents(&week[name]))).collect()
}

fn cash_is_expected_from_open_lines_the_oldest_settled_first(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let creditors = bookkeeper.account(&mut ledger, "2000", "liability", None);
    use_for(&mut bookkeeper, &ledger, DEBTORS, "receivables");
    use_for(&mut bookkeeper, &ledger, creditors, "payables");
    // 2000.05 of October 2025 and 3000.10 of 11 November are open; 500.00 paid settle the older in part.
    bookkeeper.booked(&mut ledger, "OD", "2026-11-12", &[(BANK, 50_000), (DEBTORS, -50_000)]);
    bookkeeper.booked(&mut ledger, "OD", "2026-11-25", &[(RENT, 70_000), (creditors, -70_000)]);
    bookkeeper.write();
    let ask = |arguments: Value| report(&world.owner(), "get_cash_forecast", &ledger, arguments);
    let forecast = ask(json!({ "weeks": 5 }));
    assert_eq!(forecast["as_of"], "2026-11-30");
    let start = 958_100 + 95_000 + 50_000;
    assert_eq!(cents(&forecast["start"]), start);
    let first = start + 150_005;
    let second = first + 300_010;
    assert_eq!(
        weeks(&forecast),
        [
            [150_005, 0, first],
            [300_010, 0, second],
            [0, 0, second],
            [0, 70_000, second - 70_000],
            [0, 0, second - 70_000],
        ]
    );
    let cautious = weeks(&ask(json!({ "weeks": 6, "scenario": "cautious" })));
    assert_eq!(cautious[4][0], 135_005);
    assert_eq!(cautious[5][0], 270_009);
    assert_eq!(ask(json!({}))["weeks"].as_array().unwrap().len(), 13);
    for weeks in [0, 53] {
        let arguments = json!({ "mandate_id": ledger.mandate, "weeks": weeks });
        let refusal = world.owner().call("get_cash_forecast", arguments).refusal();
        assert_eq!(refusal["field"], "weeks");
    }
    assert!(!forecast["assumptions"].as_array().unwrap().is_empty());
}

fn the_firms_cash_is_expected_from_its_open_invoices(world: &World) {
    let id = if world.database.is_postgres() { "mandate_id::text" } else { "hex(mandate_id)" };
    let firm = world.query(&format!(
        "SELECT {id} FROM ledgers WHERE is_of_firm AND tenant_id = (SELECT id FROM tenants WHERE slug = 'leman')"
    ));
    let owner = world.owner();
    let arguments = json!({ "mandate_id": uuid(&firm[0][0]), "weeks": 52 });
    let forecast = owner.ask("get_cash_forecast", arguments.clone());
    let flows = forecast["weeks"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|week| week["flows"].as_array().unwrap());
    let flows = flows.chain(forecast["later"].as_array().unwrap());
    let invoices = flows.filter(|flow| flow["source"] == "open_invoices");
    let (amount, count) = invoices.fold((0, 0), |(amount, count), flow| {
        (amount + cents(&flow["amount"]), count + flow["count"].as_i64().unwrap())
    });
    let open = owner.ask("list_open_items", json!({ "currency": "CHF" }));
    assert_eq!(amount, cents(&open["totals"][0]["open"]));
    assert_eq!(count, open["totals"][0]["count"].as_i64().unwrap());
    let sheet = owner.ask("get_balance_sheet", json!({ "mandate_id": arguments["mandate_id"] }));
    let liquid: i64 = shown(&sheet)
        .into_iter()
        .filter(|(account, _)| ["100", "101", "102"].iter().any(|start| account.starts_with(start)))
        .map(|(_, amount)| amount)
        .sum();
    assert_eq!(cents(&forecast["start"]), liquid);
    let euros = owner.ask("list_open_items", json!({ "currency": "EUR" }));
    let left_out = forecast["left_out"].as_array().unwrap().iter();
    let left_out =
        left_out.filter(|one| one["source"] == "open_invoices" && one["currency"] == "EUR");
    let left_out: Vec<_> =
        left_out.map(|one| (cents(&one["amount"]), one["count"].as_i64().unwrap())).collect();
    let euros = &euros["totals"][0];
    assert_eq!(left_out, [(cents(&euros["open"]), euros["count"].as_i64().unwrap())]);
}

/// The ids of all books of the first firm, and the currency of each.
fn all_books(world: &World) -> Vec<Vec<String>> {
    let id = if world.database.is_postgres() { "mandate_id::text" } else { "hex(mandate_id)" };
    world.query(&format!(
        "SELECT {id} || '|' || currency FROM ledgers WHERE tenant_id = (SELECT id FROM tenants WHERE slug = 'leman')"
    ))
}

/// Net wages and number of payslips of each currency in the last month that has any, where that is September 2026 or later.
fn last_wages(world: &World, mandate: &str) -> BTreeMap<String, (i64, i64)> {
    let id = if world.database.is_postgres() { "mandate_id::text" } else { "hex(mandate_id)" };
    let wages = world.query(&format!(
        "SELECT {id} || '|' || currency || '|' || CAST(year * 100 + month AS TEXT) || '|' || CAST(net AS TEXT) FROM payslips \
         WHERE state = 'final' AND year * 100 + month >= 202609 ORDER BY year, month"
    ));
    let mut last: BTreeMap<String, (String, i64, i64)> = BTreeMap::new();
    for wage in wages.into_iter().filter(|wage| uuid(&wage[0]) == mandate) {
        let own = last.entry(wage[1].clone()).or_default();
        if own.0 != wage[2] {
            *own = (wage[2].clone(), 0, 0);
        }
        own.1 += stored(&wage[3]);
        own.2 += 1;
    }
    last.into_iter().map(|(currency, (_, net, count))| (currency, (net, count))).collect()
}

fn what_a_forecast_does_not_count_is_said(world: &World) {
    let (owner, rows) = (world.owner(), posted(world, "leman"));
    let id = if world.database.is_postgres() { "u.mandate_id::text" } else { "hex(u.mandate_id)" };
    let payables = world.query(&format!(
        "SELECT {id} || '|' || a.number FROM account_uses u JOIN accounts a ON a.id = u.account_id WHERE u.purpose = 'payables'"
    ));
    let (mut foreign, mut debts) = (0, 0);
    for books in all_books(world) {
        let (mandate, currency) = (uuid(&books[0]), &books[1]);
        let forecast = owner.ask("get_cash_forecast", json!({ "mandate_id": mandate, "weeks": 4 }));
        let left_out = |source: &str| {
            let all = forecast["left_out"].as_array().unwrap().iter();
            all.filter(|one| one["source"] == source).cloned().collect::<Vec<_>>()
        };
        let mut wages = last_wages(world, &mandate);
        let counted = wages.remove(currency);
        let flows = forecast["weeks"].as_array().unwrap().iter();
        let flow = flows
            .flat_map(|week| week["flows"].as_array().unwrap())
            .find(|flow| flow["source"] == "wages")
            .map(|flow| (-cents(&flow["amount"]), flow["count"].as_i64().unwrap()));
        assert_eq!(flow, counted, "{mandate}");
        let uncounted: BTreeMap<String, (i64, i64)> = left_out("wages")
            .iter()
            .map(|one| {
                let amounts = (-cents(&one["amount"]), one["count"].as_i64().unwrap());
                (one["currency"].as_str().unwrap().to_owned(), amounts)
            })
            .collect();
        assert_eq!(uncounted, wages, "{mandate}");
        foreign += wages.len();

        let scheduled =
            |number: &str| payables.iter().any(|one| uuid(&one[0]) == mandate && one[1] == number);
        let own: Vec<&Row> = rows.iter().filter(|row| row.mandate == mandate).collect();
        let expected = balances(&own, |row| {
            let is_short =
                ["20", "21", "22", "23"].iter().any(|start| row.account.starts_with(start));
            row.kind == "liability"
                && is_short
                && !scheduled(&row.account)
                && *row.on <= *"2026-11-30"
        });
        let said = left_out("other_liabilities");
        let seen: BTreeMap<&str, i64> = said
            .iter()
            .map(|one| (one["account"].as_str().unwrap(), cents(&one["amount"])))
            .collect();
        assert_eq!(seen, expected, "{mandate}");
        for one in said.iter().take(1) {
            assert_eq!(one["currency"], **currency);
            let parts = explained(&owner, &one["figure"], 100);
            assert_eq!(
                parts.values().map(|(amount, _)| amount).sum::<i64>().abs(),
                cents(&one["amount"]).abs()
            );
        }
        debts += expected.len();
    }
    assert!(foreign > 0 && debts > 10, "{foreign} {debts}");
}
