//! Mandates by number, title or client.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Billing, MandateKind, MandateStatus};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{clients, mandates, memberships};
use crate::db::{Ascending, ContainsAll, Filters, Page, Paging, Read};
use crate::error::Result;
use crate::ids::{ClientId, MandateId, UserId};
use crate::registry::ReadTool;
use crate::text::{FreeText, search_words};

/// Search the firm's mandates (engagements) by number, title or client name, in the order of their numbers. For team,
/// budget and VAT set-up of one, use get_mandate; for the clients themselves, search_clients. (mandats / Mandate)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchMandates {
    /// Words of the number, title or client name; all by default.
    query: Option<String>,
    /// All by default.
    client_id: Option<ClientId>,
    /// Any by default.
    r#type: Option<MandateKind>,
    /// Any by default.
    status: Option<MandateStatus>,
    /// The person responsible; anybody by default.
    responsible_id: Option<UserId>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(SearchMandates);

/// A mandate.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
pub(super) struct FoundMandate {
    /// The mandate.
    id: MandateId,
    /// Its number.
    number: FreeText,
    /// Its title.
    title: FreeText,
    /// What it is about.
    r#type: MandateKind,
    /// Where it stands.
    status: MandateStatus,
    /// How it is billed.
    billing: Billing,
    /// The client.
    client_id: ClientId,
    /// The client's name.
    client: FreeText,
    /// Who is responsible.
    #[serde(skip_serializing_if = "Option::is_none")]
    responsible: Option<FreeText>,
    /// Its first day.
    starts_on: Day,
    /// Its last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_on: Option<Day>,
}

impl ReadTool for SearchMandates {
    const NAME: &'static str = "search_mandates";
    const PERMISSION: Permission = Permission::MandateRead;
    type Output = Page<FoundMandate>;

    fn example() -> Self {
        Self { status: Some(MandateStatus::Active), limit: Some(5), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<Page<FoundMandate>> {
        let paging = Paging::of(&mut self)?;
        let words = self.query.as_deref().map(search_words).transpose()?;
        let chosen = Filters::on(mandates::table)
            .and_some(words, |words| ContainsAll(mandates::search_text, words))
            .and_some(self.client_id, |client| mandates::client_id.eq(client))
            .and_some(self.r#type, |kind| mandates::kind.eq(kind))
            .and_some(self.status, |status| mandates::status.eq(status))
            .and_some(self.responsible_id, |user| mandates::responsible_id.eq(user));
        let found = scope.rows(mandates::table).filter(chosen);
        let named = found.clone().inner_join(clients::table).left_join(memberships::table);
        let columns = (
            mandates::id,
            mandates::number,
            mandates::title,
            mandates::kind,
            mandates::status,
            mandates::billing,
            mandates::client_id,
            clients::name,
            memberships::display_name.nullable(),
            mandates::starts_on,
            mandates::ends_on,
        );
        let by = Ascending(mandates::number, mandates::id);
        let position = |row: &FoundMandate| (row.number.stored().to_owned(), row.id);
        scope.page(found, named, columns, by, &paging, position)
    }
}
