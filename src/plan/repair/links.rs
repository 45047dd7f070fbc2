//! The links of a damaged file: which streams are links, whatever they are called, and what can still be made of
//! those that are not complete.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

use crate::format::compound::{Recovery, Stream};
use crate::format::guid::Guid;
use crate::format::link::{self, CLASS_ID, HEADER_SIZE, Link, looks_like_link};
use crate::format::text::CodePage;
use crate::plan::identity::{Agreement, Facts, agreement};

use super::entries::Draft;

/// Bytes of a link that are the same in every link (MS-SHLLINK 2.1): the header's size and the class.
const FIXED: usize = 20;

/// How many links of one name are held against an entry.
const MOST_RIVALS: usize = 32;

/// What a stream of the file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The DestList that is used.
    DestList,
    /// The link of this number.
    Link(usize),
    /// It is to be a link, and cannot be read as one.
    Unreadable,
    /// Something else.
    Other,
}

/// A stream that is a link.
pub(super) struct Candidate<'c> {
    pub(super) stream: &'c Stream<'c>,
    /// Its bytes, repaired where that could be done.
    pub(super) data: Cow<'c, [u8]>,
    /// What was repaired.
    pub(super) mended: Option<String>,
    /// The id that its name spells.
    pub(super) id: Option<u64>,
    /// What it says of its destination.
    pub(super) facts: Facts,
    /// True once an entry has it.
    pub(super) taken: bool,
}

impl Candidate<'_> {
    /// True if it is the better one of two for an entry that both would fit.
    fn rank(&self) -> (bool, bool, bool) {
        let canonical = self.stream.entry_id().is_some_and(|(_, canonical)| canonical);
        (self.mended.is_none() && self.stream.missing() == 0, self.stream.recovery == Recovery::Intact, canonical)
    }

    /// What it is called in messages.
    pub(super) fn name(&self) -> String {
        if self.stream.name.is_empty() {
            format!("the link found at {}", self.stream.offset)
        } else {
            format!("link {}", self.stream.name)
        }
    }
}

/// Links of one name, one path or one object id, the best first.
#[derive(Debug, Default)]
struct Rivals {
    links: Vec<usize>,
    /// How many at the start are known to be taken, so that many of one name take no longer.
    passed: Cell<usize>,
}

/// All links of the file.
pub(super) struct Links<'c> {
    pub(super) all: Vec<Candidate<'c>>,
    /// What each stream is, in the order of the container.
    pub(super) roles: Vec<Role>,
    by_id: HashMap<u64, Rivals>,
    by_path: HashMap<String, Rivals>,
    by_droid: HashMap<(Guid, Guid), Rivals>,
    /// Sizes in the directory of the streams that are named by an id and cannot be read as a link.
    lost_sizes: HashMap<u64, u64>,
}

impl<'c> Links<'c> {
    /// Reads every stream but `dest_list`.
    pub(super) fn read(streams: &'c [Stream<'c>], dest_list: Option<&Stream<'c>>, page: CodePage) -> Self {
        let mut links = Self {
            all: Vec::new(),
            roles: Vec::with_capacity(streams.len()),
            by_id: HashMap::new(),
            by_path: HashMap::new(),
            by_droid: HashMap::new(),
            lost_sizes: HashMap::new(),
        };
        for stream in streams {
            let is_dest_list = dest_list.is_some_and(|dest_list| std::ptr::eq(dest_list, stream));
            let role = if is_dest_list { Role::DestList } else { links.add(stream, page) };
            links.roles.push(role);
        }
        let all = &links.all;
        let best = |index: &usize| std::cmp::Reverse(all.get(*index).map(Candidate::rank));
        for rivals in links.by_id.values_mut().chain(links.by_path.values_mut()).chain(links.by_droid.values_mut()) {
            rivals.links.sort_by_key(best);
        }
        links
    }

    fn add(&mut self, stream: &'c Stream<'c>, page: CodePage) -> Role {
        let id = stream.entry_id().map(|(id, _)| id);
        // A link under a name that is no id: its directory entry was damaged. In a storage it is somebody else's.
        let usable = if stream.storage.is_empty() { usable(stream, page) } else { None };
        let Some((data, mended)) = usable else {
            if let Some(id) = id {
                self.lost_sizes.insert(id, stream.size);
            }
            return if id.is_some() || looks_like_link(&stream.data) { Role::Unreadable } else { Role::Other };
        };
        let facts = link::parse(&data, page).map(|link| Facts::of(&link)).unwrap_or_default();
        let index = self.all.len();
        if let Some(id) = id {
            self.by_id.entry(id).or_default().links.push(index);
        }
        for path in &facts.paths {
            self.by_path.entry(path.clone()).or_default().links.push(index);
        }
        if let Some(droid) = facts.droid {
            self.by_droid.entry(droid).or_default().links.push(index);
        }
        self.all.push(Candidate { stream, data, mended, id, facts, taken: false });
        Role::Link(index)
    }

    /// Gives each entry its link. The id is the match: the content decides only where an id has no stream, or several.
    /// Entries whose own checksum is wrong choose last, and by their content before their id, which may be damaged.
    pub(super) fn join(&mut self, drafts: &mut [Draft<'_>]) {
        let mut order: Vec<usize> = (0..drafts.len()).collect();
        order.sort_by_key(|at| drafts.get(*at).map(Draft::doubt));
        type Choose = fn(&Links<'_>, &Draft<'_>) -> Option<usize>;
        let rounds: [Choose; 6] = [
            |links, draft| links.of_id(draft, Agreement::Agrees),
            |links, draft| links.of_id(draft, Agreement::Unknown),
            |links, draft| if draft.doubtful { None } else { links.of_id(draft, Agreement::Differs) },
            |links, draft| links.of_content(draft),
            |links, draft| links.of_id(draft, Agreement::Differs),
            |links, draft| links.of_size(draft),
        ];
        for choose in rounds {
            for at in &order {
                let Some(draft) = drafts.get_mut(*at).filter(|draft| draft.link.is_none()) else { continue };
                if let Some(found) = choose(self, draft) {
                    draft.link = Some(found);
                    self.take(found, true);
                }
            }
        }
        self.join_the_last(drafts);
    }

    /// One entry without a link and one link without an owner belong together if the size agrees, also where the link
    /// names another destination, as the links of moved files do.
    fn join_the_last(&mut self, drafts: &mut [Draft<'_>]) {
        let mut without = drafts.iter_mut().filter(|draft| draft.link.is_none());
        let (Some(draft), None) = (without.next(), without.next()) else { return };
        let mut unowned = self.all.iter().enumerate().filter(|(_, found)| !found.taken && found.stream.name.is_empty());
        let (Some((index, found)), None) = (unowned.next(), unowned.next()) else { return };
        if !draft.doubtful && self.lost_sizes.get(&draft.entry.id) == Some(&(found.data.len() as u64)) {
            draft.link = Some(index);
            self.take(index, true);
        }
    }

    /// Marks a link as an entry's, or as nobody's.
    pub(super) fn take(&mut self, index: usize, taken: bool) {
        if let Some(candidate) = self.all.get_mut(index) {
            candidate.taken = taken;
        }
    }

    /// Whether a link is that of an entry.
    pub(super) fn agreement(&self, draft: &Draft<'_>, index: usize) -> Agreement {
        self.all.get(index).map_or(Agreement::Differs, |found| agreement(&draft.entry, &draft.key(), &found.facts))
    }

    fn of_id(&self, draft: &Draft<'_>, need: Agreement) -> Option<usize> {
        self.first(self.by_id.get(&draft.entry.id)?, |index| self.agreement(draft, index) >= need)
    }

    fn of_content(&self, draft: &Draft<'_>) -> Option<usize> {
        let by_path = self.by_path.get(&draft.key()).and_then(|found| self.first(found, |_| true));
        let droid = (draft.entry.volume_id, draft.entry.object_id);
        by_path.or_else(|| self.by_droid.get(&droid).and_then(|found| self.first(found, |_| true)))
    }

    /// The only link without an entry that has the size of the entry's own stream, which cannot be read.
    fn of_size(&self, draft: &Draft<'_>) -> Option<usize> {
        let size = *self.lost_sizes.get(&draft.entry.id)?;
        if draft.doubtful || self.lost_sizes.values().filter(|other| **other == size).count() > 1 {
            return None;
        }
        let fits = |(index, found): &(usize, &Candidate<'_>)| {
            !found.taken
                && found.stream.name.is_empty()
                && found.data.len() as u64 == size
                && self.agreement(draft, *index) > Agreement::Differs
        };
        let mut fitting = self.all.iter().enumerate().filter(fits);
        let only = fitting.next()?;
        fitting.next().is_none().then_some(only.0)
    }

    /// The best of these that is nobody's and fits.
    fn first(&self, among: &Rivals, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let is_taken = |index: usize| self.all.get(index).is_none_or(|found| found.taken);
        let passed = among.links.iter().skip(among.passed.get()).take_while(|index| is_taken(**index)).count();
        among.passed.set(among.passed.get().saturating_add(passed));
        let rest = among.links.iter().copied().skip(among.passed.get()).take(MOST_RIVALS);
        rest.filter(|index| !is_taken(*index)).find(|index| fits(*index))
    }
}

/// The bytes of a stream that can be used as a link, and what had to be repaired for that.
fn usable<'c>(stream: &'c Stream<'c>, page: CodePage) -> Option<(Cow<'c, [u8]>, Option<String>)> {
    let data = stream.data.as_ref();
    if !looks_like_link(data) {
        return with_fixed_start(data, page).map(|mended| {
            (Cow::Owned(mended), Some("its first bytes, which are the same in every link, were put right".to_owned()))
        });
    }
    let link = link::parse(data, page).ok()?;
    let cut = stream.missing() > 0 || stream.recovery != Recovery::Intact;
    if link.complete || !cut {
        return Some((Cow::Borrowed(data), None));
    }
    let ended = end(data, &link, page)?;
    let lost = stream.size.saturating_sub(link.size as u64);
    Some((Cow::Owned(ended), Some(format!("truncated by {lost} bytes; ended after its last complete part"))))
}

/// The link with the start that every link has, if what follows proves to be one.
fn with_fixed_start(data: &[u8], page: CodePage) -> Option<Vec<u8>> {
    let mut out = (HEADER_SIZE as u32).to_le_bytes().to_vec();
    out.extend_from_slice(&CLASS_ID.0);
    out.extend_from_slice(data.get(FIXED..)?);
    let link = link::parse(&out, page).ok()?;
    let proven = link.complete && link.problems.is_empty() && link.size == out.len() && link.target().is_some();
    proven.then_some(out)
}

/// The link up to its last whole part, with the terminal block behind it and without the flags of the parts that are
/// gone. `None` if what is left names no destination.
fn end(data: &[u8], link: &Link<'_>, page: CodePage) -> Option<Vec<u8>> {
    let mut flags = link.header.flags.0;
    // The parts are in the order of their flags, bit 0 to bit 6 (MS-SHLLINK 2.1.1), so those that are gone are the last.
    for part in (0..=7_u32).rev() {
        if part < 7 {
            flags &= !(1_u32 << part);
        }
        let mut out = data.get(..link.size)?.to_vec();
        out.get_mut(FIXED..FIXED.saturating_add(4))?.copy_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        let ended = link::parse(&out, page).ok()?;
        if ended.complete && ended.size == out.len() {
            return (ended.id_list.is_some() || ended.target().is_some()).then_some(out);
        }
    }
    None
}
