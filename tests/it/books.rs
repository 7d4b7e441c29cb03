//! The demo's books agree with its documents: receivables, VAT and wages, on every day that matters, posting for posting.

use std::collections::BTreeMap;

use serde_json::json;

use crate::world::World;

on_both! {
    the_receivables_accounts_are_the_open_items_on_every_day,
    the_vat_account_holds_the_vat_of_the_documents,
    revenue_of_a_service_is_what_its_lines_say,
    the_wages_accounts_are_the_payslips,
    every_document_is_booked_under_its_own_commit,
    nobody_s_salary_stands_in_a_ledger,
    closed_and_locked_days_stay_as_they_are,
}

/// `1234.50` of PostgreSQL or `123450` of SQLite, in centimes.
fn cents(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap()
}

/// The entries and lines of the firms' own books that are posted.
const OF_FIRM: &str = "entry_lines l JOIN entries e ON e.tenant_id = l.tenant_id AND e.id = l.entry_id AND e.state = 'posted' \
     JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id \
     JOIN ledgers g ON g.tenant_id = e.tenant_id AND g.mandate_id = e.mandate_id AND g.is_of_firm \
     JOIN tenants t ON t.id = e.tenant_id";

/// Sums by the words before them.
fn sums(world: &World, keys: &str, sum: &str, from: &str) -> BTreeMap<String, i64> {
    let rows = world.query(&format!(
        "SELECT {keys} || '|' || CAST(sum({sum}) AS TEXT) FROM {from} GROUP BY {}",
        keys.replace(" || ':' || ", ", ")
    ));
    rows.into_iter()
        .map(|row| (row[0].clone(), cents(&row[1])))
        .filter(|(_, sum)| *sum != 0)
        .collect()
}

fn the_receivables_accounts_are_the_open_items_on_every_day(world: &World) {
    let days = [
        "2024-01-31",
        "2024-12-31",
        "2025-06-30",
        "2026-02-28",
        "2026-03-20",
        "2026-03-31",
        "2026-06-30",
        "2026-11-30",
    ];
    for firm in ["leman", "saentis"] {
        let owner = world.client(firm, "owner");
        for day in days {
            let from = format!(
                "{OF_FIRM} WHERE t.slug = '{firm}' AND a.number IN ('1100', '1101', '1102') AND e.booked_on <= '{day}'"
            );
            let booked = sums(world, "l.currency", "l.currency_debit - l.currency_credit", &from);
            let answer = owner.ask("list_open_items", json!({ "as_of": day, "limit": 1 }));
            let mut open = BTreeMap::new();
            for total in answer["totals"].as_array().unwrap() {
                let sum =
                    total["open"].as_f64().unwrap() + total["credit_balance"].as_f64().unwrap();
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "amounts of the demo are small"
                )]
                let minor = (sum * 100.0).round() as i64;
                if minor != 0 {
                    open.insert(total["currency"].as_str().unwrap().to_owned(), minor);
                }
            }
            assert_eq!(booked, open, "{firm} {day}");
        }
    }
}

fn the_vat_account_holds_the_vat_of_the_documents(world: &World) {
    let from = format!("{OF_FIRM} WHERE e.source_kind = 'invoice' AND l.vat_part = 'tax'");
    let booked =
        sums(world, "t.slug || ':' || l.currency", "l.currency_credit - l.currency_debit", &from);
    let signed = "CASE i.document WHEN 'credit_note' THEN -i.vat ELSE i.vat END";
    let documents = "invoices i JOIN tenants t ON t.id = i.tenant_id WHERE i.state = 'issued' AND i.document IN ('invoice', 'credit_note')";
    let owed = sums(world, "t.slug || ':' || i.currency", signed, documents);
    assert_eq!(booked, owed);
    assert!(booked.len() >= 4, "{booked:?}");
    let by_rate = format!(
        "{OF_FIRM} WHERE e.source_kind = 'invoice' AND l.vat_part = 'base' AND l.vat_code <> 'OO' AND l.currency = 'CHF'"
    );
    let booked = sums(world, "t.slug || ':' || l.vat_code", "l.credit - l.debit", &by_rate);
    let net = "CASE i.document WHEN 'credit_note' THEN -n.net ELSE n.net END";
    let code = "CASE WHEN n.vat_rate_percent * {} > 50000 THEN 'UN' WHEN n.vat_rate_percent * {} > 30000 THEN 'UB' ELSE 'UR' END";
    let code = code.replace("{}", if world.database.is_postgres() { "10000" } else { "1" });
    let lines = format!(
        "(SELECT t.slug, {code} AS code, {net} AS net FROM invoices i JOIN invoice_lines n ON n.tenant_id = i.tenant_id AND n.invoice_id = i.id \
         JOIN tenants t ON t.id = i.tenant_id WHERE i.state = 'issued' AND i.document IN ('invoice', 'credit_note') \
         AND i.currency = 'CHF' AND n.vat_rate_percent > 0) x"
    );
    assert_eq!(booked, sums(world, "x.slug || ':' || x.code", "x.net", &lines));
}

fn revenue_of_a_service_is_what_its_lines_say(world: &World) {
    let from = format!(
        "{OF_FIRM} WHERE e.source_kind = 'invoice' AND a.number LIKE '34__' AND a.number <> '3400'"
    );
    let booked = sums(
        world,
        "t.slug || ':' || a.number || ':' || l.currency",
        "l.currency_credit - l.currency_debit",
        &from,
    );
    let net = "CASE i.document WHEN 'credit_note' THEN -n.net ELSE n.net END";
    let lines = format!(
        "(SELECT t.slug, '34' || substr(s.code, 6, 2) AS number, i.currency, {net} AS net FROM invoices i \
         JOIN invoice_lines n ON n.tenant_id = i.tenant_id AND n.invoice_id = i.id \
         JOIN services s ON s.tenant_id = n.tenant_id AND s.id = n.service_id JOIN tenants t ON t.id = i.tenant_id \
         WHERE i.state = 'issued' AND i.document IN ('invoice', 'credit_note')) x"
    );
    let said = sums(world, "x.slug || ':' || x.number || ':' || x.currency", "x.net", &lines);
    assert_eq!(booked, said);
    assert!(booked.len() > 40, "{booked:?}");
}

fn the_wages_accounts_are_the_payslips(world: &World) {
    let wages = "entry_lines l JOIN entries e ON e.tenant_id = l.tenant_id AND e.id = l.entry_id AND e.state = 'posted' \
         JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id \
         JOIN commits c ON c.tenant_id = e.tenant_id AND c.number = e.commit_number \
         JOIN mandates m ON m.tenant_id = e.tenant_id AND m.id = e.mandate_id \
         WHERE e.journal = 'SAL' AND m.kind = 'payroll'";
    let keys = "m.number || ':' || e.commit_number || ':' || l.currency";
    let payslips = "payslips p JOIN mandates m ON m.tenant_id = p.tenant_id AND m.id = p.mandate_id WHERE p.state = 'final'";
    let said = "m.number || ':' || p.commit_number || ':' || p.currency";
    let debit = "l.currency_debit - l.currency_credit";
    let booked = sums(world, keys, debit, &format!("{wages} AND a.number = '5000'"));
    assert_eq!(booked, sums(world, said, "p.gross", payslips), "gross wages, run by run");
    let booked = sums(world, keys, debit, &format!("{wages} AND a.number LIKE '57__'"));
    assert_eq!(booked, sums(world, said, "p.employer_charges", payslips), "employer's charges");
    let booked = sums(world, keys, debit, &format!("{wages} AND a.number = '1091'"));
    assert_eq!(booked, sums(world, said, "-p.net", payslips), "net wages");
    let open = world.query(
        "SELECT m.number || '|' || CAST(e.commit_number AS TEXT) FROM entry_lines l \
         JOIN entries e ON e.tenant_id = l.tenant_id AND e.id = l.entry_id \
         JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id \
         JOIN mandates m ON m.tenant_id = e.tenant_id AND m.id = e.mandate_id \
         WHERE a.number = '1091' AND e.state = 'posted' GROUP BY m.number, e.commit_number, l.currency \
         HAVING sum(l.debit) <> sum(l.credit) OR sum(l.currency_debit) <> sum(l.currency_credit)",
    );
    assert!(open.is_empty(), "1091 ends at nought run by run: {open:?}");
}

fn every_document_is_booked_under_its_own_commit(world: &World) {
    let count = |from: &str| {
        world.query(&format!("SELECT CAST(count(*) AS TEXT) FROM {from}"))[0][0].clone()
    };
    let documents =
        "invoices i WHERE i.state = 'issued' AND i.document IN ('invoice', 'credit_note')";
    for (records, entries) in [
        (
            documents,
            "entries e JOIN invoices i ON i.tenant_id = e.tenant_id AND i.id = e.source_id AND i.commit_number = e.commit_number \
          AND e.booked_on = i.issued_on AND e.voucher = i.number WHERE e.source_kind = 'invoice'",
        ),
        (
            "payments p",
            "entries e JOIN payments p ON p.tenant_id = e.tenant_id AND p.id = e.source_id AND p.commit_number = e.commit_number \
          AND e.booked_on = p.received_on WHERE e.source_kind = 'payment' AND (e.journal = 'EXT') = (p.reverses_id IS NOT NULL)",
        ),
        (
            "(SELECT DISTINCT p.tenant_id, p.mandate_id, p.commit_number FROM payslips p WHERE p.state = 'final') x",
            "entries e WHERE e.journal = 'SAL' AND EXISTS (SELECT 1 FROM payslips p WHERE p.tenant_id = e.tenant_id AND p.commit_number = e.commit_number)",
        ),
    ] {
        let (records, entries) = (count(records), count(entries));
        assert_eq!(records, entries);
        assert!(records.parse::<u32>().unwrap() > 200, "{records}");
    }
}

fn nobody_s_salary_stands_in_a_ledger(world: &World) {
    let alone = world.query(
        "SELECT CAST(count(*) AS TEXT) FROM entries e WHERE e.source_kind = 'payslip' AND (SELECT count(*) FROM payslips p \
         WHERE p.tenant_id = e.tenant_id AND p.commit_number = e.commit_number) > 1",
    );
    assert_eq!(alone, [["0"]]);
    let named = world.query(
        "SELECT e.text || '|' FROM entries e JOIN employees p ON p.tenant_id = e.tenant_id AND p.mandate_id = e.mandate_id \
         WHERE e.text LIKE '%' || p.last_name || '%'",
    );
    assert!(named.is_empty(), "{named:?}");
}

fn closed_and_locked_days_stay_as_they_are(world: &World) {
    let shut = "fiscal_years y WHERE y.state <> 'open'";
    let count = world.query(&format!("SELECT CAST(count(*) AS TEXT) FROM {shut}"));
    assert!(count[0][0].parse::<u32>().unwrap() >= 30, "{count:?}");
    for year in ["y.state = 'closed'", "y.locked_through IS NOT NULL"] {
        let into = format!(
            "INSERT INTO entries (tenant_id, id, mandate_id, fiscal_year_id, journal, booked_on, text, voucher, state, search_text, created_by, created_at) \
             SELECT e.tenant_id, e.created_by, e.mandate_id, e.fiscal_year_id, 'OD', y.starts_on, 'x', 'x', 'draft', '', e.created_by, e.created_at \
             FROM entries e JOIN fiscal_years y ON y.tenant_id = e.tenant_id AND y.id = e.fiscal_year_id WHERE {year} LIMIT 1"
        );
        world.sql(&into);
        let posted = world.database.owner().batch_execute(
            "UPDATE entries SET state = 'posted', number = 1000000, commit_number = 1 WHERE text = 'x'",
        );
        let refusal = posted.unwrap_err().to_string();
        assert!(refusal.contains("the period is closed"), "{refusal}");
        world.sql("DELETE FROM entries WHERE text = 'x'");
    }
}
