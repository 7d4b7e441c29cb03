//! What to know before talking to a client.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::instructions;
use crate::ids::ClientId;
use crate::registry::Instructions;

/// Brief a person before a talk with a client: who they are, what the firm does for them, what is open on both sides.
/// (préparation d'un entretien / Vorbereitung eines Kundengesprächs)
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientBriefing {
    /// The client.
    client_id: ClientId,
}

impl Instructions for ClientBriefing {
    const NAME: &'static str = "client_briefing";
    const TOOLS: &'static [&'static str] = &[
        "get_client",
        "search_mandates",
        "list_tasks",
        "list_time_entries",
        "search_invoices",
        "list_open_items",
        "search_documents",
    ];

    fn example() -> Self {
        Self { client_id: crate::demo::ids::example_client() }
    }

    fn text(&self) -> String {
        let client = self.client_id;
        instructions(
            &format!("Brief me before a talk with client {client}. One page, no more."),
            &[
                format!(
                    "Call get_client with client_id {client}: name, legal form, language, contacts, whether the relation is active. It shows the \
                     mandates within reach only; do not conclude that there are no others."
                ),
                format!(
                    "Call search_mandates with client_id {client}: what the firm does for them, since when, who is responsible, how it is billed."
                ),
                "For every active mandate call list_tasks with its mandate_id (open ones, overdue first), list_time_entries with its \
                 mandate_id and invoiced false (hours worked and not yet invoiced: the totals), and search_documents with its mandate_id and \
                 the last three months as from (what came in; the names, not the contents)."
                    .to_owned(),
                format!(
                    "Call search_invoices with client_id {client} for the last twelve months, and list_open_items with client_id {client}: what \
                     was invoiced per document and currency, what is open, what is overdue and since when. The open amount of \
                     list_open_items and the open balance of get_client are the same; say so if they are not."
                ),
                "Answer in this order: who they are (two lines); mandates (one line each); what they owe us and what we owe them in work; \
                 dates that come up; three questions worth asking. Leave out what a client should not see over your shoulder: \
                 internal notes, rates of other clients, opinions about persons."
                    .to_owned(),
            ],
        )
    }
}
