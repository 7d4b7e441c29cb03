//! That every figure of a return is the sum of its rows.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::cents;
use super::oracle::divided;
use crate::world::Client;

/// The figures of tax at net rates.
const NET_RATES: [&str; 4] = ["322", "332", "323", "333"];

/// The gross amount of a record that is taxed at a net rate, after checking its tax; nought of any other record.
fn taxed_at_its_rate(item: &Value) -> i64 {
    let Some(base) = item.get("base") else {
        assert!(item["record"] == "rounding" || item["record_id"].is_string(), "{item}");
        return 0;
    };
    let (base, rate) = (cents(base), cents(&item["rate_percent"]));
    let tax = divided(i128::from(base) * i128::from(rate), 10_000);
    assert_eq!(cents(&item["amount"]), tax, "{item}");
    base
}

/// That the rows of every figure add up to it, those of tax at net rates from the turnover that is taxed.
pub(super) fn every_figure_re_sums(client: &Client, answer: &Value) {
    let rows = answer["figures"].as_array().unwrap().iter();
    let annex = answer.get("annex").and_then(Value::as_array).into_iter().flatten();
    for row in rows.chain(annex) {
        let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        let mut taxed = 0;
        let mut arguments = json!({ "figure": row["figure"], "limit": 3 });
        let parts = loop {
            let page = client.ask("explain_figure", arguments.clone());
            for item in page["items"].as_array().unwrap() {
                let sum = sums.entry(item["part"].as_str().unwrap().to_owned()).or_default();
                *sum = (sum.0 + cents(&item["amount"]), sum.1 + 1);
                taxed += taxed_at_its_rate(item);
            }
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break page["parts"].clone(),
            }
        };
        if NET_RATES.contains(&row["number"].as_str().unwrap()) {
            assert_eq!(taxed, cents(&row["base"]), "{row}");
        }
        let mut total = 0;
        for part in parts.as_array().unwrap() {
            let name = part["part"].as_str().unwrap();
            let (sum, count) = sums.remove(name).unwrap_or_default();
            assert_eq!(part["rows"], count, "{row} {part}");
            assert_eq!(cents(&part["amount"]), sum, "{row} {part}");
            match name {
                "base" if row.get("base").is_some() => assert_eq!(part["amount"], row["base"]),
                _ => total += cents(&part["amount"]),
            }
        }
        assert!(sums.is_empty(), "{row} {sums:?}");
        assert_eq!(total, cents(&row["amount"]), "{row} {parts}");
    }
}
