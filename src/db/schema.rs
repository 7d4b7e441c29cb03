//! The tables as Diesel sees them, how they are reached, and how they join.
#![expect(missing_docs, reason = "a table is described by its migration")]

use super::search::searched;
use super::types::{Amount, Exchange, Id, Measure, Moment, Percentage};

/// Declares tables with our SQL types in scope.
macro_rules! tables {
    ($($name:ident ($($key:ident),+) { $($column:ident -> $type:ty),+ $(,)? })+) => {
        $(diesel::table! {
            use diesel::sql_types::{BigInt, Binary, Bool, Date, Integer, Nullable, Text};
            use super::{Amount, Exchange, Id, Measure, Moment, Percentage};
            $name ($($key),+) { $($column -> $type,)+ }
        })+
        diesel::allow_tables_to_appear_in_same_query!($($name),+);
    };
}

tables! {
    firms (tenant_id) {
        tenant_id -> Id, name -> Text, uid -> Nullable<Text>, email -> Text, phone -> Text, street -> Text,
        house_number -> Text, postal_code -> Text, town -> Text, country -> Text, iban -> Text, qr_iban -> Text,
        time_zone -> Text, currency -> Text, payment_term_days -> Integer,
    }
    memberships (tenant_id, user_id) {
        tenant_id -> Id, user_id -> Id, display_name -> Text, role -> Text, reach -> Text, client_id -> Nullable<Id>,
        is_active -> Bool, created_at -> Moment, language -> Text,
    }
    api_tokens (tenant_id, id) {
        tenant_id -> Id, id -> Id, user_id -> Id, name -> Text, digest -> Binary, suffix -> Text, scopes -> Text,
        created_at -> Moment, expires_at -> Nullable<Moment>, revoked_at -> Nullable<Moment>,
        last_used_at -> Nullable<Moment>, last_used_from -> Nullable<Text>,
    }
    clients (tenant_id, id) {
        tenant_id -> Id, id -> Id, number -> Text, name -> Text, legal_form -> Text, uid -> Nullable<Text>,
        status -> Text, email -> Nullable<Text>, phone -> Nullable<Text>, language -> Text,
        responsible_id -> Nullable<Id>, sort_name -> Text, search_text -> Text, created_at -> Moment,
        deleted_at -> Nullable<Moment>,
    }
    contacts (tenant_id, id) {
        tenant_id -> Id, id -> Id, client_id -> Id, full_name -> Text, job_title -> Nullable<Text>,
        email -> Nullable<Text>, phone -> Nullable<Text>, is_primary -> Bool,
    }
    addresses (tenant_id, id) {
        tenant_id -> Id, id -> Id, client_id -> Id, kind -> Text, street -> Text, house_number -> Text,
        postal_code -> Text, town -> Text, country -> Text,
    }
    mandates (tenant_id, id) {
        tenant_id -> Id, id -> Id, client_id -> Id, number -> Text, title -> Text, kind -> Text, status -> Text,
        responsible_id -> Nullable<Id>, starts_on -> Date, ends_on -> Nullable<Date>, billing -> Text,
        currency -> Text, flat_fee -> Nullable<Amount>, budget_amount -> Nullable<Amount>,
        budget_hours -> Nullable<Measure>, fiscal_year_end_month -> Integer, vat_method -> Text,
        vat_period -> Nullable<Text>, vat_net_rate -> Nullable<Percentage>, search_text -> Text,
        created_at -> Moment,
    }
    mandate_members (tenant_id, mandate_id, user_id) {
        tenant_id -> Id, mandate_id -> Id, user_id -> Id, duty -> Text,
    }
    reach (tenant_id, user_id, mandate_id) { tenant_id -> Id, user_id -> Id, mandate_id -> Id }
    services (tenant_id, id) {
        tenant_id -> Id, id -> Id, code -> Text, name -> Text, unit -> Text, rate -> Amount, currency -> Text,
        vat_rate_percent -> Percentage, is_active -> Bool, search_text -> Text,
    }
    service_rates (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Id, service_id -> Id, rate -> Amount, valid_from -> Date,
        valid_to -> Nullable<Date>,
    }
    commits (tenant_id, number) { tenant_id -> Id, number -> BigInt, committed_at -> Moment, user_id -> Id }
    invoices (tenant_id, id) {
        tenant_id -> Id, id -> Id, client_id -> Id, mandate_id -> Nullable<Id>, document -> Text, state -> Text,
        number -> Nullable<Text>, title -> Text, currency -> Text, issued_on -> Nullable<Date>,
        due_on -> Nullable<Date>, supply_from -> Date, supply_to -> Date, net -> Amount, vat -> Amount,
        rounding -> Amount, total -> Amount, origin_invoice_id -> Nullable<Id>, qr_reference -> Nullable<Text>,
        commit_number -> Nullable<BigInt>, open_until -> Date, settled -> Amount, settled_on -> Date, search_text -> Text,
        created_at -> Moment,
    }
    invoice_lines (tenant_id, id) {
        tenant_id -> Id, id -> Id, invoice_id -> Id, position -> Integer, service_id -> Nullable<Id>,
        description -> Text, quantity -> Measure, unit -> Text, unit_price -> Amount, net -> Amount,
        vat_rate_percent -> Percentage, vat -> Amount,
    }
    dispatches (tenant_id, id) { tenant_id -> Id, id -> Id, invoice_id -> Id, channel -> Text, sent_on -> Date }
    payments (tenant_id, id) {
        tenant_id -> Id, id -> Id, invoice_id -> Id, received_on -> Date, amount -> Amount, method -> Text,
        reference -> Nullable<Text>, reverses_id -> Nullable<Id>, commit_number -> BigInt,
    }
    reminders (tenant_id, id) {
        tenant_id -> Id, id -> Id, invoice_id -> Id, level -> Integer, sent_on -> Date, due_on -> Date, fee -> Amount,
        commit_number -> BigInt,
    }
    employees (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Id, number -> Text, first_name -> Text, last_name -> Text,
        birth_date -> Date, avs_number -> Text, iban -> Text, email -> Nullable<Text>, street -> Text,
        house_number -> Text, postal_code -> Text, town -> Text, country -> Text, hired_on -> Date,
        left_on -> Nullable<Date>, sort_name -> Text, search_text -> Text,
    }
    employment_contracts (tenant_id, id) {
        tenant_id -> Id, id -> Id, employee_id -> Id, valid_from -> Date, valid_to -> Nullable<Date>,
        job_title -> Text, pay -> Text, salary -> Amount, currency -> Text, salaries_per_year -> Integer,
        activity_percent -> Percentage, weekly_hours -> Measure, withholding_tax -> Bool,
    }
    payslips (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Id, employee_id -> Id, year -> Integer, month -> Integer,
        state -> Text, currency -> Text, gross -> Amount, deductions -> Amount, allowances -> Amount, net -> Amount,
        employer_charges -> Amount, paid_on -> Nullable<Date>, reverses_id -> Nullable<Id>,
        commit_number -> Nullable<BigInt>,
    }
    payslip_lines (tenant_id, id) {
        tenant_id -> Id, id -> Id, payslip_id -> Id, position -> Integer, kind -> Text, code -> Text, label -> Text,
        base -> Nullable<Amount>, rate_percent -> Nullable<Percentage>, amount -> Amount,
    }
    wage_types (tenant_id, code) { tenant_id -> Id, code -> Text, wage -> Text }
    tax_settings (tenant_id, employee_id, valid_from) {
        tenant_id -> Id, employee_id -> Id, valid_from -> Date, canton -> Text, tariff_code -> Text,
    }
    withholding_tariffs (tenant_id, canton, year, version, tariff_code, income_from) {
        tenant_id -> Id, canton -> Text, year -> Integer, version -> Integer, tariff_code -> Text,
        income_from -> Amount, rate_percent -> Percentage,
    }
    vat_codes (tenant_id, code) {
        tenant_id -> Id, code -> Text, label_fr -> Text, label_de -> Text, label_en -> Text, direction -> Text,
        turnover_figure -> Nullable<Text>, opted_figure -> Nullable<Text>, deduction_figure -> Nullable<Text>,
        input_figure -> Nullable<Text>,
    }
    vat_code_rates (tenant_id, code, valid_from) {
        tenant_id -> Id, code -> Text, valid_from -> Date, valid_to -> Nullable<Date>, rate_percent -> Percentage,
        tax_figure -> Nullable<Text>,
    }
    exchange_rates (tenant_id, currency, valid_on, source) {
        tenant_id -> Id, currency -> Text, valid_on -> Date, source -> Text, rate -> Exchange,
    }
    ledgers (tenant_id, mandate_id) { tenant_id -> Id, mandate_id -> Id, currency -> Text, is_of_firm -> Bool }
    vat_activities (tenant_id, mandate_id, code, valid_from) {
        tenant_id -> Id, mandate_id -> Id, code -> Text, label -> Text, net_rate_percent -> Percentage,
        valid_from -> Date, valid_to -> Nullable<Date>,
    }
    accounts (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Id, number -> Text, label_fr -> Text, label_de -> Text,
        label_en -> Text, kind -> Text, currency -> Nullable<Text>, is_postable -> Bool, is_active -> Bool,
        needs_party -> Bool, vat_activity -> Nullable<Text>, search_text -> Text,
    }
    account_uses (tenant_id, mandate_id, purpose, currency) {
        tenant_id -> Id, mandate_id -> Id, purpose -> Text, currency -> Text, account_id -> Id,
    }
    journals (tenant_id, mandate_id, code) {
        tenant_id -> Id, mandate_id -> Id, code -> Text, label_fr -> Text, label_de -> Text, label_en -> Text,
    }
    fiscal_years (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Id, label -> Text, starts_on -> Date, ends_on -> Date, state -> Text,
        locked_through -> Nullable<Date>,
    }
    entries (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Id, fiscal_year_id -> Id, journal -> Text, number -> Nullable<BigInt>,
        booked_on -> Date, text -> Text, voucher -> Text, state -> Text, source_kind -> Nullable<Text>,
        source_id -> Nullable<Id>, reverses_id -> Nullable<Id>, commit_number -> Nullable<BigInt>,
        idempotency_key -> Nullable<Text>, search_text -> Text, created_by -> Id, created_at -> Moment,
    }
    entry_lines (tenant_id, entry_id, position) {
        tenant_id -> Id, entry_id -> Id, position -> Integer, mandate_id -> Id, booked_on -> Date, account_id -> Id,
        text -> Nullable<Text>, debit -> Amount, credit -> Amount, currency -> Text, currency_debit -> Amount,
        currency_credit -> Amount, exchange_rate -> Nullable<Exchange>, party_client_id -> Nullable<Id>,
        party_name -> Nullable<Text>, vat_code -> Nullable<Text>, vat_part -> Nullable<Text>,
        vat_rate_percent -> Nullable<Percentage>, supplied_on -> Nullable<Date>,
    }
    reconciliations (tenant_id, entry_id, position) {
        tenant_id -> Id, entry_id -> Id, position -> Integer, letter -> Text, reconciled_on -> Date,
    }
    account_balances (tenant_id, mandate_id, account_id, currency, month) {
        tenant_id -> Id, mandate_id -> Id, account_id -> Id, currency -> Text, month -> Date, debit -> Amount,
        credit -> Amount, currency_debit -> Amount, currency_credit -> Amount, line_count -> BigInt,
    }
    project_positions (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Id, number -> Integer, title -> Text, status -> Text,
        budget_hours -> Nullable<Measure>, budget_amount -> Nullable<Amount>, currency -> Text,
        starts_on -> Nullable<Date>, ends_on -> Nullable<Date>,
    }
    project_operations (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Id, position_id -> Id, number -> Integer, title -> Text,
        status -> Text, budget_hours -> Nullable<Measure>, assignee_id -> Nullable<Id>,
    }
    tasks (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Nullable<Id>, title -> Text, description -> Nullable<Text>,
        status -> Text, priority -> Text, due_on -> Nullable<Date>, due_by -> Date, assignee_id -> Nullable<Id>,
        created_by -> Id, created_at -> Moment, done_at -> Nullable<Moment>, search_text -> Text,
    }
    time_entries (tenant_id, id) {
        tenant_id -> Id, id -> Id, person_id -> Id, mandate_id -> Nullable<Id>, service_id -> Nullable<Id>,
        operation_id -> Nullable<Id>, worked_on -> Date, minutes -> Integer, description -> Text, is_billable -> Bool,
        invoice_id -> Nullable<Id>, search_text -> Text, created_at -> Moment,
    }
    documents (tenant_id, id) {
        tenant_id -> Id, id -> Id, client_id -> Id, mandate_id -> Nullable<Id>, name -> Text, kind -> Text,
        dated_on -> Date, filed_on -> Date, media_type -> Text, bytes -> BigInt, sha256 -> Binary,
        is_confidential -> Bool, text -> Text, search_text -> Text,
    }
    bank_statements (tenant_id, id) {
        tenant_id -> Id, id -> Id, mandate_id -> Id, iban -> Text, number -> Text, from_on -> Date, to_on -> Date,
        currency -> Text, opening -> Amount, closing -> Amount, imported_at -> Moment,
    }
    bank_lines (tenant_id, id) {
        tenant_id -> Id, id -> Id, statement_id -> Id, position -> Integer, booked_on -> Date, value_on -> Date,
        amount -> Amount, currency -> Text, reference -> Nullable<Text>, end_to_end_id -> Nullable<Text>,
        debtor_name -> Nullable<Text>, debtor_iban -> Nullable<Text>, text -> Nullable<Text>,
        servicer_reference -> Nullable<Text>, is_reversal -> Bool,
    }
    bank_line_payments (tenant_id, bank_line_id, payment_id) {
        tenant_id -> Id, bank_line_id -> Id, payment_id -> Id,
    }
    proposals (tenant_id, id) {
        tenant_id -> Id, id -> Id, tool -> Text, user_id -> Id, credential -> Text, summary -> Text, arguments -> Text,
        mandate_id -> Nullable<Id>, client_id -> Nullable<Id>, state -> Text, area -> Nullable<Text>,
        created_at -> Moment, expires_at -> Moment, decided_at -> Nullable<Moment>, decided_by -> Nullable<Id>,
    }
    commit_records (tenant_id, commit_number, position) {
        tenant_id -> Id, commit_number -> BigInt, position -> Integer, action -> Text, record_kind -> Text,
        record_id -> Id, mandate_id -> Nullable<Id>, client_id -> Nullable<Id>,
    }
    knowledge_entity_types (tenant_id, code) {
        tenant_id -> Id, code -> Text, label_fr -> Text, label_de -> Text, label_en -> Text,
    }
    knowledge_relation_types (tenant_id, code) {
        tenant_id -> Id, code -> Text, label_fr -> Text, label_de -> Text, label_en -> Text, inverse_fr -> Text,
        inverse_de -> Text, inverse_en -> Text,
    }
    knowledge_entities (tenant_id, id) {
        tenant_id -> Id, id -> Id, type_code -> Text, name -> Text, description -> Text, mandate_id -> Nullable<Id>,
        client_id -> Nullable<Id>, stands_for -> Nullable<Text>, employee_id -> Nullable<Id>, sort_name -> Text,
        search_text -> Text, created_at -> Moment,
    }
    knowledge_relations (tenant_id, id) {
        tenant_id -> Id, id -> Id, type_code -> Text, from_id -> Id, to_id -> Id, valid_from -> Date,
        valid_to -> Nullable<Date>, note -> Nullable<Text>,
    }
    knowledge_anomalies (tenant_id, id) {
        tenant_id -> Id, id -> Id, kind -> Text, severity -> Text, entity_id -> Nullable<Id>,
        relation_id -> Nullable<Id>, text -> Text, state -> Text, found_on -> Date,
    }
    knowledge_embeddings (tenant_id, entity_id, model) {
        tenant_id -> Id, entity_id -> Id, model -> Binary, vector -> Binary,
    }
}

/// What only the administrator's connection touches: the server reads it through the doors below.
pub(crate) mod people {
    use super::{Id, Moment, api_tokens, firms, memberships};

    diesel::table! {
        use diesel::sql_types::{Bool, Text};
        use super::{Id, Moment};
        tenants (id) { id -> Id, slug -> Text, is_active -> Bool, created_at -> Moment, }
    }
    diesel::table! {
        use diesel::sql_types::{Bool, Integer, Nullable, Text};
        use super::{Id, Moment};
        users (id) {
            id -> Id, email -> Text, full_name -> Text, password_hash -> Nullable<Text>, token_version -> Integer,
            is_active -> Bool, created_at -> Moment,
        }
    }
    diesel::table! {
        use diesel::sql_types::Text;
        use super::Id;
        roles (tenant_id, name) { tenant_id -> Id, name -> Text, }
    }
    diesel::table! {
        use diesel::sql_types::Text;
        use super::Id;
        role_permissions (tenant_id, role, permission) { tenant_id -> Id, role -> Text, permission -> Text, }
    }
    diesel::allow_tables_to_appear_in_same_query!(tenants, users);
    diesel::allow_tables_to_appear_in_same_query!(tenants, firms);
    diesel::allow_tables_to_appear_in_same_query!(tenants, memberships);
    diesel::allow_tables_to_appear_in_same_query!(users, memberships);
    diesel::allow_tables_to_appear_in_same_query!(users, api_tokens);
}

/// The identity doors: views, neither reachable nor joinable; only `db::identity` reads them.
pub(crate) mod doors {
    use super::{Id, Moment};

    diesel::table! {
        use diesel::sql_types::{Integer, Nullable, Text};
        use super::Id;
        identities (tenant_id, user_id) {
            tenant_id -> Id, user_id -> Id, slug -> Text, firm_name -> Text, time_zone -> Text, email -> Text,
            display_name -> Text, token_version -> Integer, role -> Text, reach -> Text, language -> Text,
            permissions -> Nullable<Text>,
        }
    }
    diesel::table! {
        use diesel::sql_types::{Binary, Integer, Nullable, Text};
        use super::{Id, Moment};
        credentials (digest) {
            digest -> Binary, token_id -> Id, token_name -> Text, scopes -> Text, expires_at -> Nullable<Moment>,
            last_used_at -> Nullable<Moment>, tenant_id -> Id, user_id -> Id, slug -> Text, firm_name -> Text,
            time_zone -> Text, email -> Text, display_name -> Text, token_version -> Integer, role -> Text,
            reach -> Text, language -> Text, permissions -> Nullable<Text>,
        }
    }
    diesel::table! {
        use diesel::sql_types::{Integer, Text};
        use super::Id;
        sign_ins (email) {
            email -> Text, password_hash -> Text, tenant_id -> Id, user_id -> Id, slug -> Text, firm_name -> Text,
            token_version -> Integer,
        }
    }
}

reachable! {
    tenant: firms, memberships, services, commits, vat_codes, vat_code_rates, exchange_rates, wage_types,
        withholding_tariffs, knowledge_entity_types, knowledge_relation_types;
    living: clients.id through CLIENTS;
    contacts.client_id through CLIENTS,
    addresses.client_id through CLIENTS,
    mandates.id through MANDATES,
    mandate_members.mandate_id through MANDATES,
    service_rates.mandate_id through MANDATES,
    invoices.id through INVOICES,
    invoice_lines.invoice_id through OF_INVOICES,
    dispatches.invoice_id through OF_INVOICES,
    payments.invoice_id through OF_INVOICES,
    reminders.invoice_id through OF_INVOICES,
    employees.mandate_id through MANDATES,
    employment_contracts.employee_id through OF_EMPLOYEES,
    payslips.mandate_id through MANDATES,
    payslip_lines.payslip_id through OF_PAYSLIPS,
    tax_settings.employee_id through OF_EMPLOYEES,
    ledgers.mandate_id through MANDATES,
    vat_activities.mandate_id through MANDATES,
    accounts.mandate_id through MANDATES,
    account_uses.mandate_id through MANDATES,
    journals.mandate_id through MANDATES,
    fiscal_years.mandate_id through MANDATES,
    entries.mandate_id through MANDATES,
    entry_lines.mandate_id through MANDATES,
    reconciliations.entry_id through OF_ENTRIES,
    account_balances.mandate_id through MANDATES,
    project_positions.mandate_id through MANDATES,
    project_operations.mandate_id through MANDATES,
    tasks.id through TASKS,
    time_entries.id through TIME,
    documents.id through DOCUMENTS,
    bank_statements.mandate_id through MANDATES,
    bank_lines.statement_id through OF_STATEMENTS,
    bank_line_payments.payment_id through OF_PAYMENTS,
    proposals.id through PROPOSALS,
    commit_records.mandate_id through COMMIT_RECORDS,
    knowledge_entities.id through KNOWLEDGE_ENTITIES,
    knowledge_relations.id through KNOWLEDGE_RELATIONS,
    knowledge_anomalies.id through KNOWLEDGE_ANOMALIES,
    knowledge_embeddings.entity_id through OF_KNOWLEDGE_ENTITIES,
}
own! { api_tokens.user_id }
searched! { clients, mandates, services, invoices, employees, accounts, entries, tasks, time_entries, documents, knowledge_entities }
tenant_joinable! {
    clients (responsible_id) -> memberships (user_id),
    mandates (client_id) -> clients (id),
    mandates (responsible_id) -> memberships (user_id),
    mandate_members (user_id) -> memberships (user_id),
    invoices (client_id) -> clients (id),
    invoices (mandate_id) -> mandates (id),
    payslips (employee_id) -> employees (id),
    payslip_lines (payslip_id) -> payslips (id),
    ledgers (mandate_id) -> mandates (id),
    entries (created_by) -> memberships (user_id),
    entries (fiscal_year_id) -> fiscal_years (id),
    entry_lines (entry_id) -> entries (id),
    entry_lines (account_id) -> accounts (id),
    account_balances (account_id) -> accounts (id),
    account_uses (account_id) -> accounts (id),
    commits (user_id) -> memberships (user_id),
    project_operations (assignee_id) -> memberships (user_id),
    time_entries (person_id) -> memberships (user_id),
    time_entries (mandate_id) -> mandates (id),
    time_entries (service_id) -> services (id),
    tasks (mandate_id) -> mandates (id),
    tasks (assignee_id) -> memberships (user_id),
    documents (client_id) -> clients (id),
    documents (mandate_id) -> mandates (id),
}
