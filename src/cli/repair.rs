//! `jlfix repair`: mends what `check` finds, from what else is in the file.

use std::path::Path;

use jlfix::model::{AutomaticList, Kind, Severity, Source};
use jlfix::plan::{self, PlanError, RepairOptions};
use jlfix::scan::Found;

use super::Stop;
use super::change::{Figures, FileChange, Session, Step};
use super::context::Context;
use super::exit::{Exit, Tally};
use super::lists::Lists;
use super::options::{Format, Verbose};
use super::select::Select;
use super::words;

/// Repair damaged lists from what is left in them, with a backup
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Entries, pins and links are repaired from one another; what cannot be repaired is dropped and reported (-v lists all of it).
Healthy files are not touched, and neither is a file with nothing left in it, unless --reset is given.

Examples:
  jlfix repair --dry-run FOLDER
  jlfix repair FOLDER
  jlfix repair --reset FILE")]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    lists: Lists,
    #[command(flatten)]
    select: Select,
    /// Keep entries whose link is gone; Windows cannot open them
    #[arg(long)]
    keep_linkless: bool,
    /// Drop links whose entry is gone, instead of making one of what they say
    #[arg(long)]
    drop_orphans: bool,
    /// Make an empty list of a file in which nothing is left
    #[arg(long)]
    reset: bool,
    /// Show what would be repaired, and change nothing; exit code 1 if something would be
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    pub(crate) verbose: Verbose,
}

pub(crate) fn run(args: &RepairArgs, context: &Context) -> Result<Exit, Stop> {
    let rules = RepairOptions::default()
        .keep_linkless(args.keep_linkless)
        .drop_orphans(args.drop_orphans)
        .reset(args.reset)
        .code_page(context.read.code_page);
    let mut tally = Tally::default();
    let files = args.select.pick(args.lists.gather(context, &mut tally)?, context)?;
    let mut session = Session::start(context, "repaired", args.dry_run, true, tally)?;
    session.expect(files.len());
    for found in &files {
        if session.interrupted() {
            break;
        }
        let change =
            session.change(&found.path, |data, change| planned(&found.path, data, found.hint, &rules, context, change));
        if let Some(change) = change {
            tell_lost_pins(found, change, &rules, context);
        }
    }
    session.finish(args.format)
}

/// A pin is what people miss: one that goes is told at once, whatever else is.
fn tell_lost_pins(found: &Found, change: &FileChange, rules: &RepairOptions, context: &Context) {
    let lost = change.steps.iter().filter(|step| step.pinned && step.lost).count();
    if lost > 0 {
        let hint = if rules.keep_linkless { "" } else { "; --keep-linkless keeps those that only lack a link" };
        let pins = words::count(lost, "pinned entry");
        context.note(&format!("{}: {pins} could not be saved{hint}", found.path.display()));
    }
}

/// The new file, if anything in `data` is to be mended. Notes before, after and what is mended in `change`.
fn planned(
    path: &Path,
    data: &[u8],
    hint: Option<Kind>,
    rules: &RepairOptions,
    context: &Context,
    change: &mut FileChange,
) -> Result<Option<Vec<u8>>, String> {
    let shown = path.display();
    let limits = &context.read.limits;
    let hopeless = |why: &str| {
        format!("{shown}: nothing can be saved of it: {why}; left as it is. --reset makes it an empty list")
    };
    let plan = match Source::read(data, hint, &context.read) {
        Some(Source::Automatic(Ok(compound))) => {
            let list = AutomaticList::read(&compound);
            let size = plan::Size::of(&list);
            (change.before, change.after) = (Some(size.into()), Some(size.into()));
            plan::repair(&list, rules, limits).map_err(|error| match error {
                PlanError::NothingLeft { why, linkless: 0 } => hopeless(&why),
                PlanError::NothingLeft { why, .. } => hopeless(&format!("{why}; --keep-linkless keeps what has none")),
                error => super::prune::refusal(&shown.to_string(), &list, &error, context),
            })?
        }
        Some(Source::Automatic(Err(short))) if rules.reset => {
            Some(plan::empty_list(data.len() as u64, &short.to_string(), limits).map_err(|e| format!("{shown}: {e}"))?)
        }
        Some(Source::Automatic(Err(short))) => return Err(hopeless(&short.to_string())),
        Some(source @ Source::Custom(_)) => {
            change.before = Figures::of(data, hint, context);
            change.after = change.before;
            return match source.findings().into_iter().find(|finding| finding.severity() == Severity::Error) {
                None => Ok(None),
                Some(finding) => Err(format!(
                    "{shown}: {} ({}); left as it is. Only its application knows what belongs into a custom list: \
                     restore it from a backup, or let the application write it again",
                    finding.message, finding.code
                )),
            };
        }
        _ => return Err(format!("{shown}: no automatic list: need a compound file; left as it is")),
    };
    let Some(plan) = plan else { return Ok(None) };
    (change.before, change.after) = (Some(plan.before.into()), Some(plan.after.into()));
    change.steps = plan.steps.into_iter().map(Step::from).collect();
    Ok(Some(plan.bytes))
}
