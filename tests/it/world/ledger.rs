//! Books made by hand: written as SQL by the owner of the tables, and kept as whole centimes beside it.

use std::fmt::Write;

use chrono::NaiveDate;
use uuid::Uuid;

use super::World;

/// Numbers that look random and are the same every time (splitmix64).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// A number from 0 to `limit`, without the latter.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// Whether something happens that does so `of_hundred` times of a hundred.
    pub(crate) fn happens(&mut self, of_hundred: u64) -> bool {
        self.below(100) < of_hundred
    }

    /// One of several.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    /// A day between two, both included.
    pub(crate) fn day(&mut self, (from, to): (NaiveDate, NaiveDate)) -> NaiveDate {
        let days = u64::try_from((to - from).num_days()).unwrap() + 1;
        from + chrono::Days::new(self.below(days))
    }
}

/// An account.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) id: Uuid,
    pub(crate) number: String,
    pub(crate) kind: &'static str,
    pub(crate) currency: Option<&'static str>,
}

/// A fiscal year.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Year {
    pub(crate) id: Uuid,
    pub(crate) from: NaiveDate,
    pub(crate) to: NaiveDate,
}

/// A line, in centimes; a debit is positive.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) account: usize,
    pub(crate) amount: i64,
    pub(crate) currency: &'static str,
    pub(crate) foreign: i64,
}

/// An entry; a draft without a commit.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: Uuid,
    pub(crate) year: usize,
    pub(crate) journal: &'static str,
    pub(crate) number: i64,
    pub(crate) day: NaiveDate,
    pub(crate) lines: Vec<Line>,
    pub(crate) commit: Option<i64>,
}

/// The books of a mandate.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pub(crate) mandate: Uuid,
    pub(crate) accounts: Vec<Account>,
    pub(crate) years: Vec<Year>,
    pub(crate) entries: Vec<Entry>,
}

/// A line of the currency of the books.
pub(crate) fn line(account: usize, amount: i64) -> Line {
    Line { account, amount, currency: "CHF", foreign: amount }
}

/// A day.
pub(crate) fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// Writes books of a firm; nothing is there before [`Bookkeeper::write`].
pub(crate) struct Bookkeeper<'w> {
    world: &'w World,
    firm: &'static str,
    next_id: u128,
    pub(crate) last_commit: i64,
    latest: String,
    sql: String,
}

/// The journals of every ledger here.
const JOURNALS: [&str; 4] = ["OD", "BNQ", "EXT", "CLO"];

impl<'w> Bookkeeper<'w> {
    pub(crate) fn of(world: &'w World, firm: &'static str) -> Self {
        let last = format!(
            "SELECT CAST(max(number) AS TEXT) FROM commits WHERE tenant_id = (SELECT id FROM tenants WHERE slug = '{firm}')"
        );
        let last_commit = world.query(&last)[0][0].parse().unwrap();
        let next_id = 0x0199_0000_0000_7000_8000_0000_0000_0000;
        let (latest, sql) = (String::new(), String::new());
        Self { world, firm, next_id, last_commit, latest, sql }
    }

    /// An id, as SQL writes it.
    pub(crate) fn literal(&self, id: Uuid) -> String {
        if self.world.database.is_postgres() {
            format!("'{id}'")
        } else {
            format!("X'{}'", id.simple())
        }
    }

    /// An amount, as SQL writes it.
    pub(crate) fn money(&self, cents: i64) -> String {
        if self.world.database.is_postgres() {
            format!("{}.{:02}", cents / 100, cents % 100)
        } else {
            cents.to_string()
        }
    }

    pub(crate) fn tenant(&self) -> String {
        format!("(SELECT id FROM tenants WHERE slug = '{}')", self.firm)
    }

    fn id(&mut self) -> Uuid {
        self.next_id += 1;
        Uuid::from_u128(self.next_id)
    }

    /// Adds a statement.
    pub(crate) fn add(&mut self, statement: &str) {
        self.sql.push_str(statement);
        self.sql.push_str(";\n");
    }

    /// Begins the books of a new mandate, for the client of the firm's first one.
    pub(crate) fn ledger(&mut self, currency: &str) -> Ledger {
        let mandate = self.id();
        let (id, tenant) = (self.literal(mandate), self.tenant());
        let columns = "client_id, title, kind, status, responsible_id, starts_on, ends_on, billing, flat_fee, \
             budget_amount, budget_hours, fiscal_year_end_month, vat_method, vat_period, vat_net_rate, search_text, created_at";
        self.add(&format!(
            "INSERT INTO mandates (tenant_id, id, number, currency, {columns}) SELECT tenant_id, {id}, 'L-{}', '{currency}', \
             {columns} FROM mandates WHERE tenant_id = {tenant} AND number = (SELECT min(number) FROM mandates WHERE tenant_id = {tenant})",
            mandate.simple()
        ));
        let no = if self.world.database.is_postgres() { "false" } else { "0" };
        self.add(&format!(
            "INSERT INTO ledgers (tenant_id, mandate_id, currency, is_of_firm) VALUES ({tenant}, {id}, '{currency}', {no})"
        ));
        for journal in JOURNALS {
            self.add(&format!(
                "INSERT INTO journals (tenant_id, mandate_id, code, label_fr, label_de, label_en) \
                 VALUES ({tenant}, {id}, '{journal}', '{journal} fr', '{journal} de', '{journal} en')"
            ));
        }
        Ledger { mandate, accounts: vec![], years: vec![], entries: vec![] }
    }

    pub(crate) fn account(
        &mut self,
        ledger: &mut Ledger,
        number: &str,
        kind: &'static str,
        currency: Option<&'static str>,
    ) -> usize {
        let id = self.id();
        let yes = if self.world.database.is_postgres() { ["true", "false"] } else { ["1", "0"] };
        let kept_in =
            currency.map_or_else(|| "NULL".to_owned(), |currency| format!("'{currency}'"));
        self.add(&format!(
            "INSERT INTO accounts (tenant_id, id, mandate_id, number, label_fr, label_de, label_en, kind, currency, is_postable, \
             is_active, needs_party, search_text) VALUES ({}, {}, {}, '{number}', 'Compte {number}', 'Konto {number}', \
             'Account {number}', '{kind}', {kept_in}, {}, {}, {}, '{number} compte konto account')",
            self.tenant(),
            self.literal(id),
            self.literal(ledger.mandate),
            yes[0],
            yes[0],
            yes[1],
        ));
        ledger.accounts.push(Account { id, number: number.to_owned(), kind, currency });
        ledger.accounts.len() - 1
    }

    pub(crate) fn year(&mut self, ledger: &mut Ledger, from: &str, to: &str) -> usize {
        let id = self.id();
        self.add(&format!(
            "INSERT INTO fiscal_years (tenant_id, id, mandate_id, label, starts_on, ends_on, state) \
             VALUES ({}, {}, {}, '{from}/{to}', '{from}', '{to}', 'open')",
            self.tenant(),
            self.literal(id),
            self.literal(ledger.mandate),
        ));
        ledger.years.push(Year { id, from: day(from), to: day(to) });
        ledger.years.len() - 1
    }

    /// Writes an entry as a draft.
    pub(crate) fn draft(
        &mut self,
        ledger: &mut Ledger,
        year: usize,
        journal: &'static str,
        day: NaiveDate,
        lines: Vec<Line>,
        reverses: Option<Uuid>,
    ) -> usize {
        let id = self.id();
        let (tenant, entry, mandate) =
            (self.tenant(), self.literal(id), self.literal(ledger.mandate));
        let year_id = self.literal(ledger.years[year].id);
        let original = reverses.map_or_else(|| "NULL".to_owned(), |id| self.literal(id));
        let user =
            format!("(SELECT user_id FROM commits WHERE tenant_id = {tenant} AND number = 1)");
        let at = if self.world.database.is_postgres() {
            "2026-11-29T00:00:00Z"
        } else {
            "2026-11-29T00:00:00.000000Z"
        };
        self.add(&format!(
            "INSERT INTO entries (tenant_id, id, mandate_id, fiscal_year_id, journal, booked_on, text, voucher, state, reverses_id, \
             search_text, created_by, created_at) VALUES ({tenant}, {entry}, {mandate}, {year_id}, '{journal}', '{day}', \
             'Text {journal}', 'V-{}', 'draft', {original}, 'text {} {day}', {user}, '{at}')",
            id.simple(),
            journal.to_lowercase()
        ));
        let mut values = String::new();
        for (at, line) in lines.iter().enumerate() {
            let side = |amount: i64| (self.money(amount.max(0)), self.money((-amount).max(0)));
            let ((debit, credit), (foreign_debit, foreign_credit)) =
                (side(line.amount), side(line.foreign));
            let account = self.literal(ledger.accounts[line.account].id);
            let comma = if at == 0 { "" } else { ", " };
            write!(
                values,
                "{comma}({tenant}, {entry}, {}, {mandate}, '{day}', {account}, {debit}, {credit}, '{}', {foreign_debit}, {foreign_credit})",
                at + 1,
                line.currency
            )
            .unwrap();
        }
        self.add(&format!(
            "INSERT INTO entry_lines (tenant_id, entry_id, position, mandate_id, booked_on, account_id, debit, credit, currency, \
             currency_debit, currency_credit) VALUES {values}"
        ));
        let number = 0;
        ledger.entries.push(Entry { id, year, journal, number, day, lines, commit: None });
        ledger.entries.len() - 1
    }

    /// The firm's next commit, at an instant such as `2026-11-29T08:00:00` or at that of the last one, if later.
    pub(crate) fn commit(&mut self, at: &str) -> i64 {
        self.last_commit += 1;
        if *at > *self.latest {
            at.clone_into(&mut self.latest);
        }
        let at = self.latest.clone();
        let fraction = if self.world.database.is_postgres() { "" } else { ".000000" };
        let (tenant, number) = (self.tenant(), self.last_commit);
        self.add(&format!(
            "INSERT INTO commits (tenant_id, number, committed_at, user_id) SELECT tenant_id, {number}, '{at}{fraction}Z', user_id \
             FROM commits WHERE tenant_id = {tenant} AND number = 1"
        ));
        number
    }

    /// Posts a draft under a commit.
    pub(crate) fn post(&mut self, ledger: &mut Ledger, entry: usize, commit: i64) {
        let (year, journal) = (ledger.entries[entry].year, ledger.entries[entry].journal);
        let posted = |other: &&Entry| {
            other.commit.is_some() && other.year == year && other.journal == journal
        };
        let number = i64::try_from(ledger.entries.iter().filter(posted).count()).unwrap() + 1;
        let id = self.literal(ledger.entries[entry].id);
        self.add(&format!(
            "UPDATE entries SET state = 'posted', number = {number}, commit_number = {commit} WHERE tenant_id = {} AND id = {id}",
            self.tenant()
        ));
        ledger.entries[entry].number = number;
        ledger.entries[entry].commit = Some(commit);
    }

    /// Writes a balanced entry of the currency of the books and posts it, all under a commit of its own.
    pub(crate) fn booked(
        &mut self,
        ledger: &mut Ledger,
        journal: &'static str,
        on: &str,
        lines: &[(usize, i64)],
    ) -> usize {
        let on = day(on);
        let year =
            ledger.years.iter().position(|year| (year.from..=year.to).contains(&on)).unwrap();
        let lines = lines.iter().map(|(account, amount)| line(*account, *amount)).collect();
        let entry = self.draft(ledger, year, journal, on, lines, None);
        let commit = self.commit("2026-11-29T08:00:00");
        self.post(ledger, entry, commit);
        entry
    }

    /// Writes what was added.
    pub(crate) fn write(&mut self) {
        let sql = std::mem::take(&mut self.sql);
        // A transaction that begins by reading may find on SQLite that it can no longer write.
        let begin = if self.world.database.is_postgres() { "BEGIN" } else { "BEGIN IMMEDIATE" };
        self.world.sql(&format!("{begin}; {sql} COMMIT;"));
        if self.world.database.is_postgres() {
            self.world.sql("ANALYZE entries, entry_lines, account_balances");
        }
    }
}
