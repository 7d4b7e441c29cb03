//! `guichet serve`.

use std::net::TcpListener;

use super::logging;
use crate::config::{Checked, ServeArgs, processors};
use crate::dates::Clock;
use crate::db::{Db, check_exists, migrate};
use crate::error::{Error, Result};
use crate::http::{self, Parts};

/// Takes the address before it touches the tables, so that a second server does not migrate under the first.
pub(super) fn run(args: &ServeArgs) -> Result<()> {
    logging::start(args.log_format);
    args.public_url()?;
    let listener = http::bind(args.listen)?;
    let listen = listener.local_addr().map_err(Error::fault)?;
    let args = ServeArgs { listen, ..args.clone() };
    let checked = args.check()?;
    check_exists(&args.database.database_url)?;
    if let Ok(owner) = args.database.owner() {
        migrate(owner, &args.database.database_url)?;
    }
    serve(&args, checked, listener)
}

/// Serves until SIGTERM or SIGINT; what is in flight is finished.
pub(super) fn serve(args: &ServeArgs, checked: Checked, listener: TcpListener) -> Result<()> {
    let Checked { access, keys, seal, model } = checked;
    let connections = args.limits.connections();
    let db = Db::open(&args.database.database_url, connections, seal)?.with_model(model);
    log::info!("serving {}mcp on {}", args.public_url()?, args.listen);
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
