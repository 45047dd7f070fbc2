//! Who a jump list belongs to.
//!
//! A jump list's file is named by its application's AppID, a number that says nothing by itself. It is a
//! checksum of the application's name as Windows knows it, so a table of such names explains the ids it
//! was never told, and a list of executables found elsewhere can explain the rest. The tables are in the
//! files below this one; what a user adds comes before them. Where a part of a name differs from machine to
//! machine, that part is computed back from the id.

mod known;
mod mozilla;
mod names;
mod path;
mod pattern;
mod users;

use std::ffi::OsStr;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::format::checksum::crc64;

pub use known::{Known, find_by_name, known, known_name, known_sources};
pub use mozilla::mozilla_name;
pub use names::{AppNames, BadLine, LineProblem};
pub use path::{candidates_for_path, guess};
pub use pattern::{Recovered, recover};
pub use users::known_for_user;

/// The number that stands for an application in the name of its jump list. Shown as files are named: hex,
/// lower case, leading zeros dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppId(pub u64);

/// What the two kinds of file end in, in lower case.
const EXTENSIONS: [&str; 2] = [".automaticdestinations-ms", ".customdestinations-ms"];

/// A copy's name is taken for its original's only if it starts with this many digits: `add` and `face`
/// are words, and also hex.
const MIN_DIGITS_IN_COPY: usize = 8;

impl AppId {
    /// The id of an application that Windows knows as `name`: its AppUserModelID, or its path with the
    /// known folder replaced by its GUID (measured, format.md). Case does not matter.
    pub fn of(name: &str) -> Self {
        Self(crc64(&[&name_bytes(name)]))
    }

    /// Reads 1 to 16 hex digits in any case.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = matches!(text.len(), 1..=16) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits.then(|| u64::from_str_radix(text, 16).ok()).flatten().map(Self)
    }

    /// The id in the name of a jump list: what stands before the first dot of a name that ends in
    /// `.automaticDestinations-ms` or `.customDestinations-ms`, in any case. The name is the file's alone,
    /// without its folders.
    pub fn from_file_name(name: impl AsRef<OsStr>) -> Option<Self> {
        let name = name.as_ref().to_string_lossy();
        Self::parse(stem(&name)?.split('.').next()?)
    }

    /// The id in the name of a copy of a jump list, where a program or a person put something after it:
    /// `f01b4d95cf55d32a (1).automaticDestinations-ms`, `f01b4d95cf55d32a-PC.automaticDestinations-ms`.
    /// At least eight digits, then something that is neither letter nor digit. Takes plain names as well.
    pub fn from_copy_name(name: impl AsRef<OsStr>) -> Option<Self> {
        let name = name.as_ref().to_string_lossy();
        let (digits, rest) = split_digits(stem(&name)?);
        let is_copy = digits.len() >= MIN_DIGITS_IN_COPY && !rest.starts_with(char::is_alphanumeric);
        Self::from_file_name(&*name).or_else(|| is_copy.then(|| Self::parse(digits)).flatten())
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

impl Serialize for AppId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// `name` without the extension of a jump list; nothing if it has none.
fn stem(name: &str) -> Option<&str> {
    EXTENSIONS.iter().find_map(|extension| {
        let (stem, end) = name.split_at_checked(name.len().checked_sub(extension.len())?)?;
        end.eq_ignore_ascii_case(extension).then_some(stem)
    })
}

/// The hex digits that `text` starts with, and what follows.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// What the id of `name` is computed over: its code units, in capitals.
fn name_bytes(name: &str) -> Vec<u8> {
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

    #[test]
    fn a_jump_list_is_known_by_the_start_of_its_name() {
        let explorer = AppId::of("Microsoft.Windows.Explorer");
        for name in [
            "f01b4d95cf55d32a.automaticDestinations-ms",
            "F01B4D95CF55D32A.AUTOMATICDESTINATIONS-MS",
            "f01b4d95cf55d32a.customDestinations-ms",
            "f01b4d95cf55d32a.old.customDestinations-ms",
        ] {
            assert_eq!(AppId::from_file_name(name), Some(explorer), "{name}");
            assert_eq!(AppId::from_copy_name(name), Some(explorer), "{name}");
        }
        assert_eq!(AppId::from_file_name("1.customDestinations-ms"), Some(AppId(1)));
        assert_eq!(AppId::from_copy_name("1.customDestinations-ms"), Some(AppId(1)));
        for name in ["f01b4d95cf55d32a", "f01b4d95cf55d32a.automaticDestinations-ms.bak", ".customDestinations-ms", "é"]
        {
            assert_eq!(AppId::from_file_name(name), None, "{name}");
            assert_eq!(AppId::from_copy_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_copy_of_a_jump_list_is_known_too_and_a_word_is_no_id() {
        let explorer = AppId::of("Microsoft.Windows.Explorer");
        for name in [
            "f01b4d95cf55d32a (1).automaticDestinations-ms",
            "f01b4d95cf55d32a-PCNAME.automaticDestinations-ms",
            "F01B4D95CF55D32A_conflict.customDestinations-ms",
        ] {
            assert_eq!(AppId::from_copy_name(name), Some(explorer), "{name}");
            assert_eq!(AppId::from_file_name(name), None, "{name}");
        }
        for name in ["Copy of it", "face (1)", "f01b4d95cf55d32ab (1)", "f01b4d95cf55d32copy"] {
            assert_eq!(AppId::from_copy_name(format!("{name}.automaticDestinations-ms")), None, "{name}");
        }
    }
}
