//! Which lists a command is about: of the paths that were named, or of the live user's, all, or those of the
//! applications that were asked for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jlfix::appid::{AppId, candidates_for_path, known};
use jlfix::scan::Found;

use super::context::Context;
use super::exit::Tally;
use super::input;
use super::places::Places;
use super::{Stop, live, words};

/// Paths, and what is picked from them.
#[derive(Debug, clap::Args)]
pub(crate) struct Lists {
    /// Files, or folders to search; the live user's two folders if none is named (Windows)
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) apps: Apps,
    #[command(flatten)]
    places: Places,
}

impl Lists {
    /// The files that are meant, in order. Places that cannot be looked at are reported and counted.
    pub(crate) fn gather(&self, context: &Context, tally: &mut Tally) -> Result<Vec<Found>, Stop> {
        Ok(self.gather_with_roots(context, tally)?.0)
    }

    /// The same, and the files and folders that were searched; none if they were the live user's.
    pub(crate) fn gather_with_roots(
        &self,
        context: &Context,
        tally: &mut Tally,
    ) -> Result<(Vec<Found>, Vec<PathBuf>), Stop> {
        let exclusions = self.places.exclusions()?;
        let (roots, mut files) = if self.places.all_users {
            let folders = live::all_users(context, tally)?;
            let files = input::gather_live(&folders, &exclusions, context, tally);
            (folders, files)
        } else {
            let paths = self.places.paths(&self.paths)?;
            let files = input::search(&paths, &exclusions, context, tally)?;
            (paths, files)
        };
        exclusions.report(context);
        self.apps.pick(&mut files, context)?;
        Ok((files, roots))
    }

    /// True if the lists of every user are meant.
    pub(crate) fn of_all_users(&self) -> bool {
        self.places.all_users
    }

    /// The options and paths that mean the same lists, for a command that is printed.
    pub(crate) fn arguments(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut option = |name: &str, value: &str| parts.extend([name.to_owned(), words::quoted(value)]);
        self.apps.app.iter().for_each(|app| option("--app", app));
        self.places.exclude.iter().for_each(|glob| option("--exclude", glob));
        if let Some(file) = &self.places.files_from {
            option("--files-from", &file.to_string_lossy());
        }
        parts.extend(self.places.all_users.then(|| "--all-users".to_owned()));
        parts.extend(self.paths.iter().map(|path| words::quoted_path(&path.to_string_lossy())));
        parts.join(" ")
    }
}

/// The applications that are asked for; all if none is.
#[derive(Debug, clap::Args)]
pub(crate) struct Apps {
    /// Only the lists of this application; may be repeated
    ///
    /// Its name, its AppID, or the path of its program.
    #[arg(long = "app", value_name = "NAME|APPID|PATH")]
    pub(crate) app: Vec<String>,
}

impl Apps {
    /// The lists of these applications among those that `paths` name.
    pub(crate) fn gather(&self, paths: &[PathBuf], context: &Context, tally: &mut Tally) -> Result<Vec<Found>, Stop> {
        let mut files = input::gather(paths, context, tally)?;
        self.pick(&mut files, context)?;
        Ok(files)
    }

    /// The ids among `there` that were asked for; `None` for all.
    pub(crate) fn ids(&self, there: &BTreeSet<AppId>, context: &Context) -> Result<Option<BTreeSet<AppId>>, Stop> {
        if self.app.is_empty() {
            return Ok(None);
        }
        let mut wanted = BTreeSet::new();
        for query in &self.app {
            wanted.extend(resolve(query, there, context)?);
        }
        Ok(Some(wanted))
    }

    /// Leaves only what was asked for.
    pub(crate) fn pick(&self, files: &mut Vec<Found>, context: &Context) -> Result<(), Stop> {
        let there: BTreeSet<AppId> = files.iter().filter_map(|found| app_id(&found.path)).collect();
        let Some(wanted) = self.ids(&there, context)? else { return Ok(()) };
        files.retain(|found| app_id(&found.path).is_some_and(|id| wanted.contains(&id)));
        Ok(())
    }
}

/// The AppID in a file's name.
pub(crate) fn app_id(path: &Path) -> Option<AppId> {
    AppId::from_copy_name(path.file_name()?)
}

/// From so many digits on, hex is an id and no name: `add` and `face` are words.
const DIGITS_OF_AN_ID: usize = 8;
/// How many applications a message lists.
const LISTED: usize = 8;

/// An application that may be meant.
type Candidate = (AppId, String);

/// The one application that `query` means: one of those that are there, or any that is known if none is.
pub(crate) fn one_app(query: &str, there: &BTreeSet<AppId>, context: &Context) -> Result<AppId, Stop> {
    let candidates = candidates(query, there, context);
    let present: Vec<&Candidate> = candidates.iter().filter(|(id, _)| there.contains(id)).collect();
    let meant = if present.is_empty() { candidates.iter().collect() } else { present };
    match meant.as_slice() {
        [(id, _)] => Ok(*id),
        [] => Err(Stop::Usage(unknown(query, there, context))),
        _ => {
            let shown = listed(meant.into_iter());
            Err(Stop::Usage(format!("--app {query}: could be any of {shown}; give the AppID of the one you mean")))
        }
    }
}

/// The ids, among those that are there, that `query` means.
fn resolve(query: &str, there: &BTreeSet<AppId>, context: &Context) -> Result<BTreeSet<AppId>, Stop> {
    let candidates = candidates(query, there, context);
    if candidates.is_empty() {
        return Err(Stop::Usage(unknown(query, there, context)));
    }
    let present: Vec<&Candidate> = candidates.iter().filter(|(id, _)| there.contains(id)).collect();
    if present.is_empty() {
        let shown = listed(candidates.iter());
        return Err(Stop::Nothing(format!("--app {query}: there is no list of {shown} among those looked at")));
    }
    let one = |name: &str| if name == "Windows Explorer" { "File Explorer".to_owned() } else { name.to_owned() };
    let names: BTreeSet<String> = present.iter().map(|(_, name)| one(name)).collect();
    if names.len() > 1 {
        let shown = listed(present.into_iter());
        return Err(Stop::Usage(format!("--app {query}: could be any of {shown}; give the AppID of the one you mean")));
    }
    Ok(present.into_iter().map(|(id, _)| *id).collect())
}

/// All that `query` may mean, by the first of these that gives anything: an id; a path; a name that fits wholly; a
/// program's own name, such as `explorer`; a name that fits in part; a name that only Windows knows.
fn candidates(query: &str, there: &BTreeSet<AppId>, context: &Context) -> Vec<Candidate> {
    let query = query.trim();
    let named = |id: AppId| {
        let name = context.names.name(id);
        (id, name.map_or_else(|| format!("unknown application {id}"), ToOwned::to_owned))
    };
    let number = AppId::parse(query);
    if let Some(id) = number.filter(|_| query.len() >= DIGITS_OF_AN_ID) {
        return vec![named(id)];
    }
    if query.starts_with(['{', '%']) || query.contains(['\\', '/']) {
        // One program, whichever of these Windows knows it by.
        return candidates_for_path(query).iter().map(|name| (AppId::of(name), query.to_owned())).collect();
    }
    let folded = query.to_lowercase();
    let owned = |found: Vec<(AppId, &str)>| -> Vec<Candidate> {
        found.into_iter().map(|(id, name)| (id, name.to_owned())).collect()
    };
    // Names that were computed back from an id are in no table, so the lists that are there are asked as well.
    let of_lists = |fits: &dyn Fn(&str) -> bool| -> Vec<Candidate> {
        let names = there.iter().filter_map(|id| Some((*id, context.names.name(*id)?)));
        owned(names.filter(|(_, name)| fits(&name.to_lowercase())).collect())
    };
    let by_name = owned(context.names.find(query));
    let whole = || {
        let fits = |(id, name): &&Candidate| name.to_lowercase() == folded || *id == AppId::of(query);
        let mut found: Vec<Candidate> = by_name.iter().filter(fits).cloned().collect();
        found.extend(of_lists(&|name| name == folded));
        found
    };
    let short = folded.strip_suffix(".exe").unwrap_or(&folded);
    let own_names = || {
        let fitting = known().iter().filter(|known| own_name(&known.source).eq_ignore_ascii_case(short));
        fitting.map(|known| named(known.id)).collect::<Vec<_>>()
    };
    let in_part = || {
        let mut found = by_name.clone();
        found.extend(of_lists(&|name| !folded.is_empty() && name.contains(&folded)));
        found
    };
    let of_windows = || {
        let ids = [Some(AppId::of(query)), number].into_iter().flatten();
        ids.filter(|id| there.contains(id)).map(named).collect::<Vec<_>>()
    };
    let stages: [&dyn Fn() -> Vec<Candidate>; 4] = [&whole, &own_names, &in_part, &of_windows];
    let mut found = stages.iter().map(|stage| stage()).find(|found| !found.is_empty()).unwrap_or_default();
    found.sort();
    found.dedup();
    found
}

/// What a program calls itself: the file's name without `.exe`, or the last part of its AppUserModelID.
fn own_name(source: &str) -> &str {
    let file = source.rsplit('\\').next().unwrap_or(source);
    if let Some((stem, end)) = file.rsplit_once('.')
        && end.eq_ignore_ascii_case("exe")
    {
        return stem;
    }
    // An application in a package: the package's name, its publisher's hash, and `!`.
    let package = file.split_once('!').and_then(|(family, _)| family.split('_').next()).unwrap_or(file);
    package.rsplit('.').next().unwrap_or(package)
}

fn unknown(query: &str, there: &BTreeSet<AppId>, context: &Context) -> String {
    let names: Vec<Candidate> =
        there.iter().filter_map(|id| Some((*id, context.names.name(*id)?.to_owned()))).collect();
    let here = if names.is_empty() { String::new() } else { format!("; there are lists of {}", listed(names.iter())) };
    format!("--app {query}: no application is known by that name{here}; `jlfix scan` shows the AppID of each list")
}

/// Applications with their ids, as many as a message holds.
fn listed<'c>(candidates: impl Iterator<Item = &'c Candidate>) -> String {
    let mut candidates: Vec<&Candidate> = candidates.collect();
    candidates.sort_by_key(|(id, name)| (name.to_lowercase(), *id));
    let mut shown: Vec<String> = candidates.iter().take(LISTED).map(|(id, name)| format!("{name} ({id})")).collect();
    if let Some(more) = candidates.len().checked_sub(LISTED).filter(|more| *more > 0) {
        shown.push(format!("{} more", words::number(more as u64)));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_the_name_of_its_file_or_the_end_of_its_own_name() {
        for (source, name) in [
            (r"{F38BF404-1D43-42F2-9305-67DE0B28FC23}\explorer.exe", "explorer"),
            ("Microsoft.Windows.Explorer", "Explorer"),
            ("Microsoft.Windows.Explorer_RecentFiles", "Explorer_RecentFiles"),
            ("Microsoft.WindowsNotepad_8wekyb3d8bbwe!App", "WindowsNotepad"),
            ("Microsoft.Office.WINWORD.EXE.15", "15"),
            ("Chrome", "Chrome"),
            (r"%System32%\services.msc", "msc"),
        ] {
            assert_eq!(own_name(source), name, "{source}");
        }
    }
}
