//! The model of a click against the recorded calls of Explorer (Process Monitor, Windows 10 1903), offset by offset.
//!
//! Each file here has the layout that the calls of the log show: where each table, entry and link is, and where the
//! sectors of a stream are not adjacent.

use jlfix::cost::{Cost, session};
use jlfix::limits::Limits;
use jlfix::model::AutomaticList;

use crate::support::build::{Docfile, Link, ListBuilder, NewEntry, Placed};

/// A link whose parts have these sizes: ID list, LinkInfo with its size field, and extra blocks with theirs.
fn link(id_list: usize, link_info: usize, blocks: &[usize]) -> Vec<u8> {
    let mut out = 0x4C_u32.to_le_bytes().to_vec();
    out.extend([1, 0x14, 2, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46]);
    out.extend((1_u32 | u32::from(link_info > 0) << 1 | 1 << 7).to_le_bytes());
    out.resize(76, 0);
    out.extend((id_list as u16).to_le_bytes());
    out.resize(out.len() + id_list, 0);
    for size in std::iter::once(&link_info).filter(|size| **size > 0).chain(blocks) {
        let end = out.len() + size;
        out.extend((*size as u32).to_le_bytes());
        out.resize(end, 0);
    }
    out.extend([0; 4]);
    out
}

/// A file with this layout: paths of the entries in bytes, and the streams with their mini sectors.
struct Layout<'l> {
    paths: &'l [usize],
    mini_stream: Vec<u32>,
    directory: &'l [u32],
    dest_list: Vec<u32>,
    links: Vec<(Vec<u8>, Vec<u32>)>,
}

impl Layout<'_> {
    fn build(&self) -> Vec<u8> {
        let mut list = ListBuilder::new(4);
        for (at, (bytes, _)) in self.links.iter().enumerate() {
            let entry = NewEntry::new(&"x".repeat(self.paths[at] / 2), Link::Raw(bytes.clone()));
            list = list.entry(entry.with(|entry| entry.id = Some(at as u64 + 1)));
        }
        let streams = list.all_streams();
        let mut file = Docfile::new();
        file.directory = self.directory.to_vec();
        file.mini_fat = vec![2];
        file.mini_stream.clone_from(&self.mini_stream);
        file.reserve(self.mini_stream.last().unwrap() + 1, self.mini_stream.len() as u32 * 8);
        for (name, data) in &streams {
            let chain = match usize::from_str_radix(name, 16) {
                Ok(id) => self.links[id - 1].1.clone(),
                Err(_) => self.dest_list.clone(),
            };
            file.place(name, Placed { size: data.len(), chain });
        }
        file.build(&list.root, |name| streams.iter().find(|(known, _)| known == name).unwrap().1.clone())
    }
}

/// The calls of a session on the file: the DestList or not, and the links of these ids in this order.
fn calls(file: &[u8], dest_list: bool, ids: &[u64]) -> Vec<(u64, usize)> {
    let compound = jlfix::salvage::read(file, &Limits::default()).unwrap();
    assert!(compound.faults.is_empty(), "{:?}", compound.faults);
    let list = AutomaticList::read(&compound);
    let links = ids.iter().map(|id| list.entries.iter().find(|entry| entry.dest.id == *id).unwrap().link.unwrap());
    let mut calls = Vec::new();
    session(&list, dest_list, links, &mut |read| calls.push((read.offset, read.length)));
    calls
}

/// The calls as the log has them: "offset+length …".
fn logged(text: &str) -> Vec<(u64, usize)> {
    let call = |call: &str| {
        let (offset, length) = call.split_once('+').unwrap();
        (offset.parse().unwrap(), length.parse().unwrap())
    };
    text.split_whitespace().map(call).collect()
}

/// `f01b4d95cf55d32a` of the log: 7,168 bytes, 6 entries. The links are numbered as they come in the second session.
fn explorer() -> Vec<u8> {
    Layout {
        paths: &[100; 6],
        mini_stream: vec![3, 4, 5, 7, 8, 9, 10, 11, 12],
        directory: &[1, 6],
        dest_list: [28..44, 51..54, 61..65].into_iter().flatten().collect(),
        links: vec![
            (link(80, 66, &[96, 114]), (44..51).collect()),
            (link(80, 67, &[96, 114]), (54..61).collect()),
            (link(80, 70, &[96, 114]), (6..13).collect()),
            (link(80, 68, &[96, 114]), [0..6, 13..14].into_iter().flatten().collect()),
            (link(80, 70, &[96, 114]), (14..21).collect()),
            (link(80, 69, &[96, 114]), (21..28).collect()),
        ],
    }
    .build()
}

/// `9b9cdc69c1c24e2b` of the log.
fn notepad() -> Vec<u8> {
    Layout {
        paths: &[70, 82],
        mini_stream: (3..9).collect(),
        directory: &[1],
        dest_list: [13..17, 31..35].into_iter().flatten().collect(),
        links: vec![(link(425, 166, &[96, 114]), (17..31).collect()), (link(400, 166, &[96]), (0..13).collect())],
    }
    .build()
}

const EXPLORER_TABLES: &str = "0+512 0+512 512+512 1024+512 3584+512 1536+512 ";
const EXPLORER_FOUR_LINKS: &str = "2944+4 2948+72 3020+2 3022+80 3102+4 3106+66 3172+4 3176+92 3268+4 3272+110 3382+4 \
     3392+4 3396+72 3468+2 3470+80 3550+4 3554+30 4096+35 4131+4 4135+92 4227+4 4231+110 4341+4 ";
const EXPLORER_SECOND_LINK: &str =
    "2048+4 2052+72 2124+2 2126+80 2206+4 2210+64 2274+4 2278+92 2370+4 2374+58 2880+52 2932+4 ";
const EXPLORER_FIRST_LINK: &str = "2432+4 2436+72 2508+2 2510+80 2590+4 2594+66 2660+4 2664+92 2756+4 2760+110 2870+4 ";

#[test]
fn the_walk_makes_the_79_calls_of_explorers_first_session() {
    let log = [
        EXPLORER_TABLES,
        "4352+32 4384+128 4512+2 4514+100 4614+4 4618+128 4746+2 4748+100 4848+4 4852+128 4980+2 4982+100 5082+4 \
         5086+128 5214+2 5216+100 5316+4 5320+56 5824+72 5896+2 5898+100 5998+4 6002+14 6464+114 6578+2 6580+100 \
         6680+4 ",
        EXPLORER_SECOND_LINK,
        EXPLORER_FIRST_LINK,
        EXPLORER_FOUR_LINKS,
    ]
    .concat();
    let logged = logged(&log);
    assert_eq!(logged.len(), 79);
    assert_eq!(calls(&explorer(), true, &[4, 3, 5, 6]), logged);
}

#[test]
fn the_walk_makes_the_74_calls_of_explorers_second_session() {
    let log = [
        EXPLORER_TABLES,
        "5376+4 5380+72 5452+2 5454+80 5534+4 5538+62 5600+4 5604+92 5696+4 5700+110 5810+4 \
         6016+4 6020+72 6092+2 6094+80 6174+4 6178+63 6241+4 6245+92 6337+4 6341+110 6451+4 ",
        EXPLORER_FIRST_LINK,
        EXPLORER_SECOND_LINK,
        EXPLORER_FOUR_LINKS,
    ]
    .concat();
    let logged = logged(&log);
    assert_eq!(logged.len(), 74);
    assert_eq!(calls(&explorer(), false, &[1, 2, 3, 4, 5, 6]), logged);
}

#[test]
fn the_walk_makes_the_26_and_15_calls_of_the_sessions_of_a_small_list() {
    let dest_list = "0+512 0+512 512+512 1024+512 1536+512 2880+32 2912+128 3040+2 3042+70 3112+4 3116+20 4032+108 \
         4140+2 4142+82 4224+4 ";
    let link = "3136+4 3140+72 3212+2 3214+425 3639+4 3643+162 3805+4 3809+92 3901+4 3905+110 4015+4";
    let file = notepad();
    let first = logged(&[dest_list, link].concat());
    assert_eq!(first.len(), 26);
    assert_eq!(calls(&file, true, &[1]), first);
    let second = logged(dest_list);
    assert_eq!(second.len(), 15);
    assert_eq!(calls(&file, true, &[]), second);
}

#[test]
fn a_field_across_sectors_that_are_not_adjacent_takes_a_call_for_each_and_is_counted() {
    let file = explorer();
    let compound = jlfix::salvage::read(&file, &Limits::default()).unwrap();
    let cost = Cost::of(&AutomaticList::read(&compound));
    // Two places in the DestList, one in each of two links, in both sessions.
    assert_eq!((cost.discontinuities, cost.split_reads), (4, 8));
    assert_eq!(cost.reads, 2 * (6 + 25 + 2 + 6 * 11 + 2));
}

#[test]
fn a_list_without_entries_costs_its_tables_and_an_empty_dest_list_ends_the_walk() {
    let file = ListBuilder::empty().build();
    let compound = jlfix::salvage::read(&file, &Limits::default()).unwrap();
    let cost = Cost::of(&AutomaticList::read(&compound));
    assert_eq!((cost.reads, cost.split_reads, cost.discontinuities), (2 * (2 + 2), 0, 0));
}
