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
        FILE_SHARE_READ, FILE_SHARE_WRITE, WRITE_DAC,
    },
};

use super::{
    folder::LONGEST_WAIT,
    windows::{
        SHARE_ALL, access_list, copy_streams, create_private, final_path, is_code, is_in_use, move_file, refusal,
        set_access_list, set_attributes, set_attributes_of,
    },
    windows_path::{simplified, verbatim},
};
use crate::error::Refusal;

/// A refusal may pass (a scanner that looks into the new file) or be meant.
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
        let attributes = handle.metadata()?.file_attributes();
        if attributes & FILE_ATTRIBUTE_DIRECTORY == 0 || (!follow && attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0) {
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

    /// Whoever would be in the way of a rename is so now, and can be told as that.
    pub(super) fn open_to_replace(&self, name: &OsStr) -> io::Result<File> {
        self.open_for(name, GENERIC_READ | DELETE, FILE_SHARE_READ | FILE_SHARE_DELETE)
    }

    pub(super) fn open_shared(&self, name: &OsStr) -> io::Result<File> {
        self.open_for(name, GENERIC_READ, SHARE_ALL)
    }

    fn open_for(&self, name: &OsStr, access: u32, share: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.access_mode(access).share_mode(share).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
        options.open(self.at(name))
    }

    /// Nobody else can write to it, nor delete it, as long as it is open.
    pub(super) fn create_new(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).access_mode(GENERIC_READ | GENERIC_WRITE | WRITE_DAC);
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
        if let Some(wanted) = access_list(source)?
            && access_list(temp)?.as_ref() != Some(&wanted)
        {
            set_access_list(temp, &wanted)?;
        }
        copy_streams(&self.at(from), &self.at(to))?;
        if let Ok(created) = theirs.created() {
            temp.set_times(FileTimes::new().set_created(created))?;
        }
        set_attributes_of(temp, theirs.file_attributes())
    }

    /// One rename. The temporary file has to be closed for it, and the read-only attribute to go meanwhile.
    pub(super) fn replace(&self, temp: File, from: &OsStr, held: Option<File>, to: &OsStr) -> io::Result<()> {
        drop(temp);
        let (source, target) = (self.at(from), self.at(to));
        let attributes = fs::symlink_metadata(&target)?.file_attributes();
        if attributes & FILE_ATTRIBUTE_READONLY != 0 {
            set_attributes(&target, attributes & !FILE_ATTRIBUTE_READONLY)?;
        }
        let mut held = held;
        let mut waiting = Waiting::new();
        loop {
            match fs::rename(&source, &target) {
                Ok(()) => return Ok(()),
                // Before Windows 10, and on FAT, a file that is open cannot be replaced, and for that
                // moment nothing keeps a writer out.
                Err(e) if is_code(&e, ERROR_ACCESS_DENIED) && held.take().is_some() => {}
                // It could be opened for deleting, so this too says that somebody has it open.
                Err(e) if waiting.once_more(&in_use_if_denied(&e)) => {}
                Err(e) => {
                    if attributes & FILE_ATTRIBUTE_READONLY != 0 {
                        let _ = set_attributes(&target, attributes);
                    }
                    return Err(in_use_if_denied(&e));
                }
            }
        }
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
