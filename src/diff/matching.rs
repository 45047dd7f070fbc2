//! Which entry of one list is which of the other.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use super::item::Item;

/// For each item of `new`, the number of the item of `old` that is the same destination. Each is used once. The most
/// certain matches come first: path, object id and entry id; path and object id; path; object id (the target was renamed);
/// the same link under the same entry id (the path in the entry was damaged).
pub(super) fn pairs(old: &[Item<'_>], new: &[Item<'_>]) -> Vec<Option<usize>> {
    let mut matching = Matching { old, new, used: vec![false; old.len()], pairs: vec![None; new.len()] };
    matching.pass(|item| Some((item.key(), item.droid(), item.id())));
    matching.pass(|item| Some((item.key(), item.droid()?)));
    matching.pass(|item| Some(item.key()));
    matching.pass(Item::droid);
    matching.pass(|item| Some((item.id()?, item.link_bytes()?)));
    matching.pairs
}

struct Matching<'m, 'c> {
    old: &'m [Item<'c>],
    new: &'m [Item<'c>],
    used: Vec<bool>,
    pairs: Vec<Option<usize>>,
}

impl<'m, 'c> Matching<'m, 'c> {
    /// Matches what is left by a key; of several with one key the first of both, in their order.
    fn pass<K: Hash + Eq>(&mut self, key: impl Fn(&'m Item<'c>) -> Option<K>) {
        let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
        for (at, item) in self.old.iter().enumerate().filter(|(at, _)| self.used.get(*at) == Some(&false)) {
            if let Some(key) = key(item) {
                waiting.entry(key).or_default().push_back(at);
            }
        }
        if waiting.is_empty() {
            return;
        }
        for (item, pair) in self.new.iter().zip(&mut self.pairs).filter(|(_, pair)| pair.is_none()) {
            let found = key(item).and_then(|key| waiting.get_mut(&key)).and_then(VecDeque::pop_front);
            if let Some(used) = found.and_then(|at| self.used.get_mut(at)) {
                *used = true;
                *pair = found;
            }
        }
    }
}
