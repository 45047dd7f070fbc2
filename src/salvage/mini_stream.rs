//! Which sectors the mini stream is made of, and in which order.
//!
//! The FAT says it, as long as it is complete. Where it isn't, the directory helps: it says in which mini sectors
//! streams start, and where a link starts its magic is. So each place in the mini stream has its pattern of
//! heads, each sector has one too, and the two have to agree. Windows nearly always writes the mini stream's
//! sectors in ascending order, other things in between (measured: all of the corpus).

use super::look::Looks;
use super::rebuild::is_sector;
use crate::format::compound::directory::Kind;
use crate::format::compound::header::MINI_SIZE;
use crate::format::compound::layout::Layout;
use crate::format::compound::tables::{END_OF_CHAIN, FREE, UNKNOWN};

/// How many sectors may be left out of the ascending order.
const MOST_SKIPPED: usize = 32;
/// What one head that is where it must be counts, and takes where it is missing.
const HEAD: i32 = 8;
/// What a head counts, or takes, that the directory does not know of, but the mini FAT has something start there or
/// not.
const UNNAMED_HEAD: i32 = 4;
/// What a head takes of which neither knows.
const UNKNOWN_HEAD: i32 = 1;
/// What a sector counts that the FAT leads to.
const ALONG_FAT: i32 = 2;
/// Stands where the sector is lost.
pub(super) const LOST: u32 = u32::MAX;

/// By sector of the mini stream, a bit a mini sector: where the mini FAT has a chain start, and where it has anything.
fn starts(mini_fat: &[u32], per_sector: usize) -> (Vec<u64>, Vec<u64>) {
    let mut led_to = vec![false; mini_fat.len()];
    for next in mini_fat {
        if let Some(mark) = usize::try_from(*next).ok().and_then(|slot| led_to.get_mut(slot)) {
            *mark = true;
        }
    }
    let used = |value: &u32| *value != FREE && *value != UNKNOWN;
    let count = mini_fat.iter().rposition(used).map_or(0, |last| last.saturating_add(1).div_ceil(per_sector.max(1)));
    let (mut starts, mut known) = (vec![0_u64; count], vec![0_u64; count]);
    for (mini, (value, led_to)) in mini_fat.iter().zip(&led_to).enumerate().filter(|(_, (value, _))| used(value)) {
        let bit = 1_u64 << (mini % per_sector.max(1)).min(63);
        let place = mini / per_sector.max(1);
        if let (Some(starts), Some(known)) = (starts.get_mut(place), known.get_mut(place)) {
            *known |= bit;
            *starts |= if *led_to || *value == UNKNOWN { 0 } else { bit };
        }
    }
    (starts, known)
}

/// The lists of sectors that could be the mini stream, the likeliest first, each with what speaks for it.
pub(super) fn candidates(layout: &Layout<'_>, looks: &Looks, taken: &[bool]) -> Vec<Vec<u32>> {
    let finder = Finder::new(layout, looks, taken);
    let along_fat = finder.along_fat();
    if finder.is_perfect(&along_fat) {
        return vec![along_fat];
    }
    let mut lists = vec![along_fat, finder.mended(), finder.ascending()];
    lists.retain(|list| !list.is_empty());
    lists.sort_by_key(|list| std::cmp::Reverse(finder.score(list)));
    lists.dedup();
    lists
}

struct Finder<'f, 'a> {
    layout: &'f Layout<'a>,
    /// By sector: the heads in it.
    heads: Vec<u64>,
    /// By sector: can belong to the mini stream.
    open: Vec<bool>,
    /// By sector: more than one sector leads here.
    twice: Vec<bool>,
    /// By place in the mini stream: the heads that must be there.
    wanted: Vec<u64>,
    /// By place in the mini stream: where something starts, and where something is at all, according to the mini FAT.
    starts: Vec<u64>,
    known: Vec<u64>,
    /// How many sectors it has, if the root can be relied on.
    need: Option<usize>,
    /// How many sectors it has at least, for what the directory says is in it.
    reach: usize,
    start: u32,
}

impl<'f, 'a> Finder<'f, 'a> {
    fn new(layout: &'f Layout<'a>, looks: &Looks, taken: &[bool]) -> Self {
        let sectors = &layout.sectors;
        let count = sectors.count();
        let per_sector = u32::try_from(sectors.size() / MINI_SIZE).unwrap_or(1).clamp(1, 64);
        let most = usize::try_from(count).unwrap_or(usize::MAX);
        let heads: Vec<u64> = (0..count).map(|sector| looks.get(sectors, sector).heads).collect();
        let mut open: Vec<bool> = taken.iter().map(|taken| !taken).collect();
        open.resize(most, true);
        let mut wanted = Vec::new();
        let links = layout.directory.iter().filter(|entry| entry.kind == Kind::Stream && entry.entry_id().is_some());
        for entry in links.filter(|entry| entry.is_mini() && entry.size > 0) {
            let place = usize::try_from(entry.start / per_sector).unwrap_or(usize::MAX);
            if place < most {
                if wanted.len() <= place {
                    wanted.resize(place.saturating_add(1), 0_u64);
                }
                if let Some(heads) = wanted.get_mut(place) {
                    *heads |= 1 << (entry.start % per_sector);
                }
            }
        }
        let minis = layout.directory.iter().filter(|entry| entry.kind == Kind::Stream && entry.is_mini());
        let ends = minis.map(|entry| u64::from(entry.start).saturating_add(entry.size.div_ceil(MINI_SIZE as u64)));
        let ends = ends.map(|end| usize::try_from(end.div_ceil(per_sector.into())).unwrap_or(usize::MAX));
        let reach = ends.filter(|end| *end <= most).max().unwrap_or_default();
        let (starts, known) = starts(&layout.mini_fat, usize::try_from(per_sector).unwrap_or(1));
        let used = known.len();
        let root = layout.root();
        let need = root.and_then(|root| usize::try_from(root.size.div_ceil(sectors.size() as u64)).ok());
        let mut once = vec![false; most];
        let mut twice = vec![false; most];
        for next in layout.fat.iter().take(most) {
            let slot = usize::try_from(*next).unwrap_or(usize::MAX);
            if let (Some(once), Some(twice)) = (once.get_mut(slot), twice.get_mut(slot)) {
                *twice |= std::mem::replace(once, true);
            }
        }
        Self {
            layout,
            heads,
            open,
            twice,
            wanted,
            starts,
            known,
            need: need
                .filter(|need| *need >= reach.max(1) && *need <= most.saturating_mul(2).saturating_add(64))
                .or((used > 0).then_some(used.max(reach))),
            reach,
            start: root.map_or(LOST, |root| root.start),
        }
        .with_start()
    }

    /// Without a root that names a start, the mini stream is the longest chain in the FAT that nothing leads to.
    fn with_start(mut self) -> Self {
        if Self::at(&self.open, self.start) {
            return self;
        }
        let count = u32::try_from(self.heads.len()).unwrap_or(u32::MAX);
        let mut led_to = vec![false; self.heads.len()];
        for sector in 0..count {
            if let Some(mark) = self.next(sector).and_then(|next| led_to.get_mut(usize::try_from(next).ok()?)) {
                *mark = true;
            }
        }
        let mut seen = vec![false; self.heads.len()];
        let mut longest = (0, LOST);
        for start in (0..count).filter(|sector| Self::at(&self.open, *sector) && !Self::at(&led_to, *sector)) {
            let (mut at, mut length) = (start, 0_u32);
            while let Some(mark) = usize::try_from(at).ok().and_then(|slot| seen.get_mut(slot)) {
                if std::mem::replace(mark, true) || !Self::at(&self.open, at) {
                    break;
                }
                length = length.saturating_add(1);
                let Some(next) = self.next(at) else { break };
                at = next;
            }
            if length > longest.0 && self.value(start).is_some_and(|value| value < FREE) {
                longest = (length, start);
            }
        }
        self.start = longest.1;
        self
    }

    fn at<T: Copy + Default>(of: &[T], sector: u32) -> T {
        usize::try_from(sector).ok().and_then(|slot| of.get(slot)).copied().unwrap_or_default()
    }

    fn wanted(&self, place: usize) -> u64 {
        self.wanted.get(place).copied().unwrap_or_default()
    }

    /// What speaks for `sector` in this place.
    fn fit(&self, place: usize, sector: u32) -> i32 {
        let (have, want) = (Self::at(&self.heads, sector), self.wanted(place));
        let count = |heads: u64, each: i32| i32::try_from(heads.count_ones()).unwrap_or(0).saturating_mul(each);
        let at = |of: &[u64]| of.get(place).copied().unwrap_or_default();
        let (unnamed, known, starts) = (have & !want, at(&self.known), at(&self.starts));
        count(have & want, HEAD)
            .saturating_sub(count(want & !have, HEAD))
            .saturating_add(count(unnamed & starts, UNNAMED_HEAD))
            .saturating_sub(count(unnamed & known & !starts, UNNAMED_HEAD))
            .saturating_sub(count(unnamed & !known, UNKNOWN_HEAD))
    }

    fn score(&self, list: &[u32]) -> i64 {
        let fit: i64 = list.iter().enumerate().map(|(place, sector)| i64::from(self.fit(place, *sector))).sum();
        let steps = list.windows(2).filter(|pair| matches!(pair, [a, b] if self.next(*a) == Some(*b))).count();
        let missing: i64 = self.wanted.iter().skip(list.len()).map(|heads| i64::from(heads.count_ones())).sum();
        fit.saturating_add((steps as i64).saturating_mul(i64::from(ALONG_FAT)))
            .saturating_sub(missing.saturating_mul(i64::from(HEAD)))
    }

    /// True if every head that must be is there, and there are as many sectors as are needed.
    fn is_perfect(&self, list: &[u32]) -> bool {
        let ends = list.last().is_some_and(|last| self.value(*last) == Some(END_OF_CHAIN));
        let whole = self.need == Some(list.len()) || (ends && list.len() >= self.reach.max(self.known.len()));
        whole
            && list.len() >= self.wanted.len()
            && list.iter().enumerate().all(|(place, sector)| self.holds(place, *sector))
    }

    /// True if every head that must be in this place is in `sector`.
    fn holds(&self, place: usize, sector: u32) -> bool {
        self.wanted(place) & !Self::at(&self.heads, sector) == 0
    }

    fn value(&self, sector: u32) -> Option<u32> {
        self.layout.fat.get(usize::try_from(sector).ok()?).copied()
    }

    fn next(&self, sector: u32) -> Option<u32> {
        self.value(sector).filter(|next| is_sector(*next))
    }

    /// The chain according to the FAT, up to what cannot be.
    fn along_fat(&self) -> Vec<u32> {
        let most = self.need.unwrap_or(self.heads.len());
        let mut used = vec![false; self.heads.len()];
        let mut list = Vec::new();
        let mut at = self.start;
        while list.len() < most && Self::at(&self.open, at) {
            let Some(mark) = usize::try_from(at).ok().and_then(|slot| used.get_mut(slot)) else { break };
            if std::mem::replace(mark, true) {
                break;
            }
            list.push(at);
            let Some(next) = self.next(at) else { break };
            at = next;
        }
        list
    }

    /// The chain according to the FAT where the heads agree; where they don't, the next sector with which they do.
    fn mended(&self) -> Vec<u32> {
        let most = self.need.unwrap_or_else(|| self.open.iter().filter(|open| **open).count());
        let count = u32::try_from(self.heads.len()).unwrap_or(u32::MAX);
        let mut used = vec![false; self.heads.len()];
        let is_open = |used: &[bool], sector: u32| Self::at(&self.open, sector) && !Self::at(used, sector);
        let fits = |place: usize, sector: u32| {
            let known = self.wanted(place) | self.starts.get(place).copied().unwrap_or_default();
            self.holds(place, sector) && Self::at(&self.heads, sector) & !known == 0
        };
        let holds = |place: usize, sector: u32| self.holds(place, sector);
        let mut list: Vec<u32> = Vec::new();
        let mut steps = self.heads.len().saturating_mul(MOST_SKIPPED);
        while list.len() < most {
            let place = list.len();
            let last = list.last().copied().filter(|last| *last != LOST);
            let by_fat = match last {
                Some(last) => {
                    self.next(last).filter(|next| last.checked_add(1) == Some(*next) || !Self::at(&self.twice, *next))
                }
                None if place == 0 => Some(self.start),
                None => None,
            };
            let by_fat = by_fat.filter(|sector| is_open(&used, *sector));
            let mut next = by_fat.filter(|sector| holds(place, *sector));
            if next.is_none() {
                let (mut first, mut holding, mut looked) = (None, None, 0);
                let mut at = last.map_or(0, |last| last.saturating_add(1));
                while at < count && looked < MOST_SKIPPED && steps > 0 && next.is_none() {
                    if is_open(&used, at) {
                        first.get_or_insert(at);
                        next = fits(place, at).then_some(at);
                        holding = holding.or(holds(place, at).then_some(at));
                        looked = looked.saturating_add(1);
                    }
                    steps = steps.saturating_sub(1);
                    at = at.saturating_add(1);
                }
                next = next.filter(|_| self.wanted(place) != 0).or(holding).or(by_fat).or(first);
            }
            let Some(next) = next.filter(|_| steps > 0) else { break };
            if let Some(mark) = usize::try_from(next).ok().and_then(|slot| used.get_mut(slot)) {
                *mark = true;
            }
            list.push(next);
        }
        list
    }

    /// The open sectors in ascending order, those left out that fit worst.
    fn ascending(&self) -> Vec<u32> {
        let open: Vec<u32> = (0_u32..).zip(&self.open).filter(|(_, open)| **open).map(|(sector, _)| sector).collect();
        let need = self.need.unwrap_or(open.len()).min(open.len());
        let most_skipped = open.len().saturating_sub(need).min(MOST_SKIPPED);
        let width = most_skipped.saturating_add(1);
        // Best score so far by number of sectors left out; for each sector and that number, whether it is taken.
        let mut best: Vec<Option<i32>> = vec![None; width];
        if let Some(first) = best.first_mut() {
            *first = Some(0);
        }
        let mut taken: Vec<bool> = Vec::with_capacity(open.len().saturating_mul(width));
        let mut before: Option<u32> = None;
        for (index, sector) in open.iter().enumerate() {
            let along = before.and_then(|before| self.next(before)) == Some(*sector);
            before = Some(*sector);
            let mut next: Vec<Option<i32>> = Vec::with_capacity(width);
            let mut from_left: Option<i32> = None;
            for (skipped, score) in best.iter().enumerate() {
                let place = index.checked_sub(skipped);
                let take = match (score, place) {
                    (Some(score), Some(place)) if place < need => {
                        Some(score.saturating_add(self.fit(place, *sector)).saturating_add(if along {
                            ALONG_FAT
                        } else {
                            0
                        }))
                    }
                    // All that are needed are there: the rest costs nothing.
                    (Some(score), Some(_)) => Some(*score),
                    _ => None,
                };
                let lost = i32::try_from(Self::at(&self.heads, *sector).count_ones()).unwrap_or(0).saturating_mul(2);
                let skip = from_left.map(|score| score.saturating_sub(lost));
                taken.push(take.is_some() && take >= skip);
                next.push(take.max(skip));
                from_left = *score;
            }
            best = next;
        }
        let end = best.iter().enumerate().max_by_key(|(skipped, score)| (**score, std::cmp::Reverse(*skipped)));
        let Some((mut skipped, _)) = end else { return Vec::new() };
        let mut list = Vec::with_capacity(need);
        for (index, sector) in open.iter().enumerate().rev() {
            let slot = index.saturating_mul(width).saturating_add(skipped);
            if taken.get(slot).copied().unwrap_or_default() {
                list.push(*sector);
            } else {
                skipped = skipped.saturating_sub(1);
            }
        }
        list.reverse();
        list.truncate(need);
        list
    }
}
