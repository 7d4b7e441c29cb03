//! `guichet serve`.

use std::net::TcpListener;

use super::logging;
use crate::config::{Checked, ServeArgs, processors};
use crate::dates::Clock;
use crate::db::{Db, migrate};
use crate::error::{Error, Result};
use crate::http::{self, Parts};

pub(super) fn run(args: &ServeArgs) -> Result<()> {
    logging::start(args.log_format);
    let checked = args.check()?;
    if let Ok(owner) = args.database.owner() {
        migrate(owner, &args.database.database_url)?;
    }
    let listener = http::bind(args.listen)?;
    let public_url = args.public_url()?;
    log::info!("serving {}mcp on {}", public_url, args.listen);
    serve(args, checked, listener)
}

/// Serves until SIGTERM or SIGINT; what is in flight is finished.
pub(super) fn serve(args: &ServeArgs, checked: Checked, listener: TcpListener) -> Result<()> {
    let Checked { access, keys, seal } = checked;
    let connections = args.limits.connections();
    let db = Db::open(&args.database.database_url, connections, seal)?;
    let parts = Parts {
        db,
        keys,
        clock: Clock::System,
        access,
        rates: args.limits.rates(),
        at_once: usize::try_from(connections).unwrap_or(1),
        workers: usize::try_from(processors()).unwrap_or(1),
    };
    let serving = async move { http::server(parts, listener)?.await.map_err(Error::fault) };
    actix_web::rt::System::new().block_on(serving)
}
