//! The command line as a whole: the commands, and the options of them all. Each command's own are in its file.

use clap::{Parser, Subcommand};

use super::options::Global;
use super::{
    appid, backup, check, delete, diff, doctor, export, manual, merge, pins, prune, repair, replay, restore, scan,
    show, tracking,
};

/// Reads Windows jump lists, reports what they cost, and prunes and repairs them without losing anything.
#[derive(Debug, Parser)]
#[command(name = "jlfix", version, about, max_term_width = 100, args_override_self = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  jlfix scan samples                      what each list costs, the worst first
  jlfix prune --keep 50 --dry-run FOLDER  what would go, and what that saves
  jlfix prune --keep 50 FOLDER            keep every pin and the 50 newest of each list
  jlfix restore                           undo the last change

Exit codes: 0 done and clean, 1 something was found, 2 usage, 3 some files failed,
4 nothing was done, 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Scan(scan::ScanArgs),
    Show(show::ShowArgs),
    Check(check::CheckArgs),
    Replay(replay::ReplayArgs),
    Prune(prune::PruneArgs),
    Repair(repair::RepairArgs),
    Merge(merge::MergeArgs),
    Pins(pins::PinsArgs),
    Delete(delete::DeleteArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Export(export::ExportArgs),
    Appid(appid::AppidArgs),
    Diff(diff::DiffArgs),
    Doctor(doctor::DoctorArgs),
    Tracking(tracking::TrackingArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

impl Command {
    /// True if `-v` was given; not every command has it.
    pub(crate) fn verbose(&self) -> bool {
        match self {
            Self::Show(args) => args.verbose.verbose,
            Self::Check(args) => args.verbose.verbose,
            Self::Prune(args) => args.verbose.verbose,
            Self::Repair(args) => args.verbose.verbose,
            Self::Merge(args) => args.verbose.verbose,
            Self::Delete(args) => args.verbose.verbose,
            Self::Restore(args) => args.verbose.verbose,
            Self::Backup(args) => args.verbose(),
            Self::Pins(args) => args.verbose,
            _ => false,
        }
    }
}
