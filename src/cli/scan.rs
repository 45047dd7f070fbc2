//! `jlfix scan`: a row a file, then totals, then in words which list costs most and what would help.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;

use clap::ValueEnum;

use jlfix::limits::Limits;
use jlfix::model::Kind;
use jlfix::plan::{self, PruneRules};
use jlfix::report::{FileRow, ReportOptions, State, Totals};
use jlfix::scan::Found;

use super::context::Context;
use super::exit::{Exit, Tally};
use super::input::{self, View};
use super::lists::Lists;
use super::options::Format;
use super::output::{self, Document, csv_line};
use super::scan_line::{CSV_COLUMNS, Line, csv_row};
use super::select::Select;
use super::style::{COMMAND, DIM, HEAD, of_state, paint};
use super::table::{Align, Grid};
use super::{Stop, words};

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
    /// What to sort by
    #[arg(long, value_enum, default_value = "reads")]
    sort: Sort,
    #[command(flatten)]
    select: Select,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
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
    /// In the order found: csv, json and jsonl are written while files are read, in little memory
    None,
}

pub(crate) fn run(args: &ScanArgs, context: &Context) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let files = args.lists.gather(context, &mut tally)?;
    if args.sort == Sort::None && args.format != Format::Table {
        stream(args, &files, context, &mut tally)?;
    } else {
        collect(args, &files, context, &mut tally)?;
    }
    Ok(tally.exit())
}

impl ScanArgs {
    fn options<'c>(&self, context: &'c Context) -> ReportOptions<'c> {
        context.report().slow_ms(self.select.slow_ms)
    }
}

/// True if a file in this state is a finding of `scan`.
fn is_finding(state: State) -> bool {
    matches!(state, State::Damaged | State::Slow | State::Stale)
}

fn render(row: &FileRow<'_>, format: Format) -> Vec<u8> {
    if format == Format::Csv { csv_row(row) } else { output::json(row) }
}

fn totals_of(row: &FileRow<'_>) -> Totals {
    let mut totals = Totals::default();
    totals.add(row);
    totals
}

/// Writes each row as soon as it is read.
fn stream(args: &ScanArgs, files: &[Found], context: &Context, tally: &mut Tally) -> Result<(), Stop> {
    let mut totals = Totals::default();
    let each = |view: View<'_>| {
        let state = view.row.state;
        (state, args.select.accepts(state, view.row.size).then(|| (render(view.row, args.format), totals_of(view.row))))
    };
    let mut out = output::data();
    let mut rows = Rows::start(&mut out, args.format)?;
    let mut found_any = false;
    input::view_all(files, context, &args.options(context), tally, each, |_, (state, shown)| {
        found_any |= is_finding(state);
        let Some((rendered, one)) = shown else { return Ok(()) };
        totals.merge(&one);
        rows.row(&rendered)
    })?;
    totals.failed = tally.failed as u64;
    tally.findings = found_any;
    Ok(rows.finish(&totals)?)
}

/// Reads all, then writes the rows in order.
fn collect(args: &ScanArgs, files: &[Found], context: &Context, tally: &mut Tally) -> Result<(), Stop> {
    let (mut totals, mut read) = (Totals::default(), 0);
    let mut lines: Vec<Line<'_>> = Vec::with_capacity(files.len());
    let each = |view: View<'_>| (Line::new(view.row), totals_of(view.row));
    let mut found_any = false;
    input::view_all(files, context, &args.options(context), tally, each, |found, (line, one)| {
        read += one.files;
        found_any |= is_finding(line.state);
        if args.select.accepts(line.state, line.size) {
            totals.merge(&one);
            lines.push(line.of(&found.path));
        }
        Ok(())
    })?;
    // Totals are those of the rows; what could not be read has no state, so no selection leaves it out.
    totals.failed = tally.failed as u64;
    tally.findings = found_any;
    sort(&mut lines, args.sort);
    if args.format == Format::Table {
        let mut out = output::people_writer();
        table(&lines, &totals, read, context, &mut out)?;
        out.write_all(slow_lists(&lines, args).as_bytes())?;
        return Ok(out.flush()?);
    }
    let mut out = output::data();
    let mut rows = Rows::start(&mut out, args.format)?;
    for line in &lines {
        rows.row(&render(&line.row(&line.path.to_string_lossy()), args.format))?;
    }
    Ok(rows.finish(&totals)?)
}

/// Rows that are rendered already, as JSON, JSON lines or CSV.
enum Rows<'w, W: Write> {
    Json(Document<'w, W>),
    Csv(&'w mut W),
}

impl<'w, W: Write> Rows<'w, W> {
    fn start(out: &'w mut W, format: Format) -> std::io::Result<Self> {
        if format != Format::Csv {
            return Ok(Self::Json(Document::start(out, format)?));
        }
        out.write_all(&csv_line(CSV_COLUMNS))?;
        Ok(Self::Csv(out))
    }

    fn row(&mut self, rendered: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Json(document) => document.file(rendered),
            Self::Csv(out) => out.write_all(rendered),
        }
    }

    fn finish(self, totals: &Totals) -> std::io::Result<()> {
        match self {
            Self::Json(document) => document.finish(totals),
            Self::Csv(out) => out.flush(),
        }
    }
}

fn sort(lines: &mut [Line<'_>], by: Sort) {
    // The worst first where the figure is the same; the order of paths decides last, as the sort is stable.
    match by {
        Sort::None => {}
        Sort::Name => lines.sort_by(|a, b| a.path.cmp(b.path)),
        Sort::Size => lines.sort_by_key(|line| (Reverse(line.size), line.state)),
        Sort::Entries => lines.sort_by_key(|line| (Reverse(line.entries), line.state)),
        Sort::Reads => lines.sort_by_key(|line| (Reverse(line.reads()), line.state)),
        Sort::Used => lines.sort_by_key(|line| (Reverse(line.used()), line.state)),
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

fn cells(row: &FileRow<'_>, name: &str) -> Vec<String> {
    let dash = || "-".to_owned();
    vec![
        paint(of_state(row.state), row.state.word()),
        words::harmless(&words::shortened(name, 34)).into_owned(),
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

fn table(
    lines: &[Line<'_>],
    totals: &Totals,
    read: u64,
    context: &Context,
    out: &mut impl Write,
) -> std::io::Result<()> {
    if !lines.is_empty() {
        // Where all files are in one folder, the user knows which.
        let several = lines.windows(2).any(|pair| matches!(pair, [a, b] if a.path.parent() != b.path.parent()));
        let folder = |line: &Line<'_>| {
            line.path.parent().map(|parent| parent.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let users: BTreeSet<&str> = lines.iter().filter_map(|line| line.user.as_deref()).collect();
        let mut columns = COLUMNS.to_vec();
        if users.len() > 1 {
            columns.insert(1, ("User", Align::Left));
        }
        if several {
            columns.push(("Folder", Align::Left));
        }
        let cells = |line: &Line<'_>| {
            let mut cells = cells(&line.row(""), &line.name());
            if users.len() > 1 {
                let user = words::shortened(line.user.as_deref().unwrap_or("-"), 20);
                cells.insert(1, words::harmless(&user).into_owned());
            }
            if several {
                cells.push(words::shortened(&words::harmless(&folder(line)), 48));
            }
            cells
        };
        Grid::new(&columns)
            .drops(&["Folder", "Kind", "AppID", "Split", "Last used (UTC)", "Pinned", "User", "Click"])
            .shortens(&["Application", "User", "Folder"])
            .stand_in("AppID", "Application")
            .write(|| lines.iter().map(cells), out)?;
        writeln!(out)?;
    }
    trouble(lines, out)?;
    writeln!(out, "{}", paint(HEAD, summary(totals, read)))?;
    out.write_all(advice(lines, totals, context).as_bytes())
}

/// Which files are wrong, and how.
fn trouble(lines: &[Line<'_>], out: &mut impl Write) -> std::io::Result<()> {
    let mut any = false;
    for line in lines.iter().filter(|line| matches!(line.state, State::Damaged | State::Stale)) {
        let Some(why) = line.why() else { continue };
        let path = line.path.display().to_string();
        let state = paint(of_state(line.state), line.state.word());
        writeln!(out, "{state} {}\n        {}", words::harmless(&path), paint(DIM, words::harmless(&why)))?;
        any = true;
    }
    if any { writeln!(out) } else { Ok(()) }
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
fn advice(lines: &[Line<'_>], totals: &Totals, context: &Context) -> String {
    let worst = lines.iter().filter(|line| line.kind == Kind::Automatic).max_by_key(|line| line.reads());
    let Some(worst) = worst.filter(|worst| worst.reads() > 0) else { return String::new() };
    let mut out = worst_list(worst, totals, context);
    let others: Vec<&Line<'_>> =
        lines.iter().filter(|line| line.is_fragmented() && !std::ptr::eq(*line, worst)).collect();
    if let [first, rest @ ..] = others.as_slice() {
        let more = match rest.len() {
            0 => String::new(),
            more => format!(" and {}", words::count(more, "other")),
        };
        let _ = writeln!(
            out,
            "{}{more} would take clearly fewer reads if rewritten in one piece; nothing is dropped then:\n  {}",
            words::harmless(&first.name()),
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

/// The command for all slow lists, where there are several.
fn slow_lists(lines: &[Line<'_>], args: &ScanArgs) -> String {
    let slow = lines.iter().filter(|line| line.kind == Kind::Automatic && line.state == State::Slow).count();
    if slow < 2 {
        return String::new();
    }
    let limit = args.select.slow_limit().map(|ms| format!(" --slow-ms {ms}")).unwrap_or_default();
    let command = format!("jlfix prune --keep {ADVISED_KEEP} --only slow{limit} {}", args.lists.arguments());
    format!(
        "{} are slow. This prunes them and leaves the others alone:\n  {}\n",
        words::count(slow, "list"),
        paint(COMMAND, words::harmless(command.trim_end()))
    )
}

/// What the most expensive list costs, and what would help.
fn worst_list(worst: &Line<'_>, totals: &Totals, context: &Context) -> String {
    if worst.state != State::Slow && worst.estimated_ms() < 50.0 {
        // Nothing is known of a list that cannot be read.
        let verdict = match (totals.failed, totals.damaged) {
            (0, 0) => " If menus are slow, it is not the jump lists.",
            _ => " What is damaged or could not be read may be slow all the same.",
        };
        return format!(
            "No list is slow: the most expensive takes {} reads per click, about {}.{verdict}\n",
            words::number(worst.reads()),
            words::milliseconds(worst.estimated_ms())
        );
    }
    let name = worst.name();
    let name = if name == "-" { worst.path.display().to_string() } else { name.into_owned() };
    let name = words::harmless(&name);
    let path = words::quoted_path(&worst.path.display().to_string());
    let mut out = format!(
        "{name} is the most expensive: a right-click makes {} reads of {} in total, about {}.\n",
        words::number(worst.reads()),
        words::size(worst.bytes_read()),
        words::milliseconds(worst.estimated_ms()),
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
fn pruned(worst: &Line<'_>, context: &Context) -> Option<Pruned> {
    let found = Found { path: worst.path.to_owned(), hint: Some(Kind::Automatic), named: true };
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
