//! Firms, their people and their tokens.

use diesel::prelude::*;

use super::super::fixtures::{Firm, MASTER, Person};
use super::super::ids::{self, Kind};
use super::super::plan::{day, moment};
use super::super::{DemoState, password_firm, token};
use super::{Writing, insert_all};
use crate::admin::seed_roles;
use crate::auth::{Permissions, ROLES, password};
use crate::dates::Instant;
use crate::db::Mandates;
use crate::db::connection::AnyConnection;
use crate::db::schema::people::{tenants, users};
use crate::db::schema::{api_tokens, firms, memberships};
use crate::error::{Error, Result};
use crate::ids::{ClientId, TenantId, TokenId, UserId};
use crate::language::Language;
use crate::money::Currency;
use crate::vat::seed_vat_codes;

/// Scopes of the tokens, within what the role grants.
const SCOPES: &str = "read propose payroll.read_sensitive document.read_confidential";

#[derive(Insertable)]
#[diesel(table_name = users, treat_none_as_default_value = false)]
struct NewUser {
    id: UserId,
    email: String,
    full_name: String,
    password_hash: Option<String>,
    token_version: i32,
    is_active: bool,
    created_at: Instant,
}

#[derive(Insertable)]
#[diesel(table_name = firms, treat_none_as_default_value = false)]
struct NewFirm<'a> {
    tenant_id: TenantId,
    name: &'a str,
    uid: Option<String>,
    email: &'a str,
    phone: &'a str,
    street: &'a str,
    house_number: &'a str,
    postal_code: &'a str,
    town: &'a str,
    country: &'a str,
    iban: &'a str,
    qr_iban: &'a str,
    time_zone: &'a str,
    currency: Currency,
    payment_term_days: i32,
}

#[derive(Insertable)]
#[diesel(table_name = memberships, treat_none_as_default_value = false)]
struct NewMembership<'a> {
    tenant_id: TenantId,
    user_id: UserId,
    display_name: &'a str,
    role: &'a str,
    reach: Mandates,
    client_id: Option<ClientId>,
    is_active: bool,
    created_at: Instant,
    language: Language,
}

#[derive(Insertable)]
#[diesel(table_name = api_tokens, treat_none_as_default_value = false)]
struct NewToken<'a> {
    tenant_id: TenantId,
    id: TokenId,
    user_id: UserId,
    name: &'a str,
    digest: Vec<u8>,
    suffix: String,
    scopes: String,
    created_at: Instant,
    expires_at: Option<Instant>,
}

/// The password hashes, one a firm: hashing is slow on purpose, so it is done before the transaction.
pub(in super::super) struct Hashes(Vec<(&'static str, String)>);

impl Hashes {
    /// Hashes the password of each firm.
    pub(in super::super) fn make() -> Result<Self> {
        let hash = |firm: &'static Firm| Ok((firm.slug.as_str(), password::set(&firm.password)?));
        Ok(Self(MASTER.firms.iter().map(hash).collect::<Result<_>>()?))
    }

    fn of(&self, firm: &Firm) -> Option<String> {
        self.0.iter().find(|(slug, _)| *slug == firm.slug).map(|(_, hash)| hash.clone())
    }
}

/// The user id of the `n`th person, from 1; who works for both firms is one user.
pub(super) fn user(firm: &Firm, n: u32, person: &Person) -> UserId {
    let firm = if person.shared_name.is_some() { 0 } else { firm.index };
    ids::id(firm, Kind::User, n).into()
}

/// The user id of the first person with a role.
pub(super) fn holder(firm: &Firm, role: &str) -> Result<UserId> {
    let found = (1..).zip(&MASTER.people).find(|(_, person)| person.role.of(firm) == role);
    let (n, person) = found.ok_or_else(|| Error::fault(format!("the demo has no {role}")))?;
    Ok(user(firm, n, person))
}

pub(super) fn write_users(connection: &mut AnyConnection, hashes: &Hashes) -> Result<()> {
    let created_at = moment(day(2024, 1, 1)?, 0)?;
    let mut rows = vec![];
    for firm in &MASTER.firms {
        for (n, person) in (1..).zip(&MASTER.people) {
            if person.shared_name.is_some() && firm.index > 0 {
                continue;
            }
            rows.push(NewUser {
                id: user(firm, n, person),
                email: person.email.owned(firm),
                full_name: person.shared_name.clone().unwrap_or_else(|| person.name.owned(firm)),
                password_hash: hashes.of(password_firm(firm, person)),
                token_version: 1,
                is_active: true,
                created_at,
            });
        }
    }
    insert_all!(connection, users::table, rows);
    Ok(())
}

pub(super) fn write_firm(connection: &mut AnyConnection, writing: Writing<'_>) -> Result<()> {
    let Writing { firm, tenant } = writing;
    diesel::insert_into(tenants::table)
        .values((
            tenants::id.eq(tenant),
            tenants::slug.eq(&firm.slug),
            tenants::is_active.eq(true),
            tenants::created_at.eq(moment(day(2024, 1, 1)?, 0)?),
        ))
        .execute(connection)?;
    let row = NewFirm {
        tenant_id: tenant,
        name: &firm.name,
        uid: Some(firm.uid.clone()),
        email: &firm.email,
        phone: &firm.phone,
        street: &firm.street,
        house_number: &firm.house_number,
        postal_code: &firm.postal_code,
        town: &firm.town,
        country: "CH",
        iban: &firm.iban,
        qr_iban: &firm.qr_iban,
        time_zone: "Europe/Zurich",
        currency: Currency::Chf,
        payment_term_days: 30,
    };
    insert_all!(connection, firms::table, [row]);
    seed_roles(connection, tenant)?;
    seed_vat_codes(connection, tenant)
}

pub(super) fn write_memberships(
    connection: &mut AnyConnection,
    writing: Writing<'_>,
) -> Result<()> {
    let Writing { firm, tenant: tenant_id } = writing;
    let created_at = moment(day(2024, 1, 1)?, 0)?;
    let ended = moment(day(2026, 6, 30)?, 0)?;
    let far = moment(day(2099, 12, 31)?, 0)?;
    let (mut members, mut tokens) = (vec![], vec![]);
    for (n, person) in (1..).zip(&MASTER.people) {
        let (user_id, role) = (user(firm, n, person), person.role.of(firm));
        members.push(NewMembership {
            tenant_id,
            user_id,
            display_name: person.name.of(firm),
            role,
            reach: person.reach,
            client_id: (person.reach == Mandates::Client).then(|| writing.id(Kind::Client, 1)),
            is_active: person.state != DemoState::Deactivated,
            created_at,
            language: person.language.unwrap_or(firm.answers_in),
        });
        let token = token(firm, person);
        tokens.push(NewToken {
            tenant_id,
            id: writing.id(Kind::Token, n),
            user_id,
            name: &firm.token,
            digest: token.digest().to_vec(),
            suffix: token.suffix().to_owned(),
            scopes: scopes(role)?,
            created_at,
            expires_at: Some(if person.state == DemoState::ExpiredToken { ended } else { far }),
        });
    }
    insert_all!(connection, memberships::table, members);
    insert_all!(connection, api_tokens::table, tokens);
    Ok(())
}

/// What a token of somebody with this role may be used for.
fn scopes(role: &str) -> Result<String> {
    let granted = ROLES.iter().find(|known| known.name == role).map(|role| role.permissions());
    let granted = granted.ok_or_else(|| Error::fault(format!("there is no role {role}")))?;
    let scopes = Permissions::parse_scopes(SCOPES).map_err(Error::fault)?;
    Ok(scopes.intersection(granted).to_string())
}
