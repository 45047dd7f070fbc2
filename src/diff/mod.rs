//! What is different between two jump lists: entries, links, pins, order, header, other streams and the container.
//!
//! Entries are matched by what they are of (path and object id), not by their id alone: Windows reuses ids when a list
//! is deleted and written again, and a merge renumbers entries whose ids clash.

mod fields;
mod item;
mod matching;
mod order;
mod streams;

use serde::Serialize;
use serde_json::Value;

use crate::format::text::CodePage;
use crate::model::{AutomaticList, Source};
use item::Item;

/// One of the two files: its bytes and what was read from them.
#[derive(Debug, Clone, Copy)]
pub struct Side<'c> {
    /// The bytes of the file.
    pub data: &'c [u8],
    /// The parsed file.
    pub source: &'c Source<'c>,
    /// The list, if the source is automatic and could be read.
    pub list: Option<&'c AutomaticList<'c>>,
}

/// Whether something is in one file only, or in both with a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only in the second.
    Added,
    /// Only in the first.
    Removed,
    /// In both, different.
    Changed,
}

/// A field with two values. A value that is absent is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldDiff {
    /// The field, named as in the JSON of `show`; fields of a link start with `link.`.
    pub field: String,
    /// The value in the first file.
    pub before: Value,
    /// The value in the second file.
    pub after: Value,
}

/// An entry that is in one list only, or different in the two.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntryDiff {
    /// Added, removed or changed.
    pub change: Change,
    /// The path; that in the second file, if it is in both. The target of a link without an entry.
    pub path: Option<String>,
    /// Entry id in the first file.
    pub id_before: Option<u64>,
    /// Entry id in the second file.
    pub id_after: Option<u64>,
    /// Whether it is pinned in the second file, or was in the first if it is removed.
    pub pinned: bool,
    /// The fields that are different; empty for an entry that is in one file only.
    pub fields: Vec<FieldDiff>,
}

/// A pin that is gone, new, or at another place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PinDiff {
    /// The path of the entry.
    pub path: Option<String>,
    /// Entry id in the first file.
    pub id_before: Option<u64>,
    /// Entry id in the second file.
    pub id_after: Option<u64>,
    /// Place among the pinned in the first file; `None` if it is not pinned there.
    pub before: Option<i32>,
    /// Place among the pinned in the second file; `None` if it is not pinned there.
    pub after: Option<i32>,
}

/// An entry that comes earlier or later among those that are in both files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Move {
    /// The path of the entry.
    pub path: Option<String>,
    /// Entry id in the second file.
    pub id: Option<u64>,
    /// Position in the first file, from 0.
    pub before: usize,
    /// Position in the second file, from 0.
    pub after: usize,
}

/// A stream that is neither the DestList nor the link of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StreamDiff {
    /// Added, removed or changed.
    pub change: Change,
    /// Path in the container: storages and name, with `/` between them.
    pub name: String,
    /// True for a stream named as a link is, which no entry owns.
    pub orphan_link: bool,
    /// Bytes in the first file.
    pub size_before: Option<usize>,
    /// Bytes in the second file.
    pub size_after: Option<usize>,
}

/// Everything that is different between two files.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Diff {
    /// Entries: those removed, in the order of the first file, then those added or changed, in the order of the second.
    pub entries: Vec<EntryDiff>,
    /// Pins, in the order of the second file; those that are gone first.
    pub pins: Vec<PinDiff>,
    /// The fewest moves that explain the order of the entries that are in both files.
    pub order: Vec<Move>,
    /// Fields of the DestList header, or of a custom list.
    pub header: Vec<FieldDiff>,
    /// Streams that are neither the DestList nor the link of an entry.
    pub streams: Vec<StreamDiff>,
    /// The file around them: its size, its layout, its findings.
    pub container: Vec<FieldDiff>,
}

impl Diff {
    /// True if the files are the same, byte for byte.
    pub fn is_empty(&self) -> bool {
        self.has_same_content() && self.container.is_empty()
    }

    /// True if entries, links, pins, order, header and other streams are the same, whatever the layout of the file.
    pub fn has_same_content(&self) -> bool {
        self.entries.is_empty()
            && self.pins.is_empty()
            && self.order.is_empty()
            && self.header.is_empty()
            && self.streams.is_empty()
    }

    /// How many entries have this change.
    pub fn count(&self, change: Change) -> usize {
        self.entries.iter().filter(|entry| entry.change == change).count()
    }
}

/// Compares two files. A side that is `None` is a file that does not exist.
pub fn compare(before: Option<&Side<'_>>, after: Option<&Side<'_>>, code_page: CodePage) -> Diff {
    if let (Some(before), Some(after)) = (before, after)
        && before.data == after.data
    {
        return Diff::default();
    }
    let old = before.map(|side| item::items(side)).unwrap_or_default();
    let new = after.map(|side| item::items(side)).unwrap_or_default();
    let pairs = matching::pairs(&old, &new);
    let mut matched = vec![false; old.len()];
    for at in pairs.iter().flatten() {
        if let Some(slot) = matched.get_mut(*at) {
            *slot = true;
        }
    }
    let mut diff = Diff::default();
    for (item, _) in old.iter().zip(&matched).filter(|(_, matched)| !**matched) {
        diff.entries.push(one_sided(Change::Removed, item));
        diff.pins.extend(pin_diff(Some(item), None));
    }
    let mut places = Vec::new();
    for (item, pair) in new.iter().zip(&pairs) {
        let Some(was) = pair.and_then(|at| old.get(at)) else {
            diff.entries.push(one_sided(Change::Added, item));
            diff.pins.extend(pin_diff(None, Some(item)));
            continue;
        };
        diff.entries.extend(changed(was, item, code_page));
        diff.pins.extend(pin_diff(Some(was), Some(item)));
        places.push((was.position, item));
    }
    let in_first: Vec<usize> = places.iter().map(|(before, _)| *before).collect();
    let moved = order::moved(&in_first);
    let moved = places.iter().zip(moved).filter(|(_, moved)| *moved);
    diff.order = moved
        .map(|((before, item), _)| Move {
            path: item.shown_path(),
            id: item.id(),
            before: *before,
            after: item.position,
        })
        .collect();
    diff.header = fields::differing(before.map(fields::header), after.map(fields::header));
    diff.streams = streams::differing(before, after);
    diff.container = fields::differing(
        before.map(|side| fields::container(side, code_page)),
        after.map(|side| fields::container(side, code_page)),
    );
    diff
}

fn one_sided(change: Change, item: &Item<'_>) -> EntryDiff {
    let (id_before, id_after) = if change == Change::Removed { (item.id(), None) } else { (None, item.id()) };
    EntryDiff { change, path: item.shown_path(), id_before, id_after, pinned: item.pin().is_some(), fields: Vec::new() }
}

fn changed(was: &Item<'_>, item: &Item<'_>, code_page: CodePage) -> Option<EntryDiff> {
    let fields = fields::of_entries(was, item, code_page);
    (!fields.is_empty()).then(|| EntryDiff {
        change: Change::Changed,
        path: item.shown_path(),
        id_before: was.id(),
        id_after: item.id(),
        pinned: item.pin().is_some(),
        fields,
    })
}

fn pin_diff(was: Option<&Item<'_>>, item: Option<&Item<'_>>) -> Option<PinDiff> {
    let (before, after) = (was.and_then(Item::pin), item.and_then(Item::pin));
    (before != after).then(|| PinDiff {
        path: item.or(was).and_then(Item::shown_path),
        id_before: was.and_then(Item::id),
        id_after: item.and_then(Item::id),
        before,
        after,
    })
}
