-- One text for both databases. {id} {money} {most_money} {quantity} {rate} {instant} {date} {bool} {bytes} {sorted} {table} are filled
-- in per database; what must differ stands side by side between --@postgres, --@sqlite and --@both lines.
-- Row-level security, its policies and the grants are derived from the catalogue after every migration (db/walls.rs).

-- Firms and people ---------------------------------------------------------------------------------------------------
CREATE TABLE tenants (
    id {id} NOT NULL PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    is_active {bool} NOT NULL,
    created_at {instant} NOT NULL
) {table};
CREATE TABLE users (
    id {id} NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    full_name TEXT NOT NULL,
    password_hash TEXT,
    token_version INTEGER NOT NULL,
    is_active {bool} NOT NULL,
    created_at {instant} NOT NULL
) {table};
CREATE TABLE firms (
    tenant_id {id} NOT NULL PRIMARY KEY REFERENCES tenants (id),
    name TEXT NOT NULL,
    uid TEXT,
    email TEXT NOT NULL,
    phone TEXT NOT NULL,
    street TEXT NOT NULL,
    house_number TEXT NOT NULL,
    postal_code TEXT NOT NULL,
    town TEXT NOT NULL,
    country TEXT NOT NULL,
    iban TEXT NOT NULL,
    qr_iban TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    payment_term_days INTEGER NOT NULL CHECK (payment_term_days BETWEEN 0 AND 365)
) {table};
CREATE TABLE roles (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    name TEXT NOT NULL,
    PRIMARY KEY (tenant_id, name)
) {table};
CREATE TABLE role_permissions (
    tenant_id {id} NOT NULL,
    role TEXT NOT NULL,
    permission TEXT NOT NULL,
    PRIMARY KEY (tenant_id, role, permission),
    FOREIGN KEY (tenant_id, role) REFERENCES roles (tenant_id, name)
) {table};

-- Clients and mandates -----------------------------------------------------------------------------------------------
CREATE TABLE clients (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    id {id} NOT NULL,
    number TEXT NOT NULL,
    name TEXT NOT NULL,
    legal_form TEXT NOT NULL CHECK (legal_form IN ('individual', 'sole_proprietorship', 'general_partnership',
        'limited_partnership', 'company_limited_by_shares', 'limited_liability_company', 'cooperative', 'association',
        'foundation', 'public_body')),
    uid TEXT,
    status TEXT NOT NULL CHECK (status IN ('prospect', 'active', 'inactive', 'ended')),
    email TEXT,
    phone TEXT,
    language TEXT NOT NULL CHECK (language IN ('fr', 'de', 'it', 'en')),
    responsible_id {id},
    sort_name {sorted} NOT NULL,
    search_text TEXT NOT NULL,
    created_at {instant} NOT NULL,
    deleted_at {instant},
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, number)
) {table};
CREATE INDEX clients_by_name ON clients (tenant_id, sort_name, id);

CREATE TABLE memberships (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    user_id {id} NOT NULL REFERENCES users (id),
    display_name TEXT NOT NULL,
    role TEXT NOT NULL,
    reach TEXT NOT NULL CHECK (reach IN ('all', 'listed', 'client')),
    client_id {id},
    is_active {bool} NOT NULL,
    created_at {instant} NOT NULL,
    PRIMARY KEY (tenant_id, user_id),
    FOREIGN KEY (tenant_id, role) REFERENCES roles (tenant_id, name),
    FOREIGN KEY (tenant_id, client_id) REFERENCES clients (tenant_id, id),
    CHECK ((reach = 'client') = (client_id IS NOT NULL))
) {table};
CREATE TABLE api_tokens (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    user_id {id} NOT NULL,
    name TEXT NOT NULL,
    digest {bytes} NOT NULL,
    suffix TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at {instant} NOT NULL,
    expires_at {instant},
    revoked_at {instant},
    last_used_at {instant},
    last_used_from TEXT,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, digest),
    FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id)
) {table};
CREATE INDEX api_tokens_by_digest ON api_tokens (digest);

CREATE TABLE contacts (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    client_id {id} NOT NULL,
    full_name TEXT NOT NULL,
    job_title TEXT,
    email TEXT,
    phone TEXT,
    is_primary {bool} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, client_id) REFERENCES clients (tenant_id, id)
) {table};
CREATE INDEX contacts_of_client ON contacts (tenant_id, client_id);
CREATE TABLE addresses (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    client_id {id} NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('main', 'billing', 'other')),
    street TEXT NOT NULL,
    house_number TEXT NOT NULL,
    postal_code TEXT NOT NULL,
    town TEXT NOT NULL,
    country TEXT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, client_id) REFERENCES clients (tenant_id, id)
) {table};
CREATE INDEX addresses_of_client ON addresses (tenant_id, client_id);
CREATE UNIQUE INDEX addresses_main ON addresses (tenant_id, client_id) WHERE kind = 'main';

CREATE TABLE mandates (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    client_id {id} NOT NULL,
    number {sorted} NOT NULL,
    title TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('accounting', 'payroll', 'vat', 'tax', 'audit', 'advisory')),
    status TEXT NOT NULL CHECK (status IN ('prospective', 'active', 'suspended', 'ended')),
    responsible_id {id},
    starts_on {date} NOT NULL,
    ends_on {date},
    billing TEXT NOT NULL CHECK (billing IN ('hourly', 'flat_fee', 'not_billed')),
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    flat_fee {money},
    budget_amount {money},
    budget_hours {quantity},
    fiscal_year_end_month INTEGER NOT NULL CHECK (fiscal_year_end_month BETWEEN 1 AND 12),
    vat_method TEXT NOT NULL CHECK (vat_method IN ('not_liable', 'effective', 'net_rate')),
    vat_period TEXT CHECK (vat_period IN ('month', 'quarter', 'half', 'year')),
    vat_net_rate {rate},
    search_text TEXT NOT NULL,
    created_at {instant} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, number),
    UNIQUE (tenant_id, id, client_id),
    FOREIGN KEY (tenant_id, client_id) REFERENCES clients (tenant_id, id),
    FOREIGN KEY (tenant_id, responsible_id) REFERENCES memberships (tenant_id, user_id),
    CHECK ((vat_method = 'not_liable') = (vat_period IS NULL)),
    CHECK ((vat_method = 'net_rate') = (vat_net_rate IS NOT NULL)),
    CHECK ((billing = 'flat_fee') = (flat_fee IS NOT NULL))
) {table};
CREATE INDEX mandates_of_client ON mandates (tenant_id, client_id);
CREATE TABLE mandate_members (
    tenant_id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    user_id {id} NOT NULL,
    duty TEXT NOT NULL CHECK (duty IN ('lead', 'accountant', 'payroll', 'assistant', 'reviewer')),
    PRIMARY KEY (tenant_id, mandate_id, user_id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id)
) {table};
CREATE TABLE reach (
    tenant_id {id} NOT NULL,
    user_id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    PRIMARY KEY (tenant_id, user_id, mandate_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id)
) {table};
CREATE TABLE services (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    id {id} NOT NULL,
    code {sorted} NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('hour', 'piece', 'month', 'flat')),
    rate {money} NOT NULL,
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    vat_rate_percent {rate} NOT NULL,
    is_active {bool} NOT NULL,
    search_text TEXT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, code)
) {table};
CREATE TABLE service_rates (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    service_id {id} NOT NULL,
    rate {money} NOT NULL,
    valid_from {date} NOT NULL,
    valid_to {date},
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, mandate_id, service_id, valid_from),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    FOREIGN KEY (tenant_id, service_id) REFERENCES services (tenant_id, id),
    CHECK (valid_to IS NULL OR valid_to >= valid_from)
) {table};

-- Postings: one gap-free number per firm and business transaction ----------------------------------------------------
CREATE TABLE commits (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    number BIGINT NOT NULL CHECK (number >= 1),
    committed_at {instant} NOT NULL,
    user_id {id} NOT NULL,
    PRIMARY KEY (tenant_id, number),
    FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id)
) {table};

-- Sales documents ----------------------------------------------------------------------------------------------------
-- `open_until` only helps to find what is open: from that day on, nothing is, by the payments and credit
-- notes known so far. Triggers keep it with every posting; what is open is always computed from the records themselves.
CREATE TABLE invoices (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    client_id {id} NOT NULL,
    mandate_id {id},
    document TEXT NOT NULL CHECK (document IN ('invoice', 'quote', 'pro_forma', 'credit_note')),
    state TEXT NOT NULL CHECK (state IN ('draft', 'issued')),
    number {sorted},
    title TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    issued_on {date},
    due_on {date},
    supply_from {date} NOT NULL,
    supply_to {date} NOT NULL,
    net {money} NOT NULL,
    vat {money} NOT NULL,
    rounding {money} NOT NULL,
    total {money} NOT NULL,
    origin_invoice_id {id},
    qr_reference TEXT,
    commit_number BIGINT,
    open_until {date} NOT NULL DEFAULT '9999-12-31',
    search_text TEXT NOT NULL,
    created_at {instant} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, number),
    UNIQUE (tenant_id, id, client_id, currency),
    FOREIGN KEY (tenant_id, client_id) REFERENCES clients (tenant_id, id),
    FOREIGN KEY (tenant_id, mandate_id, client_id) REFERENCES mandates (tenant_id, id, client_id),
    FOREIGN KEY (tenant_id, origin_invoice_id, client_id, currency) REFERENCES invoices (tenant_id, id, client_id, currency),
    FOREIGN KEY (tenant_id, commit_number) REFERENCES commits (tenant_id, number),
    CHECK (total = net + vat + rounding),
    CHECK (abs(total) <= {most_money}),
    CHECK (supply_to >= supply_from),
    CHECK ((document = 'credit_note') = (origin_invoice_id IS NOT NULL)),
    CHECK (state = 'draft' OR (number IS NOT NULL AND issued_on IS NOT NULL AND commit_number IS NOT NULL)),
    CHECK (state = 'draft' OR document <> 'invoice' OR due_on IS NOT NULL)
) {table};
CREATE INDEX invoices_of_client ON invoices (tenant_id, client_id);
CREATE INDEX invoices_of_mandate ON invoices (tenant_id, mandate_id);
CREATE INDEX invoices_by_issue ON invoices (tenant_id, issued_on, id);
CREATE INDEX invoices_by_origin ON invoices (tenant_id, origin_invoice_id, issued_on, total)
    WHERE origin_invoice_id IS NOT NULL AND state = 'issued';
CREATE INDEX invoices_open ON invoices (tenant_id, open_until) WHERE document = 'invoice' AND state = 'issued';
CREATE TABLE invoice_lines (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    invoice_id {id} NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 1),
    service_id {id},
    description TEXT NOT NULL,
    quantity {quantity} NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('hour', 'piece', 'month', 'flat')),
    unit_price {money} NOT NULL,
    net {money} NOT NULL,
    vat_rate_percent {rate} NOT NULL,
    vat {money} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, invoice_id, position),
    FOREIGN KEY (tenant_id, invoice_id) REFERENCES invoices (tenant_id, id),
    FOREIGN KEY (tenant_id, service_id) REFERENCES services (tenant_id, id)
) {table};
CREATE TABLE dispatches (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    invoice_id {id} NOT NULL,
    channel TEXT NOT NULL CHECK (channel IN ('email', 'post', 'ebill')),
    sent_on {date} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, invoice_id) REFERENCES invoices (tenant_id, id)
) {table};
CREATE INDEX dispatches_of_invoice ON dispatches (tenant_id, invoice_id);
CREATE TABLE payments (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    invoice_id {id} NOT NULL,
    received_on {date} NOT NULL,
    amount {money} NOT NULL,
    method TEXT NOT NULL CHECK (method IN ('bank', 'cash', 'card', 'twint', 'other')),
    reference TEXT,
    reverses_id {id},
    commit_number BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, reverses_id),
    FOREIGN KEY (tenant_id, invoice_id) REFERENCES invoices (tenant_id, id),
    FOREIGN KEY (tenant_id, reverses_id) REFERENCES payments (tenant_id, id),
    FOREIGN KEY (tenant_id, commit_number) REFERENCES commits (tenant_id, number),
    CHECK (amount <> 0),
    CHECK (abs(amount) <= {most_money}),
    CHECK ((reverses_id IS NULL) = (amount > 0))
) {table};
CREATE INDEX payments_of_invoice ON payments (tenant_id, invoice_id, received_on, amount);
CREATE TABLE reminders (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    invoice_id {id} NOT NULL,
    level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 4),
    sent_on {date} NOT NULL,
    due_on {date} NOT NULL,
    fee {money} NOT NULL CHECK (fee >= 0),
    commit_number BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, invoice_id, level),
    FOREIGN KEY (tenant_id, invoice_id) REFERENCES invoices (tenant_id, id),
    FOREIGN KEY (tenant_id, commit_number) REFERENCES commits (tenant_id, number)
) {table};

-- Payroll ------------------------------------------------------------------------------------------------------------
CREATE TABLE employees (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    number TEXT NOT NULL,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    birth_date {date} NOT NULL,
    avs_number TEXT NOT NULL,
    iban TEXT NOT NULL,
    email TEXT,
    street TEXT NOT NULL,
    house_number TEXT NOT NULL,
    postal_code TEXT NOT NULL,
    town TEXT NOT NULL,
    country TEXT NOT NULL,
    hired_on {date} NOT NULL,
    left_on {date},
    sort_name {sorted} NOT NULL,
    search_text TEXT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, mandate_id, number),
    UNIQUE (tenant_id, id, mandate_id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    CHECK (left_on IS NULL OR left_on >= hired_on)
) {table};
CREATE INDEX employees_by_name ON employees (tenant_id, mandate_id, sort_name, id);
CREATE TABLE employment_contracts (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    employee_id {id} NOT NULL,
    valid_from {date} NOT NULL,
    valid_to {date},
    job_title TEXT NOT NULL,
    pay TEXT NOT NULL CHECK (pay IN ('monthly', 'hourly')),
    salary {money} NOT NULL CHECK (salary > 0),
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    salaries_per_year INTEGER NOT NULL CHECK (salaries_per_year IN (12, 13)),
    activity_percent {rate} NOT NULL,
    weekly_hours {quantity} NOT NULL,
    withholding_tax {bool} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, employee_id, valid_from),
    FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id),
    CHECK (valid_to IS NULL OR valid_to >= valid_from)
) {table};
CREATE TABLE payslips (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    employee_id {id} NOT NULL,
    year INTEGER NOT NULL CHECK (year BETWEEN 1900 AND 2199),
    month INTEGER NOT NULL CHECK (month BETWEEN 1 AND 12),
    state TEXT NOT NULL CHECK (state IN ('draft', 'final')),
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    gross {money} NOT NULL,
    deductions {money} NOT NULL,
    allowances {money} NOT NULL,
    net {money} NOT NULL,
    employer_charges {money} NOT NULL,
    paid_on {date},
    reverses_id {id},
    commit_number BIGINT,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, reverses_id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    FOREIGN KEY (tenant_id, employee_id, mandate_id) REFERENCES employees (tenant_id, id, mandate_id),
    FOREIGN KEY (tenant_id, reverses_id) REFERENCES payslips (tenant_id, id),
    FOREIGN KEY (tenant_id, commit_number) REFERENCES commits (tenant_id, number),
    CHECK (net = gross - deductions + allowances),
    CHECK (abs(gross) <= {most_money}),
    CHECK ((state = 'final') = (commit_number IS NOT NULL))
) {table};
CREATE INDEX payslips_by_month ON payslips (tenant_id, mandate_id, year, month);
CREATE INDEX payslips_of_employee ON payslips (tenant_id, employee_id, year, month);
CREATE TABLE payslip_lines (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    payslip_id {id} NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 1),
    kind TEXT NOT NULL CHECK (kind IN ('earning', 'deduction', 'allowance', 'employer_charge')),
    code TEXT NOT NULL,
    label TEXT NOT NULL,
    base {money},
    rate_percent {rate},
    amount {money} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, payslip_id, position),
    FOREIGN KEY (tenant_id, payslip_id) REFERENCES payslips (tenant_id, id)
) {table};

-- The identity doors: all that the serving role may read before it knows the tenant, and only what is active now. On
-- PostgreSQL a view reads with the rights of its owner (BYPASSRLS); on SQLite a view in main is not shadowed by the
-- TEMP views of the wall.
CREATE VIEW identities AS
    SELECT m.tenant_id, m.user_id, t.slug, f.name AS firm_name, f.time_zone, u.email, m.display_name, u.token_version,
           m.role, m.reach,
           (SELECT {words}(p.permission, ' ') FROM role_permissions p
             WHERE p.tenant_id = m.tenant_id AND p.role = m.role) AS permissions
    FROM memberships m
    JOIN tenants t ON t.id = m.tenant_id AND t.is_active
    JOIN users u ON u.id = m.user_id AND u.is_active
    JOIN firms f ON f.tenant_id = m.tenant_id
    WHERE m.is_active;
CREATE VIEW credentials AS
    SELECT k.digest, k.id AS token_id, k.name AS token_name, k.scopes, k.expires_at, k.last_used_at, i.*
    FROM api_tokens k
    JOIN identities i ON i.tenant_id = k.tenant_id AND i.user_id = k.user_id
    WHERE k.revoked_at IS NULL;
CREATE VIEW sign_ins AS
    SELECT u.email, u.password_hash, i.tenant_id, i.user_id, i.slug, i.firm_name, i.token_version
    FROM users u
    JOIN identities i ON i.user_id = u.id
    WHERE u.password_hash IS NOT NULL;

-- Business records are append-only: a correction is a new record that names the old one ------------------------------
--@postgres
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION refuse_sealed_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND (SELECT state FROM invoices WHERE tenant_id = OLD.tenant_id AND id = OLD.invoice_id) <> 'draft'
       OR TG_OP <> 'DELETE' AND (SELECT state FROM invoices WHERE tenant_id = NEW.tenant_id AND id = NEW.invoice_id) <> 'draft' THEN
        RAISE EXCEPTION '% of a sealed record are append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE FUNCTION refuse_sealed_payslip() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND (SELECT state FROM payslips WHERE tenant_id = OLD.tenant_id AND id = OLD.payslip_id) <> 'draft'
       OR TG_OP <> 'DELETE' AND (SELECT state FROM payslips WHERE tenant_id = NEW.tenant_id AND id = NEW.payslip_id) <> 'draft' THEN
        RAISE EXCEPTION '% of a sealed record are append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE FUNCTION refuse_gap() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE latest bigint;
BEGIN
    EXECUTE format('SELECT coalesce(max(number), 0) FROM %I.%I WHERE tenant_id = $1', TG_TABLE_SCHEMA, TG_TABLE_NAME)
        INTO latest USING NEW.tenant_id;
    IF NEW.number <> latest + 1 THEN
        RAISE EXCEPTION '% are numbered without a gap', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER commits_append_only BEFORE UPDATE OR DELETE ON commits
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER commits_gap_free BEFORE INSERT ON commits
    FOR EACH ROW EXECUTE FUNCTION refuse_gap();
CREATE TRIGGER invoices_append_only BEFORE DELETE OR UPDATE OF tenant_id, id, client_id, mandate_id, document, state, number, title, currency, issued_on, due_on, supply_from,
    supply_to, net, vat, rounding, total, origin_invoice_id, qr_reference, commit_number, search_text, created_at ON invoices
    FOR EACH ROW WHEN (OLD.state = 'issued') EXECUTE FUNCTION refuse_change();
CREATE FUNCTION settle(tenant uuid, invoice uuid) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    -- The row is locked before anything is read, so that what another posting commits meanwhile is counted.
    PERFORM 1 FROM invoices WHERE tenant_id = tenant AND id = invoice FOR UPDATE;
    UPDATE invoices i SET open_until = (
        SELECT CASE WHEN i.total = coalesce(sum(e.amount), 0) THEN greatest(i.issued_on, max(e.day)) ELSE '9999-12-31' END
        FROM (SELECT amount, received_on AS day FROM payments WHERE tenant_id = tenant AND invoice_id = invoice
              UNION ALL SELECT total, issued_on FROM invoices
              WHERE tenant_id = tenant AND origin_invoice_id = invoice AND state = 'issued') AS e)
    WHERE i.tenant_id = tenant AND i.id = invoice;
END $$;
REVOKE EXECUTE ON FUNCTION settle FROM PUBLIC;
CREATE FUNCTION settle_by_payment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM settle(NEW.tenant_id, NEW.invoice_id);
    RETURN NULL;
END $$;
CREATE FUNCTION settle_by_credit_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM settle(NEW.tenant_id, NEW.origin_invoice_id);
    RETURN NULL;
END $$;
CREATE FUNCTION refuse_unissued() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE invoice uuid := (to_jsonb(NEW)->>TG_ARGV[0])::uuid;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM invoices WHERE tenant_id = NEW.tenant_id AND id = invoice
                   AND document = 'invoice' AND state = 'issued') THEN
        RAISE EXCEPTION '% needs an issued invoice', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payments_on_issued BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION refuse_unissued('invoice_id');
CREATE TRIGGER reminders_on_issued BEFORE INSERT ON reminders FOR EACH ROW EXECUTE FUNCTION refuse_unissued('invoice_id');
CREATE TRIGGER credit_notes_on_issued BEFORE INSERT OR UPDATE OF state ON invoices
    FOR EACH ROW WHEN (NEW.origin_invoice_id IS NOT NULL AND NEW.state = 'issued')
    EXECUTE FUNCTION refuse_unissued('origin_invoice_id');
CREATE TRIGGER payments_settle AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION settle_by_payment();
CREATE TRIGGER credit_notes_settle AFTER INSERT OR UPDATE OF state ON invoices
    FOR EACH ROW WHEN (NEW.origin_invoice_id IS NOT NULL AND NEW.state = 'issued') EXECUTE FUNCTION settle_by_credit_note();
CREATE TRIGGER invoice_lines_append_only BEFORE INSERT OR UPDATE OR DELETE ON invoice_lines
    FOR EACH ROW EXECUTE FUNCTION refuse_sealed_invoice();
CREATE TRIGGER dispatches_append_only BEFORE UPDATE OR DELETE ON dispatches
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payments_append_only BEFORE UPDATE OR DELETE ON payments
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER reminders_append_only BEFORE UPDATE OR DELETE ON reminders
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payslips_append_only BEFORE UPDATE OR DELETE ON payslips
    FOR EACH ROW WHEN (OLD.state = 'final') EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payslip_lines_append_only BEFORE INSERT OR UPDATE OR DELETE ON payslip_lines
    FOR EACH ROW EXECUTE FUNCTION refuse_sealed_payslip();
--@sqlite
CREATE TRIGGER commits_keep BEFORE UPDATE ON commits
    BEGIN SELECT RAISE(ABORT, 'commits is append-only'); END;
CREATE TRIGGER commits_stay BEFORE DELETE ON commits
    BEGIN SELECT RAISE(ABORT, 'commits is append-only'); END;
CREATE TRIGGER commits_gap_free BEFORE INSERT ON commits
    WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM commits WHERE tenant_id = NEW.tenant_id)
    BEGIN SELECT RAISE(ABORT, 'commits are numbered without a gap'); END;
CREATE TRIGGER invoices_keep BEFORE UPDATE OF tenant_id, id, client_id, mandate_id, document, state, number, title, currency, issued_on, due_on, supply_from,
    supply_to, net, vat, rounding, total, origin_invoice_id, qr_reference, commit_number, search_text, created_at ON invoices WHEN OLD.state = 'issued'
    BEGIN SELECT RAISE(ABORT, 'invoices is append-only'); END;
CREATE TRIGGER invoices_stay BEFORE DELETE ON invoices WHEN OLD.state = 'issued'
    BEGIN SELECT RAISE(ABORT, 'invoices is append-only'); END;
CREATE TRIGGER invoice_lines_add BEFORE INSERT ON invoice_lines
    WHEN (SELECT state FROM invoices WHERE tenant_id = NEW.tenant_id AND id = NEW.invoice_id) <> 'draft'
    BEGIN SELECT RAISE(ABORT, 'invoice_lines of a sealed record are append-only'); END;
CREATE TRIGGER invoice_lines_keep BEFORE UPDATE ON invoice_lines
    WHEN (SELECT state FROM invoices WHERE tenant_id = OLD.tenant_id AND id = OLD.invoice_id) <> 'draft'
      OR (SELECT state FROM invoices WHERE tenant_id = NEW.tenant_id AND id = NEW.invoice_id) <> 'draft'
    BEGIN SELECT RAISE(ABORT, 'invoice_lines of a sealed record are append-only'); END;
CREATE TRIGGER invoice_lines_stay BEFORE DELETE ON invoice_lines
    WHEN (SELECT state FROM invoices WHERE tenant_id = OLD.tenant_id AND id = OLD.invoice_id) <> 'draft'
    BEGIN SELECT RAISE(ABORT, 'invoice_lines of a sealed record are append-only'); END;
CREATE TRIGGER dispatches_keep BEFORE UPDATE ON dispatches
    BEGIN SELECT RAISE(ABORT, 'dispatches is append-only'); END;
CREATE TRIGGER dispatches_stay BEFORE DELETE ON dispatches
    BEGIN SELECT RAISE(ABORT, 'dispatches is append-only'); END;
CREATE TRIGGER payments_on_issued BEFORE INSERT ON payments WHEN NOT EXISTS
    (SELECT 1 FROM invoices i WHERE i.tenant_id = NEW.tenant_id AND i.id = NEW.invoice_id AND i.document = 'invoice' AND i.state = 'issued')
    BEGIN SELECT RAISE(ABORT, 'payments needs an issued invoice'); END;
CREATE TRIGGER reminders_on_issued BEFORE INSERT ON reminders WHEN NOT EXISTS
    (SELECT 1 FROM invoices i WHERE i.tenant_id = NEW.tenant_id AND i.id = NEW.invoice_id AND i.document = 'invoice' AND i.state = 'issued')
    BEGIN SELECT RAISE(ABORT, 'reminders needs an issued invoice'); END;
CREATE TRIGGER credit_notes_on_issued_at_once BEFORE INSERT ON invoices WHEN NEW.origin_invoice_id IS NOT NULL AND NEW.state = 'issued' AND NOT EXISTS
    (SELECT 1 FROM invoices i WHERE i.tenant_id = NEW.tenant_id AND i.id = NEW.origin_invoice_id AND i.document = 'invoice' AND i.state = 'issued')
    BEGIN SELECT RAISE(ABORT, 'invoices needs an issued invoice'); END;
CREATE TRIGGER credit_notes_on_issued BEFORE UPDATE OF state ON invoices WHEN NEW.origin_invoice_id IS NOT NULL AND NEW.state = 'issued' AND NOT EXISTS
    (SELECT 1 FROM invoices i WHERE i.tenant_id = NEW.tenant_id AND i.id = NEW.origin_invoice_id AND i.document = 'invoice' AND i.state = 'issued')
    BEGIN SELECT RAISE(ABORT, 'invoices needs an issued invoice'); END;
CREATE TRIGGER payments_settle AFTER INSERT ON payments BEGIN
    UPDATE invoices SET open_until = (
        SELECT CASE WHEN invoices.total = coalesce(sum(e.amount), 0) THEN max(invoices.issued_on, max(e.day)) ELSE '9999-12-31' END
        FROM (SELECT p.amount, p.received_on AS day FROM payments p WHERE p.tenant_id = NEW.tenant_id AND p.invoice_id = NEW.invoice_id
              UNION ALL SELECT c.total, c.issued_on FROM invoices c
              WHERE c.tenant_id = NEW.tenant_id AND c.origin_invoice_id = NEW.invoice_id AND c.state = 'issued') AS e)
    WHERE tenant_id = NEW.tenant_id AND id = NEW.invoice_id;
END;
CREATE TRIGGER credit_notes_settle_at_once AFTER INSERT ON invoices
    WHEN NEW.origin_invoice_id IS NOT NULL AND NEW.state = 'issued' BEGIN
    UPDATE invoices SET open_until = (
        SELECT CASE WHEN invoices.total = coalesce(sum(e.amount), 0) THEN max(invoices.issued_on, max(e.day)) ELSE '9999-12-31' END
        FROM (SELECT p.amount, p.received_on AS day FROM payments p WHERE p.tenant_id = NEW.tenant_id AND p.invoice_id = NEW.origin_invoice_id
              UNION ALL SELECT c.total, c.issued_on FROM invoices c
              WHERE c.tenant_id = NEW.tenant_id AND c.origin_invoice_id = NEW.origin_invoice_id AND c.state = 'issued') AS e)
    WHERE tenant_id = NEW.tenant_id AND id = NEW.origin_invoice_id;
END;
CREATE TRIGGER credit_notes_settle AFTER UPDATE OF state ON invoices
    WHEN NEW.origin_invoice_id IS NOT NULL AND NEW.state = 'issued' BEGIN
    UPDATE invoices SET open_until = (
        SELECT CASE WHEN invoices.total = coalesce(sum(e.amount), 0) THEN max(invoices.issued_on, max(e.day)) ELSE '9999-12-31' END
        FROM (SELECT p.amount, p.received_on AS day FROM payments p WHERE p.tenant_id = NEW.tenant_id AND p.invoice_id = NEW.origin_invoice_id
              UNION ALL SELECT c.total, c.issued_on FROM invoices c
              WHERE c.tenant_id = NEW.tenant_id AND c.origin_invoice_id = NEW.origin_invoice_id AND c.state = 'issued') AS e)
    WHERE tenant_id = NEW.tenant_id AND id = NEW.origin_invoice_id;
END;
CREATE TRIGGER payments_keep BEFORE UPDATE ON payments
    BEGIN SELECT RAISE(ABORT, 'payments is append-only'); END;
CREATE TRIGGER payments_stay BEFORE DELETE ON payments
    BEGIN SELECT RAISE(ABORT, 'payments is append-only'); END;
CREATE TRIGGER reminders_keep BEFORE UPDATE ON reminders
    BEGIN SELECT RAISE(ABORT, 'reminders is append-only'); END;
CREATE TRIGGER reminders_stay BEFORE DELETE ON reminders
    BEGIN SELECT RAISE(ABORT, 'reminders is append-only'); END;
CREATE TRIGGER payslips_keep BEFORE UPDATE ON payslips WHEN OLD.state = 'final'
    BEGIN SELECT RAISE(ABORT, 'payslips is append-only'); END;
CREATE TRIGGER payslips_stay BEFORE DELETE ON payslips WHEN OLD.state = 'final'
    BEGIN SELECT RAISE(ABORT, 'payslips is append-only'); END;
CREATE TRIGGER payslip_lines_add BEFORE INSERT ON payslip_lines
    WHEN (SELECT state FROM payslips WHERE tenant_id = NEW.tenant_id AND id = NEW.payslip_id) <> 'draft'
    BEGIN SELECT RAISE(ABORT, 'payslip_lines of a sealed record are append-only'); END;
CREATE TRIGGER payslip_lines_keep BEFORE UPDATE ON payslip_lines
    WHEN (SELECT state FROM payslips WHERE tenant_id = OLD.tenant_id AND id = OLD.payslip_id) <> 'draft'
      OR (SELECT state FROM payslips WHERE tenant_id = NEW.tenant_id AND id = NEW.payslip_id) <> 'draft'
    BEGIN SELECT RAISE(ABORT, 'payslip_lines of a sealed record are append-only'); END;
CREATE TRIGGER payslip_lines_stay BEFORE DELETE ON payslip_lines
    WHEN (SELECT state FROM payslips WHERE tenant_id = OLD.tenant_id AND id = OLD.payslip_id) <> 'draft'
    BEGIN SELECT RAISE(ABORT, 'payslip_lines of a sealed record are append-only'); END;
--@both
