//! The events that every reader of a recording yields, and where it hands them.

use std::io::{self, BufRead, Seek};
use std::sync::Arc;

/// One event of a recording. A reader fills in what its form of recording states and leaves the rest at the default:
/// `FileEvent { kind: EventKind::Read, path, ..FileEvent::default() }`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileEvent {
    /// When the event started, in nanoseconds, counted from [`ReaderSummary::clock`]. Never decreases by more than the
    /// time that events of different processors are out of order.
    pub time: Option<i64>,
    /// How long it took, in nanoseconds.
    pub duration: Option<u64>,
    /// Name of the process, without its folder (`Explorer.EXE`).
    pub process: Option<Arc<str>>,
    /// Process ID.
    pub pid: Option<u32>,
    /// Thread ID. Distinguishes the opens of a file in recordings without `handle`.
    pub tid: Option<u32>,
    /// Path of the file, as the recording has it. `None` if it is not known yet or not at all; then `file_key` or
    /// `handle` joins it with a name from [`EventSink::name`].
    pub path: Option<Arc<str>>,
    /// The open file: a file object of Windows, or a number that the reader gives to each open. Unique while the file is
    /// open; a new [`EventKind::Open`] starts a new use of the number.
    pub handle: Option<u64>,
    /// The file itself (FileKey in ETW): the same for every open of a file.
    pub file_key: Option<u64>,
    /// What happened.
    pub kind: EventKind,
    /// True for an [`EventKind::Open`] that does not ask for data (only attributes, security or deletion): it starts no
    /// session, and its close ends none.
    pub without_data: bool,
    /// Offset in the file, in bytes. For [`EventKind::DiskRead`], `None`: the offset on the disk says nothing here.
    pub offset: Option<u64>,
    /// Bytes that were read or written, or the length of the locked range.
    pub length: Option<u64>,
    /// False if the call failed. A read at the end of the file failed in Windows; in Unix it read 0 bytes.
    pub ok: bool,
}

/// What happened to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EventKind {
    /// The file was opened.
    Open,
    /// A read call.
    Read,
    /// A read of the disk that the system made, for a read call or ahead of one.
    DiskRead,
    /// A write call.
    Write,
    /// A range of the file was locked.
    Lock,
    /// A range was unlocked.
    Unlock,
    /// The file was closed.
    Close,
    /// Anything else; it is only counted, so a reader leaves the path and the rest empty.
    #[default]
    Other,
}

/// What the times of a recording count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// The start of the recording.
    #[default]
    Start,
    /// Midnight of the day on which the recording started, in an unknown time zone. Goes on past 24 hours.
    TimeOfDay,
    /// 1970-01-01T00:00:00Z.
    Epoch,
}

/// A place in a recording, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a text, from 1.
    Line(u64),
    /// An offset in a binary file, in bytes.
    Byte(u64),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "offset {byte}"),
        }
    }
}

/// Takes the events of a recording in their order.
pub trait EventSink {
    /// Takes an event.
    fn event(&mut self, event: FileEvent);

    /// A file object or file key is the file at `path`. Can come before or after the events of that number, since ETW
    /// names the files that were open at the end of a recording only there.
    fn name(&mut self, number: u64, path: Arc<str>);

    /// A row or record was not readable and was skipped. `why` says what is invalid ("no Offset in Detail").
    fn skipped(&mut self, place: Place, why: &'static str);
}

/// What a reader knows of a recording when it has read it to the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReaderSummary {
    /// Rows or records of the recording, of any kind, without those that were skipped.
    pub records: u64,
    /// What the times count from.
    pub clock: Clock,
    /// Events that the recording itself reports as lost.
    pub lost: u64,
    /// True if the recording ends in the middle of a record.
    pub truncated: bool,
    /// Other facts that a user should know, each one sentence without a full stop.
    pub notes: Vec<String>,
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The input failed.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Something without which nothing else can be read is invalid.
    #[error("{what} at {place}: need {need}, have {have}")]
    Invalid {
        /// The structure or column.
        what: &'static str,
        /// Where it is.
        place: Place,
        /// What is valid there.
        need: String,
        /// What is there.
        have: String,
    },
    /// No form of recording that is known.
    #[error(
        "not a recording of file I/O: need a Process Monitor log (CSV or PML), an ETL file, the text of xperf or strace; have {have}"
    )]
    Unknown {
        /// The start of the input.
        have: String,
    },
}

/// A recording that is not read from its start to its end: a file.
pub trait Input: BufRead + Seek {}

impl<T: BufRead + Seek> Input for T {}
