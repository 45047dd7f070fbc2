//! Sentences and exit codes: what is printed is true for none, one, many and when everything failed, and the exit code is
//! that of the work, whatever becomes of the output.

use std::process::Stdio;

use crate::support;

use support::build::ListBuilder;
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD};

fn list() -> Vec<u8> {
    ListBuilder::files(4, 30).ranked().build()
}

fn damaged() -> Vec<u8> {
    ListBuilder::files(4, 6).ranked().header(|header| header.count = 7).build()
}

#[test]
fn check_reports_what_it_could_not_check() {
    let cli = Cli::with(&[(&format!("lists/{NOTEPAD}"), list())]);
    std::fs::create_dir(cli.path("empty")).unwrap();
    let none = cli.run("check nowhere").exits(4).complains(&["nowhere: cannot open"]);
    assert_eq!(none.stdout, "nothing was checked: 1 failed\n");
    let empty = cli.run("check empty").exits(0).complains(&["empty: no jump lists in it"]);
    assert_eq!(empty.stdout, "nothing was checked: there are no jump lists\n");
    assert_eq!(cli.run("check lists").clean().stdout, "1 file checked: no findings\n");
    assert_eq!(cli.run("check lists nowhere").exits(3).stdout, "1 file checked, 1 failed: no findings\n");
}

#[test]
fn scan_draws_no_conclusion_from_files_it_could_not_read() {
    let cli = Cli::with(&[
        (&format!("six/{NOTEPAD}"), b"sixsix".to_vec()),
        (&format!("lists/{NOTEPAD}"), list()),
        ("other.bin", b"sixsix".to_vec()),
    ]);
    std::fs::create_dir(cli.path("empty")).unwrap();
    let conclusion = "it is not the jump lists";
    let six = cli.run("scan six").exits(1).says(&["1 file, 6 B", "1 damaged"]);
    assert!(!six.stdout.contains("most expensive"), "{}", six.stdout);
    let failed = cli.run("scan other.bin").exits(4);
    assert_eq!(failed.stdout, "No jump list could be read: 1 failed.\n");
    assert_eq!(cli.run("scan empty").exits(0).stdout, "There are no jump lists.\n");
    cli.run("scan lists").clean().says(&[conclusion]);
    let both = cli.run("scan lists six").exits(1);
    assert!(!both.stdout.contains(conclusion), "{}", both.stdout);
    let both = cli.run("scan lists other.bin").exits(3);
    assert!(!both.stdout.contains(conclusion), "{}", both.stdout);
}

#[test]
fn totals_of_a_scan_are_those_of_the_rows() {
    let cli = Cli::with(&[
        (&format!("a/{NOTEPAD}"), list()),
        (&format!("b/{NOTEPAD}"), damaged()),
        (&format!("c/{NOTEPAD}"), damaged()),
    ]);
    let out = cli.run("scan . --only damaged").exits(1).says(&["2 files of 3, ", "12 entries", ": 2 damaged\n"]);
    assert_eq!(out.rows(&["damaged"]).filter(|row| row.contains(" automatic ")).count(), 2);
    let totals = cli.run("scan . --only damaged --format json").exits(1).json()["totals"].take();
    assert_eq!((&totals["files"], &totals["damaged"], &totals["ok"]), (&2.into(), &2.into(), &0.into()));
    cli.run("scan . --only empty").exits(1).says(&["0 files of 3, 0 B, 0 entries (0 pinned)\n"]);
}

#[test]
fn backup_reports_what_it_did_not_save() {
    let cli = Cli::with(&[(NOTEPAD, list())]);
    std::fs::create_dir(cli.path("empty")).unwrap();
    assert_eq!(cli.run("backup create nowhere").exits(4).stdout, "nothing was saved: 1 file failed\n");
    assert_eq!(cli.run("backup create empty").exits(0).stdout, "nothing to save\n");
    cli.run("backup verify").clean().says(&["no backups in "]);
    cli.run(&format!("backup create {NOTEPAD} nowhere")).exits(3).says(&["1 file saved, ", ", 1 failed\n"]);
    cli.run("backup verify").clean().says(&["1 run verified, 1 file\n"]);
    cli.run("backup verify 20200101T000000.000Z-0000").exits(4).complains(&["no run", "jlfix backup list"]);
}

#[test]
fn a_copy_of_a_backup_is_announced_where_it_will_be() {
    let cli = Cli::with(&[(&format!("lists/{NOTEPAD}"), list()), (&format!("lists/{EXPLORER}"), list())]);
    cli.run("prune --keep 3 lists").clean();
    let dry = cli.run("restore --to copies --dry-run --format json").exits(1).json();
    assert!(!cli.path("copies").exists());
    let done = cli.run("restore --to copies --format json").clean().json();
    let places = |document: &serde_json::Value| -> Vec<(String, String)> {
        let files = document["files"].as_array().unwrap().iter();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        files.map(|file| (text(&file["path"]), text(&file["status"]))).collect()
    };
    let (planned, written) = (places(&dry), places(&done));
    assert_eq!(planned.len(), 2);
    for ((planned, status), (written, changed)) in planned.iter().zip(&written) {
        assert_eq!((status.as_str(), changed.as_str()), ("would_change", "changed"));
        assert!(std::path::Path::new(written).is_file(), "{written}");
        let tail = |path: &str| path.replace('\\', "/").rsplit("files/").next().unwrap().to_owned();
        assert_eq!(tail(planned), tail(written));
    }
    // The second time the folder has another name, which is announced too.
    cli.run("restore --to copies -n").exits(1).says(&["would write ", "lists-2", "2 files would be written"]);
    // A file that was not there is not promised.
    cli.run(&format!("merge lists/{NOTEPAD} lists/{EXPLORER} --force --into new/{NOTEPAD}")).exits(4);
    std::fs::create_dir(cli.path("new")).unwrap();
    cli.run(&format!("merge lists/{NOTEPAD} lists/{EXPLORER} --force --into new/{NOTEPAD}")).clean();
    let none = cli.run("restore --to copies -n").exits(0).complains(&["was not there"]);
    assert_eq!(none.stdout, "0 files would be written (dry run: nothing was written)\n");
}

#[test]
fn a_restore_into_a_folder_that_is_gone_names_the_option_that_works() {
    let cli = Cli::with(&[(&format!("lists/{NOTEPAD}"), list())]);
    cli.run("prune --keep 3 lists").clean();
    std::fs::remove_dir_all(cli.path("lists")).unwrap();
    cli.run("restore").exits(4);
    let out = cli.run("restore latest").exits(4);
    assert!(out.stderr.contains("restore --to DIR"), "{}", out.stderr);
}

#[test]
fn quiet_prints_errors_and_the_data_that_was_asked_for() {
    let cli = Cli::with(&[(NOTEPAD, list())]);
    std::fs::create_dir(cli.path("empty")).unwrap();
    for line in [
        "scan .",
        "check .",
        "scan empty",
        "show .",
        "doctor .",
        "backup list",
        "prune --keep 3 -n .",
        "appid f01b4d95cf55d32a",
        "restore --redo",
    ] {
        let out = cli.run(&format!("-q {line}"));
        assert_eq!(out.stdout, "", "{line}");
        assert!(out.stderr.is_empty() || out.code > 1, "{line}: {}", out.stderr);
    }
    assert_eq!(cli.run("-q scan . --format jsonl").clean().json_lines().len(), 1);
    assert_eq!(cli.run("-q prune --keep 3 -n . --format json").exits(1).json()["dry_run"], true);
    assert!(cli.run("-q check nowhere").exits(4).stderr.contains("nowhere"));
}

#[test]
fn verbose_is_offered_where_it_adds_something() {
    let cli = Cli::with(&[
        (NOTEPAD, list()),
        ("many/9b9cdc69c1c24e2b.automaticDestinations-ms", {
            let list = (0..9)
                .fold(ListBuilder::files(4, 9).ranked(), |list, at| list.edit(at, |entry| entry.checksum = Some(0)));
            list.build()
        }),
    ]);
    for line in ["show many", "check many", "check .", "prune --keep 3 --dry-run .", "repair many -n"] {
        let (plain, verbose) = (cli.run(line), cli.run(&format!("{line} -v")));
        assert!(verbose.stdout.len() > plain.stdout.len(), "{line}");
    }
    for line in ["scan .", "replay x", "export . --format csv --to -", "appid x", "doctor .", "backup verify", "man"] {
        let out = cli.run(&format!("{line} -v")).exits(2);
        assert!(out.stderr.contains("'-v'"), "{line}: {}", out.stderr);
    }
}

/// A run of the program whose standard output is `stdout`.
fn into(cli: &Cli, line: &str, stdout: impl Into<Stdio>) -> (i32, String) {
    let mut command = cli.jlfix();
    command.args(line.split_whitespace()).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
    let out = support::start::start(|| command.spawn()).unwrap().wait_with_output().unwrap();
    (out.status.code().unwrap(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// Commands, each in a place where it ends with this exit code.
const CODES: [(&str, i32); 30] = [
    ("scan good", 0),
    ("scan bad", 1),
    ("scan bad --format json", 1),
    ("scan bad --format csv", 1),
    ("scan nowhere", 4),
    ("scan good nowhere", 3),
    ("scan", 2),
    ("scan --sort sideways good", 2),
    ("show good", 0),
    ("show bad --format jsonl", 1),
    ("check good", 0),
    ("check bad", 1),
    ("check bad --format csv", 1),
    ("prune good", 2),
    ("prune --keep 3 good", 0),
    ("prune --keep 3 -n good", 1),
    ("prune --keep 3 good nowhere", 3),
    ("prune --keep 3 nowhere", 4),
    ("prune --keep 50 -n good", 0),
    ("repair bad", 0),
    ("repair bad -n", 1),
    ("delete good", 0),
    ("delete good -n", 1),
    ("backup create good", 0),
    ("backup list", 0),
    ("restore", 4),
    ("appid abcdefabcdef", 1),
    ("export bad --format csv --to -", 1),
    ("doctor bad", 1),
    ("replay --rounds 1 good/9b9cdc69c1c24e2b.automaticDestinations-ms", 0),
];

fn place() -> Cli {
    Cli::with(&[(&format!("good/{NOTEPAD}"), list()), (&format!("bad/{NOTEPAD}"), damaged())])
}

#[test]
fn exit_codes_are_those_of_the_table() {
    for (line, code) in CODES {
        if cfg!(windows) && line == "scan" {
            continue;
        }
        place().run(line).exits(code);
    }
}

#[test]
fn a_closed_pipe_changes_no_exit_code_and_is_no_message() {
    for (line, code) in CODES {
        if cfg!(windows) && line == "scan" {
            continue;
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let cli = place();
        let (closed, stderr) = into(&cli, line, writer);
        assert_eq!(closed, code, "{line}: {stderr}");
        assert!(!stderr.to_lowercase().contains("pipe"), "{line}: {stderr}");
    }
}

#[test]
fn a_change_whose_report_nobody_reads_is_still_made_and_can_be_undone() {
    let cli = place();
    let before = cli.read(format!("good/{NOTEPAD}"));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(into(&cli, "prune --keep 3 good", writer).0, 0);
    assert_ne!(cli.read(format!("good/{NOTEPAD}")), before);
    cli.run("restore").clean();
    assert_eq!(cli.read(format!("good/{NOTEPAD}")), before);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_one_line_and_no_lost_work() {
    for (line, code) in CODES {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let cli = place();
        let usual = place().run(line);
        let expected = if code < 2 && !usual.stdout.is_empty() { 3 } else { code };
        let (ended, stderr) = into(&cli, line, full);
        assert_eq!(ended, expected, "{line}: {stderr}");
        if expected == 3 && usual.code < 2 {
            let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("cannot write the output")).collect();
            assert_eq!(lines.len(), 1, "{line}: {stderr}");
            assert_eq!(
                ["prune", "repair", "delete"].contains(&line.split(" ").next().unwrap())
                    && code == 0
                    && !line.contains(" -n"),
                lines[0].contains("undo it with: "),
                "{line}: {stderr}"
            );
        }
    }
    let cli = place();
    cli.run("prune --keep 3 good").clean();
    for line in ["backup create good", "restore --to copies", "backup drop --keep-last 0"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert_eq!(into(&cli, line, full).0, 3, "{line}");
    }
    assert_eq!(cli.runs(), [""; 0]);
}

#[test]
fn advice_of_doctor_and_of_scan_is_about_the_same_figures() {
    let cli = Cli::with_samples();
    let scan = cli.run("scan samples --format json").json()["totals"].take();
    let doctor = cli.run("doctor samples --format json").json();
    let check = |id: &str| {
        let checks = doctor["checks"].as_array().unwrap();
        checks.iter().find(|check| check["id"] == id).unwrap().clone()
    };
    let folders = check("folders")["found"].as_str().unwrap().to_owned();
    assert!(folders.ends_with(&format!("with {} entries", scan["entries"])), "{folders}, {scan}");
    let groups = cli.run("merge --find samples --format json").json()["groups"].as_array().unwrap().len();
    let copies = check("copies")["found"].as_str().unwrap().to_owned();
    assert!(copies.starts_with(&format!("{groups} list")), "{copies}, {groups}");
}

#[test]
fn a_measured_click_is_not_ticked_where_the_list_is_called_slow() {
    let cli = Cli::with(&[(EXPLORER, ListBuilder::files(4, 900).build()), (CHROME, Vec::new())]);
    let doctor = cli.run(&format!("doctor {EXPLORER} --format json")).json();
    let state = |id: &str| {
        let checks = doctor["checks"].as_array().unwrap();
        checks.iter().find(|check| check["id"] == id).unwrap()["state"].as_str().unwrap().to_owned()
    };
    assert_ne!(state("predicted_click"), "fine");
    assert_eq!(state("measured_click"), "notice");
}
