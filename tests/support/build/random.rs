//! Numbers that look random and are the same on every run and every machine (SplitMix64).

/// The generator; the seed is its whole state.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// One of `choices`.
    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// `bytes` random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.bits() as u8).collect()
    }

    /// The numbers from 0 to `count`, in a random order.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            numbers.swap(last, self.below(last as u64 + 1) as usize);
        }
        numbers
    }
}
