//! What proves that bytes are a link, and where it ends.
//!
//! A file that is damaged says little that can be relied on; what is in it says more. A link is a row of parts that
//! each say how long they are, with lists of sized things inside them: taken from the wrong place, or with one wrong
//! sector in it, it does not end where its parts do. This is not the reader: it keeps nothing, and counts what is
//! fit instead of reading around it.

use super::{HEADER_SIZE, looks_like_link};
use crate::bytes::{Bytes, u32_at};

/// The first character that is none of the control characters.
const FIRST_TEXT: u16 = 0x20;
/// Extension blocks of shell items carry a signature of this kind.
const EXTENSION: u32 = 0xBEEF;

/// A link that could be followed to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// Bytes from its header to its terminal block.
    pub size: usize,
    /// How many things in it do not fit what surrounds them.
    pub flaws: u32,
}

/// Follows the link at the start of `data` to its end.
///
/// # Errors
/// Where it could be followed no further, in bytes from its start.
pub fn walk(data: &[u8]) -> Result<Walk, usize> {
    let (mut bytes, mut found) = (Bytes::new(data), Found::default());
    match walk_parts(&mut bytes, &mut found) {
        Some(()) => Ok(Walk { size: bytes.position(), flaws: found.flaws }),
        None => Err(bytes.position()),
    }
}

/// How many bytes of the link at the start of `data` fit one another: from its header to the end of the last part
/// before the first that does not fit, or is not all there. 0 if there is no sound header.
pub fn sound_size(data: &[u8]) -> usize {
    let (mut bytes, mut found) = (Bytes::new(data), Found::default());
    let _ = walk_parts(&mut bytes, &mut found);
    found.sound
}

/// True if every part of the link in `data` is intact and only the terminal block after them is missing.
pub fn lacks_only_terminal(data: &[u8]) -> bool {
    data.len() > HEADER_SIZE && sound_size(data) == data.len() && walk(data).is_err()
}

/// What a walk has found so far.
#[derive(Debug, Default)]
struct Found {
    flaws: u32,
    /// Where the last part ends before which nothing was wrong.
    sound: usize,
}

impl Found {
    /// Notes a part that ends at `end`.
    fn part(&mut self, fits: bool, end: usize) {
        self.flaws = self.flaws.saturating_add(u32::from(!fits));
        if self.flaws == 0 {
            self.sound = end;
        }
    }
}

fn walk_parts(bytes: &mut Bytes<'_>, found: &mut Found) -> Option<()> {
    let header = *bytes;
    bytes.take("link header", HEADER_SIZE).ok().filter(|header| looks_like_link(header))?;
    let header = header.rest();
    let flags = u32_at(header, 20)?;
    let has = |bit: u32| flags >> bit & 1 == 1;
    found.part(header.get(66..HEADER_SIZE)?.iter().all(|byte| *byte == 0), bytes.position());
    if has(0) {
        let mut ahead = *bytes;
        let size = ahead.u16("ID list size").ok()?;
        let list = ahead.take("ID list", usize::from(size)).ok()?;
        *bytes = ahead;
        found.part(is_id_list(list), bytes.position());
    }
    if has(1) {
        let size = usize::try_from(u32_at(bytes.rest(), 0)?).ok()?;
        let info = bytes.take("LinkInfo", size.max(4)).ok()?;
        found.part(is_link_info(info), bytes.position());
    }
    for bit in 2..=6 {
        if has(bit) {
            let mut ahead = *bytes;
            let count = usize::from(ahead.u16("string length").ok()?);
            let wide = has(7);
            let text = ahead.take("string", if wide { count.saturating_mul(2) } else { count }).ok()?;
            *bytes = ahead;
            found.part(if wide { is_wide_text(text) } else { is_text(text) }, bytes.position());
        }
    }
    loop {
        let size = u32_at(bytes.rest(), 0)?;
        if size < 4 {
            bytes.u32("terminal block").ok()?;
            found.part(size == 0, bytes.position());
            return Some(());
        }
        let block = bytes.take("extra block", usize::try_from(size).ok()?).ok()?;
        found.part(is_extra_block(block), bytes.position());
    }
}

fn is_text(text: &[u8]) -> bool {
    text.iter().all(|byte| u16::from(*byte) >= FIRST_TEXT)
}

fn is_wide_text(text: &[u8]) -> bool {
    text.as_chunks::<2>().0.iter().all(|unit| u16::from_le_bytes(*unit) >= FIRST_TEXT)
}

/// Items that follow one another to a terminal one at the very end (MS-SHLLINK 2.2).
fn is_id_list(list: &[u8]) -> bool {
    let mut bytes = Bytes::new(list);
    loop {
        let Ok(size) = bytes.u16("item size") else { return false };
        if size == 0 {
            return bytes.left() == 0;
        }
        let Ok(item) = bytes.take("item", usize::from(size).saturating_sub(2)) else { return false };
        if !is_item(item) {
            return false;
        }
    }
}

/// File and folder items (class 0x30 to 0x3F) name their first extension block in their last two bytes; there
/// must be one (libyal, "Windows Shell Item format").
fn is_item(item: &[u8]) -> bool {
    let Some(class) = item.first() else { return false };
    if class & 0xF0 != 0x30 {
        return true;
    }
    let Some(place) = item.last_chunk::<2>().map(|bytes| usize::from(u16::from_le_bytes(*bytes))) else { return false };
    // The place counts from the item's size field, which is not in `item`.
    let Some(block) = place.checked_sub(2).and_then(|place| item.get(place..)) else { return false };
    let size = block.first_chunk::<2>().map(|bytes| usize::from(u16::from_le_bytes(*bytes)));
    size.is_some_and(|size| size <= block.len())
        && u32_at(block, 4).is_some_and(|signature| signature >> 16 == EXTENSION)
}

/// Offsets that lie inside, and texts that end inside (MS-SHLLINK 2.3).
fn is_link_info(info: &[u8]) -> bool {
    let field = |at: usize| u32_at(info, at).and_then(|value| usize::try_from(value).ok());
    let (Some(size), Some(header), Some(flags)) = (field(0), field(4), field(8)) else { return false };
    if size != info.len() || header < 0x1C || header > size || flags > 3 {
        return false;
    }
    let ends = |at: usize| at >= header && info.get(at..).is_some_and(|rest| rest.contains(&0));
    let sized = |at: usize| {
        let rest = info.get(at..).unwrap_or_default();
        at >= header && u32_at(rest, 0).is_some_and(|size| usize::try_from(size).is_ok_and(|size| size <= rest.len()))
    };
    let local = flags & 1 == 0 || (field(12).is_some_and(sized) && field(16).is_some_and(ends));
    let network = flags & 2 == 0 || field(20).is_some_and(sized);
    local && network && field(24).is_some_and(ends)
}

/// A block of a known kind and of its size (MS-SHLLINK 2.5).
fn is_extra_block(block: &[u8]) -> bool {
    let (Some(signature), size) = (u32_at(block, 4), block.len()) else { return false };
    match signature {
        0xA000_0001 | 0xA000_0007 | 0xA000_0006 => size == 0x314,
        0xA000_0002 => size == 0xCC,
        0xA000_0003 => size == 0x60 && u32_at(block, 8) == Some(0x58),
        0xA000_0004 => size == 0x0C,
        0xA000_0005 => size == 0x10,
        0xA000_0008 => size >= 0x88,
        0xA000_0009 => is_property_store(block.get(8..).unwrap_or_default()),
        0xA000_000B => size == 0x1C,
        0xA000_000C => is_id_list(block.get(8..).unwrap_or_default()),
        signature => signature >> 16 == 0xA000,
    }
}

/// Storages that follow one another to a terminal one, each a row of sized values (MS-PROPSTORE 2.2).
fn is_property_store(store: &[u8]) -> bool {
    let mut bytes = Bytes::new(store);
    loop {
        match bytes.u32("storage size") {
            Ok(0) => return true,
            Ok(size) => {
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                let Ok(storage) = bytes.take("storage", size.saturating_sub(4)) else { return false };
                if u32_at(storage, 0) != Some(0x5350_5331) || !is_value_row(storage.get(20..).unwrap_or_default()) {
                    return false;
                }
            }
            Err(_) => return false,
        }
    }
}

fn is_value_row(values: &[u8]) -> bool {
    let mut bytes = Bytes::new(values);
    loop {
        match bytes.u32("value size") {
            Ok(0) => return bytes.left() == 0,
            Ok(size) => {
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                if bytes.take("value", size.saturating_sub(4)).is_err() {
                    return false;
                }
            }
            Err(_) => return false,
        }
    }
}
