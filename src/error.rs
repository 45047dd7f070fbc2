//! The errors, by whose fault they are.
//!
//! A program that changes people's files has to distinguish errors of the file, of the
//! caller is, and what the system is: each asks for something else to be done. Every message says what
//! was wanted, where, what it needs and what there is. Paths are written as they are; a terminal has to
//! escape them.
//!
//! ```
//! use jlfix::{Error, JumpList};
//!
//! match JumpList::open("no such file") {
//!     Err(Error::Io { path, source, .. }) => println!("{}: {source}", path.display()),
//!     other => println!("{other:?}"),
//! }
//! ```

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use crate::bytes::Short;

/// What the library's functions give back.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file's fault: its content is not what its format asks for.
    #[error("{}: {what}{}: need {need}, have {have}", path.display(), At(*offset))]
    File {
        /// The file.
        path: PathBuf,
        /// The field or structure, as the format names it.
        what: String,
        /// Where it starts, in bytes from the start of the file or stream, if that is known.
        offset: Option<u64>,
        /// What the format asks for.
        need: String,
        /// What is there.
        have: String,
    },
    /// An invalid argument of the caller.
    #[error("{what}: need {need}, have {have}")]
    Caller {
        /// The argument.
        what: &'static str,
        /// What it has to be.
        need: String,
        /// What it is.
        have: String,
    },
    /// The file is not a jump list, or of a kind that does not have what was asked for.
    #[error("{}: {source}", path.display())]
    NotAJumpList {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        source: NotAJumpList,
    },
    /// The system would not do it.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Io {
        /// The file it was done for.
        path: PathBuf,
        /// What was being done, as it follows "cannot".
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// Another process has the file, or the backup store, and did not let go of it in time.
    #[error("{}: in use by another process{}: waited {waited_ms} ms; close it, or try again", path.display(), if cfg!(windows) { " (Explorer?)" } else { "" })]
    InUse {
        /// The file, or the folder of the store.
        path: PathBuf,
        /// How long it was waited for, in milliseconds.
        waited_ms: u64,
    },
    /// A bound of [`crate::limits::Limits`], or one of the store's own.
    #[error("{}: {what}: need at most {limit} bytes, have {have}", path.display())]
    Limit {
        /// The file.
        path: PathBuf,
        /// What is bounded.
        what: &'static str,
        /// The bound, in bytes.
        limit: u64,
        /// What there is, in bytes.
        have: u64,
    },
    /// The file is one that is never changed; nothing was done to it.
    #[error("{}: refused: {reason}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: Refusal,
    },
    /// Another program changed the file each time between the reading and the writing; its content stays.
    #[error("{}: changed by another program while it was worked on, {times} times in a row: left as it is", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// How many times it was read and planned.
        times: u32,
    },
    /// A check after writing failed: a result differs from its plan, or a backup from its source.
    #[error("{}: {what}: need {need}, have {have}", path.display())]
    Verification {
        /// The file.
        path: PathBuf,
        /// What was compared.
        what: String,
        /// What it had to be.
        need: String,
        /// What it is.
        have: String,
    },
}

impl Error {
    /// A read that a file could not serve.
    pub fn short(path: &Path, short: Short) -> Self {
        Self::File {
            path: path.to_owned(),
            what: short.what.to_owned(),
            offset: Some(short.offset),
            need: format!("{} bytes", short.need),
            have: short.have.to_string(),
        }
    }

    /// The system's error for `path`; `doing` is the action, as it follows "cannot".
    pub fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), doing, source }
    }

    /// The file at `path` is never changed.
    pub fn refused(path: &Path, reason: Refusal) -> Self {
        Self::Refused { path: path.to_owned(), reason }
    }

    /// The same about the same file under another name: the one that the caller gave it.
    #[must_use]
    pub fn named(mut self, name: &Path) -> Self {
        match &mut self {
            Self::Caller { .. } => {}
            Self::File { path, .. }
            | Self::NotAJumpList { path, .. }
            | Self::Io { path, .. }
            | Self::InUse { path, .. }
            | Self::Limit { path, .. }
            | Self::Refused { path, .. }
            | Self::Changed { path, .. }
            | Self::Verification { path, .. } => name.clone_into(path),
        }
        self
    }

    /// The file it is about; none for a caller's argument.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Caller { .. } => None,
            Self::File { path, .. }
            | Self::NotAJumpList { path, .. }
            | Self::Io { path, .. }
            | Self::InUse { path, .. }
            | Self::Limit { path, .. }
            | Self::Refused { path, .. }
            | Self::Changed { path, .. }
            | Self::Verification { path, .. } => Some(path),
        }
    }
}

/// Why a file is never changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Following it would write to another place than the one named.
    #[error("a symbolic link; name the file it points to")]
    Symlink,
    /// A junction, mount point, cloud placeholder or the like.
    #[error("a junction or another reparse point; name the file it stands for")]
    ReparsePoint,
    /// Replacing it under one name would leave the other names with the old content.
    #[error("a hard link: the file has {0} names, need 1")]
    HardLinks(u64),
    /// What it is instead of a plain file.
    #[error("not a plain file but a {0}")]
    NotAFile(&'static str),
    /// The folder that was recorded is not the one that is there now.
    #[error("its folder is now reached through a link, at {}; restore it to another folder", .0.display())]
    FolderMoved(PathBuf),
    /// A name that Windows takes for something else than a file of that name (a stream, a device, a short name).
    #[error("not the file's own name: {0}")]
    AlternateName(&'static str),
    /// A backup is not a jump list in use.
    #[error("it lies in the backup store")]
    InStore,
    /// Somebody else can decide what a restore from this store writes.
    #[error("{0}; or accept it once with --trust-store")]
    Untrusted(String),
    /// The name is not one of a jump list.
    #[error(
        "not a jump list: need *.automaticDestinations-ms or *.customDestinations-ms in a folder of such files, or a jump list that is there now; restore --to DIR writes it elsewhere, --trust-store accepts it once"
    )]
    NotAListName,
    /// The store of a user names a file outside that user's profile.
    #[error("not in the profile {}, whose store this is; restore --to DIR writes it elsewhere", .0.display())]
    OtherProfile(PathBuf),
    /// Something is there already, and it is never overwritten.
    #[error("a file of that name is there already")]
    Exists,
}

/// Why bytes are not a jump list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a jump list: need a compound file, custom destinations or a link, have {}", Start(.start))]
#[non_exhaustive]
pub struct NotAJumpList {
    /// The first bytes, 8 at most.
    pub start: Vec<u8>,
}

struct Start<'s>(&'s [u8]);

impl fmt::Display for Start<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("no bytes");
        }
        self.0.iter().enumerate().try_for_each(|(at, byte)| write!(f, "{}{byte:02x}", if at == 0 { "" } else { " " }))
    }
}

struct At(Option<u64>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(offset) => write!(f, " at offset {offset}"),
            None => Ok(()),
        }
    }
}
