//! `jlfix export`: every entry in the shape of other tools, nothing lost, and nothing written where it must not be.

use crate::support;
use crate::support::skip::skip;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jlfix::export::{AUTOMATIC_COLUMNS, COLUMNS, CUSTOM_COLUMNS};
use jlfix::format::time::FileTime;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::build::{CustomBuilder, Link, LinkBuilder, ListBuilder, NewEntry, Property, StoreBuilder, time, utf16};
use support::cli::{CHROME, Cli, EXPLORER, NOTEPAD};

/// The only file in `folder` whose name ends so.
#[track_caller]
pub(crate) fn only(folder: &Path, ending: &str) -> PathBuf {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<PathBuf> = names.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    assert_eq!(found.len(), 1, "{ending}: {found:?}");
    found[0].clone()
}

pub(crate) type Rows = Vec<BTreeMap<String, String>>;

pub(crate) fn csv_rows(bytes: &[u8]) -> Rows {
    csv::Reader::from_reader(bytes).deserialize().map(Result::unwrap).collect()
}

/// The rows of one of the two files of `--format jlecmd` in `out`.
pub(crate) fn jlecmd(cli: &Cli, ending: &str) -> Rows {
    csv_rows(&fs::read(only(&cli.path("out"), ending)).unwrap())
}

/// The rows of `--format jsonl`.
pub(crate) fn jsonl(cli: &Cli, paths: &str) -> Vec<Value> {
    cli.run(&format!("-q export --format jsonl --to - {paths}")).clean().json_lines()
}

#[test]
fn jlecmds_columns_hold_what_jlecmd_puts_there() {
    let properties = StoreBuilder::new().property(support::build::FOLDER_STORE_ID, 7, Property::Bool(true)).build();
    let made = |link: &mut LinkBuilder| {
        link.arguments = Some("/p \"a, b\"".to_owned());
        link.working_dir = Some(r"C:\Users\sam".to_owned());
        link.relative_path = Some(r"..\a.txt".to_owned());
        link.label = "System".to_owned();
        link.attributes = 0x21;
    };
    let entry = NewEntry::file(r"C:\Users\sam\a.txt").used(7, "2024-05-03T08:15:00.1234567Z").link(made);
    let list = ListBuilder::new(4)
        .entry(entry.with(|entry| entry.property_store = properties))
        .entry(NewEntry::file(r"\\files\share\b.txt"))
        .entry(NewEntry::url("https://example.org/"))
        .entry(NewEntry::file(r"C:\gone.txt").with(|entry| entry.link = Link::Missing))
        .removed(20)
        .pin(1)
        .build();
    let custom = CustomBuilder::new().tasks(&[LinkBuilder::task(r"C:\Tools\t.exe", "-n", "New")]);
    let custom = custom.named("Größe", &[LinkBuilder::file(r"C:\x.txt")]).known(1).build();
    let cli = Cli::with(&[("in/9b9cdc69c1c24e2b.automaticDestinations-ms", list), (&format!("in/{CHROME}"), custom)]);
    let out = cli.run("export in --format jlecmd --to out").exits(1);
    assert!(out.stdout.is_empty());
    assert!(out.stderr.contains("_AutomaticDestinations.csv, 4 rows"), "{}", out.stderr);

    let text = fs::read(only(&cli.path("out"), "_AutomaticDestinations.csv")).unwrap();
    let header = String::from_utf8_lossy(&text).lines().next().unwrap().to_owned();
    assert_eq!(
        header,
        "SourceFile,SourceCreated,SourceModified,SourceAccessed,AppId,AppIdDescription,HasSps,DestListVersion,\
         LastUsedEntryNumber,MRU,EntryNumber,CreationTime,LastModified,Hostname,MacAddress,Path,InteractionCount,\
         PinStatus,FileBirthDroid,FileDroid,VolumeBirthDroid,VolumeDroid,TargetCreated,TargetModified,TargetAccessed,\
         FileSize,RelativePath,WorkingDirectory,FileAttributes,HeaderFlags,DriveType,VolumeSerialNumber,VolumeLabel,\
         LocalPath,CommonPath,TargetIDAbsolutePath,TargetMFTEntryNumber,TargetMFTSequenceNumber,MachineID,\
         MachineMACAddress,TrackerCreatedOn,ExtraBlocksPresent,Arguments,NetworkDeviceName,\
         NetworkProviderType,Notes"
    );
    assert_eq!(header, AUTOMATIC_COLUMNS.join(","));
    let rows = csv_rows(&text);
    let row = |at: usize, column: &str| rows[at][column].as_str();
    for (column, value) in [
        ("AppId", "9b9cdc69c1c24e2b"),
        ("AppIdDescription", "Notepad"),
        ("HasSps", "True"),
        ("DestListVersion", "4"),
        ("LastUsedEntryNumber", "24"),
        ("MRU", "0"),
        ("EntryNumber", "4"),
        ("LastModified", "2024-05-03 08:15:00"),
        ("Hostname", "desk-01"),
        ("MacAddress", "02:00:5e:10:20:30"),
        ("Path", r"C:\Users\sam\a.txt"),
        ("InteractionCount", "7"),
        ("PinStatus", "False"),
        ("VolumeDroid", "5a1c0f3e-77d2-4c1b-9a64-30c1d2e4f506"),
        ("TargetCreated", "2023-11-02 07:42:11"),
        ("TargetModified", "2024-02-19 09:10:27"),
        ("TargetAccessed", "2024-02-20 16:05:33"),
        ("FileSize", "18432"),
        ("RelativePath", r"..\a.txt"),
        ("WorkingDirectory", r"C:\Users\sam"),
        ("FileAttributes", "FileAttributeReadonly, FileAttributeArchive"),
        ("DriveType", "Fixed storage media (Hard drive)"),
        ("VolumeSerialNumber", "4E2A91C7"),
        ("VolumeLabel", "System"),
        ("LocalPath", r"C:\Users\sam\a.txt"),
        ("TargetIDAbsolutePath", r"This PC\C:\Users\sam\a.txt"),
        ("TargetMFTSequenceNumber", "0x1"),
        ("MachineID", "desk-01"),
        ("MachineMACAddress", "02:00:5e:10:20:30"),
        ("ExtraBlocksPresent", "TrackerDataBaseBlock, PropertyStoreDataBlock"),
        ("Arguments", "/p \"a, b\""),
        ("Notes", ""),
    ] {
        assert_eq!(row(0, column), value, "{column}");
    }
    assert!(row(0, "HeaderFlags").starts_with("HasTargetIdList, HasLinkInfo, HasRelativePath, HasWorkingDir, "));
    assert_eq!(row(0, "CreationTime"), row(0, "TrackerCreatedOn"));
    assert_eq!(row(0, "FileDroid"), row(0, "FileBirthDroid"));
    let mft = row(0, "TargetMFTEntryNumber");
    assert!(mft.starts_with("0x") && mft[2..].chars().all(|c| c.is_ascii_hexdigit() && !c.is_lowercase()), "{mft}");
    assert_eq!([row(1, "PinStatus"), row(1, "DriveType"), row(1, "CommonPath")], ["True", "(None)", "b.txt"]);
    assert_eq!([row(2, "TargetCreated"), row(2, "MachineID"), row(2, "LocalPath")], [""; 3]);
    assert_eq!([row(3, "FileSize"), row(3, "Notes")], ["", "The entry has no link"]);
    assert_eq!(rows.iter().map(|row| row["MRU"].as_str()).collect::<Vec<_>>(), ["0", "1", "2", "3"]);

    let rows = jlecmd(&cli, "_CustomDestinations.csv");
    let columns: BTreeSet<&str> = rows[0].keys().map(String::as_str).collect();
    assert_eq!(columns, CUSTOM_COLUMNS.into_iter().collect());
    let told: Vec<_> = rows.iter().map(|row| (row["EntryName"].as_str(), row["Arguments"].as_str())).collect();
    assert_eq!(told, [("Tasks", "-n"), ("Größe", "")]);
    assert_eq!(rows[0]["LocalPath"], r"C:\Tools\t.exe");
}

#[test]
fn times_are_written_in_the_format_that_is_asked_for() {
    let cli = Cli::with(&[(&format!("in/{NOTEPAD}"), ListBuilder::files(4, 1).build())]);
    let words = ["-q", "export", "in", "--format", "jlecmd", "--to", "out", "--date-format"];
    cli.run_words(words.into_iter().chain(["yyyy/MM/ddTHH:mm:ss.fffffffZ"])).clean();
    let rows = jlecmd(&cli, "_AutomaticDestinations.csv");
    assert_eq!(rows[0]["TargetCreated"], "2023/11/02T07:42:11.1234567Z");
    let out = cli.run_words(words.into_iter().chain(["hh tt"])).exits(2);
    assert!(out.stderr.contains("have \"hh\""), "{}", out.stderr);
}

/// What the flat formats are to keep their promise on: every kind of row.
fn every_kind(cli: &Cli) {
    let orphan = LinkBuilder::file(r"C:\left behind.txt").build();
    let broken = NewEntry::file(r"C:\b.txt").with(|entry| entry.link = Link::Raw(vec![0x4C; 90]));
    let list = ListBuilder::files(6, 3).entry(broken).stream("5f", &orphan);
    let pinned = list.pin(0).ranked().build();
    cli.write(format!("in/Users/Jo Doe/{NOTEPAD}"), &pinned);
    cli.write(format!("in/{EXPLORER}"), &ListBuilder::folders(1, 2).build());
    let task = LinkBuilder::task(r"C:\Tools\t.exe", "-n", "New \"task\"\n2");
    cli.write(format!("in/{CHROME}"), &CustomBuilder::new().tasks(&[task]).build());
    cli.write("in/empty/5f7b5f1e01b83767.automaticDestinations-ms", &ListBuilder::empty().build());
    cli.write("link.lnk", &LinkBuilder::file(r"C:\single.txt").build());
}

#[test]
fn json_lines_and_csv_have_the_same_keys_always_and_they_are_documented() {
    let cli = Cli::new();
    every_kind(&cli);
    let lines = cli.run("-q export --hash --format jsonl --to - in link.lnk").exits(1);
    let table = cli.run("-q export --hash --format csv --to - in link.lnk").exits(1);
    assert_eq!(table.stdout.lines().next().unwrap(), COLUMNS.join(","));
    let (lines, table) = (lines.json_lines(), table.csv());
    assert_eq!((lines.len(), table.len()), (9, 9));
    for (line, row) in lines.iter().zip(&table) {
        assert_eq!(support::cli::keys(line).into_iter().collect::<BTreeSet<_>>(), COLUMNS.iter().copied().collect());
        // Reading a file may set its last access.
        for (key, value) in line.as_object().unwrap().iter().filter(|(key, _)| *key != "source_accessed") {
            let cell = match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                Value::Array(_) | Value::Object(_) => panic!("{key} is not flat: {value}"),
                other => other.to_string(),
            };
            assert_eq!(row[key], cell, "{key}");
        }
        let content = fs::read(cli.path(line["source"].as_str().unwrap())).unwrap();
        let sha: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(line["source_sha256"], sha);
    }
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/export.md")).unwrap();
    let documented: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("| key |"))
        .take_while(|line| line.starts_with('|'))
        .flat_map(|line| line.split('|').nth(1).unwrap().split(", "))
        .filter_map(|key| key.trim().strip_prefix('`')?.strip_suffix('`'))
        .collect();
    assert_eq!(documented, COLUMNS);
}

#[test]
fn each_kind_of_row_tells_what_it_has() {
    let cli = Cli::new();
    every_kind(&cli);
    let rows = cli.run("-q export --format jsonl --to - in link.lnk").exits(1).json_lines();
    let of = |source: &str, position: Value| {
        let fits = |row: &&Value| row["source"].as_str().unwrap().ends_with(source) && row["position"] == position;
        rows.iter().find(fits).unwrap_or_else(|| panic!("{source} {position}"))
    };
    let first = of(NOTEPAD, json!(0));
    for (key, value) in [
        ("source_kind", json!("automatic")),
        ("user", json!("Jo Doe")),
        ("app_name", json!("Notepad")),
        ("format_version", json!(6)),
        ("pinned", json!(true)),
        ("pin", json!(0)),
        ("score", json!(1.0)),
        ("last_access", json!("2024-03-01T08:00:00.0000000Z")),
        ("host", json!("desk-01")),
        ("path", json!(r"C:\Users\sam\Documents\notes 00000.txt")),
        ("path_utf16", json!(null)),
        ("checksum_ok", json!(true)),
        ("mac", json!("02:00:5e:10:20:30")),
        ("object_sequence", json!(0x1A2B)),
        ("moved", json!(false)),
        ("target", json!(r"C:\Users\sam\Documents\notes 00000.txt")),
        ("id_list_path", json!(r"This PC\C:\Users\sam\Documents\notes 00000.txt")),
        ("attribute_names", json!("archive")),
        ("target_created", json!("2023-11-02T07:42:11.1234567Z")),
        ("drive_type", json!("fixed")),
        ("volume_serial", json!("4e2a91c7")),
        ("show_command", json!("normal")),
        ("mft_sequence", json!(1)),
        ("tracker_moved", json!(false)),
        ("extra_blocks", json!("tracker property_store")),
        ("link_properties", json!("System.VolumeId=5a1c0f3e-77d2-4c1b-9a64-30c1d2e4f506")),
        ("problems", json!(null)),
    ] {
        assert_eq!(first[key], value, "{key}");
    }
    let broken = of(NOTEPAD, json!(3));
    assert_eq!(broken["link_size"], 90);
    assert_eq!(broken["target"], Value::Null);
    assert!(broken["problems"].as_str().unwrap().contains("expected 76"), "{}", broken["problems"]);
    let orphan = of(NOTEPAD, Value::Null);
    assert_eq!([&orphan["entry_id"], &orphan["target"]], [&json!(0x5F), &json!(r"C:\left behind.txt")]);
    assert_eq!([&orphan["pinned"], &orphan["last_access"], &orphan["path"]], [&Value::Null; 3]);
    let old = of(EXPLORER, json!(1));
    assert_eq!([&old["interactions"], &old["rank"], &old["format_version"]], [&json!(null), &json!(null), &json!(1)]);
    let task = of(CHROME, json!(0));
    assert_eq!(
        [&task["category"], &task["category_index"], &task["arguments"]],
        [&json!("Tasks"), &json!(0), &json!("-n")]
    );
    assert_eq!(task["link_properties"].as_str().unwrap().split("; ").next(), Some("System.Title=New \"task\"\n2"));
    let single = of("link.lnk", json!(0));
    assert_eq!(
        [&single["source_kind"], &single["app_id"], &single["link_offset"]],
        [&json!("link"), &json!(null), &json!(0)]
    );
}

#[test]
fn nothing_is_written_beside_the_evidence_and_the_evidence_stays_as_it_is() {
    let cli = Cli::new();
    every_kind(&cli);
    let before = cli.snapshot();
    for (line, told) in [
        ("export in --format csv --to in", "it lies in in, which is read from"),
        ("export in --format csv --to in/new/deeper", "it lies in in"),
        ("export in --format csv --to in/../in/empty", "it lies in in"),
        ("export in/empty in --dump-links in/links", "--dump-links in/links: refused"),
        ("export link.lnk --format csv --to .", "--to .: refused"),
        ("export . --format jsonl --to out", "it lies in ., which is read from"),
        // Windows goes back up a path without a look at what is there.
        ("export in --format csv --to nowhere/../in", if cfg!(windows) { "it lies in in" } else { "need a folder" }),
        ("export in --format jlecmd --to -", "jlecmd is two files"),
    ] {
        let out = cli.run(line).exits(2);
        assert!(out.stderr.contains(told) && out.stdout.is_empty(), "{line}: {}", out.stderr);
    }
    for line in ["export in", "export in --format csv", "export in --to out", "export in --format xml --to out"] {
        cli.run(line).exits(2);
    }
    assert_eq!(cli.snapshot(), before);
    for format in ["jlecmd", "jsonl", "csv", "bodyfile", "timesketch"] {
        cli.run(&format!("export in --format {format} --to out/{format} --dump-links out/links")).exits(1);
    }
    let mut after = cli.snapshot();
    after.retain(|path, _| !path.starts_with(cli.path("out")));
    assert_eq!(after, before);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(cli.path("in"), cli.path("elsewhere")).unwrap();
        let out = cli.run("export in --format csv --to elsewhere/x").exits(2);
        assert!(out.stderr.contains("refused"), "{}", out.stderr);
    }
}

#[test]
fn a_file_that_is_there_is_not_overwritten_and_none_is_left_half_done() {
    let cli = Cli::with(&[(&format!("in/{NOTEPAD}"), ListBuilder::files(4, 2).build())]);
    // The name holds the second of the run, so those of the next minute are taken.
    let now = jiff::Timestamp::now();
    for second in 0..90 {
        let stamp = (now + jiff::SignedDuration::from_secs(second)).strftime("%Y%m%d%H%M%S").to_string();
        cli.write(format!("out/{stamp}_JumpLists.csv"), b"mine");
    }
    let before = cli.snapshot();
    let out = cli.run("export in --format csv --to out").exits(4);
    assert!(out.stderr.contains("refused: it is there already, and nothing is overwritten"), "{}", out.stderr);
    assert_eq!(cli.snapshot(), before);
    // What cannot be read at all leaves no empty file that looks like an answer.
    cli.write("bad/x.bin", b"no list");
    let out = cli.run("export bad/x.bin nothing --format jsonl --to fresh").exits(4);
    assert!(out.stderr.contains("x.bin: no jump list") && !out.stderr.contains("wrote"), "{}", out.stderr);
    assert_eq!(fs::read_dir(cli.path("fresh")).map_or(0, Iterator::count), 0);
}

#[test]
fn the_report_tells_what_was_read_and_what_was_not_and_why() {
    let cli = Cli::new();
    cli.write(format!("in/{NOTEPAD}"), &ListBuilder::files(4, 5).build());
    cli.write(format!("in/a/{NOTEPAD}"), &ListBuilder::files(4, 7).edit(0, |entry| entry.checksum = Some(1)).build());
    cli.write(format!("in/{CHROME}"), &CustomBuilder::new().tasks(&[LinkBuilder::file(r"C:\x.txt")]).build());
    let out = cli.run("export in --format csv --to out").exits(1);
    let told: Vec<Vec<&str>> = out.stderr.lines().take(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(told[0], ["Files", "Entries", "Links", "Damaged"]);
    assert_eq!(told[1], ["automatic", "2", "12", "12", "1"]);
    assert_eq!(told[2], ["custom", "1", "1", "1", "0"]);
    assert!(out.stderr.contains("_JumpLists.csv, 13 rows"), "{}", out.stderr);
    cli.write("in/z/f01b4d95cf55d32a.automaticDestinations-ms", &[0; 600 << 10]);
    let out = cli.run("--max-size 1 export in missing --format csv --to out2").exits(3);
    assert!(out.stderr.contains("missing: cannot open"), "{}", out.stderr);
    assert!(out.stderr.contains("not read"), "{}", out.stderr);
    let quiet = cli.run("-q export in --format csv --to -").exits(1);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn two_lists_of_one_name_are_both_exported() {
    let cli = Cli::new();
    for user in ["ann", "bob"] {
        let list = ListBuilder::new(4).entry(NewEntry::file(&format!(r"C:\Users\{user}\x.txt"))).build();
        cli.write(format!("in/Users/{user}/AppData/Roaming/Microsoft/Windows/Recent/{NOTEPAD}"), &list);
    }
    let users: Vec<Value> = jsonl(&cli, "in").iter().map(|row| json!([row["user"], row["path"]])).collect();
    assert_eq!(users, [json!(["ann", r"C:\Users\ann\x.txt"]), json!(["bob", r"C:\Users\bob\x.txt"])]);
    cli.run("-q export in --dump-links links").clean();
    let mut names: Vec<_> =
        fs::read_dir(cli.path("links")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["ann_9b9cdc69c1c24e2b_automatic_1.lnk", "bob_9b9cdc69c1c24e2b_automatic_1.lnk"]);
}

#[test]
fn links_come_out_byte_for_byte_and_none_replaces_another() {
    let cli = Cli::new();
    let links = ["a", "b"].map(|name| LinkBuilder::file(&format!(r"C:\{name}.txt")).build());
    let entry = |link: &[u8]| NewEntry::new(r"C:\x", Link::Raw(link.to_vec())).with(|entry| entry.id = Some(0x1A));
    for (at, link) in links.iter().enumerate() {
        cli.write(format!("in/{at}/{NOTEPAD}"), &ListBuilder::new(4).entry(entry(link)).build());
    }
    let custom = CustomBuilder::new().tasks(&[LinkBuilder::task(r"C:\t.exe", "-n", "New")]).build();
    cli.write(format!("in/{CHROME}"), &custom);
    let user = cli.user().unwrap_or_else(|| "unknown".to_owned());
    let stem = format!("{user}_9b9cdc69c1c24e2b_automatic_1a");
    cli.write(format!("links/{stem}.lnk"), b"mine");
    let out = cli.run("export in --dump-links links").exits(0);
    assert!(out.stderr.contains("wrote 3 links to links"), "{}", out.stderr);
    assert_eq!(cli.read(format!("links/{stem}.lnk")), b"mine");
    assert_eq!(cli.read(format!("links/{stem} (2).lnk")), links[0]);
    assert_eq!(cli.read(format!("links/{stem} (3).lnk")), links[1]);
    let task = LinkBuilder::task(r"C:\t.exe", "-n", "New").build();
    assert_eq!(cli.read(format!("links/{user}_5d696d521de238c3_custom_0.lnk")), task);
    // They are links that this reads, too.
    let rows = jsonl(&cli, &format!("links/{user}_5d696d521de238c3_custom_0.lnk"));
    assert_eq!(rows[0]["target"], r"C:\t.exe");
}

/// A body file is a table with eleven columns, whatever the names hold.
#[test]
fn a_body_file_holds_a_line_an_entry_with_the_times_that_are_known() {
    let cli = Cli::new();
    let odd = NewEntry::file(r"C:\a.txt").used(2, "2024-05-03T08:15:00Z").with(|entry| {
        entry.path = utf16("C:\\a|b\nc\u{2028}.txt");
    });
    let list =
        ListBuilder::new(4).entry(odd).entry(NewEntry::folder(r"C:\Users\sam")).entry(NewEntry::url("https://x/"));
    cli.write(format!("in/Users/sam/{NOTEPAD}"), &list.build());
    cli.write(format!("in/{CHROME}"), &CustomBuilder::new().tasks(&[LinkBuilder::file(r"C:\t.exe")]).build());
    let out = cli.run("-q export in --format bodyfile --to -").clean();
    let lines: Vec<Vec<&str>> = out.stdout.lines().map(|line| line.split('|').collect()).collect();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line.len() == 11), "{}", out.stdout);
    let notepad = format!("in/Users/sam/{NOTEPAD}").replace('/', std::path::MAIN_SEPARATOR_STR);
    let line = lines.iter().find(|line| line[1].contains("entry 3)")).unwrap();
    assert_eq!(
        line[1].replace('\\', "/"),
        format!("[jump list, Notepad, sam] C:/a/u{{7c}}b/u{{a}}c/u{{2028}}.txt ({notepad}, entry 3)")
            .replace('\\', "/")
    );
    let seconds = |text: &str| time(text).unix_seconds().to_string();
    let target = [seconds("2024-02-19T09:10:27Z"), "0".to_owned(), seconds("2023-11-02T07:42:11Z")];
    assert_eq!([line[0], line[3], line[4], line[5], line[6]], ["0", "r/r---------", "0", "0", "18432"]);
    assert_eq!(line[7], seconds("2024-05-03T08:15:00Z"));
    assert_eq!(line[8..], target);
    assert!(line[2].ends_with("-1"), "the inode and its sequence: {}", line[2]);
    let folder = lines.iter().find(|line| line[1].contains("entry 2)")).unwrap();
    assert_eq!(folder[3], "d/d---------");
    let url = lines.iter().find(|line| line[1].contains("entry 1)")).unwrap();
    assert_eq!(url[8..], ["0"; 3]);
    let task = lines.iter().find(|line| line[1].contains("link 0)")).unwrap();
    assert_eq!(task[7], seconds("2024-02-20T16:05:33Z"), "the link's own last access");
}

/// Feeds `input` to a program, if it is there.
pub(crate) fn pipe(program: &str, args: &[&str], input: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        skip(format_args!("no {program}"));
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn mactime_makes_a_timeline_of_the_body_file() {
    let cli = Cli::with_samples();
    let body = cli.run("-q export samples --format bodyfile --to -").exits(1).stdout;
    let Some(timeline) = pipe("mactime", &["-b", "-", "-d", "-z", "UTC"], &body) else { return };
    let mut lines = timeline.lines();
    assert!(lines.next().unwrap().starts_with("Date,Size,Type,Mode,UID,GID,Meta,File Name"), "{timeline}");
    let accessed: Vec<&str> = lines.filter(|line| line.contains("2024") && line.contains(",.a..,")).collect();
    assert!(accessed.len() > 50, "{}", accessed.len());
    assert!(timeline.contains(r"[jump list, LibreOffice Calc] \\files-01\projects\Harbour\budget.ods"));
}

#[test]
fn timesketch_gets_a_line_for_each_time_with_the_three_fields_it_needs() {
    let cli = Cli::new();
    let list = ListBuilder::new(4)
        .entry(NewEntry::file(r"C:\a.txt").used(2, "2024-05-03T08:15:00.1234567Z"))
        .entry(NewEntry::url("https://example.org/"))
        .build();
    cli.write(format!("in/{NOTEPAD}"), &list);
    let lines = cli.run("-q export in --format timesketch --to -").clean().json_lines();
    let told: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["timestamp_desc"].as_str().unwrap(), line["datetime"].as_str().unwrap()))
        .collect();
    let boot = lines[4]["datetime"].as_str().unwrap();
    assert_eq!(
        told[..6],
        [
            ("Last Access Time in the Jump List", "2024-05-03T08:15:00.123456+00:00"),
            ("Creation Time of the Target", "2023-11-02T07:42:11.123456+00:00"),
            ("Content Modification Time of the Target", "2024-02-19T09:10:27.001000+00:00"),
            ("Last Access Time of the Target", "2024-02-20T16:05:33.765432+00:00"),
            ("Time in the Entry's Object Id", boot),
            ("Time in the Link Tracker's Object Id", boot),
        ]
    );
    assert_eq!(told.len(), 8, "of the URL only last access and object id");
    assert_eq!(lines[0]["message"], r"C:\a.txt in the jump list of Notepad");
    assert_eq!(lines[0]["exact_time"], "2024-05-03T08:15:00.1234567Z");
    assert_eq!([&lines[0]["entry_id"], &lines[0]["interactions"]], [&json!(2), &json!(2)]);
}

#[test]
fn what_other_tools_lose_is_exported() {
    let cli = Cli::new();
    let lone = |text: &str| {
        let mut units = utf16(text);
        units.extend([0x00, 0xD8, b'!', 0]);
        units
    };
    // A date that cannot be.
    let damaged = LinkBuilder::file("C:\\new\nline.txt").with(|link| link.created = FileTime(u64::MAX));
    let list = ListBuilder::new(4)
        // A byte 0x0A anywhere in a link made one parser lose it.
        .entry(NewEntry::new("C:\\new\nline.txt", Link::Made(Box::new(damaged))))
        .entry(NewEntry::file(r"C:\lone.txt").with(|entry| entry.path = lone(r"C:\lone ")))
        .entry(NewEntry::file(r"C:\padded.exe").link(|link| link.arguments = Some(" ".repeat(5000) + "/c calc")))
        .entry(NewEntry::file(r"C:\OneDrive\cloud.txt").link(|link| link.attributes = 0x0050_1620))
        .entry(NewEntry::file(r"C:\block.txt").link(|link| link.extra.push((0xA000_00FF, vec![1, 2, 3]))))
        // Used later than the ones above it.
        .entry(NewEntry::file(r"C:\later.txt").used(1, "2030-01-01T00:00:00Z"))
        .build();
    cli.write(format!("in/{NOTEPAD}"), &list);
    let rows = cli.run("-q export in --format jsonl --to -").clean().json_lines();
    let paths: Vec<&str> = rows.iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(
        paths,
        [
            "C:\\new\nline.txt",
            "C:\\lone \u{FFFD}!",
            r"C:\padded.exe",
            r"C:\OneDrive\cloud.txt",
            r"C:\block.txt",
            r"C:\later.txt"
        ],
        "in the order of the list"
    );
    assert!(rows.iter().all(|row| row["target"].is_string() && row["checksum_ok"] == true));
    assert_eq!([&rows[0]["target_created"], &rows[0]["target"]], [&Value::Null, &json!("C:\\new\nline.txt")]);
    assert!(rows[1]["path_utf16"].as_str().unwrap().ends_with("00d82100"), "{}", rows[1]["path_utf16"]);
    assert_eq!(rows[2]["arguments"].as_str().unwrap().len(), 5007);
    let names = "archive sparse_file reparse_point offline unpinned recall_on_data_access";
    assert_eq!(rows[3]["attribute_names"], names);
    assert_eq!(rows[4]["extra_blocks"], "0xa00000ff tracker property_store");
    for format in ["jlecmd", "csv", "bodyfile", "timesketch"] {
        cli.run(&format!("-q export in --format {format} --to {format}")).clean();
    }
    let table = csv_rows(&fs::read(only(&cli.path("jlecmd"), "_AutomaticDestinations.csv")).unwrap());
    assert_eq!(table.len(), 6);
    assert!(table[3]["FileAttributes"].ends_with("FileAttributeRecallOnDataAccess"), "{}", table[3]["FileAttributes"]);
    assert!(table[4]["ExtraBlocksPresent"].starts_with("0xA00000FF, Tracker"), "{}", table[4]["ExtraBlocksPresent"]);
}

#[test]
fn a_custom_list_with_slack_and_a_list_over_seven_megabytes_are_exported_whole() {
    let cli = Cli::new();
    let custom = CustomBuilder::new().tasks(&[LinkBuilder::file(r"C:\t.exe")]).slack(&[0xAB; 3250]).build();
    cli.write(format!("in/{CHROME}"), &custom);
    let large = ListBuilder::folders(4, 5600).ranked().build();
    assert!(large.len() > 7 << 20, "{}", large.len());
    cli.write(format!("in/{EXPLORER}"), &large);
    let rows = jsonl(&cli, "in");
    assert_eq!(rows.len(), 5601);
    assert!(rows.iter().all(|row| row["target"].is_string()));
}

#[test]
fn ansi_strings_are_read_in_the_code_page_that_is_named() {
    let cli = Cli::new();
    let link = LinkBuilder::file(r"C:\x.txt").with(|link| {
        link.unicode = false;
        link.name = Some("\u{E9}\u{F6}".to_owned());
    });
    cli.write("in/x.lnk", &link.build());
    let name = |options: &str| {
        let line = format!("{options} -q export in/x.lnk --format jsonl --to -");
        cli.run(&line).clean().json_lines()[0]["name"].clone()
    };
    assert_eq!([name(""), name("--code-page 1251")], [json!("éö"), json!("йц")]);
}

#[test]
fn a_link_that_shows_one_target_and_opens_another_is_found_out() {
    let cli = Cli::new();
    let honest = LinkBuilder::file(r"C:\Users\sam\good.txt").build();
    let shown = br"C:\Users\sam\good.txt".as_slice();
    let at = honest.windows(shown.len()).position(|bytes| bytes == shown).unwrap();
    let mut crafted = honest.clone();
    crafted[at..at + shown.len()].copy_from_slice(br"C:\Users\eve\good.txt");
    cli.write("honest.lnk", &honest);
    cli.write("crafted.lnk", &crafted);
    cli.run("check honest.lnk").clean();
    cli.run("check crafted.lnk")
        .exits(1)
        .says(&[r"JL304", r"its item ID list names C:\Users\sam\good.txt, its LinkInfo C:\Users\eve\good.txt"]);
}
