//! `jlfix pins add`, `remove` and `reorder`: pins of one profile changed.

use std::collections::HashSet;
use std::path::PathBuf;

use jlfix::format::time::FileTime;
use jlfix::model::{Entry, Kind};
use jlfix::plan::TargetStatus;
use jlfix::plan::pins::{self, NewList, NewPin};

use super::list::{status, usable_targets};
use super::planned;
use super::target::{Target, no_format};
use crate::cli::change::Session;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Tally};
use crate::cli::lists::{Lists, one_app};
use crate::cli::options::Format;
use crate::cli::presence::{Drive, Targets};
use crate::cli::{Stop, words};

/// Pin a file, a folder, a known folder or a URL to an application
#[derive(Debug, clap::Args)]
#[command(after_help = "\
TARGET is a full Windows path, \\\\server\\share\\path, knownfolder:{GUID}, ::{GUID} or a URL. A path
that ends in a backslash is a folder; on Windows the target itself says what it is. If that is not
known, the link has no item ID list. A target that is listed is pinned; with --at, one that is
pinned is moved.

Examples:
  jlfix pins add 'D:\\Projects\\' --app explorer --into FOLDER
  jlfix pins add 'D:\\notes.txt' --app 9b9cdc69c1c24e2b --into FOLDER --at 0")]
pub(crate) struct AddArgs {
    /// What is pinned
    target: String,
    /// The application: its name, its AppID, or the path of its program
    #[arg(long, value_name = "NAME|APPID|PATH")]
    app: String,
    /// The folder of the lists, or the profile [default: the live user's, on Windows]
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// The place among the pins, from 0; behind them if not given or larger
    #[arg(long, value_name = "N")]
    at: Option<usize>,
    /// The format of a new list, where no list is beside it: 1, 3, 4, 5 or 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=6))]
    list_format: Option<u32>,
    #[command(flatten)]
    how: How,
}

/// Unpin entries; they stay in the list as history
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix pins remove FILE --entry 3 7
  jlfix pins remove FOLDER --missing --drive C=/mnt/c --dry-run")]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    lists: Lists,
    /// Unpin the entry with this id, as `pins list` prints it, in the one list named; may be repeated
    #[arg(long = "entry", value_name = "ID", num_args = 1.., required_unless_present = "missing")]
    entries: Vec<u64>,
    /// Unpin what points at a local file that is gone, on a drive that is there
    #[arg(long)]
    missing: bool,
    /// For --missing: where a drive of the list is on this machine, such as C=/mnt/c; may be repeated
    #[arg(long, value_name = "LETTER=DIR", requires = "missing")]
    drive: Vec<Drive>,
    /// Drop the entries as well, with their links
    #[arg(long)]
    delete: bool,
    #[command(flatten)]
    how: How,
}

/// Put the pins of a list in another order
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The pins named come first, in that order; the others follow in the order that they have.

Examples:
  jlfix pins reorder FILE 3 1 2 --dry-run")]
pub(crate) struct ReorderArgs {
    /// The list
    file: PathBuf,
    /// Ids of pinned entries, as `pins list` prints them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<u64>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct How {
    /// Report what would be changed, and change nothing; exit code 1 if something would
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(crate) fn add(args: &AddArgs, context: &Context) -> Result<Exit, Stop> {
    let target = Target::find(args.into.as_deref())?;
    let app_id = one_app(&args.app, &target.app_ids().collect(), context)?;
    let version = target.new_format(args.list_format, context);
    if version.is_none() && !target.has(app_id) {
        return Err(no_format(&target));
    }
    let (path, is_folder) = target_of(&args.target);
    let now = FileTime::from_timestamp(jiff::Timestamp::now());
    let pin = NewPin::of_path(path, is_folder, now).map_err(|why| Stop::Usage(format!("{path}: {why}")))?;
    let new = NewList { app_id, version: version.unwrap_or(1) };
    let mut session = Session::start(context, "changed", args.how.dry_run, true, Tally::default())?;
    let pins = [pin];
    session.edit(&target.list_of(app_id), |content, change| {
        planned(content, context, change, |list| pins::add_pins(list, &pins, args.at, new, &context.read.limits))
    });
    session.finish(args.how.format)
}

/// The path, without a separator at its end, and whether it is a folder, if that is known.
fn target_of(text: &str) -> (&str, Option<bool>) {
    let is_root = matches!(text.as_bytes(), [_, b':', b'\\']);
    match text.strip_suffix('\\') {
        Some(_) if is_root => (text, Some(true)),
        Some(folder) => (folder, Some(true)),
        None if cfg!(windows) => (text, std::fs::metadata(text).ok().map(|facts| facts.is_dir())),
        None => (text, None),
    }
}

pub(crate) fn remove(args: &RemoveArgs, context: &Context) -> Result<Exit, Stop> {
    let targets = Targets::new(&args.drive);
    if args.missing {
        usable_targets(&targets)?;
    }
    let mut tally = Tally::default();
    let mut files = args.lists.gather(context, &mut tally)?;
    files.retain(|found| found.hint != Some(Kind::Custom));
    if !args.entries.is_empty() && files.len() > 1 {
        return Err(Stop::Usage(format!(
            "--entry: ids count from 1 in each list, and {} lists were found; name one file",
            files.len()
        )));
    }
    let is_missing = |entry: &Entry<'_>| args.missing && status(entry, &targets) == TargetStatus::Missing;
    let mut session = Session::start(context, "changed", args.how.dry_run, true, tally)?;
    for found in &files {
        if session.interrupted() {
            break;
        }
        session.change(&found.path, |data, change| {
            planned(Some(data), context, change, |list| match list {
                Some(list) => pins::remove_pins(list, &args.entries, &is_missing, args.delete, &context.read.limits),
                None => Err(jlfix::plan::PlanError::NotAJumpList),
            })
        });
    }
    if args.missing && targets.unknown() > 0 {
        context.note(&format!("--missing: {} could not be looked up", words::count(targets.unknown(), "target")));
    }
    session.finish(args.how.format)
}

pub(crate) fn reorder(args: &ReorderArgs, context: &Context) -> Result<Exit, Stop> {
    let mut seen = HashSet::new();
    if let Some(twice) = args.ids.iter().find(|id| !seen.insert(**id)) {
        return Err(Stop::Usage(format!("pins reorder: the id {twice} is named twice")));
    }
    let mut session = Session::start(context, "changed", args.how.dry_run, true, Tally::default())?;
    session.change(&args.file, |data, change| {
        planned(Some(data), context, change, |list| match list {
            Some(list) => pins::reorder_pins(list, &args.ids, &context.read.limits),
            None => Err(jlfix::plan::PlanError::NotAJumpList),
        })
    });
    session.finish(args.how.format)
}
