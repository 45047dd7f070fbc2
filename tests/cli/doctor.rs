//! `jlfix doctor`, `tracking`, `completions` and `man`.

use crate::support;

use serde_json::Value;
use support::build::{CustomBuilder, LinkBuilder, ListBuilder, NewEntry};
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD, Output, keys};

/// The state and words of one check.
#[track_caller]
fn check<'v>(document: &'v Value, id: &str) -> (&'v str, &'v str) {
    let checks = document["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("no {id}: {document}"));
    (check["state"].as_str().unwrap(), check["found"].as_str().unwrap())
}

fn doctor(cli: &Cli, words: &str) -> Output {
    cli.run(&format!("doctor --format json {words}"))
}

#[test]
fn where_all_is_well_every_line_is_fine_and_the_user_is_told_to_look_elsewhere() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 20).build())]);
    let json = doctor(&cli, ".").clean().json();
    assert_eq!(keys(&json), ["checks", "jlfix"]);
    for check in json["checks"].as_array().unwrap() {
        assert_eq!(keys(check), ["cost", "fix", "found", "id", "state"]);
        let state = check["state"].as_str().unwrap();
        assert!(["fine", "skipped"].contains(&state) || cfg!(windows), "{check}");
        // A command that changes something comes with its price, and nothing else has one.
        assert_eq!(check["fix"].is_null(), check["cost"].is_null(), "{check}");
    }
    assert!(check(&json, "worst_list").1.contains("Notepad"), "{json}");
    assert!(check(&json, "measured_click").1.contains(" reads take "), "{json}");
    let table = cli.run("doctor .").clean();
    table.says(&["✓ 1 automatic list of ", "✓ No list is damaged\n", "\nJump lists are not what makes menus slow "]);
    assert_eq!(cli.runs(), [""; 0], "it only looks");
}

#[test]
fn a_list_that_makes_clicks_slow_comes_with_the_command_that_helps_and_its_price() {
    let cli = Cli::with(&[(EXPLORER, ListBuilder::files(4, 900).build())]);
    let out = doctor(&cli, ".");
    let json = out.json();
    let (state, found) = check(&json, "predicted_click");
    // On Windows it depends on the build.
    assert!(state == "problem" || cfg!(windows) && state == "notice", "{json}");
    assert_eq!(out.code, i32::from(state == "problem"));
    assert!(found.contains("1 list so expensive"), "{found}");
    let predicted = json["checks"].as_array().unwrap().iter().find(|check| check["id"] == "predicted_click").unwrap();
    assert!(predicted["cost"].as_str().unwrap().starts_with("850 of 900 entries go"), "{predicted}");
    let fix = predicted["fix"].as_str().unwrap().strip_prefix("jlfix ").unwrap().to_owned();
    cli.run(&fix).clean();
    let after = doctor(&cli, ".").clean().json();
    assert_eq!(check(&after, "predicted_click").0, "fine");
    cli.run("doctor .").clean().says(&["Jump lists are not what makes menus slow "]);
}

#[test]
fn damage_is_a_problem_and_so_is_a_file_that_cannot_be_read() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 3).edit(0, |entry| entry.checksum = Some(1)).build())]);
    cli.write("other/1.automaticDestinations-ms", &ListBuilder::files(4, 3).build());
    let json = doctor(&cli, ".").exits(1).json();
    let (state, found) = check(&json, "damaged");
    assert!(state == "problem" && found.contains(NOTEPAD), "{json}");
    cli.run("doctor .").exits(1).says(&["✗ Damaged: 1 list: ", "change it: jlfix repair ", "\n1 problem; but "]);
    let gone = doctor(&cli, "other nowhere").exits(1).json();
    assert_eq!(check(&gone, "unreadable").0, "problem");
    assert_eq!(check(&gone, "damaged").0, "fine");
}

#[test]
fn copies_leftovers_and_custom_lists_that_point_at_nothing_are_named() {
    let cli = Cli::new();
    let list = ListBuilder::files(4, 3).build();
    cli.write(format!("lists/{NOTEPAD}"), &list);
    cli.write("lists/9b9cdc69c1c24e2b-LAPTOP.automaticDestinations-ms", &list);
    cli.write("lists/.jlfix-1-0123456789abcdef.tmp", b"half");
    let custom = |paths: [&str; 2]| CustomBuilder::new().tasks(&paths.map(LinkBuilder::file)).build();
    cli.write(format!("lists/{CHROME}"), &custom([r"C:\gone\a.txt", r"C:\gone\b.txt"]));
    cli.write("lists/1.customDestinations-ms", &custom([r"C:\gone\a.txt", r"C:\there\c.txt"]));
    cli.write("lists/2.customDestinations-ms", &custom([r"C:\gone\a.txt", r"Q:\stick\c.txt"]));
    cli.write("drive/there/c.txt", b"");
    let json = doctor(&cli, "lists --drive C=drive").exits(0).json();
    let named = |id: &str, one: &str| {
        let (state, found) = check(&json, id);
        assert!(state == "notice" && found.contains(one), "{json}");
    };
    named("copies", "9b9cdc69c1c24e2b-LAPTOP");
    let copies = json["checks"].as_array().unwrap().iter().find(|check| check["id"] == "copies").unwrap();
    let find = copies["fix"].as_str().unwrap().strip_prefix("jlfix ").unwrap().to_owned();
    assert!(cli.run(&find).stdout.contains("LAPTOP"), "{find}");
    named("leftovers", ".jlfix-1-0123456789abcdef.tmp");
    named("custom_targets", "1 custom list ");
    named("custom_targets", CHROME);
    #[cfg(not(windows))]
    assert_eq!(check(&doctor(&cli, "lists").clean().json(), "custom_targets").0, "skipped");
}

#[test]
fn one_application_can_be_looked_at_alone() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 3).build()), (EXPLORER, ListBuilder::files(4, 900).build())]);
    let json = doctor(&cli, ". --app notepad").clean().json();
    assert!(check(&json, "worst_list").1.contains("Notepad"), "{json}");
    doctor(&cli, ". --app gizmo").exits(2).complains(&["gizmo"]);
}

#[cfg(not(windows))]
#[test]
fn on_other_systems_what_only_windows_knows_is_told_as_skipped() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 3).build())]);
    let json = doctor(&cli, ".").clean().json();
    for id in ["windows_build", "tracking", "policy_no_recent_docs_history", "jump_list_items", "shell_extensions"] {
        assert_eq!(check(&json, id), ("skipped", "this system is not Windows"));
    }
    cli.run("doctor .").clean().says(&["– skipped: windows_build, tracking, "]);
    cli.run("doctor").exits(2).complains(&["name a file or a folder"]);
    for action in ["on", "off", "status"] {
        cli.run(&format!("tracking {action}")).exits(4).complains(&["not Windows"]);
    }
    assert_eq!(cli.runs(), [""; 0]);
}

#[test]
fn shells_get_their_completions_and_man_its_pages() {
    let cli = Cli::new();
    for (shell, part) in [
        ("bash", "complete -F _jlfix"),
        ("zsh", "#compdef jlfix"),
        ("fish", "complete -c jlfix"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        cli.run(&format!("completions {shell}")).clean().says(&[part, "prune", "--keep"]);
    }
    cli.run("completions teapot").exits(2);
    cli.run("man").clean().says(&[".TH jlfix 1", "doctor"]);
    cli.run("man prune").clean().says(&[".TH jlfix-prune 1", "\\-\\-keep"]);
    cli.run("man teapot").exits(2).complains(&["teapot"]);
}

#[test]
fn entries_on_removable_drives_and_servers_are_counted_with_their_pins() {
    let far = ListBuilder::files(4, 3)
        .entry(NewEntry::file(r"E:\stick.txt").link(|link| link.drive_type = 2))
        .entry(NewEntry::file(r"\\nas\share\film.txt"))
        .pin(3);
    let cli = Cli::with(&[(NOTEPAD, far.build()), (EXPLORER, ListBuilder::files(4, 3).build())]);
    let json = doctor(&cli, ".").clean().json();
    let (state, found) = check(&json, "slow_drives");
    assert_eq!(state, "notice");
    assert!(found.starts_with("1 entry on a removable drive, 1 on a server, 1 of them pinned: "), "{found}");
    assert!(found.contains("Notepad (") && !found.contains(EXPLORER), "{found}");
}
