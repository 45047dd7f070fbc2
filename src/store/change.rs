//! How one file is changed: read, planned, saved, compared, replaced.
//!
//! The plan is the caller's: a function from the content to a [`Decision`], which parses, builds the
//! result and compares it with the plan before it reports success. This module does what surrounds it, so that no
//! other program's write is lost and no moment is one at which half a file could be seen.

use std::{
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use super::manifest::After;
use super::run::{Run, sha256};
use crate::{
    error::{Error, Refusal, Result},
    limits::Limits,
    os::{self, Extended, Folder, Held, ReadBack, Traits},
};

/// How files are changed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Options {
    /// The largest file that is read.
    pub limits: Limits,
    /// How many times a file that another program changed meanwhile is read and planned again. Default 3.
    pub retries: u32,
    /// Everything but the saving and the writing: says what would be done. Default false.
    pub dry_run: bool,
    /// Refuses a path with a link anywhere in it, as for a path that was recorded and not given. Default false.
    pub no_links: bool,
    /// Restores files that are no jump lists, too: for a store of the caller's own. Default false.
    pub any_file: bool,
}

impl Options {
    /// Sets [`limits`](Self#structfield.limits).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets [`retries`](Self#structfield.retries).
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets [`dry_run`](Self#structfield.dry_run).
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets [`no_links`](Self#structfield.no_links).
    #[must_use]
    pub fn no_links(mut self, no_links: bool) -> Self {
        self.no_links = no_links;
        self
    }

    /// Sets [`any_file`](Self#structfield.any_file).
    #[must_use]
    pub fn any_file(mut self, any_file: bool) -> Self {
        self.any_file = any_file;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { limits: Limits::default(), retries: 3, dry_run: false, no_links: false, any_file: false }
    }
}

/// What is to be done with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Nothing.
    Leave,
    /// What was read may be half written: read the file again. The caller limits how often.
    ReadAgain,
    /// This is its content from now on.
    Write(NewContent),
    /// It goes.
    Delete,
}

/// A new content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewContent {
    /// All of it.
    pub bytes: Vec<u8>,
    /// What is set with it; what is none here stays as the old file has it, or is the system's default. A
    /// file that is new and is given no mode is its owner's only.
    pub traits: Traits,
    /// As `traits`.
    pub extended: Extended,
}

impl From<Vec<u8>> for NewContent {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }
}

/// What was done with a file, or would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing; it is as it was, or is not there and was not.
    Unchanged,
    /// It has a new content.
    Written {
        /// Bytes before; `None` if there was no file.
        before: Option<u64>,
        /// Bytes after.
        after: u64,
    },
    /// It is gone.
    Deleted {
        /// Bytes before.
        before: u64,
    },
}

/// Changes the file at `path` as `plan` decides from its content. It has to be there.
///
/// With a `run`, the old content is saved first. Without one, nothing keeps it.
///
/// # Errors
/// Those of [`edit`], and [`Error::Io`] if there is no such file.
pub fn change(
    path: &Path,
    options: &Options,
    run: Option<&mut Run>,
    mut plan: impl FnMut(&[u8]) -> Result<Decision>,
) -> Result<Outcome> {
    edit(path, options, run, |content| match content {
        Some(content) => plan(content),
        None => Err(Error::io(path, "open it", io::ErrorKind::NotFound.into())),
    })
}

/// Deletes the file at `path` if `approve` does not object to its content.
///
/// # Errors
/// As [`change`].
pub fn delete(
    path: &Path,
    options: &Options,
    run: Option<&mut Run>,
    mut approve: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Outcome> {
    change(path, options, run, |content| approve(content).map(|()| Decision::Delete))
}

/// Makes a file where none is.
///
/// # Errors
/// As [`edit`]; [`Error::Refused`] if there is one.
pub fn create(path: &Path, content: &NewContent, options: &Options, run: Option<&mut Run>) -> Result<Outcome> {
    edit(path, options, run, |there| match there {
        None => Ok(Decision::Write(content.clone())),
        Some(_) => Err(Error::refused(path, Refusal::Exists)),
    })
}

/// Saves the file at `path` in `run`, and leaves it as it is. Says its size.
///
/// # Errors
/// As [`change`].
pub fn backup(path: &Path, options: &Options, run: &mut Run) -> Result<u64> {
    let target = Target::find(path, options, Some(run.store_root()))?;
    for _ in 0..=options.retries {
        let Some(mut held) = target.folder.hold(&target.name).map_err(|e| target.as_given(e))? else {
            return Err(Error::io(path, "open it", io::ErrorKind::NotFound.into()));
        };
        if let ReadBack::Whole(content) = held.read(&options.limits).map_err(|e| target.as_given(e))? {
            let (traits, extended) = (held.traits(), held.extended());
            held.let_go();
            run.save(&target.path(), &content, &traits, &extended, None).map_err(|e| target.as_given(e))?;
            return Ok(content.len() as u64);
        }
    }
    Err(target.changed(options))
}

/// Does with the file at `path` what `plan` decides from its content, which is none if nothing is there.
/// The plan is asked again, with the newer content, if another program changes the file before it is
/// replaced. What a killed run left in the folder is removed first.
///
/// # Errors
/// Whatever the plan says; [`Error::Refused`] for what is no plain file under one name;
/// [`Error::InUse`]; [`Error::Limit`]; [`Error::Changed`] if it was changed each time; [`Error::Io`]. The
/// file is as it was, but for one case, which the message names: its new content is in place and the
/// folder could not be flushed.
pub fn edit(
    path: &Path,
    options: &Options,
    mut run: Option<&mut Run>,
    mut plan: impl FnMut(Option<&[u8]>) -> Result<Decision>,
) -> Result<Outcome> {
    let target = Target::find(path, options, run.as_deref().map(Run::store_root))?;
    if !options.dry_run && run.as_deref_mut().is_none_or(|run| run.is_first_in(target.folder.path())) {
        // What cannot be removed now can be by a later run.
        let _ = target.folder.clean_leftovers();
    }
    let mut retry = 0;
    while retry <= options.retries {
        // A writer may need a moment to finish.
        thread::sleep(Duration::from_millis(20).saturating_mul(retry));
        match target.attempt(options, run.as_deref_mut(), &mut plan) {
            Ok(Attempt::Done(outcome)) => return Ok(outcome),
            Ok(Attempt::ReadAgain) => {}
            Ok(Attempt::Changed) => retry = retry.saturating_add(1),
            Err(e) => return Err(target.as_given(e)),
        }
    }
    Err(target.changed(options))
}

/// The file, by its folder and name. `given` is what the caller calls it, and what messages say.
struct Target<'p> {
    given: &'p Path,
    folder: Folder,
    name: std::ffi::OsString,
}

/// The result of one round.
enum Attempt {
    Done(Outcome),
    /// Another program changed the file meanwhile.
    Changed,
    /// The plan asked for it.
    ReadAgain,
}

const MAKE_BESIDE: &str = "make a temporary file beside it";
const WRITE_BESIDE: &str = "write its new content beside it";

/// Why a change was not made whole.
struct Failed {
    error: Box<Error>,
    /// The file is changed all the same.
    in_place: bool,
}

impl<'p> Target<'p> {
    fn find(given: &'p Path, options: &Options, store: Option<&Path>) -> Result<Self> {
        let (folder, name) = Folder::of(given)?;
        if store.is_some_and(|store| folder.path().starts_with(store)) {
            return Err(Error::refused(given, Refusal::InStore));
        }
        if options.no_links && !given.parent().is_some_and(|parent| os::is_same_path(parent, folder.path())) {
            return Err(Error::refused(given, Refusal::FolderMoved(folder.path().to_owned())));
        }
        Ok(Self { given, folder, name })
    }

    /// Where it is, without links.
    fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    fn io(&self, doing: &'static str) -> impl Fn(io::Error) -> Error {
        let given = self.given.to_owned();
        move |e| os::io_error(&given, doing, e)
    }

    /// People know the file by the name they gave.
    fn as_given(&self, error: Error) -> Error {
        if error.path() == Some(&self.path()) { error.named(self.given) } else { error }
    }

    fn changed(&self, options: &Options) -> Error {
        Error::Changed { path: self.given.to_owned(), times: options.retries.saturating_add(1) }
    }

    /// One round: read, plan, save, replace.
    fn attempt(
        &self,
        options: &Options,
        run: Option<&mut Run>,
        plan: &mut impl FnMut(Option<&[u8]>) -> Result<Decision>,
    ) -> Result<Attempt> {
        let mut held = self.folder.hold(&self.name)?;
        let before = match &mut held {
            None => None,
            Some(held) => match held.read(&options.limits)? {
                ReadBack::Whole(content) => {
                    held.let_go();
                    Some(content)
                }
                ReadBack::Changing => return Ok(Attempt::Changed),
            },
        };
        let decision = plan(before.as_deref())?;
        let before_len = before.as_ref().map(|content| content.len() as u64);
        let outcome = match (&decision, before_len) {
            (Decision::ReadAgain, _) => return Ok(Attempt::ReadAgain),
            (Decision::Leave, _) | (Decision::Delete, None) => Outcome::Unchanged,
            (Decision::Write(new), _) if before.as_ref() == Some(&new.bytes) => Outcome::Unchanged,
            (Decision::Write(new), before) => Outcome::Written { before, after: new.bytes.len() as u64 },
            (Decision::Delete, Some(before)) => Outcome::Deleted { before },
        };
        if outcome == Outcome::Unchanged || options.dry_run {
            return Ok(Attempt::Done(outcome));
        }
        let path = held.as_ref().map_or_else(|| self.path(), Held::path);
        let Some(run) = run else {
            let done = self.carry_out(held, before.as_deref(), &decision);
            let attempt = |done| if done { Attempt::Done(outcome) } else { Attempt::Changed };
            return done.map(attempt).map_err(|failed| *failed.error);
        };
        let after = match &decision {
            Decision::Write(new) => Some(After::File(sha256(&new.bytes))),
            Decision::Delete => Some(After::Absent),
            Decision::Leave | Decision::ReadAgain => None,
        };
        match (&before, &held) {
            (Some(content), Some(held)) => run.save(&path, content, &held.traits(), &held.extended(), after)?,
            _ => run.save_absent(&path, after)?,
        }
        match self.carry_out(held, before.as_deref(), &decision) {
            Ok(true) => Ok(Attempt::Done(outcome)),
            Ok(false) => {
                run.forget(&path);
                Ok(Attempt::Changed)
            }
            Err(failed) => {
                if !failed.in_place {
                    run.forget(&path);
                }
                Err(*failed.error)
            }
        }
    }

    /// The step that counts. False if the file is no longer the one that was planned for.
    fn carry_out(&self, held: Option<Held<'_>>, before: Option<&[u8]>, decision: &Decision) -> Result<bool, Failed> {
        let done = match (decision, held, before) {
            (Decision::Write(new), Some(held), Some(before)) => self.replace(held, before, new)?,
            (Decision::Write(new), _, _) => self.create(new)?,
            (Decision::Delete, Some(held), Some(before)) => self.remove(held, before)?,
            _ => return Ok(true),
        };
        if done {
            let doing = "flush its folder (the change is in place, and may not outlive a power failure)";
            self.folder.sync().map_err(|e| Failed { error: Box::new(self.io(doing)(e)), in_place: true })?;
        }
        Ok(done)
    }

    fn replace(&self, mut held: Held<'_>, before: &[u8], new: &NewContent) -> Result<bool, Error> {
        let temp = self.folder.temp().map_err(self.io(MAKE_BESIDE))?;
        temp.write(&new.bytes).map_err(self.io(WRITE_BESIDE))?;
        if !held.take_up()? {
            return Ok(false);
        }
        temp.finish(Some(&held), &new.traits, &new.extended).map_err(self.io(WRITE_BESIDE))?;
        if !held.is_still(before)? {
            return Ok(false);
        }
        temp.replace(held, before).map_err(self.io("replace it"))
    }

    fn create(&self, new: &NewContent) -> Result<bool, Error> {
        let temp = self.folder.temp().map_err(self.io(MAKE_BESIDE))?;
        let written = temp.write(&new.bytes).and_then(|()| temp.finish(None, &new.traits, &new.extended));
        written.map_err(self.io(WRITE_BESIDE))?;
        match temp.create(&self.name) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(self.io("give it its name")(e)),
        }
    }

    fn remove(&self, mut held: Held<'_>, before: &[u8]) -> Result<bool, Error> {
        if !held.is_still(before)? {
            return Ok(false);
        }
        held.remove().map_err(self.io("delete it"))?;
        Ok(true)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { error: Box::new(error), in_place: false }
    }
}
