//! The firm's key figures are those of the reports behind them.

use serde_json::{Value, json};

use crate::world::World;
use crate::world::sales::{all_hold, cents, explained};

on_both! {
    the_overview_counts_what_the_reports_count,
}

fn the_overview_counts_what_the_reports_count(world: &World) {
    for role in ["owner", "manager"] {
        let client = world.client("leman", role);
        let as_of = json!({ "as_of": "2026-06-30" });
        let overview = client.ask("get_firm_overview", as_of.clone());
        let open = client.ask("list_open_items", as_of);
        assert_eq!(overview["receivables"], open["totals"], "the same figures and handles");
        let overdue =
            client.ask("list_open_items", json!({ "as_of": "2026-06-30", "overdue_only": true }));
        for late in overview["overdue"].as_array().unwrap() {
            let totals = overdue["totals"].as_array().unwrap();
            let total = totals.iter().find(|total| total["currency"] == late["currency"]).unwrap();
            assert_eq!((&late["open"], &late["count"]), (&total["open"], &total["count"]));
        }
        let drafts = client.ask("search_invoices", json!({ "state": "draft" }))["total"].as_i64();
        let counts = |rows: &Value| {
            rows.as_array().unwrap().iter().map(|row| row["count"].as_i64().unwrap()).sum::<i64>()
        };
        assert_eq!(Some(counts(&overview["drafts"])), drafts);
        for (list, tool) in [("clients", "search_clients"), ("mandates", "search_mandates")] {
            for row in overview[list].as_array().unwrap() {
                let found = client.ask(tool, json!({ "status": row["status"] }));
                assert_eq!(found["total"], row["count"], "{role} {row}");
            }
        }
        for row in overview["revenue"].as_array().unwrap() {
            let parts = explained(&client, &row["figure"]);
            for part in ["month", "month_of_previous_year", "year", "year_of_previous_year"] {
                assert_eq!(parts[part], cents(&row[part]), "{row}");
            }
        }
        all_hold(&overview);
        let left = client.ask("list_tasks", json!({ "limit": 1 }));
        let open = ["open", "in_progress", "waiting"].map(|status| {
            client.ask("list_tasks", json!({ "status": status }))["total"].as_i64().unwrap()
        });
        assert_eq!(overview["tasks"]["open"], open.iter().sum::<i64>());
        assert_eq!(overview["tasks"]["overdue"], left["overdue"]);
        for (part, from) in [("month", "2026-06-01"), ("year", "2026-01-01")] {
            let days = json!({ "from": from, "to": "2026-06-30", "limit": 1 });
            let worked = client.ask("list_time_entries", days);
            assert!(worked["totals"]["minutes"].as_i64() > Some(0), "{role}");
            assert_eq!(overview["time"][part], worked["totals"], "the same figures and handles");
        }
        let own = client
            .ask("get_firm_overview", json!({ "as_of": "2026-06-30", "own_portfolio": true }));
        let id = client.ask("who_am_i", json!({}))["person"]["id"].clone();
        let led = client.ask("search_mandates", json!({ "responsible_id": id }))["total"].as_i64();
        assert_eq!(Some(counts(&own["mandates"])), led);
        assert!(counts(&own["mandates"]) < counts(&overview["mandates"]));
        for (what, count) in [("tasks", "open"), ("tasks", "overdue")] {
            assert!(own[what][count].as_i64() < overview[what][count].as_i64(), "{role}");
        }
        assert!(
            own["time"]["year"]["minutes"].as_i64() < overview["time"]["year"]["minutes"].as_i64()
        );
        for total in own["receivables"].as_array().unwrap() {
            explained(&client, &total["figure"]);
        }
    }
}
