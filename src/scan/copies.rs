//! Copies of one list: what programs that sync folders leave beside it, and lists of one application in several folders
//! of one user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{ScanError, files};
use crate::appid::{AppId, ListName, user_of};

/// Lists of one application and one user, two or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyGroup {
    /// The application.
    pub app_id: AppId,
    /// The user ([`user_of`]); `None` if the paths lead through no profile.
    pub user: Option<String>,
    /// The lists: those that are named as Windows does first, then by path.
    pub files: Vec<PathBuf>,
}

/// The user in lower case, and the application.
type GroupKey = (Option<String>, AppId);
/// The user by the path, and the files: whether each is a copy, and its path.
type GroupFiles = (Option<String>, Vec<(bool, PathBuf)>);

/// The groups of copies of automatic lists under `root`, by user and application, and the places that could not be
/// read. Custom lists are written by their applications, and are not merged. `skip` is a folder that is not entered (the
/// backup store, for example).
pub fn find_copies(root: &Path, skip: Option<&Path>) -> (Vec<CopyGroup>, Vec<ScanError>) {
    // The profile may be a folder above `root`.
    let above = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let absolute = |path: &Path| path.strip_prefix(root).map_or_else(|_| path.to_owned(), |below| above.join(below));

    // Windows ignores case in users' names.
    let mut groups: BTreeMap<GroupKey, GroupFiles> = BTreeMap::new();
    let mut errors = Vec::new();
    for path in files(root, |path| skip.is_none_or(|skip| absolute(path) != skip)) {
        match path {
            Ok(path) => {
                let name = path.file_name().and_then(|name| ListName::parse(&name.to_string_lossy()));
                let Some(name) = name.filter(|name| name.is_automatic) else { continue };
                let whole = absolute(&path).to_string_lossy().into_owned();
                let user = user_of(&whole).map(ToOwned::to_owned);
                let key = (user.as_ref().map(|user| user.to_lowercase()), name.app_id);
                groups.entry(key).or_insert((user, Vec::new())).1.push((name.is_copy, path));
            }
            Err(error) => errors.push(error),
        }
    }
    let groups =
        groups.into_iter().filter(|(_, (_, files))| files.len() > 1).map(|((_, app_id), (user, mut files))| {
            files.sort();
            CopyGroup { app_id, user, files: files.into_iter().map(|(_, path)| path).collect() }
        });
    (groups.collect(), errors)
}
