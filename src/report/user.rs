//! Whose a file is, as far as its path tells: of a mounted disk or a copied profile nothing else is left to ask.

/// The user whose profile the path lies in: the name after `Users` or `Documents and Settings`, or else the folder
/// that holds `AppData\Roaming\Microsoft\Windows\Recent`. The innermost profile counts. None if the path does not
/// tell; either slash parts a path.
pub fn user_of(path: &str) -> Option<&str> {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).collect();
    let is = |at: Option<usize>, name: &str| {
        at.and_then(|at| parts.get(at)).is_some_and(|part| part.eq_ignore_ascii_case(name))
    };
    let found = (0..parts.len()).rev().find(|&at| {
        let (before, after) = (at.checked_sub(1), |steps: usize| at.checked_add(steps));
        let lists = ["AppData", "Roaming", "Microsoft", "Windows", "Recent"];
        let holds_lists = || lists.iter().zip(1..).all(|(name, steps)| is(after(steps), name));
        is(before, "Users") && is(after(1), "AppData")
            || is(before, "Documents and Settings") && after(1).is_some_and(|next| next < parts.len())
            || holds_lists()
    })?;
    parts.get(found).copied().filter(|name| *name != ".." && !name.ends_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_told_by_the_profile_that_a_path_lies_in() {
        for (path, user) in [
            (r"C:\Users\Jo Doe\AppData\Roaming\Microsoft\Windows\Recent\AutomaticDestinations\1", Some("Jo Doe")),
            ("/mnt/c/users/jo/appdata/Local/x", Some("jo")),
            (r"E:\Documents and Settings\anna\Recent\x", Some("anna")),
            ("triage/Users/jo/copy/Users/anna/AppData/x", Some("anna")),
            ("profiles/jo.V6/AppData/Roaming/Microsoft/Windows/Recent/x", Some("jo.V6")),
            (r"\\?\C:\Users\🦀\AppData\Roaming\x", Some("🦀")),
            ("/home/Users/jo/jumplists/x", None),
            ("C:/AppData/Roaming/Microsoft/Windows/Recent/x", None),
            ("../AppData/Roaming/Microsoft/Windows/Recent/x", None),
            ("Users/AppData/x", None),
            ("", None),
        ] {
            assert_eq!(user_of(path), user, "{path}");
        }
    }
}
