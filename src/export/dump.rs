//! Links as files of their own, so that other tools can take them.

use super::row::{SourceFile, rows};
use crate::appid::AppId;

/// A link's bytes, and what a file of them is to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpedLink {
    /// `<user>_<appid>_<kind>_<entry>`, without an ending. Any file system takes it.
    pub stem: String,
    /// The bytes, as they are in the list.
    pub bytes: Vec<u8>,
}

/// How many characters of a user's name are taken.
const LONGEST_USER: usize = 64;

/// The links of a file, those that cannot be read among them. `<entry>` is the entry's id in hex, which is its stream's
/// name; the place of a link in a custom list, from 0; the place in the file of a link that was found without a name
/// or is deleted.
pub fn dumped_links(file: &SourceFile<'_>) -> Vec<DumpedLink> {
    let user = safe(file.user.unwrap_or("unknown"));
    let app_id = file.app_id.map_or("unknown".to_owned(), |id: AppId| id.to_string());
    let dumped = rows(file).filter_map(|row| {
        let (offset, bytes) = row.raw?;
        let entry = match (row.entry_id(), row.position) {
            _ if row.deleted.is_some() => format!("deleted-at-{offset}"),
            (Some(id), _) => format!("{id:x}"),
            (None, Some(position)) => position.to_string(),
            (None, None) => format!("at-{offset}"),
        };
        let kind = file.kind.word();
        Some(DumpedLink { stem: format!("{user}_{app_id}_{kind}_{entry}"), bytes: bytes.to_vec() })
    });
    dumped.collect()
}

/// The name without what a file system would reject or take for something else.
fn safe(name: &str) -> String {
    let plain = |c: char| if c.is_control() || "<>:\"/\\|?*".contains(c) || is_format(c) { '-' } else { c };
    let name: String = name.chars().take(LONGEST_USER).map(plain).collect();
    match name.trim_matches([' ', '.']) {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}

/// True for what changes how a name is shown and not what it is.
fn is_format(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2028}'..='\u{2029}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_name_cannot_lead_out_of_the_folder() {
        assert_eq!(safe("Jörg B."), "Jörg B");
        assert_eq!(safe("a/b\\c:d\u{202e}\n"), "a-b-c-d--");
        assert_eq!([safe(" . "), safe("")], ["unknown", "unknown"]);
        assert_eq!(safe(&"x".repeat(500)).len(), LONGEST_USER);
    }
}
