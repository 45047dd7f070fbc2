//! What bytes tell by themselves, wherever they stand: shell links that add up to their end, and DestList entries
//! whose checksum holds. For what a damaged file has lost, and for what a healthy one has left over.

use std::borrow::Cow;
use std::ops::Range;

use super::link::{self, HEADER_SIZE, Walk, looks_like_link};

/// How much is left of the work that a search may cost, in bytes gone over.
#[derive(Debug)]
pub struct Work {
    left: u64,
}

impl Work {
    /// So many bytes may be gone over.
    pub fn new(bytes: u64) -> Self {
        Self { left: bytes }
    }

    /// Takes `bytes` of it. False, from then on, if there is not so much left.
    pub fn spend(&mut self, bytes: usize) -> bool {
        let cost = (bytes as u64).saturating_add(16);
        let enough = cost <= self.left;
        self.left = if enough { self.left.saturating_sub(cost) } else { 0 };
        enough
    }

    /// True if there is nothing left of it.
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }
}

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

    /// Where byte `at` of the run stands in the file.
    pub fn offset(&self, at: usize) -> u64 {
        let offset = |piece: &Piece<P>| piece.offset.saturating_add(at.saturating_sub(piece.at)) as u64;
        self.piece(at).map_or(0, offset)
    }

    /// The kind of place in which byte `at` of the run stands; none if the run is empty.
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

/// A link among other bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarvedLink {
    /// Where it starts.
    pub at: usize,
    /// Bytes of it: to its end, or, of one that is cut, to the end of the last part that fits the others.
    pub size: usize,
    /// True if it adds up to its end, which proves it.
    pub whole: bool,
}

/// Links at any byte of `data`: those that add up to their end, and with `cut` those as well of which only the start
/// is there. Stops looking where `work` is spent.
pub fn links(data: &[u8], cut: bool, work: &mut Work) -> Vec<CarvedLink> {
    let mut links = Vec::new();
    let mut at = 0_usize;
    let first = HEADER_SIZE as u8;
    while let Some(next) = data.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == first)) {
        at = at.saturating_add(next);
        let rest = data.get(at..).unwrap_or_default();
        let mut size = 1;
        if looks_like_link(rest) && work.spend(HEADER_SIZE) {
            match link::walk(rest) {
                Ok(walk) if walk.flaws == 0 => {
                    links.push(CarvedLink { at, size: walk.size, whole: true });
                    size = walk.size;
                }
                Ok(Walk { size: gone_over, .. }) | Err(gone_over) => {
                    work.spend(gone_over);
                    let sound = if cut { link::sound_size(rest) } else { 0 };
                    if sound > 0 {
                        links.push(CarvedLink { at, size: sound, whole: false });
                        size = sound;
                    }
                }
            }
        }
        at = at.saturating_add(size);
    }
    links
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

    #[test]
    fn a_link_that_is_cut_is_told_up_to_where_its_parts_fit() {
        let mut header = vec![0_u8; HEADER_SIZE];
        header[..20].copy_from_slice(&[0x4C, 0, 0, 0, 1, 0x14, 2, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46]);
        // A name of two characters, then the terminal block.
        header[20] = 4;
        let whole = [header.as_slice(), &[2, 0, b'a', b'b', 0, 0, 0, 0]].concat();
        let data = [&[9; 7], whole.as_slice(), &whole[..79]].concat();
        let find = |cut| links(&data, cut, &mut Work::new(1 << 20));
        let first = CarvedLink { at: 7, size: 84, whole: true };
        assert_eq!(find(true), [first, CarvedLink { at: 91, size: 76, whole: false }]);
        assert_eq!(find(false), [first]);
        assert!(links(&data, true, &mut Work::new(0)).is_empty());
    }
}
