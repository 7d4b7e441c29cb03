//! What is derived of a sales document: its state, the state of its payment, what is still open; the latter two as of a day.

use diesel::sql_types::{Nullable, Text};

use crate::db::Derived;
use crate::db::types::Amount;

/// What was paid on and credited to the invoice of the row by the day: kept with the postings, or if some are for later days
/// the sum of those up to the day.
macro_rules! settled {
    () => {
        "(CASE WHEN invoices.settled_on <= {d} THEN invoices.settled ELSE coalesce((SELECT sum(p.amount) FROM payments p WHERE \
         p.tenant_id = invoices.tenant_id AND p.invoice_id = invoices.id AND p.received_on <= {d}), 0) + coalesce((SELECT \
         sum(c.total) FROM invoices c WHERE c.tenant_id = invoices.tenant_id AND c.origin_invoice_id = invoices.id AND \
         c.state = 'issued' AND c.issued_on <= {d}), 0) END)"
    };
}
/// Whether the row is an invoice issued by the day: the only document that is owed.
macro_rules! is_owed {
    () => {
        "invoices.document = 'invoice' AND invoices.state = 'issued' AND invoices.issued_on <= {d}"
    };
}

/// [`super::DocumentState`].
pub(super) const STATE: Derived<Text> = Derived::new(
    "(CASE WHEN invoices.state = 'draft' THEN 'draft' \
     WHEN EXISTS (SELECT 1 FROM reminders r WHERE r.tenant_id = invoices.tenant_id AND r.invoice_id = invoices.id) \
     THEN 'reminded' \
     WHEN EXISTS (SELECT 1 FROM dispatches d WHERE d.tenant_id = invoices.tenant_id AND d.invoice_id = invoices.id) \
     THEN 'sent' ELSE 'issued' END)",
);

/// [`super::PaymentState`]; absent for what is not owed.
pub(super) const PAYMENT: Derived<Nullable<Text>> = Derived::new(concat!(
    "(CASE WHEN NOT (",
    is_owed!(),
    ") THEN NULL WHEN ",
    settled!(),
    " > invoices.total THEN 'overpaid' WHEN ",
    settled!(),
    " = invoices.total THEN 'paid' WHEN ",
    settled!(),
    " = 0 THEN 'open' ELSE 'partial' END)",
));

/// What is still open, negative when overpaid; absent for what is not owed.
pub(super) const OPEN: Derived<Nullable<Amount>> = Derived::new(concat!(
    "(CASE WHEN ",
    is_owed!(),
    " THEN invoices.total - ",
    settled!(),
    " END)",
));
