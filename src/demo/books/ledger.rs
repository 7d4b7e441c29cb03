//! Books while they are planned: entries, balances, what is still to be paid.

use std::collections::BTreeMap;

use super::{Line, Party, Planned, Subject, Words};
use crate::dates::Day;
use crate::demo::plan::{Chance, day, last_day};
use crate::error::Result;
use crate::ledger::JournalCode;
use crate::money::{Money, Rate};

/// Something owed, to be paid on a day.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub(super) on: Day,
    pub(super) account: &'static str,
    /// Above nought when it is owed to the books.
    pub(super) minor: i64,
    pub(super) party: Party,
    pub(super) letter: u32,
}

/// Books while they are planned.
pub(super) struct Ledger {
    mandate: u32,
    /// Hundredths by which amounts are multiplied.
    percent: i64,
    pub(super) chance: Chance,
    pub(super) entries: Vec<Planned>,
    balances: BTreeMap<String, i64>,
    pub(super) dues: Vec<Due>,
    letter: u32,
    /// The result of the years that are closed.
    closed: i64,
}

impl Ledger {
    /// Books without an entry; the second firm's amounts are seven per cent higher.
    pub(super) fn new(mandate: u32, firm: u16) -> Self {
        Self {
            mandate,
            percent: 100 + 7 * i64::from(firm),
            chance: Chance::of(u64::from(mandate) * 977),
            entries: vec![],
            balances: BTreeMap::new(),
            dues: vec![],
            letter: 0,
            closed: 0,
        }
    }

    /// An amount of this firm, in steps of five centimes.
    pub(super) const fn scaled(&self, minor: i64) -> i64 {
        (minor.abs() * self.percent / 100 + 2) / 5 * 5 * minor.signum()
    }

    /// An amount of up to `spread` hundredths above `least`, of this firm.
    pub(super) fn about(&mut self, least: i64, spread: u32) -> i64 {
        let minor = least + i64::from(self.chance.below(spread));
        self.scaled(minor)
    }

    /// The balance of an account, debit above nought.
    pub(super) fn balance(&self, account: &str) -> i64 {
        self.balances.get(account).copied().unwrap_or_default()
    }

    /// The next letter for lines that settle one another.
    pub(super) const fn next_letter(&mut self) -> u32 {
        self.letter += 1;
        self.letter
    }

    /// Posts on the day itself, or within two days; lines of nought are left out. Answers the entry's place.
    pub(super) fn post(
        &mut self,
        on: Day,
        journal: JournalCode,
        words: Words,
        lines: Vec<Line>,
    ) -> Result<usize> {
        let entered_on = on.plus_days(i64::from(on.day_of_month() % 3)).min(last_day()?);
        Ok(self.post_as(entered_on, on, journal, Subject::Words(words), lines))
    }

    /// Posts on another day than that of the entry.
    pub(super) fn post_as(
        &mut self,
        entered_on: Day,
        on: Day,
        journal: JournalCode,
        subject: Subject,
        mut lines: Vec<Line>,
    ) -> usize {
        lines.retain(|line| line.minor != 0);
        for line in &lines {
            *self.balances.entry(line.account.clone()).or_default() += line.minor;
        }
        let (mandate, commit, is_draft, reverses) = (self.mandate, None, false, None);
        self.entries.push(Planned {
            mandate,
            journal,
            on,
            entered_on,
            commit,
            subject,
            lines,
            is_draft,
            reverses,
        });
        self.entries.len() - 1
    }

    /// Posts the reversal of an entry.
    pub(super) fn reverse(&mut self, place: usize, on: Day, subject: Subject) {
        let Some(original) = self.entries.get(place) else { return };
        let original_on = original.on;
        let negative = |line: &Line| {
            let mut line = line.clone();
            line.minor = -line.minor;
            line.foreign = line.foreign.map(|(currency, minor, rate)| (currency, -minor, rate));
            line.supplied_on = line.vat.map(|_| line.supplied_on.unwrap_or(original_on));
            line
        };
        let lines: Vec<_> = original.lines.iter().map(negative).collect();
        let at = self.post_as(on, on, JournalCode::Reversals, subject, lines);
        if let Some(entry) = self.entries.get_mut(at) {
            entry.reverses = Some(place);
        }
    }

    /// Pays what is due up to a day, from and to the bank.
    pub(super) fn pay_dues(&mut self, until: Day) -> Result<()> {
        let (due, later) = self.dues.iter().partition(|due| due.on <= until);
        self.dues = later;
        for Due { on, account, minor, party, letter } in due {
            let words = if minor > 0 {
                ["Encaissement client", "Zahlungseingang Kunde"]
            } else {
                ["Paiement fournisseur", "Zahlung an Lieferanten"]
            };
            let lines = vec![
                Line::new("1020", minor),
                Line::new(account, -minor).about(party).settled(letter),
            ];
            self.post(on, JournalCode::Bank, words, lines)?;
        }
        Ok(())
    }

    /// Closes a year: its result goes to 2979, and on the next day to 2970. Posted in the middle of the third month after.
    pub(super) fn close(&mut self, last: Day) -> Result<()> {
        let entered_on = closing_day(last)?;
        let is_earned =
            |number: &&String| number.as_bytes().first().is_some_and(|c| (b'3'..=b'8').contains(c));
        let earned: i64 = self
            .balances
            .iter()
            .filter(|(number, _)| is_earned(number))
            .map(|(_, minor)| -minor)
            .sum();
        let result = earned - self.closed;
        self.closed = earned;
        let words = ["Bouclement, résultat de l'exercice", "Abschluss, Jahresergebnis"];
        let lines = vec![Line::new("9200", result), Line::new("2979", -result)];
        self.post_as(entered_on, last, JournalCode::Closing, Subject::Words(words), lines);
        let words = ["Report du résultat", "Ergebnisvortrag"];
        let lines = vec![Line::new("2979", result), Line::new("2970", -result)];
        let next = last.plus_days(1);
        self.post_as(entered_on, next, JournalCode::Opening, Subject::Words(words), lines);
        Ok(())
    }

    /// Clears the VAT accounts against 2201 at the end of a period; paid on the 25th of the second month after.
    pub(super) fn settle_vat(&mut self, last: Day) -> Result<()> {
        let accounts = ["2200", "1170", "1171"];
        let mut lines: Vec<_> =
            accounts.iter().map(|number| Line::new(*number, -self.balance(number))).collect();
        let owed: i64 = -lines.iter().map(|line| line.minor).sum::<i64>();
        lines.push(Line::new("2201", owed));
        self.post(last, JournalCode::General, ["Décompte TVA", "MWST-Abrechnung"], lines)?;
        self.owe_vat(last, owed)
    }

    /// Pays the tax of a period, or gets it back.
    pub(super) fn owe_vat(&mut self, last: Day, owed: i64) -> Result<()> {
        let month = last.plus_days(1).plus_months(1);
        let paid_on = day(month.year(), month.month(), 25)?;
        if paid_on <= last_day()? {
            let lines = vec![Line::new("2201", -owed), Line::new("1020", owed)];
            let words = ["Paiement TVA", "Zahlung MWST"];
            self.post(paid_on, JournalCode::Bank, words, lines)?;
        }
        Ok(())
    }
}

/// The day on which the work of closing a year is posted.
pub(super) fn closing_day(last: Day) -> Result<Day> {
    let month = last.plus_days(1).plus_months(2);
    day(month.year(), month.month(), 15)
}

/// The tax on an amount, in hundredths.
pub(super) fn tax_of(net: i64, percent: i64) -> i64 {
    Money::from_minor(net).percent(Rate::from_minor(percent)).map_or(0, Money::minor)
}

/// 8.1 %, in ten-thousandths.
pub(super) const NORMAL: i64 = 81_000;
/// 2.6 %.
pub(super) const REDUCED: i64 = 26_000;
/// 3.8 %.
pub(super) const ACCOMMODATION: i64 = 38_000;
