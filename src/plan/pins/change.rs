//! Changes to the pins of one list: added, removed, in another order.
//!
//! Entries that are not concerned stay byte for byte, as do their links and every other stream. Ids, ranks, counts, total
//! and actions follow what was measured (docs/format.md).

use std::collections::{HashMap, HashSet};

use super::carry::{self, NewPin};
use super::file::StoredPin;
use crate::appid::AppId;
use crate::format::compound::Root;
use crate::format::destlist::{Entry, Header, has_rank, total};
use crate::format::link;
use crate::format::text::CodePage;
use crate::format::time::FileTime;
use crate::limits::Limits;
use crate::model::{AutomaticList, DEST_LIST, PROPERTY_STORE};
use crate::plan::dest_list::{close_ranks, encode};
use crate::plan::ids::Ids;
use crate::plan::prune::{refuse_damage, refuse_new_damage};
use crate::plan::rebuild::{Part, RebuildError, rebuild};
use crate::plan::{PlanError, Size, Step, identity, refuse_unsupported};

/// From this format version on, a list has its own property store, which is empty in every real file (measured).
const FIRST_WITH_PROPERTY_STORE: u32 = 6;
/// Explorer's list, the only one with ranks, and the first version that has them (measured).
const EXPLORER: &str = "Microsoft.Windows.Explorer";

/// A change of the pins of a list, ready to be written.
#[derive(Debug)]
#[must_use]
pub struct PinPlan {
    /// What is done, as text.
    pub steps: Vec<Step>,
    /// Ids that were named and have no pinned entry.
    pub not_pinned: Vec<u64>,
    /// The list before the change; `None` if there is none.
    pub before: Option<Size>,
    /// The list after it; the same as `before` if nothing changes.
    pub after: Option<Size>,
    /// The new file, checked; `None` if nothing changes.
    pub bytes: Option<Vec<u8>>,
}

/// Where a list is made if there is none, or one without a DestList.
#[derive(Debug, Clone, Copy)]
pub struct NewList {
    /// Its application.
    pub app_id: AppId,
    /// Its format version: 1 to 6.
    pub version: u32,
}

/// The pins of a list in their order.
///
/// # Errors
/// As [`add_pins`] for a list that is damaged so that pins may be missing.
pub fn stored_pins(list: &AutomaticList<'_>, code_page: CodePage) -> Result<Vec<StoredPin>, PlanError> {
    refuse_unsound(list)?;
    let mut entries: Vec<_> = list.entries.iter().filter(|entry| entry.dest.is_pinned()).collect();
    entries.sort_by_key(|entry| entry.dest.pin);
    let stored = entries.into_iter().map(|entry| {
        let dest = &entry.dest;
        let link = entry.link.map(|stream| stream.data.as_ref());
        StoredPin {
            path: dest.path.0.to_vec(),
            link: link.filter(|link| link::parse(link, code_page).is_ok()).map(<[u8]>::to_vec),
            last_access: dest.last_access,
            score: if dest.score.is_finite() { dest.score.max(0.0) } else { 0.0 },
            interactions: dest.usage.map_or(1, |usage| usage.interactions),
            host: dest.host,
            droids: [dest.volume_id, dest.object_id, dest.birth_volume_id, dest.birth_object_id],
            property_store: dest.property_store.to_vec(),
        }
    });
    Ok(stored.collect())
}

/// Plans that these pins are added, behind the pins that are there or, with `at`, from that place on. A path that is
/// pinned already stays where it is, unless `at` is given; one that is listed is pinned; any other becomes an entry.
///
/// # Errors
/// [`PlanError::Damaged`] and [`PlanError::Unseen`] if the list is damaged so that the change would make a loss final;
/// [`PlanError::Rebuild`] if the new file could not be built.
pub fn add_pins<'c>(
    list: Option<&'c AutomaticList<'c>>,
    pins: &'c [NewPin],
    at: Option<usize>,
    new: NewList,
    limits: &Limits,
) -> Result<PinPlan, PlanError> {
    let mut editor = Editor::new(list, new)?;
    let mut place = at;
    for pin in pins {
        editor.add(pin, place);
        place = place.map(|place| place.saturating_add(1));
    }
    editor.finish(limits)
}

/// Plans that the entries with these ids, or those that `selects` names, are no longer pinned. With `drops`, they are
/// dropped.
///
/// # Errors
/// As [`add_pins`].
pub fn remove_pins<'c>(
    list: &'c AutomaticList<'c>,
    ids: &[u64],
    selects: &dyn Fn(&crate::model::Entry<'_>) -> bool,
    drops: bool,
    limits: &Limits,
) -> Result<PinPlan, PlanError> {
    let mut editor = Editor::of(list)?;
    let selected = list.entries.iter().filter(|entry| entry.dest.is_pinned() && selects(entry));
    let selected: HashSet<u64> = selected.map(|entry| entry.dest.id).chain(ids.iter().copied()).collect();
    editor.not_pinned = ids.iter().copied().filter(|id| !editor.is_pinned(*id)).collect();
    editor.remove(&selected, drops);
    editor.finish(limits)
}

/// Plans another order: the pins with these ids come first, the others follow in the order that they have.
///
/// # Errors
/// As [`add_pins`].
pub fn reorder_pins<'c>(list: &'c AutomaticList<'c>, ids: &[u64], limits: &Limits) -> Result<PinPlan, PlanError> {
    let mut editor = Editor::of(list)?;
    editor.not_pinned = ids.iter().copied().filter(|id| !editor.is_pinned(*id)).collect();
    let before = editor.pinned.clone();
    let place = |at: &usize| {
        let id = editor.drafts.get(*at).map(|draft| draft.entry.id);
        ids.iter().position(|known| Some(*known) == id).unwrap_or(usize::MAX)
    };
    let mut order = before.clone();
    order.sort_by_key(place);
    editor.pinned = order;
    for (number, (at, was)) in editor.pinned.clone().into_iter().zip(before).enumerate() {
        if at != was {
            editor.report(at, format!("is now pin {number}"), false);
        }
    }
    editor.finish(limits)
}

/// Refuses a list that a change would lose something of.
fn refuse_unsound(list: &AutomaticList<'_>) -> Result<(), PlanError> {
    refuse_unsupported(list)?;
    if let Some(unseen) = list.unseen() {
        return Err(PlanError::Unseen(unseen));
    }
    refuse_damage(list, &HashSet::new())
}

/// An entry of the list that is being made.
#[derive(Debug, Clone, Copy)]
struct Draft<'c> {
    entry: Entry<'c>,
    /// The link of an entry that is new.
    link: Option<&'c [u8]>,
    dropped: bool,
}

struct Editor<'c> {
    list: Option<&'c AutomaticList<'c>>,
    header: Header,
    /// Entries in the order of the list, then those that are added.
    drafts: Vec<Draft<'c>>,
    /// The pinned ones in their order, by their place in `drafts`.
    pinned: Vec<usize>,
    by_path: HashMap<String, usize>,
    ids: Ids,
    /// The rank of the next entry, if the list has ranks.
    next_rank: Option<i32>,
    steps: Vec<Step>,
    not_pinned: Vec<u64>,
    added: usize,
    dropped: usize,
}

impl<'c> Editor<'c> {
    /// For a list that has entries.
    fn of(list: &'c AutomaticList<'c>) -> Result<Self, PlanError> {
        Self::new(Some(list), NewList { app_id: AppId(0), version: list.version().unwrap_or(1) })
    }

    fn new(list: Option<&'c AutomaticList<'c>>, new: NewList) -> Result<Self, PlanError> {
        if let Some(list) = list {
            refuse_unsound(list)?;
        }
        let empty = Header { version: new.version, count: 0, pinned: 0, total: 0.0, last_id: 0, actions: 0 };
        let header = list.and_then(|list| list.header).unwrap_or(empty);
        if !header.is_known_version() {
            return Err(PlanError::UnsupportedVersion(header.version));
        }
        let entries = list.map(|list| list.entries.as_slice()).unwrap_or_default();
        let drafts: Vec<_> =
            entries.iter().map(|entry| Draft { entry: entry.dest, link: None, dropped: false }).collect();
        let mut ids = Ids::after(header.last_id);
        let mut by_path = HashMap::new();
        for (at, draft) in drafts.iter().enumerate() {
            ids.keep(draft.entry.id);
            // Of two entries of one path, the one that is pinned.
            let known = by_path.entry(identity::key(draft.entry.path)).or_insert(at);
            if draft.entry.is_pinned() && drafts.get(*known).is_some_and(|known| !known.entry.is_pinned()) {
                *known = at;
            }
        }
        let mut pinned: Vec<usize> =
            drafts.iter().enumerate().filter(|(_, draft)| draft.entry.is_pinned()).map(|(at, _)| at).collect();
        pinned.sort_by_key(|at| drafts.get(*at).map(|draft| draft.entry.pin));
        let last_rank = drafts.iter().filter_map(|draft| draft.entry.rank()).max();
        let is_ranked = drafts.is_empty() && new.app_id == AppId::of(EXPLORER) && has_rank(header.version);
        let next_rank = last_rank.map(|rank| rank.saturating_add(1)).or(is_ranked.then_some(0));
        let (steps, not_pinned) = (Vec::new(), Vec::new());
        Ok(Self { list, header, drafts, pinned, by_path, ids, next_rank, steps, not_pinned, added: 0, dropped: 0 })
    }

    fn is_pinned(&self, id: u64) -> bool {
        self.drafts.iter().any(|draft| draft.entry.id == id && draft.entry.is_pinned())
    }

    fn report(&mut self, at: usize, what: String, lost: bool) {
        let Some(draft) = self.drafts.get(at) else { return };
        self.steps.push(Step {
            what,
            entry_id: Some(draft.entry.id),
            path: Some(draft.entry.path.to_string()),
            pinned: true,
            lost,
        });
    }

    fn add(&mut self, pin: &'c NewPin, place: Option<usize>) {
        let key = identity::key(crate::format::text::Utf16(&pin.stored.path));
        let known = self.by_path.get(&key).copied();
        let was = known.and_then(|at| self.pinned.iter().position(|pinned| *pinned == at));
        let place = match (was, place) {
            (Some(_), None) => return,
            (Some(was), Some(place)) => {
                let place = place.min(self.pinned.len().saturating_sub(1));
                if place == was {
                    return;
                }
                self.pinned.remove(was);
                place
            }
            (None, place) => place.unwrap_or(usize::MAX).min(self.pinned.len()),
        };
        let (at, what) = match known {
            Some(at) if was.is_some() => (at, format!("is now pin {place}")),
            Some(at) => (at, format!("was listed, is now pin {place}")),
            None => {
                let at = self.drafts.len();
                let draft = self.draft_of(pin);
                self.drafts.push(draft);
                self.by_path.insert(key, at);
                self.added = self.added.saturating_add(1);
                let notes: String = pin.notes.iter().map(|note| format!("; {note}")).collect();
                (at, format!("added as pin {place}{notes}"))
            }
        };
        self.pinned.insert(place, at);
        self.report(at, what, false);
    }

    fn draft_of(&mut self, pin: &'c NewPin) -> Draft<'c> {
        let mut entry = carry::entry(&pin.stored, self.ids.next(), has_rank(self.header.version));
        if let (Some(usage), Some(rank)) = (&mut entry.usage, self.next_rank) {
            usage.rank = rank;
            self.next_rank = Some(rank.saturating_add(1));
        }
        Draft { entry, link: Some(&pin.link), dropped: false }
    }

    fn remove(&mut self, ids: &HashSet<u64>, drops: bool) {
        let drafts = &self.drafts;
        let is_it = |at: &usize| drafts.get(*at).is_some_and(|draft| ids.contains(&draft.entry.id));
        let (gone, kept): (Vec<usize>, Vec<usize>) = self.pinned.iter().copied().partition(is_it);
        self.pinned = kept;
        for at in gone {
            let what = if drops { "is no longer pinned, and dropped" } else { "is no longer pinned" };
            self.report(at, what.to_owned(), drops);
            if let Some(draft) = self.drafts.get_mut(at) {
                draft.dropped = drops;
                draft.entry.pin = -1;
                self.dropped = self.dropped.saturating_add(usize::from(drops));
            }
        }
    }

    fn finish(mut self, limits: &Limits) -> Result<PinPlan, PlanError> {
        let before = self.list.map(Size::of);
        let mut plan = PinPlan {
            steps: std::mem::take(&mut self.steps),
            not_pinned: std::mem::take(&mut self.not_pinned),
            before,
            after: before,
            bytes: None,
        };
        if plan.steps.is_empty() {
            return Ok(plan);
        }
        for (number, at) in (0_i32..).zip(&self.pinned) {
            if let Some(draft) = self.drafts.get_mut(*at) {
                draft.entry.pin = number;
            }
        }
        let root = self.list.map_or_else(|| self.new_root(), |list| list.compound.root);
        let storages = self.list.map(|list| list.compound.storages.as_slice()).unwrap_or_default();
        let parts = self.parts()?;
        let (bytes, after) = rebuild(&root, storages, &parts, limits)?;
        self.verify(&bytes, limits)?;
        (plan.after, plan.bytes) = (Some(after), Some(bytes));
        Ok(plan)
    }

    /// The root of a new list: changed when its newest entry was.
    fn new_root(&self) -> Root {
        let newest = self.drafts.iter().map(|draft| draft.entry.last_access).max();
        Root { modified: newest.unwrap_or(FileTime(0)), ..Root::default() }
    }

    /// Entries in the order of the new list: the last used first, the old ones in the order that they had.
    fn entries(&self) -> Vec<Entry<'c>> {
        let old = self.drafts.iter().filter(|draft| draft.link.is_none() && !draft.dropped);
        let mut entries: Vec<Entry<'c>> = old.map(|draft| draft.entry).collect();
        for draft in self.drafts.iter().filter(|draft| draft.link.is_some()) {
            let older = |entry: &Entry<'_>| entry.last_access < draft.entry.last_access;
            let at = entries.iter().position(older).unwrap_or(entries.len());
            entries.insert(at, draft.entry);
        }
        if self.dropped > 0 { close_ranks(entries) } else { entries }
    }

    fn dest_list(&self) -> Vec<u8> {
        let entries = self.entries();
        let header = Header {
            total: self.total(&entries),
            last_id: self.header.last_id.max(if self.added > 0 { self.ids.highest() } else { 0 }),
            actions: self.header.actions.saturating_add(self.added as u64).saturating_add(self.dropped as u64),
            ..self.header
        };
        // The checksum covers the pin. A list with a checksum that does not hold was refused.
        let checked = |entry: Entry<'c>| Entry { checksum: entry.computed_checksum(), ..entry };
        encode(header, &entries.into_iter().map(checked).collect::<Vec<_>>())
    }

    fn total(&self, entries: &[Entry<'_>]) -> f32 {
        if self.added == 0 && self.dropped == 0 {
            return self.header.total;
        }
        let old = self.drafts.iter().filter(|draft| draft.link.is_none()).map(|draft| &draft.entry);
        let (before, after) = (total::sum_of_scores(old), total::sum_of_scores(entries));
        total::after(&self.header, &total::Change { before, after, added: self.added, removed: self.dropped })
    }

    fn parts(&self) -> Result<Vec<Part<'c>>, RebuildError> {
        let mut dest_list = Some(self.dest_list());
        let mut parts = Vec::with_capacity(self.drafts.len().saturating_add(2));
        // Two entries can have one id: the link stays while one of them does.
        let kept: HashSet<u64> =
            self.drafts.iter().filter(|draft| !draft.dropped).map(|draft| draft.entry.id).collect();
        let dropped = self.drafts.iter().filter(|draft| draft.dropped).map(|draft| draft.entry.id);
        let dropped: HashSet<u64> = dropped.filter(|id| !kept.contains(id)).collect();
        if self.list.is_none_or(|list| list.dest_list.is_none()) {
            parts.extend(dest_list.take().map(|bytes| Part::new(DEST_LIST, bytes)));
        }
        if let Some(list) = self.list {
            for stream in &list.compound.streams {
                if list.dest_list.is_some_and(|dest_list| std::ptr::eq(dest_list, stream)) {
                    parts.extend(dest_list.take().map(|bytes| Part::new(DEST_LIST, bytes)));
                } else if !stream.entry_id().is_some_and(|(id, _)| dropped.contains(&id)) {
                    parts.push(Part::kept(stream)?);
                }
            }
        }
        for draft in &self.drafts {
            parts.extend(draft.link.map(|link| Part::new(draft.entry.stream_name(), link)));
        }
        if self.list.is_none() && self.header.version >= FIRST_WITH_PROPERTY_STORE {
            parts.push(Part::new(PROPERTY_STORE, vec![0; 4]));
        }
        Ok(parts)
    }

    /// Reads the new file again: its pins are those of the plan, and it has no error that the old one has not.
    fn verify(&self, bytes: &[u8], limits: &Limits) -> Result<(), PlanError> {
        let differs = |what: String| PlanError::Rebuild(RebuildError::Differs(what));
        let compound = crate::salvage::read(bytes, limits).map_err(|short| differs(short.to_string()))?;
        let new = AutomaticList::read(&compound);
        let mut pinned: Vec<_> = new.entries.iter().filter(|entry| entry.dest.is_pinned()).collect();
        pinned.sort_by_key(|entry| entry.dest.pin);
        let planned = self.pinned.iter().filter_map(|at| self.drafts.get(*at)).map(|draft| draft.entry.id);
        if !pinned.iter().map(|entry| entry.dest.id).eq(planned) {
            return Err(differs("the pins are others".to_owned()));
        }
        match self.list {
            Some(list) => refuse_new_damage(list, bytes, limits),
            None => match new.structural_findings().first() {
                Some(finding) => Err(differs(format!("{}: {}", finding.code, finding.message))),
                None => Ok(()),
            },
        }
    }
}
