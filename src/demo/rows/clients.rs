//! Clients, the people to talk to there, and their addresses.

use diesel::prelude::*;

use super::super::check_digits;
use super::super::engagements::FIRM_CLIENT;
use super::super::fixtures::{Firm, MASTER, Pair, nth};
use super::super::ids::Kind;
use super::super::plan::{day, moment};
use super::people::holder;
use super::{Writing, insert_all};
use crate::clients::{AddressKind, ClientStatus, Language, LegalForm};
use crate::dates::Instant;
use crate::db::connection::AnyConnection;
use crate::db::schema::{addresses, clients, contacts};
use crate::error::Result;
use crate::ids::{AddressId, ClientId, ContactId, TenantId, UserId};
use crate::text::{fold, searchable};

#[derive(Insertable)]
#[diesel(table_name = clients, treat_none_as_default_value = false)]
struct NewClient<'a> {
    tenant_id: TenantId,
    id: ClientId,
    number: String,
    name: &'a str,
    legal_form: LegalForm,
    uid: Option<String>,
    status: ClientStatus,
    email: Option<String>,
    phone: Option<String>,
    language: Language,
    responsible_id: Option<UserId>,
    sort_name: String,
    search_text: String,
    created_at: Instant,
    deleted_at: Option<Instant>,
}

#[derive(Insertable)]
#[diesel(table_name = contacts, treat_none_as_default_value = false)]
struct NewContact<'a> {
    tenant_id: TenantId,
    id: ContactId,
    client_id: ClientId,
    full_name: &'a str,
    job_title: Option<String>,
    email: Option<String>,
    phone: Option<String>,
    is_primary: bool,
}

#[derive(Insertable)]
#[diesel(table_name = addresses, treat_none_as_default_value = false)]
struct NewAddress<'a> {
    tenant_id: TenantId,
    id: AddressId,
    client_id: ClientId,
    kind: AddressKind,
    street: &'a str,
    house_number: String,
    postal_code: &'a str,
    town: &'a str,
    country: &'a str,
}

pub(super) fn write(connection: &mut AnyConnection, writing: Writing<'_>) -> Result<()> {
    let (mut clients, mut contacts, mut addresses) = (vec![], vec![], vec![]);
    for n in (1..).take(MASTER.clients.len()) {
        clients.push(client(writing, n)?);
        contacts.push(contact(writing, n * 2, n, n - 1, true)?);
        if n % 3 == 1 {
            contacts.push(contact(writing, n * 2 + 1, n, n + 12, false)?);
        }
        addresses.push(address(writing, n * 2, n, n - 1, AddressKind::Main)?);
        if n % 4 == 1 {
            addresses.push(address(writing, n * 2 + 1, n, n + 6, AddressKind::Billing)?);
        }
    }
    clients.push(the_firm(writing)?);
    addresses.push(address_of_firm(writing));
    insert_all!(connection, clients::table, clients);
    insert_all!(connection, contacts::table, contacts);
    insert_all!(connection, addresses::table, addresses);
    Ok(())
}

fn client(writing: Writing<'_>, n: u32) -> Result<NewClient<'_>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let client = nth(&MASTER.clients, n - 1)?;
    let name = client.name.of(firm);
    let number = format!("{}-K{n:03}", firm.prefix);
    let has_uid = !matches!(client.legal_form, LegalForm::Individual) && !n.is_multiple_of(19);
    let uid =
        has_uid.then(|| check_digits::uid(11_000_000 + n * 271 + u32::from(firm.index) * 131));
    let plain_uid = uid.as_deref().unwrap_or_default().replace(['-', '.'], "");
    let email = (!n.is_multiple_of(13)).then(|| format!("k{n:03}@{}", firm.domain));
    let town = nth(&MASTER.places, n - 1)?.town.of(firm);
    let uid_text = uid.as_deref().unwrap_or_default();
    let email_text = email.as_deref().unwrap_or_default();
    let search_text = searchable([&number, name, uid_text, &plain_uid, email_text, town]);
    let deleted_at = client.deleted_on.map(|on| moment(on, 0)).transpose()?;
    let responsible = match n % 3 {
        0 => "accountant",
        1 => "manager",
        _ => "owner",
    };
    let is_prospect = client.status == ClientStatus::Prospect;
    Ok(NewClient {
        tenant_id,
        id: writing.id(Kind::Client, n),
        number,
        name,
        legal_form: client.legal_form,
        uid,
        status: client.status,
        email,
        phone: (!n.is_multiple_of(7)).then(|| phone(firm, n)),
        language: client.language.unwrap_or(firm.language),
        responsible_id: if is_prospect { None } else { Some(holder(firm, responsible)?) },
        sort_name: fold(name),
        search_text,
        created_at: moment(day(2024, 1, 1)?, i64::from(n))?,
        deleted_at,
    })
}

/// The firm as its own client.
fn the_firm(writing: Writing<'_>) -> Result<NewClient<'_>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let (n, name) = (FIRM_CLIENT, firm.name.as_str());
    let number = format!("{}-K{n:03}", firm.prefix);
    let plain_uid = firm.uid.replace(['-', '.'], "");
    let search_text = searchable([&number, name, &firm.uid, &plain_uid, &firm.email, &firm.town]);
    Ok(NewClient {
        tenant_id,
        id: writing.id(Kind::Client, n),
        number,
        name,
        legal_form: LegalForm::CompanyLimitedByShares,
        uid: Some(firm.uid.clone()),
        status: ClientStatus::Active,
        email: Some(firm.email.clone()),
        phone: Some(firm.phone.clone()),
        language: firm.language,
        responsible_id: Some(holder(firm, "owner")?),
        sort_name: fold(name),
        search_text,
        created_at: moment(day(2024, 1, 1)?, i64::from(n))?,
        deleted_at: None,
    })
}

fn address_of_firm(writing: Writing<'_>) -> NewAddress<'_> {
    let Writing { firm, tenant: tenant_id } = writing;
    NewAddress {
        tenant_id,
        id: writing.id(Kind::Address, FIRM_CLIENT * 2),
        client_id: writing.id(Kind::Client, FIRM_CLIENT),
        kind: AddressKind::Main,
        street: &firm.street,
        house_number: firm.house_number.clone(),
        postal_code: &firm.postal_code,
        town: &firm.town,
        country: "CH",
    }
}

/// A telephone number in the firm's region.
fn phone(firm: &Firm, n: u32) -> String {
    let region = firm.phone.get(..6).unwrap_or_default();
    format!("{region} 555 {:02} {:02}", 2 + n / 100, n % 100)
}

fn contact(
    writing: Writing<'_>,
    n: u32,
    client: u32,
    who: u32,
    is_primary: bool,
) -> Result<NewContact<'_>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let contact = nth(&MASTER.contacts, who)?;
    Ok(NewContact {
        tenant_id,
        id: writing.id(Kind::Contact, n),
        client_id: writing.id(Kind::Client, client),
        full_name: contact.name.of(firm),
        job_title: (!n.is_multiple_of(11)).then(|| contact.job_title.owned(firm)),
        email: (!n.is_multiple_of(9)).then(|| mailbox(firm, &contact.name, client)),
        phone: (!n.is_multiple_of(5)).then(|| phone(firm, 100 + client)),
        is_primary,
    })
}

/// An address of the form `aline.fournier.k001@…`.
fn mailbox(firm: &Firm, name: &Pair, client: u32) -> String {
    let folded = fold(name.of(firm)).replace(' ', ".");
    format!("{folded}.k{client:03}@{}", firm.domain)
}

fn address(
    writing: Writing<'_>,
    n: u32,
    client: u32,
    at: u32,
    kind: AddressKind,
) -> Result<NewAddress<'_>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let place = nth(&MASTER.places, at)?;
    Ok(NewAddress {
        tenant_id,
        id: writing.id(Kind::Address, n),
        client_id: writing.id(Kind::Client, client),
        kind,
        street: place.street.of(firm),
        house_number: (1 + n * 7 % 90).to_string(),
        postal_code: place.postal_code.of(firm),
        town: place.town.of(firm),
        country: place.country.of(firm),
    })
}
