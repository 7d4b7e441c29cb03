-- Payroll: what the codes of payslip lines mean, and withholding tax as its tariffs were loaded.

CREATE TABLE wage_types (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    code TEXT NOT NULL,
    wage TEXT NOT NULL CHECK (wage IN ('monthly', 'hourly', 'holidays', 'bonus', 'thirteenth', 'avs', 'ac', 'accident',
        'sickness', 'pension', 'withholding', 'children', 'employer_avs', 'employer_ac', 'employer_family',
        'employer_accident', 'employer_sickness', 'employer_pension')),
    PRIMARY KEY (tenant_id, code)
) {table};
-- Who is taxed at the source, where and by which tariff (B1N: one earner, one child, no church).
CREATE TABLE tax_settings (
    tenant_id {id} NOT NULL,
    employee_id {id} NOT NULL,
    valid_from {date} NOT NULL,
    canton TEXT NOT NULL CHECK (length(canton) = 2),
    tariff_code TEXT NOT NULL CHECK (length(tariff_code) BETWEEN 2 AND 3),
    PRIMARY KEY (tenant_id, employee_id, valid_from),
    FOREIGN KEY (tenant_id, employee_id) REFERENCES employees (tenant_id, id)
) {table};
-- A canton corrects its tariffs during the year: every version stays, the highest one counts.
CREATE TABLE withholding_tariffs (
    tenant_id {id} NOT NULL REFERENCES tenants (id),
    canton TEXT NOT NULL CHECK (length(canton) = 2),
    year INTEGER NOT NULL CHECK (year BETWEEN 1900 AND 2199),
    version INTEGER NOT NULL CHECK (version >= 1),
    tariff_code TEXT NOT NULL,
    income_from {money} NOT NULL CHECK (income_from >= 0),
    rate_percent {rate} NOT NULL CHECK (rate_percent >= 0),
    PRIMARY KEY (tenant_id, canton, year, version, tariff_code, income_from)
) {table};
CREATE INDEX payslip_lines_by_code ON payslip_lines (tenant_id, payslip_id, code);
