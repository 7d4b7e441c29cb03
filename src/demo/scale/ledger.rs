//! A ledger of a given length, for a mandate of its own in the first firm.

use super::Step;
use super::catalogue::Dialect;
use crate::demo::ids::{self, Kind};

/// Lines of an entry: two debits, two credits.
const LINES: u32 = 4;
/// Accounts of the chart.
const ACCOUNTS: u32 = 120;
/// Days on which something is booked, from the beginning of 2024.
const DAYS: u32 = 1_060;
/// On which of these days the years begin.
const YEARS: [u32; 3] = [0, 366, 731];
/// Entries written by one statement.
const AT_ONCE: u32 = 50_000;
/// The kind of the mandates' ids, which no written record has.
const MANDATE: u16 = 0xf01;
/// The kind of the accounts' ids.
const ACCOUNT: u16 = 0xf02;
/// The kind of the fiscal years' ids.
const YEAR: u16 = 0xf03;
/// The kind of the entries' ids.
const ENTRY: u16 = 0xf04;

/// What the statements of one ledger have in common.
struct Ledger {
    dialect: Dialect,
    /// Its place among the ledgers, from 1.
    n: u32,
    entries: u32,
    tenant: String,
    mandate: String,
}

/// The ledger number `n`, from 1, with so many lines.
pub(super) fn of_first_firm(dialect: Dialect, n: u32, lines: u32) -> Vec<Step> {
    let tenant = dialect.id(ids::id(0, Kind::Tenant, 1));
    let mandate = dialect.made(MANDATE, &n.to_string());
    let ledger = Ledger { dialect, n, entries: lines / LINES, tenant, mandate };
    let step = |table: &str, sql| Step::fill(table, &format!("ledger {n}"), sql);
    let mut steps = vec![
        step("fiscal_years", ledger.head()),
        step("accounts", ledger.chart()),
        step("commits", ledger.commits()),
    ];
    for from in (1..=ledger.entries).step_by(AT_ONCE as usize) {
        let to = ledger.entries.min(from + AT_ONCE - 1);
        steps.push(step("entries", ledger.entries(from, to)));
        steps.push(step("entry_lines", ledger.lines(from, to)));
    }
    steps.push(step("account_balances", ledger.balances()));
    steps
}

impl Ledger {
    /// An id of this ledger, numbered by an expression.
    fn made(&self, kind: u16, number: &str) -> String {
        self.dialect.made(kind, &format!("{} + {number}", u64::from(self.n) * 10_000_000))
    }

    fn head(&self) -> String {
        let Self { dialect, n, tenant, mandate, .. } = self;
        let client = dialect.id(ids::id(0, Kind::Client, 1));
        let years: Vec<String> = YEARS
            .iter()
            .zip(2024..)
            .map(|(_, year)| {
                let id = self.made(YEAR, &year.to_string());
                format!("INSERT INTO fiscal_years (tenant_id, id, mandate_id, label, starts_on, ends_on, state)
                    VALUES ({tenant}, {id}, {mandate}, '{year}', '{year}-01-01', '{year}-12-31', 'open');")
            })
            .collect();
        format!(
            "INSERT INTO mandates (tenant_id, id, client_id, number, title, kind, status, starts_on, billing, currency,
                fiscal_year_end_month, vat_method, search_text, created_at)
             SELECT tenant_id, {mandate}, id, 'GL-{n}', 'Grand livre {n}', 'accounting', 'active', '2024-01-01', 'hourly', 'CHF',
                12, 'not_liable', 'gl-{n} grand livre {n}', created_at FROM clients WHERE id = {client} AND tenant_id = {tenant};
             INSERT INTO ledgers (tenant_id, mandate_id, currency, is_of_firm) VALUES ({tenant}, {mandate}, 'CHF', FALSE);
             INSERT INTO journals (tenant_id, mandate_id, code, label_fr, label_de, label_en)
                VALUES ({tenant}, {mandate}, 'OD', 'Opérations diverses', 'Diverses', 'Miscellaneous');
             {}",
            years.concat()
        )
    }

    fn chart(&self) -> String {
        let Self { tenant, mandate, .. } = self;
        format!(
            "WITH RECURSIVE s(a) AS (SELECT 0 UNION ALL SELECT a + 1 FROM s WHERE a < {ACCOUNTS} - 1)
             INSERT INTO accounts (tenant_id, id, mandate_id, number, label_fr, label_de, label_en, kind, is_postable, is_active,
                needs_party, search_text)
             SELECT {tenant}, {}, {mandate}, CAST(1000 + a * 66 AS TEXT), 'Compte ' || a, 'Konto ' || a, 'Account ' || a,
                CASE (1000 + a * 66) / 1000 WHEN 1 THEN 'asset' WHEN 2 THEN CASE WHEN a < 28 THEN 'liability' ELSE 'equity' END
                    WHEN 3 THEN 'income' ELSE 'expense' END, TRUE, TRUE, FALSE,
                CAST(1000 + a * 66 AS TEXT) || ' compte konto account ' || a FROM s",
            self.made(ACCOUNT, "a")
        )
    }

    fn commits(&self) -> String {
        let tenant = &self.tenant;
        format!(
            "WITH RECURSIVE s(d) AS (SELECT 1 UNION ALL SELECT d + 1 FROM s WHERE d < {DAYS}),
                latest AS (SELECT max(number) AS number, max(committed_at) AS at FROM commits WHERE tenant_id = {tenant})
             INSERT INTO commits (tenant_id, number, committed_at, user_id)
             SELECT {tenant}, latest.number + s.d, latest.at, {} FROM latest CROSS JOIN s",
            self.accountant()
        )
    }

    fn accountant(&self) -> String {
        format!(
            "(SELECT user_id FROM memberships WHERE tenant_id = {} AND role = 'accountant' ORDER BY user_id LIMIT 1)",
            self.tenant
        )
    }

    /// The entries' places `i` and their days `d`, as a common table `e`.
    fn places(&self, from: u32, to: u32) -> String {
        format!(
            "WITH RECURSIVE s(i) AS (SELECT CAST({from} AS BIGINT) UNION ALL SELECT i + 1 FROM s WHERE i < {to}),
                e AS (SELECT i, (i - 1) * {DAYS} / {} AS d FROM s)",
            self.entries
        )
    }

    fn entries(&self, from: u32, to: u32) -> String {
        let Self { dialect, tenant, mandate, entries, .. } = self;
        let [_, second, third] = YEARS;
        // How many entries come before a year.
        let before = |day: u32| (u64::from(day) * u64::from(*entries)).div_ceil(u64::from(DAYS));
        format!(
            "{places} INSERT INTO entries (tenant_id, id, mandate_id, fiscal_year_id, journal, number, booked_on, text, voucher,
                state, commit_number, search_text, created_by, created_at)
             SELECT {tenant}, {id}, {mandate}, {year}, 'OD',
                i - CASE WHEN d >= {third} THEN {} WHEN d >= {second} THEN {} ELSE 0 END, {day}, 'Écriture ' || i, 'P-' || i,
                'posted', (SELECT max(number) FROM commits WHERE tenant_id = {tenant}) - {DAYS} + 1 + d,
                'od ecriture ' || i || ' p-' || i, {user}, c.committed_at
             FROM e CROSS JOIN (SELECT max(committed_at) AS committed_at FROM commits WHERE tenant_id = {tenant}) AS c",
            before(third),
            before(second),
            places = self.places(from, to),
            id = self.made(ENTRY, "i"),
            year = self.made(YEAR, &format!("CASE WHEN d >= {third} THEN 2026 WHEN d >= {second} THEN 2025 ELSE 2024 END")),
            day = dialect.day("d"),
            user = self.accountant(),
        )
    }

    fn lines(&self, from: u32, to: u32) -> String {
        let Self { dialect, tenant, mandate, .. } = self;
        let debit = dialect.money("CASE WHEN p <= 2 THEN amount ELSE 0 END");
        let credit = dialect.money("CASE WHEN p > 2 THEN amount ELSE 0 END");
        format!(
            "{}, p AS (SELECT 1 AS p UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4),
                l AS (SELECT i, d, p, (i * (p * 17 + 13) + p * 31) % {ACCOUNTS} AS a,
                    CASE WHEN p IN (1, 3) THEN i * 7919 % 100000 ELSE i * 104729 % 50000 END + 100 AS amount FROM e CROSS JOIN p)
             INSERT INTO entry_lines (tenant_id, entry_id, position, mandate_id, booked_on, account_id, debit, credit, currency,
                currency_debit, currency_credit)
             SELECT {tenant}, {}, p, {mandate}, {}, {}, {debit}, {credit}, 'CHF', {debit}, {credit} FROM l",
            self.places(from, to),
            self.made(ENTRY, "i"),
            dialect.day("d"),
            self.made(ACCOUNT, "a"),
        )
    }

    fn balances(&self) -> String {
        let Self { dialect, tenant, mandate, .. } = self;
        let month = dialect.month("booked_on");
        format!(
            "INSERT INTO account_balances (tenant_id, mandate_id, account_id, currency, month, debit, credit, currency_debit,
                currency_credit, line_count)
             SELECT tenant_id, mandate_id, account_id, currency, {month}, sum(debit), sum(credit), sum(currency_debit),
                sum(currency_credit), count(*) FROM entry_lines WHERE tenant_id = {tenant} AND mandate_id = {mandate}
             GROUP BY tenant_id, mandate_id, account_id, currency, {month}"
        )
    }
}
