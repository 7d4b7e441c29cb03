//! Who is overdue, and what to do about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{given, instructions};
use crate::dates::Day;
use crate::ids::{ClientId, MandateId};
use crate::registry::Instructions;

/// Follow up overdue invoices: who owes what since when, what was done about it, and what to do next. (relances, impayés /
/// Mahnwesen, offene Posten)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OverdueFollowUp {
    /// Only this client; all clients within reach by default.
    client_id: Option<ClientId>,
    /// Only invoices of this mandate; all mandates within reach by default.
    mandate_id: Option<MandateId>,
    /// The day to look from, as YYYY-MM-DD; today by default.
    as_of: Option<Day>,
}

impl Instructions for OverdueFollowUp {
    const NAME: &'static str = "overdue_follow_up";
    const TOOLS: &'static [&'static str] = &["list_open_items", "get_invoice", "get_client"];

    fn example() -> Self {
        Self { client_id: Some(crate::demo::ids::example_client()), ..Self::default() }
    }

    fn text(&self) -> String {
        let Self { client_id, mandate_id, as_of } = *self;
        let day = as_of.map_or_else(|| "today".to_owned(), |day| day.to_string());
        let narrowed =
            [given("client_id", client_id), given("mandate_id", mandate_id), given("as_of", as_of)]
                .concat();
        instructions(
            &format!("Follow up the invoices that are overdue as of {day}."),
            &[
                format!(
                    "Call list_open_items with overdue_only true{narrowed} and limit 100, and read all pages. Give the totals per currency and \
                     the ageing buckets as they stand in totals; mention credit_balance apart, it is not owed."
                ),
                "Group the rows by client and currency. For every invoice in the bucket 91+, and for the five largest of \
                 the others, call get_invoice. Look at dispatches (was it ever sent, and how), reminders (which level, \
                 when), payments (a partial or a reversed one says that somebody reacted) and credit_notes."
                    .to_owned(),
                "For every client with something overdue for more than 60 days, or with more than one overdue invoice, call \
                 get_client: whom to contact, in which language to write, whether the relation has ended."
                    .to_owned(),
                "Compare: open must be total less payments and credit notes up to the day; an invoice that was reminded must \
                 have been sent before. Report what does not fit, with the numbers of the invoices."
                    .to_owned(),
                "Answer with one line a client: number of invoices, overdue amount per currency, oldest due date, last \
                 reminder, contact, and one suggestion: wait, send it again, next reminder, telephone, ask a person whether \
                 to write it off. Do not write a reminder as if it were sent."
                    .to_owned(),
            ],
        )
    }
}
