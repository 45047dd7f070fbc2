//! What is reported of a file: the one shape behind tables, JSON and CSV (docs/compatibility.md).
//!
//! Rows borrow from the list and decode texts as they are written, so that reporting a large list costs little more
//! than its bytes. Absent is null, never a made-up 0.
//!
//! ```
//! use jlfix::JumpList;
//! use jlfix::report::{FileFacts, FileRow, ReportOptions};
//!
//! let list = JumpList::open("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! let names = jlfix::AppNames::default();
//! let facts = FileFacts::new("9b9cdc69c1c24e2b.automaticDestinations-ms", list.bytes().len() as u64);
//! let row = FileRow::new(&facts, list.source(), list.automatic(), &ReportOptions::new(&names));
//! assert_eq!((row.app_name.as_deref(), row.entries_count), (Some("Notepad"), 24));
//! let json = serde_json::to_string(&row)?;
//! # assert!(json.starts_with("{\"path\":"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod deleted;
mod entry;
mod link;

use serde::{Serialize, Serializer};

pub use deleted::DeletedRow;
pub use entry::{AutomaticRow, CustomRow, EntryRow};
pub use link::{LinkDetail, LinkRow};

use crate::appid::{AppId, AppNames, known_for_user, profile_of};
use crate::cost::Cost;
use crate::format::custom::Category;
use crate::format::text::CodePage;
use crate::format::time::FileTime;
use crate::model::{AutomaticList, Deleted, Finding, Kind, Severity, Source};

/// A click that takes this many milliseconds or more is slow, unless the caller says otherwise.
pub const SLOW_MS: f64 = 100.0;

/// The state of a file, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There is a finding of severity error.
    Damaged,
    /// A click on it takes long.
    Slow,
    /// There are findings of severity warning.
    Stale,
    /// There is nothing in it.
    Empty,
    /// All is well.
    Ok,
}

impl State {
    /// Every state, worst first.
    pub const ALL: [Self; 5] = [Self::Damaged, Self::Slow, Self::Stale, Self::Empty, Self::Ok];

    /// Name of the state.
    pub fn word(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::Slow => "slow",
            Self::Stale => "stale",
            Self::Empty => "empty",
            Self::Ok => "ok",
        }
    }
}

/// What a report contains.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ReportOptions<'a> {
    /// From how many milliseconds a click is slow.
    pub slow_ms: f64,
    /// Whether entries are in the report, and how much of their links.
    pub entries: Option<LinkDetail>,
    /// The code page of ANSI strings.
    pub code_page: CodePage,
    /// Names of applications.
    pub names: &'a AppNames,
    /// Whether what is deleted is looked for. Who does is to call [`FileRow::with_deleted`].
    pub deleted: bool,
}

impl<'a> ReportOptions<'a> {
    /// A click is slow from [`SLOW_MS`] on; no entries, nothing deleted, code page 1252.
    pub fn new(names: &'a AppNames) -> Self {
        Self { slow_ms: SLOW_MS, entries: None, code_page: CodePage::default(), names, deleted: false }
    }

    /// Sets [`slow_ms`](Self#structfield.slow_ms).
    #[must_use]
    pub fn slow_ms(mut self, slow_ms: f64) -> Self {
        self.slow_ms = slow_ms;
        self
    }

    /// Sets [`entries`](Self#structfield.entries).
    #[must_use]
    pub fn entries(mut self, entries: impl Into<Option<LinkDetail>>) -> Self {
        self.entries = entries.into();
        self
    }

    /// Sets [`code_page`](Self#structfield.code_page).
    #[must_use]
    pub fn code_page(mut self, code_page: CodePage) -> Self {
        self.code_page = code_page;
        self
    }

    /// Sets [`deleted`](Self#structfield.deleted).
    #[must_use]
    pub fn deleted(mut self, deleted: bool) -> Self {
        self.deleted = deleted;
        self
    }
}

/// What the file system says of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// The path, as given or found.
    pub path: String,
    /// The name alone, which gives the AppID.
    pub name: String,
    /// The user whose list it is, if that is known.
    pub user: Option<String>,
    /// Bytes.
    pub size: u64,
    /// Last modification.
    pub modified: Option<FileTime>,
    /// Creation, where the file system keeps it.
    pub created: Option<FileTime>,
    /// Last access, before the file was read.
    pub accessed: Option<FileTime>,
}

impl FileFacts {
    /// A file of which only the path and the size are known. The part of `path` behind the last separator is its name.
    pub fn new(path: impl Into<String>, size: u64) -> Self {
        let path = path.into();
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        Self { path, name, user: None, size, modified: None, created: None, accessed: None }
    }
}

/// The cost of a click, as it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CostRow {
    /// Read calls.
    pub reads: u64,
    /// Bytes that they read in total.
    pub bytes: u64,
    /// Bytes per read.
    pub mean_read: f64,
    /// How many times the bytes of the file are read.
    pub passes: f64,
    /// Milliseconds, at 3.9 µs per read.
    pub estimated_ms: f64,
    /// Places where the next sector of the DestList or a link is not the adjacent one in the file.
    pub discontinuities: u64,
    /// Reads that exist only because of them.
    pub split_reads: u64,
}

impl From<Cost> for CostRow {
    fn from(cost: Cost) -> Self {
        let round = |value: f64, places: f64| (value * places).round() / places;
        Self {
            reads: cost.reads,
            bytes: cost.bytes,
            mean_read: round(cost.mean_read(), 100.0),
            passes: round(cost.passes(), 1000.0),
            estimated_ms: round(cost.estimated_ms(), 100.0),
            discontinuities: cost.discontinuities,
            split_reads: cost.split_reads,
        }
    }
}

/// A category of a custom list.
#[derive(Debug, Clone, Serialize)]
pub struct CategoryRow {
    /// `named`, `known` or `tasks`.
    pub kind: &'static str,
    /// Name, as it is shown.
    pub name: String,
    /// True if the name refers to a resource of the application.
    pub resource: bool,
    /// The id of a known category.
    pub known_id: Option<i32>,
    /// Links that it claims.
    pub declared: u32,
    /// Links that could be read.
    pub links: usize,
    /// Where it starts in the file.
    pub offset: usize,
}

impl From<&Category<'_>> for CategoryRow {
    fn from(category: &Category<'_>) -> Self {
        use crate::format::custom::CategoryKind;
        Self {
            kind: category.kind.word(),
            name: category.kind.to_string(),
            resource: category.kind.is_resource(),
            known_id: if let CategoryKind::Known(id) = category.kind { Some(id) } else { None },
            declared: category.declared,
            links: category.links.len(),
            offset: category.offset,
        }
    }
}

/// The row of the DestList's header.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct HeaderRow {
    /// Entries it counts.
    pub count: u32,
    /// Pinned entries it counts.
    pub pinned: u32,
    /// Total score.
    pub total: f64,
    /// Last id given.
    pub last_id: u64,
    /// Actions so far.
    pub actions: u64,
}

/// The row of a file.
#[derive(Debug, Serialize)]
pub struct FileRow<'c> {
    /// As given or found.
    pub path: &'c str,
    /// Whose list it is, if that is known.
    pub user: Option<&'c str>,
    /// Automatic, custom or link.
    pub kind: Kind,
    /// From the file's name.
    pub app_id: Option<AppId>,
    /// What application that is, if it is known.
    pub app_name: Option<String>,
    /// Bytes.
    pub size: u64,
    /// Last modification.
    pub modified: Option<FileTime>,
    /// DestList format, or the version of a custom list.
    pub format_version: Option<u32>,
    /// Entries; links of a custom list.
    pub entries_count: usize,
    /// Pinned entries; null for a custom list, which has none.
    pub pinned_count: Option<usize>,
    /// Links.
    pub links_count: usize,
    /// The latest access of any entry.
    pub last_used: Option<FileTime>,
    /// State.
    pub state: State,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What a click costs; null for what no click reads so.
    #[serde(serialize_with = "cost_row")]
    pub cost: Option<Cost>,
    /// The DestList's header, with the entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<HeaderRow>,
    /// Categories of a custom list, with the entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<CategoryRow>>,
    /// The entries, if the report has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<EntryRow<'c>>>,
    /// What is deleted, if it was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Vec<DeletedRow<'c>>>,
    /// How many more were left out, as they are copies of what is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_copies: Option<usize>,
    /// False if the search stopped at a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_complete: Option<bool>,
}

/// A single as the double that is exactly it, so that JSON and what is made of it say the same.
fn single<S: Serializer>(value: &Option<f32>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(f64::from).serialize(serializer)
}

/// The name of the application. The AppID of a program in a user's own folder is computed over the profile's folder,
/// which may be named otherwise than the user.
fn app_name(id: AppId, facts: &FileFacts, options: &ReportOptions<'_>) -> Option<String> {
    let folders = || [facts.user.as_deref(), profile_of(&facts.path)].into_iter().flatten();
    let of_user = || folders().find_map(|folder| known_for_user(id, folder)).map(|(name, _)| name);
    options.names.name(id).or_else(of_user).map(ToOwned::to_owned)
}

fn cost_row<S: Serializer>(cost: &Option<Cost>, serializer: S) -> Result<S::Ok, S::Error> {
    cost.map(CostRow::from).serialize(serializer)
}

impl<'c> FileRow<'c> {
    /// Reports a file. `list` is what [`AutomaticList::read`] made of an automatic source.
    pub fn new(
        facts: &'c FileFacts,
        source: &'c Source<'c>,
        list: Option<&'c AutomaticList<'c>>,
        options: &ReportOptions<'_>,
    ) -> Self {
        let app_id = AppId::from_copy_name(&facts.name);
        let mut row = Self {
            path: &facts.path,
            user: facts.user.as_deref(),
            kind: source.kind(),
            app_id,
            app_name: app_id.and_then(|id| app_name(id, facts, options)),
            size: facts.size,
            modified: facts.modified,
            format_version: None,
            entries_count: 0,
            pinned_count: None,
            links_count: 0,
            last_used: None,
            state: State::Ok,
            findings: source.findings(),
            cost: None,
            header: None,
            categories: None,
            entries: None,
            deleted: None,
            deleted_copies: None,
            deleted_complete: None,
        };
        match (source, list) {
            (Source::Automatic(_), Some(list)) => row.automatic(list, options),
            (Source::Automatic(_), None) => row.pinned_count = Some(0),
            (Source::Custom(custom), _) => {
                row.format_version = Some(custom.version);
                row.links_count = custom.links().count();
                row.entries_count = row.links_count;
                if let Some(detail) = options.entries {
                    row.categories = Some(custom.categories.iter().map(CategoryRow::from).collect());
                    row.entries = Some(entry::custom_rows(custom, detail));
                }
            }
            (Source::Link(_, link), _) => {
                row.entries_count = usize::from(link.is_ok());
                row.links_count = row.entries_count;
                if let Some(detail) = options.entries {
                    row.entries = Some(link.iter().map(|link| EntryRow::single(link, detail)).collect());
                }
            }
        }
        row.state = row.judge(options.slow_ms);
        row
    }

    fn automatic(&mut self, list: &'c AutomaticList<'c>, options: &ReportOptions<'_>) {
        self.findings = list.findings(options.code_page);
        self.format_version = list.version();
        self.entries_count = list.entries.len();
        self.pinned_count = Some(list.pinned());
        self.links_count = list.links();
        self.last_used = list.entries.iter().filter_map(|entry| entry.dest.last_access.non_zero()).max();
        self.cost = Some(Cost::of(list));
        if let Some(detail) = options.entries {
            self.header = list.header.map(|header| HeaderRow {
                count: header.count,
                pinned: header.pinned,
                total: f64::from(header.total),
                last_id: header.last_id,
                actions: header.actions,
            });
            self.entries = Some(entry::automatic_rows(list, detail, options.code_page));
        }
    }

    /// Adds what is deleted in the file.
    #[must_use]
    pub fn with_deleted(mut self, deleted: &'c Deleted<'c>, options: &ReportOptions<'_>) -> Self {
        let detail = options.entries.unwrap_or(LinkDetail::Target);
        self.deleted = Some(deleted::rows(deleted, detail, options.code_page));
        self.deleted_copies = Some(deleted.copies);
        self.deleted_complete = Some(deleted.complete);
        self
    }

    /// The worst severity among the findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(Finding::severity).max()
    }

    /// The milliseconds that a click is predicted to take.
    pub fn estimated_ms(&self) -> f64 {
        self.cost.map_or(0.0, |cost| cost.estimated_ms())
    }

    fn judge(&self, slow_ms: f64) -> State {
        match self.worst() {
            Some(Severity::Error) => State::Damaged,
            _ if self.cost.is_some() && self.estimated_ms() >= slow_ms => State::Slow,
            Some(Severity::Warning) => State::Stale,
            _ if self.entries_count == 0 && self.links_count == 0 => State::Empty,
            _ => State::Ok,
        }
    }
}

/// Sums over files.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Totals {
    /// Files.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
    /// Entries.
    pub entries: u64,
    /// Pinned entries.
    pub pinned: u64,
    /// Reads of a click on each.
    pub reads: u64,
    /// Milliseconds of a click on each.
    pub estimated_ms: f64,
    /// Files that are damaged.
    pub damaged: u64,
    /// Files that are slow.
    pub slow: u64,
    /// Files that are stale.
    pub stale: u64,
    /// Files that are empty.
    pub empty: u64,
    /// Files that are well.
    pub ok: u64,
    /// Files that could not be read.
    pub failed: u64,
}

impl Totals {
    /// Adds a file.
    pub fn add(&mut self, row: &FileRow<'_>) {
        let one = |state| u64::from(row.state == state);
        self.merge(&Self {
            files: 1,
            bytes: row.size,
            entries: row.entries_count as u64,
            pinned: row.pinned_count.unwrap_or(0) as u64,
            reads: row.cost.map_or(0, |cost| cost.reads),
            estimated_ms: row.estimated_ms(),
            damaged: one(State::Damaged),
            slow: one(State::Slow),
            stale: one(State::Stale),
            empty: one(State::Empty),
            ok: one(State::Ok),
            failed: 0,
        });
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: &Self) {
        let sums = [
            (&mut self.files, other.files),
            (&mut self.bytes, other.bytes),
            (&mut self.entries, other.entries),
            (&mut self.pinned, other.pinned),
            (&mut self.reads, other.reads),
            (&mut self.damaged, other.damaged),
            (&mut self.slow, other.slow),
            (&mut self.stale, other.stale),
            (&mut self.empty, other.empty),
            (&mut self.ok, other.ok),
            (&mut self.failed, other.failed),
        ];
        for (sum, value) in sums {
            *sum = sum.saturating_add(value);
        }
        self.estimated_ms = ((self.estimated_ms + other.estimated_ms) * 100.0).round() / 100.0;
    }
}
