//! Who did what, and when.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, Outcome};
use crate::auth::Permission;
use crate::dates::{Day, Instant};
use crate::db::schema::commit_records;
use crate::db::types::{Id, Moment};
use crate::db::{HandWritten, HandWrittenSql, Page, Paging, Read};
use crate::error::{Error, Result};
use crate::ids::{ClientId, MandateId, RecordId, TenantId, UserId};
use crate::registry::ReadTool;
use crate::reports::KnownOn;
use crate::text::FreeText;

/// Search the log of who did what and when, newest first: each record that was issued, posted or taken back, with the person
/// and the number of the posting. For changes that wait, list_proposals; for the lines of entries, search_journal_entries.
/// (journal d'audit, qui a fait quoi / Protokoll, wer hat was gemacht)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchAuditLog {
    /// Only from this day on; since the beginning by default.
    from: Option<Day>,
    /// Only up to this day; until now by default.
    to: Option<Day>,
    /// Only what this person did; everybody by default.
    actor_id: Option<UserId>,
    /// Only records of this mandate; all mandates you may see by default.
    mandate_id: Option<MandateId>,
    /// Only this action; every action by default.
    tool: Option<Action>,
    /// Only what was done to this record; every record by default.
    record_id: Option<RecordId>,
    /// Only what ended like this; however it ended by default.
    outcome: Option<Outcome>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(SearchAuditLog);

/// The log, one page of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AuditLog {
    /// What was done.
    #[serde(flatten)]
    page: Page<Entry>,
    /// What is recorded, and since when.
    recorded: String,
}

/// Something that was done.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// The number of its posting: the clock that reports take as as_known_on.
    posting: KnownOn,
    /// When it was done.
    at: Instant,
    /// Who did it.
    actor: FreeText,
    /// Their id.
    actor_id: UserId,
    /// What was done.
    tool: Action,
    /// What kind of record it was done to.
    record: String,
    /// The record.
    record_id: RecordId,
    /// The mandate of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate_id: Option<MandateId>,
    /// The client of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<ClientId>,
    /// How it ended.
    outcome: Outcome,
    /// Its place in the posting.
    #[serde(skip)]
    place: (i64, i32),
}

impl ReadTool for SearchAuditLog {
    const NAME: &'static str = "search_audit_log";
    const PERMISSION: Permission = Permission::AuditRead;
    const WEIGHT: u32 = 2;
    type Output = AuditLog;

    fn example() -> Self {
        Self {
            from: Day::parse("2026-03-01"),
            tool: Some(Action::InvoiceIssue),
            mandate_id: Some(crate::demo::ids::example_mandate()),
            ..Self::default()
        }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<AuditLog> {
        let paging = Paging::of(&mut self)?;
        if let (Some(from), Some(to)) = (self.from, self.to)
            && to < from
        {
            return Err(Error::argument("to", format!("to must be {from} or later")));
        }
        let zone = scope.caller().time_zone();
        let chosen = Chosen {
            from: self.from.map(|day| day.begins_in(zone)),
            before: self.to.map(|day| day.plus_days(1).begins_in(zone)),
            actor: self.actor_id,
            mandate: self.mandate_id,
            action: self.tool,
            record: self.record_id,
            is_refused: self.outcome == Some(Outcome::Refused),
            after: scope.position(&paging)?,
            at_most: paging.fetch(),
        };
        let total: i64 =
            scope.one("count", scope.by_hand(commit_records::table, Count(chosen.clone())))?;
        let rows: Vec<Row> = scope.load(scope.by_hand(commit_records::table, chosen))?;
        let rows: Vec<Entry> = rows.into_iter().map(Entry::from).collect();
        let page = scope.cut(rows, total, &paging, |row| row.place)?;
        Ok(AuditLog { page, recorded: recorded(scope)? })
    }
}

/// Says what is recorded, and since when.
fn recorded(scope: &mut Read<'_>) -> Result<String> {
    let first: Vec<Instant> =
        scope.load(scope.by_hand(commit_records::table, First(scope.tenant())))?;
    let what =
        "every document issued, payment, reminder, payslip, entry and VAT return that was posted";
    let not = "reads, proposals and refused calls are not in it";
    Ok(match first.first() {
        Some(at) => format!("{what}, since {at}; {not}"),
        None => format!("{what}, of which there is none yet; {not}"),
    })
}

/// When the first record was posted.
struct First(TenantId);

impl HandWritten for First {
    type Table = commit_records::table;
    type SqlType = Moment;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT k.committed_at FROM commits k WHERE k.number = (SELECT min(commit_records.commit_number) FROM ");
        sql.rows()?;
        sql.text(" AS commit_records) AND k.tenant_id = ");
        sql.bind::<Id, _>(&self.0)
    }
}

/// What is looked for.
#[derive(Debug, Clone)]
struct Chosen {
    from: Option<Instant>,
    before: Option<Instant>,
    actor: Option<UserId>,
    mandate: Option<MandateId>,
    action: Option<Action>,
    record: Option<RecordId>,
    is_refused: bool,
    after: Option<(i64, i32)>,
    at_most: i64,
}

/// How much there is.
struct Count(Chosen);

impl Chosen {
    fn write<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text(" FROM ");
        sql.rows()?;
        sql.text(" AS r JOIN commits k ON k.tenant_id = r.tenant_id AND k.number = r.commit_number JOIN memberships m ON m.tenant_id = k.tenant_id AND m.user_id = k.user_id WHERE ");
        sql.text(if self.is_refused { "FALSE" } else { "TRUE" });
        if let Some(from) = &self.from {
            sql.text(" AND k.committed_at >= ");
            sql.bind::<Moment, _>(from)?;
        }
        if let Some(before) = &self.before {
            sql.text(" AND k.committed_at < ");
            sql.bind::<Moment, _>(before)?;
        }
        if let Some(actor) = &self.actor {
            sql.text(" AND k.user_id = ");
            sql.bind::<Id, _>(actor)?;
        }
        if let Some(mandate) = &self.mandate {
            sql.text(" AND r.mandate_id = ");
            sql.bind::<Id, _>(mandate)?;
        }
        if let Some(action) = &self.action {
            sql.text(" AND r.action = ");
            sql.bind::<Text, _>(action)?;
        }
        if let Some(record) = &self.record {
            sql.text(" AND r.record_id = ");
            sql.bind::<Id, _>(record)?;
        }
        Ok(())
    }
}

impl HandWritten for Count {
    type Table = commit_records::table;
    type SqlType = BigInt;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT count(*)");
        self.0.write(sql)
    }
}

impl HandWritten for Chosen {
    type Table = commit_records::table;
    type SqlType =
        (BigInt, Integer, Moment, Text, Id, Text, Text, (Id, Nullable<Id>, Nullable<Id>));

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT r.commit_number, r.position, k.committed_at, m.display_name, k.user_id, r.action, r.record_kind, r.record_id, r.mandate_id, r.client_id");
        self.write(sql)?;
        if let Some((number, position)) = &self.after {
            sql.text(" AND (r.commit_number, r.position) < (");
            sql.bind::<BigInt, _>(number)?;
            sql.text(", ");
            sql.bind::<Integer, _>(position)?;
            sql.text(")");
        }
        sql.text(" ORDER BY r.commit_number DESC, r.position DESC LIMIT ");
        sql.number(self.at_most);
        Ok(())
    }
}

type Row = (
    i64,
    i32,
    Instant,
    FreeText,
    UserId,
    Action,
    String,
    (RecordId, Option<MandateId>, Option<ClientId>),
);

impl From<Row> for Entry {
    fn from(row: Row) -> Self {
        let (number, position, at, actor, actor_id, tool, record, of) = row;
        let (record_id, mandate_id, client_id) = of;
        Self {
            posting: KnownOn::Commit(number),
            at,
            actor,
            actor_id,
            tool,
            record,
            record_id,
            mandate_id,
            client_id,
            outcome: Outcome::Done,
            place: (number, position),
        }
    }
}
