//! Tests that cannot run here say so: a test that returns early would count as passed.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Records that the current test, or a part of it, is skipped. The line goes to the file that `JLFIX_SKIPS` names, where
/// `tests/skips/check.sh` finds it.
pub fn skip(why: impl Display) {
    println!("skipped: {why}");
    let Some(path) = std::env::var_os("JLFIX_SKIPS") else { return };
    let thread = std::thread::current();
    let line = format!("{}\t{why}\n", thread.name().unwrap_or("a test"));
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The folder of real files: `JLFIX_CORPUS`, or `../shared/corpus` beside the checkout. Without it the test is skipped.
pub fn corpus() -> Option<PathBuf> {
    beside("JLFIX_CORPUS", "corpus", "corpus")
}

/// A path that the variable names, or below `../shared` beside the checkout. Without it the test is skipped.
pub fn beside(variable: &str, below: &str, what: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(below);
    let path = std::env::var_os(variable).map_or_else(beside, PathBuf::from);
    if !path.exists() {
        skip(format_args!("no {what}"));
        return None;
    }
    Some(fs::canonicalize(path).unwrap())
}
