//! Backups, and the one way in which a user's file is changed. Nothing else in the library writes.
//!
//! The promise: whatever kills the process at whatever moment, a file is the old one or the new one,
//! whole, and a copy of the old one that was read back and compared is in the store before anything
//! happens to it. [`edit`] keeps it for a file, [`Run`] for the store.
//!
//! A store is a folder; each [`Run`] that saved something is a folder in it, with the saved files and
//! `manifest.json`. While a run lasts, and after it was killed, `journal.jsonl` replaces the manifest.
//!
//! ```
//! use jlfix::store::{Decision, OnBusy, Options, Store, change};
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("f01b4d95cf55d32a.automaticDestinations-ms");
//! # std::fs::copy("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms", &path)?;
//! let store = Store::open(dir.path().join("backups"))?;
//! let mut run = store.begin("my program", OnBusy::Fail)?;
//! change(&path, &Options::default(), Some(&mut run), |content| {
//!     Ok(if content.is_empty() { Decision::Leave } else { Decision::Delete })
//! })?;
//! run.finish()?;
//! assert!(!path.exists());
//! assert_eq!(store.latest()?.expect("a run").files.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod change;
mod history;
mod manifest;
mod restore;
mod run;
mod run_id;

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use jiff::{SignedDuration, Timestamp};

pub use apply::{Applied, NewFile};
pub use change::{Decision, NewContent, Options, Outcome, backup, change, create, delete, edit};
pub use history::{Action, History};
pub use manifest::{After, Manifest, Record, RunKind, Saved};
pub use restore::{restore, restore_to};
pub use run::{OnBusy, Run};
pub use run_id::RunId;

use crate::{
    error::{Error, Refusal, Result},
    limits::Limits,
    os::{self, Folder, Profile},
};

const DROPPED: &str = ".jlfix-drop-";

/// Where backups are kept. Only [`Store::begin`] makes the folder.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    /// Accept a store that others own or can write to.
    trusted: bool,
    /// The user whose store it is, if another than the one who runs this program.
    user: Option<Profile>,
}

/// A run in the store.
#[derive(Debug)]
pub struct ListedRun {
    /// Its id.
    pub id: RunId,
    /// What it did; unfinished if it was killed; an error if what it left cannot be believed.
    pub manifest: Result<Manifest>,
}

/// What came of checking a run's files.
#[derive(Debug)]
pub struct Verified {
    /// How many are what was saved.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// What is wrong with the others.
    pub problems: Vec<Error>,
}

impl Store {
    /// Where the store is unless the caller says otherwise: `JLFIX_BACKUP_DIR`, then on Windows
    /// `%LOCALAPPDATA%\jlfix\backups`, elsewhere `$XDG_DATA_HOME/jlfix/backups` or
    /// `~/.local/share/jlfix/backups`. `env` looks a variable up.
    ///
    /// # Errors
    /// [`Error::Caller`] if none of them is set.
    pub fn default_root(env: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
        let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(root) = set("JLFIX_BACKUP_DIR") {
            return Ok(root);
        }
        // A relative XDG_DATA_HOME is to be ignored, says its specification.
        let absolute = |name| set(name).filter(|path| path.is_absolute());
        let data = if cfg!(windows) {
            absolute("LOCALAPPDATA")
        } else {
            absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local").join("share")))
        };
        data.map(|data| below(&data)).ok_or_else(|| Error::Caller {
            what: "backup folder",
            need: "JLFIX_BACKUP_DIR, or a home".to_owned(),
            have: "neither".to_owned(),
        })
    }

    /// The current user's store, at [`Store::default_root`].
    ///
    /// # Errors
    /// [`Error::Caller`] if the environment does not say where it is.
    pub fn of_user() -> Result<Self> {
        Self::open(Self::default_root(|name| std::env::var_os(name))?)
    }

    /// The store in `root`, which need not exist yet.
    ///
    /// # Errors
    /// [`Error::Io`] if `root` is relative and there is no current folder.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        let root = std::path::absolute(root).map_err(|e| Error::io(root, "find the backup store", e))?;
        Ok(Self { root, trusted: false, user: None })
    }

    /// The store of another user, where it is unless that user chose another place: `AppData\\Local\\jlfix\\backups` below
    /// the folder of the profile. The user may own it and write to it; only files in the profile are restored from it.
    pub fn of_profile(user: Profile) -> Self {
        let root = below(&user.folder.join("AppData").join("Local"));
        Self { root, trusted: false, user: Some(user) }
    }

    /// Accepts a store, once, that somebody else owns or can write to.
    #[must_use]
    pub fn trusting(self, trusted: bool) -> Self {
        Self { trusted, ..self }
    }

    /// Refuses what somebody else owns or can write to: whoever can write there chooses what is restored.
    fn refuse_untrusted(&self, path: &Path) -> Result<()> {
        let user = self.user.as_ref().map(|user| user.sid.as_str());
        match os::untrusted(path, user).filter(|_| !self.trusted) {
            Some(why) => Err(Error::refused(path, Refusal::Untrusted(why))),
            None => Ok(()),
        }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Refuses a file that is not in the profile of the user whose store it is.
    fn refuse_other_profiles(&self, path: &Path) -> Result<()> {
        match &self.user {
            Some(user) if !path.ancestors().any(|folder| os::is_same_path(folder, &user.folder)) => {
                Err(Error::refused(path, Refusal::OtherProfile(user.folder.clone())))
            }
            _ => Ok(()),
        }
    }

    /// Begins a run. One run at a time: `on_busy` says what to do while another has the store. What
    /// killed runs left half-written is removed; what they saved stays.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::InUse`]; [`Error::Refused`] if others own the store or can write to it.
    pub fn begin(&self, command: &str, on_busy: OnBusy<'_>) -> Result<Run> {
        os::make_private_folder(&self.root).map_err(|e| Error::io(&self.root, "make the backup store", e))?;
        let root = Folder::open(&self.root)?;
        // What is saved where others can write could not be restored.
        self.refuse_untrusted(&self.root)?;
        let lock = run::lock(&root, on_busy)?;
        self.clean(&root);
        let now = Timestamp::now();
        let newest = ids(&root).map_err(|e| self.failed("list", e))?.into_iter().next_back();
        let after = newest.and_then(|id| id.moment()?.checked_add(SignedDuration::from_millis(1)).ok());
        // Should the clock have been set back: the run that is made last still is the latest.
        let moment = after.map_or(now, |after| after.max(now));
        let random = os::random();
        let id = RunId::new(moment, random).or_else(|| RunId::new(now, random));
        let id =
            id.ok_or_else(|| self.failed("name a run by the clock in", io::Error::other("the year is past 9999")))?;
        Ok(Run::begin(root, lock, command, id, now))
    }

    /// With the lock held, nobody else's run is alive. What cannot be cleaned now can be later.
    fn clean(&self, root: &Folder) {
        for name in root.names().unwrap_or_default() {
            if name
                .to_str()
                .is_some_and(|name| name.strip_prefix(DROPPED).is_some_and(|id| id.parse::<RunId>().is_ok()))
            {
                let _ = remove_run(root, &name);
            }
        }
        for id in ids(root).unwrap_or_default() {
            let Ok(folder) = root.folder(OsStr::new(id.as_str())) else { continue };
            if !matches!(folder.open_plain(OsStr::new(manifest::MANIFEST)), Ok(None)) {
                continue;
            }
            let _ = folder.clean_leftovers();
            let Ok(left) = load(&folder, &id) else { continue };
            if left.files.is_empty() {
                // A copy that a begun journal does not name was the last thing to be made: nothing had happened to its
                // file yet.
                if left.is_begun() {
                    let _ = remove_unnamed(&folder);
                }
                run::remove_empty(root, &id);
            }
        }
    }

    fn failed(&self, doing: &'static str, e: io::Error) -> Error {
        Error::io(&self.root, doing, e)
    }

    /// The runs, newest first.
    ///
    /// # Errors
    /// [`Error::Io`] if the store is there and cannot be read. A run that cannot be read is in the list as such.
    pub fn list(&self) -> Result<Vec<ListedRun>> {
        let Some(root) = self.existing()? else { return Ok(Vec::new()) };
        self.refuse_untrusted(&self.root)?;
        let ids = ids(&root).map_err(|e| self.failed("list the backup store", e))?;
        let listed = ids.into_iter().rev().map(|id| {
            let manifest = self.run_folder(&root, &id).and_then(|folder| self.load_from(&folder, &id));
            ListedRun { id, manifest }
        });
        Ok(listed.collect())
    }

    /// The newest run that was finished; `None` if there is none.
    ///
    /// # Errors
    /// As [`Self::load`]: a newest run that cannot be read is not passed over for an older one.
    pub fn latest(&self) -> Result<Option<Manifest>> {
        for listed in self.list()? {
            match listed.manifest {
                Ok(manifest) if !manifest.is_finished() => {}
                newest => return newest.map(Some),
            }
        }
        Ok(None)
    }

    /// What a run did, held against what this program would have written.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such run or it cannot be read, [`Error::Limit`], [`Error::File`].
    pub fn load(&self, id: &RunId) -> Result<Manifest> {
        self.load_from(&self.folder_of(id)?, id)
    }

    fn load_from(&self, folder: &Folder, id: &RunId) -> Result<Manifest> {
        self.refuse_untrusted(folder.path())?;
        for name in [manifest::MANIFEST, manifest::JOURNAL] {
            self.refuse_untrusted(&folder.path().join(name))?;
        }
        load(folder, id)
    }

    /// Reads every file of a run back, and holds it against the manifest.
    ///
    /// # Errors
    /// As [`Self::load`]; what is wrong with single files is in the result.
    pub fn verify(&self, id: &RunId, limits: &Limits) -> Result<Verified> {
        let folder = self.folder_of(id)?;
        let mut verified = Verified { files: 0, bytes: 0, problems: Vec::new() };
        for saved in load(&folder, id)?.files.iter().filter_map(|file| file.saved.as_ref()) {
            match read_saved(&folder, saved, limits) {
                Ok(content) => {
                    verified.files = verified.files.saturating_add(1);
                    verified.bytes = verified.bytes.saturating_add(content.len() as u64);
                }
                Err(problem) => verified.problems.push(problem),
            }
        }
        Ok(verified)
    }

    /// The content that a run saved, compared with its checksum.
    ///
    /// # Errors
    /// [`Error::Verification`] if it was altered, [`Error::Limit`], [`Error::Io`].
    pub fn read_saved(&self, id: &RunId, saved: &Saved, limits: &Limits) -> Result<Vec<u8>> {
        let folder = self.folder_of(id)?;
        self.refuse_untrusted(folder.path())?;
        self.refuse_untrusted(&folder.path().join(&saved.stored))?;
        read_saved(&folder, saved, limits)
    }

    /// Removes a run that was killed before it changed anything. `run` holds the lock of the store.
    ///
    /// # Errors
    /// As [`Self::drop_run`].
    pub fn discard(&self, _run: &Run, id: &RunId) -> Result<()> {
        let root = self.folder_of(id).and_then(|_| Folder::open(&self.root))?;
        self.drop_locked(&root, id)
    }

    /// Drops a run and all it saved.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::InUse`]; [`Error::Refused`] if there is something in its folder that no run puts there.
    pub fn drop_run(&self, id: &RunId, on_busy: OnBusy<'_>) -> Result<()> {
        let root = self.folder_of(id).and_then(|_| Folder::open(&self.root))?;
        let _lock = run::lock(&root, on_busy)?;
        self.drop_locked(&root, id)
    }

    /// Drops all runs that are older than the `keep` newest finished ones, and says which.
    ///
    /// # Errors
    /// As [`Self::drop_run`], at the first that cannot be dropped; [`Error::Io`] before any is dropped, if one to keep
    /// cannot be read. One that can be, and cannot be believed, stays and does not count.
    pub fn drop_keep_last(&self, keep: usize, on_busy: OnBusy<'_>) -> Result<Vec<RunId>> {
        let Some(root) = self.existing()? else { return Ok(Vec::new()) };
        let _lock = run::lock(&root, on_busy)?;
        let mut kept = 0;
        let mut dropped = Vec::new();
        for listed in self.list()? {
            if kept < keep {
                match listed.manifest {
                    Ok(manifest) => kept = kept.saturating_add(usize::from(manifest.is_finished())),
                    Err(e @ Error::Io { .. }) => return Err(e),
                    Err(_) => {}
                }
                continue;
            }
            self.drop_locked(&root, &listed.id)?;
            dropped.push(listed.id);
        }
        Ok(dropped)
    }

    /// The folder gets another name first: a run that is half dropped is none.
    fn drop_locked(&self, root: &Folder, id: &RunId) -> Result<()> {
        let folder = self.run_folder(root, id)?;
        let failed = |e| self.failed("drop a run of the backup store", e);
        for name in folder.names().map_err(failed)? {
            if folder.has_folder(&name).map_err(failed)? {
                return Err(Error::refused(&folder.path().join(name), Refusal::NotAFile("folder")));
            }
        }
        drop(folder);
        let aside = OsString::from(format!("{DROPPED}{id}"));
        root.rename(OsStr::new(id.as_str()), &aside).map_err(failed)?;
        root.sync().and_then(|()| remove_run(root, &aside)).map_err(failed)
    }

    fn existing(&self) -> Result<Option<Folder>> {
        match Folder::open(&self.root) {
            Ok(root) => Ok(Some(root)),
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn folder_of(&self, id: &RunId) -> Result<Folder> {
        match self.existing()? {
            Some(root) => {
                self.refuse_untrusted(&self.root)?;
                self.run_folder(&root, id)
            }
            None => Err(self.no_such_run(id, io::ErrorKind::NotFound.into())),
        }
    }

    fn run_folder(&self, root: &Folder, id: &RunId) -> Result<Folder> {
        root.folder(OsStr::new(id.as_str())).map_err(|e| self.no_such_run(id, e))
    }

    fn no_such_run(&self, id: &RunId, e: io::Error) -> Error {
        Error::io(&self.root.join(id.as_str()), "open the backup run", e)
    }
}

/// Where the store is below a user's data folder.
fn below(data: &Path) -> PathBuf {
    data.join("jlfix").join("backups")
}

/// The runs of a store, oldest first.
fn ids(root: &Folder) -> io::Result<Vec<RunId>> {
    let mut ids = Vec::new();
    for name in root.names()? {
        if let Some(id) = name.to_str().and_then(|name| name.parse().ok())
            // One that cannot be looked at stays in the list, as one that cannot be read.
            && root.has_folder(&name).unwrap_or(true)
        {
            ids.push(id);
        }
    }
    ids.sort_unstable();
    Ok(ids)
}

fn load(folder: &Folder, id: &RunId) -> Result<Manifest> {
    for (name, is_manifest) in [(manifest::MANIFEST, true), (manifest::JOURNAL, false)] {
        let path = folder.path().join(name);
        let Some(mut file) = folder.open_plain(OsStr::new(name))? else { continue };
        let failed = |e| Error::io(&path, "read it", e);
        let (limit, have) = (manifest::MANIFEST_LIMIT, file.metadata().map_err(failed)?.len());
        if have > limit {
            return Err(Error::Limit { path, what: "list of a backup run", limit, have });
        }
        let text = os::read_up_to(&mut file, have).map_err(failed)?;
        return if is_manifest { Manifest::parse(id, &text, &path) } else { Manifest::parse_journal(id, &text, &path) };
    }
    Ok(Manifest::nothing(id))
}

fn read_saved(folder: &Folder, saved: &Saved, limits: &Limits) -> Result<Vec<u8>> {
    if saved.size > limits.file_size {
        let path = folder.path().join(&saved.stored);
        return Err(Error::Limit { path, what: "size of the backup", limit: limits.file_size, have: saved.size });
    }
    run::read_stored(folder, saved)
}

/// Removes copies from a run whose journal names none; whatever else is in the folder keeps all of it.
fn remove_unnamed(folder: &Folder) -> io::Result<()> {
    let mut names = folder.names()?;
    names.retain(|name| name != manifest::JOURNAL);
    if names.iter().all(|name| name.to_str().is_some_and(manifest::is_stored_name)) {
        names.iter().try_for_each(|name| folder.remove(name))?;
    }
    Ok(())
}

fn remove_run(root: &Folder, name: &OsStr) -> io::Result<()> {
    let folder = root.folder(name)?;
    for file in folder.names()? {
        folder.remove(&file)?;
    }
    drop(folder);
    root.remove_folder(name)
}
