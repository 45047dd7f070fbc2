//! The differences as text.

use std::fmt::Write as _;

use jlfix::diff::{Change, Diff, EntryDiff, FieldDiff, PinDiff, StreamDiff};
use serde_json::Value;

use super::super::change::Figures;
use super::super::style::{BAD, DIM, GOOD, HEAD, WARN, paint};
use super::super::words;
use super::{DiffTotals, FileDiff, FileStatus};

/// How many entries, moves or streams of a file are listed without `-v`.
const SHOWN: usize = 20;
/// The longest value of a field that is shown without `-v`.
const VALUE_WIDTH: usize = 60;

/// One file. Files that are the same take one line.
pub(super) fn file(file: &FileDiff, verbose: bool) -> String {
    let mut out = String::new();
    let name = file.app_name.as_deref().unwrap_or("unknown application");
    let id = file.app_id.map(|id| format!("  {id}")).unwrap_or_default();
    let status = match file.status {
        FileStatus::Same => paint(GOOD, "same"),
        FileStatus::Changed => paint(WARN, "changed"),
        FileStatus::Added => paint(GOOD, "added"),
        FileStatus::Removed => paint(BAD, "removed"),
    };
    if file.status == FileStatus::Same && !verbose {
        let path = file.path_after.as_deref().unwrap_or_default();
        let _ = writeln!(out, "{status}  {}", words::harmless(path));
        return out;
    }
    let _ = writeln!(out, "{}{id}  {status}", paint(HEAD, words::harmless(name)));
    for (label, path, figures) in [("before", &file.path_before, file.before), ("after", &file.path_after, file.after)]
    {
        let path = path.as_deref().map_or_else(|| "no file".to_owned(), |path| words::harmless(path).into_owned());
        let _ = writeln!(out, "  {}  {path}{}", paint(DIM, format!("{label:<6}")), summary_of(figures));
    }
    out.push_str(&differences(&file.diff, verbose));
    let _ = writeln!(out, "  {}\n", verdict(file));
    out
}

fn summary_of(figures: Option<Figures>) -> String {
    let Some(figures) = figures else { return String::new() };
    let pinned =
        if figures.pinned > 0 { format!(" ({} pinned)", words::number(figures.pinned as u64)) } else { String::new() };
    let reads = match figures.cost.reads {
        0 => String::new(),
        reads => format!(", {} reads per click", words::number(reads)),
    };
    format!("\n          {}{pinned}, {}{reads}", words::count(figures.entries, "entry"), words::size(figures.bytes))
}

fn differences(diff: &Diff, verbose: bool) -> String {
    let mut out = String::new();
    // Removing an entry gives all others a new rank: one line for what changed only in that.
    let only_rank =
        |entry: &&EntryDiff| entry.change == Change::Changed && entry.fields.iter().all(|field| field.field == "rank");
    let (rank, entries): (Vec<&EntryDiff>, Vec<&EntryDiff>) =
        diff.entries.iter().partition(|entry| !verbose && only_rank(entry));
    list(&entries, verbose, "entries", &mut out, |entry, out| one_entry(entry, verbose, out));
    if !rank.is_empty() {
        let entries = words::count(rank.len(), "entry");
        let _ = writeln!(out, "  {} {entries} changed only in rank; -v lists all of it", paint(WARN, "~"));
    }
    if !diff.pins.is_empty() {
        let _ = writeln!(out, "  {}", paint(HEAD, "Pins"));
        list(&diff.pins.iter().collect::<Vec<_>>(), verbose, "pins", &mut out, one_pin);
    }
    if !diff.order.is_empty() {
        let _ = writeln!(out, "  {}", paint(HEAD, "Order"));
        list(&diff.order.iter().collect::<Vec<_>>(), verbose, "moves", &mut out, |moved, out| {
            let name = named(moved.id, moved.path.as_deref());
            let _ = writeln!(out, "  {} {name}  position {} → {}", paint(WARN, "~"), moved.before, moved.after);
        });
    }
    if !diff.streams.is_empty() {
        let _ = writeln!(out, "  {}", paint(HEAD, "Other streams"));
        list(&diff.streams.iter().collect::<Vec<_>>(), verbose, "streams", &mut out, |stream, out| {
            one_stream(stream, out);
        });
    }
    section("Header", &diff.header, verbose, &mut out);
    let container: Vec<FieldDiff> = diff.container.iter().filter(|field| field.field != "sha256").cloned().collect();
    section("File", &container, verbose, &mut out);
    out
}

/// The items, or the first of them and how many more there are.
fn list<T>(items: &[&T], verbose: bool, noun: &str, out: &mut String, each: impl Fn(&T, &mut String)) {
    let shown = if verbose { items.len() } else { SHOWN };
    for item in items.iter().take(shown) {
        each(item, out);
    }
    if let Some(more) = items.len().checked_sub(shown).filter(|more| *more > 0) {
        let more = words::number(more as u64);
        let _ = writeln!(out, "    {}", paint(DIM, format!("and {more} more {noun}; -v lists them")));
    }
}

fn one_entry(entry: &EntryDiff, verbose: bool, out: &mut String) {
    let sign = sign(entry.change);
    let id = match (entry.id_before, entry.id_after) {
        (Some(before), Some(after)) if before != after => format!("entry {before} → {after}  "),
        (Some(id), _) | (None, Some(id)) => format!("entry {id}  "),
        (None, None) => String::new(),
    };
    let path = entry.path.as_deref().map_or_else(|| "-".to_owned(), words::path_label);
    let pinned = if entry.pinned { paint(WARN, "  (pinned)") } else { String::new() };
    let _ = writeln!(out, "  {sign} {id}{}{pinned}", words::harmless(&path));
    fields(&entry.fields, verbose, out);
}

fn one_pin(pin: &PinDiff, out: &mut String) {
    let name = named(pin.id_after.or(pin.id_before), pin.path.as_deref());
    let (sign, what) = match (pin.before, pin.after) {
        (None, Some(after)) => (paint(GOOD, "+"), format!("pinned at {after}")),
        (Some(before), None) => (paint(BAD, "-"), format!("no longer pinned, was at {before}")),
        (before, after) => {
            (paint(WARN, "~"), format!("moved from {} to {}", before.unwrap_or(-1), after.unwrap_or(-1)))
        }
    };
    let _ = writeln!(out, "  {sign} {name}  {what}");
}

fn one_stream(stream: &StreamDiff, out: &mut String) {
    let size = |size: Option<usize>| size.map_or_else(|| "none".to_owned(), |size| words::size(size as u64));
    let size = match stream.change {
        Change::Added => size(stream.size_after),
        Change::Removed => size(stream.size_before),
        Change::Changed => format!("{} → {}", size(stream.size_before), size(stream.size_after)),
    };
    let link = if stream.orphan_link { ", a link without an entry" } else { "" };
    let name = if stream.name.is_empty() { "(no name)" } else { &stream.name };
    let _ = writeln!(out, "  {} {}  {size}{link}", sign(stream.change), words::harmless(name));
}

fn named(id: Option<u64>, path: Option<&str>) -> String {
    let id = id.map(|id| format!("entry {id}  ")).unwrap_or_default();
    let path = path.map(words::path_label).unwrap_or_default();
    format!("{id}{}", words::harmless(&path))
}

fn sign(change: Change) -> String {
    match change {
        Change::Added => paint(GOOD, "+"),
        Change::Removed => paint(BAD, "-"),
        Change::Changed => paint(WARN, "~"),
    }
}

fn section(title: &str, diffs: &[FieldDiff], verbose: bool, out: &mut String) {
    if !diffs.is_empty() {
        let _ = writeln!(out, "  {}", paint(HEAD, title));
        fields(diffs, verbose, out);
    }
}

fn fields(diffs: &[FieldDiff], verbose: bool, out: &mut String) {
    for diff in diffs {
        let _ = writeln!(
            out,
            "      {}  {} → {}",
            paint(DIM, format!("{:<18}", diff.field)),
            value(&diff.before, verbose),
            value(&diff.after, verbose)
        );
    }
}

fn value(value: &Value, verbose: bool) -> String {
    let text = match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => words::harmless(text).into_owned(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Object(counts) if counts.is_empty() => "none".to_owned(),
        Value::Object(counts) if counts.values().all(Value::is_u64) => {
            let one = |(code, count): (&String, &Value)| {
                if *count == 1 { code.clone() } else { format!("{code} ({count})") }
            };
            counts.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            words::harmless(&items.join(", ")).into_owned()
        }
        other => words::harmless(&other.to_string()).into_owned(),
    };
    if verbose { text } else { words::shortened(&text, VALUE_WIDTH) }
}

/// One line that sums up a file.
fn verdict(file: &FileDiff) -> String {
    let diff = &file.diff;
    if diff.is_empty() && file.status == FileStatus::Same {
        return "the same, byte for byte".to_owned();
    }
    if file.status == FileStatus::Changed && diff.has_same_content() {
        return "the content is the same; only the layout of the file is different".to_owned();
    }
    let mut parts = vec![
        format!("{} added", words::count(diff.count(Change::Added), "entry")),
        format!("{} removed", words::number(diff.count(Change::Removed) as u64)),
        format!("{} changed", words::number(diff.count(Change::Changed) as u64)),
    ];
    if !diff.pins.is_empty() {
        parts.push(format!("{} changed", words::count(diff.pins.len(), "pin")));
    }
    if !diff.order.is_empty() {
        parts.push(format!("{} moved", words::number(diff.order.len() as u64)));
    }
    parts.join(", ")
}

/// Sums over several files.
pub(super) fn totals(totals: &DiffTotals) -> String {
    if totals.files < 2 {
        return String::new();
    }
    let states = [
        (totals.same, "the same"),
        (totals.changed, "changed"),
        (totals.added, "added"),
        (totals.removed, "removed"),
        (totals.failed, "failed"),
    ];
    let states: Vec<String> =
        states.iter().filter(|(count, _)| *count > 0).map(|(count, state)| format!("{count} {state}")).collect();
    format!(
        "{}: {}; {} added, {} removed, {} changed\n",
        words::count(totals.files, "file"),
        states.join(", "),
        words::count(totals.entries_added, "entry"),
        words::number(totals.entries_removed as u64),
        words::number(totals.entries_changed as u64),
    )
}
