//! An entry as a line of a file has it.

use serde::{Deserialize, Deserializer, de};

use super::kinds::{JournalCode, VatPart};
use super::posting::{Book, Foreign, NewEntry, NewLine, Party, Vat};
use crate::dates::Day;
use crate::ids::EntryId;
use crate::money::{Currency, ExchangeRate, Money, Rate};
use crate::registry::Object;

/// An entry as a line of the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImportedEntry {
    pub(super) date: Day,
    #[serde(default, deserialize_with = "journal")]
    journal: Option<JournalCode>,
    text: String,
    voucher: String,
    #[serde(default)]
    key: Option<String>,
    pub(super) lines: Vec<Object<ImportedLine>>,
}

/// A line of an entry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImportedLine {
    account: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    debit: Option<Money>,
    #[serde(default)]
    credit: Option<Money>,
    #[serde(default)]
    currency: Option<Currency>,
    #[serde(default)]
    currency_amount: Option<Money>,
    #[serde(default)]
    rate: Option<ExchangeRate>,
    #[serde(default)]
    party: Option<String>,
    #[serde(default)]
    vat_code: Option<String>,
    #[serde(default)]
    vat_part: Option<VatPart>,
    #[serde(default)]
    vat_rate: Option<Rate>,
    #[serde(default)]
    supplied_on: Option<Day>,
}

/// A journal that a file may name; that of reversals is read, so that its rule can refuse it, and not offered.
fn journal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<JournalCode>, D::Error> {
    let Some(word) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    if let Some(code) = JournalCode::parse(&word) {
        return Ok(Some(code));
    }
    let offered = JournalCode::ALL.iter().filter(|code| **code != JournalCode::Reversals);
    let offered: Vec<_> = offered.map(|code| code.as_str()).collect();
    let message = format!("there is no journal {word:?}; use one of {}", offered.join(", "));
    Err(de::Error::custom(message))
}

impl ImportedEntry {
    /// The entry with what the file leaves out filled in: a VAT rate is that of the code on the day of supply.
    ///
    /// # Errors
    /// A line has a field that says nothing without another, or against another.
    pub(super) fn into_new(self, book: &Book, id: EntryId) -> Result<NewEntry, String> {
        let journal = self.journal.unwrap_or(JournalCode::General);
        let mut entry = NewEntry::new(id, journal, self.date, self.text, self.voucher);
        entry.idempotency_key = self.key;
        for (at, Object(line)) in (1..).zip(self.lines) {
            let line = line.into_new(book, self.date);
            entry.lines.push(line.map_err(|message| format!("line {at} of the entry: {message}"))?);
        }
        Ok(entry)
    }
}

impl ImportedLine {
    fn into_new(self, book: &Book, booked_on: Day) -> Result<NewLine, String> {
        let debit = self.debit.unwrap_or_default();
        let mut new = NewLine::new(self.account.as_str(), debit, self.credit.unwrap_or_default());
        new.foreign = self.foreign(book.currency(), new.debit.max(new.credit))?;
        new.vat = self.vat(book, booked_on)?;
        new.text = self.text;
        new.party = self.party.map(Party::Named);
        new.supplied_on = self.supplied_on;
        Ok(new)
    }

    /// The amount in another currency than that of the books.
    fn foreign(&self, books: Currency, booked: Money) -> Result<Option<Foreign>, String> {
        let (amount, rate) = (self.currency_amount, self.rate);
        let Some(currency) = self.currency else {
            let (field, value) = match (amount, rate) {
                (None, None) => return Ok(None),
                (Some(amount), _) => ("currency_amount", amount.to_string()),
                (None, Some(rate)) => ("rate", rate.to_string()),
            };
            return Err(format!(
                "{field} {value} stands without currency; name the currency, or leave {field} out"
            ));
        };
        if currency != books {
            let amount = amount.ok_or_else(|| {
                format!(
                    "currency {currency} stands without currency_amount; give the amount in {currency}, 0 for a revaluation"
                )
            })?;
            return Ok(Some(Foreign { currency, amount, rate }));
        }
        if let Some(amount) = amount.filter(|amount| *amount != booked) {
            return Err(format!(
                "currency_amount {amount} in {books}, the currency of the books, in which the line books {booked}; \
                 leave currency_amount out"
            ));
        }
        match rate.filter(|rate| Some(*rate) != ExchangeRate::parse("1")) {
            None => Ok(None),
            Some(rate) => {
                Err(format!("rate {rate} of {books}, the currency of the books; leave rate out"))
            }
        }
    }

    /// The VAT code with its part and rate.
    fn vat(&self, book: &Book, booked_on: Day) -> Result<Option<Vat>, String> {
        let Some(code) = self.vat_code.clone() else {
            let (field, value) = match (self.vat_part, self.vat_rate) {
                (None, None) => return Ok(None),
                (Some(part), _) => ("vat_part", part.to_string()),
                (None, Some(rate)) => ("vat_rate", rate.to_string()),
            };
            return Err(format!(
                "{field} {value} stands without vat_code; name the code, or leave {field} out"
            ));
        };
        let supplied_on = self.supplied_on.unwrap_or(booked_on);
        let known = || book.vat_rate(&code, supplied_on).unwrap_or_default();
        let rate = self.vat_rate.unwrap_or_else(known);
        Ok(Some(Vat { code, part: self.vat_part.unwrap_or(VatPart::Base), rate }))
    }
}
