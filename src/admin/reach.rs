//! Which mandates a member reaches.

use std::fmt;

use diesel::prelude::*;

use super::people::Member;
use super::{Email, Firm, refuse};
use crate::db::Mandates;
use crate::db::connection::AnyConnection;
use crate::db::schema::{clients, mandates, memberships, reach};
use crate::error::Result;
use crate::ids::{ClientId, MandateId, UserId};

/// The reach that a member is given, in the words of the firm: numbers of mandates and of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NewReach {
    /// Every mandate.
    All,
    /// The mandates of these numbers; none is a reach too.
    Listed(Vec<String>),
    /// The mandates of the client of this number.
    Client(String),
}

impl fmt::Display for NewReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("reads all mandates"),
            Self::Listed(numbers) if numbers.is_empty() => f.write_str(
                "reads no mandate and so nothing of any client, until `guichet user set-reach` lists some",
            ),
            Self::Listed(numbers) => write!(f, "reads the mandates {}", numbers.join(", ")),
            Self::Client(number) => write!(f, "reads the mandates of client {number}"),
        }
    }
}

/// A reach whose mandates and client exist.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) reach: Mandates,
    pub(super) client: Option<ClientId>,
    mandates: Vec<MandateId>,
}

impl Resolved {
    /// Looks up what `new` names.
    ///
    /// # Errors
    /// The firm has no such client, or not all of the mandates.
    pub(super) fn find(
        connection: &mut AnyConnection,
        firm: &Firm,
        new: &NewReach,
    ) -> Result<Self> {
        let (reach, client, mandates) = match new {
            NewReach::All => (Mandates::All, None, vec![]),
            NewReach::Listed(numbers) => {
                (Mandates::Listed, None, mandates_of(connection, firm, numbers)?)
            }
            NewReach::Client(number) => {
                (Mandates::Client, Some(client_of(connection, firm, number)?), vec![])
            }
        };
        Ok(Self { reach, client, mandates })
    }

    /// Replaces the list of a member.
    pub(super) fn write_list(
        &self,
        connection: &mut AnyConnection,
        firm: &Firm,
        user: UserId,
    ) -> Result<()> {
        let own = reach::table.filter(reach::tenant_id.eq(firm.id)).filter(reach::user_id.eq(user));
        diesel::delete(own).execute(connection)?;
        for mandate in &self.mandates {
            let row = (
                reach::tenant_id.eq(firm.id),
                reach::user_id.eq(user),
                reach::mandate_id.eq(*mandate),
            );
            diesel::insert_into(reach::table).values(row).execute(connection)?;
        }
        Ok(())
    }
}

fn mandates_of(
    connection: &mut AnyConnection,
    firm: &Firm,
    numbers: &[String],
) -> Result<Vec<MandateId>> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for number in numbers {
        let id: Option<MandateId> = mandates::table
            .filter(mandates::tenant_id.eq(firm.id))
            .filter(mandates::number.eq(number))
            .select(mandates::id)
            .load(connection)?
            .pop();
        match id {
            Some(id) => found.push(id),
            None => missing.push(number.as_str()),
        }
    }
    if !missing.is_empty() {
        let (slug, missing) = (&firm.slug, missing.join(", "));
        return Err(refuse(format!("{slug} has no mandate {missing}; check the number")));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn client_of(connection: &mut AnyConnection, firm: &Firm, number: &str) -> Result<ClientId> {
    let id: Option<ClientId> = clients::table
        .filter(clients::tenant_id.eq(firm.id))
        .filter(clients::number.eq(number))
        .filter(clients::deleted_at.is_null())
        .select(clients::id)
        .load(connection)?
        .pop();
    id.ok_or_else(|| refuse(format!("{} has no client {number}; check the number", firm.slug)))
}

/// Replaces the reach of a member; answers whose it was.
///
/// # Errors
/// There is no such member, client or mandate.
pub(crate) fn set_reach(
    connection: &mut AnyConnection,
    firm: &Firm,
    email: &Email,
    new: &NewReach,
) -> Result<Member> {
    let member = Member::find(connection, firm, email)?;
    let resolved = Resolved::find(connection, firm, new)?;
    let this = memberships::table
        .filter(memberships::tenant_id.eq(firm.id))
        .filter(memberships::user_id.eq(member.user));
    let changes =
        (memberships::reach.eq(resolved.reach), memberships::client_id.eq(resolved.client));
    diesel::update(this).set(changes).execute(connection)?;
    resolved.write_list(connection, firm, member.user)?;
    Ok(member)
}
