//! What every command needs to know, from the options of them all.

use std::path::PathBuf;

use jlfix::appid::AppNames;
use jlfix::limits::Limits;
use jlfix::model::ReadOptions;
use jlfix::report::ReportOptions;

use super::options::Global;
use super::{Stop, output};

/// What every command needs to know.
pub(crate) struct Context {
    /// How files are read.
    pub(crate) read: ReadOptions,
    /// Names of applications.
    pub(crate) names: AppNames,
    /// No notes, no progress.
    pub(crate) quiet: bool,
    /// Every file, entry and finding is shown.
    pub(crate) verbose: bool,
    /// Where the user wants backups kept.
    pub(crate) backup_dir: Option<PathBuf>,
    pub(crate) trust_store: bool,
}

impl Context {
    /// The context of these options.
    ///
    /// # Errors
    /// [`Stop::Usage`] if the file of `--app-ids` cannot be read.
    pub(crate) fn new(global: &Global, verbose: bool) -> Result<Self, Stop> {
        let limits = Limits::default().file_size(global.max_size.saturating_mul(1 << 20));
        let mut names = AppNames::default();
        if let Some(path) = &global.app_ids {
            let text = std::fs::read(path)
                .map_err(|error| Stop::Usage(format!("--app-ids {}: cannot read it: {error}", path.display())))?;
            for bad in names.add_list(&text) {
                output::note(&format!("{}: {bad}", path.display()));
            }
        }
        let read = ReadOptions::default().limits(limits).code_page(global.code_page);
        if global.quiet {
            output::be_quiet();
        }
        Ok(Self {
            read,
            names,
            quiet: global.quiet,
            verbose,
            backup_dir: global.backup_dir.clone(),
            trust_store: global.trust_store,
        })
    }

    /// What is told of a file where a command asks for no more: no entries, and nothing that is deleted.
    pub(crate) fn report(&self) -> ReportOptions<'_> {
        ReportOptions::new(&self.names).code_page(self.read.code_page)
    }

    /// Tells a note, unless notes are not wanted.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet {
            output::note(message);
        }
    }
}
