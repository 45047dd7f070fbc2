//! `jlfix repair`: what is damaged is put right from what else is in the file, what cannot be is told, and nothing
//! that is healthy is touched.

#![cfg(feature = "cli")]

mod support;

use std::fs;

use jlfix::format::compound::Compound;
use jlfix::format::destlist::Header;
use jlfix::limits::Limits;
use jlfix::model::JumpList;
use jlfix::plan::{PlanError, RepairOptions, repair};
use serde_json::Value;
use support::build::{CustomBuilder, Link, LinkBuilder, ListBuilder, NewEntry, file_of, host, time, utf16};
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD, Output, bloated};
use support::judge;
use support::read::List;

#[path = "support/mutants.rs"]
mod mutants;

const SECTOR: usize = 512;

/// Ten files with ids from 10 for the newest to 1 for the oldest; 8 and 1 are pinned.
fn ten() -> ListBuilder {
    ListBuilder::files(4, 10).pin(2).pin(9)
}

/// 41 files, two of them pinned.
fn forty_one() -> ListBuilder {
    ListBuilder::files(4, 41).pin(3).pin(40)
}

/// A list that was mended: what was told of it, and what it is now.
struct Mended {
    cli: Cli,
    told: Output,
    steps: Vec<String>,
    list: List,
}

impl Mended {
    /// True if one of the steps says all of `parts`.
    #[track_caller]
    fn says(&self, parts: &[&str]) -> &Self {
        let says = |step: &String| parts.iter().all(|part| step.contains(part));
        assert!(self.steps.iter().any(says), "no step says {parts:?}: {:#?}", self.steps);
        self
    }

    /// The entry of this path.
    #[track_caller]
    fn entry(&self, path: &str) -> &support::read::Entry {
        let found = self.list.entries.iter().find(|entry| entry.path == path);
        found.unwrap_or_else(|| panic!("no {path} among {:?}", self.list.paths()))
    }

    /// The paths of the pinned entries, in the order of their pins.
    fn pins(&self) -> Vec<&str> {
        let mut pinned: Vec<_> = self.list.entries.iter().filter(|entry| entry.pin != -1).collect();
        pinned.sort_by_key(|entry| entry.pin);
        pinned.into_iter().map(|entry| entry.path.as_str()).collect()
    }
}

/// Mends a file with the real binary, and holds what came of it against everything that a mended file is.
#[track_caller]
fn mend_with(bytes: &[u8], options: &str) -> Mended {
    let cli = Cli::with(&[(NOTEPAD, bytes.to_vec())]);
    let dry = cli.run(&format!("repair {options} --dry-run --format json {NOTEPAD}")).exits(1);
    assert_eq!(cli.read(NOTEPAD), bytes, "a dry run writes nothing");
    let told = cli.run(&format!("repair {options} --format json {NOTEPAD}")).exits(0);
    assert_eq!(told.json()["files"][0]["steps"], dry.json()["files"][0]["steps"], "a dry run tells the same");
    let steps: Vec<String> = told.json()["files"][0]["steps"].as_array().unwrap().iter().map(step).collect();
    assert!(!steps.is_empty(), "it says what it did");
    let after = cli.read(NOTEPAD);
    let again = cli.run(&format!("repair {options} --format json {NOTEPAD}")).exits(0);
    assert_eq!(again.json()["files"][0]["status"], "unchanged", "{}", again.stdout);
    assert_eq!(cli.read(NOTEPAD), after, "a second repair changes nothing");
    if !options.contains("keep-linkless") {
        cli.run(&format!("check {NOTEPAD}")).exits(0);
        judge::pass([cli.path(NOTEPAD)]);
    }
    let list = List::of(&after);
    Mended { cli, told, steps, list }
}

#[track_caller]
fn mend(bytes: &[u8]) -> Mended {
    mend_with(bytes, "")
}

/// The same for a file of which all comes back: it is `whole` again, so nothing more need be asked of it.
#[track_caller]
fn mend_to(bytes: &[u8], whole: &List) -> Mended {
    let cli = Cli::with(&[(NOTEPAD, bytes.to_vec())]);
    let told = cli.run(&format!("repair --format json {NOTEPAD}")).exits(0);
    let steps = told.json()["files"][0]["steps"].as_array().unwrap().iter().map(step).collect();
    let mended = Mended { list: List::at(cli.path(NOTEPAD)), cli, told, steps };
    assert_eq!(mended.list, *whole, "{:#?}", mended.steps);
    mended
}

/// A step of the JSON as one text.
fn step(step: &Value) -> String {
    let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
    let id = step["entry_id"].as_u64().map(|id| format!("entry {id} ")).unwrap_or_default();
    let pinned = if step["pinned"].as_bool() == Some(true) { " (pinned)" } else { "" };
    format!("{id}{}{pinned}: {}", text("path"), text("what"))
}

/// A file of which nothing can be saved: told in one line, left alone.
#[track_caller]
fn left_alone(name: &str, bytes: &[u8], parts: &[&str]) -> Cli {
    let cli = Cli::with(&[(name, bytes.to_vec())]);
    cli.run(&format!("repair {name}")).exits(4).complains(parts);
    assert_eq!(cli.read(name), bytes);
    assert_eq!(cli.runs(), [""; 0]);
    cli
}

fn path(number: usize) -> String {
    format!(r"C:\Users\sam\Documents\notes {number:05}.txt")
}

/// Where the DestList stands in a file that the builder made: it is in one piece, in sectors or in mini sectors.
fn dest_list_at(bytes: &[u8]) -> usize {
    let compound = Compound::parse(bytes, &Limits::default()).unwrap();
    usize::try_from(compound.stream("DestList").unwrap().file_offset(0).unwrap()).unwrap()
}

/// The same file with these bytes of the DestList changed.
fn with_dest_list(list: &ListBuilder, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut streams = list.all_streams();
    let stream = streams.iter_mut().find(|(name, _)| name == "DestList").unwrap();
    change(&mut stream.1);
    file_of(&list.root, &streams)
}

/// The same file with one of its streams under another name.
fn renamed(list: &ListBuilder, from: &str, to: &str) -> Vec<u8> {
    let mut streams = list.all_streams();
    streams.iter_mut().filter(|(name, _)| name == from).for_each(|(name, _)| to.clone_into(name));
    file_of(&list.root, &streams)
}

#[test]
fn a_healthy_file_is_left_as_it_is() {
    let cli = Cli::new();
    for (name, list) in [
        ("1/a", ListBuilder::files(1, 5)),
        ("2/a", ten()),
        ("3/a", ListBuilder::folders(6, 20).ranked().pin(4)),
        ("4/a", ListBuilder::empty()),
        ("5/a", ListBuilder::without_dest_list()),
        ("6/a", ListBuilder::files(4, 3).stream("SomethingNew", b"of a later Windows")),
        ("7/a", ListBuilder::files(7, 3)),
    ] {
        cli.write(format!("{name}.automaticDestinations-ms"), &list.build());
    }
    cli.write(EXPLORER, &fs::read(bloated()).unwrap());
    cli.write(format!("8/{}", EXPLORER.to_uppercase()), &ten().build());
    cli.write(CHROME, &CustomBuilder::new().known(1).slack(&[7; 300]).build());
    let before = cli.snapshot();
    cli.run("repair --dry-run .").exits(0);
    let out = cli.run("repair .").clean();
    assert!(out.stdout.contains("0 files mended, 10 unchanged"), "{}", out.stdout);
    assert_eq!(cli.snapshot(), before);
    assert_eq!(cli.runs(), [""; 0]);
}

#[test]
fn what_was_mended_is_undone_by_the_command_that_is_printed() {
    let bytes = ten().header(|header| header.count = 3).build();
    let cli = Cli::with(&[(NOTEPAD, bytes.clone())]);
    let out = cli.run(&format!("repair {NOTEPAD}")).clean();
    let words: Vec<String> = out.undo().split_whitespace().skip(1).map(str::to_owned).collect();
    assert_ne!(cli.read(NOTEPAD), bytes);
    cli.run_words(words).clean();
    assert_eq!(cli.read(NOTEPAD), bytes);
}

#[test]
fn a_header_that_counts_wrong_is_counted_anew() {
    let whole = List::of(&ten().build());
    let wrong = |header: &mut Header| {
        (header.count, header.pinned, header.total, header.last_id) = (u32::MAX, 5, f32::NAN, 4);
    };
    let mended = mend(&ten().header(wrong).build());
    mended.says(&["4294967295 entries, there are 10"]).says(&["5 pinned", "there are 2"]).says(&["total"]);
    mended.says(&["last id given was 4"]);
    assert_eq!(mended.list, List { header: Header { last_id: 10, ..whole.header }, ..whole });
}

#[test]
fn the_total_of_windows_7_is_left_unless_it_cannot_be() {
    let list = ListBuilder::files(1, 5);
    let mended = mend(&list.clone().header(|header| (header.total, header.count) = (16.4, 9)).build());
    assert_eq!(mended.list.header.total, 16.4);
    let mended = mend(&list.header(|header| header.total = f32::NEG_INFINITY).build());
    assert_eq!(mended.list.header.total, 5.0);
}

#[test]
fn entries_come_into_their_order_and_ranks_are_closed_up() {
    let list = ListBuilder::folders(4, 6).ranked();
    let paths = List::of(&list.build()).paths().iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let late = list.edit(5, |entry| entry.last_access = Some(time("2024-06-01T00:00:00Z")));
    let mended = mend(&late.build());
    mended.says(&["stood before one that was used later"]);
    assert_eq!(mended.list.paths()[0], paths[5]);
    assert_eq!(mended.list.paths()[1..], paths[..5]);

    let order = |list: &List| {
        let mut ranked: Vec<_> = list.entries.iter().map(|entry| (entry.rank, entry.path.clone())).collect();
        ranked.sort();
        ranked.into_iter().map(|(_, path)| path).collect::<Vec<_>>()
    };
    let list = ListBuilder::folders(4, 6).ranked();
    let before = order(&List::of(&list.build()));
    let mut holes = list;
    holes.entries.iter_mut().for_each(|entry| entry.rank = entry.rank * 3 + 5);
    let mended = mend(&holes.build());
    mended.says(&["ranks by use"]);
    assert_eq!(order(&mended.list), before);
}

#[test]
fn one_damaged_byte_of_an_entry_is_found_by_its_checksum() {
    let whole = ten().build();
    let at = dest_list_at(&whole);
    let expected = List::of(&whole);
    // Checksum, volume, object, birth, host, id, score, last access, pin.
    for offset in [3, 9, 30, 60, 75, 88, 99, 107, 108, 111] {
        let mut damaged = whole.clone();
        damaged[at + 32 + offset] ^= 0xC4;
        mend_to(&damaged, &expected)
            .says(&["entry 10", if offset < 8 { "of its checksum was damaged" } else { "the checksum tells" }]);
    }
}

#[test]
fn a_wrong_checksum_is_computed_anew_where_all_else_fits() {
    let list = ten().edit(2, |entry| entry.checksum = Some(0x0123_4567_89AB_CDEF));
    let mended = mend(&list.build());
    mended.says(&["entry 8", "(pinned)", "0123456789abcdef", "computed anew"]);
    assert_eq!(mended.list, List::of(&ten().build()));
}

#[test]
fn an_entry_keeps_its_pin_by_its_link_where_its_time_and_score_cannot_be() {
    let list = ten().edit(2, |entry| {
        (entry.last_access, entry.score) = (Some(jlfix::format::time::FileTime(u64::MAX)), f32::NAN);
        entry.checksum = Some(7);
    });
    let mended = mend(&list.build());
    mended.says(&["entry 8", "its link is of the same destination"]).says(&["entry 8", "last access"]);
    assert_eq!(mended.list.ids(), (1..=10).rev().collect::<Vec<_>>(), "it has its place");
    assert_eq!(mended.pins(), [path(2), path(9)]);
}

#[test]
fn an_entry_that_nothing_vouches_for_goes_and_its_link_makes_another() {
    let list = ten().edit(5, |entry| {
        (entry.path, entry.checksum, entry.pin) = (utf16(r"D:\nonsense"), Some(1), 77);
        entry.link = Link::Made(Box::new(LinkBuilder::url("https://www.example.org/")));
    });
    // Without a path that both have, and with a pin that cannot be, nothing says that it is right.
    let mut list = list;
    list.entries[5].pin = 1 << 20;
    let mended = mend(&list.build());
    mended.says(&["entry 5", "checksum is wrong", "dropped"]);

    // A link of another destination does not vouch for it either, but tells of its own.
    let list = ten().edit(5, |entry| {
        let other = LinkBuilder::file(r"C:\Users\sam\Documents\found again.txt");
        (entry.checksum, entry.droids, entry.link) = (Some(1), None, Link::Raw(other.build()));
    });
    let mended = mend(&list.build());
    mended.says(&["entry 5", "another destination", "dropped"]);
    mended.says(&["entry 5", "found again.txt", "one was made"]);
    assert_eq!(mended.entry(r"C:\Users\sam\Documents\found again.txt").id, 5);
}

#[test]
fn an_entry_without_a_link_goes_unless_it_is_to_stay() {
    let list = ten().edit(4, |entry| entry.link = Link::Missing);
    let mended = mend(&list.build());
    mended.says(&["entry 6", "no link", "dropped"]);
    assert_eq!(mended.list.ids(), [10, 9, 8, 7, 5, 4, 3, 2, 1]);
    assert_eq!(mended.list.header.actions, List::of(&ten().build()).header.actions + 1);

    // Nothing else is wrong with it.
    let cli = Cli::with(&[(NOTEPAD, list.build())]);
    cli.run(&format!("repair --keep-linkless {NOTEPAD}")).clean().says(&["1 unchanged"]);
    assert_eq!(cli.read(NOTEPAD), list.build());
}

#[test]
fn a_pinned_entry_keeps_its_pin_and_is_given_a_link() {
    let share = NewEntry::file(r"\\files-01\projects\Harbour\plan.pdf");
    let folder = NewEntry::known_folder("374de290-123f-4565-9164-39c4925e467b", r"C:\Users\sam\Downloads");
    let mut list = ten().entry(share).entry(folder).pin(10).pin(11);
    for at in [2, 9, 10, 11] {
        list.entries[at].link = Link::Missing;
    }
    list.entries[9].path = utf16(r"C:\Users\sam\Straße\Übersicht – 東京.txt");
    let bytes = list.build();
    let mended = mend(&bytes);
    mended.says(&[r"C:\Users\sam\Documents\notes 00002.txt (pinned)", "a plain one was made"]);
    mended.says(&["knownfolder", "dropped"]);
    assert!(mended.told.stderr.contains("1 pinned entry could not be saved"), "{}", mended.told.stderr);
    let pins = mended.pins().iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        pins,
        [path(2), r"C:\Users\sam\Straße\Übersicht – 東京.txt".into(), r"\\files-01\projects\Harbour\plan.pdf".into()]
    );
    let shown = mended.cli.run(&format!("show --links --format json {NOTEPAD}")).clean().json();
    for entry in shown["files"][0]["entries"].as_array().unwrap() {
        let (path, link) = (&entry["path"], &entry["link"]);
        assert!(link["local_path"] == *path || link["network_path"] == *path, "{entry}");
        if link["tracker_file"].is_string() {
            assert_eq!((&link["tracker_file"], &link["machine_id"]), (&entry["object_id"], &entry["host"]));
        }
    }
}

#[test]
fn a_link_without_an_entry_is_given_one_of_what_it_says() {
    let link = LinkBuilder::file(r"C:\Users\sam\Documents\left behind.txt");
    let bytes = ListBuilder::folders(4, 6).ranked().stream("1c", &link.build()).build();
    let mended = mend(&bytes);
    mended.says(&["entry 28", "left behind.txt", "link 1c had no entry"]);
    let entry = mended.entry(r"C:\Users\sam\Documents\left behind.txt");
    assert_eq!((entry.id, entry.pin, entry.rank, entry.score), (28, -1, Some(6), 1.0));
    assert_eq!(mended.list.header.last_id, 28);
    assert_eq!(mended.list.streams["1c"], link.build());
    let shown = mended.cli.run(&format!("show --links --format json {NOTEPAD}")).clean().json();
    let entries = shown["files"][0]["entries"].as_array().unwrap();
    let made = entries.iter().find(|entry| entry["id"] == 28).unwrap();
    assert_eq!(made["object_id"], made["link"]["tracker_file"]);
    assert_eq!(made["host"], made["link"]["machine_id"]);
    assert_eq!(made["last_access"], made["link"]["accessed"]);

    let mended = mend_with(&bytes, "--drop-orphans");
    mended.says(&["1c", "left behind.txt", "dropped"]);
    assert_eq!(mended.list, List::of(&ListBuilder::folders(4, 6).ranked().build()));

    // A destination that the list has is not there twice.
    let again = LinkBuilder::file(&path(3));
    let mended = mend(&ten().stream("1c", &again.build()).build());
    mended.says(&["1c", "entry 7 is of the same", "dropped"]);
    assert_eq!(mended.list, List::of(&ten().build()));
}

#[test]
fn a_link_under_another_name_is_found_by_what_it_says() {
    let whole = List::of(&ten().build());
    for name in ["A", "0a", "1f", "q", "\u{433}"] {
        mend_to(&renamed(&ten(), "a", name), &whole).says(&["entry 10", "it is now named a"]);
    }
    // Two that are in each other's place.
    let mut streams = ten().all_streams();
    for (name, _) in &mut streams {
        *name = match name.as_str() {
            "3" => "4".to_owned(),
            "4" => "3".to_owned(),
            name => name.to_owned(),
        };
    }
    let cli = Cli::with(&[(NOTEPAD, file_of(&ten().root, &streams))]);
    cli.run(&format!("repair {NOTEPAD}")).clean();
    assert_eq!(List::at(cli.path(NOTEPAD)).streams, whole.streams);
}

#[test]
fn an_id_that_stands_twice_is_one_entry_or_two_with_a_new_id() {
    let mut twice = ten();
    let copy = NewEntry { id: Some(7), last_access: Some(time("2024-03-01T06:09:00Z")), ..twice.entries[3].clone() };
    twice.entries[3] = copy.clone();
    twice.entries.insert(4, NewEntry { link: Link::Missing, ..copy });
    twice.entries.iter_mut().zip([10, 9, 8, 7, 7, 6, 5, 4, 3, 2, 1]).for_each(|(entry, id)| entry.id = Some(id));
    let mended = mend(&twice.build());
    mended.says(&["entry 7", "stood twice"]);
    assert_eq!(mended.list.ids(), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);

    // Another one, whose own link has lost its name.
    let mut other = twice;
    let link = LinkBuilder::file(r"C:\Users\sam\other.txt").build();
    (other.entries[4].path, other.entries[4].droids) =
        (utf16(r"C:\Users\sam\other.txt"), Some([Default::default(); 4]));
    let other = other.stream("ff", &link);
    let mended = mend(&other.build());
    mended.says(&["other.txt", "its id 7 is another entry's too", "12"]);
    assert_eq!(mended.entry(r"C:\Users\sam\other.txt").id, 12);
    assert_eq!(mended.entry(&path(3)).id, 7);
    assert_eq!(mended.list.streams["c"], link);
    assert_eq!(mended.list.header.last_id, 12);
}

#[test]
fn two_pins_in_one_place_are_numbered_in_their_order() {
    let mut list = ten();
    for (at, pin) in [(1, 0), (4, 2), (5, 2), (9, 7)] {
        list.entries[at].pin = pin;
    }
    let mended = mend(&list.build());
    mended.says(&["pinned in one place"]);
    assert_eq!(mended.pins(), [path(1), path(2), path(4), path(5), path(9)]);
    let places: Vec<i32> = mended.list.entries.iter().map(|entry| entry.pin).filter(|pin| *pin != -1).collect();
    assert_eq!(places, [0, 1, 2, 3, 4]);
}

#[test]
fn bytes_after_the_last_entry_go() {
    let mended = mend(&ten().trailing(&[0xEE; 77]).build());
    mended.says(&["77 bytes"]);
    assert_eq!(mended.list, List::of(&ten().build()));
}

#[test]
fn a_lost_dest_list_is_made_of_the_links() {
    for (version, gone) in [(4, false), (6, true)] {
        let list = ListBuilder::files(version, 12).pin(3);
        let mut streams = list.all_streams();
        streams.retain_mut(|(name, data)| {
            data.truncate(if name == "DestList" { 0 } else { usize::MAX });
            !gone || name != "DestList"
        });
        let mended = mend(&file_of(&list.root, &streams));
        assert_eq!(mended.list.header.version, version);
        let mut paths = mended.list.paths();
        paths.sort_unstable();
        assert_eq!(paths, (0..12).map(path).collect::<Vec<_>>());
        assert_eq!(mended.list.streams, List::of(&list.build()).streams);
    }
    // Under a name that is nearly its own it is all there.
    for name in ["DestLisu", "destlist", "DestLis"] {
        mend_to(&renamed(&ten(), "DestList", name), &List::of(&ten().build())).says(&[name, "is the DestList"]);
    }
}

/// Characters of each path.
const PATH: usize = 38;

#[test]
fn a_length_that_cannot_be_costs_no_other_entry() {
    let whole = List::of(&ten().build());
    for (length_at, value) in
        [(128_usize, &[0xFF, 0xFF][..]), (128, &[3, 0]), (130 + 2 * PATH, &[0xFF, 0xFF, 0xFF, 0x7F])]
    {
        for entry in [0, 4, 9] {
            let size = 134 + 2 * PATH;
            assert_eq!(path(0).len(), PATH);
            let bytes = with_dest_list(&ten(), |data| {
                let at = 32 + entry * size + length_at;
                data[at..at + value.len()].copy_from_slice(value);
            });
            mend_to(&bytes, &whole).says(&["a length in it was wrong"]);
        }
    }
}

#[test]
fn a_time_past_the_year_9999_becomes_its_neighbours() {
    let list = ten().edit(4, |entry| entry.last_access = Some(jlfix::format::time::FileTime(1 << 63)));
    let mended = mend(&list.build());
    mended.says(&["entry 6", "last access, 9223372036854775808 ticks, cannot be", "2024-03-01T06:09:00"]);
    assert_eq!(mended.list.ids(), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
}

#[test]
fn one_broken_link_among_41_leaves_the_other_40_alone() {
    let whole = List::of(&forty_one().build());
    // What is the same in every link can be put back.
    let mut streams = forty_one().all_streams();
    let link = &mut streams.iter_mut().find(|(name, _)| name == "d").unwrap().1;
    link[..16].fill(0);
    let mended = mend(&file_of(&forty_one().root, &streams));
    mended.says(&["entry 13", "the same in every link"]);
    assert_eq!(mended.list, whole);

    // What is not is gone, and the entry with it.
    let mut streams = forty_one().all_streams();
    streams.iter_mut().find(|(name, _)| name == "d").unwrap().1.fill(0x11);
    let mended = mend(&file_of(&forty_one().root, &streams));
    mended.says(&["entry 13", "dropped"]).says(&["stream d is no link"]);
    assert_eq!(mended.list.entries.len(), 40);
    for (name, data) in &mended.list.streams {
        assert_eq!(data, &whole.streams[name]);
    }

    // One that is only damaged inside is left: what can be read of it still opens its target.
    let mut streams = forty_one().all_streams();
    let link = &mut streams.iter_mut().find(|(name, _)| name == "d").unwrap().1;
    let at = link.len() - 8;
    link[at..].fill(0xFF);
    let cli = Cli::with(&[(NOTEPAD, file_of(&forty_one().root, &streams))]);
    cli.run(&format!("repair {NOTEPAD}")).clean().says(&["1 unchanged"]);
}

#[test]
fn a_link_that_was_cut_is_ended_where_it_is_whole() {
    let list = ten();
    let bytes = list.build();
    let whole = List::of(&bytes);
    // The last mini sectors of the file are those of the oldest entry's link, which the builder writes last.
    let end = bytes.len() - SECTOR;
    let mended = mend(&bytes[..end]);
    assert_eq!(mended.pins(), [path(2), path(9)], "{:#?}", mended.steps);
    assert_eq!(mended.list.ids(), whole.ids());
}

#[test]
fn a_damaged_container_gives_back_what_is_in_it() {
    let list = forty_one();
    let bytes = list.build();
    let whole = List::of(&bytes);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let sector = |number: usize| (number + 1) * SECTOR;
    let put = |bytes: &mut [u8], at: usize, value: usize| {
        bytes[at..at + 4].copy_from_slice(&u32::try_from(value).unwrap().to_le_bytes());
    };
    let (fat, directory, mini_fat) = (sector(word(76)), word(48), sector(word(60)));
    type Damage<'d> = (&'d str, Box<dyn Fn(&mut Vec<u8>) + 'd>, &'d str);
    let damages: [Damage<'_>; 5] = [
        ("FAT sector zeroed", Box::new(|bytes| bytes[fat..fat + SECTOR].fill(0)), "FAT"),
        (
            "directory chain looping on itself",
            Box::new(|bytes| put(bytes, fat + directory * 4, directory)),
            "directory",
        ),
        ("mini stream looping", Box::new(|bytes| put(bytes, mini_fat + 4 * 5, 3)), "chain"),
        ("mini FAT zeroed", Box::new(|bytes| bytes[mini_fat..mini_fat + SECTOR].fill(0)), "chain"),
        ("header's directory sector wrong", Box::new(|bytes| put(bytes, 48, 0x7FFF_FFFF)), "directory"),
    ];
    for (what, damage, told) in damages {
        let mut damaged = bytes.clone();
        damage(&mut damaged);
        let mended = mend(&damaged);
        mended.says(&["the file is laid out anew", told]);
        assert_eq!(mended.list.paths(), whole.paths(), "{what}: {:#?}", mended.steps);
        assert_eq!(mended.pins(), [path(3), path(40)], "{what}");
        assert_eq!(mended.list.streams, whole.streams, "{what}");
    }
}

#[test]
fn a_file_that_was_cut_gives_back_what_is_there() {
    let bytes = forty_one().build();
    let by_a_sector = mend(&bytes[..bytes.len() - SECTOR]);
    assert!(by_a_sector.list.entries.len() >= 40, "{:#?}", by_a_sector.steps);
    let half = mend(&bytes[..bytes.len() / 2]);
    assert!(half.list.entries.len() >= 15, "{:#?}", half.steps);
    half.says(&["(pinned)", "a plain one was made"]);
    assert_eq!(half.pins(), [path(3), path(40)], "the entries are all there, and so are the pins");
}

#[test]
fn a_free_sector_that_is_missing_at_the_end_takes_nothing_along() {
    // The FAT says that there is one more sector, and that it is free.
    let mut bytes = ten().build();
    let fat = (u32::from_le_bytes(bytes[76..80].try_into().unwrap()) as usize + 1) * SECTOR;
    let next = bytes.len() / SECTOR - 1;
    bytes[fat + next * 4..fat + next * 4 + 4].fill(0xFF);
    let whole = List::of(&bytes);
    let cli = Cli::with(&[(NOTEPAD, bytes)]);
    cli.run(&format!("repair {NOTEPAD}")).clean();
    assert_eq!(List::at(cli.path(NOTEPAD)), whole);
}

#[test]
fn what_was_removed_long_ago_does_not_come_back() {
    // A link in a sector that belongs to nothing, and a list that is damaged elsewhere.
    let mut streams = ten().all_streams();
    streams.iter_mut().find(|(name, _)| name == "3").unwrap().1[..8].fill(0);
    let mut bytes = file_of(&ten().root, &streams);
    let old = LinkBuilder::file(r"C:\Users\sam\secret.txt").build();
    bytes.resize(bytes.len().next_multiple_of(SECTOR), 0);
    bytes.extend(&old);
    bytes.resize(bytes.len().next_multiple_of(SECTOR), 0);
    let mended = mend(&bytes);
    assert_eq!(mended.list, List::of(&ten().build()));
    assert!(!mended.cli.read(NOTEPAD).windows(16).any(|window| utf16("secret.t") == window));
}

#[test]
fn hopeless_files_are_told_and_left_and_reset_only_when_that_is_asked() {
    let no_links = {
        let mut list = ten();
        list.entries.retain(|entry| entry.pin == -1);
        list.entries.iter_mut().for_each(|entry| entry.link = Link::Missing);
        list.build()
    };
    let mut dead = vec![0; 4096];
    dead[..8].copy_from_slice(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]);
    let cases: [(&[u8], &str); 5] = [
        (&[], "need 512 bytes, have 0"),
        (&[0; 100], "need 512 bytes, have 100"),
        (&[0x41; 2000], "no entry and no link"),
        (&dead, "no entry and no link"),
        (&no_links, "each of its 8 entries lacks a link"),
    ];
    for (bytes, why) in cases {
        let cli = left_alone(NOTEPAD, bytes, &["nothing can be saved of it", why, "--reset"]);
        cli.run(&format!("repair --dry-run --reset {NOTEPAD}")).exits(1);
        assert_eq!(cli.read(NOTEPAD), bytes);
        let out = cli.run(&format!("repair --reset {NOTEPAD}")).clean();
        cli.run(&format!("check {NOTEPAD}")).clean();
        judge::pass([cli.path(NOTEPAD)]);
        cli.run(&format!("repair --reset {NOTEPAD}")).clean().says(&["1 unchanged"]);
        cli.run_words(out.undo().split_whitespace().skip(1)).clean();
        assert_eq!(cli.read(NOTEPAD), bytes);
    }
    // A reset is only for what is hopeless.
    let cli = Cli::with(&[(NOTEPAD, ten().header(|header| header.count = 2).build())]);
    cli.run(&format!("repair --reset {NOTEPAD}")).clean();
    assert_eq!(List::at(cli.path(NOTEPAD)), List::of(&ten().build()));
}

#[test]
fn a_damaged_custom_list_is_its_applications_to_mend() {
    let mut bytes = CustomBuilder::new().tasks(&[LinkBuilder::task(r"C:\app.exe", "--new", "New window")]).build();
    bytes.truncate(bytes.len() - 3);
    let cli = left_alone(CHROME, &bytes, &["JL404", "restore it from a backup", "write it again"]);
    cli.run(&format!("repair --reset {CHROME}")).exits(4);
    assert_eq!(cli.read(CHROME), bytes);
    // It does not keep the others from being mended.
    cli.write(NOTEPAD, &ten().header(|header| header.count = 0).build());
    cli.run("repair .").exits(3);
    assert_eq!(List::at(cli.path(NOTEPAD)), List::of(&ten().build()));
}

#[test]
fn names_that_a_stream_cannot_have_do_not_stop_a_repair() {
    let list = ten().stream("odd", b"whatever").header(|header| header.count = 1);
    let mut bytes = list.build();
    let name = utf16("odd");
    let at = bytes
        .windows(name.len() + 2)
        .position(|window| window.starts_with(&name) && window.ends_with(&[0, 0]))
        .unwrap();
    bytes[at..at + 6].copy_from_slice(&[0x6F, 0, 0x3A, 0, 0x64, 0xD8]);
    let mended = mend(&bytes);
    mended.says(&["its name cannot be one"]);
    assert_eq!(mended.list.entries.len(), 10);
}

#[test]
fn hosts_of_made_entries_are_cut_to_what_an_entry_has_room_for() {
    let link = LinkBuilder::file(r"C:\x.txt").with(|link| link.machine = "desk-0123456789".to_owned());
    let mended = mend(&ten().stream("20", &link.build()).build());
    assert_eq!(mended.entry(r"C:\x.txt").bytes[72..88], host("desk-0123456789"));
}

/// Seeded damage of every kind: what is mended is whole, says what was mended, and needs no more mending.
#[test]
fn many_damaged_lists_are_mended_once_and_for_all() {
    let originals = [
        forty_one().build(),
        ListBuilder::folders(6, 9).ranked().pin(0).pin(4).build(),
        ListBuilder::files(1, 6).pin(1).build(),
        ListBuilder::files(3, 2).build(),
    ];
    let (limits, options) = (Limits::default(), RepairOptions::default());
    let (mut mended, mut hopeless, mut files) = (0, 0, Vec::new());
    let dir = tempfile::tempdir().unwrap();
    for number in 0..250 {
        let mut random = mutants::Random::new(4, number);
        let kind = *random.pick(&mutants::Kind::ALL);
        let original: &Vec<u8> = random.pick(&originals);
        let mutant = kind.apply(original, &mut random);
        let Ok(compound) = Compound::parse(&mutant, &limits) else { continue };
        match repair(&JumpList::read(&compound), &options, &limits) {
            Ok(None) => {}
            Ok(Some(plan)) => {
                mended += 1;
                assert!(!plan.steps.is_empty(), "mutant {number}, {}: says nothing", kind.name());
                let again = Compound::parse(&plan.bytes, &limits).unwrap();
                let again = repair(&JumpList::read(&again), &options, &limits).unwrap();
                assert!(again.is_none(), "mutant {number}, {}: {again:#?}", kind.name());
                let path = dir.path().join(format!("{number}.automaticDestinations-ms"));
                fs::write(&path, &plan.bytes).unwrap();
                files.push(path);
            }
            Err(PlanError::Hopeless(_)) => hopeless += 1,
            Err(error) => panic!("mutant {number}, {}: {error}", kind.name()),
        }
    }
    assert!(mended > 200 && hopeless < 25, "{mended} mended, {hopeless} hopeless");
    judge::pass(files);
}
