//! A jump list as a whole: the container, the DestList in it, and the links joined with their entries.
//!
//! Reading has two stages, so that nothing need be copied: [`Source`] takes the container apart and owns what
//! does not stand in one piece; [`JumpList`] borrows from it.

mod check;
mod deleted;
mod finding;

use std::collections::HashMap;
use std::ops::Range;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `*.automaticDestinations-ms`: a compound file that Windows writes.
    Automatic,
    /// `*.customDestinations-ms`: a flat file that the application writes.
    Custom,
    /// A shell link by itself.
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

    /// The kind in a word.
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
pub struct ReadOptions {
    /// Bounds on what it may cost.
    pub limits: Limits,
    /// The code page of ANSI strings in links.
    pub code_page: CodePage,
}

/// A file taken apart as far as it goes.
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
    /// Takes a file apart. The content says what it is; where it does not, `hint` does (from the name, say).
    /// Nothing if neither tells.
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

/// How far an entry that stands where it should can be relied on.
fn soundness_of(dest: &destlist::Entry<'_>) -> Soundness {
    if dest.checksum_ok() { Soundness::Sound } else { Soundness::Doubtful }
}

/// An automatic list: its DestList joined with its links.
#[derive(Debug)]
pub struct JumpList<'c> {
    /// The container it is from.
    pub compound: &'c Compound<'c>,
    /// The stream that the DestList was read from.
    pub dest_list: Option<&'c Stream<'c>>,
    /// The DestList's header; none if there is no DestList, or one of 0 bytes, which is normal.
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

impl<'c> JumpList<'c> {
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
                // Of two streams with one id, the one that is whole is the link.
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
            // With all entries there that the header counts, what follows is left over and no entry that is cut short.
            let all_there = straight.entries.len() == straight.header.count as usize;
            self.cut = straight.cut.filter(|_| !all_there);
            let sound = self.cut.is_none() && straight.entries.iter().all(destlist::Entry::checksum_ok);
            if sound || !straight.header.is_known_version() && straight.cut.is_none() {
                let entries = straight.entries.iter();
                self.entries = entries.map(|dest| join(*dest, soundness_of(dest))).collect();
                let end = data.len().saturating_sub(straight.trailing.len());
                self.gaps = Some(end..data.len()).filter(|gap| !gap.is_empty()).into_iter().collect();
                return;
            }
        }
        let found = destlist::resync(data);
        self.cut = self.cut.or(decoded.as_ref().err().copied());
        if self.header.is_none_or(|header| header.version != found.header.version) && !found.entries.is_empty() {
            self.header = Some(found.header);
        }
        self.entries = found.entries.into_iter().map(|found| join(found.entry, found.soundness)).collect();
        self.gaps = found.gaps;
    }

    /// The format version, if there is a DestList that tells.
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

    /// True if there may have been entries that cannot be read any more.
    pub fn may_have_lost_entries(&self) -> bool {
        let lost = |code| {
            matches!(code, Code::EntryCut | Code::NoDestList | Code::StreamCut | Code::Directory | Code::MiniStream)
        };
        self.structural_findings().iter().any(|finding| lost(finding.code))
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
    /// The findings of a file that is no automatic list, or one without a readable header; [`JumpList::findings`]
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
