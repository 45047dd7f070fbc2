//! Recordings that are made here: every form of file, and damage.

use crate::support::mutants::{Kind, Random};
use crate::support::recordings::etl::{self, Etl, FIRST, Packing};
use crate::support::recordings::pml;
use crate::traces::Kept;

use std::fs;
use std::io::Cursor;
use std::path::Path;

use jlfix::trace::{EventKind, FileEvent, ReaderSummary, TraceError, read_etl, read_pml};

/// 2026-11-30T12:00:00Z.
const NOON: i64 = 1_796_040_000;

/// Reads a recording of either form.
fn read(data: &[u8]) -> Result<(Kept, ReaderSummary), TraceError> {
    let mut kept = Kept::default();
    let mut input = Cursor::new(data);
    let reader = if data.starts_with(b"PML_") { read_pml } else { read_etl };
    let summary = reader(&mut input, &mut kept)?;
    Ok((kept, summary))
}

fn etl_files(reads: u32) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (wide, bits) in [(false, 32), (true, 64)] {
        for (packing, name) in [(Packing::None, "plain"), (Packing::Lzxpress, "lzxpress"), (Packing::Lznt1, "lznt1")] {
            for version in [2, 3] {
                let data = etl::explorer(wide, version, packing, reads);
                files.push((format!("fileio-v{version}-{bits}-{name}.etl"), data));
            }
        }
    }
    files
}

fn pml_files(reads: u32) -> [(String, Vec<u8>); 2] {
    [(false, 32), (true, 64)].map(|(wide, bits)| (format!("procmon-{bits}.pml"), pml::explorer(wide, reads)))
}

/// A line about an event, without its time.
fn line(event: &FileEvent) -> String {
    let FileEvent { kind, path, offset, length, ok, .. } = event;
    let name = path.as_deref().unwrap_or("?").rsplit('\\').next().unwrap_or_default();
    let process = event.process.as_deref().unwrap_or("?");
    let number = |number: &Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let result = if *ok { "" } else { " failed" };
    format!("{kind:?} {name} {} {} {process}{result}", number(offset), number(length))
}

const LIST: &str = "f01b4d95cf55d32a.automaticDestinations-ms";

#[test]
fn every_form_of_etl_gives_the_same_events_in_order_of_time() {
    for (name, data) in etl_files(4) {
        let (kept, summary) = read(&data).unwrap();
        let lines: Vec<String> = kept.events.iter().map(line).collect();
        let reads = [0, 64, 128, 192].map(|offset| format!("Read {LIST} {offset} 64 explorer.exe"));
        let mut expected = vec![format!("Open {LIST} - - explorer.exe")];
        expected.extend(reads);
        expected.push(format!("Read {LIST} 256 10 explorer.exe"));
        expected.push(format!("Read {LIST} 266 64 explorer.exe failed"));
        expected.push("Write log.txt 0 4096 logger.exe".to_owned());
        expected.push(format!("Close {LIST} - - explorer.exe"));
        expected.push(format!("DiskRead {LIST} - 16384 explorer.exe"));
        assert_eq!(lines, expected, "{name}");
        assert_eq!((summary.truncated, summary.lost, kept.skipped.len()), (false, 0, 0), "{name}");
        assert_eq!(summary.notes, Vec::<String>::new(), "{name}");
        let first = &kept.events[1];
        assert_eq!(first.time, Some(NOON * 1_000_000_000 + 1_000_000), "{name}: 1 ms after the start");
        assert_eq!((first.duration, first.pid, first.tid), (Some(3_900), Some(4_000), Some(4_004)), "{name}");
    }
}

#[test]
fn both_forms_of_pml_give_the_same_events() {
    for (name, data) in pml_files(3) {
        let (kept, summary) = read(&data).unwrap();
        let lines: Vec<String> = kept.events.iter().map(line).collect();
        let expected = [
            format!("Open {LIST} - - Explorer.EXE"),
            format!("Open {LIST} - - log\u{e9}r.exe"),
            format!("Close {LIST} - - log\u{e9}r.exe"),
            "Other ? - - ?".to_owned(),
            format!("Read {LIST} 0 64 Explorer.EXE"),
            format!("Read {LIST} 64 64 Explorer.EXE"),
            format!("Read {LIST} 128 64 Explorer.EXE"),
            format!("Read {LIST} 192 10 Explorer.EXE"),
            format!("Read {LIST} 202 64 Explorer.EXE failed"),
            format!("Lock {LIST} 100 7 Explorer.EXE"),
            format!("Unlock {LIST} 100 7 Explorer.EXE"),
            "Write l\u{f6}g.txt - 4096 log\u{e9}r.exe".to_owned(),
            format!("Close {LIST} - - Explorer.EXE"),
        ];
        assert_eq!(lines, expected, "{name}");
        assert_eq!((summary.records, summary.truncated, kept.skipped.len()), (13, false, 0), "{name}");
        assert_eq!([0, 1].map(|at| kept.events[at].without_data), [false, true], "{name}");
        let read = &kept.events[4];
        assert_eq!((read.time, read.duration), (Some(NOON * 1_000_000_000 + 1_000_000), Some(3_900)), "{name}");
        assert_eq!((read.pid, read.tid), (Some(4_000), Some(4_004)), "{name}");
    }
}

/// The files are kept so that other readers can be held against the same bytes.
#[test]
fn the_kept_recordings_are_those_that_are_made_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/trace");
    for (name, data) in etl_files(20).into_iter().chain(pml_files(20)) {
        let path = folder.join(&name);
        if std::env::var_os("JLFIX_WRITE_CASES").is_some() {
            fs::write(&path, &data).unwrap();
        }
        assert!(fs::read(&path).unwrap() == data, "{name} differs; JLFIX_WRITE_CASES=1 writes it anew");
    }
}

#[test]
fn a_file_key_that_is_used_again_names_the_file_of_its_time() {
    let mut etl = Etl::new(true, 3, Packing::Lzxpress);
    let file = (0xAAAA_0000, 0xBBBB_0000);
    etl.name(32, FIRST + 10, file.1, r"\Device\HarddiskVolume3\first.txt");
    etl.transfer(67, FIRST + 20, 1, file, 8, (0, 10));
    etl.name(35, FIRST + 30, file.1, r"\Device\HarddiskVolume3\first.txt");
    etl.name(32, FIRST + 40, file.1, r"\Device\HarddiskVolume3\second.txt");
    etl.transfer(67, FIRST + 50, 2, file, 8, (0, 10));
    etl.transfer(67, FIRST + 60, 3, (7, 9), 8, (0, 10));
    let (kept, _) = read(&etl.build()).unwrap();
    let lines: Vec<String> = kept.events.iter().map(line).collect();
    assert_eq!(lines, ["Read first.txt 0 10 ?", "Read second.txt 0 10 ?", "Read ? 0 10 ?"]);
    assert_eq!((kept.events[2].handle, kept.events[2].file_key), (Some(7), Some(9)));
}

#[test]
fn a_recording_without_file_reads_names_the_command_that_records_them() {
    let mut etl = Etl::new(false, 3, Packing::None);
    etl.thread(3, FIRST + 5, 4, 8);
    let (kept, summary) = read(&etl.build()).unwrap();
    assert!(kept.events.is_empty());
    let expected = "this recording has no file reads (FileIo events); record with `wpr -start FileIO -filemode`, and end \
                    with `wpr -stop FILE.etl`";
    assert_eq!(summary.notes, [expected]);
}

#[test]
fn a_log_that_was_never_closed_is_read_without_names_of_processes() {
    for (name, data) in pml_files(3) {
        let mut data = data;
        data[0x240..0x268].fill(0);
        let end = data.len();
        let (kept, summary) = read(&data).unwrap();
        assert_eq!(kept.by_name(EventKind::Read)[LIST].0, 5, "{name}");
        assert!(kept.events.iter().all(|event| event.process.is_none()), "{name}");
        assert!(summary.notes[0].contains("the tables at the end of this log are missing"), "{name}");
        // The same if the end is missing.
        let (_, cut) = read(&pml::explorer(true, 3)[..end / 2]).unwrap();
        assert!(cut.truncated, "{name}");
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_read_up_to_there_or_named() {
    for (name, data) in [etl_files(2)[0].clone(), etl_files(2)[9].clone(), pml_files(2)[1].clone()] {
        let mut before = 0;
        for end in 0..=data.len() {
            match read(&data[..end]) {
                Ok((kept, _)) => {
                    let reads = kept.events.iter().filter(|event| event.kind == EventKind::Read).count();
                    assert!(reads >= before, "{name} cut at {end}: {reads} reads, {before} before");
                    before = reads;
                }
                Err(error) => {
                    let message = error.to_string();
                    assert!(message.contains("need ") && message.contains("have "), "{name} cut at {end}: {message}");
                }
            }
        }
        assert_eq!(before, 4, "{name}");
    }
}

#[test]
fn noise_and_other_files_are_named_and_never_read() {
    let mut random = Random::new(16, 1);
    let noise: Vec<u8> = (0..5_000).map(|_| random.within(0..256) as u8).collect();
    let error = |data: &[u8]| read(data).unwrap_err().to_string();
    assert_eq!(error(&[]), "first buffer at offset 0: need at least 72 bytes, have the end of the file");
    assert!(error(&noise).starts_with("first buffer at offset 0: need an ETL buffer"), "{}", error(&noise));
    let mut other = pml::explorer(true, 1);
    other[4] = 8;
    assert_eq!(error(&other), "header at offset 0: need version 9, have 8");
    let mut etl = etl::explorer(true, 3, Packing::None, 1);
    etl[72 + 6] = 9;
    assert_eq!(error(&etl), "first event at offset 72: need the header of an ETL file, have another event");
}

#[test]
fn a_damaged_buffer_or_event_costs_only_itself() {
    let data = etl::explorer(true, 3, Packing::Lzxpress, 300);
    let (whole, _) = read(&data).unwrap();
    let mut damaged = data.clone();
    // In the second buffer after the header's: its packed events.
    let first = u32::from_le_bytes(data[..4].try_into().unwrap()) as usize;
    let size = u32::from_le_bytes(data[first..first + 4].try_into().unwrap()) as usize;
    let second = first + size;
    damaged[second + 90..second + 400].fill(0xFF);
    let (left, summary) = read(&damaged).unwrap();
    assert_eq!((left.skipped.len(), summary.truncated), (1, false));
    assert!(left.events.len() > whole.events.len() * 3 / 4, "{} of {}", left.events.len(), whole.events.len());

    let data = pml::explorer(true, 30);
    let mut damaged = data.clone();
    let offsets = u64::from_le_bytes(data[0x248..0x250].try_into().unwrap()) as usize;
    let event = u32::from_le_bytes(data[offsets + 50..offsets + 54].try_into().unwrap()) as usize;
    damaged[event + 44..event + 48].fill(0xFF);
    let (left, summary) = read(&damaged).unwrap();
    assert_eq!((left.skipped.len(), summary.records), (1, 39));
}

#[test]
fn mutants_are_read_without_a_panic_and_give_no_more_events_than_their_size() {
    let files: Vec<(String, Vec<u8>)> = etl_files(12).into_iter().chain(pml_files(12)).collect();
    for (name, data) in &files {
        for number in 0..150 {
            let mut random = Random::new(20_261_202, number);
            let mutant = match number % 3 {
                0 => Kind::OF_ANY_FILE[number as usize / 3 % 4].apply(data, &mut random),
                1 => huge(data, &mut random),
                _ => flipped(data, &mut random),
            };
            if let Ok((kept, _)) = read(&mutant) {
                let items = kept.events.len() + kept.skipped.len();
                assert!(items <= mutant.len() / 8 + 1, "{name} mutant {number}: {items} items");
            }
        }
    }
}

/// Some 32-bit numbers replaced with huge ones.
fn huge(data: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = data.to_vec();
    for _ in 0..=random.within(0..4) {
        let at = random.within(0..data.len() - 4);
        let value = [u32::MAX, i32::MAX as u32, 1 << 24, 0xFFFF][random.within(0..4)];
        data[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    data
}

/// A few bytes changed.
fn flipped(data: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = data.to_vec();
    for _ in 0..=random.within(0..6) {
        let at = random.within(0..data.len());
        data[at] ^= 1 << random.within(0..8);
    }
    data
}
