//! Many rows in one statement.

/// Rows in one statement: few enough for the 32,766 variables that `SQLite` allows.
pub(crate) const ROWS: usize = 500;

/// Inserts rows, many at a time; the same code is compiled for each database.
macro_rules! insert_all {
    ($connection:expr, $table:expr, $rows:expr) => {
        for chunk in $rows.chunks($crate::db::insert::ROWS) {
            match &mut *$connection {
                $crate::db::connection::AnyConnection::Sqlite(sqlite) => {
                    diesel::insert_into($table).values(chunk).execute(sqlite)?
                }
                $crate::db::connection::AnyConnection::Postgres(postgres) => {
                    diesel::insert_into($table).values(chunk).execute(postgres)?
                }
            };
        }
    };
}
pub(crate) use insert_all;
