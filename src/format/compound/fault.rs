//! What is wrong with a container, as far as its reader met it.

/// The kind of fault; each has a finding of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// A header field cannot be right.
    Header,
    /// A FAT or DIFAT sector is missing or contradicts the others.
    Fat,
    /// The directory is truncated, loops, or its root is gone.
    Directory,
    /// The mini FAT or the mini stream is truncated or loops.
    MiniStream,
    /// A stream is not all there.
    Stream,
    /// A chain comes back to a sector it has been through.
    Loop,
    /// Two chains go through one sector.
    CrossLinked,
    /// A directory entry that the directory's tree does not reach.
    Unreachable,
    /// Two streams of one name.
    DuplicateName,
    /// Two sectors are swapped.
    Exchanged,
    /// A stream whose chain or size is wrong was found complete.
    Mended,
    /// Something that no directory entry names was found in sectors that belong to nothing.
    Carved,
    /// Reading stopped at a limit.
    Limit,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind it is.
    pub kind: FaultKind,
    /// Where in the file, in bytes, as near as is known.
    pub offset: u64,
    /// The entry id in the name of the stream it belongs to, where it is one.
    pub stream_id: Option<u64>,
    /// What, where, need, have.
    pub message: String,
}

impl Fault {
    /// A fault of the file as a whole.
    pub fn new(kind: FaultKind, offset: u64, message: String) -> Self {
        Self { kind, offset, stream_id: None, message }
    }
}
