//! `jlfix show`: all that is in a file.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use jlfix::model::Severity;
use jlfix::report::{EntryRow, FileRow, LinkDetail, LinkRow, Totals};
use serde_json::Value;

use super::context::Context;
use super::exit::{Exit, Tally};
use super::input::{self, View};
use super::lists::Apps;
use super::options::{Format, Verbose};
use super::output::{self, Document, csv_line};
use super::style::{DIM, HEAD, of_state, paint};
use super::table::{Align, Grid};
use super::{Stop, check, deleted, fields, words};

/// Show header, entries, links and findings of files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix show samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms
  jlfix show --deleted FILE
  jlfix show --links --format jsonl FOLDER | jq .entries[].link.local_path")]
pub(crate) struct ShowArgs {
    /// Files (jump lists, or shell links), or folders to search
    #[arg(required_unless_present = "app", value_name = "FILE")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    apps: Apps,
    /// Show every field of every link
    #[arg(long)]
    links: bool,
    /// Look for deleted entries and links, too: in free sectors, behind the ends of streams, in the directory
    #[arg(long)]
    deleted: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    pub(crate) verbose: Verbose,
}

pub(crate) fn run(args: &ShowArgs, context: &Context) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let files = args.apps.gather(&args.paths, context, &mut tally)?;
    let detail = if args.links { LinkDetail::Whole } else { LinkDetail::Target };
    let options = context.report().entries(detail).deleted(args.deleted);
    let each = |view: View<'_>| {
        let mut totals = Totals::default();
        totals.add(view.row);
        let rendered = match args.format {
            Format::Table => people(view.row, args.links, context.verbose).into_bytes(),
            Format::Csv => csv(view.row),
            Format::Json | Format::Jsonl => output::json(view.row),
        };
        (view.row.worst(), totals, rendered)
    };
    let mut totals = Totals::default();
    let mut worst = None;
    let mut out = output::data();
    match args.format {
        Format::Table => {
            drop(out);
            input::view_all(&files, context, &options, &mut tally, each, |_, (severity, _, rendered)| {
                worst = worst.max(severity);
                output::people(&String::from_utf8_lossy(&rendered))
            })?;
        }
        Format::Csv => {
            out.write_all(&csv_line(CSV_COLUMNS))?;
            input::view_all(&files, context, &options, &mut tally, each, |_, (severity, _, rendered)| {
                worst = worst.max(severity);
                out.write_all(&rendered)
            })?;
            out.flush()?;
        }
        Format::Json | Format::Jsonl => {
            let mut document = Document::start(&mut out, args.format)?;
            input::view_all(&files, context, &options, &mut tally, each, |_, (severity, one, rendered)| {
                totals.merge(&one);
                worst = worst.max(severity);
                document.file(&rendered)
            })?;
            totals.failed = tally.failed as u64;
            document.finish(&totals)?;
        }
    }
    tally.findings = worst >= Some(Severity::Error);
    Ok(tally.exit())
}

fn people(row: &FileRow<'_>, links: bool, verbose: bool) -> String {
    let mut out = String::new();
    let name = row.app_name.as_deref().unwrap_or("unknown application");
    let id = row.app_id.map(|id| format!("  {id}")).unwrap_or_default();
    let version = row.format_version.map(|version| format!(", format {version}")).unwrap_or_default();
    let _ = writeln!(out, "{}{id}  {}{version}", paint(HEAD, name), row.kind.word());
    let mut line = |label: &str, value: String| {
        let _ = writeln!(out, "  {}  {value}", paint(DIM, format!("{label:<9}")));
    };
    line("path", words::harmless(row.path).into_owned());
    let pinned =
        row.pinned_count.map(|pinned| format!(" ({} pinned)", words::number(pinned as u64))).unwrap_or_default();
    line(
        "holds",
        format!(
            "{}{pinned}, {}, {}",
            words::count(row.entries_count, "entry"),
            words::count(row.links_count, "link"),
            words::size(row.size)
        ),
    );
    line("modified", row.modified.map_or("-".to_owned(), |time| time.to_string()));
    if let Some(header) = row.header {
        line(
            "header",
            format!(
                "{}, {} pinned, total {}, last id {}, actions {}",
                words::count(header.count as usize, "entry"),
                words::number(u64::from(header.pinned)),
                header.total as f32,
                header.last_id,
                header.actions
            ),
        );
    }
    if let Some(cost) = row.cost {
        line(
            "a click",
            format!(
                "{} reads of {:.1} bytes on average, {} in total, {:.2} times the file, about {}",
                words::number(cost.reads),
                cost.mean_read(),
                words::size(cost.bytes),
                cost.passes(),
                words::milliseconds(cost.estimated_ms())
            ),
        );
        let places = usize::try_from(cost.discontinuities).unwrap_or(usize::MAX);
        let saved = match cost.split_reads {
            0 => String::new(),
            saved => format!("; written in one piece it takes up to {} reads less", words::number(saved)),
        };
        line("layout", format!("{}{saved}", words::count(places, "discontinuity")));
    }
    line("state", paint(of_state(row.state), row.state.word()));
    for category in row.categories.iter().flatten() {
        let resource = if category.resource { " (a resource of the application)" } else { "" };
        line(
            "category",
            format!("{}{resource}, {}", words::harmless(&category.name), words::count(category.links, "link")),
        );
    }
    if let Some(summary) = deleted::summary(row) {
        line("deleted", summary);
    }
    let entries = row.entries.as_deref().unwrap_or_default();
    let deleted = row.deleted.as_deref().unwrap_or_default();
    if links {
        for entry in entries {
            out.push('\n');
            fields::write(entry, &mut out);
        }
    } else if !entries.is_empty() {
        out.push('\n');
        out.push_str(&entry_table(entries));
    }
    if links {
        for item in deleted {
            let _ = write!(out, "\n{}", deleted::head(item));
            fields::write(item, &mut out);
        }
    } else if !deleted.is_empty() {
        let _ = write!(out, "\n{}", deleted::table(deleted));
    }
    if !row.findings.is_empty() {
        let _ = write!(out, "\n{}", check::findings(row, verbose));
    }
    out.push('\n');
    out
}

fn entry_table(entries: &[EntryRow<'_>]) -> String {
    let custom = matches!(entries.first(), Some(EntryRow::Custom(_)));
    let columns: &[(&str, Align)] = if custom {
        &[("#", Align::Right), ("Category", Align::Left), ("Name", Align::Left), ("Target", Align::Left)]
    } else {
        &[
            ("#", Align::Right),
            ("Entry", Align::Right),
            ("Pin", Align::Right),
            ("Last access (UTC)", Align::Left),
            ("Opens", Align::Right),
            ("Score", Align::Right),
            ("Host", Align::Left),
            ("Path", Align::Left),
            ("", Align::Left),
        ]
    };
    let mut grid = Grid::new(columns)
        .drops(&["Score", "#", "Host", "Opens", "Pin"])
        .shortens(&["Path", "Target", "Name", "Category", "Host"]);
    let text = |value: Option<String>| value.map_or("-".to_owned(), |value| words::harmless(&value).into_owned());
    for entry in entries {
        match entry {
            EntryRow::Automatic(row) => {
                let target = row.link.as_ref().and_then(LinkRow::target);
                let path = row.path.map(|path| path.to_string()).or_else(|| target.clone());
                let mut marks = Vec::new();
                if row.link.is_none() {
                    marks.push("no link");
                }
                if row.position.is_none() {
                    marks.push("no entry");
                }
                if row.checksum_ok == Some(false) {
                    marks.push("wrong checksum");
                }
                if row.recovered.is_some() {
                    marks.push("recovered");
                }
                grid.row(vec![
                    text(row.position.map(|position| position.to_string())),
                    text(row.id.map(|id| id.to_string())),
                    text(row.pin.filter(|pin| *pin != -1).map(|pin| pin.to_string())),
                    words::minute(row.last_access),
                    text(row.interactions.map(|opens| words::number(opens.into()))),
                    text(row.score.map(|score| format!("{score:.1}"))),
                    text(row.host.map(|host| host.to_string())),
                    text(path.as_deref().map(words::path_label)),
                    if marks.is_empty() { String::new() } else { paint(super::style::WARN, marks.join(", ")) },
                ]);
            }
            EntryRow::Custom(row) => grid.row(vec![
                row.position.to_string(),
                text(row.category.clone()),
                text(row.link.link.name.map(|name| name.to_string())),
                text(row.link.target()),
            ]),
        }
    }
    grid.render()
}

/// Columns of `--format csv`: the file's, the entry's, then the link's with `link_` before their names. The last six are
/// those of what is deleted; of what is in use only the first of them, `false`.
const CSV_COLUMNS: [&str; 62] = [
    "path",
    "app_id",
    "app_name",
    "kind",
    "position",
    "id",
    "pinned",
    "pin",
    "rank",
    "score",
    "interactions",
    "last_access",
    "host",
    "entry_path",
    "checksum_ok",
    "checksum",
    "volume_id",
    "object_id",
    "birth_volume_id",
    "birth_object_id",
    "mac",
    "object_time",
    "property_store",
    "category",
    "category_index",
    "link_offset",
    "link_size",
    "link_target",
    "link_local_path",
    "link_network_path",
    "link_network_device",
    "link_network_provider",
    "link_file_size",
    "link_attributes",
    "link_attribute_names",
    "link_created",
    "link_modified",
    "link_accessed",
    "link_drive_type",
    "link_volume_serial",
    "link_volume_label",
    "link_machine_id",
    "link_tracker_volume",
    "link_tracker_file",
    "link_tracker_birth_volume",
    "link_tracker_birth_file",
    "link_mac",
    "link_name",
    "link_relative_path",
    "link_working_dir",
    "link_arguments",
    "link_icon",
    "link_icon_index",
    "recovered",
    "path_utf16",
    "link_problems",
    "deleted",
    "where",
    "offset",
    "whole",
    "joined",
    "live",
];

fn csv(row: &FileRow<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for entry in row.entries.iter().flatten() {
        let entry = serde_json::to_value(entry).unwrap_or_default();
        out.extend(csv_row(row, &entry, entry.get("link"), None));
    }
    for item in row.deleted.iter().flatten() {
        let item = serde_json::to_value(item).unwrap_or_default();
        let none = Value::Null;
        let entry = item.get("entry").filter(|entry| !entry.is_null()).unwrap_or(&none);
        out.extend(csv_row(row, entry, item.get("link"), Some(&item)));
    }
    out
}

fn csv_row(row: &FileRow<'_>, entry: &Value, link: Option<&Value>, deleted: Option<&Value>) -> Vec<u8> {
    let of_link = |field: &str| link.and_then(|link| link.get(field));
    let cell = |column: &&str| match *column {
        "path" => row.path.to_owned(),
        "app_id" => row.app_id.map(|id| id.to_string()).unwrap_or_default(),
        "app_name" => row.app_name.clone().unwrap_or_default(),
        "kind" => row.kind.word().to_owned(),
        "entry_path" => plain(entry.get("path")),
        "id" => plain(deleted.unwrap_or(entry).get("id")),
        "deleted" => deleted.is_some().to_string(),
        "where" | "offset" | "whole" | "joined" | "live" => plain(deleted.and_then(|item| item.get(*column))),
        "link_problems" => {
            let problems = of_link("problems").and_then(Value::as_array).into_iter().flatten();
            let messages = problems.filter_map(|problem| problem.get("message"));
            messages.map(|text| plain(Some(text))).collect::<Vec<_>>().join("; ")
        }
        column => match column.strip_prefix("link_") {
            Some(field) => plain(of_link(field)),
            None => plain(entry.get(column)),
        },
    };
    csv_line(CSV_COLUMNS.iter().map(cell))
}

/// A JSON value as a cell: nothing for null, texts without quotes, lists with spaces between.
fn plain(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => items.iter().map(|item| plain(Some(item))).collect::<Vec<_>>().join(" "),
        Some(other) => other.to_string(),
    }
}
