//! A run: the lock that lets one run at a time change files, and the folder where it saves them first.
//!
//! Each file is saved, flushed, read back and compared, and then written down in the journal, before
//! anything happens to it. So a run that is killed leaves a folder from which everything it changed can
//! be brought back; a run that ends turns its journal into the manifest.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs::{File, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::manifest::{self, After, JOURNAL, Line, MANIFEST, MANIFEST_LIMIT, Manifest, Record, RunKind, Saved};
use super::run_id::RunId;
use crate::{
    error::{Error, Result},
    format::text::hex,
    os::{Extended, Folder, Traits},
};

/// What to do when another run has the store.
#[non_exhaustive]
pub enum OnBusy<'a> {
    /// Give up at once, with [`Error::InUse`].
    Fail,
    /// Wait as long as it takes. The function is called once, when it has taken 200 ms.
    Wait(&'a mut dyn FnMut()),
}

const POLL: Duration = Duration::from_millis(25);
const TOLD_AFTER: Duration = Duration::from_millis(200);

/// Takes the store's lock; it is given back when the file is dropped, or the process ends in whatever way.
pub(super) fn lock(root: &Folder, on_busy: OnBusy<'_>) -> Result<File> {
    let failed = |e| Error::io(root.path(), "lock the backup store", e);
    let file = root.open_or_create(OsStr::new("lock")).map_err(failed)?;
    let started = Instant::now();
    let mut tell = match on_busy {
        OnBusy::Wait(told) => Some(told),
        OnBusy::Fail => None,
    };
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
        let Some(tell) = tell.as_mut() else {
            return Err(Error::InUse { path: root.path().to_owned(), waited_ms: 0 });
        };
        if !told && started.elapsed() >= TOLD_AFTER {
            told = true;
            tell();
        }
        thread::sleep(POLL);
    }
}

/// Content, traits and the rest of a file that is saved.
type Original<'a> = (&'a [u8], &'a Traits, &'a Extended);

/// A run in progress. Dropped without [`Run::finish`] it stays in the store as incomplete.
#[derive(Debug)]
pub struct Run {
    root: Folder,
    open: Option<Open>,
    manifest: Manifest,
    /// Where in `places` each path is.
    known: HashMap<PathBuf, usize>,
    /// The saved files by their place in the journal; `None` if forgotten.
    places: Vec<Option<Record>>,
    /// Folders in which it has changed something, or tried to.
    folders: HashSet<PathBuf>,
    _lock: File,
}

/// The folder and the journal, made when the first file is saved.
#[derive(Debug)]
struct Open {
    folder: Folder,
    journal: File,
    /// How many names have been used.
    stored: usize,
    /// Bytes of whole lines.
    written: u64,
    /// A line could neither be written nor taken back.
    broken: bool,
}

impl Run {
    pub(super) fn begin(root: Folder, lock: File, command: &str, id: RunId, now: Timestamp) -> Self {
        let manifest = Manifest::begun(id, command, now);
        let (known, places, folders) = (HashMap::new(), Vec::new(), HashSet::new());
        Self { root, open: None, manifest, known, places, folders, _lock: lock }
    }

    /// The id the run will have, if it saves anything.
    pub fn id(&self) -> &RunId {
        &self.manifest.id
    }

    /// How many files it has saved so far.
    pub fn saved_count(&self) -> usize {
        self.known.len()
    }

    /// The folder of the store.
    pub fn store_root(&self) -> &Path {
        self.root.path()
    }

    /// True the first time that it is asked about this folder.
    pub(super) fn is_first_in(&mut self, folder: &Path) -> bool {
        self.folders.insert(folder.to_owned())
    }

    /// Saves what is at `path` (absolute, without links; [`super::backup`] and [`super::edit`] see to
    /// that). When this comes back, a copy that was read back and compared is on disk, and the journal
    /// says so.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Verification`] if the copy is not the original, [`Error::Caller`] if the
    /// run has saved that file before. The run can go on after any of them.
    pub fn save(
        &mut self,
        path: &Path,
        content: &[u8],
        traits: &Traits,
        extended: &Extended,
        after: Option<After>,
    ) -> Result<()> {
        self.add(path, Some((content, traits, extended)), after)
    }

    /// Remembers that there is nothing at `path`, so that undoing the run removes what it makes there.
    ///
    /// # Errors
    /// As [`Self::save`].
    pub fn save_absent(&mut self, path: &Path, after: Option<After>) -> Result<()> {
        self.add(path, None, after)
    }

    /// Says what the run is in the history of its files, before it saves the first of them.
    pub fn set_kind(&mut self, kind: RunKind) {
        if self.open.is_none() {
            self.manifest.kind = kind;
        }
    }

    fn add(&mut self, path: &Path, content: Option<Original<'_>>, after: Option<After>) -> Result<()> {
        if self.known.contains_key(path) {
            let have = format!("{} twice", path.display());
            return Err(Error::Caller { what: "files of one run", need: "each once".to_owned(), have });
        }
        // What could not be read again must not be saved: it would be no backup.
        if !manifest::is_recordable(path) {
            let (need, have) = ("an absolute path of a file".to_owned(), format!("{:?}", path.display().to_string()));
            return Err(Error::Caller { what: "path to save", need, have });
        }
        let place = self.places.len();
        let open = self.opened(path)?;
        let saved = match content {
            None => None,
            Some(original) => Some(open.store(path, original)?),
        };
        let record = Record { path: path.to_owned(), saved, after };
        if let Err(e) = open.append(&Line::File((&record).into())) {
            open.remove_stored(&record);
            return Err(open.failed("write the backup's journal", e));
        }
        self.known.insert(path.to_owned(), place);
        self.places.push(Some(record));
        Ok(())
    }

    /// Takes back a save, because the file was not changed after all.
    pub(super) fn forget(&mut self, path: &Path) {
        let Some(place) = self.known.remove(path) else { return };
        let Some(record) = self.places.get_mut(place).and_then(Option::take) else { return };
        // Should the journal not take it, the copy stays as well, and the two still fit together.
        if let Some(open) = &mut self.open
            && open.append(&Line::Forget(place)).is_ok()
        {
            open.remove_stored(&record);
        }
    }

    fn opened(&mut self, path: &Path) -> Result<&mut Open> {
        if self.open.is_none() {
            let root = &self.root;
            let failed = |e| Error::io(path, "make a folder for its backup in the store", e);
            let name = OsStr::new(self.manifest.id.as_str());
            let made = match root.make_folder(name) {
                // What an earlier save that failed could not remove.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    remove_empty(root, &self.manifest.id);
                    root.make_folder(name)
                }
                made => made,
            };
            let folder = made.map_err(failed)?;
            let begun = root.sync().and_then(|()| folder.create_new(OsStr::new(JOURNAL))).and_then(|journal| {
                let mut open = Open { folder, journal, stored: 0, written: 0, broken: false };
                open.append(&Line::Run(self.manifest.header()))?;
                open.folder.sync()?;
                Ok(open)
            });
            if begun.is_err() {
                remove_empty(root, &self.manifest.id);
            }
            self.open = Some(begun.map_err(failed)?);
        }
        self.open.as_mut().ok_or_else(|| Error::io(path, "open its backup run", io::ErrorKind::NotFound.into()))
    }

    /// Ends the run: the manifest is written, in one step. `None` if nothing was saved; then no folder stays.
    ///
    /// # Errors
    /// [`Error::Io`]; the run stays in the store as incomplete, with everything it saved.
    pub fn finish(mut self) -> Result<Option<RunId>> {
        if self.known.is_empty() {
            return Ok(None);
        }
        let Some(Open { folder, journal, .. }) = self.open.take() else { return Ok(None) };
        self.manifest.files = self.places.iter().flatten().cloned().collect();
        let failed = |e| Error::io(folder.path(), "write the backup's manifest", e);
        let json = self.manifest.to_json(Timestamp::now()).map_err(|e| failed(e.into()))?;
        let temp = folder.temp().map_err(failed)?;
        temp.write(&json).and_then(|()| temp.finish(None, &Traits::default(), &Extended::default())).map_err(failed)?;
        temp.create(OsStr::new(MANIFEST)).map_err(failed)?;
        folder.sync().map_err(failed)?;
        // The manifest says all that it says; a journal that stays does no harm.
        drop(journal);
        let _ = folder.remove(OsStr::new(JOURNAL));
        Ok(Some(self.manifest.id.clone()))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.known.is_empty() {
            self.open = None;
            remove_empty(&self.root, &self.manifest.id);
        }
    }
}

/// Removes the folder of a run that saved nothing: the journal, if no file is beside it, and the folder.
pub(super) fn remove_empty(root: &Folder, id: &RunId) {
    let name = OsStr::new(id.as_str());
    let Ok(folder) = root.folder(name) else { return };
    let only_journal = folder.names().is_ok_and(|names| names.iter().all(|name| name == JOURNAL));
    if only_journal {
        // Whatever stays is an incomplete run without files.
        let _ = folder.remove(OsStr::new(JOURNAL));
        drop(folder);
        let _ = root.remove_folder(name);
    }
}

impl Open {
    fn failed(&self, doing: &'static str, e: io::Error) -> Error {
        Error::io(self.folder.path(), doing, e)
    }

    fn store(&mut self, path: &Path, (content, traits, extended): Original<'_>) -> Result<Saved> {
        let failed = |e| Error::io(path, "save it in the backup store", e);
        self.stored = self.stored.saturating_add(1);
        let stored = manifest::stored_name(self.stored, path);
        let name = OsStr::new(&stored);
        let temp = self.folder.temp().map_err(failed)?;
        temp.write(content)
            .and_then(|()| temp.finish(None, &Traits::default(), &Extended::default()))
            .map_err(failed)?;
        temp.create(name).map_err(failed)?;
        let saved = Saved {
            stored: stored.clone(),
            size: content.len() as u64,
            sha256: sha256(content),
            traits: *traits,
            extended: extended.clone(),
        };
        let compared = self.folder.sync().map_err(failed).and_then(|()| read_stored(&self.folder, &saved));
        if let Err(e) = compared {
            let _ = self.folder.remove(name);
            return Err(e);
        }
        Ok(saved)
    }

    fn remove_stored(&self, record: &Record) {
        if let Some(saved) = &record.saved {
            // It is in no list; that it takes room is all.
            let _ = self.folder.remove(OsStr::new(&saved.stored));
        }
    }

    /// Appends a line and flushes it, or leaves the journal as it was.
    fn append(&mut self, line: &Line) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("its last line could not be written"));
        }
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let after = self.written.saturating_add(text.len() as u64);
        // The manifest of the same files is larger, by its indentation.
        if after > MANIFEST_LIMIT / 2 {
            return Err(io::Error::other("too many files for one run"));
        }
        let done = self.journal.write_all(&text).and_then(|()| self.journal.sync_data());
        match done {
            Ok(()) => self.written = after,
            Err(_) => self.broken = self.take_back().is_err(),
        }
        done
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.journal.set_len(self.written)?;
        self.journal.seek(SeekFrom::Start(self.written))?;
        self.journal.sync_data()
    }
}

/// Reads a stored file back, and holds it against what the manifest says of it.
///
/// # Errors
/// [`Error::Verification`] if it is gone or is not what was saved.
pub(super) fn read_stored(folder: &Folder, saved: &Saved) -> Result<Vec<u8>> {
    let path = folder.path().join(&saved.stored);
    let differs = |need: String, have: String| Error::Verification {
        path: path.clone(),
        what: "the backup is not what was saved".to_owned(),
        need,
        have,
    };
    let Some(mut file) = folder.open_plain(OsStr::new(&saved.stored))? else {
        return Err(differs(format!("{} bytes", saved.size), "no file".to_owned()));
    };
    let failed = |e| Error::io(&path, "read the backup", e);
    let size = file.metadata().map_err(failed)?.len();
    if size != saved.size {
        return Err(differs(format!("{} bytes", saved.size), size.to_string()));
    }
    let content = crate::os::read_up_to(&mut file, size).map_err(failed)?;
    let have = sha256(&content);
    if have != saved.sha256 {
        return Err(differs(format!("SHA-256 {}", saved.sha256), have));
    }
    Ok(content)
}

pub(super) fn sha256(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}
