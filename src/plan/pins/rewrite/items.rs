//! The item ID list of a link whose path is mapped.
//!
//! An item below the mapped folder stays byte for byte, but for the file reference, which is a place on the old volume.
//! Every other one is made again from its name: a drive or a share, then file entries as Windows XP wrote them, which later
//! versions read (libyal, "Windows Shell Item format").

use super::super::map::MappedPath;
use crate::format::guid::Guid;
use crate::format::shell_item::{self, ExtensionKind, Item, ItemList, Kind};
use crate::format::text::{CodePage, Utf16};

/// "This PC" and the network, the roots of paths on drives and on shares (measured).
const THIS_PC: &str = "20d04fe0-3aea-1069-a2d8-08002b30309d";
const NETWORK: &str = "208d2c60-3aea-1069-a2d7-08002b30309d";
const ROOT_THIS_PC: [u8; 2] = [0x1F, 0x50];
const ROOT_NETWORK: [u8; 2] = [0x1F, 0x58];
/// A drive: class, then the name in a field of 22 bytes (measured).
const DRIVE: u8 = 0x2F;
const DRIVE_NAME: usize = 22;
/// A share with a description (measured): class, unknown byte, flags.
const SHARE: [u8; 3] = [0xC3, 0x01, 0x81];
const SHARE_END: &[u8] = b"\0Microsoft Network\0\x02\0";
/// File entries: a folder, a file; with names in UTF-16.
const FOLDER: u8 = 0x31;
const FILE: u8 = 0x32;
const UNICODE: u8 = 0x04;
/// FILE_ATTRIBUTE_DIRECTORY and FILE_ATTRIBUTE_ARCHIVE.
const DIRECTORY: u16 = 0x10;
const ARCHIVE: u16 = 0x20;
/// The extension block with the long name: signature, and the version of Windows XP, whose header is the shortest.
const FILE_EXTENSION: u32 = 0xBEEF_0004;
const XP: u16 = 3;
const XP_HEADER: u16 = 20;
/// Where a block of version 7 or later has its file reference (measured).
const REFERENCE_VERSION: u16 = 7;
const REFERENCE_AT: usize = 20;
const REFERENCE_SIZE: usize = 8;

/// The items of `list`, which has its terminal item, without what binds them to their volume.
pub(super) fn unbound(list: &[u8], code_page: CodePage) -> Vec<u8> {
    let parsed = shell_item::parse(list, 0, code_page);
    let mut out = list.to_vec();
    for item in &parsed.items {
        clear_references(item, &mut out, 0);
    }
    out
}

/// Sets the file references of `item` to 0 in `out`, which starts `base` bytes into the list.
fn clear_references(item: &Item<'_>, out: &mut [u8], base: u64) {
    for extension in &item.extensions {
        let is_file = matches!(extension.kind, ExtensionKind::File(_)) && extension.version >= REFERENCE_VERSION;
        let at = extension.offset.checked_sub(base).and_then(|at| usize::try_from(at).ok());
        let Some(at) = at.and_then(|at| at.checked_add(REFERENCE_AT)).filter(|_| is_file) else { continue };
        if let Some(reference) = at.checked_add(REFERENCE_SIZE).and_then(|end| out.get_mut(at..end)) {
            reference.fill(0);
        }
    }
}

/// A list for the path `mapped`, made of the items of `old` where they name the same. `is_folder` says what the target
/// is, if `old` does not. `None` if that is not known, or a name cannot be written in an item.
pub(super) fn rebuilt(old: &ItemList<'_>, mapped: &MappedPath, is_folder: Option<bool>) -> Option<Vec<u8>> {
    let path = Utf16(&mapped.path);
    if path.has_unpaired() {
        return None;
    }
    let path = path.decode();
    let (mut out, names) = match path.strip_prefix(r"\\") {
        Some(rest) => share_items(rest)?,
        None => drive_items(&path)?,
    };
    for (position, name) in names.iter().enumerate() {
        let behind = names.len().saturating_sub(position).saturating_sub(1);
        let was = old.items.len().checked_sub(behind.saturating_add(1)).and_then(|at| old.items.get(at));
        let same = was.filter(|item| matches!(item.kind, Kind::File(_)) && is_named(item, name));
        if let Some(item) = same.filter(|_| behind < mapped.kept) {
            let mut bytes = item.data.to_vec();
            clear_references(item, &mut bytes, item.offset);
            out.extend(bytes);
            continue;
        }
        let entry = was.filter(|_| behind == 0).and_then(Item::file_entry);
        let is_folder = behind > 0 || entry.map(|entry| entry.is_folder).or(is_folder)?;
        out.extend(file_item(name, is_folder)?);
    }
    out.extend([0; 2]);
    u16::try_from(out.len()).is_ok().then_some(out)
}

/// A list for a path that has none yet.
pub(in super::super) fn made(path: &str, is_folder: bool) -> Option<Vec<u8>> {
    let path = path.encode_utf16().flat_map(u16::to_le_bytes).collect();
    rebuilt(&ItemList::default(), &MappedPath { path, kept: 0 }, Some(is_folder))
}

fn is_named(item: &Item<'_>, name: &str) -> bool {
    item.long_name().is_some_and(|long| long.decode() == name)
}

/// The items of a drive, and the names below it.
fn drive_items(path: &str) -> Option<(Vec<u8>, Vec<&str>)> {
    let (drive, names) = path.split_once('\\')?;
    let mut body = vec![DRIVE];
    body.extend_from_slice(drive.as_bytes());
    body.push(b'\\');
    body.resize(DRIVE_NAME.saturating_add(1), 0);
    let items = [item(&root(ROOT_THIS_PC, THIS_PC)?)?, item(&body)?].concat();
    Some((items, names.split('\\').filter(|name| !name.is_empty()).collect()))
}

/// The items of the share at the start of `server\share\names`, and the names below it. Only ASCII fits in its item.
fn share_items(path: &str) -> Option<(Vec<u8>, Vec<&str>)> {
    let mut names = path.split('\\').filter(|name| !name.is_empty());
    let (server, share) = (names.next()?, names.next()?);
    let location = format!(r"\\{server}\{share}");
    if !location.is_ascii() {
        return None;
    }
    let body = [&SHARE[..], location.as_bytes(), SHARE_END].concat();
    Some(([item(&root(ROOT_NETWORK, NETWORK)?)?, item(&body)?].concat(), names.collect()))
}

fn root(class: [u8; 2], id: &str) -> Option<Vec<u8>> {
    Some([&class[..], &Guid::parse(id)?.0].concat())
}

/// The item with its size in front.
fn item(body: &[u8]) -> Option<Vec<u8>> {
    let size = u16::try_from(body.len().checked_add(2)?).ok()?;
    Some([&size.to_le_bytes()[..], body].concat())
}

/// A file entry of this name. Size and times are not known.
fn file_item(name: &str, is_folder: bool) -> Option<Vec<u8>> {
    let wide: Vec<u8> = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
    let (class, attributes) = if is_folder { (FOLDER, DIRECTORY) } else { (FILE, ARCHIVE) };
    let class = if name.is_ascii() { class } else { class | UNICODE };
    let mut body = vec![class, 0];
    body.extend([0; 8]);
    body.extend(attributes.to_le_bytes());
    if name.is_ascii() {
        body.extend_from_slice(name.as_bytes());
        body.push(0);
        // The extension block is at an even place.
        body.resize(body.len().next_multiple_of(2), 0);
    } else {
        body.extend_from_slice(&wide);
    }
    let first = u16::try_from(body.len().checked_add(2)?).ok()?;
    let size = u16::try_from(usize::from(XP_HEADER).checked_add(wide.len())?.checked_add(2)?).ok()?;
    for value in [size, XP] {
        body.extend(value.to_le_bytes());
    }
    body.extend(FILE_EXTENSION.to_le_bytes());
    body.extend([0; 8]);
    body.extend(XP_HEADER.to_le_bytes());
    // No localized name.
    body.extend([0; 2]);
    body.extend(wide);
    body.extend(first.to_le_bytes());
    item(&body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_list_spells_its_path() {
        for (path, is_folder) in [
            (r"C:\Users\new\Docs\report 2024.txt", false),
            (r"D:\Größe\日本", true),
            (r"D:\", true),
            (r"\\srv\share", true),
            (r"\\srv\share\a\b.txt", false),
        ] {
            let list = made(path, is_folder).unwrap();
            let parsed = shell_item::parse(&list, 0, CodePage::default());
            assert!(parsed.problems.is_empty(), "{path}: {:?}", parsed.problems);
            let spelled = parsed.target().unwrap();
            assert!(spelled.ends_with(path), "{path}: {spelled}");
            let last = parsed.items.last().unwrap().file_entry();
            assert!(last.is_none_or(|entry| entry.is_folder == is_folder));
        }
        assert_eq!(made(r"\\größe\share\a", false), None);
        assert_eq!(made(&format!(r"C:\{}", "x".repeat(40_000)), false), None);
    }
}
