//! What a figure of a return is made of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::effective::Effective;
use super::form::FormFigure;
use super::net_rate::{self, NetRate};
use super::queries::{Line, Place, SelectedLine, Span, selected};
use super::rules::{Term, less, plus, range, signed, terms};
use super::setup::{CodeBook, Filer, activities};
use crate::auth::Permission;
use crate::db::{Page, Paging, Read};
use crate::error::Result;
use crate::ids::{EntryId, RecordId};
use crate::ledger::VatPart;
use crate::mandates::VatMethod;
use crate::money::{Currency, Money};
use crate::reports::{ExplainedRow, Explanation, FigureSource, Known, Part, Taxed};

/// A figure of a return of a mandate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct VatFigure {
    pub(super) span: Span,
    pub(super) method: VatMethod,
    pub(super) number: FormFigure,
    /// The activity and its net rate in ten-thousandths of a per cent, for a row of the annex.
    pub(super) activity: Option<(String, i64)>,
}

impl FigureSource for VatFigure {
    const TAG: u8 = 40;
    const PERMISSION: Permission = Permission::VatRead;

    fn explain(&self, scope: &mut Read<'_>, paging: &Paging) -> Result<Explanation> {
        let filer = Filer::of(scope, self.span.mandate())?;
        let codes = CodeBook::of(scope)?;
        match self.method {
            VatMethod::NetRate => self.explain_net_rate(scope, paging, &filer, &codes),
            _ => self.explain_effective(scope, paging, &filer, &codes),
        }
    }
}

impl VatFigure {
    fn explain_effective(
        &self,
        scope: &mut Read<'_>,
        paging: &Paging,
        filer: &Filer,
        codes: &CodeBook,
    ) -> Result<Explanation> {
        let found = Effective::of(scope, self.span, codes)?;
        let terms = terms(self.number);
        let mut parts = Parts::of(&terms, filer.currency);
        let mut count = 0;
        for term in &terms {
            for one in found.contributions.iter().filter(|one| one.leaf == term.leaf) {
                count += one.group.lines;
                parts.add(term.part, signed(one.amount, term.sign)?, one.group.lines)?;
            }
        }
        let after: Option<Place> = scope.position(paging)?;
        let selectors = found.selectors(&terms);
        let lines = selected(scope, self.span, selectors, after, paging.fetch())?;
        let part = |line: &SelectedLine| {
            let at = usize::try_from(line.term).ok();
            at.and_then(|at| terms.get(at)).map_or("", |term| term.part)
        };
        let places: Vec<Place> =
            lines.iter().map(|line| (line.on, line.entry, line.position, line.term)).collect();
        let rows: Vec<_> = lines
            .into_iter()
            .map(|line| explained(part(&line), &line, filer.currency))
            .zip(places)
            .map(|(row, place)| Placed { row, place })
            .collect();
        let page = scope.cut(rows, count, paging, |placed| placed.place)?;
        Ok(self.explanation(scope, parts.list, self.rule(), bare(page)))
    }

    fn explain_net_rate(
        &self,
        scope: &mut Read<'_>,
        paging: &Paging,
        filer: &Filer,
        codes: &CodeBook,
    ) -> Result<Explanation> {
        let activities = activities(scope, filer)?;
        let found = NetRate::of(scope, self.span, codes, &activities)?;
        let terms = self.net_terms();
        let mut parts = Parts::of(&terms, filer.currency);
        let mut rows = vec![];
        let mut add = |row: ExplainedRow, place| {
            let added = parts.add(row.part, row.amount, 1);
            rows.push(Placed { row, place });
            added
        };
        for (at, one) in found.contributions.iter().enumerate() {
            let is_chosen =
                one.row.as_ref().map_or(self.activity.is_none(), |row| self.is_of_activity(row));
            let Some(line) = found.lines.get(one.line).filter(|_| is_chosen) else { continue };
            for (nth, term) in terms.iter().enumerate() {
                let amount = if term.leaf == one.leaf {
                    (signed(one.amount, term.sign)?, None)
                } else if let Some(row) = one.row.as_ref().filter(|row| is_tax_of(term, row)) {
                    let tax = one.amount.percent(row.2).ok_or_else(range)?;
                    let base = signed(one.amount, term.sign)?;
                    (signed(tax, term.sign)?, Some(Taxed { base, rate_percent: row.2 }))
                } else {
                    continue;
                };
                add(of_line(term.part, line, filer.currency, amount), (at, nth))?;
            }
        }
        let after_records = found.contributions.len();
        for (at, (row, (base, tax, _))) in found.rows.iter().enumerate() {
            let is_of = |term: &Term| is_tax_of(term, row) && self.is_of_activity(row);
            let rest = less(*tax, found.rounded(row)?)?;
            for (nth, term) in terms.iter().enumerate().filter(|(_, term)| is_of(term)) {
                if rest != Money::ZERO {
                    let (base, rest) = (signed(*base, term.sign)?, signed(rest, term.sign)?);
                    let row = self.rounding(term.part, row, (base, rest), filer.currency);
                    add(row, (after_records + at, nth))?;
                }
            }
        }
        if self.rests_on_net_rates() {
            parts.list.retain(|part| part.amount != Money::ZERO || part.rows > 0);
        }
        let total = i64::try_from(rows.len()).map_err(crate::error::Error::fault)?;
        let after: Option<(usize, usize)> = scope.position(paging)?;
        rows.retain(|row| after.is_none_or(|after| row.place > after));
        let page = scope.cut(rows, total, paging, |placed| placed.place)?;
        Ok(self.explanation(scope, parts.list, self.net_rule(&found), bare(page)))
    }

    /// What the tax on a sum of turnover differs by from the sum of the taxes on each record.
    fn rounding(
        &self,
        part: &'static str,
        (figure, code, rate): &net_rate::Row,
        (base, amount): (Money, Money),
        currency: Currency,
    ) -> ExplainedRow {
        let activity = if code.is_empty() { String::new() } else { format!(" {code}") };
        ExplainedRow {
            part,
            on: self.span.to,
            record: "rounding",
            record_id: None,
            position: None,
            number: None,
            text: format!("{figure}{activity}: {rate} % of {base} is rounded once").into(),
            currency,
            amount,
            taxed: None,
        }
    }

    fn rule(&self) -> Option<String> {
        let is_computed = !self.number.terms().is_empty();
        is_computed.then(|| format!("{} = {}", self.number, self.number.rule()))
    }

    /// Whether tax at net rates, which is rounded once for each row of the annex, enters the figure.
    const fn rests_on_net_rates(&self) -> bool {
        matches!(self.number, FormFigure::TaxDue | FormFigure::Payable | FormFigure::Credit)
    }

    /// The terms of the figure; where tax at net rates enters it, each by its own figure.
    fn net_terms(&self) -> Vec<Term> {
        let mut terms = terms(self.number);
        if self.rests_on_net_rates() {
            for term in &mut terms {
                term.part = term.leaf.0.as_str();
            }
        }
        terms
    }

    fn is_of_activity(&self, (_, code, rate): &net_rate::Row) -> bool {
        let activity = self.activity.as_ref();
        activity.is_none_or(|(of, percent)| of == code && rate.minor() == *percent)
    }

    /// How tax at net rates follows from turnover, row by row.
    fn net_rule(&self, found: &NetRate) -> Option<String> {
        let is_meant = |row: &net_rate::Row| {
            (row.0 == self.number || self.rests_on_net_rates()) && self.is_of_activity(row)
        };
        let rows = found.rows.iter().filter(|(row, _)| is_meant(row));
        let rows = rows.map(|((figure, _, rate), (base, tax, _))| {
            format!("{figure}: {base} × {rate} % = {tax}")
        });
        let said: Vec<_> = self.rule().into_iter().chain(rows).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn explanation(
        &self,
        scope: &Read<'_>,
        parts: Vec<Part>,
        rule: Option<String>,
        rows: Page<ExplainedRow>,
    ) -> Explanation {
        let label = self.number.label(scope.caller().language());
        let (from, to) = (self.span.from, self.span.to);
        let known = Known { commit: self.span.commit, is_present: false };
        Explanation {
            figure: format!("{} {label}, {from} to {to}", self.number),
            as_of: to,
            as_known_on: known.written(),
            parts,
            rule,
            rows,
        }
    }
}

/// A row and where it stands among all.
#[derive(Debug, Serialize)]
struct Placed<P> {
    #[serde(flatten)]
    row: ExplainedRow,
    #[serde(skip)]
    place: P,
}

fn bare<P>(page: Page<Placed<P>>) -> Page<ExplainedRow> {
    let Page { items, total, limit, truncated, next_cursor, note } = page;
    let items = items.into_iter().map(|placed| placed.row).collect();
    Page { items, total, limit, truncated, next_cursor, note }
}

fn explained(part: &'static str, line: &SelectedLine, currency: Currency) -> ExplainedRow {
    ExplainedRow {
        part,
        on: line.on,
        record: "entry_line",
        record_id: Some(record(line.entry)),
        position: Some(line.position),
        number: Some(line.number.clone()),
        text: line.text.as_str().into(),
        currency,
        amount: line.amount,
        taxed: None,
    }
}

fn of_line(
    part: &'static str,
    line: &Line,
    currency: Currency,
    (amount, taxed): (Money, Option<Taxed>),
) -> ExplainedRow {
    ExplainedRow {
        part,
        on: line.on,
        record: "entry_line",
        record_id: Some(record(line.entry)),
        position: Some(line.position),
        number: Some(line.number.clone()),
        text: line.text.as_str().into(),
        currency,
        amount,
        taxed,
    }
}

/// Whether a term is the tax on turnover of a row of the annex.
fn is_tax_of(term: &Term, row: &net_rate::Row) -> bool {
    term.leaf == (row.0, VatPart::Tax)
}

fn record(entry: EntryId) -> RecordId {
    uuid::Uuid::from(entry).into()
}

/// The sums of the parts of a figure, in the order of its terms.
struct Parts {
    list: Vec<Part>,
    at: BTreeMap<&'static str, usize>,
}

impl Parts {
    fn of(terms: &[Term], currency: Currency) -> Self {
        let mut this = Self { list: vec![], at: BTreeMap::new() };
        for term in terms {
            if !this.at.contains_key(term.part) {
                this.at.insert(term.part, this.list.len());
                let (part, amount, rows) = (term.part, Money::ZERO, 0);
                this.list.push(Part { part, currency, amount, rows });
            }
        }
        this
    }

    fn add(&mut self, part: &'static str, amount: Money, rows: i64) -> Result<()> {
        if let Some(part) = self.at.get(part).and_then(|at| self.list.get_mut(*at)) {
            part.amount = plus(part.amount, amount)?;
            part.rows += rows;
        }
        Ok(())
    }
}
