//! Typed identifiers: a client's id cannot stand where an invoice's belongs.

use uuid::Uuid;

use crate::dates::Instant;
use crate::db::types::{Id, Stored, stored};

/// Declares `UUIDv7` newtypes, stored as `uuid` or as 16 bytes, read in the one canonical form only.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, diesel::AsExpression, diesel::FromSqlRow)]
        #[diesel(sql_type = Id)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id that sorts by `now`.
            #[must_use]
            pub fn at(now: Instant) -> Self {
                Self(Uuid::new_v7(now.into()))
            }

            /// Reads `01900000-0000-7000-8000-000000000000`: 36 characters, lower case, hyphens.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                canonical(text).map(Self)
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self { Self(uuid) }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self { id.0 }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { self.0.fmt(f) }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if !deserializer.is_human_readable() {
                    return Uuid::deserialize(deserializer).map(Self);
                }
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| serde::de::Error::custom(NOT_AN_ID))
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool { true }
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($name).into() }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "format": "uuid" })
            }
        }

        impl Stored for $name {
            type Postgres = Uuid;
            type Sqlite = Vec<u8>;
            fn to_postgres(&self) -> Uuid { self.0 }
            fn from_postgres(uuid: Uuid) -> diesel::deserialize::Result<Self> { Ok(Self(uuid)) }
            fn to_sqlite(&self) -> Vec<u8> { self.0.as_bytes().to_vec() }
            fn from_sqlite(bytes: Vec<u8>) -> diesel::deserialize::Result<Self> { Ok(Self(Uuid::from_slice(&bytes)?)) }
        }
        stored!($name: Id = postgres diesel::sql_types::Uuid, sqlite diesel::sql_types::Binary);
    )+};
}

/// What a malformed id is told; the value itself is not repeated.
const NOT_AN_ID: &str =
    "invalid id, expected a UUID in lower case such as 01900000-0000-7000-8000-000000000000";

fn canonical(text: &str) -> Option<Uuid> {
    let uuid = Uuid::try_parse(text).ok()?;
    let mut buffer = Uuid::encode_buffer();
    (text == uuid.hyphenated().encode_lower(&mut buffer)).then_some(uuid)
}

ids! {
    /// A fiduciary firm.
    TenantId,
    /// A natural person who signs in.
    UserId,
    /// An API token.
    TokenId,
    /// A customer of the firm.
    ClientId,
    /// A person to talk to at a client.
    ContactId,
    /// A postal address of a client.
    AddressId,
    /// An engagement for a client.
    MandateId,
    /// Something the firm sells.
    ServiceId,
    /// A rate agreed for a service in a mandate.
    ServiceRateId,
    /// A sales document.
    InvoiceId,
    /// A line of a sales document.
    InvoiceLineId,
    /// A sales document that was sent.
    DispatchId,
    /// Money received for an invoice.
    PaymentId,
    /// A reminder sent for an invoice.
    ReminderId,
    /// A person employed under a mandate.
    EmployeeId,
    /// A contract of employment.
    ContractId,
    /// A month's payslip.
    PayslipId,
    /// A line of a payslip.
    PayslipLineId,
    /// An account of a mandate's chart.
    AccountId,
    /// A fiscal year of a mandate.
    FiscalYearId,
    /// An entry in a mandate's books.
    EntryId,
    /// A phase of a mandate.
    PositionId,
    /// A work package of a phase.
    OperationId,
    /// Something a person has to do.
    TaskId,
    /// Time that a person worked.
    TimeEntryId,
    /// A filed document.
    DocumentId,
    /// A statement of a bank account.
    BankStatementId,
    /// A line of one.
    BankLineId,
    /// A change that was proposed.
    ProposalId,
    /// An entity of the knowledge graph.
    EntityId,
    /// A relation between two entities.
    RelationId,
    /// Something doubtful in the graph.
    AnomalyId,
    /// A record of whatever kind, where its kind is named beside it.
    RecordId,
}

#[cfg(test)]
mod tests {
    use super::ClientId;

    #[test]
    fn an_id_comes_back_from_bytes_as_from_text() {
        let id = ClientId::parse("01900000-0000-7000-8000-00000000000a").unwrap();
        let bytes = postcard::to_allocvec(&id).unwrap();
        assert_eq!(postcard::from_bytes::<ClientId>(&bytes).unwrap(), id);
        let text = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<ClientId>(&text).unwrap(), id);
    }

    #[test]
    fn an_id_has_one_form() {
        let good = "01900000-0000-7000-8000-00000000000a";
        assert!(ClientId::parse(good).is_some());
        for bad in [
            "01900000-0000-7000-8000-00000000000A",
            "{01900000-0000-7000-8000-00000000000a}",
            "urn:uuid:01900000-0000-7000-8000-00000000000a",
            "0190000000007000800000000000000a",
            "01900000-0000-7000-8000-00000000000a ",
            "",
        ] {
            assert!(ClientId::parse(bad).is_none(), "{bad}");
        }
    }
}
