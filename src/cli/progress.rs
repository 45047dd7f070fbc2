//! Progress on stderr, for what takes over a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that shows itself only after a second, and only on a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: bool,
}

impl Progress {
    /// Progress over `total` files.
    pub(crate) fn new(total: usize, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} files {eta}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, started: Instant::now(), shown: quiet }
    }

    /// Progress of a search, of which nobody knows the end.
    pub(crate) fn search(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{spinner} searching: {pos} jump lists found");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self { bar, started: Instant::now(), shown: quiet }
    }

    /// So many files more are done.
    pub(crate) fn advance(&mut self, files: usize) {
        self.bar.inc(files as u64);
        if !self.shown && self.started.elapsed() > Duration::from_secs(1) {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Takes the bar away, so that something else can be written.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
