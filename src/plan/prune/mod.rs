//! Removes entries from a list.
//!
//! What a removal changes was measured (docs/format.md): kept entries stay byte for byte and in their order; ranks, counts,
//! total score and action count follow; the last id stays. Link bytes are copied unchanged, so that a link that cannot be
//! read does not stop a prune.

mod rules;

use std::collections::HashSet;

pub use rules::{DropReason, KeepBy, MatchField, PruneRules, TargetStatus};

use super::dest_list::{close_ranks, encode};
use super::rebuild::{Part, RebuildError, rebuild};
use super::{Plan, PlanError, SelectedEntry, Size};
use crate::format::destlist::{self, Header, total};
use crate::limits::Limits;
use crate::model::{AutomaticList, Code, Severity};

/// Plans a prune. [`Plan::bytes`] is `None` if no entry is dropped and, with [`PruneRules::compact`], a rewrite would not
/// save a read.
///
/// # Errors
/// [`PlanError::Damaged`] and [`PlanError::Unseen`] if the list is damaged so that the change would make a loss final;
/// [`PlanError::Rebuild`] if the new file could not be built.
pub fn prune<'c>(list: &'c AutomaticList<'c>, rules: &PruneRules<'_>, limits: &Limits) -> Result<Plan<'c>, PlanError> {
    super::refuse_unsupported(list)?;
    if let Some(unseen) = list.unseen().filter(|_| !rules.include_pinned) {
        return Err(PlanError::Unseen(unseen));
    }
    let selection = Selection::of(list, rules);
    // Two entries can have one id: the link stays while one of them does.
    let kept_ids: HashSet<u64> = selection.kept.iter().map(|entry| entry.id).collect();
    let dropped_ids = selection.dropped.iter().map(|entry| entry.id);
    let dropped_ids: HashSet<u64> = dropped_ids.filter(|id| !kept_ids.contains(id)).collect();
    refuse_damage(list, &dropped_ids)?;
    let parts = match list.header {
        Some(header) if !selection.dropped.is_empty() => {
            Some(parts_without(list, &dropped_ids, without(list, &header, selection.kept))?)
        }
        _ if rules.compact && Size::of(list).cost.split_reads > 0 => {
            Some(list.compound.streams.iter().map(Part::kept).collect::<Result<_, _>>()?)
        }
        _ => None,
    };
    let before = Size::of(list);
    let mut plan = Plan {
        dropped: selection.dropped,
        kept_pins: selection.kept_pins,
        unknown_ids: selection.unknown_ids,
        before,
        after: before,
        bytes: None,
    };
    if let Some(parts) = parts {
        let (bytes, after) = rebuild(&list.compound.root, &list.compound.storages, &parts, limits)?;
        refuse_new_damage(list, &bytes, limits)?;
        if !plan.dropped.is_empty() || after.cost.reads < before.cost.reads {
            (plan.after, plan.bytes) = (after, Some(bytes));
        }
    }
    Ok(plan)
}

/// The streams of the file without the links of these entries, and with this DestList.
fn parts_without<'c>(
    list: &'c AutomaticList<'c>,
    dropped_ids: &HashSet<u64>,
    dest_list: Vec<u8>,
) -> Result<Vec<Part<'c>>, RebuildError> {
    let mut dest_list = Some(dest_list);
    let mut parts = Vec::with_capacity(list.compound.streams.len());
    for stream in &list.compound.streams {
        if list.dest_list.is_some_and(|dest_list| std::ptr::eq(dest_list, stream)) {
            parts.extend(dest_list.take().map(|bytes| Part::new(crate::model::DEST_LIST, bytes)));
        } else if !stream.entry_id().is_some_and(|(id, _)| dropped_ids.contains(&id)) {
            parts.push(Part::kept(stream)?);
        }
    }
    Ok(parts)
}

/// The entries of a list, as the rules divide them.
#[derive(Debug, Default)]
struct Selection<'c> {
    dropped: Vec<SelectedEntry<'c>>,
    kept: Vec<destlist::Entry<'c>>,
    kept_pins: Vec<SelectedEntry<'c>>,
    unknown_ids: Vec<u64>,
}

impl<'c> Selection<'c> {
    fn of(list: &'c AutomaticList<'c>, rules: &PruneRules<'_>) -> Self {
        let mut selection = Self::default();
        for (entry, not_kept) in list.entries.iter().zip(rules.not_kept(&list.entries)) {
            let reason = rules.drop_reason(entry);
            let is_protected = entry.dest.is_pinned() && !rules.include_pinned;
            match reason.or(not_kept) {
                Some(reason) if !is_protected => selection.dropped.push(SelectedEntry::new(&entry.dest, reason)),
                _ => {
                    selection.kept.push(entry.dest);
                    selection.kept_pins.extend(reason.map(|reason| SelectedEntry::new(&entry.dest, reason)));
                }
            }
        }
        let ids: HashSet<u64> = list.entries.iter().map(|entry| entry.dest.id).collect();
        selection.unknown_ids = rules.ids.iter().copied().filter(|id| !ids.contains(id)).collect();
        selection
    }
}

/// The DestList with only the entries that are kept.
fn without(list: &AutomaticList<'_>, header: &Header, kept: Vec<destlist::Entry<'_>>) -> Vec<u8> {
    let removed = list.entries.len().saturating_sub(kept.len());
    let before = total::sum_of_scores(list.entries.iter().map(|entry| &entry.dest));
    let change = total::Change { before, after: total::sum_of_scores(&kept), added: 0, removed };
    let total = total::after(header, &change);
    let header = Header { total, actions: header.actions.saturating_add(removed as u64), ..*header };
    encode(header, &close_ranks(kept))
}

/// Refuses a list whose damage a change would make final: what could not be read would be gone from the new file.
/// What is wrong only with an entry that goes anyway does not count.
pub(super) fn refuse_damage(list: &AutomaticList<'_>, gone: &HashSet<u64>) -> Result<(), PlanError> {
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
/// else because its neighbours changed.
pub(super) fn refuse_new_damage(list: &AutomaticList<'_>, bytes: &[u8], limits: &Limits) -> Result<(), PlanError> {
    let compound = crate::salvage::read(bytes, limits).map_err(|short| RebuildError::Differs(short.to_string()))?;
    let errors = |list: &AutomaticList<'_>| {
        list.structural_findings().into_iter().filter(|finding| finding.severity() == Severity::Error)
    };
    let mut new = errors(&AutomaticList::read(&compound));
    let had: HashSet<(Code, Option<u64>)> = errors(list).map(|finding| (finding.code, finding.entry_id)).collect();
    match new.find(|finding| !had.contains(&(finding.code, finding.entry_id))) {
        Some(finding) => {
            Err(PlanError::Damaged(format!("without these entries, {}: {}", finding.code, finding.message)))
        }
        None => Ok(()),
    }
}
