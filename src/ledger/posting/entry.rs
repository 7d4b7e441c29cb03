//! An entry before it is posted.

use crate::dates::{Day, Instant};
use crate::ids::{ClientId, EntryId, RecordId, UserId};
use crate::ledger::kinds::{EntrySource, JournalCode, VatPart};
use crate::money::{Currency, ExchangeRate, Money, Rate};

/// An entry that somebody wants to post.
#[derive(Debug, Clone)]
pub(crate) struct NewEntry {
    pub(crate) id: EntryId,
    pub(crate) journal: JournalCode,
    pub(crate) booked_on: Day,
    pub(crate) text: String,
    pub(crate) voucher: String,
    /// The record that it books.
    pub(crate) source: Option<(EntrySource, RecordId)>,
    /// The entry that it takes back.
    pub(crate) reverses: Option<EntryId>,
    /// A word of the sender's, good for one entry of the firm.
    pub(crate) idempotency_key: Option<String>,
    pub(crate) lines: Vec<NewLine>,
}

/// A line: one side of one account.
#[derive(Debug, Clone)]
pub(crate) struct NewLine {
    /// The number of the account.
    pub(crate) account: String,
    pub(crate) text: Option<String>,
    /// In the currency of the books.
    pub(crate) debit: Money,
    /// In the currency of the books.
    pub(crate) credit: Money,
    /// The amount in another currency, on the same side.
    pub(crate) foreign: Option<Foreign>,
    pub(crate) party: Option<Party>,
    pub(crate) vat: Option<Vat>,
    /// The day of supply, where it is not that of the entry.
    pub(crate) supplied_on: Option<Day>,
}

/// An amount in a currency that is not that of the books.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Foreign {
    pub(crate) currency: Currency,
    /// Nought when only the worth in the books changes, as at a revaluation.
    pub(crate) amount: Money,
    /// What one unit was worth in the books; absent when `amount` is nought.
    pub(crate) rate: Option<ExchangeRate>,
}

/// With whom it is about.
#[derive(Debug, Clone)]
pub(crate) enum Party {
    /// A client of the firm.
    Client(ClientId),
    /// Somebody by name.
    Named(String),
}

/// The VAT code of a line, and which part of the taxed amount it books.
#[derive(Debug, Clone)]
pub(crate) struct Vat {
    pub(crate) code: String,
    pub(crate) part: VatPart,
    pub(crate) rate: Rate,
}

impl NewEntry {
    /// An entry without lines yet.
    pub(crate) fn new(
        id: EntryId,
        journal: JournalCode,
        booked_on: Day,
        text: impl Into<String>,
        voucher: impl Into<String>,
    ) -> Self {
        Self {
            id,
            journal,
            booked_on,
            text: text.into(),
            voucher: voucher.into(),
            source: None,
            reverses: None,
            idempotency_key: None,
            lines: vec![],
        }
    }

    /// The entry that takes this one back: the same lines on the other side.
    pub(crate) fn reversed(
        &self,
        id: EntryId,
        on: Day,
        text: impl Into<String>,
        voucher: impl Into<String>,
    ) -> Self {
        let swapped = |line: &NewLine| {
            let (debit, credit) = (line.credit, line.debit);
            let supplied_on = line.vat.as_ref().map(|_| line.supplied_on.unwrap_or(self.booked_on));
            NewLine { debit, credit, supplied_on, ..line.clone() }
        };
        let mut entry = Self::new(id, JournalCode::Reversals, on, text, voucher);
        entry.reverses = Some(self.id);
        entry.lines = self.lines.iter().map(swapped).collect();
        entry
    }
}

impl NewLine {
    /// A line that debits an account.
    pub(crate) fn debit(account: impl Into<String>, amount: Money) -> Self {
        Self::new(account, amount, Money::ZERO)
    }

    /// A line that credits an account.
    pub(crate) fn credit(account: impl Into<String>, amount: Money) -> Self {
        Self::new(account, Money::ZERO, amount)
    }

    /// A line of both sides, of which one should be nought.
    pub(crate) fn new(account: impl Into<String>, debit: Money, credit: Money) -> Self {
        let (text, foreign, party, vat) = (None, None, None, None);
        Self {
            account: account.into(),
            text,
            debit,
            credit,
            foreign,
            party,
            vat,
            supplied_on: None,
        }
    }
}

/// Who posts, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Commit {
    pub(super) number: i64,
    pub(super) by: UserId,
    pub(super) at: Instant,
}
