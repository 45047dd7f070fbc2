//! `jlfix merge --find`: which lists are copies of one another, what each has that the others lack, and the command that
//! merges them.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jlfix::appid::AppId;
use jlfix::format::time::FileTime;
use jlfix::model::AutomaticList;
use jlfix::scan::{self, CopyGroup};
use jlfix::store::Store;
use serde::Serialize;

use super::super::change::{Figures, Step, command};
use super::super::style::{COMMAND, DIM, GOOD, HEAD, WARN, paint};
use super::super::words::quoted;
use super::{Context, Exit, Format, Stop, Tally, input, merged, words};
use crate::cli::output;

/// Lists of one application and one user.
#[derive(Debug, Serialize)]
struct Group {
    user: Option<String>,
    app_id: AppId,
    app_name: Option<String>,
    /// The first is the one to merge into.
    files: Vec<Copied>,
    /// What would come of it; none if that could not be told.
    merged: Option<Figures>,
    steps: Vec<Step>,
    /// What to type; none if there is nothing to merge.
    command: Option<String>,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct Copied {
    path: String,
    entries: usize,
    pinned: usize,
    size: u64,
    last_use: FileTime,
    /// Entries that none of those before it has.
    adds: usize,
    /// Entries that were used later in it than in those before it.
    newer: usize,
    /// Pins that none of those before it has.
    pins: usize,
}

/// A list in memory.
struct Loaded {
    path: PathBuf,
    data: Vec<u8>,
    row: Copied,
}

pub(super) fn run(root: &Path, format: Format, context: &Context) -> Result<Exit, Stop> {
    std::fs::metadata(root).map_err(|error| Stop::Nothing(format!("{}: cannot open: {error}", root.display())))?;
    let mut tally = Tally::default();
    let store = match &context.backup_dir {
        Some(dir) => Some(dir.clone()),
        None => Store::default_root(|name| std::env::var_os(name)).ok(),
    };
    let store = store.and_then(|dir| std::path::absolute(dir).ok());
    let (found, errors) = scan::find_copies(root, store.as_deref());
    for error in errors {
        output::error(&error.to_string());
        tally.failed += 1;
    }
    let mut groups = Vec::new();
    for group in found {
        groups.extend(look_at(group, context, &mut tally));
    }
    tally.findings = groups.iter().any(|group| group.command.is_some());
    match format {
        Format::Table => output::people(&people(&groups, root))?,
        Format::Json => {
            #[derive(Serialize)]
            struct Document<'g> {
                jlfix: &'static str,
                groups: &'g [Group],
            }
            let mut out = output::data();
            out.write_all(&output::to_json(&Document { jlfix: env!("CARGO_PKG_VERSION"), groups: &groups }))?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Format::Jsonl => {
            let mut out = output::data();
            for group in &groups {
                out.write_all(&output::to_json(group))?;
                out.write_all(b"\n")?;
            }
            out.flush()?;
        }
        Format::Csv => csv(&groups)?,
    }
    Ok(tally.exit())
}

/// Reads the files of a group and plans their merge. Nothing if fewer than two can be read.
fn look_at(group: CopyGroup, context: &Context, tally: &mut Tally) -> Option<Group> {
    let CopyGroup { app_id, user, files } = group;
    let mut loaded = Vec::with_capacity(files.len());
    for path in files {
        match load(&path, context) {
            Ok(found) => {
                tally.done += 1;
                loaded.push(found);
            }
            Err(message) => {
                output::error(&message);
                tally.failed += 1;
            }
        }
    }
    // Into the list that Windows reads; of several that it could, the one that was used last.
    loaded.sort_by_key(|found| (!is_plain(&found.path, app_id), !is_live(&found.path), Reverse(found.row.last_use)));
    let target = loaded.first().filter(|_| loaded.len() > 1)?.path.clone();
    let lists: Vec<(&Path, &[u8])> = loaded.iter().map(|found| (found.path.as_path(), found.data.as_slice())).collect();
    let result = merged(&lists, Some(0), context);
    let mut told = Group {
        user,
        app_id,
        app_name: context.names.name(app_id).map(ToOwned::to_owned),
        files: Vec::new(),
        merged: None,
        steps: Vec::new(),
        command: None,
        error: None,
    };
    match &result {
        Ok(merged) => {
            for (found, brought) in loaded.iter_mut().zip(&merged.plan.brought) {
                (found.row.adds, found.row.newer, found.row.pins) = (brought.added, brought.newer, brought.pins);
            }
            told.merged = Some(merged.plan.after.into());
            if !merged.is_same(0) {
                told.steps = merged.steps();
                let words: Vec<String> = loaded.iter().map(|found| quoted(&found.path.to_string_lossy())).collect();
                let into = quoted(&target.to_string_lossy());
                told.command = Some(command(context, &format!("merge {} --into {into}", words.join(" "))));
            }
        }
        Err(message) => told.error = Some(message.clone()),
    }
    told.files = loaded.into_iter().map(|found| found.row).collect();
    Some(told)
}

fn load(path: &Path, context: &Context) -> Result<Loaded, String> {
    let data = input::load(path, &context.read.limits)?.data;
    let compound =
        jlfix::salvage::read(&data, &context.read.limits).map_err(|short| format!("{}: {short}", path.display()))?;
    let list = AutomaticList::read(&compound);
    let last_use = list.entries.iter().map(|entry| entry.dest.last_access).max().unwrap_or_default();
    let row = Copied {
        path: path.to_string_lossy().into_owned(),
        entries: list.entries.len(),
        pinned: list.pinned(),
        size: data.len() as u64,
        last_use,
        adds: 0,
        newer: 0,
        pins: 0,
    };
    drop(list);
    drop(compound);
    Ok(Loaded { path: path.to_owned(), data, row })
}

/// True if the file is named as Windows names it.
fn is_plain(path: &Path, id: AppId) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.eq_ignore_ascii_case(&format!("{id}.automaticDestinations-ms"))
}

/// True if the file is where Windows looks for it.
fn is_live(path: &Path) -> bool {
    let mut names = path.components().rev().skip(1).map(|part| part.as_os_str().to_string_lossy().to_lowercase());
    let wanted = ["automaticdestinations", "recent", "windows", "microsoft", "roaming"];
    wanted.iter().all(|wanted| names.next().is_some_and(|name| name == *wanted))
}

fn people(groups: &[Group], root: &Path) -> String {
    let mut out = String::new();
    for group in groups {
        let name = group.app_name.as_deref().unwrap_or("unknown application");
        let user = group.user.as_ref().map(|user| format!(", user {}", words::harmless(user))).unwrap_or_default();
        let _ = writeln!(out, "{} {}{user}", paint(HEAD, words::harmless(name)), group.app_id);
        for file in &group.files {
            let _ = writeln!(out, "  {}", words::harmless(&file.path));
            let pins = if file.pinned > 0 { format!(", {} pinned", file.pinned) } else { String::new() };
            let entries = words::count(file.entries, "entry");
            let brings = brings(file);
            let last = words::minute(file.last_use.non_zero());
            let _ = writeln!(out, "    {entries}{pins}, last used {last}{}", paint(DIM, brings));
        }
        if let Some(error) = &group.error {
            let _ = writeln!(out, "  {}", paint(WARN, words::harmless(error)));
        }
        match (&group.command, &group.merged) {
            (Some(command), Some(merged)) => {
                let entries = words::count(merged.entries, "entry");
                let size = words::size(merged.bytes);
                let _ = writeln!(out, "  together: {entries}, {} pinned, {size}. Merge them with:", merged.pinned);
                let _ = writeln!(out, "    {}", paint(COMMAND, words::harmless(command)));
            }
            (None, Some(_)) => {
                let _ = writeln!(out, "  {}", paint(GOOD, "the first has all that the others have"));
            }
            _ => {}
        }
        out.push('\n');
    }
    let open = groups.iter().filter(|group| group.command.is_some()).count();
    let root = words::harmless(&root.to_string_lossy()).into_owned();
    let _ = if groups.is_empty() {
        writeln!(out, "no two lists of one application and user under {root}")
    } else {
        let groups = words::count(groups.len(), "group");
        writeln!(out, "{groups} of copies, {open} to merge (nothing was changed)")
    };
    out
}

/// What a file has that those before it lack, in words.
fn brings(file: &Copied) -> String {
    let parts = [(file.adds, "adds"), (file.newer, "used later"), (file.pins, "pinned only there")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| match *what {
            "adds" => format!("adds {}", words::count(*count, "entry")),
            what => format!("{count} {what}"),
        })
        .collect();
    if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) }
}

fn csv(groups: &[Group]) -> Result<(), Stop> {
    let mut out = output::data();
    let columns =
        ["user", "app_id", "path", "entries", "pinned", "size", "last_use", "adds", "newer", "pins", "command"];
    out.write_all(&output::csv_line(columns))?;
    for group in groups {
        for file in &group.files {
            let last_use = file.last_use.non_zero().map(|time| time.to_string()).unwrap_or_default();
            out.write_all(&output::csv_line([
                group.user.clone().unwrap_or_default(),
                group.app_id.to_string(),
                file.path.clone(),
                file.entries.to_string(),
                file.pinned.to_string(),
                file.size.to_string(),
                last_use,
                file.adds.to_string(),
                file.newer.to_string(),
                file.pins.to_string(),
                group.command.clone().unwrap_or_default(),
            ]))?;
        }
    }
    out.flush()?;
    Ok(())
}
