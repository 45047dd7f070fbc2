//! Windows' paths and names: which of them mean a file, and how they are written.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::windows::ffi::{OsStrExt, OsStringExt},
    path::{Component, Path, PathBuf, Prefix},
};

use crate::error::Refusal;

/// True for a path of a drive, a share or a volume (`\\\\?\\Volume{GUID}\\`, `\\\\?\\GLOBALROOT\\`), from its root, that never
/// goes up and in which every name is one of a file or folder.
pub fn is_absolute(path: &Path) -> bool {
    let mut parts = path.components();
    let Some(Component::Prefix(prefix)) = parts.next() else { return false };
    let is_name: fn(&OsStr) -> bool = match prefix.kind() {
        Prefix::Disk(_) | Prefix::UNC(..) => |name| check_name(name).is_ok(),
        // There a name is what it says, but for streams.
        Prefix::VerbatimDisk(_) | Prefix::VerbatimUNC(..) => |name| !name.as_encoded_bytes().contains(&b':'),
        Prefix::Verbatim(root) if is_volume(root) => |name| !name.as_encoded_bytes().contains(&b':'),
        _ => return false,
    };
    parts.next() == Some(Component::RootDir)
        && parts.all(|part| matches!(part, Component::Normal(name) if is_name(name)))
}

/// True for the roots that name a volume without a letter: `Volume{GUID}`, and `GLOBALROOT` for a shadow copy.
fn is_volume(root: &OsStr) -> bool {
    let root = root.to_string_lossy().to_ascii_lowercase();
    root == "globalroot"
        || root.strip_prefix("volume{").and_then(|id| id.strip_suffix('}')).is_some_and(|id| id.len() == 36)
}

/// True if both say the same, with or without `\\?\`, whatever the case of their letters.
pub fn is_same_path(one: &Path, other: &Path) -> bool {
    is_same_name(simplified(one).as_os_str(), simplified(other).as_os_str())
}

pub(super) fn is_same_name(one: &OsStr, other: &OsStr) -> bool {
    one.eq_ignore_ascii_case(other) || one.to_string_lossy().to_lowercase() == other.to_string_lossy().to_lowercase()
}

/// The UTF-16LE units of a path, which may be unpaired surrogates.
pub fn path_to_raw(path: &Path) -> Vec<u8> {
    path.as_os_str().encode_wide().flat_map(u16::to_le_bytes).collect()
}

/// The path of these UTF-16LE units.
pub fn path_from_raw(raw: &[u8]) -> Option<PathBuf> {
    let (units, rest) = raw.as_chunks::<2>();
    let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
    rest.is_empty().then(|| PathBuf::from(OsString::from_wide(&units)))
}

/// Replaces `%NAME%` by the environment's value, where it has one.
pub(super) fn expand(text: &OsStr) -> OsString {
    let Some(text) = text.to_str() else { return text.to_owned() };
    let mut expanded = OsString::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        expanded.push(before);
        match after.split_once('%').and_then(|(name, after)| Some((std::env::var_os(name)?, after))) {
            Some((value, after)) => {
                expanded.push(value);
                rest = after;
            }
            None => {
                expanded.push("%");
                rest = after;
            }
        }
    }
    expanded.push(rest);
    expanded
}

pub(super) fn check_name(name: &OsStr) -> Result<(), Refusal> {
    let text = name.to_string_lossy();
    if text.contains(':') {
        return Err(Refusal::AlternateName("a colon names a stream of a file"));
    }
    if text.ends_with(['.', ' ']) {
        return Err(Refusal::AlternateName("Windows drops a dot or blank at its end"));
    }
    let stem = text.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = |prefix| {
        stem.strip_prefix(prefix)
            .is_some_and(|n: &str| matches!(n.chars().collect::<Vec<_>>()[..], ['0'..='9' | '¹' | '²' | '³']))
    };
    if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&stem.as_str()) || numbered("COM") || numbered("LPT")
    {
        return Err(Refusal::AlternateName("it names a device"));
    }
    Ok(())
}

/// The `\\?\` form of a path, which has no length limit, and in which a name is what it says.
pub(super) fn verbatim(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let Some(Component::Prefix(prefix)) = path.components().next() else { return Ok(path) };
    let root = match prefix.kind() {
        Prefix::Disk(drive) => OsString::from(format!(r"\\?\{}:", char::from(drive))),
        Prefix::UNC(server, share) => share_root(r"\\?\UNC", server, share),
        _ => return Ok(path),
    };
    Ok(with_root(root, &path))
}

/// The path without `\\?\`, if it means the same.
pub(super) fn simplified(full: &Path) -> PathBuf {
    let Some(Component::Prefix(prefix)) = full.components().next() else { return full.to_owned() };
    let root = match prefix.kind() {
        Prefix::VerbatimDisk(drive) => OsString::from(format!("{}:", char::from(drive))),
        Prefix::VerbatimUNC(server, share) => share_root(r"\", server, share),
        _ => return full.to_owned(),
    };
    let short = with_root(root, full);
    match std::path::absolute(&short) {
        // A name such as `aux` means a file in the long form only.
        Ok(same) if same == short && is_absolute(&short) => short,
        _ => full.to_owned(),
    }
}

fn share_root(start: &str, server: &OsStr, share: &OsStr) -> OsString {
    let mut root = OsString::from(start);
    for part in [server, share] {
        root.push(r"\");
        root.push(part);
    }
    root
}

/// The names of `path` from another root on.
fn with_root(mut root: OsString, path: &Path) -> PathBuf {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut is_bare = true;
    for name in names {
        is_bare = false;
        root.push(r"\");
        root.push(name);
    }
    if is_bare {
        root.push(r"\");
    }
    PathBuf::from(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_without_its_prefix_only_if_it_means_the_same() {
        for (full, shown) in [
            (r"\\?\C:\", r"C:\"),
            (r"\\?\C:\a\b", r"C:\a\b"),
            (r"\\?\UNC\server\share\a", r"\\server\share\a"),
            (r"\\?\C:\a\b.", r"\\?\C:\a\b."),
            (r"\\?\C:\aux\b", r"\\?\C:\aux\b"),
        ] {
            assert_eq!(simplified(Path::new(full)), Path::new(shown));
            assert_eq!(verbatim(Path::new(shown)).unwrap(), Path::new(full));
        }
    }

    #[test]
    fn what_a_path_is_shown_as_is_accepted_again() {
        for path in [
            r"C:\a\b",
            r"\\?\C:\aux\b",
            r"\\server\share\a",
            r"\\?\Volume{12345678-1234-1234-1234-123456789abc}\a\b",
            r"\\?\GLOBALROOT\Device\HarddiskVolumeShadowCopy1\Users\a",
        ] {
            assert!(is_absolute(Path::new(path)), "{path}");
            assert!(is_absolute(&simplified(&verbatim(Path::new(path)).unwrap())), "{path}");
        }
        for path in [r"C:a", r"\a", r"a", r"C:\a\..\b", r"\\?\C:\a:b", r"\\.\C:\a", r"\\?\Volume{1}\a", r"C:\aux\b"] {
            assert!(!is_absolute(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn names_that_windows_takes_for_something_else_are_refused() {
        for name in ["a:b", "a.", "a ", "CON", "nul.txt", "Com1.x", "LPT9"] {
            assert!(check_name(OsStr::new(name)).is_err(), "{name}");
        }
        for name in ["console", "a.b", "COM10", "f01b4d95cf55d32a.automaticDestinations-ms"] {
            assert!(check_name(OsStr::new(name)).is_ok(), "{name}");
        }
    }
}
