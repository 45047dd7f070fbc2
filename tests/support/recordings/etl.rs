//! Makes ETL files.

use super::{pointer, wide_text};

/// Ticks per second of the files' clock.
pub const FREQUENCY: u64 = 10_000_000;

/// 2026-11-30T12:00:00Z as a FILETIME.
pub const START: u64 = 134_405_136_000_000_000;

/// Ticks of the first event.
pub const FIRST: u64 = 1_000_000;

/// How the buffers are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    None,
    Lzxpress,
    Lznt1,
}

/// An ETL file in the making.
pub struct Etl {
    pub wide: bool,
    packing: Packing,
    /// Version of FileIo events: 2 or 3.
    version: u16,
    buffer_size: usize,
    buffers: Vec<Vec<u8>>,
    events: Vec<u8>,
    processor: u16,
}

impl Etl {
    /// A file with its header and buffers of 4 KiB.
    pub fn new(wide: bool, version: u16, packing: Packing) -> Self {
        Self { wide, packing, version, buffer_size: 4096, buffers: Vec::new(), events: Vec::new(), processor: 0 }
            .header()
    }

    /// Buffers of this size from here on.
    pub fn buffer_size(mut self, size: usize) -> Self {
        self.buffer_size = size;
        self
    }

    fn header(mut self) -> Self {
        let mut data = Vec::new();
        for number in [4096u32, 0x0502_000A, 19_045, 2] {
            data.extend(number.to_le_bytes());
        }
        data.extend((START + 600_000_000).to_le_bytes());
        // TimerResolution, MaximumFileSize, LogFileMode, BuffersWritten, StartBuffers, PointerSize, EventsLost, CpuSpeed.
        for number in [156_250u32, 0, 1, 0, 1, if self.wide { 8 } else { 4 }, 0, 3_000] {
            data.extend(number.to_le_bytes());
        }
        data.extend(pointer(self.wide, 0));
        data.extend(pointer(self.wide, 0));
        data.extend([0; 176]);
        for time in [START, FREQUENCY, START] {
            data.extend(time.to_le_bytes());
        }
        // ReservedFlags: the performance counter. BuffersLost.
        data.extend(1u32.to_le_bytes());
        data.extend(0u32.to_le_bytes());
        data.extend(wide_text("NT Kernel Logger"));
        data.extend(wide_text("made.etl"));
        self.system(0, 0, 2, FIRST, &data);
        self.flush_plain();
        self
    }

    /// An event with a system header, as threads and processes have it.
    pub fn system(&mut self, group: u8, kind: u8, version: u16, time: u64, payload: &[u8]) {
        self.event(if self.wide { 2 } else { 1 }, 32, (group, kind), version, time, payload);
    }

    /// An event with a short header, as file and disk operations have it.
    pub fn perfinfo(&mut self, group: u8, kind: u8, version: u16, time: u64, payload: &[u8]) {
        self.event(if self.wide { 0x11 } else { 0x10 }, 16, (group, kind), version, time, payload);
    }

    fn event(&mut self, header: u8, size: usize, hook: (u8, u8), version: u16, time: u64, payload: &[u8]) {
        let total = size + payload.len();
        let mut event = version.to_le_bytes().to_vec();
        event.extend([header, 0xC0]);
        event.extend((total as u16).to_le_bytes());
        event.extend([hook.1, hook.0]);
        if size > 16 {
            event.extend([0xFF; 8]);
        }
        event.extend(time.to_le_bytes());
        event.resize(size, 0);
        event.extend(payload);
        event.resize(total.next_multiple_of(8), 0);
        if self.events.len() + event.len() + 72 > self.buffer_size {
            self.flush();
        }
        self.events.extend(event);
    }

    /// Ends the buffer; the next one is of `processor`.
    pub fn on_processor(&mut self, processor: u16) {
        self.flush();
        self.processor = processor;
    }

    fn flush_plain(&mut self) {
        let packing = std::mem::replace(&mut self.packing, Packing::None);
        self.flush();
        self.packing = packing;
    }

    fn flush(&mut self) {
        if self.events.is_empty() {
            return;
        }
        let events = std::mem::take(&mut self.events);
        let used = 72 + events.len();
        let (body, flags) = match self.packing {
            Packing::None => (events, 0x20u16),
            Packing::Lzxpress => (lzxpress(&events), 0x60),
            Packing::Lznt1 => (lznt1(&events), 0x60),
        };
        let size = if flags & 0x40 == 0 { self.buffer_size.max(used) } else { 72 + body.len() };
        let mut buffer = Vec::new();
        for number in [size, used, used, 0] {
            buffer.extend((number as u32).to_le_bytes());
        }
        buffer.extend((START + 1_000).to_le_bytes());
        buffer.extend((self.buffers.len() as u64).to_le_bytes());
        buffer.extend(0u64.to_le_bytes());
        buffer.extend(self.processor.to_le_bytes());
        buffer.extend(0u16.to_le_bytes());
        buffer.extend(3u32.to_le_bytes());
        buffer.extend((used as u32).to_le_bytes());
        buffer.extend(flags.to_le_bytes());
        buffer.extend(if self.buffers.is_empty() { 4u16 } else { 0 }.to_le_bytes());
        buffer.resize(72, 0);
        buffer.extend(body);
        buffer.resize(size, 0xFF);
        self.buffers.push(buffer);
    }

    /// The file.
    pub fn build(mut self) -> Vec<u8> {
        self.flush();
        let count = self.buffers.len() as u32;
        let mut file = self.buffers.concat();
        // BuffersWritten, in the header's payload.
        file[72 + 32 + 36..][..4].copy_from_slice(&count.to_le_bytes());
        file
    }

    /// A thread of a process exists.
    pub fn thread(&mut self, kind: u8, time: u64, pid: u32, tid: u32) {
        let mut data = pid.to_le_bytes().to_vec();
        data.extend(tid.to_le_bytes());
        data.resize(72, 0);
        self.system(5, kind, 3, time, &data);
    }

    /// A process exists.
    pub fn process(&mut self, kind: u8, time: u64, pid: u32, name: &str) {
        let mut data = pointer(self.wide, 0x8000_1000);
        data.extend(pid.to_le_bytes());
        data.resize(data.len() + 12, 0);
        data.extend(pointer(self.wide, 0x1A_0000));
        data.extend(0u32.to_le_bytes());
        // TOKEN_USER and S-1-5-18.
        data.extend(pointer(self.wide, 0x8000_2000));
        data.extend(pointer(self.wide, 0));
        data.extend([1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]);
        data.extend(name.as_bytes());
        data.push(0);
        data.extend(wide_text(name));
        self.perfinfo(3, kind, 4, time, &data);
    }

    /// A name of a file key: type 0, 32, 35 or 36.
    pub fn name(&mut self, kind: u8, time: u64, key: u64, path: &str) {
        let mut data = pointer(self.wide, key);
        data.extend(wide_text(path));
        self.perfinfo(4, kind, 2, time, &data);
    }

    /// Object, key and thread in the order of the version.
    fn file(&self, object: u64, key: Option<u64>, tid: u32) -> Vec<u8> {
        let mut data = Vec::new();
        if self.version < 3 {
            data.extend(pointer(self.wide, u64::from(tid)));
        }
        data.extend(pointer(self.wide, object));
        if let Some(key) = key {
            data.extend(pointer(self.wide, key));
        }
        if self.version >= 3 {
            data.extend(tid.to_le_bytes());
        }
        data
    }

    /// A file is opened.
    pub fn create(&mut self, time: u64, irp: u64, object: u64, tid: u32, path: &str) {
        let mut data = pointer(self.wide, irp);
        data.extend(self.file(object, None, tid));
        for number in [0x0100_0020u32, 0x80, 7] {
            data.extend(number.to_le_bytes());
        }
        data.extend(wide_text(path));
        self.perfinfo(4, 64, self.version, time, &data);
    }

    /// Bytes are read (67) or written (68).
    pub fn transfer(&mut self, kind: u8, time: u64, irp: u64, file: (u64, u64), tid: u32, range: (u64, u32)) {
        let mut data = range.0.to_le_bytes().to_vec();
        data.extend(pointer(self.wide, irp));
        data.extend(self.file(file.0, Some(file.1), tid));
        data.extend(range.1.to_le_bytes());
        data.extend(0x0006_0900u32.to_le_bytes());
        self.perfinfo(4, kind, self.version, time, &data);
    }

    /// A file object is cleaned up (65) or closed (66).
    pub fn close(&mut self, kind: u8, time: u64, irp: u64, file: (u64, u64), tid: u32) {
        let mut data = pointer(self.wide, irp);
        data.extend(self.file(file.0, Some(file.1), tid));
        self.perfinfo(4, kind, self.version, time, &data);
    }

    /// An operation ends.
    pub fn end(&mut self, time: u64, irp: u64, information: u64, status: u32) {
        let mut data = pointer(self.wide, irp);
        data.extend(pointer(self.wide, information));
        data.extend(status.to_le_bytes());
        self.perfinfo(4, 76, self.version, time, &data);
    }

    /// A disk read ends.
    pub fn disk_read(&mut self, time: u64, key: u64, tid: u32, size: u32, ticks: u64) {
        let mut data = Vec::new();
        for number in [0u32, 0x2_0002, size, 1] {
            data.extend(number.to_le_bytes());
        }
        data.extend(0x32A6_C000u64.to_le_bytes());
        data.extend(pointer(self.wide, key));
        data.extend(pointer(self.wide, 0x8888));
        data.extend(ticks.to_le_bytes());
        data.extend(tid.to_le_bytes());
        self.perfinfo(1, 10, 3, time, &data);
    }
}

/// Plain LZXPRESS (MS-XCA 2.3), with matches of what is 1 to 64 bytes back: enough to use every form of length.
pub fn lzxpress(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut flags_at, mut flags, mut count) = (0, 0u32, 32);
    let mut half_at: Option<usize> = None;
    let mut at = 0;
    while at < data.len() {
        if count == 32 {
            if !out.is_empty() {
                out[flags_at..flags_at + 4].copy_from_slice(&u32::to_le_bytes(flags));
            }
            (flags_at, flags, count) = (out.len(), 0, 0);
            out.extend([0; 4]);
        }
        flags <<= 1;
        count += 1;
        let length_at = |distance: usize| {
            data[at..].iter().zip(&data[at - distance..]).take_while(|(a, b)| a == b).count().min(70_000)
        };
        let best = (1..=at.min(64)).map(|distance| (length_at(distance), distance)).max_by_key(|(length, _)| *length);
        let Some((length, distance)) = best.filter(|(length, _)| *length >= 3) else {
            out.push(data[at]);
            at += 1;
            continue;
        };
        flags |= 1;
        at += length;
        let left = length - 3;
        out.extend((((distance - 1) << 3 | left.min(7)) as u16).to_le_bytes());
        if left < 7 {
            continue;
        }
        let half = (left - 7).min(15) as u8;
        match half_at.take() {
            None => {
                half_at = Some(out.len());
                out.push(half);
            }
            Some(place) => out[place] |= half << 4,
        }
        if half < 15 {
            continue;
        }
        if left - 22 < 255 {
            out.push((left - 22) as u8);
        } else if left < 65_536 {
            out.push(255);
            out.extend((left as u16).to_le_bytes());
        } else {
            out.extend([255, 0, 0]);
            out.extend((left as u32).to_le_bytes());
        }
    }
    if !out.is_empty() {
        let rest = 32 - count;
        flags = flags.checked_shl(rest).unwrap_or(0) | ((1u64 << rest) - 1) as u32;
        out[flags_at..flags_at + 4].copy_from_slice(&flags.to_le_bytes());
    }
    out
}

/// LZNT1 (MS-XCA 2.5), with matches of what is 1 to 64 bytes back.
pub fn lznt1(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in data.chunks(4096) {
        let mut packed = Vec::new();
        let (mut flags_at, mut bit, mut at) = (0, 8, 0);
        while at < chunk.len() {
            if bit == 8 {
                (flags_at, bit) = (packed.len(), 0);
                packed.push(0);
            }
            let mut length_bits = 12;
            while at > 1 << (16 - length_bits) {
                length_bits -= 1;
            }
            let most = (1 << length_bits) + 2;
            let length_at = |distance: usize| {
                chunk[at..].iter().zip(&chunk[at - distance..]).take_while(|(a, b)| a == b).count().min(most)
            };
            let best =
                (1..=at.min(16)).map(|distance| (length_at(distance), distance)).max_by_key(|(length, _)| *length);
            match best.filter(|(length, _)| *length >= 3) {
                None => {
                    packed.push(chunk[at]);
                    at += 1;
                }
                Some((length, distance)) => {
                    packed[flags_at] |= 1 << bit;
                    packed.extend((((distance - 1) << length_bits | (length - 3)) as u16).to_le_bytes());
                    at += length;
                }
            }
            bit += 1;
        }
        if packed.len() < 4096 {
            out.extend((0xB000 | (packed.len() - 1) as u16).to_le_bytes());
            out.extend(packed);
        } else {
            out.extend((0x3000 | (chunk.len() - 1) as u16).to_le_bytes());
            out.extend(chunk);
        }
    }
    out
}

/// A key of a file, as pointers are: only 4 bytes are kept in a narrow file.
pub const LIST: (u64, u64) = (0x8765_4320, 0x8111_2220);

/// Path of the jump list in [`explorer`], as the kernel has it.
pub const LIST_PATH: &str =
    r"\Device\HarddiskVolume3\Users\me\Recent\AutomaticDestinations\f01b4d95cf55d32a.automaticDestinations-ms";

/// Explorer (process 4000, thread 4004) opens a jump list, reads it in `reads` pieces of 64 bytes and closes it; each
/// second read is on another processor, whose buffer comes earlier in the file. Names and processes come at the end.
pub fn explorer(wide: bool, version: u16, packing: Packing, reads: u32) -> Vec<u8> {
    let mut etl = Etl::new(wide, version, packing);
    let at = |read: u32| FIRST + 10_000 + u64::from(read) * 100;
    for parity in [1, 0] {
        etl.on_processor(parity);
        if parity == 0 {
            etl.create(FIRST + 1_000, 0x10, LIST.0, 4_004, LIST_PATH);
            etl.end(FIRST + 1_100, 0x10, 0, 0);
        }
        for read in (0..reads).filter(|read| (read % 2) as u16 == parity) {
            let irp = 0x1000 + u64::from(read);
            etl.transfer(67, at(read), irp, LIST, 4_004, (u64::from(read) * 64, 64));
            etl.end(at(read) + 39, irp, 64, 0);
        }
    }
    let end = at(reads);
    // At the end of the file: asks for 64 bytes and gets 10, then none.
    etl.transfer(67, end, 0x20, LIST, 4_004, (u64::from(reads) * 64, 64));
    etl.end(end + 20, 0x20, 10, 0);
    etl.transfer(67, end + 30, 0x21, LIST, 4_004, (u64::from(reads) * 64 + 10, 64));
    etl.end(end + 40, 0x21, 0, 0xC000_0011);
    etl.transfer(68, end + 50, 0x22, (0x8765_9990, 0x8111_9990), 5_004, (0, 4_096));
    etl.end(end + 90, 0x22, 4_096, 0);
    etl.close(65, end + 100, 0x23, LIST, 4_004);
    etl.close(66, end + 110, 0x24, LIST, 4_004);
    etl.disk_read(end + 500, LIST.1, 4_004, 16_384, 200);
    etl.name(36, end + 1_000, LIST.1, LIST_PATH);
    etl.name(36, end + 1_000, 0x8111_9990, r"\Device\HarddiskVolume3\log.txt");
    etl.thread(4, end + 1_100, 4_000, 4_004);
    etl.thread(4, end + 1_100, 5_000, 5_004);
    etl.process(4, end + 1_200, 4_000, "explorer.exe");
    etl.process(4, end + 1_200, 5_000, "logger.exe");
    etl.build()
}
