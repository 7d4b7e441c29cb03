//! Which mandates there are, the same in both firms.

use super::books::{SHOP, TRADE};
use super::fixtures::{MASTER, nth};
use super::plan::day;
use crate::clients::ClientStatus;
use crate::dates::Day;
use crate::error::{Error, Result};
use crate::mandates::{Billing, MandateKind, MandateStatus, VatMethod, VatPeriod};
use crate::money::{Currency, Money, Quantity, Rate};

/// How many mandates a firm has.
pub(super) const MANDATES: u32 = 90;
/// The firm as its own client, after those of the fixture.
pub(super) const FIRM_CLIENT: u32 = 61;
/// The firm's own mandate, in which it keeps its own books.
pub(super) const FIRM_MANDATE: u32 = 91;
/// Mandates of the first client: one of each kind.
const OF_FIRST_CLIENT: u32 = 6;
/// The client that has no mandate.
pub(super) const WITHOUT_MANDATE: u32 = 58;

/// A mandate.
#[derive(Debug)]
pub(super) struct Mandate {
    pub(super) client: u32,
    pub(super) kind: MandateKind,
    pub(super) status: MandateStatus,
    pub(super) starts_on: Day,
    pub(super) ends_on: Option<Day>,
    pub(super) billing: Billing,
    pub(super) currency: Currency,
    pub(super) flat_fee: Option<Money>,
    pub(super) budget_amount: Option<Money>,
    pub(super) budget_hours: Option<Quantity>,
    pub(super) fiscal_year_end_month: i32,
    pub(super) vat_method: VatMethod,
    pub(super) vat_period: Option<VatPeriod>,
    pub(super) vat_net_rate: Option<Rate>,
}

/// The client of the `n`th mandate: six for the first client, then one or two for each but the one without.
fn client_of(n: u32) -> Result<u32> {
    if n <= OF_FIRST_CLIENT {
        return Ok(1);
    }
    let last = u32::try_from(MASTER.clients.len()).map_err(Error::fault)?;
    let others: Vec<u32> = (2..=last).filter(|client| *client != WITHOUT_MANDATE).collect();
    nth(&others, n - OF_FIRST_CLIENT - 1).copied()
}

/// The `n`th mandate, counted from 1; the last is the firm's own.
pub(super) fn mandate(n: u32) -> Result<Mandate> {
    if n == FIRM_MANDATE {
        return of_firm();
    }
    let client = client_of(n)?;
    let kind = nth(&MASTER.mandate_titles, n - 1)?.kind;
    let status = match nth(&MASTER.clients, client - 1)?.status {
        ClientStatus::Prospect => MandateStatus::Prospective,
        ClientStatus::Ended => MandateStatus::Ended,
        _ if n.is_multiple_of(29) => MandateStatus::Ended,
        _ if n.is_multiple_of(23) => MandateStatus::Suspended,
        _ => MandateStatus::Active,
    };
    let ended = || day(2026, 1 + n % 9, 28);
    let billing = match n % 10 {
        0 => Billing::NotBilled,
        1 | 4 | 7 => Billing::FlatFee,
        _ => Billing::Hourly,
    };
    let (vat_method, vat_period) = match n % 5 {
        3 => (VatMethod::NetRate, Some(VatPeriod::Half)),
        4 => (VatMethod::NotLiable, None),
        _ if n == TRADE => (VatMethod::Effective, Some(VatPeriod::Quarter)),
        _ if n % 10 == 1 => (VatMethod::Effective, Some(VatPeriod::Month)),
        _ if n % 10 == 2 => (VatMethod::Effective, Some(VatPeriod::Year)),
        _ => (VatMethod::Effective, Some(VatPeriod::Quarter)),
    };
    let year = 2018 + i32::try_from(n % 6).map_err(Error::fault)?;
    Ok(Mandate {
        client,
        kind,
        status,
        starts_on: day(year, 1 + n % 12, 1)?,
        ends_on: (status == MandateStatus::Ended).then(ended).transpose()?,
        billing,
        currency: match n % 12 {
            4 | 10 => Currency::Eur,
            6 => Currency::Usd,
            _ => Currency::Chf,
        },
        flat_fee: (billing == Billing::FlatFee).then(|| Money::from_minor(i64::from(n) * 10_000)),
        budget_amount: (!n.is_multiple_of(3))
            .then(|| Money::from_minor(500_000 + i64::from(n) * 12_500)),
        budget_hours: (!n.is_multiple_of(3))
            .then(|| Quantity::from_minor(40_000 + i64::from(n) * 750)),
        fiscal_year_end_month: match n % 8 {
            _ if n == SHOP => 12,
            3 => 6,
            5 => 9,
            _ => 12,
        },
        vat_method,
        vat_period,
        vat_net_rate: (vat_method == VatMethod::NetRate).then(|| Rate::from_minor(62_000)),
    })
}

/// The firm's own mandate.
fn of_firm() -> Result<Mandate> {
    Ok(Mandate {
        client: FIRM_CLIENT,
        kind: MandateKind::Accounting,
        status: MandateStatus::Active,
        starts_on: day(2018, 1, 1)?,
        ends_on: None,
        billing: Billing::NotBilled,
        currency: Currency::Chf,
        flat_fee: None,
        budget_amount: None,
        budget_hours: None,
        fiscal_year_end_month: 12,
        vat_method: VatMethod::Effective,
        vat_period: Some(VatPeriod::Quarter),
        vat_net_rate: None,
    })
}
