//! `--app`: the lists of one application, however the user calls it; and whose lists they are.

use crate::support;

use support::build::ListBuilder;
use support::cli::{AUTOMATIC, CHROME, Cli, EXPLORER, NOTEPAD, Output};

/// The ids of the files that a scan tells, in order.
fn ids(out: &Output) -> Vec<String> {
    out.json_lines().iter().map(|file| file["app_id"].as_str().unwrap().to_owned()).collect()
}

/// A place with lists of these applications.
fn cli(names: &[&str]) -> Cli {
    let cli = Cli::new();
    for name in names {
        cli.write(format!("lists/{name}"), &ListBuilder::files(4, 30).build());
    }
    cli
}

const VLC: &str = "faef7def55a1d4b.automaticDestinations-ms";
const RECENT_FILES: &str = "5f7b5f1e01b83767.automaticDestinations-ms";
/// Explorer of Windows 7.
const OLD_EXPLORER: &str = "1b4dd67f29cb1962.automaticDestinations-ms";

#[test]
fn an_application_is_found_by_its_name_its_id_and_the_path_of_its_program() {
    let cli = cli(&[EXPLORER, RECENT_FILES, OLD_EXPLORER, NOTEPAD, VLC, CHROME]);
    let notepad: &[&str] = &["9b9cdc69c1c24e2b"];
    let vlc: &[&str] = &["faef7def55a1d4b"];
    for (app, expected) in [
        ("explorer", &["1b4dd67f29cb1962", "f01b4d95cf55d32a"][..]),
        ("File Explorer", &["f01b4d95cf55d32a"]),
        ("Microsoft.Windows.Explorer", &["f01b4d95cf55d32a"]),
        ("F01B4D95CF55D32A", &["f01b4d95cf55d32a"]),
        ("quick access", &["5f7b5f1e01b83767"]),
        ("NOTEPAD", notepad),
        ("notepad.exe", notepad),
        (r"C:\Windows\System32\notepad.exe", notepad),
        (r"D:\Windows\system32\NOTEPAD.EXE", notepad),
        (r"%windir%\System32\notepad.exe", notepad),
        (r"{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\notepad.exe", notepad),
        (r"C:\Program Files\VideoLAN\VLC\vlc.exe", vlc),
        ("vlc", vlc),
        ("chrome", &["5d696d521de238c3"]),
    ] {
        let out = cli.run_words(["scan", "lists", "--sort", "name", "--format", "jsonl", "--app", app]).clean();
        assert_eq!(ids(&out), expected, "{app}");
    }
    let two = cli.run("scan lists --sort name --format jsonl --app notepad --app chrome").clean();
    assert_eq!(ids(&two), ["5d696d521de238c3", "9b9cdc69c1c24e2b"]);
}

#[test]
fn a_name_that_means_nothing_or_several_things_is_told_with_what_could_be_meant() {
    let cli = cli(&[EXPLORER, RECENT_FILES, NOTEPAD]);
    let before = cli.snapshot();
    for command in ["scan", "check", "show", "prune --keep 3", "delete", "backup create"] {
        let run = |app: &str| cli.run_words(command.split(' ').chain(["lists", "--app", app]));
        run("gizmo").exits(2).complains(&["gizmo", "File Explorer (f01b4d95cf55d32a)", "Notepad (9b9cdc69c1c24e2b)"]);
        run("e").exits(2).complains(&["could be any of", "File Explorer", "Quick Access"]);
        run("").exits(2).complains(&["no application is known"]);
        // Known, and not here.
        run("vlc").exits(4).complains(&["no list of VLC media player (faef7def55a1d4b)"]);
        run(r"C:\x\y.exe").exits(4).complains(&[r"C:\x\y.exe"]);
        run("abcdef0123456789").exits(4).complains(&["abcdef0123456789"]);
    }
    assert_eq!(cli.snapshot(), before);
    assert_eq!(cli.runs(), [""; 0]);
}

#[test]
fn commands_that_change_files_leave_those_of_other_applications_alone() {
    let cli = cli(&[EXPLORER, NOTEPAD, VLC]);
    let entries = |name: &str| {
        let out = cli.run(&format!("scan lists/{name} --format jsonl")).clean();
        out.json_lines()[0]["entries_count"].as_u64().unwrap()
    };
    cli.run("prune --keep 5 --app notepad lists").clean().says(&["1 file pruned\n"]);
    assert_eq!([entries(EXPLORER), entries(NOTEPAD), entries(VLC)], [30, 5, 30]);
    cli.run("delete --app vlc lists").clean().says(&["1 file deleted\n"]);
    assert!(!cli.path(format!("lists/{VLC}")).exists() && cli.path(format!("lists/{EXPLORER}")).exists());
    cli.run("backup create --app explorer lists").clean().says(&["1 file saved"]);
    assert!(cli.run("show --app explorer lists").clean().stdout.starts_with("File Explorer  f01b4d95cf55d32a"));
}

#[test]
fn a_name_that_the_user_gave_or_that_was_computed_back_is_a_name_too() {
    let opera = format!("7ff0b18f1611daa4.{AUTOMATIC}");
    let cli = cli(&[&opera, NOTEPAD]);
    cli.write("names.txt", b"\"9B9CDC69C1C24E2B\"|\"Harbour planner\"\n");
    let scan = |words: &[&str]| ids(&cli.run_words(["scan", "lists", "--format", "jsonl"].iter().chain(words)).clean());
    assert_eq!(scan(&["--app", "opera"]), ["7ff0b18f1611daa4"]);
    assert_eq!(scan(&["--app-ids", "names.txt", "--app", "harbour"]), ["9b9cdc69c1c24e2b"]);
    // A name that only Windows knows, of which no table has heard.
    cli.write(format!("lists/{}.{AUTOMATIC}", jlfix::appid::AppId::of("Acme.Gizmo!App")), &[]);
    let out = cli.run("scan lists --app acme.gizmo!app").exits(1);
    assert!(out.stdout.contains("1 file,"), "{}", out.stdout);
}

#[test]
fn users_are_told_from_the_path_in_a_column_where_there_are_several() {
    let cli = Cli::new();
    let outside = cli.user();
    let list = ListBuilder::files(4, 3).build();
    let recent = "AppData/Roaming/Microsoft/Windows/Recent/AutomaticDestinations";
    cli.write(format!("disk/Users/Jo Doe/{recent}/{NOTEPAD}"), &list);
    cli.run("scan disk").clean();
    assert!(!cli.run("scan disk").stdout.contains("User "), "one user needs no column");
    cli.write(format!("disk/Users/anna/{recent}/{NOTEPAD}"), &list);
    cli.write(format!("disk/Documents and Settings/tom/Recent/{NOTEPAD}"), &list);
    cli.write(format!("disk/elsewhere/{NOTEPAD}"), &list);
    let table = cli.run("scan disk --sort name").clean();
    assert!(table.stdout.starts_with("State  User    Application"), "{}", table.stdout);
    let users: Vec<&str> = table.rows(&["ok"]).map(|row| row.get(7..13).unwrap().trim()).collect();
    assert_eq!(users, ["tom", "Jo Doe", "anna", outside.as_deref().unwrap_or("-")]);
    let json = cli.run("scan disk --sort name --format json").clean().json();
    let users: Vec<_> = json["files"].as_array().unwrap().iter().map(|file| file["user"].as_str()).collect();
    assert_eq!(users, [Some("tom"), Some("Jo Doe"), Some("anna"), outside.as_deref()]);
    let csv = cli.run("scan disk --sort name --format csv").clean().csv();
    assert_eq!(
        csv.iter().map(|row| &*row["user"]).collect::<Vec<_>>(),
        ["tom", "Jo Doe", "anna", outside.as_deref().unwrap_or("")]
    );
    // From within the profile as well.
    let mut inside = cli.jlfix();
    inside.current_dir(cli.path("disk/Users/anna")).args(["scan", ".", "--format", "jsonl"]);
    assert_eq!(support::cli::finish(inside).clean().json_lines()[0]["user"], "anna");
}

#[test]
fn scan_export_and_merge_report_the_same_owner_for_the_same_file() {
    let cli = Cli::new();
    let outside = cli.user();
    let list = ListBuilder::files(4, 3).build();
    let recent = "AppData/Roaming/Microsoft/Windows/Recent/AutomaticDestinations";
    for (folder, user) in [
        (format!("profiles/jo.V6/{recent}"), Some("jo")),
        (format!("disk/Users/Kim.000/{recent}"), Some("Kim")),
        ("case/Users/x/lists".to_owned(), Some("x")),
        ("elsewhere".to_owned(), outside.as_deref()),
    ] {
        cli.write(format!("{folder}/{NOTEPAD}"), &list);
        cli.write(format!("{folder}/Copy of {NOTEPAD}.bak"), &list);
        let file = format!("{folder}/{NOTEPAD}");
        let run = |command: &[&str]| cli.run_words(command.iter().copied());
        let scan = run(&["scan", &file, "--format", "jsonl"]).clean().json_lines();
        assert_eq!(scan[0]["user"].as_str(), user, "{file}");
        let show = run(&["show", &format!("{folder}/Copy of {NOTEPAD}.bak"), "--format", "jsonl"]).clean().json_lines();
        assert_eq!((show[0]["user"].as_str(), &show[0]["app_id"]), (user, &scan[0]["app_id"]), "{file}");
        let out = cli.path(format!("out/{folder}"));
        run(&["export", &file, "--format", "jsonl", "--to", out.to_str().unwrap()]).exits(0);
        let exported = std::fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
        let exported = std::fs::read_to_string(exported).unwrap();
        let row: serde_json::Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
        assert_eq!(row["user"].as_str(), user, "{file}");
        let merge = run(&["merge", "--find", &folder, "--format", "json"]).json();
        assert_eq!(merge["groups"][0]["user"].as_str(), user, "{file}");
        assert_eq!(merge["groups"][0]["app_id"], scan[0]["app_id"], "{file}");
    }
}
