//! What is no longer in a list, and still in its file: entries and links in free sectors, behind the ends of streams, in
//! the directory. Windows leaves there what it takes out of a list, until something is written over it.
//!
//! Only what the bytes prove is reported: an entry by its checksum, which every known format has
//! (measured, docs/format.md), a link by its header and, if it is complete, by adding up to its end.

use std::collections::{HashMap, HashSet};

use super::{AutomaticList, Source};
use crate::format::compound::Run;
use crate::format::compound::{Compound, Place, Stream, Unused, UnusedEntry};
use crate::format::custom::Custom;
use crate::format::destlist::{self, Soundness};
use crate::format::link::{self, Link, NotALink};
use crate::format::text::CodePage;
use crate::limits::Limits;
use crate::salvage::links::{self, CarvedLink, Work};

/// The bytes of a file that nothing in use occupies: what [`Deleted::find`] looks through.
#[derive(Debug)]
pub struct Leftover<'a> {
    runs: Vec<Run<'a, Place>>,
    joined: Vec<Run<'a, Place>>,
    streams: Vec<UnusedEntry<'a>>,
    size: usize,
}

impl<'a> Leftover<'a> {
    /// The unused bytes of `source`; `list` is what [`AutomaticList::read`] made of an automatic one.
    pub fn of(source: &Source<'a>, list: Option<&AutomaticList<'_>>) -> Self {
        let flat = |runs, size| Self { runs, joined: Vec::new(), streams: Vec::new(), size };
        match source {
            Source::Automatic(Ok(compound)) => {
                let Unused { mut runs, joined } = compound.unused();
                runs.extend(in_streams(compound, list));
                Self { runs, joined, streams: compound.unused_entries(), size: compound.file().len() }
            }
            Source::Automatic(Err(_)) => flat(Vec::new(), 0),
            Source::Custom(custom) => flat(in_custom(custom), custom.data.len()),
            Source::Link(data, link) => {
                let end = link.as_ref().ok().filter(|link| link.complete).map_or(data.len(), |link| link.size);
                flat(vec![Run::new(data, [(end..data.len(), Place::AfterLink)])], data.len())
            }
        }
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.data().len() as u64).sum()
    }
}

/// Bytes of streams in use that belong to no entry or link.
fn in_streams<'a>(compound: &Compound<'a>, list: Option<&AutomaticList<'_>>) -> Vec<Run<'a, Place>> {
    let file = compound.file();
    let mut runs = Vec::new();
    let rest = |stream: &Stream<'_>, range, place| {
        Run::new(file, stream.ranges(range).into_iter().map(|range| (range, place)))
    };
    for stream in compound.streams.iter().filter(|stream| stream.entry_id().is_some()) {
        if let Ok(walk) = link::walk(&stream.data)
            && walk.size < stream.data.len()
        {
            runs.push(rest(stream, walk.size..stream.data.len(), Place::AfterLink));
        }
    }
    if let Some((stream, list)) = list.and_then(|list| Some((list.dest_list?, list))) {
        runs.extend(list.gaps.iter().map(|gap| rest(stream, gap.clone(), Place::DestList)));
    }
    runs
}

/// All but the links; what categories have around theirs is too short to hold one.
fn in_custom<'a>(custom: &Custom<'a>) -> Vec<Run<'a, Place>> {
    let mut taken: Vec<_> =
        custom.links().map(|(_, link)| link.offset..link.offset.saturating_add(link.raw.len())).collect();
    taken.sort_unstable_by_key(|range| range.start);
    let mut runs = Vec::with_capacity(taken.len().saturating_add(1));
    let mut at = 0_usize;
    let end = custom.data.len();
    for range in taken.into_iter().chain(std::iter::once(end..end)) {
        let split = custom.slack_offset.clamp(at.min(range.start), range.start);
        let parts = [(at..split, Place::BetweenLinks), (split..range.start, Place::AfterCategories)];
        runs.push(Run::new(custom.data, parts));
        at = at.max(range.end);
    }
    runs
}

/// Whether a list still holds something that was found outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Live {
    /// It has no entry of that id, no link with that target and those arguments, no stream of that name.
    Gone,
    /// Its entry of that id was used later.
    Older,
    /// Its entry of that id, link with that target and those arguments or stream of that name is another one otherwise.
    Other,
}

impl Live {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Older => "older",
            Self::Other => "other",
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Live {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum What<'c> {
    /// A DestList entry; its offset is that in its run.
    Entry(destlist::Entry<'c>),
    /// A shell link, and the name of the stream that it was, if an unused directory entry has it.
    Link(&'c [u8], Option<UnusedEntry<'c>>),
    /// A stream that only an unused directory entry describes.
    Stream(UnusedEntry<'c>),
}

/// An entry, link or stream that is deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletedItem<'c> {
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Bytes of it that are there.
    pub size: usize,
    /// The place that it starts in.
    pub place: Place,
    /// False if its end is missing.
    pub whole: bool,
    /// True for a link that is complete only if free sectors, or free mini sectors, that do not follow one another in the file
    /// are taken for one piece. That it adds up to its end then speaks for it.
    pub joined: bool,
    /// Whether the list still has it.
    pub live: Live,
    /// Names of the fields in which an entry differs from the list's entry of the same id; `ids` are those of volume and
    /// object. Empty for anything else.
    pub differs: Vec<&'static str>,
    /// What it is.
    pub what: What<'c>,
}

impl<'c> DeletedItem<'c> {
    /// Name of its kind.
    pub fn word(&self) -> &'static str {
        match self.what {
            What::Entry(_) => "entry",
            What::Link(..) => "link",
            What::Stream(_) => "stream",
        }
    }

    /// The entry, if it is one.
    pub fn entry(&self) -> Option<&destlist::Entry<'c>> {
        if let What::Entry(entry) = &self.what { Some(entry) } else { None }
    }

    /// The directory entry that describes it, if one does.
    pub fn stream(&self) -> Option<&UnusedEntry<'c>> {
        match &self.what {
            What::Stream(stream) | What::Link(_, Some(stream)) => Some(stream),
            _ => None,
        }
    }

    /// Reads the link, if it is one. For a truncated link, `problems` lists what is missing.
    pub fn read_link(&self, code_page: CodePage) -> Option<Result<Link<'c>, NotALink>> {
        if let What::Link(raw, _) = self.what { Some(link::parse(raw, code_page)) } else { None }
    }

    /// The id of the entry, or the one that the name of the stream spells.
    pub fn id(&self) -> Option<u64> {
        let of_stream = || crate::format::compound::entry_id(self.stream()?.name).map(|(id, _)| id);
        self.entry().map(|entry| entry.id).or_else(of_stream)
    }
}

/// What is deleted in a file, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Deleted<'c> {
    /// Entries, links and streams.
    pub items: Vec<DeletedItem<'c>>,
    /// How many more were left out, as they are copies of what the list has: entries that differ in their rank at the most,
    /// which changes whenever another entry is used, and links byte for byte.
    pub copies: usize,
    /// False if the search stopped at a limit, so that there may be more.
    pub complete: bool,
}

impl<'c> Deleted<'c> {
    /// Looks through `leftover`, which is that of `source` and `list`. Takes time and memory in proportion to the file,
    /// within `limits` ([`Limits::deleted`], [`Limits::salvage_work`]).
    ///
    /// ```
    /// use jlfix::model::{Deleted, Leftover, ReadOptions, Source};
    ///
    /// let data = std::fs::read("samples/CustomDestinations/5d696d521de238c3.customDestinations-ms")?;
    /// let options = ReadOptions::default();
    /// let source = Source::read(&data, None, &options).expect("a jump list");
    /// let leftover = Leftover::of(&source, None);
    /// let deleted = Deleted::find(&leftover, &source, None, &options.limits, options.code_page);
    /// for item in &deleted.items {
    ///     println!("{} at {}, {}", item.word(), item.offset, item.place.words());
    /// }
    /// # assert!(deleted.complete && leftover.bytes() > 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn find(
        leftover: &'c Leftover<'_>,
        source: &Source<'_>,
        list: Option<&AutomaticList<'_>>,
        limits: &Limits,
        code_page: CodePage,
    ) -> Self {
        let passes = (leftover.size as u64).saturating_mul(4);
        let mut search = Search {
            living: Living::new(source, list, code_page),
            version: list.and_then(AutomaticList::version),
            work: Work::new(limits.salvage_work.saturating_add(passes)),
            most: limits.deleted,
            code_page,
            copies: HashSet::new(),
            found: Self { items: Vec::new(), copies: 0, complete: true },
        };
        let contents = leftover.streams.iter().filter_map(|stream| Some((stream.content?, *stream))).collect();
        for run in &leftover.runs {
            search.run(run, &contents);
        }
        for run in &leftover.joined {
            search.joined(run, &contents);
        }
        for stream in &leftover.streams {
            let is_named = !stream.name.is_empty() && search.living.names.contains(&stream.name.to_string());
            let live = if is_named { Live::Other } else { Live::Gone };
            let (place, what) = (Place::Directory, What::Stream(*stream));
            search.add(DeletedItem {
                offset: stream.offset,
                size: 128,
                place,
                whole: true,
                joined: false,
                live,
                differs: Vec::new(),
                what,
            });
        }
        let Search { mut found, copies, work, .. } = search;
        found.copies = copies.len();
        found.complete &= !work.is_spent();
        // Two runs can go through one place: what is complete in one of them is so.
        found
            .items
            .sort_by_key(|item| (item.offset, item.word(), !item.whole, item.joined, std::cmp::Reverse(item.size)));
        found.items.dedup_by_key(|item| (item.offset, item.word()));
        found
    }
}

struct Search<'c, 'l> {
    living: Living<'l>,
    version: Option<u32>,
    work: Work,
    most: usize,
    code_page: CodePage,
    /// Where copies of what is in use start in the file.
    copies: HashSet<u64>,
    found: Deleted<'c>,
}

impl<'c> Search<'c, '_> {
    fn add(&mut self, item: DeletedItem<'c>) {
        if self.found.items.len() < self.most {
            self.found.items.push(item);
        } else {
            self.found.complete = false;
        }
    }

    fn run(&mut self, run: &'c Run<'_, Place>, contents: &HashMap<u64, UnusedEntry<'c>>) {
        let data = run.data();
        let (_, entries) = destlist::certain_entries(data, self.version);
        for found in entries {
            let whole = found.soundness == Soundness::Sound;
            let (entry, offset) = (found.entry, run.offset(found.entry.offset));
            let (Some(stands), Some(place)) = (self.living.entry(&entry, whole), run.place(entry.offset)) else {
                self.copies.insert(offset);
                continue;
            };
            let (live, differs) = stands;
            let size = entry.raw.len();
            let what = What::Entry(entry);
            self.add(DeletedItem { offset, size, place, whole, joined: false, live, differs, what });
        }
        for link in links::links(data, true, &mut self.work) {
            self.link(run, link, false, contents);
        }
    }

    /// Links that lie in several places, in their order.
    fn joined(&mut self, run: &'c Run<'_, Place>, contents: &HashMap<u64, UnusedEntry<'c>>) {
        for link in links::links(run.data(), false, &mut self.work) {
            if !run.follows(link.at, link.size) {
                self.link(run, link, true, contents);
            }
        }
    }

    fn link(
        &mut self,
        run: &'c Run<'_, Place>,
        link: CarvedLink,
        joined: bool,
        contents: &HashMap<u64, UnusedEntry<'c>>,
    ) {
        let CarvedLink { at, size, whole } = link;
        let raw = run.data().get(at..at.saturating_add(size)).unwrap_or_default();
        let offset = run.offset(at);
        let (Some(live), Some(place)) = (self.living.link(raw, whole, self.code_page), run.place(at)) else {
            self.copies.insert(offset);
            return;
        };
        let what = What::Link(raw, contents.get(&offset).copied());
        self.add(DeletedItem { offset, size, place, whole, joined, live, differs: Vec::new(), what });
    }
}

/// What a link points at, and with which arguments: pages of a browser differ in those alone.
type Target = (String, Option<String>);

fn target(raw: &[u8], code_page: CodePage) -> Option<Target> {
    let link = link::parse(raw, code_page).ok()?;
    Some((link.target()?, link.arguments.map(|arguments| arguments.to_string())))
}

/// What the file has in use, to hold against.
struct Living<'l> {
    entries: HashMap<u64, &'l destlist::Entry<'l>>,
    /// The bytes of the links, in order.
    links: Vec<&'l [u8]>,
    targets: HashSet<Target>,
    /// The names of the streams.
    names: HashSet<String>,
}

impl<'l> Living<'l> {
    fn new(source: &'l Source<'_>, list: Option<&'l AutomaticList<'_>>, code_page: CodePage) -> Self {
        let entries: HashMap<u64, &destlist::Entry<'_>> =
            list.into_iter().flat_map(|list| &list.entries).map(|entry| (entry.dest.id, &entry.dest)).collect();
        let streams = || {
            let list = list.into_iter();
            list.flat_map(|list| list.entries.iter().filter_map(|entry| entry.link).chain(list.orphans.iter().copied()))
        };
        // A stream can hold more than its link.
        let link_of = |stream: &'l Stream<'_>| {
            let walk = link::walk(&stream.data).ok();
            walk.and_then(|walk| stream.data.get(..walk.size)).unwrap_or(&stream.data)
        };
        let mut links: Vec<&[u8]> = streams().map(link_of).collect();
        match source {
            Source::Automatic(_) => {}
            Source::Custom(custom) => links.extend(custom.links().map(|(_, link)| link.raw)),
            Source::Link(data, link) => links.extend(link.as_ref().ok().and_then(|link| data.get(..link.size))),
        }
        let targets = links.iter().filter_map(|raw| target(raw, code_page)).collect();
        links.sort_unstable();
        let names = match source {
            Source::Automatic(Ok(compound)) => compound.streams.iter().map(|stream| stream.name.to_string()).collect(),
            _ => HashSet::new(),
        };
        Self { entries, links, targets, names }
    }

    /// The status of `entry` in the list, and the fields that differ; `None` if it is a copy.
    fn entry(&self, entry: &destlist::Entry<'_>, whole: bool) -> Option<(Live, Vec<&'static str>)> {
        let Some(live) = self.entries.get(&entry.id) else { return Some((Live::Gone, Vec::new())) };
        let opens = |entry: &destlist::Entry<'_>| entry.usage.map(|usage| usage.interactions);
        let ids = |entry: &destlist::Entry<'_>| {
            [entry.volume_id, entry.object_id, entry.birth_volume_id, entry.birth_object_id]
        };
        let same_path = if whole { live.path == entry.path } else { live.path.0.starts_with(entry.path.0) };
        let parts = [
            ("last_access", live.last_access == entry.last_access),
            ("pin", live.pin == entry.pin),
            ("interactions", opens(live) == opens(entry)),
            ("score", live.score.to_bits() == entry.score.to_bits()),
            ("path", same_path),
            ("host", live.host == entry.host),
            ("ids", ids(live) == ids(entry)),
            ("property_store", !whole || live.property_store == entry.property_store),
        ];
        let differs: Vec<_> = parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect();
        let stands = if live.last_access > entry.last_access { Live::Older } else { Live::Other };
        (!differs.is_empty()).then_some((stands, differs))
    }

    /// The status of the link among those in use; `None` if it is a copy.
    fn link(&self, raw: &[u8], whole: bool, code_page: CodePage) -> Option<Live> {
        // The first that is not smaller is the one that starts so, if one does.
        let at = self.links.partition_point(|live| *live < raw);
        let is_copy = self.links.get(at).is_some_and(|live| if whole { *live == raw } else { live.starts_with(raw) });
        if is_copy {
            return None;
        }
        let is_known = target(raw, code_page).is_some_and(|target| self.targets.contains(&target));
        Some(if is_known { Live::Other } else { Live::Gone })
    }
}
