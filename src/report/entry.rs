//! Rows for entries: of an automatic list, of a custom list, and a single link.

use serde::Serialize;

use super::link::{LinkDetail, LinkRow};
use crate::format::compound::Recovery;
use crate::format::custom::Custom;
use crate::format::destlist;
use crate::format::guid::{Guid, Mac};
use crate::format::link::Link;
use crate::format::property_store::{self, Property};
use crate::format::text::{CodePage, Text, Utf16};
use crate::format::time::FileTime;
use crate::model::{AutomaticList, Entry};

/// An entry of any kind of file.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum EntryRow<'c> {
    /// Of an automatic list.
    Automatic(Box<AutomaticRow<'c>>),
    /// Of a custom list.
    Custom(Box<CustomRow<'c>>),
}

/// An entry of an automatic list. A link that no entry owns is reported too, with null for what only an entry has.
#[derive(Debug, Serialize)]
pub struct AutomaticRow<'c> {
    /// Place in the list, from 0; null for a link without an entry.
    pub position: Option<usize>,
    /// Entry id.
    pub id: Option<u64>,
    /// Whether it is pinned.
    pub pinned: Option<bool>,
    /// Place among the pinned, -1 if it is not.
    pub pin: Option<i32>,
    /// Rank by use; null where the format or the list has none.
    pub rank: Option<i32>,
    /// Points for use.
    #[serde(serialize_with = "super::single")]
    pub score: Option<f32>,
    /// Opens.
    pub interactions: Option<u32>,
    /// Last access.
    pub last_access: Option<FileTime>,
    /// Host name.
    pub host: Option<Text<'c>>,
    /// Path.
    pub path: Option<Utf16<'c>>,
    /// The path's UTF-16 in hex, if it holds unpaired surrogates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_utf16: Option<String>,
    /// Whether the checksum is right.
    pub checksum_ok: Option<bool>,
    /// The checksum, in hex.
    pub checksum: Option<String>,
    /// Volume of the target.
    pub volume_id: Option<Guid>,
    /// Object id of the target.
    pub object_id: Option<Guid>,
    /// Volume where the target was made.
    pub birth_volume_id: Option<Guid>,
    /// Object id that it was made with.
    pub birth_object_id: Option<Guid>,
    /// MAC address in the object id.
    pub mac: Option<Mac>,
    /// Time in the object id.
    pub object_time: Option<FileTime>,
    /// The properties after the path; null if there is no store.
    pub property_store: Option<Vec<Property<'c>>>,
    /// How link or entry were found, if not as the file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovered: Option<Recovery>,
    /// The link.
    pub link: Option<LinkRow<'c>>,
}

/// A link of a custom list, or a single link (category null).
#[derive(Debug, Serialize)]
pub struct CustomRow<'c> {
    /// Place in the file, from 0.
    pub position: usize,
    /// Name of the category.
    pub category: Option<String>,
    /// Number of the category, from 0.
    pub category_index: Option<usize>,
    /// The link.
    pub link: LinkRow<'c>,
}

impl<'c> EntryRow<'c> {
    /// The row of a file that is a link.
    pub(super) fn single(link: &'c Link<'c>, detail: LinkDetail) -> Self {
        let row = LinkRow::borrowed(link, 0, link.size, detail);
        Self::Custom(Box::new(CustomRow { position: 0, category: None, category_index: None, link: row }))
    }

    /// The link of the entry.
    pub fn link(&self) -> Option<&LinkRow<'c>> {
        match self {
            Self::Automatic(row) => row.link.as_ref(),
            Self::Custom(row) => Some(&row.link),
        }
    }
}

impl<'c> AutomaticRow<'c> {
    /// The row of an entry, which is at `position` of its list, with its link.
    pub(crate) fn at(position: usize, entry: &'c Entry<'c>, detail: LinkDetail, code_page: CodePage) -> Self {
        Self {
            position: Some(position),
            recovered: entry.link.map(|stream| stream.recovery).filter(|how| *how != Recovery::Intact),
            link: entry.link.and_then(|stream| LinkRow::of_stream(stream, detail, code_page)),
            ..Self::of_entry(&entry.dest, code_page)
        }
    }

    /// The row of an entry without its list and link.
    pub(super) fn of_entry(dest: &'c destlist::Entry<'c>, code_page: CodePage) -> Self {
        Self {
            position: None,
            id: Some(dest.id),
            pinned: Some(dest.is_pinned()),
            pin: Some(dest.pin),
            rank: dest.rank(),
            score: Some(dest.score),
            interactions: dest.usage.map(|usage| usage.interactions),
            last_access: dest.last_access.non_zero(),
            host: dest.host_name().non_empty(),
            path: Some(dest.path),
            path_utf16: dest.path.has_unpaired().then(|| dest.path.to_hex()),
            checksum_ok: Some(dest.checksum_ok()),
            checksum: Some(format!("{:016x}", dest.checksum)),
            volume_id: dest.volume_id.non_zero(),
            object_id: dest.object_id.non_zero(),
            birth_volume_id: dest.birth_volume_id.non_zero(),
            birth_object_id: dest.birth_object_id.non_zero(),
            mac: dest.object_id.mac(),
            object_time: dest.object_id.time(),
            property_store: (!dest.property_store.is_empty())
                .then(|| property_store::parse(dest.property_store, 0, code_page).properties),
            recovered: None,
            link: None,
        }
    }
}

pub(super) fn automatic_rows<'c>(
    list: &'c AutomaticList<'c>,
    detail: LinkDetail,
    code_page: CodePage,
) -> Vec<EntryRow<'c>> {
    let entries = list.entries.iter().enumerate();
    let owned = entries.map(|(position, entry)| AutomaticRow::at(position, entry, detail, code_page));
    let orphans = list.orphans.iter().map(|stream| AutomaticRow {
        position: None,
        id: stream.entry_id().map(|(id, _)| id),
        pinned: None,
        pin: None,
        rank: None,
        score: None,
        interactions: None,
        last_access: None,
        host: None,
        path: None,
        path_utf16: None,
        checksum_ok: None,
        checksum: None,
        volume_id: None,
        object_id: None,
        birth_volume_id: None,
        birth_object_id: None,
        mac: None,
        object_time: None,
        property_store: None,
        recovered: Some(stream.recovery).filter(|how| *how != Recovery::Intact),
        link: LinkRow::of_stream(stream, detail, code_page),
    });
    owned.chain(orphans).map(|row| EntryRow::Automatic(Box::new(row))).collect()
}

pub(super) fn custom_rows<'c>(custom: &'c Custom<'c>, detail: LinkDetail) -> Vec<EntryRow<'c>> {
    let rows = custom.links().enumerate().map(|(position, (index, entry))| CustomRow {
        position,
        category: custom.categories.get(index).map(|category| category.kind.to_string()),
        category_index: Some(index),
        link: LinkRow::borrowed(&entry.link, entry.offset as u64, entry.raw.len(), detail),
    });
    rows.map(|row| EntryRow::Custom(Box::new(row))).collect()
}
