//! Firms.

use chrono_tz::Tz;
use diesel::prelude::*;
use serde::Serialize;

use super::{Slug, Standing, refuse, seed_roles};
use crate::dates::Instant;
use crate::db::connection::AnyConnection;
use crate::db::schema::people::tenants;
use crate::db::schema::{firms, memberships};
use crate::error::Result;
use crate::identifiers::{Iban, Uid};
use crate::ids::TenantId;
use crate::money::Currency;
use crate::vat::seed_vat_codes;

/// A firm, for what is done in it.
#[derive(Debug, Clone)]
pub(crate) struct Firm {
    pub(crate) id: TenantId,
    pub(crate) slug: String,
    pub(crate) standing: Standing,
}

impl Firm {
    /// The firm of that short name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn find(connection: &mut AnyConnection, slug: &Slug) -> Result<Self> {
        let row: Option<(TenantId, bool)> = tenants::table
            .filter(tenants::slug.eq(slug.as_str()))
            .select((tenants::id, tenants::is_active))
            .load(connection)?
            .pop();
        let (id, is_active) = row.ok_or_else(|| {
            refuse(format!("there is no firm {slug}; `guichet tenant list` shows those there are"))
        })?;
        Ok(Self { id, slug: slug.to_string(), standing: is_active.into() })
    }
}

/// What a firm is created with.
#[derive(Debug)]
pub(crate) struct NewFirm<'a> {
    pub(crate) slug: &'a Slug,
    pub(crate) name: &'a str,
    pub(crate) uid: Option<&'a Uid>,
    pub(crate) email: &'a str,
    pub(crate) phone: &'a str,
    pub(crate) street: &'a str,
    pub(crate) house_number: &'a str,
    pub(crate) postal_code: &'a str,
    pub(crate) town: &'a str,
    pub(crate) country: &'a str,
    pub(crate) iban: Option<&'a Iban>,
    pub(crate) qr_iban: Option<&'a Iban>,
    pub(crate) time_zone: Tz,
    pub(crate) currency: Currency,
    pub(crate) payment_term_days: i32,
}

/// Creates a firm with its seeded roles and VAT codes, and nobody in it.
///
/// # Errors
/// The short name is taken, or an account is of the wrong kind.
pub(crate) fn create_firm(
    connection: &mut AnyConnection,
    new: &NewFirm<'_>,
    now: Instant,
) -> Result<()> {
    check_accounts(new)?;
    let slug = new.slug.as_str();
    let taken: i64 =
        tenants::table.filter(tenants::slug.eq(slug)).count().get_result(connection)?;
    if taken > 0 {
        return Err(refuse(format!("there is a firm {slug} already; choose another short name")));
    }
    let id = TenantId::at(now);
    let tenant = (
        tenants::id.eq(id),
        tenants::slug.eq(slug),
        tenants::is_active.eq(true),
        tenants::created_at.eq(now),
    );
    diesel::insert_into(tenants::table).values(tenant).execute(connection)?;
    let firm = (
        firms::tenant_id.eq(id),
        firms::name.eq(new.name),
        firms::uid.eq(new.uid.map(ToString::to_string)),
        firms::email.eq(new.email),
        firms::phone.eq(new.phone),
        firms::street.eq(new.street),
        firms::house_number.eq(new.house_number),
        firms::postal_code.eq(new.postal_code),
        firms::town.eq(new.town),
        firms::country.eq(new.country),
        firms::iban.eq(new.iban.map_or_else(String::new, ToString::to_string)),
        firms::qr_iban.eq(new.qr_iban.map_or_else(String::new, ToString::to_string)),
        firms::time_zone.eq(new.time_zone.name()),
        firms::currency.eq(new.currency),
        firms::payment_term_days.eq(new.payment_term_days),
    );
    diesel::insert_into(firms::table).values(firm).execute(connection)?;
    seed_roles(connection, id)?;
    seed_vat_codes(connection, id)
}

fn check_accounts(new: &NewFirm<'_>) -> Result<()> {
    match (new.iban, new.qr_iban) {
        (Some(iban), _) if iban.is_qr() => {
            Err(refuse(format!("{iban} is a QR-IBAN; give it as --qr-iban")))
        }
        (_, Some(iban)) if !iban.is_qr() => Err(refuse(format!(
            "{iban} is no QR-IBAN, whose institution is from 30000 to 31999; give it as --iban"
        ))),
        _ => Ok(()),
    }
}

/// Lets a firm in, or shuts it out with everybody in it.
pub(crate) fn set_firm_standing(
    connection: &mut AnyConnection,
    firm: &Firm,
    standing: Standing,
) -> Result<()> {
    let this = tenants::table.filter(tenants::id.eq(firm.id));
    let changed = tenants::is_active.eq(standing.is_active());
    diesel::update(this).set(changed).execute(connection)?;
    Ok(())
}

/// A firm as the list shows it.
#[derive(Debug, Serialize)]
pub(crate) struct FirmRow {
    pub(crate) slug: String,
    pub(crate) name: String,
    pub(crate) state: Standing,
    pub(crate) active_people: usize,
    pub(crate) created_at: Instant,
}

/// Every firm, by short name.
pub(crate) fn list_firms(connection: &mut AnyConnection) -> Result<Vec<FirmRow>> {
    type Row = (TenantId, String, String, bool, Instant);
    let rows: Vec<Row> = tenants::table
        .inner_join(firms::table.on(firms::tenant_id.eq(tenants::id)))
        .order(tenants::slug)
        .select((tenants::id, tenants::slug, firms::name, tenants::is_active, tenants::created_at))
        .load(connection)?;
    let people: Vec<TenantId> = memberships::table
        .filter(memberships::is_active.eq(true))
        .select(memberships::tenant_id)
        .load(connection)?;
    let shown = rows.into_iter().map(|(id, slug, name, is_active, created_at)| FirmRow {
        slug,
        name,
        state: is_active.into(),
        active_people: people.iter().filter(|tenant| **tenant == id).count(),
        created_at,
    });
    Ok(shown.collect())
}
