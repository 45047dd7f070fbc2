//! What is deleted in a file, for people.

use std::fmt::Write as _;

use jlfix::model::Live;
use jlfix::report::{DeletedRow, FileRow, LinkRow};

use super::style::{DIM, HEAD, WARN, paint};
use super::table::{Align, Grid};
use super::words;

/// How many characters of a link's arguments are shown.
const LONGEST_ARGUMENTS: usize = 80;

/// What was found, in a line; nothing if it was not looked for.
pub(crate) fn summary(row: &FileRow<'_>) -> Option<String> {
    let deleted = row.deleted.as_deref()?;
    let counts = [("entry", "entry"), ("link", "link"), ("stream", "stream")].map(|(kind, noun)| {
        let count = deleted.iter().filter(|item| item.kind == kind).count();
        (count > 0).then(|| words::count(count, noun))
    });
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let mut out = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    if let Some(copies) = row.deleted_copies.filter(|copies| *copies > 0) {
        let _ = write!(out, "; {} of what is in use left out", words::count(copies, "copy"));
    }
    if row.deleted_complete == Some(false) {
        out.push_str("; the search stopped at its limit, there may be more");
    }
    Some(out)
}

/// A row for each thing that is deleted; nothing if there is none.
pub(crate) fn table(deleted: &[DeletedRow<'_>]) -> String {
    if deleted.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(&[
        ("Offset", Align::Right),
        ("Where", Align::Left),
        ("Deleted", Align::Left),
        ("Bytes", Align::Right),
        ("Entry", Align::Right),
        ("In the list", Align::Left),
        ("Last access (UTC)", Align::Left),
        ("Path", Align::Left),
        ("", Align::Left),
    ])
    .drops(&["Bytes", "Offset", "In the list", "Entry", "Last access (UTC)"])
    .shortens(&["Path", "Where"]);
    for item in deleted {
        let entry = item.entry.as_ref();
        let path = entry.and_then(|entry| entry.path).map(|path| path.to_string());
        let path = path.or_else(|| item.link.as_ref().and_then(pointed_at));
        let path = path.or_else(|| item.stream.filter(|_| item.kind == "stream").map(|name| named(item, name)));
        grid.row(vec![
            item.offset.to_string(),
            item.place.words().to_owned(),
            item.kind.to_owned(),
            item.size.to_string(),
            item.id.map_or("-".to_owned(), |id| id.to_string()),
            stands(item),
            words::minute(entry.and_then(|entry| entry.last_access)),
            path.map_or("-".to_owned(), |path| words::harmless(&words::path_label(&path)).into_owned()),
            mark(item).map_or_else(String::new, |mark| paint(WARN, mark)),
        ]);
    }
    format!("{}\n{}", paint(HEAD, "Deleted"), grid.render())
}

/// What a link points at, with its arguments.
fn pointed_at(link: &LinkRow<'_>) -> Option<String> {
    let target = link.target()?;
    Some(match link.link.arguments {
        Some(arguments) => format!("{target} {}", words::shortened(&arguments.to_string(), LONGEST_ARGUMENTS)),
        None => target,
    })
}

/// How it stands to what the list has.
fn stands(item: &DeletedRow<'_>) -> String {
    match item.live {
        Live::Gone => "gone".to_owned(),
        Live::Older => "used later".to_owned(),
        Live::Other if item.differs.is_empty() => "another".to_owned(),
        Live::Other => format!("other {}", item.differs.join(", ")),
    }
}

/// What is to be known of how it was found.
fn mark(item: &DeletedRow<'_>) -> Option<&'static str> {
    match (item.whole, item.joined) {
        (false, _) => Some("cut"),
        (true, true) => Some("joined"),
        (true, false) => None,
    }
}

/// A stream that only a directory entry tells of.
fn named(item: &DeletedRow<'_>, name: impl std::fmt::Display) -> String {
    match (item.stream_size, item.stream_offset) {
        (Some(size), Some(offset)) => format!("stream {name}, {size} bytes from {offset}"),
        (Some(size), None) => format!("stream {name}, {size} bytes"),
        _ => format!("stream {name}"),
    }
}

/// A head for the fields of one deleted thing.
pub(crate) fn head(item: &DeletedRow<'_>) -> String {
    let mark = mark(item).map(|mark| format!(", {mark}")).unwrap_or_default();
    let what = format!("deleted {}", item.kind);
    let place = format!("at {}, {}{mark}", item.offset, item.place.words());
    format!("{}  {}\n", paint(HEAD, what), paint(DIM, place))
}
