//! Permissions, and what a set of them allows.

text_enum! {
    /// One thing a role may grant, `area.verb`.
    Permission {
        /// Being an active member of the firm; held by every caller and never stored.
        Present = "present",
        /// Read the firm's key figures.
        FirmRead = "firm.read",
        /// Read clients.
        ClientRead = "client.read",
        /// Change clients.
        ClientWrite = "client.write",
        /// Read mandates.
        MandateRead = "mandate.read",
        /// Read tasks.
        TaskRead = "task.read",
        /// Write tasks.
        TaskWrite = "task.write",
        /// Read one's own time.
        TimeRead = "time.read",
        /// Read everybody's time.
        TimeReadAll = "time.read_all",
        /// Write time.
        TimeWrite = "time.write",
        /// Read services and their rates.
        ServiceRead = "service.read",
        /// Read projects.
        ProjectRead = "project.read",
        /// Read sales documents.
        InvoiceRead = "invoice.read",
        /// Prepare drafts of sales documents.
        InvoiceDraft = "invoice.draft",
        /// Issue sales documents.
        InvoiceIssue = "invoice.issue",
        /// Send reminders.
        InvoiceRemind = "invoice.remind",
        /// Record money received.
        PaymentRecord = "payment.record",
        /// Read revenue.
        RevenueRead = "revenue.read",
        /// Read bank statements.
        BankRead = "bank.read",
        /// Read ledgers.
        LedgerRead = "ledger.read",
        /// Post to ledgers.
        LedgerPost = "ledger.post",
        /// Read VAT returns.
        VatRead = "vat.read",
        /// Freeze VAT returns.
        VatFinalise = "vat.finalise",
        /// Read payroll.
        PayrollRead = "payroll.read",
        /// Read identifiers of employees unmasked.
        PayrollReadSensitive = "payroll.read_sensitive",
        /// Prepare payslips.
        PayrollPrepare = "payroll.prepare",
        /// Read documents.
        DocumentRead = "document.read",
        /// Read confidential documents.
        DocumentReadConfidential = "document.read_confidential",
        /// Read the knowledge graph.
        GraphRead = "graph.read",
        /// Approve invoices.
        ApproveInvoice = "approve.invoice",
        /// Approve payments.
        ApprovePayment = "approve.payment",
        /// Approve changes of clients.
        ApproveClient = "approve.client",
        /// Approve ledger entries.
        ApproveLedger = "approve.ledger",
        /// Approve VAT returns.
        ApproveVat = "approve.vat",
        /// Approve payslips.
        ApprovePayroll = "approve.payroll",
        /// Read the audit log.
        AuditRead = "audit.read",
        /// Administer users.
        UserAdmin = "user.admin",
        /// Administer tokens.
        TokenAdmin = "token.admin",
    }
}

impl Permission {
    const fn bit(self) -> u64 {
        1 << self as u64
    }

    /// Whether an API token may ever hold it: to approve and to administer needs a person's own session.
    #[must_use]
    pub fn is_delegable(self) -> bool {
        let (area, verb) = self.as_str().split_once('.').unwrap_or_default();
        !(area.is_empty() || area == "approve" || verb == "admin")
    }

    /// Whether it only allows reading.
    #[must_use]
    pub fn is_reading(self) -> bool {
        self.as_str().split_once('.').is_some_and(|(_, verb)| verb.starts_with("read"))
    }

    /// Whether it opens what even a reader asks for by name only: unmasked identifiers, confidential documents.
    const fn is_guarded(self) -> bool {
        matches!(self, Self::PayrollReadSensitive | Self::DocumentReadConfidential)
    }
}

/// Any number of permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Permissions(u64);

impl Permissions {
    /// None at all.
    pub const NONE: Self = Self(0);

    /// Reads permissions separated by spaces, as the database keeps them; what is not one grants nothing.
    #[must_use]
    pub fn stored(text: &str) -> Self {
        text.split(' ').filter_map(Permission::parse).collect()
    }

    /// Reads the scopes of a token: permissions, or `read` and `propose` for all delegable ones of that kind. `read`
    /// leaves unmasked identifiers and confidential documents out: those are named.
    ///
    /// # Errors
    /// The word that is no scope, or none that a token may hold.
    pub fn parse_scopes(text: &str) -> Result<Self, String> {
        let mut scopes = Self::NONE;
        for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
            let delegable = || Permission::ALL.iter().copied().filter(|p| p.is_delegable());
            let named: Self = match word {
                "read" => delegable().filter(|p| p.is_reading() && !p.is_guarded()).collect(),
                "propose" => delegable().filter(|p| !p.is_reading()).collect(),
                word => delegable().filter(|p| p.as_str() == word).collect(),
            };
            if named == Self::NONE {
                return Err(word.to_owned());
            }
            scopes = scopes.union(named);
        }
        Ok(scopes)
    }

    /// Whether `permission` is among them.
    #[must_use]
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    /// Those in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// With what every active member holds.
    #[must_use]
    pub const fn of_member(self) -> Self {
        self.union(Self(Permission::Present.bit()))
    }

    /// Those in this set and not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// One after the other, in the order of declaration.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(move |permission| self.contains(*permission))
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |bits, permission| bits | permission.bit()))
    }
}

impl std::fmt::Display for Permissions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<_> = self.iter().map(Permission::as_str).collect();
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::{Permission, Permissions};

    #[test]
    fn what_is_not_a_permission_grants_nothing() {
        let granted = Permissions::stored("client.read CLIENT.WRITE nonsense  invoice.read ");
        assert_eq!(granted.to_string(), "client.read invoice.read");
    }

    #[test]
    fn a_token_never_approves_or_administers() {
        for word in ["approve.ledger", "user.admin", "present", "everything"] {
            assert_eq!(Permissions::parse_scopes(word), Err(word.to_owned()));
        }
        let widest = Permissions::parse_scopes("read,propose").unwrap();
        assert!(widest.iter().all(Permission::is_delegable));
        assert!(!widest.contains(Permission::PayrollReadSensitive));
    }
}
