//! Words are found wherever they stand, as they are written now, and in one's own firm alone.

use guichet::db::migrate;
use guichet::demo;
use serde_json::json;

use crate::world::World;

on_both! {
    every_piece_of_every_text_is_found,
    what_looks_like_a_pattern_is_taken_literally,
    what_is_written_renamed_or_deleted_is_found_as_it_is,
    rows_that_were_there_before_the_index_are_found,
    nothing_is_found_in_the_other_firm,
}

/// Tools that search, and the rows that the owner of the first firm searches: id and text.
const SEARCHES: &[(&str, &str)] = &[
    ("search_clients", "clients t WHERE deleted_at IS NULL AND"),
    ("search_mandates", "mandates t WHERE"),
    ("search_invoices", "invoices t WHERE"),
    ("list_services", "services t WHERE is_active AND"),
];

/// The texts that a tool searches in the firm called `slug`.
fn texts(world: &World, rows: &str, slug: &str) -> Vec<String> {
    let rows = world.query(&format!(
        "SELECT search_text FROM {rows} tenant_id = (SELECT id FROM tenants WHERE slug = '{slug}') ORDER BY id"
    ));
    rows.iter().map(|cells| cells.join("|")).collect()
}

fn found(world: &World, tool: &str, query: &str) -> usize {
    let answer = world.owner().ask(tool, json!({ "query": query, "limit": 1 }));
    usize::try_from(answer["total"].as_u64().unwrap()).unwrap()
}

fn every_piece_of_every_text_is_found(world: &World) {
    for (tool, rows) in SEARCHES {
        let texts = texts(world, rows, "leman");
        assert!(texts.len() > 10, "{tool}");
        for (n, text) in texts.iter().enumerate().step_by(texts.len().div_ceil(12)) {
            let letters: Vec<char> = text.chars().collect();
            for length in 1..=9 {
                let from = (n * 7 + length * 5) % (letters.len() - length);
                let piece: String = letters[from..from + length].iter().collect();
                let words: Vec<&str> = piece.split(' ').filter(|word| !word.is_empty()).collect();
                let expected = texts.iter().filter(|t| words.iter().all(|word| t.contains(word)));
                assert_eq!(found(world, tool, &piece), expected.count(), "{tool}: {piece:?}");
            }
        }
    }
}

fn what_looks_like_a_pattern_is_taken_literally(world: &World) {
    world.sql("UPDATE clients SET search_text = search_text || ' a_b%c ''quoted'' \"so\" x*y (or) and -not \\back' WHERE number LIKE '%-K003'");
    let marked =
        texts(world, SEARCHES[0].1, "leman").iter().filter(|t| t.contains("a_b%c")).count();
    assert_eq!(marked, 1);
    for query in [
        "a_b%c",
        "_b%",
        "'quoted'",
        "\"so\"",
        "o\" (or)",
        "x*y",
        "(or)",
        "-not \\back",
        "A_B%C and",
    ] {
        assert_eq!(found(world, "search_clients", query), 1, "{query}");
    }
    for query in ["a%c", "a__b", "x**y", "'so'", "a_b%c zzzz", "NOT \"so\" zzz", "said:so"] {
        assert_eq!(found(world, "search_clients", query), 0, "{query}");
    }
}

fn what_is_written_renamed_or_deleted_is_found_as_it_is(world: &World) {
    let in_firm = "tenant_id = (SELECT id FROM tenants WHERE slug = 'leman')";
    let old = texts(world, SEARCHES[0].1, "leman")[2].clone();
    let old_word = old.split(' ').max_by_key(|word| word.len()).unwrap();
    assert_eq!(found(world, "search_clients", old_word), 1);
    world.sql(&format!("UPDATE clients SET search_text = 'quelqu''un d''autre' WHERE search_text = '{}' AND {in_firm}", old.replace('\'', "''")));
    assert_eq!(found(world, "search_clients", old_word), 0);
    assert_eq!(found(world, "search_clients", "quelqu'un d'autre"), 1);
    let id = if world.database.is_postgres() { "gen_random_uuid()" } else { "randomblob(16)" };
    for code in ["X-1", "X-2"] {
        world.sql(&format!(
            "INSERT INTO services SELECT tenant_id, {id}, '{code}', 'Xylographie', 'hour', 100, 'CHF', 8, is_active, lower('xylographie {code}') \
             FROM services WHERE {in_firm} ORDER BY id LIMIT 1"
        ));
    }
    assert_eq!(found(world, "list_services", "ylogr"), 2);
    world.sql("DELETE FROM services WHERE code = 'X-1'");
    assert_eq!(found(world, "list_services", "ylogr"), 1);
    assert_eq!(found(world, "list_services", "x-2 xylo"), 1);
    world.sql("UPDATE services SET search_text = 'ylography' WHERE code = 'X-2'");
    assert_eq!(found(world, "list_services", "xylo"), 0);
    assert_eq!(found(world, "list_services", "ylography"), 1);
}

fn rows_that_were_there_before_the_index_are_found(world: &World) {
    let before = found(world, "search_invoices", "2025");
    assert!(before > 10);
    if world.database.is_postgres() {
        world.sql("DROP VIEW invoices_search; DROP INDEX invoices_grams");
    } else {
        world.sql(
            "DROP TRIGGER invoices_search_add; DELETE FROM search_index WHERE rowid IN (SELECT number FROM search_rows WHERE kind = 'invoices'); \
             DELETE FROM search_rows WHERE kind = 'invoices'; DELETE FROM search_slots WHERE kind = 'invoices'",
        );
    }
    migrate(&world.database.owner_url, &world.database.server_url).unwrap();
    assert_eq!(found(world, "search_invoices", "2025"), before);
    assert!(found(world, "search_mandates", "lem") > 10, "the others are as they were");
}

fn nothing_is_found_in_the_other_firm(world: &World) {
    let canaries = demo::canaries();
    for (tool, rows) in SEARCHES {
        assert_eq!(found(world, tool, &canaries[1]), 0, "{tool}");
        assert!(found(world, tool, &canaries[0]) > 0, "{tool}");
        let theirs = texts(world, rows, "saentis");
        let ours = texts(world, rows, "leman");
        for text in theirs.iter().step_by(theirs.len().div_ceil(8)) {
            let expected =
                ours.iter().filter(|t| text.split(' ').take(8).all(|word| t.contains(word)));
            let query = text.split(' ').take(8).collect::<Vec<_>>().join(" ");
            assert_eq!(found(world, tool, &query), expected.count(), "{tool}: {query}");
        }
    }
}
