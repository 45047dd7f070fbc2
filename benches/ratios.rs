//! What jlfix takes, each figure beside its floor: reading the same bytes and nothing else, in the same run, turn about.
//! The ratio is what counts; the times are those of this machine.
//!
//! `cargo bench --bench ratios`

#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark that cannot run has nothing better to do than to stop"
)]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jlfix::limits::Limits;
use jlfix::model::{AutomaticList, Kind, ReadOptions, Source};
use jlfix::plan::{self, PruneRules};

#[path = "../tests/support/build/mod.rs"]
mod build;

/// Reads a list with all its links, and says how many findings it has.
fn parse(path: &Path) -> usize {
    let data = fs::read(path).expect("the file is there");
    let source = Source::read(&data, Some(Kind::Automatic), &ReadOptions::default()).expect("it is a list");
    let Source::Automatic(Ok(compound)) = &source else { panic!("it is an automatic list") };
    AutomaticList::read(compound).findings(Default::default()).len()
}

fn prune(path: &Path) -> usize {
    let data = fs::read(path).expect("the file is there");
    let source = Source::read(&data, Some(Kind::Automatic), &ReadOptions::default()).expect("it is a list");
    let Source::Automatic(Ok(compound)) = &source else { panic!("it is an automatic list") };
    let list = AutomaticList::read(compound);
    let rules = PruneRules::new().keep(50);
    plan::prune(&list, &rules, &Limits::default()).expect("it is intact").bytes.expect("entries are dropped").len()
}

fn read_all(files: &[PathBuf]) -> usize {
    files.iter().map(|file| fs::read(file).expect("the file is there").len()).sum()
}

fn jlfix(args: &[&str], folder: &Path) {
    let status = Command::new(env!("CARGO_BIN_EXE_jlfix"))
        .args(args)
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("it starts");
    assert!(status.code().is_some_and(|code| code <= 1), "{args:?}: {status}");
}

/// Times both in turn and prints the median of each and of their ratio.
fn ratio(name: &str, rounds: usize, floor: impl Fn() -> usize, subject: impl Fn() -> usize) {
    let time = |run: &dyn Fn() -> usize| {
        let started = Instant::now();
        black_box(run());
        started.elapsed()
    };
    time(&floor);
    time(&subject);
    let pairs: Vec<(Duration, Duration)> = (0..rounds).map(|_| (time(&floor), time(&subject))).collect();
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let floor = median(pairs.iter().map(|(floor, _)| floor.as_secs_f64()).collect());
    let subject = median(pairs.iter().map(|(_, subject)| subject.as_secs_f64()).collect());
    let times = median(pairs.iter().map(|(floor, subject)| subject.as_secs_f64() / floor.as_secs_f64()).collect());
    println!("{name:<44} {:>10.3} ms {:>10.3} ms {times:>8.1}", floor * 1e3, subject * 1e3);
}

fn main() {
    // `cargo test --benches` runs this too; nothing is timed there.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let small = samples.join("AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms");
    let bloated = samples.join("AutomaticDestinations/f01b4d95cf55d32a.automaticDestinations-ms");
    let scratch = tempfile::tempdir().expect("a temp folder");
    let large = scratch.path().join("f01b4d95cf55d32a.automaticDestinations-ms");
    fs::write(&large, build::ListBuilder::folders(4, 60_000).build()).expect("room for it");
    let many = scratch.path().join("many");
    let sources: Vec<PathBuf> = fs::read_dir(samples.join("AutomaticDestinations"))
        .expect("the samples are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| fs::metadata(path).is_ok_and(|facts| facts.len() < 1 << 20))
        .collect();
    let mut files = Vec::new();
    for number in 0..2000 {
        let source = &sources[number % sources.len()];
        let folder = many.join(format!("{:03}", number / 50));
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join(format!("{number:016x}.automaticDestinations-ms"));
        fs::copy(source, &file).expect("a copy");
        files.push(file);
    }

    println!("{:<44} {:>13} {:>13} {:>8}", "", "only reading", "jlfix", "ratio");
    ratio("parse a small list (32 KiB, 24 entries)", 101, || read_all(std::slice::from_ref(&small)), || parse(&small));
    ratio("parse the bloated list (3.8 MiB)", 31, || read_all(std::slice::from_ref(&bloated)), || parse(&bloated));
    ratio("parse 60,000 entries", 7, || read_all(std::slice::from_ref(&large)), || parse(&large));
    ratio(
        "plan prune --keep 50 of the bloated list",
        31,
        || read_all(std::slice::from_ref(&bloated)),
        || prune(&bloated),
    );
    let scan = || {
        jlfix(&["scan", "--format", "jsonl"], &many);
        0
    };
    ratio("scan 2,000 files, the whole program", 7, || read_all(&files), scan);
    let show = || {
        jlfix(&["show", "--links", "--format", "jsonl"], &many);
        0
    };
    ratio("show --links of 2,000 files, the whole program", 7, || read_all(&files), show);
}
