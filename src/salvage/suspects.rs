//! What does not hold, and in which sectors: the sectors that may be swapped.

use std::collections::HashMap;

use super::space::{Space, Where};
use crate::format::{destlist, link};

/// How many sectors are suspected at the most.
const MOST_SUSPECTS: usize = 24;
/// How many streams that do not hold are kept in mind.
const MOST_ATTEMPTS: usize = 32;

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
                let walk = link::walk(&space.gather(&self.units, size.unwrap_or(usize::MAX)));
                let holds = |walk: link::Walk| walk.flaws == 0 && size.is_none_or(|size| size == walk.size);
                usize::from(walk.is_ok_and(holds))
            }
            Sought::DestList(size) => destlist::resync(&space.gather(&self.units, size)).sound(),
        }
    }
}

/// Sectors in which something does not hold, with how often they were met, and what it is.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    met: HashMap<u32, u32>,
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

    /// The sectors that were met most.
    pub(super) fn worst(&self) -> Vec<u32> {
        let mut all: Vec<(u32, u32)> = self.met.iter().map(|(sector, met)| (*sector, *met)).collect();
        all.sort_by_key(|(sector, met)| (std::cmp::Reverse(*met), *sector));
        all.truncate(MOST_SUSPECTS);
        all.into_iter().map(|(sector, _)| sector).collect()
    }
}
