//! Reads the files of Event Tracing for Windows (ETL), as `wpr`, `xperf`, `logman` and UIforETW write them.
//!
//! A file is read twice. The first time collects what numbers stand for: names of files, processes of threads, names of
//! processes. Much of that is recorded only at the end. The second time hands on the operations, in the order of their
//! times. Memory does not depend on the size of the file: names and operations that wait have limits.

mod buffer;
mod emit;
mod event;
mod file_io;
mod header;
mod history;
mod lznt1;
mod lzxpress;

use std::io::{BufRead, SeekFrom};
use std::sync::Arc;

use self::buffer::{Buffers, HEADER_SIZE, Next};
use self::emit::Emitter;
use self::event::{Class, Event, Events, Item};
use self::header::LogHeader;
use self::history::{Edge, History, Texts};
use super::{Clock, EventSink, Input, Place, ReaderSummary, TraceError};

/// Names of files that are kept, by key and time.
const MOST_NAMES: usize = 1 << 19;

/// Threads and processes that are kept.
const MOST_THREADS: usize = 1 << 19;

/// Drive letters that are kept.
const MOST_VOLUMES: usize = 256;

/// Buffers whose first time is kept, for the order of events.
const MOST_BUFFERS: usize = 1 << 22;

/// The command that records what [`read`] reads.
const RECORD: &str = "record with `wpr -start FileIO -filemode`, and end with `wpr -stop FILE.etl`";

/// What numbers stand for, and what the recording has.
pub(super) struct Known {
    header: LogHeader,
    names: History<Arc<str>>,
    threads: History<u32>,
    processes: History<Arc<str>>,
    texts: Texts,
    /// Prefixes of paths, as the kernel has them and as drive letters.
    volumes: Vec<(String, String)>,
    /// True if the ends of operations were recorded.
    ends: bool,
    counts: Counts,
    /// For each buffer, the earliest operation in the buffers after it.
    after: Vec<u64>,
}

#[derive(Debug, Default)]
struct Counts {
    records: u64,
    names: u64,
    rundown: u64,
    operations: u64,
    reads: u64,
    disk_reads: u64,
}

impl Known {
    fn new(header: LogHeader) -> Self {
        Self {
            header,
            names: History::new(MOST_NAMES),
            threads: History::new(MOST_THREADS),
            processes: History::new(MOST_THREADS),
            texts: Texts::default(),
            volumes: Vec::new(),
            ends: false,
            counts: Counts::default(),
            after: Vec::new(),
        }
    }

    /// A path with the drive letter of its volume, if that is recorded.
    fn path(&mut self, path: &str) -> Arc<str> {
        let drive =
            |(kernel, drive): &(String, String)| Some(format!("{drive}{}", path.strip_prefix(kernel.as_str())?));
        let replaced = self.volumes.iter().find_map(drive);
        let path = replaced.as_deref().or_else(|| path.strip_prefix(r"\??\")).unwrap_or(path);
        self.texts.keep(path).unwrap_or_else(|| path.into())
    }

    /// Takes what `event` says of numbers.
    fn learn(&mut self, event: &Event<'_>) -> Result<(), crate::bytes::Short> {
        match (event.class, event.kind) {
            (Class::FileIo, kind) if file_io::NAMES.contains(&kind) => {
                let (key, name) = file_io::name(event)?;
                self.counts.names = self.counts.names.saturating_add(1);
                self.counts.rundown = self.counts.rundown.saturating_add(u64::from(kind == 36));
                let edge = match kind {
                    32 => Edge::Start,
                    35 => Edge::End,
                    _ => Edge::Known,
                };
                match self.texts.keep(&name) {
                    Some(name) => self.names.add(key, event.time, edge, name),
                    None => self.names.left_out = self.names.left_out.saturating_add(1),
                }
            }
            (Class::FileIo, file_io::OPERATION_END) => self.ends = true,
            (Class::FileIo, file_io::READ) => self.counts.reads = self.counts.reads.saturating_add(1),
            (Class::DiskIo, file_io::DISK_READ) => {
                self.counts.disk_reads = self.counts.disk_reads.saturating_add(1);
            }
            (Class::Thread, 1..=4) => {
                let (pid, tid) = file_io::thread_of(event)?;
                self.threads.add(u64::from(tid), event.time, edge(event.kind), pid);
            }
            (Class::Process, 1..=4 | 39) => {
                if let Some((pid, name)) = file_io::process(event)?
                    && let Some(name) = self.texts.keep(&name)
                {
                    self.processes.add(u64::from(pid), event.time, edge(event.kind), name);
                }
            }
            (Class::Merged, 35) if self.volumes.len() < MOST_VOLUMES => self.volumes.extend(file_io::volume(event)),
            _ => {}
        }
        Ok(())
    }

    /// Makes it ready for questions: sorts, and gives names their drive letters.
    fn complete(&mut self) {
        // The longest prefix first.
        self.volumes.sort_by_key(|(kernel, _)| std::cmp::Reverse(kernel.len()));
        if !self.volumes.is_empty() {
            let mut names = std::mem::replace(&mut self.names, History::new(0));
            self.texts = Texts::default();
            names.replace(|name| self.path(name));
            self.names = names;
        }
        self.names.sort();
        self.threads.sort();
        self.processes.sort();
        let mut earliest = u64::MAX;
        for first in self.after.iter_mut().rev() {
            let own = std::mem::replace(first, earliest);
            earliest = earliest.min(own);
        }
    }

    fn notes(&self) -> Vec<String> {
        let counts = &self.counts;
        let mut notes = Vec::new();
        if counts.reads == 0 {
            let has = match (counts.disk_reads, counts.rundown) {
                (0, 0) => String::new(),
                (disk, rundown) => {
                    let names = counts.names;
                    format!(": it has {disk} disk reads and {names} names of files ({rundown} of a rundown)")
                }
            };
            notes.push(format!("this recording has no file reads (FileIo events){has}; {RECORD}"));
        }
        if self.names.left_out > 0 {
            notes.push(format!("{} names of files are left out: too many for the memory", self.names.left_out));
        }
        notes
    }
}

/// How a Thread or Process event of type `kind` (Start, End, DCStart, DCEnd) bears on a number.
fn edge(kind: u8) -> Edge {
    match kind {
        1 => Edge::Start,
        2 => Edge::End,
        _ => Edge::Known,
    }
}

/// Reads an ETL file to its end and hands its file operations and disk reads to `sink`, with paths, processes, results
/// and times. A damaged buffer or event is skipped.
///
/// # Errors
///
/// If `input` fails or does not start with the header of an ETL file.
pub fn read(input: &mut dyn Input, sink: &mut dyn EventSink) -> Result<ReaderSummary, TraceError> {
    input.seek(SeekFrom::Start(0))?;
    let mut known = Known::new(log_header(input)?);
    input.seek(SeekFrom::Start(0))?;
    let truncated = learn(input, &mut known)?;
    known.complete();
    input.seek(SeekFrom::Start(0))?;
    emit(input, &mut known, sink)?;
    Ok(ReaderSummary {
        records: known.counts.records,
        clock: Clock::Epoch,
        lost: u64::from(known.header.events_lost).saturating_add(u64::from(known.header.buffers_lost)),
        truncated,
        notes: known.notes(),
    })
}

/// The header of the file, which is the first event.
fn log_header(input: &mut dyn Input) -> Result<LogHeader, TraceError> {
    let invalid = |what, at, need: &str, have: String| TraceError::Invalid {
        what,
        place: Place::Byte(at),
        need: need.to_owned(),
        have,
    };
    let mut buffers = Buffers::new(as_read(input));
    let (at, events) = match buffers.next()? {
        Next::Buffer(at, events) => (at, events),
        Next::Damaged(at, why) => return Err(invalid("first buffer", at, "an ETL buffer", why.to_owned())),
        Next::End(_) => {
            let need = format!("at least {HEADER_SIZE} bytes");
            return Err(invalid("first buffer", 0, &need, "the end of the file".to_owned()));
        }
    };
    let at = at.saturating_add(HEADER_SIZE as u64);
    let need = "the header of an ETL file";
    match Events::new(events).next() {
        Some(Ok(Item::Event(event))) => match LogHeader::parse(&event) {
            Some(Ok(header)) => Ok(header),
            Some(Err(short)) => Err(invalid("first event", at, need, short.to_string())),
            None => Err(invalid("first event", at, need, "another event".to_owned())),
        },
        Some(Ok(Item::Other)) => Err(invalid("first event", at, need, "another event".to_owned())),
        Some(Err(_)) => Err(invalid("first event", at, need, "no valid event".to_owned())),
        None => Err(invalid("first event", at, need, "no event".to_owned())),
    }
}

fn as_read(input: &mut dyn Input) -> &mut dyn BufRead {
    input
}

/// The first time through the file. True if it is truncated.
fn learn(input: &mut dyn Input, known: &mut Known) -> Result<bool, TraceError> {
    let mut buffers = Buffers::new(as_read(input));
    loop {
        let events = match buffers.next()? {
            Next::Buffer(_, events) => events,
            Next::Damaged(..) => continue,
            Next::End(truncated) => return Ok(truncated),
        };
        let mut first = u64::MAX;
        for item in Events::new(events) {
            let Ok(item) = item else { break };
            known.counts.records = known.counts.records.saturating_add(1);
            let Item::Event(event) = item else { continue };
            if matches!(event.class, Class::FileIo | Class::DiskIo) {
                first = first.min(event.time);
                known.counts.operations = known.counts.operations.saturating_add(1);
            }
            // What is skipped is reported the second time.
            let _ = known.learn(&event);
        }
        if known.after.len() < MOST_BUFFERS {
            known.after.push(first);
        }
    }
}

/// The second time through the file.
fn emit(input: &mut dyn Input, known: &mut Known, sink: &mut dyn EventSink) -> Result<(), TraceError> {
    let after = std::mem::take(&mut known.after);
    let mut number = 0;
    let mut emitter = Emitter::new(known, sink);
    let mut buffers = Buffers::new(as_read(input));
    loop {
        let (at, events) = match buffers.next()? {
            Next::Buffer(at, events) => (at.saturating_add(HEADER_SIZE as u64), events),
            Next::Damaged(at, why) => {
                emitter.sink().skipped(Place::Byte(at), why);
                continue;
            }
            Next::End(_) => break,
        };
        for item in Events::new(events) {
            match item {
                Ok(Item::Event(event)) => take(&event, &mut emitter, at),
                Ok(Item::Other) => {}
                Err(invalid) => {
                    let at = at.saturating_add(invalid.at as u64);
                    emitter.sink().skipped(Place::Byte(at), "the header of an event is invalid");
                }
            }
        }
        if let Some(time) = after.get(number) {
            emitter.release(*time);
        }
        number = number.saturating_add(1);
    }
    emitter.finish();
    Ok(())
}

/// Hands the operation in `event` to `emitter`, if it is one.
fn take(event: &Event<'_>, emitter: &mut Emitter<'_>, at: u64) {
    let operation = match event.class {
        Class::FileIo if file_io::NAMES.contains(&event.kind) => file_io::name(event).map(|_| None),
        Class::FileIo => file_io::operation(event),
        Class::DiskIo if event.kind == file_io::DISK_READ => file_io::disk_read(event).map(Some),
        Class::Thread if matches!(event.kind, 1..=4) => file_io::thread_of(event).map(|_| None),
        Class::Process if matches!(event.kind, 1..=4 | 39) => file_io::process(event).map(|_| None),
        _ => Ok(None),
    };
    match operation {
        Ok(Some(mut operation)) => {
            operation.tid = operation.tid.or(event.tid);
            emitter.add(event.time, event.pid, operation);
        }
        Ok(None) => {}
        Err(_) => emitter.sink().skipped(Place::Byte(at), "an event is shorter than its fields"),
    }
}

/// Appends `length` bytes from `distance` bytes before the end of `out`, one after the other, so that they can overlap.
/// `None` if that is before the start.
fn copy_match(out: &mut Vec<u8>, distance: usize, length: usize) -> Option<()> {
    let start = out.len().checked_sub(distance)?;
    let mut left = length;
    while left > 0 {
        let count = left.min(out.len().saturating_sub(start));
        if count == 0 {
            return None;
        }
        out.extend_from_within(start..start.saturating_add(count));
        left = left.saturating_sub(count);
    }
    Some(())
}
