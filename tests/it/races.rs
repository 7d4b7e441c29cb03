//! What the tables refuse while two transactions write at once, on PostgreSQL: the later one waits for what the earlier one
//! commits, and is held to it. SQLite has one writer.

use diesel::prelude::*;

use crate::world::ledger::{Bookkeeper, Ledger, day, line};
use crate::world::{Database, World};

/// Runs SQL while another transaction that has run `first` is open, which commits once the SQL waits for it; answers what the
/// database said. The SQL must not end before.
fn meanwhile(world: &World, first: &str, second: &str) -> QueryResult<()> {
    let mut holder = world.database.owner();
    holder.batch_execute(&format!("BEGIN; {first}")).unwrap();
    std::thread::scope(|threads| {
        let other = threads.spawn(|| world.database.owner().batch_execute(second));
        let waiting = "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while world.query(waiting)[0][0] == "0" && !other.is_finished() {
            std::thread::yield_now();
        }
        let has_waited = !other.is_finished();
        holder.batch_execute("COMMIT").unwrap();
        let outcome = other.join().unwrap();
        assert!(has_waited, "{second} did not wait for {first}: {outcome:?}");
        outcome
    })
}

/// Asserts that SQL which waits for another transaction is refused in these words.
fn refused(world: &World, (first, second): (&str, &str), said: &str) {
    let error = meanwhile(world, first, second).expect_err(second).to_string();
    assert!(error.contains(said), "{second}: {error}");
}

/// Books of two accounts and a year, with a balanced draft and a commit under which it may be posted.
struct Books {
    world: World,
    ledger: Ledger,
    draft: String,
    posting: String,
}

impl Books {
    fn new() -> Self {
        let world = World::new(Database::postgres());
        let mut bookkeeper = Bookkeeper::of(&world, "leman");
        let mut ledger = bookkeeper.ledger("CHF");
        bookkeeper.account(&mut ledger, "1020", "asset", None);
        bookkeeper.account(&mut ledger, "2800", "equity", None);
        bookkeeper.year(&mut ledger, "2026-01-01", "2026-12-31");
        let lines = vec![line(0, 10_000), line(1, -10_000)];
        bookkeeper.draft(&mut ledger, 0, "OD", day("2026-05-05"), lines, None);
        let commit = bookkeeper.commit("2026-11-30T08:00:00");
        bookkeeper.write();
        let draft = format!("'{}'", ledger.entries[0].id);
        let posting = format!(
            "UPDATE entries SET state = 'posted', number = 1, commit_number = {commit} WHERE id = {draft}"
        );
        Self { world, ledger, draft, posting }
    }

    /// SQL that writes a third line of the draft.
    fn third_line(&self) -> String {
        format!(
            "INSERT INTO entry_lines (tenant_id, entry_id, position, mandate_id, booked_on, account_id, debit, credit, currency, \
             currency_debit, currency_credit) SELECT tenant_id, entry_id, 3, mandate_id, booked_on, account_id, debit, credit, \
             currency, currency_debit, currency_credit FROM entry_lines WHERE entry_id = {} AND position = 1",
            self.draft
        )
    }

    fn year(&self) -> String {
        format!("'{}'", self.ledger.years[0].id)
    }

    fn account(&self) -> String {
        format!("'{}'", self.ledger.accounts[0].id)
    }

    /// SQL that opens another year of the mandate.
    fn opening(&self, from: &str, to: &str) -> String {
        format!(
            "INSERT INTO fiscal_years (tenant_id, id, mandate_id, label, starts_on, ends_on, state) SELECT tenant_id, \
             gen_random_uuid(), mandate_id, 'other', '{from}', '{to}', 'open' FROM fiscal_years WHERE id = {}",
            self.year()
        )
    }

    /// Asserts that posted entries balance and that the balances are the sums of their lines.
    fn are_right(&self) {
        let unbalanced = "SELECT e.id::text FROM entries e JOIN entry_lines l ON l.tenant_id = e.tenant_id AND l.entry_id = e.id \
             WHERE e.state = 'posted' GROUP BY e.id HAVING sum(l.debit) <> sum(l.credit) OR count(*) < 2";
        assert!(self.world.query(unbalanced).is_empty());
        let sums = "sum(debit), sum(credit), sum(currency_debit), sum(currency_credit)";
        let other = format!(
            "SELECT k.account_id::text FROM (SELECT account_id, currency, month, {sums}, sum(line_count) FROM account_balances \
             GROUP BY 1, 2, 3 EXCEPT SELECT l.account_id, l.currency, date_trunc('month', l.booked_on)::date, {sums}, count(*) \
             FROM entry_lines l JOIN entries e ON e.tenant_id = l.tenant_id AND e.id = l.entry_id WHERE e.state = 'posted' \
             GROUP BY 1, 2, 3) AS k"
        );
        assert!(self.world.query(&other).is_empty());
    }
}

#[test]
fn no_line_comes_to_an_entry_that_is_being_posted() {
    let books = Books::new();
    for second in [
        books.third_line(),
        format!("DELETE FROM entry_lines WHERE entry_id = {} AND position = 1", books.draft),
        format!("UPDATE entry_lines SET debit = 1 WHERE entry_id = {} AND debit > 0", books.draft),
    ] {
        let books = Books::new();
        refused(&books.world, (&books.posting, &second), "append-only");
        books.are_right();
    }
}

#[test]
fn an_entry_is_posted_with_the_line_that_is_being_written() {
    let books = Books::new();
    refused(&books.world, (&books.third_line(), &books.posting), "does not balance");
    books.are_right();
    let removing =
        format!("DELETE FROM entry_lines WHERE entry_id = {} AND position = 3", books.draft);
    meanwhile(&books.world, &removing, &books.posting).unwrap();
    books.are_right();
}

#[test]
fn no_line_comes_to_an_entry_that_was_not_there() {
    let books = Books::new();
    let other = "01990000-0000-7000-8000-ffffffffffff";
    let line = books.third_line().replace("entry_id, 3,", &format!("'{other}'::uuid, 3,"));
    let error = books.world.database.owner().batch_execute(&line).unwrap_err().to_string();
    assert!(error.contains("foreign key"), "{error}");
}

#[test]
fn a_transaction_of_an_old_snapshot_posts_nothing() {
    let books = Books::new();
    let old = format!("BEGIN ISOLATION LEVEL REPEATABLE READ; {}", books.posting);
    let error = books.world.database.owner().batch_execute(&old).unwrap_err().to_string();
    assert!(error.contains("READ COMMITTED"), "{error}");
}

#[test]
fn nothing_is_posted_to_a_period_that_is_being_closed() {
    for change in ["state = 'closed'", "locked_through = '2026-05-05'"] {
        let books = Books::new();
        let closing = format!("UPDATE fiscal_years SET {change} WHERE id = {}", books.year());
        refused(&books.world, (&closing, &books.posting), "the period is closed");
        books.are_right();
    }
}

#[test]
fn an_entry_is_reversed_once_by_two_at_once() {
    let books = Books::new();
    books.world.sql(&books.posting);
    let reversal = format!(
        "INSERT INTO entries (tenant_id, id, mandate_id, fiscal_year_id, journal, booked_on, text, voucher, state, reverses_id, \
         search_text, created_by, created_at) SELECT tenant_id, gen_random_uuid(), mandate_id, fiscal_year_id, 'EXT', booked_on, \
         text, voucher, 'draft', id, search_text, created_by, created_at FROM entries WHERE id = {}",
        books.draft
    );
    refused(&books.world, (&reversal, &reversal), "unique constraint");
}

#[test]
fn an_account_that_is_being_changed_is_posted_to_as_it_becomes() {
    let books = Books::new();
    let closing = format!("UPDATE accounts SET is_active = false WHERE id = {}", books.account());
    refused(&books.world, (&closing, &books.posting), "takes no postings");
    let books = Books::new();
    let fresh = "01990000-0000-7000-8000-fffffffffffe";
    books.world.sql(&format!(
        "INSERT INTO accounts (tenant_id, id, mandate_id, number, label_fr, label_de, label_en, kind, currency, is_postable, \
         is_active, needs_party, search_text) SELECT tenant_id, '{fresh}', mandate_id, '1021', label_fr, label_de, label_en, kind, \
         currency, is_postable, is_active, needs_party, search_text FROM accounts WHERE id = {}",
        books.account()
    ));
    let line = books.third_line().replace(
        "3, mandate_id, booked_on, account_id",
        &format!("3, mandate_id, booked_on, '{fresh}'::uuid"),
    );
    let recast = format!("UPDATE accounts SET currency = 'EUR' WHERE id = '{fresh}'");
    refused(&books.world, (&line, &recast), "keeps its number, kind and currency");
}

#[test]
fn years_that_are_opened_at_once_do_not_overlap() {
    let books = Books::new();
    let first = books.opening("2027-01-01", "2027-12-31");
    refused(&books.world, (&first, &books.opening("2027-06-01", "2028-05-31")), "overlap");
    let later = books.opening("2028-01-01", "2028-12-31");
    meanwhile(&books.world, &later, &books.opening("2029-01-01", "2029-12-31")).unwrap();
}

#[test]
fn a_year_is_moved_with_the_entry_that_is_being_written() {
    let books = Books::new();
    books.world.sql(&books.opening("2027-01-01", "2027-12-31"));
    let draft = format!(
        "INSERT INTO entries (tenant_id, id, mandate_id, fiscal_year_id, journal, booked_on, text, voucher, state, search_text, \
         created_by, created_at) SELECT e.tenant_id, gen_random_uuid(), e.mandate_id, y.id, 'OD', '2027-12-31', e.text, e.voucher, \
         'draft', e.search_text, e.created_by, e.created_at FROM entries e JOIN fiscal_years y ON y.mandate_id = e.mandate_id \
         AND y.label = 'other' WHERE e.id = {}",
        books.draft
    );
    let moving = "UPDATE fiscal_years SET ends_on = '2027-06-30' WHERE label = 'other'";
    refused(&books.world, (&draft, moving), "keeps its days");
}

#[test]
fn no_line_comes_to_a_record_that_is_being_sealed() {
    let world = World::new(Database::postgres());
    let one = |query: &str| format!("'{}'", world.query(query)[0][0]);
    let invoice = one(
        "SELECT i.id::text FROM invoices i JOIN invoice_lines l ON l.tenant_id = i.tenant_id AND l.invoice_id = i.id \
         WHERE i.state = 'draft' AND i.document = 'invoice' ORDER BY i.id LIMIT 1",
    );
    let issuing = format!(
        "UPDATE invoices SET state = 'issued', number = 'X-1', issued_on = '2026-11-30', due_on = '2026-12-30', commit_number = 1 \
         WHERE id = {invoice}"
    );
    let payslip = one(
        "SELECT p.id::text FROM payslips p JOIN payslip_lines l ON l.tenant_id = p.tenant_id AND l.payslip_id = p.id \
         WHERE p.state = 'draft' ORDER BY p.id LIMIT 1",
    );
    let sealing =
        format!("UPDATE payslips SET state = 'final', commit_number = 1 WHERE id = {payslip}");
    let lines = [
        (
            "invoice_lines",
            "invoice_id",
            invoice,
            issuing,
            "position, service_id, description, quantity, unit, unit_price, net, vat_rate_percent, vat",
        ),
        (
            "payslip_lines",
            "payslip_id",
            payslip,
            sealing,
            "position, kind, code, label, base, rate_percent, amount",
        ),
    ];
    for (table, parent, id, first, columns) in lines {
        let values = columns.replace("position", "position + 900");
        let line = format!(
            "INSERT INTO {table} (tenant_id, id, {parent}, {columns}) SELECT tenant_id, gen_random_uuid(), {parent}, {values} \
             FROM {table} WHERE {parent} = {id}"
        );
        refused(&world, (&first, &line), "append-only");
    }
}
