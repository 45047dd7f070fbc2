//! `jlfix scan`: a row a file, then totals, then in words which list costs most and what would help.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;

use jlfix::limits::Limits;
use jlfix::model::Kind;
use jlfix::plan::{self, PruneRules};
use jlfix::report::{FileRow, SLOW_MS, State, Totals};
use jlfix::scan::Found;

use super::context::Context;
use super::exit::{Exit, Tally};
use super::input::{self, View};
use super::lists::Lists;
use super::options::Format;
use super::output::{self, Document, csv_line};
use super::style::{COMMAND, DIM, HEAD, of_state, paint};
use super::table::{Align, Grid};
use super::{Stop, live, words};

/// How many entries the advice keeps.
const ADVISED_KEEP: usize = 50;

/// Show what each jump list costs, the worst first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix scan samples
  jlfix scan --only damaged,slow --format json FOLDER
  jlfix scan --sort used FOLDER
  jlfix scan --app explorer FOLDER")]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    lists: Lists,
    /// Scan the lists of every user of this machine (Windows)
    #[arg(long, conflicts_with = "paths")]
    all_users: bool,
    /// What to sort by
    #[arg(long, value_enum, default_value = "reads")]
    sort: Sort,
    /// Show only files in these states: damaged, slow, stale, empty, ok
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_enum)]
    only: Vec<StateName>,
    /// From how many milliseconds a click counts as slow
    #[arg(long, default_value_t = SLOW_MS, value_name = "MS", value_parser = milliseconds)]
    slow_ms: f64,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

fn milliseconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|ms: &f64| ms.is_finite() && *ms >= 0.0)
        .ok_or_else(|| "need a number of milliseconds".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// The largest first
    Size,
    /// The most entries first
    Entries,
    /// The most reads per click first
    Reads,
    /// The last used first
    Used,
    /// By path
    Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateName {
    Damaged,
    Slow,
    Stale,
    Empty,
    Ok,
}

impl StateName {
    fn state(self) -> State {
        match self {
            Self::Damaged => State::Damaged,
            Self::Slow => State::Slow,
            Self::Stale => State::Stale,
            Self::Empty => State::Empty,
            Self::Ok => State::Ok,
        }
    }
}

/// What is kept of a file until all are read: what it is sorted by, and how it is written.
struct Line {
    path: PathBuf,
    size: u64,
    entries: usize,
    reads: u64,
    used: u64,
    state: State,
    automatic: bool,
    name: String,
    user: Option<String>,
    estimated_ms: f64,
    bytes_read: u64,
    /// True if a rewrite in one piece alone would make it clearly cheaper.
    fragmented: bool,
    rendered: Rendered,
}

enum Rendered {
    Bytes(Vec<u8>),
    Cells { cells: Vec<String>, why: Option<String> },
}

pub(crate) fn run(args: &ScanArgs, context: &Context) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let files = if args.all_users {
        let folders = live::all_users(context, &mut tally)?;
        let mut files = input::gather_live(&folders, context, &mut tally);
        args.lists.apps.pick(&mut files, context)?;
        files
    } else {
        args.lists.gather(context, &mut tally)?
    };
    let options = context.report().slow_ms(args.slow_ms);
    let (mut totals, mut of_all) = (Totals::default(), Totals::default());
    let mut lines: Vec<Line> = Vec::with_capacity(files.len());
    let each = |view: View<'_>| {
        let mut totals = Totals::default();
        totals.add(view.row);
        (line(view.row, args.format), totals)
    };
    let mut found_any = false;
    input::view_all(&files, context, &options, &mut tally, each, |found, (line, one)| {
        of_all.merge(&one);
        found_any |= matches!(line.state, State::Damaged | State::Slow | State::Stale);
        if args.only.is_empty() || args.only.iter().any(|only| only.state() == line.state) {
            totals.merge(&one);
            lines.push(Line { path: found.path.clone(), ..line });
        }
        Ok(())
    })?;
    // Totals are those of the rows; what could not be read has no state, so no selection leaves it out.
    totals.failed = tally.failed as u64;
    tally.findings = found_any;
    sort(&mut lines, args.sort);
    match args.format {
        Format::Table => output::people(&table(&lines, &totals, of_all.files, context))?,
        Format::Csv => csv(&lines)?,
        Format::Json | Format::Jsonl => {
            let mut out = output::data();
            let mut document = Document::start(&mut out, args.format)?;
            for line in &lines {
                if let Rendered::Bytes(bytes) = &line.rendered {
                    document.file(bytes)?;
                }
            }
            document.finish(&totals)?;
        }
    }
    Ok(tally.exit())
}

fn sort(lines: &mut [Line], by: Sort) {
    // The worst first where the figure is the same; the order of paths decides last, as the sort is stable.
    match by {
        Sort::Name => lines.sort_by(|a, b| a.path.cmp(&b.path)),
        Sort::Size => lines.sort_by_key(|line| (Reverse(line.size), line.state)),
        Sort::Entries => lines.sort_by_key(|line| (Reverse(line.entries), line.state)),
        Sort::Reads => lines.sort_by_key(|line| (Reverse(line.reads), line.state)),
        Sort::Used => lines.sort_by_key(|line| (Reverse(line.used), line.state)),
    }
}

fn line(row: &FileRow<'_>, format: Format) -> Line {
    let rendered = match format {
        Format::Table => Rendered::Cells {
            cells: cells(row),
            why: row.findings.iter().min_by_key(|finding| Reverse(finding.severity())).map(|finding| {
                let more = match row.findings.len() {
                    1 => String::new(),
                    count => format!(" (and {} more)", count - 1),
                };
                format!("{} {}{more}", finding.code, finding.message)
            }),
        },
        Format::Csv => Rendered::Bytes(csv_row(row)),
        Format::Json | Format::Jsonl => Rendered::Bytes(output::json(row)),
    };
    Line {
        path: PathBuf::new(),
        size: row.size,
        entries: row.entries_count,
        reads: row.cost.map_or(0, |cost| cost.reads),
        bytes_read: row.cost.map_or(0, |cost| cost.bytes),
        used: row.last_used.map_or(0, |time| time.0),
        state: row.state,
        automatic: row.kind == Kind::Automatic,
        name: application(row),
        user: row.user.map(ToOwned::to_owned),
        estimated_ms: row.estimated_ms(),
        fragmented: row.cost.is_some_and(|cost| cost.is_worth_compacting()),
        rendered,
    }
}

/// The application, or its AppID where no name is known, or the file's own name where there is no AppID.
fn application(row: &FileRow<'_>) -> String {
    match (&row.app_name, row.app_id) {
        (Some(name), _) => name.clone(),
        (None, Some(_)) => "-".to_owned(),
        (None, None) => row.path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
    }
}

const COLUMNS: [(&str, Align); 11] = [
    ("State", Align::Left),
    ("Application", Align::Left),
    ("AppID", Align::Left),
    ("Kind", Align::Left),
    ("Size", Align::Right),
    ("Entries", Align::Right),
    ("Pinned", Align::Right),
    ("Reads per click", Align::Right),
    ("Split", Align::Right),
    ("Click", Align::Right),
    ("Last used (UTC)", Align::Left),
];

fn cells(row: &FileRow<'_>) -> Vec<String> {
    let dash = || "-".to_owned();
    vec![
        paint(of_state(row.state), row.state.word()),
        words::harmless(&words::shortened(&application(row), 34)).into_owned(),
        row.app_id.map_or_else(dash, |id| id.to_string()),
        row.kind.word().to_owned(),
        words::size(row.size),
        words::number(row.entries_count as u64),
        row.pinned_count.filter(|pinned| *pinned > 0).map_or_else(dash, |pinned| words::number(pinned as u64)),
        row.cost.map_or_else(dash, |cost| words::number(cost.reads)),
        row.cost.filter(|cost| cost.split_reads > 0).map_or_else(dash, |cost| words::number(cost.split_reads)),
        row.cost.map_or_else(dash, |cost| words::milliseconds(cost.estimated_ms())),
        words::minute(row.last_used),
    ]
}

fn table(lines: &[Line], totals: &Totals, read: u64, context: &Context) -> String {
    let mut out = String::new();
    if !lines.is_empty() {
        // Where all files are in one folder, the user knows which.
        let folder =
            |line: &Line| line.path.parent().map(|parent| parent.to_string_lossy().into_owned()).unwrap_or_default();
        let several = lines.windows(2).any(|pair| matches!(pair, [a, b] if folder(a) != folder(b)));
        let users: BTreeSet<&str> = lines.iter().filter_map(|line| line.user.as_deref()).collect();
        let mut columns = COLUMNS.to_vec();
        if users.len() > 1 {
            columns.insert(1, ("User", Align::Left));
        }
        if several {
            columns.push(("Folder", Align::Left));
        }
        let mut grid = Grid::new(&columns)
            .drops(&["Folder", "Kind", "AppID", "Split", "Last used (UTC)", "Pinned", "User", "Click"])
            .shortens(&["Application", "User", "Folder"])
            .stand_in("AppID", "Application");
        for line in lines {
            if let Rendered::Cells { cells, .. } = &line.rendered {
                let mut cells = cells.clone();
                if users.len() > 1 {
                    let user = words::shortened(line.user.as_deref().unwrap_or("-"), 20);
                    cells.insert(1, words::harmless(&user).into_owned());
                }
                if several {
                    cells.push(words::shortened(&words::harmless(&folder(line)), 48));
                }
                grid.row(cells);
            }
        }
        out.push_str(&grid.render());
        out.push('\n');
    }
    trouble(lines, &mut out);
    let _ = writeln!(out, "{}", paint(HEAD, summary(totals, read)));
    out.push_str(&advice(lines, totals, context));
    out
}

/// Which files are wrong, and how.
fn trouble(lines: &[Line], out: &mut String) {
    let mut any = false;
    for line in lines.iter().filter(|line| matches!(line.state, State::Damaged | State::Stale)) {
        let Rendered::Cells { why: Some(why), .. } = &line.rendered else { continue };
        let path = line.path.display().to_string();
        let state = paint(of_state(line.state), line.state.word());
        let _ = writeln!(out, "{state} {}\n        {}", words::harmless(&path), paint(DIM, words::harmless(why)));
        any = true;
    }
    if any {
        out.push('\n');
    }
}

/// The last line of the table: sums over the rows, of `read` files.
fn summary(totals: &Totals, read: u64) -> String {
    let failed = words::number(totals.failed);
    match (read, totals.failed) {
        (0, 0) => return "There are no jump lists.".to_owned(),
        (0, _) => return format!("No jump list could be read: {failed} failed."),
        _ => {}
    }
    let of = if read > totals.files { format!(" of {}", words::number(read)) } else { String::new() };
    let states = [
        (totals.damaged, "damaged"),
        (totals.slow, "slow"),
        (totals.stale, "stale"),
        (totals.empty, "empty"),
        (totals.ok, "ok"),
        (totals.failed, "failed"),
    ];
    let states: Vec<String> = states
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, state)| format!("{} {state}", words::number(*count)))
        .collect();
    format!(
        "{}{of}, {}, {} ({} pinned){}",
        words::count(usize::try_from(totals.files).unwrap_or(usize::MAX), "file"),
        words::size(totals.bytes),
        words::count(usize::try_from(totals.entries).unwrap_or(usize::MAX), "entry"),
        words::number(totals.pinned),
        if states.is_empty() { String::new() } else { format!(": {}", states.join(", ")) },
    )
}

/// In a sentence: which list costs most, what a click on it reads, and what a prune would make of it.
fn advice(lines: &[Line], totals: &Totals, context: &Context) -> String {
    let worst = lines.iter().filter(|line| line.automatic).max_by_key(|line| line.reads);
    let Some(worst) = worst.filter(|worst| worst.reads > 0) else { return String::new() };
    let mut out = worst_list(worst, totals, context);
    let others: Vec<&Line> = lines.iter().filter(|line| line.fragmented && !std::ptr::eq(*line, worst)).collect();
    if let [first, rest @ ..] = others.as_slice() {
        let more = match rest.len() {
            0 => String::new(),
            more => format!(" and {}", words::count(more, "other")),
        };
        let _ = writeln!(
            out,
            "{}{more} would take clearly fewer reads if rewritten in one piece; nothing is dropped then:\n  {}",
            words::harmless(&first.name),
            paint(
                COMMAND,
                words::harmless(&format!(
                    "jlfix prune --compact {}",
                    words::quoted_path(&first.path.display().to_string())
                ))
            ),
        );
    }
    out
}

/// What the most expensive list costs, and what would help.
fn worst_list(worst: &Line, totals: &Totals, context: &Context) -> String {
    if worst.state != State::Slow && worst.estimated_ms < 50.0 {
        // Nothing is known of a list that cannot be read.
        let verdict = match (totals.failed, totals.damaged) {
            (0, 0) => " If menus are slow, it is not the jump lists.",
            _ => " What is damaged or could not be read may be slow all the same.",
        };
        return format!(
            "No list is slow: the most expensive takes {} reads per click, about {}.{verdict}\n",
            words::number(worst.reads),
            words::milliseconds(worst.estimated_ms)
        );
    }
    let name = if worst.name == "-" { worst.path.display().to_string() } else { worst.name.clone() };
    let name = words::harmless(&name);
    let path = words::quoted_path(&worst.path.display().to_string());
    let mut out = format!(
        "{name} is the most expensive: a right-click makes {} reads of {} in total, about {}.\n",
        words::number(worst.reads),
        words::size(worst.bytes_read),
        words::milliseconds(worst.estimated_ms),
    );
    match pruned(worst, context) {
        Some(Pruned { after, dropped: true }) => {
            let _ = writeln!(
                out,
                "Keeping its pins and the {ADVISED_KEEP} newest leaves {} and {} reads, about {}:\n  {}",
                words::count(after.entries, "entry"),
                words::number(after.cost.reads),
                words::milliseconds(after.cost.estimated_ms()),
                paint(COMMAND, words::harmless(&format!("jlfix prune --keep {ADVISED_KEEP} {path}"))),
            );
        }
        Some(Pruned { after, dropped: false }) => {
            let _ = writeln!(
                out,
                "A rewrite in one piece, which drops no entry, leaves {} reads, about {}:\n  {}",
                words::number(after.cost.reads),
                words::milliseconds(after.cost.estimated_ms()),
                paint(COMMAND, words::harmless(&format!("jlfix prune --compact {path}"))),
            );
        }
        None => {
            let _ = writeln!(
                out,
                "It cannot be pruned as it is; see\n  {}",
                paint(COMMAND, words::harmless(&format!("jlfix check {path}")))
            );
        }
    }
    out
}

/// A list after a prune.
struct Pruned {
    after: plan::Size,
    /// True if entries are dropped, false if the file is only rewritten in one piece.
    dropped: bool,
}

/// The list after a prune, computed from the file that the prune would write.
fn pruned(worst: &Line, context: &Context) -> Option<Pruned> {
    let found = Found { path: worst.path.clone(), hint: Some(Kind::Automatic), named: true };
    let options = context.report();
    let limits: Limits = context.read.limits;
    input::view(&found, context, &options, |view| {
        let rules = PruneRules::new().keep(ADVISED_KEEP).compact(true);
        let plan = plan::prune(view.list?, &rules, &limits).ok()?;
        plan.bytes.as_ref()?;
        Some(Pruned { after: plan.after, dropped: !plan.dropped.is_empty() })
    })
    .ok()?
}

const CSV_COLUMNS: [&str; 20] = [
    "path",
    "kind",
    "app_id",
    "app_name",
    "size",
    "modified",
    "format_version",
    "entries_count",
    "pinned_count",
    "links_count",
    "state",
    "findings",
    "last_used",
    "reads",
    "bytes",
    "mean_read",
    "estimated_ms",
    "discontinuities",
    "split_reads",
    "user",
];

fn csv_row(row: &FileRow<'_>) -> Vec<u8> {
    let text = |value: Option<String>| value.unwrap_or_default();
    let codes: Vec<&str> = row.findings.iter().map(|finding| finding.code.as_str()).collect();
    csv_line([
        row.path.to_owned(),
        row.kind.word().to_owned(),
        text(row.app_id.map(|id| id.to_string())),
        text(row.app_name.clone()),
        row.size.to_string(),
        text(row.modified.map(|time| time.to_string())),
        text(row.format_version.map(|version| version.to_string())),
        row.entries_count.to_string(),
        text(row.pinned_count.map(|count| count.to_string())),
        row.links_count.to_string(),
        row.state.word().to_owned(),
        codes.join(" "),
        text(row.last_used.map(|time| time.to_string())),
        text(row.cost.map(|cost| cost.reads.to_string())),
        text(row.cost.map(|cost| cost.bytes.to_string())),
        text(row.cost.map(|cost| format!("{:.2}", cost.mean_read()))),
        text(row.cost.map(|cost| format!("{:.2}", cost.estimated_ms()))),
        text(row.cost.map(|cost| cost.discontinuities.to_string())),
        text(row.cost.map(|cost| cost.split_reads.to_string())),
        row.user.unwrap_or_default().to_owned(),
    ])
}

fn csv(lines: &[Line]) -> Result<(), Stop> {
    use std::io::Write;
    let mut out = output::data();
    out.write_all(&csv_line(CSV_COLUMNS))?;
    for line in lines {
        if let Rendered::Bytes(bytes) = &line.rendered {
            out.write_all(bytes)?;
        }
    }
    out.flush()?;
    Ok(())
}
