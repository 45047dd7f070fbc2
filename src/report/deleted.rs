//! Rows for what is deleted in a file.

use serde::Serialize;

use super::entry::AutomaticRow;
use super::link::{LinkDetail, LinkRow};
use crate::format::compound::Place;
use crate::format::text::{CodePage, Utf16};
use crate::model::{Deleted, DeletedItem, Live, What};

/// An entry, link or stream that is deleted. What a kind does not have is null.
#[derive(Debug, Serialize)]
pub struct DeletedRow<'c> {
    /// `entry`, `link` or `stream`.
    pub kind: &'static str,
    /// The place that it starts in.
    #[serde(rename = "where")]
    pub place: Place,
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Bytes of it that are there.
    pub size: usize,
    /// False if its end is missing.
    pub whole: bool,
    /// True for a link that is put together from sectors that do not follow one another.
    pub joined: bool,
    /// Whether the list still has it.
    pub live: Live,
    /// Names of the fields in which an entry differs from the list's entry of the same id.
    pub differs: &'c [&'static str],
    /// Id of the entry, or the one that the name of the stream spells.
    pub id: Option<u64>,
    /// Name of the stream, from an unused directory entry.
    pub stream: Option<Utf16<'c>>,
    /// Size of the stream.
    pub stream_size: Option<u64>,
    /// Where the content of the stream started in the file.
    pub stream_offset: Option<u64>,
    /// The entry.
    pub entry: Option<Box<AutomaticRow<'c>>>,
    /// The link.
    pub link: Option<LinkRow<'c>>,
}

impl<'c> DeletedRow<'c> {
    fn new(item: &'c DeletedItem<'c>, detail: LinkDetail, code_page: CodePage) -> Self {
        let stream = item.stream();
        Self {
            kind: item.word(),
            place: item.place,
            offset: item.offset,
            size: item.size,
            whole: item.whole,
            joined: item.joined,
            live: item.live,
            differs: &item.differs,
            id: item.id(),
            stream: stream.map(|stream| stream.name).filter(|name| !name.is_empty()),
            stream_size: stream.map(|stream| stream.size),
            stream_offset: stream.and_then(|stream| stream.content),
            entry: item.entry().map(|entry| Box::new(AutomaticRow::of_entry(entry, code_page))),
            link: match item.what {
                What::Link(raw, _) => LinkRow::of_bytes(raw, item.offset, detail, code_page),
                _ => None,
            },
        }
    }
}

pub(super) fn rows<'c>(deleted: &'c Deleted<'c>, detail: LinkDetail, code_page: CodePage) -> Vec<DeletedRow<'c>> {
    deleted.items.iter().map(|item| DeletedRow::new(item, detail, code_page)).collect()
}
