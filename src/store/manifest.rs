//! What a run saved, as it is written down and as it is believed when it is read again.
//!
//! A manifest may come from anywhere: a store that was copied, a disk that went bad, somebody who would
//! like `restore` to write where it should not. So nothing of it is used before [`Manifest::parse`] held
//! it against what this program itself would have written.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::run_id::RunId;
use crate::{
    error::{Error, Result},
    format::text::hex,
    os::{self, Extended, Traits},
};

/// The largest manifest or journal that is read or written, in bytes: some hundred thousand files.
pub(super) const MANIFEST_LIMIT: u64 = 64 << 20;
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const JOURNAL: &str = "journal.jsonl";
const VERSION: u32 = 1;
const STORED_SUFFIX: &str = ".bak";
/// The readable part of a stored name, cut to this many bytes.
const STORED_NAME: usize = 100;

/// What a run is in the history of its files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RunKind {
    /// It changed files: a prune, a repair, a restore of a named run.
    #[default]
    Change,
    /// It saved files and changed none.
    Backup,
    /// It undid this run.
    Undo(RunId),
    /// It did again what this run, an undo, had undone.
    Redo(RunId),
}

/// What a run made of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum After {
    /// A file with this SHA-256, in lower-case hex.
    File(String),
    /// No file.
    Absent,
}

/// How [`After::Absent`] is written.
const ABSENT: &str = "absent";

/// What one run did to the files it touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The run.
    pub id: RunId,
    /// The version of this program that made it.
    pub jlfix: String,
    /// The command, as it was given.
    pub command: String,
    /// What the run is in the history of its files.
    pub kind: RunKind,
    /// When it began.
    pub started: Timestamp,
    /// When it ended; `None` if it was killed, or could not write its manifest.
    pub finished: Option<Timestamp>,
    /// Its files, in the order they were saved. To undo a run, take them from last to first.
    pub files: Vec<Record>,
}

/// One file, as it was before the run changed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where it is: absolute, no links in it when it was saved.
    pub path: PathBuf,
    /// Its content, or `None` if there was no such file.
    pub saved: Option<Saved>,
    /// What the run was to make of it; `None` if the run changed nothing, or was made by an older version.
    pub after: Option<After>,
}

/// A saved content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Its name in the run's folder: a plain file name.
    pub stored: String,
    /// In bytes.
    pub size: u64,
    /// SHA-256, in lower-case hex.
    pub sha256: String,
    /// Times, mode and attributes of the original.
    pub traits: Traits,
    /// Extended attributes, owner and access list of the original.
    pub extended: Extended,
}

#[derive(Debug, Serialize, Deserialize)]
struct RawManifest {
    #[serde(flatten)]
    header: RawHeader,
    finished: String,
    files: Vec<RawRecord>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RawHeader {
    version: u32,
    jlfix: String,
    command: String,
    /// `change`, `backup`, `undo` or `redo`.
    #[serde(default = "change_name")]
    kind: String,
    /// The run that is undone or done again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    started: String,
}

fn change_name() -> String {
    "change".to_owned()
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RawRecord {
    path: String,
    /// Only where `path` could not say it: in hex, the bytes on Unix, the UTF-16LE units on Windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_raw: Option<String>,
    size: Option<u64>,
    sha256: Option<String>,
    modified: Option<String>,
    created: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attributes: Option<u32>,
    /// Extended attributes, their values in hex.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    xattrs: BTreeMap<String, String>,
    /// Owner and access list as SDDL (Windows).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    security: Option<String>,
    stored: Option<String>,
    /// SHA-256 of what the run made of the file, or `absent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

/// A line of the journal, which is what a run that was killed leaves.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The first line.
    Run(RawHeader),
    /// A file was saved.
    File(RawRecord),
    /// The file of that place (counted from 0 among the saved) was not changed after all.
    Forget(usize),
}

/// What does not hold.
struct Breach {
    what: String,
    need: &'static str,
    have: String,
}

fn breach<T>(what: impl Into<String>, need: &'static str, have: impl Into<String>) -> Result<T, Breach> {
    Err(Breach { what: what.into(), need, have: have.into() })
}

impl Manifest {
    /// A run that has saved nothing yet.
    pub(super) fn begun(id: RunId, command: &str, started: Timestamp) -> Self {
        let jlfix = env!("CARGO_PKG_VERSION").to_owned();
        let kind = RunKind::Change;
        Self { id, jlfix, command: command.to_owned(), kind, started, finished: None, files: Vec::new() }
    }

    /// True if the run came to its end.
    pub fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// The sum of the saved sizes, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|file| file.saved.as_ref()).fold(0, |sum, saved| sum.saturating_add(saved.size))
    }

    /// False for [`Self::nothing`].
    pub(super) fn is_begun(&self) -> bool {
        !self.jlfix.is_empty()
    }

    pub(super) fn header(&self) -> RawHeader {
        let (jlfix, command) = (self.jlfix.clone(), self.command.clone());
        let (kind, of) = match &self.kind {
            RunKind::Change => ("change", None),
            RunKind::Backup => ("backup", None),
            RunKind::Undo(of) => ("undo", Some(of.to_string())),
            RunKind::Redo(of) => ("redo", Some(of.to_string())),
        };
        RawHeader { version: VERSION, jlfix, command, kind: kind.to_owned(), of, started: self.started.to_string() }
    }

    /// As `manifest.json`.
    pub(super) fn to_json(&self, finished: Timestamp) -> serde_json::Result<Vec<u8>> {
        let files = self.files.iter().map(RawRecord::from).collect();
        let raw = RawManifest { header: self.header(), finished: finished.to_string(), files };
        let mut json = serde_json::to_vec_pretty(&raw)?;
        json.push(b'\n');
        Ok(json)
    }

    /// Reads a `manifest.json`, `path` being where it is.
    ///
    /// # Errors
    /// [`Error::File`] for the first thing in it that this program would not have written.
    pub fn parse(id: &RunId, json: &[u8], path: &Path) -> Result<Self> {
        let raw: RawManifest = serde_json::from_slice(json).map_err(|e| not_json(path, &e))?;
        let checked = header(id, &raw.header).and_then(|mut manifest| {
            manifest.finished = Some(time("finished", &raw.finished)?);
            manifest.files = raw.files.iter().enumerate().map(|(n, file)| file.check(n)).collect::<Result<_, _>>()?;
            manifest.check_unique()?;
            Ok(manifest)
        });
        checked.map_err(|breach| breach.at(path))
    }

    /// Reads the journal of a run that was not finished. A last line that is truncated is what the kill
    /// left, and is passed over.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_journal(id: &RunId, journal: &[u8], path: &Path) -> Result<Self> {
        let mut whole = journal.split(|byte| *byte == b'\n').collect::<Vec<_>>();
        whole.pop();
        let mut manifest = None;
        let mut files = Vec::new();
        for text in whole {
            let line: Line = serde_json::from_slice(text).map_err(|e| not_json(path, &e))?;
            let checked = match (line, &manifest) {
                (Line::Run(raw), None) => header(id, &raw).map(|begun| manifest = Some(begun)),
                (Line::File(raw), Some(_)) => raw.check(files.len()).map(|file| files.push(Some(file))),
                (Line::Forget(place), Some(_)) => match files.get_mut(place) {
                    Some(file) => {
                        *file = None;
                        Ok(())
                    }
                    None => breach("forgotten file", "one that was saved", place.to_string()),
                },
                _ => breach("journal", "one header, first", "another order"),
            };
            checked.map_err(|breach| breach.at(path))?;
        }
        let mut manifest = manifest.unwrap_or_else(|| Self::nothing(id));
        manifest.files = files.into_iter().flatten().collect();
        manifest.check_unique().map_err(|breach| breach.at(path))?;
        Ok(manifest)
    }

    /// A run that was killed before it wrote a word.
    pub(super) fn nothing(id: &RunId) -> Self {
        let started = id.moment().unwrap_or(Timestamp::UNIX_EPOCH);
        let mut manifest = Self::begun(id.clone(), "", started);
        manifest.jlfix.clear();
        manifest
    }

    fn check_unique(&self) -> Result<(), Breach> {
        let (mut paths, mut names) = (HashSet::new(), HashSet::new());
        for file in &self.files {
            if !paths.insert(&file.path) {
                return breach("path", "each once", format!("{} twice", file.path.display()));
            }
            if let Some(saved) = &file.saved
                && !names.insert(&saved.stored)
            {
                return breach("stored name", "each once", format!("{} twice", saved.stored));
            }
        }
        Ok(())
    }
}

fn header(id: &RunId, raw: &RawHeader) -> Result<Manifest, Breach> {
    if raw.version != VERSION {
        return breach("version", "1", raw.version.to_string());
    }
    let mut manifest = Manifest::begun(id.clone(), &raw.command, time("started", &raw.started)?);
    manifest.jlfix.clone_from(&raw.jlfix);
    let of = || match raw.of.as_deref().map(str::parse::<RunId>) {
        Some(Ok(of)) => Ok(of),
        _ => breach("of", "the id of a run", format!("{:?}", raw.of)),
    };
    manifest.kind = match raw.kind.as_str() {
        "change" => RunKind::Change,
        "backup" => RunKind::Backup,
        "undo" => RunKind::Undo(of()?),
        "redo" => RunKind::Redo(of()?),
        other => return breach("kind", "change, backup, undo or redo", format!("{other:?}")),
    };
    Ok(manifest)
}

fn time(what: &str, text: &str) -> Result<Timestamp, Breach> {
    text.parse().or_else(|_| breach(what, "a time in RFC 3339", format!("{text:?}")))
}

fn not_json(path: &Path, error: &serde_json::Error) -> Error {
    let breach =
        Breach { what: format!("line {}", error.line()), need: "a backup run's JSON", have: error.to_string() };
    breach.at(path)
}

impl Breach {
    fn at(self, path: &Path) -> Error {
        let Self { what, need, have } = self;
        Error::File { path: path.to_owned(), what, offset: None, need: need.to_owned(), have }
    }
}

impl From<&Record> for RawRecord {
    fn from(record: &Record) -> Self {
        let saved = record.saved.as_ref();
        let traits = saved.map(|saved| saved.traits).unwrap_or_default();
        let extended = saved.map(|saved| saved.extended.clone()).unwrap_or_default();
        Self {
            path: record.path.to_string_lossy().into_owned(),
            path_raw: record.path.to_str().is_none().then(|| hex(&os::path_to_raw(&record.path))),
            size: saved.map(|saved| saved.size),
            sha256: saved.map(|saved| saved.sha256.clone()),
            modified: traits.modified.and_then(time_text),
            created: traits.created.and_then(time_text),
            mode: traits.mode,
            uid: traits.owner.map(|(user, _)| user),
            gid: traits.owner.map(|(_, group)| group),
            attributes: traits.attributes,
            xattrs: extended.attributes.iter().map(|(name, value)| (name.clone(), hex(value))).collect(),
            security: extended.security,
            stored: saved.map(|saved| saved.stored.clone()),
            after: record.after.as_ref().map(|after| match after {
                After::File(sha256) => sha256.clone(),
                After::Absent => ABSENT.to_owned(),
            }),
        }
    }
}

impl RawRecord {
    fn check(&self, number: usize) -> Result<Record, Breach> {
        let what = |field: &str| format!("file {number}: {field}");
        let path = match &self.path_raw {
            None => PathBuf::from(&self.path),
            Some(raw) => match unhex(raw).and_then(|raw| os::path_from_raw(&raw)) {
                // What is shown to people has to be what is done.
                Some(path) if path.to_string_lossy() == self.path => path,
                _ => return breach(what("path_raw"), "hex that says what path says", format!("{raw:?}")),
            },
        };
        if !is_recordable(&path) {
            return breach(what("path"), "an absolute path of a file on this system", format!("{:?}", self.path));
        }
        let saved = match (&self.stored, self.size, &self.sha256) {
            (None, None, None) => None,
            (Some(stored), Some(size), Some(sha256)) => Some(self.check_saved(what, stored, size, sha256)?),
            _ => return breach(what("stored"), "name, size and sha256, or none of them", "some of them"),
        };
        let after = match self.after.as_deref() {
            None => None,
            Some(ABSENT) => Some(After::Absent),
            Some(sha256) if is_sha256(sha256) => Some(After::File(sha256.to_owned())),
            Some(other) => return breach(what("after"), "a SHA-256 or absent", format!("{other:?}")),
        };
        Ok(Record { path, saved, after })
    }

    fn check_saved(
        &self,
        what: impl Fn(&str) -> String,
        stored: &str,
        size: u64,
        sha256: &str,
    ) -> Result<Saved, Breach> {
        if !is_stored_name(stored) {
            return breach(what("stored"), "a file name in the run's own folder", format!("{stored:?}"));
        }
        if !is_sha256(sha256) {
            return breach(what("sha256"), "64 hex digits", format!("{sha256:?}"));
        }
        let moment = |field: &str, text: &Option<String>| match text {
            Some(text) => match file_time(text) {
                Some(moment) => Ok(Some(moment)),
                None => breach(what(field), "a time in RFC 3339, or @seconds.nanoseconds", format!("{text:?}")),
            },
            None => Ok(None),
        };
        let traits = Traits {
            modified: moment("modified", &self.modified)?,
            created: moment("created", &self.created)?,
            mode: self.mode.map(|mode| mode & 0o777),
            owner: self.uid.zip(self.gid),
            attributes: self.attributes,
        };
        let mut attributes = Vec::new();
        for (name, value) in &self.xattrs {
            match unhex(value) {
                Some(value) if !name.contains('\0') => attributes.push((name.clone(), value)),
                _ => return breach(what("xattrs"), "names, each with a value in hex", format!("{name:?}")),
            }
        }
        let extended = Extended { attributes, security: self.security.clone() };
        Ok(Saved { stored: stored.to_owned(), size, sha256: sha256.to_owned(), traits, extended })
    }
}

/// A time of a file: in RFC 3339, or beyond the year 9999 as `@` and seconds since 1970 with nanoseconds.
fn time_text(time: SystemTime) -> Option<String> {
    if let Ok(time) = Timestamp::try_from(time) {
        return Some(time.to_string());
    }
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("@{}.{:09}", since.as_secs(), since.subsec_nanos()))
}

/// What [`time_text`] wrote.
fn file_time(text: &str) -> Option<SystemTime> {
    let Some(text) = text.strip_prefix('@') else {
        return SystemTime::try_from(text.parse::<Timestamp>().ok()?).ok();
    };
    let (seconds, nanos) = text.split_once('.').filter(|(_, nanos)| nanos.len() == 9)?;
    let nanos = nanos.parse::<u32>().ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds.parse().ok()?, nanos))
}

/// True for a path that a run may save and a restore accepts: one rule for both.
pub(super) fn is_recordable(path: &Path) -> bool {
    !path.as_os_str().as_encoded_bytes().contains(&0) && os::is_absolute(path) && path.file_name().is_some()
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The name under which the file of `path` is stored: a number, what can safely be kept of its name, and
/// an ending that no search for jump lists takes.
pub(super) fn stored_name(number: usize, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kept = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' });
    format!("{number:04}-{}{STORED_SUFFIX}", kept.take(STORED_NAME).collect::<String>())
}

/// True for what [`stored_name`] makes, which cannot leave a folder on any system, nor be a device.
pub(super) fn is_stored_name(name: &str) -> bool {
    let Some((number, rest)) = name.strip_suffix(STORED_SUFFIX).and_then(|name| name.split_once('-')) else {
        return false;
    };
    (4..=9).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit())
        && rest.len() <= STORED_NAME
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|n| u8::try_from(n).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_beyond_9999_are_written_and_read_again() {
        for seconds in [0, 253_402_207_200, 253_402_300_800, 900_000_000_000] {
            let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 100);
            assert_eq!(file_time(&time_text(time).unwrap()), Some(time));
        }
        for bad in ["", "@", "@1", "@1.5", "@-1.000000000", "@99999999999999999999.000000000", "2026"] {
            assert_eq!(file_time(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_path_that_can_be_saved_is_read_again(text in r"(/|C:\\|\\\\[?]\\C:\\|\\\\[?]\\Volume\{[0-9a-f-]{36}\}\\|//|)([a-z.:~ \\/]|\PC|aux|con){0,20}") {
            let path = PathBuf::from(text);
            let record = Record { path: path.clone(), saved: None, after: Some(After::Absent) };
            let id: RunId = "20261130T184501.123Z-abcd".parse().unwrap();
            let mut manifest = Manifest::begun(id.clone(), "prune", Timestamp::UNIX_EPOCH);
            manifest.files = vec![record];
            let json = manifest.to_json(Timestamp::UNIX_EPOCH).unwrap();
            let read = Manifest::parse(&id, &json, Path::new("m"));
            prop_assert_eq!(read.is_ok(), is_recordable(&path));
            if let Ok(read) = read {
                prop_assert_eq!(&read.files[0].path, &path);
            }
        }
    }

    #[test]
    fn what_is_stored_under_any_name_has_a_name_that_is_accepted_again() {
        for name in ["f01b4d95cf55d32a.automaticDestinations-ms", "CON", "a b\u{202e}c", "..", &"x".repeat(255)] {
            let stored = stored_name(7, &Path::new("/home").join(name));
            assert!(is_stored_name(&stored), "{stored}");
        }
        for bad in ["../../x", "/etc/passwd", "0001-../x.bak", "0001-a:b.bak", "CON", "0001-a", "0001-a\0.bak", ""] {
            assert!(!is_stored_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_path_that_is_no_text_is_written_down_and_read_without_loss() {
        #[cfg(unix)]
        let path = PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"/a/\xFF.x"));
        #[cfg(windows)]
        let path = {
            let name: std::ffi::OsString = std::os::windows::ffi::OsStringExt::from_wide(&[0xD800, 0x78, 0xDC00]);
            Path::new("C:\\a").join(name)
        };
        let id: RunId = "20261130T184501.123Z-abcd".parse().unwrap();
        let mut manifest = Manifest::begun(id.clone(), "prune", Timestamp::UNIX_EPOCH);
        manifest.files = vec![Record { path, saved: None, after: None }];
        manifest.finished = Some(Timestamp::UNIX_EPOCH);
        let json = manifest.to_json(Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(Manifest::parse(&id, &json, Path::new("m")).unwrap(), manifest);
        let other = String::from_utf8(json).unwrap().replacen("/a/", "/b/", 1).replacen("C:\\\\a", "C:\\\\b", 1);
        assert!(Manifest::parse(&id, other.as_bytes(), Path::new("m")).is_err(), "shown is one path, meant another");
    }
}
