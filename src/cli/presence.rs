//! Whether the target of an entry exists, for `prune --missing`.
//!
//! Only a clean "not found" in a folder that can be read is missing. Everything else is unknown, and kept: another machine,
//! a drive that is not there, a symbolic link that leads nowhere (as mounted reparse points of OneDrive appear), an 8.3 name,
//! a folder that can be listed but not entered, two folders that differ only by case, a name that Windows would change.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;

use jlfix::plan::TargetStatus;

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
    unknown: Mutex<HashSet<String>>,
}

impl<'d> Targets<'d> {
    pub(crate) fn new(drives: &'d [Drive]) -> Self {
        Self { drives, unknown: Mutex::default() }
    }

    /// Refuses drives where everything would be missing: no folder, or for C: one without anything of Windows.
    ///
    /// # Errors
    /// What is wrong with which drive.
    pub(crate) fn check_drives(&self) -> Result<(), String> {
        for Drive { letter, root } in self.drives {
            let shown = root.display();
            if !root.is_dir() {
                return Err(format!("--drive {letter}={shown}: no such folder"));
            }
            let has = |name| matches!(child(root, name), Ok(Some(_)));
            if *letter == 'C' && !["Windows", "Users", "Program Files", "Documents and Settings"].into_iter().any(has) {
                return Err(format!(
                    "--drive {letter}={shown}: has no Windows and no Users folder, so it is not the root of drive C:"
                ));
            }
        }
        Ok(())
    }

    /// How many different targets could not be looked up so far.
    pub(crate) fn unknown(&self) -> usize {
        self.unknown.lock().map_or(0, |unknown| unknown.len())
    }

    /// True if targets can be looked up at all: on Windows always, elsewhere where drives are named.
    pub(crate) fn can_tell(&self) -> bool {
        cfg!(windows) || !self.drives.is_empty()
    }

    /// Whether the file or folder of this path exists.
    pub(crate) fn status(&self, path: &str) -> TargetStatus {
        let status = self.look_up(path);
        if status == TargetStatus::Unknown
            && let Ok(mut unknown) = self.unknown.lock()
        {
            unknown.insert(path.to_owned());
        }
        status
    }

    fn look_up(&self, path: &str) -> TargetStatus {
        let mut chars = path.chars();
        let (Some(letter), Some(':'), Some('\\')) = (chars.next(), chars.next(), chars.next()) else {
            return TargetStatus::Unknown;
        };
        if !letter.is_ascii_alphabetic() {
            return TargetStatus::Unknown;
        }
        let named = self.drives.iter().find(|drive| drive.letter == letter.to_ascii_uppercase());
        let root = match named {
            Some(drive) => drive.root.clone(),
            None if cfg!(windows) => PathBuf::from(format!("{letter}:\\")),
            None => return TargetStatus::Unknown,
        };
        let parts: Vec<&str> = chars.as_str().split('\\').filter(|part| !part.is_empty()).collect();
        if parts.is_empty() || !parts.iter().all(|part| is_certain(part)) {
            return TargetStatus::Unknown;
        }
        look_up(root, &parts)
    }
}

/// True for a name that means one thing: no 8.3 name, none that Windows changes or refuses, and none that lost characters.
fn is_certain(part: &str) -> bool {
    let is_short = part.bytes().zip(part.bytes().skip(1)).any(|(a, b)| a == b'~' && b.is_ascii_digit());
    !is_short
        && !part.ends_with(['.', ' '])
        && !part.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER || "/:*?\"<>|".contains(c))
}

/// Follows the parts, on systems other than Windows without regard to case.
fn look_up(root: PathBuf, parts: &[&str]) -> TargetStatus {
    let mut at = root;
    for part in parts {
        // What is no folder has nothing in it; what cannot be listed says nothing.
        match std::fs::metadata(&at) {
            Ok(folder) if folder.is_dir() => {}
            Ok(_) => return TargetStatus::Missing,
            Err(_) => return TargetStatus::Unknown,
        }
        at = match child(&at, part) {
            Ok(Some(next)) => next,
            Ok(None) => return TargetStatus::Missing,
            Err(_) => return TargetStatus::Unknown,
        };
    }
    // A link that leads nowhere can be a reparse point of another system.
    match std::fs::metadata(&at) {
        Ok(_) => TargetStatus::Exists,
        Err(_) => TargetStatus::Unknown,
    }
}

/// The child of that name; `None` only if the folder was listed completely and has none.
///
/// # Errors
/// The folder cannot be read, or two children differ only by case.
fn child(folder: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let exact = folder.join(name);
    match std::fs::symlink_metadata(&exact) {
        Ok(_) if cfg!(windows) => return Ok(Some(exact)),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let folded = name.to_lowercase();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().to_lowercase() == folded {
            found.push(entry.path());
        }
    }
    match found.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only.clone())),
        _ => Err(io::Error::other("two names differ only by case")),
    }
}
