//! `jlfix export`: entries and links in the shapes that other tools take.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use sha2::{Digest, Sha256};

use jlfix::export::{self, DateFormat, DumpedLink, SourceFile};
use jlfix::format::text::hex;
use jlfix::model::{Kind, Severity};
use jlfix::report::State;

use super::context::Context;
use super::exit::{Exit, Tally};
use super::export_to::{self, LinkFolder, Outputs, make_folder, refuse_evidence};
use super::input::{self, View};
use super::lists::Lists;
use super::table::{Align, Grid};
use super::{Stop, interrupt, output, words};

/// Write entries and links as JLECmd, JSON lines, CSV, body file or Timesketch
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Formats:
  jlecmd      two CSV files with JLECmd's columns: automatic and custom lists
  jsonl       an entry a line, flat, the keys always the same (docs/export.md)
  csv         the same keys as columns
  bodyfile    for mactime of The Sleuth Kit
  timesketch  JSON lines for Timesketch, a time a line

Examples:
  jlfix export --format jlecmd --to out EVIDENCE
  jlfix export --format jsonl --to - EVIDENCE | jq -r .path
  jlfix export --dump-links out/links EVIDENCE
  jlfix export --deleted --format csv --to out EVIDENCE

Nothing is written beside the evidence or over a file that is there. Exit code 1 if a file is damaged.")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    lists: Lists,
    /// What to write
    #[arg(long, value_enum, requires = "to", required_unless_present = "dump_links")]
    format: Option<ExportFormat>,
    /// The folder to write to, or - for standard output
    #[arg(long, value_name = "DIR", requires = "format")]
    to: Option<PathBuf>,
    /// Write each link as a file <user>_<appid>_<kind>_<entry>.lnk to this folder
    #[arg(long, value_name = "DIR")]
    dump_links: Option<PathBuf>,
    /// How jlecmd writes times, in UTC: yyyy MM dd HH mm ss fffffff and what is between them
    #[arg(long, value_name = "FORMAT", default_value = "yyyy-MM-dd HH:mm:ss", value_parser = date_format, hide_short_help = true)]
    date_format: DateFormat,
    /// Add the SHA-256 of each file (in jsonl, csv and timesketch)
    #[arg(long)]
    hash: bool,
    /// Look for deleted entries and links, too, and write each marked as such; not with jlecmd
    #[arg(long)]
    deleted: bool,
}

fn date_format(text: &str) -> Result<DateFormat, String> {
    DateFormat::parse(text).map_err(|why| why.to_string())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    Jlecmd,
    Jsonl,
    Csv,
    Bodyfile,
    Timesketch,
}

impl ExportFormat {
    /// The names of the files, as JLECmd names its own: the time of the run first.
    fn names(self, stamp: &str) -> Vec<String> {
        let endings: &[&str] = match self {
            Self::Jlecmd => &["AutomaticDestinations.csv", "CustomDestinations.csv"],
            Self::Jsonl => &["JumpLists.jsonl"],
            Self::Csv => &["JumpLists.csv"],
            Self::Bodyfile => &["JumpLists.body"],
            Self::Timesketch => &["JumpLists_Timesketch.jsonl"],
        };
        endings.iter().map(|ending| format!("{stamp}_{ending}")).collect()
    }

    /// What stands before the first row: of the first file, and of the second.
    fn headers(self) -> [Vec<u8>; 2] {
        let mut headers = [Vec::new(), Vec::new()];
        let [first, second] = &mut headers;
        match self {
            Self::Jlecmd => {
                export::jlecmd_automatic_header(first);
                export::jlecmd_custom_header(second);
            }
            Self::Csv => export::csv_header(first),
            Self::Jsonl | Self::Bodyfile | Self::Timesketch => {}
        }
        headers
    }

    fn write(self, file: &SourceFile<'_>, dates: &DateFormat) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Jlecmd if file.kind == Kind::Automatic => export::jlecmd_automatic(file, dates, &mut out),
            Self::Jlecmd => export::jlecmd_custom(file, dates, &mut out),
            Self::Csv => export::csv(file, &mut out),
            Self::Jsonl => export::jsonl(file, &mut out),
            Self::Bodyfile => export::bodyfile(file, &mut out),
            Self::Timesketch => export::timesketch(file, &mut out),
        }
        out
    }
}

/// What is kept of a file until it is its turn to be written.
struct Rendered {
    kind: Kind,
    entries: usize,
    links: usize,
    rows: usize,
    state: State,
    worst: Option<Severity>,
    bytes: Vec<u8>,
    dumped: Vec<DumpedLink>,
}

/// Counts of one kind of file.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    files: usize,
    entries: usize,
    links: usize,
    damaged: usize,
}

const KINDS: [Kind; 3] = [Kind::Automatic, Kind::Custom, Kind::Link];

pub(crate) fn run(args: &ExportArgs, context: &Context) -> Result<Exit, Stop> {
    let to_stdout = args.to.as_deref() == Some(Path::new("-"));
    if to_stdout && args.format == Some(ExportFormat::Jlecmd) {
        return Err(Stop::Usage("--to -: jlecmd is two files; name a folder".to_owned()));
    }
    if args.deleted && args.format == Some(ExportFormat::Jlecmd) {
        let message = "--deleted: the columns of jlecmd do not distinguish a deleted entry from one in the list";
        return Err(Stop::Usage(message.to_owned()));
    }
    let mut tally = Tally::default();
    let (files, roots) = args.lists.gather_with_roots(context, &mut tally)?;
    let to = args.to.as_deref().filter(|_| !to_stdout);
    for (folder, option) in [(to, "--to"), (args.dump_links.as_deref(), "--dump-links")] {
        if let Some(folder) = folder {
            refuse_evidence(folder, option, &roots, &files)?;
        }
    }
    if files.is_empty() && tally.failed > 0 {
        return Ok(tally.exit());
    }
    let mut outputs = open(args.format, to, to_stdout)?;
    let mut links = match &args.dump_links {
        Some(folder) => {
            make_folder(folder)?;
            Some(LinkFolder::new(folder))
        }
        None => None,
    };
    let options = context.report().deleted(args.deleted);
    let each = |view: View<'_>| render(&view, args, context);
    let mut counts = [Count::default(); KINDS.len()];
    let mut failures = Vec::new();
    let mut worst = None;
    let read = input::view_each(&files, context, &options, each, |_, result| {
        if interrupt::asked() {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let file = match result {
            Ok(file) => file,
            Err(why) => {
                tally.failed += 1;
                failures.push(why);
                return Ok(());
            }
        };
        tally.done += 1;
        worst = worst.max(file.worst);
        for (count, _) in counts.iter_mut().zip(KINDS).filter(|(_, kind)| *kind == file.kind) {
            count.files += 1;
            count.entries += file.entries;
            count.links += file.links;
            count.damaged += usize::from(file.state == State::Damaged);
        }
        if let Some(outputs) = &mut outputs {
            outputs.write(file.kind != Kind::Automatic, &file.bytes, file.rows)?;
        }
        if let Some(links) = &mut links {
            file.dumped.iter().try_for_each(|link| links.write(link))?;
        }
        Ok(())
    });
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(Exit::Interrupted),
        other => other?,
    }
    let written = match outputs {
        // A file without a row would look as if there had been nothing.
        Some(outputs) if to_stdout || tally.done > 0 || tally.failed == 0 => outputs.keep()?,
        _ => Vec::new(),
    };
    tally.findings = worst >= Some(Severity::Error);
    if !context.quiet {
        let report = report(&counts, tally.failed, &written, links.as_ref().zip(args.dump_links.as_deref()));
        output::report(&report);
    }
    for failure in failures {
        output::error(&failure);
    }
    Ok(tally.exit())
}

/// Opens what is written to, with the headers in it.
fn open(format: Option<ExportFormat>, to: Option<&Path>, to_stdout: bool) -> Result<Option<Outputs>, Stop> {
    let Some(format) = format else { return Ok(None) };
    let mut outputs = match to {
        None if to_stdout => export_to::stdout(),
        None => return Ok(None),
        Some(folder) => {
            make_folder(folder)?;
            let stamp = jiff::Timestamp::now().strftime("%Y%m%d%H%M%S").to_string();
            Outputs::files(folder, &format.names(&stamp))?
        }
    };
    let [first, second] = format.headers();
    outputs.write(false, &first, 0)?;
    outputs.write(true, &second, 0)?;
    Ok(Some(outputs))
}

fn render(view: &View<'_>, args: &ExportArgs, context: &Context) -> Rendered {
    let (row, loaded) = (view.row, view.loaded);
    let mut file = SourceFile::new(&loaded.facts, view.source, view.list, row, context.read.code_page);
    if let Some(deleted) = view.deleted {
        file = file.with_deleted(deleted);
    }
    if args.hash {
        file.sha256 = Some(hex(&Sha256::digest(&loaded.data)));
    }
    Rendered {
        kind: row.kind,
        entries: row.entries_count,
        links: row.links_count,
        rows: file.rows,
        state: row.state,
        worst: row.worst(),
        bytes: args.format.map(|format| format.write(&file, &args.date_format)).unwrap_or_default(),
        dumped: if args.dump_links.is_some() { export::dumped_links(&file) } else { Vec::new() },
    }
}

/// What was read, what was not, and what was written.
fn report(
    counts: &[Count],
    failed: usize,
    written: &[(PathBuf, usize)],
    links: Option<(&LinkFolder, &Path)>,
) -> String {
    let mut grid = Grid::new(&[
        ("", Align::Left),
        ("Files", Align::Right),
        ("Entries", Align::Right),
        ("Links", Align::Right),
        ("Damaged", Align::Right),
    ]);
    let number = |value: usize| words::number(value as u64);
    for (count, kind) in counts.iter().zip(KINDS).filter(|(count, _)| count.files > 0) {
        grid.row(vec![
            kind.word().to_owned(),
            number(count.files),
            number(count.entries),
            number(count.links),
            number(count.damaged),
        ]);
    }
    if failed > 0 {
        grid.row(vec!["not read".to_owned(), number(failed), String::new(), String::new(), String::new()]);
    }
    let mut out = grid.render();
    for (path, rows) in written {
        let _ = writeln!(out, "wrote {}, {}", words::harmless(&path.display().to_string()), words::count(*rows, "row"));
    }
    if let Some((links, folder)) = links {
        let folder = folder.display().to_string();
        let _ = writeln!(out, "wrote {} to {}", words::count(links.written, "link"), words::harmless(&folder));
    }
    out
}
