//! Whose jump list a file is: the application, from the file's name, and the user, from the folders above it.
//!
//! Every command asks here, so that `scan`, `export` and `merge --find` report the same owner for the same file.

use std::ffi::OsStr;

use super::AppId;

/// The endings of automatic and of custom lists, in lower case.
const ENDINGS: [(&str, bool); 2] = [(".automaticdestinations-ms", true), (".customdestinations-ms", false)];
/// An AppID has at most this many hex digits.
const MAX_DIGITS: usize = 16;
/// In the name of a copy, shorter runs of hex digits are words (`add`, `face`) or numbers.
const MIN_DIGITS_IN_COPY: usize = 8;

/// The folders that hold the profiles: of Windows Vista and later, of Windows XP, and on servers for roaming profiles.
const PROFILE_FOLDERS: [&str; 3] = ["Users", "Documents and Settings", "Profiles"];
/// The folders from a profile to its jump lists.
const PATH_TO_LISTS: [&str; 5] = ["AppData", "Roaming", "Microsoft", "Windows", "Recent"];

/// What the name of a jump list, or of a copy of one, says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListName {
    /// The application.
    pub app_id: AppId,
    /// True for an automatic list, false for a custom one.
    pub is_automatic: bool,
    /// True if the name is not the one that Windows writes: a backup, or what a program that syncs folders left.
    pub is_copy: bool,
}

impl ListName {
    /// Reads a file name without its folders. Windows writes `APPID.automaticDestinations-ms` and
    /// `APPID.customDestinations-ms`; case does not matter. Dropbox, OneDrive, Nextcloud, Syncthing and people put
    /// something around the AppID or behind the ending: then the AppID is the longest word of 8 to 16 hex digits, the
    /// first of several. `None` if there is no such ending or no AppID.
    pub fn parse(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let (stem, after, is_automatic) = ENDINGS.into_iter().find_map(|(ending, is_automatic)| {
            let (stem, after) = lower.split_once(ending)?;
            Some((stem, after, is_automatic))
        })?;
        if after.starts_with(char::is_alphanumeric) {
            return None;
        }
        if let Some(app_id) = AppId::parse(stem) {
            return Some(Self { app_id, is_automatic, is_copy: !after.is_empty() });
        }
        let words = stem.split(|c: char| !c.is_alphanumeric());
        let ids = words.filter(|word| (MIN_DIGITS_IN_COPY..=MAX_DIGITS).contains(&word.len()));
        let ids = ids.filter_map(|word| Some((word.len(), AppId::parse(word)?)));
        // `max_by_key` gives the last of equals, and the first is wanted.
        let (_, app_id) = ids.rev().max_by_key(|(digits, _)| *digits)?;
        Some(Self { app_id, is_automatic, is_copy: true })
    }
}

impl AppId {
    /// The AppID in a file name that Windows writes, without its folders. `None` for the name of a copy.
    pub fn from_file_name(name: impl AsRef<OsStr>) -> Option<Self> {
        ListName::parse(&name.as_ref().to_string_lossy()).filter(|name| !name.is_copy).map(|name| name.app_id)
    }

    /// The AppID in the file name of a jump list or of a copy of one ([`ListName::parse`]).
    pub fn from_copy_name(name: impl AsRef<OsStr>) -> Option<Self> {
        ListName::parse(&name.as_ref().to_string_lossy()).map(|name| name.app_id)
    }
}

/// The folder of the profile that `path`, which should be absolute, is in: the innermost folder below `Users`,
/// `Documents and Settings` or `Profiles`, or that holds `AppData\Roaming\Microsoft\Windows\Recent`. Both slashes
/// separate folders. `None` if the path leads through no profile.
pub fn profile_of(path: &str) -> Option<&str> {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).collect();
    let is = |part: Option<&&str>, name: &str| part.is_some_and(|part| part.eq_ignore_ascii_case(name));
    let is_profile = |at: usize| {
        let parent = at.checked_sub(1).and_then(|before| parts.get(before));
        let mut below = parts.iter().skip(at.saturating_add(1));
        let is_below_profiles = PROFILE_FOLDERS.iter().any(|name| is(parent, name)) && below.len() > 0;
        is_below_profiles || PATH_TO_LISTS.iter().all(|name| is(below.next(), name))
    };
    let is_name = |name: &str| name != ".." && !name.ends_with(':') && !name.eq_ignore_ascii_case("AppData");
    let found = (0..parts.len()).rev().filter(|at| is_profile(*at)).find_map(|at| parts.get(at));
    found.copied().filter(|name| is_name(name))
}

/// The user whose profile `path` is in: the folder of [`profile_of`] without the ending that Windows adds to roaming
/// profiles (`.V6`) and to a profile that it had to create again (`.000`).
pub fn user_of(path: &str) -> Option<&str> {
    let folder = profile_of(path)?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_added = |end: &str| end.strip_prefix(['v', 'V']).is_some_and(is_number) || end.len() == 3 && is_number(end);
    match folder.rsplit_once('.') {
        Some((user, end)) if is_added(end) && !user.is_empty() => Some(user),
        _ => Some(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_recognized_by_the_names_that_sync_programs_and_people_give_them() {
        let explorer = AppId::of("Microsoft.Windows.Explorer");
        for (name, is_copy) in [
            ("f01b4d95cf55d32a.automaticDestinations-ms", false),
            ("F01B4D95CF55D32A.AUTOMATICDESTINATIONS-MS", false),
            ("f01b4d95cf55d32a.customDestinations-ms", false),
            ("f01b4d95cf55d32a.old.customDestinations-ms", true),
            ("f01b4d95cf55d32a (1).automaticDestinations-ms", true),
            ("f01b4d95cf55d32a - Copy (2).automaticDestinations-ms", true),
            ("Copy of f01b4d95cf55d32a.automaticDestinations-ms", true),
            ("20240102 f01b4d95cf55d32a.automaticDestinations-ms", true),
            ("f01b4d95cf55d32a-DESK01.automaticDestinations-ms", true),
            ("F01B4D95CF55D32A_conflict.customDestinations-ms", true),
            ("f01b4d95cf55d32a (sam's conflicted copy 2024-01-02).automaticDestinations-ms", true),
            ("f01b4d95cf55d32a (conflicted copy 2024-01-02 101112).automaticDestinations-ms", true),
            ("f01b4d95cf55d32a.sync-conflict-20240102-101112-ABCDEFG.automaticDestinations-ms", true),
            ("f01b4d95cf55d32a (sam v1 01-02-2024).automaticDestinations-ms", true),
            ("f01b4d95cf55d32a.automaticDestinations-ms.bak", true),
            ("f01b4d95cf55d32a.automaticDestinations-ms~", true),
            ("f01b4d95cf55d32a.automaticDestinations-ms (2)", true),
        ] {
            let is_automatic = !name.contains("custom");
            assert_eq!(ListName::parse(name), Some(ListName { app_id: explorer, is_automatic, is_copy }), "{name}");
            assert_eq!(AppId::from_copy_name(name), Some(explorer), "{name}");
            assert_eq!(AppId::from_file_name(name).is_none(), is_copy, "{name}");
        }
        assert_eq!(AppId::from_file_name("1.customDestinations-ms"), Some(AppId(1)));
    }

    #[test]
    fn a_word_or_a_number_in_a_file_name_is_no_app_id() {
        for name in [
            "f01b4d95cf55d32a",
            "f01b4d95cf55d32a.automaticDestinations-msx",
            "Copy of it.automaticDestinations-ms",
            "face (1).automaticDestinations-ms",
            "f01b4d95cf55d32ab (1).automaticDestinations-ms",
            "f01b4d95cf55d32copy.automaticDestinations-ms",
            ".customDestinations-ms",
            ".jlfix-f01b4d95cf55d32a.tmp",
            "é",
        ] {
            assert_eq!(ListName::parse(name), None, "{name}");
        }
    }

    #[test]
    fn the_user_is_the_innermost_profile_of_the_path() {
        for (path, user) in [
            (r"C:\Users\Jo Doe\AppData\Roaming\Microsoft\Windows\Recent\AutomaticDestinations\1", Some("Jo Doe")),
            ("/mnt/c/users/jo/appdata/Local/x", Some("jo")),
            (r"E:\Documents and Settings\anna\Recent\x", Some("anna")),
            ("triage/Users/jo/copy/Users/anna/AppData/x", Some("anna")),
            ("Users/examiner/case/C/users/Bob B/lists/1.x", Some("Bob B")),
            (r"\\?\C:\Users\🦀\AppData\Roaming\x", Some("🦀")),
            ("/case/jo/AppData/Roaming/Microsoft/Windows/Recent/x", Some("jo")),
            ("/home/Users/jo/jumplists/x", Some("jo")),
            ("/home/examiner/1.x", None),
            ("C:/AppData/Roaming/Microsoft/Windows/Recent/x", None),
            ("../AppData/Roaming/Microsoft/Windows/Recent/x", None),
            ("Users/AppData/x", None),
            ("Users/../x/1.x", None),
            ("Users/1.x", None),
            ("", None),
        ] {
            assert_eq!(user_of(path), user, "{path}");
        }
    }

    #[test]
    fn a_user_has_one_name_whatever_windows_called_the_profile() {
        for path in ["Users/sam/x/f", "D/Users/sam.V6/x/f", "Documents and Settings/sam.000/f", "profiles/sam.v2/f"] {
            assert_eq!(user_of(path), Some("sam"), "{path}");
        }
        assert_eq!(profile_of("D/Users/sam.V6/x/f"), Some("sam.V6"));
        assert_eq!(user_of("Users/sam.smith/f"), Some("sam.smith"));
    }
}
