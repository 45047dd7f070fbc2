//! Finding the byte that is damaged in an entry, by its checksum.
//!
//! A CRC is linear: what a wrong byte does to it depends only on where the byte is and which of its bits are wrong,
//! not on the others. There are 26,520 ways for one byte of the 104 to be wrong, and 2⁶⁴ checksums, so a checksum that
//! is off by exactly what one of them does names the byte and its value for certain.

use std::collections::HashMap;

use crate::format::checksum::crc64;
use crate::format::destlist;
use crate::format::destlist::{CHECKED_SIZE, Entry};

/// Bytes of the checksum itself, taken as zero in what it covers.
const OWN: usize = 8;

/// What one wrong byte does to the checksum.
#[derive(Debug, Default)]
pub(super) struct Corrector {
    effects: HashMap<u64, (usize, u8)>,
}

/// A byte that was set right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Correction {
    /// Where it is in the entry.
    pub(super) at: usize,
    /// What it was.
    pub(super) was: u8,
    /// What it must be.
    pub(super) is: u8,
}

impl Corrector {
    /// The entry with its one damaged byte set right. `None` if the checksum does not identify one; if only the checksum
    /// is damaged, the entry as it is.
    pub(super) fn correct<'a>(&mut self, entry: &Entry<'a>, version: u32) -> Option<(Entry<'a>, Option<Correction>)> {
        let effect = entry.computed_checksum() ^ entry.checksum;
        if effect.to_le_bytes().iter().filter(|byte| **byte != 0).count() <= 1 {
            return Some((*entry, None));
        }
        if self.effects.is_empty() {
            self.effects = effects();
        }
        let (at, flipped) = *self.effects.get(&effect)?;
        let mut bytes = Vec::new();
        entry.encode(&mut bytes);
        let byte = bytes.get_mut(at)?;
        let was = std::mem::replace(byte, *byte ^ flipped);
        let is = *byte;
        let right = Entry::decode(&bytes, entry.offset, version).ok()?;
        (destlist::checksum_of(&bytes)? == right.checksum).then_some(())?;
        // What is behind the checksum's reach is as it was, and borrowed from the file.
        let right = Entry {
            offset: entry.offset,
            raw: entry.raw,
            checksum: entry.checksum,
            volume_id: right.volume_id,
            object_id: right.object_id,
            birth_volume_id: right.birth_volume_id,
            birth_object_id: right.birth_object_id,
            host: right.host,
            id: right.id,
            score: right.score,
            last_access: right.last_access,
            pin: right.pin,
            usage: entry.usage,
            path: entry.path,
            property_store: entry.property_store,
        };
        Some((right, Some(Correction { at, was, is })))
    }
}

/// For each change of the checksum that one wrong byte makes: where the byte is, and which of its bits are wrong.
fn effects() -> HashMap<u64, (usize, u8)> {
    let none = crc64(&[&[0; CHECKED_SIZE]]);
    let mut effects = HashMap::with_capacity((CHECKED_SIZE - OWN) * 255);
    for at in OWN..CHECKED_SIZE {
        let of_bit = |bit: u32| {
            let mut bytes = [0; CHECKED_SIZE];
            if let Some(byte) = bytes.get_mut(at) {
                *byte = 1 << bit;
            }
            crc64(&[&bytes]) ^ none
        };
        let bits: [u64; 8] = std::array::from_fn(|bit| of_bit(bit as u32));
        for flipped in 1..=u8::MAX {
            let wrong = bits.iter().enumerate().filter(|(bit, _)| flipped >> bit & 1 == 1);
            effects.insert(wrong.fold(0, |effect, (_, of_bit)| effect ^ of_bit), (at, flipped));
        }
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::guid::Guid;
    use crate::format::text::Utf16;
    use crate::format::time::FileTime;

    fn entry() -> Vec<u8> {
        let entry = Entry {
            offset: 0,
            raw: &[],
            checksum: 0,
            volume_id: Guid([1; 16]),
            object_id: Guid([2; 16]),
            birth_volume_id: Guid([3; 16]),
            birth_object_id: Guid([4; 16]),
            host: *b"desk-01\0\0\0\0\0\0\0\0\0",
            id: 5,
            score: 2.0,
            last_access: FileTime(133_919_536_269_767_640),
            pin: 3,
            usage: None,
            path: Utf16(b"C\0:\0\\\0"),
            property_store: &[],
        };
        let mut bytes = Vec::new();
        Entry { checksum: entry.computed_checksum(), ..entry }.encode(&mut bytes);
        bytes
    }

    #[test]
    fn any_one_damaged_byte_is_found_and_two_are_not_guessed_at() {
        let mut corrector = Corrector::default();
        let right = entry();
        for at in 0..CHECKED_SIZE {
            for flipped in [1, 0x80, 0xFF] {
                let mut bytes = right.clone();
                bytes[at] ^= flipped;
                let wrong = Entry::decode(&bytes, 0, 1).unwrap();
                let (found, correction) = corrector.correct(&wrong, 1).unwrap();
                let mut again = Vec::new();
                Entry { checksum: found.computed_checksum(), ..found }.encode(&mut again);
                assert_eq!(again, right);
                assert_eq!(correction.map(|correction| correction.at), (at >= 8).then_some(at));
            }
        }
        let mut bytes = right;
        bytes[30] ^= 0x10;
        bytes[90] ^= 0x01;
        assert_eq!(corrector.correct(&Entry::decode(&bytes, 0, 1).unwrap(), 1), None);
    }
}
