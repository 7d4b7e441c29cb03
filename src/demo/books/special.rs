//! What the trading client meets beside its ordinary business: foreign currencies, every VAT code, a supply of 2023.

use super::ledger::{ACCOMMODATION, Ledger, NORMAL, REDUCED, tax_of};
use super::{Line, Party, Subject};
use crate::dates::Day;
use crate::demo::exchange::{rate, worth};
use crate::demo::plan::day;
use crate::error::Result;
use crate::ledger::JournalCode::{Bank, General, Purchases, Sales};
use crate::money::Currency::Eur;

/// A customer and a supplier abroad.
const ABROAD: [Party; 2] = [
    Party::Named(["Hôtels de Savoie", "Hotels im Allgäu"]),
    Party::Named(["Logiciels de Grenoble", "Software aus Konstanz"]),
];

/// The tax on a supply of 2023, in ten-thousandths.
const NORMAL_2023: i64 = 77_000;

pub(super) fn of_month(books: &mut Ledger, year: i32, month: u32) -> Result<()> {
    let at = |date| day(year, month, date);
    if (year, month) == (2024, 1) {
        late(books, at(9)?)?;
    }
    if month % 3 == 2 {
        export(books, at(4)?)?;
        acquire(books, at(11)?)?;
    }
    match (year, month) {
        (2025, 1) => rents(books, at(8)?),
        (2025, 4) => abroad_and_transfers(books, at(10)?),
        (2025, 7) => inputs(books, at(9)?),
        (2025, 10) => corrections(books, at(14)?),
        (2025 | 2024, 11) => outside(books, at(18)?),
        (2025 | 2026, 3) => dividend(books, at(28)?),
        (2024 | 2025, 12) => revalue(books, at(31)?),
        _ => Ok(()),
    }
}

/// A taxed sale for cash at the bank.
fn supply(account: &str, code: &'static str, net: i64, percent: i64) -> Vec<Line> {
    let tax = tax_of(net, percent);
    vec![
        Line::new("1020", net + tax),
        Line::new(account, -net).base(code),
        Line::new("2200", -tax).tax(code),
    ]
}

/// A purchase paid at once.
fn purchase(account: &str, code: &'static str, input: &str, net: i64, percent: i64) -> Vec<Line> {
    let tax = tax_of(net, percent);
    vec![
        Line::new(account, net).base(code),
        Line::new(input, tax).tax(code),
        Line::new("1020", -net - tax),
    ]
}

/// A supply of December 2023, invoiced in January: at the rate of its day.
fn late(books: &mut Ledger, on: Day) -> Result<()> {
    let net = books.scaled(240_000);
    let supplied_on = day(2023, 12, 20)?;
    let tax = tax_of(net, NORMAL_2023);
    let lines = vec![
        Line::new("1020", net + tax),
        Line::new("3400", -net).base("UN").supplied(supplied_on),
        Line::new("2200", -tax).tax("UN").supplied(supplied_on),
    ];
    books.post(on, Sales, ["Prestation de décembre 2023", "Leistung vom Dezember 2023"], lines)?;
    Ok(())
}

/// Goods sold abroad in euro, and the money four weeks later at another rate.
fn export(books: &mut Ledger, on: Day) -> Result<()> {
    let [customer, _] = ABROAD;
    let (sold, letter) = (books.about(480_000, 120_000), books.next_letter());
    let (first, paid_on) = (rate(Eur, on), on.plus_days(24));
    let booked = worth(sold, first);
    let lines = vec![
        Line::new("1101", booked).at(Eur, sold, first).about(customer).settled(letter),
        Line::new("3200", -booked).at(Eur, -sold, first).base("UX"),
    ];
    books.post(on, Sales, ["Livraison en France", "Lieferung nach Deutschland"], lines)?;
    let second = rate(Eur, paid_on);
    let received = worth(sold, second);
    let lines = vec![
        Line::new("1021", received).at(Eur, sold, second),
        Line::new("1101", -booked).at(Eur, -sold, first).about(customer).settled(letter),
        difference(booked - received),
    ];
    books.post(paid_on, Bank, ["Encaissement en euros", "Zahlungseingang in Euro"], lines)?;
    Ok(())
}

/// What a rate brought, above nought for a loss.
pub(super) fn difference(minor: i64) -> Line {
    if minor > 0 { Line::new("6949", minor) } else { Line::new("6999", minor).base("OO") }
}

/// A service from abroad: its tax is owed by who buys it, and is input tax too.
fn acquire(books: &mut Ledger, on: Day) -> Result<()> {
    let [_, supplier] = ABROAD;
    let (bought, letter) = (books.about(180_000, 60_000), books.next_letter());
    let (first, paid_on) = (rate(Eur, on), on.plus_days(14));
    let booked = worth(bought, first);
    let tax = tax_of(booked, NORMAL);
    let lines = vec![
        Line::new("4400", booked).at(Eur, bought, first).base("BN"),
        Line::new("2000", -booked).at(Eur, -bought, first).about(supplier).settled(letter),
        Line::new("1170", tax).tax("BN"),
        Line::new("2200", -tax).tax("BN"),
    ];
    books.post(on, Purchases, ["Prestation de l'étranger", "Leistung aus dem Ausland"], lines)?;
    let second = rate(Eur, paid_on);
    let paid = worth(bought, second);
    let lines = vec![
        Line::new("2000", booked).at(Eur, bought, first).about(supplier).settled(letter),
        Line::new("1021", -paid).at(Eur, -bought, second),
        difference(paid - booked),
    ];
    books.post(paid_on, Bank, ["Paiement en euros", "Zahlung in Euro"], lines)?;
    Ok(())
}

fn rents(books: &mut Ledger, on: Day) -> Result<()> {
    let opted = supply("7500", "UO", books.scaled(360_000), NORMAL);
    books.post(on, Bank, ["Location soumise par option", "Vermietung mit Option"], opted)?;
    let exempt = books.scaled(120_000);
    let lines = vec![Line::new("1020", exempt), Line::new("7500", -exempt).base("UF")];
    books.post(on, Bank, ["Location exclue du champ", "Vermietung ohne Option"], lines)?;
    let nights = supply("3400", "UB", books.scaled(88_000), ACCOMMODATION);
    books.post(on, Bank, ["Chambres d'hôtes", "Gästezimmer"], nights)?;
    Ok(())
}

fn abroad_and_transfers(books: &mut Ledger, on: Day) -> Result<()> {
    for (code, minor, words) in [
        ("UA", 152_000, ["Conseil rendu à l'étranger", "Beratung im Ausland"]),
        ("UM", 900_000, ["Reprise d'un rayon", "Übertragung einer Abteilung"]),
        ("UL", 64_000, ["Part du sol", "Bodenanteil"]),
    ] {
        let net = books.scaled(minor);
        let lines = vec![Line::new("1020", net), Line::new("3400", -net).base(code)];
        books.post(on, Bank, words, lines)?;
    }
    for (code, minor, percent, words) in [
        ("UDR", 21_000, REDUCED, ["Rabais sur denrées", "Rabatt auf Lebensmittel"]),
        ("UDB", 9_500, ACCOMMODATION, ["Rabais sur nuitées", "Rabatt auf Übernachtungen"]),
    ] {
        let net = books.scaled(minor);
        let tax = tax_of(net, percent);
        let lines = vec![
            Line::new("3800", net).base(code),
            Line::new("2200", tax).tax(code),
            Line::new("1020", -net - tax),
        ];
        books.post(on, Bank, words, lines)?;
    }
    Ok(())
}

fn inputs(books: &mut Ledger, on: Day) -> Result<()> {
    for (account, code, input, minor, percent, words) in [
        ("4000", "VM", "1170", 210_000, NORMAL, ["Emballages", "Verpackungen"]),
        ("1520", "VI", "1171", 480_000, NORMAL, ["Caisse enregistreuse", "Registrierkasse"]),
        ("6500", "VIR", "1171", 18_000, REDUCED, ["Revues", "Zeitschriften"]),
        ("6500", "VIB", "1171", 33_000, ACCOMMODATION, ["Nuitées en voyage", "Übernachtungen"]),
    ] {
        let lines = purchase(account, code, input, books.scaled(minor), percent);
        books.post(on, Purchases, words, lines)?;
    }
    let bought = books.scaled(95_000);
    let tax = tax_of(bought, NORMAL);
    let lines = vec![
        Line::new("6570", bought).base("BI"),
        Line::new("1020", -bought),
        Line::new("1171", tax).tax("BI"),
        Line::new("2200", -tax).tax("BI"),
    ];
    books.post(on, Purchases, ["Licence étrangère", "Ausländische Lizenz"], lines)?;
    Ok(())
}

/// Corrections of input tax: relief, own use, subsidies.
fn corrections(books: &mut Ledger, on: Day) -> Result<()> {
    for (code, input, other, minor, words) in [
        ("KN", "1171", "1510", 54_000, ["Dégrèvement ultérieur", "Einlageentsteuerung"]),
        ("KO", "1171", "6500", -12_000, ["Part privée", "Privatanteil"]),
        ("KU", "1170", "4000", -7_500, ["Réduction pour subvention", "Kürzung wegen Subvention"]),
    ] {
        let tax = books.scaled(minor);
        let lines = vec![Line::new(input, tax).tax(code), Line::new(other, -tax)];
        books.post(on, General, words, lines)?;
    }
    Ok(())
}

/// What is not taxed at all.
fn outside(books: &mut Ledger, on: Day) -> Result<()> {
    for (code, account, minor, words) in [
        ("NS", "8510", 150_000, ["Subvention communale", "Beitrag der Gemeinde"]),
        ("ND", "8510", 42_000, ["Dédommagement d'assurance", "Schadenersatz der Versicherung"]),
        ("OO", "6950", 3_800, ["Intérêts reçus", "Zinsertrag"]),
    ] {
        let amount = books.scaled(minor);
        let lines = vec![Line::new("1020", amount), Line::new(account, -amount).base(code)];
        books.post(on, Bank, words, lines)?;
    }
    Ok(())
}

/// A dividend, with the tax withheld from it.
fn dividend(books: &mut Ledger, on: Day) -> Result<()> {
    let gross = books.scaled(200_000);
    let withheld = tax_of(gross, 350_000);
    let lines = vec![Line::new("2970", gross), Line::new("2261", -gross)];
    books.post(on, General, ["Dividende décidé", "Beschlossene Dividende"], lines)?;
    let lines = vec![
        Line::new("2261", gross),
        Line::new("2206", -withheld),
        Line::new("1020", withheld - gross),
    ];
    books.post(on, Bank, ["Dividende versé", "Ausbezahlte Dividende"], lines)?;
    Ok(())
}

/// Brings the account in euro to the rate of the last day.
fn revalue(books: &mut Ledger, on: Day) -> Result<()> {
    let account = |line: &&Line| line.account == "1021";
    let all = books.entries.iter().flat_map(|entry| &entry.lines).filter(account);
    let held = all.filter_map(|line| line.foreign).map(|(_, minor, _)| minor).sum();
    let change = worth(held, rate(Eur, on)) - books.balance("1021");
    let lines = vec![Line::new("1021", change).revalued(Eur), difference(-change)];
    let words = Subject::Words(["Réévaluation des euros", "Bewertung der Euro"]);
    books.post_as(super::ledger::closing_day(on)?, on, General, words, lines);
    Ok(())
}

/// Entries of the last days that nobody has posted yet.
pub(super) fn drafts(books: &mut Ledger) -> Result<()> {
    let first = day(2026, 11, 24)?;
    for (n, words) in (0..).zip([
        ["Achat à contrôler", "Zu prüfender Einkauf"],
        ["Note de frais", "Spesenabrechnung"],
        ["Facture sans commande", "Rechnung ohne Bestellung"],
    ]) {
        let lines = purchase("6500", "VI", "1171", books.scaled(12_000 + n * 4_500), NORMAL);
        let place = books.post(first.plus_days(n), Purchases, words, lines)?;
        if let Some(entry) = books.entries.get_mut(place) {
            entry.is_draft = true;
        }
    }
    Ok(())
}
