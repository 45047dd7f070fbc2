//! `jlfix repair`, the list: entries, links and header are put right from what else is in the file, and what cannot be is
//! told.

use crate::support;

use jlfix::format::destlist::Header;
use support::build::{Link, LinkBuilder, ListBuilder, NewEntry, file_of, host, time, utf16};
use support::cli::{Cli, NOTEPAD};
use support::mended::{dest_list_at, forty_one, mend, mend_to, mend_with, path, renamed, ten, with_dest_list};
use support::read::List;

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
            .says(&["entry 10", if offset < 8 { "of its checksum was damaged" } else { "by the checksum it must be" }]);
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
    let mut list = ten().entry(share).pin(10);
    for at in [2, 9, 10] {
        list.entries[at].link = Link::Missing;
    }
    list.entries[9].path = utf16(r"C:\Users\sam\Straße\Übersicht – 東京.txt");
    let bytes = list.build();
    let mended = mend(&bytes);
    mended.says(&[r"C:\Users\sam\Documents\notes 00002.txt (pinned)", "a plain one was made"]);
    assert_eq!(mended.told.stderr, "");
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
fn a_pin_that_is_no_path_keeps_its_place_too() {
    let long = format!("https://www.example.org/{}", "x".repeat(300));
    let unpaired = [utf16(r"C:\Users\sam\"), vec![0x00, 0xD8], utf16(".txt")].concat();
    let pins: [(Vec<u8>, &str); 8] = [
        (utf16("knownfolder:{754AC886-DF64-4CBA-86B5-F7FBF4FBCEF5}"), "Desktop"),
        (utf16("knownfolder:{374DE290-123F-4565-9164-39C4925E467B}"), "Downloads"),
        // Not one of those that Explorer pins by itself: named as the entry names it.
        (
            utf16("knownfolder:{B97D20BB-F46A-4C97-BA10-5E3608430854}"),
            "knownfolder:{B97D20BB-F46A-4C97-BA10-5E3608430854}",
        ),
        (utf16("::{26EE0668-A00A-44D7-9371-BEB064C98683}"), "Control Panel"),
        (utf16(&long), &long),
        (utf16("4ef9e8d86951a242"), "4ef9e8d86951a242"),
        (utf16(r"\\büro-01\Pläne\Übersicht.pdf"), r"\\büro-01\Pläne\Übersicht.pdf"),
        (unpaired, "C:\\Users\\sam\\\u{fffd}.txt"),
    ];
    let mut list = ten();
    for (at, (path, _)) in pins.iter().enumerate() {
        list = list.edit(at, |entry| (entry.path, entry.pin, entry.link) = (path.clone(), at as i32, Link::Missing));
    }
    list.entries[9].pin = 8;
    let mended = mend(&list.build());
    assert_eq!(mended.told.stderr, "");
    assert_eq!(mended.list.ids(), List::of(&ten().build()).ids());
    let shown = mended.cli.run(&format!("show --links --format json {NOTEPAD}")).clean().json();
    for (entry, (path, target)) in shown["files"][0]["entries"].as_array().unwrap().iter().zip(pins) {
        assert!(entry["link"]["target"].as_str().unwrap().contains(target), "{target}: {}", entry["link"]);
        assert_eq!(entry["path"], String::from_utf16_lossy(&units(&path)), "the entry says what it said");
    }
}

fn units(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect()
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
    // Two under each other's name: the name is the match, and both can be read.
    let mut streams = ten().all_streams();
    for (name, _) in &mut streams {
        *name = match name.as_str() {
            "3" => "4".to_owned(),
            "4" => "3".to_owned(),
            name => name.to_owned(),
        };
    }
    let exchanged = file_of(&ten().root, &streams);
    let cli = Cli::with(&[(NOTEPAD, exchanged.clone())]);
    cli.run("check .").clean();
    cli.run(&format!("repair {NOTEPAD}")).clean().says(&["0 files", "1 unchanged"]);
    assert_eq!(cli.read(NOTEPAD), exchanged);
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
fn hosts_of_made_entries_are_cut_to_what_an_entry_has_room_for() {
    let link = LinkBuilder::file(r"C:\x.txt").with(|link| link.machine = "desk-0123456789".to_owned());
    let mended = mend(&ten().stream("20", &link.build()).build());
    assert_eq!(mended.entry(r"C:\x.txt").bytes[72..88], host("desk-0123456789"));
}
