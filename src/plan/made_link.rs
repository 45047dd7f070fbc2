//! A link made of an entry, for a pinned one whose link is lost: a pin is not to be lost where its entry is not.
//!
//! It says what the entry says: the path, the host, and the ids by which Windows tracks a target that was moved. A path on
//! a drive or a share goes into the LinkInfo; one of Explorer's own folders, a place in the namespace and a URL into an item
//! ID list of the shape that Windows gives them (measured); anything else into the block for paths that are to be expanded,
//! as it is.

use crate::format::destlist::Entry;
use crate::format::guid::Guid;
use crate::format::link::{self, CLASS_ID, HEADER_SIZE, LinkFlags, signature};
use crate::format::text::{CodePage, Utf16};

/// Bytes of a LinkInfo header that has the paths in UTF-16 too (MS-SHLLINK 2.3).
const INFO_HEADER: u32 = 0x24;
/// LinkInfoFlags: a volume and a local path; a share.
const LOCAL: u32 = 1;
const NETWORK: u32 = 2;
/// DriveType: not known.
const UNKNOWN_DRIVE: u32 = 0;
/// SW_SHOWNORMAL.
const SHOW_NORMAL: u32 = 1;
/// WNNC_NET_LANMAN.
const LANMAN: u32 = 0x0002_0000;
/// LinkFlags: the target is in the environment block (MS-SHLLINK 2.1.1, HasExpString).
const HAS_EXP_STRING: u32 = 1 << 9;
/// Characters that the environment block has room for, the final NUL included (MS-SHLLINK 2.5.4).
const ENVIRONMENT_ROOM: usize = 260;

/// "This PC" and the Internet, the roots of what is below (measured in links of Explorer's and of browsers' lists).
const THIS_PC: &str = "20d04fe0-3aea-1069-a2d8-08002b30309d";
const INTERNET: &str = "871c5380-42a0-1069-a2ea-08002b30309d";
/// Class types of items: a root, with its place among the others; a delegate below "This PC"; a URI in UTF-16.
const ROOT_THIS_PC: [u8; 2] = [0x1F, 0x50];
const ROOT_INTERNET: [u8; 2] = [0x1F, 0x68];
const ROOT_OTHER: [u8; 2] = [0x1F, 0x70];
const BELOW_THIS_PC: [u8; 2] = [0x2E, 0x80];
const URI: [u8; 6] = [0x61, 0x80, 0, 0, 0, 0];

/// The folders that Explorer pins on its own: the id in the entry's path, and the id of the item below "This PC" in the link
/// (measured on Windows 11; only for Downloads are the two one).
const OWN_FOLDERS: [(&str, &str); 6] = [
    ("754ac886-df64-4cba-86b5-f7fbf4fbcef5", "b4bfcc3a-db2c-424c-b029-7fe99a87c641"),
    ("18989b1d-99b5-455b-841c-ab7c74e4ddfc", "a0953c92-50dc-43bf-be83-3742fed03c9c"),
    ("4bd8d571-6d19-48d3-be97-422220080e43", "1cf1260c-4dd0-4ebb-811f-33c572699fde"),
    ("fdd39ad0-238f-46af-adb4-6c85480369c7", "a8cdff1c-4878-43be-b5fd-f8091c1c60d0"),
    ("33e28130-4e1e-4676-835a-98395c3bc3bb", "3add1653-eb32-4cb0-bbd7-dfa0abb5acca"),
    ("374de290-123f-4565-9164-39c4925e467b", "374de290-123f-4565-9164-39c4925e467b"),
];

/// The parts of a link after its header, and the flags that describe them (MS-SHLLINK 2).
#[derive(Default)]
struct Parts {
    flags: u32,
    /// Item ID list or LinkInfo.
    front: Vec<u8>,
    /// An extra block.
    extra: Vec<u8>,
}

/// The link. `None` for an empty path, one with a NUL in it, and one that is too long for the form it calls for.
pub(super) fn of_entry(entry: &Entry<'_>) -> Option<Vec<u8>> {
    if entry.path.is_empty() || entry.path.until_nul() != entry.path {
        return None;
    }
    let path = entry.path.to_string();
    let info = info_of(entry.path, UNKNOWN_DRIVE, None);
    let parts = info
        .map(|front| Parts { flags: LinkFlags::HAS_LINK_INFO, front, ..Parts::default() })
        .or_else(|| id_list(&path).map(|front| Parts { flags: LinkFlags::HAS_ID_LIST, front, ..Parts::default() }))
        .or_else(|| environment(entry.path).map(|extra| Parts { flags: HAS_EXP_STRING, extra, ..Parts::default() }))?;
    let mut out = u32s(&[HEADER_SIZE as u32]);
    out.extend_from_slice(&CLASS_ID.0);
    // Attributes, times, size and icon: none is known.
    out.extend(u32s(&[parts.flags | LinkFlags::IS_UNICODE, 0, 0, 0, 0, 0, 0, 0, 0, 0, SHOW_NORMAL, 0, 0, 0]));
    out.extend(parts.front);
    out.extend(parts.extra);
    if !entry.object_id.is_zero() {
        let mut tracker = u32s(&[0x58, 0]);
        tracker.extend_from_slice(&entry.host);
        for id in [entry.volume_id, entry.object_id, entry.birth_volume_id, entry.birth_object_id] {
            tracker.extend_from_slice(&id.0);
        }
        out.extend(u32s(&[u32::try_from(tracker.len()).ok()?.saturating_add(8), signature::TRACKER]));
        out.extend(tracker);
    }
    out.extend(u32s(&[0]));
    let made = link::parse(&out, CodePage::default()).ok()?;
    let says_path = parts.flags == LinkFlags::HAS_ID_LIST || made.target().as_deref() == Some(path.as_str());
    (made.complete && made.problems.is_empty() && says_path).then_some(out)
}

fn u32s(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Strings in the form that every reader knows; what is not in the code page is only in the UTF-16 ones. Without a code
/// page, that is all but ASCII.
fn ansi(text: Utf16<'_>, code_page: Option<CodePage>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.0.len() / 2);
    for character in text.chars() {
        let page = code_page.filter(|_| !character.is_ascii());
        match page.and_then(|page| page.encode(character.encode_utf8(&mut [0; 4]))) {
            Some(bytes) => out.extend(bytes),
            None => out.push(u8::try_from(character).ok().filter(u8::is_ascii).unwrap_or(b'?')),
        }
    }
    out.push(0);
    out
}

fn wide(text: Utf16<'_>) -> Vec<u8> {
    text.units().chain([0]).flat_map(u16::to_le_bytes).collect()
}

/// Header and parts, where `offsets` says for each of the header's seven offsets which part it is that it points to.
fn info(flags: u32, parts: &[Vec<u8>], offsets: [Option<usize>; 6]) -> Option<Vec<u8>> {
    let mut starts = Vec::with_capacity(parts.len());
    let mut at = INFO_HEADER;
    for part in parts {
        starts.push(at);
        at = at.checked_add(u32::try_from(part.len()).ok()?)?;
    }
    let mut out = u32s(&[at, INFO_HEADER, flags]);
    for part in offsets {
        out.extend(u32s(&[part.and_then(|part| starts.get(part).copied()).unwrap_or(0)]));
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
    Some(out)
}

/// A LinkInfo for a path on a drive of this type, or on a share, with ANSI strings in `code_page`; `None` for any other
/// path.
pub(super) fn info_of(path: Utf16<'_>, drive_type: u32, code_page: Option<CodePage>) -> Option<Vec<u8>> {
    let text = path.decode();
    if text.get(1..3) == Some(r":\") { local(path, drive_type, code_page) } else { network(path, code_page) }
}

fn local(path: Utf16<'_>, drive_type: u32, code_page: Option<CodePage>) -> Option<Vec<u8>> {
    let none = Utf16(&[]);
    // A volume without a label and a serial number (MS-SHLLINK 2.3.1).
    let mut volume = u32s(&[0x11, drive_type, 0, 0x10]);
    volume.push(0);
    info(
        LOCAL,
        &[volume, ansi(path, code_page), ansi(none, code_page), wide(path), wide(none)],
        [Some(0), Some(1), None, Some(2), Some(3), Some(4)],
    )
}

fn network(path: Utf16<'_>, code_page: Option<CodePage>) -> Option<Vec<u8>> {
    let is_separator = |unit: &u16| *unit == u16::from(b'\\');
    let separators: Vec<usize> =
        path.units().enumerate().filter(|(_, unit)| is_separator(unit)).map(|(at, _)| at).take(4).collect();
    let [0, 1, below, ..] = separators.as_slice() else { return None };
    let units = path.0.len() / 2;
    // Of `\\server\share\path` the share goes without the separator behind it.
    let share = separators.get(3).copied().unwrap_or(units);
    if *below == 2 || share <= below.saturating_add(1) {
        return None;
    }
    let name = Utf16(path.0.get(..share.saturating_mul(2))?);
    let suffix = Utf16(path.0.get(share.saturating_add(1).saturating_mul(2)..).unwrap_or_default());
    // The share without a device, with a provider (MS-SHLLINK 2.3.2), and in UTF-16 too where it is not ASCII.
    let plain = ansi(name, code_page);
    let is_ascii = name.units().all(|unit| unit < 0x80);
    let header: u32 = if is_ascii { 0x14 } else { 0x1C };
    let wide_name = if is_ascii { Vec::new() } else { wide(name) };
    let end = header.checked_add(u32::try_from(plain.len()).ok()?)?;
    let size = end.checked_add(u32::try_from(wide_name.len()).ok()?)?;
    let mut relative = u32s(&[size, 2, header, 0, LANMAN]);
    if !is_ascii {
        relative.extend(u32s(&[end, 0]));
    }
    relative.extend(plain);
    relative.extend(wide_name);
    info(NETWORK, &[relative, ansi(suffix, code_page), wide(suffix)], [None, None, Some(0), Some(1), None, Some(2)])
}

/// The item ID list of what is no path, with its size in front.
fn id_list(path: &str) -> Option<Vec<u8>> {
    let root = |class: [u8; 2], id: &Guid| [&class[..], &id.0].concat();
    let items = if let Some(id) = path.strip_prefix("knownfolder:").and_then(Guid::parse) {
        let (_, item) = OWN_FOLDERS.iter().find(|(known, _)| Guid::parse(known) == Some(id))?;
        vec![root(ROOT_THIS_PC, &Guid::parse(THIS_PC)?), root(BELOW_THIS_PC, &Guid::parse(item)?)]
    } else if let Some(id) = path.strip_prefix("::").and_then(Guid::parse) {
        vec![root(ROOT_OTHER, &id)]
    } else if is_url(path) {
        let uri: Vec<u8> = path.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
        vec![root(ROOT_INTERNET, &Guid::parse(INTERNET)?), [&URI[..], &uri].concat()]
    } else {
        return None;
    };
    let mut list = Vec::new();
    for item in items {
        list.extend(u16::try_from(item.len().checked_add(2)?).ok()?.to_le_bytes());
        list.extend(item);
    }
    list.extend([0; 2]);
    let size = u16::try_from(list.len()).ok()?;
    Some([&size.to_le_bytes()[..], &list].concat())
}

/// True for a scheme of two letters or more and what follows it: one letter is a drive.
fn is_url(path: &str) -> bool {
    path.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme != "knownfolder"
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// The block with a path to be expanded (MS-SHLLINK 2.5.4), in both forms.
fn environment(path: Utf16<'_>) -> Option<Vec<u8>> {
    let (mut plain, mut text) = (ansi(path, None), wide(path));
    if plain.len() > ENVIRONMENT_ROOM {
        return None;
    }
    plain.resize(ENVIRONMENT_ROOM, 0);
    text.resize(ENVIRONMENT_ROOM.saturating_mul(2), 0);
    Some([u32s(&[0x314, signature::ENVIRONMENT]), plain, text].concat())
}
