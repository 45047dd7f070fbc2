//! A folder of files and a backup store, for the tests of the store as a library.

#![allow(dead_code, unreachable_pub, reason = "every test takes in the whole of it and uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::new_without_default, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use jlfix::error::Error;
use jlfix::store::{Decision, Manifest, OnBusy, Options, Outcome, Record, Run, RunId, Store, change, restore};

/// The name of Explorer's list.
pub const NAME: &str = "f01b4d95cf55d32a.automaticDestinations-ms";

/// A folder of files and a store beside it.
pub struct Place {
    pub dir: tempfile::TempDir,
    pub store: Store,
}

impl Place {
    /// An empty one.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store")).unwrap();
        fs::create_dir(dir.path().join("files")).unwrap();
        Self { dir, store }
    }

    pub fn files(&self) -> PathBuf {
        self.dir.path().join("files")
    }

    pub fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.files().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub fn run(&self, command: &str) -> Run {
        self.store.begin(command, OnBusy::Fail).unwrap()
    }

    /// Changes one file in a run of its own.
    pub fn change(&self, path: &Path, to: &[u8]) -> Manifest {
        let mut run = self.run("prune");
        change(path, &Options::default(), Some(&mut run), |_| Ok(Decision::Write(to.to_vec().into()))).unwrap();
        self.store.load(&run.finish().unwrap().unwrap()).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        names(&self.files())
    }

    pub fn runs(&self) -> Vec<String> {
        names(self.store.root()).into_iter().filter(|name| name.parse::<RunId>().is_ok()).collect()
    }

    pub fn undo(&self, manifest: &Manifest) -> Vec<Outcome> {
        let mut run = self.run("restore");
        let undone = manifest.files.iter().rev().map(|record| self.restore(manifest, record, &mut run).unwrap());
        let undone = undone.collect();
        run.finish().unwrap();
        undone
    }

    pub fn restore(&self, manifest: &Manifest, record: &Record, run: &mut Run) -> Result<Outcome, Error> {
        restore(&self.store, &manifest.id, record, &Options::default().any_file(true), Some(run))
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub fn write(to: &[u8]) -> impl FnMut(&[u8]) -> Result<Decision, Error> {
    move |_| Ok(Decision::Write(to.to_vec().into()))
}
