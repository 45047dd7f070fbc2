//! The path in a list of items, step by step and without taking the items apart: enough to hold it against another
//! path, and cheap enough to do so for every link.

use super::extension;
use super::file_entry::primary_name;
use super::next_item;
use crate::bytes::{Bytes, u32_at};
use crate::format::text::{CodePage, Text, until_nul};

/// What an item adds to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A drive, such as `C:\`, in ANSI.
    Volume(&'a [u8]),
    /// A folder or a file.
    File {
        /// Its long name.
        long: Text<'a>,
        /// Its short name, if it has another.
        short: Option<Text<'a>>,
    },
    /// What is no part of a path on a drive: a class, a server, a device.
    Other,
}

/// The steps of the list at the start of `data`, to its end or to where it is damaged; ANSI strings are read in
/// `code_page`.
pub fn steps(data: &[u8], code_page: CodePage) -> impl Iterator<Item = Step<'_>> {
    let mut bytes = Bytes::new(data);
    std::iter::from_fn(move || next_item(&mut bytes).ok().flatten().map(|item| Step::of(item, code_page)))
}

const FILE_EXTENSION: u32 = 0xBEEF_0004;

impl<'a> Step<'a> {
    fn of(item: &'a [u8], page: CodePage) -> Self {
        let class = item.get(2).copied().unwrap_or(0);
        let first = extension::first(item);
        let block = first.and_then(|first| item.get(first..)).and_then(file_extension);
        let long = block.and_then(extension::long_name);
        let content = first.and_then(|first| item.get(..first)).unwrap_or(item);
        let primary = (class & 0x70 == 0x30).then(|| primary_name(content, class, page)).flatten();
        match (long, primary) {
            (Some(long), primary) => Self::File { long, short: primary.and_then(Text::non_empty) },
            (None, Some(name)) if !name.is_empty() => Self::File { long: name, short: None },
            _ if class & 0x71 == 0x21 || class == 0x2E && item.len() < 20 => {
                Self::Volume(item.get(3..).map(until_nul).unwrap_or_default())
            }
            _ => Self::Other,
        }
    }
}

/// The block of that kind among those at the start of `blocks`.
fn file_extension(mut blocks: &[u8]) -> Option<&[u8]> {
    loop {
        let size = usize::from(u16::from_le_bytes(*blocks.first_chunk::<2>()?));
        let (block, rest) = blocks.split_at_checked(size).filter(|_| size >= 8)?;
        match u32_at(block, 4)? {
            FILE_EXTENSION => return Some(block),
            other if other >> 16 == 0xBEEF => blocks = rest,
            _ => return None,
        }
    }
}
