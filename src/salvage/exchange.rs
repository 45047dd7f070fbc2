//! Finds swapped sectors.
//!
//! A table that is not where it should be and looks to be elsewhere, or two sectors in which what is in them
//! fails: if more is valid when they are read the other way round, they are taken as swapped.

use super::links::Work;
use super::look::Looks;
use super::rebuild::rebuild;
use super::solve::{Solution, solve};
use super::space::{Space, Where};
use super::suspects::Attempt;
use crate::format::compound::header::{MINI_SIZE, SIGNATURE};
use crate::format::compound::tables::Sectors;

/// How many pairs of suspected sectors are tried to the end in a round.
const MOST_PAIRS: usize = 6;

/// The view of the file that gives the most, with sectors exchanged where that proves right.
pub(super) fn best_view<'a>(sectors: Sectors<'a>, looks: &Looks, work: &mut Work) -> Solution<'a> {
    let mut best = solve(rebuild(sectors, looks), looks, work);
    let mut first = header_elsewhere(&sectors);
    // Each round takes one of the pairs that `Sectors` can hold.
    loop {
        let mut pairs: Vec<(u32, u32)> = first.take().into_iter().chain(best.misplaced.iter().copied()).collect();
        pairs.extend(promising(&best, work));
        let mut better: Option<Solution<'a>> = None;
        for (one, other) in pairs {
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
            None => return best,
        }
    }
}

/// The pairs of suspected blocks with which more of what does not hold would hold, those with the most first.
fn promising(best: &Solution<'_>, work: &mut Work) -> Vec<(u32, u32)> {
    let sectors = &best.layout.sectors;
    let attempts = &best.outcome.attempts;
    let unit = |attempt: &Attempt| if attempt.place == Where::Minis { MINI_SIZE } else { sectors.size() };
    let cost = attempts.iter().map(|attempt| attempt.units.len().saturating_mul(unit(attempt)));
    let cost = cost.fold(0, usize::saturating_add);
    let held = |sectors: &Sectors<'_>| -> usize {
        let (all, minis) = (Space::bare(sectors, None), Space::bare(sectors, Some(&best.layout.mini_stream)));
        let space = |attempt: &Attempt| if attempt.place == Where::Minis { &minis } else { &all };
        attempts.iter().map(|attempt| attempt.held(space(attempt))).sum()
    };
    let has_content = |sector: &u32| sectors.get(*sector).is_some_and(|bytes| bytes.iter().any(|byte| *byte != 0));
    let suspects: Vec<u32> = best.outcome.suspects.iter().copied().filter(has_content).collect();
    let before = held(sectors);
    let mut pairs: Vec<(usize, u32, u32)> = Vec::new();
    for (index, one) in suspects.iter().enumerate() {
        for other in suspects.iter().skip(index.saturating_add(1)) {
            let (one, other) = (one.saturating_add(1), other.saturating_add(1));
            let Some(view) = sectors.exchanged(one, other).filter(|_| work.spend(cost)) else { continue };
            let gain = held(&view).saturating_sub(before);
            if gain > 0 {
                pairs.push((gain, one, other));
            }
        }
    }
    pairs.sort_by_key(|(gain, ..)| std::cmp::Reverse(*gain));
    pairs.truncate(MOST_PAIRS);
    pairs.into_iter().map(|(_, one, other)| (one, other)).collect()
}

/// The header's block and the one that looks to be the header, if the first is not.
fn header_elsewhere(sectors: &Sectors<'_>) -> Option<(u32, u32)> {
    if sectors.header().starts_with(&SIGNATURE) {
        return None;
    }
    let found =
        (0..sectors.count()).find(|sector| sectors.get(*sector).is_some_and(|bytes| bytes.starts_with(&SIGNATURE)));
    found.map(|sector| (0, sector.saturating_add(1)))
}
