//! One client on one page.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AddressKind, ClientStatus, Language, LegalForm};
use crate::auth::Permission;
use crate::db::Read;
use crate::db::schema::{addresses, clients, contacts, mandates, memberships};
use crate::error::Result;
use crate::ids::{ClientId, MandateId};
use crate::invoicing;
use crate::mandates::{MandateKind, MandateStatus};
use crate::money::CurrencyAmount;
use crate::registry::ReadTool;
use crate::tasks::{OpenTasks, open_tasks_of};
use crate::text::{Address, FreeText, Place};

/// Get one client on one page: identity, addresses, telephone, contacts, mandates within reach, how many tasks are open
/// and, for who may read invoices, the open balance per currency today. Find the id with search_clients. (fiche client,
/// adresse, téléphone / Kundenblatt, Kontaktperson)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetClient {
    /// The client.
    client_id: ClientId,
}

/// One client.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClientPage {
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
    /// The language to write in.
    language: Language,
    /// Who is responsible in the firm.
    #[serde(skip_serializing_if = "Option::is_none")]
    responsible: Option<FreeText>,
    /// The addresses.
    addresses: Vec<ClientAddress>,
    /// The people to talk to.
    contacts: Vec<Contact>,
    /// The mandates within reach.
    mandates: Vec<ClientMandate>,
    /// What the client owes today, per currency, within reach; absent for who may not read invoices.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_balance: Option<Vec<CurrencyAmount>>,
    /// What is left to do for the client, within reach; absent for who may not read tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<OpenTasks>,
    /// Which of the lists above show only their first 100 rows; none when all are whole.
    truncated: Vec<&'static str>,
}

/// An address of a client.
#[derive(Debug, Serialize, JsonSchema)]
struct ClientAddress {
    /// What it is for.
    kind: AddressKind,
    /// The address.
    address: Address,
}

/// A person to talk to.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct Contact {
    /// The person's name.
    name: FreeText,
    /// The person's position.
    #[serde(skip_serializing_if = "Option::is_none")]
    job_title: Option<FreeText>,
    /// The person's e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<FreeText>,
    /// The person's telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<FreeText>,
    /// Whether this is the first person to talk to.
    is_primary: bool,
}

/// A mandate of a client.
#[derive(Debug, Serialize, Queryable, JsonSchema)]
struct ClientMandate {
    /// The mandate.
    id: MandateId,
    /// Its number.
    number: FreeText,
    /// Its title.
    title: FreeText,
    /// What it is about.
    kind: MandateKind,
    /// Where it stands.
    status: MandateStatus,
}

#[derive(Debug, Queryable)]
struct Identity {
    number: FreeText,
    name: FreeText,
    legal_form: LegalForm,
    uid: Option<FreeText>,
    status: ClientStatus,
    email: Option<FreeText>,
    phone: Option<FreeText>,
    language: Language,
    responsible: Option<FreeText>,
}

/// Rows of each kind that the page shows at most; one more is looked for, to know whether there are more.
const SHOWN: usize = 100;
const LOOKED_FOR: i64 = 101;

/// The rows that the page shows; `list` is named among the truncated ones if there are more.
fn shown<U>(list: &'static str, mut rows: Vec<U>, truncated: &mut Vec<&'static str>) -> Vec<U> {
    if rows.len() > SHOWN {
        rows.truncate(SHOWN);
        truncated.push(list);
    }
    rows
}

impl ReadTool for GetClient {
    const NAME: &'static str = "get_client";
    const PERMISSION: Permission = Permission::ClientRead;
    const WEIGHT: u32 = 2;
    type Output = ClientPage;

    fn example() -> Self {
        Self { client_id: crate::demo::ids::example_client() }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<ClientPage> {
        let id = self.client_id;
        let identity = identity(scope, id)?;
        let mut truncated = vec![];
        let addresses = shown("addresses", addresses_of(scope, id)?, &mut truncated);
        let contacts = shown("contacts", contacts_of(scope, id)?, &mut truncated);
        let mandates = if scope.caller().may(Permission::MandateRead) {
            shown("mandates", mandates_of(scope, id)?, &mut truncated)
        } else {
            vec![]
        };
        let tasks = if scope.caller().may(Permission::TaskRead) {
            Some(open_tasks_of(scope, id)?)
        } else {
            None
        };
        let open_balance = if scope.caller().may(Permission::InvoiceRead) {
            Some(invoicing::open_balance(scope, id)?)
        } else {
            None
        };
        let Identity { number, name, legal_form, uid, status, .. } = identity;
        let Identity { email, phone, language, responsible, .. } = identity;
        Ok(ClientPage {
            id,
            number,
            name,
            legal_form,
            uid,
            status,
            email,
            phone,
            language,
            responsible,
            addresses,
            contacts,
            mandates,
            open_balance,
            tasks,
            truncated,
        })
    }
}

fn identity(scope: &mut Read<'_>, id: ClientId) -> Result<Identity> {
    let columns = (
        clients::number,
        clients::name,
        clients::legal_form,
        clients::uid,
        clients::status,
        clients::email,
        clients::phone,
        clients::language,
        memberships::display_name.nullable(),
    );
    let this = scope.rows(clients::table).left_join(memberships::table);
    scope.one("client", this.filter(clients::id.eq(id)).select(columns))
}

fn addresses_of(scope: &mut Read<'_>, id: ClientId) -> Result<Vec<ClientAddress>> {
    let place = (
        addresses::street,
        addresses::house_number,
        addresses::postal_code,
        addresses::town,
        addresses::country,
    );
    let all = scope.rows(addresses::table).filter(addresses::client_id.eq(id));
    let all = all.order((addresses::kind, addresses::id)).select((addresses::kind, place));
    let rows: Vec<(AddressKind, Place)> = scope.load(all.at_most(LOOKED_FOR))?;
    let one = |(kind, place)| ClientAddress { kind, address: Address::from(place) };
    Ok(rows.into_iter().map(one).collect())
}

fn contacts_of(scope: &mut Read<'_>, id: ClientId) -> Result<Vec<Contact>> {
    let columns = (
        contacts::full_name,
        contacts::job_title,
        contacts::email,
        contacts::phone,
        contacts::is_primary,
    );
    let all = scope.rows(contacts::table).filter(contacts::client_id.eq(id));
    let all = all.order((contacts::is_primary.desc(), contacts::id)).select(columns);
    scope.load(all.at_most(LOOKED_FOR))
}

fn mandates_of(scope: &mut Read<'_>, id: ClientId) -> Result<Vec<ClientMandate>> {
    let columns =
        (mandates::id, mandates::number, mandates::title, mandates::kind, mandates::status);
    let all = scope.rows(mandates::table).filter(mandates::client_id.eq(id));
    let all = all.order((mandates::number, mandates::id)).select(columns);
    scope.load(all.at_most(LOOKED_FOR))
}
