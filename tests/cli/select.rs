//! Which lists a command is about: states, sizes, lists of paths, exclusions, and files under two spellings.

use crate::support;

use std::fs;

use support::build::ListBuilder;
use support::cli::{Cli, EXPLORER, NOTEPAD, bloated, finish, samples};
use support::read::List;

/// A second automatic list.
const PAINT: &str = "12dc1ea8e34b5a6.automaticDestinations-ms";

/// How many entries a list has.
fn entries(cli: &Cli, name: &str) -> usize {
    List::at(cli.path(name)).entries.len()
}

/// A slow list, and two small ones.
fn mixed() -> Cli {
    let small = ListBuilder::files(4, 10);
    let cli = Cli::with(&[(NOTEPAD, small.build()), (PAINT, small.build())]);
    cli.write(EXPLORER, &fs::read(bloated()).unwrap());
    cli
}

#[test]
fn prune_only_slow_leaves_the_other_lists_alone() {
    let cli = mixed();
    cli.run("prune --keep 5 --only slow .").clean().says(&["1 file pruned"]);
    assert_eq!((entries(&cli, NOTEPAD), entries(&cli, PAINT)), (10, 10));
    assert!(entries(&cli, EXPLORER) < 20);
}

#[test]
fn prune_larger_than_changes_larger_files_only() {
    let cli = mixed();
    cli.run("prune --keep 5 --larger-than 1MiB .").clean().says(&["1 file pruned"]);
    assert_eq!((entries(&cli, NOTEPAD), entries(&cli, PAINT)), (10, 10));
    cli.run("prune --keep 5 --larger-than 1x .").exits(2);
    cli.run("scan --larger-than 1MiB .").says(&["0 files of 3"]);
}

#[test]
fn a_selection_that_selects_nothing_is_reported() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 10).build())]);
    for command in ["prune --keep 1", "repair"] {
        let out = cli.run(&format!("{command} --only damaged,slow --larger-than 1KiB .")).exits(0);
        out.complains(&["--only damaged,slow --larger-than 1024", "none of 1 list"]);
    }
    assert_eq!(entries(&cli, NOTEPAD), 10);
}

#[test]
fn repair_only_damaged_repairs_damaged_lists() {
    let cli = Cli::with_samples();
    let paths = |command: &str| -> Vec<String> {
        let files = cli.run(command).exits(1).json()["files"].clone();
        files.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    let mut damaged = paths("scan --only damaged --format json .");
    let mut selected = paths("repair --dry-run --only damaged --format json .");
    damaged.sort();
    selected.sort();
    assert_eq!(selected, damaged);
    assert!(!selected.is_empty());
    assert!(paths("repair --dry-run --format json .").len() > selected.len());
}

#[test]
fn scan_advises_one_command_for_all_slow_lists() {
    let cli = mixed();
    cli.write(PAINT, &fs::read(bloated()).unwrap());
    let advice = "jlfix prune --keep 50 --only slow .";
    cli.run("scan .").exits(1).says(&["2 lists are slow", advice]);
    cli.run(advice.strip_prefix("jlfix ").unwrap()).clean().says(&["2 files pruned"]);
    assert_eq!(entries(&cli, NOTEPAD), 10);
    let out = cli.run("scan .").clean();
    assert!(!out.stdout.contains("lists are slow"), "{}", out.stdout);
}

#[test]
fn a_file_under_two_spellings_counts_once() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 10).build())]);
    let twice = format!("{NOTEPAD} ./{NOTEPAD} . {}", cli.path(NOTEPAD).display());
    for (command, sentence) in [
        ("scan", "1 file,"),
        ("check", "1 file checked"),
        ("backup create", "1 file saved"),
        ("prune --keep 5", "1 file pruned"),
        ("delete", "1 file deleted"),
    ] {
        cli.run(&format!("{command} {twice}")).clean().says(&[sentence]);
    }
    assert!(!cli.path(NOTEPAD).exists());
}

#[test]
fn of_a_repeated_option_the_last_value_counts() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 10).build())]);
    cli.run("prune --keep 1 --keep 7 --dry-run --dry-run .").exits(1);
    cli.run("prune --keep 1 --keep 7 .").clean().says(&["10 → 7"]);
    let out = cli.run("scan --format table --format csv .").clean();
    assert!(out.stdout.starts_with("path,"), "{}", out.stdout);
    // Options that take several values keep them all.
    cli.run("prune --entry 10 --entry 9 .").clean().says(&["7 → 5"]);
}

#[test]
fn files_from_reads_paths_from_a_file_or_standard_input() {
    let small = ListBuilder::files(4, 10);
    let cli = Cli::with(&[(NOTEPAD, small.build()), (PAINT, small.build())]);
    cli.write("lines", format!("{NOTEPAD}\r\n\n./{NOTEPAD}\n").as_bytes());
    cli.run("scan --files-from lines").clean().says(&["1 file,"]);
    cli.write("zeros", format!("{NOTEPAD}\0{PAINT}\0").as_bytes());
    cli.run("check --files-from zeros").clean().says(&["2 files checked"]);
    let mut command = cli.jlfix();
    command.args(["scan", "--files-from", "-"]).stdin(fs::File::open(cli.path("zeros")).unwrap());
    finish(command).clean().says(&["2 files,"]);
    // A list without paths never means the user's own lists.
    cli.write("empty", b"\n");
    cli.run("prune --keep 1 --files-from empty").exits(4).complains(&["empty", "no path"]);
    cli.run("scan --files-from missing").exits(4).complains(&["missing", "cannot read"]);
}

#[test]
fn exclude_leaves_out_names_and_folders() {
    let small = ListBuilder::files(4, 10).build();
    let cli = Cli::new();
    for folder in ["jo", "ann", "old/ann"] {
        cli.write(format!("{folder}/{NOTEPAD}"), &small);
        cli.write(format!("{folder}/{PAINT}"), &small);
    }
    for (exclude, left) in [
        ("ANN", "2 files,"),
        ("old", "4 files,"),
        ("old/ann", "4 files,"),
        ("old/*", "4 files,"),
        (r"old\ann", "4 files,"),
        ("{jo,old}", "2 files,"),
        (&NOTEPAD[..8], "6 files,"),
        (&format!("{}*", &NOTEPAD[..8]), "3 files,"),
    ] {
        let out = cli.run_words(["scan", "--exclude", exclude, "."]).exits(0).says(&[left]);
        let unused = out.stderr.contains("no jump list matches");
        assert_eq!(unused, left == "6 files,", "{exclude}: {}", out.stderr);
    }
    cli.run("prune --keep 1 --exclude jo --exclude old .").clean().says(&["2 files pruned"]);
    cli.run("scan --exclude [ .").exits(2).complains(&["--exclude"]);
}

#[test]
fn all_users_is_offered_where_lists_are_searched() {
    let cli = Cli::new();
    for command in ["scan", "prune --keep 1", "check", "repair", "backup create", "doctor"] {
        cli.run(&format!("{command} --all-users .")).exits(2);
        #[cfg(unix)]
        cli.run(&format!("{command} --all-users")).exits(2).complains(&["--all-users", "no list of Windows users"]);
    }
}

#[test]
fn prune_of_custom_lists_only_says_why_nothing_is_pruned() {
    let cli = Cli::new();
    for entry in fs::read_dir(samples().join("CustomDestinations")).unwrap().map(Result::unwrap) {
        cli.write(entry.file_name(), &fs::read(entry.path()).unwrap());
    }
    cli.run("prune --keep 1 .").exits(0).complains(&["custom lists", "no automatic list"]);
}

#[cfg(unix)]
#[test]
fn a_folder_whose_only_list_is_a_symbolic_link_is_described_as_such() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 10).build())]);
    fs::create_dir(cli.path("links")).unwrap();
    std::os::unix::fs::symlink(cli.path(NOTEPAD), cli.path("links").join(NOTEPAD)).unwrap();
    cli.run("scan links").complains(&["links: no jump lists in it but one that is a symbolic link"]);
}
