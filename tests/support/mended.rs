//! A damaged list, mended with the real binary, and held against everything that a mended list is.

#![allow(dead_code, unreachable_pub, reason = "every test takes in the whole of it and uses a part")]

use jlfix::format::compound::Compound;
use jlfix::limits::Limits;
use serde_json::Value;

use super::build::{ListBuilder, file_of};
use super::cli::{Cli, NOTEPAD, Output};
use super::judge;
use super::read::{self, List};

/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// Ten files with ids from 10 for the newest to 1 for the oldest; 8 and 1 are pinned.
pub fn ten() -> ListBuilder {
    ListBuilder::files(4, 10).pin(2).pin(9)
}

/// 41 files, two of them pinned.
pub fn forty_one() -> ListBuilder {
    ListBuilder::files(4, 41).pin(3).pin(40)
}

/// A list that was mended: what was told of it, and what it is now.
pub struct Mended {
    pub cli: Cli,
    pub told: Output,
    pub steps: Vec<String>,
    pub list: List,
}

impl Mended {
    /// True if one of the steps says all of `parts`.
    #[track_caller]
    pub fn says(&self, parts: &[&str]) -> &Self {
        let says = |step: &String| parts.iter().all(|part| step.contains(part));
        assert!(self.steps.iter().any(says), "no step says {parts:?}: {:#?}", self.steps);
        self
    }

    /// The entry of this path.
    #[track_caller]
    pub fn entry(&self, path: &str) -> &read::Entry {
        let found = self.list.entries.iter().find(|entry| entry.path == path);
        found.unwrap_or_else(|| panic!("no {path} among {:?}", self.list.paths()))
    }

    /// The paths of the pinned entries, in the order of their pins.
    pub fn pins(&self) -> Vec<&str> {
        let mut pinned: Vec<_> = self.list.entries.iter().filter(|entry| entry.pin != -1).collect();
        pinned.sort_by_key(|entry| entry.pin);
        pinned.into_iter().map(|entry| entry.path.as_str()).collect()
    }
}

/// Mends a file with the real binary, and holds what came of it against everything that a mended file is.
#[track_caller]
pub fn mend_with(bytes: &[u8], options: &str) -> Mended {
    let cli = Cli::with(&[(NOTEPAD, bytes.to_vec())]);
    let dry = cli.run(&format!("repair {options} --dry-run --format json {NOTEPAD}")).exits(1);
    assert_eq!(cli.read(NOTEPAD), bytes, "a dry run writes nothing");
    let told = cli.run(&format!("repair {options} --format json {NOTEPAD}")).exits(0);
    assert_eq!(told.json()["files"][0]["steps"], dry.json()["files"][0]["steps"], "a dry run tells the same");
    let steps: Vec<String> = told.json()["files"][0]["steps"].as_array().unwrap().iter().map(step).collect();
    assert!(!steps.is_empty(), "it says what it did");
    let after = cli.read(NOTEPAD);
    let again = cli.run(&format!("repair {options} --format json {NOTEPAD}")).exits(0);
    assert_eq!(again.json()["files"][0]["status"], "unchanged", "{}", again.stdout);
    assert_eq!(cli.read(NOTEPAD), after, "a second repair changes nothing");
    if !options.contains("keep-linkless") {
        cli.run(&format!("check {NOTEPAD}")).exits(0);
        judge::pass([cli.path(NOTEPAD)]);
    }
    let list = List::of(&after);
    Mended { cli, told, steps, list }
}

#[track_caller]
pub fn mend(bytes: &[u8]) -> Mended {
    mend_with(bytes, "")
}

/// The same for a file of which all comes back: it is `whole` again, so nothing more need be asked of it.
#[track_caller]
pub fn mend_to(bytes: &[u8], whole: &List) -> Mended {
    let cli = Cli::with(&[(NOTEPAD, bytes.to_vec())]);
    let told = cli.run(&format!("repair --format json {NOTEPAD}")).exits(0);
    let steps = told.json()["files"][0]["steps"].as_array().unwrap().iter().map(step).collect();
    let mended = Mended { list: List::at(cli.path(NOTEPAD)), cli, told, steps };
    assert_eq!(mended.list, *whole, "{:#?}", mended.steps);
    mended
}

/// A step of the JSON as one text.
pub fn step(step: &Value) -> String {
    let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
    let id = step["entry_id"].as_u64().map(|id| format!("entry {id} ")).unwrap_or_default();
    let pinned = if step["pinned"].as_bool() == Some(true) { " (pinned)" } else { "" };
    format!("{id}{}{pinned}: {}", text("path"), text("what"))
}

/// A file of which nothing can be saved: told in one line, left alone.
#[track_caller]
pub fn left_alone(name: &str, bytes: &[u8], parts: &[&str]) -> Cli {
    let cli = Cli::with(&[(name, bytes.to_vec())]);
    cli.run(&format!("repair {name}")).exits(4).complains(parts);
    assert_eq!(cli.read(name), bytes);
    assert_eq!(cli.runs(), [""; 0]);
    cli
}

pub fn path(number: usize) -> String {
    format!(r"C:\Users\sam\Documents\notes {number:05}.txt")
}

/// Where the DestList stands in a file that the builder made: it is in one piece, in sectors or in mini sectors.
pub fn dest_list_at(bytes: &[u8]) -> usize {
    let compound = jlfix::salvage::read(bytes, &Limits::default()).unwrap();
    usize::try_from(compound.stream("DestList").unwrap().file_offset(0).unwrap()).unwrap()
}

/// The same file with these bytes of the DestList changed.
pub fn with_dest_list(list: &ListBuilder, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut streams = list.all_streams();
    let stream = streams.iter_mut().find(|(name, _)| name == "DestList").unwrap();
    change(&mut stream.1);
    file_of(&list.root, &streams)
}

/// The same file with one of its streams under another name.
pub fn renamed(list: &ListBuilder, from: &str, to: &str) -> Vec<u8> {
    let mut streams = list.all_streams();
    streams.iter_mut().filter(|(name, _)| name == from).for_each(|(name, _)| to.clone_into(name));
    file_of(&list.root, &streams)
}
