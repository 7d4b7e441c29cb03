-- The books: charts of accounts, fiscal years, entries and their lines, VAT codes, exchange rates; the language of members.
-- The rules of double entry hold here too, whoever writes the SQL: an entry is written as a draft with its lines and
-- becomes part of the books by one UPDATE to `posted`, which is refused unless everything about it is right.

-- The language in which a member is answered -------------------------------------------------------------------------
ALTER TABLE memberships ADD COLUMN language TEXT NOT NULL DEFAULT 'fr' CHECK (language IN ('fr', 'de', 'en'));
DROP VIEW sign_ins;
DROP VIEW credentials;
DROP VIEW identities;
CREATE VIEW identities AS
    SELECT m.tenant_id, m.user_id, t.slug, f.name AS firm_name, f.time_zone, u.email, m.display_name, u.token_version,
           m.role, m.reach, m.language,
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

-- VAT codes and exchange rates of a firm -----------------------------------------------------------------------------
-- `turnover_figure` collects the base of output codes (200), `deduction_figure` takes part of it out again (220 to 280),
-- `input_figure` collects input tax (400 to 420). The tax figure belongs to the rate, since it changes with it (302, 303).
CREATE TABLE vat_codes (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    code {sorted} NOT NULL,
    label_fr TEXT NOT NULL,
    label_de TEXT NOT NULL,
    label_en TEXT NOT NULL,
    direction TEXT NOT NULL CHECK (direction IN ('output', 'input', 'acquisition', 'none')),
    turnover_figure TEXT,
    opted_figure TEXT,
    deduction_figure TEXT,
    input_figure TEXT,
    PRIMARY KEY (tenant_id, code)
) {table};
CREATE TABLE vat_code_rates (
    tenant_id {id} NOT NULL,
    code {sorted} NOT NULL,
    valid_from {date} NOT NULL,
    valid_to {date},
    rate_percent {rate} NOT NULL CHECK (rate_percent >= 0),
    tax_figure TEXT,
    PRIMARY KEY (tenant_id, code, valid_from),
    FOREIGN KEY (tenant_id, code) REFERENCES vat_codes (tenant_id, code),
    CHECK (valid_to IS NULL OR valid_to >= valid_from)
) {table};
CREATE TABLE exchange_rates (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    valid_on {date} NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('daily', 'monthly_average', 'closing')),
    rate {exchange} NOT NULL CHECK (rate > 0),
    PRIMARY KEY (tenant_id, currency, valid_on, source)
) {table};

-- Ledgers and their charts -------------------------------------------------------------------------------------------
-- A mandate with a row here keeps books; one mandate of a firm holds the firm's own.
CREATE TABLE ledgers (
    tenant_id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    is_of_firm {bool} NOT NULL,
    PRIMARY KEY (tenant_id, mandate_id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id)
) {table};
CREATE UNIQUE INDEX ledgers_of_firm ON ledgers (tenant_id) WHERE is_of_firm;
-- Net-rate VAT: the activities of a mandate, each with the rate that the tax administration granted.
CREATE TABLE vat_activities (
    tenant_id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    code {sorted} NOT NULL,
    label TEXT NOT NULL,
    net_rate_percent {rate} NOT NULL CHECK (net_rate_percent >= 0),
    valid_from {date} NOT NULL,
    valid_to {date},
    PRIMARY KEY (tenant_id, mandate_id, code, valid_from),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES ledgers (tenant_id, mandate_id),
    CHECK (valid_to IS NULL OR valid_to >= valid_from)
) {table};
-- `number` is text: firms add digits of their own. An account with a currency is kept in that currency alone.
CREATE TABLE accounts (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    number {sorted} NOT NULL CHECK (length(number) BETWEEN 3 AND 10),
    label_fr TEXT NOT NULL,
    label_de TEXT NOT NULL,
    label_en TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('asset', 'liability', 'equity', 'income', 'expense', 'closing')),
    currency TEXT CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    is_postable {bool} NOT NULL,
    is_active {bool} NOT NULL,
    needs_party {bool} NOT NULL,
    vat_activity TEXT,
    search_text TEXT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, mandate_id, number),
    UNIQUE (tenant_id, mandate_id, id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES ledgers (tenant_id, mandate_id)
) {table};
-- Which account a rule posts to: receivables of a currency, VAT due, wages clearing.
CREATE TABLE account_uses (
    tenant_id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    purpose TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    account_id {id} NOT NULL,
    PRIMARY KEY (tenant_id, mandate_id, purpose, currency),
    FOREIGN KEY (tenant_id, mandate_id, account_id) REFERENCES accounts (tenant_id, mandate_id, id)
) {table};
CREATE TABLE journals (
    tenant_id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    code {sorted} NOT NULL,
    label_fr TEXT NOT NULL,
    label_de TEXT NOT NULL,
    label_en TEXT NOT NULL,
    PRIMARY KEY (tenant_id, mandate_id, code),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES ledgers (tenant_id, mandate_id)
) {table};
-- Nothing is posted on or before `locked_through`, nor in a closed year; a provisionally closed one takes adjustments.
CREATE TABLE fiscal_years (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    label TEXT NOT NULL,
    starts_on {date} NOT NULL,
    ends_on {date} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'provisionally_closed', 'closed')),
    locked_through {date},
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, mandate_id, starts_on),
    UNIQUE (tenant_id, mandate_id, id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES ledgers (tenant_id, mandate_id),
    CHECK (ends_on > starts_on)
) {table};

-- Entries ------------------------------------------------------------------------------------------------------------
-- `number` counts without a gap per mandate, fiscal year and journal; `source_kind` and `source_id` name the record that
-- the entry books.
CREATE TABLE entries (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    fiscal_year_id {id} NOT NULL,
    journal {sorted} NOT NULL,
    number BIGINT CHECK (number >= 1),
    booked_on {date} NOT NULL,
    text TEXT NOT NULL,
    voucher TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('draft', 'posted')),
    source_kind TEXT CHECK (source_kind IN ('invoice', 'payment', 'payslip', 'vat_return', 'bank_line')),
    source_id {id},
    reverses_id {id},
    commit_number BIGINT,
    idempotency_key TEXT,
    search_text TEXT NOT NULL,
    created_by {id} NOT NULL,
    created_at {instant} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, mandate_id, id, booked_on),
    UNIQUE (tenant_id, mandate_id, fiscal_year_id, journal, number),
    UNIQUE (tenant_id, reverses_id),
    UNIQUE (tenant_id, idempotency_key),
    FOREIGN KEY (tenant_id, mandate_id, fiscal_year_id) REFERENCES fiscal_years (tenant_id, mandate_id, id),
    FOREIGN KEY (tenant_id, mandate_id, journal) REFERENCES journals (tenant_id, mandate_id, code),
    FOREIGN KEY (tenant_id, reverses_id) REFERENCES entries (tenant_id, id),
    FOREIGN KEY (tenant_id, commit_number) REFERENCES commits (tenant_id, number),
    FOREIGN KEY (tenant_id, created_by) REFERENCES memberships (tenant_id, user_id),
    CHECK ((state = 'draft') = (commit_number IS NULL)),
    CHECK ((state = 'draft') = (number IS NULL)),
    CHECK ((source_kind IS NULL) = (source_id IS NULL)),
    CHECK ((journal = 'EXT') = (reverses_id IS NOT NULL))
) {table};
CREATE INDEX entries_by_day ON entries (tenant_id, mandate_id, booked_on, id);
CREATE INDEX entries_by_commit ON entries (tenant_id, mandate_id, commit_number);
CREATE INDEX entries_of_source ON entries (tenant_id, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX entries_drafted ON entries (tenant_id, mandate_id, booked_on) WHERE state = 'draft';
-- `debit` and `credit` are in the currency of the books; the other two in that of the line, at `exchange_rate` books per
-- unit. `vat_part` tells the taxed amount from the tax.
CREATE TABLE entry_lines (
    tenant_id {id} NOT NULL,
    entry_id {id} NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 1),
    mandate_id {id} NOT NULL,
    booked_on {date} NOT NULL,
    account_id {id} NOT NULL,
    text TEXT,
    debit {money} NOT NULL CHECK (debit >= 0),
    credit {money} NOT NULL CHECK (credit >= 0),
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    currency_debit {money} NOT NULL CHECK (currency_debit >= 0),
    currency_credit {money} NOT NULL CHECK (currency_credit >= 0),
    exchange_rate {exchange},
    party_client_id {id},
    party_name TEXT,
    vat_code {sorted},
    vat_part TEXT CHECK (vat_part IN ('base', 'tax')),
    vat_rate_percent {rate},
    supplied_on {date},
    PRIMARY KEY (tenant_id, entry_id, position),
    FOREIGN KEY (tenant_id, mandate_id, entry_id, booked_on) REFERENCES entries (tenant_id, mandate_id, id, booked_on)
        ON UPDATE CASCADE,
    FOREIGN KEY (tenant_id, mandate_id, account_id) REFERENCES accounts (tenant_id, mandate_id, id),
    FOREIGN KEY (tenant_id, party_client_id) REFERENCES clients (tenant_id, id),
    FOREIGN KEY (tenant_id, vat_code) REFERENCES vat_codes (tenant_id, code),
    CHECK ((debit = 0) <> (credit = 0)),
    CHECK (debit <= {most_money} AND credit <= {most_money}),
    CHECK (currency_debit = 0 OR debit > 0),
    CHECK (currency_credit = 0 OR credit > 0),
    CHECK ((vat_code IS NULL) = (vat_part IS NULL)),
    CHECK ((vat_code IS NULL) = (vat_rate_percent IS NULL))
) {table};
CREATE INDEX entry_lines_of_account ON entry_lines (tenant_id, account_id, booked_on, entry_id, position);
CREATE INDEX entry_lines_by_day ON entry_lines (tenant_id, mandate_id, booked_on);
CREATE INDEX entry_lines_taxed ON entry_lines (tenant_id, mandate_id, booked_on) WHERE vat_code IS NOT NULL;
-- Lines of an account that settle one another: their sum is nought.
CREATE TABLE reconciliations (
    tenant_id {id} NOT NULL,
    entry_id {id} NOT NULL,
    position INTEGER NOT NULL,
    letter TEXT NOT NULL,
    reconciled_on {date} NOT NULL,
    PRIMARY KEY (tenant_id, entry_id, position),
    FOREIGN KEY (tenant_id, entry_id, position) REFERENCES entry_lines (tenant_id, entry_id, position)
) {table};
-- What was posted per account, currency and calendar month: kept by the posting itself, equal to the sum of the lines.
CREATE TABLE account_balances (
    tenant_id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    account_id {id} NOT NULL,
    currency TEXT NOT NULL,
    month {date} NOT NULL,
    debit {money} NOT NULL,
    credit {money} NOT NULL,
    currency_debit {money} NOT NULL,
    currency_credit {money} NOT NULL,
    line_count BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, mandate_id, account_id, currency, month),
    FOREIGN KEY (tenant_id, mandate_id, account_id) REFERENCES accounts (tenant_id, mandate_id, id)
) {table};

-- Postings are numbered in the order of time, so that "as known on a day" is "up to a number".
--@postgres
CREATE FUNCTION refuse_earlier() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.committed_at < (SELECT max(committed_at) FROM commits WHERE tenant_id = NEW.tenant_id AND number = NEW.number - 1) THEN
        RAISE EXCEPTION 'commits are numbered in the order of time' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER commits_in_order BEFORE INSERT ON commits FOR EACH ROW EXECUTE FUNCTION refuse_earlier();
--@sqlite
CREATE TRIGGER commits_in_order BEFORE INSERT ON commits
    WHEN NEW.committed_at < (SELECT committed_at FROM commits WHERE tenant_id = NEW.tenant_id AND number = NEW.number - 1)
    BEGIN SELECT RAISE(ABORT, 'commits are numbered in the order of time'); END;
--@both
CREATE INDEX commits_by_time ON commits (tenant_id, committed_at);

-- The rules ----------------------------------------------------------------------------------------------------------
--@postgres
CREATE FUNCTION refuse_draftless() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an entry begins as a draft' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER entries_begin_as_drafts BEFORE INSERT ON entries
    FOR EACH ROW WHEN (NEW.state <> 'draft') EXECUTE FUNCTION refuse_draftless();
CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE ON entries
    FOR EACH ROW WHEN (OLD.state = 'posted') EXECUTE FUNCTION refuse_change();
CREATE FUNCTION refuse_sealed_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND (SELECT state FROM entries WHERE tenant_id = OLD.tenant_id AND id = OLD.entry_id) = 'posted'
       OR TG_OP <> 'DELETE' AND (SELECT state FROM entries WHERE tenant_id = NEW.tenant_id AND id = NEW.entry_id) = 'posted' THEN
        RAISE EXCEPTION 'entry_lines of a posted entry are append-only' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER entry_lines_append_only BEFORE INSERT OR UPDATE OR DELETE ON entry_lines
    FOR EACH ROW EXECUTE FUNCTION refuse_sealed_entry();
CREATE FUNCTION post_entry() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    year fiscal_years;
    lines record;
    latest bigint;
BEGIN
    -- The year is locked first: entries of one year are posted one after the other, and their numbers have no gap.
    SELECT * INTO year FROM fiscal_years WHERE tenant_id = NEW.tenant_id AND id = NEW.fiscal_year_id FOR UPDATE;
    IF NEW.booked_on NOT BETWEEN year.starts_on AND year.ends_on THEN
        RAISE EXCEPTION 'the entry is dated outside its fiscal year' USING ERRCODE = 'check_violation';
    END IF;
    IF year.state = 'closed' OR NEW.booked_on <= coalesce(year.locked_through, '-infinity') THEN
        RAISE EXCEPTION 'the period is closed' USING ERRCODE = 'check_violation';
    END IF;
    IF trim(NEW.text) = '' OR trim(NEW.voucher) = '' THEN
        RAISE EXCEPTION 'an entry needs a text and a voucher' USING ERRCODE = 'check_violation';
    END IF;
    SELECT count(*) AS count, coalesce(sum(l.debit), 0) AS debit, coalesce(sum(l.credit), 0) AS credit,
           bool_or(NOT a.is_postable OR NOT a.is_active) AS is_shut,
           bool_or(a.currency IS NOT NULL AND a.currency <> l.currency) AS is_foreign,
           bool_or(a.needs_party AND l.party_client_id IS NULL AND l.party_name IS NULL) AS is_partyless
      INTO lines
      FROM entry_lines l JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id
     WHERE l.tenant_id = NEW.tenant_id AND l.entry_id = NEW.id;
    IF lines.count < 2 OR lines.debit <> lines.credit THEN
        RAISE EXCEPTION 'the entry does not balance' USING ERRCODE = 'check_violation';
    END IF;
    IF lines.is_shut THEN
        RAISE EXCEPTION 'an account takes no postings' USING ERRCODE = 'check_violation';
    END IF;
    IF lines.is_foreign THEN
        RAISE EXCEPTION 'an account is kept in another currency' USING ERRCODE = 'check_violation';
    END IF;
    IF lines.is_partyless THEN
        RAISE EXCEPTION 'an account needs a party' USING ERRCODE = 'check_violation';
    END IF;
    SELECT coalesce(max(number), 0) INTO latest FROM entries
     WHERE tenant_id = NEW.tenant_id AND mandate_id = NEW.mandate_id AND fiscal_year_id = NEW.fiscal_year_id AND journal = NEW.journal;
    IF NEW.number <> latest + 1 THEN
        RAISE EXCEPTION 'entries are numbered without a gap' USING ERRCODE = 'restrict_violation';
    END IF;
    INSERT INTO account_balances AS b (tenant_id, mandate_id, account_id, currency, month, debit, credit, currency_debit,
                                       currency_credit, line_count)
    SELECT l.tenant_id, l.mandate_id, l.account_id, l.currency, date_trunc('month', NEW.booked_on)::date, sum(l.debit),
           sum(l.credit), sum(l.currency_debit), sum(l.currency_credit), count(*)
      FROM entry_lines l WHERE l.tenant_id = NEW.tenant_id AND l.entry_id = NEW.id
     GROUP BY l.tenant_id, l.mandate_id, l.account_id, l.currency
     ORDER BY l.account_id, l.currency
    ON CONFLICT (tenant_id, mandate_id, account_id, currency, month) DO UPDATE SET
        debit = b.debit + excluded.debit, credit = b.credit + excluded.credit,
        currency_debit = b.currency_debit + excluded.currency_debit,
        currency_credit = b.currency_credit + excluded.currency_credit, line_count = b.line_count + excluded.line_count;
    RETURN NEW;
END $$;
CREATE TRIGGER entries_post BEFORE UPDATE OF state ON entries
    FOR EACH ROW WHEN (OLD.state = 'draft' AND NEW.state = 'posted') EXECUTE FUNCTION post_entry();
CREATE FUNCTION refuse_overlap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM fiscal_years y WHERE y.tenant_id = NEW.tenant_id AND y.mandate_id = NEW.mandate_id
               AND y.id <> NEW.id AND y.starts_on <= NEW.ends_on AND NEW.starts_on <= y.ends_on) THEN
        RAISE EXCEPTION 'fiscal years overlap' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fiscal_years_apart BEFORE INSERT OR UPDATE ON fiscal_years FOR EACH ROW EXECUTE FUNCTION refuse_overlap();
CREATE FUNCTION refuse_moved_year() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM entries WHERE tenant_id = OLD.tenant_id AND mandate_id = OLD.mandate_id AND fiscal_year_id = OLD.id) THEN
        RAISE EXCEPTION 'a fiscal year with entries keeps its days' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER fiscal_years_keep BEFORE DELETE OR UPDATE OF tenant_id, id, mandate_id, starts_on, ends_on ON fiscal_years
    FOR EACH ROW EXECUTE FUNCTION refuse_moved_year();
CREATE FUNCTION refuse_recast_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM entry_lines WHERE tenant_id = OLD.tenant_id AND account_id = OLD.id) THEN
        RAISE EXCEPTION 'an account with postings keeps its number, kind and currency' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER accounts_keep BEFORE DELETE OR UPDATE OF tenant_id, id, mandate_id, number, kind, currency ON accounts
    FOR EACH ROW EXECUTE FUNCTION refuse_recast_account();
CREATE TRIGGER reconciliations_append_only BEFORE UPDATE ON reconciliations
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
--@sqlite
CREATE TRIGGER entries_begin_as_drafts BEFORE INSERT ON entries WHEN NEW.state <> 'draft'
    BEGIN SELECT RAISE(ABORT, 'an entry begins as a draft'); END;
CREATE TRIGGER entries_keep BEFORE UPDATE ON entries WHEN OLD.state = 'posted'
    BEGIN SELECT RAISE(ABORT, 'entries is append-only'); END;
CREATE TRIGGER entries_stay BEFORE DELETE ON entries WHEN OLD.state = 'posted'
    BEGIN SELECT RAISE(ABORT, 'entries is append-only'); END;
CREATE TRIGGER entry_lines_add BEFORE INSERT ON entry_lines
    WHEN (SELECT state FROM entries WHERE tenant_id = NEW.tenant_id AND id = NEW.entry_id) = 'posted'
    BEGIN SELECT RAISE(ABORT, 'entry_lines of a posted entry are append-only'); END;
CREATE TRIGGER entry_lines_keep BEFORE UPDATE ON entry_lines
    WHEN (SELECT state FROM entries WHERE tenant_id = OLD.tenant_id AND id = OLD.entry_id) = 'posted'
      OR (SELECT state FROM entries WHERE tenant_id = NEW.tenant_id AND id = NEW.entry_id) = 'posted'
    BEGIN SELECT RAISE(ABORT, 'entry_lines of a posted entry are append-only'); END;
CREATE TRIGGER entry_lines_stay BEFORE DELETE ON entry_lines
    WHEN (SELECT state FROM entries WHERE tenant_id = OLD.tenant_id AND id = OLD.entry_id) = 'posted'
    BEGIN SELECT RAISE(ABORT, 'entry_lines of a posted entry are append-only'); END;
CREATE TRIGGER entries_post BEFORE UPDATE OF state ON entries WHEN OLD.state = 'draft' AND NEW.state = 'posted' BEGIN
    SELECT RAISE(ABORT, 'the entry is dated outside its fiscal year') FROM fiscal_years y
     WHERE y.tenant_id = NEW.tenant_id AND y.id = NEW.fiscal_year_id AND NEW.booked_on NOT BETWEEN y.starts_on AND y.ends_on;
    SELECT RAISE(ABORT, 'the period is closed') FROM fiscal_years y
     WHERE y.tenant_id = NEW.tenant_id AND y.id = NEW.fiscal_year_id
       AND (y.state = 'closed' OR NEW.booked_on <= coalesce(y.locked_through, ''));
    SELECT RAISE(ABORT, 'an entry needs a text and a voucher') WHERE trim(NEW.text) = '' OR trim(NEW.voucher) = '';
    SELECT RAISE(ABORT, 'the entry does not balance') FROM
        (SELECT count(*) AS count, coalesce(sum(debit), 0) AS debit, coalesce(sum(credit), 0) AS credit FROM entry_lines
          WHERE tenant_id = NEW.tenant_id AND entry_id = NEW.id) AS l
     WHERE l.count < 2 OR l.debit <> l.credit;
    SELECT RAISE(ABORT, 'an account takes no postings') FROM entry_lines l
      JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id
     WHERE l.tenant_id = NEW.tenant_id AND l.entry_id = NEW.id AND (NOT a.is_postable OR NOT a.is_active);
    SELECT RAISE(ABORT, 'an account is kept in another currency') FROM entry_lines l
      JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id
     WHERE l.tenant_id = NEW.tenant_id AND l.entry_id = NEW.id AND a.currency <> l.currency;
    SELECT RAISE(ABORT, 'an account needs a party') FROM entry_lines l
      JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id
     WHERE l.tenant_id = NEW.tenant_id AND l.entry_id = NEW.id AND a.needs_party AND l.party_client_id IS NULL
       AND l.party_name IS NULL;
    SELECT RAISE(ABORT, 'entries are numbered without a gap') WHERE NEW.number <>
        (SELECT coalesce(max(number), 0) + 1 FROM entries WHERE tenant_id = NEW.tenant_id AND mandate_id = NEW.mandate_id
           AND fiscal_year_id = NEW.fiscal_year_id AND journal = NEW.journal);
    INSERT INTO account_balances (tenant_id, mandate_id, account_id, currency, month, debit, credit, currency_debit,
                                  currency_credit, line_count)
    SELECT tenant_id, mandate_id, account_id, currency, substr(NEW.booked_on, 1, 8) || '01', sum(debit), sum(credit),
           sum(currency_debit), sum(currency_credit), count(*)
      FROM entry_lines WHERE tenant_id = NEW.tenant_id AND entry_id = NEW.id
     GROUP BY tenant_id, mandate_id, account_id, currency
    ON CONFLICT (tenant_id, mandate_id, account_id, currency, month) DO UPDATE SET
        debit = debit + excluded.debit, credit = credit + excluded.credit,
        currency_debit = currency_debit + excluded.currency_debit,
        currency_credit = currency_credit + excluded.currency_credit, line_count = line_count + excluded.line_count;
END;
CREATE TRIGGER fiscal_years_apart BEFORE INSERT ON fiscal_years WHEN EXISTS
    (SELECT 1 FROM fiscal_years y WHERE y.tenant_id = NEW.tenant_id AND y.mandate_id = NEW.mandate_id
        AND y.starts_on <= NEW.ends_on AND NEW.starts_on <= y.ends_on)
    BEGIN SELECT RAISE(ABORT, 'fiscal years overlap'); END;
CREATE TRIGGER fiscal_years_stay_apart BEFORE UPDATE ON fiscal_years WHEN EXISTS
    (SELECT 1 FROM fiscal_years y WHERE y.tenant_id = NEW.tenant_id AND y.mandate_id = NEW.mandate_id AND y.id <> NEW.id
        AND y.starts_on <= NEW.ends_on AND NEW.starts_on <= y.ends_on)
    BEGIN SELECT RAISE(ABORT, 'fiscal years overlap'); END;
CREATE TRIGGER fiscal_years_keep BEFORE UPDATE OF tenant_id, id, mandate_id, starts_on, ends_on ON fiscal_years WHEN EXISTS
    (SELECT 1 FROM entries WHERE tenant_id = OLD.tenant_id AND mandate_id = OLD.mandate_id AND fiscal_year_id = OLD.id)
    BEGIN SELECT RAISE(ABORT, 'a fiscal year with entries keeps its days'); END;
CREATE TRIGGER accounts_keep BEFORE UPDATE OF tenant_id, id, mandate_id, number, kind, currency ON accounts WHEN EXISTS
    (SELECT 1 FROM entry_lines WHERE tenant_id = OLD.tenant_id AND account_id = OLD.id)
    BEGIN SELECT RAISE(ABORT, 'an account with postings keeps its number, kind and currency'); END;
CREATE TRIGGER reconciliations_keep BEFORE UPDATE ON reconciliations
    BEGIN SELECT RAISE(ABORT, 'reconciliations is append-only'); END;
--@both
