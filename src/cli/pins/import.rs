//! `jlfix pins import` and `jlfix pins move`: pins written to the lists of another profile, in one run.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jlfix::appid::AppId;
use jlfix::limits::Limits;
use jlfix::plan::pins::{self, ApplicationPins, LARGEST_PINS_FILE, NewList, NewPin, PathMap, PinsFile, PinsFileError};

use super::target::{Target, no_format};
use super::{export, planned};
use crate::cli::change::{FileChange, Session};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Tally};
use crate::cli::input;
use crate::cli::lists::Apps;
use crate::cli::options::Format;
use crate::cli::{Stop, words};

/// Add the pins of a pins file to the lists of a profile
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jlfix pins import pins.json --into FOLDER --dry-run
  jlfix pins import pins.json --into FOLDER --map 'C:\\Users\\old=C:\\Users\\new' --map D:=E:")]
#[command(after_long_help = "\
The pins follow those that are there, in their order. A path that is pinned already is left alone,
so that a second import changes nothing. A list that is not there is made in the format of the
lists beside it. A damaged list is refused.

A mapped path is changed everywhere in the entry and its link: path, LinkInfo, relative path,
working directory, icon, property store and item ID list. Paths match at a backslash, in any case;
of several mappings the longest is used. knownfolder: and :: names need no mapping: the path in
their links is mapped, or dropped if no mapping matches, and the item ID list leads to the folder.

The tracker block, the serial number and the id of the volume, file references, and host and object
ids of the entry are dropped: they belong to the old machine. They are kept for a path on a share
that is not mapped, where they belong to the server.

Pins that cannot be carried over are reported, with exit code 3.

Examples:
  jlfix pins import pins.json --into FOLDER --dry-run
  jlfix pins import pins.json --into FOLDER --map 'C:\\Users\\old=C:\\Users\\new' --map D:=E:")]
pub(crate) struct ImportArgs {
    /// The pins file, or - for standard input
    file: PathBuf,
    /// The folder of the lists, or the profile [default: the live user's, on Windows]
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    #[command(flatten)]
    carry: CarryArgs,
}

/// Copy the pins of one profile into another
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The same as `pins export` and `pins import`, in one run that one `jlfix restore` undoes. The lists in
FROM are only read.

Examples:
  jlfix pins move FROM INTO --dry-run
  jlfix pins move FROM INTO --map 'C:\\Users\\old=C:\\Users\\new'")]
pub(crate) struct MoveArgs {
    /// The folder of the lists, or the profile, that has the pins
    from: PathBuf,
    /// The folder of the lists, or the profile, that gets them
    into: PathBuf,
    #[command(flatten)]
    carry: CarryArgs,
}

#[derive(Debug, clap::Args)]
struct CarryArgs {
    /// Where a drive or a folder of the old profile is in the new one; may be repeated
    #[arg(long, value_name = "FROM=TO")]
    map: Vec<String>,
    #[command(flatten)]
    apps: Apps,
    /// The format of new lists, where no list is beside them: 1, 3, 4, 5 or 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=6))]
    list_format: Option<u32>,
    /// Report what would be changed, and change nothing; exit code 1 if something would
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(crate) fn run(args: &ImportArgs, context: &Context) -> Result<Exit, Stop> {
    let map = path_map(&args.carry.map)?;
    let shown = args.file.display().to_string();
    let data = load(&args.file)?;
    let file = PinsFile::parse(&data, context.read.code_page)
        .map_err(|error| Stop::Nothing(format!("{shown}: {error}; nothing was changed")))?;
    let target = Target::find(args.into.as_deref())?;
    write(&file, &map, &target, &args.carry, Tally::default(), context)
}

pub(crate) fn run_move(args: &MoveArgs, context: &Context) -> Result<Exit, Stop> {
    let map = path_map(&args.carry.map)?;
    let (from, target) = (Target::find(Some(&args.from))?, Target::find(Some(&args.into))?);
    let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    if jlfix::os::is_same_path(&real(&from.folder), &real(&target.folder)) {
        return Err(Stop::Usage("pins move: FROM and INTO are the same folder".to_owned()));
    }
    let mut tally = Tally::default();
    let mut files = input::gather(std::slice::from_ref(&from.folder), context, &mut tally)?;
    // Copies of lists are not those that Windows uses.
    files.retain(|found| found.path.file_name().and_then(AppId::from_file_name).is_some());
    let file = export::gather(&files, context, &mut tally);
    write(&file, &map, &target, &args.carry, Tally { done: 0, ..tally }, context)
}

fn path_map(rules: &[String]) -> Result<PathMap, Stop> {
    let mut map = PathMap::default();
    for rule in rules {
        map.add(rule).map_err(|error| Stop::Usage(format!("--map: {error}")))?;
    }
    Ok(map)
}

/// Reads the pins file, which may be standard input.
fn load(file: &Path) -> Result<Vec<u8>, Stop> {
    let too_large = |have| Stop::Nothing(format!("{}: {}", file.display(), PinsFileError::Size(have)));
    if file == Path::new("-") {
        let mut data = Vec::new();
        let most = LARGEST_PINS_FILE.saturating_add(1);
        let read = std::io::stdin().lock().take(most).read_to_end(&mut data);
        read.map_err(|error| Stop::Nothing(format!("cannot read standard input: {error}")))?;
        return if data.len() as u64 == most { Err(too_large(most)) } else { Ok(data) };
    }
    let limits = Limits::default().file_size(LARGEST_PINS_FILE);
    input::load(file, &limits).map(|loaded| loaded.data).map_err(Stop::Nothing)
}

/// Writes the pins to the lists of the target.
fn write(
    file: &PinsFile,
    map: &PathMap,
    target: &Target,
    args: &CarryArgs,
    tally: Tally,
    context: &Context,
) -> Result<Exit, Stop> {
    let there: BTreeSet<AppId> = file.applications.iter().map(|application| application.app_id).collect();
    let wanted = args.apps.ids(&there, context)?;
    let is_wanted = |application: &&ApplicationPins| {
        !application.pins.is_empty() && wanted.as_ref().is_none_or(|ids| ids.contains(&application.app_id))
    };
    let applications: Vec<&ApplicationPins> = file.applications.iter().filter(is_wanted).collect();
    if applications.is_empty() {
        context.note("there are no pins to import");
    }
    let version = target.new_format(args.list_format, context);
    if version.is_none() && applications.iter().any(|application| !target.has(application.app_id)) {
        return Err(no_format(target));
    }
    let mut session = Session::start(context, "changed", args.dry_run, true, tally)?;
    for application in applications {
        if session.interrupted() {
            break;
        }
        let new = NewList { app_id: application.app_id, version: version.unwrap_or(1) };
        let (pins, failed) = carried(application, map, context);
        session.edit(&target.list_of(application.app_id), |content, change| {
            import(content, &pins, &failed, new, context, change)
        });
    }
    session.finish(args.format)
}

/// The pins as they are written, and why some cannot be.
fn carried(application: &ApplicationPins, map: &PathMap, context: &Context) -> (Vec<NewPin>, Vec<String>) {
    let mut pins = Vec::with_capacity(application.pins.len());
    let mut failed = Vec::new();
    for pin in &application.pins {
        match pins::carry(pin, map, context.read.code_page) {
            Ok(pin) => pins.push(pin),
            Err(why) => failed.push(format!("{}: {why}", pin.shown_path())),
        }
    }
    (pins, failed)
}

fn import(
    content: Option<&[u8]>,
    pins: &[NewPin],
    failed: &[String],
    new: NewList,
    context: &Context,
    change: &mut FileChange,
) -> Result<Option<Vec<u8>>, String> {
    let limits = &context.read.limits;
    let bytes = if pins.is_empty() {
        None
    } else {
        planned(content, context, change, |list| pins::add_pins(list, pins, None, new, limits))?
    };
    if !failed.is_empty() {
        let count = words::count(failed.len(), "pin");
        let why = format!("{}: {count} not carried over: {}", change.path, failed.join("; "));
        if pins.is_empty() {
            return Err(why);
        }
        change.error = Some(why);
    }
    Ok(bytes)
}
