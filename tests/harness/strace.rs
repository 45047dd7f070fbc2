//! `strace` as the hand that kills the program, or fails one of its calls: the calls that a run makes, and a run in
//! which one of them goes wrong.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use crate::support::cli::Cli;

/// The calls that change something on disk, or lock it, or tell the user. Opening for reading is among them: it is what
/// fails when there are too many open files.
pub const WRITE_SIDE: &[&str] = &[
    "openat",
    "openat2",
    "open",
    "creat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "write",
    "writev",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "unlink",
    "unlinkat",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "syncfs",
    "truncate",
    "ftruncate",
    "fallocate",
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "fchown",
    "lchown",
    "fchownat",
    "utimensat",
    "flock",
    "setxattr",
    "fsetxattr",
    "lsetxattr",
    "removexattr",
    "fremovexattr",
    "copy_file_range",
    "sendfile",
    "mknod",
    "mknodat",
];

/// The calls that only look.
pub const READ_SIDE: &[&str] =
    &["read", "pread64", "readv", "getdents64", "fstat", "statx", "newfstatat", "lseek", "flistxattr", "fgetxattr"];

/// What is done to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blow {
    /// The process is killed before the call is made.
    Kill,
    /// The call is not made, and ends with this error.
    Fail(&'static str),
}

/// The errors, with what the system calls them.
pub const ERRORS: &[(&str, &str)] = &[
    ("ENOSPC", "No space left on device"),
    ("EIO", "Input/output error"),
    ("EACCES", "Permission denied"),
    ("EMFILE", "Too many open files"),
];

/// A call that a run makes: the `nth` of that name, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    pub nth: usize,
    /// As the trace shows it.
    pub line: String,
}

/// What a run under `strace` left.
#[derive(Debug)]
pub struct Traced {
    /// Exit code; none if it was killed.
    pub code: Option<i32>,
    pub killed: bool,
    pub stdout: String,
    pub stderr: String,
    pub trace: String,
}

/// Why the harness cannot run here, if it cannot.
pub fn unusable() -> Option<String> {
    let probe = ["-f", "-o", "/dev/null", "-e", "trace=getcwd", "-e", "inject=getcwd:error=EIO:when=1", "true"];
    match Command::new("strace").args(probe).output() {
        Err(e) => Some(format!("no strace ({e})")),
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            Some(format!("strace does not work here ({})", said.lines().next().unwrap_or("it says nothing")))
        }
        Ok(_) => None,
    }
}

/// Runs the program on `words`, with `blow` struck at `call`.
pub fn run(cli: &Cli, words: &[String], struck: Option<(&Call, Blow)>, names: &[&str]) -> Traced {
    let trace = cli.root().join("trace");
    let mut command = cli.command("strace");
    command.args(["-f", "-y", "-s", "16", "-o"]).arg(&trace).arg("-e");
    match struck {
        // A question mark: not every machine has every call.
        None => command.arg(format!("trace={}", names.iter().map(|n| format!("?{n}")).collect::<Vec<_>>().join(","))),
        Some((call, blow)) => {
            let what = match blow {
                Blow::Kill => "signal=SIGKILL".to_owned(),
                Blow::Fail(error) => format!("error={error}"),
            };
            command.arg(format!("trace={}", call.name));
            command.arg("-e").arg(format!("inject={}:{what}:when={}", call.name, call.nth))
        }
    };
    command.arg(env!("CARGO_BIN_EXE_jlfix")).args(words.iter().map(OsString::from));
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let traced = Traced {
        code: output.status.code(),
        killed: output.status.signal() == Some(9),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        trace: text(&fs::read(&trace).unwrap()),
    };
    match struck {
        None => {}
        Some((call, Blow::Kill)) => assert!(traced.killed, "{call:?}: {traced:?}"),
        Some((call, Blow::Fail(_))) => assert!(traced.trace.contains("(INJECTED)"), "{call:?}: {traced:?}"),
    }
    traced
}

/// The calls of a run that concern `root` or standard output, in their order. Those of the loader and of other threads
/// are counted, as `strace` counts them, and left out.
pub fn calls(traced: &Traced, root: &Path) -> Vec<Call> {
    let root = root.to_str().unwrap();
    let mut seen = std::collections::HashMap::<&str, usize>::new();
    let mut calls = Vec::new();
    let main = traced.trace.split_whitespace().next().unwrap();
    for line in traced.trace.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let Some((name, rest)) = call.trim_start().split_once('(') else { continue };
        if process != main || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            continue;
        }
        let nth = seen.entry(name).or_default();
        *nth += 1;
        // What the loader opens by an absolute path is none of ours, though the folder that it runs in is.
        let outside = rest.strip_prefix("AT_FDCWD<").and_then(|rest| rest.split_once(">, \"")).map(|(_, path)| path);
        let outside = outside.is_some_and(|path| path.starts_with('/') && !path.starts_with(root));
        if (rest.contains(root) && !outside) || (name.starts_with("write") && rest.starts_with("1<")) {
            calls.push(Call { name: name.to_owned(), nth: *nth, line: call.trim_start().to_owned() });
        }
    }
    calls
}
