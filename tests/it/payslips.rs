//! Payslips, recomputed from the bare lines: cumulated ceilings, the pension, the tax that is not known.

use serde_json::{Value, json};

use crate::world::{Client, World};

on_both! {
    a_payslip_says_what_was_insured_since_january_against_the_annual_ceiling,
    unemployment_insurance_is_due_on_each_month_up_to_the_ceiling_of_the_year,
    a_missing_withholding_tariff_is_said_and_not_computed_as_nil,
    the_newest_version_of_a_tariff_is_the_one_that_counts,
    the_pension_of_a_year_is_settled_in_december,
}

fn cents(value: &Value) -> i64 {
    let text = value.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or_else(|| panic!("{value} is no amount"));
    format!("{whole}{fraction:0<2}").parse().unwrap()
}

fn stored(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap()
}

/// Every payslip of 2026 of a mandate with payroll, with its page.
fn pages(officer: &Client, year: i32) -> Vec<Value> {
    let mut pages = vec![];
    let mandates = officer.ask("search_mandates", json!({ "limit": 100 }));
    for mandate in mandates["items"].as_array().unwrap() {
        let mut arguments = json!({ "mandate_id": mandate["id"], "year": year, "limit": 100 });
        loop {
            let found = officer.ask("list_payslips", arguments.clone());
            for row in found["items"].as_array().unwrap() {
                pages.push(officer.ask("get_payslip", json!({ "payslip_id": row["id"] })));
            }
            match found.get("next_cursor") {
                Some(cursor) => arguments["cursor"] = cursor.clone(),
                None => break,
            }
        }
    }
    assert!(pages.len() > 50, "{}", pages.len());
    pages
}

/// What is written on a line with a code that ends in `code`.
fn line<'a>(page: &'a Value, code: &str) -> Option<&'a Value> {
    let lines = page["lines"].as_array().unwrap();
    lines.iter().find(|line| line["code"].as_str().unwrap().ends_with(code))
}

fn a_payslip_says_what_was_insured_since_january_against_the_annual_ceiling(world: &World) {
    let id = if world.database.is_postgres() {
        "p.employee_id::text"
    } else {
        "lower(hex(p.employee_id))"
    };
    let rows = world.query(&format!(
        "SELECT {id} || '|' || p.month || '|' || p.state || '|' || l.code || '|' || CAST(coalesce(l.base, 0) AS TEXT) || '|' || CAST(l.amount AS TEXT) \
         FROM payslips p JOIN payslip_lines l ON l.tenant_id = p.tenant_id AND l.payslip_id = p.id \
         WHERE p.year = 2026 AND p.tenant_id = (SELECT id FROM tenants WHERE slug = 'leman')"
    ));
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let employee = row[0].parse::<uuid::Uuid>().unwrap().to_string();
            let month: i64 = row[1].parse().unwrap();
            (employee, month, row[2].clone(), row[3].clone(), stored(&row[4]), stored(&row[5]))
        })
        .collect();
    let mut limited = 0;
    for page in pages(&world.client("leman", "payroll_officer"), 2026) {
        let (employee, month) =
            (page["employee_id"].as_str().unwrap(), page["month"].as_i64().unwrap());
        let is_draft = page["state"] == "draft";
        let counted: Vec<_> = rows
            .iter()
            .filter(|row| row.0 == employee && row.1 <= month)
            .filter(|row| row.2 == "final" || (is_draft && row.1 == month))
            .collect();
        let sum = |code: &str| -> (i64, i64) {
            let of = counted.iter().filter(|row| row.3.ends_with(code));
            of.fold((0, 0), |(base, amount), row| (base + row.4, amount + row.5))
        };
        let gross: i64 =
            ["L1000", "L1005", "L1010", "L1100", "L1200"].map(|code| sum(code).1).iter().sum();
        let mut months: Vec<_> = counted.iter().map(|row| row.1).collect();
        months.sort_unstable();
        months.dedup();
        let limit = 14_820_000 * i64::try_from(months.len()).unwrap() / 12;
        let year = &page["year_to_date"];
        assert_eq!(cents(&year["gross"]), gross);
        assert_eq!(year["months"], months.len());
        let insured = &year["unemployment"];
        assert_eq!((cents(&insured["base"]), cents(&insured["contribution"])), sum("5020"));
        assert_eq!(
            (cents(&insured["limit"]), cents(&insured["limit_of_year"])),
            (limit, 14_820_000)
        );
        assert_eq!(insured["is_limited"], gross > limit);
        assert_eq!(cents(&year["avs"]), sum("5010").1);
        assert_eq!(
            (cents(&year["pension"]), cents(&year["employer_pension"])),
            (sum("5050").1, sum("9050").1)
        );
        assert_eq!(cents(&year["withheld"]), sum("5060").1);
        limited += i32::from(gross > limit);
    }
    assert!(limited > 10, "the ceiling is passed: {limited}");
}

fn unemployment_insurance_is_due_on_each_month_up_to_the_ceiling_of_the_year(world: &World) {
    let mut seen = 0;
    for page in pages(&world.client("leman", "payroll_officer"), 2026) {
        let is_first = page["year_to_date"]["months"] == 1;
        let gross = cents(&page["gross"]);
        if is_first && gross > 1_235_000 {
            let line = line(&page, "5020").unwrap();
            assert_eq!((cents(&line["base"]), cents(&line["amount"])), (1_235_000, 13_585));
            seen += 1;
        }
    }
    assert!(seen > 0);
}

fn a_missing_withholding_tariff_is_said_and_not_computed_as_nil(world: &World) {
    let (mut missing, mut withheld) = (0, 0);
    for page in pages(&world.client("leman", "payroll_officer"), 2026) {
        let Some(tax) = page.get("withholding_tax") else {
            assert!(line(&page, "5060").is_none());
            continue;
        };
        if tax["status"] == "tariff_missing" {
            assert_eq!((&tax["canton"], tax.get("rate_percent")), (&json!("ZG"), None));
            assert!(tax["note"].as_str().unwrap().contains("is not known"), "{tax}");
            assert!(line(&page, "5060").is_none());
            missing += 1;
        } else {
            let line = line(&page, "5060").unwrap();
            assert_eq!(
                (&tax["status"], &tax["rate_percent"]),
                (&json!("withheld"), &line["rate_percent"])
            );
            withheld += 1;
        }
    }
    assert!(missing > 5 && withheld > 10, "{missing} {withheld}");
}

fn the_newest_version_of_a_tariff_is_the_one_that_counts(world: &World) {
    let pages = pages(&world.client("leman", "payroll_officer"), 2026);
    let taxed = |page: &&Value| {
        page["withholding_tax"]["tariff_code"] == "A0N" && page["withholding_tax"]["canton"] == "ZH"
    };
    let mut taxed = pages.iter().filter(taxed);
    assert!(taxed.all(|page| page["withholding_tax"]["rate_percent"] != 9.99));
    let officer = world.client("leman", "payroll_officer");
    let before = pages
        .iter()
        .find(|page| {
            page["withholding_tax"]["tariff_code"] == "A0N"
                && page["withholding_tax"]["canton"] == "ZH"
        })
        .unwrap();
    world.sql(&format!(
        "INSERT INTO withholding_tariffs SELECT id, 'ZH', 2026, 3, 'A0N', 0, {} FROM tenants WHERE slug = 'leman'",
        if world.database.is_postgres() { "6.5" } else { "65000" }
    ));
    let after = officer.ask("get_payslip", json!({ "payslip_id": before["id"] }));
    assert_eq!(after["withholding_tax"]["rate_percent"], 6.5);
}

fn the_pension_of_a_year_is_settled_in_december(world: &World) {
    let mut settled = 0;
    for page in pages(&world.client("leman", "payroll_officer"), 2025) {
        let is_whole_year = page["month"] == 12 && page["year_to_date"]["months"] == 12;
        let Some(pension) = page.get("pension").filter(|_| is_whole_year) else { continue };
        let (year, credit) = (&page["year_to_date"], cents(&pension["credit_of_year"]));
        let paid = cents(&year["pension"]) + cents(&year["employer_pension"]);
        let coordinated = line(&page, "5050").map(|line| cents(&line["base"]));
        assert_eq!(coordinated, Some(cents(&pension["coordinated_salary"])));
        if paid == credit {
            assert_eq!(cents(&year["pension"]), credit / 2);
            settled += 1;
        }
    }
    assert!(settled > 5, "{settled}");
}
