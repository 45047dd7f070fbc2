//! What taking the streams out of a damaged file gives: what is proven, and what does not hold where it should be.

use std::collections::HashMap;

use super::super::{Recovery, proof};
use super::space::Space;
use crate::format::destlist;

/// How many sectors are suspected at the most.
const MOST_SUSPECTS: usize = 24;
/// How many streams that do not hold are kept in mind.
const MOST_ATTEMPTS: usize = 32;

/// Where the units of a stream are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Where {
    Sectors,
    Minis,
    /// Pieces of 64 bytes of the file.
    Raw,
}

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

/// A stream that could not be proven in the units where it should be.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    pub(super) place: Where,
    pub(super) units: Vec<u32>,
    pub(super) kind: Sought,
}

/// What was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    /// A link, of this size if that is known.
    Link(Option<usize>),
    /// The DestList, of this size.
    DestList(usize),
}

impl Attempt {
    /// How many links and entries hold in `space`, whose units are the same, but not what is in them.
    pub(super) fn held(&self, space: &Space<'_, '_>) -> usize {
        match self.kind {
            Sought::Link(size) => {
                let walk = proof::walk_link(&space.gather(&self.units, size.unwrap_or(usize::MAX)));
                let holds = |walk: proof::Walk| walk.flaws == 0 && size.is_none_or(|size| size == walk.size);
                usize::from(walk.is_ok_and(holds))
            }
            Sought::DestList(size) => destlist::resync(&space.gather(&self.units, size)).sound(),
        }
    }
}

/// What one view of a damaged file gives.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    pub(super) proven: Vec<Proven>,
    /// The DestList, which need not be whole.
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

impl Outcome {
    /// How many links and entries are certain, under their names.
    pub(super) fn held(&self) -> usize {
        self.links.saturating_add(self.entries)
    }
}

/// Sectors in which something does not hold, with how often they were met, and what it is.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    pub(super) met: HashMap<u32, u32>,
    pub(super) attempts: Vec<Attempt>,
}

impl Suspects {
    pub(super) fn add(&mut self, space: &Space<'_, '_>, attempt: Attempt) {
        if self.attempts.len() < MOST_ATTEMPTS {
            self.meet(space, &attempt.units);
            self.attempts.push(attempt);
        }
    }

    /// Suspects the first sectors that these units are in.
    pub(super) fn meet(&mut self, space: &Space<'_, '_>, units: &[u32]) {
        let mut before = None;
        let mut left = MOST_SUSPECTS;
        for sector in units.iter().map(|unit| space.sector(*unit)) {
            if let Some(sector) = sector.filter(|_| sector != before && left > 0) {
                let met = self.met.entry(sector).or_default();
                *met = met.saturating_add(1);
                left = left.saturating_sub(1);
            }
            before = sector;
        }
    }

    pub(super) fn worst(&self) -> Vec<u32> {
        let mut all: Vec<(u32, u32)> = self.met.iter().map(|(sector, met)| (*sector, *met)).collect();
        all.sort_by_key(|(sector, met)| (std::cmp::Reverse(*met), *sector));
        all.truncate(MOST_SUSPECTS);
        all.into_iter().map(|(sector, _)| sector).collect()
    }
}
