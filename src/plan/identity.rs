//! When two things are of one destination: an entry and a link, or entries of two lists.
//!
//! Windows writes a destination's path and its object id into the entry and into the link, so that either identifies it.
//! Paths are compared without regard to case, as Windows does.

use crate::format::destlist::Entry;
use crate::format::guid::Guid;
use crate::format::link::Link;
use crate::format::text::Utf16;

/// The path as it is compared.
pub(crate) fn fold(path: &str) -> String {
    path.chars().flat_map(char::to_lowercase).collect()
}

/// An entry's path as it is compared. One that holds unpaired surrogates is only the same as itself.
pub(crate) fn key(path: Utf16<'_>) -> String {
    if path.has_unpaired() {
        format!("\0{}", path.to_hex())
    } else {
        path.chars().flat_map(char::to_lowercase).collect()
    }
}

/// True for a path on a drive or a share, which a link spells in the same way; names such as `knownfolder:` and URLs
/// are not in a link in that form.
pub(super) fn is_plain(path: &str) -> bool {
    path.starts_with(r"\\") || path.get(1..3) == Some(r":\")
}

/// What a link says of its destination.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Facts {
    /// Paths, as they are compared.
    pub(super) paths: Vec<String>,
    /// Volume and object id, if link tracking knew them.
    pub(super) droid: Option<(Guid, Guid)>,
}

impl Facts {
    /// Reads them from a link. A path that lost characters to its code page says nothing.
    pub(super) fn of(link: &Link<'_>) -> Self {
        let paths = [link.local_path(), link.network_path()].into_iter().flatten();
        let paths = paths.filter(|path| is_plain(path) && !path.contains(['?', char::REPLACEMENT_CHARACTER]));
        let droid = link.tracker().map(|tracker| (tracker.volume, tracker.file));
        Self { paths: paths.map(|path| fold(&path)).collect(), droid: droid.filter(|(_, file)| !file.is_zero()) }
    }
}

/// Whether a link is that of an entry, by what both say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Agreement {
    /// They name different destinations.
    Differs,
    /// They have nothing in common that could be compared.
    Unknown,
    /// They name one destination.
    Agrees,
}

/// Holds a link against an entry whose path, as it is compared, is `path`.
pub(super) fn agreement(entry: &Entry<'_>, path: &str, facts: &Facts) -> Agreement {
    let same_object = !entry.object_id.is_zero() && facts.droid == Some((entry.volume_id, entry.object_id));
    if same_object || facts.paths.iter().any(|known| known == path) {
        Agreement::Agrees
    } else if is_plain(path) && !facts.paths.is_empty() {
        Agreement::Differs
    } else {
        Agreement::Unknown
    }
}
