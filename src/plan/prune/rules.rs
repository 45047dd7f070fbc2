//! The rules of a prune, and what each of them decides about one entry.

use std::collections::BTreeSet;
use std::fmt;

use crate::format::destlist;
use crate::format::known_folder::KnownFolder;
use crate::format::text::CodePage;
use crate::format::time::FileTime;
use crate::model::Entry;

/// The order in which [`PruneRules::keep`] counts entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum KeepBy {
    /// The most recent last access first.
    #[default]
    Recent,
    /// The highest score first; of equal scores the more recent one.
    Score,
}

/// Whether the target of an entry exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TargetStatus {
    /// It exists.
    Exists,
    /// It does not exist, and the folder that would hold it was read.
    Missing,
    /// It cannot be looked up: it is on another machine or on a drive that is not mounted, or it is not a file.
    Unknown,
}

/// Rules that select the entries to drop.
///
/// **Keep rules** ([`keep`](Self::keep), [`keep_within`](Self::keep_within)) keep an entry if any of them does; when there
/// is one, the other entries are dropped. **Drop rules** ([`older_than`](Self::older_than), [`ids`](Self::ids),
/// [`matching`](Self::matching), [`missing`](Self::missing)) drop entries as well, also those that a keep rule would keep.
/// Pinned entries are kept unless [`include_pinned`](Self::include_pinned) is set.
///
/// ```
/// use jlfix::format::time::FileTime;
/// use jlfix::plan::PruneRules;
///
/// // The 20 most recent entries and everything since 1 March 2024; nothing from the folder Temp.
/// let since = FileTime::from_timestamp("2024-03-01T00:00:00Z".parse()?);
/// let is_temporary = |text: &str| text.contains(r"\Temp\");
/// let rules = PruneRules::new().keep(20).keep_within(since).matching(&is_temporary as &dyn Fn(&str) -> bool);
/// assert!(!rules.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
#[non_exhaustive]
pub struct PruneRules<'r> {
    keep: Option<usize>,
    keep_by: KeepBy,
    keep_within: Option<FileTime>,
    older_than: Option<FileTime>,
    pub(super) ids: BTreeSet<u64>,
    matching: Option<&'r dyn Fn(&str) -> bool>,
    missing: Option<&'r dyn Fn(&str) -> TargetStatus>,
    pub(super) include_pinned: bool,
    pub(super) compact: bool,
    code_page: CodePage,
}

impl<'r> PruneRules<'r> {
    /// No rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keep rule: the first `count` unpinned entries in the order of [`keep_by`](Self::keep_by). With
    /// [`include_pinned`](Self::include_pinned), pinned entries are counted too.
    #[must_use]
    pub fn keep(mut self, count: impl Into<Option<usize>>) -> Self {
        self.keep = count.into();
        self
    }

    /// The order in which [`keep`](Self::keep) counts; the most recent first if not set.
    #[must_use]
    pub fn keep_by(mut self, by: KeepBy) -> Self {
        self.keep_by = by;
        self
    }

    /// Keep rule: every entry accessed at this time or later, and every entry without a time.
    #[must_use]
    pub fn keep_within(mut self, since: impl Into<Option<FileTime>>) -> Self {
        self.keep_within = since.into();
        self
    }

    /// Drop rule: entries last accessed before this time. An entry without a time is kept.
    #[must_use]
    pub fn older_than(mut self, limit: impl Into<Option<FileTime>>) -> Self {
        self.older_than = limit.into();
        self
    }

    /// Drop rule: entries with one of these ids. Ids count from 1 in every list, so they mean something in one list only.
    #[must_use]
    pub fn ids(mut self, ids: impl IntoIterator<Item = u64>) -> Self {
        self.ids = ids.into_iter().collect();
        self
    }

    /// Drop rule: entries for which this returns true. It is called with the path, the name of the known folder that the
    /// path names, and the target of the link, in this order, until it returns true.
    #[must_use]
    pub fn matching(mut self, matches: impl Into<Option<&'r dyn Fn(&str) -> bool>>) -> Self {
        self.matching = matches.into();
        self
    }

    /// Drop rule: entries for whose path this returns [`TargetStatus::Missing`].
    #[must_use]
    pub fn missing(mut self, status: impl Into<Option<&'r dyn Fn(&str) -> TargetStatus>>) -> Self {
        self.missing = status.into();
        self
    }

    /// Whether the rules apply to pinned entries, and to lists whose damage may hide entries or pins.
    #[must_use]
    pub fn include_pinned(mut self, include: bool) -> Self {
        self.include_pinned = include;
        self
    }

    /// Whether to rewrite a fragmented file in one piece where no entry is dropped and that saves reads.
    #[must_use]
    pub fn compact(mut self, compact: bool) -> Self {
        self.compact = compact;
        self
    }

    /// The code page of ANSI strings in links, for [`matching`](Self::matching).
    #[must_use]
    pub fn code_page(mut self, code_page: CodePage) -> Self {
        self.code_page = code_page;
        self
    }

    /// True if no rule is set, so that a prune would change nothing.
    pub fn is_empty(&self) -> bool {
        !self.has_keep_rule()
            && self.older_than.is_none()
            && self.ids.is_empty()
            && self.matching.is_none()
            && self.missing.is_none()
            && !self.compact
    }

    fn has_keep_rule(&self) -> bool {
        self.keep.is_some() || self.keep_within.is_some()
    }

    /// The drop rule that drops this entry; the first, if several do.
    pub(super) fn drop_reason(&self, entry: &Entry<'_>) -> Option<DropReason> {
        let dest = &entry.dest;
        if self.ids.contains(&dest.id) {
            return Some(DropReason::Id);
        }
        if let Some(field) = self.matching.and_then(|matches| matching_field(entry, matches, self.code_page)) {
            return Some(DropReason::Match(field));
        }
        if self.missing.is_some_and(|status| status(&dest.path.to_string()) == TargetStatus::Missing) {
            return Some(DropReason::TargetMissing);
        }
        let is_old = |limit: FileTime| dest.last_access.0 != 0 && dest.last_access < limit;
        self.older_than.is_some_and(is_old).then_some(DropReason::OlderThan)
    }

    /// For each entry, the reason if there are keep rules and none keeps it. Pinned entries have none unless
    /// `include_pinned` is set.
    pub(super) fn not_kept(&self, entries: &[Entry<'_>]) -> Vec<Option<DropReason>> {
        let mut reasons = vec![None; entries.len()];
        if !self.has_keep_rule() {
            return reasons;
        }
        let reason = DropReason::NotKept { among: self.keep.map(|_| self.keep_by), within: self.keep_within.is_some() };
        let mut order: Vec<(usize, &destlist::Entry<'_>)> = entries
            .iter()
            .map(|entry| &entry.dest)
            .enumerate()
            .filter(|(_, dest)| self.include_pinned || !dest.is_pinned())
            .collect();
        order.sort_by(|(_, a), (_, b)| {
            let newer = b.last_access.cmp(&a.last_access);
            match self.keep_by {
                KeepBy::Recent => newer,
                KeepBy::Score => b.score.total_cmp(&a.score).then(newer),
            }
        });
        let is_within = |dest: &destlist::Entry<'_>| {
            self.keep_within.is_some_and(|since| dest.last_access.0 == 0 || dest.last_access >= since)
        };
        for (position, dest) in order.into_iter().skip(self.keep.unwrap_or(0)) {
            if let Some(slot) = reasons.get_mut(position).filter(|_| !is_within(dest)) {
                *slot = Some(reason);
            }
        }
        reasons
    }
}

/// The first text of the entry that matches.
fn matching_field(entry: &Entry<'_>, matches: &dyn Fn(&str) -> bool, code_page: CodePage) -> Option<MatchField> {
    let path = entry.dest.path.to_string();
    if matches(&path) {
        return Some(MatchField::Path);
    }
    if KnownFolder::of_path(&path).is_some_and(|folder| matches(folder.name)) {
        return Some(MatchField::KnownFolder);
    }
    let target = entry.read_link(code_page).and_then(Result::ok).and_then(|link| link.target());
    target.is_some_and(|target| matches(&target)).then_some(MatchField::LinkTarget)
}

/// The text of an entry that a pattern matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatchField {
    /// The path in the DestList.
    Path,
    /// The name of the known folder that the path `knownfolder:{GUID}` names.
    KnownFolder,
    /// The target of the link.
    LinkTarget,
}

/// The rule that drops an entry. `Display` describes it, without naming command-line options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// [`PruneRules::ids`] has its id.
    Id,
    /// [`PruneRules::matching`] matched this field.
    Match(MatchField),
    /// [`PruneRules::missing`]: its target does not exist.
    TargetMissing,
    /// [`PruneRules::older_than`]: its last access is before the limit.
    OlderThan,
    /// There are keep rules, and none keeps it.
    NotKept {
        /// The order of [`PruneRules::keep`], if that rule is set.
        among: Option<KeepBy>,
        /// True if [`PruneRules::keep_within`] is set.
        within: bool,
    },
}

impl DropReason {
    /// The rule as an identifier: `id`, `match`, `missing`, `older_than`, `keep` or `keep_within` (`keep` if both are
    /// set).
    pub fn rule(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Match(_) => "match",
            Self::TargetMissing => "missing",
            Self::OlderThan => "older_than",
            Self::NotKept { among: Some(_), .. } => "keep",
            Self::NotKept { among: None, .. } => "keep_within",
        }
    }

    /// The field of the entry that the rule looked at: `id`, `path`, `known_folder`, `link_target`, `last_access` or
    /// `score`.
    pub fn field(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Match(MatchField::Path) | Self::TargetMissing => "path",
            Self::Match(MatchField::KnownFolder) => "known_folder",
            Self::Match(MatchField::LinkTarget) => "link_target",
            Self::NotKept { among: Some(KeepBy::Score), .. } => "score",
            Self::OlderThan | Self::NotKept { .. } => "last_access",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Id => "selected by its id",
            Self::Match(MatchField::Path) => "the path matches",
            Self::Match(MatchField::KnownFolder) => "the name of the known folder matches",
            Self::Match(MatchField::LinkTarget) => "the target of the link matches",
            Self::TargetMissing => "the target does not exist",
            Self::OlderThan => "last access is before the limit",
            Self::NotKept { among: Some(KeepBy::Recent), within: false } => "not among the most recent entries to keep",
            Self::NotKept { among: Some(KeepBy::Score), within: false } => "not among the highest scores to keep",
            Self::NotKept { among: Some(KeepBy::Recent), within: true } => {
                "not among the most recent entries to keep, and last access is before the time to keep"
            }
            Self::NotKept { among: Some(KeepBy::Score), within: true } => {
                "not among the highest scores to keep, and last access is before the time to keep"
            }
            Self::NotKept { among: None, .. } => "last access is before the time to keep",
        })
    }
}
