//! Pages: keyset order, an opaque cursor, the count of the whole set.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use diesel::dsl::{CountStar, Filter, Order, Select};
use diesel::prelude::*;
use diesel::query_dsl::methods::{FilterDsl, LoadQuery, OrderDsl, SelectDsl};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::connection::AnyConnection;
use super::query::{After, AtMost, Before, CountOf};
use super::scope::{Read, Scoped};
use crate::error::{Error, Result};
use crate::registry::ReadTool;

/// Rows per page when nothing else is asked for.
const DEFAULT_LIMIT: i64 = 20;
/// Rows per page at most; more is clamped, since a refusal would only be retried.
const MAX_LIMIT: i64 = 100;

/// Bytes of the rows of a page at most; an answer repeats them as text, and stays under 100 kB.
const LARGEST_PAGE: usize = 42_000;
/// Rows that fit whatever they hold, within the lengths that titles and names have.
const ALWAYS_FIT: usize = 20;

/// A tool whose input has the arguments `limit` and `cursor`.
pub trait PagedTool: ReadTool {
    /// Takes both out of the input, leaving its filters.
    fn take_paging(&mut self) -> (Option<i64>, Option<String>);
}

/// Declares that tools have the fields `limit` and `cursor`.
macro_rules! paged {
    ($($tool:ty),+ $(,)?) => {
        $(impl $crate::db::PagedTool for $tool {
            fn take_paging(&mut self) -> (Option<i64>, Option<String>) {
                (self.limit.take(), self.cursor.take())
            }
        })+
    };
}

/// How the whole set of a first page is counted.
#[derive(Debug, Clone, Copy)]
enum Counting {
    Apart,
    Over,
}

/// Which page of which tool is asked for, with which filters.
#[derive(Debug)]
pub struct Paging {
    limit: i64,
    counting: Counting,
    note: Option<String>,
    cursor: Option<String>,
    filters: [u8; 32],
}

impl Paging {
    /// The paging arguments of `input`, whose other arguments are its filters: a cursor of another tool or of other
    /// filters is refused.
    ///
    /// # Errors
    /// The limit is zero or negative.
    pub fn of<T: PagedTool>(input: &mut T) -> Result<Self> {
        let (asked, cursor) = input.take_paging();
        let (limit, note) = match asked.unwrap_or(DEFAULT_LIMIT) {
            ..1 => return Err(Error::argument("limit", "limit must be from 1 to 100")),
            asked if asked > MAX_LIMIT => {
                (MAX_LIMIT, Some(format!("limit {asked} was reduced to {MAX_LIMIT}")))
            }
            asked => (asked, None),
        };
        let filters = serde_json::to_vec(input)?;
        let digest = Sha256::new().chain_update(T::NAME).chain_update([0]).chain_update(filters);
        let counting = Counting::Apart;
        Ok(Self { limit, counting, note, cursor, filters: digest.finalize().into() })
    }

    /// The same for rows without joins, which can be counted as they go by.
    #[must_use]
    pub fn of_bare_rows(self) -> Self {
        Self { counting: Counting::Over, ..self }
    }

    /// How many rows to look for: at least one more than the page shows, to know whether more follow. Few numbers serve all
    /// limits, since each makes a statement of its own.
    #[must_use]
    pub const fn fetch(&self) -> i64 {
        match self.limit {
            ..=20 => 21,
            21..=50 => 51,
            _ => MAX_LIMIT + 1,
        }
    }
}

/// One page of rows.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Page<U> {
    /// The rows of this page.
    pub items: Vec<U>,
    /// How many rows the whole set has.
    pub total: i64,
    /// The limit that was applied.
    pub limit: i64,
    /// Whether rows follow that this page does not show.
    pub truncated: bool,
    /// Give it as cursor, with the same other arguments, for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What was changed in the request, such as a limit above 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl<U> Page<U> {
    /// The same page with each row made into another.
    pub fn map<V>(self, row: impl FnMut(U) -> V) -> Page<V> {
        let Self { items, total, limit, truncated, next_cursor, note } = self;
        let items = items.into_iter().map(row).collect();
        Page { items, total, limit, truncated, next_cursor, note }
    }

    /// The same page with each row made into another, unless one cannot be.
    ///
    /// # Errors
    /// That of the first row that cannot be made.
    pub fn try_map<V>(self, row: impl FnMut(U) -> Result<V>) -> Result<Page<V>> {
        let Self { items, total, limit, truncated, next_cursor, note } = self;
        let items = items.into_iter().map(row).collect::<Result<_>>()?;
        Ok(Page { items, total, limit, truncated, next_cursor, note })
    }
}

/// An order without ties, and the condition for what follows a position in it.
pub trait Keyset<V> {
    /// What follows a position; everything without one.
    type Condition;
    /// The order.
    type Order;
    /// The condition for what follows `position`.
    fn after(self, position: Option<V>) -> Self::Condition;
    /// The order itself.
    fn order(self) -> Self::Order;
}

/// Ascending by a column, then by the id that makes it unique.
#[derive(Debug, Clone, Copy)]
pub struct Ascending<A, B>(pub A, pub B);

impl<A, B, V> Keyset<V> for Ascending<A, B> {
    type Condition = After<A, B, V>;
    type Order = (A, B);
    fn after(self, position: Option<V>) -> Self::Condition {
        After(self.0, self.1, position, ">")
    }
    fn order(self) -> Self::Order {
        (self.0, self.1)
    }
}

/// Descending by a column, then by the id that makes it unique.
#[derive(Debug, Clone, Copy)]
pub struct Descending<A, B>(pub A, pub B);

impl<A, B, V> Keyset<V> for Descending<A, B>
where
    A: Expression<SqlType: diesel::sql_types::SingleValue>,
    B: Expression<SqlType: diesel::sql_types::SingleValue>,
{
    type Condition = After<A, B, V>;
    type Order = (diesel::dsl::Desc<A>, diesel::dsl::Desc<B>);
    fn after(self, position: Option<V>) -> Self::Condition {
        After(self.0, self.1, position, "<")
    }
    fn order(self) -> Self::Order {
        (ExpressionMethods::desc(self.0), ExpressionMethods::desc(self.1))
    }
}

/// Descending by an id, which sorts by the time it was made.
#[derive(Debug, Clone, Copy)]
pub struct Newest<A>(pub A);

impl<A: Expression<SqlType: diesel::sql_types::SingleValue>, V> Keyset<V> for Newest<A> {
    type Condition = Before<A, V>;
    type Order = diesel::dsl::Desc<A>;
    fn after(self, position: Option<V>) -> Self::Condition {
        Before(self.0, position)
    }
    fn order(self) -> Self::Order {
        ExpressionMethods::desc(self.0)
    }
}

/// A keyset whose positions also hold the last posting that counts, so that every page stands at the clock of the first.
#[derive(Debug, Clone, Copy)]
pub struct AtClock<K>(pub K);

impl<K: Keyset<V>, V> Keyset<(V, i64)> for AtClock<K> {
    type Condition = K::Condition;
    type Order = K::Order;
    fn after(self, position: Option<(V, i64)>) -> Self::Condition {
        self.0.after(position.map(|(position, _)| position))
    }
    fn order(self) -> Self::Order {
        self.0.order()
    }
}

/// How many of the rows fit in an answer, at least one.
fn fitting<U: Serialize>(items: &[U]) -> Result<usize> {
    if items.len() <= ALWAYS_FIT {
        return Ok(items.len());
    }
    let mut bytes = 0;
    for (at, item) in items.iter().enumerate() {
        bytes += serde_json::to_vec(item)?.len();
        if bytes > LARGEST_PAGE {
            return Ok(at.max(1));
        }
    }
    Ok(items.len())
}

impl Read<'_> {
    /// Runs `rows` for one page of `columns`, ordered `by` a keyset; `position` gives where in it a
    /// row stands. One statement, which also counts `whole`.
    ///
    /// # Errors
    /// The cursor is not one of this tool, person and filters.
    pub fn page<'q, W, Q, S, U, K, V>(
        &mut self,
        whole: Scoped<W>,
        rows: Scoped<Q>,
        columns: S,
        by: K,
        paging: &Paging,
        position: impl Fn(&U) -> V,
    ) -> Result<Page<U>>
    where
        U: Serialize,
        K: Keyset<V> + Copy,
        V: Serialize + DeserializeOwned,
        W: SelectDsl<CountStar> + Clone,
        Select<W, CountStar>: LoadQuery<'q, AnyConnection, i64>,
        Q: FilterDsl<K::Condition>,
        Filter<Q, K::Condition>: OrderDsl<K::Order>,
        K::Order: Expression,
        S: Expression,
        Order<Filter<Q, K::Condition>, K::Order>: SelectDsl<(S, CountOf<Select<W, CountStar>>)>,
        AtMost<
            Select<Order<Filter<Q, K::Condition>, K::Order>, (S, CountOf<Select<W, CountStar>>)>,
        >: LoadQuery<'q, AnyConnection, (U, i64)>,
    {
        let after: Option<V> = self.position(paging)?;
        let is_first = after.is_none();
        let count = match paging.counting {
            Counting::Over if is_first => CountOf::Over,
            _ => CountOf::Apart(SelectDsl::select(whole.clone().0, diesel::dsl::count_star())),
        };
        let page = OrderDsl::order(FilterDsl::filter(rows.0, by.after(after)), by.order());
        let page = Scoped(SelectDsl::select(page, (columns, count)));
        let found: Vec<(U, i64)> = self.load(page.at_most(paging.fetch()))?;
        let total = match found.first() {
            Some((_, total)) => *total,
            None if is_first => 0,
            None => {
                let count = SelectDsl::select(whole.0, diesel::dsl::count_star());
                self.one("count", Scoped(count))?
            }
        };
        let items = found.into_iter().map(|(row, _)| row).collect();
        self.cut(items, total, paging, position)
    }

    /// Where the page starts, as `position` of the last row before it.
    ///
    /// # Errors
    /// The cursor is not one of this tool, person and filters.
    pub fn position<V: DeserializeOwned>(&self, paging: &Paging) -> Result<Option<V>> {
        paging.cursor.as_ref().map(|cursor| self.opened(&paging.filters, cursor)).transpose()
    }

    /// A page of `items`, of which [`Paging::fetch`] were looked for.
    ///
    /// # Errors
    /// The position cannot be written.
    pub fn cut<U: Serialize, V: Serialize>(
        &self,
        mut items: Vec<U>,
        total: i64,
        paging: &Paging,
        position: impl Fn(&U) -> V,
    ) -> Result<Page<U>> {
        let Paging { limit, note, filters, .. } = paging;
        let page = usize::try_from(*limit).unwrap_or(usize::MAX).min(fitting(&items)?);
        let truncated = items.len() > page;
        items.truncate(page);
        let last = items.last().filter(|_| truncated);
        let next_cursor = last.map(|row| self.sealed(filters, &position(row))).transpose()?;
        Ok(Page { items, total, limit: *limit, truncated, next_cursor, note: note.clone() })
    }

    /// A position that only the same tool takes back, from the same person, with the same filters.
    fn sealed<V: Serialize>(&self, filters: &[u8; 32], position: &V) -> Result<String> {
        let mut bytes = serde_json::to_vec(position)?;
        let tag = self.tag(filters, &bytes)?.finalize().into_bytes();
        bytes.extend(tag);
        Ok(BASE64.encode(bytes))
    }

    fn opened<V: DeserializeOwned>(&self, filters: &[u8; 32], cursor: &str) -> Result<V> {
        let refuse = || {
            Error::argument(
                "cursor",
                "unknown cursor; repeat the call without one, or with the arguments it came from",
            )
        };
        let bytes = BASE64.decode(cursor).map_err(|_| refuse())?;
        let (position, tag) = bytes.split_last_chunk::<32>().ok_or_else(refuse)?;
        self.tag(filters, position)?.verify_slice(tag).map_err(|_| refuse())?;
        serde_json::from_slice(position).map_err(|_| refuse())
    }

    fn tag(&self, filters: &[u8; 32], position: &[u8]) -> Result<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.seal).map_err(Error::fault)?;
        let (tenant, user) = (Uuid::from(self.tenant()), Uuid::from(self.user()));
        for part in [tenant.as_bytes(), user.as_bytes(), &filters[..], position] {
            mac.update(part);
        }
        Ok(mac)
    }
}
