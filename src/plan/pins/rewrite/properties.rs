//! A serialized property store (MS-PROPSTORE) whose paths are mapped.
//!
//! A property that does not change is copied byte for byte.

use super::super::map::PathMap;
use crate::bytes::Bytes;
use crate::format::guid::Guid;
use crate::format::property_store::{DELEGATE_ID_LIST, NAMED_PROPERTIES, starts_storage};
use crate::format::shell_item;
use crate::format::text::{CodePage, Text, Utf16, until_nul};

/// `System.VolumeId`: the volume of the target.
const VOLUME_ID: (Guid, u32) =
    (Guid::new(0x446D_16B1, 0x8DAD, 0x4870, [0xA7, 0x48, 0x40, 0x2E, 0xA4, 0x3D, 0x78, 0x8C]), 104);
/// "1SPS" (MS-PROPSTORE 2.2).
const VERSION: u32 = 0x5350_5331;
/// Value types (MS-OLEPS 2.15).
const VT_BSTR: u16 = 0x08;
const VT_LPSTR: u16 = 0x1E;
const VT_LPWSTR: u16 = 0x1F;
const VT_VECTOR_UI1: u16 = 0x1011;
/// Bytes of a property before its value: size, identifier, reserved byte, type, padding.
const PROPERTY_HEADER: usize = 13;

/// The store with its paths mapped, and without the volume of the target unless `keeps_ids`. `None` if it cannot be read.
pub(in super::super) fn mapped(store: &[u8], map: &PathMap, keeps_ids: bool, code_page: CodePage) -> Option<Vec<u8>> {
    if store.is_empty() {
        return Some(Vec::new());
    }
    let mut bytes = Bytes::new(store);
    // Some stores have their own size in front.
    let has_size = !starts_storage(store) && starts_storage(store.get(4..).unwrap_or_default());
    if has_size {
        bytes.u32("store size").ok()?;
    }
    let mut out = Vec::with_capacity(store.len());
    while let Some(storage) = sized(&mut bytes)? {
        let mut storage = Bytes::new(storage);
        if storage.u32("storage version") != Ok(VERSION) {
            return None;
        }
        let format_id = Guid(storage.array("storage format identifier").ok()?);
        let mut properties = Vec::new();
        while let Some(property) = sized(&mut storage)? {
            properties.extend(mapped_property(property, format_id, map, keeps_ids, code_page)?);
        }
        if storage.left() > 0 {
            return None;
        }
        if !properties.is_empty() {
            properties.extend([0; 4]);
            let content = [&VERSION.to_le_bytes()[..], &format_id.0, &properties].concat();
            push_sized(&mut out, &content)?;
        }
    }
    out.extend([0; 4]);
    if has_size {
        let size = u32::try_from(out.len().checked_add(4)?).ok()?;
        out.splice(0..0, size.to_le_bytes());
    }
    Some(out)
}

/// What follows the size of the next part; `Some(None)` at the terminal size of 0.
#[allow(clippy::option_option, reason = "the outer one is that the data is damaged")]
fn sized<'a>(bytes: &mut Bytes<'a>) -> Option<Option<&'a [u8]>> {
    match usize::try_from(bytes.u32("size").ok()?).ok()? {
        0 => Some(None),
        size => Some(Some(bytes.take("part", size.checked_sub(4)?).ok()?)),
    }
}

fn push_sized(out: &mut Vec<u8>, content: &[u8]) -> Option<()> {
    out.extend(u32::try_from(content.len().checked_add(4)?).ok()?.to_le_bytes());
    out.extend_from_slice(content);
    Some(())
}

/// The property with its size; empty if it is dropped. `None` if it cannot be read.
fn mapped_property(
    property: &[u8],
    format_id: Guid,
    map: &PathMap,
    keeps_ids: bool,
    code_page: CodePage,
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    if format_id == NAMED_PROPERTIES {
        push_sized(&mut out, property)?;
        return Some(out);
    }
    let mut bytes = Bytes::new(property);
    let id = bytes.u32("property identifier").ok()?;
    bytes.u8("reserved byte").ok()?;
    let value_type = bytes.u16("property type").ok()?;
    bytes.u16("property type padding").ok()?;
    if (format_id, id) == VOLUME_ID && !keeps_ids {
        return Some(out);
    }
    if (format_id, id) == DELEGATE_ID_LIST && value_type == VT_VECTOR_UI1 {
        let target = shell_item::parse(bytes.rest().get(4..)?, 0, code_page).target();
        if target.is_some_and(|target| map.map_text(&target).is_some()) {
            return Some(out);
        }
    }
    let path = text(&mut bytes, value_type, code_page).and_then(|text| match text {
        Text::Wide(text) => map.map(text),
        Text::Ansi(..) => map.map_text(&text.decode()),
    });
    let Some(path) = path else {
        push_sized(&mut out, property)?;
        return Some(out);
    };
    let mut content = property.get(..PROPERTY_HEADER.saturating_sub(4))?.to_vec();
    let type_at = content.get_mut(5..7)?;
    type_at.copy_from_slice(&VT_LPWSTR.to_le_bytes());
    let characters = path.path.len() / 2;
    content.extend(u32::try_from(characters.checked_add(1)?).ok()?.to_le_bytes());
    content.extend_from_slice(&path.path);
    content.extend([0; 2]);
    // Values are padded to a multiple of 4.
    let value = content.len().saturating_sub(PROPERTY_HEADER.saturating_sub(4));
    content.resize(content.len().checked_add(value.next_multiple_of(4).saturating_sub(value))?, 0);
    push_sized(&mut out, &content)?;
    Some(out)
}

/// The value, if it is a text.
fn text<'a>(bytes: &mut Bytes<'a>, value_type: u16, code_page: CodePage) -> Option<Text<'a>> {
    if !matches!(value_type, VT_BSTR | VT_LPSTR | VT_LPWSTR) {
        return None;
    }
    let count = usize::try_from(bytes.u32("text size").ok()?).ok()?;
    Some(match value_type {
        VT_LPSTR => Text::Ansi(until_nul(bytes.take("text", count).ok()?), code_page),
        VT_BSTR => Text::Wide(Utf16(bytes.take("text", count).ok()?).until_nul()),
        _ => Text::Wide(Utf16(bytes.take("text", count.checked_mul(2)?).ok()?).until_nul()),
    })
}
