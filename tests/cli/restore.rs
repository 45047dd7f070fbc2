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
fn the_first_bytes_come_back_and_a_second_restore_undoes_that() {
    let (cli, notepad, explorer) = pruned();
    let after = cli.snapshot();
    let out = cli.run("restore").clean().says(&["3 → 10", "3 → 6", "2 files restored", "Undo it with:"]);
    assert_eq!((cli.read(NOTEPAD), cli.read(EXPLORER)), (notepad.clone(), explorer));
    assert!(out.undo().ends_with(cli.runs().last().unwrap()));
    cli.run("restore").clean().says(&["10 → 3"]);
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
    let out = cli.run("restore --to ../copies").clean().says(&["2 files written; nothing else was changed"]);
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
    cli.run("restore").clean().says(&["4 → 10"]);
    assert_eq!(cli.read(NOTEPAD), notepad);
    cli.run("restore").clean();
    assert_eq!(cli.read(NOTEPAD), newer);
}

#[test]
fn a_file_comes_back_into_a_folder_where_it_is_gone() {
    let (cli, notepad, _) = pruned();
    fs::remove_file(cli.path(NOTEPAD)).unwrap();
    cli.run("restore").clean().says(&["none → 10"]);
    assert_eq!(cli.read(NOTEPAD), notepad);
    // And undoing that takes it away again.
    cli.run("restore").clean().says(&["10 → none"]);
    assert!(!cli.path(NOTEPAD).exists());
}

#[test]
fn where_nothing_was_saved_there_is_nothing_to_restore() {
    Cli::new().run("restore").exits(4).complains(&["no backups in "]);
}
