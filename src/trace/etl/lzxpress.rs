//! Plain LZ77 (LZXPRESS), the compression of buffers in ETL files since Windows 8. Source: MS-XCA, section 2.4.

/// Unpacks `packed` into `out`, which is emptied first. `None` if the result is not exactly `size` bytes or a match is
/// out of range; never writes more than `size` bytes.
pub fn decompress(packed: &[u8], size: usize, out: &mut Vec<u8>) -> Option<()> {
    out.clear();
    out.reserve(size.min(packed.len().saturating_mul(16)));
    let mut input = Input { packed, at: 0, half_byte: None };
    let mut flags = 0u32;
    let mut flags_left = 0u32;
    while out.len() < size {
        if flags_left == 0 {
            flags = input.u32()?;
            flags_left = 32;
        }
        flags_left -= 1;
        if flags >> flags_left & 1 == 0 {
            out.push(input.u8()?);
            continue;
        }
        let (distance, length) = input.a_match()?;
        if length > size.saturating_sub(out.len()) {
            return None;
        }
        super::copy_match(out, distance, length)?;
    }
    Some(())
}

struct Input<'a> {
    packed: &'a [u8],
    at: usize,
    /// A byte whose high half is the next long length.
    half_byte: Option<u8>,
}

impl Input<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.packed.get(self.at..)?.first_chunk::<N>()?;
        self.at = self.at.saturating_add(N);
        Some(*bytes)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Distance and length of a match.
    fn a_match(&mut self) -> Option<(usize, usize)> {
        let pair = self.u16()?;
        let distance = usize::from(pair >> 3).saturating_add(1);
        let mut length = usize::from(pair & 7);
        if length == 7 {
            length = length.checked_add(self.long_length()?)?;
        }
        Some((distance, length.checked_add(3)?))
    }

    /// What a length that does not fit in three bits has beyond 7: 4 bits, else 8, else 16, else 32.
    fn long_length(&mut self) -> Option<usize> {
        let half = match self.half_byte.take() {
            Some(byte) => byte >> 4,
            None => {
                let byte = self.u8()?;
                self.half_byte = Some(byte);
                byte & 15
            }
        };
        if half < 15 {
            return Some(usize::from(half));
        }
        let byte = self.u8()?;
        if byte < 255 {
            return Some(usize::from(byte).saturating_add(15));
        }
        let mut length = u32::from(self.u16()?);
        if length == 0 {
            length = self.u32()?;
        }
        // Here the length is complete: it includes the 7.
        usize::try_from(length).ok()?.checked_sub(7).filter(|length| *length >= 15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packed: &[u8], size: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decompress(packed, size, &mut out).map(|()| out)
    }

    #[test]
    fn the_examples_of_ms_xca_are_unpacked() {
        // MS-XCA, section 3.1: the alphabet as literals, then "abc" 100 times as one match.
        let mut packed = vec![0x3f, 0, 0, 0];
        packed.extend(b'a'..=b'z');
        assert_eq!(unpacked(&packed, 26).unwrap(), (b'a'..=b'z').collect::<Vec<_>>());
        let packed = [0xff, 0xff, 0xff, 0x1f, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01];
        assert_eq!(unpacked(&packed, 300).unwrap(), b"abc".repeat(100));
    }

    #[test]
    fn a_match_before_the_start_past_the_size_or_cut_is_refused() {
        assert_eq!(unpacked(&[0, 0, 0, 0x80, 0, 0], 3), None);
        let packed = [0xff, 0xff, 0xff, 0x1f, 0x61, 0x62, 0x63, 0x17, 0x00, 0x0f, 0xff, 0x26, 0x01];
        assert_eq!(unpacked(&packed, 299), None);
        assert_eq!(unpacked(&packed, 301), None);
        for end in 0..packed.len() {
            assert_eq!(unpacked(&packed[..end], 300), None);
        }
        assert_eq!(unpacked(&[], 0).unwrap(), b"");
    }
}
