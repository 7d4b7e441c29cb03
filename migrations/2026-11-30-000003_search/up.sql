-- Where words are found: an index of every three characters in a row (a gram) of every `search_text`. What a table needs for
-- it follows from the catalogue after every migration (db/search.rs).
--@postgres
-- The grams of a text, hashed with the firm: an index over all firms finds those of one at the price of one. A long text is
-- cut in pieces that overlap, since finding a letter costs as much as stands before it.
CREATE FUNCTION grams(tenant uuid, said text) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
DECLARE
    firm bigint := uuid_hash_extended(tenant, 0);
    hashed bigint[] := '{}';
    piece text;
BEGIN
    FOR start IN 1..length(said) - 2 BY 200 LOOP
        piece := substr(said, start, 202);
        FOR i IN 1..length(piece) - 2 LOOP
            hashed := hashed || hashtextextended(substr(piece, i, 3), firm);
        END LOOP;
    END LOOP;
    RETURN hashed;
END $$;
-- What a text of the firm whose transaction runs must have to contain the word; nothing without a firm.
CREATE FUNCTION sought(word text) RETURNS bigint[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT grams(nullif(current_setting('app.tenant_id', true), '')::uuid, word)
$$;
--@sqlite
-- Each table of each firm has a slot of 2^32 numbers, so that the grams of one are looked up without those of the others. The
-- index keeps no text, and says nothing to who does not know the slot.
CREATE TABLE search_slots (
    tenant_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    slot INTEGER NOT NULL UNIQUE,
    PRIMARY KEY (tenant_id, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE search_rows (
    tenant_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    number INTEGER NOT NULL,
    id BLOB NOT NULL,
    PRIMARY KEY (tenant_id, kind, number),
    UNIQUE (tenant_id, kind, id)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE search_index USING fts5(said, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1');
--@both
