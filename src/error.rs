//! What can go wrong: a [`Refusal`] the caller can act on, or a [`Fault`] only we can.

use diesel::result::{DatabaseErrorKind as Kind, Error as DbError};
use uuid::Uuid;

/// The outcome of every fallible operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Expected: the request broke a rule and the message says which.
    #[error(transparent)]
    Refused(Refusal),
    /// Unexpected: logged once under a reference; the client sees only the reference.
    #[error(transparent)]
    Failed(Fault),
}

text_enum! {
    /// Stable reason codes: the table clients program against.
    Code {
        /// No valid credential.
        Unauthenticated = "unauthenticated",
        /// No such tool, or none that the caller may use.
        UnknownTool = "unknown_tool",
        /// An argument is missing, malformed or out of range.
        InvalidArgument = "invalid_argument",
        /// No such record, or none within the caller's reach.
        NotFound = "not_found",
        /// A rule of the domain forbids it.
        Conflict = "conflict",
        /// The books take nothing on that day: the year is closed, or the period locked.
        PeriodClosed = "period_closed",
        /// Too many requests; try again later.
        RateLimited = "rate_limited",
        /// The books cannot be reached at the moment; try again.
        Unavailable = "unavailable",
        /// A fault on our side, logged under the reference in the message.
        Internal = "internal",
    }
}

/// An expected refusal.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The stable reason.
    pub code: Code,
    /// The fact, the value and the way out.
    pub message: String,
    /// The path of the argument at fault.
    pub field: Option<String>,
}

/// An unexpected failure and the reference under which it is logged.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.said())]
pub struct Fault {
    reference: Uuid,
    is_passing: bool,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Fault {
    /// What the caller is told.
    fn said(&self) -> String {
        let reference = self.reference;
        if self.is_passing {
            format!(
                "the books cannot be reached at the moment; try again in a few seconds (reference {reference})"
            )
        } else {
            format!("internal error, reference {reference}")
        }
    }

    /// What is written to the log under the reference: the whole chain of causes.
    #[must_use]
    pub fn log_text(&self) -> String {
        format!("reference {}: {}", self.reference, self.cause_text())
    }

    /// The whole chain of causes, for whoever runs the program.
    #[must_use]
    pub fn cause_text(&self) -> String {
        let mut text = self.source.to_string();
        let mut cause = self.source.source();
        while let Some(next) = cause {
            text = format!("{text}: {next}");
            cause = next.source();
        }
        text
    }
}

impl Error {
    /// A refusal that concerns no argument in particular.
    pub fn refuse(code: Code, message: impl Into<String>) -> Self {
        Self::Refused(Refusal { code, message: message.into(), field: None })
    }

    /// A refusal of one argument.
    pub fn argument(field: impl Into<String>, message: impl Into<String>) -> Self {
        let (code, field) = (Code::InvalidArgument, Some(field.into()));
        Self::Refused(Refusal { code, message: message.into(), field })
    }

    /// A record that is not there, or out of reach: both read the same.
    #[must_use]
    pub fn not_found(what: &str) -> Self {
        Self::refuse(Code::NotFound, format!("{what} not found"))
    }

    /// A fault of ours.
    pub fn fault(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(Fault { reference: Uuid::now_v7(), is_passing: false, source: source.into() })
    }

    /// The database is away, locked or too slow: the same request may succeed in a moment.
    pub fn unavailable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(Fault { reference: Uuid::now_v7(), is_passing: true, source: source.into() })
    }

    /// The stable reason.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Refused(refusal) => refusal.code,
            Self::Failed(fault) if fault.is_passing => Code::Unavailable,
            Self::Failed(_) => Code::Internal,
        }
    }

    /// The path of the argument at fault, if it is about one.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.field.as_deref(),
            Self::Failed(_) => None,
        }
    }
}

impl From<DbError> for Error {
    fn from(error: DbError) -> Self {
        if is_passing(&error) { Self::unavailable(error) } else { Self::fault(error) }
    }
}

/// Whether the database was away, locked or too slow. Diesel gives no SQLSTATE, so what has no kind of its own is
/// known by its text.
fn is_passing(error: &DbError) -> bool {
    const SIGNS: &[&str] = &[
        "canceling statement due to",
        "database is locked",
        "database table is locked",
        "terminating connection",
        "server closed the connection",
        "connection to server",
        "no connection to the server",
        "could not receive data",
        "the database system is",
        "disk I/O error",
        "too many clients",
        "too many connections",
    ];
    match error {
        DbError::DatabaseError(
            Kind::ClosedConnection | Kind::UnableToSendCommand | Kind::SerializationFailure,
            _,
        )
        | DbError::BrokenTransactionManager => true,
        DbError::DatabaseError(_, information) => {
            SIGNS.iter().any(|sign| information.message().contains(sign))
        }
        _ => false,
    }
}

impl From<diesel::r2d2::PoolError> for Error {
    fn from(error: diesel::r2d2::PoolError) -> Self {
        Self::unavailable(error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::fault(error)
    }
}
