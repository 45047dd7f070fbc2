//! `jlfix pins list`: every pin, its place, and whether its target exists.

use std::io::Write as _;

use jlfix::appid::AppId;
use jlfix::format::time::FileTime;
use jlfix::model::{AutomaticList, Entry, Kind};
use jlfix::plan::TargetStatus;
use serde::Serialize;

use super::with_list;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Tally};
use crate::cli::lists::{Lists, app_id};
use crate::cli::options::Format;
use crate::cli::presence::{Drive, Targets};
use crate::cli::style::{BAD, DIM, HEAD, paint};
use crate::cli::table::{Align, Grid};
use crate::cli::{Stop, interrupt, output, words};

/// List the pins of jump lists: order, target, and whether the target exists
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A target is there, missing, or unknown: on another machine, on a drive that is not named with
--drive, on a share, or no path at all. Exit code 1 if a list is damaged so that pins may be missing.

Examples:
  jlfix pins list FOLDER
  jlfix pins list --drive C=/mnt/c --format json FOLDER")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    lists: Lists,
    /// Where a drive of the lists is on this machine, such as C=/mnt/c; may be repeated
    #[arg(long, value_name = "LETTER=DIR")]
    drive: Vec<Drive>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// The pins of a list.
#[derive(Debug, Serialize)]
struct FilePins {
    path: String,
    app_id: Option<AppId>,
    app_name: Option<String>,
    format_version: Option<u32>,
    pins: Vec<PinRow>,
}

#[derive(Debug, Serialize)]
struct PinRow {
    order: i32,
    id: u64,
    path: String,
    target: Option<String>,
    status: &'static str,
    last_access: Option<FileTime>,
}

#[derive(Debug, Default, Serialize)]
struct PinTotals {
    files: usize,
    pins: usize,
    there: usize,
    missing: usize,
    unknown: usize,
}

pub(crate) fn run(args: &ListArgs, context: &Context) -> Result<Exit, Stop> {
    let targets = Targets::new(&args.drive);
    targets.check_drives().map_err(Stop::Usage)?;
    let mut tally = Tally::default();
    let found = args.lists.gather(context, &mut tally)?;
    let mut files = Vec::new();
    for found in found.iter().filter(|found| found.hint != Some(Kind::Custom)) {
        if interrupt::asked() {
            return Ok(Exit::Interrupted);
        }
        let shown = found.path.display().to_string();
        let read = with_list(found, context, |list| {
            if let Some(unseen) = list.unseen() {
                context
                    .note(&format!("{shown}: damaged, pins may be missing: {unseen}. {}", super::repair_first(&shown)));
                tally.findings = true;
            }
            Ok((list.version(), rows(list, &targets, context)))
        });
        match read {
            Ok(read) => {
                tally.done += 1;
                let (format_version, pins) = read.unwrap_or_default();
                if !pins.is_empty() {
                    let app_id = app_id(&found.path);
                    let app_name = app_id.and_then(|id| context.names.name(id)).map(ToOwned::to_owned);
                    files.push(FilePins { path: shown, app_id, app_name, format_version, pins });
                }
            }
            Err(message) => {
                output::error(&message);
                tally.failed += 1;
            }
        }
    }
    let totals = totals(&files);
    match args.format {
        Format::Table => output::people(&table(&files, &totals, context))?,
        Format::Json | Format::Jsonl => json(&files, &totals, args.format)?,
        Format::Csv => csv(&files)?,
    }
    Ok(tally.exit())
}

/// Whether the target of an entry exists, by the path in the DestList.
pub(super) fn status(entry: &Entry<'_>, targets: &Targets<'_>) -> TargetStatus {
    targets.status(&entry.dest.path.to_string())
}

/// Refuses to look for targets where none can be found.
pub(super) fn usable_targets(targets: &Targets<'_>) -> Result<(), Stop> {
    if !targets.can_tell() {
        return Err(Stop::Usage(
            "--missing: the targets are on another machine; name where its drives are, such as --drive C=/mnt/c"
                .to_owned(),
        ));
    }
    targets.check_drives().map_err(Stop::Usage)
}

fn label(status: TargetStatus) -> &'static str {
    match status {
        TargetStatus::Exists => "there",
        TargetStatus::Missing => "missing",
        _ => "unknown",
    }
}

fn rows(list: &AutomaticList<'_>, targets: &Targets<'_>, context: &Context) -> Vec<PinRow> {
    let mut pinned: Vec<_> = list.entries.iter().filter(|entry| entry.dest.is_pinned()).collect();
    pinned.sort_by_key(|entry| entry.dest.pin);
    let row = |entry: &Entry<'_>| PinRow {
        order: entry.dest.pin,
        id: entry.dest.id,
        path: entry.dest.path.to_string(),
        target: entry.read_link(context.read.code_page).and_then(Result::ok).and_then(|link| link.target()),
        status: label(status(entry, targets)),
        last_access: entry.dest.last_access.non_zero(),
    };
    pinned.into_iter().map(row).collect()
}

fn totals(files: &[FilePins]) -> PinTotals {
    let mut totals = PinTotals { files: files.len(), ..PinTotals::default() };
    for pin in files.iter().flat_map(|file| &file.pins) {
        totals.pins += 1;
        match pin.status {
            "there" => totals.there += 1,
            "missing" => totals.missing += 1,
            _ => totals.unknown += 1,
        }
    }
    totals
}

fn table(files: &[FilePins], totals: &PinTotals, context: &Context) -> String {
    let mut out = String::new();
    for file in files {
        let name = file.app_name.as_deref().unwrap_or("unknown application");
        let id = file.app_id.map(|id| format!(" {id}")).unwrap_or_default();
        let head = format!("{name}{id}  {}", file.path);
        out.push_str(&paint(HEAD, words::harmless(&head)));
        out.push('\n');
        let mut grid =
            Grid::new(&[("Pin", Align::Right), ("Id", Align::Right), ("Target", Align::Left), ("Status", Align::Left)]);
        for pin in &file.pins {
            let target = pin.target.as_deref().unwrap_or(&pin.path);
            let target = words::harmless(target);
            let width = if context.verbose { usize::MAX } else { 90 };
            let status = match pin.status {
                "missing" => paint(BAD, pin.status),
                "there" => pin.status.to_owned(),
                _ => paint(DIM, pin.status),
            };
            let target = words::shortened(&target, width);
            grid.row(vec![pin.order.to_string(), pin.id.to_string(), target, status]);
        }
        out.push_str(&grid.render());
        out.push('\n');
    }
    let PinTotals { files, pins, there, missing, unknown } = totals;
    let (pins, lists) = (words::count(*pins, "pin"), words::count(*files, "list"));
    out.push_str(&format!("{pins} in {lists}: {there} there, {missing} missing, {unknown} unknown\n"));
    out
}

fn json(files: &[FilePins], totals: &PinTotals, format: Format) -> std::io::Result<()> {
    let mut out = output::data();
    if format == Format::Jsonl {
        for file in files {
            out.write_all(&output::to_json(file))?;
            out.write_all(b"\n")?;
        }
        return out.flush();
    }
    let document = serde_json::json!({ "jlfix": env!("CARGO_PKG_VERSION"), "files": files, "totals": totals });
    out.write_all(&output::to_json(&document))?;
    out.write_all(b"\n")?;
    out.flush()
}

fn csv(files: &[FilePins]) -> std::io::Result<()> {
    let mut out = output::data();
    out.write_all(&output::csv_line([
        "file",
        "app_id",
        "app_name",
        "order",
        "id",
        "path",
        "target",
        "status",
        "last_access",
    ]))?;
    for file in files {
        for pin in &file.pins {
            out.write_all(&output::csv_line([
                file.path.clone(),
                file.app_id.map(|id| id.to_string()).unwrap_or_default(),
                file.app_name.clone().unwrap_or_default(),
                pin.order.to_string(),
                pin.id.to_string(),
                pin.path.clone(),
                pin.target.clone().unwrap_or_default(),
                pin.status.to_owned(),
                pin.last_access.and_then(FileTime::rfc3339).unwrap_or_default(),
            ]))?;
        }
    }
    out.flush()
}
