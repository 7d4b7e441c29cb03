//! Identifiers of persons: masked by their type, shown only for a stated purpose.

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql};
use diesel::sql_types::Text;

use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::error::{Error, Result};
use crate::ids::EmployeeId;
use crate::text::{fold, masked};

/// Proof that the caller may see identifiers and has said what for. Only [`Purpose::stated`] makes one.
#[derive(Debug)]
pub(super) struct Purpose(());

impl Purpose {
    /// Reads the arguments `include_sensitive` and `purpose`; the purpose is written to the log.
    ///
    /// # Errors
    /// The permission `payroll.read_sensitive` is missing, or the purpose.
    pub(super) fn stated(
        scope: &Read<'_>,
        include: Option<bool>,
        purpose: Option<&str>,
        employee: EmployeeId,
    ) -> Result<Option<Self>> {
        if !include.unwrap_or_default() {
            return Ok(None);
        }
        if !scope.caller().may(Permission::PayrollReadSensitive) {
            let said =
                "include_sensitive needs the permission payroll.read_sensitive; leave it out";
            return Err(Error::argument("include_sensitive", said));
        }
        let purpose = fold(purpose.unwrap_or_default());
        if !(10..=200).contains(&purpose.chars().count()) {
            let said = "include_sensitive needs a purpose of 10 to 200 characters";
            return Err(Error::argument("purpose", said));
        }
        log::info!(
            target: "guichet::sensitive",
            firm = scope.caller().firm_slug(),
            person = scope.user().to_string().as_str(),
            employee = employee.to_string().as_str(),
            purpose = purpose.as_str();
            "identifiers were shown"
        );
        Ok(Some(Self(())))
    }
}

/// An AVS number or an IBAN: written masked unless a purpose was stated.
#[derive(Debug, diesel::FromSqlRow)]
pub(super) struct Identifier(String);

impl Identifier {
    /// The identifier, masked between its first and last characters without a purpose.
    pub(super) fn shown(&self, purpose: Option<&Purpose>, first: usize, last: usize) -> String {
        match purpose {
            Some(_) => self.0.clone(),
            None => masked(&self.0, first, last),
        }
    }
}

impl<DB: Backend> FromSql<Text, DB> for Identifier
where
    String: FromSql<Text, DB>,
{
    fn from_sql(bytes: DB::RawValue<'_>) -> deserialize::Result<Self> {
        String::from_sql(bytes).map(Self)
    }
}

/// A birth date, masked but for the year without a purpose.
pub(super) fn birth_date(day: Day, purpose: Option<&Purpose>) -> String {
    let day = day.to_string();
    if purpose.is_some() { day } else { format!("{}-**-**", day.get(..4).unwrap_or_default()) }
}
