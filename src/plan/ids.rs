//! Entry ids: each is given once, and the next is one above the last.

use std::collections::HashSet;

/// Ids that are in use, and those that are free.
#[derive(Debug)]
pub(super) struct Ids {
    used: HashSet<u64>,
    last: u64,
    low: u64,
}

impl Ids {
    /// None is in use; the last that was given is `last`.
    pub(super) fn after(last: u64) -> Self {
        Self { used: HashSet::new(), last, low: 0 }
    }

    /// True if this id is the caller's now: it is one that Windows gives, and nobody had it.
    pub(super) fn keep(&mut self, id: u64) -> bool {
        id != 0 && self.used.insert(id)
    }

    /// An id that nobody has: the one after the last that was given, or the first that is free where there is none.
    pub(super) fn next(&mut self) -> u64 {
        match self.last.checked_add(1) {
            Some(next) => self.last = next,
            None => {
                while self.low == 0 || self.used.contains(&self.low) {
                    self.low = self.low.saturating_add(1);
                }
                self.used.insert(self.low);
                return self.low;
            }
        }
        self.used.insert(self.last);
        self.last
    }

    pub(super) fn highest(&self) -> u64 {
        self.used.iter().copied().max().unwrap_or(0)
    }
}
