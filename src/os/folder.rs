//! A folder that was opened once, a file in it that is held while it is changed, and the temporary file
//! that takes its place.
//!
//! The order of these calls keeps a file intact whatever happens, so they are in one place for
//! all systems; only the calls themselves differ.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, Metadata},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Seek, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::{Extended, Identity, Look, Traits, read_up_to, sys};
use crate::{
    error::{Error, Refusal, Result},
    limits::Limits,
};

/// A folder that was opened once, links in its path followed then and never again.
#[derive(Debug)]
pub struct Folder {
    dir: sys::Dir,
}

/// A file that no other run of this program changes meanwhile: there is a lock. Others do not ask for
/// it; on Windows the handle keeps them from writing as well.
#[derive(Debug)]
pub struct Held<'f> {
    folder: &'f Folder,
    name: OsString,
    file: Option<File>,
    look: Look,
    _lock: Option<sys::Guard>,
}

/// What came of reading a held file.
#[derive(Debug)]
pub enum ReadBack {
    /// All of it.
    Whole(Vec<u8>),
    /// It was written to meanwhile: read again.
    Changing,
}

/// A temporary file of ours, locked as long as it lives, gone when it is dropped.
#[derive(Debug)]
pub struct Temp<'f> {
    folder: &'f Folder,
    name: OsString,
    file: Option<File>,
    lock: Option<sys::Guard>,
}

/// How long a file that another process has is waited for.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(4);
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

impl Folder {
    /// Opens the folder at `path`, following links on the way.
    pub fn open(path: &Path) -> Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let dir = sys::Dir::open(path, true).map_err(|e| Error::io(path, "open the folder", e))?;
        Ok(Self { dir })
    }

    /// Opens the folder that `path` lies in, and says the name of `path` in it. `path` itself need not exist.
    pub fn of(path: &Path) -> Result<(Self, OsString)> {
        let Some(name) = path.file_name() else {
            return Err(Error::Caller {
                what: "path",
                need: "one that ends in a file name".to_owned(),
                have: path.display().to_string(),
            });
        };
        sys::check_name(name).map_err(|reason| Error::refused(path, reason))?;
        let parent = path.parent().unwrap_or(Path::new(""));
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let dir = sys::Dir::open(parent, true).map_err(|e| Error::io(path, "open its folder", e))?;
        Ok((Self { dir }, name.to_owned()))
    }

    /// Opens a folder in this one; a link in its place is an error.
    pub fn folder(&self, name: &OsStr) -> io::Result<Self> {
        self.dir.open_folder(name).map(|dir| Self { dir })
    }

    /// Makes a folder in this one that only its owner may look into.
    pub fn make_folder(&self, name: &OsStr) -> io::Result<Self> {
        self.dir.make_folder(name)?;
        self.folder(name)
    }

    /// Where the folder is: absolute, without any link in it.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Makes what was done in the folder so far outlive a power failure, where the file system can.
    pub fn sync(&self) -> io::Result<()> {
        self.dir.sync()
    }

    /// The names in the folder, in no order.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        self.dir.names()
    }

    /// True if the name is one of a folder; a link to one is none.
    ///
    /// # Errors
    /// The system's error, if it cannot be determined.
    pub fn has_folder(&self, name: &OsStr) -> io::Result<bool> {
        match self.dir.is_folder(name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            told => told,
        }
    }

    /// Opens a plain file for reading; `None` if there is nothing of that name.
    ///
    /// # Errors
    /// [`Error::Refused`] for anything that is not a plain file, [`Error::Io`] from the system.
    pub fn open_plain(&self, name: &OsStr) -> Result<Option<File>> {
        Ok(self.look_at(name, sys::Dir::open_shared)?.map(|(file, _)| file))
    }

    /// Makes a file and opens it for reading and writing.
    pub(crate) fn create_new(&self, name: &OsStr) -> io::Result<File> {
        self.dir.create_new(name)
    }

    /// Opens a file for reading and writing, and makes it if it is not there.
    pub(crate) fn open_or_create(&self, name: &OsStr) -> io::Result<File> {
        self.dir.open_or_create(name)
    }

    /// Removes a file; a link is removed, not followed.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.dir.remove(name)
    }

    /// Removes an empty folder in this one.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.dir.remove_folder(name)
    }

    /// Renames something within the folder; what is there of the new name is replaced if it is a file.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.dir.rename(from, to)
    }

    fn look_at(
        &self,
        name: &OsStr,
        open: impl Fn(&sys::Dir, &OsStr) -> io::Result<File>,
    ) -> Result<Option<(File, Look)>> {
        self.look_at_linked(name, open, false)
    }

    /// As [`Self::look_at`]; `links` accepts a file with several names.
    fn look_at_linked(
        &self,
        name: &OsStr,
        open: impl Fn(&sys::Dir, &OsStr) -> io::Result<File>,
        links: bool,
    ) -> Result<Option<(File, Look)>> {
        let path = self.path().join(name);
        let opened = self.dir.refusal(name).and_then(|refusal| match refusal {
            Some(reason) => Ok(Err(reason)),
            None => open(&self.dir, name).map(Ok),
        });
        let file = match opened {
            Ok(Ok(file)) => file,
            Ok(Err(reason)) => return Err(Error::refused(&path, reason)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(&path, "open it", e)),
        };
        let look = sys::look(&file).map_err(|e| Error::io(&path, "look at it", e))?;
        match look.refusal.clone() {
            Some(Refusal::HardLinks(_)) if links => Ok(Some((file, look))),
            Some(reason) => Err(Error::refused(&path, reason)),
            None => Ok(Some((file, look))),
        }
    }

    /// Holds the plain file `name` of this folder; `None` if there is nothing of that name. Waits a while
    /// if another process has it.
    ///
    /// # Errors
    /// [`Error::Refused`], [`Error::InUse`], or [`Error::Io`].
    pub fn hold(&self, name: &OsStr) -> Result<Option<Held<'_>>> {
        let path = self.path().join(name);
        wait_for(&path, || {
            // Another run of this program may give it a second name for a moment: whether it has one is asked with the
            // lock.
            let looked = self.look_at_linked(name, sys::Dir::open_file, true)?;
            let Some((file, look)) = looked else { return Ok(Attempt::Absent) };
            let lock = match sys::lock(&file).map_err(|e| Error::io(&path, "lock it", e))? {
                Lock::Busy => return Ok(Attempt::Busy),
                Lock::Got(lock) => Some(lock),
                Lock::Unsupported => None,
            };
            // Whoever had it may have replaced it while it was waited for.
            let Some((_, now)) = self.look_at(name, sys::Dir::open_file)? else { return Ok(Attempt::Absent) };
            if !now.identity.is_same_file(&look.identity) {
                return Ok(Attempt::Busy);
            }
            let name = sys::own_name(&file, name).map_err(|reason| Error::refused(&path, reason))?;
            Ok(Attempt::Done(Held { folder: self, name, file: Some(file), look: now, _lock: lock }))
        })
    }

    /// Makes a temporary file in this folder. Its name (`.jlfix-<process>-<16 hex>.tmp`) is one that
    /// nothing else uses, so that a later run recognizes what a killed one left.
    pub fn temp(&self) -> io::Result<Temp<'_>> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..16 {
            let name = OsString::from(format!(".jlfix-{}-{:016x}.tmp", std::process::id(), random()));
            let file = match self.dir.create_new(&name) {
                Ok(file) => file,
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    last = e;
                    continue;
                }
                Err(e) => return Err(e),
            };
            let mut temp = Temp { folder: self, name, file: Some(file), lock: None };
            // Between the making and the locking a run that cleans up may have taken it for a dead one's.
            temp.lock = match sys::lock_temp(temp.file()?, &temp.name)? {
                Lock::Busy => continue,
                Lock::Got(lock) => Some(lock),
                Lock::Unsupported => None,
            };
            if sys::look(temp.file()?)?.links == 1 {
                return Ok(temp);
            }
        }
        Err(last)
    }

    /// Removes the temporary files that killed runs left in this folder, and says their names. One that
    /// is in use stays.
    ///
    /// Call it once a folder, before the files in it are changed.
    pub fn clean_leftovers(&self) -> io::Result<Vec<OsString>> {
        let mut removed = Vec::new();
        for name in self.names()? {
            if is_leftover_name(&name) && self.clean_leftover(&name)? {
                removed.push(name);
            }
        }
        if !removed.is_empty() {
            self.sync()?;
        }
        Ok(removed)
    }

    fn clean_leftover(&self, name: &OsStr) -> io::Result<bool> {
        // A second link to it is what a kill between linking and unlinking leaves.
        let look_at = || {
            let is_plain = matches!(self.dir.refusal(name), Ok(None));
            let file = is_plain.then(|| self.dir.open_file(name).ok()).flatten()?;
            let look = sys::look(&file).ok()?;
            matches!(look.refusal, None | Some(Refusal::HardLinks(_))).then_some((file, look))
        };
        // What cannot be opened, is no plain file or is locked is not a dead run's.
        let Some((file, look)) = look_at() else { return Ok(false) };
        let Ok(Lock::Got(_lock)) = sys::lock_temp(&file, name) else { return Ok(false) };
        if !look_at().is_some_and(|(_, now)| now.identity.is_same_file(&look.identity)) {
            return Ok(false);
        }
        let _file = sys::release(file);
        match self.dir.remove(name) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }
}

/// What came of putting one file in the place of another.
pub(super) enum Replaced {
    Done,
    /// The old file was changed meanwhile, and is in its place again.
    Changed,
    /// As `Changed`, but it could not be put in its place again: it has this name.
    Stuck(OsString, io::Error),
}

/// What came of asking for a lock without waiting.
pub(super) enum Lock {
    Got(sys::Guard),
    Busy,
    /// The file system has none.
    Unsupported,
}

enum Attempt<T> {
    Done(T),
    Absent,
    Busy,
}

/// Opens a file for looking at it, links followed, as soon as the process that keeps it to itself lets go.
pub(super) fn open_waiting(path: &Path) -> Result<(File, Metadata)> {
    let attempt = || sys::open_read(path).map(Attempt::Done).map_err(|e| Error::io(path, "open it", e));
    wait_for(path, attempt)?.ok_or_else(|| Error::io(path, "open it", io::ErrorKind::NotFound.into()))
}

/// Attempts it until nobody is in the way, or time is up.
fn wait_for<T>(path: &Path, mut attempt: impl FnMut() -> Result<Attempt<T>>) -> Result<Option<T>> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt() {
            Ok(Attempt::Done(done)) => return Ok(Some(done)),
            Ok(Attempt::Absent) => return Ok(None),
            Ok(Attempt::Busy) => {}
            Err(Error::Io { source, .. }) if sys::is_in_use(&source) => {}
            Err(e) => return Err(e),
        }
        if started.elapsed() >= LONGEST_WAIT {
            let waited_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            return Err(Error::InUse { path: path.to_owned(), waited_ms });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

impl<'f> Held<'f> {
    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// What it was when it was opened.
    pub fn identity(&self) -> Identity {
        self.look.identity
    }

    /// Its times, mode and attributes when it was opened.
    pub fn traits(&self) -> Traits {
        self.look.traits
    }

    /// Its extended attributes, owner and access list. What the system does not show is left out.
    pub fn extended(&self) -> Extended {
        match &self.file {
            Some(file) => sys::extended(file),
            None => self.folder.dir.open_shared(&self.name).map(|file| sys::extended(&file)).unwrap_or_default(),
        }
    }

    fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or_else(|| io::Error::other("the file is not open"))
    }

    /// Reads all of it with one call.
    ///
    /// # Errors
    /// [`Error::Limit`] if it is larger than `limits` allow, [`Error::Io`].
    pub fn read(&mut self, limits: &Limits) -> Result<ReadBack> {
        let path = self.path();
        let size = self.look.identity.size;
        if size > limits.file_size {
            return Err(Error::Limit { path, what: "file size", limit: limits.file_size, have: size });
        }
        let read = self.read_again(size).map_err(|e| Error::io(&path, "read it", e))?;
        Ok(read.map_or(ReadBack::Changing, ReadBack::Whole))
    }

    /// The content, if the file is and stays as it was looked at.
    fn read_again(&mut self, size: u64) -> io::Result<Option<Vec<u8>>> {
        let identity = self.look.identity;
        let file = self.file()?;
        file.rewind()?;
        let data = read_up_to(file, size)?;
        let unchanged = data.len() as u64 == size && sys::look(file)?.identity == identity;
        Ok(unchanged.then_some(data))
    }

    /// Lets writers in where holding the file would keep them out (Windows), until [`Self::take_up`].
    pub fn let_go(&mut self) {
        if sys::HOLDING_KEEPS_WRITERS_OUT {
            self.file = None;
        }
    }

    /// Holds the file again after [`Self::let_go`]; false if it is not the one that was read.
    ///
    /// # Errors
    /// As [`Folder::hold`].
    pub fn take_up(&mut self) -> Result<bool> {
        if self.file.is_some() {
            return Ok(true);
        }
        let found = wait_for(&self.path(), || {
            let found = self.folder.look_at(&self.name, sys::Dir::open_to_replace)?;
            Ok(found.map_or(Attempt::Absent, Attempt::Done))
        });
        let Some((file, look)) = found? else { return Ok(false) };
        self.file = Some(file);
        Ok(look.identity == self.look.identity)
    }

    /// True if the file is still the one that was read, under its name, and holds `content`. It is held
    /// from then on.
    ///
    /// # Errors
    /// As [`Folder::hold`].
    pub fn is_still(&mut self, content: &[u8]) -> Result<bool> {
        let path = self.path();
        if !self.take_up()? {
            return Ok(false);
        }
        let Some((_, now)) = self.folder.look_at(&self.name, sys::Dir::open_file)? else { return Ok(false) };
        if now.identity != self.look.identity {
            return Ok(false);
        }
        let size = self.look.identity.size;
        let read = self.read_again(size).map_err(|e| Error::io(&path, "read it again", e))?;
        Ok(read.is_some_and(|now| now == content))
    }

    /// Deletes the file.
    pub fn remove(self) -> io::Result<()> {
        self.folder.dir.remove_held(self.file, &self.name)
    }
}

impl Temp<'_> {
    fn file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(|| io::Error::other("the temporary file is not open"))
    }

    /// Writes all of the content.
    pub fn write(&self, content: &[u8]) -> io::Result<()> {
        let mut file = self.file()?;
        file.write_all(content)?;
        // What takes long is done before the other file is held.
        if sys::HOLDING_KEEPS_WRITERS_OUT { file.sync_data() } else { Ok(()) }
    }

    /// Takes over from `like` what belongs to a file beside its content, as far as the system lets us, and
    /// sets `traits` and `extended`. Then all of it is made to outlive a power failure.
    pub fn finish(&self, like: Option<&Held<'_>>, traits: &Traits, extended: &Extended) -> io::Result<()> {
        let file = self.file()?;
        if let Some(held) = like {
            let source = held.file.as_ref().ok_or_else(|| io::Error::other("the file is not open"))?;
            self.folder.dir.take_over((source, &held.name), (file, &self.name))?;
        }
        sys::set_extended(file, extended)?;
        sys::set_traits(file, traits)?;
        file.sync_all()
    }

    /// Puts the file in the place of `held`, whose content is `before`: at every moment that name is the old file or the
    /// new one. False if another program changed the file until the last moment; then it is as that program left it.
    ///
    /// Linux, macOS: the two files change names in one step, and the old one is compared once more before it goes. Linux
    /// also says whether a program still has it open for writing. Where the system does not say that (macOS, network file
    /// systems, files of others), what such a program writes after the comparison is lost.
    pub fn replace(mut self, held: Held<'_>, before: &[u8]) -> io::Result<bool> {
        let file = self.file.take().ok_or_else(|| io::Error::other("the temporary file is not open"))?;
        let folder = held.folder;
        let identity = held.look.identity;
        let is_as_before = |name: &OsStr| -> io::Result<bool> {
            let mut old = folder.dir.open_file(name)?;
            let now = sys::look(&old)?.identity;
            Ok(now == identity && read_up_to(&mut old, now.size)? == before)
        };
        let done = folder.dir.replace(file, &self.name, held.file, &held.name, &is_as_before);
        match done {
            Ok(Replaced::Done) => {
                self.name.clear();
                Ok(true)
            }
            Ok(Replaced::Changed) => Ok(false),
            Ok(Replaced::Stuck(name, e)) => {
                let why = format!("{e}; what another program wrote meanwhile is in {}", name.to_string_lossy());
                if name == self.name {
                    // It is not ours any more.
                    self.name.clear();
                }
                Err(io::Error::new(e.kind(), why))
            }
            Err(e) => Err(e),
        }
    }

    /// Gives the file its name, if nothing has that name; otherwise the error is `AlreadyExists`.
    pub fn create(mut self, name: &OsStr) -> io::Result<()> {
        self.file = self.file.take().and_then(sys::release);
        self.folder.dir.rename_new(&self.name, name)?;
        self.name.clear();
        Ok(())
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            self.file = self.file.take().and_then(sys::release);
            // An error has no taker here; the next run removes what is left.
            let _ = self.folder.dir.remove(&self.name);
        }
    }
}

/// 64 bits that nobody foresees: the standard library's seed for its hash tables.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The process of a temporary file's name, if it is one.
pub(crate) fn leftover_process(name: &OsStr) -> Option<u32> {
    let (process, random) = name.to_str()?.strip_prefix(".jlfix-")?.strip_suffix(".tmp")?.split_once('-')?;
    let is_random = random.len() == 16 && random.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = !process.is_empty() && process.bytes().all(|b| b.is_ascii_digit());
    (is_random && is_number).then(|| process.parse().ok()).flatten()
}

fn is_leftover_name(name: &OsStr) -> bool {
    leftover_process(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_shape_of_our_temporary_names_counts_as_a_leftover() {
        assert_eq!(leftover_process(OsStr::new(".jlfix-77-0123456789abcdef.tmp")), Some(77));
        for other in [
            ".jlfix-77.tmp",
            ".jlfix--0123456789abcdef.tmp",
            ".jlfix-7-0123456789ABCDEF.tmp",
            "a.jlfix-7-0123456789abcdef.tmp",
            ".jlfix-+7-0123456789abcdef.tmp",
        ] {
            assert_eq!(leftover_process(OsStr::new(other)), None, "{other}");
        }
    }
}
