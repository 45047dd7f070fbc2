//! `jlfix merge`: copies of one list become one, with every pin, the newest use of each entry, and no use counted twice.

use crate::support;

use std::path::{Path, PathBuf};

use jlfix::format::guid::Guid;
use support::build::{Link, LinkBuilder, ListBuilder, NewEntry, object_id, time};
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD, Output};
use support::judge;
use support::read::List;

const COPY: &str = "9b9cdc69c1c24e2b (1).automaticDestinations-ms";

fn path(name: &str) -> String {
    format!(r"C:\Users\sam\Documents\{name}.txt")
}

/// A file with an id, opened `times` times, last at `day` of March.
fn entry(id: u64, name: &str, times: u32, day: u32) -> NewEntry {
    let mut entry = NewEntry::file(&path(name)).used(times, &format!("2024-03-{day:02}T10:00:00Z"));
    entry.id = Some(id);
    // A destination has its object id on whatever machine.
    let number = name.bytes().fold(0_u64, |sum, byte| sum * 31 + u64::from(byte));
    let made = jlfix::format::time::FileTime(time("2023-11-02T07:30:00Z").0 + number * 600_000_000);
    let object = object_id(made, 1, [2, 0, 0x5E, 0x10, 0x20, 0x30]);
    entry.droids = Some([Guid([7; 16]), object, Guid([7; 16]), object]);
    entry
}

fn list(version: u32, entries: impl IntoIterator<Item = NewEntry>) -> ListBuilder {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_access));
    ListBuilder::new(version).entries(entries)
}

/// What two copies had in common before each went on by itself.
fn common() -> Vec<NewEntry> {
    ["a", "b", "c", "d"].iter().zip(1..).map(|(name, id)| entry(id, name, 10 + id as u32, id as u32)).collect()
}

/// One that went on: `b` and `e` were opened, `a` and `b` are pinned.
fn one() -> ListBuilder {
    let mut entries = common();
    (entries[0].pin, entries[1].pin) = (0, 1);
    entries[1] = NewEntry { pin: 1, ..entry(2, "b", 15, 20) };
    entries.push(entry(5, "e", 2, 21));
    list(4, entries)
}

/// The other: `c`, `b` and, under the same id, `f` were opened; `d` and `f` are pinned.
fn other() -> ListBuilder {
    let mut entries = common();
    entries[3].pin = 0;
    entries[1] = entry(2, "b", 13, 12);
    entries[2] = entry(3, "c", 18, 25);
    entries.push(NewEntry { pin: 1, ..entry(5, "f", 3, 24) });
    list(4, entries)
}

/// The lists merged into `out`; whole by every rule there is.
#[track_caller]
fn merge(lists: &[(&str, Vec<u8>)], out: &str, options: &str) -> (Cli, Output, List) {
    let cli = Cli::with(lists);
    let mut words: Vec<&str> = vec!["merge"];
    words.extend(lists.iter().map(|(name, _)| *name));
    words.extend(["--into", out]);
    words.extend(options.split_whitespace());
    let told = cli.run_words(words).exits(0);
    cli.run_words(["check", out]).exits(0);
    judge::pass([cli.path(out)]);
    let list = List::at(cli.path(out));
    (cli, told, list)
}

/// Paths by pin.
fn pins(list: &List) -> Vec<&str> {
    let mut pinned: Vec<_> = list.entries.iter().filter(|entry| entry.pin != -1).collect();
    pinned.sort_by_key(|entry| entry.pin);
    pinned.into_iter().map(|entry| entry.path.as_str()).collect()
}

/// How often the entry of this name was opened.
#[track_caller]
fn opens(list: &List, name: &str) -> u32 {
    let entry = list.entries.iter().find(|entry| entry.path == path(name)).unwrap();
    u32::from_le_bytes(entry.bytes[112..116].try_into().unwrap())
}

#[test]
fn two_copies_that_went_on_by_themselves_become_one_with_the_pins_of_both() {
    let copy = other().build();
    let (list_of_one, list_of_copy) = (List::of(&one().build()), List::of(&copy));
    let (cli, _, merged) = merge(&[(NOTEPAD, one().build()), (COPY, copy.clone())], NOTEPAD, "");
    assert_eq!(merged.paths(), ["c", "f", "e", "b", "d", "a"].map(path));
    // The pins of the copy that was used last come first, and it keeps its ids.
    assert_eq!(pins(&merged), ["d", "f", "a", "b"].map(path));
    assert_eq!(merged.ids(), [3, 5, 6, 2, 4, 1]);
    assert_eq!(merged.streams["6"], list_of_one.streams["5"]);
    assert_eq!(merged.streams["5"], list_of_copy.streams["5"]);
    assert_eq!(merged.streams["3"], list_of_copy.streams["3"], "the link of the newer one");
    assert_eq!(merged.header.last_id, 6);
    assert_eq!(["a", "b", "c", "d", "e", "f"].map(|name| opens(&merged, name)), [11, 15, 18, 14, 2, 3]);
    let scores: f32 = merged.entries.iter().map(|entry| entry.score).sum();
    assert_eq!(merged.header.total, scores);
    assert_eq!(cli.read(COPY), copy, "only OUT is written");

    // The order of the arguments makes no difference.
    let (_, _, reversed) = merge(&[(NOTEPAD, other().build()), (COPY, one().build())], COPY, "");
    assert_eq!(reversed, merged);
}

#[test]
fn a_merge_is_told_and_undone_and_a_dry_run_writes_nothing() {
    let cli = Cli::with(&[(NOTEPAD, one().build()), (COPY, other().build())]);
    let before = cli.snapshot();
    let words = ["merge", NOTEPAD, COPY, "--into", NOTEPAD];
    let dry = cli.run_words(words.iter().chain(&["--dry-run"])).exits(1);
    assert!(dry.stdout.contains("5 → 6"), "{}", dry.stdout);
    assert!(dry.stdout.contains("added from 9b9cdc69c1c24e2b.automaticDestinations-ms"), "{}", dry.stdout);
    assert_eq!(cli.snapshot(), before);
    let out = cli.run_words(words).exits(0);
    assert_ne!(cli.snapshot(), before);
    cli.run_words(out.undo().split_whitespace().skip(1)).clean();
    assert_eq!(cli.snapshot(), before);

    // A new file goes again.
    let out = cli.run_words(["merge", NOTEPAD, COPY, "--into", "new.automaticDestinations-ms"]).exits(0);
    assert_eq!(List::at(cli.path("new.automaticDestinations-ms")).entries.len(), 6);
    cli.run_words(out.undo().split_whitespace().skip(1)).clean();
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn a_list_merged_with_itself_is_not_touched() {
    for list in
        [one(), ListBuilder::folders(6, 30).ranked().pin(3).pin(20), ListBuilder::files(1, 4), ListBuilder::empty()]
    {
        let bytes = list.build();
        let cli = Cli::with(&[(NOTEPAD, bytes.clone()), (COPY, bytes.clone())]);
        for lists in [[NOTEPAD, NOTEPAD], [NOTEPAD, COPY]] {
            let out = cli.run_words(["merge", lists[0], lists[1], "--into", NOTEPAD]).exits(0);
            assert!(out.stdout.contains("1 unchanged"), "{}", out.stdout);
            assert_eq!(cli.read(NOTEPAD), bytes);
        }
        assert_eq!(cli.runs(), [""; 0]);
    }
}

#[test]
fn an_ancestor_adds_nothing_to_its_descendant_and_merging_twice_is_merging_once() {
    let old = list(4, common()).build();
    let new = one().build();
    for lists in [[(NOTEPAD, new.clone()), (COPY, old.clone())], [(NOTEPAD, old), (COPY, new.clone())]] {
        let (_, _, merged) = merge(&lists, NOTEPAD, "");
        assert_eq!(merged, List::of(&new));
    }
    let (cli, _, once) = merge(&[(NOTEPAD, new), (COPY, other().build())], NOTEPAD, "");
    cli.run_words(["merge", NOTEPAD, COPY, "--into", NOTEPAD]).exits(0).says(&["1 unchanged"]);
    cli.run_words(["merge", COPY, NOTEPAD, "--into", COPY]).exits(0);
    let back = List::at(cli.path(COPY));
    let uses = |list: &List| ["a", "b", "c", "d", "e", "f"].map(|name| opens(list, name));
    assert_eq!(uses(&back), uses(&once), "no use is counted twice");
}

#[test]
fn entries_that_two_machines_came_to_each_by_itself_add_up() {
    let here = list(4, [entry(1, "a", 5, 1), entry(2, "b", 7, 9)]);
    let there = list(4, [entry(9, "a", 3, 4), entry(4, "z", 1, 2)]);
    let (_, _, merged) = merge(&[(NOTEPAD, here.build()), (COPY, there.build())], NOTEPAD, "");
    assert_eq!(merged.paths(), ["b", "a", "z"].map(path));
    assert_eq!(merged.ids(), [2, 1, 4]);
    assert_eq!(opens(&merged, "a"), 8);
    assert_eq!(merged.entries[1].score, 8.0);
    assert_eq!(merged.header.last_id, 9);
}

#[test]
fn a_destination_is_one_in_whatever_case_and_by_its_object_id_after_it_was_renamed() {
    let mut loud = entry(8, "A", 2, 9);
    loud.path = support::build::utf16(&path("a").to_uppercase());
    let mut moved = entry(9, "b", 2, 10);
    moved.path = support::build::utf16(&path("b, renamed"));
    let here = list(4, [entry(1, "a", 5, 1), entry(2, "b", 7, 2)]);
    let (_, _, merged) = merge(&[(NOTEPAD, here.build()), (COPY, list(4, [loud, moved]).build())], NOTEPAD, "");
    assert_eq!(merged.paths(), [path("b, renamed"), path("a").to_uppercase()]);
    assert_eq!(merged.ids(), [9, 8]);
}

#[test]
fn the_newer_format_is_taken_and_told() {
    let old = list(1, [entry(1, "a", 5, 1), NewEntry { pin: 0, ..entry(2, "b", 7, 2) }]);
    let new = list(6, [entry(1, "z", 5, 9)]);
    let cli = Cli::with(&[(NOTEPAD, old.build()), (COPY, new.build())]);
    let out = cli.run_words(["merge", "-v", NOTEPAD, COPY, "--into", NOTEPAD]).exits(0);
    assert!(out.stdout.contains("format version 1"), "{}", out.stdout);
    judge::pass([cli.path(NOTEPAD)]);
    cli.run_words(["check", NOTEPAD]).clean();
    let merged = List::at(cli.path(NOTEPAD));
    assert_eq!(merged.header.version, 6);
    assert_eq!(merged.paths(), ["z", "b", "a"].map(path));
    assert_eq!(merged.streams["DestListPropertyStore"], [0; 4]);
    assert_eq!((opens(&merged, "a"), merged.entries[1].rank), (1, None));
    assert_eq!(pins(&merged), [path("b")]);
}

#[test]
fn ranks_are_one_order_again() {
    let ranked = |entries: Vec<NewEntry>| list(4, entries).ranked();
    let here = ranked(vec![entry(1, "a", 5, 1), entry(2, "b", 7, 2), entry(3, "c", 1, 3)]);
    let there = ranked(vec![entry(1, "a", 5, 1), entry(7, "x", 7, 8), entry(8, "y", 1, 9), entry(9, "z", 1, 10)]);
    let (_, _, merged) = merge(&[(NOTEPAD, here.build()), (COPY, there.build())], NOTEPAD, "");
    let mut ranks: Vec<_> = merged.entries.iter().map(|entry| entry.rank.unwrap()).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn damaged_copies_are_mended_first_and_a_link_that_one_lacks_is_taken_from_another() {
    let mut broken = one();
    broken.entries.iter_mut().find(|entry| entry.id == Some(1)).unwrap().link = Link::Missing;
    let copy = other().header(|header| header.count = 77).build();
    let (cli, told, merged) = merge(&[(NOTEPAD, broken.build()), (COPY, copy.clone())], NOTEPAD, "");
    assert!(told.stderr.contains("repaired before it is merged"), "{}", told.stderr);
    assert_eq!(pins(&merged), ["d", "f", "a", "b"].map(path));
    assert_eq!(merged.streams["1"], List::of(&other().build()).streams["1"]);
    assert_eq!(cli.read(COPY), copy, "only OUT is written");

    // What has no link anywhere is given one, so that no destination is lost.
    let lost = |pin| {
        let mut list = list(4, [entry(1, "a", 5, 1), entry(2, "b", 7, 2)]);
        (list.entries[1].link, list.entries[1].pin) = (Link::Missing, pin);
        list.build()
    };
    let (_, _, merged) = merge(&[(NOTEPAD, lost(-1)), (COPY, lost(-1))], NOTEPAD, "");
    assert_eq!(merged.paths(), [path("b"), path("a")]);
    assert_eq!(merged.streams.len(), 2);
    let (_, _, merged) = merge(&[(NOTEPAD, lost(0)), (COPY, lost(-1))], NOTEPAD, "");
    assert_eq!(pins(&merged), [path("a")]);
}

#[test]
fn what_must_not_be_merged_is_refused_and_nothing_is_written() {
    let cli = Cli::with(&[(NOTEPAD, one().build()), (COPY, other().build()), (EXPLORER, one().build())]);
    cli.write(CHROME, &[0; 24]);
    cli.write("text.automaticDestinations-ms", b"nothing of the kind");
    let before = cli.snapshot();
    let refused = |words: &[&str], code: i32, parts: &[&str]| {
        cli.run_words([&["merge"], words].concat()).exits(code).complains(parts);
        assert_eq!(cli.snapshot(), before);
    };
    refused(&[NOTEPAD, EXPLORER, "--into", NOTEPAD], 2, &["another application", "f01b4d95cf55d32a", "--force"]);
    refused(&[NOTEPAD, COPY, "--into", EXPLORER], 2, &["another application"]);
    refused(&[NOTEPAD, "--into", NOTEPAD], 2, &["two lists or more"]);
    refused(&[NOTEPAD, NOTEPAD, "--into", COPY], 2, &["there is a file of that name"]);
    refused(&[NOTEPAD, "missing.automaticDestinations-ms", "--into", NOTEPAD], 4, &["missing"]);
    refused(&["--force", NOTEPAD, CHROME, "--into", NOTEPAD], 4, &["custom list"]);
    refused(&[NOTEPAD, "text.automaticDestinations-ms", "--into", NOTEPAD], 4, &["need 512 bytes, have 19"]);
    cli.run_words(["merge", "--force", NOTEPAD, EXPLORER, "--into", NOTEPAD]).exits(0);
}

#[test]
fn copies_in_a_profile_are_found_and_the_command_that_is_shown_merges_them() {
    let cli = Cli::new();
    let live = |user: &str, name: &str| {
        let below = ["AppData", "Roaming", "Microsoft", "Windows", "Recent", "AutomaticDestinations", name];
        ["Users", user].iter().chain(&below).collect::<PathBuf>()
    };
    let one = |path: &Path| cli.write(path, &one().build());
    one(&live("sam", NOTEPAD));
    cli.write(live("sam", COPY), &other().build());
    cli.write(live("sam", "9b9cdc69c1c24e2b.automaticDestinations-ms.bak"), &list(4, common()).build());
    cli.write(live("sam.V6", NOTEPAD), &list(4, [entry(1, "q", 1, 1)]).build());
    one(&live("sam", EXPLORER));
    one(&live("kim", NOTEPAD));
    one(&live("ann", EXPLORER));
    one(&live("ann", "f01b4d95cf55d32a-DESK02.automaticDestinations-ms"));
    let before = cli.snapshot();

    let out = cli.run("merge --find Users").exits(1);
    assert_eq!(cli.snapshot(), before);
    assert_eq!(out.stderr, "");
    assert!(out.stdout.contains("Notepad 9b9cdc69c1c24e2b, user sam"), "{}", out.stdout);
    assert!(out.stdout.contains("2 groups of copies, 1 to merge"), "{}", out.stdout);
    assert!(out.stdout.contains("the first has all that the others have"), "{}", out.stdout);
    assert!(!out.stdout.contains("kim"), "{}", out.stdout);

    let json = cli.run("merge --find Users --format json").exits(1).json();
    let group = json["groups"].as_array().unwrap().iter().find(|group| group["user"] == "sam").unwrap().clone();
    assert_eq!(group["files"].as_array().unwrap().len(), 4);
    assert_eq!(group["files"][0]["path"], live("sam", NOTEPAD).to_string_lossy().as_ref());
    assert_eq!(group["merged"]["entries"], 7);
    #[cfg(unix)]
    {
        cli.shell(group["command"].as_str().unwrap()).exits(0);
        let merged = List::at(cli.path(live("sam", NOTEPAD)));
        assert_eq!(merged.entries.len(), 7);
        assert_eq!(pins(&merged), ["d", "f", "a", "b"].map(path));
        judge::pass([cli.path(live("sam", NOTEPAD))]);
        let again = cli.run("merge --find Users").exits(0);
        assert!(again.stdout.contains("2 groups of copies, 0 to merge"), "{}", again.stdout);
    }
    let nothing = cli.run("merge --find Users/kim").exits(0);
    assert!(nothing.stdout.contains("no two lists of one application"), "{}", nothing.stdout);
}

#[test]
fn backups_are_no_copies() {
    let cli = Cli::with(&[("Users/sam/a/9b9cdc69c1c24e2b.automaticDestinations-ms", one().build())]);
    let store = cli.path("Users/sam/store");
    let run = |line: &str| {
        let mut command = cli.jlfix();
        command.args(line.split_whitespace()).env("JLFIX_BACKUP_DIR", &store);
        support::cli::finish(command)
    };
    run("prune --keep 1 Users/sam/a").clean();
    assert!(store.is_dir());
    let out = run("merge --find Users").exits(0);
    assert!(out.stdout.contains("no two lists"), "{}", out.stdout);
}

/// A real list, of which two copies lose other entries and gain other pins.
#[test]
fn two_copies_of_a_real_list_come_together_again() {
    let Some(corpus) = crate::support::skip::corpus() else { return };
    let real =
        corpus.join("jumplists/AndrewRathbun+DFIRArtifactMuseum/Windows/JumpLists/Win10/RathbunVM").join(EXPLORER);
    let bytes = std::fs::read(real).unwrap();
    let whole = List::of(&bytes);
    let copy = "f01b4d95cf55d32a-DESK.automaticDestinations-ms";
    let cli = Cli::with(&[(EXPLORER, bytes.clone()), (copy, bytes)]);
    cli.run_words(["prune", "--entry", "9", "--entry", "2", "--include-pinned", EXPLORER]).clean();
    cli.run_words(["prune", "--entry", "8", "--entry", "3", "--include-pinned", copy]).clean();
    cli.run_words(["merge", EXPLORER, copy, "--into", EXPLORER]).clean();
    judge::pass([cli.path(EXPLORER)]);
    let merged = List::at(cli.path(EXPLORER));
    let sorted = |mut ids: Vec<u64>| {
        ids.sort_unstable();
        ids
    };
    assert_eq!(sorted(merged.ids()), sorted(whole.ids()));
    assert_eq!(merged.streams, whole.streams);
    assert_eq!(merged.pinned(), whole.pinned());
    for entry in &merged.entries {
        let was = whole.entries.iter().find(|was| was.id == entry.id).unwrap();
        assert_eq!((&entry.path, entry.score, entry.pin != -1), (&was.path, was.score, was.pin != -1));
    }
}

#[test]
fn a_link_of_another_copy_is_never_put_under_a_name_that_is_taken() {
    let odd = LinkBuilder::file(r"D:\odd.txt").build();
    let mut here = list(4, [entry(1, "a", 1, 1)]);
    let there = list(4, [NewEntry { id: Some(1), link: Link::Raw(odd.clone()), ..entry(1, "odd", 1, 2) }]);
    here.removed = 4;
    let (_, _, merged) = merge(&[(NOTEPAD, here.build()), (COPY, there.build())], NOTEPAD, "");
    let id = |name: &str| merged.entries.iter().find(|entry| entry.path == path(name)).unwrap().id;
    assert_eq!((id("odd"), id("a")), (1, 6), "above all that were given");
    assert_eq!(merged.streams["1"], odd);
}
