//! Streams: which there are, and their bytes along their chains.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::directory::{DirEntry, Kind, NO_STREAM};
use super::fault::{Fault, FaultKind};
use super::header::{MINI_CUTOFF, MINI_SIZE};
use super::layout::Layout;
use super::tables::{self, END_OF_CHAIN, describe};
use super::{Recovery, Stream};
use crate::format::text::Utf16;
use crate::limits::Limits;

/// Where each entry of the directory is: the path of the storage that holds it, or `None` if the directory's tree does not
/// lead there. Also reports tree links that lead to an entry that is not in use, and entries that a search by name
/// (MS-CFB 2.6.4) does not find, as the tree is not in order.
pub(crate) fn reach(directory: &[DirEntry<'_>], faults: &mut Vec<Fault>) -> Vec<Option<String>> {
    let mut holders: Vec<Option<String>> = vec![None; directory.len()];
    let position = |index: u32| directory.binary_search_by_key(&index, |entry| entry.index).ok();
    let Some(root) = directory.iter().position(|entry| entry.kind == Kind::Root) else { return holders };
    let mut open: Vec<(usize, u32, String, Bounds<'_>)> = Vec::new();
    if let (Some(slot), Some(entry)) = (holders.get_mut(root), directory.get(root)) {
        *slot = Some(String::new());
        open.push((root, entry.child, String::new(), Bounds::default()));
    }
    while let Some((from, index, holder, bounds)) = open.pop() {
        if index == NO_STREAM {
            continue;
        }
        let Some(at) = position(index) else {
            faults.extend(directory.get(from).map(|entry| {
                let message = format!("{:?} leads to directory entry {index}, which is not in use", entry.name);
                Fault::new(FaultKind::Directory, entry.offset, message)
            }));
            continue;
        };
        let (Some(slot @ None), Some(entry)) = (holders.get_mut(at), directory.get(at)) else { continue };
        let key = SearchKey(entry.name);
        if !bounds.contain(key) {
            let message =
                format!("a search by name does not find {:?}: the directory's tree is not in order", entry.name);
            faults.push(Fault::of_stream(FaultKind::Unreachable, entry, message));
        }
        open.push((at, entry.left, holder.clone(), bounds.below(key)));
        open.push((at, entry.right, holder.clone(), bounds.above(key)));
        if entry.kind == Kind::Storage {
            open.push((at, entry.child, join(&holder, entry.name), Bounds::default()));
        }
        *slot = Some(holder);
    }
    holders
}

/// A name as the directory's tree is ordered: by its length, then by its characters in upper case (MS-CFB 2.6.4).
#[derive(Debug, Clone, Copy)]
struct SearchKey<'a>(Utf16<'a>);

impl SearchKey<'_> {
    fn cmp(self, other: Self) -> Ordering {
        let by_length = (self.0.0.len() / 2).cmp(&(other.0.0.len() / 2));
        by_length.then_with(|| self.0.units().map(upper).cmp(other.0.units().map(upper)))
    }
}

/// Characters whose upper case is another number of units, or outside the basic plane, stay as they are.
fn upper(unit: u16) -> u16 {
    if let Ok(byte @ 0..=0x7F) = u8::try_from(unit) {
        return byte.to_ascii_uppercase().into();
    }
    let mut upper = char::from_u32(u32::from(unit)).into_iter().flat_map(char::to_uppercase);
    match (upper.next(), upper.next()) {
        (Some(one), None) => u16::try_from(u32::from(one)).unwrap_or(unit),
        _ => unit,
    }
}

/// Between which names a search comes to a place in the tree.
#[derive(Debug, Clone, Copy, Default)]
struct Bounds<'a> {
    low: Option<SearchKey<'a>>,
    high: Option<SearchKey<'a>>,
}

impl<'a> Bounds<'a> {
    fn contain(self, key: SearchKey<'_>) -> bool {
        self.low.is_none_or(|low| low.cmp(key).is_lt()) && self.high.is_none_or(|high| key.cmp(high).is_lt())
    }

    fn below(self, key: SearchKey<'a>) -> Self {
        Self { high: Some(self.high.filter(|high| high.cmp(key).is_lt()).unwrap_or(key)), ..self }
    }

    fn above(self, key: SearchKey<'a>) -> Self {
        Self { low: Some(self.low.filter(|low| low.cmp(key).is_gt()).unwrap_or(key)), ..self }
    }
}

/// The path of what is called `name` in the storage `holder`.
pub(crate) fn join(holder: &str, name: Utf16<'_>) -> String {
    if holder.is_empty() { name.to_string() } else { format!("{holder}/{name}") }
}

/// A fault for an entry that the tree does not lead to.
pub(crate) fn unreachable(entry: &DirEntry<'_>) -> Fault {
    let message = format!("the directory's tree does not lead to {:?}", entry.name);
    Fault::of_stream(FaultKind::Unreachable, entry, message)
}

/// Reads every stream as the file gives it; `seen` has the sectors that the tables take. Also returns the names
/// of the storages.
pub(crate) fn read_streams<'a>(
    layout: &Layout<'a>,
    mut seen: Vec<bool>,
    limits: &Limits,
    faults: &mut Vec<Fault>,
) -> (Vec<Stream<'a>>, Vec<String>) {
    let reached = reach(&layout.directory, faults);
    let mut mini_seen = vec![false; layout.mini_fat.len()];
    let mut budget = limits.handed_out(layout.sectors.data().len());
    let mut streams = Vec::with_capacity(layout.directory.len());
    let mut storages = Vec::new();
    for (entry, holder) in layout.directory.iter().zip(reached) {
        if holder.is_none() {
            faults.push(unreachable(entry));
        }
        let storage = holder.unwrap_or_default();
        match entry.kind {
            Kind::Root => {}
            Kind::Storage => storages.push(join(&storage, entry.name)),
            Kind::Stream => {
                let seen = if entry.is_mini() { &mut mini_seen } else { &mut seen };
                streams.push(read_stream(layout, entry, storage, seen, &mut budget, faults));
            }
        }
    }
    (streams, storages)
}

/// Reads the stream of `entry` along its chain, as far as no sector of it is in `seen`.
pub(crate) fn read_stream<'a>(
    layout: &Layout<'a>,
    entry: &DirEntry<'a>,
    storage: String,
    seen: &mut [bool],
    budget: &mut u64,
    faults: &mut Vec<Fault>,
) -> Stream<'a> {
    let mini = entry.is_mini();
    let (unit, table) = if mini { (MINI_SIZE, &layout.mini_fat) } else { (layout.sectors.size(), &layout.fat) };
    let mut pieces = Pieces::new(layout.sectors.data());
    let mut tell = |kind, message| faults.push(Fault::of_stream(kind, entry, message));
    let mut left = entry.size;
    if left > *budget {
        let message = format!("stream {:?} claims {left} bytes, {budget} are left to hand out", entry.name);
        tell(FaultKind::Limit, message);
        left = 0;
    }
    *budget = budget.saturating_sub(left);
    let first = layout.locate(mini, entry.start).map_or(entry.offset, |(offset, _)| offset as u64);
    let mut at = entry.start;
    let mut trouble = None;
    while left > 0 {
        let slot = usize::try_from(at).unwrap_or(usize::MAX);
        let (Some(next), Some(mark)) = (table.get(slot), seen.get_mut(slot)) else {
            let why = if at == END_OF_CHAIN {
                "its chain ends".to_owned()
            } else {
                format!("its chain leads to {}", describe(at))
            };
            trouble = Some((FaultKind::Stream, why));
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
        let Some((offset, have)) = layout.locate(mini, at) else {
            trouble = Some((FaultKind::Stream, format!("mini sector {at} lies past the mini stream")));
            break;
        };
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(unit);
        let take = want.min(have);
        pieces.push(offset..offset.saturating_add(take));
        left = left.saturating_sub(take as u64);
        if take < want {
            trouble = Some((FaultKind::Stream, "the file ends".to_owned()));
            break;
        }
        at = *next;
    }
    let (data, pieces) = pieces.join();
    if let Some((kind, why)) = trouble {
        let have = data.len();
        tell(kind, format!("stream {:?} needs {} bytes, has {have}: {why}", entry.name, entry.size));
    }
    Stream {
        name: entry.name,
        storage,
        data,
        size: entry.size,
        offset: first,
        start: entry.start,
        recovery: Recovery::Intact,
        pieces,
    }
}

impl DirEntry<'_> {
    /// True if the stream lives in mini sectors.
    pub(crate) fn is_mini(&self) -> bool {
        self.size < u64::from(MINI_CUTOFF)
    }
}

impl Fault {
    /// A fault of the stream that `entry` names.
    pub(crate) fn of_stream(kind: FaultKind, entry: &DirEntry<'_>, message: String) -> Self {
        Self { kind, offset: entry.offset, stream_id: entry.entry_id().map(|(id, _)| id), message }
    }
}

/// Ranges of the file that make up a stream, neighbours joined: one range is borrowed, several are copied.
pub(crate) struct Pieces<'a> {
    data: &'a [u8],
    current: Range<usize>,
    ranges: Vec<Range<usize>>,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { data, current: 0..0, ranges: Vec::new() }
    }

    fn current(&self) -> &'a [u8] {
        self.data.get(self.current.clone()).unwrap_or_default()
    }

    pub(crate) fn push(&mut self, range: Range<usize>) {
        if !self.current.is_empty() && self.current.end == range.start {
            self.current.end = range.end;
        } else {
            self.keep();
            self.current = range;
        }
    }

    fn keep(&mut self) {
        if !self.current.is_empty() {
            self.ranges.push(self.current.clone());
        }
    }

    /// The bytes, and the ranges that they were copied from if there are several.
    pub(crate) fn join(mut self) -> (Cow<'a, [u8]>, Vec<Range<usize>>) {
        if self.ranges.is_empty() {
            return (Cow::Borrowed(self.current()), Vec::new());
        }
        self.keep();
        // The ranges are of different sectors, so together they are no more than the file.
        let mut copied = Vec::with_capacity(self.ranges.iter().map(ExactSizeIterator::len).sum());
        for range in &self.ranges {
            copied.extend_from_slice(self.data.get(range.clone()).unwrap_or_default());
        }
        (Cow::Owned(copied), self.ranges)
    }
}
