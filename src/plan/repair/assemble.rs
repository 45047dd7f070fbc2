//! The repaired list as it is written: pins, order, ranks and header of the entries that are in it, and every stream.

use std::collections::HashSet;

use super::Steps;
use super::entries::{Draft, Gathered};
use super::judge::Judge;
use super::links::{Links, Role};
use crate::format::compound::{Compound, Recovery, Stream};
use crate::format::destlist::{Header, find_entries, has_rank, total};
use crate::model::{DEST_LIST, PROPERTY_STORE, is_nearly};
use crate::plan::dest_list::{close_ranks, encode};
use crate::plan::rebuild::Part;

/// What is in the property store of a list when it is empty (measured).
const EMPTY_STORE: [u8; 4] = [0; 4];
/// The longest name that a stream can have, in UTF-16 units (MS-CFB 2.6.1).
const LONGEST_NAME: usize = 31;

/// Reports what of the header does not fit the entries that were found, before any is dropped or made.
pub(super) fn compare_header(gathered: &Gathered<'_>, steps: &mut Steps) {
    let Some(claimed) = gathered.claimed else {
        if gathered.stream.is_some_and(|stream| !stream.data.is_empty()) {
            steps.file("the header of the DestList is truncated; rebuilt from its entries");
        }
        return;
    };
    let found = gathered.drafts.iter().filter(|draft| !draft.carved);
    let count = found.clone().count();
    let pinned = found.clone().filter(|draft| draft.entry.is_pinned()).count();
    if gathered.header_made {
        steps.file("the header of the DestList was invalid; its invalid fields were rebuilt from its entries");
    }
    if claimed.version != gathered.header.version {
        let (was, now) = (claimed.version, gathered.header.version);
        steps.file(format!("the header gave format version {was}; its entries are those of version {now}"));
    }
    if claimed.count as usize != count {
        steps.file(format!("the header counted {} entries, there are {count}", claimed.count));
    }
    if claimed.pinned as usize != pinned {
        steps.file(format!("the header counted {} pinned entries, there are {pinned}", claimed.pinned));
    }
    let sum = total::sum_of_scores(found.clone().map(|draft| &draft.entry));
    if !total::is_right(&claimed, sum) {
        steps.file(format!("the total score was {}, which it cannot be; computed anew", claimed.total));
    }
    let highest = found.clone().map(|draft| draft.entry.id).max().unwrap_or(0);
    if claimed.last_id < highest {
        steps.file(format!(
            "the last id given was {}, below an id in use; it is now {highest} or more",
            claimed.last_id
        ));
    }
    if gathered.unread > 0 {
        steps.file_lost(format!("{} bytes of the DestList are no entry that could be read; dropped", gathered.unread));
    }
}

/// The bytes of the DestList. Changes pins, order and ranks where they must.
pub(super) fn dest_list(judge: &mut Judge<'_, '_>, before: &[Draft<'_>]) -> Vec<u8> {
    let version = judge.header.version;
    number_pins(&mut judge.drafts, judge.steps);
    order(&mut judge.drafts, judge.steps);
    let ranks = |drafts: &[Draft<'_>]| {
        let mut ranks: Vec<i32> = drafts.iter().filter_map(|draft| draft.entry.rank()).collect();
        ranks.sort_unstable();
        ranks
    };
    if has_rank(version) && ranks(before).iter().zip(0_i32..).any(|(rank, place)| *rank != place) {
        judge.steps.file("the ranks by use were not 0 to n-1, each once; closed up in their order");
    }
    let header = Header {
        total: total_score(judge, before),
        // An entry that was made was added, and opened once (measured, docs/format.md).
        actions: judge.header.actions.saturating_add(judge.removed).saturating_add(judge.made.saturating_mul(2)),
        ..judge.header
    };
    encode(header, &close_ranks(judge.drafts.iter().map(Draft::finished).collect()))
}

/// The total score of the repaired list.
fn total_score(judge: &Judge<'_, '_>, before: &[Draft<'_>]) -> f32 {
    let sum = |drafts: &[Draft<'_>]| total::sum_of_scores(drafts.iter().map(|draft| &draft.entry));
    let (was, after) = (judge.header.total, sum(&judge.drafts));
    let unchanged = judge.removed == 0 && judge.made == 0;
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (added, removed) = (count(judge.made), count(judge.removed));
    // Windows adds up 32-bit floats: its sum is not ours to the last digit.
    if unchanged && total::is_sum(was, after) {
        was
    } else if total::is_in_range(was) {
        total::after(&judge.header, &total::Change { before: sum(before), after, added, removed })
    } else {
        total::of_entries(judge.header.version, after, judge.drafts.len())
    }
}

/// Two entries in one place among the pinned: all pinned are numbered again, in their order; of two in one place the one
/// that was used later is first.
fn number_pins(drafts: &mut [Draft<'_>], steps: &mut Steps) {
    let mut places = HashSet::new();
    if drafts.iter().filter(|draft| draft.entry.is_pinned()).all(|draft| places.insert(draft.entry.pin)) {
        return;
    }
    let mut pinned: Vec<_> = drafts.iter_mut().filter(|draft| draft.entry.is_pinned()).collect();
    pinned.sort_by_key(|draft| (draft.entry.pin, std::cmp::Reverse(draft.entry.last_access)));
    for (draft, place) in pinned.into_iter().zip(0_i32..) {
        let was = std::mem::replace(&mut draft.entry.pin, place);
        if was != place {
            steps.about(draft, format!("two were pinned in one place; its place is now {place}, was {was}"));
        }
    }
}

fn order(drafts: &mut [Draft<'_>], steps: &mut Steps) {
    let listed = |draft: &&Draft<'_>| !draft.carved && !draft.entry.raw.is_empty();
    let times: Vec<_> = drafts.iter().filter(listed).map(|draft| draft.entry.last_access).collect();
    let wrong = times.windows(2).filter(|pair| matches!(pair, [a, b] if a < b)).count();
    if wrong > 0 {
        let entries = if wrong == 1 { "1 entry".to_owned() } else { format!("{wrong} entries") };
        steps.file(format!("{entries} stood before one that was used later; put in order"));
    }
    drafts.sort_by_key(|draft| std::cmp::Reverse(draft.entry.last_access));
}

/// The streams of the new file, in the order of the old one.
pub(super) fn parts<'c>(compound: &'c Compound<'c>, judge: Judge<'_, 'c>, dest_list: Option<Vec<u8>>) -> Vec<Part<'c>> {
    let Judge { drafts, links, steps, .. } = judge;
    let Links { all, roles, .. } = links;
    let mut owners: Vec<Option<&Draft<'_>>> = vec![None; all.len()];
    for draft in &drafts {
        if let Some(owner) = draft.link.and_then(|link| owners.get_mut(link)) {
            *owner = Some(draft);
        }
    }
    let mut links: Vec<_> = all.into_iter().zip(owners).map(Some).collect();
    let mut parts = Vec::with_capacity(roles.len());
    let damaged = !compound.faults.is_empty();
    let wants_store = compound.stream(PROPERTY_STORE).is_none();
    let mut others = Others { names: HashSet::new(), wants_store, damaged, steps };
    let mut dest_list = dest_list;
    if !roles.contains(&Role::DestList) {
        parts.extend(dest_list.take().map(|data| Part::new(DEST_LIST, data)));
    }
    for (stream, role) in compound.streams.iter().zip(&roles) {
        match role {
            Role::DestList => parts.extend(dest_list.take().map(|data| Part::new(DEST_LIST, data))),
            Role::Link(index) => {
                let Some((candidate, Some(draft))) = links.get_mut(*index).and_then(Option::take) else { continue };
                let name = draft.entry.stream_name();
                others.link(draft, &candidate, &name);
                parts.push(Part::new(name, candidate.data));
            }
            Role::Unreadable => {
                let what = format!("stream {} is no link that can be read; dropped", shown(stream));
                others.steps.file_lost(what);
            }
            Role::Other => parts.extend(others.part(stream)),
        }
    }
    let made = drafts.iter().filter_map(|draft| Some((draft.entry.stream_name(), draft.made_link.clone()?)));
    parts.extend(made.map(|(name, link)| Part::new(name, link)));
    parts
}

fn shown(stream: &Stream<'_>) -> String {
    if stream.name.is_empty() { format!("at {}", stream.offset) } else { stream.name.to_string() }
}

/// Streams that are neither the DestList nor a link, and what is reported of those that are.
struct Others<'x> {
    names: HashSet<(String, String)>,
    /// No property store is there under its name.
    wants_store: bool,
    /// Names may be damaged.
    damaged: bool,
    steps: &'x mut Steps,
}

impl Others<'_> {
    fn link(&mut self, draft: &Draft<'_>, candidate: &super::links::Candidate<'_>, name: &str) {
        if let Some(mended) = &candidate.mended {
            self.steps.about(draft, format!("its link: {mended}"));
        }
        match candidate.stream.entry_id() {
            Some((_, true)) if candidate.id == Some(draft.entry.id) => {}
            Some((id, _)) if id == draft.entry.id => {
                self.steps
                    .about(draft, format!("its link was named {}; it is now named {name}", candidate.stream.name));
            }
            // Told where the entry was made.
            _ if draft.entry.raw.is_empty() => {}
            _ => self
                .steps
                .about(draft, format!("{} is its link, by what it says; it is now named {name}", candidate.name())),
        }
    }

    /// The stream as it goes into the new file.
    fn part<'c>(&mut self, stream: &'c Stream<'c>) -> Option<Part<'c>> {
        let name = stream.name.to_string();
        if stream.storage.is_empty() && is_nearly(stream.name, PROPERTY_STORE) && std::mem::take(&mut self.wants_store)
        {
            self.steps.file(format!("stream {name} is {PROPERTY_STORE}, by all but its name; it has its name again"));
            return Some(Part::new(PROPERTY_STORE, store(stream)));
        }
        let writable = !name.is_empty()
            && stream.name.units().count() <= LONGEST_NAME
            && !name.contains(['/', '\\', ':', '!', '\0'])
            && !stream.name.has_unpaired();
        let key = (stream.storage.to_lowercase(), name.to_lowercase());
        let key_taken = stream.storage.is_empty()
            && (key.1 == "destlist" || crate::format::compound::entry_id(stream.name).is_some());
        if !writable || key_taken || !self.names.insert(key) {
            if stream.recovery != Recovery::Carved {
                let why = if writable { "its name is another's" } else { "its name cannot be one" };
                self.steps.file_lost(format!("stream {} was dropped: {why}", shown(stream)));
            }
            return None;
        }
        // Windows finds it by its name in any case; others do not.
        if stream.storage.is_empty() && name.eq_ignore_ascii_case(PROPERTY_STORE) && name != PROPERTY_STORE {
            self.steps.file(format!("stream {name} is named {PROPERTY_STORE} again"));
            return Some(Part::new(PROPERTY_STORE, store(stream)));
        }
        // What is nothing, or a DestList that another is used for, was not put there under such a name.
        let leftover =
            stream.data.is_empty() || is_nearly(stream.name, DEST_LIST) || !find_entries(&stream.data).is_empty();
        if self.damaged && leftover && !name.eq_ignore_ascii_case(PROPERTY_STORE) {
            self.steps.file_lost(format!(
                "stream {} was dropped: nothing is in it that the list does not have",
                shown(stream)
            ));
            return None;
        }
        if stream.missing() > 0 {
            if name.eq_ignore_ascii_case(PROPERTY_STORE) {
                self.steps.file_lost(format!("{PROPERTY_STORE} is not all there; it is empty now"));
                return Some(Part::new(name, EMPTY_STORE.to_vec()));
            }
            let (have, size) = (stream.data.len(), stream.size);
            self.steps.file_lost(format!("of stream {name} {have} of {size} bytes are there; kept as far as it goes"));
        }
        Part::kept(stream).ok()
    }
}

fn store<'c>(stream: &'c Stream<'c>) -> std::borrow::Cow<'c, [u8]> {
    if stream.missing() > 0 { EMPTY_STORE.to_vec().into() } else { stream.data.as_ref().into() }
}
