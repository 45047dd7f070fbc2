//! Small files from public bug reports about jump list and shell link readers (tests/cases), each with what is right for
//! it.

use std::path::{Path, PathBuf};

use crate::support::build::{Link, ListBuilder, NewEntry};
use crate::support::cli::{Cli, EXPLORER, NOTEPAD};
use crate::support::read::List;

const PHOTOS: &str = "a52b0784bd667468.automaticDestinations-ms";

fn case(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(path)
}

/// A place with the list of this case under this name.
fn place(case_name: &str, name: &str) -> (Cli, Vec<u8>) {
    let bytes = std::fs::read(case(case_name).join(name)).unwrap();
    (Cli::with(&[(name, bytes.clone())]), bytes)
}

/// The entries of a list with their links, but for where each is in the file.
fn entries(cli: &Cli, name: &str) -> Vec<serde_json::Value> {
    let mut json = cli.run(&format!("show --links --format json {name}")).json();
    let entries = json["files"][0]["entries"].take();
    let mut entries: Vec<_> = entries.as_array().unwrap().clone();
    entries.iter_mut().filter_map(|entry| entry["link"].as_object_mut()).for_each(|link| {
        link.remove("offset");
    });
    entries
}

#[test]
fn a_link_that_names_the_path_of_another_entry_is_left_to_the_entry_of_its_id() {
    for name in ["healthy-link-names-other-entry", "healthy-link-names-other-entry-pinned"] {
        let (cli, bytes) = place(name, NOTEPAD);
        cli.run("check .").clean().says(&["checked: no findings"]);
        cli.run("repair .").clean().says(&["1 unchanged"]);
        assert_eq!(cli.read(NOTEPAD), bytes, "{name}");
    }
}

#[test]
fn a_file_with_a_property_store_and_no_dest_list_is_an_empty_list() {
    let (cli, bytes) = place("no-destlist-propstore", NOTEPAD);
    cli.run("check .").clean();
    cli.run("repair .").clean().says(&["1 unchanged"]);
    cli.run("prune --keep 3 .").clean();
    assert_eq!(cli.read(NOTEPAD), bytes);
}

#[test]
fn a_compound_file_of_another_kind_is_reported_and_never_changed() {
    let (cli, bytes) = place("word-document", NOTEPAD);
    cli.run("check .").exits(1).says(&["warning JL112 not a jump list"]);
    for command in ["repair", "prune --keep 3", "delete", "delete --include-pinned"] {
        cli.run(&format!("{command} {NOTEPAD}")).exits(4).complains(&["not a jump list", "nothing was changed"]);
        assert_eq!(cli.read(NOTEPAD), bytes);
    }
}

#[test]
fn a_directory_tree_that_is_not_ordered_is_reported_and_repaired() {
    let (cli, _) = place("tree-unsorted", NOTEPAD);
    cli.run("check .").exits(1).says(&["JL108 a search by name does not find", "repair it with: jlfix repair"]);
    let before = entries(&cli, NOTEPAD);
    cli.run(&format!("repair {NOTEPAD}")).clean().says(&["1 file"]);
    assert_eq!(entries(&cli, NOTEPAD), before, "no entry and no link is lost");
    assert_eq!(List::at(cli.path(NOTEPAD)).streams.len(), 40);
    cli.run("check .").clean();
}

#[test]
fn a_link_without_its_terminal_block_ends_where_its_stream_ends() {
    let (cli, bytes) = place("link-no-terminal", NOTEPAD);
    let out = cli.run("check .").exits(1).says(&["warning JL302 link 2: terminal block"]);
    assert!(!out.stdout.contains("error"), "{}", out.stdout);
    cli.run("repair .").clean().says(&["1 unchanged"]);
    assert_eq!(cli.read(NOTEPAD), bytes);
    cli.run(&format!("prune --keep 1 {NOTEPAD}")).clean().says(&["1 file pruned"]);
}

#[test]
fn a_dest_list_of_an_unknown_version_is_refused_alike_by_all_commands() {
    let (cli, bytes) = place("version-7", PHOTOS);
    let out = cli.run("check .").exits(1).says(&["JL213 format version 7 is not supported (1 to 6 are)"]);
    assert!(!out.stdout.contains("repair it with"), "{}", out.stdout);
    for command in ["repair", "prune --keep 1"] {
        let out = cli.run(&format!("{command} {PHOTOS}")).exits(4);
        let out = out.complains(&["version 7 is not supported; 1 to 6 are", "jlfix backup create", "jlfix delete"]);
        assert!(!out.stderr.contains("jlfix repair"), "{}", out.stderr);
    }
    assert_eq!(cli.read(PHOTOS), bytes);
    cli.run("backup create .").clean();
}

#[test]
fn a_path_at_the_end_of_the_stream_keeps_its_last_characters() {
    let (cli, _) = place("path-cut", PHOTOS);
    let json = cli.run(&format!("show --format json {PHOTOS}")).exits(1).json();
    assert_eq!(json["files"][0]["entries"][2]["path"], r"C:\Users\kim\Pict");
}

#[test]
fn prune_and_delete_refuse_where_repair_recovers_entries_and_pins() {
    for (name, pinned) in [("last-pin", 1), ("no-header", 1)] {
        let (cli, bytes) = place(name, EXPLORER);
        for command in ["prune --keep 3", "prune --keep 3 --dry-run", "delete", "delete --dry-run"] {
            cli.run(&format!("{command} {EXPLORER}")).exits(4).complains(&["may be lost", "jlfix repair"]);
            assert_eq!(cli.read(EXPLORER), bytes, "{name}");
        }
        cli.run(&format!("repair {EXPLORER}")).clean();
        let list = List::at(cli.path(EXPLORER));
        assert_eq!((list.entries.len(), list.pinned()), (5, pinned), "{name}");
        cli.run(&format!("delete {EXPLORER}")).exits(4).complains(&["1 entry pinned"]);
        cli.run(&format!("prune --keep 3 {EXPLORER}")).clean();
    }
}

#[test]
fn other_files_are_done_where_one_is_refused() {
    let (cli, _) = place("last-pin", EXPLORER);
    cli.write(NOTEPAD, &ListBuilder::files(4, 9).build());
    cli.run("prune --keep 3 .").exits(3).complains(&["may be lost"]);
    assert_eq!(List::at(cli.path(NOTEPAD)).entries.len(), 3);
}

#[test]
fn a_link_that_nothing_names_is_joined_with_the_only_entry_that_lacks_one_of_its_size() {
    let (cli, _) = place("url-start", EXPLORER);
    let before = entries(&cli, EXPLORER).len();
    cli.run("check .").exits(1);
    cli.run(&format!("repair {EXPLORER}")).clean();
    let after = List::at(cli.path(EXPLORER));
    assert_eq!(after.entries.len(), before);
    assert!(after.streams.values().any(|link| link.len() == 309), "the link is whole again");
    cli.run("check .").clean();
}

#[test]
fn a_total_of_no_entries_is_zero_and_not_minus_zero() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 4).build())]);
    cli.run(&format!("prune --keep 0 {NOTEPAD}")).clean();
    assert_eq!(List::at(cli.path(NOTEPAD)).header.total.to_bits(), 0);
}

#[test]
fn three_copies_give_every_destination_and_pin_in_every_order() {
    let copies = ["a", "b", "c"].map(|copy| {
        let folder = case("merge3").join(copy);
        let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
        std::fs::read(file.path()).unwrap()
    });
    let mut results = Vec::new();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let cli = Cli::new();
        for (name, at) in ["x", "y", "z"].iter().zip(order) {
            cli.write(format!("{name}/{NOTEPAD}"), &copies[at]);
        }
        cli.run(&format!("merge x/{NOTEPAD} y/{NOTEPAD} z/{NOTEPAD} --into {NOTEPAD}")).exits(0);
        let list = List::at(cli.path(NOTEPAD));
        let mut found: Vec<_> =
            list.entries.iter().map(|entry| (entry.path.rsplit('\\').next().unwrap().to_owned(), entry.pin)).collect();
        found.sort();
        assert_eq!(found, [("a.txt".to_owned(), -1), ("b.txt".to_owned(), 0)], "{order:?}");
        results.push(cli.read(NOTEPAD));
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "the same bytes in every order");
}

/// The link of a case with its file's findings.
fn link(name: &str) -> (serde_json::Value, serde_json::Value) {
    let cli = Cli::new();
    cli.write(name, &std::fs::read(case("links").join(name)).unwrap());
    let mut file = cli.run(&format!("show --links --format json {name}")).json()["files"][0].take();
    (file["entries"][0]["link"].take(), file["findings"].take())
}

fn codes(findings: &serde_json::Value) -> Vec<&str> {
    findings.as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn control_panel_files_are_read_in_unicode_and_ansi_with_any_icon() {
    for name in ["cpl-unicode.lnk", "cpl-ansi.lnk"] {
        let (link, findings) = link(name);
        assert_eq!(link["target"], r"C:\Windows\System32\timedate.cpl", "{name}");
        let item = link["id_list"].as_array().unwrap().last().unwrap();
        assert_eq!((&item["name"], &item["comments"]), (&"Date and Time".into(), &"Set the date".into()));
        assert!(codes(&findings).is_empty());
    }
    let (cli, _) = place("cpl-item", NOTEPAD);
    cli.run(&format!("show --links {NOTEPAD}")).clean().says(&[r"C:\Windows\System32\timedate.cpl", "Date and Time"]);
}

#[test]
fn a_damaged_id_list_keeps_its_items_and_is_a_finding() {
    for (name, target) in
        [("item-cut.lnk", r"C:\docs\a.txt"), ("item-too-long.lnk", r"C:\docs\a.txt"), ("idlist-cut.lnk", r"C:\docs")]
    {
        let (link, findings) = link(name);
        assert_eq!(link["target"], target, "{name}");
        assert_eq!(codes(&findings), ["JL302"], "{name}");
    }
}

#[test]
fn times_are_read_to_the_end_of_9999_and_reported_past_it() {
    let (link, findings) = self::link("times-in-9999.lnk");
    assert_eq!(link["accessed"], "9999-12-31T23:59:59.0000000Z");
    assert!(codes(&findings).is_empty(), "{findings}");
    let (link, findings) = self::link("times-past-9999.lnk");
    assert!(link["created"].is_null());
    assert_eq!(codes(&findings), ["JL217", "JL217"]);
    assert!(findings[0]["message"].as_str().unwrap().contains("9223372036854775807 ticks"));
}

#[test]
fn a_link_that_forces_no_link_info_has_the_target_of_its_id_list_and_shows_both() {
    let (link, _) = link("force-no-linkinfo.lnk");
    assert_eq!((&link["target"], &link["local_path"]), (&r"C:\a.txt".into(), &r"C:\b.txt".into()));
}

#[test]
fn device_and_provider_of_a_network_drive_are_in_every_output() {
    let (link, _) = link("net-device.lnk");
    assert_eq!((&link["network_device"], &link["network_provider"]), (&"Z:".into(), &"SMB".into()));
    let bytes = std::fs::read(case("links/net-device.lnk")).unwrap();
    let cli = Cli::new();
    cli.write("net-device.lnk", &bytes);
    // Exports take lists.
    let entry = NewEntry::new(r"Z:\docs\a.txt", Link::Raw(bytes));
    cli.write(NOTEPAD, &ListBuilder::new(4).entry(entry).build());
    for command in
        ["show --links", "show --links --format csv", "export --to - --format jsonl", "export --to - --format csv"]
    {
        let file = if command.starts_with("show") { "net-device.lnk" } else { NOTEPAD };
        let out = cli.run(&format!("{command} {file}"));
        assert!(out.stdout.contains("Z:") && out.stdout.contains("SMB"), "{command}: {}", out.stdout);
    }
    cli.run(&format!("export --format jlecmd --to out {NOTEPAD}")).exits(0);
    let written = std::fs::read_dir(cli.path("out")).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()));
    assert!(written.map(Result::unwrap).any(|text| text.contains("Z:") && text.contains("SMB")));
}

#[test]
fn a_file_that_is_no_link_is_reported_as_such_and_no_repair_is_advised() {
    let cli = Cli::new();
    cli.write("recycle-info.lnk", &std::fs::read(case("links/recycle-info.lnk")).unwrap());
    let out = cli.run("check recycle-info.lnk").exits(1).says(&["JL301 not a shell link"]);
    assert!(!out.stdout.contains("jlfix repair"), "{}", out.stdout);
}
