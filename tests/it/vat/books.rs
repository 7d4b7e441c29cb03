//! Small ledgers, written by hand-made SQL as the owner of the tables.

use std::fmt::Write as _;

use crate::world::World;

/// The firm whose ledgers they are.
const FIRM: &str = "(SELECT id FROM tenants WHERE slug = 'leman')";
/// Numbers of accounts and their kinds.
const ACCOUNTS: &[(&str, &str)] = &[
    ("1020", "asset"),
    ("1170", "asset"),
    ("1171", "asset"),
    ("2200", "liability"),
    ("2201", "liability"),
    ("3000", "income"),
    ("3200", "income"),
    ("3400", "income"),
    ("3809", "income"),
    ("4200", "expense"),
    ("6500", "expense"),
    ("9200", "closing"),
];

/// A line of an entry: account, debit less credit in centimes, and what VAT says of it.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) account: &'static str,
    pub(crate) amount: i64,
    pub(crate) vat: Option<(&'static str, &'static str, i64)>,
    pub(crate) supplied_on: Option<String>,
}

/// A debit, or as a negative amount a credit, without VAT.
pub(crate) fn plain(account: &'static str, amount: i64) -> Line {
    Line { account, amount, vat: None, supplied_on: None }
}

/// The taxed amount at a rate in tenths of a per cent.
pub(crate) fn base(account: &'static str, amount: i64, code: &'static str, rate: i64) -> Line {
    Line { account, amount, vat: Some((code, "base", rate)), supplied_on: None }
}

/// The tax at a rate in tenths of a per cent.
pub(crate) fn tax(account: &'static str, amount: i64, code: &'static str, rate: i64) -> Line {
    Line { account, amount, vat: Some((code, "tax", rate)), supplied_on: None }
}

impl Line {
    pub(crate) fn supplied(mut self, on: &str) -> Self {
        self.supplied_on = Some(on.to_owned());
        self
    }
}

/// How the mandate of a ledger files VAT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) method: &'static str,
    pub(crate) period: &'static str,
    /// In tenths of a per cent.
    pub(crate) net_rate: Option<i64>,
    /// First and last fiscal year.
    pub(crate) years: (i32, i32),
}

pub(crate) const QUARTERLY: Setup =
    Setup { method: "effective", period: "quarter", net_rate: None, years: (2023, 2026) };
pub(crate) const HALF_YEARLY: Setup =
    Setup { method: "net_rate", period: "half", net_rate: Some(62), years: (2023, 2026) };

/// The ledger of a mandate of its own, in the first firm.
pub(crate) struct Books<'w> {
    world: &'w World,
    nth: u32,
    entries: u32,
    pub(crate) mandate: String,
    pending: String,
}

/// A UUID of a kind, a ledger and a number.
fn uuid(kind: u32, nth: u32, number: u32) -> String {
    format!("0197{kind:04x}-0000-7000-8{nth:03x}-{number:012x}")
}

impl<'w> Books<'w> {
    /// Opens the `nth` ledger of a test.
    pub(crate) fn open(world: &'w World, nth: u32, setup: Setup) -> Self {
        let mandate = uuid(1, nth, 0);
        let mut this = Self { world, nth, entries: 0, mandate, pending: String::new() };
        let (firm, id, at) = (FIRM, this.id(&this.mandate), "'2023-01-01T00:00:00.000000Z'");
        let rate = setup.net_rate.map_or("NULL".to_owned(), |rate| this.decimal(rate, 1, 4));
        let mut sql = format!(
            "INSERT INTO mandates (tenant_id, id, client_id, number, title, kind, status, starts_on, billing, currency, \
             fiscal_year_end_month, vat_method, vat_period, vat_net_rate, search_text, created_at) \
             VALUES ({firm}, {id}, (SELECT min_id.id FROM (SELECT id FROM clients WHERE tenant_id = {firm} ORDER BY id LIMIT 1) AS min_id), \
             'LEM-T{nth}', 'Lémanique', 'vat', 'active', '2018-01-01', 'hourly', 'CHF', 12, '{}', '{}', {rate}, 'lemanique', {at});\n\
             INSERT INTO ledgers (tenant_id, mandate_id, currency, is_of_firm) VALUES ({firm}, {id}, 'CHF', FALSE);\n",
            setup.method, setup.period
        );
        for (at, (number, kind)) in (1..).zip(ACCOUNTS) {
            let account = this.id(&uuid(2, nth, at));
            writeln!(
                sql,
                "INSERT INTO accounts (tenant_id, id, mandate_id, number, label_fr, label_de, label_en, kind, is_postable, \
                 is_active, needs_party, search_text) \
                 VALUES ({firm}, {account}, {id}, '{number}', 'L', 'L', 'L', '{kind}', TRUE, TRUE, FALSE, '');"
            )
            .unwrap();
        }
        for journal in ["OD", "ANO", "CLO"] {
            writeln!(sql, "INSERT INTO journals (tenant_id, mandate_id, code, label_fr, label_de, label_en) VALUES ({firm}, {id}, '{journal}', 'L', 'L', 'L');").unwrap();
        }
        for year in setup.years.0..=setup.years.1 {
            let year_id = this.year(&year.to_string());
            writeln!(
                sql,
                "INSERT INTO fiscal_years (tenant_id, id, mandate_id, label, starts_on, ends_on, state) \
                 VALUES ({firm}, {year_id}, {id}, '{year}', '{year}-01-01', '{year}-12-31', 'open');"
            )
            .unwrap();
        }
        this.pending = sql;
        this.write();
        this
    }

    /// An id as the database writes it.
    fn id(&self, uuid: &str) -> String {
        if self.world.database.is_postgres() {
            format!("'{uuid}'")
        } else {
            format!("X'{}'", uuid.replace('-', ""))
        }
    }

    fn year(&self, year: &str) -> String {
        self.id(&uuid(3, self.nth, year.parse().unwrap()))
    }

    /// A number of `from` decimals where the database holds `to`.
    fn decimal(&self, minor: i64, from: u32, to: u32) -> String {
        if self.world.database.is_postgres() {
            format!("{minor}e-{from}")
        } else {
            (minor * 10_i64.pow(to - from)).to_string()
        }
    }

    /// Grants an activity, its rate in tenths of a per cent, and gives it an account.
    pub(crate) fn activity(&mut self, code: &str, rate: i64, accounts: &[&str]) {
        let (firm, id, rate) = (FIRM, self.id(&self.mandate), self.decimal(rate, 1, 4));
        writeln!(
            self.pending,
            "INSERT INTO vat_activities (tenant_id, mandate_id, code, label, net_rate_percent, valid_from) \
             VALUES ({firm}, {id}, '{code}', 'Lémanique', {rate}, '2018-01-01');"
        )
        .unwrap();
        for account in accounts {
            writeln!(
                self.pending,
                "UPDATE accounts SET vat_activity = '{code}' WHERE tenant_id = {firm} AND mandate_id = {id} AND number = '{account}';"
            )
            .unwrap();
        }
    }

    /// Adds a draft, and posts it unless it stays one.
    fn entry(&mut self, on: &str, journal: &str, lines: &[Line], is_posted: bool) {
        assert_eq!(lines.iter().map(|line| line.amount).sum::<i64>(), 0, "{lines:?}");
        self.entries += 1;
        let (firm, mandate) = (FIRM, self.id(&self.mandate));
        let (entry, year) = (self.id(&uuid(4, self.nth, self.entries)), self.year(&on[..4]));
        let person = format!(
            "(SELECT user_id FROM memberships WHERE tenant_id = {firm} ORDER BY user_id LIMIT 1)"
        );
        let number = self.entries;
        let mut sql = format!(
            "INSERT INTO entries (tenant_id, id, mandate_id, fiscal_year_id, journal, booked_on, text, voucher, state, \
             search_text, created_by, created_at) VALUES ({firm}, {entry}, {mandate}, {year}, '{journal}', '{on}', \
             'Lémanique {number}', 'P{number}', 'draft', '', {person}, '2026-11-30T08:00:00.000000Z');\n"
        );
        for (at, line) in (1..).zip(lines) {
            let account = ACCOUNTS.iter().position(|(number, _)| *number == line.account).unwrap();
            let account = self.id(&uuid(2, self.nth, u32::try_from(account).unwrap() + 1));
            let debit = self.decimal(line.amount.max(0), 2, 2);
            let credit = self.decimal((-line.amount).max(0), 2, 2);
            let (code, part, rate) = line.vat.map_or(
                ("NULL".to_owned(), "NULL".to_owned(), "NULL".to_owned()),
                |(code, part, rate)| {
                    (format!("'{code}'"), format!("'{part}'"), self.decimal(rate, 1, 4))
                },
            );
            let supplied = line.supplied_on.as_ref().map_or("NULL".into(), |on| format!("'{on}'"));
            writeln!(
                sql,
                "INSERT INTO entry_lines (tenant_id, entry_id, position, mandate_id, booked_on, account_id, debit, credit, \
                 currency, currency_debit, currency_credit, vat_code, vat_part, vat_rate_percent, supplied_on) \
                 VALUES ({firm}, {entry}, {at}, {mandate}, '{on}', {account}, {debit}, {credit}, 'CHF', {debit}, {credit}, \
                 {code}, {part}, {rate}, {supplied});"
            )
            .unwrap();
        }
        if is_posted {
            write!(
                sql,
                "INSERT INTO commits (tenant_id, number, committed_at, user_id) \
                 SELECT {firm}, c.number + 1, c.committed_at, c.user_id FROM commits c WHERE c.tenant_id = {firm} \
                 ORDER BY c.number DESC LIMIT 1;\n\
                 UPDATE entries SET state = 'posted', commit_number = (SELECT max(c.number) FROM commits c WHERE c.tenant_id = {firm}), \
                 number = (SELECT coalesce(max(o.number), 0) + 1 FROM entries o WHERE o.tenant_id = {firm} AND o.mandate_id = {mandate} \
                 AND o.fiscal_year_id = {year} AND o.journal = '{journal}') WHERE tenant_id = {firm} AND id = {entry};\n"
            )
            .unwrap();
        }
        self.pending.push_str(&sql);
    }

    /// Posts an entry to the general journal; [`Books::write`] carries it out.
    pub(crate) fn post(&mut self, on: &str, lines: &[Line]) {
        self.entry(on, "OD", lines, true);
    }

    /// Posts to a journal of its own kind.
    pub(crate) fn post_to(&mut self, journal: &str, on: &str, lines: &[Line]) {
        self.entry(on, journal, lines, true);
    }

    /// Leaves an entry as a draft.
    pub(crate) fn draft(&mut self, on: &str, lines: &[Line]) {
        self.entry(on, "OD", lines, false);
    }

    /// Locks a fiscal year through a day.
    pub(crate) fn lock(&mut self, through: &str) {
        let (firm, year) = (FIRM, self.year(&through[..4]));
        writeln!(
            self.pending,
            "UPDATE fiscal_years SET locked_through = '{through}' WHERE tenant_id = {firm} AND id = {year};"
        )
        .unwrap();
    }

    /// Carries out what is pending.
    pub(crate) fn write(&mut self) {
        let sql = std::mem::take(&mut self.pending);
        self.world.sql(&format!("BEGIN;\n{sql}COMMIT;"));
    }

    /// The number of the last posting of the firm.
    pub(crate) fn last_commit(&self) -> String {
        let firm = FIRM;
        let last =
            format!("SELECT CAST(max(number) AS TEXT) FROM commits WHERE tenant_id = {firm}");
        self.world.query(&last)[0][0].clone()
    }

    /// The bare posted lines: day, day of supply, entry, account, kind, activity, code, part, and debit less credit.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let (firm, mandate) = (FIRM, self.id(&self.mandate));
        let text = |column: &str| format!("coalesce(CAST({column} AS TEXT), '')");
        let entry =
            if self.world.database.is_postgres() { "l.entry_id::text" } else { "hex(l.entry_id)" };
        let columns = [
            text("l.booked_on"),
            text("coalesce(l.supplied_on, l.booked_on)"),
            entry.to_owned(),
            text("a.kind"),
            text("a.vat_activity"),
            text("l.vat_code"),
            text("l.vat_part"),
            text("l.debit"),
            text("l.credit"),
        ];
        let rows = self.world.query(&format!(
            "SELECT {} FROM entry_lines l JOIN entries e ON e.tenant_id = l.tenant_id AND e.id = l.entry_id \
             JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id \
             WHERE l.tenant_id = {firm} AND l.mandate_id = {mandate} AND e.state = 'posted' ORDER BY l.entry_id, l.position",
            columns.join(" || '|' || ")
        ));
        let cents = |text: &str| text.replace('.', "").parse::<i64>().unwrap();
        rows.into_iter()
            .map(|row| Row {
                on: row[0].clone(),
                supplied_on: row[1].clone(),
                entry: row[2].clone(),
                kind: row[3].clone(),
                activity: row[4].clone(),
                code: row[5].clone(),
                part: row[6].clone(),
                amount: cents(&row[7]) - cents(&row[8]),
            })
            .collect()
    }
}

/// A posted line.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) on: String,
    pub(crate) supplied_on: String,
    pub(crate) entry: String,
    pub(crate) kind: String,
    pub(crate) activity: String,
    pub(crate) code: String,
    pub(crate) part: String,
    /// Debit less credit, in centimes.
    pub(crate) amount: i64,
}
