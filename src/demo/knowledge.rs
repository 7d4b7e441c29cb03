//! The knowledge graph of the demo, embedded from `fixtures/demo/knowledge.json`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::fixtures::{Pair, embedded};
use crate::dates::Day;
use crate::knowledge::{AnomalyKind, AnomalyState, Severity, StandsFor};
use crate::language::Labels;

/// All that is written by hand; entities that stand for clients and employees follow from those.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Graph {
    pub(super) entity_types: Vec<EntityType>,
    pub(super) relation_types: Vec<RelationType>,
    /// The description of every entity that stands for a client.
    pub(super) of_clients: Pair,
    /// The description of every entity that stands for an employee.
    pub(super) of_employees: Pair,
    pub(super) entities: Vec<Entity>,
    pub(super) relations: Vec<Relation>,
    pub(super) anomalies: Vec<Anomaly>,
}

/// A type of entity.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntityType {
    pub(super) code: String,
    pub(super) labels: Labels,
}

/// A type of relation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelationType {
    pub(super) code: String,
    pub(super) labels: Labels,
    pub(super) inverse: Labels,
}

/// An entity, known through a mandate, a client or by everybody.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entity {
    /// What relations and anomalies call it.
    pub(super) key: String,
    #[serde(rename = "type")]
    pub(super) type_code: String,
    pub(super) name: Pair,
    pub(super) description: Pair,
    #[serde(default)]
    pub(super) mandate: Option<u32>,
    #[serde(default)]
    pub(super) client: Option<u32>,
    #[serde(default)]
    pub(super) stands_for: Option<StandsFor>,
}

/// A relation from one entity to another; `client:2` is the entity that stands for the second client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Relation {
    #[serde(rename = "type")]
    pub(super) type_code: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) valid_from: Day,
    #[serde(default)]
    pub(super) valid_to: Option<Day>,
    #[serde(default)]
    pub(super) note: Option<Pair>,
}

/// Something doubtful about an entity or about a relation, counted from 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Anomaly {
    pub(super) kind: AnomalyKind,
    pub(super) severity: Severity,
    #[serde(default)]
    pub(super) entity: Option<String>,
    #[serde(default)]
    pub(super) relation: Option<u32>,
    pub(super) text: Pair,
    pub(super) state: AnomalyState,
    pub(super) found_on: Day,
}

/// The graph, read once.
pub(super) static GRAPH: LazyLock<Graph> = LazyLock::new(|| embedded!("knowledge"));
