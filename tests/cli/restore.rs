//! `jlfix restore`: what a run changed is as it was, and that can be undone as well.

use crate::support;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use support::build::ListBuilder;
use support::cli::{Cli, EXPLORER, NOTEPAD};

/// Two lists of 10 and 6 entries that were pruned to 3 each; and what they were.
fn pruned() -> (Cli, Vec<u8>, Vec<u8>) {
    let (notepad, explorer) = (ListBuilder::files(4, 10).build(), ListBuilder::folders(6, 6).ranked().build());
    let cli = Cli::with(&[(NOTEPAD, notepad.clone()), (EXPLORER, explorer.clone())]);
    cli.run("prune --keep 3 .").clean();
    (cli, notepad, explorer)
}

#[test]
fn the_first_bytes_come_back_and_redo_takes_that_back() {
    let (cli, notepad, explorer) = pruned();
    let after = cli.snapshot();
    let out = cli.run("restore").clean().says(&["3 → 10", "3 → 6", "2 files restored", "Undo it with:"]);
    assert_eq!((cli.read(NOTEPAD), cli.read(EXPLORER)), (notepad.clone(), explorer));
    out.clone().says(&["Undoing: jlfix prune --keep 3 . ("]);
    assert!(out.undo().ends_with("restore --redo"));
    cli.run("restore").exits(4).complains(&["no change to undo"]);
    let out = cli.run("restore --redo").clean().says(&["Doing again: jlfix prune --keep 3 . (", "10 → 3"]);
    assert!(out.undo().ends_with(" restore"));
    assert_eq!(cli.snapshot(), after);
    cli.run("restore").clean();
    assert_eq!(cli.read(NOTEPAD), notepad);
    assert_eq!(cli.snapshot().len(), 2, "nothing else lies there");
}

#[test]
fn the_time_of_the_last_write_comes_back_too() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 10).build())]);
    let then = SystemTime::UNIX_EPOCH + Duration::new(1_500_000_000, 123_456_700);
    fs::File::options().write(true).open(cli.path(NOTEPAD)).unwrap().set_modified(then).unwrap();
    cli.run("prune --keep 3 .").clean();
    cli.run("restore").clean();
    assert_eq!(fs::metadata(cli.path(NOTEPAD)).unwrap().modified().unwrap(), then);
}

#[test]
fn an_older_run_is_restored_by_its_id_and_only_its_files() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 10).build()), (EXPLORER, ListBuilder::files(4, 9).build())]);
    let notepad = cli.read(NOTEPAD);
    cli.run(&format!("prune --keep 5 {NOTEPAD}")).clean();
    cli.run("prune --keep 2 .").clean();
    let explorer = cli.read(EXPLORER);
    cli.run(&format!("restore {}", cli.runs()[0])).clean().says(&["2 → 10", "1 file restored"]);
    assert_eq!((cli.read(NOTEPAD), cli.read(EXPLORER)), (notepad, explorer));
}

#[test]
fn one_file_of_a_run_is_restored_by_its_name_or_its_path() {
    let (cli, notepad, explorer) = pruned();
    let (run, small) = (cli.runs()[0].clone(), cli.read(EXPLORER));
    cli.run(&format!("restore {run} --file {NOTEPAD}")).clean().says(&["1 file restored"]);
    assert_eq!((cli.read(NOTEPAD), cli.read(EXPLORER)), (notepad, small));
    let path = fs::canonicalize(cli.path(EXPLORER)).unwrap();
    cli.run_words(["restore".as_ref(), run.as_ref(), "--file".as_ref(), path.as_os_str()]).clean();
    assert_eq!(cli.read(EXPLORER), explorer);
    cli.run(&format!("restore {run} --file other.bin")).exits(4).complains(&[&run, "has no file other.bin"]);
}

#[test]
fn copies_are_written_elsewhere_and_nothing_else_changes() {
    let (cli, notepad, explorer) = pruned();
    let after = cli.snapshot();
    cli.run("restore --to ../copies --dry-run").exits(1).says(&["would write "]);
    assert!(!cli.root().join("copies").exists());
    let out = cli.run("restore --to ../copies").clean().says(&["2 files written\n"]);
    let written: Vec<PathBuf> = out.stdout.lines().take(2).map(PathBuf::from).collect();
    let mut read: Vec<Vec<u8>> = written.iter().map(|path| fs::read(path).unwrap()).collect();
    read.sort();
    let mut expected = [notepad, explorer];
    expected.sort();
    assert_eq!(read, expected);
    assert_eq!(cli.snapshot(), after);
    // A second time nothing is overwritten.
    cli.run("restore --to ../copies").clean();
    let copies = walkdir::WalkDir::new(cli.root().join("copies")).into_iter().map(Result::unwrap);
    assert_eq!(copies.filter(|entry| entry.file_type().is_file()).count(), 4);
}

#[test]
fn a_dry_run_tells_what_would_come_back_and_writes_nothing() {
    let (cli, ..) = pruned();
    let (after, runs) = (cli.snapshot(), cli.runs());
    cli.run("restore --dry-run").exits(1).says(&["3 → 10", "2 files would be restored (dry run"]);
    assert_eq!((cli.snapshot(), cli.runs()), (after, runs));
}

#[test]
fn a_file_that_is_what_it_was_already_is_left_alone() {
    let (cli, ..) = pruned();
    let run = cli.runs()[0].clone();
    cli.run(&format!("restore {run}")).clean();
    let runs = cli.runs();
    cli.run(&format!("restore {run}")).clean().says(&["0 files restored, 2 unchanged"]);
    assert_eq!(cli.runs(), runs);
    cli.run(&format!("restore {run} --dry-run")).clean();
}

#[test]
fn what_changed_since_the_prune_is_saved_before_it_is_replaced() {
    let (cli, notepad, _) = pruned();
    let newer = ListBuilder::files(4, 4).build();
    cli.write(NOTEPAD, &newer);
    // It is named, and needs a yes; the other file is restored.
    let out = cli.run("restore").exits(3).complains(&[NOTEPAD, "changed by another program", "--force"]);
    out.says(&["1 file restored, 1 failed"]);
    assert_eq!(cli.read(NOTEPAD), newer);
    let out = cli.run("restore --force").exits(0).says(&["4 → 10"]);
    assert!(
        out.stderr.contains("its present state is saved, and `jlfix restore --redo` brings it back"),
        "{}",
        out.stderr
    );
    assert_eq!(cli.read(NOTEPAD), notepad);
    cli.run("restore --redo").clean();
    assert_eq!(cli.read(NOTEPAD), newer);
}

#[test]
fn a_file_comes_back_into_a_folder_where_it_is_gone() {
    let (cli, notepad, _) = pruned();
    fs::remove_file(cli.path(NOTEPAD)).unwrap();
    cli.run("restore --force").exits(0).says(&["none → 10"]);
    assert_eq!(cli.read(NOTEPAD), notepad);
    // And redo takes it away again.
    cli.run(&format!("restore --redo --file {NOTEPAD}")).clean().says(&["10 → none"]);
    assert!(!cli.path(NOTEPAD).exists());
}

#[test]
fn where_nothing_was_saved_there_is_nothing_to_restore() {
    Cli::new().run("restore").exits(4).complains(&["no change to undo in "]);
    Cli::new().run("restore --redo").exits(4).complains(&["no undone change to do again"]);
    Cli::new().run("restore --to copies").exits(4).complains(&["no backups in "]);
}

/// A list of `count` files, and the content of each state that ten prunes leave.
fn ten_prunes(cli: &Cli, between: impl Fn(&Cli)) -> Vec<Vec<u8>> {
    cli.write(NOTEPAD, &ListBuilder::files(4, 30).build());
    let mut states = vec![cli.read(NOTEPAD)];
    for keep in (10..20).rev() {
        cli.run(&format!("prune --keep {keep} {NOTEPAD}")).clean();
        states.push(cli.read(NOTEPAD));
        between(cli);
    }
    states
}

#[test]
fn ten_changes_are_undone_and_done_again_one_by_one() {
    let no_more = |_: &Cli| {};
    let backups = |cli: &Cli| drop(cli.run("backup create .").clean());
    for between in [&no_more as &dyn Fn(&Cli), &backups] {
        let cli = Cli::new();
        let states = ten_prunes(&cli, between);
        for state in states.iter().rev().skip(1) {
            cli.run("restore").clean();
            assert!(cli.read(NOTEPAD) == *state);
        }
        cli.run("restore").exits(4).complains(&["no change to undo"]);
        for state in &states[1..] {
            cli.run("restore --redo").clean();
            assert!(cli.read(NOTEPAD) == *state);
        }
        cli.run("restore --redo").exits(4);
        // Half way back, a new change ends redo; its own undo goes on from there.
        for _ in 0..5 {
            cli.run("restore").clean();
        }
        cli.run(&format!("prune --keep 2 {NOTEPAD}")).clean();
        cli.run("restore --redo").exits(4);
        cli.run("restore").clean();
        assert!(cli.read(NOTEPAD) == states[5]);
        cli.run("restore").clean();
        assert!(cli.read(NOTEPAD) == states[4]);
    }
}

#[test]
fn files_have_histories_of_their_own() {
    let lists = [(NOTEPAD, ListBuilder::files(4, 9).build()), (EXPLORER, ListBuilder::files(4, 8).build())];
    let cli = Cli::with(&lists);
    cli.run(&format!("prune --keep 5 {NOTEPAD}")).clean();
    cli.run(&format!("prune --keep 4 {EXPLORER}")).clean();
    cli.run("prune --keep 2 .").clean();
    let small = (cli.read(NOTEPAD), cli.read(EXPLORER));
    // One file of the last run, then an older change of the same file; the rest of the run stays undoable.
    cli.run(&format!("restore --file {NOTEPAD}")).clean().says(&["2 → 5"]);
    cli.run(&format!("restore --file ./{NOTEPAD}")).clean().says(&["5 → 9"]);
    assert_eq!(cli.read(EXPLORER), small.1);
    cli.run(&format!("restore --file {NOTEPAD}")).exits(4).complains(&["no change to undo of", NOTEPAD]);
    cli.run("restore").clean().says(&["2 → 4", "1 file restored"]);
    cli.run("restore").clean().says(&["4 → 8"]);
    assert_eq!((cli.read(NOTEPAD), cli.read(EXPLORER)), (lists[0].1.clone(), lists[1].1.clone()));
    // And forward, file by file.
    for _ in 0..2 {
        cli.run(&format!("restore --redo --file {NOTEPAD}")).clean();
        cli.run(&format!("restore --redo --file {EXPLORER}")).clean();
    }
    assert_eq!((cli.read(NOTEPAD), cli.read(EXPLORER)), small);
}

#[test]
fn a_run_is_named_by_the_start_of_its_id_or_as_the_latest() {
    let (cli, notepad, _) = pruned();
    let small = cli.read(NOTEPAD);
    let run = cli.runs()[0].clone();
    cli.run(&format!("restore {}", &run[..18])).clean().says(&["2 files restored"]);
    assert_eq!(cli.read(NOTEPAD), notepad);
    // That was a change of its own: restore undoes it.
    cli.run("restore").clean();
    assert_eq!(cli.read(NOTEPAD), small);
    cli.run("restore latest --dry-run").exits(1);
    cli.run("restore 2").exits(2).complains(&["is the start of 3 runs"]);
    cli.run("backup verify 2").exits(2);
}
