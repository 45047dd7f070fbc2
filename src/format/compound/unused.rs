//! What nothing in a compound file takes: free sectors, the slack behind streams, unused directory entries. What is
//! deleted stays there until something is written over it.

use std::collections::HashSet;
use std::ops::Range;

use super::directory::{DirEntry, ENTRY_SIZE};
use super::header::MINI_SIZE;
use super::run::Run;
use super::tables::{FREE, UNKNOWN};
use super::{Compound, Recovery};
use crate::format::text::Utf16;

/// What kind of place in a file it is that nothing in use takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// A sector that the FAT gives as free.
    FreeSector,
    /// A sector that the FAT gives as used, and that is part of nothing.
    LostSector,
    /// A sector behind those that the FAT describes.
    PastFat,
    /// The rest of a sector behind the end of a stream.
    StreamSlack,
    /// A mini sector that the mini FAT gives as free, or does not describe.
    FreeMiniSector,
    /// A mini sector that the mini FAT gives as used, and that is part of nothing.
    LostMiniSector,
    /// The rest of a mini sector behind the end of a stream.
    MiniSlack,
    /// A directory entry that is not in use.
    Directory,
    /// Bytes of the DestList outside its entries.
    DestList,
    /// Behind the end of a link that is in use, in the same stream or file.
    AfterLink,
    /// Between the links of a custom list.
    BetweenLinks,
    /// Behind the last category of a custom list.
    AfterCategories,
}

impl Place {
    /// The place as text.
    pub fn words(self) -> &'static str {
        match self {
            Self::FreeSector => "free sector",
            Self::LostSector => "lost sector",
            Self::PastFat => "past the FAT",
            Self::StreamSlack => "stream slack",
            Self::FreeMiniSector => "free mini sector",
            Self::LostMiniSector => "lost mini sector",
            Self::MiniSlack => "mini slack",
            Self::Directory => "directory",
            Self::DestList => "DestList",
            Self::AfterLink => "after a link",
            Self::BetweenLinks => "between links",
            Self::AfterCategories => "after the categories",
        }
    }

    /// Name of the place, as data has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::FreeSector => "free_sector",
            Self::LostSector => "lost_sector",
            Self::PastFat => "past_fat",
            Self::StreamSlack => "stream_slack",
            Self::FreeMiniSector => "free_mini_sector",
            Self::LostMiniSector => "lost_mini_sector",
            Self::MiniSlack => "mini_slack",
            Self::Directory => "directory",
            Self::DestList => "dest_list",
            Self::AfterLink => "after_link",
            Self::BetweenLinks => "between_links",
            Self::AfterCategories => "after_categories",
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Place {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A directory entry that is not in use and still describes a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnusedEntry<'a> {
    /// Offset of the directory entry in the file, in bytes. It takes 128.
    pub offset: u64,
    /// Name of the stream; empty if that is gone.
    pub name: Utf16<'a>,
    /// Size of the stream, in bytes, as the entry has it.
    pub size: u64,
    /// The stream's first sector, or mini sector.
    pub start: u32,
    /// Offset of that in the file, in bytes, if the file has it.
    pub content: Option<u64>,
}

/// The bytes of a file that nothing in use takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused<'a> {
    /// Neighbours make one run: those in the file, whatever they are part of now, and once more those in the mini stream
    /// where it leads from one place of the file to another.
    pub runs: Vec<Run<'a, Place>>,
    /// All sectors of which nothing is taken, one after the other, and all such mini sectors, if there are any that do
    /// not follow one another in the file: a stream that lay in several places may go on in the next of them.
    pub joined: Vec<Run<'a, Place>>,
}

impl<'a> Compound<'a> {
    /// Every range of bytes that no table and no stream takes. What was carved from such places counts as part of nothing.
    pub fn unused(&self) -> Unused<'a> {
        let layout = &self.layout;
        let sectors = &layout.sectors;
        let per_sector = u32::try_from(sectors.size() / MINI_SIZE).unwrap_or(1).max(1);
        let taken = Taken::new(self);
        let roles = self.roles();
        let (mut runs, mut free) = (Runs::new(sectors.data(), &taken), Vec::new());
        for (number, role) in (0..sectors.count()).zip(&roles) {
            match role {
                Role::Table => runs.close(),
                Role::MiniStream(position) => {
                    let first = position.saturating_mul(per_sector);
                    for mini in first..first.saturating_add(per_sector) {
                        runs.add(layout.locate(true, mini), self.mini_place(mini), true);
                    }
                }
                Role::Other => free.extend(runs.add(layout.locate(false, number), self.sector_place(number), true)),
            }
        }
        let in_file = runs.done();
        let (mut runs, mut free_minis) = (Runs::new(sectors.data(), &taken), Vec::new());
        for mini in 0..u32::try_from(layout.mini_stream.len()).unwrap_or(u32::MAX).saturating_mul(per_sector) {
            free_minis.extend(runs.add(layout.locate(true, mini), self.mini_place(mini), false));
        }
        let leads_on = |run: &Run<'_, Place>| !run.is_in_one_piece();
        let in_mini_stream = runs.done().into_iter().filter(leads_on);
        let joined = [free, free_minis].map(|units| Run::new(sectors.data(), units));
        Unused {
            runs: in_file.into_iter().chain(in_mini_stream).collect(),
            joined: joined.into_iter().filter(leads_on).collect(),
        }
    }

    /// By sector: what it is part of.
    fn roles(&self) -> Vec<Role> {
        let mut roles = vec![Role::Other; self.layout.fat.len()];
        let mut set = |number: u32, role| {
            if let Some(slot) = usize::try_from(number).ok().and_then(|slot| roles.get_mut(slot)) {
                *slot = role;
            }
        };
        for (number, position) in self.layout.mini_stream.iter().zip(0..) {
            set(*number, Role::MiniStream(position));
        }
        self.tables.iter().for_each(|number| set(*number, Role::Table));
        roles
    }

    /// What a sector is of which nothing is taken, and what the rest of one is of which something is.
    fn sector_place(&self, number: u32) -> [Place; 2] {
        let place = match usize::try_from(number).ok().and_then(|slot| self.layout.fat.get(slot)) {
            Some(&FREE) => Place::FreeSector,
            None | Some(&UNKNOWN) => Place::PastFat,
            Some(_) => Place::LostSector,
        };
        [place, Place::StreamSlack]
    }

    /// The same of a mini sector.
    fn mini_place(&self, number: u32) -> [Place; 2] {
        let place = match usize::try_from(number).ok().and_then(|slot| self.layout.mini_fat.get(slot)) {
            None | Some(&FREE) => Place::FreeMiniSector,
            Some(_) => Place::LostMiniSector,
        };
        [place, Place::MiniSlack]
    }

    /// The directory entries that are not in use and still describe a stream, in the order of the directory.
    pub fn unused_entries(&self) -> Vec<UnusedEntry<'a>> {
        let layout = &self.layout;
        let wide_size = self.header.major_version == 4;
        // By their place, as those of a damaged directory are numbered again.
        let used: HashSet<u64> = layout.directory.iter().map(|entry| entry.offset).collect();
        let mut unused = Vec::new();
        let slots = layout.directory_sectors.iter().flat_map(|number| {
            let sector = layout.sectors.get(*number).unwrap_or_default();
            let offset = layout.sectors.offset(*number);
            sector.chunks_exact(ENTRY_SIZE).zip((offset..).step_by(ENTRY_SIZE))
        });
        for ((bytes, offset), index) in slots.zip(0..) {
            let Some(entry) = DirEntry::parse_unused(bytes, index, offset, wide_size) else { continue };
            if used.contains(&offset) {
                continue;
            }
            let content = layout.locate(entry.is_mini(), entry.start).map(|(content, _)| content as u64);
            let (name, size, start) = (entry.name, entry.size, entry.start);
            unused.push(UnusedEntry { offset, name, size, start, content: content.filter(|_| size > 0) });
        }
        unused
    }
}

/// The ranges of the file that streams take, in ascending order, none touching the next.
struct Taken(Vec<Range<usize>>);

impl Taken {
    fn new(compound: &Compound<'_>) -> Self {
        let named = |stream: &&super::Stream<'_>| stream.recovery != Recovery::Carved || !stream.name.is_empty();
        let streams = compound.streams.iter().filter(named);
        let mut ranges: Vec<_> = streams.flat_map(|stream| stream.ranges(0..stream.data.len())).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut joined: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match joined.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => joined.push(range),
            }
        }
        Self(joined)
    }

    /// What is not taken of `unit`, and whether that is all of it.
    fn leaves(&self, unit: Range<usize>) -> (Vec<Range<usize>>, bool) {
        let first = self.0.partition_point(|taken| taken.end <= unit.start);
        let mut at = unit.start;
        let mut left = Vec::new();
        let mut whole = true;
        for taken in self.0.iter().skip(first).take_while(|taken| taken.start < unit.end) {
            whole = false;
            left.push(at..taken.start.max(at));
            at = taken.end;
        }
        left.push(at.min(unit.end)..unit.end);
        left.retain(|range| !range.is_empty());
        (left, whole)
    }
}

/// What a sector is part of.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// FAT, mini FAT or directory.
    Table,
    /// The mini stream, of which it is the sector of this number.
    MiniStream(u32),
    Other,
}

/// Runs in the making.
struct Runs<'a, 't> {
    file: &'a [u8],
    taken: &'t Taken,
    ranges: Vec<(Range<usize>, Place)>,
    done: Vec<Run<'a, Place>>,
}

impl<'a, 't> Runs<'a, 't> {
    fn new(file: &'a [u8], taken: &'t Taken) -> Self {
        Self { file, taken, ranges: Vec::new(), done: Vec::new() }
    }

    /// All of them.
    fn done(mut self) -> Vec<Run<'a, Place>> {
        self.close();
        self.done
    }

    /// Goes on with what is not taken of a sector or mini sector, given as its start and its bytes: the first place if that
    /// is all of it, else the second. `in_file` makes a new run where it does not follow in the file. Returns it if nothing
    /// of it is taken.
    fn add(
        &mut self,
        unit: Option<(usize, usize)>,
        [whole, slack]: [Place; 2],
        in_file: bool,
    ) -> Option<(Range<usize>, Place)> {
        let Some((start, have)) = unit else {
            self.close();
            return None;
        };
        let unit = start..start.saturating_add(have);
        let (left, is_whole) = self.taken.leaves(unit.clone());
        let place = if is_whole { whole } else { slack };
        let mut at = unit.start;
        for range in left {
            let follows = range.start == at && (!in_file || self.end().is_none_or(|end| end == range.start));
            if !follows {
                self.close();
            }
            at = range.end;
            self.ranges.push((range, place));
        }
        if at != unit.end {
            self.close();
        }
        is_whole.then_some((unit, whole))
    }

    /// Where the run that is being made ends in the file.
    fn end(&self) -> Option<usize> {
        self.ranges.last().map(|(range, _)| range.end)
    }

    fn close(&mut self) {
        if !self.ranges.is_empty() {
            self.done.push(Run::new(self.file, std::mem::take(&mut self.ranges)));
        }
    }
}
