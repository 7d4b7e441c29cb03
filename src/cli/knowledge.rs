//! `guichet knowledge`.

use clap::{Args, Subcommand};

use crate::admin::{Firm, Slug, prepare_for_meaning};
use crate::config::{DatabaseArgs, ModelArgs};
use crate::db::Administration;
use crate::error::{Code, Error, Result};

/// What is done with the knowledge graph.
#[derive(Debug, Subcommand)]
pub(super) enum KnowledgeCommand {
    /// Compute what entities mean, where that is missing, so that they are found by meaning
    Embed(EmbedArgs),
}

/// Whose entities, and with which model.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet knowledge embed --embedding-model /srv/models/minilm\n  \
    guichet knowledge embed --embedding-model /srv/models/minilm --tenant leman\n\n\
    It computes only what is missing: run it after entities were added or changed, and once for a new model,\n\
    before the server is started with it. What other models computed stays. Employees are left out.")]
pub(super) struct EmbedArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    model: ModelArgs,
    /// Short name of the firm [default: all firms]
    #[arg(long, value_name = "SLUG")]
    tenant: Option<Slug>,
}

pub(super) fn run(command: &KnowledgeCommand) -> Result<()> {
    let KnowledgeCommand::Embed(args) = command;
    let model = args.model.load()?.ok_or_else(|| {
        let message = "set GUICHET_EMBEDDING_MODEL to the directory of the model";
        Error::refuse(Code::InvalidArgument, message)
    })?;
    let mut administration = Administration::open(args.database.owner()?)?;
    let firm = match &args.tenant {
        Some(slug) => Some(administration.transaction(|database| Firm::find(database, slug))?),
        None => None,
    };
    let count = prepare_for_meaning(&mut administration, &model, firm.as_ref())?;
    println!("Computed what {count} entities mean.");
    Ok(())
}
