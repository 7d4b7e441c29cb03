-- What was paid on and credited to an invoice by all that was posted so far, and the last day on which something was: kept with
-- every posting beside `open_until`, equal to the sum of the records. As of an earlier day, or as known on one, the records
-- themselves are added up.
ALTER TABLE invoices ADD COLUMN settled {money} NOT NULL DEFAULT 0;
ALTER TABLE invoices ADD COLUMN settled_on {date} NOT NULL DEFAULT '0001-01-01';
--@postgres
CREATE OR REPLACE FUNCTION settle(tenant uuid, invoice uuid) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    -- The row is locked before anything is read, so that what another posting commits meanwhile is counted.
    PERFORM 1 FROM invoices WHERE tenant_id = tenant AND id = invoice FOR UPDATE;
    UPDATE invoices i SET settled = e.settled, settled_on = coalesce(e.day, '0001-01-01'),
        open_until = CASE WHEN i.total = e.settled THEN greatest(i.issued_on, e.day) ELSE '9999-12-31' END
    FROM (SELECT coalesce(sum(amount), 0) AS settled, max(day) AS day
          FROM (SELECT amount, received_on AS day FROM payments WHERE tenant_id = tenant AND invoice_id = invoice
                UNION ALL SELECT total, issued_on FROM invoices
                WHERE tenant_id = tenant AND origin_invoice_id = invoice AND state = 'issued') AS events) AS e
    WHERE i.tenant_id = tenant AND i.id = invoice;
END $$;
--@sqlite
DROP TRIGGER payments_settle;
DROP TRIGGER credit_notes_settle_at_once;
DROP TRIGGER credit_notes_settle;
CREATE TRIGGER payments_settle AFTER INSERT ON payments BEGIN
    UPDATE invoices SET (settled, settled_on, open_until) = (
        SELECT coalesce(sum(e.amount), 0), coalesce(max(e.day), '0001-01-01'),
               CASE WHEN invoices.total = coalesce(sum(e.amount), 0) THEN max(invoices.issued_on, max(e.day)) ELSE '9999-12-31' END
        FROM (SELECT p.amount, p.received_on AS day FROM payments p WHERE p.tenant_id = NEW.tenant_id AND p.invoice_id = NEW.invoice_id
              UNION ALL SELECT c.total, c.issued_on FROM invoices c
              WHERE c.tenant_id = NEW.tenant_id AND c.origin_invoice_id = NEW.invoice_id AND c.state = 'issued') AS e)
    WHERE tenant_id = NEW.tenant_id AND id = NEW.invoice_id;
END;
CREATE TRIGGER credit_notes_settle_at_once AFTER INSERT ON invoices
    WHEN NEW.origin_invoice_id IS NOT NULL AND NEW.state = 'issued' BEGIN
    UPDATE invoices SET (settled, settled_on, open_until) = (
        SELECT coalesce(sum(e.amount), 0), coalesce(max(e.day), '0001-01-01'),
               CASE WHEN invoices.total = coalesce(sum(e.amount), 0) THEN max(invoices.issued_on, max(e.day)) ELSE '9999-12-31' END
        FROM (SELECT p.amount, p.received_on AS day FROM payments p WHERE p.tenant_id = NEW.tenant_id AND p.invoice_id = NEW.origin_invoice_id
              UNION ALL SELECT c.total, c.issued_on FROM invoices c
              WHERE c.tenant_id = NEW.tenant_id AND c.origin_invoice_id = NEW.origin_invoice_id AND c.state = 'issued') AS e)
    WHERE tenant_id = NEW.tenant_id AND id = NEW.origin_invoice_id;
END;
CREATE TRIGGER credit_notes_settle AFTER UPDATE OF state ON invoices
    WHEN NEW.origin_invoice_id IS NOT NULL AND NEW.state = 'issued' BEGIN
    UPDATE invoices SET (settled, settled_on, open_until) = (
        SELECT coalesce(sum(e.amount), 0), coalesce(max(e.day), '0001-01-01'),
               CASE WHEN invoices.total = coalesce(sum(e.amount), 0) THEN max(invoices.issued_on, max(e.day)) ELSE '9999-12-31' END
        FROM (SELECT p.amount, p.received_on AS day FROM payments p WHERE p.tenant_id = NEW.tenant_id AND p.invoice_id = NEW.origin_invoice_id
              UNION ALL SELECT c.total, c.issued_on FROM invoices c
              WHERE c.tenant_id = NEW.tenant_id AND c.origin_invoice_id = NEW.origin_invoice_id AND c.state = 'issued') AS e)
    WHERE tenant_id = NEW.tenant_id AND id = NEW.origin_invoice_id;
END;
--@both
UPDATE invoices SET
    settled = coalesce((SELECT sum(p.amount) FROM payments p WHERE p.tenant_id = invoices.tenant_id AND p.invoice_id = invoices.id), 0)
        + coalesce((SELECT sum(c.total) FROM invoices c WHERE c.tenant_id = invoices.tenant_id AND c.origin_invoice_id = invoices.id
                    AND c.state = 'issued'), 0),
    settled_on = coalesce((SELECT max(e.day) FROM (
        SELECT p.tenant_id, p.invoice_id AS id, p.received_on AS day FROM payments p
        UNION ALL SELECT c.tenant_id, c.origin_invoice_id, c.issued_on FROM invoices c WHERE c.state = 'issued') AS e
        WHERE e.tenant_id = invoices.tenant_id AND e.id = invoices.id), '0001-01-01')
WHERE document = 'invoice' AND state = 'issued';
