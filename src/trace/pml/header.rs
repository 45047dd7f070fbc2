//! The header of a PML file, and its tables of processes and strings.
//!
//! Process Monitor's format is not documented by its maker. Everything here was measured on a recorded log
//! (tests/library/traces.rs).

use std::collections::HashMap;
use std::io::{self, Read, SeekFrom};
use std::sync::Arc;

use crate::bytes::{Bytes, Short};
use crate::trace::Input;
use crate::trace::utf16::utf16;

/// Bytes of the header.
pub const HEADER_SIZE: usize = 0x3A8;

/// The version that is read; Process Monitor has written it since 2.0.
const VERSION: u32 = 9;

/// Processes that are kept.
const MOST_PROCESSES: usize = 1 << 16;

/// Characters of a process name that are kept.
const NAME_LENGTH: usize = 260;

/// What is used of the header. Offsets are in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Header {
    /// Bytes of a pointer: 4 or 8.
    pub pointer: usize,
    /// Events in the file.
    pub count: u32,
    /// The first event.
    pub events: u64,
    /// The table of offsets of events: 5 bytes each.
    pub offsets: u64,
    /// The table of processes.
    processes: u64,
    /// The table of strings.
    strings: u64,
}

/// Why a header is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidHeader {
    Short(Short),
    /// Another signature than "PML_".
    Signature,
    /// Another version than 9.
    Version(u32),
}

impl From<Short> for InvalidHeader {
    fn from(short: Short) -> Self {
        Self::Short(short)
    }
}

impl InvalidHeader {
    /// What is needed and what is there.
    pub fn need_and_have(&self) -> (&'static str, String) {
        match self {
            Self::Short(short) => ("a PML header of 936 bytes", short.to_string()),
            Self::Signature => ("the signature PML_", "another".to_owned()),
            Self::Version(version) => ("version 9", version.to_string()),
        }
    }
}

impl Header {
    /// Reads the first [`HEADER_SIZE`] bytes of a file.
    pub fn parse(data: &[u8]) -> Result<Self, InvalidHeader> {
        let mut bytes = Bytes::new(data);
        if bytes.array::<4>("Signature")? != *b"PML_" {
            return Err(InvalidHeader::Signature);
        }
        let version = bytes.u32("Version")?;
        if version != VERSION {
            return Err(InvalidHeader::Version(version));
        }
        let wide = bytes.u32("Is64Bit")? != 0;
        bytes.take("ComputerName and SystemRoot", 0x234 - 0x0C)?;
        let count = bytes.u32("number of events")?;
        bytes.u64("unknown")?;
        let events = bytes.u64("offset of events")?;
        let offsets = bytes.u64("offset of event offsets")?;
        let processes = bytes.u64("offset of processes")?;
        let strings = bytes.u64("offset of strings")?;
        Ok(Self { pointer: if wide { 8 } else { 4 }, count, events, offsets, processes, strings })
    }

    /// True if the file of `size` bytes has all its tables: Process Monitor writes them when it closes the file.
    pub fn is_complete(&self, size: u64) -> bool {
        let table = u64::from(self.count).saturating_mul(5);
        let tables =
            [self.offsets.saturating_add(table), self.processes.saturating_add(4), self.strings.saturating_add(4)];
        self.events >= HEADER_SIZE as u64
            && self.events <= self.offsets
            && self.processes > 0
            && self.strings > 0
            && tables.iter().all(|end| *end <= size)
    }
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Process ID.
    pub pid: u32,
    /// Name of the image, if the table of strings has it.
    pub name: Option<Arc<str>>,
}

/// The processes of a file by the index that events use. Ones that cannot be read are missing.
pub fn processes(input: &mut dyn Input, header: &Header, size: u64) -> io::Result<HashMap<u32, Process>> {
    let mut processes = HashMap::new();
    let Some(count) = u32_at(input, header.processes)? else { return Ok(processes) };
    // The count is followed by as many indexes and as many offsets.
    let room = size.saturating_sub(header.processes) / 8;
    let count = u64::from(count).min(room).min(MOST_PROCESSES as u64);
    let real_count = u32_at(input, header.processes)?.unwrap_or_default();
    let offsets = header.processes.saturating_add(4).saturating_add(u64::from(real_count).saturating_mul(4));
    let mut names: HashMap<u32, Option<Arc<str>>> = HashMap::new();
    for number in 0..count {
        let Some(offset) = u32_at(input, offsets.saturating_add(number.saturating_mul(4)))? else { break };
        let at = header.processes.saturating_add(u64::from(offset));
        let Some(record) = array_at::<0x44>(input, at)? else { continue };
        let mut bytes = Bytes::at_base(&record, at);
        let fields = (|| {
            let index = bytes.u32("ProcessIndex")?;
            let pid = bytes.u32("ProcessId")?;
            bytes.take("ParentId to User", 0x40 - 8)?;
            Ok::<_, Short>((index, pid, bytes.u32("ProcessName")?))
        })();
        let Ok((index, pid, string)) = fields else { continue };
        let name = match names.get(&string) {
            Some(name) => name.clone(),
            None => {
                let name = text(input, header, string)?;
                names.insert(string, name.clone());
                name
            }
        };
        processes.insert(index, Process { pid, name });
    }
    Ok(processes)
}

/// String `index`, in UTF-16 with a zero at the end.
fn text(input: &mut dyn Input, header: &Header, index: u32) -> io::Result<Option<Arc<str>>> {
    let Some(count) = u32_at(input, header.strings)? else { return Ok(None) };
    if index >= count {
        return Ok(None);
    }
    let entry = header.strings.saturating_add(4).saturating_add(u64::from(index).saturating_mul(4));
    let Some(offset) = u32_at(input, entry)? else { return Ok(None) };
    let at = header.strings.saturating_add(u64::from(offset));
    let Some(size) = u32_at(input, at)? else { return Ok(None) };
    let mut data = Vec::new();
    let size = u64::from(size).min(NAME_LENGTH as u64 * 2);
    (&mut *input).take(size).read_to_end(&mut data)?;
    Ok(Some(utf16(&data).into()))
}

fn array_at<const N: usize>(input: &mut dyn Input, at: u64) -> io::Result<Option<[u8; N]>> {
    input.seek(SeekFrom::Start(at))?;
    let mut data = [0; N];
    match input.read_exact(&mut data) {
        Ok(()) => Ok(Some(data)),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(e) => Err(e),
    }
}

fn u32_at(input: &mut dyn Input, at: u64) -> io::Result<Option<u32>> {
    Ok(array_at(input, at)?.map(u32::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_another_version_or_signature_is_rejected_and_named() {
        let mut data = vec![0; HEADER_SIZE];
        assert_eq!(Header::parse(&data), Err(InvalidHeader::Signature));
        data[..4].copy_from_slice(b"PML_");
        data[4] = 8;
        assert_eq!(Header::parse(&data).unwrap_err().need_and_have(), ("version 9", "8".to_owned()));
        data[4] = 9;
        data[8] = 1;
        assert_eq!(Header::parse(&data).unwrap().pointer, 8);
        assert!(!Header::parse(&data).unwrap().is_complete(1 << 20), "tables that were never written");
        assert!(matches!(Header::parse(&data[..600]), Err(InvalidHeader::Short(_))));
    }
}
