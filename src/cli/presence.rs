//! Whether the target of an entry is there, for `prune --missing`. Only a local file on a drive that is there can be
//! missing: a share that does not answer, a stick that is not in and a name that is no path are left alone.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use jlfix::plan::Presence;

/// Where a drive of the list is on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Drive {
    letter: char,
    root: PathBuf,
}

impl FromStr for Drive {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "need a drive letter, = and a folder, such as C=/mnt/c".to_owned();
        let (letter, root) = text.split_once('=').ok_or_else(wrong)?;
        let letter = letter.strip_suffix(':').unwrap_or(letter);
        let mut letters = letter.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) if letter.is_ascii_alphabetic() && !root.is_empty() => {
                Ok(Self { letter: letter.to_ascii_uppercase(), root: PathBuf::from(root) })
            }
            _ => Err(wrong()),
        }
    }
}

/// Where targets are looked for.
pub(crate) struct Targets<'d> {
    drives: &'d [Drive],
}

impl<'d> Targets<'d> {
    pub(crate) fn new(drives: &'d [Drive]) -> Self {
        Self { drives }
    }

    /// True if anything can be said of any path: on Windows always, elsewhere where drives are named.
    pub(crate) fn can_tell(&self) -> bool {
        cfg!(windows) || !self.drives.is_empty()
    }

    /// Whether the file or folder of this path is there.
    pub(crate) fn presence(&self, path: &str) -> Presence {
        let mut chars = path.chars();
        let (Some(letter), Some(':'), Some('\\')) = (chars.next(), chars.next(), chars.next()) else {
            return Presence::Unknown;
        };
        // A text that lost something on the way would be looked for under another name.
        if !letter.is_ascii_alphabetic() || path.contains(char::REPLACEMENT_CHARACTER) {
            return Presence::Unknown;
        }
        let named = self.drives.iter().find(|drive| drive.letter == letter.to_ascii_uppercase());
        let (root, rest) = match named {
            Some(drive) => (drive.root.clone(), chars.as_str()),
            None if cfg!(windows) => (PathBuf::from(format!("{letter}:\\")), chars.as_str()),
            None => return Presence::Unknown,
        };
        if !root.is_dir() {
            return Presence::Unknown;
        }
        let parts = rest.split('\\').filter(|part| !part.is_empty());
        if cfg!(windows) { there(&parts.fold(root, |path, part| path.join(part))) } else { look_up(root, parts) }
    }
}

fn there(path: &Path) -> Presence {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Presence::There,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Presence::Missing,
        Err(_) => Presence::Unknown,
    }
}

/// Follows the parts without regard to case, as Windows would.
fn look_up<'p>(root: PathBuf, parts: impl Iterator<Item = &'p str>) -> Presence {
    let mut at = root;
    for part in parts {
        if part == ".." || part == "." {
            return Presence::Unknown;
        }
        let exact = at.join(part);
        if std::fs::symlink_metadata(&exact).is_ok() {
            at = exact;
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&at) else {
            return if at.is_dir() { Presence::Unknown } else { Presence::Missing };
        };
        let folded = part.to_lowercase();
        match entries.flatten().find(|entry| entry.file_name().to_string_lossy().to_lowercase() == folded) {
            Some(entry) => at = entry.path(),
            None => return Presence::Missing,
        }
    }
    Presence::There
}
