//! Reads the logs of Process Monitor in its own format (PML, version 9, of 32 and 64-bit systems).
//!
//! Events are read in the order of the table of their offsets, which is the order of time. A file without its tables,
//! because Process Monitor was ended or the file is truncated, is read from the first event on; processes have no names
//! then.

mod event;
mod header;

use std::collections::HashMap;
use std::io::{self, Read, SeekFrom};

use self::header::{Header, Process};
use super::{Clock, EventKind, EventSink, FileEvent, Input, Place, ReaderSummary, TraceError};

/// Offsets that are read at a time, of 5 bytes each.
const OFFSETS: u64 = 12_800;

/// Reads a PML file to its end and hands its events to `sink`.
///
/// # Errors
///
/// If `input` fails or is no PML file of version 9.
pub fn read(input: &mut dyn Input, sink: &mut dyn EventSink) -> Result<ReaderSummary, TraceError> {
    let size = input.seek(SeekFrom::End(0))?;
    input.seek(SeekFrom::Start(0))?;
    let mut start = Vec::new();
    (&mut *input).take(header::HEADER_SIZE as u64).read_to_end(&mut start)?;
    let header = Header::parse(&start).map_err(|invalid| {
        let (need, have) = invalid.need_and_have();
        TraceError::Invalid { what: "header", place: Place::Byte(0), need: need.to_owned(), have }
    })?;
    let complete = header.is_complete(size);
    let processes = if complete { header::processes(input, &header, size)? } else { HashMap::new() };
    input.seek(SeekFrom::Start(0))?;
    let mut reader = Reader { input, sink, header, processes, size, complete, records: 0, at: 0, data: Vec::new() };
    let mut summary = ReaderSummary { clock: Clock::Epoch, ..ReaderSummary::default() };
    if complete {
        reader.read_by_table()?;
    } else {
        summary.truncated = reader.read_in_sequence()?;
        summary.notes.push(
            "the tables at the end of this log are missing, so processes have no names: save it again with Process Monitor"
                .to_owned(),
        );
    }
    summary.records = reader.records;
    Ok(summary)
}

struct Reader<'a> {
    input: &'a mut dyn Input,
    sink: &'a mut dyn EventSink,
    header: Header,
    processes: HashMap<u32, Process>,
    size: u64,
    /// True if the file has its tables.
    complete: bool,
    records: u64,
    /// Where `input` is.
    at: u64,
    /// The details of an event.
    data: Vec<u8>,
}

impl Reader<'_> {
    /// Reads the events that the table of offsets has.
    fn read_by_table(&mut self) -> io::Result<()> {
        let mut number = 0;
        let mut before = 0;
        while number < u64::from(self.header.count) {
            let count = OFFSETS.min(u64::from(self.header.count).saturating_sub(number));
            self.seek(self.header.offsets.saturating_add(number.saturating_mul(5)))?;
            let mut table = Vec::new();
            self.read(count.saturating_mul(5) as usize, &mut table)?;
            for entry in table.as_chunks::<5>().0 {
                let [a, b, c, d, high] = *entry;
                let Some(at) = self.offset(u32::from_le_bytes([a, b, c, d]), high, before) else {
                    let place = self.header.offsets.saturating_add(number.saturating_mul(5));
                    self.sink.skipped(Place::Byte(place), "the offset of an event is out of range");
                    number = number.saturating_add(1);
                    continue;
                };
                before = at;
                number = number.saturating_add(1);
                if self.read_event(at)?.is_none() {
                    self.sink.skipped(Place::Byte(at), "an event is invalid");
                }
            }
            if table.len() < 5 {
                break;
            }
        }
        Ok(())
    }

    /// The offset of an event from its entry in the table. 32 bits do not reach all events of a file above 4 GiB; what
    /// is missing is the fifth byte or follows from the order, since events follow each other.
    fn offset(&self, low: u32, high: u8, before: u64) -> Option<u64> {
        let range = self.header.events..self.header.offsets;
        let low = u64::from(low);
        let exact = u64::from(high) << 32 | low;
        if range.contains(&exact) && exact >= before {
            return Some(exact);
        }
        let base = before & !0xFFFF_FFFF;
        let mut near = base | low;
        if near < before {
            near = near.saturating_add(1 << 32);
        }
        [near, exact, low].into_iter().find(|at| range.contains(at))
    }

    /// Reads events one after the other from the first. True if the file ends in the middle of one.
    fn read_in_sequence(&mut self) -> io::Result<bool> {
        let mut at = header::HEADER_SIZE as u64;
        let end = match self.header.offsets {
            0 => self.size,
            offsets => offsets.min(self.size),
        };
        while at < end {
            match self.read_event(at)? {
                Some(next) if next > at => at = next,
                _ => {
                    // Without a table it is unknown where the next event starts.
                    if end.saturating_sub(at) > event::HEADER_SIZE as u64 && self.data.len() >= event::HEADER_SIZE {
                        self.sink.skipped(Place::Byte(at), "an event is invalid; what follows is skipped");
                    }
                    return Ok(true);
                }
            }
        }
        Ok(self.size < self.header.offsets)
    }

    /// Reads the event at `at` and hands it on. The offset after it, or `None` if it is invalid or cut.
    fn read_event(&mut self, at: u64) -> io::Result<Option<u64>> {
        self.seek(at)?;
        let mut data = std::mem::take(&mut self.data);
        data.clear();
        self.read(event::HEADER_SIZE, &mut data)?;
        let parsed = event::Header::parse(&data).ok().filter(event::Header::is_likely);
        let Some(header) = parsed else {
            self.data = data;
            return Ok(None);
        };
        let size = header.size(self.header.pointer);
        let kind = header.kind();
        let result_at = header.result as usize;
        let mut next = at.saturating_add(size as u64);
        if next > self.size || (result_at > 0 && result_at < size) {
            self.data = data;
            return Ok(None);
        }
        if kind != EventKind::Other {
            self.read(size.saturating_sub(event::HEADER_SIZE), &mut data)?;
        }
        let mut result = None;
        if result_at > 0 && (kind != EventKind::Other || !self.complete) {
            let result_at = at.saturating_add(result_at as u64);
            let (bytes, after) = self.read_result(result_at)?;
            // The result follows the event, but need not.
            if result_at == next {
                next = after;
            }
            result = Some(bytes);
        }
        let sent = self.send(&header, kind, &data, result.as_deref());
        self.data = data;
        Ok(sent.map(|()| next))
    }

    /// The first bytes of the result at `at`, and the offset after it.
    fn read_result(&mut self, at: u64) -> io::Result<(Vec<u8>, u64)> {
        self.seek(at)?;
        let mut data = Vec::new();
        self.read(6, &mut data)?;
        let length = data.first_chunk::<2>().map(|length| u16::from_le_bytes(*length)).unwrap_or_default();
        let after = at.saturating_add(2).saturating_add(u64::from(length));
        let mut result = data.split_off(data.len().min(2));
        result.truncate(usize::from(length));
        Ok((result, after))
    }

    /// Hands the event to the sink. `None` if its details are invalid.
    fn send(&mut self, header: &event::Header, kind: EventKind, data: &[u8], result: Option<&[u8]>) -> Option<()> {
        let event = if kind == EventKind::Other {
            FileEvent { ok: true, ..FileEvent::default() }
        } else {
            let stack = usize::from(header.stack).saturating_mul(self.header.pointer);
            let details = data.get(event::HEADER_SIZE.saturating_add(stack)..)?;
            let event = event::file_event(header, details, result, self.header.pointer).ok()?;
            let process = self.processes.get(&header.process);
            FileEvent {
                pid: process.map(|process| process.pid),
                process: process.and_then(|process| process.name.clone()),
                ..event
            }
        };
        self.records = self.records.saturating_add(1);
        self.sink.event(event);
        Some(())
    }

    fn seek(&mut self, at: u64) -> io::Result<()> {
        // A move within what is buffered costs nothing.
        match i64::try_from(at).ok().zip(i64::try_from(self.at).ok()) {
            Some((to, from)) => self.input.seek_relative(to.saturating_sub(from))?,
            None => {
                self.input.seek(SeekFrom::Start(at))?;
            }
        }
        self.at = at;
        Ok(())
    }

    /// Reads up to `count` bytes to the end of `into`.
    fn read(&mut self, count: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let got = (&mut *self.input).take(count as u64).read_to_end(into)?;
        self.at = self.at.saturating_add(got as u64);
        Ok(())
    }
}
