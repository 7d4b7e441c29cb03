//! The knowledge graph: people, companies, assets and how they are related, as far as the caller reaches them.
//!
//! An entity is reached through its mandate, through its client or, without either, by everybody in the firm; a relation only
//! when both its ends are. What is out of reach is neither shown, nor counted, nor passed through.

mod by_meaning;
mod by_words;
mod explore_knowledge;
mod get_knowledge_stats;
mod ontology;
mod search_knowledge;
mod walk;

use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::db::schema::knowledge_entities;
use crate::db::types::Id;
use crate::db::{HandWritten, HandWrittenSql};
use crate::ids::{ClientId, EmployeeId, EntityId, MandateId, RecordId};
use crate::registry::{Resource, Tool};
use crate::text::FreeText;

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[
    Tool::read::<search_knowledge::SearchKnowledge>(),
    Tool::read::<explore_knowledge::ExploreKnowledge>(),
    Tool::read::<get_knowledge_stats::GetKnowledgeStats>(),
];

/// The resources of this slice.
pub const RESOURCES: &[Resource] =
    &[Resource::of::<ontology::ReadOntology>("guichet://ontology", "Ontology")];

text_enum! {
    /// The record that an entity stands for.
    StandsFor {
        /// A client.
        Client = "client",
        /// A mandate.
        Mandate = "mandate",
        /// An employee.
        Employee = "employee",
    }
}

text_enum! {
    /// What is doubtful about an entity or a relation.
    AnomalyKind {
        /// Two entities may be the same.
        Duplicate = "duplicate",
        /// Two relations cannot both hold.
        Contradiction = "contradiction",
        /// A relation that should be there is not.
        MissingRelation = "missing_relation",
        /// What it says may no longer hold.
        Outdated = "outdated",
        /// Companies own each other in a circle.
        CircularOwnership = "circular_ownership",
    }
}

text_enum! {
    /// How much an anomaly matters.
    Severity {
        /// It can wait.
        Low = "low",
        /// It should be looked at.
        Medium = "medium",
        /// It may make reports wrong.
        High = "high",
    }
}

text_enum! {
    /// Whether an anomaly is still there.
    AnomalyState {
        /// Nobody has settled it.
        Open = "open",
        /// It was settled.
        Resolved = "resolved",
    }
}

/// What every entity of an answer is made of.
#[derive(Debug, Clone, Queryable)]
struct EntityRow {
    id: EntityId,
    type_code: String,
    name: FreeText,
    sort_name: String,
    stands_for: Option<StandsFor>,
    mandate_id: Option<MandateId>,
    client_id: Option<ClientId>,
    employee_id: Option<EmployeeId>,
}

/// The columns of an [`EntityRow`] as SQL, of the table named `k`, and their types.
const COLUMNS: &str = "k.id, k.type_code, k.name, k.sort_name, k.stands_for, k.mandate_id, k.client_id, k.employee_id";
type Columns = (Id, Text, Text, Text, Nullable<Text>, Nullable<Id>, Nullable<Id>, Nullable<Id>);

/// The record that an entity stands for.
#[derive(Debug, Serialize, JsonSchema)]
struct Record {
    /// What it is.
    r#type: StandsFor,
    /// Its id.
    id: RecordId,
}

impl EntityRow {
    /// The record it stands for.
    fn record(&self) -> Option<Record> {
        let r#type = self.stands_for?;
        let id: Uuid = match r#type {
            StandsFor::Client => self.client_id?.into(),
            StandsFor::Mandate => self.mandate_id?.into(),
            StandsFor::Employee => self.employee_id?.into(),
        };
        Some(Record { r#type, id: id.into() })
    }
}

/// Entities by their ids, with their descriptions.
struct Named(Vec<EntityId>);

impl HandWritten for Named {
    type Table = knowledge_entities::table;
    type SqlType = (Columns, Text);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT ");
        sql.text(COLUMNS);
        sql.text(", k.description FROM ");
        sql.rows()?;
        sql.text(" AS k WHERE k.id IN ");
        sql.among::<Id, _>(&self.0)
    }
}

/// Sizes of the lists of ids in statements: few, since each makes a statement of its own.
const LIST_SIZES: [usize; 4] = [1, 8, 32, 128];

/// The ids with the last one repeated up to the next size of lists, which changes nothing about what they select.
fn padded(mut ids: Vec<EntityId>) -> Vec<EntityId> {
    let size = LIST_SIZES.into_iter().find(|size| *size >= ids.len()).unwrap_or(ids.len());
    if let Some(last) = ids.last().copied() {
        ids.resize(size, last);
    }
    ids
}
