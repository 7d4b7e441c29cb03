//! The enumerations of the API.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Permission;
use crate::db::Read;
use crate::error::Result;
use crate::registry::{Enumeration, ReadTool, enumerations};

/// The enumerations that arguments and answers of your tools speak in: their values, and what each means.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Enumerations {}

/// Enumerations.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct KnownEnumerations {
    /// The enumerations, by name.
    enumerations: Vec<Enumeration>,
}

impl ReadTool for Enumerations {
    const NAME: &'static str = "enums";
    const PERMISSION: Permission = Permission::Present;
    type Output = KnownEnumerations;

    fn example() -> Self {
        Self {}
    }

    fn run(self, scope: &mut Read<'_>) -> Result<KnownEnumerations> {
        Ok(KnownEnumerations { enumerations: enumerations(scope.caller()) })
    }
}
