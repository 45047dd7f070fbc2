//! Makes PML files.

use super::{pointer, wide_text};

/// 2026-11-30T12:00:00Z as a FILETIME.
pub const START: u64 = 134_405_136_000_000_000;

/// An operation on a file.
pub struct Operation<'a> {
    pub process: u32,
    pub tid: u32,
    /// 20 create, 23 read, 24 write, 37 lock, 38 close.
    pub operation: u16,
    pub sub_operation: u8,
    pub time: u64,
    pub status: u32,
    pub path: &'a str,
    pub offset: i64,
    pub length: u32,
    /// The number of bytes that were read or written, which follows the event.
    pub done: Option<u32>,
    pub access: u32,
}

impl Default for Operation<'_> {
    fn default() -> Self {
        Self {
            process: 0,
            tid: 4_004,
            operation: 23,
            sub_operation: 0,
            time: START,
            status: 0,
            path: "",
            offset: 0,
            length: 0,
            done: None,
            access: 0x0012_0089,
        }
    }
}

/// A PML file in the making.
pub struct Pml {
    wide: bool,
    events: Vec<u8>,
    offsets: Vec<u32>,
    processes: Vec<(u32, &'static str)>,
}

impl Pml {
    /// A file of a 64-bit system (`wide`) or a 32-bit one.
    pub fn new(wide: bool) -> Self {
        Self { wide, events: Vec::new(), offsets: Vec::new(), processes: Vec::new() }
    }

    /// Adds a process; its index is the number of those before it.
    pub fn process(&mut self, pid: u32, name: &'static str) {
        self.processes.push((pid, name));
    }

    /// Adds an event of any class with details.
    pub fn event(&mut self, class: u32, operation: &Operation<'_>, details: &[u8]) {
        self.offsets.push((0x3A8 + self.events.len()) as u32);
        let stack = 3;
        let pointer_size = if self.wide { 8 } else { 4 };
        let mut event = Vec::new();
        for number in [operation.process, operation.tid, class] {
            event.extend(number.to_le_bytes());
        }
        event.extend(operation.operation.to_le_bytes());
        event.extend([0xAB; 6]);
        event.extend(39u64.to_le_bytes());
        event.extend(operation.time.to_le_bytes());
        event.extend(operation.status.to_le_bytes());
        event.extend((stack as u16).to_le_bytes());
        event.extend([0; 2]);
        event.extend((details.len() as u32).to_le_bytes());
        let size = 52 + stack * pointer_size + details.len();
        event.extend(operation.done.map_or(0, |_| size as u32).to_le_bytes());
        for frame in 0..stack {
            event.extend(pointer(self.wide, 0x7000_0000 + frame as u64));
        }
        event.extend(details);
        if let Some(done) = operation.done {
            event.extend(4u16.to_le_bytes());
            event.extend(done.to_le_bytes());
        }
        self.events.extend(event);
    }

    /// Adds an operation on a file.
    pub fn file(&mut self, operation: &Operation<'_>) {
        let mut details = vec![operation.sub_operation, 0, 0, 0];
        // An IRP's flags and functions, then what is specific to the operation.
        let mut parameters = vec![0; 12];
        match operation.operation {
            20 => {
                parameters.extend(pointer(self.wide, 0x1234));
                parameters.extend(pointer(self.wide, 0x0100_0060));
                parameters.extend([0x80, 0, 7, 0]);
            }
            37 => parameters.extend(pointer(self.wide, 0xAA00)),
            _ => parameters.extend(pointer(self.wide, u64::from(operation.length))),
        }
        if operation.operation != 20 {
            parameters.extend(pointer(self.wide, 0));
            parameters.extend(operation.offset.to_le_bytes());
        }
        parameters.resize(0x14 + 5 * if self.wide { 8 } else { 4 }, 0);
        details.extend(parameters);
        if operation.path.is_ascii() {
            details.extend((0x8000 | operation.path.len() as u16).to_le_bytes());
            details.extend([0; 2]);
            details.extend(operation.path.as_bytes());
        } else {
            let text = wide_text(operation.path);
            details.extend((text.len() as u16 / 2 - 1).to_le_bytes());
            details.extend([0; 2]);
            details.extend(&text[..text.len() - 2]);
        }
        match operation.operation {
            // DesiredAccess, then the length of the SID of a user who is impersonated.
            20 => {
                details.extend(operation.access.to_le_bytes());
                details.extend([0; 4]);
            }
            37 => {
                details.extend(u64::from(operation.length).to_le_bytes());
                details.extend([0; 5]);
            }
            _ => {}
        }
        self.event(3, operation, &details);
    }

    /// The file.
    pub fn build(self) -> Vec<u8> {
        let mut file = vec![0; 0x3A8];
        let events_at = file.len();
        file.extend(&self.events);
        let offsets_at = file.len();
        for offset in &self.offsets {
            file.extend(offset.to_le_bytes());
            file.push(0);
        }
        let processes_at = file.len();
        file.extend(self.process_table());
        let strings_at = file.len();
        let names = self.processes.iter().map(|(_, name)| *name);
        file.extend(table(std::iter::once("").chain(names).map(string).collect(), false));
        let icons_at = file.len();
        file.extend([0; 4]);
        let hosts_at = file.len();
        file.extend([0; 8]);
        file[..4].copy_from_slice(b"PML_");
        file[4] = 9;
        file[8] = u8::from(self.wide);
        file[0x234..0x238].copy_from_slice(&(self.offsets.len() as u32).to_le_bytes());
        let places = [events_at, offsets_at, processes_at, strings_at, icons_at];
        for (number, place) in places.into_iter().enumerate() {
            file[0x240 + 8 * number..][..8].copy_from_slice(&(place as u64).to_le_bytes());
        }
        for (at, value) in [(0x274, 10u32), (0x27C, 19_045), (0x38C, 4)] {
            file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        for (at, value) in [(0x390, 8u64 << 30), (0x398, events_at as u64), (0x3A0, hosts_at as u64)] {
            file[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        file
    }

    fn process_table(&self) -> Vec<u8> {
        let records = self.processes.iter().enumerate().map(|(index, (pid, _))| {
            let mut record = Vec::new();
            for number in [index as u32, *pid, 1, 0] {
                record.extend(number.to_le_bytes());
            }
            record.resize(0x34, 0);
            record.extend(1u32.to_le_bytes());
            // Integrity, user, name, image, command line, company, version, description: all but the name are empty.
            for string in [0, 0, index as u32 + 1, 0, 0, 0, 0, 0, 0, 0] {
                record.extend(string.to_le_bytes());
            }
            record.extend(pointer(self.wide, 0));
            record.extend(0u32.to_le_bytes());
            record
        });
        table(records.collect(), true)
    }
}

fn string(text: &str) -> Vec<u8> {
    let text = wide_text(text);
    [&(text.len() as u32).to_le_bytes()[..], &text].concat()
}

/// Count, indexes if there are any, offsets from the start of the table, and the records.
fn table(records: Vec<Vec<u8>>, indexes: bool) -> Vec<u8> {
    let mut table = (records.len() as u32).to_le_bytes().to_vec();
    if indexes {
        (0..records.len()).for_each(|index| table.extend((index as u32).to_le_bytes()));
    }
    let mut at = table.len() + 4 * records.len();
    for record in &records {
        table.extend((at as u32).to_le_bytes());
        at += record.len();
    }
    table.extend(records.concat());
    table
}

/// Path of the jump list in [`explorer`].
pub const LIST_PATH: &str = r"C:\Users\me\Recent\AutomaticDestinations\f01b4d95cf55d32a.automaticDestinations-ms";

/// Explorer (process 4000) opens a jump list, reads it in `reads` pieces of 64 bytes, locks, unlocks and closes it; a
/// second program asks for its attributes.
pub fn explorer(wide: bool, reads: u32) -> Vec<u8> {
    let mut pml = Pml::new(wide);
    pml.process(4_000, "Explorer.EXE");
    pml.process(5_000, "log\u{e9}r.exe");
    let list = |operation, time| Operation { operation, time: START + time, path: LIST_PATH, ..Operation::default() };
    pml.file(&Operation { done: Some(1), ..list(20, 0) });
    pml.file(&Operation { process: 1, tid: 5_004, access: 0x0010_0080, done: Some(1), ..list(20, 5) });
    pml.file(&Operation { process: 1, tid: 5_004, ..list(38, 6) });
    pml.event(2, &Operation { operation: 1, ..Operation::default() }, &[0; 30]);
    for read in 0..reads {
        let operation = list(23, 10_000 + u64::from(read) * 100);
        pml.file(&Operation { offset: i64::from(read) * 64, length: 64, done: Some(64), ..operation });
    }
    let end = 10_000 + u64::from(reads) * 100;
    pml.file(&Operation { offset: i64::from(reads) * 64, length: 64, done: Some(10), ..list(23, end) });
    pml.file(&Operation { offset: i64::from(reads) * 64 + 10, length: 64, status: 0xC000_0011, ..list(23, end + 1) });
    pml.file(&Operation { sub_operation: 1, offset: 100, length: 7, ..list(37, end + 2) });
    pml.file(&Operation { sub_operation: 2, offset: 100, length: 7, ..list(37, end + 3) });
    let path = "C:\\l\u{f6}g.txt";
    pml.file(&Operation {
        process: 1,
        tid: 5_004,
        length: 4_096,
        offset: -1,
        done: Some(4_096),
        path,
        ..list(24, end + 4)
    });
    pml.file(&list(38, end + 5));
    pml.build()
}
