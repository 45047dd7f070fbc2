//! `jlfix pins`: pins carried to another profile, and changed in one.
//!
//! The corpus has only Explorer's pins, none of them with a path. The pins of applications, and those with paths on drives and
//! shares, are made here.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::build::{Link, LinkBuilder, ListBuilder, NewEntry, Property, StoreBuilder, utf16};
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD, Output};
use support::judge;
use support::read::List;

const DESKTOP: &str = "754ac886-df64-4cba-86b5-f7fbf4fbcef5";
const PARSING_PATH: &str = "28636aa6-953d-11d2-b5d6-00c04fd918d0";
const MAP: [&str; 2] = ["--map", r"C:\Users\old=D:\Profiles\new"];

fn path(name: &str) -> String {
    format!(r"C:\Users\old\Documents\{name}.txt")
}

fn pinned(entry: NewEntry, pin: i32) -> NewEntry {
    entry.with(|entry| entry.pin = pin)
}

/// A link with its path in every place that a link has for one.
fn everywhere(path: &str) -> LinkBuilder {
    let folder = path.rsplit_once('\\').unwrap().0;
    let environment = |path: &str| {
        let mut ansi = path.as_bytes().to_vec();
        let mut wide = utf16(path);
        ansi.resize(260, 0);
        wide.resize(520, 0);
        [ansi, wide].concat()
    };
    LinkBuilder::file(path).with(|link| {
        link.name = Some(path.to_owned());
        link.relative_path = Some(format!(r"..\..\old\Documents\{}", path.rsplit_once('\\').unwrap().1));
        link.working_dir = Some(folder.to_owned());
        link.icon = Some((format!(r"{folder}\own.ico"), 1));
        link.extra = vec![(0xA000_0001, environment(path)), (0xA000_0007, environment(path))];
        let store = StoreBuilder::new().property(PARSING_PATH, 30, Property::Text(path.to_owned())).property(
            "446d16b1-8dad-4870-a748-402ea43d788c",
            104,
            Property::Guid(link.droids[0]),
        );
        link.properties = Some(store.build());
    })
}

/// Notepad's list: three pins, of which one is on another drive and one on a share, and history.
fn notepad(version: u32) -> ListBuilder {
    let made = Link::Made(Box::new(everywhere(&path("plan"))));
    ListBuilder::new(version).entries([
        pinned(NewEntry::new(&path("plan"), made), 1),
        NewEntry::file(&path("history")),
        pinned(NewEntry::file(r"E:\archive\Größe 日本.txt"), 0),
        pinned(NewEntry::file(r"\\srv\share\team\list.txt"), 2),
    ])
}

/// Explorer's list: one of its own folders, and one with a path.
fn explorer(version: u32) -> ListBuilder {
    let list = ListBuilder::new(version).entries([
        pinned(NewEntry::known_folder(DESKTOP, r"C:\Users\old\Desktop"), 0),
        pinned(NewEntry::folder(r"C:\Users\old\Projects"), 1),
        NewEntry::folder(r"C:\Temp"),
    ]);
    if version > 1 { list.ranked() } else { list }
}

/// A place with the two lists in `OLD`, and an empty `NEW`.
fn profile() -> Cli {
    let cli = Cli::new();
    cli.write(format!("OLD/{NOTEPAD}"), &notepad(4).build());
    cli.write(format!("OLD/{EXPLORER}"), &explorer(4).build());
    cli.write(format!("OLD/{CHROME}"), &[0; 24]);
    fs::create_dir(cli.path("NEW")).unwrap();
    cli.run("pins export OLD -o pins.json").exits(0);
    cli
}

fn import(cli: &Cli, options: &[&str]) -> Output {
    cli.run_words([&["pins", "import", "pins.json", "--into", "NEW"], options].concat())
}

/// Ids and paths by pin.
fn pins(list: &List) -> Vec<(u64, &str)> {
    let mut pinned: Vec<_> = list.entries.iter().filter(|entry| entry.pin != -1).collect();
    pinned.sort_by_key(|entry| entry.pin);
    assert!(pinned.iter().map(|entry| entry.pin).eq(0..pinned.len() as i32), "pins are 0 to n-1");
    assert_eq!(list.header.pinned as usize, pinned.len());
    pinned.into_iter().map(|entry| (entry.id, entry.path.as_str())).collect()
}

fn paths(list: &List) -> Vec<&str> {
    pins(list).into_iter().map(|(_, path)| path).collect()
}

/// The list at `name`, which the independent checker and `check` pass.
fn sound(cli: &Cli, name: impl AsRef<Path>) -> List {
    cli.run_words(["check".as_ref(), name.as_ref().as_os_str()]).exits(0);
    judge::pass([cli.path(&name)]);
    List::at(cli.path(name))
}

/// The pins file at `name`.
fn read_json(cli: &Cli, name: &str) -> Value {
    serde_json::from_slice(&cli.read(name)).unwrap()
}

/// The links of the pins of a list, as `show` reports them.
fn links(cli: &Cli, name: &str) -> Vec<Value> {
    let shown = cli.run(&format!("show --links --format json {name}")).exits(0).json();
    let mut entries = shown["files"][0]["entries"].as_array().unwrap().clone();
    entries.retain(|entry| entry["pinned"] == true);
    entries.sort_by_key(|entry| entry["pin"].as_i64());
    entries.into_iter().map(|entry| entry["link"].clone()).collect()
}

fn holds_bytes(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// True if the text is in the bytes, in ASCII or UTF-16, in any case.
fn holds(bytes: &[u8], text: &str) -> bool {
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle));
    has(text.as_bytes()) || has(&utf16(text))
}

#[test]
fn pins_come_to_an_empty_profile_with_every_path_mapped() {
    let cli = profile();
    let out = import(&cli, &[&MAP[..], &["--map", "E:=F:", "--list-format", "4"]].concat()).exits(0);
    out.says(&["2 files changed", "Undo it with:"]);
    let new = sound(&cli, format!("NEW/{NOTEPAD}"));
    let mapped = [r"F:\archive\Größe 日本.txt", r"D:\Profiles\new\Documents\plan.txt", r"\\srv\share\team\list.txt"];
    assert_eq!(paths(&new), mapped);
    assert_eq!(new.ids().iter().max(), Some(&3));
    assert_eq!((new.header.version, new.header.last_id, new.header.count), (4, 3, 3));
    assert!(new.entries.iter().all(|entry| entry.rank.is_none()), "only Explorer's list has ranks");

    let targets: Vec<Value> =
        links(&cli, &format!("NEW/{NOTEPAD}")).iter().map(|link| link["target"].clone()).collect();
    assert_eq!(targets, mapped);
    // What the code page has is in the ANSI form, too.
    assert!(holds_bytes(&cli.read(format!("NEW/{NOTEPAD}")), b"F:\\archive\\Gr\xF6\xDFe ??.txt\0"));
    let link = &links(&cli, &format!("NEW/{NOTEPAD}"))[1];
    assert_eq!(link["relative_path"], Value::Null, "the profile has another depth");
    for (field, value) in [
        ("name", r"D:\Profiles\new\Documents\plan.txt"),
        ("local_path", r"D:\Profiles\new\Documents\plan.txt"),
        ("working_dir", r"D:\Profiles\new\Documents"),
        ("icon", r"D:\Profiles\new\Documents\own.ico"),
        ("id_list_path", r"This PC\D:\Profiles\new\Documents\plan.txt"),
        ("volume_serial", "00000000"),
    ] {
        assert_eq!(link[field], value, "{field}");
    }
    assert_eq!(link["properties"].as_array().unwrap().len(), 1, "{}", link["properties"]);
    assert_eq!(link["properties"][0]["value"], r"D:\Profiles\new\Documents\plan.txt");
    let stream = new.entries.iter().find(|entry| entry.pin == 1).map(|entry| &new.streams[&format!("{:x}", entry.id)]);
    assert!(!holds(stream.unwrap(), "old"), "the old name is nowhere in the link");

    let explorer = sound(&cli, format!("NEW/{EXPLORER}"));
    assert_eq!(
        paths(&explorer),
        [format!("knownfolder:{{{}}}", DESKTOP.to_uppercase()), r"D:\Profiles\new\Projects".into()]
    );
    let known = &links(&cli, &format!("NEW/{EXPLORER}"))[0];
    assert_eq!(
        (&known["target"], &known["id_list_path"]),
        (&json!(r"D:\Profiles\new\Desktop"), &links(&cli, &format!("OLD/{EXPLORER}"))[0]["id_list_path"])
    );
    assert!(explorer.streams.values().all(|link| !holds(link, "old")));
    let mut ranks: Vec<_> = explorer.entries.iter().filter_map(|entry| entry.rank).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, [0, 1]);
}

#[test]
fn a_relative_path_is_mapped_where_the_new_profile_has_the_same_depth() {
    let cli = profile();
    import(&cli, &["--map", r"C:\Users\old=C:\Users\new", "--list-format", "6"]).exits(0);
    let link = &links(&cli, &format!("NEW/{NOTEPAD}"))[1];
    assert_eq!(link["relative_path"], r"..\..\new\Documents\plan.txt");
    assert_eq!(sound(&cli, format!("NEW/{NOTEPAD}")).streams["DestListPropertyStore"], [0; 4]);
}

#[test]
fn what_belongs_to_the_old_machine_is_dropped_but_for_a_share() {
    let cli = profile();
    import(&cli, &["--list-format", "4"]).exits(0);
    let shown = cli.run(&format!("show --links --format json NEW/{NOTEPAD}")).exits(0).json();
    for entry in shown["files"][0]["entries"].as_array().unwrap() {
        let is_share = entry["path"].as_str().unwrap().starts_with(r"\\");
        for value in [&entry["host"], &entry["object_id"], &entry["volume_id"], &entry["link"]["machine_id"]] {
            assert_eq!(value.is_string(), is_share, "{entry}");
        }
        let references = entry["link"]["id_list"].to_string().matches("\"mft_entry\":").count();
        let empty = entry["link"]["id_list"].to_string().matches("\"mft_entry\":null").count();
        assert!(is_share || references == empty, "{entry}");
    }
    // The ID list leads to a known folder in every profile; the path does not.
    let link = &links(&cli, &format!("NEW/{EXPLORER}"))[0];
    assert_eq!((&link["local_path"], &link["target"]), (&Value::Null, &link["id_list_path"]));
    // A share that is mapped is another server.
    let cli = profile();
    import(&cli, &["--map", r"\\srv\share=\\files\team", "--list-format", "4"]).exits(0);
    let link = &links(&cli, &format!("NEW/{NOTEPAD}"))[2];
    assert_eq!((&link["target"], &link["machine_id"]), (&json!(r"\\files\team\team\list.txt"), &Value::Null));
    assert!(!holds(&cli.read(format!("NEW/{NOTEPAD}")), r"\\srv"));
}

#[test]
fn an_import_that_is_run_twice_changes_nothing_the_second_time_and_is_undone_by_one_restore() {
    let cli = profile();
    let before = cli.snapshot();
    let options = [&MAP[..], &["--list-format", "4"]].concat();
    import(&cli, &[&options[..], &["--dry-run"]].concat())
        .exits(1)
        .says(&["2 files would be changed", "added as pin 0"]);
    assert_eq!(cli.snapshot(), before);
    let out = import(&cli, &options).exits(0);
    let after = cli.snapshot();
    import(&cli, &options).clean().says(&["0 files changed, 2 unchanged"]);
    import(&cli, &[&options[..], &["-n"]].concat()).exits(0);
    assert_eq!(cli.snapshot(), after);
    assert_eq!(cli.runs().len(), 1);
    cli.run_words(out.undo().split_whitespace().skip(1)).clean();
    assert_eq!(cli.snapshot(), before);
}

#[test]
fn export_and_import_and_export_are_equal_but_for_the_mapping_and_what_is_dropped() {
    let cli = profile();
    import(&cli, &[&MAP[..], &["--list-format", "4"]].concat()).exits(0);
    cli.run("pins export NEW -o again.json").exits(0);
    fs::create_dir(cli.path("THIRD")).unwrap();
    cli.run("pins import again.json --into THIRD --list-format 4").exits(0);
    cli.run("pins export THIRD -o third.json").exits(0);
    let notepad = |name: &str| {
        let applications = read_json(&cli, name)["applications"].as_array().unwrap().clone();
        applications.into_iter().find(|application| application["app_id"] == NOTEPAD[..16]).unwrap()
    };
    assert_eq!(notepad("again.json"), notepad("third.json"), "there is nothing more to drop");

    let (mut old, mut new) = (read_json(&cli, "pins.json"), read_json(&cli, "again.json"));
    for file in [&mut old, &mut new] {
        for pin in
            file["applications"].as_array_mut().unwrap().iter_mut().flat_map(|app| app["pins"].as_array_mut().unwrap())
        {
            let mapped = pin["path"].as_str().unwrap().replace(r"C:\Users\old", r"D:\Profiles\new");
            let is_share = mapped.starts_with(r"\\");
            pin["path"] = mapped.into();
            // On a share the link and the ids are the same, too.
            if !is_share {
                (pin["link"], pin["tracking"]) = (Value::Null, Value::Null);
            }
        }
    }
    assert_eq!(old, new);
}

#[test]
fn pins_that_are_there_stay_where_they_are_and_listed_paths_are_pinned() {
    let cli = profile();
    let there = ListBuilder::new(6).entries([
        NewEntry::file(r"d:\PROFILES\new\Documents\PLAN.txt"),
        pinned(NewEntry::file(r"C:\own.txt"), 0),
        pinned(NewEntry::file(r"\\SRV\share\team\list.txt"), 1),
    ]);
    let list = List::of(&there.build());
    cli.write(format!("NEW/{NOTEPAD}"), &there.build());
    import(&cli, &MAP).exits(0);
    let new = sound(&cli, format!("NEW/{NOTEPAD}"));
    assert_eq!(
        pins(&new),
        [
            (2, r"C:\own.txt"),
            (1, r"\\SRV\share\team\list.txt"),
            (4, r"E:\archive\Größe 日本.txt"),
            (3, r"d:\PROFILES\new\Documents\PLAN.txt"),
        ]
    );
    assert_eq!((new.header.version, new.header.last_id), (6, 4));
    assert_eq!(new.header.actions, list.header.actions + 1);
    for id in ["1", "2", "3"] {
        assert_eq!(new.streams[id], list.streams[id]);
    }
    assert_eq!(sound(&cli, format!("NEW/{EXPLORER}")).header.version, 6, "the format of the list beside it");
}

#[test]
fn the_format_of_the_target_is_written_never_that_of_the_source() {
    for version in [1, 3, 4, 6] {
        let cli = profile();
        let there = ListBuilder::files(version, 5).pin(2);
        let list = List::of(&there.build());
        cli.write(format!("NEW/{NOTEPAD}"), &there.build());
        import(&cli, &MAP).exits(0);
        let new = sound(&cli, format!("NEW/{NOTEPAD}"));
        assert_eq!((new.header.version, new.entries.len(), pins(&new).len()), (version, 8, 4));
        assert!(new.ids().iter().filter(|id| !list.ids().contains(id)).all(|id| *id > list.header.last_id));
        for entry in &list.entries {
            assert!(new.entries.contains(entry), "an entry that was there is as it was: {}", entry.path);
        }
        if version == 1 {
            assert_eq!(new.header.total, list.header.total + 3.0);
        }
        let made = sound(&cli, format!("NEW/{EXPLORER}"));
        assert_eq!(made.header.version, version);
        assert_eq!(made.entries.iter().any(|entry| entry.rank.is_some()), version > 1);
    }
    // A list without entries is one.
    let cli = profile();
    cli.write(format!("NEW/{NOTEPAD}"), &ListBuilder::empty().build());
    import(&cli, &[&MAP[..], &["--list-format", "1"]].concat()).exits(0);
    assert_eq!(sound(&cli, format!("NEW/{NOTEPAD}")).header.version, 1);
    // With nothing beside it, the format has to be named.
    let cli = profile();
    import(&cli, &MAP).exits(2).complains(&["--list-format", "no list to take the format from"]);
}

#[test]
fn a_damaged_list_is_refused_and_repair_is_named_and_the_others_are_done() {
    let cli = profile();
    let mut damaged = notepad(4).build();
    let at = damaged.windows(16).position(|window| window == &utf16(&path("history"))[..16]).unwrap();
    damaged[at - 60] ^= 0x55;
    cli.write(format!("NEW/{NOTEPAD}"), &damaged);
    cli.run(&format!("check NEW/{NOTEPAD}")).exits(1);
    let out = import(&cli, &MAP).exits(3);
    assert!(out.stderr.contains("damaged") && out.stderr.contains("jlfix repair NEW"), "{}", out.stderr);
    assert_eq!(cli.read(format!("NEW/{NOTEPAD}")), damaged);
    sound(&cli, format!("NEW/{EXPLORER}"));
    for line in [
        format!("pins export NEW/{NOTEPAD} -o -"),
        format!("pins remove NEW/{NOTEPAD} --entry 1"),
        format!("pins reorder NEW/{NOTEPAD} 1"),
        format!("pins import pins.json --into NEW --app {}", &NOTEPAD[..16]),
    ] {
        let out = cli.run(&line).exits(4);
        assert!(out.stderr.contains("jlfix repair NEW"), "{line}: {}", out.stderr);
    }
    let out = cli.run(&format!("pins list NEW/{NOTEPAD}")).exits(1);
    assert!(out.stderr.contains("jlfix repair NEW"), "{}", out.stderr);
    assert_eq!(cli.read(format!("NEW/{NOTEPAD}")), damaged);
}

#[test]
fn a_pins_file_that_is_invalid_is_refused_and_nothing_is_changed() {
    let cli = profile();
    cli.write(format!("NEW/{NOTEPAD}"), &ListBuilder::files(4, 3).build());
    let valid = read_json(&cli, "pins.json");
    let before = cli.snapshot().into_iter().filter(|(path, _)| !path.ends_with("pins.json")).collect::<Vec<_>>();
    let refused = |bytes: &[u8], parts: &[&str]| {
        cli.write("pins.json", bytes);
        import(&cli, &[]).exits(4).complains(parts);
        let after = cli.snapshot().into_iter().filter(|(path, _)| !path.ends_with("pins.json"));
        assert!(after.eq(before.iter().cloned()), "{parts:?}");
        assert_eq!(cli.runs(), [""; 0]);
    };
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut file = valid.clone();
        change(&mut file);
        serde_json::to_vec(&file).unwrap()
    };
    type Change = Box<dyn Fn(&mut Value)>;
    let set = |pointer: &'static str, value: Value| -> Change {
        Box::new(move |file| *file.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value.clone())
    };
    let pin = "/applications/0/pins/1";
    let at = |field: &str| -> &'static str { Box::leak(format!("{pin}/{field}").into_boxed_str()) };
    let cases: Vec<(Change, &[&str])> = vec![
        (set("/jlfix_pins", json!(2)), &["jlfix_pins: need version 1, have 2"]),
        (set("/jlfix_pins", json!("1")), &["need version 1"]),
        (set("/applications", json!({})), &["not a pins file", "line 1"]),
        (set("/applications/0/app_id", json!("../../evil")), &["applications[0].app_id", "hex digits"]),
        (set("/applications/0/app_id", json!("F01B4D95CF55D32A")), &["applications[0].app_id"]),
        (set("/applications/0/app_id", json!("0012")), &["applications[0].app_id"]),
        (
            set("/applications/0/app_id", valid["applications"][1]["app_id"].clone()),
            &["applications[1].app_id", "once"],
        ),
        (set(at("order"), json!(0)), &["applications[0].pins[1].order", "each once"]),
        (set(at("order"), json!(-1)), &["not a pins file"]),
        (set(at("order"), json!(7)), &["order", "0 to n-1"]),
        (set(at("path"), json!(r"C:\Users\..\..\Windows\x.txt")), &["pins[1].path", "without . and .."]),
        (set(at("path"), json!(r"..\x.txt")), &["pins[1].path", "without . and .."]),
        (set(at("path"), json!("C:\\a\\./x/../y")), &["pins[1].path", "without . and .."]),
        (set(at("path"), json!("")), &["pins[1].path", "1 to 32767"]),
        (set(at("path"), json!("C:\\a\u{0}b")), &["pins[1].path", "control"]),
        (set(at("path"), json!("x".repeat(40_000))), &["pins[1].path", "1 to 32767"]),
        (set(at("path"), valid["applications"][0]["pins"][0]["path"].clone()), &["pins[1].path", "each path once"]),
        (set(at("link"), json!("bm8gbGluaw==")), &["pins[1].link", "a shell link"]),
        (set(at("link"), json!("")), &["pins[1].link", "a shell link"]),
        (set(at("link"), json!("not base64!")), &["pins[1].link", "base64"]),
        (set(at("link"), json!("A".repeat(2 << 20))), &["pins[1].link", "at most 1 MiB"]),
        (set(at("score"), json!(-1.0)), &["pins[1].score"]),
        (set(at("score"), json!(1e300)), &["pins"]),
        (set(at("interactions"), json!(5_000_000_000_u64)), &["not a pins file"]),
        (set(at("last_access"), json!("yesterday")), &["pins[1].last_access"]),
        (set(at("tracking"), json!({"host": "00"})), &["not a pins file", "volume_id"]),
        (Box::new(|file| file["applications"][0]["file"] = json!("C:\\evil")), &["unknown field"]),
        (Box::new(|file| file["applications"][0]["pins"][0]["path_utf16"] = json!("410042")), &["pins[0].path_utf16"]),
        (
            Box::new(|file| {
                let pin = file["applications"][0]["pins"][0].clone();
                file["applications"][0]["pins"] = Value::Array(vec![pin; 5000]);
            }),
            &["applications[0].pins", "at most 4096"],
        ),
    ];
    for (change, parts) in &cases {
        refused(&changed(change), parts);
    }
    refused(b"", &["not a pins file"]);
    refused(b"[1, 2]", &["not a pins file"]);
    refused(&[b'['; 100_000], &["not a pins file"]);
    refused(&vec![b' '; (16 << 20) + 1], &["16777216"]);
    refused(&cli.read(format!("NEW/{NOTEPAD}")), &["not a pins file"]);
    cli.run("pins import none.json --into NEW").exits(4).complains(&["none.json"]);
}

#[test]
fn mappings_that_are_invalid_are_refused() {
    let cli = profile();
    for (map, part) in [
        (r"C:\Users\old", "FROM=TO"),
        ("old=new", "FROM=TO"),
        (r"C:\a=..\b", "FROM=TO"),
        (r"C:\a\..\b=D:\c", "FROM=TO"),
    ] {
        import(&cli, &["--map", map, "--list-format", "4"]).exits(2).complains(&[part]);
    }
    import(&cli, &["--map", "C:=D:", "--map", r"c:\=E:"]).exits(2).complains(&["mapped twice"]);
    cli.run("pins import pins.json --into nowhere").exits(2).complains(&["no such folder"]);
}

#[test]
fn a_pin_that_cannot_be_carried_over_is_reported_and_the_rest_is_done() {
    let cli = Cli::new();
    let truncated = LinkBuilder::file(&path("cut")).build();
    let list = ListBuilder::new(4).entries([
        pinned(NewEntry::file(&path("good")), 0),
        pinned(NewEntry::file(&path("cut")).with(|entry| entry.link = Link::Raw(truncated[..200].to_vec())), 1),
    ]);
    cli.write(format!("OLD/{NOTEPAD}"), &list.build());
    cli.run("pins export OLD -o pins.json").exits(0);
    fs::create_dir(cli.path("NEW")).unwrap();
    let out = import(&cli, &[&MAP[..], &["--list-format", "4", "-n"]].concat()).exits(1);
    assert!(out.stdout.contains("a plain one was made of its path"), "{}", out.stdout);
    import(&cli, &[&MAP[..], &["--list-format", "4"]].concat()).exits(0);
    let new = sound(&cli, format!("NEW/{NOTEPAD}"));
    assert_eq!(paths(&new).len(), 2);
    assert_eq!(links(&cli, &format!("NEW/{NOTEPAD}"))[1]["target"], r"D:\Profiles\new\Documents\cut.txt");

    // What no link can be made of.
    let mut file = read_json(&cli, "pins.json");
    file["applications"][0]["pins"][1]["path"] = format!("relative {}", "x".repeat(400)).into();
    file["applications"][0]["pins"][1]["link"] = Value::Null;
    cli.write("pins.json", &serde_json::to_vec(&file).unwrap());
    fs::remove_file(cli.path("NEW").join(NOTEPAD)).unwrap();
    let out = import(&cli, &[&MAP[..], &["--list-format", "4"]].concat()).exits(3);
    assert!(out.stderr.contains("1 pin not carried over: relative xxx"), "{}", out.stderr);
    assert_eq!(paths(&sound(&cli, format!("NEW/{NOTEPAD}"))).len(), 1);
}

#[test]
fn move_carries_pins_in_one_run_with_one_undo_and_only_reads_the_source() {
    let cli = profile();
    let below = ["AppData", "Roaming", "Microsoft", "Windows", "Recent", "AutomaticDestinations"];
    let lists = |user: &str| ["Users", user].iter().chain(&below).collect::<PathBuf>();
    cli.write(lists("old").join(NOTEPAD), &notepad(4).build());
    cli.write(lists("old").join(EXPLORER), &explorer(4).build());
    cli.write(lists("new").join(NOTEPAD), &ListBuilder::files(6, 2).build());
    let before = cli.snapshot();
    let words = |options: &[&str]| {
        let (from, into) = (Path::new("Users").join("old"), Path::new("Users").join("new"));
        let paths = [from, into].map(|path| path.to_string_lossy().into_owned());
        let fixed = ["pins", "move", paths[0].as_str(), paths[1].as_str()];
        cli.run_words(fixed.iter().chain(&MAP).chain(options))
    };
    words(&["--dry-run"]).exits(1);
    assert_eq!(cli.snapshot(), before);
    let out = words(&[]).exits(0);
    assert_eq!(paths(&sound(&cli, lists("new").join(NOTEPAD))).len(), 3);
    assert_eq!(sound(&cli, lists("new").join(EXPLORER)).header.version, 6);
    assert_eq!(cli.read(lists("old").join(NOTEPAD)), notepad(4).build());
    words(&[]).exits(0).says(&["2 unchanged"]);
    cli.run_words(out.undo().split_whitespace().skip(1)).clean();
    assert_eq!(cli.snapshot(), before);
    words(&["--app", "notepad"]).exits(0).says(&["1 file changed"]);
    cli.run("pins move OLD OLD").exits(2).complains(&["same folder"]);
}

#[test]
fn pins_are_listed_with_the_state_of_their_targets() {
    let cli = profile();
    for file in ["Users/old/Documents/plan.txt", "Windows/win.ini"] {
        cli.write(Path::new("drive").join(file), b"");
    }
    fs::create_dir_all(cli.path("e/archive")).unwrap();
    let json = cli.run("pins list --drive C=drive --drive E=e --format json OLD").clean().json();
    let file = json["files"].as_array().unwrap().iter().find(|file| file["app_id"] == NOTEPAD[..16]).unwrap();
    let rows: Vec<_> =
        file["pins"].as_array().unwrap().iter().map(|pin| (&pin["order"], &pin["id"], &pin["status"])).collect();
    let row = |order: i32, id: u64, status: &str| (json!(order), json!(id), json!(status));
    let expected = [row(0, 2, "missing"), row(1, 4, "there"), row(2, 1, "unknown")];
    assert!(rows.into_iter().eq(expected.iter().map(|(a, b, c)| (a, b, c))), "{file}");
    assert_eq!(json["totals"], json!({"files": 2, "pins": 5, "there": 1, "missing": 2, "unknown": 2}));
    cli.run("pins list OLD").clean().says(&[
        "Notepad 9b9cdc69c1c24e2b",
        "Target",
        r"E:\archive\Größe 日本.txt",
        "5 pins in 2 lists",
    ]);
    assert_eq!(cli.run("pins list --format csv OLD").clean().csv().len(), 5);
    assert_eq!(cli.run("pins list --format jsonl OLD").clean().json_lines().len(), 2);

    // What is missing is unpinned and stays in the list, or is dropped.
    cli.run("pins remove OLD --missing --drive C=drive --drive E=e").exits(0).says(&["2 files changed"]);
    let list = sound(&cli, format!("OLD/{NOTEPAD}"));
    assert_eq!((paths(&list).len(), list.entries.len()), (2, 4));
    cli.run("restore").exits(0);
    cli.run("pins remove OLD --missing --delete --drive C=drive --drive E=e").exits(0);
    let list = sound(&cli, format!("OLD/{NOTEPAD}"));
    assert_eq!((paths(&list).len(), list.entries.len(), list.streams.len()), (2, 3, 3));
    let explorer = sound(&cli, format!("OLD/{EXPLORER}"));
    assert_eq!(explorer.entries.len(), 2);
}

#[test]
fn entries_are_unpinned_by_id_and_stay_as_history() {
    let cli = profile();
    let name = format!("OLD/{NOTEPAD}");
    let before = List::at(cli.path(&name));
    let bytes = cli.read(&name);
    cli.run(&format!("pins remove {name} --entry 4 -n")).exits(1).says(&["is no longer pinned"]);
    assert_eq!(cli.read(&name), bytes);
    let out = cli.run(&format!("pins remove {name} --entry 4")).exits(0);
    let after = sound(&cli, &name);
    assert_eq!(pins(&after), [(2, r"E:\archive\Größe 日本.txt"), (1, r"\\srv\share\team\list.txt")]);
    assert_eq!(
        (&after.streams, after.header.total, after.header.actions),
        (&before.streams, before.header.total, before.header.actions)
    );
    assert_eq!(after.ids(), before.ids());
    cli.run_words(out.undo().split_whitespace().skip(1)).clean();
    assert_eq!(cli.read(&name), bytes);
    cli.run(&format!("pins remove {name} --entry 3")).exits(4).complains(&["no pinned entry has the id 3"]);
    cli.run(&format!("pins remove {name} --entry 3 4")).exits(3).complains(&["no pinned entry has the id 3"]);
    cli.run("pins remove OLD --entry 3").exits(2).complains(&["name one file"]);
}

#[test]
fn pins_are_put_in_another_order() {
    let cli = profile();
    let name = format!("OLD/{NOTEPAD}");
    let before = List::at(cli.path(&name));
    cli.run(&format!("pins reorder {name} 1 4")).exits(0);
    let after = sound(&cli, &name);
    assert_eq!(pins(&after).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 4, 2]);
    assert_eq!((&after.streams, &after.header, after.ids()), (&before.streams, &before.header, before.ids()));
    cli.run(&format!("pins reorder {name} 1")).clean().says(&["1 unchanged"]);
    cli.run(&format!("pins reorder {name} 2 2")).exits(2).complains(&["named twice"]);
    cli.run(&format!("pins reorder {name} 9")).exits(4).complains(&["no pinned entry has the id 9"]);
}

#[test]
fn a_target_is_pinned_at_a_place_and_moved_there_when_it_is_pinned() {
    let cli = profile();
    let name = format!("OLD/{NOTEPAD}");
    let add = |target: &str, options: &[&str]| {
        cli.run_words([&["pins", "add", target, "--app", "notepad", "--into", "OLD"], options].concat())
    };
    add(r"C:\new folder\", &["--at", "1"]).exits(0);
    let list = sound(&cli, &name);
    assert_eq!(pins(&list).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [2, 5, 4, 1]);
    assert_eq!(paths(&list)[1], r"C:\new folder");
    assert_eq!(list.ids()[0], 5, "used last");
    let link = &links(&cli, &name)[1];
    assert_eq!((&link["target"], &link["id_list_path"]), (&json!(r"C:\new folder"), &json!(r"This PC\C:\new folder")));
    add(r"c:\NEW folder", &[]).exits(0).says(&["1 unchanged"]);
    add(r"C:\new folder", &["--at", "9"]).exits(0);
    assert_eq!(paths(&sound(&cli, &name))[3], r"C:\new folder");
    add(&path("history"), &["--at", "0"]).exits(0);
    let list = sound(&cli, &name);
    assert_eq!((paths(&list)[0], list.entries.len()), (path("history").as_str(), 5));
    for target in ["https://example.org/a", "::{26EE0668-A00A-44D7-9371-BEB064C98683}", r"\\srv\share\x.txt"] {
        add(target, &[]).exits(0);
        assert_eq!(paths(&sound(&cli, &name)).last(), Some(&target));
    }
    for target in ["", r"C:\a\..\b", "C:\\a\nb"] {
        add(target, &[]).exits(2);
    }
    // An application without a list gets one in the format of those beside it.
    cli.run_words(["pins", "add", r"C:\clip.mp4", "--app", "faef7def55a1d4b", "--into", "OLD"]).exits(0);
    assert_eq!(sound(&cli, "OLD/faef7def55a1d4b.automaticDestinations-ms").header.version, 4);
    cli.run("pins add C:\\a --app nothing-of-that-name --into OLD").exits(2);
}

#[test]
fn export_overwrites_nothing_and_takes_only_what_was_asked_for() {
    let cli = profile();
    let before = cli.read("pins.json");
    cli.run("pins export OLD -o pins.json").exits(4).complains(&["nothing is overwritten"]);
    assert_eq!(cli.read("pins.json"), before);
    cli.run("pins export OLD -o OLD/pins.json").exits(2);
    let one = cli.run("pins export OLD --app notepad -o -").clean().json();
    assert_eq!(one["applications"].as_array().unwrap().len(), 1);
    assert_eq!(one["applications"][0]["app_name"], "Notepad");
    import(&cli, &["--list-format", "4", "--app", "explorer"]).exits(0).says(&["1 file changed"]);
    assert!(!cli.path("NEW").join(NOTEPAD).exists());
}

#[cfg(unix)]
#[test]
fn a_pins_file_is_written_to_standard_output_and_read_from_standard_input() {
    let cli = profile();
    let jlfix = env!("CARGO_BIN_EXE_jlfix");
    let line = format!("'{jlfix}' pins export OLD -o - | '{jlfix}' pins import - --into NEW --list-format 4");
    cli.shell(&line).clean().says(&["2 files changed"]);
    assert_eq!(paths(&sound(&cli, format!("NEW/{NOTEPAD}"))).len(), 3);
    cli.shell(&format!("head -c 17000000 /dev/zero | '{jlfix}' pins import - --into NEW")).exits(4);
}

#[cfg(unix)]
#[test]
fn no_file_outside_the_folder_is_written() {
    use std::os::unix::fs::symlink;

    let cli = profile();
    fs::create_dir(cli.path("outside")).unwrap();
    cli.write(format!("outside/{NOTEPAD}"), &ListBuilder::files(4, 3).build());
    let before = cli.snapshot();
    symlink(cli.path("outside").join(NOTEPAD), cli.path("NEW").join(NOTEPAD)).unwrap();
    let out = import(&cli, &["--app", "notepad"]).exits(4);
    assert!(out.stderr.contains("symbolic link"), "{}", out.stderr);
    fs::create_dir(cli.path("profile")).unwrap();
    symlink(cli.path("outside"), cli.path("profile").join("AutomaticDestinations")).unwrap();
    let out = cli.run("pins import pins.json --into profile").exits(4);
    assert!(out.stderr.contains("refused"), "{}", out.stderr);
    fs::remove_file(cli.path("NEW").join(NOTEPAD)).unwrap();
    fs::remove_dir_all(cli.path("profile")).unwrap();
    assert_eq!(cli.snapshot(), before);
}

/// Every automatic list of the corpus that has pins, with three mappings.
#[test]
fn pins_of_real_lists_come_to_an_empty_profile() {
    let Some(corpus) = support::skip::corpus() else { return };
    let files = walkdir::WalkDir::new(corpus.join("jumplists")).into_iter().filter_map(Result::ok);
    let mut with_pins = 0;
    for real in files.map(walkdir::DirEntry::into_path).filter(|path| path.is_file()) {
        let name = real.file_name().unwrap().to_string_lossy().into_owned();
        let cli = Cli::new();
        let out =
            cli.run_words(["pins".as_ref(), "export".as_ref(), real.as_os_str(), "-o".as_ref(), "pins.json".as_ref()]);
        if out.code != 0 || read_json(&cli, "pins.json")["applications"] == json!([]) {
            continue;
        }
        with_pins += 1;
        let list = List::of(&fs::read(&real).unwrap());
        let shown = cli
            .run_words(["show".as_ref(), "--links".as_ref(), "--format".as_ref(), "json".as_ref(), real.as_os_str()])
            .json();
        let entries = shown["files"][0]["entries"].as_array().unwrap().clone();
        let target =
            entries.iter().find_map(|entry| entry["link"]["target"].as_str().filter(|_| entry["pinned"] == true));
        let user = target.unwrap().split('\\').nth(2).unwrap().to_owned();
        let of_user = format!(r"C:\Users\{user}=C:\Users\somebody else");
        let both = format!(r"C:\Users\{user}=D:\Profiles\me");
        for maps in [vec![of_user.as_str()], vec!["C:=E:"], vec![both.as_str(), "C:=E:"]] {
            let folder = format!("new{}", maps.concat().len());
            fs::create_dir(cli.path(&folder)).unwrap();
            let version = list.header.version.to_string();
            let mut words = vec!["pins", "import", "pins.json", "--into", &folder, "--list-format", &version];
            maps.iter().for_each(|map| words.extend(["--map", map]));
            cli.run_words(&words).exits(0);
            let file = format!("{folder}/{name}");
            let new = sound(&cli, &file);
            assert_eq!(paths(&new), paths_of(&list), "knownfolder: names stay");
            let old: Vec<String> = pinned_targets(&entries);
            let mapped = old.iter().map(|path| {
                let path = if maps[0] == "C:=E:" { path.replace("C:", "E:") } else { path.clone() };
                path.replace(&format!(r"C:\Users\{user}"), maps[0].split('=').nth(1).unwrap())
            });
            let found: Vec<String> =
                links(&cli, &file).iter().map(|link| link["target"].as_str().unwrap().to_owned()).collect();
            assert_eq!(found, mapped.collect::<Vec<_>>());
            cli.run_words(&words).exits(0).says(&["1 unchanged"]);
        }
    }
    assert!(with_pins >= 3, "{with_pins} lists with pins");
}

/// The paths of the pins, whose numbers need not be without gaps.
fn paths_of(list: &List) -> Vec<&str> {
    let mut pinned: Vec<_> = list.entries.iter().filter(|entry| entry.pin != -1).collect();
    pinned.sort_by_key(|entry| entry.pin);
    pinned.into_iter().map(|entry| entry.path.as_str()).collect()
}

fn pinned_targets(entries: &[Value]) -> Vec<String> {
    let mut pinned: Vec<_> = entries.iter().filter(|entry| entry["pinned"] == true).collect();
    pinned.sort_by_key(|entry| entry["pin"].as_i64());
    pinned.into_iter().map(|entry| entry["link"]["target"].as_str().unwrap().to_owned()).collect()
}
