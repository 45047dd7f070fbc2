//! What differs between Windows and the rest.
//!
//! Every change of a user's file goes through [`Folder`], which is opened once: from then on
//! names are looked up in that very folder (on Unix relative to its descriptor, on Windows by its final
//! path, with a handle that keeps it from being renamed). So a link that someone puts into the path while
//! the program runs leads nowhere.

mod folder;
#[cfg(any(windows, test))]
mod sddl;
pub mod settings;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as sys;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
mod windows_dir;
#[cfg(windows)]
mod windows_path;
#[cfg(windows)]
mod windows_security;
#[cfg(windows)]
use windows as sys;

use std::{
    fs::{File, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

pub(crate) use folder::random;
pub use folder::{Folder, Held, ReadBack, Temp};
pub use sys::{
    check_writable, free_space, is_absolute, is_same_path, make_private_folder, open_read, path_from_raw, path_to_raw,
    profiles, recent_folder,
};

use crate::{
    error::{Error, Refusal, Result},
    limits::Limits,
};

/// What says that a file is still the one that was read. Two of them are equal if it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Unix: device. Windows: serial number of the volume.
    pub volume: u64,
    /// Unix: inode. Windows: index of the file on its volume.
    pub file: u64,
    /// In bytes.
    pub size: u64,
    /// Last write, as far as the file system keeps it.
    pub modified: Option<SystemTime>,
}

impl Identity {
    /// True if both are the same file, whatever was written to it meanwhile.
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.volume, self.file) == (other.volume, other.file)
    }
}

/// Properties of a file besides its content that its replacement gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits {
    /// Last write.
    pub modified: Option<SystemTime>,
    /// Creation, where the system keeps it. It can be set on Windows only.
    pub created: Option<SystemTime>,
    /// Unix: the permission bits (0 to 0o777).
    pub mode: Option<u32>,
    /// Unix: user and group.
    pub owner: Option<(u32, u32)>,
    /// Windows: read-only, hidden, system, archive and not-indexed, as FILE_ATTRIBUTE_ bits.
    pub attributes: Option<u32>,
}

/// Properties of a file besides its content and its [`Traits`], recorded with a backup so that a file that was deleted
/// comes back with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extended {
    /// Unix: extended attributes, by name. Access lists are among them.
    pub attributes: Vec<(String, Vec<u8>)>,
    /// Windows: owner and access list, as a security descriptor in text form (SDDL).
    pub security: Option<String>,
}

/// A user of this machine, as Windows lists them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Security id, as text.
    pub sid: String,
    /// The profile's folder, such as `C:\Users\name`.
    pub folder: PathBuf,
}

/// What is read from an open file without its content.
#[derive(Debug, Clone)]
struct Look {
    identity: Identity,
    traits: Traits,
    links: u64,
    refusal: Option<Refusal>,
}

/// Why the file at `path` would not be changed: a link, one of several names, or no plain file.
///
/// # Errors
/// [`Error::Refused`] with the reason; [`Error::Io`] if it is not there or cannot be looked at.
pub fn refuse_unless_plain(path: &Path) -> Result<()> {
    let (folder, name) = Folder::of(path)?;
    match folder.hold(&name).map_err(|e| e.named(path))? {
        Some(_) => Ok(()),
        None => Err(Error::io(path, "open it", io::ErrorKind::NotFound.into())),
    }
}

/// Reads at `offset` of an open file with one call of the system, past any buffer; fewer bytes at the end of the file.
///
/// # Errors
/// What the system says.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buffer, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
}

/// Drops the pages of a file from the system's cache, as far as the system does that for one file. Linux drops the pages
/// at once; Windows drops them when the file is opened without buffering, as long as nobody else has it open.
///
/// # Errors
/// The error of the system.
pub fn drop_cached_pages(file: &File, path: &Path) -> io::Result<()> {
    sys::drop_cached_pages(file, path)
}

/// True if the first page of a file is not in the system's cache. `None` where the system does not say.
pub fn is_cold(file: &File) -> Option<bool> {
    sys::is_cold(file)
}

/// Why a file or folder of a store is not to be trusted: somebody else owns it or can write to it. `None` if only the
/// user, administrators (root) and the system can, or if the file system keeps no owners. `also` is another account that
/// may: on Windows the security id of the user whose store it is.
pub(crate) fn untrusted(path: &Path, also: Option<&str>) -> Option<String> {
    sys::untrusted(path, also)
}

/// Converts the system's error; it may be that another process holds the file.
pub(crate) fn io_error(path: &Path, doing: &'static str, source: io::Error) -> Error {
    if sys::is_in_use(&source) {
        let waited_ms = u64::try_from(folder::LONGEST_WAIT.as_millis()).unwrap_or(u64::MAX);
        return Error::InUse { path: path.to_owned(), waited_ms };
    }
    Error::io(path, doing, source)
}

/// Reads a complete file, following links; for reading only, not for changes.
///
/// # Errors
/// [`Error::Limit`] if it is larger than `limits` allow, [`Error::InUse`] if another process keeps it to itself,
/// [`Error::Io`] if it cannot be read.
pub fn read_whole(path: &Path, limits: &Limits) -> Result<Vec<u8>> {
    read_with_facts(path, limits).map(|(data, _)| data)
}

/// As [`read_whole`], with what the system says of the file.
///
/// # Errors
/// Those of [`read_whole`].
pub fn read_with_facts(path: &Path, limits: &Limits) -> Result<(Vec<u8>, Metadata)> {
    let mut data = Vec::new();
    let facts = read_into(path, limits, &mut data)?;
    Ok((data, facts))
}

/// Files up to this size are read with one call.
const SMALL: usize = 1 << 20;

/// As [`read_with_facts`], in place of what `data` holds: one buffer serves many files.
///
/// # Errors
/// Those of [`read_whole`].
pub fn read_into(path: &Path, limits: &Limits, data: &mut Vec<u8>) -> Result<Metadata> {
    let (mut file, facts) = folder::open_waiting(path)?;
    if facts.len() > limits.file_size {
        let (limit, have) = (limits.file_size, facts.len());
        return Err(Error::Limit { path: path.to_owned(), what: "file size", limit, have });
    }
    let failed = |e| io_error(path, "read it", e);
    // With room for one byte more than there are, the end is met without another look at the size.
    let size = usize::try_from(facts.len()).map_err(|_| failed(io::ErrorKind::FileTooLarge.into()))?;
    data.clear();
    data.try_reserve_exact(size.saturating_add(1)).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
    if size <= SMALL {
        data.resize(size.saturating_add(1), 0);
        let mut first = file.read(data);
        while first.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::Interrupted) {
            first = file.read(data);
        }
        let first = first.map_err(failed)?;
        data.truncate(first);
        // Fewer bytes than there was room for: that was the end.
        if first == size {
            return Ok(facts);
        }
    }
    // A file that grew since: the rest of it counts as well, as far as it may.
    let left = limits.file_size.saturating_sub(data.len() as u64);
    file.take(left).read_to_end(data).map_err(failed)?;
    Ok(facts)
}

/// Reads `size` bytes, or to the end if that comes first, with one read where the system allows it.
pub(crate) fn read_up_to(file: &mut File, size: u64) -> io::Result<Vec<u8>> {
    let size = usize::try_from(size).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let mut data = Vec::new();
    data.try_reserve_exact(size).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    data.resize(size, 0);
    let mut filled = 0;
    while let Some(rest) = data.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(n) => filled = filled.saturating_add(n),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    data.truncate(filled);
    Ok(data)
}
