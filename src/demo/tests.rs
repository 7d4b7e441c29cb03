//! What must hold of the demo data as rows.

use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use tempfile::TempDir;

use super::{DemoState, canaries, is_seeded, people, seed};
use crate::auth::api_token::ApiToken;
use crate::db::connection::{AnyConnection, open};
use crate::db::migrate;
use crate::text::fold;

/// A seeded `SQLite` database.
fn seeded() -> (TempDir, AnyConnection) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/demo.db", folder.path().display());
    migrate(&url, &url).unwrap();
    assert!(!is_seeded(&url).unwrap());
    seed(&url).unwrap();
    assert!(is_seeded(&url).unwrap());
    assert!(seed(&url).unwrap_err().to_string().contains("already"));
    (folder, open(&url).unwrap())
}

fn count(connection: &mut AnyConnection, of: &str) -> i64 {
    diesel::select(sql::<BigInt>(&format!("count(*) FROM {of}"))).get_result(connection).unwrap()
}

/// Tables with a tenant, and their columns of text.
fn text_columns(connection: &mut AnyConnection) -> Vec<(String, String)> {
    diesel::select(sql::<(Text, Text)>(
        "m.name, i.name FROM sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND i.type = 'TEXT' \
         AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) t WHERE t.name = 'tenant_id')",
    ))
    .load(connection)
    .unwrap()
}

/// Columns whose text is a word of the program, a number or a date, not something that somebody wrote.
const NOT_WRITTEN: &[&str] = &[
    "action",
    "area",
    "avs_number",
    "billing",
    "birth_date",
    "booked_on",
    "canton",
    "channel",
    "code",
    "committed_at",
    "country",
    "created_at",
    "credential",
    "currency",
    "dated_on",
    "debtor_iban",
    "decided_at",
    "deleted_at",
    "direction",
    "document",
    "done_at",
    "due_on",
    "duty",
    "end_to_end_id",
    "ends_on",
    "expires_at",
    "filed_on",
    "from_on",
    "found_on",
    "hired_on",
    "house_number",
    "iban",
    "idempotency_key",
    "imported_at",
    "issued_on",
    "journal",
    "inverse_de",
    "inverse_en",
    "inverse_fr",
    "kind",
    "label_de",
    "label_en",
    "label_fr",
    "language",
    "last_used_at",
    "last_used_from",
    "left_on",
    "legal_form",
    "letter",
    "locked_through",
    "media_type",
    "method",
    "month",
    "number",
    "open_until",
    "paid_on",
    "pay",
    "permission",
    "phone",
    "postal_code",
    "purpose",
    "priority",
    "qr_iban",
    "qr_reference",
    "reach",
    "received_on",
    "reconciled_on",
    "record_kind",
    "revoked_at",
    "role",
    "scopes",
    "sent_on",
    "settled_on",
    "source",
    "source_kind",
    "severity",
    "stands_for",
    "starts_on",
    "state",
    "status",
    "suffix",
    "supplied_on",
    "supply_from",
    "supply_to",
    "tariff_code",
    "time_zone",
    "to_on",
    "tool",
    "type_code",
    "uid",
    "unit",
    "valid_from",
    "valid_on",
    "valid_to",
    "value_on",
    "vat_activity",
    "vat_code",
    "vat_method",
    "vat_part",
    "vat_period",
    "voucher",
    "wage",
    "worked_on",
];

fn every_text_carries_the_word_of_its_firm(connection: &mut AnyConnection) {
    let words = canaries();
    for (table, column) in text_columns(connection) {
        let is_seeded = ["roles", "vat_codes", "vat_code_rates"].contains(&table.as_str());
        let is_written = !NOT_WRITTEN.contains(&column.as_str()) && !is_seeded;
        for (firm, word) in words.iter().enumerate() {
            let texts: Vec<String> = diesel::select(sql::<Text>(&format!(
                "{column} FROM {table} WHERE {column} IS NOT NULL AND tenant_id = \
                 (SELECT id FROM tenants ORDER BY slug LIMIT 1 OFFSET {firm})"
            )))
            .load(connection)
            .unwrap();
            for text in texts.iter().map(|text| fold(text)) {
                let own = text.contains(word.as_str())
                    || text.chars().all(|c| c.is_ascii_digit() || c == '/');
                assert!(own || !is_written, "{table}.{column}: {text}");
                assert!(!text.contains(words[1 - firm].as_str()), "{table}.{column}: {text}");
            }
        }
    }
}

fn both_firms_have_as_much_of_everything(connection: &mut AnyConnection) {
    let mut tables: Vec<_> = text_columns(connection).into_iter().map(|(table, _)| table).collect();
    tables.extend(["reach".to_owned(), "invoice_lines".to_owned()]);
    tables.dedup();
    for table in tables {
        let mut of = |slug| {
            let firm = format!("(SELECT id FROM tenants WHERE slug = '{slug}')");
            count(connection, &format!("{table} WHERE tenant_id = {firm}"))
        };
        let (leman, saentis) = (of("leman"), of("saentis"));
        assert!(leman == saentis && leman > 0, "{table}: {leman} and {saentis}");
    }
}

/// Rows that break an identity: none of each.
const BROKEN: &[&str] = &[
    "invoices i WHERE (net, vat) <> (SELECT sum(l.net), sum(l.vat) FROM invoice_lines l WHERE l.tenant_id = i.tenant_id AND l.invoice_id = i.id)",
    "invoices WHERE total <> net + vat + rounding OR abs(rounding) > 2",
    "invoices WHERE currency = 'CHF' AND total % 5 <> 0",
    "invoices WHERE currency <> 'CHF' AND rounding <> 0",
    "invoice_lines WHERE net <> (unit_price * quantity + 500) / 1000",
    "invoice_lines WHERE vat <> (net * vat_rate_percent + 500000) / 1000000",
    "invoices c JOIN invoices o ON o.tenant_id = c.tenant_id AND o.id = c.origin_invoice_id WHERE o.currency <> c.currency OR o.issued_on > c.issued_on",
    "payslips p WHERE gross <> (SELECT total(amount) FROM payslip_lines l WHERE l.tenant_id = p.tenant_id AND l.payslip_id = p.id AND kind = 'earning')",
    "payslips p WHERE deductions <> (SELECT total(amount) FROM payslip_lines l WHERE l.tenant_id = p.tenant_id AND l.payslip_id = p.id AND kind = 'deduction')",
    "payslips p WHERE allowances <> (SELECT total(amount) FROM payslip_lines l WHERE l.tenant_id = p.tenant_id AND l.payslip_id = p.id AND kind = 'allowance')",
    "payslips p WHERE employer_charges <> (SELECT total(amount) FROM payslip_lines l WHERE l.tenant_id = p.tenant_id AND l.payslip_id = p.id AND kind = 'employer_charge')",
    "payslips WHERE net <> gross - deductions + allowances",
    "payslip_lines WHERE rate_percent IS NOT NULL AND amount <> (abs(base) * rate_percent + 500000) / 1000000 * sign(base)",
    "payslips WHERE (state = 'draft') <> (year = 2026 AND month = 11)",
    "commits c JOIN commits d ON d.tenant_id = c.tenant_id AND d.number = c.number + 1 WHERE d.committed_at < c.committed_at",
    "(SELECT tenant_id, number FROM commits EXCEPT SELECT tenant_id, commit_number FROM invoices \
     EXCEPT SELECT tenant_id, commit_number FROM payments EXCEPT SELECT tenant_id, commit_number FROM reminders \
     EXCEPT SELECT tenant_id, commit_number FROM payslips EXCEPT SELECT tenant_id, commit_number FROM entries)",
    "entries e WHERE state = 'posted' AND (SELECT sum(debit) - sum(credit) FROM entry_lines l WHERE l.tenant_id = e.tenant_id AND l.entry_id = e.id) <> 0",
    "entries e JOIN commits c ON c.tenant_id = e.tenant_id AND c.number = e.commit_number WHERE substr(c.committed_at, 1, 10) < e.booked_on AND e.journal NOT IN ('CLO', 'ANO')",
    "(SELECT number, row_number() OVER (PARTITION BY tenant_id, mandate_id, fiscal_year_id, journal ORDER BY commit_number, number) AS expected \
      FROM entries WHERE state = 'posted') WHERE number <> expected",
    "(SELECT tenant_id, account_id, currency, substr(month, 1, 7) AS month, debit, credit, currency_debit, currency_credit, line_count FROM account_balances \
      EXCEPT SELECT l.tenant_id, account_id, l.currency, substr(l.booked_on, 1, 7), sum(debit), sum(credit), sum(currency_debit), sum(currency_credit), count(*) \
      FROM entry_lines l JOIN entries e ON e.tenant_id = l.tenant_id AND e.id = l.entry_id WHERE e.state = 'posted' GROUP BY 1, 2, 3, 4)",
    "(SELECT sum(debit) - sum(credit) AS open FROM reconciliations r JOIN entry_lines l ON l.tenant_id = r.tenant_id AND l.entry_id = r.entry_id AND l.position = r.position \
      GROUP BY r.tenant_id, l.account_id, r.letter) WHERE open <> 0",
    "(SELECT tenant_id, number FROM commits EXCEPT SELECT tenant_id, commit_number FROM commit_records)",
    "(SELECT created_at, lag(created_at) OVER (PARTITION BY tenant_id ORDER BY id) AS earlier FROM invoices) WHERE created_at < earlier",
    "invoices WHERE issued_on >= '2026-12-01'",
    "time_entries e JOIN invoices i ON i.tenant_id = e.tenant_id AND i.id = e.invoice_id \
     WHERE i.mandate_id <> e.mandate_id OR i.issued_on <= e.worked_on OR i.state <> 'issued'",
    "time_entries WHERE created_at > '2026-11-30'",
    "payments p JOIN invoices i ON i.tenant_id = p.tenant_id AND i.id = p.invoice_id WHERE p.received_on < i.issued_on",
    "pragma_foreign_key_check",
];

/// `SELECT` of what each invoice of firm 0 has open on a day.
fn open_on(day: &str) -> String {
    format!(
        "(SELECT i.title, i.currency, i.due_on, i.total - (SELECT total(p.amount) FROM payments p WHERE p.tenant_id = i.tenant_id AND p.invoice_id = i.id AND p.received_on <= '{day}') \
         - (SELECT total(c.total) FROM invoices c WHERE c.tenant_id = i.tenant_id AND c.origin_invoice_id = i.id AND c.state = 'issued' AND c.issued_on <= '{day}') AS open \
         FROM invoices i WHERE i.document = 'invoice' AND i.state = 'issued' AND i.issued_on <= '{day}')"
    )
}

#[test]
fn the_two_firms_are_consistent_alike_and_apart() {
    let (_folder, mut connection) = seeded();
    let connection = &mut connection;
    connection.batch_execute("PRAGMA foreign_keys = ON").unwrap();
    for broken in BROKEN {
        assert_eq!(count(connection, broken), 0, "{broken}");
    }
    every_text_carries_the_word_of_its_firm(connection);
    both_firms_have_as_much_of_everything(connection);
    let day = open_on("2026-06-30");
    for (at_least, what) in [
        (2, format!("{day} WHERE open < 0")),
        (2, format!("{day} WHERE open > 0 AND due_on = '2026-06-30'")),
        (2, format!("{day} WHERE open > 0 AND due_on = '2026-05-31'")),
        (2, format!("{day} WHERE open > 0 AND due_on = '2026-03-31'")),
        (20, format!("{day} WHERE open > 0 AND currency <> 'CHF'")),
        (122, "clients".into()),
        (182, "mandates".into()),
        (1_500, "invoices".into()),
        (120, "employees".into()),
        (2, "payslips WHERE reverses_id IS NOT NULL".into()),
        (2, "clients WHERE deleted_at IS NOT NULL".into()),
        (8, "reminders WHERE level = 3".into()),
        (18, "ledgers".into()),
        (2, "ledgers WHERE is_of_firm".into()),
        (6, "entries WHERE state = 'draft'".into()),
        (10, "entries WHERE journal = 'EXT'".into()),
        (8, "entries WHERE journal = 'CLO'".into()),
        (500, "reconciliations".into()),
        (100, "entry_lines WHERE currency <> 'CHF'".into()),
        (2, "fiscal_years WHERE state = 'provisionally_closed'".into()),
        (6, "fiscal_years WHERE substr(starts_on, 6) = '07-01'".into()),
        (800, "time_entries".into()),
        (150, "time_entries WHERE invoice_id IS NOT NULL".into()),
        (60, "time_entries WHERE mandate_id IS NULL".into()),
        (20, "time_entries e JOIN services s ON s.tenant_id = e.tenant_id AND s.id = e.service_id WHERE s.unit <> 'hour'".into()),
        (60, "time_entries WHERE operation_id IS NOT NULL".into()),
        (20, "tasks WHERE due_on < '2026-11-30' AND status IN ('open', 'in_progress', 'waiting')".into()),
        (20, "tasks WHERE mandate_id IS NULL".into()),
        (20, "tasks WHERE due_on IS NULL".into()),
        (20, "documents WHERE is_confidential".into()),
        (20, "documents WHERE mandate_id IS NULL".into()),
    ] {
        let found = count(connection, &what);
        assert!(found >= at_least, "{found} {what}");
    }
}

#[test]
fn everybody_has_a_token_of_their_own_and_somebody_works_for_both_firms() {
    let people = people();
    assert_eq!(people.len(), 24);
    let mut tokens: Vec<_> = people.iter().map(|person| person.token.as_str()).collect();
    assert!(tokens.iter().all(|token| ApiToken::parse(token).is_some()));
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), people.len());
    let of = |email: &str| people.iter().filter(|person| person.email == email).count();
    assert_eq!(people.iter().filter(|person| of(&person.email) == 2).count(), 2);
    for state in DemoState::ALL {
        assert!(people.iter().filter(|person| person.state == *state).count() >= 2);
    }
}
