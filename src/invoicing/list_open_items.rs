//! Who owes what, with ageing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check_reached;
use super::figures::total as added_up;
use super::open_figures::OpenFigure;
use super::open_items::{CREDIT, Chosen, OpenInvoice, OpenReport, report};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::{Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{ClientId, InvoiceId, MandateId};
use crate::money::{Currency, CurrencyAmount, Money};
use crate::registry::ReadTool;
use crate::reports::{Clocks, Control, Figure, Known, KnownOn};
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
    /// What the books said then: a day, or a posting such as #812; now by default.
    as_known_on: Option<KnownOn>,
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
    /// The last posting that counts, on every page.
    as_known_on: KnownOn,
    /// The same arguments at the same clocks give the same report.
    report_id: String,
    /// The open items.
    #[serde(flatten)]
    page: Page<OpenItem>,
    /// What is owed in each currency, over the whole set; currencies are never added together.
    totals: Vec<OpenTotal>,
    /// Identities that must hold, and whether they do.
    controls: Vec<Control>,
}

/// What is owed in one currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OpenTotal {
    /// The currency.
    pub(crate) currency: Currency,
    /// What is owed: the sum of the buckets.
    open: Money,
    /// How many invoices that is.
    count: i64,
    /// What is owed, by days past due.
    pub(crate) buckets: Vec<Bucket>,
    /// What clients have paid or been credited above what they owed, as a negative amount.
    credit_balance: Money,
    /// How many invoices have such a balance; search_invoices with payment overpaid lists them.
    credit_balance_count: i64,
    /// The handle of these figures for explain_figure.
    figure: Figure,
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
pub(crate) struct Bucket {
    /// The days past due.
    pub(crate) age: Age,
    /// What is owed.
    pub(crate) open: Money,
    /// How many invoices that is.
    pub(crate) count: i64,
}

/// Where a page begins: after which invoice, and at which clocks the first page stood.
#[derive(Debug, Serialize, Deserialize)]
struct Resumed {
    after: (Day, InvoiceId),
    as_of: Day,
    known: i64,
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
        check_reached(scope, self.client_id, self.mandate_id)?;
        let resumed: Option<Resumed> = scope.position(&paging)?;
        let today = resumed.as_ref().map_or_else(|| scope.today(), |resumed| resumed.as_of);
        let as_of = self.as_of.unwrap_or(today);
        let known = self.known(scope, resumed.as_ref())?;
        let chosen = self.chosen(as_of, known)?;
        let after = resumed.map(|resumed| resumed.after);
        let mut report = report(scope, chosen.clone(), after, paging.fetch())?;
        let last = report.last_posting.unwrap_or_default();
        let known = known.unwrap_or(Known { commit: last, is_present: true });
        let items = std::mem::take(&mut report.items);
        let totals = totals(scope, &chosen, known.commit, &report)?;
        let owed = totals.iter().map(|total| total.count).sum();
        let items = items.into_iter().map(|invoice| item(invoice, as_of)).collect();
        let place = |item: &OpenItem| Resumed {
            after: (item.due_on, item.invoice_id),
            as_of,
            known: known.commit,
        };
        let page = scope.cut(items, owed, &paging, place)?;
        let as_known_on = known.written();
        (self.as_of, self.as_known_on) = (Some(as_of), Some(as_known_on));
        let report_id = scope.report_id(&self, Clocks { as_of, known })?;
        let controls = controls(&totals, &report.in_ledger)?;
        Ok(OpenItems { as_of, as_known_on, report_id, page, totals, controls })
    }
}

impl ListOpenItems {
    /// The last posting that counts, where not all do: that of the first page on every page.
    fn known(&self, scope: &mut Read<'_>, resumed: Option<&Resumed>) -> Result<Option<Known>> {
        let Some(Resumed { known: commit, .. }) = resumed else {
            return self.as_known_on.map(|on| Known::at(scope, Some(on))).transpose();
        };
        let is_present = self.as_known_on.is_none() && Known::at(scope, None)?.commit == *commit;
        Ok((!is_present).then_some(Known { commit: *commit, is_present }))
    }

    fn chosen(&self, as_of: Day, known: Option<Known>) -> Result<Chosen> {
        let days = match self.min_days_overdue {
            Some(days @ 1..=36_500) => Some(days),
            None => self.overdue_only.unwrap_or_default().then_some(1),
            Some(_) => {
                let said = "min_days_overdue must be from 1 to 36500";
                return Err(Error::argument("min_days_overdue", said));
            }
        };
        Ok(Chosen {
            known: known.map(|known| known.commit),
            client: self.client_id,
            mandate: self.mandate_id,
            currency: self.currency,
            due_until: days.map(|days| as_of.minus_days(days)),
            ..Chosen::on(as_of)
        })
    }
}

/// Totals per currency, with their handles as known on a posting.
pub(crate) fn totals(
    scope: &Read<'_>,
    chosen: &Chosen,
    commit: i64,
    report: &OpenReport,
) -> Result<Vec<OpenTotal>> {
    let mut currencies: Vec<Currency> =
        report.sums.iter().map(|(currency, ..)| *currency).collect();
    currencies.dedup();
    let of = |currency: Currency| {
        let own = report.sums.iter().filter(|(of, ..)| *of == currency);
        let sum = |bucket: i32| {
            let found = own.clone().find(|(_, at, ..)| *at == bucket);
            found.map_or((Money::ZERO, 0), |(.., open, count)| (*open, *count))
        };
        let bucket = |(at, age): (i32, &Age)| {
            let (open, count) = sum(at);
            Bucket { age: *age, open, count }
        };
        let whole = added_up(own.clone().map(|(_, _, open, _)| *open))?;
        let owed = report.owed.iter().find(|(of, ..)| *of == currency);
        let (open, count) = owed.map_or((Money::ZERO, 0), |(_, open, count)| (*open, *count));
        let (credit_balance, credit_balance_count) = sum(CREDIT);
        Ok(OpenTotal {
            currency,
            open,
            count,
            buckets: (0..).zip(Age::ALL).map(bucket).collect(),
            credit_balance,
            credit_balance_count,
            figure: OpenFigure::handle(scope, chosen, commit, currency, whole)?,
        })
    };
    currencies.into_iter().map(of).collect()
}

/// The buckets add up to what is owed; with the credit balances, that is what the firm's ledger says, where it can be compared.
pub(crate) fn controls(totals: &[OpenTotal], in_ledger: &[CurrencyAmount]) -> Result<Vec<Control>> {
    let mut controls = vec![];
    for total in totals {
        let buckets = added_up(total.buckets.iter().map(|bucket| bucket.open))?;
        let name = "the buckets add up to what is open";
        controls.push(Control::equal(name, total.currency, buckets, total.open));
    }
    for CurrencyAmount { currency, amount } in in_ledger {
        let total = totals.iter().find(|total| total.currency == *currency);
        let whole =
            total.map_or(Ok(Money::ZERO), |total| added_up([total.open, total.credit_balance]))?;
        let name = "open less credit balances equals the receivables of the firm's ledger";
        controls.push(Control::equal(name, *currency, whole, *amount));
    }
    Ok(controls)
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
