//! The outside judge: a program that shares no code with this project, and holds files against what was measured of
//! real ones.

#![allow(dead_code, unreachable_pub, reason = "every test takes in the whole of it and uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Goes on only if the judge has nothing to say against these files; goes on, and says so, where it cannot be asked.
#[track_caller]
pub fn pass<P: AsRef<Path>>(files: impl IntoIterator<Item = P>) {
    let judge = std::env::var_os("JLFIX_ORACLE")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/tools/oracle.py"), PathBuf::from);
    let has_olefile =
        || Command::new("python3").args(["-c", "import olefile"]).output().is_ok_and(|out| out.status.success());
    if !judge.is_file() || !has_olefile() {
        super::skip::skip("no outside judge, or no python3 with olefile for it");
        return;
    }
    let mut command = Command::new("python3");
    command.arg(judge).arg("check");
    files.into_iter().for_each(|file| {
        command.arg(file.as_ref());
    });
    let out = command.output().unwrap();
    let told = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && told.is_empty(), "the outside judge: {told}");
}
