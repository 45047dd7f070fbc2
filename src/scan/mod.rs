//! Finds jump lists on disk: in folder trees by their ending, in any case, and files that are named whatever they are
//! called. Links are not followed below what was named.
//!
//! ```
//! for found in jlfix::scan("samples") {
//!     println!("{}", found?.path.display());
//! }
//! # Ok::<(), jlfix::scan::ScanError>(())
//! ```

mod copies;

use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

pub use copies::{CopyGroup, find_copies};

use crate::model::Kind;

/// A file to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The path, as named or as found below a folder that was.
    pub path: PathBuf,
    /// The kind that its ending shows; for a file that was named, its content decides first.
    pub hint: Option<Kind>,
    /// Whether the file itself was named, rather than a folder above it.
    pub named: bool,
}

/// A place that could not be looked at.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot {doing}: {source}", path.display())]
pub struct ScanError {
    /// The place.
    pub path: PathBuf,
    /// What was tried.
    pub doing: &'static str,
    /// Why it failed.
    #[source]
    pub source: io::Error,
}

/// The jump lists under `root`, or `root` itself if it is no folder, in the order of their names. A folder that cannot
/// be read is an error of its own and does not end the search. A depth of folders over 64 is not entered.
///
/// ```
/// for found in jlfix::scan("samples/CustomDestinations") {
///     let list = jlfix::JumpList::open(found?.path)?;
///     println!("{:?}: {} links", list.app_id(), list.links().count());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find<P: AsRef<Path>>(root: P) -> impl Iterator<Item = Result<Found, ScanError>> + use<P> {
    let root = root.as_ref().to_owned();
    // A file that was named is taken as it is; only a folder is searched.
    let named = match std::fs::metadata(&root) {
        Err(source) => Some(Err(ScanError { path: root.clone(), doing: "open", source })),
        Ok(facts) if !facts.is_dir() => Some(Ok(Found { hint: Kind::of_path(&root), path: root.clone(), named: true })),
        Ok(_) => None,
    };
    let below = named.is_none().then(|| files(&root, |_| true)).into_iter().flatten();
    let below = below.filter_map(|path| match path {
        Ok(path) => {
            let hint = Kind::of_path(&path).filter(|kind| *kind != Kind::Link)?;
            Some(Ok(Found { path, hint: Some(hint), named: false }))
        }
        Err(error) => Some(Err(error)),
    });
    named.into_iter().chain(below)
}

/// The plain files below `root`, in the order of their names, but for those in the folders that `enters` says no to.
fn files<F: Fn(&Path) -> bool>(root: &Path, enters: F) -> impl Iterator<Item = Result<PathBuf, ScanError>> + use<F> {
    let root = root.to_owned();
    let walk = WalkDir::new(&root).max_depth(64).sort_by_file_name().into_iter();
    walk.filter_entry(move |entry| enters(entry.path())).filter_map(move |entry| match entry {
        Ok(entry) if entry.file_type().is_file() => Some(Ok(entry.into_path())),
        Ok(_) => None,
        Err(error) => {
            let path = error.path().unwrap_or(&root).to_owned();
            let source = error.into_io_error().unwrap_or_else(|| io::Error::other("a loop of links"));
            Some(Err(ScanError { path, doing: "look into", source }))
        }
    })
}
