//! Payroll: the people employed under a mandate, their contracts, their payslips.

mod completion;
pub mod compute;
mod employees;
mod get_employee;
mod get_payslip;
mod payslips;
pub mod rules;
mod sensitive;
mod taxes;
mod year_to_date;

pub use completion::COMPLETION;

use crate::registry::{Resource, Tool};

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[
    Tool::read::<employees::ListEmployees>(),
    Tool::read::<get_employee::GetEmployee>(),
    Tool::read::<payslips::ListPayslips>(),
    Tool::read::<get_payslip::GetPayslip>(),
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

text_enum! {
    /// What a line of a payslip is, whatever code and words the firm has for it.
    Wage {
        /// The monthly salary.
        Monthly = "monthly",
        /// Wages by the hour.
        Hourly = "hourly",
        /// Holiday pay on wages by the hour.
        Holidays = "holidays",
        /// A bonus.
        Bonus = "bonus",
        /// The 13th salary.
        Thirteenth = "thirteenth",
        /// AVS, AI and APG.
        Avs = "avs",
        /// Unemployment insurance.
        Ac = "ac",
        /// Accidents outside work.
        Accident = "accident",
        /// Daily allowance in sickness.
        Sickness = "sickness",
        /// The occupational pension.
        Pension = "pension",
        /// Tax withheld from the salary.
        Withholding = "withholding",
        /// Allowances for children.
        Children = "children",
        /// AVS, AI and APG, of the employer.
        EmployerAvs = "employer_avs",
        /// Unemployment insurance, of the employer.
        EmployerAc = "employer_ac",
        /// The family fund.
        EmployerFamily = "employer_family",
        /// Accidents at work.
        EmployerAccident = "employer_accident",
        /// Daily allowance in sickness, of the employer.
        EmployerSickness = "employer_sickness",
        /// The occupational pension, of the employer.
        EmployerPension = "employer_pension",
    }
}

impl Wage {
    /// What it does to the salary.
    #[must_use]
    pub const fn kind(self) -> PayslipLineKind {
        match self {
            Self::Monthly | Self::Hourly | Self::Holidays | Self::Bonus | Self::Thirteenth => {
                PayslipLineKind::Earning
            }
            Self::Avs
            | Self::Ac
            | Self::Accident
            | Self::Sickness
            | Self::Pension
            | Self::Withholding => PayslipLineKind::Deduction,
            Self::Children => PayslipLineKind::Allowance,
            Self::EmployerAvs
            | Self::EmployerAc
            | Self::EmployerFamily
            | Self::EmployerAccident
            | Self::EmployerSickness
            | Self::EmployerPension => PayslipLineKind::EmployerCharge,
        }
    }
}
