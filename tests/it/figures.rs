//! Figures of the demo data, recomputed to the centime from the bare rows, in whole centimes.

use std::collections::BTreeMap;

use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

use crate::world::{Client, World};

on_both! {
    open_items_are_right_on_every_day_that_matters,
    buckets_sum_to_the_total_over_the_whole_set,
    hard_cases_of_open_items_are_right,
    totals_of_documents_are_right_and_never_mix,
    an_invoice_adds_up_and_its_vat_follows_from_its_lines,
    payslips_add_up_and_their_totals_are_right,
    amounts_are_written_with_exactly_two_decimals,
    search_ignores_case_and_accents_and_takes_wildcards_literally,
}

/// `1234.50` of PostgreSQL or `123450` of SQLite, in centimes.
fn stored(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap()
}

/// An amount of an answer, in centimes.
fn cents(value: &Value) -> i64 {
    let amount = value.as_f64().unwrap_or_else(|| panic!("{value} is no amount"));
    #[expect(clippy::cast_possible_truncation, reason = "amounts of the demo are small")]
    let cents = (amount * 100.0).round() as i64;
    cents
}

#[derive(Debug, Clone)]
struct Invoice {
    number: String,
    document: String,
    state: String,
    currency: String,
    client: String,
    issued_on: String,
    due_on: String,
    total: i64,
    origin: String,
}

/// The sales documents of a firm by id, and what was received on each: day and amount.
struct Books {
    invoices: BTreeMap<String, Invoice>,
    payments: Vec<(String, String, i64)>,
}

impl Books {
    fn of(world: &World, firm: &str) -> Self {
        let hex = |column: &str| {
            if world.database.is_postgres() {
                format!("coalesce({column}::text, '')")
            } else {
                format!("coalesce(lower(hex({column})), '')")
            }
        };
        let of = format!("tenant_id = (SELECT id FROM tenants WHERE slug = '{firm}')");
        let text = |column: &str| format!("coalesce(CAST({column} AS TEXT), '')");
        let columns = [
            hex("id"),
            text("number"),
            text("document"),
            text("state"),
            text("currency"),
            hex("client_id"),
            text("issued_on"),
            text("due_on"),
            text("total"),
            hex("origin_invoice_id"),
        ];
        let rows = world
            .query(&format!("SELECT {} FROM invoices WHERE {of}", columns.join(" || '|' || ")));
        let uuid = |text: &str| match text {
            "" => String::new(),
            text => text.parse::<uuid::Uuid>().unwrap().to_string(),
        };
        let invoice = |row: &Vec<String>| Invoice {
            number: row[1].clone(),
            document: row[2].clone(),
            state: row[3].clone(),
            currency: row[4].clone(),
            client: uuid(&row[5]),
            issued_on: row[6].clone(),
            due_on: row[7].clone(),
            total: stored(&row[8]),
            origin: uuid(&row[9]),
        };
        let invoices = rows.iter().map(|row| (uuid(&row[0]), invoice(row))).collect();
        let columns = [hex("invoice_id"), text("received_on"), text("amount")].join(" || '|' || ");
        let rows = world.query(&format!("SELECT {columns} FROM payments WHERE {of}"));
        let payments =
            rows.iter().map(|row| (uuid(&row[0]), row[1].clone(), stored(&row[2]))).collect();
        Self { invoices, payments }
    }

    /// What is open on each issued invoice as of a day; nothing where it is zero.
    fn open(&self, as_of: &str) -> BTreeMap<String, i64> {
        let is_owed = |invoice: &Invoice| {
            invoice.document == "invoice"
                && invoice.state == "issued"
                && invoice.issued_on.as_str() <= as_of
        };
        let owed = self.invoices.iter().filter(|(_, invoice)| is_owed(invoice));
        let mut open: BTreeMap<String, i64> =
            owed.map(|(id, invoice)| (id.clone(), invoice.total)).collect();
        for (id, received_on, amount) in &self.payments {
            if let Some(open) = open.get_mut(id).filter(|_| received_on.as_str() <= as_of) {
                *open -= amount;
            }
        }
        for credit in self
            .invoices
            .values()
            .filter(|invoice| invoice.document == "credit_note" && invoice.state == "issued")
        {
            if let Some(open) =
                open.get_mut(&credit.origin).filter(|_| credit.issued_on.as_str() <= as_of)
            {
                *open -= credit.total;
            }
        }
        open.retain(|_, open| *open != 0);
        open
    }
}

/// Every page of the open items.
fn open_items(client: &Client, mut arguments: Value) -> (Vec<Value>, Value) {
    arguments["limit"] = 100.into();
    let mut items = vec![];
    loop {
        let page = client.ask("list_open_items", arguments.clone());
        items.extend(page["items"].as_array().unwrap().iter().cloned());
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return (items, page["totals"].clone()),
        }
    }
}

fn days_between(from: &str, to: &str) -> i64 {
    let day = |text: &str| text.parse::<NaiveDate>().unwrap();
    (day(to) - day(from)).num_days()
}

const DAYS: [&str; 7] = [
    "2023-12-31",
    "2024-12-31",
    "2025-06-30",
    "2026-03-31",
    "2026-06-29",
    "2026-06-30",
    "2026-11-30",
];

fn open_items_are_right_on_every_day_that_matters(world: &World) {
    for firm in ["leman", "saentis"] {
        let (books, owner) = (Books::of(world, firm), world.client(firm, "owner"));
        for as_of in DAYS {
            let expected: BTreeMap<String, i64> =
                books.open(as_of).into_iter().filter(|(_, open)| *open > 0).collect();
            let (items, _) = open_items(&owner, json!({ "as_of": as_of }));
            let got: BTreeMap<String, i64> = items
                .iter()
                .map(|item| (item["invoice_id"].as_str().unwrap().to_owned(), cents(&item["open"])))
                .collect();
            assert_eq!(got, expected, "{firm} {as_of}");
            let mut last = (String::new(), String::new());
            for item in &items {
                let invoice = &books.invoices[item["invoice_id"].as_str().unwrap()];
                assert_eq!(item["due_on"], invoice.due_on.as_str());
                assert_eq!(item["number"], invoice.number.as_str());
                assert_eq!(item["currency"], invoice.currency.as_str());
                assert_eq!(cents(&item["total"]), invoice.total);
                let overdue = days_between(&invoice.due_on, as_of).max(0);
                assert_eq!(item["days_overdue"], overdue, "{firm} {as_of} {}", invoice.number);
                let place =
                    (invoice.due_on.clone(), item["invoice_id"].as_str().unwrap().to_owned());
                assert!(last < place, "oldest due date first");
                last = place;
            }
        }
    }
    let today = world.owner().ask("list_open_items", json!({}));
    assert_eq!(today["as_of"], "2026-11-30", "today by default");
}

fn bucket(days_overdue: i64) -> usize {
    match days_overdue {
        ..=0 => 0,
        1..=30 => 1,
        31..=60 => 2,
        61..=90 => 3,
        _ => 4,
    }
}

fn buckets_sum_to_the_total_over_the_whole_set(world: &World) {
    let (books, owner) = (Books::of(world, "leman"), world.owner());
    let client = &books.invoices[books.open("2026-06-30").keys().next().unwrap()].client;
    for as_of in DAYS {
        for filter in [
            json!({}),
            json!({ "currency": "EUR" }),
            json!({ "client_id": client }),
            json!({ "overdue_only": true }),
            json!({ "min_days_overdue": 61 }),
        ] {
            let mut sums: BTreeMap<&str, [(i64, i64); 6]> = BTreeMap::new();
            for (id, open) in &books.open(as_of) {
                let invoice = &books.invoices[id];
                let days = days_between(&invoice.due_on, as_of);
                let at_least = filter["min_days_overdue"]
                    .as_i64()
                    .or(filter["overdue_only"].as_bool().map(i64::from));
                if filter["currency"].as_str().is_some_and(|currency| currency != invoice.currency)
                    || filter["client_id"].as_str().is_some_and(|id| id != invoice.client)
                    || at_least.is_some_and(|least| days < least)
                {
                    continue;
                }
                let at = if *open < 0 { 5 } else { bucket(days) };
                let sums = sums.entry(&invoice.currency).or_default();
                sums[at] = (sums[at].0 + open, sums[at].1 + 1);
            }
            let mut arguments = filter.clone();
            arguments["as_of"] = as_of.into();
            let (items, totals) = open_items(&owner, arguments);
            assert_eq!(totals.as_array().unwrap().len(), sums.len(), "{as_of} {filter}");
            let mut count = 0;
            for (total, (currency, sums)) in totals.as_array().unwrap().iter().zip(&sums) {
                assert_eq!(total["currency"], *currency);
                for (bucket, (open, count)) in total["buckets"].as_array().unwrap().iter().zip(sums)
                {
                    assert_eq!(
                        (cents(&bucket["open"]), bucket["count"].as_i64().unwrap()),
                        (*open, *count),
                        "{as_of} {filter} {bucket}"
                    );
                }
                let (open, number) =
                    sums[..5].iter().fold((0, 0), |(a, b), (open, count)| (a + open, b + count));
                assert_eq!(
                    (cents(&total["open"]), total["count"].as_i64().unwrap()),
                    (open, number)
                );
                let credit = (
                    cents(&total["credit_balance"]),
                    total["credit_balance_count"].as_i64().unwrap(),
                );
                assert_eq!(credit, sums[5], "{as_of} {filter}");
                count += number;
            }
            assert_eq!(i64::try_from(items.len()).unwrap(), count);
        }
    }
}

fn hard_cases_of_open_items_are_right(world: &World) {
    let (books, owner) = (Books::of(world, "leman"), world.owner());
    let (items, _) = open_items(&owner, json!({ "as_of": "2026-06-30" }));
    let due =
        |day: &str| items.iter().filter(|item| item["due_on"] == day).cloned().collect::<Vec<_>>();
    let border = "2026-06-30".parse::<NaiveDate>().unwrap();
    for (days, age) in [(0, 0), (1, 1), (30, 1), (31, 2), (60, 2), (61, 3), (90, 3), (91, 4)] {
        let day = border.checked_sub_days(Days::new(days)).unwrap().to_string();
        let items = due(&day);
        assert!(!items.is_empty(), "an invoice is due {days} days before");
        assert_eq!(bucket(items[0]["days_overdue"].as_i64().unwrap()), age);
    }
    let (overdue, _) = open_items(&owner, json!({ "as_of": "2026-06-30", "overdue_only": true }));
    assert!(
        overdue.iter().all(|item| item["due_on"].as_str().unwrap() < "2026-06-30"),
        "due today is not overdue"
    );
    let payments = |id: &str| books.payments.iter().filter(|(of, _, _)| of == id).count();
    let open = books.open("2026-11-30");
    let total = |id: &String| books.invoices[id].total;
    assert!(
        open.iter().any(|(id, open)| payments(id) == 1 && (1..total(id)).contains(open)),
        "part payment"
    );
    assert!(open.iter().any(|(id, open)| payments(id) >= 2 && *open > 0), "two part payments");
    assert!(open.values().any(|open| *open < 0), "overpayment");
    assert!(books.payments.iter().any(|(_, _, amount)| *amount < 0), "reversed payment");
    assert!(items.iter().any(|item| item["reminder_level"].is_i64()), "reminder");
    for document in ["quote", "pro_forma", "credit_note"] {
        assert!(
            books
                .invoices
                .values()
                .any(|invoice| invoice.document == document && invoice.state == "issued")
        );
    }
    assert!(books.invoices.values().any(|invoice| invoice.state == "draft"));
    let overpaid = owner.ask("search_invoices", json!({ "payment": "overpaid", "limit": 100 }));
    let expected = open.values().filter(|open| **open < 0).count();
    assert_eq!(overpaid["total"], expected);
    for state in ["open", "partial", "paid", "overpaid"] {
        let found = owner.ask("search_invoices", json!({ "payment": state, "limit": 100 }));
        assert!(found["total"].as_i64().unwrap() > 0, "{state}");
        assert!(
            found["items"]
                .as_array()
                .unwrap()
                .iter()
                .all(|item| item["payment"] == state && item["document"] == "invoice")
        );
    }
}

fn totals_of_documents_are_right_and_never_mix(world: &World) {
    for firm in ["leman", "saentis"] {
        let books = Books::of(world, firm);
        let mut expected: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
        for invoice in books.invoices.values() {
            let sum =
                expected.entry((invoice.document.clone(), invoice.currency.clone())).or_default();
            *sum = (sum.0 + 1, sum.1 + invoice.total);
        }
        let answer = world.client(firm, "owner").ask("search_invoices", json!({}));
        assert_eq!(answer["total"], books.invoices.len());
        let got: BTreeMap<_, _> = answer["totals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|total| {
                let text = |name: &str| total[name].as_str().unwrap().to_owned();
                (
                    (text("document"), text("currency")),
                    (total["count"].as_i64().unwrap(), cents(&total["total"])),
                )
            })
            .collect();
        assert_eq!(got, expected, "{firm}");
    }
}

fn an_invoice_adds_up_and_its_vat_follows_from_its_lines(world: &World) {
    let owner = world.owner();
    let found = owner.ask("search_invoices", json!({ "limit": 100 }));
    let mut checked = 0;
    for item in found["items"].as_array().unwrap() {
        let page = owner.ask("get_invoice", json!({ "invoice_id": item["id"] }));
        let sum = |list: &str, field: &str| {
            page[list].as_array().unwrap().iter().map(|row| cents(&row[field])).sum::<i64>()
        };
        assert_eq!(
            (sum("lines", "net"), sum("lines", "vat")),
            (cents(&page["net"]), cents(&page["vat"]))
        );
        assert_eq!(
            (sum("vat_by_rate", "net"), sum("vat_by_rate", "vat")),
            (cents(&page["net"]), cents(&page["vat"]))
        );
        let total = cents(&page["net"]) + cents(&page["vat"]) + cents(&page["rounding"]);
        assert_eq!(total, cents(&page["total"]));
        if page["currency"] == "CHF" && page["state"] != "draft" {
            assert_eq!(total % 5, 0, "CHF is paid in steps of 5 centimes");
        }
        for line in page["lines"].as_array().unwrap() {
            let (net, rate) = (cents(&line["net"]), cents(&line["vat_rate_percent"]));
            let vat = (net.abs() * rate + 5_000) / 10_000 * net.signum();
            assert_eq!(cents(&line["vat"]), vat, "half up, away from zero: {line}");
            checked += 1;
        }
        if let Some(open) = page.get("open") {
            assert_eq!(
                cents(&page["total"]) - sum("payments", "amount") - sum("credit_notes", "total"),
                cents(open)
            );
        }
    }
    assert!(checked > 100, "{checked}");
}

fn payslips_add_up_and_their_totals_are_right(world: &World) {
    let officer = world.client("leman", "payroll_officer");
    let mandates = officer.ask("search_mandates", json!({ "limit": 100 }));
    let mut seen = 0;
    for mandate in mandates["items"].as_array().unwrap() {
        let found = officer.ask(
            "list_payslips",
            json!({ "mandate_id": mandate["id"], "year": 2026, "limit": 100 }),
        );
        let rows = found["items"].as_array().unwrap();
        if found["truncated"] == false {
            let net: i64 = rows.iter().map(|row| cents(&row["net"])).sum();
            let total: i64 =
                found["totals"].as_array().unwrap().iter().map(|total| cents(&total["net"])).sum();
            assert_eq!(net, total);
        }
        for row in rows.iter().take(5) {
            let page = officer.ask("get_payslip", json!({ "payslip_id": row["id"] }));
            let sum = |kind: &str| -> i64 {
                let lines = page["lines"].as_array().unwrap().iter();
                lines.filter(|line| line["kind"] == kind).map(|line| cents(&line["amount"])).sum()
            };
            let [gross, deductions, allowances, charges] =
                ["gross", "deductions", "allowances", "employer_charges"]
                    .map(|name| cents(&page[name]));
            assert_eq!(
                [sum("earning"), sum("deduction"), sum("allowance"), sum("employer_charge")],
                [gross, deductions, allowances, charges]
            );
            assert_eq!(gross - deductions + allowances, cents(&page["net"]));
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}

fn amounts_are_written_with_exactly_two_decimals(world: &World) {
    let owner = world.owner();
    let mut amounts = 0;
    for (tool, arguments) in [
        ("list_open_items", json!({ "limit": 50 })),
        ("search_invoices", json!({ "limit": 50 })),
        ("list_services", json!({})),
    ] {
        let text = owner.call(tool, arguments).text();
        for name in ["\"open\":", "\"total\":", "\"rate\":", "\"credit_balance\":"] {
            for part in text.split(name).skip(1).filter(|part| !part.starts_with(['{', '['])) {
                let number: String = part
                    .chars()
                    .take_while(|c| c.is_ascii_digit() || *c == '.' || *c == '-')
                    .collect();
                let is_count = name == "\"total\":" && !number.contains('.');
                let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                assert!(is_count || decimals == 2, "{tool} {name}{number}");
                amounts += usize::from(!is_count);
            }
        }
    }
    assert!(amounts > 200, "{amounts}");
}

fn search_ignores_case_and_accents_and_takes_wildcards_literally(world: &World) {
    let owner = world.owner();
    let found = |query: &str| {
        let page = owner.ask("search_clients", json!({ "query": query, "limit": 100 }));
        let names = page["items"].as_array().unwrap().iter();
        names.map(|item| item["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (query, same) in [
        ("zurich", "ZÜRICH"),
        ("geneve", "Genève"),
        ("muller", "Mu\u{308}ller"),
        ("epicerie", "L\u{2019}Épicerie"),
    ] {
        assert_eq!(found(query), found(same), "{query}");
        assert!(!found(query).is_empty(), "{query}");
    }
    let all = owner.ask("search_clients", json!({}))["total"].as_u64().unwrap();
    for wildcard in ["%", "_", "\\", "*", "' OR 1=1--", "a%b"] {
        assert!((found(wildcard).len() as u64) < all, "{wildcard} is literal");
    }
    let name = owner.ask("search_clients", json!({ "limit": 1 }))["items"][0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let backwards: Vec<_> = name.split_whitespace().rev().collect();
    assert!(found(&backwards.join(" ")).contains(&name), "words in any order");
    assert_eq!(found(""), found("   "));
}
