//! Entries and their lines as rows.

use diesel::prelude::*;

use super::Posted;
use super::entry::{Commit, Foreign, NewEntry, NewLine, Party, Vat};
use crate::dates::{Day, Instant};
use crate::db::connection::AnyConnection;
use crate::db::insert::insert_all;
use crate::db::schema::{accounts, entries, entry_lines};
use crate::error::{Error, Result};
use crate::ids::{
    AccountId, ClientId, EntryId, FiscalYearId, MandateId, RecordId, TenantId, UserId,
};
use crate::ledger::kinds::{EntrySource, EntryState, JournalCode, VatPart};
use crate::money::{Currency, ExchangeRate, Money, Rate};
use crate::text::searchable;

#[derive(Insertable)]
#[diesel(table_name = entries, treat_none_as_default_value = false)]
struct EntryRow {
    tenant_id: TenantId,
    id: EntryId,
    mandate_id: MandateId,
    fiscal_year_id: FiscalYearId,
    journal: JournalCode,
    booked_on: Day,
    text: String,
    voucher: String,
    state: EntryState,
    source_kind: Option<EntrySource>,
    source_id: Option<RecordId>,
    reverses_id: Option<EntryId>,
    idempotency_key: Option<String>,
    search_text: String,
    created_by: UserId,
    created_at: Instant,
}

#[derive(Insertable)]
#[diesel(table_name = entry_lines, treat_none_as_default_value = false)]
struct LineRow {
    tenant_id: TenantId,
    entry_id: EntryId,
    position: i32,
    mandate_id: MandateId,
    booked_on: Day,
    account_id: AccountId,
    text: Option<String>,
    debit: Money,
    credit: Money,
    currency: Currency,
    currency_debit: Money,
    currency_credit: Money,
    exchange_rate: Option<ExchangeRate>,
    party_client_id: Option<ClientId>,
    party_name: Option<String>,
    vat_code: Option<String>,
    vat_part: Option<VatPart>,
    vat_rate_percent: Option<Rate>,
    supplied_on: Option<Day>,
}

/// Rows that wait to be written, and what posts them.
#[derive(Default)]
pub(super) struct Written {
    entries: Vec<EntryRow>,
    lines: Vec<LineRow>,
    posted: Vec<(EntryId, Posted)>,
}

impl Written {
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds an entry whose lines are on these accounts; it stays a draft unless it becomes something.
    pub(super) fn add(
        &mut self,
        (tenant_id, mandate_id, fiscal_year_id, books): (
            TenantId,
            MandateId,
            FiscalYearId,
            Currency,
        ),
        commit: Commit,
        posted: Option<Posted>,
        entry: NewEntry,
        accounts: &[AccountId],
    ) {
        let search_text = search_text(&entry);
        for ((position, line), account_id) in (1..).zip(entry.lines).zip(accounts) {
            let is_debit = line.debit > Money::ZERO;
            let (currency, amount) =
                line.foreign.map_or((books, line.debit.max(line.credit)), |foreign| {
                    (foreign.currency, foreign.amount)
                });
            let (party_client_id, party_name) = match line.party {
                None => (None, None),
                Some(Party::Client(id)) => (Some(id), None),
                Some(Party::Named(name)) => (None, Some(name)),
            };
            let vat_part = line.vat.as_ref().map(|vat| vat.part);
            let vat_rate_percent = line.vat.as_ref().map(|vat| vat.rate);
            self.lines.push(LineRow {
                tenant_id,
                entry_id: entry.id,
                position,
                mandate_id,
                booked_on: entry.booked_on,
                account_id: *account_id,
                text: line.text,
                debit: line.debit,
                credit: line.credit,
                currency,
                currency_debit: if is_debit { amount } else { Money::ZERO },
                currency_credit: if is_debit { Money::ZERO } else { amount },
                exchange_rate: line.foreign.and_then(|foreign| foreign.rate),
                party_client_id,
                party_name,
                vat_code: line.vat.map(|vat| vat.code),
                vat_part,
                vat_rate_percent,
                supplied_on: line.supplied_on,
            });
        }
        self.posted.extend(posted.map(|posted| (entry.id, posted)));
        self.entries.push(EntryRow {
            tenant_id,
            id: entry.id,
            mandate_id,
            fiscal_year_id,
            journal: entry.journal,
            booked_on: entry.booked_on,
            text: entry.text,
            voucher: entry.voucher,
            state: EntryState::Draft,
            source_kind: entry.source.map(|(kind, _)| kind),
            source_id: entry.source.map(|(_, id)| id),
            reverses_id: entry.reverses,
            idempotency_key: entry.idempotency_key,
            search_text,
            created_by: commit.by,
            created_at: commit.at,
        });
    }

    /// Writes the drafts with their lines, then posts them one after the other: their numbers have no gap.
    pub(super) fn write(self, connection: &mut AnyConnection, tenant: TenantId) -> Result<()> {
        insert_all!(connection, entries::table, self.entries);
        insert_all!(connection, entry_lines::table, self.lines);
        for (id, posted) in self.posted {
            diesel::update(entries::table)
                .filter(entries::tenant_id.eq(tenant))
                .filter(entries::id.eq(id))
                .set((
                    entries::state.eq(EntryState::Posted),
                    entries::number.eq(posted.number),
                    entries::commit_number.eq(posted.commit),
                ))
                .execute(connection)?;
        }
        Ok(())
    }
}

/// What an entry is found by: its text and voucher, the texts of its lines and the names of their parties.
fn search_text(entry: &NewEntry) -> String {
    let mut words = vec![entry.text.as_str(), entry.voucher.as_str()];
    for line in &entry.lines {
        words.extend(line.text.as_deref());
        if let Some(Party::Named(name)) = &line.party {
            words.push(name);
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    words.retain(|word| seen.insert(*word));
    searchable(words)
}

#[derive(Queryable)]
struct ReadLine {
    account: String,
    text: Option<String>,
    debit: Money,
    credit: Money,
    currency: Currency,
    currency_debit: Money,
    currency_credit: Money,
    exchange_rate: Option<ExchangeRate>,
    party_client_id: Option<ClientId>,
    party_name: Option<String>,
    vat_code: Option<String>,
    vat_part: Option<VatPart>,
    vat_rate_percent: Option<Rate>,
    supplied_on: Option<Day>,
}

impl ReadLine {
    fn into_new(self) -> NewLine {
        let amount = self.currency_debit.max(self.currency_credit);
        let is_foreign = self.exchange_rate.is_some() || amount == Money::ZERO;
        let foreign = Foreign { currency: self.currency, amount, rate: self.exchange_rate };
        let client = self.party_client_id.map(Party::Client);
        let vat = match (self.vat_code, self.vat_part, self.vat_rate_percent) {
            (Some(code), Some(part), Some(rate)) => Some(Vat { code, part, rate }),
            _ => None,
        };
        NewLine {
            account: self.account,
            text: self.text,
            debit: self.debit,
            credit: self.credit,
            foreign: is_foreign.then_some(foreign),
            party: client.or_else(|| self.party_name.map(Party::Named)),
            vat,
            supplied_on: self.supplied_on,
        }
    }
}

/// An entry as it was posted or drafted.
///
/// # Errors
/// There is none of that id in the mandate.
pub(super) fn read(
    connection: &mut AnyConnection,
    tenant: TenantId,
    mandate: MandateId,
    id: EntryId,
) -> Result<(NewEntry, EntryState)> {
    type Row = (JournalCode, Day, String, String, EntryState, Option<EntryId>);
    let row: Option<Row> = entries::table
        .filter(entries::tenant_id.eq(tenant))
        .filter(entries::mandate_id.eq(mandate))
        .filter(entries::id.eq(id))
        .select((
            entries::journal,
            entries::booked_on,
            entries::text,
            entries::voucher,
            entries::state,
            entries::reverses_id,
        ))
        .load(connection)?
        .pop();
    let (journal, booked_on, text, voucher, state, reverses) =
        row.ok_or_else(|| Error::not_found("entry"))?;
    let lines: Vec<ReadLine> = entry_lines::table
        .inner_join(
            accounts::table.on(accounts::tenant_id
                .eq(entry_lines::tenant_id)
                .and(accounts::id.eq(entry_lines::account_id))),
        )
        .filter(entry_lines::tenant_id.eq(tenant))
        .filter(entry_lines::entry_id.eq(id))
        .order(entry_lines::position)
        .select((
            accounts::number,
            entry_lines::text,
            entry_lines::debit,
            entry_lines::credit,
            entry_lines::currency,
            entry_lines::currency_debit,
            entry_lines::currency_credit,
            entry_lines::exchange_rate,
            entry_lines::party_client_id,
            entry_lines::party_name,
            entry_lines::vat_code,
            entry_lines::vat_part,
            entry_lines::vat_rate_percent,
            entry_lines::supplied_on,
        ))
        .load(connection)?;
    let mut entry = NewEntry::new(id, journal, booked_on, text, voucher);
    entry.reverses = reverses;
    entry.lines = lines.into_iter().map(ReadLine::into_new).collect();
    Ok((entry, state))
}
