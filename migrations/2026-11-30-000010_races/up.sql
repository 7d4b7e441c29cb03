-- Rules that look at other rows hold also while others write them: on PostgreSQL the row that decides is locked before it is read,
-- so that what another transaction is about to commit is waited for and counted. SQLite has one writer and needs none of it.
--@postgres
-- A transaction that keeps to its first snapshot would not see what it waited for.
CREATE FUNCTION refuse_old_snapshot() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'the books are written under READ COMMITTED' USING ERRCODE = 'active_sql_transaction';
    END IF;
END $$;

-- Lines follow the state of their record, which is locked as an UPDATE would lock it. A record that is not there yet is not waited
-- for: it may be sealed when the foreign key finds it.
CREATE OR REPLACE FUNCTION refuse_sealed_invoice() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    left_state text := 'draft';
    held_state text := 'draft';
BEGIN
    IF TG_OP <> 'INSERT' THEN
        SELECT state INTO left_state FROM invoices WHERE tenant_id = OLD.tenant_id AND id = OLD.invoice_id FOR NO KEY UPDATE;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        SELECT state INTO held_state FROM invoices WHERE tenant_id = NEW.tenant_id AND id = NEW.invoice_id FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION '% of no record: foreign key', TG_TABLE_NAME USING ERRCODE = 'foreign_key_violation';
        END IF;
    END IF;
    IF left_state <> 'draft' OR held_state <> 'draft' THEN
        RAISE EXCEPTION '% of a sealed record are append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE OR REPLACE FUNCTION refuse_sealed_payslip() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    left_state text := 'draft';
    held_state text := 'draft';
BEGIN
    IF TG_OP <> 'INSERT' THEN
        SELECT state INTO left_state FROM payslips WHERE tenant_id = OLD.tenant_id AND id = OLD.payslip_id FOR NO KEY UPDATE;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        SELECT state INTO held_state FROM payslips WHERE tenant_id = NEW.tenant_id AND id = NEW.payslip_id FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION '% of no record: foreign key', TG_TABLE_NAME USING ERRCODE = 'foreign_key_violation';
        END IF;
    END IF;
    IF left_state <> 'draft' OR held_state <> 'draft' THEN
        RAISE EXCEPTION '% of a sealed record are append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE OR REPLACE FUNCTION refuse_sealed_entry() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    left_state text := 'draft';
    held_state text := 'draft';
BEGIN
    IF TG_OP <> 'INSERT' THEN
        SELECT state INTO left_state FROM entries WHERE tenant_id = OLD.tenant_id AND id = OLD.entry_id FOR NO KEY UPDATE;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        SELECT state INTO held_state FROM entries WHERE tenant_id = NEW.tenant_id AND id = NEW.entry_id FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION '% of no record: foreign key', TG_TABLE_NAME USING ERRCODE = 'foreign_key_violation';
        END IF;
    END IF;
    IF left_state <> 'draft' OR held_state <> 'draft' THEN
        RAISE EXCEPTION '% of a posted entry are append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;

-- The years of a mandate are written one after the other. Closing or locking one moves no days and waits for none.
CREATE OR REPLACE FUNCTION refuse_overlap() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM refuse_old_snapshot();
    PERFORM 1 FROM ledgers WHERE tenant_id = NEW.tenant_id AND mandate_id = NEW.mandate_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION '% of no ledger: foreign key', TG_TABLE_NAME USING ERRCODE = 'foreign_key_violation';
    END IF;
    IF EXISTS (SELECT 1 FROM fiscal_years y WHERE y.tenant_id = NEW.tenant_id AND y.mandate_id = NEW.mandate_id
               AND y.id <> NEW.id AND y.starts_on <= NEW.ends_on AND NEW.starts_on <= y.ends_on) THEN
        RAISE EXCEPTION 'fiscal years overlap' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER fiscal_years_apart ON fiscal_years;
CREATE TRIGGER fiscal_years_apart BEFORE INSERT OR UPDATE OF tenant_id, id, mandate_id, starts_on, ends_on ON fiscal_years
    FOR EACH ROW EXECUTE FUNCTION refuse_overlap();

-- The lock of a deletion waits for whoever has written a row that names this one.
CREATE OR REPLACE FUNCTION refuse_moved_year() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM refuse_old_snapshot();
    PERFORM 1 FROM fiscal_years WHERE tenant_id = OLD.tenant_id AND id = OLD.id FOR UPDATE;
    IF EXISTS (SELECT 1 FROM entries WHERE tenant_id = OLD.tenant_id AND mandate_id = OLD.mandate_id AND fiscal_year_id = OLD.id) THEN
        RAISE EXCEPTION 'a fiscal year with entries keeps its days' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE OR REPLACE FUNCTION refuse_recast_account() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM refuse_old_snapshot();
    PERFORM 1 FROM accounts WHERE tenant_id = OLD.tenant_id AND id = OLD.id FOR UPDATE;
    IF EXISTS (SELECT 1 FROM entry_lines WHERE tenant_id = OLD.tenant_id AND account_id = OLD.id) THEN
        RAISE EXCEPTION 'an account with postings keeps its number, kind and currency' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;

CREATE OR REPLACE FUNCTION post_entry() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    year fiscal_years;
    lines record;
    latest bigint;
BEGIN
    PERFORM refuse_old_snapshot();
    -- The year is locked first: entries of one year are posted one after the other, and their numbers have no gap.
    SELECT * INTO year FROM fiscal_years WHERE tenant_id = NEW.tenant_id AND id = NEW.fiscal_year_id FOR NO KEY UPDATE;
    IF NOT FOUND OR NEW.booked_on NOT BETWEEN year.starts_on AND year.ends_on THEN
        RAISE EXCEPTION 'the entry is dated outside its fiscal year' USING ERRCODE = 'check_violation';
    END IF;
    IF year.state = 'closed' OR NEW.booked_on <= coalesce(year.locked_through, '-infinity') THEN
        RAISE EXCEPTION 'the period is closed' USING ERRCODE = 'check_violation';
    END IF;
    IF trim(NEW.text) = '' OR trim(NEW.voucher) = '' THEN
        RAISE EXCEPTION 'an entry needs a text and a voucher' USING ERRCODE = 'check_violation';
    END IF;
    SELECT count(*) AS count, coalesce(sum(l.debit), 0) AS debit, coalesce(sum(l.credit), 0) AS credit,
           array_agg(l.account_id) AS accounts
      INTO lines
      FROM entry_lines l WHERE l.tenant_id = NEW.tenant_id AND l.entry_id = NEW.id;
    IF lines.count < 2 OR lines.debit <> lines.credit THEN
        RAISE EXCEPTION 'the entry does not balance' USING ERRCODE = 'check_violation';
    END IF;
    PERFORM 1 FROM accounts WHERE tenant_id = NEW.tenant_id AND id = ANY (lines.accounts) ORDER BY id FOR SHARE;
    SELECT bool_or(NOT a.is_postable OR NOT a.is_active) AS is_shut,
           bool_or(a.currency IS NOT NULL AND a.currency <> l.currency) AS is_foreign,
           bool_or(a.needs_party AND l.party_client_id IS NULL AND l.party_name IS NULL) AS is_partyless
      INTO lines
      FROM entry_lines l JOIN accounts a ON a.tenant_id = l.tenant_id AND a.id = l.account_id
     WHERE l.tenant_id = NEW.tenant_id AND l.entry_id = NEW.id;
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
REVOKE EXECUTE ON FUNCTION refuse_sealed_invoice, refuse_sealed_payslip, refuse_sealed_entry, refuse_overlap, refuse_moved_year,
    refuse_recast_account, post_entry FROM PUBLIC;
--@both
