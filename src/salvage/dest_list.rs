//! Putting a DestList together again, unit by unit, by its checksums.
//!
//! Each entry says by its checksum that its first 112 bytes are right, and by the length of its path where the
//! next one starts. So where the chain of the stream is lost, the unit that comes next is the one with which the
//! entries go on to hold, and a wrong one shows within an entry's length.

use super::links::Work;
use super::space::Space;
use crate::bytes::{Bytes, u32_at};
use crate::format::destlist::{self, CHECKED_SIZE, Found, HEADER_SIZE, Header, Soundness, has_rank};
use crate::format::text::Utf16;

/// How many units are tried for one place.
const MOST_CANDIDATES: usize = 16;
/// How often a wrong turn may be taken back.
const MOST_RETURNS: usize = 48;
/// The largest DestList that is put together, in bytes: far more than Windows ever keeps.
const LARGEST: usize = 16 << 20;
/// A larger property store in an entry than any that is known.
const LARGEST_STORE: u32 = 1 << 16;
/// How many units are gone through without an entry, where the directory does not say how many there are.
const MOST_LOST: usize = 16;

/// A DestList and the units it was found in.
#[derive(Debug, Clone)]
pub(super) struct Assembled {
    pub(super) units: Vec<u32>,
    pub(super) data: Vec<u8>,
    /// Entries that are certain.
    pub(super) sound: usize,
}

impl Assembled {
    /// Takes `data`, from `units`, as it is.
    pub(super) fn new(units: Vec<u32>, data: Vec<u8>) -> Self {
        let found = destlist::resync(&data);
        let sound = |found: &&Found<'_>| found.soundness == Soundness::Sound && destlist::is_text(found.entry.path);
        let sound = found.entries.iter().filter(sound).count();
        Self { units, data, sound }
    }

    /// True if everything in it holds.
    pub(super) fn is_whole(&self) -> bool {
        destlist::resync(&self.data).is_whole()
    }
}

/// True if a DestList could start with `bytes`: its header, and as much of the first entry as is there.
pub(super) fn could_start(bytes: &[u8]) -> bool {
    let Ok(header) = Header::decode(&mut Bytes::new(bytes)) else { return false };
    header.is_known_version()
        && (1..0x1_0000).contains(&header.count)
        && header.pinned <= header.count
        && header.last_id > 0
        && header.last_id < u64::from(u32::MAX)
        && header.total.is_finite()
}

/// Follows a DestList from the unit `start` on. `size` is what the directory says of it, if that can be relied on.
pub(super) fn assemble(space: &Space<'_, '_>, start: u32, size: Option<u64>, work: &mut Work) -> Option<Assembled> {
    let header = Header::decode(&mut Bytes::new(space.bytes(start)?)).ok()?;
    let count = usize::try_from(space.count()).unwrap_or(usize::MAX);
    let mut search = Search {
        space,
        version: if header.is_known_version() { header.version } else { destlist::Version::USUAL.number() },
        size: size.map(|size| usize::try_from(size).unwrap_or(usize::MAX)).filter(|size| *size <= LARGEST),
        count: usize::try_from(header.count).unwrap_or(usize::MAX),
        used: vec![false; count],
        data: Vec::new(),
        units: Vec::new(),
        place: Place { at: HEADER_SIZE, entries: 0 },
    };
    search.push(start);
    search.run(work);
    let end = search.size.unwrap_or(search.place.at).min(search.data.len());
    search.data.truncate(end);
    Some(Assembled::new(search.units, search.data))
}

struct Search<'s, 'l, 'a> {
    space: &'s Space<'l, 'a>,
    version: u32,
    size: Option<usize>,
    count: usize,
    /// By unit: is one of `units`.
    used: Vec<bool>,
    data: Vec<u8>,
    units: Vec<u32>,
    place: Place,
}

/// How far everything holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// Where the entry starts that is not all there yet.
    at: usize,
    /// How many entries are in front of it.
    entries: usize,
}

/// A place on the way where other units could have been taken.
struct Turn {
    /// What else could follow, the likeliest last.
    others: Vec<u32>,
    units: usize,
    place: Place,
}

impl Search<'_, '_, '_> {
    fn push(&mut self, unit: u32) {
        self.mark(unit, true);
        self.data.extend_from_slice(self.space.bytes(unit).unwrap_or_default());
        self.units.push(unit);
    }

    fn mark(&mut self, unit: u32, used: bool) {
        if let Some(mark) = self.used.get_mut(usize::try_from(unit).unwrap_or(usize::MAX)) {
            *mark = used;
        }
    }

    /// Back to the first `units` units.
    fn cut(&mut self, units: usize, place: Place) {
        while self.units.len() > units {
            if let Some(unit) = self.units.pop() {
                self.mark(unit, false);
            }
        }
        // Only the file's last unit can be short, and nothing is taken behind it.
        self.data.truncate(units.saturating_mul(self.space.unit));
        self.place = place;
    }

    fn is_done(&self) -> bool {
        let by_size = self.size.is_some_and(|size| self.data.len() >= size);
        let by_count = self.size.is_none() && self.place.entries >= self.count;
        by_size || by_count || self.data.len() >= LARGEST
    }

    fn run(&mut self, work: &mut Work) {
        let mut turns: Vec<Turn> = Vec::new();
        let mut returns = 0_usize;
        let mut farthest: (Place, Vec<u32>) = (self.place, self.units.clone());
        if self.advance().is_err() {
            self.go_on_lost(work);
        }
        while !self.is_done() && work.spend(self.space.unit) {
            let turn = Turn { others: self.candidates(work), units: self.units.len(), place: self.place };
            if self.take_one(turn, &mut turns, work) {
                continue;
            }
            // Nothing fits here: back to the last choice.
            if self.place.at > farthest.0.at {
                farthest = (self.place, self.units.clone());
            }
            let mut found = false;
            while let Some(last) = turns.pop() {
                returns = returns.saturating_add(1);
                if returns > MOST_RETURNS || work.is_spent() {
                    break;
                }
                self.cut(last.units, last.place);
                if self.take_one(last, &mut turns, work) {
                    found = true;
                    break;
                }
            }
            if found {
                continue;
            }
            // Nothing fits anywhere, so something is damaged. Continue from the farthest point with the likeliest units.
            turns.clear();
            self.cut(0, farthest.0);
            farthest.1.iter().for_each(|unit| self.push(*unit));
            let went_on = work.spend(self.data.len()) && self.go_on_lost(work);
            if !went_on {
                break;
            }
            farthest = (self.place, self.units.clone());
        }
    }

    /// Goes on with the likeliest units until an entry is certain again. False if there is no such entry.
    fn go_on_lost(&mut self, work: &mut Work) -> bool {
        let start = (self.units.len(), self.place);
        let mut from = self.place.at.saturating_add(1).min(self.data.len());
        loop {
            let found = destlist::find_entries(self.data.get(from..).unwrap_or_default());
            if let Some(last) = found.last() {
                let at = from.saturating_add(*last);
                self.place = Place { at, entries: self.place.entries.saturating_add(found.len()) };
                if self.advance().is_ok() {
                    return true;
                }
                from = at.saturating_add(1);
            } else {
                from = from.max(self.data.len().saturating_sub(CHECKED_SIZE));
            }
            let without_size = self.size.is_none() && self.units.len() > start.0.saturating_add(MOST_LOST);
            let next = self.candidates(work).last().copied();
            let Some(next) = next.filter(|_| !self.is_done() && !without_size && work.spend(self.space.unit)) else {
                if self.size.is_none() {
                    self.cut(start.0, start.1);
                }
                return false;
            };
            self.push(next);
        }
    }

    /// Takes the likeliest of the units with which everything goes on to hold.
    fn take_one(&mut self, mut turn: Turn, turns: &mut Vec<Turn>, work: &mut Work) -> bool {
        while let Some(unit) = turn.others.pop() {
            if !work.spend(self.space.unit.saturating_add(CHECKED_SIZE)) {
                return false;
            }
            self.push(unit);
            if self.advance().is_ok() {
                turns.push(turn);
                return true;
            }
            self.cut(turn.units, turn.place);
        }
        false
    }

    /// What could follow the last unit, the likeliest last.
    fn candidates(&self, work: &mut Work) -> Vec<u32> {
        let Some(last) = self.units.last().copied() else { return Vec::new() };
        let fresh = |unit: u32| self.used.get(usize::try_from(unit).unwrap_or(usize::MAX)) == Some(&false);
        let trusted = self.space.next_trusted(last).filter(|unit| fresh(*unit));
        let mut likely: Vec<u32> = trusted.into_iter().collect();
        let mut at = last;
        while likely.len() < MOST_CANDIDATES {
            let Some(next) = self.space.next_free(at, work) else { break };
            if Some(next) != trusted && fresh(next) {
                likely.push(next);
            }
            at = next;
        }
        likely.reverse();
        likely
    }

    /// Goes on over all entries that are there. An error if something in them does not hold.
    fn advance(&mut self) -> Result<(), ()> {
        let wide = has_rank(self.version);
        let fixed = destlist::Version::from(self.version).fixed_size().saturating_add(2);
        loop {
            let end = self.size.unwrap_or(usize::MAX).min(self.data.len());
            let rest = self.data.get(self.place.at..end).unwrap_or_default();
            if rest.len() < CHECKED_SIZE || (self.size.is_none() && self.place.entries >= self.count) {
                return Ok(());
            }
            if !destlist::checks_at(rest, 0) {
                return Err(());
            }
            let length = rest.get(fixed.saturating_sub(2)..).and_then(|rest| rest.first_chunk::<2>());
            let Some(length) = length else { return Ok(()) };
            let path_end = usize::from(u16::from_le_bytes(*length)).saturating_mul(2).saturating_add(fixed);
            let path = rest.get(fixed..path_end.min(rest.len())).unwrap_or_default();
            if !destlist::is_text(Utf16(path)) {
                return Err(());
            }
            let mut entry_end = path_end;
            if wide {
                let Some(store) = rest.get(path_end..).and_then(|rest| u32_at(rest, 0)) else { return Ok(()) };
                if store > LARGEST_STORE {
                    return Err(());
                }
                entry_end = path_end.saturating_add(4).saturating_add(usize::try_from(store).unwrap_or(usize::MAX));
            }
            if entry_end > rest.len() {
                return Ok(());
            }
            self.place.at = self.place.at.saturating_add(entry_end);
            self.place.entries = self.place.entries.saturating_add(1);
        }
    }
}
