//! `jlfix pins`: pins listed, exported, imported into another profile, added, removed and put in another order.

mod edit;
mod export;
mod import;
mod list;
mod target;

use jlfix::model::{AutomaticList, Kind, Source};
use jlfix::plan::pins::PinPlan;
use jlfix::plan::{self, PlanError};
use jlfix::scan::Found;

use super::change::{FileChange, Step};
use super::context::Context;
use super::exit::Exit;
use super::{Stop, input, torn, words};

/// List, export, import, move, add, remove and reorder pins
#[derive(Debug, clap::Args)]
#[command(after_help = "\
These are the pins of jump lists and of Quick Access (Explorer's list), not those of the taskbar.
Whether Explorer shows a change at once, or has to be restarted, has not been tried on Windows.

Examples:
  jlfix pins list FOLDER
  jlfix pins export FOLDER -o pins.json
  jlfix pins import pins.json --into FOLDER --map 'C:\\Users\\old=C:\\Users\\new' --dry-run
  jlfix pins remove FOLDER --missing --drive C=/mnt/c

A file that was changed is saved first, and `jlfix restore` undoes the change.")]
pub(crate) struct PinsArgs {
    #[command(subcommand)]
    command: PinsCommand,
    /// Show complete targets, and every step
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[derive(Debug, clap::Subcommand)]
enum PinsCommand {
    List(list::ListArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Move(import::MoveArgs),
    Add(edit::AddArgs),
    Remove(edit::RemoveArgs),
    Reorder(edit::ReorderArgs),
}

pub(crate) fn run(args: &PinsArgs, context: &Context) -> Result<Exit, Stop> {
    match &args.command {
        PinsCommand::List(args) => list::run(args, context),
        PinsCommand::Export(args) => export::run(args, context),
        PinsCommand::Import(args) => import::run(args, context),
        PinsCommand::Move(args) => import::run_move(args, context),
        PinsCommand::Add(args) => edit::add(args, context),
        PinsCommand::Remove(args) => edit::remove(args, context),
        PinsCommand::Reorder(args) => edit::reorder(args, context),
    }
}

/// Reads an automatic list and hands it to `each`; `None` for a custom list or a link, which have no pins.
///
/// # Errors
/// Why it cannot be read, or the error of `each`.
fn with_list<T>(
    found: &Found,
    context: &Context,
    each: impl FnOnce(&AutomaticList<'_>) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let shown = found.path.display();
    let read = || input::load(&found.path, &context.read.limits);
    let loaded = torn::read_settled(&found.path, found.hint, &context.read, read, |loaded| &loaded.data)?;
    match Source::read(&loaded.data, found.hint, &context.read) {
        Some(Source::Automatic(Ok(compound))) => each(&AutomaticList::read(&compound)).map(Some),
        Some(Source::Automatic(Err(short))) => {
            Err(format!("{shown}: damaged: {short}. {}", repair_first(&shown.to_string())))
        }
        Some(_) => Ok(None),
        None => Err(format!("{shown}: no automatic list: need a compound file")),
    }
}

fn repair_first(shown: &str) -> String {
    format!("Repair it first: jlfix repair {}", words::quoted_path(shown))
}

/// Why the pins of a list cannot be read or changed, and what helps.
fn refusal(shown: &str, error: &PlanError) -> String {
    match error {
        PlanError::Damaged(_) | PlanError::Unseen(_) => {
            format!("{shown}: damaged ({error}); nothing was changed. {}", repair_first(shown))
        }
        error => format!("{shown}: {error}; nothing was changed"),
    }
}

/// Plans a change of the content of a list, or of none, and notes it in `change`. `None` if nothing changes.
///
/// # Errors
/// Why it cannot be changed.
fn planned(
    content: Option<&[u8]>,
    context: &Context,
    change: &mut FileChange,
    make: impl FnOnce(Option<&AutomaticList<'_>>) -> Result<PinPlan, PlanError>,
) -> Result<Option<Vec<u8>>, String> {
    let shown = change.path.clone();
    let plan = match content {
        None => make(None),
        Some(data) => match Source::read(data, Some(Kind::Automatic), &context.read) {
            Some(Source::Automatic(Ok(compound))) => {
                let list = AutomaticList::read(&compound);
                let before = plan::Size::of(&list).into();
                (change.before, change.after) = (Some(before), Some(before));
                make(Some(&list))
            }
            Some(Source::Automatic(Err(short))) => {
                return Err(format!("{shown}: damaged: {short}; nothing was changed. {}", repair_first(&shown)));
            }
            _ => return Err(format!("{shown}: no automatic list: need a compound file; nothing was changed")),
        },
    };
    let plan = plan.map_err(|error| refusal(&shown, &error))?;
    change.after = plan.after.map(Into::into);
    change.steps = plan.steps.into_iter().map(Step::from).collect();
    if !plan.not_pinned.is_empty() {
        let ids: Vec<String> = plan.not_pinned.iter().map(ToString::to_string).collect();
        let why = format!("{shown}: no pinned entry has the id {}", ids.join(", "));
        if plan.bytes.is_none() {
            return Err(format!("{why}; nothing was changed"));
        }
        change.error = Some(why);
    }
    Ok(plan.bytes)
}
