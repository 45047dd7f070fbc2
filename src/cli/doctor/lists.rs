//! What the lists themselves say: how large, how dear, what is wrong with them, and what lies about beside them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jlfix::model::Kind;
use jlfix::plan::TargetStatus;
use jlfix::replay::{self, Cache, Pattern};
use jlfix::report::{self, FileRow, LinkDetail, SLOW_MS};
use jlfix::scan::{self, CopyGroup, Found};

use super::drives::{self, SlowDrives};
use super::settings::Build;
use super::{Check, State, words};
use crate::cli::change;
use crate::cli::context::Context;
use crate::cli::exit::Tally;
use crate::cli::input::{self, View};
use crate::cli::lists::Lists;
use crate::cli::presence::{Drive, Targets};
use crate::cli::words::quoted;
use crate::cli::{Stop, live};

/// How many newest entries the advice keeps.
const ADVISED_KEEP: usize = 50;
/// How many files a line names.
const NAMED: usize = 3;
/// Rounds of the measured click; the median counts.
const ROUNDS: usize = 3;

/// What is kept of a file.
pub(super) struct List {
    path: PathBuf,
    name: String,
    kind: Kind,
    size: u64,
    entries: usize,
    pinned: usize,
    reads: u64,
    ms: f64,
    state: report::State,
    /// What became of the targets of a custom list.
    targets: Option<TargetsOf>,
    drives: SlowDrives,
}

/// The targets of a custom list, as far as they can be looked for.
#[derive(Debug, Clone, Copy, Default)]
struct TargetsOf {
    missing: usize,
    others: usize,
}

/// All that was looked at.
pub(super) struct Looked {
    lists: Vec<List>,
    failed: usize,
    found: usize,
    can_tell_targets: bool,
}

impl Looked {
    /// Entries of all lists, as `scan` counts them.
    pub(super) fn entries(&self) -> usize {
        self.lists.iter().map(|list| list.entries).sum()
    }

    /// Name, path and counts of each list.
    pub(super) fn slow_drives(&self) -> impl Iterator<Item = (&str, &Path, SlowDrives)> {
        self.lists.iter().map(|list| (list.name.as_str(), list.path.as_path(), list.drives))
    }

    fn automatic(&self) -> impl Iterator<Item = &List> {
        self.lists.iter().filter(|list| list.kind == Kind::Automatic)
    }

    fn in_state(&self, state: report::State) -> Vec<&List> {
        self.lists.iter().filter(|list| list.state == state).collect()
    }

    fn worst(&self) -> Option<&List> {
        self.automatic().max_by_key(|list| list.reads)
    }
}

/// Reads the lists.
pub(super) fn look(files: &[Found], drives: &[Drive], context: &Context, tally: &mut Tally) -> Result<Looked, Stop> {
    let targets = Targets::new(drives);
    let options = context.report().entries(LinkDetail::Target);
    let mut looked = Looked { lists: Vec::new(), failed: 0, found: files.len(), can_tell_targets: targets.can_tell() };
    let each = |view: View<'_>| {
        let row = view.row;
        List {
            path: PathBuf::new(),
            name: row.app_name.clone().unwrap_or_else(|| row.app_id.map_or_else(String::new, |id| id.to_string())),
            kind: row.kind,
            size: row.size,
            entries: row.entries_count,
            pinned: row.pinned_count.unwrap_or(0),
            reads: row.cost.map_or(0, |cost| cost.reads),
            ms: row.estimated_ms(),
            state: row.state,
            drives: SlowDrives::of(row),
            targets: (row.kind == Kind::Custom && targets.can_tell()).then(|| targets_of(row, &targets)),
        }
    };
    input::view_all(files, context, &options, tally, each, |found, list| {
        looked.lists.push(List { path: found.path.clone(), ..list });
        Ok(())
    })?;
    looked.failed = tally.failed;
    Ok(looked)
}

fn targets_of(row: &FileRow<'_>, targets: &Targets<'_>) -> TargetsOf {
    let mut counts = TargetsOf::default();
    for link in row.entries.iter().flatten().filter_map(|entry| entry.link()) {
        match link.link.local_path().map(|path| targets.status(&path)) {
            Some(TargetStatus::Missing) => counts.missing += 1,
            _ => counts.others += 1,
        }
    }
    counts
}

/// Everything about the lists that `args` select, which were found in `paths`.
pub(super) fn checks(
    looked: &Looked,
    args: &Lists,
    paths: &[PathBuf],
    build: Option<&Build>,
    context: &Context,
) -> Vec<Check> {
    let folders = folders(looked, paths);
    let mut checks = vec![sizes(looked)];
    checks.extend(clicks(looked, build, context));
    checks.push(damaged(looked));
    checks.push(unreadable(looked));
    checks.push(copies(looked, &roots(paths), !args.apps.app.is_empty(), context));
    checks.push(leftovers(&folders));
    checks.push(space(looked, context));
    checks.push(custom_targets(looked));
    checks.push(drives::slow_drives(looked));
    checks
}

/// The folders that lists lie in, and those that were named.
fn folders(looked: &Looked, paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let parents = looked.lists.iter().filter_map(|list| list.path.parent()).map(Path::to_owned);
    let mut folders: BTreeSet<PathBuf> = parents.chain(paths.iter().filter(|path| path.is_dir()).cloned()).collect();
    if paths.is_empty() {
        folders.extend(live::folders().unwrap_or_default());
    }
    folders
}

/// The folders that copies are looked for in: those that were named, or the live user's.
fn roots(paths: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() {
        return live::folders().unwrap_or_default();
    }
    paths.iter().filter(|path| path.is_dir()).cloned().collect()
}

fn sizes(looked: &Looked) -> Check {
    let of = |kind: Kind| {
        let lists: Vec<&List> = looked.lists.iter().filter(|list| list.kind == kind).collect();
        let bytes = lists.iter().map(|list| list.size).sum();
        format!("{} of {}", words::count(lists.len(), &format!("{} list", kind.word())), words::size(bytes))
    };
    let found = if looked.lists.is_empty() {
        "There are no jump lists".to_owned()
    } else {
        format!(
            "{} and {} together, with {}",
            of(Kind::Automatic),
            of(Kind::Custom),
            words::count(looked.entries(), "entry")
        )
    };
    Check::new("folders", State::Fine, found)
}

fn clicks(looked: &Looked, build: Option<&Build>, context: &Context) -> Vec<Check> {
    let Some(worst) = looked.worst().filter(|worst| worst.reads > 0) else {
        let why = "there is no automatic list with anything in it";
        return ["worst_list", "predicted_click", "measured_click"]
            .map(|id| Check::new(id, State::Skipped, why))
            .into();
    };
    let first = Check::new(
        "worst_list",
        State::Fine,
        format!(
            "The most expensive list is {}'s: {} in {}, {}",
            worst.name,
            words::count(worst.entries, "entry"),
            words::size(worst.size),
            worst.path.display()
        ),
    );
    let predicted = predicted(looked, worst, build);
    let measured = measured(worst, predicted.state, context);
    vec![first, predicted, measured]
}

fn predicted(looked: &Looked, worst: &List, build: Option<&Build>) -> Check {
    let id = "predicted_click";
    let slow = looked.automatic().filter(|list| list.ms >= SLOW_MS).count();
    let click = format!(
        "a right-click on it makes {} reads, about {}, where Windows reads piece by piece",
        words::number(worst.reads),
        words::milliseconds(worst.ms)
    );
    if slow == 0 {
        return Check::new(id, State::Fine, format!("Predicted: {click}: not slow"));
    }
    let slow = format!("{} so expensive that a click is slow", words::count(slow, "list"));
    let goes = worst.entries.saturating_sub(worst.pinned).saturating_sub(ADVISED_KEEP);
    let fix = format!("jlfix prune --keep {ADVISED_KEEP} {}", words::quoted_path(&worst.path.display().to_string()));
    let cost = format!(
        "{} of {} go, no pinned one; saved first, and `jlfix restore` brings them back",
        words::number(goes as u64),
        words::count(worst.entries, "entry")
    );
    let check = match build {
        Some(build) if build.is_fixed() => Check::new(
            id,
            State::Notice,
            format!("Predicted: {slow}: {click}. This build does not, says Microsoft; the list is large all the same"),
        ),
        _ => Check::new(id, State::Problem, format!("Predicted: {slow}: {click}")),
    };
    check.fix(fix, cost)
}

/// The click's reads made for real, as `jlfix replay` does. Few milliseconds here say nothing against what is `predicted`
/// for Explorer, which does more than read.
fn measured(worst: &List, predicted: State, context: &Context) -> Check {
    let id = "measured_click";
    let found = Found { path: worst.path.clone(), hint: Some(Kind::Automatic), named: true };
    let options = context.report();
    let calls = input::view(&found, context, &options, |view| {
        Some((replay::calls(Pattern::Explorer, view.row.size, view.list)?, view.row.size))
    });
    let (calls, size) = match calls {
        Ok(Some(calls)) => calls,
        Ok(None) => return Check::new(id, State::Skipped, "the list cannot be walked as Explorer does"),
        Err(error) => return Check::new(id, State::Skipped, error),
    };
    let timings = std::fs::File::open(&worst.path)
        .and_then(|file| replay::replay(&file, size, &[(Pattern::Explorer, calls)], ROUNDS, Cache::Warm));
    let timing = match timings.as_deref() {
        Ok([timing]) => timing,
        Ok(_) => return Check::new(id, State::Skipped, "nothing was measured"),
        Err(error) => return Check::new(id, State::Skipped, format!("{}: cannot read: {error}", worst.path.display())),
    };
    let ms = timing.seconds * 1e3;
    let state = if ms >= SLOW_MS || predicted != State::Fine { State::Notice } else { State::Fine };
    let found = format!(
        "Measured: those {} reads take {} here ({:.2} µs each), without Explorer's own work; jlfix replay measures more",
        words::number(timing.calls),
        words::milliseconds(ms),
        timing.microseconds_per_call()
    );
    Check::new(id, state, found)
}

/// The first few paths of many.
fn named<'p>(paths: impl ExactSizeIterator<Item = &'p Path>) -> String {
    let more = paths.len().saturating_sub(NAMED);
    let mut shown: Vec<String> = paths.take(NAMED).map(|path| path.display().to_string()).collect();
    if more > 0 {
        shown.push(format!("{} more", words::number(more as u64)));
    }
    shown.join(", ")
}

fn damaged(looked: &Looked) -> Check {
    let id = "damaged";
    let (damaged, stale) = (looked.in_state(report::State::Damaged), looked.in_state(report::State::Stale));
    let (state, lists, what) = match (damaged.as_slice(), stale.as_slice()) {
        ([], []) => return Check::new(id, State::Fine, "No list is damaged"),
        ([], stale) => (State::Notice, stale, "Out of step, with nothing lost"),
        (damaged, _) => (State::Problem, damaged, "Damaged"),
    };
    let found = format!(
        "{what}: {}: {}",
        words::count(lists.len(), "list"),
        named(lists.iter().map(|list| list.path.as_path()))
    );
    let fix = match lists {
        [list] => format!("jlfix repair {}", words::quoted_path(&list.path.display().to_string())),
        _ => "jlfix check reports the damage of each, and the command that repairs it".to_owned(),
    };
    let price = "what cannot be read is lost; the file is saved first as it is. Windows writes lists in place, so one that was \
                 being written when the machine lost power, or a copy of a profile was made, stays half written";
    Check::new(id, state, found).fix(fix, price)
}

fn unreadable(looked: &Looked) -> Check {
    let id = "unreadable";
    if looked.failed == 0 {
        let found = format!("All that was found could be read ({})", words::count(looked.found, "file"));
        return Check::new(id, State::Fine, found);
    }
    let found = format!("{} could not be looked at; the messages above say why", words::count(looked.failed, "place"));
    Check::new(id, State::Problem, found)
}

/// Copies of one user's list, as `merge --find` finds them; if applications were `selected`, only of their lists.
fn copies(looked: &Looked, roots: &[PathBuf], selected: bool, context: &Context) -> Check {
    let id = "copies";
    let store = change::store(context).ok().map(|store| store.root().to_owned());
    let groups: Vec<(&PathBuf, CopyGroup)> = roots
        .iter()
        .flat_map(|root| scan::find_copies(root, store.as_deref()).0.into_iter().map(move |group| (root, group)))
        .filter(|(_, group)| !selected || looked.lists.iter().any(|list| group.files.contains(&list.path)))
        .collect();
    let Some((root, _)) = groups.first() else {
        return Check::new(id, State::Fine, "There are no copies of lists");
    };
    let files: Vec<&PathBuf> = groups.iter().flat_map(|(_, group)| &group.files).collect();
    let found = format!(
        "{} with copies: {}",
        words::count(groups.len(), "list"),
        named(files.into_iter().map(PathBuf::as_path))
    );
    // One command looks through one folder.
    Check::new(id, State::Notice, found).fix(
        format!("jlfix merge --find {}", quoted(&root.display().to_string())),
        "nothing: it only shows how to merge them, and a merge saves the list first",
    )
}

/// Temporary files that a killed run left.
fn leftovers(folders: &BTreeSet<PathBuf>) -> Check {
    let id = "leftovers";
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(".jlfix-") && name.ends_with(".tmp")
    };
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let left: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_ours).collect();
    if left.is_empty() {
        return Check::new(id, State::Fine, "No temporary file was left behind");
    }
    let found = format!(
        "{} of a jlfix that was killed, or of one that is at work: {}",
        words::count(left.len(), "temporary file"),
        named(left.iter().map(PathBuf::as_path))
    );
    Check::new(id, State::Notice, found).fix(
        "the next jlfix prune or jlfix repair of a list in that folder removes them",
        "nothing: the lists are whole without them",
    )
}

fn space(looked: &Looked, context: &Context) -> Check {
    let id = "backup_space";
    let store = match change::store(context) {
        Ok(store) => store,
        Err(Stop::Usage(why) | Stop::Nothing(why)) => return Check::new(id, State::Problem, why),
        Err(Stop::Output(error)) => return Check::new(id, State::Problem, error.to_string()),
        Err(Stop::Interrupted) => return Check::new(id, State::Skipped, "interrupted"),
    };
    let need: u64 = looked.lists.iter().map(|list| list.size).sum();
    let root = store.root();
    // The store is made when it is first used.
    let there = root.ancestors().find(|folder| folder.is_dir());
    let free = there.ok_or_else(|| "no folder above it is there".to_owned());
    let free = free.and_then(|folder| jlfix::os::free_space(folder).map_err(|error| error.to_string()));
    match free {
        Err(error) => Check::new(
            id,
            State::Skipped,
            format!("the free space for backups in {} is not known: {error}", root.display()),
        ),
        // A prune needs the list, its backup and its successor side by side.
        Ok(free) if free < need.saturating_mul(2) => Check::new(
            id,
            State::Problem,
            format!(
                "Only {} are free for backups in {}; the lists are {}",
                words::size(free),
                root.display(),
                words::size(need)
            ),
        )
        .fix("jlfix backup drop --keep-last 3", "what older runs saved, for good"),
        Ok(free) => {
            Check::new(id, State::Fine, format!("{} are free for backups in {}", words::size(free), root.display()))
        }
    }
}

fn custom_targets(looked: &Looked) -> Check {
    let id = "custom_targets";
    if !looked.can_tell_targets {
        let why = "the targets are on another machine; --drive C=/mnt/c says where its drives are";
        return Check::new(id, State::Skipped, why);
    }
    let is_gone = |list: &&List| list.targets.is_some_and(|targets| targets.missing > 0 && targets.others == 0);
    let gone: Vec<&List> = looked.lists.iter().filter(is_gone).collect();
    if gone.is_empty() {
        return Check::new(id, State::Fine, "No custom list has lost all its targets");
    }
    let names: Vec<String> =
        gone.iter().take(NAMED).map(|list| format!("{} ({})", list.name, list.path.display())).collect();
    let found = format!(
        "{} of which every target is gone; one like that can hide an application's recent items: {}",
        words::count(gone.len(), "custom list"),
        names.join(", ")
    );
    let paths: Vec<String> = gone.iter().map(|list| quoted(&list.path.display().to_string())).collect();
    Check::new(id, State::Notice, found).fix(
        format!("jlfix delete {}", paths.join(" ")),
        "the application's own part of its menu, until the application writes it again; saved first",
    )
}
