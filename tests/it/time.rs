//! Worked time: rates, totals, whose it is, recomputed from the bare rows.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::world::bare::{Column, cents, stored, texts};
use crate::world::{Client, World};

on_both! {
    time_is_worth_what_the_rate_of_its_day_says,
    totals_of_time_cover_the_whole_set_while_the_page_shows_one_row,
    hard_cases_of_rates_are_right,
    people_see_their_own_time_and_some_everybodys,
    somebody_elses_time_reads_like_nobodys,
    a_total_of_time_is_the_sum_of_its_entries_for_who_asked,
    the_database_refuses_time_that_contradicts_itself,
}

#[derive(Debug, Clone)]
struct Entry {
    person: String,
    mandate: String,
    service: String,
    on: String,
    minutes: i64,
    is_billable: bool,
    is_invoiced: bool,
    text: String,
}

/// Unit, rate, currency.
type Service = (String, i64, String);
/// Mandate, service, rate, first day, last day.
type Agreed = (String, String, i64, String, String);

struct Books {
    entries: BTreeMap<String, Entry>,
    services: BTreeMap<String, Service>,
    agreed: Vec<Agreed>,
}

impl Books {
    fn of(world: &World, firm: &str) -> Self {
        use Column::{Bool, Id, Text};
        let columns = [
            Id("id"),
            Id("person_id"),
            Id("mandate_id"),
            Id("service_id"),
            Text("worked_on"),
            Text("minutes"),
            Bool("is_billable"),
            Id("invoice_id"),
            Text("search_text"),
        ];
        let entry = |row: Vec<String>| {
            let [id, person, mandate, service, on, minutes, billable, invoice, text] =
                row.try_into().unwrap();
            let minutes = minutes.parse().unwrap();
            let (is_billable, is_invoiced) = (billable == "1", !invoice.is_empty());
            let entry =
                Entry { person, mandate, service, on, minutes, is_billable, is_invoiced, text };
            (id, entry)
        };
        let entries = world.bare(firm, "time_entries", &columns).into_iter().map(entry).collect();
        let columns = [Id("id"), Text("unit"), Text("rate"), Text("currency")];
        let service =
            |row: &Vec<String>| (row[0].clone(), (row[1].clone(), stored(&row[2]), row[3].clone()));
        let services = world.bare(firm, "services", &columns).iter().map(service).collect();
        let columns = [
            Id("mandate_id"),
            Id("service_id"),
            Text("rate"),
            Text("valid_from"),
            Text("valid_to"),
        ];
        let agreed = |row: Vec<String>| {
            let [mandate, service, rate, from, to] = row.try_into().unwrap();
            (mandate, service, stored(&rate), from, to)
        };
        let agreed = world.bare(firm, "service_rates", &columns).into_iter().map(agreed).collect();
        Self { entries, services, agreed }
    }

    /// The rate of an entry in cents, its source and currency.
    fn rate(&self, entry: &Entry) -> Option<(i64, &'static str, &str)> {
        let (unit, own, currency) = self.services.get(&entry.service)?;
        if unit != "hour" {
            return None;
        }
        let agreed = self.agreed.iter().find(|(mandate, service, _, from, to)| {
            *mandate == entry.mandate
                && *service == entry.service
                && *from <= entry.on
                && (to.is_empty() || *to >= entry.on)
        });
        Some(agreed.map_or((*own, "service", currency), |found| (found.2, "mandate", currency)))
    }

    /// What an entry is worth, in cents.
    fn worth(&self, entry: &Entry) -> Option<(i64, &str)> {
        let (rate, _, currency) = self.rate(entry)?;
        Some(((2 * rate * entry.minutes + 60) / 120, currency))
    }

    /// The totals that the answer must have for some entries, without the handles.
    fn totals(&self, chosen: &BTreeMap<&String, &Entry>) -> Value {
        let sum = |counts: &dyn Fn(&Entry) -> bool| -> i64 {
            chosen.values().filter(|entry| counts(entry)).map(|entry| entry.minutes).sum()
        };
        let mut values: BTreeMap<&str, [i64; 3]> = BTreeMap::new();
        for entry in chosen.values() {
            let Some((worth, currency)) = self.worth(entry) else { continue };
            let value = values.entry(currency).or_default();
            value[0] += worth;
            value[1] += if entry.is_billable { worth } else { 0 };
            value[2] += if entry.is_invoiced { worth } else { 0 };
        }
        json!({
            "minutes": sum(&|_| true),
            "billable_minutes": sum(&|entry| entry.is_billable),
            "invoiced_minutes": sum(&|entry| entry.is_invoiced),
            "unrated_minutes": sum(&|entry| self.rate(entry).is_none()),
            "values": values.iter().map(|(currency, cents)| json!([currency, cents])).collect::<Vec<_>>(),
        })
    }

    fn chosen(&self, keeps: impl Fn(&Entry) -> bool) -> BTreeMap<&String, &Entry> {
        self.entries.iter().filter(|(_, entry)| keeps(entry)).collect()
    }
}

/// The totals of an answer in the form of [`Books::totals`].
fn totals(answer: &Value) -> Value {
    let mut totals = answer["totals"].clone();
    let value = |value: &Value| {
        assert!(value["figure"].is_string());
        let sums = ["value", "billable_value", "invoiced_value"].map(|name| cents(&value[name]));
        json!([value["currency"], sums])
    };
    totals["values"] = totals["values"].as_array().unwrap().iter().map(value).collect();
    totals
}

fn time_is_worth_what_the_rate_of_its_day_says(world: &World) {
    for firm in ["leman", "saentis"] {
        let books = Books::of(world, firm);
        let owner = world.client(firm, "owner");
        let (rows, first) = owner.every_page("list_time_entries", json!({}), 100);
        assert_eq!(rows.len(), books.entries.len());
        assert_eq!(totals(&first), books.totals(&books.chosen(|_| true)), "{firm}");
        let mut sources: BTreeMap<String, i64> = BTreeMap::new();
        let mut last: Option<(String, String)> = None;
        for row in &rows {
            let id = row["id"].as_str().unwrap().to_owned();
            let entry = &books.entries[&id];
            let text = |name: &str| row[name].as_str().unwrap_or_default();
            assert_eq!(row["minutes"], entry.minutes);
            assert_eq!((text("worked_on"), text("person_id")), (&*entry.on, &*entry.person));
            assert_eq!(
                (text("mandate_id"), text("service_id")),
                (&*entry.mandate, &*entry.service)
            );
            assert_eq!(row["is_billable"], entry.is_billable);
            assert_eq!(row["is_invoiced"], entry.is_invoiced);
            assert_eq!(row.get("invoice_id").is_some(), entry.is_invoiced);
            let kind = if entry.mandate.is_empty() { "internal" } else { "mandate" };
            assert_eq!(row["kind"], kind);
            match books.rate(entry) {
                None => {
                    assert_eq!(row["rate_source"], "none");
                    assert!(row.get("rate").is_none() && row.get("value").is_none(), "{row}");
                }
                Some((rate, source, currency)) => {
                    assert_eq!(row["rate_source"], source);
                    assert_eq!((cents(&row["rate"]), text("currency")), (rate, currency));
                    assert_eq!(cents(&row["value"]), books.worth(entry).unwrap().0, "{row}");
                }
            }
            *sources.entry(text("rate_source").to_owned()).or_default() += 1;
            let place = (entry.on.clone(), id);
            assert!(last.is_none_or(|last| last > place), "newest first");
            last = Some(place);
        }
        assert_eq!(sources.len(), 3, "{sources:?}");
        assert!(sources.values().all(|count| *count >= 10), "{sources:?}");
    }
}

/// Which entries a filter must keep.
type Keeps<'a> = Box<dyn Fn(&Entry) -> bool + 'a>;

fn totals_of_time_cover_the_whole_set_while_the_page_shows_one_row(world: &World) {
    let (books, owner) = (Books::of(world, "leman"), world.owner());
    let entry = books.entries.values().find(|entry| entry.is_invoiced).unwrap();
    let (person, mandate) = (entry.person.clone(), entry.mandate.clone());
    let cases: Vec<(Value, Keeps<'_>)> = vec![
        (json!({}), Box::new(|_| true)),
        (json!({ "from": "2026-03-01" }), Box::new(|e| e.on.as_str() >= "2026-03-01")),
        (json!({ "to": "2025-12-31" }), Box::new(|e| e.on.as_str() <= "2025-12-31")),
        (
            json!({ "from": "2026-02-10", "to": "2026-02-10" }),
            Box::new(|e| e.on.as_str() == "2026-02-10"),
        ),
        (json!({ "person_id": person }), Box::new(|e| e.person == person)),
        (json!({ "mandate_id": mandate }), Box::new(|e| e.mandate == mandate)),
        (json!({ "kind": "internal" }), Box::new(|e| e.mandate.is_empty())),
        (json!({ "kind": "mandate" }), Box::new(|e| !e.mandate.is_empty())),
        (json!({ "billable": true }), Box::new(|e| e.is_billable)),
        (json!({ "billable": false }), Box::new(|e| !e.is_billable)),
        (
            json!({ "billable": true, "invoiced": false }),
            Box::new(|e| e.is_billable && !e.is_invoiced),
        ),
        (json!({ "invoiced": true }), Box::new(|e| e.is_invoiced)),
        (
            json!({ "query": "ZURICH séance" }),
            Box::new(|e| e.text.contains("zurich") && e.text.contains("seance")),
        ),
        (json!({ "query": "100 %" }), Box::new(|e| e.text.contains("100") && e.text.contains('%'))),
        (json!({ "query": "etape_1" }), Box::new(|e| e.text.contains("etape_1"))),
        (json!({ "query": "nowhere-to-be-found" }), Box::new(|_| false)),
    ];
    for (filter, keeps) in cases {
        let expected = books.chosen(keeps);
        let mut arguments = filter.clone();
        arguments["limit"] = 1.into();
        let answer = owner.ask("list_time_entries", arguments);
        assert_eq!(answer["items"].as_array().unwrap().len(), expected.len().min(1), "{filter}");
        assert_eq!(answer["total"], expected.len(), "{filter}");
        assert_eq!(totals(&answer), books.totals(&expected), "{filter}");
        let (rows, _) = owner.every_page("list_time_entries", filter.clone(), 30);
        let mut found = texts(&rows, "id");
        found.sort_unstable();
        assert!(found.iter().eq(expected.keys().copied()), "{filter}");
    }
    let refusal =
        owner.call("list_time_entries", json!({ "from": "2026-02-01", "to": "2026-01-01" }));
    assert_eq!(refusal.refusal()["field"], "to");
}

/// The one entry that a search finds.
fn one(client: &Client, query: &str) -> Value {
    let answer = client.ask("list_time_entries", json!({ "query": query }));
    assert_eq!(answer["total"], 1, "{query}");
    answer["items"][0].clone()
}

fn hard_cases_of_rates_are_right(world: &World) {
    let owner = world.owner();
    for (query, rate, source, value) in [
        ("derniere heure ancien tarif", 17_100, "mandate", 17_100),
        ("premiere heure nouveau tarif", 16_200, "mandate", 16_200),
        ("tarif du catalogue", 18_000, "service", 18_000),
        ("une minute au telephone", 26_000, "service", 433),
        ("sept minutes", 26_000, "service", 3_033),
        ("seminaire fiscal", 26_000, "service", 32_500),
        ("erreur a nos frais", 26_000, "service", 19_500),
        ("vingt-quatre heures", 21_000, "service", 504_000),
    ] {
        let row = one(&owner, query);
        assert_eq!(row["rate_source"], source, "{query}");
        assert_eq!((cents(&row["rate"]), cents(&row["value"])), (rate, value), "{query}");
    }
    for query in ["vendu a la piece", "forfait convenu", "ancienne prestation", "journee d'accueil"]
    {
        let row = one(&owner, query);
        assert_eq!(row["rate_source"], "none", "{query}");
        assert!(row.get("value").is_none() && row.get("currency").is_none(), "{query}");
    }
    // 75.30 an hour is 1.255 a minute.
    let rate = if world.database.is_postgres() { "75.30" } else { "7530" };
    world.sql(&format!("UPDATE services SET rate = {rate} WHERE code = 'LEM-106'"));
    assert_eq!(cents(&one(&owner, "une minute au telephone")["value"]), 126, "half a cent goes up");
    // Of two agreed rates that overlap the later one counts, for time as in the list of services.
    world.sql("UPDATE service_rates SET valid_to = NULL WHERE mandate_id = (SELECT id FROM mandates WHERE number = 'LEM-M001')");
    let row = one(&owner, "premiere heure nouveau tarif");
    assert_eq!(cents(&row["rate"]), 16_200);
    let services =
        owner.ask("list_services", json!({ "mandate_id": row["mandate_id"], "query": "LEM-102" }));
    assert_eq!(cents(&services["items"][0]["rate"]), 16_200);
}

fn people_see_their_own_time_and_some_everybodys(world: &World) {
    let books = Books::of(world, "leman");
    for (role, reads_all) in [
        ("manager", true),
        ("auditor", true),
        ("accountant", false),
        ("payroll_officer", false),
        ("assistant", false),
    ] {
        let person = world.person("leman", role);
        let me = world.user_id(&person.email);
        let reached = world.listed_mandates(&person.email);
        let expected = books.chosen(|entry| {
            let is_own = entry.person == me;
            let in_reach =
                if entry.mandate.is_empty() { is_own } else { reached.contains(&entry.mandate) };
            in_reach && (is_own || reads_all)
        });
        let client = world.bearer(&person.token);
        let (rows, first) = client.every_page("list_time_entries", json!({}), 100);
        let mut found = texts(&rows, "id");
        found.sort_unstable();
        assert!(found.iter().eq(expected.keys().copied()), "{role}");
        assert_eq!(totals(&first), books.totals(&expected), "{role}");
        assert!(!expected.is_empty(), "{role}");
        let shows_invoices = rows.iter().any(|row| row.get("invoice_id").is_some());
        assert!(!shows_invoices || role != "payroll_officer", "{role}");
    }
    let one_mandate = guichet::demo::people()
        .into_iter()
        .find(|person| person.tenant == "leman" && person.reach == "listed: 1 mandate");
    let client = world.bearer(&one_mandate.unwrap().token);
    let answer = client.ask("list_time_entries", json!({ "query": "mandat retiré" }));
    assert_eq!(answer["total"], 0, "one's own time for a mandate out of reach");
}

fn somebody_elses_time_reads_like_nobodys(world: &World) {
    let random = "01912345-0000-7000-8000-123456789abc";
    for role in ["accountant", "assistant", "payroll_officer"] {
        let client = world.client("leman", role);
        let ask = |id: &str| client.call("list_time_entries", json!({ "person_id": id })).text();
        for (firm, other) in [("leman", "owner"), ("leman", "manager"), ("saentis", "owner")] {
            let id = world.user_id(&world.person(firm, other).email);
            assert_eq!(ask(&id), ask(random), "{role} {firm} {other}");
        }
        let own = world.user_id(&world.person("leman", role).email);
        assert_ne!(ask(&own), ask(random), "{role}");
    }
    let owner = world.owner();
    let ask = |id: &str| owner.call("list_time_entries", json!({ "person_id": id })).text();
    assert_eq!(ask(&world.user_id(&world.person("saentis", "manager").email)), ask(random));
}

fn a_total_of_time_is_the_sum_of_its_entries_for_who_asked(world: &World) {
    let (books, unknown) = (Books::of(world, "leman"), "figure not found");
    for role in ["owner", "manager", "auditor", "payroll_officer"] {
        let client = world.client("leman", role);
        let filter = json!({ "from": "2026-01-01", "to": "2026-09-30" });
        let answer = client.ask("list_time_entries", filter);
        for value in answer["totals"]["values"].as_array().unwrap() {
            let ask = json!({ "figure": value["figure"] });
            let mut rows = vec![];
            let mut arguments = ask.clone();
            arguments["limit"] = 40.into();
            let parts = loop {
                let page = client.ask("explain_figure", arguments.clone());
                rows.extend(page["items"].as_array().unwrap().iter().cloned());
                match page.get("next_cursor") {
                    Some(cursor) => arguments["cursor"] = cursor.clone(),
                    None => break page["parts"].clone(),
                }
            };
            let sum = |part: Option<&str>| -> i64 {
                let of = rows.iter().filter(|row| part.is_none_or(|part| row["part"] == part));
                of.map(|row| cents(&row["amount"])).sum()
            };
            assert_eq!(sum(None), cents(&value["value"]), "{role}");
            assert_eq!(sum(Some("invoiced")), cents(&value["invoiced_value"]));
            assert_eq!(
                sum(Some("invoiced")) + sum(Some("unbilled")),
                cents(&value["billable_value"])
            );
            for part in parts.as_array().unwrap() {
                assert_eq!(sum(part["part"].as_str()), cents(&part["amount"]), "{part}");
            }
            for row in &rows {
                let entry = &books.entries[row["record_id"].as_str().unwrap()];
                assert_eq!(row["on"], entry.on.as_str());
                assert_eq!(cents(&row["amount"]), books.worth(entry).unwrap().0);
            }
            for other in ["owner", "manager", "accountant", "auditor", "payroll_officer"] {
                if other != role {
                    let answer = world.client("leman", other).call("explain_figure", ask.clone());
                    assert_eq!(answer.refusal()["message"], unknown, "{role}'s to {other}");
                }
            }
            let mut edited = value["figure"].as_str().unwrap().to_owned();
            let swapped = if edited.ends_with('A') { "B" } else { "A" };
            edited.replace_range(edited.len() - 6..edited.len() - 5, swapped);
            let edited = client.call("explain_figure", json!({ "figure": edited }));
            assert_eq!(edited.refusal()["message"], unknown);
        }
    }
}

fn the_database_refuses_time_that_contradicts_itself(world: &World) {
    for sql in [
        "UPDATE time_entries SET minutes = 0",
        "UPDATE time_entries SET minutes = 1441",
        "UPDATE time_entries SET service_id = NULL WHERE mandate_id IS NOT NULL",
        "UPDATE time_entries SET is_billable = (1 = 1) WHERE mandate_id IS NULL",
        "UPDATE time_entries SET is_billable = (1 = 0) WHERE invoice_id IS NOT NULL",
        "UPDATE time_entries SET mandate_id = NULL, is_billable = (1 = 0), invoice_id = NULL WHERE operation_id IS NOT NULL",
        "UPDATE time_entries SET mandate_id = (SELECT id FROM mandates WHERE number = 'LEM-M002') WHERE operation_id IS NOT NULL",
        "UPDATE tasks SET status = 'done' WHERE status = 'open'",
        "UPDATE tasks SET status = 'someday'",
        "UPDATE project_positions SET mandate_id = (SELECT id FROM mandates WHERE number = 'LEM-M002')",
        "UPDATE documents SET client_id = (SELECT id FROM clients WHERE number = 'LEM-K058') WHERE mandate_id IS NOT NULL",
        "UPDATE documents SET kind = 'secret'",
    ] {
        assert!(world.database.owner().batch_execute(sql).is_err(), "{sql}");
    }
}
