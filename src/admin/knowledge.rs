//! What the entities of the knowledge graph mean, computed beforehand: a read only compares.

use diesel::prelude::*;

use super::Firm;
use crate::db::Administration;
use crate::db::connection::AnyConnection;
use crate::db::schema::people::tenants;
use crate::db::schema::{knowledge_embeddings, knowledge_entities};
use crate::error::Result;
use crate::ids::{EntityId, TenantId};
use crate::meaning::Model;

/// Entities in one transaction: what is done stays done when the rest is interrupted.
const AT_ONCE: i64 = 64;

/// An entity's id, name and description.
type Described = (EntityId, String, String);

#[derive(Insertable)]
#[diesel(table_name = knowledge_embeddings, treat_none_as_default_value = false)]
struct NewEmbedding<'a> {
    tenant_id: TenantId,
    entity_id: EntityId,
    model: &'a [u8],
    vector: Vec<u8>,
}

/// Computes what the entities of a firm, or of all firms, mean to `model` where that is missing; answers how many there were.
/// Employees are left out: nothing that comes from payroll is in a vector.
///
/// # Errors
/// The database is away; the model fails.
pub(crate) fn prepare_for_meaning(
    administration: &mut Administration,
    model: &Model,
    firm: Option<&Firm>,
) -> Result<usize> {
    let firms: Vec<TenantId> = match firm {
        Some(firm) => vec![firm.id],
        None => administration.transaction(|connection| {
            Ok(tenants::table.select(tenants::id).order(tenants::slug).load(connection)?)
        })?,
    };
    let mut count = 0;
    for tenant in firms {
        loop {
            let done = administration.transaction(|connection| some(connection, model, tenant))?;
            if done == 0 {
                break;
            }
            count += done;
        }
    }
    Ok(count)
}

/// Computes some of what is missing in a firm; answers how many.
fn some(connection: &mut AnyConnection, model: &Model, tenant: TenantId) -> Result<usize> {
    let missing = missing(connection, model, tenant)?;
    for (entity_id, name, description) in &missing {
        let vector = model.vector(&format!("{name}. {description}"))?.to_bytes();
        let row = NewEmbedding {
            tenant_id: tenant,
            entity_id: *entity_id,
            model: model.digest(),
            vector,
        };
        diesel::insert_into(knowledge_embeddings::table).values(row).execute(connection)?;
    }
    Ok(missing.len())
}

/// The first entities of a firm without a vector of the model.
fn missing(
    connection: &mut AnyConnection,
    model: &Model,
    tenant: TenantId,
) -> Result<Vec<Described>> {
    let theirs = knowledge_embeddings::table
        .filter(knowledge_embeddings::tenant_id.eq(tenant))
        .filter(knowledge_embeddings::model.eq(&model.digest()[..]))
        .select(knowledge_embeddings::entity_id);
    let all = knowledge_entities::table
        .filter(knowledge_entities::tenant_id.eq(tenant))
        .filter(knowledge_entities::employee_id.is_null())
        .filter(knowledge_entities::id.ne_all(theirs))
        .order(knowledge_entities::id)
        .select((
            knowledge_entities::id,
            knowledge_entities::name,
            knowledge_entities::description,
        ));
    Ok(all.limit(AT_ONCE).load(connection)?)
}
