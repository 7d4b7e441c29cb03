//! Sales documents as bare rows, and what follows from them, computed without the program: in whole hundredths.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Client, World};

/// `1234.50` of PostgreSQL or `123450` of SQLite, in hundredths.
pub(crate) fn stored(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap()
}

/// An amount of an answer, in hundredths.
pub(crate) fn cents(value: &Value) -> i64 {
    let text = value.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, "00"));
    format!("{whole}{decimals:0<2}").parse().unwrap_or_else(|_| panic!("{value} is no amount"))
}

/// A sales document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) is_issued: bool,
    pub(crate) currency: String,
    pub(crate) client: String,
    pub(crate) mandate: String,
    pub(crate) issued_on: String,
    pub(crate) net: i64,
    pub(crate) rounding: i64,
    pub(crate) total: i64,
    pub(crate) origin: String,
    pub(crate) commit: i64,
    pub(crate) is_reached: bool,
}

/// Money received, or taken back.
#[derive(Debug, Clone)]
pub(crate) struct Payment {
    pub(crate) invoice: String,
    pub(crate) received_on: String,
    pub(crate) amount: i64,
    pub(crate) commit: i64,
}

/// All documents of a firm and what was received.
#[derive(Debug, Default)]
pub(crate) struct Sales {
    pub(crate) documents: BTreeMap<String, Document>,
    pub(crate) payments: Vec<Payment>,
    /// Document, service, net.
    pub(crate) lines: Vec<(String, String, i64)>,
}

/// A column of ids as text.
pub(crate) fn id_text(world: &World, column: &str) -> String {
    if world.database.is_postgres() {
        format!("coalesce(replace({column}::text, '-', ''), '')")
    } else {
        format!("coalesce(lower(hex({column})), '')")
    }
}

/// An id as answers write it.
pub(crate) fn uuid(text: &str) -> String {
    if text.is_empty() { String::new() } else { text.parse::<uuid::Uuid>().unwrap().to_string() }
}

/// Columns side by side, as [`World::query`] reads them.
pub(crate) fn columns(all: &[String]) -> String {
    all.join(" || '|' || ")
}

/// A column as text.
pub(crate) fn text(column: &str) -> String {
    format!("coalesce(CAST({column} AS TEXT), '')")
}

impl Sales {
    /// Those of a firm, and which of them somebody reaches: the person with this address, or everybody.
    pub(crate) fn of(world: &World, firm: &str, email: Option<&str>) -> Self {
        let id = |column: &str| id_text(world, column);
        let of = format!("i.tenant_id = (SELECT id FROM tenants WHERE slug = '{firm}')");
        let is_reached = email.map_or("'1'".to_owned(), |email| {
            let reached = format!(
                "SELECT r.mandate_id FROM reach r JOIN users u ON u.id = r.user_id WHERE u.email = '{email}' AND r.tenant_id = i.tenant_id"
            );
            format!(
                "CASE WHEN i.mandate_id IN ({reached}) OR (i.mandate_id IS NULL AND i.client_id IN \
                 (SELECT m.client_id FROM mandates m WHERE m.id IN ({reached}))) THEN '1' ELSE '' END"
            )
        });
        let mut all =
            vec![id("i.id"), id("i.client_id"), id("i.mandate_id"), id("i.origin_invoice_id")];
        let plain = [
            "document",
            "state",
            "currency",
            "issued_on",
            "net",
            "rounding",
            "total",
            "commit_number",
        ];
        all.extend(plain.iter().map(|name| text(&format!("i.{name}"))));
        all.push(is_reached);
        let rows = world.query(&format!("SELECT {} FROM invoices i WHERE {of}", columns(&all)));
        let document = |row: &Vec<String>| Document {
            id: uuid(&row[0]),
            client: uuid(&row[1]),
            mandate: uuid(&row[2]),
            origin: uuid(&row[3]),
            kind: row[4].clone(),
            is_issued: row[5] == "issued",
            currency: row[6].clone(),
            issued_on: row[7].clone(),
            net: stored(&row[8]),
            rounding: stored(&row[9]),
            total: stored(&row[10]),
            commit: row[11].parse().unwrap_or_default(),
            is_reached: row[12] == "1",
        };
        let documents = rows.iter().map(document).map(|one| (one.id.clone(), one)).collect();
        let all =
            [id("i.invoice_id"), text("i.received_on"), text("i.amount"), text("i.commit_number")];
        let rows = world.query(&format!("SELECT {} FROM payments i WHERE {of}", columns(&all)));
        let payment = |row: &Vec<String>| Payment {
            invoice: uuid(&row[0]),
            received_on: row[1].clone(),
            amount: stored(&row[2]),
            commit: row[3].parse().unwrap(),
        };
        let payments = rows.iter().map(payment).collect();
        let all = [id("i.invoice_id"), id("i.service_id"), text("i.net")];
        let rows =
            world.query(&format!("SELECT {} FROM invoice_lines i WHERE {of}", columns(&all)));
        let line = |row: &Vec<String>| (uuid(&row[0]), uuid(&row[1]), stored(&row[2]));
        Self { documents, payments, lines: rows.iter().map(line).collect() }
    }

    /// What is open on each invoice on a day, replaying the postings one after the other up to a number.
    pub(crate) fn open(&self, as_of: &str, known: i64) -> BTreeMap<String, i64> {
        let mut events: Vec<(i64, &str, &str, i64)> = vec![];
        for one in self.documents.values().filter(|one| one.is_issued && one.is_reached) {
            match one.kind.as_str() {
                "invoice" => events.push((one.commit, &one.issued_on, &one.id, one.total)),
                "credit_note" => events.push((one.commit, &one.issued_on, &one.origin, -one.total)),
                _ => {}
            }
        }
        for one in &self.payments {
            if self.documents[&one.invoice].is_reached {
                events.push((one.commit, &one.received_on, &one.invoice, -one.amount));
            }
        }
        events.sort_unstable();
        let mut open: BTreeMap<String, i64> = BTreeMap::new();
        for (_, day, invoice, amount) in events.into_iter().take_while(|(n, ..)| *n <= known) {
            let issued = &self.documents[invoice];
            if day <= as_of && issued.issued_on.as_str() <= as_of && issued.commit <= known {
                *open.entry(invoice.to_owned()).or_default() += amount;
            }
        }
        open.retain(|_, amount| *amount != 0);
        open
    }

    /// The revenue of a period by currency and whatever `key` says of a document: amount, rounding, how many documents.
    pub(crate) fn revenue(
        &self,
        (from, to): (&str, &str),
        known: i64,
        key: impl Fn(&Document) -> String,
    ) -> BTreeMap<(String, String), (i64, i64, i64)> {
        let mut sums: BTreeMap<(String, String), (i64, i64, i64)> = BTreeMap::new();
        for one in self.counted((from, to), known) {
            let sum = sums.entry((one.currency.clone(), key(one))).or_default();
            let sign = sign(one);
            *sum = (sum.0 + sign * one.net, sum.1 + sign * one.rounding, sum.2 + 1);
        }
        sums
    }

    /// The documents that revenue counts.
    pub(crate) fn counted(
        &self,
        (from, to): (&str, &str),
        known: i64,
    ) -> impl Iterator<Item = &Document> {
        self.documents.values().filter(move |one| {
            one.is_issued
                && one.is_reached
                && ["invoice", "credit_note"].contains(&one.kind.as_str())
                && (from..=to).contains(&one.issued_on.as_str())
                && one.commit <= known
        })
    }
}

/// Credit notes count negative.
pub(crate) fn sign(one: &Document) -> i64 {
    if one.kind == "credit_note" { -1 } else { 1 }
}

/// The number of a firm's last posting.
pub(crate) fn last_commit(world: &World, firm: &str) -> i64 {
    let of = format!("tenant_id = (SELECT id FROM tenants WHERE slug = '{firm}')");
    world.query(&format!("SELECT CAST(max(number) AS TEXT) FROM commits WHERE {of}"))[0][0]
        .parse()
        .unwrap()
}

/// Every page of a list: its items, and its last page.
pub(crate) fn every_page(client: &Client, tool: &str, mut arguments: Value) -> (Vec<Value>, Value) {
    arguments["limit"] = 100.into();
    let mut items = vec![];
    loop {
        let page = client.ask(tool, arguments.clone());
        items.extend(page["items"].as_array().unwrap().iter().cloned());
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return (items, page),
        }
    }
}

/// The parts of a figure, after checking that the rows of all pages add up to each of them.
pub(crate) fn explained(client: &Client, figure: &Value) -> BTreeMap<String, i64> {
    let (rows, page) = every_page(client, "explain_figure", json!({ "figure": figure }));
    assert_eq!(page["total"], rows.len());
    let parts = page["parts"].as_array().unwrap();
    for part in parts {
        let own = || rows.iter().filter(|row| row["part"] == part["part"]);
        assert_eq!(own().map(|row| cents(&row["amount"])).sum::<i64>(), cents(&part["amount"]));
        assert_eq!(part["rows"], own().count(), "{part}");
    }
    let part = |part: &Value| (part["part"].as_str().unwrap().to_owned(), cents(&part["amount"]));
    parts.iter().map(part).collect()
}

/// That every control of a report holds.
pub(crate) fn all_hold(report: &Value) {
    let controls = report["controls"].as_array().unwrap();
    for control in controls {
        assert_eq!(control["holds"], true, "{control}");
        assert_eq!(cents(&control["difference"]), 0, "{control}");
    }
}

/// Numbers that look random and are the same every time (xorshift).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// A number from 0 to `limit`, without the latter.
    pub(crate) fn below(&mut self, limit: u64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i64::try_from((self.0 >> 8) % limit).unwrap()
    }

    /// A day of 2025 or 2026.
    pub(crate) fn day(&mut self) -> String {
        format!("{}-{:02}-{:02}", 2025 + self.below(2), 1 + self.below(11), 1 + self.below(28))
    }
}
