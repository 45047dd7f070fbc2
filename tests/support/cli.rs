//! The real binary in a place of its own: a folder for files, a home, a backup store, and nothing of the machine's
//! own settings.

#![allow(dead_code, unreachable_pub, reason = "every test takes in the whole of it and uses a part")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::start::start;

/// The ending of automatic lists.
pub const AUTOMATIC: &str = "automaticDestinations-ms";
/// Notepad, Explorer, Chrome: three names that Windows gives to lists.
pub const NOTEPAD: &str = "9b9cdc69c1c24e2b.automaticDestinations-ms";
pub const EXPLORER: &str = "f01b4d95cf55d32a.automaticDestinations-ms";
pub const CHROME: &str = "5d696d521de238c3.customDestinations-ms";

/// `samples/`, as it lies in the project.
pub fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

/// The sample of 4,027,904 bytes.
pub fn bloated() -> PathBuf {
    samples().join("AutomaticDestinations").join(EXPLORER)
}

/// What a command left behind.
#[derive(Debug, Clone)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code.
    pub code: i32,
    line: String,
}

impl Output {
    /// Goes on only if the command ended with `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n--- stdout\n{}\n--- stderr\n{}", self.line, self.stdout, self.stderr);
        self
    }

    /// Goes on only if the command ended well and had nothing to say on stderr.
    #[track_caller]
    pub fn clean(self) -> Self {
        let this = self.exits(0);
        assert_eq!(this.stderr, "", "{}", this.line);
        this
    }

    /// Goes on only if stdout holds all of `parts`.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stdout.contains(part), "{}: no {part:?} in\n{}", self.line, self.stdout);
        }
        self
    }

    /// Goes on only if stderr is one line, which starts as every message does and holds all of `parts`.
    #[track_caller]
    pub fn complains(self, parts: &[&str]) -> Self {
        assert_eq!(self.stderr.lines().count(), 1, "{}: {}", self.line, self.stderr);
        assert!(self.stderr.starts_with("jlfix: "), "{}: {}", self.line, self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "{}: no {part:?} in {}", self.line, self.stderr);
        }
        self
    }

    /// Standard output as a JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{}: {e}\n{}", self.line, self.stdout))
    }

    /// Standard output as JSON lines.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{}: {e}\n{line}", self.line));
        self.stdout.lines().map(parse).collect()
    }

    /// Standard output as CSV: a map from column to value a row.
    #[track_caller]
    pub fn csv(&self) -> Vec<BTreeMap<String, String>> {
        let mut reader = csv::Reader::from_reader(self.stdout.as_bytes());
        reader.deserialize().map(|row| row.unwrap_or_else(|e| panic!("{}: {e}", self.line))).collect()
    }

    /// The command that undoes it, as it was printed.
    #[track_caller]
    pub fn undo(&self) -> String {
        let mut lines = self.stdout.lines().skip_while(|line| !line.starts_with("Undo it with:")).skip(1);
        let line = lines.next().unwrap_or_else(|| panic!("{}: nothing undoes it\n{}", self.line, self.stdout));
        line.trim().to_owned()
    }

    /// The rows of a table that start with one of `words`.
    pub fn rows<'o>(&'o self, words: &'o [&str]) -> impl Iterator<Item = &'o str> {
        self.stdout.lines().filter(|line| line.split_whitespace().next().is_some_and(|first| words.contains(&first)))
    }
}

/// A place to run the binary in. Commands run in its folder of files, so that a test can name them as a user would.
pub struct Cli {
    dir: TempDir,
}

impl Default for Cli {
    fn default() -> Self {
        Self::new()
    }
}

impl Cli {
    /// An empty place.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["files", "home"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    /// A place with a copy of `samples/`, but for the large one.
    pub fn with_samples() -> Self {
        let cli = Self::new();
        for entry in walkdir::WalkDir::new(samples()).into_iter().map(Result::unwrap) {
            if entry.file_type().is_file() && entry.path() != bloated() {
                let name = entry.path().strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
                cli.write(name, &fs::read(entry.path()).unwrap());
            }
        }
        cli
    }

    /// A place with these files.
    pub fn with(files: &[(&str, Vec<u8>)]) -> Self {
        let cli = Self::new();
        for (name, bytes) in files {
            cli.write(name, bytes);
        }
        cli
    }

    /// The folder that commands run in.
    pub fn files(&self) -> PathBuf {
        self.dir.path().join("files")
    }

    /// Where a file is.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.files().join(name)
    }

    /// Whose files these are by their path: on Windows the temporary folder is in a profile.
    pub fn user(&self) -> Option<String> {
        let folders: Vec<_> = self.files().iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let users = folders.iter().rposition(|part| part.eq_ignore_ascii_case("users"))?;
        folders.get(users + 1).cloned()
    }

    /// The folder of the backup store.
    pub fn store(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    /// The folder that everything of this place lies in.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Reads a file.
    #[track_caller]
    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Everything in the folder of files: path and content of each.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = walkdir::WalkDir::new(self.files()).into_iter().filter_map(Result::ok);
        let files = files.filter(|entry| entry.file_type().is_file());
        files.map(|entry| (entry.path().to_owned(), fs::read(entry.path()).unwrap_or_default())).collect()
    }

    /// The ids of the runs in the backup store, oldest first.
    pub fn runs(&self) -> Vec<String> {
        let Ok(names) = fs::read_dir(self.store()) else { return Vec::new() };
        let mut runs: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        runs.retain(|name| name != "lock");
        runs.sort();
        runs
    }

    /// A program with the surroundings of this place.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let home = self.dir.path().join("home");
        command.current_dir(self.files()).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "XDG_DATA_HOME"] {
            command.env_remove(name);
        }
        for name in ["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"] {
            command.env(name, &home);
        }
        command.env("JLFIX_BACKUP_DIR", self.store());
        command
    }

    /// The binary, ready for its arguments.
    pub fn jlfix(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_jlfix"))
    }

    /// Runs the binary on the words of `line`, which are separated by spaces.
    pub fn run(&self, line: &str) -> Output {
        self.run_words(line.split_whitespace())
    }

    /// Runs the binary on `words`, for what holds spaces or is no text.
    pub fn run_words<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Output {
        let mut command = self.jlfix();
        command.args(words);
        finish(command)
    }

    /// Runs a line in the shell.
    #[cfg(unix)]
    pub fn shell(&self, line: &str) -> Output {
        let mut command = self.command("sh");
        command.args(["-c", line]);
        finish(command)
    }
}

/// Runs a command to its end.
pub fn finish(mut command: Command) -> Output {
    let line = format!("{command:?}");
    let output = start(|| command.output()).unwrap_or_else(|e| panic!("{line}: {e}"));
    let text = |bytes| String::from_utf8(bytes).unwrap_or_else(|e| panic!("{line}: {e}"));
    Output {
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        code: output.status.code().unwrap_or(-1),
        line: line.clone(),
    }
}

/// The keys of a JSON object, in their order there.
#[track_caller]
pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys().map(String::as_str).collect()
}
