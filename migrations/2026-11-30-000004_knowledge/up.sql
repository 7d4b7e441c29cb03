-- The knowledge graph: what kinds of entities and relations a firm speaks of, the entities, their relations with the days on
-- which they hold, what is doubtful about them, and what they mean as vectors.

CREATE TABLE knowledge_entity_types (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    code {sorted} NOT NULL,
    label_fr TEXT NOT NULL,
    label_de TEXT NOT NULL,
    label_en TEXT NOT NULL,
    PRIMARY KEY (tenant_id, code)
) {table};
-- A relation reads `from label to`, and the other way round `to inverse from`.
CREATE TABLE knowledge_relation_types (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    code {sorted} NOT NULL,
    label_fr TEXT NOT NULL,
    label_de TEXT NOT NULL,
    label_en TEXT NOT NULL,
    inverse_fr TEXT NOT NULL,
    inverse_de TEXT NOT NULL,
    inverse_en TEXT NOT NULL,
    PRIMARY KEY (tenant_id, code)
) {table};
-- An entity is known through a mandate, through a client, or to the whole firm. It may stand for a record: for the client or
-- mandate through which it is known, or for an employee of the mandate.
CREATE TABLE knowledge_entities (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    type_code {sorted} NOT NULL,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    description TEXT NOT NULL CHECK (length(description) <= 2000),
    mandate_id {id},
    client_id {id},
    stands_for TEXT CHECK (stands_for IN ('client', 'mandate', 'employee')),
    employee_id {id},
    sort_name {sorted} NOT NULL,
    search_text TEXT NOT NULL,
    created_at {instant} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, type_code) REFERENCES knowledge_entity_types (tenant_id, code),
    FOREIGN KEY (tenant_id, mandate_id) REFERENCES mandates (tenant_id, id),
    FOREIGN KEY (tenant_id, client_id) REFERENCES clients (tenant_id, id),
    FOREIGN KEY (tenant_id, employee_id, mandate_id) REFERENCES employees (tenant_id, id, mandate_id),
    CHECK (mandate_id IS NULL OR client_id IS NULL),
    CHECK (stands_for <> 'client' OR client_id IS NOT NULL),
    CHECK (stands_for <> 'mandate' OR mandate_id IS NOT NULL),
    CHECK (employee_id IS NULL OR mandate_id IS NOT NULL),
    CHECK ((coalesce(stands_for, '') = 'employee') = (employee_id IS NOT NULL))
) {table};
CREATE INDEX knowledge_entities_by_name ON knowledge_entities (tenant_id, sort_name, id);
CREATE INDEX knowledge_entities_by_type ON knowledge_entities (tenant_id, type_code, sort_name, id);
CREATE INDEX knowledge_entities_of_mandate ON knowledge_entities (tenant_id, mandate_id);
CREATE INDEX knowledge_entities_of_client ON knowledge_entities (tenant_id, client_id);
-- A relation holds from its first day to its last, both included; without a last day it holds still.
CREATE TABLE knowledge_relations (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    type_code {sorted} NOT NULL,
    from_id {id} NOT NULL,
    to_id {id} NOT NULL,
    valid_from {date} NOT NULL,
    valid_to {date},
    note TEXT CHECK (length(note) <= 500),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, type_code) REFERENCES knowledge_relation_types (tenant_id, code),
    FOREIGN KEY (tenant_id, from_id) REFERENCES knowledge_entities (tenant_id, id),
    FOREIGN KEY (tenant_id, to_id) REFERENCES knowledge_entities (tenant_id, id),
    CHECK (valid_to IS NULL OR valid_to >= valid_from)
) {table};
CREATE INDEX knowledge_relations_from ON knowledge_relations (tenant_id, from_id, to_id);
CREATE INDEX knowledge_relations_to ON knowledge_relations (tenant_id, to_id, from_id);
CREATE TABLE knowledge_anomalies (
    tenant_id {id} NOT NULL,
    id {id} NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('duplicate', 'contradiction', 'missing_relation', 'outdated', 'circular_ownership')),
    severity TEXT NOT NULL CHECK (severity IN ('low', 'medium', 'high')),
    entity_id {id},
    relation_id {id},
    text TEXT NOT NULL CHECK (length(text) <= 500),
    state TEXT NOT NULL CHECK (state IN ('open', 'resolved')),
    found_on {date} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES knowledge_entities (tenant_id, id),
    FOREIGN KEY (tenant_id, relation_id) REFERENCES knowledge_relations (tenant_id, id),
    CHECK ((entity_id IS NULL) <> (relation_id IS NULL))
) {table};
CREATE INDEX knowledge_anomalies_open ON knowledge_anomalies (tenant_id, kind, severity) WHERE state = 'open';
-- What an entity's name and description mean to a model, which is named by the digest of its files. Employees have none.
CREATE TABLE knowledge_embeddings (
    tenant_id {id} NOT NULL,
    entity_id {id} NOT NULL,
    model {bytes} NOT NULL CHECK (length(model) = 32),
    vector {bytes} NOT NULL CHECK (length(vector) >= 2),
    PRIMARY KEY (tenant_id, entity_id, model),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES knowledge_entities (tenant_id, id)
) {table};

-- A vector is of the text as it is: when the text changes, it goes.
--@postgres
CREATE FUNCTION forget_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM knowledge_embeddings WHERE tenant_id = NEW.tenant_id AND entity_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER knowledge_entities_forget_vectors AFTER UPDATE OF name, description, employee_id ON knowledge_entities
    FOR EACH ROW EXECUTE FUNCTION forget_vectors();
--@sqlite
CREATE TRIGGER knowledge_entities_forget_vectors AFTER UPDATE OF name, description, employee_id ON knowledge_entities
BEGIN
    DELETE FROM knowledge_embeddings WHERE tenant_id = NEW.tenant_id AND entity_id = NEW.id;
END;
--@both
