//! A folder on Windows, and what is done to the files in it; the calls that need `unsafe` are in
//! [`super::windows`].

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, FileTimes, OpenOptions},
    io,
    os::windows::fs::{FileTimesExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use windows_sys::Win32::{
    Foundation::{ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, GENERIC_READ, GENERIC_WRITE},
    Storage::FileSystem::{
        DELETE, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_ENCRYPTED, FILE_ATTRIBUTE_READONLY,
        FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_SHARE_DELETE,
        FILE_SHARE_READ, FILE_SHARE_WRITE,
    },
};

use super::{
    folder::{LONGEST_WAIT, Lock, Replaced},
    windows::{
        SHARE_ALL, copy_streams, final_path, is_code, is_in_use, lock_name, look, move_file, refusal, set_attributes,
        set_attributes_of,
    },
    windows_path::{simplified, verbatim},
    windows_security::{create_private, take_over_access_list},
};
use crate::error::Refusal;

/// A refusal may be temporary (a scanner that reads the new file) or permanent.
const DENIED_WAIT: Duration = Duration::from_millis(250);

/// A folder: the handle that keeps it where it is, and where that is.
#[derive(Debug)]
pub(super) struct Dir {
    /// Shares no deleting, which renaming counts as.
    _handle: File,
    /// For calls.
    full: PathBuf,
    /// For people and records: without `\\?\` where that makes no difference.
    shown: PathBuf,
}

impl Dir {
    pub(super) fn open(path: &Path, follow: bool) -> io::Result<Self> {
        let nofollow = if follow { 0 } else { FILE_FLAG_OPEN_REPARSE_POINT };
        let handle = OpenOptions::new()
            .access_mode(GENERIC_READ)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | nofollow)
            .open(path)?;
        let found = handle.metadata()?;
        if found.file_attributes() & FILE_ATTRIBUTE_DIRECTORY == 0 || (!follow && found.is_symlink()) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        // Some file systems of third parties cannot say it.
        let full = match final_path(&handle) {
            Ok(full) => full,
            Err(_) => verbatim(path)?,
        };
        let shown = simplified(&full);
        Ok(Self { _handle: handle, full, shown })
    }

    pub(super) fn path(&self) -> &Path {
        &self.shown
    }

    fn at(&self, name: &OsStr) -> PathBuf {
        self.full.join(name)
    }

    pub(super) fn open_folder(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.at(name), false)
    }

    pub(super) fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        create_private(&self.at(name))
    }

    pub(super) fn is_folder(&self, name: &OsStr) -> io::Result<bool> {
        fs::symlink_metadata(self.at(name)).map(|found| found.is_dir())
    }

    /// Asked before the file is opened, as a folder cannot be opened like a file.
    pub(super) fn refusal(&self, name: &OsStr) -> io::Result<Option<Refusal>> {
        let found = fs::symlink_metadata(self.at(name))?;
        Ok(refusal(found.file_attributes(), found.is_symlink()))
    }

    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        self.open_for(name, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE)
    }

    /// Whoever would be in the way of a rename is there now, and can be reported.
    pub(super) fn open_to_replace(&self, name: &OsStr) -> io::Result<File> {
        self.open_for(name, GENERIC_READ | DELETE, FILE_SHARE_READ | FILE_SHARE_DELETE)
    }

    pub(super) fn open_shared(&self, name: &OsStr) -> io::Result<File> {
        self.open_for(name, GENERIC_READ, SHARE_ALL)
    }

    fn open_for(&self, name: &OsStr, access: u32, share: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.access_mode(access).share_mode(share);
        let file = options.clone().custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(self.at(name))?;
        let found = file.metadata()?;
        if found.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT == 0 || found.is_symlink() {
            return Ok(file);
        }
        // A deduplicated, cloud or archived file: its content is read through the reparse point. It has to be the same.
        let content = options.open(self.at(name))?;
        if !look(&content)?.identity.is_same_file(&look(&file)?.identity) {
            return Err(io::Error::other("it was replaced while it was opened"));
        }
        Ok(content)
    }

    /// Nobody else can write to it, nor delete it, as long as it is open.
    pub(super) fn create_new(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).access_mode(GENERIC_READ | GENERIC_WRITE);
        options.share_mode(FILE_SHARE_READ).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(self.at(name))
    }

    pub(super) fn open_or_create(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).share_mode(SHARE_ALL);
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(self.at(name))
    }

    /// Gives `temp` the access list, attributes, creation time and alternate streams of `source`.
    pub(super) fn take_over(&self, (source, from): (&File, &OsStr), (temp, to): (&File, &OsStr)) -> io::Result<()> {
        let (theirs, ours) = (source.metadata()?, temp.metadata()?);
        let is_encrypted = |attributes: u32| attributes & FILE_ATTRIBUTE_ENCRYPTED != 0;
        if is_encrypted(theirs.file_attributes()) && !is_encrypted(ours.file_attributes()) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "it is encrypted and its folder is not"));
        }
        take_over_access_list(source, temp)?;
        copy_streams(&self.at(from), &self.at(to))?;
        if let Ok(created) = theirs.created() {
            temp.set_times(FileTimes::new().set_created(created))?;
        }
        set_attributes_of(temp, theirs.file_attributes())
    }

    /// One rename. The temporary file has to be closed for it, and the read-only attribute to go meanwhile.
    ///
    /// Before Windows 10, on FAT and on network shares, a file that is open cannot be replaced: the hold on it is given
    /// up, and for a moment nothing keeps a writer out. So it is compared before every further attempt; and a second
    /// name for the old file (a hard link), made before the rename, shows after it whether a writer came in between.
    pub(super) fn replace(
        &self,
        temp: File,
        from: &OsStr,
        held: Option<File>,
        to: &OsStr,
        is_as_before: &dyn Fn(&OsStr) -> io::Result<bool>,
    ) -> io::Result<Replaced> {
        drop(temp);
        let (source, target) = (self.at(from), self.at(to));
        let attributes = fs::symlink_metadata(&target)?.file_attributes();
        if attributes & FILE_ATTRIBUTE_READONLY != 0 {
            set_attributes(&target, attributes & !FILE_ATTRIBUTE_READONLY)?;
        }
        let done = replace_with(held, &mut |source, target| fs::rename(source, target), &source, &target, &|path| {
            is_as_before(path.file_name().unwrap_or_default())
        });
        if !matches!(done, Ok(Replaced::Done)) && attributes & FILE_ATTRIBUTE_READONLY != 0 {
            let _ = set_attributes(&target, attributes);
        }
        done
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.at(from), self.at(to))
    }

    pub(super) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (source, target) = (self.at(from), self.at(to));
        let mut waiting = Waiting::new();
        loop {
            match move_file(&source, &target) {
                Err(e) if waiting.once_more(&e) => {}
                done => return done,
            }
        }
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        let path = self.at(name);
        let mut waiting = Waiting::new();
        loop {
            match fs::remove_file(&path) {
                Err(e) if waiting.once_more(&e) => {}
                done => return done,
            }
        }
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.at(name))
    }

    pub(super) fn remove_held(&self, held: Option<File>, name: &OsStr) -> io::Result<()> {
        let path = self.at(name);
        let attributes = fs::symlink_metadata(&path)?.file_attributes();
        if attributes & FILE_ATTRIBUTE_READONLY != 0 {
            set_attributes(&path, attributes & !FILE_ATTRIBUTE_READONLY)?;
        }
        let done = self.remove(name);
        if done.is_err() && attributes & FILE_ATTRIBUTE_READONLY != 0 {
            let _ = set_attributes(&path, attributes);
        }
        drop(held);
        done
    }

    /// The file system logs the changes of names itself; a flush brings that forward, where it may.
    pub(super) fn sync(&self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.access_mode(GENERIC_WRITE).share_mode(SHARE_ALL).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
        if let Ok(folder) = options.open(&self.full) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.full)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    }
}

/// Renames `source` over `target`, as [`Dir::replace`] describes. `rename` is the system's call.
fn replace_with(
    held: Option<File>,
    rename: &mut dyn FnMut(&Path, &Path) -> io::Result<()>,
    source: &Path,
    target: &Path,
    is_as_before: &dyn Fn(&Path) -> io::Result<bool>,
) -> io::Result<Replaced> {
    match rename(source, target) {
        Ok(()) => return Ok(Replaced::Done),
        Err(e) if is_code(&e, ERROR_ACCESS_DENIED) || is_in_use(&e) => {}
        Err(e) => return Err(e),
    }
    // From here on a writer can open it.
    drop(held);
    let mut second = SecondName::of(source, target);
    let mut waiting = Waiting::new();
    loop {
        // Whoever has it open for writing cannot be looked past, and counts as in the way.
        let error = match is_as_before(target) {
            Ok(false) => return Ok(Replaced::Changed),
            Ok(true) => match rename(source, target) {
                Ok(()) => break,
                Err(e) => e,
            },
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Replaced::Changed),
            Err(e) => e,
        };
        // It could be opened for deleting, so a denial means that somebody has it open.
        if !waiting.once_more(&in_use_if_denied(&error)) {
            return Err(in_use_if_denied(&error));
        }
    }
    let Some(name) = &second.path else { return Ok(Replaced::Done) };
    // A writer that still has the old file open is waited for; one that cannot be waited for counts as a change.
    let mut waiting = Waiting::new();
    let unchanged = loop {
        match is_as_before(name) {
            Err(e) if waiting.once_more(&in_use_if_denied(&e)) => {}
            looked => break looked.unwrap_or(false),
        }
    };
    if unchanged {
        return Ok(Replaced::Done);
    }
    // What was overwritten is put in its place again.
    let mut waiting = Waiting::new();
    loop {
        match rename(name, target) {
            Ok(()) => {
                second.path = None;
                return Ok(Replaced::Changed);
            }
            Err(e) if waiting.once_more(&in_use_if_denied(&e)) => {}
            Err(e) => {
                let kept = second.path.take().unwrap_or_default();
                return Ok(Replaced::Stuck(kept.file_name().unwrap_or_default().to_owned(), e));
            }
        }
    }
}

/// A second name of a file, beside it, which goes when this is dropped. None where the file system has no hard links.
/// The lock says that it is not a leftover.
struct SecondName {
    path: Option<PathBuf>,
    _lock: Option<Lock>,
}

impl SecondName {
    /// The name is one that a later run knows for a leftover.
    fn of(source: &Path, target: &Path) -> Self {
        let name = format!(".jlfix-{}-{:016x}.tmp", std::process::id(), super::random());
        let lock = lock_name(name.as_ref()).ok().filter(|lock| !matches!(lock, Lock::Busy));
        let path = source.with_file_name(name);
        let made = lock.is_some() && fs::hard_link(target, &path).is_ok();
        Self { path: made.then_some(path), _lock: lock }
    }
}

impl Drop for SecondName {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // What cannot be removed now is removed by a later run.
            let _ = fs::remove_file(path);
        }
    }
}

fn in_use_if_denied(error: &io::Error) -> io::Error {
    let code = error.raw_os_error().unwrap_or_default();
    let denied = i32::try_from(ERROR_SHARING_VIOLATION).ok().filter(|_| is_code(error, ERROR_ACCESS_DENIED));
    io::Error::from_raw_os_error(denied.unwrap_or(code))
}

/// Tries again what another process is in the way of, with growing pauses.
struct Waiting {
    started: Instant,
    pause: Duration,
}

impl Waiting {
    fn new() -> Self {
        Self { started: Instant::now(), pause: Duration::from_millis(4) }
    }

    /// True, after a pause, if the error is one that may pass and there is time left.
    fn once_more(&mut self, error: &io::Error) -> bool {
        let limit = if is_in_use(error) {
            LONGEST_WAIT
        } else if is_code(error, ERROR_ACCESS_DENIED) {
            DENIED_WAIT
        } else {
            return false;
        };
        if self.started.elapsed() >= limit {
            return false;
        }
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(Duration::from_millis(64));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replaces `old` by `new` while the system's rename, which is denied as long as the file is held, is this one.
    fn replaced(rename: &mut dyn FnMut(usize, &Path, &Path) -> io::Result<()>) -> (io::Result<Replaced>, String) {
        let dir = tempfile::tempdir().unwrap();
        let (source, target) = (dir.path().join("new"), dir.path().join("old"));
        fs::write(&source, "new").unwrap();
        fs::write(&target, "old").unwrap();
        let held = File::open(&target).unwrap();
        let mut calls = 0;
        let mut rename = |from: &Path, to: &Path| {
            calls += 1;
            rename(calls, from, to)
        };
        let is_as_before = |path: &Path| Ok(fs::read(path)? == b"old");
        let done = replace_with(Some(held), &mut rename, &source, &target, &is_as_before);
        let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.iter().all(|name| name == "new" || name == "old"), "{names:?}");
        (done, fs::read_to_string(&target).unwrap())
    }

    fn denied() -> io::Result<()> {
        Err(io::Error::from_raw_os_error(5))
    }

    #[test]
    fn a_rename_that_is_denied_while_the_file_is_held_is_made_again_if_nobody_wrote_to_it() {
        let (done, content) = replaced(&mut |call, from, to| if call == 1 { denied() } else { fs::rename(from, to) });
        assert!(matches!(done, Ok(Replaced::Done)));
        assert_eq!(content, "new");
    }

    #[test]
    fn what_another_program_writes_between_two_attempts_is_not_overwritten() {
        let (done, content) = replaced(&mut |call, from, to| match call {
            1 => {
                fs::write(to, "theirs").unwrap();
                denied()
            }
            _ => fs::rename(from, to),
        });
        assert!(matches!(done, Ok(Replaced::Changed)));
        assert_eq!(content, "theirs");
    }

    #[test]
    fn what_another_program_writes_right_before_the_rename_is_put_in_its_place_again() {
        let (done, content) = replaced(&mut |call, from, to| match call {
            1 => denied(),
            2 => {
                fs::write(to, "theirs").unwrap();
                fs::rename(from, to)
            }
            _ => fs::rename(from, to),
        });
        assert!(matches!(done, Ok(Replaced::Changed)));
        assert_eq!(content, "theirs");
    }
}
