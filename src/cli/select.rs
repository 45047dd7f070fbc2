//! Which of the lists that were found a command is about, by their state and size: `--only` and `--larger-than`.

use clap::ValueEnum;

use jlfix::report::{SLOW_MS, State};
use jlfix::scan::Found;

use super::context::Context;
use super::input::{self, View};
use super::{Stop, words};

/// The states and sizes that are asked for; all if none is.
#[derive(Debug, clap::Args)]
pub(crate) struct Select {
    /// Only lists in these states: damaged, slow, stale, empty, ok
    #[arg(long, value_name = "STATE,...", value_delimiter = ',', value_enum, hide_possible_values = true)]
    only: Vec<StateName>,
    /// Only files larger than this: 100KiB, 2MiB, 500000
    #[arg(long, value_name = "SIZE", value_parser = size)]
    larger_than: Option<u64>,
    /// From how many milliseconds per click a list counts as slow
    #[arg(long, default_value_t = SLOW_MS, value_name = "MS", value_parser = milliseconds, hide_short_help = true)]
    pub(crate) slow_ms: f64,
}

impl Select {
    /// True if a list of this state and size is asked for.
    pub(crate) fn accepts(&self, state: State, size: u64) -> bool {
        (self.only.is_empty() || self.only.iter().any(|only| only.state() == state))
            && self.larger_than.is_none_or(|limit| size > limit)
    }

    /// From how many milliseconds a list is slow, unless that is the default.
    pub(crate) fn slow_limit(&self) -> Option<f64> {
        (self.slow_ms.to_bits() != SLOW_MS.to_bits()).then_some(self.slow_ms)
    }

    /// Leaves only what is asked for. A file that cannot be read stays, so that the command reports why.
    pub(crate) fn pick(&self, files: Vec<Found>, context: &Context) -> Result<Vec<Found>, Stop> {
        if self.only.is_empty() && self.larger_than.is_none() {
            return Ok(files);
        }
        let count = files.len();
        let picked = if self.only.is_empty() { self.pick_by_size(files) } else { self.pick_by_state(&files, context)? };
        if picked.is_empty() && count > 0 {
            context.note(&format!("{}: selects none of {}", self.shown(), words::count(count, "list")));
        }
        Ok(picked)
    }

    /// The size is known without reading.
    fn pick_by_size(&self, files: Vec<Found>) -> Vec<Found> {
        let is_picked = |found: &Found| {
            let size = std::fs::metadata(&found.path).map(|facts| facts.len());
            size.ok().zip(self.larger_than).is_none_or(|(size, limit)| size > limit)
        };
        files.into_iter().filter(is_picked).collect()
    }

    fn pick_by_state(&self, files: &[Found], context: &Context) -> Result<Vec<Found>, Stop> {
        let options = context.report().slow_ms(self.slow_ms);
        let each = |view: View<'_>| self.accepts(view.row.state, view.row.size);
        let mut picked = Vec::new();
        input::view_each(files, context, &options, each, |found, accepted| {
            if accepted.unwrap_or(true) {
                picked.push(found.clone());
            }
            Ok(())
        })?;
        Ok(picked)
    }

    /// The options, as they are typed.
    fn shown(&self) -> String {
        let names = self.only.iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
        let only = (!names.is_empty()).then(|| format!("--only {}", names.join(",")));
        let larger = self.larger_than.map(|size| format!("--larger-than {size}"));
        only.into_iter().chain(larger).collect::<Vec<_>>().join(" ")
    }
}

fn milliseconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|ms: &f64| ms.is_finite() && *ms >= 0.0)
        .ok_or_else(|| "need a number of milliseconds".to_owned())
}

/// Reads a size: a number of bytes, or of KiB, MiB or GiB. `K` and `KB` are KiB as well.
fn size(text: &str) -> Result<u64, String> {
    let need = || "need a number of bytes, or a number with KiB, MiB or GiB, such as 100KiB".to_owned();
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err(need()),
    };
    let number: u64 = number.parse().map_err(|_| need())?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("{text} is too large"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateName {
    Damaged,
    Slow,
    Stale,
    Empty,
    Ok,
}

impl StateName {
    fn state(self) -> State {
        match self {
            Self::Damaged => State::Damaged,
            Self::Slow => State::Slow,
            Self::Stale => State::Stale,
            Self::Empty => State::Empty,
            Self::Ok => State::Ok,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_bytes_and_binary_units() {
        for (text, bytes) in [("0", 0), ("500000", 500_000), ("100KiB", 102_400), ("2 mib", 2 << 20), ("1G", 1 << 30)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "KiB", "-1", "1.5MiB", "1TiB", "99999999999999999999", "99999999999999999G"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
