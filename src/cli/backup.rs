//! `jlfix backup`: what the backup store holds.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use clap::Subcommand;
use serde::Serialize;

use jlfix::model::Kind;
use jlfix::store::{self, ListedRun, OnBusy, RunId, RunKind, Store};

use super::age::{self, Age};
use super::change::{Figures, FileChange, begin, command, options, store as open_store, when_free};
use super::context::Context;
use super::exit::{Exit, Tally};

use super::lists::Lists;
use super::options::{Format, Verbose};
use super::runs::find_run;
use super::style::{BAD, COMMAND, DIM, GOOD, WARN, paint};
use super::table::{Align, Grid};
use super::{Stop, interrupt, output, words};

/// Save jump lists, and list, check or drop what was saved
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix backup create FOLDER
  jlfix backup list
  jlfix backup verify
  jlfix backup drop --keep-last 10")]
pub(crate) struct BackupArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Save jump lists as they are
    Create {
        #[command(flatten)]
        lists: Lists,
    },
    /// List the runs that were saved, the newest first
    List {
        /// Output format
        #[arg(long, value_enum, default_value = "table")]
        format: Format,
        #[command(flatten)]
        verbose: Verbose,
    },
    /// Compare what was saved with its SHA-256
    Verify {
        /// The run; every run if none is named
        id: Option<String>,
    },
    /// Drop a run, all but the newest, or old ones
    Drop {
        /// The run, by its id or the start of it
        #[arg(required_unless_present_any = ["keep_last", "older_than"], conflicts_with_all = ["keep_last", "older_than"])]
        id: Option<String>,
        /// Drop all runs but the newest N
        #[arg(long, value_name = "N")]
        keep_last: Option<usize>,
        /// Drop runs that are older than this: 90d, 12w, 6mo, 2y, or a date; with --keep-last, only those
        #[arg(long, value_name = "AGE", value_parser = age::parse)]
        older_than: Option<Age>,
        /// Show what would be dropped, and drop nothing; exit code 1 if something would
        #[arg(long, short = 'n')]
        dry_run: bool,
    },
}

impl BackupArgs {
    pub(crate) fn verbose(&self) -> bool {
        matches!(&self.action, Action::List { verbose, .. } if verbose.verbose)
    }
}

pub(crate) fn run(args: &BackupArgs, context: &Context) -> Result<Exit, Stop> {
    match &args.action {
        Action::Create { lists } => create(lists, context),
        Action::List { format, .. } => list(*format, context),
        Action::Verify { id } => verify(id.as_deref(), context),
        Action::Drop { id, keep_last, older_than, dry_run } => {
            drop_runs(id.as_deref(), *keep_last, *older_than, *dry_run, context)
        }
    }
}

fn create(lists: &Lists, context: &Context) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let files = lists.gather(context, &mut tally)?;
    let store = open_store(context)?;
    let mut run = begin(&store, context)?;
    run.set_kind(RunKind::Backup);
    let mut bytes = 0;
    for found in &files {
        if interrupt::asked() {
            break;
        }
        match store::backup(&found.path, &options(context, false), &mut run) {
            Ok(size) => {
                tally.done += 1;
                bytes += size;
            }
            Err(error) => {
                output::error(&error.to_string());
                tally.failed += 1;
            }
        }
    }
    let id = run.finish().map_err(|error| Stop::Nothing(error.to_string()))?;
    let mut out = String::new();
    match id {
        Some(id) => {
            let saved = format!("{} saved, {}", words::count(tally.done, "file"), words::size(bytes));
            let failed = match tally.failed {
                0 => String::new(),
                failed => paint(BAD, format!(", {} failed", words::number(failed as u64))),
            };
            let _ = writeln!(out, "{}{failed}", paint(GOOD, saved));
            let _ = writeln!(
                out,
                "Bring them back with:\n  {}",
                paint(COMMAND, command(context, &format!("restore {id}")))
            );
        }
        None if tally.failed > 0 => {
            let failed = words::count(tally.failed, "file");
            let _ = writeln!(out, "{}", paint(BAD, format!("nothing was saved: {failed} failed")));
        }
        None => out.push_str("nothing to save\n"),
    }
    output::people(&out)?;
    Ok(if interrupt::asked() { Exit::Interrupted } else { tally.exit() })
}

/// A run as it is told.
#[derive(Debug, Serialize)]
struct RunRow {
    id: String,
    started: Option<String>,
    finished: Option<String>,
    command: Option<String>,
    files: usize,
    bytes: u64,
    state: &'static str,
    error: Option<String>,
    paths: Vec<String>,
}

impl RunRow {
    fn new(run: &ListedRun) -> Self {
        let started = run.id.moment().map(|moment| moment.to_string());
        match &run.manifest {
            Ok(manifest) => Self {
                id: run.id.to_string(),
                started,
                finished: manifest.finished.map(|moment| moment.to_string()),
                command: Some(manifest.command.clone()),
                files: manifest.files.len(),
                bytes: manifest.bytes(),
                state: if manifest.is_finished() { "complete" } else { "incomplete" },
                error: None,
                paths: manifest.files.iter().map(|record| record.path.to_string_lossy().into_owned()).collect(),
            },
            Err(error) => Self {
                id: run.id.to_string(),
                started,
                finished: None,
                command: None,
                files: 0,
                bytes: 0,
                state: "unreadable",
                error: Some(error.to_string()),
                paths: Vec::new(),
            },
        }
    }
}

fn list(format: Format, context: &Context) -> Result<Exit, Stop> {
    let store = open_store(context)?;
    let runs = store.list().map_err(|error| Stop::Nothing(error.to_string()))?;
    let rows: Vec<RunRow> = runs.iter().map(RunRow::new).collect();
    let mut out = output::data();
    match format {
        Format::Table => {
            drop(out);
            output::people(&table(&rows, &store, context))?;
        }
        Format::Json => {
            #[derive(Serialize)]
            struct Document<'d> {
                jlfix: &'static str,
                store: String,
                runs: &'d [RunRow],
            }
            let store = store.root().to_string_lossy().into_owned();
            out.write_all(&output::to_json(&Document { jlfix: env!("CARGO_PKG_VERSION"), store, runs: &rows }))?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Format::Jsonl => {
            for row in &rows {
                out.write_all(&output::to_json(row))?;
                out.write_all(b"\n")?;
            }
            out.flush()?;
        }
        Format::Csv => {
            out.write_all(&output::csv_line([
                "id", "started", "finished", "command", "files", "bytes", "state", "error",
            ]))?;
            for row in &rows {
                let text = |value: &Option<String>| value.clone().unwrap_or_default();
                out.write_all(&output::csv_line([
                    row.id.clone(),
                    text(&row.started),
                    text(&row.finished),
                    text(&row.command),
                    row.files.to_string(),
                    row.bytes.to_string(),
                    row.state.to_owned(),
                    text(&row.error),
                ]))?;
            }
            out.flush()?;
        }
    }
    let unreadable = rows.iter().any(|row| row.error.is_some());
    Ok(if unreadable { Exit::Findings } else { Exit::Clean })
}

fn table(rows: &[RunRow], store: &Store, context: &Context) -> String {
    let root = words::harmless(&store.root().to_string_lossy()).into_owned();
    if rows.is_empty() {
        return format!("no backups in {root}\n");
    }
    let mut grid = Grid::new(&[
        ("Run", Align::Left),
        ("Files", Align::Right),
        ("Size", Align::Right),
        ("State", Align::Left),
        ("Command", Align::Left),
    ])
    .drops(&["Files"])
    .shortens(&["Command"]);
    for row in rows {
        let style = match row.state {
            "complete" => GOOD,
            "incomplete" => WARN,
            _ => BAD,
        };
        let command = row.command.as_deref().or(row.error.as_deref()).unwrap_or("-");
        grid.row(vec![
            row.id.clone(),
            words::number(row.files as u64),
            words::size(row.bytes),
            paint(style, row.state),
            words::harmless(&words::shortened(command, 70)).into_owned(),
        ]);
    }
    let mut out = grid.render();
    if context.verbose {
        for row in rows {
            for path in &row.paths {
                let _ = writeln!(out, "  {} {}", paint(DIM, &row.id), words::harmless(path));
            }
        }
    }
    let bytes = rows.iter().map(|row| row.bytes).sum();
    let _ = writeln!(out, "\n{} in {root}, {}", words::count(rows.len(), "run"), words::size(bytes));
    out
}

fn verify(id: Option<&str>, context: &Context) -> Result<Exit, Stop> {
    let store = open_store(context)?;
    let ids = match id {
        Some(text) => vec![find_run(&store, text)?],
        None => {
            let runs = store.list().map_err(|error| Stop::Nothing(error.to_string()))?;
            runs.into_iter().map(|run| run.id).collect()
        }
    };
    let mut tally = Tally::default();
    let mut out = String::new();
    let mut files = 0;
    for id in &ids {
        match store.verify(id, &context.read.limits) {
            Ok(verified) => {
                files += verified.files;
                tally.done += 1;
                if verified.problems.is_empty() {
                    let what = format!("{}, {}", words::count(verified.files, "file"), words::size(verified.bytes));
                    let _ = writeln!(out, "{id}  {}  {what}", paint(GOOD, "as saved"));
                } else {
                    tally.findings = true;
                    let _ = writeln!(
                        out,
                        "{id}  {}",
                        paint(BAD, format!("{} altered or gone", words::count(verified.problems.len(), "file")))
                    );
                    for problem in &verified.problems {
                        output::error(&problem.to_string());
                    }
                }
            }
            Err(error) => {
                output::error(&error.to_string());
                tally.failed += 1;
            }
        }
    }
    if ids.is_empty() {
        let _ = writeln!(out, "no backups in {}", words::harmless(&store.root().to_string_lossy()));
    } else {
        let failed = match tally.failed {
            0 => String::new(),
            failed => paint(BAD, format!(", {} could not be read", words::count(failed, "run"))),
        };
        let (runs, files) = (words::count(tally.done, "run"), words::count(files, "file"));
        let _ = writeln!(out, "{runs} verified, {files}{failed}");
    }
    output::people(&out)?;
    Ok(tally.exit())
}

fn drop_runs(
    id: Option<&str>,
    keep_last: Option<usize>,
    older_than: Option<Age>,
    dry_run: bool,
    context: &Context,
) -> Result<Exit, Stop> {
    let store = open_store(context)?;
    let failed = |error: jlfix::error::Error| Stop::Nothing(error.to_string());
    let runs = store.list().map_err(failed)?;
    let chosen: Vec<RunId> = match id {
        Some(id) => vec![find_run(&store, id)?],
        None => {
            let limit = older_than.map(Age::before_now).transpose().map_err(Stop::Usage)?;
            let is_old =
                |run: &&ListedRun| limit.is_none_or(|limit| run.id.moment().is_some_and(|moment| moment < limit));
            // What cannot be read does not count among those to keep, and is not among the newest that are kept either.
            let mut kept = 0;
            let mut past = Vec::new();
            for run in &runs {
                let finished = run.manifest.as_ref().is_ok_and(|manifest| manifest.is_finished());
                if kept < keep_last.unwrap_or(0) {
                    kept += usize::from(finished);
                } else {
                    past.push(run);
                }
            }
            past.into_iter().filter(is_old).map(|run| run.id.clone()).collect()
        }
    };
    let lost = last_copies(&runs, &chosen);
    let mut out = String::new();
    if dry_run {
        for id in &chosen {
            let _ = writeln!(out, "would drop {id}");
        }
        let _ = writeln!(out, "{} would be dropped (dry run: nothing was changed)", words::count(chosen.len(), "run"));
        for path in &lost {
            let _ = writeln!(out, "  the last copy of {}", words::harmless(path));
        }
        output::people(&out)?;
        return Ok(if chosen.is_empty() { Exit::Clean } else { Exit::Findings });
    }
    if !lost.is_empty() && io::stdin().is_terminal() && io::stderr().is_terminal() && !confirmed(&lost) {
        return Err(Stop::Nothing("nothing was dropped".to_owned()));
    }
    let mut dropped = 0;
    for id in &chosen {
        if interrupt::asked() {
            break;
        }
        if let Err(error) = when_free(context, || store.drop_run(id, OnBusy::Fail))? {
            output::people(&out)?;
            output::error(&error.to_string());
            return Ok(if dropped > 0 { Exit::Partly } else { Exit::Nothing });
        }
        dropped += 1;
        let _ = writeln!(out, "dropped {id}");
    }
    let gone = if lost.is_empty() {
        String::new()
    } else {
        format!("; it had the last copy of {}", words::count(lost.len(), "file"))
    };
    let _ = writeln!(out, "{} dropped{gone}", words::count(dropped, "run"));
    output::people(&out)?;
    if interrupt::asked() {
        return Ok(Exit::Interrupted);
    }
    let unread: Vec<_> = runs.iter().filter(|run| id.is_none() && !chosen.contains(&run.id)).collect();
    let mut exit = Exit::Clean;
    for error in unread.iter().filter_map(|run| run.manifest.as_ref().err()) {
        output::error(&format!("kept, and not counted: {error}"));
        exit = if dropped > 0 { Exit::Partly } else { Exit::Nothing };
    }
    Ok(exit)
}

/// The files of which no copy is left without the runs that are dropped.
fn last_copies(runs: &[ListedRun], dropped: &[RunId]) -> Vec<String> {
    let copies = |run: &ListedRun| -> Vec<String> {
        let files = run.manifest.iter().flat_map(|manifest| &manifest.files);
        files.filter(|record| record.saved.is_some()).map(|record| record.path.to_string_lossy().into_owned()).collect()
    };
    let (gone, kept): (Vec<_>, Vec<_>) = runs.iter().partition(|run| dropped.contains(&run.id));
    let kept: BTreeSet<String> = kept.into_iter().flat_map(copies).collect();
    let gone: BTreeSet<String> = gone.into_iter().flat_map(copies).collect();
    gone.difference(&kept).cloned().collect()
}

fn confirmed(lost: &[String]) -> bool {
    for path in lost.iter().take(5) {
        eprintln!("the last copy of {}", words::harmless(path));
    }
    eprint!("Drop the last copy of {}? [y/N] ", words::count(lost.len(), "file"));
    let _ = io::stderr().flush();
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Before and after of a file that is restored, as far as they are lists.
pub(crate) fn figures(data: Option<&[u8]>, change: &FileChange, context: &Context) -> Option<Figures> {
    Figures::of(data?, Kind::of_path(std::path::Path::new(&change.path)), context)
}
