//! The body file of The Sleuth Kit 3, which `mactime` makes a timeline of:
//! `MD5|name|inode|mode|UID|GID|size|atime|mtime|ctime|crtime`, times in seconds since 1970, 0 for what is not known.

use std::fmt::Write as _;
use std::io::Write as _;

use super::row::{LinkFacts, Row, SourceFile, known, rows};
use crate::format::time::FileTime;

const DIRECTORY: u32 = 0x10;

/// Writes a file's rows, each as a line: when the target was last accessed through the list (a), modified (m) and
/// created (b), from entry and link. The time that a file's record was changed is in neither.
pub fn bodyfile(file: &SourceFile<'_>, out: &mut Vec<u8>) {
    for row in rows(file) {
        line(&row, out);
    }
}

fn line(row: &Row<'_>, out: &mut Vec<u8>) {
    let facts = row.facts();
    let header = facts.map(|facts| &facts.link.header);
    let of_link = |time: fn(&crate::format::link::Header) -> FileTime| seconds(header.and_then(|h| known(time(h))));
    let accessed = match row.last_access() {
        Some(time) => seconds(Some(time)),
        None => of_link(|header| header.accessed),
    };
    let mode = match header {
        Some(header) if header.attributes & DIRECTORY != 0 => "d/d---------",
        _ => "r/r---------",
    };
    let reference = facts.and_then(LinkFacts::file_reference);
    let inode = reference.map_or("0".to_owned(), |at| format!("{}-{}", at.entry(), at.sequence()));
    let size = header.map_or(0, |header| header.file_size);
    // Writing to memory cannot fail.
    let _ = writeln!(
        out,
        "0|{}|{inode}|{mode}|0|0|{size}|{accessed}|{}|0|{}",
        name(row),
        of_link(|header| header.modified),
        of_link(|header| header.created),
    );
}

/// What the line is called: the application, the path, and where both are from.
fn name(row: &Row<'_>) -> String {
    let file = row.file;
    let mut out = String::from("[jump list");
    for part in file.app_name.into_iter().chain(file.user) {
        let _ = write!(out, ", {part}");
    }
    out.push_str("] ");
    out.push_str(row.shown_path().as_deref().unwrap_or("?"));
    let _ = match (row.entry_id(), row.position) {
        (Some(id), _) => write!(out, " ({}, entry {id})", file.facts.path),
        (None, Some(position)) => write!(out, " ({}, link {position})", file.facts.path),
        (None, None) => write!(out, " ({})", file.facts.path),
    };
    if let Some(item) = row.deleted {
        // The Sleuth Kit says it in the name as well.
        let _ = write!(out, " (deleted, {} at {})", item.place.words(), item.offset);
    }
    harmless(&out)
}

/// The text without what would end the field or the line.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '|' || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Seconds since 1970; 0 for none and for a time before, which the format cannot express.
fn seconds(time: Option<FileTime>) -> i64 {
    time.map_or(0, |time| time.unix_seconds().max(0))
}
