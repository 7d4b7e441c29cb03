//! Who owes what, with ageing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::open_items::{Chosen, OpenInvoice, Sum, added, report};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::{Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{ClientId, InvoiceId, MandateId};
use crate::money::{Currency, Money};
use crate::registry::ReadTool;
use crate::text::FreeText;

/// List who owes money as of a day: invoices with an open amount, oldest due date first, ageing of receivables
/// and totals per currency over the whole set. Payments and credit notes up to that day are deducted. For all
/// documents, use search_invoices; for one, get_invoice. (qui doit de l'argent, impayés, débiteurs / offene Posten,
/// Debitoren, überfällig)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListOpenItems {
    /// The day; today by default.
    as_of: Option<Day>,
    /// All by default.
    client_id: Option<ClientId>,
    /// All by default.
    mandate_id: Option<MandateId>,
    /// False by default.
    overdue_only: Option<bool>,
    /// 1 to 36500; any by default.
    min_days_overdue: Option<i64>,
    /// All by default.
    currency: Option<Currency>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ListOpenItems);

/// The open items of one page, and the totals of all of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenItems {
    /// The day.
    as_of: Day,
    /// The open items.
    #[serde(flatten)]
    page: Page<OpenItem>,
    /// What is owed in each currency, over the whole set; currencies are never added together.
    totals: Vec<OpenTotal>,
}

/// What is owed in one currency.
#[derive(Debug, Serialize, JsonSchema)]
struct OpenTotal {
    /// The currency.
    currency: Currency,
    /// What is owed: the sum of the buckets.
    open: Money,
    /// How many invoices that is.
    count: i64,
    /// What is owed, by days past due.
    buckets: Vec<Bucket>,
    /// What clients have paid or been credited above what they owed, as a negative amount.
    credit_balance: Money,
    /// How many invoices have such a balance; search_invoices with payment overpaid lists them.
    credit_balance_count: i64,
}

text_enum! {
    /// Days past due.
    Age {
        /// Not due, or due on the day itself.
        NotDue = "not_due",
        /// 1 to 30 days.
        Days1To30 = "1-30",
        /// 31 to 60 days.
        Days31To60 = "31-60",
        /// 61 to 90 days.
        Days61To90 = "61-90",
        /// 91 days and more.
        Over90 = "91+",
    }
}

/// What is owed in one currency for so many days.
#[derive(Debug, Serialize, JsonSchema)]
struct Bucket {
    /// The days past due.
    age: Age,
    /// What is owed.
    open: Money,
    /// How many invoices that is.
    count: i64,
}

/// An invoice that is owed.
#[derive(Debug, Serialize, JsonSchema)]
struct OpenItem {
    /// The invoice.
    invoice_id: InvoiceId,
    /// Its number.
    number: FreeText,
    /// What it is for.
    title: FreeText,
    /// The client.
    client_id: ClientId,
    /// The client's name.
    client: FreeText,
    /// The mandate.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate_id: Option<MandateId>,
    /// The currency.
    currency: Currency,
    /// The day of issue.
    issued_on: Day,
    /// The day it is due.
    due_on: Day,
    /// Days past due; 0 when not overdue.
    days_overdue: i64,
    /// The invoice's total, VAT included.
    total: Money,
    /// What is still open.
    open: Money,
    /// The level of the last reminder up to the day.
    #[serde(skip_serializing_if = "Option::is_none")]
    reminder_level: Option<i32>,
}

impl ReadTool for ListOpenItems {
    const NAME: &'static str = "list_open_items";
    const PERMISSION: Permission = Permission::InvoiceRead;
    const WEIGHT: u32 = 3;
    type Output = OpenItems;

    fn example() -> Self {
        Self { as_of: Day::parse("2026-06-30"), min_days_overdue: Some(61), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<OpenItems> {
        let paging = Paging::of(&mut self)?;
        let as_of = self.as_of.unwrap_or_else(|| scope.today());
        let chosen = self.chosen(as_of)?;
        let after = scope.position(&paging)?;
        let (items, sums) = report(scope, chosen, after, paging.fetch())?;
        let (totals, owed) = totals(sums)?;
        let items = items.into_iter().map(|invoice| item(invoice, as_of)).collect();
        let page =
            scope.cut(items, owed, &paging, |item: &OpenItem| (item.due_on, item.invoice_id))?;
        Ok(OpenItems { as_of, page, totals })
    }
}

impl ListOpenItems {
    fn chosen(&self, as_of: Day) -> Result<Chosen> {
        let days = match self.min_days_overdue {
            Some(days @ 1..=36_500) => Some(days),
            None => self.overdue_only.unwrap_or_default().then_some(1),
            Some(_) => {
                let said = "min_days_overdue must be from 1 to 36500";
                return Err(Error::argument("min_days_overdue", said));
            }
        };
        Ok(Chosen {
            as_of,
            client: self.client_id,
            mandate: self.mandate_id,
            currency: self.currency,
            due_until: days.map(|days| as_of.minus_days(days)),
        })
    }
}

/// Totals per currency, and how many invoices are owed in all.
fn totals(sums: Vec<Sum>) -> Result<(Vec<OpenTotal>, i64)> {
    let (mut totals, mut owed): (Vec<OpenTotal>, i64) = (vec![], 0);
    for (currency, bucket, open, count) in sums {
        if totals.last().is_none_or(|last| last.currency != currency) {
            totals.push(OpenTotal::none(currency));
        }
        let Some(total) = totals.last_mut() else { continue };
        if let Some(bucket) = usize::try_from(bucket).ok().and_then(|at| total.buckets.get_mut(at))
        {
            (bucket.open, bucket.count) = (open, count);
            total.open = added(total.open, open)?;
            total.count += count;
            owed += count;
        } else {
            (total.credit_balance, total.credit_balance_count) = (open, count);
        }
    }
    Ok((totals, owed))
}

impl OpenTotal {
    fn none(currency: Currency) -> Self {
        let bucket = |age: &Age| Bucket { age: *age, open: Money::ZERO, count: 0 };
        Self {
            currency,
            open: Money::ZERO,
            count: 0,
            buckets: Age::ALL.iter().map(bucket).collect(),
            credit_balance: Money::ZERO,
            credit_balance_count: 0,
        }
    }
}

fn item(invoice: OpenInvoice, as_of: Day) -> OpenItem {
    OpenItem {
        invoice_id: invoice.id,
        number: invoice.number.into(),
        title: invoice.title.into(),
        client_id: invoice.client_id,
        client: invoice.client.into(),
        mandate_id: invoice.mandate_id,
        currency: invoice.currency,
        issued_on: invoice.issued_on,
        due_on: invoice.due_on,
        days_overdue: as_of.days_since(invoice.due_on).max(0),
        total: invoice.total,
        open: invoice.open,
        reminder_level: invoice.reminder_level,
    }
}
