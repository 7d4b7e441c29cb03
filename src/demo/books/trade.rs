//! The books of two clients that trade and pay VAT by the effective method: one with every VAT code and foreign
//! currencies, one with a long first year.

use super::ledger::{Due, Ledger, NORMAL, REDUCED, closing_day, tax_of};
use super::{BAKERY, Line, Party, Planned, Subject, TRADE, special};
use crate::dates::Day;
use crate::demo::plan::{LAST_MONTH, day, last_day, months};
use crate::error::Result;
use crate::ledger::JournalCode::{Bank, Cash, General, Opening, Purchases, Sales};

/// Suppliers.
const SUPPLIERS: [Party; 4] = [
    Party::Named(["Moulins du Lac", "Mühle am See"]),
    Party::Named(["Coopérative laitière", "Milchgenossenschaft"]),
    Party::Named(["Imprimerie du Pont", "Druckerei zur Brücke"]),
    Party::Named(["Atelier mécanique", "Mechanische Werkstatt"]),
];
/// Customers on account.
const CUSTOMERS: [Party; 3] = [
    Party::Named(["Hôtel de la Gare", "Hotel zum Bahnhof"]),
    Party::Named(["Clinique des Tilleuls", "Klinik Lindenhof"]),
    Party::Named(["École hôtelière", "Hotelfachschule"]),
];

/// The entries of both.
pub(super) fn plan(firm: u16) -> Result<Vec<Planned>> {
    let mut trade = Ledger::new(TRADE, firm);
    open(&mut trade, day(2024, 1, 1)?)?;
    for (year, month) in months() {
        of_month(&mut trade, year, month)?;
        special::of_month(&mut trade, year, month)?;
        end_of_month(&mut trade, year, month, month == 12)?;
    }
    special::drafts(&mut trade)?;
    let mut bakery = Ledger::new(BAKERY, firm);
    found(&mut bakery, day(2024, 2, 1)?)?;
    for (year, month) in months().filter(|month| *month >= (2024, 2)) {
        of_month(&mut bakery, year, month)?;
        end_of_month(&mut bakery, year, month, (year, month) == (2025, 12))?;
    }
    Ok([trade.entries, bakery.entries].concat())
}

/// The balance sheet with which the books begin.
fn open(books: &mut Ledger, first: Day) -> Result<()> {
    let opening = [
        ("1000", 250_000),
        ("1020", 8_450_000),
        ("1200", 2_100_000),
        ("1510", 3_600_000),
        ("1519", -1_200_000),
        ("1530", 2_800_000),
        ("1539", -900_000),
        ("2400", -4_000_000),
        ("2800", -10_000_000),
        ("2950", -500_000),
    ];
    let mut lines: Vec<_> =
        opening.iter().map(|(number, minor)| Line::new(*number, books.scaled(*minor))).collect();
    let rest: i64 = lines.iter().map(|line| line.minor).sum();
    lines.push(Line::new("2970", -rest));
    books.post(first, Opening, ["Bilan d'ouverture", "Eröffnungsbilanz"], lines)?;
    Ok(())
}

/// The founding of a company.
fn found(books: &mut Ledger, first: Day) -> Result<()> {
    let capital = books.scaled(6_000_000);
    let lines = vec![Line::new("1020", capital), Line::new("2800", -capital)];
    books.post(first, Opening, ["Libération du capital", "Liberierung des Kapitals"], lines)?;
    let (price, on) = (books.scaled(1_850_000), first.plus_days(9));
    let tax = tax_of(price, NORMAL);
    let lines = vec![
        Line::new("1510", price).base("VI"),
        Line::new("1171", tax).tax("VI"),
        Line::new("1020", -price - tax),
    ];
    books.post(on, Purchases, ["Agencement du magasin", "Ladeneinrichtung"], lines)?;
    Ok(())
}

fn of_month(books: &mut Ledger, year: i32, month: u32) -> Result<()> {
    let first = day(year, month, 1)?;
    let rent = books.scaled(285_000);
    let lines = vec![Line::new("6000", rent), Line::new("1020", -rent)];
    let paid = books.post(first, Bank, ["Loyer du mois", "Monatsmiete"], lines)?;
    if month == 5 {
        let words = ["Loyer passé deux fois, extourne", "Miete doppelt gebucht, Storno"];
        let twice = books.entries.get(paid).map(|entry| entry.lines.clone()).unwrap_or_default();
        let again =
            books.post(first.plus_days(1), Bank, ["Loyer du mois", "Monatsmiete"], twice)?;
        books.reverse(again, first.plus_days(18), Subject::Words(words));
    }
    for week in 0..4 {
        till(books, day(year, month, 6 + 7 * week)?)?;
    }
    for (number, customer) in CUSTOMERS.iter().enumerate() {
        let number = i64::try_from(number).unwrap_or_default();
        sell_on_account(books, first.plus_days(8 + number * 5), *customer)?;
    }
    for (number, supplier) in SUPPLIERS.iter().enumerate() {
        let number = i64::try_from(number).unwrap_or_default();
        buy(books, first.plus_days(3 + number * 4), number, *supplier)?;
    }
    Ok(())
}

/// A week in the till: food at the reduced rate, the rest at the normal one.
fn till(books: &mut Ledger, on: Day) -> Result<()> {
    if on > last_day()? {
        return Ok(());
    }
    let (food, rest) = (books.about(310_000, 90_000), books.about(120_000, 60_000));
    let (on_food, on_rest) = (tax_of(food, REDUCED), tax_of(rest, NORMAL));
    let lines = vec![
        Line::new("1000", food + rest + on_food + on_rest),
        Line::new("3200", -food).base("UR"),
        Line::new("2200", -on_food).tax("UR"),
        Line::new("3200", -rest).base("UN"),
        Line::new("2200", -on_rest).tax("UN"),
    ];
    books.post(on, Cash, ["Ventes de la semaine", "Wochenverkäufe"], lines)?;
    Ok(())
}

/// An invoice, collected a month later; one in five with a discount.
fn sell_on_account(books: &mut Ledger, on: Day, customer: Party) -> Result<()> {
    let net = books.about(140_000, 160_000);
    let (tax, letter) = (tax_of(net, NORMAL), books.next_letter());
    let lines = vec![
        Line::new("1100", net + tax).about(customer).settled(letter),
        Line::new("3400", -net).base("UN"),
        Line::new("2200", -tax).tax("UN"),
    ];
    books.post(on, Sales, ["Facture de prestations", "Rechnung für Leistungen"], lines)?;
    let mut owed = net + tax;
    if books.chance.below(5) == 0 {
        let discount = net / 50;
        let less = tax_of(discount, NORMAL);
        let lines = vec![
            Line::new("3800", discount).base("UD"),
            Line::new("2200", less).tax("UD"),
            Line::new("1100", -discount - less).about(customer).settled(letter),
        ];
        books.post(on.plus_days(2), Sales, ["Escompte accordé", "Gewährtes Skonto"], lines)?;
        owed -= discount + less;
    }
    let due = on.plus_days(30);
    books.dues.push(Due { on: due, account: "1100", minor: owed, party: customer, letter });
    Ok(())
}

/// A supplier's invoice, paid three weeks later.
fn buy(books: &mut Ledger, on: Day, kind: i64, supplier: Party) -> Result<()> {
    let (account, code, input, percent, least) = match kind {
        0 => ("4200", "VMR", "1170", REDUCED, 980_000),
        1 => ("4000", "VMR", "1170", REDUCED, 420_000),
        2 => ("6600", "VI", "1171", NORMAL, 45_000),
        _ => ("6100", "VI", "1171", NORMAL, 62_000),
    };
    let net = books.about(least, 40_000);
    let (tax, letter) = (tax_of(net, percent), books.next_letter());
    let lines = vec![
        Line::new(account, net).base(code),
        Line::new(input, tax).tax(code),
        Line::new("2000", -net - tax).about(supplier).settled(letter),
    ];
    books.post(on, Purchases, ["Facture fournisseur", "Lieferantenrechnung"], lines)?;
    let due = on.plus_days(21);
    books.dues.push(Due { on: due, account: "2000", minor: -net - tax, party: supplier, letter });
    Ok(())
}

/// Payments, the bank's charges, cash taken to the bank; VAT at the end of a quarter, and the year if it ends.
fn end_of_month(books: &mut Ledger, year: i32, month: u32, is_year_end: bool) -> Result<()> {
    let last = day(year, month, 1)?.plus_months(1).minus_days(1);
    books.pay_dues(last.min(last_day()?))?;
    if (year, month) == LAST_MONTH {
        return Ok(());
    }
    let fee = books.scaled(3_250);
    let lines = vec![Line::new("6940", fee), Line::new("1020", -fee)];
    books.post(last, Bank, ["Frais bancaires", "Bankspesen"], lines)?;
    let cash = books.balance("1000") - books.scaled(250_000);
    let lines = vec![Line::new("1020", cash), Line::new("1000", -cash)];
    books.post(last, Cash, ["Versement de la caisse", "Einzahlung aus der Kasse"], lines)?;
    if is_year_end {
        adjust(books, last)?;
    }
    if month.is_multiple_of(3) {
        books.settle_vat(last)?;
    }
    if is_year_end {
        books.close(last)?;
        undo(books, last.plus_days(1))?;
    }
    Ok(())
}

/// Depreciation, accruals and taxes at the end of a year.
fn adjust(books: &mut Ledger, last: Day) -> Result<()> {
    let entered_on = closing_day(last)?;
    let mut post = |words, lines| {
        books.post_as(entered_on, last, General, Subject::Words(words), lines);
    };
    post(
        ["Amortissement du mobilier", "Abschreibung Mobiliar"],
        vec![Line::new("6800", 480_000), Line::new("1519", -480_000)],
    );
    post(
        ["Amortissement des véhicules", "Abschreibung Fahrzeuge"],
        vec![Line::new("6800", 190_000), Line::new("1539", -190_000)],
    );
    post(
        ["Honoraires de bouclement à payer", "Noch zu zahlendes Abschlusshonorar"],
        vec![Line::new("6530", ACCRUED), Line::new("2300", -ACCRUED)],
    );
    post(
        ["Assurances payées d'avance", "Vorausbezahlte Versicherungen"],
        vec![Line::new("1300", PREPAID), Line::new("6300", -PREPAID)],
    );
    post(
        ["Impôts de l'exercice", "Steuern des Jahres"],
        vec![Line::new("8900", 310_000), Line::new("2208", -310_000)],
    );
    Ok(())
}

/// What is accrued for the accountant.
const ACCRUED: i64 = 420_000;
/// What of the insurance is for the next year.
const PREPAID: i64 = 95_000;

/// Takes the accruals back on the first day of the next year.
fn undo(books: &mut Ledger, first: Day) -> Result<()> {
    let entered_on = closing_day(first.minus_days(1))?;
    let words = Subject::Words(["Reprise des régularisations", "Auflösung der Abgrenzungen"]);
    let lines = vec![
        Line::new("2300", ACCRUED),
        Line::new("6530", -ACCRUED),
        Line::new("6300", PREPAID),
        Line::new("1300", -PREPAID),
    ];
    books.post_as(entered_on, first, General, words, lines);
    Ok(())
}
