//! Whose a jump list is, where its path names a folder of profiles and no more: a copy of some of an image.

use crate::report::FileFacts;

/// The folders that hold the profiles, in lower case: Windows Vista and later, and before.
const PROFILES: [&str; 2] = ["users", "documents and settings"];

/// The user that the path tells, or else the name that follows the innermost `Users` in the path as it was given.
pub(super) fn owner(facts: &FileFacts) -> Option<&str> {
    facts.user.as_deref().or_else(|| below_profiles(&facts.path))
}

/// The last name of the path is the file, and no user.
fn below_profiles(path: &str) -> Option<&str> {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).collect();
    let mut users = parts.windows(3).rev().filter_map(|window| match window {
        [profiles, user, _] => PROFILES.contains(&&*profiles.to_ascii_lowercase()).then_some(*user),
        _ => None,
    });
    users.find(|user| *user != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_below_the_innermost_folder_of_profiles_is_the_user() {
        for (path, user) in [
            (r"E:\case\Users\bob\1.automaticDestinations-ms", Some("bob")),
            ("Users/examiner/case/C/users/Bob B/lists/1.x", Some("Bob B")),
            ("C/Documents and Settings/eve/Recent/1.x", Some("eve")),
            ("/home/examiner/1.x", None),
            ("Users/1.x", None),
            ("Users/../x/1.x", None),
        ] {
            assert_eq!(below_profiles(path), user, "{path}");
        }
    }
}
