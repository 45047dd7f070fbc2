//! Tables, JSON, JSON lines and CSV are one shape, and it is the one that other programs were promised.

use crate::support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::build::{LinkBuilder, ListBuilder, NewEntry, Property, StoreBuilder};
use support::cli::{Cli, EXPLORER, NOTEPAD, keys};

const FILE: &str = "path kind app_id app_name size modified format_version entries_count pinned_count links_count state \
                    findings cost";
const COST: &str = "reads bytes mean_read passes estimated_ms";
const FINDING: &str = "code severity message entry_id offset fix";
const ENTRY: &str = "position id pinned pin rank score interactions last_access host path checksum_ok volume_id \
                     object_id birth_volume_id birth_object_id mac object_time property_store link";
const LINK: &str = "offset size target local_path network_path file_size attributes attribute_names created modified \
                    accessed drive_type volume_serial volume_label machine_id tracker_volume tracker_file \
                    tracker_birth_volume tracker_birth_file mac name relative_path working_dir arguments icon icon_index \
                    id_list properties problems";
const TOTALS: &str = "files bytes entries pinned reads estimated_ms damaged slow stale empty ok";

/// Holds an object to the names that were promised. There may be more.
#[track_caller]
fn has(value: &Value, promised: &str) {
    let have: BTreeSet<&str> = keys(value).into_iter().collect();
    let missing: Vec<_> = promised.split_whitespace().filter(|key| !have.contains(*key)).collect();
    assert!(missing.is_empty(), "missing: {missing:?}");
}

/// A list with one of everything, and a custom one.
fn place() -> Cli {
    let cli = Cli::with_samples();
    let store = StoreBuilder::new().named("Reviewed", Property::Bool(true)).build();
    let list = ListBuilder::folders(6, 6).ranked().pin(4).edit(1, |entry| entry.property_store = store);
    cli.write(format!("samples/{EXPLORER}"), &list.build());
    cli
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[test]
fn the_json_of_scan_show_and_check_has_the_names_that_were_promised() {
    let cli = place();
    for command in ["scan", "show", "show --links", "check"] {
        let document = cli.run(&format!("{command} samples --format json")).exits(1).json();
        assert_eq!(keys(&document), ["files", "jlfix", "totals"], "{command}");
        assert_eq!(document["jlfix"], env!("CARGO_PKG_VERSION"));
        has(&document["totals"], TOTALS);
        let files = array(&document["files"]);
        assert_eq!(files.len(), 24, "{command}");
        for file in files {
            has(file, FILE);
            assert_eq!(
                file["entries"].is_array(),
                command.starts_with("show"),
                "{command}: entries only where they are asked for"
            );
            if !file["cost"].is_null() {
                has(&file["cost"], COST);
            }
            array(&file["findings"]).iter().for_each(|finding| has(finding, FINDING));
            for entry in array(&file["entries"]) {
                if file["kind"] == "automatic" {
                    has(entry, ENTRY);
                } else {
                    has(entry, "category link");
                }
                let link = &entry["link"];
                if !link.is_null() {
                    has(link, if command == "show" { "offset size target" } else { LINK });
                }
            }
        }
    }
}

#[test]
fn the_totals_are_those_of_the_files() {
    let cli = place();
    let document = cli.run("scan samples --format json").exits(1).json();
    let (files, totals) = (array(&document["files"]), &document["totals"]);
    let sum = |of: &dyn Fn(&Value) -> u64| files.iter().map(of).sum::<u64>();
    assert_eq!(totals["files"], files.len());
    assert_eq!(totals["bytes"], sum(&|file| file["size"].as_u64().unwrap()));
    assert_eq!(totals["entries"], sum(&|file| file["entries_count"].as_u64().unwrap()));
    assert_eq!(totals["pinned"], sum(&|file| file["pinned_count"].as_u64().unwrap_or(0)));
    assert_eq!(totals["reads"], sum(&|file| file["cost"]["reads"].as_u64().unwrap_or(0)));
    for state in ["damaged", "slow", "stale", "empty", "ok"] {
        assert_eq!(totals[state], sum(&|file| u64::from(file["state"] == state)), "{state}");
    }
}

#[test]
fn json_lines_and_csv_tell_what_the_document_tells() {
    let cli = place();
    for (command, columns) in [
        (
            "scan samples",
            "path kind app_id app_name size modified format_version entries_count pinned_count links_count state",
        ),
        ("check samples", ""),
        ("show --links samples", ""),
    ] {
        let document = cli.run(&format!("{command} --format json")).json();
        let lines = cli.run(&format!("{command} --format jsonl")).json_lines();
        assert_eq!(array(&document["files"]), lines, "{command}");
        let rows = cli.run(&format!("{command} --format csv")).csv();
        match command {
            "scan samples" => {
                assert_eq!(rows.len(), lines.len());
                for (row, file) in rows.iter().zip(&lines) {
                    columns
                        .split_whitespace()
                        .for_each(|column| assert_eq!(row[column], cell(&file[column]), "{column}"));
                    assert_eq!(row["reads"], cell(&file["cost"]["reads"]));
                }
            }
            "check samples" => {
                let findings: Vec<&Value> = lines.iter().flat_map(|file| array(&file["findings"])).collect();
                assert_eq!(rows.len(), findings.len());
                for (row, finding) in rows.iter().zip(findings) {
                    FINDING
                        .split_whitespace()
                        .for_each(|column| assert_eq!(row[column], cell(&finding[column]), "{column}"));
                }
            }
            _ => {
                let entries: Vec<&Value> = lines.iter().flat_map(|file| array(&file["entries"])).collect();
                assert_eq!(rows.len(), entries.len());
                for (row, entry) in rows.iter().zip(entries) {
                    assert_eq!(row["entry_path"], cell(&entry["path"]));
                    // The reader of these tests is off in the last place of a double at times; a score is a single.
                    assert_eq!(row["score"].parse::<f32>().ok(), entry["score"].as_f64().map(|score| score as f32));
                    let apart = ["path", "link", "property_store", "score"];
                    for column in ENTRY.split_whitespace().filter(|column| !apart.contains(column)) {
                        assert_eq!(row[column], cell(&entry[column]), "{column}");
                    }
                    let lists = ["attribute_names", "problems", "id_list", "properties"];
                    for column in LINK.split_whitespace().filter(|column| !lists.contains(column)) {
                        assert_eq!(row[&format!("link_{column}")], cell(&entry["link"][column]), "link_{column}");
                    }
                }
            }
        }
    }
}

/// A JSON value as it stands in a cell.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn the_table_tells_the_figures_of_the_document() {
    let cli = place();
    let lines = cli.run("scan samples --format jsonl").exits(1).json_lines();
    let table = cli.run("scan samples").exits(1);
    let rows: Vec<&str> = table.stdout.lines().skip(1).take(lines.len()).collect();
    for (row, file) in rows.iter().zip(&lines) {
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words[0], file["state"], "{row}");
        assert!(words.contains(&file["app_id"].as_str().unwrap()), "{row}");
        assert!(words.contains(&file["entries_count"].to_string().as_str()), "{row}");
        assert!(row.contains(file["app_name"].as_str().unwrap()), "{row}");
    }
}

/// Every value in it, with its name.
fn walk<'v>(name: &'v str, value: &'v Value, see: &mut impl FnMut(&'v str, &'v Value)) {
    see(name, value);
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| walk(name, value, see)),
        Value::Array(items) => items.iter().for_each(|item| walk(name, item, see)),
        _ => {}
    }
}

/// True if `text` has this shape: 0 is a digit, x one in lower-case hex, anything else itself.
fn shaped(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(have, shape)| match shape {
            b'0' => have.is_ascii_digit(),
            b'x' => have.is_ascii_digit() || (b'a'..=b'f').contains(&have),
            other => have == other,
        })
}

#[test]
fn times_have_seven_decimals_ids_one_shape_and_what_is_absent_is_null() {
    let cli = place();
    let document = cli.run("show --links samples --format json").exits(1).json();
    let mut seen = BTreeSet::new();
    for entry in array(&document["files"]).iter().flat_map(|file| array(&file["entries"])) {
        // Shell items and extra blocks have times of their own kind, without a zone.
        let link = entry["link"].as_object().into_iter().flatten().filter(|(_, value)| !value.is_array());
        let fields = entry.as_object().unwrap().iter().filter(|(_, value)| !value.is_object()).chain(link);
        for (name, value) in fields {
            let Some(text) = value.as_str() else { continue };
            let shape = match name.as_str() {
                "last_access" | "object_time" | "created" | "modified" | "accessed" => "0000-00-00T00:00:00.0000000Z",
                "volume_id"
                | "object_id"
                | "birth_volume_id"
                | "birth_object_id"
                | "tracker_volume"
                | "tracker_file"
                | "tracker_birth_volume"
                | "tracker_birth_file" => "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
                "mac" => "xx:xx:xx:xx:xx:xx",
                "volume_serial" => "xxxxxxxx",
                "checksum" => "xxxxxxxxxxxxxxxx",
                _ => continue,
            };
            assert!(shaped(text, shape), "{name}: {text}");
            seen.insert(name.as_str());
        }
        let drive = entry["link"]["drive_type"].as_str().unwrap_or("unknown");
        let words = ["unknown", "no_root", "removable", "fixed", "remote", "cdrom", "ramdisk"];
        assert!(words.contains(&drive), "{drive}");
    }
    assert_eq!(seen.len(), 16, "{seen:?}");
    // Nothing is an empty text, or a date that stands for none.
    walk("", &document, &mut |name, value| {
        assert!(value != "" || name == "value", "{name} is empty");
        assert!(!value.as_str().is_some_and(|text| text.starts_with("1601-01-01T00:00:00.0000000")), "{name}");
    });
}

#[test]
fn a_time_of_0_is_null_and_so_is_what_a_format_does_not_have() {
    let none = jlfix::format::time::FileTime(0);
    let entry = NewEntry::file(r"C:\a.txt").link(|link| *link = link.clone().times(none, none, none));
    let cli =
        Cli::with(&[(NOTEPAD, ListBuilder::new(1).entry(entry.with(|entry| entry.last_access = Some(none))).build())]);
    let file = cli.run("show --links --format json .").json()["files"][0].take();
    let entry = &file["entries"][0];
    for name in ["last_access", "interactions", "rank", "property_store"] {
        assert!(entry[name].is_null(), "{name}: {}", entry[name]);
    }
    for name in ["created", "modified", "accessed", "network_path", "volume_label", "name", "arguments", "icon"] {
        assert!(entry["link"][name].is_null(), "{name}: {}", entry["link"][name]);
    }
    assert_eq!((&entry["score"], &file["format_version"]), (&1.0.into(), &1.into()));
}

#[test]
fn names_from_files_are_escaped_in_tables_and_raw_in_data() {
    let name = "C:\\a\u{202e}txt.exe\u{1b}[31m\u{7}\u{200f}.txt";
    let escaped = r"C:\a\u{202e}txt.exe\u{1b}[31m\u{7}\u{200f}.txt";
    let link = |link: &mut LinkBuilder| link.name = Some("line\nbreak".to_owned());
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::new(4).entry(NewEntry::file(name).link(link)).build())]);
    for command in ["show .", "show --links .", "prune --keep 0 --dry-run ."] {
        let out = cli.run(&format!("{command} --color always"));
        assert!(out.stdout.contains(escaped), "{command}: {}", out.stdout);
        assert!(!out.stdout.contains(['\u{202e}', '\u{7}', '\u{200f}']) && !out.stdout.contains("exe\u{1b}"));
    }
    cli.run("show --links .").says(&["line\\u{a}break"]);
    let entry = cli.run("show --links --format json .").json()["files"][0]["entries"][0].take();
    assert_eq!((&entry["path"], &entry["link"]["name"]), (&name.into(), &"line\nbreak".into()));
    let rows = cli.run("show --links --format csv .").csv();
    assert_eq!((&*rows[0]["entry_path"], &*rows[0]["link_name"]), (name, "line\nbreak"));
    let told = cli.run("prune --keep 0 --dry-run --format json .").json();
    assert_eq!(told["files"][0]["steps"][0]["path"], name);
}

#[test]
fn an_unpaired_surrogate_is_shown_as_u_fffd_with_the_units_beside_it() {
    let cli = Cli::with_samples();
    let file = "samples/AutomaticDestinations/83dd64e7fa560bd5.automaticDestinations-ms";
    let document = cli.run(&format!("show --format json {file}")).clean().json();
    let entries = array(&document["files"][0]["entries"]);
    let half = "C:\\Users\\sam\\Documents\\half\u{fffd}.ods";
    for entry in entries {
        assert_eq!(entry.get("path_utf16").is_some(), entry["path"] == half, "{}", entry["path"]);
    }
    let units: String = "C:\\Users\\sam\\Documents\\half".bytes().map(|byte| format!("{byte:02x}00")).collect();
    assert_eq!(entries[4]["path_utf16"], format!("{units}3dd82e006f0064007300"));
    cli.run(&format!("show {file}")).clean().says(&[half]);
}

#[test]
fn data_has_no_colour_and_a_table_has_it_only_if_the_user_wants_it() {
    let cli = place();
    let plain = cli.run("scan samples");
    assert!(!plain.stdout.contains('\u{1b}') && !plain.stderr.contains('\u{1b}'));
    assert!(cli.run("scan samples --color always").stdout.contains("\u{1b}["));
    for format in ["json", "jsonl", "csv"] {
        assert!(!cli.run(&format!("scan samples --color always --format {format}")).stdout.contains('\u{1b}'));
    }
}

#[test]
fn what_was_changed_is_told_as_data_too() {
    let cli = Cli::with(&[(NOTEPAD, ListBuilder::files(4, 9).build()), (EXPLORER, ListBuilder::files(4, 2).build())]);
    let document = cli.run("prune --keep 4 --dry-run --format json .").exits(1).json();
    assert_eq!(keys(&document), ["backup", "dry_run", "files", "jlfix", "undo"]);
    let lines = cli.run("prune --keep 4 --dry-run --format jsonl .").exits(1).json_lines();
    assert_eq!(array(&document["files"]), lines);
    let rows = cli.run("prune --keep 4 --format csv .").clean().csv();
    for (row, file) in rows.iter().zip(&lines) {
        assert_eq!((&row["path"], &row["entries_after"]), (&cell(&file["path"]), &cell(&file["after"]["entries"])));
        assert_eq!(
            (&row["bytes_before"], &row["reads_after"]),
            (&cell(&file["before"]["bytes"]), &cell(&file["after"]["cost"]["reads"]))
        );
    }
    let status: Vec<&str> = rows.iter().map(|row| row["status"].as_str()).collect();
    assert_eq!(status, ["changed", "unchanged"]);
    let document = cli.run("restore --format json").clean().json();
    assert_eq!(document["files"][0]["before"]["entries"], 4);
    assert!(document["undo"].as_str().unwrap().ends_with("restore --redo"));
    assert!(document["backup"].is_string());
}
