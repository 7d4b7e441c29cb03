//! Where postings go on the form: pure rules, without a database.
//!
//! An amount is credit less debit throughout; the sign of a share turns it into what the form shows.

use std::collections::BTreeMap;

use diesel::prelude::*;

use super::form::{FormFigure, Leaf, Sign};
use super::kinds::Direction;
use crate::db::schema::vat_codes;
use crate::error::{Error, Result};
use crate::ledger::{AccountKind, VatPart};
use crate::money::Money;

use FormFigure as F;

/// A VAT code, and the figures that it fills.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = vat_codes)]
pub(super) struct CodeRule {
    pub(super) code: String,
    pub(super) direction: Direction,
    pub(super) turnover_figure: Option<FormFigure>,
    pub(super) opted_figure: Option<FormFigure>,
    pub(super) deduction_figure: Option<FormFigure>,
    pub(super) input_figure: Option<FormFigure>,
}

/// A sum to which an amount belongs, and with which sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) leaf: Leaf,
    pub(super) sign: Sign,
}

const fn share(figure: FormFigure, part: VatPart, sign: Sign) -> Share {
    Share { leaf: (figure, part), sign }
}

/// Where a line goes: its code, which part of a supply it is, the kind of its account, and the figure of the tax at the rate
/// of its day of supply.
pub(super) fn shares(
    code: &CodeRule,
    part: VatPart,
    account: AccountKind,
    tax: Option<FormFigure>,
) -> Vec<Share> {
    use Sign::{Minus, Plus};
    use VatPart::{Base, Tax};
    let mut shares = vec![];
    match (code.direction, part, account) {
        (Direction::Output, Base, _) => {
            shares.extend(code.turnover_figure.map(|figure| share(figure, Base, Plus)));
            shares.extend(code.opted_figure.map(|figure| share(figure, Base, Plus)));
            // What is deducted was part of the turnover, or else takes away from it: a discount.
            let sign = if code.turnover_figure.is_some() { Plus } else { Minus };
            shares.extend(code.deduction_figure.map(|figure| share(figure, Base, sign)));
            shares.extend(tax.map(|figure| share(figure, Base, Plus)));
        }
        (Direction::Output, Tax, _) | (Direction::Acquisition, Tax, AccountKind::Liability) => {
            shares.extend(tax.map(|figure| share(figure, Tax, Plus)));
        }
        (Direction::Acquisition, Base, _) => {
            shares.extend(tax.map(|figure| share(figure, Base, Minus)));
        }
        (Direction::Acquisition, Tax, AccountKind::Asset) => {
            shares.extend(code.input_figure.map(|figure| share(figure, Tax, Minus)));
        }
        (Direction::Input, Tax, _) => {
            let sign = match code.input_figure {
                Some(F::InputCorrection | F::InputReduction) => Plus,
                _ => Minus,
            };
            shares.extend(code.input_figure.map(|figure| share(figure, Tax, sign)));
        }
        (Direction::None, Base, _) => {
            shares.extend(code.turnover_figure.map(|figure| share(figure, Base, Plus)));
        }
        (Direction::Acquisition | Direction::None, Tax, _) | (Direction::Input, Base, _) => {}
    }
    shares
}

/// An amount with a sign.
pub(super) fn signed(amount: Money, sign: Sign) -> Result<Money> {
    match sign {
        Sign::Plus => Ok(amount),
        Sign::Minus => less(Money::ZERO, amount),
    }
}

/// The sum of two amounts.
pub(super) fn plus(a: Money, b: Money) -> Result<Money> {
    a.plus(b).ok_or_else(range)
}

/// The difference of two amounts.
pub(super) fn less(a: Money, b: Money) -> Result<Money> {
    a.minus(b).ok_or_else(range)
}

/// An amount of a return that leaves the range.
pub(super) fn range() -> Error {
    Error::fault("a figure of a VAT return is out of range")
}

/// The sums of a return, from which every figure follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sums(BTreeMap<Leaf, Money>);

impl Sums {
    /// Adds an amount to a sum.
    pub(super) fn add(&mut self, leaf: Leaf, amount: Money) -> Result<()> {
        let sum = self.0.entry(leaf).or_default();
        *sum = plus(*sum, amount)?;
        Ok(())
    }

    /// A sum, nought where nothing was added.
    pub(super) fn leaf(&self, leaf: Leaf) -> Money {
        self.0.get(&leaf).copied().unwrap_or_default()
    }

    /// The taxed amount of a figure.
    pub(super) fn base(&self, figure: FormFigure) -> Money {
        self.leaf((figure, VatPart::Base))
    }

    /// The amount of a figure: a sum of postings, or computed from other figures.
    pub(super) fn amount(&self, figure: FormFigure) -> Result<Money> {
        if figure.terms().is_empty() {
            return Ok(self.leaf((figure, figure.part())));
        }
        figure.terms().iter().try_fold(Money::ZERO, |sum, (term, sign)| {
            plus(sum, signed(self.amount(*term)?, *sign)?)
        })
    }

    /// What the form asks to pay, or to pay out: the one of both that is not negative, payable when nought.
    pub(super) fn outcome(&self) -> Result<FormFigure> {
        let is_due = self.amount(F::Payable)? >= Money::ZERO;
        Ok(if is_due { F::Payable } else { F::Credit })
    }
}

/// A sum that a figure is made of, and the term of its rule through which it enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) part: &'static str,
    pub(super) leaf: Leaf,
    pub(super) sign: Sign,
}

/// The sums that a figure is made of: of one that postings make its taxed amount and its tax, of a computed one those of its
/// terms, with their signs.
pub(super) fn terms(figure: FormFigure) -> Vec<Term> {
    if figure.terms().is_empty() {
        let parts: &[VatPart] = match (figure.has_base(), figure.part()) {
            (true, _) => &[VatPart::Base, VatPart::Tax],
            (false, VatPart::Base) => &[VatPart::Base],
            (false, VatPart::Tax) => &[VatPart::Tax],
        };
        let term =
            |part: &VatPart| Term { part: part.as_str(), leaf: (figure, *part), sign: Sign::Plus };
        return parts.iter().map(term).collect();
    }
    let of_term = |(term, sign): &(FormFigure, Sign)| {
        let (part, sign) = (term.as_str(), *sign);
        leaves(*term).into_iter().map(move |(leaf, inner)| Term {
            part,
            leaf,
            sign: sign.times(inner),
        })
    };
    figure.terms().iter().flat_map(of_term).collect()
}

/// The sums that the amount of a figure is made of.
fn leaves(figure: FormFigure) -> Vec<(Leaf, Sign)> {
    if figure.terms().is_empty() {
        return vec![((figure, figure.part()), Sign::Plus)];
    }
    let of_term = |(term, sign): &(FormFigure, Sign)| {
        let sign = *sign;
        leaves(*term).into_iter().map(move |(leaf, inner)| (leaf, sign.times(inner)))
    };
    figure.terms().iter().flat_map(of_term).collect()
}

/// How the tax of an entry is shared among the supplies it was charged on: by their amounts, rounded half up, the last one
/// taking the rest, so that the shares add up to the tax.
pub(super) fn shared_tax(tax: Money, bases: &[Money]) -> Result<Vec<Money>> {
    let whole = bases.iter().try_fold(Money::ZERO, |sum, base| plus(sum, *base))?;
    let (mut rest, mut shares) = (tax, vec![]);
    for (at, base) in bases.iter().enumerate() {
        let is_last = at + 1 == bases.len();
        let share = if is_last { rest } else { tax.share(*base, whole).unwrap_or_default() };
        rest = less(rest, share)?;
        shares.push(share);
    }
    Ok(shares)
}

#[cfg(test)]
mod tests;
