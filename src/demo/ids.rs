//! The ids of the demo data: known in advance, so that examples and tests can name them.

use uuid::Uuid;

use crate::ids::{
    AccountId, BankStatementId, ClientId, EmployeeId, EntityId, EntryId, FiscalYearId, InvoiceId,
    MandateId, PayslipId, PositionId,
};

/// What an id is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// A firm.
    Tenant = 1,
    /// A person.
    User,
    /// An API token.
    Token,
    /// A client.
    Client,
    /// A person to talk to.
    Contact,
    /// An address.
    Address,
    /// A mandate.
    Mandate,
    /// A service.
    Service,
    /// An agreed rate.
    ServiceRate,
    /// A sales document.
    Invoice,
    /// A line of one.
    InvoiceLine,
    /// A dispatch.
    Dispatch,
    /// A payment.
    Payment,
    /// A reminder.
    Reminder,
    /// An employee.
    Employee,
    /// A contract.
    Contract,
    /// A payslip.
    Payslip,
    /// A line of one.
    PayslipLine,
    /// An account of a chart: a thousand a mandate.
    Account,
    /// A fiscal year: a hundred a mandate.
    FiscalYear,
    /// An entry: a hundred thousand a mandate.
    Entry,
    /// A phase of a mandate.
    Position = 50,
    /// A work package of a phase.
    Operation,
    /// A task.
    Task,
    /// Time that somebody worked.
    TimeEntry,
    /// A filed document.
    Document,
    /// A proposal.
    Proposal,
    /// A bank statement.
    BankStatement,
    /// A line of one.
    BankLine,
    /// An entity of the knowledge graph.
    Entity = 200,
    /// A relation of one to another.
    Relation,
    /// Something doubtful about them.
    Anomaly,
}

/// The `n`th thing of a kind in firm 0 or 1: of the form of a `UUIDv7`, sorted by `n` within its kind.
#[must_use]
pub fn id(firm: u16, kind: Kind, n: u32) -> Uuid {
    let high = 0x018c_c251_f400_u64 << 16 | 0x7000 | u64::from(kind as u16);
    let low = 0x8000_u64 << 48 | u64::from(n) << 16 | u64::from(firm);
    Uuid::from_u64_pair(high, low)
}

/// The place of the examples' invoice in creation order.
pub(super) const EXAMPLE_INVOICE: u32 = 570;
/// The place of the examples' payslip in creation order.
pub(super) const EXAMPLE_PAYSLIP: u32 = 869;

/// The client of the examples.
#[must_use]
pub fn example_client() -> ClientId {
    id(0, Kind::Client, 1).into()
}

/// The mandate of the examples.
#[must_use]
pub fn example_mandate() -> MandateId {
    id(0, Kind::Mandate, 1).into()
}

/// The mandate of the examples that has employees.
#[must_use]
pub fn example_payroll_mandate() -> MandateId {
    id(0, Kind::Mandate, 2).into()
}

/// The invoice of the examples.
#[must_use]
pub fn example_invoice() -> InvoiceId {
    id(0, Kind::Invoice, EXAMPLE_INVOICE).into()
}

/// The employee of the examples.
#[must_use]
pub fn example_employee() -> EmployeeId {
    id(0, Kind::Employee, 1).into()
}

/// The entity of the examples.
#[must_use]
pub fn example_entity() -> EntityId {
    id(0, Kind::Entity, 1).into()
}

/// The payslip of the examples.
#[must_use]
pub fn example_payslip() -> PayslipId {
    id(0, Kind::Payslip, EXAMPLE_PAYSLIP).into()
}

/// The mandate of the examples that keeps books.
#[must_use]
pub fn example_ledger_mandate() -> MandateId {
    id(0, Kind::Mandate, 1).into()
}

/// The bank account in the books of the examples.
#[must_use]
pub fn example_account() -> AccountId {
    id(0, Kind::Account, 1_004).into()
}

/// The fiscal year 2026 in the books of the examples.
#[must_use]
pub fn example_fiscal_year() -> FiscalYearId {
    id(0, Kind::FiscalYear, 103).into()
}

/// The entry of the examples.
#[must_use]
pub fn example_entry() -> EntryId {
    id(0, Kind::Entry, 100_001).into()
}

/// The phase of the examples.
#[must_use]
pub fn example_position() -> PositionId {
    id(0, Kind::Position, 1).into()
}

/// The bank statement of the examples.
#[must_use]
pub fn example_bank_statement() -> BankStatementId {
    id(0, Kind::BankStatement, 1).into()
}
