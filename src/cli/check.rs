//! `jlfix check`: what is wrong, where, and the command that repairs it.

use std::fmt::Write as _;
use std::io::Write as _;

use jlfix::model::{AutomaticList, Code, Fix, Kind, Severity, Source};
use jlfix::os::is_same_path;
use jlfix::plan;
use jlfix::report::{FileRow, Totals};

use super::context::Context;
use super::exit::{Exit, Tally};
use super::input::{self, View};
use super::lists::Lists;
use super::options::{Format, Verbose};
use super::output::{self, Document, csv_line};
use super::style::{BAD, COMMAND, DIM, GOOD, HEAD, of_severity, paint};
use super::words::quoted_path;
use super::{Stop, change, words};

/// Report what is wrong with jump lists, and the command that repairs it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix check samples
  jlfix check --format json FOLDER

Exit code 1 if there is a warning or worse. The codes are listed in docs/findings.md.")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    lists: Lists,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    pub(crate) verbose: Verbose,
}

struct Checked {
    worst: Option<Severity>,
    findings: usize,
    totals: Totals,
    rendered: Vec<u8>,
}

pub(crate) fn run(args: &CheckArgs, context: &Context) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let files = args.lists.gather(context, &mut tally)?;
    let options = context.report();
    let each = |view: View<'_>| {
        let row = view.row;
        let mut totals = Totals::default();
        totals.add(row);
        let rendered = match args.format {
            Format::Table => people(row, &view, context).into_bytes(),
            Format::Csv => csv(row),
            Format::Json | Format::Jsonl => output::json(row),
        };
        Checked { worst: row.worst(), findings: row.findings.len(), totals, rendered }
    };
    let mut totals = Totals::default();
    let mut rendered = Vec::new();
    let (mut findings, mut worst) = (0, None);
    input::view_all(&files, context, &options, &mut tally, each, |_, checked| {
        totals.merge(&checked.totals);
        findings += checked.findings;
        worst = worst.max(checked.worst);
        rendered.push(checked.rendered);
        Ok(())
    })?;
    totals.failed = tally.failed as u64;
    tally.findings = worst >= Some(Severity::Warning);
    match args.format {
        Format::Table => {
            let mut text: String = rendered.iter().map(|bytes| String::from_utf8_lossy(bytes)).collect();
            text.push_str(&verdict(tally, findings));
            output::people(&text)?;
        }
        Format::Csv => {
            let mut out = output::data();
            out.write_all(&csv_line(["path", "code", "severity", "message", "entry_id", "offset", "fix"]))?;
            for bytes in &rendered {
                out.write_all(bytes)?;
            }
            out.flush()?;
        }
        Format::Json | Format::Jsonl => {
            let mut out = output::data();
            let mut document = Document::start(&mut out, args.format)?;
            for bytes in &rendered {
                document.file(bytes)?;
            }
            document.finish(&totals)?;
        }
    }
    Ok(tally.exit())
}

/// The last line: how many files were checked, and what was found.
fn verdict(tally: Tally, findings: usize) -> String {
    let checked = words::count(tally.done, "file");
    let failed = words::number(tally.failed as u64);
    let found = match findings {
        0 => paint(GOOD, "no findings"),
        findings => words::count(findings, "finding"),
    };
    match (tally.done, tally.failed) {
        (0, 0) => "nothing was checked: there are no jump lists\n".to_owned(),
        (0, _) => format!("{}\n", paint(BAD, format!("nothing was checked: {failed} failed"))),
        (_, 0) => format!("{} {found}\n", paint(HEAD, format!("{checked} checked:"))),
        _ => format!("{} {found}\n", paint(HEAD, format!("{checked} checked, {failed} failed:"))),
    }
}

/// The findings of a file for people; nothing where there is nothing to tell.
fn people(row: &FileRow<'_>, view: &View<'_>, context: &Context) -> String {
    let verbose = context.verbose;
    let mut out = String::new();
    if row.findings.is_empty() {
        if verbose {
            let _ = writeln!(out, "{} {}", words::harmless(row.path), paint(GOOD, "ok"));
        }
        return out;
    }
    let _ = writeln!(out, "{}", paint(HEAD, words::harmless(row.path)));
    out.push_str(&findings(row, verbose));
    let mut fixes: Vec<Fix> = Vec::new();
    for fix in row.findings.iter().filter_map(|finding| finding.fix) {
        if !fixes.contains(&fix) {
            fixes.push(fix);
        }
    }
    for fix in fixes {
        let remedy = match fix {
            Fix::Restore => restore_command(row.path, context).ok_or(
                "no intact copy of it is in the backup store; its application writes the list again when it is next used"
                    .to_owned(),
            ),
            Fix::Repair => repair_command(view, context),
            fix => Ok(format!("jlfix {} {}", fix.command(), quoted_path(row.path))),
        };
        let _ = match remedy {
            Ok(command) => writeln!(out, "  repair it with: {}", paint(COMMAND, words::harmless(&command))),
            Err(why) => writeln!(out, "  {}", paint(DIM, why)),
        };
    }
    out.push('\n');
    out
}

/// The repair that does something: where nothing is left in the file, only a reset does.
///
/// # Errors
/// Why no repair does.
fn repair_command(view: &View<'_>, context: &Context) -> Result<String, String> {
    let path = quoted_path(view.row.path);
    let options = plan::RepairOptions::default().code_page(context.read.code_page);
    let planned = view.list.map(|list| plan::repair(list, &options, &context.read.limits));
    match planned {
        Some(Ok(_)) => Ok(format!("jlfix repair {path}")),
        None | Some(Err(plan::PlanError::NothingLeft { .. })) => Ok(format!("jlfix repair --reset {path}")),
        Some(Err(error)) => Err(format!("it cannot be repaired: {error}")),
    }
}

/// The command that brings back the newest copy of a list in the backup store that is verified and has no error.
fn restore_command(path: &str, context: &Context) -> Option<String> {
    let full = std::fs::canonicalize(path).ok()?;
    let store = change::store(context).ok()?;
    let is_intact = |data: &[u8]| {
        let source = Source::read(data, Kind::of_path(&full), &context.read);
        source.is_some_and(|source| match &source {
            Source::Automatic(Ok(compound)) => {
                let findings = AutomaticList::read(compound).findings(context.read.code_page);
                findings.iter().all(|finding| finding.severity() < Severity::Error)
            }
            source => source.findings().iter().all(|finding| finding.severity() < Severity::Error),
        })
    };
    for run in store.list().ok()? {
        let Ok(manifest) = &run.manifest else { continue };
        let saved = manifest.files.iter().find(|record| is_same_path(&record.path, &full));
        let Some(saved) = saved.and_then(|record| record.saved.as_ref()) else { continue };
        let content = store.read_saved(&run.id, saved, &context.read.limits);
        if content.is_ok_and(|data| is_intact(&data)) {
            let file = quoted_path(&full.to_string_lossy());
            return Some(change::command(context, &format!("restore {} --file {file}", run.id)));
        }
    }
    None
}

/// How many findings of one code are told without `-v`.
const OF_ONE_CODE: usize = 5;

/// A line a finding; of many with one code, a few and how many more there are, unless `all` are wanted.
pub(crate) fn findings(row: &FileRow<'_>, all: bool) -> String {
    let mut out = String::new();
    let mut seen: Vec<(Code, usize)> = Vec::new();
    for finding in &row.findings {
        let at = seen.iter().position(|(code, _)| *code == finding.code).unwrap_or_else(|| {
            seen.push((finding.code, 0));
            seen.len() - 1
        });
        let Some((_, count)) = seen.get_mut(at) else { continue };
        *count += 1;
        if *count > OF_ONE_CODE && !all {
            continue;
        }
        let severity = format!("{:<7}", finding.severity().to_string());
        let place = finding.offset.map(|offset| paint(DIM, format!(" [offset {offset}]"))).unwrap_or_default();
        let _ = writeln!(
            out,
            "  {} {} {}{place}",
            paint(of_severity(finding.severity()), severity),
            finding.code,
            words::harmless(&finding.message)
        );
    }
    for (code, count) in seen.iter().filter(|(_, count)| *count > OF_ONE_CODE && !all) {
        let more = words::number((count - OF_ONE_CODE) as u64);
        let _ =
            writeln!(out, "  {}", paint(DIM, format!("and {more} more {code} ({}); -v lists them all", code.title())));
    }
    out
}

fn csv(row: &FileRow<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for finding in &row.findings {
        let text = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        out.extend(csv_line([
            row.path,
            finding.code.as_str(),
            &finding.severity().to_string(),
            &finding.message,
            &text(finding.entry_id),
            &text(finding.offset),
            finding.fix.map_or("", Fix::command),
        ]));
    }
    out
}
