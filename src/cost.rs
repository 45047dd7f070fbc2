//! What a right-click costs: the reads that Explorer makes to show a list's menu, counted from its structure.
//!
//! The walk is derived from two published traces (format.md, last section). Explorer reads without a buffer: the
//! tables once, a sector a call; then twice the DestList, a field or two a call, and twice every link, a
//! mini sector a call. So a list costs not by its size but by how many small pieces it is made of.

use crate::format::compound::{MINI_SIZE, Stream};
use crate::format::destlist::{self, HEADER_SIZE};
use crate::model::JumpList;

/// Microseconds that one read took in the published trace: 70 % of 450 ms of CPU for each of two clicks that
/// together made 229,604 reads is 2.7 µs, and with the time in between, 3.9 µs (format.md).
pub const MICROSECONDS_PER_READ: f64 = 3.9;

/// Explorer goes through DestList and links twice for one menu (measured, format.md).
pub const PASSES: usize = 2;

/// What one right-click on a list costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Calls of ReadFile.
    pub reads: u64,
    /// Bytes that they read together.
    pub bytes: u64,
    /// Bytes of the file.
    pub file_size: u64,
}

impl Cost {
    /// The cost of a click on `list`.
    pub fn of(list: &JumpList<'_>) -> Self {
        let mut cost = Self { file_size: list.compound.file_size(), ..Self::default() };
        walk(list, &mut |read: Read<'_>| {
            cost.reads = cost.reads.saturating_add(1);
            cost.bytes = cost.bytes.saturating_add(read.size as u64);
        });
        cost
    }

    /// Bytes a call, 0 where there is none.
    pub fn mean_read(&self) -> f64 {
        if self.reads == 0 { 0.0 } else { self.bytes as f64 / self.reads as f64 }
    }

    /// How many times through the file that is.
    pub fn passes(&self) -> f64 {
        if self.file_size == 0 { 0.0 } else { self.bytes as f64 / self.file_size as f64 }
    }

    /// Milliseconds that the reads took on the machine of the trace.
    pub fn estimated_ms(&self) -> f64 {
        self.reads as f64 * MICROSECONDS_PER_READ / 1000.0
    }
}

/// One call of the walk.
#[derive(Debug, Clone, Copy)]
pub struct Read<'c> {
    /// What it reads from: a table of the container, or a stream.
    pub from: From<'c>,
    /// Where in that, in bytes.
    pub at: usize,
    /// How many bytes.
    pub size: usize,
}

/// What a call of the walk reads from.
#[derive(Debug, Clone, Copy)]
pub enum From<'c> {
    /// The container's header.
    Header,
    /// A sector of the container's tables: FAT, mini FAT, directory.
    Table(u32),
    /// A stream.
    Stream(&'c Stream<'c>),
}

/// Goes through a list as Explorer does, and tells each call.
pub fn walk<'c>(list: &JumpList<'c>, tell: &mut impl FnMut(Read<'c>)) {
    let sector = usize::try_from(list.compound.sector_size()).unwrap_or(usize::MAX);
    tell(Read { from: From::Header, at: 0, size: sector });
    for number in &list.compound.tables {
        tell(Read { from: From::Table(*number), at: 0, size: sector });
    }
    for _ in 0..PASSES {
        if let Some(stream) = list.dest_list {
            let unit = unit_of(stream, sector);
            let mut piece = |at, size| in_units(stream, at, size, unit, tell);
            piece(0, HEADER_SIZE.min(stream.data.len()));
            for entry in &list.entries {
                let version = list.version().unwrap_or_default();
                for (at, size) in pieces_of_entry(&entry.dest, version) {
                    piece(at, size);
                }
            }
        }
        for stream in list.entries.iter().filter_map(|entry| entry.link) {
            in_units(stream, 0, stream.data.len(), unit_of(stream, sector), tell);
        }
    }
}

/// The pieces that an entry is read in: the fixed part, the path, the property store's size, the store.
fn pieces_of_entry(entry: &destlist::Entry<'_>, version: u32) -> impl Iterator<Item = (usize, usize)> {
    let (path, store) = (entry.path.0.len(), entry.property_store.len());
    let ranked = destlist::has_rank(version);
    let fixed = if ranked { 130 } else { 114 };
    let sizes = [fixed, path, if ranked { 4 } else { 0 }, store];
    let mut at = entry.offset;
    sizes.into_iter().map(move |size| {
        let start = at;
        at = at.saturating_add(size);
        (start, size)
    })
}

/// How many bytes of a stream stand together for certain: a mini sector, or a sector.
fn unit_of(stream: &Stream<'_>, sector: usize) -> usize {
    if stream.is_mini() { MINI_SIZE } else { sector }
}

/// Tells a call for each unit of `stream` that the `size` bytes from `at` touch.
fn in_units<'c>(stream: &'c Stream<'c>, at: usize, size: usize, unit: usize, tell: &mut impl FnMut(Read<'c>)) {
    let end = at.saturating_add(size);
    let mut start = at;
    while start < end {
        let next = (start / unit.max(1)).saturating_add(1).saturating_mul(unit.max(1)).min(end);
        tell(Read { from: From::Stream(stream), at: start, size: next.saturating_sub(start) });
        start = next;
    }
}
