//! Replays how a file is read, with real calls on the open file: what Explorer does for one right-click, and how it
//! could be done instead. Nothing is buffered between; the calls that are counted are the calls that are made.
//!
//! ```
//! use jlfix::replay::{Cache, Pattern, calls, replay};
//!
//! let path = "samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms";
//! let list = jlfix::JumpList::open(path)?;
//! let size = list.bytes().len() as u64;
//! let patterns: Vec<_> = Pattern::ALL.into_iter().filter_map(|p| Some((p, calls(p, size, list.automatic())?))).collect();
//! for timing in replay(&std::fs::File::open(path)?, size, &patterns, 3, Cache::Warm)? {
//!     println!("{}: {} reads, {} s", timing.name.word(), timing.calls, timing.seconds);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::cost;
use crate::model::AutomaticList;
use crate::os::{self, read_at};

/// Bytes of a call in the published trace (docs/format.md).
pub const PUBLISHED_CALL: usize = 68;
/// Times through the file for one click in the published trace: 7,843,293 of 4,027,904 bytes.
pub const PUBLISHED_PASSES: f64 = 7_843_293.0 / 4_027_904.0;

/// A way to read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Pattern {
    /// As Explorer does for one menu, by the list's structure.
    Explorer,
    /// As the published trace counts it: 68 bytes a call, end to end, 1.947 times through.
    Published,
    /// 512 bytes a call, once through.
    Sector,
    /// 4096 bytes a call, once through.
    Page,
    /// 64 KiB a call, once through.
    Buffered,
    /// One call.
    Whole,
}

impl Pattern {
    /// Every pattern, the slowest first.
    pub const ALL: [Self; 6] = [Self::Explorer, Self::Published, Self::Sector, Self::Page, Self::Buffered, Self::Whole];

    /// The pattern's name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Explorer => "explorer",
            Self::Published => "published",
            Self::Sector => "sector",
            Self::Page => "page",
            Self::Buffered => "buffered",
            Self::Whole => "whole",
        }
    }
}

/// The calls of a pattern, in order: offset and bytes.
pub type Calls = Vec<(u64, usize)>;

/// The calls of `pattern` on a file of `size` bytes; `list` is what Explorer would walk, and without one there is no
/// such pattern.
pub fn calls(pattern: Pattern, size: u64, list: Option<&AutomaticList<'_>>) -> Option<Calls> {
    Some(match pattern {
        Pattern::Explorer => explorer(list?),
        Pattern::Published => {
            let total = (size as f64 * PUBLISHED_PASSES).round() as u64;
            through(size, total, PUBLISHED_CALL)
        }
        Pattern::Sector => through(size, size, 512),
        Pattern::Page => through(size, size, 4096),
        Pattern::Buffered => through(size, size, 64 << 10),
        Pattern::Whole => through(size, size, usize::try_from(size).unwrap_or(usize::MAX)),
    })
}

/// Calls of `piece` bytes one after the other, from the start again at the end, until `total` bytes are read.
fn through(size: u64, total: u64, piece: usize) -> Calls {
    let mut calls = Vec::new();
    let (mut at, mut left) = (0, total);
    while left > 0 && piece > 0 && size > 0 {
        let take = (piece as u64).min(left).min(size.saturating_sub(at));
        calls.push((at, usize::try_from(take).unwrap_or(usize::MAX)));
        left = left.saturating_sub(take);
        at = at.saturating_add(take);
        if at >= size {
            at = 0;
        }
    }
    calls
}

fn explorer(list: &AutomaticList<'_>) -> Calls {
    let mut calls = Vec::new();
    cost::click(list, &mut |read| calls.push((read.offset, read.length)));
    calls
}

/// What a pattern took.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Timing {
    /// The pattern.
    pub name: Pattern,
    /// Calls made.
    pub calls: u64,
    /// Bytes that they read.
    pub bytes: u64,
    /// Bytes a call.
    pub mean: f64,
    /// Times through the file.
    pub passes: f64,
    /// Seconds of one round, the median of all.
    pub seconds: f64,
    /// How many times slower it is than one read of the whole file; null where that was not measured.
    pub times_whole: Option<f64>,
    /// Whether the file was out of the system's cache before every round; null where that was not asked for or is not
    /// known.
    pub cold: Option<bool>,
}

impl Timing {
    /// Microseconds of one call.
    pub fn microseconds_per_call(&self) -> f64 {
        if self.calls == 0 { 0.0 } else { self.seconds * 1e6 / self.calls as f64 }
    }
}

/// Whether the file is in the system's cache before each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cache<'p> {
    /// It is: the file is read once completely first.
    Warm,
    /// Its pages are dropped first, as far as the system does that. The path is that of the file.
    Cold(&'p Path),
}

/// Makes the calls of each pattern `rounds` times on `file`. The patterns take turns, round by round, so that a noisy
/// machine affects all of them alike.
///
/// # Errors
/// The error of the system for a read, or for dropping the pages.
pub fn replay(
    file: &File,
    size: u64,
    patterns: &[(Pattern, Calls)],
    rounds: usize,
    cache: Cache<'_>,
) -> io::Result<Vec<Timing>> {
    let mut buffer = vec![0_u8; usize::try_from(size).unwrap_or(0)];
    make(file, &through(size, size, buffer.len()), &mut buffer)?;
    let mut cold: Vec<Option<bool>> = vec![None; patterns.len()];
    let mut times: Vec<Vec<Duration>> = vec![Vec::with_capacity(rounds); patterns.len()];
    let mut bytes = vec![0_u64; patterns.len()];
    for _ in 0..rounds.max(1) {
        for ((((_, calls), times), bytes), cold) in patterns.iter().zip(&mut times).zip(&mut bytes).zip(&mut cold) {
            if let Cache::Cold(path) = cache {
                os::drop_cached_pages(file, path)?;
                let now = os::is_cold(file);
                *cold = if times.is_empty() { now } else { cold.zip(now).map(|(before, now)| before && now) };
            }
            let started = Instant::now();
            *bytes = make(file, calls, &mut buffer)?;
            times.push(started.elapsed());
        }
    }
    let mut timings: Vec<Timing> = patterns
        .iter()
        .zip(times)
        .zip(bytes)
        .zip(cold)
        .map(|((((name, calls), times), bytes), cold)| Timing {
            name: *name,
            calls: calls.len() as u64,
            bytes,
            mean: if calls.is_empty() { 0.0 } else { bytes as f64 / calls.len() as f64 },
            passes: if size == 0 { 0.0 } else { bytes as f64 / size as f64 },
            seconds: median(times).as_secs_f64(),
            times_whole: None,
            cold,
        })
        .collect();
    let whole = timings.iter().find(|timing| timing.name == Pattern::Whole).map(|timing| timing.seconds);
    if let Some(whole) = whole.filter(|seconds| *seconds > 0.0) {
        for timing in &mut timings {
            timing.times_whole = Some(timing.seconds / whole);
        }
    }
    Ok(timings)
}

/// Makes the calls, and says how many bytes they gave.
fn make(file: &File, calls: &[(u64, usize)], buffer: &mut [u8]) -> io::Result<u64> {
    let mut bytes = 0_u64;
    for (offset, size) in calls {
        let Some(room) = buffer.get_mut(..*size) else { continue };
        let got = read_at(file, room, *offset)?;
        bytes = bytes.saturating_add(got as u64);
    }
    std::hint::black_box(&buffer);
    Ok(bytes)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let middle = times.len() / 2;
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    if times.len().is_multiple_of(2) && middle > 0 {
        (at(middle.saturating_sub(1)) + at(middle)) / 2
    } else {
        at(middle)
    }
}
