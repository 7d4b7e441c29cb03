//! The database goes away, is locked, is slow, and comes back.

use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use serde_json::json;

use crate::world::{Database, Owner, World};

/// What a request gets while the database is in trouble: a refusal that can be retried, within eight seconds.
fn is_refused_in_time(world: &World) {
    let started = Instant::now();
    let answer = world.owner().call("search_clients", json!({}));
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    let text = answer.text();
    assert!(text.contains("try again in a few seconds"), "{} {text}", answer.status);
    if answer.status == 503 {
        assert_eq!(answer.header("retry-after"), "2");
    } else {
        assert_eq!(answer.refusal()["code"], "unavailable");
    }
    for word in ["pool", "timeout", "statement", "libpq", "relation", "SELECT", "lock"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

/// Many requests at once, none of which may hang.
fn all_are_refused_in_time(world: &World) {
    std::thread::scope(|threads| {
        (0..12).for_each(|_| drop(threads.spawn(|| is_refused_in_time(world))));
    });
}

fn answers_again(world: &World) {
    let started = Instant::now();
    while world.owner().call("search_clients", json!({})).status != 200 {
        assert!(started.elapsed() < Duration::from_secs(5), "no recovery");
        std::thread::sleep(Duration::from_millis(50));
    }
    world.owner().ask("search_clients", json!({}));
}

#[test]
fn connections_that_die_are_replaced_unseen() {
    let world = World::new(Database::postgres());
    for _ in 0..10 {
        world.owner().ask("search_clients", json!({}));
        world.database.as_superuser(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guichet_server' AND datname = current_database()",
        );
        world.owner().ask("search_clients", json!({}));
    }
}

#[test]
fn a_locked_table_gives_a_refusal_that_can_be_retried() {
    let world = World::new(Database::postgres());
    let Owner::Postgres(mut owner) = world.database.owner() else { unreachable!() };
    owner.batch_execute("BEGIN; LOCK TABLE clients IN ACCESS EXCLUSIVE MODE").unwrap();
    is_refused_in_time(&world);
    all_are_refused_in_time(&world);
    owner.batch_execute("ROLLBACK").unwrap();
    answers_again(&world);
}

#[test]
fn a_writer_elsewhere_keeps_no_reader_waiting() {
    let world = World::new(Database::sqlite());
    let Owner::Sqlite(mut owner) = world.database.owner() else { unreachable!() };
    owner.batch_execute("BEGIN EXCLUSIVE; UPDATE clients SET name = name").unwrap();
    let started = Instant::now();
    world.owner().ask("search_clients", json!({}));
    let revoked = world.owner().send("/auth/revoke", &[], "");
    assert_eq!(revoked.status, 503, "a writer is refused when its turn does not come");
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    owner.batch_execute("ROLLBACK").unwrap();
    assert_eq!(world.owner().send("/auth/revoke", &[], "").status, 200);
}

#[test]
fn a_database_that_is_gone_is_found_again_when_it_is_back() {
    let world = World::new(Database::postgres());
    world.owner().ask("search_clients", json!({}));
    world.database.set_reachable(false);
    is_refused_in_time(&world);
    all_are_refused_in_time(&world);
    let ready = world.anonymous().get("/ready");
    assert_eq!((ready.status, ready.text().as_str()), (503, r#"{"status":"unavailable"}"#));
    assert_eq!(world.anonymous().get("/health").status, 200);
    let person = world.person("leman", "owner");
    let body = json!({ "email": person.email, "password": person.password, "tenant": "leman" });
    assert_eq!(world.anonymous().send("/auth/token", &[], &body.to_string()).status, 503);
    world.database.set_reachable(true);
    answers_again(&world);
    assert_eq!(world.anonymous().get("/ready").text(), r#"{"status":"ready"}"#);
}
