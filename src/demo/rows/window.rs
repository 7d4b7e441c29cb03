//! What comes to the window: proposals, and what each posting contains.

use chrono::DateTime;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;

use super::super::fixtures::{MASTER, Proposal};
use super::super::ids::Kind;
use super::people::holder;
use super::{Writing, insert_all};
use crate::dates::Instant;
use crate::db::connection::AnyConnection;
use crate::db::schema::proposals;
use crate::error::{Error, Result};
use crate::ids::{ClientId, MandateId, ProposalId, TenantId, UserId};
use crate::proposals::{ApprovalArea, CredentialKind, ProposalState};

#[derive(Insertable)]
#[diesel(table_name = proposals, treat_none_as_default_value = false)]
struct NewProposal<'a> {
    tenant_id: TenantId,
    id: ProposalId,
    tool: &'a str,
    user_id: UserId,
    credential: CredentialKind,
    summary: &'a str,
    arguments: String,
    mandate_id: Option<MandateId>,
    client_id: Option<ClientId>,
    state: ProposalState,
    area: Option<ApprovalArea>,
    created_at: Instant,
    expires_at: Instant,
    decided_at: Option<Instant>,
    decided_by: Option<UserId>,
}

/// The records of every posting of all firms, in the order of their kinds and ids.
const POSTED: &str = "INSERT INTO commit_records (tenant_id, commit_number, position, action, record_kind, record_id, mandate_id, client_id)
    SELECT r.tenant_id, r.commit_number, row_number() OVER (PARTITION BY r.tenant_id, r.commit_number ORDER BY r.record_kind, r.id),
           r.action, r.record_kind, r.id, r.mandate_id, r.client_id
    FROM (SELECT i.tenant_id, i.commit_number, 'invoice_issue' AS action, i.document AS record_kind, i.id, i.mandate_id, i.client_id
            FROM invoices i WHERE i.state = 'issued'
          UNION ALL
          SELECT p.tenant_id, p.commit_number, CASE WHEN p.reverses_id IS NULL THEN 'payment_receipt' ELSE 'payment_reversal' END,
                 'payment', p.id, i.mandate_id, i.client_id
            FROM payments p JOIN invoices i ON i.tenant_id = p.tenant_id AND i.id = p.invoice_id
          UNION ALL
          SELECT r.tenant_id, r.commit_number, 'reminder', 'reminder', r.id, i.mandate_id, i.client_id
            FROM reminders r JOIN invoices i ON i.tenant_id = r.tenant_id AND i.id = r.invoice_id
          UNION ALL
          SELECT s.tenant_id, s.commit_number, CASE WHEN s.reverses_id IS NULL THEN 'payslip' ELSE 'payslip_reversal' END, 'payslip',
                 s.id, s.mandate_id, m.client_id
            FROM payslips s JOIN mandates m ON m.tenant_id = s.tenant_id AND m.id = s.mandate_id WHERE s.state = 'final'
          UNION ALL
          SELECT e.tenant_id, e.commit_number, 'journal_entry', 'entry', e.id, e.mandate_id, m.client_id
            FROM entries e JOIN mandates m ON m.tenant_id = e.tenant_id AND m.id = e.mandate_id WHERE e.state = 'posted') AS r";

/// Writes the proposals of a firm.
pub(super) fn write_proposals(connection: &mut AnyConnection, writing: Writing<'_>) -> Result<()> {
    let rows = (1..).zip(&MASTER.proposals).map(|(n, proposal)| row(writing, n, proposal));
    insert_all!(connection, proposals::table, rows.collect::<Result<Vec<_>>>()?);
    Ok(())
}

/// Writes what each posting contains, once all of them are written.
pub(super) fn write_log(connection: &mut AnyConnection) -> Result<()> {
    Ok(connection.batch_execute(POSTED)?)
}

fn row(writing: Writing<'_>, n: u32, proposal: &'static Proposal) -> Result<NewProposal<'static>> {
    let Writing { firm, tenant: tenant_id } = writing;
    let summary = if firm.index == 0 { &proposal.summary.0 } else { &proposal.summary.1 };
    let at = DateTime::parse_from_rfc3339(&proposal.created_at).map_err(Error::fault)?;
    let created_at = Instant::from(at.to_utc());
    let decided_by = proposal.decided_by.as_deref().map(|role| holder(firm, role)).transpose()?;
    Ok(NewProposal {
        tenant_id,
        id: writing.id(Kind::Proposal, n),
        tool: &proposal.tool,
        user_id: holder(firm, &proposal.by)?,
        credential: CredentialKind::ApiToken,
        summary,
        arguments: serde_json::json!({ "reason": summary }).to_string(),
        mandate_id: proposal.mandate.map(|mandate| writing.id(Kind::Mandate, mandate)),
        client_id: None,
        state: proposal.state,
        area: proposal.area,
        created_at,
        expires_at: created_at.plus_seconds(proposal.minutes * 60),
        decided_at: decided_by.map(|_| created_at.plus_seconds(120)),
        decided_by,
    })
}
