//! The bare rows of a table, for figures that are computed a second time.

use serde_json::Value;

use super::{Client, World};

/// A column, by how it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    /// An id, as answers write it; empty for none.
    Id(&'static str),
    /// Text, a number or a day; empty for none.
    Text(&'static str),
    /// `1` or `0`.
    Bool(&'static str),
}

impl World {
    /// The columns of all rows of a firm's table.
    pub(crate) fn bare(&self, firm: &str, table: &str, columns: &[Column]) -> Vec<Vec<String>> {
        let column = |column: &Column| match column {
            Column::Id(name) if self.database.is_postgres() => {
                format!("coalesce({name}::text, '')")
            }
            Column::Id(name) => format!("coalesce(lower(hex({name})), '')"),
            Column::Text(name) => format!("coalesce(CAST({name} AS TEXT), '')"),
            Column::Bool(name) => format!("CASE WHEN {name} THEN '1' ELSE '0' END"),
        };
        let selected: Vec<_> = columns.iter().map(column).collect();
        let rows = self.query(&format!(
            "SELECT {} FROM {table} WHERE tenant_id = (SELECT id FROM tenants WHERE slug = '{firm}')",
            selected.join(" || '|' || ")
        ));
        let read = |(column, cell): (&Column, &String)| match (column, cell.as_str()) {
            (Column::Id(_), id) if !id.is_empty() => id.parse::<uuid::Uuid>().unwrap().to_string(),
            (_, text) => text.to_owned(),
        };
        rows.iter()
            .map(|row| {
                assert_eq!(row.len(), columns.len(), "{table}: {row:?}");
                columns.iter().zip(row).map(read).collect()
            })
            .collect()
    }

    /// The mandates that a person of the first firm is listed for.
    pub(crate) fn listed_mandates(&self, email: &str) -> Vec<String> {
        let users = self.bare("leman", "reach", &[Column::Id("user_id"), Column::Id("mandate_id")]);
        let id = self.user_id(email);
        users.into_iter().filter(|row| row[0] == id).map(|row| row[1].clone()).collect()
    }

    /// The id of the person with this e-mail address.
    pub(crate) fn user_id(&self, email: &str) -> String {
        let id = if self.database.is_postgres() { "id::text" } else { "hex(id)" };
        let found = self.query(&format!("SELECT {id} FROM users WHERE email = '{email}'"));
        found[0][0].parse::<uuid::Uuid>().unwrap().to_string()
    }
}

/// `1234.50` of PostgreSQL or `123450` of SQLite, in hundredths.
pub(crate) fn stored(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap()
}

/// A number of an answer, in hundredths.
pub(crate) fn cents(value: &Value) -> i64 {
    let amount = value.as_f64().unwrap_or_else(|| panic!("{value} is no amount"));
    #[expect(clippy::cast_possible_truncation, reason = "amounts of the demo are small")]
    let cents = (amount * 100.0).round() as i64;
    cents
}

impl Client {
    /// The rows of every page of `size`, and the first page; what covers the whole set is the same on each.
    pub(crate) fn every_page(
        &self,
        tool: &str,
        mut arguments: Value,
        size: i64,
    ) -> (Vec<Value>, Value) {
        arguments["limit"] = size.into();
        let (mut rows, mut first) = (vec![], Value::Null);
        loop {
            let page = self.ask(tool, arguments.clone());
            rows.extend(page["items"].as_array().unwrap().iter().cloned());
            if first.is_null() {
                first = page.clone();
            }
            assert_eq!((&page["total"], &page["totals"]), (&first["total"], &first["totals"]));
            match page.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
        assert_eq!(first["total"], rows.len(), "{tool}");
        (rows, first)
    }
}

/// The text of a field of each row.
pub(crate) fn texts(rows: &[Value], field: &str) -> Vec<String> {
    rows.iter().map(|row| row[field].as_str().unwrap_or_default().to_owned()).collect()
}
