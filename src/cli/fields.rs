//! Every field of an entry and its link, one per line, in the order in which a person reads them.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::style::{DIM, HEAD, paint};
use super::words;

/// The order of fields: where an entry is and what it is of, how it was used, its ids; then its link: target, times, size,
/// drive, host, strings, ID list, LinkInfo, extra blocks. A field that is not listed comes after those that are.
#[rustfmt::skip]
const ORDER: &[&str] = &[
    // An entry.
    "position", "id", "kind", "where", "category", "category_index", "path", "path_utf16", "pinned", "pin", "last_access",
    "interactions", "score", "rank", "host", "checksum", "checksum_ok", "volume_id", "object_id", "birth_volume_id",
    "birth_object_id", "mac", "object_time",
    // A link.
    "target", "arguments", "created", "modified", "accessed", "file_size", "attributes", "attribute_names", "drive_type",
    "volume_serial", "volume_label", "network_device", "network_provider", "machine_id", "tracker_volume", "tracker_file",
    "tracker_birth_volume", "tracker_birth_file", "name", "working_dir", "relative_path", "icon", "icon_index", "show_command",
    "hotkey", "flags", "id_list_path", "id_list", "local_path", "network_path", "properties", "extra",
];
/// The fields that come last.
const LAST: &[&str] = &["offset", "size", "problems", "property_store", "recovered", "entry", "link"];

/// Writes every field that is there.
pub(crate) fn write(row: &impl Serialize, out: &mut String) {
    let value = serde_json::to_value(row).unwrap_or_default();
    object(&value, 1, out);
}

fn rank(field: &str) -> usize {
    let position = |list: &[&str]| list.iter().position(|name| *name == field);
    position(ORDER).or_else(|| position(LAST).map(|at| ORDER.len() + 1 + at)).unwrap_or(ORDER.len())
}

fn object(value: &Value, depth: usize, out: &mut String) {
    let Value::Object(map) = value else { return };
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    entries.sort_by_key(|(field, _)| rank(field));
    for (field, value) in entries {
        let pad = "  ".repeat(depth);
        let mut line = |text: String| {
            let _ = writeln!(out, "{pad}{}  {text}", paint(DIM, format!("{field:<20}")));
        };
        match value {
            Value::Null => {}
            Value::Array(items) if items.is_empty() => {}
            Value::Array(items) if items.iter().all(|item| !item.is_object()) => {
                line(items.iter().map(text).collect::<Vec<_>>().join(", "));
            }
            Value::Object(_) => {
                let _ = writeln!(out, "{pad}{}", paint(HEAD, field));
                object(value, depth + 1, out);
            }
            Value::Array(items) => {
                let _ = writeln!(out, "{pad}{}", paint(HEAD, field));
                for item in items {
                    object(item, depth + 1, out);
                    out.push('\n');
                }
            }
            _ => line(text(value)),
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => words::harmless(&words::path_label(text)).into_owned(),
        other => other.to_string(),
    }
}
