//! Sectors that stand in each other's place.
//!
//! A table that is not where it should be and looks to be elsewhere, or two sectors in which what is in them
//! does not hold: read the other way round, does more hold? What comes of it decides, and nothing else.

use super::super::header::SIGNATURE;
use super::super::tables::Sectors;
use super::look::Looks;
use super::rebuild::rebuild;
use super::solve::{Solution, solve};
use super::space::Work;

/// How many pairs are tried in a round.
const MOST_PAIRS: usize = 72;

/// The view of the file that gives the most, with sectors exchanged where that proves right.
pub(super) fn best_view<'a>(sectors: Sectors<'a>, looks: &Looks, work: &mut Work) -> Solution<'a> {
    let mut best = solve(rebuild(sectors, looks), looks, work);
    let mut first = header_elsewhere(&sectors);
    // As many rounds as pairs that `Sectors` can hold.
    while !best.outcome.suspects.is_empty() || !best.misplaced.is_empty() || first.is_some() {
        let mut better: Option<Solution<'a>> = None;
        for (one, other) in pairs(&best, first.take()) {
            let Some(view) = best.layout.sectors.exchanged(one, other) else { break };
            if !work.spend(sectors.data().len()) {
                break;
            }
            let trial = solve(rebuild(view, looks), looks, work);
            if trial.outcome.score > better.as_ref().unwrap_or(&best).outcome.score {
                better = Some(trial);
            }
        }
        match better {
            Some(better) => best = better,
            None => break,
        }
    }
    best
}

/// The pairs of blocks that are worth a try, likeliest first.
fn pairs(best: &Solution<'_>, first: Option<(u32, u32)>) -> Vec<(u32, u32)> {
    let sectors = &best.layout.sectors;
    let has_content = |sector: &u32| sectors.get(*sector).is_some_and(|bytes| bytes.iter().any(|byte| *byte != 0));
    let suspects: Vec<u32> = best.outcome.suspects.iter().copied().filter(has_content).collect();
    let mut pairs: Vec<(u32, u32)> = first.into_iter().chain(best.misplaced.iter().copied()).collect();
    for (index, one) in suspects.iter().enumerate() {
        for other in suspects.iter().skip(index.saturating_add(1)) {
            pairs.push((one.saturating_add(1), other.saturating_add(1)));
        }
    }
    pairs.truncate(MOST_PAIRS);
    pairs
}

/// The header's block and the one that looks to be the header, if the first is not.
fn header_elsewhere(sectors: &Sectors<'_>) -> Option<(u32, u32)> {
    if sectors.header().starts_with(&SIGNATURE) {
        return None;
    }
    let found = (0..sectors.count()).find(|sector| sectors.get(*sector).is_some_and(|bytes| bytes.starts_with(&SIGNATURE)));
    found.map(|sector| (0, sector.saturating_add(1)))
}
