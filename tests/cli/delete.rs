//! `jlfix delete`: whole files, after they were saved, and none with pins unless the user says so.

use crate::support;

use std::fs;

use support::build::ListBuilder;
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD, samples};

#[test]
fn a_file_goes_and_one_command_brings_it_back() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 7).build()), (EXPLORER, ListBuilder::empty().build())]);
    let before = cli.snapshot();
    let out = cli.run("delete .").clean();
    let out = out.says(&["Notepad", "7 → none", "0 → none", "2 files deleted"]);
    assert!(cli.snapshot().is_empty());
    let words: Vec<String> = out.undo().split_whitespace().skip(1).map(str::to_owned).collect();
    cli.run_words(words).clean().says(&["none → 7", "2 files restored"]);
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn a_file_with_pins_is_refused_and_the_others_go() {
    let cli = Cli::with(&[
        (NOTEPAD, ListBuilder::files(4, 7).pin(6).pin(0).build()),
        (EXPLORER, ListBuilder::files(4, 7).build()),
    ]);
    let out = cli.run("delete .").exits(3).complains(&[NOTEPAD, "2 entries pinned", "--include-pinned"]);
    out.says(&["1 file deleted, 1 failed", "Undo it with:"]);
    assert!(cli.path(NOTEPAD).exists() && !cli.path(EXPLORER).exists());
    cli.run("delete .").exits(4).complains(&["2 entries pinned"]);
    cli.run("delete --include-pinned .").clean();
    assert!(cli.snapshot().is_empty());
}

#[test]
fn a_custom_file_goes_like_any_other() {
    let cli = Cli::with(&[(CHROME, fs::read(samples().join("CustomDestinations").join(CHROME)).unwrap())]);
    cli.run("delete .").clean().says(&["Google Chrome", "4 → none"]);
    assert!(cli.snapshot().is_empty());
    cli.run("restore").clean();
    assert_eq!(cli.snapshot().len(), 1);
}

#[test]
fn a_list_too_damaged_to_tell_whether_it_has_pins_is_refused() {
    let cli = Cli::new();
    let whole = ListBuilder::files(4, 40).build();
    cli.write(NOTEPAD, &whole[..whole.len() / 2]);
    cli.write(EXPLORER, &whole[..100]);
    let before = cli.snapshot();
    cli.run(&format!("delete {NOTEPAD}")).exits(4).complains(&["entries or pins may be lost", "jlfix repair"]);
    cli.run(&format!("delete {EXPLORER}")).exits(4).complains(&["too damaged to see whether it has pins"]);
    assert_eq!(cli.snapshot(), before);
    cli.run("delete --include-pinned .").clean();
    assert!(cli.snapshot().is_empty());
}

#[test]
fn what_is_no_jump_list_is_never_deleted() {
    let cli = Cli::with(&[
        ("letter.txt", b"Dear Kim, this is no jump list.".to_vec()),
        ("shortcut.lnk", support::build::LinkBuilder::file(r"C:\a.txt").build()),
    ]);
    let before = cli.snapshot();
    for file in ["letter.txt", "shortcut.lnk"] {
        cli.run(&format!("delete --include-pinned {file}")).exits(4).complains(&[file, "no jump list"]);
    }
    cli.run("delete .").exits(0);
    cli.run("delete").exits(2);
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn a_dry_run_tells_what_would_go_and_deletes_nothing() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 7).build())]);
    let out = cli.run("delete --dry-run .").exits(1).says(&["7 → none", "1 file would be deleted (dry run"]);
    assert!(!out.stdout.contains("Undo"));
    assert!(cli.path(NOTEPAD).exists() && !cli.store().exists());
}
