//! A jump list as a whole: the container, the DestList in it, and the links joined with their entries.
//!
//! Reading has two stages, so that nothing is copied: [`Source`] parses the container and owns what
//! is not in one piece; [`AutomaticList`] borrows from it.
//!
//! ```
//! use jlfix::model::{AutomaticList, Kind, ReadOptions, Source};
//!
//! let data = std::fs::read("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! let source = Source::read(&data, Some(Kind::Automatic), &ReadOptions::default()).expect("a jump list");
//! if let Source::Automatic(Ok(compound)) = &source {
//!     let list = AutomaticList::read(compound);
//!     println!("{} entries, {} pinned, {:?}", list.entries.len(), list.pinned(), list.structural_findings());
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

mod check;
mod deleted;
mod finding;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

pub(crate) use check::is_nearly;
pub use deleted::{Deleted, DeletedItem, Leftover, Live, What};
pub use finding::{Code, Finding, Fix, Severity};

use crate::bytes::Short;
use crate::format::compound::{Compound, Recovery, Stream, looks_like_compound};
use crate::format::custom::{Custom, looks_like_custom};
use crate::format::destlist::{self, DestList, Header, Soundness};
use crate::format::link::{self, Link, NotALink, looks_like_link};
use crate::format::text::CodePage;
use crate::limits::Limits;

/// The name of the stream that lists the entries.
pub const DEST_LIST: &str = "DestList";

/// The name of the stream with the list's own properties, from format 6 on (measured).
pub const PROPERTY_STORE: &str = "DestListPropertyStore";

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Kind {
    /// `*.automaticDestinations-ms`: a compound file that Windows writes.
    Automatic,
    /// `*.customDestinations-ms`: a flat file that the application writes.
    Custom,
    /// A single shell link.
    Link,
}

impl Kind {
    /// The kind that the content shows.
    pub fn of_content(data: &[u8]) -> Option<Self> {
        if looks_like_compound(data) {
            Some(Self::Automatic)
        } else if looks_like_link(data) {
            Some(Self::Link)
        } else if looks_like_custom(data) {
            Some(Self::Custom)
        } else {
            None
        }
    }

    /// The kind that the ending of a file name shows, in any case.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        if ending.eq_ignore_ascii_case("automaticDestinations-ms") {
            Some(Self::Automatic)
        } else if ending.eq_ignore_ascii_case("customDestinations-ms") {
            Some(Self::Custom)
        } else if ending.eq_ignore_ascii_case("lnk") {
            Some(Self::Link)
        } else {
            None
        }
    }

    /// As [`Self::of_name`], of the last part of a path.
    pub fn of_path(path: &Path) -> Option<Self> {
        Self::of_name(&path.file_name()?.to_string_lossy())
    }

    /// True for a jump list, false for a single link.
    pub fn is_list(self) -> bool {
        matches!(self, Self::Automatic | Self::Custom)
    }

    /// Name of the kind.
    pub fn word(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Custom => "custom",
            Self::Link => "link",
        }
    }
}

/// How a file is to be read.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Bounds on what it may cost.
    pub limits: Limits,
    /// The code page of ANSI strings in links.
    pub code_page: CodePage,
}

impl ReadOptions {
    /// Sets [`limits`](Self#structfield.limits).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets [`code_page`](Self#structfield.code_page).
    #[must_use]
    pub fn code_page(mut self, code_page: CodePage) -> Self {
        self.code_page = code_page;
        self
    }
}

/// A file parsed as far as possible.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one a file, and it is never moved about")]
pub enum Source<'a> {
    /// The compound file of an automatic list, or why there is not even a header.
    Automatic(Result<Compound<'a>, Short>),
    /// A custom list.
    Custom(Custom<'a>),
    /// A link, or why it is none.
    Link(&'a [u8], Result<Link<'a>, NotALink>),
}

impl<'a> Source<'a> {
    /// Parses a file. Its content decides the kind; where it is ambiguous, `hint` does (from the name).
    /// `None` if neither says.
    pub fn read(data: &'a [u8], hint: Option<Kind>, options: &ReadOptions) -> Option<Self> {
        Some(match Kind::of_content(data).or(hint)? {
            Kind::Automatic => Self::Automatic(crate::salvage::read(data, &options.limits)),
            Kind::Custom => Self::Custom(Custom::parse(data, options.code_page)),
            Kind::Link => Self::Link(data, link::parse(data, options.code_page)),
        })
    }

    /// What kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Automatic(_) => Kind::Automatic,
            Self::Custom(_) => Kind::Custom,
            Self::Link(..) => Kind::Link,
        }
    }
}

/// An entry and its link.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'c> {
    /// The entry as the DestList has it.
    pub dest: destlist::Entry<'c>,
    /// How far the entry can be relied on: doubtful where its checksum does not hold.
    pub soundness: Soundness,
    /// The stream that is its link, if there is one.
    pub link: Option<&'c Stream<'c>>,
}

impl<'c> Entry<'c> {
    /// Reads the entry's link, if it has one.
    pub fn read_link(&self, code_page: CodePage) -> Option<Result<Link<'c>, NotALink>> {
        self.link.map(|stream| link::parse(&stream.data, code_page))
    }
}

/// Why a repair may recover what a list does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unseen {
    /// Bytes of the DestList that are no readable entry.
    Bytes(usize),
    /// The DestList ends inside an entry.
    Truncated,
    /// The checksum of the entry with this id is wrong or its path is truncated, so that its pin is not certain.
    Pin(u64),
    /// The header counts more entries than were found.
    Entries {
        /// By the header.
        counted: u32,
        /// In the DestList.
        found: usize,
    },
    /// The header counts more pinned entries than were found.
    Pins {
        /// By the header.
        counted: u32,
        /// In the DestList.
        found: usize,
    },
    /// Number of links in a list without entries.
    Links(usize),
    /// Number of entries found in sectors that no stream owns.
    Carved(usize),
    /// The container is damaged, with this finding.
    Container(Code),
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(1) => write!(f, "1 byte of the DestList could not be read"),
            Self::Bytes(bytes) => write!(f, "{bytes} bytes of the DestList could not be read"),
            Self::Truncated => write!(f, "the DestList ends inside an entry"),
            Self::Pin(id) => write!(f, "entry {id} is damaged, so that it is not certain whether it is pinned"),
            Self::Entries { counted, found } => write!(f, "the header counts {counted} entries, {found} were found"),
            Self::Pins { counted, found } => {
                write!(f, "the header counts {counted} pinned entries, {found} were found")
            }
            Self::Links(1) => write!(f, "there is 1 link and no entry for it"),
            Self::Links(links) => write!(f, "there are {links} links and no entries for them"),
            Self::Carved(1) => write!(f, "1 entry was found outside the DestList"),
            Self::Carved(entries) => write!(f, "{entries} entries were found outside the DestList"),
            Self::Container(code) => write!(f, "the container is damaged ({code})"),
        }
    }
}

/// True if the stream is the property store of the list, in any case.
fn is_property_store(stream: &Stream<'_>) -> bool {
    stream.name.to_string().eq_ignore_ascii_case(PROPERTY_STORE)
}

/// How reliable an entry at its proper place is.
fn soundness_of(dest: &destlist::Entry<'_>) -> Soundness {
    if dest.checksum_ok() { Soundness::Sound } else { Soundness::Doubtful }
}

/// An automatic list: its DestList joined with its links.
#[derive(Debug)]
pub struct AutomaticList<'c> {
    /// The container it is from.
    pub compound: &'c Compound<'c>,
    /// The stream that the DestList was read from.
    pub dest_list: Option<&'c Stream<'c>>,
    /// The DestList's header; `None` if there is no DestList, or one of 0 bytes, which is normal.
    pub header: Option<Header>,
    /// Entries in the order of the DestList.
    pub entries: Vec<Entry<'c>>,
    /// Streams named as links are that no entry owns.
    pub orphans: Vec<&'c Stream<'c>>,
    /// Streams that are neither DestList nor link, kept as they are.
    pub others: Vec<&'c Stream<'c>>,
    /// Links found in sectors that belong to nothing: whose they were is not known.
    pub carved_links: Vec<&'c Stream<'c>>,
    /// Ranges of the DestList, in bytes, in which no entry was found; none in a healthy list.
    pub gaps: Vec<Range<usize>>,
    /// Why the DestList could not be read straight to its end.
    pub cut: Option<Short>,
}

impl<'c> AutomaticList<'c> {
    /// Joins the DestList of `compound` with the links.
    pub fn read(compound: &'c Compound<'c>) -> Self {
        let dest_list = compound.stream(DEST_LIST);
        let mut list = Self {
            compound,
            dest_list,
            header: None,
            entries: Vec::new(),
            orphans: Vec::new(),
            others: Vec::new(),
            carved_links: Vec::new(),
            gaps: Vec::new(),
            cut: None,
        };
        let mut links: HashMap<u64, (&Stream<'_>, bool)> = HashMap::with_capacity(compound.streams.len());
        for stream in &compound.streams {
            if dest_list.is_some_and(|dest_list| std::ptr::eq(dest_list, stream)) {
                continue;
            }
            match stream.entry_id() {
                _ if stream.recovery == Recovery::Carved => list.carved_links.push(stream),
                // Of two streams with one id, the one that is complete is the link.
                Some((id, _)) => match links.get_mut(&id) {
                    Some((held, _)) if held.missing() > 0 && stream.missing() == 0 => {
                        list.others.push(std::mem::replace(held, stream));
                    }
                    Some(_) => list.others.push(stream),
                    None => {
                        links.insert(id, (stream, false));
                    }
                },
                None => list.others.push(stream),
            }
        }
        if let Some(stream) = dest_list.filter(|stream| !stream.data.is_empty() || stream.size > 0) {
            list.read_entries(&stream.data, &mut links);
        }
        list.orphans = compound
            .streams
            .iter()
            .filter(|stream| {
                let held = stream.entry_id().and_then(|(id, _)| links.get(&id));
                held.is_some_and(|(held, used)| !used && std::ptr::eq(*held, *stream))
            })
            .collect();
        list
    }

    /// Reads the entries straight through; where that fails or a checksum does not hold, finds its place again by the
    /// checksums that do.
    fn read_entries(&mut self, data: &'c [u8], links: &mut HashMap<u64, (&'c Stream<'c>, bool)>) {
        let mut join = |dest: destlist::Entry<'c>, soundness| {
            let link = links.get_mut(&dest.id).map(|(stream, used)| {
                *used = true;
                *stream
            });
            Entry { dest, soundness, link }
        };
        let decoded = DestList::decode(data);
        if let Ok(straight) = &decoded {
            self.header = Some(straight.header);
            // If all entries that the header counts are there, what follows is slack and not a truncated entry.
            let all_there = straight.entries.len() == straight.header.count as usize;
            self.cut = straight.cut.filter(|_| !all_there);
            let sound = self.cut.is_none() && straight.entries.iter().all(destlist::Entry::checksum_ok);
            if sound || !straight.header.is_known_version() && straight.cut.is_none() {
                let entries = straight.entries.iter();
                let soundness = |dest| if sound { Soundness::Sound } else { soundness_of(dest) };
                self.entries = entries.map(|dest| join(*dest, soundness(dest))).collect();
                let end = data.len().saturating_sub(straight.trailing.len());
                self.gaps = Some(end..data.len()).filter(|gap| !gap.is_empty()).into_iter().collect();
                return;
            }
        }
        let found = destlist::resync(data);
        self.cut = self.cut.or(decoded.as_ref().err().copied());
        // A version that a later Windows may have written is left: such a list is not supported.
        let is_damaged = |header: Header| {
            header.version != found.header.version && (header.is_known_version() || !header.is_plausible_version())
        };
        if self.header.is_none_or(is_damaged) && !found.entries.is_empty() {
            self.header = Some(found.header);
        }
        self.entries = found.entries.into_iter().map(|found| join(found.entry, found.soundness)).collect();
        self.gaps = found.gaps;
    }

    /// The format version, if the DestList has one.
    pub fn version(&self) -> Option<u32> {
        self.header.map(|header| header.version)
    }

    /// How many entries are pinned.
    pub fn pinned(&self) -> usize {
        self.entries.iter().filter(|entry| entry.dest.is_pinned()).count()
    }

    /// How many links there are, with and without an entry.
    pub fn links(&self) -> usize {
        self.entries.iter().filter(|entry| entry.link.is_some()).count().saturating_add(self.orphans.len())
    }

    /// True if there is nothing in it: no entry and no link.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.orphans.is_empty() && self.carved_links.is_empty()
    }

    /// True if the container is not that of a jump list: it has other streams, and no DestList, link or entry.
    pub fn is_foreign(&self) -> bool {
        let is_of_list = |stream: &Stream<'_>| {
            stream.storage.is_empty() && (is_property_store(stream) || looks_like_link(&stream.data))
        };
        self.dest_list.is_none()
            && self.is_empty()
            && self.compound.carved_entries.is_empty()
            && self.others.iter().any(|stream| !is_of_list(stream))
    }

    /// The first reason why a repair may recover entries or pins that the list does not show; `None` if all of it was
    /// read.
    pub fn unseen(&self) -> Option<Unseen> {
        let pinned = self.pinned();
        let header = self.header.filter(|header| header.is_known_version());
        if let Some(gap) = self.gaps.iter().find(|gap| !gap.is_empty()) {
            return Some(Unseen::Bytes(gap.len()));
        }
        if self.cut.is_some() {
            return Some(Unseen::Truncated);
        }
        if let Some(entry) = self.entries.iter().find(|entry| entry.soundness != Soundness::Sound) {
            return Some(Unseen::Pin(entry.dest.id));
        }
        if let Some(header) = header.filter(|header| header.count as usize > self.entries.len()) {
            return Some(Unseen::Entries { counted: header.count, found: self.entries.len() });
        }
        if let Some(header) = header.filter(|header| header.pinned as usize > pinned) {
            return Some(Unseen::Pins { counted: header.pinned, found: pinned });
        }
        let unowned = self.orphans.len().saturating_add(self.carved_links.len());
        if self.entries.is_empty() && unowned > 0 {
            return Some(Unseen::Links(unowned));
        }
        let carved = self.compound.carved_entries.len();
        if carved > 0 {
            return Some(Unseen::Carved(carved));
        }
        let lost = |code| matches!(code, Code::StreamCut | Code::Directory | Code::MiniStream);
        self.structural_findings()
            .into_iter()
            .find(|finding| lost(finding.code))
            .map(|finding| Unseen::Container(finding.code))
    }

    /// What is wrong with container and DestList, without reading the links.
    pub fn structural_findings(&self) -> Vec<Finding> {
        check::structure(self)
    }

    /// Everything that is wrong with it. Reads every link.
    pub fn findings(&self, code_page: CodePage) -> Vec<Finding> {
        check::automatic(self, code_page)
    }
}

impl Source<'_> {
    /// The findings of a file that is no automatic list, or one without a readable header; [`AutomaticList::findings`]
    /// has those of the others.
    pub fn findings(&self) -> Vec<Finding> {
        match self {
            Self::Automatic(Ok(_)) => Vec::new(),
            Self::Automatic(Err(short)) => vec![Finding::new(Code::Header, short.to_string()).at(short.offset)],
            Self::Custom(custom) => check::custom(custom),
            Self::Link(data, link) => check::single_link(data, link),
        }
    }
}
