//! One employee.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::employees::status;
use super::sensitive::{Identifier, Purpose, birth_date};
use super::{EmployeeStatus, Pay};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::{employees, employment_contracts};
use crate::error::Result;
use crate::ids::{EmployeeId, MandateId};
use crate::money::{Currency, Money, Quantity, Rate};
use crate::registry::ReadTool;
use crate::text::{Address, FreeText, Place};

/// Get one employee: contracts and pay settings, with AVS number, IBAN and birth date masked unless a purpose is given.
/// Find the id with list_employees; for what was paid, use list_payslips. (fiche employé, contrat, salaire /
/// Mitarbeiter, Arbeitsvertrag, Lohn)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetEmployee {
    /// The employee.
    employee_id: EmployeeId,
    /// AVS number, IBAN and birth date in full, with payroll.read_sensitive and a purpose; masked by default.
    include_sensitive: Option<bool>,
    /// What they are needed for, 10 to 200 characters, logged; none by default.
    purpose: Option<String>,
}

/// One employee.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EmployeePage {
    /// The employee.
    id: EmployeeId,
    /// The mandate whose payroll it is.
    mandate_id: MandateId,
    /// The employee's number.
    number: FreeText,
    /// The first name.
    first_name: FreeText,
    /// The last name.
    last_name: FreeText,
    /// The e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<FreeText>,
    /// The home address.
    address: Address,
    /// The birth date; only the year unless a purpose was given.
    birth_date: String,
    /// The AVS number (numéro AVS / AHV-Nummer); masked unless a purpose was given.
    avs_number: String,
    /// The account for the salary; masked unless a purpose was given.
    iban: String,
    /// Whether the person is employed today.
    status: EmployeeStatus,
    /// The first day of employment.
    hired_on: Day,
    /// The last day of employment.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_on: Option<Day>,
    /// The contracts, newest first.
    contracts: Vec<Contract>,
}

/// A contract of employment.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct Contract {
    /// Its first day.
    valid_from: Day,
    /// Its last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<Day>,
    /// The position.
    job_title: FreeText,
    /// How the salary is paid.
    pay: Pay,
    /// The salary: of a month or of an hour.
    salary: Money,
    /// The currency.
    currency: Currency,
    /// Monthly salaries in a year: 12 or 13.
    salaries_per_year: i32,
    /// The activity rate in per cent.
    activity_percent: Rate,
    /// The hours of a week.
    weekly_hours: Quantity,
    /// Whether tax is withheld from the salary.
    withholding_tax: bool,
}

#[derive(Debug, Queryable)]
struct Row {
    mandate_id: MandateId,
    number: FreeText,
    first_name: FreeText,
    last_name: FreeText,
    email: Option<FreeText>,
    place: Place,
    birth_date: Day,
    avs_number: Identifier,
    iban: Identifier,
    hired_on: Day,
    left_on: Option<Day>,
}

impl ReadTool for GetEmployee {
    const NAME: &'static str = "get_employee";
    const PERMISSION: Permission = Permission::PayrollRead;
    const WEIGHT: u32 = 2;
    type Output = EmployeePage;

    fn example() -> Self {
        let employee_id = crate::demo::ids::example_employee();
        Self { employee_id, include_sensitive: None, purpose: None }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<EmployeePage> {
        let purpose = Purpose::stated(
            scope,
            self.include_sensitive,
            self.purpose.as_deref(),
            self.employee_id,
        )?;
        let purpose = purpose.as_ref();
        let row = row(scope, self.employee_id)?;
        Ok(EmployeePage {
            id: self.employee_id,
            mandate_id: row.mandate_id,
            number: row.number,
            first_name: row.first_name,
            last_name: row.last_name,
            email: row.email,
            address: Address::from(row.place),
            birth_date: birth_date(row.birth_date, purpose),
            avs_number: row.avs_number.shown(purpose, 3, 2),
            iban: row.iban.shown(purpose, 4, 4),
            status: status(row.left_on, scope.today()),
            hired_on: row.hired_on,
            left_on: row.left_on,
            contracts: contracts(scope, self.employee_id)?,
        })
    }
}

fn row(scope: &mut Read<'_>, id: EmployeeId) -> Result<Row> {
    let place = (
        employees::street,
        employees::house_number,
        employees::postal_code,
        employees::town,
        employees::country,
    );
    let columns = (
        employees::mandate_id,
        employees::number,
        employees::first_name,
        employees::last_name,
        employees::email,
        place,
        employees::birth_date,
        employees::avs_number,
        employees::iban,
        employees::hired_on,
        employees::left_on,
    );
    let this = scope.rows(employees::table).filter(employees::id.eq(id));
    scope.one("employee", this.select(columns))
}

fn contracts(scope: &mut Read<'_>, id: EmployeeId) -> Result<Vec<Contract>> {
    let columns = (
        employment_contracts::valid_from,
        employment_contracts::valid_to,
        employment_contracts::job_title,
        employment_contracts::pay,
        employment_contracts::salary,
        employment_contracts::currency,
        employment_contracts::salaries_per_year,
        employment_contracts::activity_percent,
        employment_contracts::weekly_hours,
        employment_contracts::withholding_tax,
    );
    let all = scope.rows(employment_contracts::table);
    let all = all.filter(employment_contracts::employee_id.eq(id));
    let all = all.order(employment_contracts::valid_from.desc()).select(columns);
    scope.load(all.at_most(100))
}
