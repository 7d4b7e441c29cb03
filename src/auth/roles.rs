//! The roles that every new firm starts with; afterwards they are rows that the firm may change.

use super::permission::{Permission, Permissions};

/// A seeded role.
#[derive(Debug, Clone, Copy)]
pub struct Role {
    /// Its name, as memberships spell it.
    pub name: &'static str,
    /// What it grants, as the database keeps it.
    grants: &'static str,
}

impl Role {
    /// The permissions it grants.
    #[must_use]
    pub fn permissions(self) -> Permissions {
        match self.grants {
            "*" => Permission::ALL.iter().copied().filter(|p| *p != Permission::Present).collect(),
            grants => Permissions::stored(grants),
        }
    }
}

/// The seven seeded roles.
pub const ROLES: &[Role] = &[
    Role { name: "owner", grants: "*" },
    Role {
        name: "manager",
        grants: "firm.read client.read mandate.read task.read client.write task.write time.read time.write \
                 time.read_all service.read project.read invoice.read revenue.read invoice.draft invoice.issue \
                 invoice.remind payment.record bank.read ledger.read vat.read ledger.post vat.finalise \
                 document.read document.read_confidential graph.read approve.invoice approve.payment \
                 approve.client approve.ledger approve.vat",
    },
    Role {
        name: "accountant",
        grants: "client.read mandate.read task.read client.write task.write time.read time.write service.read \
                 project.read invoice.read invoice.draft invoice.issue invoice.remind payment.record bank.read \
                 ledger.read vat.read ledger.post vat.finalise document.read graph.read",
    },
    Role {
        name: "payroll_officer",
        grants: "client.read mandate.read task.read task.write time.read time.write service.read project.read \
                 payroll.read payroll.read_sensitive payroll.prepare document.read approve.payroll",
    },
    Role {
        name: "assistant",
        grants: "client.read mandate.read task.read client.write task.write time.read time.write service.read \
                 project.read invoice.read invoice.draft ledger.read vat.read ledger.post document.read graph.read",
    },
    Role {
        name: "auditor",
        grants: "client.read mandate.read task.read time.read_all service.read project.read invoice.read \
                 revenue.read bank.read ledger.read vat.read document.read document.read_confidential graph.read \
                 audit.read",
    },
    Role {
        name: "client_user",
        grants: "client.read mandate.read task.read invoice.read document.read",
    },
];

#[cfg(test)]
mod tests {
    use super::{Permissions, ROLES};

    #[test]
    fn every_word_of_a_seeded_role_is_a_permission() {
        for role in ROLES.iter().filter(|role| role.grants != "*") {
            let words = role.grants.split_whitespace().count();
            assert_eq!(role.permissions().iter().count(), words, "{}", role.name);
        }
        assert!(ROLES.iter().all(|role| role.permissions() != Permissions::NONE));
    }
}
