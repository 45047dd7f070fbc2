//! `jlfix diff`: what is different between two lists, matched by what the entries are of, and the same as what prune,
//! repair and merge report.

use crate::support;

use std::collections::BTreeSet;

use jlfix::format::guid::Guid;
use serde_json::Value;
use support::build::{CustomBuilder, Link, LinkBuilder, ListBuilder, NewEntry, time};
use support::cli::{AUTOMATIC, Cli, NOTEPAD, Output, keys};
use support::mended::ten;

const OTHER: &str = "other.automaticDestinations-ms";

/// The two lists compared: the one file of the JSON.
#[track_caller]
fn diff(a: &[u8], b: &[u8]) -> Value {
    let cli = Cli::with(&[(NOTEPAD, a.to_vec()), (OTHER, b.to_vec())]);
    let code = i32::from(a != b);
    let json = cli.run(&format!("diff --format json {NOTEPAD} {OTHER}")).exits(code).json();
    json["files"][0].clone()
}

/// The entries with this change, each as path and names of the fields that are different.
fn entries<'v>(file: &'v Value, change: &str) -> Vec<(&'v str, Vec<&'v str>)> {
    let entries = file["entries"].as_array().unwrap().iter().filter(|entry| entry["change"] == change);
    let fields = |entry: &'v Value| {
        entry["fields"].as_array().unwrap().iter().map(|field| field["field"].as_str().unwrap()).collect()
    };
    entries.map(|entry| (entry["path"].as_str().unwrap(), fields(entry))).collect()
}

/// The ids of the entries with one of these changes, as they are in the file that has them.
fn ids(file: &Value, changes: &[&str]) -> BTreeSet<u64> {
    let entries = file["entries"].as_array().unwrap().iter();
    let entries = entries.filter(|entry| changes.contains(&entry["change"].as_str().unwrap()));
    entries.map(|entry| entry["id_after"].as_u64().or(entry["id_before"].as_u64()).unwrap()).collect()
}

/// The ids of the entries that the steps of a change name, if `wanted` holds for the text of the step.
fn step_ids(done: &Output, wanted: impl Fn(&str) -> bool) -> BTreeSet<u64> {
    let json = done.json();
    let steps = json["files"][0]["steps"].as_array().unwrap();
    let steps = steps.iter().filter(|step| wanted(step["what"].as_str().unwrap()));
    steps.filter_map(|step| step["entry_id"].as_u64()).collect()
}

fn path(number: usize) -> String {
    format!(r"C:\Users\sam\Documents\notes {number:05}.txt")
}

#[test]
fn a_list_is_the_same_as_itself() {
    let list = ten().build();
    let cli = Cli::with(&[(NOTEPAD, list.clone()), (OTHER, list)]);
    let out = cli.run(&format!("diff {NOTEPAD} {OTHER}")).clean();
    assert_eq!(out.stdout, format!("same  {OTHER}\n"));
    let json = cli.run(&format!("diff --format json {NOTEPAD} {OTHER}")).clean().json();
    assert_eq!((&json["files"][0]["status"], &json["totals"]["same"]), (&"same".into(), &1.into()));
    assert_eq!(json["files"][0]["entries"], Value::Array(Vec::new()));
}

#[test]
fn prune_removes_what_it_reports_and_changes_nothing_else() {
    let cli = Cli::with(&[(NOTEPAD, ten().build())]);
    let done = cli.run(&format!("prune --keep 3 --format json {NOTEPAD}")).exits(0);
    let json = cli.run(&format!("diff --backup --format json {NOTEPAD}")).exits(1).json();
    let file = &json["files"][0];
    assert_eq!(ids(file, &["removed"]), step_ids(&done, |_| true));
    assert_eq!((file["before"]["entries"].as_u64(), file["after"]["entries"].as_u64()), (Some(10), Some(5)));
    assert_eq!(entries(file, "added"), []);
    assert_eq!(entries(file, "changed"), []);
    for section in ["pins", "order", "streams"] {
        assert_eq!(file[section], Value::Array(Vec::new()), "{section}");
    }
    cli.run(&format!("diff --backup {NOTEPAD}")).exits(1).says(&["- entry 6", "0 entries added, 5 removed, 0 changed"]);
}

#[test]
fn prune_of_pins_and_ranks_is_reported_as_such() {
    let mut list = ListBuilder::folders(4, 8).pin(6).pin(7);
    list.entries.iter_mut().zip(2..).for_each(|(entry, rank)| entry.rank = rank % 8);
    let cli = Cli::with(&[(NOTEPAD, list.build())]);
    let done = cli.run(&format!("prune --entry 2 --include-pinned --format json {NOTEPAD}")).exits(0);
    let json = cli.run(&format!("diff --backup --format json {NOTEPAD}")).exits(1).json();
    let file = &json["files"][0];
    assert_eq!(ids(file, &["removed"]), step_ids(&done, |_| true));
    assert_eq!(file["pins"].as_array().unwrap().len(), 1, "{}", file["pins"]);
    assert_eq!((&file["pins"][0]["before"], &file["pins"][0]["after"]), (&0.into(), &Value::Null));
    assert!(entries(file, "changed").iter().all(|(_, fields)| *fields == ["rank"]));
    let text = cli.run(&format!("diff --backup {NOTEPAD}")).exits(1);
    text.says(&["changed only in rank", "no longer pinned, was at 0"]);
}

#[test]
fn repair_changes_the_entries_it_reports() {
    let cases: [(&str, ListBuilder); 5] = [
        ("wrong checksum", ten().edit(4, |entry| entry.checksum = Some(1))),
        ("missing link", ten().edit(4, |entry| entry.link = Link::Missing)),
        ("missing link of a pinned entry", ten().edit(2, |entry| entry.link = Link::Missing)),
        ("link without an entry", ten().stream("63", &LinkBuilder::file(r"C:\left behind.txt").build())),
        ("wrong counts", ten().header(|header| (header.count, header.pinned) = (12, 7))),
    ];
    for (name, list) in cases {
        let cli = Cli::with(&[(NOTEPAD, list.build())]);
        let done = cli.run(&format!("repair --format json {NOTEPAD}")).exits(0);
        let json = cli.run(&format!("diff --backup --format json {NOTEPAD}")).exits(1).json();
        let file = &json["files"][0];
        assert_eq!(ids(file, &["added", "removed", "changed"]), step_ids(&done, |_| true), "{name}: {file}");
        let findings = file["container"].as_array().unwrap().iter().find(|field| field["field"] == "findings");
        assert_eq!(findings.unwrap()["after"], Value::Object(serde_json::Map::new()), "{name}");
    }
}

#[test]
fn repair_of_the_damaged_samples_removes_and_adds_what_it_reports() {
    let cli = Cli::with_samples();
    let mut lists = 0;
    for folder in std::fs::read_dir(cli.path("samples/damaged")).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        let list = format!("samples/damaged/{name}/{NOTEPAD}");
        let done = cli.run(&format!("repair --format json {list}")).exits(0);
        if done.json()["files"][0]["status"] != "changed" {
            continue;
        }
        lists += 1;
        let json = cli.run(&format!("diff --backup --format json {list}")).exits(1).json();
        let reported = step_ids(&done, |_| true);
        let found = ids(&json["files"][0], &["added", "removed", "changed"]);
        assert_eq!(found, reported, "{name}: {} {}", json, done.stdout);
    }
    assert!(lists >= 5, "{lists}");
}

#[test]
fn merge_adds_what_it_reports() {
    let a = ListBuilder::files(4, 6);
    let mut b = ListBuilder::files(4, 6).edit(5, |entry| entry.pin = 0);
    b.entries.truncate(6);
    for (entry, name) in b.entries.iter_mut().zip(["x", "y"]) {
        *entry = NewEntry::file(&format!(r"C:\Users\sam\Documents\{name}.txt")).used(3, "2024-04-02T08:00:00Z");
        entry.droids = Some([Guid([9; 16]), Guid::ZERO, Guid([9; 16]), Guid::ZERO]);
    }
    let cli = Cli::with(&[(NOTEPAD, a.build()), (OTHER, b.build())]);
    let done = cli.run(&format!("merge {NOTEPAD} {OTHER} --into {NOTEPAD} --format json")).exits(0);
    let json = cli.run(&format!("diff --backup --format json {NOTEPAD}")).exits(1).json();
    let file = &json["files"][0];
    let added: BTreeSet<&str> = entries(file, "added").into_iter().map(|(path, _)| path).collect();
    assert_eq!(added, BTreeSet::from([r"C:\Users\sam\Documents\x.txt", r"C:\Users\sam\Documents\y.txt"]));
    assert_eq!(entries(file, "removed"), [], "{}", done.stdout);
    let count = |key: &str| file[key]["entries"].as_u64().unwrap();
    assert_eq!(count("after") - count("before"), 2);
    assert_eq!(file["pins"].as_array().unwrap().len(), 1);
    assert_eq!(file["pins"][0]["path"], path(5));
}

#[test]
fn entries_are_matched_by_path_whatever_their_ids() {
    let renumber = |list: &mut ListBuilder| list.entries.iter_mut().zip(50..).for_each(|(e, id)| e.id = Some(id));
    let droid = |list: &mut ListBuilder| {
        for (entry, number) in list.entries.iter_mut().zip(1..) {
            entry.droids = Some([Guid([1; 16]), Guid([number; 16]), Guid([1; 16]), Guid([number; 16])]);
        }
    };
    let (mut a, mut b) = (ListBuilder::files(4, 5), ListBuilder::files(4, 5));
    droid(&mut a);
    droid(&mut b);
    renumber(&mut b);
    let file = diff(&a.build(), &b.build());
    assert_eq!((entries(&file, "added"), entries(&file, "removed")), (Vec::new(), Vec::new()));
    assert!(entries(&file, "changed").iter().all(|(_, fields)| fields.contains(&"id") && !fields.contains(&"path")));
    assert_eq!(entries(&file, "changed").len(), 5);
}

#[test]
fn an_entry_with_another_target_under_the_same_id_is_removed_and_added() {
    let a = ListBuilder::files(4, 5);
    let b = a.clone().edit(2, |entry| {
        *entry = NewEntry::file(r"D:\elsewhere.txt");
        entry.droids = Some([Guid([3; 16]), Guid([4; 16]), Guid([3; 16]), Guid([4; 16])]);
    });
    let file = diff(&a.build(), &b.build());
    assert_eq!(entries(&file, "removed"), [(path(2).as_str(), Vec::new())]);
    assert_eq!(entries(&file, "added"), [(r"D:\elsewhere.txt", Vec::new())]);
}

#[test]
fn a_renamed_target_is_one_changed_entry() {
    let a = ListBuilder::files(4, 5);
    let b = a.clone().edit(1, |entry| {
        let id = entry.id;
        *entry = NewEntry { id, ..NewEntry::file(r"C:\Users\sam\Documents\new name.txt") };
    });
    let file = diff(&a.build(), &b.build());
    let changed = entries(&file, "changed");
    assert_eq!(changed.len(), 1, "{file}");
    assert_eq!(changed[0].0, r"C:\Users\sam\Documents\new name.txt");
    assert!(changed[0].1.contains(&"path") && changed[0].1.contains(&"link.local_path"), "{changed:?}");
}

#[test]
fn each_field_is_reported_with_both_values() {
    let a = ListBuilder::files(4, 4);
    let b = a.clone().edit(3, |entry| {
        (entry.score, entry.interactions) = (7.0, 9);
        entry.last_access = Some(time("2024-05-01T08:00:00Z"));
    });
    let file = diff(&a.build(), &b.build());
    let [entry] = file["entries"].as_array().unwrap().as_slice() else { panic!("{file}") };
    let field = |name: &str| {
        let fields = entry["fields"].as_array().unwrap();
        let field = fields.iter().find(|field| field["field"] == name).unwrap_or_else(|| panic!("no {name}"));
        (field["before"].clone(), field["after"].clone())
    };
    assert_eq!(field("interactions"), (1.into(), 9.into()));
    assert_eq!(field("last_access"), ("2024-03-01T06:09:00.0000000Z".into(), "2024-05-01T08:00:00.0000000Z".into()));
    assert_eq!(field("score").1, 7.0);
    assert_eq!(keys(entry), ["change", "fields", "id_after", "id_before", "path", "pinned"]);
}

#[test]
fn pins_that_moved_and_the_order_are_reported() {
    let a = ListBuilder::files(4, 6).pin(1).pin(4);
    let mut b = a.clone().edit(1, |entry| entry.pin = 1).edit(4, |entry| entry.pin = 0);
    let places = [5, 0, 1, 2, 3, 4];
    let ids = |at: usize| Some(6 - at as u64);
    let entries: Vec<_> = places.iter().map(|at| NewEntry { id: ids(*at), ..b.entries[*at].clone() }).collect();
    b.entries = entries;
    let file = diff(&a.build(), &b.build());
    let pins: Vec<_> = file["pins"].as_array().unwrap().iter().map(|pin| (&pin["before"], &pin["after"])).collect();
    assert_eq!(pins, [(&0.into(), &1.into()), (&1.into(), &0.into())]);
    let [moved] = file["order"].as_array().unwrap().as_slice() else { panic!("{}", file["order"]) };
    assert_eq!((&moved["path"], &moved["before"], &moved["after"]), (&path(5).into(), &5.into(), &0.into()));
}

#[test]
fn other_streams_are_compared_by_name() {
    let a = ListBuilder::files(4, 3).stream("Notes", b"one").stream("Gone", b"x");
    let b = ListBuilder::files(4, 3).stream("Notes", b"three").stream("New", b"y");
    let file = diff(&a.build(), &b.build());
    let streams = file["streams"].as_array().unwrap().iter();
    let streams: Vec<_> = streams.map(|s| (s["name"].as_str().unwrap(), s["change"].as_str().unwrap())).collect();
    assert_eq!(streams, [("Gone", "removed"), ("New", "added"), ("Notes", "changed")]);
}

#[test]
fn a_run_of_the_store_can_be_named_and_must_have_the_file() {
    let cli = Cli::with(&[(NOTEPAD, ten().build()), (OTHER, ten().build())]);
    cli.run(&format!("prune --keep 5 {NOTEPAD}")).exits(0);
    cli.run(&format!("prune --keep 1 {NOTEPAD}")).exits(0);
    let first = cli.runs()[0].clone();
    let removed = |options: &str| {
        let json = cli.run(&format!("diff {options} --format json {NOTEPAD}")).exits(1).json();
        json["totals"]["entries_removed"].as_u64().unwrap()
    };
    assert_eq!((removed("--backup"), removed(&format!("--backup={first}"))), (4, 7));
    cli.run(&format!("diff --backup {OTHER}")).exits(4).complains(&["no run has a copy", OTHER]);
    cli.run(&format!("diff --backup={first} {OTHER}")).exits(4).complains(&["has no copy", OTHER]);
}

#[test]
fn folders_are_compared_file_by_file() {
    let cli = Cli::new();
    for (folder, name, list) in [
        ("old", "a", ten()),
        ("new", "a", ten()),
        ("old", "b", ten()),
        ("new/sub", "b", ListBuilder::files(4, 3)),
        ("old", "c", ten()),
        ("new", "d", ten()),
    ] {
        cli.write(format!("{folder}/{name}.{AUTOMATIC}"), &list.build());
    }
    let lines = cli.run("diff --format jsonl old new").exits(1).json_lines();
    let status: Vec<_> = lines.iter().map(|file| file["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["same", "removed", "added", "changed"]);
    cli.run("diff old new").exits(1).says(&["4 files: 1 the same, 1 changed, 1 added, 1 removed"]);
    cli.run(&format!("diff old new/a.{AUTOMATIC}")).exits(2).complains(&["two files or two folders"]);
}

#[test]
fn custom_lists_and_links_are_compared_by_their_links() {
    let link = LinkBuilder::file;
    let a = CustomBuilder::new().named("Recent", &[link(r"C:\a.txt"), link(r"C:\b.txt")]);
    let b = CustomBuilder::new().named("Recent", &[link(r"C:\b.txt"), link(r"C:\c.txt")]);
    let cli = Cli::with(&[
        ("a.customDestinations-ms", a.build()),
        ("b.customDestinations-ms", b.build()),
        ("a.lnk", link(r"C:\a.txt").build()),
        ("b.lnk", link(r"C:\b.txt").build()),
        ("text.lnk", b"no link".to_vec()),
    ]);
    let json = cli.run("diff --format json a.customDestinations-ms b.customDestinations-ms").exits(1).json();
    let file = &json["files"][0];
    assert_eq!(entries(file, "removed"), [(r"C:\a.txt", Vec::new())]);
    assert_eq!(entries(file, "added"), [(r"C:\c.txt", Vec::new())]);
    let json = cli.run("diff --format json a.lnk b.lnk").exits(1).json();
    let changed = entries(&json["files"][0], "changed");
    assert!(changed[0].1.contains(&"link.target"), "{changed:?}");
}

#[test]
fn names_cannot_control_the_terminal() {
    let a = ListBuilder::files(4, 1);
    let b = a.clone().entry(NewEntry::file("C:\\\u{1b}[31m\u{202e}x.txt"));
    let cli = Cli::with(&[(NOTEPAD, a.build()), (OTHER, b.build())]);
    let out = cli.run(&format!("diff --color always {NOTEPAD} {OTHER}")).exits(1);
    assert!(out.stdout.contains("\\u{1b}[31m\\u{202e}x.txt"), "{}", out.stdout);
}
