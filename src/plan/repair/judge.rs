//! Which entries are in the repaired list: what is right, what can be set right, what must go, and what a single link
//! still describes.

use std::collections::{HashMap, HashSet};

use super::checksum::Corrector;
use super::entries::{Draft, Gathered};
use super::links::Links;
use super::{RepairOptions, Steps};
use crate::format::compound::{Compound, FaultKind};
use crate::format::destlist::{Entry, Header, Soundness, Usage, has_rank, is_likely_access};
use crate::format::guid::Guid;
use crate::format::link::{self, Link};
use crate::format::text::Utf16;
use crate::plan::identity::{self, Agreement};
use crate::plan::ids::Ids;
use crate::plan::made_link;

/// Pins up to this place are taken for what they say.
const MOST_PINS: i32 = 4096;
/// Scores above this are taken for damage: Windows gives a point or so for a use.
const MOST_SCORE: f32 = 1e9;
/// The longest path that an entry is given, in UTF-16 units: the longest that Windows knows.
const LONGEST_PATH: usize = 32_767;
/// What an entry has that was added and opened once (measured: every one begins so).
const FIRST_SCORE: f32 = 1.0;

/// Decides the entries of the repaired list.
pub(super) struct Judge<'x, 'c> {
    pub(super) drafts: Vec<Draft<'c>>,
    pub(super) links: Links<'c>,
    pub(super) header: Header,
    pub(super) steps: &'x mut Steps,
    /// Number of entries removed from the list.
    pub(super) removed: u64,
    /// Entries that were made of a link.
    pub(super) made: u64,
    options: &'x RepairOptions,
    lossy: bool,
}

impl<'x, 'c> Judge<'x, 'c> {
    pub(super) fn new(
        gathered: &Gathered<'c>,
        links: Links<'c>,
        options: &'x RepairOptions,
        steps: &'x mut Steps,
    ) -> Self {
        let drafts = gathered.drafts.clone();
        Self { drafts, links, header: gathered.header, steps, removed: 0, made: 0, options, lossy: gathered.lossy }
    }

    /// Goes through all of it.
    pub(super) fn decide(&mut self, compound: &Compound<'_>) {
        self.drop_copies();
        self.correct();
        self.links.join(&mut self.drafts);
        self.paths();
        self.doubtful();
        self.carved();
        self.linkless();
        self.orphans(compound);
        self.ids();
        self.times_and_scores();
    }

    /// Keeps the drafts for which `keep` gives back true; the links of the others are nobody's again.
    fn retain(&mut self, mut keep: impl FnMut(&mut Draft<'c>, &mut Steps, &Links<'c>) -> bool) {
        let mut gone = 0_u64;
        let (steps, links) = (&mut *self.steps, &mut self.links);
        self.drafts.retain_mut(|draft| {
            let kept = keep(draft, steps, links);
            if !kept {
                gone = gone.saturating_add(u64::from(!draft.carved));
                if let Some(link) = draft.link {
                    links.take(link, false);
                }
            }
            kept
        });
        self.removed = self.removed.saturating_add(gone);
    }

    /// Of entries that are equal byte for byte, one is kept.
    fn drop_copies(&mut self) {
        let mut seen: HashSet<&[u8]> = HashSet::with_capacity(self.drafts.len());
        self.retain(|draft, steps, _| {
            let first = seen.insert(draft.entry.raw);
            if !first {
                steps.about(draft, "stood twice, byte for byte; the second was dropped");
            }
            first
        });
    }

    /// Sets right the entries of which one byte is damaged.
    fn correct(&mut self) {
        let mut corrector = Corrector::default();
        for draft in self.drafts.iter_mut().filter(|draft| draft.doubtful) {
            let Some((entry, correction)) = corrector.correct(&draft.entry, self.header.version) else { continue };
            draft.entry = entry;
            draft.doubtful = false;
            let what = match correction {
                Some(found) => format!(
                    "its byte {} was {:02x}; by the checksum it must be {:02x}: corrected",
                    found.at, found.was, found.is
                ),
                None => format!(
                    "a byte of its checksum was damaged: was {:016x}, put back {:016x}",
                    entry.checksum,
                    entry.computed_checksum()
                ),
            };
            self.steps.about(draft, what);
        }
    }

    fn link_of<'d>(links: &'d Links<'c>, draft: &Draft<'_>, options: &RepairOptions) -> Option<Link<'d>> {
        let found = links.all.get(draft.link?)?;
        link::parse(&found.data, options.code_page).ok()
    }

    /// A path with a NUL in it was overwritten, and one whose length was wrong may be short: the link has it too.
    fn paths(&mut self) {
        let options = self.options;
        self.retain(|draft, steps, links| {
            let whole = draft.entry.path.until_nul();
            let overwritten = draft.entry.is_path_overwritten();
            if !overwritten && !draft.bounded {
                return true;
            }
            let target = Self::link_of(links, draft, options).and_then(|link| destination(&link));
            let known = identity::key(whole);
            match target {
                Some(target) if overwritten || is_start_of_other(&identity::fold(&target), &known) => {
                    let same = identity::fold(&target) == known;
                    draft.path = (!same).then(|| utf16(&target));
                    steps.about(draft, if same { BOUNDED } else { "its path was damaged; it is now that of its link" });
                    true
                }
                _ if whole.is_empty() => {
                    steps.lost(draft, "its path is lost, and no link of it has one; dropped");
                    false
                }
                _ if overwritten => {
                    steps.about(draft, "its path was overwritten behind what is left of it");
                    draft.path = Some(whole.0.to_vec());
                    true
                }
                _ => {
                    steps.about(draft, BOUNDED);
                    true
                }
            }
        });
    }

    /// Entries whose checksum is wrong: in if what they say can be, and their link does not say otherwise.
    fn doubtful(&mut self) {
        if !self.drafts.iter().any(|draft| draft.doubtful) {
            return;
        }
        let ids: HashSet<u64> = self.drafts.iter().map(|draft| draft.entry.id).collect();
        let certain = || self.drafts.iter().filter(|draft| !draft.doubtful && draft.entry.is_pinned());
        let mut pins = certain().count();
        let mut last_pin = certain().map(|draft| draft.entry.pin).max().unwrap_or(-1);
        let claimed = usize::try_from(self.header.pinned).unwrap_or(usize::MAX);
        let keep_linkless = self.options.keep_linkless;
        self.retain(|draft, steps, links| {
            if !draft.doubtful {
                return true;
            }
            let agreement = draft.link.map(|link| links.agreement(draft, link));
            let (time, pin) = (is_likely_access(draft.entry.last_access), (-1..=MOST_PINS).contains(&draft.entry.pin));
            let score = draft.entry.score >= 0.0 && draft.entry.score <= MOST_SCORE;
            let fits = match agreement {
                Some(Agreement::Agrees) => true,
                Some(Agreement::Unknown) => time && pin && score,
                Some(Agreement::Differs) => false,
                None => keep_linkless && time && pin && score,
            };
            let was = draft.entry.checksum;
            if !fits {
                let why = match agreement {
                    None => "and it has no link",
                    Some(Agreement::Differs) => "and its link is of another destination",
                    Some(_) => "and its fields cannot be right",
                };
                steps.lost(draft, format!("its checksum is wrong ({was:016x}), {why}; dropped"));
                return false;
            }
            let mut also = Vec::new();
            let named = draft.link.and_then(|link| links.all.get(link)).and_then(|link| link.id);
            if let Some(id) = named.filter(|id| *id != draft.entry.id && !ids.contains(id)) {
                draft.entry.id = id;
                also.push(format!("its id is that of its link, {id}"));
            }
            draft.timeless = !time;
            if !pin {
                draft.entry.pin = if claimed > pins { last_pin.saturating_add(1) } else { -1 };
                let what = if claimed > pins { "pinned, at the end: the header counts one more" } else { "not pinned" };
                also.push(format!("its pin could not be; it is {what}"));
            }
            if !score {
                draft.entry.score = FIRST_SCORE;
                also.push("its score could not be, and is 1".to_owned());
            }
            if draft.entry.is_pinned() {
                pins = pins.saturating_add(1);
                last_pin = last_pin.max(draft.entry.pin);
            }
            draft.doubtful = false;
            let fits = if also.is_empty() && time { "all else fits" } else { "its link is of the same destination" };
            let also: String = also.iter().map(|what| format!("; {what}")).collect();
            steps.about(draft, format!("its checksum was wrong ({was:016x}), {fits}: computed anew{also}"));
            true
        });
    }

    /// What was found outside of the list is taken only with a link that does not contradict it.
    fn carved(&mut self) {
        if !self.drafts.iter().any(|draft| draft.carved) {
            return;
        }
        self.retain(|draft, steps, links| {
            if !draft.carved {
                return true;
            }
            let fits = draft.link.is_some_and(|link| links.agreement(draft, link) > Agreement::Differs);
            if fits {
                let at = draft.entry.offset;
                steps.about(draft, format!("was lost from the list; found by its checksum at {at} of the file"));
            }
            fits
        });
    }

    fn linkless(&mut self) {
        let keep = self.options.keep_linkless;
        self.retain(|draft, steps, _| {
            // A pin is not lost where its entry is not.
            if draft.link.is_none() && draft.entry.is_pinned() && !keep {
                draft.made_link = made_link::of_entry(&draft.finished());
                if draft.made_link.is_some() {
                    steps.about(draft, "its link is gone; as it is pinned, a plain one was made of its path and ids");
                }
            }
            let stays = draft.link.is_some() || draft.made_link.is_some() || keep;
            if !stays {
                steps.lost(draft, format!("has no link (no stream {:x} that can be read); dropped", draft.entry.id));
            }
            stays
        });
    }

    /// Links that no entry has.
    fn orphans(&mut self, compound: &Compound<'_>) {
        let mut held: HashMap<String, u64> = HashMap::new();
        let mut objects: HashMap<(Guid, Guid), u64> = HashMap::new();
        if self.links.all.iter().any(|link| !link.taken) {
            for draft in &self.drafts {
                let entry = &draft.entry;
                held.insert(draft.key(), entry.id);
                if !entry.object_id.is_zero() {
                    objects.insert((entry.volume_id, entry.object_id), entry.id);
                }
            }
        }
        // Where list and directory are whole, what nothing names was removed long ago.
        let stale = !self.lossy || !may_have_lost_names(compound);
        let mut left_out = 0_usize;
        // The last by use; none in a list that has no ranks.
        let ranked = self.drafts.iter().filter_map(|draft| draft.entry.rank()).max();
        let mut rank = ranked.map_or(-1, |last| last.saturating_add(1));
        for index in 0..self.links.all.len() {
            let Some(found) = self.links.all.get(index).filter(|found| !found.taken) else { continue };
            let (name, carved) = (found.name(), found.stream.name.is_empty());
            let object = found.facts.droid.and_then(|droid| objects.get(&droid));
            let same = found.facts.paths.iter().find_map(|path| held.get(path)).or(object).copied();
            if carved && (stale || same.is_some()) {
                left_out = left_out.saturating_add(1);
                continue;
            }
            let parsed = link::parse(&found.data, self.options.code_page).ok();
            let target = parsed.as_ref().and_then(destination);
            let shown = target.as_deref().map(|target| format!(" to {target}")).unwrap_or_default();
            if let Some(same) = same {
                self.steps.file_lost(format!("{name}{shown} had no entry, and entry {same} is of the same; dropped"));
            } else if self.options.drop_orphans {
                self.steps.file_lost(format!("{name}{shown} had no entry; dropped"));
            } else if let (Some(link), Some(target)) = (parsed, target) {
                let draft = self.made_of(&link, index, rank, &target);
                rank = if rank == -1 { -1 } else { rank.saturating_add(1) };
                held.insert(draft.key(), draft.entry.id);
                self.steps.about(
                    &draft,
                    format!("{name} had no entry: one was made of what it says (not pinned, opened once)"),
                );
                self.drafts.push(draft);
                self.links.take(index, true);
                self.made = self.made.saturating_add(1);
            } else {
                self.steps
                    .file_lost(format!("{name} had no entry, and names nothing that one could be made of; dropped"));
            }
        }
        if left_out > 0 {
            let what = if left_out == 1 { "link was".to_owned() } else { format!("{left_out} links were") };
            self.steps.aside(format!(
                "{what} found in sectors that belong to nothing, and left out: of entries that were removed"
            ));
        }
    }

    fn made_of(&self, link: &Link<'_>, index: usize, rank: i32, target: &str) -> Draft<'c> {
        let tracker = link.tracker();
        let mut host = [0; 16];
        if let Some(crate::format::text::Text::Ansi(name, _)) = tracker.and_then(|tracker| tracker.machine_id) {
            host.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
        }
        let times = [link.header.accessed, link.header.modified, link.header.created];
        let entry = Entry {
            offset: usize::MAX,
            raw: &[],
            checksum: 0,
            volume_id: tracker.map(|tracker| tracker.volume).unwrap_or_default(),
            object_id: tracker.map(|tracker| tracker.file).unwrap_or_default(),
            birth_volume_id: tracker.map(|tracker| tracker.birth_volume).unwrap_or_default(),
            birth_object_id: tracker.map(|tracker| tracker.birth_file).unwrap_or_default(),
            host,
            id: self.links.all.get(index).and_then(|found| found.id).unwrap_or(0),
            score: FIRST_SCORE,
            last_access: times.into_iter().find(|time| is_likely_access(*time)).unwrap_or_default(),
            pin: -1,
            usage: has_rank(self.header.version).then_some(Usage { rank, interactions: 1, reserved: 0 }),
            path: Utf16(&[]),
            property_store: &[],
        };
        Draft { path: Some(utf16(target)), link: Some(index), ..Draft::new(entry, Soundness::Sound) }
    }

    /// Ids, each once. The entry whose link is named by it keeps an id that several have.
    fn ids(&mut self) {
        let highest = self.drafts.iter().map(|draft| draft.entry.id).max().unwrap_or(0);
        let mut order: Vec<(bool, usize)> = Vec::with_capacity(self.drafts.len());
        for (at, draft) in self.drafts.iter().enumerate() {
            let link = draft.link.and_then(|link| self.links.all.get(link));
            let own = link.is_some_and(|link| link.id == Some(draft.entry.id));
            order.push((!own, at));
        }
        order.sort_unstable();
        let mut given = Ids::after(self.header.last_id.max(highest));
        // All that keep theirs first, so that no new one is one of those.
        let twice: Vec<usize> = order
            .into_iter()
            .map(|(_, at)| at)
            .filter(|at| !self.drafts.get(*at).is_some_and(|draft| given.keep(draft.entry.id)))
            .collect();
        for at in twice {
            let Some(draft) = self.drafts.get_mut(at) else { continue };
            let (was, now) = (draft.entry.id, given.next());
            draft.entry.id = now;
            if draft.entry.raw.is_empty() {
                self.steps.renumber(draft, was);
            } else {
                let why = if was == 0 {
                    "is none that Windows gives".to_owned()
                } else {
                    "is another entry's too".to_owned()
                };
                self.steps.about(draft, format!("its id {was} {why}; it has a new one, {now}"));
            }
        }
        if self.header.last_id < given.highest() {
            self.header.last_id = given.highest();
        }
    }

    /// Times past the year 9999 and scores that are no number, in entries whose checksum holds.
    fn times_and_scores(&mut self) {
        let known = |draft: &Draft<'_>| !draft.timeless && draft.entry.last_access.is_plausible();
        let first = self.drafts.iter().find(|draft| known(draft)).map(|draft| draft.entry.last_access);
        let mut above = first;
        for draft in &mut self.drafts {
            let was = draft.entry.last_access;
            if !known(draft) {
                let now = above.unwrap_or_default();
                draft.entry.last_access = now;
                let what = format!("its last access, {was}, cannot be; it is now that of its neighbour, {now}");
                self.steps.about(draft, what);
            }
            above = Some(draft.entry.last_access);
            if !draft.entry.score.is_finite() || draft.entry.score.abs() > MOST_SCORE {
                let was = draft.entry.score;
                draft.entry.score = FIRST_SCORE;
                self.steps.about(draft, format!("its score, {was}, cannot be; it is now {FIRST_SCORE}"));
            }
        }
    }
}

/// True if one of the two is the other's start.
fn is_start_of_other(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

const BOUNDED: &str = "a length in it was wrong; its path ends where its text does";

/// What an entry of this link has as its path. A relative path is none.
fn destination(link: &Link<'_>) -> Option<String> {
    let target = link.target().filter(|target| !target.is_empty() && !target.starts_with('.'))?;
    (target.encode_utf16().count() <= LONGEST_PATH && !target.contains('\0')).then_some(target)
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// True if names may be gone from the directory, so that a link that nothing names may still be in use.
fn may_have_lost_names(compound: &Compound<'_>) -> bool {
    let loses = |kind| {
        use FaultKind as K;
        matches!(kind, K::Header | K::Fat | K::Directory | K::Loop | K::Exchanged | K::Limit)
    };
    compound.faults.iter().any(|fault| loses(fault.kind))
}
