//! A link that is carried to another profile: its paths are mapped, and what binds it to the old machine is dropped.
//!
//! Every part that does not change is copied byte for byte. The new link is read again and compared with what it is to
//! name before it is used.

mod items;
mod properties;

use super::map::{MappedPath, PathMap};
use crate::bytes::u32_at;
use crate::format::link::{self, Extra, HEADER_SIZE, Link, LinkFlags, LinkInfo, signature};
use crate::format::shell_item;
use crate::format::text::{CodePage, Text, Utf16};
use crate::plan::identity::is_plain;
use crate::plan::made_link::info_of;

pub(super) use items::made as made_id_list;
pub(super) use properties::mapped as mapped_properties;

/// LinkFlags of the blocks with environment variables (MS-SHLLINK 2.1.1, HasExpString and HasExpIcon).
const HAS_EXP_STRING: u32 = 1 << 9;
const HAS_EXP_ICON: u32 = 1 << 14;
/// Windows reads no more characters than this of a name, a relative path and a working directory.
const LONGEST_STRING: usize = 260;
/// Characters that an environment block has room for, the final NUL included (MS-SHLLINK 2.5.4).
const ENVIRONMENT_ROOM: usize = 260;
/// Where a LinkInfo has the offset of its volume, and a volume its serial number (MS-SHLLINK 2.3, 2.3.1).
const VOLUME_OFFSET_AT: usize = 12;
const SERIAL_AT: usize = 8;
/// Where a link's header has its flags and the attributes of the target (MS-SHLLINK 2.1).
const FLAGS_AT: usize = 20;
const ATTRIBUTES_AT: usize = 24;
/// FILE_ATTRIBUTE_DIRECTORY.
const DIRECTORY: u32 = 0x10;

/// How a link is carried over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carrying<'m> {
    /// Where the paths are now.
    pub(super) map: &'m PathMap,
    /// Keeps tracker block, volume serial number and volume id: they are valid on every machine.
    pub(super) keeps_ids: bool,
    /// The entry has a path; if it has the name of a known folder or a place in the namespace, the ID list leads there on
    /// every machine.
    pub(super) has_path: bool,
    /// The code page of ANSI strings.
    pub(super) code_page: CodePage,
}

/// A link that was carried over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Rewritten {
    /// The link.
    pub(super) bytes: Vec<u8>,
    /// What could not be kept in it.
    pub(super) notes: Vec<String>,
}

/// Carries a link over.
///
/// # Errors
/// Why it cannot be rewritten: it is damaged, or would not lead to the mapped path.
pub(super) fn rewrite(data: &[u8], how: Carrying<'_>) -> Result<Rewritten, String> {
    let link = link::parse(data, how.code_page).map_err(|error| error.to_string())?;
    if let Some(problem) = link.problems.first() {
        return Err(problem.to_string());
    }
    if !link.complete {
        return Err("it is truncated".to_owned());
    }
    let header = data.get(..HEADER_SIZE).ok_or("it is truncated")?;
    let mut writer = Writer { how, link: &link, data, flags: link.header.flags.0, notes: Vec::new() };
    let target = link.local_path().or_else(|| link.network_path());
    let mapped_target = target.as_deref().and_then(|path| how.map.map_text(path));
    let mut parts = Vec::new();
    let list_changed = writer.id_list(mapped_target.as_ref(), &mut parts).ok_or("it is too large")?;
    let info_dropped = writer.drops_info(mapped_target.as_ref());
    if info_dropped {
        writer.flags &= !LinkFlags::HAS_LINK_INFO;
    } else {
        writer.info(&mut parts).ok_or("its LinkInfo cannot be rewritten")?;
    }
    writer.strings(target.as_deref(), mapped_target.as_ref(), &mut parts).ok_or("a string is too long")?;
    writer.blocks(list_changed, &mut parts).ok_or("it is too large")?;
    let mut bytes = header.to_vec();
    if let Some(flags) = bytes.get_mut(FLAGS_AT..ATTRIBUTES_AT) {
        flags.copy_from_slice(&writer.flags.to_le_bytes());
    }
    bytes.extend(parts);
    bytes.extend([0; 4]);
    let notes = writer.notes;
    verify(&link, &bytes, info_dropped, how)?;
    Ok(Rewritten { bytes, notes })
}

/// A link without an item ID list, with one. `None` if it cannot be read then.
pub(super) fn with_id_list(data: &[u8], list: &[u8], is_folder: bool) -> Option<Vec<u8>> {
    let mut out = data.get(..HEADER_SIZE)?.to_vec();
    let flags = u32_at(data, FLAGS_AT)? | LinkFlags::HAS_ID_LIST;
    out.get_mut(FLAGS_AT..ATTRIBUTES_AT)?.copy_from_slice(&flags.to_le_bytes());
    if is_folder {
        out.get_mut(ATTRIBUTES_AT..ATTRIBUTES_AT.checked_add(4)?)?.copy_from_slice(&DIRECTORY.to_le_bytes());
    }
    out.extend(u16::try_from(list.len()).ok()?.to_le_bytes());
    out.extend_from_slice(list);
    out.extend_from_slice(data.get(HEADER_SIZE..)?);
    let link = link::parse(&out, CodePage::default()).ok()?;
    (link.complete && link.problems.is_empty()).then_some(out)
}

/// Reads the new link again, and compares what it names with what the old one named.
fn verify(old: &Link<'_>, bytes: &[u8], info_dropped: bool, how: Carrying<'_>) -> Result<(), String> {
    let new = link::parse(bytes, how.code_page).map_err(|error| error.to_string())?;
    if !new.complete || !new.problems.is_empty() {
        return Err("it could not be rewritten".to_owned());
    }
    let mapped = |path: Option<String>| path.map(|path| how.map.map_text(&path).map_or(path, |mapped| mapped.text()));
    let (expected, found) = (mapped(old.target()), new.target());
    let moved = how.map.map_text(&old.target().unwrap_or_default()).is_some();
    if expected != found && !info_dropped && (moved || old.target().as_deref().is_some_and(is_plain)) {
        let found = found.unwrap_or_else(|| "nothing".to_owned());
        return Err(format!("rewritten, it would name {found} instead of {}", expected.unwrap_or_default()));
    }
    Ok(())
}

struct Writer<'w, 'a> {
    how: Carrying<'w>,
    link: &'w Link<'a>,
    data: &'a [u8],
    flags: u32,
    notes: Vec<String>,
}

impl Writer<'_, '_> {
    fn map_text(&self, text: Text<'_>) -> Option<MappedPath> {
        match text {
            Text::Wide(text) => self.how.map.map(text),
            Text::Ansi(..) => self.how.map.map_text(&text.decode()),
        }
    }

    /// The new items of a list: `Some(None)` if there is no list for the mapped path. The flag says whether it is another
    /// list than before.
    fn new_items(&self, list: &[u8], mapped_target: Option<&MappedPath>) -> (Option<Vec<u8>>, bool) {
        let page = self.how.code_page;
        let parsed = shell_item::parse(list, 0, page);
        let spelled = parsed.target().filter(|path| is_plain(path));
        let mapped = match &spelled {
            Some(path) => self.how.map.map_text(path),
            None if self.how.has_path => mapped_target.cloned(),
            None => None,
        };
        match mapped {
            Some(mapped) => {
                let attributes = self.link.header.attributes;
                let is_folder = (attributes != 0).then_some(attributes & DIRECTORY != 0);
                (items::rebuilt(&parsed, &mapped, is_folder), true)
            }
            None if self.how.keeps_ids => (Some(list.to_vec()), false),
            None => (Some(items::unbound(list, page)), false),
        }
    }

    /// Writes the item ID list, and says whether it is another one than before.
    fn id_list(&mut self, mapped_target: Option<&MappedPath>, out: &mut Vec<u8>) -> Option<bool> {
        let Some(list) = self.link.id_list else { return Some(false) };
        let (items, changed) = self.new_items(list.data, mapped_target);
        match items {
            Some(items) => {
                out.extend(u16::try_from(items.len()).ok()?.to_le_bytes());
                out.extend(items);
            }
            None => {
                self.flags &= !LinkFlags::HAS_ID_LIST;
                self.notes.push("its item ID list cannot be made for the mapped path and was left out".to_owned());
            }
        }
        Some(changed)
    }

    /// True if the LinkInfo is left out: the ID list leads to a known folder or a place in the namespace on every machine,
    /// and the path is that of the old one.
    fn drops_info(&self, mapped_target: Option<&MappedPath>) -> bool {
        let local = self.link.local_path().is_some_and(|path| is_plain(&path));
        let items = self.link.items().filter(|list| !list.items.is_empty());
        let leads_there = items.and_then(|list| list.target()).is_some_and(|target| !is_plain(&target));
        !self.how.has_path && mapped_target.is_none() && local && leads_there
    }

    fn info(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let Some(info) = &self.link.info else { return Some(()) };
        let raw = self.data.get(info.offset..info.offset.checked_add(info.size)?)?;
        let (local, network) = (info.local_path(), info.network_path());
        let map = |path: &Option<String>| path.as_deref().and_then(|path| self.how.map.map_text(path));
        let (mapped_local, mapped_network) = (map(&local), map(&network));
        let path = match (&local, mapped_local, mapped_network) {
            (_, Some(mapped), _) => Some(mapped.path),
            (None, None, Some(mapped)) => Some(mapped.path),
            (Some(local), None, Some(_)) => Some(local.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            _ => None,
        };
        let Some(path) = path else {
            out.extend(self.unbound_info(raw, info));
            return Some(());
        };
        if local.is_some() && network.is_some() {
            self.notes.push("the share through which its old folder was reached was left out".to_owned());
        }
        let drive_type = info.volume.map_or(0, |volume| volume.drive_type.0);
        out.extend(info_of(Utf16(&path), drive_type, Some(self.how.code_page))?);
        Some(())
    }

    /// A LinkInfo without the serial number of its volume.
    fn unbound_info(&self, raw: &[u8], info: &LinkInfo<'_>) -> Vec<u8> {
        let mut out = raw.to_vec();
        let volume = u32_at(raw, VOLUME_OFFSET_AT).and_then(|at| usize::try_from(at).ok());
        let serial = volume.filter(|_| info.volume.is_some() && !self.how.keeps_ids);
        if let Some(at) = serial.and_then(|at| at.checked_add(SERIAL_AT))
            && let Some(serial) = at.checked_add(4).and_then(|end| out.get_mut(at..end))
        {
            serial.fill(0);
        }
        out
    }

    fn strings(&mut self, target: Option<&str>, mapped_target: Option<&MappedPath>, out: &mut Vec<u8>) -> Option<()> {
        let link = self.link;
        let mapped = |text: Option<Text<'_>>| text.and_then(|text| self.map_text(text)).map(|mapped| mapped.path);
        let mut strings = [
            (LinkFlags::HAS_NAME, link.name, mapped(link.name)),
            (LinkFlags::HAS_RELATIVE_PATH, link.relative_path, mapped(link.relative_path)),
            (LinkFlags::HAS_WORKING_DIR, link.working_dir, mapped(link.working_dir)),
            (LinkFlags::HAS_ARGUMENTS, link.arguments, None),
            (LinkFlags::HAS_ICON_LOCATION, link.icon, mapped(link.icon)),
        ];
        if let (Some(text), Some(target), Some(mapped)) = (link.relative_path, target, mapped_target)
            && let [_, (_, current, new), ..] = &mut strings
            && new.is_none()
        {
            match relative(&text.decode(), target, mapped) {
                Some(path) => *new = Some(path.encode_utf16().flat_map(u16::to_le_bytes).collect()),
                None => {
                    *current = None;
                    self.notes.push("its relative path was left out".to_owned());
                }
            }
        }
        for (flag, text, new) in &mut strings {
            let limited = !matches!(*flag, LinkFlags::HAS_ARGUMENTS | LinkFlags::HAS_ICON_LOCATION);
            if new.as_ref().is_some_and(|new| limited && new.len() / 2 > LONGEST_STRING) {
                (*text, *new) = (None, None);
                self.notes.push("a path that became too long was left out of its strings".to_owned());
            }
        }
        // The strings of a link are all in one form.
        let makes_wide = strings.iter().any(|(_, _, new)| new.is_some());
        if makes_wide {
            self.flags |= LinkFlags::IS_UNICODE;
        }
        for (flag, text, new) in strings {
            let Some(text) = text else {
                self.flags &= !flag;
                continue;
            };
            let (count, bytes) = match (new, text) {
                (Some(new), _) => (new.len() / 2, new),
                (None, Text::Wide(text)) => (text.0.len() / 2, text.0.to_vec()),
                (None, Text::Ansi(..)) if makes_wide => {
                    let wide: Vec<u8> = text.decode().encode_utf16().flat_map(u16::to_le_bytes).collect();
                    (wide.len() / 2, wide)
                }
                (None, Text::Ansi(bytes, _)) => (bytes.len(), bytes.to_vec()),
            };
            out.extend(u16::try_from(count).ok()?.to_le_bytes());
            out.extend(bytes);
        }
        Some(())
    }

    fn blocks(&mut self, list_changed: bool, out: &mut Vec<u8>) -> Option<()> {
        for block in &self.link.extra {
            let end = block.offset.checked_add(block.size())?;
            let raw = self.data.get(block.offset..end)?;
            let new: Option<Vec<u8>> = match block.signature {
                signature::TRACKER if !self.how.keeps_ids => continue,
                // They say where in the ID list their folder ends.
                signature::SPECIAL_FOLDER | signature::KNOWN_FOLDER if list_changed => continue,
                signature::VISTA_ID_LIST => match self.new_items(block.data, None) {
                    (Some(items), _) => Some(items),
                    (None, _) => continue,
                },
                signature::PROPERTY_STORE => {
                    let page = self.how.code_page;
                    match mapped_properties(block.data, self.how.map, self.how.keeps_ids, page) {
                        Some(store) => Some(store),
                        None => {
                            self.notes.push("its property store cannot be read and was left out".to_owned());
                            continue;
                        }
                    }
                }
                signature::ENVIRONMENT | signature::ICON_ENVIRONMENT => {
                    let decoded = block.decode(self.how.code_page, &mut Vec::new()).ok();
                    let text = match decoded {
                        Some(Extra::Environment(texts) | Extra::IconEnvironment(texts)) => texts.text(),
                        _ => None,
                    };
                    match text.and_then(|text| self.map_text(text)).map(|mapped| environment(&mapped)) {
                        None => None,
                        Some(Some(new)) => Some(new),
                        Some(None) => {
                            let is_target = block.signature == signature::ENVIRONMENT;
                            self.flags &= !if is_target { HAS_EXP_STRING } else { HAS_EXP_ICON };
                            self.notes.push("a path that became too long was left out of its blocks".to_owned());
                            continue;
                        }
                    }
                }
                _ => None,
            };
            match new {
                None => out.extend_from_slice(raw),
                Some(content) => {
                    out.extend(u32::try_from(content.len().checked_add(8)?).ok()?.to_le_bytes());
                    out.extend(block.signature.to_le_bytes());
                    out.extend(content);
                }
            }
        }
        Some(())
    }
}

/// The content of a block with a path in both forms; `None` if it has no room for it.
fn environment(mapped: &MappedPath) -> Option<Vec<u8>> {
    let mut wide = mapped.path.clone();
    if wide.len() / 2 >= ENVIRONMENT_ROOM {
        return None;
    }
    let plain = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii).unwrap_or(b'?');
    let mut ansi: Vec<u8> = Utf16(&mapped.path).units().map(plain).collect();
    ansi.resize(ENVIRONMENT_ROOM, 0);
    wide.resize(ENVIRONMENT_ROOM.saturating_mul(2), 0);
    Some([ansi, wide].concat())
}

/// The relative path to a target that is now at `mapped`. `None` if it cannot be said from the names: the folder that it
/// starts in is not known, only how many names of the target it has.
fn relative(path: &str, target: &str, mapped: &MappedPath) -> Option<String> {
    let down = path.split('\\').skip_while(|name| matches!(*name, "." | "..")).collect::<Vec<_>>();
    let up = path.split('\\').take_while(|name| matches!(*name, "." | "..")).collect::<Vec<_>>();
    let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    let old: Vec<&str> = target.split('\\').collect();
    let tail = old.get(old.len().checked_sub(down.len())?..)?;
    if !tail.iter().zip(&down).all(|(one, other)| same(one, other)) {
        return None;
    }
    if down.len() <= mapped.kept {
        return Some(path.to_owned());
    }
    let text = mapped.text();
    let new: Vec<&str> = text.split('\\').collect();
    if new.len() != old.len() || !same(old.first()?, new.first()?) {
        return None;
    }
    let tail = new.get(new.len().checked_sub(down.len())?..)?;
    Some(up.into_iter().chain(tail.iter().copied()).collect::<Vec<_>>().join("\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_follows_its_target_where_the_names_say_so() {
        let mut map = PathMap::default();
        for rule in [r"C:\Users\old=C:\Users\new", r"D:\a=D:\b\c", r"E:=F:"] {
            map.add(rule).unwrap();
        }
        let mapped = |target: &str| map.map_text(target).unwrap();
        for (path, target, new) in [
            (r"..\..\old\Docs\a.txt", r"C:\Users\old\Docs\a.txt", Some(r"..\..\new\Docs\a.txt")),
            (r".\Docs\a.txt", r"C:\Users\old\Docs\a.txt", Some(r".\Docs\a.txt")),
            (r"a.txt", r"C:\Users\old\Docs\a.txt", Some("a.txt")),
            (r"..\other.txt", r"C:\Users\old\Docs\a.txt", None),
            (r"..\a\x.txt", r"D:\a\x.txt", None),
            (r"..\x\y.txt", r"E:\x\y.txt", Some(r"..\x\y.txt")),
        ] {
            assert_eq!(relative(path, target, &mapped(target)).as_deref(), new, "{path}");
        }
    }
}
