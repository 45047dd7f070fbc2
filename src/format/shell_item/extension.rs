//! Extension blocks: what later versions of Windows put behind an item's own data. Their signatures start
//! with 0xBEEF. One that is not known is kept as its bytes.

use super::{Context, Item, read_items, wide_text};
use crate::bytes::{Bytes, Short, u32_at};
use crate::format::fat_time::FatTime;
use crate::format::guid::Guid;
use crate::format::property_store::{self, PropertyStore};
use crate::format::text::{Text, Utf16};
use crate::format::time::FileTime;

/// An extension block.
#[derive(Debug, Clone, PartialEq)]
pub struct Extension<'a> {
    /// Where it starts (its size field), as problems count.
    pub offset: u64,
    /// Its version.
    pub version: u16,
    /// What it is: `0xBEEF….`.
    pub signature: u32,
    /// The whole block, its size field included.
    pub data: &'a [u8],
    /// What it says.
    pub kind: ExtensionKind<'a>,
}

/// What an extension block says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ExtensionKind<'a> {
    /// 0xBEEF0004: what a file entry has no room for.
    File(FileExtension<'a>),
    /// 0xBEEF0003: the class of the folder that the items behind this one are in.
    Class(Guid),
    /// 0xBEEF0019: the type of a folder, and a view of it.
    FolderType(Guid, Guid),
    /// 0xBEEF0006: the name of the user that a folder belongs to.
    UserName(Text<'a>),
    /// 0xBEEF001A: the type that the extension stands for in the registry, such as `txtfile`.
    FileType(Text<'a>),
    /// 0xBEEF001B and 0xBEEF001D: the program that opens it.
    Program(Text<'a>),
    /// 0xBEEF001E: how it is pinned.
    PinType(Text<'a>),
    /// 0xBEEF0025 and 0xBEEF0026: when the folder was created, modified and accessed.
    Times([FileTime; 3]),
    /// 0xBEEF0014: a URI (CUri), in full.
    Uri(Option<Text<'a>>),
    /// 0xBEEF0005: another list of items.
    Items(Vec<Item<'a>>),
    /// 0xBEEF0010, 0xBEEF0021, 0xBEEF0024 and 0xBEEF0027: properties.
    Properties(PropertyStore<'a>),
    /// 0xBEEF0008: a deleted file: when, and from where.
    Deleted {
        /// When it was deleted.
        time: FileTime,
        /// Where it was.
        original_path: Text<'a>,
        /// Where it is now.
        bin_path: Text<'a>,
    },
    /// Another one.
    Unknown,
}

/// What a file entry has no room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileExtension<'a> {
    /// When the file was created.
    pub created: FatTime,
    /// When the file was last accessed.
    pub accessed: FatTime,
    /// Where NTFS keeps it; not there before Windows Vista, nor on other file systems.
    pub reference: Option<FileReference>,
    /// The long name.
    pub long_name: Option<Text<'a>>,
    /// The resource that holds the name to show, such as `@shell32.dll,-21769`.
    pub localized_name: Option<Text<'a>>,
}

/// An NTFS file reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileReference(pub u64);

impl FileReference {
    /// The entry of the master file table.
    pub fn entry(self) -> u64 {
        self.0 & 0x0000_FFFF_FFFF_FFFF
    }

    /// How often that entry had been used.
    pub fn sequence(self) -> u16 {
        (self.0 >> 48) as u16
    }
}

const HEADER: usize = 8;

/// Where the first block of an item starts: its last two bytes say so, and a signature is there.
pub(super) fn first(item: &[u8]) -> Option<usize> {
    let at = usize::from(u16::from_le_bytes(*item.last_chunk::<2>()?));
    let signature = u32_at(item, at.checked_add(4)?)?;
    (at >= 4 && signature >> 16 == 0xBEEF).then_some(at)
}

/// Bytes of a file block of `version` before its names ([`FileExtension::read`]).
fn fixed_size(version: u16) -> usize {
    match version {
        0..3 => HEADER + 10,
        3..7 => HEADER + 12,
        _ => HEADER + 30,
    }
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

/// The signature of [`ExtensionKind::File`].
const FILE: u32 = 0xBEEF_0004;

/// True if `blocks` is a file block in which nothing is missing, and nothing else. Nearly all items end so.
pub(super) fn is_one_file_block(blocks: &[u8]) -> bool {
    let (size, version) = (u16_at(blocks, 0), u16_at(blocks, 2));
    let is_all = size.is_some_and(|size| usize::from(size) == blocks.len());
    is_all && u32_at(blocks, 4) == Some(FILE) && version.is_some_and(|version| blocks.len() >= fixed_size(version))
}

/// The long name in a file block: what [`FileExtension::read`] gives, without reading the rest.
pub(super) fn long_name(block: &[u8]) -> Option<Text<'_>> {
    let first = fixed_size(u16_at(block, 2)?);
    let at = usize::from(u16_at(block, HEADER + 8)?);
    let names = block.get(..block.len().saturating_sub(2)).filter(|_| block.len() >= first && at >= first)?;
    Text::Wide(Utf16(names.get(at..)?).until_nul()).non_empty()
}

/// Reads block after block from `first` of the item.
pub(super) fn read_all<'a>(
    item: &'a [u8],
    first: usize,
    item_offset: u64,
    context: &mut Context<'_>,
) -> Vec<Extension<'a>> {
    let mut blocks = Vec::new();
    each(item, first, item_offset, context, |block| blocks.push(block));
    blocks
}

/// Calls `visit` with each block from `first` of the item.
pub(super) fn each<'a>(
    item: &'a [u8],
    first: usize,
    item_offset: u64,
    context: &mut Context<'_>,
    mut visit: impl FnMut(Extension<'a>),
) {
    let base = item_offset.saturating_add(first as u64);
    let mut bytes = Bytes::at_base(item.get(first..).unwrap_or_default(), base);
    while bytes.left() >= HEADER {
        let offset = base.saturating_add(bytes.position() as u64);
        match Extension::read(&mut bytes, offset, context) {
            Ok(Some(block)) => visit(block),
            Ok(None) => break,
            Err(short) => {
                context.problems.push(short.into());
                break;
            }
        }
    }
}

impl<'a> Extension<'a> {
    fn read(bytes: &mut Bytes<'a>, offset: u64, context: &mut Context<'_>) -> Result<Option<Self>, Short> {
        let mut ahead = *bytes;
        let size = usize::from(ahead.u16("extension block size")?);
        let version = ahead.u16("extension block version")?;
        let signature = ahead.u32("extension block signature")?;
        if size < HEADER || signature >> 16 != 0xBEEF {
            return Ok(None);
        }
        let data = bytes.take("extension block", size)?;
        let kind = ExtensionKind::read(signature, data, offset, context).unwrap_or_else(|short| {
            context.problems.push(short.into());
            ExtensionKind::Unknown
        });
        Ok(Some(Self { offset, version, signature, data, kind }))
    }
}

impl<'a> ExtensionKind<'a> {
    fn read(signature: u32, data: &'a [u8], offset: u64, context: &mut Context<'_>) -> Result<Self, Short> {
        let mut bytes = Bytes::at_base(data, offset);
        bytes.take("extension block header", HEADER)?;
        // Behind a count of 2 or so: a text to the end of the block.
        let text = |bytes: &mut Bytes<'a>| -> Result<Text<'a>, Short> {
            bytes.u16("extension block unknown")?;
            Ok(wide_text(bytes))
        };
        Ok(match signature & 0xFFFF {
            0x0019 if data.len() >= 42 => {
                Self::FolderType(Guid(bytes.array("folder type")?), Guid(bytes.array("folder view")?))
            }
            0x0003 => Self::Class(Guid(bytes.array("folder class")?)),
            0x0004 => Self::File(FileExtension::read(data, bytes, context)?),
            0x0005 if context.depth < super::DEEPEST => {
                bytes.take("extension block unknown", 16)?;
                let at = offset.saturating_add(bytes.position() as u64);
                context.depth += 1;
                let items = read_items(bytes.rest(), at, context);
                context.depth -= 1;
                Self::Items(items)
            }
            0x0006 => Self::UserName(wide_text(&mut bytes)),
            0x0008 => {
                bytes.u64("deleted file size")?;
                let time = FileTime(bytes.u64("deletion time")?);
                let original_path = Text::Wide(Utf16(bytes.take("original path", 520)?).until_nul());
                Self::Deleted { time, original_path, bin_path: wide_text(&mut bytes) }
            }
            0x0010 => {
                bytes.u64("property store flags and size")?;
                Self::properties(bytes, offset, context)
            }
            0x0014 => Self::Uri(absolute_uri(bytes)?),
            0x001A => Self::FileType(text(&mut bytes)?),
            0x001B | 0x001D => Self::Program(text(&mut bytes)?),
            0x001E => Self::PinType(text(&mut bytes)?),
            0x0021 | 0x0024 | 0x0027 => Self::properties(bytes, offset, context),
            0x0025 | 0x0026 if data.len() >= 38 => {
                bytes.u32("folder times flags")?;
                let mut time = |what| bytes.u64(what).map(FileTime);
                Self::Times([time("creation time")?, time("modification time")?, time("access time")?])
            }
            _ => Self::Unknown,
        })
    }

    fn properties(bytes: Bytes<'a>, offset: u64, context: &mut Context<'_>) -> Self {
        let at = offset.saturating_add(bytes.position() as u64);
        let mut store = property_store::parse(bytes.rest(), at, context.page);
        context.problems.append(&mut store.problems);
        Self::Properties(store)
    }
}

impl<'a> FileExtension<'a> {
    /// The block holds the offsets of the long name and the localized one (measured, versions 3, 7, 8, 9).
    pub(super) fn read(block: &'a [u8], mut bytes: Bytes<'a>, context: &Context<'_>) -> Result<Self, Short> {
        let version = u16::from_le_bytes(*block.get(2..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; 2]));
        let created = FatTime::read(&mut bytes, "file creation time")?;
        let accessed = FatTime::read(&mut bytes, "file access time")?;
        let long_at = usize::from(bytes.u16("long name offset")?);
        let mut reference = None;
        if version >= 7 {
            bytes.u16("file extension unknown")?;
            reference = Some(FileReference(bytes.u64("file reference")?)).filter(|reference| reference.0 != 0);
            bytes.u64("file extension unknown")?;
        }
        let localized_at = if version >= 3 { usize::from(bytes.u16("localized name offset")?) } else { 0 };
        // The last two bytes are the offset of the first block.
        let names = block.get(..block.len().saturating_sub(2)).unwrap_or_default();
        let from = |at: usize| names.get(at..).filter(|_| at >= bytes.position());
        let long_name = from(long_at).map(|name| Text::Wide(Utf16(name).until_nul()));
        let localized_name = from(localized_at).map(|name| match version {
            0..7 => Text::Ansi(crate::format::text::until_nul(name), context.page),
            _ => Text::Wide(Utf16(name).until_nul()),
        });
        Ok(Self {
            created,
            accessed,
            reference,
            long_name: long_name.and_then(Text::non_empty),
            localized_name: localized_name.and_then(Text::non_empty),
        })
    }
}

/// The absolute URI, or the raw one, of a CUri's properties.
fn absolute_uri<'a>(mut bytes: Bytes<'a>) -> Result<Option<Text<'a>>, Short> {
    const CURI: Guid = Guid::new(0xDF2F_CE13, 0x25EC, 0x45BB, [0x9D, 0x4C, 0xCE, 0xCD, 0x47, 0xC2, 0x43, 0x0C]);
    const ABSOLUTE: u32 = 0;
    const RAW: u32 = 11;
    if Guid(bytes.array("URI class")?) != CURI {
        return Ok(None);
    }
    bytes.take("URI header", 28)?;
    let mut found = None;
    for _ in 0..bytes.u32("number of URI properties")? {
        let property = bytes.u32("URI property type")?;
        let size = bytes.u32("URI property size")?;
        let value = Text::Wide(Utf16(bytes.take("URI property", size as usize)?).until_nul());
        match property {
            ABSOLUTE => return Ok(Some(value)),
            RAW => found = Some(value),
            _ => {}
        }
    }
    Ok(found)
}
