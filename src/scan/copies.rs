//! Copies of one list: what sync and roaming leave beside it, and lists of one application in several folders of one
//! user.
//!
//! A copy is known by its name. Windows, Dropbox, OneDrive, Nextcloud, Syncthing and people all put something around the
//! AppID, or behind the ending, and leave both readable.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::{ScanError, files};
use crate::appid::AppId;

/// The ending of an automatic list, in lower case. Custom lists are their application's own, and are not merged.
const ENDING: &str = ".automaticdestinations-ms";
/// Shorter runs of hex digits in a name are words or numbers.
const FEWEST_DIGITS: usize = 8;
/// AppIDs have no more digits.
const MOST_DIGITS: usize = 16;
/// Where profiles are.
const PROFILE_FOLDERS: [&str; 3] = ["users", "documents and settings", "profiles"];

/// Whose a list is: the user, if that can be told, and the application.
type Owner = (Option<String>, AppId);

/// Lists of one application and one user, two or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyGroup {
    /// The application.
    pub app_id: AppId,
    /// The user, as the folder of the profile is called; none if no such folder is in the paths.
    pub user: Option<String>,
    /// The lists: those that are named as Windows does first, then by path.
    pub files: Vec<PathBuf>,
}

/// The groups of copies under `root`, by user and application, and the places that could not be looked at. `skip` is a
/// folder that is not entered (the backup store, say).
pub fn find_copies(root: &Path, skip: Option<&Path>) -> (Vec<CopyGroup>, Vec<ScanError>) {
    // Whose a file is, the folders above `root` may tell.
    let above = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let whole = |path: &Path| path.strip_prefix(root).map_or_else(|_| path.to_owned(), |below| above.join(below));

    let mut groups: BTreeMap<Owner, Vec<(bool, PathBuf)>> = BTreeMap::new();
    let mut errors = Vec::new();
    for path in files(root, |path| skip.is_none_or(|skip| whole(path) != skip)) {
        match path {
            Ok(path) => {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                if let Some(id) = app_id_of_copy(&name) {
                    let plain = name.eq_ignore_ascii_case(&format!("{id}{ENDING}"));
                    groups.entry((user(&whole(&path)), id)).or_default().push((!plain, path));
                }
            }
            Err(error) => errors.push(error),
        }
    }
    let groups = groups.into_iter().filter(|(_, files)| files.len() > 1).map(|((user, app_id), mut files)| {
        files.sort();
        CopyGroup { app_id, user, files: files.into_iter().map(|(_, path)| path).collect() }
    });
    (groups.collect(), errors)
}

/// The AppID in the name of an automatic list or of a copy of one: the first run of 8 to 16 hex digits before the ending,
/// which something may follow.
pub fn app_id_of_copy(name: &str) -> Option<AppId> {
    let lower = name.to_ascii_lowercase();
    let (stem, after) = lower.split_once(ENDING)?;
    if after.starts_with(char::is_alphanumeric) {
        return None;
    }
    if let Some(id) = AppId::parse(stem) {
        return Some(id);
    }
    let words = stem.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| (FEWEST_DIGITS..=MOST_DIGITS).contains(&word.len())).find_map(AppId::parse)
}

/// The user whose profile a path is in, by the folder below `Users`: without the ending that Windows gives to roaming
/// profiles (`.V6`) and to one that it made anew (`.000`).
fn user(path: &Path) -> Option<String> {
    let names: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let at = names.iter().rposition(|name| PROFILE_FOLDERS.contains(&name.as_str()))?;
    let name = names.get(at.checked_add(1)?)?;
    // The file itself is nobody.
    names.get(at.checked_add(2)?)?;
    let ending = |end: &str| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        end.strip_prefix('v').is_some_and(digits) || (end.len() == 3 && digits(end))
    };
    match name.rsplit_once('.') {
        Some((user, end)) if ending(end) && !user.is_empty() => Some(user.to_owned()),
        _ => Some(name.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_known_by_the_names_that_sync_and_people_give_them() {
        let explorer = AppId::of("Microsoft.Windows.Explorer");
        for name in [
            "f01b4d95cf55d32a.automaticDestinations-ms",
            "F01B4D95CF55D32A.AUTOMATICDESTINATIONS-MS",
            "f01b4d95cf55d32a (1).automaticDestinations-ms",
            "f01b4d95cf55d32a - Copy (2).automaticDestinations-ms",
            "Copy of f01b4d95cf55d32a.automaticDestinations-ms",
            "f01b4d95cf55d32a-DESK01.automaticDestinations-ms",
            "f01b4d95cf55d32a (sam's conflicted copy 2024-01-02).automaticDestinations-ms",
            "f01b4d95cf55d32a (conflicted copy 2024-01-02 101112).automaticDestinations-ms",
            "f01b4d95cf55d32a.sync-conflict-20240102-101112-ABCDEFG.automaticDestinations-ms",
            "f01b4d95cf55d32a (sam v1 01-02-2024).automaticDestinations-ms",
            "f01b4d95cf55d32a.automaticDestinations-ms.bak",
            "f01b4d95cf55d32a.automaticDestinations-ms~",
            "f01b4d95cf55d32a.automaticDestinations-ms (2)",
        ] {
            assert_eq!(app_id_of_copy(name), Some(explorer), "{name}");
        }
        for name in [
            "f01b4d95cf55d32a.customDestinations-ms",
            "f01b4d95cf55d32a.automaticDestinations-msx",
            "Copy of it.automaticDestinations-ms",
            "f01b4d95cf55d32ab (1).automaticDestinations-ms",
            ".jlfix-f01b4d95cf55d32a.tmp",
        ] {
            assert_eq!(app_id_of_copy(name), None, "{name}");
        }
    }

    #[test]
    fn a_user_is_one_whatever_windows_called_the_profile() {
        for path in ["Users/Sam/x/f", "D/Users/sam.V6/x/f", "Documents and Settings/sam.000/f", "profiles/SAM/f"] {
            assert_eq!(user(Path::new(path)).as_deref(), Some("sam"), "{path}");
        }
        assert_eq!(user(Path::new("Users/sam.smith/f")).as_deref(), Some("sam.smith"));
        assert_eq!(user(Path::new("somewhere/f")), None);
        assert_eq!(user(Path::new("Users/f")), None);
    }
}
