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
pub(crate) const MOST_READS: usize = 10;
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

/// True if the list has a finding and somebody may be writing it.
pub(crate) fn is_doubtful(path: &Path, row: &FileRow<'_>) -> bool {
    row.kind == Kind::Automatic && row.worst() >= Some(Severity::Warning) && may_be_written(path)
}

/// Gives a writer time to finish.
pub(crate) fn pause() {
    thread::sleep(PAUSE);
}

/// Reads a file with `read`; if it has a finding, again after a pause, until two reads give the same.
///
/// # Errors
/// Those of `read`.
pub(crate) fn read_settled<T>(
    path: &Path,
    hint: Option<Kind>,
    options: &ReadOptions,
    mut read: impl FnMut() -> Result<T, String>,
    data: impl Fn(&T) -> &[u8],
) -> Result<T, String> {
    let mut last = read()?;
    for _ in 0..MOST_READS {
        if !may_be_written(path) || !has_problem(data(&last), hint, options) {
            break;
        }
        pause();
        let again = read()?;
        let settled = data(&again) == data(&last);
        last = again;
        if settled {
            break;
        }
    }
    Ok(last)
}

/// True if `data`, which was read from `path`, has a finding and is no longer what the file holds after a pause.
pub(crate) fn is_outdated(path: &Path, data: &[u8], hint: Option<Kind>, options: &ReadOptions) -> bool {
    if !may_be_written(path) || !has_problem(data, hint, options) {
        return false;
    }
    pause();
    jlfix::os::read_whole(path, &options.limits).is_ok_and(|now| now != data)
}
