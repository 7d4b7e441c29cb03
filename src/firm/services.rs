//! What the firm sells.

use diesel::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Permission;
use crate::dates::Day;
use crate::db::schema::{mandates, service_rates, services};
use crate::db::{Ascending, ContainsAll, Filters, Page, Paging, Read};
use crate::error::Result;
use crate::ids::{MandateId, ServiceId};
use crate::money::{Currency, Money, Rate};
use crate::registry::ReadTool;
use crate::text::{FreeText, search_words};

text_enum! {
    /// What one unit of a service is.
    Unit {
        /// An hour.
        Hour = "hour",
        /// A piece.
        Piece = "piece",
        /// A month.
        Month = "month",
        /// A flat amount.
        Flat = "flat",
    }
}

text_enum! {
    /// Where a rate comes from.
    RateSource {
        /// The firm's list of services.
        Service = "service",
        /// What was agreed for the mandate.
        Mandate = "mandate",
    }
}

/// List the services that the firm sells, with the rate in force today, by the hour or otherwise: the firm's own or,
/// for a mandate, the one agreed there. For what was invoiced, use search_invoices. (prestations, tarif horaire /
/// Leistungen, Stundensatz, was sie kostet)
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListServices {
    /// Words of the code or name; all by default.
    query: Option<String>,
    /// Rates agreed for this mandate; the firm's own by default.
    mandate_id: Option<MandateId>,
    /// 1 to 100; 20 by default.
    limit: Option<i64>,
    /// A next_cursor; first page by default.
    cursor: Option<String>,
}
paged!(ListServices);

#[derive(Debug, Serialize, Queryable, Selectable)]
#[diesel(table_name = services)]
struct Row {
    id: ServiceId,
    code: FreeText,
    name: FreeText,
    unit: Unit,
    rate: Money,
    currency: Currency,
    vat_rate_percent: Rate,
}

/// A service.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Service {
    /// The service.
    id: ServiceId,
    /// Its code in the firm.
    code: FreeText,
    /// Its name.
    name: FreeText,
    /// What one unit is.
    unit: Unit,
    /// The price of one unit, without VAT.
    rate: Money,
    /// The currency of the rate.
    currency: Currency,
    /// Where the rate comes from.
    rate_source: RateSource,
    /// The VAT rate in per cent.
    vat_rate_percent: Rate,
}

impl ReadTool for ListServices {
    const NAME: &'static str = "list_services";
    const PERMISSION: Permission = Permission::ServiceRead;
    type Output = Page<Service>;

    fn example() -> Self {
        Self { query: Some("tva".into()), ..Self::default() }
    }

    fn run(mut self, scope: &mut Read<'_>) -> Result<Page<Service>> {
        let paging = Paging::of(&mut self)?.of_bare_rows();
        let agreed = match self.mandate_id {
            None => vec![],
            Some(mandate) => agreed_rates(scope, mandate)?,
        };
        let words = self.query.as_deref().map(search_words).transpose()?;
        let chosen = Filters::on(services::table)
            .and(services::is_active.eq(true))
            .and_some(words, |words| ContainsAll(services::search_text, words));
        let offered = scope.rows(services::table).filter(chosen);
        let by = Ascending(services::code, services::id);
        let position = |row: &Row| (row.code.stored().to_owned(), row.id);
        let page = scope.page(offered.clone(), offered, Row::as_select(), by, &paging, position)?;
        Ok(page.map(|row| {
            let Row { id, code, name, unit, rate, currency, vat_rate_percent } = row;
            let own = agreed.iter().find(|(service, _)| *service == id).map(|(_, rate)| *rate);
            let rate_source = if own.is_some() { RateSource::Mandate } else { RateSource::Service };
            let rate = own.unwrap_or(rate);
            Service { id, code, name, unit, rate, currency, rate_source, vat_rate_percent }
        }))
    }
}

/// The rates agreed for a mandate that are in force today.
fn agreed_rates(scope: &mut Read<'_>, mandate: MandateId) -> Result<Vec<(ServiceId, Money)>> {
    let this = scope.rows(mandates::table).filter(mandates::id.eq(mandate));
    scope.one::<_, MandateId>("mandate", this.select(mandates::id))?;
    let today: Day = scope.today();
    let rates = scope
        .rows(service_rates::table)
        .filter(service_rates::mandate_id.eq(mandate))
        .filter(service_rates::valid_from.le(today))
        .filter(service_rates::valid_to.is_null().or(service_rates::valid_to.ge(today)))
        .order(service_rates::valid_from.desc())
        .select((service_rates::service_id, service_rates::rate));
    scope.load(rates)
}
