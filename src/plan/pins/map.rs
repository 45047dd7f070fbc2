//! Where the paths of one profile are in another: `C:\Users\old` is now `C:\Users\new`.

use crate::format::text::Utf16;

const SEPARATOR: u16 = b'\\' as u16;

/// Why a mapping cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// There is no `=` between two paths.
    #[error("need FROM=TO, two full Windows paths, such as C:\\Users\\old=C:\\Users\\new or D:=E:; have {0:?}")]
    Shape(String),
    /// More than one `=` could be the one between the two paths.
    #[error("{0:?} can be read in more than one way: a path in it holds = and what looks like another path")]
    Ambiguous(String),
    /// One path has two mappings.
    #[error("{0} is mapped twice")]
    Twice(String),
}

/// Mappings of paths. Of several that match, the longest is used, and a path is mapped once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathMap {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// The names of the path, without regard to case.
    from: Vec<String>,
    to: Vec<u16>,
}

/// A path that was mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedPath {
    /// The new path in UTF-16, little-endian.
    pub path: Vec<u8>,
    /// How many names at its end are those of the old path.
    pub kept: usize,
}

impl MappedPath {
    /// The new path; an unpaired surrogate becomes U+FFFD.
    pub fn text(&self) -> String {
        Utf16(&self.path).decode()
    }
}

impl PathMap {
    /// Adds a mapping `FROM=TO`. Both are a drive (`D:`), a path on a drive, or a path on a share.
    ///
    /// # Errors
    /// [`MapError`] if it is not of that form, or FROM is mapped already.
    pub fn add(&mut self, rule: &str) -> Result<(), MapError> {
        let sides = rule.match_indices('=').filter_map(|(at, _)| {
            let (from, to) = rule.split_at_checked(at)?;
            Some((root_of_tree(from)?, root_of_tree(to.strip_prefix('=')?)?))
        });
        let sides: Vec<(&str, &str)> = sides.collect();
        let [(from, to)] = sides.as_slice() else {
            let text = rule.to_owned();
            return Err(if sides.is_empty() { MapError::Shape(text) } else { MapError::Ambiguous(text) });
        };
        let names: Vec<u16> = from.encode_utf16().collect();
        let names: Vec<String> = names.split(is_separator).map(folded).collect();
        if self.rules.iter().any(|rule| rule.from == names) {
            return Err(MapError::Twice((*from).to_owned()));
        }
        self.rules.push(Rule { from: names, to: to.encode_utf16().collect() });
        Ok(())
    }

    /// The path that `path` is now; `None` if no mapping matches it, or the path stays the same.
    pub fn map(&self, path: Utf16<'_>) -> Option<MappedPath> {
        let units: Vec<u16> = path.units().collect();
        let names: Vec<&[u16]> = units.split(is_separator).collect();
        let folded_names: Vec<String> = names.iter().map(|name| folded(name)).collect();
        // A drive alone is no path, but the start of one.
        let rules = self.rules.iter().filter(|rule| names.len() > 1 && folded_names.starts_with(&rule.from));
        let rule = rules.max_by_key(|rule| rule.from.len())?;
        let kept = names.get(rule.from.len()..)?;
        let mut mapped = rule.to.clone();
        for name in kept {
            mapped.push(SEPARATOR);
            mapped.extend_from_slice(name);
        }
        if !mapped.contains(&SEPARATOR) {
            mapped.push(SEPARATOR);
        }
        let kept = kept.iter().filter(|name| !name.is_empty()).count();
        let path = mapped.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        (mapped != units).then_some(MappedPath { path, kept })
    }

    /// As [`PathMap::map`], of a text.
    pub fn map_text(&self, path: &str) -> Option<MappedPath> {
        let units: Vec<u8> = path.encode_utf16().flat_map(u16::to_le_bytes).collect();
        self.map(Utf16(&units))
    }
}

fn is_separator(unit: &u16) -> bool {
    *unit == SEPARATOR
}

/// A name without regard to case. Unpaired surrogates keep their number, so that two of them differ.
fn folded(name: &[u16]) -> String {
    let mut out = String::new();
    for unit in char::decode_utf16(name.iter().copied()) {
        match unit {
            Ok(c) => out.extend(c.to_lowercase()),
            Err(error) => out.push_str(&format!("\0{:x}", error.unpaired_surrogate())),
        }
    }
    out
}

/// A drive, a path on one, or one on a share, without the separator at its end; `None` if it is something else.
fn root_of_tree(path: &str) -> Option<&str> {
    let path = path.strip_suffix('\\').unwrap_or(path);
    let names: Vec<&str> = path.split('\\').collect();
    let is_drive = |name: &str| matches!(name.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic());
    let below = match names.as_slice() {
        [drive, below @ ..] if is_drive(drive) => below,
        ["", "", server, share, below @ ..] if is_name(server) && is_name(share) => below,
        _ => return None,
    };
    below.iter().all(|name| is_name(name)).then_some(path)
}

/// True for a name of a file or folder that Windows takes as it is.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(|c: char| c.is_control() || "/:*?\"<>|".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(rules: &[&str]) -> PathMap {
        let mut map = PathMap::default();
        rules.iter().for_each(|rule| map.add(rule).unwrap());
        map
    }

    fn mapped(map: &PathMap, path: &str) -> Option<(String, usize)> {
        map.map_text(path).map(|mapped| (mapped.text(), mapped.kept))
    }

    #[test]
    fn paths_match_at_a_separator_and_in_any_case_and_the_longest_mapping_is_used() {
        let map = map(&[r"C:\Users\old=C:\Users\new", "C:=D:", r"\\srv\a=E:\", r"E:\x=\\srv\b\y"]);
        for (path, new) in [
            (r"c:\users\OLD\Docs\a.txt", Some((r"C:\Users\new\Docs\a.txt", 2))),
            (r"C:\Users\old", Some((r"C:\Users\new", 0))),
            (r"C:\Users\older\a.txt", Some((r"D:\Users\older\a.txt", 3))),
            (r"C:\", Some((r"D:\", 0))),
            (r"\\SRV\a\x\b", Some((r"E:\x\b", 2))),
            (r"\\srv\a", Some((r"E:\", 0))),
            (r"E:\x\b", Some((r"\\srv\b\y\b", 1))),
            (r"\\srv\ab\x", None),
            ("C:", None),
            ("knownfolder:{754AC886-DF64-4CBA-86B5-F7FBF4FBCEF5}", None),
            ("::{26EE0668-A00A-44D7-9371-BEB064C98683}", None),
        ] {
            assert_eq!(mapped(&map, path), new.map(|(path, kept)| (path.to_owned(), kept)), "{path}");
        }
        assert_eq!(mapped(&self::map(&[r"C:\a=C:\a"]), r"C:\a\b"), None, "nothing changes");
        assert_eq!(mapped(&self::map(&[r"C:\a=b=C:\c"]), r"C:\a=b\d"), Some((r"C:\c\d".to_owned(), 1)));
    }

    #[test]
    fn a_mapping_that_is_not_between_two_full_paths_is_refused() {
        for rule in [
            "",
            "=",
            r"C:\a",
            r"C:\a=",
            r"old=new",
            r"C:\a\..\b=D:",
            r"C:\a=..\b",
            r"\\srv=D:",
            r"C:a=D:b",
            "C:\\a\0=D:",
        ] {
            assert!(matches!(PathMap::default().add(rule), Err(MapError::Shape(_))), "{rule}");
        }
        let mut map = map(&[r"C:\a=D:\"]);
        assert_eq!(map.add(r"c:\A\=E:"), Err(MapError::Twice(r"c:\A".to_owned())));
        // A colon is in no name, so a second drive cannot be part of the first path.
        assert!(matches!(map.add(r"C:\b=D:\x=E:\y"), Err(MapError::Shape(_))));
    }
}
