//! `jlfix restore`: undoes changes and does them again; what it replaces is saved first, so that this can be undone too.

use std::collections::HashSet;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use jlfix::os::is_same_path;
use jlfix::store::{self, Action, History, Manifest, Outcome, Record, RunId, Store};

use super::backup::figures;
use super::change::{FileChange, Session, Status, options, store as open_store};
use super::context::Context;
use super::exit::{Exit, Tally};
use super::options::{Format, Verbose};
use super::runs::find_run;
use super::{Stop, live, output, words};

/// Undo the last change that is not undone yet, or restore what a run saved
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each file has its own history. `restore` undoes the newest change, `restore` again the one before
it, `restore --redo` does the last undone one again. A new change ends redo; the copies stay.
`restore RUN` brings back what a run saved, as a change of its own.

Examples:
  jlfix restore                                undo the last change
  jlfix restore --redo                         do it again
  jlfix restore 20261130T184501                restore what this run saved
  jlfix restore --file f01b4d95cf55d32a.automaticDestinations-ms
  jlfix restore --to FOLDER                    write copies there, change nothing")]
pub(crate) struct RestoreArgs {
    /// The run, by its id or the start of it, or `latest`; the last change if none is named
    id: Option<String>,
    /// Only this file: its name or its path; may be repeated
    #[arg(long, value_name = "NAME")]
    file: Vec<PathBuf>,
    /// Do again what was undone last
    #[arg(long, conflicts_with_all = ["id", "to"])]
    redo: bool,
    /// Undo in the store of every user of this machine, each for that user's files (Windows)
    #[arg(long, conflicts_with_all = ["id", "to", "file"])]
    all_users: bool,
    /// Write the files under this folder instead of where they were
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Restore files that another program has changed since, without asking
    #[arg(long)]
    force: bool,
    /// Show what would be done, and change nothing; exit code 1 if something would
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    pub(crate) verbose: Verbose,
}

impl RestoreArgs {
    /// True for a file that `--file` names, or for every file without it.
    fn wants(&self, path: &Path) -> bool {
        let is_it = |file: &PathBuf| {
            let full = std::path::absolute(file).ok().and_then(|full| {
                // The file may be gone; its folder is not.
                let folder = std::fs::canonicalize(full.parent()?).ok()?;
                Some(folder.join(full.file_name()?))
            });
            is_same_path(path, file)
                || full.is_some_and(|full| is_same_path(path, &full))
                || file.components().count() == 1 && path.file_name() == Some(file.as_os_str())
        };
        self.file.is_empty() || self.file.iter().any(is_it)
    }
}

pub(crate) fn run(args: &RestoreArgs, context: &Context) -> Result<Exit, Stop> {
    if args.all_users {
        return all_users(args, context);
    }
    let store = open_store(context)?;
    if let Some(dir) = &args.to {
        // A copy in a folder of the user's choice does no harm, wherever it comes from.
        let store = store.trusting(true);
        let manifest = match &args.id {
            Some(text) => load(&store, &find_run(&store, text)?)?,
            None => newest(&store)?,
        };
        return copy_to(&store, &manifest, &wanted(args, &manifest)?, dir, args, context);
    }
    if let Some(text) = &args.id {
        let manifest = load(&store, &find_run(&store, text)?)?;
        let records: Vec<Record> = wanted(args, &manifest)?.into_iter().cloned().collect();
        let session = Session::in_store(context, &store, "restored", args.dry_run)?;
        return put_back(&store, session, (&manifest.id, &records, &[]), args, context);
    }
    step(&store, args, context)?.ok_or_else(|| nothing_to_do(&store, args))
}

/// Undoes the last change in the store of each user, or does it again.
fn all_users(args: &RestoreArgs, context: &Context) -> Result<Exit, Stop> {
    if args.format == Format::Json {
        return Err(Stop::Usage("--all-users prints one report per user: use --format jsonl".to_owned()));
    }
    let mut exits = Vec::new();
    let mut stores = 0_usize;
    for profile in live::user_profiles()? {
        let name = profile.folder.display().to_string();
        let store = Store::of_profile(profile).trusting(context.trust_store);
        match std::fs::metadata(store.root()) {
            Ok(_) => stores += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                output::error(&format!("{}: {error}", store.root().display()));
                exits.push(Exit::Nothing);
                continue;
            }
        }
        if args.format == Format::Table {
            output::people(&format!("{}\n", words::harmless(&name)))?;
        }
        match step(&store, args, context) {
            Ok(Some(exit)) => exits.push(exit),
            Ok(None) => context.note(&format!("{name}: no change to undo or redo")),
            Err(Stop::Nothing(error)) => {
                output::error(&error);
                exits.push(Exit::Nothing);
            }
            Err(stop) => return Err(stop),
        }
    }
    if stores == 0 && exits.is_empty() {
        return Err(Stop::Nothing("no user of this machine has a backup store".to_owned()));
    }
    Ok(Exit::of_all(&exits))
}

fn nothing_to_do(store: &Store, args: &RestoreArgs) -> Stop {
    let what = if args.redo { "no undone change to do again" } else { "no change to undo" };
    let of: Vec<String> = args.file.iter().map(|file| file.display().to_string()).collect();
    let of = if of.is_empty() { String::new() } else { format!(" of {}", of.join(", ")) };
    Stop::Nothing(format!("{what}{of} in {}", store.root().display()))
}

/// Undoes a change, or does it again. `None` if there is none.
fn step(store: &Store, args: &RestoreArgs, context: &Context) -> Result<Option<Exit>, Stop> {
    let verb = if args.redo { "restored again" } else { "restored" };
    // The run holds the lock of the store, so that nobody's change is taken for one that was killed.
    let mut session = Session::in_store(context, store, verb, args.dry_run)?;
    let limits = &context.read.limits;
    let history = History::read(store, limits).map_err(|error| Stop::Nothing(error.to_string()))?;
    for (id, why) in &history.unreadable {
        context.note(&format!("run {id} cannot be read and is left out: {why}"));
    }
    for id in &history.killed_early {
        context.note(&format!("run {id} was killed before it changed a file; nothing of it is to be undone"));
        if let Some(run) = session.run() {
            store.discard(run, id).map_err(|error| Stop::Nothing(error.to_string()))?;
        }
    }
    let wants = |path: &Path| args.wants(path);
    let action = if args.redo { history.to_redo(wants, limits) } else { history.to_undo(wants, limits) };
    let Some(action) = action else { return Ok(None) };
    announce(&action, args)?;
    let (records, refused) = permitted(&action, args);
    if let Some(run) = session.run() {
        run.set_kind(action.kind.clone());
    }
    for (path, why) in refused {
        session.add(FileChange::new(&path, context), Err(why));
    }
    put_back(store, session, (&action.source, &records, &action.foreign), args, context).map(Some)
}

/// Says what is undone or done again, before it is.
fn announce(action: &Action, args: &RestoreArgs) -> Result<(), Stop> {
    if args.format != Format::Table {
        return Ok(());
    }
    let what = match (args.redo, args.dry_run) {
        (false, false) => "Undoing",
        (false, true) => "Would undo",
        (true, false) => "Doing again",
        (true, true) => "Would do again",
    };
    let when = action.change.moment().map(|moment| moment.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default();
    let killed = if action.killed { ", which was killed" } else { "" };
    let command = words::shortened(&action.command, 60);
    let files = words::count(action.records.len(), "file");
    output::people(&format!("{what}: {} ({when} UTC, {files}{killed})\n", words::harmless(&command)))?;
    Ok(())
}

/// The records to restore. Those of files that another program has changed since need a yes on a terminal, or `--force`.
fn permitted(action: &Action, args: &RestoreArgs) -> (Vec<Record>, Vec<(PathBuf, String)>) {
    let (mut records, mut refused) = (Vec::new(), Vec::new());
    for record in &action.records {
        if !action.foreign.contains(&record.path) || args.dry_run || args.force {
            records.push(record.clone());
            continue;
        }
        let shown = record.path.display().to_string();
        if io::stdin().is_terminal() && io::stderr().is_terminal() && ask(&shown) {
            records.push(record.clone());
        } else {
            let why = format!(
                "{shown}: changed by another program since; nothing was changed. --force restores it all the same"
            );
            refused.push((record.path.clone(), why));
        }
    }
    (records, refused)
}

fn ask(path: &str) -> bool {
    eprint!(
        "{} was changed by another program since. Save its present state and restore it? [y/N] ",
        words::harmless(path)
    );
    let _ = io::stderr().flush();
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn wanted<'m>(args: &RestoreArgs, manifest: &'m Manifest) -> Result<Vec<&'m Record>, Stop> {
    let records: Vec<&Record> = manifest.files.iter().filter(|record| args.wants(&record.path)).collect();
    if records.is_empty() && !args.file.is_empty() {
        let names: Vec<String> = args.file.iter().map(|file| file.display().to_string()).collect();
        return Err(Stop::Nothing(format!("run {} has no file {}", manifest.id, names.join(", "))));
    }
    Ok(records)
}

fn load(store: &Store, id: &RunId) -> Result<Manifest, Stop> {
    store.load(id).map_err(|error| Stop::Nothing(error.to_string()))
}

/// The newest run that can be read.
fn newest(store: &Store) -> Result<Manifest, Stop> {
    let runs = store.list().map_err(|error| Stop::Nothing(error.to_string()))?;
    let newest = runs.into_iter().find_map(|run| run.manifest.ok().filter(|manifest| !manifest.files.is_empty()));
    newest.ok_or_else(|| Stop::Nothing(format!("no backups in {}", store.root().display())))
}

/// Restores records of the run `id`, from last to first. `foreign` are files that another program changed since.
fn put_back(
    store: &Store,
    mut session: Session<'_>,
    (id, records, foreign): (&RunId, &[Record], &[PathBuf]),
    args: &RestoreArgs,
    context: &Context,
) -> Result<Exit, Stop> {
    session.expect(records.len());
    for record in records.iter().rev() {
        if session.interrupted() {
            break;
        }
        let mut change = FileChange::new(&record.path, context);
        let now = jlfix::os::read_whole(&record.path, &context.read.limits).ok();
        change.before = figures(now.as_deref(), &change, context);
        let saved = record.saved.as_ref().and_then(|saved| store.read_saved(id, saved, &context.read.limits).ok());
        change.after = figures(saved.as_deref(), &change, context);
        let dry_run = session.dry_run;
        let mut options = options(context, dry_run);
        options.any_file = context.trust_store;
        let result = store::restore(store, id, record, &options, session.run());
        let result = match result {
            Ok(Outcome::Unchanged) => Ok(()),
            Ok(_) => {
                if foreign.contains(&record.path) {
                    let (is, brings) = if dry_run { ("would be", "would bring") } else { ("is", "brings") };
                    context.note(&format!(
                        "{}: changed by another program since; its present state {is} saved, and `jlfix restore{}` {brings} it back",
                        record.path.display(),
                        if args.redo { "" } else { " --redo" }
                    ));
                }
                change.status = if dry_run { Status::WouldChange } else { Status::Changed };
                session.check_writable(&record.path)
            }
            Err(error) => {
                let gone = record.path.parent().is_some_and(|folder| !folder.is_dir());
                let hint = if gone { "; its folder is gone: restore --to DIR writes it elsewhere" } else { "" };
                Err(format!("{error}{hint}"))
            }
        };
        session.add(change, result);
    }
    session.undone_by(match (args.id.is_some(), args.redo, args.all_users) {
        (true, ..) => None,
        (_, true, false) => Some("restore"),
        (_, false, false) => Some("restore --redo"),
        (_, true, true) => Some("restore --all-users"),
        (_, false, true) => Some("restore --all-users --redo"),
    });
    session.finish(args.format)
}

/// Writes copies of the records below `dir`, and changes nothing else.
fn copy_to(
    store: &Store,
    manifest: &Manifest,
    records: &[&Record],
    dir: &Path,
    args: &RestoreArgs,
    context: &Context,
) -> Result<Exit, Stop> {
    let mut session = Session::start(context, "written", args.dry_run, false, Tally::default())?;
    session.listed();
    let mut places = HashSet::new();
    for record in records.iter().rev() {
        let Some(saved) = &record.saved else {
            context.note(&format!("{}: was not there, so there is nothing to write", record.path.display()));
            continue;
        };
        if session.interrupted() {
            break;
        }
        let written = if args.dry_run {
            let content = store.read_saved(&manifest.id, saved, &context.read.limits);
            content.map(|_| Some(place_of_copy(record, dir, &mut places)))
        } else {
            store::restore_to(store, &manifest.id, record, &options(context, false), dir)
        };
        let (place, result) = match written {
            Ok(place) => (place, Ok(())),
            Err(error) => (None, Err(error.to_string())),
        };
        let mut change = FileChange::new(place.as_deref().unwrap_or(&record.path), context);
        if result.is_ok() {
            change.status = if args.dry_run { Status::WouldChange } else { Status::Changed };
            let content = store.read_saved(&manifest.id, saved, &context.read.limits).ok();
            change.after = figures(content.as_deref(), &change, context);
            if args.format == Format::Table {
                let place = words::harmless(&change.path);
                output::people(&format!("{}{place}\n", if args.dry_run { "would write " } else { "" }))?;
            }
        }
        session.add(change, result);
    }
    session.finish(args.format)
}

/// Where [`store::restore_to`] will write a copy of `record`. `places` are those of the records before it.
fn place_of_copy(record: &Record, dir: &Path, places: &mut HashSet<PathBuf>) -> PathBuf {
    let dir = std::fs::canonicalize(dir).or_else(|_| std::path::absolute(dir)).unwrap_or_else(|_| dir.to_owned());
    let folder = record.path.parent().and_then(Path::file_name).unwrap_or("root".as_ref());
    let name = record.path.file_name().unwrap_or_default();
    for number in 1.. {
        let mut folder = folder.to_owned();
        if number > 1 {
            folder.push(format!("-{number}"));
        }
        let folder = dir.join(folder);
        let usable = std::fs::symlink_metadata(&folder).map_or(true, |facts| facts.is_dir());
        let place = folder.join(name);
        if usable && std::fs::symlink_metadata(&place).is_err() && places.insert(place.clone()) {
            return place;
        }
    }
    dir.join(folder).join(name)
}
