//! Ranges of a file that are searched as one piece of memory.

use std::borrow::Cow;
use std::ops::Range;

/// Ranges of a file, one after the other in one piece of memory. `P` says what kind of place each range is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run<'a, P> {
    data: Cow<'a, [u8]>,
    pieces: Vec<Piece<P>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece<P> {
    /// Where it starts in the run.
    at: usize,
    /// Where it starts in the file.
    offset: usize,
    place: P,
}

impl<'a, P: Copy + PartialEq> Run<'a, P> {
    /// These ranges of `file`. They are borrowed where they follow one another in the file, and copied where they do not.
    pub fn new(file: &'a [u8], ranges: impl IntoIterator<Item = (Range<usize>, P)>) -> Self {
        let mut pieces: Vec<Piece<P>> = Vec::new();
        let mut joined: Vec<Range<usize>> = Vec::new();
        let mut at = 0_usize;
        for (range, place) in ranges.into_iter().filter(|(range, _)| !range.is_empty()) {
            let follows = joined.last().is_some_and(|last| last.end == range.start);
            if !follows || pieces.last().is_none_or(|last| last.place != place) {
                pieces.push(Piece { at, offset: range.start, place });
            }
            at = at.saturating_add(range.len());
            match joined.last_mut().filter(|_| follows) {
                Some(last) => last.end = range.end,
                None => joined.push(range),
            }
        }
        let bytes = |range: &Range<usize>| file.get(range.clone()).unwrap_or_default();
        let data = match joined.as_slice() {
            [] => Cow::Borrowed(&[][..]),
            [one] => Cow::Borrowed(bytes(one)),
            several => Cow::Owned(several.iter().flat_map(bytes).copied().collect()),
        };
        Self { data, pieces }
    }

    /// The bytes.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// True if the ranges follow one another in the file.
    pub fn is_in_one_piece(&self) -> bool {
        matches!(self.data, Cow::Borrowed(_))
    }

    /// True if `size` bytes from `at` follow one another in the file.
    pub fn follows(&self, at: usize, size: usize) -> bool {
        let last = at.saturating_add(size.saturating_sub(1));
        self.offset(last).checked_sub(self.offset(at)) == Some(last.saturating_sub(at) as u64)
    }

    fn piece(&self, at: usize) -> Option<&Piece<P>> {
        let after = self.pieces.partition_point(|piece| piece.at <= at);
        self.pieces.get(after.checked_sub(1)?)
    }

    /// Offset of byte `at` of the run in the file.
    pub fn offset(&self, at: usize) -> u64 {
        let offset = |piece: &Piece<P>| piece.offset.saturating_add(at.saturating_sub(piece.at)) as u64;
        self.piece(at).map_or(0, offset)
    }

    /// The kind of place in which byte `at` of the run is; `None` if the run is empty.
    pub fn place(&self, at: usize) -> Option<P> {
        self.piece(at).map(|piece| piece.place)
    }

    /// `size` bytes from `at`; none of them if they are not all there.
    pub fn part(&self, at: usize, size: usize) -> Cow<'a, [u8]> {
        let range = at..at.saturating_add(size);
        match &self.data {
            Cow::Borrowed(data) => Cow::Borrowed(data.get(range).unwrap_or_default()),
            Cow::Owned(data) => Cow::Owned(data.get(range).unwrap_or_default().to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_knows_where_in_the_file_each_byte_is_from() {
        let file: Vec<u8> = (0..100).collect();
        let run = Run::new(&file, [(10..20, 'a'), (20..24, 'b'), (50..52, 'b'), (52..52, 'c'), (0..1, 'b')]);
        assert_eq!(run.data(), [(10..24).collect::<Vec<u8>>(), vec![50, 51, 0]].concat());
        let told: Vec<_> = [0, 9, 10, 13, 14, 15, 16].map(|at| (run.offset(at), run.place(at).unwrap())).to_vec();
        assert_eq!(told, [(10, 'a'), (19, 'a'), (20, 'b'), (23, 'b'), (50, 'b'), (51, 'b'), (0, 'b')]);
        assert!(matches!(Run::new(&file, [(3..5, ()), (5..9, ())]).part(1, 2), Cow::Borrowed(&[4, 5])));
        assert!(Run::<char>::new(&file, []).place(0).is_none());
    }
}
