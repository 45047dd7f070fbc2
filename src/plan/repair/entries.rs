//! The entries of a damaged list: from its DestList, from other DestList data in the file, and from what is
//! in sectors that belong to nothing.

use std::collections::{HashMap, HashSet};

use crate::format::compound::{Compound, Stream};
use crate::format::destlist::{
    DestList, Entry, HEADER_SIZE, Header, Soundness, Version, find_entries, has_rank, is_text, resync,
};
use crate::format::text::Utf16;
use crate::model::{AutomaticList, DEST_LIST, PROPERTY_STORE, is_nearly};
use crate::plan::identity;

/// The format whose lists have a property store of their own.
const VERSION_WITH_STORE: Version = Version::V6;

/// An entry that is to be in the list.
#[derive(Debug, Clone)]
pub(super) struct Draft<'c> {
    /// Its fields. The checksum is computed at the end.
    pub(super) entry: Entry<'c>,
    /// Its path, where that had to be made.
    pub(super) path: Option<Vec<u8>>,
    /// Its checksum does not hold.
    pub(super) doubtful: bool,
    /// The end of its path was found by the look of it.
    pub(super) bounded: bool,
    /// It is not in the DestList.
    pub(super) carved: bool,
    /// Its last access is not to be believed.
    pub(super) timeless: bool,
    /// Its link, by number.
    pub(super) link: Option<usize>,
    /// Its link, where that had to be made.
    pub(super) made_link: Option<Vec<u8>>,
}

impl<'c> Draft<'c> {
    /// An entry as it is in the list.
    pub(super) fn new(entry: Entry<'c>, soundness: Soundness) -> Self {
        Self {
            entry,
            path: None,
            doubtful: soundness == Soundness::Doubtful,
            bounded: soundness == Soundness::Bounded,
            carved: false,
            timeless: false,
            link: None,
            made_link: None,
        }
    }

    /// How little it can be relied on.
    pub(super) fn doubt(&self) -> (bool, bool, bool) {
        (self.doubtful, self.carved, self.bounded)
    }

    /// Its path.
    pub(super) fn path(&self) -> Utf16<'_> {
        self.path.as_deref().map_or(self.entry.path, Utf16)
    }

    /// Its path as it is compared.
    pub(super) fn key(&self) -> String {
        identity::key(self.path())
    }

    /// The entry with its path and the checksum that it calls for.
    pub(super) fn finished(&self) -> Entry<'_> {
        let mut entry = Entry { path: self.path(), ..self.entry };
        entry.checksum = entry.computed_checksum();
        entry
    }
}

/// What was found of a list.
pub(super) struct Gathered<'c> {
    /// The stream that is its DestList, whatever that is called.
    pub(super) stream: Option<&'c Stream<'c>>,
    /// The header on disk, if there is one.
    pub(super) claimed: Option<Header>,
    /// The header to go on from.
    pub(super) header: Header,
    /// Whether that one had to be made.
    pub(super) header_made: bool,
    /// The entries, in the order of the list.
    pub(super) drafts: Vec<Draft<'c>>,
    /// Bytes of the DestList that are no entry.
    pub(super) unread: usize,
    /// True if entries may be missing.
    pub(super) lossy: bool,
}

impl<'c> Gathered<'c> {
    /// Looks through the file.
    pub(super) fn read(list: &AutomaticList<'c>) -> Self {
        let compound = list.compound;
        let stream = find(compound).or(list.dest_list);
        let mut gathered = stream.map_or_else(|| Self::nothing(compound), |stream| Self::of(compound, stream));
        if gathered.lossy {
            gathered.carve(compound);
        }
        gathered
    }

    fn nothing(compound: &Compound<'_>) -> Self {
        let carved = compound.carved_entries.iter().map(|entry| entry.version).max();
        let guessed = if compound.stream(PROPERTY_STORE).is_some() { VERSION_WITH_STORE } else { Version::USUAL };
        let version = carved.filter(|version| *version != Version::USUAL.number()).unwrap_or(guessed.number());
        let header = Header { version, count: 0, pinned: 0, total: 0.0, last_id: 0, actions: 0 };
        Self { stream: None, claimed: None, header, header_made: true, drafts: Vec::new(), unread: 0, lossy: true }
    }

    fn of(compound: &Compound<'_>, stream: &'c Stream<'c>) -> Self {
        let data = stream.data.as_ref();
        let cut = stream.missing() > 0;
        if data.is_empty() {
            return Self { stream: Some(stream), lossy: cut, ..Self::nothing(compound) };
        }
        let plain = DestList::decode(data).ok();
        if let Some(plain) = &plain
            && plain.cut.is_none()
            && !cut
            && is_believable(plain.header.version)
            && plain.entries.iter().all(Entry::checksum_ok)
        {
            let drafts: Vec<_> = plain.entries.iter().map(|entry| Draft::new(*entry, Soundness::Sound)).collect();
            let lossy = (plain.header.count as usize) > drafts.len();
            let (claimed, header) = (Some(plain.header), plain.header);
            return Self { stream: Some(stream), claimed, header, header_made: false, drafts, unread: 0, lossy };
        }
        Self::resynced(compound, stream, cut, plain.map(|plain| plain.header))
    }

    fn resynced(compound: &Compound<'_>, stream: &'c Stream<'c>, cut: bool, claimed: Option<Header>) -> Self {
        let data = stream.data.as_ref();
        let found = resync(data);
        let mut header = found.header;
        let mut header_made = !found.header_sound;
        if let Some(claimed) = claimed.filter(|claimed| claimed.version != header.version) {
            // The layout fits; a number that a later Windows could have written is not ours to change.
            if is_believable(claimed.version) && has_rank(claimed.version) == has_rank(header.version) {
                header = Header { version: claimed.version, ..header };
                header_made = false;
            } else if header.version == Version::USUAL.number() && compound.stream(PROPERTY_STORE).is_some() {
                header.version = VERSION_WITH_STORE.number();
            }
        }
        let mut drafts: Vec<_> = found.entries.iter().map(|found| Draft::new(found.entry, found.soundness)).collect();
        let mut unread = 0_usize;
        for gap in &found.gaps {
            let mut at = gap.start;
            // Entries that do not look like any, as a field of them is damaged, but fit where they are.
            while let Some(entry) = data.get(at..gap.end).and_then(|rest| Entry::decode(rest, at, header.version).ok())
            {
                if entry.path.is_empty() || !is_text(entry.path) {
                    break;
                }
                at = at.saturating_add(entry.raw.len());
                let soundness = if entry.checksum_ok() { Soundness::Sound } else { Soundness::Doubtful };
                drafts.push(Draft::new(entry, soundness));
            }
            unread = unread.saturating_add(gap.end.saturating_sub(at));
        }
        drafts.sort_by_key(|draft| draft.entry.offset);
        let few = claimed.is_some_and(|claimed| claimed.count as usize > drafts.len());
        let lossy = cut || unread > 0 || few || header_made;
        Self { stream: Some(stream), claimed, header, header_made, drafts, unread, lossy }
    }

    /// Adds entries from sectors that belong to nothing: they may be of the lost part, or long removed. Of each id the
    /// newest, where the list does not have it.
    fn carve(&mut self, compound: &'c Compound<'c>) {
        let known: HashSet<u64> = self.drafts.iter().map(|draft| draft.entry.id).collect();
        let mut newest: HashMap<u64, Entry<'c>> = HashMap::new();
        for carved in &compound.carved_entries {
            if has_rank(carved.version) != has_rank(self.header.version) {
                continue;
            }
            let Some(entry) = carved.entry().filter(|entry| !known.contains(&entry.id)) else { continue };
            let held = newest.entry(entry.id).or_insert(entry);
            if held.last_access < entry.last_access {
                *held = entry;
            }
        }
        let mut entries: Vec<_> = newest.into_values().collect();
        entries.sort_by_key(|entry| (std::cmp::Reverse(entry.last_access), entry.id));
        self.drafts
            .extend(entries.into_iter().map(|entry| Draft { carved: true, ..Draft::new(entry, Soundness::Sound) }));
    }
}

/// Formats that are known, and those that a later Windows may bring.
fn is_believable(version: u32) -> bool {
    Version::from(version).is_plausible()
}

/// The stream that is the DestList: of those called so, or else of those that nobody knows, the one with the most
/// entries whose checksum holds, or that is nearly called so.
fn find<'c>(compound: &'c Compound<'c>) -> Option<&'c Stream<'c>> {
    let sound = |stream: &Stream<'_>| find_entries(stream.data.get(HEADER_SIZE..).unwrap_or_default()).len();
    let named = |stream: &&Stream<'_>| {
        let name = stream.name.chars().map(|c| c.to_ascii_lowercase());
        stream.storage.is_empty() && name.eq(DEST_LIST.chars().map(|c| c.to_ascii_lowercase()))
    };
    let all: Vec<_> = compound.streams.iter().filter(named).collect();
    match all.as_slice() {
        [only] => Some(only),
        [] => {
            let mut unknown =
                compound.streams.iter().filter(|stream| stream.storage.is_empty() && stream.entry_id().is_none());
            let best = unknown.clone().map(|stream| (sound(stream), stream)).max_by_key(|(count, _)| *count);
            let best = best.filter(|(count, _)| *count > 0).map(|(_, stream)| stream);
            best.or_else(|| unknown.find(|stream| is_nearly(stream.name, DEST_LIST)))
        }
        // Of several that are as good, the first.
        all => all.iter().rev().copied().max_by_key(|stream| (sound(stream), stream.data.len())),
    }
}
