//! Proposals of one's own, and those that wait for one's approval.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ApprovalArea, CredentialKind, ProposalState};
use crate::auth::Permission;
use crate::dates::Instant;
use crate::db::schema::proposals;
use crate::db::types::{Id, Moment};
use crate::db::{HandWritten, HandWrittenSql, Page, Paging, Read};
use crate::error::Result;
use crate::ids::{ClientId, MandateId, ProposalId, UserId};
use crate::registry::ReadTool;
use crate::text::FreeText;

text_enum! {
    /// Which proposals are meant.
    ProposalBox {
        /// One's own.
        Mine = "mine",
        /// Other people's, that one may approve.
        WaitingForMe = "waiting_for_me",
    }
}

/// List proposals, newest first: your own with where they stand, or those of others that wait for your approval. Reads only:
/// it confirms, approves and withdraws nothing. For what was carried out, search_audit_log.
/// (propositions, à valider / Vorschläge, zur Freigabe)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListProposals {
    /// Whose; your own by default.
    r#box: Option<ProposalBox>,
    /// Only those that stand here; wherever they stand by default.
    state: Option<ProposalState>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ListProposals);

/// The proposals of one page.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Proposals {
    /// The proposals.
    #[serde(flatten)]
    page: Page<Proposal>,
    /// What the caller may approve with this credential; never one's own proposals, and never with an API token.
    may_approve: Vec<ApprovalArea>,
}

/// A proposal.
#[derive(Debug, Serialize, JsonSchema)]
struct Proposal {
    /// The proposal.
    id: ProposalId,
    /// The tool that made it.
    tool: String,
    /// What it would do.
    summary: FreeText,
    /// Who made it.
    proposed_by: FreeText,
    /// Their id.
    proposed_by_id: UserId,
    /// What they authenticated with.
    credential: CredentialKind,
    /// The mandate it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate_id: Option<MandateId>,
    /// The client it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<ClientId>,
    /// What a second person is needed for.
    #[serde(skip_serializing_if = "Option::is_none")]
    area: Option<ApprovalArea>,
    /// Where it stands.
    state: ProposalState,
    /// When it was made.
    created_at: Instant,
    /// Until when it can be decided.
    expires_at: Instant,
    /// When it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<Instant>,
    /// Who decided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<FreeText>,
}

impl ReadTool for ListProposals {
    const NAME: &'static str = "list_proposals";
    const PERMISSION: Permission = Permission::Present;
    type Output = Proposals;

    fn example() -> Self {
        Self { r#box: Some(ProposalBox::Mine), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<Proposals> {
        let paging = Paging::of(&mut self)?;
        let caller = scope.caller();
        let areas = ApprovalArea::ALL.iter().copied();
        let may_approve: Vec<_> = areas.filter(|area| caller.may(area.permission())).collect();
        let chosen = Chosen {
            kind: self.r#box.unwrap_or(ProposalBox::Mine),
            user: scope.user(),
            areas: may_approve.clone(),
            state: self.state,
            now: scope.now(),
            after: scope.position(&paging)?,
            at_most: paging.fetch(),
        };
        let total: i64 =
            scope.one("count", scope.by_hand(proposals::table, Count(chosen.clone())))?;
        let rows: Vec<Row> = scope.load(scope.by_hand(proposals::table, chosen))?;
        let rows: Vec<Proposal> = rows.into_iter().map(Proposal::from).collect();
        let page = scope.cut(rows, total, &paging, |row| row.id)?;
        Ok(Proposals { page, may_approve })
    }
}

/// Which proposals are meant.
#[derive(Debug, Clone)]
struct Chosen {
    kind: ProposalBox,
    user: UserId,
    areas: Vec<ApprovalArea>,
    state: Option<ProposalState>,
    now: Instant,
    after: Option<ProposalId>,
    at_most: i64,
}

/// How many there are.
struct Count(Chosen);

impl Chosen {
    /// Writes the proposals as rows `p`, with where they stand now as `stands`.
    fn write<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text(" FROM (SELECT proposals.*, CASE WHEN proposals.state IN ('pending', 'awaiting_approval') AND proposals.expires_at <= ");
        sql.bind::<Moment, _>(&self.now)?;
        sql.text(" THEN 'expired' ELSE proposals.state END AS stands FROM ");
        sql.rows()?;
        sql.text(" AS proposals) AS p JOIN memberships m ON m.tenant_id = p.tenant_id AND m.user_id = p.user_id LEFT JOIN memberships d ON d.tenant_id = p.tenant_id AND d.user_id = p.decided_by WHERE ");
        match self.kind {
            ProposalBox::Mine => {
                sql.text("p.user_id = ");
                sql.bind::<Id, _>(&self.user)?;
            }
            ProposalBox::WaitingForMe => {
                sql.text("p.stands = 'awaiting_approval' AND p.user_id <> ");
                sql.bind::<Id, _>(&self.user)?;
                sql.text(" AND p.area IN (''");
                for area in &self.areas {
                    sql.text(", ");
                    sql.bind::<Text, _>(area)?;
                }
                sql.text(")");
            }
        }
        if let Some(state) = &self.state {
            sql.text(" AND p.stands = ");
            sql.bind::<Text, _>(state)?;
        }
        Ok(())
    }
}

impl HandWritten for Count {
    type Table = proposals::table;
    type SqlType = BigInt;

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT count(*)");
        self.0.write(sql)
    }
}

impl HandWritten for Chosen {
    type Table = proposals::table;
    type SqlType = (
        (Id, Text, Text, Text, Id, Text),
        (Nullable<Id>, Nullable<Id>, Nullable<Text>, Text),
        (Moment, Moment, Nullable<Moment>, Nullable<Text>),
    );

    fn build<'b>(&'b self, sql: &mut HandWrittenSql<'_, 'b>) -> QueryResult<()> {
        sql.text("SELECT p.id, p.tool, p.summary, m.display_name, p.user_id, p.credential, p.mandate_id, p.client_id, p.area, p.stands, p.created_at, p.expires_at, p.decided_at, d.display_name");
        self.write(sql)?;
        if let Some(id) = &self.after {
            sql.text(" AND p.id < ");
            sql.bind::<Id, _>(id)?;
        }
        sql.text(" ORDER BY p.id DESC LIMIT ");
        sql.number(self.at_most);
        Ok(())
    }
}

type Row = (
    (ProposalId, String, FreeText, FreeText, UserId, CredentialKind),
    (Option<MandateId>, Option<ClientId>, Option<ApprovalArea>, ProposalState),
    (Instant, Instant, Option<Instant>, Option<FreeText>),
);

impl From<Row> for Proposal {
    fn from(row: Row) -> Self {
        let ((id, tool, summary, proposed_by, proposed_by_id, credential), about, when) = row;
        let (mandate_id, client_id, area, state) = about;
        let (created_at, expires_at, decided_at, decided_by) = when;
        Self {
            id,
            tool,
            summary,
            proposed_by,
            proposed_by_id,
            credential,
            mandate_id,
            client_id,
            area,
            state,
            created_at,
            expires_at,
            decided_at,
            decided_by,
        }
    }
}
