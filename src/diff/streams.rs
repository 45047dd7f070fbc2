//! Streams that are neither the DestList nor the link of an entry.

use std::collections::{BTreeMap, VecDeque};

use super::{Change, Side, StreamDiff};
use crate::format::compound::Stream;

/// A stream and whether it is named as a link is.
type Other<'c> = (&'c Stream<'c>, bool);

/// Streams in one file only, or different in the two, by name.
pub(super) fn differing(before: Option<&Side<'_>>, after: Option<&Side<'_>>) -> Vec<StreamDiff> {
    let (mut old, new) = (by_name(before), by_name(after));
    let mut out = Vec::new();
    for (key, streams) in new {
        for (stream, orphan_link) in streams {
            let was = old.get_mut(&key).and_then(VecDeque::pop_front).map(|(was, _)| was);
            if was.is_some_and(|was| was.data == stream.data) {
                continue;
            }
            out.push(StreamDiff {
                change: if was.is_some() { Change::Changed } else { Change::Added },
                name: path(stream),
                orphan_link,
                size_before: was.map(|was| was.data.len()),
                size_after: Some(stream.data.len()),
            });
        }
    }
    out.extend(old.into_values().flatten().map(|(stream, orphan_link)| StreamDiff {
        change: Change::Removed,
        name: path(stream),
        orphan_link,
        size_before: Some(stream.data.len()),
        size_after: None,
    }));
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

/// The streams by their path, in any case, as Windows finds them (MS-CFB 2.6.4).
fn by_name<'c>(side: Option<&Side<'c>>) -> BTreeMap<String, VecDeque<Other<'c>>> {
    let mut map: BTreeMap<String, VecDeque<Other<'c>>> = BTreeMap::new();
    let Some(list) = side.and_then(|side| side.list) else { return map };
    let links = list.orphans.iter().chain(&list.carved_links).map(|stream| (*stream, true));
    for other in list.others.iter().map(|stream| (*stream, false)).chain(links) {
        map.entry(path(other.0).to_uppercase()).or_default().push_back(other);
    }
    map
}

fn path(stream: &Stream<'_>) -> String {
    if stream.storage.is_empty() { stream.name.to_string() } else { format!("{}/{}", stream.storage, stream.name) }
}
