//! Bringing a saved file back: to the path that was recorded, or under a folder of the caller's.

use std::{
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
};

use super::{
    Store,
    change::{Decision, NewContent, Options, Outcome, edit},
    manifest::{Record, RunId},
    run::Run,
};
use crate::{
    error::{Error, Result},
    os::Folder,
};

/// Makes the file of `record` again what it was before the run `id`: its old content with its old time,
/// or nothing if there was nothing. What is there now is saved in `run` first, so that this can be undone.
/// A file that is that already is left alone.
///
/// To undo a whole run, take its records from last to first.
///
/// # Errors
/// [`Error::Verification`] if the backup is not what was saved; [`Error::Refused`] if the recorded path
/// now leads through a link, or is one; those of [`edit`].
pub fn restore(
    store: &Store,
    id: &RunId,
    record: &Record,
    options: &Options,
    run: Option<&mut Run>,
) -> Result<Outcome> {
    let options = Options { no_links: true, ..*options };
    let Some(saved) = &record.saved else {
        return edit(&record.path, &options, run, |_| Ok(Decision::Delete));
    };
    let bytes = store.read_saved(id, saved, &options.limits)?;
    let content = NewContent { bytes, traits: saved.traits };
    edit(&record.path, &options, run, |_| Ok(Decision::Write(content.clone())))
}

/// Writes the content of `record` under `dir`, in a folder of the same name as the one it was in, and
/// says where. Nothing is overwritten: if the name is taken there, the folder gets a number, so that the
/// file keeps the name which says whose list it is. None if there was no file, and nothing to write.
///
/// # Errors
/// [`Error::Verification`] if the backup is not what was saved; [`Error::Io`].
pub fn restore_to(
    store: &Store,
    id: &RunId,
    record: &Record,
    options: &Options,
    dir: &Path,
) -> Result<Option<PathBuf>> {
    let (Some(saved), Some(name)) = (&record.saved, record.path.file_name()) else { return Ok(None) };
    let bytes = store.read_saved(id, saved, &options.limits)?;
    let failed = |e| Error::io(dir, "restore into the folder", e);
    std::fs::create_dir_all(dir).map_err(failed)?;
    let dir = Folder::open(dir)?;
    let parent = record.path.parent().and_then(|parent| match parent.components().next_back() {
        Some(Component::Normal(name)) => Some(name),
        _ => None,
    });
    let parent = parent.unwrap_or("root".as_ref());
    for number in 1..10_000_u32 {
        let mut folder_name = OsString::from(parent);
        if number > 1 {
            folder_name.push(format!("-{number}"));
        }
        let folder = match dir.folder(&folder_name) {
            Ok(folder) => folder,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                dir.make_folder(&folder_name).and_then(|folder| dir.sync().map(|()| folder)).map_err(failed)?
            }
            // A file or a link has that name.
            Err(_) => continue,
        };
        let temp = folder.temp().map_err(failed)?;
        temp.write(&bytes).and_then(|()| temp.finish(None, &saved.traits)).map_err(failed)?;
        match temp.create(name) {
            Ok(()) => {
                folder.sync().map_err(failed)?;
                return Ok(Some(folder.path().join(name)));
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(failed(e)),
        }
    }
    Err(failed(io::ErrorKind::AlreadyExists.into()))
}
