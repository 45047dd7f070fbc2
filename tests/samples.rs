//! `samples/` is what its generator makes, and what it makes is what it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use jlfix::format::write;

mod support;

use support::build::{LinkBuilder, ListBuilder};
use support::samples::{self, Sample};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

/// Every file below `folder`, by its path there.
fn files(folder: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            files(&entry.path(), &format!("{name}/"), found)?;
        } else {
            found.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

#[test]
fn the_samples_are_what_the_generator_makes_and_nothing_else_lies_there() {
    let mut found = BTreeMap::new();
    files(&folder(), "", &mut found).unwrap();
    found.remove("README.md");
    for Sample { path, bytes, .. } in samples::all() {
        let on_disk = found.remove(path).unwrap_or_else(|| panic!("{path} is missing"));
        assert!(on_disk == bytes, "{path} is not what `cargo run --example make_samples` writes");
    }
    assert!(found.is_empty(), "no generator writes {:?}", found.keys());
}

#[test]
fn a_strict_reader_opens_every_healthy_automatic_sample() {
    for Sample { path, bytes, healthy } in samples::all() {
        if healthy && path.ends_with(".automaticDestinations-ms") {
            write::second_opinion(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
    }
}

#[test]
fn a_made_link_is_as_long_as_the_one_that_explorer_writes_for_such_a_path() {
    assert_eq!(LinkBuilder::folder(r"C:\Users\samantha\Desktop\Letters").build().len(), 841);
    let known = LinkBuilder::known_folder("b4bfcc3a-db2c-424c-b029-7fe99a87c641", r"C:\Users\samantha\Desktop");
    assert_eq!(known.build().len(), 444);
}

#[test]
fn a_list_may_have_more_fat_sectors_than_the_header_holds() {
    let file = ListBuilder::folders(4, 12_000).ranked().build();
    write::second_opinion(&file).unwrap();
    assert!(file.len() > 109 * 128 * 512, "{} bytes", file.len());
}
