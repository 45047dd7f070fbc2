//! What a number stood for at a time: Windows uses the numbers of threads, processes and files again.

use std::collections::HashSet;
use std::sync::Arc;

/// How an event bears on a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// The number is used from here on.
    Start,
    /// The number is in use here; when that started is not known.
    Known,
    /// The number is free after this.
    End,
}

#[derive(Debug, Clone)]
struct Entry<V> {
    number: u64,
    time: u64,
    edge: Edge,
    value: V,
}

/// What numbers stood for, by time. Filled first, then sorted, then asked.
#[derive(Debug)]
pub struct History<V> {
    entries: Vec<Entry<V>>,
    most: usize,
    /// Entries that were left out because there were too many.
    pub left_out: u64,
}

impl<V: Clone + PartialEq> History<V> {
    /// An empty one that takes at most `most` entries.
    pub fn new(most: usize) -> Self {
        Self { entries: Vec::new(), most, left_out: 0 }
    }

    /// Adds what was recorded of `number` at `time`.
    pub fn add(&mut self, number: u64, time: u64, edge: Edge, value: V) {
        if self.entries.len() < self.most {
            self.entries.push(Entry { number, time, edge, value });
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Replaces every value.
    pub fn replace(&mut self, mut with: impl FnMut(&V) -> V) {
        for entry in &mut self.entries {
            entry.value = with(&entry.value);
        }
    }

    /// Makes it ready for [`Self::at`].
    pub fn sort(&mut self) {
        self.entries.sort_by_key(|entry| (entry.number, entry.time, entry.edge));
        // The end of a recording names everything again.
        self.entries.dedup_by(|next, entry| {
            next.number == entry.number
                && next.value == entry.value
                && next.edge == Edge::Known
                && entry.edge != Edge::End
        });
    }

    /// What `number` stood for at `time`. `None` if nothing is recorded of that.
    pub fn at(&self, number: u64, time: u64) -> Option<&V> {
        let first = self.entries.partition_point(|entry| entry.number < number);
        let after = self.entries.partition_point(|entry| (entry.number, entry.time) <= (number, time));
        let before = after.checked_sub(1).filter(|at| *at >= first).and_then(|at| self.entries.get(at));
        let next = self.entries.get(after).filter(|entry| entry.number == number);
        match (before, next) {
            (Some(before), _) if before.edge != Edge::End => Some(&before.value),
            (_, Some(next)) if next.edge != Edge::Start => Some(&next.value),
            // Events of different processors are out of order by a little.
            (Some(before), _) => Some(&before.value),
            (None, _) => None,
        }
    }
}

/// Keeps each text once, up to a number of bytes.
#[derive(Debug, Default)]
pub struct Texts {
    kept: HashSet<Arc<str>>,
    bytes: usize,
}

impl Texts {
    /// Bytes of texts that are kept.
    const MOST: usize = 48 << 20;

    /// `text`, shared with earlier ones; `None` if it is new and there is no room for it.
    pub fn keep(&mut self, text: &str) -> Option<Arc<str>> {
        if let Some(kept) = self.kept.get(text) {
            return Some(Arc::clone(kept));
        }
        // Beside the text, the count of references and the place in the table.
        let bytes = self.bytes.saturating_add(text.len()).saturating_add(48);
        if bytes > Self::MOST {
            return None;
        }
        self.bytes = bytes;
        let text: Arc<str> = text.into();
        self.kept.insert(Arc::clone(&text));
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(entries: &[(u64, Edge, &'static str)]) -> History<&'static str> {
        let mut history = History::new(100);
        for (time, edge, value) in entries {
            history.add(7, *time, *edge, *value);
        }
        history.add(6, 5, Edge::Known, "six");
        history.add(8, 5, Edge::Known, "eight");
        history.sort();
        history
    }

    #[test]
    fn a_number_that_is_used_again_stands_for_what_it_was_at_the_time() {
        let names = history(&[(30, Edge::Start, "b"), (20, Edge::End, "a"), (90, Edge::Known, "b")]);
        let at = |time| names.at(7, time).copied();
        assert_eq!([at(1), at(20), at(30), at(40), at(99)], [Some("a"), Some("a"), Some("b"), Some("b"), Some("b")]);
        let names = history(&[(30, Edge::Start, "b")]);
        assert_eq!(names.at(7, 10), None, "what the number was before is not known");
        let names = history(&[(99, Edge::Known, "at the end")]);
        assert_eq!(names.at(7, 10), Some(&"at the end"));
        assert_eq!(names.at(9, 10), None);
    }

    #[test]
    fn no_more_entries_are_kept_than_allowed() {
        let mut names = History::new(2);
        for time in 0..5 {
            names.add(1, time, Edge::Start, time);
        }
        names.sort();
        assert_eq!((names.left_out, names.at(1, 9)), (3, Some(&1)));
    }
}
