//! Value added tax: the codes of a firm, the rules of the return, and the return itself.

mod form;
mod kinds;
mod period;
mod rules;
mod seed;

pub(crate) use seed::seed_vat_codes;
