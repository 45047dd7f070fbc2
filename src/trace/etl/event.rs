//! The events in a buffer. Each starts with one of several headers, whose third and fourth byte say which it is, and
//! starts at a multiple of 8 bytes. Only the fields that file I/O needs are read.
//!
//! Sources: the structures in Microsoft's documentation of Event Tracing; what they leave open was measured on a recorded
//! file (tests/library/traces.rs).

use crate::bytes::Bytes;

/// The classes of events that are read. Kernel events have a number of a group in their header, the others a GUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `EventTrace`: the header of the file.
    File,
    /// `DiskIo`.
    DiskIo,
    /// `Process`.
    Process,
    /// `FileIo`.
    FileIo,
    /// `Thread`.
    Thread,
    /// What merging adds: type 35 names the drive letter of a volume.
    Merged,
}

/// Class GUIDs, in the byte order of a file.
const GUIDS: [([u8; 16], Class); 5] = [
    ([0xD4, 0xA8, 0x6F, 0x3D, 5, 0xFE, 0xD0, 0x11, 0x9D, 0xDA, 0, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C], Class::DiskIo),
    ([0xD0, 0xA8, 0x6F, 0x3D, 5, 0xFE, 0xD0, 0x11, 0x9D, 0xDA, 0, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C], Class::Process),
    ([0x39, 0xDC, 0xCB, 0x90, 0x3E, 0x4A, 0xD1, 0x11, 0x84, 0xF4, 0, 0, 0xF8, 4, 0x64, 0xE3], Class::FileIo),
    ([0xD1, 0xA8, 0x6F, 0x3D, 5, 0xFE, 0xD0, 0x11, 0x9D, 0xDA, 0, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C], Class::Thread),
    ([0x91, 0xEE, 0x79, 0x9B, 0xFD, 0xB5, 0xC0, 0x41, 0xA2, 0x43, 0x42, 0x48, 0xE2, 0x66, 0xE9, 0xD0], Class::Merged),
];

/// An event of a class that is read.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Its class.
    pub class: Class,
    /// What happened, within the class.
    pub kind: u8,
    /// Version of the layout of `payload`.
    pub version: u16,
    /// When it was written, in ticks of the file's clock.
    pub time: u64,
    /// Thread that wrote it, if the header has it.
    pub tid: Option<u32>,
    /// Process of that thread, if the header has it.
    pub pid: Option<u32>,
    /// True if pointers in `payload` have 8 bytes, false if 4.
    pub wide: bool,
    /// The data of the event.
    pub payload: &'a [u8],
}

/// An item in a buffer.
#[derive(Debug)]
pub enum Item<'a> {
    /// An event of a class that is read.
    Event(Event<'a>),
    /// An event of another class.
    Other,
}

/// The events of a buffer, in the order of their times.
pub struct Events<'a> {
    data: &'a [u8],
    at: usize,
}

/// Why the rest of a buffer is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidEvent {
    /// Offset in the unpacked events of the buffer.
    pub at: usize,
}

impl<'a> Events<'a> {
    /// The events in `data`.
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    fn step(&mut self) -> Option<Result<Item<'a>, InvalidEvent>> {
        let rest = self.data.get(self.at..)?;
        // The end of the events can be marked with ones, and a buffer that was not full can have zeroes there.
        match rest.first_chunk::<4>() {
            None | Some([0, 0, 0, 0] | [0xFF, 0xFF, 0xFF, 0xFF]) => return None,
            Some(_) => {}
        }
        let invalid = Some(Err(InvalidEvent { at: self.at }));
        let Some((size, item)) = parse(rest) else {
            self.at = self.data.len();
            return invalid;
        };
        self.at = self.at.saturating_add(size.next_multiple_of(8));
        Some(Ok(item))
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Item<'a>, InvalidEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step()
    }
}

/// The event at the start of `rest` and its size. `None` if its header is invalid.
fn parse(rest: &[u8]) -> Option<(usize, Item<'_>)> {
    let mut bytes = Bytes::new(rest);
    let first = bytes.u16("Size or Version").ok()?;
    let header_type = bytes.u8("HeaderType").ok()?;
    let marker = bytes.u8("MarkerFlags").ok()?;
    // A WPP message has 0x90, every other event 0xC0; the low bits of that are the number of counters that follow.
    if marker & 0xC0 != 0xC0 {
        let size = usize::from(first);
        return (marker & 0x80 != 0 && (8..=rest.len()).contains(&size)).then_some((size, Item::Other));
    }
    match header_type {
        1 | 2 => system(first, marker, header_type == 2, 32, rest),
        3 | 4 => system(first, marker, header_type == 4, 24, rest),
        0x10 | 0x11 => system(first, marker, header_type == 0x11, 16, rest),
        0x0A | 0x14 => classic(usize::from(first), header_type == 0x14, rest),
        _ => {
            let size = usize::from(first);
            (8..=rest.len()).contains(&size).then_some((size, Item::Other))
        }
    }
}

/// A kernel event: `SYSTEM_TRACE_HEADER` of 32 or 24 bytes, or `PERFINFO_TRACE_HEADER` of 16, without thread and process.
fn system(version: u16, marker: u8, wide: bool, header: usize, rest: &[u8]) -> Option<(usize, Item<'_>)> {
    let mut bytes = Bytes::new(rest);
    bytes.take("Version and Marker", 4).ok()?;
    let size = usize::from(bytes.u16("Size").ok()?);
    let kind = bytes.u8("HookId type").ok()?;
    let group = bytes.u8("HookId group").ok()?;
    let header = header.saturating_add(usize::from(marker & 7).saturating_mul(8));
    let payload = rest.get(header..size)?;
    let class = match group {
        0 => Class::File,
        1 => Class::DiskIo,
        3 => Class::Process,
        4 => Class::FileIo,
        5 => Class::Thread,
        _ => return Some((size, Item::Other)),
    };
    let (tid, pid) = if header < 24 {
        (None, None)
    } else {
        (known(bytes.u32("ThreadId").ok()?), known(bytes.u32("ProcessId").ok()?))
    };
    let time = bytes.u64("SystemTime").ok()?;
    Some((size, Item::Event(Event { class, kind, version, time, tid, pid, wide, payload })))
}

/// An event with a GUID (`EVENT_TRACE_HEADER`, 48 bytes).
fn classic(size: usize, wide: bool, rest: &[u8]) -> Option<(usize, Item<'_>)> {
    let payload = rest.get(48..size)?;
    let mut bytes = Bytes::new(rest);
    bytes.take("Size and Marker", 4).ok()?;
    let kind = bytes.u8("Class.Type").ok()?;
    bytes.u8("Class.Level").ok()?;
    let version = bytes.u16("Class.Version").ok()?;
    let tid = known(bytes.u32("ThreadId").ok()?);
    let pid = known(bytes.u32("ProcessId").ok()?);
    let time = bytes.u64("TimeStamp").ok()?;
    let guid = bytes.array::<16>("Guid").ok()?;
    let Some((_, class)) = GUIDS.iter().find(|(known, _)| *known == guid) else { return Some((size, Item::Other)) };
    Some((size, Item::Event(Event { class: *class, kind, version, time, tid, pid, wide, payload })))
}

/// A thread or process ID; all ones means unknown.
pub fn known(id: u32) -> Option<u32> {
    (id != u32::MAX).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `PERFINFO_TRACE_HEADER` event.
    fn event(group: u8, kind: u8, payload: &[u8]) -> Vec<u8> {
        let size = 16 + payload.len();
        let mut bytes = vec![2, 0, 0x11, 0xC0, size as u8, (size >> 8) as u8, kind, group];
        bytes.extend(77u64.to_le_bytes());
        bytes.extend(payload);
        bytes.resize(size.next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn kernel_events_are_read_and_others_passed_over() {
        let mut data = event(4, 67, &[1, 2, 3]);
        data.extend(event(15, 46, &[0; 5]));
        data.extend([16, 0, 0, 0x90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        data.extend([0xFF; 16]);
        let items: Vec<_> = Events::new(&data).map(Result::unwrap).collect();
        let [Item::Event(read), Item::Other, Item::Other] = &items[..] else { panic!("{items:?}") };
        assert_eq!((read.class, read.kind, read.time, read.payload), (Class::FileIo, 67, 77, &[1, 2, 3][..]));
    }

    #[test]
    fn a_size_that_does_not_fit_ends_the_buffer() {
        let good = event(4, 67, &[0; 8]);
        for size in [0u16, 15, 25, 0xFFFF] {
            let mut data = [&good[..], &good].concat();
            data[28..30].copy_from_slice(&size.to_le_bytes());
            let items: Vec<_> = Events::new(&data).collect();
            assert!(matches!(items[..], [Ok(Item::Event(_)), Err(InvalidEvent { at: 24 })]), "{size}: {items:?}");
        }
    }
}
