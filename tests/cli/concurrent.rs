//! Several at once: no update is lost, and nothing is broken.

use crate::support;

use std::fs;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Child;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jlfix::error::Error;
use jlfix::limits::Limits;
use jlfix::model::{AutomaticList, ReadOptions, Source};
use jlfix::plan::{self, PruneRules};
use jlfix::store::{self, Decision, OnBusy, Options, Outcome, Store};
use support::build::{ListBuilder, NewEntry, Random};
use support::cli::{AUTOMATIC, Cli, NOTEPAD};
#[cfg(unix)]
use support::cli::{EXPLORER, bloated};
use support::read::List;
use support::start::start;

#[test]
fn two_prunes_of_one_folder_at_once_both_end_well_and_can_be_undone() {
    let cli = Cli::new();
    for number in 0..12 {
        let list = ListBuilder::files(4, 20 + number).pin(3).pin(15);
        cli.write(format!("{number:016x}.{AUTOMATIC}"), &list.build());
    }
    let before = cli.snapshot();
    let prune = |keep: &str| {
        let mut command = cli.jlfix();
        command.args(["prune", "--keep", keep, "."]).stdout(Stdio::piped()).stderr(Stdio::piped());
        start(|| command.spawn()).unwrap()
    };
    let both = [prune("9"), prune("4")];
    for child in both {
        let out = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(0), "{told}");
        // One of them may have had to wait for the other.
        assert!(told.lines().all(|line| line.contains("another jlfix is changing files")), "{told}");
    }
    let after = cli.snapshot();
    assert_eq!(after.len(), 12, "no temporary file stays");
    for (path, bytes) in &after {
        let (is, was) = (List::of(bytes), List::of(&before[path]));
        assert_eq!(is.entries.len(), 6, "the stricter of the two");
        assert!(is.entries.iter().all(|entry| was.entries.iter().any(|old| old.id == entry.id)));
    }
    // Undone from the last to the first, whichever came first.
    for run in cli.runs().iter().rev() {
        cli.run(&format!("restore {run}")).clean();
    }
    assert_eq!(cli.snapshot(), before);
}

/// What `prune --keep` makes of a list; none if nothing goes.
fn pruned(bytes: &[u8], keep: usize) -> Option<Vec<u8>> {
    let source = Source::read(bytes, None, &ReadOptions::default()).unwrap();
    let Source::Automatic(Ok(compound)) = &source else { panic!("no automatic list") };
    let rules = PruneRules::new().keep(keep);
    plan::prune(&AutomaticList::read(compound), &rules, &Limits::default()).unwrap().bytes
}

/// A list of 30 whose newest entry says which writing of it this is.
fn written(number: usize) -> ListBuilder {
    let newest = NewEntry::file(&format!(r"C:\written {number:05}.txt")).used(1, "2030-01-01T00:00:00Z");
    let mut list = ListBuilder::new(4).entry(newest);
    list = list.entries(ListBuilder::files(4, 29).entries);
    list.pin(29)
}

/// Which writing of it a list is.
fn writing_of(bytes: &[u8]) -> usize {
    let list = List::of(bytes);
    assert!([30, 6].contains(&list.entries.len()), "{} entries", list.entries.len());
    list.entries[0].path[r"C:\written ".len()..][..5].parse().unwrap()
}

#[test]
fn a_list_that_changes_between_reading_and_replacing_is_planned_again_from_what_it_became() {
    let cli = Cli::with(&[(NOTEPAD, written(0).build())]);
    let path = cli.path(NOTEPAD);
    let store = Store::open(cli.store()).unwrap();
    let mut run = store.begin("prune", OnBusy::Fail).unwrap();
    let mut plans = 0;
    let outcome = store::change(&path, &Options::default(), Some(&mut run), |content| {
        plans += 1;
        assert_eq!(writing_of(content), plans - 1);
        // Windows adds an entry while we think; twice.
        if plans <= 2 {
            fs::write(&path, written(plans).build()).unwrap();
        }
        Ok(Decision::Write(pruned(content, 5).unwrap().into()))
    });
    assert!(matches!(outcome, Ok(Outcome::Written { .. })), "{outcome:?}");
    assert_eq!(plans, 3);
    assert_eq!(fs::read(&path).unwrap(), pruned(&written(2).build(), 5).unwrap());
    run.finish().unwrap();
    cli.run("restore").clean();
    assert_eq!(fs::read(&path).unwrap(), written(2).build());
}

#[test]
fn a_list_that_changes_every_time_is_given_up_with_what_was_written_last() {
    let cli = Cli::with(&[(NOTEPAD, written(0).build())]);
    let path = cli.path(NOTEPAD);
    let mut run = Store::open(cli.store()).unwrap().begin("prune", OnBusy::Fail).unwrap();
    let mut plans = 0;
    let given_up = store::change(&path, &Options::default(), Some(&mut run), |content| {
        plans += 1;
        fs::write(&path, written(plans).build()).unwrap();
        Ok(Decision::Write(pruned(content, 5).unwrap().into()))
    });
    assert!(matches!(given_up, Err(Error::Changed { .. })), "{given_up:?}");
    assert_eq!(plans, 4, "once, and three times again");
    assert_eq!(writing_of(&fs::read(&path).unwrap()), 4);
    assert_eq!(run.finish().unwrap(), None);
    assert_eq!((cli.snapshot().len(), cli.runs().len()), (1, 0));
}

/// True once another process has locked the file.
#[cfg(unix)]
fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_err())
}

/// A program that asks nobody puts a new list in the place of the one that is being pruned. The lock tells that the
/// prune has read it; stopped there, it cannot end before the other is done.
#[cfg(unix)]
#[test]
fn a_list_that_is_replaced_while_the_program_prunes_it_is_pruned_as_it_became() {
    let cli = Cli::new();
    let (path, newer) = (cli.path(EXPLORER), written(7).build());
    let signal = |name: &str, child: &Child| assert_eq!(cli.shell(&format!("kill -{name} {}", child.id())).code, 0);
    let child = (0..50).find_map(|_| {
        cli.write(EXPLORER, &fs::read(bloated()).unwrap());
        let mut command = cli.jlfix();
        command.args(["prune", "--keep", "5", EXPLORER]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        while !is_held(&path) && child.try_wait().unwrap().is_none() {}
        if child.try_wait().unwrap().is_none() {
            signal("STOP", &child);
            if is_held(&path) {
                return Some(child);
            }
            signal("CONT", &child);
        }
        // It was at its end before it was seen.
        child.wait().unwrap();
        None
    });
    let child = child.expect("a prune that was stopped halfway");
    cli.write("newer", &newer);
    fs::rename(cli.path("newer"), &path).unwrap();
    signal("CONT", &child);
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(cli.read(EXPLORER), pruned(&newer, 5).unwrap());
    cli.run("restore").clean();
    assert_eq!(cli.read(EXPLORER), newer);
    assert_eq!(cli.snapshot().len(), 1);
}

/// Writes list after list until told to stop, each in one step, and holds the lock meanwhile, as a second run of this
/// program does. Says how many.
///
/// Whatever came between two writings, the list must be of the last writing: whole, or pruned.
#[cfg(unix)]
fn hammer(path: &Path, stop: &AtomicBool) -> usize {
    use std::os::unix::fs::MetadataExt;
    let mut number = 0;
    while !stop.load(Ordering::SeqCst) {
        let Ok(file) = File::open(path) else { continue };
        file.lock().unwrap();
        // It may have been replaced between the opening and the locking: then this is the lock of a file that is gone.
        if file.metadata().unwrap().ino() != fs::metadata(path).unwrap().ino() {
            continue;
        }
        let now = fs::read(path).unwrap();
        assert_eq!(writing_of(&now), number, "a writing was lost");
        number += 1;
        let beside = path.with_extension("writing");
        fs::write(&beside, written(number).build()).unwrap();
        fs::rename(&beside, path).unwrap();
        drop(file);
        // Its turn for the other.
        std::thread::sleep(Duration::from_millis(2));
    }
    number
}

#[cfg(unix)]
#[test]
fn no_writing_is_lost_while_prunes_run_against_a_program_that_writes_all_the_time() {
    let cli = Cli::with(&[(NOTEPAD, written(0).build())]);
    let path = cli.path(NOTEPAD);
    let stop = AtomicBool::new(false);
    let (codes, number) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| hammer(&path, &stop));
        let run = || cli.run(&format!("prune --keep 5 {NOTEPAD}"));
        let codes: Vec<_> = (0..12).map(|_| run()).map(|out| (out.code, out.stderr)).collect();
        stop.store(true, Ordering::SeqCst);
        (codes, writer.join().unwrap())
    });
    assert_eq!(writing_of(&cli.read(NOTEPAD)), number);
    for (code, told) in &codes {
        // Done, or told that another program would not let go of it.
        let given_up = told.contains("in use by another process") || told.contains("changed by another program");
        assert!(*code == 0 && told.is_empty() || *code == 4 && given_up, "{code}: {told}");
    }
    assert!(codes.iter().any(|(code, _)| *code == 0), "{codes:?}");
    // What each run saved is a list, and one that was there.
    cli.run("backup verify").clean();
    for run in cli.runs() {
        let saved = cli.store().join(run).join(format!("0001-{NOTEPAD}.bak"));
        assert!(writing_of(&fs::read(saved).unwrap()) <= number);
    }
    assert_eq!(cli.snapshot().len(), 1);
}

/// Opens a list for writing as Explorer does: on Windows, others may read meanwhile and not write. `None` if it is held.
fn open_as_explorer(path: &Path) -> Option<File> {
    let mut options = File::options();
    options.write(true);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 1);
    options.open(path).ok()
}

/// Writes a list in place, piece by piece, as Explorer does (docs/performance.md). False if the file is held.
fn write_in_place(path: &Path, content: &[u8]) -> bool {
    let Some(mut file) = open_as_explorer(path) else { return false };
    file.set_len(content.len() as u64).unwrap();
    for piece in content.chunks(512) {
        file.write_all(piece).unwrap();
        std::thread::sleep(Duration::from_micros(300));
    }
    true
}

/// Writes two states in turn until it is to stop; how often.
fn rewrite_in_place(path: PathBuf, states: [Vec<u8>; 2], pause: Duration, stop: Arc<AtomicBool>) -> usize {
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) {
        rounds += usize::from(write_in_place(&path, &states[rounds % 2]));
        std::thread::sleep(pause);
    }
    rounds
}

#[test]
fn a_list_that_is_being_written_in_place_is_not_called_damaged_nor_repaired() {
    let list = |order: u64| {
        let mut list = ListBuilder::files(4, 30);
        let kept: Vec<_> = Random(order).permutation(30).into_iter().map(|at| list.entries[at].clone()).collect();
        for (entry, other) in list.entries.iter_mut().zip(kept) {
            (entry.path, entry.link) = (other.path, other.link);
        }
        list.build()
    };
    let states = [list(1), list(2)];
    assert_eq!(states[0].len(), states[1].len());
    let cli = Cli::with(&[(NOTEPAD, states[0].clone())]);
    let stop = Arc::new(AtomicBool::new(false));
    let (path, flag, written) = (cli.path(NOTEPAD), stop.clone(), states.clone());
    let writer = std::thread::spawn(move || rewrite_in_place(path, written, Duration::from_millis(150), flag));
    let started = std::time::Instant::now();
    while started.elapsed() < Duration::from_secs(3) {
        for command in ["scan", "check", "repair --dry-run"] {
            let out = cli.run(&format!("{command} {NOTEPAD}"));
            assert!(!out.stdout.contains("damaged") && out.code == 0, "{command}: {}{}", out.stdout, out.stderr);
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert!(writer.join().unwrap() > 3, "it was written meanwhile");
}

/// Runs prunes against a program that writes the list in place every `pause`; how many writings there were, and how
/// many of them are gone although they were complete before the list was replaced.
fn lost_updates(pause: Duration, prunes: usize) -> (usize, usize) {
    let cli = Cli::with(&[(NOTEPAD, written(0).build())]);
    let path = cli.path(NOTEPAD);
    let stop = AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut number, mut lost) = (0, 0);
            while !stop.load(Ordering::Relaxed) {
                if write_in_place(&path, &written(number + 1).build()) {
                    number += 1;
                }
                std::thread::sleep(pause);
                // A file that is held, or is replaced at this moment, is looked at again.
                let now = (0..100).find_map(|_| fs::read(&path).ok()).unwrap();
                lost += usize::from(writing_of(&now) != number);
            }
            (number, lost)
        });
        for _ in 0..prunes {
            let out = cli.run(&format!("prune --keep 5 --no-backup {NOTEPAD}"));
            let given_up = out.stderr.contains("in use") || out.stderr.contains("changed by another program");
            assert!(out.code == 0 || given_up, "{}: {}", out.code, out.stderr);
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert!(cli.snapshot().len() == 1, "no temporary file stays");
    counts
}

#[test]
fn no_update_is_lost_between_a_prune_and_a_program_that_writes_in_place_every_100_ms() {
    let (writings, lost) = lost_updates(Duration::from_millis(100), 20);
    assert!(writings > 3);
    assert_eq!(lost, 0, "of {writings}");
    if std::env::var_os("JLFIX_HARNESS").is_some_and(|mode| mode == "full") {
        for ms in [100, 20, 5, 1] {
            let (writings, lost) = lost_updates(Duration::from_millis(ms), 300);
            println!("pauses of {ms} ms: {lost} of {writings} updates lost");
        }
    }
}
