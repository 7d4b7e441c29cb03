//! Finding rows by words of their text, at the price of what is found and not of what a firm has.
//!
//! Every table with a `search_text` has the grams of its rows (three characters in a row) in an index, derived from the
//! catalogue after every migration. On `PostgreSQL` row security keeps the planner from an index whose operator may leak,
//! so the serving role looks grams up through a door: a view of the owner, `{table}_search`, that knows the firm of the
//! transaction and shows ids, places and hashes of that firm's rows alone. On `SQLite` triggers keep one full-text index, whose
//! numbers lead to a row only through the wall. What is found is looked up in the reached rows, and compared letter by letter.

use diesel::backend::Backend;
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::expression::{
    AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate,
};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{Bool, HasSqlType, Text};
use diesel::sqlite::Sqlite;

use super::connection::{AnyConnection, MultiBackend, sought_utils};
use crate::error::{Error, Result};

/// A table whose rows are found by words of their `search_text`.
pub trait Searched {
    /// Its name.
    const NAME: &'static str;
}

/// Declares that tables have a `search_text`.
macro_rules! searched {
    ($($table:ident),+ $(,)?) => {
        $(impl $crate::db::Searched for $table::table {
            const NAME: &'static str = stringify!($table);
        })+
    };
}
pub(super) use searched;

/// Characters in a gram.
const GRAM: usize = 3;

/// Whether a column contains every word, literally and in any order: a `search_text`, or a folded column whose words are all
/// in it. `LIKE` would have wildcards to escape, and `SQLite` prepares a bound pattern anew at each run.
#[derive(Debug, Clone)]
pub struct ContainsAll<C>(pub(crate) C, pub(crate) Vec<String>);

impl<C> Expression for ContainsAll<C> {
    type SqlType = Bool;
}
impl<C: AppearsOnTable<QS>, QS> AppearsOnTable<QS> for ContainsAll<C> {}
impl<C: SelectableExpression<QS>, QS> SelectableExpression<QS> for ContainsAll<C> {}
impl<C> ValidGrouping<()> for ContainsAll<C> {
    type IsAggregate = is_aggregate::No;
}
impl<C> QueryId for ContainsAll<C> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}
impl<C> QueryFragment<MultiBackend> for ContainsAll<C>
where
    Self: QueryFragment<Pg> + QueryFragment<Sqlite>,
{
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        MultiBackend::walk_variant_ast(self, out)
    }
}

/// The look-up stands in subqueries that the planner does not look into: one plan serves every word. It finds the places of
/// rows in their table, which hold within a statement: a row is fetched without a search for its key.
impl<C: QueryFragment<Pg> + Column<Table: Searched>> QueryFragment<Pg> for ContainsAll<C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let table = <C::Table as Searched>::NAME;
        look_up_in_postgres(table, (table, "ctid", "place"), &self.1, out.reborrow())?;
        compare(&self.0, &self.1, "strpos", out)
    }
}

/// Writes that what tells the rows of an alias apart is among what the door answers; a place is there in a table only.
fn look_up_in_postgres<'b>(
    table: &str,
    (alias, column, answer): (&str, &str, &str),
    words: &'b [String],
    mut out: AstPass<'_, 'b, Pg>,
) -> QueryResult<()> {
    out.push_sql("TRUE");
    if !is_looked_up(words) {
        return Ok(());
    }
    out.push_sql(&format!(
        " AND {alias}.{column} = ANY(ARRAY(SELECT s.{answer} FROM {table}_search s WHERE TRUE"
    ));
    for word in words.iter().filter(|word| has_grams(word)) {
        out.push_sql(" AND s.grams @> (SELECT sought(");
        out.push_bind_param::<Text, _>(word)?;
        out.push_sql("))");
    }
    out.push_sql("))");
    Ok(())
}

impl<C: QueryFragment<Sqlite> + Column<Table: Searched>> QueryFragment<Sqlite> for ContainsAll<C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        let table = <C::Table as Searched>::NAME;
        look_up_in_sqlite(table, table, &self.1, out.reborrow())?;
        compare(&self.0, &self.1, "instr", out)
    }
}

fn look_up_in_sqlite<'b>(
    table: &str,
    alias: &str,
    words: &'b [String],
    mut out: AstPass<'_, 'b, Sqlite>,
) -> QueryResult<()> {
    out.push_sql("TRUE");
    if !is_looked_up(words) {
        return Ok(());
    }
    out.push_sql(&format!(
        " AND {alias}.id IN (SELECT r.id FROM search_index i CROSS JOIN search_rows r WHERE search_index MATCH ''"
    ));
    for word in words.iter().filter(|word| has_grams(word)) {
        out.push_sql(" || sought(");
        out.push_bind_param::<Text, _>(word)?;
        out.push_sql(")");
    }
    let slot =
        format!("FROM search_slots WHERE tenant_id = current_tenant() AND kind = '{table}')");
    out.push_sql(&format!(
        " AND i.rowid BETWEEN (SELECT slot << 32 {slot} AND (SELECT (slot + 1 << 32) - 1 {slot} \
         AND r.tenant_id = current_tenant() AND r.kind = '{table}' AND r.number = i.rowid)"
    ));
    Ok(())
}

/// The same in a query that is written by hand, where the rows of the table go by an alias.
#[derive(Debug, Clone)]
pub struct Contains {
    table: &'static str,
    column: SearchText,
    words: Vec<String>,
}

impl Contains {
    /// The words that the rows of `table`, which go by `alias`, must contain.
    #[must_use]
    pub fn all<T: Searched>(_: T, alias: &'static str, words: Vec<String>) -> Self {
        Self { table: T::NAME, column: SearchText(alias), words }
    }
}

/// The `search_text` of the rows that go by an alias.
#[derive(Debug, Clone, Copy)]
struct SearchText(&'static str);

impl<DB: Backend> QueryFragment<DB> for SearchText {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(self.0);
        out.push_sql(".search_text");
        Ok(())
    }
}
impl QueryFragment<MultiBackend> for Contains {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        MultiBackend::walk_variant_ast(self, out)
    }
}
impl QueryFragment<Pg> for Contains {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        look_up_in_postgres(self.table, (self.column.0, "id", "id"), &self.words, out.reborrow())?;
        compare(&self.column, &self.words, "strpos", out)
    }
}
impl QueryFragment<Sqlite> for Contains {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        look_up_in_sqlite(self.table, self.column.0, &self.words, out.reborrow())?;
        compare(&self.column, &self.words, "instr", out)
    }
}

/// The function that finds one text in another.
pub(super) struct Position;
impl QueryFragment<Pg> for Position {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("strpos");
        Ok(())
    }
}
impl QueryFragment<Sqlite> for Position {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("instr");
        Ok(())
    }
}

/// Writes that `column` contains each word, as `position` finds one text in another.
fn compare<'b, DB: Backend + HasSqlType<Text>>(
    column: &'b impl QueryFragment<DB>,
    words: &'b [String],
    position: &str,
    mut out: AstPass<'_, 'b, DB>,
) -> QueryResult<()>
where
    String: ToSql<Text, DB>,
{
    for word in words {
        out.push_sql(&format!(" AND {position}("));
        column.walk_ast(out.reborrow())?;
        out.push_sql(", ");
        out.push_bind_param::<Text, _>(word)?;
        out.push_sql(") > 0");
    }
    Ok(())
}

/// Whether words are looked up, and not only compared with every row.
pub(crate) fn is_looked_up(words: &[String]) -> bool {
    words.iter().any(|word| has_grams(word))
}

/// Whether a word is long enough to be looked up; what is shorter is only compared.
fn has_grams(word: &str) -> bool {
    word.chars().nth(GRAM - 1).is_some()
}

/// What the full-text index of `SQLite` is asked for a word: grams that cover it.
fn full_text_query(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let mut grams: Vec<&[char]> = letters.chunks_exact(GRAM).collect();
    grams.extend(letters.last_chunk::<GRAM>().map(|last| &last[..]));
    let quoted =
        |gram: &&[char]| format!("\"{}\" ", gram.iter().collect::<String>().replace('"', "\"\""));
    grams.iter().map(quoted).collect()
}

/// Teaches a connection the function that [`ContainsAll`] asks with.
pub(super) fn teach_sqlite(sqlite: &mut SqliteConnection) -> QueryResult<()> {
    sought_utils::register_impl(sqlite, |word: String| full_text_query(&word))
}

/// Gives every table with a `search_text` what its search needs. Run by the owner after every migration; running it again
/// changes nothing.
pub(crate) fn build(owner: &mut AnyConnection) -> Result<()> {
    match owner {
        AnyConnection::Postgres(postgres) => build_postgres(postgres),
        AnyConnection::Sqlite(sqlite) => Ok(build_sqlite(sqlite)?),
    }
}

/// An index of grams and a door to it for every table with a `search_text`.
pub(super) fn build_postgres(owner: &mut PgConnection) -> Result<()> {
    Ok(owner.batch_execute(DOORS)?)
}

/// The tables that are searched, on `PostgreSQL`: `t`.
macro_rules! searched_in_postgres {
    () => {
        "SELECT c.table_name::text AS t FROM information_schema.columns c \
         JOIN information_schema.tables USING (table_schema, table_name) \
         WHERE c.table_schema = current_schema() AND c.column_name = 'search_text' AND table_type = 'BASE TABLE'"
    };
}

/// `IS TRUE` keeps the firm's condition from the indices: the hashes know the firm, and its rows would be many. Without a
/// pending list a search costs the same after any number of postings.
const DOORS: &str = concat!(
    "DO $$ DECLARE t text; door text; BEGIN FOR t IN ",
    searched_in_postgres!(),
    r#" LOOP
        EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I USING gin (grams(tenant_id, search_text)) WITH (fastupdate = off)', t || '_grams', t);
        door := format('VIEW %I AS SELECT tenant_id, id, ctid AS place, grams(tenant_id, search_text) AS grams FROM %I
                        WHERE (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid) IS TRUE', t || '_search', t);
        BEGIN
            EXECUTE 'CREATE OR REPLACE ' || door;
        EXCEPTION WHEN invalid_table_definition THEN
            EXECUTE format('DROP VIEW %I', t || '_search');
            EXECUTE 'CREATE ' || door;
        END;
    END LOOP; END $$"#
);

/// What is wrong with the doors as the serving role finds them: one sentence per gap. A view reads with the rights of its
/// owner, so that one which is not known may show anything.
const GAPS: &str = concat!(
    "gap FROM (
    SELECT 'table ' || t || ' has no door for its search; run `guichet migrate`' AS gap FROM (",
    searched_in_postgres!(),
    ") AS searched WHERE to_regclass(quote_ident(t || '_search')) IS NULL
    UNION ALL
    SELECT 'view ' || c.relname || ' is open to ' || current_user || ' and no door that is known'
      FROM pg_class c WHERE c.relkind IN ('v', 'm') AND c.relnamespace = current_schema()::regnamespace
       AND has_table_privilege(c.oid, 'SELECT') AND c.relname NOT IN ('identities', 'credentials', 'sign_ins')
       AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
       AND c.relname NOT IN (SELECT t || '_search' FROM (",
    searched_in_postgres!(),
    ") AS searched)
    UNION ALL
    SELECT 'the door ' || t || '_search shows more than the grams of its firm; run `guichet migrate`'
      FROM (",
    searched_in_postgres!(),
    ") AS searched JOIN pg_class c ON c.relname = t || '_search' AND c.relnamespace = current_schema()::regnamespace
     WHERE c.relkind <> 'v' OR replace(regexp_replace(pg_get_viewdef(c.oid), '\\s+', ' ', 'g'), t || '.', '') <>
           ' SELECT tenant_id, id, ctid AS place, grams(tenant_id, search_text) AS grams FROM ' || t ||
           ' WHERE ((tenant_id = (NULLIF(current_setting(''app.tenant_id''::text, true), ''''::text))::uuid) IS TRUE);'
) AS gaps"
);

/// Refuses to serve from a `PostgreSQL` whose views show more, or less, than they should.
pub(super) fn check_postgres(server: &mut PgConnection) -> Result<()> {
    no_gaps(&diesel::select(sql::<Text>(GAPS)).load(server)?)
}

fn no_gaps(gaps: &[String]) -> Result<()> {
    match gaps {
        [] => Ok(()),
        [only] => Err(Error::fault(only.clone())),
        [first, more @ ..] => Err(Error::fault(format!("{first} (and {} more)", more.len()))),
    }
}

/// The tables that are searched, on `SQLite`, and whether triggers keep their grams.
const SEARCHED_IN_SQLITE: &str = "m.name || ' ' || EXISTS (SELECT 1 FROM main.sqlite_master s WHERE s.type = 'trigger' AND s.name = m.name || '_search_add') \
     FROM main.sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND i.name = 'search_text'";

fn searched_in_sqlite(sqlite: &mut SqliteConnection) -> QueryResult<Vec<(String, bool)>> {
    let found: Vec<String> = diesel::select(sql::<Text>(SEARCHED_IN_SQLITE)).load(sqlite)?;
    let parts = found.iter().filter_map(|row| row.split_once(' '));
    Ok(parts.map(|(table, is_kept)| (table.to_owned(), is_kept == "1")).collect())
}

/// Gives every table with a `search_text` the triggers that keep its grams, and writes those of its rows if it had none.
pub(super) fn build_sqlite(owner: &mut SqliteConnection) -> QueryResult<()> {
    for (table, is_kept) in searched_in_sqlite(owner)? {
        owner.batch_execute(&TRIGGERS.replace("{table}", &table))?;
        if !is_kept {
            owner.batch_execute(&ROWS.replace("{table}", &table))?;
        }
    }
    Ok(())
}

/// Refuses an `SQLite` file with a table whose rows would not be found.
pub(super) fn check_sqlite(sqlite: &mut SqliteConnection) -> Result<()> {
    let tables = searched_in_sqlite(sqlite)?.into_iter().filter(|(_, is_kept)| !is_kept);
    let gap =
        |(table, _)| format!("table {table} has no index of its words; run `guichet migrate`");
    no_gaps(&tables.map(gap).collect::<Vec<_>>())
}

/// Numbers a row and writes its grams.
macro_rules! add {
    () => {
        "INSERT OR IGNORE INTO search_slots SELECT NEW.tenant_id, '{table}', coalesce(max(slot), 0) + 1 FROM search_slots;
         INSERT INTO search_rows SELECT s.tenant_id, s.kind, coalesce((SELECT max(r.number) + 1 FROM search_rows r
             WHERE r.tenant_id = s.tenant_id AND r.kind = s.kind), s.slot << 32), NEW.id
             FROM search_slots s WHERE s.tenant_id = NEW.tenant_id AND s.kind = '{table}';
         INSERT INTO search_index (rowid, said) SELECT number, NEW.search_text FROM search_rows
             WHERE tenant_id = NEW.tenant_id AND kind = '{table}' AND id = NEW.id;"
    };
}
/// Takes a row's grams and number away.
macro_rules! remove {
    () => {
        "DELETE FROM search_index WHERE rowid = (SELECT number FROM search_rows
             WHERE tenant_id = OLD.tenant_id AND kind = '{table}' AND id = OLD.id);
         DELETE FROM search_rows WHERE tenant_id = OLD.tenant_id AND kind = '{table}' AND id = OLD.id;"
    };
}

const TRIGGERS: &str = concat!(
    "DROP TRIGGER IF EXISTS {table}_search_add; CREATE TRIGGER {table}_search_add AFTER INSERT ON {table} BEGIN ",
    add!(),
    " END;
    DROP TRIGGER IF EXISTS {table}_search_renew;
    CREATE TRIGGER {table}_search_renew AFTER UPDATE OF tenant_id, id, search_text ON {table} BEGIN ",
    remove!(),
    add!(),
    " END;
    DROP TRIGGER IF EXISTS {table}_search_remove; CREATE TRIGGER {table}_search_remove AFTER DELETE ON {table} BEGIN ",
    remove!(),
    " END;"
);

const ROWS: &str = "INSERT INTO search_slots SELECT tenant_id, '{table}', (SELECT coalesce(max(slot), 0) FROM search_slots)
        + row_number() OVER (ORDER BY tenant_id) FROM (SELECT DISTINCT tenant_id FROM {table});
    INSERT INTO search_rows SELECT t.tenant_id, '{table}',
        (s.slot << 32) + row_number() OVER (PARTITION BY t.tenant_id ORDER BY t.id) - 1, t.id
        FROM {table} t JOIN search_slots s ON s.tenant_id = t.tenant_id AND s.kind = '{table}';
    INSERT INTO search_index (rowid, said) SELECT r.number, t.search_text
        FROM search_rows r JOIN {table} t ON t.tenant_id = r.tenant_id AND t.id = r.id WHERE r.kind = '{table}'";

#[cfg(test)]
mod tests {
    use super::full_text_query;

    #[test]
    fn grams_cover_a_word_and_are_quoted() {
        assert_eq!(full_text_query("pharma"), r#""pha" "rma" "rma" "#);
        assert_eq!(full_text_query(r#"a"b%"#), r#""a""b" """b%" "#);
        assert_eq!(full_text_query("zürich"), r#""zür" "ich" "ich" "#);
        assert_eq!(full_text_query("ab"), "");
    }
}
