//! What posting promises beyond the rules that imports are tested with: reversals, keys, commits, latitude, numbers.

use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Text;
use tempfile::TempDir;
use uuid::Uuid;

use super::{Book, Commit, Foreign, Latitude, NewEntry, NewLine, Party, Posted, Rule};
use crate::dates::{Day, Instant};
use crate::db::connection::{AnyConnection, open};
use crate::db::migrate;
use crate::error::{Code, Error};
use crate::ids::{AccountId, EntryId, FiscalYearId, MandateId, TenantId, UserId};
use crate::ledger::JournalCode;
use crate::ledger::chart::{self, NewLedger, PlannedAccount};
use crate::ledger::years::{self, NewYear};
use crate::money::{Currency, ExchangeRate, Money};

/// A firm with one mandate, whose books have the years 2025 and 2026.
struct Books {
    connection: AnyConnection,
    tenant: TenantId,
    mandate: MandateId,
    by: UserId,
    now: Instant,
    _directory: TempDir,
}

fn uuid(n: u128) -> Uuid {
    Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + n)
}

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

const FIRM: &str = "
    INSERT INTO tenants (id, slug, is_active, created_at) VALUES ({1}, 'office', 1, '2025-01-01T00:00:00.000000Z');
    INSERT INTO users (id, email, full_name, token_version, is_active, created_at)
        VALUES ({2}, 'a@b.example', 'A', 1, 1, '2025-01-01T00:00:00.000000Z');
    INSERT INTO roles (tenant_id, name) VALUES ({1}, 'owner');
    INSERT INTO memberships (tenant_id, user_id, display_name, role, reach, is_active, created_at)
        VALUES ({1}, {2}, 'A', 'owner', 'all', 1, '2025-01-01T00:00:00.000000Z');
    INSERT INTO clients (tenant_id, id, number, name, legal_form, status, language, sort_name, search_text, created_at)
        VALUES ({1}, {3}, 'C', 'C', 'individual', 'active', 'fr', 'c', 'c', '2025-01-01T00:00:00.000000Z');
    INSERT INTO mandates (tenant_id, id, client_id, number, title, kind, status, starts_on, billing, currency,
        fiscal_year_end_month, vat_method, search_text, created_at)
        VALUES ({1}, {4}, {3}, 'M', 'M', 'accounting', 'active', '2025-01-01', 'not_billed', 'CHF', 12, 'not_liable', 'm',
                '2025-01-01T00:00:00.000000Z')";

impl Books {
    fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("books.db").display());
        migrate(&url, &url).unwrap();
        let mut connection = open(&url).unwrap();
        let hex = |n: u128| format!("x'{}'", uuid(n).simple());
        let firm =
            (1..=4).fold(FIRM.to_owned(), |text, n| text.replace(&format!("{{{n}}}"), &hex(n)));
        connection.batch_execute(&firm).unwrap();
        let (tenant, mandate) = (uuid(1).into(), uuid(4).into());
        let (currency, is_of_firm, word) = (Currency::Chf, false, None);
        let ledger = NewLedger { tenant, mandate, currency, is_of_firm, word };
        let partied: PlannedAccount = serde_json::from_str(
            r#"{"number": "1105", "kind": "asset", "fr": "a", "de": "b", "en": "c", "needs_party": true}"#,
        )
        .unwrap();
        let id = |n: u32| AccountId::from(uuid(u128::from(n) + 1_000));
        chart::seed(&mut connection, ledger, &[partied], id).unwrap();
        for (n, year) in [(1, 2025), (2, 2026)] {
            let id = FiscalYearId::from(uuid(n + 100));
            let (starts_on, ends_on) =
                (day(&format!("{year}-01-01")), day(&format!("{year}-12-31")));
            years::open(&mut connection, (tenant, mandate), NewYear { id, starts_on, ends_on })
                .unwrap();
        }
        let now = chrono::DateTime::from_timestamp(1_767_225_600, 0).unwrap().into();
        Self { connection, tenant, mandate, by: uuid(2).into(), now, _directory: directory }
    }

    fn commit(&mut self) -> Commit {
        Commit::next(&mut self.connection, self.tenant, self.by, self.now).unwrap()
    }

    fn book(&mut self, latitude: Latitude) -> Book {
        Book::open(&mut self.connection, self.tenant, self.mandate, latitude).unwrap()
    }

    fn try_post(&mut self, entry: NewEntry) -> Result<Posted, Error> {
        let commit = self.commit();
        let mut book = self.book(Latitude::Ordinary);
        let posted = book.post(&mut self.connection, commit, entry)?;
        book.write(&mut self.connection)?;
        Ok(posted)
    }

    fn post(&mut self, entry: NewEntry) -> Posted {
        self.try_post(entry).unwrap()
    }

    fn said(&mut self, query: &str) -> Vec<String> {
        diesel::select(sql::<Text>(query)).load(&mut self.connection).unwrap()
    }
}

fn entry(n: u128, on: &str, amount: &str) -> NewEntry {
    let mut entry =
        NewEntry::new(EntryId::from(uuid(n + 10_000)), JournalCode::General, day(on), "Text", "V");
    entry.lines =
        vec![NewLine::debit("6000", money(amount)), NewLine::credit("1020", money(amount))];
    entry
}

fn refused(outcome: Result<Posted, Error>, code: Code, field: &str) {
    let error = outcome.unwrap_err();
    assert_eq!((error.code(), error.field()), (code, Some(field)), "{error}");
}

#[test]
fn entries_are_numbered_without_a_gap_per_year_and_journal() {
    let mut books = Books::open();
    let mut sales = entry(3, "2026-03-01", "1.00");
    sales.journal = JournalCode::Sales;
    let all = [entry(1, "2026-02-01", "1.00"), entry(2, "2025-05-01", "1.00"), sales];
    let numbers: Vec<_> = all.into_iter().map(|entry| books.post(entry).number).collect();
    assert_eq!(numbers, [1, 1, 1]);
    let (mut wrong, right) = (entry(4, "2026-04-01", "1.00"), entry(5, "2026-01-01", "1.00"));
    wrong.lines.truncate(1);
    refused(books.try_post(wrong), Code::InvalidArgument, "lines");
    assert_eq!(books.post(right), Posted { number: 2, commit: 5 });
    let balance = "CAST(debit AS TEXT) || ' ' || CAST(line_count AS TEXT) FROM account_balances b \
        JOIN accounts a ON a.id = b.account_id WHERE a.number = '6000' AND month = '2026-01-01'";
    assert_eq!(books.said(balance), ["100 1"]);
}

#[test]
fn an_entry_is_reversed_once_and_a_reversal_never() {
    let mut books = Books::open();
    let mut original = entry(1, "2026-02-01", "95.25");
    let rate = ExchangeRate::parse("0.9525");
    let (currency, amount) = (Currency::Eur, money("100.00"));
    let party = Some(Party::Named("Somebody".into()));
    original.lines = vec![
        NewLine {
            foreign: Some(Foreign { currency, amount, rate }),
            party,
            ..NewLine::debit("1101", money("95.25"))
        },
        NewLine::credit("3400", money("95.25")),
    ];
    let id = original.id;
    books.post(original);
    let mut reverse = |n: u128, of: EntryId, on: &str| {
        let mut book = books.book(Latitude::Ordinary);
        let id = EntryId::from(uuid(n + 10_000));
        let reversal = book.reversal(&mut books.connection, of, day(on), id, "V-2")?;
        books.try_post(reversal)
    };
    assert_eq!(reverse(2, id, "2026-03-01").unwrap().number, 1);
    refused(reverse(3, id, "2026-03-02"), Code::Conflict, "reverses");
    refused(reverse(4, uuid(10_002).into(), "2026-03-02"), Code::Conflict, "reverses");
    assert_eq!(reverse(5, uuid(9).into(), "2026-03-02").unwrap_err().code(), Code::NotFound);
    let lines = "a.number || ' ' || l.debit || ' ' || l.credit || ' ' || l.currency || ' ' || l.currency_credit || ' ' \
        || coalesce(l.exchange_rate, '') || ' ' || coalesce(l.party_name, '') FROM entry_lines l \
        JOIN accounts a ON a.id = l.account_id JOIN entries e ON e.id = l.entry_id \
        WHERE e.journal = 'EXT' ORDER BY l.position";
    assert_eq!(books.said(lines), ["1101 0 9525 EUR 10000 952500 Somebody", "3400 9525 0 CHF 0  "]);
    let open = "CAST(sum(currency_debit - currency_credit) AS TEXT) FROM account_balances";
    assert_eq!(books.said(open), ["0"]);
}

#[test]
fn a_draft_is_not_part_of_the_books_and_cannot_be_reversed() {
    let mut books = Books::open();
    let draft = entry(1, "2026-02-01", "5.00");
    let id = draft.id;
    let mut book = books.book(Latitude::Ordinary);
    book.draft(&mut books.connection, books.by, books.now, draft).unwrap();
    book.write(&mut books.connection).unwrap();
    assert_eq!(books.said("state FROM entries"), ["draft"]);
    assert!(books.said("month FROM account_balances").is_empty());
    let asked = book.reversal(&mut books.connection, id, day("2026-02-02"), uuid(8).into(), "V");
    assert_eq!(asked.unwrap_err().code(), Code::Conflict);
    assert_eq!(books.post(entry(2, "2026-02-03", "1.00")).number, 1);
}

#[test]
fn a_key_is_good_for_one_entry_of_the_firm() {
    let mut books = Books::open();
    let keyed = |n, amount| {
        let mut entry = entry(n, "2026-02-01", amount);
        entry.idempotency_key = Some("once".into());
        entry
    };
    books.post(keyed(1, "5.00"));
    refused(books.try_post(keyed(2, "6.00")), Code::Conflict, "key");
    assert_eq!(books.said("idempotency_key FROM entries"), ["once"]);
}

#[test]
fn a_provisionally_closed_year_takes_adjustments_and_a_closed_one_nothing() {
    let mut books = Books::open();
    let at = |n| entry(n, "2025-12-31", "5.00");
    let state = |books: &mut Books, state: &str| {
        let set = format!("UPDATE fiscal_years SET state = '{state}' WHERE label = '2025'");
        books.connection.batch_execute(&set).unwrap();
    };
    state(&mut books, "provisionally_closed");
    refused(books.try_post(at(1)), Code::PeriodClosed, "date");
    let (commit, mut book) = (books.commit(), books.book(Latitude::Adjusting));
    book.post(&mut books.connection, commit, at(1)).unwrap();
    book.write(&mut books.connection).unwrap();
    state(&mut books, "closed");
    let (commit, mut book) = (books.commit(), books.book(Latitude::Adjusting));
    refused(book.post(&mut books.connection, commit, at(2)), Code::PeriodClosed, "date");
}

#[test]
fn an_entry_is_checked_without_being_posted() {
    let mut books = Books::open();
    let mut book = books.book(Latitude::Ordinary);
    let mut keyed = entry(1, "2026-02-01", "5.00");
    keyed.idempotency_key = Some("once".into());
    assert!(book.breach(&mut books.connection, keyed.clone()).unwrap().is_none());
    let again = book.breach(&mut books.connection, keyed).unwrap().unwrap();
    assert_eq!((again.rule, again.field.as_str()), (Rule::KeyOnce, "key"));
    let outside = book.breach(&mut books.connection, entry(2, "2030-01-01", "5.00")).unwrap();
    assert_eq!(outside.unwrap().rule, Rule::FiscalYear);
    book.write(&mut books.connection).unwrap();
    assert!(books.said("state FROM entries").is_empty());
}

#[test]
fn no_year_is_opened_before_one_that_is_closed_or_locked() {
    let mut books = Books::open();
    for (n, set) in [(1, "state = 'closed'"), (2, "state = 'open', locked_through = '2026-01-31'")]
    {
        let set = format!("UPDATE fiscal_years SET {set} WHERE label = '2026'");
        books.connection.batch_execute(&set).unwrap();
        let (id, starts_on, ends_on) =
            (FiscalYearId::from(uuid(n + 200)), day("2024-01-01"), day("2024-12-31"));
        let year = NewYear { id, starts_on, ends_on };
        let opened = years::open(&mut books.connection, (books.tenant, books.mandate), year);
        assert_eq!(opened.unwrap_err().code(), Code::PeriodClosed);
    }
}

#[test]
fn an_account_that_needs_a_party_or_is_out_of_use_says_so() {
    let mut books = Books::open();
    let mut partied = entry(1, "2026-02-01", "5.00");
    partied.lines[0].account = "1105".into();
    refused(books.try_post(partied.clone()), Code::InvalidArgument, "lines[0].party");
    partied.lines[0].party = Some(Party::Named("Somebody".into()));
    books.post(partied);
    let set = "UPDATE accounts SET is_active = 0 WHERE number = '6000'";
    books.connection.batch_execute(set).unwrap();
    let shut = books.try_post(entry(2, "2026-02-01", "5.00"));
    refused(shut, Code::InvalidArgument, "lines[0].account");
}

#[test]
fn commits_follow_one_another_in_time_even_when_the_clock_does_not() {
    let mut books = Books::open();
    books.commit();
    books.now = books.now.plus_seconds(-60);
    let second = books.commit();
    assert_eq!((second.number, second.at), (2, books.now.plus_seconds(60)));
}
