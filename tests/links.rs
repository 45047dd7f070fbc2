//! The shell link reader against real links, and against what independent parsers read in them.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jlfix::format::link::{self, Link};
use jlfix::format::text::CodePage;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The folder of real files, or nothing (said once a test) where it is missing.
fn corpus() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let folder = std::env::var_os("JLFIX_CORPUS").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no corpus");
    None
}

/// Every standalone link of the corpus by its SHA-256.
fn links(corpus: &Path) -> BTreeMap<String, (PathBuf, Vec<u8>)> {
    let files = walkdir::WalkDir::new(corpus.join("links")).into_iter().map(Result::unwrap);
    let files = files.filter(|file| file.file_type().is_file());
    files
        .map(|file| {
            let data = std::fs::read(file.path()).unwrap();
            let hash = Sha256::digest(&data).iter().map(|byte| format!("{byte:02x}")).collect();
            (hash, (file.into_path(), data))
        })
        .collect()
}

fn expected_links(corpus: &Path) -> BTreeMap<String, BTreeMap<String, Value>> {
    serde_json::from_slice(&std::fs::read(corpus.join("expected-links.json")).unwrap()).unwrap()
}

/// The fields of `expected-links.json`, as this reader has them.
fn field(link: &Link<'_>, name: &str) -> Value {
    let (info, tracker) = (link.info.as_ref(), link.tracker());
    let volume = info.and_then(|info| info.volume);
    match name {
        "file_size" => json!(link.header.file_size),
        "attributes" => json!(link.header.attributes),
        "created" => json!(link.header.created.0),
        "modified" => json!(link.header.modified.0),
        "accessed" => json!(link.header.accessed.0),
        "local_path" => json!(link.local_path()),
        "network_path" => json!(link.network_path()),
        "drive_type" => json!(volume.map(|volume| volume.drive_type.0)),
        "volume_serial" => json!(volume.map(|volume| volume.serial)),
        "volume_label" => json!(volume.and_then(|volume| volume.label)),
        "name" => json!(link.name),
        "relative_path" => json!(link.relative_path),
        "working_dir" => json!(link.working_dir),
        "arguments" => json!(link.arguments),
        "icon" => json!(link.icon),
        "machine_id" => json!(tracker.and_then(|tracker| tracker.machine_id)),
        "droid_volume" => json!(tracker.map(|tracker| tracker.volume)),
        "droid_file" => json!(tracker.map(|tracker| tracker.file)),
        _ => panic!("no field {name}"),
    }
}

/// Where this reader is right and the others are not.
fn is_known_difference(name: &str, ours: &Value, theirs: &Value) -> bool {
    match name {
        // liblnk gives its 0 for a LinkInfo that has no volume, only a share.
        "drive_type" => ours.is_null() && theirs == 0,
        // The byte 0x90 is U+0090 in Windows' code page 1252, as the same link's UTF-16 relative path shows.
        "local_path" | "network_path" => {
            ours.as_str().map(|ours| ours.replace('\u{90}', "\u{FFFD}")).as_deref() == theirs.as_str()
        }
        _ => false,
    }
}

#[test]
fn every_field_of_a_real_link_is_what_independent_parsers_read() {
    let Some(corpus) = corpus() else { return };
    let (files, expected) = (links(&corpus), expected_links(&corpus));
    let mut differences = Vec::new();
    for (hash, fields) in &expected {
        let (path, data) = &files[hash];
        let link = link::parse(data, CodePage::default()).unwrap();
        for (name, value) in fields.iter().filter(|(name, _)| *name != "path") {
            let ours = field(&link, name);
            if ours != *value && !is_known_difference(name, &ours, value) {
                differences.push(format!("{}: {name}: {ours}, expected {value}", path.display()));
            }
        }
    }
    assert_eq!(expected.len(), 472);
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn every_healthy_link_ends_where_its_file_ends() {
    let Some(corpus) = corpus() else { return };
    let (files, expected) = (links(&corpus), expected_links(&corpus));
    for (hash, (path, data)) in &files {
        if !expected.contains_key(hash) {
            continue;
        }
        let link = link::parse(data, CodePage::default()).unwrap();
        assert!(link.complete, "{}: {:?}", path.display(), link.problems);
        assert_eq!(link.size, data.len(), "{}", path.display());
    }
}

#[test]
fn arguments_that_hide_behind_a_count_larger_than_windows_reads_are_found() {
    let Some(corpus) = corpus() else { return };
    let data = std::fs::read(corpus.join("links/Matmaus+LnkParse3/tests/samples/padded_cli_arguments")).unwrap();
    let link = link::parse(&data, CodePage::default()).unwrap();
    assert!(link.arguments.unwrap().to_string().starts_with("/c \"set PATH=%windir%"));
    assert_eq!(link.icon.unwrap().to_string(), "C:\\Windows\\System32\\shell32.dll");
    let problems: Vec<String> = link.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "working directory at offset 217: is 1693, expected 260 characters or fewer, which is all that Windows reads of it",
            "terminal block at offset 3667: need 4 bytes, have 0",
        ]
    );
}
