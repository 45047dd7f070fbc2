//! The walk through a list as Explorer makes it, as calls at places in the file.

use std::ops::Range;

use super::{SESSIONS, fields};
use crate::format::compound::Stream;
use crate::format::destlist::HEADER_SIZE;
use crate::model::AutomaticList;

/// One read call on the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadCall {
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: usize,
    /// True if it continues a field whose sectors are not adjacent in the file.
    pub continued: bool,
}

/// Calls `visit` with each read of one right-click: two sessions, each of the DestList and all links.
pub fn click(list: &AutomaticList<'_>, visit: &mut impl FnMut(ReadCall)) {
    for _ in 0..SESSIONS {
        session(list, true, list.entries.iter().filter_map(|entry| entry.link), visit);
    }
}

/// Calls `visit` with each read of one session: the header twice, the tables, the DestList if `dest_list`, then `links`
/// in their order.
pub fn session<'c>(
    list: &AutomaticList<'c>,
    dest_list: bool,
    links: impl IntoIterator<Item = &'c Stream<'c>>,
    visit: &mut impl FnMut(ReadCall),
) {
    let size = list.compound.file_size();
    let sector = list.compound.sector_size();
    // The header sector and the last sector of a file can be incomplete.
    let mut sector_at = |offset: u64| {
        let length = usize::try_from(sector.min(size.saturating_sub(offset))).unwrap_or(usize::MAX);
        if length > 0 {
            visit(ReadCall { offset, length, continued: false });
        }
    };
    sector_at(0);
    sector_at(0);
    for number in &list.compound.tables {
        sector_at(list.compound.sector_offset(*number));
    }
    if let Some(stream) = list.dest_list.filter(|_| dest_list) {
        let version = list.version().unwrap_or_default();
        let mut cursor = Cursor::new(stream);
        cursor.read(HEADER_SIZE, visit);
        for entry in &list.entries {
            cursor.seek(entry.dest.offset);
            for length in fields::of_entry(&entry.dest, version) {
                cursor.read(length, visit);
            }
        }
    }
    for stream in links {
        let mut cursor = Cursor::new(stream);
        fields::of_link(&stream.data, &mut |length| cursor.read(length, visit));
    }
}

/// Places in the DestList and the links at which the stream continues at another place of the file.
pub(super) fn discontinuities(list: &AutomaticList<'_>) -> u64 {
    let links = list.entries.iter().filter_map(|entry| entry.link);
    list.dest_list.into_iter().chain(links).map(|stream| (stream.pieces.len() as u64).saturating_sub(1)).sum()
}

/// Reads a stream field by field.
struct Cursor<'s> {
    /// Where the stream is in the file, if it is in one piece.
    only: [Range<usize>; 1],
    /// Where it is in the file, if it is in several pieces.
    several: &'s [Range<usize>],
    /// The piece that is being read.
    index: usize,
    /// Bytes of that piece that were read.
    used: usize,
    /// Bytes of the stream before that piece.
    before: usize,
}

impl<'s> Cursor<'s> {
    fn new(stream: &'s Stream<'s>) -> Self {
        let start = usize::try_from(stream.offset).unwrap_or(usize::MAX);
        let only = Range { start, end: start.saturating_add(stream.data.len()) };
        Self { only: [only], several: &stream.pieces, index: 0, used: 0, before: 0 }
    }

    /// The piece that is being read; `None` at the end of the stream.
    fn piece(&self) -> Option<&Range<usize>> {
        let pieces = if self.several.is_empty() { self.only.as_slice() } else { self.several };
        pieces.get(self.index)
    }

    fn next_piece(&mut self, length: usize) {
        self.before = self.before.saturating_add(length);
        self.index = self.index.saturating_add(1);
        self.used = 0;
    }

    /// Goes to byte `at` of the stream.
    fn seek(&mut self, at: usize) {
        if at < self.before {
            (self.index, self.before) = (0, 0);
        }
        self.used = 0;
        while let Some(length) = self.piece().map(Range::len) {
            self.used = at.saturating_sub(self.before);
            if self.used < length {
                return;
            }
            self.next_piece(length);
        }
    }

    /// Reads one field of `length` bytes: one call for each piece of the file that it touches.
    fn read(&mut self, length: usize, visit: &mut impl FnMut(ReadCall)) {
        let mut left = length;
        while left > 0 {
            let Some(piece) = self.piece().cloned() else { return };
            let take = piece.len().saturating_sub(self.used).min(left);
            if take > 0 {
                let offset = piece.start.saturating_add(self.used) as u64;
                visit(ReadCall { offset, length: take, continued: left < length });
            }
            left = left.saturating_sub(take);
            self.used = self.used.saturating_add(take);
            if self.used >= piece.len() {
                self.next_piece(piece.len());
            }
        }
    }
}
