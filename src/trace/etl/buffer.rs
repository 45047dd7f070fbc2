//! The buffers of an ETL file: each has a header (`WMI_BUFFER_HEADER`, 72 bytes) and then events, which can be
//! compressed. Buffers of all processors follow each other in the order in which they were written.

use std::io::{self, BufRead, Read};

use super::{lznt1, lzxpress};
use crate::bytes::{Bytes, Short};

/// Bytes of a buffer's header.
pub const HEADER_SIZE: usize = 72;

/// The largest buffer that is read, packed and unpacked. Windows makes none above 16 MiB
/// (`EVENT_TRACE_PROPERTIES.BufferSize`).
pub const MAX_SIZE: usize = 16 << 20;

/// Events of a buffer are packed (`ETW_BUFFER_FLAG_COMPRESSED`).
const COMPRESSED: u16 = 0x40;

/// Bytes that are searched at a time for the next header after damage.
const SEARCH_SIZE: usize = 64 << 10;

/// The fields of a header that are used.
#[derive(Debug, Clone, Copy)]
struct Header {
    /// Bytes in the file, with the header.
    size: usize,
    /// Bytes of header and events, unpacked.
    used: usize,
    state: u32,
    flags: u16,
    kind: u16,
}

impl Header {
    fn parse(data: &[u8]) -> Result<Self, Short> {
        let mut bytes = Bytes::new(data);
        let size = bytes.u32("BufferSize")? as usize;
        let saved = bytes.u32("SavedOffset")? as usize;
        let current = bytes.u32("CurrentOffset")? as usize;
        bytes.take("ReferenceCount to ClientContext", 0x2C - 0x0C)?;
        let state = bytes.u32("State")?;
        let filled = bytes.u32("Offset")? as usize;
        let flags = bytes.u16("BufferFlag")?;
        let kind = bytes.u16("BufferType")?;
        let most = if flags & COMPRESSED == 0 { size } else { MAX_SIZE };
        let fits = |used: &usize| (HEADER_SIZE..=most).contains(used);
        let used = [filled, saved, current].into_iter().find(fits).unwrap_or_default();
        Ok(Self { size, used, state, flags, kind })
    }

    fn is_valid(&self) -> bool {
        (HEADER_SIZE..=MAX_SIZE).contains(&self.size) && self.used >= HEADER_SIZE
    }

    /// True if bytes that are found by searching look like a header: stricter than [`Self::is_valid`], since noise must
    /// not pass.
    fn is_likely(&self) -> bool {
        self.is_valid() && self.used > HEADER_SIZE && self.state <= 8 && self.flags <= 0xFF && self.kind <= 8
    }
}

/// What comes next in the file.
#[derive(Debug)]
pub enum Next<'b> {
    /// A buffer: the offset of its header in the file, and its events, unpacked.
    Buffer(u64, &'b [u8]),
    /// A buffer that was skipped: where it is, and what is invalid.
    Damaged(u64, &'static str),
    /// The end of the file; true if it is in the middle of a buffer.
    End(bool),
}

/// Reads the buffers of a file one after the other.
pub struct Buffers<'a> {
    input: &'a mut dyn BufRead,
    /// Offset of the next byte in the file.
    offset: u64,
    /// Bytes that were read ahead in a search.
    ahead: Vec<u8>,
    packed: Vec<u8>,
    events: Vec<u8>,
    /// True once a buffer was unpacked as LZNT1, which is then tried first.
    lznt1: bool,
    truncated: bool,
}

impl<'a> Buffers<'a> {
    /// Reads from the start of `input`.
    pub fn new(input: &'a mut dyn BufRead) -> Self {
        Self {
            input,
            offset: 0,
            ahead: Vec::new(),
            packed: Vec::new(),
            events: Vec::new(),
            lznt1: false,
            truncated: false,
        }
    }

    /// The next buffer.
    pub fn next(&mut self) -> io::Result<Next<'_>> {
        let start = self.offset;
        if self.truncated {
            return Ok(Next::End(true));
        }
        let mut head = Vec::with_capacity(HEADER_SIZE);
        let got = self.read(HEADER_SIZE, &mut head)?;
        let Ok(header) = Header::parse(&head) else {
            self.truncated = got > 0 && head.iter().any(|byte| *byte != 0);
            return Ok(Next::End(self.truncated));
        };
        if got < HEADER_SIZE {
            return Ok(Next::End(true));
        }
        if !header.is_valid() {
            return self.search(start, head);
        }
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        let length = header.size.saturating_sub(HEADER_SIZE);
        let got = self.read(length, &mut packed)?;
        self.packed = packed;
        self.truncated = got < length;
        let used = header.used.saturating_sub(HEADER_SIZE);
        if header.flags & COMPRESSED == 0 {
            return Ok(Next::Buffer(start, self.packed.get(..used.min(got)).unwrap_or_default()));
        }
        if self.unpack(used) {
            return Ok(Next::Buffer(start, &self.events));
        }
        Ok(if self.truncated { Next::End(true) } else { Next::Damaged(start, "a compressed buffer is invalid") })
    }

    /// Reads up to `count` bytes to the end of `into`; the number of bytes read is smaller only at the end of the file.
    fn read(&mut self, count: usize, into: &mut Vec<u8>) -> io::Result<usize> {
        let before = into.len();
        let ahead = count.min(self.ahead.len());
        into.extend(self.ahead.drain(..ahead));
        (&mut *self.input).take(count.saturating_sub(ahead) as u64).read_to_end(into)?;
        let got = into.len().saturating_sub(before);
        self.offset = self.offset.saturating_add(got as u64);
        Ok(got)
    }

    /// Unpacks the bytes after the header with whichever method yields `size` bytes that start with an event.
    fn unpack(&mut self, size: usize) -> bool {
        let mut try_one = |lznt1: bool| {
            let method = if lznt1 { lznt1::decompress } else { lzxpress::decompress };
            let unpacked = method(&self.packed, size, &mut self.events).is_some();
            unpacked && self.events.get(3).is_none_or(|flags| flags & 0x80 != 0)
        };
        if try_one(self.lznt1) {
            return true;
        }
        if try_one(!self.lznt1) {
            self.lznt1 = !self.lznt1;
            return true;
        }
        false
    }

    /// Goes on at the next bytes that look like a header. `head` has been read already, at `start`.
    fn search(&mut self, start: u64, head: Vec<u8>) -> io::Result<Next<'_>> {
        let empty = head.iter().all(|byte| *byte == 0);
        let mut damaged = !empty;
        let mut window = head;
        // The start itself is known to be invalid.
        let mut from = 1usize;
        loop {
            let found =
                (from..).map_while(|at| Some((at, window.get(at..at.checked_add(HEADER_SIZE)?)?))).find(|(_, data)| {
                    // Two quick tests first: most bytes fail them.
                    data.get(0x36).is_some_and(|kind| *kind <= 8)
                        && data.get(0x2C).is_some_and(|state| *state <= 8)
                        && Header::parse(data).is_ok_and(|header| header.is_likely())
                });
            let keep = found.map_or(window.len().saturating_sub(HEADER_SIZE - 1), |(at, _)| at);
            let complete = found.is_some();
            damaged |= window.iter().take(keep).any(|byte| *byte != 0);
            window.drain(..keep);
            if complete {
                self.offset = self.offset.saturating_sub(window.len() as u64);
                window.append(&mut self.ahead);
                self.ahead = window;
                break;
            }
            from = 0;
            if self.read(SEARCH_SIZE, &mut window)? == 0 {
                self.truncated = false;
                if !damaged {
                    return Ok(Next::End(false));
                }
                break;
            }
        }
        // Buffers that were set aside and never written are zeroes: no damage.
        Ok(if damaged { Next::Damaged(start, "a buffer's header is invalid") } else { Next::Buffer(start, &[]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(size: u32, used: u32, flags: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_SIZE];
        bytes[..4].copy_from_slice(&size.to_le_bytes());
        bytes[4..8].copy_from_slice(&used.to_le_bytes());
        bytes[0x2C] = 3;
        bytes[0x30..0x34].copy_from_slice(&used.to_le_bytes());
        bytes[0x34..0x36].copy_from_slice(&flags.to_le_bytes());
        bytes.extend(body);
        bytes.resize(size as usize, 0);
        bytes
    }

    fn all(data: &[u8]) -> Vec<String> {
        let mut input = data;
        let mut buffers = Buffers::new(&mut input);
        let mut seen = Vec::new();
        loop {
            match buffers.next().unwrap() {
                Next::Buffer(at, events) => seen.push(format!("{at}: {} bytes", events.len())),
                Next::Damaged(at, why) => seen.push(format!("{at}: {why}")),
                Next::End(truncated) => {
                    seen.push(format!("end {truncated}"));
                    return seen;
                }
            }
        }
    }

    #[test]
    fn buffers_follow_each_other_and_damage_is_skipped() {
        let good = buffer(128, 100, 0, &[1; 28]);
        let data = [&good[..], &good].concat();
        assert_eq!(all(&data), ["0: 28 bytes", "128: 28 bytes", "end false"]);
        let data = [&good[..], &[0xEE; 500], &good].concat();
        assert_eq!(all(&data), ["0: 28 bytes", "128: a buffer's header is invalid", "628: 28 bytes", "end false"]);
        let data = [&good[..], &[0; 256]].concat();
        assert_eq!(all(&data), ["0: 28 bytes", "end false"]);
        let data = [&good[..], &[0; 70_000], &good].concat();
        assert_eq!(all(&data), ["0: 28 bytes", "128: 0 bytes", "70128: 28 bytes", "end false"]);
    }

    #[test]
    fn a_cut_is_reported_and_what_is_before_it_is_read() {
        let good = buffer(128, 100, 0, &[1; 28]);
        let data = [&good[..], &good[..80]].concat();
        assert_eq!(all(&data), ["0: 28 bytes", "128: 8 bytes", "end true"]);
        assert_eq!(all(&data[..130]), ["0: 28 bytes", "end true"]);
    }

    #[test]
    fn packed_buffers_are_read_with_either_method_and_a_huge_claim_allocates_nothing() {
        // 8 literal bytes, the fourth of which marks an event.
        let plain = [0, 0, 0x11, 0xC0, 1, 2, 3, 4];
        let lzxpress = [&[0, 0, 0, 0][..], &plain].concat();
        let lznt1 = [&[0x07, 0x30][..], &plain].concat();
        for packed in [lzxpress, lznt1] {
            let data = buffer(72 + packed.len() as u32, 80, 0x60, &packed);
            assert_eq!(all(&data), ["0: 8 bytes", "end false"]);
        }
        let data = buffer(92, 16 << 20, 0x40, &[0; 20]);
        assert_eq!(all(&data), ["0: a compressed buffer is invalid", "end false"]);
        let mut data = buffer(128, 100, 0, &[]);
        data[..4].copy_from_slice(&(16u32 << 20).to_le_bytes());
        assert_eq!(all(&data), ["0: 28 bytes", "end true"]);
    }
}
