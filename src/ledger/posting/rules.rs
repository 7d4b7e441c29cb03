//! What an entry must keep to; the database refuses the same, but cannot say it as well.

use std::collections::BTreeMap;

use super::entry::{NewEntry, NewLine, Vat};
use super::texts::check_texts;
use crate::dates::Day;
use crate::error::{Code, Error, Refusal};
use crate::ids::{AccountId, FiscalYearId};
use crate::ledger::kinds::{FiscalYearState, JournalCode};
use crate::money::{Currency, Money, Rate};

text_enum! {
    /// The rule that an entry breaks.
    Rule {
        /// An entry has two lines or more.
        TwoLines = "two_lines",
        /// A line has a debit or a credit, above nought.
        OneSide = "one_side",
        /// An amount is at most 999,999,999,999.99.
        AmountInRange = "amount_in_range",
        /// Debits equal credits in the currency of the books.
        Balance = "balance",
        /// An amount in another currency comes with its rate, and both amounts agree to the hundredth.
        ForeignAmount = "foreign_amount",
        /// The account is one of the mandate's chart.
        KnownAccount = "known_account",
        /// The account is in use.
        ActiveAccount = "active_account",
        /// The account is no heading.
        PostableAccount = "postable_account",
        /// The account takes the currency of the line.
        AccountCurrency = "account_currency",
        /// The account is posted to with a party.
        Party = "party",
        /// The VAT code is one of the firm's.
        KnownVatCode = "known_vat_code",
        /// The VAT rate was in force on the day of supply.
        VatRate = "vat_rate",
        /// The day lies in a fiscal year of the mandate.
        FiscalYear = "fiscal_year",
        /// The year is open, the period not locked, and nothing after it closed or locked.
        OpenPeriod = "open_period",
        /// The entry has a text.
        Text = "text",
        /// The entry has a voucher (CO art. 957a: no posting without one).
        Voucher = "voucher",
        /// A text that is given is not empty, not too long, and has no control characters.
        TextForm = "text_form",
        /// A reversal, and nothing else, stands in the journal of reversals.
        ReversalJournal = "reversal_journal",
        /// An entry is reversed once, after it was posted.
        ReversedOnce = "reversed_once",
        /// A key is good for one entry.
        KeyOnce = "key_once",
    }
}

/// A rule broken: where, and what to do.
#[derive(Debug)]
pub(crate) struct Breach {
    pub(crate) rule: Rule,
    /// The path of what is wrong in the entry, such as `lines[1].account`.
    pub(crate) field: String,
    /// The fact, the value and the way out.
    pub(crate) message: String,
}

impl Breach {
    pub(super) fn new(rule: Rule, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule, field: field.into(), message: message.into() }
    }
}

impl From<Breach> for Error {
    fn from(breach: Breach) -> Self {
        let code = match breach.rule {
            Rule::OpenPeriod => Code::PeriodClosed,
            Rule::ReversedOnce | Rule::KeyOnce => Code::Conflict,
            _ => Code::InvalidArgument,
        };
        Self::Refused(Refusal { code, message: breach.message, field: Some(breach.field) })
    }
}

/// An account as the rules see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account {
    pub(super) id: AccountId,
    pub(super) currency: Option<Currency>,
    pub(super) is_postable: bool,
    pub(super) is_active: bool,
    pub(super) needs_party: bool,
}

/// A fiscal year as the rules see it.
#[derive(Debug, Clone)]
pub(super) struct Year {
    pub(super) id: FiscalYearId,
    pub(super) label: String,
    pub(super) starts_on: Day,
    pub(super) ends_on: Day,
    pub(super) state: FiscalYearState,
    pub(super) locked_through: Option<Day>,
}

/// A rate of a VAT code and the days on which it is in force.
#[derive(Debug, Clone, Copy)]
pub(super) struct RatePeriod {
    pub(super) from: Day,
    pub(super) to: Option<Day>,
    pub(super) rate: Rate,
}

impl RatePeriod {
    pub(super) fn holds_on(&self, day: Day) -> bool {
        self.from <= day && self.to.is_none_or(|to| day <= to)
    }
}

/// Whether the poster may adjust a year that is provisionally closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Latitude {
    /// Open years only.
    Ordinary,
    /// Provisionally closed years too.
    Adjusting,
}

/// A message about a line of an entry, with its number from 1.
pub(super) fn on_line(at: usize, message: &str) -> String {
    format!("line {} of the entry: {message}", at + 1)
}

/// The greatest amount that a line takes, in hundredths.
const MOST: i64 = 99_999_999_999_999;

/// What an entry says of itself: its journal, its text and voucher, how many lines it has and that they balance.
pub(super) fn check_whole(entry: &NewEntry) -> Result<(), Breach> {
    if (entry.journal == JournalCode::Reversals) != entry.reverses.is_some() {
        let message = format!(
            "journal {} holds reversals alone; reverse an entry to post there, and use another journal for the rest",
            JournalCode::Reversals
        );
        return Err(Breach::new(Rule::ReversalJournal, "journal", message));
    }
    for (field, text, rule) in
        [("text", &entry.text, Rule::Text), ("voucher", &entry.voucher, Rule::Voucher)]
    {
        if text.trim().is_empty() {
            return Err(Breach::new(rule, field, format!("the entry has no {field}; give it one")));
        }
    }
    check_texts(entry)?;
    let count = entry.lines.len();
    if count < 2 {
        let noun = if count == 1 { "line" } else { "lines" };
        let message = format!("the entry has {count} {noun}; give it two or more");
        return Err(Breach::new(Rule::TwoLines, "lines", message));
    }
    for (at, line) in entry.lines.iter().enumerate() {
        check_sides(line).map_err(|(rule, message)| {
            Breach::new(rule, format!("lines[{at}]"), on_line(at, &message))
        })?;
    }
    let sum = |side: fn(&NewLine) -> Money| -> i128 {
        entry.lines.iter().map(|line| i128::from(side(line).minor())).sum()
    };
    let (debit, credit) = (sum(|line| line.debit), sum(|line| line.credit));
    if debit == credit {
        return Ok(());
    }
    let shown = |minor: i128| {
        let minor = minor.unsigned_abs();
        format!("{}.{:02}", minor / 100, minor % 100)
    };
    let message = format!(
        "debits of {} and credits of {} differ by {}; make them equal in the currency of the books",
        shown(debit),
        shown(credit),
        shown(debit - credit)
    );
    Err(Breach::new(Rule::Balance, "lines", message))
}

fn check_sides(line: &NewLine) -> Result<(), (Rule, String)> {
    let (debit, credit) = (line.debit, line.credit);
    let is_negative = debit < Money::ZERO || credit < Money::ZERO;
    if is_negative || (debit == Money::ZERO) == (credit == Money::ZERO) {
        let message =
            format!("a debit of {debit} and a credit of {credit}; give one of them, above nought");
        return Err((Rule::OneSide, message));
    }
    if debit.minor().max(credit.minor()) > MOST {
        let message = format!(
            "an amount of {} is too large; post at most 999999999999.99",
            debit.max(credit)
        );
        return Err((Rule::AmountInRange, message));
    }
    Ok(())
}

/// What a line must be on its account.
pub(super) fn check_account(
    line: &NewLine,
    account: Option<&Account>,
    books: Currency,
) -> Result<Account, (Rule, &'static str, String)> {
    let number = &line.account;
    let refuse = |rule, field, message| Err((rule, field, message));
    let Some(account) = account else {
        let message = format!("the mandate's chart has no account {number}; use one that it has");
        return refuse(Rule::KnownAccount, "account", message);
    };
    if !account.is_postable {
        let message = format!("account {number} is a heading; post to an account under it");
        return refuse(Rule::PostableAccount, "account", message);
    }
    if !account.is_active {
        let message = format!("account {number} is no longer in use; post to another");
        return refuse(Rule::ActiveAccount, "account", message);
    }
    let currency = line.foreign.map_or(books, |foreign| foreign.currency);
    if let Some(kept) = account.currency.filter(|kept| *kept != currency) {
        let message = format!(
            "account {number} is kept in {kept} and the line is in {currency}; give the amount in {kept} and its rate"
        );
        return refuse(Rule::AccountCurrency, "currency", message);
    }
    if account.needs_party && line.party.is_none() {
        let message = format!("account {number} is posted to with a party; name it");
        return refuse(Rule::Party, "party", message);
    }
    check_foreign(line, books)
        .map_err(|message| (Rule::ForeignAmount, "currency_amount", message))?;
    Ok(*account)
}

fn check_foreign(line: &NewLine, books: Currency) -> Result<(), String> {
    let Some(foreign) = line.foreign else { return Ok(()) };
    let booked = line.debit.max(line.credit);
    if foreign.currency == books {
        return Err(format!(
            "{books} is the currency of the books; give a currency amount in another one only"
        ));
    }
    if foreign.amount < Money::ZERO || foreign.amount.minor() > MOST {
        let amount = foreign.amount;
        return Err(format!("a currency amount of {amount} is out of range; give it above nought"));
    }
    let rate = match (foreign.amount > Money::ZERO, foreign.rate) {
        (false, None) => return Ok(()),
        (true, Some(rate)) if rate.minor() > 0 => rate,
        _ => {
            return Err(
                "a currency amount needs its rate above nought, and a rate its currency amount; give both"
                    .to_owned(),
            );
        }
    };
    let worth = foreign.amount.converted(rate).map_or(i64::MAX, Money::minor);
    if (i128::from(worth) - i128::from(booked.minor())).abs() > 1 {
        return Err(format!(
            "{} {} at {rate} is {} {books} and the line books {booked}; correct the amounts or the rate",
            foreign.currency,
            foreign.amount,
            Money::from_minor(worth)
        ));
    }
    Ok(())
}

/// Whether the rate of a line was that of its code on the day of supply.
pub(super) fn check_vat(
    vat: &Vat,
    supplied_on: Day,
    codes: &BTreeMap<String, Vec<RatePeriod>>,
) -> Result<(), (Rule, &'static str, String)> {
    let (code, rate) = (&vat.code, vat.rate);
    let Some(known) = codes.get(code) else {
        let message = format!("the firm has no VAT code {code}; use one that it has");
        return Err((Rule::KnownVatCode, "vat_code", message));
    };
    let valid = known.iter().find(|period| period.holds_on(supplied_on)).map(|period| period.rate);
    if valid == Some(rate) {
        return Ok(());
    }
    let way_out = valid.map_or_else(
        || "was not in force; use another code or day of supply".to_owned(),
        |valid| format!("stood at {valid} %; use that rate"),
    );
    let message = format!("{rate} % with VAT code {code}, which on {supplied_on} {way_out}");
    Err((Rule::VatRate, "vat_rate", message))
}

/// The fiscal year into which an entry of this day goes.
pub(super) fn year_of(years: &[Year], day: Day, latitude: Latitude) -> Result<&Year, Breach> {
    let found = years.iter().find(|year| year.starts_on <= day && day <= year.ends_on);
    if let Some(year) = found {
        check_open(year, day, latitude)?;
    }
    check_later(years, day)?;
    found.ok_or_else(|| {
        let message = format!(
            "{day} lies in no fiscal year of the mandate; use another day, or create the year first"
        );
        Breach::new(Rule::FiscalYear, "date", message)
    })
}

/// An entry changes the opening of every later year: none of them may be closed, or locked in part.
fn check_later(years: &[Year], day: Day) -> Result<(), Breach> {
    let is_sealed = |year: &&Year| {
        day < year.starts_on
            && (year.state == FiscalYearState::Closed || year.locked_through.is_some())
    };
    let Some(year) = years.iter().filter(is_sealed).min_by_key(|year| year.starts_on) else {
        return Ok(());
    };
    let label = &year.label;
    let sealed = match year.locked_through {
        Some(locked) if year.state != FiscalYearState::Closed => {
            format!("the books of {label} are locked through {locked}")
        }
        _ => format!("fiscal year {label} is closed"),
    };
    let message =
        format!("{sealed}, and an entry of {day} would change its opening; use a later day");
    Err(Breach::new(Rule::OpenPeriod, "date", message))
}

/// Whether a year takes an entry of one of its days.
fn check_open(year: &Year, day: Day, latitude: Latitude) -> Result<(), Breach> {
    let label = &year.label;
    let closed = |message| Err(Breach::new(Rule::OpenPeriod, "date", message));
    match (year.state, year.locked_through) {
        (FiscalYearState::Closed, _) => closed(format!(
            "fiscal year {label} is closed and takes no entry of {day}; use a day of an open year"
        )),
        (FiscalYearState::ProvisionallyClosed, _) if latitude == Latitude::Ordinary => {
            closed(format!(
                "fiscal year {label} is provisionally closed and takes adjustments alone; ask who closes it to post on {day}"
            ))
        }
        (_, Some(locked)) if day <= locked => closed(format!(
            "the books of {label} are locked through {locked} and take no entry of {day}; use a later day"
        )),
        _ => Ok(()),
    }
}
