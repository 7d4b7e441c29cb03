//! Open items at two clocks, against a replay of the postings one after the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::world::sales::{Chance, Sales, all_hold, cents, every_page, explained, last_commit};
use crate::world::{Client, World};

on_both! {
    what_was_open_is_told_as_it_was_known,
    random_documents_are_counted_as_a_replay_counts_them,
    every_total_is_explained_to_the_centime,
    a_report_stays_what_it_was,
    open_items_are_counted_within_reach,
    a_client_or_mandate_out_of_reach_is_unknown,
}

/// Open amounts of an answer by invoice, and its last page.
fn listed(client: &Client, arguments: Value) -> (BTreeMap<String, i64>, Value) {
    let (items, page) = every_page(client, "list_open_items", arguments);
    let item =
        |item: &Value| (item["invoice_id"].as_str().unwrap().to_owned(), cents(&item["open"]));
    (items.iter().map(item).collect(), page)
}

/// That the totals of an answer are the sums of what is open.
fn totals_are(page: &Value, sales: &Sales, open: &BTreeMap<String, i64>) {
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for (id, amount) in open {
        let sum = sums.entry(&sales.documents[id].currency).or_default();
        if *amount > 0 { sum.0 += amount } else { sum.1 += amount }
    }
    let totals = page["totals"].as_array().unwrap().iter();
    let totals: BTreeMap<&str, (i64, i64)> = totals
        .map(|total| {
            let sums = (cents(&total["open"]), cents(&total["credit_balance"]));
            (total["currency"].as_str().unwrap(), sums)
        })
        .collect();
    assert_eq!(totals, sums);
    all_hold(page);
}

/// The currencies whose sums are compared with the ledger, in the order told.
fn currencies_with_ledger(page: &Value) -> Vec<&str> {
    let controls = page["controls"].as_array().unwrap().iter();
    controls
        .filter(|control| control["name"].as_str().unwrap().contains("the firm's ledger"))
        .map(|control| control["currency"].as_str().unwrap())
        .collect()
}

fn owed(open: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    open.iter().filter(|(_, open)| **open > 0).map(|(id, open)| (id.clone(), *open)).collect()
}

fn what_was_open_is_told_as_it_was_known(world: &World) {
    let (sales, owner) = (Sales::of(world, "leman", None), world.owner());
    let last = last_commit(world, "leman");
    let mut answers = vec![];
    for as_of in ["2024-12-31", "2026-03-31", "2026-06-30", "2026-11-30"] {
        for known in [0, 1, last / 3, last / 2, last * 9 / 10, last - 1, last] {
            let arguments = json!({ "as_of": as_of, "as_known_on": format!("#{known}") });
            let (items, page) = listed(&owner, arguments);
            let open = sales.open(as_of, known);
            assert_eq!(items, owed(&open), "{as_of} #{known}");
            totals_are(&page, &sales, &open);
            assert!(page["controls"].to_string().contains("receivables of the firm's ledger"));
            assert_eq!(currencies_with_ledger(&page), ["CHF", "EUR", "USD", "GBP"]);
            answers.push(items);
        }
        let (now, page) = listed(&owner, json!({ "as_of": as_of }));
        assert_eq!(&now, answers.last().unwrap(), "now is as known on the last posting");
        assert_eq!(page["as_known_on"], format!("#{last}"));
        let (today, _) = listed(&owner, json!({ "as_of": as_of, "as_known_on": "2026-11-30" }));
        assert_eq!(today, now);
    }
    answers.dedup();
    assert!(answers.len() > 15, "{}", answers.len());
    let refusal = owner.call("list_open_items", json!({ "as_known_on": format!("#{}", last + 1) }));
    assert_eq!(refusal.refusal()["field"], "as_known_on");
}

/// Writes `SETS` clients of the first firm with a mandate each and random documents; answers their ids.
struct Random<'w> {
    world: &'w World,
    chance: Chance,
    commit: i64,
    ids: u64,
    commits: Vec<String>,
    invoices: Vec<String>,
    lines: Vec<String>,
    payments: Vec<String>,
    issue: Vec<(i64, String)>,
}

const SETS: usize = 500;
const TENANT: &str = "(SELECT id FROM tenants WHERE slug = 'leman')";

impl Random<'_> {
    fn id(&mut self) -> String {
        self.ids += 1;
        if self.world.database.is_postgres() {
            format!("'01990000-0000-7000-8000-{:012x}'::uuid", self.ids)
        } else {
            format!("X'01990000000070008000{:012x}'", self.ids)
        }
    }

    fn money(&self, minor: i64) -> String {
        if self.world.database.is_postgres() {
            format!(
                "{}{}.{:02}",
                if minor < 0 { "-" } else { "" },
                minor.abs() / 100,
                minor.abs() % 100
            )
        } else {
            minor.to_string()
        }
    }

    fn quantity(&self) -> &'static str {
        if self.world.database.is_postgres() { "1" } else { "1000" }
    }

    fn commit(&mut self) -> i64 {
        self.commit += 1;
        let at = if self.world.database.is_postgres() {
            "2026-11-29T09:00:00Z"
        } else {
            "2026-11-29T09:00:00.000000Z"
        };
        self.commits.push(format!("({TENANT}, {}, '{at}', (SELECT m.user_id FROM memberships m WHERE m.tenant_id = {TENANT} ORDER BY m.user_id LIMIT 1))", self.commit));
        self.commit
    }

    /// A document with lines; answers its id and total.
    fn document(
        &mut self,
        (client, mandate): (&str, &str),
        kind: &str,
        on: &str,
        origin: Option<(&str, &str)>,
        is_issued: bool,
    ) -> (String, i64) {
        let id = self.id();
        let mut nets = vec![];
        for _ in 0..=self.chance.below(3) {
            nets.push(1 + self.chance.below(500_000));
        }
        let net: i64 = nets.iter().sum();
        let vat = net * 81 / 1_000;
        let currency = origin.map_or_else(
            || ["CHF", "CHF", "EUR"][usize::try_from(self.chance.below(3)).unwrap()],
            |(_, currency)| currency,
        );
        let rounding = if currency == "CHF" { (5 - (net + vat) % 5) % 5 } else { 0 };
        let total = net + vat + rounding;
        let due = format!("{}-15", &on[..7]);
        let amounts = [net, vat, rounding, total].map(|amount| self.money(amount)).join(", ");
        let origin_id = origin.map_or("NULL".to_owned(), |(id, _)| id.to_owned());
        let commit = if is_issued { self.commit().to_string() } else { "NULL".to_owned() };
        let at = if self.world.database.is_postgres() {
            "2026-11-29T09:00:00Z"
        } else {
            "2026-11-29T09:00:00.000000Z"
        };
        self.invoices.push(format!(
            "({TENANT}, {id}, {client}, {mandate}, '{kind}', 'draft', 'X-{}', 'x', '{currency}', '{on}', '{due}', '{on}', '{on}', {amounts}, {origin_id}, {commit}, 'x', '{at}')",
            self.ids
        ));
        for (position, net) in (1..).zip(&nets) {
            let line = self.id();
            let service = if self.chance.below(5) == 0 {
                "NULL".to_owned()
            } else {
                format!(
                    "(SELECT s.id FROM services s WHERE s.tenant_id = {TENANT} ORDER BY s.code LIMIT 1 OFFSET {})",
                    self.chance.below(6)
                )
            };
            self.lines.push(format!(
                "({TENANT}, {line}, {id}, {position}, {service}, 'x', {}, 'piece', {net}, {net}, 0, {vat})",
                self.quantity(), net = self.money(*net), vat = self.money(0)
            ));
        }
        if is_issued {
            self.issue.push((i64::from(origin.is_some()), id.clone()));
        }
        (id, total)
    }

    fn pay(&mut self, invoice: &str, amount: i64, reverses: Option<&str>) -> String {
        let (id, on, commit) = (self.id(), self.chance.day(), self.commit());
        let (amount, reverses) = (self.money(amount), reverses.unwrap_or("NULL"));
        self.payments.push(format!(
            "({TENANT}, {id}, {invoice}, '{on}', {amount}, 'bank', NULL, {reverses}, {commit})"
        ));
        id
    }

    /// The documents of a client, and what happens to them; whatever is posted may be dated back.
    fn fill(&mut self, of: (&str, &str)) {
        for _ in 0..=self.chance.below(4) {
            let on = self.chance.day();
            let kind = ["invoice", "invoice", "invoice", "quote", "pro_forma"]
                [usize::try_from(self.chance.below(5)).unwrap()];
            let is_issued = self.chance.below(6) > 0;
            let (invoice, total) = self.document(of, kind, &on, None, is_issued);
            if kind != "invoice" || !is_issued {
                continue;
            }
            let currency =
                if self.invoices.last().unwrap().contains("'EUR'") { "EUR" } else { "CHF" };
            for _ in 0..self.chance.below(4) {
                match self.chance.below(5) {
                    0 => drop(self.pay(&invoice, total, None)),
                    1 | 2 => {
                        let part = 1 + self.chance.below(u64::try_from(total).unwrap());
                        drop(self.pay(&invoice, part, None));
                    }
                    3 => {
                        let payment = self.pay(&invoice, total, None);
                        self.pay(&invoice, -total, Some(&payment));
                    }
                    _ => {
                        let on = self.chance.day();
                        let is_issued = self.chance.below(4) > 0;
                        self.document(
                            of,
                            "credit_note",
                            &on,
                            Some((&invoice, currency)),
                            is_issued,
                        );
                    }
                }
            }
        }
    }

    fn insert(&self, table: &str, columns: &str, rows: &[String]) {
        for chunk in rows.chunks(200) {
            self.world.sql(&format!("INSERT INTO {table} {columns} VALUES {}", chunk.join(", ")));
        }
    }

    fn write(&self) {
        self.insert("commits", "", &self.commits);
        self.insert("invoices", "(tenant_id, id, client_id, mandate_id, document, state, number, title, currency, issued_on, due_on, supply_from, supply_to, net, vat, rounding, total, origin_invoice_id, commit_number, search_text, created_at)", &self.invoices);
        self.insert("invoice_lines", "", &self.lines);
        for is_credit_note in [0, 1] {
            let ids: Vec<&str> = self
                .issue
                .iter()
                .filter(|(kind, _)| *kind == is_credit_note)
                .map(|(_, id)| id.as_str())
                .collect();
            for chunk in ids.chunks(200) {
                self.world.sql(&format!(
                    "UPDATE invoices SET state = 'issued' WHERE id IN ({})",
                    chunk.join(", ")
                ));
            }
        }
        self.insert("payments", "", &self.payments);
    }
}

/// Writes the random documents; answers the clients.
fn random(world: &World, seed: u64) -> Vec<String> {
    let mut random = Random {
        world,
        chance: Chance(seed),
        commit: last_commit(world, "leman"),
        ids: 0,
        commits: vec![],
        invoices: vec![],
        lines: vec![],
        payments: vec![],
        issue: vec![],
    };
    let (mut clients, mut mandates, mut ids) = (vec![], vec![], vec![]);
    for n in 0..SETS {
        let (client, mandate) = (random.id(), random.id());
        let copied = |columns: &str, of: &str, last: &str| {
            format!(
                "SELECT {columns} FROM (SELECT * FROM {of} WHERE tenant_id = {TENANT} ORDER BY id LIMIT 1) AS x {last}"
            )
        };
        clients.push(copied(&format!("tenant_id, {client}, 'X{n}', name, legal_form, NULL, status, NULL, NULL, language, responsible_id, sort_name, search_text, created_at, deleted_at"), "clients", ""));
        mandates.push(copied(&format!("tenant_id, {mandate}, {client}, 'X{n}', title, kind, status, responsible_id, starts_on, ends_on, billing, currency, flat_fee, budget_amount, budget_hours, fiscal_year_end_month, vat_method, vat_period, vat_net_rate, search_text, created_at"), "mandates", ""));
        random.fill((&client, &mandate));
        let hex: String = client.chars().filter(char::is_ascii_hexdigit).collect();
        ids.push(crate::world::sales::uuid(&hex[..32]));
    }
    for (table, rows) in [("clients", clients), ("mandates", mandates)] {
        for chunk in rows.chunks(50) {
            let mut sql = format!("INSERT INTO {table} ");
            write!(sql, "{}", chunk.join(" UNION ALL ")).unwrap();
            world.sql(&sql);
        }
    }
    random.write();
    ids
}

fn random_documents_are_counted_as_a_replay_counts_them(world: &World) {
    let first = last_commit(world, "leman");
    let clients = random(world, 20_261_130);
    let (sales, owner) = (Sales::of(world, "leman", None), world.owner());
    let last = last_commit(world, "leman");
    let mut chance = Chance(7);
    let mut different = 0;
    for (n, client) in clients.iter().enumerate() {
        let as_of = chance.day();
        let known = first + chance.below(u64::try_from(last - first + 1).unwrap());
        let own = |open: BTreeMap<String, i64>| -> BTreeMap<String, i64> {
            open.into_iter().filter(|(id, _)| sales.documents[id].client == *client).collect()
        };
        let (then, now) = (own(sales.open(&as_of, known)), own(sales.open(&as_of, last)));
        different += usize::from(then != now);
        let (items, page) = listed(&owner, json!({ "client_id": client, "as_of": as_of }));
        assert_eq!(items, owed(&now), "{client} {as_of}");
        totals_are(&page, &sales, &now);
        let past =
            json!({ "client_id": client, "as_of": as_of, "as_known_on": format!("#{known}") });
        let (items, page) = listed(&owner, past);
        assert_eq!(items, owed(&then), "{client} {as_of} #{known}");
        totals_are(&page, &sales, &then);
        let (from, to) = (chance.day(), chance.day());
        let (from, to) = (from.clone().min(to.clone()), from.max(to));
        let group = ["client", "mandate", "service", "month"][n % 4];
        let revenue = owner.ask(
            "get_revenue",
            json!({ "client_id": client, "from": from, "to": to,
            "group_by": group, "as_known_on": format!("#{known}") }),
        );
        let expected = sales.revenue((&from, &to), known, |one| one.client.clone());
        let expected = expected.into_iter().filter(|((_, of), _)| of == client);
        let expected: BTreeMap<String, (i64, i64, i64)> =
            expected.map(|((currency, _), sums)| (currency, sums)).collect();
        let totals = revenue["totals"].as_array().unwrap().iter();
        let totals: BTreeMap<String, (i64, i64, i64)> = totals
            .map(|total| {
                let sums = (
                    cents(&total["revenue"]),
                    cents(&total["rounding"]),
                    total["count"].as_i64().unwrap(),
                );
                (total["currency"].as_str().unwrap().to_owned(), sums)
            })
            .collect();
        assert_eq!(totals, expected, "{client} {from} {to} #{known}");
        all_hold(&revenue);
        if n % 10 == 0 {
            let all = page["totals"].as_array().unwrap().iter();
            let all = all.chain(revenue["totals"].as_array().unwrap());
            let groups = revenue["groups"].as_array().unwrap();
            for row in all.chain(groups) {
                let parts = explained(&owner, &row["figure"]);
                let is_same = parts.get("revenue").is_none_or(|sum| *sum == cents(&row["revenue"]));
                assert!(is_same, "{row} {parts:?}");
            }
        }
    }
    assert!(different > SETS / 5, "{different}");
}

fn every_total_is_explained_to_the_centime(world: &World) {
    for (role, arguments) in [
        ("owner", json!({ "as_of": "2026-06-30" })),
        ("owner", json!({ "as_of": "2026-06-30", "as_known_on": "#500" })),
        ("owner", json!({ "as_of": "2026-06-30", "min_days_overdue": 61, "currency": "CHF" })),
        ("accountant", json!({ "as_of": "2026-11-30" })),
    ] {
        let client = world.client("leman", role);
        let page = client.ask("list_open_items", arguments);
        for total in page["totals"].as_array().unwrap() {
            let parts = explained(&client, &total["figure"]);
            for bucket in total["buckets"].as_array().unwrap() {
                assert_eq!(parts[bucket["age"].as_str().unwrap()], cents(&bucket["open"]));
            }
            assert_eq!(parts["credit_balance"], cents(&total["credit_balance"]));
        }
    }
    let figure = world.owner().ask("list_open_items", json!({}))["totals"][0]["figure"].clone();
    let refused =
        |client: &Client| client.call("explain_figure", json!({ "figure": figure })).refusal();
    let unknown = refused(&world.client("saentis", "owner"));
    assert_eq!(unknown["code"], "not_found");
    for role in ["manager", "accountant", "assistant", "auditor", "client_user"] {
        assert_eq!(refused(&world.client("leman", role)), unknown, "{role}");
    }
}

fn a_report_stays_what_it_was(world: &World) {
    let owner = world.owner();
    let now = json!({ "as_of": "2026-10-31", "limit": 100 });
    let mut before = owner.ask("list_open_items", now.clone());
    let mut then = now.clone();
    then["as_known_on"] = before["as_known_on"].clone();
    let first = owner.call("list_open_items", then.clone());
    random(world, 99);
    assert_ne!(owner.ask("list_open_items", now)["totals"], before["totals"]);
    let again = owner.call("list_open_items", then);
    assert!(
        again.bytes == first.bytes,
        "the same arguments at the same clocks give the same bytes"
    );
    let mut again = again.content();
    for report in [&mut before, &mut again] {
        report.as_object_mut().unwrap().remove("next_cursor");
    }
    assert!(again == before, "a report says at which clocks it is repeated");
}

fn open_items_are_counted_within_reach(world: &World) {
    for role in ["accountant", "auditor"] {
        let person = world.person("leman", role);
        let sales = Sales::of(world, "leman", Some(&person.email));
        let open = sales.open("2026-06-30", last_commit(world, "leman"));
        let (items, page) = listed(&world.bearer(&person.token), json!({ "as_of": "2026-06-30" }));
        assert_eq!(items, owed(&open));
        totals_are(&page, &sales, &open);
        assert!(!page["controls"].to_string().contains("ledger"));
    }
}

fn a_client_or_mandate_out_of_reach_is_unknown(world: &World) {
    let accountant = world.client("leman", "accountant");
    for (argument, what) in [("client_id", "client"), ("mandate_id", "mandate")] {
        let arguments = json!({ argument: "01912345-0000-7000-8000-123456789abc" });
        let refusal = accountant.call("list_open_items", arguments).refusal();
        assert_eq!(refusal["message"], format!("{what} not found"));
    }
}
