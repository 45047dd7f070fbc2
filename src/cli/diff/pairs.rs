//! Which file is compared with which.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jlfix::model::Kind;
use jlfix::os::is_same_path;
use jlfix::scan;
use jlfix::store::{RunId, Saved, Store};

use super::super::change::store as open_store;
use super::super::context::Context;
use super::super::exit::Tally;
use super::super::runs::find_run;
use super::super::{Stop, input, output, torn};

/// Two files to compare; one of them may not exist.
pub(super) struct Pair {
    pub(super) before: Option<Place>,
    pub(super) after: Option<Place>,
}

/// Where the bytes of a file are.
pub(super) enum Place {
    File(PathBuf),
    Backup { store: Store, run: RunId, saved: Box<Saved>, path: PathBuf },
}

/// The bytes of a file.
pub(super) struct Content {
    /// The path as it is shown.
    pub(super) shown: String,
    /// The file name, which has the AppID and the kind.
    pub(super) name: String,
    pub(super) data: Vec<u8>,
}

impl Place {
    pub(super) fn read(&self, context: &Context) -> Result<Content, String> {
        let limits = &context.read.limits;
        match self {
            Self::File(path) => {
                let load = || input::load(path, limits);
                let kind = Kind::of_path(path);
                let loaded = torn::read_settled(path, kind, &context.read, load, |loaded| &loaded.data)?;
                Ok(Content { shown: path.to_string_lossy().into_owned(), name: file_name(path), data: loaded.data })
            }
            Self::Backup { store, run, saved, path } => Ok(Content {
                shown: format!("{} (run {run})", path.display()),
                name: file_name(path),
                data: store.read_saved(run, saved, limits).map_err(|error| error.to_string())?,
            }),
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Two files, or the files of two folders.
pub(super) fn of_paths(a: &Path, b: &Path, context: &Context, tally: &mut Tally) -> Result<Vec<Pair>, Stop> {
    match (a.is_dir(), b.is_dir()) {
        (true, true) => {
            let pairs = of_folders(a, b, tally);
            if pairs.is_empty() && tally.failed == 0 {
                context.note("no jump lists in either folder");
            }
            Ok(pairs)
        }
        (false, false) => {
            let place = |path: &Path| Some(Place::File(path.to_owned()));
            Ok(vec![Pair { before: place(a), after: place(b) }])
        }
        _ => Err(Stop::Usage(format!(
            "{} and {}: need two files or two folders, have one of each",
            a.display(),
            b.display()
        ))),
    }
}

/// The files of two folders by their relative paths; those left over by their names, if only one file of each folder has
/// the name. Paths are compared in any case, as Windows does.
fn of_folders(a: &Path, b: &Path, tally: &mut Tally) -> Vec<Pair> {
    let old = files(a, tally);
    let mut new: Vec<Option<PathBuf>> = files(b, tally).into_iter().map(Some).collect();
    let mut partners: Vec<Option<PathBuf>> = vec![None; old.len()];
    let relative = |root: &Path, path: &Path| {
        path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/").to_lowercase()
    };
    let by_name = |path: &Path| file_name(path).to_lowercase();
    for pass in 0..2 {
        let key = |root: &Path, path: &Path| if pass == 0 { relative(root, path) } else { by_name(path) };
        let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, path) in new.iter().enumerate() {
            if let Some(path) = path {
                by_key.entry(key(b, path)).or_default().push(at);
            }
        }
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (path, _) in old.iter().zip(&partners).filter(|(_, partner)| partner.is_none()) {
            *seen.entry(key(a, path)).or_default() += 1;
        }
        for (path, partner) in old.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none()) {
            let key = key(a, path);
            if let (Some([at]), Some(1)) = (by_key.get(&key).map(Vec::as_slice), seen.get(&key)) {
                *partner = new.get_mut(*at).and_then(Option::take);
            }
        }
    }
    let both = old.into_iter().zip(partners).map(|(before, after)| (Some(before), after));
    let mut paths: Vec<_> = both.chain(new.into_iter().flatten().map(|after| (None, Some(after)))).collect();
    let shown = |root: &Path, path: &Option<PathBuf>| path.as_ref().map(|path| relative(root, path));
    paths.sort_by_cached_key(|(before, after)| shown(b, after).or_else(|| shown(a, before)));
    paths
        .into_iter()
        .map(|(before, after)| Pair { before: before.map(Place::File), after: after.map(Place::File) })
        .collect()
}

fn files(folder: &Path, tally: &mut Tally) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for found in scan::find(folder) {
        match found {
            Ok(found) => paths.push(found.path),
            Err(error) => {
                output::error(&error.to_string());
                tally.failed += 1;
            }
        }
    }
    paths
}

/// A file, and what a run of the store saved of it. An empty `run` is the newest run that has the file.
pub(super) fn with_backup(file: &Path, run: &str, context: &Context) -> Result<Pair, Stop> {
    if file.is_dir() {
        return Err(Stop::Usage(format!("{}: --backup needs a file, have a folder", file.display())));
    }
    let store = open_store(context)?;
    let wanted = if run.is_empty() { None } else { Some(find_run(&store, run)?) };
    let runs = store.list().map_err(|error| Stop::Nothing(error.to_string()))?;
    let full = full_path(file);
    let is_it = |path: &Path| is_same_path(path, file) || full.as_ref().is_some_and(|full| is_same_path(path, full));
    for listed in runs.into_iter().filter(|listed| wanted.as_ref().is_none_or(|wanted| *wanted == listed.id)) {
        let manifest = match listed.manifest {
            Ok(manifest) => manifest,
            Err(error) if wanted.is_some() => return Err(Stop::Nothing(error.to_string())),
            Err(error) => {
                context.note(&format!("run {} cannot be read and is left out: {error}", listed.id));
                continue;
            }
        };
        let Some(record) = manifest.files.into_iter().find(|record| is_it(&record.path)) else { continue };
        let before = record.saved.map(|saved| Place::Backup {
            store,
            run: listed.id,
            saved: Box::new(saved),
            path: record.path,
        });
        let after = file.exists().then(|| Place::File(file.to_owned()));
        return Ok(Pair { before, after });
    }
    let file = file.display();
    let which = match wanted {
        Some(run) => format!("run {run} has no copy of {file}"),
        None => format!("no run has a copy of {file}"),
    };
    Err(Stop::Nothing(format!("{which} in {}; `jlfix backup list` lists the runs", store.root().display())))
}

/// The absolute path, with links in its folder resolved. The file itself may be gone.
fn full_path(file: &Path) -> Option<PathBuf> {
    let full = std::path::absolute(file).ok()?;
    let folder = std::fs::canonicalize(full.parent()?).ok()?;
    Some(folder.join(full.file_name()?))
}
