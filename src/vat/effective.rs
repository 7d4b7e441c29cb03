//! The effective method: tax on what was supplied, less the input tax.

use std::collections::BTreeMap;

use super::form::{Leaf, Sign};
use super::queries::{Group, Selector, Span, groups};
use super::rules::{Sums, Term, less, shares, signed};
use super::setup::CodeBook;
use crate::dates::Day;
use crate::db::Read;
use crate::error::Result;
use crate::money::Money;

/// What lines of a group add to a sum.
#[derive(Debug, Clone)]
pub(super) struct Contribution {
    pub(super) leaf: Leaf,
    pub(super) amount: Money,
    pub(super) sign: Sign,
    pub(super) group: Group,
}

/// The sums of a span, and what they are made of.
#[derive(Debug, Default)]
pub(super) struct Effective {
    pub(super) sums: Sums,
    pub(super) contributions: Vec<Contribution>,
    pub(super) groups: Vec<Group>,
}

impl Effective {
    /// Reads the lines of a span.
    pub(super) fn of(scope: &mut Read<'_>, span: Span, codes: &CodeBook) -> Result<Self> {
        let mut this = Self { groups: groups(scope, span)?, ..Self::default() };
        for group in &this.groups {
            let tax = codes.tax_figure(&group.code, group.rate_from);
            let Some(code) = codes.code(&group.code) else { continue };
            for share in shares(&code.rule, group.part, group.kind, tax) {
                let amount = signed(less(group.credit, group.debit)?, share.sign)?;
                this.sums.add(share.leaf, amount)?;
                let (leaf, sign, group) = (share.leaf, share.sign, group.clone());
                this.contributions.push(Contribution { leaf, amount, sign, group });
            }
        }
        Ok(this)
    }

    /// What selects the lines behind terms: one selector for each term and group of lines.
    pub(super) fn selectors(&self, terms: &[Term]) -> Vec<Selector> {
        let mut selectors = BTreeMap::new();
        for (at, term) in (0..).zip(terms) {
            for one in self.contributions.iter().filter(|one| one.leaf == term.leaf) {
                let Group { code, part, kind, rate_from, .. } = &one.group;
                let rate_from = rate_from.unwrap_or(Day::FIRST);
                let sign = term.sign.times(one.sign).factor();
                let key = (at, code.clone(), *part, *kind, rate_from);
                let (code, part, kind) = (code.clone(), *part, *kind);
                selectors.insert(key, Selector { term: at, sign, code, part, kind, rate_from });
            }
        }
        selectors.into_values().collect()
    }
}
