//! Sectors, the FAT over them, and chains through it (MS-CFB 2.2 to 2.5).

use super::fault::{Fault, FaultKind};
use super::header::Header;
use crate::bytes::u32_at;

/// The last sector of a chain.
pub const END_OF_CHAIN: u32 = 0xFFFF_FFFE;
/// A sector that belongs to nothing.
pub const FREE: u32 = 0xFFFF_FFFF;
/// A sector of the FAT itself.
pub const FAT_SECTOR: u32 = 0xFFFF_FFFD;
/// A sector of the DIFAT.
pub const DIFAT_SECTOR: u32 = 0xFFFF_FFFC;
/// Ours: the FAT sector with this value is lost. MS-CFB reserves the value and gives it no meaning.
pub const UNKNOWN: u32 = 0xFFFF_FFFB;

/// How many pairs of swapped sectors are handled.
const MOST_EXCHANGES: usize = 8;

/// The file as sectors. The last may be short: a size that is no multiple of 512 is normal (docs/format.md).
///
/// Salvage may find that two sectors are swapped; they are then read the other way round.
/// Blocks are counted from the start of the file for that: block 0 is the header, sector `n` is block `n + 1`.
#[derive(Debug, Clone, Copy)]
pub struct Sectors<'a> {
    data: &'a [u8],
    shift: u32,
    count: u32,
    exchanges: [(u32, u32); MOST_EXCHANGES],
}

impl<'a> Sectors<'a> {
    /// Cuts `data` into sectors of `1 << shift` bytes after a header that takes one.
    pub fn new(data: &'a [u8], shift: u32) -> Self {
        let size = 1_usize << shift.min(20);
        let count = data.len().saturating_sub(size).div_ceil(size);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Self { data, shift: shift.min(20), count, exchanges: [(0, 0); MOST_EXCHANGES] }
    }

    /// The same file with two blocks swapped; `None` if there are too many such pairs already.
    pub(crate) fn exchanged(mut self, one: u32, other: u32) -> Option<Self> {
        let free = self.exchanges.iter_mut().find(|(one, other)| one == other)?;
        *free = (one, other);
        (one != other).then_some(self)
    }

    /// The pairs of blocks that are read the other way round.
    pub(crate) fn exchanges(&self) -> impl Iterator<Item = (u32, u32)> {
        self.exchanges.into_iter().filter(|(one, other)| one != other)
    }

    /// Which block of the file on disk is read as block `number`.
    pub(crate) fn block_on_disk(&self, number: u32) -> u32 {
        // They are filled from the first one on, and nearly no file has any.
        if let [(one, other), ..] = self.exchanges
            && one == other
        {
            return number;
        }
        self.exchanges.iter().rev().fold(number, |block, (one, other)| match block {
            block if block == *one => *other,
            block if block == *other => *one,
            block => block,
        })
    }

    /// The whole file.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Bytes of a sector.
    pub fn size(&self) -> usize {
        1 << self.shift
    }

    /// How many there are, a short last one included.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Where sector `number` starts in the file. The number need not be one of the file's.
    pub fn offset(&self, number: u32) -> u64 {
        let block = number.saturating_add(1);
        let block = if number < self.count {
            u64::from(self.block_on_disk(block))
        } else {
            u64::from(number).saturating_add(1)
        };
        block << self.shift
    }

    /// The bytes of the header's block.
    pub(crate) fn header(&self) -> &'a [u8] {
        self.at(u64::from(self.block_on_disk(0)) << self.shift)
    }

    /// The bytes of sector `number`, if the file has it.
    pub fn get(&self, number: u32) -> Option<&'a [u8]> {
        (number < self.count).then(|| self.at(self.offset(number)))
    }

    fn at(&self, start: u64) -> &'a [u8] {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        self.data.get(start..start.saturating_add(self.size()).min(self.data.len())).unwrap_or_default()
    }

    /// How many table entries fit in a sector.
    pub fn entries_per_sector(&self) -> usize {
        self.size() / 4
    }
}

/// A FAT value as text.
pub(crate) fn describe(value: u32) -> String {
    match value {
        FREE => "a free sector".to_owned(),
        END_OF_CHAIN => "the end".to_owned(),
        FAT_SECTOR => "a FAT sector".to_owned(),
        DIFAT_SECTOR => "a DIFAT sector".to_owned(),
        UNKNOWN => "a sector that a lost part of the FAT would name".to_owned(),
        value => format!("sector {value}, which the file does not have"),
    }
}

/// How a chain ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChainEnd {
    /// At the mark that ends a chain, or at the length that was asked for.
    Whole,
    /// At a sector that the chain, or another, had been through.
    Loop(u32),
    /// At a number that is no sector of the file, or that the FAT gives as free or unknown: sector, its value.
    Broken(u32, u32),
}

/// The sectors of a chain from `start`, `most` at the most. `seen` marks the sectors of this and earlier chains
/// that shared it, which is what stops a loop.
pub fn chain(table: &[u32], start: u32, most: usize, seen: &mut [bool]) -> (Vec<u32>, ChainEnd) {
    let mut sectors = Vec::new();
    let mut at = start;
    let mut before = start;
    while sectors.len() < most {
        if at == END_OF_CHAIN {
            return (sectors, ChainEnd::Whole);
        }
        let slot = usize::try_from(at).unwrap_or(usize::MAX);
        let (Some(next), Some(mark)) = (table.get(slot), seen.get_mut(slot)) else {
            return (sectors, ChainEnd::Broken(before, at));
        };
        if std::mem::replace(mark, true) {
            return (sectors, ChainEnd::Loop(at));
        }
        sectors.push(at);
        before = at;
        at = *next;
    }
    (sectors, ChainEnd::Whole)
}

/// Reads the FAT: one entry for each sector of the file, [`UNKNOWN`] where the FAT sector is lost. Returns the
/// sectors that hold it too.
pub fn read_fat(sectors: &Sectors<'_>, header: &Header, faults: &mut Vec<Fault>) -> (Vec<u32>, Vec<u32>) {
    let count = usize::try_from(sectors.count()).unwrap_or(usize::MAX);
    let per_sector = sectors.entries_per_sector();
    let wanted = count.div_ceil(per_sector.max(1));
    let mut holders = Vec::with_capacity(wanted.min(Header::difat(sectors.header()).count()));
    holders.extend(Header::difat(sectors.header()).filter(|sector| *sector != FREE));
    let difat = read_difat(sectors, header, &mut holders, wanted, faults);
    holders.truncate(wanted.max(usize::try_from(header.fat_sectors).unwrap_or(usize::MAX).min(holders.len())));

    let mut fat = vec![UNKNOWN; count];
    for (index, (holder, slots)) in holders.iter().zip(fat.chunks_mut(per_sector.max(1))).enumerate() {
        let Some(sector) = sectors.get(*holder) else {
            faults.push(Fault::new(
                FaultKind::Fat,
                sectors.offset(*holder),
                format!("FAT sector {index} should be sector {holder}, the file has {}", sectors.count()),
            ));
            continue;
        };
        for (slot, value) in slots.iter_mut().enumerate() {
            *value = u32_at(sector, slot.saturating_mul(4)).unwrap_or(UNKNOWN);
        }
    }
    faults.extend(cut(sectors, &holders, &fat));
    if holders.len() < wanted {
        let have = holders.len();
        let missing = format!("the FAT has {have} sectors, {count} sectors of file need {wanted}");
        faults.push(Fault::new(FaultKind::Fat, 44, missing));
    }
    for holder in &holders {
        let slot = usize::try_from(*holder).unwrap_or(usize::MAX);
        if let Some(value) = fat.get(slot).filter(|value| **value != FAT_SECTOR && **value != UNKNOWN) {
            let is_zero = sectors.get(*holder).is_some_and(|sector| sector.iter().all(|byte| *byte == 0));
            let message = if is_zero {
                format!("FAT sector {holder} holds nothing but zeros")
            } else {
                format!("FAT sector {holder} is marked {value:#010x} in the FAT, expected {FAT_SECTOR:#010x}")
            };
            faults.push(Fault::new(FaultKind::Fat, sectors.offset(*holder), message));
        }
    }
    holders.extend(difat);
    (fat, holders)
}

/// A fault for a file that ends though its FAT has the sectors that follow in use. A free one may be missing: nothing is
/// lost with it.
fn cut(sectors: &Sectors<'_>, holders: &[u32], fat: &[u32]) -> Option<Fault> {
    let per_sector = sectors.entries_per_sector().max(1);
    let is_used = |at: &usize| {
        let holder = holders.get(at / per_sector).copied();
        // What does not say of itself that it is of the FAT may be anything.
        let holder =
            holder.filter(|holder| fat.get(usize::try_from(*holder).unwrap_or(usize::MAX)) == Some(&FAT_SECTOR));
        let value = u32_at(sectors.get(holder?)?, (at % per_sector).saturating_mul(4))?;
        Some(value != FREE)
    };
    let missing = (fat.len()..).take_while(|at| is_used(at) == Some(true)).count();
    let (have, used) = (fat.len(), fat.len().saturating_add(missing));
    let message = format!("the file ends after {have} sectors, the FAT has {used} in use");
    (missing > 0).then(|| Fault::new(FaultKind::Fat, sectors.data().len() as u64, message))
}

/// Appends the FAT sectors that DIFAT sectors name (MS-CFB 2.5), and returns the DIFAT sectors.
fn read_difat(
    sectors: &Sectors<'_>,
    header: &Header,
    holders: &mut Vec<u32>,
    wanted: usize,
    faults: &mut Vec<Fault>,
) -> Vec<u32> {
    let last = sectors.entries_per_sector().saturating_sub(1);
    let mut visited = Vec::new();
    let mut at = header.first_difat;
    // A DIFAT sector names 127 FAT sectors, so a sound chain is no longer than this.
    let most = wanted.div_ceil(last.max(1)).saturating_add(1);
    while at < DIFAT_SECTOR && holders.len() < wanted {
        let Some(sector) = sectors.get(at).filter(|_| visited.len() < most) else {
            let message = format!("DIFAT sector {at} is no sector of the file or comes again, after {}", visited.len());
            faults.push(Fault::new(FaultKind::Fat, 68, message));
            break;
        };
        visited.push(at);
        holders
            .extend((0..last).map_while(|slot| u32_at(sector, slot.saturating_mul(4))).filter(|value| *value != FREE));
        at = u32_at(sector, last.saturating_mul(4)).unwrap_or(END_OF_CHAIN);
    }
    visited
}

/// True if `sector` is among the first `steps` sectors of the chain from `start`.
pub fn chain_passes(table: &[u32], start: u32, steps: usize, sector: u32) -> bool {
    let next = |at: &u32| table.get(usize::try_from(*at).ok()?).copied();
    std::iter::successors(Some(start), next).take(steps).any(|at| at == sector)
}
