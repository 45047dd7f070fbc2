//! `jlfix prune`: keeps the pins and the newest entries, drops the rest.

use std::path::Path;

use clap::ValueEnum;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use jlfix::format::time::FileTime;
use jlfix::model::{JumpList, Kind, Source};
use jlfix::plan::{self, By, Presence, PruneRules};

use super::Stop;
use super::age::{self, Age};
use super::change::{FileChange, Session, Step};
use super::context::Context;
use super::exit::{Exit, Tally};
use super::lists::Lists;
use super::options::Format;
use super::presence::{Drive, Targets};
use super::words::{self, quoted_path};

/// Keep every pin and the newest entries of each automatic list, drop the rest, with a backup
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Rules: --keep, --older-than, --match, --entry, --missing. An entry is dropped if any rule that
is given drops it; pinned entries are kept unless --include-pinned is given. --compact drops
nothing: it rewrites a fragmented list in one piece, which takes fewer reads.

Examples:
  jlfix prune --keep 50 --dry-run FOLDER
  jlfix prune --keep 50 FOLDER
  jlfix prune --older-than 90d --match '*\\Temp\\*' FOLDER
  jlfix prune --keep 50 --app explorer FOLDER
  jlfix prune --entry 17 FILE
  jlfix prune --compact FOLDER")]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    lists: Lists,
    /// Keep the N newest unpinned entries of each list, and every pinned one
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Drop what was last used longer ago than this: 90d, 12w, 6mo, 2y, or before a date: 2026-01-31
    #[arg(long, value_name = "AGE", value_parser = age::parse)]
    older_than: Option<Age>,
    /// Drop what has a path like this (* ? [..] {a,b}, case does not matter); may be repeated
    #[arg(long = "match", value_name = "GLOB")]
    globs: Vec<String>,
    /// Drop the entry with this id, as `show` tells it; may be repeated
    #[arg(long = "entry", value_name = "ID")]
    entries: Vec<u64>,
    /// Drop what points at a local file that is gone, on a drive that is there
    #[arg(long)]
    missing: bool,
    /// For --missing: where a drive of the list is on this machine, such as C=/mnt/c; may be repeated
    #[arg(long, value_name = "LETTER=DIR", requires = "missing")]
    drive: Vec<Drive>,
    /// By what --keep chooses
    #[arg(long, value_enum, default_value = "recent", requires = "keep")]
    by: ByName,
    /// Let the rules drop pinned entries too
    #[arg(long)]
    include_pinned: bool,
    /// Rewrite fragmented lists in one piece, even if no entry is dropped
    #[arg(long)]
    compact: bool,
    /// Say what would go, and change nothing; exit code 1 if something would
    #[arg(long)]
    dry_run: bool,
    /// Save nothing first: what goes is gone
    #[arg(long)]
    no_backup: bool,
    /// How to write what was done
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ByName {
    /// The last used
    Recent,
    /// The highest score
    Score,
}

/// The globs as one matcher. Both slashes are one, so that a pattern needs no escapes.
fn matcher(globs: &[String]) -> Result<Option<GlobSet>, Stop> {
    if globs.is_empty() {
        return Ok(None);
    }
    let wrong = |error: globset::Error| Stop::Usage(format!("--match: {error}"));
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(GlobBuilder::new(&glob.replace('\\', "/")).case_insensitive(true).build().map_err(wrong)?);
    }
    set.build().map(Some).map_err(wrong)
}

pub(crate) fn run(args: &PruneArgs, context: &Context) -> Result<Exit, Stop> {
    let globs = matcher(&args.globs)?;
    let matches = |path: &str| globs.as_ref().is_some_and(|globs| globs.is_match(path.replace('\\', "/")));
    let targets = Targets::new(&args.drive);
    if args.missing && !targets.can_tell() {
        return Err(Stop::Usage(
            "--missing: the targets are on another machine; say where its drives are, such as --drive C=/mnt/c"
                .to_owned(),
        ));
    }
    targets.check_drives().map_err(Stop::Usage)?;
    let presence = |path: &str| targets.presence(path);
    let cutoff = |age: Age| {
        age.before_now().map(FileTime::from_timestamp).map_err(|error| Stop::Usage(format!("--older-than: {error}")))
    };
    let rules = PruneRules {
        keep: args.keep,
        by: if args.by == ByName::Score { By::Score } else { By::Recent },
        older_than: args.older_than.map(cutoff).transpose()?,
        ids: args.entries.iter().copied().collect(),
        matches: globs.is_some().then_some(&matches as &dyn Fn(&str) -> bool),
        presence: args.missing.then_some(&presence as &dyn Fn(&str) -> Presence),
        include_pinned: args.include_pinned,
        compact: args.compact,
    };
    if rules.is_empty() {
        return Err(Stop::Usage(
            "prune needs a rule that says what goes: --keep N, --older-than AGE, --match GLOB, --entry ID, --missing or --compact"
                .to_owned(),
        ));
    }
    let mut tally = Tally::default();
    let files = args.lists.gather(context, &mut tally)?;
    let mut session = Session::start(context, "pruned", args.dry_run, !args.no_backup, tally)?;
    for found in &files {
        if session.interrupted() {
            break;
        }
        if found.hint == Some(Kind::Custom) {
            if found.named {
                context.note(&format!(
                    "{}: a custom list, which its application writes: nothing to prune",
                    found.path.display()
                ));
            }
            continue;
        }
        session.change(&found.path, |data, change| planned(&found.path, data, found.hint, &rules, context, change));
    }
    if args.missing && targets.unknown() > 0 {
        context.note(&format!(
            "--missing: {} could not be looked up and {} kept",
            words::count(targets.unknown(), "target"),
            if targets.unknown() == 1 { "is" } else { "are" },
        ));
    }
    session.finish(args.format)
}

/// Why a list was not changed, and the command that helps: a repair where it would do something, else the option that
/// accepts the loss.
pub(crate) fn refusal(shown: &str, list: &JumpList<'_>, error: &plan::PlanError, context: &Context) -> String {
    let repair = || format!("Repair it first: jlfix repair {}", quoted_path(shown));
    match error {
        plan::PlanError::Damaged(why) => format!("{shown}: damaged ({why}); nothing was changed. {}", repair()),
        plan::PlanError::Unseen(unseen) => {
            let options = plan::RepairOptions { code_page: context.read.code_page, ..plan::RepairOptions::default() };
            let helps = matches!(plan::repair(list, &options, &context.read.limits), Ok(Some(_)));
            let remedy = if helps { repair() } else { "--include-pinned accepts that they may be lost".to_owned() };
            format!("{shown}: damaged, entries or pins may be lost: {unseen}; nothing was changed. {remedy}")
        }
        plan::PlanError::UnsupportedVersion(_) => format!(
            "{shown}: {error}; nothing was changed. jlfix backup create saves the list, jlfix delete removes it"
        ),
        error => format!("{shown}: {error}; nothing was changed"),
    }
}

/// The new file, if anything goes from `data`. Notes before, after and what goes in `change`.
fn planned(
    path: &Path,
    data: &[u8],
    hint: Option<Kind>,
    rules: &PruneRules<'_>,
    context: &Context,
    change: &mut FileChange,
) -> Result<Option<Vec<u8>>, String> {
    let shown = path.display();
    let source = Source::read(data, hint, &context.read);
    let compound = match &source {
        Some(Source::Automatic(Ok(compound))) => compound,
        Some(Source::Automatic(Err(short))) => return Err(format!("{shown}: damaged: {short}; nothing was changed")),
        _ => return Err(format!("{shown}: no automatic list: need a compound file; nothing was changed")),
    };
    let list = JumpList::read(compound);
    let before = plan::Size::of(&list);
    (change.before, change.after) = (Some(before.into()), Some(before.into()));
    let plan = plan::prune(&list, rules, &context.read.limits)
        .map_err(|error| refusal(&shown.to_string(), &list, &error, context))?;
    let Some(plan) = plan else { return Ok(None) };
    change.after = Some(plan.after.into());
    change.steps = plan
        .dropped
        .iter()
        .map(|dropped| Step {
            what: dropped.reason.to_string(),
            entry_id: Some(dropped.id),
            path: Some(dropped.path.to_string()),
            pinned: dropped.pinned,
            lost: true,
        })
        .collect();
    Ok(Some(plan.bytes))
}
