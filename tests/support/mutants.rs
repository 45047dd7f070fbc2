//! Damaged copies of whole files, each kind of damage seeded, so that a mutant's number gives the same mutant everywhere.

#![allow(dead_code, unreachable_pub, reason = "each user takes in the whole of it and uses a part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "it damages files that the caller knows to be whole"
)]

use std::ops::Range;

/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// A kind of damage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Flips,
    Truncated,
    Zeroed,
    Swapped,
    Fat,
    MiniFat,
    Directory,
    Header,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Flips,
        Self::Truncated,
        Self::Zeroed,
        Self::Swapped,
        Self::Fat,
        Self::MiniFat,
        Self::Directory,
        Self::Header,
    ];

    /// Those that need no compound file.
    pub const OF_ANY_FILE: [Self; 4] = [Self::Flips, Self::Truncated, Self::Zeroed, Self::Swapped];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flips => "bit-flips",
            Self::Truncated => "truncated",
            Self::Zeroed => "zeroed-sectors",
            Self::Swapped => "swapped-sectors",
            Self::Fat => "fat",
            Self::MiniFat => "mini-fat",
            Self::Directory => "directory",
            Self::Header => "header",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A damaged copy.
    pub fn apply(self, original: &[u8], random: &mut Random) -> Vec<u8> {
        self.mutant(original, random).data
    }

    /// A damaged copy, and what of it was moved.
    pub fn mutant(self, original: &[u8], random: &mut Random) -> Mutant {
        let mut data = original.to_vec();
        let mut moved: Vec<usize> = (0..data.len().div_ceil(SECTOR)).collect();
        let sectors = data.len() / SECTOR;
        match self {
            Self::Flips => {
                for _ in 0..1_usize << random.within(0..7) {
                    let at = random.within(0..data.len());
                    data[at] ^= 1 << random.within(0..8);
                }
            }
            Self::Truncated => data.truncate(random.within(1..data.len())),
            Self::Zeroed => {
                for _ in 0..1_usize << random.within(0..3) {
                    let at = random.within(0..sectors) * SECTOR;
                    data.iter_mut().skip(at).take(SECTOR).for_each(|byte| *byte = 0);
                }
            }
            Self::Swapped if sectors > 1 => {
                for _ in 0..random.within(1..3) {
                    let (a, b) = (random.within(0..sectors), random.within(0..sectors));
                    for inside in 0..SECTOR {
                        data.swap(a * SECTOR + inside, b * SECTOR + inside);
                    }
                    for place in &mut moved {
                        *place = match *place {
                            place if place == a => b,
                            place if place == b => a,
                            place => place,
                        };
                    }
                }
            }
            Self::Swapped => {}
            Self::Fat => edit_table(&mut data, 76, random),
            Self::MiniFat => edit_table(&mut data, 60, random),
            Self::Directory => edit_directory(&mut data, random),
            Self::Header => {
                for _ in 0..random.within(1..9) {
                    let at = if random.within(0..4) == 0 { random.within(0..SECTOR) } else { random.within(0..84) };
                    data[at] = random.next() as u8;
                }
            }
        }
        Mutant { data, moved }
    }
}

/// A damaged copy, and where each of the original's sectors went.
pub struct Mutant {
    pub data: Vec<u8>,
    moved: Vec<usize>,
}

impl Mutant {
    /// True if these bytes of the original are all still there, wherever their sectors went.
    pub fn holds(&self, original: &[u8], ranges: &[Range<usize>]) -> bool {
        ranges.iter().all(|range| {
            // What goes over the end of a sector is in a file that is not made of them: nothing follows a move there.
            let sector = range.start / SECTOR;
            let whole = range.end <= (sector + 1) * SECTOR;
            let moved = if whole { self.moved.get(sector).copied().unwrap_or(sector) } else { sector };
            let start = moved * SECTOR + range.start % SECTOR;
            self.data.get(start..start + range.len()) == original.get(range.clone())
        })
    }
}

/// The sector that the header names at `field`, if the file has it.
fn sector_at(data: &[u8], field: usize) -> Option<Range<usize>> {
    let number = u32::from_le_bytes(*data.get(field..)?.first_chunk::<4>()?) as usize;
    let start = number.checked_add(1)?.checked_mul(SECTOR)?;
    (start + SECTOR <= data.len()).then_some(start..start + SECTOR)
}

/// One to eight values of the first FAT or mini FAT sector, or, one time in eight, the whole sector.
fn edit_table(data: &mut [u8], field: usize, random: &mut Random) {
    let count = data.len() / SECTOR;
    let Some(range) = sector_at(data, field) else { return };
    let sector = &mut data[range];
    if random.within(0..8) == 0 {
        sector.fill(*random.pick(&[0, 0xFF]));
        return;
    }
    let used = sector.chunks_exact(4).filter(|value| **value != [0xFF; 4]).count().max(1);
    for _ in 0..random.within(1..9) {
        let slot = random.within(0..used) * 4;
        let value = match random.within(0..4) {
            0 => random.next() as u32,
            1 => *random.pick(&[0xFFFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFD, 0]),
            _ => random.within(0..count * 8) as u32,
        };
        sector[slot..slot + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// One to four fields of directory entries, or whole entries, in a directory sector.
fn edit_directory(data: &mut [u8], random: &mut Random) {
    let looks = |sector: &[u8]| {
        sector.chunks_exact(128).all(|entry| entry[66] <= 5 && entry[65] == 0 && entry[64] <= 64 && entry[67] <= 1)
            && sector[64] > 0
    };
    let sectors: Vec<usize> =
        (SECTOR..data.len()).step_by(SECTOR).filter(|at| data.get(*at..at + SECTOR).is_some_and(looks)).collect();
    if sectors.is_empty() {
        return;
    }
    for _ in 0..random.within(1..5) {
        let at = *random.pick(&sectors) + random.within(0..4) * 128;
        let entry = &mut data[at..at + 128];
        match random.within(0..8) {
            0 => entry.fill(0),
            1 => entry[66] = random.next() as u8,
            2 => entry[64] = random.next() as u8,
            3 => entry[116..120].copy_from_slice(&(random.within(0..4096) as u32).to_le_bytes()),
            4 => entry[120..124].copy_from_slice(&(random.within(0..9000) as u32).to_le_bytes()),
            5 => entry[68..80].fill_with(|| random.next() as u8),
            _ => entry[random.within(0..128)] = random.next() as u8,
        }
    }
}

/// A small seeded generator (SplitMix64), so that a mutant's number gives the same mutant everywhere.
pub struct Random(u64);

impl Random {
    /// The generator for a mutant.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut random = Self(seed ^ number.wrapping_mul(0xD134_2543_DE82_EF95));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `range`; its start if it is empty.
    pub fn within(&mut self, range: Range<usize>) -> usize {
        range.start + (self.next() % (range.len().max(1) as u64)) as usize
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.within(0..of.len())]
    }
}
