//! What is related to what, against a breadth-first search over the bare rows.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Graph, Relation, TODAY, named, text};
use crate::world::{Client, World};

on_both! {
    neighbours_are_those_of_a_breadth_first_search_over_the_bare_rows,
    what_is_out_of_reach_is_neither_shown_nor_passed_through,
    a_relation_holds_from_its_first_day_to_its_last,
    circles_end_and_a_relation_to_itself_is_shown_once,
    a_hub_is_cut_in_a_stable_order_and_says_so,
}

/// The nodes of an answer as distance and id.
fn nodes(answer: &Value) -> Vec<(u64, String)> {
    let node = |node: &Value| (node["distance"].as_u64().unwrap(), text(&node["id"]));
    answer["nodes"].as_array().unwrap().iter().map(node).collect()
}

/// The relations of an answer: type, ends, days.
fn relations(answer: &Value) -> Vec<[String; 5]> {
    let relation = |one: &Value| {
        ["type", "from_id", "to_id", "valid_from", "valid_to"].map(|name| text(&one[name]))
    };
    answer["relations"].as_array().unwrap().iter().map(relation).collect()
}

/// Compares an answer with the bare rows; answers whether it shows everything.
fn compare(client: &Client, graph: &Graph, start: &str, depth: u64, code: Option<&str>) -> bool {
    let mut arguments = json!({ "entity_id": start, "depth": depth, "max_nodes": 100 });
    if let Some(code) = code {
        arguments["relation"] = code.into();
    }
    let answer = client.ask("explore_knowledge", arguments);
    let holding = graph.holding(TODAY, code);
    let expected = graph.around(start, depth, &holding);
    let shown = nodes(&answer);
    assert_eq!(shown, expected[..shown.len()], "{start} {depth} {code:?}");
    assert!(shown.len() == expected.len() || shown.len() > 90, "{answer}");
    let ids: BTreeSet<_> = shown.iter().map(|(_, id)| id).collect();
    let mut between: Vec<_> = holding
        .iter()
        .filter(|one| one.ends.iter().all(|end| ids.contains(end)))
        .map(|one| (&one.days[0], &one.id, one))
        .collect();
    between.sort_by_key(|(day, id, _)| (*day, *id));
    let between: Vec<_> = between
        .iter()
        .map(|(.., Relation { type_code, ends: [from, to], days: [first, last], .. })| {
            [type_code, from, to, first, last].map(String::clone)
        })
        .collect();
    let related = relations(&answer);
    assert_eq!(related, between[..related.len()], "{start} {depth}");
    let is_whole = shown.len() == expected.len() && related.len() == between.len();
    assert_eq!(answer["truncated"], !is_whole, "{answer}");
    assert_eq!(answer.get("note").is_some(), !is_whole, "{answer}");
    is_whole
}

fn neighbours_are_those_of_a_breadth_first_search_over_the_bare_rows(world: &World) {
    let (mut whole, mut cut) = (0, 0);
    let people = guichet::demo::people();
    let explorers = people.iter().filter(|person| {
        person.tenant == "leman"
            && person.state == guichet::demo::DemoState::Active
            && ["owner", "manager", "accountant", "assistant", "auditor"]
                .contains(&person.role.as_str())
    });
    for person in explorers {
        let graph = Graph::of(world, &person.email);
        let client = world.bearer(&person.token);
        for start in graph.entities.keys().step_by(if person.role == "owner" { 3 } else { 7 }) {
            for depth in 1..=4 {
                if compare(&client, &graph, start, depth, None) {
                    whole += 1;
                } else {
                    cut += 1;
                }
            }
            assert!(compare(&client, &graph, start, 4, Some("owns")));
        }
    }
    assert!(whole > 100 && cut > 20, "{whole} {cut}");
}

fn what_is_out_of_reach_is_neither_shown_nor_passed_through(world: &World) {
    let everything = Graph::of(world, &world.person("leman", "owner").email);
    let [holding, relay, workshop, island] =
        ["holding", "participations discretes", "atelier mecanique", "scierie"]
            .map(|name| named(&everything, name));
    let distance = |client: &Client, depth: u8, to: &str| {
        let arguments = json!({ "entity_id": holding, "depth": depth, "max_nodes": 100 });
        let answer = client.ask("explore_knowledge", arguments);
        assert_eq!(answer["truncated"], false, "{answer}");
        nodes(&answer).iter().find(|(_, id)| id == to).map(|(distance, _)| *distance)
    };
    let (owner, accountant) = (world.owner(), world.client("leman", "accountant"));
    assert_eq!(distance(&owner, 2, &workshop), Some(2));
    assert_eq!(distance(&owner, 2, &island), Some(2));
    assert_eq!(distance(&accountant, 2, &workshop), None, "the short way is hidden");
    assert_eq!(distance(&accountant, 3, &workshop), Some(3), "the long way is not");
    let by_ownership =
        json!({ "entity_id": holding, "depth": 4, "relation": "owns", "max_nodes": 100 });
    let answer = accountant.ask("explore_knowledge", by_ownership);
    assert!(!nodes(&answer).iter().any(|(_, id)| [&relay, &island, &workshop].contains(&id)));
    let explore = |id: &str| accountant.call("explore_knowledge", json!({ "entity_id": id }));
    let unknown = explore("01912345-0000-7000-8000-123456789abc");
    assert_eq!(unknown.refusal()["message"], "entity not found");
    assert_eq!(explore(&relay).text(), unknown.text());
    let alone = accountant.ask("explore_knowledge", json!({ "entity_id": island, "depth": 4 }));
    assert_eq!(nodes(&alone), [(0, island)], "nothing but a hidden company knows it");
    let search = |client: &Client| client.ask("search_knowledge", json!({ "query": "discretes" }));
    assert_eq!(search(&owner)["total"], 1);
    assert_eq!(search(&accountant)["total"], 0);
}

fn a_relation_holds_from_its_first_day_to_its_last(world: &World) {
    let owner = world.owner();
    let graph = Graph::of(world, &world.person("leman", "owner").email);
    let around = |name: &str, relation: &str, day: Option<&str>| -> Vec<String> {
        let mut arguments = json!({ "entity_id": named(&graph, name), "relation": relation });
        if let Some(day) = day {
            arguments["valid_on"] = day.into();
        }
        let answer = owner.ask("explore_knowledge", arguments);
        assert_eq!(answer["valid_on"], day.unwrap_or(TODAY));
        answer["nodes"].as_array().unwrap()[1..].iter().map(|node| text(&node["name"])).collect()
    };
    let (before, after) = ("Gaël Müller-Lémanique", "Inès Müller-Lémanique");
    assert_eq!(around("gerance leman", "manages", None), [before], "today by default");
    assert_eq!(around("gerance leman", "manages", Some("2026-11-30")), [before]);
    assert_eq!(around("gerance leman", "manages", Some("2026-12-01")), [after]);
    assert_eq!(around("gerance leman", "manages", Some("2021-03-31")), [""; 0]);
    assert_eq!(around("loic", "works_for", Some("2026-11-29")), ["Holding Œuvray Lémanique SA"]);
    assert_eq!(
        around("loic", "works_for", Some("2026-11-30")),
        ["Atelier mécanique Châtelain Lémanique SA"]
    );
    assert_eq!(around("loic", "works_for", Some("2026-12-01")), [""; 0]);
}

fn circles_end_and_a_relation_to_itself_is_shown_once(world: &World) {
    let owner = world.owner();
    let graph = Graph::of(world, &world.person("leman", "owner").email);
    let explore = |name: &str| {
        let start = named(&graph, name);
        let arguments = json!({ "entity_id": start, "depth": 4, "relation": "owns" });
        owner.ask("explore_knowledge", arguments)
    };
    let holding = explore("holding");
    let own = relations(&holding).into_iter().filter(|[_, from, to, ..]| from == to);
    assert_eq!(own.count(), 1);
    let ids: Vec<_> = nodes(&holding).into_iter().map(|(_, id)| id).collect();
    let once: BTreeSet<_> = ids.iter().collect();
    assert_eq!(once.len(), ids.len(), "each entity once");
    let crossed = explore("croisee ouest");
    let both: Vec<_> =
        relations(&crossed).into_iter().map(|[_, from, to, ..]| (from, to)).collect();
    assert!(both.iter().any(|(from, to)| both.contains(&(to.clone(), from.clone()))), "{both:?}");
}

fn a_hub_is_cut_in_a_stable_order_and_says_so(world: &World) {
    let owner = world.owner();
    let graph = Graph::of(world, &world.person("leman", "owner").email);
    let fund = named(&graph, "caisse de pension");
    let all = graph.around(&fund, 1, &graph.holding(TODAY, None));
    assert!(all.len() > 101, "{}", all.len());
    for most in [1, 2, 10, 50, 99, 100] {
        let arguments = json!({ "entity_id": fund, "max_nodes": most });
        let answer = owner.call("explore_knowledge", arguments.clone());
        assert_eq!(answer.bytes, owner.call("explore_knowledge", arguments).bytes);
        assert!(answer.bytes.len() < 100_000, "{}", answer.bytes.len());
        let answer = answer.content();
        assert_eq!(nodes(&answer), all[..most], "{most}");
        assert_eq!(answer["truncated"], true);
        assert!(answer["note"].as_str().unwrap().contains(&format!("more than {most} entities")));
    }
    let more = owner.ask("explore_knowledge", json!({ "entity_id": fund, "max_nodes": 500 }));
    assert_eq!(nodes(&more), all[..100]);
    assert!(text(&more["note"]).starts_with("max_nodes 500 was reduced to 100; "), "{more}");
    let whole = owner.ask("explore_knowledge", json!({ "entity_id": fund }));
    assert_eq!(nodes(&whole).len(), 50, "fifty by default");
}
