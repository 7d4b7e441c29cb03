//! `guichet migrate`.

use crate::config::DatabaseArgs;
use crate::db::migrate;
use crate::error::Result;

pub(super) fn run(args: &DatabaseArgs) -> Result<()> {
    match migrate(args.owner()?, &args.database_url)? {
        0 => println!("The tables are up to date."),
        applied => println!("Applied {applied} migration(s)."),
    }
    Ok(())
}
