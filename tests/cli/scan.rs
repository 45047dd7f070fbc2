//! `jlfix scan`: a row a file, totals, and in words what would help.

use crate::support;

use support::build::{ListBuilder, NewEntry};
use support::cli::{AUTOMATIC, CHROME, Cli, EXPLORER, NOTEPAD, finish, samples};

#[test]
fn the_samples_are_told_worst_first_with_damaged_and_empty_ones_and_what_to_do() {
    let cli = Cli::new();
    let mut command = cli.jlfix();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["scan", "samples"]);
    let out = finish(command).exits(1);
    assert_eq!(out.stderr, "");
    let lines: Vec<&str> = out.stdout.lines().collect();
    assert!(lines[0].starts_with("State    Application"), "{}", lines[0]);
    let first: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(first[..6], ["slow", "File", "Explorer", "f01b4d95cf55d32a", "automatic", "3.8"]);
    assert!(lines[1].contains(" 3,067 "), "{}", lines[1]);
    let count = |state| out.rows(&[state]).filter(|row| row.contains("UTC") || row.contains("    ")).count();
    assert_eq!([count("damaged"), count("stale"), count("empty")], [5, 1, 4]);
    let native = |text: &str| text.replace('/', std::path::MAIN_SEPARATOR_STR);
    out.says(&[
        &native(
            "damaged samples/damaged/wrong-checksum/9b9cdc69c1c24e2b.automaticDestinations-ms\n        JL206 entry 17",
        ),
        "24 files, 4.2 MiB, 3,314 entries (40 pinned): 5 damaged, 1 slow, 1 stale, 4 empty, 13 ok\n",
        "File Explorer is the most expensive: a right-click makes 104,198 reads",
        "leaves 56 entries",
        &native("\n  jlfix prune --keep 50 samples/AutomaticDestinations/f01b4d95cf55d32a.automaticDestinations-ms\n"),
    ]);
}

#[test]
fn where_all_is_well_the_exit_code_is_0_and_the_user_is_told_to_look_elsewhere() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 20).build())]);
    cli.run("scan .").clean().says(&["1 file, ", "20 entries (0 pinned): 1 ok", "it is not the jump lists"]);
    // Empty ones are well, too.
    cli.write(EXPLORER, &ListBuilder::empty().build());
    cli.run("scan .").clean().says(&["1 empty, 1 ok"]);
}

#[test]
fn files_are_found_at_any_depth_by_their_ending_in_any_case_and_links_are_not_followed() {
    let cli = Cli::new();
    let list = ListBuilder::files(4, 3).build();
    cli.write("here/Recent/f01b4d95cf55d32a.AUTOMATICDESTINATIONS-MS", &list);
    cli.write("here/a/b/c/5d696d521de238c3.customdestinations-MS", &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    cli.write("here/no list.txt", &list);
    cli.write("here/link.lnk", &support::build::LinkBuilder::file(r"C:\x.txt").build());
    #[cfg(unix)]
    {
        cli.write(format!("elsewhere/{NOTEPAD}"), &list);
        std::os::unix::fs::symlink(cli.path("elsewhere"), cli.path("here/linked folder")).unwrap();
        let link = format!("here/{NOTEPAD}");
        std::os::unix::fs::symlink(cli.path(format!("elsewhere/{NOTEPAD}")), cli.path(link)).unwrap();
        std::os::unix::fs::symlink(cli.path("here"), cli.path("here/round and round")).unwrap();
    }
    let out = cli.run("scan here --sort name --format jsonl").clean();
    let paths: Vec<String> =
        out.json_lines().iter().map(|file| file["path"].as_str().unwrap().replace('\\', "/")).collect();
    assert_eq!(
        paths,
        ["here/Recent/f01b4d95cf55d32a.AUTOMATICDESTINATIONS-MS", "here/a/b/c/5d696d521de238c3.customdestinations-MS"]
    );
}

#[test]
fn a_file_that_is_named_is_told_by_its_content_whatever_it_is_called() {
    let cli = Cli::new();
    cli.write("recovered.bin", &ListBuilder::files(4, 3).build());
    cli.write(CHROME, &ListBuilder::files(1, 2).build());
    cli.write("custom", &std::fs::read(samples().join("CustomDestinations").join(CHROME)).unwrap());
    let files = cli.run_words(["scan", "recovered.bin", CHROME, "custom", "--sort", "name", "--format", "jsonl"]);
    let files = files.clean().json_lines();
    let told: Vec<_> =
        files.iter().map(|file| (file["kind"].as_str().unwrap(), file["entries_count"].as_u64())).collect();
    assert_eq!(told, [("automatic", Some(2)), ("custom", Some(4)), ("automatic", Some(3))]);
    assert!(files[2]["app_id"].is_null() && files[2]["app_name"].is_null());
}

#[test]
fn rows_are_sorted_as_the_user_asks() {
    let cli = Cli::new();
    let used = |at: &str| NewEntry::file(r"C:\a.txt").used(1, at);
    // The name, the size, the entries and the last use each give another order.
    cli.write(format!("a/{NOTEPAD}"), &ListBuilder::new(4).entry(used("2024-01-02T00:00:00Z")).build());
    let large = ListBuilder::new(4).entry(used("2024-01-01T00:00:00Z")).stream("other", &[7; 60_000]);
    cli.write(format!("b/{NOTEPAD}"), &large.build());
    let many = ListBuilder::files(4, 9)
        .edit(0, |entry| entry.last_access = Some(support::build::time("2023-01-01T00:00:00Z")));
    cli.write(format!("c/{NOTEPAD}"), &many.build());
    for (sort, order) in [("name", "abc"), ("size", "bca"), ("entries", "cab"), ("reads", "cab"), ("used", "abc")] {
        let out = cli.run(&format!("scan . --sort {sort} --format jsonl")).clean();
        let files = out.json_lines();
        let have: String = files.iter().map(|file| file["path"].as_str().unwrap().chars().nth(2).unwrap()).collect();
        assert_eq!(have, order, "{sort}");
    }
}

#[test]
fn only_shows_the_rows_in_the_states_that_are_asked_for() {
    let cli = Cli::with_samples();
    let out = cli.run("scan samples --only stale,empty --format jsonl").exits(1);
    let files = out.json_lines();
    assert_eq!(files.len(), 5);
    assert!(files.iter().all(|file| file["state"] == "stale" || file["state"] == "empty"));
    cli.run("scan samples --only broken").exits(2);
}

#[test]
fn the_user_says_from_how_many_milliseconds_a_click_is_slow() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 60).build())]);
    cli.run("scan . --slow-ms 1").exits(1).says(&["1 slow", "Notepad is the most expensive"]);
    cli.run("scan . --slow-ms 1000").clean().says(&["1 ok"]);
    cli.run("scan . --slow-ms -1").exits(2);
    cli.run("scan . --slow-ms soon").exits(2);
}

#[test]
fn a_list_of_names_explains_ids_that_are_not_known() {
    let cli = Cli::with(&[
        (&format!("abcdef0123456789.{AUTOMATIC}"), ListBuilder::files(4, 3).build()),
        ("names.txt", b"\"ABCDEF0123456789\"|\"Harbour planner\"\n".to_vec()),
    ]);
    let name = |line: &str| cli.run(line).clean().json()["files"][0]["app_name"].clone();
    assert!(name("scan . --format json").is_null());
    assert_eq!(name("scan . --format json --app-ids names.txt"), "Harbour planner");
    cli.run("scan . --app-ids none.txt").exits(2).complains(&["--app-ids none.txt: cannot read it: "]);
}

#[test]
fn a_folder_without_lists_is_told_and_no_error() {
    let cli = Cli::with(&[("empty/readme.txt", b"nothing".to_vec())]);
    cli.run("scan empty").exits(0).complains(&["empty: no jump lists in it"]);
    cli.run("scan -q empty").clean();
}

#[cfg(not(windows))]
#[test]
fn without_a_path_a_system_that_has_no_jump_lists_says_to_name_a_folder() {
    let cli = Cli::new();
    for command in ["scan", "check", "prune --keep 3", "backup create"] {
        cli.run(command).exits(2).complains(&["name a file or a folder"]);
    }
    cli.run("scan --all-users").exits(2).complains(&["name the folder of their profiles"]);
}

#[test]
fn what_a_file_is_called_cannot_drive_the_terminal() {
    let mut names = vec!["\u{202e}evil", "\u{2066}\u{200f}"];
    if cfg!(unix) {
        names.extend(["\u{1b}]0;title\u{7}", "\u{1b}[31mred", "two\nlines"]);
    }
    for name in names {
        let cli = Cli::new();
        let damaged = ListBuilder::files(4, 80).edit(0, |entry| entry.checksum = Some(1));
        cli.write(format!("{name}/{NOTEPAD}"), &damaged.build());
        cli.write(format!("{name}/{EXPLORER}"), &ListBuilder::files(4, 90).build());
        let commands = [
            "scan . --slow-ms 1",
            "check .",
            "show .",
            "prune --keep 5 --dry-run -v .",
            "backup create .",
            "backup list -v",
        ];
        for command in commands {
            // In colour, so that nothing is taken out on the way to a file.
            let out = cli.run(&format!("{command} --color always"));
            for text in [&out.stdout, &out.stderr] {
                assert!(!text.contains(name), "{command}: {text:?}");
            }
            assert!(out.code < 4, "{command}: {}", out.stderr);
        }
    }
}

/// Runs a command line of the shell on a terminal of `columns` columns, if this machine has `script` (util-linux).
#[cfg(target_os = "linux")]
fn on_terminal(columns: usize, line: &str) -> Option<String> {
    let cli = Cli::new();
    let mut command = cli.command("script");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("TERM", "xterm");
    command.args([
        "-qec",
        &format!("stty cols {columns} rows 24; {} {line}", env!("CARGO_BIN_EXE_jlfix")),
        "/dev/null",
    ]);
    let Ok(output) = command.output() else {
        eprintln!("skipped: this machine has no script(1)");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    Some(anstream::adapter::strip_str(&text).to_string().replace('\r', ""))
}

/// The rows of a table: from its head to the first empty line.
#[cfg(target_os = "linux")]
fn rows(text: &str) -> Vec<&str> {
    let from_head = text.lines().skip_while(|line| !line.contains("State") && !line.contains("Path"));
    from_head.take_while(|line| !line.is_empty()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn no_row_wraps_on_a_terminal_of_80_columns() {
    for columns in [60, 80, 100, 120, 200] {
        let Some(text) = on_terminal(columns, "scan samples") else { return };
        let rows = rows(&text);
        assert!(rows.len() > 20, "{columns}: {text}");
        for row in &rows {
            assert!(row.chars().count() < columns, "{columns}: {row}");
        }
        // Folder, kind and AppID are dropped first.
        let has = |name: &str| rows[0].contains(name);
        let by_rank = ["Folder", "Kind", "AppID", "Split"].map(has);
        assert!(by_rank.is_sorted(), "{}", rows[0]);
        assert!(columns > 80 || !has("AppID"), "{}", rows[0]);
        assert!(columns < 200 || has("Folder"), "{}", rows[0]);
        assert!(has("Application") && has("Entries") && has("Size") && has("Reads per click"), "{}", rows[0]);
        let Some(text) = on_terminal(columns, &format!("show samples/AutomaticDestinations/{EXPLORER}")) else {
            return;
        };
        let long = text.lines().filter(|line| line.starts_with(' ') && line.contains(":\\"));
        assert_eq!(long.filter(|line| line.chars().count() >= columns).collect::<Vec<_>>(), Vec::<&str>::new());
    }
}

#[test]
fn a_table_that_goes_to_a_file_has_its_full_width() {
    let cli = Cli::new();
    let mut command = cli.jlfix();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("COLUMNS", "40").args(["scan", "samples"]);
    let out = finish(command).exits(1);
    assert!(out.stdout.lines().next().unwrap().ends_with("Folder"), "{}", out.stdout);
}

#[test]
fn sort_none_writes_the_rows_as_they_are_found_in_every_format() {
    let cli = Cli::with_samples();
    for format in ["jsonl", "json", "csv", "table"] {
        let sorted = cli.run(&format!("scan samples/AutomaticDestinations --sort name --format {format}"));
        let streamed = cli.run(&format!("scan samples/AutomaticDestinations --sort none --format {format}"));
        // In one folder, files are found in the order of their names.
        assert_eq!(streamed.clean().stdout, sorted.clean().stdout, "{format}");
    }
    let out = cli.run("scan samples --sort none --only empty --format jsonl").exits(1);
    assert_eq!(out.json_lines().len(), 4);
}

#[test]
fn columns_are_as_wide_as_their_widest_cell() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 3).build())]);
    cli.write("names.txt", "\"9b9cdc69c1c24e2b\"|\"記事\"\n".as_bytes());
    let out = cli.run("--app-ids names.txt scan .").clean();
    let mut lines = out.stdout.lines();
    let (head, row) = (lines.next().unwrap(), lines.next().unwrap());
    // Each of the two characters takes two columns of a terminal.
    let column = |line: &str, text: &str| line.split(text).next().unwrap().chars().count();
    assert_eq!(column(head, "AppID"), column(row, "9b9cdc69c1c24e2b") + 2, "{head}\n{row}");
    assert_eq!(column(head, "Kind"), column(row, "automatic") + 2, "{head}\n{row}");
}
