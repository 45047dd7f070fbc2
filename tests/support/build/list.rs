//! Automatic destinations: a DestList, a link for each entry, and the compound file around them.

use jlfix::format::compound::Root;
use jlfix::format::destlist::{Entry, Header, Usage, checksum_of, has_rank};
use jlfix::format::guid::Guid;
use jlfix::format::text::Utf16;
use jlfix::format::time::FileTime;
use jlfix::write::{self, NewStream};

use super::{LinkBuilder, Random, guid, host, object_id, time, utf16};

const TICKS_PER_MINUTE: u64 = 600_000_000;
/// A locally administered address, so no maker's.
const MAC: [u8; 6] = [0x02, 0x00, 0x5E, 0x10, 0x20, 0x30];

/// The link of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// A link; its host and its ids become those of the entry.
    Made(Box<LinkBuilder>),
    /// Any bytes.
    Raw(Vec<u8>),
    /// No stream at all.
    Missing,
}

/// One entry to be written. What is `None` is filled in by [`ListBuilder`].
#[derive(Debug, Clone, PartialEq)]
pub struct NewEntry {
    /// Id; from `n` for the newest entry down to 1 for the oldest if not given.
    pub id: Option<u64>,
    /// Path in UTF-16.
    pub path: Vec<u8>,
    /// Host.
    pub host: [u8; 16],
    /// Points.
    pub score: f32,
    /// Last access; 37 minutes before the entry above if not given.
    pub last_access: Option<FileTime>,
    /// -1, or the place among the pinned.
    pub pin: i32,
    /// Rank by use (format 2 and later).
    pub rank: i32,
    /// Opens (format 2 and later).
    pub interactions: u32,
    /// Volume and object id, now and at birth; derived from the entry's id if not given.
    pub droids: Option<[Guid; 4]>,
    /// Serialized property store (format 2 and later).
    pub property_store: Vec<u8>,
    /// The link.
    pub link: Link,
    /// The checksum, if it is to be another than the right one.
    pub checksum: Option<u64>,
}

impl NewEntry {
    /// An entry with this path and link, opened once.
    pub fn new(path: &str, link: Link) -> Self {
        Self {
            id: None,
            path: utf16(path),
            host: host("desk-01"),
            score: 1.0,
            last_access: None,
            pin: -1,
            rank: -1,
            interactions: 1,
            droids: None,
            property_store: Vec::new(),
            link,
            checksum: None,
        }
    }

    /// A file.
    pub fn file(path: &str) -> Self {
        Self::new(path, Link::Made(Box::new(LinkBuilder::file(path))))
    }

    /// A folder, as in Explorer's list.
    pub fn folder(path: &str) -> Self {
        Self::new(path, Link::Made(Box::new(LinkBuilder::folder(path))))
    }

    /// One of Explorer's own folders, which lies at `path`.
    pub fn known_folder(id: &str, path: &str) -> Self {
        let name = format!("knownfolder:{{{}}}", id.to_ascii_uppercase());
        Self::new(&name, Link::Made(Box::new(LinkBuilder::known_folder(id, path))))
    }

    /// A web page.
    pub fn url(url: &str) -> Self {
        Self::new(url, Link::Made(Box::new(LinkBuilder::url(url))))
    }

    /// Opened `times` times, last at `last_access`, with as many points.
    pub fn used(mut self, times: u32, last_access: &str) -> Self {
        self.interactions = times;
        self.score = times as f32;
        self.last_access = Some(time(last_access));
        self
    }

    /// Changes what the other methods don't.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Changes the link, if it is a made one.
    pub fn link(mut self, change: impl FnOnce(&mut LinkBuilder)) -> Self {
        if let Link::Made(link) = &mut self.link {
            change(link);
        }
        self
    }
}

/// A whole file: entries from the newest to the oldest, and what belongs around them.
#[derive(Debug, Clone)]
pub struct ListBuilder {
    /// Format version, 1 to 6.
    pub version: u32,
    /// Entries in the order of the stream.
    pub entries: Vec<NewEntry>,
    /// Last access of the first entry, where it has none of its own.
    pub newest: FileTime,
    /// Further streams by name.
    pub streams: Vec<(String, Vec<u8>)>,
    /// Bytes after the last entry.
    pub trailing: Vec<u8>,
    /// Entries that were in the list and are gone: their ids and actions count on.
    pub removed: u64,
    /// Times and class of the root.
    pub root: Root,
    header: Option<fn(&mut Header)>,
    dest_list: DestListStream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DestListStream {
    Written,
    Empty,
    Missing,
}

impl ListBuilder {
    /// A list with no entry yet. Format 6 has its `DestListPropertyStore`, empty.
    pub fn new(version: u32) -> Self {
        let newest = time("2024-03-01T08:00:00Z");
        let streams = if version >= 6 { vec![("DestListPropertyStore".to_owned(), vec![0; 4])] } else { Vec::new() };
        Self {
            version,
            entries: Vec::new(),
            newest,
            streams,
            trailing: Vec::new(),
            removed: 0,
            root: Root { modified: newest, ..Root::default() },
            header: None,
            dest_list: DestListStream::Written,
        }
    }

    /// A list that nothing was ever in, or nothing is any more: a `DestList` of 0 bytes.
    pub fn empty() -> Self {
        Self { dest_list: DestListStream::Empty, ..Self::new(4) }
    }

    /// A file that does not even have a `DestList`.
    pub fn without_dest_list() -> Self {
        Self { dest_list: DestListStream::Missing, ..Self::new(4) }
    }

    /// A list of `count` files, none pinned.
    pub fn files(version: u32, count: usize) -> Self {
        let path = |number| format!(r"C:\Users\sam\Documents\notes {number:05}.txt");
        Self::new(version).entries((0..count).map(|number| NewEntry::file(&path(number))))
    }

    /// A list of `count` folders, none pinned.
    pub fn folders(version: u32, count: usize) -> Self {
        let path = |number| format!(r"C:\Users\sam\Documents\Projects\job {number:05}");
        Self::new(version).entries((0..count).map(|number| NewEntry::folder(&path(number))))
    }

    /// Adds an entry at the old end.
    pub fn entry(mut self, entry: NewEntry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Adds entries at the old end, newest first.
    pub fn entries(mut self, entries: impl IntoIterator<Item = NewEntry>) -> Self {
        self.entries.extend(entries);
        self
    }

    /// Pins the entry at `position`; each call takes the next place among the pinned.
    pub fn pin(mut self, position: usize) -> Self {
        self.entries[position].pin = self.entries.iter().filter(|entry| entry.pin != -1).count() as i32;
        self
    }

    /// Gives every entry a rank, as Explorer's list has: in an order that is not that of the list.
    pub fn ranked(mut self) -> Self {
        let ranks = Random(self.entries.len() as u64).permutation(self.entries.len());
        for (entry, rank) in self.entries.iter_mut().zip(ranks) {
            entry.rank = rank as i32;
        }
        self
    }

    /// Changes the entry at `position`.
    pub fn edit(mut self, position: usize, change: impl FnOnce(&mut NewEntry)) -> Self {
        change(&mut self.entries[position]);
        self
    }

    /// Says how many entries the list once had besides.
    pub fn removed(mut self, count: u64) -> Self {
        self.removed = count;
        self
    }

    /// Adds a stream that belongs to no entry.
    pub fn stream(mut self, name: &str, bytes: &[u8]) -> Self {
        self.streams.push((name.to_owned(), bytes.to_vec()));
        self
    }

    /// Puts bytes after the last entry.
    pub fn trailing(mut self, bytes: &[u8]) -> Self {
        self.trailing = bytes.to_vec();
        self
    }

    /// Changes the header after the right one was made.
    pub fn header(mut self, change: fn(&mut Header)) -> Self {
        self.header = Some(change);
        self
    }

    /// Entries with everything filled in.
    fn filled(&self) -> Vec<NewEntry> {
        let mut last_access = self.newest;
        let mut entries = self.entries.clone();
        let count = entries.len() as u64;
        for (position, entry) in entries.iter_mut().enumerate() {
            let id = *entry.id.get_or_insert(count - position as u64);
            if position > 0 {
                last_access = FileTime(last_access.0.saturating_sub(37 * TICKS_PER_MINUTE));
            }
            last_access = *entry.last_access.get_or_insert(last_access);
            entry.droids.get_or_insert_with(|| {
                let volume = guid("5a1c0f3e-77d2-4c1b-9a64-30c1d2e4f506");
                let made = time("2023-11-02T07:30:00Z").0 + id * 7 * TICKS_PER_MINUTE;
                let object = object_id(FileTime(made), 0x1A2B, MAC);
                [volume, object, volume, object]
            });
        }
        entries
    }

    /// The header that fits the entries (docs/format.md: what was measured on real files).
    fn right_header(&self, entries: &[NewEntry]) -> Header {
        let last_id =
            entries.iter().filter_map(|entry| entry.id).max().unwrap_or(0).max(entries.len() as u64 + self.removed);
        let gone = last_id - (entries.len() as u64).min(last_id);
        let score: f64 = entries.iter().map(|entry| f64::from(entry.score)).sum();
        let accesses: u64 = entries.iter().map(|entry| u64::from(entry.interactions)).sum();
        Header {
            version: self.version,
            count: entries.len() as u32,
            pinned: entries.iter().filter(|entry| entry.pin != -1).count() as u32,
            total: if self.version >= 3 { score as f32 } else { entries.len() as f32 },
            last_id,
            // One that is gone was added, opened once, and removed.
            actions: if self.version >= 3 { last_id + accesses + 2 * gone } else { last_id + gone },
        }
    }

    /// The bytes of the `DestList` stream.
    pub fn dest_list(&self) -> Vec<u8> {
        self.dest_list_of(&self.filled())
    }

    fn dest_list_of(&self, entries: &[NewEntry]) -> Vec<u8> {
        let mut header = self.right_header(entries);
        if let Some(change) = self.header {
            change(&mut header);
        }
        let mut out = Vec::new();
        header.encode(&mut out);
        for entry in entries {
            out.extend(encode(entry, self.version));
        }
        out.extend(&self.trailing);
        out
    }

    /// Every stream: `DestList`, then the links from the newest to the oldest, then the others.
    pub fn all_streams(&self) -> Vec<(String, Vec<u8>)> {
        let entries = self.filled();
        let mut streams = Vec::with_capacity(entries.len() + 2);
        match self.dest_list {
            DestListStream::Written => streams.push(("DestList".to_owned(), self.dest_list_of(&entries))),
            DestListStream::Empty => streams.push(("DestList".to_owned(), Vec::new())),
            DestListStream::Missing => {}
        }
        for entry in &entries {
            let bytes = match &entry.link {
                Link::Missing => continue,
                Link::Raw(bytes) => bytes.clone(),
                Link::Made(link) => {
                    let mut link = link.clone();
                    link.machine = String::from_utf8_lossy(&entry.host).trim_end_matches('\0').to_owned();
                    link.droids = entry.droids.unwrap();
                    link.build()
                }
            };
            streams.push((format!("{:x}", entry.id.unwrap()), bytes));
        }
        streams.extend(self.streams.iter().cloned());
        streams
    }

    /// The file.
    pub fn build(&self) -> Vec<u8> {
        file_of(&self.root, &self.all_streams())
    }
}

/// A compound file with these streams.
pub fn file_of(root: &Root, streams: &[(String, Vec<u8>)]) -> Vec<u8> {
    let streams: Vec<_> = streams.iter().map(|(name, data)| NewStream { storage: "", name, data }).collect();
    write::build(root, &[], &streams).expect("streams with names that a compound file can hold")
}

fn encode(entry: &NewEntry, version: u32) -> Vec<u8> {
    let [volume_id, object_id, birth_volume_id, birth_object_id] = entry.droids.unwrap();
    let usage = Usage { rank: entry.rank, interactions: entry.interactions, reserved: 0 };
    let mut bytes = Vec::new();
    Entry {
        offset: 0,
        raw: &[],
        checksum: 0,
        volume_id,
        object_id,
        birth_volume_id,
        birth_object_id,
        host: entry.host,
        id: entry.id.unwrap(),
        score: entry.score,
        last_access: entry.last_access.unwrap(),
        pin: entry.pin,
        usage: has_rank(version).then_some(usage),
        path: Utf16(&entry.path),
        property_store: &entry.property_store,
    }
    .encode(&mut bytes);
    let checksum = entry.checksum.unwrap_or_else(|| checksum_of(&bytes).unwrap());
    bytes[..8].copy_from_slice(&checksum.to_le_bytes());
    bytes
}
