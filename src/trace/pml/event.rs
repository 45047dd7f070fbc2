//! An event of a PML file: a header of 52 bytes, the addresses of a stack, details of the operation and sometimes its
//! result. Only operations on files are read further than the header. Measured on a recorded log.

use crate::bytes::{Bytes, Short, u32_at};
use crate::trace::utf16::utf16;
use crate::trace::{EventKind, FileEvent};

/// Bytes of an event's header.
pub const HEADER_SIZE: usize = 52;

/// The most bytes of details that are read; Process Monitor's own are a few thousand.
pub const MOST_DETAILS: u32 = 1 << 20;

/// EventClass of operations on files.
const FILE_SYSTEM: u32 = 3;

/// 100 ns from 1601 (FILETIME) to 1970.
const UNIX_EPOCH: i64 = 116_444_736_000_000_000;

/// STATUS_PENDING: the operation was not complete when the log ended, and has no duration.
const PENDING: u32 = 0x103;

/// Rights that let a program read, write or run the content of a file: FILE_READ_DATA, FILE_WRITE_DATA,
/// FILE_APPEND_DATA, FILE_EXECUTE, MAXIMUM_ALLOWED and the generic rights.
const DATA_ACCESS: u32 = 0x1 | 0x2 | 0x4 | 0x20 | 0x0200_0000 | 0xF000_0000;

/// The header of an event.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// Index in the table of processes.
    pub process: u32,
    /// Thread ID.
    tid: u32,
    class: u32,
    operation: u16,
    duration: u64,
    time: u64,
    status: u32,
    /// Addresses of the stack.
    pub stack: u16,
    /// Bytes of details.
    pub details: u32,
    /// Offset of the result from the start of the event; 0 if there is none.
    pub result: u32,
}

impl Header {
    /// Reads the fields.
    pub fn parse(data: &[u8]) -> Result<Self, Short> {
        let mut bytes = Bytes::new(data);
        let process = bytes.u32("ProcessIndex")?;
        let tid = bytes.u32("ThreadId")?;
        let class = bytes.u32("EventClass")?;
        let operation = bytes.u16("Operation")?;
        bytes.take("unknown", 6)?;
        let duration = bytes.u64("Duration")?;
        let time = bytes.u64("Time")?;
        let status = bytes.u32("Result")?;
        let stack = bytes.u16("stack depth")?;
        bytes.u16("unknown")?;
        let details = bytes.u32("size of details")?;
        let result = bytes.u32("offset of result")?;
        Ok(Self { process, tid, class, operation, duration, time, status, stack, details, result })
    }

    /// What the operation is to `trace`.
    pub fn kind(&self) -> EventKind {
        if self.class != FILE_SYSTEM {
            return EventKind::Other;
        }
        match self.operation {
            20 => EventKind::Open,
            23 => EventKind::Read,
            24 => EventKind::Write,
            // Its sub-operation says which of the two.
            37 => EventKind::Lock,
            38 => EventKind::Close,
            _ => EventKind::Other,
        }
    }

    /// True if the fields can be those of an event: for finding events where no table says where they are.
    pub fn is_likely(&self) -> bool {
        self.class <= 6 && self.operation < 256 && self.details <= MOST_DETAILS
    }

    /// Bytes of header, stack and details.
    pub fn size(&self, pointer: usize) -> usize {
        let stack = usize::from(self.stack).saturating_mul(pointer);
        HEADER_SIZE.saturating_add(stack).saturating_add(self.details as usize)
    }
}

/// The event of an operation on a file. `details` are the bytes after the stack, `result` those that follow; the process
/// is left out.
pub fn file_event(header: &Header, details: &[u8], result: Option<&[u8]>, pointer: usize) -> Result<FileEvent, Short> {
    let mut bytes = Bytes::new(details);
    let sub_operation = bytes.u8("sub-operation")?;
    bytes.take("padding", 3)?;
    let parameters = bytes.take("parameters", pointer.saturating_mul(5).saturating_add(0x14))?;
    let path = bytes.u16("length of path")?;
    bytes.u16("padding")?;
    let path = text(&mut bytes, path)?;
    let kind = match (header.kind(), sub_operation) {
        (EventKind::Lock, 2..=4) => EventKind::Unlock,
        (kind, _) => kind,
    };
    let mut event = FileEvent {
        time: i64::try_from(header.time).ok().and_then(|time| time.checked_sub(UNIX_EPOCH)?.checked_mul(100)),
        duration: (header.status != PENDING).then(|| header.duration.saturating_mul(100)),
        tid: Some(header.tid),
        path: Some(path.into()),
        kind,
        // An error of NTSTATUS, or the warning STATUS_BUFFER_OVERFLOW and its like.
        ok: header.status < 0x8000_0000,
        ..FileEvent::default()
    };
    match kind {
        EventKind::Open => event.without_data = bytes.u32("DesiredAccess")? & DATA_ACCESS == 0,
        EventKind::Read | EventKind::Write => {
            // IRP flags and function codes take 12 bytes; then Length, Key and ByteOffset, each aligned to a pointer.
            let done = result.and_then(|result| u32_at(result, 0));
            event.length = done.or_else(|| u32_at(parameters, 12)).map(u64::from);
            event.offset = offset(parameters, pointer);
        }
        EventKind::Lock | EventKind::Unlock => {
            event.offset = offset(parameters, pointer);
            event.length = bytes.u64("Length").ok();
        }
        _ => {}
    }
    Ok(event)
}

/// ByteOffset; `None` where it stands for the current position or the end.
fn offset(parameters: &[u8], pointer: usize) -> Option<u64> {
    let at = pointer.checked_mul(2)?.checked_add(12)?;
    let bytes = parameters.get(at..)?.first_chunk::<8>()?;
    u64::try_from(i64::from_le_bytes(*bytes)).ok()
}

/// A text whose length in characters is `info`, with the highest bit set if each has one byte instead of two.
fn text(bytes: &mut Bytes<'_>, info: u16) -> Result<String, Short> {
    let length = usize::from(info & 0x7FFF);
    if info & 0x8000 != 0 {
        let text = bytes.take("path", length)?;
        return Ok(text.iter().map(|byte| char::from(*byte)).collect());
    }
    Ok(utf16(bytes.take("path", length.saturating_mul(2))?))
}
