//! Recordings of file I/O, read by the library.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use jlfix::trace::{EventKind, EventSink, FileEvent, Place, read_etl, read_pml};

/// Keeps everything.
#[derive(Debug, Default)]
pub struct Kept {
    pub events: Vec<FileEvent>,
    pub skipped: Vec<(Place, &'static str)>,
}

impl EventSink for Kept {
    fn event(&mut self, event: FileEvent) {
        self.events.push(event);
    }

    fn name(&mut self, _: u64, _: Arc<str>) {}

    fn skipped(&mut self, place: Place, why: &'static str) {
        self.skipped.push((place, why));
    }
}

impl Kept {
    /// Number and bytes of the events of a kind by the last part of their path.
    pub fn by_name(&self, kind: EventKind) -> BTreeMap<String, (usize, u64)> {
        let mut names = BTreeMap::new();
        for event in self.events.iter().filter(|event| event.kind == kind) {
            let name = event.path.as_deref().unwrap_or("?").rsplit('\\').next().unwrap_or_default();
            let (count, bytes) = names.entry(name.to_owned()).or_insert((0, 0));
            *count += 1;
            *bytes += event.length.unwrap_or(0);
        }
        names
    }
}

/// A real recording, unpacked. `None` where the files of `../shared` are not at hand.
fn shared(name: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/trace").join(name);
    let Ok(packed) = fs::read(&path) else {
        println!("skipped: {} is missing", path.display());
        return None;
    };
    let mut data = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut data).unwrap();
    Some(data)
}

/// The session of Explorer on a list that starts `seconds` after the start of a minute: the reads of a thread from an
/// open to the next close.
fn session(kept: &Kept, list: &str, seconds: i64) -> usize {
    let of_list = |event: &&FileEvent| event.path.as_deref().is_some_and(|path| path.contains(list));
    let near = |event: &FileEvent| (event.time.unwrap_or(0) / 100_000 % 600_000).abs_diff(seconds) <= 1;
    let events: Vec<_> = kept.events.iter().filter(of_list).collect();
    let open = |event: &&FileEvent| event.kind == EventKind::Open && !event.without_data && near(event);
    let start = events.iter().position(open).unwrap_or_else(|| panic!("no session of {list} at {seconds}"));
    let tid = events[start].tid;
    let thread = events[start..].iter().filter(|event| event.tid == tid);
    thread.take_while(|event| event.kind != EventKind::Close).filter(|event| event.kind == EventKind::Read).count()
}

#[test]
fn the_process_monitor_log_in_its_own_format_has_the_events_of_the_csv() {
    let Some(data) = shared("procmon-windows10-1903.pml.gz") else { return };
    let mut kept = Kept::default();
    let summary = read_pml(&mut Cursor::new(&data), &mut kept).unwrap();
    assert_eq!((summary.records, kept.skipped.len(), summary.truncated), (53_214, 0, false));
    let count = |kind| kept.events.iter().filter(|event| event.kind == kind).count();
    assert_eq!([EventKind::Read, EventKind::Write, EventKind::Open].map(count), [1_381, 301, 1_076]);
    assert_eq!([EventKind::Lock, EventKind::Unlock, EventKind::Close].map(count), [221, 221, 944]);
    let reads = kept.by_name(EventKind::Read);
    assert_eq!(reads["UIAutomationCore.dll"], (572, 10_648));
    assert_eq!(reads["f01b4d95cf55d32a.automaticDestinations-ms"], (394, 33_874));
    assert_eq!(reads["9b9cdc69c1c24e2b.automaticDestinations-ms"], (112, 19_774));
    assert_eq!(reads["5f7b5f1e01b83767.automaticDestinations-ms"], (53, 8_256));
    // The sessions at 1:18:13.1087, 1:18:13.1139 and 1:18:12.3749.
    assert_eq!(session(&kept, "f01b4d95cf55d32a", 131_087), 79);
    assert_eq!(session(&kept, "f01b4d95cf55d32a", 131_139), 74);
    assert_eq!(session(&kept, "9b9cdc69c1c24e2b", 123_749), 26);
    let lock = kept.events.iter().find(|event| event.kind == EventKind::Lock).unwrap();
    assert_eq!(
        (lock.process.as_deref(), lock.pid, lock.offset, lock.length),
        (Some("MsMpEng.exe"), Some(6_388), Some(124), Some(1))
    );
}

#[test]
fn the_etl_of_windows_8_has_its_disk_reads_and_names_itself_without_file_reads() {
    let Some(data) = shared("perfview-windows8-x64.etl.gz") else { return };
    let mut kept = Kept::default();
    let summary = read_etl(&mut Cursor::new(&data), &mut kept).unwrap();
    assert_eq!((summary.records, summary.lost, kept.skipped.len(), summary.truncated), (179_474, 0, 0, false));
    let reads = kept.by_name(EventKind::DiskRead);
    assert_eq!(reads["clr.dll"], (670, 10_977_280));
    assert_eq!(reads.values().map(|(count, _)| count).sum::<usize>(), 1_208);
    let clr = kept.events.iter().find(|event| event.path.as_deref().is_some_and(|path| path.ends_with("clr.dll")));
    let path = clr.unwrap().path.as_deref().unwrap();
    assert_eq!(path, r"C:\Windows\Microsoft.NET\Framework64\v4.0.30319\clr.dll");
    let [note] = &summary.notes[..] else { panic!("{:?}", summary.notes) };
    assert!(
        note.contains("no file reads") && note.contains("3054 of a rundown") && note.contains("wpr -start FileIO"),
        "{note}"
    );
}
