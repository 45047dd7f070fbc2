//! `jlfix backup`: what the store holds, whether it still is what was saved, and dropping it.

use crate::support;

use std::fs;

use jlfix::store::{OnBusy, Options, Store};
use serde_json::Value;
use support::build::ListBuilder;
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD, keys, samples};

/// Two lists, one of them custom, of 7 and 4 entries.
fn place() -> Cli {
    let chrome = fs::read(samples().join("CustomDestinations").join(CHROME)).unwrap();
    Cli::with(&[(NOTEPAD, ListBuilder::files(4, 7).build()), (CHROME, chrome)])
}

#[test]
fn lists_are_saved_as_they_are_and_told_with_the_command_that_brings_them_back() {
    let cli = place();
    let before = cli.snapshot();
    let out = cli.run("backup create .").clean().says(&["2 files saved", "Bring them back with:"]);
    assert_eq!(cli.snapshot(), before);
    let [run] = &cli.runs()[..] else { panic!("{:?}", cli.runs()) };
    let restore: Vec<&str> = out.stdout.lines().last().unwrap().split_whitespace().skip(1).collect();
    assert_eq!(restore, ["restore", run]);
    fs::remove_file(cli.path(NOTEPAD)).unwrap();
    cli.write(CHROME, b"ruined");
    cli.run_words(restore).clean();
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn the_runs_are_listed_newest_first_with_the_command_that_made_them() {
    let cli = place();
    cli.run("backup list").clean().says(&["no backups in "]);
    cli.run("backup create .").clean();
    cli.run("prune --keep 3 .").clean();
    let runs = cli.runs();
    let out = cli.run("backup list").clean();
    let lines: Vec<&str> = out.stdout.lines().collect();
    assert!(lines[1].starts_with(&runs[1]) && lines[1].contains("complete  jlfix prune --keep 3 ."), "{}", lines[1]);
    assert!(lines[2].starts_with(&runs[0]) && lines[2].contains("complete  jlfix backup create ."), "{}", lines[2]);
    out.clone().says(&["2 runs in ", &*cli.store().to_string_lossy()]);
    assert!(!out.stdout.contains(NOTEPAD));
    cli.run("backup list -v").clean().says(&[NOTEPAD, CHROME]);

    let document = cli.run("backup list --format json").clean().json();
    assert_eq!(keys(&document), ["jlfix", "runs", "store"]);
    let told: Vec<&str> = document["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(told, [&runs[1], &runs[0]]);
    let lines = cli.run("backup list --format jsonl").clean().json_lines();
    assert_eq!(Value::from(lines), document["runs"]);
    let rows = cli.run("backup list --format csv").clean().csv();
    assert_eq!(
        (rows[0]["id"].as_str(), rows[0]["files"].as_str(), rows[0]["state"].as_str()),
        (told[0], "1", "complete")
    );
}

#[test]
fn a_saved_file_that_was_altered_or_is_gone_is_found() {
    let cli = place();
    for _ in 0..3 {
        cli.run("backup create .").clean();
    }
    let runs = cli.runs();
    let out = cli.run("backup verify").clean();
    assert_eq!(out.stdout.matches("as saved").count(), 3);
    out.says(&["3 runs verified, 6 files"]);
    let stored = |run: usize| {
        let names = fs::read_dir(cli.store().join(&runs[run])).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|end| end == "bak")).min().unwrap()
    };
    // One bit, the size as it was.
    let mut bytes = fs::read(stored(0)).unwrap();
    bytes[700] ^= 1;
    fs::write(stored(0), bytes).unwrap();
    fs::remove_file(stored(2)).unwrap();
    let out = cli.run("backup verify").exits(1);
    assert_eq!(out.stderr.matches("the backup is not what was saved: need ").count(), 2, "{}", out.stderr);
    assert!(out.stderr.contains("have no file"), "{}", out.stderr);
    out.says(&[&format!("{}  1 file altered or gone", runs[0]), &format!("{}  as saved", runs[1])]);
    cli.run(&format!("backup verify {}", runs[1])).clean();
    cli.run(&format!("backup verify {}", runs[2])).exits(1);
}

#[test]
fn runs_are_dropped_by_id_or_all_but_the_newest() {
    let cli = place();
    for _ in 0..4 {
        cli.run("backup create .").clean();
    }
    let runs = cli.runs();
    cli.run(&format!("backup drop {}", runs[1])).clean().says(&[&format!("dropped {}", runs[1]), "1 run dropped"]);
    assert_eq!(cli.runs(), [&*runs[0], &runs[2], &runs[3]]);
    cli.run("backup drop --keep-last 1").clean().says(&["2 runs dropped"]);
    assert_eq!(cli.runs(), [&*runs[3]]);
    cli.run("backup drop --keep-last 1").clean().says(&["0 runs dropped\n"]);
    cli.run("backup drop --older-than 1d").clean().says(&["0 runs dropped\n"]);
    cli.run("backup drop --older-than 3m").exits(2);
    let out = cli.run("backup drop --keep-last 0 --dry-run").exits(1);
    out.says(&["1 run would be dropped (dry run", "the last copy of"]);
    assert_eq!(cli.runs(), [&*runs[3]]);
    cli.run("backup drop").exits(2);
    cli.run(&format!("backup drop {} --keep-last 1", runs[3])).exits(2);
    cli.run("backup drop last").exits(2).complains(&["need the id of a run, its start, or latest; have \"last\""]);
    cli.run(&format!("backup drop {}", runs[0])).exits(4).complains(&[&runs[0]]);
    assert_eq!(cli.runs(), [&*runs[3]]);
}

#[test]
fn a_run_that_was_killed_before_it_changed_a_file_counts_as_never_run() {
    let cli = place();
    let original = cli.read(NOTEPAD);
    cli.run(&format!("prune --keep 2 {NOTEPAD}")).clean();
    let store = Store::open(cli.store()).unwrap();
    let mut run = store.begin("jlfix prune", OnBusy::Fail).unwrap();
    cli.write(NOTEPAD, &ListBuilder::files(4, 2).build());
    jlfix::store::backup(&cli.path(NOTEPAD), &Options::default(), &mut run).unwrap();
    // As a kill would.
    drop(run);
    let cut = cli.runs().pop().unwrap();
    let rows = cli.run("backup list --format csv").clean().csv();
    assert_eq!((&*rows[0]["id"], &*rows[0]["state"], &*rows[1]["state"]), (&*cut, "incomplete", "complete"));
    let out = cli.run("restore --force").exits(0);
    assert!(out.stderr.contains(&format!("run {cut} was killed before it changed a file")), "{}", out.stderr);
    out.says(&["2 → 7"]);
    assert_eq!(cli.read(NOTEPAD), original);
    assert!(!cli.runs().contains(&cut), "its leftovers are removed");
}

#[test]
fn where_one_file_cannot_be_saved_the_others_are() {
    let cli = place();
    let out = cli.run(&format!("backup create {NOTEPAD} gone.bin {CHROME}")).exits(3).complains(&["gone.bin"]);
    out.says(&["2 files saved"]);
    cli.run("backup create gone.bin").exits(4).complains(&["gone.bin"]);
    assert_eq!(cli.runs().len(), 1);
    // Nothing is never a run.
    fs::create_dir(cli.path("empty")).unwrap();
    cli.run("backup create empty").exits(0).says(&["nothing to save"]);
    assert_eq!(cli.runs().len(), 1);
}

#[test]
fn the_store_lies_where_the_user_says_or_the_environment_or_in_the_home() {
    let cli = place();
    let run = |words: &[&str], variable: Option<&str>| {
        let mut command = cli.jlfix();
        command.args(["backup", "create", EXPLORER]).args(words).env_remove("JLFIX_BACKUP_DIR");
        if let Some(dir) = variable {
            command.env("JLFIX_BACKUP_DIR", cli.root().join(dir));
        }
        support::cli::finish(command).clean();
    };
    cli.write(EXPLORER, &ListBuilder::files(4, 3).build());
    run(&["--backup-dir", "../named"], Some("variable"));
    assert!(cli.root().join("named").is_dir() && !cli.root().join("variable").exists());
    run(&[], Some("variable"));
    assert!(cli.root().join("variable").is_dir());
    run(&[], None);
    let below = if cfg!(windows) { "jlfix/backups" } else { ".local/share/jlfix/backups" };
    let home = cli.root().join("home").join(below);
    assert!(home.is_dir());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for entry in walkdir::WalkDir::new(&home).into_iter().map(Result::unwrap) {
            let owners_only = if entry.file_type().is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(entry.path()), owners_only, "{}", entry.path().display());
        }
    }
}
