//! Measures what `repair` makes of damaged jump lists.
//!
//! Takes whole files, damages each in a seeded way, plans the repair of the damaged copy, and counts by kind of damage:
//! mended, nothing to mend, nothing left, and not mended for a fault of the program. What was mended is planned for
//! again, and has to need nothing. `--lost N` names the first N mutants that lost a pin or everything. `--out DIR` writes each file there as it is then,
//! for another judge to look at. `--only N` takes the mutant N alone, and writes it to DIR as well.
//!
//! ```text
//! cargo run --release --example repair_rate -- [--count 20000] [--seed 1] [--kind NAME] [--lost N] [--only N] [--out DIR] [PATH]...
//! ```
//!
//! Without a PATH: the corpus (`JLFIX_CORPUS` or `../shared/corpus`) and `samples`.

use std::collections::BTreeMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jlfix::format::compound::looks_like_compound;
use jlfix::limits::Limits;
use jlfix::model::{AutomaticList, Code, Fix};
use jlfix::plan::{PlanError, RepairOptions, repair};

#[path = "../tests/support/mutants.rs"]
mod mutants;

use mutants::{Kind, Random};

/// What became of the mutants of a kind.
#[derive(Default)]
struct Tally {
    mutants: u64,
    mended: u64,
    unchanged: u64,
    hopeless: u64,
    failed: u64,
    entries: Share,
    pins: Share,
    slowest: Duration,
}

/// How many of those that the original had are in the mended list.
#[derive(Default, Clone, Copy)]
struct Share {
    had: usize,
    has: usize,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.mutants += other.mutants;
        self.mended += other.mended;
        self.unchanged += other.unchanged;
        self.hopeless += other.hopeless;
        self.failed += other.failed;
        for (to, from) in [(&mut self.entries, other.entries), (&mut self.pins, other.pins)] {
            to.had += from.had;
            to.has += from.has;
        }
        self.slowest = self.slowest.max(other.slowest);
    }
}

enum Outcome {
    Mended(Vec<u8>),
    Unchanged,
    Hopeless,
    Failed(String),
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut count, mut seed, mut kind, mut out, mut paths) = (20_000, 1, None, None, Vec::new());
    let (mut lost, mut only) = (0, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--count" => count = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--kind" => kind = Some(Kind::named(&value()?).ok_or("no such kind")?),
            "--lost" => lost = value()?.parse()?,
            "--only" => only = Some(value()?.parse::<u64>()?),
            "--out" => out = Some(PathBuf::from(value()?)),
            _ if arg.starts_with('-') => return Err(format!("unknown option {arg}").into()),
            _ => paths.push(PathBuf::from(arg)),
        }
    }
    if paths.is_empty() {
        let corpus = std::env::var_os("JLFIX_CORPUS").map_or_else(|| PathBuf::from("../shared/corpus"), PathBuf::from);
        paths = vec![corpus.join("jumplists"), PathBuf::from("samples")];
    }
    let originals = originals(&paths)?;
    if originals.is_empty() {
        return Err("no whole jump list found: name a folder, or set JLFIX_CORPUS".into());
    }
    if let Some(out) = &out {
        std::fs::create_dir_all(out)?;
    }
    std::panic::set_hook(Box::new(|_| {}));
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for number in only.map_or(0..count, |only| only..only.saturating_add(1)) {
        let mut random = Random::new(seed, number);
        let kind = kind.unwrap_or_else(|| *random.pick(&Kind::ALL));
        let (path, original) = random.pick(&originals);
        let mutant = kind.apply(original, &mut random);
        if let Some(out) = out.as_ref().filter(|_| only.is_some()) {
            std::fs::write(out.join(format!("mutant-{number}.automaticDestinations-ms")), &mutant)?;
        }
        let started = Instant::now();
        let outcome =
            catch_unwind(AssertUnwindSafe(|| mend(&mutant))).unwrap_or_else(|_| Outcome::Failed("panicked".to_owned()));
        let tally = tallies.entry(kind.name()).or_default();
        tally.slowest = tally.slowest.max(started.elapsed());
        tally.mutants += 1;
        let outcome = match outcome {
            Outcome::Mended(bytes) => match again(&bytes) {
                None => Outcome::Mended(bytes),
                Some(why) => Outcome::Failed(format!("mended again: {why}")),
            },
            outcome => outcome,
        };
        let mended: &[u8] = match &outcome {
            Outcome::Mended(bytes) => bytes,
            Outcome::Unchanged => &mutant,
            Outcome::Hopeless | Outcome::Failed(_) => &[],
        };
        let (had, has) = (facts(original), facts(mended));
        tally.entries.had += had.len();
        tally.pins.had += had.iter().filter(|(_, pinned)| *pinned).count();
        tally.entries.has += had.iter().filter(|(path, _)| has.iter().any(|(other, _)| other == path)).count();
        tally.pins.has += had.iter().filter(|fact| fact.1 && has.contains(fact)).count();
        let pin_gone = had.iter().any(|fact| fact.1 && !has.contains(fact));
        if lost > 0 && (pin_gone || matches!(outcome, Outcome::Hopeless)) {
            lost -= 1;
            println!("mutant {number}, {}, {}: lost", kind.name(), path.display());
            if let Some(out) = &out {
                std::fs::write(out.join(format!("lost-{number}.automaticDestinations-ms")), &mutant)?;
            }
        }
        match outcome {
            Outcome::Mended(_) => tally.mended += 1,
            Outcome::Unchanged => tally.unchanged += 1,
            Outcome::Hopeless => tally.hopeless += 1,
            Outcome::Failed(why) => {
                tally.failed += 1;
                println!("mutant {number}, {}, {}: {why}", kind.name(), path.display());
                if let Some(out) = &out {
                    std::fs::write(out.join(format!("failed-{number}")), &mutant)?;
                }
                continue;
            }
        }
        if let Some(out) = out.as_ref().filter(|_| !mended.is_empty()) {
            std::fs::write(out.join(format!("{number}.automaticDestinations-ms")), mended)?;
        }
    }
    print(&tallies);
    Ok(())
}

/// Whole files that have something in them.
type Originals = Vec<(PathBuf, Vec<u8>)>;

fn originals(paths: &[PathBuf]) -> Result<Originals, Box<dyn Error>> {
    let mut found = Vec::new();
    for path in paths {
        for entry in walkdir::WalkDir::new(path).sort_by_file_name().into_iter().filter_map(Result::ok) {
            let is_list =
                entry.path().extension().is_some_and(|ext| ext.to_string_lossy().ends_with("Destinations-ms"));
            if !entry.file_type().is_file() || !is_list {
                continue;
            }
            let data = std::fs::read(entry.path())?;
            if looks_like_compound(&data) && !facts(&data).is_empty() && matches!(mend(&data), Outcome::Unchanged) {
                found.push((entry.path().to_owned(), data));
            }
        }
    }
    Ok(found)
}

fn mend(data: &[u8]) -> Outcome {
    let (limits, options) = (Limits::default(), RepairOptions::default());
    let Ok(compound) = jlfix::salvage::read(data, &limits) else { return Outcome::Hopeless };
    match repair(&AutomaticList::read(&compound), &options, &limits) {
        Ok(Some(plan)) if plan.steps.is_empty() => Outcome::Failed("mended, and no step says what".to_owned()),
        Ok(Some(plan)) => match left_over(&plan.bytes) {
            None => Outcome::Mended(plan.bytes),
            Some(code) => Outcome::Failed(format!("still has {code}")),
        },
        Ok(None) => left_over(data).map_or(Outcome::Unchanged, |code| Outcome::Failed(format!("leaves {code}"))),
        Err(PlanError::NothingLeft { .. }) => Outcome::Hopeless,
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// What a second repair of a mended file does, if anything.
fn again(data: &[u8]) -> Option<String> {
    let limits = Limits::default();
    let compound = jlfix::salvage::read(data, &limits).ok()?;
    match repair(&AutomaticList::read(&compound), &RepairOptions::default(), &limits) {
        Ok(None) => None,
        Ok(Some(plan)) => Some(plan.steps.first().map_or_else(String::new, |step| step.what.clone())),
        Err(error) => Some(error.to_string()),
    }
}

/// A finding that `repair` is to mend.
fn left_over(data: &[u8]) -> Option<Code> {
    let compound = jlfix::salvage::read(data, &Limits::default()).ok()?;
    let findings = AutomaticList::read(&compound).findings(RepairOptions::default().code_page);
    findings.into_iter().map(|finding| finding.code).find(|code| code.fix() == Some(Fix::Repair))
}

/// Path of each entry, and whether it is pinned.
fn facts(data: &[u8]) -> Vec<(String, bool)> {
    let Ok(compound) = jlfix::salvage::read(data, &Limits::default()) else { return Vec::new() };
    let list = AutomaticList::read(&compound);
    list.entries.iter().map(|entry| (entry.dest.path.to_string(), entry.dest.is_pinned())).collect()
}

fn print(tallies: &BTreeMap<&str, Tally>) {
    println!(
        "{:<16}{:>8}{:>8}{:>8}{:>10}{:>10}{:>8}{:>8}{:>10}{:>13}",
        "damage", "mutants", "entries", "pins", "mended", "unchanged", "nothing", "failed", "whole", "slowest"
    );
    let percent = |share: Share| {
        if share.had == 0 { "-".to_owned() } else { format!("{:.1} %", share.has as f64 * 100.0 / share.had as f64) }
    };
    let row = |name: &str, tally: &Tally| {
        let whole = Share { had: tally.mutants as usize, has: (tally.mended + tally.unchanged) as usize };
        println!(
            "{name:<16}{:>8}{:>8}{:>8}{:>10}{:>10}{:>8}{:>8}{:>10}{:>10.1} ms",
            tally.mutants,
            percent(tally.entries),
            percent(tally.pins),
            tally.mended,
            tally.unchanged,
            tally.hopeless,
            tally.failed,
            percent(whole),
            tally.slowest.as_secs_f64() * 1000.0
        );
    };
    let mut all = Tally::default();
    for (name, tally) in tallies {
        row(name, tally);
        all.add(tally);
    }
    row("all", &all);
}
