//! The rules of double entry as the tables keep them, whoever writes the SQL: the owner of the tables, by hand.

use uuid::Uuid;

use crate::world::World;
use crate::world::ledger::{Bookkeeper, Ledger, Line, day, line};

on_both! {
    what_is_wrong_with_an_entry_keeps_it_out_of_the_books,
    an_entry_is_dated_in_a_year_and_period_that_takes_postings,
    what_is_posted_stays_as_it_is,
    numbers_have_no_gap_and_begin_anew_with_each_year_and_journal,
    a_line_belongs_to_the_chart_and_the_day_of_its_entry,
    a_refused_posting_leaves_the_balances_as_they_were,
    years_do_not_overlap_and_keep_their_days,
    an_account_with_postings_keeps_its_number_kind_and_currency,
}

/// Books with a bank, a bank in euros, equity, a header, an inactive account and one that needs a party.
struct Books<'w> {
    world: &'w World,
    bookkeeper: Bookkeeper<'w>,
    ledger: Ledger,
    tenant: String,
}

const BANK: usize = 0;
const EURO: usize = 1;
const CAPITAL: usize = 2;
const HEADER: usize = 3;
const INACTIVE: usize = 4;
const DEBTORS: usize = 5;

impl<'w> Books<'w> {
    fn of(world: &'w World) -> Self {
        let mut bookkeeper = Bookkeeper::of(world, "leman");
        let mut ledger = bookkeeper.ledger("CHF");
        for (number, kind, currency) in [
            ("1020", "asset", None),
            ("1021", "asset", Some("EUR")),
            ("2800", "equity", None),
            ("100", "asset", None),
            ("1029", "asset", None),
            ("1100", "asset", None),
        ] {
            bookkeeper.account(&mut ledger, number, kind, currency);
        }
        bookkeeper.year(&mut ledger, "2025-01-01", "2025-12-31");
        bookkeeper.year(&mut ledger, "2026-01-01", "2026-12-31");
        let (yes, no) = if world.database.is_postgres() { ("true", "false") } else { ("1", "0") };
        for (account, change) in [
            (HEADER, format!("is_postable = {no}")),
            (INACTIVE, format!("is_active = {no}")),
            (DEBTORS, format!("needs_party = {yes}")),
        ] {
            let id = bookkeeper.literal(ledger.accounts[account].id);
            bookkeeper.add(&format!("UPDATE accounts SET {change} WHERE id = {id}"));
        }
        bookkeeper.write();
        let tenant = bookkeeper.tenant();
        Self { world, bookkeeper, ledger, tenant }
    }

    /// What the database says to a statement that it must refuse.
    fn refused(&self, sql: &str) -> String {
        match self.world.database.owner().batch_execute(sql) {
            Ok(()) => panic!("not refused: {sql}"),
            Err(error) => error.to_string(),
        }
    }

    /// Writes a draft, and answers it with a commit under which it may be posted.
    fn draft(&mut self, on: &str, lines: Vec<Line>) -> (usize, i64) {
        let on = day(on);
        let year = usize::from(on >= day("2026-01-01"));
        let entry = self.bookkeeper.draft(&mut self.ledger, year, "OD", on, lines, None);
        let commit = self.bookkeeper.commit("2026-11-30T08:00:00");
        self.bookkeeper.write();
        (entry, commit)
    }

    fn id(&self, entry: usize) -> String {
        self.bookkeeper.literal(self.ledger.entries[entry].id)
    }

    fn posting(&self, entry: usize, commit: i64, number: i64) -> String {
        format!(
            "UPDATE entries SET state = 'posted', number = {number}, commit_number = {commit} WHERE tenant_id = {} AND id = {}",
            self.tenant,
            self.id(entry)
        )
    }

    fn post(&mut self, on: &str) -> usize {
        let (entry, commit) = self.draft(on, balanced());
        self.bookkeeper.post(&mut self.ledger, entry, commit);
        self.bookkeeper.write();
        entry
    }
}

fn balanced() -> Vec<Line> {
    vec![line(BANK, 10_000), line(CAPITAL, -10_000)]
}

fn euros(account: usize, amount: i64) -> Line {
    Line { account, amount, currency: "EUR", foreign: amount }
}

fn what_is_wrong_with_an_entry_keeps_it_out_of_the_books(world: &World) {
    let mut books = Books::of(world);
    for (lines, said) in [
        (vec![line(BANK, 100), line(CAPITAL, -99)], "does not balance"),
        (vec![line(BANK, 100)], "does not balance"),
        (vec![line(HEADER, 100), line(CAPITAL, -100)], "takes no postings"),
        (vec![line(INACTIVE, 100), line(CAPITAL, -100)], "takes no postings"),
        (vec![line(EURO, 100), line(CAPITAL, -100)], "another currency"),
        (vec![line(DEBTORS, 100), line(CAPITAL, -100)], "needs a party"),
    ] {
        let (entry, commit) = books.draft("2026-05-05", lines);
        let refusal = books.refused(&books.posting(entry, commit, 1));
        assert!(refusal.contains(said), "{said}: {refusal}");
    }
    let (entry, commit) = books.draft("2026-05-05", balanced());
    for column in ["text", "voucher"] {
        let id = books.id(entry);
        world.sql(&format!("UPDATE entries SET {column} = '  ' WHERE id = {id}"));
        let refusal = books.refused(&books.posting(entry, commit, 1));
        assert!(refusal.contains("needs a text and a voucher"), "{refusal}");
        world.sql(&format!("UPDATE entries SET {column} = 'said' WHERE id = {id}"));
    }
    let (entry, commit) = books.draft("2026-05-05", vec![euros(EURO, 100), line(CAPITAL, -100)]);
    world.sql(&books.posting(entry, commit, 1));
    for (debit, credit) in [(100, 100), (0, 0), (-100, 0)] {
        let (debit, credit) = (books.bookkeeper.money(debit), books.bookkeeper.money(credit));
        let refusal = books.refused(&format!(
            "UPDATE entry_lines SET debit = {debit}, credit = {credit} WHERE entry_id IN (SELECT id FROM entries WHERE state = 'draft') AND tenant_id = {}",
            books.tenant
        ));
        assert!(refusal.to_lowercase().contains("check constraint"), "{refusal}");
    }
}

fn an_entry_is_dated_in_a_year_and_period_that_takes_postings(world: &World) {
    let mut books = Books::of(world);
    let (entry, commit) = books.draft("2026-05-05", balanced());
    let id = books.id(entry);
    for outside in ["2025-12-31", "2027-01-01"] {
        world.sql(&format!("UPDATE entries SET booked_on = '{outside}' WHERE id = {id}"));
        let refusal = books.refused(&books.posting(entry, commit, 1));
        assert!(refusal.contains("outside its fiscal year"), "{refusal}");
    }
    world.sql(&format!("UPDATE entries SET booked_on = '2026-05-05' WHERE id = {id}"));
    let year = books.bookkeeper.literal(books.ledger.years[1].id);
    let set =
        |change: &str| world.sql(&format!("UPDATE fiscal_years SET {change} WHERE id = {year}"));
    for shut in ["state = 'closed'", "state = 'open', locked_through = '2026-05-05'"] {
        set(shut);
        let refusal = books.refused(&books.posting(entry, commit, 1));
        assert!(refusal.contains("the period is closed"), "{refusal}");
    }
    set("state = 'provisionally_closed', locked_through = '2026-05-04'");
    world.sql(&books.posting(entry, commit, 1));
    let other = books.bookkeeper.ledger("CHF");
    books.bookkeeper.write();
    let other = books.bookkeeper.literal(other.mandate);
    let (entry, _) = books.draft("2026-05-05", balanced());
    let id = books.id(entry);
    let refusal =
        books.refused(&format!("UPDATE entries SET mandate_id = {other} WHERE id = {id}"));
    assert!(refusal.to_lowercase().contains("foreign key"), "{refusal}");
}

fn what_is_posted_stays_as_it_is(world: &World) {
    let mut books = Books::of(world);
    let entry = books.post("2026-05-05");
    let (draft, _) = books.draft("2026-05-05", balanced());
    let (id, draft) = (books.id(entry), books.id(draft));
    let more = books.bookkeeper.money(1);
    for sql in [
        format!("UPDATE entries SET text = 'other' WHERE id = {id}"),
        format!(
            "UPDATE entries SET state = 'draft', number = NULL, commit_number = NULL WHERE id = {id}"
        ),
        format!("UPDATE entries SET booked_on = '2026-05-06' WHERE id = {id}"),
        format!("DELETE FROM entries WHERE id = {id}"),
        format!(
            "UPDATE entry_lines SET debit = debit + {more} WHERE entry_id = {id} AND debit > 0"
        ),
        format!("UPDATE entry_lines SET text = 'other' WHERE entry_id = {id}"),
        format!(
            "UPDATE entry_lines SET entry_id = {id}, position = 9 WHERE entry_id = {draft} AND position = 1"
        ),
        format!(
            "UPDATE entry_lines SET entry_id = {draft}, position = 9 WHERE entry_id = {id} AND position = 1"
        ),
        format!("DELETE FROM entry_lines WHERE entry_id = {id}"),
        format!(
            "INSERT INTO entry_lines (tenant_id, entry_id, position, mandate_id, booked_on, account_id, debit, credit, currency, \
             currency_debit, currency_credit) SELECT tenant_id, entry_id, 9, mandate_id, booked_on, account_id, debit, credit, \
             currency, currency_debit, currency_credit FROM entry_lines WHERE entry_id = {id} AND position = 1"
        ),
    ] {
        let refusal = books.refused(&sql);
        assert!(refusal.contains("append-only"), "{sql}: {refusal}");
    }
    let copy = |state: &str, number: &str, commit: &str| {
        format!(
            "INSERT INTO entries (tenant_id, id, mandate_id, fiscal_year_id, journal, number, booked_on, text, voucher, state, \
             commit_number, search_text, created_by, created_at) SELECT tenant_id, {}, mandate_id, fiscal_year_id, journal, {number}, \
             booked_on, text, voucher, '{state}', {commit}, search_text, created_by, created_at FROM entries WHERE id = {id}",
            books.bookkeeper.literal(Uuid::from_u128(0x0199_0000_0000_7000_8000_ffff_ffff_ffff))
        )
    };
    let refusal = books.refused(&copy("posted", "2", "commit_number"));
    assert!(refusal.contains("an entry begins as a draft"), "{refusal}");
    let refusal = books.refused(&copy("draft", "2", "NULL"));
    assert!(refusal.to_lowercase().contains("check constraint"), "{refusal}");
    world.sql(&format!("DELETE FROM entry_lines WHERE entry_id = {draft}"));
    world.sql(&format!("DELETE FROM entries WHERE id = {draft}"));
}

fn numbers_have_no_gap_and_begin_anew_with_each_year_and_journal(world: &World) {
    let mut books = Books::of(world);
    books.post("2026-05-05");
    let (entry, commit) = books.draft("2026-05-05", balanced());
    for wrong in [0, 1, 3] {
        books.refused(&books.posting(entry, commit, wrong));
    }
    let gap = books.refused(&books.posting(entry, commit, 3));
    assert!(gap.contains("numbered without a gap"), "{gap}");
    world.sql(&books.posting(entry, commit, 2));
    let (earlier, commit) = books.draft("2025-05-05", balanced());
    world.sql(&books.posting(earlier, commit, 1));
    let unnumbered =
        format!("UPDATE entries SET state = 'posted', commit_number = {commit} WHERE id = {}", {
            let (entry, _) = books.draft("2025-05-05", balanced());
            books.id(entry)
        });
    books.refused(&unnumbered);
}

fn a_line_belongs_to_the_chart_and_the_day_of_its_entry(world: &World) {
    let mut books = Books::of(world);
    let (entry, _) = books.draft("2026-05-05", balanced());
    let mut other = books.bookkeeper.ledger("CHF");
    books.bookkeeper.account(&mut other, "1020", "asset", None);
    books.bookkeeper.write();
    let id = books.id(entry);
    let foreign = books.bookkeeper.literal(other.accounts[0].id);
    let mandate = books.bookkeeper.literal(other.mandate);
    for change in [
        format!("account_id = {foreign}"),
        format!("mandate_id = {mandate}"),
        "booked_on = '2026-05-06'".to_owned(),
        format!("account_id = {foreign}, mandate_id = {mandate}"),
    ] {
        let refusal =
            books.refused(&format!("UPDATE entry_lines SET {change} WHERE entry_id = {id}"));
        assert!(refusal.to_lowercase().contains("foreign key"), "{change}: {refusal}");
    }
    // The day of a draft may change, and its lines follow.
    world.sql(&format!("UPDATE entries SET booked_on = '2026-05-06' WHERE id = {id}"));
    let days = world.query(&format!(
        "SELECT DISTINCT CAST(booked_on AS TEXT) FROM entry_lines WHERE entry_id = {id}"
    ));
    assert_eq!(days, [["2026-05-06"]]);
}

fn a_refused_posting_leaves_the_balances_as_they_were(world: &World) {
    let mut books = Books::of(world);
    books.post("2026-05-05");
    let mandate = books.bookkeeper.literal(books.ledger.mandate);
    let kept = || {
        world.query(&format!(
            "SELECT CAST(month AS TEXT) || CAST(debit AS TEXT) || CAST(credit AS TEXT) || \
             CAST(line_count AS TEXT) FROM account_balances WHERE mandate_id = {mandate} ORDER BY 1"
        ))
    };
    let before = kept();
    assert_eq!(before.len(), 2);
    let (entry, commit) = books.draft("2026-05-05", vec![line(BANK, 100), line(CAPITAL, -99)]);
    books.refused(&books.posting(entry, commit, 2));
    let (entry, commit) = books.draft("2026-05-05", balanced());
    books.refused(&books.posting(entry, commit, 7));
    books.refused(&books.posting(entry, commit + 1_000, 2));
    assert_eq!(kept(), before);
}

fn years_do_not_overlap_and_keep_their_days(world: &World) {
    let mut books = Books::of(world);
    books.post("2026-05-05");
    let year = books.bookkeeper.literal(books.ledger.years[1].id);
    for change in ["ends_on = '2027-06-30'", "starts_on = '2026-02-01'"] {
        let refusal = books.refused(&format!("UPDATE fiscal_years SET {change} WHERE id = {year}"));
        assert!(refusal.contains("keeps its days"), "{refusal}");
    }
    let first = books.bookkeeper.literal(books.ledger.years[0].id);
    let refusal = books
        .refused(&format!("UPDATE fiscal_years SET ends_on = '2026-01-01' WHERE id = {first}"));
    assert!(refusal.contains("overlap"), "{refusal}");
    let sql = format!(
        "INSERT INTO fiscal_years (tenant_id, id, mandate_id, label, starts_on, ends_on, state) SELECT tenant_id, {}, mandate_id, \
         'other', '2026-12-31', '2027-12-30', 'open' FROM fiscal_years WHERE id = {year}",
        books.bookkeeper.literal(Uuid::from_u128(0x0199_0000_0000_7000_8000_ffff_ffff_fffe))
    );
    let refusal = books.refused(&sql);
    assert!(refusal.contains("overlap"), "{refusal}");
}

fn an_account_with_postings_keeps_its_number_kind_and_currency(world: &World) {
    let mut books = Books::of(world);
    books.post("2026-05-05");
    let bank = books.bookkeeper.literal(books.ledger.accounts[BANK].id);
    for change in ["number = '1022'", "kind = 'expense'", "currency = 'CHF'"] {
        let refusal = books.refused(&format!("UPDATE accounts SET {change} WHERE id = {bank}"));
        assert!(refusal.contains("keeps its number, kind and currency"), "{refusal}");
    }
    books.refused(&format!("DELETE FROM accounts WHERE id = {bank}"));
    world.sql(&format!("UPDATE accounts SET label_fr = 'Banque' WHERE id = {bank}"));
}
