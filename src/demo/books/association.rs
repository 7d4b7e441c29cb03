//! The books of a client without VAT whose years begin in July: results stay where they are, nothing is carried forward.

use super::ledger::{Ledger, closing_day};
use super::{ASSOCIATION, Line, Planned, Subject};
use crate::demo::plan::{day, months};
use crate::error::Result;
use crate::ledger::JournalCode::{Bank, General, Opening};

pub(super) fn plan(firm: u16) -> Result<Vec<Planned>> {
    let mut books = Ledger::new(ASSOCIATION, firm);
    let fortune = books.scaled(2_340_000);
    let lines = vec![Line::new("1010", fortune), Line::new("2970", -fortune)];
    let first = day(2024, 7, 1)?;
    books.post(first, Opening, ["Fortune au début", "Vermögen zu Beginn"], lines)?;
    for (year, month) in months().filter(|month| *month >= (2024, 7)) {
        for date in [5, 12, 19, 26] {
            let fees = books.about(42_000, 30_000);
            let lines = vec![Line::new("1010", fees), Line::new("3400", -fees)];
            let words = ["Cotisations des membres", "Mitgliederbeiträge"];
            books.post(day(year, month, date)?, Bank, words, lines)?;
        }
        let rent = books.scaled(120_000);
        let lines = vec![Line::new("6000", rent), Line::new("1010", -rent)];
        books.post(day(year, month, 3)?, Bank, ["Location de la salle", "Saalmiete"], lines)?;
        let cost = books.about(18_000, 22_000);
        let lines = vec![Line::new("6500", cost), Line::new("1010", -cost)];
        let words = ["Frais d'envoi et de bureau", "Porto und Büro"];
        books.post(day(year, month, 17)?, Bank, words, lines)?;
        if month == 6 {
            let last = day(year, month, 30)?;
            let amount = books.scaled(60_000);
            let words = Subject::Words(["Amortissement du matériel", "Abschreibung Material"]);
            let lines = vec![Line::new("6800", amount), Line::new("1509", -amount)];
            books.post_as(closing_day(last)?, last, General, words, lines);
        }
    }
    Ok(books.entries)
}
