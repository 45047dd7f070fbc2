//! The applications that are known without a list from the user: every row of the tables below, each with the id
//! that its name gives. No id is written down anywhere.

mod browsers;
mod desktop;
mod media;
mod network;
mod office;
mod store;
mod windows;

use std::borrow::Cow;
use std::sync::LazyLock;

use super::mozilla::mozilla_name;
use super::path::FOLDERS;
use super::{AppId, recover};

/// One way in which Windows knows an application. Several may belong to one application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The AppID, computed from `source`.
    pub id: AppId,
    /// What people call the application.
    pub name: &'static str,
    /// What Windows calls it: its AppUserModelID, or its path with the known folder replaced by its GUID.
    pub source: Cow<'static, str>,
}

/// A row of a table: what Windows calls the application, and what people call it.
type Row = (&'static str, &'static str);

static TABLES: [&[Row]; 7] =
    [windows::ROWS, store::ROWS, office::ROWS, browsers::ROWS, network::ROWS, media::ROWS, desktop::ROWS];

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let rows = TABLES.iter().copied().flatten();
    let kin = browsers::MOZILLA_FOLDERS.iter().flat_map(|(folder, name)| mozilla(folder, name));
    let mut known: Vec<Known> = rows.flat_map(|(source, name)| expand(source, name)).chain(kin).collect();
    known.sort_by_key(|known| known.id);
    known
});

fn expand(source: &'static str, name: &'static str) -> Vec<Known> {
    for (variable, guids) in FOLDERS {
        if let Some(rest) = source.strip_prefix(variable) {
            return guids.iter().map(|guid| Known::new(name, format!("{guid}{rest}"))).collect();
        }
    }
    vec![Known::new(name, source)]
}

fn mozilla(folder: &'static str, name: &'static str) -> impl Iterator<Item = Known> {
    let folders = [r"C:\Program Files", r"C:\Program Files (x86)"].map(|parent| format!(r"{parent}\{folder}"));
    folders.into_iter().filter_map(move |folder| Some(Known::new(name, mozilla_name(&folder)?)))
}

impl Known {
    fn new(name: &'static str, source: impl Into<Cow<'static, str>>) -> Self {
        let source = source.into();
        Self { id: AppId::of(&source), name, source }
    }
}

/// All known applications, in order of their ids.
pub fn known() -> &'static [Known] {
    &KNOWN
}

/// What people call the application with this id: from the tables, or else from a name that [`recover`]
/// computes back, if that is of a known application.
pub fn known_name(id: AppId) -> Option<&'static str> {
    known_sources(id).first().map(|known| known.name).or_else(|| recover(id)?.name)
}

/// What is known under this id: one application, or none.
pub fn known_sources(id: AppId) -> &'static [Known] {
    let start = KNOWN.partition_point(|known| known.id < id);
    let end = KNOWN.partition_point(|known| known.id <= id);
    KNOWN.get(start..end).unwrap_or_default()
}

/// The known applications that `query` may mean, without regard to case, in order of their ids. Only those
/// that fit best are given: called just that, by people or by Windows; else with these whole words in the
/// name (`word` is Microsoft Word, not WordPad); else with the start of a word; else anywhere in the name;
/// else anywhere in what Windows calls it.
pub fn find_by_name(query: &str) -> Vec<&'static Known> {
    best(query, KNOWN.iter().map(|known| (known, known.name, Some(&*known.source))))
        .into_iter()
        .map(|(known, _)| known)
        .collect()
}

/// Of (key, name, source), the keys and names that `query` fits best.
pub(super) fn best<'a, K>(
    query: &str,
    candidates: impl Iterator<Item = (K, &'a str, Option<&'a str>)>,
) -> Vec<(K, &'a str)> {
    let query = query.trim().to_lowercase();
    let mut best = (usize::MAX, Vec::new());
    for (key, name, source) in candidates {
        let Some(distance) = distance(&query, name, source) else { continue };
        if distance < best.0 {
            best = (distance, Vec::new());
        }
        if distance == best.0 {
            best.1.push((key, name));
        }
    }
    best.1
}

/// How far `query`, in lower case, is from meaning this application; `None` if it cannot.
fn distance(query: &str, name: &str, source: Option<&str>) -> Option<usize> {
    if query.is_empty() {
        return None;
    }
    let name = name.to_lowercase();
    let source = source.map(str::to_lowercase).unwrap_or_default();
    let inside = || {
        name.match_indices(query).map(|(start, found)| {
            let before = name.get(..start).unwrap_or_default();
            let after = name.get(start.saturating_add(found.len())..).unwrap_or_default();
            (before.ends_with(char::is_alphanumeric), after.starts_with(char::is_alphanumeric))
        })
    };
    let fits = [
        name == query || source == query,
        inside().any(|cut| cut == (false, false)),
        inside().any(|(cut_before, _)| !cut_before),
        name.contains(query),
        source.contains(query),
    ];
    fits.iter().position(|fits| *fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_give_one_id_and_every_name_can_be_shown() {
        for pair in known().windows(2) {
            assert_ne!(pair[0].id, pair[1].id, "{pair:?}");
        }
        for known in known() {
            let name = known.name;
            assert!(!name.is_empty() && name == name.trim() && name.len() < 60, "{known:?}");
            assert!(name.chars().all(|c| !c.is_control() && !"\"|{}\\".contains(c)), "{known:?}");
            assert!(!known.source.contains('%') && known.source.trim() == known.source, "{known:?}");
            assert_eq!(known.id, AppId::of(&known.source));
            assert_eq!(known_name(known.id), Some(name));
        }
    }

    #[test]
    fn the_tables_are_in_order() {
        for table in TABLES {
            for pair in table.windows(2) {
                assert!(pair[0].0.to_lowercase() < pair[1].0.to_lowercase(), "{:?} before {:?}", pair[0], pair[1]);
            }
        }
    }

    #[test]
    fn the_two_lists_of_the_slow_menu_are_told_by_name() {
        let name = |id| known_name(AppId::parse(id).unwrap());
        assert_eq!(name("f01b4d95cf55d32a"), Some("File Explorer"));
        assert_eq!(name("5f7b5f1e01b83767"), Some("Quick Access recent files"));
        assert_eq!(name("0"), None);
        let sources = known_sources(AppId::parse("5f7b5f1e01b83767").unwrap());
        assert_eq!(
            sources.iter().map(|known| &*known.source).collect::<Vec<_>>(),
            ["Microsoft.Windows.Explorer_RecentFiles"]
        );
    }

    #[test]
    fn an_application_is_found_by_its_name_or_a_part_of_it() {
        let names = |query| {
            let mut names: Vec<_> = find_by_name(query).iter().map(|known| known.name).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        assert_eq!(names("FILE EXPLORER"), ["File Explorer"]);
        assert!(names("explorer").contains(&"File Explorer"));
        assert!(names("word").contains(&"Microsoft Word"));
        assert!(!names("word").contains(&"WordPad"), "a whole word comes before the start of one");
        assert_eq!(names("wordp"), ["WordPad"]);
        assert_eq!(names("msedge"), ["Microsoft Edge"]);
        assert!(names("").is_empty());
        assert!(names("no such application").is_empty());
    }
}
