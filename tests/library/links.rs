//! The shell link reader against real links, and against what independent parsers read in them.

use crate::support::skip::corpus;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jlfix::format::link::{self, Extra, Link};
use jlfix::format::text::CodePage;
use jlfix::limits::Limits;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

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

/// The links of the automatic jump lists, joined with what the tool `idlist_path_ez_only` comes from says of their ID lists.
fn spelled_by_another(corpus: &Path) -> Vec<(String, Vec<u8>, Option<String>, u64)> {
    let expected: Value = serde_json::from_slice(&std::fs::read(corpus.join("expected.json")).unwrap()).unwrap();
    let mut rows = Vec::new();
    for file in expected["automatic"].as_object().unwrap().values() {
        let path = corpus.join("jumplists").join(file["path"].as_str().unwrap());
        let data = std::fs::read(&path).unwrap();
        let compound = jlfix::salvage::read(&data, &Limits::default()).unwrap();
        for entry in file["entries"].as_array().unwrap() {
            let link = &entry["lnk"];
            if link.get("idlist_path_ez_only").is_none() {
                continue;
            }
            let name = format!("{:x}", entry["entry"].as_u64().unwrap());
            let stream = compound.stream(&name).unwrap();
            let spelled = link["idlist_path_ez_only"].as_str().map(ToOwned::to_owned);
            let count = link["n_shell_items"].as_u64().unwrap();
            rows.push((format!("{}, {name}", path.display()), stream.data.to_vec(), spelled, count));
        }
    }
    rows
}

/// Where the other tool tells a class by its name in the registry, and this reader as Windows shows it.
fn as_shown(name: &str) -> &str {
    match name {
        "UsersLibraries" => "Libraries",
        "MusicLibrary" => "Music",
        "PicturesLibrary" => "Pictures",
        "VideosLibrary" => "Videos",
        "ControlPanelHome" => "Control Panel",
        "Shared Documents Folder (Users Files)" => "Users Files",
        "CLSID_ThisPCDocumentsRegFolder" => "Documents",
        "CLSID_ThisPCMyMusicRegFolder" => "Music",
        "CLSID_ThisPCMyPicturesRegFolder" => "Pictures",
        "CLSID_ThisPCMyVideosRegFolder" => "Videos",
        _ => name,
    }
}

#[test]
fn every_id_list_of_a_jump_list_spells_the_path_that_another_tool_reads_in_it() {
    let Some(corpus) = corpus() else { return };
    let rows = spelled_by_another(&corpus);
    assert_eq!(rows.len(), 197);
    for (place, data, theirs, count) in &rows {
        let link = link::parse(data, CodePage::default()).unwrap();
        let list = link.items().unwrap_or_default();
        assert_eq!(link.details().problems, [], "{place}");
        assert_eq!(list.items.len() as u64, *count, "{place}");
        // The other tool puts a folder's resource reference in the place of its name, which loses the name.
        let mut parts: Vec<String> = Vec::new();
        for item in &list.items {
            let localized = item.file_extension().and_then(|file| file.localized_name);
            parts.push(localized.map_or_else(|| item.name().unwrap().into_owned(), |text| text.to_string()));
        }
        let theirs = theirs.as_ref().map(|path| {
            let (first, rest) = path.split_once('\\').unwrap_or((path, ""));
            let rest = rest.split('\\').map(as_shown).collect::<Vec<_>>().join("\\");
            format!("{}\\{rest}", as_shown(first))
        });
        assert_eq!(Some(parts.join("\\")).filter(|path| !path.is_empty()), theirs, "{place}");
        // And a list that spells a drive spells the path of LinkInfo.
        if let Some(spelled) = list.path().and_then(|path| path.strip_prefix("This PC\\C:").map(ToOwned::to_owned)) {
            assert_eq!(link.local_path(), Some(format!("C:{spelled}")), "{place}");
        }
    }
}

#[test]
fn every_part_of_a_real_link_is_decoded_without_a_problem() {
    let Some(corpus) = corpus() else { return };
    let expected = expected_links(&corpus);
    let mut unknown = Vec::new();
    for (hash, (path, data)) in links(&corpus) {
        if !expected.contains_key(&hash) {
            continue;
        }
        let link = link::parse(&data, CodePage::default()).unwrap();
        let details = link.details();
        assert_eq!(details.problems, [], "{}", path.display());
        unknown.extend(details.id_list.iter().filter(|item| item.name().is_none()).map(|item| item.class()));
        let blocks = details.blocks.iter().filter(|block| block.extra == Extra::Unknown);
        assert_eq!(blocks.filter(|block| block.block.signature != 0xA200_0001).count(), 0, "{}", path.display());
        serde_json::to_string(&(details.id_list, details.blocks)).unwrap();
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn links_that_have_no_path_are_told_by_their_id_list() {
    let Some(corpus) = corpus() else { return };
    let target = |path: &str| {
        let data = std::fs::read(corpus.join("links").join(path)).unwrap();
        link::parse(&data, CodePage::default()).unwrap().target().unwrap()
    };
    let win10 = "EricZimmerman+Lnk/Lnk.Test/TestFiles/Win10";
    assert_eq!(target(&format!("{win10}/Mouse (2).lnk.test")), "All Tasks\\Mouse");
    assert_eq!(target(&format!("{win10}/25.lnk.test")), "Control Panel\\All Control Panel Items\\Connect To");
    assert_eq!(target(&format!("{win10}/App (2).lnk.test")), "Microsoft.3DBuilder_8wekyb3d8bbwe!App");
    assert_eq!(target(&format!("{win10}/02 - Command Prompt.lnk.test")), "%windir%\\system32\\cmd.exe");
    let phone = target("Matmaus+LnkParse3/tests/samples/sample3");
    assert_eq!(phone, "This PC\\Schamanamakizhamanu\\Internal storage\\.uxx");
}

#[test]
fn a_file_entry_keeps_its_short_name_its_times_and_its_place_on_the_disk() {
    let Some(corpus) = corpus() else { return };
    let data = std::fs::read(corpus.join("links/Matmaus+LnkParse3/tests/samples/sample16")).unwrap();
    let list = link::parse(&data, CodePage::default()).unwrap().items().unwrap();
    let item = &list.items[3];
    let (entry, file) = (item.file_entry().unwrap(), item.file_extension().unwrap());
    assert_eq!(item.name().unwrap(), "Microsoft");
    assert_eq!(item.short_name().unwrap().to_string(), "MICROS~1");
    assert_eq!(entry.modified.to_string(), "2020-03-03T08:01:58");
    assert_eq!(file.created.to_string(), "2020-02-20T11:04:46");
    let reference = file.reference.unwrap();
    assert_eq!((reference.entry(), reference.sequence()), (1_680_713, 5));
    assert_eq!(list.items[5].file_extension().unwrap().localized_name.unwrap().to_string(), "@shell32.dll,-21797");
}
