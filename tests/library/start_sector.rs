//! A link whose directory entry names a wrong start sector: the link is complete in the file, and a repair joins it with
//! its entry again. Also for entries whose path shares no text with their link, such as URLs and folders by class id.

use std::fs;
use std::path::Path;

use jlfix::limits::Limits;
use jlfix::model::AutomaticList;
use jlfix::plan::{self, RepairOptions};
use walkdir::WalkDir;

use crate::support::skip;

/// Where the directory entries of streams named by an id are, and the id: found by name, type and alignment.
fn directory_entries(bytes: &[u8]) -> Vec<(usize, u64)> {
    let mut found = Vec::new();
    for at in (512..bytes.len()).step_by(128) {
        let Some(entry) = bytes.get(at..at + 128) else { break };
        let length = usize::from(u16::from_le_bytes([entry[64], entry[65]]));
        if entry[66] != 2 || !(4..=34).contains(&length) || length % 2 != 0 {
            continue;
        }
        let units: Vec<u16> =
            entry[..length - 2].chunks(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
        let name = String::from_utf16_lossy(&units);
        if let Ok(id) = u64::from_str_radix(&name, 16) {
            found.push((at, id));
        }
    }
    found
}

/// Id, path and link of an entry.
type Content = (u64, String, Option<Vec<u8>>);

fn contents(bytes: &[u8]) -> Vec<Content> {
    let compound = jlfix::salvage::read(bytes, &Limits::default()).unwrap();
    let list = AutomaticList::read(&compound);
    let entries = list.entries.iter();
    entries
        .map(|entry| (entry.dest.id, entry.dest.path.to_string(), entry.link.map(|link| link.data.to_vec())))
        .collect()
}

/// True if both have the same entries with the same links. A link without its terminal block may get it from the zeros
/// behind it.
fn same(result: &[Content], wanted: &[Content]) -> bool {
    let is_link = |one: &[u8], other: &[u8]| one == other || one == [other, &[0; 4]].concat();
    result.len() == wanted.len()
        && result.iter().zip(wanted).all(|((id, path, link), (other, other_path, other_link))| {
            let links = match (link, other_link) {
                (Some(link), Some(other)) => is_link(link, other),
                (link, other) => link == other,
            };
            (id, path) == (other, other_path) && links
        })
}

#[test]
fn a_link_with_a_wrong_start_sector_is_joined_with_its_entry_again() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut tried, mut failed) = (0, Vec::new());
    let corpus = skip::corpus().map(|corpus| corpus.join("jumplists"));
    for folder in corpus.into_iter().chain([root.join("tests/cases")]) {
        for file in WalkDir::new(folder).sort_by_file_name().into_iter().flatten() {
            let name = file.file_name().to_string_lossy().to_lowercase();
            if !name.ends_with(".automaticdestinations-ms") || file.metadata().unwrap().len() > 200_000 {
                continue;
            }
            let original = fs::read(file.path()).unwrap();
            let compound = jlfix::salvage::read(&original, &Limits::default()).unwrap();
            let list = AutomaticList::read(&compound);
            // Of a list that is damaged already, or is of an unsupported version, nothing is known.
            if !matches!(plan::repair(&list, &RepairOptions::default(), &Limits::default()), Ok(None))
                || list.header.is_some_and(|header| !header.is_known_version())
            {
                continue;
            }
            let wanted = contents(&original);
            for (at, id) in directory_entries(&original) {
                for bit in [0, 3, 6, 9, 14, 31] {
                    let mut bytes = original.clone();
                    bytes[at + 116 + bit / 8] ^= 1 << (bit % 8);
                    // Two links that begin at one sector: the container does not say whose it is.
                    let start = |at: usize| &bytes[at + 116..at + 120];
                    if directory_entries(&bytes).iter().any(|(other, _)| *other != at && start(*other) == start(at)) {
                        continue;
                    }
                    tried += 1;
                    let compound = jlfix::salvage::read(&bytes, &Limits::default()).unwrap();
                    let list = AutomaticList::read(&compound);
                    let result = match plan::repair(&list, &RepairOptions::default(), &Limits::default()) {
                        Ok(Some(plan)) => contents(&plan.bytes),
                        Ok(None) => contents(&bytes),
                        Err(error) => {
                            failed.push(format!("{}: id {id}, bit {bit}: {error}", file.path().display()));
                            continue;
                        }
                    };
                    if !same(&result, &wanted) {
                        failed.push(format!("{}: id {id}, bit {bit}", file.path().display()));
                    }
                }
            }
        }
    }
    println!("{tried} wrong start sectors");
    assert!(failed.is_empty(), "{} of {tried}: {failed:#?}", failed.len());
    assert!(tried > 50);
}
