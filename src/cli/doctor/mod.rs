//! `jlfix doctor`: whether jump lists are this machine's problem, one thing looked at a line: what was found, whether
//! that is fine, the one command or setting that changes it, and what that costs, as far as it is known.

mod drives;
mod lists;
pub(crate) mod settings;

use std::fmt::Write as _;
use std::io::Write as _;

use serde::Serialize;

use super::context::Context;
use super::exit::{Exit, Tally};
use super::lists::Lists;
use super::options::Format;
use super::presence::Drive;
use super::style::{BAD, COMMAND, DIM, GOOD, HEAD, WARN, paint};
use super::{Stop, output, words};

/// Say whether jump lists are what makes menus slow here, and what else could
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix doctor samples
  jlfix doctor --format json FOLDER

Exit code 1 if there is a problem.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    lists: Lists,
    /// Where a drive of the lists is on this machine, to look for targets, such as C=/mnt/c; may be repeated
    #[arg(long, value_name = "LETTER=DIR")]
    drive: Vec<Drive>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// How something that was looked at is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Fine,
    /// Worth knowing; not what makes menus slow.
    Notice,
    Problem,
    /// Could not be looked at.
    Skipped,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Notice => "notice",
            Self::Problem => "problem",
            Self::Skipped => "skipped",
        }
    }

    fn mark(self) -> String {
        match self {
            Self::Fine => paint(GOOD, "✓"),
            Self::Notice => paint(WARN, "!"),
            Self::Problem => paint(BAD, "✗"),
            Self::Skipped => paint(DIM, "–"),
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Check {
    id: &'static str,
    state: State,
    found: String,
    /// The command or setting that changes it.
    fix: Option<String>,
    /// What that costs.
    cost: Option<String>,
}

impl Check {
    fn new(id: &'static str, state: State, found: impl Into<String>) -> Self {
        Self { id, state, found: found.into(), fix: None, cost: None }
    }

    fn fix(self, fix: impl Into<String>, cost: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), cost: Some(cost.into()), ..self }
    }
}

pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let (files, roots) = args.lists.gather_with_roots(context, &mut tally)?;
    let lists = lists::look(&files, &args.drive, context, &mut tally)?;
    let build = settings::build();
    let mut checks = settings::before_lists(lists.entries(), build.as_ref());
    if args.lists.of_all_users() {
        checks.push(Check::new(
            "other_users",
            State::Skipped,
            "Settings are those of the user who runs jlfix; those of other users are not read",
        ));
    }
    checks.extend(lists::checks(&lists, &args.lists, &roots, build.as_ref(), context));
    checks.extend(settings::elsewhere());
    match args.format {
        Format::Table => output::people(&people(&checks))?,
        Format::Json => {
            #[derive(Serialize)]
            struct Document<'d> {
                jlfix: &'static str,
                checks: &'d [Check],
            }
            let mut out = output::data();
            out.write_all(&output::to_json(&Document { jlfix: env!("CARGO_PKG_VERSION"), checks: &checks }))?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Format::Jsonl => {
            let mut out = output::data();
            for check in &checks {
                out.write_all(&output::to_json(check))?;
                out.write_all(b"\n")?;
            }
            out.flush()?;
        }
        Format::Csv => {
            let mut out = output::data();
            out.write_all(&output::csv_line(["id", "state", "found", "fix", "cost"]))?;
            for check in &checks {
                out.write_all(&output::csv_line([
                    check.id,
                    check.state.word(),
                    &check.found,
                    check.fix.as_deref().unwrap_or_default(),
                    check.cost.as_deref().unwrap_or_default(),
                ]))?;
            }
            out.flush()?;
        }
    }
    // What could not be looked at is told as a problem of its own.
    let problem = checks.iter().any(|check| check.state == State::Problem);
    Ok(if problem { Exit::Findings } else { Exit::Clean })
}

/// Where the lists are used.
const HERE: &str = if cfg!(windows) { "here" } else { "on the Windows that these lists belong to" };

fn people(checks: &[Check]) -> String {
    let mut out = String::new();
    for check in checks.iter().filter(|check| check.state != State::Skipped) {
        let _ = writeln!(out, "{} {}", check.state.mark(), words::harmless(&check.found));
        if let Some(fix) = &check.fix {
            let _ = writeln!(out, "    change it: {}", paint(COMMAND, words::harmless(fix)));
        }
        if let Some(cost) = &check.cost {
            let _ = writeln!(out, "    {}", paint(DIM, format!("that costs: {}", words::harmless(cost))));
        }
    }
    let mut skipped: Vec<(&str, Vec<&str>)> = Vec::new();
    for check in checks.iter().filter(|check| check.state == State::Skipped) {
        match skipped.iter_mut().find(|(why, _)| *why == check.found) {
            Some((_, ids)) => ids.push(check.id),
            None => skipped.push((&check.found, vec![check.id])),
        }
    }
    for (why, ids) in skipped {
        let _ = writeln!(out, "{} skipped: {}: {}", State::Skipped.mark(), ids.join(", "), words::harmless(why));
    }
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    let slow = checks.iter().any(|check| check.id == "predicted_click" && check.state == State::Problem);
    let verdict = match (count(State::Problem), slow) {
        (0, _) => paint(GOOD, format!("Jump lists are not what makes menus slow {HERE}.")),
        (problems, true) => {
            paint(BAD, format!("{}: jump lists make menus slow {HERE}.", words::count(problems, "problem")))
        }
        (problems, false) => paint(
            BAD,
            format!("{}; but jump lists are not what makes menus slow {HERE}.", words::count(problems, "problem")),
        ),
    };
    let _ = writeln!(out, "\n{}", paint(HEAD, verdict));
    out
}
