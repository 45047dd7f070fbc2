//! `jlfix prune`: keeps the pins and the newest entries, drops the rest.

use std::path::Path;

use clap::ValueEnum;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use jlfix::format::time::FileTime;
use jlfix::model::{AutomaticList, Kind, Source};
use jlfix::plan::{self, DropReason, KeepBy, PruneRules, TargetStatus};

use super::Stop;
use super::age::{self, Age};
use super::change::{FileChange, Session, Step};
use super::context::Context;
use super::exit::{Exit, Tally};
use super::lists::Lists;
use super::options::{Format, Verbose};
use super::presence::{Drive, Targets};
use super::select::Select;
use super::words::{self, quoted_path};

/// The rules, in one sentence.
macro_rules! model {
    () => {
        "\
Keep rules (--keep, --keep-within) keep an entry if any of them does, and when there is one the
others are dropped; drop rules (--older-than, --match, --missing, --entry) drop entries as well;
pinned entries are kept unless --include-pinned is given."
    };
}

/// Keep every pin and the newest entries of each automatic list, drop the rest, with a backup
#[derive(Debug, clap::Args)]
#[command(after_help = concat!(model!(), "\n
Examples:
  jlfix prune --keep 50 --dry-run FOLDER
  jlfix prune --keep 20 --keep-within 90d FOLDER
  jlfix prune --keep 50 --only slow FOLDER"))]
#[command(after_long_help = concat!(model!(), " --compact drops nothing: it
rewrites a fragmented list in one piece, which takes fewer reads.

Examples:
  jlfix prune --keep 50 --dry-run FOLDER
  jlfix prune --keep 50 FOLDER
  jlfix prune --keep 20 --keep-within 90d FOLDER
  jlfix prune --keep 50 --only slow --larger-than 1MiB FOLDER
  jlfix prune --older-than 90d --match '*\\Temp\\*' FOLDER
  jlfix prune --keep 50 --app explorer FOLDER
  jlfix prune --entry 17 FILE
  jlfix prune --compact FOLDER"))]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    lists: Lists,
    /// Keep the N newest unpinned entries of each list, and every pinned one
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Keep the entries used within this time: 90d, 12w, 6mo, 2y
    ///
    /// Or since a date: 2026-01-31.
    #[arg(long, value_name = "AGE", value_parser = age::parse)]
    keep_within: Option<Age>,
    /// Drop entries last used longer ago than this: 90d, 12w, 6mo, 2y
    ///
    /// Or before a date: 2026-01-31.
    #[arg(long, value_name = "AGE", value_parser = age::parse)]
    older_than: Option<Age>,
    /// Drop entries whose path, link target or known folder matches
    ///
    /// The wildcards are * ? [..] {a,b}, in any case, and the pattern has to match all of the text. A pattern without
    /// wildcards matches every text that contains it. May be repeated.
    #[arg(long = "match", value_name = "GLOB")]
    globs: Vec<String>,
    /// Drop the entry with this id from the one list named; may be repeated
    ///
    /// `show` prints the ids. They count from 1 in each list, so exactly one list has to be meant.
    #[arg(long = "entry", value_name = "ID")]
    entries: Vec<u64>,
    /// Drop what points at a local file that is gone
    ///
    /// Only on a drive that is there, and in a folder that can be read.
    #[arg(long)]
    missing: bool,
    /// For --missing: where a drive of the list is on this machine, such as C=/mnt/c; may be repeated
    #[arg(long, value_name = "LETTER=DIR", requires = "missing", hide_short_help = true)]
    drive: Vec<Drive>,
    #[command(flatten)]
    select: Select,
    /// Which entries --keep prefers
    #[arg(long, value_enum, default_value = "recent", requires = "keep", hide_short_help = true)]
    by: ByName,
    /// Apply the rules to pinned entries too
    #[arg(long)]
    include_pinned: bool,
    /// Rewrite fragmented lists in one piece, even if no entry is dropped
    #[arg(long)]
    compact: bool,
    /// Show what would be dropped, and change nothing
    ///
    /// Exit code 1 if something would be dropped.
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Save nothing first: what goes is gone
    #[arg(long)]
    no_backup: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    pub(crate) verbose: Verbose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ByName {
    /// The last used
    Recent,
    /// The highest score
    Score,
}

/// The globs as one matcher. A pattern without wildcards matches anywhere in the text; both slashes are the same
/// character, so that a pattern needs no escapes.
fn matcher(globs: &[String]) -> Result<Option<GlobSet>, Stop> {
    if globs.is_empty() {
        return Ok(None);
    }
    let wrong = |error: globset::Error| Stop::Usage(format!("--match: {error}"));
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let glob = glob.replace('\\', "/");
        let glob = if glob.contains(['*', '?', '[', '{']) { glob } else { format!("*{glob}*") };
        set.add(GlobBuilder::new(&glob).case_insensitive(true).build().map_err(wrong)?);
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
    let status = |path: &str| targets.status(path);
    let ago = |option: &str, age: Option<Age>| {
        let time = age.map(|age| age.before_now().map(FileTime::from_timestamp)).transpose();
        time.map_err(|error| Stop::Usage(format!("{option}: {error}")))
    };
    let rules = PruneRules::new()
        .keep(args.keep)
        .keep_by(if args.by == ByName::Score { KeepBy::Score } else { KeepBy::Recent })
        .keep_within(ago("--keep-within", args.keep_within)?)
        .older_than(ago("--older-than", args.older_than)?)
        .ids(args.entries.iter().copied())
        .matching(globs.is_some().then_some(&matches as &dyn Fn(&str) -> bool))
        .missing(args.missing.then_some(&status as &dyn Fn(&str) -> TargetStatus))
        .include_pinned(args.include_pinned)
        .compact(args.compact)
        .code_page(context.read.code_page);
    if rules.is_empty() {
        return Err(Stop::Usage(
            "prune needs a rule that says what goes: --keep N, --keep-within AGE, --older-than AGE, --match GLOB, --entry ID, --missing or --compact"
                .to_owned(),
        ));
    }
    let mut tally = Tally::default();
    let files = args.select.pick(args.lists.gather(context, &mut tally)?, context)?;
    let lists = files.iter().filter(|found| found.hint != Some(Kind::Custom)).count();
    if !args.entries.is_empty() && lists > 1 {
        return Err(Stop::Usage(format!(
            "--entry: ids count from 1 in each list, and {lists} lists were found; name one file"
        )));
    }
    let mut effect = Effect::default();
    let mut session = Session::start(context, "pruned", args.dry_run, !args.no_backup, tally)?;
    session.expect(files.len());
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
        let mut here = Effect::default();
        session.change(&found.path, |data, change| {
            here = Effect::default();
            planned(&found.path, data, found.hint, &rules, context, change, &mut here)
        });
        effect.add(here);
    }
    effect.report(args, context);
    if lists == 0 && files.iter().any(|found| !found.named) {
        context.note(&format!(
            "{}, and no automatic list: only its application knows what belongs into a custom list, so prune changes none",
            words::count(files.len(), "custom list")
        ));
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
pub(crate) fn refusal(shown: &str, list: &AutomaticList<'_>, error: &plan::PlanError, context: &Context) -> String {
    let repair = || format!("Repair it first: jlfix repair {}", quoted_path(shown));
    match error {
        plan::PlanError::Damaged(why) => format!("{shown}: damaged ({why}); nothing was changed. {}", repair()),
        plan::PlanError::Unseen(unseen) => {
            let options = plan::RepairOptions::default().code_page(context.read.code_page);
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

/// What the drop rules selected, over all lists.
#[derive(Debug, Default, Clone, Copy)]
struct Effect {
    /// Lists that were planned.
    lists: usize,
    /// Entries that a pattern matched.
    matched: usize,
    /// Pinned entries that match a pattern or have no target, and that were kept.
    kept_pins: usize,
}

impl Effect {
    fn of(plan: &plan::Plan<'_>) -> Self {
        let selected = plan.dropped.iter().chain(&plan.kept_pins);
        Self {
            lists: 1,
            matched: selected.filter(|entry| matches!(entry.reason, DropReason::Match(_))).count(),
            kept_pins: plan
                .kept_pins
                .iter()
                .filter(|entry| matches!(entry.reason, DropReason::Match(_) | DropReason::TargetMissing))
                .count(),
        }
    }

    fn add(&mut self, other: Self) {
        self.lists += other.lists;
        self.matched += other.matched;
        self.kept_pins += other.kept_pins;
    }

    /// Notes what was named and had no effect.
    fn report(self, args: &PruneArgs, context: &Context) {
        if !args.globs.is_empty() && self.matched == 0 && self.lists > 0 {
            context.note("--match: no entry matches");
        }
        if self.kept_pins > 0 {
            let entries = words::count(self.kept_pins, "pinned entry");
            let (verb, them) = if self.kept_pins == 1 { ("is", "it") } else { ("are", "them") };
            context.note(&format!("{entries} selected by a rule {verb} kept; --include-pinned drops {them}"));
        }
    }
}

/// Why ids that were named had no effect; `None` if all of them had.
fn ids_without_effect(plan: &plan::Plan<'_>) -> Option<String> {
    let pinned = plan.kept_pins.iter().filter(|entry| entry.reason == DropReason::Id);
    let pinned = pinned.map(|entry| format!("entry {} is pinned and was kept (--include-pinned drops it)", entry.id));
    let unknown = plan.unknown_ids.iter().map(|id| format!("no entry has the id {id}"));
    let reasons: Vec<String> = pinned.chain(unknown).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// The new file, if anything is dropped from `data`. Notes before, after and what is dropped in `change`.
fn planned(
    path: &Path,
    data: &[u8],
    hint: Option<Kind>,
    rules: &PruneRules<'_>,
    context: &Context,
    change: &mut FileChange,
    effect: &mut Effect,
) -> Result<Option<Vec<u8>>, String> {
    let shown = path.display();
    let source = Source::read(data, hint, &context.read);
    let compound = match &source {
        Some(Source::Automatic(Ok(compound))) => compound,
        Some(Source::Automatic(Err(short))) => return Err(format!("{shown}: damaged: {short}; nothing was changed")),
        _ => return Err(format!("{shown}: no automatic list: need a compound file; nothing was changed")),
    };
    let list = AutomaticList::read(compound);
    let before = plan::Size::of(&list);
    (change.before, change.after) = (Some(before.into()), Some(before.into()));
    let plan = plan::prune(&list, rules, &context.read.limits)
        .map_err(|error| refusal(&shown.to_string(), &list, &error, context))?;
    *effect = Effect::of(&plan);
    let without_effect = ids_without_effect(&plan).map(|why| format!("{shown}: {why}"));
    if let Some(why) = without_effect {
        if plan.bytes.is_none() {
            return Err(why);
        }
        change.error = Some(why);
    }
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
    Ok(plan.bytes)
}
