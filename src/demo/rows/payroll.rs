//! Employees, their contracts and their payslips.

use diesel::prelude::*;

use super::super::check_digits;
use super::super::fixtures::{Employee, MASTER, nth};
use super::super::ids::Kind;
use super::super::payroll::{Batch, Slip, wage_type};
use super::super::plan::Plan;
use super::super::wages;
use super::{Writing, insert_all};
use crate::dates::Day;
use crate::db::connection::AnyConnection;
use crate::db::schema::{
    employees, employment_contracts, payslip_lines, payslips, tax_settings, wage_types,
    withholding_tariffs,
};
use crate::error::{Error, Result};
use crate::ids::{ContractId, EmployeeId, MandateId, PayslipId, PayslipLineId, TenantId};
use crate::money::{Currency, Money, Quantity, Rate};
use crate::payroll::compute::sum;
use crate::payroll::{Pay, PayslipLineKind, PayslipState, Wage};
use crate::text::{fold, searchable};

#[derive(Insertable)]
#[diesel(table_name = employees, treat_none_as_default_value = false)]
struct NewEmployee<'a> {
    tenant_id: TenantId,
    id: EmployeeId,
    mandate_id: MandateId,
    number: String,
    first_name: &'a str,
    last_name: &'a str,
    birth_date: Day,
    avs_number: String,
    iban: String,
    email: Option<String>,
    street: &'a str,
    house_number: String,
    postal_code: &'a str,
    town: &'a str,
    country: &'a str,
    hired_on: Day,
    left_on: Option<Day>,
    sort_name: String,
    search_text: String,
}

#[derive(Insertable)]
#[diesel(table_name = employment_contracts, treat_none_as_default_value = false)]
struct NewContract<'a> {
    tenant_id: TenantId,
    id: ContractId,
    employee_id: EmployeeId,
    valid_from: Day,
    valid_to: Option<Day>,
    job_title: &'a str,
    pay: Pay,
    salary: Money,
    currency: Currency,
    salaries_per_year: i32,
    activity_percent: Rate,
    weekly_hours: Quantity,
    withholding_tax: bool,
}

#[derive(Insertable)]
#[diesel(table_name = wage_types, treat_none_as_default_value = false)]
struct NewWageType<'a> {
    tenant_id: TenantId,
    code: &'a str,
    wage: Wage,
}

#[derive(Insertable)]
#[diesel(table_name = tax_settings, treat_none_as_default_value = false)]
struct NewTaxSetting<'a> {
    tenant_id: TenantId,
    employee_id: EmployeeId,
    valid_from: Day,
    canton: &'a str,
    tariff_code: &'a str,
}

#[derive(Insertable)]
#[diesel(table_name = withholding_tariffs, treat_none_as_default_value = false)]
struct NewBracket<'a> {
    tenant_id: TenantId,
    canton: &'a str,
    year: i32,
    version: i32,
    tariff_code: &'a str,
    income_from: Money,
    rate_percent: Rate,
}

#[derive(Insertable)]
#[diesel(table_name = payslips, treat_none_as_default_value = false)]
struct NewPayslip {
    tenant_id: TenantId,
    id: PayslipId,
    mandate_id: MandateId,
    employee_id: EmployeeId,
    year: i32,
    month: i32,
    state: PayslipState,
    currency: Currency,
    gross: Money,
    deductions: Money,
    allowances: Money,
    net: Money,
    employer_charges: Money,
    paid_on: Option<Day>,
    reverses_id: Option<PayslipId>,
    commit_number: Option<i64>,
}

#[derive(Insertable)]
#[diesel(table_name = payslip_lines, treat_none_as_default_value = false)]
struct NewLine<'a> {
    tenant_id: TenantId,
    id: PayslipLineId,
    payslip_id: PayslipId,
    position: i32,
    kind: PayslipLineKind,
    code: &'a str,
    label: &'a str,
    base: Option<Money>,
    rate_percent: Option<Rate>,
    amount: Money,
}

pub(super) fn write(
    connection: &mut AnyConnection,
    writing: Writing<'_>,
    plan: &Plan,
) -> Result<()> {
    write_rules(connection, writing)?;
    let (mut people, mut contracts) = (vec![], vec![]);
    for (n, employee) in (1..).zip(&MASTER.employees) {
        people.push(person(writing, n, employee)?);
        add_contracts(&mut contracts, writing, n, employee);
    }
    insert_all!(connection, employees::table, people);
    insert_all!(connection, employment_contracts::table, contracts);
    let taxed = (1..).zip(&MASTER.employees).filter_map(|(n, employee)| {
        let tax = employee.tax.as_ref()?;
        Some(NewTaxSetting {
            tenant_id: writing.tenant,
            employee_id: writing.id(Kind::Employee, n),
            valid_from: employee.hired_on,
            canton: &tax.canton,
            tariff_code: &tax.code,
        })
    });
    insert_all!(connection, tax_settings::table, taxed.collect::<Vec<_>>());
    let (mut slips, mut lines) = (vec![], vec![]);
    for batch in &plan.payroll {
        for slip in &batch.slips {
            slips.push(payslip(writing, batch, slip)?);
            add_lines(&mut lines, writing, slip)?;
        }
    }
    insert_all!(connection, payslips::table, slips);
    insert_all!(connection, payslip_lines::table, lines);
    for batch in plan.payroll.iter().filter(|batch| batch.is_final) {
        finish(connection, writing, batch)?;
    }
    Ok(())
}

/// What the codes of the firm's payslips mean, and the withholding tariffs that it has loaded.
fn write_rules(connection: &mut AnyConnection, writing: Writing<'_>) -> Result<()> {
    let tenant_id = writing.tenant;
    let kinds = MASTER.wage_types.iter().map(|wage| NewWageType {
        tenant_id,
        code: wage.code.of(writing.firm),
        wage: wage.key,
    });
    insert_all!(connection, wage_types::table, kinds.collect::<Vec<_>>());
    let steps = MASTER.tariffs.iter().flat_map(|tariff| {
        tariff.brackets.iter().map(move |bracket| NewBracket {
            tenant_id,
            canton: &tariff.canton,
            year: tariff.year,
            version: tariff.version,
            tariff_code: &tariff.code,
            income_from: bracket.income_from,
            rate_percent: bracket.rate_percent,
        })
    });
    insert_all!(connection, withholding_tariffs::table, steps.collect::<Vec<_>>());
    Ok(())
}

fn person<'a>(
    writing: Writing<'a>,
    n: u32,
    employee: &'static Employee,
) -> Result<NewEmployee<'a>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let (first_name, last_name) = (employee.first_name.of(firm), employee.last_name.of(firm));
    let number = format!("{}-E{n:03}", firm.prefix);
    let place = nth(&MASTER.places, n * 5 + 3)?;
    let index = u32::from(firm.index);
    Ok(NewEmployee {
        tenant_id,
        id: writing.id(Kind::Employee, n),
        mandate_id: writing.id(Kind::Mandate, employee.mandate),
        first_name,
        last_name,
        birth_date: employee.birth_date,
        avs_number: check_digits::avs(123_400_000 + n * 7_919 + index * 500_000_003),
        iban: check_digits::iban(762 + index * 19, 11_000_000_000 + u64::from(n) * 7_654_321),
        email: (!n.is_multiple_of(6)).then(|| format!("e{n:03}@{}", firm.domain)),
        street: place.street.of(firm),
        house_number: (1 + n * 11 % 80).to_string(),
        postal_code: place.postal_code.of(firm),
        town: place.town.of(firm),
        country: place.country.of(firm),
        hired_on: employee.hired_on,
        left_on: employee.left_on,
        sort_name: fold(&format!("{last_name} {first_name}")),
        search_text: searchable([&number, first_name, last_name]),
        number,
    })
}

/// The contract of the first day, and the next one with another salary if there was a raise.
fn add_contracts<'a>(
    contracts: &mut Vec<NewContract<'a>>,
    writing: Writing<'a>,
    n: u32,
    employee: &'static Employee,
) {
    let raise = employee.raise.as_ref().map(|raise| raise.from);
    let first = (employee.hired_on, raise.map(|from| from.minus_days(1)).or(employee.left_on));
    let next = raise.map(|from| (from, employee.left_on));
    for (at, (valid_from, valid_to)) in (n * 10..).zip([Some(first), next].into_iter().flatten()) {
        contracts.push(NewContract {
            tenant_id: writing.tenant,
            id: writing.id(Kind::Contract, at),
            employee_id: writing.id(Kind::Employee, n),
            valid_from,
            valid_to,
            job_title: employee.job_title.of(writing.firm),
            pay: employee.pay,
            salary: wages::salary_on(employee, valid_from),
            currency: employee.currency.unwrap_or(Currency::Chf),
            salaries_per_year: employee.salaries_per_year,
            activity_percent: employee.activity_percent,
            weekly_hours: employee.weekly_hours,
            withholding_tax: employee.tax.is_some(),
        });
    }
}

/// A payslip as long as lines may be added: a draft without a posting.
fn payslip(writing: Writing<'_>, batch: &Batch, slip: &Slip) -> Result<NewPayslip> {
    let sum = |kind| sum(&slip.lines, kind);
    let (gross, deductions) = (sum(PayslipLineKind::Earning), sum(PayslipLineKind::Deduction));
    let allowances = sum(PayslipLineKind::Allowance);
    let net = gross.minus(deductions).and_then(|net| net.plus(allowances));
    let currency = nth(&MASTER.employees, slip.employee - 1)?.currency;
    Ok(NewPayslip {
        tenant_id: writing.tenant,
        id: writing.id(Kind::Payslip, slip.n),
        mandate_id: writing.id(Kind::Mandate, batch.mandate),
        employee_id: writing.id(Kind::Employee, slip.employee),
        year: batch.year,
        month: i32::try_from(batch.month).map_err(Error::fault)?,
        state: PayslipState::Draft,
        currency: currency.unwrap_or(Currency::Chf),
        gross,
        deductions,
        allowances,
        net: net.ok_or_else(|| Error::fault("a net salary is out of range"))?,
        employer_charges: sum(PayslipLineKind::EmployerCharge),
        paid_on: batch.is_final.then_some(batch.on),
        reverses_id: slip.reverses.map(|n| writing.id(Kind::Payslip, n)),
        commit_number: None,
    })
}

fn add_lines<'a>(lines: &mut Vec<NewLine<'a>>, writing: Writing<'a>, slip: &Slip) -> Result<()> {
    for (position, line) in (1..).zip(&slip.lines) {
        let n = slip.n * 100 + u32::try_from(position).map_err(Error::fault)?;
        let wage = wage_type(line.wage)?;
        lines.push(NewLine {
            tenant_id: writing.tenant,
            id: writing.id(Kind::PayslipLine, n),
            payslip_id: writing.id(Kind::Payslip, slip.n),
            position,
            kind: line.wage.kind(),
            code: wage.code.of(writing.firm),
            label: wage.label.of(writing.firm),
            base: line.base,
            rate_percent: line.rate,
            amount: line.amount,
        });
    }
    Ok(())
}

fn finish(connection: &mut AnyConnection, writing: Writing<'_>, batch: &Batch) -> Result<()> {
    let slips: Vec<PayslipId> =
        batch.slips.iter().map(|slip| writing.id(Kind::Payslip, slip.n)).collect();
    let these = payslips::table.filter(payslips::tenant_id.eq(writing.tenant));
    diesel::update(these.filter(payslips::id.eq_any(slips)))
        .set((payslips::state.eq(PayslipState::Final), payslips::commit_number.eq(batch.commit)))
        .execute(connection)?;
    Ok(())
}
