//! What is related to an entity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ontology::Ontology;
use super::walk::{Followed, RelationRow, between, walk};
use super::{EntityRow, Record};
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::Read;
use crate::demo::ids::example_entity;
use crate::error::{Error, Result};
use crate::ids::EntityId;
use crate::registry::ReadTool;
use crate::text::FreeText;

/// Steps at most.
const DEEPEST: u8 = 4;
/// Entities when nothing else is asked for, and at most.
const DEFAULT_NODES: usize = 50;
const MOST_NODES: usize = 100;
/// Relations at most.
const MOST_RELATIONS: usize = 200;
/// Bytes of the entities and of the relations at most; an answer repeats them as text, and stays under 100 kB.
const NODE_BYTES: usize = 26_000;
const RELATION_BYTES: usize = 15_000;

/// Explore what is related to one entity of the knowledge graph within 1 to 4 steps, in either direction, by the relations
/// that hold on a day: entities with their distance, nearest first, and the relations between them. To find the entity first,
/// use search_knowledge. (relations, réseau / Beziehungen, Netz)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExploreKnowledge {
    /// The entity to start from.
    entity_id: EntityId,
    /// Steps from the entity, 1 to 4; 1 by default.
    depth: Option<u8>,
    /// Only relations of this type, by its code such as owns or works_for; every type by default.
    relation: Option<String>,
    /// The day on which relations must hold; today by default.
    valid_on: Option<Day>,
    /// Entities at most, 1 to 100, the nearest first; 50 by default.
    max_nodes: Option<i64>,
}

/// What is related to an entity.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Surroundings {
    /// The day on which the relations hold.
    valid_on: Day,
    /// The entities, the one asked for first, then by distance and name.
    nodes: Vec<Node>,
    /// The relations between these entities, oldest first.
    relations: Vec<Relation>,
    /// Whether there are more entities or relations within these steps than are shown.
    truncated: bool,
    /// What was left out or changed in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// An entity.
#[derive(Debug, Serialize, JsonSchema)]
struct Node {
    /// The entity.
    id: EntityId,
    /// The code of its type.
    r#type: String,
    /// What people call its type.
    type_label: FreeText,
    /// Its name.
    name: FreeText,
    /// Steps from the entity asked for.
    distance: u8,
    /// The record that it stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Record>,
}

/// A relation, which reads from, label, to.
#[derive(Debug, Serialize, JsonSchema)]
struct Relation {
    /// The code of its type.
    r#type: String,
    /// What the first entity is or does to the second.
    label: FreeText,
    /// The first entity.
    from_id: EntityId,
    /// The second entity.
    to_id: EntityId,
    /// The first day on which it holds.
    valid_from: Day,
    /// The last day on which it holds; absent while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<Day>,
    /// What else is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<FreeText>,
}

impl ReadTool for ExploreKnowledge {
    const NAME: &'static str = "explore_knowledge";
    const PERMISSION: Permission = Permission::GraphRead;
    const WEIGHT: u32 = 3;
    type Output = Surroundings;

    fn example() -> Self {
        let (entity_id, depth) = (example_entity(), Some(2));
        Self { entity_id, depth, relation: None, valid_on: None, max_nodes: Some(20) }
    }

    fn run(self, scope: &mut Read<'_>) -> Result<Surroundings> {
        let depth = self.depth.unwrap_or(1);
        if !(1..=DEEPEST).contains(&depth) {
            return Err(Error::argument("depth", "depth must be from 1 to 4"));
        }
        let mut remarks = vec![];
        let most = most_nodes(self.max_nodes, &mut remarks)?;
        let ontology = Ontology::load(scope)?;
        ontology.check_relation_type(self.relation.as_deref())?;
        let valid_on = self.valid_on.unwrap_or_else(|| scope.today());
        let followed = Followed { valid_on, relation: self.relation };
        let mut reached = walk(scope, self.entity_id, depth, most, &followed)?;
        let all = reached.entities.len();
        let shown = reached.entities.iter().map(|found| Node::of(found, &ontology));
        let nodes = fitting(shown.collect(), NODE_BYTES)?;
        reached.entities.truncate(nodes.len());
        let mut truncated = reached.is_cut || nodes.len() < all;
        if truncated {
            let steps = if depth == 1 { "step" } else { "steps" };
            remarks.push(format!(
                "more than {} entities are within {depth} {steps}: narrow by relation, or explore from one of those shown",
                nodes.len()
            ));
        }
        let found = between(scope, &reached.entities, &followed)?;
        let count = found.len();
        let shown = found.into_iter().take(MOST_RELATIONS).map(|row| Relation::of(row, &ontology));
        let relations = fitting(shown.collect(), RELATION_BYTES)?;
        if relations.len() < count {
            truncated = true;
            let shown = relations.len();
            remarks.push(format!("more than {shown} relations hold between these entities"));
        }
        let note = (!remarks.is_empty()).then(|| remarks.join("; "));
        Ok(Surroundings { valid_on, nodes, relations, truncated, note })
    }
}

impl Node {
    /// A reached entity and its distance.
    fn of((distance, row): &(u8, EntityRow), ontology: &Ontology) -> Self {
        Self {
            id: row.id,
            r#type: row.type_code.clone(),
            type_label: ontology.entity_label(&row.type_code),
            name: row.name.clone(),
            distance: *distance,
            record: row.record(),
        }
    }
}

impl Relation {
    /// A relation with its label.
    fn of(row: RelationRow, ontology: &Ontology) -> Self {
        Self {
            label: ontology.relation_label(&row.type_code),
            r#type: row.type_code,
            from_id: row.from_id,
            to_id: row.to_id,
            valid_from: row.valid_from,
            valid_to: row.valid_to,
            note: row.note,
        }
    }
}

/// How many entities to show; what is above the most is reduced, since a refusal would only be retried.
fn most_nodes(asked: Option<i64>, remarks: &mut Vec<String>) -> Result<usize> {
    let Some(asked) = asked else { return Ok(DEFAULT_NODES) };
    match usize::try_from(asked) {
        Ok(most @ 1..=MOST_NODES) => Ok(most),
        _ if asked < 1 => Err(Error::argument("max_nodes", "max_nodes must be from 1 to 100")),
        _ => {
            remarks.push(format!("max_nodes {asked} was reduced to {MOST_NODES}"));
            Ok(MOST_NODES)
        }
    }
}

/// The first of `items` that fit into so many bytes, at least one.
fn fitting<T: Serialize>(mut items: Vec<T>, most: usize) -> Result<Vec<T>> {
    let mut bytes = 0;
    let mut count = 0;
    for item in &items {
        bytes += serde_json::to_vec(item)?.len();
        if bytes > most && count > 0 {
            break;
        }
        count += 1;
    }
    items.truncate(count);
    Ok(items)
}
