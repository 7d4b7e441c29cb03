//! The chart of accounts.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AccountKind;
use super::balances::{Of, added, movements};
use super::books::{FiscalYear, LABELS, Ledger};
use super::figures::{Handles, Shape};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::accounts;
use crate::db::{Ascending, AtClock, ContainsAll, Filters, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{AccountId, MandateId};
use crate::language::Labels;
use crate::money::{Currency, Money};
use crate::registry::ReadTool;
use crate::reports::{Clocks, Figure, Known, KnownOn};
use crate::text::{FreeText, search_words};

/// Search the chart of accounts of a mandate by number or name, with the balance of each account today. For the movements of
/// one use get_account_statement, for all turnovers get_trial_balance. (plan comptable, compte / Kontenplan, Konto)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchAccounts {
    /// The mandate.
    mandate_id: MandateId,
    /// Words of the number or name, in any order, without regard to case and accents; every account by default.
    query: Option<String>,
    /// Only numbers that begin with this digit, 1 to 9; every class by default.
    class: Option<u8>,
    /// Only accounts of this type; every type by default.
    r#type: Option<AccountKind>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(SearchAccounts);

/// A page of accounts.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundAccounts {
    /// The day of the balances.
    as_of: Day,
    /// The last posting that counts, on every page.
    as_known_on: KnownOn,
    /// The currency of the books, and of every balance.
    currency: Currency,
    /// The accounts, by number.
    #[serde(flatten)]
    page: Page<FoundAccount>,
}

/// An account.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundAccount {
    /// The account.
    id: AccountId,
    /// Its number.
    number: String,
    /// Its name.
    label: FreeText,
    /// What it is.
    r#type: AccountKind,
    /// Whether it takes postings; headers and closed accounts do not.
    is_postable: bool,
    /// The only currency in which it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_in: Option<Currency>,
    /// Debit less credit up to today; of income and expense since the fiscal year began.
    balance: Money,
    /// The handle for explain_figure.
    figure: Figure,
}

/// A row as it is read.
type Row = (AccountId, String, Labels, AccountKind, (bool, bool), Option<Currency>);

impl ReadTool for SearchAccounts {
    const NAME: &'static str = "search_accounts";
    const PERMISSION: Permission = Permission::LedgerRead;
    const WEIGHT: u32 = 2;
    type Output = FoundAccounts;

    fn example() -> Self {
        Self {
            mandate_id: crate::demo::ids::example_ledger_mandate(),
            query: None,
            class: Some(1),
            r#type: None,
            limit: Some(5),
            cursor: None,
        }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundAccounts> {
        let paging = Paging::of(&mut self)?.of_bare_rows();
        let ledger = Ledger::of(scope, self.mandate_id)?;
        let found = scope.rows(accounts::table).filter(self.chosen()?);
        let columns = (
            accounts::id,
            accounts::number,
            LABELS,
            accounts::kind,
            (accounts::is_postable, accounts::is_active),
            accounts::currency,
        );
        let resumed: Option<((String, AccountId), i64)> = scope.position(&paging)?;
        let mut clocks = Clocks::of(scope, None, None)?;
        if let Some((_, commit)) = resumed.filter(|(_, commit)| *commit != clocks.known.commit) {
            clocks.known = Known { commit, is_present: false };
        }
        let by = AtClock(Ascending(accounts::number, accounts::id));
        let place = |row: &Row| ((row.1.clone(), row.0), clocks.known.commit);
        let page: Page<Row> = scope.page(found.clone(), found, columns, by, &paging, place)?;
        let of = Of { ledger: &ledger, account: None, known: clocks.known };
        let year_from = FiscalYear::start_at(scope, &ledger, clocks.as_of)?;
        let before = of.until(scope, year_from.minus_days(1))?;
        let moved = movements(&before, &of.until(scope, clocks.as_of)?);
        let handles = Handles { mandate: ledger.mandate, known: clocks.known.commit };
        let language = scope.caller().language();
        let account = |(id, number, labels, kind, (is_postable, is_active), kept_in): Row| {
            let (mut balance, is_anew) = (Money::ZERO, kind.is_anew());
            for one in moved.get(&id).into_iter().flatten() {
                let counted = if is_anew { one.within()? } else { one.until };
                balance = added(balance, counted.balance()?)?;
            }
            let from = if is_anew { year_from } else { Day::FIRST };
            let shape = Shape::Balance { from: from.into() };
            Ok(FoundAccount {
                id,
                number,
                label: language.pick(labels).into(),
                r#type: kind,
                is_postable: is_postable && is_active,
                kept_in,
                balance,
                figure: handles.of_account(scope, id, shape, clocks.as_of, None)?,
            })
        };
        let Page { items, total, limit, truncated, next_cursor, note } = page;
        let items = items.into_iter().map(account).collect::<Result<_>>()?;
        let page = Page { items, total, limit, truncated, next_cursor, note };
        let (as_of, as_known_on) = (clocks.as_of, clocks.known.written());
        Ok(FoundAccounts { as_of, as_known_on, currency: ledger.currency, page })
    }
}

impl SearchAccounts {
    fn chosen(&self) -> Result<Filters<accounts::table>> {
        let class = match self.class {
            Some(class @ 1..=9) => Some((class.to_string(), char::from(b'1' + class).to_string())),
            None => None,
            Some(_) => return Err(Error::argument("class", "class must be from 1 to 9")),
        };
        let words = self.query.as_deref().map(search_words).transpose()?;
        Ok(Filters::on(accounts::table)
            .and(accounts::mandate_id.eq(self.mandate_id))
            .and_some(words, |words| ContainsAll(accounts::search_text, words))
            .and_some(class, |(first, next)| {
                accounts::number.ge(first).and(accounts::number.lt(next))
            })
            .and_some(self.r#type, |kind| accounts::kind.eq(kind)))
    }
}
