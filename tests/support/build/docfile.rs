//! A compound file as it becomes by years of small changes: streams are written, rewritten and removed one by one, and
//! freed sectors are used again.
//!
//! The allocator works as the writes of Explorer in the log suggest (docs/format.md): a stream that is rewritten is
//! truncated first, the lowest free sector or mini sector is used first, and free sectors at the end of the file are
//! cut off.

use std::collections::{BTreeSet, HashMap};

use jlfix::format::compound::{MINI_CUTOFF, Root, SIGNATURE};

use super::utf16;

const SECTOR: usize = 512;
const MINI: usize = 64;
/// Entries of a FAT or mini FAT sector.
const PER_TABLE: usize = SECTOR / 4;
/// Directory entries of a sector.
const PER_DIRECTORY: usize = SECTOR / 128;
const END_OF_CHAIN: u32 = 0xFFFF_FFFE;
const FREE: u32 = 0xFFFF_FFFF;
const FAT_SECTOR: u32 = 0xFFFF_FFFD;
const NO_STREAM: u32 = 0xFFFF_FFFF;

/// The sectors or mini sectors of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Bytes of the stream. Below 4,096 it is in mini sectors.
    pub size: usize,
    /// Its sectors or mini sectors, in order.
    pub chain: Vec<u32>,
}

impl Placed {
    fn is_mini(&self) -> bool {
        self.size < MINI_CUTOFF as usize
    }
}

/// The layout of a compound file (version 3, without DIFAT sectors). The content is given when it is built.
#[derive(Debug, Clone)]
pub struct Docfile {
    /// Sectors of the FAT, in order.
    pub fat: Vec<u32>,
    /// Sectors of the directory, in order.
    pub directory: Vec<u32>,
    /// Sectors of the mini FAT, in order.
    pub mini_fat: Vec<u32>,
    /// Sectors of the mini stream, in order.
    pub mini_stream: Vec<u32>,
    /// Directory slots; the first is the root's.
    pub slots: Vec<Option<String>>,
    streams: HashMap<String, Placed>,
    sectors: u32,
    minis: u32,
    free: BTreeSet<u32>,
    free_minis: BTreeSet<u32>,
}

impl Docfile {
    /// A file with no stream: the FAT and the directory, as Windows starts it.
    pub fn new() -> Self {
        Self {
            fat: vec![0],
            directory: vec![1],
            mini_fat: Vec::new(),
            mini_stream: Vec::new(),
            slots: vec![Some("Root Entry".to_owned())],
            streams: HashMap::new(),
            sectors: 2,
            minis: 0,
            free: BTreeSet::new(),
            free_minis: BTreeSet::new(),
        }
    }

    /// Bytes of the file.
    pub fn size(&self) -> usize {
        (self.sectors as usize + 1) * SECTOR
    }

    /// Writes a stream of `size` bytes: a new one, or an old one from its start.
    pub fn write(&mut self, name: &str, size: usize) {
        let mut stream = match self.streams.remove(name) {
            Some(stream) => stream,
            None => {
                self.take_slot(name);
                Placed { size: 0, chain: Vec::new() }
            }
        };
        let mini = size < MINI_CUTOFF as usize;
        let need = size.div_ceil(if mini { MINI } else { SECTOR });
        // Truncating and writing again would take the same sectors, as no free one is below them.
        let in_place = stream.is_mini() == mini
            && !mini
            && stream.chain.is_sorted()
            && self.free.first().is_none_or(|free| stream.chain.last().is_some_and(|last| last < free));
        if !in_place {
            self.release(&stream);
            stream.chain.clear();
        }
        while stream.chain.len() > need {
            let sector = stream.chain.pop().unwrap();
            self.release_sector(sector);
        }
        while stream.chain.len() < need {
            let taken = if mini { self.take_mini() } else { self.take_sector() };
            stream.chain.push(taken);
        }
        stream.size = size;
        self.streams.insert(name.to_owned(), stream);
    }

    /// Places a stream in these sectors or mini sectors, which must be in the file.
    pub fn place(&mut self, name: &str, placed: Placed) {
        self.take_slot(name);
        self.streams.insert(name.to_owned(), placed);
    }

    /// Makes the file have `sectors` sectors and its mini stream `minis` mini sectors, for streams that are placed.
    pub fn reserve(&mut self, sectors: u32, minis: u32) {
        (self.sectors, self.minis) = (sectors, minis);
    }

    /// Removes a stream.
    pub fn remove(&mut self, name: &str) {
        let stream = self.streams.remove(name).expect("a stream of that name");
        self.release(&stream);
        let slot = self.slots.iter().position(|slot| slot.as_deref() == Some(name)).unwrap();
        self.slots[slot] = None;
    }

    fn take_slot(&mut self, name: &str) {
        let slot = self.slots.iter().position(Option::is_none).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(name.to_owned());
        while self.slots.len() > self.directory.len() * PER_DIRECTORY {
            let sector = self.take_sector();
            self.directory.push(sector);
        }
    }

    fn take_sector(&mut self) -> u32 {
        if let Some(sector) = self.free.pop_first() {
            return sector;
        }
        if self.sectors as usize >= self.fat.len() * PER_TABLE {
            self.fat.push(self.sectors);
            self.sectors += 1;
        }
        self.sectors += 1;
        self.sectors - 1
    }

    fn take_mini(&mut self) -> u32 {
        if let Some(mini) = self.free_minis.pop_first() {
            return mini;
        }
        self.minis += 1;
        while self.minis as usize > self.mini_fat.len() * PER_TABLE {
            let sector = self.take_sector();
            self.mini_fat.push(sector);
        }
        while self.minis as usize * MINI > self.mini_stream.len() * SECTOR {
            let sector = self.take_sector();
            self.mini_stream.push(sector);
        }
        self.minis - 1
    }

    fn release(&mut self, stream: &Placed) {
        if !stream.is_mini() {
            stream.chain.iter().for_each(|sector| self.release_sector(*sector));
            return;
        }
        self.free_minis.extend(&stream.chain);
        while self.minis > 0 && self.free_minis.remove(&(self.minis - 1)) {
            self.minis -= 1;
        }
        while self.mini_stream.len() * SECTOR >= self.minis as usize * MINI + SECTOR {
            let sector = self.mini_stream.pop().unwrap();
            self.release_sector(sector);
        }
    }

    fn release_sector(&mut self, sector: u32) {
        self.free.insert(sector);
        while self.free.remove(&(self.sectors - 1)) {
            self.sectors -= 1;
        }
    }

    /// The file; `content` gives the bytes of each stream.
    pub fn build(&self, root: &Root, content: impl Fn(&str) -> Vec<u8>) -> Vec<u8> {
        let mut file = vec![0; self.size()];
        let mut fat = vec![FREE; self.fat.len() * PER_TABLE];
        let mut mini_fat = vec![FREE; self.mini_fat.len() * PER_TABLE];
        for table in [&self.directory, &self.mini_fat, &self.mini_stream] {
            link(&mut fat, table);
        }
        for sector in &self.fat {
            fat[*sector as usize] = FAT_SECTOR;
        }
        let mut mini_stream = vec![0; self.mini_stream.len() * SECTOR];
        for (name, stream) in &self.streams {
            let data = content(name);
            assert_eq!(data.len(), stream.size, "{name}");
            if stream.is_mini() {
                link(&mut mini_fat, &stream.chain);
                scatter(&mut mini_stream, &stream.chain, MINI, 0, &data);
            } else {
                link(&mut fat, &stream.chain);
                scatter(&mut file, &stream.chain, SECTOR, SECTOR, &data);
            }
        }
        for (chain, data) in [
            (&self.fat, bytes_of(&fat)),
            (&self.mini_fat, bytes_of(&mini_fat)),
            (&self.mini_stream, mini_stream),
            (&self.directory, self.directory_entries(root)),
        ] {
            scatter(&mut file, chain, SECTOR, SECTOR, &data);
        }
        file[..SECTOR].copy_from_slice(&self.header());
        file
    }

    /// MS-CFB 2.2.
    fn header(&self) -> Vec<u8> {
        let first = |chain: &[u32]| chain.first().copied().unwrap_or(END_OF_CHAIN);
        let mut out = SIGNATURE.to_vec();
        out.extend([0; 16]);
        for value in [0x3E_u16, 3, 0xFFFE, 9, 6, 0, 0, 0] {
            out.extend(value.to_le_bytes());
        }
        let directory = first(&self.directory);
        let mini_fat = first(&self.mini_fat);
        let counts = [0, self.fat.len() as u32, directory, 0, MINI_CUTOFF];
        let tables = [mini_fat, self.mini_fat.len() as u32, END_OF_CHAIN, 0];
        for value in counts.into_iter().chain(tables) {
            out.extend(value.to_le_bytes());
        }
        assert!(self.fat.len() <= 109, "a file without DIFAT sectors");
        for slot in 0..109 {
            out.extend(self.fat.get(slot).copied().unwrap_or(FREE).to_le_bytes());
        }
        out
    }

    /// MS-CFB 2.6. The names make a balanced tree, whose deepest level is red.
    fn directory_entries(&self, root: &Root) -> Vec<u8> {
        let mut order: Vec<usize> = (1..self.slots.len()).filter(|slot| self.slots[*slot].is_some()).collect();
        order.sort_by_key(|slot| {
            let name = self.slots[*slot].as_deref().unwrap();
            (name.len(), name.to_ascii_uppercase())
        });
        let mut tree = vec![(NO_STREAM, NO_STREAM, 1_u8); self.slots.len()];
        let depth = order.len().checked_ilog2().unwrap_or(0);
        let child = plant(&order, &mut tree, depth);
        let mut out = Vec::new();
        for slot in 0..self.directory.len() * PER_DIRECTORY {
            let name = self.slots.get(slot).and_then(Option::as_deref);
            let mut entry = name.map(utf16).unwrap_or_default();
            let name_size = if name.is_some() { entry.len() as u16 + 2 } else { 0 };
            entry.resize(64, 0);
            entry.extend(name_size.to_le_bytes());
            let (left, right, color) = tree.get(slot).copied().unwrap_or((NO_STREAM, NO_STREAM, 0));
            let (kind, own_child, start, size) = match name {
                None => (0, NO_STREAM, 0, 0),
                Some(_) if slot == 0 => {
                    (5, child, self.mini_stream.first().copied().unwrap_or(END_OF_CHAIN), self.minis as usize * MINI)
                }
                Some(name) => {
                    let stream = &self.streams[name];
                    (2, NO_STREAM, stream.chain.first().copied().unwrap_or(END_OF_CHAIN), stream.size)
                }
            };
            entry.extend([kind, if name.is_some() { color } else { 0 }]);
            for value in [left, right, own_child] {
                entry.extend(value.to_le_bytes());
            }
            let times = if slot == 0 { (root.created.0, root.modified.0) } else { (0, 0) };
            entry.extend([0; 20]);
            entry.extend(times.0.to_le_bytes());
            entry.extend(times.1.to_le_bytes());
            entry.extend(start.to_le_bytes());
            entry.extend((size as u64).to_le_bytes());
            out.extend(entry);
        }
        out
    }
}

/// Makes a balanced tree of the slots in `order`; returns its root.
fn plant(order: &[usize], tree: &mut [(u32, u32, u8)], depth: u32) -> u32 {
    let Some(middle) = order.get(order.len() / 2) else { return NO_STREAM };
    let left = plant(&order[..order.len() / 2], tree, depth.saturating_sub(1));
    let right = plant(&order[order.len() / 2 + 1..], tree, depth.saturating_sub(1));
    let red = depth == 0 && left == NO_STREAM && right == NO_STREAM;
    tree[*middle] = (left, right, u8::from(!red));
    *middle as u32
}

/// Enters a chain in a table.
fn link(table: &mut [u32], chain: &[u32]) {
    for (at, unit) in chain.iter().enumerate() {
        table[*unit as usize] = chain.get(at + 1).copied().unwrap_or(END_OF_CHAIN);
    }
}

/// Copies `data` into the units of a chain.
fn scatter(target: &mut [u8], chain: &[u32], unit: usize, base: usize, data: &[u8]) {
    for (number, part) in chain.iter().zip(data.chunks(unit)) {
        let at = base + *number as usize * unit;
        target[at..at + part.len()].copy_from_slice(part);
    }
}

fn bytes_of(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
