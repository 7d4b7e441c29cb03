//! The graph by words or by meaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::by_words::{Found, Position};
use super::ontology::Ontology;
use super::{Record, by_meaning, by_words};
use crate::auth::Permission;
use crate::db::{Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::EntityId;
use crate::meaning::Score;
use crate::registry::ReadTool;
use crate::text::FreeText;

text_enum! {
    /// How texts are compared.
    SearchMode {
        /// Every word is in the name or description.
        Words = "words",
        /// It means much the same, in whatever words.
        Meaning = "meaning",
    }
}

/// Search people, companies, organisations and assets of the knowledge graph by words or by meaning, best match first, with
/// scores; weak matches are left out. For what is related to one, use explore_knowledge; for clients, search_clients.
/// (graphe, personnes / Wissensgraph, Personen)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchKnowledge {
    /// Words of the name or description, in any order, without regard to case and accents; by meaning, a phrase.
    query: String,
    /// How to compare; by words by default.
    mode: Option<SearchMode>,
    /// Only entities of this type, by its code such as person or company; every type by default.
    r#type: Option<String>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(SearchKnowledge);

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundKnowledge {
    /// How texts were compared.
    mode: SearchMode,
    /// The entities.
    #[serde(flatten)]
    page: Page<FoundEntity>,
    /// By meaning: how many entities within reach could not be compared, being employees or not prepared yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<i64>,
}

/// An entity of the graph.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundEntity {
    /// The entity.
    id: EntityId,
    /// The code of its type.
    r#type: String,
    /// What people call its type.
    type_label: FreeText,
    /// Its name.
    name: FreeText,
    /// How its description begins.
    description: FreeText,
    /// The record that it stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Record>,
    /// How well it matches, from 0 to 1.
    score: Score,
    #[serde(skip)]
    sort_name: String,
}

impl ReadTool for SearchKnowledge {
    const NAME: &'static str = "search_knowledge";
    const PERMISSION: Permission = Permission::GraphRead;
    const WEIGHT: u32 = 2;
    type Output = FoundKnowledge;

    fn example() -> Self {
        Self { query: "holding".into(), limit: Some(5), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundKnowledge> {
        let paging = Paging::of(&mut self)?;
        let ontology = Ontology::load(scope)?;
        ontology.check_entity_type(self.r#type.as_deref())?;
        let after: Option<Position> = scope.position(&paging)?;
        let mode = self.mode.unwrap_or(SearchMode::Words);
        let (found, total, not_compared) = match mode {
            SearchMode::Words => {
                let (found, total) =
                    by_words::find(scope, &self.query, self.r#type, after, paging.fetch())?;
                (found, total, None)
            }
            SearchMode::Meaning => {
                let at_most = usize::try_from(paging.fetch()).map_err(Error::fault)?;
                let closest =
                    by_meaning::find(scope, &self.query, self.r#type, after.as_ref(), at_most)?;
                (closest.found, closest.total, Some(closest.not_compared))
            }
        };
        let items = found.into_iter().map(|found| shown(found, &ontology)).collect();
        let position = |entity: &FoundEntity| -> Position {
            (entity.score.ten_thousandths(), entity.sort_name.clone(), entity.id)
        };
        let page = scope.cut(items, total, &paging, position)?;
        Ok(FoundKnowledge { mode, page, not_compared })
    }
}

/// Characters of a description that are shown.
const SHOWN: usize = 300;

fn shown((row, description, score): Found, ontology: &Ontology) -> FoundEntity {
    let record = row.record();
    FoundEntity {
        id: row.id,
        type_label: ontology.entity_label(&row.type_code),
        r#type: row.type_code,
        name: row.name,
        description: beginning(&description),
        record,
        score,
        sort_name: row.sort_name,
    }
}

/// A text, or its beginning where it is long.
fn beginning(text: &FreeText) -> FreeText {
    match text.stored().char_indices().nth(SHOWN) {
        None => text.clone(),
        Some((at, _)) => {
            let beginning = text.stored().get(..at).unwrap_or_default();
            FreeText::from(format!("{}…", beginning.trim_end()))
        }
    }
}
