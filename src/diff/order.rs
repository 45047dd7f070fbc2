//! Which entries of a list moved.

/// For each of `positions` (where an entry was, in the order that the entries have now), whether it moved: the fewest
/// entries whose removal leaves the others in their old order. Takes n log n steps.
pub(super) fn moved(positions: &[usize]) -> Vec<bool> {
    // The longest increasing subsequence: `ends` has, for each length, the index of the smallest last element.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = vec![None; positions.len()];
    let value = |at: usize| positions.get(at).copied().unwrap_or(usize::MAX);
    for (at, position) in positions.iter().enumerate() {
        let length = ends.partition_point(|end| value(*end) < *position);
        let before = length.checked_sub(1).and_then(|last| ends.get(last)).copied();
        if let Some(slot) = previous.get_mut(at) {
            *slot = before;
        }
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut moved = vec![true; positions.len()];
    let mut next = ends.last().copied();
    while let Some(at) = next {
        if let Some(slot) = moved.get_mut(at) {
            *slot = false;
        }
        next = previous.get(at).copied().flatten();
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn only_the_entry_that_moved_is_reported() {
        assert_eq!(moved(&[0, 1, 2, 3]), [false; 4]);
        assert_eq!(moved(&[3, 0, 1, 2]), [true, false, false, false]);
        assert_eq!(moved(&[1, 2, 3, 0]), [false, false, false, true]);
        assert_eq!(moved(&[]), [false; 0]);
        assert_eq!(moved(&[4, 3, 2, 1, 0]).iter().filter(|moved| !**moved).count(), 1);
    }
}
