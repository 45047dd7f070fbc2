//! The real files: what is told of them is what independent parsers read in them, and what is pruned of them is right
//! by a judge that shares no code with this project.
//!
//! Without the corpus (`JLFIX_CORPUS`, or `../shared/corpus` beside the checkout) these tests say that they skip.

use crate::support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::build::{ListBuilder, Property, StoreBuilder};
use support::cli::{AUTOMATIC, Cli, Output, samples};
use support::skip::{beside, corpus, skip};

/// The files of a folder and the folders in it, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Runs the binary on a folder of the corpus.
fn run(words: &[&str], folder: &Path) -> Output {
    Cli::new().run_words(words.iter().map(AsRef::as_ref).chain([folder.as_os_str()]))
}

/// What is told of each jump list of the corpus, by the SHA-256 of the file.
fn told(corpus: &Path) -> BTreeMap<String, Value> {
    let out = run(&["show", "--links", "--format", "jsonl"], &corpus.join("jumplists")).clean();
    let told = out.json_lines().into_iter().map(|file| {
        let content = fs::read(file["path"].as_str().unwrap()).unwrap();
        (Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect(), file)
    });
    told.collect()
}

/// A FILETIME as it is told.
fn time(ticks: &Value) -> Value {
    match ticks.as_u64() {
        None | Some(0) => Value::Null,
        Some(ticks) => json!(jlfix::format::time::FileTime(ticks).to_string()),
    }
}

/// Every field of an entry of `expected.json`, and where it is told.
fn entry_fields(entry: &Value) -> Vec<(&'static str, Value)> {
    let link = &entry["lnk"];
    let drive = |number: &Value| {
        let words = ["unknown", "no_root", "removable", "fixed", "remote", "cdrom", "ramdisk"];
        number.as_u64().map_or(Value::Null, |number| json!(words[number as usize]))
    };
    let lower = |text: &Value| text.as_str().map_or(Value::Null, |text| json!(text.to_lowercase()));
    let mut fields = vec![
        ("/id", entry["entry"].clone()),
        ("/position", entry["mru"].clone()),
        ("/pin", entry["pin"].clone()),
        ("/pinned", entry["pinned"].clone()),
        ("/score", entry["score"].clone()),
        ("/last_access", time(&entry["last_access"])),
        ("/last_access", entry["last_access_iso"].clone()),
        ("/host", if entry["hostname"] == "" { Value::Null } else { entry["hostname"].clone() }),
        ("/path", entry["path"].clone()),
        ("/checksum", entry["checksum"].clone()),
        ("/link/file_size", link["file_size"].clone()),
        ("/link/created", time(&link["ctime"])),
        ("/link/created", link["ctime_iso"].clone()),
        ("/link/modified", time(&link["mtime"])),
        ("/link/modified", link["mtime_iso"].clone()),
        ("/link/accessed", time(&link["atime"])),
        ("/link/accessed", link["atime_iso"].clone()),
        ("/link/local_path", link["local_path"].clone()),
        ("/link/drive_type", drive(&link["drive_type"])),
        ("/link/volume_serial", lower(&link["vol_serial"])),
        ("/link/volume_label", link["vol_label"].clone()),
        ("/link/machine_id", link["machine_id"].clone()),
        ("/link/name", link["description"].clone()),
        ("/link/relative_path", link["relative_path"].clone()),
        ("/link/working_dir", link["working_dir"].clone()),
        ("/link/arguments", link["arguments"].clone()),
        ("/link/icon", link["icon_location"].clone()),
    ];
    // Format 1 counts no opens, and says nothing of them.
    if let Some(interactions) = entry.get("interactions") {
        fields.push(("/interactions", interactions.clone()));
    }
    fields
}

#[test]
fn every_value_that_independent_parsers_read_in_the_real_lists_is_told() {
    let Some(corpus) = corpus() else { return };
    let expected: Value = serde_json::from_slice(&fs::read(corpus.join("expected.json")).unwrap()).unwrap();
    let told = told(&corpus);
    assert_eq!(told.len(), 46);
    let mut compared = 0;
    let mut differences = Vec::new();
    for (hash, file) in expected["automatic"].as_object().unwrap() {
        let have = &told[hash];
        let mut hold = |place: String, have: &Value, want: Value| {
            compared += 1;
            // Singles, which some parsers rounded on their way.
            let near = |have: f64| want.as_f64().is_some_and(|want| have as f32 == want as f32);
            if *have != want && !have.as_f64().is_some_and(near) {
                differences.push(format!("{}: {place}: {have}, expected {want}", file["path"]));
            }
        };
        hold("kind".to_owned(), &have["kind"], json!("automatic"));
        hold("size".to_owned(), &have["size"], file["size"].clone());
        let header = &file["destlist"];
        hold("format_version".to_owned(), &have["format_version"], header["version"].clone());
        for (name, field) in [
            ("count", "entries"),
            ("pinned", "pinned"),
            ("total", "float12"),
            ("last_id", "last_entry"),
            ("actions", "last_revision"),
        ] {
            hold(format!("header {name}"), &have["header"][name], header[field].clone());
        }
        let empty = Vec::new();
        let entries = file["entries"].as_array().unwrap_or(&empty);
        hold("entries_count".to_owned(), &have["entries_count"], json!(entries.len()));
        let pinned = entries.iter().filter(|entry| entry["pinned"] == true).count();
        hold("pinned_count".to_owned(), &have["pinned_count"], json!(pinned));
        for (entry, have) in entries.iter().zip(have["entries"].as_array().unwrap()) {
            for (pointer, want) in entry_fields(entry) {
                hold(format!("entry {}{pointer}", entry["entry"]), have.pointer(pointer).unwrap_or(&Value::Null), want);
            }
            let stream = format!("{:x}", entry["entry"].as_u64().unwrap());
            hold(format!("size of {stream}"), &have["link"]["size"], file["streams"][&stream].clone());
            // LnkParse3 and others tell the share; here the whole path is told, of which it is the start.
            let share = entry["lnk"]["network_share"].as_str();
            let network = have["link"]["network_path"].as_str();
            let agree = match (share, network) {
                (Some(share), Some(network)) => network.starts_with(share),
                (share, network) => share == network,
            };
            hold(
                format!("entry {}: network path {network:?}, share {share:?}", entry["entry"]),
                &json!(agree),
                json!(true),
            );
        }
    }
    for (hash, file) in expected["custom"].as_object().unwrap() {
        let have = &told[hash];
        let list = |values: Vec<Value>| Value::from(values);
        let categories = have["categories"].as_array().unwrap();
        let column = |name: &str| list(categories.iter().map(|category| category[name].clone()).collect());
        let kinds = list(
            categories
                .iter()
                .map(|category| match category["kind"].as_str() {
                    Some("named") => json!(0),
                    Some("known") => json!(1),
                    _ => json!(2),
                })
                .collect(),
        );
        let names = list(
            categories
                .iter()
                .map(|category| if category["kind"] == "named" { category["name"].clone() } else { Value::Null })
                .collect(),
        );
        for (what, have, want) in [
            ("kind", have["kind"].clone(), json!("custom")),
            ("size", have["size"].clone(), file["size"].clone()),
            ("categories", json!(categories.len()), file["categories"].clone()),
            ("types", kinds, file["types"].clone()),
            ("links", column("links"), file["lnks_per_category"].clone()),
            ("declared", column("declared"), file["declared"].clone()),
            ("names", names, file["names"].clone()),
            ("known ids", column("known_id"), file["known_ids"].clone()),
        ] {
            compared += 1;
            if have != want {
                differences.push(format!("{}: {what}: {have}, expected {want}", file["path"]));
            }
        }
    }
    assert!(differences.is_empty(), "{} of {compared} differ:\n{}", differences.len(), differences.join("\n"));
    assert!(compared > 5_000, "only {compared} values");
}

#[test]
fn nothing_is_wrong_with_any_real_list() {
    let Some(corpus) = corpus() else { return };
    let lists = corpus.join("jumplists");
    let out = run(&["scan"], &lists).clean();
    out.says(&["46 files, "]);
    let document = run(&["check", "--format", "json"], &lists).clean().json();
    let findings = document["files"].as_array().unwrap().iter().flat_map(|file| file["findings"].as_array().unwrap());
    assert!(findings.clone().all(|finding| finding["severity"] == "info"), "{:?}", findings.collect::<Vec<_>>());
}

/// Lists of shapes that no real file at hand has.
fn generated() -> Vec<(&'static str, Vec<u8>)> {
    let store = || StoreBuilder::new().named("Reviewed", Property::Text("twice".to_owned())).build();
    let with_stores = (0..9)
        .fold(ListBuilder::files(4, 20).pin(3), |list, at| list.edit(2 * at, |entry| entry.property_store = store()));
    // Links as large as they can be in the mini stream fill more FAT sectors than the header has room for.
    let mut large = ListBuilder::folders(4, 2_000).pin(1_999);
    for (at, entry) in large.entries.iter_mut().enumerate() {
        let block = vec![at as u8; 3_000 + at % 97];
        *entry = entry.clone().link(|link| link.extra = vec![(0xA000_00FF, block)]);
    }
    let large = large.build();
    assert!(large.len() > 109 * 128 * 512, "{} bytes", large.len());
    vec![
        ("format 2", ListBuilder::files(2, 70).ranked().pin(5).build()),
        ("format 5", ListBuilder::folders(5, 70).ranked().pin(1).pin(60).build()),
        ("property stores", with_stores.build()),
        ("pins at the far end", ListBuilder::folders(6, 90).ranked().pin(89).pin(88).pin(87).build()),
        ("more than 109 FAT sectors", large),
    ]
}

/// Every automatic list that nothing is wrong with: real ones, samples, generated ones. Where it came from, its name
/// and its bytes.
fn healthy() -> Vec<(String, Vec<u8>)> {
    let real = corpus().map(|corpus| files(&corpus.join("jumplists"))).unwrap_or_default();
    let samples =
        files(&samples()).into_iter().filter(|path| !path.components().any(|part| part.as_os_str() == "damaged"));
    let automatic = real.into_iter().chain(samples).filter(|path| path.extension().is_some_and(|end| end == AUTOMATIC));
    let read = automatic.map(|path| (path.to_string_lossy().into_owned(), fs::read(path).unwrap()));
    read.chain(generated().into_iter().map(|(name, bytes)| (name.to_owned(), bytes))).collect()
}

/// Holds pairs of an original and what `prune --keep` made of it to the outside judge, which prints a line a breach.
/// Its code is loaded once for all of them. What takes minutes for 12,000 entries is prepared: olefile looks a name up
/// by going through all of them, and the judge writes an entry's name anew each time it is asked for.
const JUDGE: &str = r#"
import importlib.util, sys
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("oracle", sys.argv[1])
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

find = oracle.olefile.OleFileIO._find
def indexed(self, name):
    if not hasattr(self, "by_name"):
        self.by_name = {}
        for kid in self.root.kids:
            self.by_name.setdefault(kid.name.lower(), kid.sid)
    path = name.split("/") if isinstance(name, str) else name
    sid = self.by_name.get(path[0].lower()) if len(path) == 1 else None
    return find(self, name) if sid is None else sid
oracle.olefile.OleFileIO._find = indexed

begin = oracle.Entry.__init__
name = oracle.Entry.stream.fget
del oracle.Entry.stream
def named(self, version, raw):
    begin(self, version, raw)
    self.stream = name(self)
oracle.Entry.__init__ = named

read = None
for line in sys.stdin:
    original, new, keep = line.rstrip("\n").split("\t")
    if read is None or read.path != original:
        read = oracle.JumpList(original)
    for breach in oracle.compare_pruned(read, oracle.JumpList(new), int(keep)):
        print(new, breach)
"#;

/// What the judge says of the pairs, a line each of original, new and number kept; none where it cannot be asked.
fn judged(pairs: &str) -> Option<String> {
    let oracle = beside("JLFIX_ORACLE", "tools/oracle.py", "outside judge")?;
    let python = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.arg("-c").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn()
    };
    let has_olefile = python(&["import olefile"]).and_then(std::process::Child::wait_with_output);
    if !has_olefile.is_ok_and(|out| out.status.success()) {
        skip("no python3 with olefile for the outside judge");
        return None;
    }
    let mut child = python(&[JUDGE, &oracle.to_string_lossy()]).unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(pairs.as_bytes()).unwrap();
    drop(input);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8(out.stdout).unwrap())
}

/// True for a list with a DestList that says something: the judge has no word on the others.
fn has_entries(bytes: &[u8]) -> bool {
    let compound = jlfix::salvage::read(bytes, &jlfix::limits::Limits::default()).unwrap();
    compound.stream("DestList").is_some_and(|stream| !stream.data.is_empty())
}

/// Where the list at this place of [`healthy`] lies: a folder a list, as many have the same name.
fn place(at: usize) -> String {
    format!("{at:03}/f01b4d95cf55d32a.{AUTOMATIC}")
}

#[test]
fn what_is_pruned_is_right_by_an_outside_judge_and_comes_back_to_the_byte() {
    judge(&healthy());
}

#[test]
#[ignore = "the judge alone takes a minute: cargo test --test cli -- --ignored corpus::"]
fn what_is_pruned_of_12_000_entries_is_right_by_an_outside_judge_and_comes_back_to_the_byte() {
    let list = ListBuilder::folders(4, 12_000).ranked().pin(11_999).pin(40).build();
    judge(&[("12,000 entries".to_owned(), list)]);
}

/// Prunes and restores every list, and holds what was pruned to the judge.
fn judge(healthy: &[(String, Vec<u8>)]) {
    // Each number kept has a place of its own, so that they can run side by side.
    let pruned = std::thread::scope(|scope| {
        let keeps = [0, 1, 3, 50].map(|keep| (keep, scope.spawn(move || pruned_and_restored(healthy, keep))));
        keeps.map(|(keep, pruned)| (keep, pruned.join().unwrap()))
    });
    let originals = Cli::new();
    let mut pairs = String::new();
    for (at, (from, bytes)) in healthy.iter().enumerate() {
        let original = originals.write(place(at), bytes);
        for (keep, cli) in &pruned {
            if has_entries(bytes) {
                let new = cli.path(place(at));
                writeln!(pairs, "{}\t{}\t{keep}", original.display(), new.display()).unwrap();
            } else {
                assert!(cli.read(place(at)) == *bytes, "{from}: there is nothing to prune");
            }
        }
    }
    let Some(said) = judged(&pairs) else { return };
    for line in said.lines().take(20) {
        let at: usize = line.split('/').rev().nth(1).unwrap().parse().unwrap();
        println!("{}: {line}", healthy[at].0);
    }
    assert_eq!(said, "");
}

/// Prunes every list, brings it back and undoes that, so that the lists are pruned again in the end.
fn pruned_and_restored(healthy: &[(String, Vec<u8>)], keep: usize) -> Cli {
    let cli = Cli::new();
    for (at, (_, bytes)) in healthy.iter().enumerate() {
        cli.write(place(at), bytes);
    }
    let before = cli.snapshot();
    cli.run(&format!("prune --keep {keep} .")).clean();
    let after = cli.snapshot();
    for (command, expected) in [("restore", &before), ("restore --redo", &after)] {
        cli.run(command).clean();
        let now = cli.snapshot();
        assert!(now.keys().eq(expected.keys()));
        for (path, bytes) in expected {
            assert!(now[path] == *bytes, "--keep {keep}: {} is not what it was", path.display());
        }
    }
    cli
}

/// The places where the real lists hold something that is in use no more, found by hand: with a CRC-64 and LnkParse3 over
/// the bytes of free sectors and slack.
#[test]
fn what_is_deleted_in_the_real_lists_is_found_and_nothing_else() {
    let Some(corpus) = corpus() else { return };
    let out = run(&["show", "--deleted", "--format", "jsonl"], &corpus.join("jumplists")).clean();
    let mut told = BTreeMap::new();
    let mut copies = 0;
    for file in out.json_lines() {
        copies += file["deleted_copies"].as_u64().unwrap();
        let items = file["deleted"].as_array().unwrap().clone();
        if !items.is_empty() {
            told.insert(file["app_id"].as_str().unwrap().to_owned(), items);
        }
    }
    assert_eq!(told.keys().map(String::as_str).collect::<Vec<_>>(), ["5d696d521de238c3", "f01b4d95cf55d32a"]);
    assert_eq!(copies, 13, "of entries, in the two lists of Quick Access");

    // Explorer's list as it was before its scores aged; the first two lie in what is now the end of the mini stream.
    let entries = &told["f01b4d95cf55d32a"];
    let place = |item: &Value| json!([item["id"], item["where"], item["offset"], item["size"], item["whole"]]);
    assert_eq!(place(&entries[0]), json!([26, "free_mini_sector", 36512, 222, true]));
    assert_eq!(place(&entries[1]), json!([25, "free_mini_sector", 36734, 218, true]));
    assert_eq!(place(&entries[2]), json!([24, "free_sector", 36952, 218, true]));
    assert_eq!(place(&entries[12]), json!([14, "free_sector", 39158, 224, true]));
    assert_eq!(entries.len(), 13);
    assert!(entries.iter().all(|item| item["live"] == "other" && item["differs"] == json!(["score"])));
    assert_eq!(entries[1]["entry"]["path"], r"C:\Users\u0041\Desktop\sim\files\video\mov");

    // Chrome wrote a shorter list over a longer one.
    let links: Vec<Value> = told["5d696d521de238c3"].iter().map(place).collect();
    assert_eq!(
        links,
        [json!([null, "after_categories", 11472, 2121, true]), json!([null, "after_categories", 13609, 1097, true])]
    );
    let row = run(&["-q", "export", "--deleted", "--format", "jsonl", "--to", "-"], &corpus.join("jumplists")).clean();
    let arguments: Vec<String> = row
        .json_lines()
        .iter()
        .filter(|row| row["deleted"] == true && row["source_kind"] == "custom")
        .map(|row| row["arguments"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        arguments,
        [
            "--win-jumplist-action=most-visited http://192.168.50.33:5000/",
            "--win-jumplist-action=recently-closed http://192.168.50.33:3000/"
        ]
    );
}

/// The real links with characters beyond ASCII in their ANSI strings, found by looking through all strings of all links;
/// what they mean is what the names in their item ID lists, which are in UTF-16, spell.
#[test]
fn real_links_in_other_code_pages_come_out_as_the_characters_that_they_mean() {
    let Some(corpus) = corpus() else { return };
    let samples = corpus.join("links/Matmaus+LnkParse3/tests/samples");
    let link = |name: &str, page: &str| {
        let out = run(&["--code-page", page, "show", "--links", "--format", "json"], &samples.join(name));
        out.json()["files"][0]["entries"][0]["link"].take()
    };
    let told = |name: &str, page: &str, field: &str| link(name, page)[field].as_str().unwrap_or_default().to_owned();
    for (name, page, field, means) in [
        (
            "network_info",
            "1250",
            "network_path",
            "01.OBCHOD - BRO\u{17d}URY - Prodejn\u{ed} a technick\u{e9} informace",
        ),
        (
            "decoding_error3",
            "1251",
            "local_path",
            "C:\\Users\\\u{414}\u{438}\u{43c}\u{430}\\Desktop\\PixelMod\\Mod for Pixelmon\\Error Fix.bat",
        ),
        ("decoding_error4", "1252", "local_path", "C:\\Users\\admin\\AppData\\Local\\Temp\\MZ\u{90}"),
        ("sample5", "1252", "local_path", "E:\\\u{a0}\\\u{a0}.exe"),
    ] {
        let text = told(name, page, field);
        assert!(text.contains(means), "{name}: {text}");
    }
    // In a code page that is not theirs the bytes are still told, as other characters; the ID list needs none.
    let spelled = told("decoding_error3", "1252", "id_list_path");
    assert!(spelled.contains("Desktop\\PixelMod\\Mod for Pixelmon"), "{spelled}");
}
