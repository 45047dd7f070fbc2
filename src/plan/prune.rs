//! Which entries go, and the list without them.
//!
//! What must stay right after a removal was measured (format.md): kept entries byte for byte and in their order,
//! ranks closed up, counts, total and actions brought up to date, the last id left alone. Link bytes are copied as they
//! are, so a link that cannot be read does not stop a prune, unless the new file would look damaged where the old one did
//! not.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use super::rebuild::{Part, RebuildError, rebuild};
use super::{Dropped, Plan, PlanError, Size};
use crate::format::destlist::{Entry, Header};
use crate::format::time::FileTime;
use crate::limits::Limits;
use crate::model::{Code, JumpList, Severity};

/// By what the entries to keep are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// The most recent access.
    #[default]
    Recent,
    /// The highest score.
    Score,
}

/// Whether a target is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is there.
    There,
    /// It is not, and the drive that it was on is.
    Missing,
    /// That cannot be told: it is on another machine, a drive that is not in, or no file.
    Unknown,
}

/// The rules: an entry goes if any that is given drops it. Pinned entries go only with `include_pinned`.
#[derive(Default)]
pub struct PruneRules<'r> {
    /// Keep so many of the unpinned entries (of all, with `include_pinned`), and drop the others.
    pub keep: Option<usize>,
    /// By what those to keep are chosen.
    pub by: By,
    /// Drop what was last used before this. An entry without a time stays.
    pub older_than: Option<FileTime>,
    /// Drop what has one of these ids.
    pub ids: BTreeSet<u64>,
    /// Drop the paths that this says yes to.
    pub matches: Option<&'r dyn Fn(&str) -> bool>,
    /// Drop what this says is missing.
    pub presence: Option<&'r dyn Fn(&str) -> Presence>,
    /// Let the rules drop pinned entries too.
    pub include_pinned: bool,
    /// Rewrite the file in one piece if no entry is dropped and that saves reads.
    pub compact: bool,
}

impl PruneRules<'_> {
    /// True if no rule is given, so that nothing would say what goes.
    pub fn is_empty(&self) -> bool {
        self.keep.is_none()
            && self.older_than.is_none()
            && self.ids.is_empty()
            && self.matches.is_none()
            && self.presence.is_none()
            && !self.compact
    }
}

/// Why an entry goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It was named by its id.
    Named,
    /// Its path matches.
    Match,
    /// Its target is missing.
    Missing,
    /// It was last used too long ago.
    Old,
    /// It is not among those to keep.
    BeyondKeep,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named => "named by --entry",
            Self::Match => "matches",
            Self::Missing => "target is missing",
            Self::Old => "last used too long ago",
            Self::BeyondKeep => "not among those to keep",
        })
    }
}

/// Plans a prune. `None` if no entry would be dropped and, with [`PruneRules::compact`], a rewrite would save no read.
///
/// # Errors
/// The list is damaged so that the change would make a loss final, or the new file could not be made.
pub fn prune<'c>(
    list: &'c JumpList<'c>,
    rules: &PruneRules<'_>,
    limits: &Limits,
) -> Result<Option<Plan<'c>>, PlanError> {
    super::refuse_unsupported(list)?;
    if let Some(unseen) = list.unseen().filter(|_| !rules.include_pinned) {
        return Err(PlanError::Unseen(unseen));
    }
    let Some(header) = list.header else {
        refuse_damage(list, &HashSet::new())?;
        return Ok(None);
    };
    let reasons = choose(list, rules);
    let dropped: Vec<Dropped<'_>> = list
        .entries
        .iter()
        .zip(&reasons)
        .filter_map(|(entry, reason)| {
            let dest = &entry.dest;
            reason.map(|reason| Dropped { id: dest.id, path: dest.path, pinned: dest.is_pinned(), reason })
        })
        .collect();
    // Where an id stands twice and one of the two stays, so does the link.
    let kept_ids: HashSet<u64> = list
        .entries
        .iter()
        .zip(&reasons)
        .filter(|(_, reason)| reason.is_none())
        .map(|(entry, _)| entry.dest.id)
        .collect();
    let gone: HashSet<u64> = dropped.iter().map(|dropped| dropped.id).filter(|id| !kept_ids.contains(id)).collect();
    refuse_damage(list, &gone)?;
    if dropped.is_empty() {
        return if rules.compact { compact(list, limits) } else { Ok(None) };
    }

    let kept: Vec<Entry<'_>> =
        list.entries.iter().zip(&reasons).filter(|(_, reason)| reason.is_none()).map(|(entry, _)| entry.dest).collect();
    let dest_list = without(list, &header, kept);
    let mut parts = Vec::with_capacity(list.compound.streams.len());
    for stream in &list.compound.streams {
        if list.dest_list.is_some_and(|dest_list| std::ptr::eq(dest_list, stream)) {
            parts.push(Part::new(crate::model::DEST_LIST, dest_list.as_slice()));
        } else if !stream.entry_id().is_some_and(|(id, _)| gone.contains(&id)) {
            parts.push(Part::kept(stream)?);
        }
    }
    let (bytes, after) = rebuild(&list.compound.root, &list.compound.storages, &parts, limits)?;
    refuse_new_damage(list, &bytes, limits)?;
    Ok(Some(Plan { dropped, before: Size::of(list), after, bytes }))
}

/// Plans a rewrite of the list in one piece: the same streams, byte for byte, in the same order. `None` if that saves no
/// read.
fn compact<'c>(list: &'c JumpList<'c>, limits: &Limits) -> Result<Option<Plan<'c>>, PlanError> {
    let before = Size::of(list);
    if before.cost.split_reads == 0 {
        return Ok(None);
    }
    let parts: Vec<Part<'_>> = list.compound.streams.iter().map(Part::kept).collect::<Result<_, _>>()?;
    let (bytes, after) = rebuild(&list.compound.root, &list.compound.storages, &parts, limits)?;
    refuse_new_damage(list, &bytes, limits)?;
    let saves = after.cost.reads < before.cost.reads;
    Ok(saves.then_some(Plan { dropped: Vec::new(), before, after, bytes }))
}

/// For each entry, why it goes, if it does.
fn choose(list: &JumpList<'_>, rules: &PruneRules<'_>) -> Vec<Option<Reason>> {
    let beyond = beyond_keep(list, rules);
    let reason = |(position, entry): (usize, &crate::model::Entry<'_>)| {
        let dest = &entry.dest;
        if dest.is_pinned() && !rules.include_pinned {
            return None;
        }
        let path = || dest.path.to_string();
        if rules.ids.contains(&dest.id) {
            Some(Reason::Named)
        } else if rules.matches.is_some_and(|matches| matches(&path())) {
            Some(Reason::Match)
        } else if rules.presence.is_some_and(|presence| presence(&path()) == Presence::Missing) {
            Some(Reason::Missing)
        } else if rules.older_than.is_some_and(|limit| dest.last_access.0 != 0 && dest.last_access < limit) {
            Some(Reason::Old)
        } else if beyond.contains(&position) {
            Some(Reason::BeyondKeep)
        } else {
            None
        }
    };
    list.entries.iter().enumerate().map(reason).collect()
}

/// Positions of the entries past the number to keep.
fn beyond_keep(list: &JumpList<'_>, rules: &PruneRules<'_>) -> HashSet<usize> {
    let Some(keep) = rules.keep else { return HashSet::new() };
    let entries = list.entries.iter().map(|entry| &entry.dest).enumerate();
    let mut order: Vec<_> = entries.filter(|(_, dest)| rules.include_pinned || !dest.is_pinned()).collect();
    order.sort_by(|(_, a), (_, b)| {
        let newer = b.last_access.cmp(&a.last_access);
        match rules.by {
            By::Recent => newer,
            By::Score => b.score.total_cmp(&a.score).then(newer),
        }
    });
    order.into_iter().skip(keep).map(|(position, _)| position).collect()
}

/// The DestList with only the entries that are kept.
fn without(list: &JumpList<'_>, header: &Header, kept: Vec<Entry<'_>>) -> Vec<u8> {
    let removed = list.entries.len().saturating_sub(kept.len());
    let pinned = kept.iter().filter(|entry| entry.is_pinned()).count();
    let header = Header {
        count: u32::try_from(kept.len()).unwrap_or(u32::MAX),
        pinned: u32::try_from(pinned).unwrap_or(u32::MAX),
        total: total_after(list, header, &kept, removed),
        actions: header.actions.saturating_add(removed as u64),
        ..*header
    };
    let mut out = Vec::new();
    header.encode(&mut out);
    for entry in close_ranks(kept) {
        entry.encode(&mut out);
    }
    out
}

/// The total score of what is kept (measured, format.md). Format 2 is not among the files that were measured: its total
/// goes by the rule that it fits before.
fn total_after(list: &JumpList<'_>, header: &Header, kept: &[Entry<'_>], removed: usize) -> f32 {
    // The sum of no numbers is -0.0.
    let sum = |entries: &mut dyn Iterator<Item = f32>| entries.map(f64::from).sum::<f64>() + 0.0;
    let before = sum(&mut list.entries.iter().map(|entry| entry.dest.score));
    let is_sum = header.version >= 3
        || (header.version == 2 && (f64::from(header.total) - before).abs() <= 1e-3 * before.abs().max(1.0));
    if is_sum {
        sum(&mut kept.iter().map(|entry| entry.score)) as f32
    } else {
        (header.total - removed as f32).max(0.0)
    }
}

/// Ranks of the entries, closed up to 0..n-1 in their old order; -1 is left alone.
pub(super) fn close_ranks(mut entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let mut ranked: Vec<_> = entries.iter_mut().filter(|entry| entry.rank().is_some()).collect();
    ranked.sort_by_key(|entry| entry.rank());
    for (entry, rank) in ranked.into_iter().zip(0_i32..) {
        if let Some(usage) = &mut entry.usage {
            usage.rank = rank;
        }
    }
    entries
}

/// Refuses a list whose damage a change would make final: what could not be read would be gone from the new file.
/// What is wrong only with an entry that goes anyway does not count.
fn refuse_damage(list: &JumpList<'_>, gone: &HashSet<u64>) -> Result<(), PlanError> {
    let stops = |code: Code| {
        let container = code < Code::Count && code.severity() == Severity::Error;
        container
            || matches!(code, Code::Checksum | Code::DuplicateId | Code::EntryCut | Code::Version | Code::NoDestList)
    };
    let found = list.structural_findings();
    let stop =
        found.iter().find(|finding| stops(finding.code) && !finding.entry_id.is_some_and(|id| gone.contains(&id)));
    match stop {
        Some(finding) => Err(PlanError::Damaged(format!("{}: {}", finding.code, finding.message))),
        None => Ok(()),
    }
}

/// Refuses a plan whose result has an error that its source has not: what is damaged inside can be taken for something
/// else where it stands alone, or between other neighbours.
fn refuse_new_damage(list: &JumpList<'_>, bytes: &[u8], limits: &Limits) -> Result<(), PlanError> {
    let compound = crate::salvage::read(bytes, limits).map_err(|short| RebuildError::Differs(short.to_string()))?;
    let errors = |list: &JumpList<'_>| {
        list.structural_findings().into_iter().filter(|finding| finding.severity() == Severity::Error)
    };
    let mut new = errors(&JumpList::read(&compound));
    let had: HashSet<(Code, Option<u64>)> = errors(list).map(|finding| (finding.code, finding.entry_id)).collect();
    match new.find(|finding| !had.contains(&(finding.code, finding.entry_id))) {
        Some(finding) => {
            Err(PlanError::Damaged(format!("without these entries, {}: {}", finding.code, finding.message)))
        }
        None => Ok(()),
    }
}
