//! What each sector looks like, whatever the tables say of it.
//!
//! A FAT sector is full of numbers of sectors, most of them the next one; a directory sector is names and tree
//! links; a link starts with its magic. So where header and tables are lost, each part can still be distinguished from
//! the others.

use crate::format::compound::directory::{ENTRY_SIZE, NO_STREAM};
use crate::format::compound::header::MINI_SIZE;
use crate::format::compound::tables::{DIFAT_SECTOR, END_OF_CHAIN, FAT_SECTOR, FREE, Sectors};
use crate::format::link::looks_like_link;

/// How a sector looks as a sector of the FAT or the mini FAT.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TableLook {
    /// Numbers other than "free".
    used: u16,
    /// Numbers that no table of this file can hold.
    invalid: u16,
    /// Zeros; a table holds one at the most.
    zeros: u16,
    /// Numbers that are one more than their own place in the table, and ends of chains.
    regular: u16,
    /// Marks of FAT and DIFAT sectors.
    pub(super) marks: u16,
    /// Which sector of its table it must be for `regular` to count.
    pub(super) ordinal: u32,
}

impl TableLook {
    /// Looks at `sector` of a file with `count` sectors.
    fn new(sector: &[u8], count: u32) -> Self {
        let values = || sector.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let per_sector = (sector.len() / 4).max(1);
        // A file that was truncated held more sectors once; and there are up to 64 mini sectors in a sector.
        let bound = count.saturating_mul(2).saturating_add(1024).saturating_mul(8);
        // Which ordinal most numbers speak for, by majority vote: each knows it if it is its place plus one.
        let ordinal_of = |(slot, value): (usize, u32)| {
            let ahead = usize::try_from(value).ok()?.checked_sub(slot)?.checked_sub(1)?;
            (value < bound && ahead.is_multiple_of(per_sector)).then_some(ahead / per_sector)
        };
        let (mut ordinal, mut lead) = (0, 0_u32);
        for vote in values().enumerate().filter_map(ordinal_of) {
            match (vote == ordinal, lead) {
                (true, _) => lead = lead.saturating_add(1),
                (false, 0) => (ordinal, lead) = (vote, 1),
                (false, _) => lead = lead.saturating_sub(1),
            }
        }
        let mut look = Self { ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX), ..Self::default() };
        for (slot, value) in values().enumerate() {
            let add = |counter: &mut u16, yes: bool| *counter = counter.saturating_add(u16::from(yes));
            add(&mut look.used, value != FREE);
            add(&mut look.invalid, value >= bound && value < DIFAT_SECTOR);
            add(&mut look.zeros, value == 0);
            add(&mut look.marks, value == FAT_SECTOR || value == DIFAT_SECTOR);
            add(&mut look.regular, value == END_OF_CHAIN || ordinal_of((slot, value)) == Some(ordinal));
        }
        look
    }

    /// True if it cannot well be anything but a table.
    pub(super) fn is_table(&self) -> bool {
        let proper = u32::from(self.regular).saturating_add(u32::from(self.marks));
        self.used > 0
            && self.zeros <= 1
            && u32::from(self.invalid).saturating_mul(8) <= u32::from(self.used)
            && proper.saturating_mul(2) >= u32::from(self.used)
    }

    /// True if it marks so many sectors as the FAT's own that it is of the FAT.
    pub(super) fn is_fat(&self) -> bool {
        self.marks > 0 && u32::from(self.marks).saturating_mul(16) >= u32::from(self.used)
    }

    /// True if it can be a table that is damaged.
    pub(super) fn may_be_table(&self) -> bool {
        self.used > 0 && self.zeros <= 4 && u32::from(self.invalid).saturating_mul(3) <= u32::from(self.used)
    }
}

/// How a sector looks as a sector of the directory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DirectoryLook {
    /// Entries in use that are sound.
    used: u8,
    /// Entries that are empty.
    empty: u8,
    /// Entries that are neither sound nor empty.
    bad: u8,
    /// The first entry is the root.
    pub(super) has_root: bool,
}

impl DirectoryLook {
    fn new(sector: &[u8]) -> Self {
        let mut look = Self::default();
        for (slot, entry) in sector.chunks_exact(ENTRY_SIZE).enumerate() {
            match entry_look(entry) {
                EntryLook::Used { root } => {
                    look.used = look.used.saturating_add(1);
                    look.has_root |= root && slot == 0;
                }
                EntryLook::Empty => look.empty = look.empty.saturating_add(1),
                EntryLook::Bad => look.bad = look.bad.saturating_add(1),
            }
        }
        look
    }

    /// True if it cannot well be anything but a sector of the directory.
    pub(super) fn is_directory(&self) -> bool {
        self.used > 0 && self.bad <= self.used
    }

    /// True if it can be a sector of the directory that is damaged.
    pub(super) fn may_be_directory(&self) -> bool {
        self.bad <= self.used.saturating_add(self.empty)
    }
}

enum EntryLook {
    Used { root: bool },
    Empty,
    Bad,
}

/// Looks at the 128 bytes of a directory entry (MS-CFB 2.6.1).
fn entry_look(entry: &[u8]) -> EntryLook {
    let byte = |at: usize| entry.get(at).copied().unwrap_or_default();
    let name_size = usize::from(u16::from_le_bytes([byte(64), byte(65)]));
    let kind = byte(66);
    // Some writers, the `cfb` crate among them, count the final NUL of no name.
    if kind == 0 && name_size <= 2 && entry.get(..64).is_some_and(|name| name.iter().all(|byte| *byte == 0)) {
        return EntryLook::Empty;
    }
    let units = entry.get(..name_size.min(64)).unwrap_or_default().as_chunks::<2>().0;
    let Some((end, name)) = units.split_last() else { return EntryLook::Bad };
    let sound_name = name_size.is_multiple_of(2)
        && (4..=64).contains(&name_size)
        && *end == [0, 0]
        && name.iter().all(|unit| u16::from_le_bytes(*unit) >= 0x20);
    let links = [68, 72, 76].map(|at| [byte(at), byte(at + 1), byte(at + 2), byte(at + 3)]).map(u32::from_le_bytes);
    let sound_links = links.iter().all(|link| *link == NO_STREAM || *link < 0x0100_0000);
    if sound_name && matches!(kind, 1 | 2 | 5) && byte(67) <= 1 && sound_links {
        EntryLook::Used { root: kind == 5 }
    } else {
        EntryLook::Bad
    }
}

/// The looks of every block of a file. One pass.
#[derive(Debug)]
pub(super) struct Looks {
    blocks: Vec<Look>,
}

/// The look of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Look {
    pub(super) table: TableLook,
    pub(super) directory: DirectoryLook,
    /// A bit for each mini sector that a link starts in.
    pub(super) heads: u64,
}

impl Looks {
    pub(super) fn new(sectors: &Sectors<'_>) -> Self {
        let look = |block: &[u8]| Look {
            table: TableLook::new(block, sectors.count()),
            directory: DirectoryLook::new(block),
            heads: heads(block),
        };
        Self { blocks: sectors.data().chunks(sectors.size()).map(look).collect() }
    }

    /// The look of what is read as sector `number`.
    pub(super) fn get(&self, sectors: &Sectors<'_>, number: u32) -> Look {
        if number >= sectors.count() {
            return Look::default();
        }
        let block = usize::try_from(sectors.block_on_disk(number.saturating_add(1))).unwrap_or(usize::MAX);
        self.blocks.get(block).copied().unwrap_or_default()
    }
}

fn heads(block: &[u8]) -> u64 {
    block
        .chunks(MINI_SIZE)
        .take(64)
        .enumerate()
        .filter(|(_, mini)| looks_like_link(mini))
        .fold(0, |heads, (slot, _)| heads | 1 << slot)
}
