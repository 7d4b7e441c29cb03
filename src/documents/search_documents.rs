//! Filed documents, by what they are called and what they say.

use diesel::dsl::count_star;
use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::DocumentKind;
use super::snippet::snippet;
use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{clients, documents, mandates};
use crate::db::{ContainsAll, Descending, Filters, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{ClientId, DocumentId, MandateId};
use crate::language::Language;
use crate::registry::ReadTool;
use crate::text::{FreeText, search_words};

/// Search the filed documents by name, type, date and what they say, newest first, with a passage where the words stand and
/// counts by type over the whole set. Confidential ones show only to who may read them. For the firm's own invoices and
/// quotes, use search_invoices. (documents, pièces, justificatifs / Belege, Dokumente, Ablage)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchDocuments {
    /// Words of the name or the text, in any order, without regard to case and accents; every document by default.
    query: Option<String>,
    /// Only documents of this mandate; of all mandates and clients you may see by default.
    mandate_id: Option<MandateId>,
    /// Only documents of this type; whatever they are by default.
    r#type: Option<DocumentKind>,
    /// Only documents dated on this day or later; from the beginning by default.
    from: Option<Day>,
    /// Only documents dated on this day or earlier; until the latest by default.
    to: Option<Day>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(SearchDocuments);

/// A page of documents, and how many were found in all.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundDocuments {
    /// The documents.
    #[serde(flatten)]
    page: Page<Document>,
    /// How many there are of each type, over the whole set.
    totals: Vec<TypeTotal>,
}

/// How many documents are of a type.
#[derive(Debug, Serialize, JsonSchema)]
struct TypeTotal {
    /// The type.
    r#type: DocumentKind,
    /// The type in your language.
    type_label: &'static str,
    /// How many there are.
    count: i64,
}

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
struct Document {
    /// The document.
    id: DocumentId,
    /// What it is called.
    name: FreeText,
    /// What it is.
    r#type: DocumentKind,
    /// The type in your language.
    type_label: &'static str,
    /// The day it bears.
    dated_on: Day,
    /// The day it was filed.
    filed_on: Day,
    /// The client.
    client_id: ClientId,
    /// The client's name.
    client: FreeText,
    /// The mandate; absent for what is filed with the client alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate_id: Option<MandateId>,
    /// The mandate's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate: Option<FreeText>,
    /// What kind of file it is.
    media_type: FreeText,
    /// How large the file is.
    bytes: i64,
    /// Whether it takes a permission of its own to see it.
    is_confidential: bool,
    /// The passage of the text where a searched word stands; absent without a search, and when it stands in the name alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<FreeText>,
}

/// A document as its columns; written as JSON only to see how many fit a page.
#[derive(Debug, Serialize, Queryable)]
struct Row {
    id: DocumentId,
    name: FreeText,
    kind: DocumentKind,
    days: (Day, Day),
    client: (ClientId, FreeText),
    mandate: (Option<MandateId>, Option<FreeText>),
    file: (FreeText, i64),
    is_confidential: bool,
    #[serde(serialize_with = "as_long_as_a_passage")]
    text: String,
}

fn as_long_as_a_passage<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&text.chars().take(200).collect::<String>())
}

impl ReadTool for SearchDocuments {
    const NAME: &'static str = "search_documents";
    const PERMISSION: Permission = Permission::DocumentRead;
    const WEIGHT: u32 = 2;
    type Output = FoundDocuments;

    fn example() -> Self {
        Self { query: Some("tva".into()), limit: Some(5), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<FoundDocuments> {
        let paging = Paging::of(&mut self)?;
        let language = scope.caller().language();
        let reads_all = scope.caller().may(Permission::DocumentReadConfidential);
        let words = self.query.as_deref().map(search_words).transpose()?.unwrap_or_default();
        let open = (!reads_all).then(|| documents::is_confidential.eq(false));
        let seen = Filters::on(documents::table).and_some(open, |open| open);
        let found = scope.rows(documents::table).filter(seen).filter(self.chosen(&words)?);
        let counts = found.clone().group_by(documents::kind);
        let mut counts: Vec<(DocumentKind, i64)> =
            scope.load(counts.select((documents::kind, count_star())))?;
        counts.sort_unstable();
        let named = found.clone().inner_join(clients::table).left_join(mandates::table);
        let columns = (
            documents::id,
            documents::name,
            documents::kind,
            (documents::dated_on, documents::filed_on),
            (documents::client_id, clients::name),
            (documents::mandate_id, mandates::number.nullable()),
            (documents::media_type, documents::bytes),
            documents::is_confidential,
            documents::text,
        );
        let by = Descending(documents::dated_on, documents::id);
        let position = |row: &Row| (row.days.0, row.id);
        let page = scope.page(found, named, columns, by, &paging, position)?;
        let total = |(kind, count): (DocumentKind, i64)| TypeTotal {
            r#type: kind,
            type_label: kind.label(language),
            count,
        };
        let totals = counts.into_iter().map(total).collect();
        Ok(FoundDocuments { page: page.map(|row| row.shown(&words, language)), totals })
    }
}

impl SearchDocuments {
    fn chosen(&self, words: &[String]) -> Result<Filters<documents::table>> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from > to
        {
            return Err(Error::argument("to", format!("to ({to}) is before from ({from})")));
        }
        let words = Some(words.to_vec()).filter(|words| !words.is_empty());
        Ok(Filters::on(documents::table)
            .and_some(self.mandate_id, |mandate| documents::mandate_id.eq(mandate))
            .and_some(self.r#type, |kind| documents::kind.eq(kind))
            .and_some(self.from, |from| documents::dated_on.ge(from))
            .and_some(self.to, |to| documents::dated_on.le(to))
            .and_some(words, |words| ContainsAll(documents::search_text, words)))
    }
}

impl Row {
    fn shown(self, words: &[String], language: Language) -> Document {
        let (dated_on, filed_on) = self.days;
        let (client_id, client) = self.client;
        let (mandate_id, mandate) = self.mandate;
        let (media_type, bytes) = self.file;
        Document {
            id: self.id,
            name: self.name,
            r#type: self.kind,
            type_label: self.kind.label(language),
            dated_on,
            filed_on,
            client_id,
            client,
            mandate_id,
            mandate,
            media_type,
            bytes,
            is_confidential: self.is_confidential,
            snippet: snippet(&self.text, words).map(FreeText::from),
        }
    }
}
