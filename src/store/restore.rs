//! Bringing a saved file back: to the path that was recorded, or under a folder of the caller's.

use std::{
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
};

use super::{
    Store,
    change::{Decision, NewContent, Options, Outcome, edit},
    manifest::Record,
    run::Run,
    run_id::RunId,
};
use crate::{
    error::{Error, Refusal, Result},
    model::Kind,
    os::{self, Extended, Folder},
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
    store.refuse_other_profiles(&record.path)?;
    if !options.any_file {
        refuse_other_files(store, id, record, &options)?;
    }
    let Some(saved) = &record.saved else {
        return edit(&record.path, &options, run, |_| Ok(Decision::Delete));
    };
    let bytes = store.read_saved(id, saved, &options.limits)?;
    let content = NewContent { bytes, traits: saved.traits, extended: saved.extended.clone() };
    edit(&record.path, &options, run, |_| Ok(Decision::Write(content.clone())))
}

/// Refuses a record that does not name a jump list: a manifest can come from anywhere. What may be written is a file with
/// the name of a jump list, if it is one or its folder is one of jump lists, by name or by what is in it; and in the place
/// of a jump list that is there now, whatever its name, another one.
fn refuse_other_files(store: &Store, id: &RunId, record: &Record, options: &Options) -> Result<()> {
    let is_named = |path: &Path| Kind::of_path(path).is_some_and(Kind::is_list);
    let named = is_named(&record.path);
    let parent = record.path.parent();
    let of_lists = parent.and_then(Path::file_name).is_some_and(|name| {
        let name = name.to_string_lossy();
        name.eq_ignore_ascii_case("AutomaticDestinations") || name.eq_ignore_ascii_case("CustomDestinations")
    });
    let holds_lists = || {
        let entries = parent.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        entries.take(10_000).any(|entry| is_named(&entry.path()))
    };
    if named && (of_lists || holds_lists()) {
        return Ok(());
    }
    let is_list = |data: &[u8]| Kind::of_content(data).is_some_and(Kind::is_list);
    let saved = match &record.saved {
        Some(saved) => is_list(&store.read_saved(id, saved, &options.limits)?),
        // There was nothing: the file goes again.
        None => true,
    };
    let is_now = || os::read_whole(&record.path, &options.limits).is_ok_and(|content| is_list(&content));
    if saved && (named || is_now()) { Ok(()) } else { Err(Error::refused(&record.path, Refusal::NotAListName)) }
}

/// Writes the content of `record` under `dir`, in a folder of the same name as the one it was in, and
/// says where. Nothing is overwritten: if the name is taken there, the folder gets a number, so that the
/// file keeps the name which says whose list it is. `None` if there was no file, and nothing to write.
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
        temp.write(&bytes).and_then(|()| temp.finish(None, &saved.traits, &Extended::default())).map_err(failed)?;
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
