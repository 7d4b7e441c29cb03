//! Which sales documents there are and what happened to them, the same in both firms: the hard cases by name, and a
//! steady stream of ordinary ones.

use std::collections::BTreeMap;

use super::engagements;
use super::fixtures::{CasePayment, HardCase, MASTER, Pair, SealedOrNot, Service, nth};
use super::plan::{Chance, LAST_MONTH, day, last_day, months};
use crate::dates::Day;
use crate::error::{Error, Result};
use crate::firm::Unit;
use crate::invoicing::{Channel, Document, PaymentMethod};
use crate::mandates::MandateStatus;
use crate::money::{Currency, Money, Quantity, Rate};

/// Ordinary documents a month.
const A_MONTH: u32 = 20;
/// Where chance begins.
const SEED: u64 = 2024;

/// A sales document.
#[derive(Debug)]
pub(super) struct Sale {
    /// Its place in creation order, from 1, which is also that of its id.
    pub(super) n: u32,
    /// The hard case, if it is one.
    pub(super) case: Option<&'static str>,
    pub(super) document: Document,
    pub(super) is_issued: bool,
    pub(super) client: u32,
    pub(super) mandate: Option<u32>,
    pub(super) currency: Currency,
    /// The day of issue, or of writing for a draft.
    pub(super) on: Day,
    pub(super) due_on: Option<Day>,
    pub(super) title: &'static Pair,
    pub(super) lines: Vec<Line>,
    pub(super) sums: Sums,
    /// The document that a credit note is for: its key while planning, its `n` afterwards.
    pub(super) origin: Option<u32>,
    pub(super) sent: Option<(Channel, Day)>,
    pub(super) payments: Vec<Payment>,
    pub(super) reminders: Vec<Reminder>,
    pub(super) commit: Option<i64>,
}

impl Sale {
    /// The first and the last day of supply, none of them before 2024 and its VAT rates.
    pub(super) fn supplied(&self) -> Result<(Day, Day)> {
        let first = day(2024, 1, 1)?;
        Ok((self.on.minus_days(30).max(first), self.on.minus_days(1).max(first)))
    }
}

/// A line.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The service's place in the list, from 1.
    pub(super) service: u32,
    pub(super) description: &'static Pair,
    pub(super) quantity: Quantity,
    pub(super) unit: Unit,
    pub(super) unit_price: Money,
    pub(super) net: Money,
    pub(super) vat_rate: Rate,
    pub(super) vat: Money,
}

/// The sums of a document.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) net: Money,
    pub(super) vat: Money,
    pub(super) rounding: Money,
    pub(super) total: Money,
}

/// Money received, or the reversal of an earlier payment on the same document.
#[derive(Debug)]
pub(super) struct Payment {
    pub(super) received_on: Day,
    pub(super) entered_on: Day,
    pub(super) amount: Money,
    pub(super) method: PaymentMethod,
    /// Whether it takes back the payment before it.
    pub(super) reverses_last: bool,
    pub(super) commit: Option<i64>,
}

/// A reminder.
#[derive(Debug)]
pub(super) struct Reminder {
    pub(super) level: i32,
    pub(super) on: Day,
    pub(super) commit: Option<i64>,
}

/// Every sales document, in order of creation.
pub(super) fn plan() -> Result<Vec<Sale>> {
    let mut all = vec![];
    for case in &MASTER.hard_cases {
        add_case(&mut all, case)?;
    }
    let mut chance = Chance::of(SEED);
    for (year, month) in months() {
        let first = day(year, month, 1)?;
        for k in 0..A_MONTH {
            let on = first.plus_days(i64::from(k * 27 / A_MONTH));
            if on <= last_day()? {
                add_ordinary(&mut all, &mut chance, on, (year, month) >= (2026, LAST_MONTH.1 - 1))?;
            }
        }
    }
    all.sort_by_key(|sale| sale.on);
    let mut keys = BTreeMap::new();
    for (n, sale) in (1..).zip(&mut all) {
        keys.insert(sale.n, n);
        sale.n = n;
    }
    for sale in &mut all {
        sale.origin = sale.origin.and_then(|key| keys.get(&key).copied());
    }
    Ok(all)
}

fn next_key(all: &[Sale]) -> Result<u32> {
    u32::try_from(all.len()).map_err(Error::fault)
}

fn range() -> Error {
    Error::fault("an amount of the demo data is out of range")
}

fn line(
    service: &'static Service,
    number: u32,
    quantity: Quantity,
    currency: Currency,
) -> Result<Line> {
    let net = service.rate.times(quantity).ok_or_else(range)?;
    let vat_rate = if currency == Currency::Usd { Rate::ZERO } else { service.vat_rate_percent };
    let vat = net.percent(vat_rate).ok_or_else(range)?;
    let (description, unit, unit_price) = (&service.work, service.unit, service.rate);
    Ok(Line { service: number, description, quantity, unit, unit_price, net, vat_rate, vat })
}

/// Sums of lines; a total in francs is rounded to five centimes, and the difference shown.
fn sums(lines: &[Line], currency: Currency) -> Result<Sums> {
    let net = lines.iter().map(|line| line.net.minor()).sum();
    let vat = lines.iter().map(|line| line.vat.minor()).sum();
    let (net, vat) = (Money::from_minor(net), Money::from_minor(vat));
    let exact = net.plus(vat).ok_or_else(range)?;
    let is_paid_in_coins = currency == Currency::Chf;
    let total = if is_paid_in_coins { exact.to_five_centimes().ok_or_else(range)? } else { exact };
    let rounding = total.minus(exact).ok_or_else(range)?;
    Ok(Sums { net, vat, rounding, total })
}

fn add_case(all: &mut Vec<Sale>, case: &'static HardCase) -> Result<()> {
    let key = next_key(all)?;
    let mut lines = vec![];
    for asked in &case.lines {
        let service = nth(&MASTER.services, asked.service - 1)?;
        let mut line = line(service, asked.service, asked.quantity, case.currency)?;
        line.description = case.description.as_ref().unwrap_or(line.description);
        lines.push(line);
    }
    let sums = sums(&lines, case.currency)?;
    let title = match &case.title {
        Some(title) => title,
        None => nth(&MASTER.document_titles, key)?,
    };
    let mut payments = vec![];
    for payment in &case.payments {
        add_case_payment(&mut payments, payment, sums.total)?;
    }
    let reminder =
        |r: &super::fixtures::CaseReminder| Reminder { level: r.level, on: r.on, commit: None };
    all.push(Sale {
        n: key,
        case: Some(&case.case),
        document: case.document,
        is_issued: case.state == SealedOrNot::Issued,
        client: case.client,
        mandate: case.mandate,
        currency: case.currency,
        on: case.on,
        due_on: case.due_on,
        title,
        lines,
        sums,
        origin: None,
        sent: case.sent.map(|channel| (channel, case.on)),
        payments,
        reminders: case.reminders.iter().map(reminder).collect(),
        commit: None,
    });
    for credit in &case.credits {
        add_credit(all, key, credit.on, &credit.lines, credit.is_draft)?;
    }
    Ok(())
}

fn add_case_payment(to: &mut Vec<Payment>, from: &CasePayment, total: Money) -> Result<()> {
    let share = total.percent(from.percent).ok_or_else(range)?;
    let paid = Payment {
        received_on: from.on,
        entered_on: from.entered_on.unwrap_or(from.on),
        amount: share.plus(from.plus).ok_or_else(range)?,
        method: from.method.unwrap_or(PaymentMethod::Bank),
        reverses_last: false,
        commit: None,
    };
    let (amount, method) = (Money::ZERO.minus(paid.amount).ok_or_else(range)?, paid.method);
    to.push(paid);
    if let Some(on) = from.reversed_on {
        let reverses_last = true;
        to.push(Payment {
            received_on: on,
            entered_on: on,
            amount,
            method,
            reverses_last,
            commit: None,
        });
    }
    Ok(())
}

/// Adds a credit note for some lines, counted from 1, of the document with this key; answers its total.
fn add_credit(
    all: &mut Vec<Sale>,
    key: u32,
    on: Day,
    lines: &[usize],
    is_draft: bool,
) -> Result<Money> {
    let n = next_key(all)?;
    let origin = usize::try_from(key).ok().and_then(|at| all.get(at));
    let origin = origin.ok_or_else(|| Error::fault("a credit note without an invoice"))?;
    let chosen = (1..).zip(&origin.lines).filter(|(at, _)| lines.contains(at));
    let lines: Vec<Line> = chosen.map(|(_, line)| line.clone()).collect();
    let sums = sums(&lines, origin.currency)?;
    let credit = Sale {
        n,
        case: origin.case,
        document: Document::CreditNote,
        is_issued: !is_draft,
        client: origin.client,
        mandate: origin.mandate,
        currency: origin.currency,
        on,
        due_on: None,
        title: origin.title,
        lines,
        sums,
        origin: Some(key),
        sent: (!is_draft).then_some((Channel::Email, on)),
        payments: vec![],
        reminders: vec![],
        commit: None,
    };
    all.push(credit);
    Ok(sums.total)
}

fn add_ordinary(all: &mut Vec<Sale>, chance: &mut Chance, on: Day, is_recent: bool) -> Result<()> {
    let key = next_key(all)?;
    let mandate = 1 + chance.below(engagements::MANDATES);
    let engagement = engagements::mandate(mandate)?;
    let document = match (chance.below(100), engagement.status) {
        (_, MandateStatus::Prospective) | (80..=88, _) => Document::Quote,
        (89..=92, _) => Document::ProForma,
        _ => Document::Invoice,
    };
    let is_issued = !(is_recent && chance.below(100) < 20);
    let mut lines = vec![];
    for _ in 0..=chance.below(4) {
        let number = 1 + chance.below(11);
        let service = nth(&MASTER.services, number - 1)?;
        let quantity = match service.unit {
            Unit::Hour => i64::from(1 + chance.below(60)) * 250,
            Unit::Piece => i64::from(1 + chance.below(8)) * 1_000,
            Unit::Month => 1_000,
            Unit::Flat => i64::from(1 + chance.below(2)) * 1_000,
        };
        let quantity = Quantity::from_minor(quantity);
        lines.push(line(service, number, quantity, engagement.currency)?);
    }
    let sums = sums(&lines, engagement.currency)?;
    let term = nth(&[30, 30, 30, 10, 60], chance.below(5)).copied()?;
    let is_owed = document == Document::Invoice && is_issued;
    let channel =
        nth(&[Channel::Email, Channel::Email, Channel::Post, Channel::Ebill], chance.below(4));
    let is_general = chance.below(17) == 0;
    let sent_after = i64::from(chance.below(3));
    all.push(Sale {
        n: key,
        case: None,
        document,
        is_issued,
        client: engagement.client,
        mandate: (!is_general).then_some(mandate),
        currency: engagement.currency,
        on,
        due_on: (document == Document::Invoice && is_issued).then(|| on.plus_days(term)),
        title: nth(&MASTER.document_titles, chance.below(8))?,
        sums,
        lines,
        origin: None,
        sent: (is_issued && chance.below(12) > 0).then_some((*channel?, on.plus_days(sent_after))),
        payments: vec![],
        reminders: vec![],
        commit: None,
    });
    if is_owed { settle(all, chance, key, on.plus_days(term)) } else { Ok(()) }
}

/// What happens to an ordinary invoice: credited, paid at once, in parts, late or not yet, and reminded meanwhile.
fn settle(all: &mut Vec<Sale>, chance: &mut Chance, key: u32, due_on: Day) -> Result<()> {
    let (today, at) = (last_day()?, usize::try_from(key).map_err(Error::fault)?);
    let missing = || Error::fault("a payment without an invoice");
    let sale = all.get(at).ok_or_else(missing)?;
    let (on, total, lines) = (sale.on, sale.sums.total, sale.lines.len());
    let (fate, credited_on) = (chance.below(100), on.plus_days(12));
    let mut owed = total;
    if fate < 5 && credited_on <= today {
        owed = owed.minus(add_credit(all, key, credited_on, &[1], false)?).ok_or_else(range)?;
    }
    let paid_on = on.plus_days(i64::from(8 + chance.below(40)));
    let half = owed.percent(Rate::from_minor(500_000)).ok_or_else(range)?;
    let mut parts = match fate {
        _ if lines == 1 && fate < 5 => vec![],
        0..=86 => vec![(paid_on, owed)],
        87..=90 => vec![(paid_on, half)],
        91..=93 => {
            vec![(paid_on, half), (paid_on.plus_days(30), owed.minus(half).ok_or_else(range)?)]
        }
        _ => vec![],
    };
    parts.retain(|(day, amount)| *day <= today && *amount > Money::ZERO);
    let is_settled = parts.iter().map(|(_, amount)| amount.minor()).sum::<i64>() == owed.minor();
    let settled_on = parts.last().filter(|_| is_settled).map_or(today, |(day, _)| *day);
    let method = *nth(
        &[PaymentMethod::Bank, PaymentMethod::Bank, PaymentMethod::Bank, PaymentMethod::Twint],
        chance.below(4),
    )?;
    let depth = i32::try_from(1 + chance.below(4)).map_err(Error::fault)?;
    let reminders = (0..depth).map(|level| (level, due_on.plus_days(i64::from(10 + 20 * level))));
    let sale = all.get_mut(at).ok_or_else(missing)?;
    if owed > Money::ZERO {
        let kept = reminders.filter(|(_, day)| *day < settled_on);
        sale.reminders = kept.map(|(level, on)| Reminder { level, on, commit: None }).collect();
    }
    let payment = |(day, amount)| Payment {
        received_on: day,
        entered_on: day,
        amount,
        method,
        reverses_last: false,
        commit: None,
    };
    sale.payments = parts.into_iter().map(payment).collect();
    Ok(())
}

/// The reference fee of a reminder of each level, in the invoice's currency (practice: none, none, 20, 40).
pub(super) fn reminder_fee(level: i32) -> Money {
    match level {
        ..=1 => Money::ZERO,
        2 => Money::from_minor(2_000),
        _ => Money::from_minor(4_000),
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, plan};
    use crate::demo::engagements::mandate;
    use crate::demo::ids;

    #[test]
    fn every_document_belongs_to_the_client_of_its_mandate() {
        for sale in plan().unwrap() {
            if let Some(n) = sale.mandate {
                assert_eq!(mandate(n).unwrap().client, sale.client, "{:?}", sale.case);
            }
            assert_eq!(sale.origin.is_some(), sale.document == Document::CreditNote);
            assert!(sale.origin.is_none_or(|origin| origin < sale.n));
        }
    }

    #[test]
    fn the_invoice_of_the_examples_is_the_showcase() {
        let all = plan().unwrap();
        let showcase = all.iter().find(|sale| sale.case == Some("showcase")).unwrap();
        assert_eq!(showcase.n, ids::EXAMPLE_INVOICE);
        assert_eq!((showcase.lines.len(), showcase.payments.len()), (4, 1));
    }
}
