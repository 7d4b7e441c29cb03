//! Clients: the customers of the firm, the people to talk to there, and their addresses.

mod completion;
mod get_client;
mod search_clients;

pub use completion::COMPLETION;

use crate::registry::{Resource, Tool};

/// The tools of this slice.
pub const TOOLS: &[Tool] =
    &[Tool::read::<search_clients::SearchClients>(), Tool::read::<get_client::GetClient>()];

/// The resources of this slice.
pub const RESOURCES: &[Resource] = &[Resource::template::<get_client::GetClient>(
    "guichet://clients/{id}",
    "A client on one page",
    "client_id",
)];

text_enum! {
    /// What a client is in law.
    LegalForm {
        /// A natural person.
        Individual = "individual",
        /// Raison individuelle, Einzelunternehmen.
        SoleProprietorship = "sole_proprietorship",
        /// SNC, KlG.
        GeneralPartnership = "general_partnership",
        /// SCm, KmG.
        LimitedPartnership = "limited_partnership",
        /// SA, AG.
        CompanyLimitedByShares = "company_limited_by_shares",
        /// Sàrl, GmbH.
        LimitedLiabilityCompany = "limited_liability_company",
        /// Société coopérative, Genossenschaft.
        Cooperative = "cooperative",
        /// Association, Verein.
        Association = "association",
        /// Fondation, Stiftung.
        Foundation = "foundation",
        /// Corporation de droit public.
        PublicBody = "public_body",
    }
}

text_enum! {
    /// Where the relation with a client stands.
    ClientStatus {
        /// Not yet a client.
        Prospect = "prospect",
        /// A client.
        Active = "active",
        /// A client without current work.
        Inactive = "inactive",
        /// No longer a client.
        Ended = "ended",
    }
}

text_enum! {
    /// The language to write to a client in.
    Language {
        /// French.
        French = "fr",
        /// German.
        German = "de",
        /// Italian.
        Italian = "it",
        /// English.
        English = "en",
    }
}

text_enum! {
    /// What an address is for.
    AddressKind {
        /// The seat or home.
        Main = "main",
        /// Where invoices go.
        Billing = "billing",
        /// Anything else.
        Other = "other",
    }
}
