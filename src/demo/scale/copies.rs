//! Statements that copy records: within a firm under ids and numbers of their own, or a whole firm.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use uuid::Uuid;

use super::Step;
use super::catalogue::{Catalogue, Column, Dialect, Table};
use crate::demo::ids::{self, Kind};

/// What grows of itself; whatever refers to it grows with it.
const ROOTS: [&str; 2] = ["clients", "commits"];
/// What a firm has once, though it may refer to a client.
const FIXED: [&str; 3] = ["firms", "memberships", "api_tokens"];
/// What stays as it is written, with all that refers to it: payroll, and books, which a ledger of its own makes long.
const APART: [&str; 3] = ["employees", "payslips", "ledgers"];
/// Ids without a foreign key that stay: they name a person.
const PEOPLE: [&str; 1] = ["responsible_id"];

/// The tables whose rows are copied within a firm.
fn growing(catalogue: &Catalogue) -> BTreeSet<&str> {
    let (mut growing, mut apart): (BTreeSet<&str>, BTreeSet<&str>) = (ROOTS.into(), APART.into());
    for table in &catalogue.tables {
        let name = table.name.as_str();
        let parents = || table.columns.iter().flat_map(|column| &column.refers_to);
        if apart.contains(name) || parents().any(|parent| apart.contains(parent.as_str())) {
            apart.insert(name);
        } else if !FIXED.contains(&name)
            && parents().any(|parent| growing.contains(parent.as_str()))
        {
            growing.insert(name);
        }
    }
    growing
}

/// A firm whose records are copied within it.
pub(super) struct Grown<'a> {
    catalogue: &'a Catalogue,
    growing: BTreeSet<&'a str>,
    firm: u16,
    tenant: String,
    /// How many postings the firm has had.
    commits: i64,
}

impl<'a> Grown<'a> {
    /// The firm, with its first so many postings.
    pub(super) fn new(catalogue: &'a Catalogue, firm: u16, commits: i64) -> Self {
        let tenant = catalogue.dialect.id(ids::id(firm, Kind::Tenant, 1));
        Self { catalogue, growing: growing(catalogue), firm, tenant, commits }
    }

    /// Copies what was written of the firm, once for each number.
    pub(super) fn copy(&self, numbers: &RangeInclusive<u32>) -> Vec<Step> {
        let copied = self.catalogue.tables.iter().filter(|table| self.is_growing(&table.name));
        copied.map(|table| self.copy_of(table, numbers)).collect()
    }

    fn copy_of(&self, table: &Table, numbers: &RangeInclusive<u32>) -> Step {
        let (from, to) = (numbers.start(), numbers.end());
        let values: Vec<_> = table.columns.iter().map(|column| self.value(table, column)).collect();
        let sql = format!(
            "WITH RECURSIVE s(c) AS (SELECT {from} UNION ALL SELECT c + 1 FROM s WHERE c < {to})
             INSERT INTO {name} ({columns}) SELECT {values} FROM s CROSS JOIN {name} AS o WHERE o.tenant_id = {tenant} AND {written}",
            name = table.name,
            columns = names(table),
            values = values.join(", "),
            tenant = self.tenant,
            written = self.is_written(table),
        );
        Step::fill(&table.name, &format!("firm {}", self.firm + 1), sql)
    }

    fn is_growing(&self, table: &str) -> bool {
        self.growing.contains(table)
    }

    /// Whether an id is another one in a copy.
    fn is_renewed(&self, column: &Column) -> bool {
        let name = column.name.as_str();
        let mut parents = column.refers_to.iter();
        column.is_id
            && name != "tenant_id"
            && !PEOPLE.contains(&name)
            && (column.refers_to.is_empty() || parents.any(|parent| self.is_growing(parent)))
    }

    /// The condition that a row is no copy itself.
    fn is_written(&self, table: &Table) -> String {
        let renewed = table.columns.iter().find(|column| self.is_renewed(column));
        match renewed {
            Some(column) => self.catalogue.dialect.is_written(&format!("o.{}", column.name)),
            None => format!("o.number <= {}", self.commits),
        }
    }

    fn value(&self, table: &Table, column: &Column) -> String {
        let name = column.name.as_str();
        let mut parents = column.refers_to.iter();
        match (table.name.as_str(), name) {
            ("commits", "number") => format!("o.number + s.c * {}", self.commits),
            ("commits", "committed_at") => {
                format!("(SELECT max(committed_at) FROM commits WHERE tenant_id = {})", self.tenant)
            }
            ("clients", "name" | "sort_name") => format!("o.{name} || ' ' || s.c"),
            (_, "search_text") => self.search_text(table),
            _ if self.is_renewed(column) => self.catalogue.dialect.renewed(&format!("o.{name}")),
            _ if !column.is_id && parents.any(|parent| parent == "commits") => {
                format!("o.{name} + s.c * {}", self.commits)
            }
            _ if self.is_marked(table, column) => format!("o.{name} || '-' || s.c"),
            _ => format!("o.{name}"),
        }
    }

    /// Whether a text must be another one in a copy, since a key has nothing else that is.
    fn is_marked(&self, table: &Table, column: &Column) -> bool {
        let renewed: BTreeSet<&str> =
            table.columns.iter().filter(|c| self.is_renewed(c)).map(|c| c.name.as_str()).collect();
        let mut keys = table.keys.iter().filter(|key| key.contains(&column.name));
        column.is_text && keys.any(|key| !key.iter().any(|name| renewed.contains(name.as_str())))
    }

    /// The words of a copy: its own number, and which copy it is.
    fn search_text(&self, table: &Table) -> String {
        let number = table.columns.iter().find(|column| column.name == "number");
        match number.filter(|column| self.is_marked(table, column)) {
            None => "o.search_text || ' ' || s.c".to_owned(),
            Some(_) => "replace(o.search_text, coalesce(lower(o.number), '~'), coalesce(lower(o.number) || '-' || s.c, '~')) || ' ' || s.c".to_owned(),
        }
    }
}

fn names(table: &Table) -> String {
    table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Makes the first firm once more, as another.
pub(super) fn of_firm(catalogue: &Catalogue, firm: u32) -> Vec<Step> {
    let dialect = catalogue.dialect;
    let first = dialect.id(ids::id(0, Kind::Tenant, 1));
    let moved = |column: &str| dialect.moved(column, firm);
    let people = format!(
        "INSERT INTO tenants SELECT {}, slug || '-{firm}', is_active, created_at FROM tenants WHERE id = {first};
         INSERT INTO users SELECT {}, 'f{firm}.' || email, full_name, password_hash, token_version, is_active, created_at
         FROM users WHERE id IN (SELECT user_id FROM memberships WHERE tenant_id = {first})",
        moved("id"),
        moved("id"),
    );
    let mut steps =
        vec![Step { about: format!("people of firm {}", firm + 1), fills: None, sql: people }];
    for table in catalogue.tables.iter().filter(|table| table.name != "api_tokens") {
        let value = |column: &Column| match (table.name.as_str(), column.name.as_str()) {
            ("firms", "name") => format!("name || ' {firm}'"),
            (_, name) if column.is_id => moved(name),
            (_, name) => name.to_owned(),
        };
        let values: Vec<_> = table.columns.iter().map(value).collect();
        let sql = format!(
            "INSERT INTO {0} ({1}) SELECT {2} FROM {0} WHERE tenant_id = {first}",
            table.name,
            names(table),
            values.join(", ")
        );
        steps.push(Step {
            about: format!("{} of firm {}", table.name, firm + 1),
            fills: None,
            sql,
        });
    }
    steps
}

/// Ids have the form `018cc251-f400-7kkk-8ccc-nnnnnnnnffff`: kind, copy, number and firm.
impl Dialect {
    /// An id as it is written in SQL.
    pub(super) fn id(self, id: Uuid) -> String {
        match self {
            Self::Postgres => format!("'{id}'::uuid"),
            Self::Sqlite => format!("x'{}'", id.simple()),
        }
    }

    /// The id of the copy `s.c`.
    fn renewed(self, id: &str) -> String {
        match self {
            Self::Postgres => {
                format!("overlay({id}::text placing to_hex(32768 + s.c) from 20 for 4)::uuid")
            }
            Self::Sqlite => format!(
                "iif({id} IS NULL, NULL, unhex(substr(hex({id}), 1, 16) || printf('%04x', 32768 + s.c) || substr(hex({id}), 21)))"
            ),
        }
    }

    /// Whether an id is that of no copy.
    fn is_written(self, id: &str) -> String {
        match self {
            Self::Postgres => format!("substr({id}::text, 20, 4) = '8000'"),
            Self::Sqlite => format!("substr({id}, 9, 2) = x'8000'"),
        }
    }

    /// The id of the same thing in another firm.
    fn moved(self, id: &str, firm: u32) -> String {
        match self {
            Self::Postgres => {
                format!("overlay({id}::text placing '{firm:04x}' from 33 for 4)::uuid")
            }
            Self::Sqlite => {
                format!("iif({id} IS NULL, NULL, unhex(substr(hex({id}), 1, 28) || '{firm:04x}'))")
            }
        }
    }

    /// The id of the first firm's thing of a kind, numbered by an expression.
    pub(super) fn made(self, kind: u16, number: &str) -> String {
        match self {
            Self::Postgres => format!(
                "('018cc251-f400-7{kind:03x}-8000-' || lpad(to_hex({number}), 8, '0') || '0000')::uuid"
            ),
            Self::Sqlite => format!(
                "unhex('018cc251f4007{kind:03x}8000' || printf('%08x', {number}) || '0000')"
            ),
        }
    }

    /// The day so many days after the beginning of 2024.
    pub(super) fn day(self, days: &str) -> String {
        match self {
            Self::Postgres => format!("(date '2024-01-01' + ({days})::int)"),
            Self::Sqlite => format!("date('2024-01-01', ({days}) || ' days')"),
        }
    }

    /// The first day of the month of a day.
    pub(super) fn month(self, day: &str) -> String {
        match self {
            Self::Postgres => format!("date_trunc('month', {day})::date"),
            Self::Sqlite => format!("(substr({day}, 1, 8) || '01')"),
        }
    }

    /// An amount of so many hundredths.
    pub(super) fn money(self, hundredths: &str) -> String {
        match self {
            Self::Postgres => format!("(({hundredths})::numeric / 100)"),
            Self::Sqlite => format!("({hundredths})"),
        }
    }
}
