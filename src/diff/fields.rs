//! Fields of entries, links, headers and containers, compared one by one. Fields are named as in the JSON of `show`.

use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::item::{Content, Item};
use super::{FieldDiff, Side};
use crate::cost::Cost;
use crate::format::text::{CodePage, hex};
use crate::model::Source;
use crate::report::{AutomaticRow, CustomRow, LinkDetail, LinkRow};

/// The fields in which two entries of one destination are different, those of their links included.
pub(super) fn of_entries(was: &Item<'_>, item: &Item<'_>, code_page: CodePage) -> Vec<FieldDiff> {
    let same_entry = was.entry_bytes() == item.entry_bytes();
    let same_link = was.link_bytes() == item.link_bytes();
    if same_entry && same_link && was.category() == item.category() {
        return Vec::new();
    }
    let (mut before, mut after) = (row(was, code_page), row(item, code_page));
    let links = (take_link(&mut before), take_link(&mut after));
    let mut out = differing(Some(before), Some(after));
    if out.is_empty() && !same_entry {
        // What no field shows: reserved bytes.
        out.push(digests("sha256", Some(was.entry_bytes()), Some(item.entry_bytes())));
    }
    if same_link {
        return out;
    }
    let link_fields = match links {
        (Some(before), Some(after)) => differing(Some(before), Some(after)),
        (before, after) => {
            out.push(FieldDiff {
                field: "link".to_owned(),
                before: link_label(was.link_bytes(), before),
                after: link_label(item.link_bytes(), after),
            });
            return out;
        }
    };
    if link_fields.is_empty() {
        out.push(digests("link.sha256", was.link_bytes(), item.link_bytes()));
    }
    out.extend(link_fields.into_iter().map(|diff| FieldDiff { field: format!("link.{}", diff.field), ..diff }));
    out
}

/// An entry as `show` reports it.
fn row(item: &Item<'_>, code_page: CodePage) -> Map<String, Value> {
    match &item.content {
        Content::Automatic(entry) => object(&AutomaticRow::at(0, entry, LinkDetail::Whole, code_page)),
        Content::Custom { category, link } => object(&CustomRow {
            position: 0,
            category: category.clone(),
            category_index: None,
            link: LinkRow::borrowed(&link.link, 0, link.raw.len(), LinkDetail::Whole),
        }),
        Content::Link { raw, link } => object(&CustomRow {
            position: 0,
            category: None,
            category_index: None,
            link: LinkRow::borrowed(link, 0, raw.len(), LinkDetail::Whole),
        }),
    }
}

fn object(row: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(row) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// The link of a row, without its place in the file.
fn take_link(row: &mut Map<String, Value>) -> Option<Map<String, Value>> {
    let Some(Value::Object(mut link)) = row.remove("link") else { return None };
    link.remove("offset");
    Some(link)
}

/// A link that only one side has, or that cannot be read: its target, or its size.
fn link_label(bytes: Option<&[u8]>, link: Option<Map<String, Value>>) -> Value {
    let Some(bytes) = bytes else { return Value::Null };
    let target = link.and_then(|mut link| link.remove("target")).filter(|target| !target.is_null());
    target.unwrap_or_else(|| Value::String(format!("{} bytes without a readable target", bytes.len())))
}

fn digests(field: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> FieldDiff {
    let digest = |data: Option<&[u8]>| data.map_or(Value::Null, |data| Value::String(hex(&Sha256::digest(data))));
    FieldDiff { field: field.to_owned(), before: digest(before), after: digest(after) }
}

/// The fields with different values, in the order of the second side, then those that only the first has.
pub(super) fn differing(before: Option<Map<String, Value>>, after: Option<Map<String, Value>>) -> Vec<FieldDiff> {
    let (mut before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let mut out = Vec::new();
    for (field, after) in after {
        let before = before.remove(&field).unwrap_or(Value::Null);
        if before != after {
            out.push(FieldDiff { field, before, after });
        }
    }
    let rest = before.into_iter().filter(|(_, value)| !value.is_null());
    out.extend(rest.map(|(field, before)| FieldDiff { field, before, after: Value::Null }));
    out
}

/// The header of a DestList, or version and categories of a custom list.
pub(super) fn header(side: &Side<'_>) -> Map<String, Value> {
    let mut map = Map::new();
    let mut set = |field: &str, value: Value| map.insert(field.to_owned(), value);
    match (side.source, side.list) {
        (Source::Automatic(_), Some(list)) => {
            if let Some(header) = list.header {
                set("format_version", json!(header.version));
                set("count", json!(header.count));
                set("pinned", json!(header.pinned));
                set("total", json!(f64::from(header.total)));
                set("last_id", json!(header.last_id));
                set("actions", json!(header.actions));
            }
        }
        (Source::Custom(custom), _) => {
            set("format_version", json!(custom.version));
            let categories = custom.categories.iter().map(|category| category.kind.to_string());
            set("categories", categories.collect());
        }
        _ => {}
    }
    map
}

/// The file around the content.
pub(super) fn container(side: &Side<'_>, code_page: CodePage) -> Map<String, Value> {
    let mut map = Map::new();
    let mut set = |field: &str, value: Value| map.insert(field.to_owned(), value);
    set("kind", json!(side.source.kind()));
    set("size", json!(side.data.len()));
    let findings = match side.list {
        Some(list) => list.findings(code_page),
        None => side.source.findings(),
    };
    if let Some(list) = side.list {
        let cost = Cost::of(list);
        set("reads", json!(cost.reads));
        set("discontinuities", json!(cost.discontinuities));
        set("storages", json!(list.compound.storages));
        let root = &list.compound.root;
        set("root_clsid", json!(root.clsid.non_zero()));
        set("root_created", json!(root.created.non_zero()));
        set("root_modified", json!(root.modified.non_zero()));
    }
    let mut codes: Map<String, Value> = Map::new();
    for finding in findings {
        let count = codes.entry(finding.code.as_str()).or_insert(json!(0));
        *count = json!(count.as_u64().unwrap_or(0).saturating_add(1));
    }
    set("findings", Value::Object(codes));
    set("sha256", json!(hex(&Sha256::digest(side.data))));
    map
}
