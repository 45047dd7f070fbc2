//! Who a jump list belongs to.
//!
//! A jump list's file is named by its application's AppID, a number without meaning of its own. It is a
//! checksum of the application's name as Windows knows it, so a table of such names explains the ids it
//! is not in the tables, and a list of executables found elsewhere can explain the rest. The tables are in the
//! files below this one; what a user adds comes before them. Where a part of a name differs from machine to
//! machine, that part is computed back from the id.
//!
//! ```
//! use jlfix::appid::{AppId, AppNames};
//!
//! let id = AppId::of("Microsoft.Windows.Explorer");
//! assert_eq!(id.to_string(), "f01b4d95cf55d32a");
//! assert_eq!(AppNames::default().name(id), Some("File Explorer"));
//! ```

mod known;
mod mozilla;
mod names;
mod owner;
mod path;
mod pattern;
mod users;

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer};

use crate::format::checksum::crc64;

pub use known::{Known, find_by_name, known, known_name, known_sources};
pub use mozilla::mozilla_name;
pub use names::{AppNames, BadLine, LineProblem};
pub use owner::{ListName, profile_of, user_of};
pub use path::{candidates_for_path, guess};
pub use pattern::{Recovered, recover};
pub use users::known_for_user;

/// The number that stands for an application in the name of its jump list. Shown as files are named: hex,
/// lower case, leading zeros dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppId(pub u64);

impl AppId {
    /// The id of an application that Windows knows as `name`: its AppUserModelID, or its path with the
    /// known folder replaced by its GUID (measured, docs/format.md). Case does not matter.
    pub fn of(name: &str) -> Self {
        Self(crc64(&[&name_bytes(name)]))
    }

    /// Reads 1 to 16 hex digits in any case.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = matches!(text.len(), 1..=16) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits.then(|| u64::from_str_radix(text, 16).ok()).flatten().map(Self)
    }
}

impl fmt::Display for AppId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl fmt::Debug for AppId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AppId({self})")
    }
}

#[cfg(feature = "serde")]
impl Serialize for AppId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What the id of `name` is computed over: its code units, in capitals.
fn name_bytes(name: &str) -> Vec<u8> {
    if name.is_ascii() {
        return name.bytes().flat_map(|byte| [byte.to_ascii_uppercase(), 0]).collect();
    }
    let mut bytes = Vec::with_capacity(name.len().saturating_mul(2));
    for c in name.chars() {
        let mut units = [0; 2];
        for unit in upper(c).encode_utf16(&mut units) {
            bytes.extend_from_slice(&unit.to_le_bytes());
        }
    }
    bytes
}

/// The capital of `c` as Windows' own table has it: one UTF-16 unit for one, and only where the way back
/// leads to `c` again, so that `ß`, `ı`, `ſ` and `µ` stay as they are.
fn upper(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_uppercase();
    }
    fn only<I: Iterator<Item = char>>(mut chars: I) -> Option<char> {
        chars.next().filter(|_| chars.next().is_none())
    }
    let fits = |upper: &char| c.len_utf16() == 1 && upper.len_utf16() == 1 && only(upper.to_lowercase()) == Some(c);
    only(c.to_uppercase()).filter(fits).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_shown_as_files_are_named() {
        let id = AppId::of("{6D809377-6AF0-444B-8957-A3773F02200E}\\VideoLAN\\VLC\\vlc.exe");
        assert_eq!(id.to_string(), "faef7def55a1d4b", "a leading zero is dropped");
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"faef7def55a1d4b\"");
        assert_eq!(AppId::parse("0FAEF7DEF55A1D4B"), Some(id));
        for bad in ["", "+1", "0x1", "g", "f01b4d95cf55d32a0", " 1", "é"] {
            assert_eq!(AppId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn case_does_not_change_an_id_but_letters_do() {
        assert_eq!(AppId::of("microsoft.windows.explorer"), AppId::of("MICROSOFT.WINDOWS.EXPLORER"));
        assert_eq!(AppId::of("c:\\büro\\ж.exe"), AppId::of("C:\\BÜRO\\Ж.EXE"));
        for (kept, not) in [("ß", "SS"), ("ı", "I"), ("ſ", "S"), ("µ", "Μ"), ("𐐨", "𐐀"), ("ﬁ", "FI")] {
            assert_ne!(AppId::of(kept), AppId::of(not), "{kept}");
        }
    }
}
