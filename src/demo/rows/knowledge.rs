//! The knowledge graph: what was written by hand, an entity for every client and employee, and a pension fund that has them
//! all as neighbours.

use diesel::prelude::*;

use super::super::fixtures::{MASTER, Pair};
use super::super::ids::Kind;
use super::super::knowledge::{Entity, GRAPH, Graph};
use super::super::plan::{day, moment};
use super::{Writing, insert_all};
use crate::clients::LegalForm;
use crate::dates::{Day, Instant};
use crate::db::connection::AnyConnection;
use crate::db::schema::{
    knowledge_anomalies, knowledge_entities, knowledge_entity_types, knowledge_relation_types,
    knowledge_relations,
};
use crate::demo::engagements::mandate;
use crate::error::{Error, Result};
use crate::ids::{AnomalyId, ClientId, EmployeeId, EntityId, MandateId, RelationId, TenantId};
use crate::knowledge::{AnomalyKind, AnomalyState, Severity, StandsFor};
use crate::text::{fold, searchable};

#[derive(Insertable)]
#[diesel(table_name = knowledge_entity_types, treat_none_as_default_value = false)]
struct NewEntityType<'a> {
    tenant_id: TenantId,
    code: &'a str,
    label_fr: &'a str,
    label_de: &'a str,
    label_en: &'a str,
}

#[derive(Insertable)]
#[diesel(table_name = knowledge_relation_types, treat_none_as_default_value = false)]
struct NewRelationType<'a> {
    tenant_id: TenantId,
    code: &'a str,
    label_fr: &'a str,
    label_de: &'a str,
    label_en: &'a str,
    inverse_fr: &'a str,
    inverse_de: &'a str,
    inverse_en: &'a str,
}

#[derive(Insertable)]
#[diesel(table_name = knowledge_entities, treat_none_as_default_value = false)]
struct NewEntity<'a> {
    tenant_id: TenantId,
    id: EntityId,
    type_code: &'a str,
    name: String,
    description: &'a str,
    mandate_id: Option<MandateId>,
    client_id: Option<ClientId>,
    stands_for: Option<StandsFor>,
    employee_id: Option<EmployeeId>,
    sort_name: String,
    search_text: String,
    created_at: Instant,
}

#[derive(Insertable)]
#[diesel(table_name = knowledge_relations, treat_none_as_default_value = false)]
struct NewRelation<'a> {
    tenant_id: TenantId,
    id: RelationId,
    type_code: &'a str,
    from_id: EntityId,
    to_id: EntityId,
    valid_from: Day,
    valid_to: Option<Day>,
    note: Option<String>,
}

#[derive(Insertable)]
#[diesel(table_name = knowledge_anomalies, treat_none_as_default_value = false)]
struct NewAnomaly<'a> {
    tenant_id: TenantId,
    id: AnomalyId,
    kind: AnomalyKind,
    severity: Severity,
    entity_id: Option<EntityId>,
    relation_id: Option<RelationId>,
    text: &'a str,
    state: AnomalyState,
    found_on: Day,
}

/// The numbers of entities that stand for clients and for employees begin after these.
const BEFORE_CLIENTS: u32 = 1_000;
const BEFORE_EMPLOYEES: u32 = 2_000;

pub(super) fn write(connection: &mut AnyConnection, writing: Writing<'_>) -> Result<()> {
    let graph: &Graph = &GRAPH;
    let (entity_types, relation_types) = types(writing, graph);
    insert_all!(connection, knowledge_entity_types::table, entity_types);
    insert_all!(connection, knowledge_relation_types::table, relation_types);
    insert_all!(connection, knowledge_entities::table, entities(writing, graph)?);
    insert_all!(connection, knowledge_relations::table, relations(writing, graph)?);
    insert_all!(connection, knowledge_anomalies::table, anomalies(writing, graph)?);
    Ok(())
}

fn types<'a>(
    writing: Writing<'_>,
    graph: &'a Graph,
) -> (Vec<NewEntityType<'a>>, Vec<NewRelationType<'a>>) {
    let tenant_id = writing.tenant;
    let entities = graph.entity_types.iter().map(|one| NewEntityType {
        tenant_id,
        code: &one.code,
        label_fr: &one.labels.0,
        label_de: &one.labels.1,
        label_en: &one.labels.2,
    });
    let relations = graph.relation_types.iter().map(|one| NewRelationType {
        tenant_id,
        code: &one.code,
        label_fr: &one.labels.0,
        label_de: &one.labels.1,
        label_en: &one.labels.2,
        inverse_fr: &one.inverse.0,
        inverse_de: &one.inverse.1,
        inverse_en: &one.inverse.2,
    });
    (entities.collect(), relations.collect())
}

/// An entity of a type, with a name and a description.
fn entity<'a>(
    writing: Writing<'a>,
    n: u32,
    type_code: &'a str,
    name: String,
    description: &'a Pair,
) -> Result<NewEntity<'a>> {
    let description = description.of(writing.firm);
    Ok(NewEntity {
        tenant_id: writing.tenant,
        id: writing.id(Kind::Entity, n),
        type_code,
        mandate_id: None,
        client_id: None,
        stands_for: None,
        employee_id: None,
        sort_name: fold(&name),
        search_text: searchable([&name, description]),
        name,
        description,
        created_at: moment(day(2024, 1, 3)?, i64::from(n))?,
    })
}

fn entities<'a>(writing: Writing<'a>, graph: &'a Graph) -> Result<Vec<NewEntity<'a>>> {
    let mut rows = vec![];
    for (n, one) in (1..).zip(&graph.entities) {
        let Entity { type_code, name, description, mandate, client, stands_for, .. } = one;
        rows.push(NewEntity {
            mandate_id: mandate.map(|mandate| writing.id(Kind::Mandate, mandate)),
            client_id: client.map(|client| writing.id(Kind::Client, client)),
            stands_for: *stands_for,
            ..entity(writing, n, type_code, name.owned(writing.firm), description)?
        });
    }
    for (n, client) in (1..).zip(&MASTER.clients) {
        let type_code = match client.legal_form {
            LegalForm::Individual => "person",
            LegalForm::Association | LegalForm::Foundation | LegalForm::PublicBody => {
                "organisation"
            }
            _ => "company",
        };
        let name = client.name.owned(writing.firm);
        rows.push(NewEntity {
            client_id: Some(writing.id(Kind::Client, n)),
            stands_for: Some(StandsFor::Client),
            ..entity(writing, BEFORE_CLIENTS + n, type_code, name, &graph.of_clients)?
        });
    }
    for (n, employee) in (1..).zip(&MASTER.employees) {
        let firm = writing.firm;
        let name = format!("{} {}", employee.first_name.of(firm), employee.last_name.of(firm));
        rows.push(NewEntity {
            mandate_id: Some(writing.id(Kind::Mandate, employee.mandate)),
            stands_for: Some(StandsFor::Employee),
            employee_id: Some(writing.id(Kind::Employee, n)),
            ..entity(writing, BEFORE_EMPLOYEES + n, "person", name, &graph.of_employees)?
        });
    }
    Ok(rows)
}

/// The number of the entity that relations and anomalies call `key`.
fn number(graph: &Graph, key: &str) -> Result<u32> {
    if let Some(client) = key.strip_prefix("client:") {
        return Ok(BEFORE_CLIENTS + client.parse::<u32>().map_err(Error::fault)?);
    }
    let found = (1..).zip(&graph.entities).find(|(_, one)| one.key == key);
    found.map(|(n, _)| n).ok_or_else(|| Error::fault(format!("the demo has no entity {key}")))
}

/// Those written by hand; the employees work for their clients; everybody is, was or will be affiliated to the pension fund.
fn relations<'a>(writing: Writing<'a>, graph: &'a Graph) -> Result<Vec<NewRelation<'a>>> {
    let mut rows: Vec<NewRelation<'_>> = vec![];
    let mut add = |type_code, from, to, valid_from, valid_to, note| {
        let n = u32::try_from(rows.len() + 1).map_err(Error::fault)?;
        rows.push(NewRelation {
            tenant_id: writing.tenant,
            id: writing.id(Kind::Relation, n),
            type_code,
            from_id: writing.id(Kind::Entity, from),
            to_id: writing.id(Kind::Entity, to),
            valid_from,
            valid_to,
            note,
        });
        Ok::<_, Error>(())
    };
    for one in &graph.relations {
        let (from, to) = (number(graph, &one.from)?, number(graph, &one.to)?);
        let note = one.note.as_ref().map(|note| note.owned(writing.firm));
        add(&one.type_code, from, to, one.valid_from, one.valid_to, note)?;
    }
    let fund = number(graph, "caisse")?;
    let (first, last, future) = (day(2024, 1, 1)?, day(2025, 12, 31)?, day(2027, 1, 1)?);
    for (n, _) in (1..).zip(&MASTER.clients) {
        let (from, to) = match n {
            _ if n % 7 == 0_u32 => (first, Some(last)),
            _ if n % 11 == 0 => (future, None),
            _ => (first, None),
        };
        add("affiliated_to", BEFORE_CLIENTS + n, fund, from, to, None)?;
    }
    for (n, employee) in (1..).zip(&MASTER.employees) {
        let (person, client) = (BEFORE_EMPLOYEES + n, mandate(employee.mandate)?.client);
        let (from, to) = (employee.hired_on, employee.left_on);
        add("works_for", person, BEFORE_CLIENTS + client, from, to, None)?;
        add("affiliated_to", person, fund, from, to, None)?;
    }
    Ok(rows)
}

fn anomalies<'a>(writing: Writing<'a>, graph: &'a Graph) -> Result<Vec<NewAnomaly<'a>>> {
    let mut rows = vec![];
    for (n, one) in (1..).zip(&graph.anomalies) {
        let entity = one.entity.as_ref().map(|key| number(graph, key)).transpose()?;
        rows.push(NewAnomaly {
            tenant_id: writing.tenant,
            id: writing.id(Kind::Anomaly, n),
            kind: one.kind,
            severity: one.severity,
            entity_id: entity.map(|entity| writing.id(Kind::Entity, entity)),
            relation_id: one.relation.map(|relation| writing.id(Kind::Relation, relation)),
            text: one.text.of(writing.firm),
            state: one.state,
            found_on: one.found_on,
        });
    }
    Ok(rows)
}
