//! Input that cannot be: each draws a clear line on stderr and its exit code, nothing is changed, and the other files
//! are still done.

use crate::support;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use support::build::ListBuilder;
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD, samples};
use support::read::List;

fn ten() -> Vec<u8> {
    ListBuilder::files(4, 10).build()
}

/// Runs a prune on something bad alone, where nothing is done, and then beside a good list, where that is done.
#[track_caller]
fn alone_and_beside_a_good_one(cli: &Cli, bad: &str, parts: &[&str]) {
    let (before, runs) = (cli.snapshot(), cli.runs());
    cli.run(&format!("prune --keep 3 {bad}")).exits(4).complains(parts);
    assert_eq!(cli.snapshot(), before);
    assert_eq!(cli.runs(), runs, "nothing was done, so there is nothing to undo");
    cli.write(EXPLORER, &ten());
    let out = cli.run(&format!("prune --keep 3 {bad} {EXPLORER}")).exits(3).complains(parts);
    out.says(&["10 → 3", "1 file pruned", "1 failed", "Undo it with:"]);
    assert_eq!(List::at(cli.path(EXPLORER)).ids(), [10, 9, 8]);
    fs::remove_file(cli.path(EXPLORER)).unwrap();
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn a_path_that_is_not_there() {
    let cli = Cli::with(&[(NOTEPAD, ten())]);
    for command in ["scan", "show", "check", "delete", "backup create"] {
        cli.run(&format!("{command} gone")).exits(4).complains(&["gone: cannot open: "]);
    }
    for (command, done) in [("scan", "1 file, "), ("show", "10 entries"), ("check", "1 file checked")] {
        cli.run(&format!("{command} gone {NOTEPAD}")).exits(3).complains(&["gone"]).says(&[done]);
    }
    alone_and_beside_a_good_one(&cli, "gone", &["gone: cannot open: "]);
}

#[test]
fn a_file_that_is_no_jump_list() {
    let cli = Cli::with(&[("letter.txt", b"Dear Kim".to_vec()), ("nothing", Vec::new()), (NOTEPAD, ten())]);
    for (command, done) in [("scan", "1 file, "), ("show", "10 entries"), ("check", "1 file checked")] {
        let need = ["letter.txt: no jump list: need a compound file, custom destinations or a link, have 44 65 61 72"];
        cli.run(&format!("{command} letter.txt")).exits(4).complains(&need);
        cli.run(&format!("{command} letter.txt {NOTEPAD}")).exits(3).complains(&need).says(&[done]);
        cli.run(&format!("{command} nothing")).exits(4).complains(&["nothing: no jump list: ", "have nothing"]);
    }
    alone_and_beside_a_good_one(&cli, "letter.txt", &["letter.txt: no automatic list: need a compound file"]);
    // One that is called a list is a damaged one.
    fs::rename(cli.path("letter.txt"), cli.path(CHROME)).unwrap();
    cli.run(&format!("check {CHROME}")).exits(1).says(&["JL401"]);
    cli.write(NOTEPAD, b"Dear Kim");
    cli.run(&format!("check {NOTEPAD}")).exits(1).says(&["JL101"]);
    alone_and_beside_a_good_one(&cli, NOTEPAD, &[NOTEPAD, "damaged: ", "nothing was changed"]);
}

#[test]
fn a_list_that_is_cut_short() {
    let cli = Cli::new();
    let whole = ListBuilder::files(4, 40).build();
    for length in [8, 100, 512, 700, 5_000, whole.len() / 2, whole.len() - 600] {
        cli.write(NOTEPAD, &whole[..length]);
        // What can be read is read, and the loss is told; that is no failure.
        for command in ["scan", "show", "check"] {
            let out = cli.run(&format!("{command} {NOTEPAD} --format json")).exits(1);
            assert_eq!(
                (out.stderr.as_str(), &out.json()["files"][0]["state"]),
                ("", &Value::from("damaged")),
                "{length}"
            );
        }
        alone_and_beside_a_good_one(&cli, NOTEPAD, &[NOTEPAD, "damaged", "nothing was changed"]);
    }
    let custom = fs::read(samples().join("CustomDestinations").join(CHROME)).unwrap();
    for length in [4, 20, 60, 1_000] {
        cli.write(CHROME, &custom[..length]);
        let out = cli.run(&format!("check {CHROME}")).exits(1);
        assert!(out.stderr.is_empty() && out.stdout.contains("JL4"), "{length}: {}{}", out.stdout, out.stderr);
    }
}

#[test]
fn a_file_that_is_larger_than_the_user_allows() {
    let large = ListBuilder::files(4, 10).stream("large", &vec![0; 1 << 20]).build();
    let cli = Cli::with(&[(NOTEPAD, large)]);
    let parts = [NOTEPAD, "file size: need at most 1048576 bytes, have "];
    cli.run(&format!("scan --max-size 1 {NOTEPAD}")).exits(4).complains(&parts);
    cli.run(&format!("prune --keep 3 --max-size 1 {NOTEPAD}")).exits(4).complains(&parts);
    cli.run(&format!("scan --max-size 2 {NOTEPAD}")).clean();
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_folder_or_a_file_that_may_not_be_read() {
        let cli = Cli::new();
        cli.write(format!("lists/a/{NOTEPAD}"), &ten());
        cli.write(format!("lists/b/{NOTEPAD}"), &ten());
        cli.write(format!("lists/{EXPLORER}"), &ten());
        cli.write(format!("lists/{CHROME}"), &[]);
        let mode = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        mode(cli.path("lists/a"), 0o000);
        mode(cli.path(format!("lists/{CHROME}")), 0o000);
        let run = as_a_user(&cli);
        let out = run("scan lists").exits(3);
        assert_eq!(out.stderr.lines().count(), 2, "{}", out.stderr);
        assert!(out.stderr.contains("jlfix: lists/a: cannot look into: Permission denied"), "{}", out.stderr);
        assert!(
            out.stderr.contains(&format!("jlfix: lists/{CHROME}: cannot open it: Permission denied")),
            "{}",
            out.stderr
        );
        out.says(&["2 files", "2 failed"]);
        let out = run("prune --keep 3 lists").exits(3).complains(&["lists/a: cannot look into: Permission denied"]);
        out.says(&["2 files pruned"]);
        run("scan lists/a").exits(4).complains(&["lists/a: cannot look into: "]);
        run("prune --keep 3 lists/a").exits(4).complains(&["lists/a: cannot look into: "]);
        mode(cli.path("lists/a"), 0o755);
        assert_eq!(cli.read(format!("lists/a/{NOTEPAD}")), ten());
        // A folder in which nothing may be made: the list stays, and no backup that is of no use.
        let runs = cli.runs();
        mode(cli.path("lists/a"), 0o555);
        run("prune --keep 3 lists/a").exits(4).complains(&["Permission denied"]);
        assert_eq!((cli.read(format!("lists/a/{NOTEPAD}")), cli.runs()), (ten(), runs));
        // A store that cannot be made: nothing is changed.
        let out = run("prune --keep 1 lists/b --backup-dir lists/a/store");
        out.exits(4).complains(&["lists/a/store: cannot make the backup store: Permission denied"]);
        assert_eq!(List::at(cli.path(format!("lists/b/{NOTEPAD}"))).ids().len(), 3);
        mode(cli.path("lists/a"), 0o755);
    }

    /// Runs the binary as a user to whom permissions mean something, if the tests run as one to whom they don't.
    fn as_a_user(cli: &Cli) -> impl Fn(&str) -> support::cli::Output + '_ {
        const NOBODY: u32 = 65534;
        let is_root = fs::read_dir(cli.path("lists/a")).is_ok();
        let binary = cli.root().join("jlfix");
        if is_root {
            fs::copy(env!("CARGO_BIN_EXE_jlfix"), &binary).unwrap();
            fs::set_permissions(cli.root(), fs::Permissions::from_mode(0o755)).unwrap();
            for entry in walkdir::WalkDir::new(cli.root()).into_iter().map(Result::unwrap) {
                chown(entry.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        move |line| {
            let mut command: Command = if is_root { cli.command(&binary) } else { cli.jlfix() };
            command.args(line.split_whitespace());
            if is_root {
                command.uid(NOBODY).gid(NOBODY);
            }
            support::cli::finish(command)
        }
    }

    #[test]
    fn a_symbolic_link_given_to_a_command_that_changes_files() {
        let cli = Cli::new();
        cli.write("elsewhere/list.bin", &ten());
        symlink("elsewhere/list.bin", cli.path(NOTEPAD)).unwrap();
        // Reading through it does no harm.
        cli.run(&format!("scan {NOTEPAD}")).clean().says(&["10"]);
        let parts = [NOTEPAD, "refused: a symbolic link; name the file it points to"];
        alone_and_beside_a_good_one(&cli, NOTEPAD, &parts);
        cli.run(&format!("delete {NOTEPAD}")).exits(4).complains(&parts);
        assert!(cli.path(NOTEPAD).is_symlink());
        assert_eq!(cli.read("elsewhere/list.bin"), ten());
    }

    #[test]
    fn a_file_with_several_names_or_one_that_is_no_plain_file() {
        let cli = Cli::with(&[(NOTEPAD, ten())]);
        fs::hard_link(cli.path(NOTEPAD), cli.path("other name")).unwrap();
        alone_and_beside_a_good_one(&cli, NOTEPAD, &[NOTEPAD, "refused: a hard link: the file has 2 names, need 1"]);
        let pipe = Command::new("mkfifo").arg(cli.path("pipe")).status().unwrap();
        assert!(pipe.success());
        cli.run("scan pipe").exits(4).complains(&["pipe: cannot open it: not a plain file"]);
        alone_and_beside_a_good_one(&cli, "pipe", &["pipe: refused: not a plain file but a pipe"]);
    }

    #[test]
    fn a_reader_that_has_seen_enough() {
        let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 600).build())]);
        let out = cli.shell(&format!("{} show --links {NOTEPAD} | head -n 3", env!("CARGO_BIN_EXE_jlfix")));
        let out = out.clean();
        assert_eq!(out.stdout.lines().count(), 3);
    }
}

#[test]
fn a_prune_without_a_rule() {
    let cli = Cli::with(&[(NOTEPAD, ten())]);
    let before = cli.snapshot();
    let parts = ["prune needs a rule that says what goes: --keep N, "];
    for rest in ["", "--dry-run", "--include-pinned", "--no-backup"] {
        cli.run(&format!("prune . {rest}")).exits(2).complains(&parts);
    }
    assert_eq!((cli.snapshot(), cli.store().exists()), (before, false));
}

#[test]
fn a_run_that_the_store_does_not_hold() {
    let cli = Cli::with(&[(NOTEPAD, ten())]);
    cli.run("prune --keep 3 .").clean();
    let before = (cli.snapshot(), cli.runs());
    let unknown = "20001231T235959.999Z-0000";
    let out = cli.run(&format!("restore {unknown}")).exits(4);
    out.complains(&[
        &format!("no run {unknown} in "),
        &*cli.store().to_string_lossy(),
        "`jlfix backup list` lists them",
    ]);
    cli.run(&format!("restore {unknown} --to copies")).exits(4);
    cli.run(&format!("backup verify {unknown}")).exits(4).complains(&[unknown]);
    for nonsense in ["yesterday", "../store", "20269931T235959.999Z-0000"] {
        let out = cli.run(&format!("restore {nonsense}"));
        assert!(out.code == 2 || out.code == 4, "{}", out.code);
        let wrong = if nonsense.starts_with('2') { format!("no run {nonsense}") } else { format!("have {nonsense:?}") };
        out.complains(&[&wrong]);
    }
    assert_eq!((cli.snapshot(), cli.runs()), before);
}

/// The one file of the first run's folder with this ending.
fn in_the_store(cli: &Cli, ending: &str) -> PathBuf {
    let folder = fs::read_dir(cli.store().join(&cli.runs()[0])).unwrap();
    let mut found = folder.map(|entry| entry.unwrap().path()).filter(|path| path.to_string_lossy().ends_with(ending));
    found.next().unwrap()
}

#[test]
fn a_manifest_that_points_outside_its_folder() {
    let cli = Cli::with(&[(NOTEPAD, ten()), ("secret.bak", b"not for you".to_vec())]);
    cli.run(&format!("prune --keep 3 {NOTEPAD}")).clean();
    let before = cli.snapshot();
    let path = in_the_store(&cli, "manifest.json");
    let manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let secret = cli.path("secret.bak").to_string_lossy().into_owned();
    let cases: [(&str, &str, &str); 5] = [
        ("stored", "../../files/secret.bak", "need a file name in the run's own folder"),
        ("stored", &secret, "need a file name in the run's own folder"),
        ("stored", "..", "need a file name in the run's own folder"),
        ("path", "../elsewhere", "need an absolute path of a file on this system"),
        ("path", "/tmp/../etc/passwd", "need an absolute path of a file on this system"),
    ];
    for (field, value, need) in cases {
        let mut bent = manifest.clone();
        bent["files"][0][field] = value.into();
        fs::write(&path, bent.to_string()).unwrap();
        let have = format!("file 0: {field}: {need}, have {value:?}");
        cli.run(&format!("restore {}", cli.runs()[0])).exits(4).complains(&["manifest.json", &have]);
        let out = cli.run("restore").exits(4);
        assert!(out.stderr.contains(&have) && out.stderr.contains("no change to undo"), "{}", out.stderr);
        cli.run("restore --to copies").exits(4).complains(&["no backups in"]);
        cli.run("backup verify").exits(4).complains(&[&have]);
        cli.run("backup list").exits(1).says(&["unreadable"]);
        assert_eq!(cli.snapshot(), before);
    }
    fs::write(&path, manifest.to_string()).unwrap();
    cli.run("restore").clean();
    assert_eq!(cli.read(NOTEPAD), ten());
}

#[test]
fn a_backup_whose_bytes_were_altered() {
    let cli = Cli::with(&[(NOTEPAD, ten()), (EXPLORER, ten())]);
    cli.run("prune --keep 3 .").clean();
    let small = cli.read(NOTEPAD);
    let stored = in_the_store(&cli, &format!("{NOTEPAD}.bak"));
    let saved = fs::read(&stored).unwrap();
    let mut bent = saved.clone();
    bent[5_000] ^= 0x10;
    let parts = ["the backup is not what was saved: need ", ", have "];
    for bytes in [bent, saved[..900].to_vec()] {
        fs::write(&stored, &bytes).unwrap();
        let run = cli.runs()[0].clone();
        cli.run(&format!("restore {run} --file {NOTEPAD}")).exits(4).complains(&parts);
        cli.run(&format!("restore {run} --to ../copies --file {NOTEPAD}")).exits(4).complains(&parts);
        assert!(!cli.root().join("copies").exists());
        assert_eq!(cli.read(NOTEPAD), small);
        // The other file still comes back.
        let out = cli.run(&format!("restore {run}")).exits(3).complains(&parts);
        out.says(&["1 failed"]);
        assert_eq!((cli.read(NOTEPAD), cli.read(EXPLORER)), (small.clone(), ten()));
        cli.run(&format!("prune --keep 3 {EXPLORER}")).clean();
    }
}

#[test]
fn words_that_no_command_knows() {
    let cli = Cli::new();
    for line in [
        "",
        "mend",
        "scan --fast",
        "show",
        "prune --keep many .",
        "scan --code-page 12345 .",
        "-q -v scan .",
        "scan --max-size 0 .",
    ] {
        let out = cli.run(line).exits(2);
        assert!(out.stdout.is_empty() && !out.stderr.is_empty(), "{line}: {}", out.stdout);
    }
}
