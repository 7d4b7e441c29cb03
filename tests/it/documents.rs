//! Filed documents: what is found, what is shown of it, and to whom.

use std::collections::BTreeMap;

use guichet::text::fold;
use serde_json::{Value, json};

use crate::world::bare::{Column, texts};
use crate::world::{Client, World};

on_both! {
    documents_are_found_by_name_and_text_without_case_and_accents,
    counts_cover_the_whole_set_while_the_page_shows_one_row,
    confidential_documents_are_absent_for_who_may_not_read_them,
    a_passage_shows_the_word_and_never_the_whole_text,
    people_find_the_documents_of_their_mandates_and_clients,
}

#[derive(Debug, Clone)]
struct Document {
    client: String,
    mandate: String,
    name: String,
    kind: String,
    dated_on: String,
    is_confidential: bool,
    text: String,
}

fn documents(world: &World, firm: &str) -> BTreeMap<String, Document> {
    use Column::{Bool, Id, Text};
    let columns = [
        Id("id"),
        Id("client_id"),
        Id("mandate_id"),
        Text("name"),
        Text("kind"),
        Text("dated_on"),
        Bool("is_confidential"),
        Text("text"),
    ];
    let document = |row: Vec<String>| {
        let [id, client, mandate, name, kind, dated_on, confidential, text] =
            row.try_into().unwrap();
        let is_confidential = confidential == "1";
        (id, Document { client, mandate, name, kind, dated_on, is_confidential, text })
    };
    world.bare(firm, "documents", &columns).into_iter().map(document).collect()
}

impl Document {
    fn says(&self, query: &str) -> bool {
        let all = fold(&format!("{} {}", self.name, self.text));
        fold(query).split(' ').all(|word| all.contains(word))
    }
}

/// The ids of all that a client finds, sorted.
fn found(client: &Client, arguments: Value) -> Vec<String> {
    let (rows, _) = client.every_page("search_documents", arguments, 30);
    let mut ids = texts(&rows, "id");
    ids.sort_unstable();
    ids
}

fn chosen(all: &BTreeMap<String, Document>, keeps: impl Fn(&Document) -> bool) -> Vec<String> {
    all.iter().filter(|(_, document)| keeps(document)).map(|(id, _)| id.clone()).collect()
}

fn documents_are_found_by_name_and_text_without_case_and_accents(world: &World) {
    for firm in ["leman", "saentis"] {
        let (all, owner) = (documents(world, firm), world.client(firm, "owner"));
        for query in [
            "tva",
            "TVA DECOMPTE",
            "mwst abrechnung",
            "zurich",
            "ZÜRICH",
            "cosmogonie",
            "œuvre",
            "strasse",
            "100 %",
            "lot_7",
            "los_7",
            "%",
            "_",
            "invisible",
            "unsichtbare",
            "nowhere-to-be-found",
        ] {
            let expected = chosen(&all, |document| document.says(query));
            assert_eq!(found(&owner, json!({ "query": query })), expected, "{firm} {query}");
        }
        assert_eq!(found(&owner, json!({ "query": "  " })).len(), all.len());
    }
    let all = documents(world, "leman");
    for query in ["decompte tva", "zurich", "cosmogonie", "100 %", "invisible"] {
        let hits = chosen(&all, |document| document.says(query)).len();
        assert!(hits > 0 && hits < all.len(), "{query}: {hits}");
    }
}

/// Which rows a filter must keep.
type Keeps<'a> = Box<dyn Fn(&Document) -> bool + 'a>;

fn counts_cover_the_whole_set_while_the_page_shows_one_row(world: &World) {
    let (all, owner) = (documents(world, "leman"), world.owner());
    let mandate = all.values().find(|one| !one.mandate.is_empty()).unwrap().mandate.clone();
    let cases: Vec<(Value, Keeps<'_>)> = vec![
        (json!({}), Box::new(|_| true)),
        (json!({ "type": "vat" }), Box::new(|one| one.kind == "vat")),
        (json!({ "mandate_id": mandate }), Box::new(|one| one.mandate == mandate)),
        (json!({ "from": "2026-05-04" }), Box::new(|one| one.dated_on.as_str() >= "2026-05-04")),
        (json!({ "to": "2026-05-04" }), Box::new(|one| one.dated_on.as_str() <= "2026-05-04")),
        (
            json!({ "query": "trente jours", "from": "2025-01-01", "to": "2025-12-31" }),
            Box::new(|one| one.says("trente jours") && one.dated_on.starts_with("2025")),
        ),
    ];
    for (filter, keeps) in cases {
        let expected = chosen(&all, keeps);
        assert!(!expected.is_empty(), "{filter}");
        let mut arguments = filter.clone();
        arguments["limit"] = 1.into();
        let answer = owner.ask("search_documents", arguments);
        assert_eq!(answer["items"].as_array().unwrap().len(), 1);
        assert_eq!(answer["total"], expected.len(), "{filter}");
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for id in &expected {
            *counts.entry(&all[id].kind).or_default() += 1;
        }
        let totals = answer["totals"].as_array().unwrap().iter();
        let got: BTreeMap<&str, u64> = totals
            .map(|total| (total["type"].as_str().unwrap(), total["count"].as_u64().unwrap()))
            .collect();
        assert_eq!(got, counts, "{filter}");
        let (rows, _) = owner.every_page("search_documents", filter.clone(), 20);
        let places: Vec<_> = texts(&rows, "dated_on").into_iter().zip(texts(&rows, "id")).collect();
        assert!(places.is_sorted_by(|one, next| one > next), "newest first");
        assert_eq!(found(&owner, filter), expected);
    }
    let wrong = owner.call("search_documents", json!({ "from": "2026-02-01", "to": "2026-01-01" }));
    assert_eq!(wrong.refusal()["field"], "to");
}

fn confidential_documents_are_absent_for_who_may_not_read_them(world: &World) {
    let all = documents(world, "leman");
    for (role, reads) in [
        ("manager", true),
        ("auditor", true),
        ("accountant", false),
        ("payroll_officer", false),
        ("assistant", false),
        ("client_user", false),
    ] {
        let client = world.client("leman", role);
        let (rows, first) = client.every_page("search_documents", json!({}), 100);
        let shown = rows.iter().filter(|row| row["is_confidential"] == true).count();
        assert_eq!(shown > 0, reads, "{role}");
        let counted: u64 = first["totals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|total| total["count"].as_u64().unwrap())
            .sum();
        assert_eq!(usize::try_from(counted).unwrap(), rows.len(), "{role}");
        for row in &rows {
            assert_eq!(row["is_confidential"], all[row["id"].as_str().unwrap()].is_confidential);
        }
        let secret = client.ask("search_documents", json!({ "query": "xylophage" }));
        let nothing = client.ask("search_documents", json!({ "query": "nowhere" }));
        if reads {
            assert_eq!(secret["total"], 1, "{role}");
            assert!(secret["items"][0]["snippet"].as_str().unwrap().contains("xylophage"));
        } else {
            assert_eq!(secret, nothing, "{role}");
        }
    }
}

fn a_passage_shows_the_word_and_never_the_whole_text(world: &World) {
    let (all, owner) = (documents(world, "leman"), world.owner());
    let mut passages = 0;
    for query in ["tva", "cosmogonie", "Œuvre", "ignore previous", "conforme budget", "coupe"] {
        let (rows, _) = owner.every_page("search_documents", json!({ "query": query }), 50);
        assert!(!rows.is_empty(), "{query}");
        for row in &rows {
            let document = &all[row["id"].as_str().unwrap()];
            let words: Vec<String> = fold(query).split(' ').map(str::to_owned).collect();
            let in_text = words.iter().any(|word| fold(&document.text).contains(word));
            assert_eq!(row.get("snippet").is_some(), in_text, "{query} {row}");
            let Some(passage) = row["snippet"].as_str() else { continue };
            assert!(passage.chars().count() <= 200, "{passage}");
            assert!(!passage.contains(document.text.as_str()), "{passage}");
            assert!(passage.chars().count() * 2 <= document.text.chars().count() + 1);
            assert!(words.iter().any(|word| fold(passage).contains(word)), "{query}: {passage}");
            passages += 1;
        }
    }
    assert!(passages > 10, "{passages}");
    let answer = owner.call("search_documents", json!({ "limit": 100 })).text();
    assert!(!answer.contains("snippet\":"), "no passage without a search");
    assert!(!answer.contains("conforme au budget"), "no text without a search");
}

fn people_find_the_documents_of_their_mandates_and_clients(world: &World) {
    let all = documents(world, "leman");
    for role in ["manager", "accountant", "payroll_officer", "assistant", "auditor"] {
        let person = world.person("leman", role);
        let client = world.bearer(&person.token);
        let reached = world.listed_mandates(&person.email);
        let columns = [Column::Id("id"), Column::Id("client_id")];
        let mandates = world.bare("leman", "mandates", &columns);
        let clients: Vec<_> =
            mandates.iter().filter(|row| reached.contains(&row[0])).map(|row| &row[1]).collect();
        let reads_all = ["manager", "auditor"].contains(&role);
        let expected = chosen(&all, |document| {
            let is_reached = if document.mandate.is_empty() {
                clients.contains(&&document.client)
            } else {
                reached.contains(&document.mandate)
            };
            is_reached && (reads_all || !document.is_confidential)
        });
        assert_eq!(found(&client, json!({})), expected, "{role}");
    }
    let client = world.client("leman", "client_user");
    let own = client.ask("search_mandates", json!({ "limit": 100 }));
    let own = texts(own["items"].as_array().unwrap(), "id");
    let expected = chosen(&all, |one| own.contains(&one.mandate) && !one.is_confidential);
    assert!(!expected.is_empty());
    assert_eq!(found(&client, json!({})), expected);
    assert!(found(&client, json!({ "query": "formulaire interne" })).is_empty());
    let owner = world.owner();
    assert_eq!(found(&owner, json!({ "query": "projet de mandat non signé" })).len(), 1);
    assert_eq!(found(&owner, json!({})).len(), all.len());
}
