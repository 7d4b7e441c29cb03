-- The work of a firm: phases and work packages of a mandate with their budgets, people's tasks, the time they worked, and
-- the documents that were filed. What has no mandate is internal.

-- Project positions and operations -----------------------------------------------------------------------------------
-- Both carry the mandate, so that an operation, and the time worked on it, cannot belong to another one.
CREATE TABLE project_positions (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 1),
    title TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('planned', 'active', 'done', 'cancelled')),
    budget_hours {quantity} CHECK (budget_hours >= 0),
    budget_amount {money} CHECK (budget_amount >= 0 AND budget_amount <= {most_money}),
    currency TEXT NOT NULL CHECK (currency IN ('CHF', 'EUR', 'USD', 'GBP')),
    starts_on {date},
    ends_on {date},
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, mandate_id, number),
    UNIQUE (tenant_id, mandate_id, id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    CHECK (ends_on >= starts_on)
) {table};
CREATE TABLE project_operations (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    mandate_id {id} NOT NULL,
    position_id {id} NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 1),
    title TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('planned', 'active', 'done', 'cancelled')),
    budget_hours {quantity} CHECK (budget_hours >= 0),
    assignee_id {id},
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, position_id, number),
    UNIQUE (tenant_id, mandate_id, id),
    FOREIGN KEY (tenant_id, mandate_id, position_id) REFERENCES project_positions (tenant_id, mandate_id, id),
    FOREIGN KEY (tenant_id, assignee_id) REFERENCES memberships (tenant_id, user_id)
) {table};

-- Tasks --------------------------------------------------------------------------------------------------------------
-- `due_by` sorts: what is due on no day comes last on both databases.
CREATE TABLE tasks (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    id {id} NOT NULL,
    mandate_id {id},
    title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
    description TEXT CHECK (length(description) <= 1000),
    status TEXT NOT NULL CHECK (status IN ('open', 'in_progress', 'waiting', 'done', 'cancelled')),
    priority TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    due_on {date},
    due_by {date} NOT NULL GENERATED ALWAYS AS (coalesce(due_on, '2199-12-31')) STORED,
    assignee_id {id},
    created_by {id} NOT NULL,
    created_at {instant} NOT NULL,
    done_at {instant},
    search_text TEXT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    FOREIGN KEY (tenant_id, assignee_id) REFERENCES memberships (tenant_id, user_id),
    FOREIGN KEY (tenant_id, created_by) REFERENCES memberships (tenant_id, user_id),
    CHECK ((status = 'done') = (done_at IS NOT NULL))
) {table};
CREATE INDEX tasks_by_due ON tasks (tenant_id, due_by, id);
CREATE INDEX tasks_of_mandate ON tasks (tenant_id, mandate_id, due_by, id);
CREATE INDEX tasks_of_assignee ON tasks (tenant_id, assignee_id, due_by, id);
CREATE INDEX tasks_by_status ON tasks (tenant_id, status, due_by, id);
CREATE INDEX tasks_by_priority ON tasks (tenant_id, priority, due_by, id);
CREATE INDEX tasks_of_creator ON tasks (tenant_id, created_by) WHERE mandate_id IS NULL;

-- Time ---------------------------------------------------------------------------------------------------------------
-- Time stands on at most one sales document; what does is invoiced. Without a service it is internal and not billable.
CREATE TABLE time_entries (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    person_id {id} NOT NULL,
    mandate_id {id},
    service_id {id},
    operation_id {id},
    worked_on {date} NOT NULL,
    minutes INTEGER NOT NULL CHECK (minutes BETWEEN 1 AND 1440),
    description TEXT NOT NULL CHECK (length(description) BETWEEN 1 AND 500),
    is_billable {bool} NOT NULL,
    invoice_id {id},
    search_text TEXT NOT NULL,
    created_at {instant} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, person_id) REFERENCES memberships (tenant_id, user_id),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    FOREIGN KEY (tenant_id, service_id) REFERENCES services (tenant_id, id),
    FOREIGN KEY (tenant_id, mandate_id, operation_id) REFERENCES project_operations (tenant_id, mandate_id, id),
    FOREIGN KEY (tenant_id, invoice_id) REFERENCES invoices (tenant_id, id),
    CHECK (service_id IS NOT NULL OR mandate_id IS NULL),
    CHECK (mandate_id IS NOT NULL OR NOT is_billable),
    CHECK (mandate_id IS NOT NULL OR operation_id IS NULL),
    CHECK (is_billable OR invoice_id IS NULL)
) {table};
CREATE INDEX time_entries_by_day ON time_entries (tenant_id, worked_on, id);
CREATE INDEX time_entries_of_person ON time_entries (tenant_id, person_id, worked_on, id);
CREATE INDEX time_entries_of_mandate ON time_entries (tenant_id, mandate_id, worked_on, id);
CREATE INDEX time_entries_of_operation ON time_entries (tenant_id, operation_id) WHERE operation_id IS NOT NULL;
CREATE INDEX time_entries_of_invoice ON time_entries (tenant_id, invoice_id) WHERE invoice_id IS NOT NULL;
CREATE INDEX time_entries_unbilled ON time_entries (tenant_id, worked_on, id) WHERE is_billable AND invoice_id IS NULL;

-- Documents ----------------------------------------------------------------------------------------------------------
-- `text` is what was read out of the file; `search_text` holds name and text, folded.
CREATE TABLE documents (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    client_id {id} NOT NULL,
    mandate_id {id},
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    kind TEXT NOT NULL CHECK (kind IN ('contract', 'invoice', 'receipt', 'bank_statement', 'payroll', 'vat', 'tax',
        'accounts', 'correspondence', 'identity', 'other')),
    dated_on {date} NOT NULL,
    filed_on {date} NOT NULL,
    media_type TEXT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    sha256 {bytes} NOT NULL CHECK (length(sha256) = 32),
    is_confidential {bool} NOT NULL,
    text TEXT NOT NULL CHECK (length(text) <= 100000),
    search_text TEXT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, client_id) REFERENCES clients (tenant_id, id),
    FOREIGN KEY (tenant_id, mandate_id, client_id) REFERENCES mandates (tenant_id, id, client_id)
) {table};
CREATE INDEX documents_by_day ON documents (tenant_id, dated_on, id);
CREATE INDEX documents_of_client ON documents (tenant_id, client_id);
CREATE INDEX documents_of_mandate ON documents (tenant_id, mandate_id, dated_on, id);
CREATE INDEX documents_by_kind ON documents (tenant_id, kind, dated_on, id);
