//! Damaged lists, each Notepad's healthy one with one thing wrong.

use jlfix::model::Code;

use super::Sample;
use super::automatic::notes;
use super::build::{Link, LinkBuilder};

const SECTOR: usize = 512;

/// All of them.
pub fn all() -> Vec<Sample> {
    vec![
        Sample {
            path: "damaged/cut-short/9b9cdc69c1c24e2b.automaticDestinations-ms",
            shows: "The file breaks off after two thirds: the links of the older entries are gone",
            bytes: cut_short(),
            finding: Some(Code::StreamCut),
        },
        Sample {
            path: "damaged/fat-loop/9b9cdc69c1c24e2b.automaticDestinations-ms",
            shows: "A bad FAT chain: the third sector of the `DestList` leads back to its first",
            bytes: fat_loop(),
            finding: Some(Code::Loop),
        },
        Sample {
            path: "damaged/missing-link/9b9cdc69c1c24e2b.automaticDestinations-ms",
            shows: "An entry has no link: stream `14` is gone, entry 20 is still there",
            bytes: notes().edit(4, |entry| entry.link = Link::Missing).build(),
            finding: Some(Code::NoLink),
        },
        Sample {
            path: "damaged/orphan-link/9b9cdc69c1c24e2b.automaticDestinations-ms",
            shows: "A link has no entry: stream `1c` is there, entry 28 is not",
            bytes: orphan_link(),
            finding: Some(Code::OrphanLink),
        },
        Sample {
            path: "damaged/wrong-checksum/9b9cdc69c1c24e2b.automaticDestinations-ms",
            shows: "The checksum of entry 17 is wrong",
            bytes: notes().edit(7, |entry| entry.checksum = Some(0x0123_4567_89AB_CDEF)).build(),
            finding: Some(Code::Checksum),
        },
        Sample {
            path: "damaged/wrong-count/9b9cdc69c1c24e2b.automaticDestinations-ms",
            shows: "The header counts 27 entries and 1 pinned, where there are 24 and 2",
            bytes: notes().header(|header| (header.count, header.pinned) = (27, 1)).build(),
            finding: Some(Code::Count),
        },
    ]
}

fn cut_short() -> Vec<u8> {
    let mut bytes = notes().build();
    bytes.truncate(bytes.len() * 2 / 3);
    bytes
}

fn orphan_link() -> Vec<u8> {
    let link = LinkBuilder::file(r"C:\Users\sam\Documents\left behind.txt");
    notes().stream("1c", &link.build()).build()
}

/// The FAT's one sector is named first in the header's DIFAT, and the DestList's first sector in the directory
/// (MS-CFB 2.2 and 2.6.1).
fn fat_loop() -> Vec<u8> {
    let mut bytes = notes().build();
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let fat = (word(&bytes, 76) as usize + 1) * SECTOR;
    let name: Vec<u8> = "DestList\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let directory_entry = (0..bytes.len()).step_by(128).find(|at| bytes[*at..].starts_with(&name)).unwrap();
    let first = word(&bytes, directory_entry + 116);
    let next = |bytes: &[u8], sector: u32| word(bytes, fat + sector as usize * 4);
    let third = next(&bytes, next(&bytes, first));
    let at = fat + third as usize * 4;
    bytes[at..at + 4].copy_from_slice(&first.to_le_bytes());
    bytes
}
