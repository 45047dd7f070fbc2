//! `jlfix diff`: what is different between two lists, two folders of lists, or a list and its backup.

mod pairs;
mod table;

use std::io::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use jlfix::appid::AppId;
use jlfix::diff::{self, Change, Diff, Side};
use jlfix::model::{AutomaticList, Kind, Source};
use serde::Serialize;

use super::change::Figures;
use super::context::Context;
use super::exit::{Exit, Tally};
use super::{Stop, output};
use pairs::{Content, Pair};

/// Show what is different between two lists, two folders of lists, or a list and its backup
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Entries are matched by path and object id, not by their entry id alone. The files of two folders are
matched by relative path, then by name. Exit code 0: the same, byte for byte; 1: different.

Examples:
  jlfix diff A B
  jlfix diff --backup f01b4d95cf55d32a.automaticDestinations-ms
  jlfix diff --backup=20261130T184501 FILE
  jlfix diff --format json FOLDER EVIDENCE")]
pub(crate) struct DiffArgs {
    /// The first file or folder; with --backup, the file to compare with its backup
    a: PathBuf,
    /// The second file or folder
    #[arg(required_unless_present = "backup", conflicts_with = "backup")]
    b: Option<PathBuf>,
    /// Compare the file with its copy in this run of the backup store: an id, its start, or `latest`; the newest run that
    /// saved the file if none is named
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    backup: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: DiffFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// For people
    Table,
    /// One JSON document
    Json,
    /// One JSON object per file
    Jsonl,
}

/// Whether a file is in one place only, or in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum FileStatus {
    Same,
    Changed,
    Added,
    Removed,
}

/// What is different between two files.
#[derive(Debug, Serialize)]
struct FileDiff {
    path_before: Option<String>,
    path_after: Option<String>,
    app_id: Option<AppId>,
    app_name: Option<String>,
    status: FileStatus,
    before: Option<Figures>,
    after: Option<Figures>,
    #[serde(flatten)]
    diff: Diff,
}

/// Sums over files.
#[derive(Debug, Default, Serialize)]
struct DiffTotals {
    files: usize,
    same: usize,
    changed: usize,
    added: usize,
    removed: usize,
    failed: usize,
    entries_added: usize,
    entries_removed: usize,
    entries_changed: usize,
    pins_changed: usize,
}

impl DiffTotals {
    fn add(&mut self, file: &FileDiff) {
        self.files += 1;
        match file.status {
            FileStatus::Same => self.same += 1,
            FileStatus::Changed => self.changed += 1,
            FileStatus::Added => self.added += 1,
            FileStatus::Removed => self.removed += 1,
        }
        self.entries_added += file.diff.count(Change::Added);
        self.entries_removed += file.diff.count(Change::Removed);
        self.entries_changed += file.diff.count(Change::Changed);
        self.pins_changed += file.diff.pins.len();
    }
}

pub(crate) fn run(args: &DiffArgs, context: &Context) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let pairs = match (&args.backup, &args.b) {
        (Some(run), _) => vec![pairs::with_backup(&args.a, run, context)?],
        (None, Some(b)) => pairs::of_paths(&args.a, b, context, &mut tally)?,
        (None, None) => return Err(Stop::Usage("diff needs two files, two folders, or --backup".to_owned())),
    };
    let mut totals = DiffTotals::default();
    let mut out = output::data();
    if args.format == DiffFormat::Json {
        write!(out, "{{\"jlfix\":\"{}\",\"files\":[", env!("CARGO_PKG_VERSION"))?;
    }
    let mut text = String::new();
    for pair in &pairs {
        let file = match compare(pair, context) {
            Ok(file) => file,
            Err(message) => {
                output::error(&message);
                tally.failed += 1;
                continue;
            }
        };
        tally.done += 1;
        match args.format {
            DiffFormat::Table => text.push_str(&table::file(&file, context.verbose)),
            DiffFormat::Json => {
                out.write_all(if totals.files > 0 { b",\n" } else { b"\n" })?;
                out.write_all(&output::to_json(&file))?;
            }
            DiffFormat::Jsonl => {
                out.write_all(&output::to_json(&file))?;
                out.write_all(b"\n")?;
            }
        }
        totals.add(&file);
    }
    totals.failed = tally.failed;
    if args.format == DiffFormat::Json {
        out.write_all(b"\n],\"totals\":")?;
        out.write_all(&output::to_json(&totals))?;
        out.write_all(b"}\n")?;
    }
    out.flush()?;
    drop(out);
    if args.format == DiffFormat::Table {
        text.push_str(&table::totals(&totals));
        output::people(&text)?;
    }
    tally.findings = totals.files > totals.same;
    Ok(tally.exit())
}

/// Reads both files and compares them.
fn compare(pair: &Pair, context: &Context) -> Result<FileDiff, String> {
    let before = pair.before.as_ref().map(|place| place.read(context)).transpose()?;
    let after = pair.after.as_ref().map(|place| place.read(context)).transpose()?;
    let sources = (parsed(before.as_ref(), context)?, parsed(after.as_ref(), context)?);
    let lists = (sources.0.as_ref().and_then(automatic), sources.1.as_ref().and_then(automatic));
    let sides = (
        side(before.as_ref(), sources.0.as_ref(), lists.0.as_ref()),
        side(after.as_ref(), sources.1.as_ref(), lists.1.as_ref()),
    );
    let diff = diff::compare(sides.0.as_ref(), sides.1.as_ref(), context.read.code_page);
    let name = after.as_ref().or(before.as_ref()).map(|content| content.name.clone()).unwrap_or_default();
    let app_id = AppId::from_copy_name(&name);
    let figures = |content: Option<&Content>| {
        content.and_then(|content| Figures::of(&content.data, Kind::of_name(&content.name), context))
    };
    Ok(FileDiff {
        app_name: app_id.and_then(|id| context.names.name(id)).map(ToOwned::to_owned),
        app_id,
        status: match (&before, &after) {
            (Some(_), Some(_)) if diff.is_empty() => FileStatus::Same,
            (Some(_), None) => FileStatus::Removed,
            (None, Some(_)) => FileStatus::Added,
            _ => FileStatus::Changed,
        },
        before: figures(before.as_ref()),
        after: figures(after.as_ref()),
        path_before: before.as_ref().map(|content| content.shown.clone()),
        path_after: after.as_ref().map(|content| content.shown.clone()),
        diff,
    })
}

fn parsed<'c>(content: Option<&'c Content>, context: &Context) -> Result<Option<Source<'c>>, String> {
    let Some(content) = content else { return Ok(None) };
    let source = Source::read(&content.data, Kind::of_name(&content.name), &context.read);
    let not_a_list = || {
        format!("{}: not a jump list: need a compound file, a custom destinations file or a shell link", content.shown)
    };
    source.ok_or_else(not_a_list).map(Some)
}

fn automatic<'c>(source: &'c Source<'c>) -> Option<AutomaticList<'c>> {
    if let Source::Automatic(Ok(compound)) = source { Some(AutomaticList::read(compound)) } else { None }
}

fn side<'c>(
    content: Option<&'c Content>,
    source: Option<&'c Source<'c>>,
    list: Option<&'c AutomaticList<'c>>,
) -> Option<Side<'c>> {
    Some(Side { data: &content?.data, source: source?, list })
}
