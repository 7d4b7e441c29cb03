//! How much the graph knows.

use diesel::dsl::count_star;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ontology::Ontology;
use super::{AnomalyKind, AnomalyState, Severity};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{knowledge_anomalies, knowledge_entities, knowledge_relations};
use crate::db::{HandWritten, HandWrittenSql, Read};
use crate::error::Result;
use crate::registry::ReadTool;
use crate::text::FreeText;

/// Count the entities, relations and open anomalies of the knowledge graph by type, within your reach: how large it is and
/// what in it is doubtful. To find entities, use search_knowledge. (statistiques, anomalies / Statistik, Auffälligkeiten)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetKnowledgeStats {}

/// How much the graph knows.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct KnowledgeStats {
    /// The day on which relations in force are counted.
    as_of: Day,
    /// How many entities there are.
    entities: i64,
    /// Entities by type.
    entities_by_type: Vec<EntityCount>,
    /// How many relations there are, past and future ones included.
    relations: i64,
    /// Relations by type.
    relations_by_type: Vec<RelationCount>,
    /// How many anomalies are open.
    open_anomalies: i64,
    /// Open anomalies by type and severity.
    open_anomalies_by_type: Vec<AnomalyCount>,
}

/// Entities of a type.
#[derive(Debug, Serialize, JsonSchema)]
struct EntityCount {
    /// The code of the type.
    r#type: String,
    /// What people call the type.
    label: FreeText,
    /// How many there are.
    count: i64,
}

/// Relations of a type.
#[derive(Debug, Serialize, JsonSchema)]
struct RelationCount {
    /// The code of the type.
    r#type: String,
    /// What the first entity is or does to the second.
    label: FreeText,
    /// How many there are.
    count: i64,
    /// How many of them hold on the day.
    in_force: i64,
}

/// Open anomalies of a type and severity.
#[derive(Debug, Serialize, JsonSchema)]
struct AnomalyCount {
    /// What is doubtful.
    r#type: AnomalyKind,
    /// How much it matters.
    severity: Severity,
    /// How many there are.
    count: i64,
}

/// The reached relations by type, and how many of them hold on a day.
struct Relations(Day);

impl HandWritten for Relations {
    type Table = knowledge_relations::table;
    type SqlType = (Text, BigInt, BigInt);

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT r.type_code, count(*), sum(CASE WHEN r.valid_from <= ");
        sql.bind::<Date, _>(&self.0)?;
        sql.text(" AND (r.valid_to IS NULL OR r.valid_to >= ");
        sql.bind::<Date, _>(&self.0)?;
        sql.text(") THEN 1 ELSE 0 END) FROM ");
        sql.rows()?;
        sql.text(" AS r GROUP BY r.type_code ORDER BY r.type_code");
        Ok(())
    }
}

impl ReadTool for GetKnowledgeStats {
    const NAME: &'static str = "get_knowledge_stats";
    const PERMISSION: Permission = Permission::GraphRead;
    const WEIGHT: u32 = 2;
    type Output = KnowledgeStats;

    fn example() -> Self {
        Self {}
    }

    fn run(self, scope: &mut Read<'_>) -> Result<KnowledgeStats> {
        let as_of = scope.today();
        let ontology = Ontology::load(scope)?;
        let entities = scope.rows(knowledge_entities::table);
        let by_type = entities
            .group_by(knowledge_entities::type_code)
            .order(knowledge_entities::type_code)
            .select((knowledge_entities::type_code, count_star()));
        let entities: Vec<(String, i64)> = scope.load(by_type)?;
        let by_type = scope.by_hand(knowledge_relations::table, Relations(as_of));
        let relations: Vec<(String, i64, i64)> = scope.load(by_type)?;
        let kind = (knowledge_anomalies::kind, knowledge_anomalies::severity);
        let by_type = scope
            .rows(knowledge_anomalies::table)
            .filter(knowledge_anomalies::state.eq(AnomalyState::Open))
            .group_by(kind)
            .select((kind.0, kind.1, count_star()));
        let mut anomalies: Vec<(AnomalyKind, Severity, i64)> = scope.load(by_type)?;
        anomalies.sort_unstable_by_key(|(kind, severity, _)| (*kind, std::cmp::Reverse(*severity)));
        let entity = |(code, count): (String, i64)| EntityCount {
            label: ontology.entity_label(&code),
            r#type: code,
            count,
        };
        let relation = |(code, count, in_force): (String, i64, i64)| RelationCount {
            label: ontology.relation_label(&code),
            r#type: code,
            count,
            in_force,
        };
        let anomaly = |(kind, severity, count)| AnomalyCount { r#type: kind, severity, count };
        Ok(KnowledgeStats {
            as_of,
            entities: entities.iter().map(|(_, count)| count).sum(),
            entities_by_type: entities.into_iter().map(entity).collect(),
            relations: relations.iter().map(|(_, count, _)| count).sum(),
            relations_by_type: relations.into_iter().map(relation).collect(),
            open_anomalies: anomalies.iter().map(|(.., count)| count).sum(),
            open_anomalies_by_type: anomalies.into_iter().map(anomaly).collect(),
        })
    }
}
