//! Finding one's place again in a damaged DestList, by the checksums.
//!
//! An entry says how long its path is, and nothing else says where the next one starts: one flipped bit in a
//! path length hides every entry behind it. The checksum over an entry's first 112 bytes makes a found entry
//! certain, wherever it is. So the places where a checksum holds are the fixed points here; what is
//! between them is read only where it fits exactly or looks like an entry, and everything else is a gap.

use std::ops::Range;

use super::{CHECKED_SIZE, DestList, Entry, HEADER_SIZE, Header, Version, checksum_of, has_rank};
use crate::bytes::{Bytes, u32_at};
use crate::format::text::Utf16;
use crate::format::time::FileTime;

/// The first character after the control characters, which no path or name contains.
const FIRST_TEXT: u16 = 0x20;

/// How reliable an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Soundness {
    /// Its checksum holds, and it is all there.
    Sound,
    /// Its checksum holds, but the length of its path cannot be right: the path ends where text or room does.
    Bounded,
    /// Its checksum does not hold; it is where an entry must be, and has plausible fields.
    Doubtful,
}

/// An entry of a damaged list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found<'a> {
    /// The entry. Where it is [`Soundness::Bounded`], encoding it gives a path length that fits.
    pub entry: Entry<'a>,
    /// How reliable it is.
    pub soundness: Soundness,
}

/// What is left of a damaged list.
#[derive(Debug, Clone, PartialEq)]
pub struct Resynced<'a> {
    /// The header as it is in the stream, or, where it is invalid, rebuilt from the entries.
    pub header: Header,
    /// False if the header, or a part of it, had to be rebuilt.
    pub header_sound: bool,
    /// Entries in the order of the stream.
    pub entries: Vec<Found<'a>>,
    /// Ranges of the stream in which no entry was found, in bytes from its start; none in a healthy list.
    pub gaps: Vec<Range<usize>>,
}

impl Resynced<'_> {
    /// True if every byte is accounted for, every checksum holds, every path is text, and the header counts the entries
    /// right.
    pub fn is_whole(&self) -> bool {
        self.header_sound
            && usize::try_from(self.header.count) == Ok(self.entries.len())
            && self.gaps.is_empty()
            && self.entries.iter().all(|found| found.soundness == Soundness::Sound && is_text(found.entry.path))
    }

    /// Number of entries that are certain.
    pub fn sound(&self) -> usize {
        self.entries.iter().filter(|found| found.soundness == Soundness::Sound).count()
    }
}

/// True if [`resync`] would find the DestList complete ([`Resynced::is_whole`]). A list that reads straight through needs no
/// search for it.
pub fn is_whole(data: &[u8]) -> bool {
    let reads_straight = |list: DestList<'_>| {
        let count = list.entries.len();
        let is_sound = |entry: &Entry<'_>| entry.checksum != 0 && entry.checksum_ok() && is_text(entry.path);
        list.header.is_known_version()
            && list.trailing.is_empty()
            && usize::try_from(list.header.count) == Ok(count)
            && list.header.pinned <= list.header.count
            && list.entries.iter().all(is_sound)
    };
    DestList::decode(data).is_ok_and(reads_straight) || resync(data).is_whole()
}

/// True if an entry whose checksum holds starts at `at`.
pub fn checks_at(data: &[u8], at: usize) -> bool {
    let Some(fixed) = data.get(at..at.saturating_add(CHECKED_SIZE)) else { return false };
    let claimed = fixed.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes));
    claimed.is_some_and(|claimed| claimed != 0) && checksum_of(fixed) == claimed
}

/// True for the upper half of a last access between 1986 and 2057.
fn could_be_access(upper: u32) -> bool {
    (0x01B0_0000..0x0200_0000).contains(&upper)
}

/// True for a last access between 1986 and 2057: others are not written by Windows.
pub(crate) fn is_likely_access(time: FileTime) -> bool {
    u32::try_from(time.0 >> 32).is_ok_and(could_be_access)
}

/// True if what starts at `at` could be an entry, by the fields that are cheap to look at: a pin of -1 or a small
/// number, and a last access between 1986 and 2057. No two neighbouring places can both pass, which bounds the
/// checksums that a hostile file can make us compute.
pub fn could_start_at(data: &[u8], at: usize) -> bool {
    let field = |offset: usize| u32_at(data, at.saturating_add(offset));
    let (Some(access), Some(pin)) = (field(104), field(108)) else { return false };
    could_be_access(access) && (pin == u32::MAX || pin <= 4096)
}

/// Where in `data` entries start whose checksum holds, in ascending order. One pass.
pub fn find_entries(data: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0_usize;
    while at.saturating_add(CHECKED_SIZE) <= data.len() {
        if could_start_at(data, at) && checks_at(data, at) {
            found.push(at);
            at = at.saturating_add(CHECKED_SIZE);
        } else {
            at = at.saturating_add(1);
        }
    }
    found
}

/// Reads what a damaged list still holds. Never fails: a list with nothing in it has no entries and one gap.
pub fn resync(data: &[u8]) -> Resynced<'_> {
    let mut marks = find_entries(data);
    // The first entry has a place of its own, so it need not look likely to be believed.
    if checks_at(data, HEADER_SIZE) && !marks.contains(&HEADER_SIZE) {
        marks.retain(|mark| *mark >= HEADER_SIZE.saturating_add(CHECKED_SIZE));
        marks.insert(0, HEADER_SIZE);
    }
    let claimed = Header::decode(&mut Bytes::new(data)).ok();
    let version = version(data, &marks, claimed.map(|header| header.version));
    let mut reader = Reader { data, version, entries: Vec::new(), gaps: Vec::new() };
    let mut at = HEADER_SIZE.min(marks.first().copied().unwrap_or(HEADER_SIZE)).min(data.len());
    for (index, mark) in marks.iter().enumerate() {
        reader.between(at, *mark);
        let limit = marks.get(index.saturating_add(1)).copied().unwrap_or(data.len());
        at = reader.certain(*mark, limit);
    }
    reader.between(at, data.len());
    let Reader { entries, gaps, .. } = reader;
    let (header, header_sound) = header(claimed, version, &entries, marks.first().copied());
    Resynced { header, header_sound, entries, gaps }
}

/// The version to read with: the one claimed, unless the places where checksums hold speak for the other layout.
fn version(data: &[u8], marks: &[usize], claimed: Option<u32>) -> u32 {
    let landings = |version: u32| {
        let ends = marks.iter().skip(1).copied().chain([data.len()]);
        marks
            .iter()
            .zip(ends)
            .filter(|(mark, end)| {
                let entry = data.get(**mark..).and_then(|rest| Entry::decode(rest, **mark, version).ok());
                entry.is_some_and(|entry| mark.saturating_add(entry.raw.len()) == *end)
            })
            .count()
    };
    let claimed = claimed.filter(|version| (1..=6).contains(version));
    let (old, new) = (landings(1), landings(Version::USUAL.number()));
    match claimed {
        Some(1) if new > old => Version::USUAL.number(),
        Some(version) if has_rank(version) && old > new => 1,
        Some(version) => version,
        None if old > new => 1,
        None => Version::USUAL.number(),
    }
}

/// The entries in `data` whose checksum holds, wherever they are, and the version that they were read with: the one
/// that the caller knows, or else the one that fits. Only [`Soundness::Sound`] ones are all there; of a
/// [`Soundness::Bounded`] one the path goes as far as text does, and what follows it is lost.
pub fn certain_entries(data: &[u8], known: Option<u32>) -> (u32, Vec<Found<'_>>) {
    let marks = find_entries(data);
    let version = known.unwrap_or_else(|| version(data, &marks, None));
    let ends = marks.iter().skip(1).copied().chain([data.len()]);
    let entries = marks.iter().zip(ends).filter_map(|(mark, end)| {
        let room = data.get(*mark..end)?;
        match Entry::decode(room, *mark, version) {
            Ok(entry) if entry.raw.len() == room.len() || is_text(entry.path) => {
                Some(Found { entry, soundness: Soundness::Sound })
            }
            _ => Some(Found { entry: cut(room, *mark, version)?, soundness: Soundness::Bounded }),
        }
    });
    (version, entries.collect())
}

/// The entry at the start of `room` of which the end is not there: as much of its path as there is text.
fn cut(room: &[u8], offset: usize, version: u32) -> Option<Entry<'_>> {
    let mut bytes = Bytes::at_base(room, offset as u64);
    let mut entry = Entry::fixed(&mut bytes, offset, version).ok()?;
    let claimed = usize::from(bytes.u16("entry path length").unwrap_or_default()).saturating_mul(2);
    let there = bytes.rest().get(..claimed.min(bytes.left()))?;
    let units = Utf16(there).units().take_while(|unit| *unit >= FIRST_TEXT).count();
    entry.path = Utf16(bytes.take("entry path", units.saturating_mul(2)).ok()?);
    entry.raw = room.get(..bytes.position())?;
    Some(entry)
}

struct Reader<'a> {
    data: &'a [u8],
    version: u32,
    entries: Vec<Found<'a>>,
    gaps: Vec<Range<usize>>,
}

impl<'a> Reader<'a> {
    fn gap(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.gaps.push(range);
        }
    }

    /// Reads what looks like entries from `at` up to `end`, where something certain starts or the list ends.
    fn between(&mut self, mut at: usize, end: usize) {
        while at < end {
            let entry = self.data.get(at..end).and_then(|rest| Entry::decode(rest, at, self.version).ok());
            // An entry that must start here need not look likely if its checksum holds: it can have no last access.
            let certain = checks_at(self.data, at);
            let is_entry = |entry: &Entry<'_>| (certain || could_start_at(self.data, at)) && is_text(entry.path);
            let Some(entry) = entry.filter(is_entry) else { break };
            at = at.saturating_add(entry.raw.len());
            let soundness = if certain { Soundness::Sound } else { Soundness::Doubtful };
            self.entries.push(Found { entry, soundness });
        }
        self.gap(at..end);
    }

    /// Reads the entry at `mark`, whose checksum holds, and which cannot go past `limit`. Returns its end.
    fn certain(&mut self, mark: usize, limit: usize) -> usize {
        let room = self.data.get(mark..limit).unwrap_or_default();
        match Entry::decode(room, mark, self.version) {
            Ok(entry) if entry.raw.len() == room.len() || is_text(entry.path) => {
                self.entries.push(Found { entry, soundness: Soundness::Sound });
                mark.saturating_add(entry.raw.len())
            }
            _ => match bounded(room, mark, self.version, limit == self.data.len()) {
                Some(entry) => {
                    self.entries.push(Found { entry, soundness: Soundness::Bounded });
                    mark.saturating_add(entry.raw.len())
                }
                None => {
                    self.gap(mark..limit);
                    limit
                }
            },
        }
    }
}

/// The entry at the start of `room` when one of its lengths is invalid: its path ends where the text ends. If the list ends
/// inside the path (`is_last`), no bytes are left for the size of the property store.
fn bounded(room: &[u8], offset: usize, version: u32, is_last: bool) -> Option<Entry<'_>> {
    let mut bytes = Bytes::at_base(room, offset as u64);
    let mut entry = Entry::fixed(&mut bytes, offset, version).ok()?;
    let claimed = usize::from(bytes.u16("entry path length").ok()?).saturating_mul(2);
    let truncated = is_last && claimed > bytes.left();
    let tail = if has_rank(version) && !(truncated && is_text(Utf16(bytes.rest()))) { 4 } else { 0 };
    let most = bytes.left().saturating_sub(tail).min(usize::from(u16::MAX).saturating_mul(2));
    let units = Utf16(bytes.rest().get(..most)?).units().take_while(|unit| *unit >= FIRST_TEXT).count();
    entry.path = Utf16(bytes.take("entry path", units.saturating_mul(2)).ok()?);
    bytes.take("entry property store size", tail).ok()?;
    entry.raw = room.get(..bytes.position())?;
    Some(entry)
}

/// True if there is no control character in it, as none is in a path or a name that Windows puts there.
pub fn is_text(path: Utf16<'_>) -> bool {
    path.units().all(|unit| unit >= FIRST_TEXT)
}

/// The header to use, and whether it is the one on disk.
fn header(claimed: Option<Header>, version: u32, found: &[Found<'_>], first: Option<usize>) -> (Header, bool) {
    let in_place = first.is_none_or(|first| first >= HEADER_SIZE);
    let sound = |header: &Header| {
        let counts = header.pinned <= header.count && (header.count > 0 || found.is_empty());
        in_place && header.version == version && counts
    };
    if let Some(header) = claimed.filter(sound) {
        return (header, true);
    }
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let entries = || found.iter().map(|found| &found.entry);
    let largest = entries().map(|entry| entry.id).max().unwrap_or_default();
    // A field that could be right is kept: only the last id matters to Windows, and it must not fall.
    let kept = claimed.filter(|_| in_place);
    let small = |value: u64| value < u64::from(u32::MAX);
    let total = kept.map(|header| header.total).filter(|total| total.is_finite() && *total >= 0.0);
    let header = Header {
        version,
        count: number(found.len()),
        pinned: number(entries().filter(|entry| entry.is_pinned()).count()),
        total: total
            .unwrap_or_else(|| super::total::of_entries(version, super::total::sum_of_scores(entries()), found.len())),
        last_id: kept.map(|header| header.last_id).filter(|id| small(*id)).unwrap_or_default().max(largest),
        actions: kept.map(|header| header.actions).filter(|actions| small(*actions)).unwrap_or(found.len() as u64),
    };
    (header, false)
}
