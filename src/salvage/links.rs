//! Carves shell links out of bytes that no stream owns: the free sectors of a healthy file, or what a damaged one has
//! lost. A link is proven by its parts, which add up to its end.

use crate::format::link::{self, HEADER_SIZE, Walk, looks_like_link};

/// How much is left of the work that a search may cost, in bytes gone over.
#[derive(Debug)]
pub struct Work {
    left: u64,
}

impl Work {
    /// Budget in bytes.
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

/// A link among other bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarvedLink {
    /// Where it starts.
    pub at: usize,
    /// Bytes of it: to its end, or, of one that is truncated, to the end of the last part that fits the others.
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
