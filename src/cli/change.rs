//! What the commands that change files share: the run in the backup store, a line a file with before and after, and at
//! the end the one command that undoes it.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use jlfix::appid::AppId;
use jlfix::error::Error;
use jlfix::model::Kind;
use jlfix::store::{self, Decision, OnBusy, Options, Outcome, Run, RunId, Store};
use serde::Serialize;

pub(crate) use super::command_line::command;
use super::context::Context;
use super::exit::{Exit, Tally};
pub(crate) use super::figures::Figures;
use super::options::Format;
use super::progress::Progress;
use super::style::{BAD, COMMAND, DIM, GOOD, HEAD, WARN, paint};
use super::table::{Align, Grid};
use super::words::quoted;
use super::{Stop, interrupt, output, torn, words};

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// It was changed.
    Changed,
    /// It would be changed, were this no dry run.
    WouldChange,
    /// There was nothing to do.
    Unchanged,
    /// It could not be done.
    Failed,
}

/// Something that a plan does, in words, about an entry or the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Step {
    pub(crate) what: String,
    pub(crate) entry_id: Option<u64>,
    pub(crate) path: Option<String>,
    pub(crate) pinned: bool,
    /// Whether something is lost with it.
    #[serde(skip)]
    pub(crate) lost: bool,
}

impl From<jlfix::plan::Step> for Step {
    fn from(step: jlfix::plan::Step) -> Self {
        let jlfix::plan::Step { what, entry_id, path, pinned, lost } = step;
        Self { what, entry_id, path, pinned, lost }
    }
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    pub(crate) app_id: Option<AppId>,
    pub(crate) app_name: Option<String>,
    pub(crate) status: Status,
    /// None if there was no file, or none that is a list.
    pub(crate) before: Option<Figures>,
    /// None if there is no file any more.
    pub(crate) after: Option<Figures>,
    pub(crate) steps: Vec<Step>,
    /// Why it failed; in a changed file, what of the request could not be done.
    pub(crate) error: Option<String>,
}

impl FileChange {
    /// A file of which nothing is known yet.
    pub(crate) fn new(path: &Path, context: &Context) -> Self {
        let name = path.file_name().unwrap_or_default();
        let app_id = AppId::from_copy_name(name);
        Self {
            path: path.to_string_lossy().into_owned(),
            app_id,
            app_name: app_id.and_then(|id| context.names.name(id)).map(ToOwned::to_owned),
            status: Status::Unchanged,
            before: None,
            after: None,
            steps: Vec::new(),
            error: None,
        }
    }
}

/// Opens the store that a command uses.
pub(crate) fn store(context: &Context) -> Result<Store, Stop> {
    let root = match &context.backup_dir {
        Some(dir) => std::path::absolute(dir).map_err(|error| Stop::Usage(format!("--backup-dir: {error}")))?,
        None => Store::default_root(|name| std::env::var_os(name)).map_err(|error| Stop::Usage(error.to_string()))?,
    };
    let store = Store::open(root).map_err(|error| Stop::Nothing(error.to_string()))?;
    Ok(store.trusting(context.trust_store))
}

/// Begins a run in the store; a second run waits for the first.
pub(crate) fn begin(store: &Store, context: &Context) -> Result<Run, Stop> {
    let command: Vec<String> = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy())).collect();
    let command = format!("jlfix {}", command.join(" "));
    when_free(context, || store.begin(&command, OnBusy::Fail))?.map_err(|error| Stop::Nothing(error.to_string()))
}

/// How often a busy store is tried again.
const POLL: Duration = Duration::from_millis(25);
/// How long a wait is before it is reported.
const REPORTED_AFTER: Duration = Duration::from_millis(200);

/// Does what needs the lock of the store, as soon as no other jlfix holds it. Ctrl+C ends the wait.
pub(crate) fn when_free<T>(
    context: &Context,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<Result<T, Error>, Stop> {
    let started = Instant::now();
    let mut reported = false;
    loop {
        match attempt() {
            Err(Error::InUse { .. }) => {}
            other => return Ok(other),
        }
        if interrupt::asked() {
            return Err(Stop::Interrupted);
        }
        if !reported && started.elapsed() >= REPORTED_AFTER {
            reported = true;
            context.note("another jlfix is changing files; waiting for it to end");
        }
        std::thread::sleep(POLL);
    }
}

/// How files are changed, from the global options.
pub(crate) fn options(context: &Context, dry_run: bool) -> Options {
    Options::default().limits(context.read.limits).dry_run(dry_run)
}

/// A command that changes files, in progress.
pub(crate) struct Session<'x> {
    context: &'x Context,
    run: Option<Run>,
    /// Whether nothing is to be written.
    pub(crate) dry_run: bool,
    changes: Vec<FileChange>,
    tally: Tally,
    /// True if a part of a request had no effect on a file that was changed.
    partly: bool,
    progress: Option<Progress>,
    /// True if each file was printed already, so that no table is needed.
    listed: bool,
    verb: &'static str,
    /// The command that undoes it, where it is not `restore` with the id of the run.
    undo: Option<&'static str>,
}

impl<'x> Session<'x> {
    /// As [`Self::start`], in the store of a user.
    pub(crate) fn in_store(
        context: &'x Context,
        store: &Store,
        verb: &'static str,
        dry_run: bool,
    ) -> Result<Self, Stop> {
        let run = if dry_run { None } else { Some(begin(store, context)?) };
        Ok(Self::new(context, run, verb, dry_run, Tally::default()))
    }

    /// Starts. `keep_backup` is false where the user does not want one.
    pub(crate) fn start(
        context: &'x Context,
        verb: &'static str,
        dry_run: bool,
        keep_backup: bool,
        tally: Tally,
    ) -> Result<Self, Stop> {
        let run = if dry_run || !keep_backup { None } else { Some(begin(&store(context)?, context)?) };
        Ok(Self::new(context, run, verb, dry_run, tally))
    }

    fn new(context: &'x Context, run: Option<Run>, verb: &'static str, dry_run: bool, tally: Tally) -> Self {
        Self {
            context,
            run,
            dry_run,
            changes: Vec::new(),
            tally,
            partly: false,
            progress: None,
            listed: false,
            verb,
            undo: None,
        }
    }

    /// Names the command that undoes it: `restore` with the id of the run if `None`.
    pub(crate) fn undone_by(&mut self, command: Option<&'static str>) {
        self.undo = command;
    }

    /// The run that backups go to.
    pub(crate) fn run(&mut self) -> Option<&mut Run> {
        self.run.as_mut()
    }

    /// Changes the file at `path`, which has to be there, as [`Session::edit`] does.
    pub(crate) fn change(
        &mut self,
        path: &Path,
        mut make: impl FnMut(&[u8], &mut FileChange) -> Result<Option<Vec<u8>>, String>,
    ) -> Option<&FileChange> {
        self.edit(path, |content, change| match content {
            Some(content) => make(content, change),
            None => Err(Error::io(path, "open it", io::ErrorKind::NotFound.into()).to_string()),
        })
    }

    /// Changes the file at `path` into what `make` makes of its content (none if there is no file), and notes what
    /// became of it. `make` notes before, after and the steps; it returns nothing if the file stays as it is, or why it
    /// must. It is asked again if another program changed the file meanwhile. What became of it is nothing if it failed.
    pub(crate) fn edit(
        &mut self,
        path: &Path,
        mut make: impl FnMut(Option<&[u8]>, &mut FileChange) -> Result<Option<Vec<u8>>, String>,
    ) -> Option<&FileChange> {
        let mut change = FileChange::new(path, self.context);
        let mut refused = None;
        let mut rereads = torn::Rereads::default();
        let result = store::edit(path, &options(self.context, self.dry_run), self.run.as_mut(), |content| {
            refused = None;
            change.steps.clear();
            if let Some(content) = content
                && rereads.is_due(path, content, Kind::of_path(path), &self.context.read)
            {
                return Ok(Decision::ReadAgain);
            }
            change.error = None;
            match make(content, &mut change) {
                Ok(Some(bytes)) => Ok(Decision::Write(bytes.into())),
                Ok(None) => Ok(Decision::Leave),
                Err(message) => {
                    refused = Some(message);
                    Ok(Decision::Leave)
                }
            }
        });
        let result = match (result, refused) {
            (_, Some(message)) => Err(message),
            (Err(error), _) => Err(error.to_string()),
            (Ok(Outcome::Unchanged), _) => Ok(()),
            (Ok(_), _) => {
                change.status = if self.dry_run { Status::WouldChange } else { Status::Changed };
                self.check_writable(path)
            }
        };
        if result.is_err() {
            // What was planned did not come to be.
            change.after = change.before;
            change.steps.clear();
        }
        let done = result.is_ok();
        self.add(change, result);
        self.changes.last().filter(|_| done)
    }

    /// In a dry run: that the file could be changed, as far as the folder's permissions show it.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn check_writable(&self, path: &Path) -> Result<(), String> {
        if !self.dry_run {
            return Ok(());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        jlfix::os::check_writable(folder)
            .map_err(|error| format!("{}: cannot be changed: its folder cannot be written: {error}", path.display()))
    }

    /// Prints no table at the end: the caller printed a line per file.
    pub(crate) fn listed(&mut self) {
        self.listed = true;
    }

    /// Shows progress over `total` files.
    pub(crate) fn expect(&mut self, total: usize) {
        self.progress = Some(Progress::new(total, self.context.quiet));
    }

    /// True if the user asked to stop; the file at hand is done, the others are left alone.
    pub(crate) fn interrupted(&self) -> bool {
        interrupt::asked()
    }

    /// Notes what became of a file; an error is told at once.
    pub(crate) fn add(&mut self, mut change: FileChange, result: Result<(), String>) {
        if let Some(progress) = &mut self.progress {
            progress.advance(1);
        }
        match result {
            Ok(()) => {
                self.tally.done += 1;
                if let Some(message) = &change.error {
                    output::error(message);
                    self.partly = true;
                }
            }
            Err(message) => {
                output::error(&message);
                self.tally.failed += 1;
                change.status = Status::Failed;
                change.error = Some(message);
            }
        }
        self.changes.push(change);
    }

    /// Ends the run, tells what was done and how to undo it.
    pub(crate) fn finish(self, format: Format) -> Result<Exit, Stop> {
        if let Some(progress) = self.progress {
            progress.finish();
        }
        let mut tally = self.tally;
        let partly = self.partly;
        let exit = |tally: Tally| match tally.exit() {
            Exit::Clean | Exit::Findings if partly => Exit::Partly,
            exit => exit,
        };
        let id = self.run.and_then(|run| {
            let begun = (run.saved_count() > 0).then(|| run.id().clone());
            run.finish().unwrap_or_else(|error| {
                output::error(&format!("{error}; the run is listed as incomplete, and what it saved is all there"));
                tally.failed += 1;
                begun
            })
        });
        let told = Told {
            verb: self.verb,
            dry_run: self.dry_run,
            listed: self.listed,
            changes: &self.changes,
            failed: tally.failed,
            id: id.as_ref(),
            undo: self.undo,
            context: self.context,
        };
        if let Some(message) = told.unwritten() {
            output::if_unwritten(message);
        }
        match format {
            Format::Table => output::people(&told.people())?,
            Format::Json | Format::Jsonl => told.json(format)?,
            Format::Csv => told.csv()?,
        }
        if interrupt::asked() {
            return Ok(Exit::Interrupted);
        }
        tally.findings = self.changes.iter().any(|change| change.status == Status::WouldChange);
        Ok(exit(tally))
    }
}

/// What is told at the end.
struct Told<'t> {
    verb: &'static str,
    dry_run: bool,
    listed: bool,
    changes: &'t [FileChange],
    /// What failed, places that could not be looked at among it.
    failed: usize,
    id: Option<&'t RunId>,
    undo: Option<&'static str>,
    context: &'t Context,
}

impl Told<'_> {
    fn undo(&self) -> Option<String> {
        // A file that is gone and has not the name of a jump list is restored only on request.
        let is_list = |path: &str| Kind::of_path(Path::new(path)).is_some_and(Kind::is_list);
        let mut gone = self.changes.iter().filter(|change| change.status == Status::Changed && change.after.is_none());
        let trust = if gone.any(|change| !is_list(&change.path)) { " --trust-store" } else { "" };
        let words = |id: &RunId| self.undo.map_or_else(|| format!("restore {id}"), ToOwned::to_owned);
        self.id.map(|id| command(self.context, &format!("{}{trust}", words(id))))
    }

    /// What has to be reported if the output cannot be written: that files were changed, and how to undo it.
    fn unwritten(&self) -> Option<String> {
        let changed = self.changes.iter().filter(|change| change.status == Status::Changed).count();
        let undo = self.undo().map(|undo| format!("; undo it with: {undo}")).unwrap_or_default();
        let files = words::count(changed, "file");
        (changed > 0).then(|| format!("{files} {}{undo}", self.verb))
    }

    fn people(&self) -> String {
        let mut out = String::new();
        let shown: Vec<&FileChange> = self
            .changes
            .iter()
            .filter(|change| matches!(change.status, Status::Changed | Status::WouldChange) || self.context.verbose)
            .collect();
        if !shown.is_empty() && !self.listed {
            out.push_str(&self.grid(&shown));
            out.push('\n');
        }
        if self.context.verbose || self.dry_run {
            for change in shown.iter().filter(|change| !change.steps.is_empty()) {
                let _ = writeln!(out, "{}", paint(HEAD, words::harmless(&change.path)));
                steps(change, self.context.verbose, &mut out);
            }
        }
        let count = |status| self.changes.iter().filter(|change| change.status == status).count();
        let changed = count(Status::Changed) + count(Status::WouldChange);
        let mut parts = vec![if self.dry_run {
            paint(
                WARN,
                format!("{} would be {} (dry run: nothing was written)", words::count(changed, "file"), self.verb),
            )
        } else {
            paint(if changed > 0 { GOOD } else { DIM }, format!("{} {}", words::count(changed, "file"), self.verb))
        }];
        if count(Status::Unchanged) > 0 {
            parts.push(format!("{} unchanged", words::number(count(Status::Unchanged) as u64)));
        }
        if self.failed > 0 {
            parts.push(paint(BAD, format!("{} failed", words::number(self.failed as u64))));
        }
        let _ = writeln!(out, "{}", parts.join(", "));
        if let Some(undo) = self.undo() {
            let _ = writeln!(out, "Undo it with:\n  {}", paint(COMMAND, undo));
        }
        out
    }

    fn grid(&self, changes: &[&FileChange]) -> String {
        let folder = |change: &FileChange| {
            Path::new(&change.path).parent().map(|parent| parent.display().to_string()).unwrap_or_default()
        };
        let several = changes.windows(2).any(|pair| matches!(pair, [a, b] if folder(a) != folder(b)));
        let mut columns = vec![
            ("Application", Align::Left),
            ("AppID", Align::Left),
            ("Entries", Align::Right),
            ("Size", Align::Right),
            ("Reads per click", Align::Right),
        ];
        if several || self.context.verbose {
            columns.push(("Folder", Align::Left));
        }
        let mut grid = Grid::new(&columns)
            .drops(&["Folder", "AppID"])
            .shortens(&["Application", "Folder"])
            .stand_in("AppID", "Application");
        for change in changes {
            let arrow = |value: &dyn Fn(&Figures) -> String| {
                let side = |figures: &Option<Figures>| figures.as_ref().map_or("none".to_owned(), value);
                let (before, after) = (side(&change.before), side(&change.after));
                if before == after { before } else { format!("{before} → {after}") }
            };
            let mut cells = vec![
                words::harmless(&words::shortened(change.app_name.as_deref().unwrap_or("-"), 34)).into_owned(),
                change.app_id.map_or_else(|| words::harmless(&change.path).into_owned(), |id| id.to_string()),
                arrow(&|figures| words::number(figures.entries as u64)),
                arrow(&|figures| words::size(figures.bytes)),
                arrow(&|figures| words::number(figures.cost.reads)),
            ];
            if columns.len() > cells.len() {
                cells.push(words::harmless(&folder(change)).into_owned());
            }
            grid.row(cells);
        }
        grid.render()
    }

    fn json(&self, format: Format) -> Result<(), Stop> {
        use std::io::Write;
        #[derive(Serialize)]
        struct Document<'d> {
            jlfix: &'static str,
            dry_run: bool,
            files: &'d [FileChange],
            backup: Option<String>,
            undo: Option<String>,
        }
        let mut out = output::data();
        if format == Format::Jsonl {
            for change in self.changes {
                out.write_all(&output::to_json(change))?;
                out.write_all(b"\n")?;
            }
        } else {
            let document = Document {
                jlfix: env!("CARGO_PKG_VERSION"),
                dry_run: self.dry_run,
                files: self.changes,
                backup: self.id.map(ToString::to_string),
                undo: self.undo(),
            };
            out.write_all(&output::to_json(&document))?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        Ok(())
    }

    fn csv(&self) -> Result<(), Stop> {
        use std::io::Write;
        let mut out = output::data();
        let columns = [
            "path",
            "app_id",
            "app_name",
            "status",
            "entries_before",
            "entries_after",
            "bytes_before",
            "bytes_after",
            "reads_before",
            "reads_after",
            "error",
        ];
        out.write_all(&output::csv_line(columns))?;
        for change in self.changes {
            let side = |figures: &Option<Figures>, value: &dyn Fn(&Figures) -> u64| {
                figures.as_ref().map(|figures| value(figures).to_string()).unwrap_or_default()
            };
            let status =
                serde_json::to_value(change.status).ok().and_then(|status| status.as_str().map(ToOwned::to_owned));
            out.write_all(&output::csv_line([
                change.path.clone(),
                change.app_id.map(|id| id.to_string()).unwrap_or_default(),
                change.app_name.clone().unwrap_or_default(),
                status.unwrap_or_default(),
                side(&change.before, &|figures| figures.entries as u64),
                side(&change.after, &|figures| figures.entries as u64),
                side(&change.before, &|figures| figures.bytes),
                side(&change.after, &|figures| figures.bytes),
                side(&change.before, &|figures| figures.cost.reads),
                side(&change.after, &|figures| figures.cost.reads),
                change.error.clone().unwrap_or_default(),
            ]))?;
        }
        out.flush()?;
        Ok(())
    }
}

/// How many steps of a file are told without `-v`.
const STEPS_SHOWN: usize = 10;

fn steps(change: &FileChange, all: bool, out: &mut String) {
    let shown = if all { change.steps.len() } else { STEPS_SHOWN };
    for step in change.steps.iter().take(shown) {
        let path = step
            .path
            .as_deref()
            .map(|path| format!(" {}", words::harmless(&words::path_label(path))))
            .unwrap_or_default();
        let id = step.entry_id.map(|id| format!("entry {id}:")).unwrap_or_default();
        let pinned = if step.pinned { paint(WARN, " (pinned)") } else { String::new() };
        let _ = writeln!(out, "  {id}{path}{pinned}  {}", paint(DIM, words::harmless(&step.what)));
    }
    if let Some(more) = change.steps.len().checked_sub(shown).filter(|more| *more > 0) {
        let _ = writeln!(out, "  {}", paint(DIM, format!("and {} more; -v lists them", words::number(more as u64))));
    }
}
