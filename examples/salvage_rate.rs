//! Measures how much of damaged jump lists comes back.
//!
//! Takes whole files, damages each in a seeded way, reads the damaged copy through the library, and counts how
//! many of the original's links and DestList entries are there byte for byte. Two rates a kind of damage: of
//! all that the original held, and of what is still in the damaged file.
//!
//! ```text
//! cargo run --release --example salvage_rate -- [--count 20000] [--seed 1] [--kind NAME] [--lost N] [PATH]...
//! ```
//!
//! Without a PATH: the corpus (`JLFIX_CORPUS` or `../shared/corpus`) and `samples`. `--lost N` names the first N
//! mutants that lost something that is still there.

use std::collections::HashMap;
use std::error::Error;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jlfix::format::compound::{Stream, looks_like_compound};
use jlfix::format::custom::{Custom, CustomLink};
use jlfix::format::destlist::{DestList, resync};
use jlfix::format::text::CodePage;
use jlfix::limits::Limits;

#[path = "../tests/support/mutants.rs"]
mod mutants;

use mutants::{Kind, Mutant, Random, SECTOR};

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::from_args()?;
    let originals = Original::load(&options.paths)?;
    if originals.is_empty() {
        return Err("no whole jump list found: name a folder, or set JLFIX_CORPUS".into());
    }
    let links: usize = originals.iter().map(|original| original.links.len()).sum();
    let entries: usize = originals.iter().map(|original| original.entries.len()).sum();
    println!(
        "{} files with {links} links and {entries} entries; {} mutants, seed {}",
        originals.len(),
        options.count,
        options.seed
    );
    std::panic::set_hook(Box::new(|_| {}));
    let mut tally: HashMap<(bool, &str), Tally> = HashMap::new();
    let mut lost = options.lost;
    for number in 0..options.count {
        if options.only.is_some_and(|only| only != number) {
            continue;
        }
        let mut random = Random::new(options.seed, number);
        let original = random.pick(&originals);
        let kinds = if original.automatic { &Kind::ALL[..] } else { &Kind::OF_ANY_FILE[..] };
        let kind = options.kind.as_deref().and_then(Kind::named).unwrap_or_else(|| *random.pick(kinds));
        let mutant = kind.mutant(&original.data, &mut random);
        let outcome = measure(original, &mutant);
        if outcome.lost() && lost > 0 {
            lost -= 1;
            println!("mutant {number}, {}, {}: {outcome}", kind.name(), original.path.display());
        }
        tally.entry((original.automatic, kind.name())).or_default().add(&outcome);
        if options.dump {
            std::fs::write(format!("mutant-{number}"), &mutant.data)?;
        }
    }
    for (automatic, title) in [(true, "automatic destinations"), (false, "custom destinations")] {
        print_table(title, automatic, &tally);
    }
    if let Some(peak) = peak_memory() {
        println!("most memory, all mutants in one process: {:.1} MiB", peak as f64 / 1024.0);
    }
    Ok(())
}

/// What the command line asks for.
struct Options {
    count: u64,
    seed: u64,
    lost: u64,
    only: Option<u64>,
    dump: bool,
    kind: Option<String>,
    paths: Vec<PathBuf>,
}

impl Options {
    fn from_args() -> Result<Self, Box<dyn Error>> {
        let mut options =
            Self { count: 20_000, seed: 1, lost: 0, only: None, dump: false, kind: None, paths: Vec::new() };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--count" => options.count = value()?.parse()?,
                "--seed" => options.seed = value()?.parse()?,
                "--lost" => options.lost = value()?.parse()?,
                "--only" => options.only = Some(value()?.parse()?),
                "--dump" => options.dump = true,
                "--kind" => options.kind = Some(value()?),
                _ if arg.starts_with('-') => return Err(format!("unknown option {arg}").into()),
                _ => options.paths.push(PathBuf::from(arg)),
            }
        }
        if let Some(kind) = options.kind.as_deref().filter(|kind| Kind::named(kind).is_none()) {
            let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            return Err(format!("no kind {kind:?}; there are {}", names.join(", ")).into());
        }
        if options.paths.is_empty() {
            let corpus =
                std::env::var_os("JLFIX_CORPUS").map_or_else(|| PathBuf::from("../shared/corpus"), PathBuf::from);
            options.paths = vec![corpus.join("jumplists"), PathBuf::from("samples")];
        }
        Ok(options)
    }
}

/// A whole file and what is in it.
struct Original {
    path: PathBuf,
    data: Vec<u8>,
    automatic: bool,
    links: Vec<Piece>,
    entries: Vec<Piece>,
}

/// A link or an entry, and where it stands in the file.
struct Piece {
    bytes: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl Original {
    fn load(paths: &[PathBuf]) -> Result<Vec<Self>, Box<dyn Error>> {
        let mut found = Vec::new();
        for path in paths {
            for entry in walkdir::WalkDir::new(path).sort_by_file_name().into_iter().filter_map(Result::ok) {
                let is_list =
                    entry.path().extension().is_some_and(|ext| ext.to_string_lossy().ends_with("Destinations-ms"));
                if entry.file_type().is_file() && is_list {
                    found.extend(Self::read(entry.path(), std::fs::read(entry.path())?));
                }
            }
        }
        Ok(found)
    }

    /// Nothing if the file is not whole: what a damaged one held cannot be known.
    fn read(path: &Path, data: Vec<u8>) -> Option<Self> {
        let automatic = looks_like_compound(&data);
        let (links, entries) = if automatic {
            let compound = jlfix::salvage::read(&data, &Limits::default()).ok()?;
            if !compound.faults.is_empty() {
                return None;
            }
            let piece = |stream: &Stream<'_>, range: Range<usize>| Piece {
                bytes: stream.data[range.clone()].to_vec(),
                ranges: ranges(stream, range),
            };
            let named = compound.streams.iter().filter(|stream| stream.entry_id().is_some());
            let links: Vec<_> = named.map(|stream| piece(stream, 0..stream.data.len())).collect();
            let entries = compound.stream("DestList").and_then(|stream| {
                let list = DestList::decode(&stream.data).ok()?;
                let places = list.entries.iter().map(|entry| entry.offset..entry.offset + entry.raw.len());
                Some(places.map(|range| piece(stream, range)).collect())
            });
            (links, entries.unwrap_or_default())
        } else {
            let custom = Custom::parse(&data, CodePage::default());
            if !custom.faults.is_empty() {
                return None;
            }
            let piece = |link: &CustomLink<'_>| Piece {
                bytes: link.raw.to_vec(),
                ranges: std::iter::once(link.offset..link.offset + link.raw.len()).collect(),
            };
            (custom.links().map(|(_, link)| piece(link)).collect(), Vec::new())
        };
        Some(Self { path: path.to_owned(), data, automatic, links, entries })
    }
}

/// The ranges of the file that hold `range` of a stream, none of them across the end of a sector.
fn ranges(stream: &Stream<'_>, range: Range<usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in range.filter_map(|at| stream.file_offset(at)).map(|at| at as usize) {
        match ranges.last_mut().filter(|last| last.end == at && at % SECTOR != 0) {
            Some(last) => last.end += 1,
            None => ranges.push(at..at + 1),
        }
    }
    ranges
}

/// What came back of a mutant.
#[derive(Default)]
struct Outcome {
    links: Count,
    entries: Count,
    panicked: bool,
    time: Duration,
}

#[derive(Default, Clone, Copy)]
struct Count {
    held: usize,
    /// Of those, the ones whose bytes are all still in the file.
    there: usize,
    back: usize,
    /// Back, of the ones that are still there.
    there_back: usize,
}

impl Outcome {
    fn lost(&self) -> bool {
        self.panicked || self.links.there_back < self.links.there || self.entries.there_back < self.entries.there
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (links, entries) = (&self.links, &self.entries);
        write!(
            f,
            "links {} of {} ({} held), entries {} of {} ({} held){}",
            links.there_back,
            links.there,
            links.held,
            entries.there_back,
            entries.there,
            entries.held,
            if self.panicked { ", panic" } else { "" }
        )
    }
}

fn measure(original: &Original, mutant: &Mutant) -> Outcome {
    let started = Instant::now();
    let read = catch_unwind(AssertUnwindSafe(|| read(&mutant.data, original.automatic)));
    let time = started.elapsed();
    let panicked = read.is_err();
    let (links, entries) = read.unwrap_or_default();
    let mut outcome = Outcome { panicked, time, ..Outcome::default() };
    outcome.links.compare(&original.links, links, |piece| mutant.holds(&original.data, &piece.ranges));
    outcome.entries.compare(&original.entries, entries, |piece| mutant.holds(&original.data, &piece.ranges));
    outcome
}

impl Count {
    fn compare(&mut self, held: &[Piece], found: Vec<Vec<u8>>, is_there: impl Fn(&Piece) -> bool) {
        let mut left: HashMap<Vec<u8>, usize> = HashMap::new();
        for bytes in found {
            *left.entry(bytes).or_default() += 1;
        }
        for piece in held {
            let there = is_there(piece);
            let back = left.get_mut(&piece.bytes).filter(|count| **count > 0).map(|count| *count -= 1).is_some();
            self.held += 1;
            self.there += usize::from(there);
            self.back += usize::from(back);
            self.there_back += usize::from(there && back);
        }
    }
}

/// All links and entries that the library finds. Which reader a file goes to is told by its name, not by what is
/// left of its content.
fn read(data: &[u8], automatic: bool) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    if !automatic {
        let custom = Custom::parse(data, CodePage::default());
        return (custom.links().map(|(_, link)| link.raw.to_vec()).collect(), Vec::new());
    }
    let Ok(compound) = jlfix::salvage::read(data, &Limits::default()) else { return Default::default() };
    let mut entries: Vec<_> = compound.carved_entries.iter().map(|entry| entry.data.to_vec()).collect();
    if let Some(list) = compound.stream("DestList") {
        entries.extend(resync(&list.data).entries.iter().map(|found| found.entry.raw.to_vec()));
    }
    (compound.streams.iter().map(|stream| stream.data.to_vec()).collect(), entries)
}

/// What came back by kind of damage.
#[derive(Default)]
struct Tally {
    mutants: u64,
    links: Count,
    entries: Count,
    panics: u64,
    slowest: Duration,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome) {
        self.mutants += 1;
        self.links.add(outcome.links);
        self.entries.add(outcome.entries);
        self.panics += u64::from(outcome.panicked);
        self.slowest = self.slowest.max(outcome.time);
    }

    fn merge(&mut self, other: &Self) {
        self.mutants += other.mutants;
        self.links.add(other.links);
        self.entries.add(other.entries);
        self.panics += other.panics;
        self.slowest = self.slowest.max(other.slowest);
    }
}

impl Count {
    fn add(&mut self, other: Self) {
        self.held += other.held;
        self.there += other.there;
        self.back += other.back;
        self.there_back += other.there_back;
    }
}

fn print_table(title: &str, automatic: bool, tally: &HashMap<(bool, &str), Tally>) {
    let percent = |part: usize, whole: usize| {
        if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
    };
    let row = |name: &str, tally: &Tally| {
        println!(
            "{name:<16}{:>8}{:>10}{:>10}{:>10}{:>10}{:>8}{:>10.1} ms",
            tally.mutants,
            percent(tally.links.back, tally.links.held),
            percent(tally.links.there_back, tally.links.there),
            percent(tally.entries.back, tally.entries.held),
            percent(tally.entries.there_back, tally.entries.there),
            tally.panics,
            tally.slowest.as_secs_f64() * 1000.0,
        );
    };
    println!(
        "\n{title}\n{:<16}{:>8}{:>10}{:>10}{:>10}{:>10}{:>8}{:>13}",
        "damage", "mutants", "links", "in file", "entries", "in file", "panics", "slowest"
    );
    let mut all = Tally::default();
    for kind in Kind::ALL {
        if let Some(tally) = tally.get(&(automatic, kind.name())) {
            row(kind.name(), tally);
            all.merge(tally);
        }
    }
    row("all", &all);
}

/// Most memory that this process had resident, in KiB; only Linux tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse().ok())
}
