//! The master data of the demo, embedded from `fixtures/demo/*.json`: every text once for each of the two firms.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::clients::{ClientStatus, Language, LegalForm};
use crate::dates::Day;
use crate::db::Mandates;
use crate::error::{Error, Result};
use crate::firm::Unit;
use crate::invoicing::{Channel, Document, PaymentMethod};
use crate::mandates::MandateKind;
use crate::money::{Currency, Money, Quantity, Rate};
use crate::payroll::compute::Bracket;
use crate::payroll::{Pay, Wage};
use crate::proposals::{ApprovalArea, ProposalState};

/// A text of firm 0 and the text of firm 1 in its place.
#[derive(Debug, Deserialize)]
pub(super) struct Pair(pub(super) String, pub(super) String);

impl Pair {
    /// The text of `firm`.
    pub(super) fn of(&self, firm: &Firm) -> &str {
        if firm.index == 0 { &self.0 } else { &self.1 }
    }

    /// The text of `firm`, to be kept.
    pub(super) fn owned(&self, firm: &Firm) -> String {
        self.of(firm).to_owned()
    }
}

/// A firm.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Firm {
    /// 0 or 1, as the ids have it.
    #[serde(skip)]
    pub(super) index: u16,
    pub(super) slug: String,
    pub(super) name: String,
    /// The folded word that marks every text of the firm.
    pub(super) canary: String,
    /// The same as it is written.
    pub(super) word: String,
    /// What its numbers begin with.
    pub(super) prefix: String,
    /// The domain of its e-mail addresses.
    pub(super) domain: String,
    pub(super) language: Language,
    /// The language in which its people are answered.
    pub(super) answers_in: crate::language::Language,
    pub(super) uid: String,
    pub(super) email: String,
    pub(super) phone: String,
    pub(super) street: String,
    pub(super) house_number: String,
    pub(super) postal_code: String,
    pub(super) town: String,
    pub(super) iban: String,
    pub(super) qr_iban: String,
    /// The first six digits of its QR references.
    pub(super) qr_participant: String,
    /// The password of its people.
    pub(super) password: String,
    /// The name of their tokens.
    pub(super) token: String,
    /// The reference of payments that carry no QR reference.
    pub(super) payment: String,
    pub(super) series: Series,
}

/// The letters that tell the number series of documents apart.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Series {
    invoice: String,
    quote: String,
    pro_forma: String,
    credit_note: String,
}

impl Series {
    /// The letter of a kind of document.
    pub(super) fn letter(&self, document: Document) -> &str {
        match document {
            Document::Invoice => &self.invoice,
            Document::Quote => &self.quote,
            Document::ProForma => &self.pro_forma,
            Document::CreditNote => &self.credit_note,
        }
    }
}

/// A person.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Person {
    pub(super) name: Pair,
    pub(super) email: Pair,
    /// The name of a natural person who works for both firms.
    #[serde(default)]
    pub(super) shared_name: Option<String>,
    pub(super) role: Pair,
    pub(super) reach: Mandates,
    #[serde(default)]
    pub(super) mandates: Option<Stride>,
    /// That of the firm unless given.
    #[serde(default)]
    pub(super) language: Option<crate::language::Language>,
    pub(super) state: super::DemoState,
}

/// Every so manieth mandate, from one on.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stride {
    first: u32,
    step: u32,
    pub(super) count: u32,
}

impl Stride {
    /// The mandates.
    pub(super) fn mandates(self) -> impl Iterator<Item = u32> {
        (0..self.count).map(move |n| self.first + n * self.step)
    }
}

/// A street in a town.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    pub(super) street: Pair,
    pub(super) postal_code: Pair,
    pub(super) town: Pair,
    pub(super) country: Pair,
}

/// A client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Client {
    pub(super) name: Pair,
    pub(super) legal_form: LegalForm,
    pub(super) status: ClientStatus,
    /// The firm's own language unless given.
    #[serde(default)]
    pub(super) language: Option<Language>,
    #[serde(default)]
    pub(super) deleted_on: Option<Day>,
}

/// A person to talk to at a client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Contact {
    pub(super) name: Pair,
    pub(super) job_title: Pair,
}

/// What mandates of a kind are called.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MandateTitle {
    pub(super) kind: MandateKind,
    pub(super) title: Pair,
}

/// Something the firm sells.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Service {
    pub(super) code: Pair,
    pub(super) name: Pair,
    pub(super) unit: Unit,
    pub(super) rate: Money,
    pub(super) currency: Currency,
    pub(super) vat_rate_percent: Rate,
    pub(super) is_active: bool,
    /// What a line of an invoice says of it.
    pub(super) work: Pair,
}

/// A sales document that is there on purpose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HardCase {
    /// What it is there for.
    pub(super) case: String,
    pub(super) document: Document,
    pub(super) state: SealedOrNot,
    pub(super) client: u32,
    #[serde(default)]
    pub(super) mandate: Option<u32>,
    pub(super) currency: Currency,
    /// The day of issue, or of writing for a draft.
    pub(super) on: Day,
    #[serde(default)]
    pub(super) due_on: Option<Day>,
    #[serde(default)]
    pub(super) title: Option<Pair>,
    /// The description of every line, if it is not that of the service.
    #[serde(default)]
    pub(super) description: Option<Pair>,
    pub(super) lines: Vec<CaseLine>,
    #[serde(default)]
    pub(super) sent: Option<Channel>,
    #[serde(default)]
    pub(super) payments: Vec<CasePayment>,
    #[serde(default)]
    pub(super) credits: Vec<CaseCredit>,
    #[serde(default)]
    pub(super) reminders: Vec<CaseReminder>,
}

/// Whether a sales document is issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SealedOrNot {
    Draft,
    Issued,
}

/// A line: so much of a service at the firm's rate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseLine {
    pub(super) service: u32,
    pub(super) quantity: Quantity,
}

/// A payment of so many per cent of the total, and an amount on top.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CasePayment {
    pub(super) on: Day,
    pub(super) percent: Rate,
    #[serde(default)]
    pub(super) plus: Money,
    #[serde(default)]
    pub(super) method: Option<PaymentMethod>,
    #[serde(default)]
    pub(super) entered_on: Option<Day>,
    #[serde(default)]
    pub(super) reversed_on: Option<Day>,
}

/// A credit note for some lines, counted from 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseCredit {
    pub(super) on: Day,
    pub(super) lines: Vec<usize>,
    #[serde(default)]
    pub(super) is_draft: bool,
}

/// A reminder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseReminder {
    pub(super) level: i32,
    pub(super) on: Day,
}

/// A proposal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Proposal {
    pub(super) tool: String,
    /// The role of who made it.
    pub(super) by: String,
    pub(super) mandate: Option<u32>,
    pub(super) summary: Pair,
    pub(super) state: ProposalState,
    #[serde(default)]
    pub(super) area: Option<ApprovalArea>,
    pub(super) created_at: String,
    /// How long it can be decided.
    pub(super) minutes: i64,
    /// The role of who decided it.
    #[serde(default)]
    pub(super) decided_by: Option<String>,
}

/// A kind of line of a payslip.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WageType {
    pub(super) key: Wage,
    pub(super) code: Pair,
    pub(super) label: Pair,
    #[serde(default)]
    pub(super) rate_percent: Option<Rate>,
}

/// An employee with the contract of the first day.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Employee {
    pub(super) mandate: u32,
    pub(super) first_name: Pair,
    pub(super) last_name: Pair,
    pub(super) job_title: Pair,
    pub(super) birth_date: Day,
    pub(super) hired_on: Day,
    #[serde(default)]
    pub(super) left_on: Option<Day>,
    pub(super) pay: Pay,
    /// A month's salary for the activity agreed, or an hour's.
    pub(super) salary: Money,
    #[serde(default)]
    pub(super) currency: Option<Currency>,
    pub(super) salaries_per_year: i32,
    pub(super) activity_percent: Rate,
    pub(super) weekly_hours: Quantity,
    pub(super) children: i64,
    #[serde(default)]
    pub(super) tax: Option<TaxedBy>,
    #[serde(default)]
    pub(super) raise: Option<Raise>,
}

/// Where and by which tariff somebody is taxed at the source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaxedBy {
    pub(super) canton: String,
    pub(super) code: String,
}

/// A version of a withholding tariff; invented, like all of the demo.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tariff {
    pub(super) canton: String,
    pub(super) year: i32,
    pub(super) version: i32,
    pub(super) code: String,
    pub(super) brackets: Vec<Bracket>,
}

/// A new contract with another salary.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raise {
    pub(super) from: Day,
    pub(super) salary: Money,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Master {
    pub(super) firms: Vec<Firm>,
    pub(super) people: Vec<Person>,
    pub(super) places: Vec<Place>,
    pub(super) clients: Vec<Client>,
    pub(super) contacts: Vec<Contact>,
    pub(super) mandate_titles: Vec<MandateTitle>,
    pub(super) services: Vec<Service>,
    pub(super) document_titles: Vec<Pair>,
    pub(super) hard_cases: Vec<HardCase>,
    pub(super) wage_types: Vec<WageType>,
    pub(super) tariffs: Vec<Tariff>,
    pub(super) employees: Vec<Employee>,
    pub(super) proposals: Vec<Proposal>,
}

macro_rules! embedded {
    ($name:literal) => {
        $crate::demo::fixtures::read(
            $name,
            include_str!(concat!("../../fixtures/demo/", $name, ".json")),
        )
    };
}
pub(super) use embedded;

/// The master data, read once.
pub(super) static MASTER: LazyLock<Master> = LazyLock::new(|| {
    let mut firms: Vec<Firm> = embedded!("firms");
    for (index, firm) in (0..).zip(&mut firms) {
        firm.index = index;
    }
    Master {
        firms,
        people: embedded!("people"),
        places: embedded!("places"),
        clients: embedded!("clients"),
        contacts: embedded!("contacts"),
        mandate_titles: embedded!("mandate_titles"),
        services: embedded!("services"),
        document_titles: embedded!("document_titles"),
        hard_cases: embedded!("hard_cases"),
        wage_types: embedded!("wage_types"),
        tariffs: embedded!("tariffs"),
        employees: embedded!("employees"),
        proposals: embedded!("proposals"),
    }
});

/// What the file says.
pub(super) fn read<T: Deserialize<'static>>(name: &str, text: &'static str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| {
        unreachable!("fixtures/demo/{name}.json is part of the program and tested with it: {error}")
    })
}

/// The `n`th of `all`, beginning again after the last.
pub(super) fn nth<T>(all: &[T], n: u32) -> Result<&T> {
    let n = usize::try_from(n).map_err(Error::fault)?;
    let at = n.checked_rem(all.len()).and_then(|at| all.get(at));
    at.ok_or_else(|| Error::fault("a list of the demo data is empty"))
}
