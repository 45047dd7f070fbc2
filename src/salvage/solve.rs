//! The streams of a damaged file, for one view of its tables: which can be proven, and along which chain.
//!
//! In the order of how much has to be assumed: first what holds along its chain according to the table; then what
//! holds as the units that follow its start; then the DestList, by its checksums; then what holds along a repaired
//! chain; and last, what nothing names. What is proven takes its units, so that each step leaves fewer for the
//! next.

use super::dest_list::{self, Assembled};
use super::links::Work;
use super::look::Looks;
use super::mini_stream;
use super::rebuild::Rebuilt;
use super::space::{Follow, Space, Where};
use super::suspects::{Attempt, Sought, Suspects};
use crate::format::compound::directory::{DirEntry, Kind};
use crate::format::compound::header::MINI_CUTOFF;
use crate::format::compound::layout::Layout;
use crate::format::compound::tables::END_OF_CHAIN;
use crate::format::compound::{Recovery, is_dest_list};
use crate::format::destlist;
use crate::format::link::{self, looks_like_link};

/// The largest link that is looked for without a size from the directory, in bytes.
const LARGEST_LINK: usize = 1 << 16;
/// About how large most links are, in bytes.
const USUAL_LINK: usize = 1024;
/// In how many places a chain is tried with another step than the table's.
const MOST_STEPS: usize = 12;
/// How many mini streams are tried.
const MOST_MINI_STREAMS: usize = 4;

/// What counts how much: a stream that is proven under its name, one that is carved, one that adds up to its size but
/// has flaws, and an entry of the DestList.
const NAMED: u64 = 8;
const CARVED: u64 = 6;
const FLAWED: u64 = 3;
const ENTRY: u64 = 8;

/// A stream whose content proves it.
#[derive(Debug, Clone)]
pub(super) struct Proven {
    /// The directory entry it belongs to, by its place in the list of them; none for a carved one.
    pub(super) entry: Option<usize>,
    pub(super) place: Where,
    pub(super) units: Vec<u32>,
    pub(super) size: usize,
    /// How many things in it do not fit what surrounds them.
    pub(super) flaws: u32,
    pub(super) recovery: Recovery,
}

/// What one view of a damaged file gives.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    pub(super) proven: Vec<Proven>,
    /// The DestList, possibly incomplete.
    pub(super) dest_list: Option<Proven>,
    /// By piece of 64 bytes of all sectors in order: belongs to a table or to something proven.
    pub(super) taken: Vec<bool>,
    /// Sectors in which something does not hold.
    pub(super) suspects: Vec<u32>,
    /// What does not hold, and where it was looked for.
    pub(super) attempts: Vec<Attempt>,
    /// Links that are proven under their names.
    pub(super) links: usize,
    /// Entries of the DestList that are certain.
    pub(super) entries: usize,
    pub(super) score: u64,
}

/// A view of a damaged file and its result.
pub(super) struct Solution<'a> {
    pub(super) layout: Layout<'a>,
    pub(super) misplaced: Vec<(u32, u32)>,
    pub(super) outcome: Outcome,
}

/// Takes the streams out of what was rebuilt, with the mini stream that gives the most.
pub(super) fn solve<'a>(rebuilt: Rebuilt<'a>, looks: &Looks, work: &mut Work) -> Solution<'a> {
    let Rebuilt { mut layout, tables, misplaced, as_told } = rebuilt;
    let all: Vec<u32> = (0..layout.sectors.count()).collect();
    let heads: Vec<bool> = all.iter().map(|sector| looks.get(&layout.sectors, *sector).heads != 0).collect();
    let mut best: Option<(Vec<u32>, Outcome)> = None;
    let start = Solver::new(&layout, &[], tables.clone(), heads);
    // Large streams first: what they take cannot be the mini stream's.
    let large = start.large_streams(work);
    let taken: Vec<bool> = all.iter().map(|sector| large.sectors.is_taken(*sector)).collect();
    let lists = mini_stream::candidates(&layout, looks, &taken);
    for list in lists.into_iter().chain([Vec::new()]).take(MOST_MINI_STREAMS) {
        if list.is_empty() && best.is_some() {
            break;
        }
        let outcome = large.with_mini_stream(&list).small_streams(work).carve(&all, &tables, work);
        if best.as_ref().is_none_or(|(_, best)| outcome.score > best.score) {
            best = Some((list, outcome));
        }
    }
    let (list, mut outcome) = best.unwrap_or_default();
    outcome.score = outcome.score.saturating_add(as_told);
    layout.mini_stream = list;
    Solution { layout, misplaced, outcome }
}

#[derive(Debug, Clone)]
struct Solver<'l, 'a> {
    layout: &'l Layout<'a>,
    sectors: Space<'l, 'a>,
    minis: Space<'l, 'a>,
    proven: Vec<Proven>,
    dest_list: Option<(Proven, Assembled)>,
    /// By directory entry: is proven.
    done: Vec<bool>,
}

impl<'l, 'a> Solver<'l, 'a> {
    fn new(layout: &'l Layout<'a>, host: &'l [u32], tables: Vec<bool>, heads: Vec<bool>) -> Self {
        Self {
            layout,
            sectors: Space::sectors(layout, tables, heads),
            minis: Space::minis(layout, host),
            proven: Vec::new(),
            dest_list: None,
            done: vec![false; layout.directory.len()],
        }
    }

    /// The same with another mini stream.
    fn with_mini_stream<'m>(&self, host: &'m [u32]) -> Solver<'m, 'a>
    where
        'l: 'm,
    {
        let mut sectors = self.sectors.clone();
        sectors.take(host);
        let mut minis = Space::minis(self.layout, host);
        let mini = |entry: &&DirEntry<'_>| entry.kind == Kind::Stream && entry.size > 0 && entry.is_mini();
        for entry in self.layout.directory.iter().filter(mini) {
            if !minis.is_led_to(entry.start) {
                minis.mark_head(entry.start);
            }
        }
        let (proven, dest_list, done) = (self.proven.clone(), self.dest_list.clone(), self.done.clone());
        Solver { layout: self.layout, sectors, minis, proven, dest_list, done }
    }

    fn space(&self, place: Where) -> &Space<'l, 'a> {
        if place == Where::Minis { &self.minis } else { &self.sectors }
    }

    fn take(&mut self, proven: Proven) {
        let space = if proven.place == Where::Minis { &mut self.minis } else { &mut self.sectors };
        space.take(&proven.units);
        if let Some(done) = proven.entry.and_then(|entry| self.done.get_mut(entry)) {
            *done = true;
        }
        self.proven.push(proven);
    }

    /// Entries of the directory that are streams and not proven, and are in mini sectors or not.
    fn open(&self, mini: bool) -> Vec<(usize, DirEntry<'a>)> {
        let entries = self.layout.directory.iter().copied().enumerate();
        let open = entries.filter(|(index, entry)| {
            entry.kind == Kind::Stream
                && entry.size > 0
                && entry.is_mini() == mini
                && self.done.get(*index) == Some(&false)
        });
        open.collect()
    }

    /// True if what the entry names is a link: by its name, or by what is at its start.
    fn is_link(&self, place: Where, entry: &DirEntry<'_>) -> bool {
        !is_dest_list(entry.name)
            && (entry.entry_id().is_some() || self.space(place).bytes(entry.start).is_some_and(looks_like_link))
    }

    fn large_streams(mut self, work: &mut Work) -> Self {
        self.dest_list_along_table(Where::Sectors, work);
        self.links(Where::Sectors, |_| Follow::Table, true, work);
        self.others(Where::Sectors, work);
        if self.dest_list.is_none() {
            self.dest_list_by_checksums(Where::Sectors, work);
        }
        self
    }

    fn small_streams(mut self, work: &mut Work) -> Self {
        if self.dest_list.is_none() {
            self.dest_list_along_table(Where::Minis, work);
        }
        self.links(Where::Minis, |_| Follow::Table, true, work);
        self.unnamed_links(Where::Minis, &[Follow::Table], work);
        self.others(Where::Minis, work);
        self.links(Where::Minis, |_| Follow::Straight, true, work);
        self.links(Where::Sectors, |_| Follow::Straight, true, work);
        self.unnamed_links(Where::Minis, &[Follow::Straight], work);
        if self.dest_list.is_none() {
            self.dest_list_by_checksums(Where::Minis, work);
        }
        if self.dest_list.is_none() {
            self.dest_list_by_look(work);
        }
        for place in [Where::Minis, Where::Sectors] {
            self.links(place, |step| if step == 0 { Follow::Mended } else { Follow::NextFree }, true, work);
            self.links(place, Follow::MendedAt, true, work);
            self.links_of_another_size(place, work);
            self.links(place, |_| Follow::Table, false, work);
        }
        self
    }

    /// Tries `follow` with the numbers from 0 on, for each link that is not proven yet.
    fn links(&mut self, place: Where, follow: impl Fn(usize) -> Follow, flawless: bool, work: &mut Work) {
        for (index, entry) in self.open(place == Where::Minis) {
            if !self.is_link(place, &entry) {
                continue;
            }
            let size = usize::try_from(entry.size).unwrap_or(usize::MAX);
            let units = self.space(place).units_of(entry.size);
            let tries = match (follow(0), follow(1)) {
                (one, other) if one == other => 1,
                (Follow::MendedAt(_), _) => MOST_STEPS.min(units),
                _ => 2,
            };
            for attempt in 0..tries {
                let follow = follow(attempt);
                let found = self.link_at(place, entry.start, Some(size), follow, work);
                let Some((units, size, flaws)) = found else { continue };
                if flaws > 0 && flawless {
                    continue;
                }
                // What the table says is kept for later where it is doubtful and something better may be found.
                if follow == Follow::Table && flawless && !self.space(place).is_trusted(&units) {
                    continue;
                }
                let recovery = self.recovery(place, &units, follow);
                self.take(Proven { entry: Some(index), place, units, size, flaws, recovery });
                break;
            }
        }
    }

    /// The link that starts at unit `start`, if it can be followed to its end and nothing of it is taken: its units,
    /// its size and its flaws. It must be of `size` bytes, if that is given.
    fn link_at(
        &self,
        place: Where,
        start: u32,
        size: Option<usize>,
        follow: Follow,
        work: &mut Work,
    ) -> Option<(Vec<u32>, usize, u32)> {
        let largest = if place == Where::Minis { MINI_CUTOFF as usize } else { LARGEST_LINK };
        link_at(self.space(place), start, size, largest, follow, work)
    }

    /// How a stream was found that holds along these units.
    fn recovery(&self, place: Where, units: &[u32], follow: Follow) -> Recovery {
        let along_table = units.windows(2).all(|pair| match pair {
            [from, to] => self.space(place).next(*from) == Some(*to),
            _ => true,
        });
        match follow {
            _ if along_table => Recovery::Intact,
            Follow::Straight => Recovery::Contiguous,
            _ => Recovery::Chain,
        }
    }

    /// Links whose size in the directory is not that of the link.
    fn links_of_another_size(&mut self, place: Where, work: &mut Work) {
        let open = self.open(true).into_iter().chain(self.open(false));
        for (index, entry) in open.collect::<Vec<_>>() {
            if self.done.get(index) != Some(&false)
                || !self.space(place).bytes(entry.start).is_some_and(looks_like_link)
            {
                continue;
            }
            if let Some(proven) = self.link_with_slack(place, index, &entry, work) {
                self.take(proven);
                continue;
            }
            for follow in [Follow::Table, Follow::Straight, Follow::Mended, Follow::NextFree] {
                if let Some((units, size, 0)) = self.link_at(place, entry.start, None, follow, work) {
                    let recovery = match self.recovery(place, &units, follow) {
                        Recovery::Contiguous => Recovery::Contiguous,
                        _ => Recovery::Chain,
                    };
                    self.take(Proven { entry: Some(index), place, units, size, flaws: 0, recovery });
                    break;
                }
            }
        }
    }

    /// The link whose chain has exactly the sectors that its size in the directory needs, and which ends before that size (the
    /// rest is slack, as some writers leave it) or lacks its terminal block: the stream is as the directory says.
    fn link_with_slack(&self, place: Where, index: usize, entry: &DirEntry<'_>, work: &mut Work) -> Option<Proven> {
        let space = self.space(place);
        let need = space.units_of(entry.size);
        let units = space.chain(entry.start, Follow::Table, need, work);
        let ends = units.last().and_then(|last| space.next(*last)) == Some(END_OF_CHAIN);
        if units.len() != need || !ends || space.any_taken(&units) || entry.is_mini() != (place == Where::Minis) {
            return None;
        }
        let size = usize::try_from(entry.size).unwrap_or(usize::MAX);
        let data = space.gather(&units, size);
        let has_slack = |walk: link::Walk| walk.flaws == 0 && walk.size < size;
        let is_link = link::walk(&data).map_or_else(|_| link::lacks_only_terminal(&data), has_slack);
        let recovery = Recovery::Intact;
        is_link.then_some(Proven { entry: Some(index), place, units, size, flaws: 0, recovery })
    }

    /// Streams that are neither link nor DestList cannot prove themselves: they have their units if their chain is
    /// just what their size needs and crosses no other.
    fn others(&mut self, place: Where, work: &mut Work) {
        for (index, entry) in self.open(place == Where::Minis) {
            let is_list = || self.dest_list_entry(place == Where::Minis).is_some_and(|(list, _)| list == index);
            if self.is_link(place, &entry) || is_dest_list(entry.name) || is_list() {
                continue;
            }
            let space = self.space(place);
            let need = space.units_of(entry.size);
            let units = space.chain(entry.start, Follow::Table, need, work);
            let ends = units.last().and_then(|last| space.next(*last)) == Some(END_OF_CHAIN);
            let whole = units.len() == need && space.gather(&units, usize::MAX).len() as u64 >= entry.size;
            if ends && whole && space.is_trusted(&units) && !space.any_taken(&units) {
                let size = usize::try_from(entry.size).unwrap_or(usize::MAX);
                self.take(Proven { entry: Some(index), place, units, size, flaws: 0, recovery: Recovery::Intact });
            }
        }
    }

    /// The directory entry of the DestList: by its name, or, where none has it, by what is at its start.
    fn dest_list_entry(&self, mini: bool) -> Option<(usize, DirEntry<'a>)> {
        let named = self.layout.directory.iter().any(|entry| entry.kind == Kind::Stream && is_dest_list(entry.name));
        let space = self.space(if mini { Where::Minis } else { Where::Sectors });
        self.open(mini).into_iter().find(|(_, entry)| {
            let looks = || space.bytes(entry.start).is_some_and(dest_list::could_start);
            is_dest_list(entry.name) || (!named && entry.entry_id().is_none() && looks())
        })
    }

    /// The DestList along its chain, if everything in it holds.
    fn dest_list_along_table(&mut self, place: Where, work: &mut Work) {
        let Some((index, entry)) = self.dest_list_entry(place == Where::Minis) else { return };
        let assembled = self.along_table(place, &entry, work);
        if assembled.data.len() as u64 == entry.size && assembled.is_whole() {
            self.take_dest_list(Some(index), place, assembled, false);
        }
    }

    fn along_table(&self, place: Where, entry: &DirEntry<'_>, work: &mut Work) -> Assembled {
        let space = self.space(place);
        let units = space.chain(entry.start, Follow::Table, space.units_of(entry.size), work);
        let size = usize::try_from(entry.size).unwrap_or(usize::MAX);
        let data =
            if work.spend(units.len().saturating_mul(space.unit)) { space.gather(&units, size) } else { Vec::new() };
        Assembled::new(units, data)
    }

    /// The DestList from its start on, unit by unit: with the size in the directory, and without it.
    fn dest_list_by_checksums(&mut self, place: Where, work: &mut Work) {
        let Some((index, entry)) = self.dest_list_entry(place == Where::Minis) else { return };
        let along_table = self.along_table(place, &entry, work);
        let space = self.space(place);
        let mut found = vec![along_table];
        if !space.is_taken(entry.start) && !space.bytes(entry.start).is_some_and(looks_like_link) {
            found.extend(dest_list::assemble(space, entry.start, Some(entry.size), work));
            if found.last().is_none_or(|found| !found.is_whole()) {
                found.extend(dest_list::assemble(space, entry.start, None, work));
            }
        }
        let best = found.into_iter().rev().max_by_key(|found| (found.sound, found.is_whole()));
        if let Some(best) = best.filter(|best| best.sound > 0) {
            self.take_dest_list(Some(index), place, best, true);
        }
    }

    /// A DestList that the directory does not lead to: a header, and an entry that holds.
    fn dest_list_by_look(&mut self, work: &mut Work) {
        let entry =
            self.layout.directory.iter().position(|entry| entry.kind == Kind::Stream && is_dest_list(entry.name));
        let mut best: Option<(Where, Assembled)> = None;
        for place in [Where::Minis, Where::Sectors] {
            let space = self.space(place);
            for unit in 0..space.count() {
                let could_be = !space.is_taken(unit) && space.bytes(unit).is_some_and(dest_list::could_start);
                if !could_be || !work.spend(space.unit) {
                    continue;
                }
                let found = dest_list::assemble(space, unit, None, work).filter(|found| found.sound > 0);
                if let Some(found) =
                    found.filter(|found| best.as_ref().is_none_or(|(_, best)| found.sound > best.sound))
                {
                    best = Some((place, found));
                }
            }
        }
        if let Some((place, assembled)) = best {
            self.take_dest_list(entry, place, assembled, true);
        }
    }

    fn take_dest_list(&mut self, entry: Option<usize>, place: Where, assembled: Assembled, mended: bool) {
        let size = assembled.data.len();
        let units = assembled.units.clone();
        let named = entry.and_then(|entry| self.layout.directory.get(entry));
        let recovery = match named {
            _ if entry.is_none() => Recovery::Carved,
            Some(named) if mended => {
                let as_told = units.first() == Some(&named.start) && named.size == size as u64;
                let straight = units.windows(2).all(|pair| matches!(pair, [a, b] if a.checked_add(1) == Some(*b)));
                match self.recovery(place, &units, if straight { Follow::Straight } else { Follow::Mended }) {
                    Recovery::Intact if !as_told => Recovery::Chain,
                    recovery => recovery,
                }
            }
            Some(named) if !is_dest_list(named.name) => Recovery::Chain,
            _ => Recovery::Intact,
        };
        // What of it is in doubt takes nothing from others.
        let proven = Proven { entry, place, units, size, flaws: 0, recovery };
        let space = if place == Where::Minis { &mut self.minis } else { &mut self.sectors };
        space.take(&proven.units);
        if let Some(done) = entry.and_then(|entry| self.done.get_mut(entry)) {
            *done = true;
        }
        self.dest_list = Some((proven, assembled));
    }

    /// Links at heads that the directory does not name. Returns the heads at which there is none.
    fn unnamed_links(&mut self, place: Where, follows: &[Follow], work: &mut Work) -> Vec<u32> {
        let mut named: Vec<u32> = Vec::new();
        named.extend(self.open(place == Where::Minis).iter().map(|(_, entry)| entry.start));
        named.sort_unstable();
        let space = self.space(place);
        let heads = (0..space.count()).filter(|unit| {
            !space.is_taken(*unit)
                && named.binary_search(unit).is_err()
                && space.bytes(*unit).is_some_and(looks_like_link)
        });
        let mut open: Vec<u32> = heads.collect();
        open.retain(|start| {
            for follow in follows {
                let found = self.link_at(place, *start, None, *follow, work);
                let Some((units, size, 0)) = found else { continue };
                if *follow == Follow::Table && !self.space(place).is_trusted(&units) {
                    continue;
                }
                let recovery = Recovery::Carved;
                self.take(Proven { entry: None, place, units, size, flaws: 0, recovery });
                return false;
            }
            true
        });
        open
    }

    /// Finds links that nothing names, and closes the account.
    fn carve(mut self, all: &[u32], tables: &[bool], work: &mut Work) -> Outcome {
        let mut suspects = Suspects::default();
        for place in [Where::Minis, Where::Sectors] {
            let follows = [Follow::Table, Follow::Straight, Follow::Mended, Follow::NextFree];
            for start in self.unnamed_links(place, &follows, work) {
                // How long it is, is not known; most are of about this size.
                let space = self.space(place);
                let units = space.chain(start, Follow::Mended, USUAL_LINK / space.unit.max(1), work);
                suspects.add(space, Attempt { place, units, kind: Sought::Link(None) });
            }
        }
        let taken = self.taken_pieces(all, tables);
        let mut raw = Space::raw(&self.layout.sectors, all, taken);
        for start in 0..raw.count() {
            if raw.is_taken(start) || !raw.is_head(start) {
                continue;
            }
            for follow in [Follow::Straight, Follow::NextFree] {
                if let Some((units, size, 0)) = link_at(&raw, start, None, LARGEST_LINK, follow, work) {
                    raw.take(&units);
                    let place = Where::Raw;
                    self.proven.push(Proven { entry: None, place, units, size, flaws: 0, recovery: Recovery::Carved });
                    break;
                }
            }
        }
        let taken = (0..raw.count()).map(|unit| raw.is_taken(unit)).collect();
        self.suspect_named(&mut suspects, work);
        let entries = self.dest_list.as_ref().map_or(0, |(_, assembled)| assembled.sound);
        let streams = self.proven.iter().map(|proven| match proven {
            Proven { flaws: 1.., .. } => FLAWED,
            Proven { entry: Some(_), .. } => NAMED,
            _ => CARVED,
        });
        let score = streams.sum::<u64>().saturating_add(ENTRY.saturating_mul(entries as u64));
        let is_link = |entry: &usize| self.layout.directory.get(*entry).is_some_and(|entry| entry.entry_id().is_some());
        Outcome {
            links: self.proven.iter().filter_map(|proven| proven.entry).filter(is_link).count(),
            entries,
            proven: self.proven,
            dest_list: self.dest_list.map(|(proven, _)| proven),
            taken,
            suspects: suspects.worst(),
            attempts: suspects.attempts,
            score,
        }
    }

    /// By piece of 64 bytes: owned by a table or by something proven.
    fn taken_pieces(&self, all: &[u32], tables: &[bool]) -> Vec<bool> {
        let per_sector = (self.layout.sectors.size() / self.minis.unit).max(1);
        let mut taken: Vec<bool> = tables.iter().flat_map(|taken| std::iter::repeat_n(*taken, per_sector)).collect();
        taken.resize(all.len().saturating_mul(per_sector), false);
        let streams = self.proven.iter().chain(self.dest_list.iter().map(|(proven, _)| proven));
        for Proven { place, units, .. } in streams {
            for unit in units {
                let Some(sector) = self.space(*place).sector(*unit) else { continue };
                let first = usize::try_from(sector).unwrap_or(usize::MAX).saturating_mul(per_sector);
                let pieces = match place {
                    Where::Minis => {
                        let inside = usize::try_from(*unit).unwrap_or(usize::MAX) % per_sector;
                        let first = first.saturating_add(inside);
                        first..first.saturating_add(1)
                    }
                    _ => first..first.saturating_add(per_sector),
                };
                taken.get_mut(pieces).into_iter().flatten().for_each(|taken| *taken = true);
            }
        }
        taken
    }

    /// Suspects the sectors of what has a name and could not be proven.
    fn suspect_named(&self, suspects: &mut Suspects, work: &mut Work) {
        for proven in self.proven.iter().filter(|proven| proven.flaws > 0) {
            let kind = Sought::Link(Some(proven.size));
            suspects.add(self.space(proven.place), Attempt { place: proven.place, units: proven.units.clone(), kind });
        }
        for (mini, place) in [(true, Where::Minis), (false, Where::Sectors)] {
            for (_, entry) in self.open(mini) {
                let is_list = is_dest_list(entry.name);
                if !self.is_link(place, &entry) && !is_list {
                    continue;
                }
                let space = self.space(place);
                let most = space.units_of(entry.size).min(LARGEST_LINK / space.unit.max(1));
                let mut units = space.chain(entry.start, Follow::Table, most, work);
                if units.len() < most {
                    units = space.chain(entry.start, Follow::Mended, most, work);
                }
                let size = usize::try_from(entry.size).unwrap_or(usize::MAX);
                let kind = if is_list { Sought::DestList(size) } else { Sought::Link(Some(size)) };
                suspects.add(space, Attempt { place, units, kind });
            }
        }
        let Some((proven, assembled)) = &self.dest_list else { return };
        let space = self.space(proven.place);
        let gaps = destlist::resync(&assembled.data).gaps;
        for gap in &gaps {
            let first = (gap.start / space.unit).saturating_sub(1);
            let last = (gap.end / space.unit).min(proven.units.len().saturating_sub(1));
            suspects.meet(space, proven.units.get(first..=last).unwrap_or_default());
        }
        if !gaps.is_empty() {
            let (place, units) = (proven.place, proven.units.clone());
            suspects.attempts.push(Attempt { place, units, kind: Sought::DestList(proven.size) });
        }
    }
}

/// The link at unit `start` of `space`; see [`Solver::link_at`].
fn link_at(
    space: &Space<'_, '_>,
    start: u32,
    size: Option<usize>,
    largest: usize,
    follow: Follow,
    work: &mut Work,
) -> Option<(Vec<u32>, usize, u32)> {
    if !space.bytes(start).is_some_and(looks_like_link) {
        return None;
    }
    let most =
        size.unwrap_or(largest).min(usize::try_from(space.count()).unwrap_or(usize::MAX).saturating_mul(space.unit));
    let mut units = space.chain(start, follow, space.units_of(most as u64), work);
    if space.is_taken(start) || !work.spend(units.len().saturating_mul(space.unit)) {
        return None;
    }
    let walk = link::walk(&space.gather(&units, most)).ok()?;
    if size.is_some_and(|size| size != walk.size) {
        return None;
    }
    units.truncate(space.units_of(walk.size as u64));
    (!space.any_taken(&units)).then_some((units, walk.size, walk.flaws))
}
