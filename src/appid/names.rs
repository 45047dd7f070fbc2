//! Names for AppIDs, with what the user added: a list in the format of JLECmd's `--appIds`, a line
//! `"ID"|"description"` an application. A line that cannot be read costs that line alone.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use encoding_rs::{Encoding, UTF_8};

use super::{AppId, known_name};

/// The table that comes with the program, and before it what the user added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppNames {
    added: BTreeMap<AppId, String>,
}

/// A line of a list that says nothing that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BadLine {
    /// Counts from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: LineProblem,
}

/// Why a line of a list cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum LineProblem {
    /// There is no bar between id and description.
    #[error("need \"ID\"|\"description\", have no bar")]
    NoBar,
    /// What is before the bar is no AppID.
    #[error("need an id of 1 to 16 hex digits, have {}", shown(.0))]
    BadId(String),
    /// A quote was opened and not closed, or the other way round.
    #[error("a quote has no partner")]
    LoneQuote,
    /// There is nothing after the bar.
    #[error("the description is empty")]
    NoDescription,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for BadLine {}

impl AppNames {
    /// Adds a list: UTF-8, or UTF-16 with a byte order mark; lines end in LF or CRLF; ids in either case;
    /// empty lines are nothing. A later line replaces an earlier one of the same id. Returns the lines
    /// that could not be used.
    pub fn add_list(&mut self, bytes: &[u8]) -> Vec<BadLine> {
        let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
        let (text, _) = encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default());
        let mut bad = Vec::new();
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            match parse_line(line.trim()) {
                Ok((id, name)) => drop(self.added.insert(id, name.to_owned())),
                Err(problem) => bad.push(BadLine { line: number, problem }),
            }
        }
        bad
    }

    /// Adds one name, in place of what the id was called before.
    pub fn add(&mut self, id: AppId, name: impl Into<String>) {
        self.added.insert(id, name.into());
    }

    /// What the user calls the application, else what the program does.
    pub fn name(&self, id: AppId) -> Option<&str> {
        self.added.get(&id).map(String::as_str).or_else(|| known_name(id))
    }

    /// What was added, in order of the ids.
    pub fn added(&self) -> impl ExactSizeIterator<Item = (AppId, &str)> {
        self.added.iter().map(|(id, name)| (*id, name.as_str()))
    }

    /// The applications that `query` may mean: [`super::find_by_name`], with what was added before it and
    /// in place of the program's own names.
    pub fn find(&self, query: &str) -> Vec<(AppId, &str)> {
        let added = self.added().map(|(id, name)| (id, name, None));
        let own = super::known().iter().filter(|known| !self.added.contains_key(&known.id));
        super::known::best(query, added.chain(own.map(|known| (known.id, known.name, Some(&*known.source)))))
    }
}

fn parse_line(line: &str) -> Result<(AppId, &str), LineProblem> {
    let (id, name) = line.split_once('|').ok_or(LineProblem::NoBar)?;
    let (id, name) = (unquoted(id)?, unquoted(name)?);
    let id = AppId::parse(id).ok_or_else(|| LineProblem::BadId(id.to_owned()))?;
    if name.is_empty() { Err(LineProblem::NoDescription) } else { Ok((id, name)) }
}

/// `field` without the quotes around it; quotes may also be missing on both sides.
fn unquoted(field: &str) -> Result<&str, LineProblem> {
    let field = field.trim();
    match (field.strip_prefix('"'), field.strip_suffix('"')) {
        (None, None) => Ok(field),
        (Some(tail), Some(_)) => tail.strip_suffix('"').map(str::trim).ok_or(LineProblem::LoneQuote),
        _ => Err(LineProblem::LoneQuote),
    }
}

/// As much of a wrong id as a message needs.
fn shown(id: &str) -> Cow<'_, str> {
    match id.char_indices().nth(24) {
        Some((end, _)) => Cow::Owned(format!("{:?}…", id.get(..end).unwrap_or_default())),
        None => Cow::Owned(format!("{id:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPLORER: AppId = AppId(0xf01b_4d95_cf55_d32a);

    #[test]
    fn a_users_name_comes_before_our_own() {
        let mut names = AppNames::default();
        assert_eq!(names.name(EXPLORER), Some("File Explorer"));
        let list = "\u{feff}\"F01B4D95CF55D32A\"|\"Folders\"\r\n\r\n\"0abc\"|\"A | B\"\r\nabc|bare\r\n\"f01b4d95cf55d32a\"|\"Last\"";
        assert_eq!(names.add_list(list.as_bytes()), []);
        assert_eq!(names.name(EXPLORER), Some("Last"));
        assert_eq!(names.name(AppId(0xabc)), Some("bare"));
        assert_eq!(names.added().len(), 2);
        let found: Vec<_> = names.find("last").iter().map(|(id, _)| *id).collect();
        assert_eq!(found, [EXPLORER]);
        assert!(names.find("file explorer").iter().all(|(id, _)| *id != EXPLORER), "the old name is gone");
        let wide: Vec<u8> = "\u{feff}\"1\"|\"Zwölf\"\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(names.add_list(&wide), []);
        assert_eq!(names.name(AppId(1)), Some("Zwölf"));
    }

    #[test]
    fn bad_lines_are_told_with_their_numbers_and_stop_nothing() {
        let mut names = AppNames::default();
        let list = b"\"1\"|\"One\"\n# note\n\"xyz\"|\"Bad\"\n\"2\"|\"\"\n\"3\"|\"open\n\"\n\"11112222333344445\"|\"Long\"\n\"4\"|\"\xFF\"\n\"5\"|\"Five\"\n";
        let told: Vec<_> = names.add_list(list).iter().map(BadLine::to_string).collect();
        assert_eq!(
            told,
            [
                "line 2: need \"ID\"|\"description\", have no bar",
                "line 3: need an id of 1 to 16 hex digits, have \"xyz\"",
                "line 4: the description is empty",
                "line 5: a quote has no partner",
                "line 6: need \"ID\"|\"description\", have no bar",
                "line 7: need an id of 1 to 16 hex digits, have \"11112222333344445\"",
            ]
        );
        assert_eq!(names.name(AppId(1)), Some("One"));
        assert_eq!(names.name(AppId(4)), Some("\u{FFFD}"));
        assert_eq!(names.name(AppId(5)), Some("Five"));
    }
}
