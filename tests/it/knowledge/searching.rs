//! Words, ranked as computed anew from the bare rows.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Entity, Graph, text};
use crate::world::{Client, World};

on_both! {
    words_are_found_without_case_and_accents_best_match_first,
    pages_of_a_search_follow_each_other,
    people_employed_under_mandates_are_known_only_to_who_may_read_payroll,
    search_by_meaning_says_when_it_is_not_set_up,
}

/// How well words match, computed anew: 10 for a whole word of the name, 8 for a beginning, 6 within; 4, 3 and 2 in the rest.
fn expected_score(query: &str, words: &[&str], entity: &Entity) -> Option<u64> {
    let spaced = |text: &str| format!(" {} ", text.replace(['\'', '-'], " "));
    let (name, whole) = (spaced(&entity.name), spaced(&entity.text));
    let mut points = 0;
    for word in words {
        if !entity.text.contains(word) {
            return None;
        }
        let beginning = format!(" {}", word.replace(['\'', '-'], " "));
        let full = format!("{beginning} ");
        points += match () {
            () if name.contains(&full) => 10,
            () if name.contains(&beginning) => 8,
            () if entity.name.contains(word) => 6,
            () if whole.contains(&full) => 4,
            () if whole.contains(&beginning) => 3,
            () => 2,
        };
    }
    let count = u64::try_from(words.len()).unwrap();
    Some(if entity.name == query { 10_000 } else { points * 950 / count })
}

/// All pages of a search: score in ten-thousandths and id.
fn found(client: &Client, mut arguments: Value) -> Vec<(u64, String)> {
    let mut all = vec![];
    loop {
        let answer = client.ask("search_knowledge", arguments.clone());
        for item in answer["items"].as_array().unwrap() {
            let digits = item["score"].to_string();
            let score = digits.parse::<f64>().unwrap() * 10_000.0;
            assert!((0.0..=10_000.0).contains(&score), "{item}");
            all.push((format!("{score:.0}").parse().unwrap(), text(&item["id"])));
        }
        let Some(cursor) = answer.get("next_cursor") else {
            assert_eq!(answer["total"], all.len(), "{arguments}");
            return all;
        };
        arguments["cursor"] = cursor.clone();
    }
}

fn words_are_found_without_case_and_accents_best_match_first(world: &World) {
    let owner = world.owner();
    let graph = Graph::of(world, &world.person("leman", "owner").email);
    for (query, words) in [
        ("holding", vec!["holding"]),
        ("OEUVRAY", vec!["oeuvray"]),
        ("Zoé Œuvray-Lémanique", vec!["zoe", "oeuvray-lemanique"]),
        ("müller", vec!["muller"]),
        ("ller", vec!["ller"]),
        ("œil", vec!["oeil"]),
        ("%", vec!["%"]),
        ("_", vec!["_"]),
        ("lemanique", vec!["lemanique"]),
        ("employee dossier", vec!["employee", "dossier"]),
        ("holding parapluie", vec!["holding", "parapluie"]),
    ] {
        for code in [None, Some("person"), Some("company")] {
            let folded = guichet::text::fold(query);
            let mut expected: Vec<_> = graph
                .entities
                .values()
                .filter(|entity| code.is_none_or(|code| entity.type_code == code))
                .filter_map(|entity| Some((expected_score(&folded, &words, entity)?, entity)))
                .collect();
            expected.sort_by_key(|(score, entity)| {
                (std::cmp::Reverse(*score), entity.name.clone(), entity.id.clone())
            });
            let expected: Vec<_> =
                expected.into_iter().map(|(score, entity)| (score, entity.id.clone())).collect();
            let mut arguments = json!({ "query": query, "limit": 7 });
            if let Some(code) = code {
                arguments["type"] = code.into();
            }
            assert_eq!(found(&owner, arguments), expected, "{query} {code:?}");
        }
    }
    let first =
        |query: &str| owner.ask("search_knowledge", json!({ "query": query }))["items"][0].clone();
    assert_eq!(first("zoé œuvray-lémanique")["score"].to_string(), "1.0");
    assert_eq!(first("chatelain mecanique atelier")["type_label"], "Entreprise");
    assert_eq!(first("revision")["record"]["type"], "mandate");
}

fn pages_of_a_search_follow_each_other(world: &World) {
    let owner = world.owner();
    let whole = found(&owner, json!({ "query": "lemanique", "limit": 100 }));
    assert!(whole.len() > 140, "{}", whole.len());
    assert_eq!(found(&owner, json!({ "query": "lemanique", "limit": 9 })), whole);
    let page = owner.ask("search_knowledge", json!({ "query": "lemanique" }));
    let other = json!({ "query": "holding", "cursor": page["next_cursor"] });
    assert_eq!(owner.call("search_knowledge", other).refusal()["field"], "cursor");
}

fn people_employed_under_mandates_are_known_only_to_who_may_read_payroll(world: &World) {
    let records = |client: &Client| -> BTreeSet<String> {
        let arguments = json!({ "query": "lemanique", "type": "person", "limit": 100 });
        let answer = client.ask("search_knowledge", arguments);
        let items = answer["items"].as_array().unwrap().iter();
        items.map(|item| text(&item["record"]["type"])).collect()
    };
    assert!(records(&world.owner()).contains("employee"));
    let manager = world.client("leman", "manager");
    assert!(!records(&manager).contains("employee"));
    let employee = world
        .owner()
        .ask("search_knowledge", json!({ "query": "favre lemanique", "type": "person" }));
    let employee = employee["items"].as_array().unwrap().iter();
    let employee = employee.clone().find(|item| item["record"]["type"] == "employee").unwrap();
    let unknown = json!({ "entity_id": "01912345-0000-7000-8000-123456789abc" });
    let asked = manager.call("explore_knowledge", json!({ "entity_id": employee["id"] }));
    assert_eq!(
        asked.refusal()["message"],
        manager.call("explore_knowledge", unknown).refusal()["message"]
    );
}

fn search_by_meaning_says_when_it_is_not_set_up(world: &World) {
    let arguments = json!({ "query": "who delivers bread", "mode": "meaning" });
    let refusal = world.owner().call("search_knowledge", arguments).refusal();
    assert_eq!(refusal["field"], "mode");
    let said = "search by meaning is not set up on this server; use mode words";
    assert_eq!(refusal["message"], said);
}
