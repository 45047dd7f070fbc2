//! `jlfix export` of the real files, against what other readers make of them.

use crate::support;
use crate::support::skip::corpus;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::export::*;
use jlfix::format::time::FileTime;
use serde_json::{Value, json};
use support::cli::{Cli, finish};

/// What independent parsers read in the corpus, by the path of the file there.
fn expected(corpus: &Path) -> BTreeMap<String, Value> {
    let all: Value = serde_json::from_slice(&fs::read(corpus.join("expected.json")).unwrap()).unwrap();
    let automatic = all["automatic"].as_object().unwrap().values();
    automatic.map(|file| (file["path"].as_str().unwrap().to_owned(), file.clone())).collect()
}

#[test]
fn every_entry_of_the_corpus_is_a_row_of_jlecmds_file_in_the_order_of_the_list() {
    let Some(corpus) = corpus() else { return };
    let (cli, lists) = (Cli::new(), corpus.join("jumplists"));
    let words = ["export", "--format", "jlecmd", "--to", "out"];
    cli.run_words(words.iter().map(AsRef::as_ref).chain([lists.as_os_str()])).exits(0);
    let rows = jlecmd(&cli, "_AutomaticDestinations.csv");
    let mut of_file: BTreeMap<String, Vec<&BTreeMap<String, String>>> = BTreeMap::new();
    for row in &rows {
        let path = Path::new(&row["SourceFile"]).strip_prefix(&lists).unwrap().to_string_lossy().replace('\\', "/");
        of_file.entry(path).or_default().push(row);
    }
    let shown = |ticks: &Value| match ticks.as_u64() {
        None | Some(0) => String::new(),
        Some(ticks) => FileTime(ticks).to_string()[..19].replace('T', " "),
    };
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut count = 0;
    for (path, file) in expected(&corpus) {
        let entries = file["entries"].as_array().unwrap();
        let rows = of_file.remove(&path).unwrap_or_default();
        assert_eq!(rows.len(), entries.len(), "{path}");
        for (place, (row, entry)) in rows.iter().zip(entries).enumerate() {
            let link = &entry["lnk"];
            let mut columns = vec![
                ("MRU", place.to_string()),
                ("EntryNumber", format!("{:X}", entry["entry"].as_u64().unwrap())),
                ("DestListVersion", text(&file["destlist"]["version"])),
                ("LastUsedEntryNumber", text(&file["destlist"]["last_entry"])),
                ("Hostname", text(&entry["hostname"])),
                ("LastModified", shown(&entry["last_access"])),
                ("Path", text(&entry["path"])),
                ("InteractionCount", text(&entry["interactions"])),
                ("PinStatus", if entry["pinned"] == true { "True" } else { "False" }.to_owned()),
            ];
            if link.is_object() && entry.get("disagree").is_none() && link.get("disagree").is_none() {
                columns.extend([
                    ("FileSize", text(&link["file_size"])),
                    ("TargetCreated", shown(&link["ctime"])),
                    ("TargetModified", shown(&link["mtime"])),
                    ("TargetAccessed", shown(&link["atime"])),
                    ("VolumeSerialNumber", text(&link["vol_serial"])),
                    ("VolumeLabel", text(&link["vol_label"])),
                    ("Arguments", text(&link["arguments"])),
                    ("WorkingDirectory", text(&link["working_dir"])),
                    ("MachineID", text(&link["machine_id"])),
                ]);
            }
            for (column, value) in columns {
                assert_eq!(row[column], value, "{path}, entry {}: {column}", row["EntryNumber"]);
            }
            count += 1;
        }
    }
    assert!(of_file.is_empty() && count == rows.len() && count > 190, "{count}");
}

#[test]
fn pythons_csv_reads_both_files_of_the_corpus() {
    let Some(corpus) = corpus() else { return };
    let cli = Cli::new();
    let words = ["-q", "export", "--format", "jlecmd", "--to", "out"];
    let lists = corpus.join("jumplists");
    cli.run_words(words.iter().map(AsRef::as_ref).chain([lists.as_os_str()])).clean();
    let script = "import csv,sys\n\
        for name in sys.stdin.read().split('\\n'):\n\
        \x20   rows=list(csv.reader(open(name,newline='',encoding='utf-8'),strict=True))\n\
        \x20   assert len(set(map(len,rows)))==1,name\n\
        \x20   print(len(rows)-1,len(rows[0]))\n";
    let names = ["_AutomaticDestinations.csv", "_CustomDestinations.csv"].map(|end| only(&cli.path("out"), end));
    let names = names.map(|name| name.to_string_lossy().into_owned()).join("\n");
    let Some(told) = pipe("python3", &["-c", script], &names) else { return };
    let rows = |end| jlecmd(&cli, end).len();
    let wanted = format!("{} 46\n{} 30\n", rows("_AutomaticDestinations.csv"), rows("_CustomDestinations.csv"));
    assert_eq!(told, wanted);
}

/// A reader of CSV that shares no code with the writer here, of strict rows: each must have as many fields as the first.
#[test]
fn xsv_reads_both_files_of_the_corpus() {
    let Some(corpus) = corpus() else { return };
    let cli = Cli::new();
    let words = ["-q", "export", "--format", "jlecmd", "--to", "out"];
    let lists = corpus.join("jumplists");
    cli.run_words(words.iter().map(AsRef::as_ref).chain([lists.as_os_str()])).clean();
    for (end, columns) in [("_AutomaticDestinations.csv", 46), ("_CustomDestinations.csv", 30)] {
        let text = fs::read_to_string(only(&cli.path("out"), end)).unwrap();
        let Some(count) = pipe("xsv", &["count"], &text) else { return };
        assert_eq!(count.trim(), jlecmd(&cli, end).len().to_string(), "{end}");
        let stats = pipe("xsv", &["stats"], &text).unwrap();
        assert_eq!(stats.lines().count(), columns + 1, "a line a column, and the head: {stats}");
    }
}

#[test]
fn every_link_of_the_corpus_is_dumped_and_reads_the_same_by_itself() {
    let Some(corpus) = corpus() else { return };
    let (cli, lists) = (Cli::new(), corpus.join("jumplists"));
    let words = ["-q", "export", "--dump-links", "links", "--format", "jsonl", "--to", "-"];
    let listed = cli.run_words(words.iter().map(AsRef::as_ref).chain([lists.as_os_str()])).clean().json_lines();
    let files: Vec<PathBuf> = fs::read_dir(cli.path("links")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), listed.len());
    let mut command = cli.jlfix();
    command.args(["-q", "export", "--format", "jsonl", "--to", "-"]).args(&files);
    let single = finish(command).clean().json_lines();
    let facts = |rows: &[Value]| {
        let key =
            |row: &Value| json!([row["target"], row["target_created"], row["arguments"], row["link_size"]]).to_string();
        let mut keys: Vec<String> = rows.iter().map(key).collect();
        keys.sort();
        keys
    };
    assert_eq!(facts(&single), facts(&listed));
}
