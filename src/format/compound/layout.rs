//! What is between a compound file's header and its streams: FAT, directory, mini FAT and mini stream, as the
//! file gives them.

use super::directory::{DirEntry, ENTRY_SIZE, Kind, NO_STREAM};
use super::fault::{Fault, FaultKind};
use super::header::{Header, MINI_SIZE};
use super::tables::{self, ChainEnd, Sectors};

/// The tables, and where they are.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) sectors: Sectors<'a>,
    /// The next sector, by sector.
    pub(crate) fat: Vec<u32>,
    /// Sectors of the FAT and the DIFAT.
    pub(crate) fat_sectors: Vec<u32>,
    pub(crate) directory: Vec<DirEntry<'a>>,
    pub(crate) directory_sectors: Vec<u32>,
    /// The next mini sector, by mini sector.
    pub(crate) mini_fat: Vec<u32>,
    pub(crate) mini_fat_sectors: Vec<u32>,
    /// The sectors of the mini stream, in order.
    pub(crate) mini_stream: Vec<u32>,
}

impl<'a> Layout<'a> {
    /// Reads the tables as the file gives them. Also returns the sectors that they take.
    pub(crate) fn read(sectors: Sectors<'a>, header: &Header, faults: &mut Vec<Fault>) -> (Self, Vec<bool>) {
        let (fat, fat_sectors) = tables::read_fat(&sectors, header, faults);
        let mut seen = vec![false; fat.len()];
        for holder in &fat_sectors {
            if let Some(mark) = seen.get_mut(usize::try_from(*holder).unwrap_or(usize::MAX)) {
                *mark = true;
            }
        }
        let (directory_sectors, end) = tables::chain(&fat, header.first_directory, usize::MAX, &mut seen);
        faults.extend(chain_fault(&sectors, "the directory", end, directory_sectors.len(), FaultKind::Directory));
        let directory = read_directory(&sectors, &directory_sectors, header.major_version == 4);
        if !directory.iter().any(|entry| entry.kind == Kind::Root) {
            let offset = sectors.offset(header.first_directory);
            faults.push(Fault::new(FaultKind::Directory, offset, "the directory has no root entry".to_owned()));
        }
        for entry in directory.iter().filter(|entry| !entry.is_name_sound()) {
            let (counts, needs) = (entry.name_size, entry.name.0.len().saturating_add(2));
            let message =
                format!("the name {:?} in the directory counts {counts} bytes, its text takes {needs}", entry.name);
            faults.push(Fault::of_stream(FaultKind::Directory, entry, message));
        }
        let (mini_fat_sectors, end) = tables::chain(&fat, header.first_mini_fat, usize::MAX, &mut seen);
        faults.extend(chain_fault(&sectors, "the mini FAT", end, mini_fat_sectors.len(), FaultKind::MiniStream));
        let mini_fat = read_table(&sectors, &mini_fat_sectors);
        let mut layout = Self {
            sectors,
            fat,
            fat_sectors,
            directory,
            directory_sectors,
            mini_fat,
            mini_fat_sectors,
            mini_stream: Vec::new(),
        };
        layout.mini_stream = layout.read_mini_stream(&mut seen, faults);
        (layout, seen)
    }

    /// The root entry, if the directory has one.
    pub(crate) fn root(&self) -> Option<&DirEntry<'a>> {
        self.directory.iter().find(|entry| entry.kind == Kind::Root)
    }

    fn read_mini_stream(&self, seen: &mut [bool], faults: &mut Vec<Fault>) -> Vec<u32> {
        let Some(root) = self.root().filter(|root| root.size > 0) else { return Vec::new() };
        let need = usize::try_from(root.size.div_ceil(self.sectors.size() as u64)).unwrap_or(usize::MAX);
        let (chain, end) = tables::chain(&self.fat, root.start, need, seen);
        faults.extend(chain_fault(&self.sectors, "the mini stream", end, chain.len(), FaultKind::MiniStream));
        if end == ChainEnd::Whole && chain.len() < need {
            let message =
                format!("the mini stream has {} sectors, its size of {} bytes needs {need}", chain.len(), root.size);
            faults.push(Fault::new(FaultKind::MiniStream, root.offset, message));
        }
        chain
    }

    /// Offset of sector or mini sector `number` in the file, and how many of its bytes are there.
    pub(crate) fn locate(&self, mini: bool, number: u32) -> Option<(usize, usize)> {
        let sectors = &self.sectors;
        let (number, inside) = if mini {
            let per_sector = u32::try_from(sectors.size() / MINI_SIZE).ok()?;
            let host = self.mini_stream.get(usize::try_from(number / per_sector).ok()?)?;
            (*host, usize::try_from(number % per_sector).ok()?.saturating_mul(MINI_SIZE))
        } else {
            (number, 0)
        };
        let have = sectors.get(number)?.len().saturating_sub(inside);
        let offset = usize::try_from(sectors.offset(number)).ok()?.saturating_add(inside);
        Some((offset, have.min(if mini { MINI_SIZE } else { sectors.size() })))
    }
}

/// The fault of a chain that ended too early; `None` if it did not.
fn chain_fault(sectors: &Sectors<'_>, what: &str, end: ChainEnd, have: usize, kind: FaultKind) -> Option<Fault> {
    let have = if have == 1 { "1 sector".to_owned() } else { format!("{have} sectors") };
    match end {
        ChainEnd::Whole => None,
        ChainEnd::Loop(at) => {
            let message = format!("the chain of {what} comes back to sector {at} after {have}");
            Some(Fault::new(FaultKind::Loop, sectors.offset(at), message))
        }
        ChainEnd::Broken(at, value) => {
            let message = format!(
                "the chain of {what} breaks off after {have}: sector {at} leads to {}",
                tables::describe(value)
            );
            Some(Fault::new(kind, sectors.offset(at), message))
        }
    }
}

/// The entries in use in these directory sectors.
pub(crate) fn read_directory<'a>(sectors: &Sectors<'a>, chain: &[u32], wide_size: bool) -> Vec<DirEntry<'a>> {
    let per_sector = sectors.size() / ENTRY_SIZE;
    let mut entries = Vec::with_capacity(chain.len().saturating_mul(per_sector));
    for (ordinal, number) in chain.iter().enumerate() {
        let sector = sectors.get(*number).unwrap_or_default();
        for (slot, bytes) in sector.chunks_exact(ENTRY_SIZE).enumerate() {
            let index = u32::try_from(ordinal.saturating_mul(per_sector).saturating_add(slot)).unwrap_or(NO_STREAM);
            let offset = sectors.offset(*number).saturating_add((slot.saturating_mul(ENTRY_SIZE)) as u64);
            entries.extend(DirEntry::parse(bytes, index, offset, wide_size).ok().flatten());
        }
    }
    entries
}

/// The numbers in these sectors of a table.
pub(crate) fn read_table(sectors: &Sectors<'_>, chain: &[u32]) -> Vec<u32> {
    let per_sector = sectors.entries_per_sector();
    let mut table = Vec::with_capacity(chain.len().saturating_mul(per_sector));
    for number in chain {
        let sector = sectors.get(*number).unwrap_or_default();
        table.extend(sector.as_chunks::<4>().0.iter().take(per_sector).map(|value| u32::from_le_bytes(*value)));
    }
    table
}
