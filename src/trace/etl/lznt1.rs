//! LZNT1, which one public description names as the compression of buffers in ETL files. Source: MS-XCA, section 2.5.

/// Bytes of a chunk, unpacked.
const CHUNK: usize = 4096;

/// Unpacks `packed` into `out`, which is emptied first. `None` if the result is not exactly `size` bytes or a chunk is
/// invalid; never writes more than `size` bytes.
pub fn decompress(packed: &[u8], size: usize, out: &mut Vec<u8>) -> Option<()> {
    out.clear();
    out.reserve(size.min(packed.len().saturating_mul(16)));
    let mut rest = packed;
    while out.len() < size {
        let header = u16::from_le_bytes(*rest.first_chunk()?);
        if header == 0 || header >> 12 & 7 != 3 {
            return None;
        }
        let length = usize::from(header & 0xFFF).saturating_add(1);
        let chunk = rest.get(2..length.saturating_add(2))?;
        rest = rest.get(length.saturating_add(2)..)?;
        let room = size.saturating_sub(out.len()).min(CHUNK);
        if header & 0x8000 == 0 {
            out.extend_from_slice(chunk.get(..chunk.len().min(room))?);
        } else {
            unpack_chunk(chunk, room, out)?;
        }
    }
    Some(())
}

/// Appends a compressed chunk of at most `room` bytes.
fn unpack_chunk(chunk: &[u8], room: usize, out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    let end = start.saturating_add(room);
    let mut bytes = chunk.iter().copied();
    while let Some(flags) = bytes.next() {
        for bit in 0..8 {
            let Some(byte) = bytes.next() else { return Some(()) };
            if out.len() >= end {
                return Some(());
            }
            if flags >> bit & 1 == 0 {
                out.push(byte);
                continue;
            }
            let pair = usize::from(u16::from_le_bytes([byte, bytes.next()?]));
            // The split between distance and length moves with the position in the chunk.
            let done = out.len().saturating_sub(start);
            let length_bits = (4..=12).rev().find(|bits| done <= 1 << (16 - bits)).unwrap_or(4);
            let distance = (pair >> length_bits).saturating_add(1);
            let length = (pair & ((1 << length_bits) - 1)).saturating_add(3);
            if distance > done {
                return None;
            }
            super::copy_match(out, distance, length.min(end.saturating_sub(out.len())))?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packed: &[u8], size: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decompress(packed, size, &mut out).map(|()| out)
    }

    #[test]
    fn the_example_of_ms_xca_is_unpacked() {
        // MS-XCA, section 3.3.
        let packed = [
            0x38, 0xb0, 0x88, 0x46, 0x23, 0x20, 0x00, 0x20, 0x47, 0x20, 0x41, 0x00, 0x10, 0xa2, 0x47, 0x01, 0xa0, 0x45,
            0x20, 0x44, 0x00, 0x08, 0x45, 0x01, 0x50, 0x79, 0x00, 0xc0, 0x45, 0x20, 0x05, 0x24, 0x13, 0x88, 0x05, 0xb4,
            0x02, 0x4a, 0x44, 0xef, 0x03, 0x58, 0x02, 0x8c, 0x09, 0x16, 0x01, 0x48, 0x45, 0x00, 0xbe, 0x00, 0x9e, 0x00,
            0x04, 0x01, 0x18, 0x90, 0x00,
        ];
        let plain = b"F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# E D D E E F# D E F# G F# D E F# G F# E D E A F# F# G A A G F# E D D E F# E D D\0";
        assert_eq!(unpacked(&packed, plain.len()).unwrap(), plain);
        for end in 0..packed.len() - 3 {
            assert_eq!(unpacked(&packed[..end], plain.len()), None, "cut at {end}");
        }
    }

    #[test]
    fn plain_chunks_are_copied_and_noise_is_refused() {
        let mut packed = vec![0xff, 0x3f];
        packed.extend([7; 4096]);
        packed.extend([0x01, 0x30, 8, 9]);
        let plain = unpacked(&packed, 4098).unwrap();
        assert_eq!((plain[4095], &plain[4096..]), (7, &[8, 9][..]));
        assert_eq!(unpacked(&[0, 0, 1, 2], 2), None);
        assert_eq!(unpacked(&[0x01, 0xb0, 0x01, 0x00], 4), None);
    }
}
