//! The fields in which Explorer reads a link and a DestList entry, as lengths in bytes.

use crate::bytes::u32_at;
use crate::format::destlist;

/// Bytes of the link header's size field, which is read alone (MS-SHLLINK 2.1).
const HEADER_SIZE_FIELD: usize = 4;
/// Bytes of the rest of the link header.
const HEADER_REST: usize = 72;
/// The bits of LinkFlags (MS-SHLLINK 2.1.1) for the parts of a link.
const HAS_ID_LIST: u32 = 1;
const HAS_LINK_INFO: u32 = 1 << 1;
const IS_UNICODE: u32 = 1 << 7;
/// The five strings of StringData: NAME_STRING to ICON_LOCATION.
const STRING_BITS: std::ops::RangeInclusive<u32> = 2..=6;

/// The fields of an entry: the fixed part up to the length of the path, that length, the path, the size of the property
/// store, and the store (measured, docs/format.md).
pub(super) fn of_entry(entry: &destlist::Entry<'_>, version: u32) -> [usize; 5] {
    let (path, store) = (entry.path.0.len(), entry.property_store.len());
    let version = destlist::Version::from(version);
    let fixed = version.fixed_size();
    match version.layout() {
        destlist::Layout::Short => [fixed, 2, path, 0, 0],
        destlist::Layout::Long => [fixed, 2, path, 4, store],
    }
}

/// Calls `visit` with the length of each field of the link `data`, in order. Where a length in the link leads past its
/// end, the rest of the data is one field.
pub(super) fn of_link(data: &[u8], visit: &mut impl FnMut(usize)) {
    let mut fields = Fields { data, at: 0, visit };
    let _ = fields.link();
}

struct Fields<'d, V> {
    data: &'d [u8],
    at: usize,
    visit: V,
}

impl<V: FnMut(usize)> Fields<'_, V> {
    /// One field, as far as its bytes are there; `None` at the end of the data.
    fn field(&mut self, length: usize) -> Option<()> {
        let left = self.data.len().saturating_sub(self.at);
        let take = length.min(left);
        if take > 0 {
            (self.visit)(take);
        }
        self.at = self.at.saturating_add(take);
        (take == length).then_some(())
    }

    fn u16(&self) -> Option<usize> {
        let bytes = self.data.get(self.at..)?.first_chunk::<2>()?;
        Some(usize::from(u16::from_le_bytes(*bytes)))
    }

    fn u32(&self) -> Option<usize> {
        u32_at(self.data, self.at).and_then(|size| usize::try_from(size).ok())
    }

    /// A part that starts with its 4-byte size, which counts itself.
    fn sized(&mut self) -> Option<usize> {
        let size = self.u32();
        self.field(4)?;
        let size = size?;
        self.field(size.saturating_sub(4))?;
        Some(size)
    }

    fn link(&mut self) -> Option<()> {
        let flags = u32_at(self.data, 20).unwrap_or_default();
        self.field(HEADER_SIZE_FIELD)?;
        self.field(HEADER_REST)?;
        if flags & HAS_ID_LIST != 0 {
            let size = self.u16();
            self.field(2)?;
            self.field(size?)?;
        }
        if flags & HAS_LINK_INFO != 0 {
            self.sized()?;
        }
        let character = if flags & IS_UNICODE != 0 { 2 } else { 1 };
        for _ in STRING_BITS.filter(|bit| flags >> bit & 1 != 0) {
            let count = self.u16();
            self.field(2)?;
            self.field(count?.saturating_mul(character))?;
        }
        // A block of less than 4 bytes is the terminal block (MS-SHLLINK 2.5).
        while self.sized()? >= 4 {}
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(data: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        of_link(data, &mut |length| found.push(length));
        found
    }

    fn header(flags: u32) -> Vec<u8> {
        let mut header = vec![0; 76];
        header[20..24].copy_from_slice(&flags.to_le_bytes());
        header
    }

    #[test]
    fn every_part_of_a_link_is_read_as_its_length_and_the_rest() {
        let mut link = header(0b1000_0111);
        link.extend([3, 0, 1, 2, 3]); // LinkTargetIDList of 3 bytes
        link.extend([6, 0, 0, 0, 1, 2]); // LinkInfo of 6 bytes
        link.extend([2, 0, b'a', 0, b'b', 0]); // NAME_STRING of 2 characters
        link.extend([9, 0, 0, 0, 1, 2, 3, 4, 5]); // an extra block of 9 bytes
        link.extend([0; 4]);
        assert_eq!(fields(&link), [4, 72, 2, 3, 4, 2, 2, 4, 4, 5, 4]);
    }

    #[test]
    fn a_length_past_the_end_ends_the_walk_with_the_rest_as_one_field() {
        let mut link = header(1);
        link.extend([200, 0, 1, 2, 3]);
        assert_eq!(fields(&link), [4, 72, 2, 3]);
        assert_eq!(fields(&link[..40]), [4, 36]);
        assert_eq!(fields(&[]), [0_usize; 0]);
    }
}
