//! A link made of an entry, for a pinned one whose link is lost: a pin is not to be lost where its entry is not.
//!
//! It says what the entry says: the path, the host, and the ids by which Windows tracks a target that was moved. The parts
//! are those that MS-SHLLINK asks of a link without an item ID list: LinkInfo and the tracker block.

use crate::format::destlist::Entry;
use crate::format::link::{self, CLASS_ID, HEADER_SIZE, LinkFlags, signature};
use crate::format::text::CodePage;

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

/// The link. Nothing for what is no path on a drive or a share: only an item ID list could say where that is.
pub(super) fn of_entry(entry: &Entry<'_>) -> Option<Vec<u8>> {
    if entry.path.has_unpaired() {
        return None;
    }
    let path = entry.path.to_string();
    let info = if path.get(1..3) == Some(r":\") { local(&path)? } else { network(&path)? };
    let mut out = u32s(&[HEADER_SIZE as u32]);
    out.extend_from_slice(&CLASS_ID.0);
    // Attributes, times, size and icon: none is known.
    out.extend(u32s(&[
        LinkFlags::HAS_LINK_INFO | LinkFlags::IS_UNICODE,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        SHOW_NORMAL,
        0,
        0,
        0,
    ]));
    out.extend(info);
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
    (made.complete && made.problems.is_empty() && made.target().as_deref() == Some(path.as_str())).then_some(out)
}

fn u32s(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Strings in the form that every reader knows; what is not ASCII is only in the UTF-16 ones.
fn ansi(text: &str) -> Vec<u8> {
    text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' }).chain([0]).collect()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
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

fn local(path: &str) -> Option<Vec<u8>> {
    // A volume without a label (MS-SHLLINK 2.3.1).
    let mut volume = u32s(&[0x11, UNKNOWN_DRIVE, 0, 0x10]);
    volume.push(0);
    info(
        LOCAL,
        &[volume, ansi(path), ansi(""), wide(path), wide("")],
        [Some(0), Some(1), None, Some(2), Some(3), Some(4)],
    )
}

fn network(path: &str) -> Option<Vec<u8>> {
    let rest = path.strip_prefix(r"\\")?;
    let (server, below) = rest.split_once('\\')?;
    let (share, suffix) = below.split_once('\\').unwrap_or((below, ""));
    if server.is_empty() || share.is_empty() || !share.is_ascii() || !server.is_ascii() {
        return None;
    }
    // The share without a device, and with a provider (MS-SHLLINK 2.3.2).
    let name = ansi(&format!(r"\\{server}\{share}"));
    let mut relative = u32s(&[u32::try_from(name.len()).ok()?.checked_add(0x14)?, 2, 0x14, 0, LANMAN]);
    relative.extend(name);
    info(NETWORK, &[relative, ansi(suffix), wide(suffix)], [None, None, Some(0), Some(1), None, Some(2)])
}
