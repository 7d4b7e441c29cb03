-- The amount of a line, whichever side it is on, as whole hundredths: a number whose comparison row-level security lets an
-- index answer, unlike that of decimals.
--@postgres
ALTER TABLE entry_lines ADD COLUMN cents bigint GENERATED ALWAYS AS (((debit + credit) * 100)::bigint) STORED;
--@sqlite
ALTER TABLE entry_lines ADD COLUMN cents INTEGER GENERATED ALWAYS AS (debit + credit) VIRTUAL;
--@both
CREATE INDEX entry_lines_by_amount ON entry_lines (tenant_id, mandate_id, cents);
