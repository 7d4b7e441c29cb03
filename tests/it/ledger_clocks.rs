//! The two clocks of the books: what was known then does not change, whatever is posted later.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::ledger::{BANK, DEBTORS, RENT, REVENUE, books};
use crate::world::ledger::{Bookkeeper, Chance, Ledger, day, line};
use crate::world::oracle::{assert_controls, cents};
use crate::world::{Answer, Client, World};

on_both! {
    a_report_repeats_to_the_byte_after_a_restart_and_a_thousand_postings,
    what_is_true_now_is_no_part_of_a_report,
    at_every_posting_the_books_say_what_a_replay_of_the_events_says,
    a_running_balance_continues_though_others_post_between_pages,
    lists_stand_at_the_clock_of_their_first_page,
    the_clock_of_a_day_counts_what_was_posted_until_midnight_of_the_firm,
}

/// Every report, at one clock.
fn reports(client: &Client, ledger: &Ledger, known_on: &str) -> Vec<Answer> {
    let of = |tool: &str, mut arguments: Value| {
        arguments["mandate_id"] = json!(ledger.mandate);
        arguments["as_known_on"] = json!(known_on);
        client.call(tool, arguments)
    };
    vec![
        of("get_trial_balance", json!({})),
        of("get_trial_balance", json!({ "level": 1, "to": "2026-03-03" })),
        of("get_profit_and_loss", json!({ "compare": true })),
        of("get_balance_sheet", json!({ "compare": true })),
        of("get_account_statement", json!({ "account": "1020", "from": "2024-07-01" })),
        of("get_account_statement", json!({ "account": "3400", "limit": 1 })),
    ]
}

fn a_report_repeats_to_the_byte_after_a_restart_and_a_thousand_postings(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let known_on = [format!("#{}", bookkeeper.last_commit - 3), "2026-11-29".to_owned()];
    let owner = world.owner();
    let before: Vec<Vec<Answer>> =
        known_on.iter().map(|known_on| reports(&owner, &ledger, known_on)).collect();
    let figure = before[0][0].content()["rows"][0]["figure"].clone();
    let explained = owner.call("explain_figure", json!({ "figure": figure }));
    for at in 0..1_000 {
        let on = ["2026-11-20", "2026-07-07", "2025-12-12", "2025-01-31"][at % 4];
        let lines = [
            (BANK, 1_000 + i64::try_from(at).unwrap()),
            (REVENUE, -1_000 - i64::try_from(at).unwrap()),
        ];
        let lines = lines.map(|(account, amount)| line(account, amount)).to_vec();
        let year = if on < "2025-07-01" {
            0
        } else if on < "2026-07-01" {
            1
        } else {
            2
        };
        let entry = bookkeeper.draft(&mut ledger, year, "OD", day(on), lines, None);
        let commit = bookkeeper.commit("2026-11-30T08:00:00");
        bookkeeper.post(&mut ledger, entry, commit);
    }
    bookkeeper.write();
    let again = World::new(world.database.again());
    for (known_on, before) in known_on.iter().zip(&before) {
        for client in [&owner, &again.owner()] {
            for (before, after) in before.iter().zip(reports(client, &ledger, known_on)) {
                assert_eq!(before.text(), after.text(), "{known_on}");
                assert_controls(&after.content());
                assert!(after.content()["report_id"].as_str().unwrap().len() == 20);
            }
        }
    }
    let after = again.owner().call("explain_figure", json!({ "figure": figure }));
    assert_eq!(explained.text(), after.text());
    let ids: std::collections::BTreeSet<String> = before
        .iter()
        .flatten()
        .map(|answer| answer.content()["report_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 12, "each report has an id of its own");
}

/// A report without what is true now, and what that is.
fn parted(mut report: Value) -> (Value, Value) {
    let fields = report.as_object_mut().unwrap();
    fields.remove("next_cursor");
    let now = fields.remove("now").unwrap_or_default();
    (report, now)
}

fn what_is_true_now_is_no_part_of_a_report(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let owner = world.owner();
    let (mandate, tenant) = (ledger.mandate, bookkeeper.tenant());
    let ask = |known_on: Option<&Value>| {
        let of = |(tool, mut arguments): (&str, Value)| {
            arguments["mandate_id"] = json!(mandate);
            if let Some(known_on) = known_on {
                arguments["as_known_on"] = known_on.clone();
            }
            parted(owner.ask(tool, arguments))
        };
        let reports = [
            ("get_trial_balance", json!({})),
            ("get_trial_balance", json!({ "to": "2026-11-30", "level": 2 })),
            ("get_profit_and_loss", json!({ "compare": true })),
            ("get_balance_sheet", json!({})),
            ("get_account_statement", json!({ "account": "1020", "limit": 1 })),
        ];
        reports.map(of)
    };
    let before = ask(None);
    let known = before[0].0["as_known_on"].clone();
    assert_eq!(ask(Some(&known)), before, "the answered clock passed back");
    let lines = vec![line(BANK, 500), line(REVENUE, -500)];
    bookkeeper.draft(&mut ledger, 2, "OD", day("2026-11-02"), lines, None);
    let year = bookkeeper.literal(ledger.years[2].id);
    bookkeeper.add(&format!(
        "UPDATE fiscal_years SET state = 'provisionally_closed' WHERE tenant_id = {tenant} AND id = {year}"
    ));
    bookkeeper.write();
    let closing = json!({ "drafts": 2, "fiscal_year_state": "provisionally_closed" });
    for after in [ask(None), ask(Some(&known))] {
        for ((before, _), (after, _)) in before.iter().zip(&after) {
            assert_eq!(before.to_string(), after.to_string());
        }
        assert_eq!(
            after.each_ref().map(|(_, now)| now.clone()),
            [
                closing.clone(),
                closing.clone(),
                closing.clone(),
                json!({ "drafts": 2 }),
                Value::Null,
            ]
        );
    }
}

/// Closing balances by number as a trial balance has them.
fn closings(report: &Value) -> BTreeMap<String, i64> {
    let rows = report["rows"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row.get("account").is_some());
    let closings =
        rows.map(|row| (row["account"].as_str().unwrap().to_owned(), cents(&row["closing"])));
    closings.filter(|(_, closing)| *closing != 0).collect()
}

fn at_every_posting_the_books_say_what_a_replay_of_the_events_says(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let mut chance = Chance(99);
    let first = bookkeeper.last_commit;
    for _ in 0..60 {
        let year = usize::try_from(chance.below(3)).unwrap();
        let on = chance.day((ledger.years[year].from, ledger.years[year].to));
        let amount = i64::try_from(1 + chance.below(90_000)).unwrap();
        let (debit, credit) = *chance.pick(&[(BANK, DEBTORS), (DEBTORS, REVENUE), (RENT, BANK)]);
        let lines = vec![line(debit, amount), line(credit, -amount)];
        let entry = bookkeeper.draft(&mut ledger, year, "OD", on, lines.clone(), None);
        let commit = bookkeeper.commit("2026-11-30T08:00:00");
        bookkeeper.post(&mut ledger, entry, commit);
        if chance.happens(25) {
            let turned = vec![line(debit, -amount), line(credit, amount)];
            let original = ledger.entries[entry].id;
            let on = chance.day((on, ledger.years[year].to));
            let reversal = bookkeeper.draft(&mut ledger, year, "EXT", on, turned, Some(original));
            let commit = bookkeeper.commit("2026-11-30T08:00:00");
            bookkeeper.post(&mut ledger, reversal, commit);
        }
    }
    bookkeeper.write();
    let owner = world.owner();
    for known in first - 12..=bookkeeper.last_commit {
        let year = *chance.pick(&ledger.years);
        let to = chance.day((year.from, year.to));
        let ask = |tool: &str, mut arguments: Value| {
            arguments["mandate_id"] = json!(ledger.mandate);
            arguments["as_known_on"] = json!(format!("#{known}"));
            let report = owner.ask(tool, arguments);
            assert_eq!(report["as_known_on"], format!("#{known}"));
            assert_controls(&report);
            report
        };
        let mut expected = BTreeMap::new();
        for (at, account) in ledger.accounts.iter().enumerate() {
            let (opening, debit, credit) =
                ledger.turnover(at, None, (year.from, to), year.from, known);
            expected.insert(account.number.clone(), opening + debit - credit);
        }
        expected.retain(|_, closing| *closing != 0);
        assert_eq!(closings(&ask("get_trial_balance", json!({ "to": to }))), expected, "#{known}");
        let sheet = ask("get_balance_sheet", json!({ "as_of": to }));
        let assets = ledger.balance((day("1900-01-01"), to), known, |one| one.kind == "asset");
        assert_eq!(cents(&sheet["totals"]["assets"]["amount"]), assets, "#{known}");
        let statement = ask("get_account_statement", json!({ "account": "1020", "to": to }));
        let bank = expected.get("1020").copied().unwrap_or_default();
        assert_eq!(cents(&statement["closing"]), bank, "#{known}");
        let income = ask("get_profit_and_loss", json!({ "to": to }));
        let result: i64 = ledger.results((year.from, to), known).values().sum();
        assert_eq!(cents(&income["result"]["amount"]), result, "#{known}");
    }
}

fn a_running_balance_continues_though_others_post_between_pages(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let owner = world.owner();
    let mut arguments = json!({
        "mandate_id": ledger.mandate, "account": "1020", "from": "2024-07-01", "limit": 1,
    });
    let known = json!(format!("#{}", bookkeeper.last_commit));
    let (mut running, mut pages, mut id) = (0, 0, None);
    loop {
        let page = owner.ask("get_account_statement", arguments.clone());
        assert_eq!(page["as_known_on"], known);
        assert_eq!(page["total"], 5);
        assert_eq!(*id.get_or_insert_with(|| page["report_id"].clone()), page["report_id"]);
        assert_controls(&page);
        let row = &page["items"][0];
        running += cents(&row["debit"]) - cents(&row["credit"]);
        assert_eq!(cents(&row["balance"]), running);
        pages += 1;
        let Some(cursor) = page.get("next_cursor") else { break };
        arguments["cursor"] = cursor.clone();
        bookkeeper.booked(&mut ledger, "OD", "2025-01-01", &[(BANK, 777), (REVENUE, -777)]);
        bookkeeper.write();
    }
    assert_eq!(pages, 5);
}

fn lists_stand_at_the_clock_of_their_first_page(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = books(&mut bookkeeper);
    let owner = world.owner();
    let known = format!("#{}", bookkeeper.last_commit);
    let payment = if world.database.is_postgres() { "gen_random_uuid()" } else { "randomblob(16)" };
    for clock in [None, Some("2026-11-30"), Some(known.as_str())] {
        let known = format!("#{}", bookkeeper.last_commit);
        let mut arguments = json!({ "limit": 10 });
        if let Some(clock) = clock {
            arguments["as_known_on"] = json!(clock);
        }
        let first = owner.ask("list_open_items", arguments.clone());
        let (mut items, mut page) = (first["items"].as_array().unwrap().clone(), first.clone());
        while let Some(cursor) = page.get("next_cursor") {
            arguments["cursor"] = cursor.clone();
            let number = bookkeeper.commit("2026-11-30T08:00:00");
            let tenant = bookkeeper.tenant();
            bookkeeper.add(&format!(
                "INSERT INTO payments SELECT i.tenant_id, {payment}, i.id, '2026-11-29', i.total, 'bank', NULL, NULL, {number} \
                 FROM invoices i WHERE i.tenant_id = {tenant} AND i.document = 'invoice' AND i.state = 'issued' \
                 AND i.open_until > '2026-11-30' AND i.settled = 0 ORDER BY i.due_on DESC, i.id DESC LIMIT 1"
            ));
            bookkeeper.write();
            page = owner.ask("list_open_items", arguments.clone());
            for same in ["as_of", "as_known_on", "report_id", "total", "totals"] {
                assert_eq!(page[same], first[same], "{same} {clock:?}");
            }
            items.extend(page["items"].as_array().unwrap().iter().cloned());
        }
        assert_eq!(items.len(), first["total"], "{clock:?}");
        assert!(items.len() > 10);
        if clock.is_none_or(|clock| !clock.starts_with('#')) {
            assert_eq!(first["as_known_on"], known);
        }
    }
    let mut arguments = json!({ "mandate_id": ledger.mandate, "limit": 5 });
    let first = owner.ask("search_accounts", arguments.clone());
    bookkeeper.booked(&mut ledger, "OD", "2026-11-01", &[(BANK, 777), (REVENUE, -777)]);
    bookkeeper.write();
    arguments["cursor"] = first["next_cursor"].clone();
    let second = owner.ask("search_accounts", arguments);
    assert_eq!(second["as_known_on"], first["as_known_on"]);
    let revenue = second["items"].as_array().unwrap().iter().find(|row| row["number"] == "3400");
    assert_eq!(cents(&revenue.unwrap()["balance"]), -395_010);
}

fn the_clock_of_a_day_counts_what_was_posted_until_midnight_of_the_firm(world: &World) {
    let mut bookkeeper = Bookkeeper::of(world, "leman");
    let mut ledger = bookkeeper.ledger("CHF");
    for (number, kind) in [("1020", "asset"), ("2800", "equity")] {
        bookkeeper.account(&mut ledger, number, kind, None);
    }
    bookkeeper.year(&mut ledger, "2026-01-01", "2026-12-31");
    // In Switzerland the 29th of November ends at 23:00 UTC.
    for (at, amount) in [("2026-11-29T22:59:59", 100), ("2026-11-29T23:00:00", 1000)] {
        let lines = vec![line(0, amount), line(1, -amount)];
        let entry = bookkeeper.draft(&mut ledger, 0, "OD", day("2026-05-05"), lines, None);
        let commit = bookkeeper.commit(at);
        bookkeeper.post(&mut ledger, entry, commit);
    }
    bookkeeper.write();
    let bank = |known_on: &str| {
        let arguments = json!({ "mandate_id": ledger.mandate, "as_known_on": known_on });
        closings(&world.owner().ask("get_trial_balance", arguments)).get("1020").copied()
    };
    assert_eq!(bank("2026-11-28"), None);
    assert_eq!(bank("2026-11-29"), Some(100));
    assert_eq!(bank("2026-11-30"), Some(1100));
}
