//! Several copies of one list made into one.
//!
//! Sync and roaming leave copies of a list that changed independently. The merged list has every
//! destination once, from the copy that used it last, every pin, and the links that belong to them.
//!
//! **Counts.** Two copies of an entry that has one id and one birth in both have a past in common, and it is unknown how
//! long it is: the larger count is taken, so that no use is counted twice. The same goes for all of a copy that another
//! contains (each of its entries is there, used as late and as often): that is its ancestor, and merging the two again
//! changes nothing. Entries that each copy added under an id of its own were used independently: their counts
//! add up.
//!
//! **Order.** The result does not depend on the order of the arguments: the copies are taken in the order of their last
//! use, the latest first.
//!
//! **Destinations.** Entries of one path (without regard to case) are one destination. An entry of another path is the same
//! destination only if it was renamed: both have the object id, and neither path has another one in any copy.
//!
//! **Ids.** The copy that was used last keeps its own. What another adds keeps its id if no other entry has it, else it is
//! given a new one.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::dest_list::encode;
use super::identity;
use super::ids::Ids;
use super::made_link;
use super::rebuild::{Part, rebuild};
use super::{PlanError, Size, Step};
use crate::format::compound::{Root, Stream};
use crate::format::destlist::{Entry, Header, Usage, has_rank, total};
use crate::format::guid::Guid;
use crate::limits::Limits;
use crate::model::{AutomaticList, DEST_LIST};

/// A copy to be merged: complete, or repaired before.
#[derive(Debug, Clone, Copy)]
pub struct Input<'m, 'c> {
    /// What it is called in the steps.
    pub name: &'m str,
    /// The list.
    pub list: &'m AutomaticList<'c>,
}

/// What one copy brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Brought {
    /// Entries that no copy before it had.
    pub added: usize,
    /// Entries that it used later than the copies before it.
    pub newer: usize,
    /// Pins that no copy before it had.
    pub pins: usize,
}

/// Lists merged, ready to be written.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Merge {
    /// What comes from where, as text.
    pub steps: Vec<Step>,
    /// What each copy brought, in their order.
    pub brought: Vec<Brought>,
    /// The copies whose content the merged list has already, by number.
    pub same_as: Vec<usize>,
    /// The list as it will be.
    pub after: Size,
    /// The new file, checked.
    pub bytes: Vec<u8>,
}

/// Plans the merge of lists. The result is the same in every order of `inputs`.
///
/// # Errors
/// [`PlanError::Rebuild`] if the new file could not be made.
pub fn merge(inputs: &[Input<'_, '_>], limits: &Limits) -> Result<Merge, PlanError> {
    let order = by_last_use(inputs);
    let given = inputs;
    let inputs: Vec<Input<'_, '_>> = order.iter().filter_map(|at| given.get(*at)).copied().collect();
    let inputs = inputs.as_slice();
    let mut merging = Merging::new(inputs);
    for (number, input) in inputs.iter().enumerate() {
        merging.take_in(number, input);
    }
    merging.finish_ids();
    merging.pins();
    merging.links();
    merging.items.sort_by_key(|item| std::cmp::Reverse(item.entry.last_access));
    merging.ranks();
    let header = merging.header();
    let dest_list = merging.dest_list(header);
    let newest = newest(inputs);
    let root = newest.map_or_else(Root::default, |input| input.list.compound.root);
    let (parts, storages) = merging.parts(newest, dest_list);
    let (bytes, after) = rebuild(&root, &storages, &parts, limits)?;
    let same = |input: &Input<'_, '_>| is_same(input.list, &parts);
    let same_as = given.iter().enumerate().filter(|(_, input)| same(input)).map(|(number, _)| number).collect();
    let Merging { steps, brought: in_order, .. } = merging;
    let mut brought = vec![Brought::default(); given.len()];
    for (at, one) in order.iter().zip(in_order) {
        if let Some(slot) = brought.get_mut(*at) {
            *slot = one;
        }
    }
    Ok(Merge { steps, brought, same_as, after, bytes })
}

/// The numbers of the lists, the one that was used last first. The content decides where that is the same, so that the
/// order does not depend on that of the arguments.
fn by_last_use(inputs: &[Input<'_, '_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by_cached_key(|at| {
        let list = inputs.get(*at).map(|input| input.list);
        let last = list.and_then(|list| list.entries.iter().map(|entry| entry.dest.last_access).max());
        let actions = list.and_then(|list| list.header).map(|header| header.actions);
        let entries = list.map(|list| list.entries.len());
        (std::cmp::Reverse((last, actions, entries)), list.map(|list| list.compound.file()))
    });
    order
}

/// The object ids by which an entry of another path is the same destination: nothing but the name of the target changed.
fn renamed(inputs: &[Input<'_, '_>]) -> HashSet<(Guid, Guid)> {
    // Of each path all object ids, and of each object id whether one copy has it under two paths.
    let mut of_path: HashMap<String, HashSet<Option<(Guid, Guid)>>> = HashMap::new();
    let mut of_object: HashMap<(Guid, Guid), HashSet<String>> = HashMap::new();
    let mut twice: HashSet<(Guid, Guid)> = HashSet::new();
    for input in inputs {
        let mut here: HashMap<(Guid, Guid), String> = HashMap::new();
        for entry in &input.list.entries {
            let (key, droid) = (identity::key(entry.dest.path), droid(&entry.dest));
            of_path.entry(key.clone()).or_default().insert(droid);
            let Some(droid) = droid else { continue };
            of_object.entry(droid).or_default().insert(key.clone());
            if here.insert(droid, key.clone()).is_some_and(|other| other != key) {
                twice.insert(droid);
            }
        }
    }
    let is_pure = |path: &String| of_path.get(path).is_some_and(|droids| droids.len() == 1);
    let renamed = of_object.iter().filter(|(droid, paths)| !twice.contains(*droid) && paths.iter().all(is_pure));
    renamed.map(|(droid, _)| *droid).collect()
}

/// The list that was used last; the first of those that are as new.
fn newest<'m, 'i, 'c>(inputs: &'m [Input<'i, 'c>]) -> Option<&'m Input<'i, 'c>> {
    let last = |input: &Input<'_, '_>| input.list.entries.iter().map(|entry| entry.dest.last_access).max();
    inputs.iter().rev().max_by_key(|input| last(input))
}

fn is_same(list: &AutomaticList<'_>, parts: &[Part<'_>]) -> bool {
    let streams: HashMap<_, _> = list
        .compound
        .streams
        .iter()
        .map(|stream| ((stream.storage.as_str(), stream.name.to_string()), stream))
        .collect();
    list.compound.faults.is_empty()
        && streams.len() == parts.len()
        && parts.iter().all(|part| streams.get(&part.key()).is_some_and(|stream| part.is(stream)))
}

/// A destination of the merged list.
struct Item<'m, 'c> {
    /// From the copy that used it last.
    entry: Entry<'c>,
    link: Option<&'m Stream<'c>>,
    made_link: Option<Vec<u8>>,
    /// The last copy that had it, by number: each has it once.
    seen: usize,
    /// The copy that it is pinned in, if that is not the first, and its place there.
    pin: Option<(usize, i32)>,
    /// The best rank that it has.
    rank: i32,
    /// Its id is another's; it is to have a new one.
    clashes: bool,
}

fn droid(entry: &Entry<'_>) -> Option<(Guid, Guid)> {
    (!entry.object_id.is_zero()).then_some((entry.volume_id, entry.object_id))
}

/// The items of one path, or one object id.
#[derive(Debug, Default)]
struct Places {
    items: Vec<usize>,
    /// How many of them the copy of this number has been through, so that many of one path take no longer.
    passed: (usize, usize),
}

impl Places {
    /// The first item that copy `number` has nothing of yet.
    fn free(&mut self, number: usize, items: &[Item<'_, '_>]) -> Option<usize> {
        let from = if self.passed.0 == number { self.passed.1 } else { 0 };
        let taken = |at: &usize| items.get(*at).is_none_or(|item| item.seen == number);
        let passed = self.items.iter().skip(from).take_while(|at| taken(at)).count().saturating_add(from);
        self.passed = (number, passed);
        self.items.get(passed).copied()
    }
}

/// The merged list in the making.
struct Merging<'m, 'c> {
    inputs: &'m [Input<'m, 'c>],
    items: Vec<Item<'m, 'c>>,
    by_key: HashMap<String, Places>,
    by_droid: HashMap<(Guid, Guid), Places>,
    renamed: HashSet<(Guid, Guid)>,
    ids: Ids,
    version: u32,
    /// Items before those without a link went.
    found: usize,
    steps: Vec<Step>,
    brought: Vec<Brought>,
}

impl<'m, 'c> Merging<'m, 'c> {
    fn new(inputs: &'m [Input<'m, 'c>]) -> Self {
        let headers = || inputs.iter().filter_map(|input| input.list.header);
        let ids = inputs.iter().flat_map(|input| &input.list.entries).map(|entry| entry.dest.id);
        let last = headers().map(|header| header.last_id).chain(ids).max().unwrap_or(0);
        let version = headers().map(|header| header.version).max().unwrap_or(0);
        let mut merging = Self {
            inputs,
            items: Vec::new(),
            by_key: HashMap::new(),
            by_droid: HashMap::new(),
            renamed: renamed(inputs),
            ids: Ids::after(last),
            version,
            found: 0,
            steps: Vec::new(),
            brought: Vec::new(),
        };
        let others: Vec<_> = inputs
            .iter()
            .filter_map(|input| Some((input.name, input.list.header?.version)))
            .filter(|(_, other)| *other != version)
            .collect();
        for (name, other) in others {
            merging.tell(None, format!("{name} has format version {other}; what is of it is now version {version}"));
        }
        merging
    }

    fn tell(&mut self, item: Option<&Item<'_, '_>>, what: String) {
        self.steps.push(Step {
            what,
            entry_id: item.map(|item| item.entry.id),
            path: item.map(|item| item.entry.path.to_string()),
            pinned: item.is_some_and(|item| item.entry.is_pinned()),
            lost: false,
        });
    }

    /// Adds a copy.
    fn take_in(&mut self, number: usize, input: &Input<'m, 'c>) {
        let mut brought = Brought::default();
        let entries = &input.list.entries;
        let keys: Vec<String> = entries.iter().map(|entry| identity::key(entry.dest.path)).collect();
        // Which is of which is settled for the whole copy before anything of it is taken in. Paths come first.
        let mut matches: Vec<Option<usize>> = vec![None; entries.len()];
        for by_path in [true, false] {
            for ((entry, key), slot) in entries.iter().zip(&keys).zip(&mut matches).filter(|(_, slot)| slot.is_none()) {
                let places = if by_path {
                    self.by_key.get_mut(key)
                } else {
                    let droid = droid(&entry.dest).filter(|droid| self.renamed.contains(droid));
                    droid.and_then(|droid| self.by_droid.get_mut(&droid))
                };
                *slot = places.and_then(|places| places.free(number, &self.items));
                if let Some(item) = slot.and_then(|found| self.items.get_mut(found)) {
                    item.seen = number;
                }
            }
        }
        let contained = self.contains(entries, &matches) || self.is_contained(number, entries, &matches);
        for (entry, found) in entries.iter().zip(matches) {
            match found {
                Some(found) => self.combine(number, input, entry, found, contained, &mut brought),
                None => self.add(number, input, entry, &mut brought),
            }
        }
        if number > 0 && brought == Brought::default() {
            self.tell(None, format!("nothing of {} is new", input.name));
        }
        self.brought.push(brought);
    }

    /// True if a copy has nothing that is not here, used as late and as often.
    fn contains(&self, entries: &[crate::model::Entry<'c>], matches: &[Option<usize>]) -> bool {
        entries.iter().zip(matches).all(|(entry, found)| {
            found.and_then(|found| self.items.get(found)).is_some_and(|item| is_later(&item.entry, &entry.dest))
        })
    }

    /// True if all that is here is in the copy, used as late and as often.
    fn is_contained(&self, number: usize, entries: &[crate::model::Entry<'c>], matches: &[Option<usize>]) -> bool {
        self.items.iter().all(|item| item.seen == number)
            && entries.iter().zip(matches).all(|(entry, found)| {
                found.and_then(|found| self.items.get(found)).is_none_or(|item| is_later(&entry.dest, &item.entry))
            })
    }

    fn add(&mut self, number: usize, input: &Input<'m, 'c>, entry: &crate::model::Entry<'c>, brought: &mut Brought) {
        let dest = self.converted(&entry.dest);
        let clashes = !self.ids.keep(dest.id);
        let pin = if number > 0 && dest.is_pinned() { Some((number, dest.pin)) } else { None };
        let item = Item {
            rank: dest.usage.map_or(-1, |usage| usage.rank),
            entry: dest,
            link: entry.link,
            made_link: None,
            seen: number,
            pin,
            clashes,
        };
        if number > 0 {
            brought.added = brought.added.saturating_add(1);
            brought.pins = brought.pins.saturating_add(usize::from(pin.is_some()));
            self.tell(Some(&item), format!("added from {}", input.name));
        }
        self.known_as(self.items.len(), &item.entry);
        self.items.push(item);
    }

    /// Notes path and object id of an item; one that was renamed goes by both names.
    fn known_as(&mut self, at: usize, entry: &Entry<'_>) {
        self.by_key.entry(identity::key(entry.path)).or_default().items.push(at);
        if let Some(droid) = droid(entry) {
            self.by_droid.entry(droid).or_default().items.push(at);
        }
    }

    fn combine(
        &mut self,
        number: usize,
        input: &Input<'m, 'c>,
        entry: &crate::model::Entry<'c>,
        found: usize,
        contained: bool,
        brought: &mut Brought,
    ) {
        let dest = self.converted(&entry.dest);
        let Some(item) = self.items.get_mut(found) else { return };
        let was = item.entry;
        let one_past = contained || (was.id == dest.id && was.birth_object_id == dest.birth_object_id);
        let newer = dest.last_access > was.last_access;
        if newer {
            item.entry = Entry { id: was.id, pin: was.pin, ..dest };
            item.link = entry.link.or(item.link);
        } else {
            item.link = item.link.or(entry.link);
        }
        let (score, uses) = (was.score.max(dest.score), opens(&was).max(opens(&dest)));
        let added = (was.score + dest.score, opens(&was).saturating_add(opens(&dest)));
        let (score, uses) = if one_past { (score, uses) } else { added };
        item.entry.score = score;
        if let Some(usage) = &mut item.entry.usage {
            usage.interactions = uses;
        }
        if let Some(rank) = dest.rank() {
            item.rank = if item.rank == -1 { rank } else { item.rank.min(rank) };
        }
        let pinned = dest.is_pinned() && !was.is_pinned() && item.pin.is_none();
        if pinned {
            item.entry.pin = dest.pin;
            item.pin = Some((number, dest.pin));
        }
        brought.newer = brought.newer.saturating_add(usize::from(newer));
        brought.pins = brought.pins.saturating_add(usize::from(pinned));
        let mut what = Vec::new();
        if newer {
            what.push(format!("used later in {}, {}", input.name, dest.last_access));
        }
        if pinned {
            what.push(format!("pinned in {}", input.name));
        }
        if !one_past {
            what.push(format!("used apart in {}: opens and scores add up", input.name));
        }
        if !what.is_empty() {
            let step = Step {
                what: what.join("; "),
                entry_id: Some(item.entry.id),
                path: Some(item.entry.path.to_string()),
                pinned: item.entry.is_pinned(),
                lost: false,
            };
            self.steps.push(step);
        }
        if newer && (identity::key(was.path) != identity::key(dest.path) || droid(&was) != droid(&dest)) {
            self.known_as(found, &dest);
        }
    }

    /// The entry in the layout of the merged list. What format 1 does not say: no rank, opened once.
    fn converted(&self, entry: &Entry<'c>) -> Entry<'c> {
        let usage = entry.usage.unwrap_or(Usage { rank: -1, interactions: 1, reserved: 0 });
        Entry { usage: has_rank(self.version).then_some(usage), ..*entry }
    }

    /// Gives new ids to those that clash, now that the last one of all is known.
    fn finish_ids(&mut self) {
        let mut steps = Vec::new();
        for item in self.items.iter_mut().filter(|item| item.clashes) {
            let was = std::mem::replace(&mut item.entry.id, self.ids.next());
            steps.push(Step {
                what: format!("its id {was} is another entry's here; it has a new one, {}", item.entry.id),
                entry_id: Some(item.entry.id),
                path: Some(item.entry.path.to_string()),
                pinned: item.entry.is_pinned(),
                lost: false,
            });
        }
        self.steps.append(&mut steps);
    }

    /// The first copy's pins keep their places; those of the others follow, copy by copy, in their order there.
    fn pins(&mut self) {
        let own = self.items.iter().filter(|item| item.entry.is_pinned() && item.pin.is_none());
        let last = own.map(|item| item.entry.pin).max();
        let mut next = last.map_or(0, |last| last.saturating_add(1));
        let mut others: Vec<_> = self.items.iter_mut().filter(|item| item.pin.is_some()).collect();
        others.sort_by_key(|item| item.pin);
        for item in others {
            item.entry.pin = next;
            next = next.saturating_add(1);
        }
    }

    /// What has no link in any copy is given one made of its path, so that no destination is lost.
    fn links(&mut self) {
        self.found = self.items.len();
        let mut steps = Vec::new();
        self.items.retain_mut(|item| {
            if item.link.is_some() {
                return true;
            }
            item.made_link = made_link::of_entry(&item.entry);
            let made = item.made_link.is_some();
            let what = if made {
                "has no link in any copy; a plain one was made of its path"
            } else {
                "has no link in any copy; dropped"
            };
            steps.push(Step {
                what: what.to_owned(),
                entry_id: Some(item.entry.id),
                path: Some(item.entry.path.to_string()),
                pinned: item.entry.is_pinned(),
                lost: !made,
            });
            made
        });
        self.steps.append(&mut steps);
    }

    /// Ranks, each once: by the best that an entry has in any copy, and of two that are as good the one used later first.
    fn ranks(&mut self) {
        let mut ranked: Vec<_> = self.items.iter_mut().filter(|item| item.rank != -1).collect();
        ranked.sort_by_key(|item| item.rank);
        for (item, rank) in ranked.into_iter().zip(0_i32..) {
            item.rank = rank;
        }
        for item in &mut self.items {
            if let Some(usage) = &mut item.entry.usage {
                usage.rank = item.rank;
            }
        }
    }

    fn header(&self) -> Option<Header> {
        let headers = || self.inputs.iter().filter_map(|input| Some((input, input.list.header?)));
        // The copy that did most is gone on from: what it lacks was added to it, and what has no link was removed.
        let (most, mut header) = headers().rev().max_by_key(|(_, header)| header.actions)?;
        let lacks = self.found.saturating_sub(most.list.entries.len());
        let removed = self.found.saturating_sub(self.items.len());
        let sum = total::sum_of_scores(self.items.iter().map(|item| &item.entry));
        // Windows adds up 32-bit floats: its sum is not ours to the last digit.
        let as_it_was = headers().find(|(input, header)| {
            header.version == self.version
                && input.list.entries.len() == self.items.len()
                && total::is_sum(header.total, sum)
        });
        let before = total::sum_of_scores(most.list.entries.iter().map(|entry| &entry.dest));
        header.version = self.version;
        header.total = match as_it_was {
            Some((_, other)) => other.total,
            None => total::after(&header, &total::Change { before, after: sum, added: lacks, removed }),
        };
        let last = headers().map(|(_, header)| header.last_id).max().unwrap_or(0);
        header.last_id = last.max(self.ids.highest());
        header.actions = header.actions.saturating_add(lacks as u64).saturating_add(removed as u64);
        Some(header)
    }

    fn dest_list(&self, header: Option<Header>) -> Vec<u8> {
        let Some(header) = header else { return Vec::new() };
        let checked = |item: &Item<'_, 'c>| Entry { checksum: item.entry.computed_checksum(), ..item.entry };
        encode(header, &self.items.iter().map(checked).collect::<Vec<_>>())
    }

    /// The streams: DestList, links, and what else the copies have, each from the one that was used last.
    fn parts(&self, newest: Option<&Input<'m, 'c>>, dest_list: Vec<u8>) -> (Vec<Part<'m>>, Vec<String>) {
        let mut parts = Vec::with_capacity(self.items.len().saturating_add(2));
        if !dest_list.is_empty() || self.inputs.iter().any(|input| input.list.dest_list.is_some()) {
            parts.push(Part::new(DEST_LIST, dest_list));
        }
        for item in &self.items {
            let data: Option<Cow<'m, [u8]>> = match (&item.made_link, item.link) {
                (Some(made), _) => Some(Cow::Owned(made.clone())),
                (None, link) => link.map(|stream| Cow::Borrowed(stream.data.as_ref())),
            };
            parts.extend(data.map(|data| Part::new(item.entry.stream_name(), data)));
        }
        let mut names = HashSet::new();
        let mut storages: Vec<String> = Vec::new();
        let newest = newest.map(|input| input.list);
        let rest = self
            .inputs
            .iter()
            .map(|input| input.list)
            .filter(|list| newest.is_none_or(|newest| !std::ptr::eq(*list, newest)));
        for list in newest.into_iter().chain(rest) {
            for stream in &list.others {
                if names.insert((stream.storage.to_lowercase(), stream.name.to_string().to_lowercase())) {
                    parts.extend(Part::kept(stream).ok());
                }
            }
            for storage in &list.compound.storages {
                if !storages.contains(storage) {
                    storages.push(storage.clone());
                }
            }
        }
        (parts, storages)
    }
}

/// True if `one` is the same entry as `other` at a later time, or at the same.
fn is_later(one: &Entry<'_>, other: &Entry<'_>) -> bool {
    one.last_access >= other.last_access && opens(one) >= opens(other)
}

fn opens(entry: &Entry<'_>) -> u32 {
    entry.usage.map_or(0, |usage| usage.interactions)
}
