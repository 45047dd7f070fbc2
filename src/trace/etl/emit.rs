//! Hands the operations of an ETL file to a sink, in the order of their times, with names and results.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use super::Known;
use super::file_io::{FileOperation, Operation};
use crate::trace::{EventKind, EventSink, FileEvent};

/// Operations that are kept while earlier ones of other processors can follow.
const MOST_WAITING: usize = 1 << 17;

/// Operations that are kept until their end is found.
const MOST_UNFINISHED: usize = 1 << 16;

/// Open files whose path is kept.
const MOST_OPEN: usize = 1 << 17;

/// An operation at its time. Equal times keep the order in the file.
#[derive(Debug)]
struct Timed {
    time: u64,
    number: u64,
    pid: Option<u32>,
    operation: FileOperation,
}

impl PartialEq for Timed {
    fn eq(&self, other: &Self) -> bool {
        (self.time, self.number) == (other.time, other.number)
    }
}

impl Eq for Timed {}

impl PartialOrd for Timed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

/// An event whose end may not be known yet.
struct Unfinished {
    event: FileEvent,
    /// Ticks at its start.
    start: u64,
    done: bool,
}

/// Sorts operations by time, joins them with their ends and names, and hands them on.
pub struct Emitter<'a> {
    known: &'a mut Known,
    sink: &'a mut dyn EventSink,
    waiting: BinaryHeap<Reverse<Timed>>,
    number: u64,
    unfinished: VecDeque<Unfinished>,
    /// How many have left the front of `unfinished`.
    left: u64,
    /// Number of the unfinished event of an IRP.
    by_irp: HashMap<u64, u64>,
    open: HashMap<u64, Arc<str>>,
}

impl<'a> Emitter<'a> {
    pub fn new(known: &'a mut Known, sink: &'a mut dyn EventSink) -> Self {
        Self {
            known,
            sink,
            waiting: BinaryHeap::new(),
            number: 0,
            unfinished: VecDeque::new(),
            left: 0,
            by_irp: HashMap::new(),
            open: HashMap::new(),
        }
    }

    /// The sink, for what was skipped.
    pub fn sink(&mut self) -> &mut dyn EventSink {
        self.sink
    }

    /// Takes an operation.
    pub fn add(&mut self, time: u64, pid: Option<u32>, operation: FileOperation) {
        self.waiting.push(Reverse(Timed { time, number: self.number, pid, operation }));
        self.number = self.number.wrapping_add(1);
        if self.waiting.len() > MOST_WAITING
            && let Some(Reverse(first)) = self.waiting.pop()
        {
            self.take(first);
        }
    }

    /// Hands on what is not later than `time`: nothing earlier can follow.
    pub fn release(&mut self, time: u64) {
        while self.waiting.peek().is_some_and(|Reverse(first)| first.time <= time) {
            if let Some(Reverse(first)) = self.waiting.pop() {
                self.take(first);
            }
        }
    }

    /// Hands on everything.
    pub fn finish(mut self) {
        self.release(u64::MAX);
        while !self.unfinished.is_empty() {
            self.send_first();
        }
    }

    fn take(&mut self, timed: Timed) {
        let Timed { time, pid, operation: FileOperation { irp, file_object, file_key, tid, operation }, .. } = timed;
        if let Operation::End { information, status } = operation {
            self.end(irp, time, information, status);
            return;
        }
        let pid = pid.or_else(|| self.known.threads.at(u64::from(tid?), time).copied());
        let process = pid.and_then(|pid| self.known.processes.at(u64::from(pid), time).map(Arc::clone));
        let mut event = FileEvent {
            time: self.known.header.nanoseconds(time),
            process,
            pid,
            tid,
            handle: Some(file_object),
            ok: true,
            ..FileEvent::default()
        };
        let mut done = !self.known.ends;
        match operation {
            Operation::Create { path, options } => {
                let path = self.known.path(&path);
                if self.open.len() < MOST_OPEN || self.open.contains_key(&file_object) {
                    self.open.insert(file_object, Arc::clone(&path));
                }
                event.kind = EventKind::Open;
                event.path = Some(path);
                // FILE_DIRECTORY_FILE.
                event.without_data = options & 1 != 0;
            }
            Operation::Transfer { write, offset, size } => {
                event.kind = if write { EventKind::Write } else { EventKind::Read };
                event.path = self.name(file_key, file_object, time);
                event.file_key = Some(file_key);
                event.offset = Some(offset);
                event.length = Some(u64::from(size));
            }
            Operation::Cleanup => {
                event.kind = EventKind::Close;
                event.path = self.name(file_key, file_object, time);
                event.file_key = Some(file_key);
                done = true;
            }
            Operation::Close => {
                self.open.remove(&file_object);
                return;
            }
            Operation::DiskRead { size, ticks } => {
                let start = time.saturating_sub(ticks);
                event.kind = EventKind::DiskRead;
                event.time = self.known.header.nanoseconds(start);
                event.duration = self.known.header.duration(ticks);
                event.path = self.name(file_key, file_object, time);
                event.file_key = Some(file_key);
                event.handle = None;
                event.length = Some(u64::from(size));
                done = true;
            }
            Operation::End { .. } => return,
        }
        self.hold(irp, Unfinished { event, start: time, done });
    }

    /// The path of a file by its key, else by the path with which it was opened.
    fn name(&self, key: u64, object: u64, time: u64) -> Option<Arc<str>> {
        self.known.names.at(key, time).or_else(|| self.open.get(&object)).map(Arc::clone)
    }

    /// Keeps an event until it and all before it are complete.
    fn hold(&mut self, irp: u64, item: Unfinished) {
        if !item.done {
            let number = self.left.saturating_add(self.unfinished.len() as u64);
            if let Some(earlier) = self.by_irp.insert(irp, number) {
                // The end of the earlier operation is missing.
                if let Some(earlier) = self.unfinished_at(earlier) {
                    earlier.done = true;
                }
            }
        }
        self.unfinished.push_back(item);
        if self.unfinished.len() > MOST_UNFINISHED {
            self.send_first();
        }
        self.send_done();
    }

    fn unfinished_at(&mut self, number: u64) -> Option<&mut Unfinished> {
        let place = number.checked_sub(self.left)?;
        self.unfinished.get_mut(usize::try_from(place).ok()?)
    }

    fn end(&mut self, irp: u64, time: u64, information: u64, status: u32) {
        let Some(number) = self.by_irp.remove(&irp) else { return };
        let header = self.known.header;
        let Some(item) = self.unfinished_at(number) else { return };
        item.done = true;
        item.event.duration = header.duration(time.saturating_sub(item.start));
        // NT_ERROR.
        item.event.ok = status < 0xC000_0000;
        let transfer = matches!(item.event.kind, EventKind::Read | EventKind::Write);
        if transfer && item.event.ok && information > 0 {
            item.event.length = item.event.length.map(|size| size.min(information));
        }
        self.send_done();
    }

    fn send_done(&mut self) {
        while self.unfinished.front().is_some_and(|item| item.done) {
            self.send_first();
        }
    }

    fn send_first(&mut self) {
        if let Some(item) = self.unfinished.pop_front() {
            self.left = self.left.saturating_add(1);
            self.sink.event(item.event);
        }
    }
}
