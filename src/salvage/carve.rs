//! What is left when everything that has a place is taken out: links at any place, and DestList entries.

use std::borrow::Cow;
use std::ops::Range;

use super::links::{self, Work};
use crate::format::compound::CarvedEntry;
use crate::format::compound::Run;
use crate::format::compound::header::MINI_SIZE;
use crate::format::compound::layout::Layout;
use crate::format::destlist::{self, Soundness};

/// A link, and where it is in the file.
pub(super) struct CarvedLink<'a> {
    pub(super) data: Cow<'a, [u8]>,
    pub(super) offset: u64,
}

/// Links and entries in the pieces that are not `taken`. `version` is that of the file's DestList, if there is one.
pub(super) fn carve<'a>(
    layout: &Layout<'a>,
    taken: &[bool],
    version: Option<u32>,
    work: &mut Work,
) -> (Vec<CarvedLink<'a>>, Vec<CarvedEntry<'a>>) {
    let (mut links, mut entries) = (Vec::new(), Vec::new());
    for run in runs(layout, taken) {
        // Links at the start of a piece are found before, but a file that was cut from the front has none there.
        let found = links::links(run.data(), false, work);
        links.extend(
            found.iter().map(|link| CarvedLink { data: run.part(link.at, link.size), offset: run.offset(link.at) }),
        );
        if !work.spend(run.data().len()) {
            break;
        }
        let (version, found) = destlist::certain_entries(run.data(), version);
        for found in found.iter().filter(|found| found.soundness == Soundness::Sound) {
            let (at, size) = (found.entry.offset, found.entry.raw.len());
            entries.push(CarvedEntry { data: run.part(at, size), offset: run.offset(at), version });
        }
    }
    (links, entries)
}

/// The ranges of pieces that are not taken, in the order in which the file is read.
fn runs<'a>(layout: &Layout<'a>, taken: &[bool]) -> Vec<Run<'a, ()>> {
    let sectors = &layout.sectors;
    let per_sector = (sectors.size() / MINI_SIZE).max(1);
    let mut runs = Vec::new();
    let mut pieces: Vec<(Range<usize>, ())> = Vec::new();
    let mut end = |pieces: &mut Vec<_>| {
        if !pieces.is_empty() {
            runs.push(Run::new(sectors.data(), std::mem::take(pieces)));
        }
    };
    for (sector, taken) in (0..sectors.count()).zip(taken.chunks(per_sector)) {
        let have = sectors.get(sector).map_or(0, <[u8]>::len);
        let start = usize::try_from(sectors.offset(sector)).unwrap_or(usize::MAX);
        for (slot, taken) in taken.iter().enumerate() {
            let inside = slot.saturating_mul(MINI_SIZE);
            let size = have.saturating_sub(inside).min(MINI_SIZE);
            if *taken || size == 0 {
                end(&mut pieces);
            } else {
                let at = start.saturating_add(inside);
                pieces.push((at..at.saturating_add(size), ()));
            }
        }
    }
    end(&mut pieces);
    runs
}
