//! `samples/` is what its generator makes, and what it makes is what it says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use jlfix::cost::Cost;
use jlfix::format::text::CodePage;
use jlfix::limits::Limits;
use jlfix::model::{AutomaticList, Code, ReadOptions, Severity, Source};
use jlfix::write;

use crate::support;

use support::build::{LinkBuilder, ListBuilder};
use support::samples::{self, Sample, bloated};

/// Everything that belongs under `samples/`, made once.
fn made() -> &'static [Sample] {
    static MADE: LazyLock<Vec<Sample>> = LazyLock::new(samples::all);
    &MADE
}

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
    let readme = found.remove("README.md").unwrap_or_default();
    assert_eq!(String::from_utf8_lossy(&readme), samples::readme(made()));
    for Sample { path, bytes, .. } in made() {
        let on_disk = found.remove(*path).unwrap_or_else(|| panic!("{path} is missing"));
        assert!(on_disk == *bytes, "{path} is not what `cargo run --example make_samples` writes");
    }
    assert!(found.is_empty(), "no generator writes {:?}", found.keys());
}

/// The codes of a file's findings, those that only inform aside.
fn codes(source: &Source<'_>) -> BTreeSet<Code> {
    let findings = match source {
        Source::Automatic(Ok(compound)) => AutomaticList::read(compound).findings(CodePage::default()),
        _ => source.findings(),
    };
    findings.iter().filter(|finding| finding.severity() > Severity::Info).map(|finding| finding.code).collect()
}

#[test]
fn each_damaged_sample_draws_the_finding_it_is_made_for_and_a_healthy_one_draws_none() {
    for sample in made() {
        let codes = codes(&Source::read(&sample.bytes, None, &ReadOptions::default()).unwrap());
        match sample.finding {
            Some(code) => assert!(codes.contains(&code), "{}: {code} is not among {codes:?}", sample.path),
            None => assert!(codes.is_empty(), "{}: {codes:?}", sample.path),
        }
    }
}

#[test]
fn a_strict_reader_opens_every_healthy_automatic_sample() {
    for sample in made() {
        if sample.is_healthy() && sample.is_automatic() {
            write::second_opinion(&sample.bytes).unwrap_or_else(|error| panic!("{}: {error}", sample.path));
        }
    }
}

#[test]
fn a_click_on_the_bloated_sample_costs_about_what_was_published() {
    let bytes = &made().iter().find(|sample| sample.path == bloated::PATH).unwrap().bytes;
    assert_eq!(bytes.len(), bloated::SIZE);
    let compound = jlfix::salvage::read(bytes, &Limits::default()).unwrap();
    let cost = Cost::of(&AutomaticList::read(&compound));
    let near = |have: f64, published: f64, within: f64| (have / published - 1.0).abs() < within;
    // docs/performance.md says why the first and the third are not nearer.
    assert!(near(cost.reads as f64, 114_801.0, 0.10), "{} reads", cost.reads);
    assert!(near(cost.bytes as f64, 7_843_293.0, 0.05), "{} bytes", cost.bytes);
    assert!(near(cost.mean_read(), 68.3, 0.12), "{} bytes per read", cost.mean_read());
    assert!(near(cost.passes(), 1.947, 0.05), "{} passes", cost.passes());
}

/// `lnk` shares no code with this project. It turns down attributes above 0x4000 and reads no path from links
/// that have none, so the cloud file, shares and what is no file are left out.
#[test]
fn another_parser_reads_the_same_path_in_every_link_of_the_healthy_samples() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut read = 0;
    for sample in made().iter().filter(|sample| sample.is_healthy() && sample.is_automatic()) {
        let compound = jlfix::salvage::read(&sample.bytes, &Limits::default()).unwrap();
        for entry in AutomaticList::read(&compound).entries.iter().take(40) {
            let path = entry.dest.path.to_string();
            if path.as_bytes().get(1) != Some(&b':') || path.contains("OneDrive") || entry.dest.path.has_unpaired() {
                continue;
            }
            fs::write(file.path(), &entry.link.unwrap().data).unwrap();
            let link = lnk::ShellLink::open(file.path(), lnk::encoding::WINDOWS_1252)
                .unwrap_or_else(|error| panic!("{}: {path}: {error}", sample.path));
            let info = link.link_info().as_ref().unwrap();
            let have = info.local_base_path_unicode().as_deref().or(info.local_base_path());
            assert_eq!(have, Some(path.as_str()), "{}", sample.path);
            read += 1;
        }
    }
    assert!(read > 100, "only {read} links");
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
