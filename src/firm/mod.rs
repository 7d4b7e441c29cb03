//! The firm itself: who calls, what the firm is, what it sells.

mod enumerations;
mod overview;
mod rates;
mod services;
mod who_am_i;

pub use services::Unit;

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Permission;
use crate::db::Read;
use crate::db::schema::firms;
use crate::error::Result;
use crate::money::Currency;
use crate::registry::{ReadTool, Resource, Tool};
use crate::text::{Address, FreeText, Place};

/// The tools of this slice.
pub const TOOLS: &[Tool] = &[
    Tool::read::<who_am_i::WhoAmI>().in_every_toolset(),
    Tool::read::<overview::GetFirmOverview>(),
    Tool::read::<services::ListServices>(),
];

/// The resources of this slice.
pub const RESOURCES: &[Resource] = &[
    Resource::of::<who_am_i::WhoAmI>("guichet://me", "Who I am").in_every_toolset(),
    Resource::of::<FirmProfile>("guichet://firm", "The firm"),
    Resource::of::<services::ListServices>("guichet://services", "Services"),
    Resource::of::<Currencies>("guichet://currencies", "Currencies"),
    Resource::of::<enumerations::Enumerations>("guichet://rules/enums", "Enumerations")
        .in_every_toolset(),
    Resource::of::<rates::Rates>("guichet://rules/rates", "Rates"),
];

/// The firm on one page: name, UID, address, accounts for payments, currency, terms.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FirmProfile {}

/// The firm.
#[derive(Debug, Serialize, JsonSchema)]
struct Firm {
    /// The legal name.
    name: FreeText,
    /// The Swiss enterprise number.
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    /// The e-mail address.
    email: FreeText,
    /// The telephone number.
    phone: FreeText,
    /// The postal address.
    address: Address,
    /// The account that receives payments.
    iban: String,
    /// The account that receives payments with a QR reference.
    qr_iban: String,
    /// The currency of the firm's books.
    currency: Currency,
    /// Days in which an invoice is due, unless it says otherwise.
    payment_term_days: i32,
    /// The time zone in which the firm's day begins.
    time_zone: String,
}

type FirmRow =
    (FreeText, Option<String>, FreeText, FreeText, Place, String, String, (Currency, i32, String));

impl ReadTool for FirmProfile {
    const NAME: &'static str = "firm";
    const PERMISSION: Permission = Permission::Present;
    type Output = Firm;

    fn example() -> Self {
        Self {}
    }

    fn run(self, scope: &mut Read<'_>) -> Result<Firm> {
        let place =
            (firms::street, firms::house_number, firms::postal_code, firms::town, firms::country);
        let rest = (firms::currency, firms::payment_term_days, firms::time_zone);
        let columns = (
            firms::name,
            firms::uid,
            firms::email,
            firms::phone,
            place,
            firms::iban,
            firms::qr_iban,
            rest,
        );
        let this = scope.rows(firms::table).select(columns);
        let row: FirmRow = scope.one("firm", this)?;
        let (name, uid, email, phone, place, iban, qr_iban, rest) = row;
        let (currency, payment_term_days, time_zone) = rest;
        let address = Address::from(place);
        Ok(Firm {
            name,
            uid,
            email,
            phone,
            address,
            iban,
            qr_iban,
            currency,
            payment_term_days,
            time_zone,
        })
    }
}

/// The currencies that amounts come in; they are never added together.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Currencies {}

/// Currencies.
#[derive(Debug, Serialize, JsonSchema)]
struct KnownCurrencies {
    /// The currency of the firm's books.
    book_currency: Currency,
    /// Every currency that amounts may have.
    currencies: Vec<KnownCurrency>,
}

/// A currency.
#[derive(Debug, Serialize, JsonSchema)]
struct KnownCurrency {
    /// Its code (ISO 4217).
    code: Currency,
    /// The decimals of its amounts.
    decimals: u32,
}

impl ReadTool for Currencies {
    const NAME: &'static str = "currencies";
    const PERMISSION: Permission = Permission::Present;
    type Output = KnownCurrencies;

    fn example() -> Self {
        Self {}
    }

    fn run(self, scope: &mut Read<'_>) -> Result<KnownCurrencies> {
        let book_currency = scope.one("firm", scope.rows(firms::table).select(firms::currency))?;
        let known = |code: &Currency| KnownCurrency { code: *code, decimals: 2 };
        Ok(KnownCurrencies { book_currency, currencies: Currency::ALL.iter().map(known).collect() })
    }
}
