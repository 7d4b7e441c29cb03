//! Books: charts, fiscal years, rates of exchange, and every entry, posted as all others are.

use std::collections::BTreeMap;

use diesel::prelude::*;

use super::super::books::{self, KEPT, Kept, Line, Party, Planned, SHOP, Shut, Subject, Words};
use super::super::engagements::FIRM_MANDATE;
use super::super::exchange;
use super::super::fixtures::MASTER;
use super::super::ids::Kind;
use super::super::plan::{Plan, Poster, last_day, moment};
use super::people::holder;
use super::{Writing, insert_all};
use crate::dates::Day;
use crate::db::connection::AnyConnection;
use crate::db::schema::{exchange_rates, fiscal_years, invoices, reconciliations, vat_activities};
use crate::error::{Error, Result};
use crate::ids::{EntryId, FiscalYearId, InvoiceId, MandateId, RecordId, TenantId, UserId};
use crate::ledger::chart::{self, NewLedger, PlannedAccount};
use crate::ledger::posting::{
    Book, Commit, Foreign, Latitude, NewEntry, NewLine, Party as PostedParty, Vat,
};
use crate::ledger::years::{self, NewYear};
use crate::ledger::{AccountKind, EntrySource, FiscalYearState};
use crate::money::{Currency, ExchangeRate, Money, Rate};

#[derive(Insertable)]
#[diesel(table_name = exchange_rates, treat_none_as_default_value = false)]
struct NewRate {
    tenant_id: TenantId,
    currency: Currency,
    valid_on: Day,
    source: &'static str,
    rate: ExchangeRate,
}

#[derive(Insertable)]
#[diesel(table_name = reconciliations, treat_none_as_default_value = false)]
struct NewReconciliation {
    tenant_id: TenantId,
    entry_id: EntryId,
    position: i32,
    letter: String,
    reconciled_on: Day,
}

pub(super) fn write(
    connection: &mut AnyConnection,
    writing: Writing<'_>,
    plan: &Plan,
) -> Result<()> {
    write_rates(connection, writing)?;
    let numbers = invoices::table
        .filter(invoices::tenant_id.eq(writing.tenant))
        .filter(invoices::number.is_not_null())
        .select((invoices::id, invoices::number.assume_not_null()));
    let numbers: Vec<(InvoiceId, String)> = numbers.load(connection)?;
    let planned = plan.books.get(usize::from(writing.firm.index));
    let context = Context {
        writing,
        plan,
        numbers: numbers.into_iter().collect(),
        accountant: holder(writing.firm, "accountant")?,
        officer: holder(writing.firm, "payroll_officer")?,
    };
    for kept in KEPT {
        begin(connection, writing, kept)?;
        let ours = planned.into_iter().flatten().filter(|entry| entry.mandate == kept.mandate);
        let ours: Vec<_> = ours.collect();
        context.post(connection, kept.mandate, &ours)?;
        reconcile(connection, writing, &ours)?;
        shut(connection, writing, kept)?;
    }
    Ok(())
}

fn write_rates(connection: &mut AnyConnection, writing: Writing<'_>) -> Result<()> {
    let mut rows = vec![];
    for valid_on in exchange::days()? {
        let is_month_end = valid_on.plus_days(1).day_of_month() == 1;
        for currency in exchange::FOREIGN {
            let sources = ["daily", "monthly_average", "closing"];
            let wanted = match (is_month_end, valid_on.month()) {
                (false, _) => 1,
                (true, 12) => 3,
                (true, _) => 2,
            };
            for source in sources.into_iter().take(wanted) {
                let at =
                    if source == "monthly_average" { valid_on.minus_days(14) } else { valid_on };
                let (tenant_id, rate) = (writing.tenant, exchange::rate(currency, at));
                rows.push(NewRate { tenant_id, currency, valid_on, source, rate });
            }
        }
    }
    insert_all!(connection, exchange_rates::table, rows);
    Ok(())
}

/// Opens books with their chart and fiscal years.
fn begin(connection: &mut AnyConnection, writing: Writing<'_>, kept: &Kept) -> Result<()> {
    let mandate: MandateId = writing.id(Kind::Mandate, kept.mandate);
    let ledger = NewLedger {
        tenant: writing.tenant,
        mandate,
        currency: Currency::Chf,
        is_of_firm: kept.mandate == FIRM_MANDATE,
        word: Some(&writing.firm.word),
    };
    let own = match kept.mandate {
        FIRM_MANDATE => accounts_of_services(writing),
        SHOP => accounts_of_activities(),
        _ => vec![],
    };
    chart::seed(connection, ledger, &own, |n| writing.id(Kind::Account, kept.mandate * 1_000 + n))?;
    for (n, (first, last, ..)) in (1..).zip(kept.years) {
        let id: FiscalYearId = writing.id(Kind::FiscalYear, kept.mandate * 100 + n);
        let year = NewYear { id, starts_on: books::on(*first)?, ends_on: books::on(*last)? };
        years::open(connection, (writing.tenant, mandate), year)?;
    }
    if kept.mandate == SHOP { write_activities(connection, writing, mandate) } else { Ok(()) }
}

fn revenue(number: String, label: &str, activity: Option<&str>) -> PlannedAccount {
    let [fr, de, en] = [label, label, label].map(str::to_owned);
    PlannedAccount {
        number,
        kind: AccountKind::Income,
        fr,
        de,
        en,
        currency: None,
        uses: vec![],
        is_postable: true,
        needs_party: false,
        vat_activity: activity.map(str::to_owned),
    }
}

/// One account of revenue for each service of the firm.
fn accounts_of_services(writing: Writing<'_>) -> Vec<PlannedAccount> {
    let account = |(n, service): (u32, &'static super::super::fixtures::Service)| {
        let name = service.name.of(writing.firm).replace(&writing.firm.word, "");
        revenue(books::revenue(n), name.trim(), None)
    };
    (1..).zip(&MASTER.services).map(account).collect()
}

/// What the activities of net-rate VAT are called.
const ACTIVITIES: [Words; 2] = [["Commerce de détail", "Detailhandel"], ["Conseil", "Beratung"]];

fn accounts_of_activities() -> Vec<PlannedAccount> {
    let named = books::ACTIVITIES.into_iter().zip(ACTIVITIES);
    let account = |((number, code, _), [fr, de]): ((&str, &str, i64), Words)| {
        let mut account = revenue(number.to_owned(), fr, Some(code));
        de.clone_into(&mut account.de);
        account
    };
    named.map(account).collect()
}

fn write_activities(
    connection: &mut AnyConnection,
    writing: Writing<'_>,
    mandate: MandateId,
) -> Result<()> {
    for ((_, code, rate), words) in books::ACTIVITIES.into_iter().zip(ACTIVITIES) {
        diesel::insert_into(vat_activities::table)
            .values((
                vat_activities::tenant_id.eq(writing.tenant),
                vat_activities::mandate_id.eq(mandate),
                vat_activities::code.eq(code),
                vat_activities::label.eq(said(writing, words)),
                vat_activities::net_rate_percent.eq(Rate::from_minor(rate)),
                vat_activities::valid_from.eq(books::on((2024, 1, 1))?),
                vat_activities::valid_to.eq(None::<Day>),
            ))
            .execute(connection)?;
    }
    Ok(())
}

/// Words in the firm's language, and its own word.
fn said(writing: Writing<'_>, [french, german]: Words) -> String {
    let text = if writing.firm.index == 0 { french } else { german };
    format!("{text} {}", writing.firm.word)
}

/// The id of an entry by its place in the books of its mandate, from 0.
fn entry_id(writing: Writing<'_>, mandate: u32, place: usize) -> Result<EntryId> {
    let place = u32::try_from(place).map_err(Error::fault)?;
    Ok(writing.id(Kind::Entry, mandate * 100_000 + place + 1))
}

/// The text and the voucher of an entry, and the record that it books.
type Named = (String, String, Option<(EntrySource, RecordId)>);

/// What entries refer to.
struct Context<'a> {
    writing: Writing<'a>,
    plan: &'a Plan,
    /// Numbers of documents.
    numbers: BTreeMap<InvoiceId, String>,
    accountant: UserId,
    officer: UserId,
}

impl Context<'_> {
    /// Posts the entries of a book in the order of their commits; drafts stay drafts.
    fn post(
        &self,
        connection: &mut AnyConnection,
        mandate: u32,
        planned: &[&Planned],
    ) -> Result<()> {
        let id = self.writing.id(Kind::Mandate, mandate);
        let mut book = Book::open(connection, self.writing.tenant, id, Latitude::Ordinary)?;
        let mut order: Vec<(i64, usize)> = vec![];
        for (place, entry) in planned.iter().enumerate().filter(|(_, entry)| !entry.is_draft) {
            order.push((self.commit_of(entry)?, place));
        }
        order.sort_unstable();
        for (number, place) in order {
            let missing = || Error::fault("an entry of the demo is not there");
            let entry = planned.get(place).ok_or_else(missing)?;
            let commit = usize::try_from(number - 1).ok().and_then(|at| self.plan.commits.get(at));
            let commit = commit.ok_or_else(missing)?;
            let by = if commit.by == Poster::Accountant { self.accountant } else { self.officer };
            let commit = Commit::written(commit.number, by, commit.at);
            let mut written = self.entry(&book, mandate, place, entry)?;
            if let Some(original) = written.reverses {
                let (on, id) = (entry.on, written.id);
                let reversal = book.reversal(connection, original, on, id, &written.voucher)?;
                written = NewEntry { text: written.text, source: written.source, ..reversal };
            }
            book.post(connection, commit, written)?;
        }
        for (place, entry) in planned.iter().enumerate().filter(|(_, entry)| entry.is_draft) {
            let written = self.entry(&book, mandate, place, entry)?;
            book.draft(connection, self.accountant, moment(last_day()?, 0)?, written)?;
        }
        book.write(connection)
    }

    /// The number of the commit to which an entry belongs.
    fn commit_of(&self, entry: &Planned) -> Result<i64> {
        let Plan { sales, payroll, .. } = self.plan;
        let number = match entry.subject {
            Subject::Words(_) => entry.commit,
            Subject::Sale(at) => sales.get(at).and_then(|sale| sale.commit),
            Subject::Payment(at, k) => {
                sales.get(at).and_then(|sale| sale.payments.get(k)).and_then(|paid| paid.commit)
            }
            Subject::Run(at) | Subject::Paid(at) => payroll.get(at).and_then(|run| run.commit),
        };
        number.ok_or_else(|| Error::fault("an entry of the demo has no commit"))
    }

    fn entry(
        &self,
        book: &Book,
        mandate: u32,
        place: usize,
        planned: &Planned,
    ) -> Result<NewEntry> {
        let writing = self.writing;
        let (text, voucher, source) = self.named(mandate, place, planned)?;
        let id = entry_id(writing, mandate, place)?;
        let mut entry = NewEntry::new(id, planned.journal, planned.on, text, voucher);
        entry.source = source;
        let reversed = planned.reverses.map(|place| entry_id(writing, mandate, place));
        entry.reverses = reversed.transpose()?;
        let lines = planned.lines.iter().map(|line| self.line(book, planned.on, line));
        entry.lines = lines.collect();
        Ok(entry)
    }

    /// Text, voucher and the record that is booked.
    fn named(&self, mandate: u32, place: usize, planned: &Planned) -> Result<Named> {
        let writing = self.writing;
        let missing = || Error::fault("the books of the demo name a record that is not there");
        Ok(match planned.subject {
            Subject::Words(words) => {
                let voucher = format!("{}-{:05}", planned.journal, place + 1);
                (said(writing, words), voucher, None)
            }
            Subject::Sale(at) => {
                let sale = self.plan.sales.get(at).ok_or_else(missing)?;
                let id: InvoiceId = writing.id(Kind::Invoice, sale.n);
                let number = self.numbers.get(&id).ok_or_else(missing)?.clone();
                let source = (EntrySource::Invoice, writing.id(Kind::Invoice, sale.n));
                (sale.title.owned(writing.firm), number, Some(source))
            }
            Subject::Payment(at, k) => {
                let sale = self.plan.sales.get(at).ok_or_else(missing)?;
                let id: InvoiceId = writing.id(Kind::Invoice, sale.n);
                let number = self.numbers.get(&id).ok_or_else(missing)?.clone();
                let n = sale.n * 10 + u32::try_from(k).map_err(Error::fault)?;
                let source = (EntrySource::Payment, writing.id(Kind::Payment, n));
                let words = match planned.reverses {
                    None => ["Encaissement", "Zahlungseingang"],
                    Some(_) => ["Paiement retourné", "Zahlung zurückgegangen"],
                };
                (said(writing, words), number, Some(source))
            }
            Subject::Run(at) | Subject::Paid(at) => {
                let batch = self.plan.payroll.get(at).ok_or_else(missing)?;
                let words = match planned.subject {
                    Subject::Run(_) => ["Salaires", "Löhne"],
                    _ => ["Versement des salaires", "Auszahlung der Löhne"],
                };
                let text = format!("{} {}-{:02}", said(writing, words), batch.year, batch.month);
                let voucher = format!("P{mandate:03}-{}-{:02}-{at}", batch.year, batch.month);
                // A run of one payslip books that payslip; a run of many books none in particular.
                let alone = batch.slips.first().filter(|_| batch.slips.len() == 1);
                let source =
                    alone.map(|slip| (EntrySource::Payslip, writing.id(Kind::Payslip, slip.n)));
                (text, voucher, source)
            }
        })
    }

    fn line(&self, book: &Book, on: Day, planned: &Line) -> NewLine {
        let amount = Money::from_minor(planned.minor.abs());
        let line = if planned.minor > 0 {
            NewLine::debit(&planned.account, amount)
        } else {
            NewLine::credit(&planned.account, amount)
        };
        let foreign = planned.foreign.map(|(currency, minor, rate)| Foreign {
            currency,
            amount: Money::from_minor(minor.abs()),
            rate,
        });
        let vat = planned.vat.map(|(code, part)| {
            let rate = book.vat_rate(code, planned.supplied_on.unwrap_or(on));
            Vat { code: code.to_owned(), part, rate: rate.unwrap_or_default() }
        });
        let party = planned.party.map(|party| match party {
            Party::Client(n) => PostedParty::Client(self.writing.id(Kind::Client, n)),
            Party::Named(words) => PostedParty::Named(said(self.writing, words)),
        });
        NewLine { foreign, vat, party, supplied_on: planned.supplied_on, ..line }
    }
}

/// Ticks the lines off that settle one another.
fn reconcile(
    connection: &mut AnyConnection,
    writing: Writing<'_>,
    planned: &[&Planned],
) -> Result<()> {
    let mut letters: BTreeMap<u32, Vec<(EntryId, i32, i64, Day)>> = BTreeMap::new();
    for (place, entry) in planned.iter().enumerate().filter(|(_, entry)| !entry.is_draft) {
        for (position, line) in (1..).zip(&entry.lines) {
            let Some(letter) = line.letter else { continue };
            let id = entry_id(writing, entry.mandate, place)?;
            letters.entry(letter).or_default().push((id, position, line.minor, entry.on));
        }
    }
    let mut rows = vec![];
    for (letter, lines) in letters {
        let sum: i64 = lines.iter().map(|(.., minor, _)| minor).sum();
        let Some(reconciled_on) = lines.iter().map(|(.., on)| *on).max() else { continue };
        if sum != 0 || lines.len() < 2 {
            continue;
        }
        for (entry_id, position, ..) in lines {
            let (tenant_id, letter) = (writing.tenant, format!("{letter:05}"));
            rows.push(NewReconciliation { tenant_id, entry_id, position, letter, reconciled_on });
        }
    }
    insert_all!(connection, reconciliations::table, rows);
    Ok(())
}

/// Closes and locks what is over.
fn shut(connection: &mut AnyConnection, writing: Writing<'_>, kept: &Kept) -> Result<()> {
    for (n, (.., shut, locked)) in (1..).zip(kept.years) {
        let id: FiscalYearId = writing.id(Kind::FiscalYear, kept.mandate * 100 + n);
        let state = match shut {
            Shut::Open => FiscalYearState::Open,
            Shut::Provisionally => FiscalYearState::ProvisionallyClosed,
            Shut::Closed => FiscalYearState::Closed,
        };
        let locked_through = locked.map(books::on).transpose()?;
        diesel::update(fiscal_years::table)
            .filter(fiscal_years::tenant_id.eq(writing.tenant))
            .filter(fiscal_years::id.eq(id))
            .set((fiscal_years::state.eq(state), fiscal_years::locked_through.eq(locked_through)))
            .execute(connection)?;
    }
    Ok(())
}
