//! The history of files in the store: which changes are not undone yet, and which can be done again.
//!
//! History is kept per file; a run groups files. It is not written down anywhere: it follows from the runs, in the order in
//! which they were made. A change is put on the stack of each of its files, an undo takes it off and keeps it for a redo, a
//! redo puts it back, and a new change ends redo. Runs that saved files and changed none are no part of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::manifest::{After, Manifest, Record, RunKind};
use super::run::sha256;
use super::run_id::RunId;
use super::{ListedRun, Store};
use crate::error::Result;
use crate::limits::Limits;
use crate::os;

/// What can be undone or done again in one go: one run, or some of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The change that is undone or done again.
    pub change: RunId,
    /// The run whose saved files are written: the change for an undo, the undo for a redo.
    pub source: RunId,
    /// What the new run is in the history.
    pub kind: RunKind,
    /// The records of `source` to restore, in the order in which they were saved.
    pub records: Vec<Record>,
    /// The command of the change, and whether it was killed.
    pub command: String,
    /// True if the change was killed before its end.
    pub killed: bool,
    /// Files that are not as the last run left them: another program changed them since.
    pub foreign: Vec<PathBuf>,
}

/// A change that was undone, and the undo that saved what it had made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Undone {
    change: RunId,
    undo: RunId,
}

/// The history of a file.
#[derive(Debug, Default)]
struct FileHistory {
    undo: Vec<RunId>,
    redo: Vec<Undone>,
    /// What the last run left.
    last: Option<After>,
}

/// The history of all files in a store.
#[derive(Debug, Default)]
pub struct History {
    files: BTreeMap<PathBuf, FileHistory>,
    manifests: HashMap<RunId, Manifest>,
    /// Runs that were killed before they changed any file.
    pub killed_early: Vec<RunId>,
    /// Runs that cannot be read, with the reason.
    pub unreadable: Vec<(RunId, String)>,
}

impl History {
    /// Reads the history of a store. Files of killed runs are looked at, to see which of them were changed.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if the store is there and cannot be read.
    pub fn read(store: &Store, limits: &Limits) -> Result<Self> {
        let mut history = Self::default();
        let mut runs = store.list()?;
        runs.reverse();
        let known: HashSet<RunId> = runs.iter().map(|run| run.id.clone()).collect();
        // A file that an undo restored was changed by the run that it undid, also if that was killed.
        let mut undone: HashSet<(RunId, PathBuf)> = HashSet::new();
        for manifest in runs.iter().filter_map(|run| run.manifest.as_ref().ok()) {
            if let (RunKind::Undo(of), true) = (&manifest.kind, manifest.is_finished()) {
                undone.extend(manifest.files.iter().map(|record| (of.clone(), record.path.clone())));
            }
        }
        for ListedRun { id, manifest } in runs {
            match manifest {
                Ok(mut manifest) => {
                    if !manifest.is_finished() {
                        let key = |record: &Record| (id.clone(), record.path.clone());
                        manifest.files.retain(|record| undone.contains(&key(record)) || was_replaced(record, limits));
                    }
                    history.add(id, manifest, &known);
                }
                Err(error) => history.unreadable.push((id, error.to_string())),
            }
        }
        Ok(history)
    }

    /// Adds a run; of one that was killed, `manifest` has the files that it changed.
    fn add(&mut self, id: RunId, mut manifest: Manifest, known: &HashSet<RunId>) {
        if manifest.kind == RunKind::Backup {
            return;
        }
        if !manifest.is_finished() {
            if manifest.files.is_empty() {
                self.killed_early.push(id);
                return;
            }
            // Of an undo that was killed, only what it did counts: it is a change like others.
            manifest.kind = RunKind::Change;
        }
        for record in &manifest.files {
            let file = self.files.entry(record.path.clone()).or_default();
            file.last.clone_from(&record.after);
            match &manifest.kind {
                RunKind::Undo(of) if file.undo.last() == Some(of) => {
                    file.undo.pop();
                    file.redo.push(Undone { change: of.clone(), undo: id.clone() });
                }
                RunKind::Redo(of) if file.redo.last().is_some_and(|undone| undone.undo == *of) => {
                    file.undo.extend(file.redo.pop().map(|undone| undone.change));
                }
                // The change was dropped from the store.
                RunKind::Undo(of) | RunKind::Redo(of) if !known.contains(of) => {}
                _ => {
                    file.undo.push(id.clone());
                    file.redo.clear();
                }
            }
        }
        self.manifests.insert(id, manifest);
    }

    /// The newest run with a change that is not undone, with those of its files that `wanted` names.
    pub fn to_undo(&self, wanted: impl Fn(&Path) -> bool, limits: &Limits) -> Option<Action> {
        let tops = || {
            self.files
                .iter()
                .filter(|(path, _)| wanted(path))
                .filter_map(|(path, file)| Some((path, file.undo.last()?)))
        };
        let newest = tops().map(|(_, run)| run).max()?.clone();
        let paths: HashSet<&PathBuf> = tops().filter(|(_, run)| **run == newest).map(|(path, _)| path).collect();
        self.action(newest.clone(), newest.clone(), RunKind::Undo(newest), &paths, limits)
    }

    /// The last undo that can be taken back, with those of its files that `wanted` names.
    pub fn to_redo(&self, wanted: impl Fn(&Path) -> bool, limits: &Limits) -> Option<Action> {
        let tops = || {
            self.files
                .iter()
                .filter(|(path, _)| wanted(path))
                .filter_map(|(path, file)| Some((path, file.redo.last()?)))
        };
        let newest = tops().map(|(_, undone)| undone).max_by_key(|undone| &undone.undo)?.clone();
        let paths: HashSet<&PathBuf> =
            tops().filter(|(_, undone)| undone.undo == newest.undo).map(|(path, _)| path).collect();
        self.action(newest.change, newest.undo.clone(), RunKind::Redo(newest.undo), &paths, limits)
    }

    fn action(
        &self,
        change: RunId,
        source: RunId,
        kind: RunKind,
        paths: &HashSet<&PathBuf>,
        limits: &Limits,
    ) -> Option<Action> {
        let records: Vec<Record> =
            self.manifests.get(&source)?.files.iter().filter(|record| paths.contains(&record.path)).cloned().collect();
        let is_foreign = |path: &PathBuf| {
            let last = self.files.get(path).and_then(|file| file.last.as_ref());
            last.is_some_and(|last| state(path, limits).is_some_and(|now| now != *last))
        };
        let foreign = records.iter().map(|record| &record.path).filter(|path| is_foreign(path)).cloned().collect();
        let of = self.manifests.get(&change);
        Some(Action {
            command: of.map(|manifest| manifest.command.clone()).unwrap_or_default(),
            killed: of.is_some_and(|manifest| !manifest.is_finished()),
            change,
            source,
            kind,
            records,
            foreign,
        })
    }
}

/// What is at a path now; `None` if that cannot be read.
fn state(path: &Path, limits: &Limits) -> Option<After> {
    match os::read_whole(path, limits) {
        Ok(content) => Some(After::File(sha256(&content))),
        Err(crate::error::Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Some(After::Absent)
        }
        Err(_) => None,
    }
}

/// True if the file of a killed run is not as the run saved it.
fn was_replaced(record: &Record, limits: &Limits) -> bool {
    let before = record.saved.as_ref().map_or(After::Absent, |saved| After::File(saved.sha256.clone()));
    state(&record.path, limits).is_none_or(|now| now != before)
}
