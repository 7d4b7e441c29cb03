//! The knowledge graph against a reading of its bare rows that shares nothing with the program.

mod exploring;
mod searching;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::world::World;

on_both! {
    arguments_out_of_range_are_refused_by_name,
    statistics_count_what_is_in_reach,
    labels_are_in_the_language_of_the_caller,
    a_changed_text_loses_its_vectors,
    the_database_refuses_an_entity_that_stands_for_something_else,
}

const TODAY: &str = "2026-11-30";

/// An entity as its row has it.
#[derive(Debug, Clone)]
struct Entity {
    id: String,
    type_code: String,
    name: String,
    text: String,
    mandate: String,
    client: String,
}

/// A relation as its row has it; the last day is empty while it goes on.
#[derive(Debug, Clone)]
struct Relation {
    id: String,
    type_code: String,
    ends: [String; 2],
    days: [String; 2],
}

/// The graph of the first firm, as far as somebody reaches it.
#[derive(Debug)]
struct Graph {
    entities: BTreeMap<String, Entity>,
    relations: Vec<Relation>,
}

/// An id column as text, `-` where there is none.
fn id(world: &World, column: &str) -> String {
    let text = if world.database.is_postgres() {
        format!("{column}::text")
    } else {
        format!("hex({column})")
    };
    format!("coalesce({text}, '')")
}

fn uuid(text: &str) -> String {
    text.parse::<uuid::Uuid>().map_or_else(|_| String::new(), |id| id.to_string())
}

/// Whether the role of somebody may read payroll.
fn reads_payroll(world: &World, email: &str) -> bool {
    let rows = world.query(&format!(
        "SELECT p.role FROM role_permissions p JOIN memberships m ON m.tenant_id = p.tenant_id AND m.role = p.role JOIN users u ON u.id = m.user_id JOIN tenants t ON t.id = m.tenant_id WHERE t.slug = 'leman' AND u.email = '{email}' AND p.permission = 'payroll.read'"
    ));
    !rows.is_empty()
}

/// The mandates and clients that somebody reaches; nothing where they reach all.
fn reached(world: &World, email: &str) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let of = format!(
        "FROM memberships m JOIN users u ON u.id = m.user_id JOIN tenants t ON t.id = m.tenant_id WHERE t.slug = 'leman' AND u.email = '{email}'"
    );
    if world.query(&format!("SELECT m.reach {of}"))[0][0] == "all" {
        return None;
    }
    let rows = world.query(&format!(
        "SELECT {} || '|' || {} FROM reach r JOIN mandates x ON x.tenant_id = r.tenant_id AND x.id = r.mandate_id WHERE r.user_id = (SELECT m.user_id {of}) AND r.tenant_id = (SELECT m.tenant_id {of})",
        id(world, "x.id"),
        id(world, "x.client_id")
    ));
    let column = |at: usize| rows.iter().map(|row| uuid(&row[at])).collect();
    Some((column(0), column(1)))
}

impl Graph {
    /// The rows that the person with this e-mail address reaches.
    fn of(world: &World, email: &str) -> Self {
        let firm = "tenant_id = (SELECT id FROM tenants WHERE slug = 'leman')";
        let reach = reached(world, email);
        let shown = if reads_payroll(world, email) { "" } else { " AND employee_id IS NULL" };
        let entities = world.query(&format!(
            "SELECT {} || '|' || type_code || '|' || sort_name || '|' || search_text || '|' || {} || '|' || {} FROM knowledge_entities WHERE {firm}{shown}",
            id(world, "id"), id(world, "mandate_id"), id(world, "client_id")
        ));
        let entity = |row: &Vec<String>| Entity {
            id: uuid(&row[0]),
            type_code: row[1].clone(),
            name: row[2].clone(),
            text: row[3].clone(),
            mandate: uuid(&row[4]),
            client: uuid(&row[5]),
        };
        let is_reached = |entity: &Entity| match &reach {
            None => true,
            Some((mandates, clients)) if entity.mandate.is_empty() => {
                entity.client.is_empty() || clients.contains(&entity.client) && !mandates.is_empty()
            }
            Some((mandates, _)) => mandates.contains(&entity.mandate),
        };
        let entities: BTreeMap<_, _> = entities
            .iter()
            .map(entity)
            .filter(is_reached)
            .map(|entity| (entity.id.clone(), entity))
            .collect();
        let (from, to) = (id(world, "from_id"), id(world, "to_id"));
        let text = if world.database.is_postgres() { "::text" } else { "" };
        let relations = world.query(&format!(
            "SELECT {} || '|' || type_code || '|' || {from} || '|' || {to} || '|' || valid_from{text} || '|' || coalesce(valid_to{text}, '') FROM knowledge_relations WHERE {firm}",
            id(world, "id")
        ));
        let relation = |row: &Vec<String>| Relation {
            id: uuid(&row[0]),
            type_code: row[1].clone(),
            ends: [uuid(&row[2]), uuid(&row[3])],
            days: [row[4].clone(), row[5].clone()],
        };
        let relations = relations
            .iter()
            .map(relation)
            .filter(|one| one.ends.iter().all(|end| entities.contains_key(end)))
            .collect();
        Self { entities, relations }
    }

    /// The relations that hold on a day, of a type or of any.
    fn holding(&self, day: &str, code: Option<&str>) -> Vec<&Relation> {
        let holds = |one: &&Relation| {
            one.days[0].as_str() <= day && (one.days[1].is_empty() || one.days[1].as_str() >= day)
        };
        let is_asked = |one: &&Relation| code.is_none_or(|code| one.type_code == code);
        self.relations.iter().filter(holds).filter(is_asked).collect()
    }

    /// Every entity within so many steps and its distance, nearest first and by name.
    fn around(&self, start: &str, depth: u64, relations: &[&Relation]) -> Vec<(u64, String)> {
        let mut distances = BTreeMap::from([(start.to_owned(), 0)]);
        for step in 1..=depth {
            let before: Vec<String> = distances.keys().cloned().collect();
            for one in relations {
                for [here, there] in [[0, 1], [1, 0]] {
                    if before.contains(&one.ends[here]) {
                        distances.entry(one.ends[there].clone()).or_insert(step);
                    }
                }
            }
        }
        let mut sorted: Vec<_> = distances
            .into_iter()
            .map(|(id, distance)| (distance, self.entities[&id].name.clone(), id))
            .collect();
        sorted.sort();
        sorted.into_iter().map(|(distance, _, id)| (distance, id)).collect()
    }
}

/// The id of the entity whose folded name begins so.
fn named(graph: &Graph, name: &str) -> String {
    let found = graph.entities.values().find(|entity| entity.name.starts_with(name));
    found.unwrap_or_else(|| panic!("no {name}")).id.clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn arguments_out_of_range_are_refused_by_name(world: &World) {
    let owner = world.owner();
    let holding = named(&Graph::of(world, &world.person("leman", "owner").email), "holding");
    for (tool, argument, bad, said) in [
        ("explore_knowledge", "depth", json!(0), "depth must be from 1 to 4"),
        ("explore_knowledge", "depth", json!(5), "depth must be from 1 to 4"),
        ("explore_knowledge", "max_nodes", json!(0), "max_nodes must be from 1 to 100"),
        ("explore_knowledge", "max_nodes", json!(-1), "max_nodes must be from 1 to 100"),
        ("explore_knowledge", "relation", json!("possede"), "unknown relation; use one of: affil"),
        ("search_knowledge", "type", json!("manages"), "unknown type; use one of: account, buil"),
        ("search_knowledge", "query", json!("  \u{200b} "), "query must have at least one word"),
        ("search_knowledge", "mode", json!("vibes"), ""),
    ] {
        let mut arguments = match tool {
            "explore_knowledge" => json!({ "entity_id": holding }),
            _ => json!({ "query": "holding" }),
        };
        arguments[argument] = bad;
        let refusal = owner.call(tool, arguments).refusal();
        assert_eq!(
            (&refusal["field"], &refusal["code"]),
            (&argument.into(), &"invalid_argument".into())
        );
        assert!(text(&refusal["message"]).starts_with(said), "{refusal}");
    }
}

fn statistics_count_what_is_in_reach(world: &World) {
    let anomalies = world.query(&format!(
        "SELECT kind || '|' || severity || '|' || {} || '|' || {} FROM knowledge_anomalies WHERE state = 'open' AND tenant_id = (SELECT id FROM tenants WHERE slug = 'leman')",
        id(world, "entity_id"),
        id(world, "relation_id")
    ));
    let mut totals = BTreeSet::new();
    for role in ["owner", "manager", "accountant", "assistant", "auditor"] {
        let person = world.person("leman", role);
        let graph = Graph::of(world, &person.email);
        let stats = world.bearer(&person.token).ask("get_knowledge_stats", json!({}));
        let count = |list: &str, keys: &[&str]| -> BTreeMap<String, i64> {
            let one = |one: &Value| {
                let key: Vec<_> = keys.iter().map(|key| text(&one[*key])).collect();
                (key.join(" "), one["count"].as_i64().unwrap())
            };
            stats[list].as_array().unwrap().iter().map(one).collect()
        };
        let mut entities: BTreeMap<String, i64> = BTreeMap::new();
        for entity in graph.entities.values() {
            *entities.entry(entity.type_code.clone()).or_default() += 1;
        }
        let mut related: BTreeMap<String, i64> = BTreeMap::new();
        for relation in &graph.relations {
            *related.entry(relation.type_code.clone()).or_default() += 1;
        }
        let known: BTreeSet<_> = graph.relations.iter().map(|one| one.id.clone()).collect();
        let mut open: BTreeMap<String, i64> = BTreeMap::new();
        for row in &anomalies {
            let (entity, relation) = (uuid(&row[2]), uuid(&row[3]));
            if graph.entities.contains_key(&entity) || known.contains(&relation) {
                *open.entry(format!("{} {}", row[0], row[1])).or_default() += 1;
            }
        }
        assert_eq!(count("entities_by_type", &["type"]), entities, "{role}");
        assert_eq!(count("relations_by_type", &["type"]), related, "{role}");
        assert_eq!(count("open_anomalies_by_type", &["type", "severity"]), open, "{role}");
        let in_force = stats["relations_by_type"].as_array().unwrap().iter();
        let in_force: i64 = in_force.map(|one| one["in_force"].as_i64().unwrap()).sum();
        assert_eq!(in_force, i64::try_from(graph.holding(TODAY, None).len()).unwrap());
        assert_eq!(stats["entities"], graph.entities.len());
        assert_eq!(stats["relations"], graph.relations.len());
        assert_eq!(stats["open_anomalies"], open.values().sum::<i64>());
        totals.insert((stats["entities"].as_i64(), stats["open_anomalies"].as_i64()));
    }
    assert!(totals.len() >= 4, "the roles reach differently: {totals:?}");
}

fn labels_are_in_the_language_of_the_caller(world: &World) {
    let owner = world.owner();
    for (language, person, owns, owned) in [
        ("fr", "Personne", "détient", "appartient à"),
        ("de", "Person", "hält", "gehört"),
        ("en", "Person", "owns", "is owned by"),
    ] {
        world.sql(&format!("UPDATE memberships SET language = '{language}'"));
        let read = owner.rpc("resources/read", json!({ "uri": "guichet://ontology" })).json();
        let ontology: Value =
            serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
        let types = ontology["entity_types"].as_array().unwrap();
        let found = types.iter().find(|one| one["code"] == "person").unwrap();
        assert_eq!(found["label"], person);
        let types = ontology["relation_types"].as_array().unwrap();
        let found = types.iter().find(|one| one["code"] == "owns").unwrap();
        assert_eq!((&found["label"], &found["inverse_label"]), (&owns.into(), &owned.into()));
        let answer = owner.ask("search_knowledge", json!({ "query": "zoé" }));
        assert_eq!(answer["items"][0]["type_label"], person);
    }
}

fn a_changed_text_loses_its_vectors(world: &World) {
    let bytes = |hex: &str| {
        if world.database.is_postgres() {
            format!("decode('{hex}', 'hex')")
        } else {
            format!("x'{hex}'")
        }
    };
    let (model, vector) = (bytes(&"ab".repeat(32)), bytes("0102"));
    world.sql(&format!(
        "INSERT INTO knowledge_embeddings SELECT tenant_id, id, {model}, {vector} FROM knowledge_entities WHERE employee_id IS NULL"
    ));
    let text = if world.database.is_postgres() { "::text" } else { " || ''" };
    let count = || {
        world.query(&format!("SELECT count(*){text} FROM knowledge_embeddings"))[0][0]
            .parse::<u32>()
            .unwrap()
    };
    let all = count();
    world.sql("UPDATE knowledge_entities SET search_text = 'x' WHERE stands_for = 'client'");
    assert_eq!(count(), all, "what is searched by words does not matter");
    world.sql("UPDATE knowledge_entities SET description = 'Lémanique Säntisblick' WHERE stands_for = 'mandate'");
    assert_eq!(count(), all - 2);
    world.sql(
        "UPDATE knowledge_entities SET name = 'Lémanique Säntisblick' WHERE stands_for = 'client'",
    );
    assert_eq!(count(), all - 2 - 120);
}

fn the_database_refuses_an_entity_that_stands_for_something_else(world: &World) {
    for sql in [
        "UPDATE knowledge_entities SET stands_for = 'client' WHERE mandate_id IS NOT NULL AND stands_for IS NULL",
        "UPDATE knowledge_entities SET stands_for = 'mandate' WHERE mandate_id IS NULL AND stands_for IS NULL",
        "UPDATE knowledge_entities SET stands_for = 'employee' WHERE stands_for IS NULL",
        "UPDATE knowledge_entities SET employee_id = NULL WHERE stands_for = 'employee'",
        "UPDATE knowledge_entities SET mandate_id = (SELECT m.id FROM mandates m WHERE m.number LIKE '%M090' AND m.tenant_id = knowledge_entities.tenant_id) WHERE stands_for = 'employee'",
        "UPDATE knowledge_entities SET client_id = (SELECT min(c.number) FROM clients c) WHERE mandate_id IS NOT NULL",
        "UPDATE knowledge_relations SET valid_to = '1900-01-01'",
        "UPDATE knowledge_anomalies SET relation_id = NULL",
    ] {
        assert!(world.database.owner().batch_execute(sql).is_err(), "{sql}");
    }
}
