//! `jlfix replay`: makes the calls that Explorer makes, and those it could make instead, and times them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use jlfix::cost::MICROSECONDS_PER_READ;
use jlfix::model::{AutomaticList, Kind, Source};
use jlfix::replay::{self, Cache, Calls, Pattern, Timing};

use super::context::Context;
use super::exit::Exit;
use super::input;

use super::options::Format;
use super::style::{COMMAND, DIM, HEAD, paint};
use super::table::{Align, Grid};
use super::{Stop, output, words};

/// Make the reads of a right-click and measure them against better ways to read the file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Patterns: explorer (as Explorer reads this list), published (68 bytes per call, as in the published
trace), sector (512), page (4096), buffered (64 KiB), whole (one call).

Examples:
  jlfix replay samples/AutomaticDestinations/f01b4d95cf55d32a.automaticDestinations-ms
  jlfix replay --pattern explorer --rounds 1 FILE")]
pub(crate) struct ReplayArgs {
    /// The file
    file: PathBuf,
    /// Only this pattern; may be repeated
    #[arg(long, value_name = "NAME", value_enum)]
    pattern: Vec<PatternName>,
    /// How many rounds; the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    /// Drop the file from the system's cache before each round, where the system allows it
    #[arg(long)]
    cold: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PatternName {
    Explorer,
    Published,
    Sector,
    Page,
    Buffered,
    Whole,
}

impl PatternName {
    fn pattern(self) -> Pattern {
        match self {
            Self::Explorer => Pattern::Explorer,
            Self::Published => Pattern::Published,
            Self::Sector => Pattern::Sector,
            Self::Page => Pattern::Page,
            Self::Buffered => Pattern::Buffered,
            Self::Whole => Pattern::Whole,
        }
    }
}

#[derive(Debug, Serialize)]
struct ReplayRow {
    file: String,
    size: u64,
    patterns: Vec<Timing>,
}

pub(crate) fn run(args: &ReplayArgs, context: &Context) -> Result<Exit, Stop> {
    let loaded = input::load(&args.file, &context.read.limits).map_err(Stop::Nothing)?;
    let size = loaded.data.len() as u64;
    let shown = args.file.display();
    if size == 0 {
        return Err(Stop::Nothing(format!(
            "{shown}: nothing to replay: need a file with something in it, have 0 bytes"
        )));
    }
    let source = Source::read(&loaded.data, Kind::of_path(&args.file), &context.read).ok_or_else(|| {
        Stop::Nothing(format!("{shown}: no jump list: need a compound file, custom destinations or a link"))
    })?;
    let list = match &source {
        Source::Automatic(Ok(compound)) => Some(AutomaticList::read(compound)),
        _ => None,
    };
    let wanted: Vec<Pattern> = if args.pattern.is_empty() {
        Pattern::ALL.to_vec()
    } else {
        args.pattern.iter().map(|name| name.pattern()).collect()
    };
    let mut patterns: Vec<(Pattern, Calls)> = Vec::new();
    for pattern in wanted {
        match replay::calls(pattern, size, list.as_ref()) {
            Some(calls) => patterns.push((pattern, calls)),
            None if args.pattern.is_empty() => {
                context.note(&format!(
                    "{shown}: a {} file: how Explorer reads it was not measured, so that pattern is left out",
                    source.kind().word()
                ));
            }
            None => {
                return Err(Stop::Nothing(format!(
                    "{shown}: no explorer pattern: need an automatic list, have a {} file",
                    source.kind().word()
                )));
            }
        }
    }
    let file =
        std::fs::File::open(&args.file).map_err(|error| Stop::Nothing(format!("{shown}: cannot open: {error}")))?;
    let cache = if args.cold { Cache::Cold(&args.file) } else { Cache::Warm };
    let timings = replay::replay(&file, size, &patterns, args.rounds as usize, cache)
        .map_err(|error| Stop::Nothing(format!("{shown}: cannot read: {error}")))?;
    match args.format {
        Format::Table => output::people(&people(&loaded.facts.path, size, &timings, args))?,
        Format::Json | Format::Jsonl => {
            let row = ReplayRow { file: loaded.facts.path, size, patterns: timings };
            let mut out = output::data();
            out.write_all(&output::to_json(&row))?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Format::Csv => {
            let mut out = output::data();
            out.write_all(&output::csv_line([
                "pattern",
                "calls",
                "bytes",
                "mean",
                "passes",
                "seconds",
                "times_whole",
                "cold",
            ]))?;
            for t in &timings {
                out.write_all(&output::csv_line([
                    t.name.word().to_owned(),
                    t.calls.to_string(),
                    t.bytes.to_string(),
                    format!("{:.2}", t.mean),
                    format!("{:.3}", t.passes),
                    format!("{:.9}", t.seconds),
                    t.times_whole.map(|times| format!("{times:.2}")).unwrap_or_default(),
                    t.cold.map(|cold| cold.to_string()).unwrap_or_default(),
                ]))?;
            }
            out.flush()?;
        }
    }
    Ok(Exit::Clean)
}

/// Characters of the longest bar.
const BAR: f64 = 28.0;

fn people(path: &str, size: u64, timings: &[Timing], args: &ReplayArgs) -> String {
    let rounds = match args.rounds {
        1 => "one round".to_owned(),
        rounds => format!("median of {rounds} rounds"),
    };
    let mut out = format!("{}  {}, {rounds}\n\n", paint(HEAD, words::harmless(path)), words::size(size));
    let mut grid = Grid::new(&[
        ("Pattern", Align::Left),
        ("Calls", Align::Right),
        ("Bytes per call", Align::Right),
        ("Passes", Align::Right),
        ("Time", Align::Right),
        ("× whole", Align::Right),
        ("", Align::Left),
    ])
    .drops(&["", "Passes", "Bytes per call"]);
    let longest = timings.iter().map(|timing| timing.seconds).fold(0.0, f64::max);
    for timing in timings {
        let share = if longest > 0.0 { timing.seconds / longest } else { 0.0 };
        let bar = "█".repeat((share * BAR).round() as usize);
        grid.row(vec![
            timing.name.word().to_owned(),
            words::number(timing.calls),
            format!("{:.1}", timing.mean),
            format!("{:.2}", timing.passes),
            duration(timing.seconds),
            timing.times_whole.map_or("-".to_owned(), |times| format!("{times:.1}")),
            paint(COMMAND, if bar.is_empty() { "▏".to_owned() } else { bar }),
        ]);
    }
    out.push_str(&grid.render());
    if let Some(explorer) = timings.iter().find(|timing| matches!(timing.name, Pattern::Explorer | Pattern::Published))
    {
        let _ = writeln!(
            out,
            "\nA call of the {} pattern takes {:.2} µs here, so a right-click {}. At the {MICROSECONDS_PER_READ} µs of the machine that was\ntraced it would be {}. {}",
            explorer.name.word(),
            explorer.microseconds_per_call(),
            duration(explorer.seconds),
            words::milliseconds(explorer.calls as f64 * MICROSECONDS_PER_READ / 1000.0),
            paint(DIM, cache_note(timings, args.cold)),
        );
    }
    out
}

/// In which state of the cache the times were measured.
fn cache_note(timings: &[Timing], asked: bool) -> &'static str {
    if !asked {
        return "(The file is in the cache; Explorer's own work comes on top.)";
    }
    if timings.iter().all(|timing| timing.cold == Some(true)) {
        "(The cache was cold before each round.)"
    } else if timings.iter().any(|timing| timing.cold == Some(false)) {
        "(The cache was NOT cold: the system kept the file in memory.)"
    } else {
        "(The pages were dropped before each round; this system does not say whether the cache was cold.)"
    }
}

fn duration(seconds: f64) -> String {
    if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 0.001 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{:.0} µs", seconds * 1e6)
    }
}
