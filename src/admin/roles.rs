//! The roles of a firm: rows, seeded once.

use diesel::prelude::*;

use super::Firm;
use crate::auth::{Permissions, ROLES};
use crate::db::connection::AnyConnection;
use crate::db::schema::people::{role_permissions, roles};
use crate::error::Result;
use crate::ids::TenantId;

/// A role and what it grants.
#[derive(Debug, Clone)]
pub(crate) struct FirmRole {
    pub(crate) name: String,
    pub(crate) permissions: Permissions,
}

/// The roles that every new firm starts with.
pub(crate) fn seeded_roles() -> Vec<FirmRole> {
    let seeded = ROLES.iter();
    seeded
        .map(|role| FirmRole { name: role.name.to_owned(), permissions: role.permissions() })
        .collect()
}

/// Gives a new firm its roles.
pub(crate) fn seed_roles(connection: &mut AnyConnection, tenant: TenantId) -> Result<()> {
    for role in ROLES {
        let row = (roles::tenant_id.eq(tenant), roles::name.eq(role.name));
        diesel::insert_into(roles::table).values(row).execute(connection)?;
        for permission in role.permissions().iter() {
            let row = (
                role_permissions::tenant_id.eq(tenant),
                role_permissions::role.eq(role.name),
                role_permissions::permission.eq(permission),
            );
            diesel::insert_into(role_permissions::table).values(row).execute(connection)?;
        }
    }
    Ok(())
}

/// The roles of a firm as they are now, the seeded ones first.
pub(crate) fn roles_of(connection: &mut AnyConnection, firm: &Firm) -> Result<Vec<FirmRole>> {
    let names: Vec<String> = roles::table
        .filter(roles::tenant_id.eq(firm.id))
        .order(roles::name)
        .select(roles::name)
        .load(connection)?;
    let granted: Vec<(String, String)> = role_permissions::table
        .filter(role_permissions::tenant_id.eq(firm.id))
        .select((role_permissions::role, role_permissions::permission))
        .load(connection)?;
    let of = |name: &str| {
        let own = granted.iter().filter(|(role, _)| role == name);
        own.fold(Permissions::NONE, |all, (_, word)| all.union(Permissions::stored(word)))
    };
    let mut found: Vec<_> =
        names.into_iter().map(|name| FirmRole { permissions: of(&name), name }).collect();
    found.sort_by_key(|role| {
        ROLES.iter().position(|seeded| seeded.name == role.name).unwrap_or(ROLES.len())
    });
    Ok(found)
}

/// The role of that name in a firm.
///
/// # Errors
/// There is none; the refusal names those that there are.
pub(super) fn role(connection: &mut AnyConnection, firm: &Firm, name: &str) -> Result<FirmRole> {
    let roles = roles_of(connection, firm)?;
    let names: Vec<_> = roles.iter().map(|role| role.name.clone()).collect();
    roles.into_iter().find(|role| role.name == name).ok_or_else(|| {
        let (slug, names) = (&firm.slug, names.join(", "));
        super::refuse(format!("{slug} has no role {name:?}; choose one of {names}"))
    })
}
