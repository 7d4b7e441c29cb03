//! The chart of accounts with which a mandate's books begin, after the usual plan of small Swiss companies; labels are our
//! own. A firm adds accounts of its own, under numbers of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use diesel::prelude::*;
use serde::Deserialize;

use super::kinds::{AccountKind, JournalCode, Purpose};
use crate::db::connection::AnyConnection;
use crate::db::insert::insert_all;
use crate::db::schema::{account_uses, accounts, journals, ledgers, vat_activities};
use crate::error::{Code, Error, Result};
use crate::ids::{AccountId, MandateId, TenantId};
use crate::money::Currency;
use crate::text::{plain, searchable};

/// An account of the plan, or one to add to a chart.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlannedAccount {
    /// Three to ten characters, sorted as text.
    pub(crate) number: String,
    pub(crate) kind: AccountKind,
    /// The label in French.
    pub(crate) fr: String,
    /// The label in German.
    pub(crate) de: String,
    /// The label in English.
    pub(crate) en: String,
    /// The only currency in which it is kept; any, if absent.
    #[serde(default)]
    pub(crate) currency: Option<Currency>,
    /// What rules post to it for.
    #[serde(default)]
    pub(crate) uses: Vec<Purpose>,
    /// Whether it takes postings; a heading does not.
    #[serde(default = "yes")]
    pub(crate) is_postable: bool,
    /// Whether each line on it names a party.
    #[serde(default)]
    pub(crate) needs_party: bool,
    /// The activity of net-rate VAT to which revenue on it belongs.
    #[serde(default)]
    pub(crate) vat_activity: Option<String>,
}

const fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlannedJournal {
    code: JournalCode,
    fr: String,
    de: String,
    en: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    accounts: Vec<PlannedAccount>,
    journals: Vec<PlannedJournal>,
}

/// The plan, read once.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../fixtures/chart/sme.json")).unwrap_or_else(|error| {
        unreachable!("fixtures/chart/sme.json is part of the program and tested with it: {error}")
    })
});

/// The books of a mandate that begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewLedger<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) mandate: MandateId,
    pub(crate) currency: Currency,
    /// Whether these are the firm's own books.
    pub(crate) is_of_firm: bool,
    /// A word at the end of every label, by which texts of one firm are told from those of another.
    pub(crate) word: Option<&'a str>,
}

impl NewLedger<'_> {
    fn label(&self, text: &str) -> String {
        self.word.map_or_else(|| text.to_owned(), |word| format!("{text} {word}"))
    }
}

#[derive(Insertable)]
#[diesel(table_name = accounts, treat_none_as_default_value = false)]
struct AccountRow {
    tenant_id: TenantId,
    id: AccountId,
    mandate_id: MandateId,
    number: String,
    label_fr: String,
    label_de: String,
    label_en: String,
    kind: AccountKind,
    currency: Option<Currency>,
    is_postable: bool,
    is_active: bool,
    needs_party: bool,
    vat_activity: Option<String>,
    search_text: String,
}

#[derive(Insertable)]
#[diesel(table_name = account_uses, treat_none_as_default_value = false)]
struct UseRow {
    tenant_id: TenantId,
    mandate_id: MandateId,
    purpose: Purpose,
    currency: Currency,
    account_id: AccountId,
}

#[derive(Insertable)]
#[diesel(table_name = journals, treat_none_as_default_value = false)]
struct JournalRow {
    tenant_id: TenantId,
    mandate_id: MandateId,
    code: JournalCode,
    label_fr: String,
    label_de: String,
    label_en: String,
}

/// Opens the books of a mandate with the accounts of the plan, `more` of its own, and the journals. `id` makes the id of
/// the `n`th account, from 1.
///
/// # Errors
/// An account of `more` is malformed, or has the number of another.
pub(crate) fn seed(
    connection: &mut AnyConnection,
    ledger: NewLedger<'_>,
    more: &[PlannedAccount],
    id: impl FnMut(u32) -> AccountId,
) -> Result<()> {
    diesel::insert_into(ledgers::table)
        .values((
            ledgers::tenant_id.eq(ledger.tenant),
            ledgers::mandate_id.eq(ledger.mandate),
            ledgers::currency.eq(ledger.currency),
            ledgers::is_of_firm.eq(ledger.is_of_firm),
        ))
        .execute(connection)?;
    // What the plan keeps in a foreign currency is left out where that is the currency of the books.
    let plan = PLAN.accounts.iter().filter(|account| account.currency != Some(ledger.currency));
    let plan: Vec<_> = plan.chain(more).cloned().collect();
    write(connection, ledger, &plan, id)?;
    let journal = |journal: &PlannedJournal| JournalRow {
        tenant_id: ledger.tenant,
        mandate_id: ledger.mandate,
        code: journal.code,
        label_fr: ledger.label(&journal.fr),
        label_de: ledger.label(&journal.de),
        label_en: ledger.label(&journal.en),
    };
    let rows: Vec<_> = PLAN.journals.iter().map(journal).collect();
    insert_all!(connection, journals::table, rows);
    Ok(())
}

/// The chart of a mandate that keeps books, to which accounts are added.
pub(crate) struct Chart {
    known: BTreeMap<String, (AccountKind, Option<Currency>)>,
    activities: BTreeSet<String>,
    new: BTreeMap<String, PlannedAccount>,
}

impl Chart {
    /// Reads the chart.
    ///
    /// # Errors
    /// The database is away.
    pub(crate) fn read(connection: &mut AnyConnection, ledger: NewLedger<'_>) -> Result<Self> {
        let known: Vec<(String, AccountKind, Option<Currency>)> = accounts::table
            .filter(accounts::tenant_id.eq(ledger.tenant))
            .filter(accounts::mandate_id.eq(ledger.mandate))
            .select((accounts::number, accounts::kind, accounts::currency))
            .load(connection)?;
        let known = known.into_iter().map(|(number, kind, currency)| (number, (kind, currency)));
        let activities: Vec<String> = vat_activities::table
            .filter(vat_activities::tenant_id.eq(ledger.tenant))
            .filter(vat_activities::mandate_id.eq(ledger.mandate))
            .select(vat_activities::code)
            .load(connection)?;
        let activities = activities.into_iter().collect();
        Ok(Self { known: known.collect(), activities, new: BTreeMap::new() })
    }

    /// Takes an account to add; one that is there already stays as it is.
    ///
    /// # Errors
    /// The account is malformed, stands there twice, or is there already as another kind or in another currency.
    pub(crate) fn add(&mut self, account: PlannedAccount) -> Result<()> {
        check(&account)?;
        let number = &account.number;
        if !account.uses.is_empty() {
            let message =
                format!("account {number} has uses, which rules alone give; leave the field out");
            return Err(Error::argument("uses", message));
        }
        if let Some(unknown) =
            account.vat_activity.as_ref().filter(|a| !self.activities.contains(*a))
        {
            let known: Vec<_> = self.activities.iter().map(String::as_str).collect();
            let way_out = if known.is_empty() {
                "it has none, leave the field out".to_owned()
            } else {
                format!("use one of {}, or leave the field out", known.join(", "))
            };
            let message = format!("the mandate has no VAT activity {unknown:?}; {way_out}");
            return Err(Error::argument("vat_activity", message));
        }
        if self.new.contains_key(number) {
            return Err(twice(number));
        }
        match self.known.get(number) {
            None => drop(self.new.insert(number.clone(), account)),
            Some(is) if *is == (account.kind, account.currency) => {}
            Some((kind, currency)) => {
                let kept = currency.map_or_else(|| "any currency".to_owned(), |c| c.to_string());
                let message = format!(
                    "account {number} is there already, as {kind} in {kept}; give it another number"
                );
                return Err(Error::refuse(Code::Conflict, message));
            }
        }
        Ok(())
    }

    /// Writes the accounts that are new; answers how many. Rules post to the same accounts as before.
    ///
    /// # Errors
    /// The database is away.
    pub(crate) fn write(
        self,
        connection: &mut AnyConnection,
        ledger: NewLedger<'_>,
        id: impl FnMut(u32) -> AccountId,
    ) -> Result<usize> {
        let new: Vec<_> = self.new.into_values().collect();
        write(connection, ledger, &new, id)?;
        Ok(new.len())
    }
}

fn twice(number: &str) -> Error {
    Error::refuse(Code::Conflict, format!("account {number} stands there twice; leave one out"))
}

fn write(
    connection: &mut AnyConnection,
    ledger: NewLedger<'_>,
    plan: &[PlannedAccount],
    mut id: impl FnMut(u32) -> AccountId,
) -> Result<()> {
    let (mut rows, mut uses) = (vec![], vec![]);
    let mut seen = BTreeSet::new();
    for (n, account) in (1..).zip(plan) {
        check(account)?;
        let account_id = id(n);
        if !seen.insert(&account.number) {
            return Err(twice(&account.number));
        }
        let labels = [&account.fr, &account.de, &account.en].map(|label| ledger.label(label));
        let words = [&account.number].into_iter().chain(&labels).map(String::as_str);
        let search_text = searchable(words);
        let [label_fr, label_de, label_en] = labels;
        rows.push(AccountRow {
            tenant_id: ledger.tenant,
            id: account_id,
            mandate_id: ledger.mandate,
            number: account.number.clone(),
            label_fr,
            label_de,
            label_en,
            kind: account.kind,
            currency: account.currency,
            is_postable: account.is_postable,
            is_active: true,
            needs_party: account.needs_party,
            vat_activity: account.vat_activity.clone(),
            search_text,
        });
        uses.extend(account.uses.iter().map(|purpose| UseRow {
            tenant_id: ledger.tenant,
            mandate_id: ledger.mandate,
            purpose: *purpose,
            currency: account.currency.unwrap_or(ledger.currency),
            account_id,
        }));
    }
    insert_all!(connection, accounts::table, rows);
    insert_all!(connection, account_uses::table, uses);
    Ok(())
}

fn check(account: &PlannedAccount) -> Result<()> {
    let number = &account.number;
    let is_number = (3..=10).contains(&number.len())
        && number.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    if !is_number {
        return Err(Error::argument(
            "number",
            format!(
                "account number {number:?} is none; use 3 to 10 letters and digits, such as 1020"
            ),
        ));
    }
    let labels = [("fr", &account.fr), ("de", &account.de), ("en", &account.en)];
    for (language, label) in labels {
        if label.trim().is_empty() {
            let message =
                format!("account {number} has no label in {language}; name it in fr, de and en");
            return Err(Error::argument(language, message));
        }
        plain(language, label, LONGEST_LABEL)
            .map_err(|message| Error::argument(language, message))?;
    }
    Ok(())
}

/// Characters at most in a label.
const LONGEST_LABEL: usize = 200;

#[cfg(test)]
mod tests {
    use super::{BTreeSet, JournalCode, PLAN, Purpose};

    #[test]
    fn the_plan_has_an_account_for_every_purpose_and_every_journal() {
        let uses: BTreeSet<_> = PLAN.accounts.iter().flat_map(|account| &account.uses).collect();
        assert_eq!(uses, Purpose::ALL.iter().collect());
        let journals: BTreeSet<_> = PLAN.journals.iter().map(|journal| &journal.code).collect();
        assert_eq!(journals, JournalCode::ALL.iter().collect());
    }

    #[test]
    fn every_number_of_the_plan_stands_once_under_three_labels() {
        let numbers: BTreeSet<_> = PLAN.accounts.iter().map(|account| &account.number).collect();
        assert_eq!(numbers.len(), PLAN.accounts.len());
        for account in &PLAN.accounts {
            assert!(super::check(account).is_ok(), "{}", account.number);
            assert!(account.is_postable == (account.number.len() == 4), "{}", account.number);
        }
    }
}
