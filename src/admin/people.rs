//! People, and their places in firms.

use diesel::prelude::*;
use serde::Serialize;

use super::reach::{NewReach, Resolved};
use super::{Email, Firm, Line, Standing, refuse, roles};
use crate::dates::Instant;
use crate::db::Mandates;
use crate::db::connection::AnyConnection;
use crate::db::schema::people::{tenants, users};
use crate::db::schema::{clients, mandates, memberships, reach};
use crate::error::Result;
use crate::ids::{ClientId, TenantId, UserId};
use crate::language::Language;

/// The role that a firm is never without, once it had it.
const OWNER: &str = "owner";

/// A natural person.
#[derive(Debug, Queryable)]
struct Person {
    id: UserId,
    is_active: bool,
    password_hash: Option<String>,
}

fn person(connection: &mut AnyConnection, email: &Email) -> Result<Option<Person>> {
    let rows = users::table.filter(users::email.eq(email.as_str())).select((
        users::id,
        users::is_active,
        users::password_hash,
    ));
    Ok(rows.load(connection)?.pop())
}

fn known_person(connection: &mut AnyConnection, email: &Email) -> Result<Person> {
    person(connection, email)?.ok_or_else(|| {
        refuse(format!("nobody has the address {email}; `guichet user list` shows who there is"))
    })
}

/// A person's place in a firm.
#[derive(Debug)]
pub(crate) struct Member {
    pub(super) user: UserId,
    pub(super) standing: Standing,
    pub(super) is_person_active: bool,
    pub(crate) name: String,
    pub(crate) role: String,
}

impl Member {
    /// The member of a firm with that address.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn find(connection: &mut AnyConnection, firm: &Firm, email: &Email) -> Result<Self> {
        type Row = (UserId, bool, bool, String, String);
        let row: Option<Row> = memberships::table
            .inner_join(users::table.on(users::id.eq(memberships::user_id)))
            .filter(memberships::tenant_id.eq(firm.id))
            .filter(users::email.eq(email.as_str()))
            .select((
                memberships::user_id,
                memberships::is_active,
                users::is_active,
                memberships::display_name,
                memberships::role,
            ))
            .load(connection)?
            .pop();
        let slug = &firm.slug;
        let (user, is_active, is_person_active, name, role) = row.ok_or_else(|| {
            let way_out = format!("`guichet user list --tenant {slug}` shows who does");
            refuse(format!("{email} does not belong to {slug}; {way_out}"))
        })?;
        Ok(Self { user, standing: is_active.into(), is_person_active, name, role })
    }
}

/// What is said about the password of a person who is added.
#[derive(Debug)]
pub(crate) enum NewPassword {
    /// Its hash.
    Hashed(String),
    /// There is none to be: the person works with tokens.
    Without,
    /// Nothing: a person who is known keeps what they have.
    Unsaid,
}

/// What a person is added to a firm with.
#[derive(Debug)]
pub(crate) struct NewMember<'a> {
    pub(crate) email: &'a Email,
    pub(crate) name: &'a Line,
    pub(crate) role: &'a str,
    pub(crate) language: Language,
    pub(crate) reach: &'a NewReach,
    pub(crate) password: NewPassword,
}

/// Gives a person a place in a firm; a person whose address is known stays one person.
///
/// # Errors
/// The person belongs to the firm already or is deactivated everywhere; there is no such role, mandate or client;
/// nothing or too much is said about the password.
pub(crate) fn add_member(
    connection: &mut AnyConnection,
    firm: &Firm,
    new: &NewMember<'_>,
    now: Instant,
) -> Result<()> {
    let role = roles::role(connection, firm, new.role)?;
    let resolved = Resolved::find(connection, firm, new.reach)?;
    let user = person_for(connection, new, now)?;
    let places = memberships::table
        .filter(memberships::tenant_id.eq(firm.id))
        .filter(memberships::user_id.eq(user))
        .select(memberships::role);
    if let Some(role) = places.load::<String>(connection)?.pop() {
        let (email, slug) = (new.email, &firm.slug);
        return Err(refuse(format!(
            "{email} belongs to {slug} already, as {role}; use `guichet user set-role`, `set-reach` or `activate`"
        )));
    }
    let row = (
        memberships::tenant_id.eq(firm.id),
        memberships::user_id.eq(user),
        memberships::display_name.eq(new.name.as_str()),
        memberships::role.eq(role.name),
        memberships::reach.eq(resolved.reach),
        memberships::client_id.eq(resolved.client),
        memberships::is_active.eq(true),
        memberships::created_at.eq(now),
        memberships::language.eq(new.language),
    );
    diesel::insert_into(memberships::table).values(row).execute(connection)?;
    resolved.write_list(connection, firm, user)
}

/// The person of a new place: the one with that address, or a new one.
fn person_for(connection: &mut AnyConnection, new: &NewMember<'_>, now: Instant) -> Result<UserId> {
    let email = new.email;
    match (person(connection, email)?, &new.password) {
        (Some(person), _) if !person.is_active => Err(refuse(format!(
            "{email} is deactivated everywhere; run `guichet user activate --everywhere --email {email}` first"
        ))),
        (Some(Person { password_hash: Some(_), .. }), NewPassword::Hashed(_)) => {
            Err(refuse(format!(
                "{email} is known and has a password; leave --password-file out, or use `guichet user set-password`"
            )))
        }
        (Some(person), NewPassword::Hashed(hash)) => {
            write_password(connection, person.id, hash)?;
            Ok(person.id)
        }
        (Some(person), _) => Ok(person.id),
        (None, NewPassword::Unsaid) => Err(refuse(format!(
            "{email} is new here; give --password-file FILE, or --no-password to work with tokens alone"
        ))),
        (None, NewPassword::Hashed(hash)) => insert_person(connection, new, Some(hash), now),
        (None, NewPassword::Without) => insert_person(connection, new, None, now),
    }
}

fn insert_person(
    connection: &mut AnyConnection,
    new: &NewMember<'_>,
    password_hash: Option<&String>,
    now: Instant,
) -> Result<UserId> {
    let id = UserId::at(now);
    let row = (
        users::id.eq(id),
        users::email.eq(new.email.as_str()),
        users::full_name.eq(new.name.as_str()),
        users::password_hash.eq(password_hash),
        users::token_version.eq(1),
        users::is_active.eq(true),
        users::created_at.eq(now),
    );
    diesel::insert_into(users::table).values(row).execute(connection)?;
    Ok(id)
}

fn write_password(connection: &mut AnyConnection, user: UserId, hash: &str) -> Result<()> {
    let changes =
        (users::password_hash.eq(hash), users::token_version.eq(users::token_version + 1));
    diesel::update(users::table.filter(users::id.eq(user))).set(changes).execute(connection)?;
    Ok(())
}

/// Sets the password of a person in all firms and ends what they were signed in with; API tokens stay.
///
/// # Errors
/// Nobody has that address.
pub(crate) fn set_password(
    connection: &mut AnyConnection,
    email: &Email,
    hash: &str,
) -> Result<()> {
    let person = known_person(connection, email)?;
    write_password(connection, person.id, hash)
}

/// Gives a member another role; answers whose and which it was before.
///
/// # Errors
/// There is no such member or role, or the firm would be without an owner.
pub(crate) fn set_role(
    connection: &mut AnyConnection,
    firm: &Firm,
    email: &Email,
    role: &str,
) -> Result<Member> {
    let member = Member::find(connection, firm, email)?;
    let role = roles::role(connection, firm, role)?;
    if role.name != OWNER {
        keep_an_owner(connection, firm, member.user, email)?;
    }
    let this = memberships::table
        .filter(memberships::tenant_id.eq(firm.id))
        .filter(memberships::user_id.eq(member.user));
    diesel::update(this).set(memberships::role.eq(role.name)).execute(connection)?;
    Ok(member)
}

/// Answers a member in another language; answers whom.
///
/// # Errors
/// There is no such member.
pub(crate) fn set_language(
    connection: &mut AnyConnection,
    firm: &Firm,
    email: &Email,
    language: Language,
) -> Result<Member> {
    let member = Member::find(connection, firm, email)?;
    let this = memberships::table
        .filter(memberships::tenant_id.eq(firm.id))
        .filter(memberships::user_id.eq(member.user));
    diesel::update(this).set(memberships::language.eq(language)).execute(connection)?;
    Ok(member)
}

/// Where somebody is activated or deactivated.
#[derive(Debug)]
pub(crate) enum Place {
    /// In one firm.
    Firm(Firm),
    /// As a person, in all firms.
    Everywhere,
}

/// Lets a person in, or shuts them out, with the next request.
///
/// # Errors
/// There is no such person or member; a firm would be without an owner; a place is activated of a person who is
/// deactivated everywhere.
pub(crate) fn set_standing(
    connection: &mut AnyConnection,
    place: &Place,
    email: &Email,
    standing: Standing,
) -> Result<()> {
    match place {
        Place::Firm(firm) => {
            let member = Member::find(connection, firm, email)?;
            match standing {
                Standing::Inactive => keep_an_owner(connection, firm, member.user, email)?,
                Standing::Active if member.is_person_active => {}
                Standing::Active => {
                    return Err(refuse(format!(
                        "{email} is deactivated everywhere; activate with --everywhere first"
                    )));
                }
            }
            let this = memberships::table
                .filter(memberships::tenant_id.eq(firm.id))
                .filter(memberships::user_id.eq(member.user));
            let changed = memberships::is_active.eq(standing.is_active());
            diesel::update(this).set(changed).execute(connection)?;
        }
        Place::Everywhere => {
            let person = known_person(connection, email)?;
            if standing == Standing::Inactive {
                for firm in firms_of(connection, person.id)? {
                    keep_an_owner(connection, &firm, person.id, email)?;
                }
            }
            let this = users::table.filter(users::id.eq(person.id));
            let changed = users::is_active.eq(standing.is_active());
            diesel::update(this).set(changed).execute(connection)?;
        }
    }
    Ok(())
}

/// The firms where a person has a place.
fn firms_of(connection: &mut AnyConnection, user: UserId) -> Result<Vec<Firm>> {
    let rows: Vec<(TenantId, String, bool)> = tenants::table
        .inner_join(memberships::table.on(memberships::tenant_id.eq(tenants::id)))
        .filter(memberships::user_id.eq(user))
        .order(tenants::slug)
        .select((tenants::id, tenants::slug, tenants::is_active))
        .load(connection)?;
    let firms = rows.into_iter();
    Ok(firms.map(|(id, slug, is_active)| Firm { id, slug, standing: is_active.into() }).collect())
}

/// Refuses to take its last active owner from a firm.
fn keep_an_owner(
    connection: &mut AnyConnection,
    firm: &Firm,
    leaving: UserId,
    email: &Email,
) -> Result<()> {
    let owners: Vec<UserId> = memberships::table
        .inner_join(users::table.on(users::id.eq(memberships::user_id)))
        .filter(memberships::tenant_id.eq(firm.id))
        .filter(memberships::role.eq(OWNER))
        .filter(memberships::is_active.eq(true))
        .filter(users::is_active.eq(true))
        .select(memberships::user_id)
        .load(connection)?;
    if owners == [leaving] {
        let slug = &firm.slug;
        return Err(refuse(format!(
            "{email} is the last active owner of {slug}; make somebody else owner first, with `guichet user set-role`"
        )));
    }
    Ok(())
}

/// A member as the list shows them.
#[derive(Debug, Serialize)]
pub(crate) struct MemberRow {
    pub(crate) tenant: String,
    pub(crate) email: String,
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) language: Language,
    pub(crate) reach: Mandates,
    /// Numbers of the mandates in the list.
    pub(crate) mandates: Vec<String>,
    /// Number of the member's own client.
    pub(crate) client: Option<String>,
    pub(crate) state: Standing,
    pub(crate) is_deactivated_everywhere: bool,
    pub(crate) has_password: bool,
}

type Listed = (
    TenantId,
    UserId,
    (String, String, String, String, Language, Mandates, Option<ClientId>, bool),
    bool,
    Option<String>,
);

/// The members of one firm, or of all, by firm and name.
pub(crate) fn list_members(
    connection: &mut AnyConnection,
    firm: Option<&Firm>,
) -> Result<Vec<MemberRow>> {
    let rows: Vec<Listed> = memberships::table
        .inner_join(users::table.on(users::id.eq(memberships::user_id)))
        .inner_join(tenants::table.on(tenants::id.eq(memberships::tenant_id)))
        .order((tenants::slug, memberships::display_name, users::email))
        .select((
            memberships::tenant_id,
            memberships::user_id,
            (
                tenants::slug,
                users::email,
                memberships::display_name,
                memberships::role,
                memberships::language,
                memberships::reach,
                memberships::client_id,
                memberships::is_active,
            ),
            users::is_active,
            users::password_hash,
        ))
        .load(connection)?;
    let wanted = rows.into_iter().filter(|row| firm.is_none_or(|firm| row.0 == firm.id));
    wanted.map(|row| member_row(connection, row)).collect()
}

fn member_row(connection: &mut AnyConnection, row: Listed) -> Result<MemberRow> {
    let (firm, user, place, is_person_active, password_hash) = row;
    let (tenant, email, name, role, language, reach, client, is_active) = place;
    let mandates =
        mandates::table
            .inner_join(reach::table.on(
                reach::tenant_id.eq(mandates::tenant_id).and(reach::mandate_id.eq(mandates::id)),
            ))
            .filter(reach::tenant_id.eq(firm))
            .filter(reach::user_id.eq(user))
            .order(mandates::number)
            .select(mandates::number)
            .load(connection)?;
    let of_client = clients::table
        .filter(clients::tenant_id.eq(firm))
        .filter(clients::id.nullable().eq(client))
        .select(clients::number);
    let client = of_client.load(connection)?.pop();
    Ok(MemberRow {
        tenant,
        email,
        name,
        role,
        language,
        reach,
        mandates,
        client,
        state: is_active.into(),
        is_deactivated_everywhere: !is_person_active,
        has_password: password_hash.is_some(),
    })
}
