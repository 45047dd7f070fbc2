//! What is kept of a file until all are read and sorted. There can be tens of thousands, so it holds what a row takes and
//! nothing that is written.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::Path;

use jlfix::appid::AppId;
use jlfix::cost::Cost;
use jlfix::format::time::FileTime;
use jlfix::model::{Finding, Kind};
use jlfix::report::{FileRow, State};

use super::output::csv_line;

/// A row without its entries.
pub(super) struct Line<'f> {
    pub(super) path: &'f Path,
    pub(super) kind: Kind,
    pub(super) state: State,
    app_id: Option<AppId>,
    app_name: Option<Box<str>>,
    pub(super) user: Option<Box<str>>,
    pub(super) size: u64,
    modified: Option<FileTime>,
    format_version: Option<u32>,
    pub(super) entries: usize,
    pinned: Option<usize>,
    links: usize,
    last_used: Option<FileTime>,
    findings: Box<[Finding]>,
    cost: Option<Box<Cost>>,
}

impl<'f> Line<'f> {
    /// What is kept of a row. The path is that of the file that was found.
    pub(super) fn new(row: &FileRow<'_>) -> Self {
        Self {
            path: Path::new(""),
            kind: row.kind,
            state: row.state,
            app_id: row.app_id,
            app_name: row.app_name.as_deref().map(Into::into),
            user: row.user.map(Into::into),
            size: row.size,
            modified: row.modified,
            format_version: row.format_version,
            entries: row.entries_count,
            pinned: row.pinned_count,
            links: row.links_count,
            last_used: row.last_used,
            findings: row.findings.as_slice().into(),
            cost: row.cost.map(Box::new),
        }
    }

    /// The same, of the file at `path`.
    pub(super) fn of(self, path: &'f Path) -> Self {
        Self { path, ..self }
    }

    /// The row again, for writing. `path` is [`Line::path`] as a text.
    pub(super) fn row<'r>(&'r self, path: &'r str) -> FileRow<'r> {
        FileRow {
            path,
            user: self.user.as_deref(),
            kind: self.kind,
            app_id: self.app_id,
            app_name: self.app_name.as_deref().map(ToOwned::to_owned),
            size: self.size,
            modified: self.modified,
            format_version: self.format_version,
            entries_count: self.entries,
            pinned_count: self.pinned,
            links_count: self.links,
            last_used: self.last_used,
            state: self.state,
            findings: self.findings.to_vec(),
            cost: self.cost.as_deref().copied(),
            header: None,
            categories: None,
            entries: None,
            deleted: None,
            deleted_copies: None,
            deleted_complete: None,
        }
    }

    /// The worst finding, and how many more there are.
    pub(super) fn why(&self) -> Option<String> {
        self.findings.iter().min_by_key(|finding| Reverse(finding.severity())).map(|finding| {
            let more = match self.findings.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            format!("{} {}{more}", finding.code, finding.message)
        })
    }

    pub(super) fn reads(&self) -> u64 {
        self.cost.as_ref().map_or(0, |cost| cost.reads)
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.cost.as_ref().map_or(0, |cost| cost.bytes)
    }

    pub(super) fn estimated_ms(&self) -> f64 {
        self.cost.as_ref().map_or(0.0, |cost| cost.estimated_ms())
    }

    pub(super) fn used(&self) -> u64 {
        self.last_used.map_or(0, |time| time.0)
    }

    /// True if a rewrite in one piece alone would make it clearly cheaper.
    pub(super) fn is_fragmented(&self) -> bool {
        self.cost.as_ref().is_some_and(|cost| cost.is_worth_compacting())
    }

    /// The application, or `-` where only its AppID is known, or the file's own name where there is no AppID.
    pub(super) fn name(&self) -> Cow<'_, str> {
        let file = || self.path.to_string_lossy().rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        match (&self.app_name, self.app_id) {
            (Some(name), _) => Cow::Borrowed(name),
            (None, Some(_)) => Cow::Borrowed("-"),
            (None, None) => Cow::Owned(file()),
        }
    }
}

pub(super) const CSV_COLUMNS: [&str; 20] = [
    "path",
    "kind",
    "app_id",
    "app_name",
    "size",
    "modified",
    "format_version",
    "entries_count",
    "pinned_count",
    "links_count",
    "state",
    "findings",
    "last_used",
    "reads",
    "bytes",
    "mean_read",
    "estimated_ms",
    "discontinuities",
    "split_reads",
    "user",
];

pub(super) fn csv_row(row: &FileRow<'_>) -> Vec<u8> {
    let text = |value: Option<String>| value.unwrap_or_default();
    let codes: Vec<&str> = row.findings.iter().map(|finding| finding.code.as_str()).collect();
    csv_line([
        row.path.to_owned(),
        row.kind.word().to_owned(),
        text(row.app_id.map(|id| id.to_string())),
        text(row.app_name.clone()),
        row.size.to_string(),
        text(row.modified.map(|time| time.to_string())),
        text(row.format_version.map(|version| version.to_string())),
        row.entries_count.to_string(),
        text(row.pinned_count.map(|count| count.to_string())),
        row.links_count.to_string(),
        row.state.word().to_owned(),
        codes.join(" "),
        text(row.last_used.map(|time| time.to_string())),
        text(row.cost.map(|cost| cost.reads.to_string())),
        text(row.cost.map(|cost| cost.bytes.to_string())),
        text(row.cost.map(|cost| format!("{:.2}", cost.mean_read()))),
        text(row.cost.map(|cost| format!("{:.2}", cost.estimated_ms()))),
        text(row.cost.map(|cost| cost.discontinuities.to_string())),
        text(row.cost.map(|cost| cost.split_reads.to_string())),
        row.user.unwrap_or_default().to_owned(),
    ])
}
