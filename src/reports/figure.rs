//! Figures and their handles: what a figure is the sum of, sealed so that it can be asked for but not made up.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::Sha256;
use uuid::Uuid;

use crate::auth::Permission;
use crate::dates::Day;
use crate::db::{Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::RecordId;
use crate::money::{Currency, Money, Rate};
use crate::text::FreeText;

/// Bytes of a handle's seal.
const TAG: usize = 12;

/// What figures of one kind are the sum of: a filter over the records of a slice, at the clocks of its report.
pub trait FigureSource: Serialize + DeserializeOwned {
    /// Tells the kind in a handle; unique among all kinds.
    const TAG: u8;
    /// What the report asks of its caller.
    const PERMISSION: Permission;

    /// Lists the records, which re-sum to the figure; those out of the caller's reach make it unknown.
    ///
    /// # Errors
    /// The figure is out of the caller's reach.
    fn explain(&self, scope: &mut Read<'_>, paging: &Paging) -> Result<Explanation>;
}

/// The handle of a figure, or of the figures of a row: give it to `explain_figure`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Figure(String);

impl Figure {
    /// Stands for a handle in an example: a real one comes from a report.
    pub(super) fn example() -> Self {
        Self("figure-of-a-report".to_owned())
    }
}

/// What a figure is made of.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explanation {
    /// The figure, in words.
    pub figure: String,
    /// The day in the books.
    pub as_of: Day,
    /// The last posting that counts.
    pub as_known_on: super::KnownOn,
    /// The sums of the parts, over all records and not this page alone.
    pub parts: Vec<Part>,
    /// How the figure follows from its parts, where it is not their sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The records.
    #[serde(flatten)]
    pub rows: Page<ExplainedRow>,
}

/// The sum of the records that belong to one part of a figure.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Part {
    /// Which figure of the row it is, or which term of the rule.
    pub part: &'static str,
    /// The currency.
    pub currency: Currency,
    /// The sum.
    pub amount: Money,
    /// How many records there are.
    pub rows: i64,
}

/// A record that a figure counts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedRow {
    /// The part it belongs to.
    pub part: &'static str,
    /// Its day in the books.
    pub on: Day,
    /// What it is: `entry_line`, `invoice`, `payment`, `credit_note`, `time_entry`; `rounding` is no record but what rounding a
    /// sum adds to the rounded amounts.
    pub record: &'static str,
    /// Its id, or that of the entry whose line it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_id: Option<RecordId>,
    /// Its place in the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<i32>,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Its text.
    pub text: FreeText,
    /// The currency.
    pub currency: Currency,
    /// What it adds to the figure, with its sign.
    pub amount: Money,
    /// What the amount is a percentage of.
    #[serde(flatten)]
    pub taxed: Option<Taxed>,
}

/// An amount that is taxed, and the rate.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Taxed {
    /// The amount that is taxed, with its sign; where the record is one of several that are taxed together, its part of it.
    pub base: Money,
    /// The rate in per cent.
    pub rate_percent: Rate,
}

type Explain = fn(&[u8], &mut Read<'_>, &Paging) -> Result<Explanation>;

/// One registered kind of figure.
#[derive(Debug)]
pub struct FigureKind {
    tag: u8,
    permission: Permission,
    explain: Explain,
}

impl FigureKind {
    /// Registers the figures of a source.
    #[must_use]
    pub const fn of<S: FigureSource>() -> Self {
        fn explain<S: FigureSource>(
            bytes: &[u8],
            scope: &mut Read<'_>,
            paging: &Paging,
        ) -> Result<Explanation> {
            let source: S = postcard::from_bytes(bytes).map_err(|_| unknown())?;
            source.explain(scope, paging)
        }
        Self { tag: S::TAG, permission: S::PERMISSION, explain: explain::<S> }
    }

    /// Tells the kind in a handle.
    #[must_use]
    pub const fn tag(&self) -> u8 {
        self.tag
    }

    /// What the report asks of its caller.
    #[must_use]
    pub const fn permission(&self) -> Permission {
        self.permission
    }
}

/// The one answer to a handle that was made up, edited, or given by somebody who sees more.
fn unknown() -> Error {
    Error::not_found("figure")
}

impl Read<'_> {
    /// The handle of the figure that `source` is the sum of.
    ///
    /// # Errors
    /// The source cannot be written.
    pub fn figure<S: FigureSource>(&self, source: &S) -> Result<Figure> {
        let mut bytes = vec![S::TAG];
        bytes.extend(postcard::to_allocvec(source).map_err(Error::fault)?);
        let tag = self.figure_tag(&bytes)?;
        bytes.extend_from_slice(&tag);
        Ok(Figure(BASE64.encode(bytes)))
    }

    /// Lists what `figure` is the sum of.
    ///
    /// # Errors
    /// There is no such figure, or none for this caller: both read the same.
    pub fn explain(&mut self, figure: &Figure, paging: &Paging) -> Result<Explanation> {
        let bytes = BASE64.decode(&figure.0).map_err(|_| unknown())?;
        let (sealed, tag) = bytes.split_last_chunk::<TAG>().ok_or_else(unknown)?;
        if !is_same(&self.figure_tag(sealed)?, tag) {
            return Err(unknown());
        }
        let (kind, source) = sealed.split_first().ok_or_else(unknown)?;
        let kind = crate::registry::figure_kind(*kind).ok_or_else(unknown)?;
        if !self.caller().may(kind.permission) {
            return Err(unknown());
        }
        match (kind.explain)(source, self, paging) {
            Err(error) if error.code() == crate::error::Code::NotFound => Err(unknown()),
            explained => explained,
        }
    }

    fn figure_tag(&self, bytes: &[u8]) -> Result<[u8; TAG]> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.seal()).map_err(Error::fault)?;
        for part in [b"figure", Uuid::from(self.tenant()).as_bytes().as_slice(), bytes] {
            mac.update(part);
        }
        let whole = mac.finalize().into_bytes();
        whole.first_chunk::<TAG>().copied().ok_or_else(|| Error::fault("a seal is too short"))
    }
}

/// Compares in the same time wherever the difference is.
fn is_same(left: &[u8; TAG], right: &[u8; TAG]) -> bool {
    left.iter().zip(right).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}
