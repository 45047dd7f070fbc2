//! Whether a link's item ID list and its LinkInfo name the same file. They do in a link that Windows wrote; where they
//! don't, the target was moved or the link was made to show one thing and open another.

use super::{Link, LinkFlags};
use crate::format::shell_item::{self, Step};
use crate::format::text::{Text, Utf16};

/// The two paths of a link that contradicts itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What the item ID list spells.
    pub id_list: String,
    /// The local path of LinkInfo.
    pub link_info: String,
}

impl Link<'_> {
    /// The two paths, if they contradict each other. `None` where there is only one, or where they cannot be compared:
    /// a list that leads through a device or an archive, a character that the code page has no place for. Where the
    /// list starts at a known folder, the names below it are compared.
    pub fn mismatch(&self) -> Option<Mismatch> {
        let (list, info) = (self.id_list?, self.info.as_ref()?);
        // LinkInfo is not used then.
        if self.header.flags.has(LinkFlags::FORCE_NO_LINK_INFO) {
            return None;
        }
        let path = info.local_path()?;
        let exact = info.base_path_unicode.and_then(Text::non_empty).is_some();
        let (mut files, mut before) = (Vec::with_capacity(8), [None, None]);
        for step in shell_item::steps(list.data, self.code_page) {
            match step {
                Step::File { long, short } => files.push((long, short)),
                // What comes behind a file is in it.
                _ if !files.is_empty() => return None,
                other => before = [before[1], Some(other)],
            }
        }
        let mut parts = path.split('\\').filter(|part| !part.is_empty());
        let count = parts.clone().count();
        let agree = match before {
            [Some(Step::Other), Some(Step::Volume(volume))] => {
                let letter = |name: &[u8]| name.first().map(u8::to_ascii_uppercase);
                let drive = parts.next().unwrap_or_default();
                count == files.len().saturating_add(1) && letter(drive.as_bytes()) == letter(volume)
            }
            // A folder with a name of its own is no part of the list: only what is below can be held against the path.
            _ if files.is_empty() => return None,
            _ => {
                let skip = count.checked_sub(files.len());
                skip.is_some_and(|skip| skip == 0 || parts.nth(skip.saturating_sub(1)).is_some())
            }
        };
        let agree = agree
            && files.into_iter().zip(parts).all(|((long, short), part)| {
                is_same(long, part, exact) || short.is_some_and(|short| is_same(short, part, exact))
            });
        if agree {
            return None;
        }
        Some(Mismatch { id_list: self.items()?.target()?, link_info: path })
    }
}

/// True if `name` and `part` are one name to Windows, or may be: ANSI has no place for every character.
fn is_same(name: Text<'_>, part: &str, exact: bool) -> bool {
    // Nearly all names are in ASCII, and equal: no need to decode them.
    if let Text::Wide(name) = name
        && is_same_ascii(name, part)
    {
        return true;
    }
    let name = name.decode();
    let vague = |text: &str| !text.is_ascii() || text.contains('?');
    name.eq_ignore_ascii_case(part)
        || !exact && (vague(&name) || vague(part))
        || name.chars().flat_map(char::to_lowercase).eq(part.chars().flat_map(char::to_lowercase))
}

/// True if both are in ASCII and equal but for case.
fn is_same_ascii(name: Utf16<'_>, part: &str) -> bool {
    let ascii = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii);
    let equal = |(unit, byte): (u16, u8)| ascii(unit).is_some_and(|unit| unit.eq_ignore_ascii_case(&byte));
    name.0.len() / 2 == part.len() && name.units().zip(part.bytes()).all(equal)
}
