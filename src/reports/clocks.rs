//! The two clocks of a report: the day in the books, and what the books said then.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use diesel::dsl::max;
use diesel::prelude::*;
use hmac::{Hmac, KeyInit, Mac};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use sha2::Sha256;

use crate::dates::Day;
use crate::db::Read;
use crate::db::schema::commits;
use crate::error::{Error, Result};
use crate::registry::ReadTool;

/// Until when postings count: the end of a day, `2026-06-30`, or the number of the last one, `#812`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownOn {
    /// Everything that was posted until the end of the day.
    Day(Day),
    /// Everything up to and with this posting.
    Commit(i64),
}

impl KnownOn {
    fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix('#') {
            Some(number) => {
                let digits = number.bytes().all(|byte| byte.is_ascii_digit());
                number.parse().ok().filter(|_| digits).map(Self::Commit)
            }
            None => Day::parse(text).map(Self::Day),
        }
    }
}

impl Serialize for KnownOn {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Day(day) => day.serialize(serializer),
            Self::Commit(number) => serializer.collect_str(&format_args!("#{number}")),
        }
    }
}

impl<'de> Deserialize<'de> for KnownOn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let refuse = || {
            de::Error::custom("invalid clock, expected a day YYYY-MM-DD or a posting such as #812")
        };
        Self::parse(&text).ok_or_else(refuse)
    }
}

impl JsonSchema for KnownOn {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "KnownOn".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// The last posting that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Its number in the firm; zero when nothing was posted yet.
    pub commit: i64,
    /// Whether it is the last one there is, and nothing was asked for: sums kept with the postings hold.
    pub is_present: bool,
}

/// Both clocks of a report.
#[derive(Debug, Clone, Copy)]
pub struct Clocks {
    /// The day in the books.
    pub as_of: Day,
    /// What the books said.
    pub known: Known,
}

impl Clocks {
    /// The clocks that the arguments ask for: today and everything posted so far by default.
    ///
    /// # Errors
    /// `as_known_on` lies in the future.
    pub fn of(scope: &mut Read<'_>, as_of: Option<Day>, known_on: Option<KnownOn>) -> Result<Self> {
        let as_of = as_of.unwrap_or_else(|| scope.today());
        Ok(Self { as_of, known: Known::at(scope, known_on)? })
    }
}

impl Known {
    /// The last posting that counts: the last there is by default.
    ///
    /// # Errors
    /// `as_known_on` lies in the future.
    pub fn at(scope: &mut Read<'_>, known_on: Option<KnownOn>) -> Result<Self> {
        let all = scope.rows(commits::table);
        let last = scope.one::<_, Option<i64>>("commit", all.select(max(commits::number)))?;
        let last = last.unwrap_or_default();
        let commit = match known_on {
            None => return Ok(Self { commit: last, is_present: true }),
            Some(KnownOn::Commit(number)) if number > last => {
                let message = format!("there is no posting #{number} yet; the last one is #{last}");
                return Err(Error::argument("as_known_on", message));
            }
            Some(KnownOn::Commit(number)) => number,
            Some(KnownOn::Day(day)) if day > scope.today() => {
                let message =
                    format!("{day} lies in the future; give a day up to {}", scope.today());
                return Err(Error::argument("as_known_on", message));
            }
            Some(KnownOn::Day(day)) => {
                let ended = day.plus_days(1).begins_in(scope.caller().time_zone());
                let until = scope
                    .rows(commits::table)
                    .filter(commits::committed_at.lt(ended))
                    .select(max(commits::number));
                scope.one::<_, Option<i64>>("commit", until)?.unwrap_or_default()
            }
        };
        Ok(Self { commit, is_present: false })
    }

    /// The clock as an argument takes it: `#812`.
    #[must_use]
    pub fn written(self) -> KnownOn {
        KnownOn::Commit(self.commit)
    }
}

impl Read<'_> {
    /// The id of a report of `T` with the arguments of `input` at these clocks. The same arguments at the same clocks give the same
    /// id, whether a clock was left to its default or the answered one was passed back, and the same bytes of figures, rows and
    /// controls, whatever was posted since. Names of accounts and clients, and the set-up of a mandate, are those of today; what is
    /// true at the moment of the answer alone, such as drafts, stands apart under `now` and is not promised.
    ///
    /// # Errors
    /// The arguments cannot be written.
    pub fn report_id<T: ReadTool>(&self, input: &T, clocks: Clocks) -> Result<String> {
        let mut arguments = serde_json::to_value(input)?;
        if let Some(arguments) = arguments.as_object_mut() {
            arguments.retain(|name, _| !["as_of", "as_known_on"].contains(&name.as_str()));
        }
        let arguments = serde_json::to_vec(&arguments)?;
        let clocks = format!("{} {}", clocks.as_of, clocks.known.commit);
        let mut mac = Hmac::<Sha256>::new_from_slice(self.seal()).map_err(Error::fault)?;
        let (tenant, user) = (self.tenant().to_string(), self.user().to_string());
        for part in [b"report", tenant.as_bytes(), user.as_bytes(), T::NAME.as_bytes()] {
            mac.update(part);
            mac.update(&[0]);
        }
        mac.update(&arguments);
        mac.update(clocks.as_bytes());
        let tag = mac.finalize().into_bytes();
        Ok(BASE64.encode(tag.get(..15).unwrap_or_default()))
    }
}
