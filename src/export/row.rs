//! What every format is written from: an entry with its link, and the file that both are in.

use std::borrow::Cow;

use crate::appid::AppId;
use crate::format::compound::{Recovery, Stream};
use crate::format::custom::{Category, CategoryKind};
use crate::format::destlist;
use crate::format::link::{self, Extra, Link, NotALink, Tracker, signature};
use crate::format::property_store::PropertyStore;
use crate::format::shell_item::{FileReference, ItemList};
use crate::format::text::{CodePage, Text};
use crate::format::time::FileTime;
use crate::model::{AutomaticList, Code, Deleted, DeletedItem, Kind, PROPERTY_STORE, Source, What};
use crate::report::{FileFacts, FileRow};

/// A file that is exported, and what is the same for all its rows.
#[derive(Debug)]
pub struct SourceFile<'c> {
    /// What the file system says.
    pub facts: &'c FileFacts,
    /// Automatic, custom or link.
    pub kind: Kind,
    /// From the file's name.
    pub app_id: Option<AppId>,
    /// What application that is, if it is known.
    pub app_name: Option<&'c str>,
    /// Its user, if the path names one.
    pub user: Option<&'c str>,
    /// SHA-256 of its bytes, in lower-case hex, if it was asked for.
    pub sha256: Option<String>,
    /// How many rows it has.
    pub rows: usize,
    /// True if an entry, or the list, holds a property store with something in it.
    pub has_property_store: bool,
    checksums_hold: bool,
    deleted: Option<&'c Deleted<'c>>,
    source: &'c Source<'c>,
    list: Option<&'c AutomaticList<'c>>,
    code_page: CodePage,
}

impl<'c> SourceFile<'c> {
    /// The file `source`, of which `list` is what [`AutomaticList::read`] made of it if it is automatic, and `told` what is
    /// known of both.
    pub fn new(
        facts: &'c FileFacts,
        source: &'c Source<'c>,
        list: Option<&'c AutomaticList<'c>>,
        told: &'c FileRow<'c>,
        code_page: CodePage,
    ) -> Self {
        let rows = match (source, list) {
            (Source::Automatic(_), Some(list)) => list.entries.len().saturating_add(list.orphans.len()),
            (Source::Automatic(_), None) => 0,
            (Source::Custom(custom), _) => custom.links().count(),
            (Source::Link(..), _) => 1,
        };
        let has_property_store = list.is_some_and(|list| {
            let in_stream = list.compound.stream(PROPERTY_STORE).is_some_and(|stream| stream.data.len() > 4);
            in_stream || list.entries.iter().any(|entry| !entry.dest.property_store.is_empty())
        });
        Self {
            facts,
            kind: source.kind(),
            app_id: told.app_id,
            app_name: told.app_name.as_deref(),
            user: facts.user.as_deref(),
            sha256: None,
            rows,
            has_property_store,
            checksums_hold: told.findings.iter().all(|finding| finding.code != Code::Checksum),
            deleted: None,
            source,
            list,
            code_page,
        }
    }

    /// The same with what is deleted in it: further rows after all others, with [`Row::deleted`] set.
    #[must_use]
    pub fn with_deleted(mut self, deleted: &'c Deleted<'c>) -> Self {
        self.deleted = Some(deleted);
        self.rows = self.rows.saturating_add(deleted.items.len());
        self
    }

    /// The DestList's header, if there is one.
    pub fn header(&self) -> Option<&'c destlist::Header> {
        self.list.and_then(|list| list.header.as_ref())
    }

    /// The DestList's format, or the version of a custom list.
    pub fn format_version(&self) -> Option<u32> {
        match self.source {
            Source::Custom(custom) => Some(custom.version),
            _ => self.header().map(|header| header.version),
        }
    }

    /// The code page of ANSI strings.
    pub fn code_page(&self) -> CodePage {
        self.code_page
    }
}

/// An entry, its link, and what is known from both.
#[derive(Debug)]
pub struct Row<'c> {
    /// The file it is in.
    pub file: &'c SourceFile<'c>,
    /// Place in the list, or among the links of a custom list, from 0; none for a link that no entry owns.
    pub position: Option<usize>,
    /// The category of a custom list's link, and its number from 0.
    pub category: Option<(usize, &'c CategoryKind<'c>)>,
    /// The entry.
    pub entry: Option<&'c destlist::Entry<'c>>,
    /// The stream that the link is in.
    pub stream: Option<&'c Stream<'c>>,
    /// Where the link starts in the file, and its bytes.
    pub raw: Option<(u64, &'c [u8])>,
    /// The link, or why it is none.
    pub link: Option<Result<LinkFacts<'c>, NotALink>>,
    /// Where and how it was found, if it is deleted.
    pub deleted: Option<&'c DeletedItem<'c>>,
}

/// A link with what several of its parts say together.
#[derive(Debug)]
pub struct LinkFacts<'c> {
    /// The link.
    pub link: Cow<'c, Link<'c>>,
    /// The path on a volume.
    pub local_path: Option<String>,
    /// The path on the network.
    pub network_path: Option<String>,
    /// The items of the ID list.
    pub items: Option<ItemList<'c>>,
    /// What link tracking knew.
    pub tracker: Option<Tracker<'c>>,
}

impl<'c> LinkFacts<'c> {
    fn new(link: Cow<'c, Link<'c>>) -> Self {
        Self {
            local_path: link.local_path(),
            network_path: link.network_path(),
            items: link.items(),
            tracker: link.tracker(),
            link,
        }
    }

    /// The best name of what it points at ([`Link::target`]).
    pub fn target(&self) -> Option<Cow<'_, str>> {
        let used = !self.link.header.flags.has(link::LinkFlags::FORCE_NO_LINK_INFO);
        let path = self.local_path.as_deref().or(self.network_path.as_deref()).filter(|_| used);
        path.map(Cow::Borrowed).or_else(|| self.link.target().map(Cow::Owned))
    }

    /// Where NTFS keeps the target: from the last item of the ID list.
    pub fn file_reference(&self) -> Option<FileReference> {
        self.items.as_ref()?.items.last()?.file_extension()?.reference
    }

    /// The link's property store, if it can be read.
    pub fn properties(&self) -> Option<PropertyStore<'c>> {
        let block = self.link.block(signature::PROPERTY_STORE)?;
        match block.decode(self.link.code_page(), &mut Vec::new()) {
            Ok(Extra::Properties(store)) => Some(store),
            _ => None,
        }
    }

    /// The base path of LinkInfo, in UTF-16 if it is there in UTF-16.
    pub fn base_path(&self) -> Option<Text<'c>> {
        let info = self.link.info.as_ref()?;
        info.base_path_unicode.and_then(Text::non_empty).or_else(|| info.base_path.and_then(Text::non_empty))
    }
}

impl<'c> Row<'c> {
    /// The link, if there is one that can be read.
    pub fn facts(&self) -> Option<&LinkFacts<'c>> {
        self.link.as_ref()?.as_ref().ok()
    }

    /// The id of the entry, or the one that the link's stream is named by.
    pub fn entry_id(&self) -> Option<u64> {
        let of_stream = || self.stream.and_then(|stream| stream.entry_id()).map(|(id, _)| id);
        let of_deleted = || self.deleted.and_then(DeletedItem::id);
        self.entry.map(|entry| entry.id).or_else(of_stream).or_else(of_deleted)
    }

    /// Whether the entry's checksum is right; none without an entry.
    pub fn checksum_ok(&self) -> Option<bool> {
        let holds = self.file.checksums_hold || self.deleted.is_some();
        self.entry.map(|entry| holds || entry.checksum_ok())
    }

    /// When it was last used, as the entry says.
    pub fn last_access(&self) -> Option<FileTime> {
        self.entry.and_then(|entry| known(entry.last_access))
    }

    /// How entry or link were found, if not as the file says.
    pub fn recovered(&self) -> Option<Recovery> {
        self.stream.map(|stream| stream.recovery).filter(|how| *how != Recovery::Intact)
    }

    /// The path that the entry names, else what its link points at, else the name of the stream that it was.
    pub fn shown_path(&self) -> Option<Cow<'_, str>> {
        let of_entry = self.entry.map(|entry| entry.path).filter(|path| !path.is_empty());
        let of_stream = || Some(Cow::Owned(format!("stream {}", self.deleted?.stream()?.name)));
        of_entry.map(|path| Cow::Owned(path.to_string())).or_else(|| self.facts()?.target()).or_else(of_stream)
    }
}

/// The time, unless it is none or cannot be.
pub(super) fn known(time: FileTime) -> Option<FileTime> {
    time.non_zero().filter(|time| time.is_plausible())
}

/// The rows of a file: the entries in the order of the list, then the links that no entry owns; the links of a custom
/// list in their order; a single link; then what is deleted, if it is reported, in the order of the file.
pub fn rows<'c>(file: &'c SourceFile<'c>) -> impl Iterator<Item = Row<'c>> {
    let page = file.code_page;
    let of_list = file.list.into_iter().flat_map(move |list| {
        let entries = list.entries.iter().enumerate().map(move |(position, entry)| Row {
            position: Some(position),
            entry: Some(&entry.dest),
            ..of_stream(file, entry.link, page)
        });
        entries.chain(list.orphans.iter().map(move |stream| of_stream(file, Some(stream), page)))
    });
    let custom = if let Source::Custom(custom) = file.source { Some(custom) } else { None };
    let of_custom = custom.into_iter().flat_map(move |custom| {
        let of_category = |index: usize| custom.categories.get(index).map(|category: &Category<'_>| &category.kind);
        custom.links().enumerate().map(move |(position, (index, entry))| Row {
            position: Some(position),
            category: of_category(index).map(|kind| (index, kind)),
            raw: Some((entry.offset as u64, entry.raw)),
            link: Some(Ok(LinkFacts::new(Cow::Borrowed(&entry.link)))),
            ..empty(file)
        })
    });
    let single = if let Source::Link(data, link) = file.source { Some((*data, link)) } else { None };
    let of_link = single.into_iter().map(move |(data, link)| Row {
        position: Some(0),
        raw: Some((0, data)),
        link: Some(link.as_ref().map(|link| LinkFacts::new(Cow::Borrowed(link))).map_err(|why| *why)),
        ..empty(file)
    });
    let deleted = file.deleted.into_iter().flat_map(move |deleted| {
        deleted.items.iter().map(move |item| Row {
            entry: item.entry(),
            raw: if let What::Link(raw, _) = item.what { Some((item.offset, raw)) } else { None },
            link: item.read_link(page).map(|link| link.map(|link| LinkFacts::new(Cow::Owned(link)))),
            deleted: Some(item),
            ..empty(file)
        })
    });
    of_list.chain(of_custom).chain(of_link).chain(deleted)
}

fn empty<'c>(file: &'c SourceFile<'c>) -> Row<'c> {
    Row { file, position: None, category: None, entry: None, stream: None, raw: None, link: None, deleted: None }
}

fn of_stream<'c>(file: &'c SourceFile<'c>, stream: Option<&'c Stream<'c>>, page: CodePage) -> Row<'c> {
    Row {
        stream,
        raw: stream.map(|stream| (stream.offset, &*stream.data)),
        link: stream.map(|stream| link::parse(&stream.data, page).map(|link| LinkFacts::new(Cow::Owned(link)))),
        ..empty(file)
    }
}
