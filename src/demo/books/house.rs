//! The firm's own books: every issued document and every payment, under the posting of the document, and what it costs to
//! run the firm.

use std::collections::BTreeMap;

use super::ledger::{Ledger, NORMAL, closing_day, tax_of};
use super::special::difference;
use super::{Line, Party, Planned, Subject};
use crate::dates::Day;
use crate::demo::engagements::FIRM_MANDATE;
use crate::demo::exchange::{rate, worth};
use crate::demo::plan::{LAST_MONTH, day, last_day, months};
use crate::demo::sales::{Payment, Sale};
use crate::error::{Error, Result};
use crate::invoicing::{Document, PaymentMethod};
use crate::ledger::JournalCode::{Bank, Cash, General, Opening, Payroll, Purchases, Sales};
use crate::money::{Currency, ExchangeRate, Rate};

/// The firm's landlord and the makers of its programs.
const SUPPLIER: Party = Party::Named(["Maison des logiciels", "Softwarehaus"]);

/// What of an invoice is open: in its currency and in francs, and at which rate it was booked.
#[derive(Debug, Clone, Copy)]
struct Open {
    minor: i64,
    booked: i64,
    rate: ExchangeRate,
}

/// Something that happens on a day.
type Event = (Day, Subject);

pub(super) fn plan(sales: &[Sale]) -> Result<Vec<Planned>> {
    let mut books = Ledger::new(FIRM_MANDATE, 0);
    open(&mut books, day(2024, 1, 1)?)?;
    let mut posting = Posting { sales, open: BTreeMap::new(), places: BTreeMap::new() };
    let events = events(sales);
    for (year, month) in months() {
        let first = day(year, month, 1)?;
        let next = first.plus_months(1);
        for (_, subject) in events.iter().filter(|(on, _)| first <= *on && *on < next) {
            posting.post(&mut books, *subject)?;
        }
        costs(&mut books, first)?;
        books.pay_dues(next.minus_days(1).min(last_day()?))?;
        if (year, month) != LAST_MONTH {
            end_of_month(&mut books, next.minus_days(1))?;
        }
    }
    Ok(books.entries)
}

/// The account of a service's revenue, by the service's place from 1.
pub(in super::super) fn revenue(service: u32) -> String {
    format!("34{service:02}")
}

/// Issued invoices and credit notes, and payments, by day.
fn events(sales: &[Sale]) -> Vec<Event> {
    let mut events = vec![];
    for (at, sale) in sales.iter().enumerate().filter(|(_, sale)| sale.is_issued) {
        if matches!(sale.document, Document::Invoice | Document::CreditNote) {
            events.push((sale.on, Subject::Sale(at)));
        }
        for (k, payment) in sale.payments.iter().enumerate() {
            events.push((payment.received_on, Subject::Payment(at, k)));
        }
    }
    events.sort_by_key(|(on, _)| *on);
    events
}

/// The account of what customers owe in a currency.
const fn receivables(currency: Currency) -> &'static str {
    match currency {
        Currency::Chf => "1100",
        Currency::Eur => "1101",
        Currency::Usd => "1102",
        Currency::Gbp => "1103",
    }
}

/// The account on which money of a kind arrives.
const fn money(currency: Currency, method: PaymentMethod) -> &'static str {
    match (currency, method) {
        (Currency::Chf, PaymentMethod::Cash) => "1000",
        (Currency::Chf, PaymentMethod::Card | PaymentMethod::Twint) => "1030",
        (Currency::Chf, _) => "1020",
        (Currency::Eur, _) => "1021",
        (Currency::Usd, _) => "1022",
        (Currency::Gbp, _) => "1023",
    }
}

/// The VAT code of a line of a document.
fn code(currency: Currency, vat_rate: Rate) -> &'static str {
    match vat_rate.minor() {
        NORMAL => "UN",
        super::ledger::REDUCED => "UR",
        super::ledger::ACCOMMODATION => "UB",
        _ if currency == Currency::Chf => "OO",
        _ => "UA",
    }
}

/// Documents and payments on their way into the books.
struct Posting<'a> {
    sales: &'a [Sale],
    /// What is open of each invoice, by its place from 1.
    open: BTreeMap<u32, Open>,
    /// Where the entry of a payment stands.
    places: BTreeMap<(usize, usize), usize>,
}

impl Posting<'_> {
    fn post(&mut self, books: &mut Ledger, subject: Subject) -> Result<()> {
        let missing = || Error::fault("the books name a document that is not there");
        match subject {
            Subject::Sale(at) => {
                let sale = self.sales.get(at).ok_or_else(missing)?;
                self.document(books, subject, sale);
                Ok(())
            }
            Subject::Payment(at, k) => {
                let sale = self.sales.get(at).ok_or_else(missing)?;
                let payment = sale.payments.get(k).ok_or_else(missing)?;
                self.payment(books, (at, k), sale, payment)
            }
            _ => Ok(()),
        }
    }

    /// An invoice, or a credit note on the other side and at the rate of its invoice.
    fn document(&mut self, books: &mut Ledger, subject: Subject, sale: &Sale) {
        let currency = sale.currency;
        let origin = sale.origin.and_then(|n| self.open.get(&n).copied());
        let rate = origin.map_or_else(|| rate(currency, sale.on), |origin| origin.rate);
        let sign = if sale.document == Document::CreditNote { -1 } else { 1 };
        let line = |account: String, minor: i64| {
            if currency == Currency::Chf {
                return Line::new(account, minor);
            }
            Line::new(account, worth(minor, rate)).at(currency, minor, rate)
        };
        let total = sign * sale.sums.total.minor();
        let receivable = receivables(currency).to_owned();
        let mut lines = vec![line(receivable, total).about(Party::Client(sale.client))];
        let booked = lines.iter().map(|line| line.minor).sum::<i64>();
        let (mut bases, mut taxes) = (BTreeMap::new(), BTreeMap::new());
        for of in &sale.lines {
            let code = code(currency, of.vat_rate);
            *bases.entry((revenue(of.service), code)).or_insert(0) += sign * of.net.minor();
            *taxes.entry(code).or_insert(0) += sign * of.vat.minor();
        }
        for ((account, code), minor) in bases {
            lines.push(line(account, -minor).base(code));
        }
        for (code, minor) in taxes {
            lines.push(line("2200".to_owned(), -minor).tax(code));
        }
        // The document's rounding, and what converting line by line leaves over.
        let rest: i64 = lines.iter().map(|line| line.minor).sum();
        lines.push(Line::new("3807", -rest).base("OO"));
        books.post_as(sale.on, sale.on, Sales, subject, lines);
        match sale.origin.and_then(|n| self.open.get_mut(&n)) {
            Some(open) => {
                open.minor += total;
                open.booked += booked;
            }
            None => {
                self.open.insert(sale.n, Open { minor: total, booked, rate });
            }
        }
    }

    /// Money received; what is paid too much stays on the account of receivables. A payment taken back is a reversal.
    fn payment(
        &mut self,
        books: &mut Ledger,
        (at, k): (usize, usize),
        sale: &Sale,
        payment: &Payment,
    ) -> Result<()> {
        let missing = || Error::fault("a payment of the demo has no invoice in the books");
        let open = self.open.get_mut(&sale.n).ok_or_else(missing)?;
        let subject = Subject::Payment(at, k);
        if payment.reverses_last {
            let place = k.checked_sub(1).and_then(|before| self.places.get(&(at, before)));
            let place = *place.ok_or_else(missing)?;
            let taken = books.entries.get(place).map(|entry| entry.lines.clone());
            for line in taken.iter().flatten() {
                if line.account == receivables(sale.currency) {
                    open.booked -= line.minor;
                    open.minor -= line.foreign.map_or(line.minor, |(_, minor, _)| minor);
                }
            }
            books.reverse(place, payment.received_on, subject);
            if let Some(entry) = books.entries.last_mut() {
                entry.entered_on = payment.entered_on;
            }
            return Ok(());
        }
        let (currency, paid) = (sale.currency, payment.amount.minor());
        let (account, receivable) = (money(currency, payment.method), receivables(currency));
        let client = Party::Client(sale.client);
        open.minor -= paid;
        let lines = if currency == Currency::Chf {
            open.booked -= paid;
            vec![Line::new(account, paid), Line::new(receivable, -paid).about(client)]
        } else {
            let today = rate(currency, payment.received_on);
            let (received, relieved) = (worth(paid, today), worth(paid, open.rate));
            open.booked -= relieved;
            let rest = if open.minor == 0 { std::mem::take(&mut open.booked) } else { 0 };
            vec![
                Line::new(account, received).at(currency, paid, today),
                Line::new(receivable, -relieved).at(currency, -paid, open.rate).about(client),
                Line::new(receivable, -rest).revalued(currency).about(client),
                difference(relieved + rest - received),
            ]
        };
        let journal = if account == "1000" { Cash } else { Bank };
        let place = books.post_as(payment.entered_on, payment.received_on, journal, subject, lines);
        self.places.insert((at, k), place);
        Ok(())
    }
}

/// The balance sheet with which the books begin.
fn open(books: &mut Ledger, first: Day) -> Result<()> {
    let opening = [
        ("1020", 9_500_000),
        ("1510", 4_200_000),
        ("1519", -1_400_000),
        ("1520", 2_600_000),
        ("1529", -1_100_000),
        ("2800", -10_000_000),
        ("2950", -1_000_000),
        ("2970", -2_800_000),
    ];
    let lines = opening.iter().map(|(number, minor)| Line::new(*number, *minor)).collect();
    books.post(first, Opening, ["Bilan d'ouverture", "Eröffnungsbilanz"], lines)?;
    Ok(())
}

fn costs(books: &mut Ledger, first: Day) -> Result<()> {
    let rent = vec![Line::new("6000", 340_000), Line::new("1020", -340_000)];
    books.post(first.plus_days(1), Bank, ["Loyer des bureaux", "Büromiete"], rent)?;
    let (net, letter, on) = (92_000, books.next_letter(), first.plus_days(4));
    let tax = tax_of(net, NORMAL);
    let lines = vec![
        Line::new("6570", net).base("VI"),
        Line::new("1171", tax).tax("VI"),
        Line::new("2000", -net - tax).about(SUPPLIER).settled(letter),
    ];
    books.post(on, Purchases, ["Abonnements de logiciels", "Softwareabonnemente"], lines)?;
    let (account, minor, party) = ("2000", -net - tax, SUPPLIER);
    books.dues.push(super::ledger::Due { on: on.plus_days(18), account, minor, party, letter });
    let wages = first.plus_days(24);
    let lines = vec![
        Line::new("5000", 2_450_000),
        Line::new("5700", 163_000),
        Line::new("2270", -320_000),
        Line::new("1020", -2_293_000),
    ];
    books.post(wages, Payroll, ["Salaires de la fiduciaire", "Löhne des Treuhandbüros"], lines)?;
    let lines = vec![Line::new("2270", 320_000), Line::new("1020", -320_000)];
    let words = ["Acompte AVS", "Akontozahlung AHV"];
    books.post(first.plus_days(26), Bank, words, lines)?;
    Ok(())
}

/// Card payments arrive, cash goes to the bank; VAT at the end of a quarter, and the year if it ends.
fn end_of_month(books: &mut Ledger, last: Day) -> Result<()> {
    for (account, journal, words) in [
        ("1030", Bank, ["Versement des cartes", "Gutschrift der Kartenzahlungen"]),
        ("1000", Cash, ["Versement de la caisse", "Einzahlung aus der Kasse"]),
    ] {
        let amount = books.balance(account);
        let lines = vec![Line::new("1020", amount), Line::new(account, -amount)];
        if amount != 0 {
            books.post(last, journal, words, lines)?;
        }
    }
    if last.month() == 12 {
        let entered_on = closing_day(last)?;
        for (account, minor) in [("1519", 420_000), ("1529", 510_000)] {
            let words = Subject::Words(["Amortissement annuel", "Jahresabschreibung"]);
            let lines = vec![Line::new("6800", minor), Line::new(account, -minor)];
            books.post_as(entered_on, last, General, words, lines);
        }
    }
    if last.month().is_multiple_of(3) {
        books.settle_vat(last)?;
    }
    if last.month() == 12 { books.close(last) } else { Ok(()) }
}
