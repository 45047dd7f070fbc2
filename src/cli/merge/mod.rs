//! `jlfix merge`: several copies of one list into one; and with `--find`, the copies that there are.

mod find;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use jlfix::appid::AppId;
use jlfix::model::{AutomaticList, Kind, Source};
use jlfix::plan::{self, Input, Merge, RepairOptions};

use super::change::{FileChange, Session, Step};
use super::context::Context;
use super::exit::{Exit, Tally};
use super::input;
use super::options::{Format, Verbose};
use super::{Stop, words};

/// Merge copies of one list into one, with every pin and the newest use of each entry
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The result is the same in every order of the lists. The list that was used last keeps its ids
and the places of its pins. Damaged lists are repaired first, in memory. OUT is one of the lists,
or new; only OUT is written.

Examples:
  jlfix merge --find FOLDER
  jlfix merge --dry-run A B --into A
  jlfix merge A B C --into OUT

Lists whose names have different AppIDs are refused, unless --force is given.")]
pub(crate) struct MergeArgs {
    /// The lists to merge: two or more
    #[arg(required_unless_present = "find", conflicts_with = "find")]
    lists: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "OUT", required_unless_present = "find", conflicts_with = "find")]
    into: Option<PathBuf>,
    /// Find copies of one list under this folder, and say how to merge them; nothing is changed
    #[arg(long, value_name = "PATH")]
    find: Option<PathBuf>,
    /// Merge lists whose names are not of one application
    #[arg(long, conflicts_with = "find")]
    force: bool,
    /// Show what would be merged, and change nothing; exit code 1 if something would be
    #[arg(long, short = 'n', conflicts_with = "find")]
    dry_run: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    pub(crate) verbose: Verbose,
}

pub(crate) fn run(args: &MergeArgs, context: &Context) -> Result<Exit, Stop> {
    if let Some(root) = &args.find {
        return find::run(root, args.format, context);
    }
    let Some(out) = &args.into else { return Err(Stop::Usage("merge needs --into OUT".to_owned())) };
    if args.lists.len() < 2 {
        return Err(Stop::Usage("merge needs two lists or more; name OUT among them if it is to be one".to_owned()));
    }
    if !args.force {
        same_application(args.lists.iter().chain([out])).map_err(Stop::Usage)?;
    }
    let own = args.lists.iter().position(|list| is_same_file(list, out));
    if own.is_none() && std::fs::symlink_metadata(out).is_ok() {
        return Err(Stop::Usage(format!(
            "{}: there is a file of that name; name it among the lists, if what is in it is to stay, or choose another name",
            out.display()
        )));
    }
    let mut session = Session::start(context, "merged", args.dry_run, true, Tally::default())?;
    into(&args.lists, out, own, context, &mut session);
    session.finish(args.format)
}

/// Says what is not of one application. A name that tells of none contradicts nothing.
fn same_application<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<(), String> {
    let mut first: Option<(&PathBuf, AppId)> = None;
    for path in paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(id) = AppId::from_copy_name(&name) else { continue };
        match first {
            Some((other, known)) if known != id => {
                return Err(format!(
                    "{}: a list of another application ({id}) than {} ({known}); --force merges them all the same",
                    path.display(),
                    other.display()
                ));
            }
            Some(_) => {}
            None => first = Some((path, id)),
        }
    }
    Ok(())
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other
        || matches!((std::fs::canonicalize(one), std::fs::canonicalize(other)), (Ok(one), Ok(other)) if jlfix::os::is_same_path(&one, &other))
}

fn into(lists: &[PathBuf], out: &Path, own: Option<usize>, context: &Context, session: &mut Session<'_>) {
    // OUT is read where it is changed, so that nothing that is written to it meanwhile is lost.
    let others: Result<Vec<Vec<u8>>, String> = lists
        .iter()
        .map(|path| {
            let is_own = own.is_some() && is_same_file(path, out);
            if is_own { Ok(Vec::new()) } else { input::load(path, &context.read.limits).map(|loaded| loaded.data) }
        })
        .collect();
    let others = match others {
        Ok(others) => others,
        Err(message) => {
            session.add(FileChange::new(out, context), Err(message));
            return;
        }
    };
    session.edit(out, |content, change| {
        match (content, own) {
            (None, Some(_)) => return Err(format!("{}: it is gone; nothing was changed", out.display())),
            (Some(_), None) => return Err(format!("{}: a file came to be there; nothing was changed", out.display())),
            _ => {}
        }
        let data: Vec<(&Path, &[u8])> = lists
            .iter()
            .zip(&others)
            .map(|(path, data)| match content {
                Some(content) if own.is_some() && is_same_file(path, out) => (path.as_path(), content),
                _ => (path.as_path(), data.as_slice()),
            })
            .collect();
        let merged = merged(&data, own, context)?;
        change.before = merged.before;
        if own.is_some_and(|own| merged.is_same(own)) {
            change.after = change.before;
            return Ok(None);
        }
        change.after = Some(merged.plan.after.into());
        change.steps = merged.steps();
        Ok(Some(merged.plan.bytes))
    });
}

/// A merge, and what was done to the lists before it.
struct Merged {
    plan: Merge,
    /// For each list, what was mended in it.
    mended: Vec<(String, Vec<plan::Step>)>,
    /// The list that is written to, as it stands.
    before: Option<super::change::Figures>,
}

impl Merged {
    /// True if list `number` has the merged content already.
    fn is_same(&self, number: usize) -> bool {
        let untouched = self.mended.get(number).is_some_and(|(_, steps)| steps.is_empty());
        untouched && self.plan.same_as.contains(&number)
    }

    fn steps(&self) -> Vec<Step> {
        let mended = self.mended.iter().flat_map(|(name, steps)| {
            steps.iter().map(move |step| {
                Step::from(plan::Step { what: format!("repaired first in {name}: {}", step.what), ..step.clone() })
            })
        });
        mended.chain(self.plan.steps.iter().cloned().map(Step::from)).collect()
    }
}

/// Merges lists that are in memory. `own` is the one that is written to.
fn merged(lists: &[(&Path, &[u8])], own: Option<usize>, context: &Context) -> Result<Merged, String> {
    let limits = &context.read.limits;
    let mut mended = Vec::with_capacity(lists.len());
    let mut contents: Vec<Cow<'_, [u8]>> = Vec::with_capacity(lists.len());
    let mut before = None;
    let names: Vec<String> = lists.iter().map(|(path, _)| path.display().to_string()).collect();
    for (number, ((path, data), name)) in lists.iter().zip(&names).enumerate() {
        let source = Source::read(data, Kind::of_path(path), &context.read);
        let compound = match source {
            Some(Source::Automatic(Ok(compound))) => compound,
            Some(Source::Automatic(Err(short))) => {
                return Err(format!("{name}: damaged: {short}; nothing was changed"));
            }
            Some(Source::Custom(_)) => {
                return Err(format!(
                    "{name}: a custom list, which only its application can put together; nothing was changed"
                ));
            }
            _ => return Err(format!("{name}: no automatic list: need a compound file; nothing was changed")),
        };
        let list = AutomaticList::read(&compound);
        if own == Some(number) {
            before = Some(plan::Size::of(&list).into());
        }
        // What one copy has no link for, another may.
        let rules = RepairOptions::default().keep_linkless(true).code_page(context.read.code_page);
        match plan::repair(&list, &rules, limits) {
            Ok(None) => {
                contents.push(Cow::Borrowed(data));
                mended.push((name.clone(), Vec::new()));
            }
            Ok(Some(repair)) => {
                let count = words::count(repair.steps.len(), "thing");
                context.note(&format!("{name}: damaged; {count} repaired before it is merged"));
                contents.push(Cow::Owned(repair.bytes));
                mended.push((name.clone(), repair.steps));
            }
            Err(error) => return Err(format!("{name}: {error}; nothing was changed")),
        }
    }
    let compounds: Result<Vec<_>, _> = contents.iter().map(|data| jlfix::salvage::read(data, limits)).collect();
    let compounds = compounds.map_err(|short| format!("a list cannot be read: {short}"))?;
    let joined: Vec<_> = compounds.iter().map(AutomaticList::read).collect();
    let inputs: Vec<_> = joined.iter().zip(&names).map(|(list, name)| Input { name, list }).collect();
    let plan = plan::merge(&inputs, limits).map_err(|error| error.to_string())?;
    Ok(Merged { plan, mended, before })
}
