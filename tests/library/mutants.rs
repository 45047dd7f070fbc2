//! Damaged lists by the hundred, each from a seed: nothing panics, and most of what was in them comes back.

use crate::support;
use crate::support::mutants;

use std::collections::HashSet;

use jlfix::model::{AutomaticList, Kind as FileKind, ReadOptions, Source};
use mutants::{Kind, Random};
use support::build::ListBuilder;

/// Links and DestList entries of a file, as their bytes.
#[derive(Default)]
struct Contents {
    links: HashSet<Vec<u8>>,
    entries: HashSet<Vec<u8>>,
}

fn contents(data: &[u8]) -> Contents {
    let source = Source::read(data, Some(FileKind::Automatic), &ReadOptions::default());
    let Some(Source::Automatic(Ok(compound))) = &source else { return Contents::default() };
    let list = AutomaticList::read(compound);
    list.findings(Default::default());
    let links = compound.streams.iter().filter(|stream| stream.entry_id().is_some() || stream.name.is_empty());
    let carved = compound.carved_entries.iter().map(|entry| entry.data.to_vec());
    Contents {
        links: links.map(|stream| stream.data.to_vec()).collect(),
        entries: list.entries.iter().map(|entry| entry.dest.raw.to_vec()).chain(carved).collect(),
    }
}

#[test]
fn of_damaged_lists_most_links_and_entries_come_back_and_nothing_panics() {
    let originals = [
        ListBuilder::files(1, 9).build(),
        ListBuilder::folders(4, 24).ranked().pin(3).build(),
        ListBuilder::files(6, 60).pin(0).pin(50).build(),
    ];
    for kind in Kind::ALL {
        let (mut had, mut links, mut entries) = (0, 0, 0);
        for (number, original) in originals.iter().cycle().take(90).enumerate() {
            let whole = contents(original);
            let left = contents(&kind.apply(original, &mut Random::new(20_261_130, number as u64)));
            had += whole.links.len();
            links += whole.links.intersection(&left.links).count();
            entries += whole.entries.intersection(&left.entries).count();
        }
        // What a flipped bit, a cut or zeroes hit is gone for good; damage to the tables alone loses next to nothing.
        let floor = match kind {
            Kind::Truncated => 0.3,
            Kind::Flips => 0.5,
            Kind::Zeroed => 0.8,
            _ => 0.95,
        };
        for (what, came_back) in [("links", links), ("entries", entries)] {
            let share = f64::from(came_back as u32) / f64::from(had as u32);
            println!("{}: {share:.3} of the {what}", kind.name());
            assert!(share >= floor, "{}: {share:.3} of the {what} came back, need {floor}", kind.name());
        }
    }
}
