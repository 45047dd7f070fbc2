//! `jlfix pins export`: the pins of lists as a pins file.

use std::path::{Path, PathBuf};

use jlfix::model::Kind;
use jlfix::plan::pins::{self, ApplicationPins, PinsFile};
use jlfix::scan::Found;

use super::{refusal, with_list};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Tally};
use crate::cli::export_to::{Outputs, refuse_evidence, stdout};
use crate::cli::lists::{Lists, app_id};
use crate::cli::{Stop, interrupt, output, words};

/// Write the pins of lists to a pins file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A pins file is JSON: for each application its AppID and name, and for each pin its order, path and the
whole link, in base64 (docs/schema/pins-1.json). Nothing is left out, so it names the old machine and
its user. Nothing is overwritten.

Examples:
  jlfix pins export FOLDER -o pins.json
  jlfix pins export --app explorer FOLDER -o -")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    lists: Lists,
    /// The pins file, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &ExportArgs, context: &Context) -> Result<Exit, Stop> {
    let mut tally = Tally::default();
    let (files, roots) = args.lists.gather_with_roots(context, &mut tally)?;
    let to_stdout = args.output == Path::new("-");
    if !to_stdout {
        refuse_evidence(folder_of(&args.output), "--output", &roots, &files)?;
    }
    let file = gather(&files, context, &mut tally);
    if interrupt::asked() {
        return Ok(Exit::Interrupted);
    }
    if tally.exit() == Exit::Nothing {
        return Ok(Exit::Nothing);
    }
    let mut outputs = if to_stdout {
        stdout()
    } else {
        let name = args.output.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| Stop::Usage(format!("--output {}: need a file", args.output.display())))?;
        Outputs::files(folder_of(&args.output), &[name])?
    };
    let count = file.applications.iter().map(|application| application.pins.len()).sum();
    outputs.write(false, &file.to_json(), count)?;
    for (path, count) in outputs.keep()? {
        let pins = words::count(count, "pin");
        let applications = words::count(file.applications.len(), "application");
        output::report(&format!("{}: {pins} of {applications}\n", path.display()));
    }
    Ok(tally.exit())
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// The pins of these lists. A list that cannot be read is reported and counted.
pub(super) fn gather(files: &[Found], context: &Context, tally: &mut Tally) -> PinsFile {
    let mut file = PinsFile::default();
    for found in files.iter().filter(|found| found.hint != Some(Kind::Custom)) {
        if interrupt::asked() {
            break;
        }
        let shown = found.path.display().to_string();
        let read = with_list(found, context, |list| {
            pins::stored_pins(list, context.read.code_page).map_err(|error| refusal(&shown, &error))
        });
        match read.and_then(|pins| add(&mut file, found, pins.unwrap_or_default(), context)) {
            Ok(()) => tally.done += 1,
            Err(message) => {
                output::error(&message);
                tally.failed += 1;
            }
        }
    }
    file
}

fn add(file: &mut PinsFile, found: &Found, pins: Vec<pins::StoredPin>, context: &Context) -> Result<(), String> {
    let shown = found.path.display();
    if pins.is_empty() {
        return Ok(());
    }
    let app_id = app_id(&found.path).ok_or_else(|| {
        format!("{shown}: its name has no AppID, so it is not known whose pins these are; nothing was exported")
    })?;
    if file.applications.iter().any(|known| known.app_id == app_id) {
        return Err(format!("{shown}: another list of {app_id} was exported; name the one whose pins are wanted"));
    }
    let lost = pins.iter().filter(|pin| pin.link.is_none()).count();
    if lost > 0 {
        context.note(&format!("{shown}: {} without a link that can be read", words::count(lost, "pin")));
    }
    let app_name = context.names.name(app_id).map(ToOwned::to_owned);
    file.applications.push(ApplicationPins { app_id, app_name, pins });
    Ok(())
}
