//! What every tool asks of the database is answered through an index: no statement reads a whole table that grows.

use std::cell::RefCell;
use std::collections::BTreeSet;

use diesel::connection::{
    Instrumentation, InstrumentationEvent, SimpleConnection, set_default_instrumentation,
};
use diesel::prelude::*;
use diesel::sql_types::Text;
use guichet::auth::{Credential, authenticate, jwt};
use guichet::db::Db;
use guichet::registry;

use crate::world::{Database, NOW, Owner, SECRETS};

/// Tables that a firm fills once; every other one grows.
const SMALL: &[&str] = &[
    "firms",
    "memberships",
    "roles",
    "role_permissions",
    "services",
    "service_rates",
    "vat_codes",
    "vat_code_rates",
    "exchange_rates",
    "search_slots",
    "pg_class",
    "__diesel_schema_migrations",
];
/// One role of each reach.
const ROLES: &[&str] = &["owner", "accountant", "payroll_officer", "client_user"];

thread_local! {
    static ASKED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Notes the statements of the thread that asks for them.
struct Notes;

impl Instrumentation for Notes {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            ASKED.with_borrow_mut(|asked| {
                if let Some(asked) = asked {
                    asked.push(query.to_string());
                }
            });
        }
    }
}

/// The statements of every tool's example, as people of each reach ask them.
fn statements(database: &Database) -> Vec<(&'static str, String)> {
    set_default_instrumentation(|| Some(Box::new(Notes))).unwrap();
    let db = Db::open(&database.server_url, 1, [9; 32]).unwrap();
    let keys = jwt::Keys::new("http://127.0.0.1", &SECRETS).unwrap();
    let now = NOW.parse::<chrono::DateTime<chrono::Utc>>().unwrap().into();
    let mut found = vec![];
    for role in ROLES {
        let people = guichet::demo::people();
        let person = people.iter().find(|p| p.tenant == "leman" && p.role == *role).unwrap();
        for tool in registry::tools() {
            let credential = Credential::parse(&format!("Bearer {}", person.token)).unwrap();
            let (mut session, caller) = authenticate(&db, &keys, &credential, now).unwrap();
            if !tool.is_open_to(&caller) {
                continue;
            }
            ASKED.set(Some(vec![]));
            // A refusal, out of reach, has asked something too; that examples answer is tested elsewhere.
            let (example, mut out) = (tool.example().unwrap(), vec![]);
            registry::call(tool, &mut session, &caller, now, &example, &mut out).ok();
            // Diesel says the types of what it binds, PREPARE has to guess them: in a list of VALUES it cannot.
            let explained = if database.is_postgres() { BTreeSet::new() } else { figures(&out) };
            for figure in explained {
                let explain =
                    registry::tools().find(|tool| tool.name() == "explain_figure").unwrap();
                let arguments = serde_json::json!({ "figure": figure }).to_string();
                registry::call(explain, &mut session, &caller, now, &arguments, &mut vec![])
                    .unwrap();
            }
            let asked = ASKED.take().unwrap();
            let reads = asked
                .into_iter()
                .filter(|sql| sql.starts_with("SELECT") || sql.starts_with("WITH"));
            found.extend(
                reads.map(|sql| (tool.name(), sql.split(" -- binds:").next().unwrap().to_owned())),
            );
        }
    }
    let tools: BTreeSet<_> = found.iter().map(|(tool, _)| *tool).collect();
    let silent: Vec<_> =
        registry::tools().map(registry::Tool::name).filter(|name| !tools.contains(name)).collect();
    assert!(silent.iter().all(|name| *name == "explain_figure"), "{silent:?} ask nothing");
    found.sort();
    found.dedup();
    found
}

/// A few figures of a report.
fn figures(answer: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(answer);
    let handles = text.split("\"figure\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    handles.step_by(7).take(3).map(str::to_owned).collect()
}

#[derive(QueryableByName)]
struct PostgresLine {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    line: String,
}

#[derive(QueryableByName)]
struct SqliteLine {
    #[diesel(sql_type = Text)]
    detail: String,
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the tests look at the tables from outside")]
fn no_tool_reads_a_whole_table_of_postgres() {
    let database = Database::postgres();
    let statements = statements(&database);
    let firm = database.rows("SELECT id::text FROM tenants WHERE slug = 'leman'").concat().concat();
    let mut server = PgConnection::establish(&database.server_url).unwrap();
    // The tables are small here: what has an index must use it, as it would on large ones.
    let settings = format!(
        "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; SET app.tenant_id = '{firm}'"
    );
    server.batch_execute(&settings).unwrap();
    for (tool, sql) in statements {
        let binds = (1..=999).take_while(|n| sql.contains(&format!("${n}"))).count();
        server
            .batch_execute(&format!("PREPARE asked AS {sql}"))
            .unwrap_or_else(|e| panic!("{tool}: {e}: {sql}"));
        let nulls = vec!["NULL"; binds].join(", ");
        let explain = if binds == 0 {
            "EXPLAIN EXECUTE asked".to_owned()
        } else {
            format!("EXPLAIN EXECUTE asked({nulls})")
        };
        let plan: Vec<PostgresLine> = diesel::sql_query(explain).load(&mut server).unwrap();
        for line in &plan {
            let Some((_, rest)) = line.line.split_once("Seq Scan on ") else { continue };
            let table = rest.split_whitespace().next().unwrap();
            let shown: Vec<_> = plan.iter().map(|line| line.line.as_str()).collect();
            assert!(
                SMALL.contains(&table),
                "{tool} reads all of {table}: {sql}\n{}",
                shown.join("\n")
            );
        }
        server.batch_execute("DEALLOCATE asked").unwrap();
    }
}

mod functions {
    #[diesel::declare_sql_function]
    extern "SQL" {
        fn current_tenant() -> diesel::sql_types::Nullable<diesel::sql_types::Binary>;
        fn sought(word: diesel::sql_types::Text) -> diesel::sql_types::Text;
    }
}

#[test]
fn no_tool_reads_a_whole_table_of_sqlite() {
    let database = Database::sqlite();
    let statements = statements(&database);
    let tables = database
        .rows("SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND i.name = 'tenant_id'")
        .concat();
    let Owner::Sqlite(mut reader) = database.owner() else { unreachable!() };
    functions::current_tenant_utils::register_nondeterministic_impl(&reader, || {
        Some(vec![0_u8; 16])
    })
    .unwrap();
    functions::sought_utils::register_impl(&mut reader, |word: String| word).unwrap();
    for table in &tables {
        let view = format!(
            "CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE tenant_id = current_tenant()"
        );
        reader.batch_execute(&view).unwrap();
    }
    for (tool, sql) in statements {
        let plan: Vec<SqliteLine> =
            diesel::sql_query(format!("EXPLAIN QUERY PLAN {sql}")).load(&mut reader).unwrap();
        for line in &plan {
            let Some(rest) = line.detail.strip_prefix("SCAN ") else { continue };
            let name = rest.split_whitespace().next().unwrap();
            let is_made = |line: &SqliteLine| {
                line.detail == format!("CO-ROUTINE {name}")
                    || line.detail == format!("MATERIALIZE {name}")
            };
            if plan.iter().any(is_made) {
                continue;
            }
            let is = |table: &&String| {
                *table == name
                    || sql.contains(&format!("{table} {name} "))
                    || sql.contains(&format!("{table} AS {name} "))
            };
            let Some(table) = tables.iter().find(is) else { continue };
            let shown: Vec<_> = plan.iter().map(|line| line.detail.as_str()).collect();
            let is_small = SMALL.contains(&table.as_str());
            assert!(is_small, "{tool} reads all of {table}: {sql}\n{}", shown.join("\n"));
        }
    }
}
