//! Whose a jump list is: the path of an image or a copy still names the profile it was in.

/// The folders that hold the profiles, in lower case: Windows Vista and later, and before.
const PROFILES: [&str; 2] = ["users", "documents and settings"];
/// What jump lists lie in, inside of a profile, in lower case.
const INSIDE: [&str; 2] = ["appdata", "application data"];

/// The name of the profile that `path` leads through: what follows `Users` or `Documents and Settings`, best where
/// `AppData` follows in turn, as the examiner's own folders may lie in a profile as well. The last name of the path is
/// the file.
pub fn user_of_path(path: &str) -> Option<&str> {
    let parts: Vec<&str> = path.split(['/', '\\']).collect();
    let is_one_of = |part: &str, names: &[&str]| names.iter().any(|name| part.eq_ignore_ascii_case(name));
    let mut plain = None;
    for window in parts.windows(3).rev() {
        let [profiles, user, inside] = window else { continue };
        if user.is_empty() || matches!(*user, "." | "..") || !is_one_of(profiles, &PROFILES) {
            continue;
        }
        if is_one_of(inside, &INSIDE) {
            return Some(user);
        }
        plain = plain.or(Some(*user));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_in_the_evidence_is_told_and_not_the_examiners_own() {
        for (path, user) in [
            (r"E:\C\Users\bob\AppData\Roaming\Microsoft\Windows\Recent\AutomaticDestinations\1.x", Some("bob")),
            ("/Users/examiner/cases/7/C/users/Bob B/appdata/Roaming/1.x", Some("Bob B")),
            ("/Users/bob/AppData/Roaming/Users/x/1.x", Some("bob")),
            ("C/Documents and Settings/eve/Recent/1.x", Some("eve")),
            ("/home/examiner/1.x", None),
            ("Users/1.x", None),
            ("Users//1.x", None),
        ] {
            assert_eq!(user_of_path(path), user, "{path}");
        }
    }
}
