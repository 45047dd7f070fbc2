//! The jump lists of this machine: the live user's, or every user's. Only Windows has any.

use std::io;
use std::path::{Path, PathBuf};

use super::context::Context;
use super::exit::Tally;
use super::{Stop, output};

/// The two folders below a user's Recent folder.
const FOLDERS: [&str; 2] = ["AutomaticDestinations", "CustomDestinations"];

/// The live user's two folders, those of them that are there.
pub(crate) fn folders() -> Result<Vec<PathBuf>, Stop> {
    match jlfix::os::recent_folder() {
        Ok(Some(recent)) => {
            let mut folders = Vec::new();
            for folder in below(&recent) {
                match std::fs::metadata(&folder) {
                    Ok(_) => folders.push(folder),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(Stop::Nothing(format!("{}: {error}", folder.display()))),
                }
            }
            Ok(folders)
        }
        Ok(None) => Err(Stop::Usage("name a file or a folder: this system has no jump lists of its own".to_owned())),
        Err(error) => Err(Stop::Nothing(format!("cannot find your jump lists: {error}; name their folder"))),
    }
}

fn below(recent: &Path) -> impl Iterator<Item = PathBuf> {
    FOLDERS.iter().map(|name| recent.join(name))
}

/// The folders of all users. Who cannot be looked at is told and counted.
pub(crate) fn all_users(context: &Context, tally: &mut Tally) -> Result<Vec<PathBuf>, Stop> {
    // The live user may have moved theirs.
    let mut folders = match jlfix::os::recent_folder() {
        Ok(Some(recent)) => below(&recent).filter(|folder| folder.is_dir()).collect(),
        Ok(None) => {
            return Err(Stop::Usage(
                "--all-users: this system keeps no list of Windows users; name the folder of their profiles, such as /mnt/c/Users".to_owned(),
            ));
        }
        Err(_) => Vec::new(),
    };
    for profile in profiles(context) {
        let recent = profile.join("AppData").join("Roaming").join("Microsoft").join("Windows").join("Recent");
        let mut closed = None;
        for folder in below(&recent) {
            match std::fs::read_dir(&folder) {
                Ok(_) if folders.iter().any(|known| jlfix::os::is_same_path(known, &folder)) => {}
                Ok(_) => folders.push(folder),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => closed = Some(error),
            }
        }
        if let Some(error) = closed {
            let user = profile.file_name().unwrap_or_default().to_string_lossy();
            output::error(&format!(
                "{user}: skipped: cannot look into {}: {error}; an administrator's prompt may",
                recent.display()
            ));
            tally.failed += 1;
        }
    }
    if folders.is_empty() {
        context.note("no user of this machine has jump lists");
    }
    Ok(folders)
}

/// The profiles of all users, from the registry.
pub(crate) fn user_profiles() -> Result<Vec<jlfix::os::Profile>, Stop> {
    let profiles = jlfix::os::profiles()
        .map_err(|error| Stop::Nothing(format!("cannot read the registry's list of profiles: {error}")))?;
    if profiles.is_empty() {
        return Err(Stop::Usage(
            "--all-users: this system keeps no list of Windows users; name a store with --backup-dir".to_owned(),
        ));
    }
    Ok(profiles)
}

/// The folders of all profiles: as the registry lists them, or else whatever lies beside the live user's own.
fn profiles(context: &Context) -> Vec<PathBuf> {
    match jlfix::os::profiles() {
        Ok(profiles) if !profiles.is_empty() => return profiles.into_iter().map(|profile| profile.folder).collect(),
        Ok(_) => context.note("the registry lists no profiles; looking at the folders beside this user's own"),
        Err(error) => context.note(&format!(
            "cannot read the registry's list of profiles ({error}); looking at the folders beside this user's own"
        )),
    }
    let own = std::env::var_os("USERPROFILE").map(PathBuf::from);
    let beside = own.as_deref().and_then(Path::parent).and_then(|parent| std::fs::read_dir(parent).ok());
    let mut folders: Vec<PathBuf> = beside.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    folders
}
