//! Lists that Explorer is writing. It writes in place, field by field, so a reader can see a list half written
//! (docs/performance.md, "How Explorer writes"). A list with a finding is read again before the finding is
//! reported.

use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use jlfix::model::{AutomaticList, Kind, ReadOptions, Severity, Source};
use jlfix::report::FileRow;

/// How long a writer is given between two reads.
const PAUSE: Duration = Duration::from_millis(100);
/// How often a list that changes is read again.
const MOST_READS: usize = 10;
/// A file that was not written for so long is not being written. Windows brings the time of the last write up to date
/// only when the file is closed.
const RECENT: Duration = Duration::from_secs(60);

/// True if somebody may be writing the file.
fn may_be_written(path: &Path) -> bool {
    let modified = std::fs::metadata(path).and_then(|facts| facts.modified());
    let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
    cfg!(windows) || age.is_none_or(|age| age < RECENT)
}

/// True if the content has a warning or an error. Between two writes, a link can be that of another entry.
fn has_problem(data: &[u8], hint: Option<Kind>, options: &ReadOptions) -> bool {
    match Source::read(data, hint, options) {
        Some(Source::Automatic(Ok(compound))) => {
            let findings = AutomaticList::read(&compound).findings(options.code_page);
            findings.iter().any(|finding| finding.severity() >= Severity::Warning)
        }
        Some(Source::Automatic(Err(_))) => true,
        _ => false,
    }
}

/// True if the content has a finding and somebody may be writing the file.
fn is_doubtful(path: &Path, data: &[u8], hint: Option<Kind>, options: &ReadOptions) -> bool {
    may_be_written(path) && has_problem(data, hint, options)
}

/// As [`is_doubtful`], of a file that is parsed already.
pub(crate) fn is_doubtful_row(path: &Path, row: &FileRow<'_>) -> bool {
    row.kind == Kind::Automatic && row.worst() >= Some(Severity::Warning) && may_be_written(path)
}

/// Reads a file with `read` until `accept` makes something of it: again after a pause, until two reads give the same.
/// `accept` gets `true` with the last read, and has to accept that.
///
/// # Errors
/// Those of `read` and `accept`.
pub(crate) fn settle<T, R>(
    mut read: impl FnMut() -> Result<T, String>,
    data: impl Fn(&T) -> &[u8],
    mut accept: impl FnMut(&T, bool) -> Result<Option<R>, String>,
) -> Result<(T, R), String> {
    let mut last = read()?;
    let mut reads = 1;
    let mut is_settled = false;
    loop {
        if let Some(made) = accept(&last, is_settled)? {
            return Ok((last, made));
        }
        thread::sleep(PAUSE);
        let again = read()?;
        is_settled = data(&again) == data(&last) || reads == MOST_READS;
        last = again;
        reads += 1;
    }
}

/// Reads a file with `read`; if it has a finding, again after a pause, until two reads give the same.
///
/// # Errors
/// Those of `read`.
pub(crate) fn read_settled<T>(
    path: &Path,
    hint: Option<Kind>,
    options: &ReadOptions,
    read: impl FnMut() -> Result<T, String>,
    data: impl Fn(&T) -> &[u8],
) -> Result<T, String> {
    let accept = |read: &T, is_settled| Ok((is_settled || !is_doubtful(path, data(read), hint, options)).then_some(()));
    settle(read, &data, accept).map(|(read, ())| read)
}

/// Counts how often a file that is to be changed was read again.
#[derive(Debug, Default)]
pub(crate) struct Rereads(usize);

impl Rereads {
    /// True if `data`, which was read from `path`, has a finding and is no longer what the file holds after a pause.
    pub(crate) fn is_due(&mut self, path: &Path, data: &[u8], hint: Option<Kind>, options: &ReadOptions) -> bool {
        if self.0 == MOST_READS || !is_doubtful(path, data, hint, options) {
            return false;
        }
        self.0 += 1;
        thread::sleep(PAUSE);
        jlfix::os::read_whole(path, &options.limits).is_ok_and(|now| now != data)
    }
}
