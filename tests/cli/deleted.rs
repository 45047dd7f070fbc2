//! `--deleted`: what is in a file and no longer in its list, each with the place it was found in, and nothing that is
//! still in the list.

use crate::support;

use serde_json::{Value, json};
use support::build::{CustomBuilder, Leftovers, Link, LinkBuilder, ListBuilder, NewEntry, Random};
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD};

const GUID_AND_LINK: [u8; 16] = [1, 0x14, 2, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46];

/// What `show --deleted` has of the file, which is of the kind that its name says.
fn deleted(cli: &Cli, name: &str) -> Value {
    cli.run(&format!("show --deleted --format json {name}")).json()["files"][0].take()
}

/// Kind, place, offset, size, whether it is whole, and what the list has, of each.
fn places(file: &Value) -> Vec<Value> {
    let keys = ["kind", "where", "offset", "size", "whole", "live", "id"];
    file["deleted"].as_array().unwrap().iter().map(|item| json!(keys.map(|key| &item[key]))).collect()
}

/// A list of 27 files with everything left over in it that there can be, and where each thing is.
struct Crowded {
    file: Vec<u8>,
    entry: usize,
    older: usize,
    gone: usize,
    link: usize,
    link_size: usize,
    cut: usize,
    slack: usize,
    slack_size: usize,
    directory: usize,
}

fn crowded() -> Crowded {
    let list = ListBuilder::files(4, 27).pin(3);
    let mut left = Leftovers::of(&list);
    let file = |path: &str, used: &str| NewEntry::file(path).used(1, used);
    let gone = Leftovers::entry(4, 77, file(r"C:\Users\sam\secret.txt", "2023-05-03T08:15:00Z"));
    let older = Leftovers::entry(4, 27, file(r"C:\Users\sam\Documents\notes 00000.txt", "2023-06-01T10:00:00Z"));
    // The list's own, with another rank: a copy.
    let copy = &list.clone().edit(0, |entry| entry.rank = 5).dest_list()[32..32 + older.len()];
    // An entry of which the path is cut short by what was written later.
    let mut cut = Leftovers::entry(4, 78, file(r"C:\Users\sam\overwritten.txt", "2023-07-01T10:00:00Z"));
    cut.truncate(130 + 2 * 10);
    let entry = left.free_sectors(&[gone.as_slice(), &older, copy, &cut, &[0; 40]].concat());
    let link = LinkBuilder::file(r"C:\Users\sam\secret.txt").build();
    let live = list.all_streams()[5].1.clone();
    let link_at = left.free_sectors(&link);
    left.free_sectors(&live);
    let first = link_at / 512 - 1;
    // The stream's name stayed in the directory; its size is one for which sectors of 512 bytes are used.
    let directory = left.directory_entry("4d", 5000, first as u32);
    let small = Leftovers::entry(4, 79, file(r"C:\s", "2023-08-01T10:00:00Z"));
    let slack = left.slack("DestList", &small);
    Crowded {
        file: left.file,
        entry,
        older: entry + gone.len(),
        gone: gone.len(),
        link: link_at,
        link_size: link.len(),
        cut: entry + gone.len() + 2 * older.len(),
        slack,
        slack_size: small.len(),
        directory,
    }
}

#[test]
fn entries_links_and_streams_that_are_deleted_are_told_with_their_places() {
    let crowded = crowded();
    let cli = Cli::with(&[(NOTEPAD, crowded.file.clone())]);
    let file = deleted(&cli, NOTEPAD);
    let mut expected = vec![
        json!(["entry", "stream_slack", crowded.slack, crowded.slack_size, true, "gone", 79]),
        json!(["stream", "directory", crowded.directory, 128, true, "gone", 0x4D]),
        json!(["entry", "free_sector", crowded.entry, crowded.gone, true, "gone", 77]),
        json!(["entry", "free_sector", crowded.older, 134 + 2 * 38, true, "older", 27]),
        json!(["entry", "free_sector", crowded.cut, 130 + 2 * 10, false, "gone", 78]),
        json!(["link", "free_sector", crowded.link, crowded.link_size, true, "gone", 0x4D]),
    ];
    expected.sort_by_key(|item| item[2].as_u64());
    assert_eq!(places(&file), expected);
    assert_eq!([&file["deleted_copies"], &file["deleted_complete"]], [&json!(2), &json!(true)]);
    let item = |kind: &str, id: u64| {
        let fits = |item: &&Value| item["kind"] == kind && item["id"] == id;
        file["deleted"].as_array().unwrap().iter().find(fits).unwrap()
    };
    let gone = &item("entry", 77)["entry"];
    assert_eq!(
        [&gone["path"], &gone["last_access"], &gone["checksum_ok"], &gone["position"]],
        [&json!(r"C:\Users\sam\secret.txt"), &json!("2023-05-03T08:15:00.0000000Z"), &json!(true), &Value::Null]
    );
    assert_eq!(item("entry", 27)["differs"], json!(["last_access"]));
    assert_eq!(item("entry", 78)["entry"]["path"], r"C:\Users\s");
    let link = item("link", 0x4D);
    assert_eq!([&link["link"]["target"], &link["stream"]], [&json!(r"C:\Users\sam\secret.txt"), &json!("4d")]);
    let stream = item("stream", 0x4D);
    assert_eq!(
        [&stream["stream_size"], &stream["stream_offset"], &stream["link"]],
        [&json!(5000), &json!(crowded.link), &Value::Null]
    );
    // The list itself is told as ever, and what is deleted is in no count.
    assert_eq!([&file["entries_count"], &file["links_count"], &file["state"]], [&json!(27), &json!(27), &json!("ok")]);
    assert_eq!(file["entries"].as_array().unwrap().len(), 27);
}

#[test]
fn the_table_of_what_is_deleted_is_aligned_and_says_what_was_left_out() {
    let crowded = crowded();
    let cli = Cli::with(&[(NOTEPAD, crowded.file.clone())]);
    let out = cli.run(&format!("show --deleted {NOTEPAD}")).clean();
    let out = out.says(&["  deleted    4 entries, 1 link, 1 stream; 2 copies of what is in use left out\n"]);
    let table: Vec<&str> = out.stdout.lines().skip_while(|line| *line != "Deleted").skip(1).collect();
    let head = table[0];
    let column = |line: &str, name: &str, next: &str| -> String {
        let end = if next.is_empty() { usize::MAX } else { head.find(next).unwrap() };
        line.chars()
            .skip(head.find(name).unwrap())
            .take(end - head.find(name).unwrap())
            .collect::<String>()
            .trim()
            .into()
    };
    let row = |offset: usize| table.iter().find(|line| line.trim_start().starts_with(&offset.to_string())).unwrap();
    let cells = |offset| {
        let line = row(offset);
        [
            column(line, "Where", "Deleted"),
            column(line, "In the list", "Last access"),
            column(line, "Last access (UTC)", "Path"),
            column(line, "Path", ""),
        ]
    };
    assert_eq!(
        cells(crowded.older),
        ["free sector", "used later", "2023-06-01 10:00", r"C:\Users\sam\Documents\notes 00000.txt"]
    );
    assert_eq!(cells(crowded.entry), ["free sector", "gone", "2023-05-03 08:15", r"C:\Users\sam\secret.txt"]);
    assert_eq!(cells(crowded.slack)[0], "stream slack");
    assert_eq!(cells(crowded.link)[2..], ["-", r"C:\Users\sam\secret.txt"]);
    assert!(row(crowded.cut).trim_end().ends_with("cut"));
    assert_eq!(cells(crowded.directory)[3], format!("stream 4d, 5000 bytes from {}", crowded.link));
    assert!(out.stdout.lines().all(|line| line == line.trim_end()), "no line ends in spaces");
    // Every field of the link, if it is asked for.
    let whole = cli.run(&format!("show --deleted --links {NOTEPAD}")).clean().stdout;
    let after = whole.split(&format!("deleted link  at {}, free sector\n", crowded.link)).nth(1).unwrap();
    assert!(after.contains("volume_serial         4e2a91c7\n"), "{after}");
}

#[test]
fn without_the_option_nothing_is_looked_for_and_nothing_told() {
    let cli = Cli::with(&[(NOTEPAD, crowded().file)]);
    let file = cli.run(&format!("show --format json {NOTEPAD}")).clean().json()["files"][0].take();
    for key in ["deleted", "deleted_copies", "deleted_complete"] {
        assert_eq!(file.get(key), None);
    }
    let text = cli.run(&format!("show {NOTEPAD}")).clean().stdout;
    assert!(!text.to_lowercase().contains("deleted") && !text.contains("secret"), "{text}");
    let rows = cli.run(&format!("show --format csv {NOTEPAD}")).clean().csv();
    assert!(rows.len() == 27 && rows.iter().all(|row| row["deleted"] == "false" && row["where"].is_empty()));
}

#[test]
fn a_list_with_nothing_left_over_says_so_and_a_pruned_one_is_such() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(6, 20).build()), (EXPLORER, crowded().file)]);
    cli.run(&format!("show --deleted {NOTEPAD}")).clean().says(&["  deleted    nothing\n"]);
    assert_eq!(deleted(&cli, NOTEPAD)["deleted"], json!([]));
    cli.run(&format!("prune --keep 5 {EXPLORER}")).clean();
    let file = deleted(&cli, EXPLORER);
    assert_eq!([&file["deleted"], &file["deleted_copies"]], [&json!([]), &json!(0)]);
}

#[test]
fn entries_of_every_format_are_found_and_only_with_a_checksum_that_holds() {
    for version in [1, 2, 3, 4, 5, 6] {
        let mut left = Leftovers::of(&ListBuilder::files(version, 5));
        let entry = Leftovers::entry(version, 9, NewEntry::file(r"C:\Users\sam\secret.txt"));
        let at = left.free_sectors(&entry);
        let mut wrong = Leftovers::entry(version, 10, NewEntry::file(r"C:\Users\sam\no.txt"));
        wrong[100] ^= 1;
        left.free_sectors(&wrong);
        let cli = Cli::with(&[(NOTEPAD, left.file)]);
        let file = deleted(&cli, NOTEPAD);
        assert_eq!(places(&file), [json!(["entry", "free_sector", at, entry.len(), true, "gone", 9])], "{version}");
        assert_eq!(file["deleted"][0]["entry"]["path"], r"C:\Users\sam\secret.txt");
    }
}

#[test]
fn a_link_that_lay_in_several_places_is_put_together_and_told_as_such() {
    let mut left = Leftovers::of(&ListBuilder::files(4, 27));
    let link = LinkBuilder::file(r"C:\Users\sam\secret.txt").build();
    assert!((513..1024).contains(&link.len()));
    let first = left.free_sectors(&link[..512]);
    // Something in use between its two sectors.
    left.move_last_sector("DestList");
    left.free_sectors(&link[512..]);
    let cli = Cli::with(&[(NOTEPAD, left.file)]);
    let file = deleted(&cli, NOTEPAD);
    assert_eq!(file["state"], "ok", "{}", file["findings"]);
    assert_eq!(places(&file), [json!(["link", "free_sector", first, link.len(), true, "gone", null])]);
    assert_eq!(file["deleted"][0]["joined"], true);
    assert_eq!(file["deleted"][0]["link"]["target"], r"C:\Users\sam\secret.txt");
    cli.run(&format!("show --deleted {NOTEPAD}")).clean().says(&[r"C:\Users\sam\secret.txt  joined"]);
}

#[test]
fn what_lies_across_the_slack_of_mini_sectors_is_found_in_one_piece() {
    // The link of the last stream leaves a part of a mini sector, and the mini stream leaves mini sectors behind it.
    let link = LinkBuilder::url("https://example.org/").with(|link| {
        link.properties = None;
        link.tracker = false;
    });
    let small = LinkBuilder::file(r"C:\s").with(|link| {
        link.properties = None;
        link.tracker = false;
        link.id_list = false;
        link.link_info = false;
        link.name = Some("A note".to_owned());
    });
    let (small, mut found) = (small.build(), false);
    // How long the link before is decides how much room there is.
    for length in 0..64 {
        let link = link.clone().with(|link| link.name = Some("x".repeat(length)));
        let list = ListBuilder::new(4).entry(NewEntry::new("https://example.org/", Link::Raw(link.build()))).build();
        let mut left = Leftovers { file: list };
        let compound = jlfix::salvage::read(&left.file, &Default::default()).unwrap();
        let stream = compound.stream("1").unwrap();
        let end = (stream.offset + stream.size) as usize;
        let room = (end.next_multiple_of(512)) - end;
        if end.is_multiple_of(64) || room < small.len() || end.next_multiple_of(64) - end >= small.len() {
            continue;
        }
        left.file[end..end + small.len()].copy_from_slice(&small);
        let cli = Cli::with(&[(NOTEPAD, left.file)]);
        let file = deleted(&cli, NOTEPAD);
        assert_eq!(places(&file), [json!(["link", "mini_slack", end, small.len(), true, "gone", null])]);
        found = true;
    }
    assert!(found, "no length left the room for it");
}

#[test]
fn links_behind_the_categories_of_a_custom_list_and_behind_a_link_are_found() {
    let task = |arguments: &str| LinkBuilder::task(r"C:\Tools\t.exe", arguments, "New");
    let (kept, old) = (task("--kept"), task("--old").build());
    let mut slack = GUID_AND_LINK.to_vec();
    slack.extend(&old);
    slack.extend(GUID_AND_LINK);
    slack.extend(kept.build());
    slack.extend(GUID_AND_LINK);
    // Of the last one, written over, there are header and ID list.
    slack.extend(&LinkBuilder::file(r"C:\Tools\lost.exe").build()[..300]);
    let healthy = CustomBuilder::new().tasks(std::slice::from_ref(&kept));
    let start = healthy.build().len();
    let single = LinkBuilder::file(r"C:\a.txt").build();
    let cli =
        Cli::with(&[(CHROME, healthy.slack(&slack).build()), ("a.lnk", [single.as_slice(), b"junk", &old].concat())]);
    let file = deleted(&cli, CHROME);
    let cut = start + slack.len() - 300;
    let told = places(&file);
    assert_eq!(told[0], json!(["link", "after_categories", start + 16, old.len(), true, "gone", null]));
    assert_eq!(told[1], json!(["link", "after_categories", cut, told[1][3], false, "gone", null]));
    assert_eq!((told.len(), &file["deleted_copies"]), (2, &json!(1)), "the one that is kept is a copy");
    assert_eq!(file["deleted"][1]["link"]["target"], r"C:\Tools\lost.exe");
    cli.run(&format!("show --deleted {CHROME}")).clean().says(&[r"C:\Tools\t.exe --old"]);
    let place = single.len() + 4;
    assert_eq!(places(&deleted(&cli, "a.lnk")), [json!(["link", "after_link", place, old.len(), true, "gone", null])]);
}

#[test]
fn what_streams_in_use_hold_beside_their_own_is_found() {
    let link = |path: &str| LinkBuilder::file(path).build();
    let (own, old) = (link(r"C:\Users\sam\new.txt"), link(r"C:\Users\sam\old.txt"));
    let older = link(r"C:\Users\sam\older.txt");
    let entry = NewEntry::new(r"C:\Users\sam\new.txt", Link::Raw([own.as_slice(), &old].concat()));
    let list = ListBuilder::files(4, 3).entry(entry).trailing(&[[0xFF; 9].as_slice(), &older].concat()).build();
    let cli = Cli::with(&[(NOTEPAD, list.clone())]);
    let file = deleted(&cli, NOTEPAD);
    let at = |bytes: &[u8]| list.windows(bytes.len()).position(|window| window == bytes).unwrap();
    let mut expected = vec![
        json!(["link", "after_link", at(&own) + own.len(), old.len(), true, "gone", null]),
        json!(["link", "dest_list", at(&older), older.len(), true, "gone", null]),
    ];
    expected.sort_by_key(|item| item[2].as_u64());
    assert_eq!(places(&file), expected);
    assert_eq!([&file["entries_count"], &file["links_count"]], [&json!(4), &json!(4)]);
}

#[test]
fn exports_mark_what_is_deleted_and_never_mix_it_in_unasked() {
    let crowded = crowded();
    let cli = Cli::with(&[(&format!("in/{NOTEPAD}"), crowded.file)]);
    let plain = cli.run("-q export in --format jsonl --to -").clean().json_lines();
    assert!(plain.len() == 27 && plain.iter().all(|row| row["deleted"] == false && row["deleted_where"].is_null()));
    let rows = cli.run("-q export in --deleted --format jsonl --to -").clean().json_lines();
    let paths = |rows: &[Value]| rows.iter().map(|row| row["path"].clone()).collect::<Vec<_>>();
    assert_eq!(paths(&rows[..27]), paths(&plain));
    let told: Vec<Value> = rows[27..]
        .iter()
        .map(|row| {
            assert_eq!([&row["deleted"], &row["position"]], [&json!(true), &Value::Null]);
            json!(["deleted_where", "deleted_offset", "deleted_live", "entry_id"].map(|key| &row[key]))
        })
        .collect();
    assert_eq!(told.len(), 6);
    assert!(told.contains(&json!(["free_sector", crowded.older, "older", 27])), "{told:?}");
    let link = rows.iter().find(|row| row["link_offset"] == crowded.link).unwrap();
    let told = ["target", "deleted_stream", "volume_serial"].map(|key| &link[key]);
    assert_eq!(told, [&json!(r"C:\Users\sam\secret.txt"), &json!("4d"), &json!("4e2a91c7")]);
    let table = cli.run("-q export in --deleted --format csv --to -").clean().csv();
    assert_eq!(table.iter().filter(|row| row["deleted"] == "true").count(), 6);
    let csv = cli.run(&format!("show --deleted --format csv in/{NOTEPAD}")).clean().csv();
    let gone = csv.iter().find(|row| row["offset"] == crowded.entry.to_string()).unwrap();
    assert_eq!([&gone["entry_path"], &gone["live"], &gone["id"]], [r"C:\Users\sam\secret.txt", "gone", "77"]);
    let out = cli.run("export in --deleted --format jlecmd --to out").exits(2);
    assert!(out.stderr.contains("the columns of jlecmd do not distinguish"), "{}", out.stderr);
    let lines = cli.run("-q export in --deleted --format bodyfile --to -").clean().stdout;
    let marked = format!("notes 00000.txt (in/{NOTEPAD}, entry 27) (deleted, free sector at {})", crowded.older);
    assert_eq!(lines.lines().filter(|line| line.contains("(deleted, ")).count(), 6, "{lines}");
    assert!(lines.replace('\\', "/").contains(&marked.replace('\\', "/")), "{lines}");
    assert!(lines.contains(" stream 4d ("), "{lines}");
    let events = cli.run("-q export in --deleted --format timesketch --to -").clean().json_lines();
    let event = events.iter().find(|event| event["deleted_offset"] == crowded.older).unwrap();
    assert_eq!(event["message"], r"C:\Users\sam\Documents\notes 00000.txt, deleted, in the jump list of Notepad");
    assert_eq!([&event["deleted"], &event["deleted_live"]], [&json!(true), &json!("older")]);
    assert!(events.iter().filter(|event| event["deleted"].is_null()).count() > 27 * 4);
    cli.run("-q export in --deleted --dump-links links").clean();
    let user = cli.user().unwrap_or_else(|| "unknown".to_owned());
    let dumped = cli.read(format!("links/{user}_9b9cdc69c1c24e2b_automatic_deleted-at-{}.lnk", crowded.link));
    assert_eq!(dumped, LinkBuilder::file(r"C:\Users\sam\secret.txt").build());
    assert_eq!(std::fs::read_dir(cli.path("links")).unwrap().count(), 28);
}

#[test]
fn a_file_full_of_starts_of_links_takes_no_time_to_speak_of() {
    const SIZE: usize = 8 << 20;
    let header = |flags: u32| {
        let mut header = LinkBuilder::file(r"C:\a").build()[..76].to_vec();
        header[20..24].copy_from_slice(&flags.to_le_bytes());
        header
    };
    let repeat = |unit: Vec<u8>| unit.iter().copied().cycle().take(SIZE).collect::<Vec<u8>>();
    // An ID list that takes 64 KiB, a block that takes all that is left, texts of 128 KiB, and nothing at all.
    let contents = [
        repeat([header(1), vec![0xFF, 0xFF, 4, 0, 0, 0]].concat()),
        repeat([header(0), vec![0, 0, 0x40, 0, 9, 0, 0, 0xA0]].concat()),
        repeat([header(0x84), vec![0xFF, 0xFF]].concat()),
        repeat([header(0), vec![0; 4]].concat()),
    ];
    let started = std::time::Instant::now();
    for content in contents {
        let custom = CustomBuilder::new().known(1).slack(&content).build();
        let list = [ListBuilder::files(4, 3).build(), content].concat();
        let cli = Cli::with(&[(CHROME, custom), (NOTEPAD, list)]);
        for name in [CHROME, NOTEPAD] {
            let out = cli.run(&format!("export --deleted --format jsonl --to - {name}"));
            assert!(out.code < 2, "{}", out.stderr);
            let rows = out.stdout.lines().count();
            assert!(rows <= 65_536 + 3, "{rows} rows");
        }
    }
    let took = started.elapsed();
    println!("8 files of 8 MiB in {took:?}");
    assert!(took.as_secs() < 120, "{took:?}");
}

#[test]
fn whatever_is_left_over_nothing_is_told_that_is_not_there() {
    let crowded = crowded();
    let mut random = Random(7);
    let mut told = 0;
    for _ in 0..60 {
        let mut file = crowded.file.clone();
        for _ in 0..40 {
            let at = random.below(file.len() as u64) as usize;
            file[at] = random.below(256) as u8;
        }
        file.truncate(file.len() - random.below(700) as usize);
        let size = file.len() as u64;
        let cli = Cli::with(&[(NOTEPAD, file)]);
        let out = cli.run(&format!("show --deleted --links --format json {NOTEPAD}"));
        assert!(out.code < 2, "{}", out.stderr);
        for item in out.json()["files"][0]["deleted"].as_array().unwrap() {
            assert!(item["offset"].as_u64().unwrap() < size);
            assert!(item["kind"] != "entry" || item["entry"]["checksum_ok"] == true, "{item}");
            told += 1;
        }
    }
    assert!(told > 60, "{told}");
}
