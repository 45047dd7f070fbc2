//! Shell items: how the shell names a place, from the desktop down. An item ID list is a row of them,
//! each opaque but to the folder before it; what they hold is known from what parsers have found
//! (libyal's "Windows Shell Item format") and from the links that we measured.
//!
//! An item that is not known, or not as it should be, is kept as its bytes, and the list goes on: the sizes
//! lead from one to the next. Nothing is copied.
//!
//! ```
//! # let list = jlfix::JumpList::open("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! # let link = list.links().next().expect("a link").link?;
//! let items = link.items().expect("a link of a file has an ID list");
//! println!("{} items: {:?}", items.items.len(), items.path());
//! # assert!(items.items.len() > 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod classes;
mod extension;
mod file_entry;
#[cfg(feature = "serde")]
mod json;
mod kind;
mod path;
mod portable;
mod steps;

use crate::bytes::{Bytes, Short};
use crate::format::problem::Problem;
use crate::format::text::{CodePage, Text, Utf16};

pub use classes::class_name;
pub use extension::{Extension, ExtensionKind, FileExtension, FileReference};
pub use file_entry::FileEntry;
pub use kind::{Archived, Kind, NetworkLocation, Uri, control_panel_category};
pub(crate) use path::path;
pub use portable::{PortableDevice, PortableFile, PortableVolume};
pub use steps::{Step, steps};

/// A list of items, as far as it could be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ItemList<'a> {
    /// The items in their order.
    pub items: Vec<Item<'a>>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// An item.
#[derive(Debug, Clone, PartialEq)]
pub struct Item<'a> {
    /// Where it starts (its size field), as problems count.
    pub offset: u64,
    /// The whole item, its size field included.
    pub data: &'a [u8],
    /// What it says.
    pub kind: Kind<'a>,
    /// The extension blocks at its end.
    pub extensions: Vec<Extension<'a>>,
}

/// How deep lists may be inside of items. Windows writes one level.
const DEEPEST: u8 = 2;

/// What the readers of parts share.
struct Context<'p> {
    page: CodePage,
    problems: &'p mut Vec<Problem>,
    depth: u8,
}

/// Reads the list at the start of `data` to its terminal item, or to the end of `data`. Offsets count from `base`; ANSI
/// strings are read in `code_page`.
pub fn parse(data: &[u8], base: u64, code_page: CodePage) -> ItemList<'_> {
    let mut problems = Vec::new();
    let items = read_items(data, base, &mut Context { page: code_page, problems: &mut problems, depth: 0 });
    ItemList { items, problems }
}

/// The problems that [`parse`] finds, without keeping the items.
pub(crate) fn check(data: &[u8], base: u64, code_page: CodePage, problems: &mut Vec<Problem>) {
    let context = &mut Context { page: code_page, problems, depth: 0 };
    let mut bytes = Bytes::at_base(data, base);
    loop {
        let offset = base.saturating_add(bytes.position() as u64);
        match next_item(&mut bytes) {
            Ok(Some(data)) => Item::check(data, offset, context),
            Ok(None) => return,
            Err(short) => return context.problems.push(short.into()),
        }
    }
}

fn read_items<'a>(data: &'a [u8], base: u64, context: &mut Context<'_>) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    let mut bytes = Bytes::at_base(data, base);
    loop {
        let offset = base.saturating_add(bytes.position() as u64);
        match next_item(&mut bytes) {
            Ok(Some(data)) => items.push(Item::read(data, offset, context)),
            Ok(None) => return items,
            Err(short) => {
                context.problems.push(short.into());
                // What is there of the last item is kept: its name may be.
                if bytes.left() > 2 {
                    let known = context.problems.len();
                    items.push(Item::read(bytes.rest(), offset, context));
                    context.problems.truncate(known);
                }
                return items;
            }
        }
    }
}

/// The next item with its size field, or nothing at the terminal one or at the end of the data.
fn next_item<'a>(bytes: &mut Bytes<'a>) -> Result<Option<&'a [u8]>, Short> {
    if bytes.left() == 0 {
        return Ok(None);
    }
    let mut ahead = *bytes;
    let size = usize::from(ahead.u16("item size")?);
    if size == 0 {
        return Ok(None);
    }
    bytes.take("item", size.max(2)).map(Some)
}

impl<'a> Item<'a> {
    fn read(data: &'a [u8], offset: u64, context: &mut Context<'_>) -> Self {
        let first = extension::first(data);
        let mut extensions = Vec::new();
        if let Some(first) = first {
            extensions = extension::read_all(data, first, offset, context);
        }
        let content = first.and_then(|first| data.get(..first)).unwrap_or(data);
        let kind = Kind::read(content, offset, context).unwrap_or_else(|short| {
            context.problems.push(short.into());
            Kind::Unknown
        });
        Self { offset, data, kind, extensions }
    }

    /// The problems that [`Item::read`] finds.
    fn check(data: &'a [u8], offset: u64, context: &mut Context<'_>) {
        let first = extension::first(data);
        if let Some(first) = first
            && !extension::is_one_file_block(data.get(first..).unwrap_or_default())
        {
            extension::each(data, first, offset, context, |_| ());
        }
        let content = first.and_then(|first| data.get(..first)).unwrap_or(data);
        if Kind::is_sound_file(content) {
            return;
        }
        if let Err(short) = Kind::read(content, offset, context) {
            context.problems.push(short.into());
        }
    }

    /// The class type indicator: the byte behind the size.
    pub fn class(&self) -> u8 {
        self.data.get(2).copied().unwrap_or(0)
    }

    /// The extension block of a file entry, which holds its long name.
    pub fn file_extension(&self) -> Option<&FileExtension<'a>> {
        self.extensions.iter().find_map(|extension| match &extension.kind {
            ExtensionKind::File(file) => Some(file),
            _ => None,
        })
    }
}

/// The UTF-16 text up to its end sign, which is taken too; without one, all that is left.
fn wide_text<'a>(bytes: &mut Bytes<'a>) -> Text<'a> {
    let text = Utf16(bytes.rest()).until_nul();
    let _ = bytes.take("text", text.0.len().saturating_add(2).min(bytes.left()));
    Text::Wide(text)
}

/// The text in the code page up to its end sign, which is taken too; without one, all that is left.
fn ansi_text<'a>(bytes: &mut Bytes<'a>, page: CodePage) -> Text<'a> {
    let text = crate::format::text::until_nul(bytes.rest());
    let _ = bytes.take("text", text.len().saturating_add(1).min(bytes.left()));
    Text::Ansi(text, page)
}

/// The UTF-16 text of `count` characters, its end sign among them.
fn counted_text<'a>(bytes: &mut Bytes<'a>, what: &'static str, count: u32) -> Result<Text<'a>, Short> {
    Ok(Text::Wide(Utf16(bytes.take(what, (count as usize).saturating_mul(2))?).until_nul()))
}

#[cfg(test)]
mod tests;
