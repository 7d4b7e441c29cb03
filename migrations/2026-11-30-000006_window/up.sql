-- What comes to the window besides the books: bank statements and what became of their lines, proposals, and what each
-- posting contains.

-- Bank statements ----------------------------------------------------------------------------------------------------
-- A statement belongs to the mandate in whose books its account is; `amount` is positive for what came in. References and
-- texts are kept as the bank wrote them, right or wrong.
CREATE TABLE bank_statements (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    iban TEXT NOT NULL,
    number TEXT NOT NULL,
    from_on {date} NOT NULL,
    to_on {date} NOT NULL,
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    opening {money} NOT NULL,
    closing {money} NOT NULL,
    imported_at {instant} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, iban, number),
    UNIQUE (tenant_id, id, currency),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    CHECK (to_on >= from_on)
) {table};
CREATE INDEX bank_statements_of_mandate ON bank_statements (tenant_id, mandate_id, to_on);
CREATE TABLE bank_lines (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    statement_id {id} NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 1),
    booked_on {date} NOT NULL,
    value_on {date} NOT NULL,
    amount {money} NOT NULL CHECK (amount <> 0 AND abs(amount) <= {most_money}),
    currency TEXT NOT NULL,
    reference TEXT,
    end_to_end_id TEXT,
    debtor_name TEXT,
    debtor_iban TEXT,
    text TEXT,
    servicer_reference TEXT,
    is_reversal {bool} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, statement_id, position),
    FOREIGN KEY (tenant_id, statement_id, currency) REFERENCES bank_statements (tenant_id, id, currency)
) {table};
CREATE INDEX bank_lines_by_servicer ON bank_lines (tenant_id, servicer_reference) WHERE servicer_reference IS NOT NULL;
CREATE TABLE bank_line_payments (
    tenant_id {id} NOT NULL,
    bank_line_id {id} NOT NULL,
    payment_id {id} NOT NULL,
    PRIMARY KEY (tenant_id, bank_line_id, payment_id),
    UNIQUE (tenant_id, payment_id),
    FOREIGN KEY (tenant_id, bank_line_id) REFERENCES bank_lines (tenant_id, id),
    FOREIGN KEY (tenant_id, payment_id) REFERENCES payments (tenant_id, id)
) {table};
CREATE INDEX invoices_by_reference ON invoices (tenant_id, qr_reference) WHERE qr_reference IS NOT NULL;

-- Proposals ----------------------------------------------------------------------------------------------------------
-- `arguments` is the JSON that was proposed; `area` names the permission (approve.…) of the second person, where one is
-- needed. What has passed `expires_at` undecided is expired, whatever `state` says.
CREATE TABLE proposals (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    tool TEXT NOT NULL,
    user_id {id} NOT NULL,
    credential TEXT NOT NULL CHECK (credential IN ('jwt', 'api_token')),
    summary TEXT NOT NULL CHECK (length(summary) <= 500),
    arguments TEXT NOT NULL,
    mandate_id {id},
    client_id {id},
    state TEXT NOT NULL CHECK (state IN ('pending', 'confirmed', 'awaiting_approval', 'approved', 'rejected', 'cancelled',
        'expired', 'stale')),
    area TEXT CHECK (area IN ('invoice', 'payment', 'client', 'ledger', 'vat', 'payroll')),
    created_at {instant} NOT NULL,
    expires_at {instant} NOT NULL,
    decided_at {instant},
    decided_by {id},
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    FOREIGN KEY (tenant_id, client_id) REFERENCES clients (tenant_id, id),
    FOREIGN KEY (tenant_id, decided_by) REFERENCES memberships (tenant_id, user_id),
    CHECK (expires_at > created_at),
    CHECK ((decided_at IS NULL) = (decided_by IS NULL)),
    CHECK (state <> 'awaiting_approval' OR area IS NOT NULL)
) {table};
CREATE INDEX proposals_of_user ON proposals (tenant_id, user_id, id);
CREATE INDEX proposals_waiting ON proposals (tenant_id, area, id) WHERE state = 'awaiting_approval';

-- What each posting contains -----------------------------------------------------------------------------------------
-- Names the records of a commit without depending on them, so that the log outlives what it names.
CREATE TABLE commit_records (
    tenant_id {id} NOT NULL,
    commit_number BIGINT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 1),
    action TEXT NOT NULL,
    record_kind TEXT NOT NULL,
    record_id {id} NOT NULL,
    mandate_id {id},
    client_id {id},
    PRIMARY KEY (tenant_id, commit_number, position),
    FOREIGN KEY (tenant_id, commit_number) REFERENCES commits (tenant_id, number)
) {table};
CREATE INDEX commit_records_of_record ON commit_records (tenant_id, record_id);
CREATE INDEX commit_records_of_mandate ON commit_records (tenant_id, mandate_id, commit_number, position);

--@postgres
CREATE TRIGGER bank_statements_append_only BEFORE UPDATE OR DELETE ON bank_statements
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER bank_lines_append_only BEFORE UPDATE OR DELETE ON bank_lines
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER bank_line_payments_append_only BEFORE UPDATE OR DELETE ON bank_line_payments
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER commit_records_append_only BEFORE UPDATE OR DELETE ON commit_records
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
--@sqlite
CREATE TRIGGER bank_statements_keep BEFORE UPDATE ON bank_statements
    BEGIN SELECT RAISE(ABORT, 'bank_statements is append-only'); END;
CREATE TRIGGER bank_statements_stay BEFORE DELETE ON bank_statements
    BEGIN SELECT RAISE(ABORT, 'bank_statements is append-only'); END;
CREATE TRIGGER bank_lines_keep BEFORE UPDATE ON bank_lines
    BEGIN SELECT RAISE(ABORT, 'bank_lines is append-only'); END;
CREATE TRIGGER bank_lines_stay BEFORE DELETE ON bank_lines
    BEGIN SELECT RAISE(ABORT, 'bank_lines is append-only'); END;
CREATE TRIGGER bank_line_payments_keep BEFORE UPDATE ON bank_line_payments
    BEGIN SELECT RAISE(ABORT, 'bank_line_payments is append-only'); END;
CREATE TRIGGER bank_line_payments_stay BEFORE DELETE ON bank_line_payments
    BEGIN SELECT RAISE(ABORT, 'bank_line_payments is append-only'); END;
CREATE TRIGGER commit_records_keep BEFORE UPDATE ON commit_records
    BEGIN SELECT RAISE(ABORT, 'commit_records is append-only'); END;
CREATE TRIGGER commit_records_stay BEFORE DELETE ON commit_records
    BEGIN SELECT RAISE(ABORT, 'commit_records is append-only'); END;
--@both
