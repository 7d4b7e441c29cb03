//! The books of a client that pays VAT at net rates, half-yearly, for two activities: turnover is booked with the tax in it.

use super::ledger::{Due, Ledger, tax_of};
use super::{Line, Party, Planned, SHOP};
use crate::demo::plan::{LAST_MONTH, day, last_day, months};
use crate::error::Result;
use crate::ledger::JournalCode::{Bank, Cash, Closing, General, Opening, Purchases, Sales};

/// The accounts of the two activities, and the net rates that were granted for them, in ten-thousandths.
pub(in super::super) const ACTIVITIES: [(&str, &str, i64); 2] =
    [("3010", "A", 21_000), ("3410", "B", 62_000)];

const SUPPLIER: Party = Party::Named(["Grossiste de l'Arve", "Grosshandel Thurtal"]);
const CUSTOMER: Party = Party::Named(["Régie du Parc", "Verwaltung Parkhof"]);

pub(super) fn plan(firm: u16) -> Result<Vec<Planned>> {
    let mut books = Ledger::new(SHOP, firm);
    let first = day(2024, 1, 1)?;
    let (cash, capital) = (books.scaled(1_250_000), books.scaled(1_000_000));
    let lines = vec![
        Line::new("1020", cash),
        Line::new("2800", -capital),
        Line::new("2970", capital - cash),
    ];
    books.post(first, Opening, ["Bilan d'ouverture", "Eröffnungsbilanz"], lines)?;
    let mut declared = [0; 2];
    for (year, month) in months() {
        of_month(&mut books, year, month)?;
        if (year, month) == LAST_MONTH {
            books.pay_dues(last_day()?)?;
            continue;
        }
        let last = day(year, month, 1)?.plus_months(1).minus_days(1);
        books.pay_dues(last)?;
        if month.is_multiple_of(6) {
            let mut tax = 0;
            for ((account, _, percent), declared) in ACTIVITIES.iter().zip(&mut declared) {
                let turnover = -books.balance(account);
                tax += tax_of(turnover - *declared, *percent);
                *declared = turnover;
            }
            let lines = vec![Line::new("3809", tax).base("OO"), Line::new("2201", -tax)];
            let words = ["TVA au taux de la dette nette", "MWST nach Saldosteuersatz"];
            books.post(last, General, words, lines)?;
            books.owe_vat(last, -tax)?;
        }
        if month == 12 {
            books.close(last)?;
        }
    }
    debug_assert!(books.entries.iter().filter(|entry| entry.journal == Closing).count() == 2);
    Ok(books.entries)
}

fn of_month(books: &mut Ledger, year: i32, month: u32) -> Result<()> {
    for date in [7, 14, 21, 28] {
        let gross = books.about(185_000, 70_000);
        let lines = vec![Line::new("1020", gross), Line::new("3010", -gross).base("UN")];
        let words = ["Ventes au comptoir", "Ladenverkäufe"];
        books.post(day(year, month, date)?, Cash, words, lines)?;
    }
    let (gross, letter, on) =
        (books.about(95_000, 85_000), books.next_letter(), day(year, month, 12)?);
    let lines = vec![
        Line::new("1100", gross).about(CUSTOMER).settled(letter),
        Line::new("3410", -gross).base("UN"),
    ];
    books.post(on, Sales, ["Facture de conseil", "Rechnung für Beratung"], lines)?;
    let due = on.plus_days(35);
    books.dues.push(Due { on: due, account: "1100", minor: gross, party: CUSTOMER, letter });
    let (cost, letter, on) =
        (books.about(310_000, 90_000), books.next_letter(), day(year, month, 5)?);
    let lines =
        vec![Line::new("4200", cost), Line::new("2000", -cost).about(SUPPLIER).settled(letter)];
    books.post(on, Purchases, ["Facture du grossiste", "Rechnung des Grosshändlers"], lines)?;
    let due = on.plus_days(20);
    books.dues.push(Due { on: due, account: "2000", minor: -cost, party: SUPPLIER, letter });
    let rent = books.scaled(165_000);
    let lines = vec![Line::new("6000", rent), Line::new("1020", -rent)];
    books.post(day(year, month, 2)?, Bank, ["Loyer du mois", "Monatsmiete"], lines)?;
    Ok(())
}
