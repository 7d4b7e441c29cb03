//! Payroll: the people employed under a mandate, their contracts, their payslips.

mod completion;
mod employees;
mod get_employee;
mod payslips;
mod sensitive;

pub use completion::COMPLETION;

use crate::registry::{Resource, Tool};

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[
    Tool::read::<employees::ListEmployees>(),
    Tool::read::<get_employee::GetEmployee>(),
    Tool::read::<payslips::ListPayslips>(),
    Tool::read::<payslips::GetPayslip>(),
];

/// The resources of this slice.
pub const RESOURCES: &[Resource] = &[Resource::template::<get_employee::GetEmployee>(
    "guichet://employees/{id}",
    "An employee",
    "employee_id",
)];

text_enum! {
    /// Whether a person is employed.
    EmployeeStatus {
        /// Employed today.
        Active = "active",
        /// No longer employed.
        Left = "left",
    }
}

text_enum! {
    /// How a salary is paid.
    Pay {
        /// An amount a month.
        Monthly = "monthly",
        /// An amount an hour.
        Hourly = "hourly",
    }
}

text_enum! {
    /// Where a payslip stands.
    PayslipState {
        /// Being prepared.
        Draft = "draft",
        /// Final; corrected only by another one.
        Final = "final",
    }
}

text_enum! {
    /// What a line of a payslip does.
    PayslipLineKind {
        /// Adds to the gross salary.
        Earning = "earning",
        /// Deducted from the salary.
        Deduction = "deduction",
        /// Paid on top, not part of the gross salary.
        Allowance = "allowance",
        /// Paid by the employer, not part of the net salary.
        EmployerCharge = "employer_charge",
    }
}
