//! What kinds of entities and relations there are.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Permission;
use crate::db::Read;
use crate::db::schema::{knowledge_entity_types, knowledge_relation_types};
use crate::error::{Error, Result};
use crate::language::Labels;
use crate::registry::ReadTool;
use crate::text::FreeText;

/// The types of entities and relations in the firm's knowledge graph, with their labels.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadOntology {}

/// The types of entities and relations.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Ontology {
    /// The types of entities.
    entity_types: Vec<EntityType>,
    /// The types of relations.
    relation_types: Vec<RelationType>,
}

/// A type of entity.
#[derive(Debug, Serialize, JsonSchema)]
struct EntityType {
    /// Its code, as arguments and answers have it.
    code: String,
    /// What people call it.
    label: FreeText,
}

/// A type of relation.
#[derive(Debug, Serialize, JsonSchema)]
struct RelationType {
    /// Its code, as arguments and answers have it.
    code: String,
    /// What the first entity is or does to the second.
    label: FreeText,
    /// What the second entity is or does to the first.
    inverse_label: FreeText,
}

impl Ontology {
    /// All types, labelled in the caller's language.
    pub(super) fn load(scope: &mut Read<'_>) -> Result<Self> {
        let language = scope.caller().language();
        let label = |labels: Labels| FreeText::from(language.pick(labels));
        let entities = {
            use knowledge_entity_types::{code, label_de, label_en, label_fr, table};
            scope.rows(table).order(code).select((code, (label_fr, label_de, label_en)))
        };
        let entities: Vec<(String, Labels)> = scope.load(entities)?;
        let relations = {
            use knowledge_relation_types::{
                code, inverse_de, inverse_en, inverse_fr, label_de, label_en, label_fr, table,
            };
            let labels = ((label_fr, label_de, label_en), (inverse_fr, inverse_de, inverse_en));
            scope.rows(table).order(code).select((code, labels))
        };
        let relations: Vec<(String, (Labels, Labels))> = scope.load(relations)?;
        let entity_type = |(code, labels)| EntityType { code, label: label(labels) };
        let relation_type = |(code, (there, back))| RelationType {
            code,
            label: label(there),
            inverse_label: label(back),
        };
        Ok(Self {
            entity_types: entities.into_iter().map(entity_type).collect(),
            relation_types: relations.into_iter().map(relation_type).collect(),
        })
    }

    /// The label of a type of entity.
    pub(super) fn entity_label(&self, code: &str) -> FreeText {
        let found = self.entity_types.iter().find(|one| one.code == code);
        found.map_or_else(|| code.into(), |one| one.label.clone())
    }

    /// The label of a type of relation.
    pub(super) fn relation_label(&self, code: &str) -> FreeText {
        let found = self.relation_types.iter().find(|one| one.code == code);
        found.map_or_else(|| code.into(), |one| one.label.clone())
    }

    /// The type of entity that the argument `type` names.
    ///
    /// # Errors
    /// There is none of that code; the refusal names those there are.
    pub(super) fn check_entity_type(&self, asked: Option<&str>) -> Result<()> {
        check("type", asked, &mut self.entity_types.iter().map(|one| one.code.as_str()))
    }

    /// The type of relation that the argument `relation` names.
    ///
    /// # Errors
    /// There is none of that code; the refusal names those there are.
    pub(super) fn check_relation_type(&self, asked: Option<&str>) -> Result<()> {
        check("relation", asked, &mut self.relation_types.iter().map(|one| one.code.as_str()))
    }
}

fn check(
    argument: &'static str,
    asked: Option<&str>,
    known: &mut dyn Iterator<Item = &str>,
) -> Result<()> {
    let known: Vec<&str> = known.collect();
    if asked.is_none_or(|asked| known.contains(&asked)) {
        return Ok(());
    }
    let message = format!("unknown {argument}; use one of: {}", known.join(", "));
    Err(Error::argument(argument, message))
}

impl ReadTool for ReadOntology {
    const NAME: &'static str = "ontology";
    const PERMISSION: Permission = Permission::GraphRead;
    type Output = Ontology;

    fn example() -> Self {
        Self {}
    }

    fn run(self, scope: &mut Read<'_>) -> Result<Ontology> {
        Ontology::load(scope)
    }
}
