//! Search by meaning, with the model that `GUICHET_TEST_MODEL` names; `tests/meaning.sh` fetches one. Without it, nothing is
//! tested here.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use guichet::meaning::{Model, Score};
use serde_json::{Value, json};

use crate::world::process::{Server, guichet, run, run_well, secret_file};
use crate::world::{Client, Database, Options, World};

fn directory() -> Option<PathBuf> {
    std::env::var_os("GUICHET_TEST_MODEL").map(PathBuf::from)
}

/// The model, read once.
fn model() -> Option<Arc<Model>> {
    static MODEL: OnceLock<Option<Arc<Model>>> = OnceLock::new();
    let read = || directory().map(|directory| Arc::new(Model::load(&directory).unwrap()));
    MODEL.get_or_init(read).clone()
}

/// A world whose server has the model, if there is one; its graph is prepared unless told otherwise.
fn prepared(database: Database) -> Option<World> {
    let world = World::with(database, &Options { model: Some(model()?), ..Options::default() });
    embed(&world, &[]);
    Some(world)
}

/// Prepares the graph; answers how many entities that concerned.
fn embed(world: &World, more: &[&str]) -> usize {
    let mut command = guichet(&["knowledge", "embed"]);
    command.args(more);
    command.args(["--database-url", &world.database.server_url]);
    command.args(["--owner-url", &world.database.owner_url]);
    let said = run_well(command.arg("--embedding-model").arg(directory().unwrap()));
    let count = said.strip_prefix("Computed what ").and_then(|rest| rest.split(' ').next());
    count.unwrap_or_else(|| panic!("{said}")).parse().unwrap()
}

/// The names found by meaning, and their scores.
fn closest(client: &Client, query: &str) -> Vec<(String, f64)> {
    let arguments = json!({ "query": query, "mode": "meaning", "limit": 100 });
    let answer = client.ask("search_knowledge", arguments);
    assert_eq!(answer["mode"], "meaning");
    let items = answer["items"].as_array().unwrap();
    assert_eq!(answer["total"], items.len());
    let one = |item: &Value| {
        let score = item["score"].as_f64().unwrap();
        assert!((0.3..=1.0).contains(&score), "weak matches are left out: {item}");
        (item["name"].as_str().unwrap().to_owned(), score)
    };
    items.iter().map(one).collect()
}

macro_rules! with_a_model {
    ($($name:ident),+ $(,)?) => {
        mod sqlite { $(#[test] fn $name() { super::prepared(crate::world::Database::sqlite()).iter().for_each(super::$name); })+ }
        mod postgres { $(#[test] fn $name() { super::prepared(crate::world::Database::postgres()).iter().for_each(super::$name); })+ }
    };
}
with_a_model! {
    questions_in_other_words_are_answered_within_reach,
    what_is_not_prepared_is_counted_and_employees_never_are,
}

/// Everything that leaves the graph as it is, on one world: to prepare one takes longer than to ask it.
fn questions_in_other_words_are_answered_within_reach(world: &World) {
    what_is_asked_in_other_words_is_found_first(world);
    what_has_nothing_to_do_with_it_is_left_out(world);
    pages_by_meaning_follow_each_other(world);
    meaning_stays_within_reach(world);
}

fn what_is_asked_in_other_words_is_found_first(world: &World) {
    let owner = world.owner();
    for (query, expected) in [
        ("truck of the bakery", "Fourgon VD 100 Lémanique"),
        ("lawyer for disputes among owners", "Maître Hélène Dubuis-Lémanique"),
        ("chilled warehouse by the train tracks", "Cold store Lémanique"),
        ("holiday home in the Alps", "Chalet d'altitude Lémanique"),
        ("bank account for paying German vendors", "Euro account Lémanique"),
        ("machine insurance agent", "Rémy Blanc-Lémanique"),
    ] {
        let found = closest(&owner, query);
        assert_eq!(
            found.first().map(|(name, _)| name.as_str()),
            Some(expected),
            "{query}: {found:?}"
        );
        assert!(found.is_sorted_by(|a, b| a.1 >= b.1), "{found:?}");
        let words = owner.ask("search_knowledge", json!({ "query": query }));
        assert_eq!(words["total"], 0, "not one by its words");
    }
}

fn what_has_nothing_to_do_with_it_is_left_out(world: &World) {
    let owner = world.owner();
    for query in ["photosynthesis in deep sea algae", "chess opening theory"] {
        assert_eq!(closest(&owner, query), [], "{query}");
    }
    let found = closest(&owner, "truck of the bakery");
    assert!(found.len() < 30, "{found:?}");
}

fn pages_by_meaning_follow_each_other(world: &World) {
    let owner = world.owner();
    let whole = closest(&owner, "company of the group");
    assert!(whole.len() > 5, "{whole:?}");
    let mut arguments = json!({ "query": "company of the group", "mode": "meaning", "limit": 2 });
    let mut names = vec![];
    loop {
        let page = owner.ask("search_knowledge", arguments.clone());
        assert_eq!(page["total"], whole.len());
        names.extend(page["items"].as_array().unwrap().iter().map(|item| item["name"].clone()));
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => break,
        }
    }
    assert_eq!(names, whole.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
    arguments["type"] = "vehicle".into();
    arguments.as_object_mut().unwrap().remove("cursor");
    let vehicles = owner.ask("search_knowledge", arguments);
    assert!(vehicles["items"].as_array().unwrap().iter().all(|item| item["type"] == "vehicle"));
}

fn meaning_stays_within_reach(world: &World) {
    let names = |client: &Client| closest(client, "crane truck whose insurance expired");
    let hidden = "Camion grue VD 200 Lémanique";
    assert_eq!(names(&world.owner())[0].0, hidden);
    let only_one_mandate = guichet::demo::people()
        .into_iter()
        .find(|person| person.tenant == "leman" && person.reach == "listed: 1 mandate")
        .unwrap();
    let found = names(&world.bearer(&only_one_mandate.token));
    assert!(!found.iter().any(|(name, _)| name == hidden), "{found:?}");
    let other = names(&world.client("saentis", "owner"));
    assert!(other.iter().all(|(name, _)| name.contains("ntisblick")), "{other:?}");
}

fn what_is_not_prepared_is_counted_and_employees_never_are(world: &World) {
    assert_eq!(embed(world, &[]), 0, "nothing is missing");
    let not_compared = || {
        let arguments = json!({ "query": "truck", "mode": "meaning" });
        world.owner().ask("search_knowledge", arguments)["not_compared"].clone()
    };
    assert_eq!(not_compared(), 60, "the employees");
    world.sql("UPDATE knowledge_entities SET description = 'Lémanique Säntisblick' WHERE type_code = 'vehicle'");
    assert_eq!(not_compared(), 63, "three vehicles have another text");
    assert_eq!(embed(world, &["--tenant", "saentis"]), 3);
    assert_eq!(not_compared(), 63);
    assert_eq!(embed(world, &["--tenant", "leman"]), 3);
    assert_eq!(not_compared(), 60);
}

#[test]
fn a_model_tells_texts_apart_and_a_long_one_is_read_to_its_limit() {
    let Some(model) = model() else { return };
    let vector = |text: &str| model.vector(text).unwrap();
    let likeness = |a: &str, b: &str| vector(a).likeness(&vector(b)).ten_thousandths();
    assert_eq!(vector("a").likeness(&vector("a")), Score::of_ten_thousandths(10_000));
    assert!(likeness("The cat sleeps.", "A kitten is napping.") > 5_000);
    assert!(likeness("The cat sleeps.", "Interest on the loan is due.") < 2_000);
    let long = "ledger entry ".repeat(50_000);
    assert_eq!(vector(&long), vector(&format!("{long} and a cat")));
    vector("");
    vector("\u{0}\u{202e}");
}

#[test]
fn a_model_says_what_an_independent_computation_says() {
    let Some(model) = model() else { return };
    let pairs = include_str!("../../fixtures/meaning/reference.json");
    let pairs: Vec<(String, String, f64)> = serde_json::from_str(pairs).unwrap();
    for (a, b, cosine) in &pairs {
        let likeness = model.vector(a).unwrap().likeness(&model.vector(b).unwrap());
        let said: f64 = serde_json::to_string(&likeness).unwrap().parse().unwrap();
        assert!((said - cosine).abs() < 0.0006, "{a} / {b}: {said}, not {cosine}");
    }
}

/// A copy of the model with one of its files replaced, as links to the others.
fn broken(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let copy = folder.join(name.replace('.', "_"));
    std::fs::create_dir(&copy).unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        if file == name {
            std::fs::write(copy.join(file), bytes).unwrap();
        } else {
            std::os::unix::fs::symlink(directory().unwrap().join(file), copy.join(file)).unwrap();
        }
    }
    copy
}

#[test]
fn a_server_refuses_to_start_with_a_broken_model_and_says_why_in_one_line() {
    let Some(whole) = directory() else { return };
    let database = Database::sqlite();
    let folder = tempfile::tempdir().unwrap();
    let secret = secret_file(folder.path());
    let serve = |model: &Path| {
        let mut command = guichet(&["serve", "--listen", "127.0.0.1:0"]);
        command.arg("--secret-file").arg(&secret).args(["--database-url", &database.server_url]);
        command.arg("--embedding-model").arg(model);
        command
    };
    let config = std::fs::read_to_string(whole.join("config.json")).unwrap();
    let roberta = config.replace("\"bert\"", "\"roberta\"");
    let larger = config.replace("384,", "768,");
    let weights = std::fs::read(whole.join("model.safetensors")).unwrap();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let mut models = vec![(empty, "config.json: ")];
    for (at, (name, bytes, said)) in [
        ("config.json", &b"{"[..], "config.json: EOF"),
        ("config.json", roberta.as_bytes(), "model_type is \"roberta\", not \"bert\""),
        ("config.json", larger.as_bytes(), "model.safetensors: "),
        ("tokenizer.json", b"{}", "tokenizer.json: "),
        ("model.safetensors", b"", "model.safetensors: "),
        ("model.safetensors", &weights[..weights.len() / 2], "model.safetensors: "),
    ]
    .into_iter()
    .enumerate()
    {
        let inside = folder.path().join(at.to_string());
        std::fs::create_dir(&inside).unwrap();
        models.push((broken(&inside, name, bytes), said));
    }
    for (model, reason) in models {
        let said = run(&mut serve(&model));
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
        let line = format!("guichet: the embedding model {}: ", model.display());
        assert!(said.err.starts_with(&line) && said.err.contains(reason), "{said:?}");
        assert_eq!(said.err.trim_end().lines().count(), 1, "{said:?}");
    }
    let server = Server::serve(&mut serve(&whole));
    assert_eq!(server.bearer("none").get("/health").status, 200);
}

#[test]
fn the_demo_is_prepared_at_once() {
    let Some(whole) = directory() else { return };
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("demo.db").display());
    let mut demo = guichet(&["demo", "--port", "0", "--json", "--database-url", &url]);
    let (server, line) = Server::demo(demo.arg("--embedding-model").arg(whole));
    let said: Value = serde_json::from_str(&line).unwrap();
    let owner = said["people"][0]["token"].as_str().unwrap();
    let found = closest(&server.bearer(owner), "holiday home in the Alps");
    assert_eq!(found[0].0, "Chalet d'altitude Lémanique");
}
