//! The VAT return, recomputed from the bare lines.

mod books;
mod chance;
mod oracle;
mod resumming;

use serde_json::{Value, json};

use crate::world::{Client, World};
use books::{Books, HALF_YEARLY, QUARTERLY, Setup, base, plain, tax};
use chance::any_five_hundred_periods_are_right;
use oracle::{Form, divided};
use resumming::every_figure_re_sums;

on_both! {
    the_worked_effective_return_comes_out_to_the_centime,
    the_worked_net_rate_returns_come_out_to_the_centime,
    net_rate_returns_of_the_demo_re_sum,
    a_late_posting_bears_the_rate_of_its_day_of_supply,
    a_return_stays_the_same_at_its_clock,
    what_is_no_return_is_refused_with_the_way_out,
    only_who_reaches_the_mandate_sees_its_return,
    a_broken_record_is_named_by_the_check_that_fails,
    a_year_is_reconciled_with_its_periods,
    labels_follow_the_language_of_the_person,
    rates_are_there_to_be_read,
    any_five_hundred_periods_are_right,
}

/// An amount of an answer, in centimes.
pub(crate) fn cents(value: &Value) -> i64 {
    let text = value.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, "00"));
    assert!(decimals.len() <= 2, "{value}");
    format!("{whole}{decimals:0<2}").parse().unwrap()
}

/// What a return says, as the oracle says it.
fn form(answer: &Value) -> Form {
    let mut form = Form::new();
    for row in answer["figures"].as_array().unwrap() {
        let number = row["number"].as_str().unwrap();
        form.insert(number.to_owned(), cents(&row["amount"]));
        if let Some(base) = row.get("base") {
            form.insert(format!("{number}b"), cents(base));
        }
    }
    form
}

/// Only what is not nought: a return leaves out what a method has no use for.
fn moved(mut form: Form) -> Form {
    form.retain(|_, amount| *amount != 0);
    form
}

fn ask(client: &Client, books: &Books<'_>, mut arguments: Value) -> Value {
    arguments["mandate_id"] = books.mandate.as_str().into();
    client.ask("get_vat_return", arguments)
}

/// The names of the checks that fail.
fn failing(answer: &Value) -> Vec<&str> {
    let checks = [&answer["checks"], &answer["now"]["checks"]];
    let checks = checks.into_iter().flat_map(|checks| checks.as_array().unwrap());
    checks
        .filter(|check| check["holds"] == false)
        .map(|check| check["name"].as_str().unwrap())
        .collect()
}

const CLOSED: &str = "the period is closed, so that nothing can be posted to it any more";

/// The worked example of the effective method, in the second quarter of 2026.
fn worked_example(books: &mut Books<'_>) {
    let sale = |books: &mut Books<'_>, on: &str, net: i64, vat: i64, code, rate| {
        let mut lines = vec![plain("1020", net + vat), base("3200", -net, code, rate)];
        if vat != 0 {
            lines.push(tax("2200", -vat, code, rate));
        }
        books.post(on, &lines);
    };
    sale(books, "2026-04-01", 10_000_000, 810_000, "UN", 81);
    sale(books, "2026-05-11", -200_000, -16_200, "UD", 81);
    sale(books, "2026-05-12", 2_000_000, 52_000, "UR", 26);
    sale(books, "2026-06-30", 500_000, 19_000, "UB", 38);
    sale(books, "2026-04-20", 1_500_000, 0, "UX", 0);
    sale(books, "2026-04-21", 800_000, 0, "UF", 0);
    books.post(
        "2026-05-02",
        &[
            base("6500", 300_000, "BN", 81),
            plain("1020", -300_000),
            tax("1170", 24_300, "BN", 81),
            tax("2200", -24_300, "BN", 81),
        ],
    );
    books.post(
        "2026-05-03",
        &[
            base("4200", 2_700_000, "VM", 81),
            tax("1170", 218_700, "VM", 81),
            plain("1020", -2_918_700),
        ],
    );
    books.post(
        "2026-05-04",
        &[
            base("6500", 1_000_000, "VI", 81),
            tax("1171", 81_000, "VI", 81),
            plain("1020", -1_081_000),
        ],
    );
    books.post("2026-06-30", &[plain("6500", 12_000), tax("1171", -12_000, "KO", 0)]);
}

fn the_worked_effective_return_comes_out_to_the_centime(world: &World) {
    let (mut books, owner) = (Books::open(world, 1, QUARTERLY), world.owner());
    worked_example(&mut books);
    books.post_to("ANO", "2026-04-01", &[plain("1020", 5_000), plain("2200", -5_000)]);
    books.post("2026-06-30", &[plain("2200", 577_100), plain("2201", -577_100)]);
    books.draft("2026-06-30", &[plain("1020", 100), base("3200", -100, "UN", 81)]);
    books.write();
    let answer = ask(&owner, &books, json!({ "year": 2026, "quarter": 2 }));
    let expected: [(&str, i64); 20] = [
        ("200", 14_800_000),
        ("220", 1_500_000),
        ("230", 800_000),
        ("235", 200_000),
        ("289", 2_500_000),
        ("299", 12_300_000),
        ("303", 793_800),
        ("303b", 9_800_000),
        ("313", 52_000),
        ("313b", 2_000_000),
        ("343", 19_000),
        ("343b", 500_000),
        ("383", 24_300),
        ("383b", 300_000),
        ("399", 889_100),
        ("400", 243_000),
        ("405", 81_000),
        ("415", 12_000),
        ("479", 312_000),
        ("500", 577_100),
    ];
    let expected: Form = expected.map(|(figure, amount)| (figure.to_owned(), amount)).into();
    assert_eq!(moved(form(&answer)), expected);
    assert_eq!(moved(oracle::effective(&books.rows())), expected);
    assert_eq!(answer["due_on"], "2026-08-31");
    assert_eq!((&answer["from"], &answer["to"]), (&json!("2026-04-01"), &json!("2026-06-30")));
    assert_eq!(failing(&answer), [CLOSED]);
    let row = |number: &str| {
        answer["figures"].as_array().unwrap().iter().find(|row| row["number"] == number).unwrap()
    };
    assert_eq!(row("303")["rate_percent"], json!(8.1));
    assert_eq!(row("299")["rule"], "200 - 289");
    assert_eq!(row("235")["origin"][0]["code"], "UD");
    assert_eq!(row("400")["origin"].as_array().unwrap().len(), 2, "{}", row("400"));
    assert_eq!(row("200")["lines"], 5);
    books.lock("2026-06-30");
    books.write();
    assert!(failing(&ask(&owner, &books, json!({ "year": 2026, "quarter": 2 }))).is_empty());
    every_figure_re_sums(&owner, &answer);
}

fn the_worked_net_rate_returns_come_out_to_the_centime(world: &World) {
    let owner = world.owner();
    let mut one = Books::open(world, 1, HALF_YEARLY);
    one.post("2026-02-01", &[plain("1020", 12_000_000), base("3200", -12_000_000, "UN", 81)]);
    one.post("2026-06-30", &[plain("3809", 744_000), plain("2201", -744_000)]);
    one.write();
    let answer = ask(&owner, &one, json!({ "year": 2026, "half": 1 }));
    assert_eq!(form(&answer)["323"], 744_000);
    assert_eq!(form(&answer)["500"], 744_000);
    assert_eq!(failing(&answer), [CLOSED]);
    every_figure_re_sums(&owner, &answer);

    let mut cafe = Books::open(world, 2, HALF_YEARLY);
    cafe.activity("cafe", 62, &["3200", "3400"]);
    cafe.activity("kitchen", 37, &["3000"]);
    for day in ["2026-03-31", "2024-03-31"] {
        let sale = |account, net: i64| {
            let vat = divided(i128::from(net) * 81, 1_000);
            [plain("1020", net + vat), base(account, -net, "UN", 81), tax("2200", -vat, "UN", 81)]
        };
        for (account, net) in [("3200", 1_240_000), ("3400", 200_000), ("3000", 315_000)] {
            cafe.post(day, &sale(account, net));
        }
    }
    cafe.write();
    let answer = ask(&owner, &cafe, json!({ "year": 2026, "half": 1 }));
    let annex: Vec<_> = answer["annex"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["number"].as_str().unwrap(), cents(&row["base"]), cents(&row["amount"])))
        .collect();
    assert_eq!(annex, [("323", 1_556_640, 96_512), ("323", 340_515, 12_599)]);
    assert_eq!(form(&answer)["323"], 109_111);
    assert_eq!(form(&answer)["500"], 109_111);
    assert_eq!(failing(&answer), [CLOSED], "{answer}");
    every_figure_re_sums(&owner, &answer);
    let before = ask(&owner, &cafe, json!({ "year": 2024, "half": 1 }));
    every_figure_re_sums(&owner, &before);
    let form = form(&before);
    assert_eq!(
        (form["323"], form["333"], form["500"]),
        (96_512, 12_599, 109_111),
        "two rows until 2024"
    );
}

fn net_rate_returns_of_the_demo_re_sum(world: &World) {
    let owner = world.owner();
    let id = if world.database.is_postgres() { "id::text" } else { "hex(id)" };
    let mandates = world.query(&format!(
        "SELECT {id} FROM mandates WHERE vat_method = 'net_rate' AND tenant_id = (SELECT id FROM tenants WHERE slug = 'leman') \
         AND id IN (SELECT mandate_id FROM vat_activities) ORDER BY id LIMIT 2"
    ));
    assert!(!mandates.is_empty());
    for mandate in mandates {
        let mandate: uuid::Uuid = mandate[0].parse().unwrap();
        let arguments = json!({ "mandate_id": mandate, "year": 2025, "half": 1 });
        let answer = owner.ask("get_vat_return", arguments);
        assert!(form(&answer)["323"] > 0);
        every_figure_re_sums(&owner, &answer);
    }
}

fn a_late_posting_bears_the_rate_of_its_day_of_supply(world: &World) {
    let (mut books, owner) = (Books::open(world, 1, QUARTERLY), world.owner());
    books.post(
        "2024-01-15",
        &[
            plain("1020", 107_700),
            base("3200", -100_000, "UN", 77).supplied("2023-12-31"),
            tax("2200", -7_700, "UN", 77).supplied("2023-12-31"),
        ],
    );
    books.post(
        "2024-01-15",
        &[
            plain("1020", 108_100),
            base("3200", -100_000, "UN", 81).supplied("2024-01-01"),
            tax("2200", -8_100, "UN", 81).supplied("2024-01-01"),
        ],
    );
    books.write();
    let answer = ask(&owner, &books, json!({ "year": 2024, "quarter": 1 }));
    let form = form(&answer);
    assert_eq!(
        [form["302b"], form["302"], form["303b"], form["303"]],
        [100_000, 7_700, 100_000, 8_100]
    );
    assert_eq!((form["200"], form["299"]), (200_000, 200_000));
    assert_eq!(failing(&answer), [CLOSED]);
}

fn a_return_stays_the_same_at_its_clock(world: &World) {
    let (mut books, owner) = (Books::open(world, 1, QUARTERLY), world.owner());
    worked_example(&mut books);
    books.write();
    let before = books.last_commit();
    let known = json!({ "year": 2026, "quarter": 2, "as_known_on": format!("#{before}") });
    let first = ask(&owner, &books, known.clone());
    books.post(
        "2026-06-01",
        &[plain("1020", 108_100), base("3200", -100_000, "UN", 81), tax("2200", -8_100, "UN", 81)],
    );
    books.write();
    let now = ask(&owner, &books, json!({ "year": 2026, "quarter": 2 }));
    assert_eq!(form(&now)["303"], form(&first)["303"] + 8_100);
    assert_ne!(now["report_id"], first["report_id"]);
    assert_eq!(ask(&owner, &books, known.clone()), first, "what was known then");
    let answered = json!({ "year": 2026, "quarter": 2, "as_known_on": now["as_known_on"] });
    assert_eq!(ask(&owner, &books, answered), now, "the answered clock passed back");
    books.lock("2026-06-30");
    books.write();
    let mut locked = ask(&owner, &books, known);
    assert_eq!(locked["now"]["checks"][0]["holds"], true);
    assert_ne!(locked["now"], first["now"]);
    locked["now"] = first["now"].clone();
    assert_eq!(locked, first, "only what is true now has changed");
    every_figure_re_sums(&owner, &first);
    let ahead = json!({ "mandate_id": books.mandate, "year": 2026, "quarter": 2, "as_known_on": "2026-12-01" });
    assert_eq!(owner.call("get_vat_return", ahead).refusal()["field"], "as_known_on");
}

fn what_is_no_return_is_refused_with_the_way_out(world: &World) {
    let (books, owner) = (Books::open(world, 1, QUARTERLY), world.owner());
    let refused = |arguments: Value| {
        let mut arguments = arguments;
        if arguments.get("mandate_id").is_none() {
            arguments["mandate_id"] = books.mandate.as_str().into();
        }
        owner.call("get_vat_return", arguments).refusal()
    };
    for (arguments, field, said) in [
        (json!({ "year": 2026, "month": 5 }), "month", "files by quarter"),
        (json!({ "year": 2026, "half": 1 }), "half", "quarter from 1 to 4"),
        (json!({ "year": 2026, "quarter": 1, "half": 1 }), "half", "not several"),
        (json!({ "year": 2026, "quarter": 5 }), "quarter", "from 1 to 4"),
        (json!({ "year": 2027, "quarter": 1 }), "year", "has not begun"),
        (json!({ "year": 1999 }), "year", "2018"),
    ] {
        let refusal = refused(arguments);
        assert_eq!(refusal["field"], field, "{refusal}");
        assert!(refusal["message"].as_str().unwrap().contains(said), "{refusal}");
    }
    let bookless = Books::open(world, 2, Setup { period: "year", ..QUARTERLY });
    world.sql("UPDATE mandates SET vat_method = 'not_liable', vat_period = NULL WHERE title = 'Lémanique' AND number = 'LEM-T2'");
    let refusal = refused(json!({ "mandate_id": bookless.mandate, "year": 2026 }));
    assert_eq!(refusal["code"], "conflict");
    assert!(refusal["message"].as_str().unwrap().contains("not liable"), "{refusal}");
}

fn only_who_reaches_the_mandate_sees_its_return(world: &World) {
    let (mut books, owner) = (Books::open(world, 1, QUARTERLY), world.owner());
    worked_example(&mut books);
    books.write();
    let answer = ask(&owner, &books, json!({ "year": 2026, "quarter": 2 }));
    let figure = &answer["figures"][0]["figure"];
    let arguments = |mandate: &str| json!({ "mandate_id": mandate, "year": 2026, "quarter": 2 });
    for (firm, role) in [("leman", "accountant"), ("leman", "auditor"), ("saentis", "owner")] {
        let client = world.client(firm, role);
        let unknown =
            client.call("get_vat_return", arguments("01912345-0000-7000-8000-123456789abc"));
        let hidden = client.call("get_vat_return", arguments(&books.mandate));
        assert_eq!(hidden.text(), unknown.text(), "{firm} {role}");
        let made_up = client.call("explain_figure", json!({ "figure": "AAAA" }));
        let foreign = client.call("explain_figure", json!({ "figure": figure }));
        assert_eq!(foreign.text(), made_up.text(), "{firm} {role}");
    }
    let officer = world.client("leman", "payroll_officer");
    let unknown = officer.call("no_such_tool", json!({})).bytes;
    assert_eq!(officer.call("get_vat_return", arguments(&books.mandate)).bytes, unknown);
    let mut edited = figure.as_str().unwrap().to_owned();
    let last = if edited.ends_with('A') { 'B' } else { 'A' };
    edited.replace_range(edited.len() - 6..edited.len() - 5, &last.to_string());
    let refusal = owner.call("explain_figure", json!({ "figure": edited })).refusal();
    assert_eq!(refusal["message"], "figure not found");
}

/// Lines, and the checks that they break with the difference each tells.
type Broken<'a> = (&'a [books::Line], &'a [(&'a str, i64)]);

fn a_broken_record_is_named_by_the_check_that_fails(world: &World) {
    let owner = world.owner();
    let sale = |rate| {
        [
            plain("1020", 108_100),
            base("3200", -100_000, "UN", rate),
            tax("2200", -8_100, "UN", rate),
        ]
    };
    let broken: [Broken<'_>; 5] = [
        (
            &[plain("1020", 5_000), plain("3400", -5_000)],
            &[("lines on revenue accounts have a VAT code", 5_000)],
        ),
        (
            &[
                plain("1020", 110_500),
                base("3200", -100_000, "UN", 81),
                tax("2200", -10_500, "UN", 81),
            ],
            &[("tax is the taxed amount times the rate", 2_400)],
        ),
        (
            &[plain("1020", 100_000), base("3200", -100_000, "UN", 81).supplied("2010-05-01")],
            &[
                ("299 equals the sum of the taxed amounts of all rates", 100_000),
                ("lines of supplies bear the rate of their day of supply", 0),
            ],
        ),
        (
            &[plain("6500", 700), plain("2200", -700)],
            &[(
                "the return agrees with what accounts 1170, 1171 and 2200 moved, settlements to 2201 apart",
                -700,
            )],
        ),
        (&sale(77), &[("lines of supplies bear the rate of their day of supply", 0)]),
    ];
    for (nth, (lines, fails)) in (1..).zip(broken) {
        let mut books = Books::open(world, nth, QUARTERLY);
        worked_example(&mut books);
        books.post("2026-05-05", lines);
        books.lock("2026-06-30");
        books.write();
        let answer = ask(&owner, &books, json!({ "year": 2026, "quarter": 2 }));
        let names: Vec<_> = fails.iter().map(|(name, _)| *name).collect();
        assert_eq!(failing(&answer), names, "{answer}");
        for (name, difference) in fails {
            let check = answer["checks"].as_array().unwrap().iter();
            let check = check
                .clone()
                .find(|check| check["name"] == *name && check["holds"] == false)
                .unwrap();
            assert!(check["what_to_do"].as_str().unwrap().len() > 20);
            if *difference != 0 {
                assert_eq!(cents(&check["difference"]), *difference, "{check}");
            }
        }
        every_figure_re_sums(&owner, &answer);
    }
}

fn a_year_is_reconciled_with_its_periods(world: &World) {
    let (mut books, owner) = (Books::open(world, 1, QUARTERLY), world.owner());
    worked_example(&mut books);
    for day in ["2026-01-31", "2026-07-01", "2026-10-10"] {
        books.post(
            day,
            &[
                plain("1020", 108_100),
                base("3200", -100_000, "UN", 81),
                tax("2200", -8_100, "UN", 81),
            ],
        );
    }
    books.write();
    let year = ask(&owner, &books, json!({ "year": 2026 }));
    assert_eq!(year["kind"], "reconciliation");
    assert_eq!(year["due_on"], "2027-06-29", "180 days after the end of the year");
    assert_eq!(moved(form(&year)), moved(oracle::effective(&books.rows())));
    assert_eq!(failing(&year), [CLOSED]);
    let periods = year["periods"].as_array().unwrap();
    let of: Vec<_> = periods
        .iter()
        .map(|row| (row["period"].as_str().unwrap(), cents(&row["payable"])))
        .collect();
    assert_eq!(
        of,
        [("2026-Q1", 8_100), ("2026-Q2", 577_100), ("2026-Q3", 8_100), ("2026-Q4", 8_100)]
    );
    every_figure_re_sums(&owner, &year);
}

fn labels_follow_the_language_of_the_person(world: &World) {
    let (mut books, owner) = (Books::open(world, 1, QUARTERLY), world.owner());
    worked_example(&mut books);
    books.write();
    for (language, label, code) in [
        ("fr", "Chiffre d’affaires imposable", "Prestations au taux normal"),
        ("de", "Steuerbarer Umsatz", "Leistungen zum Normalsatz"),
        ("en", "Taxable turnover", "Supplies at the normal rate"),
    ] {
        world.sql(&format!("UPDATE memberships SET language = '{language}'"));
        let text = ask(&owner, &books, json!({ "year": 2026, "quarter": 2 })).to_string();
        assert!(text.contains(label) && text.contains(code), "{language}");
    }
}

fn rates_are_there_to_be_read(world: &World) {
    let read = world
        .client("leman", "client_user")
        .rpc("resources/read", json!({ "uri": "guichet://rules/rates" }));
    let text = read.json()["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    let rates: Value = serde_json::from_str(&text).unwrap();
    let codes = rates["vat"]["codes"].as_array().unwrap();
    let normal = codes.iter().find(|code| code["code"] == "UN").unwrap();
    assert_eq!(
        normal["rates"],
        json!([
            { "valid_from": "2018-01-01", "valid_to": "2023-12-31", "rate_percent": 7.7, "tax_figure": "302" },
            { "valid_from": "2024-01-01", "rate_percent": 8.1, "tax_figure": "303" },
        ])
    );
    assert_eq!(rates["vat"]["net_rates_percent"].as_array().unwrap().len(), 10);
    assert_eq!(rates["as_of"], "2026-11-30");
    let insured = rates["social_insurance"].as_array().unwrap().last().unwrap();
    assert_eq!(insured["valid_from"], "2025-01-01");
    assert_eq!(insured["avs_percent"].to_string(), "5.3");
    assert_eq!(cents(&insured["pension_entry_threshold"]), 2_268_000);
    assert_eq!(
        insured["retirement_credits"][1],
        json!({ "from_age": 35, "to_age": 44, "percent": 10 })
    );
}
