//! Where an export is written: never beside the evidence, never over what is there, and a file appears only when it is
//! whole.

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use jlfix::export::DumpedLink;
use jlfix::scan::Found;
use tempfile::NamedTempFile;

use super::Stop;
use super::output::{self, Data};

/// Refuses a folder that lies in one that is searched, or is the folder of a file that was named.
pub(crate) fn refuse_evidence(folder: &Path, option: &str, paths: &[PathBuf], files: &[Found]) -> Result<(), Stop> {
    let target = whole_path(folder).map_err(|why| Stop::Usage(format!("{option} {}: {why}", folder.display())))?;
    let refuse = |evidence: &Path| {
        Err(Stop::Usage(format!(
            "{option} {}: refused: it lies in {}, which is read from; nothing is written beside the evidence",
            folder.display(),
            evidence.display()
        )))
    };
    for path in paths {
        let Ok(real) = path.canonicalize() else { continue };
        if real.is_dir() && target.starts_with(&real) {
            return refuse(path);
        }
    }
    let mut seen = HashSet::new();
    for found in files {
        let Some(parent) = found.path.parent().filter(|parent| seen.insert(*parent)) else { continue };
        let real = if parent.as_os_str().is_empty() { Path::new(".").canonicalize() } else { parent.canonicalize() };
        let Ok(real) = real else { continue };
        if real == target || !found.named && target.starts_with(&real) {
            return refuse(if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
        }
    }
    Ok(())
}

/// Where `folder` is or would be, links followed as far as it is there.
fn whole_path(folder: &Path) -> Result<PathBuf, String> {
    let mut missing = Vec::new();
    let mut there = folder;
    loop {
        let place = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        match place.canonicalize() {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |path, name| path.join(name))),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.to_string()),
            Err(_) => {}
        }
        match (there.components().next_back(), there.parent()) {
            (Some(Component::Normal(name)), Some(parent)) => {
                missing.push(name.to_owned());
                there = parent;
            }
            // What is not there cannot be stepped out of.
            _ => return Err("need a folder whose path has no .. behind what is not there yet".to_owned()),
        }
    }
}

/// Makes the folder and what is missing above it.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Stop> {
    let cannot = |why: &dyn std::fmt::Display| Stop::Nothing(format!("{}: cannot make it: {why}", folder.display()));
    fs::create_dir_all(folder).map_err(|error| cannot(&error))?;
    if folder.is_dir() { Ok(()) } else { Err(cannot(&"it is no folder")) }
}

/// Files that do not exist until [`Outputs::keep`], or standard output.
pub(crate) enum Outputs {
    /// Standard output.
    Stdout(Data),
    /// One file or two.
    Files(Vec<OutputFile>),
}

/// A file that is being written.
pub(crate) struct OutputFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    pub(crate) rows: usize,
}

impl Outputs {
    /// Opens a file in `folder` for each of `names`. None of them may be there.
    pub(crate) fn files(folder: &Path, names: &[String]) -> Result<Self, Stop> {
        let mut files = Vec::new();
        for name in names {
            let path = folder.join(name);
            if path.symlink_metadata().is_ok() {
                return Err(exists(&path));
            }
            let mut builder = tempfile::Builder::new();
            builder.prefix(".jlfix-").suffix(".part");
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let file = builder.tempfile_in(folder);
            let file =
                file.map_err(|error| Stop::Nothing(format!("{}: cannot write there: {error}", folder.display())))?;
            files.push(OutputFile { path, file: BufWriter::with_capacity(1 << 16, file), rows: 0 });
        }
        Ok(Self::Files(files))
    }

    /// Writes `bytes`, which are so many rows, to the first file, or to the second if there is one and it is asked for.
    pub(crate) fn write(&mut self, second: bool, bytes: &[u8], rows: usize) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(bytes),
            Self::Files(files) => {
                let at = usize::from(second && files.len() > 1);
                let Some(file) = files.get_mut(at) else { return Ok(()) };
                file.rows += rows;
                file.file.write_all(bytes)
            }
        }
    }

    /// Ends the files and gives them their names. Tells each with its rows.
    pub(crate) fn keep(self) -> Result<Vec<(PathBuf, usize)>, Stop> {
        let files = match self {
            Self::Stdout(mut out) => {
                out.flush()?;
                return Ok(Vec::new());
            }
            Self::Files(files) => files,
        };
        let mut kept = Vec::new();
        for OutputFile { path, file, rows } in files {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            match file.persist_noclobber(&path) {
                Ok(_) => kept.push((path, rows)),
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Err(exists(&path)),
                Err(error) => return Err(Stop::Output(error.error)),
            }
        }
        Ok(kept)
    }
}

fn exists(path: &Path) -> Stop {
    Stop::Nothing(format!("{}: refused: it is there already, and nothing is overwritten", path.display()))
}

/// Writes links as files, numbered where there is one of that name.
pub(crate) struct LinkFolder {
    folder: PathBuf,
    /// The last number given to each name, in lower case, as most file systems tell no difference.
    given: HashMap<String, u32>,
    pub(crate) written: usize,
}

impl LinkFolder {
    /// Writes to `folder`, which is there.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), given: HashMap::new(), written: 0 }
    }

    /// Writes a link.
    pub(crate) fn write(&mut self, link: &DumpedLink) -> io::Result<()> {
        let number = self.given.entry(link.stem.to_lowercase()).or_insert(0);
        loop {
            *number += 1;
            let name = match *number {
                1 => format!("{}.lnk", link.stem),
                number => format!("{} ({number}).lnk", link.stem),
            };
            let path = self.folder.join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(&link.bytes)?;
                    self.written += 1;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists && *number < u32::MAX => {}
                Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
            }
        }
    }
}

/// Standard output for data.
pub(crate) fn stdout() -> Outputs {
    Outputs::Stdout(output::data())
}
