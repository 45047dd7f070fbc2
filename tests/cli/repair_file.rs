//! `jlfix repair`, the file: a damaged container gives back what is in it, what is hopeless is told and left, and nothing
//! that is healthy is touched.

use crate::support;

use std::fs;

use jlfix::limits::Limits;
use jlfix::model::AutomaticList;
use jlfix::plan::{PlanError, RepairOptions, repair};
use support::build::{CustomBuilder, Link, LinkBuilder, ListBuilder, file_of, utf16};
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD, bloated};
use support::judge;
use support::mended::{SECTOR, forty_one, left_alone, mend, mend_to, path, renamed, ten};
use support::read::List;

use crate::support::mutants;

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
    ] {
        cli.write(format!("{name}.automaticDestinations-ms"), &list.build());
    }
    cli.write(EXPLORER, &fs::read(bloated()).unwrap());
    cli.write(format!("8/{}", EXPLORER.to_uppercase()), &ten().build());
    cli.write(CHROME, &CustomBuilder::new().known(1).slack(&[7; 300]).build());
    let before = cli.snapshot();
    cli.run("repair --dry-run .").exits(0);
    let out = cli.run("repair .").clean();
    assert!(out.stdout.contains("0 files repaired, 9 unchanged"), "{}", out.stdout);
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
fn a_name_whose_length_is_wrong_is_that_of_its_text() {
    // Windows compares the lengths of names first, so it does not find such a stream.
    let (name, whole) = (utf16("DestList"), List::of(&ten().build()));
    for size in [22, 16, 2, 3, 64, 200] {
        let mut bytes = ten().build();
        let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
        bytes[at + 64] = size;
        let cli = Cli::with(&[(NOTEPAD, bytes.clone())]);
        let told = format!("the name \"DestList\" in the directory counts {size} bytes, its text takes 18");
        cli.run("check .").exits(1).says(&["JL103", &told]);
        mend_to(&bytes, &whole).says(&["the file is laid out anew", &told]);
    }
}

#[test]
fn a_dest_list_with_a_garbled_name_and_no_checksum_that_holds_is_still_the_list() {
    let mut list = ten();
    list.entries.iter_mut().for_each(|entry| entry.checksum = Some(1));
    for name in ["DestMist", "DestL)qt", "DestLi"] {
        let mended = mend(&renamed(&list, "DestList", name));
        mended.says(&[&format!("stream {name} is the DestList; it has its name again")]);
        assert_eq!(mended.list, List::of(&ten().build()));
    }
    // The list's own property store, whatever the header says of the version.
    let list = ListBuilder::files(6, 4).header(|header| header.version = 262_150);
    let mended = mend(&renamed(&list, "DestListPropertyStore", "DestListPropert9Stose"));
    assert_eq!(mended.list.streams, List::of(&ListBuilder::files(6, 4).build()).streams);
}

#[test]
fn a_stream_that_nobody_knows_stays_and_a_link_under_a_name_that_is_no_id_is_told() {
    let list = ten().stream("Thumbs", b"of a later Windows");
    let cli = Cli::with(&[(NOTEPAD, renamed(&list, "4", "q"))]);
    cli.run("check .").exits(1).says(&["JL214 stream q is a link, and its name is no entry's id"]);
    mend_to(&renamed(&list, "4", "q"), &List::of(&list.build())).says(&["link q is its link", "now named 4"]);
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
        let Ok(compound) = jlfix::salvage::read(&mutant, &limits) else { continue };
        match repair(&AutomaticList::read(&compound), &options, &limits) {
            Ok(None) => {}
            Ok(Some(plan)) => {
                mended += 1;
                assert!(!plan.steps.is_empty(), "mutant {number}, {}: says nothing", kind.name());
                let again = jlfix::salvage::read(&plan.bytes, &limits).unwrap();
                let again = repair(&AutomaticList::read(&again), &options, &limits).unwrap();
                assert!(again.is_none(), "mutant {number}, {}: {again:#?}", kind.name());
                let path = dir.path().join(format!("{number}.automaticDestinations-ms"));
                fs::write(&path, &plan.bytes).unwrap();
                files.push(path);
            }
            Err(PlanError::NothingLeft { .. }) => hopeless += 1,
            Err(error) => panic!("mutant {number}, {}: {error}", kind.name()),
        }
    }
    assert!(mended > 200 && hopeless < 25, "{mended} mended, {hopeless} hopeless");
    judge::pass(files);
}
