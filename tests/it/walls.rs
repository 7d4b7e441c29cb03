//! What holds when a query or a developer forgets the tenant, and what the tables refuse even by hand.

use std::sync::atomic::{AtomicUsize, Ordering};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use guichet::db::{Db, migrate};
use serde_json::json;

use crate::world::{Database, Owner, World};

on_both! {
    firms_that_share_connections_never_see_each_other,
    issued_and_posted_records_are_append_only,
    commits_have_no_gap,
    every_table_with_a_tenant_stands_behind_its_wall,
    the_doors_of_search_show_nothing_of_another_firm,
    several_processes_migrate_at_once,
}

/// Runs SQL as the role that serves.
#[expect(clippy::disallowed_methods, reason = "the tests look at the tables from outside")]
fn as_server(world: &World) -> PgConnection {
    PgConnection::establish(&world.database.server_url).unwrap()
}

fn firms_that_share_connections_never_see_each_other(world: &World) {
    let firms = ["leman", "saentis"].map(|firm| {
        let owner = world.client(firm, "owner");
        let expected = owner.call("search_clients", json!({ "limit": 3 })).bytes;
        (owner, expected)
    });
    let answered = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for thread in 0..16 {
            let (firms, answered) = (&firms, &answered);
            threads.spawn(move || {
                for round in 0..40 {
                    let (owner, expected) = &firms[(thread + round) % 2];
                    if round % 5 == 0 {
                        let unknown =
                            json!({ "client_id": "01912345-0000-7000-8000-123456789abc" });
                        assert_eq!(
                            owner.call("get_client", unknown).refusal()["code"],
                            "not_found"
                        );
                    }
                    assert_eq!(
                        &owner.call("search_clients", json!({ "limit": 3 })).bytes,
                        expected
                    );
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(answered.into_inner(), 16 * 40);
}

fn refused(world: &World, sql: &str) {
    let outcome = world.database.owner().batch_execute(sql);
    let error = outcome.expect_err(sql).to_string();
    assert!(error.contains("append-only") || error.contains("without a gap"), "{sql}: {error}");
}

fn issued_and_posted_records_are_append_only(world: &World) {
    for sql in [
        "UPDATE invoices SET title = 'x' WHERE state = 'issued'",
        "DELETE FROM invoices WHERE state = 'issued'",
        "UPDATE invoice_lines SET description = 'x'",
        "DELETE FROM invoice_lines",
        "UPDATE payments SET amount = amount + 1",
        "DELETE FROM payments",
        "UPDATE reminders SET level = 4",
        "DELETE FROM reminders",
        "UPDATE dispatches SET channel = 'post'",
        "DELETE FROM dispatches",
        "UPDATE payslips SET year = 2020 WHERE state = 'final'",
        "DELETE FROM payslips WHERE state = 'final'",
        "UPDATE payslip_lines SET label = 'x'",
        "DELETE FROM payslip_lines",
        "UPDATE commits SET number = number + 1000000",
        "DELETE FROM commits",
        "INSERT INTO invoice_lines SELECT tenant_id, invoice_id, invoice_id, 99, NULL, 'x', 1, 'piece', 1, 1, 0, 0 \
         FROM invoice_lines WHERE position = 1 AND invoice_id IN (SELECT id FROM invoices WHERE state = 'issued')",
    ] {
        refused(world, sql);
    }
    for sql in [
        "UPDATE invoices SET total = total + 1 WHERE state = 'draft'",
        "UPDATE invoices SET state = 'paid' WHERE state = 'draft'",
        "UPDATE clients SET status = 'unknown'",
        "UPDATE mandates SET client_id = (SELECT id FROM clients c WHERE c.tenant_id <> mandates.tenant_id ORDER BY id LIMIT 1)",
        "UPDATE payslips SET net = net + 1 WHERE state = 'draft'",
    ] {
        assert!(world.database.owner().batch_execute(sql).is_err(), "{sql}");
    }
    world.sql("UPDATE invoices SET title = 'x' WHERE state = 'draft'");
}

fn commits_have_no_gap(world: &World) {
    let numbers = world.query(
        "SELECT CAST(count(*) AS TEXT) || '|' || CAST(min(number) AS TEXT) || '|' || CAST(max(number) AS TEXT) \
         FROM commits GROUP BY tenant_id",
    );
    assert_eq!(numbers.len(), 2);
    for firm in numbers {
        assert_eq!((&firm[0], firm[1].as_str()), (&firm[2], "1"));
    }
    refused(
        world,
        "INSERT INTO commits SELECT tenant_id, max(number) + 2, max(committed_at), (SELECT m.user_id FROM memberships m WHERE m.tenant_id = commits.tenant_id LIMIT 1) FROM commits GROUP BY tenant_id",
    );
}

fn tenant_tables(world: &World) -> Vec<String> {
    let query = if world.database.is_postgres() {
        "SELECT DISTINCT c.table_name::text FROM information_schema.columns c JOIN information_schema.tables t \
         USING (table_schema, table_name) WHERE c.column_name = 'tenant_id' AND c.table_schema = 'public' AND t.table_type = 'BASE TABLE'"
    } else {
        "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND i.name = 'tenant_id'"
    };
    world.query(query).concat()
}

fn every_table_with_a_tenant_stands_behind_its_wall(world: &World) {
    let tables = tenant_tables(world);
    assert!(tables.len() > 20, "{tables:?}");
    if world.database.is_postgres() {
        let mut server = as_server(world);
        let count = |server: &mut PgConnection, table: &str| -> QueryResult<i64> {
            diesel::select(diesel::dsl::sql::<diesel::sql_types::BigInt>(&format!(
                "count(*) FROM {table}"
            )))
            .get_result(server)
        };
        for table in &tables {
            assert_eq!(count(&mut server, table).unwrap(), 0, "{table} without a tenant");
        }
        for table in ["tenants", "users"] {
            assert!(count(&mut server, table).is_err(), "{table}");
        }
        for sql in [
            "UPDATE clients SET name = 'x'",
            "DELETE FROM clients",
            "INSERT INTO roles VALUES (gen_random_uuid(), 'x')",
            "ALTER TABLE clients DISABLE ROW LEVEL SECURITY",
            "UPDATE api_tokens SET scopes = 'x'",
            "SELECT settle(gen_random_uuid(), gen_random_uuid())",
        ] {
            assert!(server.batch_execute(sql).is_err(), "{sql}");
        }
        let firm = &world.query("SELECT id::text FROM tenants WHERE slug = 'saentis'")[0][0];
        server.batch_execute(&format!("BEGIN; SET LOCAL app.tenant_id = '{firm}'")).unwrap();
        let own = count(&mut server, "clients").unwrap();
        let all = &world.query("SELECT count(*)::text FROM clients")[0][0];
        assert_eq!(own * 2, all.parse::<i64>().unwrap());
        server.batch_execute("COMMIT").unwrap();
        assert_eq!(
            count(&mut server, "clients").unwrap(),
            0,
            "the tenant ends with its transaction"
        );
    }
    assert!(Db::open(&world.database.server_url, 1, [0; 32]).is_ok());
}

/// Tables with a `search_text`.
fn searched_tables(world: &World) -> Vec<String> {
    let query = if world.database.is_postgres() {
        "SELECT table_name::text FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) \
         WHERE column_name = 'search_text' AND table_schema = 'public' AND table_type = 'BASE TABLE'"
    } else {
        "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND i.name = 'search_text'"
    };
    world.query(query).concat()
}

fn the_doors_of_search_show_nothing_of_another_firm(world: &World) {
    let tables = searched_tables(world);
    assert!(tables.len() >= 5, "{tables:?}");
    if !world.database.is_postgres() {
        for table in &tables {
            let kept = format!(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '{table}_search_%'"
            );
            assert_eq!(world.query(&kept).len(), 3, "{table}");
        }
        let texts = "SELECT name FROM sqlite_master WHERE name LIKE 'search_index_content'";
        assert!(world.query(texts).is_empty(), "the index keeps no text");
        return;
    }
    let mut server = as_server(world);
    let mut count = |sql: &str| -> i64 {
        diesel::select(diesel::dsl::sql::<diesel::sql_types::BigInt>(sql))
            .get_result(&mut server)
            .unwrap()
    };
    let firm = |slug: &str| {
        world
            .query(&format!("SELECT id::text FROM tenants WHERE slug = '{slug}'"))
            .concat()
            .concat()
    };
    for table in &tables {
        assert_eq!(count(&format!("count(*) FROM {table}_search")), 0, "{table} without a tenant");
    }
    assert_eq!(count("count(*) FROM (SELECT sought('abc') AS s) q WHERE s IS NOT NULL"), 0);
    server
        .batch_execute(&format!("BEGIN; SET LOCAL app.tenant_id = '{}'", firm("saentis")))
        .unwrap();
    let mut count = |sql: &str| -> i64 {
        diesel::select(diesel::dsl::sql::<diesel::sql_types::BigInt>(sql))
            .get_result(&mut server)
            .unwrap()
    };
    for table in &tables {
        let shown = count(&format!("count(*) FROM {table}_search"));
        assert_eq!(shown, count(&format!("count(*) FROM {table}")), "{table}");
        let foreign =
            format!("count(*) FROM {table}_search WHERE tenant_id <> '{}'", firm("saentis"));
        assert_eq!(count(&foreign), 0, "{table}");
        let hashes = format!(
            "count(*) FROM {table}_search WHERE grams @> grams('{}', 'lem')",
            firm("leman")
        );
        assert_eq!(count(&hashes), 0, "{table}");
    }
    server.batch_execute("COMMIT").unwrap();
}

#[test]
fn a_server_refuses_to_start_on_a_table_without_its_wall_or_with_a_role_that_climbs_it() {
    let database = Database::postgres();
    let refusal = |url: &str| Db::open(url, 1, [0; 32]).map(drop).unwrap_err();
    let said = |error: guichet::error::Error| match error {
        guichet::error::Error::Failed(fault) => fault.cause_text(),
        refused @ guichet::error::Error::Refused(_) => refused.to_string(),
    };
    assert!(said(refusal(&database.owner_url)).contains("bypasses row-level security"));
    let refusal_text = |url: &str| said(refusal(url));
    let Owner::Postgres(mut owner) = database.owner() else { unreachable!() };
    owner.batch_execute("ALTER TABLE invoices NO FORCE ROW LEVEL SECURITY").unwrap();
    assert!(
        said(refusal(&database.server_url))
            .contains("table invoices has no forced row-level security")
    );
    owner.batch_execute("ALTER TABLE invoices FORCE ROW LEVEL SECURITY").unwrap();
    a_wall_with_a_hole_is_refused(&database, &mut owner, &refusal_text);
    a_door_that_shows_more_is_refused(&database, &mut owner, &refusal_text);
    owner.batch_execute("CREATE TABLE notes (tenant_id uuid)").unwrap();
    assert!(said(refusal(&database.server_url)).contains("table notes"));
    migrate(&database.owner_url, &database.server_url).unwrap();
    assert!(
        Db::open(&database.server_url, 1, [0; 32]).is_ok(),
        "the wall is built by every migration"
    );
    assert!(said(refusal("sqlite:/nonexistent/guichet.db")).contains("does not exist"));
    assert!(said(refusal("mysql://localhost/x")).contains("must be sqlite:PATH or postgres://"));
}

/// Policies that open a table, and a role that may become the owner.
fn a_wall_with_a_hole_is_refused(
    database: &Database,
    owner: &mut PgConnection,
    refusal: &dyn Fn(&str) -> String,
) {
    let replaced = "DROP POLICY tenant ON clients; CREATE POLICY tenant ON clients USING (true)";
    for open in ["CREATE POLICY open ON clients USING (true)", replaced] {
        owner.batch_execute(open).unwrap();
        let said = refusal(&database.server_url);
        assert!(said.contains("table clients has another policy"), "{said}");
        owner.batch_execute("DROP POLICY IF EXISTS open ON clients").unwrap();
        migrate(&database.owner_url, &database.server_url).unwrap();
        assert!(Db::open(&database.server_url, 1, [0; 32]).is_ok(), "{open}");
    }
    database.as_superuser("CREATE ROLE climber LOGIN NOINHERIT IN ROLE guichet_owner");
    database.as_superuser("GRANT SELECT ON __diesel_schema_migrations TO climber");
    let said = refusal(&database.server_url.replace("guichet_server", "climber"));
    database.as_superuser("DROP OWNED BY climber; DROP ROLE climber");
    assert!(said.contains("the role climber bypasses"), "{said}");
}

/// Views that the serving role may read, beside those that are known.
fn a_door_that_shows_more_is_refused(
    database: &Database,
    owner: &mut PgConnection,
    refusal: &dyn Fn(&str) -> String,
) {
    for (hole, reason, mend) in [
        ("DROP VIEW clients_search", "table clients has no door for its search", "SELECT 1"),
        (
            "CREATE OR REPLACE VIEW clients_search AS SELECT tenant_id, id, ctid AS place, grams(tenant_id, search_text) AS grams FROM clients",
            "the door clients_search shows more than the grams of its firm",
            "SELECT 1",
        ),
        (
            "CREATE VIEW everything AS SELECT * FROM clients; GRANT SELECT ON everything TO guichet_server",
            "view everything is open to guichet_server",
            "DROP VIEW everything",
        ),
    ] {
        owner.batch_execute(hole).unwrap();
        let said = refusal(&database.server_url);
        assert!(said.contains(reason), "{said}");
        owner.batch_execute(mend).unwrap();
        migrate(&database.owner_url, &database.server_url).unwrap();
        assert!(Db::open(&database.server_url, 1, [0; 32]).is_ok(), "{hole}");
    }
}

#[test]
fn a_server_refuses_a_file_whose_words_would_not_be_found() {
    let database = Database::sqlite();
    assert!(Db::open(&database.server_url, 1, [0; 32]).is_ok());
    database.owner().batch_execute("DROP TRIGGER clients_search_add").unwrap();
    let error = Db::open(&database.server_url, 1, [0; 32]).map(drop).unwrap_err();
    let guichet::error::Error::Failed(fault) = error else { panic!("{error}") };
    assert!(fault.cause_text().contains("table clients has no index of its words"));
}

fn several_processes_migrate_at_once(world: &World) {
    let owner_url = &world.database.owner_url;
    if world.database.is_postgres() {
        world.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO guichet_server");
    } else {
        std::fs::remove_file(owner_url.trim_start_matches("sqlite:")).unwrap();
    }
    let applied: usize = std::thread::scope(|threads| {
        let migrating: Vec<_> = (0..6)
            .map(|_| threads.spawn(|| migrate(owner_url, &world.database.server_url).unwrap()))
            .collect();
        migrating.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let known = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap();
    assert_eq!(applied, known.count(), "each migration once");
    assert_eq!(migrate(owner_url, &world.database.server_url).unwrap(), 0);
}
