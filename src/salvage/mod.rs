//! Salvage: what a damaged compound file still holds, beyond what its own tables lead to.
//!
//! Only a file that is damaged comes here: one with a fault in its tables, or with a stream whose content is not
//! what it is taken for. The tables are found again where they look to be (`rebuild`), the mini stream is put in
//! order (`mini_stream`), and each stream is tried along one chain after another until its content proves it
//! (`solve`): a link that adds up to its end, a DestList whose checksums hold (`dest_list`). Sectors that are in
//! each other's place are read the other way round where more holds then (`exchange`). What nothing names is
//! carved (`carve`). Each result says how it was found; nothing that the file itself leads to is replaced by
//! something that is less certain.
//!
//! Passes through the file are few, and attempts draw on a budget ([`Limits::salvage_work`]).
//!
//! ```
//! let data = std::fs::read("samples/damaged/cut-short/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! let compound = jlfix::salvage::read(&data, &jlfix::Limits::default())?;
//! let complete = compound.streams.iter().filter(|stream| stream.missing() == 0).count();
//! println!("{complete} of {} streams are complete", compound.streams.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod carve;
mod dest_list;
mod exchange;
pub(crate) mod links;
mod look;
mod mini_stream;
mod rebuild;
mod solve;
mod space;
mod suspects;

use std::borrow::Cow;
use std::collections::HashSet;

use crate::bytes::Short;
use crate::format::compound::directory::{DirEntry, Kind};
use crate::format::compound::fault::{Fault, FaultKind};
use crate::format::compound::header::{Header, MINI_SIZE};
use crate::format::compound::streams::{self, Pieces};
use crate::format::compound::tables::{self, ChainEnd, Sectors};
use crate::format::compound::{CarvedEntry, Compound, DEST_LIST, Recovery, Stream, is_dest_list};
use crate::format::destlist;
use crate::format::link;
use crate::format::text::Utf16;
use crate::limits::Limits;
use links::Work;
use look::Looks;
use solve::{Proven, Solution};
use space::Where;

/// The name of the stream that lists the entries, for one whose directory entry is lost.
const DEST_LIST_NAME: [u8; 16] = *b"D\0e\0s\0t\0L\0i\0s\0t\0";

/// Reads a compound file, and recovers what its tables no longer lead to where it is damaged.
///
/// # Errors
/// Only if the file has no complete header (512 bytes). Everything else is a fault that the result lists.
pub fn read<'a>(data: &'a [u8], limits: &Limits) -> Result<Compound<'a>, Short> {
    let plain = Compound::read(data, limits)?;
    let compound = if is_proven(&plain) { plain } else { salvage(plain, limits) };
    Ok(compound.with_name_faults())
}

/// True if nothing is wrong with the container, and what is in it proves that its streams are what they are
/// taken for: there is nothing to salvage.
fn is_proven(compound: &Compound<'_>) -> bool {
    // Links without a list that names them: the list may be there under a damaged name.
    let has_links = compound.streams.iter().any(|stream| stream.entry_id().is_some());
    compound.faults.is_empty()
        && (!has_links || compound.streams.iter().any(|stream| stream.is_dest_list() && !stream.data.is_empty()))
        && compound.streams.iter().all(|stream| {
            if stream.entry_id().is_some() {
                link::walk(&stream.data)
                    .map_or_else(|_| link::lacks_only_terminal(&stream.data), |walk| walk.size == stream.data.len())
            } else {
                !stream.is_dest_list() || stream.data.is_empty() || destlist::is_whole(&stream.data)
            }
        })
}

/// Reads again, by every means, the file that gave `plain`.
fn salvage<'a>(plain: Compound<'a>, limits: &Limits) -> Compound<'a> {
    let data = plain.layout.sectors.data();
    let passes = (data.len() as u64).saturating_mul(4);
    let mut work = Work::new(limits.salvage_work.saturating_add(passes));
    let mut best: Option<Solution<'a>> = None;
    for shift in shifts(&plain) {
        let sectors = Sectors::new(data, shift);
        let view = exchange::best_view(sectors, &Looks::new(&sectors), &mut work);
        if best.as_ref().is_none_or(|best| view.outcome.score > best.outcome.score) {
            best = Some(view);
        }
    }
    let Some(best) = best else { return plain };
    // Without a fault in its tables, a file is left as it is unless that gives more and gives up nothing, and leaves no
    // chain that ends just where the size of its stream says: a link that is truncated reads on into its neighbour by mere
    // chance.
    if plain.faults.is_empty() && (!gives_more(&best, &plain) || leaves_sound_chain(&best)) {
        return plain;
    }
    Finish { plain: &plain, solution: best, limits }.compound(&mut work)
}

/// The sector sizes to try: where version and sector size contradict each other, both.
fn shifts(plain: &Compound<'_>) -> Vec<u32> {
    let claimed = plain.header.sector_shift;
    let contradicted = plain.faults.iter().any(|fault| fault.kind == FaultKind::Header && fault.offset == 26);
    if contradicted { vec![9, 12] } else { vec![claimed] }
}

/// True if a stream is read along another chain than a sound one that the tables give it.
fn leaves_sound_chain(solution: &Solution<'_>) -> bool {
    let layout = &solution.layout;
    if layout.sectors.exchanges().next().is_some() {
        return false;
    }
    let mut seen = (vec![false; layout.fat.len()], vec![false; layout.mini_fat.len()]);
    solution.outcome.proven.iter().chain(&solution.outcome.dest_list).any(|proven| {
        let Some(entry) = proven.entry.and_then(|entry| layout.directory.get(entry)) else { return false };
        let (table, unit, seen) = if entry.is_mini() {
            (&layout.mini_fat, MINI_SIZE, &mut seen.1)
        } else {
            (&layout.fat, layout.sectors.size(), &mut seen.0)
        };
        let need = usize::try_from(entry.size).unwrap_or(usize::MAX).div_ceil(unit.max(1));
        let (chain, end) = tables::chain(table, entry.start, need.saturating_add(1), seen);
        end == ChainEnd::Whole && chain.len() == need && chain != proven.units
    })
}

/// True if there are more certain links or entries in a solution than in a plain reading, and of neither fewer. A link that
/// ends before its stream does is certain in both: what follows is slack.
fn gives_more(solution: &Solution<'_>, plain: &Compound<'_>) -> bool {
    let is_certain = |data: &[u8]| link::walk(data).is_ok_and(|walk| walk.size == data.len() || walk.flaws == 0);
    let links = plain.streams.iter().filter(|stream| stream.entry_id().is_some() && is_certain(&stream.data)).count();
    let list = plain.streams.iter().find(|stream| stream.is_dest_list());
    let entries = list.map_or(0, |list| destlist::resync(&list.data).sound());
    let outcome = &solution.outcome;
    outcome.links >= links && outcome.entries >= entries && (outcome.links > links || outcome.entries > entries)
}

/// Makes streams and faults of a solution.
struct Finish<'p, 'a, 'x> {
    plain: &'p Compound<'a>,
    solution: Solution<'a>,
    limits: &'x Limits,
}

impl<'a> Finish<'_, 'a, '_> {
    fn compound(self, work: &mut Work) -> Compound<'a> {
        let mut faults: Vec<Fault> =
            self.plain.faults.iter().filter(|fault| !is_of_stream(fault.kind)).cloned().collect();
        let layout = &self.solution.layout;
        faults.extend(layout.sectors.exchanges().map(|(one, other)| self.exchanged(one, other)));
        let (mut streams, storages) = self.named(&mut faults);
        let list = streams.iter().find(|stream| stream.is_dest_list());
        let version = list.map(|list| destlist::resync(&list.data).header.version);
        let held: HashSet<Vec<u8>> = list.map(entries_of).unwrap_or_default();
        for proven in self.solution.outcome.proven.iter().filter(|proven| proven.entry.is_none()) {
            let (data, pieces) = self.data(proven);
            let (offset, start) = (self.offset(proven), proven.units.first().copied().unwrap_or_default());
            streams.push(Stream { pieces, ..carved(data, offset, start) });
        }
        let (links, mut entries) = carve::carve(layout, &self.solution.outcome.taken, version, work);
        streams.extend(links.into_iter().map(|link| carved(link.data, link.offset, 0)));
        entries.retain(|entry: &CarvedEntry<'_>| !held.contains(entry.data.as_ref()));
        for stream in streams.iter().filter(|stream| stream.recovery == Recovery::Carved && stream.name.is_empty()) {
            let message = format!("a link of {} bytes that no directory entry names", stream.data.len());
            faults.push(Fault::new(FaultKind::Carved, stream.offset, message));
        }
        for entry in &entries {
            let message = "a DestList entry in sectors that belong to nothing".to_owned();
            faults.push(Fault::new(FaultKind::Carved, entry.offset, message));
        }
        if work.is_spent() {
            let message = "salvage stopped at its limit; there may be more".to_owned();
            faults.push(Fault::new(FaultKind::Limit, 0, message));
        }
        let header = Header::parse(layout.sectors.header(), &mut Vec::new()).unwrap_or(self.plain.header);
        let header = Header { sector_shift: layout.sectors.size().trailing_zeros(), ..header };
        let mut compound = Compound::of(header, self.solution.layout, streams, storages, faults);
        compound.carved_entries = entries;
        compound
    }

    fn exchanged(&self, one: u32, other: u32) -> Fault {
        let name = |block: u32| match block.checked_sub(1) {
            Some(sector) => format!("sector {sector}"),
            None => "the header".to_owned(),
        };
        let message = format!("{} and {} stand in each other's place", name(one), name(other));
        let offset = u64::from(one).saturating_mul(self.solution.layout.sectors.size() as u64);
        Fault::new(FaultKind::Exchanged, offset, message)
    }

    /// The streams that the directory names, and the names of its storages.
    fn named(&self, faults: &mut Vec<Fault>) -> (Vec<Stream<'a>>, Vec<String>) {
        let layout = &self.solution.layout;
        let outcome = &self.solution.outcome;
        let mut of_entry: Vec<Option<&Proven>> = vec![None; layout.directory.len()];
        for proven in outcome.proven.iter().chain(&outcome.dest_list) {
            if let Some(slot) = proven.entry.and_then(|entry| of_entry.get_mut(entry)) {
                *slot = Some(proven);
            }
        }
        let mut seen = (vec![false; layout.fat.len()], vec![false; layout.mini_fat.len()]);
        let tables = layout.fat_sectors.iter().chain(&layout.directory_sectors).chain(&layout.mini_fat_sectors);
        mark(&mut seen.0, tables.chain(&layout.mini_stream));
        for proven in outcome.proven.iter().chain(&outcome.dest_list) {
            match proven.place {
                Where::Sectors => mark(&mut seen.0, &proven.units),
                Where::Minis => mark(&mut seen.1, &proven.units),
                Where::Raw => {}
            }
        }
        let holders = streams::reach(&layout.directory, &mut Vec::new());
        let mut budget = self.limits.handed_out(layout.sectors.data().len());
        let (mut found, mut storages) = (Vec::new(), Vec::new());
        for ((entry, holder), proven) in layout.directory.iter().zip(holders).zip(of_entry) {
            let storage = holder.unwrap_or_default();
            match (entry.kind, proven) {
                (Kind::Root, _) => {}
                (Kind::Storage, _) => storages.push(streams::join(&storage, entry.name)),
                (Kind::Stream, Some(proven)) => {
                    let mut stream = self.proven(entry, storage, proven);
                    let is_list = outcome.dest_list.as_ref().is_some_and(|list| std::ptr::eq(list, proven));
                    if is_list && !is_dest_list(entry.name) {
                        stream.name = Utf16(&DEST_LIST_NAME);
                    }
                    faults.extend(mended(entry, &stream));
                    found.push(stream);
                }
                (Kind::Stream, None) => {
                    let seen = if entry.is_mini() { &mut seen.1 } else { &mut seen.0 };
                    found.push(streams::read_stream(layout, entry, storage, seen, &mut budget, faults));
                }
            }
        }
        if let Some(proven) = outcome.dest_list.as_ref().filter(|proven| proven.entry.is_none()) {
            let (data, pieces) = self.data(proven);
            let message = format!("{DEST_LIST} has no directory entry; {} bytes of it were found", data.len());
            let offset = self.offset(proven);
            faults.push(Fault::new(FaultKind::Carved, offset, message));
            let start = proven.units.first().copied().unwrap_or_default();
            found.push(Stream { name: Utf16(&DEST_LIST_NAME), pieces, ..carved(data, offset, start) });
        }
        (found, storages)
    }

    fn proven(&self, entry: &DirEntry<'a>, storage: String, proven: &Proven) -> Stream<'a> {
        let (data, pieces) = self.data(proven);
        let size = if is_dest_list(entry.name) { entry.size.min(data.len() as u64) } else { data.len() as u64 };
        Stream {
            name: entry.name,
            storage,
            size: size.max(data.len() as u64),
            offset: self.offset(proven),
            start: proven.units.first().copied().unwrap_or(entry.start),
            recovery: proven.recovery,
            data,
            pieces,
        }
    }

    fn ranges(&self, proven: &Proven) -> Vec<std::ops::Range<usize>> {
        let layout = &self.solution.layout;
        let sectors = &layout.sectors;
        let per_sector = u32::try_from(sectors.size() / MINI_SIZE).unwrap_or(8).max(1);
        let place = |unit: u32| match proven.place {
            Where::Raw => {
                let start = sectors.offset(unit / per_sector);
                let inside = usize::try_from(unit % per_sector).unwrap_or(0).saturating_mul(MINI_SIZE);
                let start = usize::try_from(start).unwrap_or(usize::MAX).saturating_add(inside);
                let have = sectors.data().len().saturating_sub(start).min(MINI_SIZE);
                Some((start, have))
            }
            place => layout.locate(place == Where::Minis, unit),
        };
        let mut left = proven.size;
        let mut ranges = Vec::with_capacity(proven.units.len());
        for (start, have) in proven.units.iter().map_while(|unit| place(*unit)) {
            let take = have.min(left);
            ranges.push(start..start.saturating_add(take));
            left = left.saturating_sub(take);
        }
        ranges
    }

    fn data(&self, proven: &Proven) -> (Cow<'a, [u8]>, Vec<std::ops::Range<usize>>) {
        let mut pieces = Pieces::new(self.solution.layout.sectors.data());
        self.ranges(proven).into_iter().for_each(|range| pieces.push(range));
        pieces.join()
    }

    fn offset(&self, proven: &Proven) -> u64 {
        self.ranges(proven).first().map_or(0, |range| range.start as u64)
    }
}

/// True for the faults that are reported again for each stream.
fn is_of_stream(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Stream | FaultKind::CrossLinked | FaultKind::Limit)
}

fn mark<'u>(seen: &mut [bool], units: impl IntoIterator<Item = &'u u32>) {
    for unit in units {
        if let Some(seen) = usize::try_from(*unit).ok().and_then(|slot| seen.get_mut(slot)) {
            *seen = true;
        }
    }
}

fn carved(data: Cow<'_, [u8]>, offset: u64, start: u32) -> Stream<'_> {
    Stream {
        name: Utf16(&[]),
        storage: String::new(),
        size: data.len() as u64,
        offset,
        start,
        recovery: Recovery::Carved,
        data,
        pieces: Vec::new(),
    }
}

/// The fault of a stream that differs from the directory and the tables.
fn mended(entry: &DirEntry<'_>, stream: &Stream<'_>) -> Option<Fault> {
    let how = match stream.recovery {
        Recovery::Chain if stream.is_dest_list() && !is_dest_list(entry.name) => "it is the DestList",
        Recovery::Chain => "its chain had to be repaired",
        Recovery::Contiguous => "its chain is lost; the bytes that follow its start prove to be it",
        _ if stream.data.len() as u64 == entry.size => return None,
        _ => "its size is another",
    };
    let size = stream.data.len();
    let message = match entry.size {
        claimed if claimed == size as u64 => format!("stream {:?} of {size} bytes: {how}", entry.name),
        claimed => format!("stream {:?} claims {claimed} bytes, has {size}: {how}", entry.name),
    };
    Some(Fault::of_stream(FaultKind::Mended, entry, message))
}

/// The bytes of the entries that a DestList holds.
fn entries_of(list: &Stream<'_>) -> HashSet<Vec<u8>> {
    destlist::resync(&list.data).entries.iter().map(|found| found.entry.raw.to_vec()).collect()
}
