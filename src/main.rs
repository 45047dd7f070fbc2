//! The command line of jlfix. What it does is in the library; this says how it is asked and how it answers.

#![warn(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().into()
}
