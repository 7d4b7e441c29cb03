//! The second wall between firms: what holds when a query or a developer forgets the tenant.
//!
//! On `PostgreSQL`, row-level security, enabled and forced, under a role that owns nothing. On `SQLite`, TEMP views of
//! the same names for the readers and TEMP triggers for the writer. Both are derived from the catalogue: a table with
//! a `tenant_id` column gets its wall without being listed anywhere.

use std::sync::{Arc, Mutex, PoisonError};

use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::connection::{Door, current_tenant_utils};
use super::types::Stored;
use crate::error::{Error, Result};
use crate::ids::TenantId;

/// The tenant whose transaction runs, for the functions and triggers of `SQLite`.
pub(super) type Current = Arc<Mutex<Option<TenantId>>>;

/// Builds the wall of one `SQLite` connection: no tenant, no rows.
pub(super) fn guard_sqlite(
    sqlite: &mut SqliteConnection,
    door: Door,
    current: &Current,
) -> QueryResult<()> {
    let tenant = Arc::clone(current);
    let bytes =
        move || tenant.lock().unwrap_or_else(PoisonError::into_inner).map(|t| t.to_sqlite());
    current_tenant_utils::register_nondeterministic_impl(sqlite, bytes)?;
    for table in sqlite_tenant_tables(sqlite)? {
        let trigger = |(on, row)| {
            format!(
                "CREATE TEMP TRIGGER {table}_{on}_{row} BEFORE {on} ON main.{table} WHEN {row}.tenant_id IS NOT \
                 current_tenant() BEGIN SELECT RAISE(ABORT, 'row of another tenant'); END;"
            )
        };
        sqlite.batch_execute(&match door {
            Door::Read => format!(
                "CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE tenant_id = current_tenant()"
            ),
            Door::Write => {
                [("INSERT", "NEW"), ("UPDATE", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")]
                    .map(trigger)
                    .concat()
            }
        })?;
    }
    if door == Door::Read { sqlite.batch_execute("PRAGMA query_only = ON") } else { Ok(()) }
}

fn sqlite_tenant_tables(sqlite: &mut SqliteConnection) -> QueryResult<Vec<String>> {
    diesel::select(sql::<Text>(
        "m.name FROM main.sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND i.name = 'tenant_id'",
    ))
    .load(sqlite)
}

/// Puts every tenant table under forced row-level security and grants `server` what the server does, no more. Run by
/// the owner after every migration; running it again changes nothing.
pub(super) fn build_postgres(owner: &mut PgConnection, server: &str) -> Result<()> {
    if server.is_empty() || !server.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(Error::fault(format!(
            "the serving role {server:?} must be named with letters, digits and underscores"
        )));
    }
    Ok(owner.batch_execute(&WALLS.replace("{server}", server))?)
}

/// The policy is a plain expression and not a subquery: it is stable, so the index is used, and it holds on a database
/// that is sharded by tenant. After COMMIT the setting is empty, hence the `nullif`: no tenant, no rows.
const WALLS: &str = r#"DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables USING (table_schema, table_name)
             WHERE c.table_schema = current_schema() AND c.column_name = 'tenant_id' AND table_type = 'BASE TABLE' LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        IF NOT EXISTS (SELECT 1 FROM pg_policies WHERE schemaname = current_schema() AND tablename = t AND policyname = 'tenant'
                       AND qual = '(tenant_id = (NULLIF(current_setting(''app.tenant_id''::text, true), ''''::text))::uuid)') THEN
            EXECUTE format('DROP POLICY IF EXISTS tenant ON %I', t);
            EXECUTE format('CREATE POLICY tenant ON %I USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', t);
        END IF;
        EXECUTE format('GRANT SELECT ON %I TO "{server}"', t);
        IF to_regclass(quote_ident(t || '_search')) IS NOT NULL THEN
            EXECUTE format('GRANT SELECT ON %I TO "{server}"', t || '_search');
        END IF;
    END LOOP;
END $$;
GRANT UPDATE (last_used_at, last_used_from, revoked_at) ON api_tokens TO "{server}";
GRANT SELECT ON identities, credentials, sign_ins TO "{server}";
GRANT SELECT ON __diesel_schema_migrations TO "{server}";"#;

/// What is wrong with the walls as the serving role finds them: one sentence per gap.
const GAPS: &str = "gap FROM (
    SELECT 'table ' || c.relname || ' has no forced row-level security' AS gap
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
       AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
    UNION ALL
    SELECT 'table ' || c.relname || ' has another policy than that of its tenant'
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace AND c.relrowsecurity
       AND ARRAY['(tenant_id = (NULLIF(current_setting(''app.tenant_id''::text, true), ''''::text))::uuid)'] IS DISTINCT FROM
           (SELECT array_agg(pg_get_expr(p.polqual, p.polrelid)) FROM pg_policy p WHERE p.polrelid = c.oid)
    UNION ALL
    SELECT 'the role ' || current_user || ' bypasses row-level security; serve with another one'
     WHERE EXISTS (SELECT 1 FROM pg_roles r WHERE (r.rolbypassrls OR r.rolsuper) AND pg_has_role(current_user, r.oid, 'MEMBER'))
    UNION ALL
    SELECT 'the role ' || current_user || ' owns table ' || c.relname || '; serve with another one'
      FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
       AND pg_has_role(current_user, c.relowner, 'MEMBER')
) AS gaps";

/// Refuses to serve from a `PostgreSQL` where a tenant's table is open to this role.
pub(super) fn check_postgres(server: &mut PgConnection) -> Result<()> {
    let gaps: Vec<String> = diesel::select(sql::<Text>(GAPS)).load(server)?;
    match gaps.first() {
        None => Ok(()),
        Some(first) if gaps.len() == 1 => Err(Error::fault(first.clone())),
        Some(first) => Err(Error::fault(format!("{first} (and {} more)", gaps.len() - 1))),
    }
}
