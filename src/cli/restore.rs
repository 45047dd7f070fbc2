//! `jlfix restore`: brings back what a run saved; what it replaces is saved first, so that this can be undone too.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jlfix::os::is_same_path;
use jlfix::store::{self, Manifest, Outcome, Record, Store};

use super::backup::{figures, run_id};
use super::change::{FileChange, Session, Status, command, options, store as open_store};
use super::context::Context;
use super::exit::{Exit, Tally};
use super::options::Format;
use super::style::{GOOD, paint};
use super::{Stop, output, words};

/// Undo the last change, or another one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix restore                                undo the last change
  jlfix restore 20261130T184501.123Z-4f0a      undo this one
  jlfix restore --file f01b4d95cf55d32a.automaticDestinations-ms
  jlfix restore --to FOLDER                    write copies there, change nothing")]
pub(crate) struct RestoreArgs {
    /// The run, as `jlfix backup list` names it; the latest if none is named
    id: Option<String>,
    /// Restore only this file of it: its name, or its whole path; may be repeated
    #[arg(long, value_name = "NAME")]
    file: Vec<PathBuf>,
    /// Write the files under this folder instead of where they were
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Say what would be done, and change nothing; exit code 1 if something would
    #[arg(long)]
    dry_run: bool,
    /// How to write what was done
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(crate) fn run(args: &RestoreArgs, context: &Context) -> Result<Exit, Stop> {
    let store = open_store(context)?;
    let manifest = choose(args, &store, context)?;
    let wanted = |record: &&Record| {
        args.file.is_empty()
            || args
                .file
                .iter()
                .any(|file| is_same_path(&record.path, file) || record.path.file_name() == Some(file.as_os_str()))
    };
    let records: Vec<&Record> = manifest.files.iter().rev().filter(wanted).collect();
    for file in &args.file {
        if !records
            .iter()
            .any(|record| is_same_path(&record.path, file) || record.path.file_name() == Some(file.as_os_str()))
        {
            return Err(Stop::Nothing(format!("run {} has no file {}", manifest.id, file.display())));
        }
    }
    match &args.to {
        Some(dir) => copy_to(&store, &manifest, &records, dir, args.dry_run, context),
        None => put_back(&store, &manifest, &records, args, context),
    }
}

/// The run to restore from.
fn choose(args: &RestoreArgs, store: &Store, context: &Context) -> Result<Manifest, Stop> {
    let failed = |error: jlfix::error::Error| Stop::Nothing(error.to_string());
    if let Some(id) = &args.id {
        let id = run_id(id)?;
        let runs = store.list().map_err(failed)?;
        if !runs.iter().any(|run| run.id == id) {
            return Err(Stop::Nothing(format!(
                "no run {id} in {}; `jlfix backup list` lists them",
                store.root().display()
            )));
        }
        return store.load(&id).map_err(failed);
    }
    let latest = store.latest().map_err(failed)?;
    let latest = latest.ok_or_else(|| Stop::Nothing(format!("no backups in {}", store.root().display())))?;
    for run in store.list().map_err(failed)?.iter().filter(|run| run.id > latest.id) {
        match &run.manifest {
            Ok(_) => context.note(&format!(
                "run {} was cut short and is left out; to restore what it saved: {}",
                run.id,
                command(context, &format!("restore {}", run.id))
            )),
            Err(error) => context.note(&format!("run {} cannot be read and is left out: {error}", run.id)),
        }
    }
    Ok(latest)
}

fn put_back(
    store: &Store,
    manifest: &Manifest,
    records: &[&Record],
    args: &RestoreArgs,
    context: &Context,
) -> Result<Exit, Stop> {
    let mut session = Session::start(context, "restored", args.dry_run, true, Tally::default())?;
    for record in records {
        if session.interrupted() {
            break;
        }
        let mut change = FileChange::new(&record.path, context);
        let now = jlfix::os::read_whole(&record.path, &context.read.limits).ok();
        change.before = figures(now.as_deref(), &change, context);
        let saved =
            record.saved.as_ref().and_then(|saved| store.read_saved(&manifest.id, saved, &context.read.limits).ok());
        change.after = figures(saved.as_deref(), &change, context);
        let dry_run = session.dry_run;
        let result = store::restore(store, &manifest.id, record, &options(context, dry_run), session.run());
        let result = match result {
            Ok(Outcome::Unchanged) => Ok(()),
            Ok(_) => {
                change.status = if dry_run { Status::WouldChange } else { Status::Changed };
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        };
        session.add(change, result);
    }
    session.finish(args.format)
}

fn copy_to(
    store: &Store,
    manifest: &Manifest,
    records: &[&Record],
    dir: &Path,
    dry_run: bool,
    context: &Context,
) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let mut out = String::new();
    for record in records {
        if dry_run {
            tally.findings = true;
            let _ = writeln!(out, "would write {}", words::harmless(&record.path.to_string_lossy()));
            continue;
        }
        match store::restore_to(store, &manifest.id, record, &options(context, false), dir) {
            Ok(Some(path)) => {
                tally.done += 1;
                let _ = writeln!(out, "{}", words::harmless(&path.to_string_lossy()));
            }
            Ok(None) => {
                context.note(&format!("{}: was not there, so there is nothing to write", record.path.display()))
            }
            Err(error) => {
                output::error(&error.to_string());
                tally.failed += 1;
            }
        }
    }
    if !dry_run {
        let _ = writeln!(
            out,
            "{}",
            paint(GOOD, format!("{} written; nothing else was changed", words::count(tally.done, "file")))
        );
    }
    output::people(&out)?;
    Ok(tally.exit())
}
