//! What is left when everything that has a place is taken out: links at any place, and DestList entries.

use std::borrow::Cow;

use super::super::CarvedEntry;
use super::super::header::MINI_SIZE;
use super::super::layout::Layout;
use super::super::streams::Pieces;
use super::space::Work;
use crate::format::destlist::{self, Soundness};
use crate::format::link::{self, HEADER_SIZE, Walk, looks_like_link};

/// A range of the file in one piece of memory, and where each of its pieces of 64 bytes is.
struct Run<'a> {
    data: Cow<'a, [u8]>,
    pieces: Vec<usize>,
}

impl<'a> Run<'a> {
    /// Where byte `at` of the run stands in the file.
    fn offset(&self, at: usize) -> u64 {
        let piece = self.pieces.get(at / MINI_SIZE).copied().unwrap_or_default();
        piece.saturating_add(at % MINI_SIZE) as u64
    }

    fn part(&self, at: usize, size: usize) -> Cow<'a, [u8]> {
        let range = at..at.saturating_add(size);
        match &self.data {
            Cow::Borrowed(data) => Cow::Borrowed(data.get(range).unwrap_or_default()),
            Cow::Owned(data) => Cow::Owned(data.get(range).unwrap_or_default().to_vec()),
        }
    }
}

/// A link, and where it stands in the file.
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
        links.extend(run_links(&run, work));
        if !work.spend(run.data.len()) {
            break;
        }
        let found = destlist::resync(&run.data);
        let version = version.unwrap_or(found.header.version);
        for found in found.entries.iter().filter(|found| found.soundness == Soundness::Sound) {
            let (at, size) = (found.entry.offset, found.entry.raw.len());
            entries.push(CarvedEntry { data: run.part(at, size), offset: run.offset(at), version });
        }
    }
    (links, entries)
}

/// Links at any byte: those at the start of a piece are found before, but a file that was cut from the front has none
/// there.
fn run_links<'a>(run: &Run<'a>, work: &mut Work) -> Vec<CarvedLink<'a>> {
    let mut links = Vec::new();
    let mut at = 0_usize;
    let first = HEADER_SIZE as u8;
    while let Some(next) = run.data.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == first)) {
        at = at.saturating_add(next);
        let rest = run.data.get(at..).unwrap_or_default();
        let mut size = 1;
        if looks_like_link(rest) && work.spend(HEADER_SIZE) {
            match link::walk(rest) {
                Ok(walk) if walk.flaws == 0 => {
                    links.push(CarvedLink { data: run.part(at, walk.size), offset: run.offset(at) });
                    size = walk.size;
                }
                Ok(Walk { size: gone_over, .. }) | Err(gone_over) => {
                    work.spend(gone_over);
                }
            }
        }
        at = at.saturating_add(size);
    }
    links
}

/// The ranges of pieces that are not taken, in the order in which the file is read.
fn runs<'a>(layout: &Layout<'a>, taken: &[bool]) -> Vec<Run<'a>> {
    let sectors = &layout.sectors;
    let per_sector = (sectors.size() / MINI_SIZE).max(1);
    let mut runs = Vec::new();
    let mut pieces: Vec<usize> = Vec::new();
    let mut bytes = Pieces::new(sectors.data());
    for (sector, taken) in (0..sectors.count()).zip(taken.chunks(per_sector)) {
        let have = sectors.get(sector).map_or(0, <[u8]>::len);
        let start = usize::try_from(sectors.offset(sector)).unwrap_or(usize::MAX);
        for (slot, taken) in taken.iter().enumerate() {
            let inside = slot.saturating_mul(MINI_SIZE);
            let size = have.saturating_sub(inside).min(MINI_SIZE);
            if *taken || size == 0 {
                if !pieces.is_empty() {
                    let (data, _) = std::mem::replace(&mut bytes, Pieces::new(sectors.data())).join();
                    runs.push(Run { data, pieces: std::mem::take(&mut pieces) });
                }
                continue;
            }
            let at = start.saturating_add(inside);
            pieces.push(at);
            bytes.push(at..at.saturating_add(size));
        }
    }
    if !pieces.is_empty() {
        runs.push(Run { data: bytes.join().0, pieces });
    }
    runs
}
