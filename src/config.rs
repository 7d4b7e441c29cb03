//! Settings: from flags, environment and files, checked before anything starts.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use sha2::{Digest, Sha256};
use url::Url;

use crate::auth::jwt;
use crate::db::Seal;
use crate::error::{Code, Error, Result};
use crate::http::{Access, Handshake, RateSettings};
use crate::meaning::Model;

/// Which database.
#[derive(Debug, Clone, Args)]
pub struct DatabaseArgs {
    /// Database to serve from: sqlite:PATH, or postgres://ROLE:PASSWORD@HOST/DATABASE with a role that owns no tables
    #[arg(
        long,
        env = "DATABASE_URL",
        value_name = "URL",
        default_value = "sqlite:guichet.db",
        hide_env_values = true
    )]
    pub database_url: String,
    /// PostgreSQL: the role that owns the tables (with BYPASSRLS), for migrations and administration
    #[arg(long, env = "GUICHET_OWNER_URL", value_name = "URL", hide_env_values = true)]
    pub owner_url: Option<String>,
}

impl DatabaseArgs {
    /// The URL to migrate and administer with: the owner's on `PostgreSQL`, the file itself on `SQLite`.
    ///
    /// # Errors
    /// `PostgreSQL` without an owner's URL.
    pub fn owner(&self) -> Result<&str> {
        match &self.owner_url {
            Some(url) => Ok(url),
            None if self.database_url.starts_with("sqlite:") => Ok(&self.database_url),
            None => Err(refuse(
                "set GUICHET_OWNER_URL to the role that owns the tables; the serving role may not change them",
            )),
        }
    }
}

/// Which model says what texts mean.
#[derive(Debug, Clone, Default, Args)]
pub struct ModelArgs {
    /// Directory with a sentence-embedding model (BERT): search by meaning; without it search is by words only
    #[arg(long, env = "GUICHET_EMBEDDING_MODEL", value_name = "DIRECTORY")]
    pub embedding_model: Option<PathBuf>,
}

impl ModelArgs {
    /// Reads the model, if there is to be one.
    ///
    /// # Errors
    /// The directory holds none, or the program was built without the feature `meaning`. In one line.
    pub fn load(&self) -> Result<Option<Arc<Model>>> {
        self.embedding_model.as_deref().map(|path| Model::load(path).map(Arc::new)).transpose()
    }
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people: `name=value` after the message.
    Text,
    /// For machines: one JSON object a line.
    Json,
}

/// How `guichet serve` serves.
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub database: DatabaseArgs,
    /// Address to listen on
    #[arg(long, env = "GUICHET_LISTEN", value_name = "ADDRESS", default_value = "127.0.0.1:8420")]
    pub listen: SocketAddr,
    /// URL under which clients reach the server; https, unless it is this machine [default: http://LISTEN]
    #[arg(long, env = "GUICHET_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<Url>,
    /// File with the secret that signs tokens and cursors: at least 32 random characters, readable by its owner only
    #[arg(long, env = "GUICHET_SECRET_FILE", value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// File with the secret before, while tokens that it signed are still good
    #[arg(long, env = "GUICHET_PREVIOUS_SECRET_FILE", value_name = "FILE")]
    pub previous_secret_file: Option<PathBuf>,
    /// More names under which the server may be addressed, separated by commas
    #[arg(long, env = "GUICHET_HOSTS", value_name = "HOSTS", value_delimiter = ',')]
    pub hosts: Vec<String>,
    /// Web pages that may call the server, as origins separated by commas
    #[arg(long, env = "GUICHET_ORIGINS", value_name = "ORIGINS", value_delimiter = ',')]
    pub origins: Vec<String>,
    /// Addresses of reverse proxies in front, separated by commas: their X-Forwarded-For says who asks
    #[arg(long, env = "GUICHET_TRUSTED_PROXIES", value_name = "ADDRESSES", value_delimiter = ',')]
    pub trusted_proxies: Vec<IpAddr>,
    /// Whether the MCP handshake answers without a credential
    #[arg(long, env = "GUICHET_HANDSHAKE", value_enum, default_value = "public")]
    pub handshake: Handshake,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub model: ModelArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "clap would show it")]
    pub limits: LimitArgs,
    /// How the log is written, to standard error
    #[arg(long, env = "GUICHET_LOG_FORMAT", value_enum, default_value = "text")]
    pub log_format: LogFormat,
}

const CREDENTIAL_RATE: NonZeroU32 = NonZeroU32::new(600).unwrap();
const FIRM_RATE: NonZeroU32 = NonZeroU32::new(6_000).unwrap();
const ADDRESS_RATE: NonZeroU32 = NonZeroU32::new(120).unwrap();

/// How much at once, and how much a minute.
#[derive(Debug, Clone, Args)]
pub struct LimitArgs {
    /// Calls per minute of one credential; a report counts as several
    #[arg(long, env = "GUICHET_RATE_PER_CREDENTIAL", value_name = "CALLS", default_value_t = CREDENTIAL_RATE)]
    pub rate_per_credential: NonZeroU32,
    /// Calls per minute of all people of a firm together
    #[arg(long, env = "GUICHET_RATE_PER_FIRM", value_name = "CALLS", default_value_t = FIRM_RATE)]
    pub rate_per_firm: NonZeroU32,
    /// Requests per minute of one address without a good credential
    #[arg(long, env = "GUICHET_RATE_PER_ADDRESS", value_name = "REQUESTS", default_value_t = ADDRESS_RATE)]
    pub rate_per_address: NonZeroU32,
    /// Database connections, and requests answered at the same time [default: twice the processors]
    #[arg(long, env = "GUICHET_CONNECTIONS", value_name = "NUMBER")]
    pub connections: Option<NonZeroU32>,
}

impl LimitArgs {
    /// The limits when none are set.
    #[must_use]
    pub fn defaults() -> Self {
        Self {
            rate_per_credential: CREDENTIAL_RATE,
            rate_per_firm: FIRM_RATE,
            rate_per_address: ADDRESS_RATE,
            connections: None,
        }
    }

    /// The rate limits.
    #[must_use]
    pub const fn rates(&self) -> RateSettings {
        RateSettings {
            per_credential: self.rate_per_credential,
            per_firm: self.rate_per_firm,
            per_address: self.rate_per_address,
        }
    }

    /// Database connections.
    #[must_use]
    pub fn connections(&self) -> u32 {
        self.connections.map_or_else(|| 2 * processors(), NonZeroU32::get)
    }
}

/// The processors of this machine.
#[must_use]
pub fn processors() -> u32 {
    let available = std::thread::available_parallelism();
    available.ok().and_then(|number| u32::try_from(number.get()).ok()).unwrap_or(1)
}

/// Settings that were checked.
#[derive(Debug)]
pub struct Checked {
    /// Who may address the server.
    pub access: Access,
    /// The keys of JSON Web Tokens.
    pub keys: jwt::Keys,
    /// The key that seals cursors.
    pub seal: Seal,
    /// The model that says what texts mean.
    pub model: Option<Arc<Model>>,
}

impl ServeArgs {
    /// Checks what could make the server unsafe and reads the secrets.
    ///
    /// # Errors
    /// A secret that is missing, weak or readable by others; a public URL without TLS; a model that cannot be read. Each in
    /// one line.
    pub fn check(&self) -> Result<Checked> {
        let path = self.secret_file.as_deref().ok_or_else(|| {
            refuse("set GUICHET_SECRET_FILE to a file with at least 32 random characters, such as from `openssl rand -base64 48`")
        })?;
        let mut secrets = vec![read_secret(path)?];
        if let Some(path) = &self.previous_secret_file {
            secrets.push(read_secret(path)?);
        }
        self.check_with(&secrets)
    }

    /// The same with secrets that are at hand.
    ///
    /// # Errors
    /// A public URL without TLS; a model that cannot be read.
    pub fn check_with(&self, secrets: &[String]) -> Result<Checked> {
        let public_url = self.public_url()?;
        let access = Access::new(&public_url, &self.hosts, &self.origins, self.handshake)
            .behind(&self.trusted_proxies);
        let jwt_keys: Vec<_> = secrets.iter().map(|secret| derived("jwt", secret)).collect();
        let keys = jwt::Keys::new(public_url.as_str(), &jwt_keys)?;
        let seal = derived("cursor", secrets.first().map_or("", String::as_str));
        Ok(Checked { access, keys, seal, model: self.model.load()? })
    }

    /// The URL under which clients reach the server.
    ///
    /// # Errors
    /// It is http and not this machine.
    pub fn public_url(&self) -> Result<Url> {
        let own = || Url::parse(&format!("http://{}", self.listen)).map_err(Error::fault);
        let url = self.public_url.clone().map_or_else(own, Ok)?;
        let is_local = match url.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        match url.scheme() {
            "https" => Ok(url),
            "http" if is_local => Ok(url),
            _ => Err(refuse(format!(
                "the public URL {url} must be https, since tokens travel over it; set GUICHET_PUBLIC_URL"
            ))),
        }
    }
}

/// One key of a secret for one use.
fn derived(usage: &str, secret: &str) -> [u8; 32] {
    let digest = Sha256::new().chain_update("guichet ").chain_update(usage).chain_update([0]);
    digest.chain_update(secret).finalize().into()
}

fn read_secret(path: &Path) -> Result<String> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| refuse(format!("the secret file {shown} cannot be read: {error}")))?;
    if is_open_to_others(path) {
        return Err(refuse(format!(
            "the secret file {shown} can be read by others; run `chmod 600 {shown}`"
        )));
    }
    let secret = text.trim();
    let mut distinct: Vec<char> = secret.chars().collect();
    distinct.sort_unstable();
    distinct.dedup();
    if secret.len() < 32 || distinct.len() < 12 {
        return Err(refuse(format!(
            "the secret in {shown} is weak: it needs at least 32 random characters, such as from `openssl rand -base64 48`"
        )));
    }
    Ok(secret.to_owned())
}

#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
const fn is_open_to_others(_: &Path) -> bool {
    false
}

fn refuse(message: impl Into<String>) -> Error {
    Error::refuse(Code::InvalidArgument, message)
}
