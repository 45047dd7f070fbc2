//! Damage that has a name, as it is met: `check` tells each in one line that says what and where, `repair` mends it or says
//! why it is left, and an outside judge finds nothing wrong with what was mended.
//!
//! `cargo test --test cli named_damage -- --nocapture` prints the lines.

use crate::support;

use jlfix::format::time::FileTime;
use support::build::{ListBuilder, file_of, time};
use support::cli::{Cli, NOTEPAD};
use support::judge;
use support::mended::{SECTOR, dest_list_at, forty_one, path, renamed, ten};
use support::read::List;

/// What becomes of a damaged file.
enum Then {
    /// All of it is there again.
    Whole(List),
    /// As many entries are there, every pin among them, and each of their links as it was.
    Most(usize),
    /// It is no damage: nothing is told, and nothing is changed.
    Nothing,
}

/// A file with a kind of damage.
struct Case {
    what: &'static str,
    name: String,
    bytes: Vec<u8>,
    /// What the line of `check` says, its code first.
    told: &'static [&'static str],
    then: Then,
}

impl Case {
    /// `list` with its bytes changed by `damage`.
    fn new(
        what: &'static str,
        list: &ListBuilder,
        damage: impl FnOnce(&mut Vec<u8>),
        told: &'static [&'static str],
    ) -> Self {
        let mut bytes = list.build();
        let then = Then::Whole(List::of(&bytes));
        damage(&mut bytes);
        Self { what, name: NOTEPAD.to_owned(), bytes, told, then }
    }

    fn then(self, then: Then) -> Self {
        Self { then, ..self }
    }

    #[track_caller]
    fn holds(&self) {
        let Self { what, name, bytes, told, then } = self;
        let cli = Cli::with(&[(name, bytes.clone())]);
        let checked = cli.run("check .");
        let shown = checked.stdout.clone();
        let lines: Vec<&str> = shown.lines().filter(|line| line.contains(" JL")).collect();
        let line = lines.iter().find(|line| told.iter().all(|part| line.contains(part)));
        if matches!(then, Then::Nothing) {
            println!("{what}: {}", checked.stdout.trim());
            checked.clean().says(told);
            cli.run("repair .").clean().says(&["1 unchanged"]);
            assert_eq!(cli.read(name), *bytes, "{what}");
            judge::pass([cli.path(name)]);
            return;
        }
        let line = line.unwrap_or_else(|| panic!("{what}: no line says {told:?}:\n{shown}"));
        assert!(line.contains("[offset ") || line.contains("the header"), "{what}: {line:?} does not say where");
        checked.exits(1).says(&[&format!("repair it with: jlfix repair .{}{name}", std::path::MAIN_SEPARATOR)]);
        println!("{what}: {}", line.trim());

        let mended = cli.run("repair -v .").exits(0);
        mended
            .stdout
            .lines()
            .filter(|line| line.starts_with("  ") && !line.contains("jlfix restore"))
            .for_each(|line| println!("  repair: {}", line.trim()));
        let list = List::at(cli.path(name));
        match then {
            Then::Whole(whole) => assert_eq!(list, *whole, "{what}"),
            Then::Most(count) => {
                assert_eq!(list.entries.len(), *count, "{what}: {}", mended.stdout);
                assert_eq!(list.pinned(), 2, "{what}");
                let whole = List::of(&forty_one().build());
                let made = list.streams.iter().filter(|(name, data)| whole.streams.get(*name) != Some(*data)).count();
                assert_eq!(made, mended.stdout.matches("a plain one was made").count(), "{what}: {}", mended.stdout);
            }
            Then::Nothing => {}
        }
        cli.run("check .").exits(0);
        judge::pass([cli.path(name)]);
        let after = cli.read(name);
        cli.run("repair .").clean().says(&["1 unchanged"]);
        assert_eq!(cli.read(name), after, "{what}: a second repair changes nothing");
    }
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn put(bytes: &mut [u8], at: usize, value: usize) {
    bytes[at..at + 4].copy_from_slice(&u32::try_from(value).unwrap().to_le_bytes());
}

/// Where the sector that the word at `at` names stands in the file.
fn sector_at(bytes: &[u8], at: usize) -> usize {
    (word(bytes, at) + 1) * SECTOR
}

const FAT: usize = 76;
const DIRECTORY: usize = 48;
/// Of a directory entry: its first sector.
const START: usize = 116;
/// Of an entry of the DestList in format 4 with a path of [`path`]: its size, and where the lengths stand in it.
const ENTRY: usize = 134 + 2 * 38;
const PATH_LENGTH: usize = 128;
const STORE_SIZE: usize = 130 + 2 * 38;

/// Where the entry at `position` of a list with such paths stands in the file.
fn entry_at(bytes: &[u8], position: usize) -> usize {
    assert_eq!(path(0).len(), 38);
    dest_list_at(bytes) + 32 + position * ENTRY
}

#[test]
fn a_fat_sector_of_zeros() {
    let zero = |bytes: &mut Vec<u8>| {
        let fat = sector_at(bytes, FAT);
        bytes[fat..fat + SECTOR].fill(0);
    };
    Case::new("FAT sector zeroed", &forty_one(), zero, &["JL102", "FAT sector 0 holds nothing but zeros"]).holds();
}

#[test]
fn a_directory_chain_that_comes_back_to_itself() {
    let turn = |bytes: &mut Vec<u8>| {
        let (fat, directory) = (sector_at(bytes, FAT), word(bytes, DIRECTORY));
        put(bytes, fat + directory * 4, directory);
    };
    let told = &["JL106", "the chain of the directory comes back to sector"];
    Case::new("directory chain looping on itself", &forty_one(), turn, told).holds();
}

#[test]
fn a_mini_stream_that_comes_back_to_itself() {
    let turn = |bytes: &mut Vec<u8>| {
        let (fat, root) = (sector_at(bytes, FAT), sector_at(bytes, DIRECTORY));
        let start = word(bytes, root + START);
        let next = word(bytes, fat + start * 4);
        put(bytes, fat + next * 4, start);
    };
    let told = &["JL106", "the chain of the mini stream comes back to sector"];
    Case::new("mini stream looping", &forty_one(), turn, told).holds();
}

#[test]
fn a_file_cut_to_half() {
    let half = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2);
    Case::new("file cut to half", &forty_one(), half, &["JL102", "the file ends after"]).then(Then::Most(16)).holds();
}

#[test]
fn a_file_cut_by_one_sector() {
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - SECTOR);
    Case::new("file cut by one sector", &forty_one(), cut, &["JL102", "the file ends after"])
        .then(Then::Most(41))
        .holds();
}

#[test]
fn a_dest_list_that_counts_4294967295_entries() {
    let count = |bytes: &mut Vec<u8>| {
        let at = dest_list_at(bytes) + 4;
        put(bytes, at, 0xFFFF_FFFF);
    };
    let told = &["JL201", "the header counts 4294967295 entries, there are 41"];
    Case::new("DestList count 0xFFFFFFFF", &forty_one(), count, told).holds();
}

#[test]
fn a_path_of_65535_characters() {
    let length = |bytes: &mut Vec<u8>| {
        let at = entry_at(bytes, 20) + PATH_LENGTH;
        bytes[at..at + 2].fill(0xFF);
    };
    let told = &["JL211", "entry 21: a length in it is invalid"];
    Case::new("path length 0xFFFF", &forty_one(), length, told).holds();
}

#[test]
fn a_property_store_of_two_gigabytes() {
    let size = |bytes: &mut Vec<u8>| {
        let at = entry_at(bytes, 20) + STORE_SIZE;
        put(bytes, at, 0x7FFF_FFFF);
    };
    let told = &["JL211", "entry property store", "need 2147483647 bytes"];
    Case::new("property-store size 0x7FFFFFFF", &forty_one(), size, told).holds();
}

#[test]
fn a_time_that_cannot_be() {
    let list = forty_one().edit(20, |entry| entry.last_access = Some(FileTime(1 << 63)));
    let list = list.edit(21, |entry| entry.last_access = Some(time("2024-02-29T12:00:00Z")));
    let told = &["JL217", "entry 21: last access is 9223372036854775808 ticks"];
    Case::new("FILETIME out of range", &list, |_| {}, told).then(Then::Most(41)).holds();
    // The field alone is damaged: the checksum tells.
    let flip = |bytes: &mut Vec<u8>| {
        let at = entry_at(bytes, 20) + 107;
        bytes[at] ^= 0x80;
    };
    let told = &["JL211", "no entry can be read in 210 bytes of the DestList"];
    Case::new("a bit of a FILETIME flipped", &forty_one(), flip, told).holds();
}

#[test]
fn one_broken_link_among_41() {
    let list = forty_one();
    let mut streams = list.all_streams();
    streams.iter_mut().find(|(name, _)| name == "d").unwrap().1.fill(0x11);
    let broken = file_of(&list.root, &streams);
    let told = &["JL301", "link d"];
    Case::new("one broken link among 41", &list, |bytes| *bytes = broken, told).then(Then::Most(40)).holds();
}

#[test]
fn a_file_name_in_capitals() {
    let case = Case::new("upper-case file name", &ten(), |_| {}, &["1 file checked: no findings"]);
    let case = Case { name: NOTEPAD.to_uppercase(), ..case.then(Then::Nothing) };
    case.holds();
    let cli = Cli::with(&[(&case.name, case.bytes)]);
    let row = cli.run("scan --format json .").clean().json()["files"][0].take();
    assert_eq!((&row["app_id"], &row["kind"]), (&"9b9cdc69c1c24e2b".into(), &"automatic".into()));
}

#[test]
fn a_link_that_is_not_named_as_windows_names_it() {
    for (what, name) in [("a stream named A for entry 10", "A"), ("a stream named 000a for entry 10", "000a")] {
        let bytes = renamed(&ten(), "a", name);
        let told = &["JL214", "the link of entry 10 is named", "expected a"];
        Case::new(what, &ten(), |damaged| *damaged = bytes, told).holds();
    }
}

#[test]
fn a_free_sector_missing_at_the_end() {
    // The FAT says that there is one more sector, and that it is free.
    let free = |bytes: &mut Vec<u8>| {
        let (fat, next) = (sector_at(bytes, FAT), bytes.len() / SECTOR - 1);
        bytes[fat + next * 4..fat + next * 4 + 4].fill(0xFF);
    };
    let told = &["1 file checked: no findings"];
    Case::new("free tail sector missing", &ten(), free, told).then(Then::Nothing).holds();
}
