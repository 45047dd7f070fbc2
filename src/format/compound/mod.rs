//! The compound file (MS-CFB) that an automatic destinations list lives in, read tolerantly from a slice.
//!
//! A jump list that Windows has damaged still holds most of what was in it. So a fault here never ends the
//! reading: it is written down, and everything that can be reached is handed out, and what is missing is listed
//! per stream. The directory is read by a linear scan, not through its tree, so that a broken tree loses
//! nothing. Every chain is walked through a mark per sector, the bytes handed out are bounded by a budget, and
//! the work is linear in the file.
//!
//! ```
//! use jlfix::format::compound::Compound;
//!
//! let data = std::fs::read("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! let compound = Compound::parse(&data, &jlfix::Limits::default())?;
//! assert!(compound.faults.is_empty());
//! for stream in &compound.streams {
//!     println!("{}: {} bytes at {}", stream.name, stream.size, stream.offset);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod directory;
pub(crate) mod fault;
pub(crate) mod header;
pub(crate) mod layout;
mod run;
pub(crate) mod streams;
pub(crate) mod tables;
mod unused;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

pub use directory::{DirEntry, Kind, entry_id};
pub use fault::{Fault, FaultKind};
pub use header::{Header, MINI_CUTOFF, MINI_SIZE, SIGNATURE};
pub(crate) use run::Run;
pub use tables::Sectors;
pub use unused::{Place, Unused, UnusedEntry};

use super::destlist;
use super::guid::Guid;
use super::text::Utf16;
use super::time::FileTime;
use crate::bytes::Short;
use crate::limits::Limits;
use layout::Layout;

/// How a stream's bytes were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Recovery {
    /// As the file says, nothing in doubt.
    Intact,
    /// Along a chain that had to be repaired.
    Chain,
    /// The chain is lost; the bytes that follow the start prove to be the stream.
    Contiguous,
    /// The directory entry is lost; found in sectors that belong to nothing.
    Carved,
}

impl Recovery {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Chain => "chain",
            Self::Contiguous => "contiguous",
            Self::Carved => "carved",
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Recovery {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A stream and as many of its bytes as are there.
#[derive(Debug, Clone)]
pub struct Stream<'a> {
    /// Name as in the directory; empty for a carved stream.
    pub name: Utf16<'a>,
    /// Name of the storage it is in, outermost first and with `/` between; empty for the root.
    pub storage: String,
    /// The bytes: borrowed from the file where they are in one piece.
    pub data: Cow<'a, [u8]>,
    /// Size that the directory claims, in bytes.
    pub size: u64,
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// First sector or mini sector.
    pub start: u32,
    /// How the bytes were found.
    pub recovery: Recovery,
    /// Where the bytes are in the file, range by range, if they are not in one piece.
    pub pieces: Vec<Range<usize>>,
}

impl Stream<'_> {
    /// The entry id that the name spells, and whether it is spelled as Windows does.
    pub fn entry_id(&self) -> Option<(u64, bool)> {
        if self.storage.is_empty() { entry_id(self.name) } else { None }
    }

    /// True if it is named as the stream that lists the entries is.
    pub fn is_dest_list(&self) -> bool {
        self.storage.is_empty() && is_dest_list(self.name)
    }

    /// Offset of byte `at` of the stream in the file.
    pub fn file_offset(&self, at: usize) -> Option<u64> {
        let mut left = at;
        if self.pieces.is_empty() {
            return Some(self.offset.saturating_add(at as u64));
        }
        for piece in &self.pieces {
            match left.checked_sub(piece.len()) {
                None => return Some(piece.start.saturating_add(left) as u64),
                Some(rest) => left = rest,
            }
        }
        None
    }

    /// Where the bytes of `range` of the stream are in the file, range by range.
    pub fn ranges(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let whole = start..start.saturating_add(self.data.len());
        let pieces = if self.pieces.is_empty() { std::slice::from_ref(&whole) } else { self.pieces.as_slice() };
        let mut at = 0_usize;
        let mut ranges = Vec::new();
        for piece in pieces {
            let (from, to) = (range.start.max(at), range.end.min(at.saturating_add(piece.len())));
            if from < to {
                let place = |inside: usize| piece.start.saturating_add(inside.saturating_sub(at));
                ranges.push(place(from)..place(to));
            }
            at = at.saturating_add(piece.len());
        }
        ranges
    }

    /// How many of the claimed bytes could not be found.
    pub fn missing(&self) -> u64 {
        self.size.saturating_sub(self.data.len() as u64)
    }

    /// True if the stream lives in mini sectors.
    pub fn is_mini(&self) -> bool {
        self.size < u64::from(MINI_CUTOFF)
    }
}

/// What the root entry says of the file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Root {
    /// Class; zero in every real list.
    pub clsid: Guid,
    /// Creation time; 0 in most.
    pub created: FileTime,
    /// Modification time; set in every real list.
    pub modified: FileTime,
}

/// A DestList entry whose checksum holds, found in sectors that belong to nothing.
#[derive(Debug, Clone)]
pub struct CarvedEntry<'a> {
    /// Its bytes.
    pub data: Cow<'a, [u8]>,
    /// Its offset in the file.
    pub offset: u64,
    /// The format version it was read with: a list of one file has one.
    pub version: u32,
}

impl CarvedEntry<'_> {
    /// The entry; its offset is that in the file.
    pub fn entry(&self) -> Option<destlist::Entry<'_>> {
        destlist::Entry::decode(&self.data, usize::try_from(self.offset).unwrap_or(usize::MAX), self.version).ok()
    }
}

/// A compound file, read as far as possible.
#[derive(Debug)]
pub struct Compound<'a> {
    /// The header.
    pub header: Header,
    /// Streams in the order of the directory, carved ones last.
    pub streams: Vec<Stream<'a>>,
    /// Names of storages, outermost first and with `/` between. No real list has one.
    pub storages: Vec<String>,
    /// What the root says.
    pub root: Root,
    /// DestList entries found in sectors that belong to nothing, in the order of the file. None in a file that is
    /// whole.
    pub carved_entries: Vec<CarvedEntry<'a>>,
    /// Everything that is wrong with the container.
    pub faults: Vec<Fault>,
    /// The sectors of the tables: FAT and DIFAT, directory, mini FAT, in the order in which Explorer reads them before any stream.
    pub tables: Vec<u32>,
    pub(crate) layout: Layout<'a>,
}

/// True if `data` starts as a compound file does.
pub fn looks_like_compound(data: &[u8]) -> bool {
    data.starts_with(&SIGNATURE)
}

impl<'a> Compound<'a> {
    /// Reads what the header and the tables lead to, as Windows does. [`crate::salvage::read`] also recovers what a
    /// damaged file still holds.
    ///
    /// # Errors
    /// Only if the file has no complete header (512 bytes). Everything else is a fault that the result lists.
    pub fn parse(data: &'a [u8], limits: &Limits) -> Result<Self, Short> {
        Self::read(data, limits).map(Self::with_name_faults)
    }

    /// Adds a fault for each stream whose name another one has: Windows finds one of them.
    pub(crate) fn with_name_faults(mut self) -> Self {
        // The tree of a directory without a fault is in strict order by name. Beyond ASCII, names can differ in that order
        // and still be one name.
        let is_plain =
            |stream: &Stream<'_>| stream.recovery == Recovery::Intact && stream.name.units().all(|unit| unit < 0x80);
        if self.faults.is_empty() && self.streams.iter().all(is_plain) {
            return self;
        }
        let mut names = HashSet::with_capacity(self.streams.len());
        for stream in self.streams.iter().filter(|stream| !stream.name.is_empty()) {
            let folded: String = stream.name.chars().flat_map(char::to_uppercase).collect();
            if !names.insert((stream.storage.as_str(), folded)) {
                let message = format!("two streams are called {:?}", stream.name);
                let stream_id = stream.entry_id().map(|(id, _)| id);
                let fault = Fault::new(FaultKind::DuplicateName, stream.offset, message);
                self.faults.push(Fault { stream_id, ..fault });
            }
        }
        self
    }

    pub(crate) fn read(data: &'a [u8], limits: &Limits) -> Result<Self, Short> {
        let mut faults = Vec::new();
        let header = Header::parse(data, &mut faults)?;
        let (layout, seen) = Layout::read(Sectors::new(data, header.sector_shift), &header, &mut faults);
        let (streams, storages) = streams::read_streams(&layout, seen, limits, &mut faults);
        Ok(Self::of(header, layout, streams, storages, faults))
    }

    pub(crate) fn of(
        header: Header,
        layout: Layout<'a>,
        streams: Vec<Stream<'a>>,
        storages: Vec<String>,
        faults: Vec<Fault>,
    ) -> Self {
        let root =
            layout.root().map(|entry| Root { clsid: entry.clsid, created: entry.created, modified: entry.modified });
        let tables = [&layout.fat_sectors, &layout.directory_sectors, &layout.mini_fat_sectors];
        let tables = tables.into_iter().flatten().copied().collect();
        Self {
            header,
            streams,
            storages,
            root: root.unwrap_or_default(),
            carved_entries: Vec::new(),
            faults,
            tables,
            layout,
        }
    }

    /// The stream of that name in the root, without regard to case as in Windows.
    pub fn stream(&self, name: &str) -> Option<&Stream<'a>> {
        self.streams.iter().find(|stream| stream.storage.is_empty() && is_named(stream.name, name))
    }

    /// The file as it was given.
    pub fn file(&self) -> &'a [u8] {
        self.layout.sectors.data()
    }

    /// Bytes of the file.
    pub fn file_size(&self) -> u64 {
        self.layout.sectors.data().len() as u64
    }

    /// Bytes of a sector.
    pub fn sector_size(&self) -> u64 {
        self.layout.sectors.size() as u64
    }

    /// Where sector `number` starts in the file, in bytes.
    pub fn sector_offset(&self, number: u32) -> u64 {
        self.layout.sectors.offset(number)
    }
}

/// The stream that lists the entries.
pub(crate) const DEST_LIST: &str = "DestList";

pub(crate) fn is_dest_list(name: Utf16<'_>) -> bool {
    is_named(name, DEST_LIST)
}

/// True if the names are one, without regard to case as in Windows.
fn is_named(name: Utf16<'_>, wanted: &str) -> bool {
    name.chars().map(|c| c.to_ascii_lowercase()).eq(wanted.chars().map(|c| c.to_ascii_lowercase()))
}
