//! An automatic list in plain values, for a test to look at.

#![allow(dead_code, unreachable_pub, reason = "every test takes in the whole of it and uses a part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use jlfix::format::compound::{Compound, Root};
use jlfix::format::destlist::Header;
use jlfix::limits::Limits;
use jlfix::model::AutomaticList;

/// A list that nothing is wrong with.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    pub header: Header,
    pub entries: Vec<Entry>,
    /// Every stream but the `DestList`, by name.
    pub streams: BTreeMap<String, Vec<u8>>,
    pub root: Root,
}

/// One entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub id: u64,
    pub path: String,
    pub pin: i32,
    pub rank: Option<i32>,
    pub score: f32,
    /// Its bytes, the rank left out.
    pub bytes: Vec<u8>,
}

impl List {
    /// Reads it.
    #[track_caller]
    pub fn of(bytes: &[u8]) -> Self {
        let compound = jlfix::salvage::read(bytes, &Limits::default()).expect("a compound file");
        assert!(compound.faults.is_empty(), "{:?}", compound.faults);
        let list = AutomaticList::read(&compound);
        let entries = list.entries.iter().map(|entry| {
            let dest = &entry.dest;
            let mut bytes = dest.raw.to_vec();
            if dest.usage.is_some() {
                bytes.drain(112..116);
            }
            let path = dest.path.to_string();
            Entry { id: dest.id, path, pin: dest.pin, rank: dest.rank(), score: dest.score, bytes }
        });
        let streams = compound.streams.iter().map(|stream| (stream.name.to_string(), stream.data.to_vec()));
        Self {
            header: list.header.expect("a DestList"),
            entries: entries.collect(),
            streams: streams.filter(|(name, _)| name != "DestList").collect(),
            root: compound.root,
        }
    }

    /// Reads the one at `path`.
    #[track_caller]
    pub fn at(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Self::of(&fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
    }

    /// The ids of its entries.
    pub fn ids(&self) -> Vec<u64> {
        self.entries.iter().map(|entry| entry.id).collect()
    }

    /// The paths of its entries.
    pub fn paths(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry.path.as_str()).collect()
    }

    /// How many are pinned.
    pub fn pinned(&self) -> usize {
        self.entries.iter().filter(|entry| entry.pin != -1).count()
    }
}
