//! From the paths of a command to the files behind them, read and taken apart.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rayon::prelude::*;

use jlfix::appid::user_of;
use jlfix::format::time::FileTime;
use jlfix::limits::Limits;
use jlfix::model::{AutomaticList, Deleted, Kind, Leftover, Source};
use jlfix::report::{FileFacts, FileRow, ReportOptions};
use jlfix::scan::{self, Found, ScanError};

use super::context::Context;
use super::exit::Tally;
use super::places::Exclusions;
use super::progress::Progress;
use super::{Stop, output, torn, words};

/// How many files of a batch there are for each thread; two batches are held in memory at once, at the most.
const FILES_A_THREAD: usize = 64;

/// The files that the paths of a command name, or the live user's if it names none, in order, each once. Places that
/// cannot be looked at are told and counted.
pub(crate) fn gather(paths: &[PathBuf], context: &Context, tally: &mut Tally) -> Result<Vec<Found>, Stop> {
    search(paths, &Exclusions::default(), context, tally)
}

/// The same, without what is excluded.
pub(crate) fn search(
    paths: &[PathBuf],
    exclusions: &Exclusions,
    context: &Context,
    tally: &mut Tally,
) -> Result<Vec<Found>, Stop> {
    if paths.is_empty() {
        let live = super::live::folders()?;
        if live.is_empty() {
            context.note("you have no jump lists: Windows makes their folders when it first writes one");
        }
        return Ok(gather_live(&live, exclusions, context, tally));
    }
    let mut files: Vec<Found> = Vec::new();
    let mut progress = Progress::search(context.quiet);
    for path in paths {
        let (before, failed) = (files.len(), tally.failed);
        let excluded = find_in(path, exclusions, &mut files, &mut progress, tally);
        if files.len() == before && tally.failed == failed && excluded == 0 {
            let shown = path.display();
            context.note(&match lists_behind_links(path) {
                0 => format!("{shown}: no jump lists in it (*.automaticDestinations-ms, *.customDestinations-ms)"),
                1 => format!("{shown}: no jump lists in it but one that is a symbolic link, which is not followed"),
                links => {
                    let links = words::number(links as u64);
                    format!("{shown}: no jump lists in it but {links} that are symbolic links, which are not followed")
                }
            });
        }
    }
    progress.finish();
    // A walk finds each file once.
    Ok(if paths.len() > 1 { each_once(files) } else { files })
}

/// The files in folders that Windows keeps and nobody named: that one of them is empty is nothing to tell.
pub(crate) fn gather_live(
    folders: &[PathBuf],
    exclusions: &Exclusions,
    context: &Context,
    tally: &mut Tally,
) -> Vec<Found> {
    let mut files = Vec::new();
    let mut progress = Progress::search(context.quiet);
    for folder in folders {
        find_in(folder, exclusions, &mut files, &mut progress, tally);
    }
    progress.finish();
    each_once(files)
}

/// Adds the files at `path`. Returns how many were excluded.
fn find_in(
    path: &Path,
    exclusions: &Exclusions,
    files: &mut Vec<Found>,
    progress: &mut Progress,
    tally: &mut Tally,
) -> usize {
    let mut excluded = 0;
    for found in scan::find(path) {
        match found {
            Ok(Found { path, .. }) | Err(ScanError { path, .. }) if exclusions.has(&path) => excluded += 1,
            Ok(found) => {
                files.push(found);
                progress.advance(1);
            }
            Err(error) => {
                output::error(&error.to_string());
                tally.failed += 1;
            }
        }
    }
    excluded
}

/// How many entries of this folder have the name of a jump list and are symbolic links.
fn lists_behind_links(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_link = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    entries.filter(|entry| is_link(entry) && Kind::of_path(&entry.path()).is_some_and(Kind::is_list)).count()
}

/// Each file once, under the path by which it was found first.
fn each_once(mut files: Vec<Found>) -> Vec<Found> {
    let mut folders = HashMap::new();
    let mut places = HashSet::new();
    files.retain(|found| places.insert(place(&found.path, &mut folders)));
    files
}

/// The folder of a file, resolved, and the name of the file in it. A symbolic link is a file of its own: it is reported
/// as one where links are refused. Where names differ only by case, the folder decides whether they name one file.
fn place(path: &Path, folders: &mut HashMap<PathBuf, PathBuf>) -> PathBuf {
    let Some(name) = path.file_name() else { return path.to_owned() };
    if cfg!(windows) && !path.is_symlink() {
        return std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let resolve = || std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    folders.entry(folder.to_owned()).or_insert_with(resolve).join(name)
}

/// A file in memory, with what the file system says of it.
pub(crate) struct Loaded {
    pub(crate) facts: FileFacts,
    pub(crate) data: Vec<u8>,
}

static CURRENT_FOLDER: LazyLock<PathBuf> = LazyLock::new(|| std::env::current_dir().unwrap_or_default());

/// A larger buffer is not kept for the next file.
const LARGEST_KEPT: usize = 1 << 20;

thread_local! {
    /// The buffer of the last file that was read, for the next one.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Keeps the buffer of a file that is done with.
fn keep_buffer(loaded: Loaded) {
    if loaded.data.capacity() <= LARGEST_KEPT {
        BUFFER.set(loaded.data);
    }
}

/// Reads a file whole.
pub(crate) fn load(path: &Path, limits: &Limits) -> Result<Loaded, String> {
    let mut data = BUFFER.take();
    let facts = jlfix::os::read_into(path, limits, &mut data).map_err(|error| error.to_string())?;
    let time = |time: std::io::Result<std::time::SystemTime>| {
        jiff::Timestamp::try_from(time.ok()?).ok().map(FileTime::from_timestamp)
    };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let shown = path.to_string_lossy().into_owned();
    let user = user_of(&shown).map(ToOwned::to_owned).or_else(|| {
        // The profile may be a folder above.
        let absolute = if path.is_absolute() { None } else { Some(CURRENT_FOLDER.join(path)) };
        absolute.and_then(|absolute| user_of(&absolute.to_string_lossy()).map(ToOwned::to_owned))
    });
    let facts = FileFacts {
        path: shown,
        name,
        user,
        size: data.len() as u64,
        modified: time(facts.modified()),
        created: time(facts.created()),
        accessed: time(facts.accessed()),
    };
    Ok(Loaded { facts, data })
}

/// A file that is told of.
pub(crate) struct View<'c> {
    pub(crate) row: &'c FileRow<'c>,
    pub(crate) list: Option<&'c AutomaticList<'c>>,
    pub(crate) source: &'c Source<'c>,
    /// What is deleted in it, if that was asked for.
    pub(crate) deleted: Option<&'c Deleted<'c>>,
    pub(crate) loaded: &'c Loaded,
}

/// Reads a file and reports it to `each`. A list with a finding that somebody may be writing is read again after a pause,
/// until two reads give the same.
pub(crate) fn view<T>(
    found: &Found,
    context: &Context,
    options: &ReportOptions<'_>,
    each: impl FnOnce(View<'_>) -> T,
) -> Result<T, String> {
    let mut each = Some(each);
    let accept = |loaded: &Loaded, is_settled| {
        let accept = |row: &FileRow<'_>| is_settled || !torn::is_doubtful_row(&found.path, row);
        view_loaded(found, context, options, loaded, accept, |view| each.take().map(|each| each(view)))
    };
    let read = || load(&found.path, &context.read.limits);
    let (loaded, made) = torn::settle(read, |loaded| &loaded.data, accept)?;
    keep_buffer(loaded);
    Ok(made)
}

/// Reports a file that was read, unless `accept` rejects it.
fn view_loaded<T>(
    found: &Found,
    context: &Context,
    options: &ReportOptions<'_>,
    loaded: &Loaded,
    accept: impl FnOnce(&FileRow<'_>) -> bool,
    each: impl FnOnce(View<'_>) -> Option<T>,
) -> Result<Option<T>, String> {
    let source = Source::read(&loaded.data, found.hint, &context.read).ok_or_else(|| {
        let start: Vec<String> = loaded.data.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let have = if start.is_empty() { "nothing".to_owned() } else { start.join(" ") };
        format!(
            "{}: no jump list: need a compound file, custom destinations or a link, have {have}",
            found.path.display()
        )
    })?;
    let list = match &source {
        Source::Automatic(Ok(compound)) => Some(AutomaticList::read(compound)),
        _ => None,
    };
    let mut row = FileRow::new(&loaded.facts, &source, list.as_ref(), options);
    if !accept(&row) {
        return Ok(None);
    }
    let leftover = options.deleted.then(|| Leftover::of(&source, list.as_ref()));
    let (limits, page) = (&context.read.limits, options.code_page);
    let deleted = leftover.as_ref().map(|leftover| Deleted::find(leftover, &source, list.as_ref(), limits, page));
    if let Some(deleted) = &deleted {
        row = row.with_deleted(deleted, options);
    }
    let view = View { row: &row, list: list.as_ref(), source: &source, deleted: deleted.as_ref(), loaded };
    Ok(each(view))
}

/// Reads the files, several at once, and hands what `each` makes of them to `take` in their order. Files that cannot
/// be read are told and counted.
pub(crate) fn view_all<'f, T: Send>(
    files: &'f [Found],
    context: &Context,
    options: &ReportOptions<'_>,
    tally: &mut Tally,
    each: impl Fn(View<'_>) -> T + Sync,
    mut take: impl FnMut(&'f Found, T) -> std::io::Result<()>,
) -> std::io::Result<()> {
    view_each(files, context, options, each, |found, result| match result {
        Ok(made) => {
            tally.done += 1;
            take(found, made)
        }
        Err(message) => {
            tally.failed += 1;
            output::error(&message);
            Ok(())
        }
    })
}

/// The same, with what could not be read handed on as well.
pub(crate) fn view_each<'f, T: Send>(
    files: &'f [Found],
    context: &Context,
    options: &ReportOptions<'_>,
    each: impl Fn(View<'_>) -> T + Sync,
    mut take: impl FnMut(&'f Found, Result<T, String>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut progress = Progress::new(files.len(), context.quiet);
    let one = |found: &Found| view(found, context, options, &each);
    // A handful of small files is read before the threads would have started.
    let read = |batch: &'f [Found]| -> Vec<Result<T, String>> {
        if batch.len() < 4 { batch.iter().map(one).collect() } else { batch.par_iter().map(one).collect() }
    };
    let mut batches = files.chunks(FILES_A_THREAD * rayon::current_num_threads());
    let mut ready = batches.next().map(|batch| (batch, read(batch)));
    while let Some((batch, results)) = ready.take() {
        let hand_on = || batch.iter().zip(results).try_for_each(|(found, result)| take(found, result));
        match batches.next() {
            None => hand_on()?,
            // The next ones are read while these are written.
            Some(following) => {
                let (next, read) = (&mut ready, &read);
                rayon::in_place_scope(|scope| {
                    scope.spawn(move |_| *next = Some((following, read(following))));
                    hand_on()
                })?;
            }
        }
        progress.advance(batch.len());
    }
    progress.finish();
    Ok(())
}
