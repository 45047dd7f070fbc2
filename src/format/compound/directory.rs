//! Directory entries (MS-CFB 2.6): 128 bytes each, in a red-black tree that this reader does not depend on.

use super::super::guid::Guid;
use super::super::text::Utf16;
use super::super::time::FileTime;
use crate::bytes::{Bytes, Short, u32_at};

/// Bytes of a directory entry.
pub const ENTRY_SIZE: usize = 128;
/// "No entry" in a tree link.
pub const NO_STREAM: u32 = 0xFFFF_FFFF;

/// Where an entry says what it stands for.
const TYPE_AT: usize = 66;
/// The first character after the control characters, which no name contains.
const FIRST_TEXT: u16 = 0x20;

/// What a directory entry stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A storage: a folder of streams. No jump list has one.
    Storage,
    /// A stream.
    Stream,
    /// The root, which also holds the mini stream.
    Root,
}

/// A directory entry in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirEntry<'a> {
    /// Its number, from 0, in the order of the directory.
    pub index: u32,
    /// Its offset in the file, in bytes.
    pub offset: u64,
    /// Name without its final NUL.
    pub name: Utf16<'a>,
    /// Bytes of the name as the entry counts them, its final NUL included.
    pub name_size: u16,
    /// What it stands for.
    pub kind: Kind,
    /// Entry to the left in the tree.
    pub left: u32,
    /// Entry to the right in the tree.
    pub right: u32,
    /// Top of the tree of what is inside.
    pub child: u32,
    /// Class of the storage.
    pub clsid: Guid,
    /// Creation time (storages only).
    pub created: FileTime,
    /// Modification time (storages only).
    pub modified: FileTime,
    /// First sector, or mini sector.
    pub start: u32,
    /// Size in bytes; of the root, size of the mini stream.
    pub size: u64,
}

impl<'a> DirEntry<'a> {
    /// Reads the entry at the start of `data`; `None` if it is not in use. `wide_size` says whether all eight
    /// bytes of the size count (version 4) or only four (version 3, MS-CFB 2.6.1).
    ///
    /// # Errors
    /// What was truncated.
    pub fn parse(data: &'a [u8], index: u32, offset: u64, wide_size: bool) -> Result<Option<Self>, Short> {
        Self::parse_or(data, index, offset, wide_size, None)
    }

    /// The same, but an entry of unknown type that has a name is taken for one of type `unknown`.
    pub(crate) fn parse_or(
        data: &'a [u8],
        index: u32,
        offset: u64,
        wide_size: bool,
        unknown: Option<Kind>,
    ) -> Result<Option<Self>, Short> {
        let mut bytes = Bytes::at_base(data, offset);
        let name = bytes.take("directory entry name", 64)?;
        let counted = bytes.u16("directory entry name length")?;
        let name_size = usize::from(counted);
        let kind = match bytes.u8("directory entry type")? {
            1 => Kind::Storage,
            2 => Kind::Stream,
            5 => Kind::Root,
            _ => match unknown.filter(|_| name_size > 2) {
                Some(kind) => kind,
                None => return Ok(None),
            },
        };
        bytes.u8("directory entry colour")?;
        let (left, right, child) = (bytes.u32("left")?, bytes.u32("right")?, bytes.u32("child")?);
        let clsid = Guid(bytes.array("directory entry CLSID")?);
        bytes.u32("state bits")?;
        let created = FileTime(bytes.u64("creation time")?);
        let modified = FileTime(bytes.u64("modification time")?);
        let start = bytes.u32("start sector")?;
        let size = bytes.u64("stream size")?;
        Ok(Some(Self {
            index,
            offset,
            name: name_of(name, name_size),
            name_size: counted,
            kind,
            left,
            right,
            child,
            clsid,
            created,
            modified,
            start,
            size: if wide_size { size } else { size & 0xFFFF_FFFF },
        }))
    }

    /// What the entry at the start of `data`, which is not in use (MS-CFB 2.6.1: type 0), still says of a stream that was
    /// there; `None` if it says nothing. The name is taken up to its first NUL, as its length is often cleared first.
    pub(crate) fn parse_unused(data: &'a [u8], index: u32, offset: u64, wide_size: bool) -> Option<Self> {
        if data.get(TYPE_AT) != Some(&0) {
            return None;
        }
        let name = Utf16(data.get(..64)?).until_nul();
        let is_name = !name.is_empty() && name.units().all(|unit| unit >= FIRST_TEXT);
        let start = u32_at(data, 116)?;
        let low = u64::from(u32_at(data, 120)?);
        let high = if wide_size { u64::from(u32_at(data, 124)?) } else { 0 };
        let size = high << 32 | low;
        (is_name || size > 0).then_some(Self {
            index,
            offset,
            name: if is_name { name } else { Utf16(&[]) },
            name_size: 0,
            kind: Kind::Stream,
            left: NO_STREAM,
            right: NO_STREAM,
            child: NO_STREAM,
            clsid: Guid::default(),
            created: FileTime(0),
            modified: FileTime(0),
            start,
            size,
        })
    }

    /// True if the length of the name is that of its text. Names are compared by their length first (MS-CFB 2.6.4), so
    /// that Windows does not find a stream whose length is another.
    pub(crate) fn is_name_sound(&self) -> bool {
        usize::from(self.name_size) == self.name.0.len().saturating_add(2)
    }

    /// The id that the name spells in hex, and whether it is spelled as Windows does (lower case, no leading
    /// zeros).
    pub fn entry_id(&self) -> Option<(u64, bool)> {
        entry_id(self.name)
    }
}

/// The name in the 64 bytes that are there for it, of which `size` are counted. A length that cannot be is replaced by what
/// the name itself says: it ends at its first NUL.
fn name_of(bytes: &[u8], size: usize) -> Utf16<'_> {
    let text = Utf16(bytes).until_nul();
    let counted = if size.is_multiple_of(2) { size.checked_sub(2) } else { None };
    let Some(counted) = counted.and_then(|end| text.0.get(..end)).map(Utf16) else { return text };
    // Text goes on behind the length: the length is wrong, or the NUL that ended the name.
    let is_known = |name: Utf16<'_>| entry_id(name).is_some() || name.chars().eq("DestList".chars());
    if is_known(text) { text } else { counted }
}

/// The entry id that a stream name spells, and whether it is spelled as Windows does.
pub fn entry_id(name: Utf16<'_>) -> Option<(u64, bool)> {
    let mut id: u64 = 0;
    let mut digits = 0_usize;
    let mut canonical = true;
    for unit in name.units() {
        let digit = char::from_u32(u32::from(unit))?.to_digit(16)?;
        let leading_zero = digits == 0 && digit == 0;
        let upper_case = (u16::from(b'A')..=u16::from(b'F')).contains(&unit);
        canonical &= !leading_zero && !upper_case;
        id = id.checked_mul(16)?.checked_add(u64::from(digit))?;
        digits = digits.saturating_add(1);
    }
    (digits > 0).then_some((id, canonical))
}
