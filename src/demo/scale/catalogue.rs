//! Which tables there are, and how their columns refer to one another.

use std::collections::{BTreeMap, BTreeSet};

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::db::connection::AnyConnection;
use crate::error::Result;

/// Which SQL a statement is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `PostgreSQL`.
    Postgres,
    /// `SQLite`.
    Sqlite,
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) is_id: bool,
    pub(super) is_text: bool,
    /// The tables that it refers to.
    pub(super) refers_to: BTreeSet<String>,
}

/// A table of every firm's rows.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// The columns, other than the firm, of each key without doubles.
    pub(super) keys: Vec<BTreeSet<String>>,
}

/// The tables with a `tenant_id`, parents before their children.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub(super) dialect: Dialect,
    pub(super) tables: Vec<Table>,
}

/// Table, column, type.
const COLUMNS: (&str, &str) = (
    "table_name || ' ' || column_name || ' ' || udt_name FROM information_schema.columns
     WHERE table_schema = current_schema() AND is_generated = 'NEVER' AND (table_schema, table_name) IN (SELECT table_schema, table_name FROM information_schema.tables
         JOIN information_schema.columns USING (table_schema, table_name) WHERE table_type = 'BASE TABLE' AND column_name = 'tenant_id')
     ORDER BY table_name, ordinal_position",
    "m.name || ' ' || i.name || ' ' || i.type FROM sqlite_master m, pragma_table_info(m.name) i
     WHERE m.type = 'table' AND m.name NOT LIKE 'search%' AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) t WHERE t.name = 'tenant_id')
     ORDER BY m.name, i.cid",
);
/// Table, column, table referred to.
const REFERENCES: (&str, &str) = (
    "c.conrelid::regclass || ' ' || a.attname || ' ' || c.confrelid::regclass FROM pg_constraint c
     JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
     WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace",
    "m.name || ' ' || f.\"from\" || ' ' || f.\"table\" FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'",
);
/// Table, key, column.
const KEYS: (&str, &str) = (
    "x.indrelid::regclass || ' ' || x.indexrelid || ' ' || a.attname FROM pg_index x
     JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey)
     JOIN pg_class c ON c.oid = x.indrelid WHERE x.indisunique AND c.relnamespace = current_schema()::regnamespace",
    "m.name || ' ' || x.name || ' ' || i.name FROM sqlite_master m, pragma_index_list(m.name) x, pragma_index_info(x.name) i
     WHERE m.type = 'table' AND x.\"unique\"",
);

impl Catalogue {
    /// Reads the catalogue of a migrated database.
    pub(super) fn read(connection: &mut AnyConnection) -> Result<Self> {
        let dialect = match connection {
            AnyConnection::Postgres(_) => Dialect::Postgres,
            AnyConnection::Sqlite(_) => Dialect::Sqlite,
        };
        let mut triples = |(postgres, sqlite)| -> Result<Vec<[String; 3]>> {
            let query = if dialect == Dialect::Postgres { postgres } else { sqlite };
            let rows: Vec<String> = diesel::select(sql::<Text>(query)).load(connection)?;
            Ok(rows.iter().filter_map(|row| three(row)).collect())
        };
        let (columns, references, keys) = (triples(COLUMNS)?, triples(REFERENCES)?, triples(KEYS)?);
        let mut tables: BTreeMap<String, Table> = BTreeMap::new();
        for [table, name, kind] in columns {
            let is_ours = |[t, c, _]: &&[String; 3]| *t == table && *c == name;
            let refers_to = references.iter().filter(is_ours).map(|[.., to]| to.clone()).collect();
            let is_id =
                kind == "uuid" || kind == "BLOB" && (name.ends_with("id") || name.ends_with("_by"));
            let column =
                Column { name, is_id, is_text: kind.eq_ignore_ascii_case("text"), refers_to };
            let empty = || Table { name: table.clone(), columns: vec![], keys: vec![] };
            tables.entry(table.clone()).or_insert_with(empty).columns.push(column);
        }
        let mut grouped: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for [table, key, column] in keys {
            let columns = grouped.entry((table, key)).or_default();
            columns.extend((column != "tenant_id").then_some(column));
        }
        for ((table, _), columns) in grouped {
            if let Some(table) = tables.get_mut(&table) {
                table.keys.push(columns);
            }
        }
        Ok(Self { dialect, tables: in_order(tables) })
    }

    /// The names of the tables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|table| table.name.as_str())
    }
}

fn three(row: &str) -> Option<[String; 3]> {
    let mut words = row.split(' ').map(str::to_owned);
    Some([words.next()?, words.next()?, words.next()?])
}

/// Parents before their children.
fn in_order(mut left: BTreeMap<String, Table>) -> Vec<Table> {
    let mut ordered: Vec<Table> = vec![];
    loop {
        let is_free = |table: &Table| {
            let parents = table.columns.iter().flat_map(|column| &column.refers_to);
            parents.filter(|parent| **parent != table.name).all(|parent| !left.contains_key(parent))
        };
        let next = left.values().find(|table| is_free(table)).map(|table| table.name.clone());
        match next.and_then(|name| left.remove(&name)) {
            Some(table) => ordered.push(table),
            None => return ordered,
        }
    }
}
