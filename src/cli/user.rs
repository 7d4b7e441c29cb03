//! `guichet user`.

use std::io::{IsTerminal, Read as _};
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::administer;
use super::table::{ListArgs, Row};
use crate::admin::{
    self, Email, Firm, Line, MemberRow, NewMember, NewPassword, NewReach, Place, Slug, Standing,
};
use crate::auth::password;
use crate::config::DatabaseArgs;
use crate::dates::Clock;
use crate::db::Mandates;
use crate::error::{Code, Error, Result};
use crate::language::Language;

/// What is done with people.
#[derive(Debug, Subcommand)]
pub(super) enum UserCommand {
    /// Give a person a place in a firm
    Add(AddArgs),
    /// List the people of a firm, or of all firms
    List(ListPeopleArgs),
    /// Shut a person out of a firm, or everywhere, from the next request on
    Deactivate(StandingArgs),
    /// Let a person in again
    Activate(StandingArgs),
    /// Give a person another role in a firm, from the next request on
    SetRole(RoleArgs),
    /// Replace what a person reaches in a firm, from the next request on
    SetReach(ReachArgs),
    /// Answer a person of a firm in another language, from the next request on
    SetLanguage(LanguageArgs),
    /// Set a person's password and end what they are signed in with
    SetPassword(PasswordArgs),
}

/// The kinds of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReachKind {
    /// All mandates of the firm
    All,
    /// The mandates given with --mandate
    Listed,
    /// The mandates of the client given with --client
    Client,
}

/// The person to add.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet user add --tenant leman --email anna@leman.example --name 'Anna Rochat' \\\n    \
    --role owner --reach all --password-file anna.txt\n  \
    guichet user add --tenant leman --email luc@leman.example --name 'Luc Favre' \\\n    \
    --role accountant --mandate M-2024-001 --mandate M-2024-002 --no-password\n  \
    pass show guichet/mia | guichet user add --tenant leman --email mia@client.example \\\n    \
    --name 'Mia Keller' --role client_user --reach client --client C-1001 --password-file -\n\n\
    There is no default role. Without --mandate, a person of reach `listed` reads nothing.")]
pub(super) struct AddArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    #[arg(long, value_name = "SLUG")]
    tenant: Slug,
    /// E-mail address; a person who is known by it stays one person, with one password
    #[arg(long)]
    email: Email,
    /// Name, as the firm knows it
    #[arg(long)]
    name: Line,
    /// Role, one of those of the firm
    #[arg(long)]
    role: String,
    /// Language of labels and account names in answers: fr, de or en
    #[arg(long, default_value = "fr")]
    language: Language,
    /// What the person reaches
    #[arg(long, value_enum, default_value = "listed")]
    reach: ReachKind,
    /// Number of a mandate that the person reaches; may be repeated
    #[arg(long = "mandate", value_name = "NUMBER")]
    mandates: Vec<String>,
    /// Number of the client whose mandates the person reaches
    #[arg(long, value_name = "NUMBER", required_if_eq("reach", "client"))]
    client: Option<String>,
    /// File with the password on one line; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "no_password")]
    password_file: Option<PathBuf>,
    /// No password: the person works with API tokens alone
    #[arg(long)]
    no_password: bool,
}

/// How people are listed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  guichet user list\n  guichet user list --tenant leman --json")]
pub(super) struct ListPeopleArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm [default: all firms]
    #[arg(long, value_name = "SLUG")]
    tenant: Option<Slug>,
    #[command(flatten)]
    list: ListArgs,
}

/// The person to let in or shut out.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("place").args(["tenant", "everywhere"]).required(true)), after_help = "Examples:\n  \
    guichet user deactivate --tenant leman --email luc@leman.example\n  \
    guichet user activate --tenant leman --email luc@leman.example\n  \
    guichet user deactivate --everywhere --email luc@leman.example\n\n\
    Tokens of a deactivated person are refused, and good again when the person is activated.")]
pub(super) struct StandingArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    #[arg(long, value_name = "SLUG")]
    tenant: Option<Slug>,
    /// The person, in all firms, instead of the place in one
    #[arg(long)]
    everywhere: bool,
    /// E-mail address
    #[arg(long)]
    email: Email,
}

/// The new role.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet user set-role --tenant leman --email luc@leman.example --role manager\n\n\
    `guichet tools --tenant leman` shows what each role may call.")]
pub(super) struct RoleArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    #[arg(long, value_name = "SLUG")]
    tenant: Slug,
    /// E-mail address
    #[arg(long)]
    email: Email,
    /// Role, one of those of the firm
    #[arg(long)]
    role: String,
}

/// The new language.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet user set-language --tenant leman --email luc@leman.example --language de")]
pub(super) struct LanguageArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    #[arg(long, value_name = "SLUG")]
    tenant: Slug,
    /// E-mail address
    #[arg(long)]
    email: Email,
    /// Language of labels and account names in answers: fr, de or en
    #[arg(long)]
    language: Language,
}

/// The new reach.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet user set-reach --tenant leman --email luc@leman.example --all\n  \
    guichet user set-reach --tenant leman --email luc@leman.example --mandate M-2024-001\n  \
    guichet user set-reach --tenant leman --email luc@leman.example --none\n  \
    guichet user set-reach --tenant leman --email mia@client.example --client C-1001")]
pub(super) struct ReachArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Short name of the firm
    #[arg(long, value_name = "SLUG")]
    tenant: Slug,
    /// E-mail address
    #[arg(long)]
    email: Email,
    #[command(flatten)]
    choice: ReachChoice,
}

/// One of the kinds of reach; there is no default.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ReachChoice {
    /// All mandates of the firm
    #[arg(long)]
    all: bool,
    /// No mandate: the person reads nothing of any client
    #[arg(long)]
    none: bool,
    /// Number of a mandate; may be repeated, and replaces those before
    #[arg(long = "mandate", value_name = "NUMBER")]
    mandates: Vec<String>,
    /// Number of the client whose mandates the person reaches
    #[arg(long, value_name = "NUMBER")]
    client: Option<String>,
}

/// The new password.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    guichet user set-password --email anna@leman.example --password-file anna.txt\n  \
    pass show guichet/anna | guichet user set-password --email anna@leman.example --password-file -\n\n\
    The password is never an argument, which others on this machine could read.\n\
    API tokens stay good; `guichet token revoke` ends them.")]
pub(super) struct PasswordArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// E-mail address
    #[arg(long)]
    email: Email,
    /// File with the password on one line; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    password_file: PathBuf,
}

impl Row for MemberRow {
    const HEADINGS: &[&str] =
        &["FIRM", "E-MAIL", "NAME", "ROLE", "LANGUAGE", "REACH", "STATE", "PASSWORD"];

    fn cells(&self) -> Vec<String> {
        let reach = match (self.reach, &self.client) {
            (Mandates::All, _) => "all".to_owned(),
            (Mandates::Client, client) => format!("client {}", client.as_deref().unwrap_or("?")),
            (Mandates::Listed, _) if self.mandates.is_empty() => "none".to_owned(),
            (Mandates::Listed, _) => self.mandates.join(" "),
        };
        let state = match self.state {
            _ if self.is_deactivated_everywhere => "inactive everywhere",
            state => state.as_str(),
        };
        vec![
            self.tenant.clone(),
            self.email.clone(),
            self.name.clone(),
            self.role.clone(),
            self.language.to_string(),
            reach,
            state.to_owned(),
            if self.has_password { "yes" } else { "no" }.to_owned(),
        ]
    }
}

pub(super) fn run(command: &UserCommand) -> Result<()> {
    match command {
        UserCommand::Add(args) => add(args),
        UserCommand::List(args) => {
            let rows = administer(&args.database, |connection| {
                let firm =
                    args.tenant.as_ref().map(|slug| Firm::find(connection, slug)).transpose()?;
                admin::list_members(connection, firm.as_ref())
            })?;
            args.list.print(&rows)
        }
        UserCommand::Deactivate(args) => set_standing(args, Standing::Inactive),
        UserCommand::Activate(args) => set_standing(args, Standing::Active),
        UserCommand::SetRole(args) => {
            let member = administer(&args.database, |connection| {
                let firm = Firm::find(connection, &args.tenant)?;
                admin::set_role(connection, &firm, &args.email, &args.role)
            })?;
            let RoleArgs { tenant, role, .. } = args;
            println!("{} is {role} in {tenant}; before: {}.", member.name, member.role);
            Ok(())
        }
        UserCommand::SetReach(args) => {
            let reach = args.choice.reach();
            let member = administer(&args.database, |connection| {
                let firm = Firm::find(connection, &args.tenant)?;
                admin::set_reach(connection, &firm, &args.email, &reach)
            })?;
            println!("In {}, {} {reach}.", args.tenant, member.name);
            Ok(())
        }
        UserCommand::SetLanguage(args) => {
            let member = administer(&args.database, |connection| {
                let firm = Firm::find(connection, &args.tenant)?;
                admin::set_language(connection, &firm, &args.email, args.language)
            })?;
            println!("In {}, {} is answered in {}.", args.tenant, member.name, args.language);
            Ok(())
        }
        UserCommand::SetPassword(args) => set_password(args),
    }
}

impl ReachChoice {
    fn reach(&self) -> NewReach {
        match &self.client {
            _ if self.all => NewReach::All,
            Some(number) => NewReach::Client(number.clone()),
            None => NewReach::Listed(self.mandates.clone()),
        }
    }
}

impl AddArgs {
    fn reach(&self) -> Result<NewReach> {
        match (self.reach, &self.client) {
            (ReachKind::Client, Some(number)) if self.mandates.is_empty() => {
                Ok(NewReach::Client(number.clone()))
            }
            (ReachKind::Listed, None) => Ok(NewReach::Listed(self.mandates.clone())),
            (ReachKind::All, None) if self.mandates.is_empty() => Ok(NewReach::All),
            (_, Some(_)) => Err(refuse("--client goes with --reach client and without --mandate")),
            _ => Err(refuse("--mandate goes with --reach listed")),
        }
    }

    fn password(&self) -> Result<NewPassword> {
        match &self.password_file {
            Some(path) => Ok(NewPassword::Hashed(password::set(&read_password(path)?)?)),
            None if self.no_password => Ok(NewPassword::Without),
            None => Ok(NewPassword::Unsaid),
        }
    }
}

fn add(args: &AddArgs) -> Result<()> {
    let reach = args.reach()?;
    let AddArgs { email, name, role, tenant, language, .. } = args;
    let (language, password) = (*language, args.password()?);
    let new = NewMember { email, name, role, language, reach: &reach, password };
    administer(&args.database, |connection| {
        let firm = Firm::find(connection, tenant)?;
        admin::add_member(connection, &firm, &new, Clock::System.now())
    })?;
    println!("Added {name} <{email}> to {tenant} as {role}.");
    println!("{name} {reach}.");
    Ok(())
}

fn set_standing(args: &StandingArgs, standing: Standing) -> Result<()> {
    administer(&args.database, |connection| {
        let firm = args.tenant.as_ref().map(|slug| Firm::find(connection, slug)).transpose()?;
        let place = firm.map_or(Place::Everywhere, Place::Firm);
        admin::set_standing(connection, &place, &args.email, standing)
    })?;
    let place = args.tenant.as_ref().map_or("everywhere".to_owned(), |slug| format!("in {slug}"));
    println!("{} is {standing} {place}.", args.email);
    Ok(())
}

fn set_password(args: &PasswordArgs) -> Result<()> {
    let hash = password::set(&read_password(&args.password_file)?)?;
    administer(&args.database, |connection| admin::set_password(connection, &args.email, &hash))?;
    println!("{} has a new password and must sign in again.", args.email);
    Ok(())
}

/// The first line of a file, or of standard input for `-`.
fn read_password(path: &Path) -> Result<String> {
    let shown = path.display();
    let unreadable = |error| refuse(format!("the password file {shown} cannot be read: {error}"));
    let mut text = String::new();
    if path == Path::new("-") {
        let mut input = std::io::stdin();
        if input.is_terminal() {
            return Err(refuse(
                "standard input is a terminal, which would show the password; pipe it, or name a file",
            ));
        }
        input.read_to_string(&mut text).map_err(unreadable)?;
    } else {
        text = std::fs::read_to_string(path).map_err(unreadable)?;
    }
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains(['\n', '\r']) {
        return Err(refuse(format!("the password in {shown} has several lines; keep one")));
    }
    Ok(line.to_owned())
}

fn refuse(message: impl Into<String>) -> Error {
    Error::refuse(Code::InvalidArgument, message)
}
