//! SQL types of our own: one decision per type on how each database stores it.

use diesel::deserialize;
use diesel::sql_types::{self, HasSqlType};

use super::connection::MultiBackend;

/// `uuid` | 16 bytes.
#[derive(Debug, Clone, Copy, Default, diesel::SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951), sqlite_type(name = "Binary"))]
pub struct Id;

/// `numeric(19,2)` | integer of hundredths.
#[derive(Debug, Clone, Copy, Default, diesel::SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 1700, array_oid = 1231), sqlite_type(name = "Long"))]
pub struct Amount;

/// `numeric(9,4)` | integer of ten-thousandths.
#[derive(Debug, Clone, Copy, Default, diesel::SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 1700, array_oid = 1231), sqlite_type(name = "Long"))]
pub struct Percentage;

/// `numeric(13,3)` | integer of thousandths.
#[derive(Debug, Clone, Copy, Default, diesel::SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 1700, array_oid = 1231), sqlite_type(name = "Long"))]
pub struct Measure;

/// `numeric(15,6)` | integer of millionths.
#[derive(Debug, Clone, Copy, Default, diesel::SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 1700, array_oid = 1231), sqlite_type(name = "Long"))]
pub struct Exchange;

/// `timestamptz` | text of fixed width, so that it sorts.
#[derive(Debug, Clone, Copy, Default, diesel::SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 1184, array_oid = 1185), sqlite_type(name = "Text"))]
pub struct Moment;

impl sql_types::SqlOrd for Amount {}
impl sql_types::SqlOrd for Moment {}
impl sql_types::Foldable for Amount {
    type Sum = sql_types::Nullable<Self>;
    type Avg = sql_types::Nullable<Self>; // never call avg(): it is a float on SQLite
}
impl sql_types::ops::Sub for Amount {
    type Rhs = Self;
    type Output = Self;
}

/// How a value is stored: as one plain type on each backend.
pub trait Stored: Sized {
    /// What the `PostgreSQL` driver reads and writes.
    type Postgres;
    /// What the `SQLite` driver reads and writes.
    type Sqlite;
    /// For `PostgreSQL`.
    fn to_postgres(&self) -> Self::Postgres;
    /// From `PostgreSQL`.
    fn from_postgres(value: Self::Postgres) -> deserialize::Result<Self>;
    /// For `SQLite`.
    fn to_sqlite(&self) -> Self::Sqlite;
    /// From `SQLite`.
    fn from_sqlite(value: Self::Sqlite) -> deserialize::Result<Self>;
}

/// Teaches Diesel a [`Stored`] type: both drivers, and the connection that is either.
macro_rules! stored {
    ($rust:ty: $sql:ty = postgres $pg:ty, sqlite $lite:ty) => {
        impl diesel::serialize::ToSql<$sql, diesel::pg::Pg> for $rust {
            fn to_sql<'b>(
                &'b self,
                out: &mut diesel::serialize::Output<'b, '_, diesel::pg::Pg>,
            ) -> diesel::serialize::Result {
                diesel::serialize::ToSql::<$pg, diesel::pg::Pg>::to_sql(
                    &Stored::to_postgres(self),
                    &mut out.reborrow(),
                )
            }
        }
        impl diesel::deserialize::FromSql<$sql, diesel::pg::Pg> for $rust {
            fn from_sql(value: diesel::pg::PgValue<'_>) -> diesel::deserialize::Result<Self> {
                Self::from_postgres(diesel::deserialize::FromSql::<$pg, diesel::pg::Pg>::from_sql(
                    value,
                )?)
            }
        }
        impl diesel::serialize::ToSql<$sql, diesel::sqlite::Sqlite> for $rust {
            fn to_sql<'b>(
                &'b self,
                out: &mut diesel::serialize::Output<'b, '_, diesel::sqlite::Sqlite>,
            ) -> diesel::serialize::Result {
                out.set_value(Stored::to_sqlite(self));
                Ok(diesel::serialize::IsNull::No)
            }
        }
        impl diesel::deserialize::FromSql<$sql, diesel::sqlite::Sqlite> for $rust {
            fn from_sql(
                value: diesel::sqlite::SqliteValue<'_, '_, '_>,
            ) -> diesel::deserialize::Result<Self> {
                Self::from_sqlite(
                    diesel::deserialize::FromSql::<$lite, diesel::sqlite::Sqlite>::from_sql(value)?,
                )
            }
        }
        impl diesel::serialize::ToSql<$sql, $crate::db::connection::MultiBackend> for $rust {
            fn to_sql<'b>(
                &'b self,
                out: &mut diesel::serialize::Output<'b, '_, $crate::db::connection::MultiBackend>,
            ) -> diesel::serialize::Result {
                out.set_value((<$sql>::default(), self));
                Ok(diesel::serialize::IsNull::No)
            }
        }
        impl diesel::deserialize::FromSql<$sql, $crate::db::connection::MultiBackend> for $rust {
            fn from_sql(
                value: $crate::db::connection::MultiRawValue<'_>,
            ) -> diesel::deserialize::Result<Self> {
                value.from_sql::<Self, $sql>()
            }
        }
    };
}
pub(crate) use stored;

/// Makes a SQL type that both backends know known to the connection that is either.
macro_rules! known {
    ($($sql:ty),+) => {$(
        impl HasSqlType<$sql> for MultiBackend {
            fn metadata(lookup: &mut Self::MetadataLookup) -> Self::TypeMetadata {
                Self::lookup_sql_type::<$sql>(lookup)
            }
        }
    )+};
}
known!(Id, Amount, Percentage, Measure, Moment);
