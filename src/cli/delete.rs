//! `jlfix delete`: whole files, after they were saved.

use std::path::PathBuf;

use jlfix::error::Error;
use jlfix::model::{AutomaticList, Source};
use jlfix::plan;
use jlfix::scan::Found;
use jlfix::store::{self, Decision};

use super::change::{Figures, FileChange, Session, Status, options};
use super::context::Context;
use super::exit::{Exit, Tally};
use super::lists::Apps;
use super::options::{Format, Verbose};
use super::words;
use super::{Stop, torn};

/// Delete whole jump lists, after saving them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A file with pinned entries is refused unless --include-pinned is given, and so is a file
that is too damaged to know whether it has any.

Examples:
  jlfix delete 5f7b5f1e01b83767.automaticDestinations-ms
  jlfix delete --dry-run FOLDER")]
pub(crate) struct DeleteArgs {
    /// Files, or folders whose jump lists go
    #[arg(required_unless_present = "app")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    apps: Apps,
    /// Delete files with pinned entries too
    #[arg(long)]
    include_pinned: bool,
    /// Show what would be deleted, and change nothing; exit code 1 if something would be
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    pub(crate) verbose: Verbose,
}

pub(crate) fn run(args: &DeleteArgs, context: &Context) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let files = args.apps.gather(&args.paths, context, &mut tally)?;
    let mut session = Session::start(context, "deleted", args.dry_run, true, tally)?;
    session.expect(files.len());
    for found in &files {
        if session.interrupted() {
            break;
        }
        let mut change = FileChange::new(&found.path, context);
        let mut refused = None;
        let dry_run = session.dry_run;
        let mut rereads = torn::Rereads::default();
        let result = store::change(&found.path, &options(context, dry_run), session.run(), |data| {
            if rereads.is_due(&found.path, data, found.hint, &context.read) {
                return Ok(Decision::ReadAgain);
            }
            change.before = Figures::of(data, found.hint, context);
            match objection(found, data, args.include_pinned, context) {
                None => Ok(Decision::Delete),
                Some(why) => {
                    refused = Some(format!("{}: {why}; nothing was changed", found.path.display()));
                    let (need, have) = ("a list without pins".to_owned(), why);
                    Err(Error::File { path: found.path.clone(), what: "content".to_owned(), offset: None, need, have })
                }
            }
        });
        let result = match result {
            Ok(_) => {
                change.status = if dry_run { Status::WouldChange } else { Status::Changed };
                session.check_writable(&found.path)
            }
            Err(error) => Err(refused.unwrap_or_else(|| error.to_string())),
        };
        session.add(change, result);
    }
    session.finish(args.format)
}

/// Why this content is not deleted.
fn objection(found: &Found, data: &[u8], include_pinned: bool, context: &Context) -> Option<String> {
    let anyway = "--include-pinned deletes it all the same";
    let unknown = || format!("too damaged to see whether it has pins; {anyway}");
    match Source::read(data, found.hint, &context.read) {
        None | Some(Source::Link(..)) => Some("no jump list".to_owned()),
        Some(Source::Custom(_)) => None,
        Some(Source::Automatic(Err(_))) => (!include_pinned).then(unknown),
        Some(Source::Automatic(Ok(compound))) if !include_pinned => {
            let list = AutomaticList::read(&compound);
            if list.is_foreign() {
                return Some(plan::PlanError::NotAJumpList.to_string());
            }
            match (list.pinned(), list.unseen()) {
                (0, None) => None,
                (0, Some(unseen)) => {
                    let options = plan::RepairOptions::default().code_page(context.read.code_page);
                    let helps = matches!(plan::repair(&list, &options, &context.read.limits), Ok(Some(_)));
                    let path = words::quoted_path(&found.path.display().to_string());
                    let remedy =
                        if helps { format!("jlfix repair {path} recovers them, {anyway}") } else { anyway.to_owned() };
                    Some(format!("entries or pins may be lost: {unseen}; {remedy}"))
                }
                (pinned, _) => Some(format!("{} pinned; {anyway}", words::count(pinned, "entry"))),
            }
        }
        Some(Source::Automatic(Ok(compound))) => {
            AutomaticList::read(&compound).is_foreign().then(|| plan::PlanError::NotAJumpList.to_string())
        }
    }
}
