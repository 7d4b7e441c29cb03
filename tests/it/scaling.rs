//! The demo at a scale: what was copied with the triggers off is as they would have had it.

use guichet::db::migrate;
use guichet::demo::{self, Extent};
use serde_json::json;

use crate::world::{Database, World};

/// Small, and with everything that a larger scale has.
const EXTENT: Extent = Extent { copies: [3, 1], at_once: 2, ledgers: &[2_000, 400], firms: 3 };

#[test]
fn a_grown_sqlite_file_is_as_its_triggers_would_have_it() {
    let database = Database::empty_sqlite();
    migrate(&database.owner_url, &database.server_url).unwrap();
    demo::seed_to(&database.owner_url, EXTENT).unwrap();
    is_right(&World::new(database));
}

#[test]
fn a_grown_postgres_is_as_its_triggers_would_have_it() {
    let database = Database::unseeded_postgres();
    demo::seed_to(&database.owner_url, EXTENT).unwrap();
    is_right(&World::new(database));
}

fn number(world: &World, of: &str) -> i64 {
    world.query(&format!("SELECT CAST(({of}) AS TEXT)")).concat().concat().parse().unwrap()
}

fn is_right(world: &World) {
    let of = |slug: &str, table: &str| {
        number(
            world,
            &format!(
                "SELECT count(*) FROM {table} t JOIN tenants f ON f.id = t.tenant_id WHERE f.slug = '{slug}'"
            ),
        )
    };
    for table in
        ["clients", "contacts", "invoices", "invoice_lines", "payments", "commits", "reach"]
    {
        let written = of("saentis", table) / 2;
        assert!(written > 10, "{table}");
        let grown = of("leman", table) - if table == "commits" { 2 * 1_060 } else { 0 };
        assert_eq!(grown, written * 4, "{table}");
        assert_eq!(of("leman-2", table), of("leman", table), "{table}");
    }
    for broken in [
        "SELECT 1 FROM commits GROUP BY tenant_id HAVING min(number) <> 1 OR max(number) <> count(*)",
        "SELECT 1 FROM commits a JOIN commits b ON b.tenant_id = a.tenant_id AND b.number = a.number + 1 WHERE b.committed_at < a.committed_at",
        "SELECT 1 FROM invoices i WHERE i.document = 'invoice' AND i.state = 'issued' AND (i.settled <> coalesce((SELECT sum(p.amount) FROM payments p WHERE p.tenant_id = i.tenant_id AND p.invoice_id = i.id), 0) + \
            coalesce((SELECT sum(n.total) FROM invoices n WHERE n.tenant_id = i.tenant_id AND n.origin_invoice_id = i.id AND n.state = 'issued'), 0) \
            OR (i.open_until = '9999-12-31') = (i.total = i.settled))",
        "SELECT 1 FROM invoices i WHERE i.net <> (SELECT sum(l.net) FROM invoice_lines l WHERE l.tenant_id = i.tenant_id AND l.invoice_id = i.id)",
        "SELECT 1 FROM entry_lines GROUP BY tenant_id, entry_id HAVING sum(debit) <> sum(credit) OR count(*) < 2",
        "SELECT 1 FROM entries e JOIN fiscal_years y ON y.tenant_id = e.tenant_id AND y.id = e.fiscal_year_id WHERE e.booked_on NOT BETWEEN y.starts_on AND y.ends_on",
        "SELECT 1 FROM entries WHERE state = 'posted' GROUP BY tenant_id, mandate_id, fiscal_year_id, journal HAVING min(number) <> 1 OR max(number) <> count(*)",
        "SELECT 1 FROM entries e WHERE e.state = 'posted' AND NOT EXISTS (SELECT 1 FROM entry_lines l WHERE l.tenant_id = e.tenant_id AND l.entry_id = e.id)",
    ] {
        assert_eq!(
            number(world, &format!("SELECT count(*) FROM ({broken}) AS broken")),
            0,
            "{broken}"
        );
    }
    let lines = "FROM entry_lines l JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id JOIN mandates m ON m.tenant_id = l.tenant_id AND m.id = l.mandate_id WHERE m.number = 'GL-1'";
    assert_eq!(number(world, &format!("SELECT count(*) {lines}")), 2 * 2_000);
    let posted = "FROM entry_lines l JOIN entries e ON e.tenant_id = l.tenant_id AND e.id = l.entry_id WHERE e.state = 'posted'";
    for column in ["debit", "credit", "currency_debit", "currency_credit"] {
        let sum = format!("SELECT CAST(sum({column}) * 100 AS BIGINT)");
        let kept = number(world, &format!("{sum} FROM account_balances"));
        assert_eq!(kept, number(world, &format!("{sum} {posted}")), "{column}");
    }
    is_served(world);
}

/// The server answers from what was copied, and the triggers are back.
fn is_served(world: &World) {
    let owner = world.owner();
    let found = |query: &str| {
        owner.ask("search_clients", json!({ "query": query }))["total"].as_i64().unwrap()
    };
    assert_eq!(found("lem-k001"), 4);
    assert_eq!(found("lem-k001-3"), 1);
    assert_eq!(found("zzzz"), 0);
    for sql in [
        "UPDATE invoices SET title = 'x' WHERE state = 'issued'",
        "UPDATE commits SET number = number + 1000000",
        "UPDATE entries SET text = 'x'",
    ] {
        assert!(world.database.owner().batch_execute(sql).is_err(), "{sql}");
    }
    world.sql("UPDATE clients SET search_text = 'xylophage' WHERE number = 'LEM-K001-3'");
    assert_eq!(found("xylophage"), 1);
    assert_eq!(found("lem-k001-3"), 0);
}
