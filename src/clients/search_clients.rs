//! Clients by name.

use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ClientStatus, LegalForm};
use crate::auth::Permission;
use crate::db::schema::clients;
use crate::db::{Ascending, ContainsAll, Derived, Filters, Page, Paging, Read, is_looked_up};
use crate::error::Result;
use crate::ids::{ClientId, UserId};
use crate::registry::ReadTool;
use crate::text::{FreeText, search_words};

/// Search the firm's clients by name, UID, e-mail or town, in alphabetical order. For one client with contacts,
/// mandates and balance, use get_client; for who owes what, list_open_items; for engagements, search_mandates. (trouver
/// un client / Kunden suchen)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchClients {
    /// Words of the name, number, UID, e-mail or town; all by default.
    query: Option<String>,
    /// Any by default.
    status: Option<ClientStatus>,
    /// Any by default.
    legal_form: Option<LegalForm>,
    /// The person responsible; anybody by default.
    responsible_id: Option<UserId>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(SearchClients);

/// A client.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
pub(super) struct FoundClient {
    /// The client.
    id: ClientId,
    /// The client's number in the firm.
    number: FreeText,
    /// The client's name.
    name: FreeText,
    /// What the client is in law.
    legal_form: LegalForm,
    /// The Swiss enterprise number.
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<FreeText>,
    /// Where the relation stands.
    status: ClientStatus,
    /// The e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<FreeText>,
    /// The telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<FreeText>,
    /// The town of the main address.
    #[serde(skip_serializing_if = "Option::is_none")]
    town: Option<FreeText>,
    #[serde(skip)]
    sort_name: String,
}

const TOWN: Derived<Nullable<Text>> = Derived::new(
    "(SELECT a.town FROM addresses a WHERE a.tenant_id = clients.tenant_id AND a.client_id = clients.id \
     AND a.kind = 'main')",
);

impl ReadTool for SearchClients {
    const NAME: &'static str = "search_clients";
    const PERMISSION: Permission = Permission::ClientRead;
    type Output = Page<FoundClient>;

    fn example() -> Self {
        Self { query: Some("zurich".into()), limit: Some(5), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<Page<FoundClient>> {
        let paging = Paging::of(&mut self)?;
        let words = self.query.as_deref().map(search_words).transpose()?;
        // What was looked up is counted as it goes by; of all clients, only those of the page are fetched.
        let is_looked_up = words.as_deref().is_some_and(is_looked_up);
        let paging = if is_looked_up { paging.of_bare_rows() } else { paging };
        let chosen = Filters::on(clients::table)
            .and_some(words, |words| ContainsAll(clients::search_text, words))
            .and_some(self.status, |status| clients::status.eq(status))
            .and_some(self.legal_form, |form| clients::legal_form.eq(form))
            .and_some(self.responsible_id, |user| clients::responsible_id.eq(user));
        let found = scope.rows(clients::table).filter(chosen);
        let columns = (
            clients::id,
            clients::number,
            clients::name,
            clients::legal_form,
            clients::uid,
            clients::status,
            clients::email,
            clients::phone,
            TOWN,
            clients::sort_name,
        );
        let by = Ascending(clients::sort_name, clients::id);
        let position = |row: &FoundClient| (row.sort_name.clone(), row.id);
        scope.page(found.clone(), found, columns, by, &paging, position)
    }
}
