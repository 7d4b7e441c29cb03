//! Who the caller is.

use diesel::dsl::count_star;
use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Permission;
use crate::dates::{Day, Instant};
use crate::db::schema::mandates;
use crate::db::{Mandates, Read};
use crate::error::Result;
use crate::ids::UserId;
use crate::language::Language;
use crate::registry::ReadTool;
use crate::text::FreeText;

/// Say who is calling: the person, the firm, the role, what they are allowed to see and do, the mandates within reach,
/// the limits of the token, today's date. Call it first; it names no client and no figure. (qui suis-je, mes droits /
/// wer bin ich, angemeldet, meine Rechte)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WhoAmI {}

/// The caller.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Me {
    /// The person.
    person: Person,
    /// The firm.
    firm: MyFirm,
    /// The person's role in the firm.
    role: String,
    /// What the role allows, within the scopes of the token.
    permissions: Vec<&'static str>,
    /// The mandates within reach.
    reach: MyReach,
    /// What the caller authenticated with.
    credential: MyCredential,
    /// The date in the firm's time zone.
    today: Day,
}

/// A person.
#[derive(Debug, Serialize, JsonSchema)]
struct Person {
    /// The person's id.
    id: UserId,
    /// The person's name in this firm.
    name: FreeText,
    /// The person's e-mail address.
    email: FreeText,
    /// The language of labels and account names in answers.
    language: Language,
}

/// The firm a person works for.
#[derive(Debug, Serialize, JsonSchema)]
struct MyFirm {
    /// The firm's short name.
    slug: String,
    /// The firm's name.
    name: FreeText,
    /// The time zone in which the firm's day begins.
    time_zone: String,
}

/// Mandates within reach.
#[derive(Debug, Serialize, JsonSchema)]
struct MyReach {
    /// All mandates of the firm, the listed ones, or those of the person's own client.
    kind: Mandates,
    /// How many mandates these are.
    mandates: i64,
}

/// A credential.
#[derive(Debug, Serialize, JsonSchema)]
struct MyCredential {
    /// `jwt` after signing in, `api_token` for a persistent token.
    kind: &'static str,
    /// The token's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<FreeText>,
    /// When the token ends; absent if it does not, or after ten minutes for a JWT.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Instant>,
}

impl ReadTool for WhoAmI {
    const NAME: &'static str = "who_am_i";
    const PERMISSION: Permission = Permission::Present;
    type Output = Me;

    fn example() -> Self {
        Self {}
    }

    fn run(self, scope: &mut Read<'_>) -> Result<Me> {
        let reached = scope.rows(mandates::table).select(count_star());
        let reached = scope.one("reach", reached)?;
        let caller = scope.caller();
        let token = caller.token();
        Ok(Me {
            person: Person {
                id: caller.user(),
                name: caller.name().into(),
                email: caller.email().into(),
                language: caller.language(),
            },
            firm: MyFirm {
                slug: caller.firm_slug().to_owned(),
                name: caller.firm_name().into(),
                time_zone: caller.time_zone().name().to_owned(),
            },
            role: caller.role().to_owned(),
            permissions: caller
                .permissions()
                .iter()
                .filter(|permission| *permission != Permission::Present)
                .map(Permission::as_str)
                .collect(),
            reach: MyReach { kind: caller.mandates(), mandates: reached },
            credential: MyCredential {
                kind: if token.is_some() { "api_token" } else { "jwt" },
                name: token.map(|token| token.name.as_str().into()),
                expires_at: token.and_then(|token| token.expires_at),
            },
            today: scope.today(),
        })
    }
}
