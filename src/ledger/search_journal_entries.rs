//! Entries of the books, whole.

use std::collections::BTreeMap;

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EntrySource;
use super::books::{Ledger, account_numbered};
use super::entry_query::{EntryStanding, FoundEntry, LineOfEntry, Wanted, count, found, lines_of};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{entries, journals};
use crate::db::{Contains, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{EntryId, MandateId, RecordId};
use crate::language::Labels;
use crate::money::{Currency, ExchangeRate, Money};
use crate::registry::ReadTool;
use crate::text::{FreeText, search_words};

/// Search the journal entries of a mandate by day, account, journal, amount or words, each whole with all its lines, the
/// latest first. For the movements and balance of one account use get_account_statement.
/// (écritures, journal, pièces / Buchungen, Journal, Belege)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchJournalEntries {
    /// The mandate.
    mandate_id: MandateId,
    /// Booked on this day or later; whenever by default.
    from: Option<Day>,
    /// Booked on this day or earlier; whenever by default.
    to: Option<Day>,
    /// With a line on the account of this number; on any by default.
    account: Option<String>,
    /// In the journal with this code, such as BNQ; in any by default.
    journal: Option<String>,
    /// In this state; in any by default.
    state: Option<EntryStanding>,
    /// With a line of exactly this debit or credit, in the currency of the books; of any amount by default.
    amount: Option<Money>,
    /// Words of the text, in any order, without regard to case and accents; any text by default.
    query: Option<String>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(SearchJournalEntries);

/// A page of entries.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundEntries {
    /// The currency of the books, and of every amount without one of its own.
    currency: Currency,
    /// The entries, the latest day first.
    #[serde(flatten)]
    page: Page<Entry>,
}

/// An entry.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// The entry.
    id: EntryId,
    /// The day in the books.
    on: Day,
    /// The code of its journal.
    journal: String,
    /// The name of its journal.
    journal_label: FreeText,
    /// Its number in the journal and fiscal year; absent for a draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<i64>,
    /// What it is about.
    text: FreeText,
    /// The voucher.
    voucher: FreeText,
    /// Where it stands.
    state: EntryStanding,
    /// The entry that it reverses.
    #[serde(skip_serializing_if = "Option::is_none")]
    reverses_id: Option<EntryId>,
    /// What it books.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<EntrySource>,
    /// The record that it books.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<RecordId>,
    /// The sum of its debits.
    amount: Money,
    /// How many lines it has; more than 100 are not all shown.
    line_count: i64,
    /// Its lines.
    lines: Vec<EntryLine>,
}

/// A line of an entry.
#[derive(Debug, Serialize, JsonSchema)]
struct EntryLine {
    /// Its place.
    position: i32,
    /// The number of the account.
    account: String,
    /// The name of the account.
    label: FreeText,
    /// Its own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<FreeText>,
    /// The debit; nought for a credit.
    debit: Money,
    /// The credit; nought for a debit.
    credit: Money,
    /// The amount in another currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    foreign: Option<Foreign>,
    /// Who owes or is owed.
    #[serde(skip_serializing_if = "Option::is_none")]
    party: Option<FreeText>,
    /// The VAT code.
    #[serde(skip_serializing_if = "Option::is_none")]
    vat_code: Option<String>,
    /// What it is settled with: lines with the same letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    letter: Option<FreeText>,
}

/// A line's amounts in its own currency.
#[derive(Debug, Serialize, JsonSchema)]
struct Foreign {
    /// The currency.
    currency: Currency,
    /// The debit.
    debit: Money,
    /// The credit.
    credit: Money,
    /// The rate, in the currency of the books per unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange_rate: Option<ExchangeRate>,
}

impl ReadTool for SearchJournalEntries {
    const NAME: &'static str = "search_journal_entries";
    const PERMISSION: Permission = Permission::LedgerRead;
    const WEIGHT: u32 = 2;
    type Output = FoundEntries;

    fn example() -> Self {
        Self {
            mandate_id: crate::demo::ids::example_ledger_mandate(),
            from: None,
            to: None,
            account: Some("1020".to_owned()),
            journal: None,
            state: None,
            amount: None,
            query: None,
            limit: Some(3),
            cursor: None,
        }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundEntries> {
        let paging = Paging::of(&mut self)?;
        let ledger = Ledger::of(scope, self.mandate_id)?;
        let labels = journal_labels(scope, &ledger)?;
        let wanted = self.wanted(scope, &labels)?;
        let before = scope.position(&paging)?;
        let total = count(scope, wanted.clone())?;
        let found = found(scope, wanted, before, paging.fetch())?;
        let ids = found.iter().map(|entry| entry.id).collect();
        let mut lines: BTreeMap<EntryId, Vec<EntryLine>> = BTreeMap::new();
        for line in lines_of(scope, ids)? {
            lines.entry(line.entry_id).or_default().push(shown(scope, &ledger, line));
        }
        let entry = |entry: FoundEntry| {
            let lines = lines.remove(&entry.id).unwrap_or_default();
            whole(entry, lines, &labels)
        };
        let items = found.into_iter().map(entry).collect();
        let page = scope.cut(items, total, &paging, |entry: &Entry| (entry.on, entry.id))?;
        Ok(FoundEntries { currency: ledger.currency, page })
    }
}

impl SearchJournalEntries {
    fn wanted(self, scope: &mut Read<'_>, labels: &BTreeMap<String, String>) -> Result<Wanted> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from > to
        {
            return Err(Error::argument("to", format!("to ({to}) is before from ({from})")));
        }
        if self.amount.is_some_and(|amount| amount <= Money::ZERO) {
            let said = "amount must be above 0; it is looked for on either side";
            return Err(Error::argument("amount", said));
        }
        if let Some(journal) = &self.journal
            && !labels.contains_key(journal)
        {
            let known: Vec<&str> = labels.keys().map(String::as_str).collect();
            let said = format!("no such journal; these books have {}", known.join(", "));
            return Err(Error::argument("journal", said));
        }
        let numbered = |number: &String| account_numbered(scope, self.mandate_id, number);
        let account = self.account.as_ref().map(numbered).transpose()?;
        let words = self.query.as_deref().map(search_words).transpose()?;
        Ok(Wanted {
            tenant: scope.tenant(),
            mandate: self.mandate_id,
            from: self.from,
            to: self.to,
            account: account.map(|account| account.id),
            journal: self.journal,
            standing: self.state,
            cents: self.amount.map(Money::minor),
            words: words.map(|words| Contains::all(entries::table, "e", words)),
        })
    }
}

/// The names of the journals by their codes.
fn journal_labels(scope: &mut Read<'_>, ledger: &Ledger) -> Result<BTreeMap<String, String>> {
    let all = scope
        .rows(journals::table)
        .filter(journals::mandate_id.eq(ledger.mandate))
        .select((journals::code, (journals::label_fr, journals::label_de, journals::label_en)));
    let rows: Vec<(String, Labels)> = scope.load(all)?;
    let language = scope.caller().language();
    Ok(rows.into_iter().map(|(code, labels)| (code, language.pick(labels))).collect())
}

fn shown(scope: &Read<'_>, ledger: &Ledger, line: LineOfEntry) -> EntryLine {
    let (currency, debit, credit, exchange_rate) = line.own;
    let is_foreign = currency != ledger.currency;
    EntryLine {
        position: line.position,
        account: line.account,
        label: scope.caller().language().pick(line.labels).into(),
        text: line.text.map(FreeText::from),
        debit: line.books.0,
        credit: line.books.1,
        foreign: is_foreign.then_some(Foreign { currency, debit, credit, exchange_rate }),
        party: line.party.map(FreeText::from),
        vat_code: line.vat_code,
        letter: line.letter.map(FreeText::from),
    }
}

fn whole(entry: FoundEntry, lines: Vec<EntryLine>, labels: &BTreeMap<String, String>) -> Entry {
    let (journal, number) = entry.place;
    let (text, voucher) = entry.words;
    let (source, source_id) = entry.source;
    let (line_count, amount) = entry.lines;
    Entry {
        id: entry.id,
        on: entry.booked_on,
        journal_label: labels.get(&journal).cloned().unwrap_or_default().into(),
        journal,
        number,
        text: text.into(),
        voucher: voucher.into(),
        state: entry.standing,
        reverses_id: entry.reverses_id,
        source,
        source_id,
        amount: amount.unwrap_or_default(),
        line_count,
        lines,
    }
}
