//! The command line of jlfix. What it does is in the library; this says how it is asked and how it answers.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().into()
}
