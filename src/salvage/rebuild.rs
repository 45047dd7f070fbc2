//! FAT, directory and mini FAT of a damaged file: where the header says where that holds good, otherwise where
//! sectors look like them.

use super::look::Looks;
use crate::bytes::u32_at;
use crate::format::compound::directory::{DirEntry, ENTRY_SIZE, Kind, NO_STREAM};
use crate::format::compound::header::{HEADER_DIFAT, Header, MINI_SIZE};
use crate::format::compound::layout::Layout;
use crate::format::compound::tables::{DIFAT_SECTOR, END_OF_CHAIN, FAT_SECTOR, FREE, Sectors, UNKNOWN};
use crate::format::text::Utf16;

/// How many pairs of misplaced sectors are worth a try.
const MOST_MISPLACED: usize = 16;

/// The tables of a damaged file, without the mini stream, which can only be found with the directory.
pub(super) struct Rebuilt<'a> {
    pub(super) layout: Layout<'a>,
    /// By sector: taken by a table.
    pub(super) tables: Vec<bool>,
    /// Blocks where a table should be and is not, and those where it looks to be instead.
    pub(super) misplaced: Vec<(u32, u32)>,
    /// How many of the first sectors of FAT, directory and mini FAT are where the header says.
    pub(super) as_told: u64,
}

/// Finds the tables.
pub(super) fn rebuild<'a>(sectors: Sectors<'a>, looks: &Looks) -> Rebuilt<'a> {
    let header = Header::parse(sectors.header(), &mut Vec::new()).ok();
    let mut search = Search {
        sectors,
        looks,
        tables: vec![false; usize::try_from(sectors.count()).unwrap_or_default()],
        misplaced: Vec::new(),
    };
    let (fat, fat_sectors) = search.fat(header.as_ref());
    let directory_sectors = search.directory(&fat, header.map_or(FREE, |header| header.first_directory));
    let directory = read_directory(&sectors, &directory_sectors);
    let mini_size = directory.iter().find(|entry| entry.kind == Kind::Root).map(|root| root.size);
    let (mini_fat, mini_fat_sectors) =
        search.mini_fat(&fat, header.map_or(FREE, |header| header.first_mini_fat), mini_size);
    let layout = Layout {
        sectors,
        fat,
        fat_sectors,
        directory,
        directory_sectors,
        mini_fat,
        mini_fat_sectors,
        mini_stream: Vec::new(),
    };
    let told = header.map(|header| {
        let first_fat = Header::difat(sectors.header()).next().unwrap_or(FREE);
        let told = [first_fat, header.first_directory, header.first_mini_fat];
        let found = [&layout.fat_sectors, &layout.directory_sectors, &layout.mini_fat_sectors];
        told.iter().zip(found).filter(|(told, found)| found.first() == Some(told)).count()
    });
    let Search { tables, misplaced, .. } = search;
    Rebuilt { layout, tables, misplaced, as_told: told.unwrap_or_default() as u64 }
}

struct Search<'s, 'a> {
    sectors: Sectors<'a>,
    looks: &'s Looks,
    tables: Vec<bool>,
    misplaced: Vec<(u32, u32)>,
}

impl Search<'_, '_> {
    fn is_free(&self, sector: u32) -> bool {
        self.tables.get(usize::try_from(sector).unwrap_or(usize::MAX)).is_some_and(|taken| !taken)
    }

    fn take(&mut self, sector: u32) {
        if let Some(taken) = self.tables.get_mut(usize::try_from(sector).unwrap_or(usize::MAX)) {
            *taken = true;
        }
    }

    fn misplaced(&mut self, should: u32, is: u32) {
        if should < self.sectors.count() && should != is && self.misplaced.len() < MOST_MISPLACED {
            self.misplaced.push((should.saturating_add(1), is.saturating_add(1)));
        }
    }

    fn value(&self, sector: u32, slot: usize) -> u32 {
        let bytes = self.sectors.get(sector).unwrap_or_default();
        u32_at(bytes, slot.saturating_mul(4)).unwrap_or(UNKNOWN)
    }

    /// The sectors that header and DIFAT say hold the FAT, by their place in it, and the DIFAT sectors.
    fn claimed_fat(&self, header: Option<&Header>) -> (Vec<u32>, Vec<u32>) {
        let per_sector = self.sectors.entries_per_sector().max(1);
        let needed = usize::try_from(self.sectors.count()).unwrap_or(usize::MAX).div_ceil(per_sector);
        let mut claims: Vec<u32> = Header::difat(self.sectors.header()).collect();
        let mut difat = Vec::new();
        let mut at = header.map_or(END_OF_CHAIN, |header| header.first_difat);
        let last = per_sector.saturating_sub(1);
        while claims.len() < needed && at < self.sectors.count() && !difat.contains(&at) {
            difat.push(at);
            claims.extend((0..last).map(|slot| self.value(at, slot)));
            at = self.value(at, last);
        }
        // A file that was truncated may still have FAT sectors for what it lost.
        let most =
            claims.iter().rposition(|claim| *claim < self.sectors.count()).map_or(0, |last| last.saturating_add(1));
        let more = header.map_or(0, |header| usize::try_from(header.fat_sectors).unwrap_or(usize::MAX)).min(most);
        claims.resize(needed.max(more.min(HEADER_DIFAT)), FREE);
        (claims, difat)
    }

    /// True if `sector` looks like number `ordinal` of the FAT, and like nothing else: it marks itself, if it is
    /// the one that would.
    fn is_fat(&self, sector: u32, ordinal: usize) -> bool {
        let look = self.looks.get(&self.sectors, sector);
        let per_sector = self.sectors.entries_per_sector().max(1);
        let own = usize::try_from(sector).unwrap_or(usize::MAX);
        look.table.is_table()
            && (own / per_sector != ordinal || self.value(sector, own % per_sector) == FAT_SECTOR)
            && (look.table.marks > 0 || own / per_sector != ordinal)
    }

    fn fat(&mut self, header: Option<&Header>) -> (Vec<u32>, Vec<u32>) {
        let per_sector = self.sectors.entries_per_sector().max(1);
        let (claims, difat) = self.claimed_fat(header);
        let mut placed: Vec<Option<u32>> = vec![None; claims.len()];
        for (ordinal, (place, claim)) in placed.iter_mut().zip(&claims).enumerate() {
            if self.is_free(*claim) && self.is_fat(*claim, ordinal) {
                *place = Some(*claim);
                self.take(*claim);
            }
        }
        if placed.contains(&None) {
            self.find_fat(&mut placed);
        }
        for (place, claim) in placed.iter_mut().zip(&claims) {
            let look = self.looks.get(&self.sectors, *claim);
            if place.is_none() && self.is_free(*claim) && look.table.may_be_table() && !look.directory.is_directory() {
                *place = Some(*claim);
                self.take(*claim);
            }
        }
        for (place, claim) in placed.iter().zip(&claims) {
            if let Some(place) = place {
                self.misplaced(*claim, *place);
            }
        }
        for sector in &difat {
            let look = self.looks.get(&self.sectors, *sector);
            if look.heads == 0 && !look.directory.is_directory() {
                self.take(*sector);
            }
        }
        let mut fat = vec![UNKNOWN; placed.len().saturating_mul(per_sector)];
        for (place, slots) in placed.iter().zip(fat.chunks_mut(per_sector)) {
            if let Some(sector) = place {
                slots.iter_mut().enumerate().for_each(|(slot, value)| *value = self.value(*sector, slot));
            }
        }
        (fat, placed.into_iter().flatten().chain(difat).collect())
    }

    /// Fills the places that are open with sectors that look like the FAT: those that mark themselves, and those
    /// that others mark.
    fn find_fat(&mut self, placed: &mut [Option<u32>]) {
        let per_sector = self.sectors.entries_per_sector().max(1);
        let mut open: Vec<(u32, usize)> = Vec::new();
        for sector in 0..self.sectors.count() {
            let own = usize::try_from(sector).unwrap_or(usize::MAX);
            let look = self.looks.get(&self.sectors, sector);
            if look.table.is_table() && self.value(sector, own % per_sector) == FAT_SECTOR {
                open.push((sector, own / per_sector));
            }
            if look.table.is_table() && look.table.marks > 0 {
                open.push((sector, usize::try_from(look.table.ordinal).unwrap_or(usize::MAX)));
            }
        }
        while let Some((sector, ordinal)) = open.pop() {
            let Some(place @ None) = placed.get_mut(ordinal) else { continue };
            if !self.is_free(sector) {
                continue;
            }
            *place = Some(sector);
            self.take(sector);
            for slot in (0..per_sector).filter(|slot| self.value(sector, *slot) == FAT_SECTOR) {
                let marked = ordinal.saturating_mul(per_sector).saturating_add(slot);
                let Ok(marked) = u32::try_from(marked) else { continue };
                let look = self.looks.get(&self.sectors, marked);
                if look.table.is_table() {
                    open.push((marked, usize::try_from(look.table.ordinal).unwrap_or(usize::MAX)));
                }
            }
        }
    }

    /// The chain from `start` along `table`, until it leaves the file, enters a table or comes back.
    fn follow(&self, table: &[u32], start: u32) -> Vec<u32> {
        let mut seen = vec![false; self.tables.len()];
        let mut chain = Vec::new();
        let mut at = start;
        while self.is_free(at) {
            let slot = usize::try_from(at).unwrap_or(usize::MAX);
            let Some(mark) = seen.get_mut(slot) else { break };
            if std::mem::replace(mark, true) {
                break;
            }
            chain.push(at);
            at = table.get(slot).copied().unwrap_or(UNKNOWN);
        }
        chain
    }

    fn directory(&mut self, fat: &[u32], first: u32) -> Vec<u32> {
        let looks = |search: &Self, sector: u32| search.looks.get(&search.sectors, sector).directory;
        let all: Vec<u32> =
            (0..self.sectors.count()).filter(|at| self.is_free(*at) && looks(self, *at).is_directory()).collect();
        let first = if looks(self, first).is_directory() {
            first
        } else {
            let root = all.iter().copied().find(|sector| looks(self, *sector).has_root);
            root.map_or(first, |root| {
                self.misplaced(first, root);
                root
            })
        };
        let (mut chain, strays): (Vec<u32>, Vec<u32>) = self.follow(fat, first).into_iter().partition(|sector| {
            let look = self.looks.get(&self.sectors, *sector);
            look.directory.is_directory()
                || (look.directory.may_be_directory() && look.heads == 0 && !look.table.is_table())
        });
        let mut in_chain = vec![false; self.tables.len()];
        for sector in &chain {
            if let Some(mark) = in_chain.get_mut(usize::try_from(*sector).unwrap_or(usize::MAX)) {
                *mark = true;
            }
        }
        let outside = all
            .into_iter()
            .filter(|sector| in_chain.get(usize::try_from(*sector).unwrap_or(usize::MAX)).is_some_and(|mark| !mark));
        for sector in outside {
            if let Some(stray) = strays.first() {
                self.misplaced(*stray, sector);
            }
            chain.push(sector);
        }
        chain.iter().for_each(|sector| self.take(*sector));
        chain
    }

    fn mini_fat(&mut self, fat: &[u32], first: u32, mini_size: Option<u64>) -> (Vec<u32>, Vec<u32>) {
        let per_sector = self.sectors.entries_per_sector().max(1);
        let most = usize::try_from(self.sectors.count()).unwrap_or(usize::MAX);
        let chain = self.follow(fat, first);
        let needed = mini_size.map(|size| size.div_ceil(MINI_SIZE as u64).div_ceil(per_sector as u64));
        let needed =
            needed.map_or(chain.len(), |needed| usize::try_from(needed).unwrap_or(usize::MAX)).clamp(1, most.max(1));
        let mut placed: Vec<Option<u32>> = vec![None; needed];
        for (place, claim) in placed.iter_mut().zip(&chain) {
            let look = self.looks.get(&self.sectors, *claim);
            if look.table.may_be_table() && !look.table.is_fat() && !look.directory.is_directory() {
                *place = Some(*claim);
                self.take(*claim);
            }
        }
        if placed.contains(&None) {
            for sector in 0..self.sectors.count() {
                let look = self.looks.get(&self.sectors, sector).table;
                if !self.is_free(sector) || !look.is_table() || look.is_fat() {
                    continue;
                }
                let ordinal = usize::try_from(look.ordinal).unwrap_or(usize::MAX);
                if let Some(place @ None) = placed.get_mut(ordinal) {
                    *place = Some(sector);
                    self.take(sector);
                    if let Some(claim) = chain.get(ordinal).or(chain.is_empty().then_some(&first)) {
                        self.misplaced(*claim, sector);
                    }
                }
            }
        }
        while placed.last() == Some(&None) {
            placed.pop();
        }
        let mut table = vec![UNKNOWN; placed.len().saturating_mul(per_sector)];
        for (place, slots) in placed.iter().zip(table.chunks_mut(per_sector)) {
            if let Some(sector) = place {
                slots.iter_mut().enumerate().for_each(|(slot, value)| *value = self.value(*sector, slot));
            }
        }
        (table, placed.into_iter().flatten().collect())
    }
}

/// The entries in these sectors, and what was an entry before its type was lost.
fn read_directory<'a>(sectors: &Sectors<'a>, chain: &[u32]) -> Vec<DirEntry<'a>> {
    let wide = sectors.size() > 512;
    let mut entries = Vec::new();
    for (ordinal, number) in chain.iter().enumerate() {
        let sector = sectors.get(*number).unwrap_or_default();
        for (slot, bytes) in sector.chunks_exact(ENTRY_SIZE).enumerate() {
            let index = ordinal.saturating_mul(sectors.size() / ENTRY_SIZE).saturating_add(slot);
            let index = u32::try_from(index).unwrap_or(NO_STREAM);
            let offset = sectors.offset(*number).saturating_add((slot.saturating_mul(ENTRY_SIZE)) as u64);
            let Ok(Some(mut entry)) = DirEntry::parse_or(bytes, index, offset, wide, Some(Kind::Stream)) else {
                continue;
            };
            let is_root = is_root(entry.name);
            if is_root || (entry.kind == Kind::Root && index == 0) {
                entry.kind = Kind::Root;
            } else if entry.kind == Kind::Root || (entry.entry_id().is_some() && entry.size > 0) {
                entry.kind = Kind::Stream;
            }
            if entry.kind != Kind::Root || !entries.iter().any(|entry: &DirEntry<'_>| entry.kind == Kind::Root) {
                entries.push(entry);
            }
        }
    }
    entries
}

fn is_root(name: Utf16<'_>) -> bool {
    name.chars().eq("Root Entry".chars())
}

/// True for a number that a chain can go on to.
pub(super) fn is_sector(value: u32) -> bool {
    value < DIFAT_SECTOR && value != UNKNOWN
}
