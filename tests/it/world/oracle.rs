//! What reports on hand-made books must say: every event replayed in whole centimes, and nothing else.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::Client;
use super::ledger::{Account, Entry, Ledger, Line};

/// An amount of an answer, in centimes.
pub(crate) fn cents(value: &Value) -> i64 {
    let amount = value.as_f64().unwrap_or_else(|| panic!("{value} is no amount"));
    #[expect(clippy::cast_possible_truncation, reason = "amounts of the tests are small")]
    let cents = (amount * 100.0).round() as i64;
    cents
}

/// Opening, debit, credit.
pub(crate) type Sums = (i64, i64, i64);

impl Account {
    /// Whether it begins anew with each year.
    pub(crate) fn is_anew(&self) -> bool {
        matches!(self.kind, "income" | "expense" | "closing")
    }

    /// Whether it is in the profit and loss.
    pub(crate) fn is_of_result(&self) -> bool {
        matches!(self.kind, "income" | "expense")
    }
}

impl Ledger {
    /// The lines that are posted and known, each with its entry.
    pub(crate) fn known(&self, known: i64) -> impl Iterator<Item = (&Entry, &Line)> {
        let posted =
            self.entries.iter().filter(move |entry| entry.commit.is_some_and(|at| at <= known));
        posted.flat_map(|entry| entry.lines.iter().map(move |line| (entry, line)))
    }

    /// The first day of the last year that begins by a day.
    pub(crate) fn year_start(&self, on: NaiveDate) -> NaiveDate {
        let begun = self.years.iter().map(|year| year.from).filter(|from| *from <= on);
        begun.max().unwrap_or(on)
    }

    /// The turnover of an account in the books, or in another currency, from a day to a day; before `since` nothing counts
    /// on accounts that begin anew.
    pub(crate) fn turnover(
        &self,
        account: usize,
        currency: Option<&str>,
        (from, to): (NaiveDate, NaiveDate),
        since: NaiveDate,
        known: i64,
    ) -> Sums {
        let is_anew = self.accounts[account].is_anew();
        let (mut opening, mut debit, mut credit) = (0, 0, 0);
        for (entry, line) in self.known(known) {
            if line.account != account || entry.day > to || (is_anew && entry.day < since) {
                continue;
            }
            let amount = match currency {
                None => line.amount,
                Some(currency) if line.currency == currency => line.foreign,
                Some(_) => continue,
            };
            match () {
                () if entry.day < from => opening += amount,
                () if amount > 0 => debit += amount,
                () => credit -= amount,
            }
        }
        (opening, debit, credit)
    }

    /// What each account adds to the result of some days, by number, without nothings.
    pub(crate) fn results(
        &self,
        (from, to): (NaiveDate, NaiveDate),
        known: i64,
    ) -> BTreeMap<String, i64> {
        let mut results = BTreeMap::new();
        for (entry, line) in self.known(known) {
            let account = &self.accounts[line.account];
            if account.is_of_result() && entry.journal != "CLO" && (from..=to).contains(&entry.day)
            {
                *results.entry(account.number.clone()).or_insert(0) -= line.amount;
            }
        }
        results.retain(|_, amount| *amount != 0);
        results
    }

    /// The balance of all accounts for which something holds, debits positive, of some days.
    pub(crate) fn balance(
        &self,
        (from, to): (NaiveDate, NaiveDate),
        known: i64,
        holds: impl Fn(&Account) -> bool,
    ) -> i64 {
        let meant = self.known(known).filter(|(entry, line)| {
            (from..=to).contains(&entry.day) && holds(&self.accounts[line.account])
        });
        meant.map(|(_, line)| line.amount).sum()
    }
}

/// Asks for all pages of a figure's rows, checks that they add up to its parts, and answers these with their counts.
pub(crate) fn explained(
    client: &Client,
    figure: &Value,
    limit: i64,
) -> BTreeMap<String, (i64, i64)> {
    let mut arguments = json!({ "figure": figure, "limit": limit });
    let mut summed: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    loop {
        let answer = client.ask("explain_figure", arguments.clone());
        for row in answer["items"].as_array().unwrap() {
            let part = summed.entry(row["part"].as_str().unwrap().to_owned()).or_default();
            part.0 += cents(&row["amount"]);
            part.1 += 1;
        }
        if let Some(cursor) = answer.get("next_cursor") {
            arguments["cursor"] = cursor.clone();
            continue;
        }
        let parts: BTreeMap<String, (i64, i64)> = answer["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| {
                let sums = (cents(&part["amount"]), part["rows"].as_i64().unwrap());
                (part["part"].as_str().unwrap().to_owned(), sums)
            })
            .collect();
        for (part, sums) in &parts {
            assert_eq!(summed.get(part).copied().unwrap_or_default(), *sums, "{part}: {answer}");
        }
        assert!(summed.keys().all(|part| parts.contains_key(part)), "{answer}");
        let rows: i64 = parts.values().map(|(_, rows)| rows).sum();
        assert_eq!(answer["total"], rows);
        return parts;
    }
}

/// Checks that all controls of a report hold.
pub(crate) fn assert_controls(report: &Value) {
    let controls = report["controls"].as_array().unwrap_or_else(|| panic!("{report}"));
    assert!(!controls.is_empty());
    for control in controls {
        assert_eq!(control["holds"], true, "{control} of {report}");
    }
}
