//! Recordings of file I/O: which files are read in tiny pieces, and by whom.
//!
//! [`read_pml`] and [`read_etl`] turn a recording into [`FileEvent`]s; the form is detected by content
//! ([`Format::detect`]). Everything here is pure: readers take any [`Input`].

mod etl;
mod event;
mod pml;
mod utf16;

pub use etl::read as read_etl;
pub use event::{Clock, EventKind, EventSink, FileEvent, Input, Place, ReaderSummary, TraceError};
pub use pml::read as read_pml;

/// A form of recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Process Monitor's own binary format.
    ProcmonPml,
    /// An ETW log file.
    Etl,
}

/// Bytes of the start of a recording that [`Format::detect`] looks at.
pub const DETECTION_SIZE: usize = 64 << 10;

impl Format {
    /// The form of a recording by its first bytes, at most [`DETECTION_SIZE`] of them, unpacked and in UTF-8.
    pub fn detect(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"PML_") {
            Some(Self::ProcmonPml)
        } else if is_etl(start) {
            Some(Self::Etl)
        } else {
            None
        }
    }

    /// The name of the form, for output and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProcmonPml => "procmon-pml",
            Self::Etl => "etl",
        }
    }
}

/// True if these are the first bytes of an ETL file: the header of a buffer (`WMI_BUFFER_HEADER`), and the first event,
/// at 72, which has the marker of a system header in its fourth byte.
fn is_etl(start: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = start.get(at..at.saturating_add(4))?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let (Some(size), Some(saved), Some(current)) = (number(0), number(4), number(8)) else { return false };
    let marker = start.get(75).copied().unwrap_or_default();
    (128..=64 << 20).contains(&size) && size % 8 == 0 && saved <= size && current <= size && marker & 0xC0 == 0xC0
}
