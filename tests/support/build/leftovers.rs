//! A healthy list with things left over in it, as Windows leaves them: where each one is put is known to the byte.

use jlfix::format::compound::Compound;
use jlfix::limits::Limits;

use super::{ListBuilder, NewEntry, utf16};

const SECTOR: usize = 512;
const DIRECTORY_ENTRY: usize = 128;

/// A file, and room in it that nothing takes.
#[derive(Debug, Clone)]
pub struct Leftovers {
    /// The file.
    pub file: Vec<u8>,
}

impl Leftovers {
    /// In the file that `list` makes.
    pub fn of(list: &ListBuilder) -> Self {
        Self { file: list.build() }
    }

    /// The bytes of a DestList entry with this id.
    pub fn entry(version: u32, id: u64, entry: NewEntry) -> Vec<u8> {
        let list = ListBuilder::new(version).entry(entry.with(|entry| entry.id = Some(id)));
        list.dest_list().split_off(32)
    }

    /// Sectors more, which the FAT has as free: `bytes` from the start of the first. Returns where that is.
    pub fn free_sectors(&mut self, bytes: &[u8]) -> usize {
        let start = self.file.len().next_multiple_of(SECTOR);
        self.file.resize(start, 0);
        self.file.extend(bytes);
        self.file.resize(self.file.len().next_multiple_of(SECTOR), 0);
        // A FAT sector tells of 128; more would have to be marked.
        assert!(self.file.len() / SECTOR <= 129, "the list is too large");
        start
    }

    /// Moves the last sector of the stream `name` behind everything else, and frees the one that it was in.
    pub fn move_last_sector(&mut self, name: &str) {
        let compound = jlfix::salvage::read(&self.file, &Limits::default()).unwrap();
        let stream = compound.stream(name).unwrap();
        assert!(!stream.is_mini() && stream.data.len() > SECTOR, "{name} is too small");
        let last = stream.file_offset(stream.data.len() - 1).unwrap() as usize / SECTOR - 1;
        let content = self.file[(last + 1) * SECTOR..(last + 2) * SECTOR].to_vec();
        self.file[(last + 1) * SECTOR..(last + 2) * SECTOR].fill(0);
        let new = self.free_sectors(&content) / SECTOR - 1;
        // The FAT: its one sector is the first that the header names.
        let fat = (u32::from_le_bytes(*self.file[76..].first_chunk().unwrap()) as usize + 1) * SECTOR;
        let slot = |sector: usize| fat + 4 * sector;
        let numbers = [(last - 1, new as u32), (new, u32::MAX - 1), (last, u32::MAX)];
        for (sector, next) in numbers {
            self.file[slot(sector)..slot(sector) + 4].copy_from_slice(&next.to_le_bytes());
        }
    }

    /// Behind the end of the stream `name`. Returns where that is.
    pub fn slack(&mut self, name: &str, bytes: &[u8]) -> usize {
        let compound = jlfix::salvage::read(&self.file, &Limits::default()).unwrap();
        let stream = compound.stream(name).unwrap();
        let unit = if stream.is_mini() { 64 } else { SECTOR };
        let start = stream.file_offset(stream.data.len() - 1).unwrap() as usize + 1;
        assert!(
            !start.is_multiple_of(unit) && bytes.len() <= unit - start % unit,
            "{name} leaves {}",
            unit - start % unit
        );
        self.file[start..start + bytes.len()].copy_from_slice(bytes);
        start
    }

    /// In the last directory entry, which must not be in use: a stream that was there. Returns where that is.
    pub fn directory_entry(&mut self, name: &str, size: u32, start_sector: u32) -> usize {
        let number = |at: usize| u32::from_le_bytes(*self.file[at..].first_chunk().unwrap()) as usize;
        // The header names the first sector of the FAT and of the directory; this FAT has one sector.
        let (fat, mut last) = ((number(76) + 1) * SECTOR, number(48));
        while number(fat + 4 * last) < self.file.len() / SECTOR {
            last = number(fat + 4 * last);
        }
        let start = (last + 2) * SECTOR - DIRECTORY_ENTRY;
        let entry = &mut self.file[start..start + DIRECTORY_ENTRY];
        assert_eq!(entry[66], 0, "it is in use");
        let units = utf16(name);
        entry[..units.len()].copy_from_slice(&units);
        entry[116..120].copy_from_slice(&start_sector.to_le_bytes());
        entry[120..124].copy_from_slice(&size.to_le_bytes());
        start
    }
}
