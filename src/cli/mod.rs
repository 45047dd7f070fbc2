//! The command line: what is asked, and how the answer is written. Data goes to stdout; progress, warnings and notes
//! go to stderr.

mod age;
mod appid;
mod args;
mod backup;
mod change;
mod check;
mod command_line;
mod context;
mod delete;
mod deleted;
mod diff;
mod doctor;
mod exit;
mod export;
mod export_to;
mod fields;
mod figures;
mod input;
mod interrupt;
mod lists;
mod live;
mod manual;
mod merge;
mod options;
mod output;
mod pins;
mod places;
mod presence;
mod progress;
mod prune;
mod repair;
mod replay;
mod restore;
mod runs;
mod scan;
mod scan_line;
mod select;
mod show;
mod style;
mod table;
mod torn;
mod tracking;
mod words;

use clap::{CommandFactory as _, Parser};

use args::{Args, Command};
use exit::Exit;

/// Runs the program on its arguments.
pub(crate) fn run() -> Exit {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Clean };
        }
    };
    args.global.color.write_global();
    interrupt::listen();
    let context = context::Context::new(&args.global, args.command.verbose());
    let result = context.and_then(|context| match args.command {
        Command::Scan(args) => scan::run(&args, &context),
        Command::Show(args) => show::run(&args, &context),
        Command::Check(args) => check::run(&args, &context),
        Command::Replay(args) => replay::run(&args, &context),
        Command::Prune(args) => prune::run(&args, &context),
        Command::Repair(args) => repair::run(&args, &context),
        Command::Merge(args) => merge::run(&args, &context),
        Command::Pins(args) => pins::run(&args, &context),
        Command::Delete(args) => delete::run(&args, &context),
        Command::Backup(args) => backup::run(&args, &context),
        Command::Restore(args) => restore::run(&args, &context),
        Command::Export(args) => export::run(&args, &context),
        Command::Appid(args) => appid::run(&args, &context),
        Command::Diff(args) => diff::run(&args, &context),
        Command::Doctor(args) => doctor::run(&args, &context),
        Command::Tracking(args) => tracking::run(&args, &context),
        Command::Completions(args) => manual::completions(&args, Args::command()),
        Command::Man(args) => manual::man(&args, Args::command()),
    });
    let exit = match result {
        Ok(exit) => exit,
        Err(Stop::Usage(message)) => {
            output::error(&message);
            Exit::Usage
        }
        Err(Stop::Nothing(message)) => {
            output::error(&message);
            Exit::Nothing
        }
        Err(Stop::Interrupted) => Exit::Interrupted,
        Err(Stop::Output(error)) => {
            output::error(&format!("cannot write the output: {error}"));
            Exit::Nothing
        }
    };
    output::settle(exit)
}

/// Why a command stopped before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Its arguments are invalid.
    Usage(String),
    /// Nothing could be done.
    Nothing(String),
    /// Ctrl+C, before anything was done.
    Interrupted,
    /// A file of the output could not be written.
    Output(std::io::Error),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}
