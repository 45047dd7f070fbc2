//! The folder of automatic lists that pins are written to, and the file of an application in it.

use std::fs;
use std::path::{Path, PathBuf};

use jlfix::appid::{AppId, ListName};
use jlfix::model::{AutomaticList, Kind, Source};

use crate::cli::context::Context;
use crate::cli::{Stop, input};

const LISTS: &str = "AutomaticDestinations";
/// Where the folder can be below one that is named: a profile, or its Recent folder.
const BELOW_PROFILE: [&str; 6] = ["AppData", "Roaming", "Microsoft", "Windows", "Recent", LISTS];

/// A folder of automatic lists.
pub(super) struct Target {
    /// The folder itself.
    pub(super) folder: PathBuf,
    /// Its lists, by application.
    lists: Vec<(AppId, PathBuf)>,
}

impl Target {
    /// The folder that `into` names: one of automatic lists, the Recent folder or the profile that it is in; the live
    /// user's if it is `None`.
    pub(super) fn find(into: Option<&Path>) -> Result<Self, Stop> {
        let folder = match into {
            Some(into) => below(into)?,
            None => match jlfix::os::recent_folder() {
                Ok(Some(recent)) => recent.join(LISTS),
                Ok(None) => {
                    return Err(Stop::Usage(
                        "--into FOLDER is needed: this system has no jump lists of its own".to_owned(),
                    ));
                }
                Err(error) => return Err(Stop::Nothing(format!("cannot find your jump lists: {error}; use --into"))),
            },
        };
        let cannot = |error: std::io::Error| Stop::Nothing(format!("{}: cannot read it: {error}", folder.display()));
        let mut lists = Vec::new();
        for entry in fs::read_dir(&folder).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let name = ListName::parse(&entry.file_name().to_string_lossy());
            let name = name.filter(|name| name.is_automatic && !name.is_copy);
            lists.extend(name.map(|name| (name.app_id, entry.path())));
        }
        lists.sort();
        Ok(Self { folder, lists })
    }

    /// The list of an application: the one that is there, or where it would be.
    pub(super) fn list_of(&self, app_id: AppId) -> PathBuf {
        let there = self.lists.iter().find(|(id, _)| *id == app_id).map(|(_, path)| path.clone());
        there.unwrap_or_else(|| self.folder.join(format!("{app_id}.automaticDestinations-ms")))
    }

    /// True if the application has a list.
    pub(super) fn has(&self, app_id: AppId) -> bool {
        self.lists.iter().any(|(id, _)| *id == app_id)
    }

    /// The applications that have a list.
    pub(super) fn app_ids(&self) -> impl Iterator<Item = AppId> + '_ {
        self.lists.iter().map(|(id, _)| *id)
    }

    /// The newest format among the lists of the folder: the one that its Windows writes. `None` if none of them can be
    /// read.
    fn format_beside(&self, context: &Context) -> Option<u32> {
        let versions = self.lists.iter().filter_map(|(_, path)| {
            let loaded = input::load(path, &context.read.limits).ok()?;
            match Source::read(&loaded.data, Some(Kind::Automatic), &context.read)? {
                Source::Automatic(Ok(compound)) => {
                    AutomaticList::read(&compound).header.filter(|header| header.is_known_version())
                }
                _ => None,
            }
        });
        versions.map(|header| header.version).max()
    }

    /// The format that a new list is written in.
    pub(super) fn new_format(&self, given: Option<u32>, context: &Context) -> Option<u32> {
        given.or_else(|| self.format_beside(context))
    }
}

/// The folder of automatic lists that `into` is, or has.
fn below(into: &Path) -> Result<PathBuf, Stop> {
    if !into.is_dir() {
        return Err(Stop::Usage(format!("{}: no such folder", into.display())));
    }
    for names in [&BELOW_PROFILE[5..], &BELOW_PROFILE[..]] {
        let mut at = into.to_owned();
        let mut is_there = true;
        for name in names {
            at.push(name);
            match fs::symlink_metadata(&at) {
                Ok(facts) if facts.is_dir() => {}
                // What is written has to be in the folder that was named.
                Ok(_) => {
                    return Err(Stop::Nothing(format!(
                        "{}: refused: a link or a file, not a folder; name the folder of the lists itself",
                        at.display()
                    )));
                }
                Err(_) => {
                    is_there = false;
                    break;
                }
            }
        }
        if is_there {
            return Ok(at);
        }
    }
    Ok(into.to_owned())
}

/// Refuses to make a list where nothing says which format the Windows of that folder writes.
pub(super) fn no_format(target: &Target) -> Stop {
    Stop::Usage(format!(
        "{}: has no list to take the format from; --list-format says which one its Windows writes: \
         1 (7, 8 and 8.1), 4 (10, and 11 before 22H2), 5 (11 22H2) or 6 (11 23H2 and later)",
        target.folder.display()
    ))
}
