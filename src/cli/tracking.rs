//! `jlfix tracking`: the toggle of Windows' settings for recent items, for the current user. Turning it off makes
//! Windows clear the lists, so they are saved first.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use clap::{Subcommand, ValueEnum};
use serde::Serialize;

use jlfix::os::settings::{self, Hive};
use jlfix::store;

use super::change::{begin, command, options, store as open_store};
use super::context::Context;
use super::doctor::settings::{ADVANCED, TRACK_DOCS};
use super::exit::{Exit, Tally};
use super::input;
use super::places::Exclusions;
use super::style::{COMMAND, DIM, GOOD, WARN, paint};
use super::{Stop, live, output, words};

/// Turn recent items in jump lists on or off for yourself, as Settings does (Windows)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
This is the setting \"Show recently opened items in Start, Jump Lists and File Explorer\". Turning it off clears
recent items, so your lists are saved first; `jlfix tracking on` and `jlfix restore` undo it.

Examples:
  jlfix tracking status
  jlfix tracking off")]
pub(crate) struct TrackingArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Turn recent items on
    On,
    /// Save your jump lists, then turn recent items off
    Off {
        /// Save nothing first: what Windows clears is gone
        #[arg(long)]
        no_backup: bool,
    },
    /// Show whether they are on
    Status {
        /// Output format
        #[arg(long, value_enum, default_value = "table")]
        format: StatusFormat,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StatusFormat {
    Table,
    Json,
}

pub(crate) fn run(args: &TrackingArgs, context: &Context) -> Result<Exit, Stop> {
    match &args.action {
        Action::On => on(),
        Action::Off { no_backup } => off(!no_backup, context),
        Action::Status { format } => status(*format),
    }
}

/// What it is set to; none if it was never set, which is on.
fn value() -> Result<Option<u32>, Stop> {
    settings::number(Hive::User, ADVANCED, TRACK_DOCS).map_err(|error| failed("read", &error))
}

fn set(on: bool) -> Result<(), Stop> {
    settings::set_number(ADVANCED, TRACK_DOCS, u32::from(on)).map_err(|error| failed("set", &error))?;
    match value()? {
        Some(value) if (value != 0) == on => Ok(()),
        _ => Err(Stop::Nothing(format!("{TRACK_DOCS} was set, and reads back as something else"))),
    }
}

fn failed(doing: &str, error: &io::Error) -> Stop {
    if error.kind() == io::ErrorKind::Unsupported {
        return Stop::Nothing("tracking is a setting of Windows, and this system is not Windows".to_owned());
    }
    Stop::Nothing(format!("cannot {doing} {TRACK_DOCS}: {error}"))
}

fn status(format: StatusFormat) -> Result<Exit, Stop> {
    let value = value()?;
    let on = value != Some(0);
    if format == StatusFormat::Json {
        #[derive(Serialize)]
        struct Status {
            jlfix: &'static str,
            on: bool,
            value: Option<u32>,
        }
        let mut out = output::data();
        out.write_all(&output::to_json(&Status { jlfix: env!("CARGO_PKG_VERSION"), on, value }))?;
        out.write_all(b"\n")?;
        out.flush()?;
        return Ok(Exit::Clean);
    }
    let set = value.map_or("is not set, which is on".to_owned(), |value| format!("is {value}"));
    let word = if on { paint(GOOD, "on") } else { paint(WARN, "off") };
    output::people(&format!("recent items in jump lists: {word} ({TRACK_DOCS} {set})\n"))?;
    Ok(Exit::Clean)
}

fn on() -> Result<Exit, Stop> {
    let before = value()?;
    if before != Some(0) {
        output::people("recent items in jump lists are on already; nothing was changed\n")?;
        return Ok(Exit::Clean);
    }
    set(true)?;
    let mut out = format!("{}: jump lists grow again.\n", paint(GOOD, "recent items in jump lists are on"));
    let _ = writeln!(out, "{}", paint(DIM, WHEN));
    let _ = writeln!(out, "Undo it with:\n  {}", paint(COMMAND, "jlfix tracking off"));
    output::people(&out)?;
    Ok(Exit::Clean)
}

/// Explorer was not seen doing it, so no more is said.
const WHEN: &str = "Explorer may take note of it only when it starts again, which it does when you sign in.";

fn off(keep_backup: bool, context: &Context) -> Result<Exit, Stop> {
    if value()? == Some(0) {
        output::people("recent items in jump lists are off already; nothing was changed\n")?;
        return Ok(Exit::Clean);
    }
    let saved = if keep_backup { save(context)? } else { None };
    set(false)?;
    let mut out = format!(
        "{}: Windows adds no more, and clears what the lists hold.\n{}\n",
        paint(GOOD, "recent items in jump lists are off"),
        paint(DIM, WHEN)
    );
    if let Some((id, files)) = &saved {
        let _ = writeln!(out, "{} saved as {id} before.", words::count(*files, "list"));
    }
    let _ = writeln!(out, "Undo it with:\n  {}", paint(COMMAND, command(context, "tracking on")));
    if let Some((id, _)) = &saved {
        let _ = writeln!(out, "  {}", paint(COMMAND, command(context, &format!("restore {id}"))));
    }
    output::people(&out)?;
    Ok(Exit::Clean)
}

/// Saves the live user's lists; all of them, or nothing is turned off.
fn save(context: &Context) -> Result<Option<(String, usize)>, Stop> {
    let mut tally = Tally::default();
    let files = input::gather_live(&live::folders()?, &Exclusions::default(), context, &mut tally);
    let mut run = begin(&open_store(context)?, context)?;
    for found in &files {
        match store::backup(&found.path, &options(context, false), &mut run) {
            Ok(_) => tally.done += 1,
            Err(error) => {
                output::error(&error.to_string());
                tally.failed += 1;
            }
        }
    }
    let id = run.finish().map_err(|error| Stop::Nothing(error.to_string()))?;
    if tally.failed > 0 {
        return Err(Stop::Nothing(format!(
            "{} could not be saved, so recent items stay on; --no-backup turns them off all the same",
            words::count(tally.failed, "list")
        )));
    }
    Ok(id.map(|id| (id.to_string(), tally.done)))
}
