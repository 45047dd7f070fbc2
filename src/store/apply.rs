//! Writes a plan to the file that it was made for.

use std::path::PathBuf;

use super::{Decision, OnBusy, Options, Outcome, RunId, Store, change};
use crate::error::{Error, Result};
use crate::jump_list::JumpList;
use crate::plan::{Plan, Repair};

/// The new content of a file, from a plan.
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'p>(Option<&'p [u8]>);

impl<'p> From<&'p Plan<'_>> for NewFile<'p> {
    fn from(plan: &'p Plan<'_>) -> Self {
        Self(plan.bytes.as_deref())
    }
}

impl<'p> From<&'p Repair> for NewFile<'p> {
    fn from(repair: &'p Repair) -> Self {
        Self(Some(&repair.bytes))
    }
}

/// What [`Store::apply`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// What became of the file.
    pub outcome: Outcome,
    /// The run that undoes it ([`restore`](super::restore()), or `jlfix restore ID`); `None` if nothing was changed.
    pub run: Option<RunId>,
}

impl Store {
    /// Writes `plan`, which was made for `list`, to the file that `list` was opened from. The original is saved in this
    /// store first, and the file is replaced in one step.
    ///
    /// Waits while another process changes files with this store.
    ///
    /// ```
    /// use jlfix::{JumpList, PruneRules, Store};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("9b9cdc69c1c24e2b.automaticDestinations-ms");
    /// # std::fs::copy("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms", &path)?;
    /// let store = Store::open(dir.path().join("backups"))?;
    /// let list = JumpList::open(&path)?;
    /// let plan = list.prune(&PruneRules::new().keep(5))?;
    /// let applied = store.apply(&list, &plan)?;
    /// assert!(applied.run.is_some());
    /// assert_eq!(JumpList::open(&path)?.entries().len(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Changed`] if the file is no longer the one that `list` was read from: read and plan again;
    /// [`Error::Caller`] if `list` was not opened from a path; else as [`edit`](super::edit).
    pub fn apply<'p>(&self, list: &JumpList, plan: impl Into<NewFile<'p>>) -> Result<Applied> {
        let path: PathBuf = list.path().map(ToOwned::to_owned).ok_or_else(|| Error::Caller {
            what: "list",
            need: "one that was opened from a path".to_owned(),
            have: "bytes".to_owned(),
        })?;
        let NewFile(Some(bytes)) = plan.into() else {
            return Ok(Applied { outcome: Outcome::Unchanged, run: None });
        };
        let mut run = self.begin(&caller(), OnBusy::Wait(&mut || {}))?;
        let mut options = Options::default();
        options.limits.file_size = options.limits.file_size.max(list.bytes().len() as u64);
        let outcome = change(&path, &options, Some(&mut run), |content| {
            if content == list.bytes() {
                Ok(Decision::Write(bytes.to_vec().into()))
            } else {
                Err(Error::Changed { path: path.clone(), times: 1 })
            }
        });
        let run = run.finish();
        Ok(Applied { outcome: outcome?, run: run? })
    }
}

/// The program that calls, as the command of the run.
fn caller() -> String {
    let program = std::env::current_exe().ok();
    let name = program.as_deref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
    format!("{} (library)", name.unwrap_or_else(|| "jlfix".to_owned()))
}
