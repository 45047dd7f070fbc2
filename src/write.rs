//! Writes a new compound file, through the `cfb` crate: version 3, minimal, the directory a balanced tree.
//!
//! Never in place: a new file holds only what was kept, and has the fewest sectors to read. The same
//! content gives the same bytes: the root's times and class are copied from the source.

use std::collections::HashSet;
use std::io::{self, Cursor, Write};
use std::time::{Duration, SystemTime};

use crate::format::compound::Root;
use crate::format::time::FileTime;

/// A stream to write: its storage (empty for the root, else outermost first with `/` between), name and bytes.
#[derive(Debug, Clone, Copy)]
pub struct NewStream<'a> {
    /// Storage it goes into.
    pub storage: &'a str,
    /// Name: 1 to 31 UTF-16 units, none of `/ \ : !` (MS-CFB 2.6.1).
    pub name: &'a str,
    /// The bytes.
    pub data: &'a [u8],
}

impl NewStream<'_> {
    fn path(&self) -> String {
        if self.storage.is_empty() { format!("/{}", self.name) } else { format!("/{}/{}", self.storage, self.name) }
    }
}

/// Builds a compound file with these streams, in memory.
///
/// # Errors
/// A name that is invalid for a stream, or used twice.
pub fn build(root: &Root, storages: &[String], streams: &[NewStream<'_>]) -> io::Result<Vec<u8>> {
    let mut file = cfb::CompoundFile::create_with_version(cfb::Version::V3, Cursor::new(Vec::new()))?;
    let mut made = HashSet::new();
    for storage in storages {
        let path = format!("/{storage}");
        if made.insert(path.clone()) {
            file.create_storage_all(&path)?;
            file.set_created_time(&path, system_time(FileTime(0)))?;
            file.set_modified_time(&path, system_time(FileTime(0)))?;
        }
    }
    for stream in streams {
        file.create_new_stream(stream.path())?.write_all(stream.data)?;
    }
    if !root.clsid.is_zero() {
        file.set_storage_clsid("/", uuid::Uuid::from_bytes_le(root.clsid.0))?;
    }
    file.set_created_time("/", system_time(root.created))?;
    file.set_modified_time("/", system_time(root.modified))?;
    file.flush()?;
    Ok(file.into_inner().into_inner())
}

/// The second opinion on a file that was just written: `cfb` in its strict mode, every stream read to its end.
///
/// # Errors
/// What is wrong with it.
pub fn second_opinion(data: &[u8]) -> io::Result<()> {
    let mut file = cfb::CompoundFile::open_strict(Cursor::new(data))?;
    let paths: Vec<_> =
        file.walk().filter(cfb::Entry::is_stream).map(|entry| (entry.path().to_owned(), entry.len())).collect();
    for (path, size) in paths {
        let read = io::copy(&mut file.open_stream(&path)?, &mut io::sink())?;
        if read != size {
            let message = format!("stream {} gave {read} of {size} bytes", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
    }
    Ok(())
}

/// The system's form of a FILETIME; what the system cannot hold becomes 1601.
fn system_time(time: FileTime) -> SystemTime {
    let epoch =
        SystemTime::UNIX_EPOCH.checked_sub(Duration::from_secs(11_644_473_600)).unwrap_or(SystemTime::UNIX_EPOCH);
    let nanoseconds = u32::try_from((time.0 % 10_000_000).saturating_mul(100)).unwrap_or(0);
    epoch.checked_add(Duration::new(time.0 / 10_000_000, nanoseconds)).unwrap_or(epoch)
}
