//! The net-rate method: a rate granted for each activity, on its turnover with the tax in it, and no input tax.

use std::collections::BTreeMap;

use super::form::{FormFigure, Leaf, NET_RATE_TAXES, Sign};
use super::kinds::Direction;
use super::queries::{Line, Span, net_rate_lines};
use super::rules::{Share, Sums, plus, range, shared_tax, shares, signed};
use super::setup::{Activity, CodeBook};
use crate::dates::Day;
use crate::db::Read;
use crate::error::Result;
use crate::ledger::{AccountKind, VatPart};
use crate::money::{Money, Rate};

use FormFigure as F;

/// The last year whose form has a second row for a second rate; since then one row has an annex (source: the return form).
const LAST_YEAR_OF_SECOND_ROW: i32 = 2024;
/// The last year of the rates before the present ones.
const LAST_YEAR_BEFORE: i32 = 2023;

/// A row of turnover at a net rate: figure, activity, rate.
pub(super) type Row = (FormFigure, String, Rate);

/// What a line adds to a sum, and to which activity.
#[derive(Debug, Clone)]
pub(super) struct Contribution {
    pub(super) leaf: Leaf,
    pub(super) row: Option<Row>,
    pub(super) amount: Money,
    /// The place of the line among those that were read.
    pub(super) line: usize,
}

/// The sums of a span, the turnover of each activity, and what they are made of.
#[derive(Debug, Default)]
pub(super) struct NetRate {
    pub(super) sums: Sums,
    /// Turnover, tax and lines of each row.
    pub(super) rows: BTreeMap<Row, (Money, Money, i64)>,
    pub(super) contributions: Vec<Contribution>,
    pub(super) lines: Vec<Line>,
    /// The tax that lines with a VAT code moved and that the return takes up, credit less debit.
    pub(super) tax_moved: Money,
}

/// What the lines are measured by.
struct Method<'a> {
    codes: &'a CodeBook,
    activities: &'a [Activity],
    /// The last day of the period.
    to: Day,
}

impl NetRate {
    /// Reads the lines of a span.
    pub(super) fn of(
        scope: &mut Read<'_>,
        span: Span,
        codes: &CodeBook,
        activities: &[Activity],
    ) -> Result<Self> {
        let lines = net_rate_lines(scope, span)?;
        let method = Method { codes, activities, to: span.to };
        let mut this = Self::default();
        let numbered: Vec<_> = lines.iter().enumerate().collect();
        for entry in numbered.chunk_by(|(_, a), (_, b)| a.entry == b.entry) {
            for (at, line) in entry {
                this.place(&method, (*at, line), entry)?;
            }
        }
        this.lines = lines;
        for contribution in &this.contributions {
            let Some(row) = &contribution.row else { continue };
            let (base, _, lines) = this.rows.entry(row.clone()).or_default();
            *base = plus(*base, contribution.amount)?;
            *lines += 1;
        }
        for ((figure, _, rate), (base, tax, _)) in &mut this.rows {
            *tax = base.percent(*rate).ok_or_else(range)?;
            this.sums.add((*figure, VatPart::Tax), *tax)?;
        }
        Ok(this)
    }

    /// The tax on each record of a row, rounded one by one: the tax of the row but for what rounding once differs by.
    pub(super) fn rounded(&self, row: &Row) -> Result<Money> {
        let own = self.contributions.iter().filter(|one| one.row.as_ref() == Some(row));
        let taxes = own.map(|one| one.amount.percent(row.2).ok_or_else(range));
        taxes.into_iter().try_fold(Money::ZERO, |sum, tax| plus(sum, tax?))
    }

    /// Adds what a line of an entry brings: a supply with the tax charged on it, or one that another account owes.
    fn place(
        &mut self,
        method: &Method<'_>,
        (at, line): (usize, &Line),
        entry: &[(usize, &Line)],
    ) -> Result<()> {
        let rule = line.code.as_deref().and_then(|code| method.codes.code(code));
        let direction = rule.map(|code| code.rule.direction);
        match (direction, line.part) {
            (Some(Direction::Output), Some(VatPart::Tax)) => {
                let is_base = |other: &&(usize, &Line)| {
                    other.1.part == Some(VatPart::Base) && other.1.code == line.code
                };
                let bases: Vec<_> = entry.iter().filter(is_base).collect();
                let amounts: Vec<_> = bases.iter().map(|(_, base)| base.amount).collect();
                for ((_, base), amount) in bases.iter().zip(shared_tax(line.amount, &amounts)?) {
                    self.supply(method, base, at, amount)?;
                    self.tax_moved = plus(self.tax_moved, amount)?;
                }
                Ok(())
            }
            (Some(Direction::Output), Some(VatPart::Base)) | (None, None) => {
                self.supply(method, line, at, line.amount)
            }
            (Some(_), Some(part)) => {
                let tax = method.tax_figure(line);
                let Some(code) = rule else { return Ok(()) };
                let of = shares(&code.rule, part, line.kind, tax);
                let is_due = |share: &Share| !share.leaf.0.as_str().starts_with('4');
                for share in of.into_iter().filter(is_due) {
                    self.add(share, None, (at, line.amount))?;
                }
                if part == VatPart::Tax && line.kind == AccountKind::Liability {
                    self.tax_moved = plus(self.tax_moved, line.amount)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Adds an amount of the line `at` as turnover of a supply: its own, or the tax charged on it.
    fn supply(&mut self, method: &Method<'_>, base: &Line, at: usize, amount: Money) -> Result<()> {
        let part = VatPart::Base;
        let Some(code) = base.code.as_deref().and_then(|code| method.codes.code(code)) else {
            let turnover = Share { leaf: (F::Turnover, part), sign: Sign::Plus };
            self.add(turnover, None, (at, amount))?;
            return self.at_net_rate(method, base, (at, amount));
        };
        let tax = method.tax_figure(base);
        for share in shares(&code.rule, part, base.kind, tax) {
            if Some(share.leaf.0) == tax {
                self.at_net_rate(method, base, (at, amount))?;
            } else {
                self.add(share, None, (at, amount))?;
            }
        }
        Ok(())
    }

    /// Adds turnover at the net rate of its activity; of none, it stays out, and the checks tell.
    fn at_net_rate(
        &mut self,
        method: &Method<'_>,
        base: &Line,
        amount: (usize, Money),
    ) -> Result<()> {
        let Some((figure, activity)) = method.row(base) else { return Ok(()) };
        let share = Share { leaf: (figure, VatPart::Base), sign: Sign::Plus };
        self.add(share, Some((figure, activity.code.clone(), activity.rate)), amount)
    }

    fn add(
        &mut self,
        share: Share,
        row: Option<Row>,
        (line, amount): (usize, Money),
    ) -> Result<()> {
        let amount = signed(amount, share.sign)?;
        self.sums.add(share.leaf, amount)?;
        self.contributions.push(Contribution { leaf: share.leaf, row, amount, line });
        Ok(())
    }
}

impl Method<'_> {
    /// The figure of the tax at the rate of the day of supply.
    fn tax_figure(&self, line: &Line) -> Option<FormFigure> {
        self.codes.tax_figure(line.code.as_deref()?, line.rate_from)
    }

    /// The figure and the activity of turnover: that of its account, or the only one there is.
    fn row(&self, line: &Line) -> Option<(FormFigure, &Activity)> {
        let is_valid = |one: &&Activity| {
            one.valid_from <= line.supplied_on
                && one.valid_to.is_none_or(|to| to >= line.supplied_on)
        };
        let valid: Vec<_> = self.activities.iter().filter(is_valid).collect();
        let first = valid.first().copied()?;
        let is_only = valid.iter().all(|one| one.code == first.code);
        let named = line.activity.as_deref();
        let named = valid.iter().find(|one| Some(one.code.as_str()) == named).copied();
        let activity = named.or(is_only.then_some(first))?;
        let is_second = activity.rate != first.rate && self.to.year() <= LAST_YEAR_OF_SECOND_ROW;
        let is_before = line.supplied_on.year() <= LAST_YEAR_BEFORE;
        let [before, second_before, now, second] = NET_RATE_TAXES;
        let figure = match (is_before, is_second) {
            (true, false) => before,
            (true, true) => second_before,
            (false, false) => now,
            (false, true) => second,
        };
        Some((figure, activity))
    }
}
