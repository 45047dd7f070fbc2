//! The compound file (MS-CFB) that an automatic destinations list lives in, read tolerantly from a slice.
//!
//! A jump list that Windows has damaged still holds most of what was in it. So a fault here never ends the
//! reading: it is written down, and everything that can be reached is handed out, with what is missing told
//! per stream. The directory is read by a linear scan, not through its tree, so that a broken tree loses
//! nothing. Every chain is walked through a mark per sector, the bytes handed out are bounded by a budget, and
//! the work is linear in the file.

mod directory;
mod fault;
mod header;
mod proof;
mod tables;

use std::borrow::Cow;

pub use directory::{DirEntry, Kind, entry_id};
pub use fault::{Fault, FaultKind};
pub use header::{Header, MINI_CUTOFF, SIGNATURE};
pub use tables::{ChainEnd, Sectors};

use super::guid::Guid;
use super::text::Utf16;
use super::time::FileTime;
use crate::bytes::{Short, u32_at};
use crate::limits::Limits;
use directory::{ENTRY_SIZE, NO_STREAM};
use tables::{END_OF_CHAIN, FREE};

/// Bytes of a mini sector.
pub const MINI_SIZE: usize = 1 << header::MINI_SHIFT;

/// How a stream's bytes were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// As the file says, nothing in doubt.
    Intact,
    /// Along a chain that had to be mended.
    Chain,
    /// The chain is lost; the bytes that follow the start prove to be the stream.
    Contiguous,
    /// The directory entry is lost; found in sectors that belong to nothing.
    Carved,
}

/// A stream and as many of its bytes as are there.
#[derive(Debug, Clone)]
pub struct Stream<'a> {
    /// Name as in the directory; empty for a carved stream.
    pub name: Utf16<'a>,
    /// Name of the storage it is in, outermost first and with `/` between; empty for the root.
    pub storage: String,
    /// The bytes: borrowed from the file where they stand in one piece.
    pub data: Cow<'a, [u8]>,
    /// Size that the directory claims, in bytes.
    pub size: u64,
    /// Where the first byte stands in the file.
    pub offset: u64,
    /// First sector or mini sector.
    pub start: u32,
    /// How the bytes were found.
    pub recovery: Recovery,
}

impl Stream<'_> {
    /// The entry id that the name spells, and whether it is spelled as Windows does.
    pub fn entry_id(&self) -> Option<(u64, bool)> {
        if self.storage.is_empty() { entry_id(self.name) } else { None }
    }

    /// How many of the claimed bytes could not be found.
    pub fn missing(&self) -> u64 {
        self.size.saturating_sub(self.data.len() as u64)
    }

    /// True if the stream lives in mini sectors.
    pub fn is_mini(&self) -> bool {
        self.size < u64::from(MINI_CUTOFF)
    }
}

/// What the root entry says of the file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Root {
    /// Class; zero in every real list.
    pub clsid: Guid,
    /// Creation time; 0 in most.
    pub created: FileTime,
    /// Modification time; set in every real list.
    pub modified: FileTime,
}

/// How large the tables are, in sectors: what a reader must go through before it reads a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableSizes {
    /// FAT and DIFAT sectors.
    pub fat: u64,
    /// Mini FAT sectors.
    pub mini_fat: u64,
    /// Directory sectors.
    pub directory: u64,
}

/// A compound file, read as far as it goes.
#[derive(Debug)]
pub struct Compound<'a> {
    /// The header.
    pub header: Header,
    /// Streams in the order of the directory, carved ones last.
    pub streams: Vec<Stream<'a>>,
    /// Names of storages, outermost first and with `/` between. No real list has one.
    pub storages: Vec<String>,
    /// What the root says.
    pub root: Root,
    /// Everything that is wrong with the container.
    pub faults: Vec<Fault>,
    /// How large the tables are.
    pub tables: TableSizes,
    sectors: Sectors<'a>,
}

/// True if `data` starts as a compound file does.
pub fn looks_like_compound(data: &[u8]) -> bool {
    data.starts_with(&SIGNATURE)
}

/// The parts between header and streams, as the file gives them.
struct Layout<'a> {
    fat: Vec<u32>,
    directory: Vec<DirEntry<'a>>,
    mini_fat: Vec<u32>,
    mini_stream: Vec<u32>,
}

impl<'a> Compound<'a> {
    /// Reads as much as is there.
    ///
    /// # Errors
    /// Only if the file has no whole header (512 bytes). Everything else is a fault that the result lists.
    pub fn parse(data: &'a [u8], limits: &Limits) -> Result<Self, Short> {
        let mut faults = Vec::new();
        let header = Header::parse(data, &mut faults)?;
        let sectors = Sectors::new(data, header.sector_shift);
        let (fat, holders) = tables::read_fat(&sectors, &header, &mut faults);
        let mut seen = vec![false; fat.len()];
        for holder in &holders {
            if let Some(mark) = seen.get_mut(usize::try_from(*holder).unwrap_or(usize::MAX)) {
                *mark = true;
            }
        }
        let (directory_sectors, directory) = read_directory(&sectors, &header, &fat, &mut seen, &mut faults);
        let root = directory.iter().find(|entry| entry.kind == Kind::Root).copied();
        if root.is_none() {
            let offset = sectors.offset(header.first_directory);
            faults.push(Fault::new(FaultKind::Directory, offset, "the directory has no root entry".to_owned()));
        }
        let (mini_fat_sectors, mini_fat) = read_mini_fat(&sectors, &header, &fat, &mut seen, &mut faults);
        let mini_stream = read_mini_stream(&sectors, root.as_ref(), &fat, &mut seen, &mut faults);
        let tables = TableSizes { fat: holders.len() as u64, mini_fat: mini_fat_sectors, directory: directory_sectors };
        let layout = Layout { fat, directory, mini_fat, mini_stream };
        let (streams, storages) = read_streams(&sectors, &layout, seen, limits, &mut faults);
        let root = root.map(|entry| Root { clsid: entry.clsid, created: entry.created, modified: entry.modified });
        Ok(Self { header, streams, storages, root: root.unwrap_or_default(), faults, tables, sectors })
    }

    /// The stream of that name in the root, without regard to case as in Windows.
    pub fn stream(&self, name: &str) -> Option<&Stream<'a>> {
        let matches = |stream: &&Stream<'_>| {
            stream.storage.is_empty()
                && stream.name.chars().map(|c| c.to_ascii_lowercase()).eq(name.chars().map(|c| c.to_ascii_lowercase()))
        };
        self.streams.iter().find(matches)
    }

    /// Bytes of the file.
    pub fn file_size(&self) -> u64 {
        self.sectors.data().len() as u64
    }

    /// Bytes of a sector.
    pub fn sector_size(&self) -> u64 {
        self.sectors.size() as u64
    }
}

/// A fault for a chain that ended too early; nothing if it did not.
fn chain_fault(sectors: &Sectors<'_>, what: &str, end: ChainEnd, have: usize, kind: FaultKind) -> Option<Fault> {
    match end {
        ChainEnd::Whole => None,
        ChainEnd::Loop(at) => {
            let message = format!("the chain of {what} comes back to sector {at} after {have} sectors");
            Some(Fault::new(FaultKind::Loop, sectors.offset(at), message))
        }
        ChainEnd::Broken(at, value) => {
            let message = format!(
                "the chain of {what} breaks off after {have} sectors: sector {at} leads to {}",
                describe(value)
            );
            Some(Fault::new(kind, sectors.offset(at), message))
        }
    }
}

/// A FAT value in words.
fn describe(value: u32) -> String {
    match value {
        FREE => "a free sector".to_owned(),
        END_OF_CHAIN => "the end".to_owned(),
        tables::FAT_SECTOR => "a FAT sector".to_owned(),
        tables::DIFAT_SECTOR => "a DIFAT sector".to_owned(),
        tables::UNKNOWN => "a sector that a lost part of the FAT would name".to_owned(),
        value => format!("sector {value}, which the file does not have"),
    }
}

fn read_directory<'a>(
    sectors: &Sectors<'a>,
    header: &Header,
    fat: &[u32],
    seen: &mut [bool],
    faults: &mut Vec<Fault>,
) -> (u64, Vec<DirEntry<'a>>) {
    let (chain, end) = tables::chain(fat, header.first_directory, usize::MAX, seen);
    faults.extend(chain_fault(sectors, "the directory", end, chain.len(), FaultKind::Directory));
    let per_sector = sectors.size() / ENTRY_SIZE;
    let mut entries = Vec::with_capacity(chain.len().saturating_mul(per_sector));
    let wide = header.major_version == 4;
    for (ordinal, number) in chain.iter().enumerate() {
        let sector = sectors.get(*number).unwrap_or_default();
        for (slot, bytes) in sector.chunks_exact(ENTRY_SIZE).enumerate() {
            let index = u32::try_from(ordinal.saturating_mul(per_sector).saturating_add(slot)).unwrap_or(NO_STREAM);
            let offset = sectors.offset(*number).saturating_add((slot.saturating_mul(ENTRY_SIZE)) as u64);
            entries.extend(DirEntry::parse(bytes, index, offset, wide).ok().flatten());
        }
    }
    (chain.len() as u64, entries)
}

fn read_mini_fat(
    sectors: &Sectors<'_>,
    header: &Header,
    fat: &[u32],
    seen: &mut [bool],
    faults: &mut Vec<Fault>,
) -> (u64, Vec<u32>) {
    let (chain, end) = tables::chain(fat, header.first_mini_fat, usize::MAX, seen);
    faults.extend(chain_fault(sectors, "the mini FAT", end, chain.len(), FaultKind::MiniStream));
    let mut mini_fat = Vec::with_capacity(chain.len().saturating_mul(sectors.entries_per_sector()));
    for number in &chain {
        let sector = sectors.get(*number).unwrap_or_default();
        mini_fat.extend((0..sectors.entries_per_sector()).map_while(|slot| u32_at(sector, slot.saturating_mul(4))));
    }
    (chain.len() as u64, mini_fat)
}

/// The sectors of the mini stream, in order.
fn read_mini_stream(
    sectors: &Sectors<'_>,
    root: Option<&DirEntry<'_>>,
    fat: &[u32],
    seen: &mut [bool],
    faults: &mut Vec<Fault>,
) -> Vec<u32> {
    let Some(root) = root.filter(|root| root.size > 0) else { return Vec::new() };
    let need = usize::try_from(root.size.div_ceil(sectors.size() as u64)).unwrap_or(usize::MAX);
    let (chain, end) = tables::chain(fat, root.start, need, seen);
    faults.extend(chain_fault(sectors, "the mini stream", end, chain.len(), FaultKind::MiniStream));
    if end == ChainEnd::Whole && chain.len() < need {
        let message =
            format!("the mini stream has {} sectors, its size of {} bytes needs {need}", chain.len(), root.size);
        faults.push(Fault::new(FaultKind::MiniStream, root.offset, message));
    }
    chain
}

/// The storages that the directory's tree reaches: for each entry, the path of what holds it, or nothing if the
/// tree does not lead there.
fn reach(directory: &[DirEntry<'_>]) -> Vec<Option<String>> {
    let mut holders: Vec<Option<String>> = vec![None; directory.len()];
    let position = |index: u32| directory.binary_search_by_key(&index, |entry| entry.index).ok();
    let Some(root) = directory.iter().position(|entry| entry.kind == Kind::Root) else { return holders };
    let mut open: Vec<(u32, String)> = Vec::new();
    if let (Some(slot), Some(entry)) = (holders.get_mut(root), directory.get(root)) {
        *slot = Some(String::new());
        open.push((entry.child, String::new()));
    }
    while let Some((index, holder)) = open.pop() {
        if index == NO_STREAM {
            continue;
        }
        let Some(at) = position(index) else { continue };
        let (Some(slot @ None), Some(entry)) = (holders.get_mut(at), directory.get(at)) else { continue };
        open.push((entry.left, holder.clone()));
        open.push((entry.right, holder.clone()));
        if entry.kind == Kind::Storage {
            open.push((entry.child, join(&holder, entry.name)));
        }
        *slot = Some(holder);
    }
    holders
}

fn join(holder: &str, name: Utf16<'_>) -> String {
    if holder.is_empty() { name.to_string() } else { format!("{holder}/{name}") }
}

fn read_streams<'a>(
    sectors: &Sectors<'a>,
    layout: &Layout<'a>,
    mut seen: Vec<bool>,
    limits: &Limits,
    faults: &mut Vec<Fault>,
) -> (Vec<Stream<'a>>, Vec<String>) {
    let reached = reach(&layout.directory);
    let mut mini_seen = vec![false; layout.mini_fat.len()];
    let mut budget = (sectors.data().len() as u64).saturating_mul(limits.handed_out_per_byte);
    let mut streams = Vec::with_capacity(layout.directory.len());
    let mut storages = Vec::new();
    for (entry, holder) in layout.directory.iter().zip(reached) {
        if holder.is_none() {
            let mut fault = Fault::new(
                FaultKind::Unreachable,
                entry.offset,
                format!("the directory's tree does not lead to {:?}", entry.name),
            );
            fault.stream_id = entry.entry_id().map(|(id, _)| id);
            faults.push(fault);
        }
        let storage = holder.unwrap_or_default();
        match entry.kind {
            Kind::Root => {}
            Kind::Storage => storages.push(join(&storage, entry.name)),
            Kind::Stream => {
                let seen = if entry.size < u64::from(MINI_CUTOFF) { &mut mini_seen } else { &mut seen };
                streams.push(read_stream(sectors, layout, entry, storage, seen, &mut budget, faults));
            }
        }
    }
    (streams, storages)
}

fn read_stream<'a>(
    sectors: &Sectors<'a>,
    layout: &Layout<'a>,
    entry: &DirEntry<'a>,
    storage: String,
    seen: &mut [bool],
    budget: &mut u64,
    faults: &mut Vec<Fault>,
) -> Stream<'a> {
    let mini = entry.size < u64::from(MINI_CUTOFF);
    let (unit, table) = if mini { (MINI_SIZE, &layout.mini_fat) } else { (sectors.size(), &layout.fat) };
    let mut pieces = Pieces::new(sectors.data());
    let mut tell = |kind, offset, message| {
        faults.push(Fault { kind, offset, stream_id: entry.entry_id().map(|(id, _)| id), message });
    };
    let mut left = entry.size;
    if left > *budget {
        let message = format!("stream {:?} claims {left} bytes, {budget} are left to hand out", entry.name);
        tell(FaultKind::Limit, entry.offset, message);
        left = 0;
    }
    *budget = budget.saturating_sub(left);
    let first = locate(sectors, layout, mini, entry.start).map_or(entry.offset, |(offset, _)| offset as u64);
    let mut at = entry.start;
    let mut trouble = None;
    while left > 0 {
        let slot = usize::try_from(at).unwrap_or(usize::MAX);
        let (Some(next), Some(mark)) = (table.get(slot), seen.get_mut(slot)) else {
            trouble = Some((
                FaultKind::Stream,
                if at == END_OF_CHAIN {
                    "its chain ends".to_owned()
                } else {
                    format!("its chain leads to {}", describe(at))
                },
            ));
            break;
        };
        if std::mem::replace(mark, true) {
            let walked = usize::try_from(entry.size.saturating_sub(left)).unwrap_or(usize::MAX) / unit;
            let what = if mini { "mini sector" } else { "sector" };
            trouble = Some(if tables::chain_passes(table, entry.start, walked, at) {
                (FaultKind::Loop, format!("its chain comes back to {what} {at}"))
            } else {
                (FaultKind::CrossLinked, format!("its chain comes to {what} {at}, which is taken"))
            });
            break;
        }
        let Some((offset, have)) = locate(sectors, layout, mini, at) else {
            trouble = Some((FaultKind::Stream, format!("mini sector {at} lies past the mini stream")));
            break;
        };
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(unit);
        let take = want.min(have);
        pieces.push(offset, take);
        left = left.saturating_sub(take as u64);
        if take < want {
            trouble = Some((FaultKind::Stream, "the file ends".to_owned()));
            break;
        }
        at = *next;
    }
    let data = pieces.join();
    if let Some((kind, why)) = trouble {
        let have = data.len();
        tell(kind, entry.offset, format!("stream {:?} needs {} bytes, has {have}: {why}", entry.name, entry.size));
    }
    Stream {
        name: entry.name,
        storage,
        data,
        size: entry.size,
        offset: first,
        start: entry.start,
        recovery: Recovery::Intact,
    }
}

/// Where sector or mini sector `number` stands in the file, and how many of its bytes are there.
fn locate(sectors: &Sectors<'_>, layout: &Layout<'_>, mini: bool, number: u32) -> Option<(usize, usize)> {
    let (number, inside) = if mini {
        let per_sector = u32::try_from(sectors.size() / MINI_SIZE).ok()?;
        let host = layout.mini_stream.get(usize::try_from(number / per_sector).ok()?)?;
        (*host, usize::try_from(number % per_sector).ok()?.saturating_mul(MINI_SIZE))
    } else {
        (number, 0)
    };
    let have = sectors.get(number)?.len().saturating_sub(inside);
    let offset = usize::try_from(sectors.offset(number)).ok()?.saturating_add(inside);
    Some((offset, have.min(if mini { MINI_SIZE } else { sectors.size() })))
}

/// Ranges of the file that make up a stream, neighbours joined: one range is borrowed, several are copied.
struct Pieces<'a> {
    data: &'a [u8],
    start: usize,
    size: usize,
    copied: Vec<u8>,
}

impl<'a> Pieces<'a> {
    fn new(data: &'a [u8]) -> Self {
        Self { data, start: 0, size: 0, copied: Vec::new() }
    }

    fn current(&self) -> &'a [u8] {
        self.data.get(self.start..self.start.saturating_add(self.size)).unwrap_or_default()
    }

    fn push(&mut self, offset: usize, size: usize) {
        if self.size > 0 && self.start.saturating_add(self.size) == offset {
            self.size = self.size.saturating_add(size);
        } else {
            self.copied.extend_from_slice(self.current());
            (self.start, self.size) = (offset, size);
        }
    }

    fn join(mut self) -> Cow<'a, [u8]> {
        if self.copied.is_empty() {
            Cow::Borrowed(self.current())
        } else {
            self.copied.extend_from_slice(self.current());
            Cow::Owned(self.copied)
        }
    }
}
