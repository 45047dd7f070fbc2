//! The total score in the header of a DestList (measured, docs/format.md): the one place that computes and checks it.

use super::version::TotalRule;
use super::{Entry, Header, Version};

/// How far a total may be from the sum of the scores, as a part of it: both are 32-bit floats, and Windows adds them up in
/// another order.
const TOLERANCE: f64 = 1e-3;

/// A total above this is damage.
const MOST: f32 = 1e12;

/// True if a total can have this value: it is never below 0.
pub(crate) fn is_in_range(total: f32) -> bool {
    (0.0..=MOST).contains(&total)
}

/// The sum of the scores.
pub(crate) fn sum_of_scores<'e, 'a: 'e>(entries: impl IntoIterator<Item = &'e Entry<'a>>) -> f64 {
    // The sum of no numbers is -0.0.
    entries.into_iter().map(|entry| f64::from(entry.score)).sum::<f64>() + 0.0
}

/// True if the total is this sum of scores.
pub(crate) fn is_sum(total: f32, sum: f64) -> bool {
    (f64::from(total) - sum).abs() <= TOLERANCE * sum.abs().max(1.0)
}

/// True if the total of a list whose scores add up to `sum` can be right.
pub(crate) fn is_right(header: &Header, sum: f64) -> bool {
    match Version::from(header.version).total_rule() {
        TotalRule::Sum => is_sum(header.total, sum),
        TotalRule::Added | TotalRule::AsFound => is_in_range(header.total),
    }
}

/// A change of a list, as far as it changes the total.
pub(crate) struct Change {
    /// The sum of the scores before.
    pub(crate) before: f64,
    /// The sum of the scores after.
    pub(crate) after: f64,
    /// How many entries were added.
    pub(crate) added: usize,
    /// How many entries were removed.
    pub(crate) removed: usize,
}

/// The total after a change of the list that `header` is of.
pub(crate) fn after(header: &Header, change: &Change) -> f32 {
    let follows_sum = match Version::from(header.version).total_rule() {
        TotalRule::Sum => true,
        TotalRule::AsFound => is_sum(header.total, change.before),
        TotalRule::Added => false,
    };
    if follows_sum {
        change.after as f32
    } else {
        (header.total + change.added as f32 - change.removed as f32).max(0.0)
    }
}

/// The total of a list of which nothing is known but its entries.
pub(crate) fn of_entries(version: u32, sum: f64, count: usize) -> f32 {
    match Version::from(version).total_rule() {
        TotalRule::Sum => sum as f32,
        TotalRule::Added | TotalRule::AsFound => count as f32,
    }
}
