//! File entries: a folder or a file in the folder that the items before it spell.

use super::{Context, Item, ansi_text, wide_text};
use crate::bytes::{Bytes, Short};
use crate::format::fat_time::FatTime;
use crate::format::text::{CodePage, Text, Utf16, until_nul};

/// A folder or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry<'a> {
    /// True for a folder.
    pub is_folder: bool,
    /// The size in bytes, its low 32 bits; 0 for a folder.
    pub file_size: u32,
    /// When it was last written.
    pub modified: FatTime,
    /// The low 16 `FILE_ATTRIBUTE_…` bits.
    pub attributes: u16,
    /// The name: mostly the short one, with the long one in the extension block.
    pub primary_name: Text<'a>,
    /// The short name, if the primary one is the long one (before Windows XP).
    pub secondary_name: Option<Text<'a>>,
}

const IS_FOLDER: u8 = 0x01;
const IS_UNICODE: u8 = 0x04;

impl<'a> FileEntry<'a> {
    /// Reads an entry from an item, its size field first, to where its extension blocks start.
    pub(super) fn read(content: &'a [u8], offset: u64, context: &Context<'_>) -> Result<Self, Short> {
        let mut bytes = Bytes::at_base(content, offset);
        bytes.u16("file entry size")?;
        let class = bytes.u8("file entry class")?;
        bytes.u8("file entry unknown byte")?;
        let file_size = bytes.u32("file entry file size")?;
        let modified = FatTime::read(&mut bytes, "file entry modification time")?;
        let attributes = bytes.u16("file entry attributes")?;
        let mut name = || match class & IS_UNICODE {
            0 => ansi_text(&mut bytes, context.page),
            _ => wide_text(&mut bytes),
        };
        let (primary_name, secondary_name) = (name(), name().non_empty());
        Ok(Self { is_folder: class & IS_FOLDER != 0, file_size, modified, attributes, primary_name, secondary_name })
    }
}

/// Bytes of a file entry before its name.
const FIXED: usize = 14;

/// The primary name of a file entry of class `class`, without reading the rest ([`FileEntry::read`]).
pub(super) fn primary_name(content: &[u8], class: u8, page: CodePage) -> Option<Text<'_>> {
    let name = content.get(FIXED..)?;
    Some(match class & IS_UNICODE {
        0 => Text::Ansi(until_nul(name), page),
        _ => Text::Wide(Utf16(name).until_nul()),
    })
}

impl<'a> Item<'a> {
    /// The file entry that the item is or holds.
    pub fn file_entry(&self) -> Option<&FileEntry<'a>> {
        match &self.kind {
            super::Kind::File(entry) | super::Kind::UsersFile { entry, .. } => Some(entry),
            _ => None,
        }
    }

    /// The long name of a file entry.
    pub fn long_name(&self) -> Option<Text<'a>> {
        let entry = self.file_entry()?;
        let long = self.file_extension().and_then(|file| file.long_name);
        long.or_else(|| entry.primary_name.non_empty())
    }

    /// The short name of a file entry, if it has another one than its long name.
    pub fn short_name(&self) -> Option<Text<'a>> {
        let entry = self.file_entry()?;
        match self.file_extension().and_then(|file| file.long_name) {
            Some(_) => entry.primary_name.non_empty(),
            None => entry.secondary_name,
        }
    }
}
